"""heart_attack against what can be worked out: matches of a shuffled deck, and equal players."""

from __future__ import annotations

from fractions import Fraction
from math import comb, factorial

import numpy as np
import pytest
from scipy.stats import binomtest, chisquare

from sim.config import load_player, load_ruleset
from sim.engine import play_rows

RANDOM = load_player("random")


def no_match() -> Fraction:
    """P(no card of a shuffled deck is turned at its own rank's call, the calls 1..13 running four times round).

    By inclusion and exclusion: four places and four cards a rank hold j matches in C(4, j)^2 j! ways, so the ways of
    all ranks are the coefficients of that polynomial's 13th power (Doyle, Grinstead & Snell).
    """
    one_rank = [comb(4, j) ** 2 * factorial(j) for j in range(5)]
    ways = [1]
    for _ in range(13):
        ways = [
            sum(ways[k - j] * one_rank[j] for j in range(5) if 0 <= k - j < len(ways))
            for k in range(len(ways) + 4)
        ]
    alternating = sum((-1) ** k * ways[k] * factorial(52 - k) for k in range(53))
    return Fraction(alternating, factorial(52))


def test_the_reference_value() -> None:
    assert float(no_match()) == pytest.approx(0.0162327, abs=5e-8)


@pytest.mark.parametrize("seats", [2, 4])
def test_a_deck_turned_once_without_a_match(seats: int) -> None:
    """Until the first match nobody takes, so the short game without false slaps turns the deck as it was shuffled."""
    games = 200_000
    ruleset = load_ruleset("heart_attack/short", {"false_rate_per_mille": "0"})
    rows = play_rows(ruleset, (RANDOM,) * seats, 1, games)
    assert (rows["turns"] == 52).all()
    none = int((rows["matches"] == 0).sum())
    assert binomtest(none, games, float(no_match())).pvalue > 1e-3
    assert (rows["matches"] == 0).equals(rows["first_match"] == 0)
    assert (rows["matches"] == 0).equals((rows["outcome/drawn"] == 1) & (rows["matches"] == 0))


def test_the_first_card_matches_once_in_thirteen() -> None:
    games = 100_000
    rows = play_rows(load_ruleset("heart_attack"), (RANDOM,) * 4, 2, games)
    assert binomtest(int((rows["first_match"] == 1).sum()), games, 1 / 13).pvalue > 1e-3
    assert rows["matches"].sum() / rows["turns"].sum() == pytest.approx(1 / 13, rel=0.02)


@pytest.mark.parametrize("reaction", ["lognormal", "exgaussian", "shifted_lognormal"])
def test_equal_seats_are_last_equally_often(reaction: str) -> None:
    """The first pile of a game is taken by any seat with probability 1/N, whoever turned the card."""
    toggles = {"reaction": reaction, "false_rate_per_mille": "0", "tie": "random_of_tied", "max_flips": "1"}
    seats = 5
    rows = play_rows(load_ruleset("heart_attack", toggles), (RANDOM,) * seats, 3, 100_000)
    matched = rows[rows["matches"] == 1]
    taken = matched[[f"draws/{position}" for position in range(1, seats + 1)]].to_numpy()
    assert (taken.sum(axis=1) == 1).all()
    assert chisquare(taken.sum(axis=0)).pvalue > 1e-3


def test_two_equal_seats_are_too_close_as_often_as_their_times_are() -> None:
    """With two seats a match is undecided when the difference of two equal lognormal times is below the window."""
    rows = play_rows(load_ruleset("heart_attack", {"false_rate_per_mille": "0"}), (RANDOM,) * 2, 4, 20_000)
    variance = np.log1p((120 / 450) ** 2)
    times = np.random.default_rng(1).lognormal(np.log(450) - variance / 2, np.sqrt(variance), (2, 1_000_000))
    close = float((np.abs(np.rint(times[0]) - np.rint(times[1])) < 30).mean())
    judged, undecided = int(rows["judged"].sum()), int(rows["undecided"].sum())
    assert judged == rows["matches"].sum()
    assert undecided / judged == pytest.approx(close, abs=0.004)


def test_the_slower_of_two_loses() -> None:
    rows = play_rows(load_ruleset("heart_attack", {"seat_1_mean_ms": "600"}), (RANDOM,) * 2, 5, 20_000)
    assert rows["share/1"].mean() > 2 * rows["share/2"].mean()
    assert rows["draws/2"].mean() > rows["draws/1"].mean()


def test_counters_add_up() -> None:
    rows = play_rows(load_ruleset("heart_attack"), (RANDOM,) * 3, 6, 5000)
    assert (rows["matches"] + rows["misses"] == rows["turns"]).all()
    assert (rows["takes"] + rows["undecided"] == rows["judged"]).all()
    assert (rows["judged"] == rows["matches"] + rows["false_slaps"]).all()
    assert (rows["taken_cards"] == rows.filter(regex="^draws/").sum(axis=1)).all()
    assert (rows["taken_cards"] + rows["centre_left"] == rows["turns"]).all()
    assert (rows["last_cards"] - rows["last_card_returns"] == 1).all()
    assert (rows["largest_pile"] <= 52).all()
