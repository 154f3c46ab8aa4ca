"""What a seat of bieqi_borrow knows: its own cards, the table, how many cards who holds and who lent to whom.

Which card was lent only the two seats know. Whether a full position agrees is searched for: what was lent is undone
from the last time to the first, so that nobody who borrowed held a live card, and then told anew under the rules.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from tests.knowledge.common import Event, Position, mix

RULESETS: tuple[tuple[str, dict[str, Any], int], ...] = (
    ("bieqi_borrow/default", {}, 4),
    ("bieqi_borrow/default", {"borrow": "optional"}, 5),
    ("bieqi_borrow/default", {"borrower_plays_after": "if_live"}, 4),
    ("bieqi_borrow/default", {"lend_last_card": "forbidden", "end": "all_but_one_out"}, 3),
    ("bieqi_borrow/blind", {"joker_lend_limit": "once_per_turn_cycle", "may_lend_sole_live_card": False}, 4),
    ("bieqi_borrow/helpful", {}, 4),
    ("bieqi_borrow/helpful", {"borrower_plays_after": "no", "borrow": "optional", "end": "first_out"}, 4),
    ("bieqi_borrow/keep_live", {"borrow": "optional"}, 4),
)
"""(ruleset, toggles, seats) in which choices and samples are checked."""

_SUITS = "SHDC"
_RANKS = ["A", "2", "3", "4", "5", "6", "7", "8", "9", "10", "J", "Q", "K"]
_JOKER = "BJ"


def _start(ruleset: str, hands: list[list[str]], **toggles: Any) -> Position:
    """A position with these hands and all other cards on the table."""
    held = {card for hand in hands for card in hand}
    table = [suit + rank for suit in _SUITS for rank in _RANKS if suit + rank not in held]
    return {"ruleset": f"bieqi_borrow/{ruleset}", "hands": hands, "table": table, "toggles": toggles}


_FOUR = [["SA", "H2"], ["HA", "BJ"], ["DQ", "CA"], ["DK", "SK"]]
_THREE = [["SA", "H2", "DK"], ["HA", "BJ", "CA"], ["DQ", "SK", "S2"]]

POSITIONS: tuple[Position, ...] = (
    _start("default", _FOUR),
    _start("default", _THREE),
    _start("default", _FOUR, borrow="optional", lend_last_card="forbidden"),
    _start("default", _FOUR, borrower_plays_after="if_live"),
    _start("blind", _FOUR, joker_lend_limit="once_per_turn_cycle"),
    _start("helpful", _FOUR, borrower_plays_after="no"),
    _start("keep_live", _FOUR),
)
"""Small positions in which the distribution of samples is compared with rejection sampling."""


def tell(events: list[Event], start: Position) -> list[Event]:
    """The log with the lender beside each card that is borrowed, and with every pass, whether nobody could lend."""
    hands = [set(hand) for hand in start["hands"]]
    told, asked = [], False
    for event in events:
        if event["type"] == "turn":
            asked = False
        elif event["type"] == "choose":
            asked = asked or event["what"] == "borrow"
        elif event["type"] == "play":
            hands[event["seat"]] -= set(event["cards"])
        elif event["type"] == "pass":
            event = {**event, "forced": not asked}
        elif event["type"] == "draw":
            (card,) = event["cards"]
            lender = next(p for p, hand in enumerate(hands) if card in hand)
            hands[lender].remove(card)
            hands[event["seat"]].add(card)
            event = {**event, "lender": lender}
        told.append(event)
    return told


def seen(event: Event, seat: int) -> Event:
    """What a seat sees of an event: not what others could have played, nor which card one of them lent another."""
    if event["type"] == "turn" and event["seat"] != seat:
        return {**event, "legal": None}
    if event["type"] == "choose" and event["seat"] != seat:
        return {"type": "choose", "seat": event["seat"], "what": event["what"]}
    if event["type"] == "draw" and seat not in (event["seat"], event["lender"]):
        return {**event, "cards": None}
    return event


def permute(state: np.record, seats: int, me: int, rnd: random.Random) -> None:
    """Deal the others' hands anew among each other."""
    mix(state, [("hand", p) for p in range(seats) if p != me], rnd)


class _Step(NamedTuple):
    """Something that happened: a seat had no live card, had nothing to lend, lent a card, or laid one."""

    kind: str
    seat: int
    turn: int
    table: frozenset[str]
    to: int = -1
    card: str | None = None


Hands = tuple[frozenset[str], ...]


class Knowledge:
    """All that a seat has seen since a position, and whether a full position agrees with it."""

    def __init__(self, toggles: dict[str, Any], start: Position, seat: int) -> None:
        self.toggles, self.seat = toggles, seat
        self.hand = set(start["hands"][seat])
        self.begin = frozenset(self.hand)
        self.sizes = [len(hand) for hand in start["hands"]]
        self.table = frozenset(start["table"])
        self.steps: list[_Step] = []
        self.turn, self.cur, self.open = 1, -1, True

    def _step(self, kind: str, seat: int, to: int = -1, card: str | None = None) -> _Step:
        return _Step(kind, seat, self.turn, self.table, to, card)

    def _between(self, borrower: int, lender: int) -> list[int]:
        """The seats with cards that are asked in vain before the lender."""
        n = len(self.sizes)
        order = [(borrower + k) % n for k in range(1, n)]
        return [p for p in order[: (lender - borrower - 1) % n] if self.sizes[p]]

    def see(self, event: Event) -> None:
        """Take an event in, as `seen` shows it."""
        seat = event.get("seat", -1)
        if event["type"] == "turn":
            self.turn, self.cur, self.open = event["turn"], seat, True
        elif event["type"] == "play":
            self._lay(seat, event["cards"][0])
        elif event["type"] == "pass":
            asked = self._between(seat, seat) if event["forced"] else []
            self.steps += [self._step("dead", seat), *(self._step("unable", p) for p in asked)]
            self.open = False
        elif event["type"] == "draw":
            lender, card = event["lender"], event["cards"] and event["cards"][0]
            skipped = [self._step("unable", p) for p in self._between(seat, lender)]
            self.steps += [self._step("dead", seat), *skipped, self._step("lend", lender, seat, card)]
            self.sizes[lender] -= 1
            self.sizes[seat] += 1
            self.hand -= {card} if lender == self.seat else set()
            self.hand |= {card} if seat == self.seat else set()
            self.open = False

    def _lay(self, seat: int, card: str) -> None:
        last = self.steps[-1] if self.steps else None
        if not self.open and last and last.kind == "lend":  # borrowed and laid at once
            self.steps[-1] = last._replace(card=card)
        self.steps.append(self._step("lay", seat, card=card))
        self.table |= {card}
        self.sizes[seat] -= 1
        self.hand -= {card}

    def _now(self) -> list[_Step]:
        """What the turn at hand tells: who asks this seat for a card has no live one, and others could lend none."""
        if self.cur == self.seat or not self.open:
            return []
        skipped = self._between(self.cur, self.seat)
        return [self._step("dead", self.cur), *(self._step("unable", p) for p in skipped)]

    def check(self, position: Position) -> None:
        """Raise AssertionError unless the position agrees with all that was seen."""
        hands = position["hands"]
        assert set(hands[self.seat]) == self.hand
        assert set(position["table"]) == self.table
        assert [len(hand) for hand in hands] == self.sizes
        cards = [card for part in (*hands, position["table"]) for card in part]
        assert len(cards) == len(set(cards))
        steps = [*self.steps, *self._now()]
        courses = _undo(steps, len(steps), tuple(frozenset(hand) for hand in hands), self.seat)
        assert any(
            start[self.seat] == self.begin and self._obeys(steps, start, lent) for start, lent in courses
        )

    def _obeys(self, steps: Sequence[_Step], start: Hands, lent: list[str]) -> bool:
        """Whether the steps, with these cards lent, follow the rules from these hands."""
        hands, cards, joker = [set(hand) for hand in start], iter(lent), -len(start)
        for k, step in enumerate(steps):
            hand = hands[step.seat]
            recent = step.turn - joker < len(start)
            if step.kind == "dead" and hand & _live(step.table):
                return False
            if step.kind == "unable" and step.seat != self.seat and self._lendable(hand, step.table, recent):
                return False
            if step.kind == "lend":
                card = next(cards)
                if card not in self._lendable(hand, step.table, recent):
                    return False
                at_once = k + 1 < len(steps) and steps[k + 1].card == card and steps[k + 1].turn == step.turn
                laid = self.toggles["borrower_plays_after"] == "if_live" and card in _live(step.table)
                if laid != at_once:
                    return False
                joker = step.turn if card == _JOKER else joker
                hand.remove(card)
                hands[step.to].add(card)
            if step.kind == "lay":
                hand.remove(step.card or "")
        return True

    def _lendable(self, hand: set[str], table: frozenset[str], recent: bool) -> set[str]:
        """What may be lent of a hand (BB-01, BB-04, BB-05, BB-09)."""
        if self.toggles["lend_last_card"] == "forbidden" and len(hand) == 1:
            return set()
        live = hand & _live(table)
        options = set(hand)
        if not self.toggles["may_lend_sole_live_card"] and len(live) == 1:
            options -= live
        if self.toggles["joker_lend_limit"] and recent:
            options.discard(_JOKER)
        asks = self.toggles["who_chooses"] == "borrower_asks_live_card"
        return options & live if asks and options & live else options


def _live(table: frozenset[str]) -> set[str]:
    """The cards that are a 7 or next to a table card."""
    found = {suit + "7" for suit in _SUITS}
    for card in table:
        k = _RANKS.index(card[1:])
        found |= {card[0] + _RANKS[j] for j in (k - 1, k + 1) if 0 <= j < 13}
    return found - table


def _undo(steps: Sequence[_Step], n: int, hands: Hands, me: int) -> Iterator[tuple[Hands, list[str]]]:
    """(hands before, cards lent) for ways in which the first n steps can have led to these hands."""
    if n == 0:
        yield hands, []
        return
    step = steps[n - 1]
    if step.kind == "dead" and hands[step.seat] & _live(step.table):
        return
    if step.kind == "lay":
        yield from _undo(steps, n - 1, _moved(hands, -1, step.seat, str(step.card)), me)
    elif step.kind == "lend":
        for card in _could_be_lent(steps, n - 1, hands[step.to], me):
            for start, lent in _undo(steps, n - 1, _moved(hands, step.to, step.seat, card), me):
                yield start, [*lent, card]
    else:
        yield from _undo(steps, n - 1, hands, me)


def _could_be_lent(steps: Sequence[_Step], k: int, hand: frozenset[str], me: int) -> list[str]:
    """The cards of the borrower's hand that step k can have brought there.

    A live one must have come, as there was none before. Of the others those are alike that nothing is known of before:
    all but the Joker and cards which `me` lent.
    """
    step = steps[k]
    if step.card:
        return [step.card] if step.card in hand else []
    live = hand & _live(step.table)
    if live:
        return list(live) if len(live) == 1 else []
    known = {str(s.card) for s in steps[:k] if s.kind == "lend" and s.seat == me} | {_JOKER}
    return [*sorted(hand - known)[:1], *sorted(hand & known)]


def _moved(hands: Hands, giver: int, taker: int, card: str) -> Hands:
    changed = list(hands)
    if giver >= 0:
        changed[giver] -= {card}
    changed[taker] |= {card}
    return tuple(changed)
