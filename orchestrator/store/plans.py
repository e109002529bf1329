"""What a statement hides from the planner, and why.

A statement that knows its turn's id must find the turn by it. Where the planner has no statistics yet, or old ones, a
partial index of running turns looks as short a way as the key, and each checkpoint would read every running turn of the
fleet; generic plans, once made, stay. An expression is in no index's predicate.
"""

# That a turn, found by its id, is running.
RUNNING = "turn.status || '' = 'running'"
