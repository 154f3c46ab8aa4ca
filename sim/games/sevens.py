"""排七 sevens: build the suits outward from their 7s, first empty hand wins (S2 L52-74; RULES.md section 4).

The rules in prose. All 52 cards are dealt. The holder of D7 leads it; then, clockwise, each seat plays one card: any 7,
or the card directly below the lowest or above the highest card of an opened suit. Who holds such a card must play one,
others pass without a penalty. The first empty hand wins and ends the game. Other groups cover (S2 L74): a seat without
a playable card puts one face down, all hands are played out, and the fewest covered points win.

The encoding of moves. In the main phase a move is the card to play (a set of one), 0 a pass; a seat that cannot play
passes by itself, without a decision. In the phase `cover_card` a move is the bit of the card to cover.
"""

from __future__ import annotations

import functools
import operator
import sys
from collections import namedtuple
from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import numpy as np
from pydantic import Field

from sim.cards import CARDS, LANE, LANE_MASK, RANK_SET, bits_of, card_name, card_names, mask_of
from sim.events import ELIMINATE, FINISH, MOVE, PASS, PLAY, PUT, TURN, WORD, emit, recording
from sim.features import note
from sim.games import (
    BY_TURN,
    SHARE,
    SURVIVOR,
    WIN,
    Card,
    Counter,
    Feature,
    Game,
    ImpossiblePosition,
    Partition,
    PositionModel,
    Ratio,
    ToggleModel,
    toggle,
)
from sim.jit import helper, lowest, nth_bit, outlined, popcount
from sim.knowledge import CHOICES_SEEN, SHARING, clear_sharing, note_choice, share_out
from sim.rng import CHANCE, below

PROSE = {
    "en": "All cards are dealt; the suits are built up and down from their 7s, one card a turn. Who can play must, "
    "others pass. The first empty hand wins.",
    "zh-Hant": "52 張全部發完，各花色由 7 向兩端接牌，每回合出一張。有牌必出，無牌可出就跳過，先出完手牌者勝。",
}


# --- Toggles ----------------------------------------------------------------------------------------------------------


class SevensToggles(ToggleModel):
    """Every rule of sevens that can be set, in the order of the rules table."""

    start_card: Literal["D7", "S7", "H7", "any_7_by_dealer_left"] = toggle(
        "SV-01",
        "D7",
        "Who leads with what: the holder of this 7, or the first seat with a 7 from the dealer's left (seat 0) with "
        "any of his; the rules text has D7 and knows other customs.",
        "由誰以哪張牌先出：持有此 7 者，或由莊家下家（0 號）起第一位有 7 者任出一張 7；原文為方塊 7，並提及其他習慣。",
    )
    no_move: Literal["pass", "cover"] = toggle(
        "SV-02",
        "pass",
        "What a seat without a playable card does: it passes, or it covers a card that counts against it; the text "
        "passes and leaves covering to other groups.",
        "無牌可出時：跳過，或蓋一張牌計分；原文採跳過，蓋牌為其他人的玩法。",
        impact="H",
    )
    cover_score: Literal["pips", "count"] = toggle(
        "SV-03",
        "pips",
        "What a covered card counts: its pips (A 1 to K 13), or one; acts under `no_move: cover`, fewest win.",
        "蓋牌的計分：牌面點數（A 為 1 至 K 為 13）或每張 1 分；僅用於蓋牌玩法，分數最少者勝。",
        impact="M",
    )
    all_covered_wins: bool = toggle(
        "SV-03",
        False,
        "Whether a seat that covers its whole hand wins; acts under `no_move: cover`; the text does not know it.",
        "整手牌全部蓋掉者是否反而獲勝；僅用於蓋牌玩法，原文未提。",
        impact="M",
    )
    forced_play: Literal["yes", "may_pass", "max_3_passes"] = toggle(
        "SV-04",
        "yes",
        "Whether who can play must: yes; no, one may pass (or cover) at will; or yes, and a fourth forced pass lays "
        "the hand out and loses. The text: with a playable card one must play.",
        "有牌是否必出：必出；可自願跳過（或蓋牌）；或必出且第四次被迫跳過時攤牌落敗。原文為有牌必出。",
        impact="H",
    )
    pass_fee: Literal[0, 1] = toggle(
        "SV-05",
        0,
        "Counters a pass costs, paid into a pool that the winner takes; the text has no penalty.",
        "每次跳過付幾枚籌碼，由贏家全收；原文跳過不罰分。",
    )
    end: Literal["first_out", "play_to_places"] = toggle(
        "SV-06",
        "first_out",
        "When the game ends: at the first empty hand (the text), or when one seat is left, for all places; when "
        "covering, all cards are played out in any case.",
        "何時結束：有人先出完（原文），或打到只剩一家以定名次；蓋牌玩法一律打完所有牌。",
        impact="M",
    )
    extra_cards: Literal["first_seats_dealt", "random", "rotate"] = toggle(
        "SV-07",
        "first_seats_dealt",
        "Which seats hold one card more when 52 does not divide: the first ones dealt to, seats drawn by lot, or "
        "neighbours, beginning one seat on with every deal.",
        "張數無法平分時由誰多拿一張：先發到的幾家、抽籤決定，或每局往下輪一家起連續幾家。",
        impact="H",
    )
    wrap: bool = toggle(
        "SV-08",
        False,
        "Whether K and A are adjacent, so that a suit closes to a ring; in the text A is the lowest card.",
        "K 與 A 是否相連成環；原文 A 為最小。",
    )
    ace_high: bool = toggle(
        "SV-11",
        False,
        "Whether A follows K at the high end instead of preceding 2; in the text A is the lowest card.",
        "A 是否改接在 K 之後而非 2 之前；原文 A 為最小。",
    )
    eight_before_six: bool = toggle(
        "SV-09",
        False,
        "Whether a suit's 6 must wait for its 8; some groups build up first, the text does not.",
        "同花色須先出 8 才能出 6；部分玩法如此，原文無此限。",
    )


PLAIN, WRAP, ACE_HIGH = range(3)
FIRST_SEATS, BY_LOT, ROTATE = range(3)
FORCED, MAY_PASS, THREE_PASSES = range(3)
MOST_PASSES = 3


class SevensRules(NamedTuple):
    """The toggles as the kernel reads them: integers, with rare toggles behind derived flags."""

    seats: int
    jokers: int
    decks: int
    max_turns: int  # the natural bound (4.3)
    start: int  # SV-01: the cards that may open the game
    cover: int  # SV-02
    count_covers: int  # SV-03
    all_covered_wins: int  # SV-03
    passing: int  # SV-04
    fee: int  # SV-05
    places: int  # SV-06
    extra: int  # SV-07
    order: int  # SV-08, SV-11: which ranks are neighbours
    eight_first: int  # SV-09
    quick: int  # whether it is the game of the rules text: forced plays and passes up to the first empty hand


SEVENS = RANK_SET << 6


def make_rules(toggles: SevensToggles, seats: int) -> SevensRules:
    """The kernel's rules from the toggles, for a number of seats. Raises ValueError for toggles that contradict."""
    t = toggles
    if t.no_move == "cover" and t.forced_play == "max_3_passes":
        raise ValueError("forced_play: max_3_passes counts passes, and no_move: cover leaves none")
    if t.wrap and t.ace_high:
        raise ValueError("wrap lets A follow K and precede 2; ace_high lets it only follow K")
    passing = ("yes", "may_pass", "max_3_passes").index(t.forced_play)
    cover = t.no_move == "cover"
    # Forced play: at most N turns a card; if all may pass, at most N such rounds and one more (4.3).
    turns = 1 + 51 * (seats * (seats + 1) if passing == MAY_PASS else seats)
    return SevensRules(
        seats=seats,
        jokers=0,
        decks=1,
        max_turns=52 if cover else turns,
        start=SEVENS if t.start_card == "any_7_by_dealer_left" else mask_of([t.start_card]),
        cover=int(cover),
        count_covers=int(t.cover_score == "count"),
        all_covered_wins=int(t.all_covered_wins),
        passing=passing,
        fee=0 if cover else t.pass_fee,
        places=int(t.end == "play_to_places"),
        extra=("first_seats_dealt", "random", "rotate").index(t.extra_cards),
        order=WRAP if t.wrap else ACE_HIGH if t.ace_high else PLAIN,
        eight_first=int(t.eight_before_six),
        quick=int(
            not (cover or t.wrap or t.ace_high or t.eight_before_six)
            and passing == FORCED
            and t.end == "first_out"
        ),
    )


# --- State ------------------------------------------------------------------------------------------------------------

SEATS = 8

COUNTERS = (
    Counter("passes", "passes", "跳過次數", bins=BY_TURN),
    Counter("voluntary", "voluntary passes and covers", "自願跳過或蓋牌次數"),
    Counter("winner_passes", "passes of the winner", "贏家的跳過次數"),
    Counter("covers", "cards covered", "蓋牌張數", bins=53),
    Counter("cover_points", "points covered", "蓋牌總分", bins=366),
    Counter("eliminated", "seats out by a fourth pass", "第四次跳過而出局的人數"),
    Counter("all_covered", "seats that covered their whole hand", "整手全蓋的人數"),
    Counter("last_seven_turn", "turn of the last 7 played", "最後一張 7 打出的回合"),
    Counter("open_suits", "suits opened at the end", "終局已開的花色數"),
    Counter("complete_suits", "complete suits at the end", "終局完成的花色數"),
    Counter("cards_left", "cards left in hands at the end", "終局各家剩餘手牌總張數", bins=53),
    Counter("runner_up_cards", "fewest cards left in another hand", "其他人最少的剩餘張數"),
)
C: Any = namedtuple("C", [counter.name for counter in COUNTERS])(*range(len(COUNTERS)))
"""The index of each counter by name."""

RATIOS = (
    Ratio("pass_share", "passes", "turns", "share of turns that are passes", "跳過回合占比"),
    Ratio("choice_share", "choices", "turns", "share of turns with a real choice", "有選擇的回合占比"),
    Ratio("cover_share", "covers", "turns", "share of turns that cover a card", "蓋牌回合占比"),
)

PARTITIONS = (
    Partition("sevens", tuple("01234"), "7s in the opening hand", "起手 7 的張數"),
    Partition(
        "aces_kings",
        tuple(str(k) for k in range(9)),
        "Aces and Kings in the opening hand",
        "起手 A 與 K 張數",
    ),
    Partition("extra_cards", ("0", "1"), "cards dealt beyond the smallest hand", "比最少者多拿的張數"),
)

MAIN, COVER_CARD = range(2)
PHASES = ("main", "cover_card")
CHOICES: dict[str, str | tuple[str, ...]] = {"cover_card": "card"}

STATE = np.dtype(
    [
        ("hand", np.int64, SEATS),
        ("table", np.int64),
        ("options", np.int64),  # what the mover may play
        ("free_pass", np.int64),  # whether he may pass beside that
        ("cur", np.int64),
        ("first", np.int64),
        ("turn", np.int64),
        ("phase", np.int64),
        ("over", np.int64),  # 0, or the outcome's code + 1
        ("seven_turn", np.int64),
        ("unwilling", np.int64),  # voluntary passes since the last play
        ("moment", np.int64),  # seats that have finished or lost so far
        ("out", np.int64),  # bit mask of the seats that lost by a fourth pass
        ("began", np.int64, SEATS),  # cards at the start
        ("passed", np.int64, SEATS),  # passes; in quick rules only those before the start of a given position
        ("covered", np.int64, SEATS),
        ("points", np.int64, SEATS),
        ("out_moment", np.int64, SEATS),
        ("out_turn", np.int64, SEATS),
        ("count", np.int64, len(COUNTERS)),
    ]
)


@helper
def deal(rules, deck, number, loser, state, rng):
    """Deal round robin from seat 0; the cards that are left over one each to the seats that SV-07 names.

    Only these last cards depend on SV-07, so that hands stay as equal as can be across rulesets.
    """
    _clear(state)
    seats = rules.seats
    rounds = 52 // seats
    for p in range(seats):
        hand = 0
        for k in range(rounds):
            hand |= 1 << np.int64(deck[p + k * seats])
        state.hand[p] = hand
        state.began[p] = rounds
    if rounds * seats < 52:
        _deal_extra(rules, deck, number, state, rng)
    _find_start(rules, state)


@helper
def _clear(state):
    for p in range(SEATS):
        state.hand[p] = 0
        state.began[p] = 0
        state.passed[p] = 0
        state.covered[p] = 0
        state.points[p] = 0
        state.out_moment[p] = 0
        state.out_turn[p] = 0
    for k in range(state.count.size):
        state.count[k] = 0
    state.table = state.options = state.free_pass = state.phase = state.over = state.seven_turn = 0
    state.unwilling = state.moment = state.out = 0
    state.turn = 1


@helper
def _deal_extra(rules, deck, number, state, rng):
    """One card more for some seats (S2 L58)."""
    dealt = 52 // rules.seats * rules.seats
    seat = number % rules.seats if rules.extra == ROTATE else 0
    waiting = (1 << rules.seats) - 1
    for i in range(dealt, 52):
        if rules.extra == BY_LOT:
            n = popcount(waiting)
            drawn = nth_bit(waiting, below(rng, CHANCE, n))
            waiting ^= drawn
            seat = lowest(drawn)
        state.hand[seat] |= 1 << np.int64(deck[i])
        state.began[seat] += 1
        seat = (seat + 1) % rules.seats


@helper
def _find_start(rules, state):
    """The first player: the first seat from seat 0 that holds a card which may open the game (SV-01)."""
    first = 0
    for p in range(rules.seats - 1, -1, -1):
        if state.hand[p] & rules.start:
            first = p
    state.first = first
    state.cur = first


# --- Legal moves ------------------------------------------------------------------------------------------------------

SIXES = RANK_SET << 5
TOP = RANK_SET << 12


def neighbours(order, cards):
    """The cards adjacent to some cards: in the suit's order, or in that of SV-08 or SV-11."""
    if order == PLAIN:
        return (cards << 1 | cards >> 1) & CARDS
    ring = (cards & TOP) >> 12 | (cards & RANK_SET) << 12
    if order == WRAP:
        return (cards << 1 | cards >> 1) & CARDS | ring
    return (cards & ~RANK_SET) << 1 & CARDS | cards >> 1 & CARDS & ~RANK_SET | ring


_neighbours = helper(neighbours)


@helper
def _live(rules, table):
    """The cards that may be played on a table (S2 L62-66); on the empty one those that open the game."""
    if table == 0:
        return rules.start
    live = (_neighbours(rules.order, table) | SEVENS) & ~table
    if rules.eight_first:
        live &= ~SIXES | table >> 2
    return live


@helper
def _free_pass(rules, state, options):
    """Whether the mover may pass or cover although he can play (SV-04): not at the start, nor, as all might pass for
    ever, after N such passes since the last play."""
    bounded = rules.cover or state.unwilling < rules.seats
    return rules.passing == MAY_PASS and options != 0 and state.table != 0 and bounded


@helper
def moves(rules, state, out):
    """Every legal move: the playable cards in bit order, then 0 for a pass; the bits of the hand when covering."""
    covering = state.phase == COVER_CARD
    hand = state.hand[state.cur]
    rest = hand if covering else hand & _live(rules, state.table)
    n = 0
    while rest:
        out[n] = lowest(rest) if covering else rest & -rest
        n += 1
        rest &= rest - 1
    if n == 0 or (not covering and _free_pass(rules, state, out[0])):
        out[n] = 0
        n += 1
    return n


@helper
def pick(rules, state, rng, stream, out):
    """A uniformly random legal move and their number, in the order of `moves`."""
    if state.phase == COVER_CARD:
        hand = state.hand[state.cur]
        n = popcount(hand)
        return lowest(nth_bit(hand, below(rng, stream, n))), n
    options = state.options
    n = popcount(options) + state.free_pass
    k = below(rng, stream, n)
    return nth_bit(options, k), n  # no such bit gives 0: a pass


@helper
def cost(rules, state, move):
    """Plays and passes cost nothing."""
    return 0


# --- A turn -----------------------------------------------------------------------------------------------------------


@outlined
def _log_turn(state, log):
    """Log the start of a turn with its legal moves. Only ever called when a log is kept."""
    emit(log, TURN, state.turn, state.cur)
    rest = state.options
    while rest:
        emit(log, MOVE, rest & -rest)
        rest &= rest - 1
    if state.options == 0 or state.free_pass:
        emit(log, MOVE, 0)


@helper
def _next_seat(rules, state, seat):
    """The next seat clockwise that holds cards."""
    after = 0
    for p in range(rules.seats):
        after |= (state.hand[p] != 0) << p
    after = (after | after << rules.seats) >> (seat + 1)
    seat += 1 + lowest(after)
    return seat if seat < rules.seats else seat - rules.seats


@helper
def _leave(rules, state, seat):
    """A seat is out of the game, finished or lost. The game may be over with that (SV-06)."""
    state.moment += 1
    state.out_moment[seat] = state.moment
    state.out_turn[seat] = state.turn
    holding = 0
    for p in range(rules.seats):
        holding += state.hand[p] != 0
    finished = state.moment > popcount(state.out)
    if holding == 1 or (finished and not rules.places):
        state.over = 1 + (WIN if finished else SURVIVOR)


@helper
def _forced_pass(rules, state, log):
    """The mover cannot play and passes; a fourth time under `max_3_passes` his hand goes on the table and he loses."""
    seat = state.cur
    if rules.passing == THREE_PASSES and state.passed[seat] == MOST_PASSES:
        rest = state.hand[seat]
        state.table |= rest
        state.hand[seat] = 0
        while rest:
            emit(log, PUT, seat, lowest(rest), WORD.table)
            rest &= rest - 1
        emit(log, ELIMINATE, seat, WORD.limit)
        state.out |= 1 << seat
        _leave(rules, state, seat)
        return
    emit(log, PASS, seat)
    if not rules.quick:
        state.passed[seat] += 1


@outlined
def _start_turns(rules, state, log):
    """Start the turn of `cur`, and the turns after it, up to the first that asks for a decision."""
    while True:
        state.options = state.hand[state.cur] & _live(rules, state.table)
        state.free_pass = np.int64(_free_pass(rules, state, state.options))
        if recording(log):
            _log_turn(state, log)
        if state.options:
            state.phase = MAIN
            return
        if rules.cover:
            state.phase = COVER_CARD
            return
        _forced_pass(rules, state, log)
        if state.over:
            return
        state.turn += 1
        state.cur = _next_seat(rules, state, state.cur)


@helper
def begin(rules, state, rng, log):
    """Start the turn of a dealt or given position and go on to its first decision."""
    _start_turns(rules, state, log)


@helper
def mover(rules, state):
    """The player at turn."""
    return state.cur


@helper
def is_over(rules, state):
    """Whether the game has ended."""
    return state.over != 0


@helper
def _take_turn(rules, state, move):
    """A play of the plain game and the turn of the next seat that can play: the turns between are passes."""
    seat = state.cur
    hand = state.hand[seat] ^ move
    table = state.table | move
    state.hand[seat] = hand
    state.table = table
    state.seven_turn = max(state.seven_turn, state.turn * (move & SEVENS != 0))
    if hand == 0:
        state.over = WIN + 1
        state.out_turn[seat] = state.turn
        return
    live = ((table << 1 | table >> 1) & CARDS | SEVENS) & ~table
    turn = state.turn
    options = 0
    while options == 0:
        turn += 1
        seat += 1
        seat = seat if seat < rules.seats else 0
        options = state.hand[seat] & live
    state.turn = turn
    state.cur = seat
    state.options = options


@outlined
def _take_any_turn(rules, state, move, log):
    """A decision of any ruleset, and all that follows up to the next one."""
    seat = state.cur
    if state.phase == COVER_CARD:
        emit(log, PUT, seat, move, WORD.covered)
        state.hand[seat] ^= 1 << move
        state.covered[seat] |= 1 << move
        state.points[seat] += 1 if rules.count_covers else move % LANE + 1
    elif move == 0:
        state.count[C.voluntary] += 1
        if rules.cover:
            state.phase = COVER_CARD
            return
        emit(log, PASS, seat)
        state.passed[seat] += 1
        state.unwilling += 1
    else:
        emit(log, PLAY, seat, move, 0)
        state.hand[seat] ^= move
        state.table |= move
        state.unwilling = 0
        if move & SEVENS:
            state.seven_turn = state.turn
    if state.hand[seat] == 0 and not rules.cover:
        emit(log, FINISH, seat)
        _leave(rules, state, seat)
    if rules.cover and not _anyone_holds_cards(rules, state):
        state.over = WIN + 1
    if not state.over:
        state.turn += 1
        state.cur = _next_seat(rules, state, seat)
        _start_turns(rules, state, log)


@helper
def _anyone_holds_cards(rules, state):
    cards = 0
    for p in range(rules.seats):
        cards |= state.hand[p]
    return cards != 0


@helper
def apply(rules, state, move, rng, log):
    """Make a move of the present phase and all that follows up to the next decision or the end."""
    if rules.quick and not recording(log):
        _take_turn(rules, state, move)
    else:
        _take_any_turn(rules, state, move, log)


# --- Results ----------------------------------------------------------------------------------------------------------

LAST = 1000
"""Behind every number of cards or points that a seat can have."""


@helper
def gains_alone(rules):
    """A play of the plain game leaves the mover with a card less."""
    return rules.quick != 0


@helper
def _has_covered_all(rules, state, seat):
    return rules.cover and state.covered[seat] != 0 and popcount(state.covered[seat]) == state.began[seat]


@helper
def standing(rules, state, seat):
    """Fewest cards lead, or fewest covered points; a seat that has lost is behind everybody.

    The order of the final places: who has finished, in that order; cards in hand; who has lost, the latest first.
    """
    if rules.quick:
        return popcount(state.hand[seat])
    if rules.cover:
        return -1 if rules.all_covered_wins and _has_covered_all(rules, state, seat) else state.points[seat]
    if state.out >> seat & 1:
        return LAST - state.out_moment[seat]
    return popcount(state.hand[seat]) if state.hand[seat] else state.out_moment[seat] - LAST


@helper
def _passes(rules, state, seat):
    """The passes of a seat; in quick rules its turns less its plays."""
    if not rules.quick:
        return state.passed[seat]
    position = seat - state.first
    position += rules.seats if position < 0 else 0
    turns = (state.turn - position + rules.seats - 1) // rules.seats
    return state.passed[seat] + turns - (state.began[seat] - popcount(state.hand[seat]))


@helper
def _count_end(rules, state):
    """The counters that the final position tells."""
    table = state.table
    count = state.count
    count[C.last_seven_turn] = state.seven_turn
    count[C.open_suits] = popcount(table & SEVENS)
    for suit in range(4):
        count[C.complete_suits] += table >> (LANE * suit) & LANE_MASK == LANE_MASK
    count[C.eliminated] = popcount(state.out)
    for p in range(rules.seats):
        count[C.cards_left] += popcount(state.hand[p])
        count[C.covers] += popcount(state.covered[p])
        count[C.cover_points] += state.points[p]
        count[C.all_covered] += _has_covered_all(rules, state, p)


@helper
def outcome(rules, state, row):
    """Outcome, places, win shares (in 1/2520), scores, per-seat figures and counters."""
    _count_end(rules, state)
    seats = rules.seats
    row.outcome = state.over - 1
    row.turns = state.turn
    row.first = state.first
    winners = 0
    passes = 0
    for p in range(seats):
        mine = standing(rules, state, p)
        place = 1
        for q in range(seats):
            place += standing(rules, state, q) < mine
        row.place[p] = place
        winners += place == 1
        passed = _passes(rules, state, p)
        passes += passed
        row.score[p] = -state.points[p] - rules.fee * passed
        row.drawn[p] = popcount(state.covered[p])
        row.largest[p] = state.began[p]
        row.out_turn[p] = state.out_turn[p]
    state.count[C.passes] = passes
    runner_up = 52
    for p in range(seats):
        first = row.place[p] == 1
        row.share[p] = SHARE // winners if first else 0
        if first:
            row.score[p] += rules.fee * passes
            state.count[C.winner_passes] += _passes(rules, state, p)
        else:
            runner_up = min(runner_up, popcount(state.hand[p]))
    state.count[C.runner_up_cards] = 0 if winners == seats else runner_up
    for k in range(state.count.size):
        row.count[k] = state.count[k]


@helper
def opening(rules, state, seat, classes):
    """The opening hand, and its class in each partition."""
    hand = state.hand[seat]
    classes[0] = popcount(hand & SEVENS)
    classes[1] = popcount(hand & (RANK_SET | TOP))
    classes[2] = state.began[seat] - 52 // rules.seats
    return hand


# --- Features ---------------------------------------------------------------------------------------------------------

FEATURES = (
    Feature("goes_out", "whether the hand is empty afterwards", "出完後是否清空手牌"),
    Feature("seven", "whether it is a 7", "是否為 7"),
    Feature("end_card", "whether it is an A or a K", "是否為 A 或 K"),
    Feature(
        "safe",
        "whether it lets nobody else in: each card it makes playable is one's own",
        "是否不替他人開路：新增的可出牌都在自己手中",
    ),
    Feature("opens_own", "own cards that become playable", "自己新增的可出牌數"),
    Feature("opens_others", "cards of others that become playable", "他人新增的可出牌數"),
    Feature("own_beyond", "own cards farther out in that direction", "同方向更外側的自己手牌數"),
    Feature("others_beyond", "cards of others farther out in that direction", "同方向更外側的他人手牌數"),
    Feature("passes", "whether it is a voluntary pass", "是否自願跳過"),
    Feature("points", "points that covering the card costs", "蓋此牌的分數"),
)
F: Any = namedtuple("F", [feature.name for feature in FEATURES])(*range(len(FEATURES)))
"""The index of each feature by name."""


@helper
def _beyond(bit):
    """The cards of the suit that lie farther from the 7 than the card at `bit`; of a 7 the whole rest."""
    lane = LANE_MASK << (bit // LANE * LANE)
    upper = lane & -(2 << bit)
    lower = lane & ((1 << bit) - 1)
    rank = bit % LANE + 1
    return (upper if rank >= 7 else 0) | (lower if rank <= 7 else 0)


@helper
def features(rules, state, move, x):
    """What the player at turn knows about a move: own hand and table; cards seen in neither are somewhere else."""
    hand = state.hand[state.cur]
    table = state.table
    covering = state.phase == COVER_CARD
    if move == 0 and not covering:
        note(x, F.passes, 1)
        return
    bit = move if covering else lowest(move)
    card = 1 << bit
    hand ^= card
    unseen = ~(hand | table | card | state.covered[state.cur])
    beyond = _beyond(bit)
    note(x, F.own_beyond, popcount(beyond & hand))
    note(x, F.others_beyond, popcount(beyond & unseen))
    note(x, F.end_card, card & (RANK_SET | TOP) != 0)
    if covering:
        note(x, F.points, 1 if rules.count_covers else bit % LANE + 1)
        return
    opened = _live(rules, table | card) & ~(_live(rules, table) if table else SEVENS)
    note(x, F.goes_out, hand == 0)
    note(x, F.seven, card & SEVENS != 0)
    note(x, F.opens_own, popcount(opened & hand))
    note(x, F.opens_others, popcount(opened & unseen))
    note(x, F.safe, opened & unseen == 0)


# --- What a seat has seen ---------------------------------------------------------------------------------------------

MEMORY = np.dtype(
    [
        *SHARING,
        *CHOICES_SEEN,
        ("table", np.int64),
        ("absent", np.int64, SEATS),  # cards that a seat is proved not to hold: it could not play them
        ("covers", np.int64),  # cards covered so far, and of each:
        ("coverer", np.int64, 52),
        ("not_covered", np.int64, 52),  # cards that it is proved not to be
    ]
)


@helper
def _note_cover(memory, seat):
    note_choice(memory, seat, ~memory.covers, memory.table)
    memory.coverer[memory.covers] = seat
    memory.not_covered[memory.covers] = memory.absent[seat]
    memory.covers += 1


@helper
def forget(rules, state, memory):
    """Nothing is known of a hand, nor of a card that lies covered already."""
    memory.table = state.table
    memory.covers = 0
    for p in range(SEATS):
        memory.absent[p] = 0
        for _ in range(popcount(state.covered[p])):
            _note_cover(memory, p)
    memory.choices = 0


@helper
def remember(rules, memory, event, a, b, c, d):
    """Table cards, covers, and what a pass or a cover proves: that a seat forced to play held nothing playable."""
    if event == PLAY:
        note_choice(memory, a, b, memory.table)
        memory.table |= b
    elif event == PUT and c == WORD.table:
        memory.table |= 1 << b
    elif event in (PASS, PUT):
        if rules.passing != MAY_PASS:
            memory.absent[a] |= _live(rules, memory.table)
        if event == PUT:
            _note_cover(memory, a)


@helper
def resample(rules, state, memory, seat, rng, stream):
    """The hands and covered cards of the others, uniform over all that their passes and covers allow."""
    seats = rules.seats
    places = seats + memory.covers
    clear_sharing(memory, places)
    hidden = 0
    for p in range(seats):
        if p != seat:
            hidden |= state.hand[p] | state.covered[p]
            memory.room[p] = popcount(state.hand[p])
            memory.barred[p] = memory.absent[p]
    for k in range(memory.covers):
        memory.room[seats + k] = memory.coverer[k] != seat
        memory.barred[seats + k] = memory.not_covered[k]
    share_out(memory, hidden, places, rng, stream)
    reveal(rules, state, memory, seat)


@helper
def reveal(rules, state, memory, seat):
    """The shares are the hands of the others, and then the cards covered, each by itself."""
    seats = rules.seats
    for p in range(seats):
        if p != seat:
            state.hand[p] = memory.share[p]
            state.covered[p] = 0
            state.points[p] = 0
    for k in range(memory.covers):
        p = memory.coverer[k]
        if p != seat:
            state.covered[p] |= memory.share[seats + k]
            state.points[p] += 1 if rules.count_covers else lowest(memory.share[seats + k]) % LANE + 1


@helper
def recall(rules, state, memory, k):
    """A choice is a card played, or covered (~ the number of the cover); before it the table was as noted.

    How often others passed by choice is not put back: it only ends free passes, which are no choices noted here.
    """
    seat = memory.chooser[k]
    chosen = memory.chosen[k]
    state.cur = seat
    state.table = memory.met[k]
    if chosen >= 0:
        state.phase = MAIN
        state.hand[seat] |= chosen
        return chosen
    card = memory.share[rules.seats + ~chosen]
    state.phase = COVER_CARD
    state.hand[seat] |= card
    state.covered[seat] &= ~card
    return lowest(card)


# --- Positions --------------------------------------------------------------------------------------------------------


class SevensPosition(PositionModel):
    """A position. Cards that stand nowhere are dealt, by `seed`, to the seats whose hands are left empty."""

    table: list[Card] = []
    covered: list[list[Card]] = []  # by seat
    passes: list[int] = []  # by seat, so far
    passes_in_a_row: int = Field(0, ge=0)  # voluntary ones since the last play
    finished: list[int] = []  # seats, in the order of going out
    eliminated: list[int] = []


def from_position(
    rules: SevensRules, position: SevensPosition, state: Any, shuffled: Callable[[list[int]], list[int]]
) -> None:
    """Set `state` to a given position (DESIGN, Positions). Raises ImpossiblePosition with the reason."""
    for name in STATE.names or ():
        state[name] = 0
    state.turn = 1
    seats = rules.seats
    hands = [mask_of(hand) for hand in position.hands]
    covered = [mask_of(cards) for cards in position.covered] or [0] * seats
    state.table = mask_of(position.table)
    _check_table(rules, position)
    _check_seats(rules, position)
    gone = {*position.finished, *position.eliminated}
    _deal_rest(position, hands, covered, gone, shuffled)
    for p in range(seats):
        state.hand[p], state.covered[p] = hands[p], covered[p]
        state.began[p] = hands[p].bit_count() + covered[p].bit_count()
        state.points[p] = sum(1 if rules.count_covers else bit % LANE + 1 for bit in bits_of(covered[p]))
    state.passed[:seats] = position.passes or [0] * seats
    state.unwilling = position.passes_in_a_row
    for moment, seat in enumerate([*position.finished, *position.eliminated], 1):
        state.out_moment[seat] = moment
    state.moment = len(gone)
    state.out = sum(1 << seat for seat in position.eliminated)
    state.cur = state.first = position.to_move
    if not position.table:
        openers = [p for p in range(seats) if hands[p] & rules.start]
        if not openers:
            raise ImpossiblePosition("hands", "nobody holds a card to open the game with")
        state.cur = state.first = openers[0]
    elif not hands[position.to_move]:
        raise ImpossiblePosition("to_move", f"seat {position.to_move} holds no cards")


def _check_table(rules: SevensRules, position: SevensPosition) -> None:
    """Every table card is joined to its 7, unless a laid-out hand may have left holes."""
    table = mask_of(position.table)
    if rules.passing == THREE_PASSES and position.eliminated:
        return
    joined, grown = 0, table & SEVENS
    while joined != grown:
        joined, grown = grown, grown | neighbours(rules.order, grown) & table
    if table != joined:
        name = card_name(bits_of(table & ~joined)[0])
        raise ImpossiblePosition("table", f"{name} is not joined to a 7")
    if rules.eight_first and table & SIXES & ~(table >> 2):
        raise ImpossiblePosition("table", "a 6 lies without its 8")


def _check_seats(rules: SevensRules, position: SevensPosition) -> None:
    """Lists by seat have an entry a seat, and seats that are out hold no cards."""
    for key, by_seat in (("covered", position.covered), ("passes", position.passes)):
        if len(by_seat) not in (0, rules.seats):
            raise ImpossiblePosition(key, f"{len(by_seat)} entries for {rules.seats} seats")
    if any(position.covered) and not rules.cover:
        raise ImpossiblePosition("covered", "nobody covers cards under this ruleset")
    if position.finished and not rules.places:
        raise ImpossiblePosition("finished", "the game ends at the first empty hand under this ruleset")
    if position.eliminated and rules.passing != THREE_PASSES:
        raise ImpossiblePosition("eliminated", "nobody is eliminated under this ruleset")
    for key, gone in (("finished", position.finished), ("eliminated", position.eliminated)):
        for seat in gone:
            if not 0 <= seat < rules.seats:
                raise ImpossiblePosition(key, f"there is no seat {seat}")
            if position.hands[seat]:
                raise ImpossiblePosition(key, f"seat {seat} still holds cards")


def _deal_rest(
    position: SevensPosition,
    hands: list[int],
    covered: list[int],
    gone: set[int],
    shuffled: Callable[[list[int]], list[int]],
) -> None:
    """Deal the cards that stand nowhere, round robin, to the seats whose hands are left empty."""
    given = [mask_of(position.table), *hands, *covered]
    seen = functools.reduce(operator.or_, given)
    if seen.bit_count() < sum(cards.bit_count() for cards in given):
        raise ImpossiblePosition("covered", "a covered card stands somewhere else too")
    if seen & ~CARDS:
        raise ImpossiblePosition("hands", "there are no Jokers in this game")
    rest = bits_of(CARDS & ~seen)
    empty = [p for p, hand in enumerate(hands) if not hand and p not in gone]
    if rest and not empty:
        raise ImpossiblePosition(
            "hands", f"{card_name(rest[0])} stands nowhere, and no hand is left empty for it"
        )
    for k, bit in enumerate(shuffled(rest) if rest else []):
        hands[empty[k % len(empty)]] |= 1 << bit


def to_position(rules: SevensRules, state: Any) -> dict[str, Any]:
    """The state in a position file's own keys."""
    seats = range(rules.seats)
    gone = sorted((p for p in seats if state.out_moment[p]), key=lambda p: int(state.out_moment[p]))
    lost = [p for p in gone if int(state.out) >> p & 1]
    covered = [card_names(state.covered[p]) for p in seats]
    passes = _passes_so_far(rules, state)
    position = {
        "hands": [card_names(state.hand[p]) for p in seats],
        "table": card_names(state.table),
        "to_move": int(state.cur),
    }
    further = {
        "covered": covered if any(covered) else [],
        "passes": passes if any(passes) else [],
        "passes_in_a_row": int(state.unwilling),
        "finished": [p for p in gone if p not in lost] if rules.places else [],
        "eliminated": lost,
    }
    return position | {key: value for key, value in further.items() if value}


def _passes_so_far(rules: SevensRules, state: Any) -> list[int]:
    """The passes of each seat before the turn at hand, as `_passes` has them."""
    passed = [int(state.passed[p]) for p in range(rules.seats)]
    if rules.quick:
        for p in range(rules.seats):
            position = (p - int(state.first)) % rules.seats
            turns = (int(state.turn) - 1 - position + rules.seats - 1) // rules.seats
            passed[p] += turns - (int(state.began[p]) - int(state.hand[p]).bit_count())
    return passed


GAME = Game(
    name="sevens",
    title={"en": "Sevens", "zh-Hant": "排七"},
    prose=PROSE,
    Toggles=SevensToggles,
    Position=SevensPosition,
    Rules=SevensRules,
    rules=make_rules,
    state=STATE,
    memory=MEMORY,
    min_seats=2,
    max_seats=SEATS,
    phases=PHASES,
    choices=CHOICES,
    counters=COUNTERS,
    ratios=RATIOS,
    partitions=PARTITIONS,
    features=FEATURES,
    cost={"en": "gap", "zh-Hant": "差"},
    scored=1,
    usual={"seats": 4, "jokers": 0, "decks": 1, "quick": 1},
    module=sys.modules[__name__],
)
