"""The kernel against the naive referee: thousands of random games under random toggles, presets, seats and players."""

from __future__ import annotations

import json
import random
from collections import Counter

import pytest

from sim.config import Ruleset, load_player, load_ruleset, presets
from sim.config.values import choices_of
from sim.games import game
from sim.trace import replay
from tests.referee.paijie import check

GAME = game("paijie")
PLAYERS = [load_player("random"), load_player("greedy")]
PRESETS = [load_ruleset(f"paijie/{version}") for version in presets("paijie")]


def options(key: str) -> list[object]:
    """Every value of a toggle; of the length guard a few."""
    choices = choices_of(GAME.Toggles.model_fields[key])
    if key == "max_turns":
        return [1, 7, 30, 400]
    numbers = [] if choices.low is None else list(range(choices.low, (choices.high or choices.low) + 1))
    return [*choices.listed, *numbers]


VARIED = {key: values for key in GAME.Toggles.model_fields if len(values := options(key)) > 1}


def random_ruleset(rnd: random.Random) -> tuple[Ruleset, int]:
    """A preset, as it is or with a few or all toggles at random, and a number of seats that its deck can serve."""
    base = rnd.choice(PRESETS)
    changed = rnd.sample(list(VARIED), rnd.choice([0, 1, 2, 4, 8, len(VARIED)]))
    ruleset = base.changed({key: rnd.choice(VARIED[key]) for key in changed})
    most = (51 + ruleset.toggles.jokers) // ruleset.toggles.hand_size
    return ruleset, rnd.randint(2, min(8, most))


def check_games(seed: int, games: int) -> Counter[str]:
    """Replay random games through the referee; the outcomes seen."""
    seen: Counter[str] = Counter()
    for number in range(games):
        rnd = random.Random(seed * 1_000_003 + number)
        ruleset, seats = random_ruleset(rnd)
        lineup = tuple(rnd.choice(PLAYERS) for _ in range(seats))
        lines = [json.dumps(event) for event in replay(ruleset, lineup, seed, number)]
        try:
            check(lines)
        except AssertionError as problem:
            raise AssertionError(
                f"{ruleset.name}, {seats} seats, seed {seed}, game {number}: {problem}"
            ) from None
        seen[json.loads(lines[-1])["outcome"]] += 1
    return seen


def test_referee_agrees_on_random_games() -> None:
    seen = check_games(seed=1, games=400)
    assert set(seen) == {"win", "survivor", "drawn", "stalled"}


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 12))
def test_referee_agrees_on_many_random_games(seed: int) -> None:
    assert sum(check_games(seed, games=2000).values()) == 2000
