"""一十反轉 yishi: follow the number or go one on; a ten turns the way down, an Ace up again (S1; RULES.md section 2).

The rules in prose. All cards are dealt; the holder of the spade Ace leads it. In turn each seat plays one card that
equals the number played last or is one higher; from a ten on one lower, from an Ace on one higher again. J, Q and K are
tens, or are played beside a card from A to 10: J with an Ace makes the number 1 whatever it was, Q with a card that
fits after turning the direction, K with any card. Who cannot or will not play covers a card and then plays any other.
When all hands are empty the seat that covered the fewest cards is first.

The encoding of moves. Suits do not matter: a hand is a count of four bits a rank in one integer, and every card is
written as a spade. In the main phase a move is the card set of a play: a rank alone, or a special card and its partner
(the second of two equal faces stands in the heart lane); 0 covers. What follows a cover is decided card by card: which
to cover, which to play (`free_card`), and, where the rules leave it open, whether a face is plain or special (`as`)
and what goes beside it (`partner`). Two faces played together: a King that may be special is the special one.
"""

from __future__ import annotations

import sys
from collections import Counter as Multiset
from collections import namedtuple
from collections.abc import Callable
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from pydantic import Field

from sim.cards import LANE, LANE_MASK, RANKS, bits_of, parse_card
from sim.events import FINISH, MOVE, PLAY, PUT, TURN, WORD, emit, recording
from sim.features import note
from sim.games import (
    BY_TURN,
    SHARE,
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
from sim.jit import allocating, helper, lowest, nth_bit, outlined, popcount
from sim.rng import CHANCE, below, shuffle

PROSE = {
    "en": "Play the number on the table or the next one; a ten turns the way down, an Ace up. J, Q and K are tens or "
    "go beside another card with an effect. Who cannot or will not play covers a card; the fewest covered cards win.",
    "zh-Hant": "出與前一張相等或大一號的牌；出到 10 改為往下，出到 1 再往上。J、Q、K 可當 10，或搭配一般牌當特殊牌。"
    "無牌可出或不願出則蓋一張牌，蓋牌最少者獲勝。",
}


# --- Toggles ----------------------------------------------------------------------------------------------------------


class YishiToggles(ToggleModel):
    """Every rule of yishi that can be set, in the order of the rules table."""

    decks: Literal[1, 2, 3] = toggle(
        "YS-01",
        1,
        "How many decks of 52 are used; the text suggests two or more for many players.",
        "使用幾副 52 張牌；原文建議人數多時用兩副以上。",
        impact="M",
    )
    deal: Literal["all", "equal_burn_rest", "one_of_each_rank"] = toggle(
        "YS-02",
        "all",
        "How the cards are dealt: all of them, equal hands with the rest left out, or one card of every rank to each; "
        "the text deals evenly, a reader proposes A to K for everybody.",
        "如何發牌：全部發完、每人張數相同而多餘的不用，或每人 A 到 K 各一張；原文為平均發牌，後者是網友的建議。",
        impact="H",
    )
    start_number: Literal["two_dice", "fixed"] | None = toggle(
        "YS-03",
        None,
        "What number the first player follows: none, so that he leads; the sum of two dice, as a reader proposes; "
        "or a fixed one.",
        "首家要接的數字：無（自由起頭）、兩顆骰子的總和（網友建議），或固定數字。",
        impact="M",
    )
    start_value: int = toggle(
        "YS-03",
        5,
        "The fixed start number, 1 to 10; acts only under start_number fixed, and lies in the middle.",
        "固定的起始數字，1 至 10；僅於 start_number 為 fixed 時有作用，預設取中間。",
        ge=1,
        le=10,
    )
    dice_over_10: Literal["clamp_to_10", "reroll"] = toggle(
        "YS-04",
        "clamp_to_10",
        "What a dice sum of 11 or 12 means: ten, or another throw; no card counts more than ten.",
        "骰子總和為 11 或 12 時：當作 10 或重擲；沒有大於 10 的牌。",
    )
    lead: Literal["spade_A_forced", "free_by_spadeA_holder"] = toggle(
        "YS-05",
        "spade_A_forced",
        "What the holder of the spade Ace leads: that Ace, or any single plain card; the text only says who begins, "
        "and counting up from 1 fits the name.",
        "持黑桃 A 者首張出什麼：黑桃 A，或任一張一般牌；原文只說由誰先出，從 1 開始較合遊戲名稱。",
        impact="M",
    )
    starter: Literal["spade_A", "random", "rotating"] = toggle(
        "YS-06",
        "spade_A",
        "Who begins: the holder of the spade Ace as in the text (one of them with several decks), a random seat, or "
        "each seat in its turn from deal to deal.",
        "誰先出：持黑桃 A 者（原文；多副牌時於持有者中隨機）、隨機，或每局輪流。",
    )
    initial_direction: Literal["up", "random"] = toggle(
        "YS-07",
        "up",
        "Which way the numbers go first: up as in the text, or as drawn from two Jokers, a reader's proposal.",
        "一開始往上或由抽鬼牌決定；原文為往上，後者是網友的建議。",
    )
    normalise_at_ends: bool = toggle(
        "YS-08",
        True,
        "Whether a start at 10 goes down and one at 1 goes up whatever was drawn; else no other number could follow.",
        "起始數字為 10 時一律往下、為 1 時一律往上；否則無其他數字可接。",
    )
    faces_plain_ten: bool = toggle(
        "YS-09",
        True,
        "Whether J, Q and K may be played as tens; the text leaves the choice at every play.",
        "J、Q、K 能否當一般牌 10 來出；原文每次皆可選擇。",
        impact="H",
    )
    faces_special: bool = toggle(
        "YS-10",
        True,
        "Whether J, Q and K have their special use at all; in the text they do.",
        "J、Q、K 是否有特殊用法；原文有。",
        impact="H",
    )
    special_J: bool = toggle(  # noqa: N815 - the key as the rules table writes it
        "YS-10",
        True,
        "Whether the Jack may be special and make the number 1; in the text it may.",
        "J（歸一）的特殊用法是否啟用；原文有。",
        impact="H",
    )
    special_Q: bool = toggle(  # noqa: N815
        "YS-10",
        True,
        "Whether the Queen may be special and turn the direction; in the text she may.",
        "Q（反轉）的特殊用法是否啟用；原文有。",
        impact="H",
    )
    special_K: bool = toggle(  # noqa: N815
        "YS-10",
        True,
        "Whether the King may be special and let any card be played; in the text he may.",
        "K（任意）的特殊用法是否啟用；原文有。",
        impact="H",
    )
    ties: Literal["shared", "earlier_finisher_first", "later_finisher_first"] = toggle(
        "YS-11",
        "shared",
        "How seats with equally many covered cards are ranked: they share the place, or the one who ran out of cards "
        "first or last is ahead; the text is silent, so they share.",
        "蓋牌數相同時：同名次、先出完者在前或後出完者在前；原文未提，故同名次。",
        impact="H",
    )
    J_mode: Literal["with_A", "alone_counts_1", "off"] = toggle(
        "YS-12",
        "with_A",
        "How the special Jack is played: with an Ace as in the text, alone counting as 1, so that the Aces are not "
        "used up as a reader fears, or not at all.",
        "J 的特殊用法：如原文與 A 一起出、單獨出當作 1（網友擔心 A 會不夠），或沒有。",
        impact="M",
    )
    follow_after_cover: Literal["new", "previous"] = toggle(
        "YS-13",
        "new",
        "What the next seat follows after a cover: the card freely played, as the author answers, or the number "
        "before.",
        "有人蓋牌後，下家接新出的牌（作者的回答）或接原來的數字。",
        impact="M",
    )
    cover_voluntary: Literal["yes", "only_if_no_play"] = toggle(
        "YS-14",
        "yes",
        "Whether a seat that can play may cover instead; in the text being unwilling is enough.",
        "有牌可出時能否選擇蓋牌；原文不願出牌亦可。",
        impact="M",
    )
    free_card_may_be_special_pair: bool = toggle(
        "YS-15",
        False,
        "Whether the free play after a cover may be a special card with its partner; the text speaks of any card, one.",
        "蓋牌後能否出特殊牌加搭配牌；原文為任意牌，視為一張。",
    )
    special_with_face_as_ten: bool = toggle(
        "YS-16",
        False,
        "Whether Q and K may go beside a face used as a ten; the text names A to 10 as partners.",
        "Q、K 能否搭配當 10 用的 J、Q、K；原文搭配牌為 A 至 10。",
    )
    specials_per_turn: Literal[1] = toggle(
        "YS-17",
        1,
        "How many special cards a turn may have; the text describes one.",
        "每回合可用幾張特殊牌；原文描述的是一張。",
        impact="-",
    )
    last_card_cover_counts: bool = toggle(
        "YS-18",
        True,
        "Whether a last card that is covered with nothing left to play counts; the text is silent, a cover is a cover.",
        "蓋掉最後一張牌（之後無牌可出）是否計入；原文未提，蓋牌就算。",
    )
    reversal_by_face_ten: bool = toggle(
        "YS-19",
        True,
        "Whether a face played as a ten turns the way down; it is played as a ten.",
        "當 10 出的 J、Q、K 是否使順序反轉；它就是一張 10。",
    )
    ten_effect: Literal["set_down", "toggle"] = toggle(
        "YS-20",
        "set_down",
        "Whether a ten turns the way down or just turns it round; the text says what the order becomes, so down.",
        "10 使順序改為往下，或每次反轉；原文說明反轉後的規則，故為往下。",
    )
    cover_after_ten_or_one: Literal["sets_direction", "ignored"] = toggle(
        "YS-21",
        "sets_direction",
        "Whether a ten or an Ace freely played after a cover turns the direction; the author answers that it does.",
        "蓋牌後打出的 10 或 1 是否改變順序；作者回答會。",
    )
    score: Literal["covered_count", "covered_pips"] = toggle(
        "YS-22",
        "covered_count",
        "What decides the places: how many cards a seat covered, as in the text, or their pips.",
        "以蓋牌張數（原文）或蓋牌點數決定名次。",
    )
    direction_of_seats: Literal["clockwise"] = toggle(
        "YS-23",
        "clockwise",
        "Which way the turn goes round; the text is silent and it makes no difference.",
        "輪流的方向；原文未提，亦無影響。",
        impact="-",
    )


# --- Rules ------------------------------------------------------------------------------------------------------------

ALL, EQUAL, ONE_EACH = range(3)  # YS-02
NO_NUMBER, DICE, FIXED = range(3)  # YS-03
SPADE_ACE, RANDOM, ROTATING = range(3)  # YS-06
SHARED, EARLIER, LATER = range(3)  # YS-11

SEATS = 10
ACE, TEN, JACK, QUEEN, KING = 0, 9, 10, 11, 12
"""Ranks counted from 0, as in a suit lane and in a hand's nibbles."""

UP, DOWN = 1, -1
NIBBLE = 4
ONES = sum(1 << (NIBBLE * rank) for rank in range(13))
"""One card of every rank."""

PIPS = sum(15 << (NIBBLE * rank) for rank in range(TEN + 1))
FACES = sum(15 << (NIBBLE * rank) for rank in range(JACK, KING + 1))


class YishiRules(NamedTuple):
    """The toggles as the kernel reads them."""

    seats: int
    jokers: int
    decks: int  # YS-01
    max_turns: int
    dealing: int  # YS-02
    start: int  # YS-03
    start_value: int  # YS-03
    reroll: int  # YS-04
    ace_leads: int  # YS-05
    starter: int  # YS-06
    random_direction: int  # YS-07
    normalise: int  # YS-08
    faces_ten: int  # YS-09
    jack_pair: int  # YS-10, YS-12: J goes with an Ace
    jack_alone: int  # YS-12: J goes alone as 1
    queen: int  # YS-10
    king: int  # YS-10
    ties: int  # YS-11
    previous: int  # YS-13
    reluctant: int  # YS-14: covers only where nothing can be played
    free_pair: int  # YS-15
    face_partner: int  # YS-16
    last_is_free: int  # YS-18: a covered last card does not count
    face_turns: int  # YS-19
    ten_toggles: int  # YS-20
    cover_turns: int  # YS-21
    pips: int  # YS-22
    plain: int  # the nibbles of the ranks that may be played as plain cards
    quarter: int  # (cards gone * quarter) >> 16 is the quarter of the game


def make_rules(toggles: YishiToggles, seats: int) -> YishiRules:
    """The kernel's rules for a number of seats. Raises ValueError when there is no A to K for everybody (YS-02)."""
    t = toggles
    if t.deal == "one_of_each_rank" and seats > 4 * t.decks:
        raise ValueError(
            f"{seats} seats cannot get a card of every rank out of {t.decks} decks; at most {4 * t.decks}"
        )
    cards = {
        "all": 52 * t.decks,
        "equal_burn_rest": 52 * t.decks // seats * seats,
        "one_of_each_rank": 13 * seats,
    }
    jack = t.faces_special and t.special_J
    return YishiRules(
        seats=seats,
        jokers=0,
        decks=t.decks,
        max_turns=52 * t.decks,
        dealing=("all", "equal_burn_rest", "one_of_each_rank").index(t.deal),
        start=(None, "two_dice", "fixed").index(t.start_number),
        start_value=t.start_value,
        reroll=int(t.dice_over_10 == "reroll"),
        ace_leads=int(t.lead == "spade_A_forced"),
        starter=("spade_A", "random", "rotating").index(t.starter),
        random_direction=int(t.initial_direction == "random"),
        normalise=int(t.normalise_at_ends),
        faces_ten=int(t.faces_plain_ten),
        jack_pair=int(jack and t.J_mode == "with_A"),
        jack_alone=int(jack and t.J_mode == "alone_counts_1"),
        queen=int(t.faces_special and t.special_Q),
        king=int(t.faces_special and t.special_K),
        ties=("shared", "earlier_finisher_first", "later_finisher_first").index(t.ties),
        previous=int(t.follow_after_cover == "previous"),
        reluctant=int(t.cover_voluntary == "only_if_no_play"),
        free_pair=int(t.free_card_may_be_special_pair),
        face_partner=int(t.special_with_face_as_ten and t.faces_plain_ten),
        last_is_free=int(not t.last_card_cover_counts),
        face_turns=int(t.reversal_by_face_ten),
        ten_toggles=int(t.ten_effect == "toggle"),
        cover_turns=int(t.cover_after_ten_or_one == "sets_direction"),
        pips=int(t.score == "covered_pips"),
        plain=PIPS | (FACES if t.faces_plain_ten else 0),
        quarter=-(-4 * 65536 // cards[t.deal]),
    )


def _fitting(number: int, direction: int, faces: bool) -> int:
    """The nibbles of the ranks whose value is the number or the next one in the direction."""
    ranks = {value - 1 for value in (number, number + direction) if number and 1 <= value <= 10}
    if faces and TEN in ranks:
        ranks |= {JACK, QUEEN, KING}
    return sum(15 << (NIBBLE * rank) for rank in ranks)


FIT = np.array(
    [[[_fitting(n, d, bool(f)) for n in range(11)] for d in (DOWN, UP)] for f in range(2)], dtype=np.int64
)
"""What fits, by whether faces count as tens, direction (down, up) and number."""


# --- State ------------------------------------------------------------------------------------------------------------

QUARTERS = (("q1", "first", "一"), ("q2", "second", "二"), ("q3", "third", "三"), ("q4", "last", "四"))


def _by_quarter(name: str, en: str, zh: str) -> tuple[Counter, ...]:
    return tuple(
        Counter(f"{name}_{q}", f"{en}, {which} quarter of the game", f"{zh}（第{at}個四分之一局）")
        for q, which, at in QUARTERS
    )


COUNTERS = (
    Counter("covers", "covered cards", "蓋牌張數", bins=64),
    Counter("forced_covers", "covers of a seat that had nothing to play", "無牌可出而蓋牌次數"),
    Counter("voluntary_covers", "covers of a seat that could have played", "可出而選擇蓋牌次數"),
    Counter("bare_covers", "covers after which nothing could be played", "蓋牌後無牌可再出次數"),
    Counter("covers_near_one", "covers at the numbers 1 and 2", "數字 1、2 時的蓋牌次數"),
    Counter("jack_specials", "Jacks played as special", "J 當特殊牌次數"),
    Counter("queen_specials", "Queens played as special", "Q 當特殊牌次數"),
    Counter("king_specials", "Kings played as special", "K 當特殊牌次數"),
    Counter("aces_with_jacks", "Aces used up by Jacks", "被 J 用掉的 A 張數"),
    Counter("faces_as_ten", "J, Q and K played as ten", "J、Q、K 當 10 出的張數"),
    Counter("jacks_played", "Jacks played either way", "打出的 J 張數"),
    Counter("reversals", "changes of direction", "順序改變次數"),
    Counter("best_covers", "covers of the seat with the fewest", "最少的蓋牌數", bins=40),
    Counter("worst_covers", "covers of the seat with the most", "最多的蓋牌數", bins=40),
    Counter("winners", "seats that share the first place", "並列第一的人數", bins=SEATS + 1),
    Counter("first_out_turn", "turn in which the first seat runs out", "首家出完手牌的回合", bins=BY_TURN),
    Counter("first_out_covers", "covers of the seat that runs out first", "最先出完者的蓋牌數"),
    Counter("last_out_covers", "covers of the seat that runs out last", "最後出完者的蓋牌數"),
    Counter("playable", "hand cards that fit at the turns, summed", "各回合手牌中接得上的張數總和"),
    Counter("held", "hand cards at the turns, summed", "各回合手牌張數總和"),
    *_by_quarter("turns", "turns", "回合數"),
    *_by_quarter("covers", "covers", "蓋牌次數"),
    *_by_quarter("playable", "hand cards that fit, summed", "接得上的手牌張數總和"),
    *_by_quarter("held", "hand cards, summed", "手牌張數總和"),
)
C: Any = namedtuple("C", [counter.name for counter in COUNTERS])(*range(len(COUNTERS)))
"""The index of each counter by name."""

RATIOS = (
    Ratio("cover_share", "covers", "turns", "share of turns with a cover", "蓋牌回合占比"),
    Ratio("forced_cover_share", "forced_covers", "covers", "share of covers that were forced", "被迫蓋牌占比"),
    Ratio("jack_special_share", "jack_specials", "jacks_played", "share of Jacks played as special",
          "J 當特殊牌的占比"),
    Ratio("playable_share", "playable", "held", "share of the hand that fits", "手牌中接得上的占比"),
    *(Ratio(f"cover_share_{q}", f"covers_{q}", f"turns_{q}",
            f"share of turns with a cover, {which} quarter", f"蓋牌回合占比（第{at}個四分之一局）")
      for q, which, at in QUARTERS),
    *(Ratio(f"playable_share_{q}", f"playable_{q}", f"held_{q}",
            f"share of the hand that fits, {which} quarter", f"手牌中接得上的占比（第{at}個四分之一局）")
      for q, which, at in QUARTERS),
)  # fmt: skip

PARTITIONS = (
    Partition("queens_kings", tuple(str(k) for k in range(9)), "Queens and Kings in the opening hand",
              "起手 Q 與 K 張數"),
    Partition("specials", tuple(str(k) for k in range(9)), "Jacks, Queens and Kings in the opening hand",
              "起手 J、Q、K 張數"),
    Partition("aces", tuple(str(k) for k in range(5)), "Aces in the opening hand", "起手 A 張數"),
)  # fmt: skip
"""With several decks the last class of each also holds every larger number."""

MAIN, COVER_CARD, FREE_CARD, AS, PARTNER = range(5)
PHASES = ("main", "cover_card", "free_card", "as", "partner")
CHOICES: dict[str, str | tuple[str, ...]] = {
    "cover_card": "card",
    "free_card": "card",
    "as": ("plain", "special"),
    "partner": "card",
}

STATE = np.dtype(
    [
        ("hand", np.int64, SEATS),  # four bits a rank
        ("covered", np.int64, SEATS),  # likewise
        ("burned", np.int64),  # likewise, cards not dealt (YS-02)
        ("largest", np.int64, SEATS),  # cards dealt
        ("covers", np.int64, SEATS),  # cards covered
        ("points", np.int64, SEATS),  # what decides the places
        ("out_turn", np.int64, SEATS),
        ("dealt", np.int64, SEATS),  # the opening hand as a card set, for one deck
        ("number", np.int64),  # 0 before the lead
        ("direction", np.int64),
        ("fit", np.int64),  # the nibbles of the plain cards that may be played
        ("turned", np.int64),  # the nibbles of those that a Queen lets play
        ("active", np.int64),  # bit mask of the seats with cards
        ("cur", np.int64),
        ("first", np.int64),
        ("turn", np.int64),
        ("phase", np.int64),
        ("covering", np.int64),  # whether the free card of a cover is being played
        ("card", np.int64),  # the face whose reading or partner is being decided
        ("gone", np.int64),  # cards that have left the hands
        (
            "flow",
            np.int64,
            4,
        ),  # by quarter: hand cards that fit, + hand cards << 20, + turns << 40, + covers << 50
        ("over", np.int64),
        ("count", np.int64, len(COUNTERS)),
    ]
)


@helper
def deal(rules, deck, number, loser, state, rng):
    """Deal (YS-02), find the starter (YS-06), and set what he follows (YS-03, YS-07)."""
    _clear(rules, state)
    aces = (
        _deal_each_rank(rules, deck, state) if rules.dealing == ONE_EACH else _deal_round(rules, deck, state)
    )
    state.active = (1 << rules.seats) - 1
    forced = False
    if rules.starter == SPADE_ACE and aces:
        n = popcount(aces)
        state.cur = lowest(nth_bit(aces, below(rng, CHANCE, n)) if n > 1 else aces)
        forced = rules.ace_leads != 0
    elif rules.starter == ROTATING:
        state.cur = number % rules.seats
    else:
        state.cur = below(rng, CHANCE, rules.seats)
    state.first = state.cur
    if rules.start == DICE:
        state.number = _throw(rules, rng)
    elif rules.start == FIXED:
        state.number = rules.start_value
    if rules.random_direction:
        state.direction = 2 * below(rng, CHANCE, 2) - 1
    state.direction = _normalised(rules, state.number, state.direction)
    _set_fit(rules, state, forced)


@helper
def _in_play(rules, state):
    """All cards that were dealt."""
    return ONES * 4 * rules.decks - state.burned


@helper
def _clear(rules, state):
    for p in range(rules.seats):
        state.hand[p] = state.covered[p] = state.covers[p] = state.points[p] = 0
        state.out_turn[p] = state.dealt[p] = state.largest[p] = 0
    for q in range(4):
        state.flow[q] = 0
    for k in range(state.count.size):
        state.count[k] = 0
    state.burned = state.number = state.phase = 0
    state.covering = state.card = state.gone = state.over = 0
    state.direction = UP
    state.turn = 1


CARD_NIBBLE = np.array(
    [1 << (NIBBLE * (bit % LANE)) if bit % LANE < 13 else 0 for bit in range(58)], dtype=np.int64
)
"""A card of the deck as a count."""


@helper
def _deal_round(rules, deck, state):
    """Deal round robin from seat 0, all cards or as many as make equal hands. The seats with a spade Ace."""
    seats = rules.seats
    total = 52 * rules.decks
    if rules.dealing == EQUAL:
        for i in range(total - total % seats, total):
            state.burned += CARD_NIBBLE[np.int64(deck[i])]
        total -= total % seats
    aces = 0
    for p in range(seats):
        hand = 0
        dealt = 0
        for i in range(p, total, seats):
            card = np.int64(deck[i])
            hand += CARD_NIBBLE[card]
            dealt |= 1 << card
        state.hand[p] = hand
        state.dealt[p] = dealt
        state.largest[p] = _cards(hand)
        aces |= (dealt & 1) << p
    return aces


@outlined
def _deal_each_rank(rules, deck, state):
    """Deal the first cards of every rank to the seats in order, the others are out. The seats with a spade Ace."""
    aces = 0
    for i in range(52 * rules.decks):
        card = np.int64(deck[i])
        one = CARD_NIBBLE[card]
        for p in range(rules.seats):
            if state.hand[p] & (15 * one) == 0:
                state.hand[p] += one
                state.dealt[p] |= 1 << card
                state.largest[p] = 13
                if card == 0:
                    aces |= 1 << p
                break
        else:
            state.burned += one
    return aces


@outlined
def _throw(rules, rng):
    """The sum of two dice; no card follows 11 or 12 (YS-04)."""
    number = 2 + below(rng, CHANCE, 6) + below(rng, CHANCE, 6)
    while rules.reroll and number > 10:
        number = 2 + below(rng, CHANCE, 6) + below(rng, CHANCE, 6)
    return min(number, 10)


# --- What fits, and legal moves (2.3) ---------------------------------------------------------------------------------


@helper
def _normalised(rules, number, direction):
    """Down at a start of 10 and up at one of 1 (YS-08)."""
    if rules.normalise:
        if number == 10:
            return DOWN
        if number == 1:
            return UP
    return direction


@helper
def _fits(faces, number, direction):
    return FIT[faces, (direction + 1) >> 1, number]


@helper
def _set_fit(rules, state, ace_leads=False):
    """What may be played: cards that follow the number, alone or beside a Queen; before the lead the Ace, or any."""
    if state.number:
        state.fit = _fits(rules.faces_ten, state.number, state.direction)
        state.turned = _fits(rules.face_partner, state.number, -state.direction)
    else:
        state.fit = 15 if ace_leads else rules.plain
        state.turned = 0


@helper
def _ranks(hand):
    """One card of every rank held."""
    hand |= hand >> 1
    return (hand | hand >> 2) & ONES


@helper
def _cards(counts):
    """How many cards a count has in all."""
    counts = (counts & 0x0F0F0F0F0F0F0F) + ((counts >> 4) & 0x0F0F0F0F0F0F0F)
    return (counts * 0x01010101010101) >> 48 & 0xFF


@helper
def _one(rank):
    return 1 << (NIBBLE * rank)


@helper
def _partners(rules, hand, face):
    """One of every rank that may go beside a special face, whatever the number."""
    ranks = _ranks(hand)
    if face == JACK:
        return ranks & 1
    if not rules.face_partner:
        return ranks & PIPS
    ranks = _ranks(hand - _one(face))
    if face == QUEEN and rules.king:
        ranks &= ~_one(KING)  # a Queen and a King are the King's play
    return ranks


COVER = 1 << (NIBBLE * 13)
"""The bit of a cover among the main moves; the others are at bit 4 * rank + (0 alone, 1 beside J, 2 Q, 3 K)."""


@helper
def _plays_on(rules, number, fit, turned, hand):
    """The main moves of a hand but the cover, as bits, on a number and the nibbles that fit it, alone or beside a
    Queen. Without branches where the rules are plain."""
    ranks = _ranks(hand)
    jack = ranks >> (NIBBLE * JACK) & 1
    queen = ranks >> (NIBBLE * QUEEN) & rules.queen
    king = ranks >> (NIBBLE * KING) & rules.king
    if number == 0:
        return ranks & fit
    if rules.face_partner:
        beside_queen = _partners(rules, hand, QUEEN) if queen else 0
        beside_king = _partners(rules, hand, KING) if king else 0
    else:
        beside_queen = ranks & PIPS
        beside_king = ranks & PIPS
    plays = ranks & fit
    plays |= (jack & rules.jack_alone) << (NIBBLE * JACK)
    plays |= (ranks & jack & rules.jack_pair) << 1
    plays |= (beside_queen & turned & -queen) << 2
    return plays | (beside_king & -king) << 3


@helper
def _plays(rules, state, hand):
    """The main moves of a hand but the cover at this turn, as bits."""
    return _plays_on(rules, state.number, state.fit, state.turned, hand)


@helper
def _menu(rules, state, hand):
    """The main moves with the cover: any time, unless YS-14 asks for having no play; never instead of the lead."""
    plays = _plays(rules, state, hand)
    if plays == 0 or not (rules.reluctant or state.number == 0):
        plays |= COVER
    return plays


@helper
def _pair(face, rank):
    """The move of a special face with a partner."""
    return 1 << face | (1 << (rank + LANE) if rank == face else 1 << rank)


@helper
def _main_move(rules, bit):
    """The card set of a main move, 0 for the cover. Without branches where the rules are plain."""
    rank = bit >> 2
    kind = bit & 3
    if rules.face_partner and kind:
        return _pair(TEN + kind, rank)
    return ((1 << kind) >> 1) << JACK | (1 << rank) & LANE_MASK


@helper
def _special_partners(rules, hand, face):
    """With what a face, still in the hand, may be played as special after a cover (YS-15)."""
    on = (
        (face == JACK and rules.jack_pair) or (face == QUEEN and rules.queen) or (face == KING and rules.king)
    )
    if not (on and rules.free_pair):
        return 0
    ranks = _partners(rules, hand, face)
    if face == QUEEN and rules.face_partner:
        ranks = _ranks(hand - _one(face))  # here the Queen has been named: she may go with a King
    return ranks


@helper
def _free(rules, hand):
    """One of every rank that may be played after a cover: those with a value."""
    ranks = _ranks(hand)
    free = ranks & rules.plain
    if not rules.faces_ten:
        if rules.jack_alone:
            free |= ranks & _one(JACK)
        if rules.free_pair:
            for face in range(JACK, KING + 1):
                if ranks & _one(face) and _special_partners(rules, hand, face):
                    free |= _one(face)
    return free


@helper
def _readings(rules, state):
    """How the face at hand may be played: bit 0 as a plain ten, bit 1 as special."""
    plain = rules.faces_ten
    if not state.covering:
        return (state.fit >> (NIBBLE * JACK) & 1) | 2
    if state.card == JACK and rules.jack_alone:
        return plain | 2
    return plain | (2 if _special_partners(rules, state.hand[state.cur], state.card) else 0)


@helper
def _choices(rules, state):
    """The inner moves of this phase, at bit 4 * move."""
    hand = state.hand[state.cur]
    if state.phase == COVER_CARD:
        return _ranks(hand)
    if state.phase == FREE_CARD:
        return _free(rules, hand)
    if state.phase == AS:
        readings = _readings(rules, state)
        return (readings & 1) | (readings & 2) << 3
    return _special_partners(rules, hand, state.card)


@helper
def moves(rules, state, out):
    """Every legal move: a card set (0 covers) in the main phase, else a card, or 0 plain and 1 special."""
    main = state.phase == MAIN
    rest = _menu(rules, state, state.hand[state.cur]) if main else _choices(rules, state)
    n = 0
    while rest:
        bit = lowest(rest)
        out[n] = _main_move(rules, bit) if main else bit >> 2
        n += 1
        rest &= rest - 1
    return n


@helper
def pick(rules, state, rng, stream, out):
    """A uniformly random legal move and their number, in the order of `moves`, without listing them."""
    main = state.phase == MAIN
    choices = _menu(rules, state, state.hand[state.cur]) if main else _choices(rules, state)
    n = popcount(choices)
    bit = lowest(nth_bit(choices, below(rng, stream, n)) if n > 1 else choices)
    return (_main_move(rules, bit) if main else bit >> 2), n


# --- A turn (2.4) -----------------------------------------------------------------------------------------------------


@allocating
def _log_turn(rules, state, log):
    """Log the start of a turn with its legal moves. Only ever called when a log is kept."""
    out = np.empty(64, dtype=np.int64)
    emit(log, TURN, state.turn, state.cur)
    for i in range(moves(rules, state, out)):
        emit(log, MOVE, out[i])


@helper
def begin(rules, state, rng, log):
    """Start the turn of a dealt or given position."""
    if recording(log):
        _log_turn(rules, state, log)


@helper
def mover(rules, state):
    """The seat at turn decides everything."""
    return state.cur


@helper
def is_over(rules, state):
    """Whether all hands are empty."""
    return state.over != 0


@helper
def _after(rules, state, value, face, direction):
    """Number and direction after a card of this value (steps 3 and 4); `face` for a face used as a ten."""
    if state.covering and rules.previous:
        return state.number, state.direction
    if rules.cover_turns or not state.covering:
        if value == 10 and (rules.face_turns or not face):
            direction = -direction if rules.ten_toggles else DOWN
        elif value == 1:
            direction = UP
    if state.number == 0 and not state.covering:
        direction = _normalised(rules, value, direction)
    return value, direction


@helper
def _land(rules, state, value, face, direction):
    """Set what the next seat follows."""
    number, direction = _after(rules, state, value, face, direction)
    state.count[C.reversals] += direction != state.direction
    state.number = number
    state.direction = direction
    _set_fit(rules, state)


@helper
def _shed(state, rank):
    """A card leaves the hand of the seat at turn."""
    state.hand[state.cur] -= _one(rank)
    state.gone += 1


@helper
def _play_plain(rules, state, rank):
    """A card as itself, a face as a ten; it has left the hand."""
    _land(rules, state, min(rank, TEN) + 1, rank > TEN, state.direction)


@helper
def _play_special(rules, state, face, rank):
    """A special face with its partner; both have left the hand. A Jack alone is its own partner."""
    state.count[C.jack_specials + face - JACK] += 1
    if face == JACK:
        rank = ACE
    direction = -state.direction if face == QUEEN else state.direction
    _land(rules, state, min(rank, TEN) + 1, rank > TEN, direction)


@helper
def _special_of(rules, move):
    """Which face of a pair is the special one, and its partner."""
    low = move & LANE_MASK
    if low & (low - 1) == 0:
        rank = lowest(low)
        return rank, rank
    face = lowest(low & (low - 1))
    rank = lowest(low)
    if face == KING and not rules.king:
        return rank, face
    return face, rank


@helper
def _note_turn(rules, state, move):
    """Count the turn, the hand, what of it fits, and a cover, by quarter of the game."""
    quarter = (state.gone * rules.quarter) >> 16
    hand = state.hand[state.cur]
    cover = np.int64(move == 0)
    state.flow[quarter] += _cards(hand & state.fit) | _cards(hand) << 20 | 1 << 40 | cover << 50


@helper
def _end_turn(rules, state, log):
    """The seat at turn may have run out; the next seat with cards follows."""
    seat = state.cur
    state.phase = MAIN
    state.covering = 0
    if state.hand[seat] == 0:
        state.active &= ~(1 << seat)
        state.out_turn[seat] = state.turn
        emit(log, FINISH, seat)
        if state.active == 0:
            state.over = WIN + 1
            return
    after = state.active >> (seat + 1)
    state.cur = seat + 1 + lowest(after) if after else lowest(state.active)
    state.turn += 1
    if recording(log):
        _log_turn(rules, state, log)


@helper
def _start_cover(rules, state):
    """The seat at turn will cover a card: because it must, or because it wants to."""
    hand = state.hand[state.cur]
    forced = hand & (state.fit | FACES) == 0 or _plays(rules, state, hand) == 0
    state.count[C.forced_covers] += forced
    state.count[C.covers_near_one] += (state.number == 1) | (state.number == 2)
    state.phase = COVER_CARD
    state.covering = 1


@helper
def _cover(rules, state, rank, log):
    """Cover a card; whether a card is to be played after it."""
    seat = state.cur
    _shed(state, rank)
    state.covered[seat] += _one(rank)
    state.covers[seat] += 1
    # Beside the card: what had to be followed, for those who conclude something from the cover.
    emit(log, PUT, seat, rank, WORD.covered, 2 * state.number + (state.direction == UP))
    if state.hand[seat] or not rules.last_is_free:
        state.points[seat] += rank + 1 if rules.pips else 1
    if _free(rules, state.hand[seat]):
        state.phase = FREE_CARD
        return True
    state.count[C.bare_covers] += 1
    return False


@helper
def _free_card(rules, state, rank, log):
    """Play a card after a cover; whether that is done, or its reading is still to be chosen."""
    state.card = rank
    if rank >= JACK and _has_readings(rules, rank):
        state.phase = AS
        return False
    emit(log, PLAY, state.cur, 1 << rank, 0)
    _shed(state, rank)
    _play_plain(rules, state, rank)
    return True


@helper
def _has_readings(rules, face):
    """Whether a face played after a cover is asked whether it is plain or special."""
    if face == JACK:
        return rules.jack_alone or (rules.jack_pair and rules.free_pair)
    return rules.free_pair and (rules.queen if face == QUEEN else rules.king)


@helper
def _decide_reading(rules, state, special, log):
    """A face is plain or special; whether the turn's play is complete."""
    if special and state.covering and not (state.card == JACK and rules.jack_alone):
        state.phase = PARTNER
        return False
    if state.covering:
        emit(log, PLAY, state.cur, 1 << state.card, 0)
        _shed(state, state.card)
    if special:
        _play_special(rules, state, JACK, JACK)
    else:
        _play_plain(rules, state, state.card)
    return True


@helper
def _play_pair(rules, state, face, rank, log):
    emit(log, PLAY, state.cur, _pair(face, rank), 0)
    _shed(state, face)
    _shed(state, rank)
    _play_special(rules, state, face, rank)


@helper
def _play(rules, state, move, log):
    """A main move other than a cover; whether the turn's play is complete."""
    if move & (move - 1):
        face, rank = _special_of(rules, move)
        _play_pair(rules, state, face, rank, log)
        return True
    rank = lowest(move)
    emit(log, PLAY, state.cur, move, 0)
    _shed(state, rank)
    if rules.jack_alone and rank == JACK and state.number:
        state.card = JACK
        state.phase = AS
        return False
    _play_plain(rules, state, rank)
    return True


@helper
def apply(rules, state, move, rng, log):
    """Make a move of the present phase; after the last one of a turn the next turn begins."""
    phase = state.phase
    if phase == MAIN:
        _note_turn(rules, state, move)
        if move == 0:
            _start_cover(rules, state)
            return
        done = _play(rules, state, move, log)
    elif phase == COVER_CARD:
        done = not _cover(rules, state, move, log)
    elif phase == FREE_CARD:
        done = _free_card(rules, state, move, log)
    elif phase == AS:
        done = _decide_reading(rules, state, move, log)
    else:
        _play_pair(rules, state, state.card, move, log)
        done = True
    if done:
        _end_turn(rules, state, log)


# --- Results ----------------------------------------------------------------------------------------------------------


@helper
def standing(rules, state, seat):
    """The fewest covered cards lead."""
    return state.points[seat]


@helper
def _order(rules, state, seat):
    """A seat's rank as a sortable number: covered cards, then who ran out first or last (YS-11)."""
    order = 1024 * state.points[seat]
    if rules.ties == EARLIER:
        order += state.out_turn[seat]
    elif rules.ties == LATER:
        order -= state.out_turn[seat]
    return order


@helper
def _count_seats(rules, state):
    """The counters of covers and of running out."""
    first = last = 0
    best = worst = state.covers[0]
    for p in range(rules.seats):
        covers = state.covers[p]
        state.count[C.covers] += covers
        best = min(best, covers)
        worst = max(worst, covers)
        if state.out_turn[p] < state.out_turn[first]:
            first = p
        if state.out_turn[p] > state.out_turn[last]:
            last = p
    state.count[C.voluntary_covers] = state.count[C.covers] - state.count[C.forced_covers]
    state.count[C.best_covers] = best
    state.count[C.worst_covers] = worst
    state.count[C.first_out_turn] = state.out_turn[first]
    state.count[C.first_out_covers] = state.covers[first]
    state.count[C.last_out_covers] = state.covers[last]


@helper
def _count_cards(rules, state):
    """The counters of cards: a face dealt was covered, special, or a ten."""
    faces = _in_play(rules, state) & FACES
    for p in range(rules.seats):
        faces -= state.covered[p] & FACES
    jacks = state.count[C.jack_specials]
    state.count[C.aces_with_jacks] = jacks * rules.jack_pair
    state.count[C.jacks_played] = faces >> (NIBBLE * JACK) & 15
    specials = jacks + state.count[C.queen_specials] + state.count[C.king_specials]
    state.count[C.faces_as_ten] = _cards(faces) - specials
    for q in range(4):
        flow = state.flow[q]
        state.count[C.playable_q1 + q] = flow & 0xFFFFF
        state.count[C.held_q1 + q] = flow >> 20 & 0xFFFFF
        state.count[C.turns_q1 + q] = flow >> 40 & 0x3FF
        state.count[C.covers_q1 + q] = flow >> 50
        state.count[C.playable] += flow & 0xFFFFF
        state.count[C.held] += flow >> 20 & 0xFFFFF


@helper
def outcome(rules, state, row):
    """Places by covered cards, the win shared by all first places, scores (lower is better) and counters."""
    _count_seats(rules, state)
    _count_cards(rules, state)
    winners = 0
    for p in range(rules.seats):
        mine = _order(rules, state, p)
        place = 1
        for q in range(rules.seats):
            place += _order(rules, state, q) < mine
        row.place[p] = place
        winners += place == 1
    state.count[C.winners] = winners
    row.outcome = state.over - 1
    row.turns = state.turn
    row.first = state.first
    for p in range(rules.seats):
        row.share[p] = SHARE // winners if row.place[p] == 1 else 0
        row.score[p] = state.points[p]
        row.drawn[p] = state.covers[p]
        row.largest[p] = state.largest[p]
        row.out_turn[p] = state.out_turn[p]
    for k in range(state.count.size):
        row.count[k] = state.count[k]


@helper
def opening(rules, state, seat, classes):
    """The opening hand (one deck only: else cards repeat), and its class in each partition."""
    hand = state.hand[seat]
    high = (hand >> (NIBBLE * QUEEN) & 15) + (hand >> (NIBBLE * KING) & 15)
    classes[0] = min(high, 8)
    classes[1] = min(high + (hand >> (NIBBLE * JACK) & 15), 8)
    classes[2] = min(hand & 15, 4)
    return state.dealt[seat] if rules.decks == 1 else 0


@helper
def cost(rules, state, move):
    """The number that the next seat follows after the play; for a cover the number now."""
    if move == 0:
        return state.number
    if move & (move - 1) == 0:
        if rules.jack_alone and move == 1 << JACK and state.number:
            return 10 if state.fit >> (NIBBLE * JACK) & 1 else 1
        return min(lowest(move), TEN) + 1
    face, rank = _special_of(rules, move)
    return 1 if face == JACK else min(rank, TEN) + 1


# --- Features ---------------------------------------------------------------------------------------------------------

FEATURES = (
    Feature("covers", "whether the move covers a card", "是否蓋牌"),
    Feature("sheds", "cards the move plays", "出牌張數"),
    Feature("special_jack", "whether it is a special Jack", "是否出特殊牌 J"),
    Feature("special_queen", "whether it is a special Queen", "是否出特殊牌 Q"),
    Feature("special_king", "whether it is a special King", "是否出特殊牌 K"),
    Feature("face_as_ten", "whether a face that could be special is used as a ten", "是否把可當特殊牌的牌當 10 出"),
    Feature("fits_own", "own cards left that fit the new number", "出牌後自己接得上的手牌數"),
    Feature("reach_own", "own cards left that may fit when the turn comes round", "一輪之內自己可能接得上的手牌數"),
    Feature("fits_unseen", "cards not seen yet that fit the new number", "未現身而接得上的牌數"),
    Feature("hand_after", "cards in hand afterwards", "出牌後手牌數"),
    Feature("goes_out", "whether the hand is empty afterwards", "出牌後是否清空手牌"),
    Feature("specials_left", "special cards left in hand", "出牌後剩下的特殊牌數"),
    Feature("card_value", "value of the card, faces count ten", "該牌的數值"),
    Feature("card_pips", "pips of the card", "該牌的點數"),
    Feature("card_special", "whether the card could be special", "該牌能否當特殊牌"),
    Feature("card_copies", "own cards of the rank, this one included", "自己持有該數字的張數"),
    Feature("card_reach", "whether the card may fit when the turn comes round", "該牌一輪之內是否可能接得上"),
    Feature("as_special", "whether the face is played as special", "是否當特殊牌"),
)  # fmt: skip
F: Any = namedtuple("F", [feature.name for feature in FEATURES])(*range(len(FEATURES)))
"""The index of each feature by name."""


@helper
def _specials(rules, hand):
    """The cards of a hand that have a special use, as a count."""
    kept = 0
    if rules.jack_pair or rules.jack_alone:
        kept |= 15 << (NIBBLE * JACK)
    if rules.queen:
        kept |= 15 << (NIBBLE * QUEEN)
    if rules.king:
        kept |= 15 << (NIBBLE * KING)
    return hand & kept


@helper
def _reach(rules, number, direction):
    """The nibbles of the ranks that the number may arrive at within a round without special cards."""
    end = min(max(number + direction * rules.seats, 1), 10)
    low = min(number, end)
    high = max(number, end)
    reach = ((1 << (NIBBLE * high)) - 1) & ~((1 << (NIBBLE * (low - 1))) - 1)
    return reach | FACES if high == 10 and rules.faces_ten else reach


@helper
def _unseen(rules, state, seat):
    """The cards that the seat has not seen: all but its own, those it covered and those played."""
    unseen = state.burned
    for p in range(rules.seats):
        if p != seat:
            unseen += state.hand[p] + state.covered[p]
    return unseen


@helper
def _landing_features(rules, state, hand, number, direction, x):
    """What a play leaves: `hand` remains."""
    fit = _fits(rules.faces_ten, number, direction)
    note(x, F.fits_own, _cards(hand & fit))
    note(x, F.reach_own, _cards(hand & _reach(rules, number, direction)))
    note(x, F.fits_unseen, _cards(_unseen(rules, state, state.cur) & fit))
    note(x, F.hand_after, _cards(hand))
    note(x, F.goes_out, hand == 0)
    note(x, F.specials_left, _cards(_specials(rules, hand)))


@helper
def features(rules, state, move, x):
    """What the seat at turn knows about a move: its hand and covered cards, all cards played, number and direction."""
    seat = state.cur
    hand = state.hand[seat]
    phase = state.phase
    if phase == MAIN:
        if move == 0:
            note(x, F.covers, 1)
            note(x, F.hand_after, max(0, _cards(hand) - 2))
        else:
            _play_features(rules, state, move, hand, x)
    elif phase == COVER_CARD:
        _card_features(rules, state, hand, move, x)
    elif phase == AS:
        note(x, F.as_special, move)
    elif phase == FREE_CARD:
        _card_features(rules, state, hand, move, x)
        _free_features(rules, state, move, hand - _one(move), state.direction, x)
    else:
        _card_features(rules, state, hand, move, x)
        turned = -state.direction if state.card == QUEEN else state.direction
        _free_features(rules, state, move, hand - _one(move) - _one(state.card), turned, x)


@helper
def _play_features(rules, state, move, hand, x):
    """A main move that plays one or two cards."""
    if move & (move - 1):
        face, rank = _special_of(rules, move)
        note(x, F.sheds, 2)
        note(x, F.special_jack + face - JACK, 1)
        left = hand - _one(face) - _one(rank)
        turned = -state.direction if face == QUEEN else state.direction
    else:
        rank = lowest(move)
        note(x, F.sheds, 1)
        left = hand - _one(rank)
        turned = state.direction
        note(x, F.face_as_ten, _specials(rules, _one(rank)) != 0)
        if rank == JACK and rules.jack_alone and state.fit >> (NIBBLE * JACK) & 1 == 0:
            rank = ACE
    number, direction = _after(rules, state, min(rank, TEN) + 1, rank > TEN, turned)
    _landing_features(rules, state, left, number, direction, x)


@helper
def _free_features(rules, state, rank, left, direction, x):
    """What a card played after a cover leaves, alone or beside a special one."""
    number, direction = _after(rules, state, min(rank, TEN) + 1, rank > TEN, direction)
    if number:
        _landing_features(rules, state, left, number, direction, x)


@helper
def _card_features(rules, state, hand, rank, x):
    """A card to cover, to play freely or to put beside a special one."""
    note(x, F.card_value, min(rank, TEN) + 1)
    note(x, F.card_pips, rank + 1)
    note(x, F.card_special, _specials(rules, _one(rank)) != 0)
    note(x, F.card_copies, hand >> (NIBBLE * rank) & 15)
    if state.number:
        note(x, F.card_reach, _reach(rules, state.number, state.direction) >> (NIBBLE * rank) & 1)


# --- What a seat has seen ---------------------------------------------------------------------------------------------

CARDS_AT_MOST = 3 * 52

MEMORY = np.dtype(
    [
        ("even", np.int64),  # whether everybody began with one card of every rank (YS-02)
        ("ace_at", np.int64),  # the place known to have been dealt the spade Ace (YS-06), or -1
        ("played", np.int64, SEATS + 1),  # by seat, four bits a rank
        ("proved", np.int64),  # bit mask of the seats of whose hands a cover has proved something
        ("closed", np.int64),  # bit mask of the seats that covered their last card
        ("open", np.int64),  # the cover that no card has been played after yet, or -1
        ("coverer", np.int64),  # the seat that covered last
        ("latest", np.int64, SEATS),  # each seat's latest cover, or -1
        ("covers", np.int64),  # covers so far, and of each:
        ("before", np.int64, CARDS_AT_MOST),  # the cover of the same seat before it, or -1
        ("gone", np.int64, CARDS_AT_MOST),  # what the seat had played till then
        ("forced", np.int64, CARDS_AT_MOST),  # what it could not follow: 2 * number + (1 upwards), or -1
        ("bare", np.int64, CARDS_AT_MOST),  # whether no card that was left in its hand had a value
        # What `resample` works with. A place is a seat other than the one that samples, or the cards not dealt.
        ("card", np.int64, CARDS_AT_MOST),  # by place: the hand, then what it covered, latest first
        ("owner", np.int64, CARDS_AT_MOST),  # the place of each card
        ("start", np.int64, SEATS + 2),  # where the cards of a place start, and the last ones end
        ("room", np.int64, SEATS + 1),  # how many of them are in the hand
        ("price", np.int64, SEATS + 1),  # how much they are at odds with what was seen
        ("weight", np.int64),  # how likely the spade Ace is where it was dealt
    ]
)

TRIES = 24
"""Deals tried before a sample is walked to: where most deals agree with what was seen, one of these is it."""

SWEEPS = 8
"""Steps of the walk per hidden card until it may stop: as many as leave no trace of where it began."""


@helper
def forget(rules, state, memory):
    """Nothing is known of a hand but what the deal tells: one card of every rank each, or who has the spade Ace.

    Suits are not kept. Of the starter it is only known that he was dealt a spade Ace; with several decks the chance by
    which he was drawn among several holders is not weighed.
    """
    memory.even = rules.dealing == ONE_EACH
    memory.ace_at = memory.open = -1
    memory.proved = memory.closed = memory.covers = 0
    for p in range(rules.seats):
        memory.played[p] = 0
        memory.latest[p] = -1
        memory.even &= state.hand[p] == ONES
    memory.played[rules.seats] = 0
    ace_leads = state.number == 0 and state.fit == 15
    if rules.starter == SPADE_ACE and state.dealt[state.first] and not (memory.even or ace_leads):
        memory.ace_at = state.first if state.dealt[state.first] & 1 else rules.seats


@helper
def _note_cover(rules, memory, seat, met):
    """A cover proves that nothing could be played if the seat would have had to, as it must lead (YS-14)."""
    k = memory.covers
    memory.covers += 1
    memory.before[k] = memory.latest[seat]
    memory.latest[seat] = k
    memory.open = k
    memory.coverer = seat
    memory.gone[k] = memory.played[seat]
    memory.bare[k] = 0
    memory.forced[k] = -1
    if rules.reluctant or met < 2:
        memory.forced[k] = met
        memory.proved |= 1 << seat


@helper
def remember(rules, memory, event, a, b, c, d):
    """Cards played, and what a cover proves. When nothing is played after it, the seat is out of cards, or the next
    turn starts at once, as what it holds has no value."""
    if event == PLAY:
        while b:
            memory.played[a] += _one(lowest(b) % LANE)
            b &= b - 1
        memory.open = -1
    elif event == PUT:
        _note_cover(rules, memory, a, d)
    elif event == FINISH and memory.open >= 0:
        memory.closed |= 1 << a
        memory.open = -1
    elif event == TURN and memory.open >= 0:
        memory.bare[memory.open] = 1
        memory.proved |= 1 << memory.coverer
        memory.open = -1


@helper
def _list_cards(memory, at, counts):
    """Write the cards of a count into `card` from `at` on; where they end."""
    while counts:
        one = 1 << (lowest(counts) & ~3)
        memory.card[at] = one
        counts -= one
        at += 1
    return at


@helper
def _lay_out(rules, state, memory, seat):
    """List what the seat does not see, in rank order, and how many of it lie where."""
    hidden = state.burned
    n = 0
    for p in range(rules.seats):
        memory.start[p] = n
        memory.room[p] = 0
        if p != seat:
            memory.room[p] = _cards(state.hand[p])
            theirs = state.hand[p] + state.covered[p]
            hidden += theirs
            n += memory.room[p] + state.covers[p]
            if memory.even:
                _list_cards(memory, memory.start[p], theirs)
    memory.start[rules.seats] = n
    memory.room[rules.seats] = 0
    if not memory.even:
        n = _list_cards(memory, 0, hidden)
    memory.start[rules.seats + 1] = n


@helper
def _in_hand(memory, place):
    """The cards of a place that are in its hand, as a count."""
    start = memory.start[place]
    hand = 0
    for i in range(start, start + memory.room[place]):
        hand += memory.card[i]
    return hand


@helper
def _face_down(memory, place):
    """The cards of a place that are not in its hand, as a count."""
    under = 0
    for i in range(memory.start[place] + memory.room[place], memory.start[place + 1]):
        under += memory.card[i]
    return under


@outlined
def _price_of(rules, memory, seat):
    """How much the cards sampled for a seat are at odds with its covers: how many moves it would have had to make
    rather than those. The hand at each cover is put together backwards from the hand now."""
    hand = _in_hand(memory, seat)
    at = memory.start[seat] + memory.room[seat]
    k = memory.latest[seat]
    price = 0
    while k >= 0:
        played = memory.played[seat] - memory.gone[k]
        if memory.bare[k]:
            price += popcount(_free(rules, hand + played))
        hand += memory.card[at]
        at += 1
        if memory.forced[k] >= 0:
            number = memory.forced[k] >> 1
            direction = UP if memory.forced[k] & 1 else DOWN
            fit = _fits(rules.faces_ten, number, direction) if number else rules.plain
            turned = _fits(rules.face_partner, number, -direction)
            price += popcount(_plays_on(rules, number, fit, turned, hand + played))
        k = memory.before[k]
    return price


@helper
def _price_at(rules, memory, place, proved):
    """`_price_of` a place, if it is a seat of which anything is proved."""
    return _price_of(rules, memory, place) if proved >> place & 1 else 0


@helper
def _aces(memory, place):
    return (_in_hand(memory, place) + _face_down(memory, place)) & 15


@helper
def _weight(rules, memory, place, aces):
    """How likely one of the spade Aces is among the hidden `aces` of a place and those played from there; all of them
    among cards not dealt. As a multiple of some unit; 1 where no place is known (-1)."""
    if place < 0:
        return 1
    weight = aces + (memory.played[place] & 15)
    if place == rules.seats:
        for k in range(1, rules.decks):
            weight *= max(0, aces - k)
    return weight


@helper
def _weight_at(rules, memory, place):
    """`_weight` of the cards sampled for a place."""
    return _weight(rules, memory, place, _aces(memory, place) if place >= 0 else 0)


@helper
def _agrees(rules, memory, first, last, proved, ace_at, most, rng, stream):
    """Whether the cards sampled for places first .. last-1 may be kept, by what covers proved and, in proportion to
    the weight of where the Aces are, `most` being the largest, by chance."""
    for p in range(first, last):
        if _price_at(rules, memory, p, proved):
            return False
    return ace_at < 0 or below(rng, stream, most) < _weight_at(rules, memory, ace_at)


@helper
def _accepts(rise, weight, before, rng, stream):
    """Whether a step is taken: each move that the cards are more at odds with makes them an eighth as likely."""
    if rise > 0 and below(rng, stream, 1 << 3 * min(rise, 9)):
        return False
    return weight >= before or below(rng, stream, before) < weight


@helper
def _step(rules, memory, i, k, proved, ace_at, rng, stream):
    """Swap two cards, or leave them; how much more the cards are at odds with what was seen."""
    one = memory.card[i]
    other = memory.card[k]
    if one == other:
        return 0
    p = memory.owner[i]
    q = memory.owner[k]
    memory.card[i] = other
    memory.card[k] = one
    price_p = _price_at(rules, memory, p, proved)
    price_q = _price_at(rules, memory, q, proved)
    rise = price_p - memory.price[p] + (price_q - memory.price[q] if p != q else 0)
    weight = _weight_at(rules, memory, ace_at)
    if not _accepts(rise, weight, memory.weight, rng, stream):
        memory.card[i] = one
        memory.card[k] = other
        return 0
    memory.price[p] = price_p
    memory.price[q] = price_q
    memory.weight = weight
    return rise


@outlined
def _walk(rules, memory, first, last, proved, ace_at, rng, stream):
    """Swap cards of places first .. last-1 until they agree with all that was seen.

    A Metropolis walk over all deals, in which those at odds with it have a small share: it cannot get caught, and where
    it stops, after whole sweeps only, is uniform but for the weight of the Aces.
    """
    start = memory.start[first]
    n = memory.start[last] - start
    price = 0
    for p in range(first, last):
        for i in range(memory.start[p], memory.start[p + 1]):
            memory.owner[i] = p
        memory.price[p] = _price_at(rules, memory, p, proved)
        price += memory.price[p]
    memory.weight = _weight_at(rules, memory, ace_at)
    walking = True
    while walking:
        for _ in range(SWEEPS * n):
            i = start + below(rng, stream, n)
            k = start + below(rng, stream, n)
            price += _step(rules, memory, i, k, proved, ace_at, rng, stream)
        walking = price > 0 or memory.weight == 0


@helper
def _deal_anew(rules, memory, first, last, seat, rng, stream):
    """Deal the cards of places first .. last-1 anew among each other."""
    proved = memory.proved & ~(1 << seat)
    ace_at = -1 if memory.ace_at == seat else memory.ace_at
    aces = 0
    for p in range(first, last if ace_at >= 0 else first):
        aces += _aces(memory, p)
    most = _weight(rules, memory, ace_at, aces)
    for _ in range(TRIES):
        shuffle(rng, stream, memory.card, memory.start[first], memory.start[last])
        if _agrees(rules, memory, first, last, proved, ace_at, most, rng, stream):
            return
    _walk(rules, memory, first, last, proved, ace_at, rng, stream)


@helper
def _points_of(memory, seat, uncounted):
    """The pips of the cards a seat has covered; of its last card only where that counts (YS-18)."""
    points = 0
    covers = memory.start[seat] + memory.room[seat]
    for i in range(covers + uncounted, memory.start[seat + 1]):
        points += (lowest(memory.card[i]) >> 2) + 1
    return points


@helper
def resample(rules, state, memory, seat, rng, stream):
    """The hands, covered cards and cards not dealt, uniform over all that covers and the deal allow.

    A covered card may be any card of the hand at that time, each with the same chance, and a played card is the one
    that was seen: of equal cards in a hand each counts.
    """
    seats = rules.seats
    _lay_out(rules, state, memory, seat)
    for first in range(seats if memory.even else 1):
        last = first + 1 if memory.even else seats + 1
        _deal_anew(rules, memory, first, last, seat, rng, stream)
    for p in range(seats):
        if p != seat:
            state.hand[p] = _in_hand(memory, p)
            state.covered[p] = _face_down(memory, p)
            state.dealt[p] = 0
            if rules.pips:
                uncounted = rules.last_is_free & memory.closed >> p
                state.points[p] = _points_of(memory, p, uncounted)
    if not memory.even:
        state.burned = _face_down(memory, seats)


# --- Positions and notation -------------------------------------------------------------------------------------------


class YishiPosition(PositionModel):
    """A position. Suits do not matter; `number` 0 stands before the lead; `covered` are the covered cards by seat."""

    cards_repeat: ClassVar[bool] = True

    number: int = Field(0, ge=0, le=10)
    direction: Literal[1, -1] = 1
    covered: list[list[Card]] = []
    stock: list[Card] = Field([], max_length=0)


def card_list(cards: int) -> list[str]:
    """The cards of a play in notation, all as spades, a special card before its equal partner."""
    return [f"S{RANKS[bit % LANE]}" for bit in bits_of(cards)]


def _counts(cards: list[str]) -> int:
    return sum(1 << (NIBBLE * (parse_card(name) % LANE)) for name in cards)


def _names(counts: int) -> list[str]:
    return [f"S{RANKS[rank]}" for rank in range(13) for _ in range(int(counts) >> (NIBBLE * rank) & 15)]


def from_position(
    rules: YishiRules, position: YishiPosition, state: Any, shuffled: Callable[[list[int]], list[int]]
) -> None:
    """Set `state` to a given position (DESIGN, Positions). Raises ImpossiblePosition with the reason."""
    for name in STATE.names or ():
        state[name] = 0
    covered = position.covered or [[] for _ in position.hands]
    _check(rules, position, covered)
    for seat, (hand, under) in enumerate(zip(position.hands, covered, strict=True)):
        state.hand[seat], state.largest[seat] = _counts(hand), len(hand)
        state.covered[seat], state.covers[seat] = _counts(under), len(under)
        pips = sum(parse_card(name) % LANE + 1 for name in under)
        state.points[seat] = pips if rules.pips else len(under)
        state.active = int(state.active) | (len(hand) > 0) << seat
    state.turn = 1
    state.cur = state.first = position.to_move
    state.number = position.number
    state.direction = position.direction
    forced = rules.ace_leads and rules.starter == SPADE_ACE and "SA" in position.hands[position.to_move]
    if position.number:
        state.fit = _fitting(position.number, position.direction, bool(rules.faces_ten))
        state.turned = _fitting(position.number, -position.direction, bool(rules.face_partner))
    else:
        state.fit = 15 if forced else rules.plain


def _check(rules: YishiRules, position: YishiPosition, covered: list[list[str]]) -> None:
    """Not more cards of a rank than the decks have, a covered list a seat, and a mover who holds cards."""
    if len(covered) != rules.seats:
        raise ImpossiblePosition("covered", f"{len(covered)} lists for {rules.seats} seats")
    names = [name for cards in (*position.hands, *covered) for name in cards]
    if "BJ" in names or "RJ" in names:
        raise ImpossiblePosition("hands", "this game has no Jokers")
    for rank, n in Multiset(name[1:] for name in names).items():
        if n > 4 * rules.decks:
            raise ImpossiblePosition("hands", f"{n} cards of rank {rank}; there are {4 * rules.decks}")
    if not position.hands[position.to_move]:
        raise ImpossiblePosition("to_move", f"seat {position.to_move} holds no cards")


def to_position(rules: YishiRules, state: Any) -> dict[str, Any]:
    """The state in a position file's own keys."""
    seats = range(rules.seats)
    return {
        "hands": [_names(state.hand[seat]) for seat in seats],
        "covered": [_names(state.covered[seat]) for seat in seats],
        "stock": [],
        "to_move": int(state.cur),
        "number": int(state.number),
        "direction": int(state.direction),
    }


GAME = Game(
    name="yishi",
    title={"en": "Yi Shi Fan Zhuan", "zh-Hant": "一十反轉"},
    prose=PROSE,
    Toggles=YishiToggles,
    Position=YishiPosition,
    Rules=YishiRules,
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
    cost={"en": "number", "zh-Hant": "數字"},
    scored=-1,
    usual={"seats": 4, "jokers": 0, "decks": 1, "dealing": 0, "reluctant": 0, "pips": 0, "last_is_free": 0},
    max_moves=64,
    module=sys.modules[__name__],
)
