"""A naive referee for paijie game logs: sets, lists and dicts of card names (RULES.md sections 0, 1, 12).

`check` follows one log line by line. Whatever the rules determine it works out by itself and demands
literally; what chance or a player decides (deal, shuffles, redeals, choices) it checks for being possible,
then adopts. Card lists whose order means nothing are compared as sets. Wherever an order of cards matters
(stock, draws, flips) it is compared exactly.
"""

from __future__ import annotations

import contextlib
import itertools
import math
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

from tests.referee.log import CARD, JOKERS, RANK, SUIT, SUITS, YES_NO, Lines, Log

JACK, QUEEN, KING = 11, 12, 13
START_SEARCH = (7, 8, 6, 9, 5, 10, 4, 11, 3, 12, 2, 13, 1)
PASS: frozenset[str] = frozenset()
Ban = tuple[int, int, str]  # rank, owner, the King's card

TOGGLES: dict[str, Collection[object]] = {
    "combos": YES_NO,
    "set_exchange": YES_NO,
    "straight_hit": YES_NO,
    "ace": ("plain", "recall"),
    "king": ("plain", "ban_rank", "lock_suit", "tax", "choose"),
    "stuck_draw": ("one", "match"),
    "queen": ("plain", "exchange"),
    "jack": ("plain", "tutor"),
    "jokers": (0, 2),
    "start_search": ("rank_major", "suit_major"),
    "first_card": ("forced", "free_single"),
    "start_effect": ("fires", "none"),
    "connection": ("hub_gap", "virtual_card", "suit_only"),
    "hub_when_no_start_card": ("stays", "off"),
    "combo_gap": ("min", "max", "sum"),
    "gap_order": ("before_effects", "after_effects"),
    "short_stock": ("draw_what_is_left", "play_illegal"),
    "voluntary_pass": ("no", "yes_draw_1", "yes_free"),
    "stuck_target": ("max_owner", "min_owner", "latest_lock"),
    "play_after_stuck_draw": YES_NO,
    "exchange_short_hand": ("as_many_as_possible", "skip"),
    "limit_value": (None, *range(6, 15)),
    "limit_when": ("immediate", "own_turn_end", "any_turn_end", "round_end"),
    "joker_pair_own_turn_grace": YES_NO,
    "limit_batch": ("after_each_card", "after_each_draw_batch"),
    "q_transient_counts": YES_NO,
    "effects_after_self_elimination": ("dropped", "resolved"),
    "eliminated_hand": ("to_table", "out_of_game", "into_stock"),
    "eliminated_jokers": ("exiled", "into_stock"),
    "laid_cards_recallable": YES_NO,
    "lock_of_eliminated": ("lifted", "stays"),
    "ace_may_take_current_play": YES_NO,
    "ace_receiver": ("any_active", "opponents", "self"),
    "ace_multi_receivers": ("distinct_if_possible", "independent"),
    "ace_may_take_start_card": YES_NO,
    "ace_recall_lifts_lock": YES_NO,
    "complete_immune": YES_NO,
    "lock_release_by": ("any_play_with_suit", "single_only"),
    "q_empty_stock": ("return_as_many_as_drawn", "must_return"),
    "q_return_order": ("chooser", "random"),
    "j_reveal": ("hidden", "shown"),
    "win_check": ("after_effects", "after_cost", "on_empty"),
    "joker_only_loss": ("at_turn_start", "never", "also_when_hit"),
    "joker_count": ("after_play", "before_play"),
    "black_joker_scope": ("active_players", "all"),
    "jokers_lift_locks": YES_NO,
    "joker_pair_is_also_set": YES_NO,
    "single_joker_with_both_held": ("allowed", "pair_forced"),
    "jp_values": ("v1.0", "v1.1"),
    "jp_order": ("from_player", "from_next"),
    "jp_scale_with_limit": ("absolute", "relative"),
    "multi_effect_scaling": ("per_card", "once"),
    "effect_order": ("type_k_q_j_a", "type_a_k_q_j"),
    "survivor_wins": ("yes", "must_still_go_out"),
    "drawn_rule": ("idle_cycle", "all_stuck_even_with_stock"),
    "direction": ("clockwise", "counter"),
    "hand_size": range(4, 9),
    "continue_for_places": YES_NO,
    "set_with_locked_member": ("illegal", "allowed"),
    "ban_duration": ("until_owner_plays_that_rank", "one_round", "until_next_k", "forever"),
    "ban_owner_exempt": YES_NO,
    "ban_no_connector": ("unplayable", "hub_anyway"),
    "ban_lifted_by": ("owner_eliminated_or_k_recalled", "nothing"),
    "max_turns": range(1, 1_000_000),
}
"""The toggles of a log, each with every value it may have (yes/no for booleans, words in lower case)."""


class _GameOver(Exception):
    """The game has ended: the outcome, and the winner if there is one."""

    def __init__(self, outcome: str, winner: int | None = None) -> None:
        super().__init__(outcome)
        self.outcome = outcome
        self.winner = winner


class _TurnOver(Exception):
    """The player at turn is out: nothing more of this turn happens before its end."""


def check(lines: Lines) -> None:
    """Replay one game's log (jsonl lines or parsed objects) against the rules.

    Raises:
        Disagreement: at the first difference between the log and the rules.
    """
    _Referee(lines).replay()


def is_run(cards: Collection[str]) -> bool:
    """Whether a legal play of regular cards is a straight (else it is a single or a set)."""
    return len(cards) > 1 and len({SUIT[c] for c in cards}) == 1


class _Referee:
    """The state of one game, and the rules as methods that consume the log."""

    def __init__(self, lines: Lines) -> None:
        self.log = Log(lines)
        self.table: set[str] = set()
        self.exiled: set[str] = set()
        self.removed: set[str] = set()
        self.limbo: set[str] = set()  # cards between two places: inside an exchange, Queens or a Joker pair
        self.laid: set[str] = set()  # cards laid out on the table by eliminations
        self.complete: set[str] = set()
        self.locks: dict[str, tuple[int, str]] = {}  # suit -> (owner, "lock" or "tax"), the latest last
        self.bans: list[Ban] = []
        self.new_bans: list[Ban] = []  # those that the play of this turn has made
        self.finished: list[int] = []  # seats that went out, in order of time
        self.moments: list[list[int]] = []  # seats eliminated together, in order of time
        self.start_rank = 0
        self.turn = 0
        self.idle = 0
        self.passes = 0
        self.acted = False  # something happened in this turn that breaks a row of idle ones
        self.passed = False
        self.grace = False

    # ---------------------------------------------------------------- log and invariants

    def take(self, kind: str, *keys: str) -> dict[str, Any]:
        self.check_invariants()
        return self.log.take(kind, *keys)

    def expect(self, kind: str, /, **fields: object) -> None:
        self.check_invariants()
        self.log.expect(kind, **fields)

    def check_invariants(self) -> None:
        places = (self.table, self.stock, self.exiled, self.removed, self.limbo, *self.hands)
        self.log.demand(
            sum(map(len, places)) == len(self.deck) and set().union(*places) == self.deck,
            "every card is in exactly one place",
        )
        self.log.demand(self.table.isdisjoint(JOKERS), "no Joker on the table")
        outside = set(range(self.seats)) - self.active
        self.log.demand(not any(self.hands[q] for q in outside), "a seat that is out holds no cards")
        for suit in self.complete:
            self.log.demand(len(self.ranks_out(suit)) == 13, "a complete suit never loses a card")
        self.check_locks()
        self.check_bans()

    def check_locks(self) -> None:
        eliminated = set(itertools.chain(*self.moments))
        owners = self.active | eliminated if self.toggles["lock_of_eliminated"] == "stays" else self.active
        for suit, (owner, _) in self.locks.items():
            self.log.demand(owner in owners, "a lock's owner is active")
            recalled = self.toggles["ace_recall_lifts_lock"] and CARD[suit, KING] not in self.table
            self.log.demand(not recalled, "a lock's King is on the table")
            self.log.demand(not self.is_immune(suit), "a complete suit is not locked")

    def check_bans(self) -> None:
        self.log.demand(len({king for _, _, king in self.bans}) == len(self.bans), "one ban a King")
        if self.toggles["ban_lifted_by"] != "nothing":
            self.log.demand(self.active.issuperset(q for _, q, _ in self.bans), "a ban's owner is active")
            self.log.demand(self.table.issuperset(k for _, _, k in self.bans), "a ban's King is on the table")

    def check_decision(self) -> None:
        """At every decision under `immediate` nobody is over the limit (unless the deal itself was)."""
        if self.limit is not None and self.toggles["hand_size"] <= self.limit:
            over = any(map(self.is_over_now, self.active))
            self.log.demand(not over, "immediate: nobody is over the limit")

    # ---------------------------------------------------------------- opening

    def replay(self) -> None:
        self.read_header()
        self.read_deal()
        try:
            while True:
                self.play_turn()
        except _GameOver as over:
            self.read_end(over)

    def read_header(self) -> None:
        event = self.log.read_header("paijie", range(2, 9))
        self.seats = event["seats"]
        self.toggles = self.log.read_toggles(event["toggles"], TOGGLES, {})
        self.limit: int | None = self.toggles["limit_value"]
        self.deck = frozenset(CARD.values()) | frozenset(JOKERS if self.toggles["jokers"] else ())
        if (dealt := self.toggles["hand_size"] * self.seats) >= len(self.deck):
            self.log.fail("at least one card left after the deal", f"{dealt} cards in hands")

    def read_deal(self) -> None:
        event = self.log.take("deal", "hands", "stock", "first")
        hands, stock = event["hands"], event["stock"]
        self.log.check_hands(hands, stock, self.deck, [self.toggles["hand_size"]] * self.seats)
        self.hands: list[set[str]] = [set(hand) for hand in hands]
        self.stock: list[str] = list(stock)
        self.active = set(range(self.seats))
        self.start_card, self.first = self.search_start()
        self.player = self.first
        if repr(event["first"]) != repr(self.first):
            self.log.fail(f"first seat {self.first}, who holds {self.start_card}", event["first"])

    def search_start(self) -> tuple[str, int]:
        if self.toggles["start_search"] == "suit_major":
            order = [CARD[suit, rank] for suit in SUITS for rank in START_SEARCH]
        else:
            order = [CARD[suit, rank] for rank in START_SEARCH for suit in SUITS]
        holder = {card: seat for seat, hand in enumerate(self.hands) for card in hand}
        card = next(card for card in order if card in holder)  # hands always hold some regular card
        return card, holder[card]

    # ---------------------------------------------------------------- what may be played, and its price

    def ranks_out(self, suit: str) -> list[int]:
        return [rank for rank in range(1, 14) if CARD[suit, rank] in self.table]

    def is_locked(self, seat: int, card: str) -> bool:
        """Whether somebody else's lock keeps the seat from playing this regular card."""
        owner, kind = self.locks.get(SUIT[card], (seat, "lock"))
        return kind == "lock" and owner != seat

    def is_banned(self, seat: int, card: str) -> bool:
        """Whether a ban keeps the seat from playing this regular card."""
        exempt = self.toggles["ban_owner_exempt"]
        return any(rank == RANK[card] and not (exempt and q == seat) for rank, q, _ in self.bans)

    def candidates(self, seat: int) -> list[frozenset[str]]:
        """The plays by shape alone: singles, sets, straights, Jokers, of cards that are not blocked."""
        allowed = {card for card in self.hands[seat] if card in SUIT and not self.is_banned(seat, card)}
        free = {card for card in allowed if not self.is_locked(seat, card)}
        plays = [*self.joker_plays(seat), *(frozenset((card,)) for card in free)]
        if self.toggles["combos"]:
            with_locked = self.toggles["set_with_locked_member"] == "allowed"
            sets = self.sets_of(self.without_start_rank(allowed if with_locked else free))
            plays += [cards for cards in sets if not cards.isdisjoint(free)]
            plays += self.straights_of(self.without_start_rank(free))
        return plays

    def without_start_rank(self, cards: set[str]) -> set[str]:
        return {card for card in cards if RANK[card] != self.start_rank}

    def joker_plays(self, seat: int) -> list[frozenset[str]]:
        jokers = [card for card in JOKERS if card in self.hands[seat]]
        singles = [frozenset((card,)) for card in jokers]
        if len(jokers) < 2:
            return singles
        forced = self.toggles["single_joker_with_both_held"] == "pair_forced"
        return [frozenset(jokers)] if forced else [*singles, frozenset(jokers)]

    def sets_of(self, cards: set[str]) -> list[frozenset[str]]:
        plays: list[frozenset[str]] = []
        for rank in {RANK[card] for card in cards}:
            same = [card for card in cards if RANK[card] == rank]
            for size in range(2, len(same) + 1):
                plays += map(frozenset, itertools.combinations(same, size))
        return plays

    def straights_of(self, cards: set[str]) -> list[frozenset[str]]:
        plays: list[frozenset[str]] = []
        for card in cards:
            run = [card]
            while (longer := CARD.get((SUIT[card], RANK[card] + len(run)))) in cards:
                run.append(longer)
                plays.append(frozenset(run))
        return plays

    def hub_is_on(self) -> bool:
        """Whether the start rank connects: it is not banned and, if that is asked for, lies out somewhere."""
        if any(rank == self.start_rank for rank, _, _ in self.bans):
            return False
        lies_out = any(RANK[card] == self.start_rank for card in self.table)
        return lies_out or self.toggles["hub_when_no_start_card"] == "stays"

    def member_gap(self, card: str) -> float:
        suit, rank = SUIT[card], RANK[card]
        if rank == self.start_rank:
            return 0
        banned = {r for r, _, _ in self.bans}
        connection = self.toggles["connection"]
        hub = abs(rank - self.start_rank) - (connection == "virtual_card")
        steps = [abs(rank - out) - 1 for out in self.ranks_out(suit) if out not in banned]
        if self.hub_is_on() and not (connection == "suit_only" and steps):
            steps.append(hub)
        if not steps and self.start_rank in banned:
            return hub if self.toggles["ban_no_connector"] == "hub_anyway" else math.inf
        gap = min(steps, default=abs(rank - self.start_rank))
        near = {CARD.get((suit, rank - 1)), CARD.get((suit, rank + 1))} & self.table
        self.log.demand(0 <= gap <= 12, "a gap is 0 to 12")
        self.log.demand(gap == 0 or not near or bool(self.bans), "a card beside one on the table has gap 0")
        return gap

    def gap(self, cards: frozenset[str]) -> float:
        """The gap of a play before it is placed. The first play and Jokers cost nothing."""
        if self.turn == 1 or not cards.isdisjoint(JOKERS):
            return 0
        gaps = [self.member_gap(card) for card in cards]
        if self.toggles["combo_gap"] == "sum":
            return sum(gaps)
        return min(gaps) if self.toggles["combo_gap"] == "min" else max(gaps)

    def tax(self, seat: int, cards: Collection[str]) -> int:
        taxed = [suit for suit, (owner, kind) in self.locks.items() if kind == "tax" and owner != seat]
        return sum(suit in taxed for suit in {SUIT[card] for card in cards if card in SUIT})

    def plays(self, seat: int) -> list[frozenset[str]]:
        """Every legal play of the seat at turn."""
        if self.turn == 1:
            free = self.toggles["first_card"] == "free_single"
            cards = self.hands[seat] & SUIT.keys() if free else {self.start_card}
            return [frozenset((card,)) for card in cards]
        plays = self.candidates(seat)
        if self.toggles["king"] == "ban_rank":
            plays = [cards for cards in plays if self.gap(cards) < math.inf]
        if self.toggles["short_stock"] == "play_illegal":
            plays = [cards for cards in plays if self.gap(cards) + self.tax(seat, cards) <= len(self.stock)]
        return plays

    # ---------------------------------------------------------------- a turn

    def from_seat(self, seat: int) -> list[int]:
        """All seats in the order of play, from this one."""
        way = 1 if self.toggles["direction"] == "clockwise" else -1
        return [(seat + way * step) % self.seats for step in range(self.seats)]

    def others(self, seat: int) -> list[int]:
        """The other active seats in the order of play, the next one first."""
        return [q for q in self.from_seat(seat)[1:] if q in self.active]

    def play_turn(self) -> None:
        seat = self.player
        if self.toggles["ban_duration"] == "one_round":
            self.lift_bans([ban for ban in self.bans if ban[1] == seat], "round_over")
        self.turn += 1
        self.acted = self.passed = self.grace = False
        with contextlib.suppress(_TurnOver):
            self.activate(seat)
        self.end_turn(seat)

    def activate(self, seat: int) -> None:
        lone = self.has_lone_joker(seat) and self.toggles["joker_only_loss"] != "never"
        plays = [] if lone else self.plays(seat)
        may_pass = bool(plays) and self.turn > 1 and self.toggles["voluntary_pass"] != "no"
        self.read_turn_line(seat, {*plays, PASS} if may_pass else set(plays))
        if lone:
            self.eliminate([seat], "joker_only")
        elif not plays:
            self.be_stuck(seat)
        elif may_pass and self.log.peek() == "pass":
            self.expect("pass", seat=seat)
            self.passed = True
            self.draw(seat, self.toggles["voluntary_pass"] == "yes_draw_1", "pass")
        else:
            self.play(seat, plays)

    def be_stuck(self, seat: int) -> None:
        """The stuck draw; where the toggle says so, a play may follow it."""
        self.draw(seat, self.stuck_cards(seat), "stuck")
        if not self.toggles["play_after_stuck_draw"] or seat not in self.active:
            return
        if plays := self.plays(seat):
            self.read_turn_line(seat, {*plays, PASS})
            if self.log.peek() == "pass":
                self.expect("pass", seat=seat)
            else:
                self.play(seat, plays)

    def read_turn_line(self, seat: int, offered: set[frozenset[str]]) -> None:
        event = self.take("turn", "turn", "seat", "legal")
        if repr((event["turn"], event["seat"])) != repr((self.turn, seat)):
            self.log.fail(f"turn {self.turn} of seat {seat}", f"turn {event['turn']} of seat {event['seat']}")
        legal = event["legal"]
        if not isinstance(legal, list) or not all(isinstance(move, list) for move in legal):
            self.log.fail("legal moves as lists of cards", legal)
        moves = [frozenset(move) for move in legal]
        if any(len(move) != len(cards) for move, cards in zip(moves, legal, strict=True)):
            self.log.fail("no card twice in a move", legal)
        if len(set(moves)) != len(moves):
            self.log.fail("no move twice", legal)
        if set(moves) != offered:
            missing = sorted(map(sorted, offered - set(moves)))
            extra = sorted(map(sorted, set(moves) - offered))
            self.log.fail(f"the legal moves of seat {seat}, also {missing}", f"illegal ones: {extra}")
        self.check_decision()

    def has_lone_joker(self, seat: int) -> bool:
        return len(self.hands[seat]) == 1 and not self.hands[seat].isdisjoint(JOKERS)

    def stuck_cards(self, seat: int) -> int:
        """How many cards a stuck seat draws: up to the hand size of an owner whose lock blocks it."""
        suits = {SUIT[card] for card in self.hands[seat] if card in SUIT and self.is_locked(seat, card)}
        owners = [owner for suit, (owner, _) in self.locks.items() if suit in suits]
        if self.toggles["stuck_draw"] == "one" or not owners:
            return 1
        sizes = [len(self.hands[owner]) for owner in owners]
        target = {"max_owner": max(sizes), "min_owner": min(sizes), "latest_lock": sizes[-1]}
        return max(1, target[self.toggles["stuck_target"]] - len(self.hands[seat]))

    def play(self, seat: int, plays: list[frozenset[str]]) -> None:
        event = self.take("play", "seat", "cards", "gap")
        cards = frozenset(event["cards"])
        if repr(event["seat"]) != repr(seat) or len(cards) != len(event["cards"]) or cards not in plays:
            self.log.fail(f"one of the legal plays of seat {seat}", event)
        gap, tax = self.gap(cards), self.tax(seat, cards)
        if repr(event["gap"]) != repr(gap):
            self.log.fail(f"gap {gap} for {sorted(cards)}", event)
        self.acted = True
        self.new_bans = []
        if cards.isdisjoint(JOKERS):
            self.play_regular(seat, cards, int(gap), tax)
        else:
            self.play_jokers(seat, cards)

    def play_regular(self, seat: int, cards: frozenset[str], gap: int, tax: int) -> None:
        """Place the cards, pay for them, then their effects; checks the hand's promised change of size."""
        if self.turn == 1:
            (self.start_card,) = cards
            self.start_rank = RANK[self.start_card]
        if any(RANK[card] == self.start_rank for card in cards):
            self.log.demand(len(cards) == 1 and gap == 0, "start-rank cards go singly and cost 0")
        before = len(self.hands[seat])
        self.place(seat, cards)
        if self.toggles["win_check"] == "on_empty":
            self.test_win(seat)
        if self.toggles["gap_order"] == "before_effects":
            paid = self.pay(seat, cards, gap, tax)
            self.apply_effects(seat, cards)
        else:
            self.apply_effects(seat, cards)
            paid = self.pay(seat, cards, gap, tax)
        free_return = self.toggles["q_empty_stock"] == "must_return"
        if seat in self.active and not free_return and not {1, JACK} & {RANK[card] for card in cards}:
            change = paid - len(cards)
            self.log.demand(len(self.hands[seat]) - before == change, f"the hand changes by {change}")

    def place(self, seat: int, cards: frozenset[str]) -> None:
        """Put a play on the table: own locks end, suits may become complete."""
        self.hands[seat] -= cards
        self.table |= cards
        if len(cards) == 1 or self.toggles["lock_release_by"] == "any_play_with_suit":
            suits = {SUIT[card] for card in cards}
            self.lift_locks([suit for suit in self.locks_of(seat) if suit in suits], "owner_played")
        self.complete_suits()

    def pay(self, seat: int, cards: frozenset[str], gap: int, tax: int) -> int:
        """Draw for a play, which may end bans of the player. Returns how much the stock could pay."""
        paid = min(gap + tax, len(self.stock))
        self.draw(seat, gap, "gap")
        self.draw(seat, tax, "tax")
        if self.toggles["ban_duration"] == "until_owner_plays_that_rank" and seat in self.active:
            ranks = {RANK[card] for card in cards}
            old = [ban for ban in self.bans if ban not in self.new_bans]
            self.lift_bans([ban for ban in old if ban[1] == seat and ban[0] in ranks], "owner_played")
        if self.toggles["win_check"] == "after_cost":
            self.test_win(seat)
        return paid

    def is_immune(self, suit: str) -> bool:
        return suit in self.complete and self.toggles["complete_immune"]

    def complete_suits(self) -> None:
        """Mark and read the suits that have just become complete."""
        for suit in SUITS:
            if suit not in self.complete and len(self.ranks_out(suit)) == 13:
                self.complete.add(suit)
                if self.is_immune(suit):
                    self.lift_locks([suit] if suit in self.locks else [], "complete")
                self.expect("complete", suit=suit)

    def locks_of(self, seat: int) -> list[str]:
        return [suit for suit in SUITS if suit in self.locks and self.locks[suit][0] == seat]

    def lift_locks(self, suits: list[str], reason: str) -> None:
        """End these locks and taxes at one moment."""
        for suit in suits:
            del self.locks[suit]
        for suit in suits:
            self.expect("unlock", suit=suit, reason=reason)

    def test_win(self, seat: int) -> None:
        """A win test inside a turn: who goes out does nothing more in it."""
        if self.goes_out(seat):
            raise _TurnOver

    def goes_out(self, seat: int) -> bool:
        """Whether the seat's hand is empty: then it has finished, which may end the game."""
        if seat not in self.active or self.hands[seat]:
            return False
        self.expect("finish", seat=seat)
        self.finished.append(seat)
        if self.toggles["continue_for_places"]:
            self.leave(seat, "owner_finished", locks_end=True)
        self.end_if_decided()
        return True

    def draw(self, seat: int, count: int, reason: str) -> None:
        """Draws from the stock's top, unless out; `immediate` tests the hand card by card or once."""
        if seat not in self.active:
            return
        tested = reason != "queen" or self.toggles["q_transient_counts"]
        stops = tested and self.toggles["limit_batch"] == "after_each_card"
        drawn: list[str] = []
        while len(drawn) < count and self.stock:
            drawn.append(self.stock.pop(0))
            self.hands[seat].add(drawn[-1])
            if stops and self.is_over_now(seat):
                break
        if drawn:
            self.acted = self.acted or self.toggles["drawn_rule"] == "idle_cycle"
            self.expect("draw", seat=seat, cards=drawn, reason=reason)
            if tested:
                self.test_limit_now([seat])

    def is_over_now(self, seat: int) -> bool:
        """Whether the limit of `immediate` is exceeded."""
        limit = self.limit if self.toggles["limit_when"] == "immediate" else None
        return limit is not None and len(self.hands[seat]) > limit

    def test_limit_now(self, gained: Collection[int]) -> None:
        """Under `immediate`: judge the seats that have just gained cards, all at one moment."""
        gaining = [q for q in self.from_seat(self.player) if q in gained]
        self.judge(gaining, "limit", self.is_over_now)
        dropped = self.toggles["effects_after_self_elimination"] == "dropped"
        if dropped and self.player not in self.active:
            raise _TurnOver

    # ---------------------------------------------------------------- effects

    def choose(self, seat: int, what: str, legal: Collection[Any]) -> Any:
        """Read a player's inner decision among these choices."""
        event = self.take("choose", "seat", "what", "value", "legal")
        if what != "queen_return" or self.toggles["q_transient_counts"]:
            self.check_decision()
        if repr((event["seat"], event["what"])) != repr((seat, what)):
            self.log.fail(f"the choice {what} of seat {seat}", event)
        self.log.same_set(f"the choices of {what}", frozenset(legal), event["legal"])
        if repr(event["value"]) not in map(repr, legal):
            self.log.fail(f"a value among {sorted(legal)}", event["value"])
        return event["value"]

    def count(self, cards: Collection[str], rank: int) -> int:
        """How many times the effect of this rank happens."""
        count = sum(RANK[card] == rank for card in cards)
        return min(count, 1) if self.toggles["multi_effect_scaling"] == "once" else count

    def apply_effects(self, seat: int, cards: frozenset[str]) -> None:
        """All effects of a play. A player eliminated on the way still does what needs no hand."""
        if self.turn == 1 and self.toggles["start_effect"] == "none":
            return
        self.apply_type(seat, cards)
        effects = {"k": self.apply_kings, "q": self.apply_queens, "j": self.apply_jacks, "a": self.apply_aces}
        for letter in self.toggles["effect_order"].removeprefix("type_").split("_"):
            effects[letter](seat, cards)

    def apply_type(self, seat: int, cards: frozenset[str]) -> None:
        if not is_run(cards):
            if self.toggles["set_exchange"]:
                self.exchange(seat, len(cards) - 1)
        elif self.toggles["straight_hit"]:
            for q in self.others(seat)[:1]:
                self.draw(q, len(cards) - 1, "straight_hit")

    def exchange(self, seat: int, count: int) -> None:
        hand = self.hands[seat]
        if count > len(hand):
            count = 0 if self.toggles["exchange_short_hand"] == "skip" else len(hand)
        if not count:
            return
        chosen: set[str] = set()
        for _ in range(count):
            chosen.add(self.choose(seat, "exchange_card", hand))
            hand -= chosen
            self.limbo |= chosen
        self.limbo -= chosen
        self.put(seat, chosen, "stock_shuffled")
        self.draw(seat, count, "exchange")

    def put(self, seat: int, cards: Collection[str], where: str) -> None:
        """Cards of the seat go to the table, out of the game or into the stock, which is then shuffled."""
        if where == "stock_shuffled":
            self.stock += cards
        else:
            {"table": self.table, "removed": self.removed, "exiled": self.exiled}[where].update(cards)
        self.expect("put", seat=seat, cards=frozenset(cards), where=where)
        if where == "stock_shuffled":
            self.shuffle()

    def shuffle(self) -> None:
        event = self.take("shuffle", "stock")
        self.log.same_set("the shuffled stock", self.stock, event["stock"])
        self.stock = list(event["stock"])

    def apply_kings(self, seat: int, cards: frozenset[str]) -> None:
        mode = self.toggles["king"]
        kings = [suit for suit in SUITS if CARD[suit, KING] in cards and not self.is_immune(suit)]
        if mode == "plain" or not kings or seat not in self.active:
            return
        if mode == "ban_rank" and self.toggles["ban_duration"] == "until_next_k":
            self.lift_bans(list(self.bans), "next_king")
        for suit in kings[:1] if self.toggles["multi_effect_scaling"] == "once" else kings:
            if mode == "ban_rank":
                self.ban(seat, CARD[suit, KING])
            else:
                kind = self.choose(seat, "king_mode", ("lock", "tax")) if mode == "choose" else mode
                self.lock(seat, suit, "tax" if kind == "tax" else "lock")

    def ban(self, seat: int, king: str) -> None:
        """Name a rank; a ban that this King still has is replaced."""
        rank = self.choose(seat, "king_rank", range(1, 14))
        self.lift_bans([ban for ban in self.bans if ban[2] == king], "next_king")
        self.expect("ban", rank=rank, seat=seat, card=king)
        self.bans.append((rank, seat, king))
        self.new_bans.append((rank, seat, king))

    def lock(self, seat: int, suit: str, kind: str) -> None:
        self.expect("lock", suit=suit, seat=seat, **({"kind": kind} if kind == "tax" else {}))
        self.locks.pop(suit, None)  # a lock without its King may still be there: the new one is the latest
        self.locks[suit] = (seat, kind)

    def lift_bans(self, lifted: list[Ban], reason: str) -> None:
        for ban in lifted:
            self.bans.remove(ban)
        self.read_unban_lines(lifted, reason)

    def read_unban_lines(self, lifted: list[Ban], reason: str) -> None:
        """A line for each of these bans, in any order."""
        waiting = list(lifted)
        while waiting:
            event = self.take("unban", "rank", "seat", "card", "reason")
            ban = (event["rank"], event["seat"], event["card"])
            if ban not in waiting or event["reason"] != reason:
                self.log.fail(f"the end ({reason}) of one of the bans {waiting}", event)
            waiting.remove(ban)

    def apply_queens(self, seat: int, cards: frozenset[str]) -> None:
        count = self.count(cards, QUEEN) if self.toggles["queen"] == "exchange" else 0
        before = len(self.stock)
        self.draw(seat, count, "queen")
        drawn = before - len(self.stock)
        returned = count if self.toggles["q_empty_stock"] == "must_return" else drawn
        for _ in range(min(returned, len(self.hands[seat]))):
            card = self.choose(seat, "queen_return", self.hands[seat])
            self.hands[seat].remove(card)
            self.limbo.add(card)
            if self.toggles["q_return_order"] == "chooser":
                self.put_on_top(seat)
        if self.limbo:
            self.put_on_top(seat)

    def put_on_top(self, seat: int) -> None:
        """The cards in limbo go on top of the stock in the order of the line, the last one uppermost."""
        event = self.take("put", "seat", "cards", "where")
        self.log.same_set("the cards returned", self.limbo, event["cards"])
        if repr((event["seat"], event["where"])) != repr((seat, "stock_top")):
            self.log.fail(f"cards from seat {seat} to stock_top", event)
        self.limbo.clear()
        self.stock[:0] = reversed(event["cards"])

    def apply_jacks(self, seat: int, cards: frozenset[str]) -> None:
        count = self.count(cards, JACK) if self.toggles["jack"] == "tutor" else 0
        taken = 0
        while taken < count and self.stock and seat in self.active:
            card = self.choose(seat, "jack_take", self.stock)
            self.stock.remove(card)
            self.hands[seat].add(card)
            taken += 1
            self.expect("draw", seat=seat, cards=[card], reason="jack")
            self.test_limit_now([seat])
        if taken:
            self.shuffle()

    def apply_aces(self, seat: int, cards: frozenset[str]) -> None:
        given: set[int] = set()
        for _ in range(self.count(cards, 1) if self.toggles["ace"] == "recall" else 0):
            eligible = self.ace_targets(cards)
            seats = self.receivers(seat, given)
            if not eligible or not seats:
                return
            card = self.choose(seat, "ace_card", eligible)
            to = self.choose(seat, "ace_receiver", seats)
            given.add(to)
            self.recall(card, to)
            self.test_limit_now([to])

    def ace_targets(self, played: frozenset[str]) -> set[str]:
        targets = {card for card in self.table if not self.is_immune(SUIT[card])}
        if not self.toggles["ace_may_take_current_play"]:
            targets -= played
        if not self.toggles["ace_may_take_start_card"]:
            targets.discard(self.start_card)
        return targets if self.toggles["laid_cards_recallable"] else targets - self.laid

    def receivers(self, seat: int, given: set[int]) -> set[int]:
        seats = {
            "any_active": self.active,
            "opponents": self.active - {seat},
            "self": self.active & {seat},
        }[self.toggles["ace_receiver"]]
        if self.toggles["ace_multi_receivers"] == "distinct_if_possible":
            return seats - given or seats
        return seats

    def recall(self, card: str, to: int) -> None:
        self.expect("recall", card=card, to=to)
        self.table.remove(card)
        self.hands[to].add(card)
        suit = SUIT[card]
        self.complete.discard(suit)
        if RANK[card] == KING and suit in self.locks and self.toggles["ace_recall_lifts_lock"]:
            self.lift_locks([suit], "king_recalled")
        if self.toggles["ban_lifted_by"] != "nothing":
            self.lift_bans([ban for ban in self.bans if ban[2] == card], "king_recalled")

    # ---------------------------------------------------------------- Jokers

    def play_jokers(self, seat: int, cards: frozenset[str]) -> None:
        self.hands[seat] -= cards
        self.limbo |= cards
        if self.toggles["jokers_lift_locks"]:
            self.lift_locks([suit for suit in SUITS if suit in self.locks], "joker")
        if len(cards) == 2:
            if all(self.toggles[key] for key in ("joker_pair_is_also_set", "set_exchange", "combos")):
                self.exchange(seat, 1)
            self.redeal_pair(seat)
        else:
            self.limbo -= cards
            self.put(seat, cards, "exiled")
            self.redeal_single(seat, "BJ" in cards)
        self.test_limit_now(self.active)

    def read_redeal(self, kind: str, pool: Collection[str]) -> tuple[list[set[str]], list[str], list[str]]:
        """The redeal line: all hands, the stock and the flips; hands and stock together are the pool."""
        event = self.take("redeal", "kind", "hands", "flips", "stock")
        hands, stock = event["hands"], event["stock"]
        if event["kind"] != kind or len(hands) != self.seats:
            self.log.fail(f"a redeal of kind {kind} with {self.seats} hands", event)
        self.log.same_set("the redealt cards", pool, [c for hand in (*hands, stock) for c in hand])
        self.limbo.clear()
        return [set(hand) for hand in hands], stock, event["flips"]

    def adopt_redeal(self, hands: list[set[str]], stock: list[str], sizes: Mapping[int, int]) -> None:
        wanted = [sizes.get(q, 0) for q in range(self.seats)]
        if [len(hand) for hand in hands] != wanted:
            self.log.fail(f"hands of {wanted} cards", [len(hand) for hand in hands])
        self.hands, self.stock = hands, list(stock)

    def all_in_hands(self) -> set[str]:
        return set().union(*self.hands)

    def redeal_single(self, seat: int, black: bool) -> None:
        sizes = {q: len(self.hands[q]) for q in (seat, *self.others(seat))}
        extra = self.toggles["joker_count"] == "before_play"
        if black:
            self.redeal_black(seat, sizes, extra)
        else:
            sizes[seat] += extra
            self.redeal_red(sizes)

    def redeal_black(self, seat: int, sizes: dict[int, int], extra: bool) -> None:
        """Hands pooled and dealt back; with `extra` the player then draws one from the untouched stock."""
        hands, stock, flips = self.read_redeal("black_joker", self.all_in_hands() | set(self.stock))
        top, rest = self.stock[: int(extra)], self.stock[int(extra) :]
        sizes[seat] += len(top)
        if flips or stock != rest or not set(top) <= hands[seat]:
            self.log.fail(f"no flips, {top} for seat {seat}, the stock {rest}", (flips, hands[seat], stock))
        self.adopt_redeal(hands, stock, sizes)

    def redeal_red(self, sizes: dict[int, int]) -> None:
        """Hands and stock shuffled together; each seat in order its size, the last ones what is left."""
        pool = self.all_in_hands() | set(self.stock)
        hands, stock, flips = self.read_redeal("red_joker", pool)
        if flips:
            self.log.fail("no flips", flips)
        left = len(pool)
        for q in sizes:
            sizes[q] = min(sizes[q], left)
            left -= sizes[q]
        self.adopt_redeal(hands, stock, sizes)

    def redeal_pair(self, seat: int) -> None:
        """Each seat turns a card that sets its hand size; then one card each while anybody lacks some."""
        others = self.others(seat)
        order = [seat, *others] if self.toggles["jp_order"] == "from_player" else [*others, seat]
        pool = self.all_in_hands() | set(self.stock) | self.limbo
        hands, stock, flips = self.read_redeal("joker_pair", pool)
        turned = order[: len(pool)]
        if len(flips) != len(turned) or any(c not in hands[q] for q, c in zip(turned, flips, strict=True)):
            self.log.fail(f"a flip for each of the seats {turned}, kept in hand", (flips, hands))
        shown = dict(zip(turned, flips, strict=True))
        sizes = dict.fromkeys(turned, 1)
        left = len(pool) - len(turned)
        while left and any(sizes[q] < self.target(shown[q]) for q in turned):
            for q in turned:
                if left and sizes[q] < self.target(shown[q]):
                    sizes[q] += 1
                    left -= 1
        self.adopt_redeal(hands, stock, sizes)
        self.grace = self.toggles["joker_pair_own_turn_grace"] and shown.get(seat) in JOKERS

    def target(self, card: str) -> int:
        """The hand size that a flipped card stands for."""
        old = self.toggles["jp_values"] == "v1.0"
        relative = self.toggles["jp_scale_with_limit"] == "relative" and self.limit is not None
        limit = self.limit if relative and self.limit is not None else 10
        most = limit - 1 if old else limit
        if card in JOKERS:
            return most + 1
        if not old and RANK[card] in (1, JACK, QUEEN, KING):
            return most
        return min(RANK[card], most)

    # ---------------------------------------------------------------- elimination and ends

    def eliminate(self, seats: list[int], reason: str) -> None:
        """These seats lose at one moment."""
        self.acted = True
        self.moments.append(seats)
        for seat in seats:
            self.expect("eliminate", seat=seat, reason=reason)
            self.lay_out(seat)
            self.leave(seat, "owner_eliminated", locks_end=self.toggles["lock_of_eliminated"] == "lifted")
            self.complete_suits()
        self.end_if_decided()

    def lay_out(self, seat: int) -> None:
        """The cards of an eliminated hand go where the toggles say."""
        regular = {"to_table": "table", "out_of_game": "removed", "into_stock": "stock_shuffled"}
        joker = {"exiled": "exiled", "into_stock": "stock_shuffled"}
        to = dict.fromkeys(CARD.values(), regular[self.toggles["eliminated_hand"]])
        to |= dict.fromkeys(JOKERS, joker[self.toggles["eliminated_jokers"]])
        hand = self.hands[seat]
        for where in ("table", "removed", "stock_shuffled", "exiled"):
            if cards := {card for card in hand if to[card] == where}:
                hand -= cards
                self.put(seat, cards, where)
                if where == "table":
                    self.laid |= cards

    def leave(self, seat: int, reason: str, *, locks_end: bool) -> None:
        """The seat is out of play; its locks and bans may end with that."""
        self.active.remove(seat)
        bans = [ban for ban in self.bans if ban[1] == seat and self.toggles["ban_lifted_by"] != "nothing"]
        self.bans = [ban for ban in self.bans if ban not in bans]
        self.lift_locks(self.locks_of(seat) if locks_end else [], reason)
        self.read_unban_lines(bans, reason)

    def end_if_decided(self) -> None:
        """The game may end at the moment when a seat finishes or is eliminated."""
        if self.finished and (len(self.active) <= 1 or not self.toggles["continue_for_places"]):
            raise _GameOver("win", self.finished[0])
        if len(self.active) == 1 and self.toggles["survivor_wins"] == "yes":
            raise _GameOver("survivor", min(self.active))

    def judged_at_turn_end(self, seat: int) -> list[int]:
        when = self.toggles["limit_when"]
        if when == "own_turn_end":
            return [] if self.grace else [seat]
        if when == "any_turn_end":
            return self.from_seat(seat)
        if when == "round_end":
            stepped = (*self.from_seat(seat)[1:], seat)
            stepped = stepped[: stepped.index(self.next_player(seat)) + 1]
            return self.from_seat(seat) if self.first in stepped else []
        return []

    def end_turn(self, seat: int) -> None:
        self.goes_out(seat)
        if (limit := self.limit) is not None:
            self.judge(self.judged_at_turn_end(seat), "limit", lambda q: len(self.hands[q]) > limit)
        if self.toggles["joker_only_loss"] == "also_when_hit":
            self.judge(self.from_seat(seat), "joker_only", self.has_lone_joker)
        if not self.active:
            raise _GameOver("drawn")
        self.idle = 0 if self.acted else self.idle + 1
        self.passes = self.passes + 1 if self.passed else 0
        if self.passes >= len(self.active):
            raise _GameOver("stalled")
        if self.idle >= len(self.active):
            raise _GameOver("win", self.finished[0]) if self.finished else _GameOver("drawn")
        if self.turn >= self.toggles["max_turns"]:
            raise _GameOver("stalled")
        self.player = self.next_player(seat)

    def next_player(self, seat: int) -> int:
        return (*self.others(seat), seat)[0]

    def judge(self, seats: Iterable[int], reason: str, loses: Callable[[int], bool]) -> None:
        """Eliminate those active seats among these, in this order, that lose at this moment."""
        if losers := [q for q in seats if q in self.active and loses(q)]:
            self.eliminate(losers, reason)

    def read_end(self, over: _GameOver) -> None:
        self.check_ending(over)
        winners = [] if over.winner is None else [over.winner]
        self.expect(
            "end",
            outcome=over.outcome,
            winners=winners,
            losers=[],
            places=self.places(),
            scores=[0] * self.seats,
            turns=self.turn,
        )
        self.log.finish()

    def places(self) -> list[int]:
        """1 + the number of seats that did better: out early, then small hands, then eliminated late."""
        merit = {q: (1, -len(self.hands[q])) for q in self.active}
        merit |= {q: (0, moment) for moment, seats in enumerate(self.moments) for q in seats}
        merit |= {q: (2, -place) for place, q in enumerate(self.finished)}
        return [1 + sum(merit[other] > merit[q] for other in merit) for q in range(self.seats)]

    def check_ending(self, over: _GameOver) -> None:
        """What the rules promise about endings."""
        t = self.toggles
        idle_means_empty = t["voluntary_pass"] != "yes_free" and t["drawn_rule"] == "idle_cycle"
        if over.outcome == "drawn" and self.active and idle_means_empty:
            self.log.demand(not self.stock, "a drawn game has an empty stock")
        plain = all(t[kind] == "plain" for kind in ("ace", "king", "queen", "jack")) and not t["jokers"]
        bound = t["voluntary_pass"] == "no" and t["short_stock"] == "draw_what_is_left"
        if plain and bound and self.limit is None and over.outcome != "stalled":
            self.log.demand(over.outcome == "win", "without effects and limit somebody goes out")
            self.log.demand(t["combos"] or self.turn == len(self.table), "one card a turn reaches the table")
