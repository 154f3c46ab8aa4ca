"""A naive referee for sevens game logs: sets and lists of card names (RULES.md sections 0, 4, 12; S2 L52-74).

`check` follows one log line by line. What the rules determine it works out by itself and demands literally; what
chance or a player decides (deal, plays, covers) it checks for being possible, then adopts.

Where the rules leave room, these readings are demanded:
* Only cards of an opened suit's ends may be added; a hand laid out by `max_3_passes` counts as cards on the table,
  so that its neighbours become playable, wherever they lie. Under `max_3_passes` a seat that can play must play.
* `may_pass`: N voluntary passes (N seats) since the last play force the next seats to play; a forced pass neither
  counts nor breaks the row. Where stuck seats cover, a seat may cover although it could play, without such a bound.
* `wrap` makes K and A neighbours beside A and 2; `ace_high` makes the A the neighbour of the K only.
* `eight_before_six`: a 6 needs the 8 of its suit on the table.
* `all_covered_wins`: a seat that has covered every card it was dealt comes before all others.
* Scores: covering gives minus the points of the covered cards; a pass fee is paid by each pass to the winner. Else 0.
* Eliminated seats come last, the later the better; one seat left wins as the survivor if nobody has finished.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from tests.referee.log import CARD, RANK, SUIT, SUITS, YES_NO, Disagreement, Lines, Log

__all__ = ["Disagreement", "check"]

PASS: frozenset[str] = frozenset()
DECK = frozenset(CARD.values())
START = {"d7": "D7", "s7": "S7", "h7": "H7"}

TOGGLES: dict[str, Collection[object]] = {
    "start_card": (*START, "any_7_by_dealer_left"),
    "no_move": ("pass", "cover"),
    "cover_score": ("pips", "count"),
    "all_covered_wins": YES_NO,
    "forced_play": ("yes", "may_pass", "max_3_passes"),
    "pass_fee": (0, 1),
    "end": ("first_out", "play_to_places"),
    "extra_cards": ("first_seats_dealt", "random", "rotate"),
    "wrap": YES_NO,
    "ace_high": YES_NO,
    "eight_before_six": YES_NO,
}
"""The toggles of a log with every value (yes/no for booleans, lower case)."""


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
        self.finished: list[int] = []
        self.eliminated: list[int] = []
        self.turn = 0
        self.voluntary = 0  # voluntary passes since the last play
        self.forced = 0  # forced passes since the last play

    # ---------------------------------------------------------------- log and invariants

    def take(self, kind: str, *keys: str) -> dict[str, Any]:
        self.check_invariants()
        return self.log.take(kind, *keys)

    def expect(self, kind: str, /, **fields: object) -> None:
        self.check_invariants()
        self.log.expect(kind, **fields)

    def check_invariants(self) -> None:
        places = (self.table, *self.hands, *self.covered)
        self.log.demand(
            sum(map(len, places)) == len(DECK) and set().union(*places) == DECK,
            "every card is on the table, covered or in one hand",
        )
        self.log.demand(self.covers or not any(self.covered), "no covered card where seats pass")
        for seat in (*self.finished, *self.eliminated):
            self.log.demand(not self.hands[seat], "a seat that is out holds no cards")
        if not self.eliminated:
            for suit in SUITS:
                self.log.demand(self.is_one_piece(suit), f"the cards of suit {suit} are one row with its 7")

    def is_one_piece(self, suit: str) -> bool:
        """Whether all table cards of the suit hang together with its 7."""
        reached: set[str] = set()
        waiting = {CARD[suit, 7]} & self.table
        while waiting:
            reached |= waiting
            waiting = {n for card in waiting for n in self.neighbours(card)} & self.table - reached
        return reached == {card for card in self.table if SUIT[card] == suit}

    # ---------------------------------------------------------------- opening

    def replay(self) -> None:
        header = self.log.read_header("sevens", range(2, 9))
        self.seats: int = header["seats"]
        self.index: int = header["index"]
        self.toggles = self.log.read_toggles(header["toggles"], TOGGLES, {})
        self.covers = self.toggles["no_move"] == "cover"
        self.read_deal()
        try:
            while True:
                self.play_turn()
        except _GameOver as over:
            self.read_end(over.outcome)

    def read_deal(self) -> None:
        event = self.log.take("deal", "hands", "stock", "first")
        hands = event["hands"]
        sizes = self.sizes([len(hand) for hand in hands])
        self.log.check_hands(hands, event["stock"], DECK, sizes)
        if event["stock"]:
            self.log.fail("an empty stock", event["stock"])
        self.hands: list[set[str]] = [set(hand) for hand in hands]
        self.dealt = sizes
        self.covered: list[set[str]] = [set() for _ in hands]
        self.passes = [0] * self.seats
        self.player = self.first_player()
        if repr(event["first"]) != repr(self.player):
            self.log.fail(f"first seat {self.player}", event["first"])

    def sizes(self, logged: list[int]) -> list[int]:
        """The sizes of the hands; where chance names the seats with one card more, those of the log if possible."""
        each, extra = divmod(len(DECK), self.seats)
        start = self.index % self.seats if self.toggles["extra_cards"] == "rotate" else 0
        wanted = [each + ((seat - start) % self.seats < extra) for seat in range(self.seats)]
        fixed = self.toggles["extra_cards"] != "random"
        return logged if not fixed and sorted(logged) == sorted(wanted) else wanted

    def first_player(self) -> int:
        starts = self.start_cards()
        return next(seat for seat, hand in enumerate(self.hands) if hand & starts)

    def start_cards(self) -> set[str]:
        """The cards with which the game may be opened."""
        card = START.get(self.toggles["start_card"])
        return {card} if card else {CARD[suit, 7] for suit in SUITS}

    # ---------------------------------------------------------------- what may be played

    def neighbours(self, card: str) -> set[str]:
        """The cards of the suit that come directly before and after this one."""
        ranks = {RANK[card] - 1, RANK[card] + 1}
        if self.toggles["wrap"] or self.toggles["ace_high"]:
            ranks |= {1: {13}, 13: {1}}.get(RANK[card], set())
        if self.toggles["ace_high"] and not self.toggles["wrap"]:
            ranks -= {1: {2}, 2: {1}}.get(RANK[card], set())
        return {CARD[SUIT[card], rank] for rank in ranks if 1 <= rank <= 13}

    def is_live(self, card: str) -> bool:
        """Whether the card may be added to the table."""
        if RANK[card] == 7:
            return True
        if RANK[card] == 6 and self.toggles["eight_before_six"] and CARD[SUIT[card], 8] not in self.table:
            return False
        return not self.neighbours(card).isdisjoint(self.table)

    def plays(self, seat: int) -> set[str]:
        if self.turn == 1:
            return self.hands[seat] & self.start_cards()
        return {card for card in self.hands[seat] if self.is_live(card)}

    def may_decline(self) -> bool:
        """Whether a seat that can play need not."""
        bounded = self.covers or self.voluntary < self.seats
        return self.toggles["forced_play"] == "may_pass" and self.turn > 1 and bounded

    # ---------------------------------------------------------------- a turn

    def active(self) -> list[int]:
        return [seat for seat in range(self.seats) if self.hands[seat]]

    def next_active(self, seat: int) -> int:
        return next(
            q % self.seats for q in range(seat + 1, seat + 1 + self.seats) if self.hands[q % self.seats]
        )

    def play_turn(self) -> None:
        seat = self.player
        self.turn += 1
        plays = self.plays(seat)
        offered = {frozenset((card,)) for card in plays}
        if not plays or self.may_decline():
            offered.add(PASS)
        self.read_turn_line(seat, offered)
        declines = PASS in offered and (not plays or self.log.peek() != "play")
        if not declines:
            self.play(seat, plays)
        elif self.covers:
            self.cover(seat)
        else:
            self.decline(seat, forced=not plays)
        self.end_turn(seat)

    def read_turn_line(self, seat: int, offered: set[frozenset[str]]) -> None:
        event = self.take("turn", "turn", "seat", "legal")
        if repr((event["turn"], event["seat"])) != repr((self.turn, seat)):
            self.log.fail(f"turn {self.turn} of seat {seat}", f"turn {event['turn']} of seat {event['seat']}")
        legal = event["legal"]
        if not isinstance(legal, list) or not all(isinstance(move, list) and len(move) < 2 for move in legal):
            self.log.fail("legal moves as lists of at most one card", legal)
        moves = [frozenset(move) for move in legal]
        if len(set(moves)) != len(moves) or set(moves) != offered:
            self.log.fail(f"the legal moves {sorted(map(sorted, offered))} of seat {seat}", legal)

    def play(self, seat: int, plays: set[str]) -> None:
        event = self.take("play", "seat", "cards", "gap")
        cards = event["cards"]
        if repr(event["seat"]) != repr(seat) or len(cards) != 1 or cards[0] not in plays:
            self.log.fail(f"one of the cards {sorted(plays)} of seat {seat}", event)
        if repr(event["gap"]) != "0":
            self.log.fail("gap 0", event)
        self.hands[seat] -= set(cards)
        self.table |= set(cards)
        self.voluntary = self.forced = 0

    def cover(self, seat: int) -> None:
        event = self.take("choose", "seat", "what", "value", "legal")
        if repr((event["seat"], event["what"])) != repr((seat, "cover_card")):
            self.log.fail(f"the choice cover_card of seat {seat}", event)
        self.log.same_set("the cards to cover", frozenset(self.hands[seat]), event["legal"])
        if event["value"] not in self.hands[seat]:
            self.log.fail(f"a card among {sorted(self.hands[seat])}", event["value"])
        self.hands[seat].remove(event["value"])
        self.covered[seat].add(event["value"])
        self.expect("put", seat=seat, cards=[event["value"]], where="covered")

    def decline(self, seat: int, *, forced: bool) -> None:
        """A pass; a fourth forced one under `max_3_passes` lays the hand out and loses."""
        if forced and self.toggles["forced_play"] == "max_3_passes" and self.passes[seat] == 3:
            self.lay_out(seat)
            return
        self.passes[seat] += 1
        self.voluntary += not forced
        self.forced += forced
        self.expect("pass", seat=seat)
        if self.toggles["forced_play"] != "may_pass":
            self.log.demand(self.forced < len(self.active()), "some seat holds a legal card")

    def lay_out(self, seat: int) -> None:
        cards = frozenset(self.hands[seat])
        self.hands[seat] = set()
        self.table |= cards
        self.eliminated.append(seat)
        self.forced = 0
        self.expect("put", seat=seat, cards=cards, where="table")
        self.expect("eliminate", seat=seat, reason="limit")

    def end_turn(self, seat: int) -> None:
        if self.covers:
            if not self.active():
                raise _GameOver("win")
        else:
            if not self.hands[seat] and seat not in self.eliminated:
                self.finished.append(seat)
                self.expect("finish", seat=seat)
                if self.toggles["end"] == "first_out":
                    raise _GameOver("win")
            if len(self.active()) == 1:
                raise _GameOver("win" if self.finished else "survivor")
        self.player = self.next_active(seat)

    # ---------------------------------------------------------------- the end

    def read_end(self, outcome: str) -> None:
        self.check_ending()
        merit = [self.merit(seat) for seat in range(self.seats)]
        places = [1 + sum(other > mine for other in merit) for mine in merit]
        winners = [seat for seat in range(self.seats) if places[seat] == 1]
        self.log.demand(self.covers or len(winners) == 1, "exactly one winner")
        scores = self.scores(winners)
        self.expect(
            "end", outcome=outcome, winners=winners, losers=[], places=places, scores=scores, turns=self.turn
        )
        self.log.finish()

    def check_ending(self) -> None:
        if self.covers:
            self.log.demand(self.turn == len(DECK), "covering makes exactly 52 turns")
        elif self.toggles["forced_play"] == "yes":
            self.log.demand(self.turn <= 1 + 51 * self.seats, "at most 1 + 51 N turns")

    def points(self, seat: int) -> int:
        """What a seat's covered cards count against it."""
        pips = self.toggles["cover_score"] == "pips"
        return sum(RANK[card] if pips else 1 for card in self.covered[seat])

    def merit(self, seat: int) -> tuple[int, int]:
        """What places are ordered by, larger is better."""
        if self.covers:
            clean = self.toggles["all_covered_wins"] and len(self.covered[seat]) == self.dealt[seat]
            return (int(clean), 0 if clean else -self.points(seat))
        if seat in self.finished:
            return (2, -self.finished.index(seat))
        if seat in self.eliminated:
            return (0, self.eliminated.index(seat))
        return (1, -len(self.hands[seat]))

    def scores(self, winners: list[int]) -> list[int]:
        if self.covers:
            return [-self.points(seat) for seat in range(self.seats)]
        fee = self.toggles["pass_fee"]
        paid = [fee * passes for passes in self.passes]
        return [sum(paid) * (seat in winners) - paid[seat] for seat in range(self.seats)]
