"""What all know at a table of heart_attack: the cards turned up, and where those of a taken pile lie in a stack."""

from __future__ import annotations

import functools
import random
from typing import Any

import numpy as np

from tests.knowledge.common import Event, Eyes, Position

RULESETS: tuple[tuple[str, dict[str, Any], int], ...] = (
    ("heart_attack/default", {}, 4),
    ("heart_attack/default", {"pickup_order": "reversed", "counter": "per_player"}, 3),
    ("heart_attack/default", {"pickup_order": "shuffled", "false_rate_per_mille": 100}, 4),
    ("heart_attack/last_one_loses", {"pickup_order": "shuffled", "tie": "re_slap"}, 3),
)
"""(ruleset, toggles, seats) in which samples are checked; there is nothing to choose."""


def _start(
    hands: list[list[str]], slaps: list[dict[int, int]], centre: list[str] | None = None, **toggles: Any
) -> Position:
    """A position of few cards, none of which matches a call, so that the slaps alone say who takes."""
    return {
        "ruleset": "heart_attack/default",
        "hands": hands,
        "slaps": slaps,
        "centre": centre or [],
        "toggles": toggles,
    }


_OWN_PILE = [{}, *[{1: 300}] * 7]

POSITIONS: tuple[Position, ...] = (
    _start([["S5", "H6"], ["D7"], ["C8", "S9"]], _OWN_PILE),
    _start([["S5", "H6"], ["D7"], ["C8", "S9"]], _OWN_PILE, pickup_order="reversed"),
    _start(
        [["S5", "H6"], ["D7", "C8"]], [{0: 300}, {}, {}], ["SQ", "HK"], pickup_order="shuffled", max_flips=4
    ),
    _start([["S5", "H6"], ["D7"]], [{1: 300}] * 3, ["SQ", "HK"], pickup_order="shuffled", max_flips=4),
)
"""Small positions in which the distribution of samples is compared with rejection sampling."""


def eyes(toggles: dict[str, Any]) -> Eyes:
    """What is seen under these toggles: all but the order of a shuffled pile."""
    return Eyes(functools.partial(_seen, toggles.get("pickup_order") == "shuffled"), _permute)


def _seen(shuffled: bool, event: Event, seat: int) -> Event:
    """What a seat sees of an event. The times of slaps tell nothing of the stacks: who takes is all that matters."""
    if event["type"] == "slap":
        return {"type": "slap", "taker": event["taker"]}
    if event["type"] == "draw" and shuffled:
        return {**event, "cards": sorted(event["cards"])}
    return event


def _permute(state: np.record, seats: int, me: int, rnd: random.Random) -> None:
    raise AssertionError("there is no choice that could depend on what is hidden")


def deal_anew(position: Position, seat: int, rnd: random.Random) -> Position:
    """The position with all stacks dealt anew, the seat's own among them."""
    cards = [card for stack in position["hands"] for card in stack]
    rnd.shuffle(cards)
    return {**position, "hands": [[cards.pop() for _ in stack] for stack in position["hands"]]}


class Knowledge:
    """All that everybody has seen since a position, and whether a full position agrees with it."""

    def __init__(self, toggles: dict[str, Any], start: Position, seat: int) -> None:
        self.order = toggles["pickup_order"]
        self.centre = list(start["centre"])
        unseen = {card for stack in start["hands"] for card in stack}
        self.stacks = [[unseen for _ in stack] for stack in start["hands"]]
        """Of each place, top first, the set of cards of which one lies there; cards mixed together share one set."""

    def see(self, event: Event) -> None:
        """Take an event in, as `seen` shows it."""
        if event["type"] == "play":
            (card,) = event["cards"]
            self.stacks[event["seat"]].pop(0).remove(card)
            self.centre.append(card)
        elif event["type"] == "draw":
            pile = self.centre if self.order == "fifo" else self.centre[::-1]
            assert event["cards"] == (sorted(pile) if self.order == "shuffled" else pile)
            mixed = set(pile)
            places = [mixed if self.order == "shuffled" else {card} for card in pile]
            self.stacks[event["seat"]] += places
            self.centre = []

    def check(self, position: Position) -> None:
        """Raise AssertionError unless the position agrees with all that was seen."""
        assert position["centre"] == self.centre
        found: dict[int, set[str]] = {}
        known: dict[int, set[str]] = {}
        for stack, places in zip(position["hands"], self.stacks, strict=True):
            for card, may_be in zip(stack, places, strict=True):
                known[id(may_be)] = may_be
                found.setdefault(id(may_be), set()).add(card)
        assert found == known
