"""The report's figures, each in every language, as PNG and as SVG.

A figure is planned without matplotlib (`plan`) and drawn on a `Sheet`, which knows the language, the colours and how
wide a text is. Colour and marker stand for the line-up everywhere except where a legend says otherwise; error bars are
the intervals of the tables. Equal tables give equal bytes: nothing in a file depends on the time or on a random id.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.metadata
import json
import math
import os
import re
import textwrap
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from analysis import stats
from analysis.answers import RELEVANT
from analysis.view import LANGUAGES, Case, Comparison, Number, View, wrapped
from sim.cards import RANKS, SUITS, SYMBOLS
from sim.games import Counter, Words

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from sim.config import Family

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
"""Okabe and Ito's palette, which people with any kind of colour vision can tell apart."""

MARKERS = ("o", "s", "^", "D", "v", "P", "X")
OUTCOME_COLOURS = {
    "win": "#56B4E9",
    "survivor": "#E69F00",
    "loser_found": "#CC79A7",
    "drawn": "#999999",
    "stalled": "#000000",
}
SUIT_COLOURS = dict(zip(SUITS, ("#000000", "#D55E00", "#E69F00", "#0072B2"), strict=True))
INK, GREY, BAND = "#222222", "#777777", "#F2F2F2"

SIZE = 8.0
"""Font size of ordinary text, points."""

LEAST_HANDS = 30
"""Opening classes with fewer hands are not drawn: their intervals would span the figure."""

MOST_MAIN = 10
MOST_STEPS = 40
MOST_ROWS = 14
"""Most rulesets side by side in a figure of all tables, most steps of a family, most measures in a forest plot."""

LEVEL = f"{100 * stats.LEVEL:.0f} %"

LEAST_WIDTH = 5.5
"""Narrowest figure, inches: titles and captions need the room."""

FORMATS = ("png", "svg")
STAMP = "figures.json"

CJK_FONTS = (
    *("Noto Sans CJK TC", "Noto Sans TC", "Source Han Sans TC", "PingFang TC", "Microsoft JhengHei"),
    *("WenQuanYi Zen Hei", "Noto Sans CJK SC", "Noto Sans CJK JP", "Droid Sans Fallback", "Arial Unicode MS"),
)
"""Faces of other systems with traditional Chinese characters, the best first."""

RC: dict[Any, Any] = {
    "svg.fonttype": "path",
    "svg.hashsalt": "fairdeal",
    "text.parse_math": False,
    "font.size": SIZE,
    "axes.titlesize": SIZE,
    "axes.labelsize": SIZE,
    "xtick.labelsize": SIZE - 1,
    "ytick.labelsize": SIZE - 1,
    "legend.fontsize": SIZE,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": GREY,
    "axes.labelcolor": INK,
    "text.color": INK,
    "xtick.color": GREY,
    "ytick.color": GREY,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "axes.linewidth": 0.6,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.major.size": 2.5,
    "ytick.major.size": 2.5,
    "savefig.dpi": 120,
    "path.simplify": True,
}

TEXT: Mapping[str, Mapping[str, str]] = {
    "en": {
        "comma": ", ",
        "seats": "{n} seats",
        "win_share": "win share, %",
        "share_of_games": "share of games, %",
        "position_axis": "position in the order of play (1 = first player), by ruleset",
        "class_axis": "{partition}, by ruleset",
        "card_axis": "rank of a card in the opening hand",
        "turns_axis": "turns",
        "effect_axis": "effect, standard deviations between games",
        "stalled_share": "stalled, %",
        "median": "median",
        "n": "n = {n} {unit}",
        "n_range": "n = {low} to {high} {unit}",
        "games": "games a point",
        "games_bar": "games a bar",
        "games_curve": "games a curve",
        "games_pair": "common deals a point",
        "hands": "hands a point",
        "bars": "Bars: {level} intervals.",
        "par": "Dashed: par, the mean win share of a seat; drawn and stalled games are won by nobody.",
        "first_rulesets": "The first {n} of {total} rulesets.",
        "few_hands": "Classes with fewer than {n} hands are left out.",
        "suits": "Colour and marker: the card's suit.",
        "jokers": "BJ, RJ: black and red Joker.",
        "outcome_bars": "{level} intervals (Wilson) reach at most {half} points from any share.",
        "curves": "Curves: share of games by length, on the same scale within a panel (bins of {bins} turns); the "
        "axis ends where at most 1 % of any ruleset's games go on.",
        "medians": "{level} intervals of the medians reach at most {half} turns.",
        "chosen": "The game's own measures: those that differ most here.",
        "base": "Dotted: {value}, which the others are compared with.",
        "forest": "Paired differences on common deals, divided by the standard deviation between games. Filled: clear "
        "after Holm's correction over the family. Grey band: slight, below {relevant} standard deviations.",
        "any": "games with any {name}, %",
        "first_player": "first player's advantage, points",
        "percent": "{name}, %",
        "title_position": "Who wins: win share by position, ruleset and number of seats",
        "title_class": "What an opening hand is worth: win share by {partition}",
        "title_card": "What an opening card is worth: win share with each card in the opening hand, {seats} seats",
        "title_outcomes": "How games end",
        "title_turns": "How long games last: turns until the end",
        "title_steps": "{family}: key measures",
        "title_factorial": "{family}: effects",
        "title_change": "From {a} to {b}: the largest changes",
        "interaction": "interaction of both",
    },
    "zh-Hant": {
        "comma": "、",
        "seats": "{n} 人",
        "win_share": "勝率（%）",
        "share_of_games": "占總局數（%）",
        "position_axis": "出牌順位（1 = 先手），依規則分組",
        "class_axis": "{partition}，依規則分組",
        "card_axis": "起手持有的牌的點數",
        "turns_axis": "回合數",
        "effect_axis": "效果（各局之間的標準差為單位）",
        "stalled_share": "停滯（%）",
        "median": "中位數",
        "n": "n = {n} {unit}",
        "n_range": "n = {low} 至 {high} {unit}",
        "games": "局／點",
        "games_bar": "局／列",
        "games_curve": "局／曲線",
        "games_pair": "副相同發牌／點",
        "hands": "手牌／點",
        "bars": "誤差線：{level} 信賴區間。",
        "par": "虛線：平均勝率（每人平均）；和局與停滯局無人獲勝。",
        "first_rulesets": "僅列出 {total} 套規則中的前 {n} 套。",
        "few_hands": "樣本少於 {n} 手的類別不列出。",
        "suits": "顏色與符號：該牌的花色。",
        "jokers": "BJ、RJ：黑、紅 Joker。",
        "outcome_bars": "各占比的 {level} 信賴區間（Wilson）最多相差 {half} 個百分點。",
        "curves": "曲線：各長度的局數占比，同一格內比例尺相同（每 {bins} 回合一組）；"
        "橫軸終點之後，任一規則至多還有 1 % 的局。",
        "medians": "中位數的 {level} 信賴區間最多相差 {half} 回合。",
        "chosen": "遊戲自訂的指標：選出此處差異最大者。",
        "base": "點線：{value}，其他各值與之比較。",
        "forest": "相同發牌的成對差異，除以各局之間的標準差。實心：整組經 Holm 校正後仍明確；灰帶：不到 {relevant} "
        "個標準差的小差異。",
        "any": "{name}不為 0 的局（%）",
        "first_player": "先手優勢（百分點）",
        "percent": "{name}（%）",
        "title_position": "誰會贏：各規則、各人數下不同順位的勝率",
        "title_class": "起手牌的價值：依{partition}區分的勝率",
        "title_card": "起手每張牌的價值：持有該牌者的勝率（{seats} 人）",
        "title_outcomes": "牌局如何結束",
        "title_turns": "一局有多長：到結束為止的回合數",
        "title_steps": "{family}：主要指標",
        "title_factorial": "{family}：效果",
        "title_change": "從 {a} 到 {b}：最大的變化",
        "interaction": "兩者的交互作用",
    },
}

OUTCOME_WORDS: Mapping[str, Words] = {
    "win": {"en": "won", "zh-Hant": "有人獲勝"},
    "survivor": {"en": "last survivor", "zh-Hant": "僅存者獲勝"},
    "loser_found": {"en": "loser found", "zh-Hant": "分出輸家"},
    "drawn": {"en": "drawn", "zh-Hant": "和局"},
    "stalled": {"en": "stalled", "zh-Hant": "停滯"},
}
"""Short names of the outcomes, for legends and headings."""


@dataclass(frozen=True)
class Plot:
    """A figure to draw: its file's stem, the report's topic it belongs to, its title and how to draw it."""

    name: str
    topic: str
    title: Words
    draw: Callable[[Sheet, Plot], Figure]

    def file(self, language: str, ending: str) -> str:
        """The file's name."""
        return f"{self.name}.{language}.{ending}"


# --- What to draw -----------------------------------------------------------------------------------------------------


def plan(views: Sequence[View]) -> dict[str, list[Plot]]:
    """The figures worth drawing, by game."""
    return {view.game.name: list(_plots(view, len(views) > 1)) for view in views}


def _plots(view: View, prefixed: bool) -> Iterator[Plot]:
    def plot(name: str, topic: str, title: Words, draw: Callable[[Sheet, Plot], Figure]) -> Plot:
        stem = re.sub(r"[^A-Za-z0-9_.+-]+", "_", f"{view.game.name}_{name}" if prefixed else name)
        return Plot(stem, topic, title, draw)

    yield plot(
        "win_share_by_position", "position", _title("title_position"), functools.partial(_positions, view)
    )
    yield plot("outcomes", "endings", _title("title_outcomes"), functools.partial(_outcomes, view))
    yield plot("turns", "length", _title("title_turns"), functools.partial(_turns, view))
    for partition in view.game.partitions:
        if all(name.isdigit() for name in partition.classes) and _class_cases(view, partition.name):
            title = _title("title_class", partition={"en": partition.en, "zh-Hant": partition.zh})
            draw = functools.partial(_classes, view, partition.name)
            yield plot(f"win_share_by_{partition.name}", "openings", title, draw)
    if view.keys(view.cases()[0], "win_share_by_card"):
        title = _title("title_card", seats=view.most_seats)
        yield plot("win_share_by_card", "openings", title, functools.partial(_cards, view))
    for family in view.families:
        yield from _family_plots(view, family, plot)
    for a, b in _pairs(view):
        title = _title("title_change", a=view.short(a), b=view.short(b))
        draw = functools.partial(
            _forest, view, view.compared(a=a, b=b), lambda sheet, c: sheet.say("seats", n=c.seats)
        )
        yield plot(f"change_{view.label(a)}_{view.label(b)}", "changes", title, draw)


def _family_plots(view: View, family: Family, plot: Callable[..., Plot]) -> Iterator[Plot]:
    if family.contrast == "factorial":
        title = _title("title_factorial", family=family.title)
        draw = functools.partial(_forest, view, view.compared(family.name), _contrast_words)
        yield plot(f"effects_{family.name}", "changes", title, draw)
    elif len(family.rulesets) > 2:
        title = _title("title_steps", family=family.title)
        yield plot(f"steps_{family.name}", "changes", title, functools.partial(_steps, view, family))


def _pairs(view: View) -> list[tuple[str, str]]:
    """The changes from one ruleset to another that get a figure: those asked about, and families of two rulesets."""
    asked = [(answer.a, answer.b) for answer in view.questions if answer.a]
    small = [(c.a, c.b) for f in view.families if len(f.rulesets) == 2 for c in view.compared(f.name)]
    known = {(c.a, c.b) for c in view.comparisons if c.differences}
    return [pair for pair in dict.fromkeys([*asked, *small]) if pair in known]


def _title(key: str, **parts: Any) -> Words:
    return {
        language: TEXT[language][key].format(
            **{name: part[language] if isinstance(part, Mapping) else part for name, part in parts.items()}
        )
        for language in LANGUAGES
    }


# --- Writing files ----------------------------------------------------------------------------------------------------


def write_figures(folder: Path, plots: Sequence[Plot], inputs: str) -> list[Path]:
    """Draw the figures into `folder`, or keep those that are there when nothing they show has changed.

    Args:
        folder: made when missing. Figures that an earlier call drew and this one does not are removed.
        plots: what to draw.
        inputs: a digest of everything the figures show. How they are drawn is taken account of here.

    Returns:
        The files, in the plots' order.
    """
    files = [plot.file(language, ending) for plot in plots for language in LANGUAGES for ending in FORMATS]
    folder.mkdir(parents=True, exist_ok=True)
    stamp = folder / STAMP
    before = _read_stamp(stamp)
    digest = hashlib.sha256("\0".join([inputs, _drawing_digest(), *files]).encode()).hexdigest()
    if before.get("inputs") != digest or not _intact(folder, before, files):
        stamp.unlink(missing_ok=True)
        for name in before.get("files", {}):
            (folder / name).unlink(missing_ok=True)
        _draw(folder, plots)
        known = {name: _digest((folder / name).read_bytes()) for name in files}
        _replace(stamp, json.dumps({"inputs": digest, "files": known}, indent=1).encode() + b"\n")
    return [folder / name for name in files]


def _read_stamp(path: Path) -> dict[str, Any]:
    """What the last complete call wrote; nothing when it is missing or damaged."""
    try:
        stamp = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    known = isinstance(stamp, dict) and isinstance(stamp.get("files"), dict)
    return stamp if known and all(re.fullmatch(r"[\w.+-]+", name) for name in stamp["files"]) else {}


def _intact(folder: Path, stamp: Mapping[str, Any], files: Sequence[str]) -> bool:
    known = stamp["files"]
    return set(known) == set(files) and all(
        (folder / name).is_file() and _digest((folder / name).read_bytes()) == known[name] for name in files
    )


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _drawing_digest() -> str:
    """Changes with whatever else decides how a figure looks: this package's sources, matplotlib, the Chinese face."""
    sources = sorted(Path(__file__).parent.glob("*.py"))
    parts = [source.read_bytes().replace(b"\r\n", b"\n") for source in sources]
    parts.append(importlib.metadata.version("matplotlib").encode())
    font = _packaged_font()
    parts.append(font.name.encode() if font else b"")
    return _digest(b"\0".join(parts))


def _replace(path: Path, content: bytes) -> None:
    temporary = path.with_name(path.name + ".tmp")
    temporary.write_bytes(content)
    os.replace(temporary, path)


def _draw(folder: Path, plots: Sequence[Plot]) -> None:
    import matplotlib as mpl

    faces, chinese = _faces()
    if not chinese:
        warnings.warn(
            "no font with Chinese characters was found: labels in the figures are English", stacklevel=2
        )
    with mpl.rc_context({**RC, "font.family": faces}):
        for plot in plots:
            for language in LANGUAGES:
                figure = plot.draw(Sheet(language if chinese else "en", faces), plot)
                for ending in FORMATS:
                    _replace(folder / plot.file(language, ending), _encoded(figure, ending))


def _encoded(figure: Figure, ending: str) -> bytes:
    """The figure as a file's content, without a date or a version in it."""
    import io

    metadata = {"png": {"Software": None}, "svg": {"Date": None, "Creator": None}}[ending]
    buffer = io.BytesIO()
    figure.savefig(buffer, format=ending, metadata=metadata)
    return buffer.getvalue()


def _packaged_font() -> Path | None:
    """The Chinese face of the package pylopdf-fonts-zh-tw (Noto Sans TC, OFL), found without importing the package."""
    import importlib.util

    spec = importlib.util.find_spec("pylopdf_fonts_zh_tw")
    if spec is None or spec.origin is None:
        return None
    return next(iter(sorted(Path(spec.origin).parent.glob("NotoSansTC*.otf"))), None)


def _faces() -> tuple[list[str], bool]:
    """The font families to use, in the order to look for a character, and whether one of them knows Chinese."""
    from matplotlib.font_manager import fontManager

    path = _packaged_font()
    if path is not None:
        fontManager.addfont(path)
        return ["DejaVu Sans", "Noto Sans TC"], True
    known = {font.name for font in fontManager.ttflist}
    found = next((name for name in CJK_FONTS if name in known), None)
    return (["DejaVu Sans", found], True) if found else (["DejaVu Sans"], False)


@functools.cache
def _characters(faces: tuple[str, ...]) -> frozenset[int]:
    """Code points of all characters that the faces can draw."""
    from matplotlib.font_manager import findfont, get_font

    return frozenset(code for face in faces for code in get_font(findfont(face)).get_charmap())


# --- The sheet --------------------------------------------------------------------------------------------------------


class Box(NamedTuple):
    """Sizes of a figure's parts in inches: a panel's width and height, the margins left and below the panels, the gaps
    between them, and the margins above the first row and right of the last column."""

    width: float
    height: float
    left: float
    bottom: float
    gap_x: float = 0.2
    gap_y: float = 0.3
    top: float = 0.2
    right: float = 0.15


class Sheet:
    """Draws in one language.

    Attributes:
        language: of the texts.
    """

    def __init__(self, language: str, faces: Sequence[str]) -> None:
        self.language = language
        self._faces = tuple(faces)

    def say(self, key: str, **parts: Any) -> str:
        """A text of `TEXT`."""
        return TEXT[self.language][key].format(**parts)

    def legible(self, text: str) -> str:
        """The text with a question mark for each character that no face has: a title may hold anything."""
        if text.isascii():
            return text
        known = _characters(self._faces)
        return "".join(c if ord(c) in known or c.isspace() else "?" for c in text)

    def ruleset(self, view: View, name: str, inches: float, lines: int = 1) -> str:
        """A ruleset's short name in at most so many lines no wider than `inches`; a longer one loses its middle."""
        return _fitted(self.legible(view.short(name)), inches, lines)

    def lineup(self, view: View, name: str) -> str:
        """The players' titles of a line-up."""
        return self.legible(view.lineup(name, self.language))

    def wrapped(self, text: str, inches: float, size: float = SIZE) -> str:
        """The text broken into lines no wider than `inches`."""
        return "\n".join(wrapped(text, inches, lambda line: _width(line, size)))

    def panels(
        self,
        plot: Plot,
        box: Box,
        rows: int,
        columns: int,
        caption: Sequence[str],
        legend: Sequence[Any] = (),
    ) -> tuple[Figure, np.ndarray]:
        """A figure with a title, a legend under it, rows x columns of empty axes, and a caption at its foot.

        Returns:
            The figure and its axes, an object array (rows, columns).
        """
        from matplotlib.figure import Figure

        width = max(box.left + columns * box.width + (columns - 1) * box.gap_x + box.right, LEAST_WIDTH)
        title = self.wrapped(self.legible(plot.title[self.language]), width - 0.2, SIZE + 3)
        joint = " " if self.language == "en" else ""
        foot = self.wrapped(joint.join(self.legible(text) for text in caption), width - 0.2, SIZE - 1)
        head = 0.1 + 0.2 * (title.count("\n") + 1) + (0.27 if legend else 0.05)
        below = box.bottom + 0.1 + 0.145 * (foot.count("\n") + 1)
        height = head + box.top + rows * box.height + (rows - 1) * box.gap_y + below
        figure = Figure(figsize=(width, height))
        figure.text(0.1 / width, 1 - 0.1 / height, title, size=SIZE + 3, va="top", linespacing=1.25)
        figure.text(
            0.1 / width, 0.08 / height, foot, size=SIZE - 1, color="#555555", va="bottom", linespacing=1.4
        )
        if legend:
            place = (0.1 / width, 1 - (head - 0.22) / height)
            figure.legend(
                handles=legend,
                loc="upper left",
                bbox_to_anchor=place,
                ncols=len(legend),
                frameon=False,
                borderpad=0,
                borderaxespad=0,
                handletextpad=0.4,
                columnspacing=1.4,
            )
        axes = np.empty((rows, columns), dtype=object)
        for row in range(rows):
            for column in range(columns):
                x = box.left + column * (box.width + box.gap_x)
                y = height - head - box.top - box.height - row * (box.height + box.gap_y)
                size = (x / width, y / height, box.width / width, box.height / height)
                axes[row, column] = figure.add_axes(size)
        return figure, axes

    def counts(self, numbers: Iterable[Number], unit: str) -> str:
        """How large the samples are."""
        sizes = {number.n for number in numbers}
        low, high = f"{min(sizes):,}", f"{max(sizes):,}"
        parts = {"n": high} if low == high else {"low": low, "high": high}
        text = self.say("n" if low == high else "n_range", **parts, unit=self.say(unit))
        return text + ("." if self.language == "en" else "。")

    def bars(self) -> str:
        """What error bars are."""
        return self.say("bars", level=LEVEL)


def _width(text: str, size: float) -> float:
    """About how many inches wide a text is; glyphs are hinted to whole pixels, which widens Chinese ones a little."""
    return sum(1.04 if ord(c) > 0x2E7F else 0.36 if c in " .,:;il|()" else 0.62 for c in text) * size / 72


def _fitted(name: str, inches: float, lines: int) -> str:
    """A name broken into lines, if possible behind + = _ -, the middle left out where it is too long even so."""
    room = max(4, int(inches / (0.62 * SIZE / 72)))
    while True:
        broken = [""]
        for part in re.findall(r"[^+=_-]*[+=_-]|[^+=_-]+", name):
            for piece in textwrap.wrap(part, room):
                if len(broken[-1] + piece) > room:
                    broken.append("")
                broken[-1] += piece
        if len(broken) <= lines:
            return "\n".join(broken)
        middle = len(name) // 2
        name = name[: middle - 1].rstrip("…") + "…" + name[middle + 1 :].lstrip("…")


def _lineup_style(view: View, lineup: str) -> tuple[str, str]:
    """Colour and marker of a line-up."""
    place = view.lineups.index(lineup)
    return COLOURS[place % len(COLOURS)], MARKERS[place % len(MARKERS)]


def _lineup_legend(sheet: Sheet, view: View, marker: str = "") -> list[Any]:
    """Legend entries of the line-ups, with their own markers unless told another."""
    styles = [(*_lineup_style(view, name), sheet.lineup(view, name)) for name in view.lineups]
    return [_handle(label, color=colour, marker=marker or own) for colour, own, label in styles]


def _handle(label: str, **style: Any) -> Any:
    from matplotlib.lines import Line2D

    return Line2D([], [], label=label, **{"markersize": 4, "linewidth": 1.2, **style})


def _bars(numbers: Sequence[Number], scale: float = 1.0) -> np.ndarray:
    """float64 [2, n]: how far the intervals reach below and above; NaN where nothing bounds them."""
    reach = (
        np.array([(x.estimate - x.low, x.high - x.estimate) for x in numbers], dtype=np.float64)
        .reshape(-1, 2)
        .T
    )
    return np.where(np.isfinite(reach), np.maximum(reach, 0) * scale, np.nan)


def _points(
    axes: Axes, x: Sequence[float], numbers: Sequence[Number], scale: float = 1.0, **style: Any
) -> None:
    """Estimates with their intervals as vertical error bars."""
    look: dict[str, Any] = {
        "markersize": 3,
        "linewidth": 0.8,
        "elinewidth": 0.8,
        "linestyle": "none",
        **style,
    }
    axes.errorbar(x, [number.estimate * scale for number in numbers], _bars(numbers, scale), **look)


def _main(sheet: Sheet, view: View) -> tuple[tuple[str, ...], list[str]]:
    """The rulesets of the figures that show all tables, and a caption when there are more."""
    shown = view.main[:MOST_MAIN]
    note = sheet.say("first_rulesets", n=len(shown), total=len(view.main))
    return shown, [note] if len(view.main) > len(shown) else []


# --- Win shares in strips ---------------------------------------------------------------------------------------------


def _positions(view: View, sheet: Sheet, plot: Plot) -> Figure:
    """Win share by position: a strip per number of seats, in it a group per ruleset."""
    keys = {seats: [str(position + 1) for position in range(seats)] for seats in view.seats}
    rulesets, note = _main(sheet, view)
    cases = view.cases(rulesets)
    texts = [sheet.counts((view.number(case, "win_share", "1") for case in cases), "games"), sheet.bars()]  # type: ignore[misc]
    caption = [*texts, sheet.say("par"), *note]
    return _strips(view, sheet, plot, "win_share", keys, cases, sheet.say("position_axis"), caption)


def _class_cases(view: View, partition: str) -> dict[Case, list[str]]:
    """The cases in which hands differ by the partition, with the classes to draw."""
    metric = f"win_share_by_{partition}"
    found = {}
    for case in view.cases(view.main[:MOST_MAIN]):
        numbers = view.keys(case, metric)
        keys = [key for key, number in numbers.items() if key.isdigit() and number.n >= LEAST_HANDS]
        if len(keys) > 1:
            found[case] = keys
    return found


def _classes(view: View, partition: str, sheet: Sheet, plot: Plot) -> Figure:
    """Win share by the class of the opening hand, drawn as `_positions`."""
    metric = f"win_share_by_{partition}"
    cases = _class_cases(view, partition)
    keys = {
        seats: sorted({key for case, mine in cases.items() if case.seats == seats for key in mine}, key=int)
        for seats in {case.seats for case in cases}
    }
    shown = {case: {key: view.keys(case, metric)[key] for key in mine} for case, mine in cases.items()}
    texts = [sheet.counts((x for numbers in shown.values() for x in numbers.values()), "hands"), sheet.bars()]
    caption = [*texts, sheet.say("par"), sheet.say("few_hands", n=LEAST_HANDS), *_main(sheet, view)[1]]
    words = next(part for part in view.game.partitions if part.name == partition)
    label = sheet.say("class_axis", partition=words.en if sheet.language == "en" else words.zh)
    return _strips(view, sheet, plot, metric, keys, list(cases), label, caption)


def _strips(
    view: View,
    sheet: Sheet,
    plot: Plot,
    metric: str,
    keys: Mapping[int, Sequence[str]],
    cases: Sequence[Case],
    label: str,
    caption: Sequence[str],
) -> Figure:
    """A strip per number of seats; in it a group of points per ruleset, one point a key, a colour a line-up."""
    groups = {
        seats: [name for name in view.rulesets if any(c[::2] == (name, seats) for c in cases)]
        for seats in keys
    }
    slots = max(len(groups[seats]) * (len(keys[seats]) + 1) for seats in keys)
    most = max(map(len, groups.values()))
    widest = max(_width(sheet.ruleset(view, case.ruleset, 2), SIZE) for case in cases) + 0.1
    width = min(max(slots * 0.17, most * widest, 5.2), max(9.0, slots * 0.1))
    names = {name: sheet.ruleset(view, name, width / most - 0.1, 3) for name in {case.ruleset for case in cases}}
    head = 0.08 + 0.13 * max(name.count("\n") + 1 for name in names.values())
    box = Box(width, 1.1, left=0.75, bottom=0.45, gap_y=0.22 + head, top=head)
    figure, panels = sheet.panels(plot, box, len(keys), 1, caption, _lineup_legend(sheet, view))
    for axes, seats in zip(panels[:, 0], sorted(keys), strict=True):
        for place, name in enumerate(groups[seats]):
            _group_head(axes, names[name], place, len(keys[seats]))
        _strip(view, axes, metric, keys[seats], groups[seats], [c for c in cases if c.seats == seats])
        axes.set_ylabel(f"{sheet.say('seats', n=seats)}\n{sheet.say('win_share')}")
    panels[-1, 0].set_xlabel(label)
    return figure


def _group_head(axes: Axes, name: str, place: int, keys: int) -> None:
    """The name above a group of points, and a band behind every other group."""
    step, middle = keys + 1, place * (keys + 1) + (keys - 1) / 2
    if place % 2:
        axes.axvspan(middle - step / 2, middle + step / 2, color=BAND, linewidth=0, zorder=0)
    axes.text(middle, 1.02, name, transform=axes.get_xaxis_transform(), ha="center", va="bottom")


def _strip(
    view: View, axes: Axes, metric: str, keys: Sequence[str], groups: Sequence[str], cases: Sequence[Case]
) -> None:
    step = len(keys) + 1
    for lineup in view.lineups:
        colour, marker = _lineup_style(view, lineup)
        dodge = (view.lineups.index(lineup) - (len(view.lineups) - 1) / 2) * 0.24
        for case in (case for case in cases if case.lineup == lineup):
            start = groups.index(case.ruleset) * step
            numbers = view.keys(case, metric)
            found = [
                (start + k + dodge, numbers[key])
                for k, key in enumerate(keys)
                if _drawn(metric, numbers, key)
            ]
            style = {"color": colour, "marker": marker, "linestyle": "-"}
            _points(axes, [x for x, _ in found], [number for _, number in found], 100, **style)
            par = view.number(case, "win_share", "all")
            if par:
                ends = (start - 0.6, start + len(keys) - 0.4)
                axes.hlines(100 * par.estimate, *ends, colors=colour, linestyles=(0, (4, 3)), linewidth=0.7)
    axes.set_xticks(
        [g * step + k for g in range(len(groups)) for k in range(len(keys))], list(keys) * len(groups)
    )
    axes.tick_params(axis="x", length=0, pad=2)
    axes.set_xlim(-1, len(groups) * step - 1)
    axes.set_ylim(bottom=0)


def _drawn(metric: str, numbers: Mapping[str, Number], key: str) -> bool:
    return key in numbers and (metric == "win_share" or numbers[key].n >= LEAST_HANDS)


# --- Opening cards ----------------------------------------------------------------------------------------------------


def _cards(view: View, sheet: Sheet, plot: Plot) -> Figure:
    """Win share by opening card: a row per ruleset in focus, a column per line-up, a colour per suit."""
    jokers = [
        name for name in ("BJ", "RJ") if any(view.number(c, "win_share_by_card", name) for c in view.cases())
    ]
    ticks = [*RANKS, *jokers]
    legend = [
        _handle(SYMBOLS[suit], color=SUIT_COLOURS[suit], marker=MARKERS[k], linestyle="none")
        for k, suit in enumerate(SUITS)
    ]
    rulesets = [name for name in view.focus if view.cases([name], seats=[view.most_seats])]
    columns = view.lineups[:3]
    shown = [
        x
        for c in view.cases(rulesets, columns, [view.most_seats])
        for x in view.keys(c, "win_share_by_card").values()
    ]
    caption = [sheet.counts(shown, "hands"), sheet.bars(), sheet.say("par"), sheet.say("suits")]
    caption += [sheet.say("jokers")] if jokers else []
    box = Box(0.26 * len(ticks), 1.3, left=0.75, bottom=0.45, gap_x=0.15, gap_y=0.2, top=0.25)
    figure, panels = sheet.panels(plot, box, len(rulesets), len(columns), caption, legend)
    for name, row in zip(rulesets, panels, strict=True):
        for lineup, axes in zip(columns, row, strict=True):
            _card_panel(view, axes, Case(name, lineup, view.most_seats), ticks)
        _share_y(row)
        row[0].set_ylabel(f"{sheet.ruleset(view, name, box.height, 2)}\n{sheet.say('win_share')}")
    for lineup, axes in zip(columns, panels[0], strict=True):
        axes.set_title(sheet.lineup(view, lineup), loc="left")
    for axes in panels[:-1].flat:
        axes.set_xticklabels([])
    for axes in panels[-1]:
        axes.set_xlabel(sheet.say("card_axis"))
    return figure


def _card_panel(view: View, axes: Axes, case: Case, ticks: Sequence[str]) -> None:
    numbers = view.keys(case, "win_share_by_card")
    for k, suit in enumerate(SUITS):
        found = [
            (place + (k - 1.5) * 0.17, suit + rank)
            for place, rank in enumerate(RANKS)
            if suit + rank in numbers
        ]
        style = {"color": SUIT_COLOURS[suit], "marker": MARKERS[k]}
        _points(axes, [x for x, _ in found], [numbers[card] for _, card in found], 100, **style)
    jokers = [(place, name) for place, name in enumerate(ticks) if name in numbers]
    style = {"color": COLOURS[2], "marker": MARKERS[4]}
    _points(axes, [x for x, _ in jokers], [numbers[name] for _, name in jokers], 100, **style)
    par = view.number(case, "win_share", "all")
    if par:
        axes.axhline(100 * par.estimate, color=INK, linestyle=(0, (4, 3)), linewidth=0.7)
    for place in range(0, len(ticks), 2):
        axes.axvspan(place - 0.5, place + 0.5, color=BAND, linewidth=0, zorder=0)
    axes.set_xticks(range(len(ticks)), ticks)
    axes.tick_params(axis="x", length=0)
    axes.set_xlim(-0.5, len(ticks) - 0.5)


def _share_y(row: Sequence[Axes]) -> None:
    """Give the axes of a row the same limits, and tick labels only to the first."""
    limits = np.array([axes.get_ylim() for axes in row])
    for axes in row:
        axes.set_ylim(limits[:, 0].min(), limits[:, 1].max())
    for axes in row[1:]:
        axes.set_yticks(row[0].get_yticks())
        axes.set_ylim(limits[:, 0].min(), limits[:, 1].max())
        axes.set_yticklabels([])


# --- Tables side by side: outcomes and lengths ------------------------------------------------------------------------


def _outcomes(view: View, sheet: Sheet, plot: Plot) -> Figure:
    """Shares of the outcomes: a panel per number of seats, a stacked bar per ruleset and line-up."""
    from matplotlib.patches import Patch

    rulesets, note = _main(sheet, view)
    rows = [(name, lineup) for name in rulesets for lineup in view.lineups]
    cases = view.cases(rulesets)
    words = view.outcomes()
    shown = [number for case in cases for word in words if (number := view.number(case, "outcome", word))]
    half = f"{100 * max(number.half for number in shown):.1f}"
    caption = [sheet.counts(shown, "games_bar"), sheet.say("outcome_bars", level=LEVEL, half=half), *note]
    labels = [f"{sheet.ruleset(view, name, 2)}, {sheet.lineup(view, lineup)}" for name, lineup in rows]
    left = max(_width(label, SIZE - 1) for label in labels) + 0.2
    box = Box(1.5, 0.17 * len(rows) + 0.1, left=left, bottom=0.45, gap_x=0.62, top=0.42, right=0.68)
    legend = [Patch(color=OUTCOME_COLOURS[word], label=OUTCOME_WORDS[word][sheet.language]) for word in words]
    figure, panels = sheet.panels(plot, box, 1, len(view.seats), caption, legend)
    for axes, seats in zip(panels[0], view.seats, strict=True):
        _outcome_panel(view, axes, rows, words, seats)
        axes.set_title(sheet.say("seats", n=seats), loc="left", pad=14)
        axes.text(103, -0.75, sheet.say("stalled_share"), size=SIZE - 1.5, va="bottom", ha="left")
        axes.set_xlabel(sheet.say("share_of_games"))
    panels[0, 0].set_yticks(range(len(rows)), labels)
    return figure


def _outcome_panel(
    view: View, axes: Axes, rows: Sequence[tuple[str, str]], words: Sequence[str], seats: int
) -> None:
    start = np.zeros(len(rows))
    places = np.arange(len(rows)) + np.array(
        [0.08 if k % len(view.lineups) == 0 else 0.0 for k in range(len(rows))]
    )
    cases = [Case(name, lineup, seats) for name, lineup in rows]
    for word in words:
        found = [view.number(case, "outcome", word) for case in cases]
        shares = np.array([100 * number.estimate if number else 0.0 for number in found])
        axes.barh(places, shares, left=start, height=0.78, color=OUTCOME_COLOURS[word], linewidth=0)
        start += shares
    for place, case in zip(places, cases, strict=True):
        stalled = view.number(case, "outcome", "stalled")
        if stalled:
            text = f"{100 * stalled.estimate:.2f}" if stalled.estimate else "0"
            axes.text(103, place, text, size=SIZE - 1.5, va="center", ha="left")
    axes.set_xlim(0, 100)
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.set_yticks([])
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)


def _turns(view: View, sheet: Sheet, plot: Plot) -> Figure:
    """Distributions of the length: a panel per number of seats, a row per ruleset, a curve per line-up."""
    rulesets, note = _main(sheet, view)
    bins = {seats: _turn_bins(view, view.cases(rulesets, seats=[seats])) for seats in view.seats}
    widths = sorted({int(edges[1] - edges[0]) for edges in bins.values()})
    shown = [number for case in view.cases(rulesets) if (number := view.number(case, "turns", "mean"))]
    medians = [number for case in view.cases(rulesets) if (number := view.number(case, "turns", "p50"))]
    half = f"{max((median.half for median in medians), default=math.nan):.0f}"
    texts = sheet.say("curves", bins=sheet.say("comma").join(map(str, widths)), level=LEVEL, half=half)
    caption = [sheet.counts(shown, "games_curve"), texts, *note]
    left = max(_width(sheet.ruleset(view, name, 2), SIZE) for name in rulesets) + 0.2
    box = Box(1.95, 0.48 * len(rulesets) + 0.2, left=left, bottom=0.45, gap_x=0.2, top=0.25)
    legend = _lineup_legend(sheet, view, "none")
    legend.append(_handle(sheet.say("median"), color=GREY, marker="|", linestyle="none", markeredgewidth=1.6))
    figure, panels = sheet.panels(plot, box, 1, len(view.seats), caption, legend)
    for axes, seats in zip(panels[0], view.seats, strict=True):
        _ridges(view, axes, rulesets, seats, bins[seats])
        axes.set_title(sheet.say("seats", n=seats), loc="left")
        axes.set_xlabel(sheet.say("turns_axis"))
    panels[0, 0].set_yticks(range(len(rulesets)), [sheet.ruleset(view, name, 2) for name in rulesets])
    panels[0, 0].tick_params(axis="y", length=0, labelsize=SIZE)
    return figure


def _lengths(view: View, case: Case) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of turns and the shares of games that lasted so long."""
    numbers = view.keys(case, "turns_histogram")
    values = np.array([int(key.removeprefix(">=")) for key in numbers], dtype=np.float64)
    return values, np.array([number.estimate for number in numbers.values()])


def _turn_bins(view: View, cases: Sequence[Case]) -> np.ndarray:
    """Edges of about forty bins of whole turns, up to where at most 1 % of any case's games are left."""
    last = 1.0
    for case in cases:
        values, shares = _lengths(view, case)
        last = max(last, float(values[min(int(np.searchsorted(shares.cumsum(), 0.99)), len(values) - 1)]))
    width = math.ceil((last + 1) / 40)
    return np.arange(0, last + width + 1, width)


def _ridges(view: View, axes: Axes, rulesets: Sequence[str], seats: int, edges: np.ndarray) -> None:
    curves = {}
    for case in view.cases(rulesets, seats=[seats]):
        values, shares = _lengths(view, case)
        curves[case] = np.histogram(values, edges, weights=shares)[0]
    peak = max((curve.max() for curve in curves.values()), default=0.0) or 1.0
    for case, curve in curves.items():
        base = rulesets.index(case.ruleset)
        colour, _ = _lineup_style(view, case.lineup)
        heights = base - 0.85 * curve / peak
        axes.stairs(heights, edges, baseline=base, fill=True, color=colour, alpha=0.18, linewidth=0)
        axes.stairs(heights, edges, baseline=None, color=colour, linewidth=0.8)
        median = view.number(case, "turns", "p50")
        if median:
            axes.plot(
                [median.estimate + 0.5] * 2, [base, base + 0.13], color=colour, linewidth=1.6, clip_on=False
            )
    for base in range(len(rulesets)):
        axes.axhline(base, color=GREY, linewidth=0.4)
    axes.set_xlim(edges[0], edges[-1])
    axes.set_ylim(len(rulesets) - 0.8, -1)
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)


# --- Families: key measures step by step ------------------------------------------------------------------------------


class Measure(NamedTuple):
    """A panel of a family's figure: a number of metrics.csv, its title and its scale."""

    metric: str
    key: str
    title: str
    scale: float = 1.0


def telling_counters(view: View, rulesets: Sequence[str]) -> list[Counter]:
    """The game's counters with a histogram that need nothing else to happen; those first whose means differ most
    between the rulesets, in standard deviations between games."""

    def spread(counter: Counter) -> float:
        largest = 0.0
        for lineup in view.lineups:
            for seats in view.seats:
                cases = view.cases(rulesets, [lineup], [seats])
                means = [number.estimate for c in cases if (number := view.number(c, counter.name, "mean"))]
                deviation = view.deviation(cases, counter.name, "mean")
                if deviation > 0:
                    largest = max(largest, (max(means) - min(means)) / deviation)
        return largest

    counters = [c for c in view.game.counters if c.bins and not c.given and c not in view.events]
    return sorted(counters, key=spread, reverse=True)


def _measures(view: View, sheet: Sheet, rulesets: Sequence[str]) -> list[Measure]:
    """Six measures: length, first player's advantage, choices, then the game's own."""

    def named(metric: str, key: str) -> str:
        return view.words(metric, key, sheet.language)

    measures = [
        Measure("turns", "mean", named("turns", "mean")),
        Measure("first_player_advantage", "all", sheet.say("first_player"), 100),
        Measure("moves_per_decision", "all", named("moves_per_decision", "all")),
    ]
    for event in view.events[:1]:
        measures.append(Measure(event.name, "mean", named(event.name, "mean")))
        if event.bins:
            measures.append(
                Measure(event.name, "share_any", sheet.say("any", name=named(event.name, "")), 100)
            )
    for counter in telling_counters(view, rulesets):
        measures.append(Measure(counter.name, "mean", named(counter.name, "mean")))
    return measures[:6]


def _steps(view: View, family: Family, sheet: Sheet, plot: Plot) -> Figure:
    """Key measures from ruleset to ruleset of a family; colour = line-up, marker = number of seats."""
    steps = view.steps(family)[:MOST_STEPS]
    names = [name for name, _ in steps]
    labels = [_fitted(sheet.legible(label), 1.3, 2) for _, label in steps]
    seats = [n for n in view.seats if n in family.seats]
    measures = _measures(view, sheet, names)
    cases = view.cases(names, seats=seats)
    shown = [x for case in cases for m in measures if (x := view.number(case, m.metric, m.key))]
    toggle = view.toggle(family)
    base = view.baseline(family)
    caption = [sheet.counts(shown, "games"), sheet.bars()]
    if base:
        caption.append(sheet.say("base", value=f"{toggle or ''} {base}".strip()))
    caption.append(sheet.say("chosen"))
    markers: dict[int, str] = {}
    legend = _lineup_legend(sheet, view)
    if len(seats) > 1:
        markers = {n: MARKERS[k % len(MARKERS)] for k, n in enumerate(seats)}
        legend = _lineup_legend(sheet, view, "none")
        legend += [
            _handle(sheet.say("seats", n=n), color=GREY, marker=m, linestyle="none")
            for n, m in markers.items()
        ]
    longest = max(_width(line, SIZE - 1) for label in labels for line in label.split("\n"))
    upright = longest * len(labels) > 2.6
    room = longest + 0.15 if upright else 0.2
    box = Box(
        max(2.7, 0.16 * len(labels)), 1.25, left=0.5, bottom=room + 0.2, gap_x=0.5, gap_y=room + 0.45, top=0.3
    )
    rows = -(-len(measures) // 3)
    figure, panels = sheet.panels(plot, box, rows, min(3, len(measures)), caption, legend)
    for axes, measure in zip(panels.flat, measures, strict=False):
        axes.set_title(sheet.wrapped(measure.title, box.width), loc="left")
        for case_lineup in view.lineups:
            for n in seats:
                _step_line(view, axes, names, case_lineup, n, measure, markers.get(n))
        axes.set_xticks(range(len(labels)), labels, rotation=90 if upright else 0)
        axes.set_xlim(-0.5, len(labels) - 0.5)
        if base:
            axes.axvline([label for _, label in steps].index(base), color=GREY, linestyle=":", linewidth=0.8, zorder=0)
        if measure.metric == "first_player_advantage":
            axes.axhline(0, color=GREY, linewidth=0.6, zorder=0)
    for axes in panels.flat[len(measures) :]:
        axes.remove()
    if toggle:
        for axes in panels[-1]:
            axes.set_xlabel(toggle)
    return figure


def _step_line(
    view: View,
    axes: Axes,
    names: Sequence[str],
    lineup: str,
    seats: int,
    measure: Measure,
    marker: str | None,
) -> None:
    colour, own = _lineup_style(view, lineup)
    found = [
        (place, number)
        for place, name in enumerate(names)
        if (number := view.number(Case(name, lineup, seats), measure.metric, measure.key))
    ]
    style = {"color": colour, "marker": marker or own, "linestyle": "-"}
    _points(axes, [x for x, _ in found], [number for _, number in found], measure.scale, **style)


# --- Forest plots -----------------------------------------------------------------------------------------------------


def largest_changes(comparisons: Sequence[Comparison], most: int) -> list[tuple[str, str]]:
    """The (metric, key) with the largest clear effect in any of the comparisons; without a clear one, the largest."""
    sizes: dict[tuple[str, str], tuple[bool, float]] = {}
    for comparison in comparisons:
        for name, difference in comparison.differences.items():
            if difference.estimate:
                size = (difference.clear, abs(difference.effect))
                sizes[name] = max(sizes.get(name, size), size)
    return sorted(sizes, key=lambda name: sizes[name], reverse=True)[:most]


def _contrast_words(sheet: Sheet, comparison: Comparison) -> str:
    if comparison.kind == "interaction":
        return sheet.say("interaction")
    toggle, _, low = comparison.a.partition("=")
    return f"{toggle}\n{low} → {comparison.b.partition('=')[2]}"


def _forest(
    view: View,
    comparisons: Sequence[Comparison],
    heading: Callable[[Sheet, Comparison], str],
    sheet: Sheet,
    plot: Plot,
) -> Figure:
    """Standardised differences: a row per measure, a panel per heading (and seats), a colour per line-up."""
    names = largest_changes(comparisons, MOST_ROWS)
    several = len({c.seats for c in comparisons}) > 1 and any(c.kind != "pair" for c in comparisons)
    heads: dict[str, list[Comparison]] = {}
    for c in sorted(comparisons, key=lambda c: c.seats):
        head = heading(sheet, c) + (f"\n{sheet.say('seats', n=c.seats)}" if several else "")
        heads.setdefault(head, []).append(c)
    labels = [sheet.wrapped(sheet.legible(view.words(*name, sheet.language)), 2.1) for name in names]
    lines = [label.count("\n") + 1 for label in labels]
    left = max(_width(line, SIZE) for label in labels for line in label.split("\n")) + 0.2
    numbers = [Number(*d[:4]) for c in comparisons for d in c.differences.values()]
    caption = [sheet.counts(numbers, "games_pair"), sheet.bars(), sheet.say("forest", relevant=RELEVANT)]
    top = 0.12 + 0.14 * max(head.count("\n") + 1 for head in heads)
    height = sum(0.16 + 0.1 * n for n in lines)
    box = Box(max(1.5, 5.4 / len(heads)), height, left=left, bottom=0.45, gap_x=0.15, top=top)
    figure, panels = sheet.panels(plot, box, 1, len(heads), caption, _lineup_legend(sheet, view))
    for axes, (head, mine) in zip(panels[0], heads.items(), strict=True):
        _forest_panel(view, axes, names, mine)
        axes.set_xlim(_effect_limits(names, comparisons))
        axes.set_title(head, loc="left")
        axes.set_yticks(range(len(names)), labels if axes is panels[0, 0] else [])
        axes.tick_params(axis="y", length=0, labelsize=SIZE)
    figure.text(
        (box.left + (figure.get_figwidth() - box.left) / 2) / figure.get_figwidth(),
        (panels[0, 0].get_position().y0 * figure.get_figheight() - 0.25) / figure.get_figheight(),
        sheet.say("effect_axis"),
        ha="center",
        va="top",
    )
    return figure


def _effect_limits(
    names: Sequence[tuple[str, str]], comparisons: Sequence[Comparison]
) -> tuple[float, float]:
    """Limits of the axis that hold every interval and the band round 0."""
    found = [d for c in comparisons for name in names if (d := c.differences.get(name)) and d.deviation]
    ends = [end / d.deviation for d in found for end in (d.low, d.high) if math.isfinite(end)]
    low, high = min([*ends, -1.2 * RELEVANT]), max([*ends, 1.2 * RELEVANT])
    return low - 0.04 * (high - low), high + 0.04 * (high - low)


def _forest_panel(
    view: View, axes: Axes, names: Sequence[tuple[str, str]], comparisons: Sequence[Comparison]
) -> None:
    axes.axvspan(-RELEVANT, RELEVANT, color="#E8E8E8", linewidth=0, zorder=0)
    axes.axvline(0, color=GREY, linewidth=0.6, zorder=1)
    for comparison in comparisons:
        colour, marker = _lineup_style(view, comparison.lineup)
        dodge = (view.lineups.index(comparison.lineup) - (len(view.lineups) - 1) / 2) * 0.3
        for place, name in enumerate(names):
            difference = comparison.differences.get(name)
            if difference is None or not difference.deviation:
                continue
            n, *ends = difference[:4]
            number = Number(n, *(value / difference.deviation for value in ends))
            axes.errorbar(
                number.estimate,
                place + dodge,
                xerr=_bars([number]),
                color=colour,
                marker=marker,
                markerfacecolor=colour if difference.clear else "white",
                markersize=3.5,
                markeredgewidth=0.8,
                elinewidth=0.8,
            )
    for place in range(1, len(names)):
        axes.axhline(place - 0.5, color=BAND, linewidth=0.6, zorder=0)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.spines["left"].set_visible(False)
