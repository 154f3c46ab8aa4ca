"""What every figure is drawn on: the language and its texts, colours, fonts, and a page of panels with a caption.

Colour and marker stand for the line-up everywhere except where a legend says otherwise; error bars are the intervals of
the tables. matplotlib is imported where something is drawn, not before.
"""

from __future__ import annotations

import functools
import importlib.util
import io
import itertools
import re
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from analysis import stats
from analysis.view import Number, View, wrapped
from sim.games import Words

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
"""Okabe and Ito's palette, which people with any kind of colour vision can tell apart."""

MARKERS = ("o", "s", "^", "D", "v", "P", "X")

INK, GREY, BAND = "#222222", "#777777", "#F2F2F2"

SIZE = 8.0
"""Font size of ordinary text, points."""

LEVEL = f"{100 * stats.LEVEL:.0f} %"

LEAST_WIDTH = 5.5
"""Narrowest figure, inches: titles and captions need the room."""

CJK_FONTS = (
    *("Noto Sans CJK TC", "Noto Sans TC", "Source Han Sans TC", "PingFang TC", "Microsoft JhengHei"),
    *("WenQuanYi Zen Hei", "Noto Sans CJK SC", "Noto Sans CJK JP", "Droid Sans Fallback", "Arial Unicode MS"),
)
"""Faces of other systems with traditional Chinese characters, the best first."""

LEGEND: dict[str, Any] = {
    "loc": "upper left",
    "frameon": False,
    "borderpad": 0,
    "borderaxespad": 0,
    "handletextpad": 0.4,
    "columnspacing": 1.4,
}

RC: dict[Any, Any] = {
    "svg.fonttype": "path",
    "svg.hashsalt": "fairdeal",
    "axes.formatter.useoffset": False,
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
        "semicolon": "; ",
        "seats": "{n} seats",
        "win_share": "win share, %",
        "loss_share": "lost games, %",
        "share_of_games": "share of games, %",
        "position_axis": "position in the order of play (1 = first player)",
        "class_axis": "{partition}",
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
        "lost_par": "Dashed: an even split of the lost games.",
        "lost_shares": "Where games only find a loser, all others share the win.",
        "first_rulesets": "The first {n} of {total} rulesets.",
        "first_lineups": "The first {n} of {total} line-ups.",
        "few_hands": "Classes with fewer than {n} hands are left out.",
        "suits": "Colour and marker: the card's suit.",
        "jokers": "BJ, RJ: black and red Joker.",
        "never_won": "Not shown: {lineups}, whose games hardly ever end.",
        "outcome_bars": "{level} intervals (Wilson) reach at most {half} points from any share.",
        "curves": "Curves: how many games last how long, all drawn to one height (turns a bin: {bins}), up to "
        "where at most 1 % of the games go on.",
        "beyond": "Arrows: medians beyond the axis, which is cut at four times the usual length.",
        "medians": "{level} intervals of the medians: at most ±{half}.",
        "chosen": "The game's own measures: those that differ most here.",
        "unchanged": "Equal in all of them: {list}.",
        "joined": "Lines join numbers only.",
        "base": "Dotted: {value}, which the others are compared with.",
        "forest": "Paired differences on common deals, divided by the standard deviation between games. Filled: clear "
        "after Holm's correction over the family. Grey band: slight, below {relevant} standard deviations.",
        "cut": "Arrows: beyond the axis, which is cut; the number is the effect.",
        "any": "games with any {name}, %",
        "first_player": "first player's advantage, points",
        "percent": "{name}, %",
        "title_position": "Who wins: win share by position",
        "title_losses": "Who loses: share of games lost by position",
        "title_class": "What an opening hand is worth: win share by {partition}",
        "title_card": "What an opening card is worth: win share with each card in the opening hand, {seats} seats",
        "title_outcomes": "How games end",
        "title_turns": "How long games last: turns until the end",
        "title_steps": "{family}: key measures",
        "title_factorial": "{family}: effects",
        "title_change": "From {a} to {b}: the largest differences",
        "interaction": "interaction of both",
    },
    "zh-Hant": {
        "comma": "、",
        "semicolon": "；",
        "seats": "{n} 人",
        "win_share": "勝率（%）",
        "loss_share": "輸局占比（%）",
        "share_of_games": "占總局數（%）",
        "position_axis": "出牌順位（1 = 先手）",
        "class_axis": "{partition}",
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
        "lost_par": "虛線：輸局平均分給每個人時的占比。",
        "lost_shares": "只分出輸家的局，其餘各家平分勝利。",
        "first_rulesets": "僅列出 {total} 套規則中的前 {n} 套。",
        "first_lineups": "僅列出 {total} 組玩家中的前 {n} 組。",
        "few_hands": "樣本少於 {n} 手的類別不列出。",
        "suits": "顏色與符號：該牌的花色。",
        "jokers": "BJ、RJ：黑、紅 Joker。",
        "never_won": "未列出{lineups}：這些局幾乎都不會結束。",
        "outcome_bars": "各占比的 {level} 信賴區間（Wilson）最多相差 {half} 個百分點。",
        "curves": "曲線：各種長度的局數，每條曲線畫成同樣高度（每 {bins} 回合一組），畫到至多剩下 1 % 的局為止。",
        "beyond": "箭號：中位數超出橫軸；橫軸截於一般長度的四倍。",
        "medians": "中位數的 {level} 信賴區間：最多 ±{half}。",
        "chosen": "遊戲自訂的指標：選出此處差異最大者。",
        "unchanged": "全部相同的指標：{list}。",
        "joined": "只有數字之間才連線。",
        "base": "點線：{value}，其他各值與之比較。",
        "forest": "相同發牌的成對差異，除以各局之間的標準差。實心：整組經 Holm 校正後仍明確；灰帶：不到 {relevant} "
        "個標準差的小差異。",
        "cut": "箭號：超出截短的橫軸，數字為效果大小。",
        "any": "{name}不為 0 的局（%）",
        "first_player": "先手優勢（百分點）",
        "percent": "{name}（%）",
        "title_position": "誰會贏：各順位的勝率",
        "title_losses": "誰會輸：各順位的輸局占比",
        "title_class": "起手牌的價值：依{partition}區分的勝率",
        "title_card": "起手每張牌的價值：持有該牌者的勝率（{seats} 人）",
        "title_outcomes": "牌局如何結束",
        "title_turns": "一局有多長：到結束為止的回合數",
        "title_steps": "{family}：主要指標",
        "title_factorial": "{family}：效果",
        "title_change": "從 {a} 到 {b}：最大的差異",
        "interaction": "兩者的交互作用",
    },
}

OUTCOME_WORDS: Mapping[str, Words] = {
    "win": {"en": "goal reached", "zh-Hant": "達成目標獲勝"},
    "survivor": {"en": "last survivor", "zh-Hant": "僅存者獲勝"},
    "loser_found": {"en": "loser found", "zh-Hant": "分出輸家"},
    "drawn": {"en": "drawn", "zh-Hant": "和局"},
    "stalled": {"en": "stalled", "zh-Hant": "停滯"},
}
"""Short names of the outcomes, for legends and headings."""


# --- Fonts and files -------------------------------------------------------------------------------------------------


def packaged_font() -> Path | None:
    """The Chinese face of the package pylopdf-fonts-zh-tw (Noto Sans TC, OFL), found without importing the package."""
    spec = importlib.util.find_spec("pylopdf_fonts_zh_tw")
    if spec is None or spec.origin is None:
        return None
    return next(iter(sorted(Path(spec.origin).parent.glob("NotoSansTC*.otf"))), None)


def faces() -> tuple[list[str], bool]:
    """The font families to use, in the order to look for a character, and whether one of them knows Chinese."""
    from matplotlib.font_manager import fontManager

    path = packaged_font()
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


def encoded(figure: Figure, ending: str) -> bytes:
    """The figure as a file's content, without a date or a version in it."""
    metadata = {"png": {"Software": None}, "svg": {"Date": None, "Creator": None}}[ending]
    buffer = io.BytesIO()
    figure.savefig(buffer, format=ending, metadata=metadata)
    return buffer.getvalue()


# --- The sheet --------------------------------------------------------------------------------------------------------


class Box(NamedTuple):
    """Margins of a figure in inches: left and below the panels, the gaps between them, and above the first row and
    right of the last column."""

    left: float
    bottom: float
    gap_x: float = 0.2
    gap_y: float = 0.3
    top: float = 0.2
    right: float = 0.15


class Panel(NamedTuple):
    """A panel's width and height, and the room before it when that is not the usual gap, inches."""

    width: float
    height: float
    before: float | None = None


class Sheet:
    """Draws in one language.

    Attributes:
        language: of the texts.
    """

    def __init__(self, language: str, families: Sequence[str]) -> None:
        self.language = language
        self._faces = tuple(families)

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
        return fitted(self.legible(view.short(name)), inches, lines)

    def lineup(self, view: View, name: str) -> str:
        """The players' titles of a line-up."""
        return self.legible(view.lineup(name, self.language))

    def wrapped(self, text: str, inches: float, size: float = SIZE) -> str:
        """The text broken into lines no wider than `inches`."""
        return "\n".join(wrapped(text, inches, lambda line: text_width(line, size)))

    def panels(
        self,
        title: str,
        box: Box,
        rows: Sequence[Sequence[Panel]],
        caption: Sequence[str],
        legend: Sequence[Any] = (),
    ) -> tuple[Figure, list[list[Axes]]]:
        """A figure with a title, a legend under it, rows of empty axes, and a caption at its foot.

        Returns:
            The figure and its axes by row.
        """
        from matplotlib.figure import Figure

        starts = [_starts(row, box) for row in rows]
        ends = [start[-1] + row[-1].width for start, row in zip(starts, rows, strict=True)]
        width = max(*ends, LEAST_WIDTH - box.right) + box.right
        heading = self.wrapped(self.legible(title), width - 0.2, SIZE + 3)
        joint = " " if self.language == "en" else ""
        foot = self.wrapped(joint.join(self.legible(text) for text in caption), width - 0.2, SIZE - 1)
        columns, lines = _legend_shape(legend, width - 0.2)
        head = 0.1 + 0.2 * (heading.count("\n") + 1) + (0.08 + 0.19 * lines if legend else 0.05)
        below = box.bottom + 0.1 + 0.145 * (foot.count("\n") + 1)
        heights = [max(panel.height for panel in row) for row in rows]
        height = head + box.top + sum(heights) + (len(rows) - 1) * box.gap_y + below
        figure = Figure(figsize=(width, height))
        figure.text(0.1 / width, 1 - 0.1 / height, heading, size=SIZE + 3, va="top", linespacing=1.25)
        figure.text(
            0.1 / width, 0.08 / height, foot, size=SIZE - 1, color="#555555", va="bottom", linespacing=1.4
        )
        if legend:
            corner = (0.1 / width, 1 - (head - 0.03 - 0.19 * lines) / height)
            figure.legend(handles=legend, bbox_to_anchor=corner, ncols=columns, **LEGEND)
        axes: list[list[Axes]] = []
        top = height - head - box.top
        for row, start, tallest in zip(rows, starts, heights, strict=True):
            places = [
                (x / width, (top - panel.height) / height, panel.width / width, panel.height / height)
                for x, panel in zip(start, row, strict=True)
            ]
            axes.append([figure.add_axes(place) for place in places])
            top -= tallest + box.gap_y
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


def _starts(row: Sequence[Panel], box: Box) -> list[float]:
    """Where the panels of a row begin."""
    starts = [box.left]
    for last, panel in itertools.pairwise(row):
        starts.append(starts[-1] + last.width + (box.gap_x if panel.before is None else panel.before))
    return starts


def _legend_shape(legend: Sequence[Any], width: float) -> tuple[int, int]:
    """Columns and lines of a legend no wider than `width` inches, the lines as evenly filled as they can be."""
    entry = max((text_width(each.get_label(), SIZE) for each in legend), default=0.0) + 0.55
    most = max(1, min(len(legend), int(width / entry)))
    lines = -(-len(legend) // most)
    return max(1, -(-len(legend) // max(1, lines))), lines


def text_width(text: str, size: float) -> float:
    """About how many inches wide a text is; glyphs are hinted to whole pixels, which widens Chinese ones a little."""
    return sum(1.04 if ord(c) > 0x2E7F else 0.36 if c in " .,:;il|()" else 0.62 for c in text) * size / 72


def fitted(name: str, inches: float, lines: int) -> str:
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


def lineup_style(view: View, lineup: str) -> tuple[str, str]:
    """Colour and marker of a line-up; the markers move on by one where the colours begin anew."""
    place = view.lineups.index(lineup)
    return COLOURS[place % len(COLOURS)], MARKERS[(place + place // len(COLOURS)) % len(MARKERS)]


def line_style(view: View, lineup: str) -> str:
    """How a line without markers is drawn: dashed and dotted where the colours begin anew."""
    return ("-", "--", ":")[view.lineups.index(lineup) // len(COLOURS) % 3]


def lineup_legend(sheet: Sheet, view: View, drawn: Iterable[str], marker: str = "") -> list[Any]:
    """Legend entries of the line-ups that are drawn, with their own markers unless told another."""
    names = set(drawn)
    shown = [name for name in view.lineups if name in names]
    entries = []
    for name in shown:
        colour, own = lineup_style(view, name)
        line = line_style(view, name) if marker == "none" else "-"
        entries.append(handle(sheet.lineup(view, name), color=colour, marker=marker or own, linestyle=line))
    return entries


def handle(label: str, **style: Any) -> Any:
    from matplotlib.lines import Line2D

    return Line2D([], [], label=label, **{"markersize": 4, "linewidth": 1.2, **style})


def bars(numbers: Sequence[Number], scale: float = 1.0) -> np.ndarray:
    """float64 [2, n]: how far the intervals reach below and above; NaN where nothing bounds them."""
    reach = (
        np.array([(x.estimate - x.low, x.high - x.estimate) for x in numbers], dtype=np.float64)
        .reshape(-1, 2)
        .T
    )
    return np.where(np.isfinite(reach), np.maximum(reach, 0) * scale, np.nan)


def points(
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
    axes.errorbar(x, [number.estimate * scale for number in numbers], bars(numbers, scale), **look)
