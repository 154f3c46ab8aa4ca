"""A naive referee for heart_attack game logs: lists and dicts of card names (RULES.md sections 0, 6, 12).

`check` follows one log line by line. Whatever the rules determine it works out by itself and demands literally; what
chance decides (the deal, who slaps wrongly, slap times, a shuffled pile, one of the tied) it checks for being possible,
then adopts. The order of stacks and of a pile taken up is compared exactly.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from tests.referee.log import CARD, RANK, Lines, Log

MOST_SEATS = 10
MOST_RE_SLAPS = 10
LAPSE_MS = 1000
FLIPS_ONCE_THROUGH = 52

MEAN_MS = range(50, 5001)
SD_MS = range(2001)
PER_MILLE = range(1001)

TOGGLES: dict[str, Collection[object]] = {
    "tie": ("nobody_takes", "re_slap", "random_of_tied"),
    "end": ("last_card_resolved", "needs_k_more_slaps", "until_one_left", "most_cards_loses_after_52"),
    "k": range(1, 11),
    "false_slap_penalty": ("take_pile", "none"),
    "restart_call": (1, "continue"),
    "pickup_order": ("fifo", "reversed", "shuffled"),
    "counter": ("shared", "per_player"),
    "deal_extra": ("first_seats", "random"),
    "first_flipper": ("seat0", "random"),
    "jokers": (0,),
    "several_false_slappers": ("first_only",),
    "false_slap_in_match": ("cannot_happen",),
    "reaction": ("lognormal", "exgaussian", "shifted_lognormal"),
    "mean_ms": MEAN_MS,
    "sd_ms": SD_MS,
    "false_rate_per_mille": PER_MILLE,
    "lapse_per_mille": PER_MILLE,
    "tie_window_ms": range(1, 2001),
    "near_factor": range(1, 101),
    "flipper_delay_ms": range(2001),
    "shift_ms": range(2001),
    "max_flips": range(1, 20_001),
}
"""The toggles of the table, each with every value it may have, in lower case."""

OWN: dict[str, Collection[object]] = {
    f"seat_{seat}_{key}": (None, *values)
    for seat in range(MOST_SEATS)
    for key, values in (
        ("mean_ms", MEAN_MS),
        ("sd_ms", SD_MS),
        ("false_rate_per_mille", PER_MILLE),
        ("lapse_per_mille", PER_MILLE),
    )
}
"""A seat's own reaction (HA-12); None means that of everybody."""


class _GameOver(Exception):
    """The game has ended: the outcome, and the winners if there are any."""

    def __init__(self, outcome: str, winners: Collection[int] = (), losers: Collection[int] = ()) -> None:
        super().__init__(outcome)
        self.outcome = outcome
        self.winners = list(winners)
        self.losers = list(losers)


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
        self.centre: list[str] = []  # the card turned first comes first
        self.turn = 0

    # ---------------------------------------------------------------- log and invariants

    def take(self, kind: str, *keys: str) -> dict[str, Any]:
        self.check_invariants()
        return self.log.take(kind, *keys)

    def expect(self, kind: str, /, **fields: object) -> None:
        self.check_invariants()
        self.log.expect(kind, **fields)

    def check_invariants(self) -> None:
        """What holds after every event."""
        cards = [*self.centre, *(card for stack in self.stacks for card in stack)]
        self.log.demand(sorted(cards) == sorted(CARD.values()), "stacks and centre are the 52 cards")
        self.log.demand(all(1 <= call <= 13 for call in self.calls), "a call is 1 to 13")
        self.log.demand(
            not any(good and self.stacks[q] for q, good in enumerate(self.good)),
            "slaps got through count for a seat without cards only",
        )

    def check_turn_start(self, taker: int | None) -> None:
        """What holds when the turn has passed on, after a take or without one."""
        self.log.demand(bool(self.stacks[self.player]), "the seat at turn has a card to turn")
        self.log.demand((taker is not None) == (not self.centre), "the centre is empty just after a take")
        if taker is not None:
            self.log.demand(self.player == taker, "a taker turns next")
            restarts = self.toggles["restart_call"] == 1
            self.log.demand(not restarts or self.call_of(taker) == 1, "after a take the call is 1")

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
        event = self.log.read_header("heart_attack", range(2, MOST_SEATS + 1))
        self.seats: int = event["seats"]
        self.toggles: dict[str, Any] = self.log.read_toggles(event["toggles"], TOGGLES | OWN, {})
        if self.toggles["reaction"] == "shifted_lognormal":
            for seat in range(self.seats):
                mean, least = self.reaction(seat, "mean_ms"), self.toggles["shift_ms"]
                if mean <= least:
                    self.log.fail(f"a mean of seat {seat} above the least time {least}", mean)

    def read_deal(self) -> None:
        event = self.log.take("deal", "hands", "stock", "first")
        stacks, first = event["hands"], event["first"]
        if not isinstance(stacks, list) or not all(isinstance(stack, list) for stack in stacks):
            self.log.fail("stacks as lists of cards", stacks)
        self.log.same_set("the cards dealt", CARD.values(), [card for stack in stacks for card in stack])
        if event["stock"] != []:
            self.log.fail("no stock", event["stock"])
        least, extra = divmod(len(CARD), self.seats)
        sizes = [least + 1] * extra + [least] * (self.seats - extra)
        logged = [len(stack) for stack in stacks]
        if self.toggles["deal_extra"] == "random":
            self.log.same_set("the sizes of the stacks", sizes, logged)
        elif logged != sizes:
            self.log.fail(f"stacks of {sizes} cards", logged)
        possible = range(self.seats) if self.toggles["first_flipper"] == "random" else [0]
        if type(first) is not int or first not in possible:
            self.log.fail(f"a first seat among {list(possible)}", first)
        self.stacks: list[list[str]] = [list(stack) for stack in stacks]
        self.player: int = first
        self.calls = [1] * (self.seats if self.toggles["counter"] == "per_player" else 1)
        self.good = [0] * self.seats  # slaps that a seat without cards has got through

    # ---------------------------------------------------------------- a turn

    def play_turn(self) -> None:
        seat = self.player
        self.turn += 1
        self.expect("turn", turn=self.turn, seat=seat, legal=[[]])
        without = [q for q in range(self.seats) if not self.stacks[q]]
        card = self.stacks[seat].pop(0)
        self.centre.append(card)
        self.expect("play", seat=seat, cards=[card], gap=0)
        call = self.call_of(seat)
        self.set_call(seat, call % 13 + 1)
        taker = self.read_slaps(seat, RANK[card], call)
        if taker is not None:
            self.take_pile(taker)
        if call == RANK[card] and taker is not None:
            for q in without:
                self.good[q] += q != taker
        self.test_end(seat)
        self.player = taker if taker is not None else self.next_with_cards(seat)
        self.check_turn_start(taker)

    def call_of(self, seat: int) -> int:
        """The number this seat calls when it turns a card."""
        return self.calls[seat if self.toggles["counter"] == "per_player" else 0]

    def set_call(self, seat: int, call: int) -> None:
        self.calls[seat if self.toggles["counter"] == "per_player" else 0] = call

    def next_with_cards(self, seat: int) -> int:
        """The next seat clockwise that can turn a card; the seat itself comes last."""
        around = [(seat + step) % self.seats for step in range(1, self.seats + 1)]
        return next(q for q in around if self.stacks[q])

    def take_pile(self, taker: int) -> None:
        """The pile goes under the taker's stack, the call begins anew."""
        pile, self.centre = self.centre, []
        if self.toggles["pickup_order"] == "shuffled":
            event = self.log.take("draw", "seat", "cards", "reason")
            if repr((event["seat"], event["reason"])) != repr((taker, "pile")):
                self.log.fail(f"seat {taker} takes the pile", event)
            self.log.same_set("the pile", pile, event["cards"])
            pile = event["cards"]
        else:
            if self.toggles["pickup_order"] == "reversed":
                pile = pile[::-1]
            self.log.expect("draw", seat=taker, cards=pile, reason="pile")
        self.stacks[taker] += pile
        self.good[taker] = 0
        if self.toggles["restart_call"] == 1:
            self.set_call(taker, 1)
        self.check_invariants()

    # ---------------------------------------------------------------- slaps

    def reaction(self, seat: int, key: str) -> int:
        """A parameter of the reaction model: the seat's own, else that of all."""
        own = self.toggles[f"seat_{seat}_{key}"]
        return int(self.toggles[key] if own is None else own)

    def read_slaps(self, flipper: int, rank: int, call: int) -> int | None:
        """Who takes the pile, if anybody."""
        match = rank == call
        everybody = range(self.seats)
        if match:
            must, may = list(everybody), list(everybody)
        else:
            factor = self.toggles["near_factor"] if abs(rank - call) == 1 else 1
            rates = [self.reaction(q, "false_rate_per_mille") * factor for q in everybody]
            must = [q for q in everybody if rates[q] >= 1000]
            may = [q for q in everybody if rates[q] > 0]
            if not must and self.log.peek() != "slap":
                return None
        times, taker = self.read_slap(flipper, must, may, due=match)
        if not match and self.toggles["false_slap_penalty"] == "none":
            self.demand_taker([None], taker)
            return None
        for slaps_again in range(MOST_RE_SLAPS + 1):
            tied = self.undecided(times, match)
            if len(tied) == 1 or self.toggles["tie"] == "random_of_tied":
                self.demand_taker(tied, taker)
                return taker
            self.demand_taker([None], taker)
            if self.toggles["tie"] == "nobody_takes" or slaps_again == MOST_RE_SLAPS:
                break
            times, taker = self.read_slap(flipper, tied, tied, due=True)
        return None

    def demand_taker(self, possible: Collection[int | None], taker: object) -> None:
        if repr(taker) not in map(repr, possible):
            self.log.fail(f"a taker among {list(possible)}", taker)

    def undecided(self, times: dict[int, int], match: bool) -> list[int]:
        """The seats that cannot be told from the last one, in a match, or from the first false slapper."""
        extreme = max(times.values()) if match else min(times.values())
        return [q for q, time in times.items() if abs(time - extreme) < self.toggles["tie_window_ms"]]

    def read_slap(
        self, flipper: int, must: list[int], may: list[int], due: bool
    ) -> tuple[dict[int, int], int | None]:
        """The times by seat of one slap line, and the taker it names."""
        event = self.take("slap", "times", "taker")
        logged = event["times"]
        if not isinstance(logged, dict) or not logged or not logged.keys() <= {str(q) for q in may}:
            self.log.fail(f"slaps of some of the seats {may}", logged)
        if missing := [q for q in must if str(q) not in logged]:
            self.log.fail(f"slaps of the seats {missing} too", logged)
        times = {q: logged[str(q)] for q in may if str(q) in logged}
        for q, time in times.items():
            self.check_time(q, time, flipper, due)
        return times, event["taker"]

    def check_time(self, seat: int, time: object, flipper: int, due: bool) -> None:
        """A time that the reaction model can bring about: whole, not too early, and exact without spread.

        A seat may dream, and be late, where a slap is due (a match, or slapping again); a false slap is never late.
        """
        if type(time) is not int:
            self.log.fail("a time in whole milliseconds", time)
        delay = self.toggles["flipper_delay_ms"] if seat == flipper else 0
        lapse = self.reaction(seat, "lapse_per_mille") if due else 0
        delays = [delay] * (lapse < 1000) + [delay + LAPSE_MS] * (lapse > 0)
        shifted = self.toggles["reaction"] == "shifted_lognormal"
        least = max(1, self.toggles["shift_ms"]) if shifted else 1
        if time < least + min(delays):
            self.log.fail(f"a time of seat {seat} of at least {least + min(delays)}", time)
        exact = [self.reaction(seat, "mean_ms") + late for late in delays]
        if self.reaction(seat, "sd_ms") == 0 and time not in exact:
            self.log.fail(f"a time of seat {seat} among {exact}", time)

    # ---------------------------------------------------------------- the end

    def test_end(self, flipper: int) -> None:
        end = self.toggles["end"]
        empty = not self.stacks[flipper]
        if end == "last_card_resolved" and empty:
            self.expect("finish", seat=flipper)
            raise _GameOver("win", [flipper])
        if end == "needs_k_more_slaps":
            self.test_slaps_got_through()
        if end == "until_one_left" and empty:
            self.expect("finish", seat=flipper)
            holders = [q for q in range(self.seats) if self.stacks[q]]
            self.log.demand(bool(holders), "somebody holds cards")
            if len(holders) == 1:
                self.lose(holders)
        if end == "most_cards_loses_after_52" and self.turn == FLIPS_ONCE_THROUGH:
            most = max(map(len, self.stacks))
            self.lose([q for q in range(self.seats) if len(self.stacks[q]) == most])
        if self.turn >= self.toggles["max_flips"]:
            raise _GameOver("stalled")

    def test_slaps_got_through(self) -> None:
        """HA-02 `needs_k_more_slaps`: whoever has got through enough of them wins; without cards nobody can go on."""
        winners = [q for q in range(self.seats) if self.good[q] >= self.toggles["k"]]
        for q in winners:
            self.log.demand(not self.stacks[q], "a winner has no cards")
            self.expect("finish", seat=q)
        if winners:
            raise _GameOver("win", winners)
        if not any(self.stacks):
            raise _GameOver("drawn")

    def lose(self, losers: list[int]) -> None:
        """These seats have lost, unless they are all there are."""
        if len(losers) == self.seats:
            raise _GameOver("drawn")
        for q in losers:
            self.expect("lose", seat=q)
        raise _GameOver("loser_found", losers=losers)

    def read_end(self, over: _GameOver) -> None:
        """Places: winners first, the others by the size of their stacks."""
        ranks = [(q not in over.winners, len(stack)) for q, stack in enumerate(self.stacks)]
        self.expect(
            "end",
            outcome=over.outcome,
            winners=over.winners,
            losers=over.losers,
            places=[1 + sum(better < rank for better in ranks) for rank in ranks],
            scores=[0] * self.seats,
            turns=self.turn,
        )
        self.log.finish()
