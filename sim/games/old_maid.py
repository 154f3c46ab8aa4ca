"""抽鬼牌 old_maid: pairs are thrown off, cards drawn from a neighbour, the last odd card loses (S2 L27-50; RULES.md 3).

The rules in prose. 52 cards and one Joker are dealt out one by one; the queen version leaves out one Queen instead.
Everybody takes the pairs of equal rank out of his hand. Then clockwise each seat draws one hidden card from the nearest
seat to its right that still holds cards and removes the pair if it makes one. Whoever runs out of cards has left. At
the end one card is left that has no partner, the Joker or the last Queen; its holder loses.

The encoding of moves. Whose card is drawn is fixed by the rules and the cards are hidden, so a turn is one forced move,
0. Under OM-03 `any_chosen` it is followed by the decision `target`, a seat. Which card comes is chance.
"""

from __future__ import annotations

import math
import sys
from collections import namedtuple
from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import numpy as np

from sim.cards import (
    BITS,
    BLACK_JOKER,
    CARDS,
    JOKERS,
    LANE,
    LANE_MASK,
    RANK_SET,
    RED_JOKER,
    bits_of,
    card_names,
    mask_of,
    parse_card,
)
from sim.events import DRAW, FINISH, LOSE, MOVE, PUT, TURN, WORD, emit, recording
from sim.features import note
from sim.games import (
    BY_TURN,
    LOSER_FOUND,
    SHARE,
    STALLED,
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
from sim.jit import helper, highest, lowest, nth_bit, outlined, popcount
from sim.knowledge import SHARING, clear_sharing, share_out
from sim.rng import CHANCE, below

PROSE = {
    "en": "Pairs leave the hand, a hidden card is drawn from the right-hand neighbour every turn, and whoever is left "
    "with the card that has no partner loses.",
    "zh-Hant": "先丟出手中成對的牌，再輪流向右側玩家盲抽一張、成對即丟，最後手中剩下無法配對那張牌的人輸。",
}


# --- Toggles ----------------------------------------------------------------------------------------------------------


class OldMaidToggles(ToggleModel):
    """Every rule of old_maid that can be set, in the order of the rules table."""

    version: Literal["joker53", "queen51"] = toggle(
        "OM-01",
        "joker53",
        "Which card has no partner: a Joker added to the 52 cards, or a Queen because one is left out; "
        "the text plays with the Joker.",
        "哪張牌無法配對：加一張鬼牌（53 張），或拿掉一張 Q（51 張）；原文採用鬼牌。",
        impact="M",
    )
    first_drawer: Literal["random", "seat0", "dealer_left", "bigger_hand", "smaller_hand"] = toggle(
        "OM-02",
        "random",
        "Who draws first: anybody, seat 0, the first seat dealt to, or (ties by lot) who was dealt most or fewest "
        "cards; the text only says that it is agreed, so nobody is favoured.",
        "誰先抽：隨機、座位 0、最先發到牌者，或發到最多／最少張者（同張數抽籤）；原文只說先決定，故取隨機。",
        impact="M",
    )
    draw_from: Literal["right_neighbour", "left", "any_chosen"] = toggle(
        "OM-03",
        "right_neighbour",
        "From whom a card is drawn: the nearest seat with cards to the right, to the left, or any seat the player "
        "names; the text says the right.",
        "向誰抽牌：右側、左側最近仍有牌者，或自選任一人；原文為右側。",
    )
    position_model: Literal["uniform", "sticky"] = toggle(
        "OM-04",
        "uniform",
        "Whether hands are mixed before every draw, or cards keep visible places, so that a seat recognises those it "
        "has held: it takes one that pairs and avoids the others, the odd card most; the text has hidden cards, so "
        "they are mixed.",
        "每次被抽前是否重新洗亂手牌；或牌的位置固定可見，抽牌者認得自己拿過的牌，能配對就抽、否則避開，"
        "尤其避開鬼牌。原文背面朝外抽，故視為洗亂。",
        impact="M",
    )
    pair_rule: Literal["rank", "rank_and_colour"] = toggle(
        "OM-05",
        "rank",
        "Whether a pair needs the same rank only, or the same colour too; the text leaves the suit free.",
        "成對只看點數，或點數與顏色都要相同；原文不限制花色。",
    )
    double_exit_order: Literal["neighbour_first", "tie"] = toggle(
        "OM-06",
        "neighbour_first",
        "Who is placed first when one draw empties both hands: the neighbour, whose hand is empty first, or both "
        "alike; the text is silent.",
        "同一次抽牌使兩人都出完時的名次：先空手的被抽者在前，或並列；原文未提。",
    )
    initial_pairs_mandatory: Literal[True] = toggle(
        "OM-07",
        True,
        "Whether the pairs of the dealt hand must be removed; the text removes them before play.",
        "發牌後手中的對子是否必須移出；原文先移出再開始。",
        impact="-",
    )
    extra_card_seat: Literal["seat0", "rotating"] = toggle(
        "OM-08",
        "seat0",
        "Which seat is dealt to first and so may get one card more: seat 0, or every seat in turn from deal to "
        "deal; the text lets the sizes differ by one.",
        "從誰開始發牌（可能多一張）：座位 0，或每局各家輪流；原文允許相差一張。",
        impact="M",
    )
    max_draws: int = toggle(
        "OM-09",
        2000,
        "After how many draws a game counts as stalled; draws without a pair have no bound, 2000 never happens.",
        "抽幾次後視為僵局；理論上可一直抽不成對，實際不會到 2000 次。",
        impact="-",
        ge=1,
        le=10000,
    )


# --- Rules ------------------------------------------------------------------------------------------------------------

ANYBODY, SEAT_0, FIRST_DEALT, BIGGER_HAND, SMALLER_HAND = range(5)  # OM-02
RIGHT, LEFT, ANY_CHOSEN = range(3)  # OM-03


class OldMaidRules(NamedTuple):
    """The toggles as the kernel reads them: integers."""

    seats: int
    jokers: int
    decks: int
    max_turns: int  # OM-09
    odd: int  # OM-01: the cards of which one is left at the end
    left_out: int  # OM-01: the Queen left out of the deck, or -1
    first_drawer: int  # OM-02
    draw_from: int  # OM-03
    sticky: int  # OM-04
    by_colour: int  # OM-05
    tie: int  # OM-06
    rotating: int  # OM-08


def make_rules(toggles: OldMaidToggles, seats: int) -> OldMaidRules:
    """The kernel's rules from the toggles, for a number of seats."""
    t = toggles
    joker = t.version == "joker53"
    first_drawers = ("random", "seat0", "dealer_left", "bigger_hand", "smaller_hand")
    return OldMaidRules(
        seats=seats,
        jokers=int(joker),
        decks=1,
        max_turns=t.max_draws,
        odd=1 << BLACK_JOKER if joker else QUEENS,
        left_out=-1 if joker else parse_card("CQ"),
        first_drawer=first_drawers.index(t.first_drawer),
        draw_from=("right_neighbour", "left", "any_chosen").index(t.draw_from),
        sticky=int(t.position_model == "sticky"),
        by_colour=int(t.pair_rule == "rank_and_colour"),
        tie=int(t.double_exit_order == "tie"),
        rotating=int(t.extra_card_seat == "rotating"),
    )


# --- State ------------------------------------------------------------------------------------------------------------

SEATS = 8
QUEENS = RANK_SET << 11

COUNTERS = (
    Counter("initial_pairs", "pairs in the dealt hands", "起手對子總數", bins=27),
    Counter("initial_exits", "seats out with the deal", "起手即出完的人數", bins=SEATS + 1),
    Counter("pairing_draws", "draws that make a pair", "抽牌成對次數", bins=27),
    Counter("odd_transfers", "draws of the odd card (of a Queen that stays)", "抽到鬼牌（或留下的 Q）次數", bins=64),
    Counter("exits", "seats that run out of cards", "出完手牌的人數", bins=SEATS + 1),
    Counter(
        "first_exit_turn",
        "turn of the first exit (0 with the deal)",
        "首位出完的回合（0 為起手）",
        bins=BY_TURN,
        given="exits",
    ),
    Counter(
        "first_out",
        "position of the seat that is out first (0 shared)",
        "最先出完者的順位（0 為同時）",
        bins=SEATS + 1,
        given="exits",
    ),
    Counter("double_exits", "draws that empty both hands", "一次抽牌兩人同時出完次數"),
    Counter("duel_turns", "turns between the last two seats", "最後兩人對抽回合數", bins=128),
    Counter("remembered", "draws that memory decides", "靠記憶決定的抽牌次數"),
)  # fmt: skip
C: Any = namedtuple("C", [counter.name for counter in COUNTERS])(*range(len(COUNTERS)))
"""The index of each counter by name."""

RATIOS = (
    Ratio("pairing_share", "pairing_draws", "turns", "share of draws that make a pair", "抽牌成對占比"),
    Ratio("odd_share", "odd_transfers", "turns", "share of draws that take the odd card", "抽到鬼牌占比"),
    Ratio("duel_share", "duel_turns", "turns", "share of turns between the last two seats", "最後兩人對抽占比"),
)  # fmt: skip

PARTITIONS = (
    Partition("odd_card", ("without", "with"), "Joker or odd Queen in the opening hand", "起手是否持有鬼牌（單張 Q）",
              (("without", "無"), ("with", "有"))),
    Partition("pairs", tuple(str(k) for k in range(14)), "pairs in the opening hand", "起手對子數"),
    Partition("deal_size", ("base", "extra"), "cards dealt: as many as all, or one more", "發到的張數：一般或多一張",
              (("as many as all", "一般"), ("one more", "多一張"))),
)  # fmt: skip

MAIN, TARGET = range(2)
PHASES = ("main", "target")
CHOICES: dict[str, str | tuple[str, ...]] = {"target": "seat"}

STATE = np.dtype(
    [
        ("hand", np.int64, SEATS),
        ("known", np.int64, SEATS),  # OM-04 sticky: cards that were drawn from a seat, which it recognises
        ("active", np.int64),  # bit mask of the seats that hold cards
        ("cur", np.int64),
        ("first", np.int64),
        ("phase", np.int64),
        ("turn", np.int64),
        ("over", np.int64),  # 0, or the outcome's code + 1
        ("exits", np.int64),  # exits so far, counting those of one place once
        ("out_order", np.int64, SEATS),  # the seat's exit; 0 while it holds cards
        ("out_turn", np.int64, SEATS),
        ("drawn", np.int64, SEATS),
        ("largest", np.int64, SEATS),
        ("count", np.int64, len(COUNTERS)),
    ]
)


def _mates(by_colour: bool) -> list[int]:
    """The cards that pair with each card bit (OM-05); none with a Joker."""
    mates = []
    for bit in range(BITS):
        same = RANK_SET << (bit % LANE) if (1 << bit) & CARDS else 0
        colour = LANE_MASK << LANE * (bit // LANE) | LANE_MASK << LANE * (3 - bit // LANE) if same else 0
        mates.append(same & (colour if by_colour else CARDS) & ~(1 << bit))
    return mates


MATES = np.array([_mates(False), _mates(True)], dtype=np.int64)
"""By pair rule and card bit: the set of cards that pair with the card. S and C are one colour, H and D the other."""


@helper
def _unpaired(rules, hand):
    """What is left of a hand without its pairs: of three of a rank the highest suit stays (S < H < D < C)."""
    s = hand & LANE_MASK
    h = (hand >> LANE) & LANE_MASK
    d = (hand >> (2 * LANE)) & LANE_MASK
    c = (hand >> (3 * LANE)) & LANE_MASK
    if rules.by_colour:
        black = s ^ c
        red = h ^ d
        s &= black
        c &= black
        h &= red
        d &= red
    else:
        odd = s ^ h ^ d ^ c
        c &= odd
        odd ^= c
        d &= odd
        odd ^= d
        h &= odd
        s &= odd ^ h
    return s | h << LANE | d << (2 * LANE) | c << (3 * LANE) | (hand & JOKERS)


@helper
def deal(rules, deck, number, loser, state, rng):
    """Deal everything one by one (L33); a Queen is left out of the shuffled deck in the queen version (L50)."""
    seats = rules.seats
    for p in range(SEATS):
        state.hand[p] = state.known[p] = state.out_order[p] = state.out_turn[p] = state.drawn[p] = 0
        state.largest[p] = 0
    for k in range(state.count.size):
        state.count[k] = 0
    state.phase = state.turn = state.over = state.exits = 0
    state.active = (1 << seats) - 1
    start = number % seats if rules.rotating else 0
    p = start
    for i in range(52 + rules.jokers):
        card = np.int64(deck[i])
        if card != rules.left_out:
            state.hand[p] |= 1 << card
            p = p + 1 if p + 1 < seats else 0
    _choose_first(rules, state, start, rng)


@helper
def _choose_first(rules, state, start, rng):
    """The first drawer (OM-02); seats that the rule does not tell apart are drawn by lot."""
    able = state.active
    if rules.first_drawer == SEAT_0:
        able = 1
    elif rules.first_drawer == FIRST_DEALT:
        able = 1 << start
    elif rules.first_drawer != ANYBODY:
        least = popcount(state.hand[0])
        most = least
        for p in range(rules.seats):
            n = popcount(state.hand[p])
            least = min(least, n)
            most = max(most, n)
        wanted = most if rules.first_drawer == BIGGER_HAND else least
        for p in range(rules.seats):
            if popcount(state.hand[p]) != wanted:
                able &= ~(1 << p)
    n = popcount(able)
    state.first = state.cur = lowest(nth_bit(able, below(rng, CHANCE, n)))


# --- Seats ------------------------------------------------------------------------------------------------------------


@helper
def _after(seats, p):
    """The nearest of a set of seats clockwise after p, p itself last."""
    above = seats >> (p + 1)
    return p + 1 + lowest(above) if above else lowest(seats)


@helper
def _before(seats, p):
    """The nearest of a set of seats counter-clockwise from p, p itself last."""
    under = seats & ((1 << p) - 1)
    return highest(under) if under else highest(seats)


@helper
def _source(rules, seats, p):
    """The seat whose card p draws (L46-48), of those that hold cards."""
    return _after(seats, p) if rules.draw_from == LEFT else _before(seats, p)


@helper
def _leave(rules, state, seats, log):
    """These seats have run out of cards and share a place."""
    state.active &= ~seats
    state.exits += 1
    if state.count[C.exits] == 0:
        state.count[C.first_exit_turn] = state.turn
        if seats & (seats - 1) == 0:
            state.count[C.first_out] = (lowest(seats) - state.first + rules.seats) % rules.seats + 1
    state.count[C.exits] += popcount(seats)
    while seats:
        p = lowest(seats)
        state.out_order[p] = state.exits
        state.out_turn[p] = state.turn
        emit(log, FINISH, p)
        seats &= seats - 1


# --- The turn (3.1) ---------------------------------------------------------------------------------------------------


@helper
def _put_removed(seat, cards, log):
    """Log cards that leave the game, in card order."""
    if recording(log):
        while cards:
            emit(log, PUT, seat, lowest(cards), WORD.removed)
            cards &= cards - 1


@helper
def begin(rules, state, rng, log):
    """Everybody removes his pairs (L35); then the first drawer, or the next seat with cards, is at turn."""
    emptied = 0
    for p in range(rules.seats):
        hand = state.hand[p]
        kept = _unpaired(rules, hand)
        state.hand[p] = kept
        state.largest[p] = popcount(hand)
        state.count[C.initial_pairs] += popcount(hand ^ kept) >> 1
        _put_removed(p, hand ^ kept, log)
        if kept == 0:
            emptied |= state.active & 1 << p
    if emptied:
        state.count[C.initial_exits] = popcount(emptied)
        _leave(rules, state, emptied, log)
    if not _end_if_decided(state, log):
        if state.active >> state.cur & 1 == 0:
            state.cur = _after(state.active, state.cur)
        _start_turn(state, log)


@helper
def _end_if_decided(state, log):
    """The game ends when one seat holds cards: the odd one, as all others have gone in pairs (L42, L50)."""
    if state.active & (state.active - 1):
        return False
    state.over = LOSER_FOUND + 1
    emit(log, LOSE, lowest(state.active))
    return True


@helper
def _start_turn(state, log):
    state.turn += 1
    state.phase = MAIN
    duel = state.active & (state.active - 1)
    state.count[C.duel_turns] += duel & (duel - 1) == 0
    emit(log, TURN, state.turn, state.cur)
    emit(log, MOVE, 0)


@outlined
def _recognised(rules, own, hand, known):
    """The cards that a seat draws one of, its own in hand, when it recognises some of a hand (OM-04 sticky)."""
    pairing = 0
    rest = known
    while rest:
        if MATES[rules.by_colour, lowest(rest)] & own:
            pairing |= rest & -rest
        rest &= rest - 1
    if pairing:
        return pairing
    if hand & ~known:
        return hand & ~known
    return known & ~rules.odd if known & ~rules.odd else known


@helper
def _draw_from(rules, state, source, rng, log):
    """Draw a card, remove the pair it makes, let those leave who are out; then the end test and the next turn."""
    seat = state.cur
    hand = state.hand[source]
    able = hand
    if rules.sticky:
        known = state.known[seat] & hand
        if known:
            able = _recognised(rules, state.hand[seat], hand, known)
            state.count[C.remembered] += 1
    n = popcount(able)
    drawn = nth_bit(able, below(rng, CHANCE, n)) if n > 1 else able
    card = lowest(drawn)
    if rules.sticky:
        state.known[source] |= drawn
    state.hand[source] = hand ^ drawn
    state.drawn[seat] += 1
    emit(log, DRAW, seat, card, WORD.opponent)
    own = state.hand[seat]
    mate = MATES[rules.by_colour, card] & own
    left = own ^ (mate if mate else drawn)
    state.hand[seat] = left
    state.count[C.pairing_draws] += mate != 0
    state.count[C.odd_transfers] += mate == 0 and drawn & rules.odd != 0
    state.largest[seat] = max(state.largest[seat], popcount(left))
    if hand == drawn or left == 0:
        _exits_of_draw(rules, state, source, mate | drawn if mate else 0, log)
        if _end_if_decided(state, log):
            return
    elif mate:
        _put_removed(seat, mate | drawn, log)
    if state.turn >= rules.max_turns:
        state.over = STALLED + 1
        return
    state.cur = _after(state.active, seat)
    _start_turn(state, log)


@helper
def _exits_of_draw(rules, state, source, pair, log):
    """Who runs out by a draw leaves, the neighbour before the drawer unless they tie (OM-06)."""
    seat = state.cur
    both = state.hand[source] == 0 and state.hand[seat] == 0
    state.count[C.double_exits] += both
    if state.hand[source] == 0:
        _leave(rules, state, 1 << source, log)
    _put_removed(seat, pair, log)
    if state.hand[seat] == 0:
        shared = both and rules.tie
        state.exits -= shared
        _leave(rules, state, 1 << seat, log)
        if shared and state.count[C.exits] == 2:
            state.count[C.first_out] = 0


@helper
def mover(rules, state):
    """The seat that draws."""
    return state.cur


@helper
def moves(rules, state, out):
    """The forced draw; under OM-03 any_chosen then every other seat with cards."""
    if state.phase == MAIN:
        out[0] = 0
        return 1
    n = 0
    for p in range(rules.seats):
        if state.active >> p & 1 and p != state.cur:
            out[n] = p
            n += 1
    return n


@helper
def pick(rules, state, rng, stream, out):
    """A uniformly random move and the number of moves."""
    if state.phase == MAIN:
        return 0, 1
    others = state.active & ~(1 << state.cur)
    n = popcount(others)
    return lowest(nth_bit(others, below(rng, stream, n))), n


@helper
def apply(rules, state, move, rng, log):
    """Make the draw, or ask from whom."""
    if state.phase == MAIN and rules.draw_from == ANY_CHOSEN:
        state.phase = TARGET
        return
    source = move if rules.draw_from == ANY_CHOSEN else _source(rules, state.active, state.cur)
    _draw_from(rules, state, source, rng, log)


@helper
def is_over(rules, state):
    """Whether the game has ended."""
    return state.over != 0


@helper
def cost(rules, state, move):
    """The number of cards that the draw is from, pairs not yet removed left aside; 0 where the seat is chosen."""
    holding = 0
    for p in range(rules.seats):
        if _unpaired(rules, state.hand[p]):
            holding |= 1 << p
    if rules.draw_from == ANY_CHOSEN or holding & (holding - 1) == 0:
        return 0
    seat = state.cur if holding >> state.cur & 1 else _after(holding, state.cur)
    return popcount(_unpaired(rules, state.hand[_source(rules, holding, seat)]))


# --- Results ----------------------------------------------------------------------------------------------------------


@helper
def standing(rules, state, seat):
    """Who left earlier leads, then fewest cards."""
    hand = state.hand[seat]
    return popcount(hand) if hand else state.out_order[seat] - 2 * SEATS


@helper
def outcome(rules, state, row):
    """Outcome, places in the order of leaving, win shares of the survivors (in 1/2520) and counters."""
    row.outcome = state.over - 1
    row.turns = state.turn
    row.first = state.first
    found = state.over == LOSER_FOUND + 1
    for p in range(rules.seats):
        mine = standing(rules, state, p)
        place = 1
        for q in range(rules.seats):
            place += standing(rules, state, q) < mine
        row.place[p] = place
        row.share[p] = SHARE // (rules.seats - 1) if found and state.hand[p] == 0 else 0
        row.score[p] = 0
        row.drawn[p] = state.drawn[p]
        row.largest[p] = state.largest[p]
        row.out_turn[p] = state.out_turn[p]
    for k in range(state.count.size):
        row.count[k] = state.count[k]


@helper
def opening(rules, state, seat, classes):
    """The dealt hand, and its class in each partition."""
    hand = state.hand[seat]
    kept = _unpaired(rules, hand)
    n = popcount(hand)
    classes[0] = kept & rules.odd != 0
    classes[1] = (n - popcount(kept)) >> 1
    classes[2] = n * rules.seats > 51 + 2 * rules.jokers
    return hand


# --- Features ---------------------------------------------------------------------------------------------------------

FEATURES = (
    Feature("seat_cards", "cards in the hand drawn from", "被抽者手牌數"),
    Feature("seat_last_card", "whether it is that seat's last card", "是否為對方最後一張"),
    Feature("seat_next", "whether the seat plays next", "是否為下家"),
    Feature("known_pairs", "cards there known to pair", "已知可配對的牌數"),
    Feature("known_odd", "whether the odd card is known to be there", "已知鬼牌是否在其手中"),
)
F: Any = namedtuple("F", [feature.name for feature in FEATURES])(*range(len(FEATURES)))
"""The index of each feature by name."""


@helper
def features(rules, state, move, x):
    """What the player at turn knows about a seat to draw from: its hand's size, and recognised cards (OM-04)."""
    if state.phase != TARGET:
        return
    n = popcount(state.hand[move])
    note(x, F.seat_cards, n)
    note(x, F.seat_last_card, n == 1)
    note(x, F.seat_next, move == _after(state.active, state.cur))
    if rules.sticky:
        known = state.known[state.cur] & state.hand[move]
        note(x, F.known_odd, known & rules.odd & JOKERS != 0)
        pairs = 0
        while known:
            pairs += MATES[rules.by_colour, lowest(known)] & state.hand[state.cur] != 0
            known &= known - 1
        note(x, F.known_pairs, pairs)


# --- What a seat has seen ---------------------------------------------------------------------------------------------
#
# A seat knows its own hand, the sizes of the others, every pair that was removed, and the card of a draw that it took
# part in; under OM-04 `sticky` also the place of each card that was ever drawn from it. What it does not know is a
# history: which card lay where after the first pairs were removed, and which card each draw moved. Given the sizes, all
# histories that agree with what it has seen are equally likely (sticky apart, where a draw is not uniform), but the
# hands of the present are not: a hand is the likelier, the more ways lead to it. So histories are what is sampled.

DRAWS = 511
"""The draws of a game that are remembered; a longer game starts to be remembered anew."""

NOBODY = 64
"""Plus a card's bit: the owner of a card that has been removed. No two cards have it in common."""

PENALTY = 1 / 4
"""How much less likely a history is in the chain for each pair of cards that meet in it, and each impossible draw."""

VISITS = 24
"""How many histories the chain comes to for each card and draw."""

PATIENCE = 200
"""How many steps it may take for each of them."""

TRIES = 300
"""How often a history is begun before the first half of what was seen is left aside."""

MEMORY = np.dtype(
    [
        *SHARING,
        # What happened. Of the hands a seat knows its own, and of the others their sizes.
        ("hand", np.int64, SEATS),
        ("start", np.int64, SEATS),  # the hands before the first draw remembered
        ("never", np.int64, SEATS),  # cards that the pairs removed at first prove not to have been kept
        ("known", np.int64, SEATS),  # OM-04 sticky: cards drawn from a seat before `start`
        ("draws", np.int64),
        ("giver", np.int64, DRAWS + 1),  # draw k = 1, 2, ... leads from state k - 1 to state k
        ("taker", np.int64, DRAWS + 1),
        ("drawn", np.int64, DRAWS + 1),
        ("mate", np.int64, DRAWS + 1),  # the card removed with it, or -1
        # Working space of `resample`.
        ("reach", np.int16, (BITS, DRAWS + 1)),  # mask of the seats where a card may lie in a state
        ("hidden", np.int64, DRAWS + 1),  # the cards in others' hands in a state
        ("holder", np.int8, (BITS, DRAWS + 1)),  # the history at hand: who holds a card in a state
        ("moved", np.int64, DRAWS + 1),  # and the card drawn
        ("recalled", np.int64, SEATS),  # OM-04 sticky: the cards a seat has come to recognise in it
    ]
)


@helper
def _start_anew(memory):
    """Forget the draws so far."""
    for k in range(1, memory.draws + 1):
        memory.known[memory.giver[k]] |= 1 << memory.drawn[k]
    for p in range(SEATS):
        memory.start[p] = memory.hand[p]
        memory.never[p] = 0
    memory.draws = 0


@helper
def forget(rules, state, memory):
    """Nothing is known but the own hand."""
    memory.draws = 0
    for p in range(SEATS):
        memory.hand[p] = state.hand[p]
        memory.known[p] = state.known[p]
    _start_anew(memory)


@helper
def remember(rules, memory, event, a, b, c, d):
    """The pairs removed at first, and every draw."""
    if event == PUT and memory.draws == 0:
        memory.hand[a] &= ~(1 << b)
        memory.start[a] = memory.hand[a]
        memory.never[a] |= MATES[rules.by_colour, b] & ((1 << b) - 1)
    elif event == DRAW:
        if memory.draws == DRAWS:
            _start_anew(memory)
        card = 1 << b
        mate = MATES[rules.by_colour, b] & memory.hand[a]
        memory.draws += 1
        k = memory.draws
        for p in range(rules.seats):
            if memory.hand[p] & card:
                memory.giver[k] = p
        memory.taker[k] = a
        memory.drawn[k] = b
        memory.mate[k] = lowest(mate) if mate else -1
        memory.hand[memory.giver[k]] ^= card
        memory.hand[a] ^= mate if mate else card


@helper
def _trace_start(rules, memory, seat, tracked):
    """Where each card may lie at first, for all the seat has seen."""
    everybody = (1 << rules.seats) - 1
    for p in range(rules.seats):
        cards = memory.start[p]
        while cards:
            bit = lowest(cards)
            cards &= cards - 1
            seats = everybody & ~(1 << seat)
            for q in range(rules.seats):
                seats &= ~((memory.never[q] >> bit & 1) << q)
            memory.reach[bit, 0] = 1 << p if p == seat or tracked >> bit & 1 else seats


@helper
def _trace_draw(rules, memory, k, cards, seen, tracked):
    """Where each of the cards in play may lie before and after draw k; `seen`: whether it is known which card moved."""
    giver = 1 << memory.giver[k]
    taker = 1 << memory.taker[k]
    card = memory.drawn[k]
    mate = memory.mate[k]
    pair = 0
    if mate >= 0:
        pair = 1 << card | 1 << mate
        memory.reach[card, k - 1] &= giver if seen else giver | taker
        memory.reach[mate, k - 1] &= taker if seen else giver | taker
    elif seen:
        memory.reach[card, k - 1] = giver
    if seen or pair:
        # Neither hand held another card that pairs with it.
        others = MATES[rules.by_colour, card] & cards & ~pair
        while others:
            memory.reach[lowest(others), k - 1] &= ~(giver | taker)
            others &= others - 1
    rest = cards & ~pair
    while rest:
        bit = lowest(rest)
        rest &= rest - 1
        seats = memory.reach[bit, k - 1]
        moves_on = not (seen or pair or tracked >> bit & 1) and seats & giver
        memory.reach[bit, k] = seats | taker if moves_on else seats
    if seen and not pair:
        memory.reach[card, k] = taker


@helper
def _trace(rules, memory, seat):
    """Write `reach` and `hidden`: in every state, where a card may lie for all the seat has seen up to it."""
    tracked = memory.known[seat] if rules.sticky else 0
    _trace_start(rules, memory, seat, tracked)
    cards = 0
    for p in range(rules.seats):
        cards |= memory.start[p]
    own = memory.start[seat]
    memory.hidden[0] = cards & ~own
    for k in range(1, memory.draws + 1):
        card = 1 << memory.drawn[k]
        given = memory.giver[k] == seat
        taken = memory.taker[k] == seat
        _trace_draw(rules, memory, k, cards, given or taken or tracked & card != 0, tracked)
        if given:
            own ^= card
            if rules.sticky:
                tracked |= card
        if taken and memory.mate[k] < 0:
            own ^= card
        if memory.mate[k] >= 0:
            cards &= ~(card | 1 << memory.mate[k])
            own &= cards
        memory.hidden[k] = cards & ~own


@helper
def _start_backwards(rules, memory, seat, rng, stream):
    """Give each card an owner in the present."""
    last = memory.draws
    cards = memory.hidden[last]
    clear_sharing(memory, rules.seats)
    for p in range(rules.seats):
        dealt = memory.start[p]
        while dealt:
            memory.holder[lowest(dealt), last] = NOBODY + lowest(dealt)
            dealt &= dealt - 1
    for p in range(rules.seats):
        if p != seat:
            memory.room[p] = popcount(memory.hand[p])
        rest = cards
        while rest:
            bit = lowest(rest)
            rest &= rest - 1
            memory.barred[p] |= (1 - (memory.reach[bit, last] >> p & 1)) << bit
    share_out(memory, cards, rules.seats, rng, stream)
    memory.share[seat] = memory.hand[seat]
    for p in range(rules.seats):
        rest = memory.share[p]
        while rest:
            memory.holder[lowest(rest), last] = p
            rest &= rest - 1


@helper
def _undo_pair(memory, k, rng, stream):
    """Put a removed pair back into the two hands it came from. Whether that can be."""
    card = memory.drawn[k]
    mate = memory.mate[k]
    giver = memory.giver[k]
    taker = memory.taker[k]
    straight = memory.reach[card, k - 1] >> giver & memory.reach[mate, k - 1] >> taker & 1
    crossed = memory.reach[mate, k - 1] >> giver & memory.reach[card, k - 1] >> taker & 1
    if straight + crossed == 0:
        return False
    if crossed and not (straight and below(rng, stream, 2)):
        card, mate = mate, card
    memory.holder[card, k - 1] = giver
    memory.holder[mate, k - 1] = taker
    memory.moved[k] = card
    return True


@helper
def _undo_draw(rules, memory, k, rng, stream):
    """Choose the card that a draw moved, and put it back. Whether there is one."""
    giver = memory.giver[k]
    taker = memory.taker[k]
    able = 0
    bound = 0
    for p in range(rules.seats):
        rest = memory.start[p]
        while rest:
            bit = lowest(rest)
            rest &= rest - 1
            if memory.holder[bit, k] == taker:
                able |= (memory.reach[bit, k - 1] >> giver & 1) << bit
                bound |= (1 - (memory.reach[bit, k - 1] >> taker & 1)) << bit
    if bound:
        able &= bound
    if able == 0 or bound & (bound - 1):
        return False
    card = lowest(nth_bit(able, below(rng, stream, popcount(able))))
    memory.holder[card, k - 1] = giver
    memory.moved[k] = card
    return True


@helper
def _go_backwards(rules, memory, seat, first, rng, stream):
    """Make up a history from state `first` on in which each card lies where it may. Whether that has come about.

    It goes back from the present, choosing the card of each draw; cards that pair may meet in it.
    """
    _start_backwards(rules, memory, seat, rng, stream)
    for k in range(memory.draws, first, -1):
        for p in range(rules.seats):
            rest = memory.start[p]
            while rest:
                memory.holder[lowest(rest), k - 1] = memory.holder[lowest(rest), k]
                rest &= rest - 1
        paired = memory.mate[k] >= 0
        if not (_undo_pair(memory, k, rng, stream) if paired else _undo_draw(rules, memory, k, rng, stream)):
            return False
    return True


@helper
def _clashes(rules, memory, bit, but, cards, first):
    """With how many of the cards that pair with it, but one, a card ever shares a hand."""
    mates = MATES[rules.by_colour, bit] & cards & ~(1 << but)
    clashes = 0
    while mates:
        other = lowest(mates)
        mates &= mates - 1
        met = False
        for k in range(first, memory.draws + 1):
            met |= memory.holder[bit, k] == memory.holder[other, k]
        clashes += met
    return clashes


@helper
def _all_clashes(rules, memory, cards, first):
    """How many pairs of cards share a hand in the history though they would have been removed."""
    clashes = 0
    rest = cards
    while rest:
        bit = lowest(rest)
        clashes += _clashes(rules, memory, bit, bit, cards, first)
        rest &= rest - 1
    return clashes >> 1


@helper
def _may_swap(memory, x, y, at):
    """Whether each of two cards may lie where the other one does in a state."""
    return memory.reach[x, at] >> memory.holder[y, at] & memory.reach[y, at] >> memory.holder[x, at] & 1


@helper
def _stretch(memory, x, y, at, first):
    """The states start <= .. < end around `at` in which two cards lie apart, and whether they may change places there.

    They may not where one of them would come to lie where it is known not to have lain, or be removed for the other.
    """
    last = memory.draws
    allowed = 1
    start = at
    while start > first and memory.holder[x, start - 1] != memory.holder[y, start - 1]:
        start -= 1
        allowed &= _may_swap(memory, x, y, start)
    end = at
    while end <= last and memory.holder[x, end] != memory.holder[y, end]:
        removed = (memory.holder[x, end] >= NOBODY) + (memory.holder[y, end] >= NOBODY)
        if removed:
            allowed &= removed == 2
            break
        allowed &= _may_swap(memory, x, y, end)
        end += 1
    return start, end, allowed


@helper
def _swap(memory, x, y, start, end):
    """Let two cards change places in the states start <= .. < end, before and after which they lie together."""
    for k in range(start, end):
        memory.holder[x, k], memory.holder[y, k] = memory.holder[y, k], memory.holder[x, k]
    for k in range(start, min(end, memory.draws) + 1):
        if memory.moved[k] == x:
            memory.moved[k] = y
        elif memory.moved[k] == y:
            memory.moved[k] = x


@outlined
def _recollect(rules, memory, seat, first):
    """Run through a history under OM-04 `sticky`, where a draw depends on the cards that are recognised.

    Writes which those are by now into `recalled`. Returns how many draws could not have been made, and the logarithm
    of the probability of the others.
    """
    hand = memory.share
    for p in range(rules.seats):
        hand[p] = 0
        memory.recalled[p] = memory.known[p] if p == seat else 0
    for p in range(rules.seats):
        rest = memory.start[p]
        while rest:
            owner = memory.holder[lowest(rest), first]
            if owner < NOBODY:
                hand[owner] |= rest & -rest
            rest &= rest - 1
    misfits = 0
    chance = 0.0
    for k in range(1, memory.draws + 1):
        giver = memory.giver[k]
        taker = memory.taker[k]
        if k <= first:
            if giver == seat:
                memory.recalled[seat] |= 1 << memory.drawn[k]
            continue
        card = 1 << memory.moved[k]
        able = hand[giver]
        known = memory.recalled[taker] & able
        if known:
            able = _recognised(rules, hand[taker], able, known)
        misfits += able & card == 0
        chance -= math.log(popcount(able))
        memory.recalled[giver] |= card
        hand[giver] &= ~card
        hand[taker] |= card
        if memory.mate[k] >= 0:
            hand[taker] &= ~(1 << memory.drawn[k] | 1 << memory.mate[k])
    return misfits, chance


@helper
def _step(rules, memory, seat, cards, first, at_odds, rng, stream):
    """One step of the chain: two cards change places between two moments at which they lie together."""
    clashes, misfits, chance = at_odds
    at = first + below(rng, stream, memory.draws - first + 1)
    hidden = memory.hidden[at]
    n = popcount(hidden)
    x = lowest(nth_bit(hidden, below(rng, stream, n)))
    y = lowest(nth_bit(hidden, below(rng, stream, n)))
    if memory.holder[x, at] == memory.holder[y, at]:
        return at_odds
    start, end, allowed = _stretch(memory, x, y, at, first)
    if not allowed:
        return at_odds
    clashes -= _clashes(rules, memory, x, y, cards, first) + _clashes(rules, memory, y, x, cards, first)
    _swap(memory, x, y, start, end)
    clashes += _clashes(rules, memory, x, y, cards, first) + _clashes(rules, memory, y, x, cards, first)
    if rules.sticky:
        misfits, chance = _recollect(rules, memory, seat, first)
    more = clashes + misfits - at_odds[0] - at_odds[1]
    ratio = math.exp(chance - at_odds[2]) * PENALTY**more
    if ratio < 1.0 and below(rng, stream, 1 << 30) >= ratio * (1 << 30):
        _swap(memory, x, y, start, end)
        return at_odds
    return clashes, misfits, chance


@helper
def _mix_history(rules, memory, seat, first, rng, stream):
    """Run the chain on the history at hand. Whether it came to histories that agree with all that was seen.

    A Metropolis chain on all histories, those in which cards meet that would have been removed being less likely by a
    factor each; what counts are its visits to the others. A chain watched on a part of its states is a chain whose
    distribution there is the same (Levin & Peres 2017, 2.6): uniform, or as probable as the draws were.
    """
    cards = 0
    for k in range(first, memory.draws + 1):
        cards |= memory.hidden[k]
    misfits = 0
    chance = 0.0
    if rules.sticky:
        misfits, chance = _recollect(rules, memory, seat, first)
    at_odds = (_all_clashes(rules, memory, cards, first), misfits, chance)
    visits = VISITS * (popcount(cards) + memory.draws - first)
    for _ in range(PATIENCE * visits):
        at_odds = _step(rules, memory, seat, cards, first, at_odds, rng, stream)
        visits -= at_odds[0] + at_odds[1] == 0
        if visits == 0:
            return True
    return False


@helper
def resample(rules, state, memory, seat, rng, stream):
    """The hands of the others, as the last state of a random history that agrees with all the seat has seen."""
    _trace(rules, memory, seat)
    first = 0
    tries = 0
    while not (
        _go_backwards(rules, memory, seat, first, rng, stream)
        and _mix_history(rules, memory, seat, first, rng, stream)
    ):
        tries += 1
        if tries % TRIES == 0:
            first = (first + memory.draws + 1) >> 1
    if rules.sticky:
        _recollect(rules, memory, seat, first)
    for p in range(rules.seats):
        if p == seat:
            continue
        state.hand[p] = 0
        if rules.sticky:
            state.known[p] = memory.recalled[p]
    rest = memory.hidden[memory.draws]
    while rest:
        state.hand[memory.holder[lowest(rest), memory.draws]] |= rest & -rest
        rest &= rest - 1


# --- Positions --------------------------------------------------------------------------------------------------------


class OldMaidPosition(PositionModel):
    """A position: the hands; cards that are in no hand have been removed in pairs."""


def from_position(
    rules: OldMaidRules, position: OldMaidPosition, state: Any, shuffled: Callable[[list[int]], list[int]]
) -> None:
    """Set `state` to a given position. Raises ImpossiblePosition with the reason.

    Pairs still in a hand are removed before the first draw. Seats without cards have left before, sharing a place.
    """
    for name in STATE.names or ():
        state[name] = 0
    hands = [mask_of(hand) for hand in position.hands]
    _check_cards(rules, hands)
    if not hands[position.to_move]:
        raise ImpossiblePosition("to_move", f"seat {position.to_move} holds no cards and has left the game")
    state.hand[: rules.seats] = hands
    state.first = state.cur = position.to_move
    state.active = sum(1 << seat for seat, hand in enumerate(hands) if hand)
    empty = [seat for seat, hand in enumerate(hands) if not hand]
    if empty:
        state.exits = 1
        state.out_order[empty] = 1
        state.count[C.exits] = len(empty)


def _check_cards(rules: OldMaidRules, hands: list[int]) -> None:
    """All cards but the odd one must be able to leave in pairs."""
    held = 0
    for hand in hands:
        held |= hand
    if held >> RED_JOKER:
        raise ImpossiblePosition("hands", "the only Joker of this game is BJ")
    if (held >> BLACK_JOKER & 1) != rules.jokers:
        raise ImpossiblePosition("hands", "BJ must be held" if rules.jokers else "this ruleset has no Joker")
    if not rules.jokers and held & QUEENS == QUEENS:
        raise ImpossiblePosition("hands", "one Queen is left out of the deck")
    alone: list[str] = []
    for bit in bits_of(held & CARDS):
        group = int(MATES[rules.by_colour, bit]) | 1 << bit
        if (held & group).bit_count() % 2 and bit == bits_of(held & group)[0]:
            alone.append(card_names(held & group)[0])
    expected = [] if rules.jokers else [name for name in alone if name[1:] == "Q"][:1]
    if alone != expected or (not rules.jokers and not expected):
        what = ", ".join(name for name in alone if name not in expected) or "a Queen"
        raise ImpossiblePosition(
            "hands", f"the number of cards that pair with each other does not fit: {what}"
        )


def to_position(rules: OldMaidRules, state: Any) -> dict[str, Any]:
    """The state in a position file's own keys."""
    hands = [card_names(state.hand[seat]) for seat in range(rules.seats)]
    return {"hands": hands, "to_move": int(state.cur)}


GAME = Game(
    name="old_maid",
    title={"en": "Old Maid", "zh-Hant": "抽鬼牌"},
    prose=PROSE,
    Toggles=OldMaidToggles,
    Position=OldMaidPosition,
    Rules=OldMaidRules,
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
    cost={"en": "among", "zh-Hant": "可抽張數"},
    max_moves=SEATS,
    module=sys.modules[__name__],
)
