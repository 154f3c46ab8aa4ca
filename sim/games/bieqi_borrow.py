"""憋七 bieqi_borrow: the table version of bieqi with a Joker and borrowing (S4 L132-150; RULES.md section 8).

The rules in prose. 52 cards and one Joker are dealt out; the seat dealt first may get a card more. The seat with the S7
leads it. In turn each seat must play a live card if it holds one: a 7, or the neighbour of a card of the same suit on
the table. The Joker is never live. A seat without a live card borrows: the next seat that holds cards gives it one card
of its own choice, the Joker allowed, and the borrower's turn is over. Seats without cards are skipped. The game ends
when all 52 cards lie on the table. The first seat to run out of cards wins, the seat left with the Joker loses.

The encoding of moves. In the main phase a move is the card set of the card played; a turn without a live card has the
one move 0, which is made without asking. Then, if borrowing is optional, the borrower decides (borrow: 0 borrow, 1
pass), and the lender chooses the card it gives (lend_card: a card bit); in that phase the lender is the mover. A card
that the borrower draws blind is an event of the table.
"""

from __future__ import annotations

import functools
import math
import operator
import sys
from collections import namedtuple
from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import numpy as np

from sim.cards import BLACK_JOKER, CARDS, LANE, LANE_MASK, RANK_SET, RED_JOKER, SUITS, card_names, mask_of
from sim.events import DRAW, FINISH, LOSE, MOVE, PASS, PLAY, TURN, WORD, emit, recording
from sim.features import note
from sim.games import (
    BY_TURN,
    LOSER_FOUND,
    SHARE,
    STALLED,
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
from sim.knowledge import some_of
from sim.rng import CHANCE, below

PROSE = {
    "en": "Sevens with a Joker that is never playable: who has no live card borrows one from the next seat, which "
    "chooses the card. The first empty hand wins, the last to hold the Joker loses.",
    "zh-Hant": "加入一張永遠是死牌的王的憋七：沒有活牌就向下家借一張，借哪張由下家決定，可以給王。"
    "最先出完者勝，最後手裡拿著王的輸。",
}


# --- Toggles ----------------------------------------------------------------------------------------------------------


class BieqiBorrowToggles(ToggleModel):
    """Every rule of bieqi_borrow that can be set, in the order of the rules table."""

    who_chooses: Literal["lender", "borrower_blind", "borrower_asks_live_card"] = toggle(
        "BB-01",
        "lender",
        "Who decides which card is lent: the lender, chance (drawn blind), or the lender among its live cards as long "
        "as it has some; the text lets the lender hand over the Joker.",
        "借哪張牌由誰決定：借出者、盲抽，或借出者有活牌時必須給活牌；原文說借出者可以給出王。",
        impact="H",
    )
    borrow: Literal["mandatory", "optional"] = toggle(
        "BB-02",
        "mandatory",
        "Whether a seat without a live card must borrow or may pass; the text names no other way than to borrow.",
        "沒有活牌時必須借牌或可以略過；原文除借牌外沒有其他作法。",
        impact="H",
    )
    borrower_plays_after: Literal["no", "if_live"] = toggle(
        "BB-03",
        "no",
        "Whether a live card that was borrowed is played at once; the text ends the turn with the borrowing.",
        "借到活牌後是否立即打出；原文說借到後就不用出了。",
        impact="M",
    )
    lend_last_card: Literal["allowed_counts_as_finished", "allowed_not_winning", "forbidden"] = toggle(
        "BB-04",
        "allowed_counts_as_finished",
        "Whether a seat may lend its last card, and whether it can win by that; the text is silent, "
        "and a seat without cards has run out.",
        "能否借出最後一張牌，以及因此出完算不算贏；原文未提，沒有手牌即為出完。",
        impact="H",
    )
    may_lend_sole_live_card: bool = toggle(
        "BB-05",
        True,
        "Whether a seat may lend its only live card; the text is silent, and forbidding it stops endless lending.",
        "能否借出自己唯一的活牌；原文未提，禁止則不會無限循環借牌。",
        impact="M",
    )
    first_deal_14: Literal["random_seat", "previous_loser"] = toggle(
        "BB-06",
        "random_seat",
        "Where the deal starts, which decides who gets a card more: with a random seat or with the last round's loser, "
        "as in the text; in the first of the `rounds` nobody has lost yet, and it starts with seat 0.",
        "從誰開始發牌（多拿一張）：隨機，或如原文從上一輪輸家開始；第一輪（見 rounds）沒有輸家，由 0 號座位開始。",
    )
    end: Literal["52_on_table", "first_out", "all_but_one_out"] = toggle(
        "BB-07",
        "52_on_table",
        "When the game ends: when all 52 cards are on the table, when somebody wins, or when one seat holds cards; "
        "the text plays until all are laid.",
        "何時結束：52 張全部接滿、有人獲勝，或只剩一家有牌；原文出到 52 張全部接滿。",
    )
    loser: Literal["joker_holder"] = toggle(
        "BB-08",
        "joker_holder",
        "Who loses: the seat that holds the Joker at the end.",
        "誰輸：結束時手裡拿著王的人。",
        impact="-",
    )
    joker_lend_limit: Literal["once_per_turn_cycle"] | None = toggle(
        "BB-09",
        None,
        "Whether the Joker may be lent again at once, or only once in as many turns as there are seats; "
        "the text knows no limit.",
        "王能否連續借出，或每一輪只能借出一次；原文沒有限制。",
    )
    max_turns: int = toggle(
        "BB-11",
        500,
        "After how many turns a game counts as stalled; borrowing can go on for ever.",
        "幾回合後視為僵局；借牌可能永無止境。",
        impact="-",
        ge=1,
        le=5000,
    )
    max_idle_borrows: int = toggle(
        "BB-11",
        10,
        "After how many turns in a row without a card played, a seat at the table, a game counts as stalled.",
        "連續多少回合（乘以人數）沒有出牌視為僵局。",
        impact="-",
        ge=1,
        le=1000,
    )


# --- Rules ------------------------------------------------------------------------------------------------------------

LENDER, BLIND, ASKS_LIVE = range(3)  # BB-01
COUNTS, NOT_WINNING, FORBIDDEN = range(3)  # BB-04
ALL_LAID, FIRST_OUT, ALL_BUT_ONE = range(3)  # BB-07


class BieqiBorrowRules(NamedTuple):
    """The toggles as the kernel reads them."""

    seats: int
    jokers: int
    decks: int
    max_turns: int  # BB-11
    max_idle: int  # BB-11, for the whole table
    who_chooses: int  # BB-01
    optional: int  # BB-02
    plays_after: int  # BB-03
    last_card: int  # BB-04
    keeps_live: int  # BB-05
    random_deal: int  # BB-06
    end: int  # BB-07
    joker_limit: int  # BB-09
    free_lending: int  # whether the next seat may lend any of its cards


def make_rules(toggles: BieqiBorrowToggles, seats: int) -> BieqiBorrowRules:
    """The kernel's rules from the toggles, for a number of seats."""
    t = toggles
    chooser = ("lender", "borrower_blind", "borrower_asks_live_card").index(t.who_chooses)
    last = ("allowed_counts_as_finished", "allowed_not_winning", "forbidden").index(t.lend_last_card)
    limited = chooser == ASKS_LIVE or last == FORBIDDEN or t.joker_lend_limit is not None
    return BieqiBorrowRules(
        seats=seats,
        jokers=1,
        decks=1,
        max_turns=t.max_turns,
        max_idle=t.max_idle_borrows * seats,
        who_chooses=chooser,
        optional=int(t.borrow == "optional"),
        plays_after=int(t.borrower_plays_after == "if_live"),
        last_card=last,
        keeps_live=int(not t.may_lend_sole_live_card),
        random_deal=int(t.first_deal_14 == "random_seat"),
        end=("52_on_table", "first_out", "all_but_one_out").index(t.end),
        joker_limit=int(t.joker_lend_limit is not None),
        free_lending=int(not limited and t.may_lend_sole_live_card),
    )


# --- State ------------------------------------------------------------------------------------------------------------

SEATS = 6
DEALT = 53
SEVEN = 6
SEVENS = RANK_SET << SEVEN
START = 1 << SEVEN
"""The S7, which is led (L144)."""
JOKER = 1 << BLACK_JOKER
STILL_IN = 100
"""Above every finishing place."""

COUNTERS = (
    Counter("borrows", "cards borrowed", "借牌次數", bins=BY_TURN),
    Counter("live_lent", "live cards lent", "借出活牌次數"),
    Counter("far_borrows", "cards borrowed past a seat that could not lend", "跳過無法借出者的借牌次數"),
    Counter("joker_transfers", "times the Joker was lent", "王的轉手次數", bins=128),
    Counter("passes", "turns without a play and without borrowing", "未出牌也未借牌的回合數"),
    Counter("longest_idle", "longest run of turns without a card played", "連續未出牌的最長回合數", bins=64),
    Counter("finished_by_lending", "seats that ran out by lending their last card", "借出最後一張而出完的人數", bins=7),
    Counter("won_by_lending", "games whose winner ran out by lending", "靠借出最後一張獲勝", yes_no=True),
    Counter("first_joker_turn", "turn of the first Joker lending", "王首次轉手回合", BY_TURN, "joker_transfers"),
    Counter("first_out_turn", "turn in which the first seat ran out", "首位出完的回合", BY_TURN),
    Counter("turns_alone", "turns of the last seat on its own", "最後一家獨自出牌的回合數"),
    Counter("joker_stayed", "games lost by the seat that was dealt the Joker", "起手拿王者落敗", yes_no=True),
    Counter("joker_winner", "games won by a seat that held the Joker at some time", "曾拿過王者獲勝", yes_no=True),
)  # fmt: skip
C: Any = namedtuple("C", [counter.name for counter in COUNTERS])(*range(len(COUNTERS)))
"""The index of each counter by name."""

RATIOS = (
    Ratio("borrow_share", "borrows", "turns", "share of turns with borrowing", "借牌回合占比"),
    Ratio("joker_lending_share", "joker_transfers", "borrows", "share of borrowed cards that are the Joker",
          "借到王的占比"),
    Ratio("live_lending_share", "live_lent", "borrows", "share of borrowed cards that were live", "借到活牌的占比"),
)  # fmt: skip

PARTITIONS = (
    Partition("joker", ("0", "1"), "Joker in the opening hand", "起手有王"),
    Partition("sevens", ("0", "1", "2", "3", "4"), "sevens in the opening hand", "起手 7 的張數"),
    Partition("extra_card", ("0", "1"), "a card more than others in the opening hand", "起手比別人多一張牌"),
)  # fmt: skip

MAIN, BORROW, LEND_CARD = range(3)
PHASES = ("main", "borrow", "lend_card")
CHOICES: dict[str, str | tuple[str, ...]] = {"borrow": ("borrow", "pass"), "lend_card": "card"}

STATE = np.dtype(
    [
        ("hand", np.int64, SEATS),
        ("table", np.int64),
        (
            "goal",
            np.int64,
        ),  # the table of a finished game: all cards, in a given position those that are there
        ("legal", np.int64),  # the cards that may be chosen in the main phase and in lend_card
        ("active", np.int64),  # the seats that hold cards, as a bit mask
        ("phase", np.int64),
        ("cur", np.int64),
        ("lender", np.int64),
        ("first", np.int64),
        ("turn", np.int64),
        ("idle", np.int64),  # turns in a row without a card played
        ("joker_turn", np.int64),  # when the Joker was last lent
        ("joker_seen", np.int64),  # the seats that have held the Joker, as a bit mask
        ("joker_dealt", np.int64),  # the seat that was dealt the Joker
        ("over", np.int64),  # 0, or the outcome's code + 1
        ("out_of_hand", np.int64),  # how many seats have run out
        ("lent_out", np.int64),  # the seats that ran out by lending, as a bit mask
        ("winner", np.int64),  # the first of them that may win, or -1
        ("place", np.int64, SEATS),  # how many ran out before this seat; STILL_IN while it holds cards
        ("out_turn", np.int64, SEATS),
        ("drawn", np.int64, SEATS),
        ("largest", np.int64, SEATS),
        ("count", np.int64, len(COUNTERS)),
    ]
)


@helper
def deal(rules, deck, number, loser, state, rng):
    """Deal all cards singly, starting at the seat that gets a card more (L142); the holder of the S7 is first."""
    seats = rules.seats
    for p in range(SEATS):
        state.place[p] = STILL_IN
        state.out_turn[p] = state.drawn[p] = state.largest[p] = 0
    for k in range(state.count.size):
        state.count[k] = 0
    p = below(rng, CHANCE, seats) if rules.random_deal else max(loser, 0)
    for k in range(seats):
        hand = 0
        for i in range(k, DEALT, seats):
            hand |= 1 << np.int64(deck[i])
        state.hand[p] = hand
        p += 1
        if p == seats:
            p = 0
    state.table = state.idle = state.over = state.out_of_hand = state.lent_out = 0
    state.lender = state.phase = state.legal = 0
    state.goal = CARDS
    state.active = (1 << seats) - 1
    state.turn = 1
    state.joker_turn = -seats
    state.winner = -1
    _find_holders(rules, state)


@helper
def _find_holders(rules, state):
    """Note hand sizes, who holds the Joker and, at the start, who holds the S7 and leads it."""
    for p in range(rules.seats):
        state.largest[p] = popcount(state.hand[p])
        if state.hand[p] & JOKER:
            state.joker_dealt = p
            state.joker_seen = 1 << p
        if state.hand[p] & START:
            state.first = state.cur = p


# --- Live cards and lending -------------------------------------------------------------------------------------------


@helper
def _live(table, hand):
    """The live cards of a hand: 7s and neighbours of table cards (L46, L146); guard bits keep the Joker out."""
    return (SEVENS | table << 1 | table >> 1) & hand


@helper
def _next_seat(state, seat):
    """The nearest seat clockwise after `seat` that holds cards; itself when there is no other."""
    after = state.active >> (seat + 1)
    return seat + 1 + lowest(after) if after else lowest(state.active)


@helper
def _lendable(rules, table, cards, since_joker):
    """Which of its cards a seat may lend (BB-01, BB-04, BB-05, BB-09), `since_joker` turns after the Joker was lent."""
    if rules.free_lending:
        return cards
    if rules.last_card == FORBIDDEN and cards & (cards - 1) == 0:
        return 0
    live = _live(table, cards)
    if rules.keeps_live and live & (live - 1) == 0:
        cards &= ~live
    if rules.joker_limit and since_joker < rules.seats:
        cards &= ~JOKER
    if rules.who_chooses == ASKS_LIVE and cards & live:
        cards &= live
    return cards


@helper
def _find_lender(rules, state):
    """Find the next seat that can lend and what it may lend: `lender` and `legal`, which is 0 when nobody can."""
    seat = _next_seat(state, state.cur)
    while seat != state.cur:
        cards = _lendable(rules, state.table, state.hand[seat], state.turn - state.joker_turn)
        if cards:
            state.lender = seat
            state.legal = cards
            return
        seat = _next_seat(state, seat)
    state.legal = 0


@helper
def moves(rules, state, out):
    """Every legal move: live cards as sets, 0 if there is none; card bits to lend; 0 to borrow, 1 to pass."""
    out[0] = 0
    if state.legal == 0:
        return 1
    if state.phase == BORROW:
        out[1] = 1
        return 2
    n = 0
    rest = state.legal
    while rest:
        out[n] = rest & -rest if state.phase == MAIN else lowest(rest)
        n += 1
        rest &= rest - 1
    return n


@helper
def pick(rules, state, rng, stream, out):
    """A uniformly random legal move and their number, without listing them."""
    if state.phase == BORROW:
        return below(rng, stream, 2), 2
    n = popcount(state.legal)
    card = nth_bit(state.legal, below(rng, stream, n))
    return card if state.phase == MAIN else lowest(card), n


@helper
def cost(rules, state, move):
    """A play costs nothing."""
    return 0


# --- The turn ---------------------------------------------------------------------------------------------------------


@helper
def _ran_out(rules, state, seat, lent, log):
    """A seat has no cards left; the first one that may win is the winner (L150, BB-04)."""
    emit(log, FINISH, seat)
    state.active ^= 1 << seat
    state.place[seat] = state.out_of_hand
    state.out_turn[seat] = state.turn
    if state.out_of_hand == 0:
        state.count[C.first_out_turn] = state.turn
    state.out_of_hand += 1
    state.lent_out |= lent << seat
    state.count[C.finished_by_lending] += lent
    if state.winner < 0 and not (lent and rules.last_card == NOT_WINNING):
        state.winner = seat
        state.count[C.won_by_lending] = lent
        state.count[C.joker_winner] = state.joker_seen >> seat & 1


@helper
def _play(rules, state, card, log):
    """The seat at turn lays a card."""
    seat = state.cur
    emit(log, PLAY, seat, card, 0)
    state.table |= card
    state.hand[seat] ^= card
    state.idle = 0
    state.count[C.turns_alone] += state.active & (state.active - 1) == 0
    if state.hand[seat] == 0:
        _ran_out(rules, state, seat, 0, log)


@helper
def _idle(state):
    """No card reached the table this turn."""
    state.idle += 1
    state.count[C.longest_idle] = max(state.count[C.longest_idle], state.idle)


@helper
def _lend(rules, state, card, log):
    """The lender gives the card (a set of one) to the seat at turn, which under BB-03 plays it if it is live."""
    seat, lender = state.cur, state.lender
    emit(log, DRAW, seat, lowest(card), WORD.borrow, lender)
    state.count[C.borrows] += 1
    state.count[C.far_borrows] += lender != _next_seat(state, seat)
    if card == JOKER:
        if state.count[C.joker_transfers] == 0:
            state.count[C.first_joker_turn] = state.turn
        state.count[C.joker_transfers] += 1
        state.joker_turn = state.turn
        state.joker_seen |= 1 << seat
    state.hand[lender] ^= card
    state.hand[seat] |= card
    state.drawn[seat] += 1
    state.largest[seat] = max(state.largest[seat], popcount(state.hand[seat]))
    live = _live(state.table, card)
    state.count[C.live_lent] += live != 0
    if state.hand[lender] == 0:
        _ran_out(rules, state, lender, 1, log)
    if rules.plays_after and live and not _is_decided(rules, state):
        _play(rules, state, card, log)
    else:
        _idle(state)


@helper
def _is_decided(rules, state):
    """Whether the game has reached its end (BB-07)."""
    return (
        state.table == state.goal
        or (rules.end == FIRST_OUT and state.winner >= 0)
        or (rules.end == ALL_BUT_ONE and state.active & (state.active - 1) == 0)
    )


@helper
def _end_turn(rules, state, log):
    """Ends of the game, else the turn goes to the next seat that holds cards, the lender as a rule (section 12)."""
    if _is_decided(rules, state):
        state.over = 1 + (WIN if state.winner >= 0 else LOSER_FOUND)
        emit(log, LOSE, _joker_holder(rules, state))
    elif state.idle >= rules.max_idle or state.turn >= rules.max_turns:
        state.over = 1 + STALLED
    else:
        state.cur = _next_seat(state, state.cur)
        state.turn += 1


@helper
def _log_turn(state, cards, log):
    """The `turn` line: the live cards, or the one empty move."""
    if recording(log):
        emit(log, TURN, state.turn, state.cur)
        if cards == 0:
            emit(log, MOVE, 0)
        while cards:
            emit(log, MOVE, cards & -cards)
            cards &= cards - 1


@helper
def _pass(rules, state, nobody_lends, log):
    """A turn without a play and without borrowing."""
    emit(log, PASS, state.cur, nobody_lends)
    state.count[C.passes] += 1
    _idle(state)
    _end_turn(rules, state, log)


@helper
def _draw_blind(rules, state, rng, log):
    """Chance names the card that is lent (BB-01 borrower_blind)."""
    n = popcount(state.legal)
    _lend(rules, state, nth_bit(state.legal, below(rng, CHANCE, n)), log)
    _end_turn(rules, state, log)


@helper
def _next_decision(rules, state, rng, log):
    """Start the turn at hand, and play the turns that ask nobody, up to the next decision or the end."""
    while state.over == 0:
        state.legal = _live(state.table, state.hand[state.cur])
        _log_turn(state, state.legal, log)
        if state.legal:
            state.phase = MAIN
            return
        _find_lender(rules, state)
        if state.legal == 0:
            _pass(rules, state, 1, log)
        elif rules.optional:
            state.phase = BORROW
            return
        elif rules.who_chooses == BLIND:
            _draw_blind(rules, state, rng, log)
        else:
            state.phase = LEND_CARD
            return


@helper
def begin(rules, state, rng, log):
    """Start the first turn: the S7 is led when the table is empty (L144)."""
    if state.table == 0:
        state.legal = START
        state.phase = MAIN
        _log_turn(state, START, log)
    else:
        _next_decision(rules, state, rng, log)


@helper
def mover(rules, state):
    """The lender chooses the card it gives; all else is decided by the seat at turn."""
    return state.lender if state.phase == LEND_CARD else state.cur


@helper
def is_over(rules, state):
    """Whether the game has ended."""
    return state.over != 0


@helper
def apply(rules, state, move, rng, log):
    """Make a move of the present phase and all that follows up to the next decision or the end."""
    phase = state.phase
    if phase == BORROW:
        if move:
            _pass(rules, state, 0, log)
        elif rules.who_chooses == BLIND:
            _draw_blind(rules, state, rng, log)
        else:
            state.phase = LEND_CARD
            return
    else:
        if phase == MAIN:
            _play(rules, state, move, log)
        else:
            _lend(rules, state, 1 << move, log)
        _end_turn(rules, state, log)
    _next_decision(rules, state, rng, log)


# --- Results ----------------------------------------------------------------------------------------------------------


@helper
def _joker_holder(rules, state):
    """The seat that holds the Joker; -1 in a given position without one."""
    for p in range(rules.seats):
        if state.hand[p] & JOKER:
            return p
    return -1


@helper
def standing(rules, state, seat):
    """Seats that have run out lead, the first of them first; then fewest cards."""
    hand = state.hand[seat]
    return STILL_IN + popcount(hand) if hand else state.place[seat]


@helper
def _order(state, seat):
    """A seat's place as a sortable number: the winner, who ran out in that order, few cards, the Joker's holder."""
    if seat == state.winner and state.over - 1 != STALLED:
        return -1
    if state.hand[seat] & JOKER:
        return 2 * STILL_IN
    return standing(None, state, seat)


@helper
def outcome(rules, state, row):
    """Outcome, places, win shares (in 1/2520), per-seat figures and counters.

    The winner takes all. Where nobody may win (BB-04 allowed_not_winning) the Joker's holder has lost and the others
    share; a stalled game gives nothing to anybody.
    """
    row.outcome = state.over - 1
    row.turns = state.turn
    row.first = state.first
    holder = _joker_holder(rules, state)
    state.count[C.joker_stayed] = row.outcome != STALLED and holder == state.joker_dealt
    for p in range(rules.seats):
        place = 1
        mine = _order(state, p)
        for q in range(rules.seats):
            place += _order(state, q) < mine
        row.place[p] = place
        row.share[p] = 0
        if row.outcome == WIN and p == state.winner:
            row.share[p] = SHARE
        elif row.outcome == LOSER_FOUND and p != holder:
            row.share[p] = SHARE // (rules.seats - 1)
        row.score[p] = 0
        row.drawn[p] = state.drawn[p]
        row.largest[p] = state.largest[p]
        row.out_turn[p] = state.out_turn[p]
    for k in range(state.count.size):
        row.count[k] = state.count[k]


@helper
def opening(rules, state, seat, classes):
    """The opening hand, and its class in each partition."""
    hand = state.hand[seat]
    classes[0] = hand & JOKER != 0
    classes[1] = popcount(hand & SEVENS)
    classes[2] = popcount(hand) * rules.seats > DEALT
    return hand


# --- Features ---------------------------------------------------------------------------------------------------------

FEATURES = (
    Feature("goes_out", "whether the hand is empty afterwards", "出完或借出後是否清空手牌"),
    Feature("opens_own", "own cards that become live", "自己新增的活牌數"),
    Feature("opens_others", "cards of others that become live", "替他人新增的活牌數"),
    Feature("own_behind", "own cards that can only come after this one", "自己排在此牌之後的牌數"),
    Feature("others_behind", "cards of others that can only come after this one", "他人排在此牌之後的牌數"),
    Feature("live_after", "own live cards afterwards", "之後自己的活牌數"),
    Feature("stuck_after", "whether no own card is live afterwards", "之後是否沒有活牌"),
    Feature("seven", "whether it is a 7", "是否為 7"),
    Feature("joker", "whether it is the Joker", "是否為王"),
    Feature("live", "whether the card lent is live", "借出的是否為活牌"),
    Feature("missing", "cards that must be laid before the card lent", "借出的牌還差幾張才能出"),
    Feature("own_missing", "of these, own cards", "其中自己持有的張數"),
    Feature("declines", "whether it is a pass instead of borrowing", "是否略過而不借牌"),
)
F: Any = namedtuple("F", [feature.name for feature in FEATURES])(*range(len(FEATURES)))
"""The index of each feature by name."""


@helper
def _behind(card):
    """The cards of the suit that can only be laid after this one (a card set): all those farther from its 7."""
    bit = lowest(card)
    suit = bit // LANE
    lane = LANE_MASK << (LANE * suit)
    rank = bit - LANE * suit
    if rank > SEVEN:
        return lane & ~(card | card - 1)
    return lane & (card - 1) if rank < SEVEN else lane & ~card


@helper
def _before(card):
    """The cards from its 7 up to this one that must be laid first (a card set)."""
    bit = lowest(card)
    suit = bit // LANE
    seven = START << (LANE * suit)
    if card > seven:
        return card - seven
    return (seven << 1) - (card << 1) if card < seven else 0


@helper
def features(rules, state, move, x):
    """What the mover knows about a move: its own hand, the table and therefore which cards others hold."""
    if state.phase == BORROW:
        note(x, F.declines, move)
        return
    is_play = state.phase == MAIN
    card = move if is_play else 1 << move
    hand = state.hand[mover(rules, state)] & ~card
    note(x, F.goes_out, hand == 0)
    table = state.table | card if is_play else state.table
    live = _live(table, hand & CARDS)
    note(x, F.live_after, popcount(live))
    note(x, F.stuck_after, live == 0)
    if card == JOKER:
        note(x, F.joker, 1)
        return
    behind = _behind(card)
    note(x, F.own_behind, popcount(behind & hand))
    note(x, F.others_behind, popcount(behind & ~hand))
    note(x, F.seven, card & SEVENS != 0)
    if is_play:
        opened = (card << 1 | card >> 1) & behind
        note(x, F.opens_own, popcount(opened & hand))
        note(x, F.opens_others, popcount(opened & ~hand))
    else:
        missing = _before(card) & ~state.table
        note(x, F.live, _live(state.table, card) != 0)
        note(x, F.missing, popcount(missing))
        note(x, F.own_missing, popcount(missing & hand))


# --- What a seat has seen ---------------------------------------------------------------------------------------------

NONE_LIVE, CANNOT_LEND, SOMEONE_LENDS, LENT, LAID = range(5)
"""What an entry of the log tells of a seat: no card of its hand was live; it had nothing to lend; another seat had
something; it lent a card; it laid a card."""
LOG = 1024
"""Entries that the log has room for. When it is full, all that was seen but the own hand is forgotten."""
ENTRIES = LOG + SEATS
ON_TABLE = -1

MEMORY = np.dtype(
    [
        ("hand", np.int64, SEATS),  # the cards of every seat, each for its owner alone
        ("dealt", np.int64, SEATS),  # the same where the log begins
        ("table", np.int64),
        ("cur", np.int64),
        ("turn", np.int64),
        ("logged", np.int64),  # entries in the log, and of each:
        ("kind", np.int64, ENTRIES),
        ("who", np.int64, ENTRIES),
        ("to", np.int64, ENTRIES),  # where the card went: a seat, or ON_TABLE
        ("card", np.int64, ENTRIES),  # as a set; one that was lent is for the two seats alone, unless
        ("shown", np.int64, ENTRIES),  # the borrower laid it at once
        ("lying", np.int64, ENTRIES),  # the table
        ("moment", np.int64, ENTRIES),  # the turn
        # What `resample` supposes to have happened since the log began:
        ("start", np.int64, SEATS),  # hands at the beginning
        ("now", np.int64, SEATS),  # and at the end
        ("others", np.int64, ENTRIES + 1),  # the cards in others' hands before an entry
        ("held", np.int64, ENTRIES),  # the hand of an entry's seat before it
        ("moved", np.int64, ENTRIES),  # the card that left it
        ("likelihood", np.float64),  # of all lending, where it is not the same anyway: its logarithm
    ]
)


@helper
def _write(memory, i, kind, who, to, card):
    memory.kind[i] = kind
    memory.who[i] = who
    memory.to[i] = to
    memory.card[i] = card
    memory.shown[i] = 0
    memory.lying[i] = memory.table
    memory.moment[i] = memory.turn


@outlined
def _log_entry(memory, kind, who, to, card):
    if memory.logged == LOG:
        memory.logged = 0
        for p in range(SEATS):
            memory.dealt[p] = memory.hand[p]
    _write(memory, memory.logged, kind, who, to, card)
    memory.logged += 1


@helper
def forget(rules, state, memory):
    """Nothing is known of the others' cards."""
    for p in range(rules.seats):
        memory.hand[p] = memory.dealt[p] = state.hand[p]
    memory.table = state.table
    memory.cur = state.cur
    memory.turn = state.turn
    memory.logged = 0


@helper
def remember(rules, memory, event, a, b, c, d):
    """Cards laid and lent, and that a seat which borrows or passes had no live card, as far back as this matters."""
    if event == TURN:
        memory.turn = a
        memory.cur = b
    elif event == MOVE and a == 0:
        _log_entry(memory, NONE_LIVE, memory.cur, ON_TABLE, 0)
    elif event == PLAY:
        _remember_play(memory, a, b)
    elif event == DRAW:
        _remember_no_lenders(rules, memory, a, d)
        _log_entry(memory, LENT, d, a, 1 << b)
        memory.hand[d] ^= 1 << b
        memory.hand[a] |= 1 << b
    elif event == PASS and b:
        _remember_no_lenders(rules, memory, a, a)


@helper
def _remember_play(memory, seat, card):
    """Before the log has an entry, a card that is laid just leaves the hand with which the log will begin."""
    last = memory.logged - 1
    if last < 0:
        memory.dealt[seat] ^= card
    else:
        if memory.kind[last] == LENT and memory.to[last] == seat and memory.moment[last] == memory.turn:
            memory.shown[last] = 1
        _log_entry(memory, LAID, seat, ON_TABLE, card)
    memory.hand[seat] ^= card
    memory.table |= card


@helper
def _remember_no_lenders(rules, memory, borrower, lender):
    """The seats with cards between the borrower and the lender were asked and had nothing to lend."""
    p = borrower + 1 if borrower + 1 < rules.seats else 0
    while p != lender:
        if memory.hand[p]:
            _log_entry(memory, CANNOT_LEND, p, ON_TABLE, 0)
        p = p + 1 if p + 1 < rules.seats else 0


@helper
def resample(rules, state, memory, seat, rng, stream):
    """The hands of the others: the end of a course of events that agrees with all the seat has seen.

    Uniform over the deals and over what a lender, or chance, could hand over. One course that agrees is found by
    exchanging cards wherever the next thing seen asks for it; a Markov chain of exchanges then forgets how.
    """
    if rules.seats == 2:
        return
    n = _add_pending(rules, state, memory, seat)
    while not _suppose(rules, memory, seat, n, rng, stream):
        pass
    _mix_courses(rules, memory, seat, n, rng, stream)
    for p in range(rules.seats):
        if p != seat:
            state.hand[p] = memory.now[p]
    _retell_joker(rules, state, memory, n)
    if state.phase == BORROW:
        _find_lender(rules, state)


@helper
def _add_pending(rules, state, memory, seat):
    """Add what the turn at hand tells before its decision; the entries in use, of which these are not kept."""
    n = memory.logged
    p = _next_seat(state, state.cur)
    if state.phase == LEND_CARD:
        while p != seat:
            _write(memory, n, CANNOT_LEND, p, ON_TABLE, 0)
            n += 1
            p = _next_seat(state, p)
    elif state.phase == BORROW and not rules.free_lending:
        _write(memory, n, SOMEONE_LENDS, p, ON_TABLE, 0)
        n += 1
    return n


@helper
def _retell_joker(rules, state, memory, n):
    """What the state keeps of the Joker's way, and of the cards lent."""
    count = state.count
    count[C.joker_transfers] = count[C.live_lent] = count[C.first_joker_turn] = 0
    state.joker_turn = -rules.seats
    for p in range(rules.seats):
        if memory.start[p] & JOKER:
            state.joker_dealt = p
            state.joker_seen = 1 << p
    for i in range(n):
        if memory.kind[i] == LENT:
            count[C.live_lent] += _live(memory.lying[i], memory.moved[i]) != 0
            if memory.moved[i] == JOKER:
                if count[C.joker_transfers] == 0:
                    count[C.first_joker_turn] = memory.moment[i]
                count[C.joker_transfers] += 1
                state.joker_turn = memory.moment[i]
                state.joker_seen |= 1 << memory.to[i]


# --- Supposing a course of events -------------------------------------------------------------------------------------

TRIES = 60
"""Exchanges that may be tried to make one thing possible, before another deal is supposed."""
ROUNDS = 4
STEPS = 4
"""How often the chain goes through the log, and how many trades it tries then at each point where cards part."""
LONG_AGO = 1 << 20


@outlined
def _suppose(rules, memory, seat, n, rng, stream):
    """Deal the others' cards of the log's beginning, and let all of its n entries happen. Whether they could."""
    hidden = 0
    for p in range(rules.seats):
        if p != seat:
            hidden |= memory.dealt[p]
    for p in range(rules.seats):
        cards = memory.dealt[p]
        if p != seat:
            cards = some_of(hidden, popcount(cards), rng, stream)
            hidden ^= cards
        memory.start[p] = memory.now[p] = cards
    memory.likelihood = 0.0
    for i in range(n):
        if not _make_possible(rules, memory, seat, i, rng, stream):
            return False
        memory.others[i] = _others_hands(rules, memory, seat)
        _happen(rules, memory, seat, i, rng, stream)
    memory.others[n] = _others_hands(rules, memory, seat)
    return True


@helper
def _others_hands(rules, memory, seat):
    cards = 0
    for p in range(rules.seats):
        cards |= memory.now[p] if p != seat else 0
    return cards


@helper
def _is_known(memory, seat, i):
    """Whether the seat saw which card moved."""
    return memory.kind[i] == LAID or memory.who[i] == seat or memory.to[i] == seat or memory.shown[i] != 0


@helper
def _since_joker(rules, memory, i):
    """How many turns before entry i the Joker was last lent."""
    if rules.joker_limit:
        for k in range(i - 1, -1, -1):
            if memory.kind[k] == LENT and memory.moved[k] == JOKER:
                return memory.moment[i] - memory.moment[k]
    return LONG_AGO


@helper
def _may_lend(rules, memory, i, cards):
    """What the seat of entry i may lend of these cards, as far as it is known whether that was laid at once (BB-03)."""
    options = _lendable(rules, memory.lying[i], cards, _since_joker(rules, memory, i))
    stays = rules.plays_after and memory.kind[i] == LENT and memory.shown[i] == 0
    return options & ~_live(memory.lying[i], options) if stays else options


@helper
def _someone_may_lend(rules, memory, seat, i):
    options = 0
    for p in range(rules.seats):
        options |= _may_lend(rules, memory, i, memory.now[p]) if p != seat else 0
    return options != 0


@helper
def _misfits(rules, memory, seat, i):
    """(cards, partners): entry i needs one of the cards exchanged for one of the partners; (0, 0) where it does not."""
    who = memory.who[i]
    kind = memory.kind[i]
    mine = memory.now[who]
    if who == seat:
        return 0, 0
    rest = _others_hands(rules, memory, seat) & ~mine
    if kind == NONE_LIVE:
        return _live(memory.lying[i], mine), rest & ~_live(memory.lying[i], rest)
    known = _is_known(memory, seat, i)
    if known and kind in (LAID, LENT) and not mine & memory.card[i]:
        return memory.card[i], mine
    if kind == LAID or (rules.free_lending and not rules.plays_after):
        return 0, 0
    if kind == SOMEONE_LENDS:
        fits = _someone_may_lend(rules, memory, seat, i)
    else:
        options = _may_lend(rules, memory, i, mine)
        if kind == LENT and known:
            options &= memory.card[i]
        fits = (options != 0) == (kind == LENT)
    return (0, 0) if fits else (mine, rest)


@outlined
def _make_possible(rules, memory, seat, i, rng, stream):
    """Exchange cards until entry i can happen. Whether it can."""
    for _ in range(TRIES):
        cards, partners = _misfits(rules, memory, seat, i)
        if cards == 0:
            return True
        if partners == 0:
            return False
        a = some_of(cards, 1, rng, stream)
        b = some_of(partners, 1, rng, stream)
        _exchange(rules, memory, seat, i, i, a, b, rng, stream)
    return False


@helper
def _happen(rules, memory, seat, i, rng, stream):
    """Let entry i happen on the hands now."""
    who = memory.who[i]
    kind = memory.kind[i]
    memory.held[i] = memory.now[who]
    card = memory.card[i]
    if kind == LENT and not _is_known(memory, seat, i):
        card = some_of(_may_lend(rules, memory, i, memory.held[i]), 1, rng, stream)
    memory.moved[i] = card
    memory.now[who] ^= card
    if kind == LENT:
        memory.now[memory.to[i]] |= card
    if not rules.free_lending:
        memory.likelihood += _log_odds(rules, memory, seat, i)


@helper
def _log_odds(rules, memory, seat, i):
    """The logarithm of the probability of entry i as it is supposed; what the seat itself lends is given."""
    kind = memory.kind[i]
    odds = 0.0
    if kind == SOMEONE_LENDS:
        odds = 0.0 if _someone_may_lend(rules, memory, seat, i) else -math.inf
    elif memory.who[i] != seat and kind in (CANNOT_LEND, LENT):
        options = _lendable(rules, memory.lying[i], memory.held[i], _since_joker(rules, memory, i))
        if kind == CANNOT_LEND:
            odds = 0.0 if options == 0 else -math.inf
        else:
            odds = -math.log(popcount(options)) if options & memory.moved[i] else -math.inf
    return odds


@helper
def _log_likelihood(rules, memory, seat, n):
    total = 0.0
    for i in range(n):
        total += _log_odds(rules, memory, seat, i)
    return total


# --- Exchanging cards -------------------------------------------------------------------------------------------------


@outlined
def _mix_courses(rules, memory, seat, n, rng, stream):
    """Steps of the chain: another card is lent, and cards that something is known of trade places with others.

    A step and its reverse are equally likely, but for the likelihood by which it is accepted (Metropolis). Two cards
    are apart from the start or from a lending on. All cards that nothing is known of are alike, and so is how they were
    dealt.
    """
    special = _told_apart(rules, memory, seat, n)
    for _ in range(ROUNDS if n else 0):
        for gap in range(n + 1):
            lent = gap > 0 and memory.kind[gap - 1] == LENT and not _is_known(memory, seat, gap - 1)
            if lent:
                other = some_of(memory.held[gap - 1], 1, rng, stream)
                _exchange(rules, memory, seat, n, gap, memory.moved[gap - 1], other, rng, stream)
            for _ in range(STEPS if lent else 0):
                _exchange_some(rules, memory, seat, n, gap, memory.moved[gap - 1], rng, stream)
            for _ in range(STEPS if lent or gap == 0 else 0):
                _exchange_some(rules, memory, seat, n, gap, special & memory.others[gap], rng, stream)


@helper
def _exchange_some(rules, memory, seat, n, gap, cards, rng, stream):
    """Let one of the cards trade places with any that the others hold at a gap."""
    card = some_of(cards, 1, rng, stream)
    other = some_of(memory.others[gap], 1, rng, stream)
    if card:
        _exchange(rules, memory, seat, n, gap, card, other, rng, stream)


@helper
def _told_apart(rules, memory, seat, n):
    """The cards that the seat has seen, or that were live when a hand was seen to be without live cards."""
    cards = JOKER | ~memory.others[n]
    for i in range(n):
        if memory.kind[i] == NONE_LIVE:
            cards |= _live(memory.lying[i], CARDS)
        elif memory.kind[i] == LENT and _is_known(memory, seat, i):
            cards |= memory.card[i]
    return cards


@helper
def _place_at_start(rules, memory, card):
    place = 0
    for p in range(rules.seats):
        if memory.start[p] & card:
            place = p
    return place


@outlined
def _exchange(rules, memory, seat, n, gap, a, b, rng, stream):
    """Let two cards trade places while they lie apart about a gap, as the n entries permit. Whether they did.

    Gap k is the time between entry k - 1 and entry k. That while begins where the cards part, or at the start, and ends
    where they meet, or at the end; to trade back is the same exchange. Cards do not trade where one of them is seen.
    """
    at_a = from_a = _place_at_start(rules, memory, a)
    at_b = from_b = _place_at_start(rules, memory, b)
    first = 0
    last = -1
    seen = False
    for k in range(n + 1):
        if at_a == at_b:
            if k >= gap:
                break
            first = k + 1
            seen = False
        elif k == first:
            from_a = at_a
            from_b = at_b
        last = k
        seen |= at_a != at_b and (at_a == seat or at_b == seat or at_a < 0 or at_b < 0)
        if k < n:
            at_a = memory.to[k] if memory.moved[k] == a else at_a
            at_b = memory.to[k] if memory.moved[k] == b else at_b
    if seen or last < gap:
        return False
    before = memory.likelihood
    good = _trade(rules, memory, n, first, last, from_a, from_b, a, b)
    if good and not rules.free_lending:
        memory.likelihood = _log_likelihood(rules, memory, seat, n)
        good = memory.likelihood - before >= math.log((below(rng, stream, 1 << 30) + 1) / (1 << 30))
    if not good:
        memory.likelihood = before
        _trade(rules, memory, n, first, last, from_a, from_b, b, a)
    return good


@helper
def _trade(rules, memory, n, first, last, at_a, at_b, a, b):
    """Trade the cards' places from gap `first`, where they lie at `at_a` and `at_b`, to gap `last`. Whether the entries
    still hold true: a hand without a live card, and a card that was not laid although it could have been (BB-03)."""
    both = a | b
    if first == 0:
        memory.start[at_a] ^= both
        memory.start[at_b] ^= both
    else:
        memory.moved[first - 1] ^= both
    good = first == 0 or not _is_laid_at_once(rules, memory, first - 1)
    for k in range(first, min(last + 1, n)):
        if memory.who[k] == at_a or memory.who[k] == at_b:
            memory.held[k] ^= both
            good &= memory.kind[k] != NONE_LIVE or _live(memory.lying[k], memory.held[k]) == 0
        if memory.moved[k] & both:
            at_a = memory.to[k] if memory.moved[k] == a else at_a
            at_b = memory.to[k] if memory.moved[k] == b else at_b
            memory.moved[k] ^= both
            good &= not _is_laid_at_once(rules, memory, k)
    if last == n:
        memory.now[at_a] ^= both
        memory.now[at_b] ^= both
    return good


@helper
def _is_laid_at_once(rules, memory, i):
    """Whether the card lent with entry i would have been laid, which everybody would have seen (BB-03)."""
    stays = rules.plays_after and memory.kind[i] == LENT and memory.shown[i] == 0
    return stays and _live(memory.lying[i], memory.moved[i]) != 0


# --- Positions --------------------------------------------------------------------------------------------------------


class BieqiBorrowPosition(PositionModel):
    """A position. Cards that stand nowhere are out of the game.

    `finished` names the seats without cards in the order in which they ran out, `lent_out` those of them that did so
    by lending their last card (BB-04 allowed_not_winning).
    """

    table: list[Card] = []
    finished: list[int] = []
    lent_out: list[int] = []


def from_position(
    rules: BieqiBorrowRules,
    position: BieqiBorrowPosition,
    state: Any,
    shuffled: Callable[[list[int]], list[int]],
) -> None:
    """Set `state` to a given position (DESIGN, Positions). Raises ImpossiblePosition with the reason."""
    for name in STATE.names or ():
        state[name] = 0
    hands = [mask_of(hand) for hand in position.hands]
    held = functools.reduce(operator.or_, hands)
    state.table = mask_of(position.table)
    _check_cards(rules, position, held, int(state.table))
    state.hand[: rules.seats] = hands
    state.largest[: rules.seats] = [hand.bit_count() for hand in hands]
    state.goal = (held | int(state.table)) & CARDS
    state.active = sum(1 << seat for seat, hand in enumerate(hands) if hand)
    state.turn, state.joker_turn, state.winner, state.joker_dealt = 1, -rules.seats, -1, -1
    for seat, hand in enumerate(hands):
        if hand & JOKER:
            state.joker_dealt, state.joker_seen = seat, 1 << seat
    state.place[:] = STILL_IN
    _set_finished(rules, position, state)
    leads = [seat for seat, hand in enumerate(hands) if hand & START]
    cur = position.to_move if position.table else leads[0]
    state.first = state.cur = cur
    table = int(state.table)
    state.legal = (SEVENS | table << 1 | table >> 1) & hands[cur] if table else START


def _check_cards(rules: BieqiBorrowRules, position: BieqiBorrowPosition, held: int, table: int) -> None:
    """Cards lie only where the rules let them: rows without holes round the 7s, no second Joker."""
    if (held | table) >> RED_JOKER or table & JOKER:
        raise ImpossiblePosition(
            "table" if table >> BLACK_JOKER else "hands", "only BJ is in the game, in a hand"
        )
    if not table:
        if not held & START:
            raise ImpossiblePosition("hands", "nobody holds the S7 that is led on an empty table")
    elif not position.hands[position.to_move]:
        raise ImpossiblePosition("to_move", f"seat {position.to_move} holds no cards")
    elif not table & START:
        raise ImpossiblePosition("table", "the S7 is the first card on the table")
    for suit in range(4):
        lane = table >> (LANE * suit) & LANE_MASK
        row = lane // (lane & -lane) if lane else 0
        if lane and (not lane >> SEVEN & 1 or row & (row + 1)):
            raise ImpossiblePosition(
                "table", f"the cards of suit {SUITS[suit]} are no unbroken row with its 7"
            )


def _set_finished(rules: BieqiBorrowRules, position: BieqiBorrowPosition, state: Any) -> None:
    """The seats that have run out, and the winner among them."""
    empty = [seat for seat, hand in enumerate(position.hands) if not hand]
    order = position.finished or empty
    if sorted(order) != empty:
        raise ImpossiblePosition("finished", f"the seats without cards are {empty}")
    if not set(position.lent_out) <= set(empty):
        raise ImpossiblePosition("lent_out", f"the seats without cards are {empty}")
    for place, seat in enumerate(order):
        state.place[seat] = place
    state.out_of_hand = len(order)
    state.lent_out = sum(1 << seat for seat in position.lent_out)
    barred = position.lent_out if rules.last_card == NOT_WINNING else []
    state.winner = next((seat for seat in order if seat not in barred), -1)
    if (rules.end == FIRST_OUT and int(state.winner) >= 0) or len(empty) == rules.seats:
        raise ImpossiblePosition("hands", "the game is over when such a seat has run out")
    if rules.end == ALL_BUT_ONE and len(empty) == rules.seats - 1:
        raise ImpossiblePosition("hands", "the game is over when one seat holds cards")


def to_position(rules: BieqiBorrowRules, state: Any) -> dict[str, Any]:
    """The state in a position file's own keys."""
    seats = range(rules.seats)
    finished = sorted((p for p in seats if not int(state.hand[p])), key=lambda p: int(state.place[p]))
    position = {
        "hands": [card_names(state.hand[seat]) for seat in seats],
        "table": card_names(state.table),
        "to_move": int(state.cur),
    }
    if finished:
        position["finished"] = finished
        position["lent_out"] = [seat for seat in finished if int(state.lent_out) >> seat & 1]
    return position


GAME = Game(
    name="bieqi_borrow",
    title={"en": "Bie Qi with borrowing", "zh-Hant": "憋七（借牌玩法）"},
    prose=PROSE,
    Toggles=BieqiBorrowToggles,
    Position=BieqiBorrowPosition,
    Rules=BieqiBorrowRules,
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
    module=sys.modules[__name__],
)
