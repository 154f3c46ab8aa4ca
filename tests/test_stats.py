"""The statistics against statsmodels, against exact enumeration, and at their edges."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats as scipy_stats

from analysis import stats
from analysis.stats import Clusters

UNIT = 2520


def clusters_of(k: np.ndarray, y: np.ndarray) -> Clusters:
    k, y = k.astype(object), y.astype(object)
    return Clusters(len(k), k.sum(), y.sum(), (k * k).sum(), (k * y).sum(), (y * y).sum())


def sign_sums(d: np.ndarray) -> tuple[int, int, int, int, int]:
    return len(d), int(d.sum()), int((d * d).sum()), int((d > 0).sum()), int((d < 0).sum())


@pytest.mark.parametrize(("successes", "n"), [(0, 1), (1, 1), (0, 40), (40, 40), (3, 40), (123456, 999999)])
def test_wilson_agrees_with_statsmodels(successes, n):
    from statsmodels.stats.proportion import proportion_confint

    expected = proportion_confint(successes, n, method="wilson")
    got = stats.proportion(successes, n)
    assert got.estimate == successes / n
    assert got[1:3] == pytest.approx(expected, abs=1e-12)
    assert got.low < got.high


def test_share_of_plain_wins_is_wilson_exactly():
    for wins in (0, 1, 17, 100):
        sums = Clusters.ones(100, wins * UNIT, wins * UNIT**2)
        assert stats.share_interval(sums, UNIT)[:3] == pytest.approx(
            stats.proportion(wins, 100)[:3], abs=1e-12
        )


def test_split_wins_have_a_narrower_interval_but_never_none():
    split = Clusters.ones(100, 100 * UNIT // 2, 100 * (UNIT // 2) ** 2)
    got = stats.share_interval(split, UNIT)
    assert got.method == stats.UNSEEN
    assert 0.4 < got.low < got.estimate == 0.5 < got.high < 0.6
    half = np.array([UNIT] * 30 + [UNIT // 2] * 40 + [0] * 30)
    mixed = stats.share_interval(clusters_of(np.ones(100, int), half), UNIT)
    plain = stats.proportion(50, 100)
    assert mixed.method == "Wilson with effective n"
    assert plain.low < mixed.low < 0.5 < mixed.high < plain.high


def test_share_of_one_cluster_is_not_bare():
    got = stats.share_interval(Clusters(1, 2, UNIT, 4, 2 * UNIT, UNIT**2), UNIT)
    assert got.estimate == 0.5
    assert got.low < 0.2
    assert got.high > 0.8


def clustered_seats(seed: int, games: int) -> tuple[np.ndarray, np.ndarray]:
    """Sizes 1..3 and how many of a game's seats won (0 or 1), dependent within a game."""
    rng = np.random.default_rng(seed)
    k = rng.integers(1, 4, games)
    return k, (rng.random(games) < 0.2 * k).astype(int)


def test_clustered_variance_agrees_with_cluster_robust_least_squares():
    import statsmodels.api as sm

    k, y = clustered_seats(5, 300)
    groups = np.repeat(np.arange(300), k)
    first = np.r_[True, groups[1:] != groups[:-1]]
    seats = np.where(first, y[groups], 0)
    fit = sm.OLS(seats, np.ones(len(seats))).fit(cov_type="cluster", cov_kwds={"groups": groups}, use_t=True)
    got = stats.ratio_interval(clusters_of(k, y))
    low, high = fit.conf_int()[0]
    assert got[:3] == pytest.approx((fit.params[0], low, high), rel=1e-9)
    wilson_like = stats.share_interval(clusters_of(k, y * UNIT), UNIT)
    assert wilson_like.estimate == pytest.approx(got.estimate)
    assert wilson_like.high - wilson_like.low == pytest.approx(got.high - got.low, rel=0.02)


def test_ratio_of_counters_agrees_with_weighted_least_squares():
    import statsmodels.api as sm

    rng = np.random.default_rng(6)
    k = rng.integers(1, 40, 500)
    y = rng.binomial(k, 0.3) + rng.integers(0, 3, 500)
    fit = sm.WLS(y / k, np.ones(500), weights=k).fit(
        cov_type="cluster", cov_kwds={"groups": np.arange(500)}, use_t=True
    )
    got = stats.ratio_interval(clusters_of(k, y))
    assert got[:3] == pytest.approx((fit.params[0], *fit.conf_int()[0]), rel=1e-9)


def test_share_interval_covers_clustered_truth():
    """3 seats in the class, exactly one of them winning in 60 % of the games: seats are far from independent."""
    covered = 0
    for seed in range(400):
        y = (np.random.default_rng(seed).random(60) < 0.6).astype(int)
        got = stats.share_interval(clusters_of(np.full(60, 3), y * UNIT), UNIT)
        covered += got.low <= 0.2 <= got.high
    assert 0.92 <= covered / 400 <= 0.99


def test_mean_agrees_with_statsmodels():
    from statsmodels.stats.weightstats import DescrStatsW

    values = np.random.default_rng(1).integers(-5, 200, 77)
    got = stats.mean_interval(77, int(values.sum()), int((values**2).sum()))
    assert got[:3] == pytest.approx((values.mean(), *DescrStatsW(values).tconfint_mean()), rel=1e-12)


def test_mean_has_no_cancellation():
    n, base = 10**6, 10**9
    total, square = n * base + 500_000, n * base**2 + 2 * base * 500_000 + 500_000
    got = stats.mean_interval(n, total, square)
    assert (got.high - got.low) / 2 == pytest.approx(1.96 * 0.5 / 1000, rel=1e-4)


def test_constant_and_single_samples_do_not_look_certain():
    assert stats.mean_interval(1, 7, 49)[:3] == (7, -math.inf, math.inf)
    assert stats.mean_interval(1, 7, 49, lowest=0)[:3] == (7, 0, math.inf)
    got = stats.mean_interval(1000, 0, 0, lowest=0)
    assert got[:2] == (0, 0)
    assert got.high == pytest.approx(stats.proportion(0, 1000).high)
    ratio = stats.ratio_interval(Clusters(1000, 20_000, 0, 500_000, 0, 0), lowest=0)
    assert 0 == ratio.low == ratio.estimate < ratio.high < 0.001


@pytest.mark.parametrize("percent", [5, 50, 95])
def test_quantile_interval_covers_by_enumeration(percent):
    """Exact coverage over all samples of size 30 of a three-valued variable whose quantile is known."""
    n, chances = 30, np.array([0.03, 0.5, 0.47])
    truth = int(np.searchsorted(np.cumsum(chances), percent / 100))
    covered = 0.0
    for a in range(n + 1):
        for b in range(n + 1 - a):
            got = stats.quantile_interval([a, b, n - a - b], percent)
            assert got.low <= got.estimate <= got.high
            if got.low <= truth <= got.high:
                covered += scipy_stats.multinomial.pmf([a, b, n - a - b], n, chances)
    assert covered >= 0.95


def test_quantiles_of_a_large_sample():
    counts = np.bincount(np.random.default_rng(2).poisson(20, 10_000))
    values = np.repeat(np.arange(len(counts)), counts)
    for percent in (5, 25, 50, 75, 95):
        got = stats.quantile_interval(counts, percent)
        assert got.estimate == np.quantile(values, percent / 100, method="inverted_cdf")
        assert got.high - got.low <= 2
    assert stats.quantile_interval([0, 0, 1], 50)[:3] == (2, 0, math.inf)


def test_equal_means_is_the_wald_test_in_score_form():
    rng = np.random.default_rng(3)
    n = 400
    x = np.zeros((n, 4), dtype=np.int64)
    winners = rng.choice(5, n, p=[0.3, 0.22, 0.22, 0.22, 0.04])  # 4 = drawn: 0 to all
    x[winners < 4] = UNIT * np.eye(4, dtype=np.int64)[winners[winners < 4]]
    got = stats.equal_means_test(n, x.sum(0), x.T @ x)
    centred = x - x.mean(1, keepdims=True)
    mean, covariance = centred.mean(0), np.cov(centred.T, ddof=0)
    wald = n * mean @ np.linalg.pinv(covariance, rcond=1e-10) @ mean
    assert got.statistic == pytest.approx(wald / (1 + wald / n), rel=1e-9)
    assert got.df == 3
    assert got.p == pytest.approx(scipy_stats.chi2.sf(got.statistic, 3))


def test_equal_means_with_two_positions_is_the_score_test_of_a_half():
    x = np.repeat(np.array([[1, 0], [0, 1]]), [230, 170], axis=0)
    got = stats.equal_means_test(400, x.sum(0), x.T @ x)
    assert got.statistic == pytest.approx((230 - 200) ** 2 / 100)


def test_equal_means_exists_for_degenerate_samples():
    always_first = np.tile([UNIT, 0, 0], (5, 1))
    assert stats.equal_means_test(
        5, always_first.sum(0), always_first.T @ always_first
    ).statistic == pytest.approx(5)
    nothing = np.zeros((3, 3), dtype=np.int64)
    assert stats.equal_means_test(5, [0, 0, 0], nothing).p == 1


def test_equal_means_keeps_its_level():
    rejected = 0
    for seed in range(500):
        winners = np.random.default_rng(seed).integers(0, 4, 100)
        x = np.eye(4, dtype=np.int64)[winners]
        rejected += stats.equal_means_test(100, x.sum(0), x.T @ x).p < 0.05
    assert 0.025 <= rejected / 500 <= 0.08


def test_ratio_test():
    assert stats.ratio_test(Clusters.ones(8, 2, 2), Fraction(1, 4)) == 1
    sums = Clusters.ones(400, 130, 130)
    z = (130 - 100) / math.sqrt(130 * 0.75**2 + 270 * 0.25**2)
    assert stats.ratio_test(sums, Fraction(1, 4)) == pytest.approx(2 * scipy_stats.norm.sf(z))
    assert stats.ratio_test(sums, Fraction(1, 4), error=0.01) > stats.ratio_test(sums, Fraction(1, 4))
    never = Clusters.ones(9, 0, 0)
    assert stats.ratio_test(never, Fraction(1, 4)) == pytest.approx(2 * scipy_stats.norm.sf(3))


def test_paired_difference_agrees_with_statsmodels():
    from statsmodels.stats.weightstats import DescrStatsW

    d = np.random.default_rng(4).integers(-3, 5, 200)
    got = stats.paired_difference(*sign_sums(d))
    expected = DescrStatsW(d)
    assert got[:3] == pytest.approx((d.mean(), *expected.tconfint_mean()), rel=1e-12)
    assert got.p == pytest.approx(expected.ttest_mean(0)[1], rel=1e-9)


def test_paired_difference_of_identical_arms_is_exactly_zero():
    assert stats.paired_difference(10, 0, 0, 0, 0)[:4] == (0.0, 0.0, 0.0, 1.0)


def test_paired_difference_with_few_differing_games_is_mcnemars():
    from statsmodels.stats.contingency_tables import mcnemar

    d = np.array([1] * 9 + [-1] * 2 + [0] * 989)
    got = stats.paired_difference(*sign_sums(d))
    assert got.p == pytest.approx(mcnemar([[500, 2], [9, 489]], exact=True).pvalue)
    b, c, n = 9.5, 2.5, 1002
    half = 1.959964 * math.sqrt(b + c - (b - c) ** 2 / n) / n
    assert (got.low, got.high) == pytest.approx(((b - c) / n - half, (b - c) / n + half), rel=1e-6)


@pytest.mark.parametrize("d", [[5], [-5] * 3, [2520] + [0] * 10_000, [7] * 10, [1, 1, 40]])
def test_paired_difference_of_tiny_samples_contains_its_estimate(d):
    got = stats.paired_difference(*sign_sums(np.array(d)))
    assert got.low < got.estimate < got.high
    assert got.p >= 0.5 ** (len(np.flatnonzero(d)) - 1)


def test_paired_difference_all_the_same_in_many_games():
    got = stats.paired_difference(*sign_sums(np.full(1000, 3)))
    assert got.low < 3 < got.high
    assert got.high - got.low < 0.05
    assert got.p < 1e-100


def test_holm_agrees_with_statsmodels():
    from statsmodels.stats.multitest import multipletests

    p = np.random.default_rng(8).random(40) ** 4
    p[7] = p[11]
    assert stats.holm(p) == pytest.approx(multipletests(p, method="holm")[1])
    assert stats.holm([]).shape == (0,)
    assert list(stats.holm([0.01, 0.04, 0.03])) == pytest.approx([0.03, 0.06, 0.06])


def test_interval_moves_with_its_units():
    assert stats.Estimate(0.5, 0.25, 1.0, "m").moved(2, -1) == stats.Estimate(0.0, -0.5, 1.0, "m")
