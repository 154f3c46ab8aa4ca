"""What a seat of ninety_nine knows: its own cards, what lies open, and which cards were in which stock.

At a reshuffle the new stock is known card by card, though not its order: from then on every card that somebody draws is
one of these, and what he held before is none of them. A loser lays its hand open.
"""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import numpy as np

from tests.knowledge.common import Event, Position

RULESETS: tuple[tuple[str, dict[str, Any], int], ...] = (
    ("ninety_nine/default", {}, 4),
    ("ninety_nine/default", {"reshuffle": "keep_last_card", "hand_size": 3}, 6),
    ("ninety_nine/elimination", {"max_turns": 150}, 5),
    (
        "ninety_nine/elimination",
        {"after_loss_hand": "removed", "after_loss_total": "keep", "max_turns": 150},
        4,
    ),
    ("ninety_nine/lives", {"after_loss_next": "loser_starts", "lives": 2, "max_turns": 150}, 9),
    ("ninety_nine/jokers", {"draw_time": "forgotten_draw_lost", "forget_percent": 20}, 4),
    ("ninety_nine/no_reshuffle", {}, 4),
)
"""(ruleset, toggles, seats) in which choices and samples are checked."""


def _start(hands: str, stock: str, discard: str, **keys: Any) -> Position:
    """A small deck, spread over these hands (a bar between seats), the stock (top first) and the discards."""
    toggles = {key: keys.pop(key) for key in list(keys) if key != "total"}
    cards = {
        "hands": [hand.split() for hand in hands.split("|")],
        "stock": stock.split(),
        "discard": discard.split(),
    }
    return {"ruleset": "ninety_nine/default", "total": 50, "toggles": toggles, **cards, **keys}


POSITIONS: tuple[Position, ...] = (
    _start("S2 H4|D5 CJ|HK D10", "S7", "C3"),
    _start("S2 H4|D5 CJ|HK D10", "S7", "C3 H9", reshuffle="keep_last_card"),
    _start("S2 H4|D5 CJ|C2 S6", "S7 D3", "C3", reshuffle=None),
    _start("S2 H4|D5 CJ|HK D10", "S7", "C3 SA", draw_time="forgotten_draw_lost", forget_percent=50),
    _start("D4 D5 CJ|S9|H4|HJ", "S7", "C3", total=97, end="elimination", after_loss_total="keep"),
    _start("D4 CJ D5|S9|H8", "S7 S2", "C3", total=97, end="lives", hand_size=3),
)
"""Small positions in which the distribution of samples is compared with rejection sampling."""


def seen(event: Event, seat: int) -> Event:
    """What a seat sees of an event: not what another one draws or could have played, nor the order of the stock."""
    if event["type"] == "shuffle":
        return {"type": "shuffle", "stock": sorted(event["stock"])}
    if event["type"] == "turn" and event["seat"] != seat:
        return {**event, "legal": None}
    if event["type"] == "draw" and event["seat"] != seat:
        return {**event, "cards": len(event["cards"])}
    return event


def permute(state: np.record, seats: int, me: int, rnd: random.Random) -> None:
    """Deal the others' hands and the stock anew among each other."""
    others = [p for p in range(seats) if p != me]
    sizes = [int(state.hand[p]).bit_count() for p in others]
    stock = slice(int(state.top), int(state.stock_end))
    held = [bit for p in others for bit in range(58) if int(state.hand[p]) >> bit & 1]
    cards = held + state.stock[stock].tolist()
    rnd.shuffle(cards)
    for p, size in zip(others, sizes, strict=True):
        state.hand[p] = sum(1 << cards.pop() for _ in range(size))
    state.stock[stock] = cards


def repeat(state: np.record, seat: int, move: int, legal: list[int], rnd: random.Random) -> int | None:
    """What another seat does as a line is played again: what was seen, as no choice is hidden."""
    return move


class Knowledge:
    """All that a seat has seen since a position, and whether a full position agrees with it."""

    def __init__(self, toggles: dict[str, Any], start: Position, seat: int) -> None:
        self.seat = seat
        self.hand = set(start["hands"][seat])
        self.discard = set(start["discard"])
        self.removed = set(start.get("removed", []))
        self.stock = len(start["stock"])
        self.deck = {card for hand in start["hands"] for card in hand} | set(start["stock"]) | self.discard
        self.shuffles = 0
        self.shuffled = dict.fromkeys(self.deck, 0)
        """The number of the latest shuffle that each card was in."""
        self.drawn = [Counter({0: len(hand)}) for hand in start["hands"]]
        """By seat, how many cards it holds from each shuffle."""

    def see(self, event: Event) -> None:
        """Take an event in, as `seen` shows it."""
        if event["type"] == "shuffle":
            self.shuffles += 1
            self.stock = len(event["stock"])
            self.discard -= set(event["stock"])
            self.shuffled |= dict.fromkeys(event["stock"], self.shuffles)
        elif event["type"] == "draw":
            self._see_draw(event["seat"], event["cards"])
        elif event["type"] in ("play", "put"):
            removed = event.get("where") == "removed"
            self._see_cards(event["seat"], set(event["cards"]), self.removed if removed else self.discard)

    def _see_draw(self, seat: int, cards: list[str] | int) -> None:
        if isinstance(cards, list):
            self.hand |= set(cards)
        number = cards if isinstance(cards, int) else len(cards)
        self.stock -= number
        self.drawn[seat][self.shuffles] += number

    def _see_cards(self, seat: int, cards: set[str], pile: set[str]) -> None:
        pile |= cards
        self.drawn[seat].subtract(self.shuffled[card] for card in cards)
        if seat == self.seat:
            self.hand -= cards

    def check(self, position: Position) -> None:
        """Raise AssertionError unless the position agrees with all that was seen."""
        hands, stock = position["hands"], position["stock"]
        assert set(hands[self.seat]) == self.hand
        assert set(position["discard"]) == self.discard
        assert set(position.get("removed", [])) == self.removed
        assert len(stock) == self.stock
        assert all(self.shuffled[card] == self.shuffles for card in stock)
        for hand, drawn in zip(hands, self.drawn, strict=True):
            assert Counter(self.shuffled[card] for card in hand) == +drawn
        cards = [card for place in (*hands, stock, self.discard, self.removed) for card in place]
        assert len(cards) == len(self.deck)
        assert set(cards) == self.deck
