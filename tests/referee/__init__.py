"""Naive referees: each replays a game log from the written rules alone and refuses the first line that errs.

They share no code with the packages they judge. They are slow, plain and literal on purpose.
"""
