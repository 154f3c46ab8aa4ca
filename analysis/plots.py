"""The figures: each function draws one kind on a sheet and returns it.

All take the view, the sheet and the title in the sheet's language last, so that `functools.partial` can bind the rest.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from analysis.answers import RELEVANT
from analysis.sheet import (
    BAND,
    COLOURS,
    GREY,
    INK,
    LEVEL,
    MARKERS,
    OUTCOME_WORDS,
    SIZE,
    Box,
    Panel,
    Sheet,
    bars,
    fitted,
    handle,
    line_style,
    lineup_legend,
    lineup_style,
    points,
    text_width,
)
from analysis.view import LEAST_HANDS, Case, Comparison, Number, View, largest_changes
from sim.cards import RANKS, SUITS, SYMBOLS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from sim.config import Family

OUTCOME_COLOURS = {
    "win": "#56B4E9",
    "survivor": "#E69F00",
    "loser_found": "#CC79A7",
    "drawn": "#999999",
    "stalled": "#000000",
}

SUIT_COLOURS = dict(zip(SUITS, ("#000000", "#D55E00", "#E69F00", "#0072B2"), strict=True))

MOST_MAIN = 10
MOST_STEPS = 40
MOST_ROWS = 14
"""Most rulesets side by side in a figure of all tables, most steps of a family, most measures in a forest plot."""

MOST_WIDTH = 12.0
"""Panels of different tables stand side by side up to this width, inches."""


def _main(sheet: Sheet, view: View) -> tuple[tuple[str, ...], list[str]]:
    """The rulesets of the figures that show all tables, and a caption when there are more."""
    shown = view.main[:MOST_MAIN]
    note = sheet.say("first_rulesets", n=len(shown), total=len(view.main))
    return shown, [note] if len(view.main) > len(shown) else []


def _found(view: View, cases: Iterable[Case], metric: str, key: str) -> list[Number]:
    """A number of each case that has it."""
    return [number for case in cases if (number := view.number(case, metric, key))]


# --- Shares in strips -------------------------------------------------------------------------------------------------

STRIP, STRIP_GAP = 9.0, 0.75
"""The widest row of strips, and the room for the labels of each, inches."""


class _Group(NamedTuple):
    """A ruleset in a strip: its cases, the keys along its axis, and its width in inches."""

    ruleset: str
    cases: tuple[Case, ...]
    keys: tuple[str, ...]
    width: float

    @property
    def slot(self) -> float:
        """The room of a key, inches; one slot is left between groups."""
        return self.width / (len(self.keys) + 1)


def position_cases(view: View, metric: str) -> dict[Case, list[str]]:
    """The cases whose `win_share`, or whose `loss_share` where games only find losers, is drawn by position."""
    lost = metric == "loss_share"
    return {
        case: [str(position + 1) for position in range(case.seats)]
        for case in view.cases(view.main[:MOST_MAIN])
        if view.loses(case) == lost and not view.unwon(case)
    }


def positions(view: View, metric: str, sheet: Sheet, title: str) -> Figure:
    """Win share, or share of games lost, by position: strips per number of seats, in them a group per ruleset."""
    cases = position_cases(view, metric)
    texts = [sheet.counts(_found(view, cases, metric, "1"), "games"), sheet.bars()]
    texts += [sheet.say("lost_par" if metric == "loss_share" else "par")]
    caption = [
        *texts,
        *_unwon_caption(view, sheet, view.cases(view.main[:MOST_MAIN])),
        *_main(sheet, view)[1],
    ]
    return _strips(view, sheet, title, metric, cases, sheet.say("position_axis"), caption)


def class_cases(view: View, partition: str) -> dict[Case, list[str]]:
    """The cases in which hands differ by the partition, with the classes to draw."""
    metric = f"win_share_by_{partition}"
    found = {}
    for case in view.cases(view.main[:MOST_MAIN]):
        numbers = view.keys(case, metric)
        keys = [key for key, number in numbers.items() if key.isdigit() and number.n >= LEAST_HANDS]
        if len(keys) > 1 and not view.unwon(case):
            found[case] = keys
    return found


def classes(view: View, partition: str, sheet: Sheet, title: str) -> Figure:
    """Win share by the class of the opening hand, drawn as `positions`."""
    metric = f"win_share_by_{partition}"
    cases = class_cases(view, partition)
    shown = [view.keys(case, metric)[key] for case, keys in cases.items() for key in keys]
    texts = [sheet.counts(shown, "hands"), sheet.bars(), *_par_caption(view, sheet, cases)]
    texts += _unwon_caption(view, sheet, view.cases(view.main[:MOST_MAIN]))
    caption = [*texts, sheet.say("few_hands", n=LEAST_HANDS), *_main(sheet, view)[1]]
    words = next(part for part in view.game.partitions if part.name == partition)
    label = sheet.say("class_axis", partition=words.en if sheet.language == "en" else words.zh)
    return _strips(view, sheet, title, metric, cases, label, caption)


def _par_caption(view: View, sheet: Sheet, cases: Iterable[Case]) -> list[str]:
    """What the dashed line is, and what a win share is where nobody wins."""
    lost = [sheet.say("lost_shares")] if any(view.loses(case) for case in cases) else []
    return [sheet.say("par"), *lost]


def _unwon_caption(view: View, sheet: Sheet, cases: Iterable[Case]) -> list[str]:
    """Which line-ups are left out because there is nothing to tell."""
    unwon = dict.fromkeys(case.lineup for case in cases if view.unwon(case))
    words = sheet.say("comma").join(sheet.lineup(view, name) for name in unwon)
    return [sheet.say("never_won", lineups=words)] if unwon else []


def _groups(view: View, cases: Mapping[Case, Sequence[str]], seats: int) -> list[_Group]:
    """The groups of a number of seats: as wide as their keys, line-ups and, if not too long, names need."""
    groups = []
    for name in view.rulesets:
        mine = tuple(case for case in cases if (case.ruleset, case.seats) == (name, seats))
        if mine:
            keys = tuple(sorted({key for case in mine for key in cases[case]}, key=int))
            slot = max(0.19, 0.05 + 0.07 * len(mine))
            title = min(max(0.85, text_width(view.short(name), SIZE) + 0.2), 1.3)
            groups.append(_Group(name, mine, keys, max((len(keys) + 1) * slot, title)))
    return groups


class _Strip(NamedTuple):
    """Groups side by side, all of one number of seats."""

    seats: int
    groups: Sequence[_Group]

    @property
    def width(self) -> float:
        """Its width, inches."""
        return sum(group.width for group in self.groups)


def _strip_rows(view: View, cases: Mapping[Case, Sequence[str]]) -> list[list[_Strip]]:
    """Strips in rows as wide as allowed: the groups of many rulesets fill several rows, few share one."""
    rows: list[list[_Strip]] = []
    for seats in sorted({case.seats for case in cases}):
        strips = [_Strip(seats, [])]
        for group in _groups(view, cases, seats):
            if strips[-1].groups and strips[-1].width + group.width > STRIP:
                strips.append(_Strip(seats, []))
            strips[-1] = _Strip(seats, [*strips[-1].groups, group])
        for strip in strips:
            if rows and _row_width([*rows[-1], strip]) <= STRIP:
                rows[-1].append(strip)
            else:
                rows.append([strip])
    widest = max(map(_row_width, rows))
    stretch = min(2.5, max(1.0, 4.4 / widest))
    return [[_stretched(strip, stretch) for strip in row] for row in rows]


def _row_width(row: Sequence[_Strip]) -> float:
    return sum(strip.width for strip in row) + STRIP_GAP * (len(row) - 1)


def _stretched(strip: _Strip, factor: float) -> _Strip:
    return _Strip(strip.seats, [group._replace(width=group.width * factor) for group in strip.groups])


def _strips(
    view: View,
    sheet: Sheet,
    title: str,
    metric: str,
    cases: Mapping[Case, Sequence[str]],
    label: str,
    caption: Sequence[str],
) -> Figure:
    """Strips of groups, those of a number of seats on one scale; a point a key, a colour a line-up."""
    rows = _strip_rows(view, cases)
    names = {
        group: sheet.ruleset(view, group.ruleset, group.width - 0.08, 3)
        for row in rows
        for strip in row
        for group in strip.groups
    }
    head = 0.08 + 0.13 * max(name.count("\n") + 1 for name in names.values())
    box = Box(left=STRIP_GAP, bottom=0.45, gap_x=STRIP_GAP, gap_y=0.22 + head, top=head)
    sizes = [[Panel(strip.width, 1.1) for strip in row] for row in rows]
    legend = lineup_legend(sheet, view, (case.lineup for case in cases))
    figure, panels = sheet.panels(title, box, sizes, caption, legend)
    for row, strips in zip(panels, rows, strict=True):
        for axes, strip in zip(row, strips, strict=True):
            _strip(view, axes, metric, strip.groups, names)
            axes.set_ylabel(f"{sheet.say('seats', n=strip.seats)}\n{_share_words(sheet, metric)}")
            same = [group for other in rows for s in other if s.seats == strip.seats for group in s.groups]
            axes.set_ylim(_share_limits(_drawn(view, metric, same)))
    panels[-1][0].set_xlabel(label, loc="left")
    return figure


def _share_words(sheet: Sheet, metric: str) -> str:
    return sheet.say("loss_share" if metric == "loss_share" else "win_share")


def _drawn(view: View, metric: str, groups: Iterable[_Group]) -> list[Number]:
    """All numbers of some groups, and the lines they are measured against."""
    found = []
    for case in (case for group in groups for case in group.cases):
        numbers = view.keys(case, metric)
        found += [numbers[key] for key in numbers if _enough(metric, numbers, key)]
        par = _par(view, case, metric)
        found.append(Number(1, par, par, par))
    return found


def _share_limits(numbers: Sequence[Number]) -> tuple[float, float]:
    """Limits in per cent: from 0, but where all shares lie close together from a little below them."""
    ends = [100 * end for x in numbers for end in (x.estimate, x.low, x.high) if math.isfinite(end)]
    low, high = min(ends), max(ends)
    if low < 0.6 * high or high == low:
        return 0.0, 1.05 * high or 1.0
    return low - 0.1 * (high - low), high + 0.1 * (high - low)


def _par(view: View, case: Case, metric: str) -> float:
    """What a seat's share is measured against; NaN when unknown."""
    lost = metric == "loss_share"
    number = view.number(case, "outcome", "loser_found") if lost else view.number(case, "win_share", "all")
    return (number.estimate / case.seats if lost else number.estimate) if number else math.nan


def _enough(metric: str, numbers: Mapping[str, Number], key: str) -> bool:
    """Whether a share is drawn: classes of hands only with enough of them, and no `>=k`."""
    if not metric.startswith("win_share_by_"):
        return key.isdigit()
    return key.isdigit() and numbers[key].n >= LEAST_HANDS


def dodges(names: Sequence[Any], step: float, room: float) -> dict[Any, float]:
    """How far each of the names stands beside a common place: evenly around it, at most `room` apart in all."""
    step = min(step, room / max(1, len(names) - 1))
    return {name: (k - (len(names) - 1) / 2) * step for k, name in enumerate(names)}


def _strip(
    view: View, axes: Axes, metric: str, groups: Sequence[_Group], heads: Mapping[_Group, str]
) -> None:
    """Draw a row of groups, under their names; the axis is in inches."""
    start = 0.0
    ticks: list[float] = []
    labels: list[str] = []
    for place, group in enumerate(groups):
        end = start + group.width
        if place % 2:
            axes.axvspan(start, end, color=BAND, linewidth=0, zorder=0)
        middle = (start + end) / 2
        axes.text(middle, 1.02, heads[group], transform=axes.get_xaxis_transform(), ha="center", va="bottom")
        _group(view, axes, metric, group, start)
        ticks += [start + group.slot * (k + 1) for k in range(len(group.keys))]
        labels += group.keys
        start = end
    axes.set_xticks(ticks, labels)
    axes.tick_params(axis="x", length=0, pad=2)
    axes.set_xlim(0, start)


def _group(view: View, axes: Axes, metric: str, group: _Group, start: float) -> None:
    shifts = dodges([case.lineup for case in group.cases], 0.24 * group.slot, 0.75 * group.slot)
    for case in group.cases:
        colour, marker = lineup_style(view, case.lineup)
        numbers = view.keys(case, metric)
        found = [
            (start + group.slot * (k + 1) + shifts[case.lineup], numbers[key])
            for k, key in enumerate(group.keys)
            if key in numbers and _enough(metric, numbers, key)
        ]
        # More lines than this would be a tangle.
        style = {"color": colour, "marker": marker, "linestyle": "-" if len(group.cases) <= 7 else "none"}
        points(axes, [x for x, _ in found], [number for _, number in found], 100, **style)
        ends = (start + 0.4 * group.slot, start + group.width - 0.4 * group.slot)
        par = 100 * _par(view, case, metric)
        axes.hlines(par, *ends, colors=colour, linestyles=(0, (4, 3)), linewidth=0.7)


# --- Opening cards ----------------------------------------------------------------------------------------------------


CARD_LINEUPS = 3


def cards(view: View, sheet: Sheet, title: str) -> Figure:
    """Win share by opening card: a row per ruleset in focus, a panel per line-up (the first), a colour per suit."""
    ticks = [*RANKS, *view.jokers]
    legend = [
        handle(SYMBOLS[suit], color=SUIT_COLOURS[suit], marker=MARKERS[k], linestyle="none")
        for k, suit in enumerate(SUITS)
    ]
    cases = [case for case in view.cases(view.focus, seats=[view.most_seats]) if not view.unwon(case)]
    rows = {name: [c for c in cases if c.ruleset == name] for name in view.focus}
    total = max(map(len, rows.values()))
    rows = {name: mine[:CARD_LINEUPS] for name, mine in rows.items() if mine}
    names = [sheet.ruleset(view, name, 1.3, 2) for name in rows]
    # Where the rulesets do not meet the same line-ups, every row has its own titles and labels.
    uneven = len({tuple(case.lineup for case in mine) for mine in rows.values()}) > 1
    box = Box(
        left=0.75 + 0.13 * max(name.count("\n") for name in names),
        bottom=0.45,
        gap_x=0.4,
        gap_y=0.55 if uneven else 0.2,
        top=0.25,
    )
    sizes = [[Panel(0.29 * len(ticks), 1.3)] * len(mine) for mine in rows.values()]
    figure, panels = sheet.panels(title, box, sizes, _cards_caption(view, sheet, rows, total), legend)
    for place, (label, mine, row) in enumerate(zip(names, rows.values(), panels, strict=True)):
        for case, axes in zip(mine, row, strict=True):
            _card_panel(view, axes, case, ticks)
            if uneven or place == 0:
                axes.set_title(sheet.lineup(view, case.lineup), loc="left")
            if not uneven and place < len(rows) - 1:
                axes.set_xticklabels([])
        _share_y(row)
        row[0].set_ylabel(f"{label}\n{sheet.say('win_share')}")
    for axes in panels[-1]:
        axes.set_xlabel(sheet.say("card_axis"))
    return figure


def _cards_caption(view: View, sheet: Sheet, rows: Mapping[str, Sequence[Case]], total: int) -> list[str]:
    cases = [case for mine in rows.values() for case in mine]
    shown = [x for case in cases for x in view.keys(case, "win_share_by_card").values()]
    caption = [sheet.counts(shown, "hands"), sheet.bars(), *_par_caption(view, sheet, cases)]
    caption.append(sheet.say("suits"))
    if total > CARD_LINEUPS:
        caption.append(sheet.say("first_lineups", n=CARD_LINEUPS, total=total))
    if len(view.jokers) > 1:
        caption.append(sheet.say("jokers"))
    return [*caption, *_unwon_caption(view, sheet, view.cases(rows, seats=[view.most_seats]))]


def _card_panel(view: View, axes: Axes, case: Case, ticks: Sequence[str]) -> None:
    numbers = view.keys(case, "win_share_by_card")
    for k, suit in enumerate(SUITS):
        found = [
            (place + (k - 1.5) * 0.17, suit + rank)
            for place, rank in enumerate(RANKS)
            if suit + rank in numbers
        ]
        style = {"color": SUIT_COLOURS[suit], "marker": MARKERS[k]}
        points(axes, [x for x, _ in found], [numbers[card] for _, card in found], 100, **style)
    jokers = [(place, name) for place, name in enumerate(ticks) if name in numbers]
    style = {"color": COLOURS[2], "marker": MARKERS[4]}
    points(axes, [x for x, _ in jokers], [numbers[name] for _, name in jokers], 100, **style)
    par = view.number(case, "win_share", "all")
    if par:
        axes.axhline(100 * par.estimate, color=INK, linestyle=(0, (4, 3)), linewidth=0.7)
    for place in range(0, len(ticks), 2):
        axes.axvspan(place - 0.5, place + 0.5, color=BAND, linewidth=0, zorder=0)
    axes.set_xticks(range(len(ticks)), [view.card(name) if name in view.jokers else name for name in ticks])
    axes.tick_params(axis="x", length=0)
    axes.set_xlim(-0.5, len(ticks) - 0.5)


def _share_y(row: Sequence[Axes]) -> None:
    """Give the axes of a row the same limits, unless what one shows would be flat within those of another."""
    limits = np.array([axes.get_ylim() for axes in row])
    low, high = limits[:, 0].min(), limits[:, 1].max()
    if high - low < 3 * np.ptp(limits, axis=1).min():
        for axes in row:
            axes.set_ylim(low, high)


# --- Tables side by side: outcomes and lengths ------------------------------------------------------------------------


class _Table(NamedTuple):
    """A panel for a number of seats: its rows, and whether they are labelled or those of the panel before it."""

    seats: int
    rows: tuple[Any, ...]
    labelled: bool


def _tables(
    view: View, rows: Callable[[Sequence[Case]], tuple[Any, ...]], cases: Sequence[Case]
) -> list[tuple[int, tuple[Any, ...]]]:
    """(number of seats, its rows): only what was played, so that no place stays empty; equal rows one after another."""
    alike: dict[tuple[Any, ...], list[int]] = {}
    for seats in sorted({case.seats for case in cases}):
        alike.setdefault(rows([case for case in cases if case.seats == seats]), []).append(seats)
    return [(seats, mine) for mine, together in alike.items() for seats in together]


LABEL_GAP = 0.5
"""The room between a panel and the labels of the next one, inches."""

MOST_EMPTY = 1.6
"""Side by side no panel is higher than another by this, inches."""


def _table_rows(
    tables: Sequence[tuple[int, tuple[Any, ...]]], width: float, row: float, box: Box
) -> list[list[_Table]]:
    """Panels of a width side by side as far as there is room and they are about as high, with rows of `row` inches;
    where the labels are the same they stand once."""
    rows: list[list[_Table]] = []
    used = 0.0
    for seats, mine in sorted(tables, key=lambda table: len(table[1])):
        labelled = not rows or rows[-1][-1].rows != mine
        used += width + (box.left + LABEL_GAP if labelled else box.gap_x)
        alike = bool(rows) and row * (len(mine) - len(rows[-1][0].rows)) < MOST_EMPTY
        if alike and used + box.right <= MOST_WIDTH:
            rows[-1].append(_Table(seats, mine, labelled))
        else:
            rows.append([_Table(seats, mine, True)])
            used = box.left + width
    return rows


def endings_differ(view: View) -> bool:
    """Whether games end in more than one way, so that there is something to draw."""
    shares = {
        tuple(number.estimate for number in view.keys(case, "outcome").values()) for case in view.cases()
    }
    return len(shares) > 1 or not all(1 in found for found in shares)


def outcomes(view: View, sheet: Sheet, title: str) -> Figure:
    """Shares of the outcomes: a panel per number of seats, a stacked bar per ruleset and line-up."""
    from matplotlib.patches import Patch

    rulesets, note = _main(sheet, view)
    cases = view.cases(rulesets)
    words = view.outcomes()
    shown = [number for case in cases for word in words if (number := view.number(case, "outcome", word))]
    half = f"{100 * max(number.half for number in shown):.1f}"
    caption = [sheet.counts(shown, "games_bar"), sheet.say("outcome_bars", level=LEVEL, half=half), *note]

    def rows(mine: Sequence[Case]) -> tuple[tuple[str, str], ...]:
        order = [(name, lineup) for name in rulesets for lineup in view.lineups]
        played = {case[:2] for case in mine}
        return tuple(row for row in order if row in played)

    def label(row: tuple[str, str]) -> str:
        return sheet.ruleset(view, row[0], 2) + sheet.say("comma") + sheet.lineup(view, row[1])

    tables = _tables(view, rows, cases)
    left = max(text_width(label(row), SIZE - 1) for _, mine in tables for row in mine) + 0.2
    box = Box(left=left, bottom=0.45, gap_x=0.62, gap_y=0.9, top=0.42, right=0.68)
    arranged = _table_rows(tables, 1.5, 0.17, box)
    sizes = [
        [Panel(1.5, 0.17 * len(t.rows) + 0.1, left + LABEL_GAP if t.labelled else None) for t in row]
        for row in arranged
    ]
    legend = [Patch(color=OUTCOME_COLOURS[word], label=OUTCOME_WORDS[word][sheet.language]) for word in words]
    figure, panels = sheet.panels(title, box, sizes, caption, legend)
    for axes, table in _each(panels, arranged):
        _outcome_panel(view, axes, table.rows, words, table.seats)
        axes.set_title(sheet.say("seats", n=table.seats), loc="left", pad=14)
        axes.text(103, -0.75, sheet.say("stalled_share"), size=SIZE - 1.5, va="bottom", ha="left")
        axes.set_xlabel(sheet.say("share_of_games"))
        if table.labelled:
            axes.set_yticks(range(len(table.rows)), [label(row) for row in table.rows])
    return figure


def _each(
    panels: Sequence[Sequence[Axes]], arranged: Sequence[Sequence[_Table]]
) -> Iterator[tuple[Axes, _Table]]:
    """Every panel with what it shows."""
    for row, tables in zip(panels, arranged, strict=True):
        yield from zip(row, tables, strict=True)


def _outcome_panel(
    view: View, axes: Axes, rows: Sequence[tuple[str, str]], words: Sequence[str], seats: int
) -> None:
    start = np.zeros(len(rows))
    # A little room before each ruleset.
    first = [k == 0 or rows[k - 1][0] != name for k, (name, _) in enumerate(rows)]
    places = np.arange(len(rows)) + 0.08 * np.array(first)
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


def turns(view: View, sheet: Sheet, title: str) -> Figure:
    """Distributions of the length: a panel per number of seats, a row per ruleset, a curve per line-up."""
    rulesets, note = _main(sheet, view)
    cases = view.cases(rulesets)

    def rows(mine: Sequence[Case]) -> tuple[str, ...]:
        return tuple(name for name in rulesets if any(case.ruleset == name for case in mine))

    tables = _tables(view, rows, cases)
    bins = {seats: _turn_bins(view, [case for case in cases if case.seats == seats]) for seats, _ in tables}
    left = max(text_width(sheet.ruleset(view, name, 2), SIZE) for _, mine in tables for name in mine) + 0.2
    box = Box(left=left, bottom=0.45, gap_x=0.25, gap_y=0.75, top=0.25)
    arranged = _table_rows(tables, 1.95, 0.48, box)
    sizes = [
        [Panel(1.95, 0.48 * len(t.rows) + 0.3, left + LABEL_GAP if t.labelled else None) for t in row]
        for row in arranged
    ]
    legend = lineup_legend(sheet, view, (case.lineup for case in cases), "none")
    legend.append(handle(sheet.say("median"), color=GREY, marker="|", linestyle="none", markeredgewidth=1.6))
    caption = [*_turns_caption(view, sheet, cases, bins), *note]
    figure, panels = sheet.panels(title, box, sizes, caption, legend)
    for axes, table in _each(panels, arranged):
        _ridges(view, axes, table.rows, table.seats, bins[table.seats])
        axes.set_title(sheet.say("seats", n=table.seats), loc="left")
        axes.set_xlabel(sheet.say("turns_axis"))
        if table.labelled:
            names = [sheet.ruleset(view, name, 2) for name in table.rows]
            axes.set_yticks(range(len(names)), names)
            axes.tick_params(axis="y", length=0, labelsize=SIZE)
    return figure


def _turns_caption(
    view: View, sheet: Sheet, cases: Sequence[Case], bins: Mapping[int, np.ndarray]
) -> list[str]:
    widths = sorted({int(edges[1] - edges[0]) for edges in bins.values()})
    texts = [
        sheet.counts(_found(view, cases, "turns", "mean"), "games_curve"),
        sheet.say("curves", bins=sheet.say("comma").join(map(str, widths))),
    ]
    medians = {case: number for case in cases if (number := view.number(case, "turns", "p50"))}
    half = max((median.half for median in medians.values()), default=math.inf)
    if math.isfinite(half):
        texts.append(sheet.say("medians", level=LEVEL, half=f"{half:.0f}"))
    if any(median.estimate >= bins[case.seats][-1] for case, median in medians.items()):
        texts.append(sheet.say("beyond"))
    return texts


def _lengths(view: View, case: Case) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of turns and the shares of games that lasted so long."""
    numbers = view.keys(case, "turns_histogram")
    values = np.array([int(key.removeprefix(">=")) for key in numbers], dtype=np.float64)
    return values, np.array([number.estimate for number in numbers.values()])


LEAST_TURNS = 8
"""The axis holds at least so many turns."""


def _turn_bins(view: View, cases: Sequence[Case]) -> np.ndarray:
    """Edges of about forty bins of whole turns: from the shortest game, or 0 when that is near, to where at most 1 % of
    any case's games are left, but never beyond four times where that is in the middle one. A number of turns lies in
    the middle of its bin where bins are of one."""
    first, ends = math.inf, []
    for case in cases:
        values, shares = _lengths(view, case)
        first = min(first, float(values[0]))
        ends.append(float(values[min(int(np.searchsorted(shares.cumsum(), 0.99)), len(values) - 1)]))
    last = min(max(ends), 4 * float(np.median(ends)))
    first = max(0.0, min(first, last - LEAST_TURNS)) if first > 0.4 * last else 0.0
    width = math.ceil((last + 1 - first) / 40)
    start = width * (first // width)
    return np.arange(start, last + width + 1, width) - 0.5


def _ridges(view: View, axes: Axes, rulesets: Sequence[str], seats: int, edges: np.ndarray) -> None:
    """A row a ruleset, in it a curve a line-up; all are drawn to the same height, whatever their areas."""
    from matplotlib.ticker import MaxNLocator

    for base in range(len(rulesets)):
        axes.axhline(base, color=GREY, linewidth=0.4)
    for case in view.cases(rulesets, seats=[seats]):
        base = rulesets.index(case.ruleset)
        colour, _ = lineup_style(view, case.lineup)
        values, shares = _lengths(view, case)
        curve = np.histogram(values, edges, weights=shares)[0]
        heights = base - 0.76 * curve / (curve.max() or 1.0)
        axes.stairs(heights, edges, baseline=base, fill=True, color=colour, alpha=0.18, linewidth=0)
        line = line_style(view, case.lineup)
        axes.stairs(heights, edges, baseline=None, color=colour, linestyle=line, linewidth=0.8)
    axes.set_xlim(edges[0], edges[-1])
    axes.xaxis.set_major_locator(MaxNLocator(5, integer=True))
    axes.set_ylim(len(rulesets) - 0.8, -1)
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    for name in rulesets:
        _medians(view, axes, rulesets.index(name), view.cases([name], seats=[seats]), edges)


def _medians(view: View, axes: Axes, base: int, cases: Sequence[Case], edges: np.ndarray) -> None:
    """The medians of a row as strokes below it; those beyond the axis as arrows with their numbers."""
    beyond = 0
    for case in cases:
        colour, _ = lineup_style(view, case.lineup)
        median = view.number(case, "turns", "p50")
        if median is None:
            continue
        if median.estimate < edges[-1]:
            ends = [base, base + 0.13]
            axes.plot([median.estimate] * 2, ends, color=colour, linewidth=1.6, clip_on=False)
            continue
        text = f"{median.estimate:,.0f} →"
        height = base - 0.72 + 0.26 * beyond
        axes.text(edges[-1], height, text, color=colour, size=SIZE - 1.5, ha="right", va="top")
        beyond += 1


# --- Families: key measures from ruleset to ruleset -------------------------------------------------------------------


class Measure(NamedTuple):
    """A panel of a family's figure: a number of metrics.csv and its scale."""

    metric: str
    key: str
    scale: float = 1.0


MOST_MEASURES = 6


def step_measures(view: View, family: Family) -> tuple[list[Measure], list[Measure]]:
    """The measures to draw, those that differ between the rulesets of any table: length, first player's advantage and
    choices, then the game's own; and which of the first three do not differ."""
    cases = view.family_cases(family)
    always = [
        Measure("turns", "mean"),
        Measure("first_player_advantage", "all", 100),
        Measure("moves_per_decision", "all"),
    ]
    own = []
    for event in view.events[:1]:
        own.append(Measure(event.name, "mean", 100 if event.yes_no else 1))
        if event.bins:
            own.append(Measure(event.name, "share_any", 100))
    own += [Measure(counter.name, "mean") for counter in view.telling_counters(cases)]
    drawn = [m for m in (*always, *own) if view.varies(cases, m.metric, m.key)]
    return drawn[:MOST_MEASURES], [m for m in always if m not in drawn]


def _measure_words(view: View, sheet: Sheet, measure: Measure) -> str:
    if measure.metric == "first_player_advantage":
        return sheet.say("first_player")
    if measure.key == "share_any":
        return sheet.say("any", name=view.words(measure.metric, "", sheet.language))
    words = view.words(measure.metric, measure.key, sheet.language)
    return sheet.say("percent", name=words) if measure.scale == 100 else words


def steps(view: View, family: Family, sheet: Sheet, title: str) -> Figure:
    """Key measures of the rulesets of a family; colour = line-up, marker = number of seats. Only where the rulesets are
    the numbers of a toggle do lines join them."""
    steps = view.steps(family)[:MOST_STEPS]
    labels = [fitted(sheet.legible(label), 1.3, 2) for _, label in steps]
    measures, unchanged = step_measures(view, family)
    longest = max(text_width(line, SIZE - 1) for label in labels for line in label.split("\n"))
    upright = longest * len(labels) > 2.6
    room = longest + 0.1 if upright else 0.2
    width = max(2.7, 0.16 * len(labels))
    words = [sheet.wrapped(_measure_words(view, sheet, measure), width) for measure in measures]
    head = 0.12 + 0.13 * max(text.count("\n") + 1 for text in words)
    box = Box(left=0.6, bottom=room + 0.25, gap_x=0.62, gap_y=room + 0.1 + head, top=head)
    columns = 2 if len(measures) in (2, 4) else 3
    sizes = [
        [Panel(width, 1.25)] * min(columns, len(measures) - start)
        for start in range(0, len(measures), columns)
    ]
    caption, legend = (
        _steps_caption(view, family, sheet, measures, unchanged),
        _steps_legend(view, family, sheet),
    )
    figure, panels = sheet.panels(title, box, sizes, caption, legend)
    for axes, measure, text in zip((a for row in panels for a in row), measures, words, strict=True):
        axes.set_title(text, loc="left")
        _step_panel(view, axes, family, measure)
        axes.set_xticks(range(len(labels)), labels, rotation=90 if upright else 0)
        axes.set_xlim(-0.5, len(labels) - 0.5)
    for axes in panels[-1]:
        axes.set_xlabel(view.toggle(family) or "")
    return figure


def _steps_caption(
    view: View, family: Family, sheet: Sheet, measures: Sequence[Measure], unchanged: Sequence[Measure]
) -> list[str]:
    cases = view.family_cases(family)
    shown = [x for m in measures for x in _found(view, cases, m.metric, m.key)]
    caption = [sheet.counts(shown, "games"), sheet.bars()]
    base = view.baseline(family)
    if base:
        caption.append(sheet.say("base", value=f"{view.toggle(family) or ''} {base}".strip()))
    numbers = [_is_number(label) for _, label in view.steps(family)]
    if view.toggle(family) and sum(numbers) > 1 and not all(numbers):
        caption.append(sheet.say("joined"))
    caption.append(sheet.say("chosen"))
    if unchanged:
        words = [_measure_words(view, sheet, measure) for measure in unchanged]
        caption.append(sheet.say("unchanged", list=sheet.say("semicolon").join(words)))
    return caption


def _steps_legend(view: View, family: Family, sheet: Sheet) -> list[Any]:
    """The line-ups; with several numbers of seats, which marker is which."""
    lineups = view.family_lineups(family)
    if len(family.seats) == 1:
        return lineup_legend(sheet, view, lineups)
    return [
        *lineup_legend(sheet, view, lineups, "none"),
        *(
            handle(sheet.say("seats", n=n), color=GREY, marker=_seat_marker(family, n), linestyle="none")
            for n in sorted(family.seats)
        ),
    ]


def _seat_marker(family: Family, seats: int) -> str:
    return MARKERS[sorted(family.seats).index(seats) % len(MARKERS)]


def _is_number(label: str) -> bool:
    return label.removeprefix("-").isdigit()


def _step_panel(view: View, axes: Axes, family: Family, measure: Measure) -> None:
    steps = view.steps(family)[:MOST_STEPS]
    tables = list(dict.fromkeys((case.lineup, case.seats) for case in view.family_cases(family)))
    shifts = dodges(tables, 0.16, 0.7)
    for lineup, seats in tables:
        found = [
            (place + shifts[lineup, seats], label, number)
            for place, (name, label) in enumerate(steps)
            if (number := view.number(Case(name, lineup, seats), measure.metric, measure.key))
        ]
        colour, own = lineup_style(view, lineup)
        style = {"color": colour, "marker": _seat_marker(family, seats) if len(family.seats) > 1 else own}
        points(axes, [x for x, _, _ in found], [number for _, _, number in found], measure.scale, **style)
        line = [(x, number) for x, label, number in found if view.toggle(family) and _is_number(label)]
        heights = [number.estimate * measure.scale for _, number in line]
        axes.plot([x for x, _ in line], heights, color=colour, linewidth=0.8)
    base = view.baseline(family)
    if base:
        place = [label for _, label in view.steps(family)].index(base)
        axes.axvline(place, color=GREY, linestyle=":", linewidth=0.8, zorder=0)
    if measure.metric == "first_player_advantage":
        axes.axhline(0, color=GREY, linewidth=0.6, zorder=0)


# --- Forest plots -----------------------------------------------------------------------------------------------------


def contrast_words(sheet: Sheet, comparison: Comparison) -> str:
    """What a contrast of a factorial family changes."""
    if comparison.kind == "interaction":
        return sheet.say("interaction")
    toggle, _, low = comparison.a.partition("=")
    return f"{toggle}\n{low} → {comparison.b.partition('=')[2]}"


def forest(
    view: View,
    comparisons: Sequence[Comparison],
    heading: Callable[[Sheet, Comparison], str],
    sheet: Sheet,
    title: str,
) -> Figure:
    """Standardised differences: a row per measure, a panel per heading (and seats), a colour per line-up."""
    names = largest_changes(comparisons)[:MOST_ROWS]
    comparisons = [c for c in comparisons if any(name in c.differences for name in names)]
    heads = _forest_heads(comparisons, heading, sheet)
    token = max(text_width(word, SIZE) for head in heads for word in head.split())
    width = max(1.5, 5.4 / len(heads), token + 0.1)
    heads = {
        "\n".join(sheet.wrapped(line, width) for line in head.split("\n")): c for head, c in heads.items()
    }
    labels = [sheet.wrapped(sheet.legible(view.words(*name, sheet.language)), 2.6) for name in names]
    left = max(text_width(line, SIZE) for label in labels for line in label.split("\n")) + 0.2
    limit = _cut(names, comparisons)
    caption = _forest_caption(sheet, names, comparisons, limit)
    lineups = [name for name in view.lineups if any(c.lineup == name for c in comparisons)]
    shifts = dodges(lineups, 0.3, 0.6)
    row = 0.14 + 0.115 * max(label.count("\n") + 1 for label in labels)
    # Numbers beside arrows must not touch those of the next line-up.
    row = max(row, 0.1 * len(lineups) / 0.6) if math.isfinite(limit) else row
    top = 0.12 + 0.14 * max(head.count("\n") + 1 for head in heads)
    box = Box(left=left, bottom=0.5, gap_x=0.15, top=top)
    sizes = [[Panel(width, row * len(names))] * len(heads)]
    figure, panels = sheet.panels(title, box, sizes, caption, lineup_legend(sheet, view, lineups))
    limits = _effect_limits(names, comparisons, limit)
    for axes, (head, mine) in zip(panels[0], heads.items(), strict=True):
        axes.set_xlim(limits)
        _forest_panel(view, axes, names, mine, shifts, limit)
        axes.set_title(head, loc="left")
        axes.set_yticks(range(len(names)), labels if axes is panels[0][0] else [])
        axes.tick_params(axis="y", length=0, labelsize=SIZE)
    first, last = panels[0][0].get_position(), panels[0][-1].get_position()
    below = first.y0 - 0.25 / figure.get_figheight()
    figure.text((first.x0 + last.x1) / 2, below, sheet.say("effect_axis"), ha="center", va="top")
    return figure


def _forest_heads(
    comparisons: Sequence[Comparison], heading: Callable[[Sheet, Comparison], str], sheet: Sheet
) -> dict[str, list[Comparison]]:
    """The comparisons of each panel, under its heading."""
    several = len({c.seats for c in comparisons}) > 1 and any(c.kind != "pair" for c in comparisons)
    heads: dict[str, list[Comparison]] = {}
    for c in sorted(comparisons, key=lambda c: c.seats):
        head = heading(sheet, c) + (f"\n{sheet.say('seats', n=c.seats)}" if several else "")
        heads.setdefault(head, []).append(c)
    return heads


def _forest_caption(
    sheet: Sheet, names: Sequence[tuple[str, str]], comparisons: Sequence[Comparison], limit: float
) -> list[str]:
    shown = [Number(*d[:4]) for c in comparisons for name in names if (d := c.differences.get(name))]
    caption = [sheet.counts(shown, "games_pair"), sheet.bars(), sheet.say("forest", relevant=RELEVANT)]
    return [*caption, sheet.say("cut")] if math.isfinite(limit) else caption


def _effects(name: tuple[str, str], comparisons: Sequence[Comparison]) -> list[Number]:
    """The differences of a measure in standard deviations, one a comparison in which it is known."""
    found = [c.differences[name] for c in comparisons if name in c.differences]
    return [difference.scaled for difference in found if not math.isnan(difference.deviation)]


def _cut(names: Sequence[tuple[str, str]], comparisons: Sequence[Comparison]) -> float:
    """The largest effect that the axis must hold: infinite, unless some effects are, or few measures (at most a third)
    differ by more than five times as much as all others, whose effects could not be told from 0 beside them."""
    largest = [max((abs(x.estimate) for x in _effects(name, comparisons)), default=0.0) for name in names]
    sizes = sorted((size for size in largest if math.isfinite(size)), reverse=True)
    limit = math.inf
    if len(sizes) < len(names):
        limit = max(sizes, default=0.0)
    for place in range(len(sizes) // 3):
        if sizes[place] > 5 * sizes[place + 1] > 0:
            limit = sizes[place + 1]
    return limit


def _effect_limits(
    names: Sequence[tuple[str, str]], comparisons: Sequence[Comparison], limit: float
) -> tuple[float, float]:
    """Limits of the axis that hold the band round 0 and every interval round an effect that is not cut."""
    found = [x for name in names for x in _effects(name, comparisons) if abs(x.estimate) <= limit]
    ends = [end for x in found for end in (x.low, x.high) if math.isfinite(end)]
    low, high = min([*ends, -1.2 * RELEVANT]), max([*ends, 1.2 * RELEVANT])
    return low - 0.04 * (high - low), high + 0.04 * (high - low)


def _forest_panel(
    view: View,
    axes: Axes,
    names: Sequence[tuple[str, str]],
    comparisons: Sequence[Comparison],
    shifts: Mapping[str, float],
    limit: float,
) -> None:
    axes.axvspan(-RELEVANT, RELEVANT, color="#E8E8E8", linewidth=0, zorder=0)
    axes.axvline(0, color=GREY, linewidth=0.6, zorder=1)
    for comparison in comparisons:
        colour, marker = lineup_style(view, comparison.lineup)
        for place, name in enumerate(names):
            height = place + shifts[comparison.lineup]
            for effect in _effects(name, [comparison]):
                if abs(effect.estimate) > limit:
                    _arrow(axes, effect.estimate, height, colour)
                    continue
                axes.errorbar(
                    effect.estimate,
                    height,
                    xerr=bars([effect]),
                    color=colour,
                    marker=marker,
                    markerfacecolor=colour if comparison.differences[name].clear else "white",
                    markersize=3.5,
                    markeredgewidth=0.8,
                    elinewidth=0.8,
                )
    for place in range(1, len(names)):
        axes.axhline(place - 0.5, color=BAND, linewidth=0.6, zorder=0)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.spines["left"].set_visible(False)


def _arrow(axes: Axes, effect: float, height: float, colour: str) -> None:
    """An effect beyond the axis: its number, with an arrow, at the edge."""
    number = f"{effect:+.1f}".replace("inf", "∞")
    edge, text, side = (axes.get_xlim()[1], f"{number} →", "right")
    if effect < 0:
        edge, text, side = (axes.get_xlim()[0], f"← {number}", "left")
    axes.text(edge, height, text, color=colour, size=SIZE - 1.5, ha=side, va="center")
