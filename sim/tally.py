"""Integer tallies: what is counted of every game, and how it adds up.

All counts are int64 sums over games, so a merge is an addition: exact in any order, whatever the chunks. Win shares
are counted in units of 1/2520. `Layout` names the columns; `new_tally` makes the arrays; `tally_block` adds
games.

A match of several rounds is one game with one row, which `add_round` sums up and `end_match` turns into a result:

* the best total score leads, then (and in games without scores) the most rounds won, that is the largest sum of the
  rounds' win shares: where each round finds one loser, the fewest losses. Equal leaders share the win.
* the outcome is `stalled` when the length guard ended any round, as the totals then owe something to the guard; else
  `drawn` when nobody won a round; else `win`. A stalled or drawn match is won by nobody.
* turns, draws, decisions, changes of the leader and all counters of the game are summed over the rounds; the largest
  hand is that of all rounds; first seat, direction and opening hands are those of round 1.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sim.cards import BITS
from sim.games import BY_TURN, DRAWN, OUTCOMES, SHARE, STALLED, WIN, Counter, Game, Ratio
from sim.jit import helper
from sim.rng import MAX_SEATS

MAX_COUNTERS = 64

MOST_BINS = 1 << 16
"""The histograms of a match grow with its rounds up to this; the last bin then holds all larger values."""

ROW = np.dtype(
    [
        ("outcome", np.int64),
        ("turns", np.int64),
        ("first", np.int64),
        ("listed", np.int64),
        ("lead_changes", np.int64),
        ("direction", np.int64),  # of play: 1 clockwise, -1
        ("place", np.int64, MAX_SEATS),
        ("share", np.int64, MAX_SEATS),
        ("score", np.int64, MAX_SEATS),
        ("opening", np.int64, MAX_SEATS),
        ("drawn", np.int64, MAX_SEATS),
        ("decisions", np.int64, MAX_SEATS),
        ("choices", np.int64, MAX_SEATS),
        ("largest", np.int64, MAX_SEATS),
        ("out_turn", np.int64, MAX_SEATS),
        ("count", np.int64, MAX_COUNTERS),
    ]
)
"""A game's result: seat fields by seat, `count` the game's own counters."""

SEAT_COLUMNS = ("share", "draws", "decisions", "choices", "largest_hand")
COUNTERS = (
    Counter("turns", "turns", "回合數", bins=BY_TURN),
    Counter("decisions", "decisions", "決策數"),
    Counter("choices", "decisions with more than one legal move", "有選擇的決策數"),
    Counter("forced", "decisions with one legal move", "被迫的決策數"),
    Counter("listed", "legal moves, summed over decisions", "各決策合法著數總和"),
    Counter("lead_changes", "changes of the sole leader", "領先者更替次數", bins=64),
)
RATIOS = (
    Ratio("moves_per_decision", "listed", "decisions", "legal moves per decision", "每次決策的合法著數"),
    Ratio("forced_share", "forced", "decisions", "share of decisions with one legal move", "被迫決策占比"),
)


class Layout:
    """The names of what is counted for a game, or a match of so many rounds, under given rules.

    Attributes:
        rounds: of a match; 1 for a game.
        columns: the per-game integers, in order (length M).
        counters: the `Counter` behind each counter column, generic ones first.
        histograms: (column, bins) of those with an exact histogram.
        ratios: the ratios whose cross-products are kept.
        classes: (partition, class) of opening hands; partitions whose classes are numbers also have `>=k` classes.
    """

    def __init__(self, game: Game, rules: Any, rounds: int = 1) -> None:
        self.seats: int = rules.seats
        self.rounds = rounds
        self.counters: tuple[Counter, ...] = (*COUNTERS, *game.counters)
        by_seat = (*SEAT_COLUMNS, "score") if game.scored else SEAT_COLUMNS
        self.columns: tuple[str, ...] = (
            *(f"{name}/{p + 1}" for name in by_seat for p in range(self.seats)),
            *(f"outcome/{name}" for name in OUTCOMES),
            *(counter.name for counter in self.counters),
        )
        most = {c.name: rules.max_turns if c.bins == BY_TURN else c.bins - 1 for c in self.counters if c.bins}
        self.histograms = tuple(
            (name, min(value * rounds, max(value, MOST_BINS)) + 1) for name, value in most.items()
        )
        self.ratios: tuple[Ratio, ...] = (*RATIOS, *game.ratios)
        self.partitions = game.partitions
        self.scored = game.scored
        self.classes: tuple[tuple[str, str], ...] = tuple(
            (partition.name, name)
            for partition in game.partitions
            for name in (*partition.classes, *_at_least(partition.classes))
        )

    @staticmethod
    def of(game: Game, rules: Any, rounds: int = 1) -> Layout:
        """The layout of a game, or a match of so many rounds, under rules."""
        return Layout(game, rules, rounds)

    def plan(self) -> Plan:
        """The index arrays by which the kernel tallies."""
        column = {name: k for k, name in enumerate(self.columns)}
        starts, ordinal, at = [], [], 0
        for partition in self.partitions:
            more = len(_at_least(partition.classes))
            starts.append(at)
            ordinal.append(more)
            at += len(partition.classes) + more
        return Plan(
            np.array([column[name] for name, _ in self.histograms], dtype=np.int64),
            np.array([column[r.numerator] for r in self.ratios], dtype=np.int64),
            np.array([column[r.denominator] for r in self.ratios], dtype=np.int64),
            np.array(starts, dtype=np.int64),
            np.array(ordinal, dtype=np.int64),
            self.scored,
        )


def _at_least(classes: tuple[str, ...]) -> tuple[str, ...]:
    """The cumulative classes of a partition by number: >=1, >=2, ..."""
    return tuple(f">={name}" for name in classes[1:]) if all(name.isdigit() for name in classes) else ()


class Plan(NamedTuple):
    """Index arrays (int64) of a layout: the columns with a histogram, those of the ratios, and of each partition the
    first class and the number of cumulative ones; and whether and how the game scores (see `Game`)."""

    histogram: np.ndarray
    numerator: np.ndarray
    denominator: np.ndarray
    start: np.ndarray
    ordinal: np.ndarray
    scored: int


class Tally(NamedTuple):
    """The counts of one arm: int64 arrays, M columns, N seats, H histograms of B bins, R ratios, C classes."""

    games: np.ndarray  # [1]
    sum: np.ndarray  # [M]
    square: np.ndarray  # [M]
    share_cross: np.ndarray  # [N, N] products of the win shares by position
    histogram: np.ndarray  # [H, B]
    ratio_cross: np.ndarray  # [R] numerator * denominator
    card: np.ndarray  # [3, 58] games in which the card was dealt, share of its holder, its square
    partition: (
        np.ndarray
    )  # [C, 6] games with the class, k, y, k*k, k*y, y*y; k its seats in a game, y their share


def new_tally(layout: Layout) -> Tally:
    """An empty tally of a layout."""
    m, n, c = len(layout.columns), layout.seats, len(layout.classes)
    bins = max((b for _, b in layout.histograms), default=1)
    shapes = (
        (1,),
        (m,),
        (m,),
        (n, n),
        (len(layout.histograms), bins),
        (len(layout.ratios),),
        (3, BITS),
        (6, c),
    )
    return Tally(*(np.zeros(shape, dtype=np.int64) for shape in shapes))


class Block(NamedTuple):
    """What is kept of each game of a block: int64 arrays, M columns, N seats by position."""

    values: np.ndarray  # [games, M], the columns of `Layout.columns`
    cards: np.ndarray  # [games, N], opening hands
    classes: np.ndarray  # [games, N, partitions], the classes of these
    seating: np.ndarray  # [games, 2], the first seat and the direction of play

    def part(self, games: int) -> Block:
        """The first `games` games of it, sharing its memory."""
        return Block(*(array[:games] for array in self))


def new_block(layout: Layout, games: int) -> Block:
    """Room for the games of a layout."""
    seats = layout.seats
    shapes = ((len(layout.columns),), (seats,), (seats, len(layout.partitions)), (2,))
    return Block(*(np.zeros((games, *shape), dtype=np.int64) for shape in shapes))


@helper
def add_round(seats, counters, rows, match, number):
    """Add the row of round `number` (from 0) to that of its match (both `ROW` arrays of one)."""
    if number == 0:
        match[0] = rows[0]
        return
    row = rows[0]
    total = match[0]
    if row.outcome == STALLED or total.outcome == DRAWN:
        total.outcome = row.outcome
    total.turns += row.turns
    total.listed += row.listed
    total.lead_changes += row.lead_changes
    for p in range(seats):
        total.share[p] += row.share[p]
        total.score[p] += row.score[p]
        total.drawn[p] += row.drawn[p]
        total.decisions[p] += row.decisions[p]
        total.choices[p] += row.choices[p]
        total.largest[p] = max(total.largest[p], row.largest[p])
    for k in range(counters):
        total.count[k] += row.count[k]


@helper
def loser_of(seats, row, before):
    """The seat alone in last place of a round; where there is none, or nobody won, the loser `before` it stays."""
    if row.outcome != DRAWN and row.outcome != STALLED:
        for p in range(seats):
            if row.place[p] == seats:
                return p
    return before


@helper
def end_match(seats, scored, rows, match):
    """Turn the sums of a match into its result, in `rows`. `scored` as in `Game`."""
    rows[0] = match[0]
    row = rows[0]
    total = match[0]
    leaders = 0
    for p in range(seats):
        row.place[p] = 1
        row.out_turn[p] = 0
        for q in range(seats):
            ahead = scored * (total.score[q] - total.score[p])
            row.place[p] += ahead > 0 or (ahead == 0 and total.share[q] > total.share[p])
        leaders += row.place[p] == 1
    won = total.outcome != DRAWN and total.outcome != STALLED
    if won:
        row.outcome = WIN
    for p in range(seats):
        row.share[p] = SHARE // leaders if won and row.place[p] == 1 else 0


@helper
def write_game(seats, counters, scored, row, classes, block, i):
    """Write a game into row i of the block; `classes` int64 [N, partitions] by seat."""
    block.seating[i, 0] = row.first
    block.seating[i, 1] = row.direction
    values = block.values[i]
    decisions = 0
    choices = 0
    for p in range(seats):
        position = (p - row.first) * row.direction
        if position < 0:
            position += seats
        block.cards[i, position] = row.opening[p]
        for j in range(block.classes.shape[2]):
            block.classes[i, position, j] = classes[p, j]
        values[position] = row.share[p]
        values[seats + position] = row.drawn[p]
        values[2 * seats + position] = row.decisions[p]
        values[3 * seats + position] = row.choices[p]
        values[4 * seats + position] = row.largest[p]
        if scored:
            values[5 * seats + position] = row.score[p]
        decisions += row.decisions[p]
        choices += row.choices[p]
    at = (6 if scored else 5) * seats
    for k in range(5):
        values[at + k] = 0
    values[at + row.outcome] = 1
    at += 5
    values[at] = row.turns
    values[at + 1] = decisions
    values[at + 2] = choices
    values[at + 3] = decisions - choices
    values[at + 4] = row.listed
    values[at + 5] = row.lead_changes
    at += 6
    for k in range(counters):
        values[at + k] = row.count[k]


@helper
def tally_block(seats, plan, tally, block, k, y):
    """Add a block of games to the tally. `k` and `y` (int64, [C]) are working space, all 0.

    One thing after another for the whole block: what a game has just written could only be read again after a delay,
    and short loops over many games are the fastest.
    """
    tally.games[0] += block.values.shape[0]
    _tally_sums(tally, block.values)
    _tally_products(seats, plan, tally, block.values)
    _tally_histograms(plan, tally.histogram, block.values)
    for i in range(block.values.shape[0]):
        _tally_cards(seats, tally.card, block.cards[i], block.values[i])
    for i in range(block.values.shape[0]):
        for p in range(seats):
            _class_seat(plan, block.classes[i, p], block.values[i, p], k, y)
        _cumulate_classes(plan, k, y)
        _tally_classes(tally.partition, k, y)


@helper
def _tally_sums(tally, values):
    for i in range(values.shape[0]):
        for m in range(values.shape[1]):
            v = values[i, m]
            tally.sum[m] += v
            tally.square[m] += v * v


@helper
def _tally_products(seats, plan, tally, values):
    """Add the products of win shares, and those of the ratios' columns."""
    for i in range(values.shape[0]):
        for a in range(seats):
            if values[i, a]:
                for b in range(seats):
                    tally.share_cross[a, b] += values[i, a] * values[i, b]
    for i in range(values.shape[0]):
        for r in range(plan.numerator.size):
            tally.ratio_cross[r] += values[i, plan.numerator[r]] * values[i, plan.denominator[r]]


@helper
def _tally_histograms(plan, histogram, values):
    last = histogram.shape[1] - 1
    for i in range(values.shape[0]):
        for h in range(plan.histogram.size):
            histogram[h, min(values[i, plan.histogram[h]], last)] += 1


@helper
def _tally_cards(seats, card, opening, share):
    """Add a game's opening hands: bit by bit over all cards, which is done for several at once."""
    dealt = 0
    twice = 0
    for p in range(seats):
        twice |= dealt & opening[p]
        dealt |= opening[p]
        if share[p]:
            for bit in range(BITS):
                mine = share[p] * (opening[p] >> bit & 1)
                card[1, bit] += mine
                card[2, bit] += mine * mine
    for p in range(seats if twice else 1):
        cards = opening[p] if twice else dealt
        for bit in range(BITS):
            card[0, bit] += cards >> bit & 1


@helper
def _class_seat(plan, classes, share, k, y):
    """Count one seat of a game, in the given class of each partition, into `k` and `y`."""
    for j in range(plan.start.size):
        at = plan.start[j] + classes[j]
        k[at] += 1
        y[at] += share


@helper
def _cumulate_classes(plan, k, y):
    """Fill the `>=` classes of the partitions by number from the plain ones."""
    for j in range(plan.start.size):
        more = plan.ordinal[j]
        seats = 0
        share = 0
        for i in range(more, 0, -1):
            seats += k[plan.start[j] + i]
            share += y[plan.start[j] + i]
            k[plan.start[j] + more + i] = seats
            y[plan.start[j] + more + i] = share


@helper
def _tally_classes(partition, k, y):
    """Add a game's classes, and clear them."""
    for c in range(k.size):
        partition[0, c] += k[c] > 0
        partition[1, c] += k[c]
        partition[2, c] += y[c]
        partition[3, c] += k[c] * k[c]
        partition[4, c] += k[c] * y[c]
        partition[5, c] += y[c] * y[c]
        k[c] = 0
        y[c] = 0
