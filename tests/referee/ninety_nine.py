"""A naive referee for ninety_nine game logs: lists and dicts of card names (RULES.md sections 0, 5, 12).

`check` follows one log line by line. Whatever the rules determine it works out by itself and demands
literally; what chance or a player decides (deal, shuffles, choices) it checks for being possible, then
adopts. Card lists whose order means nothing are compared as sets; the order of stock and draws is exact.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from tests.referee.log import CARD, JOKERS, RANK, YES_NO, Disagreement, Lines, Log

__all__ = ["Disagreement", "check"]

TOP = 99
ADDING = {2, 3, 6, 7, 8, 9}
EITHER_WAY = {10: 10, 12: 20}
"""The ranks whose player chooses the sign, and by how much they change the total."""

TOGGLES: dict[str, Collection[object]] = {
    "hand_size": (3, 4, 5),
    "end": ("first_loser", "elimination", "lives"),
    "lives": range(1, 100),
    "after_loss_total": ("keep", "reset_0"),
    "after_loss_hand": ("to_discard", "removed", "new_hand"),
    "after_loss_next": ("next_in_direction", "loser_starts"),
    "reshuffle": ("all_discards", "keep_last_card", "none"),
    "draw_time": ("after_effect", "forgotten_draw_lost"),
    "forget_percent": range(101),
    "ace_other": ("plus_1", "0", "1_or_11"),
    "spade_ace": ("reset_0", "plus_1"),
    "king": ("set_99", "plus_13"),
    "five_self": YES_NO,
    "four_two_players": ("no_extra_turn", "plays_again"),
    "jokers": (0, 1, 2),
    "joker_effect": ("set_99", "any"),
    "first_player": ("random", "loser_of_last"),
    "max_turns": range(1, 1_000_000),
}
"""Toggles that a log must set, with every value, in the spelling of `_spelling`."""

FIXED: dict[str, str] = {"must_play_if_legal": "yes"}
"""Toggles of the rules that have a single value."""


class _GameOver(Exception):
    """The game has ended this way."""


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
        self.total = 0
        self.direction = 1
        self.turn = 0
        self.discard: list[str] = []
        self.last_played = ""
        self.removed: list[str] = []
        self.out: list[int] = []
        """The eliminated seats, first one first."""

    # ---------------------------------------------------------------- log and invariants

    def take(self, kind: str, *keys: str) -> dict[str, Any]:
        self.check_invariants()
        return self.log.take(kind, *keys)

    def expect(self, kind: str, /, **fields: object) -> None:
        self.check_invariants()
        self.log.expect(kind, **fields)

    def same(self, name: str, wanted: object, logged: object) -> None:
        if repr(wanted) != repr(logged):  # repr, because 1 == True == 1.0
            self.log.fail(f"{name} = {wanted!r}", repr(logged))

    def check_invariants(self) -> None:
        places = [*self.stock, *self.discard, *self.removed, *(c for hand in self.hands for c in hand)]
        self.log.demand(sorted(places) == sorted(self.deck), "every card is in exactly one place")
        self.log.demand(0 <= self.total <= TOP, "the total is 0 to 99")
        self.log.demand(self.direction in (1, -1), "a direction")
        self.log.demand(not any(self.hands[q] for q in self.out), "an eliminated seat holds no cards")
        most = max(map(len, self.hands))
        self.log.demand(most <= self.toggles["hand_size"], "no hand is larger than the one dealt")

    def check_turn_start(self, seat: int) -> None:
        """What holds whenever a seat is at turn."""
        t = self.toggles
        self.log.demand(seat not in self.out and bool(self.hands[seat]), "the seat at turn holds cards")
        if t["reshuffle"] == "all_discards" and t["after_loss_hand"] != "removed" and not self.may_forget():
            full = all(len(self.hands[q]) == t["hand_size"] for q in self.active())
            self.log.demand(full, "every hand is full")
        if t["end"] == "first_loser":
            self.log.demand(not self.out, "nobody is out before the first loser")

    # ---------------------------------------------------------------- opening

    def replay(self) -> None:
        self.read_header()
        self.read_deal()
        try:
            while True:
                self.play_turn()
        except _GameOver as over:
            self.read_end(str(over))

    def read_header(self) -> None:
        event = self.log.read_header("ninety_nine", range(2, 11))
        self.seats: int = event["seats"]
        spelled = {key: _spelling(key, value) for key, value in event["toggles"].items()}
        self.toggles = self.log.read_toggles(spelled, TOGGLES, FIXED)
        self.deck = [*CARD.values(), *JOKERS[: self.toggles["jokers"]]]
        self.lives = [self.toggles["lives"] if self.toggles["end"] == "lives" else 1] * self.seats

    def read_deal(self) -> None:
        event = self.log.take("deal", "hands", "stock", "first")
        self.log.check_hands(
            event["hands"], event["stock"], self.deck, [self.toggles["hand_size"]] * self.seats
        )
        self.hands: list[list[str]] = [list(hand) for hand in event["hands"]]
        self.stock: list[str] = list(event["stock"])
        if repr(event["first"]) not in map(repr, range(self.seats)):
            self.log.fail("a seat as the first", event["first"])
        self.player: int = event["first"]

    # ---------------------------------------------------------------- what a card does

    def signs(self, card: str) -> list[str]:
        """The legal signs of a 10 or Queen."""
        step = EITHER_WAY[RANK[card]]
        return ["+"] * (self.total + step <= TOP) + ["-"] * (self.total - step >= 0)

    def ace_values(self) -> list[int]:
        """The legal values of an Ace worth 1 or 11."""
        return [value for value in (1, 11) if self.total + value <= TOP]

    def adds(self, card: str) -> int | None:
        """By how much this card raises the total, None for a card that does something else."""
        if card in JOKERS:
            return None
        pips = RANK[card]
        if pips in ADDING:
            return pips
        if pips == 13 and self.toggles["king"] == "plus_13":
            return 13
        if card == "SA":
            return 1 if self.toggles["spade_ace"] == "plus_1" else None
        if pips == 1 and self.toggles["ace_other"] != "1_or_11":
            return 1 if self.toggles["ace_other"] == "plus_1" else 0
        return None

    def is_or_eleven(self, card: str) -> bool:
        ace = card not in JOKERS and RANK[card] == 1
        return ace and self.adds(card) is None and card != "SA"

    def is_legal(self, card: str) -> bool:
        adds = self.adds(card)
        if adds is not None:
            return self.total + adds <= TOP
        if card not in JOKERS and RANK[card] in EITHER_WAY:
            return bool(self.signs(card))
        return bool(self.ace_values()) if self.is_or_eleven(card) else True

    def is_safe(self, card: str) -> bool:
        """Whether the text makes this card legal at every total."""
        if card in JOKERS or card == "SA":
            return card in JOKERS or self.toggles["spade_ace"] == "reset_0"
        return RANK[card] in (4, 5, 10, 11, 12) or (RANK[card] == 13 and self.toggles["king"] == "set_99")

    # ---------------------------------------------------------------- a turn

    def active(self) -> list[int]:
        return [q for q in range(self.seats) if q not in self.out]

    def holders(self) -> list[int]:
        """The seats that can still play: those that hold cards."""
        return [q for q in self.active() if self.hands[q]]

    def next_from(self, seat: int) -> int:
        """The next seat with cards in the direction of play; the seat itself comes last."""
        around = [(seat + self.direction * step) % self.seats for step in range(1, self.seats + 1)]
        return next(q for q in around if q in self.holders())

    def play_turn(self) -> None:
        seat = self.player
        self.turn += 1
        legal = [card for card in self.hands[seat] if self.is_legal(card)]
        event = self.take("turn", "turn", "seat", "legal")
        self.same("turn and seat", (self.turn, seat), (event["turn"], event["seat"]))
        self.log.same_set("the legal moves", [[card] for card in legal], event["legal"])
        self.check_turn_start(seat)
        if legal:
            self.play(seat, legal)
        else:
            self.log.demand(not any(map(self.is_safe, self.hands[seat])), "a safe card never loses")
            self.lose(seat)
        if not self.holders():
            raise _GameOver("drawn")
        if self.turn >= self.toggles["max_turns"]:
            raise _GameOver("stalled")

    def play(self, seat: int, legal: list[str]) -> None:
        event = self.take("play", "seat", "cards", "gap")
        self.same("seat and gap of the play", (seat, 0), (event["seat"], event["gap"]))
        if event["cards"] not in [[card] for card in legal]:
            self.log.fail(f"one of the cards {legal}", event)
        (card,) = event["cards"]
        self.hands[seat].remove(card)
        self.discard.append(card)
        self.last_played = card
        named, again = self.apply_card(seat, card)
        if not self.forgets():
            self.refill(seat, 1)
        if not self.holders():
            raise _GameOver("drawn")
        if named is not None:
            self.player = named
        elif again and self.hands[seat]:
            self.player = seat
        else:
            self.player = self.next_from(seat)

    def apply_card(self, seat: int, card: str) -> tuple[int | None, bool]:
        """Change total and direction. Returns the seat named to play next, and whether the same plays again."""
        adds = self.adds(card)
        if adds is not None:
            self.total += adds
        elif card in JOKERS:
            any_total = self.toggles["joker_effect"] == "any"
            self.total = self.choose(seat, "joker_total", range(TOP + 1)) if any_total else TOP
        elif card == "SA":
            self.total = 0
        elif self.is_or_eleven(card):
            self.total += self.choose(seat, "ace_value", self.ace_values())
        elif RANK[card] in EITHER_WAY:
            sign = self.choose(seat, "sign", self.signs(card))
            self.total += EITHER_WAY[RANK[card]] * (1 if sign == "+" else -1)
        elif RANK[card] == 13:
            self.total = TOP
        elif RANK[card] == 4:
            self.direction = -self.direction
            two = len(self.active()) == 2
            return None, two and self.toggles["four_two_players"] == "plays_again"
        elif RANK[card] == 5:
            may_name = [q for q in self.holders() if q != seat or self.toggles["five_self"]]
            return (self.choose(seat, "target", may_name) if may_name else None), False
        return None, False

    def choose(self, seat: int, what: str, legal: Collection[Any]) -> Any:
        """Read a player's inner decision among these choices."""
        event = self.take("choose", "seat", "what", "value", "legal")
        self.same("seat and kind of the choice", (seat, what), (event["seat"], event["what"]))
        self.log.same_set(f"the choices of {what}", legal, event["legal"])
        if repr(event["value"]) not in map(repr, legal):
            self.log.fail(f"a value among {list(legal)}", event["value"])
        return event["value"]

    # ---------------------------------------------------------------- drawing

    def may_forget(self) -> bool:
        """Whether a seat may forget to draw after its play."""
        return self.toggles["draw_time"] == "forgotten_draw_lost" and self.toggles["forget_percent"] > 0

    def forgets(self) -> bool:
        """Whether the seat that has just played forgets to draw: a draw, or the shuffle before it, is not logged.

        Somebody who always forgets must not draw; without a card to draw nothing is logged in any case.
        """
        if not self.may_forget() or not (self.stock or self.used_discards()):
            return False
        drew = self.log.peek() in ("draw", "shuffle")
        self.log.demand(not (drew and self.toggles["forget_percent"] == 100), "every draw is forgotten")
        return not drew

    def refill(self, seat: int, count: int) -> None:
        """Draw cards; whenever one must be drawn and the stock is empty, the discards become the stock."""
        while count and (self.stock or self.reshuffle()):
            cards, self.stock = self.stock[:count], self.stock[count:]
            self.hands[seat] += cards
            count -= len(cards)
            self.expect("draw", seat=seat, cards=cards, reason="refill")

    def used_discards(self) -> list[str]:
        """The discards that the rules allow to become the new stock."""
        mode = self.toggles["reshuffle"]
        kept = [self.last_played] if mode == "keep_last_card" else []
        return [] if mode == "none" else [card for card in self.discard if card not in kept]

    def reshuffle(self) -> bool:
        """Make a new stock of the discards, as far as the rules allow; whether there is one now."""
        used = self.used_discards()
        if not used:
            return False
        self.discard, self.stock = [card for card in self.discard if card not in used], used
        event = self.take("shuffle", "stock")
        self.log.same_set("the shuffled stock", used, event["stock"])
        self.stock = list(event["stock"])
        return True

    # ---------------------------------------------------------------- losing, and the end

    def lose(self, seat: int) -> None:
        """No legal card: the game is lost, or the seat is out, or it loses a life."""
        end = self.toggles["end"]
        self.lives[seat] -= 1
        if end != "elimination":
            self.expect("lose", seat=seat)
        if end == "first_loser":
            self.out.append(seat)
            self.removed += self.hands[seat]
            self.hands[seat] = []
            raise _GameOver("loser_found")
        if self.lives[seat] == 0:
            self.expect("eliminate", seat=seat, reason="limit")
            self.out.append(seat)
        self.give_up_hand(seat)
        if len(self.active()) == 1:
            raise _GameOver("survivor")
        if self.toggles["after_loss_total"] == "reset_0":
            self.total = 0
        if not self.holders():
            raise _GameOver("drawn")
        stays = self.toggles["after_loss_next"] == "loser_starts" and bool(self.hands[seat])
        self.player = seat if stays else self.next_from(seat)

    def give_up_hand(self, seat: int) -> None:
        """Where the loser's hand goes if the round goes on; a seat that has lives left draws a new one."""
        hand, self.hands[seat] = self.hands[seat], []
        gone = self.toggles["after_loss_hand"] == "removed"
        (self.removed if gone else self.discard).extend(hand)
        if len(self.active()) == 1:
            return
        event = self.take("put", "seat", "cards", "where")
        where = "removed" if gone else "discard"
        self.same("seat and place", (seat, where), (event["seat"], event["where"]))
        self.log.same_set("the loser's hand", hand, event["cards"])
        if seat not in self.out:
            self.refill(seat, self.toggles["hand_size"])

    def places(self) -> list[int]:
        """The seats still in share the first place; the last one out comes next."""
        order = self.out[::-1]
        ahead = len(self.active())
        return [ahead + 1 + order.index(q) if q in self.out else 1 for q in range(self.seats)]

    def read_end(self, outcome: str) -> None:
        self.expect(
            "end",
            outcome=outcome,
            winners=self.active() if outcome == "survivor" else [],
            losers=self.out if outcome == "loser_found" else [],
            places=self.places(),
            scores=[0] * self.seats,
            turns=self.turn,
        )
        self.log.finish()


def _spelling(key: str, value: Any) -> Any:
    """A toggle's value in the spelling of `TOGGLES`: null as none, +1 as plus_1."""
    if value is None:
        return "none"
    if key in ("ace_other", "spade_ace", "king"):
        text = str(value).replace("+", "plus_")
        return f"plus_{text}" if text in ("1", "13") else text
    return value
