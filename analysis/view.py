"""What the report, its figures and the terminal read: the numbers of one game of a sweep, and words for its tables."""

from __future__ import annotations

import dataclasses
import itertools
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd

from analysis import stats
from analysis.answers import RELEVANT, metric_words
from analysis.metrics import HIGHER, LOWER, lineup_name
from sim.cards import card_text
from sim.config.values import shown
from sim.games import OUTCOMES, Counter, Game, Words, games
from sim.tally import COUNTERS, RATIOS

if TYPE_CHECKING:
    from sim.config import Family, Ruleset, Sweep

LANGUAGES = ("en", "zh-Hant")

LEAST_HANDS = 30
"""Of classes of opening hands with fewer hands no share is shown: their intervals would say nothing."""


class Case(NamedTuple):
    """A ruleset at a table: who plays, and how many."""

    ruleset: str
    lineup: str
    seats: int


class Number(NamedTuple):
    """A number with its interval; an interval that was not made is NaN, an end that nothing bounds infinite."""

    n: int
    estimate: float
    low: float
    high: float

    @property
    def half(self) -> float:
        """The longer side of the interval."""
        return max(self.high - self.estimate, self.estimate - self.low)

    @property
    def deviation(self) -> float:
        """Standard deviation between games, recovered from the interval of a mean; NaN where there is none."""
        return (self.high - self.low) / 2 * math.sqrt(self.n) / stats.normal_quantile()


class Difference(NamedTuple):
    """A paired difference; `deviation` is the standard deviation between games of what is compared, NaN when
    unknown."""

    n: int
    estimate: float
    low: float
    high: float
    p_adjusted: float
    verdict: str
    deviation: float

    @property
    def clear(self) -> bool:
        """Whether the adjusted p-value calls it a difference."""
        return self.verdict in (HIGHER, LOWER)

    @property
    def effect(self) -> float:
        """The difference in standard deviations between games: infinite where games do not vary but the rulesets
        differ, 0 when unknown."""
        return self.scaled.estimate

    @property
    def scaled(self) -> Number:
        """The difference with its interval in standard deviations between games."""
        if self.estimate and self.deviation == 0:
            return Number(self.n, *[math.copysign(math.inf, self.estimate)] * 3)
        divisor = self.deviation if self.deviation > 0 else math.inf
        return Number(self.n, self.estimate / divisor, self.low / divisor, self.high / divisor)

    @property
    def slight(self) -> bool:
        """Whether the effect is known to be below what the answers call a change."""
        return not math.isnan(self.deviation) and abs(self.effect) < RELEVANT


@dataclass(frozen=True)
class Comparison:
    """A contrast of a family at one table: its differences by (metric, key), in the order of the tables."""

    family: str
    a: str
    b: str
    kind: str
    lineup: str
    seats: int
    differences: Mapping[tuple[str, str], Difference]


class View:
    """One game of a sweep.

    Attributes:
        game: the game's descriptor.
        families, questions: the sweep's, families without other games' rulesets.
        main: rulesets that were named rather than made by a grid, those of the longest family first; all rulesets when
            every one was made by a grid.
        rulesets: all rulesets, the main ones first.
        lineups, seats: in the sweep's order, ascending.
        most_seats: the number of seats that most rulesets were played with.
        focus: few rulesets to show where there is no room for all: the first one and those the sweep asks about.
        comparisons: all contrasts at all tables.
        jokers: the Jokers that opening hands hold, in notation.
    """

    def __init__(self, sweep: Sweep, game: Game, metrics: pd.DataFrame, contrasts: pd.DataFrame) -> None:
        self.game = game
        self.families = tuple(_families(sweep, game.name))
        self.questions = sweep.answers
        self._numbers = _numbers(metrics[metrics["game"] == game.name])
        self.lineups = tuple(dict.fromkeys(case.lineup for case in self._numbers))
        self.seats = tuple(sorted({case.seats for case in self._numbers}))
        self._rulesets: dict[str, Ruleset] = {arm.name: arm for f in self.families for arm in f.rulesets}
        self.main = self._main()
        self.rulesets = tuple(dict.fromkeys([*self.main, *self._rulesets]))
        self.most_seats = max(
            reversed(self.seats), key=lambda n: sum(case.seats == n for case in self._numbers)
        )
        asked = [name for answer in sweep.answers for name in (answer.a, answer.b) if name in self.main]
        self.focus = tuple(dict.fromkeys([self.main[0], *(asked or self.main[-1:])]))[:3]
        self._lineup_words = {lineup_name(group): _lineup_words(group.lineup) for group in sweep.groups}
        self.comparisons = tuple(self._comparisons(sweep, contrasts[contrasts["game"] == game.name]))
        self.jokers = tuple(name for name in ("BJ", "RJ") if self._held(name))
        self._family_lineups = {family.name: _family_lineups(sweep, family) for family in self.families}

    def _held(self, card: str) -> bool:
        return any(self.number(case, "win_share_by_card", card) for case in self._numbers)

    def _main(self) -> tuple[str, ...]:
        named = sorted((f for f in self.families if not f.grid), key=lambda f: -len(f.rulesets))
        return tuple(dict.fromkeys(arm.name for f in named or self.families for arm in f.rulesets))

    @property
    def counters(self) -> tuple[Counter, ...]:
        """Generic counters, then the game's own."""
        return (*COUNTERS, *self.game.counters)

    @property
    def events(self) -> tuple[Counter, ...]:
        """The game's counters of something that need not happen at all and on which other counters depend."""
        needed = {counter.given for counter in self.game.counters}
        return tuple(counter for counter in self.game.counters if counter.name in needed)

    @property
    def ratios(self) -> tuple[str, ...]:
        """Names of the ratios, generic ones first."""
        return tuple(ratio.name for ratio in (*RATIOS, *self.game.ratios))

    def cases(
        self,
        rulesets: Iterable[str] | None = None,
        lineups: Iterable[str] | None = None,
        seats: Iterable[int] | None = None,
    ) -> list[Case]:
        """The cases that were played, by line-up, then seats, then ruleset; optionally only some."""
        return [
            case
            for lineup in (self.lineups if lineups is None else lineups)
            for n in (self.seats if seats is None else seats)
            for name in (self.rulesets if rulesets is None else rulesets)
            if (case := Case(name, lineup, n)) in self._numbers
        ]

    def number(self, case: Case, metric: str, key: str) -> Number | None:
        """The number `metric` [key] of a case, or None when there is none."""
        return self._numbers.get(case, {}).get(metric, {}).get(key)

    def keys(self, case: Case, metric: str) -> dict[str, Number]:
        """All numbers of a metric by key, in the order of the tables."""
        return self._numbers.get(case, {}).get(metric, {})

    def ruleset(self, name: str) -> Ruleset:
        """The ruleset of that name."""
        return self._rulesets[name]

    def label(self, name: str) -> str:
        """A ruleset's name without its game."""
        return name.partition("/")[2] or name

    def short(self, name: str) -> str:
        """The same without the ruleset that all of the sweep's are made from by changing toggles."""
        base, _, changes = self.label(name).partition("+")
        alone = all(self.label(other).partition("+")[0] == base for other in self._rulesets)
        return changes if alone and changes else self.label(name)

    def lineup(self, name: str, language: str) -> str:
        """The players' titles of a line-up."""
        return self._lineup_words[name][language]

    def words(self, metric: str, key: str, language: str) -> str:
        """What a number measures."""
        return metric_words(self.game, metric, key)[language]

    def card(self, name: str) -> str:
        """A card for people; an only Joker has no colour."""
        return "Joker" if self.jokers == (name,) else card_text(name)

    def family_lineups(self, family: Family) -> tuple[str, ...]:
        """The line-ups that the family asks for, in the view's order."""
        return tuple(name for name in self.lineups if name in self._family_lineups[family.name])

    def family_cases(self, family: Family) -> list[Case]:
        """The cases of a family's rulesets at the tables that it asks for."""
        names = [name for name, _ in self.steps(family)]
        return self.cases(names, self.family_lineups(family), sorted(family.seats))

    def loses(self, case: Case) -> bool:
        """Whether the case's games end by finding a loser, never with a winner."""
        return bool(self.keys(case, "loss_share"))

    def unwon(self, case: Case) -> bool:
        """Whether hardly any game of a case is won, so that win shares have nothing to tell."""
        par = self.number(case, "win_share", "all")
        return par is not None and par.estimate < 0.1 / case.seats

    def outcomes(self) -> list[str]:
        """The outcomes to show: those that occurred, and always `drawn` and `stalled`."""
        always = ("drawn", "stalled")
        return [word for word in OUTCOMES if word in always or self._occurred(word)]

    def _occurred(self, outcome: str) -> bool:
        found = (self.number(case, "outcome", outcome) for case in self._numbers)
        return any(number is not None and number.estimate > 0 for number in found)

    def toggle(self, family: Family) -> str | None:
        """The toggle whose values are all that tells the family's rulesets apart by its grid, or None."""
        values = next(iter(family.grid.values()), ())
        return (
            next(iter(family.grid)) if len(family.grid) == 1 and len(values) == len(family.rulesets) else None
        )

    def steps(self, family: Family) -> list[tuple[str, str]]:
        """(ruleset, label) of a family in the order to show them: a toggle's numbers ascending, `none` last."""
        key = self.toggle(family)
        if key is None:
            return [(arm.name, self.short(arm.name)) for arm in family.rulesets]
        values = [(arm.name, arm.settings()[key]) for arm in family.rulesets]
        if all(value is None or type(value) is int for _, value in values):
            values.sort(key=lambda item: math.inf if item[1] is None else item[1])
        return [(name, shown(value)) for name, value in values]

    def baseline(self, family: Family) -> str | None:
        """The label of the ruleset that the family's others are compared with, or None."""
        if family.contrast != "baseline":
            return None
        return dict(self.steps(family))[family.rulesets[0].name]

    def compared(self, family: str | None = None, a: str = "", b: str = "") -> list[Comparison]:
        """The comparisons of a family, or of ruleset a with b (of the first family that makes it)."""
        if family is not None:
            return [c for c in self.comparisons if c.family == family]
        found = [c for c in self.comparisons if (c.a, c.b) == (a, b)]
        return [c for c in found if c.family == found[0].family]

    def _comparisons(self, sweep: Sweep, contrasts: pd.DataFrame) -> Iterator[Comparison]:
        rows = _differences(contrasts)
        for group in sweep.groups:
            if group.game != self.game.name:
                continue
            lineup = lineup_name(group)
            for contrast in group.contrasts:
                key = (contrast.a, contrast.b, lineup, group.seats)
                # Families that make the same comparison stand in the table in the order of the group's contrasts.
                mine = rows[key].pop(0) if rows.get(key) else {}
                cases = [Case(group.arms[index].name, lineup, group.seats) for index, _ in contrast.terms]
                differences = {
                    name: Difference(*values, self.deviation(cases, *name)) for name, values in mine.items()
                }
                yield Comparison(
                    contrast.family, contrast.a, contrast.b, contrast.kind, lineup, group.seats, differences
                )

    def telling_counters(self, cases: Sequence[Case]) -> list[Counter]:
        """The game's counters with a histogram that need nothing else to happen; those first whose means differ most
        between the rulesets of a table, in standard deviations between games."""
        counters = [c for c in self.game.counters if c.bins and not c.given and c not in self.events]
        return sorted(counters, key=lambda counter: self._spread(counter.name, cases), reverse=True)

    def _spread(self, counter: str, cases: Sequence[Case]) -> float:
        """The largest range of a counter's means over rulesets at any table, in standard deviations between games."""
        largest = 0.0
        for table in _tables(cases):
            deviation = self.deviation(table, counter, "mean")
            if deviation > 0:
                largest = max(largest, self._range(table, counter, "mean") / deviation)
        return largest

    def varies(self, cases: Sequence[Case], metric: str, key: str) -> bool:
        """Whether a number differs between the rulesets of any table."""
        return any(self._range(table, metric, key) > 0 for table in _tables(cases))

    def _range(self, cases: Sequence[Case], metric: str, key: str) -> float:
        """The largest less the smallest of a number."""
        found = [number.estimate for case in cases if (number := self.number(case, metric, key))]
        return max(found) - min(found) if found else 0.0

    def deviation(self, cases: Sequence[Case], metric: str, key: str) -> float:
        """The standard deviation between games of a mean, pooled over cases; NaN when unknown."""
        found = [number for case in cases if (number := self.number(case, metric, key))]
        deviation = math.sqrt(np.mean([number.deviation**2 for number in found])) if found else math.nan
        return deviation if math.isfinite(deviation) else math.nan


_UNBROKEN = re.compile(r"[⺀-￿][，。、；：）」？]*|[^\s⺀-￿]+[，。、；：）」？]*\s*|\s+")
"""What stays in one line: a Chinese character or a word, with the punctuation behind it."""


def wrapped(text: str, limit: float, width: Callable[[str], float]) -> list[str]:
    """The lines of a text, none wider than `limit` where that is possible; `width` measures. Chinese breaks anywhere
    but before punctuation."""
    lines, line = [], ""
    for token in _UNBROKEN.findall(text):
        if line and width((line + token).rstrip()) > limit:
            lines.append(line.rstrip())
            line = ""
        line += token
    return [*lines, line.rstrip()]


def largest_changes(comparisons: Sequence[Comparison]) -> list[tuple[str, str]]:
    """Every (metric, key) that clearly differs in any of the comparisons, the largest effect first; when nothing does,
    what differs at all. Of measures that always differ by the same, as those of forced moves do, only the first."""
    sizes: dict[tuple[str, str], tuple[bool, float]] = {}
    for comparison in comparisons:
        for name, difference in comparison.differences.items():
            if difference.estimate:
                size = (difference.clear, abs(difference.effect))
                sizes[name] = max(sizes.get(name, size), size)
    clear = any(size[0] for size in sizes.values())
    effects: dict[tuple[object, ...], tuple[str, str]] = {}
    for name in sorted(sizes, key=lambda name: sizes[name], reverse=True):
        if sizes[name][0] or not clear:
            found = [c.differences.get(name) for c in comparisons]
            effects.setdefault(tuple(d and (d.estimate, d.deviation, d.clear) for d in found), name)
    return list(effects.values())


def views(sweep: Sweep, metrics: pd.DataFrame, contrasts: pd.DataFrame) -> list[View]:
    """A view per game of the sweep."""
    names = dict.fromkeys(group.game for group in sweep.groups)
    return [View(sweep, games()[name], metrics, contrasts) for name in names]


def _families(sweep: Sweep, game: str) -> Iterator[Family]:
    """The families of a game, without other games' rulesets."""
    for family in sweep.families:
        rulesets = tuple(arm for arm in family.rulesets if arm.game == game)
        if rulesets:
            yield dataclasses.replace(family, rulesets=rulesets)


def _family_lineups(sweep: Sweep, family: Family) -> set[str]:
    """The names of the line-ups that a family asks for."""
    wanted = {
        tuple(player.name for player in itertools.islice(itertools.cycle(players), seats))
        for players in family.lineups
        for seats in family.seats
    }
    return {
        lineup_name(group)
        for group in sweep.groups
        if tuple(player.name for player in group.lineup) in wanted
    }


def _tables(cases: Sequence[Case]) -> Iterator[list[Case]]:
    """The cases of each table."""
    for lineup, seats in dict.fromkeys(case[1:] for case in cases):
        yield [case for case in cases if case[1:] == (lineup, seats)]


def _numbers(metrics: pd.DataFrame) -> dict[Case, dict[str, dict[str, Number]]]:
    columns = ("ruleset", "lineup", "seats", "metric", "key", "n", "estimate", "low", "high")
    numbers: dict[Case, dict[str, dict[str, Number]]] = {}
    for *case, metric, key, n, estimate, low, high in zip(
        *(metrics[c].tolist() for c in columns), strict=True
    ):
        table = numbers.setdefault(Case(*case), {})
        table.setdefault(metric, {})[key] = Number(n, estimate, low, high)
    return numbers


Differences = dict[tuple[str, str], tuple[int, float, float, float, float, str]]


def _differences(contrasts: pd.DataFrame) -> dict[tuple[str, str, str, int], list[Differences]]:
    """Per (a, b, lineup, seats) the differences by (metric, key), once a family that makes the comparison."""
    columns = (
        "a",
        "b",
        "lineup",
        "seats",
        "metric",
        "key",
        "n",
        "estimate",
        "low",
        "high",
        "p_adjusted",
        "verdict",
    )
    found: dict[tuple[str, str, str, int], list[Differences]] = {}
    for a, b, lineup, seats, metric, key, *values in zip(
        *(contrasts[c].tolist() for c in columns), strict=True
    ):
        known = found.setdefault((a, b, lineup, seats), [])
        free = next((table for table in known if (metric, key) not in table), None)
        if free is None:
            known.append(free := {})
        free[metric, key] = tuple(values)
    return found


def _lineup_words(players: Sequence[object]) -> Words:
    titles = {player.name: player.title for player in players}  # type: ignore[attr-defined]
    return {language: " + ".join(title[language] for title in titles.values()) for language in LANGUAGES}
