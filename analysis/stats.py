"""Intervals and tests from exact integer sums: small pure functions that know nothing of games.

Every interval is two-sided at the level `LEVEL`. Sums enter as integers and stay Python integers until the one
division at the end, so nothing overflows and no variance is lost to cancellation. An interval never collapses to a
point because a sample happened to be constant: see `unseen`.

References:
    Wilson, E. B. (1927). Probable inference, the law of succession, and statistical inference. JASA 22.
    Korn, E. L. & Graubard, B. I. (1998). Confidence intervals for proportions with small expected number of
        positive counts estimated from survey data. Survey Methodology 24 (the effective sample size).
    Franco, C. et al. (2019). Comparative study of confidence intervals for proportions in complex sample surveys.
        J. Survey Statistics and Methodology 7 (Wilson's interval with the effective sample size).
    Cochran, W. G. (1977). Sampling Techniques, 3rd ed., sections 6.3 and 9A.3 (ratio estimator, unequal clusters).
    Boos, D. D. (1992). On generalized score tests. The American Statistician 46.
    Conover, W. J. (1999). Practical Nonparametric Statistics, 3rd ed., section 3.2 (quantiles).
    Agresti, A. & Min, Y. (2005). Simple improved confidence intervals for comparing matched proportions. Statistics
        in Medicine 24.
    Holm, S. (1979). A simple sequentially rejective multiple test procedure. Scandinavian J. Statistics 6.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

LEVEL = 0.95
"""Confidence level of every interval."""

FEW = 30
"""Below this many games that differ, a paired comparison does not lean on the normal approximation."""

UNSEEN = "constant in the sample: Wilson bound for unseen games"
"""The method of an interval that rests on `unseen`."""

NO_DIFFERENCE = "identical in every game"
"""The method of a paired difference that was 0 in every game."""

FEW_DIFFER = "paired, few games differ: sign test, Agresti-Min interval"
"""The method of a paired difference with fewer than `FEW` games that differ."""


class Estimate(NamedTuple):
    """An estimate, its interval and how the interval was made. An end that nothing bounds is infinite."""

    estimate: float
    low: float
    high: float
    method: str

    def moved(self, factor: float, shift: float = 0.0) -> Estimate:
        """The same in other units: times `factor` > 0, plus `shift`."""
        estimate, low, high, method = self
        return Estimate(estimate * factor + shift, low * factor + shift, high * factor + shift, method)


class ChiSquare(NamedTuple):
    """A chi-square statistic, its degrees of freedom and its p-value."""

    statistic: float
    df: int
    p: float


class Difference(NamedTuple):
    """A mean paired difference, its interval, the p-value of "no difference", and how they were made."""

    estimate: float
    low: float
    high: float
    p: float
    method: str


class Clusters(NamedTuple):
    """Sums over independent clusters (games), each with a size k (seats, or a denominator) and a total y; integers.

    `clusters` may leave out clusters with k = 0: they add nothing to the other sums.
    """

    clusters: int
    k: int
    y: int
    kk: int
    ky: int
    yy: int

    @classmethod
    def ones(cls, n: int, y: int, yy: int) -> Clusters:
        """Clusters of size 1: n plain observations with sum y and sum of squares yy."""
        return cls(n, n, y, n, y, yy)

    @property
    def spread(self) -> int:
        """k^2 times the sum of squared residuals (y - k * sum y / sum k)^2 over the clusters, exact."""
        return self.yy * self.k**2 - 2 * self.y * self.k * self.ky + self.y**2 * self.kk


@functools.cache
def normal_quantile() -> float:
    """The two-sided normal quantile at `LEVEL`."""
    from scipy.special import ndtri

    return float(ndtri((1 + LEVEL) / 2))


@functools.lru_cache(maxsize=4096)
def t_quantile(df: int) -> float:
    """The two-sided quantile of Student's t at `LEVEL`; df >= 1."""
    from scipy.special import stdtrit

    return float(stdtrit(df, (1 + LEVEL) / 2))


def wilson(successes: npt.ArrayLike, n: npt.ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Wilson's score interval of a proportion.

    Args:
        successes: counts in 0..n, any shape; may be fractional together with an effective `n`.
        n: numbers of trials > 0, broadcast against `successes`.

    Returns:
        low and high, float64 within 0..1.
    """
    trials = np.asarray(n, dtype=np.float64)
    share = np.asarray(successes, dtype=np.float64) / trials
    c = normal_quantile() ** 2 / trials
    centre = (share + c / 2) / (1 + c)
    half = np.sqrt(share * (1 - share) * c + c * c / 4) / (1 + c)
    low = np.where(share == 0, 0.0, np.maximum(centre - half, 0.0))
    high = np.where(share == 1, 1.0, np.minimum(centre + half, 1.0))
    return low, high


def proportion(successes: int, n: int) -> Estimate:
    """A proportion of n >= 1 independent games, with Wilson's interval."""
    low, high = wilson(successes, n)
    return Estimate(successes / n, float(low), float(high), "Wilson")


def unseen(n: int) -> float:
    """Upper bound for the share of a kind of game that did not occur in n >= 1 games (Wilson's for 0 out of n).

    A sample without any variation says no more than this about what was not seen: an interval is widened by it.
    """
    return float(wilson(0, n)[1])


def share_interval(sums: Clusters, unit: int) -> Estimate:
    """The mean of values within 0..1 that come in clusters: sum y / sum k with a Wilson-type interval.

    The variance is the ratio estimator's linearised one, robust to whatever happens inside a cluster; it is turned
    into an effective sample size, with which Wilson's formula is entered. For plain 0/1 observations that is
    exactly Wilson's interval. Clustered data pay for their few degrees of freedom with Student's t (clusters - 1).

    Args:
        sums: at least one cluster with k > 0; y in units of 1/unit, 0 <= y <= k * unit in every cluster.
        unit: how many units of y make 1.
    """
    m, k, y = sums.clusters, sums.k, sums.y
    share = y / (unit * k)
    if m == 1 or sums.spread == 0:
        width = unseen(m)
        return Estimate(share, share * (1 - width), share + (1 - share) * width, UNSEEN)
    clustered = k > m
    size = (m - 1) * k**3 * y * (unit * k - y) / ((k - 1) * m * sums.spread)
    if clustered:
        size *= (normal_quantile() / t_quantile(m - 1)) ** 2
    low, high = wilson(share * size, size)
    if clustered:
        return Estimate(share, float(low), float(high), "ratio clustered by game, Wilson with effective n")
    binary = sums.yy == unit * y
    return Estimate(share, float(low), float(high), "Wilson" if binary else "Wilson with effective n")


def mean_interval(n: int, total: int, square: int, lowest: float = -math.inf) -> Estimate:
    """The mean of n >= 1 integers from their sum and sum of squares, with Student's t interval.

    Args:
        lowest: the smallest value possible; the interval does not reach below it.

    A constant sample is taken as if unseen games could differ by one (see `unseen`); a single game bounds nothing.
    """
    return _unbounded(Clusters.ones(n, total, square), lowest, "t")


def ratio_interval(sums: Clusters, lowest: float = -math.inf) -> Estimate:
    """The ratio of two totals over games, sum y / sum k, with its linearised variance and t interval (Cochran).

    Args:
        sums: as `Clusters`, with `clusters` = all games and sum k > 0.
        lowest: the smallest value possible; the interval does not reach below it.
    """
    return _unbounded(sums, lowest, "ratio of sums over games, t")


def _unbounded(sums: Clusters, lowest: float, method: str) -> Estimate:
    m, k, ratio = sums.clusters, sums.k, sums.y / sums.k
    if m == 1:
        return Estimate(ratio, lowest, math.inf, "a single game: no bound")
    if sums.spread == 0:
        width = unseen(m) * m / k
        return Estimate(ratio, max(ratio - width, lowest), ratio + width, UNSEEN)
    half = t_quantile(m - 1) * math.sqrt(m * sums.spread / ((m - 1) * k**4))
    return Estimate(ratio, max(ratio - half, lowest), ratio + half, method)


def quantile_interval(counts: Sequence[int] | np.ndarray, percent: int) -> Estimate:
    """A quantile of non-negative integers from their exact histogram, with an order-statistic interval (Conover).

    The estimate is the smallest value that at least `percent` % of the games do not exceed. Because a game falls at
    or below the true quantile with a known probability, binomial ranks bound it without any assumption on the
    distribution; ties only make the interval safer. An end whose rank lies outside the sample is 0 or infinite.

    Args:
        counts: games per value 0, 1, 2 ...; at least one game.
        percent: 1..99.
    """
    upto = np.cumsum(np.asarray(counts, dtype=np.int64))
    n = int(upto[-1])
    first, last = _quantile_ranks(n, percent)
    middle, low, high = (float(np.searchsorted(upto, rank)) for rank in (-(-n * percent // 100), first, last))
    return Estimate(middle, low if first >= 1 else 0.0, high if last <= n else math.inf, "order statistics")


@functools.lru_cache(maxsize=4096)
def _quantile_ranks(n: int, percent: int) -> tuple[int, int]:
    """Ranks 1..n of the observations that bound a quantile; outside 1..n where the sample is too small."""
    from scipy.stats import binom

    tail = (1 - LEVEL) / 2
    return int(binom.ppf(tail, n, percent / 100)), int(binom.isf(tail, n, percent / 100)) + 1


def equal_means_test(n: int, sums: Sequence[int], cross: Sequence[Sequence[int]] | np.ndarray) -> ChiSquare:
    """Are the N means of a vector observed n times all equal? A chi-square with N - 1 degrees of freedom.

    Wald's quadratic form of the N deviations from their mean, with the pseudo-inverse of their second moments about
    the hypothesis (Boos's score form): W = w / (1 + w / n) for the usual Wald statistic w. The two agree in large
    samples; this one cannot explode in small ones and exists for every sample.

    Args:
        sums: [N] integer sums.
        cross: [N, N] integer sums of products.
    """
    from scipy.special import chdtrc

    size = len(sums)
    products = [[int(value) for value in row] for row in cross]
    rows = [sum(row) for row in products]
    total = sum(int(value) for value in sums)
    deviation = np.array([size * int(value) - total for value in sums], dtype=np.float64)
    moments = np.array(
        [
            [size**2 * products[i][j] - size * (rows[i] + rows[j]) + sum(rows) for j in range(size)]
            for i in range(size)
        ],
        dtype=np.float64,
    )
    # The moments have rank N - 1 at most; rounding must not pass for the missing direction.
    inverse = np.linalg.pinv(moments, rcond=1e-10, hermitian=True)
    statistic = max(float(deviation @ inverse @ deviation), 0.0)
    return ChiSquare(statistic, size - 1, float(chdtrc(size - 1, statistic)))


def ratio_test(sums: Clusters, value: Fraction, error: float = 0.0) -> float:
    """p-value of "sum y / sum k estimates `value`": the score form, with the residuals taken about `value`.

    Args:
        value: in y's own units.
        error: standard error of `value` where that is an estimate too; added in full, so that no assumption about
            its correlation with the sums is needed.
    """
    from scipy.special import ndtr

    distance = sums.y - value * sums.k
    scatter = sums.yy - 2 * value * sums.ky + value * value * sums.kk
    if distance == 0:
        return 1.0
    return float(2 * ndtr(-abs(float(distance)) / (math.sqrt(scatter) + sums.k * error)))


def paired_difference(n: int, total: int, square: int, above: int, below: int) -> Difference:
    """The mean of a paired difference over n >= 1 common games, tested against zero.

    With at least `FEW` games that differ: Student's t. With fewer: the exact sign test (McNemar's for 0/1
    outcomes), and an interval after adding half a game at plus and half at minus the typical difference and one
    game without (Agresti & Min). No game that differs at all: exactly zero, p = 1.

    Args:
        total, square: sum and sum of squares of the differences.
        above, below: numbers of games with a difference > 0 and < 0.
    """
    from scipy.special import bdtr, stdtr

    differing = above + below
    if differing == 0:
        return Difference(0.0, 0.0, 0.0, 1.0, NO_DIFFERENCE)
    mean = total / n
    spread = n * square - total**2
    if differing >= FEW and spread > 0:
        error = math.sqrt(spread / (n * n * (n - 1)))
        half = t_quantile(n - 1) * error
        p = float(2 * stdtr(n - 1, -abs(mean) / error))
        return Difference(mean, mean - half, mean + half, p, "paired t")
    p = min(1.0, 2 * float(bdtr(min(above, below), differing, 0.5)))
    centre = total / (n + 2)
    half = normal_quantile() * math.sqrt(square + square / differing - total * centre) / (n + 2)
    return Difference(mean, centre - half, centre + half, p, FEW_DIFFER)


def holm(p_values: npt.ArrayLike) -> np.ndarray:
    """Holm's step-down adjustment: p-values that may be compared with one level over the whole family.

    Args:
        p_values: [m] floats.

    Returns:
        [m] adjusted p-values in the given order, at most 1.
    """
    p: np.ndarray[Any, np.dtype[np.float64]] = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(p, kind="stable")
    steps = np.minimum(np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1)), 1.0)
    adjusted = np.empty_like(steps)
    adjusted[order] = steps
    return adjusted
