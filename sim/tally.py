"""Integer tallies: what is counted of every game, and how it adds up.

All counts are int64 sums over games, so a merge is an addition: exact in any order, whatever the chunks. Win shares
are counted in units of 1/2520. `Layout` names the columns; `new_tally` makes the arrays; `tally_game` adds a game.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sim.cards import BITS
from sim.games import BY_TURN, OUTCOMES, Counter, Game, Ratio
from sim.jit import helper, lowest
from sim.rng import MAX_SEATS

MAX_COUNTERS = 64

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
    """The names of what is counted for a game under given rules.

    Attributes:
        columns: the per-game integers, in order (length M).
        counters: the `Counter` behind each counter column, generic ones first.
        histograms: (column, bins) of those with an exact histogram.
        ratios: the ratios whose cross-products are kept.
        classes: (partition, class) of opening hands; partitions whose classes are numbers also have `>=k` classes.
    """

    def __init__(self, game: Game, rules: Any) -> None:
        self.seats: int = rules.seats
        self.counters: tuple[Counter, ...] = (*COUNTERS, *game.counters)
        by_seat = (*SEAT_COLUMNS, "score") if game.scored else SEAT_COLUMNS
        self.columns: tuple[str, ...] = (
            *(f"{name}/{p + 1}" for name in by_seat for p in range(self.seats)),
            *(f"outcome/{name}" for name in OUTCOMES),
            *(counter.name for counter in self.counters),
        )
        by_turn = rules.max_turns + 1
        self.histograms = tuple(
            (c.name, by_turn if c.bins == BY_TURN else c.bins) for c in self.counters if c.bins
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
    def of(game: Game, rules: Any) -> Layout:
        """The layout of a game under rules."""
        return Layout(game, rules)

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
            int(self.scored),
        )


def _at_least(classes: tuple[str, ...]) -> tuple[str, ...]:
    """The cumulative classes of a partition by number: >=1, >=2, ..."""
    return tuple(f">={name}" for name in classes[1:]) if all(name.isdigit() for name in classes) else ()


class Plan(NamedTuple):
    """Index arrays (int64) of a layout: the columns with a histogram, those of the ratios, and of each partition the
    first class and the number of cumulative ones; and whether the game scores."""

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
    card: np.ndarray  # [58, 3] games in which the card was dealt, share of its holder, its square
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
        (BITS, 3),
        (c, 6),
    )
    return Tally(*(np.zeros(shape, dtype=np.int64) for shape in shapes))


@helper
def write_values(seats, counters, scored, row, values):
    """Write a game's columns (see `Layout.columns`) into `values` (int64, shape (M,)); seat columns by position."""
    decisions = 0
    choices = 0
    for p in range(seats):
        position = (p - row.first) * row.direction
        if position < 0:
            position += seats
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
def tally_game(seats, plan, tally, row, values, k, y):
    """Add a game to the tally. `k` and `y` (int64, [C]) hold its opening classes and are cleared."""
    tally.games[0] += 1
    for m in range(values.size):
        v = values[m]
        tally.sum[m] += v
        tally.square[m] += v * v
    for a in range(seats):
        if values[a]:
            for b in range(seats):
                tally.share_cross[a, b] += values[a] * values[b]
    for h in range(plan.histogram.size):
        tally.histogram[h, min(values[plan.histogram[h]], tally.histogram.shape[1] - 1)] += 1
    for r in range(plan.numerator.size):
        tally.ratio_cross[r] += values[plan.numerator[r]] * values[plan.denominator[r]]
    for p in range(seats):
        share = row.share[p]
        cards = row.opening[p]
        while cards:
            tally.card[lowest(cards), 0] += 1
            cards &= cards - 1
        if share == 0:
            continue
        cards = row.opening[p]
        while cards:
            bit = lowest(cards)
            cards &= cards - 1
            tally.card[bit, 1] += share
            tally.card[bit, 2] += share * share
    _tally_classes(tally, k, y)


@helper
def class_seats(plan, classes, share, k, y):
    """Count one seat of a game, in the given class of each partition, into `k` and `y`."""
    for j in range(plan.start.size):
        at = plan.start[j] + classes[j]
        k[at] += 1
        y[at] += share


@helper
def cumulate_classes(plan, k, y):
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
def _tally_classes(tally, k, y):
    for c in range(k.size):
        if k[c]:
            tally.partition[c, 0] += 1
            tally.partition[c, 1] += k[c]
            tally.partition[c, 2] += y[c]
            tally.partition[c, 3] += k[c] * k[c]
            tally.partition[c, 4] += k[c] * y[c]
            tally.partition[c, 5] += y[c] * y[c]
            k[c] = 0
            y[c] = 0
