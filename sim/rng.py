"""One generator per (seed, deal, replay, stream), and the shuffle.

The generator is xoroshiro128++ (Blackman & Vigna 2021), seeded through SplitMix64's finaliser (Steele, Lea & Flood
2014). A game's generators are one array `rng` of shape (streams, 2), dtype uint64: row `CHANCE` serves the chance
events of the table, row `SEAT + p` the choices of the player in seat p. The shuffle of the deal has a stream of its
own that depends on (seed, deal) only, so that one deal meets every ruleset, line-up, rotation and replay.
"""

from __future__ import annotations

import numpy as np

from sim.jit import helper

DEAL, CHANCE, SEAT = 0, 1, 2
MAX_SEATS = 10
STREAMS = SEAT + MAX_SEATS

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_S27, _S30, _S31, _S32 = np.uint64(27), np.uint64(30), np.uint64(31), np.uint64(32)
_S17, _S47, _S49, _S15, _S21, _S28, _S36 = (np.uint64(k) for k in (17, 47, 49, 15, 21, 28, 36))
_LOW = np.uint64(0xFFFFFFFF)


@helper
def _mix(x):
    """SplitMix64's finaliser: a bijection of uint64 without visible structure."""
    x = (x ^ (x >> _S30)) * _MIX_1
    x = (x ^ (x >> _S27)) * _MIX_2
    return x ^ (x >> _S31)


@helper
def game_key(seed, deal, replay):
    """The uint64 key of a game's streams; `replay` 0 is also the key of the deal itself."""
    key = _mix(np.uint64(seed) + _GOLDEN)
    key = _mix((key ^ np.uint64(deal)) + _GOLDEN)
    return _mix((key ^ np.uint64(replay)) + _GOLDEN)


@helper
def start_stream(rng, key, stream):
    """Put the generator of (key, stream) into row `stream` of `rng` (uint64, shape (streams, 2))."""
    x = _mix((key ^ np.uint64(stream)) + _GOLDEN)
    rng[stream, 0] = _mix(x + _GOLDEN)
    rng[stream, 1] = _mix(x + _GOLDEN + _GOLDEN)


@helper
def _output(s0, s1):
    """The 64 random bits of a generator's state (xoroshiro128++)."""
    x = s0 + s1
    return ((x << _S17) | (x >> _S47)) + s0


@helper
def _advance(s0, s1):
    """The next state of a generator."""
    s1 ^= s0
    return ((s0 << _S49) | (s0 >> _S15)) ^ s1 ^ (s1 << _S21), (s1 << _S28) | (s1 >> _S36)


@helper
def word(rng, stream):
    """The next 64 random bits of a stream."""
    s0 = rng[stream, 0]
    s1 = rng[stream, 1]
    rng[stream, 0], rng[stream, 1] = _advance(s0, s1)
    return _output(s0, s1)


@helper
def below(rng, stream, n):
    """A uniformly random int64 in 0..n-1, exactly (Lemire 2019, with 32-bit words); n in 1..2^31.

    With n = 1 the stream stays where it is, and no branch tells that apart: which it would be is hard to foresee.
    """
    bound = np.uint64(n)
    s0 = rng[stream, 0]
    s1 = rng[stream, 1]
    product = (_output(s0, s1) >> _S32) * bound
    t0, t1 = _advance(s0, s1)
    rng[stream, 0] = t0 if n > 1 else s0
    rng[stream, 1] = t1 if n > 1 else s1
    if (product & _LOW) < bound:
        threshold = (np.uint64(1) << _S32) % bound
        while (product & _LOW) < threshold:
            product = (word(rng, stream) >> _S32) * bound
    return np.int64(product >> _S32)


@helper
def shuffle(rng, stream, cards, first, last):
    """Permute cards[first:last] uniformly (Fisher-Yates with `below`; the generator stays in registers meanwhile)."""
    s0 = rng[stream, 0]
    s1 = rng[stream, 1]
    for i in range(last - 1, first, -1):
        bound = np.uint64(i - first + 1)
        product = (_output(s0, s1) >> _S32) * bound
        s0, s1 = _advance(s0, s1)
        if (product & _LOW) < bound:
            threshold = (np.uint64(1) << _S32) % bound
            while (product & _LOW) < threshold:
                product = (_output(s0, s1) >> _S32) * bound
                s0, s1 = _advance(s0, s1)
        j = first + np.int64(product >> _S32)
        card = cards[i]
        cards[i] = cards[j]
        cards[j] = card
    rng[stream, 0] = s0
    rng[stream, 1] = s1


@helper
def shuffle_deck(rng, fresh, decks, jokers, deck):
    """Shuffle `decks` times the 52 cards of `fresh` into `deck` with the DEAL stream, then swap each Joker in.

    Each of `jokers` Jokers is swapped with a uniform place, its own included: a uniform permutation of all cards of
    which most positions agree with the one without Jokers.
    """
    size = 52 * decks
    for d in range(decks):
        for i in range(52):
            deck[52 * d + i] = fresh[i]
    shuffle(rng, DEAL, deck, 0, size)
    for k in range(jokers):
        place = below(rng, DEAL, size + 1 + k)
        deck[size + k] = deck[place]
        deck[place] = 56 + k
