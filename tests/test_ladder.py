"""The ladder's statistics find what was put into made-up results."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from analysis.ladder import TERMS, _differ, ratings, variance_shares, variance_terms


def results(deals: int, terms: dict[str, float], seed: int, seats: int = 4, replays: int = 4) -> np.ndarray:
    """Results with the given standard deviations of the terms, by (deal, rotation, replay, seat)."""
    rng = np.random.default_rng(seed)
    effect = {name: lambda *shape, sd=sd: sd * rng.standard_normal(shape) for name, sd in terms.items()}
    levels = np.array([-1.5, -0.5, 0.5, 1.5]) / np.sqrt(1.25)
    player = np.array([[(p - k) % seats for p in range(seats)] for k in range(seats)])
    values = terms["seat"] * levels + terms["skill"] * levels[::-1][player][None, :, None]
    values = values + effect["deal"](deals, 1, 1, seats) + effect["both"](deals, seats, 1, seats)
    return values + effect["chance"](deals, seats, replays, seats)


@pytest.mark.parametrize(
    "terms",
    [
        {"deal": 2.0, "seat": 0.5, "skill": 1.0, "both": 0.7, "chance": 3.0},
        {"deal": 0.0, "seat": 0.0, "skill": 0.0, "both": 0.0, "chance": 1.0},
        {"deal": 0.3, "seat": 2.0, "skill": 0.1, "both": 0.0, "chance": 0.5},
    ],
)
def test_the_terms_of_the_variance_are_found(terms: dict[str, float]) -> None:
    found = np.mean([variance_terms(results(300, terms, seed), range(4)) for seed in range(30)], axis=0)
    for name, value in zip(TERMS, found, strict=True):
        assert value == pytest.approx(terms[name] ** 2, abs=0.02 * sum(sd**2 for sd in terms.values()))


def test_shares_of_the_variance_lie_in_their_intervals() -> None:
    terms = {"deal": 2.0, "seat": 0.5, "skill": 1.0, "both": 0.7, "chance": 3.0}
    total = sum(sd**2 for sd in terms.values())
    table = variance_shares(results(400, terms, 5), range(4), 1)
    assert table["share"].sum() == pytest.approx(1)
    for row in table.itertuples():
        assert row.low <= row.share <= row.high
        assert row.low - 0.01 < terms[str(row.term)] ** 2 / total < row.high + 0.01


def test_equal_players_are_one_player() -> None:
    values = results(300, {"deal": 0, "seat": 0, "skill": 0, "both": 0, "chance": 1}, 1)
    for k in range(4):  # players 0 and 2 are one, 1 and 3 the other, who gets 1 more
        for p in range(4):
            values[:, k, :, p] += (p - k) % 2
    assert variance_terms(values, [0, 1, 0, 1])[TERMS.index("skill")] == pytest.approx(0.25, abs=0.01)


def test_ratings_recover_strengths() -> None:
    strength, seats = {"a": 0.0, "b": 100.0, "c": 250.0}, 4
    rows = []
    for a, own in strength.items():
        for b, other in strength.items():
            if a != b:
                odds = 10 ** ((own - other) / 400) / (seats - 1)
                share = odds / (1 + odds)
                rows.append((a, b, share, share - 0.01, share + 0.01, 1000))
    pairs = pd.DataFrame(rows, columns=["player", "field", "estimate", "low", "high", "deals"])
    table = ratings(pairs, list(strength), seats)
    assert table["elo"].to_numpy() == pytest.approx(list(strength.values()), abs=1e-6)
    assert (table["low"] <= table["elo"]).all()
    assert (table["elo"] <= table["high"]).all()
    assert table["high"].iloc[0] == 0


def test_moves_that_win_alike_are_not_told_apart() -> None:
    assert not _differ(np.array([100, 100, 100]), np.array([25.0, 27.0, 24.0]))
    assert _differ(np.array([100, 100, 100]), np.array([25.0, 60.0, 24.0]))
    assert not _differ(np.array([100, 100]), np.array([0.0, 0.0]))
    rng = np.random.default_rng(2)
    false = sum(_differ(np.full(3, 130), rng.binomial(130, 0.3, 3).astype(float)) for _ in range(2000))
    assert false / 2000 < 0.02
