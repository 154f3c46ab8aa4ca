"""Rulesets: a game with every toggle set, read from a YAML file and those it extends."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, cast

from pydantic import Field, ValidationError

import sim.games
from sim.config import document as files
from sim.config.document import ConfigError, Document, KeyPath, read_document, resolve, shorten
from sim.config.models import FileModel, Title, validate
from sim.config.values import (
    MOST_ROUNDS,
    ROUNDS,
    Value,
    nearest,
    parse_toggles,
    parse_value,
    setting_choices,
    shown,
)
from sim.games import Game, ToggleModel

Blame = Callable[[str], ConfigError]
"""Makes the error about whatever asked for something out of what is wrong with it."""

NO_OVERRIDES: Mapping[str, str] = {}


Rounds = Annotated[int, Field(ge=1, le=MOST_ROUNDS)]


class RulesetFile(FileModel):
    """The keys of a ruleset file."""

    game: str | None = None
    extends: str | None = None
    title: Title | None = None
    rounds: Rounds = 1
    toggles: dict[str, Any] = {}


@dataclass(frozen=True)
class Ruleset:
    """A game with every toggle set.

    `version` is the file's name without its ending, plus `+key=value` for every setting changed since; `seats` is
    the least and the most; with more than one of `rounds` a game is a match of so many.
    """

    game: str
    version: str
    title: Mapping[str, str] = field(hash=False)
    toggles: ToggleModel
    seats: tuple[int, int]
    rounds: int = 1

    @property
    def name(self) -> str:
        """`game/version`"""
        return f"{self.game}/{self.version}"

    @property
    def content(self) -> tuple[str, ToggleModel, int]:
        """What is played, whatever its name: equal for equal rules."""
        return self.game, self.toggles, self.rounds

    def resolved(self) -> dict[str, Value]:
        """Every toggle with its value, in the order of the rules; None stands for `none`."""
        return self.toggles.model_dump()

    def settings(self) -> dict[str, Value]:
        """Every toggle with its value, and `rounds`."""
        return {**self.resolved(), ROUNDS: self.rounds}

    def changes(self) -> dict[str, Value]:
        """Those settings that are not at the game's default."""
        rounds: dict[str, Value] = {ROUNDS: self.rounds} if self.rounds > 1 else {}
        return {**self.toggles.model_dump(exclude_defaults=True), **rounds}

    def digest(self, seats: int) -> str:
        """SHA-256 (hex) of the game, the seats and all settings: equal for equal rules of any name."""
        content = json.dumps([self.game, seats, self.settings()], sort_keys=True)
        return hashlib.sha256(content.encode()).hexdigest()

    def changed(self, values: Mapping[str, Value], blame: Blame = ConfigError) -> Ruleset:
        """This ruleset with other (allowed) settings; a combination that the game rejects is blamed."""
        now = self.settings()
        new = {key: value for key, value in values.items() if value != now[key]}
        if not new:
            return self
        suffix = "".join(f"+{key}={shown(value)}" for key, value in new.items())
        changes = ", ".join(f"{key} {shown(value)}" for key, value in new.items())
        rounds = cast(int, new.pop(ROUNDS, self.rounds))
        return dataclasses.replace(
            self,
            version=self.version + suffix,
            title={language: f"{words} ({changes})" for language, words in self.title.items()},
            toggles=_toggles(type(self.toggles), {**self.resolved(), **new}, blame),
            rounds=rounds,
        )


def _toggles(model: type[ToggleModel], values: Mapping[str, Value], blame: Blame) -> ToggleModel:
    try:
        return model(**values)
    except ValidationError as problem:
        raise blame(problem.errors()[0]["msg"].removeprefix("Value error, ")) from None


def load_ruleset(ref: str | Path, overrides: Mapping[str, str] = NO_OVERRIDES) -> Ruleset:
    """The ruleset called `ref`.

    Args:
        ref: a path to a YAML file, `game/version`, or `game` for its `default`.
        overrides: settings that replace the file's, as typed on the command line (--set KEY=VALUE).
    Raises:
        ConfigError: for every mistake in the files or the overrides.
    """
    ruleset = read_ruleset(ruleset_path(ref, Path(), ConfigError))
    model = type(ruleset.toggles)
    raw = {key: resolve(text.strip()) for key, text in overrides.items()}
    options = Document(Path(), {}, {}, {(key,): f"--set: {key}" for key in raw})
    values = {
        key: parse_value(setting_choices(model, key, options, (key,)), value, options, (key,))
        for key, value in raw.items()
    }
    return ruleset.changed(values, lambda text: ConfigError(f"--set: {text}"))


def check_seats(ruleset: Ruleset, seats: int, blame: Blame = ConfigError) -> None:
    """Refuse a number of seats at which `ruleset` cannot be played.

    Args:
        blame: makes the error out of its text; a command line passes one that names its option.
    Raises:
        ConfigError: as made by `blame`.
    """
    least, most = ruleset.seats
    if not least <= seats <= most:
        raise blame(f"{seats} is not allowed; {ruleset.game} is played by {least}..{most} seats")
    try:
        sim.games.games()[ruleset.game].rules(ruleset.toggles, seats)
    except ValueError as problem:
        raise blame(f"{seats} is not allowed with {ruleset.name}: {problem}") from None


def presets(game: str) -> dict[str, Path]:
    """The project's own rulesets of a game: version -> file, in alphabetical order."""
    return {path.stem: path for path in sorted((files.CONFIGS / "games" / game).glob("*.yaml"))}


def is_path(ref: str | Path) -> bool:
    """Whether `ref` names a file rather than one of the project's own configurations."""
    return isinstance(ref, Path) or ref.endswith((".yaml", ".yml"))


def ruleset_path(ref: str | Path, folder: Path, blame: Blame) -> Path:
    """The file that `ref` means; a relative path starts at `folder`."""
    if is_path(ref):
        path = folder / ref
        if not files.exists(path):
            near = nearest(path.stem, [other.stem for other in path.parent.glob(f"*{path.suffix}")])
            raise blame(f"{files.shown_path(path)}: no such file{near}")
        return path
    game, _, version = str(ref).partition("/")
    if game not in sim.games.games():
        raise blame(f"no game is called '{shorten(game)}'{nearest(game, sim.games.games())}")
    known = presets(game)
    if (version or "default") not in known:
        raise blame(
            f"{game} has no ruleset '{shorten(version)}'{nearest(version, known)}; known: {', '.join(known)}"
        )
    return known[version or "default"]


def read_ruleset(path: Path) -> Ruleset:
    """The ruleset of a file, with what it inherits by `extends`."""
    if "+" in path.stem:
        raise ConfigError(f"{files.shown_path(path)}: a ruleset file's name is its version, which has no +")
    layers = _layers(path)
    game = _game_of(layers)
    values: dict[str, Value] = {}
    rounds = 1
    for document, layer in reversed(layers):
        values |= parse_toggles(game.Toggles, layer.toggles, document, ("toggles",))
        if ROUNDS in layer.model_fields_set:
            rounds = layer.rounds
    document, layer = layers[0]
    title = layer.title.words() if layer.title else None
    blame = functools.partial(document.error, ("toggles",))
    return make_ruleset(game, path.stem, title, values, rounds, blame)


def make_ruleset(
    game: Game,
    version: str,
    title: Mapping[str, str] | None,
    values: Mapping[str, Value],
    rounds: int,
    blame: Blame,
) -> Ruleset:
    """A ruleset of `game` with its defaults for all toggles but `values`; a combination it rejects is blamed."""
    toggles = _toggles(game.Toggles, values, blame)
    title = title or {language: f"{words} {version}" for language, words in game.title.items()}
    return Ruleset(game.name, version, title, toggles, (game.min_seats, game.max_seats), rounds)


def _layers(path: Path) -> list[tuple[Document, RulesetFile]]:
    """The file, the file it extends, and so on."""
    layers: list[tuple[Document, RulesetFile]] = []
    seen: list[Path] = []
    while True:
        document = read_document(path)
        layer = validate(document, RulesetFile)
        layers.append((document, layer))
        seen.append(path.resolve())
        if layer.extends is None:
            return layers
        at: KeyPath = ("extends",)
        path = ruleset_path(layer.extends, path.parent, functools.partial(document.error, at))
        if path.resolve() in seen:
            circle = [*seen[seen.index(path.resolve()) :], path]
            raise document.error(at, "a circle: " + " -> ".join(step.name for step in circle))


def _game_of(layers: list[tuple[Document, RulesetFile]]) -> Game:
    """The game of a ruleset: what the first file of the chain says or, unsaid, the game its folder is named after."""
    known = sim.games.games()
    root, layer = layers[-1]
    name = layer.game or root.path.resolve().parent.name
    if layer.game is None and name not in known:
        raise root.error((), "which game? add `game: NAME` or `extends: GAME/VERSION`")
    for document, layer in reversed(layers):
        if layer.game is not None and layer.game not in known:
            raise document.error(
                ("game",), f"no game is called '{shorten(layer.game)}'{nearest(layer.game, known)}"
            )
        if layer.game not in (None, name):
            raise document.error(("game",), f"{layer.game}, but it extends a ruleset of {name}")
    return known[name]
