"""YAML files -> validated rulesets, players and sweeps, with exact errors: all that others use of this package."""

from sim.config.describe import check_file, describe_game, json_schema
from sim.config.document import CONFIGS, ConfigError
from sim.config.groups import Contrast, Family, Group, make_groups
from sim.config.players import Player, load_player
from sim.config.rulesets import Ruleset, check_seats, load_ruleset, presets
from sim.config.sweeps import Answer, Sweep, load_sweep

__all__ = [
    "CONFIGS",
    "Answer",
    "ConfigError",
    "Contrast",
    "Family",
    "Group",
    "Player",
    "Ruleset",
    "Sweep",
    "check_file",
    "check_seats",
    "describe_game",
    "json_schema",
    "load_player",
    "load_ruleset",
    "load_sweep",
    "make_groups",
    "presets",
]
