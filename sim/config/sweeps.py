"""Sweeps: which rulesets meet the same deals, at which tables, by whom, and which differences are measured."""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

import sim.games
from sim.config import document as files
from sim.config.document import ConfigError, Document, KeyPath, name_fault, read_document, resolve, shorten
from sim.config.families import FamilyFile, Games, Lineups, Sources, read_family, with_common_names
from sim.config.groups import Family, Group, make_groups
from sim.config.models import FileModel, Name, Title, validate
from sim.config.players import KEYS, Player, PlayerFile, make_player
from sim.config.rulesets import Rounds, is_path, make_ruleset
from sim.config.values import nearest, parse_toggles, shown, unknown_key

AnswerKind = Literal["opening_class", "first_player", "change"]

_NEEDED: Mapping[AnswerKind, tuple[str, ...]] = {
    "opening_class": ("partition", "at_least"),
    "first_player": (),
    "change": ("a", "b"),
}
"""The keys of each kind of question, beside its title."""


class AnswerFile(FileModel):
    """One question of a sweep file."""

    kind: AnswerKind
    title: Title
    game: str | None = None
    partition: str | None = None
    at_least: int | None = None
    a: str | None = None
    b: str | None = None


class InlineRuleset(FileModel):
    """A ruleset written out inside a sweep file, under the name `game/version`."""

    title: Title | None = None
    rounds: Rounds = 1
    toggles: dict[str, Any] = {}


class SweepFile(FileModel):
    """The keys of a sweep file."""

    title: Title | None = None
    seed: Annotated[int, Field(ge=0, le=2**63 - 1)] = 1
    games: Games
    lineups: Lineups = [["random"]]
    families: list[FamilyFile] = []
    sweeps: list[Name] = []
    answers: list[AnswerFile] = []
    rulesets: dict[str, InlineRuleset] = {}
    players: dict[Name, PlayerFile] = {}


@dataclass(frozen=True)
class Answer:
    """A question that the report answers first.

    `opening_class`: what opening hands of class number `at_least` or higher of `partition` win;
    `first_player`: what going first is worth; `change`: what changes from the ruleset named `a` to that named `b`.
    With a `game` only that game's tables are asked.
    """

    kind: AnswerKind
    title: Mapping[str, str] = field(hash=False)
    game: str = ""
    partition: str = ""
    at_least: int = 0
    a: str = ""
    b: str = ""


@dataclass(frozen=True)
class Sweep:
    """A validated sweep.

    `games` is the number of deals of a family that names none. `resolved` holds the sweep as plain values with
    nothing left to look up; written as YAML it is a sweep file that gives the same groups.
    """

    name: str
    title: Mapping[str, str] = field(hash=False)
    seed: int
    games: int
    families: tuple[Family, ...]
    groups: tuple[Group, ...]
    answers: tuple[Answer, ...]
    resolved: Mapping[str, Any] = field(hash=False, repr=False)


def load_sweep(ref: str | Path, overrides: Mapping[str, str] | None = None) -> Sweep:
    """The sweep called `ref`: the name of one of the project's own sweeps, or a path to a YAML file.

    Args:
        overrides: `games` and `seed` as typed on the command line (--set KEY=VALUE); games replaces every family's too.
    Raises:
        ConfigError: for every mistake.
    """
    path = Path(ref) if is_path(ref) else files.CONFIGS / "sweeps" / f"{ref}.yaml"
    known = sorted(other.stem for other in (files.CONFIGS / "sweeps").glob("*.yaml"))
    if not is_path(ref) and ref not in known:
        hint = nearest(str(ref), known)
        raise ConfigError(f"no sweep is called '{shorten(str(ref))}'{hint}; known: {', '.join(known)}")
    document = _overridden(read_document(path), overrides or {})
    file = validate(document, SweepFile)
    sources = Sources(document)
    _define(sources, file)
    parts = _parts(document, file, overrides or {})
    families = _families(sources, file)
    groups = make_groups(families, file.seed)
    answers = tuple(_answer(sources, answer, number, groups) for number, answer in enumerate(file.answers))
    title = file.title.words() if file.title else {"en": path.stem, "zh-Hant": path.stem}
    resolved = _resolved(sources, file, families, answers) | {"title": dict(title)}
    sweep = Sweep(path.stem, title, file.seed, file.games, families, groups, answers, resolved)
    for number, part in enumerate(parts):
        _check_names(document, ("sweeps", number), sweep, part)
        sweep = _joined(sweep, part)
    return sweep


def _parts(document: Document, file: SweepFile, overrides: Mapping[str, str]) -> list[Sweep]:
    """The sweeps that the file takes in, with its seed; a file of its own needs families otherwise."""
    if not file.families and not file.sweeps:
        text = "the list is empty" if "families" in document.data else "missing"
        raise document.error(("families",), text)
    parts = []
    for number, name in enumerate(file.sweeps):
        if _takes_in(name):
            raise document.error(("sweeps", number), f"{name} takes in sweeps itself")
        try:
            part = load_sweep(name, {**overrides, "seed": str(file.seed)})
        except ConfigError as problem:
            raise document.error(("sweeps", number), str(problem)) from None
        parts.append(part)
    return parts


def _takes_in(name: str) -> bool:
    """Whether the project's own sweep of that name takes in others."""
    path = files.CONFIGS / "sweeps" / f"{name}.yaml"
    return path.exists() and "sweeps" in read_document(path).data


def _check_names(document: Document, at: KeyPath, sweep: Sweep, part: Sweep) -> None:
    """Refuse a ruleset or player that goes by a name of a different one in a sweep taken in."""
    for key, what in (("rulesets", "ruleset"), ("players", "player")):
        here, there = sweep.resolved[key], part.resolved[key]
        for name in sorted(here.keys() & there.keys()):
            if here[name] != there[name]:
                raise document.error(at, f"another {what} is called {name} there; rename this one")


def _joined(sweep: Sweep, part: Sweep) -> Sweep:
    """The sweep with another taken in: its families under its name, its questions about its own games."""
    games = {group.game for group in part.groups}
    only = games.pop() if len(games) == 1 else ""
    answers = [dataclasses.replace(answer, game=answer.game or only) for answer in part.answers]
    names = {family.name: f"{part.name}.{family.name}" for family in part.families}
    families = [dataclasses.replace(family, name=names[family.name]) for family in part.families]
    content, more = dict(sweep.resolved), part.resolved
    content["families"] = [
        *content["families"],
        *({**family, "name": names[family["name"]]} for family in more["families"]),
    ]
    content["answers"] = [
        *content["answers"],
        *(
            written | ({"game": answer.game} if answer.game else {})
            for written, answer in zip(more["answers"], answers, strict=True)
        ),
    ]
    for key in ("rulesets", "players"):
        content[key] = {**content[key], **more[key]}
    before = (*sweep.families, *families)
    every = with_common_names(before)
    return dataclasses.replace(
        sweep,
        families=every,
        groups=make_groups(every, sweep.seed),
        answers=_renamed((*sweep.answers, *answers), before, every),
        resolved=content,
    )


def _renamed(
    answers: Sequence[Answer], before: Sequence[Family], after: Sequence[Family]
) -> tuple[Answer, ...]:
    """The questions with the names that their rulesets have after a change of names."""
    names = {
        old.name: new.name
        for was, now in zip(before, after, strict=True)
        for old, new in zip(was.rulesets, now.rulesets, strict=True)
    }
    return tuple(
        dataclasses.replace(answer, a=names.get(answer.a, ""), b=names.get(answer.b, ""))
        for answer in answers
    )


def _overridden(document: Document, overrides: Mapping[str, str]) -> Document:
    """The document with the command line's values in place of its own."""
    data = dict(document.data)
    for key, text in overrides.items():
        if key not in ("games", "seed"):
            raise ConfigError(f"--set: {key}: {unknown_key(key, ('games', 'seed'))}")
        data[key] = resolve(text.strip())
    families = data.get("families")
    if "games" in overrides and isinstance(families, list):
        data["families"] = [
            {key: value for key, value in family.items() if key != "games"}
            if isinstance(family, dict)
            else family
            for family in families
        ]
    options: dict[KeyPath, str] = {(key,): f"--set: {key}" for key in overrides}
    return Document(document.path, data, document.positions, options)


def _define(sources: Sources, file: SweepFile) -> None:
    """Read the rulesets and players that stand in the sweep file itself."""
    document, known = sources.document, sim.games.games()
    for name, content in file.rulesets.items():
        at: KeyPath = ("rulesets", name)
        game, _, version = name.partition("/")
        if game not in known or not version or set(version) & {"/", "+"}:
            raise document.error(at, f"a ruleset is named GAME/VERSION; games: {', '.join(known)}")
        if fault := name_fault(version):
            raise document.error(at, fault)
        at = (*at, "toggles")
        values = parse_toggles(known[game].Toggles, content.toggles, document, at)
        title = content.title.words() if content.title else None
        blame = functools.partial(document.error, at)
        sources.rulesets[name] = make_ruleset(known[game], version, title, values, content.rounds, blame)
    for name, player in file.players.items():
        sources.players[name] = make_player(name, player, document, ("players", name), file.players)


def _families(sources: Sources, file: SweepFile) -> tuple[Family, ...]:
    families: list[Family] = []
    for number, content in enumerate(file.families):
        if content.name in [family.name for family in families]:
            raise sources.document.error(
                ("families", number, "name"), f"a second family called {content.name}"
            )
        families.append(read_family(sources, content, number, file.lineups, file.games))
    return with_common_names(families)


def _answer(sources: Sources, file: AnswerFile, number: int, groups: Sequence[Group]) -> Answer:
    document, at = sources.document, ("answers", number)
    for key in ("partition", "at_least", "a", "b"):
        needed, given = key in _NEEDED[file.kind], getattr(file, key) is not None
        if needed != given:
            text = "missing" if needed else f"a question of kind {file.kind} has no such key"
            raise document.error((*at, key), text)
    groups = _asked(document, file, groups, at)
    answer = Answer(file.kind, file.title.words(), file.game or "")
    if file.kind == "opening_class":
        return dataclasses.replace(answer, **_opening_class(document, file, groups, at))
    if file.kind == "change":
        return dataclasses.replace(answer, **_change(sources, file, groups, at))
    return answer


def _asked(document: Document, file: AnswerFile, groups: Sequence[Group], at: KeyPath) -> Sequence[Group]:
    """The groups that a question is about."""
    played = sorted({group.game for group in groups})
    if file.game is not None and file.game not in played:
        text = f"this sweep does not play '{shorten(file.game)}'{nearest(file.game, played)}"
        raise document.error((*at, "game"), text)
    return [group for group in groups if file.game in (None, group.game)]


def _opening_class(
    document: Document, file: AnswerFile, groups: Sequence[Group], at: KeyPath
) -> dict[str, Any]:
    played = sorted({group.game for group in groups})
    partitions = {part.name: part for game in played for part in sim.games.games()[game].partitions}
    if file.partition not in partitions:
        text = unknown_key(str(file.partition), partitions, "partition of opening hands")
        raise document.error((*at, "partition"), text)
    most = len(partitions[file.partition].classes) - 1
    if file.at_least is None or not 1 <= file.at_least <= most:
        raise document.error((*at, "at_least"), f"{shown(file.at_least)} is not allowed; allowed: 1..{most}")
    return {"partition": file.partition, "at_least": file.at_least}


def _change(sources: Sources, file: AnswerFile, groups: Sequence[Group], at: KeyPath) -> dict[str, Any]:
    """The names under which the sweep plays the two rulesets; some family must compare them."""
    arms = {arm.content: arm.name for group in groups for arm in group.arms}
    names = {}
    for key, ref in (("a", file.a), ("b", file.b)):
        assert ref is not None
        if ref in arms.values():
            names[key] = ref
        else:
            ruleset = sources.ruleset(ref, (*at, key))
            names[key] = arms.get(ruleset.content, ruleset.name)
    pairs = [
        (contrast.a, contrast.b)
        for group in groups
        for contrast in group.contrasts
        if contrast.kind == "pair"
    ]
    if (names["a"], names["b"]) not in pairs:
        raise sources.document.error(at, f"no family compares {names['b']} against {names['a']}")
    return names


def _resolved(
    sources: Sources, file: SweepFile, families: Sequence[Family], answers: Sequence[Answer]
) -> dict[str, Any]:
    """The content of a sweep file, but for its title, that holds every ruleset and player it needs."""
    bases = [[sources.rulesets[ref] for ref in content.rulesets] for content in file.families]
    players = _players_by_name(sources, families)
    return {
        "seed": file.seed,
        "games": file.games,
        "families": [
            {
                "name": family.name,
                "title": dict(family.title),
                "rulesets": [ruleset.name for ruleset in rulesets],
                "grid": {key: list(values) for key, values in family.grid.items()},
                "seats": list(family.seats),
                "contrast": family.contrast,
                "lineups": [[player.name for player in lineup] for lineup in family.lineups],
                "games": family.games,
            }
            for family, rulesets in zip(families, bases, strict=True)
        ],
        "answers": [
            {"kind": answer.kind, "title": dict(answer.title)}
            | ({"game": answer.game} if answer.game else {})
            | {key: getattr(answer, key) for key in _NEEDED[answer.kind]}
            for answer in answers
        ],
        "rulesets": {
            ruleset.name: {"title": dict(ruleset.title)}
            | ({"rounds": ruleset.rounds} if ruleset.rounds > 1 else {})
            | {"toggles": ruleset.resolved()}
            for ruleset in itertools.chain(*bases)
        },
        "players": {
            player.name: {"title": dict(player.title), "kind": player.kind, **_settings(player)}
            for player in players.values()
        },
    }


def _players_by_name(sources: Sources, families: Sequence[Family]) -> dict[str, Player]:
    """Everybody who plays, or whom a searching player names."""
    found: dict[str, Player] = {}
    for number, family in enumerate(families):
        for player in itertools.chain(*family.lineups):
            named = player.search.players if player.search else ()
            for one in (player, *named):
                if found.setdefault(one.name, one) != one:
                    text = f"another player is called {one.name} too; rename one of the files"
                    raise sources.document.error(("families", number), text)
    return found


def _settings(player: Player) -> dict[str, Any]:
    """What a player's kind has beside title and kind, in the keys of a player file."""
    if player.search is not None:
        settings = {key: getattr(player.search, key) for key in KEYS["search"]}
        plays_out, *opponents = (named.name for named in player.search.players)
        return {**settings, "plays_out": plays_out, "opponents": opponents}
    named = {"games": player.weights, "forbid": player.forbid, "prefer": player.prefer}
    return {key: names for key, names in named.items() if names}
