"""What a seat of sevens knows: its cards, the table, and that who had to play and did not held nothing to play."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from tests.knowledge.common import Event, Position, mix

RULESETS: tuple[tuple[str, dict[str, Any], int], ...] = (
    ("sevens/default", {}, 4),
    ("sevens/default", {"forced_play": "may_pass"}, 3),
    ("sevens/default", {"forced_play": "max_3_passes"}, 5),
    ("sevens/default", {"no_move": "cover"}, 4),
    ("sevens/default", {"no_move": "cover", "forced_play": "may_pass"}, 4),
)
"""(ruleset, toggles, seats) in which choices and samples are checked."""

_RANKS = ["A", "2", "3", "4", "5", "6", "7", "8", "9", "10", "J", "Q", "K"]
_HANDS = [["SA", "HQ", "D2", "CK"], ["S2", "HK", "D3", "CJ"], ["SK", "HA", "DA", "CQ"]]


def _start(hands: list[list[str]], **toggles: Any) -> Position:
    """A position with these hands and all other cards on the table."""
    held = {card for hand in hands for card in hand}
    table = [suit + rank for suit in "SHDC" for rank in _RANKS if suit + rank not in held]
    return {"ruleset": "sevens/default", "hands": hands, "table": table, "toggles": toggles}


POSITIONS: tuple[Position, ...] = (
    _start(_HANDS),
    _start(
        [["SA", "HQ", "D2"], ["S2", "HK", "D3"], ["SK", "HA", "DA"], ["CK", "CQ", "CJ"]], end="play_to_places"
    ),
    _start(_HANDS, no_move="cover"),
    _start(_HANDS, no_move="cover", forced_play="may_pass"),
)
"""Small positions in which the distribution of samples is compared with rejection sampling."""


def seen(event: Event, seat: int) -> Event:
    """What a seat sees of an event: not which card another one covers, nor what another one could have played."""
    if event["type"] == "turn" and event["seat"] != seat:
        return {**event, "legal": None}
    if event["type"] in ("choose", "put") and event["seat"] != seat and event.get("where") != "table":
        return {"type": event["type"], "seat": event["seat"]}
    return event


def permute(state: np.record, seats: int, me: int, rnd: random.Random) -> None:
    """Deal the others' hands and covered cards anew among each other."""
    places = [("hand", p) for p in range(seats) if p != me] + [
        ("covered", p) for p in range(seats) if p != me
    ]
    mix(state, places, rnd)


class Knowledge:
    """All that a seat has seen since a position, and whether a full position agrees with it."""

    def __init__(self, toggles: dict[str, Any], start: Position, seat: int) -> None:
        self.toggles, self.seat = toggles, seat
        self.hand = set(start["hands"][seat])
        self.covered: set[str] = set()
        self.table = set(start.get("table", []))
        self.sizes = [len(hand) for hand in start["hands"]]
        self.never: list[set[str]] = [set() for _ in self.sizes]
        self.covers: list[list[set[str]]] = [[] for _ in self.sizes]

    def _playable(self) -> set[str]:
        """The cards that extend a suit, or open one."""
        ranks = ["A", "2", "3", "4", "5", "6", "7", "8", "9", "10", "J", "Q", "K"]
        found = set()
        for suit in "SHDC":
            lying = [k for k, rank in enumerate(ranks) if suit + rank in self.table]
            ends = {k + d for k in lying for d in (-1, 1) if 0 <= k + d < 13} - set(lying)
            found |= {suit + ranks[k] for k in ends} | ({suit + "7"} - self.table)
        return found

    def see(self, event: Event) -> None:
        """Take an event in, as `seen` shows it."""
        seat = event.get("seat")
        if event["type"] == "play" or (event["type"] == "put" and event.get("where") == "table"):
            self._take(seat, event["cards"])
            self.table |= set(event["cards"])
        elif event["type"] in ("pass", "put"):
            if self.toggles.get("forced_play") != "may_pass":
                self.never[seat] |= self._playable()
            if event["type"] == "put":
                self.sizes[seat] -= 1
                self.covers[seat].append(set(self.never[seat]))
                if seat == self.seat:
                    self.hand -= set(event["cards"])
                    self.covered |= set(event["cards"])

    def _take(self, seat: int, cards: list[str]) -> None:
        self.sizes[seat] -= len(cards)
        if seat == self.seat:
            self.hand -= set(cards)

    def check(self, position: Position) -> None:
        """Raise AssertionError unless the position agrees with all that was seen."""
        hands = position["hands"]
        covered = position.get("covered") or [[] for _ in hands]
        assert set(hands[self.seat]) == self.hand
        assert set(covered[self.seat]) == self.covered
        assert set(position["table"]) == self.table
        for p, hand in enumerate(hands):
            assert len(hand) == self.sizes[p]
            assert not set(hand) & self.never[p]
            assert len(covered[p]) == len(self.covers[p])
            # What was covered first was in the hand at the fewest refusals: some order of the cards fits.
            rest = list(covered[p])
            for refused in sorted(self.covers[p], key=len, reverse=True):
                fitting = [card for card in rest if card not in refused]
                assert fitting, (covered[p], self.covers[p])
                rest.remove(max(fitting, key=lambda card: sum(card in other for other in self.covers[p])))
        cards = [card for part in (*hands, *covered, position["table"]) for card in part]
        assert len(cards) == len(set(cards))
