"""Sevens against exact values: play-out counts of a published deal, and P(win | deal) under random play."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy.stats import chi2

from sim.config import load_player, load_ruleset
from sim.engine import Table, _play_game, start_game
from sim.games import game
from sim.jit import entry

LANE = 14
SUIT = (1 << 13) - 1
ACES = sum(1 << (LANE * suit) for suit in range(4))
SEVENS, KINGS, CARDS = ACES << 6, ACES << 12, ACES * SUIT

Policy = Callable[[np.ndarray, np.ndarray], np.ndarray]
"""(hands, playable cards) -> the cards between which the player wavers; int64 card sets, a position an element."""


def weights_of_winners(hands: list[int], opening: int, policy: Policy, *, shared: bool) -> np.ndarray:
    """The total weight of the play-outs that each seat wins, by a dynamic programme over (table, mover).

    Every play-out counts 1; if `shared`, a position's weight is divided evenly among its moves instead, so that the
    result is the probability that a seat wins. A hand is what the seat was dealt less the table.
    """
    held = np.array(hands, dtype=np.int64)
    seats = len(hands)
    opener = next(p for p, hand in enumerate(hands) if hand & opening)
    table, mover = np.array([opening]), np.array([(opener + 1) % seats])
    weight = np.ones(1, dtype=np.float64 if shared else np.int64)
    won = np.zeros(seats, dtype=weight.dtype)
    while table.size:
        mover, playable = pass_on(held, table, mover)
        moves = policy(held[mover] & ~table, playable)
        if shared:
            weight = weight / np.bitwise_count(moves)
        position, card = single_moves(moves)
        table, mover, weight = table[position] | card, mover[position], weight[position]
        out = held[mover] & ~table == 0
        np.add.at(won, mover[out], weight[out])
        table, mover, weight = merged(table[~out], (mover[~out] + 1) % seats, weight[~out])
    return won


def pass_on(held: np.ndarray, table: np.ndarray, mover: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Who can play next, and what: seats without a playable card pass."""
    live = ((table << 1 | table >> 1) & CARDS | SEVENS) & ~table
    while np.any(stuck := held[mover] & live == 0):
        mover = np.where(stuck, (mover + 1) % held.size, mover)
    return mover, held[mover] & live


def single_moves(moves: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Each move of each position: the position's index, and the card as a set of one."""
    positions, cards = [], []
    index = np.arange(moves.size)
    while moves.size:
        positions.append(index)
        cards.append(moves & -moves)
        more = moves & (moves - 1) != 0
        index, moves = index[more], (moves & (moves - 1))[more]
    return np.concatenate(positions), np.concatenate(cards)


def merged(table: np.ndarray, mover: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, ...]:
    """Equal positions made one, their weights added."""
    if table.size == 0:
        return table, mover, weight
    key = table << 3 | mover
    order = np.argsort(key)
    key, weight = key[order], weight[order]
    first = np.flatnonzero(np.r_[True, key[1:] != key[:-1]])
    return key[first] >> 3, key[first] & 7, np.add.reduceat(weight, first)


def at_random(hands: np.ndarray, playable: np.ndarray) -> np.ndarray:
    return playable


def thrifty(hands: np.ndarray, playable: np.ndarray) -> np.ndarray:
    """The published policy: the first safe card; else the cards that lead to own cards; else any."""
    upper, lower = ACES * (SUIT & ~0x7F), ACES * 0x3F
    above, below = hands >> 1, hands << 1  # cards whose next higher (lower) card is in the same hand
    safe = upper & above | lower & below | SEVENS & above & below | ACES | KINGS
    safe &= playable
    leads = np.zeros_like(hands)
    for rank in range(13):
        card = ACES << rank
        for suit in range(4):
            bit = card & SUIT << LANE * suit
            lane = SUIT << LANE * suit
            higher, lesser = lane & -(bit << 1), lane & (bit - 1)
            beyond = (higher if rank >= 6 else 0) | (lesser if rank <= 6 else 0)
            leads |= np.where(hands & beyond, bit, 0)
    leads &= playable
    return np.where(safe, safe & -safe, np.where(leads, leads, playable))


@pytest.mark.parametrize(("seats", "count"), [(5, 145_589_696), (6, 20_260_192)])
def test_published_numbers_of_play_outs(seats: int, count: int) -> None:
    """github.com/andywarduk/sevens, README: the unshuffled deck (hearts, clubs, diamonds, spades) dealt round robin."""
    deck = [LANE * suit + rank for suit in range(4) for rank in range(13)]
    hands = [sum(1 << card for card in deck[p::seats]) for p in range(seats)]
    assert weights_of_winners(hands, 1 << 6, thrifty, shared=False).sum() == count


@entry
def _replay_deal(rules, lineup, scratch, seed, number, replays, won):
    """Play one deal again and again with other choices; `won` (int64 [seats]) counts the wins."""
    for replay in range(1, replays + 1):
        start_game(rules, seed, number, replay, scratch)
        _play_game(rules, lineup, scratch, None)
        for p in range(rules.seats):
            won[p] += scratch.rows[0].share[p] > 0


DEALS = 20
REPLAYS = 100_000


@pytest.mark.slow
def test_random_play_wins_as_often_as_it_must() -> None:
    """Win frequencies of fixed deals against the exact probabilities, as one chi-square test at 1e-6."""
    ruleset = load_ruleset("sevens/default")
    statistic, freedom = 0.0, 0
    for number in range(DEALS):
        seats = (3, 4, 5, 6, 8)[number % 5]
        table = Table(
            game("sevens"), game("sevens").rules(ruleset.toggles, seats), (load_player("random"),) * seats, 5
        )
        table.deal(number)
        hands = [int(hand) for hand in table.state.hand[:seats]]
        chance = weights_of_winners(hands, 1 << (2 * LANE + 6), at_random, shared=True)
        assert chance.sum() == pytest.approx(1, abs=1e-9)
        won = np.zeros(seats, dtype=np.int64)
        _replay_deal(table.rules, table.lineup, table.scratch, 5, number, REPLAYS, won)
        assert won.sum() == REPLAYS
        expected = REPLAYS * chance
        common = expected >= 10
        observed, expected = (np.r_[x[common], x[~common].sum()] for x in (won, expected))
        possible = expected > 0
        assert not observed[~possible].any()
        statistic += float(((observed - expected)[possible] ** 2 / expected[possible]).sum())
        freedom += int(possible.sum()) - 1
    assert chi2.sf(statistic, freedom) > 1e-6
