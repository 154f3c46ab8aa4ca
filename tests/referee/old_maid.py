"""A naive referee for old_maid game logs: sets, lists and dicts of card names (RULES.md sections 0, 3, 12).

`check` follows one log line by line. What the rules determine it works out by itself and demands literally; what chance
or a player decides (the deal, the first drawer where that is drawn, whose and which card is taken) it checks for being
possible, then adopts. Card lists whose order means nothing are compared as sets.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from tests.referee.log import CARD, ORDER, RANK, SUIT, SUITS, Lines, Log

JOKER = "BJ"
QUEENS = frozenset(card for card, rank in RANK.items() if rank == 12)
BLACK = ("S", "C")

TOGGLES: dict[str, Collection[object]] = {
    "version": ("joker53", "queen51"),
    "first_drawer": ("random", "seat0", "dealer_left", "bigger_hand", "smaller_hand"),
    "draw_from": ("right_neighbour", "left", "any_chosen"),
    "position_model": ("uniform", "sticky"),
    "pair_rule": ("rank", "rank_and_colour"),
    "double_exit_order": ("neighbour_first", "tie"),
    "extra_card_seat": ("seat0", "rotating"),
    "max_draws": range(1, 1_000_000),
}
"""Every toggle with more than one value, with all of them."""

FIXED = {"initial_pairs_mandatory": "yes"}
"""The toggle that has only its default."""


class _GameOver(Exception):
    """The game has ended with a loser, or stalled."""

    def __init__(self, loser: int | None = None) -> None:
        super().__init__(loser)
        self.loser = loser


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
        self.pairs = 0
        self.removed: set[str] = set()
        self.leavers: list[list[int]] = []  # seats that ran out of cards; those of one place together
        self.turn = 0

    # ---------------------------------------------------------------- log and invariants

    def expect(self, kind: str, /, **fields: object) -> None:
        self.check_invariants()
        self.log.expect(kind, **fields)

    def take(self, kind: str, *keys: str) -> dict[str, Any]:
        self.check_invariants()
        return self.log.take(kind, *keys)

    def check_invariants(self) -> None:
        """What holds after every event."""
        held = [card for hand in self.hands for card in hand]
        self.log.demand(len(held) == len(self.deck) - 2 * self.pairs, "all cards less the pairs are in hands")
        self.log.demand(len(held) % 2 == 1, "an odd number of cards is in hands")
        self.log.demand(
            len(set(held)) == len(held) and set(held) | self.removed == self.deck,
            "every card is in one hand or removed",
        )
        self.log.demand(self.removed.isdisjoint(held), "a removed card is in no hand")
        for rank in range(1, 14):
            odd = rank == 12 and self.toggles["version"] == "queen51"
            count = sum(RANK.get(card) == rank for card in held)
            self.log.demand(
                count % 2 == odd, f"rank {rank} has an {'odd' if odd else 'even'} number of cards"
            )
        gone = [seat for seats in self.leavers for seat in seats]
        self.log.demand(not any(self.hands[seat] for seat in gone), "who has left holds no cards")

    def check_paired(self) -> None:
        """What holds at the start of every turn: nobody holds a pair."""
        for hand in self.hands:
            kinds = [self.kind(card) for card in hand]
            self.log.demand(len(set(kinds)) == len(kinds), "no hand holds a pair")

    # ---------------------------------------------------------------- opening

    def replay(self) -> None:
        self.read_header()
        self.read_deal()
        try:
            self.remove_initial_pairs()
            self.player = self.first if self.hands[self.first] else self.next_with_cards(self.first)
            while True:
                self.play_turn()
        except _GameOver as over:
            self.read_end(over)

    def read_header(self) -> None:
        event = self.log.read_header("old_maid", range(2, 11))
        self.seats = event["seats"]
        self.index = event["index"]
        self.toggles: dict[str, Any] = self.log.read_toggles(event["toggles"], TOGGLES, FIXED)

    def read_deal(self) -> None:
        event = self.log.take("deal", "hands", "stock", "first")
        hands = event["hands"]
        if not isinstance(hands, list) or not all(isinstance(hand, list) for hand in hands):
            self.log.fail("hands as lists of cards", hands)
        self.deck = self.possible_deck([card for hand in hands for card in hand])
        if event["stock"] != []:
            self.log.fail("no stock", event["stock"])
        self.log.check_hands(hands, [], self.deck, self.possible_sizes([len(hand) for hand in hands]))
        self.hands: list[set[str]] = [set(hand) for hand in hands]
        self.first = event["first"]
        possible = self.possible_first_drawers()
        if type(self.first) is not int or self.first not in possible:
            self.log.fail(f"a first drawer among {possible}", self.first)

    def possible_deck(self, dealt: Collection[str]) -> frozenset[str]:
        """52 cards and a Joker, or 52 cards less some Queen: any one, as the cards dealt show."""
        if self.toggles["version"] == "joker53":
            return frozenset((*CARD.values(), JOKER))
        missing = sorted(QUEENS.difference(dealt))
        if len(missing) != 1:
            self.log.fail("three of the four Queens", f"{missing} missing")
        return frozenset(CARD.values()) - {missing[0]}

    def possible_sizes(self, logged: list[int]) -> list[int]:
        """Dealt round robin: the seats dealt to first have one card more. OM-08: the first is seat 0 or any seat."""
        least, extra = divmod(len(self.deck), self.seats)
        starts = [self.index % self.seats if self.toggles["extra_card_seat"] == "rotating" else 0]
        sizes = {
            start: [least + ((seat - start) % self.seats < extra) for seat in range(self.seats)]
            for start in starts
        }
        self.deal_starts = [
            start for start in starts if sizes[start] == logged
        ]  # one, or all if all are equal
        return logged if self.deal_starts else sizes[0]

    def possible_first_drawers(self) -> list[int]:
        """The seats that OM-02 lets draw first; a tie of hand sizes leaves a choice."""
        sizes = [len(hand) for hand in self.hands]
        everybody = range(self.seats)
        return {
            "random": list(everybody),
            "seat0": [0],
            "dealer_left": self.deal_starts,
            "bigger_hand": [seat for seat in everybody if sizes[seat] == max(sizes)],
            "smaller_hand": [seat for seat in everybody if sizes[seat] == min(sizes)],
        }[self.toggles["first_drawer"]]

    def kind(self, card: str) -> tuple[object, ...]:
        """Two cards of one kind are a pair."""
        if card == JOKER:
            return (JOKER,)
        if self.toggles["pair_rule"] == "rank":
            return (RANK[card],)
        return (RANK[card], SUIT[card] in BLACK)

    def remove_initial_pairs(self) -> None:
        """Everybody in seat order; of three of a kind the lowest two suits go."""
        for seat, hand in enumerate(self.hands):
            paired: set[str] = set()
            for kind in {self.kind(card) for card in hand}:
                same = sorted((c for c in hand if self.kind(c) == kind), key=self.suit_place)
                paired.update(same[: len(same) // 2 * 2])
            if paired:
                self.remove_pairs(seat, paired)
                self.log.expect("put", seat=seat, cards=frozenset(paired), where="removed")
        self.check_paired()
        empty = [seat for seat, hand in enumerate(self.hands) if not hand]
        for seat in empty:
            self.expect("finish", seat=seat)
        if empty:
            self.leavers.append(empty)
        self.test_end()

    def suit_place(self, card: str) -> int:
        return SUITS.index(SUIT[card]) if card in SUIT else len(SUITS)

    def remove_pairs(self, seat: int, cards: set[str]) -> None:
        self.hands[seat] -= cards
        self.removed |= cards
        self.pairs += len(cards) // 2

    # ---------------------------------------------------------------- a turn

    def next_with_cards(self, seat: int, step: int = 1) -> int:
        """The nearest other seat in this direction that holds cards."""
        for distance in range(1, self.seats):
            other = (seat + step * distance) % self.seats
            if self.hands[other]:
                return other
        raise AssertionError("two seats hold cards as long as the game goes on")

    def play_turn(self) -> None:
        seat = self.player
        self.turn += 1
        self.check_paired()
        self.expect("turn", turn=self.turn, seat=seat, legal=[[]])
        neighbour = self.read_source(seat)
        card = self.read_draw(seat, neighbour)
        left = [q for q in (neighbour,) if not self.hands[q]]
        for q in left:
            self.expect("finish", seat=q)
        self.pair_drawn(seat, card)
        if not self.hands[seat]:
            left.append(seat)
            self.expect("finish", seat=seat)
        self.leave(left)
        self.test_end()
        if self.turn >= self.toggles["max_draws"]:
            raise _GameOver
        self.player = self.next_with_cards(seat)

    def read_source(self, seat: int) -> int:
        """Whose hand is drawn from."""
        if self.toggles["draw_from"] != "any_chosen":
            return self.next_with_cards(seat, 1 if self.toggles["draw_from"] == "left" else -1)
        event = self.take("choose", "seat", "what", "value", "legal")
        others = [q for q in range(self.seats) if q != seat and self.hands[q]]
        if repr((event["seat"], event["what"])) != repr((seat, "target")):
            self.log.fail(f"the choice target of seat {seat}", event)
        self.log.same_set("the choices of target", frozenset(others), event["legal"])
        if type(event["value"]) is not int or event["value"] not in others:
            self.log.fail(f"a seat among {others}", event["value"])
        return int(event["value"])

    def read_draw(self, seat: int, neighbour: int) -> str:
        event = self.take("draw", "seat", "cards", "reason")
        cards = event["cards"]
        if repr((event["seat"], event["reason"])) != repr((seat, "opponent")):
            self.log.fail(f"seat {seat} draws from an opponent", event)
        if not isinstance(cards, list) or len(cards) != 1 or cards[0] not in self.hands[neighbour]:
            self.log.fail(f"one card out of the hand of seat {neighbour}", cards)
        card = str(cards[0])
        self.hands[neighbour].remove(card)
        self.hands[seat].add(card)
        return card

    def pair_drawn(self, seat: int, card: str) -> None:
        """The card drawn and the one it pairs with, if any, are removed."""
        pair = [held for held in self.hands[seat] if self.kind(held) == self.kind(card)]
        self.log.demand(len(pair) <= 2, "a drawn card meets at most one of its kind")
        if len(pair) == 2:
            self.check_invariants()
            self.remove_pairs(seat, set(pair))
            ordered = sorted(pair, key=ORDER.__getitem__)
            self.log.expect("put", seat=seat, cards=ordered, where="removed")

    def leave(self, seats: list[int]) -> None:
        """Who ran out in this turn, in that order; OM-06 may give them one place."""
        if len(seats) == 2 and self.toggles["double_exit_order"] == "tie":
            self.leavers.append(seats)
        else:
            self.leavers += [[seat] for seat in seats]

    # ---------------------------------------------------------------- the end

    def test_end(self) -> None:
        holders = [seat for seat, hand in enumerate(self.hands) if hand]
        if len(holders) > 1:
            return
        self.log.demand(len(holders) == 1, "somebody holds the last card")
        last = self.hands[holders[0]]
        odd = {JOKER} if self.toggles["version"] == "joker53" else QUEENS
        self.log.demand(len(last) == 1 and last <= odd, "the last card is the odd one")
        raise _GameOver(holders[0])

    def read_end(self, over: _GameOver) -> None:
        if over.loser is not None:
            self.expect("lose", seat=over.loser)
        self.expect(
            "end",
            outcome="stalled" if over.loser is None else "loser_found",
            winners=[],
            losers=[] if over.loser is None else [over.loser],
            places=self.places(),
            scores=[0] * self.seats,
            turns=self.turn,
        )
        self.log.finish()

    def places(self) -> list[int]:
        """The order of leaving; whoever still holds cards comes after that, the fewest cards first."""
        order: list[list[int]] = list(self.leavers)
        sizes = sorted({len(hand) for hand in self.hands if hand})
        order += [[q for q, hand in enumerate(self.hands) if len(hand) == size] for size in sizes]
        places = [0] * self.seats
        better = 0
        for seats in order:
            for seat in seats:
                places[seat] = better + 1
            better += len(seats)
        return places
