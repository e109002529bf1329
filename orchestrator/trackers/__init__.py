"""The boards that we can serve: a module for each `tracker.kind`, with `connect(options) -> Tracker`.

No registry and no import side effect: the module is the plug-in, and the door's suite finds it by listing this
package.
"""
