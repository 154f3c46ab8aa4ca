"""The naive referee of bieqi: it scores the rules' worked hands right and refuses damaged logs (RULES.md 7.6)."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest

from sim.config import load_player, load_ruleset
from sim.trace import replay
from tests.referee.bieqi import COVER, Disagreement, _Referee, check
from tests.referee.log import CARD, RANK

Event = dict[str, Any]

TOGGLES = {
    "end": "all_hands_empty",
    "lone_seven_combine": "cumulative",
    "multiply": "before_differences",
    "covers_hidden": True,
    "lone_seven_needs_single_passer": False,
}


def scores(points: list[int], last: dict[int, str], **toggles: object) -> list[int]:
    """The scores of seats that covered cards of so many pips; `last` names the last cards of passers."""
    referee = _Referee([])
    referee.toggles, referee.seats = TOGGLES | toggles, len(points)
    deck = list(CARD.values())
    referee.covered = [take(deck, number) for number in points]
    referee.hands = [set() for _ in points]
    referee.last = [last.get(p, COVER if points[p] else "CA") for p in range(len(points))]
    return referee.scores()


def take(deck: list[str], points: int) -> set[str]:
    """Cards from the deck worth so many pips, the largest first."""
    taken: set[str] = set()
    while points:
        card = max((card for card in deck if RANK[card] <= points), key=RANK.__getitem__)
        deck.remove(card)
        taken.add(card)
        points -= RANK[card]
    return taken


@pytest.mark.parametrize(
    ("points", "last", "toggles", "expected"),
    [
        ([5, 8, 1, 12], {}, {}, [6, -6, 22, -22]),
        ([0, 8, 1, 12], {}, {}, [42, -22, 34, -54]),
        ([0, 8, 1, 12], {}, {"multiply": "after_nonpassers_only"}, [21, -22, 34, -54]),
        ([0, 40, 45, 40], {0: "H7"}, {}, [2000, -560, -880, -560]),
        ([0, 40, 45, 40], {0: "H7"}, {"lone_seven_combine": "replace"}, [1000, -280, -440, -280]),
        ([0, 40, 45, 40], {0: "H7"}, {"lone_seven_combine": "inclusive"}, [1000, -280, -440, -280]),
        ([0, 40, 45, 40], {0: "D8"}, {}, [250, -70, -110, -70]),
        ([0, 0, 10, 20], {0: "H7"}, {}, [960, 960, -320, -1600]),
        ([0, 0, 10, 20], {0: "H7"}, {"lone_seven_needs_single_passer": True}, [120, 120, -40, -200]),
        ([0, 0, 0, 9], {}, {}, [72, 72, 72, -216]),
        ([0, 0, 0, 0], {}, {}, [0, 0, 0, 0]),
    ],
)
def test_scores(
    points: list[int], last: dict[int, str], toggles: dict[str, Any], expected: list[int]
) -> None:
    assert scores(points, last, **toggles) == expected


LOG = replay(load_ruleset("bieqi/default"), (load_player("random"),) * 4, 1, 0)


def first(kind: str) -> int:
    return next(at for at, event in enumerate(LOG) if event["type"] == kind)


DAMAGE: dict[str, Callable[[list[Event]], object]] = {
    "line missing": lambda log: log.pop(first("play")),
    "line too many": lambda log: log.append({"type": "pass", "seat": 0}),
    "no end": lambda log: log.pop(),
    "unknown key": lambda log: log[first("play")].update(note=1),
    "a legal card left out": lambda log: log[first("turn")].update(legal=[]),
    "another start": lambda log: log[first("deal")].update(first=(log[1]["first"] + 1) % 4),
    "a gap": lambda log: log[first("play")].update(gap=1),
    "a choice too few": lambda log: log[first("choose")]["legal"].pop(),
    "somebody else covers": lambda log: log[first("put")].update(seat=7),
    "cover in the open": lambda log: log[first("put")].update(where="table"),
    "a score off by one": lambda log: log[-1]["scores"].__setitem__(0, log[-1]["scores"][0] + 1),
    "turns": lambda log: log[-1].update(turns=51),
    "a card twice": lambda log: log[1]["hands"][0].__setitem__(0, log[1]["hands"][1][0]),
    "unknown toggle": lambda log: log[0]["toggles"].update(jokers=1),
    "toggle missing": lambda log: log[0]["toggles"].pop("end"),
}


def test_a_true_log_passes() -> None:
    check(LOG)
    check([json.dumps(event) for event in LOG])


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_log_is_refused(damage: str) -> None:
    log = copy.deepcopy(LOG)
    DAMAGE[damage](log)
    with pytest.raises(Disagreement):
        check(log)
