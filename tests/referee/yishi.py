"""A naive referee for yishi game logs: Counters of ranks and plain lists (RULES.md sections 0, 2, 12; S1).

`check` follows one log line by line. What the rules determine it works out by itself and demands literally; what
chance or a player decides (deal, dice, starter, choices) it checks for being possible, then adopts. Suits do not
matter in this game, so the log writes every card as a spade and the referee reads ranks. Two things a log may leave
open stay open here until a later line decides them: whether a random starter stands in for the holder of a spade Ace
that was burned, and which of two faces played together is the special one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from tests.referee.log import RANKS, YES_NO, Lines, Log

NAME = {rank: "S" + name for rank, name in enumerate(RANKS, 1)}
RANK = {name: rank for rank, name in NAME.items()}
ACE, TEN, JACK, QUEEN, KING = 1, 10, 11, 12, 13
PLAIN = 0
"""The reading of a play without a special card; the other readings are the rank of the special one."""

COVER: tuple[int, ...] = ()

TOGGLES: dict[str, Collection[object]] = {
    "decks": (1, 2, 3),
    "deal": ("all", "equal_burn_rest", "one_of_each_rank"),
    "start_number": ("none", "two_dice", "fixed"),
    "start_value": range(1, 11),
    "dice_over_10": ("clamp_to_10", "reroll"),
    "lead": ("spade_a_forced", "free_by_spadea_holder"),
    "starter": ("spade_a", "random", "rotating"),
    "initial_direction": ("up", "random"),
    "normalise_at_ends": YES_NO,
    "faces_plain_ten": YES_NO,
    "faces_special": YES_NO,
    "special_j": YES_NO,
    "special_q": YES_NO,
    "special_k": YES_NO,
    "ties": ("shared", "earlier_finisher_first", "later_finisher_first"),
    "j_mode": ("with_a", "alone_counts_1", "off"),
    "follow_after_cover": ("new", "previous"),
    "cover_voluntary": ("yes", "only_if_no_play"),
    "free_card_may_be_special_pair": YES_NO,
    "special_with_face_as_ten": YES_NO,
    "specials_per_turn": (1,),
    "last_card_cover_counts": YES_NO,
    "reversal_by_face_ten": YES_NO,
    "ten_effect": ("set_down", "toggle"),
    "cover_after_ten_or_one": ("sets_direction", "ignored"),
    "score": ("covered_count", "covered_pips"),
    "direction_of_seats": ("clockwise",),
}
"""Every toggle with every value, in lower case and with yes and no for booleans."""


class Follow(NamedTuple):
    """What the next card must fit: the number (0: nothing led yet) and direction; whether the lead must be the Ace."""

    number: int
    direction: int
    ace_leads: bool = False


def check(lines: Lines) -> None:
    """Replay one game's log (jsonl lines or parsed objects) against the rules.

    Raises:
        Disagreement: at the first difference between the log and the rules.
    """
    _Referee(lines).replay()


def value(rank: int) -> int:
    """What a card counts: its pips, 10 for a face used as a plain card (L20)."""
    return min(rank, TEN)


class _Log(Log):
    """A log whose cards are ranks, written as spades."""

    def is_choice(self, what: str) -> bool:
        """Whether the next line is an inner decision of this kind."""
        return self.peek() == "choose" and self._parsed(self.number).get("what") == what

    def ranks(self, cards: object) -> tuple[int, ...]:
        """A list of cards, all written as spades, as ranks in ascending order."""
        if not isinstance(cards, list) or not all(card in RANK for card in cards):
            self.fail("a list of cards, each written as a spade", cards)
        return tuple(sorted(RANK[card] for card in cards))


class _Referee:
    """The state of one game, and the rules as methods that consume the log."""

    def __init__(self, lines: Lines) -> None:
        self.log = _Log(lines)
        self.played: list[int] = []
        self.turn = 0
        self.finish_logged: bool | None = None

    # ---------------------------------------------------------------- log and invariants

    def check_invariants(self) -> None:
        t = self.toggles
        held = sum(hand.total() for hand in self.hands)
        away = sum(map(len, self.under)) + len(self.played) + self.burned
        self.log.demand(held + away == 52 * t["decks"], "every card is in one place")
        if t["faces_plain_ten"]:
            covers = sum(map(len, self.under))
            self.log.demand(
                covers <= 26 * t["decks"] + self.seats, "a cover plays a card, but for a seat's last"
            )
        self.log.demand(self.turn <= 52 * t["decks"], "every turn sheds a card")
        for number, _, _ in self.follow:
            self.log.demand(0 <= number <= 10, "the number is 1 to 10, 0 before the lead")

    def check_turned(self) -> None:
        """What holds right after a play under the rules of the text."""
        t = self.toggles
        literal = t["ten_effect"] == "set_down" and t["cover_after_ten_or_one"] == "sets_direction"
        if literal and t["reversal_by_face_ten"] and t["follow_after_cover"] == "new":
            for number, direction, _ in self.follow:
                self.log.demand(number != 10 or direction == -1, "down after a ten")
                self.log.demand(number != 1 or direction == 1, "up after an Ace")

    def choose(self, seat: int, what: str, options: Iterable[str]) -> str:
        """A logged inner decision with exactly these options."""
        event = self.log.take("choose", "seat", "what", "value", "legal")
        if (event["seat"], event["what"]) != (seat, what):
            self.log.fail(f"a choice of {what} by seat {seat}", event)
        if Counter(map(str, event["legal"])) != Counter(list(options)):
            self.log.fail(f"the choices {sorted(options)} in any order", event["legal"])
        if event["value"] not in event["legal"]:
            self.log.fail(f"one of {event['legal']}", event["value"])
        return str(event["value"])

    # ---------------------------------------------------------------- opening

    def replay(self) -> None:
        self.read_header()
        self.read_deal()
        seat = self.first
        while any(self.hands):
            while not self.hands[seat]:
                seat = (seat + 1) % self.seats
            self.play_turn(seat)
            seat = (seat + 1) % self.seats
        self.read_end()

    def read_header(self) -> None:
        event = self.log.read_header("yishi", range(2, 11))
        self.seats = event["seats"]
        self.index = event["index"]
        toggles = {key.lower(): "none" if value is None else value for key, value in event["toggles"].items()}
        self.toggles = self.log.read_toggles(toggles, TOGGLES, {})

    def read_deal(self) -> None:
        event = self.log.take("deal", "hands", "stock", "first", "number", "direction")
        if event["stock"] != []:
            self.log.fail("no stock", event["stock"])
        dealt = [self.log.ranks(hand) for hand in event["hands"]]
        for hand, ranks in zip(event["hands"], dealt, strict=True):
            if hand != [NAME[rank] for rank in ranks]:
                self.log.fail("hands sorted by rank", hand)
        self.check_hands(dealt)
        self.hands = [Counter(ranks) for ranks in dealt]
        self.burned = 52 * self.toggles["decks"] - sum(map(len, dealt))
        self.under: list[list[int]] = [[] for _ in dealt]  # covered cards, by seat
        self.counted: list[list[int]] = [[] for _ in dealt]  # those of them that count
        self.finished: dict[int, int] = {}  # seat -> the turn it ran out in
        self.first = event["first"]
        self.check_start(event["number"], event["direction"])
        self.set_follow(event["number"], event["direction"])
        self.check_invariants()

    def check_hands(self, dealt: list[tuple[int, ...]]) -> None:
        decks, how = self.toggles["decks"], self.toggles["deal"]
        each, rest = divmod(52 * decks, self.seats)
        sizes = {
            "all": [each + (seat < rest) for seat in range(self.seats)],
            "equal_burn_rest": [each] * self.seats,
            "one_of_each_rank": [13] * self.seats,
        }[how]
        if [len(ranks) for ranks in dealt] != sizes:
            self.log.fail(f"hands of {sizes} cards", [len(ranks) for ranks in dealt])
        copies = Counter(rank for ranks in dealt for rank in ranks)
        if max(copies.values()) > 4 * decks:
            self.log.fail(f"at most {4 * decks} cards of a rank", copies)
        if how == "one_of_each_rank" and any(len(set(ranks)) != 13 for ranks in dealt):
            self.log.fail("an Ace to King in every hand", dealt)

    def check_start(self, number: object, direction: object) -> None:
        """The number and direction the first player meets (YS-03, 04, 07, 08), after normalising."""
        t = self.toggles
        numbers: Collection[int] = {
            "none": (0,),
            "two_dice": range(2, 11),
            "fixed": (t["start_value"],),
        }[t["start_number"]]
        if type(number) is not int or number not in numbers:
            self.log.fail(f"a start number of {list(numbers)}", number)
        directions = {
            self.normalised(number, d) for d in ((1,) if t["initial_direction"] == "up" else (1, -1))
        }
        if type(direction) is not int or direction not in directions:
            self.log.fail(f"a direction of {sorted(directions)} at the number {number}", direction)

    def normalised(self, number: int, direction: int) -> int:
        if self.toggles["normalise_at_ends"] and number in (1, 10):
            return 1 if number == 1 else -1
        return direction

    def set_follow(self, number: int, direction: int) -> None:
        """Who may start, and whether he must lead the spade Ace; a log shows no suits, so both can be possible."""
        t, first = self.toggles, self.first
        if type(first) is not int or not 0 <= first < self.seats:
            self.log.fail(f"a first seat of 0 to {self.seats - 1}", first)
        if t["starter"] == "rotating" and first != self.index % self.seats:
            self.log.fail(f"first seat {self.index % self.seats}", first)
        aces = sum(hand[ACE] for hand in self.hands)
        burned = 4 * t["decks"] - aces >= t["decks"]  # every spade Ace may be among the burned cards
        holds = self.hands[first][ACE] > 0
        free = t["starter"] != "spade_a" or t["lead"] != "spade_a_forced" or burned
        if t["starter"] == "spade_a" and not holds and not burned:
            self.log.fail("a first seat with an Ace", first)
        self.follow: set[Follow] = set()
        if free:
            self.follow.add(Follow(number, direction))
        if t["starter"] == "spade_a" and t["lead"] == "spade_a_forced" and holds:
            self.follow.add(Follow(number, direction, ace_leads=number == 0))

    # ---------------------------------------------------------------- what may be played

    def is_plain(self, rank: int) -> bool:
        """Whether a card may be played as a plain one."""
        return rank <= TEN or self.toggles["faces_plain_ten"]

    def is_special(self, face: int) -> bool:
        """Whether this face has its special use, beside a partner or (Jack, YS-12) alone."""
        t = self.toggles
        on = t["special_" + RANKS[face - 1].lower()] and t["faces_special"]
        return bool(on and (face != JACK or t["j_mode"] != "off"))

    def jack_alone(self) -> bool:
        return self.is_special(JACK) and self.toggles["j_mode"] == "alone_counts_1"

    def partners(self, hand: Counter[int], face: int) -> list[int]:
        """The cards of the hand that may be played with this special face, wherever they fit."""
        rest = hand - Counter([face])
        if face == JACK:
            return [ACE] if rest[ACE] and not self.jack_alone() else []
        tens = self.toggles["special_with_face_as_ten"] and self.toggles["faces_plain_ten"]
        return [rank for rank in rest if rank <= TEN or tens]

    def plays(self, seat: int, follow: Follow) -> dict[tuple[int, ...], set[int]]:
        """Every legal play but the cover, as ranks in order, with its readings: PLAIN or the special face."""
        hand = self.hands[seat]
        number, direction, ace_leads = follow
        if number == 0:
            return {(rank,): {PLAIN} for rank in hand if (rank == ACE if ace_leads else self.is_plain(rank))}
        found: dict[tuple[int, ...], set[int]] = {}
        for rank in hand:
            if self.is_plain(rank) and value(rank) in (number, number + direction):
                found.setdefault((rank,), set()).add(PLAIN)
        if hand[JACK] and self.jack_alone():
            found.setdefault((JACK,), set()).add(JACK)
        for face in (JACK, QUEEN, KING):
            if hand[face] and self.is_special(face):
                for partner in self.partners(hand, face):
                    if face != QUEEN or value(partner) in (number, number - direction):
                        found.setdefault(tuple(sorted((face, partner))), set()).add(face)
        return found

    def may_cover(self, follow: Follow, plays: Mapping[tuple[int, ...], set[int]]) -> bool:
        """By choice at any number (YS-14); before the lead only where nothing can be led."""
        voluntary = follow.number > 0 and self.toggles["cover_voluntary"] == "yes"
        return voluntary or not plays

    def is_listed(self, seat: int, follow: Follow, listed: Counter[tuple[int, ...]]) -> bool:
        """Whether the log lists just what is legal, two faces with two readings once or twice."""
        plays = self.plays(seat, follow)
        wanted = {cards: len(readings) if len(cards) == 2 else 1 for cards, readings in plays.items()}
        if self.may_cover(follow, plays):
            wanted[COVER] = 1
        return wanted.keys() == listed.keys() and all(listed[cards] <= n for cards, n in wanted.items())

    # ---------------------------------------------------------------- a turn

    def play_turn(self, seat: int) -> None:
        self.turn += 1
        event = self.log.take("turn", "turn", "seat", "legal")
        if repr((event["turn"], event["seat"])) != repr((self.turn, seat)):
            self.log.fail(f"turn {self.turn} of seat {seat}", event)
        listed = Counter(self.log.ranks(cards) for cards in event["legal"])
        possible = {follow for follow in self.follow if self.is_listed(seat, follow, listed)}
        if not possible:
            follow = min(self.follow)
            plays = self.plays(seat, follow)
            cover = [COVER] if self.may_cover(follow, plays) else []
            self.log.fail(f"the legal moves {[*plays, *cover]} (ranks) at {follow}", event["legal"])
        self.follow = possible
        if COVER in listed and self.log.is_choice("cover_card"):
            self.cover(seat)
        else:
            self.play(seat)
        self.check_invariants()
        if not self.hands[seat]:
            self.finish(seat)

    def play(self, seat: int) -> None:
        """A plain card, a special pair, or a Jack alone."""
        legal: dict[tuple[int, ...], set[int]] = {}
        for follow in self.follow:
            for cards, readings in self.plays(seat, follow).items():
                legal.setdefault(cards, set()).update(readings)
        jack = (JACK,)
        chosen = self.reading(seat, legal.get(jack, set())) if self.log.is_choice("as") else None
        cards = self.read_play(seat, [jack] if chosen is not None else legal)
        readings = legal[cards]
        if cards == jack and self.jack_alone():
            chosen = self.reading(seat, readings) if chosen is None else chosen
            readings = {chosen}
        self.follow = {
            self.after(follow, cards, reading)
            for follow in self.follow
            for reading in readings & self.plays_before(seat, cards, follow)
        }
        self.check_turned()

    def plays_before(self, seat: int, cards: tuple[int, ...], follow: Follow) -> set[int]:
        """The readings that this play, already out of the hand, had at one `follow`."""
        now = self.hands[seat]
        self.hands[seat] = now + Counter(cards)
        readings = self.plays(seat, follow).get(cards, set())
        self.hands[seat] = now
        return readings

    def read_play(self, seat: int, legal: Collection[tuple[int, ...]]) -> tuple[int, ...]:
        """A play line with one of these plays; the cards leave the hand."""
        event = self.log.take("play", "seat", "cards", "gap")
        cards = self.log.ranks(event["cards"])
        if repr((event["seat"], event["gap"])) != repr((seat, 0)) or cards not in legal:
            self.log.fail(f"seat {seat}, gap 0 and one of the plays {list(legal)} (ranks)", event)
        self.hands[seat] -= Counter(cards)
        self.played += cards
        return cards

    def reading(self, seat: int, readings: set[int]) -> int:
        """Whether a face is played plain or special. A single reading need not be logged."""
        words = {"plain" if reading == PLAIN else "special": reading for reading in readings}
        if len(words) == 1 and not self.log.is_choice("as"):
            return min(readings)
        return words[self.choose(seat, "as", words)]

    def after(self, follow: Follow, cards: tuple[int, ...], reading: int, covered: bool = False) -> Follow:
        """Steps 2 to 4 of a turn: a Queen's reversal, the new number, what a ten and an Ace do to the direction."""
        t = self.toggles
        direction = -follow.direction if reading == QUEEN else follow.direction
        if reading == JACK:
            card = ACE
        elif reading == PLAIN:
            (card,) = cards
        else:
            (card,) = (Counter(cards) - Counter([reading])).elements()
        number = value(card)
        if not (covered and t["cover_after_ten_or_one"] == "ignored"):
            if number == 1:
                direction = 1
            if card == TEN or (card > TEN and t["reversal_by_face_ten"]):
                direction = -direction if t["ten_effect"] == "toggle" else -1
        if follow.number == 0 and not covered:
            direction = self.normalised(number, direction)
        return Follow(number, direction)

    def cover(self, seat: int) -> None:
        """Cover any card, then play any one other card that has a value, if there is one (L15)."""
        hand = self.hands[seat]
        last = hand.total() == 1
        name = self.choose(seat, "cover_card", [NAME[rank] for rank in hand])
        self.log.expect("put", seat=seat, cards=[name], where="covered")
        self.hands[seat] = hand - Counter([RANK[name]])
        self.under[seat].append(RANK[name])
        if not last or self.toggles["last_card_cover_counts"]:
            self.counted[seat].append(RANK[name])
        self.check_invariants()
        free = {rank: self.free_readings(seat, rank) for rank in self.hands[seat]}
        free = {rank: readings for rank, readings in free.items() if readings}
        if free:
            self.play_free(seat, free)

    def free_readings(self, seat: int, rank: int) -> set[int]:
        """How a card may be played after a cover: plain, a Jack alone as one, a special with a partner (YS-15)."""
        readings = {PLAIN} if self.is_plain(rank) else set()
        if rank == JACK and self.jack_alone():
            readings.add(JACK)
        elif rank > TEN and self.is_special(rank) and self.toggles["free_card_may_be_special_pair"]:
            readings |= {rank} if self.partners(self.hands[seat], rank) else set()
        return readings

    def play_free(self, seat: int, free: Mapping[int, set[int]]) -> None:
        rank = RANK[self.choose(seat, "free_card", [NAME[rank] for rank in free])]
        alone = rank == JACK and self.jack_alone()
        late = alone and not self.log.is_choice("as")  # a Jack's reading may be logged after its play
        reading = PLAIN if late or rank <= TEN else self.reading(seat, free[rank])
        cards = [rank]
        if reading != PLAIN and not alone:
            partners = [NAME[partner] for partner in self.partners(self.hands[seat], rank)]
            cards.append(RANK[self.choose(seat, "partner", partners)])
        play = self.read_play(seat, [tuple(sorted(cards))])
        if late:
            reading = self.reading(seat, free[rank])
        if self.toggles["follow_after_cover"] == "new":
            self.follow = {self.after(follow, play, reading, covered=True) for follow in self.follow}
            self.check_turned()

    def finish(self, seat: int) -> None:
        """A seat has run out. Logs may say so, but then of every seat."""
        self.finished[seat] = self.turn
        logged = self.log.peek() == "finish"
        if self.finish_logged is None:
            self.finish_logged = logged
        if self.finish_logged:
            self.log.expect("finish", seat=seat)

    # ---------------------------------------------------------------- the end

    def read_end(self) -> None:
        pips = self.toggles["score"] == "covered_pips"
        scores = [sum(cards) if pips else len(cards) for cards in self.counted]
        later = {"shared": 0, "earlier_finisher_first": 1, "later_finisher_first": -1}[self.toggles["ties"]]
        merit = [(score, later * self.finished[seat]) for seat, score in enumerate(scores)]
        places = [1 + sum(other < mine for other in merit) for mine in merit]
        self.log.expect(
            "end",
            outcome="win",
            winners=[seat for seat, place in enumerate(places) if place == 1],
            losers=[],
            places=places,
            scores=scores,
            turns=self.turn,
        )
        self.log.finish()
