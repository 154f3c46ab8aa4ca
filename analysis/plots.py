"""The figures: each function draws one kind on a sheet and returns it.

All take the view, the sheet and the title in the sheet's language last, so that `functools.partial` can bind the rest.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

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
    Sheet,
    bars,
    fitted,
    handle,
    lineup_legend,
    lineup_style,
    points,
    text_width,
)
from analysis.view import Case, Comparison, Number, View, largest_changes
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

LEAST_HANDS = 30
"""Opening classes with fewer hands are not drawn: their intervals would span the figure."""

MOST_MAIN = 10
MOST_STEPS = 40
MOST_ROWS = 14
"""Most rulesets side by side in a figure of all tables, most steps of a family, most measures in a forest plot."""


def _main(sheet: Sheet, view: View) -> tuple[tuple[str, ...], list[str]]:
    """The rulesets of the figures that show all tables, and a caption when there are more."""
    shown = view.main[:MOST_MAIN]
    note = sheet.say("first_rulesets", n=len(shown), total=len(view.main))
    return shown, [note] if len(view.main) > len(shown) else []


# --- Win shares in strips ---------------------------------------------------------------------------------------------


def positions(view: View, sheet: Sheet, title: str) -> Figure:
    """Win share by position: a strip per number of seats, in it a group per ruleset."""
    keys = {seats: [str(position + 1) for position in range(seats)] for seats in view.seats}
    rulesets, note = _main(sheet, view)
    cases = view.cases(rulesets)
    texts = [sheet.counts((view.number(case, "win_share", "1") for case in cases), "games"), sheet.bars()]  # type: ignore[misc]
    caption = [*texts, sheet.say("par"), *note]
    return _strips(view, sheet, title, "win_share", keys, cases, sheet.say("position_axis"), caption)


def class_cases(view: View, partition: str) -> dict[Case, list[str]]:
    """The cases in which hands differ by the partition, with the classes to draw."""
    metric = f"win_share_by_{partition}"
    found = {}
    for case in view.cases(view.main[:MOST_MAIN]):
        numbers = view.keys(case, metric)
        keys = [key for key, number in numbers.items() if key.isdigit() and number.n >= LEAST_HANDS]
        if len(keys) > 1:
            found[case] = keys
    return found


def classes(view: View, partition: str, sheet: Sheet, title: str) -> Figure:
    """Win share by the class of the opening hand, drawn as `positions`."""
    metric = f"win_share_by_{partition}"
    cases = class_cases(view, partition)
    keys = {
        seats: sorted({key for case, mine in cases.items() if case.seats == seats for key in mine}, key=int)
        for seats in {case.seats for case in cases}
    }
    shown = {case: {key: view.keys(case, metric)[key] for key in mine} for case, mine in cases.items()}
    texts = [sheet.counts((x for numbers in shown.values() for x in numbers.values()), "hands"), sheet.bars()]
    caption = [*texts, sheet.say("par"), sheet.say("few_hands", n=LEAST_HANDS), *_main(sheet, view)[1]]
    words = next(part for part in view.game.partitions if part.name == partition)
    label = sheet.say("class_axis", partition=words.en if sheet.language == "en" else words.zh)
    return _strips(view, sheet, title, metric, keys, list(cases), label, caption)


def _strips(
    view: View,
    sheet: Sheet,
    title: str,
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
    widest = max(text_width(sheet.ruleset(view, case.ruleset, 2), SIZE) for case in cases) + 0.1
    width = min(max(slots * 0.17, most * widest, 5.2), max(9.0, slots * 0.1))
    names = {
        name: sheet.ruleset(view, name, width / most - 0.1, 3) for name in {case.ruleset for case in cases}
    }
    head = 0.08 + 0.13 * max(name.count("\n") + 1 for name in names.values())
    box = Box(width, 1.1, left=0.75, bottom=0.45, gap_y=0.22 + head, top=head)
    figure, panels = sheet.panels(title, box, len(keys), 1, caption, lineup_legend(sheet, view))
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


def dodges(view: View, drawn: Sequence[str], step: float) -> dict[str, float]:
    """How far each line-up that is drawn stands beside its place: evenly around it, at most 0.6 apart in all."""
    lineups = [name for name in view.lineups if name in drawn]
    step = min(step, 0.6 / max(1, len(lineups) - 1))
    return {name: (k - (len(lineups) - 1) / 2) * step for k, name in enumerate(lineups)}


def _strip(
    view: View, axes: Axes, metric: str, keys: Sequence[str], groups: Sequence[str], cases: Sequence[Case]
) -> None:
    step = len(keys) + 1
    shifts = dodges(view, [case.lineup for case in cases], 0.24)
    for lineup, dodge in shifts.items():
        colour, marker = lineup_style(view, lineup)
        for case in (case for case in cases if case.lineup == lineup):
            start = groups.index(case.ruleset) * step
            numbers = view.keys(case, metric)
            found = [
                (start + k + dodge, numbers[key])
                for k, key in enumerate(keys)
                if _drawn(metric, numbers, key)
            ]
            style = {"color": colour, "marker": marker, "linestyle": "-"}
            points(axes, [x for x, _ in found], [number for _, number in found], 100, **style)
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


def cards(view: View, sheet: Sheet, title: str) -> Figure:
    """Win share by opening card: a row per ruleset in focus, a column per line-up, a colour per suit."""
    jokers = [
        name for name in ("BJ", "RJ") if any(view.number(c, "win_share_by_card", name) for c in view.cases())
    ]
    ticks = [*RANKS, *jokers]
    legend = [
        handle(SYMBOLS[suit], color=SUIT_COLOURS[suit], marker=MARKERS[k], linestyle="none")
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
    names = [sheet.ruleset(view, name, 1.3, 2) for name in rulesets]
    left = 0.75 + 0.13 * max(name.count("\n") for name in names)
    box = Box(0.26 * len(ticks), 1.3, left=left, bottom=0.45, gap_x=0.15, gap_y=0.2, top=0.25)
    figure, panels = sheet.panels(title, box, len(rulesets), len(columns), caption, legend)
    for name, label, row in zip(rulesets, names, panels, strict=True):
        for lineup, axes in zip(columns, row, strict=True):
            _card_panel(view, axes, Case(name, lineup, view.most_seats), ticks)
        _share_y(row)
        row[0].set_ylabel(f"{label}\n{sheet.say('win_share')}")
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
        points(axes, [x for x, _ in found], [numbers[card] for _, card in found], 100, **style)
    jokers = [(place, name) for place, name in enumerate(ticks) if name in numbers]
    style = {"color": COLOURS[2], "marker": MARKERS[4]}
    points(axes, [x for x, _ in jokers], [numbers[name] for _, name in jokers], 100, **style)
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


def outcomes(view: View, sheet: Sheet, title: str) -> Figure:
    """Shares of the outcomes: a panel per number of seats, a stacked bar per ruleset and line-up."""
    from matplotlib.patches import Patch

    rulesets, note = _main(sheet, view)
    rows = [(name, lineup) for name in rulesets for lineup in view.lineups]
    cases = view.cases(rulesets)
    words = view.outcomes()
    shown = [number for case in cases for word in words if (number := view.number(case, "outcome", word))]
    half = f"{100 * max(number.half for number in shown):.1f}"
    caption = [sheet.counts(shown, "games_bar"), sheet.say("outcome_bars", level=LEVEL, half=half), *note]
    labels = [
        sheet.ruleset(view, name, 2) + sheet.say("comma") + sheet.lineup(view, lineup)
        for name, lineup in rows
    ]
    left = max(text_width(label, SIZE - 1) for label in labels) + 0.2
    box = Box(1.5, 0.17 * len(rows) + 0.1, left=left, bottom=0.45, gap_x=0.62, top=0.42, right=0.68)
    legend = [Patch(color=OUTCOME_COLOURS[word], label=OUTCOME_WORDS[word][sheet.language]) for word in words]
    figure, panels = sheet.panels(title, box, 1, len(view.seats), caption, legend)
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


def turns(view: View, sheet: Sheet, title: str) -> Figure:
    """Distributions of the length: a panel per number of seats, a row per ruleset, a curve per line-up."""
    rulesets, note = _main(sheet, view)
    bins = {seats: _turn_bins(view, view.cases(rulesets, seats=[seats])) for seats in view.seats}
    widths = sorted({int(edges[1] - edges[0]) for edges in bins.values()})
    shown = [number for case in view.cases(rulesets) if (number := view.number(case, "turns", "mean"))]
    medians = [number for case in view.cases(rulesets) if (number := view.number(case, "turns", "p50"))]
    half = max((median.half for median in medians), default=math.inf)
    texts = [
        sheet.counts(shown, "games_curve"),
        sheet.say("curves", bins=sheet.say("comma").join(map(str, widths))),
    ]
    texts += [sheet.say("medians", level=LEVEL, half=f"{half:.0f}")] if math.isfinite(half) else []
    caption = [*texts, *note]
    left = max(text_width(sheet.ruleset(view, name, 2), SIZE) for name in rulesets) + 0.2
    box = Box(1.95, 0.48 * len(rulesets) + 0.2, left=left, bottom=0.45, gap_x=0.2, top=0.25)
    legend = lineup_legend(sheet, view, "none")
    legend.append(handle(sheet.say("median"), color=GREY, marker="|", linestyle="none", markeredgewidth=1.6))
    figure, panels = sheet.panels(title, box, 1, len(view.seats), caption, legend)
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
        colour, _ = lineup_style(view, case.lineup)
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
    for counter in view.telling_counters(rulesets):
        measures.append(Measure(counter.name, "mean", named(counter.name, "mean")))
    return measures[:6]


def steps(view: View, family: Family, sheet: Sheet, title: str) -> Figure:
    """Key measures from ruleset to ruleset of a family; colour = line-up, marker = number of seats."""
    steps = view.steps(family)[:MOST_STEPS]
    names = [name for name, _ in steps]
    labels = [fitted(sheet.legible(label), 1.3, 2) for _, label in steps]
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
    legend = lineup_legend(sheet, view)
    if len(seats) > 1:
        markers = {n: MARKERS[k % len(MARKERS)] for k, n in enumerate(seats)}
        legend = lineup_legend(sheet, view, "none")
        legend += [
            handle(sheet.say("seats", n=n), color=GREY, marker=m, linestyle="none")
            for n, m in markers.items()
        ]
    longest = max(text_width(line, SIZE - 1) for label in labels for line in label.split("\n"))
    upright = longest * len(labels) > 2.6
    room = longest + 0.15 if upright else 0.2
    box = Box(
        max(2.7, 0.16 * len(labels)), 1.25, left=0.5, bottom=room + 0.2, gap_x=0.5, gap_y=room + 0.45, top=0.3
    )
    rows = -(-len(measures) // 3)
    figure, panels = sheet.panels(title, box, rows, min(3, len(measures)), caption, legend)
    for axes, measure in zip(panels.flat, measures, strict=False):
        axes.set_title(sheet.wrapped(measure.title, box.width), loc="left")
        for case_lineup in view.lineups:
            for n in seats:
                _step_line(view, axes, names, case_lineup, n, measure, markers.get(n))
        axes.set_xticks(range(len(labels)), labels, rotation=90 if upright else 0)
        axes.set_xlim(-0.5, len(labels) - 0.5)
        if base:
            axes.axvline(
                [label for _, label in steps].index(base), color=GREY, linestyle=":", linewidth=0.8, zorder=0
            )
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
    colour, own = lineup_style(view, lineup)
    found = [
        (place, number)
        for place, name in enumerate(names)
        if (number := view.number(Case(name, lineup, seats), measure.metric, measure.key))
    ]
    style = {"color": colour, "marker": marker or own, "linestyle": "-"}
    points(axes, [x for x, _ in found], [number for _, number in found], measure.scale, **style)


# --- Forest plots -----------------------------------------------------------------------------------------------------


def contrast_words(sheet: Sheet, comparison: Comparison) -> str:
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
    several = len({c.seats for c in comparisons}) > 1 and any(c.kind != "pair" for c in comparisons)
    heads: dict[str, list[Comparison]] = {}
    for c in sorted(comparisons, key=lambda c: c.seats):
        head = heading(sheet, c) + (f"\n{sheet.say('seats', n=c.seats)}" if several else "")
        heads.setdefault(head, []).append(c)
    labels = [sheet.wrapped(sheet.legible(view.words(*name, sheet.language)), 2.1) for name in names]
    lines = [label.count("\n") + 1 for label in labels]
    left = max(text_width(line, SIZE) for label in labels for line in label.split("\n")) + 0.2
    numbers = [Number(*d[:4]) for c in comparisons for d in c.differences.values()]
    caption = [sheet.counts(numbers, "games_pair"), sheet.bars(), sheet.say("forest", relevant=RELEVANT)]
    top = 0.12 + 0.14 * max(head.count("\n") + 1 for head in heads)
    height = sum(0.16 + 0.1 * n for n in lines)
    box = Box(max(1.5, 5.4 / len(heads)), height, left=left, bottom=0.45, gap_x=0.15, top=top)
    figure, panels = sheet.panels(title, box, 1, len(heads), caption, lineup_legend(sheet, view))
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
    shifts = dodges(view, [comparison.lineup for comparison in comparisons], 0.3)
    for comparison in comparisons:
        colour, marker = lineup_style(view, comparison.lineup)
        dodge = shifts[comparison.lineup]
        for place, name in enumerate(names):
            difference = comparison.differences.get(name)
            if difference is None or not difference.deviation:
                continue
            n, *ends = difference[:4]
            number = Number(n, *(value / difference.deviation for value in ends))
            axes.errorbar(
                number.estimate,
                place + dodge,
                xerr=bars([number]),
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
