"""What the games' judges share."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

Event = dict[str, Any]
"""A line of the game log."""

Position = dict[str, Any]
"""A position in a position file's keys."""


class Eyes(NamedTuple):
    """What a judge tells of the hidden: what a seat sees of an event, and how to deal anew what it does not see."""

    seen: Callable[[Event, int], Event]
    permute: Callable[[np.record, int, int, random.Random], None]


def mix(state: np.record, places: Sequence[tuple[str, int]], rnd: random.Random) -> None:
    """Deal the cards of some card sets of a state, each given as (field, index), anew among each other."""
    sets = [int(state[field][at]) for field, at in places]
    cards = [1 << bit for cards in sets for bit in range(58) if cards >> bit & 1]
    rnd.shuffle(cards)
    for (field, at), old in zip(places, sets, strict=True):
        n = old.bit_count()
        state[field][at] = sum(cards[:n])
        cards = cards[n:]
