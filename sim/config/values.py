"""Which values a toggle takes, read off its declaration; and the words of messages about keys and values."""

from __future__ import annotations

import difflib
import types
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, Union, get_args, get_origin

from annotated_types import Ge, Le
from pydantic.fields import FieldInfo

from sim.config.document import Document, KeyPath, resolve, shorten
from sim.games import ToggleModel

Value = bool | int | str | None
"""A resolved toggle value."""

_YES_NO = {"yes": True, "on": True, "true": True, "no": False, "off": False, "false": False}


@dataclass(frozen=True)
class Choices:
    """The values that a toggle takes: those listed, and the whole numbers low..high when these are given."""

    listed: tuple[Value, ...] = ()
    low: int | None = None
    high: int | None = None

    def parse(self, raw: object) -> Value:
        """The toggle value that the YAML value `raw` stands for.

        Raises:
            ValueError: its text says which values are allowed.
        """
        value = self._spelled(raw)
        for choice in self.listed:
            if type(choice) is type(value) and choice == value:
                return choice
        if type(value) is int and self._in_range(value):
            return value
        near = nearest(shown(raw), [shown(choice) for choice in self.listed])
        raise ValueError(f"{shown(raw)} is not allowed; allowed: {self}" + near)

    def _in_range(self, number: int) -> bool:
        return self.low is not None and self.low <= number and (self.high is None or number <= self.high)

    def _spelled(self, raw: object) -> object:
        """`raw`, or the boolean or None that this toggle means by such a word, or the word that it means by a boolean.

        Words for yes and no may have capitals, as everywhere in YAML; `none` is no word of YAML's and has none.
        """
        if isinstance(raw, str) and raw in self.listed:
            return raw
        flag = _YES_NO.get(raw.lower()) if isinstance(raw, str) else raw
        if isinstance(flag, bool):
            meant = (flag, "yes" if flag else "no")
            return next(
                (choice for choice in self.listed if choice in meant and type(choice) is not int), raw
            )
        return None if raw == "none" and None in self.listed else raw

    def words(self) -> list[str]:
        """How a user writes each of the values; a range of numbers is one entry."""
        numbers = [] if self.low is None else [f"{self.low}..{'' if self.high is None else self.high}"]
        return numbers + [shown(choice) for choice in self.listed]

    def __str__(self) -> str:
        return ", ".join(self.words())


ROUNDS = "rounds"
"""The one setting of a ruleset that is no toggle: how many rounds make a game (see `Ruleset.rounds`)."""

MOST_ROUNDS = 100


def choices_of(field: FieldInfo) -> Choices:
    """The values allowed by a toggle's annotation (bool, int, None, Literal or a union of them) and bounds."""
    bounds: dict[type, int] = {}
    for limit in field.metadata:
        if isinstance(limit, Ge):
            bounds[Ge] = int(limit.ge)  # type: ignore[call-overload]
        elif isinstance(limit, Le):
            bounds[Le] = int(limit.le)  # type: ignore[call-overload]
    listed: list[Value] = []
    low = high = None
    is_union = get_origin(field.annotation) in (Union, types.UnionType)
    for part in get_args(field.annotation) if is_union else (field.annotation,):
        if part is bool:
            listed += [True, False]
        elif part is int:
            low, high = bounds.get(Ge, 0), bounds.get(Le)
        elif part is type(None):
            listed.append(None)
        elif get_origin(part) is Literal:
            listed += get_args(part)
        else:
            raise TypeError(f"a toggle cannot be declared as {part}")
    return Choices(tuple(listed), low, high)


def parse_toggles(
    model: type[ToggleModel], raw: Mapping[str, object], document: Document, at: KeyPath
) -> dict[str, Value]:
    """The toggle values of the mapping `raw`, which stands at key path `at` of `document`.

    Raises:
        ConfigError: for an unknown toggle or a value that is not allowed.
    """
    return {key: parse_toggle(model, key, value, document, (*at, key)) for key, value in raw.items()}


def parse_toggle(model: type[ToggleModel], key: str, raw: object, document: Document, at: KeyPath) -> Value:
    """The value of toggle `key`, written as `raw` at key path `at`.

    Raises:
        ConfigError: for an unknown toggle or a value that is not allowed.
    """
    return parse_value(toggle_choices(model, key, document, at), raw, document, at)


def toggle_choices(model: type[ToggleModel], key: str, document: Document, at: KeyPath) -> Choices:
    """The values of toggle `key`, which is named at key path `at`.

    Raises:
        ConfigError: for an unknown toggle.
    """
    if key == ROUNDS:
        raise document.error(at, "no toggle: it stands beside `toggles` in a ruleset file, not under it")
    if key not in model.model_fields:
        raise document.error(at, unknown_key(key, model.model_fields))
    return choices_of(model.model_fields[key])


def setting_choices(model: type[ToggleModel], key: str, document: Document, at: KeyPath) -> Choices:
    """The values of a toggle or of `rounds`, which is named at key path `at`.

    Raises:
        ConfigError: for an unknown key.
    """
    return Choices(low=1, high=MOST_ROUNDS) if key == ROUNDS else toggle_choices(model, key, document, at)


def parse_value(choices: Choices, raw: object, document: Document, at: KeyPath) -> Value:
    """The one of `choices` that is written as `raw` at key path `at`.

    Raises:
        ConfigError: for a value that is not allowed.
    """
    try:
        return choices.parse(raw)
    except ValueError as problem:
        raise document.error(at, str(problem)) from None


def shown(value: object) -> str:
    """A YAML value as a user would write it, shortened when long."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return "a list"
    if isinstance(value, Mapping):
        return "a mapping"
    text = str(value)
    if isinstance(value, str) and (not value or not isinstance(resolve(value), str)):
        text = f'"{value}"'
    return shorten(text)


def nearest(word: str, known: Iterable[str]) -> str:
    """`; did you mean 'x'?` for the known word most like `word`, capitals aside, or nothing when none is like it."""
    spelled = {other.lower(): other for other in known}
    found = difflib.get_close_matches(word.lower(), spelled, n=1)
    return f"; did you mean '{spelled[found[0]]}'?" if found else ""


def unknown_key(key: str, known: Iterable[str], what: str = "key") -> str:
    """What is wrong with `key`: not one of those known; names the nearest, or all when they are few."""
    known = list(known)
    hint = nearest(key, known)
    if not hint and len(known) <= 12:
        hint = f"; known: {', '.join(known)}" if known else "; there are none here"
    return f"unknown {what}{hint}"
