"""From families of rulesets to groups: the arms that play the same deals, and the contrasts between them."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from sim.config.players import Player
from sim.config.rulesets import Ruleset
from sim.config.values import Value, shown

ContrastKind = Literal["pair", "main", "interaction"]
Pattern = Literal["chain", "baseline", "factorial", "none"]
"""Which contrasts a family has: each ruleset against the one before, all against the first, a 2x2 grid's main effects
and interaction, or none."""


@dataclass(frozen=True)
class Contrast:
    """A difference measured deal by deal between arms of one group.

    Attributes:
        family: the family whose contrasts are judged together.
        a, b: names of what is compared; the contrast estimates b - a.
        terms: (arm index, weight) pairs. A deal's value is the sum of weight times the arm's value ...
        divisor: ... divided by this.
        kind: `pair` (ruleset b against a), `main` (a toggle's effect, averaged over the other toggle's two values) or
            `interaction` (by how much the second toggle's value changes the effect of the first).
    """

    family: str
    a: str
    b: str
    terms: tuple[tuple[int, int], ...]
    divisor: int = 1
    kind: ContrastKind = "pair"


@dataclass(frozen=True)
class Group:
    """Arms that play the same deals at one table and are linked by contrasts.

    Attributes:
        seats: how many play.
        lineup: the player of every seat.
        arms: the rulesets, no two with the same rules.
        contrasts: the differences to measure between them.
        seed: the seed of the deals.
        games: how many deals.
        game: the game's name.
        fitted: where a player stands for weights trained for the ruleset, the line-up of every arm with these.
    """

    seats: int
    lineup: tuple[Player, ...]
    arms: tuple[Ruleset, ...]
    contrasts: tuple[Contrast, ...]
    seed: int
    games: int
    game: str
    fitted: tuple[tuple[Player, ...], ...] = ()

    def players(self, arm: int) -> tuple[Player, ...]:
        """The player of every seat who plays under an arm's ruleset."""
        return self.fitted[arm] if self.fitted else self.lineup


@dataclass(frozen=True)
class Family:
    """A family of rulesets, its grid spread out to `rulesets` and its defaults filled in."""

    name: str
    title: Mapping[str, str] = field(hash=False)
    rulesets: tuple[Ruleset, ...]
    grid: Mapping[str, tuple[Value, ...]] = field(hash=False)
    seats: tuple[int, ...]
    lineups: tuple[tuple[Player, ...], ...]
    contrast: Pattern
    games: int


def make_groups(families: Sequence[Family], seed: int) -> tuple[Group, ...]:
    """The groups of a sweep, in the order of its families, line-ups and seats.

    All families that want the same game, seats and line-up share arms: equal rules are played once. Arms that no
    contrast links, directly or through others, form groups of their own. A group plays as many deals as the family
    that asks for most.
    """
    cells: dict[tuple[str, tuple[str, ...]], _Cell] = {}
    for family in families:
        for players, seats in itertools.product(family.lineups, family.seats):
            lineup = tuple(itertools.islice(itertools.cycle(players), seats))
            for game in dict.fromkeys(arm.game for arm in family.rulesets):
                key = game, tuple(player.name for player in lineup)
                cells.setdefault(key, _Cell(game, lineup)).add(family)
    return tuple(group for cell in cells.values() for group in cell.groups(seed))


@dataclass
class _Cell:
    """All that is played of one game at one table. Arms are known by their names, which stand for their rules."""

    game: str
    lineup: tuple[Player, ...]
    arms: dict[str, Ruleset] = field(default_factory=dict)
    games: dict[str, int] = field(default_factory=dict)
    contrasts: dict[Contrast, Sequence[str]] = field(default_factory=dict)
    """Contrasts whose terms count the names beside them."""

    def add(self, family: Family) -> None:
        arms = {arm.name: arm for arm in family.rulesets if arm.game == self.game}
        self.arms |= arms
        for name in arms:
            self.games[name] = max(family.games, self.games.get(name, 0))
        names = list(arms)
        for contrast in _contrasts(family, names):
            self.contrasts[contrast] = names

    def groups(self, seed: int) -> Iterator[Group]:
        for names in self._components():
            index = {name: number for number, name in enumerate(names)}
            contrasts = []
            for contrast, known in self.contrasts.items():
                if known[contrast.terms[0][0]] in index:
                    terms = tuple((index[known[arm]], weight) for arm, weight in contrast.terms)
                    contrasts.append(dataclasses.replace(contrast, terms=terms))
            games = max(self.games[name] for name in names)
            arms = tuple(self.arms[name] for name in names)
            yield Group(len(self.lineup), self.lineup, arms, tuple(contrasts), seed, games, self.game)

    def _components(self) -> list[list[str]]:
        """The names of the arms, those linked by contrasts together."""
        label = {name: name for name in self.arms}
        for contrast, known in self.contrasts.items():
            linked = {label[known[arm]] for arm, _ in contrast.terms}
            label = {name: min(linked) if old in linked else old for name, old in label.items()}
        components: dict[str, list[str]] = {}
        for name in self.arms:
            components.setdefault(label[name], []).append(name)
        return list(components.values())


def _contrasts(family: Family, names: Sequence[str]) -> Iterable[Contrast]:
    """The contrasts of a family; their terms count `names`, the family's arms in order."""
    match family.contrast:
        case "chain":
            pairs = [(number - 1, number) for number in range(1, len(names))]
        case "baseline":
            pairs = [(0, number) for number in range(1, len(names))]
        case "factorial":
            return _factorial(family)
        case _:
            pairs = []
    return [Contrast(family.name, names[a], names[b], ((a, -1), (b, 1))) for a, b in pairs]


def _factorial(family: Family) -> list[Contrast]:
    """Both main effects and the interaction of a 2x2 grid, whose arms are (0,0), (0,1), (1,0), (1,1)."""
    (first, (a0, a1)), (second, (b0, b1)) = family.grid.items()
    effect = f"{second}={shown(b0)}->{shown(b1)}"
    return [
        _main(family, first, a0, a1, (-1, -1, 1, 1)),
        _main(family, second, b0, b1, (-1, 1, -1, 1)),
        Contrast(
            family.name,
            f"{effect} if {first}={shown(a0)}",
            f"{effect} if {first}={shown(a1)}",
            tuple(enumerate((1, -1, -1, 1))),
            kind="interaction",
        ),
    ]


def _main(family: Family, key: str, low: Value, high: Value, weights: tuple[int, ...]) -> Contrast:
    terms = tuple(enumerate(weights))
    return Contrast(family.name, f"{key}={shown(low)}", f"{key}={shown(high)}", terms, divisor=2, kind="main")
