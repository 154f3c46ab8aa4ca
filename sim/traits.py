"""What tells players apart in the record of a game: how the moves they made differ from those they could have made."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sim.engine import Scratch, new_scratch, plain_arithmetic, start_game
from sim.games import Game
from sim.jit import entry, helper
from sim.players import Lineup, choose
from sim.protocol import apply, begin, features, is_over, mover, moves, outcome
from sim.tally import Layout


class Traits(NamedTuple):
    """What is kept of each game and seat; sums are over the seat's decisions with more than one legal move.

    Attributes:
        sums: float64 [games, N, phases, features], of the feature's value for the move made, less its mean over the
            legal moves.
        decisions: int64 [games, N, phases], how many there were.
        shares: int64 [games, N], the seat's win share in units of 1/2520.
        scores: int64 [games, N], its score, 0 where the game has none.
    """

    sums: np.ndarray
    decisions: np.ndarray
    shares: np.ndarray
    scores: np.ndarray


@helper
def _add_traits(rules, state, move, out, n, x, sums):
    """Add the features of a move to `sums`, less their means over the legal moves `out[:n]`. Scratch: `x` int64."""
    for i in range(n):
        x[:] = 0
        features(rules, state, out[i], x)
        weight = (out[i] == move) - 1 / n
        for f in range(x.size):
            sums[f] += weight * x[f]


@entry
def _collect(rules, lineup, scratch, seed, first, scored, x, traits):
    """Play the deals first, first+1, ... and add up the traits of each game."""
    state = scratch.states[0]
    for g in range(traits.sums.shape[0]):
        start_game(rules, seed, first + g, 0, scratch)
        begin(rules, state, scratch.rng, None)
        while not is_over(rules, state):
            seat = mover(rules, state)
            move, n = choose(
                rules, state, seat, lineup, scratch.rng, scratch.out, scratch.scores, scratch.total
            )
            if n > 1:
                moves(rules, state, scratch.out)
                phase = state.phase
                _add_traits(rules, state, move, scratch.out, n, x, traits.sums[g, seat, phase])
                traits.decisions[g, seat, phase] += 1
            apply(rules, state, move, scratch.rng, None)
        outcome(rules, state, scratch.rows[0])
        for p in range(rules.seats):
            traits.shares[g, p] = scratch.rows[0].share[p]
            if scored:
                traits.scores[g, p] = scratch.rows[0].score[p]


class Observer:
    """Plays games of a game under its rules and looks at the moves; of use to one thread at a time."""

    def __init__(self, played: Game, rules: Any) -> None:
        self.game, self.rules = played, rules
        self._scratch: Scratch = new_scratch(played, len(Layout(played, rules).classes))
        self._x = np.zeros(len(played.features), dtype=np.int64)

    def traits(self, lineup: Lineup, seed: int, games: int, first: int) -> Traits:
        """The traits of the deals first .. first+games-1, the same games as elsewhere."""
        table = games, self.rules.seats
        shape = *table, len(self.game.phases)
        numbers = (np.zeros(size, dtype=np.int64) for size in (shape, table, table))
        found = Traits(np.zeros((*shape, len(self._x))), *numbers)
        with plain_arithmetic():
            _collect(self.rules, lineup, self._scratch, seed, first, self.game.scored, self._x, found)
        return found
