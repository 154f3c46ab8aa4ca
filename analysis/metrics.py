"""From exact tallies to the two tables everything else is made of: metrics.csv and contrasts.csv.

One row holds one number with its interval, its n and its method. Rows come in a fixed order and floats are written
with a fixed format, so equal tallies give equal bytes.

What the metrics mean (`key` in brackets), where a match of several rounds is one game (see `sim.tally`):

* `win_share` [position 1..N, all]: mean win share of a position, 1 = the first player; `all` is the mean over the
  positions, the par a seat is measured against. Drawn and stalled games are worth 0 to everybody and count in n, so
  the par lies below 1/N by their share.
* `first_player_advantage` [all]: position 1's win share minus the mean over all positions of the same games: what
  moving first is worth above an even split of whatever was won.
* `position_omnibus` [p_value, chi_square]: are all positions equally good? The estimate is the p-value or
  statistic.
* `loss_share` [position]: share of games that the position loses, where games end by finding one loser and never with
  a winner. Stalled games count in n and have no loser.
* `win_share_by_card` [card], `win_share_by_<partition>` [class]: win share of the seats whose opening hand holds
  the card or falls into the class; n counts hands. `..._p_value` with the same key: p-value against `win_share`
  [all], one comparison at a time: adjust over the table that is read.
* `outcome` [win, survivor, loser_found, drawn, stalled]: share of games.
* a counter's name [mean, share_any, p5, p25, p50, p75, p95]: mean per game, share of games where it is not 0, and
  quantiles; a counter that needs something to have happened counts only the games where it did.
  `<counter>_histogram` [value]: share of games with that value.
* a ratio's name [all]: ratio of two counters summed over all games.
* `draws`, `decisions`, `choices`, `largest_hand` [position]: mean per game of a seat; `score` too where games are
  scored, which may be negative.
"""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

import numpy as np
import pandas as pd

from analysis import stats
from analysis.stats import Clusters, Estimate
from sim.cards import card_name
from sim.games import SHARE, Counter, Game, games
from sim.store import replace_file
from sim.tally import SEAT_COLUMNS, Layout

if TYPE_CHECKING:
    from sim.config import Contrast, Group, Ruleset

METRIC_COLUMNS = (
    *("game", "ruleset", "lineup", "seats", "toggles", "metric", "key"),
    *("n", "estimate", "low", "high", "method"),
)
CONTRAST_COLUMNS = (
    *("game", "a", "b", "lineup", "seats", "metric", "key"),
    *("n", "estimate", "low", "high", "p_adjusted", "verdict", "method"),
)

HIGHER = "higher"
LOWER = "lower"
UNCLEAR = "no clear difference"
IDENTICAL = "identical"

ALPHA = 1 - stats.LEVEL
"""Adjusted p-values below this are called a difference."""

KINDS = {"pair": "", "main": "main effect, ", "interaction": "interaction, "}
"""How a contrast that is not simply one ruleset against another is named in its method."""

PERCENTILES = (5, 25, 50, 75, 95)


class Row(NamedTuple):
    """One number of one arm: n, the estimate and its interval in the metric's own unit."""

    metric: str
    key: str
    n: int
    value: Estimate


@dataclass(frozen=True)
class Arm:
    """The tally of one ruleset in one group, read through its layout; sums come out as Python integers."""

    game: Game
    layout: Layout
    arrays: Mapping[str, np.ndarray]

    @property
    def games(self) -> int:
        """Number of games played."""
        return int(self.arrays["games"][0])

    def sums(self, column: str) -> tuple[int, int]:
        """Sum and sum of squares of a column over all games."""
        i = self.layout.columns.index(column)
        return int(self.arrays["sum"][i]), int(self.arrays["square"][i])

    def positions(self, prefix: str) -> list[str]:
        """The columns `prefix/1..N` (or `prefix/<word>`), in order."""
        return [column for column in self.layout.columns if column.startswith(prefix + "/")]

    def counts(self, column: str) -> np.ndarray | None:
        """int64 counts of games by value 0, 1, 2 ..., or None where no histogram is kept."""
        rows = [name for name, _ in self.layout.histograms]
        return self.arrays["histogram"][rows.index(column)] if column in rows else None

    @functools.cached_property
    def par(self) -> tuple[Fraction, float]:
        """Mean win share of a seat in units of 1/SHARE and its standard error in the same units."""
        n, seats = self.games, self.layout.seats
        total, square = self._table_shares()
        spread = n * square - total**2
        return Fraction(total, n * seats), math.sqrt(spread / (n * n * max(n - 1, 1))) / seats

    def _table_shares(self) -> tuple[int, int]:
        """Sum and sum of squares of a game's total win share: 1 when it was won, 0 when drawn or stalled."""
        return sum(self.sums(c)[0] for c in self.positions("share")), int(self.arrays["share_cross"].sum())

    def rows(self) -> Iterator[Row]:
        """Every metric of this arm, in the order of the tables."""
        yield from self._positions()
        yield from self._losses()
        yield from self._cards()
        yield from self._classes()
        for column in self.positions("outcome"):
            word = column.partition("/")[2]
            yield Row("outcome", word, self.games, stats.proportion(self.sums(column)[0], self.games))
        for counter in self.layout.counters:
            yield from self._counter(counter)
        yield from self._ratios()
        for prefix in (*SEAT_COLUMNS[1:], "score"):
            lowest = -math.inf if prefix == "score" else 0
            for position, column in enumerate(self.positions(prefix), 1):
                mean = stats.mean_interval(self.games, *self.sums(column), lowest)
                yield Row(prefix, str(position), self.games, mean)

    def _positions(self) -> Iterator[Row]:
        n, seats = self.games, self.layout.seats
        columns = self.positions("share")
        for position, column in enumerate(columns, 1):
            share = stats.share_interval(Clusters.ones(n, *self.sums(column)), SHARE)
            yield Row("win_share", str(position), n, share)
        table = stats.share_interval(Clusters.ones(n, *self._table_shares()), SHARE)
        yield Row("win_share", "all", n, table.moved(1 / seats))
        yield Row("first_player_advantage", "all", n, self._first_player())
        test = stats.equal_means_test(n, [self.sums(c)[0] for c in columns], self.arrays["share_cross"])
        method = f"Wald chi-square of equal win shares, df {test.df}"
        for key, value in (("p_value", test.p), ("chi_square", test.statistic)):
            yield Row("position_omnibus", key, n, Estimate(value, math.nan, math.nan, method))

    def _first_player(self) -> Estimate:
        """Position 1's share minus the mean share, per game: N * share 1 - sum of shares, over N.

        Moved up by 1/N it lies within 0..1 like a share, which is how its interval is made.
        """
        n, seats = self.games, self.layout.seats
        cross = self.arrays["share_cross"]
        table, table_square = self._table_shares()
        above = seats * self.sums("share/1")[0] - table
        square = seats**2 * int(cross[0, 0]) - 2 * seats * int(cross[0].sum()) + table_square
        moved = Clusters.ones(n, above + n * SHARE, square + 2 * SHARE * above + n * SHARE**2)
        return stats.share_interval(moved, SHARE * seats).moved(1, -1 / seats)

    def _losses(self) -> Iterator[Row]:
        """A game with one loser gives everybody else SHARE // (seats - 1): who has no share of it has lost."""
        found, n = self.sums("outcome/loser_found")[0], self.games
        if not found or self.sums("outcome/win")[0] or self.sums("outcome/survivor")[0]:
            return
        for position, column in enumerate(self.positions("share"), 1):
            survived = self.sums(column)[0] * (self.layout.seats - 1) // SHARE
            yield Row("loss_share", str(position), n, stats.proportion(found - survived, n))

    def _cards(self) -> Iterator[Row]:
        for card, (holders, total, square) in enumerate(self.arrays["card"].T.tolist()):
            if holders:
                yield from self._against_par("card", card_name(card), Clusters.ones(holders, total, square))

    def _classes(self) -> Iterator[Row]:
        rows = self.arrays["partition"].T.tolist()
        for (partition, name), row in zip(self.layout.classes, rows, strict=True):
            sums = Clusters(*row)
            if sums.clusters:
                yield from self._against_par(partition, name, sums)

    def _against_par(self, table: str, key: str, sums: Clusters) -> Iterator[Row]:
        metric = f"win_share_by_{table}"
        yield Row(metric, key, sums.k, stats.share_interval(sums, SHARE))
        p = stats.ratio_test(sums, *self.par)
        method = "score test against win_share all, clustered by game, unadjusted"
        yield Row(f"{metric}_p_value", key, sums.k, Estimate(p, math.nan, math.nan, method))

    def _counter(self, counter: Counter) -> Iterator[Row]:
        counts, n = self.counts(counter.name), self.games
        if counter.given:
            happened = self.counts(counter.given)
            known = counts if happened is None else happened
            if known is None:
                return
            n -= int(known[0])
        if n == 0:
            return
        total, square = self.sums(counter.name)
        if counter.yes_no and self.layout.rounds == 1:
            yield Row(counter.name, "mean", n, stats.proportion(total, n))
        else:
            yield Row(counter.name, "mean", n, stats.mean_interval(n, total, square, lowest=0))
        if counts is None:
            return
        if counter.given:
            # Games where it did not happen stand among the zeros.
            counts = np.concatenate(([n - int(counts[1:].sum())], counts[1:]))
        else:
            yield Row(counter.name, "share_any", n, stats.proportion(n - int(counts[0]), n))
        yield from self._distribution(counter.name, n, counts)

    def _distribution(self, name: str, n: int, counts: np.ndarray) -> Iterator[Row]:
        last = len(counts) - 1
        # Larger values than the histogram has room for are counted in its last place.
        cut = int(counts @ np.arange(last + 1)) != self.sums(name)[0]
        for percent in PERCENTILES:
            quantile = stats.quantile_interval(counts, percent)
            if not (cut and quantile.estimate == last):
                high = math.inf if cut and quantile.high == last else quantile.high
                yield Row(name, f"p{percent}", n, quantile._replace(high=high))
        values = np.flatnonzero(counts)
        lows, highs = stats.wilson(counts[values], n)
        for value, low, high in zip(values.tolist(), lows.tolist(), highs.tolist(), strict=True):
            share = Estimate(int(counts[value]) / n, low, high, "Wilson")
            yield Row(f"{name}_histogram", f">={last}" if cut and value == last else str(value), n, share)

    def _ratios(self) -> Iterator[Row]:
        for ratio, cross in zip(self.layout.ratios, self.arrays["ratio_cross"].tolist(), strict=True):
            y, yy = self.sums(ratio.numerator)
            k, kk = self.sums(ratio.denominator)
            if k:
                sums = Clusters(self.games, k, y, kk, cross, yy)
                yield Row(ratio.name, "all", self.games, stats.ratio_interval(sums, lowest=0))


def arm(group: Group, result: Mapping[str, np.ndarray], index: int) -> Arm:
    """The tally of the group's arm `index` out of the group's result."""
    game = games()[group.game]
    ruleset = group.arms[index]
    prefix = f"arm/{index}/"
    arrays = {key.removeprefix(prefix): array for key, array in result.items() if key.startswith(prefix)}
    return Arm(game, Layout.of(game, game.rules(ruleset.toggles, group.seats), ruleset.rounds), arrays)


def metrics_frame(groups: Sequence[Group], results: Sequence[Mapping[str, np.ndarray]]) -> pd.DataFrame:
    """The table metrics.csv: every metric of every arm of every group, in the given order.

    Args:
        groups: the groups played.
        results: per group the merged tally, keys `arm/<i>/<tally key>`.

    Returns:
        A frame with the columns `METRIC_COLUMNS`; only p-values and test statistics have no low and high (NaN).
    """
    rows = []
    for group, result in zip(groups, results, strict=True):
        for index, ruleset in enumerate(group.arms):
            head = (group.game, ruleset.name, lineup_name(group), group.seats, changed_toggles(ruleset))
            for row in arm(group, result, index).rows():
                rows.append((*head, row.metric, row.key, row.n, *row.value))
    return pd.DataFrame(rows, columns=list(METRIC_COLUMNS))


def changed_toggles(ruleset: Ruleset) -> str:
    """The toggles (and `rounds`) that differ from the game's defaults, as a JSON object in the order of the rules.

    The rest would repeat some sixty equal values on every row; the sweep's resolved configuration has them all.
    """
    return json.dumps(ruleset.changes(), separators=(",", ":"))


def lineup_name(group: Group) -> str:
    """The line-up in one word: the players' names, a line-up that repeats round the table given once."""
    names = [player.name for player in group.lineup]
    for period in range(1, len(names) + 1):
        if all(name == names[seat % period] for seat, name in enumerate(names)):
            return "+".join(names[:period])
    raise ValueError("a line-up without players")


class _Comparison(NamedTuple):
    """One contrast's difference in one metric, before the correction for all the others."""

    family: tuple[str, str, str, int]
    contrast: Contrast
    metric: str
    key: str
    n: int
    difference: stats.Difference


def contrasts_frame(groups: Sequence[Group], results: Sequence[Mapping[str, np.ndarray]]) -> pd.DataFrame:
    """The table contrasts.csv: paired differences b - a on common deals.

    Compared are the win share by position, every outcome, and the mean of every counter that exists in every game
    (not those that need something to have happened). A column that is 0 in every game of every arm concerned is
    left out. Intervals hold one at a time; p-values are adjusted by Holm over all comparisons of one contrast
    family with the same game, line-up and number of seats, and the verdict follows the adjusted p-value.

    Args:
        groups: the groups played.
        results: per group the merged tally, keys `arm/<i>/<tally key>` and `contrast/<i>`.

    Returns:
        A frame with the columns `CONTRAST_COLUMNS`.
    """
    found: list[_Comparison] = []
    for group, result in zip(groups, results, strict=True):
        arms = [arm(group, result, index) for index in range(len(group.arms))]
        for index, contrast in enumerate(group.contrasts):
            family = (group.game, contrast.family, lineup_name(group), group.seats)
            found.extend(_compare(family, contrast, arms, result[f"contrast/{index}"]))
    families: dict[tuple[str, str, str, int], list[int]] = {}
    for i, comparison in enumerate(found):
        families.setdefault(comparison.family, []).append(i)
    adjusted = np.empty(len(found))
    for members in families.values():
        adjusted[members] = stats.holm([found[i].difference.p for i in members])
    rows = [_row(c, p, len(families[c.family])) for c, p in zip(found, adjusted.tolist(), strict=True)]
    return pd.DataFrame(rows, columns=list(CONTRAST_COLUMNS))


def _compare(
    family: tuple[str, str, str, int], contrast: Contrast, group: Sequence[Arm], sums: np.ndarray
) -> Iterator[_Comparison]:
    arms = [group[index] for index, _ in contrast.terms]
    conditional = {counter.name for counter in arms[0].layout.counters if counter.given}
    for column, (n, total, square, above, below) in zip(arms[0].layout.columns, sums.tolist(), strict=True):
        prefix, slash, key = column.partition("/")
        if prefix in SEAT_COLUMNS[1:] if slash else column in conditional:
            continue
        if all(a.sums(column)[1] == 0 for a in arms):
            continue
        scale = 1 / contrast.divisor / (SHARE if prefix == "share" else 1)
        raw = stats.paired_difference(n, total, square, above, below)
        difference = raw._replace(estimate=raw.estimate * scale, low=raw.low * scale, high=raw.high * scale)
        metric = "win_share" if prefix == "share" else prefix
        yield _Comparison(family, contrast, metric, key or "mean", n, difference)


def _row(comparison: _Comparison, p_adjusted: float, size: int) -> tuple[object, ...]:
    game, family, lineup, seats = comparison.family
    estimate, low, high, _, method = comparison.difference
    if method == stats.NO_DIFFERENCE:
        verdict = IDENTICAL
    elif p_adjusted < ALPHA:
        verdict = HIGHER if estimate > 0 else LOWER
    else:
        verdict = UNCLEAR
    contrast = comparison.contrast
    note = f"{KINDS[contrast.kind]}{method}; p: Holm over {size} comparisons of {family}"
    head = (game, contrast.a, contrast.b, lineup, seats, comparison.metric, comparison.key)
    return (*head, comparison.n, estimate, low, high, p_adjusted, verdict, note)


def write_table(frame: pd.DataFrame, path: Path) -> bytes:
    """Write a table as CSV, replacing the file at once; equal frames give equal bytes on every system.

    Returns:
        The file's content.
    Raises:
        StoreError: the file cannot be written.
    """
    text: str = frame.to_csv(index=False, float_format="%.10g", lineterminator="\n")
    content = text.encode()
    replace_file(path, content)
    return content


def read_table(source: Path | BinaryIO) -> pd.DataFrame:
    """Read a table that `write_table` wrote; keys stay text (`1`, `p50`, `>=3`)."""
    text = {"key": str, "toggles": str, "lineup": str}
    return pd.read_csv(source, dtype=text, keep_default_na=False, na_values=[""])


def select(frame: pd.DataFrame, **values: object) -> pd.DataFrame:
    """The rows of a table whose columns have the given values."""
    mask = np.ones(len(frame), dtype=bool)
    for column, value in values.items():
        mask &= (frame[column] == value).to_numpy(dtype=bool)
    return frame[mask]
