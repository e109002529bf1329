"""The main job on a board, from nothing, watched and judged from outside.

    command    the order of it all, and the exit code
    cards      what the sample board asks for: data
    scene      the run folder: board, repository, workflow file, agent
    borrowed   a copy of somebody's own board instead of the sample one
    boardfile  a card's file, as any other program reads and writes it
    hand       the person who closes one card and drags another away
    director   when the hand moves, the worker dies, Redis is emptied
    evidence   what can be seen from outside: board files, git, the agents' log, the process table
    promises   judges the evidence; pure
    show       the live table, the plain lines, the verdict

Nothing here reads our own tables: a promise is judged by what a person could look at.
"""
