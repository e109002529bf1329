"""What a person types: `orchestrator init | validate | up | demo | status | plan | run | explain …`.

One file a command. Commands read through the store's queries and act through the engine; none decides anything. A
mistake of the person who typed ends in one sentence and a code from `exits`, never in a traceback.
"""


def main() -> None:
    """What the installed script calls. The supervisor's process lies in this package too, and needs no command."""
    from orchestrator.cli import app

    app.main()
