"""The basic players, random and weights, inside the kernel.

A basic player chooses from its information state alone: `random` is uniform over the legal moves, `weights` takes the
move with the largest weighted sum of the game's features, ties broken at random. A forced move uses no randomness.
Players that search with basic players are a layer of their own above this one: nothing here may call them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from sim.features import Weighing
from sim.games import Game
from sim.jit import helper
from sim.protocol import features, moves, pick
from sim.rng import SEAT, below

if TYPE_CHECKING:
    from sim.config import Player

RANDOM, WEIGHTS, PAIRED = range(3)
"""How a row of a line-up decides; PAIRED: by weights, some of them of features of a partner."""

KINDS = {"random": RANDOM, "weights": WEIGHTS}


RESTRICTED = 10**12
"""The weight of a feature that a player must avoid, or must have, wherever a legal move allows: beyond all others."""


class Lineup(NamedTuple):
    """Basic players, a row each: `kind` int64 [rows]; `weights` int64 [rows, phases, features]."""

    kind: np.ndarray
    weights: np.ndarray


def basic_lineup(game: Game, players: Sequence[Player]) -> Lineup:
    """The arrays of basic players for a game."""
    kind = np.array([KINDS[player.kind] for player in players], dtype=np.int64)
    weights = np.zeros((len(players), len(game.phases), len(game.features)), dtype=np.int64)
    feature = {entry.name: k for k, entry in enumerate(game.features)}
    for row, player in enumerate(players):
        for phase, named in player.weights.get(game.name, {}).items():
            for name, weight in named.items():
                weights[row, game.phases.index(phase), feature[name]] = weight
        for sign, restricted in ((-RESTRICTED, player.forbid), (RESTRICTED, player.prefer)):
            for phase, names in restricted.get(game.name, {}).items():
                for name in names:
                    weights[row, game.phases.index(phase), feature[name]] = sign
    of_partner = [entry.partner is not None for entry in game.features]
    kind[weights[:, :, of_partner].any(axis=(1, 2))] = PAIRED
    return Lineup(kind, weights)


@helper
def best_moves(rules, state, x, out, tied, n):
    """Write the moves of `out[:n]` with the largest weighted feature sum into `tied` and return their number."""
    best = 0
    ties = 0
    for i in range(n):
        x.total[0] = 0
        features(rules, state, out[i], x)
        score = x.total[0]
        if ties == 0 or score > best:
            best = score
            ties = 0
        if score == best:
            tied[ties] = out[i]
            ties += 1
    return ties


@helper
def choose_basic(rules, state, seat, lineup, row, rng, out, tied, total):
    """(move, number of legal moves) of `seat`, for which the player in the line-up's `row` decides.

    Scratch: `out`, `tied` int64 [max_moves], `total` int64 [1].
    """
    stream = SEAT + seat
    if lineup.kind[row] == RANDOM:
        return pick(rules, state, rng, stream, out)
    n = moves(rules, state, out)
    if n == 1:
        return out[0], n
    x = Weighing(lineup.weights[row, state.phase], total, lineup.kind[row] == PAIRED)
    ties = best_moves(rules, state, x, out, tied, n)
    return tied[below(rng, stream, ties)], n
