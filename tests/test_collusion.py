"""Collusion: what partners know, what a pair gains, and the detector's statistics."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm
from typer.testing import CliRunner

import analysis.collusion
import sim.training
from analysis.cli import app
from analysis.collusion import (
    LEAST,
    TABLES,
    Collusion,
    area,
    best_threshold,
    collusion_tables,
    detect,
    logistic,
    roc,
    run_collusion,
    write_collusion,
)
from sim.cards import mask_of
from sim.config import Player, load_player, load_ruleset
from sim.engine import Table, play_seats
from sim.games import game
from sim.jit import entry
from sim.players.basic import PAIRED, RANDOM, WEIGHTS, basic_lineup
from sim.position import table_of
from sim.protocol import features
from sim.training import Task, placements, train
from sim.traits import Observer

BIEQI = game("bieqi")
RULESET = load_ruleset("bieqi/default")
RULES = BIEQI.rules(RULESET.toggles, 4)
ADAPTED, GREEDY = load_player("adapted"), load_player("greedy")


@entry
def _see(rules, state, move, x):
    """The features of a move."""
    features(rules, state, move, x)


def seen(table: Table, move: int) -> dict[str, int]:
    x = np.zeros(len(BIEQI.features), dtype=np.int64)
    _see(table.rules, table.state, move, x)
    return {feature.name: int(value) for feature, value in zip(BIEQI.features, x, strict=True)}


def partner_features(table: Table, card: str) -> dict[str, int]:
    """Those of a partner that are not 0."""
    move = mask_of([card]) if table.state.phase == 0 else mask_of([card]).bit_length() - 1
    found = seen(table, move)
    return {f.name: found[f.name] for f in BIEQI.features if f.partner and found[f.name]}


POSITION: dict[str, Any] = {
    "ruleset": "bieqi/default",
    "hands": [["S9", "H8"], ["SQ", "D2"], ["S10", "SK"], ["H9", "CA"]],
    "table": ["S7", "S8", "H7"],
}


# --- What partners know -----------------------------------------------------------------------------------------------


def test_a_partners_hand_is_told() -> None:
    """S9 makes S10 live; behind it lie S10 and SK of the partner and two more spades that the mover has not."""
    table = table_of(POSITION)
    hand = {
        "opens_partner": 1,
        "partner_behind": 2,
        "partner_points_behind": 23,
        "partner_clean_behind": 2,
    }
    assert partner_features(table, "S9") == {"blocks_partner": 4, **hand}
    assert partner_features(table, "H8") == {"blocks_partner": 5}


def test_what_all_see_of_a_partner() -> None:
    table = table_of(POSITION)
    table.state.lacks[2] = mask_of(["S6", "H6", "D7", "C7"])  # all that is live, and not in the mover's hand
    table.state.last[2] = mask_of(["S8"])
    table.state.covered[2] = mask_of(["CK"])
    found = partner_features(table, "S9")
    assert {name: found.get(name) for name in ("opens_needed", "opens_rivals", "follows_partner")} == {
        "opens_needed": 1,
        "opens_rivals": None,
        "follows_partner": 1,
    }
    assert "blocks_partner" not in found
    assert "partner_clean_behind" not in found
    assert partner_features(table, "H8") == {"opens_needed": 1}
    table.state.lacks[2] ^= mask_of(["C7"])
    table.state.lacks[1] = table.state.lacks[3] = mask_of(["S6", "H6", "D7", "C7"])
    assert partner_features(table, "H8") == {"opens_rivals": 2}


def test_a_cover_proves_what_is_lacked_and_the_last_card_is_kept() -> None:
    table = table_of({**POSITION, "to_move": 1})
    live = int(table.state.open)
    assert live == mask_of(["S6", "S9", "H6", "H8", "D7", "C7"])
    table.make(mask_of(["D2"]).bit_length() - 1)
    assert table.state.lacks.tolist()[:4] == [0, live, 0, 0]
    table.make(mask_of(["SK"]).bit_length() - 1)
    table.make(mask_of(["CA"]).bit_length() - 1)
    table.make(mask_of(["S9"]))
    assert table.state.lacks.tolist()[:4] == [0, live, live, live]
    assert table.state.last.tolist()[:4] == [mask_of(["S9"]), 0, 0, 0]
    table.deal(0)
    assert not table.state.lacks.any()
    assert not table.state.last.any()


def test_partners_are_told_about_when_they_cover() -> None:
    table = table_of({**POSITION, "hands": [["SJ", "H10"], ["D2"], ["SQ", "CA"], ["H9"]]})
    assert partner_features(table, "SJ") == {
        "blocks_partner": 2,
        "partner_behind": 1,
        "partner_points_behind": 12,
        "partner_clean_behind": 1,
    }


@pytest.mark.parametrize("seats", [2, 3, 5])
def test_without_a_seat_opposite_there_is_no_partner(seats: int) -> None:
    table = Table(BIEQI, BIEQI.rules(RULESET.toggles, seats), (GREEDY,) * seats, 1)
    for number in range(5):
        table.deal(number)
        over = table.begin()
        while not over:
            found = seen(table, table.legal()[0][0])
            assert not any(found[feature.name] for feature in BIEQI.features if feature.partner)
            over = table.make(table.choose())


def test_who_weighs_no_partner_plays_as_if_there_were_none() -> None:
    pair = dataclasses.replace(GREEDY, weights={"bieqi": {"cover_card": {"partner_behind": -5}}})
    lineup = basic_lineup(BIEQI, [GREEDY, load_player("random"), pair])
    assert lineup.kind.tolist() == [WEIGHTS, RANDOM, PAIRED]
    honest = basic_lineup(BIEQI, (GREEDY,) * 4)
    asked = honest._replace(kind=np.full(4, PAIRED))  # the features are worked out, and weigh nothing
    games = [play_seats(BIEQI, RULES, players, 3, 300, column="score") for players in (honest, asked)]
    assert np.array_equal(*games)


# --- Training ---------------------------------------------------------------------------------------------------------


def test_only_pairs_may_weigh_a_partner() -> None:
    alone, seeing, telling = (
        Task(RULESET, 4, ADAPTED, pair=pair).content() for pair in (None, "signals", "hands")
    )
    of_partner = {feature.name for feature in BIEQI.features if feature.partner}
    assert not of_partner & set(alone["features"])
    assert "pair" not in alone
    assert set(seeing["features"]) < set(telling["features"]) == of_partner | set(alone["features"])
    assert (seeing["pair"], telling["pair"]) == ("signals", "hands")


def test_a_pair_takes_every_two_opposite_seats() -> None:
    assert placements(6, True) == [[0, 3], [1, 4], [2, 5]]
    assert placements(3, False) == [[0], [1], [2]]


def test_a_pair_that_tells_its_hands_gains() -> None:
    tasks = [Task(RULESET, 4, ADAPTED, (GREEDY,), "score", 120_000, 1, pair) for pair in ("signals", "hands")]
    signals, hands = (train(task, 2) for task in tasks)
    assert hands.measured["greedy"].low > signals.measured["greedy"].high + 2
    assert {"partner_behind", "blocks_partner"} <= hands.weights["cover_card"].keys()
    assert "partner_behind" not in signals.weights["cover_card"]
    assert "pair: hands" in hands.document()


# --- Traits -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("player", [GREEDY, load_player("random")], ids=["greedy", "random"])
def test_traits_are_those_of_the_moves(player: Player) -> None:
    lineup = basic_lineup(BIEQI, (player,) * 4)
    found = Observer(BIEQI, RULES).traits(lineup, 7, 6, 3)
    table = Table(BIEQI, RULES, (player,) * 4, 7)
    for g in range(6):
        sums, decisions = np.zeros_like(found.sums[g]), np.zeros_like(found.decisions[g])
        table.deal(3 + g)
        over = table.begin()
        while not over:
            seat, phase, legal = table.mover(), int(table.state.phase), table.legal()[0]
            values = {move: np.array(list(seen(table, move).values())) for move in legal}
            move = table.choose()
            if len(legal) > 1:
                sums[seat, phase] += values[move] - np.mean(list(values.values()), axis=0)
                decisions[seat, phase] += 1
            over = table.make(move)
        row = table.result()
        assert found.sums[g] == pytest.approx(sums)
        assert np.array_equal(found.decisions[g], decisions)
        assert found.scores[g].tolist() == row.score[:4].tolist()
        assert found.shares[g].tolist() == row.share[:4].tolist()


# --- The detector's statistics ----------------------------------------------------------------------------------------


def test_the_area_is_one_for_what_is_apart_and_a_half_for_what_is_alike() -> None:
    low, high = np.arange(50.0), np.arange(100.0, 180.0)
    assert area(low, high)[0] == 1
    assert 0.8 < area(low, high).low < 1
    assert area(high, low)[0] == 0
    assert area(low, low)[0] == pytest.approx(0.5)
    assert area(np.zeros(20), np.zeros(20))[0] == 0.5


def test_delongs_interval_covers() -> None:
    rng, truth = np.random.default_rng(1), norm.cdf(1 / np.sqrt(2))
    found = [area(rng.normal(0, 1, 60), rng.normal(1, 1, 90)) for _ in range(400)]
    assert np.mean([estimate[0] for estimate in found]) == pytest.approx(truth, abs=0.01)
    assert 0.91 < np.mean([estimate.low < truth < estimate.high for estimate in found]) < 0.98


def test_the_threshold_is_the_best_there_is() -> None:
    rng = np.random.default_rng(2)
    for _ in range(30):
        honest, cheats = rng.integers(0, 8, 15).astype(float), rng.integers(3, 11, 10).astype(float)

        def worth(cut: float, honest: Any = honest, cheats: Any = cheats) -> float:
            return float((honest <= cut).mean() + (cheats > cut).mean())

        best = max(worth(cut) for cut in np.arange(-0.5, 12))
        assert worth(best_threshold(honest, cheats)) == pytest.approx(best)


def test_a_roc_curve_rises_from_nobody_to_everybody() -> None:
    rng = np.random.default_rng(3)
    honest, cheats = rng.normal(0, 1, 700), rng.normal(1.5, 1, 500)
    curve = roc(honest, cheats)
    assert curve.iloc[0].tolist() == [0, 0]
    assert curve.iloc[-1].tolist() == [1, 1]
    assert (curve.diff().iloc[1:] >= 0).all().all()
    assert len(curve) <= 401
    assert np.trapezoid(curve["true"], curve["false"]) == pytest.approx(area(honest, cheats)[0], abs=0.01)


def test_the_regression_finds_log_odds() -> None:
    """Of two normal distributions one apart the log odds are linear with slope 1."""
    rng = np.random.default_rng(4)
    x = np.concatenate([rng.normal([-0.5, 0], 1, (20_000, 2)), rng.normal([0.5, 0], 1, (20_000, 2))])
    bias, weights = logistic(x, np.arange(40_000) >= 20_000)
    assert [bias, *weights] == pytest.approx([0, 1, 0], abs=0.05)


@pytest.mark.parametrize(("shift", "low", "high"), [(0.0, 0.42, 0.58), (50.0, 1.0, 1.0)])
def test_the_detector_is_as_good_as_what_it_sees(shift: float, low: float, high: float) -> None:
    rng = np.random.default_rng(5)
    honest, cheats = rng.normal(0, 1, (600, 5)), rng.normal(0, 1, (600, 5))
    honest[:, 3] = cheats[:, 3] = 2  # a trait that nobody differs in
    cheats[:, 1] += shift
    told = detect(honest, cheats)
    right = [(told.honest <= told.threshold).mean(), (told.colluding > told.threshold).mean()]
    assert low <= np.mean(right) <= high
    assert low - 0.04 <= area(told.honest, told.colluding)[0] <= high
    assert len(told.honest) == 300
    assert np.array_equal(told.odds(honest[300:]), told.honest)


# --- All of it --------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def cached(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("cache")
        patch.setattr(sim.training, "cache_root", lambda: folder)
        patch.setattr(sim.training, "MEASURED_DEALS", 200)
        patch.setattr(analysis.collusion, "STYLES", 2)
        yield


def small(jobs: int) -> Collusion:
    return run_collusion(RULESET, 4, LEAST + 7, 120_000, 0.9, 1, jobs, lambda task: None)


@pytest.fixture(scope="module")
def found(cached: None) -> Collusion:
    return small(2)


def test_the_number_of_threads_changes_nothing(found: Collusion) -> None:
    again = small(3)
    for name in TABLES:
        pd.testing.assert_frame_equal(getattr(found, name), getattr(again, name), check_exact=True)


def test_what_a_pair_gains_the_others_lose(found: Collusion) -> None:
    assert found.games == LEAST
    gains = found.gains.set_index(["pair", "who", "measure"])
    for pair in ("signals", "hands"):
        for measure in ("score", "share"):
            own, others = gains.loc[(pair, "partners", measure)], gains.loc[(pair, "others", measure)]
            assert own.difference == pytest.approx(-others.difference)
            assert own.colluding - own.honest == pytest.approx(own.difference)
        assert gains.loc[(pair, "partners", "share")].honest == pytest.approx(25, abs=3)
    assert gains.loc[("hands", "partners", "share")].low > 0


def test_longer_sittings_tell_more(found: Collusion) -> None:
    told = found.detectors.set_index(["pair", "games"])
    areas = [told.loc[("hands", games)].auc for games in (1, 10, 50)]
    assert 0.7 < areas[0] < areas[1] <= areas[2]
    assert (told.auc_low <= told.auc).all()
    assert (told.accuracy <= told.accuracy_high).all()
    assert told.loc[("hands", 50)].sittings == 20
    accused = found.strangers.set_index(["pair", "games", "player"]).accused
    assert accused.loc[("hands", 50, "greedy")] < 0.5
    assert len(accused) == 12
    assert len(found.signs) == 2 * len(BIEQI.phases) * len(BIEQI.features)


@pytest.mark.parametrize("language", ["en", "zh-Hant"])
def test_tables_in_both_languages(found: Collusion, language: str) -> None:
    *tables, claim = collusion_tables(found, language)
    assert [table.row_count for table in tables] == [8, 6, 6]  # type: ignore[union-attr]
    assert "90 %" in str(claim)


def test_files(found: Collusion, tmp_path: Path) -> None:
    write_collusion(found, tmp_path / "out")
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert {*(f"{name}.csv" for name in TABLES), "roc.en.png", "roc.zh-Hant.svg"} <= names
    assert pd.read_csv(tmp_path / "out" / "detectors.csv").games.tolist() == [1, 10, 50] * 2


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("collusion sevens", "collusion: sevens has no features of a partner"),
        ("collusion bieqi --seats 5", "collusion: partners sit opposite each other, at 4 or 6 seats"),
        ("collusion bieqi --seats 2", "collusion: partners sit opposite each other, at 4 or 6 seats"),
        ("collusion bieqi --seats 8", "--seats: "),
        ("collusion bieqi --games 999", f"--games: the sittings need {LEAST} deals at least"),
        ("collusion bieqi --claim 1.5", "--claim"),
        ("train sevens --pair hands", "--pair: sevens has no features of a partner"),
        ("train bieqi --pair hands --seats 3", "--pair: partners sit opposite each other"),
        (
            "train bieqi --pair signals --against greedy,greedy,greedy",
            "--against: 3 players for 2 other seats",
        ),
        ("train bieqi --pair yes", "--pair"),
    ],
)
def test_mistakes(words: str, message: str) -> None:
    result = CliRunner().invoke(app, words.split(), catch_exceptions=False)
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr
    assert result.stderr.count("\n") == 1


def test_the_command(cached: None, found: Collusion, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("analysis.collusion.run_collusion", lambda *given: found)
    result = CliRunner().invoke(app, ["collusion", "bieqi", "--lang", "zh-Hant"], catch_exceptions=False)
    assert result.exit_code == 0
    assert "互報手牌" in result.stdout


def test_a_pair_is_trained_by_command(tmp_path: Path) -> None:
    words = f"train bieqi --pair hands --against greedy --games 20000 --out {tmp_path}"
    result = CliRunner().invoke(app, words.split(), catch_exceptions=False)
    assert result.exit_code == 0
    assert "each of a pair against" in result.stdout
    (file,) = (tmp_path / "bieqi").glob("*.yaml")
    assert "partner_behind" in load_player(file).weights["bieqi"]["main"]
