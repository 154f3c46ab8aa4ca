"""What a game is: its toggles, its descriptor, and the registry of the game files beside this one.

A game is one module of this package with a module attribute `GAME`. Nothing else in the project names it.
"""

from __future__ import annotations

import functools
import importlib
import pkgutil
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any, Literal, get_args

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from sim.cards import CARD_NAMES

OUTCOMES = ("win", "survivor", "loser_found", "drawn", "stalled")
WIN, SURVIVOR, LOSER_FOUND, DRAWN, STALLED = range(len(OUTCOMES))

SHARE = 2520
"""A whole win, in the units in which win shares are counted: divisible by every number of tied seats up to ten."""

Words = Mapping[str, str]
"""The same text in each language a report is written in: {"en": ..., "zh-Hant": ...}."""


class ToggleModel(BaseModel):
    """Base of a game's toggles: every key is known, every value one of those listed, nothing is coerced."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


def toggle(rule: str, default: object, en: str, zh: str, *, impact: str = "L", **limits: Any) -> Any:
    """A toggle field of a `ToggleModel`.

    Args:
        rule: the rule id of RULES.md, such as "PJ-07".
        default: its default value.
        en, zh: one line each on what it decides and why the default is what it is.
        impact: expected influence on results, H(igh), M(edium) or L(ow).
        limits: bounds of an integer toggle, passed to pydantic (ge, le).
    """
    return Field(
        default, json_schema_extra={"rule": rule, "en": en, "zh-Hant": zh, "impact": impact}, **limits
    )


BY_TURN = 1


@dataclass(frozen=True)
class Counter:
    """An integer counted once a game. With `bins` > 0 an exact histogram of the values 0..bins-1 is kept too; `BY_TURN`
    makes as many bins as the ruleset's length guard allows turns.

    `given` names the counter that says how often it happened at all: a game where that is 0 has no value here
    (the mean is then over the games that have one). `yes_no`: at most 1 in a game, so that the mean is a proportion.
    """

    name: str
    en: str
    zh: str
    bins: int = 0
    given: str = ""
    yes_no: bool = False


@dataclass(frozen=True)
class Ratio:
    """The ratio of two counters summed over all games (a ratio estimator, clustered by game)."""

    name: str
    numerator: str
    denominator: str
    en: str
    zh: str


@dataclass(frozen=True)
class Partition:
    """A partition of opening hands into named classes.

    `words` are the classes in English and in Chinese, in their order; none where the classes are numbers.
    """

    name: str
    classes: tuple[str, ...]
    en: str
    zh: str
    words: tuple[tuple[str, str], ...] = ()

    def class_words(self, name: str) -> Words:
        """A class, or `>=k` of numbered ones, in both languages."""
        if not self.words:
            return {"en": name, "zh-Hant": name}
        en, zh = self.words[self.classes.index(name)]
        return {"en": en, "zh-Hant": zh}


Pair = Literal["signals", "hands"]
"""What partners go by: what everybody sees; or that and each other's hands, of which they tell each other."""


@dataclass(frozen=True)
class Feature:
    """A named integer that a player may know about a move, from the mover's information state alone.

    One that names a `partner` sets the seat opposite apart from all others, which is of use only to somebody who plays
    for it too: from what everybody sees ("signals"), or from its hand, which it has told ("hands").
    """

    name: str
    en: str
    zh: str
    partner: Pair | None = None


Card = Literal[CARD_NAMES]  # type: ignore[valid-type]
Suit = Literal["S", "H", "D", "C"]


class PositionModel(BaseModel):
    """The keys that every game's position file has; a game's own model adds its keys."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    ruleset: str
    toggles: dict[str, Any] = {}
    hands: list[list[Card]]
    to_move: int = Field(0, ge=0)
    seed: int = Field(0, ge=0, le=2**63 - 1)
    line: list[list[Card] | str | int] = []


class ImpossiblePosition(ValueError):
    """A position that cannot occur: the key to blame and the reason."""

    def __init__(self, key: str, reason: str) -> None:
        super().__init__(f"{key}: {reason}")
        self.key, self.reason = key, reason


@dataclass(frozen=True)
class Game:
    """All that the rest of the project knows about a game.

    `module` holds the jitted functions of the protocol (see sim.protocol) and the plain ones (from_position,
    to_position). `choices` says what a move of each inner phase is: "card", "seat", "rank" or a tuple of words. `usual`
    gives values of fields of its `Rules` for which its kernel has a faster copy, to which they are constants.
    `scored` is 1 where the highest score is the best, -1 where the lowest is, 0 where there are none.
    """

    name: str
    title: Words
    prose: Words
    Toggles: type[ToggleModel]
    Position: type[PositionModel]
    Rules: type
    rules: Callable[[Any, int], Any]
    state: np.dtype
    memory: np.dtype
    min_seats: int
    max_seats: int
    phases: tuple[str, ...]
    choices: Mapping[str, str | tuple[str, ...]]
    counters: tuple[Counter, ...]
    ratios: tuple[Ratio, ...]
    partitions: tuple[Partition, ...]
    features: tuple[Feature, ...]
    cost: Words
    scored: int = 0
    max_moves: int = 512
    usual: Mapping[str, int] = field(default_factory=dict)
    module: ModuleType = field(repr=False, kw_only=True)

    def features_for(self, pair: Pair | None) -> tuple[Feature, ...]:
        """The features that a player may weigh, or one of a pair: who plays for himself is left none of a partner."""
        known = {None: (None,), "signals": (None, "signals"), "hands": (None, "signals", "hands")}[pair]
        return tuple(feature for feature in self.features if feature.partner in known)

    @property
    def pairs(self) -> tuple[Pair, ...]:
        """The kinds of pairs that some feature is made for."""
        named = {feature.partner for feature in self.features}
        return tuple(pair for pair in get_args(Pair) if pair in named)


class _Registry(Mapping[str, Game]):
    """The games by name, in alphabetical order; a game's module is imported when it is first asked for."""

    def __init__(self) -> None:
        self._names = tuple(
            sorted(m.name for m in pkgutil.iter_modules(__path__) if not m.name.startswith("_"))
        )

    def __getitem__(self, name: str) -> Game:
        if name not in self._names:
            raise KeyError(name)
        found: Game = importlib.import_module(f"{__name__}.{name}").GAME
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


@functools.cache
def games() -> Mapping[str, Game]:
    """Every registered game by name, in alphabetical order."""
    return _Registry()


def game(name: str) -> Game:
    """The game of that name. Raises KeyError for none."""
    return games()[name]


def game_of(rules_class: type) -> Game:
    """The game whose `Rules` NamedTuple is `rules_class`: the `GAME` of the module that defines it."""
    found: Game = sys.modules[rules_class.__module__].GAME  # type: ignore[attr-defined]
    return found
