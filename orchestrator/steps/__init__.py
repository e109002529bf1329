"""Calls a flow's functions: in a process of their own under the supervisor, or in a thread beside the turn's.

calling    StepCalls: which of the two, by what the flow says
isolated   a process a call: it can be frozen, killed, and may kill itself
beside     a thread: faster by a process start; one that hangs is abandoned
program    the isolated process
wire       a call and its answer as one line of JSON
"""
