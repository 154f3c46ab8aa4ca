"""What a seat cannot see, dealt anew: hidden cards shared out among the places that may hold them.

A game's `resample` tells how many hidden cards each place holds (a place is a seat's hand, the stock, one covered card)
and which cards a place is proved not to hold, and calls `share_out`. The fields `SHARING` of the game's memory record
are its working space, so that nothing is allocated.
"""

from __future__ import annotations

import numpy as np

from sim.cards import BITS
from sim.jit import helper, lowest, nth_bit, outlined, popcount
from sim.rng import below, word


@helper
def some_of(cards, n, rng, stream):
    """n of the cards (int64 set), each choice of n equally likely; those left out are drawn where they are fewer."""
    size = popcount(cards)
    drawn = 0
    for k in range(min(n, size - n)):
        drawn |= nth_bit(cards ^ drawn, below(rng, stream, size - k))
    return drawn if 2 * n <= size else cards ^ drawn


PLACES = 80
"""Hands, the stock, and a place for every card that lies covered."""

COUNTING = 7
"""Bits of a number of places."""

SHARING = [
    ("places", np.int64),
    ("room", np.int64, PLACES),  # how many hidden cards a place holds
    ("barred", np.int64, PLACES),  # the set of cards it is proved not to hold
    ("share", np.int64, PLACES),  # the set it is given
    ("card", np.int64, BITS),
    ("owner", np.int64, BITS),
    ("source", np.int64, PLACES),
    ("queue", np.int64, PLACES),
    ("counted", np.int64, COUNTING),
]

MOST_CHOICES = 64

CHOICES_SEEN = [
    ("choices", np.int64),  # choices that all have seen, in order, and of each:
    ("chooser", np.int64, MOST_CHOICES),  # the seat,
    ("chosen", np.int64, MOST_CHOICES),  # what it chose, and
    ("met", np.int64, MOST_CHOICES),  # what it chose from, as the game writes it down
]
"""Fields of the memory of a game that can take choices back (see sim.players.belief)."""

SWEEPS = 3
"""Steps of the chain per hidden card. Where nothing is barred its start is uniform already."""

PICKING = 15
"""Random bits that pick a card."""

UNUSED = np.uint64(64 - 4 * PICKING)
"""Bits of a word that four picks leave over."""

UNREACHED, ROOT = -2, -1


@helper
def _may_hold(sharing, place, bit):
    return not sharing.barred[place] >> bit & 1


@helper
def _place_by_room(sharing, bit, places, rng, stream):
    """A place that may hold the card, with probability proportional to its room; -1 when all those are full."""
    total = 0
    for p in range(places):
        total += sharing.room[p] * _may_hold(sharing, p, bit)
    if total == 0:
        return -1
    k = below(rng, stream, total)
    for p in range(places):
        k -= sharing.room[p] * _may_hold(sharing, p, bit)
        if k < 0:
            return p
    return -1


@outlined
def _make_room(sharing, bit, places):
    """Free a place for the card by moving others along the shortest chain of places that ends where there is room.

    An augmenting path of a bipartite flow: there is one whenever all cards can be placed. Returns the place, or -1.
    """
    queued = 0
    for p in range(places):
        sharing.source[p] = UNREACHED
        if _may_hold(sharing, p, bit):
            sharing.source[p] = ROOT
            sharing.queue[queued] = p
            queued += 1
    at = 0
    while at < queued and sharing.room[sharing.queue[at]] == 0:
        p = sharing.queue[at]
        at += 1
        for q in range(places):
            if sharing.source[q] == UNREACHED and sharing.share[p] & ~sharing.barred[q]:
                sharing.source[q] = p
                sharing.queue[queued] = q
                queued += 1
    if at == queued:
        return -1
    place = sharing.queue[at]
    sharing.room[place] -= 1
    while sharing.source[place] != ROOT:
        source = sharing.source[place]
        moved = sharing.share[source] & ~sharing.barred[place]
        moved &= -moved
        sharing.share[source] ^= moved
        sharing.share[place] |= moved
        place = source
    sharing.room[place] += 1
    return place


@helper
def _count_places(sharing, cards, places):
    """Count for all cards at once how many places may hold each: bit k of every card's number goes into counted[k]."""
    for k in range(COUNTING):
        sharing.counted[k] = 0
    for p in range(places):
        carry = cards & ~sharing.barred[p]
        k = 0
        while carry:
            both = sharing.counted[k] & carry
            sharing.counted[k] ^= carry
            carry = both
            k += 1


@helper
def _held_by(sharing, cards, number):
    """Those of the cards that exactly so many places may hold, after `_count_places`."""
    for k in range(COUNTING):
        cards &= sharing.counted[k] if number >> k & 1 else ~sharing.counted[k]
    return cards


@helper
def _place_cards(sharing, cards, places, rng, stream):
    """Place the cards. Whether all of them found a place."""
    while cards:
        bit = lowest(cards)
        cards &= cards - 1
        place = _place_by_room(sharing, bit, places, rng, stream)
        if place < 0:
            place = _make_room(sharing, bit, places)
        if place < 0:
            return False
        sharing.share[place] |= 1 << bit
        sharing.room[place] -= 1
    return True


@helper
def _picked(n, bits):
    """One of n cards, by the lowest `PICKING` of some random bits."""
    return (bits & ((1 << PICKING) - 1)) * n >> PICKING


@helper
def _rotate(sharing, n, length, bits):
    """One step of the chain: pick `length` of n cards by random bits and pass their places round, if that is allowed.

    A step and its reverse are equally likely, so that the uniform distribution is stationary: for that no more is
    needed than that every card is picked with a chance of its own.
    """
    picked = sharing.queue
    taken = 0
    for k in range(length):
        picked[k] = _picked(n, bits >> PICKING * k)
        if taken >> picked[k] & 1:
            return
        taken |= 1 << picked[k]
    for k in range(length):
        after = picked[k + 1 if k + 1 < length else 0]
        if not _may_hold(sharing, sharing.owner[after], sharing.card[picked[k]]):
            return
    place = sharing.owner[picked[0]]
    for k in range(length - 1):
        sharing.owner[picked[k]] = sharing.owner[picked[k + 1]]
    sharing.owner[picked[length - 1]] = place


@helper
def _swap(sharing, n, bits):
    """`_rotate` of two cards, which is most of the chain's steps."""
    a = _picked(n, bits)
    b = _picked(n, bits >> PICKING)
    p = sharing.owner[a]
    q = sharing.owner[b]
    if _may_hold(sharing, q, sharing.card[a]) & _may_hold(sharing, p, sharing.card[b]):
        sharing.owner[a] = q
        sharing.owner[b] = p


@helper
def list_cards(sharing):
    """List the shared cards with their places in `card` and `owner`; returns their number."""
    n = 0
    for p in range(sharing.places):
        rest = sharing.share[p]
        while rest:
            sharing.card[n] = lowest(rest)
            sharing.owner[n] = p
            n += 1
            rest &= rest - 1
    return n


@helper
def exchange(sharing, a, b):
    """Exchange the places of the cards listed as a and b. Whether that is allowed, and changes something."""
    p = sharing.owner[a]
    q = sharing.owner[b]
    if p == q or not (_may_hold(sharing, q, sharing.card[a]) and _may_hold(sharing, p, sharing.card[b])):
        return False
    both = 1 << sharing.card[a] | 1 << sharing.card[b]
    sharing.share[p] ^= both
    sharing.share[q] ^= both
    sharing.owner[a] = q
    sharing.owner[b] = p
    return True


@helper
def _mix_places(sharing, rng, stream):
    """Run the chain from the sharing in `share`. A quarter of its steps rotate more than two cards; they come first.

    A word of random bits is enough for one such step, or for two swaps.
    """
    n = list_cards(sharing)
    longer = SWEEPS * n // 8
    for length in (4, 3):
        for _ in range(longer):
            _rotate(sharing, n, length, np.int64(word(rng, stream) >> UNUSED))
    for _ in range(SWEEPS * n // 2 - longer):
        bits = np.int64(word(rng, stream) >> UNUSED)
        _swap(sharing, n, bits)
        _swap(sharing, n, bits >> 2 * PICKING)
    for p in range(sharing.places):
        sharing.share[p] = 0
    for k in range(n):
        sharing.share[sharing.owner[k]] |= 1 << sharing.card[k]


@helper
def note_choice(memory, seat, move, met):
    """Write down a choice, as `CHOICES_SEEN` has it."""
    k = memory.choices
    if k < MOST_CHOICES:
        memory.chooser[k] = seat
        memory.chosen[k] = move
        memory.met[k] = met
        memory.choices = k + 1


@helper
def clear_sharing(sharing, places):
    """Empty `room` and `barred` before a game fills them in."""
    for p in range(places):
        sharing.room[p] = 0
        sharing.barred[p] = 0


@outlined
def share_out(sharing, cards, places, rng, stream):
    """Share the hidden `cards` (int64 set) out among `places` places, uniformly over all sharings that are possible.

    Reads `barred` and `room` (which sums to the number of cards, and is used up) of the record `sharing`; writes
    `share`. With nothing barred the sharing is exactly uniform. Else a Markov chain of card rotations with uniform
    target (Metropolis; moves as in Diaconis & Sturmfels 1998) runs from a random start. Whether there is a sharing.
    """
    sharing.places = places
    barred = 0
    for p in range(places):
        sharing.share[p] = 0
        barred |= sharing.barred[p]
    _count_places(sharing, cards, places)
    for possible in range(places + 1):
        if not _place_cards(sharing, _held_by(sharing, cards, possible), places, rng, stream):
            return False
    if barred & cards:
        _mix_places(sharing, rng, stream)
    return True
