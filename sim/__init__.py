"""Games, their core and the players: from rulesets to tallies."""
