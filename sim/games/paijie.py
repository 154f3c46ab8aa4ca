"""牌接 paijie: sevens without covering, where a gap costs a draw (S0; RULES.md section 1).

The rules in prose. 52 cards and, in version 1, two Jokers; six cards each, the rest is the stock. The holder of the
first card found in the start search (S7, H7, D7, C7, S8, ...) plays it; its rank is the start rank for the whole game.
In turn each seat plays a card, a set (2 to 4 of a rank) or a straight (2 or more of a suit, K and A not adjacent) and
draws as many cards as are missing between the play and the nearest connected card, where the start rank connects all
four suits. Sets exchange cards, straights make the next seat draw, K locks a suit, Q exchanges with the top of the
stock, J takes a card out of the stock, A sends a table card back to a hand, Jokers redeal. The first empty hand wins;
more than ten cards in hand at the end of the own turn (version 1.0: at any time) eliminate.

The encoding of moves. In the main phase a move is the card set of the play, 0 a voluntary pass; one suit and two or
more cards is a straight, else a set. What an effect lets the player choose follows as decisions of their own: a card
bit (exchange_card, queen_return, jack_take, ace_card), a seat (ace_receiver), 0 lock or 1 tax (king_mode), a rank
(king_rank). `apply` runs a turn as the stages of RULES.md 1.6: price, then set or straight, K, Q, J, A, end of turn.
"""

from __future__ import annotations

import functools
import operator
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from sim.cards import (
    BLACK_JOKER,
    CARDS,
    JOKERS,
    LANE,
    LANE_MASK,
    RANK_SET,
    RED_JOKER,
    SUITS,
    bits_of,
    card_name,
    card_names,
    mask_of,
    parse_card,
)
from sim.events import (
    BAN,
    CARD,
    COMPLETE,
    DRAW,
    ELIMINATE,
    FINISH,
    FLIP,
    HAND,
    LOCK,
    MOVE,
    PASS,
    PLAY,
    PUT,
    RECALL,
    REDEAL,
    SHUFFLE,
    TURN,
    UNBAN,
    UNLOCK,
    WORD,
    emit,
    recording,
)
from sim.features import note
from sim.games import BY_TURN, DRAWN, SHARE, STALLED, SURVIVOR, WIN, Card, Counter, Feature, Game, ImpossiblePosition, Partition, PositionModel, Ratio, Suit
from sim.games._paijie_toggles import PaijieToggles
from sim.jit import helper, highest, lowest, nth_bit, outlined, popcount
from sim.rng import CHANCE, below, shuffle

PROSE = {
    "en": "Sevens without covering: any card may be played, at the price of drawing as many cards as are missing up to the "
    "nearest connected one. The first empty hand wins; too many cards in hand eliminate.",
    "zh-Hant": "不蓋牌的排七：任何牌都可出，但與最近接點相差幾張就抽幾張。先出完手牌者勝，手牌超過上限者淘汰。",
}

# The words of this game's events.
W_GAP = WORD["gap"]
W_TAX = WORD["tax"]
W_STRAIGHT_HIT = WORD["straight_hit"]
W_STUCK = WORD["stuck"]
W_PASS = WORD["pass"]
W_EXCHANGE = WORD["exchange"]
W_QUEEN = WORD["queen"]
W_JACK = WORD["jack"]
W_STOCK_TOP = WORD["stock_top"]
W_STOCK_SHUFFLED = WORD["stock_shuffled"]
W_TABLE = WORD["table"]
W_REMOVED = WORD["removed"]
W_EXILED = WORD["exiled"]
W_OWNER_PLAYED = WORD["owner_played"]
W_COMPLETE = WORD["complete"]
W_KING_RECALLED = WORD["king_recalled"]
W_OWNER_ELIMINATED = WORD["owner_eliminated"]
W_ROUND_OVER = WORD["round_over"]
W_NEXT_KING = WORD["next_king"]
W_BLACK_JOKER = WORD["black_joker"]
W_RED_JOKER = WORD["red_joker"]
W_JOKER_PAIR = WORD["joker_pair"]
W_LIMIT = WORD["limit"]
W_JOKER_ONLY = WORD["joker_only"]

# --- Rules ------------------------------------------------------------------------------------------------------------

IMMEDIATE, OWN_TURN_END, ANY_TURN_END, ROUND_END = range(4)  # PJ-15
PLAIN, BAN_RANK, LOCK_SUIT, TAX, CHOOSE_KING = range(5)  # PJ-S5
HUB_GAP, VIRTUAL_CARD, SUIT_ONLY = range(3)  # PJ-05
MIN, MAX, SUM = range(3)  # PJ-07
AFTER_EFFECTS, AFTER_COST, ON_EMPTY = range(3)  # PJ-34
TO_TABLE, OUT_OF_GAME, INTO_STOCK = range(3)  # PJ-20
ANY_ACTIVE, OPPONENTS, SELF = range(3)  # PJ-25
OWNER_PLAYS, ONE_ROUND, NEXT_KING, FOREVER = range(4)  # PJ-52

NO_LIMIT = 99
UNREACHABLE = 99
"""The gap of a card that nothing connects to (PJ-55)."""


class PaijieRules(NamedTuple):
    """The toggles as the kernel reads them: integers, with rare toggles behind derived flags."""

    seats: int
    jokers: int  # PJ-01
    hand_size: int  # PJ-48
    max_turns: int  # PJ-58
    combos: int  # PJ-S1
    set_exchange: int  # PJ-S2
    straight_hit: int  # PJ-S3
    ace: int  # PJ-S4
    king: int  # PJ-S5
    match_stuck: int  # PJ-S6
    queen: int  # PJ-S7
    jack: int  # PJ-S8
    free_start: int  # PJ-03
    connection: int  # PJ-05
    combo_gap: int  # PJ-07
    strict_stock: int  # PJ-09
    passing: int  # PJ-10: 0 no, 1 draws one, 2 free
    limit: int  # PJ-14
    limit_when: int  # PJ-15
    pair_grace: int  # PJ-16
    layout: int  # PJ-20
    ace_takes_play: int  # PJ-24
    ace_receiver: int  # PJ-25
    ace_distinct: int  # PJ-26
    must_return: int  # PJ-31
    win_check: int  # PJ-34
    joker_only: int  # PJ-35: 0 never, 1 at turn start, 2 also when hit
    count_joker: int  # PJ-59
    pair_values: int  # PJ-40: 0 v1.0, 1 v1.1
    pair_relative: int  # PJ-42
    once: int  # PJ-43
    must_go_out: int  # PJ-45
    ban_duration: int  # PJ-52
    hub_anyway: int  # PJ-55
    filtered: int  # whether some plays of free cards can be illegal, or a pass is offered
    plain_gap: int  # whether `gap` is the plain hub distance
    faces: int  # the cards that have an effect when played


def _index(values: tuple[str, ...], value: object) -> int:
    return values.index(str(value))


def make_rules(toggles: PaijieToggles, seats: int) -> PaijieRules:
    """The kernel's rules from the toggles, for a number of seats."""
    t = toggles
    king = _index(("plain", "ban_rank", "lock_suit", "tax", "choose"), t.king)
    passing = _index(("no", "yes_draw_1", "yes_free"), t.voluntary_pass)
    faces = 0
    for rank, on in ((1, t.ace == "recall"), (11, t.jack == "tutor"), (12, t.queen == "exchange"), (13, king != PLAIN)):
        faces |= (RANK_SET << (rank - 1)) if on else 0
    return PaijieRules(
        seats=seats,
        jokers=t.jokers,
        hand_size=t.hand_size,
        max_turns=t.max_turns,
        combos=int(t.combos),
        set_exchange=int(t.set_exchange),
        straight_hit=int(t.straight_hit),
        ace=int(t.ace == "recall"),
        king=king,
        match_stuck=int(t.stuck_draw == "match"),
        queen=int(t.queen == "exchange"),
        jack=int(t.jack == "tutor"),
        free_start=int(t.first_card == "free_single"),
        connection=_index(("hub_gap", "virtual_card", "suit_only"), t.connection),
        combo_gap=_index(("min", "max", "sum"), t.combo_gap),
        strict_stock=int(t.short_stock == "play_illegal"),
        passing=passing,
        limit=NO_LIMIT if t.limit_value is None else t.limit_value,
        limit_when=_index(("immediate", "own_turn_end", "any_turn_end", "round_end"), t.limit_when),
        pair_grace=int(t.joker_pair_own_turn_grace),
        layout=_index(("to_table", "out_of_game", "into_stock"), t.eliminated_hand),
        ace_takes_play=int(t.ace_may_take_current_play),
        ace_receiver=_index(("any_active", "opponents", "self"), t.ace_receiver),
        ace_distinct=int(t.ace_multi_receivers == "distinct_if_possible"),
        must_return=int(t.q_empty_stock == "must_return"),
        win_check=_index(("after_effects", "after_cost", "on_empty"), t.win_check),
        joker_only=_index(("never", "at_turn_start", "also_when_hit"), t.joker_only_loss),
        count_joker=int(t.joker_count == "before_play"),
        pair_values=_index(("v1.0", "v1.1"), t.jp_values),
        pair_relative=int(t.jp_scale_with_limit == "relative" and t.limit_value is not None),
        once=int(t.multi_effect_scaling == "once"),
        must_go_out=int(t.survivor_wins == "must_still_go_out"),
        ban_duration=_index(("until_owner_plays_that_rank", "one_round", "until_next_K", "forever"), t.ban_duration),
        hub_anyway=int(t.ban_no_connector == "hub_anyway"),
        filtered=int(t.short_stock == "play_illegal" or passing > 0 or king == BAN_RANK),
        plain_gap=int(t.connection == "hub_gap" and king != BAN_RANK),
        faces=faces,
    )


# --- State ------------------------------------------------------------------------------------------------------------

SEATS = 8
DECK = 54

COUNTERS = (
    Counter("cards_played", "cards played", "出牌張數"),
    Counter("gap_draws", "cards drawn for gaps", "補缺抽牌張數"),
    Counter("sets", "sets played", "多條次數"),
    Counter("straights", "straights played", "順子次數"),
    Counter("exchanged", "cards exchanged by sets", "多條換牌張數"),
    Counter("straight_hits", "cards drawn by the seat after a straight", "順子使下家抽牌張數"),
    Counter("stuck", "stuck turns (no legal play)", "無牌可出的回合數"),
    Counter("stuck_draws", "cards drawn when stuck", "無牌可出時抽牌張數"),
    Counter("passes", "voluntary passes", "自願略過次數"),
    Counter("kings", "King effects", "K 效果次數"),
    Counter("queens", "Queen effects", "Q 效果次數"),
    Counter("jacks", "Jack effects", "J 效果次數"),
    Counter("aces", "Ace recalls", "A 回收次數"),
    Counter("self_recalls", "Ace recalls to oneself", "A 回收給自己次數"),
    Counter("black_jokers", "black Jokers played singly", "黑 Joker 單出次數"),
    Counter("red_jokers", "red Jokers played singly", "紅 Joker 單出次數"),
    Counter("joker_pairs", "Joker pairs played", "Joker 對次數"),
    Counter("eliminations", "seats eliminated", "淘汰人數", bins=SEATS + 1),
    Counter("eliminated_limit", "seats eliminated over the hand limit", "超過手牌上限淘汰人數"),
    Counter("eliminated_joker_only", "seats eliminated holding only a Joker", "只剩 Joker 淘汰人數"),
    Counter("early_eliminations", "seats eliminated by their second own turn", "自己第二回合前淘汰人數"),
    Counter("first_elimination_turn", "turn of the first elimination", "首次淘汰的回合", bins=BY_TURN, given="eliminations"),
    Counter("table_cards", "cards on the table at the end", "終局桌面張數", bins=53),
    Counter("complete_suits", "complete suits at the end", "終局完成花色數", bins=5),
    Counter("holes", "missing cards between table cards at the end", "終局花色間缺口張數", bins=45),
    Counter("stock_left", "cards left in the stock at the end", "終局牌庫剩餘張數", bins=55),
    Counter("start_rank", "start rank", "起點", bins=14),
)
(
    C_PLAYED, C_GAP, C_SETS, C_STRAIGHTS, C_EXCHANGED, C_HITS, C_STUCK, C_STUCK_DRAWS, C_PASSES,
    C_KINGS, C_QUEENS, C_JACKS, C_ACES, C_SELF_RECALLS, C_BLACK, C_RED, C_PAIRS,
    C_OUT, C_OUT_LIMIT, C_OUT_JOKER, C_OUT_EARLY, C_FIRST_OUT, C_TABLE, C_COMPLETE, C_HOLES, C_STOCK, C_START,
) = range(len(COUNTERS))

RATIOS = (
    Ratio("stuck_share", "stuck", "turns", "share of turns without a legal play", "無牌可出回合占比"),
    Ratio("early_elimination_share", "early_eliminations", "eliminations",
          "share of eliminations by the seat's second own turn", "淘汰發生於自己第二回合前的占比"),
    Ratio("cards_per_play", "cards_played", "turns", "cards played per turn", "每回合出牌張數"),
)  # fmt: skip

PARTITIONS = (
    Partition("aces_kings", tuple(str(k) for k in range(9)), "Aces and Kings in the opening hand", "起手 A 與 K 張數"),
    Partition("jokers", ("0", "1", "2"), "Jokers in the opening hand", "起手 Joker 張數"),
    Partition(
        "shape",
        tuple(f"set{s}_run{r}" for s in ("1", "2", "3+") for r in ("1", "2", "3+")),
        "largest set and longest straight of the opening hand",
        "起手最大多條與最長順子",
    ),
)

MAIN, EXCHANGE_CARD, QUEEN_RETURN, JACK_TAKE, ACE_CARD, ACE_RECEIVER, KING_MODE, KING_RANK = range(8)
PHASES = ("main", "exchange_card", "queen_return", "jack_take", "ace_card", "ace_receiver", "king_mode", "king_rank")
CHOICES = {
    "exchange_card": "card",
    "queen_return": "card",
    "jack_take": "card",
    "ace_card": "card",
    "ace_receiver": "seat",
    "king_mode": ("lock", "tax"),
    "king_rank": "rank",
}

# The stages of a play's effects, in the order of 1.6 step 8.
S_TYPE, S_KING, S_QUEEN, S_JACK, S_ACE, S_END = range(6)

STATE = np.dtype(
    [
        ("hand", np.int64, SEATS),
        ("table", np.int64),
        ("exiled", np.int64),  # Jokers out of the game, and laid-out cards under PJ-20 out_of_game
        ("stock", np.uint8, DECK),  # stock[top:stock_end], top first
        ("pool", np.uint8, DECK),  # scratch of a redeal
        ("top", np.int64),
        ("stock_end", np.int64),
        ("active", np.int64),  # bit mask of seats
        ("cur", np.int64),
        ("first", np.int64),
        ("start_rank", np.int64),  # 0 before the first play
        ("start_card", np.int64),
        ("phase", np.int64),
        ("stage", np.int64),
        ("play", np.int64),  # the play whose effects run
        ("asking", np.int64),  # whether the effects wait for a decision
        ("left", np.int64),  # what is left of the running effect: a count, or a set of Kings
        ("pending", np.int64),  # cards chosen for an exchange
        ("receivers", np.int64),  # seats this play's Aces have named
        ("ace_card", np.int64),  # the card an Ace has named
        ("lock_owner", np.int64, 4),  # -1 or a seat
        ("locked", np.int64),  # the lanes of all locked suits
        ("taxed", np.int64),  # the lanes of all taxed suits
        ("ban_rank", np.int64, 4),  # by the suit of the King; 0 none
        ("ban_owner", np.int64, 4),
        ("turn", np.int64),
        ("acted", np.int64),  # whether this turn saw a play, a draw or an elimination
        ("idle", np.int64),
        ("passed", np.int64),  # voluntary passes in a row
        ("grace", np.int64),  # PJ-16: the player of the pair flipped a Joker this turn
        ("over", np.int64),  # 0, or the outcome's code + 1
        ("winner", np.int64),
        ("moment", np.int64),  # eliminations so far, counting those of one moment once
        ("out_moment", np.int64, SEATS),
        ("out_turn", np.int64, SEATS),
        ("own_turns", np.int64, SEATS),
        ("drawn", np.int64, SEATS),
        ("largest", np.int64, SEATS),
        ("count", np.int64, len(COUNTERS)),
    ]
)


@helper
def deal(rules, deck, state, rng):
    """Deal round robin from seat 0 (L9); the rest is the stock. Then the start search (1.2, L10-12)."""
    seats = rules.seats
    _clear(state)
    state.stock_end = 52 + rules.jokers
    for i in range(state.stock_end):
        state.stock[i] = deck[i]
    for p in range(seats):
        hand = 0
        for k in range(rules.hand_size):
            hand |= 1 << np.int64(deck[p + k * seats])
        state.hand[p] = hand
        state.largest[p] = rules.hand_size
    state.top = rules.hand_size * seats
    state.active = (1 << seats) - 1
    _start_search(rules, state)


@helper
def _clear(state):
    for p in range(SEATS):
        state.hand[p] = 0
        state.out_moment[p] = 0
        state.out_turn[p] = 0
        state.own_turns[p] = 0
        state.drawn[p] = 0
        state.largest[p] = 0
    for suit in range(4):
        state.lock_owner[suit] = -1
        state.ban_rank[suit] = 0
        state.ban_owner[suit] = -1
    for k in range(state.count.size):
        state.count[k] = 0
    state.table = state.exiled = state.top = state.active = state.cur = state.first = 0
    state.start_rank = state.start_card = state.phase = state.play = state.asking = state.left = state.pending = 0
    state.receivers = state.ace_card = state.locked = state.taxed = state.acted = 0
    state.idle = state.passed = state.grace = state.over = state.moment = 0
    state.stage = S_END
    state.turn = 1
    state.winner = -1


SEARCH = np.array([7, 8, 6, 9, 5, 10, 4, 11, 3, 12, 2, 13, 1], dtype=np.int64)
"""The ranks of the start search, by their distance from 7 (L11-12)."""


@helper
def _start_search(rules, state):
    """Find the start card (rank by rank, inside a rank S H D C) and its holder, the first player."""
    held = 0
    for p in range(rules.seats):
        held |= state.hand[p]
    for rank in SEARCH:
        found = held & (RANK_SET << (rank - 1))
        if found:
            state.start_card = found & -found
            break
    for p in range(rules.seats):
        if state.hand[p] & state.start_card:
            state.first = state.cur = p
            break


# --- Connection and gap (1.4) -----------------------------------------------------------------------------------------


@helper
def _rank(bit):
    return bit - LANE * (bit // LANE) + 1


@helper
def _nearest(lane, rank):
    """How many cards are missing between a rank and the nearest rank set in a suit's lane; UNREACHABLE for none."""
    gap = UNREACHABLE
    under = lane & ((1 << (rank - 1)) - 1)
    if under:
        gap = rank - 2 - highest(under)
    over = lane >> rank
    if over:
        gap = min(gap, lowest(over))
    return gap


@helper
def _card_gap(rules, state, table, bit):
    """The gap of one regular card on a table (1.4)."""
    suit = bit // LANE
    rank = bit - LANE * suit + 1
    lane = (table >> (LANE * suit)) & LANE_MASK
    if rules.plain_gap:
        return min(abs(rank - state.start_rank), _nearest(lane, rank))
    return _unusual_gap(rules, state, lane, rank)


@outlined
def _unusual_gap(rules, state, lane, rank):
    """The gap under another PJ-05 reading, or with ranks banned as connectors (h3a, PJ-55)."""
    start = state.start_rank
    if rank == start:
        return 0
    hub = True
    for k in range(4):
        banned = state.ban_rank[k]
        if banned:
            lane &= ~(1 << (banned - 1))
            if banned == start:
                hub = False
    if not hub and lane == 0 and rules.hub_anyway:
        hub = True
    near = _nearest(lane, rank)
    far = abs(rank - start)
    if not hub:
        return near
    if rules.connection == VIRTUAL_CARD:
        return min(near, far - 1)
    if rules.connection == SUIT_ONLY and lane:
        return near
    return min(near, far)


@helper
def gap(rules, state, cards):
    """The gap of a play: min, max or sum over its cards (PJ-07); 0 for Jokers, a pass and the first play."""
    rest = cards & CARDS
    if rest == 0 or state.start_rank == 0:
        return 0
    total = _card_gap(rules, state, state.table, lowest(rest))
    rest &= rest - 1
    while rest:
        one = _card_gap(rules, state, state.table, lowest(rest))
        rest &= rest - 1
        if rules.combo_gap == MIN:
            total = min(total, one)
        elif rules.combo_gap == MAX:
            total = max(total, one)
        else:
            total += one
    return total


@helper
def cost(rules, state, move):
    """The gap shown beside a play."""
    return gap(rules, state, move)


@helper
def _suits(cards):
    """The lanes of every suit that a play contains."""
    lanes = 0
    for suit in range(4):
        lane = LANE_MASK << (LANE * suit)
        if cards & lane:
            lanes |= lane
    return lanes


@helper
def _others(state, lanes, seat):
    """Of these locked or taxed lanes, those that other seats own."""
    if lanes:
        for suit in range(4):
            if state.lock_owner[suit] == seat:
                lanes &= ~(LANE_MASK << (LANE * suit))
    return lanes


@helper
def _tax(state, seat, cards):
    """Extra draws for suits that another seat has taxed: one a suit (king: tax)."""
    lanes = _others(state, state.taxed, seat)
    due = 0
    if lanes:
        for suit in range(4):
            if cards & lanes & (LANE_MASK << (LANE * suit)):
                due += 1
    return due


# --- Legal plays (1.5) ------------------------------------------------------------------------------------------------


@helper
def _banned(state, seat):
    """The cards that bans of other seats forbid this seat to play (h3a)."""
    cards = 0
    for k in range(4):
        if state.ban_rank[k] and state.ban_owner[k] != seat:
            cards |= RANK_SET << (state.ban_rank[k] - 1)
    return cards


@helper
def _playable(rules, state, seat):
    """The seat's regular cards that no lock and no ban keeps from being played, whatever they cost."""
    cards = state.hand[seat] & CARDS & ~_others(state, state.locked, seat)
    if rules.king == BAN_RANK:
        cards &= ~_banned(state, seat)
    return cards


@helper
def _affordable(rules, state, seat, cards):
    """Whether the play connects to something (PJ-55) and the stock can pay for it (PJ-09)."""
    price = gap(rules, state, cards)
    if price >= UNREACHABLE:
        return False
    return not (rules.strict_stock and price + _tax(state, seat, cards) > state.stock_end - state.top)


@helper
def _can_play(rules, state, seat):
    """Whether the seat has a legal play. If any combination is legal, so is one of its cards alone."""
    if state.hand[seat] & JOKERS:
        return True
    cards = _playable(rules, state, seat)
    if not rules.filtered:
        return cards != 0
    while cards:
        card = cards & -cards
        if _affordable(rules, state, seat, card):
            return True
        cards ^= card
    return False


@helper
def _sets(material, out, n):
    """List the sets: sub-patterns of at least two suits, by pattern, then rank."""
    s = material & LANE_MASK
    h = (material >> LANE) & LANE_MASK
    d = (material >> (2 * LANE)) & LANE_MASK
    c = (material >> (3 * LANE)) & LANE_MASK
    for pattern in range(3, 16):
        if pattern & (pattern - 1):
            common = LANE_MASK
            shape = 0
            if pattern & 1:
                common &= s
                shape |= 1
            if pattern & 2:
                common &= h
                shape |= 1 << LANE
            if pattern & 4:
                common &= d
                shape |= 1 << (2 * LANE)
            if pattern & 8:
                common &= c
                shape |= 1 << (3 * LANE)
            while common:
                out[n] = shape << lowest(common)
                n += 1
                common &= common - 1
    return n


@helper
def _count_sets(material):
    """The number of sets, without a branch: one for every rank that two, three or four suits share."""
    s = material & LANE_MASK
    h = (material >> LANE) & LANE_MASK
    d = (material >> (2 * LANE)) & LANE_MASK
    c = (material >> (3 * LANE)) & LANE_MASK
    sh, dc = s & h, d & c
    pairs = popcount(sh) + popcount(s & d) + popcount(s & c) + popcount(h & d) + popcount(h & c) + popcount(dc)
    triples = popcount(sh & d) + popcount(sh & c) + popcount(s & dc) + popcount(h & dc)
    return pairs + triples + popcount(sh & dc)


@helper
def _count_straights(material):
    """The number of straights."""
    n = 0
    runs = material & (material >> 1)
    length = 2
    while runs:
        n += popcount(runs)
        runs &= material >> length
        length += 1
    return n


@helper
def _straights(material, out, n):
    """List the straights: by length, then place."""
    runs = material & (material >> 1)
    length = 2
    while runs:
        rest = runs
        while rest:
            out[n] = ((1 << length) - 1) << lowest(rest)
            n += 1
            rest &= rest - 1
        runs &= material >> length
        length += 1
    return n


@helper
def _plays(rules, state, seat, out):
    """List every legal play of the main decision: singles, sets, straights, Jokers, a pass."""
    n = 0
    if state.start_rank == 0:
        cards = state.hand[seat] & CARDS if rules.free_start else state.start_card
        while cards:
            out[n] = cards & -cards
            n += 1
            cards &= cards - 1
        return n
    cards = _playable(rules, state, seat)
    rest = cards
    while rest:
        out[n] = rest & -rest
        n += 1
        rest &= rest - 1
    if rules.combos:
        material = cards & ~(RANK_SET << (state.start_rank - 1))
        n = _sets(material, out, n)
        n = _straights(material, out, n)
    if rules.filtered:
        kept = 0
        for i in range(n):
            if _affordable(rules, state, seat, out[i]):
                out[kept] = out[i]
                kept += 1
        n = kept
    jokers = state.hand[seat] & JOKERS
    if jokers:
        rest = jokers
        while rest:
            out[n] = rest & -rest
            n += 1
            rest &= rest - 1
        if jokers == JOKERS:
            out[n] = JOKERS
            n += 1
    if rules.passing and n:
        out[n] = 0
        n += 1
    return n


@helper
def _stock_cards(state):
    cards = 0
    for i in range(state.top, state.stock_end):
        cards |= 1 << np.int64(state.stock[i])
    return cards


@helper
def _recallable(rules, state):
    """The table cards an Ace may take (L84): none of a complete suit (L19), none of this play (PJ-24)."""
    cards = state.table
    for suit in range(4):
        lane = LANE_MASK << (LANE * suit)
        if cards & lane == lane:
            cards &= ~lane
    if not rules.ace_takes_play:
        cards &= ~state.play
    return cards


@helper
def _may_receive(rules, state):
    """The seats, as a mask, that the next Ace may name (PJ-25, PJ-26)."""
    me = 1 << state.cur
    seats = state.active
    if rules.ace_receiver == OPPONENTS:
        seats &= ~me
    elif rules.ace_receiver == SELF:
        seats &= me
    fresh = seats & ~state.receivers
    return fresh if rules.ace_distinct and fresh else seats


@helper
def _choices(rules, state):
    """The legal inner moves of the present phase, as a bit set: card bits, seats, modes or ranks."""
    phase = state.phase
    if phase == JACK_TAKE:
        return _stock_cards(state)
    if phase == ACE_CARD:
        return _recallable(rules, state)
    if phase == ACE_RECEIVER:
        return _may_receive(rules, state)
    if phase == KING_MODE:
        return 0b11
    if phase == KING_RANK:
        return LANE_MASK << 1
    return state.hand[state.cur]


@helper
def moves(rules, state, out):
    """Every legal move: a card set in the main phase, else a bit position (card, seat, rank, mode)."""
    if state.phase == MAIN:
        return _plays(rules, state, state.cur, out)
    n = 0
    rest = _choices(rules, state)
    while rest:
        out[n] = lowest(rest)
        n += 1
        rest &= rest - 1
    return n


@helper
def pick(rules, state, rng, stream, out):
    """A uniformly random legal move and their number, in the order of `moves`, mostly without listing them."""
    if state.phase != MAIN:
        rest = _choices(rules, state)
        n = popcount(rest)
        k = below(rng, stream, n) if n > 1 else 0
        return lowest(nth_bit(rest, k)), n
    if rules.filtered or state.start_rank == 0:
        n = _plays(rules, state, state.cur, out)
        k = below(rng, stream, n) if n > 1 else 0
        return out[k], n
    hand = state.hand[state.cur]
    cards = _playable(rules, state, state.cur)
    singles = popcount(cards)
    n = singles
    material = 0
    if rules.combos:
        material = cards & ~(RANK_SET << (state.start_rank - 1))
        n += _count_sets(material) + _count_straights(material)
    jokers = popcount(hand & JOKERS)
    total = n + jokers + (jokers == 2)
    k = below(rng, stream, total) if total > 1 else 0
    if k < singles:
        return nth_bit(cards, k), total
    if k < n:
        _straights(material, out, _sets(material, out, 0))
        return out[k - singles], total
    if k < n + jokers:
        return nth_bit(hand & JOKERS, k - n), total
    return JOKERS, total


# --- Moving cards -----------------------------------------------------------------------------------------------------


@helper
def _next_seat(state, seat):
    """The nearest active seat clockwise after `seat`; itself when there is no other."""
    after = state.active >> (seat + 1)
    if after:
        return seat + 1 + lowest(after)
    return lowest(state.active) if state.active else seat


@helper
def _gained(rules, state, seat, rng, log):
    """After a seat gained cards: its largest hand, and the limit where that acts at any time (L164)."""
    held = popcount(state.hand[seat])
    state.largest[seat] = max(state.largest[seat], held)
    if rules.limit_when == IMMEDIATE and held > rules.limit:
        _eliminate(rules, state, 1 << seat, W_LIMIT, rng, log)


@helper
def _draw(rules, state, seat, wanted, reason, rng, log):
    """Draw up to `wanted` cards; under an immediate limit the first card too many ends the draw and the seat (PJ-17)."""
    n = min(wanted, state.stock_end - state.top)
    if rules.limit_when == IMMEDIATE:
        n = min(n, max(1, rules.limit + 1 - popcount(state.hand[seat])))
    if n <= 0:
        return 0
    top = state.top
    hand = state.hand[seat]
    for i in range(top, top + n):
        card = np.int64(state.stock[i])
        hand |= 1 << card
        emit(log, DRAW, seat, card, reason)
    state.top = top + n
    state.hand[seat] = hand
    state.drawn[seat] += n
    state.acted = 1
    _gained(rules, state, seat, rng, log)
    return n


@helper
def _shuffle_stock(state, rng, log):
    shuffle(rng, CHANCE, state.stock, state.top, state.stock_end)
    _show_stock(state, SHUFFLE, 0, log)


@helper
def _show_stock(state, event, kind, log):
    if recording(log):
        emit(log, event, kind)
        for i in range(state.top, state.stock_end):
            emit(log, CARD, np.int64(state.stock[i]))


@helper
def _put_all(state, seat, cards, place, log):
    """Log cards that leave a hand together, in card order."""
    if recording(log):
        while cards:
            emit(log, PUT, seat, lowest(cards), place)
            cards &= cards - 1


@helper
def _to_stock(state, cards):
    """Lay cards on the stock; a shuffle follows."""
    while cards:
        state.top -= 1
        state.stock[state.top] = lowest(cards)
        cards &= cards - 1


@helper
def _unlock(state, suit, reason, log):
    lane = LANE_MASK << (LANE * suit)
    state.lock_owner[suit] = -1
    state.locked &= ~lane
    state.taxed &= ~lane
    emit(log, UNLOCK, suit, reason)


@helper
def _unban(state, suit, reason, log):
    emit(log, UNBAN, state.ban_rank[suit], state.ban_owner[suit], LANE * suit + 12, reason)
    state.ban_rank[suit] = 0
    state.ban_owner[suit] = -1


@helper
def _place(state, cards, log):
    """Put regular cards on the table; suits that become complete lose their lock (L19)."""
    state.table |= cards
    while cards:
        suit = lowest(cards) // LANE
        lane = LANE_MASK << (LANE * suit)
        cards &= ~lane
        if state.table & lane == lane:
            if state.lock_owner[suit] >= 0:
                _unlock(state, suit, W_COMPLETE, log)
            emit(log, COMPLETE, suit)


# --- Elimination and the end (1.7, 1.8) -------------------------------------------------------------------------------


@outlined
def _lay_out(rules, state, seat, cards, rng, log):
    """What becomes of an eliminated hand's regular cards (L6-7, PJ-20), its Jokers, locks and bans (L78)."""
    regular = cards & CARDS
    jokers = cards & JOKERS
    if rules.layout == TO_TABLE:
        _put_all(state, seat, regular, W_TABLE, log)
    elif rules.layout == OUT_OF_GAME:
        _put_all(state, seat, regular, W_REMOVED, log)
        state.exiled |= regular
    elif regular:
        _put_all(state, seat, regular, W_STOCK_SHUFFLED, log)
        _to_stock(state, regular)
        _shuffle_stock(state, rng, log)
    _put_all(state, seat, jokers, W_EXILED, log)
    state.exiled |= jokers
    for suit in range(4):
        if state.lock_owner[suit] == seat:
            _unlock(state, suit, W_OWNER_ELIMINATED, log)
    for suit in range(4):
        if state.ban_rank[suit] and state.ban_owner[suit] == seat:
            _unban(state, suit, W_OWNER_ELIMINATED, log)
    if rules.layout == TO_TABLE:
        _place(state, regular, log)


@outlined
def _eliminate(rules, state, seats, reason, rng, log):
    """Eliminate a set of seats judged at one moment, in seat order from the player at turn. Sets the end, if it is one."""
    state.moment += 1
    state.acted = 1
    for step in range(rules.seats):
        seat = (state.cur + step) % rules.seats
        if not seats >> seat & 1:
            continue
        emit(log, ELIMINATE, seat, reason)
        state.active &= ~(1 << seat)
        cards = state.hand[seat]
        state.hand[seat] = 0
        state.out_moment[seat] = state.moment
        state.out_turn[seat] = state.turn
        if state.count[C_OUT] == 0:
            state.count[C_FIRST_OUT] = state.turn
        state.count[C_OUT] += 1
        state.count[C_OUT_LIMIT if reason == W_LIMIT else C_OUT_JOKER] += 1
        if state.own_turns[seat] <= 2:
            state.count[C_OUT_EARLY] += 1
        _lay_out(rules, state, seat, cards, rng, log)
    left = popcount(state.active)
    if left == 0:
        state.over = DRAWN + 1
    elif left == 1 and not rules.must_go_out:
        state.over = SURVIVOR + 1
        state.winner = lowest(state.active)


@helper
def _test_limit(rules, state, seats, rng, log):
    """The limit test of a set of seats (1.6)."""
    over = 0
    rest = seats & state.active
    while rest:
        seat = lowest(rest)
        rest &= rest - 1
        if popcount(state.hand[seat]) > rules.limit:
            over |= 1 << seat
    if over:
        _eliminate(rules, state, over, W_LIMIT, rng, log)


@helper
def _win(state, seat, log):
    emit(log, FINISH, seat)
    state.over = WIN + 1
    state.winner = seat


@helper
def _play_is_dead(state):
    """Whether the game is over or the player at turn is out: what is left of his play is dropped (PJ-19)."""
    return state.over != 0 or not state.active >> state.cur & 1


# --- Effects (1.7) ----------------------------------------------------------------------------------------------------


@helper
def _ask(state, phase):
    """Stop the effects for a decision of the player at turn."""
    state.phase = phase
    state.asking = 1


@helper
def _effect_count(rules, cards, rank):
    """How many times the effect of the cards of a rank in a play happens (PJ-43)."""
    n = popcount(cards & rules.faces & (RANK_SET << (rank - 1)))
    return min(n, 1) if rules.once else n


@helper
def _start_type_effect(rules, state, rng, log):
    """The first stage: a straight hits the next seat (L54-58), a set exchanges cards (L48-53)."""
    cards = state.play
    n = popcount(cards)
    if n < 2:
        return
    if cards & (cards >> 1):
        hit = _next_seat(state, state.cur)
        if rules.straight_hit and hit != state.cur:
            state.count[C_HITS] += _draw(rules, state, hit, n - 1, W_STRAIGHT_HIT, rng, log)
    elif rules.set_exchange:
        state.left = min(n - 1, popcount(state.hand[state.cur]))
        if state.left:
            _ask(state, EXCHANGE_CARD)


@outlined
def _exchange_card(rules, state, card, rng, log):
    """One card chosen for the exchange; after the last they go into the stock, which is shuffled and drawn from."""
    seat = state.cur
    state.hand[seat] ^= 1 << card
    state.pending |= 1 << card
    state.left -= 1
    if state.left:
        return
    _put_all(state, seat, state.pending, W_STOCK_SHUFFLED, log)
    n = popcount(state.pending)
    _to_stock(state, state.pending)
    state.pending = 0
    _shuffle_stock(state, rng, log)
    state.count[C_EXCHANGED] += n
    _draw(rules, state, seat, n, W_EXCHANGE, rng, log)
    state.asking = 0


@helper
def _kings_at_work(rules, state):
    """The Kings of the play that act: those of suits not complete (L19), only the first under PJ-43 once."""
    kings = state.play & rules.faces & (RANK_SET << 12)
    if kings:
        for suit in range(4):
            lane = LANE_MASK << (LANE * suit)
            if state.table & lane == lane:
                kings &= ~lane
    return kings & -kings if rules.once else kings


@helper
def _lock(state, suit, tax, log):
    """The player at turn locks (or taxes) a suit (L72-78)."""
    lane = LANE_MASK << (LANE * suit)
    state.lock_owner[suit] = state.cur
    if tax:
        state.taxed |= lane
    else:
        state.locked |= lane
    emit(log, LOCK, suit, state.cur, tax)


@helper
def _start_kings(rules, state, log):
    """Kings lock or tax their suits at once; naming a rank or a mode is a decision each (L72-78, L136)."""
    kings = _kings_at_work(rules, state)
    if kings == 0:
        return
    state.count[C_KINGS] += popcount(kings)
    if rules.king == BAN_RANK or rules.king == CHOOSE_KING:
        state.left = kings
        if rules.ban_duration == NEXT_KING:
            for suit in range(4):
                if state.ban_rank[suit]:
                    _unban(state, suit, W_NEXT_KING, log)
        _ask(state, KING_RANK if rules.king == BAN_RANK else KING_MODE)
        return
    while kings:
        _lock(state, lowest(kings) // LANE, int(rules.king == TAX), log)
        kings &= kings - 1


@helper
def _king_decided(rules, state, move, log):
    """A King's rank or mode has been named."""
    card = lowest(state.left)
    suit = card // LANE
    if state.phase == KING_MODE:
        _lock(state, suit, move, log)
    else:
        state.ban_rank[suit] = move
        state.ban_owner[suit] = state.cur
        emit(log, BAN, move, state.cur, card)
    state.left &= state.left - 1
    if state.left == 0:
        state.asking = 0


@helper
def _start_queens(rules, state, rng, log):
    """Queens draw at once (L79-80, L113); the cards then put back are decisions."""
    queens = _effect_count(rules, state.play, 12)
    if queens == 0:
        return
    state.count[C_QUEENS] += queens
    drawn = _draw(rules, state, state.cur, queens, W_QUEEN, rng, log)
    if _play_is_dead(state):
        return
    state.left = min(queens, popcount(state.hand[state.cur])) if rules.must_return else drawn
    if state.left:
        _ask(state, QUEEN_RETURN)


@helper
def _queen_return(state, card, log):
    state.hand[state.cur] ^= 1 << card
    state.top -= 1
    state.stock[state.top] = card
    emit(log, PUT, state.cur, card, W_STOCK_TOP)
    state.left -= 1
    if state.left == 0:
        state.asking = 0


@helper
def _start_jacks(rules, state):
    """Every Jack will take a card out of the stock, while there is one."""
    jacks = min(_effect_count(rules, state.play, 11), state.stock_end - state.top)
    if jacks:
        state.count[C_JACKS] += jacks
        state.left = jacks
        _ask(state, JACK_TAKE)


@outlined
def _jack_take(rules, state, card, rng, log):
    """Take the named card out of the stock (L81-82); the stock is shuffled after the last Jack."""
    seat = state.cur
    at = state.top
    while state.stock[at] != card:
        at += 1
    while at > state.top:
        state.stock[at] = state.stock[at - 1]
        at -= 1
    state.top += 1
    state.hand[seat] |= 1 << card
    state.drawn[seat] += 1
    emit(log, DRAW, seat, card, W_JACK)
    _gained(rules, state, seat, rng, log)
    state.left -= 1
    if state.left == 0 and not _play_is_dead(state):
        _shuffle_stock(state, rng, log)
        state.asking = 0


@helper
def _start_aces(rules, state):
    """Every Ace will send a table card back into a hand."""
    state.left = _effect_count(rules, state.play, 1)
    _next_ace(rules, state)


@helper
def _next_ace(rules, state):
    """Ask for the next Ace's card, if there is one to take and a seat to take it (L83-84, L114)."""
    state.asking = 0
    if state.left and _recallable(rules, state) and _may_receive(rules, state):
        _ask(state, ACE_CARD)


@outlined
def _ace_receiver(rules, state, seat, rng, log):
    """The named seat takes the named card back into its hand; a King's lock or ban ends with it (L150)."""
    card = state.ace_card
    suit = card // LANE
    state.table ^= 1 << card
    state.hand[seat] |= 1 << card
    state.receivers |= 1 << seat
    state.count[C_ACES] += 1
    state.count[C_SELF_RECALLS] += seat == state.cur
    emit(log, RECALL, card, seat)
    if _rank(card) == 13:
        if state.lock_owner[suit] >= 0:
            _unlock(state, suit, W_KING_RECALLED, log)
        if state.ban_rank[suit]:
            _unban(state, suit, W_KING_RECALLED, log)
    _gained(rules, state, seat, rng, log)
    state.left -= 1
    if not _play_is_dead(state):
        _next_ace(rules, state)


@outlined
def _run_effects(rules, state, rng, log):
    """Run the stages of the play's effects until one needs a decision or all are done (L111)."""
    while state.stage != S_END:
        stage = state.stage
        state.stage += 1
        if stage == S_TYPE:
            _start_type_effect(rules, state, rng, log)
        elif stage == S_KING:
            _start_kings(rules, state, log)
        elif stage == S_QUEEN:
            _start_queens(rules, state, rng, log)
        elif stage == S_JACK:
            _start_jacks(rules, state)
        else:
            _start_aces(rules, state)
        if _play_is_dead(state):
            state.stage = S_END
        elif state.asking:
            return


# --- Jokers -----------------------------------------------------------------------------------------------------------


@helper
def _pair_target(rules, card):
    """The hand size that a flipped card calls for (L95-104, PJ-40, PJ-42)."""
    limit = rules.limit if rules.pair_relative else 10
    if card >= BLACK_JOKER:
        return limit if rules.pair_values == 0 else limit + 1
    rank = _rank(card)
    if rules.pair_values == 0:
        return min(rank, limit - 1)
    return limit if rank == 1 or rank > 10 else min(rank, limit)


@helper
def _pool(rules, state, cards):
    """Lay a card set into the scratch pool in card order and return their number."""
    n = 0
    while cards:
        state.pool[n] = lowest(cards)
        n += 1
        cards &= cards - 1
    return n


@outlined
def _joker(rules, state, cards, rng, log):
    """The effect of a Joker or of both (L86-105)."""
    me = state.cur
    hands = 0
    for p in range(rules.seats):
        hands |= state.hand[p]
    if cards == JOKERS:
        state.count[C_PAIRS] += 1
        kind = W_JOKER_PAIR
        _to_stock(state, hands | JOKERS)
        shuffle(rng, CHANCE, state.stock, state.top, state.stock_end)
    else:
        state.exiled |= cards
        _put_all(state, me, cards, W_EXILED, log)
        if cards == 1 << BLACK_JOKER:
            state.count[C_BLACK] += 1
            kind = W_BLACK_JOKER
            shuffle(rng, CHANCE, state.pool, 0, _pool(rules, state, hands))
        else:
            state.count[C_RED] += 1
            kind = W_RED_JOKER
            _to_stock(state, hands)
            shuffle(rng, CHANCE, state.stock, state.top, state.stock_end)
    emit(log, REDEAL, kind)
    if cards == JOKERS:
        _deal_pair(rules, state, log)
    elif cards == 1 << BLACK_JOKER:
        _deal_black(rules, state)
    else:
        _deal_red(rules, state)
    for p in range(rules.seats):
        emit(log, HAND, state.hand[p])
        state.largest[p] = max(state.largest[p], popcount(state.hand[p]))
    if recording(log):
        for i in range(state.top, state.stock_end):
            emit(log, CARD, np.int64(state.stock[i]))
    if rules.limit_when == IMMEDIATE:
        _test_limit(rules, state, state.active, rng, log)


@helper
def _deal_black(rules, state):
    """Deal the shuffled pool back in the old sizes, from the player on (L89-91; PJ-59)."""
    at = 0
    for step in range(rules.seats):
        p = (state.cur + step) % rules.seats
        n = popcount(state.hand[p])
        state.hand[p] = 0
        for _ in range(n):
            state.hand[p] |= 1 << np.int64(state.pool[at])
            at += 1
    if rules.count_joker:
        _take_top(state, state.cur)


@helper
def _take_top(state, seat):
    if state.top < state.stock_end:
        state.hand[seat] |= 1 << np.int64(state.stock[state.top])
        state.top += 1


@helper
def _deal_red(rules, state):
    """Everybody draws his old size from the shuffled stock, from the player on (L92-94; PJ-59)."""
    for step in range(rules.seats):
        p = (state.cur + step) % rules.seats
        n = popcount(state.hand[p])
        state.hand[p] = 0
        if step == 0 and rules.count_joker:
            n += 1
        for _ in range(n):
            _take_top(state, p)


@helper
def _deal_pair(rules, state, log):
    """Every active seat flips its first card, then draws on in turn up to the size it calls for (L101-104)."""
    for step in range(rules.seats):
        p = (state.cur + step) % rules.seats
        state.hand[p] = 0
        state.pool[p] = 0
        if state.active >> p & 1 and state.top < state.stock_end:
            card = np.int64(state.stock[state.top])
            emit(log, FLIP, card)
            _take_top(state, p)
            state.pool[p] = _pair_target(rules, card)
            if step == 0 and card >= BLACK_JOKER:
                state.grace = 1
    short = True
    while short and state.top < state.stock_end:
        short = False
        for step in range(rules.seats):
            p = (state.cur + step) % rules.seats
            if popcount(state.hand[p]) < state.pool[p]:
                _take_top(state, p)
                short = True


# --- The turn (1.6) ---------------------------------------------------------------------------------------------------


@helper
def _owners_target(rules, state, seat):
    """The draws of a stuck seat: up to the largest hand among the owners of the locks that block it, at least 1 (L75-77)."""
    due = 1
    if rules.match_stuck:
        for suit in range(4):
            owner = state.lock_owner[suit]
            lane = LANE_MASK << (LANE * suit)
            if owner >= 0 and owner != seat and state.hand[seat] & state.locked & lane:
                due = max(due, popcount(state.hand[owner]) - popcount(state.hand[seat]))
    return due


@helper
def _release(state, cards, log):
    """A play of the owner that contains a locked suit releases it (L73)."""
    if cards & (state.locked | state.taxed) == 0:
        return
    for suit in range(4):
        if state.lock_owner[suit] == state.cur and cards & (LANE_MASK << (LANE * suit)):
            _unlock(state, suit, W_OWNER_PLAYED, log)


@helper
def _release_bans(state, cards, log):
    """A ban until its owner plays that rank ends when he does (PJ-52)."""
    for suit in range(4):
        rank = state.ban_rank[suit]
        if rank and state.ban_owner[suit] == state.cur and cards & (RANK_SET << (rank - 1)):
            _unban(state, suit, W_OWNER_PLAYED, log)


@helper
def _pass(rules, state, rng, log):
    """A voluntary pass (PJ-10)."""
    state.passed += 1
    state.count[C_PASSES] += 1
    emit(log, PASS, state.cur)
    if rules.passing == 1:
        _draw(rules, state, state.cur, 1, W_PASS, rng, log)


@helper
def _play(rules, state, cards, rng, log):
    """Steps 3 to 7 of a turn: the play, what it releases and completes, and its price. Leaves the effects to run."""
    seat = state.cur
    price = gap(rules, state, cards)
    tax = _tax(state, seat, cards)
    emit(log, PLAY, seat, cards, price)
    if state.start_rank == 0:
        state.start_rank = _rank(lowest(cards))
    n = popcount(cards)
    state.hand[seat] ^= cards
    state.acted = 1
    state.passed = 0
    state.count[C_PLAYED] += n
    state.play = cards
    state.stage = S_END
    if cards & JOKERS:
        _joker(rules, state, cards, rng, log)
        return
    if n > 1:
        state.count[C_STRAIGHTS if cards & (cards >> 1) else C_SETS] += 1
    _release(state, cards, log)
    _place(state, cards, log)
    if rules.win_check == ON_EMPTY and state.hand[seat] == 0:
        _win(state, seat, log)
        return
    state.count[C_GAP] += _draw(rules, state, seat, price, W_GAP, rng, log)
    if tax and not _play_is_dead(state):
        _draw(rules, state, seat, tax, W_TAX, rng, log)
    if _play_is_dead(state):
        return
    if rules.king == BAN_RANK and rules.ban_duration == OWNER_PLAYS:
        _release_bans(state, cards, log)
    if rules.win_check == AFTER_COST and state.hand[seat] == 0:
        _win(state, seat, log)
        return
    if n > 1 or cards & rules.faces:
        state.stage = S_TYPE
        state.receivers = 0


@helper
def _limit_seats(rules, state):
    """The seats whose limit is tested at the end of this turn (PJ-15, PJ-16)."""
    me = 1 << state.cur
    if rules.limit_when == OWN_TURN_END:
        return 0 if rules.pair_grace and state.grace else me
    if rules.limit_when == ANY_TURN_END:
        return state.active
    if rules.limit_when == ROUND_END:
        step = (_next_seat(state, state.cur) - state.cur - 1) % rules.seats
        home = (state.first - state.cur - 1) % rules.seats
        return state.active if home <= step else 0
    return 0


@helper
def _lone_jokers(rules, state):
    """The active seats that hold a Joker and nothing else (PJ-35 also_when_hit)."""
    seats = 0
    for p in range(rules.seats):
        hand = state.hand[p]
        if state.active >> p & 1 and hand & JOKERS and hand & (hand - 1) == 0:
            seats |= 1 << p
    return seats


@helper
def _end_turn(rules, state, rng, log):
    """Step 9 of a turn."""
    seat = state.cur
    if state.active >> seat & 1 and state.hand[seat] == 0:
        _win(state, seat, log)
        return
    tested = _limit_seats(rules, state)
    if tested:
        _test_limit(rules, state, tested, rng, log)
    if rules.joker_only == 2 and not state.over:
        lone = _lone_jokers(rules, state)
        if lone:
            _eliminate(rules, state, lone, W_JOKER_ONLY, rng, log)
    if state.over:
        return
    active = popcount(state.active)
    state.idle = 0 if state.acted else state.idle + 1
    if rules.passing and state.passed >= active:
        state.over = STALLED + 1
    elif state.idle >= active:
        state.over = DRAWN + 1
    elif state.turn >= rules.max_turns:
        state.over = STALLED + 1
    else:
        state.cur = _next_seat(state, seat)
        state.turn += 1


@outlined
def _log_turn(rules, state, listed, log):
    """Log the start of a turn with its legal plays. Only ever called when a log is kept."""
    out = np.empty(512, dtype=np.int64)
    emit(log, TURN, state.turn, state.cur)
    if listed:
        for i in range(_plays(rules, state, state.cur, out)):
            emit(log, MOVE, out[i])


@helper
def _start_turn(rules, state, rng, log):
    """Steps 1 and 2 of a turn. Whether the turn goes on with a decision."""
    seat = state.cur
    state.acted = 0
    state.grace = 0
    state.own_turns[seat] += 1
    if rules.king == BAN_RANK and rules.ban_duration == ONE_ROUND:
        for suit in range(4):
            if state.ban_rank[suit] and state.ban_owner[suit] == seat:
                _unban(state, suit, W_ROUND_OVER, log)
    hand = state.hand[seat]
    if rules.joker_only and hand & JOKERS and hand & (hand - 1) == 0:
        if recording(log):
            _log_turn(rules, state, False, log)
        state.passed = 0
        _eliminate(rules, state, 1 << seat, W_JOKER_ONLY, rng, log)
        return False
    stuck = state.start_rank != 0 and not _can_play(rules, state, seat)
    if recording(log):
        _log_turn(rules, state, not stuck, log)
    if not stuck:
        state.phase = MAIN
        return True
    state.passed = 0
    state.count[C_STUCK] += 1
    state.count[C_STUCK_DRAWS] += _draw(rules, state, seat, _owners_target(rules, state, seat), W_STUCK, rng, log)
    return False


@outlined
def _go_on(rules, state, rng, log):
    """From the end of a turn to the next decision, through turns that need none."""
    while not state.over:
        _end_turn(rules, state, rng, log)
        if state.over or _start_turn(rules, state, rng, log):
            return


@helper
def begin(rules, state, rng, log):
    """Start the turn of a dealt or given position and go on to its first decision."""
    if not _start_turn(rules, state, rng, log):
        _go_on(rules, state, rng, log)


@helper
def mover(rules, state):
    """The player at turn decides everything his play asks for."""
    return state.cur


@helper
def is_over(rules, state):
    """Whether the game has ended."""
    return state.over != 0


@helper
def apply(rules, state, move, rng, log):
    """Make a move of the present phase and all that follows up to the next decision or the end."""
    phase = state.phase
    if phase == MAIN:
        state.asking = 0
        if move == 0:
            state.stage = S_END
            _pass(rules, state, rng, log)
        else:
            _play(rules, state, move, rng, log)
    elif phase == EXCHANGE_CARD:
        _exchange_card(rules, state, move, rng, log)
    elif phase == QUEEN_RETURN:
        _queen_return(state, move, log)
    elif phase == JACK_TAKE:
        _jack_take(rules, state, move, rng, log)
    elif phase == ACE_CARD:
        state.ace_card = move
        state.phase = ACE_RECEIVER
    elif phase == ACE_RECEIVER:
        _ace_receiver(rules, state, move, rng, log)
    else:
        _king_decided(rules, state, move, log)
    if _play_is_dead(state):
        state.stage = S_END
        state.asking = 0
    elif state.asking:
        return
    _run_effects(rules, state, rng, log)
    if state.stage == S_END and not state.asking:
        _go_on(rules, state, rng, log)


# --- Results ----------------------------------------------------------------------------------------------------------


@helper
def standing(rules, state, seat):
    """Fewest cards lead; an eliminated seat is behind everybody."""
    return popcount(state.hand[seat]) if state.active >> seat & 1 else DECK + 1


@helper
def _order(state, seat):
    """A seat's place as a sortable number: the winner, active seats by hand size, then the eliminated, the latest first (1.8)."""
    if seat == state.winner:
        return -1
    if state.active >> seat & 1:
        return popcount(state.hand[seat])
    return 1000 - state.out_moment[seat]


@helper
def _count_table(state):
    """Cards, complete suits and holes of the final table."""
    state.count[C_TABLE] = popcount(state.table)
    for suit in range(4):
        lane = (state.table >> (LANE * suit)) & LANE_MASK
        if lane == LANE_MASK:
            state.count[C_COMPLETE] += 1
        if lane:
            state.count[C_HOLES] += highest(lane) - lowest(lane) + 1 - popcount(lane)
    state.count[C_STOCK] = state.stock_end - state.top
    state.count[C_START] = state.start_rank


@helper
def outcome(rules, state, row):
    """Outcome, places, win shares (in 1/2520), per-seat figures and counters."""
    _count_table(state)
    row.outcome = state.over - 1
    row.turns = state.turn
    row.first = state.first
    for p in range(rules.seats):
        place = 1
        mine = _order(state, p)
        for q in range(rules.seats):
            place += _order(state, q) < mine
        row.place[p] = place
        row.share[p] = SHARE if p == state.winner else 0
        row.score[p] = 0
        row.drawn[p] = state.drawn[p]
        row.largest[p] = state.largest[p]
        row.out_turn[p] = state.out_turn[p]
    for k in range(state.count.size):
        row.count[k] = state.count[k]


@helper
def _longest_run(cards):
    length = 0
    while cards:
        cards &= cards >> 1
        length += 1
    return length


@helper
def _largest_set(cards):
    best = 0
    for rank in range(13):
        best = max(best, popcount(cards & (RANK_SET << rank)))
    return best


@helper
def opening(rules, hand, classes):
    """The class of an opening hand in each partition."""
    classes[0] = popcount(hand & (RANK_SET | RANK_SET << 12))
    classes[1] = popcount(hand & JOKERS)
    sets = min(max(_largest_set(hand & CARDS), 1), 3)
    runs = min(max(_longest_run(hand & CARDS), 1), 3)
    classes[2] = 3 * (sets - 1) + runs - 1


# --- Features ---------------------------------------------------------------------------------------------------------

FEATURES = (
    Feature("gap", "cards the play draws", "此次出牌要抽的張數"),
    Feature("shed", "cards the play sheds", "此次出牌張數"),
    Feature("goes_out", "whether the hand is empty afterwards", "出完後是否清空手牌"),
    Feature("hand_after", "cards in hand afterwards", "出完後手牌數"),
    Feature("over_limit", "cards over the hand limit afterwards", "出完後超過上限張數"),
    Feature("opens_own", "own cards that become free, less those that cease to be", "自己新增的免費接點數"),
    Feature("opens_others", "places that become free for cards not in hand", "替他人新增的免費接點數"),
    Feature("hit", "cards the next seat must draw for a straight", "順子使下家抽牌數"),
    Feature("hit_near_win", "the same, when the next seat holds at most 2 cards", "下家剩 2 張以下時的順子抽牌數"),
    Feature("exchange", "cards a set exchanges", "多條換牌張數"),
    Feature("kings", "Kings with an effect", "有效果的 K 張數"),
    Feature("lock_own", "own cards left in the suits those Kings act on", "K 花色中自己剩下的牌數"),
    Feature("releases", "own locks the play releases", "解除自己的封鎖數"),
    Feature("queens", "Queens with an effect", "有效果的 Q 張數"),
    Feature("jacks", "Jacks with an effect", "有效果的 J 張數"),
    Feature("aces", "Aces with an effect", "有效果的 A 張數"),
    Feature("black_joker", "whether it is the black Joker alone", "是否單出黑 Joker"),
    Feature("red_joker", "whether it is the red Joker alone", "是否單出紅 Joker"),
    Feature("joker_pair", "whether it is the Joker pair", "是否為 Joker 對"),
    Feature("hand_gap", "for a Joker: the gaps of the hand it gives away, summed", "出 Joker 時換走手牌的總差數"),
    Feature("lone_joker", "whether a single Joker is all that is left", "是否只剩一張 Joker"),
    Feature("passes", "whether it is a voluntary pass", "是否自願略過"),
    Feature("card_gap", "the gap of the card, were it played now", "該牌目前的差數"),
    Feature("card_joker", "whether the card is a Joker", "該牌是否為 Joker"),
    Feature("card_ace", "whether it is an Ace", "該牌是否為 A"),
    Feature("card_jack", "whether it is a Jack", "該牌是否為 J"),
    Feature("card_queen", "whether it is a Queen", "該牌是否為 Q"),
    Feature("card_king", "whether it is a King", "該牌是否為 K"),
    Feature("card_links", "hand cards it makes a pair or straight with", "可與該牌組成對子或順子的手牌數"),
    Feature("card_locked", "whether another seat has locked its suit", "該牌花色是否被他人封鎖"),
    Feature("closes_own", "own free cards lost when it is taken from the table", "回收後自己失去的免費接點數"),
    Feature("closes_others", "free places lost for cards not in hand", "回收後他人失去的免費接點數"),
    Feature("lifts_lock", "own cards that taking this King frees", "回收此 K 解除封鎖的自己牌數"),
    Feature("own_lock", "whether taking this King ends one's own lock", "是否解除自己的封鎖"),
    Feature("seat_self", "whether the seat is oneself", "是否指定自己"),
    Feature("seat_cards", "cards in the seat's hand", "該玩家手牌數"),
    Feature("seat_next", "whether the seat plays next", "是否為下家"),
    Feature("seat_over", "whether the card puts the seat over the limit", "是否使該玩家超過上限"),
    Feature("rank_own", "own cards of the rank", "自己持有該點數張數"),
    Feature("rank_table", "table cards of the rank", "桌面上該點數張數"),
    Feature("rank_start", "whether it is the start rank", "是否為起點"),
    Feature("mode_tax", "whether the King taxes rather than locks", "K 選擇抽牌而非封鎖"),
)
(
    F_GAP, F_SHED, F_GOES_OUT, F_HAND_AFTER, F_OVER, F_OPENS_OWN, F_OPENS_OTHERS, F_HIT, F_HIT_NEAR, F_EXCHANGE,
    F_KINGS, F_LOCK_OWN, F_RELEASES, F_QUEENS, F_JACKS, F_ACES, F_BLACK, F_RED, F_PAIR, F_HAND_GAP, F_LONE,
    F_PASSES, F_CARD_GAP, F_CARD_JOKER, F_CARD_ACE, F_CARD_JACK, F_CARD_QUEEN, F_CARD_KING, F_LINKS, F_CARD_LOCKED,
    F_CLOSES_OWN, F_CLOSES_OTHERS, F_LIFTS, F_OWN_LOCK, F_SELF, F_SEAT_CARDS, F_SEAT_NEXT, F_SEAT_OVER,
    F_RANK_OWN, F_RANK_TABLE, F_RANK_START, F_TAX,
) = range(len(FEATURES))


@helper
def _free_places(table, start_rank):
    """The cards not on the table that cost nothing: next to a table card, or of the start rank."""
    return ((table << 1 | table >> 1) & CARDS | RANK_SET << (start_rank - 1)) & ~table


@helper
def features(rules, state, move, x):
    """What the player at turn knows about a move: own hand, table, locks, hand and stock sizes."""
    phase = state.phase
    if phase == MAIN:
        if move & CARDS:
            _play_features(rules, state, move, x)
        else:
            _joker_features(rules, state, move, x)
    elif phase == ACE_CARD:
        _recall_features(rules, state, move, x)
    elif phase == ACE_RECEIVER:
        note(x, F_SELF, move == state.cur)
        note(x, F_SEAT_CARDS, popcount(state.hand[move]))
        note(x, F_SEAT_NEXT, move == _next_seat(state, state.cur))
        note(x, F_SEAT_OVER, popcount(state.hand[move]) >= rules.limit)
    elif phase == KING_RANK:
        note(x, F_RANK_OWN, popcount(state.hand[state.cur] & (RANK_SET << (move - 1))))
        note(x, F_RANK_TABLE, popcount(state.table & (RANK_SET << (move - 1))))
        note(x, F_RANK_START, move == state.start_rank)
    elif phase == KING_MODE:
        note(x, F_TAX, move)
    else:
        _card_features(rules, state, move, x)


@helper
def _play_features(rules, state, cards, x):
    """A play of regular cards."""
    seat = state.cur
    hand = state.hand[seat] & ~cards
    n = popcount(cards)
    left = popcount(hand)
    draws = min(gap(rules, state, cards) + _tax(state, seat, cards), state.stock_end - state.top)
    note(x, F_GAP, draws)
    note(x, F_SHED, n)
    after = left + draws + _effect_features(rules, state, cards, hand, x)
    note(x, F_HAND_AFTER, after)
    note(x, F_GOES_OUT, after == 0 or (left == 0 and (rules.win_check == ON_EMPTY or (draws == 0 and rules.win_check == AFTER_COST))))
    note(x, F_OVER, max(0, after - rules.limit))
    note(x, F_LONE, after == 1 and hand & JOKERS != 0)
    start = state.start_rank if state.start_rank else _rank(lowest(cards))
    before = _free_places(state.table, start)
    then = _free_places(state.table | cards, start)
    note(x, F_OPENS_OWN, popcount(then & hand) - popcount(before & hand))
    note(x, F_OPENS_OTHERS, popcount(then & ~hand) - popcount(before & ~hand & ~cards))
    if n > 1:
        if cards & (cards >> 1):
            hit = _next_seat(state, seat)
            note(x, F_HIT, (n - 1) * rules.straight_hit)
            note(x, F_HIT_NEAR, (n - 1) * rules.straight_hit * (popcount(state.hand[hit]) <= 2))
        else:
            note(x, F_EXCHANGE, min(n - 1, left) * rules.set_exchange)


@helper
def _effect_features(rules, state, cards, hand, x):
    """The special cards of a play, and the locks it sets and releases. Returns the cards its Jacks will take."""
    if cards & (state.locked | state.taxed):
        releases = 0
        for suit in range(4):
            if state.lock_owner[suit] == state.cur and cards & (LANE_MASK << (LANE * suit)):
                releases += 1
        note(x, F_RELEASES, releases)
    if cards & rules.faces == 0:
        return 0
    kings = cards & rules.faces & (RANK_SET << 12)
    note(x, F_KINGS, popcount(kings))
    if kings:
        note(x, F_LOCK_OWN, popcount(hand & _suits(kings)))
    stock = state.stock_end - state.top
    note(x, F_QUEENS, _effect_count(rules, cards, 12))
    note(x, F_ACES, _effect_count(rules, cards, 1))
    jacks = min(_effect_count(rules, cards, 11), stock)
    note(x, F_JACKS, jacks)
    return jacks


@helper
def _joker_features(rules, state, jokers, x):
    """A Joker, the pair, or a pass."""
    hand = state.hand[state.cur] & ~jokers
    note(x, F_PASSES, jokers == 0)
    note(x, F_BLACK, jokers == 1 << BLACK_JOKER)
    note(x, F_RED, jokers == 1 << RED_JOKER)
    note(x, F_PAIR, jokers == JOKERS)
    note(x, F_SHED, popcount(jokers))
    note(x, F_HAND_AFTER, popcount(hand))
    if jokers:
        rest = hand & CARDS
        total = 0
        while rest:
            total += _card_gap(rules, state, state.table, lowest(rest))
            rest &= rest - 1
        note(x, F_HAND_GAP, total)


@helper
def _card_features(rules, state, card, x):
    """A card to give away (exchange, Queen) or to take (Jack)."""
    if card >= BLACK_JOKER:
        note(x, F_CARD_JOKER, 1)
        return
    rank = _rank(card)
    bit = 1 << card
    note(x, F_CARD_GAP, _card_gap(rules, state, state.table, card))
    note(x, F_CARD_ACE, rank == 1 and rules.ace)
    note(x, F_CARD_JACK, rank == 11 and rules.jack)
    note(x, F_CARD_QUEEN, rank == 12 and rules.queen)
    note(x, F_CARD_KING, rank == 13 and rules.king != PLAIN)
    note(x, F_CARD_LOCKED, _others(state, state.locked, state.cur) & bit != 0)
    if rules.combos and rank != state.start_rank:
        partners = RANK_SET << (rank - 1) | bit << 1 | bit >> 1
        partners &= ~(RANK_SET << (state.start_rank - 1)) & CARDS & ~bit
        note(x, F_LINKS, popcount(state.hand[state.cur] & partners))


@helper
def _recall_features(rules, state, card, x):
    """A table card that an Ace may send back into a hand."""
    bit = 1 << card
    hand = state.hand[state.cur]
    table = state.table & ~bit
    before = _free_places(state.table, state.start_rank)
    then = _free_places(table, state.start_rank) & ~bit
    note(x, F_CARD_GAP, _card_gap(rules, state, table, card))
    note(x, F_CARD_KING, _rank(card) == 13 and rules.king != PLAIN)
    note(x, F_CARD_ACE, _rank(card) == 1 and rules.ace)
    note(x, F_CLOSES_OWN, popcount(before & hand) - popcount(then & hand))
    note(x, F_CLOSES_OTHERS, popcount(before & ~hand) - popcount(then & ~hand))
    suit = card // LANE
    owner = state.lock_owner[suit]
    if _rank(card) == 13 and owner >= 0:
        note(x, F_OWN_LOCK, owner == state.cur)
        note(x, F_LIFTS, 0 if owner == state.cur else popcount(hand & (LANE_MASK << (LANE * suit))))


# --- Positions --------------------------------------------------------------------------------------------------------

class Ban(BaseModel):
    """A rank that a King's player has banned (h3a)."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    rank: int = Field(ge=1, le=13)
    seat: int


class PaijiePosition(PositionModel):
    """A position; locks, taxes and bans are named after the suit of their King."""

    table: list[Card] = []
    stock: list[Card] | None = None
    start_rank: int | None = Field(None, ge=1, le=13)
    locks: dict[Suit, int] = {}
    taxes: dict[Suit, int] = {}
    bans: dict[Suit, Ban] = {}
    exiled: list[Card] = []
    eliminated: list[int] = []


def from_position(
    rules: PaijieRules, position: PaijiePosition, state: Any, shuffled: Callable[[list[int]], list[int]]
) -> None:
    """Set `state` to a given position (DESIGN, Positions). Raises ImpossiblePosition with the reason.

    `shuffled` orders the cards of a stock that the position leaves out.
    """
    _clear_plain(state)
    hands = [mask_of(hand) for hand in position.hands]
    state.hand[: rules.seats] = hands
    state.largest[: rules.seats] = [hand.bit_count() for hand in hands]
    state.table, state.exiled = mask_of(position.table), mask_of(position.exiled)
    _check_seats(rules, position)
    state.active = ((1 << rules.seats) - 1) & ~sum(1 << seat for seat in position.eliminated)
    state.cur = state.first = position.to_move
    deck = CARDS | (JOKERS if rules.jokers else 0)
    _check_cards(rules, position, deck)
    if position.stock is None:
        given = functools.reduce(operator.or_, hands, int(state.table) | int(state.exiled))
        stock = shuffled(bits_of(deck & ~given))
    else:
        stock = [parse_card(name) for name in position.stock]
    state.stock_end = DECK
    state.top = DECK - len(stock)
    state.stock[state.top :] = stock
    if position.start_rank is not None:
        state.start_rank = position.start_rank
    elif position.table:
        raise ImpossiblePosition("start_rank", "missing; with cards on the table the start rank is known")
    else:
        _find_start(hands, state)
    _set_locks(position, state)


def _clear_plain(state: Any) -> None:
    """An empty state, without compiling anything."""
    for name in STATE.names or ():
        state[name] = 0
    state.lock_owner[:] = state.ban_owner[:] = state.winner = -1
    state.stage, state.turn = S_END, 1


def _check_seats(rules: PaijieRules, position: PaijiePosition) -> None:
    """The seats a position names must exist and be active; the eliminated hold no cards."""
    for seat in position.eliminated:
        if not 0 <= seat < rules.seats:
            raise ImpossiblePosition("eliminated", f"there is no seat {seat}")
        if position.hands[seat]:
            raise ImpossiblePosition("eliminated", f"seat {seat} still holds cards")
    active = set(range(rules.seats)) - set(position.eliminated)
    named = [("to_move", position.to_move), *(("locks", seat) for seat in position.locks.values())]
    named += [("taxes", seat) for seat in position.taxes.values()]
    for key, seat in named + [("bans", ban.seat) for ban in position.bans.values()]:
        if seat not in active:
            raise ImpossiblePosition(key, f"{seat} is no active seat")


def _check_cards(rules: PaijieRules, position: PaijiePosition, deck: int) -> None:
    """Cards lie only where the rules let them."""
    if mask_of(position.table) & JOKERS:
        raise ImpossiblePosition("table", "a Joker is never on the table")
    if mask_of(position.exiled) & CARDS and rules.layout != OUT_OF_GAME:
        raise ImpossiblePosition("exiled", "only Jokers leave the game under this ruleset")
    places = [("table", position.table), ("exiled", position.exiled), ("stock", position.stock or [])]
    for key, cards in places + [("hands", hand) for hand in position.hands]:
        if mask_of(cards) & ~deck:
            raise ImpossiblePosition(key, "this ruleset has no Jokers")
    if rules.limit_when == IMMEDIATE:
        for seat, hand in enumerate(position.hands):
            if len(hand) > rules.limit:
                raise ImpossiblePosition("hands", f"seat {seat} is over the limit of {rules.limit}, out at once here")


def _find_start(hands: list[int], state: Any) -> None:
    """The start search for given hands (1.2)."""
    for rank in SEARCH:
        for suit in range(4):
            card = 1 << (LANE * suit + int(rank) - 1)
            for seat, hand in enumerate(hands):
                if hand & card:
                    state.start_card, state.first, state.cur = card, seat, seat
                    return
    raise ImpossiblePosition("hands", "nobody holds a card to start with")


def _set_locks(position: PaijiePosition, state: Any) -> None:
    """Locks, taxes and bans; each needs its King on the table, a lock or tax also a suit that is not complete."""
    for key, owners in (("locks", position.locks), ("taxes", position.taxes), ("bans", position.bans)):
        for suit in owners:
            k = SUITS.index(suit)
            lane = (int(state.table) >> (LANE * k)) & LANE_MASK
            if not lane >> 12:
                raise ImpossiblePosition(key, f"{suit}K is not on the table")
            if lane == LANE_MASK and key != "bans":
                raise ImpossiblePosition(key, f"suit {suit} is complete; nothing acts on it")
    for suit, seat in (*position.locks.items(), *position.taxes.items()):
        k = SUITS.index(suit)
        if int(state.lock_owner[k]) >= 0:
            raise ImpossiblePosition("taxes", f"suit {suit} is locked already")
        state.lock_owner[k] = seat
        lanes = "locked" if suit in position.locks else "taxed"
        state[lanes] = int(state[lanes]) | LANE_MASK << (LANE * k)
    for suit, ban in position.bans.items():
        k = SUITS.index(suit)
        state.ban_rank[k], state.ban_owner[k] = ban.rank, ban.seat


def to_position(rules: PaijieRules, state: Any) -> dict[str, Any]:
    """The state in a position file's own keys."""
    owners = [int(owner) for owner in state.lock_owner]
    held = {key: {SUITS[k]: owners[k] for k in range(4) if owners[k] >= 0 and int(lanes) >> (LANE * k) & 1}
            for key, lanes in (("locks", state.locked), ("taxes", state.taxed))}  # fmt: skip
    bans = {SUITS[k]: {"rank": int(state.ban_rank[k]), "seat": int(state.ban_owner[k])} for k in range(4) if state.ban_rank[k]}
    position = {
        "hands": [card_names(state.hand[seat]) for seat in range(rules.seats)],
        "table": card_names(state.table),
        "stock": [card_name(card) for card in state.stock[int(state.top) : int(state.stock_end)]],
        "to_move": int(state.cur),
        "start_rank": int(state.start_rank),
        "exiled": card_names(state.exiled),
        "eliminated": [seat for seat in range(rules.seats) if int(state.active) >> seat & 1 == 0],
        "bans": bans,
        **held,
    }
    return {key: value for key, value in position.items() if value not in ({}, 0) or key == "to_move"}


GAME = Game(
    name="paijie",
    title={"en": "Pai Jie", "zh-Hant": "牌接"},
    prose=PROSE,
    Toggles=PaijieToggles,
    Position=PaijiePosition,
    Rules=PaijieRules,
    rules=make_rules,
    state=STATE,
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
