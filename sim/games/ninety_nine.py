"""九九 ninety_nine: keep the running total between 0 and 99 (S2 L76-104; RULES.md section 5).

The rules in prose. 52 cards, five each, the rest is the stock; the total starts at 0. In turn each seat plays a card,
which changes the total, and draws one. The spade Ace sets the total to 0, the other Aces add 1, 2 3 6 7 8 9 add their
pips, 4 reverses the direction, 5 names another player who plays next, 10 adds or subtracts 10, J does nothing, Q adds
or subtracts 20, K sets the total to 99. The total may never leave 0..99. An empty stock is renewed from the discards,
the total stays. Who has no card that can be played loses, and with that the game ends; house rules eliminate seats one
by one or give each several lives. Another house rule takes the card from a seat that forgets to draw: it plays on with
one card less, and without a card it is skipped.

The encoding of moves. In the main phase a move is the card as a set. What the card lets its player choose follows as
a decision of its own: 0 plus or 1 minus (sign), a seat (target), 1 or 11 (ace_value), the new total (joker_total).

The events. A play is followed by the draw of one card, before it by a shuffle when the stock is empty. Where neither
follows although there was a card to draw, the seat forgot: the card stays on the stock (or the discards stay as they
are), and nothing else in the log says so.

Legality is a bit trick: a card is either legal whatever the total, or it needs room for its rank, and the cards of
rank 1..room of all four suits are one product.
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

from sim.cards import (
    BLACK_JOKER,
    CARDS,
    JOKERS,
    LANE,
    RANK_SET,
    bits_of,
    card_name,
    card_names,
    mask_of,
    parse_card,
)
from sim.events import (
    CARD,
    DRAW,
    ELIMINATE,
    LOSE,
    MOVE,
    PLAY,
    PUT,
    SHUFFLE,
    TURN,
    WORD,
    emit,
    recording,
)
from sim.features import note
from sim.games import (
    BY_TURN,
    DRAWN,
    LOSER_FOUND,
    SHARE,
    STALLED,
    SURVIVOR,
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
from sim.jit import helper, highest, lowest, nth_bit, outlined, popcount
from sim.rng import CHANCE, below, shuffle

PROSE = {
    "en": "Each card changes a running total that may never leave 0 to 99. Who cannot play loses.",
    "zh-Hant": "每張牌都改變累計值，累計值不得超出 0 至 99。輪到時無牌可出者輸。",
}


# --- Toggles ----------------------------------------------------------------------------------------------------------


class NinetyNineToggles(ToggleModel):
    """Every rule of ninety_nine that can be set, in the order of the rules table; the defaults are the text's."""

    hand_size: Literal[3, 4, 5] = toggle(
        "NN-01",
        5,
        "How many cards each seat holds; the text deals 5 and names 3 as the quicker variant.",
        "每人手牌張數；本文採五張，另提及三張的玩法。",
        impact="H",
    )
    end: Literal["first_loser", "elimination", "lives"] = toggle(
        "NN-02",
        "first_loser",
        "How the game ends: with the first seat that cannot play, when one seat is left, or when one seat has lives "
        "left; the text takes the first for beginners.",
        "何時結束：第一位無法出牌者出現、淘汰到只剩一人，或只剩一人還有生命；本文為方便初學採第一種。",
        impact="H",
    )
    lives: int = toggle(
        "NN-02",
        3,
        "How many lives a seat has under `end: lives`; the text leaves it open, 3 is usual.",
        "採生命制（end: lives）時每人幾條命；本文未定，三條為常見。",
        impact="M",
        ge=1,
        le=9,
    )
    after_loss_total: Literal["keep", "reset_0"] = toggle(
        "NN-03",
        "reset_0",
        "What the total is after a loss when play goes on; a fresh start keeps the next seats from falling at once.",
        "有人輸而牌局繼續時，累計值保留或歸零；歸零才不會接連淘汰。",
        impact="M",
    )
    after_loss_hand: Literal["to_discard", "removed", "new_hand"] = toggle(
        "NN-04",
        "to_discard",
        "Where the loser's hand goes when play goes on: to the discards or out of the game; new_hand (lives only) "
        "discards it and says that new cards are drawn. A seat with lives left draws a full hand in any case.",
        "有人輸而牌局繼續時其手牌去處：棄牌堆或移出遊戲；new_hand（僅生命制）為棄牌並重抽。"
        "還有生命者一律補滿手牌。",
    )
    after_loss_next: Literal["next_in_direction", "loser_starts"] = toggle(
        "NN-05",
        "next_in_direction",
        "Who plays after a loss: the next seat in the direction of play, or the loser if still in the game.",
        "有人輸之後由誰出牌：依方向的下一位，或（若還在場）由輸家開始。",
    )
    reshuffle: Literal["all_discards", "keep_last_card"] | None = toggle(
        "NN-06",
        "all_discards",
        "What becomes the new stock when it is empty: all discards, all but the last card played, or nothing "
        "(no more drawing, and an empty hand is safe); the text shuffles the discards.",
        "牌庫抽完時：全部棄牌洗成新牌庫、保留最後一張，或不再補牌（出完者安全）；本文將棄牌洗成新牌庫。",
        impact="M",
    )
    draw_time: Literal["after_effect", "forgotten_draw_lost"] = toggle(
        "NN-07",
        "after_effect",
        "When the card is drawn: always after the card's effect, as the text says, or only by those who think of it: "
        "a seat that forgets to draw has lost the card, and its hand stays one smaller.",
        "何時補牌：說明效果後必定補一張（本文），或忘記補就失去那張牌，手牌從此少一張。",
    )
    forget_percent: int = toggle(
        "NN-07",
        5,
        "How many draws in a hundred a seat forgets, all seats alike and by pure chance; a model of attention, 5 being "
        "a guess. Acts only under forgotten_draw_lost.",
        "每一百次補牌中忘記幾次，各家相同且純屬機率；這是對注意力的假設，5 為估計值。"
        "僅於 forgotten_draw_lost 時有作用。",
        ge=0,
        le=100,
    )
    ace_other: Literal[1, 0, "1_or_11"] = toggle(
        "NN-08",
        1,
        "What the Aces of hearts, diamonds and clubs add: 1 as in the text, nothing, or 1 or 11 as their player likes.",
        "紅心、方塊、梅花 A 加多少：1（本文）、0，或由出牌者選 1 或 11。",
    )
    spade_ace: Literal["reset_0", 1] = toggle(
        "NN-09",
        "reset_0",
        "Whether the spade Ace sets the total to 0 as in the text, or adds 1 like an ordinary Ace.",
        "黑桃 A 使累計值歸零（本文）或與一般 A 同樣加 1。",
        impact="M",
    )
    king: Literal["set_99", 13] = toggle(
        "NN-10",
        "set_99",
        "Whether a King sets the total to 99 as in the text, or adds 13.",
        "K 將累計值設為 99（本文）或加 13。",
        impact="M",
    )
    five_self: bool = toggle(
        "NN-11",
        False,
        "Whether a 5 may name its own player; the text says another player.",
        "5 能否指定自己；本文為另一位玩家。",
    )
    four_two_players: Literal["no_extra_turn", "plays_again"] = toggle(
        "NN-12",
        "no_extra_turn",
        "Whether a 4 gives its player another turn when two seats are left; by the text it only reverses, which then "
        "changes nothing.",
        "只剩兩人時出 4 是否再出一次；依本文只反轉方向，兩人時無影響。",
    )
    jokers: Literal[0, 1, 2] = toggle(
        "NN-13",
        0,
        "How many Jokers are in the deck; the text takes them out.",
        "牌組中有幾張鬼牌；本文移除鬼牌。",
    )
    joker_effect: Literal["set_99", "any"] = toggle(
        "NN-13",
        "set_99",
        "What a Joker does: set the total to 99, or to any number its player names; the text leaves it open.",
        "鬼牌的作用：累計值設為 99，或由出牌者任意指定；本文未定。",
    )
    must_play_if_legal: Literal[True] = toggle(
        "NN-14",
        True,
        "Whether a seat that can play must; in the text only a seat without a legal card loses.",
        "有牌可出時是否必須出；本文只有無法合法出牌者判負。",
        impact="-",
    )
    first_player: Literal["random", "loser_of_last"] = toggle(
        "NN-15",
        "random",
        "Who plays first: a random seat, as the text lets the players agree, or the loser of the round before; in the "
        "first of the `rounds` nobody has lost yet, and seat 0 plays first.",
        "由誰先出：隨機（本文由玩家約定），或上一輪的輸家；第一輪（見 rounds）沒有輸家，由 0 號座位先出。",
    )
    max_turns: int = toggle(
        "NN-16",
        1000,
        "After how many turns a game counts as stalled, without a loser; nothing in the rules forces an end.",
        "幾回合後視為僵局、無人輸；規則本身不保證結束。",
        impact="H",
        ge=1,
        le=10000,
    )


# --- Rules ------------------------------------------------------------------------------------------------------------

TOP = 99
FIRST_LOSER, ELIMINATION, LIVES = range(3)  # NN-02
TO_DISCARD, REMOVED = range(2)  # NN-04
ALL_DISCARDS, KEEP_LAST, NO_RESHUFFLE = range(3)  # NN-06

OTHER_ACES = RANK_SET & ~1
ADDING = sum(RANK_SET << (rank - 1) for rank in (2, 3, 6, 7, 8, 9))
FOURS, FIVES, TENS, JACKS, QUEENS, KINGS = (RANK_SET << (rank - 1) for rank in (4, 5, 10, 11, 12, 13))


class NinetyNineRules(NamedTuple):
    """The toggles as the kernel reads them."""

    seats: int
    jokers: int  # NN-13
    decks: int
    max_turns: int  # NN-16
    hand_size: int  # NN-01
    end: int  # NN-02
    lives: int  # NN-02; 1 unless `end` is lives
    reset: int  # NN-03
    removed: int  # NN-04
    loser_starts: int  # NN-05
    reshuffle: int  # NN-06
    forgets: int  # NN-07: how many in a hundred draws are forgotten
    five_self: int  # NN-11
    four_again: int  # NN-12
    random_first: int  # NN-15
    always: int  # the cards legal at every total ("safe")
    limited: int  # the cards that need room for their rank
    eleven: int  # those of them whose player may choose 11 instead of 1 (NN-08)
    to_top: int  # the cards that set the total to 99
    to_zero: int  # the cards that set it to 0
    asks: int  # the cards that let their player decide something
    shrinks: int  # whether hands can run out of cards


def make_rules(toggles: NinetyNineToggles, seats: int) -> NinetyNineRules:
    """The kernel's rules from the toggles. Raises ValueError for toggles that exclude each other."""
    t = toggles
    if t.after_loss_hand == "new_hand" and t.end != "lives":
        raise ValueError("after_loss_hand: new_hand is for seats that have lives left; it needs end: lives")
    limited = ADDING
    limited |= OTHER_ACES if t.ace_other != 0 else 0
    limited |= 1 if t.spade_ace == 1 else 0
    limited |= KINGS if t.king == 13 else 0
    kings = 0 if t.king == 13 else KINGS
    eleven = OTHER_ACES if t.ace_other == "1_or_11" else 0
    any_total = t.joker_effect == "any"
    shuffles = ("all_discards", "keep_last_card", None)
    forgets = t.forget_percent if t.draw_time == "forgotten_draw_lost" else 0
    return NinetyNineRules(
        seats=seats,
        jokers=t.jokers,
        decks=1,
        max_turns=t.max_turns,
        hand_size=t.hand_size,
        end=("first_loser", "elimination", "lives").index(t.end),
        lives=t.lives if t.end == "lives" else 1,
        reset=int(t.after_loss_total == "reset_0"),
        removed=int(t.after_loss_hand == "removed"),
        loser_starts=int(t.after_loss_next == "loser_starts"),
        reshuffle=shuffles.index(t.reshuffle),
        forgets=forgets,
        five_self=int(t.five_self),
        four_again=int(t.four_two_players == "plays_again"),
        random_first=int(t.first_player == "random"),
        always=(CARDS | JOKERS) & ~limited,
        limited=limited,
        eleven=eleven,
        to_top=kings | (0 if any_total else JOKERS),
        to_zero=0 if t.spade_ace == 1 else 1,
        asks=TENS | QUEENS | FIVES | eleven | (JOKERS if any_total else 0),
        shrinks=int(t.reshuffle != "all_discards" or t.after_loss_hand == "removed" or forgets > 0),
    )


# --- State ------------------------------------------------------------------------------------------------------------

SEATS = 9
DECK = 54

COUNTERS = (
    Counter("reached_99", "games in which the total reached 99", "累計值曾到 99 的局數", yes_no=True),
    Counter(
        "first_99_turn",
        "turn on which the total first reached 99",
        "累計值首次到 99 的回合",
        bins=BY_TURN,
        given="reached_99",
    ),
    Counter(
        "turns_after_99",
        "turns after the total first reached 99",
        "首次到 99 之後的回合數",
        bins=BY_TURN,
        given="reached_99",
    ),
    Counter(
        "played_on_after_99",
        "games with a play after the first 99",
        "首次到 99 之後仍有人出牌的局數",
        yes_no=True,
    ),
    Counter("turns_at_99", "turns begun at a total of 99", "累計值為 99 時開始的回合數"),
    Counter("limited_turns", "turns begun with a card that cannot be played", "手中有牌不能出的回合數"),
    Counter("unsafe_turns", "turns begun without a card that always fits", "手中沒有必能出之牌的回合數"),
    Counter("raised", "points added to the total", "累計值增加的總點數"),
    Counter("lowered", "points taken off the total", "累計值減少的總點數"),
    Counter("resets", "spade Aces that set the total to 0", "黑桃 A 歸零次數"),
    Counter("kings", "Kings played", "K 出牌次數"),
    Counter("reversals", "reversals by a 4", "4 反轉次數"),
    Counter("named", "5s played", "5 指定次數"),
    Counter("subtractions", "10s and Queens that subtract", "10 與 Q 減分次數"),
    Counter("jokers", "Jokers played", "鬼牌出牌次數"),
    Counter("reshuffles", "times the discards became the new stock", "棄牌洗成新牌庫次數", bins=64),
    Counter("forgotten", "draws forgotten", "忘記補牌次數"),
    Counter("losses", "times a seat could not play", "無牌可出的次數"),
    Counter("eliminations", "seats eliminated", "淘汰人數", bins=SEATS + 1),
    Counter(
        "first_loss_turn",
        "turn of the first loss",
        "首次有人輸的回合",
        bins=BY_TURN,
        given="losses",
    ),
    Counter("last_total", "total at the end", "終局累計值", bins=TOP + 1),
)
C: Any = namedtuple("C", [counter.name for counter in COUNTERS])(*range(len(COUNTERS)))
"""The index of each counter by name."""

RATIOS = (
    Ratio("loss_per_turn", "losses", "turns", "losses per turn", "每回合輸牌機率"),
    Ratio("at_99_share", "turns_at_99", "turns", "share of turns begun at 99", "累計值為 99 的回合占比"),
    Ratio("going_on_after_99", "played_on_after_99", "reached_99",
          "share of games going on after the first 99", "首次到 99 後仍繼續的占比"),
    Ratio("unsafe_share", "unsafe_turns", "turns",
          "share of turns begun without a card that always fits", "手中沒有必能出之牌的回合占比"),
    Ratio("loss_when_unsafe", "losses", "unsafe_turns",
          "losses per turn begun without a card that always fits", "沒有必能出之牌時的輸牌機率"),
)  # fmt: skip

PARTITIONS = (
    Partition("safe", tuple("012345"), "opening cards that always fit", "起手必能出的牌張數"),
    Partition(
        "lowering", tuple("012345"), "opening cards that can lower the total", "起手可降低累計值的牌張數"
    ),
)

MAIN, SIGN, TARGET, ACE_VALUE, JOKER_TOTAL = range(5)
PHASES = ("main", "sign", "target", "ace_value", "joker_total")
CHOICES: dict[str, str | tuple[str, ...]] = {
    "sign": ("+", "-"),
    "target": "seat",
    "ace_value": "rank",
    "joker_total": "rank",
}

STATE = np.dtype(
    [
        ("hand", np.int64, SEATS),
        ("stock", np.uint8, DECK),  # stock[top:stock_end], top first
        ("top", np.int64),
        ("stock_end", np.int64),
        ("discard", np.int64),
        ("last", np.int64),  # the card set of the last play
        ("last_turn", np.int64),  # its turn
        ("removed", np.int64),  # hands out of the game (NN-04)
        ("total", np.int64),
        ("direction", np.int64),  # 1 clockwise, -1
        ("active", np.int64),  # bit mask of seats
        ("lives", np.int64, SEATS),
        ("cur", np.int64),
        ("target", np.int64),  # the seat that this play makes the next one, or -1
        ("step", np.int64),  # what the sign decides about
        ("first", np.int64),
        ("phase", np.int64),
        ("turn", np.int64),
        ("over", np.int64),  # 0, or the outcome's code + 1
        ("outs", np.int64),  # seats out so far
        ("out_order", np.int64, SEATS),  # 1 for the first seat out
        ("out_turn", np.int64, SEATS),
        ("drawn", np.int64, SEATS),
        ("count", np.int64, len(COUNTERS)),
    ]
)


@helper
def deal(rules, deck, number, loser, state, rng):
    """Deal round robin from seat 0; the rest is the stock (L82). The first player is drawn (L83, NN-15)."""
    seats = rules.seats
    dealt = rules.hand_size * seats
    state.stock_end = 52 + rules.jokers
    state.top = dealt
    for i in range(dealt, state.stock_end):
        state.stock[i] = deck[i]
    for p in range(seats):
        hand = 0
        for k in range(rules.hand_size):
            hand |= 1 << np.int64(deck[p + k * seats])
        state.hand[p] = hand
        state.lives[p] = rules.lives
        state.out_order[p] = 0
        state.out_turn[p] = 0
        state.drawn[p] = 0
    for k in range(state.count.size):
        state.count[k] = 0
    state.discard = state.last = state.last_turn = state.removed = state.total = 0
    state.phase = state.over = state.outs = 0
    state.direction = state.turn = 1
    state.active = (1 << seats) - 1
    state.target = -1
    state.first = state.cur = below(rng, CHANCE, seats) if rules.random_first else max(loser, 0)


# --- What a card does -------------------------------------------------------------------------------------------------


@helper
def _rank(bit):
    return bit - LANE * (bit // LANE) + 1


@helper
def _playable(rules, hand, total):
    """The cards of a hand that are legal at a total: those that always fit, and those that find room."""
    room = min(TOP - total, 13)
    return hand & (rules.always | rules.limited & ((1 << room) - 1) * RANK_SET)


@helper
def _span(rules, state, card):
    """(lowest, highest) total that a legal card (a set of one) may lead to."""
    total = state.total
    bit = lowest(card)
    rank = _rank(bit)
    if card & rules.limited:
        high = total + rank
        if card & rules.eleven and total + 11 <= TOP:
            return high, total + 11
        return high, high
    if bit >= BLACK_JOKER:
        return TOP if card & rules.to_top else 0, TOP
    if card & (TENS | QUEENS):
        step = 10 if rank == 10 else 20
        low = total - step if total >= step else total + step
        high = total + step if total + step <= TOP else total - step
        return low, high
    if card & rules.to_top:
        return TOP, TOP
    if card & rules.to_zero:
        return 0, 0
    return total, total


@helper
def cost(rules, state, move):
    """The total shown beside a card: the highest it may lead to."""
    return _span(rules, state, move)[1]


@helper
def _holders(rules, state):
    """The seats that hold cards, as a mask. Without shrinking hands these are all that are not out."""
    if not rules.shrinks:
        return state.active
    seats = 0
    for p in range(rules.seats):
        if state.hand[p]:
            seats |= 1 << p
    return seats


@helper
def _may_target(rules, state):
    """The seats that a 5 may name, as a mask (L92, NN-11)."""
    seats = _holders(rules, state)
    return seats if rules.five_self else seats & ~(1 << state.cur)


@helper
def _choices(rules, state):
    """The legal inner moves of the present phase, as a bit set; a Joker's totals are no such set."""
    if state.phase == TARGET:
        return _may_target(rules, state)
    if state.phase == SIGN:
        return (state.total + state.step <= TOP) | (state.total >= state.step) << 1
    return 1 << 1 | (state.total + 11 <= TOP) << 11


@helper
def moves(rules, state, out):
    """Every legal move: a card set of one in the main phase, else a sign, seat, value or total."""
    n = 0
    if state.phase == MAIN:
        cards = _playable(rules, state.hand[state.cur], state.total)
        while cards:
            out[n] = cards & -cards
            n += 1
            cards &= cards - 1
    elif state.phase == JOKER_TOTAL:
        for total in range(TOP + 1):
            out[total] = total
        n = TOP + 1
    else:
        rest = _choices(rules, state)
        while rest:
            out[n] = lowest(rest)
            n += 1
            rest &= rest - 1
    return n


@helper
def pick(rules, state, rng, stream, out):
    """A uniformly random legal move and their number, in the order of `moves`, without listing them."""
    if state.phase == MAIN:
        cards = _playable(rules, state.hand[state.cur], state.total)
        n = popcount(cards)
        return nth_bit(cards, below(rng, stream, n)), n
    if state.phase == JOKER_TOTAL:
        return below(rng, stream, TOP + 1), TOP + 1
    rest = _choices(rules, state)
    n = popcount(rest)
    return lowest(nth_bit(rest, below(rng, stream, n))), n


# --- A turn -----------------------------------------------------------------------------------------------------------


@helper
def _renewable(rules, state):
    """The discards that become the new stock when it is empty (NN-06)."""
    if rules.reshuffle == NO_RESHUFFLE:
        return 0
    return state.discard & ~state.last if rules.reshuffle == KEEP_LAST else state.discard


@outlined
def _reshuffle(rules, state, rng, log):
    """Make a new stock of the discards (L85, NN-06). Whether there is a card to draw now."""
    cards = _renewable(rules, state)
    if cards == 0:
        return False
    state.discard &= ~cards
    n = 0
    while cards:
        state.stock[n] = lowest(cards)
        n += 1
        cards &= cards - 1
    state.top = 0
    state.stock_end = n
    shuffle(rng, CHANCE, state.stock, 0, n)
    state.count[C.reshuffles] += 1
    if recording(log):
        emit(log, SHUFFLE)
        for i in range(n):
            emit(log, CARD, np.int64(state.stock[i]))
    return True


@helper
def _refill(rules, state, seat, wanted, rng, log):
    """Draw so many cards, as far as there are any (L84)."""
    for _ in range(wanted):
        if state.top == state.stock_end and not _reshuffle(rules, state, rng, log):
            return
        card = np.int64(state.stock[state.top])
        state.top += 1
        state.hand[seat] |= 1 << card
        state.drawn[seat] += 1
        emit(log, DRAW, seat, card, WORD.refill)


@helper
def _forgets(rules, state, rng):
    """Whether the seat at turn forgets to draw (NN-07); without a card to draw there is nothing to forget."""
    if rules.forgets == 0 or (state.top == state.stock_end and _renewable(rules, state) == 0):
        return False
    forgotten = below(rng, CHANCE, 100) < rules.forgets
    state.count[C.forgotten] += forgotten
    return forgotten


@helper
def _next_seat(rules, state, seats, seat):
    """Of a mask of seats the nearest after `seat` in the direction of play; itself when there is no other."""
    n = rules.seats
    round_table = seats | seats << n
    up = seat + 1 + lowest(round_table >> (seat + 1))
    down = highest(round_table & ((1 << (seat + n)) - 1))
    found = up if state.direction > 0 else down
    return found - n if found >= n else found


@helper
def _pass_on(rules, state):
    """The turn is over: a drawn or stalled game, or the next seat."""
    seats = _holders(rules, state)
    if seats == 0:
        state.over = DRAWN + 1
    elif state.turn >= rules.max_turns:
        state.over = STALLED + 1
    else:
        if state.target >= 0 and state.hand[state.target]:
            state.cur = state.target
        else:
            state.cur = _next_seat(rules, state, seats, state.cur)
        state.target = -1
        state.turn += 1


@outlined
def _lose(rules, state, rng, log):
    """The seat at turn has no legal card (L86): it loses the game, a life, or its place in the game."""
    seat = state.cur
    state.lives[seat] -= 1
    if state.count[C.losses] == 0:
        state.count[C.first_loss_turn] = state.turn
    state.count[C.losses] += 1
    if rules.end != ELIMINATION:
        emit(log, LOSE, seat)
    if state.lives[seat] == 0:
        state.outs += 1
        state.out_order[seat] = state.outs
        state.out_turn[seat] = state.turn
        state.active &= ~(1 << seat)
        if rules.end == FIRST_LOSER:
            state.over = LOSER_FOUND + 1
            return
        state.count[C.eliminations] += 1
        emit(log, ELIMINATE, seat, WORD.limit)
        if state.active & (state.active - 1) == 0:
            state.over = SURVIVOR + 1
            return
    _give_up_hand(rules, state, seat, log)
    if state.lives[seat]:
        _refill(rules, state, seat, rules.hand_size, rng, log)
    if rules.reset:
        state.total = 0
    if rules.loser_starts:
        state.target = seat
    _pass_on(rules, state)


@helper
def _give_up_hand(rules, state, seat, log):
    """A loser's hand when play goes on (NN-04)."""
    hand = state.hand[seat]
    state.hand[seat] = 0
    if rules.removed:
        state.removed |= hand
    else:
        state.discard |= hand
    if recording(log):
        while hand:
            emit(log, PUT, seat, lowest(hand), WORD.removed if rules.removed else WORD.discard)
            hand &= hand - 1


@helper
def _start_turns(rules, state, rng, log):
    """From the start of a turn to its decision, through turns that are lost."""
    while not state.over:
        hand = state.hand[state.cur]
        cards = _playable(rules, hand, state.total)
        state.count[C.turns_at_99] += state.total == TOP
        state.count[C.limited_turns] += cards != hand
        state.count[C.unsafe_turns] += hand & rules.always == 0
        if recording(log):
            emit(log, TURN, state.turn, state.cur)
            rest = cards
            while rest:
                emit(log, MOVE, rest & -rest)
                rest &= rest - 1
        if cards:
            state.phase = MAIN
            return
        _lose(rules, state, rng, log)


@helper
def begin(rules, state, rng, log):
    """Start the first turn of a dealt or given position and go on to its first decision."""
    _start_turns(rules, state, rng, log)


@helper
def mover(rules, state):
    """The player at turn decides everything about his card."""
    return state.cur


@helper
def is_over(rules, state):
    """Whether the game has ended."""
    return state.over != 0


@helper
def _play(rules, state, card, log):
    """Play a card (a set of one): total and direction, as far as no decision follows. Free of branches, as a random
    card would mispredict each."""
    seat = state.cur
    state.hand[seat] ^= card
    state.discard |= card
    state.last = card
    state.last_turn = state.turn
    emit(log, PLAY, seat, card, 0)
    adds = card & rules.limited & ~rules.eleven != 0
    total = state.total + (_rank(lowest(card)) if adds else 0)
    total = TOP if card & rules.to_top else total
    total = 0 if card & rules.to_zero else total
    _set_total(state, total)
    reverses = card & FOURS != 0
    state.direction = -state.direction if reverses else state.direction
    if rules.four_again and reverses and popcount(state.active) == 2:
        state.target = seat
    state.count[C.kings] += card & KINGS != 0
    state.count[C.reversals] += reverses
    state.count[C.named] += card & FIVES != 0
    state.count[C.jokers] += card & JOKERS != 0
    state.count[C.resets] += card & rules.to_zero != 0


@helper
def _ask(rules, state, card):
    """Whether a decision about this card follows; `phase` is then which one."""
    if card & (TENS | QUEENS):
        state.step = 20 if card & QUEENS else 10
        state.phase = SIGN
    elif card & FIVES:
        if _may_target(rules, state) == 0:
            return False
        state.phase = TARGET
    else:
        state.phase = ACE_VALUE if card & rules.eleven else JOKER_TOTAL
    return True


@helper
def _answer(state, move):
    """The decision about a card."""
    if state.phase == SIGN:
        state.count[C.subtractions] += move
        _set_total(state, state.total + (state.step if move == 0 else -state.step))
    elif state.phase == TARGET:
        state.target = move
    elif state.phase == ACE_VALUE:
        _set_total(state, state.total + move)
    else:
        _set_total(state, move)


@helper
def _set_total(state, total):
    """The new total, and what is counted about it."""
    change = total - state.total
    state.count[C.raised] += change if change > 0 else 0
    state.count[C.lowered] += -change if change < 0 else 0
    state.total = total
    first = (total == TOP) & (state.count[C.reached_99] == 0)
    state.count[C.reached_99] += first
    state.count[C.first_99_turn] += state.turn if first else 0


@helper
def apply(rules, state, move, rng, log):
    """Make a move of the present phase; once the card is settled, draw and go on to the next decision or the end."""
    if state.phase == MAIN:
        _play(rules, state, move, log)
        if move & rules.asks and _ask(rules, state, move):
            return
    else:
        _answer(state, move)
    if not _forgets(rules, state, rng):
        _refill(rules, state, state.cur, 1, rng, log)
    _pass_on(rules, state)
    _start_turns(rules, state, rng, log)


# --- Results ----------------------------------------------------------------------------------------------------------


@helper
def standing(rules, state, seat):
    """Most lives lead, then most cards that always fit; a seat that is out is behind everybody."""
    if state.active >> seat & 1 == 0:
        return 1000
    return 16 * (rules.lives - state.lives[seat]) + 8 - popcount(state.hand[seat] & rules.always)


@helper
def outcome(rules, state, row):
    """Outcome, places, win shares (in 1/2520), per-seat figures and counters.

    Seats still in share the first place; the last one out comes next. With one loser the others share the win.
    """
    inside = popcount(state.active)
    row.outcome = state.over - 1
    row.turns = state.turn
    row.first = state.first
    share = 0
    if state.over == LOSER_FOUND + 1:
        share = SHARE // (rules.seats - 1)
    elif state.over == SURVIVOR + 1:
        share = SHARE
    for p in range(rules.seats):
        stays = state.active >> p & 1
        row.place[p] = 1 if stays else inside + 1 + state.outs - state.out_order[p]
        row.share[p] = share if stays else 0
        row.score[p] = 0
        row.drawn[p] = state.drawn[p]
        row.largest[p] = rules.hand_size
        row.out_turn[p] = state.out_turn[p]
    state.count[C.last_total] = state.total
    if state.count[C.reached_99]:
        state.count[C.turns_after_99] = state.turn - state.count[C.first_99_turn]
        state.count[C.played_on_after_99] = state.last_turn > state.count[C.first_99_turn]
    for k in range(state.count.size):
        row.count[k] = state.count[k]


@helper
def opening(rules, state, seat, classes):
    """The opening hand, and its class in each partition."""
    hand = state.hand[seat]
    classes[0] = popcount(hand & rules.always)
    classes[1] = popcount(hand & (TENS | QUEENS | rules.to_zero))
    return hand


# --- Features ---------------------------------------------------------------------------------------------------------

FEATURES = (
    Feature("total_low", "the lowest total the move can lead to", "此著可能達到的最低累計值"),
    Feature("total_high", "the highest total the move can lead to", "此著可能達到的最高累計值"),
    Feature("to_99", "whether it can lead to 99", "是否可到 99"),
    Feature("can_lower", "whether it can lower the total", "是否可降低累計值"),
    Feature("safe", "whether the card fits at every total", "該牌是否必能出"),
    Feature("pips", "pips of a card that needs room", "需要空間之牌的點數"),
    Feature("safe_left", "cards left that always fit", "剩餘必能出的牌張數"),
    Feature(
        "fits_left", "cards left that fit at the highest total", "出牌後（以最高累計值計）仍能出的手牌數"
    ),
    Feature("reverses", "whether it is a 4", "是否為 4"),
    Feature("names", "whether it is a 5", "是否為 5"),
    Feature("jack", "whether it is a J", "是否為 J"),
    Feature("king", "whether it is a K", "是否為 K"),
    Feature("joker", "whether it is a Joker", "是否為鬼牌"),
    Feature("seat_self", "whether the seat is oneself", "是否指定自己"),
    Feature("seat_next", "whether the seat would play next anyway", "是否本來就是下一位"),
    Feature("seat_cards", "cards in the seat's hand", "該玩家手牌數"),
    Feature("seat_lives", "lives the seat has left", "該玩家剩餘生命"),
)
F: Any = namedtuple("F", [feature.name for feature in FEATURES])(*range(len(FEATURES)))
"""The index of each feature by name."""


@helper
def features(rules, state, move, x):
    """What the player at turn knows about a move: own hand, total, seats, lives and hand sizes."""
    phase = state.phase
    hand = state.hand[state.cur]
    if phase == MAIN:
        _card_features(rules, state, move, hand & ~move, x)
    elif phase == TARGET:
        note(x, F.seat_self, move == state.cur)
        note(x, F.seat_next, move == _next_seat(rules, state, _holders(rules, state), state.cur))
        note(x, F.seat_cards, popcount(state.hand[move]))
        note(x, F.seat_lives, state.lives[move])
    else:
        total = move
        if phase == SIGN:
            total = state.total + (state.step if move == 0 else -state.step)
        elif phase == ACE_VALUE:
            total = state.total + move
        _total_features(rules, state, total, total, hand, x)


@helper
def _total_features(rules, state, low, high, hand, x):
    """The totals a move may lead to, and what the rest of the hand is then worth."""
    note(x, F.total_low, low)
    note(x, F.total_high, high)
    note(x, F.to_99, high == TOP)
    note(x, F.can_lower, low < state.total)
    note(x, F.fits_left, popcount(_playable(rules, hand, high)))


@helper
def _card_features(rules, state, card, rest, x):
    """A card to play, with the rest of the hand."""
    low, high = _span(rules, state, card)
    _total_features(rules, state, low, high, rest, x)
    bit = lowest(card)
    rank = _rank(bit)
    safe = card & rules.always != 0
    note(x, F.safe, safe)
    note(x, F.pips, 0 if safe else rank)
    note(x, F.safe_left, popcount(rest & rules.always))
    if bit >= BLACK_JOKER:
        note(x, F.joker, 1)
    else:
        note(x, F.reverses, card & FOURS != 0)
        note(x, F.names, card & FIVES != 0)
        note(x, F.jack, card & JACKS != 0)
        note(x, F.king, card & KINGS != 0)


# --- What a seat has seen ---------------------------------------------------------------------------------------------

BATCHES = 56
"""More than there are cards, so that one is always empty."""

HELD = 5
"""The largest hand."""

MEMORY = np.dtype(
    [
        ("batch", np.int64),  # which batch the stock is: a batch is the cards that became a stock together
        ("cards", np.int64, BATCHES),  # by batch, a card set; a card is in that of its latest shuffle
        ("held", np.int64, SEATS),  # how many cards a seat holds, and from which batch it drew each:
        ("drawn_from", np.int64, SEATS * HELD),
    ]
)


@helper
def forget(rules, state, memory):
    """All cards count as one batch: of those not seen each may be in every hand and anywhere in the stock."""
    memory.batch = 0
    for batch in range(BATCHES):
        memory.cards[batch] = 0
    memory.cards[0] = CARDS | JOKERS
    for p in range(rules.seats):
        memory.held[p] = 0
        for _ in range(popcount(state.hand[p])):
            _note_drawn(memory, p)


@helper
def _note_drawn(memory, seat):
    memory.drawn_from[HELD * seat + memory.held[seat]] = memory.batch
    memory.held[seat] += 1


@helper
def _note_shown(memory, seat, card):
    """A card (a set of one) left a hand for all to see: of the cards drawn from its batch there is one less in it."""
    first = HELD * seat
    last = first + memory.held[seat] - 1
    for i in range(first, last):
        if memory.cards[memory.drawn_from[i]] & card:
            memory.drawn_from[i] = memory.drawn_from[last]
            break
    memory.held[seat] -= 1


@helper
def _note_shuffle(memory):
    """An empty batch becomes the new stock; its cards follow one by one."""
    for batch in range(BATCHES):
        if memory.cards[batch] == 0:
            memory.batch = batch
            return


@helper
def remember(rules, memory, event, a, b, c, d):
    """Cards drawn, played, and laid open by a loser; and which cards were shuffled, though not in what order.

    So a card that is played tells from which stock it was drawn, and what else the seat drew from that one is known to
    be still in its hand.
    """
    if event == DRAW:
        _note_drawn(memory, a)
    elif event == PLAY:
        _note_shown(memory, a, b)
    elif event == PUT:
        _note_shown(memory, a, 1 << b)
    elif event == SHUFFLE:
        _note_shuffle(memory)
    elif event == CARD:
        for batch in range(BATCHES):
            memory.cards[batch] &= ~(1 << a)
        memory.cards[memory.batch] |= 1 << a


@helper
def resample(rules, state, memory, seat, rng, stream):
    """The hands of the others and the stock, uniform over all that is possible: what was drawn came from its batch."""
    hidden = 0
    for p in range(rules.seats):
        hidden |= state.hand[p] if p != seat else 0
    for i in range(state.top, state.stock_end):
        hidden |= 1 << np.int64(state.stock[i])
    for p in range(rules.seats):
        if p != seat:
            hand = 0
            for i in range(HELD * p, HELD * p + memory.held[p]):
                batch = memory.cards[memory.drawn_from[i]] & hidden
                card = nth_bit(batch, below(rng, stream, popcount(batch)))
                hidden ^= card
                hand |= card
            state.hand[p] = hand
    for i in range(state.top, state.stock_end):
        state.stock[i] = lowest(hidden)
        hidden &= hidden - 1
    shuffle(rng, stream, state.stock, state.top, state.stock_end)


# --- Positions --------------------------------------------------------------------------------------------------------


class NinetyNinePosition(PositionModel):
    """A position; `discard` with the card played last at its end, `direction` 1 clockwise or -1."""

    total: int = Field(0, ge=0, le=TOP)
    direction: Literal[1, -1] = 1
    discard: list[Card] = []
    stock: list[Card] | None = None
    removed: list[Card] = []
    lives: list[int] | None = None
    eliminated: list[int] = []


def from_position(
    rules: NinetyNineRules,
    position: NinetyNinePosition,
    state: Any,
    shuffled: Callable[[list[int]], list[int]],
) -> None:
    """Set `state` to a given position (DESIGN, Positions). Raises ImpossiblePosition with the reason.

    `shuffled` orders the cards of a stock that the position leaves out.
    """
    for name in STATE.names or ():
        state[name] = 0
    hands = [mask_of(hand) for hand in position.hands]
    _check_cards(rules, position)
    _set_seats(rules, position, state)
    state.hand[: rules.seats] = hands
    state.discard, state.removed = mask_of(position.discard), mask_of(position.removed)
    state.last = mask_of(position.discard[-1:])
    if position.stock is None:
        given = functools.reduce(operator.or_, hands, int(state.discard) | int(state.removed))
        stock = shuffled(bits_of(_deck(rules) & ~given))
    else:
        stock = [parse_card(name) for name in position.stock]
    state.stock_end = DECK
    state.top = DECK - len(stock)
    state.stock[state.top :] = stock
    state.total, state.direction = position.total, position.direction
    state.turn, state.target = 1, -1


def _deck(rules: NinetyNineRules) -> int:
    """The cards of the game."""
    return CARDS | mask_of(("BJ", "RJ")[: rules.jokers])


def _check_cards(rules: NinetyNineRules, position: NinetyNinePosition) -> None:
    """Every card is one of the deck, and no hand too large."""
    places = [("discard", position.discard), ("removed", position.removed), ("stock", position.stock or [])]
    for key, cards in places + [("hands", hand) for hand in position.hands]:
        if foreign := card_names(mask_of(cards) & ~_deck(rules)):
            raise ImpossiblePosition(key, f"this ruleset plays without {foreign[0]}")
    for seat, hand in enumerate(position.hands):
        if len(hand) > rules.hand_size:
            raise ImpossiblePosition("hands", f"seat {seat} holds more than {rules.hand_size} cards")
    if position.removed and not rules.removed:
        raise ImpossiblePosition("removed", "no card leaves the game under this ruleset")


def _set_seats(rules: NinetyNineRules, position: NinetyNinePosition, state: Any) -> None:
    """Who is in the game, with how many lives, and who is at turn."""
    everybody = range(rules.seats)
    state.active = (1 << rules.seats) - 1
    if position.eliminated and rules.end == FIRST_LOSER:
        raise ImpossiblePosition("eliminated", "the first loser ends the game under this ruleset")
    for order, seat in enumerate(position.eliminated, 1):
        if seat not in everybody:
            raise ImpossiblePosition("eliminated", f"there is no seat {seat}")
        if position.hands[seat]:
            raise ImpossiblePosition("eliminated", f"seat {seat} still holds cards")
        state.active = int(state.active) & ~(1 << seat)
        state.out_order[seat] = order
    state.outs = len(position.eliminated)
    if int(state.active).bit_count() < 2:
        raise ImpossiblePosition("eliminated", "fewer than two seats are left; the game is over")
    lives = position.lives or [0 if seat in position.eliminated else rules.lives for seat in everybody]
    if len(lives) != rules.seats:
        raise ImpossiblePosition("lives", f"{len(lives)} numbers for {rules.seats} seats")
    for seat, left in enumerate(lives):
        if not (left == 0 if seat in position.eliminated else 1 <= left <= rules.lives):
            raise ImpossiblePosition("lives", f"seat {seat} cannot have {left}")
    state.lives[: rules.seats] = lives
    if position.to_move in position.eliminated or not position.hands[position.to_move]:
        raise ImpossiblePosition("to_move", f"seat {position.to_move} has no cards to play")
    for seat in everybody:
        if not (position.hands[seat] or seat in position.eliminated or rules.shrinks):
            raise ImpossiblePosition("hands", f"seat {seat} has no cards, though it draws after every play")
    state.cur = state.first = position.to_move


def to_position(rules: NinetyNineRules, state: Any) -> dict[str, Any]:
    """The state in a position file's own keys."""
    last = int(state.last) & int(state.discard)
    seats = range(rules.seats)
    out = sorted((int(state.out_order[p]), p) for p in seats if int(state.active) >> p & 1 == 0)
    position: dict[str, Any] = {
        "hands": [card_names(state.hand[p]) for p in seats],
        "total": int(state.total),
        "direction": int(state.direction),
        "discard": card_names(int(state.discard) & ~last) + card_names(last),
        "stock": [card_name(card) for card in state.stock[int(state.top) : int(state.stock_end)]],
        "to_move": int(state.cur),
    }
    if rules.removed:
        position["removed"] = card_names(state.removed)
    if rules.end == LIVES:
        position["lives"] = [int(state.lives[p]) for p in seats]
    if rules.end != FIRST_LOSER:
        position["eliminated"] = [p for _, p in out]
    return position


GAME = Game(
    name="ninety_nine",
    title={"en": "Ninety-nine", "zh-Hant": "九九"},
    prose=PROSE,
    Toggles=NinetyNineToggles,
    Position=NinetyNinePosition,
    Rules=NinetyNineRules,
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
    cost={"en": "total", "zh-Hant": "累計值"},
    module=sys.modules[__name__],
)
