"""A given position: its legal moves and what they cost, and what a given line of moves does (DESIGN, Positions)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sim.config import Player, Ruleset, check_seats
from sim.config.document import Document, read_document
from sim.config.models import validate
from sim.config.rulesets import read_ruleset, ruleset_path
from sim.config.values import nearest, parse_toggles
from sim.engine import Table
from sim.games import Game, ImpossiblePosition, PositionModel, game
from sim.trace import decode, end_event, move_value

NOBODY = Player("random", "random", {}, {})


def play_position(given: Path | str | Mapping[str, Any]) -> dict[str, Any]:
    """Play the line of a position file (or of its content).

    Returns:
        `legal`: the moves of the position, `{"cards": [...], "gap": 3}` in the main phase; `events`: the log lines of
        the first turn and of the line; `state`: the position afterwards, in a position file's keys; `outcome`: the
        `end` line, or None while the game goes on.
    Raises:
        ConfigError: for a mistake in the file, an impossible position or an illegal move.
    """
    document = _document(given)
    position, table = _set_up(document)
    played = table.game
    costs = _costs(table)
    over = table.begin()
    events = list(decode(played, table.events()))
    legal = _legal(played, events, costs)
    for at, item in enumerate(position.line):
        if over:
            raise document.error(("line", at), "the game is over")
        over = table.make(_move(document, played, table, at, item))
    state = {"ruleset": position.ruleset, "toggles": position.toggles}
    state |= played.module.to_position(table.rules, table.state)
    return {
        "legal": legal,
        "events": list(decode(played, table.events())),
        "state": {key: value for key, value in state.items() if value != {}},
        "outcome": end_event(table) if over else None,
    }


def table_of(given: Path | str | Mapping[str, Any], lineup: tuple[Player, ...] = ()) -> Table:
    """A table at the first decision of a position, its line left aside, for players to choose at.

    Raises:
        ConfigError: as `play_position`.
    """
    table = _set_up(_document(given), lineup)[1]
    table.begin()
    return table


def _set_up(document: Document, lineup: tuple[Player, ...] = ()) -> tuple[PositionModel, Table]:
    ruleset, played = _ruleset(document)
    position = validate(document, played.Position)
    return position, _table(document, position, ruleset, played, lineup)


def _document(given: Path | str | Mapping[str, Any]) -> Document:
    if isinstance(given, Mapping):
        return Document(Path("position"), dict(given), {(): (1, 1)})
    return read_document(Path(given))


def _ruleset(document: Document) -> tuple[Ruleset, Game]:
    """The ruleset a position names, with its toggles."""
    name, toggles = document.data.get("ruleset"), document.data.get("toggles", {})
    if not isinstance(name, str) or not isinstance(toggles, dict):
        validate(document, PositionModel)
    path = ruleset_path(str(name), document.path.parent, lambda text: document.error(("ruleset",), text))
    ruleset = read_ruleset(path)
    changed = parse_toggles(type(ruleset.toggles), toggles, document, ("toggles",))
    return ruleset.changed(changed), game(ruleset.game)


def _table(
    document: Document, position: PositionModel, ruleset: Ruleset, played: Game, lineup: tuple[Player, ...]
) -> Table:
    """A table set up with the position."""
    seats = len(position.hands)
    if not played.min_seats <= seats <= played.max_seats:
        raise document.error(
            ("hands",), f"{seats} seats; {played.name} takes {played.min_seats} to {played.max_seats}"
        )
    if position.to_move >= seats:
        raise document.error(("to_move",), f"there is no seat {position.to_move}; the last is {seats - 1}")
    _check_once(document, position)
    check_seats(ruleset, seats, lambda text: document.error(("hands",), text))
    rules = played.rules(ruleset.toggles, seats)
    table = Table(played, rules, lineup or (NOBODY,) * seats, position.seed)
    try:
        played.module.from_position(table.rules, position, table.state, table.shuffled)
    except ImpossiblePosition as problem:
        raise document.error((problem.key,), problem.reason) from None
    table.start_streams()
    return table


def _check_once(document: Document, position: PositionModel) -> None:
    """No card may stand in two places, unless cards repeat in the game, which then counts them itself."""
    if getattr(position, "cards_repeat", False):
        return
    seen: dict[str, str] = {}
    places = position.model_dump(exclude={"line", "toggles", "ruleset"})
    for key, cards in places.items():
        lists = cards if key == "hands" else [cards]
        for part, names in enumerate(lists):
            for at, name in enumerate(names if isinstance(names, list) else []):
                if not isinstance(name, str):
                    continue
                path = (key, part, at) if key == "hands" else (key, at)
                if name in seen:
                    raise document.error(path, f"{name} stands in {seen[name]} already")
                seen[name] = f"hands[{part}]" if key == "hands" else key


def _costs(table: Table) -> dict[int, int]:
    """The cost of every legal move of the position, by move."""
    moves, costs = table.legal()
    return dict(zip(moves, costs, strict=True))


def _legal(played: Game, events: list[dict[str, Any]], costs: dict[int, int]) -> list[dict[str, Any]]:
    """The moves that the first turn allows, none where it is lost or stuck or there is none, with their costs."""
    first: list[list[str]] = next((event["legal"] for event in events if event["type"] == "turn"), [])
    word = {tuple(move_value(played, 0, move)): price for move, price in costs.items()}
    return [{"cards": cards, played.cost["en"]: word[tuple(cards)]} for cards in first]


def _move(document: Document, played: Game, table: Table, at: int, item: object) -> int:
    """The move that an item of the line means."""
    phase = int(table.state.phase)
    values = {_key(move_value(played, phase, move)): move for move in table.legal()[0]}
    wanted = _key(item)
    if wanted in values:
        return values[wanted]
    what = played.phases[phase]
    given = _written(json.dumps(item, ensure_ascii=False))
    if phase == 0 and not isinstance(item, list):
        raise document.error(("line", at), f"{given} is no play; a play is a list of cards, such as [S7]")
    allowed = [_written(key) for key in values]
    hint = nearest(_written(wanted), allowed)
    text = f"{given} is not legal here ({what}); legal: {', '.join(allowed)}{hint}"
    raise document.error(("line", at), text)


def _key(value: object) -> str:
    return json.dumps(sorted(value) if isinstance(value, list) else value)


def _written(key: str) -> str:
    """JSON as a position file writes it, words without quotation marks."""
    return key.replace('"', "")
