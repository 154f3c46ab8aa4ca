"""What a seat of old_maid knows: its hand, the pairs removed, the cards of its own draws, and where others may lie.

Who has been drawn from sees which card goes; under `sticky` he sees of that card ever after in whose hand it is.
"""

from __future__ import annotations

import functools
import random
from typing import Any

import numpy as np

from tests.knowledge.common import Event, Eyes, Position, mix

RULESETS: tuple[tuple[str, dict[str, Any], int], ...] = (
    ("old_maid/default", {}, 4),
    ("old_maid/queen51", {"draw_from": "left", "double_exit_order": "tie"}, 3),
    ("old_maid/default", {"draw_from": "any_chosen"}, 4),
    ("old_maid/queen51", {"draw_from": "any_chosen"}, 6),
    ("old_maid/colour", {"draw_from": "any_chosen"}, 3),
    ("old_maid/default", {"draw_from": "any_chosen", "position_model": "sticky"}, 4),
)
"""(ruleset, toggles, seats) in which choices and samples are checked."""


def _start(hands: list[list[str]], **toggles: Any) -> Position:
    return {"ruleset": "old_maid/default", "hands": hands, "toggles": toggles}


_THREE_SEATS = [["SA", "H2"], ["HA", "S2", "D4"], ["H4", "BJ"]]
_FOUR_SEATS = [["SA", "H2"], ["HA", "S3"], ["S2", "H3"], ["BJ"]]
_PAIRS = [["SA", "H2"], ["HA", "CA", "S3", "S2"], ["DA", "BJ", "H3"]]

POSITIONS: tuple[Position, ...] = (
    _start(_THREE_SEATS, max_draws=4),
    _start(_PAIRS, draw_from="left", max_draws=4),
    _start(_THREE_SEATS, draw_from="any_chosen", max_draws=4),
    _start(_FOUR_SEATS, draw_from="any_chosen", max_draws=3),
    _start(_THREE_SEATS, draw_from="any_chosen", position_model="sticky", max_draws=4),
    _start([["SA", "H2"], ["CA", "S2", "D2"], ["C2", "BJ"]], pair_rule="rank_and_colour", max_draws=4),
)
"""Small positions in which the distribution of samples is compared with rejection sampling."""


def is_pair(toggles: dict[str, Any], a: str, b: str) -> bool:
    """Whether two cards are a pair."""
    if a == b or a[1:] != b[1:] or "BJ" in (a, b):
        return False
    return toggles["pair_rule"] == "rank" or (a[0] in "SC") == (b[0] in "SC")


def tell(events: list[Event], start: Position) -> list[Event]:
    """The log with, at each draw, the seat drawn from, and the seats that the card has ever been drawn from."""
    hands = [set(hand) for hand in start["hands"]]
    drawn_from: dict[str, list[int]] = {}
    told = []
    for event in events:
        if event["type"] == "draw":
            card = event["cards"][0]
            giver = next(p for p, hand in enumerate(hands) if card in hand)
            before = drawn_from.setdefault(card, [])
            event = {**event, "from": giver, "drawn_from": list(before)}
            before.append(giver)
            hands[giver].remove(card)
            hands[event["seat"]].add(card)
        elif event["type"] == "put":
            hands[event["seat"]] -= set(event["cards"])
        told.append(event)
    return told


def eyes(toggles: dict[str, Any]) -> Eyes:
    """What is seen, and what not, under these toggles."""
    return Eyes(functools.partial(_seen, toggles.get("position_model") == "sticky"), permute)


def _seen(sticky: bool, event: Event, seat: int) -> Event:
    """What a seat sees of an event, as `tell` tells it: of the draws of others that it has no part in, not the card."""
    if event["type"] != "draw":
        return event
    knows = seat in (event["seat"], event["from"]) or (sticky and seat in event["drawn_from"])
    hidden = {"drawn_from"} if knows else {"drawn_from", "cards"}
    return {key: value for key, value in event.items() if key not in hidden}


def permute(state: np.record, seats: int, me: int, rnd: random.Random) -> None:
    """Deal the others' hands anew among each other, but for the cards that `me` recognises under `sticky`."""
    others = [p for p in range(seats) if p != me]
    recognised = [int(state.hand[p]) & int(state.known[me]) for p in others]
    for p, cards in zip(others, recognised, strict=True):
        state.hand[p] ^= cards
    mix(state, [("hand", p) for p in others], rnd)
    for p, cards in zip(others, recognised, strict=True):
        state.hand[p] |= cards


def repeat(state: np.record, seat: int, move: int, legal: list[int], rnd: random.Random) -> int:
    """Whom a seat draws from is open: it does the same again."""
    return move


class Knowledge:
    """All that a seat has seen since a position, and whether a full position agrees with it."""

    def __init__(self, toggles: dict[str, Any], start: Position, seat: int) -> None:
        self.toggles, self.seat = toggles, seat
        self.sizes = [len(hand) for hand in start["hands"]]
        others = set(range(len(self.sizes))) - {seat}
        self.may = {
            card: {p} if p == seat else set(others) for p, hand in enumerate(start["hands"]) for card in hand
        }
        """Of each card in play, the seats where it may lie."""
        self.recognised: set[str] = set()
        self.draw: Event | None = None

    def see(self, event: Event) -> None:
        """Take an event in, as `seen` shows it."""
        kind = event["type"]
        if kind == "put":
            self.sizes[event["seat"]] -= len(event["cards"])
            for card in event["cards"]:
                del self.may[card]
            if self.draw:
                self._rule_out(self.draw, event["cards"][0])
            self.draw = None
        elif kind == "draw":
            self.sizes[event["from"]] -= 1
            self.sizes[event["seat"]] += 1
            self.draw = event
        elif kind == "turn" and self.draw:
            self._see_move(self.draw)
            self.draw = None
        if kind == "draw" and event["from"] == self.seat and self.toggles["position_model"] == "sticky":
            self.recognised |= set(event["cards"])

    def _rule_out(self, draw: Event, card: str) -> None:
        """Neither of the two hands held a further card that pairs with this one."""
        for other, seats in self.may.items():
            if is_pair(self.toggles, card, other):
                seats -= {draw["seat"], draw["from"]}

    def _see_move(self, draw: Event) -> None:
        """A draw that made no pair."""
        if "cards" in draw:
            card = draw["cards"][0]
            self._rule_out(draw, card)
            self.may[card] = {draw["seat"]}
            return
        for card, seats in self.may.items():
            if draw["from"] in seats and card not in self.recognised:
                seats.add(draw["seat"])

    def check(self, position: Position) -> None:
        """Raise AssertionError unless the position agrees with all that was seen."""
        hands = position["hands"]
        assert [len(hand) for hand in hands] == self.sizes
        assert sorted(card for hand in hands for card in hand) == sorted(self.may)
        for p, hand in enumerate(hands):
            for card in hand:
                assert p in self.may[card], (card, p, self.may[card])
                assert not any(is_pair(self.toggles, card, other) for other in hand), hand
        assert {card for card, seats in self.may.items() if seats == {self.seat}} == set(hands[self.seat])
