"""What a seat of bieqi knows: its own cards and covers, the table, and that a seat which covered had no live card."""

from __future__ import annotations

import functools
import random
from typing import Any

import numpy as np

from tests.knowledge.common import Event, Eyes, Position, mix

RULESETS: tuple[tuple[str, dict[str, Any], int], ...] = (
    ("bieqi/default", {}, 4),
    ("bieqi/default", {}, 6),
    ("bieqi/default", {"end": "first_empty"}, 3),
    ("bieqi/default", {"covers_hidden": False}, 4),
)
"""(ruleset, toggles, seats) in which choices and samples are checked."""

_SUITS = "SHDC"
_RANKS = ["A", "2", "3", "4", "5", "6", "7", "8", "9", "10", "J", "Q", "K"]


def _start(hands: list[list[str]], covered: list[list[str]] | None = None, **toggles: Any) -> Position:
    """A position with these hands and covers, and all other cards on the table."""
    away = {card for cards in (*hands, *(covered or [])) for card in cards}
    table = [suit + rank for suit in _SUITS for rank in _RANKS if suit + rank not in away]
    return {
        "ruleset": "bieqi/default",
        "hands": hands,
        "table": table,
        "toggles": toggles,
        **({"covered": covered} if covered else {}),
    }


_HANDS = [["SA", "S2", "HQ", "D2"], ["HK", "D3", "DA"], ["SQ", "SK", "HA"]]

POSITIONS: tuple[Position, ...] = (
    _start(_HANDS),
    _start([["SA", "HQ", "D2"], ["S2", "HK", "D3"], ["SK", "HA", "DA"], ["CK", "CQ", "CJ"]]),
    _start([["SA", "HQ", "D2"], ["HK", "D3"], ["SK", "HA"]], [["HJ"], ["DA", "CA"], ["SQ"]]),
    _start(_HANDS, covers_hidden=False),
)
"""Small positions in which the distribution of samples is compared with rejection sampling."""


def eyes(toggles: dict[str, Any]) -> Eyes:
    """What is seen, and what not, under these toggles: covers may lie open."""
    hidden = toggles.get("covers_hidden", True)
    return Eyes(functools.partial(_seen, hidden), functools.partial(_permute, hidden))


def _seen(hidden: bool, event: Event, seat: int) -> Event:
    """What a seat sees of an event: not what another one could have played, nor which card it covers face down."""
    if event.get("seat") == seat:
        return event
    if event["type"] == "turn":
        return {**event, "legal": None}
    if event["type"] == "choose" or (event["type"] == "put" and hidden):
        return {"type": event["type"], "seat": event["seat"]}
    return event


def _permute(hidden: bool, state: np.record, seats: int, me: int, rnd: random.Random) -> None:
    """Deal the others' hands, and their covers unless these lie open, anew among each other."""
    others = [p for p in range(seats) if p != me]
    mix(state, [(field, p) for field in ("hand", "covered")[: 1 + hidden] for p in others], rnd)


class Knowledge:
    """All that a seat has seen since a position, and whether a full position agrees with it."""

    def __init__(self, toggles: dict[str, Any], start: Position, seat: int) -> None:
        self.seat, self.open = seat, not toggles["covers_hidden"]
        self.hand = set(start["hands"][seat])
        self.table = set(start["table"])
        self.sizes = [len(hand) for hand in start["hands"]]
        sevens = {suit + "7" for suit in _SUITS}
        before = start.get("covered") or [[] for _ in self.sizes]
        # Of each seat's covers: what the card is known not to be, and the card itself where it is known.
        self.covers = [
            [(sevens, card if self._knows(p) else None) for card in cards] for p, cards in enumerate(before)
        ]
        self.never = [set(sevens) if cards else set() for cards in before]

    def _knows(self, seat: int) -> bool:
        return self.open or seat == self.seat

    def _live(self) -> set[str]:
        """The cards not on the table that are a 7 or next to a table card."""
        found = {suit + "7" for suit in _SUITS}
        for card in self.table:
            suit, k = card[0], _RANKS.index(card[1:])
            found |= {suit + _RANKS[j] for j in (k - 1, k + 1) if 0 <= j < 13}
        return found - self.table

    def see(self, event: Event) -> None:
        """Take an event in, as it is seen."""
        if event["type"] not in ("play", "put"):
            return
        seat = event["seat"]
        self.sizes[seat] -= 1
        if seat == self.seat:
            self.hand -= set(event["cards"])
        if event["type"] == "play":
            self.table |= set(event["cards"])
            return
        self.never[seat] |= self._live()
        card = event["cards"][0] if self._knows(seat) else None
        self.covers[seat].append((set(self.never[seat]), card))

    def check(self, position: Position) -> None:
        """Raise AssertionError unless the position agrees with all that was seen."""
        hands, covered = position["hands"], position["covered"]
        assert set(hands[self.seat]) == self.hand
        assert set(position["table"]) == self.table
        for p, hand in enumerate(hands):
            assert len(hand) == self.sizes[p]
            assert not set(hand) & self.never[p]
            assert len(covered[p]) == len(self.covers[p])
            assert _fit(covered[p], self.covers[p]), (covered[p], self.covers[p])
        cards = [card for part in (*hands, *covered, position["table"]) for card in part]
        assert len(cards) == len(set(cards))


def _fit(cards: list[str], covers: list[tuple[set[str], str | None]]) -> bool:
    """Whether the cards can be those that were covered, one a cover: matched one by one along augmenting paths."""
    taken: dict[int, str] = {}

    def place(card: str, tried: set[int]) -> bool:
        for k, (refused, known) in enumerate(covers):
            if k in tried or card in refused or known not in (None, card):
                continue
            tried.add(k)
            if k not in taken or place(taken[k], tried):
                taken[k] = card
                return True
        return False

    return all(place(card, set()) for card in cards)
