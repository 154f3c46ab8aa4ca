"""Card sets as bits, and the notation of a card.

A set of cards is one signed int64 below 2^58: four suit lanes of 14 bits, `bit = 14*suit + rank-1` with suits S H D C
= 0..3 and ranks A..K = 1..13. Bit 13 of a lane is a guard that is always empty, so that a shift by one never leaves
its suit. The black Joker is bit 56, the red one bit 57. Signed on purpose: numba turns mixed unsigned expressions into
signed or floating ones without a word.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

SUITS = "SHDC"
RANKS = ("A", "2", "3", "4", "5", "6", "7", "8", "9", "10", "J", "Q", "K")
SYMBOLS = {"S": "♠", "H": "♥", "D": "♦", "C": "♣"}

LANE = 14
LANE_MASK = (1 << 13) - 1
CARDS = sum(LANE_MASK << (LANE * suit) for suit in range(4))
BLACK_JOKER, RED_JOKER = 56, 57
JOKERS = (1 << BLACK_JOKER) | (1 << RED_JOKER)
BITS = 58
RANK_SET = sum(1 << (LANE * suit) for suit in range(4))
"""The four Aces; shifted by rank-1, the four cards of a rank."""

DECK = np.array([LANE * suit + rank for suit in range(4) for rank in range(13)], dtype=np.uint8)

_NAMES = {LANE * s + r: SUITS[s] + RANKS[r] for s in range(4) for r in range(13)} | {
    BLACK_JOKER: "BJ",
    RED_JOKER: "RJ",
}
_BITS = {name: bit for bit, name in _NAMES.items()}
CARD_NAMES = tuple(_BITS)
"""Every card's notation, in bit order."""


def card_name(bit: int) -> str:
    """The notation of the card at a bit position, such as "S7" or "BJ"."""
    return _NAMES[int(bit)]


def parse_card(name: str) -> int:
    """The bit position of a card in notation. Raises KeyError for what is no card."""
    return _BITS[name]


def bits_of(mask: int) -> list[int]:
    """The bit positions set in a card set, ascending: by suit, then rank, Jokers last."""
    mask = int(mask)
    return [bit for bit in _NAMES if mask >> bit & 1]


def card_names(mask: int) -> list[str]:
    """The cards of a set in notation, by suit, then rank, Jokers last."""
    return [_NAMES[bit] for bit in bits_of(mask)]


def mask_of(names: Iterable[str]) -> int:
    """The card set of cards in notation. Raises KeyError for what is no card."""
    mask = 0
    for name in names:
        mask |= 1 << _BITS[name]
    return mask


def card_text(name: str) -> str:
    """A card for people: ♠7, or the Joker's notation."""
    return SYMBOLS.get(name[0], name[0]) + name[1:] if name not in ("BJ", "RJ") else name
