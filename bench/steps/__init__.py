"""One process of each contender: ten no-op steps a task until its time is up; it prints what it did as JSON.

python FILE START_AT SECONDS NUMBER URL    START_AT by the wall clock, so that all processes begin together
"""
