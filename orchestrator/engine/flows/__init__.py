"""Acts for tasks that have no card: puts flows in force, ticks them, takes their turns.

manifest    a flow as a row that its tasks are bound to
tick        what is due for a flow: the only place that opens its turns
pruning     deletes what is over for as long as its flow keeps it
turn        one turn: its steps in order, none of them twice
deciding    asks an agent program, and has its proposal judged
asking      asks a person, and waits without a worker
effects     intend, act, settle; and finding out
shift       what every part of a turn needs
"""
