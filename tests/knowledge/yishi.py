"""What a seat of yishi knows: its own cards, all that is played, and what a cover proves that the rules forced.

Suits do not matter, every card is written as a spade. Cards are told apart nevertheless: a played card is the one that
was seen, and a covered card may be any card of the hand.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from tests.knowledge.common import Event, Position

RULESETS: tuple[tuple[str, dict[str, Any], int], ...] = (
    ("yishi/default", {}, 4),
    ("yishi/default", {"cover_voluntary": "only_if_no_play"}, 3),
    ("yishi/default", {"cover_voluntary": "only_if_no_play", "decks": 2, "score": "covered_pips"}, 6),
    ("yishi/default", {"lead": "free_by_spadeA_holder", "start_number": "fixed"}, 4),
    ("yishi/default", {"lead": "free_by_spadeA_holder", "deal": "equal_burn_rest", "decks": 2}, 7),
    ("yishi/specials_only", {"score": "covered_pips", "last_card_cover_counts": False}, 4),
    ("yishi/specials_only", {"cover_voluntary": "only_if_no_play", "J_mode": "alone_counts_1"}, 4),
    ("yishi/specials_only", {"free_card_may_be_special_pair": True, "starter": "random"}, 5),
    ("yishi/loose", {"cover_voluntary": "only_if_no_play", "follow_after_cover": "previous"}, 3),
    ("yishi/jack_alone", {"cover_voluntary": "only_if_no_play", "ten_effect": "toggle"}, 4),
    ("yishi/theash", {}, 4),
    ("yishi/theash", {"cover_voluntary": "only_if_no_play"}, 3),
)
"""(ruleset, toggles, seats) in which choices and samples are checked."""

RANKS = ("A", "2", "3", "4", "5", "6", "7", "8", "9", "10", "J", "Q", "K")
FACES = {"J", "Q", "K"}
RELUCTANT = {"cover_voluntary": "only_if_no_play"}


def _start(number: int, *hands: str, ruleset: str = "default", **keys: Any) -> Position:
    """A position with these hands, ranks only."""
    named = [[f"S{rank}" for rank in hand.split()] for hand in hands]
    toggles = {key: keys.pop(key) for key in list(keys) if key not in ("covered", "direction")}
    position = {"number": number, "direction": 1, "covered": [[] for _ in hands], "hands": named} | keys
    return {"ruleset": f"yishi/{ruleset}", "toggles": toggles, **position}


_DEALT = " ".join(RANKS)

POSITIONS: tuple[Position, ...] = (
    _start(5, "2 5 7 Q", "5 6 9", "A 5 J", covered=[["S3"], ["S8", "S8"], []]),
    _start(4, "A 4 6 K", "5 5 Q 7", "3 5 8 J", **RELUCTANT),
    _start(7, "A 4 9 2", "K Q 2 3", "7 J 6 10", **RELUCTANT, score="covered_pips"),
    _start(7, "A 4 9 2 8", "K J 2 3 A", ruleset="jack_alone", **RELUCTANT, decks=3),
    _start(0, "J Q 4 K", "K J Q", "7 Q J", ruleset="specials_only"),
    _start(6, "J Q 4 3", "K J Q 5", "7 Q J", ruleset="specials_only", free_card_may_be_special_pair=True),
    _start(5, "A Q 4 K", "K J Q 5", "7 Q J 8", ruleset="loose", **RELUCTANT),
    _start(5, _DEALT, _DEALT, ruleset="theash", **RELUCTANT),
)
"""Small positions in which the distribution of samples is compared with rejection sampling."""


def seen(event: Event, seat: int) -> Event:
    """What a seat sees of an event: not which card another one covers, nor what another one could have played."""
    if event.get("seat") == seat or event["type"] not in ("turn", "choose", "put"):
        return event
    if event["type"] == "put" or event.get("what") == "cover_card":
        return {"type": event["type"], "seat": event["seat"]}
    return {**event, "legal": None}


# --- The live state: hands are counts, four bits a rank, in the order of RANKS ----------------------------------------


def _ranks(counts: int) -> list[int]:
    """The cards of a count, each as its rank from 0."""
    return [rank for rank in range(13) for _ in range(int(counts) >> 4 * rank & 15)]


def _count(ranks: list[int]) -> int:
    return sum(1 << 4 * rank for rank in ranks)


def _deal_anew(state: np.record, places: list[tuple[str, int]], rnd: random.Random) -> None:
    sizes = [len(_ranks(state[field][at])) for field, at in places]
    cards = [rank for field, at in places for rank in _ranks(state[field][at])]
    rnd.shuffle(cards)
    for (field, at), size in zip(places, sizes, strict=True):
        state[field][at] = _count(cards[:size])
        cards = cards[size:]


def permute(state: np.record, seats: int, me: int, rnd: random.Random) -> None:
    """Deal the others' hands and covered cards anew; each seat's own where every one was dealt A to K."""
    others = [p for p in range(seats) if p != me]
    places = [[("hand", p), ("covered", p)] for p in others]
    dealt = [int(state.dealt[p]) for p in others]
    if not all({bit % 14 for bit in range(56) if cards >> bit & 1} == set(range(13)) for cards in dealt):
        places = [[place for group in places for place in group]]
    for group in places:
        _deal_anew(state, group, rnd)


def repeat(state: np.record, seat: int, move: int, legal: list[int], rnd: random.Random) -> int | None:
    """What another seat does as a line is played again: what was seen, or covers any of its cards.

    A hand of several equal cards can make a play with each of them, but it was one card that was seen.
    """
    hands, covered = state.hand.tolist(), state.covered.tolist()
    held = hands[state.cur]
    phase = ("main", "cover_card", "free_card", "as", "partner")[int(state.phase)]
    if phase == "cover_card":
        return rnd.choice(_ranks(held))
    if move not in legal:
        return None
    hidden = sum(hands) + sum(covered) - hands[seat] - covered[seat]
    if phase == "partner":
        held, hidden = held - (1 << 4 * int(state.card)), hidden - (1 << 4 * int(state.card))
    for rank in _played_now(phase, move):
        if rnd.randrange(hidden >> 4 * rank & 15) >= held >> 4 * rank & 15:
            return None
        held, hidden = held - (1 << 4 * rank), hidden - (1 << 4 * rank)
    return move


def _played_now(phase: str, move: int) -> list[int]:
    """The ranks that a move shows to be in the hand."""
    if phase == "main":
        return [bit % 14 for bit in range(28) if move >> bit & 1]
    return [move] if phase in ("free_card", "partner") else []


# --- Knowledge --------------------------------------------------------------------------------------------------------


class Follow(NamedTuple):
    """What a card must fit."""

    number: int
    direction: int


class Cover(NamedTuple):
    """A cover: what the seat has played before it, what it could not follow if that forced it, and whether its hand
    had nothing left with a value."""

    played: Counter[str]
    forced: Follow | None
    bare: bool


class Knowledge:
    """All that a seat has seen since a position, and whether a full position agrees with it."""

    def __init__(self, toggles: dict[str, Any], start: Position, seat: int) -> None:
        self.t, self.seat = toggles, seat
        self.sizes = [len(hand) for hand in start["hands"]]
        self.hand = Counter(card[1:] for card in start["hands"][seat])
        self.mine: Counter[str] = Counter()
        self.follow = Follow(start["number"], start["direction"])
        self.played: list[Counter[str]] = [Counter() for _ in self.sizes]
        self.covers: list[list[Cover]] = [[] for _ in self.sizes]
        self.covering, self.open = -1, False
        self.reading: dict[str, Any] = {}
        full = self.sizes == [13] * len(self.sizes)
        self.one_each = toggles["deal"] == "one_of_each_rank" and full
        held_ace = toggles["starter"] == "spade_A" and sum(self.sizes) == 52 * toggles["decks"]
        self.ace_dealt_to = start["to_move"] if held_ace else None

    # What is seen

    def see(self, event: Event) -> None:
        """Take an event in, as `seen` shows it."""
        kind = event["type"]
        if kind == "put":
            self._see_cover(event)
        elif kind == "choose" and event.get("what", "cover_card") != "cover_card":
            self.reading[event["what"]] = event["value"]
            if event["what"] == "as" and self.covering < 0:
                self._land(1 if event["value"] == "special" else 10, event["value"] == "plain")
        elif kind == "play":
            self._see_play(event["seat"], [card[1:] for card in event["cards"]])
        elif kind == "turn":
            if self.open and self.sizes[self.covering]:
                last = self.covers[self.covering][-1]
                self.covers[self.covering][-1] = last._replace(bare=True)
            self.covering, self.open, self.reading = -1, False, {}

    def _see_cover(self, event: Event) -> None:
        seat = self.covering = event["seat"]
        self.open = True
        must = self.t["cover_voluntary"] == "only_if_no_play" or self.follow.number == 0
        self.covers[seat].append(Cover(self.played[seat].copy(), self.follow if must else None, False))
        self.sizes[seat] -= 1
        if seat == self.seat:
            card = event["cards"][0][1:]
            self.hand[card] -= 1
            self.mine[card] += 1

    def _see_play(self, seat: int, cards: list[str]) -> None:
        self.open = False
        self.played[seat].update(cards)
        self.sizes[seat] -= len(cards)
        if seat == self.seat:
            self.hand.subtract(cards)
        alone = self.t["J_mode"] == "alone_counts_1" and self.t["faces_special"] and self.t["special_J"]
        if len(cards) == 1:
            special = self.covering >= 0 and self.reading.get("as") == "special"
            if cards == ["J"] and alone and self.covering < 0 and self.follow.number:
                return  # the seat says next what it counts
            self._land(1 if special else _value(cards[0]), not special and cards[0] in FACES)
        else:
            self._see_pair(cards)

    def _see_pair(self, cards: list[str]) -> None:
        """A special face and its partner. Of two faces the King is special where he may be, else the higher one, unless
        the seat named it first."""
        faces = sorted((card for card in cards if card in FACES), key="JQK".index)
        special = self.reading.get("free_card") or faces[-1]
        special = special.removeprefix("S")
        if special == "K" and not self.t["special_K"]:
            special = faces[0]
        partner = list(cards)
        partner.remove(special)
        if special == "J":
            self._land(1, False)
        else:
            self._land(_value(partner[0]), partner[0] in FACES, turned=special == "Q")

    def _land(self, value: int, face: bool, turned: bool = False) -> None:
        """What follows a card of this value, `face` for a face as ten; `turned` when a Queen turns the direction."""
        number, direction = self.follow
        after_cover = self.covering >= 0
        if after_cover and self.t["follow_after_cover"] == "previous":
            return
        if turned:
            direction = -direction
        if not after_cover or self.t["cover_after_ten_or_one"] == "sets_direction":
            if value == 10 and (self.t["reversal_by_face_ten"] or not face):
                direction = -direction if self.t["ten_effect"] == "toggle" else -1
            elif value == 1:
                direction = 1
        if number == 0 and not after_cover and self.t["normalise_at_ends"] and value in (1, 10):
            direction = 1 if value == 1 else -1
        self.follow = Follow(value, direction)

    # What follows from it

    def check(self, position: Position) -> None:
        """Raise AssertionError unless the position agrees with all that was seen."""
        assert (position["number"], position["direction"]) == self.follow
        hands = [Counter(card[1:] for card in hand) for hand in position["hands"]]
        covered = [Counter(card[1:] for card in cards) for cards in position["covered"]]
        assert hands[self.seat] == +self.hand
        assert covered[self.seat] == self.mine
        all_cards: Counter[str] = Counter()
        for p, (hand, under) in enumerate(zip(hands, covered, strict=True)):
            assert (hand.total(), under.total()) == (self.sizes[p], len(self.covers[p]))
            dealt = hand + under + self.played[p]
            all_cards += dealt
            if self.one_each:
                assert dealt == Counter(RANKS)
            if p == self.ace_dealt_to:
                assert dealt["A"]
            assert any(self._orders(p, hand, under, len(self.covers[p]))), (p, hand, under)
        assert all(n <= 4 * self.t["decks"] for n in all_cards.values())

    def _orders(self, seat: int, hand: Counter[str], under: Counter[str], left: int) -> Iterator[bool]:
        """Each order in which the seat may have covered these cards; the latest of the `left` first ones was last."""
        if left == 0:
            yield True
            return
        cover = self.covers[seat][left - 1]
        since = self.played[seat] - cover.played
        if cover.bare and any(self._free(hand + since)):
            return
        for card in list(under):
            before = hand + Counter([card])
            if not (cover.forced and any(self._plays(cover.forced, before + since))):
                yield from self._orders(seat, before, under - Counter([card]), left - 1)

    def _is_on(self, face: str) -> bool:
        return bool(self.t["faces_special"] and self.t[f"special_{face}"])

    def _plays(self, follow: Follow, hand: Counter[str]) -> Iterator[str]:
        """The plays of a hand on a number (RULES.md 2.3)."""
        number, direction = follow
        plain = [rank for rank in hand if rank not in FACES or self.t["faces_plain_ten"]]
        if number == 0:
            yield from plain
            return
        yield from (rank for rank in plain if _value(rank) in (number, number + direction))
        if self._is_on("J") and hand["J"]:
            if self.t["J_mode"] == "alone_counts_1":
                yield "J"
            elif self.t["J_mode"] == "with_A" and hand["A"]:
                yield "JA"
        for face in ("Q", "K"):
            if self._is_on(face) and hand[face]:
                rest = hand - Counter([face])
                partners = [rank for rank in rest if rank not in FACES or self._face_partners()]
                fits = (number, number - direction)
                yield from (face + rank for rank in partners if face == "K" or _value(rank) in fits)

    def _face_partners(self) -> bool:
        return bool(self.t["special_with_face_as_ten"] and self.t["faces_plain_ten"])

    def _free(self, hand: Counter[str]) -> Iterator[str]:
        """What may be played after a cover: any card with a value."""
        for rank in hand:
            if rank not in FACES or self.t["faces_plain_ten"]:
                yield rank
            elif self._is_on(rank):
                alone = rank == "J" and self.t["J_mode"] == "alone_counts_1"
                pairs = self.t["free_card_may_be_special_pair"] and set(hand) - FACES
                if rank == "J":
                    pairs = pairs and self.t["J_mode"] == "with_A" and hand["A"]
                if alone or pairs:
                    yield rank


def _value(rank: str) -> int:
    return min(RANKS.index(rank) + 1, 10)
