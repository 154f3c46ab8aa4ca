"""What the others' choices tell of their cards: a search's samples against play by the players that it expects."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence

import pytest

from sim.cards import parse_card
from sim.config import Player, load_player, load_ruleset
from sim.config.players import SearchSettings
from sim.engine import Table
from sim.games import game
from sim.games import sevens as sevens_rules
from sim.players.belief import NOISE
from tests.knowledge import sevens
from tests.knowledge.common import Event, Position
from tests.test_resample import RANDOM, compare, hidden_dealt_anew, key_of, place, story

GREEDY = load_player("greedy")
SAMPLES = 2000
TRIES = 4000
"""Games played for a comparison, of which those count in which the seat sees the same."""

SEAT = 1
"""The seat that searches."""

TAILS: Position = {
    "ruleset": "sevens/default",
    "hands": [["S3", "SA", "H3", "HA"], ["S2", "H2", "DQ", "CQ"], ["DJ", "DK", "CJ", "CK"]],
    "table": [suit + rank for suit in "SH" for rank in ("4", "5", "6", "7", "8", "9", "10", "J", "Q", "K")]
    + [suit + rank for suit in "DC" for rank in ("A", "2", "3", "4", "5", "6", "7", "8", "9", "10")],
}
"""A position near the end: the last three cards of every suit are still held."""

Step = tuple[int, int]
"""A seat and its move."""

HIDDEN = -1


def table_for(no_move: str, opponents: Sequence[Player]) -> Table:
    """A table where one seat searches, in whose play-outs all its samples are used, and the others are greedy."""
    settings = SearchSettings(4 * SAMPLES, SAMPLES, 2.0, GREEDY, "share", tuple(opponents))
    searching = Player("search", "search", {}, {}, settings)
    toggles = load_ruleset("sevens/default").changed({"no_move": no_move}).toggles
    lineup = tuple(searching if p == SEAT else GREEDY for p in range(3))
    return Table(game("sevens"), game("sevens").rules(toggles, 3), lineup, 1)


def play(
    table: Table, position: Position, opponents: Sequence[Player], line: list[Step] | None, rnd: random.Random
) -> list[Step] | None:
    """Play a position up to a decision of the searching seat, and return the steps before it.

    Each of the others is one of the given players, who makes any move instead of his own at times. The searching seat
    makes the moves of `line`, or any; None if it sees anything else than in that line, or never comes to a choice.
    """
    place(table, position, rnd.getrandbits(32))
    models = [rnd.choice(opponents) for _ in position["hands"]]
    steps: list[Step] = []
    over = table.begin()
    while not over:
        legal, mover = table.legal()[0], table.mover()
        if mover == SEAT and len(legal) > 1 and len(steps) >= 4 and (line is None or len(steps) == len(line)):
            return steps
        if line is not None and len(steps) == len(line):
            return None
        if mover == SEAT:
            move = line[len(steps)][1] if line else rnd.choice(legal)
        elif models[mover] is RANDOM or rnd.random() < NOISE:
            move = rnd.choice(legal)
        else:
            move = table.choose()
        # Which card another seat covers is not seen.
        steps.append((mover, move if mover == SEAT or table.state.phase == sevens_rules.MAIN else HIDDEN))
        if line and (move not in legal or steps[-1] != line[len(steps) - 1]):
            return None
        over = table.make(move)
    return None


def possible_deal(line: list[Step], rnd: random.Random) -> Position:
    """`TAILS` with the hidden cards dealt anew, so that everybody holds what he is seen to lay in a line."""
    while True:
        position = hidden_dealt_anew(TAILS, SEAT, rnd)
        hands = [sum(1 << parse_card(card) for card in hand) for hand in position["hands"]]
        if all(move == HIDDEN or hands[seat] & move for seat, move in line):
            return position


def seen(table: Table, start: Position) -> list[Event]:
    return [sevens.seen(event, SEAT) for event in story(table, start)]


@pytest.mark.parametrize("opponents", [(GREEDY,), (GREEDY, RANDOM)], ids=["greedy", "greedy or random"])
@pytest.mark.parametrize("no_move", ["pass", "cover"])
def test_samples_are_as_likely_as_the_choices_of_the_opponents(
    no_move: str, opponents: tuple[Player, ...]
) -> None:
    table, rnd, compared = table_for(no_move, opponents), random.Random(5), 0
    uniform, telling = Counter[str](), Counter[str]()
    while compared < 2:
        line = play(table, hidden_dealt_anew(TAILS, SEAT, rnd), opponents, None, rnd)
        if line is None:
            continue
        wanted = seen(table, TAILS)
        table.choose()
        sampled = Counter(key_of(table, state) for state in table.lineup.states[1 : 1 + SAMPLES])
        found: Counter[str] = Counter()
        for _ in range(TRIES):
            same = play(table, possible_deal(line, rnd), opponents, line, rnd)
            if same and seen(table, TAILS) == wanted:
                found[key_of(table, table.state)] += 1
        if found.total() > 100 and len(found) > 5:
            compare(sampled, found)
            compared += 1
            uniform += Counter(key_of(table, state) for state in table.samples(SAMPLES, compared))
            telling += found
    with pytest.raises(AssertionError):
        compare(uniform, telling)
