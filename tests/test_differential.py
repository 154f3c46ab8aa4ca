"""Every game against its naive referee: thousands of random games under random toggles, presets, seats and players."""

from __future__ import annotations

import functools
import importlib
import json
import random
from collections import Counter

import pytest

from sim.config import Player, Ruleset, load_player, load_ruleset, presets
from sim.config.values import choices_of
from sim.games import games
from sim.trace import replay
from tests.referee.rounds import check_log

PLAYERS = [load_player("random"), load_player("greedy")]


preset = functools.cache(load_ruleset)


def options(ruleset: Ruleset, key: str) -> list[object]:
    """Every value of a toggle; of an open-ended number a few."""
    choices = choices_of(type(ruleset.toggles).model_fields[key])
    if choices.low is None:
        return list(choices.listed)
    default = type(ruleset.toggles).model_fields[key].default
    wide = choices.high is None or choices.high - choices.low > 20
    numbers = [choices.low, choices.low + 6, default] if wide else range(choices.low, choices.high + 1)
    return [*choices.listed, *numbers]


def random_ruleset(game: str, rnd: random.Random) -> tuple[Ruleset, int]:
    """A preset, as it is or with a few or all toggles at random, and a number of seats that its deck can serve."""
    base = preset(f"{game}/{rnd.choice(list(presets(game)))}")
    varied = {key: values for key in base.resolved() if len(values := options(base, key)) > 1}
    while True:
        changed = rnd.sample(list(varied), min(len(varied), rnd.choice([0, 1, 2, 4, 8, len(varied)])))
        seats = rnd.randint(games()[game].min_seats, games()[game].max_seats)
        try:
            ruleset = base.changed({key: rnd.choice(varied[key]) for key in changed})
            games()[game].rules(ruleset.toggles, seats)
        except ValueError:
            continue  # the toggles exclude each other, or the deck is too small for so many seats
        return ruleset, seats


def random_lineup(game: str, seats: int, rnd: random.Random) -> tuple[Player, ...]:
    """Random and, where they know the game, greedy players."""
    return tuple(rnd.choice([player for player in PLAYERS if player.plays(game)]) for _ in range(seats))


def check_games(game: str, seed: int, number_of_games: int) -> Counter[str]:
    """Replay random games through the referee; the outcomes seen."""
    check = importlib.import_module(f"tests.referee.{game}").check
    seen: Counter[str] = Counter()
    for number in range(number_of_games):
        rnd = random.Random(seed * 1_000_003 + number)
        ruleset, seats = random_ruleset(game, rnd)
        lines = [
            json.dumps(event) for event in replay(ruleset, random_lineup(game, seats, rnd), seed, number)
        ]
        try:
            check_log(lines, check, games()[game].scored)
        except AssertionError as problem:
            where = f"{ruleset.name}, {seats} seats, seed {seed}, game {number}"
            raise AssertionError(f"{where}: {problem}") from None
        seen[json.loads(lines[-1])["outcome"]] += 1
    return seen


@pytest.mark.parametrize("game", games())
def test_referee_agrees_on_random_games(game: str) -> None:
    assert sum(check_games(game, seed=1, number_of_games=400).values()) == 400


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 12))
@pytest.mark.parametrize("game", games())
def test_referee_agrees_on_many_random_games(game: str, seed: int) -> None:
    assert sum(check_games(game, seed, number_of_games=2000).values()) == 2000
