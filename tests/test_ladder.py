"""The ladder's statistics find what was put into made-up results."""

from __future__ import annotations

import dataclasses

import numpy as np
import pandas as pd
import pytest

from analysis.ladder import (
    TERMS,
    Ladder,
    _differ,
    _parts,
    ladder_tables,
    ratings,
    run_ladder,
    variance_shares,
    variance_terms,
)
from sim.config import load_player, load_ruleset
from sim.engine import Table
from sim.games import SHARE, game
from sim.training import fitted


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


def played(ruleset: str, names: list[str], games: int, search_games: int = 2, **toggles: object) -> Ladder:
    rules = load_ruleset(ruleset)
    players = [fitted(load_player(name), rules, 4, 2, lambda task: None) for name in names]
    return run_ladder(dataclasses.replace(rules, **toggles), players, 4, games, search_games, 1, 2)  # type: ignore[arg-type]


def matches_won(rounds: int, matches: int) -> float:
    """The win share of a greedy first seat among random ones, move by move."""
    rules, sevens = load_ruleset("sevens/default"), game("sevens")
    lineup = (load_player("greedy"), *[load_player("random")] * 3)
    table = Table(sevens, sevens.rules(rules.toggles, 4), lineup, 5)
    won = 0
    for number in range(matches):
        table.deal(number)
        for k in range(rounds):
            if k:
                table.deal_next()
            over = table.begin()
            while not over:
                over = table.make(table.choose())
            table.end_round()
        won += table.match_result().share[0]
    return won / SHARE / matches


def test_a_ladder_plays_the_matches_of_its_ruleset() -> None:
    one = played("sevens/default", ["random", "greedy"], 400)
    many = played("sevens/default", ["random", "greedy"], 400, rounds=9)
    low, high = many.pairs[many.pairs.player == "greedy"][["low", "high"]].iloc[0]
    assert low < matches_won(9, 300) < high
    assert one.pairs[one.pairs.player == "greedy"].high.iloc[0] < low
    assert "A game is a match of 9 rounds" in str(ladder_tables(many, "en")[3:])


def test_two_deals_are_enough_to_tell_something() -> None:
    found = played("sevens/default", ["random", "search"], 2)
    assert set(found.pairs.deals) == {2}
    assert found.pairs[["low", "high"]].stack().between(0, 1).all()
    assert np.isfinite(found.ratings[["low", "high"]].to_numpy()).all()
    assert [player.name for player in found.variance_players] == ["random", "search"]
    remarks = [part for part in ladder_tables(found, "en") if isinstance(part, str)]
    assert remarks[-1] == "2 deals for pairs with a search; 99 % intervals"


def test_the_deals_of_both_kinds_of_pairs_are_told() -> None:
    found = played("sevens/default", ["random", "greedy", "search"], 30, 40)
    assert ladder_tables(found, "en")[-1] == (
        "30 deals for pairs without a search; 40 deals for pairs with a search; 99 % intervals"
    )
    without = played("sevens/default", ["greedy", "random"], 30, 40)
    assert "Decisions that matter are told where somebody searches." in ladder_tables(without, "en")
    assert "貪心 = 0" in str(ladder_tables(without, "zh-Hant")[1].title)  # type: ignore[union-attr]
    assert ladder_tables(without, "en")[-1] == "30 deals for pairs without a search; 99 % intervals"


def test_only_who_sat_there_is_named() -> None:
    players = [load_player(name) for name in ("random", "greedy", "withholding")]
    found = run_ladder(load_ruleset("sevens/default"), players, 2, 20, 2, 1, 2)
    assert [player.name for player in found.variance_players] == ["random", "greedy"]
    assert (
        str(ladder_tables(found, "en")[1].title)
        == "Strength (Elo scale, random = 0) and the best against each field"
    )


def test_a_slow_search_plays_in_small_parts() -> None:
    slow = load_player("search")
    assert slow.search is not None
    slow = dataclasses.replace(slow, search=dataclasses.replace(slow.search, playouts=1_000_000))
    for players in ([load_player("random")], [slow]):
        assert np.array_equal(np.concatenate(_parts(players, 300)), np.arange(300))
    assert max(map(len, _parts([slow], 300))) == 1


def test_a_search_aims_at_the_lowest_score_where_it_wins() -> None:
    scorer = load_player("search")
    assert scorer.search is not None
    settings = dataclasses.replace(scorer.search, aim="score", playouts=40, samples=8)
    scorer = dataclasses.replace(scorer, name="scorer", search=settings)
    found = run_ladder(load_ruleset("yishi/default"), [load_player("random"), scorer], 4, 60, 60, 1, 2)
    assert found.pairs[found.pairs.player == "scorer"].low.iloc[0] > 0.25
    assert found.matter is not None
    assert found.matter.estimate > 0.02


def test_odds_near_the_bounds_do_not_run_away() -> None:
    rows = [("a", "b", 0.0, 0.0, 0.08, 60), ("b", "a", 1.0, 0.92, 1.0, 60)]
    pairs = pd.DataFrame(rows, columns=["player", "field", "estimate", "low", "high", "deals"])
    table = ratings(pairs, ["a", "b"], 2)
    assert 300 < table["low"].iloc[1] < table["elo"].iloc[1] < table["high"].iloc[1] < 1500
