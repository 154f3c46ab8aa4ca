"""The tables against direct pandas and numpy computations on random per-game rows."""

from __future__ import annotations

import functools
import json
import math
from dataclasses import dataclass, field
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from analysis import metrics, stats
from analysis.metrics import CONTRAST_COLUMNS, METRIC_COLUMNS, contrasts_frame, metrics_frame, select
from sim.games import OUTCOMES, Counter, Partition, Ratio, ToggleModel

UNIT = 2520
SEATS = 3
PER_SEAT = ("draws", "decisions", "choices", "largest_hand")
COUNTERS = (
    Counter("turns", "turns", "回合數", bins=60),
    Counter("decisions", "decisions", "決定數"),
    Counter("forced", "forced decisions", "被迫的決定", bins=30),
    Counter("falls", "falls", "跌倒數", bins=8),
    Counter("first_fall", "turn of the first fall", "首次跌倒的回合", bins=60, given="falls"),
    Counter("fall_cost", "cost of the falls", "跌倒的代價", given="falls"),
    Counter("unused", "never happens", "從不發生", bins=4),
)
CLASSES = (("tall", "0"), ("tall", "1"), ("tall", "2"), ("tall", ">=1"), ("tall", ">=2"))
GAME = SimpleNamespace(
    name="toy",
    title={"en": "Toy", "zh-Hant": "玩具"},
    counters=COUNTERS,
    ratios=(Ratio("forced_share", "forced", "decisions", "share of forced decisions", "被迫決定的比例"),),
    partitions=(Partition("tall", ("0", "1", "2"), "tall cards at the start", "起手的高牌"),),
    rules=lambda toggles, seats: (toggles, seats),
)


class ToyLayout:
    """The layout of a game of three seats, in the order the tables rely on."""

    seats = SEATS
    rounds = 1
    columns = (
        *(f"share/{p}" for p in (1, 2, 3)),
        *(f"outcome/{word}" for word in OUTCOMES),
        *(f"{name}/{p}" for name in PER_SEAT for p in (1, 2, 3)),
        *(counter.name for counter in COUNTERS),
    )
    counters = COUNTERS
    histograms = tuple((c.name, c.bins) for c in COUNTERS if c.bins)
    ratios = GAME.ratios
    classes = CLASSES

    @classmethod
    def of(cls, game, rules, rounds):
        assert game is GAME
        assert (rules[1], rounds) == (SEATS, 1)
        return cls()


@dataclass
class Games:
    """Per-game values of one arm: `rows` as the tally sees them, and opening hands by position."""

    rows: pd.DataFrame
    cards: np.ndarray = field(repr=False)
    tall: np.ndarray = field(repr=False)

    @property
    def shares(self) -> np.ndarray:
        return self.rows[["share/1", "share/2", "share/3"]].to_numpy()


def play(seed: int, n: int, lead: float = 0.1) -> Games:
    rng = np.random.default_rng(seed)
    rows = {column: np.zeros(n, dtype=np.int64) for column in ToyLayout.columns}
    ending = rng.choice(4, n, p=[0.6, 0.3, 0.08, 0.02])  # a win, a tie of two, drawn, stalled
    winner = rng.choice(3, n, p=[1 / 3 + lead, 1 / 3, 1 / 3 - lead])
    for position in range(3):
        alone = (ending == 0) & (winner == position)
        tied = (ending == 1) & (winner != position)
        rows[f"share/{position + 1}"] = np.where(alone, UNIT, np.where(tied, UNIT // 2, 0))
    rows["outcome/win"] = (ending < 2).astype(np.int64)
    rows["outcome/drawn"] = (ending == 2).astype(np.int64)
    rows["outcome/stalled"] = (ending == 3).astype(np.int64)
    rows["turns"] = 5 + rng.poisson(15, n)
    rows["decisions"] = rows["turns"] + rng.integers(0, 6, n)
    rows["forced"] = rng.binomial(rows["decisions"], 0.4)
    rows["falls"] = rng.poisson(0.7, n)
    rows["first_fall"] = np.where(rows["falls"] > 0, rng.integers(0, 20, n), 0)
    rows["fall_cost"] = np.where(rows["falls"] > 0, rng.integers(1, 9, n), 0)
    for name in PER_SEAT:
        for position in (1, 2, 3):
            rows[f"{name}/{position}"] = rng.integers(0, 9, n)
    # One holder a card, by position; -1 = in the stock. The guard bits are no cards, and 57 is never dealt.
    cards = rng.integers(-1, 3, (n, 58))
    cards[:, [13, 27, 41, 55, 57]] = -1
    return Games(pd.DataFrame(rows), cards, rng.integers(0, 3, (n, 3)))


def tally(played: Games) -> dict[str, np.ndarray]:
    values = played.rows.to_numpy()
    shares = played.shares
    histogram = np.zeros((len(ToyLayout.histograms), 60), dtype=np.int64)
    for h, (name, _) in enumerate(ToyLayout.histograms):
        histogram[h] = np.bincount(np.minimum(played.rows[name], 59), minlength=60)
    card = np.zeros((58, 3), dtype=np.int64)
    for c in range(58):
        held = played.cards[:, c] >= 0
        y = shares[held, played.cards[held, c]]
        card[c] = held.sum(), y.sum(), (y * y).sum()
    partition = []
    for _, name in CLASSES:
        inside = played.tall >= int(name[2:]) if name.startswith(">=") else played.tall == int(name)
        k, y = inside.sum(1), (inside * shares).sum(1)
        partition.append([(k > 0).sum(), k.sum(), y.sum(), (k * k).sum(), (k * y).sum(), (y * y).sum()])
    return {
        "games": np.array([len(values)]),
        "sum": values.sum(0),
        "square": (values * values).sum(0),
        "share_cross": shares.T @ shares,
        "histogram": histogram,
        "ratio_cross": np.array([(played.rows["forced"] * played.rows["decisions"]).sum()]),
        "card": card.T,
        "partition": np.array(partition).T,
    }


def contrast_sums(arms: list[Games], terms: tuple[tuple[int, int], ...]) -> np.ndarray:
    d = sum(weight * arms[index].rows.to_numpy() for index, weight in terms)
    return np.stack(
        [np.full(d.shape[1], len(d)), d.sum(0), (d * d).sum(0), (d > 0).sum(0), (d < 0).sum(0)], axis=1
    )


class ToyToggles(ToggleModel):
    """Toggles of the game of this file."""

    speed: int = 3
    limit: int | None = 10
    fast: bool = False


def ruleset(name: str, **toggles: object) -> SimpleNamespace:
    model = ToyToggles(**toggles)
    changes = functools.partial(model.model_dump, exclude_defaults=True)
    return SimpleNamespace(name=name, toggles=model, rounds=1, changes=changes)


def contrast(family: str, a: str, b: str, *terms: tuple[int, int], kind="pair", divisor=1) -> SimpleNamespace:
    return SimpleNamespace(family=family, a=a, b=b, terms=terms, kind=kind, divisor=divisor)


def group(
    arms: list[SimpleNamespace], *contrasts: SimpleNamespace, lineup: str = "random"
) -> SimpleNamespace:
    players = tuple(SimpleNamespace(name=name) for name in lineup.split())
    players = (players * SEATS)[:SEATS]
    return SimpleNamespace(game="toy", seats=SEATS, lineup=players, arms=tuple(arms), contrasts=contrasts)


def result_of(arms: list[Games], *contrasts: SimpleNamespace) -> dict[str, np.ndarray]:
    result = {
        f"arm/{i}/{key}": array for i, played in enumerate(arms) for key, array in tally(played).items()
    }
    for i, c in enumerate(contrasts):
        result[f"contrast/{i}"] = contrast_sums(arms, c.terms)
    return result


@pytest.fixture(autouse=True)
def toy_game(monkeypatch):
    monkeypatch.setattr(metrics, "Layout", ToyLayout)
    monkeypatch.setattr(metrics, "games", lambda: {"toy": GAME})


@pytest.fixture
def played() -> Games:
    return play(1, 4000)


@pytest.fixture
def frame(played) -> pd.DataFrame:
    return metrics_frame([group([ruleset("toy/a", limit=None, fast=True)])], [result_of([played])])


def one(frame: pd.DataFrame, metric: str, key: str) -> pd.Series:
    found = select(frame, metric=metric, key=key)
    assert len(found) == 1
    return found.iloc[0]


def test_the_table_is_the_contract(frame):
    assert tuple(frame.columns) == METRIC_COLUMNS
    assert set(frame["ruleset"]) == {"toy/a"}
    assert json.loads(frame["toggles"][0]) == {"limit": None, "fast": True}
    assert not frame.duplicated(["metric", "key"]).any()
    bare = frame["low"].isna() | frame["high"].isna()
    assert set(frame["metric"][bare]) == {
        "position_omnibus",
        "win_share_by_card_p_value",
        "win_share_by_tall_p_value",
    }
    full = frame[~bare]
    assert (full["low"] <= full["estimate"]).all()
    assert (full["estimate"] <= full["high"]).all()
    assert (full["low"] < full["high"])[~full["key"].str.fullmatch(r"p\d+")].all()
    assert (frame["n"] > 0).all()


def test_win_share_by_position(played, frame):
    shares = played.shares / UNIT
    for position in (1, 2, 3):
        row = one(frame, "win_share", str(position))
        mean, error = shares[:, position - 1].mean(), shares[:, position - 1].std(ddof=1) / math.sqrt(4000)
        assert row["estimate"] == pytest.approx(mean)
        assert (row["low"], row["high"]) == pytest.approx(
            (mean - 1.96 * error, mean + 1.96 * error), abs=2e-4
        )
        assert row["n"] == 4000
    row = one(frame, "win_share", "all")
    decided = int(played.rows["outcome/win"].sum())
    assert row["estimate"] == pytest.approx(decided / 4000 / 3)
    assert row["high"] == pytest.approx(stats.proportion(decided, 4000).high / 3)


def test_first_player_advantage(played, frame):
    shares = played.shares / UNIT
    d = shares[:, 0] - shares.mean(1)
    row = one(frame, "first_player_advantage", "all")
    assert row["estimate"] == pytest.approx(d.mean())
    half = 1.96 * d.std(ddof=1) / math.sqrt(4000)
    assert (row["low"], row["high"]) == pytest.approx((d.mean() - half, d.mean() + half), abs=2e-4)


def test_position_omnibus(played, frame):
    expected = stats.equal_means_test(4000, played.shares.sum(0), played.shares.T @ played.shares)
    assert one(frame, "position_omnibus", "p_value")["estimate"] == expected.p < 0.01
    row = one(frame, "position_omnibus", "chi_square")
    assert row["estimate"] == expected.statistic
    assert row["method"].endswith("df 2")


def test_cards(played, frame):
    rows = select(frame, metric="win_share_by_card")
    assert len(rows) == 53
    assert rows["key"].iloc[0] == "SA"
    assert rows["key"].iloc[-1] == "BJ"
    held = played.cards[:, 14] >= 0  # the ace of hearts, first card of the second lane
    assert one(frame, "win_share_by_card", "HA")["n"] == held.sum()
    y = played.shares[held, played.cards[held, 14]] / UNIT
    assert one(frame, "win_share_by_card", "HA")["estimate"] == pytest.approx(y.mean())
    par = played.shares.mean() / UNIT
    z = abs(y.mean() - par) / (
        y.std() / math.sqrt(len(y)) + played.shares.sum(1).std() / UNIT / 3 / math.sqrt(4000)
    )
    expected = 2 * (1 - 0.5 * (1 + math.erf(z / math.sqrt(2))))
    assert one(frame, "win_share_by_card_p_value", "HA")["estimate"] == pytest.approx(expected, abs=0.01)


def test_classes_are_clustered_by_game(played, frame):
    import statsmodels.api as sm

    inside = (played.tall >= 1).ravel()
    games = np.repeat(np.arange(4000), 3)[inside]
    y = (played.shares / UNIT).ravel()[inside]
    fit = sm.OLS(y, np.ones(len(y))).fit(cov_type="cluster", cov_kwds={"groups": games})
    row = one(frame, "win_share_by_tall", ">=1")
    assert row["n"] == inside.sum()
    assert row["estimate"] == pytest.approx(fit.params[0])
    assert (row["low"], row["high"]) == pytest.approx(tuple(fit.conf_int()[0]), abs=2e-4)
    assert list(select(frame, metric="win_share_by_tall")["key"]) == [name for _, name in CLASSES]


def test_outcomes(played, frame):
    rows = select(frame, metric="outcome")
    assert list(rows["key"]) == list(OUTCOMES)
    for word in OUTCOMES:
        expected = stats.proportion(int(played.rows[f"outcome/{word}"].sum()), 4000)
        assert tuple(one(frame, "outcome", word)[["estimate", "low", "high"]]) == pytest.approx(expected[:3])
    assert one(frame, "outcome", "survivor")["high"] > 0


def test_counters(played, frame):
    from statsmodels.stats.weightstats import DescrStatsW

    turns = played.rows["turns"]
    row = one(frame, "turns", "mean")
    expected = (turns.mean(), *DescrStatsW(turns).tconfint_mean())
    assert tuple(row[["estimate", "low", "high"]]) == pytest.approx(expected)
    for percent in metrics.PERCENTILES:
        got = one(frame, "turns", f"p{percent}")
        assert got["estimate"] == np.quantile(turns, percent / 100, method="inverted_cdf")
        assert got["method"] == "order statistics"
    assert one(frame, "falls", "share_any")["estimate"] == pytest.approx((played.rows["falls"] > 0).mean())
    assert len(select(frame, metric="decisions", key="mean")) == 1
    assert select(frame, metric="decisions", key="p50").empty
    unused = one(frame, "unused", "mean")
    assert unused["estimate"] == unused["low"] == 0 < unused["high"] < 0.001


@pytest.mark.parametrize("preset", ["ninety_nine/default", "bieqi/default", "bieqi_borrow/default"])
def test_the_mean_of_a_yes_or_no_is_a_proportion(monkeypatch, preset):
    from sim.config import Group, load_player, load_ruleset
    from sim.engine import play_range, play_rows
    from sim.games import game

    monkeypatch.undo()
    ruleset, lineup = load_ruleset(preset), (load_player("random"),) * 4
    group = Group(4, lineup, (ruleset,), (), 5, 300, ruleset.game)
    table = metrics_frame([group], [play_range(group, 0, 300)])
    yes_no = [counter.name for counter in game(ruleset.game).counters if counter.yes_no]
    values = play_rows(ruleset, lineup, 5, 300)[yes_no]
    assert yes_no
    assert values.isin([0, 1]).all(axis=None)
    for name in yes_no:
        row = one(table, name, "mean")
        expected = stats.proportion(int(values[name].sum()), 300)
        assert (row["estimate"], row["low"], row["high"], row["method"]) == expected
        assert 0 <= row["low"] <= row["high"] <= 1


def test_histograms(played, frame):
    values = played.rows["forced"].value_counts().sort_index()
    rows = select(frame, metric="forced_histogram")
    assert list(rows["key"]) == [str(value) for value in values.index]
    assert list(rows["estimate"]) == pytest.approx(list(values / 4000))
    for count, row in zip(values, rows.itertuples(), strict=True):
        assert (row.low, row.high) == pytest.approx(stats.proportion(count, 4000)[1:3])


def test_conditional_counters_count_only_games_where_it_happened(played, frame):
    fell = played.rows[played.rows["falls"] > 0]
    assert (fell["first_fall"] == 0).any()
    for name in ("first_fall", "fall_cost"):
        row = one(frame, name, "mean")
        assert row["n"] == len(fell)
        assert row["estimate"] == pytest.approx(fell[name].mean())
    assert one(frame, "first_fall", "p5")["estimate"] == fell["first_fall"].quantile(
        0.05, interpolation="lower"
    )
    assert one(frame, "first_fall_histogram", "0")["estimate"] == pytest.approx(
        (fell["first_fall"] == 0).mean()
    )
    assert select(frame, metric="first_fall", key="share_any").empty
    never = Games(played.rows.assign(falls=0, first_fall=0, fall_cost=0), played.cards, played.tall)
    empty = metrics_frame([group([ruleset("toy/a")])], [result_of([never])])
    assert select(empty, metric="first_fall").empty
    assert one(empty, "falls", "mean")["estimate"] == 0


def test_a_histogram_that_is_too_short_says_so(played):
    turns = played.rows["turns"] + 35
    assert turns.max() > 59
    late = Games(played.rows.assign(turns=turns), played.cards, played.tall)
    frame = metrics_frame([group([ruleset("toy/a")])], [result_of([late])])
    assert one(frame, "turns", "mean")["estimate"] == pytest.approx(turns.mean())
    assert one(frame, "turns", "p50")["estimate"] == turns.median()
    assert select(frame, metric="turns", key="p95").empty
    assert one(frame, "turns_histogram", ">=59")["estimate"] == pytest.approx((turns >= 59).mean())
    assert select(frame, metric="turns_histogram", key="59").empty


def test_ratios_and_seats(played, frame):
    rows = played.rows
    row = one(frame, "forced_share", "all")
    ratio = rows["forced"].sum() / rows["decisions"].sum()
    residual = rows["forced"] - ratio * rows["decisions"]
    half = 1.96 * residual.std() / math.sqrt(4000) / rows["decisions"].mean()
    assert row["estimate"] == pytest.approx(ratio)
    assert row["high"] - row["low"] == pytest.approx(2 * half, rel=1e-3)
    assert list(select(frame, metric="draws")["key"]) == ["1", "2", "3"]
    assert one(frame, "largest_hand", "2")["estimate"] == pytest.approx(rows["largest_hand/2"].mean())


def test_one_game_is_enough_for_a_table():
    frame = metrics_frame([group([ruleset("toy/a")])], [result_of([play(9, 1)])])
    numbers = frame[~frame["metric"].str.contains("p_value|omnibus")]
    assert (numbers["high"] - numbers["low"] > 0.25).all()
    contrast_frame = contrasts_frame([group([ruleset("toy/a")])], [result_of([play(9, 1)])])
    assert tuple(contrast_frame.columns) == CONTRAST_COLUMNS
    assert contrast_frame.empty


def test_lineup_names():
    assert metrics.lineup_name(group([])) == "random"
    assert metrics.lineup_name(group([], lineup="random greedy")) == "random+greedy"
    assert metrics.lineup_name(group([], lineup="random greedy greedy")) == "random+greedy+greedy"


@pytest.fixture
def compared() -> tuple[list[Games], pd.DataFrame]:
    """a and b differ in turns (+2) and a rare outcome, c equals a."""
    a = play(1, 3000)
    other = play(2, 3000)
    rows = a.rows.copy()
    rows["turns"] += 2 + (other.rows["turns"] % 3 - 1)
    rows["falls"] = other.rows["falls"]
    b = Games(rows, a.cards, a.tall)
    terms = ((0, -1), (1, 1))
    contrasts = (
        contrast("one", "toy/a", "toy/b", *terms),
        contrast("one", "toy/a", "toy/c", (0, -1), (2, 1)),
        contrast("two", "toy/a", "toy/b", *terms),
        contrast("three", "x", "y", (0, -1), (1, 1), (2, -1), (1, 1), kind="main", divisor=2),
    )
    g = group([ruleset("toy/a"), ruleset("toy/b"), ruleset("toy/c")], *contrasts)
    return [a, b, a], contrasts_frame([g], [result_of([a, b, a], *contrasts)])


def family(frame: pd.DataFrame, name: str) -> pd.DataFrame:
    return frame[frame["method"].str.endswith(f"comparisons of {name}")]


def test_contrasts_are_paired(compared):
    from statsmodels.stats.weightstats import DescrStatsW

    (a, b, _), frame = compared
    assert tuple(frame.columns) == CONTRAST_COLUMNS
    row = one(family(frame, "two"), "turns", "mean")
    d = b.rows["turns"] - a.rows["turns"]
    assert tuple(row[["estimate", "low", "high"]]) == pytest.approx(
        (d.mean(), *DescrStatsW(d).tconfint_mean())
    )
    assert row["verdict"] == "higher"
    assert row["n"] == 3000
    assert one(family(frame, "two"), "falls", "mean")["verdict"] == "no clear difference"
    assert one(family(frame, "two"), "win_share", "1")["verdict"] == "identical"


def test_a_main_effect_is_an_average(compared):
    _, frame = compared
    effect, pair = (one(family(frame, name), "turns", "mean") for name in ("three", "two"))
    assert effect["estimate"] == pytest.approx(pair["estimate"])
    assert effect["low"] == pytest.approx(pair["low"])
    assert effect["method"].startswith("main effect, paired t")


def test_an_a_a_contrast_is_exactly_zero(compared):
    _, frame = compared
    same = select(frame, b="toy/c")
    assert len(same) > 8
    assert (same[["estimate", "low", "high"]] == 0).all(axis=None)
    assert (same["p_adjusted"] == 1).all()
    assert set(same["verdict"]) == {"identical"}


def test_contrasts_leave_out_what_never_happens_and_what_needs_a_condition(compared):
    _, frame = compared
    named = set(zip(frame["metric"], frame["key"], strict=True))
    assert ("outcome", "stalled") in named
    assert {("unused", "mean"), ("outcome", "survivor"), ("first_fall", "mean"), ("draws", "1")}.isdisjoint(
        named
    )


def test_holm_is_applied_within_a_family(compared):
    from statsmodels.stats.multitest import multipletests

    (a, b, _), frame = compared
    one_family, two = family(frame, "one"), family(frame, "two")
    assert len(one_family) == 2 * len(two)
    d = (b.rows - a.rows)[[c for c in a.rows if _in_table(c)]]
    raw = [stats.paired_difference(*_sums(d[c])).p for c in d if a.rows[c].any()]
    assert list(two["p_adjusted"]) == pytest.approx(list(multipletests(raw, method="holm")[1]))
    assert list(one_family["p_adjusted"]) == pytest.approx(
        list(multipletests(raw + [1.0] * len(raw), method="holm")[1])
    )


def _in_table(column: str) -> bool:
    conditional = {c.name for c in COUNTERS if c.given}
    return column.startswith(("share/", "outcome/")) or ("/" not in column and column not in conditional)


def _sums(d: pd.Series) -> tuple[int, int, int, int, int]:
    return len(d), int(d.sum()), int((d * d).sum()), int((d > 0).sum()), int((d < 0).sum())


def test_a_share_difference_is_in_shares():
    a, b = play(1, 500), play(3, 500, lead=-0.3)
    c = contrast("one", "toy/a", "toy/b", (0, -1), (1, 1))
    frame = contrasts_frame([group([ruleset("toy/a"), ruleset("toy/b")], c)], [result_of([a, b], c)])
    row = one(frame, "win_share", "1")
    assert row["estimate"] == pytest.approx((b.shares - a.shares)[:, 0].mean() / UNIT)
    assert row["verdict"] == "lower"


def test_equal_tallies_give_equal_bytes(tmp_path, played, frame):
    again = metrics_frame([group([ruleset("toy/a", limit=None, fast=True)])], [result_of([played])])
    for name, table in (("a", frame), ("b", again)):
        metrics.write_table(table, tmp_path / f"{name}.csv")
    text = (tmp_path / "a.csv").read_bytes()
    assert text == (tmp_path / "b.csv").read_bytes()
    assert b"\r" not in text
    assert not list(tmp_path.glob("*.tmp"))
    back = metrics.read_table(tmp_path / "a.csv")
    assert list(back["key"]) == list(frame["key"])
    assert back["estimate"].to_numpy() == pytest.approx(frame["estimate"].to_numpy(), rel=1e-9)


def test_tables_of_the_engines_tallies_agree_with_its_single_games(monkeypatch):
    from sim.config import Contrast, Group, load_player, load_ruleset
    from sim.engine import play_range, play_rows

    monkeypatch.undo()
    old, new = load_ruleset("paijie/v1.0"), load_ruleset("paijie/v1.1")
    lineup, difference = (
        (load_player("random"),) * 3,
        Contrast("versions", old.name, new.name, ((0, -1), (1, 1))),
    )
    played = Group(3, lineup, (old, new), (difference,), 5, 400, "paijie")
    result = play_range(played, 0, 400)
    before, after = (play_rows(ruleset, lineup, 5, 400) for ruleset in (old, new))
    table = select(metrics_frame([played], [result]), ruleset=new.name)
    assert one(table, "win_share", "2")["estimate"] == pytest.approx(after["share/2"].mean() / UNIT)
    assert one(table, "turns", "p75")["estimate"] == after["turns"].quantile(0.75, interpolation="lower")
    assert one(table, "outcome", "survivor")["estimate"] == (after["outcome/survivor"] == 1).mean()
    assert (
        one(table, "win_share_by_aces_kings", ">=1")["n"] > one(table, "win_share_by_aces_kings", ">=2")["n"]
    )
    held = select(table, metric="win_share_by_card")
    assert (held["n"] * held["estimate"]).sum() == pytest.approx(
        6 * after[["share/1", "share/2", "share/3"]].sum().sum() / UNIT
    )
    row = one(contrasts_frame([played], [result]), "turns", "mean")
    assert row["estimate"] == pytest.approx((after["turns"] - before["turns"]).mean())


def test_select():
    table = pd.DataFrame({"x": [1, 1, 2], "y": ["a", "b", "a"]})
    assert list(select(table, x=1, y="b").index) == [1]
    assert all(first < second for first, second in pairwise(select(table, y="a").index))
