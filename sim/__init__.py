"""Games, their core and the players: from rulesets to tallies."""

NOT_PLAYING = ("batch", "config", "position", "store", "trace", "training", "traits")
"""Modules and packages of `sim` that cannot change a game; these are listed, so that a new module counts at once."""
