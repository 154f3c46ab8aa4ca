"""The event stream of a game as a game log (JSON objects) and as text for people, in English and Traditional Chinese."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from sim import events as ev
from sim.cards import SUITS, card_name, card_names
from sim.engine import Table
from sim.games import OUTCOMES, Game, game

if TYPE_CHECKING:
    from sim.config import Player, Ruleset

FORMAT = 1

Event = dict[str, Any]


def replay(ruleset: Ruleset, lineup: tuple[Player, ...], seed: int, number: int) -> list[Event]:
    """The game log of deal `number` of a seed (DESIGN, Game log): one object an event."""
    played = game(ruleset.game)
    table = Table(played, played.rules(ruleset.toggles, len(lineup)), lineup, seed)
    table.deal(number)
    log = [_header(ruleset, lineup, seed, number), deal_event(played, table)]
    over = table.begin()
    while not over:
        over = table.make(table.choose())
    return [*log, *decode(played, table.events()), end_event(table)]


def _header(ruleset: Ruleset, lineup: tuple[Player, ...], seed: int, number: int) -> Event:
    return {
        "type": "game",
        "format": FORMAT,
        "game": ruleset.game,
        "version": ruleset.version,
        "toggles": ruleset.resolved(),
        "players": [player.name for player in lineup],
        "seats": len(lineup),
        "seed": seed,
        "index": number,
    }


def deal_event(played: Game, table: Table) -> Event:
    """The `deal` line of a dealt game."""
    position = played.module.to_position(table.rules, table.state)
    return {"type": "deal", "hands": position["hands"], "stock": position["stock"], "first": int(table.state.first)}


def end_event(table: Table) -> Event:
    """The `end` line of a finished game."""
    row, seats = table.result(), range(table.rules.seats)
    outcome = OUTCOMES[int(row.outcome)]
    share = [int(row.share[p]) for p in seats]
    return {
        "type": "end",
        "outcome": outcome,
        "winners": [p for p in seats if share[p] > 0] if outcome != "loser_found" else [],
        "losers": [p for p in seats if share[p] == 0] if outcome == "loser_found" else [],
        "places": [int(row.place[p]) for p in seats],
        "scores": [int(row.score[p]) for p in seats],
        "turns": int(row.turns),
    }


def move_value(played: Game, phase: int, move: int) -> Any:
    """A move as the log writes it: a card list in the main phase, else a card, seat, rank or word."""
    if phase == 0:
        return card_names(move)
    kind = played.choices[played.phases[phase]]
    if isinstance(kind, tuple):
        return kind[move]
    return card_name(move) if kind == "card" else move


def decode(played: Game, rows: np.ndarray) -> Iterator[Event]:
    """The log lines of recorded event rows (int64, shape (n, 5))."""
    at = 0
    while at < len(rows):
        code, a, b, c, d = (int(value) for value in rows[at])
        at += 1
        if code in (ev.DRAW, ev.PUT):
            cards = [card_name(b)]
            while at < len(rows) and rows[at].tolist() == [code, a, rows[at, 2], c, 0]:
                cards.append(card_name(rows[at, 2]))
                at += 1
            yield _moved(code, a, cards, c)
            continue
        extra: list[tuple[int, int]] = []
        while at < len(rows) and rows[at, 0] in (ev.MOVE, ev.OPTION, ev.CARD, ev.FLIP, ev.HAND):
            extra.append((int(rows[at, 0]), int(rows[at, 1])))
            at += 1
        yield _event(played, code, (a, b, c, d), extra)


def _moved(code: int, seat: int, cards: list[str], word: int) -> Event:
    if code == ev.DRAW:
        return {"type": "draw", "seat": seat, "cards": cards, "reason": ev.word(word)}
    return {"type": "put", "seat": seat, "cards": cards, "where": ev.word(word)}


def _event(played: Game, code: int, values: tuple[int, int, int, int], extra: list[tuple[int, int]]) -> Event:
    a, b, c, d = values
    match code:
        case ev.TURN:
            return {"type": "turn", "turn": a, "seat": b, "legal": [card_names(move) for _, move in extra]}
        case ev.PLAY:
            return {"type": "play", "seat": a, "cards": card_names(b), "gap": c}
        case ev.CHOOSE:
            value, legal = move_value(played, b, c), [move_value(played, b, move) for _, move in extra]
            return {"type": "choose", "seat": a, "what": played.phases[b], "value": value, "legal": legal}
        case ev.SHUFFLE:
            return {"type": "shuffle", "stock": [card_name(card) for _, card in extra]}
        case ev.LOCK:
            return {"type": "lock", "suit": SUITS[a], "seat": b} | ({"kind": "tax"} if c else {})
        case ev.UNLOCK:
            return {"type": "unlock", "suit": SUITS[a], "reason": ev.word(b)}
        case ev.BAN:
            return {"type": "ban", "rank": a, "seat": b, "card": card_name(c)}
        case ev.UNBAN:
            return {"type": "unban", "rank": a, "seat": b, "card": card_name(c), "reason": ev.word(d)}
        case ev.RECALL:
            return {"type": "recall", "card": card_name(a), "to": b}
        case ev.COMPLETE:
            return {"type": "complete", "suit": SUITS[a]}
        case ev.REDEAL:
            return _redeal(a, extra)
        case ev.ELIMINATE:
            return {"type": "eliminate", "seat": a, "reason": ev.word(b)}
        case ev.PASS:
            return {"type": "pass", "seat": a}
        case ev.FINISH:
            return {"type": "finish", "seat": a}
        case ev.LOSE:
            return {"type": "lose", "seat": a}
    raise ValueError(f"unknown event code {code}")


def _redeal(kind: int, extra: list[tuple[int, int]]) -> Event:
    return {
        "type": "redeal",
        "kind": ev.word(kind),
        "hands": [card_names(hand) for code, hand in extra if code == ev.HAND],
        "flips": [card_name(card) for code, card in extra if code == ev.FLIP],
        "stock": [card_name(card) for code, card in extra if code == ev.CARD],
    }
