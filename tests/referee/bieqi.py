"""A naive referee for bieqi game logs: sets and lists of card names (RULES.md sections 0, 7, 12).

`check` follows one log line by line. What the rules determine it works out by itself and demands literally; what the
deal or a player decides it checks for being possible, then adopts.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from tests.referee.log import CARD, RANK, SUIT, SUITS, YES_NO, Disagreement, Lines, Log

__all__ = ["Disagreement", "check"]

TOGGLES: dict[str, Collection[object]] = {
    "end": ("all_hands_empty", "first_empty"),
    "lone_seven_combine": ("cumulative", "replace", "inclusive"),
    "multiply": ("before_differences", "after_nonpassers_only"),
    "covers_hidden": YES_NO,
    "lone_seven_needs_single_passer": YES_NO,
}
"""Toggles that a log must set, with every value (yes/no for booleans, lower case)."""

FIXED: dict[str, str] = {
    "four_pass": "all_zero",
    "direction": "clockwise",
    "start_card": "s7",
    "lone_seven_suits": "any_7",
    "must_play_live": "yes",
    "winner": "fewest_cover_points",
}
"""Toggles of the rules that have a single value."""

COVER = "cover"


def check(lines: Lines) -> None:
    """Replay one game's log (jsonl lines or parsed objects) against the rules.

    Raises:
        Disagreement: at the first difference between the log and the rules.
    """
    _Referee(lines).replay()


class _Referee:
    """The state of one game, and the rules as methods that consume the log."""

    def __init__(self, lines: Lines) -> None:
        self.log = Log(lines)
        self.table: set[str] = set()
        self.covered: list[set[str]] = []
        self.last: list[str] = []  # what each seat did last: the card it played, or COVER
        self.turn = 0

    def take(self, kind: str, *keys: str) -> dict[str, Any]:
        self.check_invariants()
        return self.log.take(kind, *keys)

    def expect(self, kind: str, /, **fields: object) -> None:
        self.check_invariants()
        self.log.expect(kind, **fields)

    def check_invariants(self) -> None:
        places = [self.table, *self.covered, *self.hands]
        self.log.demand(
            sum(map(len, places)) == 52 and set().union(*places) == set(CARD.values()),
            "every card is in exactly one place",
        )
        self.log.demand(not self.table or "S7" in self.table, "S7 is the first card on the table")
        for suit in SUITS:
            out = [rank for rank in range(1, 14) if CARD[suit, rank] in self.table]
            if out:
                self.log.demand(7 in out, "an opened suit contains its 7")
                self.log.demand(out == list(range(out[0], out[-1] + 1)), "a suit's cards are contiguous")

    # ---------------------------------------------------------------- opening

    def replay(self) -> None:
        header = self.log.read_header("bieqi", range(2, 7))
        self.seats: int = header["seats"]
        self.toggles = self.log.read_toggles(header["toggles"], TOGGLES, FIXED)
        self.read_deal()
        seat = self.first
        while any(self.hands):
            self.play_turn(seat)
            if self.toggles["end"] == "first_empty" and not self.hands[seat]:
                self.expect("finish", seat=seat)
                break
            seat = self.next_seat(seat)
        self.read_end()

    def read_deal(self) -> None:
        event = self.log.take("deal", "hands", "stock", "first")
        sizes = [len(range(seat, 52, self.seats)) for seat in range(self.seats)]
        self.log.check_hands(event["hands"], event["stock"], CARD.values(), sizes)
        self.hands: list[set[str]] = [set(hand) for hand in event["hands"]]
        self.covered = [set() for _ in self.hands]
        self.last = [""] * self.seats
        self.first = next(seat for seat, hand in enumerate(self.hands) if "S7" in hand)
        if repr(event["first"]) != repr(self.first):
            self.log.fail(f"first seat {self.first}, who holds S7", event["first"])

    # ---------------------------------------------------------------- a turn

    def next_seat(self, seat: int) -> int:
        """The next seat clockwise that holds cards, or the seat itself when nobody does."""
        following = [(seat + step) % self.seats for step in range(1, self.seats + 1)]
        return next((q for q in following if self.hands[q]), seat)

    def is_live(self, card: str) -> bool:
        """Any 7, or a neighbour of a table card of the same suit."""
        beside = {CARD.get((SUIT[card], RANK[card] + step)) for step in (-1, 1)}
        return RANK[card] == 7 or not beside.isdisjoint(self.table)

    def legal(self, seat: int) -> set[str]:
        if self.turn == 1:
            return {"S7"}
        return {card for card in self.hands[seat] if self.is_live(card)}

    def play_turn(self, seat: int) -> None:
        self.turn += 1
        legal = self.legal(seat)
        event = self.take("turn", "turn", "seat", "legal")
        if repr((event["turn"], event["seat"])) != repr((self.turn, seat)):
            self.log.fail(f"turn {self.turn} of seat {seat}", event)
        self.log.same_set("turn.legal", [[card] for card in legal] or [[]], event["legal"])
        if legal:
            self.read_play(seat, legal)
        else:
            self.read_cover(seat)

    def read_play(self, seat: int, legal: set[str]) -> None:
        event = self.take("play", "seat", "cards", "gap")
        if repr((event["seat"], event["gap"])) != repr((seat, 0)):
            self.log.fail(f"a play of seat {seat} without a gap", event)
        if event["cards"] not in [[card] for card in legal]:
            self.log.fail(f"one of {sorted(legal)}", event)
        card = event["cards"][0]
        self.hands[seat].remove(card)
        self.table.add(card)
        self.last[seat] = card

    def read_cover(self, seat: int) -> None:
        event = self.take("choose", "seat", "what", "value", "legal")
        if repr((event["seat"], event["what"])) != repr((seat, "cover_card")):
            self.log.fail(f"seat {seat} choosing a cover_card", event)
        self.log.same_set("choose.legal", self.hands[seat], event["legal"])
        card = event["value"]
        if not isinstance(card, str) or card not in self.hands[seat]:
            self.log.fail(f"a card of seat {seat}", event)
        self.log.demand(not any(map(self.is_live, self.hands[seat])), "a cover implies no live card")
        self.expect("put", seat=seat, cards=[card], where="covered")
        self.hands[seat].remove(card)
        self.covered[seat].add(card)
        self.last[seat] = COVER

    # ---------------------------------------------------------------- scoring

    def points(self) -> list[int]:
        """Each seat's cover points: the pips of the cards it covered."""
        return [sum(RANK[card] for card in cards) for cards in self.covered]

    def lone_sevens(self, passers: list[int]) -> list[int]:
        """The passers whose very last card was a 7."""
        out = [p for p in passers if not self.hands[p] and RANK.get(self.last[p]) == 7]
        if self.toggles["lone_seven_needs_single_passer"] and len(passers) != 1:
            return []
        return out

    def multiplier(self, passers: list[int]) -> int:
        lone = len(self.lone_sevens(passers))
        self.log.demand(lone <= min(len(passers), 3), "at most three lone sevens, each of a passer")
        pass_factor = 2 ** len(passers) if len(passers) < self.seats else 1
        match self.toggles["lone_seven_combine"]:
            case "cumulative":
                return pass_factor * 8**lone
            case "replace":
                return 8**lone if lone else pass_factor
            case _:
                return pass_factor * 4**lone

    def scores(self) -> list[int]:
        """Every seat's sum of differences to all others, multiplied before or, for non-passers, after."""
        points = self.points()
        passers = [p for p in range(self.seats) if not self.covered[p]]
        factor = self.multiplier(passers)
        if self.toggles["multiply"] == "before_differences":
            points = [factor * c for c in points]
            return [sum(c - mine for c in points) for mine in points]
        plain = [sum(c - mine for c in points) for mine in points]
        return [score if p in passers else factor * score for p, score in enumerate(plain)]

    def check_scores(self, scores: list[int]) -> None:
        points = self.points()
        for p in range(self.seats):
            self.log.demand((points[p] == 0) == (not self.covered[p]), "no points without a cover")
        if self.toggles["multiply"] == "before_differences":
            self.log.demand(sum(scores) == 0, "the scores sum to 0")
            for a in range(self.seats):
                for b in range(self.seats):
                    self.log.demand(
                        (points[a] < points[b]) == (scores[a] > scores[b]), "fewer points, a better score"
                    )
        if self.toggles["end"] == "all_hands_empty":
            self.log.demand(self.turn == 52, "52 turns")

    def read_end(self) -> None:
        points, scores = self.points(), self.scores()
        self.check_scores(scores)
        self.expect(
            "end",
            outcome="win",
            winners=[p for p in range(self.seats) if points[p] == min(points)],
            losers=[],
            places=[1 + sum(other < mine for other in points) for mine in points],
            scores=scores,
            turns=self.turn,
        )
        self.log.finish()
