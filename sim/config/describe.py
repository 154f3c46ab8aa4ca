"""What can be configured, for people and for editors: a game's toggles in words, JSON schemas, a file's summary."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from pydantic.fields import FieldInfo

import sim.games
from sim.config.document import ConfigError, Document, read_document, shorten, shown_path
from sim.config.models import LANGUAGES, TITLE_SCHEMA
from sim.config.players import MOST_WEIGHT, PlayerFile, load_player
from sim.config.rulesets import load_ruleset, presets
from sim.config.sweeps import SweepFile, load_sweep
from sim.config.values import MOST_ROUNDS, ROUNDS, Choices, Value, choices_of, nearest, shown
from sim.games import Game

_WORDS: Mapping[str, Mapping[str, str]] = {
    "en": {
        "seats": "{least} to {most} seats",
        "toggles": "Toggles",
        "intro": "Each is one line under `toggles:` in a ruleset file. The default is in bold.",
        "table": "| key | rule | values | what it decides, and why the default |",
        "rounds": "Beside `toggles:`, `rounds: 5` makes a game a match of five rounds (1..{most}; **1**), each dealt "
        "anew; the best total score wins, or without scores the most rounds won.",
        "presets": "Rulesets",
        "same": "all defaults",
    },
    "zh-Hant": {
        "seats": "{least} 至 {most} 人",
        "toggles": "規則開關",
        "intro": "每項都是規則檔中 `toggles:` 之下的一行；粗體為預設值。",
        "table": "| 鍵 | 規則編號 | 可用的值 | 決定什麼，以及預設的理由 |",
        "rounds": "與 `toggles:` 並列的 `rounds: 5` 使一局成為五輪的比賽（1..{most}；**1**），每輪重新發牌；"
        "總分最佳者勝，不計分的遊戲則贏最多輪者勝。",
        "presets": "現成規則",
        "same": "全部預設",
    },
}


def describe_game(game: str, language: str = "en") -> str:
    """A game's rules in prose, its toggles with their values, and its rulesets, as Markdown.

    Raises:
        ConfigError: for an unknown game or language.
    """
    entry = _game(game)
    if language not in LANGUAGES:
        raise ConfigError(f"--lang: {shown(language)} is not allowed; allowed: {', '.join(LANGUAGES)}")
    words = _WORDS[language]
    lines = [f"# {entry.title[language]} ({entry.name})", ""]
    lines += [words["seats"].format(least=entry.min_seats, most=entry.max_seats), ""]
    lines += [entry.prose[language].strip(), "", f"## {words['toggles']}", "", words["intro"], ""]
    lines += [words["table"], "|---|---|---|---|"]
    for key, field in entry.Toggles.model_fields.items():
        about = _about(field)
        values = _values(choices_of(field), field.default)
        lines.append(f"| `{key}` | {about['rule']} | {values} | {about[language]} |")
    lines += ["", words["rounds"].format(most=MOST_ROUNDS)]
    lines += ["", f"## {words['presets']}", ""]
    for path in presets(game).values():
        ruleset = load_ruleset(path)
        changes = ", ".join(f"`{key}: {shown(value)}`" for key, value in ruleset.changes().items())
        lines.append(f"- `{ruleset.name}`, {ruleset.title[language]}: {changes or words['same']}")
    return "\n".join(lines) + "\n"


def _game(name: str) -> Game:
    games = sim.games.games()
    if name not in games:
        raise ConfigError(
            f"no game is called '{shorten(name)}'{nearest(name, games)}; known: {', '.join(games)}"
        )
    return games[name]


def _about(field: FieldInfo) -> Mapping[str, str]:
    """What `sim.games.toggle` recorded: the rule id, and the words in each language."""
    return cast(Mapping[str, str], field.json_schema_extra)


def _values(choices: Choices, default: Value) -> str:
    """The allowed values with the default in bold, which for a range of numbers stands in brackets behind it."""
    words, usual = choices.words(), f"**{shown(default)}**"
    if type(default) is int and choices.low is not None:
        return " / ".join([f"{words[0]} ({usual})", *words[1:]])
    return " / ".join(usual if word == shown(default) else word for word in words)


def json_schema(kind: str) -> dict[str, Any]:
    """The JSON schema of a file, for editors.

    Args:
        kind: `player`, `sweep`, `position`, or a game's name for its rulesets.
    Raises:
        ConfigError: for any other word.
    """
    if kind == "player":
        schema = _player_schema()
    elif kind == "sweep":
        schema = SweepFile.model_json_schema()
    elif kind == "position":
        schema = _position_schema()
    elif kind in sim.games.games():
        schema = _ruleset_schema(sim.games.games()[kind])
    else:
        known = ["player", "sweep", "position", *sim.games.games()]
        raise ConfigError(f"no schema for '{shorten(kind)}'{nearest(kind, known)}; known: {', '.join(known)}")
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


def _mapping(properties: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "additionalProperties": False, **more}


def _toggles_schema(game: Game) -> dict[str, Any]:
    toggles = {}
    for key, field in game.Toggles.model_fields.items():
        about = _about(field)
        description = f"{about['rule']}: {about['en']} {about['zh-Hant']}"
        toggles[key] = {
            **_toggle_schema(choices_of(field)),
            "default": field.default,
            "description": description,
        }
    return _mapping(toggles)


def _position_schema() -> dict[str, Any]:
    """A position of any game: which game's keys it may have is told by the name of its ruleset, if not by its path."""
    shapes: list[dict[str, Any]] = []
    definitions: dict[str, Any] = {}
    for game in sim.games.games().values():
        shape = game.Position.model_json_schema(ref_template=f"#/$defs/{game.name}.{{model}}")
        own = shape.pop("$defs", {})
        definitions |= {f"{game.name}.{name}": definition for name, definition in own.items()}
        shape["properties"]["ruleset"] = {"type": "string", "pattern": rf"^{game.name}(/.+)?$|\.ya?ml$"}
        shape["properties"]["toggles"] = _toggles_schema(game)
        shapes.append(shape)
    return {"anyOf": shapes, "$defs": definitions}


def _ruleset_schema(game: Game) -> dict[str, Any]:
    return _mapping(
        {
            "game": {"const": game.name},
            "extends": {"type": "string"},
            "title": TITLE_SCHEMA,
            ROUNDS: {"type": "integer", "minimum": 1, "maximum": MOST_ROUNDS, "default": 1},
            "toggles": _toggles_schema(game),
        }
    )


def _toggle_schema(choices: Choices) -> dict[str, Any]:
    words: list[Value] = list(choices.listed)
    for value, spellings in ((True, ["yes", "on"]), (False, ["no", "off"]), (None, ["none"])):
        if any(choice is value for choice in choices.listed):
            words += spellings
        elif value is not None and spellings[0] in choices.listed:
            words += [value, *spellings[1:]]
    if choices.low is None:
        return {"enum": words}
    number: dict[str, Any] = {"type": "integer", "minimum": choices.low}
    if choices.high is not None:
        number["maximum"] = choices.high
    return {"anyOf": [number, {"enum": words}]} if words else number


def _player_schema() -> dict[str, Any]:
    """Which games, phases and features there are, in the places where a file names them."""
    schema = PlayerFile.model_json_schema()
    weight = {"type": "integer", "minimum": -MOST_WEIGHT, "maximum": MOST_WEIGHT}
    weights, names = {}, {}
    for game in sim.games.games().values():
        features = {item.name: {**weight, "description": f"{item.en} {item.zh}"} for item in game.features}
        listed = {"type": "array", "items": {"enum": list(features)}}
        weights[game.name] = _mapping({phase: _mapping(features) for phase in game.phases})
        names[game.name] = _mapping(dict.fromkeys(game.phases, listed))
    schema["properties"] |= {"games": _mapping(weights), "forbid": _mapping(names), "prefer": _mapping(names)}
    return schema


def check_file(path: str | Path) -> str:
    """Validate a ruleset, player, sweep or position file in full; what it holds, in one line.

    Raises:
        ConfigError: for every mistake, also when the file is none of the four.
    """
    path = Path(path)
    kind = _kind(read_document(path))
    if kind == "ruleset":
        ruleset = load_ruleset(path)
        toggles = ruleset.resolved()
        changes = len(ruleset.changes().keys() & toggles.keys())
        what = f"{ruleset.name}, {changes} of {len(toggles)} toggles not at the default"
        what += f", rounds {ruleset.rounds}" if ruleset.rounds > 1 else ""
    elif kind == "player":
        player = load_player(path)
        what = f"{player.name}, {player.kind}" + "".join(f", {game}" for game in player.weights)
    elif kind == "position":
        from sim.position import play_position  # loads the compiler, which the others do without

        shown = play_position(path)
        what = (
            f"{shown['state']['ruleset']}, {len(shown['legal'])} legal moves, events {len(shown['events'])}"
        )
    else:
        sweep = load_sweep(path)
        arms = {arm.name for group in sweep.groups for arm in group.arms}
        played = sum(len(group.arms) * group.games for group in sweep.groups)
        what = f"{sweep.name}, families {len(sweep.families)}, rulesets {len(arms)}, games {played}"
    return f"{shown_path(path)}: {kind} {what}"


def _kind(document: Document) -> str:
    """What the file is, by the keys that only one kind of file has."""
    marks = {
        "families": "sweep",
        "sweeps": "sweep",
        "hands": "position",
        "kind": "player",
        "toggles": "ruleset",
        "extends": "ruleset",
        "game": "ruleset",
        "title": "ruleset",
        ROUNDS: "ruleset",
    }
    for key, kind in marks.items():
        if key in document.data:
            return kind
    text = "a ruleset has `toggles` or `extends`, a player `kind`, a sweep `families`, a position `hands`"
    raise document.error((), f"neither ruleset, player, sweep nor position: {text}")
