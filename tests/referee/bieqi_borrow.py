"""A naive referee for bieqi_borrow game logs: sets and lists of card names (RULES.md sections 0, 8, 12; S4 L132-150).

`check` follows one log line by line. What the rules determine it works out by itself and demands literally; what
chance or a player decides (the deal, a card lent) it checks for being possible, then adopts.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from tests.referee.log import CARD, RANK, SUIT, SUITS, YES_NO, Lines, Log

JOKER = "BJ"
START = "S7"
DECK = frozenset(CARD.values()) | {JOKER}

TOGGLES: dict[str, Collection[object]] = {
    "who_chooses": ("lender", "borrower_blind", "borrower_asks_live_card"),
    "borrow": ("mandatory", "optional"),
    "borrower_plays_after": ("no", "if_live"),
    "lend_last_card": ("allowed_counts_as_finished", "allowed_not_winning", "forbidden"),
    "may_lend_sole_live_card": YES_NO,
    "first_deal_14": ("random_seat", "previous_loser"),
    "end": ("52_on_table", "first_out", "all_but_one_out"),
    "joker_lend_limit": (None, "once_per_turn_cycle"),
    "max_turns": range(1, 1_000_000),
    "max_idle_borrows": range(1, 1_000_000),  # for each seat at the table
}
"""Toggles that a log must set, with every value (yes/no for booleans, lower case)."""

FIXED = {"loser": "joker_holder"}
"""Toggles of the rules that have a single value."""


class _GameOver(Exception):
    """The game has ended, with this outcome."""

    def __init__(self, outcome: str) -> None:
        super().__init__(outcome)
        self.outcome = outcome


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
        self.out: list[int] = []  # seats without cards, in the order in which they ran out
        self.lent_out: set[int] = set()  # of those, the seats whose last card was lent
        self.turn = 0
        self.idle = 0  # turns in a row in which no card reached the table
        self.joker_lent = -1_000  # the turn in which the Joker was last lent; long ago

    # ---------------------------------------------------------------- log and invariants

    def expect(self, kind: str, /, **fields: object) -> None:
        self.check_invariants()
        self.log.expect(kind, **fields)

    def take(self, kind: str, *keys: str) -> dict[str, Any]:
        self.check_invariants()
        return self.log.take(kind, *keys)

    def check_invariants(self) -> None:
        places = (self.table, *self.hands)
        self.log.demand(
            sum(map(len, places)) == 53 and set().union(*places) == DECK, "every card is in exactly one place"
        )
        self.log.demand(JOKER not in self.table, "the Joker is never on the table")
        for suit in SUITS:
            ranks = sorted(RANK[card] for card in self.table if SUIT[card] == suit)
            whole = list(range(ranks[0], ranks[-1] + 1)) if ranks else []
            self.log.demand(
                ranks == whole and (not ranks or 7 in ranks), "a suit is an unbroken row around its 7"
            )

    # ---------------------------------------------------------------- opening

    def replay(self) -> None:
        self.read_header()
        self.read_deal()
        try:
            while True:
                self.play_turn()
        except _GameOver as over:
            self.read_end(over.outcome)

    def read_header(self) -> None:
        event = self.log.read_header("bieqi_borrow", range(2, 7))
        self.seats: int = event["seats"]
        self.toggles = self.log.read_toggles(event["toggles"], TOGGLES, FIXED)

    def read_deal(self) -> None:
        """53 cards dealt one by one from some seat on: the first seats dealt to hold one card more (8.1, E7)."""
        event = self.log.take("deal", "hands", "stock", "first")
        few, more = divmod(53, self.seats)
        sizes = [len(hand) for hand in event["hands"]]
        for start in range(self.seats):
            wanted = [few + ((p - start) % self.seats < more) for p in range(self.seats)]
            if sizes == wanted:
                break
        self.log.check_hands(event["hands"], event["stock"], DECK, wanted)
        if event["stock"]:
            self.log.fail("no stock", event["stock"])
        self.hands: list[set[str]] = [set(hand) for hand in event["hands"]]
        self.player = next(p for p, hand in enumerate(self.hands) if START in hand)
        if repr(event["first"]) != repr(self.player):
            self.log.fail(f"first seat {self.player}, who holds {START}", event["first"])

    # ---------------------------------------------------------------- seats and cards

    def others_after(self, seat: int) -> list[int]:
        """The other seats that hold cards, clockwise after `seat`."""
        order = [(seat + step) % self.seats for step in range(1, self.seats)]
        return [q for q in order if self.hands[q]]

    def is_live(self, card: str) -> bool:
        """Any 7, or the neighbour of a table card of its suit. The Joker never is (L46, L146)."""
        if card == JOKER:
            return False
        if not self.table:
            return card == START
        near = {CARD[SUIT[card], r] for r in (RANK[card] - 1, RANK[card] + 1) if 1 <= r <= 13}
        return RANK[card] == 7 or bool(near & self.table)

    def live(self, seat: int) -> set[str]:
        return {card for card in self.hands[seat] if self.is_live(card)}

    def lendable(self, seat: int) -> set[str]:
        """The cards that this seat may hand over if it is asked (BB-01, BB-04, BB-05, BB-09)."""
        t = self.toggles
        cards = set(self.hands[seat])
        if t["lend_last_card"] == "forbidden" and len(cards) == 1:
            return set()
        live = self.live(seat)
        if not t["may_lend_sole_live_card"] and len(live) == 1:
            cards -= live
        if t["joker_lend_limit"] is not None and self.turn - self.joker_lent < self.seats:
            cards.discard(JOKER)
        if t["who_chooses"] == "borrower_asks_live_card":
            return cards & live or cards
        return cards

    # ---------------------------------------------------------------- a turn

    def play_turn(self) -> None:
        seat = self.player
        self.turn += 1
        live = self.live(seat)
        legal = frozenset((card,) for card in live) if live else frozenset({()})
        event = self.take("turn", "turn", "seat", "legal")
        if repr((event["turn"], event["seat"])) != repr((self.turn, seat)):
            self.log.fail(f"turn {self.turn} of seat {seat}", event)
        if not isinstance(event["legal"], list):
            self.log.fail("a list of legal moves", event["legal"])
        self.log.same_set("turn.legal", legal, [tuple(move) for move in event["legal"]])
        self.idle += 1
        if live:
            self.play(seat, live)
        else:
            self.borrow(seat)
        self.end_turn(seat)

    def play(self, seat: int, allowed: set[str]) -> None:
        event = self.take("play", "seat", "cards", "gap")
        cards = event["cards"]
        if (
            repr((event["seat"], event["gap"])) != repr((seat, 0))
            or len(cards) != 1
            or cards[0] not in allowed
        ):
            self.log.fail(f"seat {seat} plays one of {sorted(allowed)}, gap 0", event)
        self.hands[seat].remove(cards[0])
        self.table.add(cards[0])
        self.idle = 0
        self.finish_if_empty(seat)

    def borrow(self, seat: int) -> None:
        """The nearest seat clockwise that may lend hands over a card; nobody: a pass (8.1, BB-02, BB-05)."""
        others = self.others_after(seat)
        self.log.demand(bool(others), "a seat that alone holds cards has a live card")
        lender = next((q for q in others if self.lendable(q)), None)
        if lender is None or not self.wants_to_borrow(seat):
            self.expect("pass", seat=seat)
            return
        card = self.lent_card(seat, lender)
        self.hands[lender].remove(card)
        self.hands[seat].add(card)
        if card == JOKER:
            self.joker_lent = self.turn
        if not self.hands[lender]:
            self.lent_out.add(lender)
        self.finish_if_empty(lender)
        if self.toggles["borrower_plays_after"] == "if_live" and self.is_live(card):
            self.play(seat, {card})

    def wants_to_borrow(self, seat: int) -> bool:
        if self.toggles["borrow"] == "mandatory":
            return True
        return bool(self.choose(seat, "borrow", {"borrow", "pass"}) == "borrow")

    def choose(self, seat: int, what: str, legal: set[str]) -> str:
        event = self.take("choose", "seat", "what", "value", "legal")
        if repr((event["seat"], event["what"])) != repr((seat, what)):
            self.log.fail(f"seat {seat} chooses {what}", event)
        self.log.same_set(f"the choices of {what}", frozenset(legal), event["legal"])
        if event["value"] not in legal:
            self.log.fail(f"one of {sorted(legal)}", event["value"])
        return str(event["value"])

    def lent_card(self, borrower: int, lender: int) -> str:
        """The card that changes hands, by the lender's choice or by chance, from the `draw` line."""
        allowed = self.lendable(lender)
        if self.toggles["who_chooses"] != "borrower_blind":
            allowed = {self.choose(lender, "lend_card", allowed)}
        event = self.take("draw", "seat", "cards", "reason")
        cards = event["cards"]
        if repr((event["seat"], event["reason"])) != repr((borrower, "borrow")):
            self.log.fail(f"seat {borrower} draws a card to borrow it", event)
        if len(cards) != 1 or cards[0] not in allowed:
            self.log.fail(f"one card of {sorted(allowed)} from seat {lender}", cards)
        return str(cards[0])

    def finish_if_empty(self, seat: int) -> None:
        if self.hands[seat]:
            return
        self.out.append(seat)
        self.expect("finish", seat=seat)
        if self.toggles["end"] == "first_out" and self.winner() is not None:
            raise _GameOver("win")
        if self.toggles["end"] == "all_but_one_out" and sum(map(bool, self.hands)) == 1:
            raise _GameOver(self.decided())

    # ---------------------------------------------------------------- ends

    def end_turn(self, seat: int) -> None:
        if len(self.table) == 52:
            self.log.demand(sum(map(len, self.hands)) == 1, "the game ends with one card left, the Joker")
            raise _GameOver(self.decided())
        if not self.toggles["may_lend_sole_live_card"]:
            self.log.demand(self.idle < self.seats, "if live cards are kept, every round places a card")
        if (
            self.idle >= self.toggles["max_idle_borrows"] * self.seats
            or self.turn >= self.toggles["max_turns"]
        ):
            raise _GameOver("stalled")
        self.player = self.others_after(seat)[0] if self.others_after(seat) else seat

    def decided(self) -> str:
        """A win if somebody won; if nobody may, there is still the loser."""
        return "loser_found" if self.winner() is None else "win"

    def winner(self) -> int | None:
        """The first seat to run out (L150); under BB-04 not winning, the first to play its last card."""
        barred = self.lent_out if self.toggles["lend_last_card"] == "allowed_not_winning" else set()
        return next((p for p in self.out if p not in barred), None)

    def read_end(self, outcome: str) -> None:
        holder = next(p for p, hand in enumerate(self.hands) if JOKER in hand)
        winner = None
        if outcome != "stalled":
            winner = self.winner()
            self.log.demand(winner != holder, "the loser is not the winner")
            self.expect("lose", seat=holder)
        self.expect(
            "end",
            outcome=outcome,
            winners=[] if winner is None else [winner],
            losers=[holder] if outcome == "loser_found" else [],
            places=self.places(winner, holder),
            scores=[0] * self.seats,
            turns=self.turn,
        )
        self.log.finish()

    def places(self, winner: int | None, holder: int) -> list[int]:
        """The winner, then the order of running out, then hands by size; the Joker's holder last (section 12)."""
        rank = {}
        for p in range(self.seats):
            if p == holder:
                rank[p] = (3, 0)
            elif p == winner:
                rank[p] = (0, 0)
            elif p in self.out:
                rank[p] = (1, self.out.index(p))
            else:
                rank[p] = (2, len(self.hands[p]))
        return [1 + sum(rank[q] < rank[p] for q in rank) for p in range(self.seats)]
