"""The kernel as a whole: one deal a game, the same games however they are played, and no endless ones."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

from sim.config import Group, Player, Ruleset, load_player, load_ruleset, presets
from sim.config.groups import Contrast
from sim.engine import Table, play_range, play_rows
from sim.games import games
from sim.trace import replay

RANDOM, GREEDY = load_player("random"), load_player("greedy")
RULESETS = [f"{game}/{version}" for game in games() for version in presets(game)]


def seats_of(ruleset: Ruleset) -> int:
    """Four seats, or the nearest number that the game takes."""
    return min(max(4, ruleset.seats[0]), ruleset.seats[1])


def players(ruleset: Ruleset) -> list[Player]:
    return [player for player in (RANDOM, GREEDY) if player.plays(ruleset.game)]


@pytest.mark.parametrize("game", games())
def test_every_game_has_its_own_deal(game: str) -> None:
    ruleset = load_ruleset(game)
    seats = seats_of(ruleset)
    table = Table(games()[game], games()[game].rules(ruleset.toggles, seats), (RANDOM,) * seats, seed=5)
    seen = set()
    for number in range(2000):
        table.deal(number)
        position = games()[game].module.to_position(table.rules, table.state)
        seen.add(str((position["hands"], position.get("stock"))))
    assert len(seen) == 2000


@pytest.mark.parametrize("name", RULESETS)
def test_the_log_and_the_tallies_tell_of_the_same_games(name: str) -> None:
    ruleset = load_ruleset(name)
    lineup = tuple((players(ruleset) * 4)[: seats_of(ruleset)])
    rows = play_rows(ruleset, lineup, seed=3, games=20)
    for number in range(20):
        end = replay(ruleset, lineup, 3, number)[-1]
        assert rows.loc[number, f"outcome/{end['outcome']}"] == 1
        assert rows.loc[number, "turns"] == end["turns"]


@pytest.mark.parametrize("game", games())
def test_a_range_is_the_sum_of_its_parts(game: str) -> None:
    ruleset = load_ruleset(game)
    contrast = Contrast("itself", "a", "b", ((0, -1), (1, 1)))
    seats = seats_of(ruleset)
    group = Group(seats, (RANDOM,) * seats, (ruleset, ruleset), (contrast,), seed=9, games=1500, game=game)
    whole = play_range(group, 100, 1500)
    parts = [play_range(group, first, count) for first, count in ((100, 3), (103, 1100), (1203, 397))]
    for name, array in whole.items():
        assert np.array_equal(array, sum(part[name] for part in parts)), name
    assert not whole["contrast/0"][:, 1:].any(), "a ruleset against itself differs"
    assert whole["arm/0/games"][0] == 1500


@pytest.mark.parametrize("name", RULESETS)
def test_games_end(name: str) -> None:
    """`stalled` stays below 0.1 % under random and greedy players."""
    ruleset = load_ruleset(name)
    for player in players(ruleset):
        rows = play_rows(ruleset, (player,) * seats_of(ruleset), seed=11, games=4000)
        assert rows["outcome/stalled"].sum() < 4, player.name


PLAIN = """
import sys
from sim.config import load_player, load_ruleset
from sim.engine import play_rows
for name in sys.argv[1:]:
    ruleset = load_ruleset(name)
    names = [n for n in ("random", "greedy") if load_player(n).plays(ruleset.game)]
    seats = min(max(4, ruleset.seats[0]), ruleset.seats[1])
    lineup = tuple(load_player((names * 4)[seat]) for seat in range(seats))
    print(name, play_rows(ruleset, lineup, 21, 6).to_csv())
"""


def test_the_rules_play_the_same_without_the_compiler() -> None:
    """Out-of-bounds reads raise there, and numpy's integers do not wrap silently."""
    outputs = [
        subprocess.run(
            [sys.executable, "-c", PLAIN, *RULESETS],
            env=os.environ | {"NUMBA_DISABLE_JIT": disabled},
            capture_output=True,
            text=True,
            check=False,
        )
        for disabled in ("0", "1")
    ]
    assert [output.returncode for output in outputs] == [0, 0], outputs[1].stderr
    assert outputs[0].stdout == outputs[1].stdout
    assert outputs[0].stdout.count("deal") == len(RULESETS)
