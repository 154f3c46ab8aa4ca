"""The kernel: plays games of any registered game and adds them up.

`play_range` plays a range of deals for all arms of a group on common deals and returns their tallies and the tallies
of the contrasts. It is a pure function of its arguments and holds no lock, so threads may run it side by side.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sim.cards import DECK
from sim.events import CHOOSE, OPTION, emit, new_log, recording
from sim.games import Game, game
from sim.jit import JIT, entry, helper
from sim.players import Lineup, Search, choose, lineup_arrays, start_memory, watched
from sim.protocol import (
    apply,
    begin,
    cost,
    deal,
    gains_alone,
    is_over,
    mover,
    moves,
    opening,
    outcome,
    resample,
    specialised,
    standing,
)
from sim.rng import CHANCE, DEAL, MAX_SEATS, SEAT, STREAMS, game_key, shuffle, shuffle_deck, start_stream
from sim.tally import (
    ROW,
    Block,
    Layout,
    Tally,
    add_round,
    end_match,
    loser_of,
    new_block,
    new_tally,
    tally_block,
    write_game,
)

if TYPE_CHECKING:
    import pandas as pd

    from sim.config import Group, Player, Ruleset

MAX_CARDS = 3 * 52 + 2
"""The largest deck of any game."""

BLOCK = 1024
"""Games whose values are held at once for the contrasts; bounds memory whatever the chunk."""


class Scratch(NamedTuple):
    """A thread's working memory: one state, one row, generators, a deck, and buffers of the decision at hand."""

    states: np.ndarray
    rows: np.ndarray
    match: np.ndarray  # a row that sums up the rounds of a match
    rng: np.ndarray  # uint64 [streams, 2]
    deck: np.ndarray  # uint8 [cards]
    out: np.ndarray  # int64 [max_moves]
    scores: np.ndarray  # int64 [max_moves]
    total: np.ndarray  # int64 [1]
    classes: np.ndarray  # int64 [seats, partitions]
    k: np.ndarray  # int64 [classes]
    y: np.ndarray  # int64 [classes]


def new_scratch(played: Game, classes: int) -> Scratch:
    """Working memory for a game; `classes` as in its layout."""
    buffer, tied, total, k, y = (
        np.zeros(n, dtype=np.int64) for n in (played.max_moves, played.max_moves, 1, classes, classes)
    )
    return Scratch(
        np.zeros(1, dtype=played.state).view(np.recarray),
        np.zeros(1, dtype=ROW).view(np.recarray),
        np.zeros(1, dtype=ROW).view(np.recarray),
        np.zeros((STREAMS, 2), dtype=np.uint64),
        np.zeros(MAX_CARDS, dtype=np.uint8),
        buffer,
        tied,
        total,
        np.zeros((MAX_SEATS, len(played.partitions)), dtype=np.int64),
        k,
        y,
    )


@helper
def _begin_streams(rng, seats, seed, number, replay):
    """Start all streams of a replay of deal `number`."""
    key = game_key(seed, number, 0)
    start_stream(rng, key, DEAL)
    if replay != 0:
        key = game_key(seed, number, replay)
    start_stream(rng, key, CHANCE)
    for p in range(seats):
        start_stream(rng, key, SEAT + p)


@helper
def _deal_round(rules, number, loser, scratch):
    """Shuffle the deck with the DEAL stream, wherever it stands, and deal; `loser` as in `deal`."""
    shuffle_deck(scratch.rng, DECK, rules.decks, rules.jokers, scratch.deck)
    deal(rules, scratch.deck, number, loser, scratch.states[0], scratch.rng)


@helper
def start_game(rules, seed, number, replay, scratch):
    """Start the streams of a replay of deal `number`, shuffle the deck and deal."""
    _begin_streams(scratch.rng, rules.seats, seed, number, replay)
    _deal_round(rules, number, -1, scratch)


@helper
def _note_openings(rules, scratch):
    """Write the opening hands just dealt into the row, and their classes."""
    for p in range(rules.seats):
        scratch.rows[0].opening[p] = opening(rules, scratch.states[0], p, scratch.classes[p])


@helper
def _log_choice(rules, state, move, out, log):
    """Log an inner decision: what was chosen, and out of what."""
    if recording(log) and state.phase != 0:
        emit(log, CHOOSE, mover(rules, state), state.phase, move)
        for i in range(moves(rules, state, out)):
            emit(log, OPTION, out[i])


@helper
def _is_behind(rules, state, seat):
    """Whether another seat stands better. Leaving the loop early also keeps it from being made one of vectors, whose
    loads would have to wait for the state's latest store."""
    mine = standing(rules, state, seat)
    behind = False
    for p in range(rules.seats):
        behind = standing(rules, state, p) < mine
        if behind:
            break
    return behind


@helper
def _leader(rules, state, leader, seat):
    """The seat that stands best alone after a move of `seat`, else still `leader` (-1 for nobody yet)."""
    if leader >= 0:
        if gains_alone(rules):
            if standing(rules, state, seat) >= standing(rules, state, leader):
                return leader
        elif not _is_behind(rules, state, leader):
            return leader
    best = 1 << 30
    ahead = leader
    for p in range(rules.seats):
        theirs = standing(rules, state, p)
        if theirs == best:
            ahead = leader
        if theirs < best:
            best = theirs
            ahead = p
    return ahead


@helper
def _play_game(rules, lineup, scratch, log):
    """Play a dealt game to its end and write its row."""
    state = scratch.states[0]
    row = scratch.rows[0]
    row.listed = 0
    row.lead_changes = 0
    row.direction = 1
    for p in range(rules.seats):
        row.decisions[p] = 0
        row.choices[p] = 0
    start_memory(rules, state, lineup)
    log = watched(rules, lineup, log)
    begin(rules, state, scratch.rng, log)
    turn = state.turn
    leader = -1
    while not is_over(rules, state):
        seat = mover(rules, state)
        move, n = choose(rules, state, seat, lineup, scratch.rng, scratch.out, scratch.scores, scratch.total)
        row.decisions[seat] += 1
        row.choices[seat] += n > 1
        row.listed += n
        _log_choice(rules, state, move, scratch.out, log)
        apply(rules, state, move, scratch.rng, log)
        if state.turn != turn:
            turn = state.turn
            ahead = _leader(rules, state, leader, seat)
            row.lead_changes += ahead != leader and leader >= 0
            leader = ahead
    outcome(rules, state, row)


@helper
def _play_games(rules, lineup, plan, tally, scratch, seed, first, replay, block):
    """Play a replay of the deals first, first+1, ... into the rows of `block` and the tally."""
    counters = scratch.states[0].count.size
    for i in range(block.values.shape[0]):
        start_game(rules, seed, first + i, replay, scratch)
        _note_openings(rules, scratch)
        _play_game(rules, lineup, scratch, None)
        write_game(rules.seats, counters, plan.scored, scratch.rows[0], scratch.classes, block, i)
    tally_block(rules.seats, plan, tally, block, scratch.k, scratch.y)


_play_specialised = specialised(_play_games, Lineup)


@entry
def _play_block(rules, lineup, plan, tally, scratch, seed, first, replay, block):
    """`_play_games`, in its copy for the game's usual rules where these are."""
    _play_specialised(rules, lineup, plan, tally, scratch, seed, first, replay, block)


@helper
def _play_match(rules, lineup, rounds, scored, scratch, seed, number, replay):
    """Play the rounds of deal `number`, in which all streams go on, and write the row of the match."""
    _begin_streams(scratch.rng, rules.seats, seed, number, replay)
    loser = -1
    for k in range(rounds):
        _deal_round(rules, number + k, loser, scratch)
        if k == 0:
            _note_openings(rules, scratch)
        _play_game(rules, lineup, scratch, None)
        loser = loser_of(rules.seats, scratch.rows[0], loser)
        add_round(rules.seats, scratch.states[0].count.size, scratch.rows, scratch.match, k)
    end_match(rules.seats, scored, scratch.rows, scratch.match)


@entry
def _play_matches(rules, lineup, rounds, plan, tally, scratch, seed, first, replay, block):
    """Play a replay of the deals first, first+1, ... as matches into the rows of `block` and the tally."""
    counters = scratch.states[0].count.size
    for i in range(block.values.shape[0]):
        _play_match(rules, lineup, rounds, plan.scored, scratch, seed, first + i, replay)
        write_game(rules.seats, counters, plan.scored, scratch.rows[0], scratch.classes, block, i)
    tally_block(rules.seats, plan, tally, block, scratch.k, scratch.y)


def _play(rules, rounds, lineup, *arguments):
    """Play a block of games: `_play_block`, or with more than one round `_play_matches`."""
    with plain_arithmetic():
        if rounds == 1:
            _play_block(rules, lineup, *arguments)
        else:
            _play_matches(rules, lineup, rounds, *arguments)


@entry
def _tally_contrast(values, arms, weights, out):
    """Add per-game differences to a contrast's tally `out` (int64, [M, 5]); `values` is [arms, games, M]."""
    for i in range(values.shape[1]):
        for m in range(values.shape[2]):
            d = 0
            for t in range(arms.size):
                d += weights[t] * values[arms[t], i, m]
            out[m, 0] += 1
            out[m, 1] += d
            out[m, 2] += d * d
            out[m, 3] += d > 0
            out[m, 4] += d < 0


START, DEAL_ROUND, BEGIN, CHOOSE_MOVE, MAKE_MOVE, LIST_MOVES, RESULT, MOVER, ADD_ROUND, END_MATCH = range(10)


@entry
def _drive(rules, lineup, scratch, action, a, b, c, log):
    """One step of a game that Python drives: one compiled function for all of them, as each inlines half the game."""
    state = scratch.states[0]
    if action == START:
        _begin_streams(scratch.rng, rules.seats, a, b, c)
    elif action == DEAL_ROUND:
        _deal_round(rules, a, b, scratch)
    elif action == BEGIN:
        start_memory(rules, state, lineup)
        begin(rules, state, scratch.rng, watched(rules, lineup, log))
    elif action == CHOOSE_MOVE:
        seat = mover(rules, state)
        return choose(rules, state, seat, lineup, scratch.rng, scratch.out, scratch.scores, scratch.total)[0]
    elif action == MAKE_MOVE:
        _log_choice(rules, state, a, scratch.out, log)
        apply(rules, state, a, scratch.rng, watched(rules, lineup, log))
    elif action == LIST_MOVES:
        n = moves(rules, state, scratch.out)
        if state.phase == 0:
            for i in range(n):
                scratch.scores[i] = cost(rules, state, scratch.out[i])
        return n
    elif action == RESULT:
        outcome(rules, state, scratch.rows[0])
    elif action == MOVER:
        return mover(rules, state)
    elif action == ADD_ROUND:
        add_round(rules.seats, state.count.size, scratch.rows, scratch.match, a)
        return loser_of(rules.seats, scratch.rows[0], b)
    elif action == END_MATCH:
        end_match(rules.seats, a, scratch.rows, scratch.match)
    return int(is_over(rules, state))


@entry
def _sample(rules, state, memory, rng, key, samples):
    """Fill `samples` with full states that the seat which is to decide thinks possible."""
    seat = mover(rules, state)
    start_stream(rng, key, DEAL)
    for i in range(samples.size):
        samples[i] = state
        resample(rules, samples[i], memory, seat, rng, DEAL)


@entry
def _start_streams(rng, seats, seed, number, replay):
    """The generators of a game whose deal is given."""
    _begin_streams(rng, seats, seed, number, replay)


@entry
def _shuffle_cards(rng, seed, cards):
    """Shuffle given cards (uint8) with the DEAL stream of deal 0."""
    start_stream(rng, game_key(seed, 0, 0), DEAL)
    shuffle(rng, DEAL, cards, 0, cards.size)


class Table:
    """A game driven from Python, move by move, with its events recorded: for logs, positions and tests.

    The same compiled rules and players as in `play_range`, so the same deal gives the same game.
    """

    def __init__(self, played: Game, rules: Any, lineup: tuple[Player, ...], seed: int) -> None:
        self.game, self.rules, self.seed = played, rules, seed
        self.scratch = new_scratch(played, len(Layout(played, rules).classes))
        self.lineup = lineup_arrays(played, lineup)
        self.log = new_log()
        self.number, self.rounds, self.loser = 0, 0, -1

    @property
    def state(self) -> Any:
        """The state record, in place."""
        return self.scratch.states[0]

    def _do(self, action: int, a: int = 0, b: int = 0, c: int = 0) -> int:
        while True:
            kept = self.scratch.states.copy(), self.scratch.rng.copy(), self.log[0].copy()
            with plain_arithmetic():
                value = _drive(self.rules, self.lineup, self.scratch, action, a, b, c, self.log)
            if not self.log[0, 1]:
                return int(value)
            # The log was too small: undo the step, make room, and take it again.
            self.scratch.states[:], self.scratch.rng[:], self.log[0] = kept
            self.log = np.concatenate([self.log, np.zeros_like(self.log)])

    def deal(self, number: int, replay: int = 0) -> None:
        """Deal game `number` of the seed, of a match its first round."""
        self.number, self.rounds, self.loser = number, 0, -1
        self._do(START, self.seed, number, replay)
        self.deal_next()

    def deal_next(self) -> None:
        """Deal the next round, with all streams as the last one left them; its events take the place of the last's."""
        self.log[0] = (1, 0, 0, 0, 0)
        self._do(DEAL_ROUND, self.number + self.rounds, self.loser)

    def start_streams(self) -> None:
        """Start the generators for a position that is set into `state` by hand."""
        self.log[0] = (1, 0, 0, 0, 0)
        with plain_arithmetic():
            _start_streams(self.scratch.rng, self.rules.seats, self.seed, 0, 0)

    def shuffled(self, cards: list[int]) -> list[int]:
        """Cards (bits) in an order that the seed determines."""
        order = np.array(cards, dtype=np.uint8)
        with plain_arithmetic():
            _shuffle_cards(self.scratch.rng, self.seed, order)
        return order.tolist()

    def begin(self) -> bool:
        """Start the first turn; whether the game is over already."""
        return bool(self._do(BEGIN))

    def legal(self) -> tuple[list[int], list[int]]:
        """The legal moves of this decision, and what each costs (main decisions; else 0)."""
        n = self._do(LIST_MOVES)
        costs = self.scratch.scores[:n].tolist() if self.state.phase == 0 else [0] * n
        return self.scratch.out[:n].tolist(), costs

    def mover(self) -> int:
        """The seat to decide."""
        return self._do(MOVER)

    def choose(self) -> int:
        """The move of the player to decide."""
        return self._do(CHOOSE_MOVE)

    def samples(self, number: int, seed: int) -> np.ndarray:
        """Full states that the seat to decide thinks possible: records, shape (number,). Somebody must search here."""
        assert isinstance(self.lineup, Search), "only a line-up that searches has a memory"
        samples = np.zeros(number, dtype=self.game.state).view(np.recarray)
        rng, key = np.zeros((STREAMS, 2), dtype=np.uint64), np.uint64(seed)
        with plain_arithmetic():
            _sample(self.rules, self.state, self.lineup.memory[0], rng, key, samples)
        return samples

    def make(self, move: int) -> bool:
        """Make a move; whether the game is over."""
        return bool(self._do(MAKE_MOVE, move))

    def result(self) -> Any:
        """The row of the finished game."""
        self._do(RESULT)
        return self.scratch.rows[0]

    def end_round(self) -> Any:
        """The row of the finished round, which is added to the match."""
        row = self.result()
        self.loser = self._do(ADD_ROUND, self.rounds, self.loser)
        self.rounds += 1
        return row

    def match_result(self) -> Any:
        """The row of the match: of all rounds ended since `deal`, one or more."""
        self._do(END_MATCH, self.game.scored)
        return self.scratch.rows[0]

    def events(self) -> np.ndarray:
        """The events recorded since the deal: int64, shape (n, 5)."""
        return self.log[1 : self.log[0, 0]]


def plain_arithmetic() -> AbstractContextManager[Any]:
    """Without the compiler, numpy would warn of the generator's intended wrap-around."""
    return nullcontext() if JIT else np.errstate(over="ignore")


def play_range(group: Group, first: int, count: int) -> dict[str, np.ndarray]:
    """Play the deals first .. first+count-1 of a group.

    Returns:
        int64 tallies: `arm/<i>/<field of Tally>` of every arm and `contrast/<i>` [M, 5] of every contrast: n, sum d,
        sum d^2, n(d > 0), n(d < 0) by column. Those of a range are the sums of those of its parts.
    """
    played = game(group.game)
    rules = [played.rules(arm.toggles, group.seats) for arm in group.arms]
    layouts = [Layout(played, r, arm.rounds) for r, arm in zip(rules, group.arms, strict=True)]
    lineups = [lineup_arrays(played, group.players(a)) for a in range(len(rules))]
    tallies = [new_tally(layout) for layout in layouts]
    scratch = new_scratch(played, len(layouts[0].classes))
    terms = [np.array(contrast.terms, dtype=np.int64).reshape(-1, 2).T.copy() for contrast in group.contrasts]
    contrasts = [np.zeros((len(layouts[0].columns), 5), dtype=np.int64) for _ in terms]
    blocks = [new_block(layout, min(BLOCK, count)) for layout in layouts]
    for start in range(first, first + count, BLOCK):
        blocks = [block.part(first + count - start) for block in blocks]
        for a, arm in enumerate(group.arms):
            rest = layouts[a].plan(), tallies[a], scratch, group.seed, start, 0, blocks[a]
            _play(rules[a], arm.rounds, lineups[a], *rest)
        values = np.stack([block.values for block in blocks])
        for (arms, weights), out in zip(terms, contrasts, strict=True):
            _tally_contrast(values, arms, weights, out)
    result = {f"contrast/{i}": out for i, out in enumerate(contrasts)}
    for a, tally in enumerate(tallies):
        result |= {f"arm/{a}/{name}": array for name, array in zip(Tally._fields, tally, strict=True)}
    return result


def _play_values(
    played: Game,
    rules: Any,
    lineup: Lineup | Search,
    seed: int,
    games: int,
    first: int,
    replay: int = 0,
    rounds: int = 1,
) -> tuple[Layout, Block]:
    """The layout, and all that is kept of every single game, or match."""
    layout = Layout(played, rules, rounds)
    block = new_block(layout, games)
    scratch = new_scratch(played, len(layout.classes))
    _play(rules, rounds, lineup, layout.plan(), new_tally(layout), scratch, seed, first, replay, block)
    return layout, block


def play_rows(
    ruleset: Ruleset, lineup: tuple[Player, ...], seed: int, games: int, first: int = 0
) -> pd.DataFrame:
    """The columns of every single game, a row each (see `Layout.columns`), indexed by deal."""
    import pandas as pd

    played = game(ruleset.game)
    rules = played.rules(ruleset.toggles, len(lineup))
    players, rounds = lineup_arrays(played, lineup), ruleset.rounds
    layout, block = _play_values(played, rules, players, seed, games, first, rounds=rounds)
    return pd.DataFrame(
        block.values, columns=list(layout.columns), index=pd.RangeIndex(first, first + games, name="deal")
    )


def play_seats(
    played: Game,
    rules: Any,
    lineup: Lineup | Search,
    seed: int,
    games: int,
    first: int = 0,
    replay: int = 0,
    column: str = "share",
    rounds: int = 1,
) -> np.ndarray:
    """A column of every single game, or match, by seat: int64, shape (games, N).

    `column` is `share` (in units of 1/2520), another of `sim.tally.SEAT_COLUMNS`, or `score` where the game has scores.
    """
    layout, block = _play_values(played, rules, lineup, seed, games, first, replay, rounds)
    at = layout.columns.index(f"{column}/1")
    position = (np.arange(rules.seats) - block.seating[:, :1]) * block.seating[:, 1:] % rules.seats
    return np.take_along_axis(block.values[:, at : at + rules.seats], position, axis=1)


def compile_for(group: Group) -> None:
    """Compile, or load from the cache, all that `play_range` needs, before threads start."""
    play_range(group, 0, 1)
