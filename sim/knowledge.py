"""What a seat cannot see, dealt anew: hidden cards shared out among the places that may hold them.

A game's `resample` tells how many hidden cards each place holds (a place is a seat's hand, the stock, one covered card)
and which cards a place is proved not to hold, and calls `share_out`. The fields `SHARING` of the game's memory record
are its working space, so that nothing is allocated.
"""

from __future__ import annotations

import numpy as np

from sim.cards import BITS
from sim.jit import helper, lowest, nth_bit, outlined, popcount
from sim.rng import below


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

SHARING = [
    ("room", np.int64, PLACES),  # how many hidden cards a place holds
    ("barred", np.int64, PLACES),  # the set of cards it is proved not to hold
    ("share", np.int64, PLACES),  # the set it is given
    ("card", np.int64, BITS),
    ("owner", np.int64, BITS),
    ("source", np.int64, PLACES),
    ("queue", np.int64, PLACES),
]

SWEEPS = 3
"""Steps of the chain per hidden card. Where nothing is barred its start is uniform already."""

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
def _place_cards(sharing, cards, possible, places, rng, stream):
    """Place those of the cards which exactly `possible` places may hold. Whether all of them found one."""
    while cards:
        bit = lowest(cards)
        cards &= cards - 1
        free = 0
        for p in range(places):
            free += _may_hold(sharing, p, bit)
        if free != possible:
            continue
        place = _place_by_room(sharing, bit, places, rng, stream)
        if place < 0:
            place = _make_room(sharing, bit, places)
        if place < 0:
            return False
        sharing.share[place] |= 1 << bit
        sharing.room[place] -= 1
    return True


@helper
def _rotate(sharing, n, rng, stream):
    """One step of the chain: pick two to four of the n cards at random and pass their places round, if that is allowed.

    A step and its reverse are equally likely, so that the uniform distribution is stationary.
    """
    picked = sharing.queue
    roll = below(rng, stream, 8)
    length = 2 if roll < 6 else roll - 3
    taken = 0
    for k in range(length):
        picked[k] = below(rng, stream, n)
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
def _mix_places(sharing, places, rng, stream):
    """Run the chain from the sharing in `share`."""
    n = 0
    for p in range(places):
        rest = sharing.share[p]
        sharing.share[p] = 0
        while rest:
            sharing.card[n] = lowest(rest)
            sharing.owner[n] = p
            n += 1
            rest &= rest - 1
    for _ in range(SWEEPS * n):
        _rotate(sharing, n, rng, stream)
    for k in range(n):
        sharing.share[sharing.owner[k]] |= 1 << sharing.card[k]


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
    barred = 0
    for p in range(places):
        sharing.share[p] = 0
        barred |= sharing.barred[p]
    fewest = 0 if barred & cards else places
    for possible in range(fewest, places + 1):
        if not _place_cards(sharing, cards, possible, places, rng, stream):
            return False
    if barred & cards:
        _mix_places(sharing, places, rng, stream)
    return True
