"""Decides. Pure values and functions: no I/O, no clock, no randomness, standard library only."""
