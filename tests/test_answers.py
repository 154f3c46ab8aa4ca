"""Verdicts on tables whose truth is plain to see."""

from __future__ import annotations

import math
import string
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest

from analysis import answers as module
from analysis.answers import HEADINGS, STANCE, TEXT, VERDICTS, answers, metric_words
from analysis.metrics import CONTRAST_COLUMNS, METRIC_COLUMNS
from sim.config import load_sweep
from sim.games import OUTCOMES, Counter, Partition, Ratio

TOY = SimpleNamespace(
    name="toy",
    counters=(Counter("falls", "falls", "跌倒數", bins=8),),
    ratios=(Ratio("falls_per_turn", "falls", "turns", "falls per turn", "每回合跌倒數"),),
    partitions=(
        Partition("tall", ("0", "1", "2"), "tall cards", "高牌張數"),
        Partition(
            "lead", ("yes", "no"), "holds the lead", "有領牌", (("it does", "有"), ("it does not", "無"))
        ),
    ),
)
TITLES = {"random": {"en": "random", "zh-Hant": "隨機"}, "greedy": {"en": "greedy", "zh-Hant": "貪心"}}


@pytest.fixture(autouse=True)
def toy_game(monkeypatch):
    monkeypatch.setattr(module, "games", lambda: {"toy": TOY})


def sweep(*questions: SimpleNamespace) -> SimpleNamespace:
    players = {name: SimpleNamespace(name=name, title=title) for name, title in TITLES.items()}
    groups = [SimpleNamespace(game="toy", lineup=(players[name],) * 4) for name in TITLES]
    mixed = SimpleNamespace(game="toy", lineup=(players["random"], players["greedy"]) * 2)
    return SimpleNamespace(groups=[*groups, mixed], answers=questions)


def question(kind: str, **more: object) -> SimpleNamespace:
    return SimpleNamespace(kind=kind, title={"en": "Well?", "zh-Hant": "如何？"}, **{"game": "", **more})


OPENING = question("opening_class", partition="tall", at_least=2)
FIRST = question("first_player")
CHANGE = question("change", a="toy/a", b="toy/b")


SAME_RULES = {"toy/new": "{}", "toy/default": "{}", "toy/nine": '{"limit":9}', "toy/neun": '{"limit":9}'}
"""What rulesets change; the others each something of their own."""


def metric(
    case: tuple[str, str, int], name: str, key: str, estimate: float, half: float, n: int = 1000
) -> tuple:
    ruleset, lineup, seats = case
    toggles = SAME_RULES.get(ruleset, f'{{"own":"{ruleset}"}}')
    head = ("toy", ruleset, lineup, seats, toggles, name, key, n)
    return (*head, estimate, estimate - half, estimate + half, "method")


def table(*rows: tuple) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=list(METRIC_COLUMNS))


def opening_case(case: tuple[str, str, int], share: float, half: float, p: float) -> list[tuple]:
    par = 1 / case[2]
    return [
        metric(case, "win_share", "all", par, 0.0001),
        metric(case, "win_share_by_tall", ">=2", share, half),
        metric(case, "win_share_by_tall_p_value", ">=2", p, math.nan),
    ]


def first_case(case: tuple[str, str, int], advantage: float, half: float, p: float) -> list[tuple]:
    return [
        metric(case, "win_share", "all", 1 / case[2], 0.0001),
        metric(case, "first_player_advantage", "all", advantage, half),
        metric(case, "position_omnibus", "p_value", p, math.nan),
        metric(case, "position_omnibus", "chi_square", 9.0, math.nan),
    ]


NO_CONTRASTS = pd.DataFrame(columns=list(CONTRAST_COLUMNS))
CASE = ("toy/a", "random", 4)


@pytest.mark.parametrize(
    ("share", "half", "p", "verdict"),
    [
        (0.05, 0.01, 1e-9, "lost"),
        (0.12, 0.01, 1e-9, "handicap"),
        (0.24, 0.005, 1e-4, "slight_handicap"),
        (0.25, 0.01, 0.9, "no_handicap"),
        (0.30, 0.01, 1e-9, "good_hand"),
        (0.24, 0.05, 0.7, "unknown"),
        (0.05, 0.20, 0.06, "unknown"),
    ],
)
def test_opening_verdicts(share, half, p, verdict):
    (answer,) = answers(sweep(OPENING), table(*opening_case(CASE, share, half, p)), NO_CONTRASTS)
    assert list(answer.evidence["verdict"]) == [verdict]
    assert answer.evidence["par"][0] == 0.25
    assert answer.question["en"] == "Well?"
    assert answer.kind == "opening_class"


def test_opening_headline_names_the_extreme_with_interval_and_n():
    rows = [*opening_case(CASE, 0.05, 0.01, 1e-9), *opening_case(("toy/b", "random", 4), 0.02, 0.01, 1e-9)]
    (answer,) = answers(sweep(OPENING), table(*rows), NO_CONTRASTS)
    assert answer.verdict["en"] == (
        "Yes: nearly lost (below half of par), in all 2 cases. "
        "Furthest from par: b, 4 seats, random: 2.0 % [1.0, 3.0] (n = 1,000) against 25.0 % [25.0, 25.0]."
    )
    assert answer.verdict["zh-Hant"] == (
        "是：2 種情況全部近乎必敗（不到平均勝率的一半）。"
        "偏離平均最多：b、4 人、隨機，勝率 2.0 % [1.0, 3.0]（樣本數 1,000），平均為 25.0 % [25.0, 25.0]。"
    )
    assert answer.details["en"] == ["Random, nearly lost (below half of par): a, b (4 seats)."]


def test_rulesets_of_the_same_rules_are_one_case():
    rows = [
        *first_case(("toy/nine", "random", 4), 0.05, 0.01, 0.02),
        *first_case(("toy/neun", "random", 4), 0.05, 0.01, 0.02),
        *first_case(("toy/neun", "random", 3), 0.0, 0.01, 0.9),
    ]
    (answer,) = answers(sweep(FIRST), table(*rows), NO_CONTRASTS)
    assert list(answer.evidence["ruleset"]) == ["toy/nine", "toy/neun"]
    # Corrected for two cases, not three.
    assert list(answer.evidence["p_adjusted"]) == pytest.approx([0.04, 0.9])
    assert "(of 2 cases: " in answer.verdict["en"]
    assert "2 種情況" in answer.verdict["zh-Hant"]


def test_the_current_rules_come_first():
    rows = [
        *opening_case(("toy/old", "random", 4), 0.25, 0.01, 0.9),
        *opening_case(("toy/default", "random", 4), 0.12, 0.01, 1e-9),
        *opening_case(("toy/new", "random", 4), 0.12, 0.01, 1e-9),
        *opening_case(("toy/default", "greedy", 4), 0.12, 0.01, 1e-9),
    ]
    (answer,) = answers(sweep(OPENING), table(*rows), NO_CONTRASTS)
    assert answer.verdict["en"].startswith(
        "Not quite, by the current rules (default): a handicap, at all 2 tables. "
        "Over all rulesets: a handicap in 2, no handicap in 1 (of 3 cases: rulesets by seats and players). "
    )
    assert answer.verdict["zh-Hant"].startswith(
        "就現行規則（default）而言，不盡然：2 種桌全部吃虧。"
        "就全部規則而言，3 種情況（規則、人數與玩法的組合）中，2 種吃虧、1 種不吃虧。"
    )


@pytest.mark.parametrize(
    ("share", "half", "p", "words"),
    [
        (
            0.24,
            0.05,
            0.7,
            "By the current rules (new): not enough data at any of 1 tables. Over all rulesets: ",
        ),
        (
            0.05,
            0.01,
            0.0,
            "Yes, by the current rules (new): nearly lost (below half of par), at all 1 tables. ",
        ),
    ],
)
def test_what_the_data_say_of_the_current_rules(share, half, p, words):
    rows = [*opening_case(("toy/new", "random", 4), share, half, p), *opening_case(CASE, 0.25, 0.01, 0.9)]
    (answer,) = answers(sweep(OPENING), table(*rows), NO_CONTRASTS)
    assert answer.verdict["en"].startswith(words)


def test_current_rules_alone_are_not_told_apart_from_themselves():
    rows = opening_case(("toy/new", "random", 4), 0.05, 0.01, 1e-9)
    (answer,) = answers(sweep(OPENING), table(*rows), NO_CONTRASTS)
    assert answer.verdict["en"].startswith("Yes: nearly lost (below half of par), in all 1 cases.")


def test_every_change_that_a_sweep_asks_about_is_compared():
    """Equal rules have one name throughout a sweep, its questions included, also where it takes in other sweeps."""
    folder = Path(module.__file__).parents[1] / "configs" / "sweeps"
    for path in folder.glob("*.yaml"):
        each = load_sweep(path)
        pairs = {(contrast.a, contrast.b) for group in each.groups for contrast in group.contrasts}
        asked = {(answer.a, answer.b) for answer in each.answers if answer.kind == "change"}
        assert asked <= pairs, path.stem


def test_many_cases_are_corrected():
    """One case in forty with p = 0.01 is no finding."""
    rows = opening_case(CASE, 0.22, 0.02, 0.01)
    for i in range(39):
        rows += opening_case((f"toy/{i}", "random", 4), 0.25, 0.02, 0.5)
    (answer,) = answers(sweep(OPENING), table(*rows), NO_CONTRASTS)
    assert answer.evidence["p_adjusted"][0] == pytest.approx(0.4)
    assert answer.evidence["verdict"][0] == "unknown"
    (alone,) = answers(sweep(OPENING), table(*rows[:3]), NO_CONTRASTS)
    assert alone.evidence["verdict"][0] == "handicap"


def test_disagreeing_players_are_told():
    rows = [
        *opening_case(("toy/a", "random", 4), 0.12, 0.01, 1e-9),
        *opening_case(("toy/a", "greedy", 4), 0.25, 0.01, 0.9),
        *opening_case(("toy/a", "random", 2), 0.12, 0.01, 1e-9),
        *opening_case(("toy/a", "greedy", 2), 0.12, 0.01, 1e-9),
    ]
    (answer,) = answers(sweep(OPENING), table(*rows), NO_CONTRASTS)
    assert answer.verdict["en"].startswith("It depends: ")
    assert "Random and greedy players disagree in 1 of 2 combinations" in answer.verdict["en"]
    assert answer.details["en"][-1] == "Random and greedy players disagree: a (4 seats)."
    assert answer.details["zh-Hant"][-1] == "隨機與貪心玩法的結論不同：a（4 人）。"


@pytest.mark.parametrize(
    ("advantage", "half", "p", "verdict"),
    [
        (0.05, 0.01, 1e-9, "first_gains"),
        (0.01, 0.005, 1e-4, "first_gains_slightly"),
        (0.0, 0.01, 0.9, "first_even"),
        (-0.01, 0.005, 1e-4, "first_loses_slightly"),
        (-0.05, 0.01, 1e-9, "first_loses"),
        (0.0, 0.01, 1e-9, "others_differ"),
        (0.02, 0.03, 0.2, "unknown"),
        (0.05, 0.01, 0.2, "unknown"),
    ],
)
def test_first_player_verdicts(advantage, half, p, verdict):
    (answer,) = answers(sweep(FIRST), table(*first_case(CASE, advantage, half, p)), NO_CONTRASTS)
    assert list(answer.evidence["verdict"]) == [verdict]
    assert answer.evidence["chi_square"][0] == 9


def test_first_player_headline():
    rows = [*first_case(CASE, 0.05, 0.01, 1e-9), *first_case(("toy/a", "greedy", 4), -0.06, 0.01, 1e-9)]
    (answer,) = answers(sweep(FIRST), table(*rows), NO_CONTRASTS)
    assert answer.verdict["en"] == (
        "It depends: an edge for the first player in 1, the first player is worse off in 1 "
        "(of 2 cases: rulesets by seats and players). "
        "Random and greedy players disagree in 1 of 1 combinations of ruleset and seats. "
        "Largest effect: a, 4 seats, greedy: -6.00 points [-7.00, -5.00] (n = 1,000)."
    )


def test_too_little_data_is_said_plainly():
    (answer,) = answers(sweep(FIRST), table(*first_case(CASE, 0.05, 0.2, 0.5)), NO_CONTRASTS)
    assert answer.verdict["en"].startswith("Not enough data in any of 1 cases.")
    assert answer.verdict["zh-Hant"].startswith("1 種情況的資料都不足。")


def test_nothing_measured():
    for each in (OPENING, FIRST, CHANGE):
        (answer,) = answers(sweep(each), table(), NO_CONTRASTS)
        assert answer.evidence.empty
        assert answer.verdict["en"].startswith("Not ")
        assert answer.verdict["zh-Hant"].startswith("這份結果")


def contrast(lineup: str, name: str, key: str, estimate: float, verdict: str, a: str = "toy/a") -> tuple:
    p = 1e-6 if verdict in ("higher", "lower") else 1.0
    head = ("toy", a, "toy/b", lineup, 4, name, key, 1000)
    return (*head, estimate, estimate - 0.02, estimate + 0.02, p, verdict, "paired t")


def spread(lineup: str, name: str, key: str, deviation: float) -> list[tuple]:
    """Metrics rows of both rulesets whose interval says that games have this standard deviation."""
    half = 1.959964 * deviation / math.sqrt(1000)
    return [metric((ruleset, lineup, 4), name, key, 1.0, half) for ruleset in ("toy/a", "toy/b")]


def changed() -> tuple[pd.DataFrame, pd.DataFrame]:
    rows, beside = [], []
    for lineup, sign in (("random", 1), ("greedy", -1)):
        rows += [
            contrast(lineup, "turns", "mean", 2.0, "higher"),
            contrast(lineup, "falls", "mean", sign * 0.5, "higher" if sign > 0 else "lower"),
            contrast(lineup, "outcome", "drawn", -0.03, "lower"),
            contrast(lineup, "lead_changes", "mean", 0.05, "higher" if sign > 0 else "no clear difference"),
            contrast(lineup, "win_share", "1", 0.0, "identical"),
            contrast(lineup, "turns", "mean", 9.0, "higher", a="toy/other"),
        ]
        for name, key, deviation in (
            *(("turns", "mean", 4.0), ("falls", "mean", 1.0), ("outcome", "drawn", 0.1)),
            *(("lead_changes", "mean", 2.0), ("win_share", "1", 0.4)),
        ):
            beside += spread(lineup, name, key, deviation)
    return table(*beside), pd.DataFrame(rows, columns=list(CONTRAST_COLUMNS))


def test_change_names_what_changed_by_size_and_what_did_not():
    (answer,) = answers(sweep(CHANGE), *changed())
    assert answer.verdict["en"] == (
        "Higher: turns. Lower: drawn games. Higher at some tables, lower at others: falls. "
        "Random and greedy players disagree on: falls."
    )
    assert answer.verdict["zh-Hant"] == (
        "上升：回合數。下降：和局。有些桌上升、有些桌下降：跌倒數。隨機與貪心玩法的變化方向相反：跌倒數。"
    )
    assert answer.details["en"] == [
        "Higher: turns.",
        "Lower: drawn games.",
        "Higher at some tables, lower at others: falls.",
        "Clear but slight (less than a tenth of a standard deviation): changes of the sole leader (at 1 of 2 tables).",
        "Identical in every game: win share of the first player.",
        "Random, 4 seats: turns +2.000 [+1.980, +2.020]; falls +0.500 [+0.480, +0.520]; "
        "drawn games -3.00 points [-5.00, -1.00].",
        "Greedy, 4 seats: turns +2.000 [+1.980, +2.020]; falls -0.500 [-0.520, -0.480]; "
        "drawn games -3.00 points [-5.00, -1.00].",
    ]
    evidence = answer.evidence
    assert list(evidence["metric"]) == ["turns", "turns", "falls", "falls", "outcome", "outcome"]
    assert list(evidence["effect"]) == pytest.approx([0.5, 0.5, 0.5, -0.5, -0.3, -0.3])


def test_slight_effects_count_neither_as_changes_nor_against_them():
    """Turns rise a lot at one table and a little at another, where drawn games fall a little; the leader changes rise
    here a little and fall there."""
    rows = [
        contrast("random", "turns", "mean", 2.0, "higher"),
        contrast("greedy", "turns", "mean", -0.01, "lower"),
        contrast("random", "outcome", "drawn", -0.02, "lower"),
        contrast("greedy", "outcome", "drawn", 0.0, "no clear difference"),
        contrast("random", "lead_changes", "mean", 0.05, "higher"),
        contrast("greedy", "lead_changes", "mean", -0.05, "lower"),
    ]
    beside = []
    for name, key, deviation in (
        *(("turns", "mean", 4.0), ("outcome", "drawn", 0.4)),
        ("lead_changes", "mean", 2.0),
    ):
        for lineup in ("random", "greedy"):
            beside += spread(lineup, name, key, deviation)
    (answer,) = answers(sweep(CHANGE), table(*beside), pd.DataFrame(rows, columns=list(CONTRAST_COLUMNS)))
    assert answer.verdict["en"] == "Higher: turns (at 1 of 2 tables)."
    slight = "Clear but slight (less than a tenth of a standard deviation): "
    assert answer.details["en"][1] == (slight + "drawn games (at 1 of 2 tables); changes of the sole leader.")
    assert answer.details["en"][-2:] == [
        "Random, 4 seats: turns +2.000 [+1.980, +2.020].",
        "Greedy, 4 seats: only slight differences.",
    ]
    evidence = answer.evidence.set_index(["metric", "lineup"])["verdict"]
    assert evidence["turns", "random"] == "higher"
    assert evidence["turns", "greedy"] == "slightly lower"
    assert evidence["outcome", "random"] == "slightly lower"


def test_a_difference_without_any_variation_is_the_largest():
    """Both rulesets always last the same number of turns, but not both the same."""
    rows = [
        contrast("random", "turns", "mean", -3.0, "lower"),
        contrast("random", "falls", "mean", 9.0, "higher"),
    ]
    beside = [*spread("random", "turns", "mean", 0.0), *spread("random", "falls", "mean", 1.0)]
    (answer,) = answers(sweep(CHANGE), table(*beside), pd.DataFrame(rows, columns=list(CONTRAST_COLUMNS)))
    assert answer.verdict["en"] == "Higher: falls. Lower: turns."
    assert list(answer.evidence["metric"]) == ["turns", "falls"]
    assert answer.evidence["effect"][0] == -math.inf


def test_no_change_is_an_answer():
    metrics, contrasts = changed()
    same = contrasts.assign(verdict="no clear difference", p_adjusted=1.0)
    (answer,) = answers(sweep(CHANGE), metrics, same)
    assert answer.verdict["en"] == "Nothing measured differs clearly."
    assert answer.details["en"][0].startswith("No clear difference: turns; ")
    assert "Random, 4 seats: no clear difference." in answer.details["en"]


def test_slight_changes_are_not_hidden_when_there_are_no_others():
    contrasts = pd.DataFrame(
        [contrast("random", "turns", "mean", 0.05, "higher")], columns=list(CONTRAST_COLUMNS)
    )
    (answer,) = answers(sweep(CHANGE), table(*spread("random", "turns", "mean", 2.0)), contrasts)
    assert answer.verdict["en"] == (
        "Nothing differs by more than a slight amount. "
        "Clear but slight (less than a tenth of a standard deviation): turns."
    )


def test_a_long_list_is_shortened():
    names = [f"m{i}" for i in range(9)]
    rows = [contrast("random", name, "mean", 1.0, "higher") for name in names]
    metrics = table(*(row for name in names for row in spread("random", name, "mean", 1.0)))
    (answer,) = answers(sweep(CHANGE), metrics, pd.DataFrame(rows, columns=list(CONTRAST_COLUMNS)))
    assert answer.verdict["en"] == "Higher: m0; m1; m2; m3; m4; and 4 more."
    assert answer.details["en"][0] == "Higher: " + "; ".join(names) + "."


def test_many_line_ups_are_not_listed_when_they_disagree():
    rows = [
        *first_case(("toy/a", "random", 4), 0.05, 0.01, 0),
        *first_case(("toy/a", "greedy", 4), -0.05, 0.01, 0),
        *first_case(("toy/a", "random+greedy", 4), 0.05, 0.01, 0),
    ]
    (answer,) = answers(sweep(FIRST), table(*rows), NO_CONTRASTS)
    assert "The line-ups disagree in 1 of 1 combinations of ruleset and seats." in answer.verdict["en"]
    assert answer.details["en"][-1] == "The line-ups disagree: a (4 seats)."
    assert answer.details["zh-Hant"][-1] == "各種玩法的結論不同：a（4 人）。"


def test_positions_that_differ_are_no_plain_no():
    rows = [*first_case(CASE, 0.0, 0.01, 1e-9), *first_case(("toy/b", "random", 4), 0.0, 0.01, 0.9)]
    (answer,) = answers(sweep(FIRST), table(*rows), NO_CONTRASTS)
    assert answer.verdict["en"].startswith(
        "It depends: no relevant edge for the first player in 1, positions differ"
    )


def test_a_mixed_table_is_named_by_its_players():
    (answer,) = answers(
        sweep(FIRST), table(*first_case(("toy/a", "random+greedy", 4), 0.05, 0.01, 0)), NO_CONTRASTS
    )
    assert "a, 4 seats, random + greedy: +5.00 points" in answer.verdict["en"]


def test_metric_words():
    assert metric_words(TOY, "turns", "mean") == {"en": "turns", "zh-Hant": "回合數"}
    assert metric_words(TOY, "falls_histogram", "3")["zh-Hant"] == "跌倒數"
    assert metric_words(TOY, "falls_per_turn", "all")["en"] == "falls per turn"
    assert metric_words(TOY, "forced_share", "all")["en"].startswith("share of decisions")
    assert metric_words(TOY, "win_share_by_tall", ">=2") == {
        "en": "win share, tall cards: >=2",
        "zh-Hant": "勝率，高牌張數：>=2",
    }
    assert metric_words(TOY, "win_share_by_lead", "no") == {
        "en": "win share, holds the lead: it does not",
        "zh-Hant": "勝率，有領牌：無",
    }
    assert metric_words(TOY, "decisions", "2")["en"] == "decisions of position 2"
    assert metric_words(TOY, "decisions", "mean")["en"] == "decisions"
    assert metric_words(TOY, "win_share", "1")["zh-Hant"] == "先手的勝率"
    for word in OUTCOMES:
        assert metric_words(TOY, "outcome", word)["zh-Hant"] != word


def test_both_languages_say_the_same_things():
    assert set(TEXT["en"]) == set(TEXT["zh-Hant"])
    for key, text in TEXT["en"].items():
        fields = [
            {name for _, name, _, _ in string.Formatter().parse(t) if name}
            for t in (text, TEXT["zh-Hant"][key])
        ]
        assert fields[0] == fields[1], key
    for words in (*VERDICTS.values(), *HEADINGS.values()):
        assert set(words) == {"en", "zh-Hant"}
    assert set(STANCE) <= set(VERDICTS)


def test_evidence_columns_have_headings():
    metrics, contrasts = changed()
    metrics = pd.concat(
        [metrics, table(*opening_case(CASE, 0.2, 0.1, 0.5), *first_case(("toy/c", "random", 4), 0, 1, 1))]
    )
    for answer in answers(sweep(OPENING, FIRST, CHANGE), metrics, contrasts):
        assert not answer.evidence.empty
        assert set(answer.evidence.columns) <= set(HEADINGS)
        assert len(answer.details["en"]) == len(answer.details["zh-Hant"])
