"""What a seat of paijie knows: where a card may lie, and how many of some cards a hand may hold at most, or must.

What behaviour proves rests on the rules as the referee has them: a stuck seat held nothing it could play, one that
passed although it need not did, one that stays in the game with a single card held no Joker, and the start search asked
in vain for the cards before the one it found.
"""

from __future__ import annotations

import functools
import random
from typing import Any, NamedTuple

import numpy as np

from sim.games import game
from tests.knowledge.common import Event, Eyes, Position
from tests.referee.log import CARD, JOKERS, SUITS
from tests.referee.paijie import START_SEARCH, _Referee

STRICT = {"short_stock": "play_illegal"}

RULESETS: tuple[tuple[str, dict[str, Any], int], ...] = (
    ("paijie/v1.1", {}, 4),
    ("paijie/v1.1", {"q_empty_stock": "must_return", "joker_count": "before_play", "j_reveal": "shown"}, 2),
    ("paijie/v1.0", {"eliminated_hand": "into_stock", "joker_only_loss": "also_when_hit"}, 4),
    ("paijie/v1.0", {"eliminated_jokers": "into_stock", "limit_value": 8, "first_card": "free_single"}, 5),
    ("paijie/h3a", {"voluntary_pass": "yes_free", "ban_owner_exempt": False}, 3),
    ("paijie/v1.1", STRICT | {"set_with_locked_member": "allowed", "voluntary_pass": "yes_draw_1"}, 3),
    ("paijie/v1.1", STRICT | {"king": "choose", "play_after_stuck_draw": True, "limit_value": None}, 3),
)
"""(ruleset, toggles, seats) in which choices and samples are checked."""


def _start(
    hands: str, stock: str, rank: int = 7, version: str = "v1.1", away: str = "", **keys: Any
) -> Position:
    """A position with these hands (parted by /) and stock; the other regular cards lie on the table, but for `away`."""
    named = [hand.split() for hand in hands.split("/")]
    elsewhere = {card for hand in named for card in hand} | {*stock.split(), *away.split()}
    state = {key: keys.pop(key) for key in ("locks", "taxes", "bans") if key in keys}
    position = {
        "hands": named,
        "table": [card for card in CARD.values() if card not in elsewhere],
        "stock": stock.split(),
        "start_rank": rank,
    }
    return {"ruleset": f"paijie/{version}", "toggles": keys, **position, **state}


FREE = {"limit_value": None}
TWO_LOCKS = {"locks": {"S": 0, "H": 1}}

POSITIONS: tuple[Position, ...] = (_start("S2 H2 D5/SA C5 S4/H5 C2", "D2 HA C4"),)
"""Small positions in which the distribution of samples is compared with rejection sampling."""


# --- What is seen -----------------------------------------------------------------------------------------------------

INNER_SECRETS = ("exchange_card", "queen_return", "jack_take")


def tell(events: list[Event], start: Position) -> list[Event]:
    """The log, and before it what the start search of an empty table told everybody."""
    if start.get("start_rank"):
        return events
    order = [CARD[suit, rank] for rank in START_SEARCH for suit in SUITS]
    holder = {card: seat for seat, hand in enumerate(start["hands"]) for card in hand}
    asked = next(at for at, card in enumerate(order) if card in holder)
    found = {"type": "search", "asked": order[:asked], "card": order[asked], "seat": holder[order[asked]]}
    return [found, *events]


def eyes(toggles: dict[str, Any]) -> Eyes:
    """What is seen, and what not, under these toggles."""
    return Eyes(functools.partial(_seen, toggles.get("j_reveal") == "shown"), permute)


def _seen(jack_shown: bool, event: Event, seat: int) -> Event:
    """What a seat sees of an event: of others neither their choices nor what they draw, exchange or return, only how
    many cards, and of a redeal its own hand and the cards turned up."""
    kind = event["type"]
    if kind == "shuffle":
        return {"type": kind}
    if kind == "redeal":
        hands = [hand if p == seat else len(hand) for p, hand in enumerate(event["hands"])]
        return {**event, "hands": hands, "stock": len(event["stock"])}
    if event.get("seat") == seat or kind not in ("turn", "choose", "draw", "put"):
        return event
    if kind == "turn":
        return {**event, "legal": None}
    if kind == "choose":
        return {"type": kind, "seat": event["seat"]} if event["what"] in INNER_SECRETS else event
    shown = jack_shown and event.get("reason") == "jack"
    if shown or event.get("where") in ("table", "removed", "exiled"):
        return event
    return {**event, "cards": len(event["cards"])}


PHASES = game("paijie").phases


def permute(state: np.record, seats: int, me: int, rnd: random.Random) -> None:
    """Deal the others' hands and the stock anew; a Jack's player sees which cards the stock has."""
    top, end = int(state.top), int(state.stock_end)
    hands = [
        (p, [bit for bit in range(58) if int(state.hand[p]) >> bit & 1]) for p in range(seats) if p != me
    ]
    held, stock = [bit for _, hand in hands for bit in hand], [int(bit) for bit in state.stock[top:end]]
    if PHASES[int(state.phase)] != "jack_take":
        held += stock
        rnd.shuffle(held)
        held, stock = held[: len(held) - len(stock)], held[len(held) - len(stock) :]
    rnd.shuffle(held)
    rnd.shuffle(stock)
    for p, hand in hands:
        state.hand[p] = sum(1 << held.pop() for _ in hand)
    state.stock[top:end] = stock


def repeat(state: np.record, seat: int, move: int, legal: list[int], rnd: random.Random) -> int:
    """What another seat does as a line is played again: the same where that is seen, else anything."""
    return rnd.choice(legal) if PHASES[int(state.phase)] in INNER_SECRETS else move


# --- What it knows ----------------------------------------------------------------------------------------------------

STOCK = "stock"
Place = int | str


class Bound(NamedTuple):
    """How many of some cards lie in a place: at most `number`, or at least where `least`."""

    place: Place
    cards: frozenset[str]
    number: int
    least: bool


class Knowledge:
    """All that a seat has seen since a position, and whether a full position agrees with it."""

    def __init__(self, toggles: dict[str, Any], start: Position, seat: int) -> None:
        self.toggles, self.seat = toggles, seat
        self.sizes = [len(hand) for hand in start["hands"]]
        self.stock = len(start.get("stock", []))
        self.hand = set(start["hands"][seat])
        self.exiled = set(start.get("exiled", []))
        self.out: set[int] = set(start.get("eliminated", []))
        self.rules = self._rules(start)
        hidden = [card for p, hand in enumerate(start["hands"]) if p != seat for card in hand]
        self.may: dict[str, set[Place]] = {}
        """Of each hidden card, the places where it may lie."""
        self._hide_anywhere({*hidden, *start.get("stock", [])})
        self.bounds: list[Bound] = []
        self.top: list[str | None] = []
        """The top of the stock as far as its order is known, the top first; None for a card not known."""
        self.turn: tuple[int, int] | None = None  # the turn that has begun and shown nothing yet
        self.stuck: tuple[int, int] | None = None  # the turn whose seat has drawn as it was stuck
        self.dealer = -1

    def _rules(self, start: Position) -> _Referee:
        """The referee, who is asked what may be played."""
        rules = _Referee([])
        rules.toggles, rules.seats, rules.turn = self.toggles, len(self.sizes), 2
        rules.table = set(start.get("table", []))
        rules.start_rank = start.get("start_rank", 0)
        rules.locks = {suit: (owner, "lock") for suit, owner in start.get("locks", {}).items()}
        rules.locks |= {suit: (owner, "tax") for suit, owner in start.get("taxes", {}).items()}
        rules.bans = [
            (ban["rank"], ban["seat"], CARD[suit, 13]) for suit, ban in start.get("bans", {}).items()
        ]
        rules.active = set(range(len(self.sizes))) - self.out
        return rules

    @property
    def others(self) -> list[int]:
        return [p for p in range(len(self.sizes)) if p != self.seat]

    def _hide_anywhere(self, cards: set[str]) -> None:
        """Hidden cards that may lie anywhere."""
        self.may = {card: {STOCK, *self.others} for card in cards}

    # What is seen

    def see(self, event: Event) -> None:
        """Take an event in, as it is seen."""
        self._conclude(event)
        handler = getattr(self, f"_see_{event['type']}", None)
        if handler:
            handler(event)

    def _see_search(self, event: Event) -> None:
        for card in event["asked"]:
            if card in self.may:
                self.may[card] = {STOCK}
        self._settle(event["card"], event["seat"])

    def _see_turn(self, event: Event) -> None:
        turn = (event["turn"], event["seat"])
        if self.turn is None and self.stuck != turn:
            if self.toggles["joker_only_loss"] == "also_when_hit" and event["turn"] > 1:
                for p in self.others:
                    self._no_single_joker(p)
            self.turn = turn
        self.stuck = None

    def _see_play(self, event: Event) -> None:
        self.rules.start_rank = self.rules.start_rank or self._rank(event["cards"][0])
        self._show(event["seat"], event["cards"])
        self.rules.table |= set(event["cards"]) - set(JOKERS)

    def _see_pass(self, event: Event) -> None:
        seat = event["seat"]
        if seat != self.seat and not self._pairs_count():
            self.bounds.append(Bound(seat, frozenset(self._playable(seat)), 1, True))

    def _see_choose(self, event: Event) -> None:
        if event["seat"] != self.seat or event["what"] not in INNER_SECRETS:
            return
        if event["what"] == "jack_take":
            self._look(set(event["legal"]))
        else:
            self.hand.discard(event["value"])

    def _look(self, stock: set[str]) -> None:
        """The seat sees the cards of the stock."""
        for card in self.may:
            self.may[card] = {STOCK} if card in stock else self.may[card] - {STOCK}
        self.bounds = [bound for bound in self.bounds if bound.place != STOCK]
        self.bounds += [Bound(p, frozenset(stock), 0, False) for p in self.others]
        self.bounds.append(Bound(STOCK, frozenset(self.may.keys() - stock), 0, False))

    def _see_draw(self, event: Event) -> None:
        seat, cards = event["seat"], event["cards"]
        number = cards if isinstance(cards, int) else len(cards)
        self.sizes[seat] += number
        self.stock -= number
        known = self.top[:number]
        self.top = [] if event["reason"] == "jack" else self.top[number:]
        if seat == self.seat:
            self.hand |= set(cards)
            for card in cards:
                del self.may[card]
            return
        self._gain(seat, number)
        for places in self.may.values():
            if STOCK in places:
                places.add(seat)
        for card in cards if not isinstance(cards, int) else [] if event["reason"] == "jack" else known:
            if card:
                self.may[card] = {seat}

    def _see_put(self, event: Event) -> None:
        seat, cards, where = event["seat"], event["cards"], event["where"]
        if where in ("table", "removed", "exiled"):
            self.exiled |= set(cards) if where != "table" else set()
            if self._holds(seat, cards):
                self._show(seat, cards)
            self.rules.table |= set(cards) if where == "table" else set()
            return
        number = cards if isinstance(cards, int) else len(cards)
        self.sizes[seat] -= number
        self.stock += number
        if seat == self.seat:
            self.hand -= set(cards)
            self.top = [*reversed(cards), *self.top]
            for card in cards:
                self._settle(card, STOCK, new=True)
            return
        self.top = [None] * number + self.top
        self._gain(STOCK, number)
        self._lose(seat, number)
        jokers_only = seat in self.out and self.toggles["eliminated_hand"] != "into_stock"
        for card, places in self.may.items():
            if seat in places and not (jokers_only and card not in JOKERS):
                places.add(STOCK)
            if self.sizes[seat] == 0:
                places.discard(seat)

    def _holds(self, seat: int, cards: list[str]) -> bool:
        """Whether these cards are in the hand: a Joker just played is not any more."""
        return all(card in (self.hand if seat == self.seat else self.may) for card in cards)

    def _see_shuffle(self, event: Event) -> None:
        self.top = []

    def _see_lock(self, event: Event) -> None:
        self.rules.locks.pop(event["suit"], None)
        self.rules.locks[event["suit"]] = (event["seat"], event.get("kind", "lock"))

    def _see_unlock(self, event: Event) -> None:
        del self.rules.locks[event["suit"]]

    def _see_ban(self, event: Event) -> None:
        self.rules.bans.append((event["rank"], event["seat"], event["card"]))

    def _see_unban(self, event: Event) -> None:
        self.rules.bans.remove((event["rank"], event["seat"], event["card"]))

    def _see_recall(self, event: Event) -> None:
        card, seat = event["card"], event["to"]
        self.sizes[seat] += 1
        self.rules.table.discard(card)
        if seat == self.seat:
            self.hand.add(card)
        else:
            self._settle(card, seat, new=True)

    def _see_eliminate(self, event: Event) -> None:
        self.out.add(event["seat"])
        self.rules.active.discard(event["seat"])

    def _see_finish(self, event: Event) -> None:
        self.rules.active.discard(event["seat"])

    def _see_redeal(self, event: Event) -> None:
        hands = event["hands"]
        mine = hands[self.seat]
        sizes = [len(mine) if p == self.seat else hand for p, hand in enumerate(hands)]
        if event["kind"] == "black_joker":
            self._pool(set(mine), sum(sizes) - sum(self.sizes))
        else:
            jokers = set(JOKERS) if event["kind"] == "joker_pair" else set()
            self._hide_anywhere((self.may.keys() | self.hand | jokers) - set(mine))
            self.bounds, self.top = [], []
        self.hand, self.sizes, self.stock = set(mine), sizes, event["stock"]
        if event["kind"] == "joker_pair":
            start = self.dealer + (self.toggles["jp_order"] == "from_next") * self.rules.from_seat(0)[1]
            seats = [p for p in self.rules.from_seat(start % len(sizes)) if p in self.rules.active]
            for seat, card in zip(seats, event["flips"], strict=False):
                self._settle(card, seat)

    def _pool(self, mine: set[str], extra: int) -> None:
        """All hands have been shuffled together; `extra` is 1 where their dealer took a card of the stock as well."""
        others = set(self.others)
        self.may |= {card: set(others) for card in self.hand}
        for places in self.may.values():
            if places & others:
                places |= others
            elif extra:
                places.add(self.dealer)
        for card in mine:
            del self.may[card]
        self.bounds = [bound for bound in self.bounds if bound.place == STOCK]
        self.top = self.top[extra:]

    # What it means for the cards

    def _rank(self, card: str) -> int:
        return next(rank for (_, rank), name in CARD.items() if name == card)

    def _show(self, seat: int, cards: list[str]) -> None:
        """Cards leave a hand face up."""
        self.sizes[seat] -= len(cards)
        if seat == self.seat:
            self.hand -= set(cards)
            return
        for card in cards:
            assert seat in self.may.pop(card), (card, seat)
        self.bounds = [
            bound._replace(number=bound.number - len(bound.cards & set(cards)))
            if bound.place == seat
            else bound
            for bound in self.bounds
        ]

    def _settle(self, card: str, place: Place, new: bool = False) -> None:
        """A card lies in this place; `new` if it has come there now. What the seat holds itself stays out of `may`."""
        if new:
            self.bounds = [
                bound._replace(number=bound.number + 1)
                if bound.place == place and card in bound.cards and not bound.least
                else bound
                for bound in self.bounds
            ]
        if new or card in self.may:
            self.may[card] = {place}

    def _gain(self, place: Place, number: int) -> None:
        """So many hidden cards have come to a place."""
        self.bounds = [
            bound._replace(number=bound.number + number)
            if bound.place == place and not bound.least
            else bound
            for bound in self.bounds
        ]

    def _lose(self, place: Place, number: int) -> None:
        """So many hidden cards have left a place."""
        self.bounds = [
            bound._replace(number=bound.number - number) if bound.place == place and bound.least else bound
            for bound in self.bounds
        ]

    # What behaviour proves

    def _conclude(self, event: Event) -> None:
        """What the next event proves of the turn that has begun."""
        kind, seat = event["type"], event.get("seat")
        if kind == "play":
            self.dealer = seat
        if self.turn:
            turn, mover = self.turn
            self.turn = None
            if kind in ("play", "pass"):
                self._no_single_joker(mover)
            elif kind == "eliminate" and seat == mover and event["reason"] == "joker_only":
                self._lacks(mover, set(CARD.values()))
            else:
                self._lacks(mover, self._playable(mover))
                self._see_target(mover, event)
                self.stuck = (turn, mover) if self.toggles["play_after_stuck_draw"] else None
        elif self.stuck and (kind, event.get("reason")) != ("draw", "stuck"):
            turn, mover = self.stuck
            dead = kind == "eliminate" and seat == mover and self.toggles["limit_when"] == "immediate"
            if kind == "turn" and event["turn"] == turn:
                if not self._pairs_count() and mover != self.seat:
                    self.bounds.append(Bound(mover, frozenset(self._playable(mover)), 1, True))
                return
            if not dead:
                self._lacks(mover, self._playable(mover))
            self.stuck = None

    def _pairs_count(self) -> bool:
        """Whether a card that cannot be played alone may be playable in a pair."""
        t = self.toggles
        return bool(t["set_with_locked_member"] == "allowed" and t["short_stock"] == "play_illegal")

    def _playable(self, seat: int) -> set[str]:
        """The cards that are a legal play alone."""
        self.rules.stock = [""] * self.stock
        self.rules.hands = [set() for _ in self.sizes]
        found = set()
        for card in {*CARD.values(), *JOKERS} - self.rules.table:
            self.rules.hands[seat] = {card}
            if self.rules.plays(seat):
                found.add(card)
        return found

    def _lacks(self, seat: int, cards: set[str]) -> None:
        """None of these cards is in the hand now."""
        if seat == self.seat:
            assert not cards & self.hand
            return
        for card in cards & self.may.keys():
            self.may[card] = self.may[card] - {seat}
        self.bounds.append(Bound(seat, frozenset(cards), 0, False))

    def _no_single_joker(self, seat: int) -> None:
        if self.sizes[seat] == 1 and self.toggles["joker_only_loss"] != "never":
            self._lacks(seat, set(JOKERS))

    def _see_target(self, seat: int, event: Event) -> None:
        """A draw smaller than a lock asks for proves that no card of its suit is held (the largest number counts)."""
        t = self.toggles
        if t["stuck_draw"] == "one" or t["stuck_target"] != "max_owner" or event["type"] != "draw":
            return
        cards = event["cards"]
        drawn = cards if isinstance(cards, int) else len(cards)
        ended = drawn == self.stock or (t["limit_when"] == "immediate" and t["limit_value"] is not None)
        for suit, (owner, kind) in self.rules.locks.items():
            more = max(1, self.sizes[owner] - self.sizes[seat])
            if kind == "lock" and owner != seat and drawn < more and not ended:
                self._lacks(seat, {card for card in CARD.values() if card[0] == suit})

    # Whether a position agrees

    def check(self, position: Position) -> None:
        """Raise AssertionError unless the position agrees with all that was seen."""
        hands, stock = [set(hand) for hand in position["hands"]], position.get("stock", [])
        assert hands[self.seat] == self.hand
        assert all(len(hands[p]) == self.sizes[p] for p in self.others)
        assert len(stock) == self.stock
        assert set(position.get("table", [])) == self.rules.table
        assert set(position.get("exiled", [])) == self.exiled
        places: dict[Place, set[str]] = {**{p: hands[p] for p in self.others}, STOCK: set(stock)}
        assert sum(map(len, places.values())) == len(self.may)
        for place, cards in places.items():
            for card in cards:
                assert place in self.may[card], (card, place, self.may[card])
        for bound in self.bounds:
            number = len(places[bound.place] & bound.cards)
            assert number >= bound.number if bound.least else number <= bound.number, (bound, number)
        assert all(card in (None, stock[at]) for at, card in enumerate(self.top))
