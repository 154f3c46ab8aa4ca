"""Reports, figures and the terminal summary of a small made-up sweep, in both languages."""

from __future__ import annotations

import hashlib
import io
import itertools
import re
import string
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text
from rich.cells import cell_len
from rich.console import Console

from analysis import figures, plots, report, view
from analysis import sheet as drawing_sheet
from analysis.figures import plan, write_figures
from analysis.metrics import CONTRAST_COLUMNS, METRIC_COLUMNS, changed_toggles, lineup_name
from analysis.report import Table, terminal_summary, with_half, with_interval, write_report
from analysis.sheet import Sheet, faces, fitted
from analysis.view import LANGUAGES, Case, Difference, Number, views, wrapped
from sim.cards import CARD_NAMES
from sim.config import Sweep, load_player, load_sweep
from sim.games import OUTCOMES, games
from sim.tally import SEAT_COLUMNS, Layout

SWEEP = """
title: {en: "A $5 | <b>title</b> 🦄", zh-Hant: "試驗 🦄：規則與 $x$"}
seed: 7
games: 400
lineups: [[random], [careful]]
players:
  careful: {title: {en: Careful, zh-Hant: 謹慎}, kind: weights, games: {paijie: {main: {gap: -1}}}}
families:
  - {name: pair, title: {en: Two, zh-Hant: 兩套}, rulesets: [paijie/v1.0, paijie/v1.1], seats: [2, 3], contrast: chain}
  - {name: again, rulesets: [paijie/v1.0, paijie/v1.1], seats: [3], contrast: chain}
  - name: limit
    title: "🦄 $1 | $2"
    rulesets: [paijie/v1.1]
    grid: {limit_value: [10, none, 6]}
    seats: [3]
    contrast: baseline
  - name: both
    rulesets: [paijie/v1.1]
    grid: {limit_when: [immediate, own_turn_end], jp_values: [v1.0, v1.1]}
    seats: [3]
    contrast: factorial
answers:
  - {kind: opening_class, partition: aces_kings, at_least: 2, title: {en: "Two or more?", zh-Hant: "兩張以上？"}}
  - {kind: first_player, title: {en: "First?", zh-Hant: "先手？"}}
  - {kind: change, a: paijie/v1.0, b: paijie/v1.1, title: {en: "What changed?", zh-Hant: "改了什麼？"}}
"""
VERSIONS = {"fairdeal": "1.2.3"}


def sweep_of(folder: Path, text: str = SWEEP) -> Sweep:
    path = folder / "made_up.yaml"
    path.write_text(text, encoding="utf-8")
    return load_sweep(path)


def metrics_of(sweep: Sweep, n: int = 400, seed: int = 1) -> pd.DataFrame:
    """A table of plausible random numbers: every metric that a real one has, nothing ever stalled."""
    rng = np.random.default_rng(seed)
    rows = []
    for group in sweep.groups:
        game = games()[group.game]
        for arm in group.arms:
            layout = Layout.of(game, game.rules(arm.toggles, group.seats))
            head = (group.game, arm.name, lineup_name(group), group.seats, changed_toggles(arm))
            rows += [(*head, *row) for row in arm_rows(layout, n, rng)]
    return pd.DataFrame(rows, columns=list(METRIC_COLUMNS))


def arm_rows(layout: Layout, n: int, rng: np.random.Generator) -> list[tuple]:
    par = 1 / layout.seats

    def row(metric: str, key: str, value: float, half: float, count: int = n) -> tuple:
        return (metric, key, count, value, value - half, value + half, "made up")

    rows = [row("win_share", str(p + 1), par + rng.normal() / 50, 0.03) for p in range(layout.seats)]
    rows += [row("win_share", "all", par, 0.001), row("first_player_advantage", "all", 0.05, 0.02)]
    rows += [row("position_omnibus", key, 0.001, np.nan) for key in ("p_value", "chi_square")]
    tables = [("card", name) for name in CARD_NAMES] + list(layout.classes)
    for table, key in tables:
        rows.append(
            row(f"win_share_by_{table}", key, par * rng.uniform(0.5, 1.5), 0.04, int(rng.integers(20, 90)))
        )
        rows.append(row(f"win_share_by_{table}_p_value", key, rng.uniform() ** 6, np.nan))
    shares = {"win": 0.9, "survivor": 0.06, "loser_found": 0.0, "drawn": 0.04, "stalled": 0.0}
    rows += [row("outcome", word, shares[word], 0.01) for word in OUTCOMES]
    for counter in layout.counters:
        rows.append(row(counter.name, "mean", rng.uniform(1, 20), 0.3))
        if counter.bins:
            rows += [row(counter.name, f"p{q}", float(q // 4), 1.0) for q in (5, 25, 50, 75, 95)]
            rows += [row(f"{counter.name}_histogram", str(v), 1 / 8, 0.01) for v in range(4, 12)]
            rows += [] if counter.given else [row(counter.name, "share_any", 0.8, 0.02)]
    rows += [row(ratio.name, "all", rng.uniform(0, 4), 0.1) for ratio in layout.ratios]
    for prefix in SEAT_COLUMNS[1:]:
        rows += [row(prefix, str(p + 1), rng.uniform(1, 9), 0.2) for p in range(layout.seats)]
    return rows


def contrasts_of(sweep: Sweep, seed: int = 2) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    rows = []
    for group in sweep.groups:
        names = [
            ("win_share", "1"),
            ("outcome", "drawn"),
            ("turns", "mean"),
            ("kings", "mean"),
            ("sets", "mean"),
        ]
        for contrast in group.contrasts:
            head = (group.game, contrast.a, contrast.b, lineup_name(group), group.seats)
            for metric, key in names:
                value = rng.normal()
                rows.append(
                    (*head, metric, key, 400, value, value - 0.3, value + 0.3, 0.01, "higher", "made up")
                )
    return pd.DataFrame(rows, columns=list(CONTRAST_COLUMNS))


def manifest_of(sweep: Sweep) -> dict:
    cells = [
        {
            "game": group.game,
            "lineup": lineup_name(group),
            "seats": group.seats,
            "rulesets": [arm.name for arm in group.arms],
            "deals": group.games,
        }
        for group in sweep.groups
    ]
    return {"cells": cells, "versions": VERSIONS}


@pytest.fixture(scope="module")
def sweep(tmp_path_factory) -> Sweep:
    return sweep_of(tmp_path_factory.mktemp("sweep"))


@pytest.fixture(scope="module")
def tables(sweep) -> tuple[pd.DataFrame, pd.DataFrame]:
    return metrics_of(sweep), contrasts_of(sweep)


@pytest.fixture(scope="module")
def written(sweep, tables, tmp_path_factory) -> tuple[Path, list[Path]]:
    folder = tmp_path_factory.mktemp("report")
    return folder, write_report(sweep, *tables, manifest_of(sweep), folder)


@pytest.fixture(scope="module")
def texts(written) -> dict[str, str]:
    return {
        language: (written[0] / f"report.{language}.md").read_text(encoding="utf-8") for language in LANGUAGES
    }


@pytest.fixture
def shown(sweep, tables) -> view.View:
    (only,) = views(sweep, *tables)
    return only


@pytest.fixture
def sheet() -> Sheet:
    return Sheet("en", faces()[0])


# --- The report -------------------------------------------------------------------------------------------------------


def test_every_figure_exists_in_both_languages_and_formats_and_is_shown(written, texts, shown):
    """Warnings are errors here: no character of either language, nor the titles' odd ones, lacks a glyph."""
    folder, files = written
    names = [plot.name for plot in plan([shown])["paijie"]]
    assert names == [
        *("win_share_by_position", "outcomes", "turns", "win_share_by_aces_kings", "win_share_by_jokers"),
        *("win_share_by_card", "steps_limit", "effects_both", "change_v1.0_v1.1"),
    ]
    drawn = [f"{name}.{language}.{end}" for name in names for language in LANGUAGES for end in ("png", "svg")]
    assert files == [
        *(folder / f"report.{language}.md" for language in LANGUAGES),
        *(folder / "figures" / f for f in drawn),
    ]
    for file in files[2:]:
        content = file.read_bytes()
        assert content.startswith(b"\x89PNG" if file.suffix == ".png" else b"<?xml")
    for language, text in texts.items():
        linked = re.findall(r"\]\(figures/(.*?)\)", text)
        assert sorted(linked) == sorted(f"{name}.{language}.png" for name in names)


def test_stalled_is_always_told(texts, sweep, tables):
    for language, word in (("en", "stalled"), ("zh-Hant", "停滯")):
        assert re.search(rf"^\| .*{word}", texts[language], re.MULTILINE)
    assert "- **Stalled** (stopped by the length guard, with no winner): not a single game" in texts["en"]
    assert "- **停滯局**（達長度上限而中止，無人獲勝）：" in texts["zh-Hant"]
    for language, word in (("en", "stalled"), ("zh-Hant", "停滯")):
        assert word in terminal_text(sweep, tables, language, 100)


def test_stalled_games_are_told_with_their_share(sweep, tables, tmp_path, monkeypatch):
    metrics, contrasts = tables
    stalled = (metrics["metric"] == "outcome") & (metrics["key"] == "stalled")
    changed = metrics.copy()
    changed.loc[stalled, ["estimate", "low", "high"]] = 0.25, 0.2, 0.3
    monkeypatch.setattr(report, "write_figures", lambda *_: [])
    write_report(sweep, changed, contrasts, manifest_of(sweep), tmp_path)
    text = (tmp_path / "report.en.md").read_text(encoding="utf-8")
    assert (
        "games stalled in 16 of 16 combinations of ruleset, players and seats, at most 25.0 % [20.0, 30.0]"
        in text
    )


def test_the_report_answers_first_and_names_what_was_played(texts):
    for language, words in (
        ("en", ["Two or more?", "First?", "What changed?"]),
        ("zh-Hant", ["兩張以上？", "先手？"]),
    ):
        text = texts[language]
        places = [text.index(f"### {word}") for word in words]
        assert places == sorted(places)
        assert places[-1] < text.index("figures/")
        assert "fairdeal 1.2.3" in text
    assert "6,400 games: 400 deals at each table, seed 7." in texts["en"]
    assert "共 6,400 局：每桌 400 副發牌，亂數種子 7。" in texts["zh-Hant"]


def test_both_languages_have_the_same_tables(texts):
    shapes = {
        language: [line.count(" | ") for line in text.splitlines() if line.startswith("| ")]
        for language, text in texts.items()
    }
    assert len(shapes["en"]) > 100
    assert shapes["en"] == shapes["zh-Hant"]


def test_a_title_cannot_break_the_text(texts):
    assert texts["en"].startswith("# A $5 \\| &lt;b>title&lt;/b> 🦄\n")
    for text in texts.values():
        assert "{{" not in text
        assert "None" not in text
        assert not re.search(r"\bnan\b|\binf\b", text)
        assert "\n\n\n" not in text


def test_a_bold_lead_closes_before_chinese(texts):
    """`**詞。**字` stays unbold by CommonMark's rules; the mark must stand outside."""
    assert not re.search(r"\*\*[^*\n]*[。，：；）]\*\*[^\s：，。；（）]", texts["zh-Hant"])


def written_texts(folder: Path, sweep: Sweep, metrics: pd.DataFrame, contrasts: pd.DataFrame) -> list[str]:
    """The report in each language, without figures."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(report, "write_figures", lambda *_: [])
        write_report(sweep, metrics, contrasts, manifest_of(sweep), folder)
    return [(folder / f"report.{language}.md").read_text(encoding="utf-8") for language in LANGUAGES]


CHANGED = ("## What each change did", "## 每項調整造成的改變")
BESIDE = ("## Rulesets side by side", "## 各規則並列")


def test_nothing_compared_is_no_change(uneven, tmp_path):
    """With comparisons the section is there; with several rulesets and no comparison they stand side by side; a family
    of one ruleset says nothing."""
    contrasts = uneven[2]
    for text, changed, beside in zip(written_texts(tmp_path, *uneven), CHANGED, BESIDE, strict=True):
        assert text.count(changed) == 1
        assert beside not in text
        assert "### one" not in text
    alone = sweep_of(tmp_path, UNEVEN[: UNEVEN.index("  - {name: words")])
    for text, changed, beside in zip(
        written_texts(tmp_path, alone, metrics_of(alone), contrasts[:0]), CHANGED, BESIDE, strict=True
    ):
        assert changed not in text
        assert text.count(beside) == 1
    single = UNEVEN[: UNEVEN.index("  - {name: words")].replace(
        "[paijie/h0, paijie/h1, paijie/v1.1]", "paijie/v1.1"
    )
    one = sweep_of(tmp_path, single)
    for text, *headings in zip(
        written_texts(tmp_path, one, metrics_of(one), contrasts[:0]), CHANGED, BESIDE, strict=True
    ):
        assert not any(heading in text for heading in headings)


def test_a_loser_only_game_says_what_a_win_share_is(uneven, texts, tmp_path):
    defined = ("each has 1/(N−1) of it", "各得 1/(N−1)")
    lost = ("Share of games lost by position (%)", "各順位輸局的占比（%）")
    for text, words, heading in zip(written_texts(tmp_path, *uneven), defined, lost, strict=True):
        assert text.count(words) == 1
        assert text.count(heading) == 1
    for text, words in zip(texts.values(), defined, strict=True):
        assert words not in text


def test_classes_with_few_hands_show_only_how_many(texts, sweep, tables):
    metrics = tables[0]
    rows = metrics[
        (metrics["metric"] == "win_share_by_jokers")
        & (metrics["seats"] == 3)
        & (metrics["lineup"] == "random")
    ]
    few = rows[(rows["n"] < view.LEAST_HANDS) & ~rows["key"].str.startswith(">=")]
    assert not few.empty
    for text in texts.values():
        table = text[
            text.index("Jokers in the opening hand**" if text is texts["en"] else "起手 Joker 張數**") :
        ]
        cells = [line.split(" | ")[1:] for line in table.splitlines()[4:7]]
        for cell in (cell.strip(" |") for row in cells for cell in row):
            n = int(re.search(r"n = (\d+)$", cell).group(1))
            assert bool(re.fullmatch(r"n = \d+", cell)) == (n < view.LEAST_HANDS), cell


def test_classes_have_words(texts):
    for game in games().values():
        for part in game.partitions:
            if all(name.isdigit() for name in part.classes):
                assert not part.words
                continue
            assert len(part.words) == len(set(part.words)) == len(part.classes)
            for name in part.classes:
                words = part.class_words(name)
                assert "_" not in words["en"]
                assert re.search(r"[⺀-￿]", words["zh-Hant"])
    assert "set none, straight of 2" in texts["en"]
    assert "多條無、順子 2 張" in texts["zh-Hant"]
    for text in texts.values():
        assert "set1_run2" not in text


def test_titles_of_players_begin_alike():
    """Lower case within a line; a line begins with a capital."""
    folder = Path(report.__file__).parents[1] / "configs" / "players"
    for path in folder.glob("*.yaml"):
        title = load_player(path).title["en"]
        assert title == title.lower(), path.name
    assert report.capital("greedy") == "Greedy"


def test_points_are_not_called_per_cent(texts):
    first = texts["en"][texts["en"].index("### First?") :]
    assert "| estimate (points) | chi-square |" in first[: first.index("### What changed?")]
    changed = first[first.index("### What changed?") : first.index("## Who wins")]
    assert "win share of the first player (points)" in changed
    assert "(%)" not in changed
    assert "估計值（百分點）" in texts["zh-Hant"]


def test_wins_are_told_apart(texts):
    for text, words in (
        (
            texts["en"],
            ("goal reached (%)", "last survivor (%)", "Wins of a last survivor are counted by themselves."),
        ),
        (texts["zh-Hant"], ("達成目標獲勝（%）", "僅存者獲勝（%）", "僅存者獲勝的局另計。")),
    ):
        assert all(word in text for word in words)


def test_long_tables_are_folded():
    table = Table(["a", "b"], [["x|y", "<1"]] * 13, last=True)
    assert table.long
    assert table.markdown().splitlines()[:3] == ["| a | b |", "| :-- | :-- |", "| x\\|y | &lt;1 |"]
    assert not Table(["a"], [["x"]] * 12).long


def test_each_language_says_everything_with_the_same_blanks():
    for texts in (drawing_sheet.TEXT, report.TEXT):
        english, chinese = (texts[language] for language in LANGUAGES)
        assert english.keys() == chinese.keys()
        for key, text in english.items():
            blanks = [
                {name for _, name, _, _ in string.Formatter().parse(t) if name} for t in (text, chinese[key])
            ]
            assert blanks[0] == blanks[1], key


def test_the_templates_show_the_same_things():
    folder = Path(report.__file__).parent / "templates"
    used = [
        re.findall(
            r"chapter\.[\w.]+\(.*?\)|for \w+ in .*? %|if .*? %",
            (folder / f"report.{language}.md.j2").read_text(),
        )
        for language in LANGUAGES
    ]
    assert used[0] == used[1]


def test_no_game_is_named_here():
    """Words of a game come from its descriptor, so that a new game needs no change."""
    words = r"paijie|牌接|eliminat|淘汰|stuck|King|Queen|Ace\b"
    for module in (drawing_sheet, figures, plots, report, view):
        assert not re.search(words, Path(module.__file__).read_text(encoding="utf-8"))
    for template in (Path(report.__file__).parent / "templates").iterdir():
        assert not re.search(words, template.read_text(encoding="utf-8"))


# --- Files that stay as they are --------------------------------------------------------------------------------------


def test_the_same_results_make_the_same_bytes(written, sweep, tables, tmp_path):
    _, files = written
    again = write_report(sweep, *tables, manifest_of(sweep), tmp_path)
    assert [file.name for file in again] == [file.name for file in files]
    for one, other in zip(files, again, strict=True):
        assert one.read_bytes() == other.read_bytes(), one.name


def drawing(monkeypatch) -> list[str]:
    """Replace drawing by a stub; the list tells what was drawn."""
    drawn: list[str] = []

    def stub(folder: Path, plots: list[figures.Plot]) -> Iterator[tuple[str, str]]:
        for plot in plots:
            for language in LANGUAGES:
                for ending in figures.FORMATS:
                    name = plot.file(language, ending)
                    (folder / name).write_text(plot.name)
                    drawn.append(name)
                    yield name, hashlib.sha256(plot.name.encode()).hexdigest()

    monkeypatch.setattr(figures, "_draw", stub)
    return drawn


def test_unchanged_figures_are_kept(monkeypatch, tmp_path, shown):
    some = plan([shown])["paijie"][:3]
    drawn = drawing(monkeypatch)
    files = write_figures(tmp_path, some, "a")
    assert len(drawn) == len(files) == 12
    write_figures(tmp_path, some, "a")
    assert len(drawn) == 12
    write_figures(tmp_path, some, "b")
    assert len(drawn) == 24


@pytest.mark.parametrize("harm", ["missing", "damaged", "no stamp", "broken stamp", "odd stamp"])
def test_harmed_figures_are_drawn_again(harm, monkeypatch, tmp_path, shown):
    some = plan([shown])["paijie"][:1]
    drawn = drawing(monkeypatch)
    files = write_figures(tmp_path, some, "a")
    if harm == "missing":
        files[1].unlink()
    elif harm == "damaged":
        files[1].write_text("?")
    elif harm == "no stamp":
        (tmp_path / figures.STAMP).unlink()
    else:
        (tmp_path / figures.STAMP).write_text("{" if harm == "broken stamp" else '{"files": {"../x": ""}}')
    write_figures(tmp_path, some, "a")
    assert len(drawn) == 8
    assert all(file.is_file() for file in files)


def test_figures_of_an_earlier_sweep_are_removed_and_others_left(monkeypatch, tmp_path, shown):
    some = plan([shown])["paijie"]
    drawing(monkeypatch)
    write_figures(tmp_path, some[:2], "a")
    (tmp_path / "mine.png").write_text("mine")
    kept = write_figures(tmp_path, some[1:2], "a")
    assert {path.name for path in tmp_path.iterdir()} == {
        figures.STAMP,
        "mine.png",
        *(path.name for path in kept),
    }


def test_the_digest_changes_with_numbers_and_titles(sweep, tables, tmp_path):
    metrics, contrasts = tables
    before = report._inputs(sweep, metrics, contrasts)
    assert before == report._inputs(sweep, metrics.copy(), contrasts.copy())
    changed = metrics.copy()
    changed.loc[5, "estimate"] += 1e-6
    assert before != report._inputs(sweep, changed, contrasts)
    assert before != report._inputs(sweep_of(tmp_path, SWEEP.replace("Two,", "Zwei,")), metrics, contrasts)


def test_without_a_chinese_font_labels_are_english(monkeypatch, tmp_path, shown):
    monkeypatch.setattr(drawing_sheet, "packaged_font", lambda: None)
    monkeypatch.setattr(drawing_sheet, "CJK_FONTS", ())
    some = [plot for plot in plan([shown])[shown.game.name] if plot.name == "outcomes"]
    with pytest.warns(UserWarning, match="no font with Chinese characters"):
        one = write_figures(tmp_path, some, "a")
    by_name = {path.name: path.read_bytes() for path in one}
    assert by_name["outcomes.en.svg"] == by_name["outcomes.zh-Hant.svg"]


# --- Small parts ------------------------------------------------------------------------------------------------------


def test_a_character_without_a_glyph_becomes_a_question_mark(sheet):
    assert sheet.legible("♠7 憋七 🦄 Übung") == "♠7 憋七 ? Übung"


@pytest.mark.parametrize("inches", [0.5, 1.0, 3.0])
@pytest.mark.parametrize("name", ["v1", "v1.1+limit_value=7+king=tax", "x" * 90, "我的牌接規則" * 9])
def test_long_names_are_fitted(name, inches):
    lines = fitted(name, inches, 2).split("\n")
    assert len(lines) <= 2
    room = max(4, int(inches / (0.62 * drawing_sheet.SIZE / 72)))
    assert all(len(line) <= room for line in lines)
    if len(name) < room:
        assert lines == [name]


def test_wrapped_text_keeps_punctuation_with_its_character():
    text = "一二三，四五。六七（八九）十 abc def，ghi" * 3
    lines = wrapped(text, 11, cell_len)
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")
    assert all(line[0] not in "，。）" for line in lines)
    assert all(cell_len(line) <= 11 for line in lines)


@pytest.mark.parametrize(
    ("number", "scale", "half", "interval"),
    [
        (Number(9, 0.372, 0.310, 0.438), 100, "37.2 ±6.6", "37.2 [31.0, 43.8]"),
        (Number(9, 0.5, 0.4999, 0.5001), 100, "50.00 ±0.01", "50.00 [49.99, 50.01]"),
        (Number(9, 48.123, 47.8, 48.4), 1, "48.12 ±0.32", "48.12 [47.80, 48.40]"),
        (Number(9, 0.0, 0.0, 0.0), 1, "0.00 ±0.00", "0.00 [0.00, 0.00]"),
        (Number(1, 3.0, 0.0, np.inf), 1, "3.00", "3.00 [0.00, inf]"),
        (None, 1, "", ""),
    ],
)
def test_numbers_show_two_digits_of_their_interval(number, scale, half, interval):
    assert with_half(number, scale) == half
    assert with_interval(number, scale) == interval


def test_signs():
    assert with_half(Number(9, 0.05, 0.02, 0.08), 100, "+") == "+5.0 ±3.0"
    difference = Difference(9, -0.05, -0.08, -0.02, 0.01, "lower", 0.5)
    assert with_interval(difference, 100, "+") == "-5.0 [-8.0, -2.0]"
    assert difference.effect == pytest.approx(-0.1)


@pytest.mark.parametrize(
    ("estimate", "deviation", "effect", "slight"),
    [
        (0.2, 1.0, 0.2, False),
        (0.05, 1.0, 0.05, True),
        (3.0, 0.0, np.inf, False),
        (-3.0, 0.0, -np.inf, False),
        (0.0, 0.0, 0.0, True),
        (3.0, np.nan, 0.0, False),
    ],
)
def test_effects(estimate, deviation, effect, slight):
    difference = Difference(9, estimate, estimate - 0.1, estimate + 0.1, 0.01, "higher", deviation)
    assert (difference.effect, difference.slight) == (effect, slight)


def test_differences_are_bold_and_slight_ones_in_italics():
    clear = Difference(9, 0.5, 0.4, 0.6, 0.01, "higher", 1.0)
    assert report._difference(clear, "turns") == "**+0.50 [+0.40, +0.60]**"
    assert report._difference(clear._replace(deviation=9.0), "turns") == "*+0.50 [+0.40, +0.60]*"
    assert (
        report._difference(clear._replace(verdict="no clear difference"), "turns") == "+0.50 [+0.40, +0.60]"
    )
    assert report._difference(clear._replace(verdict="identical"), "turns") == "="


def comparison(lineup: str, **effects: float) -> view.Comparison:
    """Clear differences of measures that vary by 1 between games."""
    found = {
        (name, "mean"): Difference(99, x, x - 0.05, x + 0.05, 0.0, "higher", 1.0)
        for name, x in effects.items()
    }
    return view.Comparison("pair", "paijie/v1.0", "paijie/v1.1", "pair", lineup, 3, found)


def test_the_largest_changes_are_the_clear_ones_and_none_twice():
    one = comparison("random", turns=2.0, decisions=2.0, sets=0.01, kings=-0.5)
    unclear = Difference(99, 0.3, -0.1, 0.7, 1.0, "no clear difference", 1.0)
    one.differences["aces", "mean"] = unclear
    assert view.largest_changes([one]) == [("turns", "mean"), ("kings", "mean"), ("sets", "mean")]
    only = view.Comparison("pair", "a", "b", "pair", "random", 3, {("aces", "mean"): unclear})
    assert view.largest_changes([only]) == [("aces", "mean")]


def test_steps_of_a_toggle_ascend_with_none_last(shown):
    family = next(family for family in shown.families if family.name == "limit")
    assert shown.toggle(family) == "limit_value"
    assert [label for _, label in shown.steps(family)] == ["6", "10", "none"]
    assert shown.baseline(family) == "10"


def test_two_families_that_compare_the_same_keep_their_own_rows(sweep, tables):
    metrics, contrasts = tables
    (shown,) = views(sweep, metrics, contrasts)
    seen = {}
    for family in ("pair", "again"):
        (one,) = (c for c in shown.compared(family) if (c.lineup, c.seats) == ("random", 3))
        seen[family] = one.differences["turns", "mean"].estimate
    where = (
        (contrasts["a"] == "paijie/v1.0")
        & (contrasts["b"] == "paijie/v1.1")
        & (contrasts["lineup"] == "random")
    )
    rows = contrasts[where & (contrasts["seats"] == 3) & (contrasts["metric"] == "turns")]
    assert list(seen.values()) == list(rows["estimate"])
    assert len({c.family for c in shown.compared(a="paijie/v1.0", b="paijie/v1.1")}) == 1


def test_deviation_comes_back_out_of_the_interval(shown):
    case = Case("paijie/v1.0", "random", 3)
    assert shown.deviation([case, case], "turns", "mean") == pytest.approx(0.3 * 20 / 1.959964)
    assert np.isnan(shown.deviation([case], "nothing", "mean"))


def test_the_sample_of_one_game_makes_figures(sweep, tables, tmp_path, monkeypatch):
    """A single game bounds nothing: intervals are infinite, and nothing is compared."""
    metrics, contrasts = tables
    endless = metrics.assign(n=1, low=0.0, high=np.inf)
    names = ("outcomes", "steps_limit", "win_share_by_position", "change_v1.0_v1.1")
    shown = views(sweep, endless, contrasts)
    assert write_figures(tmp_path, [plot for plot in plan(shown)["paijie"] if plot.name in names], "a")


def test_nothing_heavy_is_imported_before_it_is_needed():
    code = "import sys, analysis.report; print([m for m in ('matplotlib', 'jinja2', 'rich') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


# --- Figures one by one -----------------------------------------------------------------------------------------------

UNEVEN = """
seed: 7
games: 400
lineups: [[random], [greedy]]
players:
  careful: {kind: weights, games: {paijie: {main: {gap: -1}}}}
families:
  - {name: few, rulesets: [paijie/h0, paijie/h1, paijie/v1.1], seats: [2, 5], contrast: none, lineups: [[random]]}
  - {name: one, rulesets: [paijie/v1.1], seats: [6], contrast: none, lineups: [[careful, random]]}
  - {name: words, rulesets: [paijie/v1.1], grid: {king: [lock_suit, tax, plain]}, seats: [3, 4], contrast: baseline}
  - {name: numbers, rulesets: [paijie/v1.1], grid: {limit_value: [10, none, 6, 8]}, seats: [3], contrast: baseline}
"""


@pytest.fixture(scope="module")
def uneven(tmp_path_factory) -> tuple[Sweep, pd.DataFrame, pd.DataFrame]:
    """Line-ups, numbers of seats and rulesets that meet at few tables; games with a loser at some."""
    sweep = sweep_of(tmp_path_factory.mktemp("uneven"), UNEVEN)
    metrics = metrics_of(sweep)
    five = metrics[(metrics["seats"] == 5) & (metrics["metric"] == "win_share") & (metrics["key"] != "all")]
    metrics = pd.concat([metrics, five.assign(metric="loss_share", estimate=0.2, low=0.17, high=0.23)])
    return sweep, metrics, contrasts_of(sweep)


@pytest.fixture(scope="module", params=["even", "uneven"])
def drawable(request, sweep, tables, uneven) -> view.View:
    (one,) = views(sweep, *tables) if request.param == "even" else views(*uneven)
    return one


@pytest.fixture
def uneven_view(uneven) -> view.View:
    (one,) = views(*uneven)
    return one


def drawn(plot: figures.Plot, language: str = "en") -> Figure:
    families, _ = faces()
    with mpl.rc_context({**drawing_sheet.RC, "font.family": families}):
        figure = plot.draw(Sheet(language, families), plot.title[language])
        FigureCanvasAgg(figure).draw()
    return figure


def named(shown: view.View, name: str) -> Figure:
    return drawn(next(plot for plot in plan([shown])[shown.game.name] if plot.name == name))


def words_of(figure: Figure) -> str:
    return " ".join(text.get_text() for text in figure.findobj(Text))


def caption_of(figure: Figure) -> str:
    return " ".join(figure.texts[1].get_text().split())


def texts_seen(figure: Figure) -> list[tuple[str, mpl.transforms.Bbox]]:
    """All texts that are drawn, with their places; ticks beyond the axis are not."""
    beyond = {
        label
        for axes in figure.axes
        for axis in (axes.xaxis, axes.yaxis)
        for tick in axis.get_major_ticks()
        for label in (tick.label1, tick.label2)
        if not min(axis.get_view_interval()) <= tick.get_loc() <= max(axis.get_view_interval())
    }
    texts = [text for text in figure.findobj(Text) if text.get_text().strip() and text not in beyond]
    return [(text.get_text(), text.get_window_extent()) for text in texts]


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_figure_has_a_cut_label_overlapping_texts_or_an_empty_panel(language, drawable):
    for plot in plan([drawable])["paijie"]:
        figure = drawn(plot, language)
        seen = texts_seen(figure)
        width, height = figure.bbox.size
        for text, box in seen:
            assert min(box.x0, box.y0, width - box.x1, height - box.y1) >= -1, (plot.name, text)
        for (one, box), (other, place) in itertools.combinations(seen, 2):
            wide = min(box.x1, place.x1) - max(box.x0, place.x0)
            high = min(box.y1, place.y1) - max(box.y0, place.y0)
            assert wide < 1.5 or high < 1.5, (plot.name, one, other)
        for axes in figure.axes:
            assert axes.has_data(), (plot.name, axes.get_title())


def test_tables_stand_side_by_side_with_only_the_rows_that_were_played(uneven_view):
    """Labels stand once for neighbouring panels that share them."""
    for name, rows in (
        ("outcomes", {"6 seats": 1, "3 seats": 2, "4 seats": 2, "2 seats": 3, "5 seats": 3}),
        ("turns", {"3 seats": 1, "4 seats": 1, "6 seats": 1, "2 seats": 3, "5 seats": 3}),
    ):
        panels = named(uneven_view, name).axes
        assert [axes.get_title(loc="left") for axes in panels] == list(rows)
        counts = list(rows.values())
        for k, axes in enumerate(panels):
            labels = [text.get_text() for text in axes.get_yticklabels() if text.get_text()]
            beside = k and panels[k - 1].get_position().y1 == axes.get_position().y1
            shared = beside and counts[k - 1] == counts[k]
            assert len(labels) == (0 if shared else counts[k]), axes.get_title(loc="left")
            low, high = sorted(axes.get_ylim())
            assert counts[k] <= high - low < counts[k] + 1


def test_games_that_all_end_alike_get_no_figure(sweep, tables):
    metrics, contrasts = tables
    outcome = metrics["metric"] == "outcome"
    alike = metrics.copy()
    alike.loc[outcome, "estimate"] = (metrics.loc[outcome, "key"] == "win").astype(float)
    (one,) = views(sweep, alike, contrasts)
    assert "outcomes" not in [plot.name for plot in plan([one])["paijie"]]


def test_who_loses_has_a_figure_of_its_own(uneven_view):
    names = [plot.name for plot in plan([uneven_view])["paijie"]]
    assert names[:2] == ["win_share_by_position", "loss_share_by_position"]
    winners, losers = (named(uneven_view, name) for name in names[:2])
    assert [axes.get_ylabel() for axes in losers.axes] == ["5 seats\nlost games, %"]
    assert not any("5 seats" in axes.get_ylabel() for axes in winners.axes)
    assert "an even split of the lost games" in caption_of(losers)
    assert "all others share the win" in caption_of(named(uneven_view, "win_share_by_aces_kings"))


def test_only_numbers_are_joined_by_lines(uneven_view):
    """An axis of words or versions has no order that a line could follow, and `none` is no number."""
    for name, joined in (("steps_words", 0), ("steps_numbers", 3)):
        for axes in named(uneven_view, name).axes:
            places = [
                line.get_xdata()
                for line in axes.lines
                if line.get_linestyle() == "-" and line.get_color() in drawing_sheet.COLOURS
            ]
            assert {len(x) for x in places} <= {joined}
            assert name == "steps_words" or len(places) == 2
    assert "Lines join numbers only." in caption_of(named(uneven_view, "steps_numbers"))


def test_steps_show_the_familys_line_ups_beside_each_other(uneven_view):
    figure = named(uneven_view, "steps_words")
    assert "careful" not in words_of(figure)
    axes = figure.axes[0]
    markers = [x for line in axes.lines if line.get_marker() not in ("None", "") for x in line.get_xdata()]
    assert len(markers) == len(set(markers)) == 3 * 2 * 2


def test_what_never_differs_is_said_and_not_drawn(uneven):
    sweep, metrics, contrasts = uneven
    constant = metrics.copy()
    turns = (metrics["metric"] == "turns") & (metrics["key"] == "mean")
    constant.loc[turns, ["estimate", "low", "high"]] = 52.0, 51.998, 52.002
    (one,) = views(sweep, constant, contrasts)
    figure = named(one, "steps_words")
    assert "turns" not in [axes.get_title(loc="left") for axes in figure.axes]
    assert "Equal in all of them: turns" in caption_of(figure)
    assert "+5.2e1" not in words_of(figure)


def forest_of(shown: view.View, **effects: float) -> Figure:
    families, _ = faces()
    with mpl.rc_context({**drawing_sheet.RC, "font.family": families}):
        return plots.forest(
            shown,
            [comparison("random", **effects), comparison("careful", **effects)],
            lambda sheet, c: sheet.say("seats", n=c.seats),
            Sheet("en", families),
            "title",
        )


def test_one_huge_effect_does_not_flatten_the_others(shown):
    others = {"kings": 0.5, "queens": -0.4, "sets": 0.3, "aces": 0.2, "jacks": 0.15}
    figure = forest_of(shown, turns=-35.0, **others)
    (axes,) = figure.axes
    low, high = axes.get_xlim()
    assert -1 < low < -0.45
    assert 0.55 < high < 1
    assert [text.get_text() for text in axes.texts] == ["← -35.0", "← -35.0"]
    assert "Arrows: beyond the axis, which is cut; the number is the effect." in caption_of(figure)


def test_an_effect_without_any_variation_is_an_arrow(shown):
    one = comparison("random", kings=0.5)
    one.differences["turns", "mean"] = Difference(99, -3.0, -3.0, -3.0, 0.0, "lower", 0.0)
    families, _ = faces()
    figure = plots.forest(shown, [one], lambda sheet, c: "seats", Sheet("en", families), "title")
    assert [text.get_text() for text in figure.axes[0].texts] == ["← -∞"]


@pytest.mark.parametrize("largest", [0.5, 2.0])
def test_ordinary_effects_are_not_cut(shown, largest):
    figure = forest_of(shown, turns=largest, kings=0.5, queens=-0.4, sets=0.3, aces=0.2)
    assert not figure.axes[0].texts
    assert "Arrows" not in caption_of(figure)


def test_an_only_joker_is_just_the_joker(sweep, tables):
    metrics, contrasts = tables
    (two,) = views(sweep, metrics, contrasts)
    (one,) = views(sweep, metrics[metrics["key"] != "RJ"], contrasts)
    assert (two.card("BJ"), one.card("BJ"), one.card("S7")) == ("BJ", "Joker", "♠7")
    assert "BJ, RJ" in words_of(named(two, "win_share_by_card"))
    assert "BJ" not in words_of(named(one, "win_share_by_card"))


def test_line_ups_whose_games_never_end_are_named_and_left_out(sweep, tables):
    metrics, contrasts = tables
    stalled = metrics.copy()
    never = (metrics["lineup"] == "careful") & (metrics["metric"] == "win_share")
    stalled.loc[never, ["estimate", "low", "high"]] = 0.0, 0.0, 0.001
    (one,) = views(sweep, stalled, contrasts)
    for name in ("win_share_by_position", "win_share_by_card", "win_share_by_jokers"):
        figure = named(one, name)
        assert "Not shown: Careful, whose games hardly ever end." in caption_of(figure)
        titles = [axes.get_title(loc="left") for axes in figure.axes]
        assert "Careful" not in titles
        assert "Careful" not in [text.get_text() for legend in figure.legends for text in legend.texts]


def test_a_games_name_stands_once_in_a_title(sweep, tables, tmp_path):
    text = SWEEP.replace("{en: Two, zh-Hant: 兩套}", '{en: "Pai Jie: two", zh-Hant: "牌接：兩套"}')
    families = sweep_of(
        tmp_path,
        text.replace(
            "rulesets: [paijie/v1.0, paijie/v1.1], seats: [2, 3]",
            "rulesets: [paijie/h0, paijie/v1.0, paijie/v1.1], seats: [2, 3]",
        ),
    )
    (one,) = views(families, metrics_of(families), contrasts_of(families))
    titles = [plot.title["en"] for plot in figures._plots(one, True)]
    assert "Pai Jie: two: key measures" in titles
    assert all(title.count("Pai Jie") == 1 for title in titles)


def test_a_yes_or_no_is_drawn_in_percent(tmp_path):
    rulesets = "[ninety_nine/default, ninety_nine/elimination, ninety_nine/lives]"
    text = (
        "games: 400\nlineups: [[random]]\nfamilies:\n"
        f"  - {{name: ends, rulesets: {rulesets}, seats: [4], contrast: baseline}}\n"
    )
    ends = sweep_of(tmp_path, text)
    (one,) = views(ends, metrics_of(ends), contrasts_of(ends))
    titles = [axes.get_title(loc="left") for axes in named(one, "steps_ends").axes]
    assert "games in which the total reached 99, %" in titles


# --- The terminal -----------------------------------------------------------------------------------------------------


def terminal_text(sweep: Sweep, tables: tuple[pd.DataFrame, pd.DataFrame], language: str, width: int) -> str:
    file = io.StringIO()
    Console(file=file, width=width).print(terminal_summary(sweep, *tables, language))
    return file.getvalue()


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("width", [80, 120])
def test_the_terminal_summary_fits(language, width, sweep, tables):
    text = terminal_text(sweep, tables, language, width)
    assert max(cell_len(line) for line in text.splitlines()) <= width
    assert "\x1b" not in text
    assert text.index(sweep.answers[0].title[language]) == 0
    rows = [line for line in text.splitlines() if re.match(r" ?(v1|limit|jp)", line)]
    assert len(rows) == 16
    assert "..." not in text
    assert "…" not in text


def test_the_terminal_summary_shows_shares_and_what_stalled(sweep, tables):
    text = terminal_text(sweep, tables, "en", 100)
    metrics = tables[0]
    first = metrics[
        (metrics["ruleset"] == "paijie/v1.0") & (metrics["metric"] == "win_share") & (metrics["seats"] == 2)
    ]
    shares = [f"{100 * value:.1f}" for value in first["estimate"][:2]]
    line = next(line for line in text.splitlines() if line.startswith("v1.0"))
    assert line.split()[1:4] == [*shares, "3.0"]
    assert line.split()[-3:-1] == ["4.00", "0"]
