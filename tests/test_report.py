"""Reports, figures and the terminal summary of a small made-up sweep, in both languages."""

from __future__ import annotations

import io
import re
import string
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
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
from sim.config import Sweep, load_sweep
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

    def stub(folder: Path, plots: list[figures.Plot]) -> None:
        for plot in plots:
            for language in LANGUAGES:
                for ending in figures.FORMATS:
                    (folder / plot.file(language, ending)).write_text(plot.name)
                    drawn.append(plot.file(language, ending))

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
    some = [plot for plot in plan([shown])["paijie"] if plot.name == "outcomes"]
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
    assert shown.deviation([case], "nothing", "mean") == 0


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
