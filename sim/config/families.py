"""The families of a sweep file: rulesets spread out by grids, seats, line-ups, and which contrasts they want."""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated

from pydantic import Field

from sim.config.document import Document, KeyPath
from sim.config.groups import Family, Pattern
from sim.config.models import LISTED, FileModel, Name, Numbers, Texts, Title, Values
from sim.config.players import Player, player_path, read_player
from sim.config.rulesets import Ruleset, check_seats, read_ruleset, ruleset_path
from sim.config.values import Value, parse_value, setting_choices, shown

MOST_ARMS = 1000
"""A family with more rulesets than this is a slip, or a job for several sweeps."""

Lineups = Annotated[list[Texts], LISTED, Field(min_length=1)]
Games = Annotated[int, Field(ge=1, le=10**12)]


class FamilyFile(FileModel):
    """One family of a sweep file."""

    name: Name
    title: Title | None = None
    rulesets: Texts
    grid: dict[str, Values] = {}
    seats: Numbers
    contrast: Pattern = "none"
    lineups: Lineups | None = None
    games: Games | None = None


class Sources:
    """The rulesets and players that a sweep file refers to, each read once.

    Two rulesets, or two players, of one name must be the same: results are filed under the name.
    """

    def __init__(self, document: Document) -> None:
        self.document = document
        self.folder = document.path.parent if document.path.name else Path()
        self.rulesets: dict[str, Ruleset] = {}
        self.players: dict[str, Player] = {}

    def ruleset(self, ref: str, at: KeyPath) -> Ruleset:
        """The ruleset that the file calls `ref` at key path `at`."""
        if ref not in self.rulesets:
            ruleset = read_ruleset(ruleset_path(ref, self.folder, functools.partial(self.document.error, at)))
            for other in self.rulesets.values():
                if other.name == ruleset.name and other.content != ruleset.content:
                    text = f"another ruleset is called {ruleset.name} too; rename one of the files"
                    raise self.document.error(at, text)
            self.rulesets[ref] = ruleset
        return self.rulesets[ref]

    def player(self, ref: str, at: KeyPath) -> Player:
        """The player that the file calls `ref` at key path `at`."""
        if ref not in self.players:
            player = read_player(player_path(ref, self.folder, functools.partial(self.document.error, at)))
            for other in self.players.values():
                if other.name == player.name and other != player:
                    text = f"another player is called {player.name} too; rename one of the files"
                    raise self.document.error(at, text)
            self.players[ref] = player
        return self.players[ref]


def read_family(
    sources: Sources, file: FamilyFile, number: int, lineups: list[list[str]], games: int
) -> Family:
    """Family `number` of a sweep file, whose line-ups and deals are those given where it names none itself.

    Raises:
        ConfigError: for every mistake.
    """
    at: KeyPath = ("families", number)
    bases = [sources.ruleset(ref, (*at, "rulesets", index)) for index, ref in enumerate(file.rulesets)]
    grid = _grid(sources.document, file, bases, at)
    blame = functools.partial(sources.document.error, (*at, "grid"))
    arms = tuple(base.changed(point, blame) for base in bases for point in _points(grid))
    _check_contrast(sources.document, file, arms, at)
    _check_seats(sources.document, file, arms, at)
    return Family(
        name=file.name,
        title=file.title.words() if file.title else {"en": file.name, "zh-Hant": file.name},
        rulesets=arms,
        grid=grid,
        seats=tuple(file.seats),
        lineups=_lineups(sources, file, bases, at, lineups),
        contrast=file.contrast,
        games=games if file.games is None else file.games,
    )


def with_common_names(families: Sequence[Family]) -> tuple[Family, ...]:
    """The same families with one name for equal rules throughout: a file's rather than one made by a grid."""
    named: dict[object, Ruleset] = {}
    for arm in sorted(
        (arm for family in families for arm in family.rulesets), key=lambda arm: "+" in arm.version
    ):
        named.setdefault(arm.content, arm)
    return tuple(
        dataclasses.replace(family, rulesets=tuple(named[arm.content] for arm in family.rulesets))
        for family in families
    )


def _grid(
    document: Document, file: FamilyFile, bases: list[Ruleset], at: KeyPath
) -> dict[str, tuple[Value, ...]]:
    grid: dict[str, tuple[Value, ...]] = {}
    arms = len(bases)
    for key, raw in file.grid.items():
        inside = (*at, "grid", key)
        for base in bases:
            choices = setting_choices(type(base.toggles), key, document, inside)
            values = [
                parse_value(choices, value, document, (*inside, index)) for index, value in enumerate(raw)
            ]
            grid[key] = tuple(values)
        _check_once(document, grid[key], inside)
        arms *= len(raw)
        if arms > MOST_ARMS:
            raise document.error(inside, f"more than {MOST_ARMS} rulesets in one family")
    return grid


def _points(grid: Mapping[str, tuple[Value, ...]]) -> Iterator[dict[str, Value]]:
    """Every combination of the grid's values, the last toggle varying fastest."""
    for values in itertools.product(*grid.values()):
        yield dict(zip(grid, values, strict=True))


def _check_contrast(document: Document, file: FamilyFile, arms: Sequence[Ruleset], at: KeyPath) -> None:
    if file.contrast == "none":
        return
    inside = (*at, "contrast")
    if len(arms) < 2:
        raise document.error(inside, f"{file.contrast} needs at least two rulesets")
    if len({arm.game for arm in arms}) > 1:
        raise document.error(inside, f"{file.contrast} needs rulesets of one game")
    if file.contrast == "factorial" and [len(file.rulesets), *map(len, file.grid.values())] != [1, 2, 2]:
        raise document.error(inside, "factorial needs one ruleset and a grid of two toggles, two values each")
    names: dict[object, str] = {}
    for arm in arms:
        if arm.content in names:
            raise document.error((*at, "rulesets"), f"{names[arm.content]} and {arm.name} are the same rules")
        names[arm.content] = arm.name


def _check_seats(document: Document, file: FamilyFile, arms: Sequence[Ruleset], at: KeyPath) -> None:
    inside = (*at, "seats")
    for index, seats in enumerate(file.seats):
        for arm in arms:
            check_seats(arm, seats, functools.partial(document.error, (*inside, index)))
    _check_once(document, file.seats, inside)


def _check_once(document: Document, values: Sequence[Value], at: KeyPath) -> None:
    for index, value in enumerate(values):
        if value in values[:index]:
            raise document.error((*at, index), f"{shown(value)} twice")


def _lineups(
    sources: Sources, file: FamilyFile, bases: list[Ruleset], at: KeyPath, usual: list[list[str]]
) -> tuple[tuple[Player, ...], ...]:
    lineups = []
    if file.lineups is None:
        at = ()
    for index, refs in enumerate(file.lineups or usual):
        inside: KeyPath = (*at, "lineups", index)
        if len(refs) > min(file.seats):
            text = f"{len(refs)} players for {min(file.seats)} seats in family {file.name}"
            raise sources.document.error(inside, text)
        players = tuple(sources.player(ref, (*inside, place)) for place, ref in enumerate(refs))
        for player, base in itertools.product(players, bases):
            if obstacle := player.obstacle(base.game):
                raise sources.document.error(inside, obstacle)
        lineups.append(players)
    return tuple(lineups)
