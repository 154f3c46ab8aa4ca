"""The report of a sweep in every language, and the summary for the terminal.

The prose is in `templates/`, one template a language; this module makes the tables that go into it. Long tables are
folded. A report depends on the tables, the sweep and the manifest's record of what was played only: the same results
make the same bytes.
"""

from __future__ import annotations

import functools
import hashlib
import json
import math
import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from analysis import stats
from analysis.answers import HEADINGS, RELEVANT, VERDICTS, Answer, answers
from analysis.figures import Plot, plan, write_figures
from analysis.metrics import ALPHA, IDENTICAL
from analysis.sheet import LEVEL, OUTCOME_WORDS
from analysis.view import (
    LANGUAGES,
    LEAST_HANDS,
    Case,
    Comparison,
    Difference,
    Number,
    View,
    largest_changes,
    views,
    wrapped,
)
from sim.config.values import shown
from sim.store import replace_file, source_digest

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType

    from sim.config import Family, Sweep
    from sim.games import Words

LONG = 12
"""Tables with more rows are folded."""

MOST_CARDS = 8
"""A list of cards names at most so many."""

SHARES = ("win_share", "outcome")
"""Metrics that are shares: their differences are told in percentage points."""

TEXT: Mapping[str, Mapping[str, str]] = {
    "en": {
        "measure": "measure",
        "seats": "{n} seats",
        "position": "position {n}",
        "advantage": "first player's advantage, points",
        "par": "par",
        "class": "class",
        "better": "clearly better than par",
        "worse": "clearly worse than par",
        "nothing": "none",
        "more": "{list} and {n} more",
        "comma": ", ",
        "toggles": "toggles that differ from the game's defaults",
        "none": "none",
        "title": "title",
        "deals": "deals",
        "rulesets": "rulesets",
        "name": "name",
        "change": "change",
        "interaction": "interaction of both",
        "other": "zh-Hant",
        "other_heading": "中文",
        "any": "games with any {name} (%)",
        "per_game": "mean per game",
        "turns": "turns",
        "percent": "{name} (%)",
        "points": "{name} (points)",
        "hands": "{share}, n = {n}",
        "few_hands": "n = {n}",
        "folded": "{caption}: {words} ({n} rows)",
        "folded_bare": "{words} ({n} rows)",
        "moves": "legal\nmoves",
        "summary": "{lineup}, {seats} seats, {n} games a row: win share (%) of position 1 to {seats}",
        "draws": "cards drawn",
        "decisions": "decisions",
        "choices": "decisions with more than one legal move",
        "largest_hand": "largest hand",
        "score": "score",
    },
    "zh-Hant": {
        "measure": "指標",
        "seats": "{n} 人",
        "position": "第 {n} 順位",
        "advantage": "先手優勢（百分點）",
        "par": "平均勝率",
        "class": "類別",
        "better": "明顯高於平均",
        "worse": "明顯低於平均",
        "nothing": "無",
        "more": "{list}，以及其他 {n} 張",
        "comma": "、",
        "toggles": "與遊戲預設值不同的開關",
        "none": "無",
        "title": "名稱",
        "deals": "發牌副數",
        "rulesets": "規則數",
        "name": "代號",
        "change": "調整",
        "interaction": "兩者的交互作用",
        "other": "en",
        "other_heading": "English",
        "any": "{name}不為 0 的局（%）",
        "per_game": "每局平均",
        "turns": "回合",
        "percent": "{name}（%）",
        "points": "{name}（百分點）",
        "hands": "{share}，n = {n}",
        "few_hands": "n = {n}",
        "folded": "{caption}：{words}（{n} 列）",
        "folded_bare": "{words}（{n} 列）",
        "moves": "合法\n著數",
        "summary": "{lineup}，{seats} 人，每列 {n} 局：第 1 至第 {seats} 順位的勝率（%）",
        "draws": "抽牌張數",
        "decisions": "決策數",
        "choices": "有選擇的決策數",
        "largest_hand": "最大手牌張數",
        "score": "得分",
    },
}


@dataclass(frozen=True)
class Table:
    """A table of texts.

    Attributes:
        words: the first so many columns are words, the rest numbers.
        caption: said above the table, may be empty.
        last: whether the last column is words too.
    """

    headings: Sequence[str]
    rows: Sequence[Sequence[str]]
    words: int = 1
    caption: str = ""
    last: bool = False

    @property
    def long(self) -> bool:
        """Whether the table is to be folded."""
        return len(self.rows) > LONG

    def markdown(self) -> str:
        """The table in Markdown."""
        rules = [":--"] * self.words + ["--:"] * (len(self.headings) - self.words)
        rules[-1] = ":--" if self.last else rules[-1]
        lines = [
            [_escaped(cell) for cell in self.headings],
            rules,
            *([_escaped(c) for c in row] for row in self.rows),
        ]
        return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _folded(table: Table, words: str, language: str) -> str:
    """What is said on a folded table."""
    key = "folded" if table.caption else "folded_bare"
    return _escaped(TEXT[language][key].format(caption=table.caption, words=words, n=len(table.rows)))


def _escaped(text: str) -> str:
    """A text that Markdown shows as it is inside a table or a line."""
    return " ".join(text.replace("|", "\\|").replace("<", "&lt;").split())


def write_report(
    sweep: Sweep, metrics: pd.DataFrame, contrasts: pd.DataFrame, manifest: Mapping[str, Any], folder: Path
) -> list[Path]:
    """Write `report.en.md`, `report.zh-Hant.md` and the figures into a results folder.

    Args:
        sweep: the sweep that was played.
        metrics, contrasts: its tables, as they come back from their files.
        manifest: the folder's manifest; its `cells` and `versions` are told in the report.
        folder: where to write.

    Returns:
        The files of the report: the texts, then the figures.
    """
    games = views(sweep, metrics, contrasts)
    plots = plan(games)
    all_plots = [plot for mine in plots.values() for plot in mine]
    figures = write_figures(folder / "figures", all_plots, _inputs(sweep, metrics, contrasts))
    found = answers(sweep, metrics, contrasts)
    texts = []
    for language in LANGUAGES:
        texts.append(folder / f"report.{language}.md")
        text = _rendered(language, sweep, games, plots, found, metrics, manifest)
        replace_file(texts[-1], text.encode())
    return [*texts, *figures]


def _inputs(sweep: Sweep, metrics: pd.DataFrame, contrasts: pd.DataFrame) -> str:
    """A digest of all that the figures show: the tables, the sweep with its titles, the games with their words."""
    digest = hashlib.sha256(json.dumps(sweep.resolved, sort_keys=True).encode())
    for frame in (metrics, contrasts):
        digest.update(pd.util.hash_pandas_object(frame, index=False).to_numpy().tobytes())
    for game in sorted({group.game for group in sweep.groups}):
        digest.update(source_digest(game).encode())
    return digest.hexdigest()


def _rendered(
    language: str,
    sweep: Sweep,
    games: Sequence[View],
    plots: Mapping[str, Sequence[Plot]],
    found: Sequence[Answer],
    metrics: pd.DataFrame,
    manifest: Mapping[str, Any],
) -> str:
    """The report's text in a language."""
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent / "templates"),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,  # the result is Markdown
    )
    environment.filters["plain"] = _escaped
    environment.filters["capital"] = capital
    environment.globals["folded"] = functools.partial(_folded, language=language)
    cells = manifest["cells"]
    by_game = {view.game.name: view for view in games}
    asked = [by_game.get(question.a.partition("/")[0], games[0]) for question in sweep.answers]
    text: str = environment.get_template(f"report.{language}.md.j2").render(
        language=language,
        sweep=sweep,
        several_games=len(games) > 1,
        answers=[_Answered(answer, view, language) for answer, view in zip(found, asked, strict=True)],
        chapters=[_Chapter(view, plots[view.game.name], language) for view in games],
        games=sum(cell["deals"] * len(cell["rulesets"]) for cell in cells),
        deals=sorted({cell["deals"] for cell in cells}),
        played=_played(cells, by_game, language),
        versions=manifest["versions"],
        methods=sorted(set(metrics["method"])),
        level=LEVEL,
        alpha=f"{ALPHA:.2g}",
        relevant=RELEVANT,
        least_hands=LEAST_HANDS,
    )
    return re.sub(r"\n{3,}", "\n\n", text)


def _played(cells: Sequence[Mapping[str, Any]], games: Mapping[str, View], language: str) -> Table:
    """What was played: a row a table of players."""
    headings = [HEADINGS["lineup"][language], HEADINGS["seats"][language]]
    headings += [TEXT[language][key] for key in ("rulesets", "deals")]
    rows = []
    for cell in cells:
        lineup = games[cell["game"]].lineup(cell["lineup"], language)
        rows.append([lineup, str(cell["seats"]), str(len(cell["rulesets"])), f"{cell['deals']:,}"])
    return Table(headings, rows)


class _Answered:
    """An answer for a template."""

    def __init__(self, answer: Answer, view: View, language: str) -> None:
        self.question = answer.question[language]
        self.verdict = answer.verdict[language]
        self.details = answer.details[language]
        self.evidence = _evidence(answer, view, language)


# --- Numbers ----------------------------------------------------------------------------------------------------------


def _digits(half: float, scale: float) -> int:
    """Decimals at which an interval of this half-width shows two digits; at most 4, for percentages 2."""
    if not (math.isfinite(half) and half > 0):
        return 2
    return max(0, min(2 if scale == 100 else 4, 1 - math.floor(math.log10(half * scale))))


def with_half(number: Number | None, scale: float = 1.0, sign: str = "") -> str:
    """An estimate with the longer side of its interval: `48.1 ±0.3`; `sign` "+" shows plus signs."""
    if number is None:
        return ""
    digits = _digits(number.half, scale)
    reach = f" ±{number.half * scale:.{digits}f}" if math.isfinite(number.half) else ""
    return f"{number.estimate * scale:{sign}.{digits}f}{reach}"


def with_interval(number: Number | Difference | None, scale: float = 1.0, sign: str = "") -> str:
    """An estimate with its interval: `37.2 [31.0, 43.8]`."""
    if number is None:
        return ""
    low, high = number.low * scale, number.high * scale
    digits = _digits((number.high - number.low) / 2, scale)
    return f"{number.estimate * scale:{sign}.{digits}f} [{low:{sign}.{digits}f}, {high:{sign}.{digits}f}]"


def _p(value: float) -> str:
    return "<0.001" if value < 0.001 else f"{value:.3f}"


def _difference(difference: Difference | None, metric: str) -> str:
    """A paired difference; when it is clear after the correction in bold, a slight one in italics."""
    if difference is None:
        return ""
    if difference.verdict == IDENTICAL:
        return "="
    text = with_interval(difference, 100 if metric in SHARES else 1, "+")
    if not difference.clear:
        return text
    return f"*{text}*" if difference.slight else f"**{text}**"


# --- Evidence ---------------------------------------------------------------------------------------------------------


def _evidence(answer: Answer, view: View, language: str) -> Table:
    """The rows behind an answer in words; an interval stands behind its estimate."""
    frame = answer.evidence
    inside = {"low", "high", "par_low", "par_high", "key"}
    columns = [name for name in frame.columns if name not in inside]
    headings = [_evidence_heading(name, answer.kind, language) for name in columns]
    rows = [
        [_evidence_cell(name, row, answer.kind, view, language) for name in columns] for row in _rows(frame)
    ]
    return Table(headings, rows, 2 if "ruleset" in columns else 1, last=True)


def _in_unit(name: str, share: bool, language: str, unit: str = "percent") -> str:
    """A heading, with the unit when its column holds shares, or the `points` between them."""
    return TEXT[language][unit].format(name=name) if share else name


def capital(text: str) -> str:
    """A text as the beginning of a line."""
    return text[:1].upper() + text[1:]


def _rows(frame: pd.DataFrame) -> list[dict[str, Any]]:
    return [dict(zip(frame.columns, row, strict=True)) for row in frame.itertuples(index=False)]


def _evidence_heading(name: str, kind: str, language: str) -> str:
    share = name in ("estimate", "par") and kind != "change"
    unit = "points" if kind == "first_player" else "percent"
    return _in_unit(HEADINGS[name][language], share, language, unit)


def _evidence_cell(name: str, row: Mapping[str, Any], kind: str, view: View, language: str) -> str:
    value = row[name]
    if name == "ruleset":
        return view.label(value)
    if name == "lineup":
        return view.lineup(value, language)
    if name == "metric":
        return _in_unit(view.words(value, row["key"], language), value in SHARES, language, "points")
    if name == "verdict":
        return VERDICTS[value][language]
    if name == "n":
        return f"{value:,}"
    if name == "p_adjusted":
        return _p(value)
    if name == "par":
        return f"{100 * value:.2f}"
    if name == "estimate":
        number = Number(0, value, row["low"], row["high"])
        share = kind != "change" or row["metric"] in SHARES
        return with_interval(number, 100 if share else 1, "" if kind == "opening_class" else "+")
    if isinstance(value, float):
        if math.isnan(value):
            return ""
        return f"{value:+.2f}".replace("inf", "∞") if name == "effect" else f"{value:.1f}"
    return str(value)


# --- A game's chapter -------------------------------------------------------------------------------------------------


class _Chapter:
    """What the template says of one game: its tables by topic, and its figures."""

    def __init__(self, view: View, plots: Sequence[Plot], language: str) -> None:
        self.view = view
        self.language = language
        self.title = view.game.title[language]
        self._plots = plots

    def say(self, key: str, **parts: Any) -> str:
        """A text of `TEXT`."""
        return TEXT[self.language][key].format(**parts)

    def figures(self, topic: str) -> list[tuple[str, str]]:
        """(title, file) of the figures of a topic."""
        return [
            (p.title[self.language], p.file(self.language, "png")) for p in self._plots if p.topic == topic
        ]

    @property
    def lineups(self) -> list[str]:
        """The line-ups in words."""
        return [self.view.lineup(name, self.language) for name in self.view.lineups]

    @property
    def seats(self) -> int:
        """The number of seats of the tables that show only one."""
        return self.view.most_seats

    def words(self, metric: str, key: str = "") -> str:
        """What a number measures."""
        return self.view.words(metric, key, self.language)

    def rulesets(self) -> Table:
        """The rulesets with their titles and what sets them apart."""
        headings = [self.say("name"), self.say("title"), self.say("toggles")]
        rows = [(self.view.label(name), *self._ruleset(name)) for name in self.view.main]
        return Table(headings, rows, 3)

    def _ruleset(self, name: str) -> tuple[str, str]:
        ruleset = self.view.ruleset(name)
        words = ", ".join(f"{key} {shown(value)}" for key, value in ruleset.changes().items())
        return ruleset.title[self.language], words or self.say("none")

    def matrices(self, metric: str, key: str, scale: float = 1.0, sign: str = "") -> list[Table]:
        """A metric for every main ruleset and number of seats, a table a line-up."""
        tables = []
        for lineup in self.view.lineups:
            rows = []
            for name in self.view.main:
                numbers = [self.view.number(Case(name, lineup, n), metric, key) for n in self.view.seats]
                if any(numbers):
                    rows.append(
                        [self.view.label(name), *(with_half(number, scale, sign) for number in numbers)]
                    )
            headings = [
                HEADINGS["ruleset"][self.language],
                *(self.say("seats", n=n) for n in self.view.seats),
            ]
            if rows:
                tables.append(Table(headings, rows, 1, self._of(lineup)))
        return tables

    def _of(self, lineup: str) -> str:
        """The caption of a line-up's table."""
        return capital(self.view.lineup(lineup, self.language))

    # Who wins

    @property
    def loses(self) -> bool:
        """Whether there are cases whose games only find a loser."""
        return any(map(self.view.loses, self.view.cases()))

    def positions(self) -> list[Table]:
        """Win shares by position of all cases, a table a number of seats."""
        return self._by_seats("win_share", self.view.cases(), ["all"], [self.say("par")])

    def losses(self) -> list[Table]:
        """Shares of games lost by position of the cases whose games only find a loser, a table a number of seats."""
        return self._by_seats("loss_share", list(filter(self.view.loses, self.view.cases())), [], [])

    def _by_seats(
        self, metric: str, cases: Sequence[Case], keys: Sequence[str], headings: Sequence[str]
    ) -> list[Table]:
        """A share by position, and further keys under their headings, a table a number of seats."""
        tables = []
        for n in sorted({case.seats for case in cases}):
            heads = [HEADINGS[name][self.language] for name in ("ruleset", "lineup")]
            heads += [*(self.say("position", n=k + 1) for k in range(n)), *headings]
            every = [*(str(k + 1) for k in range(n)), *keys]
            rows = [
                [*self._head(case), *(with_half(self.view.number(case, metric, key), 100) for key in every)]
                for case in cases
                if case.seats == n
            ]
            tables.append(Table(heads, rows, 2, self.say("seats", n=n)))
        return tables

    def _head(self, case: Case) -> tuple[str, str]:
        return self.view.label(case.ruleset), self.view.lineup(case.lineup, self.language)

    # How games end

    def unfinished(self, outcome: str) -> dict[str, Any]:
        """How often games end in an outcome: in how many cases of how many, the largest share and where, and the
        largest upper limit (per cent)."""
        found = {
            case: number
            for case in self.view.cases()
            if (number := self.view.number(case, "outcome", outcome))
        }
        worst = max(found, key=lambda case: found[case].estimate)
        return {
            "cases": sum(number.estimate > 0 for number in found.values()),
            "of": len(found),
            "most": with_interval(found[worst], 100).replace(" [", " % ["),
            "where": [*self._head(worst), self.say("seats", n=worst.seats)],
            "high": f"{100 * max(number.high for number in found.values()):.2g}",
        }

    def endings(self) -> Table:
        """The shares of all outcomes in all cases."""
        outcomes = self.view.outcomes()
        headings = [HEADINGS[name][self.language] for name in ("ruleset", "lineup", "seats")]
        headings += [_in_unit(OUTCOME_WORDS[word][self.language], True, self.language) for word in outcomes]
        rows = [
            [
                *self._head(case),
                str(case.seats),
                *(with_interval(self.view.number(case, "outcome", word), 100) for word in outcomes),
            ]
            for case in self.view.cases()
        ]
        return Table(headings, rows, 2)

    # Opening hands

    def classes(self) -> list[Table]:
        """Win share by the class of the opening hand, a table a partition, for the rulesets in focus; of classes with
        few hands only how many there are."""
        return [table for part in self.view.game.partitions if (table := self._class_table(part.name))]

    def _class_table(self, partition: str) -> Table | None:
        metric = f"win_share_by_{partition}"
        cases = self.view.cases(self.view.focus, seats=[self.seats])
        marks = {case: self._marks(case, metric) for case in cases}
        part = next(part for part in self.view.game.partitions if part.name == partition)
        rows = []
        for name in part.classes:
            numbers = [self.view.number(case, metric, name) for case in cases]
            cells = [
                self._hands(x, marks[case].get(name, "")) for case, x in zip(cases, numbers, strict=True)
            ]
            if any(numbers):
                rows.append([part.class_words(name)[self.language], *cells])
        headings = [self.say("class"), *(", ".join(self._head(case)) for case in cases)]
        words = {"en": part.en, "zh-Hant": part.zh}[self.language]
        return Table(headings, rows, 1, capital(words)) if len(rows) > 1 else None

    def _hands(self, number: Number | None, mark: str) -> str:
        """A share with its number of hands; of few hands only that."""
        if number is None:
            return ""
        n = f"{number.n:,}"
        if number.n < LEAST_HANDS:
            return self.say("few_hands", n=n)
        return self.say("hands", share=with_interval(number, 100) + mark, n=n)

    def _marks(self, case: Case, metric: str) -> dict[str, str]:
        """An arrow for each class or card that is clearly above or below par, after Holm over all of them with enough
        hands."""
        numbers = self.view.keys(case, metric)
        keys = [key for key, x in numbers.items() if not key.startswith(">=") and x.n >= LEAST_HANDS]
        tests = [self.view.number(case, f"{metric}_p_value", key) for key in keys]
        par = self.view.number(case, "win_share", "all")
        if par is None or not keys or not all(tests):
            return {}
        adjusted = stats.holm([test.estimate for test in tests if test])
        clear = [key for key, p in zip(keys, adjusted.tolist(), strict=True) if p < ALPHA]
        return {key: " ▲" if numbers[key].estimate > par.estimate else " ▼" for key in clear}

    def cards(self) -> Table | None:
        """The opening cards that clearly help or hurt, with points above par, for the rulesets in focus."""
        rows = []
        for case in self.view.cases(self.view.focus, seats=[self.seats]):
            numbers = self.view.keys(case, "win_share_by_card")
            par = self.view.number(case, "win_share", "all")
            if par is None or not numbers:
                continue
            marks = self._marks(case, "win_share_by_card")
            above = {key: 100 * (numbers[key].estimate - par.estimate) for key in marks}
            order = sorted(above, key=lambda key: -above[key])
            good = [f"{self.view.card(key)} {above[key]:+.1f}" for key in order if above[key] > 0]
            bad = [f"{self.view.card(key)} {above[key]:+.1f}" for key in reversed(order) if above[key] < 0]
            rows.append([*self._head(case), self._listed(good), self._listed(bad)])
        headings = [HEADINGS[name][self.language] for name in ("ruleset", "lineup")]
        return Table([*headings, self.say("better"), self.say("worse")], rows, 4) if rows else None

    def _listed(self, items: Sequence[str]) -> str:
        named = self.say("comma").join(items[:MOST_CARDS]) or self.say("nothing")
        return self.say("more", list=named, n=len(items) - MOST_CARDS) if len(items) > MOST_CARDS else named

    # What each change did

    @property
    def compared(self) -> bool:
        """Whether any two rulesets were compared deal by deal."""
        return any(comparison.differences for comparison in self.view.comparisons)

    def families(self) -> list[dict[str, Any]]:
        """The families with more than one ruleset: title, the number of seats of its tables, values by ruleset, and
        differences."""
        found = []
        for family in self.view.families:
            if len(family.rulesets) < 2:
                continue
            seats = self.seats if self.seats in family.seats else family.seats[0]
            lineups = self.view.family_lineups(family)
            tables = [self._values(family, lineup, seats) for lineup in lineups]
            changes = [self._changes(family, lineup, seats) for lineup in lineups]
            found.append(
                {
                    "title": family.title[self.language],
                    "seats": seats,
                    "values": [table for table in tables if table.rows],
                    "changes": [table for table in changes if table],
                }
            )
        return found

    def _values(self, family: Family, lineup: str, seats: int) -> Table:
        """Key measures of every ruleset of a family."""
        steps = self.view.steps(family)
        columns: list[tuple[str, str, str, float, str]] = [
            ("turns", "mean", self.words("turns"), 1, ""),
            ("first_player_advantage", "all", self.say("advantage"), 100, "+"),
            ("moves_per_decision", "all", self.words("moves_per_decision"), 1, ""),
        ]
        for event in self.view.events[:1]:
            columns.append((event.name, "mean", self.words(event.name), 1, ""))
            columns.append((event.name, "share_any", self.say("any", name=self.words(event.name)), 100, ""))
        for counter in self.view.telling_counters(self.view.family_cases(family))[:2]:
            columns.append((counter.name, "mean", self.words(counter.name), 1, ""))
        columns += [
            ("outcome", word, _in_unit(OUTCOME_WORDS[word][self.language], True, self.language), 100, "")
            for word in ("drawn", "stalled")
        ]
        cases = [(label, Case(name, lineup, seats)) for name, label in steps]
        played = [(label, case) for label, case in cases if self.view.keys(case, "turns")]
        used = [c for c in columns if any(self.view.number(case, c[0], c[1]) for _, case in played)]
        rows = [
            [label, *(with_half(self.view.number(case, c[0], c[1]), *c[3:]) for c in used)]
            for label, case in played
        ]
        first = self.view.toggle(family) or HEADINGS["ruleset"][self.language]
        return Table([first, *(c[2] for c in used)], rows, 1, self._of(lineup))

    def _changes(self, family: Family, lineup: str, seats: int) -> Table | None:
        """Paired differences of a family, a row a contrast: length, first player and outcomes, then the four of the
        game's own counters with the largest effects."""
        mine = [
            c
            for c in self.view.compared(family.name)
            if (c.lineup, c.seats) == (lineup, seats) and c.differences
        ]
        if not mine:
            return None
        always = [("turns", "mean"), ("win_share", "1"), ("outcome", "drawn"), ("outcome", "stalled")]
        names = [name for name in always if any(name in c.differences for c in mine)]
        own = {counter.name for counter in self.view.game.counters}
        changes = largest_changes(mine)
        names += [name for name in changes if name[0] == "score"][:1]
        names += [name for name in changes if name[0] in own][:4]
        words = [_in_unit(self.words(*name), name[0] in SHARES, self.language, "points") for name in names]
        rows = [
            [self._contrast(family, c), *(_difference(c.differences.get(name), name[0]) for name in names)]
            for c in mine
        ]
        return Table([self.say("change"), *words], rows, 1, self._of(lineup))

    def _contrast(self, family: Family, comparison: Comparison) -> str:
        if comparison.kind == "interaction":
            return self.say("interaction")
        labels = dict(self.view.steps(family))
        a, b = (labels.get(name, name.rpartition("=")[2]) for name in (comparison.a, comparison.b))
        toggle = self.view.toggle(family) or (
            comparison.a.partition("=")[0] if comparison.kind == "main" else ""
        )
        return f"{toggle} {a} → {b}".strip()

    # What happens in a game

    def counters(self) -> list[Table]:
        """The means of all counters and ratios for the main rulesets, a table a line-up."""
        return [self._counter_table(lineup) for lineup in self.view.lineups]

    def _counter_table(self, lineup: str) -> Table:
        cases = self.view.cases(self.view.main, [lineup], [self.seats])
        names = [(counter.name, "mean") for counter in self.view.counters]
        names += [(name, "all") for name in self.view.ratios]
        rows = []
        for metric, key in names:
            numbers = [self.view.number(case, metric, key) for case in cases]
            if any(number is not None and number.estimate for number in numbers):
                other = self.view.words(metric, key, TEXT[self.language]["other"])
                cells = [with_half(x) if x is None or x.estimate else "0" for x in numbers]
                rows.append([self.words(metric, key), other, *cells])
        headings = [
            self.say("per_game"),
            self.say("other_heading"),
            *(self.view.label(case.ruleset) for case in cases),
        ]
        return Table(headings, rows, 2, self._of(lineup))

    def spreads(self) -> list[Table]:
        """Median and 5 % to 95 % of the counters with a histogram, a table a line-up."""
        tables = []
        for lineup in self.view.lineups:
            cases = self.view.cases(self.view.main, [lineup], [self.seats])
            rows = []
            for counter in self.view.counters:
                cells = [self._spread(case, counter.name) for case in cases]
                if any(cells):
                    rows.append([self.words(counter.name), *cells])
            headings = [self.say("measure"), *(self.view.label(case.ruleset) for case in cases)]
            tables.append(Table(headings, rows, 1, self._of(lineup)))
        return tables

    def _spread(self, case: Case, metric: str) -> str:
        numbers = [self.view.number(case, metric, key) for key in ("p50", "p5", "p95")]
        middle, low, high = (f"{number.estimate:.0f}" if number else "?" for number in numbers)
        return f"{middle} ({low}–{high})" if any(numbers) else ""

    def by_position(self) -> Table:
        """What the seats drew, decided and held, by position, for the rulesets in focus."""
        metrics = ("draws", "decisions", "choices", "largest_hand", "score")
        headings = [
            HEADINGS["ruleset"][self.language],
            HEADINGS["lineup"][self.language],
            self.say("measure"),
            *(self.say("position", n=k + 1) for k in range(self.seats)),
        ]
        rows = []
        for case in self.view.cases(self.view.focus, seats=[self.seats]):
            for metric in metrics:
                numbers = [self.view.number(case, metric, str(k + 1)) for k in range(self.seats)]
                if any(number and number.estimate for number in numbers):  # what a game does not know is 0
                    rows.append([*self._head(case), self.say(metric), *map(with_half, numbers)])
        return Table(headings, rows, 3)


# --- The terminal -----------------------------------------------------------------------------------------------------


def terminal_summary(
    sweep: Sweep, metrics: pd.DataFrame, contrasts: pd.DataFrame, language: str = "en"
) -> RenderableType:
    """What a person reads after a sweep: the answers, then a table a line-up and number of seats, a row a ruleset.

    Fits 80 columns unless rulesets have long names; without a terminal it is plain text.

    Args:
        language: "en" or "zh-Hant".
    """
    from rich.console import Group

    parts = [
        part for answer in answers(sweep, metrics, contrasts) for part in _answer_lines(answer, language)
    ]
    found = views(sweep, metrics, contrasts)
    for view in found:
        parts += _summary_tables(view, view.game.title if len(found) > 1 else None, language)
    return Group(*parts)


def _answer_lines(answer: Answer, language: str) -> Iterator[RenderableType]:
    from rich.text import Text

    yield Text(answer.question[language], style="bold")
    yield _Paragraph(answer.verdict[language], 2)
    yield Text()


@dataclass(frozen=True)
class _Paragraph:
    """An indented text for the terminal; Chinese is broken between characters, which rich does not do."""

    text: str
    indent: int

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        from rich.cells import cell_len
        from rich.text import Text

        for line in wrapped(self.text, max(20, options.max_width - self.indent), cell_len):
            yield Text(" " * self.indent + line, overflow="ignore", no_wrap=True)


def _summary_tables(view: View, game: Words | None, language: str) -> Iterator[RenderableType]:
    """A table a line-up and number of seats, under the game's name where there are several."""
    from rich.text import Text

    for lineup in view.lineups:
        for n in view.seats:
            cases = view.cases(lineups=[lineup], seats=[n])
            if cases:
                games = sorted(
                    {number.n for case in cases if (number := view.number(case, "win_share", "1"))}
                )
                sizes = "–".join(f"{size:,}" for size in dict.fromkeys((games[0], games[-1])))
                words = {"lineup": view.lineup(lineup, language), "seats": n, "n": sizes}
                heading = TEXT[language]["summary"].format(**words)
                yield Text(f"{game[language]} · {heading}" if game else heading, style="bold")
                yield _summary_table(view, cases, n, language)
                yield Text()


def _summary_table(view: View, cases: Sequence[Case], seats: int, language: str) -> RenderableType:
    from rich import box
    from rich.table import Table as Grid

    events = view.events[:1]
    grid = Grid(box=box.SIMPLE_HEAD, padding=0, pad_edge=False, show_edge=False)
    grid.add_column(HEADINGS["ruleset"][language], overflow="fold")
    headings = [*(str(k + 1) for k in range(seats)), "±", TEXT[language]["turns"]]
    headings += ["\n".join(textwrap.wrap(view.words(e.name, "mean", language), 12)) for e in events]
    headings += [OUTCOME_WORDS[word][language] + "\n%" for word in ("drawn", "stalled")]
    headings.append(TEXT[language]["moves"])
    for heading in headings:
        grid.add_column(heading, justify="right", no_wrap=True)
    for case in cases:
        grid.add_row(_summary_name(view, case), *_summary_cells(view, case, seats, [e.name for e in events]))
    return grid


def _summary_name(view: View, case: Case) -> RenderableType:
    """A ruleset's name; of one made by a grid only what was changed, under its base."""
    from rich.padding import Padding
    from rich.text import Text

    base, _, changes = view.label(case.ruleset).partition("+")
    name = Text(changes.replace("=", ": ").replace("+", ", ") or base)
    return Padding(name, (0, 0, 0, 1)) if changes else name


def _summary_cells(view: View, case: Case, seats: int, events: Sequence[str]) -> list[str]:
    shares = [view.number(case, "win_share", str(k + 1)) for k in range(seats)]
    halves = [100 * number.half for number in shares if number]
    cells = [f"{100 * number.estimate:.1f}" if number else "" for number in shares]
    cells.append(f"{max(halves):.1f}" if halves and math.isfinite(max(halves)) else "")
    cells.append(_mean(view.number(case, "turns", "mean"), 1))
    cells += [_mean(view.number(case, event, "mean"), 2) for event in events]
    cells += [_share(view.number(case, "outcome", word)) for word in ("drawn", "stalled")]
    return [*cells, _mean(view.number(case, "moves_per_decision", "all"), 1)]


def _mean(number: Number | None, digits: int) -> str:
    return f"{number.estimate:.{digits}f}" if number else ""


def _share(number: Number | None) -> str:
    if number is None:
        return ""
    return f"{100 * number.estimate:.2f}" if number.estimate else "0"
