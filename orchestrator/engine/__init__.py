"""Acts. Takes the doors, asks the domain, writes. No SQL, no HTTP, no Celery.

reconcile  one tick: ring, contract, records, board, plan, apply
preview    what a tick would do, and would do under another contract
apply      carries out a plan's actions, each of them conditional
turn       one turn: admission, work, conclusion
relay      one write-back: claim, re-read, permit, post, settle
publish    puts a workflow file in force
"""
