"""What naive referees share: card names, and a log read line by line against what must stand in it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from typing import Any, NoReturn

SUITS = "SHDC"
RANKS = ("A", "2", "3", "4", "5", "6", "7", "8", "9", "10", "J", "Q", "K")
CARD = {(suit, rank): suit + name for suit in SUITS for rank, name in enumerate(RANKS, 1)}
SUIT = {card: suit for (suit, _), card in CARD.items()}
RANK = {card: rank for (_, rank), card in CARD.items()}
JOKERS = ("BJ", "RJ")
ORDER = {card: place for place, card in enumerate((*CARD.values(), *JOKERS))}

YES_NO = ("no", "yes")

Lines = Iterable[str] | Iterable[Mapping[str, Any]]


class Disagreement(AssertionError):
    """Log and rules differ. The message names the line, what the rules demand and what the log says."""


class Log:
    """The lines of a log, read one by one and compared with what must stand there."""

    def __init__(self, lines: Lines) -> None:
        self.lines: list[str | Mapping[str, Any]] = list(lines)
        self.number = 0

    def fail(self, expected: object, logged: object) -> NoReturn:
        raise Disagreement(f"line {self.number}: expected {expected}, logged {logged}")

    def demand(self, holds: bool, invariant: str) -> None:
        """Something that the rules promise at every moment."""
        if not holds:
            self.fail(f"the invariant: {invariant}", "a line that breaks it")

    def _parsed(self, index: int) -> dict[str, Any]:
        line = self.lines[index]
        try:
            event: Any = json.loads(line) if isinstance(line, str) else line
        except ValueError as error:
            raise Disagreement(f"line {index + 1}: expected JSON, logged {line!r} ({error})") from error
        if not isinstance(event, dict):
            raise Disagreement(f"line {index + 1}: expected a JSON object, logged {line!r}")
        return event

    def peek(self) -> str:
        """The type of the next line, "" after the last one."""
        return "" if self.number == len(self.lines) else str(self._parsed(self.number).get("type"))

    def take(self, kind: str, *keys: str) -> dict[str, Any]:
        """The next line, which must be of this type with exactly these keys beside it."""
        if self.number == len(self.lines):
            self.number += 1
            self.fail(f"a line of type {kind}", "nothing more")
        event = self._parsed(self.number)
        self.number += 1
        if event.get("type") != kind:
            self.fail(f"a line of type {kind}", event)
        if event.keys() != {"type", *keys}:
            self.fail(f"a {kind} line with the keys {sorted(keys)}", event)
        return event

    def expect(self, kind: str, /, **fields: object) -> None:
        """The next line must be exactly this. A frozenset stands for a list in any order, no repetition."""
        event = self.take(kind, *fields)
        for key, wanted in fields.items():
            logged = event[key]
            if isinstance(wanted, frozenset):
                self.same_set(f"{kind}.{key}", wanted, logged)
            elif repr(wanted) != repr(logged):  # repr, because 1 == True == 1.0
                self.fail(f"{kind}.{key} = {wanted!r}", f"{logged!r} in {event}")

    def same_set(self, name: str, wanted: Collection[Any], logged: object) -> None:
        """`logged` must be a list of exactly these items, in any order."""
        if not isinstance(logged, list) or Counter(map(repr, logged)) != Counter(map(repr, wanted)):
            self.fail(f"{name} = {sorted(wanted)} in any order", repr(logged))

    def finish(self) -> None:
        """There must be no further line."""
        if self.number < len(self.lines):
            self.number += 1
            self.fail("nothing after the end", self.lines[self.number - 1])

    def read_header(self, game: str, seats: range) -> dict[str, Any]:
        """The `game` line: its fields, those common to all games checked."""
        event = self.take("game", "format", "game", "version", "toggles", "players", "seats", "seed", "index")
        if repr((event["format"], event["game"])) != repr((1, game)):
            self.fail(f"format 1 of the game {game}", event)
        if type(event["seats"]) is not int or event["seats"] not in seats:
            self.fail(f"{seats.start} to {seats.stop - 1} seats", event["seats"])
        for key in ("seed", "index"):
            if type(event[key]) is not int or event[key] < 0:
                self.fail(f"a whole number as {key}", event[key])
        names = [event["version"], *event["players"]]
        if len(names) != event["seats"] + 1 or not all(isinstance(name, str) for name in names):
            self.fail("a version and a player for each seat", names)
        return event

    def read_toggles(
        self, logged: Mapping[str, Any], known: Mapping[str, Collection[object]], fixed: Mapping[str, str]
    ) -> dict[str, Any]:
        """The toggles of a log, booleans for those that are yes or no.

        Every toggle of `known` must be there with one of its values; those of `fixed` may be, with theirs.
        """
        toggles = {key: plain(value) for key, value in logged.items()}
        for key, value in toggles.items():
            if key in fixed and value == fixed[key]:
                continue
            if key not in known or not any(value == v and type(value) is type(v) for v in known[key]):
                self.fail("a toggle the referee knows", f"{key} = {value}")
        if missing := known.keys() - toggles.keys():
            self.fail(f"the toggles {sorted(missing)}", logged)
        return {key: value == "yes" if known.get(key) is YES_NO else value for key, value in toggles.items()}

    def check_hands(
        self, hands: object, stock: object, deck: Collection[str], sizes: Collection[int]
    ) -> None:
        """The hands and stock of a `deal` line: together the deck, so many cards a seat, each hand sorted."""
        if not isinstance(hands, list) or not isinstance(stock, list):
            self.fail("lists of cards", (hands, stock))
        self.same_set("the cards of the deal", deck, [card for hand in (*hands, stock) for card in hand])
        if [len(hand) for hand in hands] != list(sizes):
            self.fail(f"hands of {list(sizes)} cards", hands)
        for hand in hands:
            if hand != sorted(hand, key=ORDER.__getitem__):
                self.fail("hands sorted by suit, then rank, Jokers last", hand)


def plain(value: Any) -> Any:
    """A toggle's value in one spelling: booleans as yes and no, words in lower case."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return value.lower() if isinstance(value, str) else value
