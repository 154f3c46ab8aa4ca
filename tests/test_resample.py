"""Players see what their seat would see: samples agree with it and are rightly distributed, and nothing else counts.

What a seat sees is told anew from the game log by the judges in tests/knowledge, one a game.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from scipy.stats import chi2_contingency

from sim.config import Player, load_player, load_ruleset
from sim.config.players import SearchSettings
from sim.engine import Table
from sim.games import game, games
from sim.trace import decode
from tests.knowledge.common import Event, Eyes, Position

RANDOM = load_player("random")
SEARCH = Player("search", "search", {}, {}, SearchSettings(6, 3, 0.7, RANDOM, "share"))


def judge(name: str) -> ModuleType:
    return importlib.import_module(f"tests.knowledge.{name}")


def eyes(name: str, toggles: dict[str, Any]) -> Eyes:
    """The judge's `seen` and `permute`, or those which it has for these toggles."""
    under = getattr(judge(name), "eyes", None)
    return under(toggles) if under else Eyes(judge(name).seen, judge(name).permute)


JUDGED = [name for name in games() if importlib.util.find_spec(f"tests.knowledge.{name}")]
CASES = [(name, *case) for name in JUDGED for case in judge(name).RULESETS]
POSITIONS = [(name, position) for name in JUDGED for position in judge(name).POSITIONS]
QUICK, ALL = 100, 100_000
"""Samples checked: a case in `make test`, and a game, over all its cases, in `make test-all`."""

SAMPLED = [
    pytest.param(*case, samples, marks=marks)
    for case in CASES
    for samples, marks in ((QUICK, ()), (-(-ALL // len(judge(case[0]).RULESETS)), pytest.mark.slow))
]
LINES = [1, pytest.param(5, marks=pytest.mark.slow)]
"""Lines of play compared by position."""

TRIES = 40
"""Lines played for one that can be compared: for the others too few deals agree."""


def label(value: object) -> str:
    if not isinstance(value, dict):
        return str(value)
    return "-".join(str(part) for part in value.get("toggles", value).values()) or "default"


def position_of(table: Table) -> Position:
    return table.game.module.to_position(table.rules, table.state)


def table_for(ruleset: str, toggles: dict[str, Any], seats: int, seed: int, player: Player = SEARCH) -> Table:
    changed = load_ruleset(ruleset).changed(toggles)
    played = game(changed.game)
    return Table(played, played.rules(changed.toggles, seats), (player,) * seats, seed)


def weighing_all(name: str) -> Player:
    """A player who weighs everything that a seat may know: all features but those of what partners tell each other."""
    rnd = random.Random(name)
    known = [feature.name for feature in game(name).features if feature.partner != "hands"]
    weights = {phase: {feature: rnd.randint(-99, 99) for feature in known} for phase in game(name).phases}
    return Player("weighing_all", "weights", {}, {name: weights})


def story(table: Table, start: Position) -> list[Event]:
    """What has happened since a position, as the log tells it; a judge's `tell` adds what follows from the start."""
    events = list(decode(table.game, table.events()))
    tell = getattr(judge(table.game.name), "tell", None)
    return tell(events, start) if tell else events


def decisions(table: Table, number: int, rnd: random.Random) -> Iterator[Position]:
    """Play a deal with random legal moves; at every decision, the position after the deal."""
    table.deal(number)
    start = position_of(table)
    over = table.begin()
    while not over:
        yield start
        over = table.make(rnd.choice(table.legal()[0]))


def test_every_game_has_a_judge() -> None:
    assert list(games()) == JUDGED


@pytest.mark.parametrize(("name", "ruleset", "toggles", "seats", "samples"), SAMPLED, ids=label)
def test_sampled_states_agree_with_all_that_was_seen(
    name: str, ruleset: str, toggles: dict[str, Any], seats: int, samples: int
) -> None:
    table, rnd = table_for(ruleset, toggles, seats, 5), random.Random(ruleset)
    rules, sees = load_ruleset(ruleset).changed(toggles).resolved(), eyes(name, toggles).seen
    checked = 0
    for start in (start for number in count() for start in decisions(table, number, rnd)):
        if rnd.random() > 0.15:
            continue
        seat = table.mover()
        knows = judge(name).Knowledge(rules, start, seat)
        for event in story(table, start):
            knows.see(sees(event, seat))
        knows.check(position_of(table))
        for sample in table.samples(20, checked):
            knows.check(table.game.module.to_position(table.rules, sample))
            checked += 1
        if checked >= samples:
            return


@pytest.mark.parametrize(("name", "ruleset", "toggles", "seats"), CASES, ids=label)
def test_what_is_hidden_never_changes_a_search(
    name: str, ruleset: str, toggles: dict[str, Any], seats: int
) -> None:
    check_choices(name, ruleset, toggles, seats, SEARCH)


@pytest.mark.parametrize(("name", "ruleset", "toggles", "seats"), CASES, ids=label)
def test_what_is_hidden_never_changes_a_search_that_weighs_choices(
    name: str, ruleset: str, toggles: dict[str, Any], seats: int
) -> None:
    basic = weighing_all(name)
    settings = SearchSettings(6, 3, 2.0, basic, "share", (basic, RANDOM))
    check_choices(name, ruleset, toggles, seats, Player("search", "search", {}, {}, settings))


@pytest.mark.parametrize(("name", "ruleset", "toggles", "seats"), CASES, ids=label)
def test_what_is_hidden_never_changes_a_weighed_choice(
    name: str, ruleset: str, toggles: dict[str, Any], seats: int
) -> None:
    check_choices(name, ruleset, toggles, seats, weighing_all(name))


def check_choices(name: str, ruleset: str, toggles: dict[str, Any], seats: int, player: Player) -> None:
    """A player's choices stay what they are when all that its seat cannot see is dealt anew."""
    table, rnd = table_for(ruleset, toggles, seats, 3, player), random.Random(ruleset)
    compared = choices = 0
    for number in range(12):
        for _ in decisions(table, number, rnd):
            choices += len(table.legal()[0]) > 1
            if len(table.legal()[0]) < 2 or rnd.random() > 0.3:
                continue
            kept = table.scratch.states.copy(), table.scratch.rng.copy()
            choice = table.choose()
            for _ in range(2):
                table.scratch.states[:], table.scratch.rng[:] = kept
                eyes(name, toggles).permute(table.state, seats, table.mover(), rnd)
                assert table.choose() == choice
                compared += 1
            table.scratch.states[:], table.scratch.rng[:] = kept
    assert compared > 20 or not choices


PEEKING = """
from sim.games import game
from sim.jit import helper
from tests import test_resample

@helper
def resample(rules, state, memory, seat, rng, stream):
    pass  # the state is a copy of the true one already

game("sevens").module.resample = resample
test_resample.check_choices("sevens", "sevens/default", {}, 4, test_resample.SEARCH)
"""


def test_a_player_who_peeks_is_noticed(tmp_path: Path) -> None:
    """The test above fails once the samples are copies of the true state."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    result = subprocess.run(
        [sys.executable, "-c", PEEKING],
        cwd=Path(__file__).parents[1],
        env=environment,
        capture_output=True,
        text=True,
    )
    assert result.returncode == 1
    assert "assert table.choose() == choice" in result.stderr
    assert "AssertionError" in result.stderr


def hidden_dealt_anew(position: Position, seat: int, rnd: random.Random) -> Position:
    """The position with all that the seat does not see dealt anew: others' hands, what they covered, and the stock."""
    anew = {
        key: [list(cards) for cards in position[key]] for key in ("hands", "covered") if position.get(key)
    }
    hidden = [cards for by_seat in anew.values() for p, cards in enumerate(by_seat) if p != seat]
    if position.get("stock"):
        anew["stock"] = list(position["stock"])
        hidden.append(anew["stock"])
    cards = [card for place in hidden for card in place]
    rnd.shuffle(cards)
    for place in hidden:
        place[:] = [cards.pop() for _ in place]
    return position | anew


def repeat(state: np.record, seat: int, move: int, legal: list[int], rnd: random.Random) -> int | None:
    """What a seat that made `move` does as the line is played again: in an inner phase, maybe a hidden one, anything.

    A judge whose game shows inner moves, or does not tell cards apart, has a function of its own in place of this one;
    None says that the line cannot be played again.
    """
    return move if int(state.phase) == 0 else rnd.choice(legal)


def play_line(
    table: Table, position: Position, seat: int, line: list[int], rnd: random.Random
) -> list[Event] | None:
    """Play a line of moves from a position, the others' as in `repeat`: what happens, or None if a move is illegal."""
    again = getattr(judge(table.game.name), "repeat", repeat)
    place(table, position, rnd.getrandbits(32))
    over = table.begin()
    for move in line:
        if over:
            return None
        legal = table.legal()[0]
        if table.mover() != seat and (move in legal or int(table.state.phase) != 0):
            move = again(table.state, seat, move, legal, rnd)
        if move not in legal:
            return None
        over = table.make(move)
    return None if over else story(table, position)


def place(table: Table, position: Position, seed: int) -> None:
    """Set the table to a position; `seed` starts its generators."""
    model = table.game.Position(**{key: value for key, value in position.items() if key != "toggles"})
    table.seed = seed
    table.game.module.from_position(table.rules, model, table.state, table.shuffled)
    table.start_streams()


def key_of(table: Table, state: np.record) -> str:
    return json.dumps(table.game.module.to_position(table.rules, state), sort_keys=True)


@pytest.mark.parametrize("lines", LINES)
@pytest.mark.parametrize(("name", "position"), POSITIONS, ids=label)
def test_samples_are_distributed_as_by_rejection(name: str, position: Position, lines: int) -> None:
    """Deals that agree with a line of play, found by trying, against `resample` at its end."""
    seats = len(position["hands"])
    table = table_for(position["ruleset"], position.get("toggles", {}), seats, 1)
    rnd, compared = random.Random(json.dumps(position)), 0
    for _ in range(TRIES * lines):
        compared += compare_line(table, position, compared, rnd)
        if compared == lines:
            return
    assert compared > 0


def compare_line(table: Table, position: Position, number: int, rnd: random.Random) -> bool:
    """Play a line from a position at random and compare at its end, if enough deals agree with the line. Whether so."""
    name = table.game.name
    sees = eyes(name, position.get("toggles", {})).seen
    deal_anew = getattr(judge(name), "deal_anew", hidden_dealt_anew)
    place(table, position, rnd.getrandbits(32))
    start, line, over = position_of(table) | {"ruleset": position["ruleset"]}, [], table.begin()
    for _ in range(rnd.randrange(2, 9)):
        if over:
            break
        line.append(rnd.choice(table.legal()[0]))
        over = table.make(line[-1])
    if over or len(line) < 2:
        return False
    seat = table.mover()
    wanted = [sees(event, seat) for event in story(table, start)]
    sampled = Counter(key_of(table, state) for state in table.samples(2000, number))
    found: Counter[str] = Counter()
    for tried in range(3000):
        if tried == 300 and found.total() < 5:
            break
        events = play_line(table, deal_anew(start, seat, rnd), seat, line, rnd)
        if events is None or table.mover() != seat:
            continue
        if [sees(event, seat) for event in events] == wanted:
            found[key_of(table, table.state)] += 1
    if found.total() < 100:
        return False
    compare(sampled, found)
    return True


def compare(sampled: Counter[str], found: Counter[str]) -> None:
    """Two samples of states come from one distribution; rare states are counted together."""
    states = sorted(found.keys() | sampled.keys(), key=lambda state: -(found[state] + sampled[state]))
    table = np.array([[sampled[state], found[state]] for state in states])
    expected = table.sum(axis=1) * found.total() / (found.total() + sampled.total())
    often = expected >= 5
    table = np.vstack([table[often], table[~often].sum(axis=0)])
    table = table[table.sum(axis=1) > 0]
    if len(table) > 1:
        assert chi2_contingency(table).pvalue > 1e-6
    else:
        assert sampled.keys() == found.keys() or len(states) > 1
