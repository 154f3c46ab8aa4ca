"""A naive referee for paijie game logs: sets, lists and dicts of card names (RULES.md sections 0, 1, 12).

`check` follows one log line by line. Whatever the rules determine it works out by itself and demands
literally; what chance or a player decides (deal, shuffles, redeals, choices) it checks for being possible,
then adopts. Card lists whose order means nothing are compared as sets. Wherever an order of cards matters
(stock, draws, flips) it is compared exactly.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from typing import Any, NoReturn

SUITS = "SHDC"
RANKS = ("A", "2", "3", "4", "5", "6", "7", "8", "9", "10", "J", "Q", "K")
JACK, QUEEN, KING = 11, 12, 13
CARD = {(suit, rank): suit + name for suit in SUITS for rank, name in enumerate(RANKS, 1)}
SUIT = {card: suit for (suit, _), card in CARD.items()}
RANK = {card: rank for (_, rank), card in CARD.items()}
JOKERS = ("BJ", "RJ")
ORDER = {card: place for place, card in enumerate((*CARD.values(), *JOKERS))}
START_SEARCH = (7, 8, 6, 9, 5, 10, 4, 11, 3, 12, 2, 13, 1)
PASS: frozenset[str] = frozenset()

YES_NO = ("no", "yes")
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
    "first_card": ("forced", "free_single"),
    "connection": ("hub_gap", "virtual_card", "suit_only"),
    "combo_gap": ("min", "max", "sum"),
    "short_stock": ("draw_what_is_left", "play_illegal"),
    "voluntary_pass": ("no", "yes_draw_1", "yes_free"),
    "limit_value": (None, *range(6, 15)),
    "limit_when": ("immediate", "own_turn_end", "any_turn_end", "round_end"),
    "joker_pair_own_turn_grace": YES_NO,
    "eliminated_hand": ("to_table", "out_of_game", "into_stock"),
    "ace_may_take_current_play": YES_NO,
    "ace_receiver": ("any_active", "opponents", "self"),
    "ace_multi_receivers": ("distinct_if_possible", "independent"),
    "q_empty_stock": ("return_as_many_as_drawn", "must_return"),
    "win_check": ("after_effects", "after_cost", "on_empty"),
    "joker_only_loss": ("at_turn_start", "never", "also_when_hit"),
    "joker_count": ("after_play", "before_play"),
    "jp_values": ("v1.0", "v1.1"),
    "jp_scale_with_limit": ("absolute", "relative"),
    "multi_effect_scaling": ("per_card", "once"),
    "survivor_wins": ("yes", "must_still_go_out"),
    "hand_size": range(4, 9),
    "ban_duration": ("until_owner_plays_that_rank", "one_round", "until_next_k", "forever"),
    "ban_no_connector": ("unplayable", "hub_anyway"),
    "max_turns": range(1, 1_000_000),
}
"""Toggles that a log may set, with every value the referee can judge (yes/no for booleans, lower case)."""

FIXED: dict[str, str] = {
    "start_search": "rank_major",
    "start_effect": "fires",
    "hub_when_no_start_card": "stays",
    "gap_order": "before_effects",
    "stuck_target": "max_owner",
    "play_after_stuck_draw": "no",
    "exchange_short_hand": "as_many_as_possible",
    "limit_batch": "after_each_card",
    "q_transient_counts": "yes",
    "effects_after_self_elimination": "dropped",
    "eliminated_jokers": "exiled",
    "laid_cards_recallable": "yes",
    "lock_of_eliminated": "lifted",
    "ace_may_take_start_card": "yes",
    "ace_recall_lifts_lock": "yes",
    "complete_immune": "yes",
    "lock_release_by": "any_play_with_suit",
    "q_return_order": "chooser",
    "j_reveal": "hidden",
    "black_joker_scope": "active_players",
    "jokers_lift_locks": "no",
    "joker_pair_is_also_set": "no",
    "single_joker_with_both_held": "allowed",
    "jp_order": "from_player",
    "effect_order": "type_k_q_j_a",
    "drawn_rule": "idle_cycle",
    "direction": "clockwise",
    "continue_for_places": "no",
    "set_with_locked_member": "illegal",
    "ban_owner_exempt": "yes",
    "ban_lifted_by": "owner_eliminated_or_k_recalled",
}
"""Toggles of the rules that only their default can be judged for."""


class Disagreement(AssertionError):
    """Log and rules differ. The message names the line, what the rules demand and what the log says."""


class _GameOver(Exception):
    """The game has ended: the outcome, and the winner if there is one."""

    def __init__(self, outcome: str, winner: int | None = None) -> None:
        super().__init__(outcome)
        self.outcome = outcome
        self.winner = winner


class _TurnOver(Exception):
    """The player at turn was eliminated: nothing more of this turn happens before its end."""


def check(lines: Iterable[str] | Iterable[Mapping[str, Any]]) -> None:
    """Replay one game's log (jsonl lines or parsed objects) against the rules.

    Raises:
        Disagreement: at the first difference between the log and the rules.
    """
    _Referee(lines).replay()


def is_run(cards: Collection[str]) -> bool:
    """Whether a legal play of regular cards is a straight (else it is a single or a set)."""
    return len(cards) > 1 and len({SUIT[c] for c in cards}) == 1


class _Log:
    """The lines of a log, read one by one and compared with what must stand there."""

    def __init__(self, lines: Iterable[str] | Iterable[Mapping[str, Any]]) -> None:
        self.lines: list[str | Mapping[str, Any]] = list(lines)
        self.number = 0

    def fail(self, expected: object, logged: object) -> NoReturn:
        raise Disagreement(f"line {self.number}: expected {expected}, logged {logged}")

    def peek(self) -> str:
        """The type of the next line, "" after the last one."""
        if self.number == len(self.lines):
            return ""
        return str(self._parsed(self.number).get("type"))

    def _parsed(self, index: int) -> dict[str, Any]:
        line = self.lines[index]
        try:
            event: Any = json.loads(line) if isinstance(line, str) else line
        except ValueError as error:
            raise Disagreement(f"line {index + 1}: expected JSON, logged {line!r} ({error})") from error
        if not isinstance(event, dict):
            raise Disagreement(f"line {index + 1}: expected a JSON object, logged {line!r}")
        return event

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

    def same_set(self, name: str, wanted: frozenset[Any], logged: object) -> None:
        if not isinstance(logged, list) or Counter(map(repr, logged)) != Counter(map(repr, wanted)):
            self.fail(f"{name} = {sorted(wanted)} in any order", repr(logged))

    def cards(self, name: str, logged: object, wanted: Collection[str]) -> list[str]:
        """`logged` as a list of cards that are, in any order, exactly the cards `wanted`."""
        self.same_set(name, frozenset(wanted), logged)
        assert isinstance(logged, list)
        return logged


class _Referee:
    """The state of one game, and the rules as methods that consume the log."""

    def __init__(self, lines: Iterable[str] | Iterable[Mapping[str, Any]]) -> None:
        self.log = _Log(lines)
        self.table: set[str] = set()
        self.exiled: set[str] = set()
        self.removed: set[str] = set()
        self.limbo: set[str] = set()  # cards between two places, inside an exchange or a Joker pair
        self.complete: set[str] = set()
        self.locks: dict[str, tuple[int, str]] = {}  # suit -> (owner, "lock" or "tax")
        self.bans: list[tuple[int, int, str]] = []  # (rank, owner, the King's card)
        self.moments: list[list[int]] = []  # seats eliminated together, in order of time
        self.start_rank = 0
        self.turn = 0
        self.idle = 0
        self.passes = 0
        self.acted = False  # this turn saw a play, a drawn card or an elimination
        self.passed = False
        self.grace = False

    # ---------------------------------------------------------------- log and invariants

    def take(self, kind: str, *keys: str) -> dict[str, Any]:
        self.check_invariants()
        return self.log.take(kind, *keys)

    def expect(self, kind: str, /, **fields: object) -> None:
        self.check_invariants()
        self.log.expect(kind, **fields)

    def demand(self, holds: bool, invariant: str) -> None:
        if not holds:
            self.log.fail(f"the invariant: {invariant}", "a line that breaks it")

    def check_invariants(self) -> None:
        places = (self.table, self.stock, self.exiled, self.removed, self.limbo, *self.hands)
        self.demand(
            sum(map(len, places)) == len(self.deck) and set().union(*places) == self.deck,
            "every card is in exactly one place",
        )
        self.demand(self.table.isdisjoint(JOKERS), "no Joker on the table")
        outside = set(range(self.seats)) - self.active
        self.demand(not any(self.hands[q] for q in outside), "an eliminated seat holds no cards")
        for suit, (owner, _) in self.locks.items():
            self.demand(owner in self.active, "a lock's owner is active")
            self.demand(CARD[suit, KING] in self.table, "a lock's King is on the table")
            self.demand(suit not in self.complete, "a complete suit is not locked")
        for _, owner, king in self.bans:
            self.demand(owner in self.active, "a ban's owner is active")
            self.demand(king in self.table, "a ban's King is on the table")
        for suit in self.complete:
            self.demand(len(self.ranks_out(suit)) == 13, "a complete suit never loses a card")

    def check_decision(self) -> None:
        """At every decision under `immediate` nobody is over the limit (unless the deal itself was)."""
        if self.limit is not None and self.toggles["hand_size"] <= self.limit:
            self.demand(not any(map(self.is_over_now, self.active)), "immediate: nobody is over the limit")

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
        log = self.log
        event = log.take("game", "format", "game", "version", "toggles", "players", "seats", "seed", "index")
        if (event["format"], event["game"]) != (1, "paijie"):
            log.fail("format 1 of the game paijie", event)
        self.seats = event["seats"]
        if type(self.seats) is not int or not 2 <= self.seats <= 8:
            log.fail("2 to 8 seats", self.seats)
        for key in ("seed", "index"):
            if type(event[key]) is not int or event[key] < 0:
                log.fail(f"a whole number as {key}", event[key])
        names = [event["version"], *event["players"]]
        if len(names) != self.seats + 1 or not all(isinstance(name, str) for name in names):
            log.fail("a version and a player for each seat", names)
        self.read_toggles(event["toggles"])
        self.deck = frozenset(CARD.values()) | frozenset(JOKERS if self.toggles["jokers"] else ())
        if (dealt := self.toggles["hand_size"] * self.seats) >= len(self.deck):
            log.fail("at least one card left after the deal", f"{dealt} cards in hands")

    def read_toggles(self, logged: Mapping[str, Any]) -> None:
        toggles = {key: _plain(value) for key, value in logged.items()}
        for key, value in toggles.items():
            if key in FIXED and value == FIXED[key]:
                continue
            if key not in TOGGLES or not any(value == v and type(value) is type(v) for v in TOGGLES[key]):
                self.log.fail("a toggle the referee knows", f"{key} = {value}")
        if missing := TOGGLES.keys() - toggles.keys():
            self.log.fail(f"the toggles {sorted(missing)}", logged)
        self.limit: int | None = toggles["limit_value"]
        self.toggles: dict[str, Any] = {
            key: value == "yes" if TOGGLES.get(key) is YES_NO else value for key, value in toggles.items()
        }

    def read_deal(self) -> None:
        event = self.log.take("deal", "hands", "stock", "first")
        hands, stock = event["hands"], event["stock"]
        dealt = [card for hand in (*hands, stock) for card in hand]
        self.log.cards("the cards of the deal", dealt, self.deck)
        if [len(hand) for hand in hands] != [self.toggles["hand_size"]] * self.seats:
            self.log.fail(f"{self.seats} hands of {self.toggles['hand_size']} cards", hands)
        for hand in hands:
            if hand != sorted(hand, key=ORDER.__getitem__):
                self.log.fail("hands sorted by suit, then rank, Jokers last", hand)
        self.hands: list[set[str]] = [set(hand) for hand in hands]
        self.stock: list[str] = list(stock)
        self.active = set(range(self.seats))
        self.start_card, self.first = self.search_start()
        self.player = self.first
        if repr(event["first"]) != repr(self.first):
            self.log.fail(f"first seat {self.first}, who holds {self.start_card}", event["first"])

    def search_start(self) -> tuple[str, int]:
        for rank in START_SEARCH:
            for suit in SUITS:
                for seat, hand in enumerate(self.hands):
                    if CARD[suit, rank] in hand:
                        return CARD[suit, rank], seat
        self.log.fail("a regular card in some hand", self.hands)

    # ---------------------------------------------------------------- what may be played, and its price

    def ranks_out(self, suit: str) -> list[int]:
        return [rank for rank in range(1, 14) if CARD[suit, rank] in self.table]

    def is_blocked(self, seat: int, card: str) -> bool:
        """Whether somebody else's lock or ban keeps the seat from playing this regular card."""
        owner, kind = self.locks.get(SUIT[card], (seat, "lock"))
        banned = any(rank == RANK[card] and q != seat for rank, q, _ in self.bans)
        return banned or (kind == "lock" and owner != seat)

    def candidates(self, seat: int) -> list[frozenset[str]]:
        """The plays by shape alone: singles, sets, straights, Jokers, of cards that are not blocked."""
        hand = self.hands[seat]
        jokers = [card for card in JOKERS if card in hand]
        free = [card for card in hand if card in SUIT and not self.is_blocked(seat, card)]
        plays = [frozenset((card,)) for card in (*free, *jokers)]
        if len(jokers) == 2:
            plays.append(frozenset(jokers))
        if self.toggles["combos"]:
            plays += self.sets_and_straights({card for card in free if RANK[card] != self.start_rank})
        return plays

    def sets_and_straights(self, cards: set[str]) -> list[frozenset[str]]:
        plays: list[frozenset[str]] = []
        for rank in {RANK[card] for card in cards}:
            same = [card for card in cards if RANK[card] == rank]
            for size in range(2, len(same) + 1):
                plays += map(frozenset, itertools.combinations(same, size))
        for card in cards:
            run = [card]
            while (longer := CARD.get((SUIT[card], RANK[card] + len(run)))) in cards:
                run.append(longer)
                plays.append(frozenset(run))
        return plays

    def member_gap(self, card: str) -> float:
        suit, rank = SUIT[card], RANK[card]
        if rank == self.start_rank:
            return 0
        banned = {r for r, _, _ in self.bans}
        connection = self.toggles["connection"]
        hub = abs(rank - self.start_rank) - (connection == "virtual_card")
        steps = [abs(rank - out) - 1 for out in self.ranks_out(suit) if out not in banned]
        if self.start_rank not in banned and not (connection == "suit_only" and steps):
            steps.append(hub)
        if not steps:
            return hub if self.toggles["ban_no_connector"] == "hub_anyway" else math.inf
        gap = min(steps)
        near = {CARD.get((suit, rank - 1)), CARD.get((suit, rank + 1))} & self.table
        self.demand(0 <= gap <= 12, "a gap is 0 to 12")
        self.demand(gap == 0 or not near or bool(self.bans), "a card beside one on the table has gap 0")
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

    def next_active(self, seat: int) -> int:
        return next(q for q in self.from_seat(seat + 1) if q in self.active)

    def from_seat(self, seat: int) -> list[int]:
        """All seats clockwise from this one."""
        return [(seat + step) % self.seats for step in range(self.seats)]

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
        offered = set(plays)
        if plays and self.turn > 1 and self.toggles["voluntary_pass"] != "no":
            offered.add(PASS)
        self.read_turn_line(seat, offered)
        if lone:
            self.eliminate([seat], "joker_only")
        elif not plays:
            self.draw(seat, self.stuck_cards(seat), "stuck")
        elif PASS in offered and self.log.peek() == "pass":
            self.expect("pass", seat=seat)
            self.passed = True
            self.draw(seat, self.toggles["voluntary_pass"] == "yes_draw_1", "pass")
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
        """How many cards a stuck seat draws: up to the largest hand among those whose locks block it."""
        if self.toggles["stuck_draw"] == "one":
            return 1
        suits = {SUIT[card] for card in self.hands[seat] if card in SUIT}
        locks = [self.locks[suit] for suit in suits if suit in self.locks]
        owners = {owner for owner, kind in locks if kind == "lock" and owner != seat}
        return max([1, *(len(self.hands[owner]) - len(self.hands[seat]) for owner in owners)])

    def play(self, seat: int, plays: list[frozenset[str]]) -> None:
        event = self.take("play", "seat", "cards", "gap")
        cards = frozenset(event["cards"])
        if repr(event["seat"]) != repr(seat) or len(cards) != len(event["cards"]) or cards not in plays:
            self.log.fail(f"one of the legal plays of seat {seat}", event)
        gap, tax = self.gap(cards), self.tax(seat, cards)
        if repr(event["gap"]) != repr(gap):
            self.log.fail(f"gap {gap} for {sorted(cards)}", event)
        self.acted = True
        if cards.isdisjoint(JOKERS):
            self.play_regular(seat, cards, int(gap), tax)
        else:
            self.play_jokers(seat, cards)

    def play_regular(self, seat: int, cards: frozenset[str], gap: int, tax: int) -> None:
        """Place the cards, pay for them, then their effects; checks the hand's promised change of size."""
        if self.turn == 1:
            self.start_rank = RANK[next(iter(cards))]
        if any(RANK[card] == self.start_rank for card in cards):
            self.demand(len(cards) == 1 and gap == 0, "start-rank cards go singly and cost 0")
        before, stock = len(self.hands[seat]), len(self.stock)
        self.place(seat, cards)
        if self.toggles["win_check"] == "on_empty":
            self.win_if_empty(seat)
        self.draw(seat, gap, "gap")
        self.draw(seat, tax, "tax")
        if self.toggles["ban_duration"] == "until_owner_plays_that_rank":
            played = {RANK[card] for card in cards}
            self.lift_bans([ban for ban in self.bans if ban[1] == seat and ban[0] in played], "owner_played")
        if self.toggles["win_check"] == "after_cost":
            self.win_if_empty(seat)
        self.apply_effects(seat, cards)
        if self.toggles["q_empty_stock"] != "must_return" and not {1, JACK} & {RANK[card] for card in cards}:
            change = min(gap + tax, stock) - len(cards)
            self.demand(len(self.hands[seat]) - before == change, f"the hand changes by {change}")

    def place(self, seat: int, cards: frozenset[str]) -> None:
        """Put a play on the table: own locks end, suits may become complete."""
        self.hands[seat] -= cards
        self.table |= cards
        suits = {SUIT[card] for card in cards}
        released = [suit for suit in SUITS if suit in suits and self.locks.get(suit, (None,))[0] == seat]
        for suit in released:
            del self.locks[suit]
        finished = self.complete_suits()
        for suit in released:
            self.expect("unlock", suit=suit, reason="owner_played")
        self.read_complete_lines(finished)

    def complete_suits(self) -> list[tuple[str, bool]]:
        """Mark the suits that have just become complete; each with whether that ended a lock."""
        new = [suit for suit in SUITS if suit not in self.complete and len(self.ranks_out(suit)) == 13]
        self.complete.update(new)
        return [(suit, self.locks.pop(suit, None) is not None) for suit in new]

    def read_complete_lines(self, finished: list[tuple[str, bool]]) -> None:
        for suit, was_locked in finished:
            if was_locked:
                self.expect("unlock", suit=suit, reason="complete")
            self.expect("complete", suit=suit)

    def win_if_empty(self, seat: int) -> None:
        if not self.hands[seat]:
            self.expect("finish", seat=seat)
            raise _GameOver("win", seat)

    def draw(self, seat: int, count: int, reason: str) -> None:
        """Draws from the stock's top; under `immediate` the card that exceeds the limit is the last."""
        drawn: list[str] = []
        while len(drawn) < count and self.stock:
            drawn.append(self.stock.pop(0))
            self.hands[seat].add(drawn[-1])
            if self.is_over_now(seat):
                break
        if drawn:
            self.acted = True
            self.expect("draw", seat=seat, cards=drawn, reason=reason)
            self.test_limit_now([seat])

    def is_over_now(self, seat: int) -> bool:
        """Whether the limit of `immediate` is exceeded."""
        limit = self.limit if self.toggles["limit_when"] == "immediate" else None
        return limit is not None and len(self.hands[seat]) > limit

    def test_limit_now(self, gained: Collection[int]) -> None:
        """Under `immediate`: judge the seats that have just gained cards, all at one moment."""
        judged = [q for q in self.from_seat(self.player) if q in gained and q in self.active]
        over = [q for q in judged if self.is_over_now(q)]
        if over:
            self.eliminate(over, "limit")
            if self.player not in self.active:
                raise _TurnOver

    # ---------------------------------------------------------------- effects

    def choose(self, seat: int, what: str, legal: Collection[Any]) -> Any:
        """Read a player's inner decision among these choices."""
        event = self.take("choose", "seat", "what", "value", "legal")
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
        if is_run(cards):
            if self.toggles["straight_hit"] and self.next_active(seat) != seat:
                self.draw(self.next_active(seat), len(cards) - 1, "straight_hit")
        elif len(cards) > 1 and self.toggles["set_exchange"]:
            self.exchange(seat, len(cards) - 1)
        self.apply_kings(seat, cards)
        if self.toggles["queen"] == "exchange":
            self.apply_queens(seat, self.count(cards, QUEEN))
        if self.toggles["jack"] == "tutor":
            self.apply_jacks(seat, self.count(cards, JACK))
        if self.toggles["ace"] == "recall":
            self.apply_aces(seat, self.count(cards, 1), cards)

    def exchange(self, seat: int, count: int) -> None:
        chosen: set[str] = set()
        hand = self.hands[seat]
        for _ in range(min(count, len(hand))):
            card = self.choose(seat, "exchange_card", hand)
            hand.remove(card)
            chosen.add(card)
            self.limbo.add(card)
        if chosen:
            self.limbo.clear()
            self.put_into_stock(seat, chosen)
            self.draw(seat, len(chosen), "exchange")

    def put_into_stock(self, seat: int, cards: Collection[str]) -> None:
        self.stock += cards
        self.expect("put", seat=seat, cards=frozenset(cards), where="stock_shuffled")
        self.shuffle()

    def shuffle(self) -> None:
        event = self.take("shuffle", "stock")
        self.stock = list(self.log.cards("the shuffled stock", event["stock"], self.stock))

    def apply_kings(self, seat: int, cards: frozenset[str]) -> None:
        mode = self.toggles["king"]
        kings = [s for s in SUITS if CARD[s, KING] in cards and s not in self.complete]
        if mode == "plain" or not kings:
            return
        if self.toggles["multi_effect_scaling"] == "once":
            kings = kings[:1]
        if mode == "ban_rank" and self.toggles["ban_duration"] == "until_next_k":
            self.lift_bans(list(self.bans), "next_king")
        for suit in kings:
            if mode == "ban_rank":
                rank = self.choose(seat, "king_rank", range(1, 14))
                self.expect("ban", rank=rank, seat=seat, card=CARD[suit, KING])
                self.bans.append((rank, seat, CARD[suit, KING]))
                continue
            kind = self.choose(seat, "king_mode", ("lock", "tax")) if mode == "choose" else mode
            if kind == "tax":
                self.expect("lock", suit=suit, seat=seat, kind="tax")
            else:
                self.expect("lock", suit=suit, seat=seat)
            self.locks[suit] = (seat, "tax" if kind == "tax" else "lock")

    def lift_bans(self, lifted: list[tuple[int, int, str]], reason: str) -> None:
        for ban in lifted:
            self.bans.remove(ban)
        self.read_unban_lines(lifted, reason)

    def read_unban_lines(self, lifted: list[tuple[int, int, str]], reason: str) -> None:
        """A line for each of these bans, in any order."""
        waiting = list(lifted)
        while waiting:
            event = self.take("unban", "rank", "seat", "card", "reason")
            ban = (event["rank"], event["seat"], event["card"])
            if ban not in waiting or event["reason"] != reason:
                self.log.fail(f"the end ({reason}) of one of the bans {waiting}", event)
            waiting.remove(ban)

    def apply_queens(self, seat: int, count: int) -> None:
        before = len(self.stock)
        self.draw(seat, count, "queen")
        drawn = before - len(self.stock)
        returned = count if self.toggles["q_empty_stock"] == "must_return" else drawn
        for _ in range(min(returned, len(self.hands[seat]))):
            card = self.choose(seat, "queen_return", self.hands[seat])
            self.hands[seat].remove(card)
            self.stock.insert(0, card)
            self.expect("put", seat=seat, cards=[card], where="stock_top")

    def apply_jacks(self, seat: int, count: int) -> None:
        taken = 0
        while taken < count and self.stock:
            card = self.choose(seat, "jack_take", self.stock)
            self.stock.remove(card)
            self.hands[seat].add(card)
            taken += 1
            self.expect("draw", seat=seat, cards=[card], reason="jack")
            self.test_limit_now([seat])
        if taken:
            self.shuffle()

    def apply_aces(self, seat: int, count: int, cards: frozenset[str]) -> None:
        given: set[int] = set()
        for _ in range(count):
            spared = PASS if self.toggles["ace_may_take_current_play"] else cards
            eligible = {c for c in self.table - spared if SUIT[c] not in self.complete}
            seats = self.receivers(seat, given)
            if not eligible or not seats:
                return
            card = self.choose(seat, "ace_card", eligible)
            to = self.choose(seat, "ace_receiver", seats)
            given.add(to)
            self.recall(card, to)
            self.test_limit_now([to])

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
        if RANK[card] == KING:
            if self.locks.pop(SUIT[card], None) is not None:
                self.expect("unlock", suit=SUIT[card], reason="king_recalled")
            self.lift_bans([ban for ban in self.bans if ban[2] == card], "king_recalled")

    # ---------------------------------------------------------------- Jokers

    def play_jokers(self, seat: int, cards: frozenset[str]) -> None:
        self.hands[seat] -= cards
        sizes = {q: len(self.hands[q]) for q in self.from_seat(seat) if q in self.active}
        extra = self.toggles["joker_count"] == "before_play"
        if len(cards) == 2:
            self.limbo |= cards
            self.redeal_pair(list(sizes), set(cards))
        else:
            self.exiled |= cards
            self.expect("put", seat=seat, cards=list(cards), where="exiled")
            if "BJ" in cards:
                self.redeal_black(seat, sizes, extra)
            else:
                sizes[seat] += extra
                self.redeal_red(sizes)
        self.test_limit_now(self.active)

    def read_redeal(self, kind: str, pool: Collection[str]) -> tuple[list[set[str]], list[str], list[str]]:
        """The redeal line: all hands, the stock and the flips; hands and stock together are the pool."""
        event = self.take("redeal", "kind", "hands", "flips", "stock")
        hands, stock = event["hands"], event["stock"]
        if event["kind"] != kind or len(hands) != self.seats:
            self.log.fail(f"a redeal of kind {kind} with {self.seats} hands", event)
        self.log.cards("the redealt cards", [c for hand in (*hands, stock) for c in hand], pool)
        self.limbo.clear()
        return [set(hand) for hand in hands], stock, event["flips"]

    def adopt_redeal(self, hands: list[set[str]], stock: list[str], sizes: Mapping[int, int]) -> None:
        wanted = [sizes.get(q, 0) for q in range(self.seats)]
        if [len(hand) for hand in hands] != wanted:
            self.log.fail(f"hands of {wanted} cards", [len(hand) for hand in hands])
        self.hands, self.stock = hands, list(stock)

    def all_in_hands(self) -> set[str]:
        return set().union(*self.hands)

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

    def redeal_pair(self, order: list[int], jokers: set[str]) -> None:
        """Each seat turns a card that sets its hand size; then one card each while anybody lacks some."""
        pool = self.all_in_hands() | set(self.stock) | jokers
        hands, stock, flips = self.read_redeal("joker_pair", pool)
        turned = order[: len(pool)]
        if len(flips) != len(turned) or any(c not in hands[q] for q, c in zip(turned, flips, strict=True)):
            self.log.fail(f"a flip for each of the seats {turned}, kept in hand", (flips, hands))
        targets = {q: self.target(card) for q, card in zip(turned, flips, strict=True)}
        sizes = dict.fromkeys(turned, 1)
        left = len(pool) - len(turned)
        while left and any(sizes[q] < targets[q] for q in turned):
            for q in turned:
                if left and sizes[q] < targets[q]:
                    sizes[q] += 1
                    left -= 1
        self.adopt_redeal(hands, stock, sizes)
        self.grace = self.toggles["joker_pair_own_turn_grace"] and flips[0] in JOKERS

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
        """These seats lose at one moment. A single seat left wins at once, unless it must still go out."""
        self.acted = True
        self.moments.append(seats)
        for seat in seats:
            self.expect("eliminate", seat=seat, reason=reason)
            self.lay_out(seat)
        if len(self.active) == 1 and self.toggles["survivor_wins"] == "yes":
            raise _GameOver("survivor", min(self.active))

    def lay_out(self, seat: int) -> None:
        self.active.remove(seat)
        jokers = self.hands[seat] & set(JOKERS)
        regular = frozenset(self.hands[seat] - jokers)
        self.hands[seat] = set()
        self.exiled |= jokers
        freed = [suit for suit in SUITS if self.locks.get(suit, (None,))[0] == seat]
        for suit in freed:
            del self.locks[suit]
        bans = [ban for ban in self.bans if ban[1] == seat]
        self.bans = [ban for ban in self.bans if ban[1] != seat]
        finished = self.lay_cards(seat, regular)
        if jokers:
            self.expect("put", seat=seat, cards=frozenset(jokers), where="exiled")
        for suit in freed:
            self.expect("unlock", suit=suit, reason="owner_eliminated")
        self.read_unban_lines(bans, "owner_eliminated")
        self.read_complete_lines(finished)

    def lay_cards(self, seat: int, cards: frozenset[str]) -> list[tuple[str, bool]]:
        """Where the regular cards of an eliminated hand go; returns the suits this completes."""
        where = self.toggles["eliminated_hand"]
        if where == "into_stock":
            if cards:
                self.put_into_stock(seat, cards)
            return []
        finished = []
        if where == "to_table":
            self.table |= cards
            finished = self.complete_suits()
        else:
            self.removed |= cards
        if cards:
            self.expect("put", seat=seat, cards=cards, where="table" if where == "to_table" else "removed")
        return finished

    def judged_at_turn_end(self, seat: int) -> list[int]:
        when = self.toggles["limit_when"]
        if when == "own_turn_end":
            return [] if self.grace else [seat]
        if when == "any_turn_end":
            return self.from_seat(seat)
        if when == "round_end" and self.active:
            stepped = self.from_seat(seat + 1)
            stepped = stepped[: stepped.index(self.next_active(seat)) + 1]
            return self.from_seat(seat) if self.first in stepped else []
        return []

    def end_turn(self, seat: int) -> None:
        if seat in self.active:
            self.win_if_empty(seat)
        if self.limit is not None:
            judged = self.judged_at_turn_end(seat)
            over = [q for q in judged if q in self.active and len(self.hands[q]) > self.limit]
            if over:
                self.eliminate(over, "limit")
        if self.toggles["joker_only_loss"] == "also_when_hit":
            alone = [q for q in self.from_seat(seat) if q in self.active and self.has_lone_joker(q)]
            if alone:
                self.eliminate(alone, "joker_only")
        if not self.active:
            raise _GameOver("drawn")
        self.idle = 0 if self.acted else self.idle + 1
        self.passes = self.passes + 1 if self.passed else 0
        if self.passes >= len(self.active):
            raise _GameOver("stalled")
        if self.idle >= len(self.active):
            raise _GameOver("drawn")
        if self.turn >= self.toggles["max_turns"]:
            raise _GameOver("stalled")
        self.player = self.next_active(seat)

    def read_end(self, over: _GameOver) -> None:
        self.check_ending(over)
        winners = [] if over.winner is None else [over.winner]
        self.expect(
            "end",
            outcome=over.outcome,
            winners=winners,
            losers=[],
            places=self.places(over.winner),
            scores=[0] * self.seats,
            turns=self.turn,
        )
        if self.log.peek():
            self.log.number += 1
            self.log.fail("nothing after the end", self.log.lines[self.log.number - 1])

    def places(self, winner: int | None) -> list[int]:
        """1 + the number of seats that did better: the winner, small hands, then those eliminated late."""
        merit = {}
        for q in range(self.seats):
            if q in self.active:
                merit[q] = (2, 0) if q == winner else (1, -len(self.hands[q]))
            else:
                merit[q] = (0, next(i for i, seats in enumerate(self.moments) if q in seats))
        return [1 + sum(merit[other] > merit[q] for other in merit) for q in range(self.seats)]

    def check_ending(self, over: _GameOver) -> None:
        """What the rules promise about endings."""
        t = self.toggles
        if over.outcome == "drawn" and self.active and t["voluntary_pass"] != "yes_free":
            self.demand(not self.stock, "a drawn game has an empty stock")
        plain = all(t[kind] == "plain" for kind in ("ace", "king", "queen", "jack")) and not t["jokers"]
        bound = t["voluntary_pass"] == "no" and t["short_stock"] == "draw_what_is_left"
        if plain and bound and self.limit is None and over.outcome != "stalled":
            self.demand(over.outcome == "win", "without effects and limit somebody goes out")
            self.demand(t["combos"] or self.turn == len(self.table), "one card a turn reaches the table")


def _plain(value: Any) -> Any:
    """A toggle's value in one spelling: booleans as yes and no, words in lower case."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return value.lower() if isinstance(value, str) else value
