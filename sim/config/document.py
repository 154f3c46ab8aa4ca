"""A YAML file as plain values that remember where each of them stands, so that every error can name its place.

PyYAML does the scanning and parsing; plain words are resolved as the YAML 1.2 core schema does (`no` and `on` are
words, `010` is ten). What invites mistakes or attacks is refused: duplicate keys, tabs, anchors and aliases, tags,
several documents, deep nesting, values left empty, large files and files that are no UTF-8 text.
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

CONFIGS = Path(__file__).parents[2] / "configs"
"""The project's own rulesets, players and sweeps."""

MAX_BYTES = 256 * 1024
MAX_DEPTH = 16
MAX_TITLE = 200
MAX_NAME = 100
"""Characters of a title, and of a name that titles are made of."""

KeyPath = tuple[str | int, ...]
"""Where a value stands inside a document, such as ("families", 0, "seats", 1)."""

Position = tuple[int, int]
"""Line and column, both counted from 1."""

_NULL = re.compile(r"null|Null|NULL|~")
_TRUE = re.compile(r"true|True|TRUE")
_FALSE = re.compile(r"false|False|FALSE")
_DECIMAL = re.compile(r"[-+]?[0-9]{1,30}")
_OCTAL_OR_HEX = re.compile(r"0o[0-7]{1,30}|0x[0-9a-fA-F]{1,30}")
_FLOAT = re.compile(r"[-+]?(\.[0-9]{1,30}|[0-9]{1,30}(\.[0-9]{0,30})?)([eE][-+]?[0-9]{1,4})?")


class ConfigError(Exception):
    """A mistake in what the user gave us; its text is one full line, `file:line:column: key: what is wrong`."""

    def __init__(self, text: str) -> None:
        super().__init__(
            "".join(sign if sign.isprintable() else "\N{REPLACEMENT CHARACTER}" for sign in text)
        )


def resolve(word: str) -> bool | int | float | str | None:
    """The value of a plain (unquoted) word by the YAML 1.2 core schema; infinities and NaN stay words."""
    if _NULL.fullmatch(word):
        return None
    if _TRUE.fullmatch(word):
        return True
    if _FALSE.fullmatch(word):
        return False
    if _DECIMAL.fullmatch(word):
        return int(word)
    if _OCTAL_OR_HEX.fullmatch(word):
        return int(word, 0)
    if _FLOAT.fullmatch(word):
        return float(word)
    return word


def key_text(path: KeyPath) -> str:
    """A key path as written in messages: `families[0].seats[1]`."""
    return "".join(f"[{step}]" if isinstance(step, int) else f".{shorten(step)}" for step in path)[1:]


def shorten(text: str) -> str:
    """At most 40 characters of `text`."""
    return text if len(text) <= 40 else text[:37] + "..."


def name_fault(text: str, most: int = MAX_NAME) -> str:
    """Why `text` cannot be shown as a name or title: too long, or it steers the terminal; nothing when it can."""
    if len(text) > most:
        return f"{len(text)} characters; the most are {most}"
    for sign in text:
        if unicodedata.category(sign) in ("Cc", "Cf", "Cs", "Zl", "Zp"):
            return f"character U+{ord(sign):04X} cannot be shown; use plain text on one line"
    return ""


def shown_path(path: Path) -> str:
    """A path as short as it stays unambiguous: relative inside the working directory, else as given."""
    try:
        return str(Path(os.path.abspath(path)).relative_to(Path.cwd()))
    except ValueError:
        return str(path)


@dataclass(frozen=True)
class Document:
    """A file's values (mappings, lists, words, numbers, booleans, None) and the position of every key and item.

    `options` says which values the command line set, and how it calls them: {("games",): "--set: games"}.
    """

    path: Path
    data: dict[str, Any]
    positions: Mapping[KeyPath, Position]
    options: Mapping[KeyPath, str] = field(default_factory=dict)

    def error(self, at: KeyPath, text: str) -> ConfigError:
        """The error `text` about the value at key path `at`; a value that is missing is blamed on its mapping."""
        if at in self.options:
            return ConfigError(f"{self.options[at]}: {text}")
        known = at
        while known not in self.positions:
            known = known[:-1]
        line, column = self.positions[known]
        key = f"{key_text(at)}: " if at else ""
        return ConfigError(f"{shown_path(self.path)}:{line}:{column}: {key}{text}")


def read_document(path: Path) -> Document:
    """Read a YAML file whose top level is a mapping.

    Raises:
        ConfigError: when the file cannot be read, is no acceptable YAML or holds no mapping.
    """
    text = _read_text(path)
    builder = _Builder(path)
    try:
        data = builder.build(yaml.parse(text, Loader=yaml.SafeLoader))
    except yaml.MarkedYAMLError as problem:
        mark = problem.problem_mark or problem.context_mark
        place = f":{mark.line + 1}:{mark.column + 1}" if mark else ""
        context = f" ({problem.context})" if problem.context else ""
        raise ConfigError(f"{shown_path(path)}{place}: not valid YAML: {problem.problem}{context}") from None
    except (ValueError, OverflowError):  # an escape such as "\UFFFFFFFF", which the scanner passes to chr()
        raise ConfigError(f"{shown_path(path)}: not valid YAML: an escape that is no character") from None
    return Document(path, data, builder.positions)


def exists(path: Path) -> bool:
    """Whether there is such a file or folder; not under a name that no file can have."""
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


def _read_text(path: Path) -> str:
    name = shown_path(path)
    if not exists(path):
        raise ConfigError(f"{name}: no such file")
    if not path.is_file():
        raise ConfigError(f"{name}: not a file")
    if fault := name_fault(path.name):
        raise ConfigError(f"{name}: a file's name: {fault}")
    try:
        with path.open("rb") as file:
            raw = file.read(MAX_BYTES + 1)
    except OSError as problem:
        raise ConfigError(f"{name}: cannot be read: {problem.strerror}") from None
    if len(raw) > MAX_BYTES:
        raise ConfigError(f"{name}: larger than {MAX_BYTES // 1024} KiB, too large for a configuration file")
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ConfigError(f"{name}: not a text file in UTF-8") from None
    for line, content in enumerate(re.split(r"\r\n|\r|\n", text), start=1):
        bad = re.search(r"[^\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", content)
        if bad:
            what = (
                "a tab; indent with spaces"
                if bad[0] == "\t"
                else f"character U+{ord(bad[0]):04X} is not text"
            )
            raise ConfigError(f"{name}:{line}:{bad.start() + 1}: {what}")
    return text


@dataclass
class _Builder:
    """Builds values from parser events in one pass and notes the position of every key and item."""

    path: Path
    positions: dict[KeyPath, Position] = field(default_factory=dict)

    def build(self, events: Iterator[yaml.Event]) -> dict[str, Any]:
        documents = 0
        data: Any = None
        for event in events:
            if isinstance(event, yaml.DocumentStartEvent):
                documents += 1
                if documents > 1:
                    raise self._error(event, (), "a second document; one file holds one", here=True)
                first = next(events)
                self.positions[()] = _position(first)
                data = self._value(first, events, ())
        if not isinstance(data, dict):
            problem = "a mapping of keys to values is expected" if documents else "the file is empty"
            raise ConfigError(f"{shown_path(self.path)}:1:1: {problem}")
        return data

    def _value(self, event: yaml.Event, events: Iterator[yaml.Event], at: KeyPath) -> Any:
        self._refuse_marks(event, at)
        if len(at) > MAX_DEPTH:
            raise self._error(event, at[:3], f"nested more than {MAX_DEPTH} deep")
        if isinstance(event, yaml.MappingStartEvent):
            return self._mapping(events, at)
        if isinstance(event, yaml.SequenceStartEvent):
            return self._sequence(events, at)
        assert isinstance(event, yaml.ScalarEvent)
        if any("\ud800" <= letter <= "\udfff" for letter in event.value):
            raise self._error(event, at, "half of a surrogate pair is no character")
        if not event.implicit[0]:
            return event.value
        if not event.value:
            raise self._error(event, at, "no value; give one or delete the key")
        return resolve(event.value)

    def _mapping(self, events: Iterator[yaml.Event], at: KeyPath) -> dict[str, Any]:
        result: dict[str, Any] = {}
        for event in events:
            if isinstance(event, yaml.MappingEndEvent):
                break
            self._refuse_marks(event, at)
            if not isinstance(event, yaml.ScalarEvent) or not event.value:
                raise self._error(event, at, "a key must be a word")
            inside = (*at, event.value)
            if event.value in result:
                first = self.positions[inside][0]
                raise self._error(
                    event, inside, f"the same key twice; the first is on line {first}", here=True
                )
            self.positions[inside] = _position(event)
            result[event.value] = self._value(next(events), events, inside)
        return result

    def _sequence(self, events: Iterator[yaml.Event], at: KeyPath) -> list[Any]:
        result: list[Any] = []
        for event in events:
            if isinstance(event, yaml.SequenceEndEvent):
                break
            inside = (*at, len(result))
            self.positions[inside] = _position(event)
            result.append(self._value(event, events, inside))
        return result

    def _refuse_marks(self, event: yaml.Event, at: KeyPath) -> None:
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            raise self._error(event, at, "anchors and aliases (& and *) are not allowed; write the value out")
        if getattr(event, "tag", None):
            raise self._error(event, at, "tags (!) are not allowed")

    def _error(self, event: yaml.Event, at: KeyPath, text: str, here: bool = False) -> ConfigError:
        positions = self.positions if at in self.positions and not here else {at: _position(event)}
        return Document(self.path, {}, positions).error(at, text)


def _position(event: yaml.Event) -> Position:
    mark = event.start_mark
    assert mark is not None
    return mark.line + 1, mark.column + 1
