"""The searching player: what a move is worth is what it brings in play-outs of states that the seat thinks possible.

At a decision it samples full states (see sim.players.belief), never the true one, and plays each candidate move out
with a basic player in every seat. Play-outs are spent by UCB1 (Auer, Cesa-Bianchi & Fischer 2002) over the decision's
moves; play-out number t of every move starts from the same sample (determinized UCB: Cowling, Powley & Whitehouse
2012).

Where the play-outs are a weights player's, that is the base policy (Bertsekas, Tsitsiklis & Wu 1997): its own move is
made unless another one has clearly brought more in the same play-outs, which then share their random numbers too. Else
the most played move is made. All randomness comes from generators of the search's own, seeded by one word of the seat's
stream a decision.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from sim.games import DRAWN, SHARE, STALLED, Game
from sim.jit import helper, outlined
from sim.players.basic import RANDOM, Lineup, basic_lineup, choose_basic
from sim.players.belief import sample
from sim.protocol import apply, is_over, mover, moves, outcome
from sim.rng import CHANCE, DEAL, SEAT, STREAMS, start_stream, word
from sim.tally import ROW

if TYPE_CHECKING:
    from sim.config import Player


class Search(NamedTuple):
    """A line-up in which somebody searches. N seats; scratch of one thread.

    `basic`: row p is the player of seat p where that is a basic one, row N + p the player who plays out for a search in
    seat p; then come those that the others may be. `playouts` is 0 where nobody searches.
    """

    basic: Lineup
    model: (
        np.ndarray
    )  # int64 [N, most models]: the rows of the players that others may be to the search in a seat
    models: np.ndarray  # int64 [N]: their number
    playouts: np.ndarray  # int64 [N]
    samples: np.ndarray  # int64 [N]
    exploration: np.ndarray  # float64 [N]
    aim: np.ndarray  # int64 [N], what is maximised: 0 the win share, else this times the score
    log: np.ndarray  # float64 [most play-outs + 1], natural logarithms
    memory: np.ndarray  # [1] of the game's memory
    states: np.ndarray  # [1 + most samples]: the play-out, and the samples
    rows: np.ndarray  # [1] of ROW
    rng: np.ndarray  # uint64 [streams, 2]
    root: np.ndarray  # int64 [max_moves]: the decision's moves, and of each
    visits: np.ndarray  # int64 [max_moves]
    worth: np.ndarray  # float64 [max_moves], summed
    gain: np.ndarray  # float64 [max_moves], over the base policy's move in the same play-outs, summed
    square: np.ndarray  # float64 [max_moves], its squares, summed
    base_worth: np.ndarray  # float64 [most play-outs], of the base policy's move by play-out
    out: np.ndarray  # int64 [max_moves]
    tied: np.ndarray  # int64 [max_moves]
    total: np.ndarray  # int64 [1]
    likelihood: np.ndarray  # float64 [1], the logarithm of that of the latest sample
    hidden: np.ndarray  # int64 [1], cards that it deals


def search_lineup(game: Game, players: Sequence[Player]) -> Search:
    """The arrays of a line-up for a game, some of whose players search."""
    settings = [player.search for player in players]
    opponents = [[p for p in s.opponents if p.plays(game.name)] if s else [] for s in settings]
    playing_out = [player if s is None else s.plays_out for player, s in zip(players, settings, strict=True)]
    playouts = np.array([s.playouts if s else 0 for s in settings], dtype=np.int64)
    moves_, visits, out, tied = (np.zeros(game.max_moves, dtype=np.int64) for _ in range(4))
    worth, gain, square = (np.zeros(game.max_moves) for _ in range(3))
    return Search(
        basic_lineup(game, [*playing_out, *playing_out, *itertools.chain(*opponents)]),
        *_models(opponents),
        playouts,
        np.array([s.samples if s else 0 for s in settings], dtype=np.int64),
        np.array([s.exploration if s else 0.0 for s in settings]),
        np.array([game.scored if s and s.aim == "score" else 0 for s in settings], dtype=np.int64),
        np.log(np.maximum(1.0, np.arange(playouts.max() + 1))),
        np.zeros(1, dtype=game.memory).view(np.recarray),
        np.zeros(1 + max(s.samples if s else 0 for s in settings), dtype=game.state).view(np.recarray),
        np.zeros(1, dtype=ROW).view(np.recarray),
        np.zeros((STREAMS, 2), dtype=np.uint64),
        moves_,
        visits,
        worth,
        gain,
        square,
        np.zeros(playouts.max()),
        out,
        tied,
        np.zeros(1, dtype=np.int64),
        np.zeros(1),
        np.zeros(1, dtype=np.int64),
    )


def _models(opponents: Sequence[Sequence[Player]]) -> tuple[np.ndarray, np.ndarray]:
    """By seat, the rows of a line-up where the players stand that the others may be, and their number."""
    seats = len(opponents)
    models = np.array([len(players) for players in opponents], dtype=np.int64)
    rows = np.zeros((seats, max(1, models.max())), dtype=np.int64)
    first = 2 * seats + np.cumsum(models) - models
    for seat in range(seats):
        rows[seat, : models[seat]] = first[seat] + np.arange(models[seat])
    return rows, models


@helper
def _worth(rules, row, seat, aim):
    """What a finished game is worth to a seat. A drawn or stalled one is worth as much as to everybody else."""
    if aim != 0:
        return aim * row.score[seat]
    if row.outcome == DRAWN or row.outcome == STALLED:
        return SHARE // rules.seats
    return row.share[seat]


@helper
def _play_out(rules, search, seat, number, move):
    """Make a move in a sampled state, play on to the end, and return what that is worth to the seat.

    Moves are made in one place only, as that is where most of a game's code goes.
    """
    search.states[0] = search.states[number]
    state = search.states[0]
    row = rules.seats + seat
    while True:
        apply(rules, state, move, search.rng, None)
        if is_over(rules, state):
            break
        after = mover(rules, state)
        move, _ = choose_basic(
            rules, state, after, search.basic, row, search.rng, search.out, search.tied, search.total
        )
    outcome(rules, state, search.rows[0])
    return _worth(rules, search.rows[0], seat, search.aim[seat])


@helper
def _bound(search, n, played, width):
    """The move with the largest upper confidence bound, `width` times the usual one; an untried one first."""
    best = 0
    highest = -math.inf
    for i in range(n):
        tried = search.visits[i]
        if tried == 0:
            return i
        bound = search.worth[i] / tried + width * math.sqrt(search.log[played] / tried)
        if bound > highest:
            highest = bound
            best = i
    return best


@helper
def _most_played(search, n):
    """The move played out most often; among those the one worth most."""
    best = 0
    for i in range(1, n):
        more = search.visits[i] - search.visits[best]
        if more > 0 or (more == 0 and search.worth[i] > search.worth[best]):
            best = i
    return best


CAUTION = 2.0
"""By how many standard errors a move must have brought more than the base policy's."""


@helper
def _base_move(rules, state, seat, search, n):
    """The index of the base policy's own move, or -1 where play-outs are random."""
    row = rules.seats + seat
    if search.basic.kind[row] == RANDOM:
        return -1
    move, _ = choose_basic(
        rules, state, seat, search.basic, row, search.rng, search.out, search.tied, search.total
    )
    for i in range(n):
        if search.root[i] == move:
            return i
    return -1


@helper
def _largest_gain(search, n, base):
    """The move whose gain over the base policy's, less `CAUTION` standard errors, is largest; else that one."""
    best = base
    largest = 0.0
    for i in range(n):
        tried = search.visits[i]
        if i == base or tried < 2:
            continue
        mean = search.gain[i] / tried
        variance = max(search.square[i] / tried - mean * mean, 0.0) / (tried - 1)
        bound = mean - CAUTION * math.sqrt(variance)
        if bound > largest:
            largest = bound
            best = i
    return best


@helper
def _start_streams(rules, search, key):
    """Start the generators of a play-out, or of all those that do not share their random numbers."""
    start_stream(search.rng, key, CHANCE)
    for p in range(rules.seats):
        start_stream(search.rng, key, SEAT + p)


@helper
def _note(search, i, base, turn, worth):
    """Note what a move's play-out number `turn` was worth."""
    search.visits[i] += 1
    search.worth[i] += worth
    if i == base:
        search.base_worth[turn] = worth
    elif base >= 0:
        gain = worth - search.base_worth[turn]
        search.gain[i] += gain
        search.square[i] += gain * gain


@outlined
def choose_search(rules, state, seat, search, rng):
    """(move, number of legal moves) of a searching seat at its decision."""
    n = moves(rules, state, search.root)
    if n == 1:
        return search.root[0], n
    key = word(rng, SEAT + seat)
    start_stream(search.rng, key, DEAL)
    _start_streams(rules, search, key)
    for i in range(n):
        search.visits[i] = 0
        search.worth[i] = search.gain[i] = search.square[i] = 0.0
    base = _base_move(rules, state, seat, search, n)
    samples = search.samples[seat]
    sampled = 0
    least = most = 0
    for k in range(search.playouts[seat]):
        i = _bound(search, n, k, search.exploration[seat] * (most - least))
        if base >= 0:
            if search.visits[base] <= search.visits[i]:
                i = base
            _start_streams(rules, search, key + np.uint64((search.visits[i] + 1) << 32))
        turn = search.visits[i]
        if turn == sampled and sampled < samples:
            sampled += 1
            sample(rules, state, seat, search, sampled)
        worth = _play_out(rules, search, seat, 1 + turn % samples, search.root[i])
        least = min(least, worth)
        most = max(most, worth)
        _note(search, i, base, turn, worth)
    best = _most_played(search, n) if base < 0 else _largest_gain(search, n, base)
    return search.root[best], n
