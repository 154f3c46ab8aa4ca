"""憋七 bieqi: sevens in which a seat without a live card covers one and pays for its pips (S4; RULES.md section 7).

The rules in prose. 52 cards, all dealt out one by one. The holder of S7 leads it. In turn each seat lays one live card:
any 7, or a card next to a table card of its suit. A seat that has no live card must cover one card of its choice, face
down, out of the game. The game ends when all hands are used up. A seat's cover points are the pips of the cards it
covered (A 1 ... K 13); it scores the sum of the differences between everybody else's cover points and its own, so the
scores add up to 0. Every seat that covered nothing (a passer) doubles the cover points of the others, and every passer
whose very last card was a 7 (a lone seven) makes them eightfold. The fewest cover points win.

The encoding of moves. In the main phase a move is the card played, as a set of one card. A seat without a live card
has no main decision: its turn starts with the decision which card, as a bit position, to cover (cover_card). Only
before the first turn of a given position has begun does the main phase list 0, a cover, for such a seat.
"""

from __future__ import annotations

import sys
from collections import namedtuple
from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import numpy as np
from pydantic import Field

from sim.cards import CARDS, LANE, LANE_MASK, RANK_SET, SUITS, bits_of, card_names, mask_of
from sim.events import FINISH, MOVE, PLAY, PUT, TURN, WORD, emit, recording
from sim.features import note, paired
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
from sim.jit import helper, lowest, nth_bit, outlined, popcount
from sim.knowledge import some_of
from sim.rng import below

PROSE = {
    "en": "Sevens in which a seat without a live card must cover one. Covered pips count against a seat; seats that "
    "cover nothing, or keep a 7 as their last card, multiply what the others pay.",
    "zh-Hant": "以四個 7 為基準接牌，沒有活牌就必須扣一張牌。扣牌點數最少者勝；走通與獨頭七會讓其他人的扣牌分加倍。",
}


# --- Toggles ----------------------------------------------------------------------------------------------------------


class BieqiToggles(ToggleModel):
    """Every rule of bieqi that can be set, in the order of the rules table; the defaults are the computer version's."""

    end: Literal["all_hands_empty", "first_empty"] = toggle(
        "BQ-01",
        "all_hands_empty",
        "When the game ends: when all hands are used up, as the text says, or as soon as one seat has run out, "
        "as at the card table; cards still held then count for nothing.",
        "何時結束：所有人手牌全部出完（原文），或有一家先出完即結束（實牌玩法），此時手上剩牌不計分。",
        impact="M",
    )
    lone_seven_combine: Literal["cumulative", "replace", "inclusive"] = toggle(
        "BQ-02",
        "cumulative",
        "How a lone seven's eightfold goes with the doubling of its player's pass: on top of it, instead of it, or "
        "the eight includes that doubling (times 4 more); the text states both multiplications, and its 2000 points "
        "in one hand need them on top of each other.",
        "獨頭七的 8 倍與走通的加倍如何合計：相乘、取代走通的倍數，或 8 倍已含走通的 2 倍（再乘 4）；"
        "原文兩者分列，一把 2000 分也須相乘才達得到。",
        impact="H",
    )
    multiply: Literal["before_differences", "after_nonpassers_only"] = toggle(
        "BQ-03",
        "before_differences",
        "What is multiplied: the cover points, before the differences are taken, or only the final scores of those who "
        "covered; the text multiplies cover points, and only so do the scores add up to 0.",
        "倍數乘在哪裡：先乘扣牌分再算差值，或只乘有扣牌者的最後得分；原文乘的是扣牌分，也只有如此總和才為零。",
        impact="H",
    )
    four_pass: Literal["all_zero"] = toggle(
        "BQ-04",
        "all_zero",
        "What a game scores in which nobody covers; all cover points are 0, so nobody wins or pays anything.",
        "所有人都走通時如何計分；扣牌分都是 0，故人人 0 分。",
        impact="-",
    )
    covers_hidden: bool = toggle(
        "BQ-05",
        True,
        "Whether covered cards stay unknown to the others; the text is silent, cards are covered face down.",
        "扣下的牌是否不讓別人看見；原文未提，扣牌通常面朝下。",
        impact="M",
    )
    direction: Literal["clockwise"] = toggle(
        "BQ-06",
        "clockwise",
        "Which way the turn goes round; the text is silent and it makes no difference.",
        "輪流的方向；原文未提，亦無影響。",
        impact="-",
    )
    start_card: Literal["S7"] = toggle(
        "BQ-07",
        "S7",
        "Which card is led; the text has the holder of the seven of spades lead it.",
        "先出哪張牌；原文由持有黑桃 7 者先出黑桃 7。",
        impact="-",
    )
    lone_seven_suits: Literal["any_7"] = toggle(
        "BQ-08",
        "any_7",
        "Which 7 may be a lone seven; the text says any, and S7 never is, as it is led first.",
        "哪些 7 可成為獨頭七；原文為任意一張 7，而黑桃 7 一開始就打出，不可能是獨頭七。",
        impact="-",
    )
    must_play_live: Literal[True] = toggle(
        "BQ-10",
        True,
        "Whether a live card must be played; the text says so.",
        "有活牌時是否必須打出；原文明言。",
        impact="-",
    )
    winner: Literal["fewest_cover_points"] = toggle(
        "BQ-11",
        "fewest_cover_points",
        "Who wins: the seats with the fewest cover points share the win; the text says so. These also score most.",
        "誰獲勝：扣牌點數最少者，同分者平分；原文明言，得分也最高。",
    )
    lone_seven_needs_single_passer: bool = toggle(
        "BQ-13",
        False,
        "Whether a lone seven only counts when its player is the only passer; the text defines it for one passer but "
        "multiplies for every lone seven that occurs, so several can coexist.",
        "是否只有一人走通時獨頭七才算數；原文以一人走通定義，卻又寫每出現一張就乘一次，故可並存。",
        impact="M",
    )


# --- Rules ------------------------------------------------------------------------------------------------------------

CUMULATIVE, REPLACE, INCLUSIVE = range(3)  # BQ-02


class BieqiRules(NamedTuple):
    """The toggles as the kernel reads them."""

    seats: int
    jokers: int
    decks: int
    max_turns: int  # one card a turn
    first_empty: int  # BQ-01
    combine: int  # BQ-02
    final_scores: int  # BQ-03: whether final scores are multiplied rather than cover points
    open_covers: int  # BQ-05
    single_passer: int  # BQ-13


def make_rules(toggles: BieqiToggles, seats: int) -> BieqiRules:
    """The kernel's rules from the toggles; every combination is possible for 2 to 6 seats."""
    return BieqiRules(
        seats=seats,
        jokers=0,
        decks=1,
        max_turns=DECK,
        first_empty=int(toggles.end == "first_empty"),
        combine=("cumulative", "replace", "inclusive").index(toggles.lone_seven_combine),
        final_scores=int(toggles.multiply == "after_nonpassers_only"),
        open_covers=int(not toggles.covers_hidden),
        single_passer=int(toggles.lone_seven_needs_single_passer),
    )


# --- State ------------------------------------------------------------------------------------------------------------

SEATS = 6
DECK = 52
ALL_PIPS = 4 * 91

SEVENS = RANK_SET << 6
SPADE_SEVEN = 1 << 6

COUNTERS = (
    Counter("covers", "cards covered", "扣牌張數", bins=DECK),
    Counter("cover_points", "cover points of all seats", "全體扣牌分", bins=ALL_PIPS + 1),
    Counter("most_points", "cover points of the seat with the most", "扣牌分最多者的扣牌分"),
    Counter("fewest_points", "cover points of the seat with the fewest", "扣牌分最少者的扣牌分", bins=ALL_PIPS + 1),
    Counter(
        "first_cover_turn", "turn of the first cover", "首次扣牌的回合", bins=BY_TURN, given="covers"
    ),
    Counter("passers", "passers (seats without a cover)", "走通人數", bins=SEATS + 1),
    Counter("lone_sevens", "lone sevens (a passer's last card is a 7)", "獨頭七張數", bins=4),
    Counter("lone_seven_games", "games with a lone seven", "有獨頭七局數", yes_no=True),
    Counter("multiplier", "factor on the cover points", "扣牌分倍數"),
    Counter("doublings", "doublings of the cover points", "加倍次數（2 的幾次方）"),
    Counter("score_spread", "best score less worst score", "最高分與最低分之差", bins=2001),
    Counter("best_score", "best score", "最高得分", bins=2001),
    Counter("largest_loss", "points lost by the worst score", "最低得分的失分"),
    Counter("wins_of_2000", "games in which a seat scores 2000 or more", "有人贏 2000 分以上局數", yes_no=True),
    Counter("lone_seven_2000", "games with a lone seven and a score of 2000 or more", "有獨頭七且贏 2000 分以上局數",
            yes_no=True),
    Counter("tied_winners", "seats sharing the fewest cover points", "扣牌分最少的人數", bins=SEATS + 1),
)  # fmt: skip
C: Any = namedtuple("C", [counter.name for counter in COUNTERS])(*range(len(COUNTERS)))
"""The index of each counter by name."""

RATIOS = (
    Ratio("cover_share", "covers", "turns", "share of turns without a live card", "無活牌可出回合占比"),
    Ratio("points_per_cover", "cover_points", "covers", "pips of a covered card", "每張扣牌的點數"),
    Ratio("lone_seven_2000_share", "lone_seven_2000", "lone_seven_games",
          "share of games with a lone seven in which a seat scores 2000 or more",
          "有獨頭七的局中有人贏 2000 分以上的占比"),
)  # fmt: skip

PARTITIONS = (
    Partition("sevens", tuple(str(k) for k in range(5)), "7s in the opening hand", "起手 7 張數"),
    Partition(
        "distance",
        ("near", "rather_near", "rather_far", "far"),
        "how far the opening hand is from the 7s, by quarters",
        "起手牌離 7 的遠近（四等分）",
        (("near", "近"), ("rather near", "稍近"), ("rather far", "稍遠"), ("far", "遠")),
    ),
    Partition(
        "stranded_seven",
        ("no", "yes"),
        "whether the hand holds a 7 of H, D or C that only serves its own A, 2, 3",
        "是否有花色除 7 之外只有 A、2、3",
        (("no", "否"), ("yes", "是")),
    ),
    Partition(
        "strength",
        ("weak", "rather_weak", "rather_strong", "strong"),
        "strength of the opening hand, by quarters",
        "起手牌強弱（四等分）",
        (("weak", "弱"), ("rather weak", "稍弱"), ("rather strong", "稍強"), ("strong", "強")),
    ),
)

MAIN, COVER = range(2)
PHASES = ("main", "cover_card")
CHOICES: dict[str, str | tuple[str, ...]] = {"cover_card": "card"}

STATE = np.dtype(
    [
        ("hand", np.int64, SEATS),
        ("covered", np.int64, SEATS),
        ("points", np.int64, SEATS),  # pips of the covered cards
        ("table", np.int64),
        ("open", np.int64),  # the cards that are live once S7 is led, wherever they are
        ("choice", np.int64),  # the cards the player at turn may play or, in the phase COVER, cover
        ("phase", np.int64),
        ("cur", np.int64),
        ("first", np.int64),
        ("turn", np.int64),
        ("lone", np.int64),  # seats, as a mask, whose last card was a 7
        ("first_cover", np.int64),  # turn of the first cover, 0 for none
        ("over", np.int64),
        ("largest", np.int64, SEATS),
        (
            "lacks",
            np.int64,
            SEATS,
        ),  # cards that were live when the seat covered, so that all know it has none of them
        ("last", np.int64, SEATS),  # the card the seat laid last, 0 for none
        ("count", np.int64, len(COUNTERS)),  # only tells their number; `outcome` works all of them out
    ]
)


@helper
def deal(rules, deck, number, loser, state, rng):
    """Deal everything round robin from seat 0 (L3); whoever holds S7 is the first player (L36)."""
    seats = rules.seats
    state.first = 0
    for p in range(seats):
        hand = 0
        for i in range(p, DECK, seats):
            hand |= 1 << np.int64(deck[i])
        state.hand[p] = hand
        state.covered[p] = 0
        state.points[p] = 0
        state.lacks[p] = 0
        state.last[p] = 0
        state.largest[p] = popcount(hand)
        state.first += p * (hand >> 6 & 1)
    state.cur = state.first
    state.table = 0
    state.open = SEVENS
    state.choice = SPADE_SEVEN
    state.phase = MAIN
    state.turn = 1
    state.lone = state.first_cover = state.over = 0


@helper
def _beside(cards):
    """The neighbours of cards in their suits."""
    return (cards << 1 | cards >> 1) & CARDS


@helper
def _rank(bit):
    return bit - LANE * (bit // LANE) + 1


# --- Moves ------------------------------------------------------------------------------------------------------------


@helper
def moves(rules, state, out):
    """Every legal move: live cards as card sets, or the bit positions of the cards to cover."""
    rest = state.choice
    if rest == 0:
        out[0] = 0
        return 1
    n = 0
    while rest:
        out[n] = lowest(rest) if state.phase == COVER else rest & -rest
        n += 1
        rest &= rest - 1
    return n


@helper
def pick(rules, state, rng, stream, out):
    """A uniformly random legal move and their number, in the order of `moves`, without listing them."""
    choice = state.choice
    n = popcount(choice)
    card = nth_bit(choice, below(rng, stream, n))
    return lowest(card) if state.phase == COVER else card, n


@helper
def _start_turn(rules, state, playable, log):
    """Find out what the player at turn may do: play a live card or, having none, cover any card (L48, L58)."""
    hand = state.hand[state.cur]
    live = hand & playable
    state.phase = MAIN if live else COVER
    state.choice = live if live else hand
    if recording(log):
        emit(log, TURN, state.turn, state.cur)
        if live == 0:
            emit(log, MOVE, 0)
        while live:
            emit(log, MOVE, live & -live)
            live &= live - 1


@helper
def begin(rules, state, rng, log):
    """Start the first turn, which must lead S7 (L36, L58)."""
    _start_turn(rules, state, state.open if state.table else SPADE_SEVEN, log)


@helper
def mover(rules, state):
    """The player at turn."""
    return state.cur


@helper
def is_over(rules, state):
    """Whether the game has ended."""
    return state.over != 0


@helper
def apply(rules, state, move, rng, log):
    """Lay or cover a card, and start the next turn unless the game is over."""
    seat = state.cur
    if state.phase == COVER:
        card = 1 << move
        state.covered[seat] |= card
        state.points[seat] += _rank(move)
        state.lacks[seat] |= state.open
        if state.first_cover == 0:
            state.first_cover = state.turn
        emit(log, PUT, seat, move, WORD.covered)
    else:
        card = move
        state.last[seat] = card
        state.open = state.open ^ card | _beside(card) & ~state.table
        state.table |= card
        emit(log, PLAY, seat, card, 0)
    hand = state.hand[seat] ^ card
    state.hand[seat] = hand
    if hand == 0:
        _hand_used_up(rules, state, card, log)
        if state.over:
            return
    seat = seat + 1 if seat + 1 < rules.seats else 0
    while state.hand[seat] == 0:
        seat = seat + 1 if seat + 1 < rules.seats else 0
    state.cur = seat
    state.turn += 1
    _start_turn(rules, state, state.open, log)


@outlined
def _hand_used_up(rules, state, card, log):
    """After a seat's last card: a 7 may be a lone seven (L54); the last hand, or the first (BQ-01), ends the game."""
    if card & state.table & SEVENS:
        state.lone |= 1 << state.cur
    if rules.first_empty:
        emit(log, FINISH, state.cur)
    left = 0
    for p in range(rules.seats):
        left |= state.hand[p]
    if rules.first_empty or left == 0:
        state.over = 1


# --- Results ----------------------------------------------------------------------------------------------------------


@helper
def standing(rules, state, seat):
    """Fewest cover points lead."""
    return state.points[seat]


@helper
def _doublings(rules, passers, lone):
    """How many times the cover points are doubled (L90-92; BQ-02, BQ-13)."""
    if rules.single_passer and passers != 1:
        lone = 0
    doubled = passers if passers < rules.seats else 0
    if lone == 0:
        return doubled
    if rules.combine == REPLACE:
        return 3 * lone
    return doubled + (2 if rules.combine == INCLUSIVE else 3) * lone


@helper
def outcome(rules, state, row):
    """Places by cover points (L18), scores (L60-92), shares, per-seat figures and counters."""
    seats = rules.seats
    total = 0
    fewest = ALL_PIPS
    most = 0
    passers = 0
    covers = 0
    lone = 0
    for p in range(seats):
        points = state.points[p]
        total += points
        fewest = min(fewest, points)
        most = max(most, points)
        n = popcount(state.covered[p])
        covers += n
        passers += n == 0
        lone += (n == 0) & (state.lone >> p & 1)
        row.drawn[p] = n
        row.largest[p] = state.largest[p]
        row.out_turn[p] = 0
    doublings = _doublings(rules, passers, lone)
    _score(rules, state, row, total, doublings, lone)
    winners = 0
    for p in range(seats):
        place = 1
        for q in range(seats):
            place += state.points[q] < state.points[p]
        row.place[p] = place
        winners += place == 1
    for p in range(seats):
        row.share[p] = SHARE // winners if row.place[p] == 1 else 0
    row.outcome = WIN
    row.turns = state.turn
    row.first = state.first
    row.count[C.covers] = covers
    row.count[C.cover_points] = total
    row.count[C.most_points] = most
    row.count[C.fewest_points] = fewest
    row.count[C.first_cover_turn] = state.first_cover
    row.count[C.passers] = passers
    row.count[C.lone_sevens] = lone
    row.count[C.lone_seven_games] = lone > 0
    row.count[C.multiplier] = 1 << doublings
    row.count[C.doublings] = doublings
    row.count[C.tied_winners] = winners


@helper
def _score(rules, state, row, total, doublings, lone):
    """Everybody's score, and the counters of scores (L60-92; BQ-03)."""
    best = 0
    worst = 0
    for p in range(rules.seats):
        score = total - rules.seats * state.points[p]
        if not (rules.final_scores and state.covered[p] == 0):
            score <<= doublings
        row.score[p] = score
        best = max(best, score)
        worst = min(worst, score)
    row.count[C.best_score] = best
    row.count[C.largest_loss] = -worst
    row.count[C.score_spread] = best - worst
    row.count[C.wins_of_2000] = best >= 2000
    row.count[C.lone_seven_2000] = (best >= 2000) & (lone > 0)


DISTANCES = np.array(
    [sum(RANK_SET << (r - 1) for r in range(1, 14) if abs(r - 7) >= d) for d in range(1, 7)], np.int64
)
"""The cards at least 1, 2, ... 6 steps away from their 7."""


LOW = RANK_SET * 0b111  # A, 2, 3
NEITHER = CARDS & ~LOW & ~SEVENS


@helper
def _stranded(hand):
    """The suits H, D, C, as their Aces, of which the hand holds the 7 and besides it only A, 2, 3, at least one (L118).

    All suits at once: a lane in which a card is held overflows into its guard bit when its largest value is added.
    """
    low = ((hand & LOW) + CARDS) >> 13
    other = ((hand & NEITHER) + CARDS) >> 13
    return hand >> 6 & low & ~other & (RANK_SET - 1)


@helper
def opening(rules, state, seat, classes):
    """The opening hand, and its class in each partition.

    A hand's strength (L114-116) goes by its burden: four for every step between a card and its 7, which makes it likely
    to be covered, and its pips, which are then paid. Among small numbers four to one foretells cover points best; it
    explains about a fifth of their variance for random and for greedy players alike. The burdens 240, 258 and 276 cut
    the random hands of 13 cards into quarters; hands of other sizes are measured by the burden of a card.
    """
    hand = state.hand[seat]
    classes[0] = popcount(hand & SEVENS)
    steps = 0
    for cards in DISTANCES:
        steps += popcount(hand & cards)
    share = 100 * steps
    size = popcount(hand)
    classes[1] = (share >= 292 * size) + (share >= 323 * size) + (share >= 354 * size)
    classes[2] = _stranded(hand) != 0
    burden = 13 * (4 * steps + _pips(hand))
    classes[3] = (burden <= 240 * size) + (burden <= 258 * size) + (burden <= 276 * size)
    return hand


# --- Features ---------------------------------------------------------------------------------------------------------

FEATURES = (
    Feature("points", "pips of the card", "該牌點數"),
    Feature("clean_points", "its pips, while oneself has not covered yet", "自己尚未扣牌時的該牌點數"),
    Feature("seven", "whether it is a 7", "該牌是否為 7"),
    Feature("stranded_seven", "whether it is a 7 that only serves one's own A, 2, 3", "是否為只接 A、2、3 的 7"),
    Feature("opens_own", "own cards that it makes live", "使自己成為活牌的張數"),
    Feature("opens_others", "cards of others, as far as known, that it makes live", "使他人可能成為活牌的張數"),
    Feature("own_behind", "own cards further out in the suit, not cut off", "同花色更外側、自己仍可能出的張數"),
    Feature("own_points_behind", "their pips", "其點數和"),
    Feature("others_behind", "cards of others further out, not cut off", "同花色更外側、他人仍可能出的張數"),
    Feature("blocks_clean", "the same, times the other seats without a cover", "同上，乘以尚未扣牌的他家數"),
    Feature("dead", "whether a covered card has cut it off for good", "是否已被扣牌斷掉、不可能再出"),
    Feature("missing", "cards still missing between the table and the card", "與桌面之間還缺的張數"),
    Feature("opens_needed", "cards of others that it makes live, while the partner is proved to have no live card",
            "搭檔已知無活牌時，使他人可能成為活牌的張數", partner="signals"),
    Feature("opens_rivals", "the same, times the other seats proved to have no live card",
            "同上，改乘以搭檔以外已知無活牌的家數", partner="signals"),
    Feature("follows_partner", "whether it lies further out than the card the partner laid last, in the same suit",
            "是否在搭檔最後所出之牌的同花色更外側", partner="signals"),
    Feature("blocks_partner", "cards of others further out, not cut off, while the partner has not covered",
            "搭檔尚未扣牌時，同花色更外側、他人仍可能出的張數", partner="signals"),
    Feature("opens_partner", "the partner's cards that it makes live", "使搭檔成為活牌的張數", partner="hands"),
    Feature("partner_behind", "the partner's cards further out, not cut off", "同花色更外側、搭檔仍可能出的張數",
            partner="hands"),
    Feature("partner_points_behind", "their pips", "其點數和", partner="hands"),
    Feature("partner_clean_behind", "their number, while the partner has not covered", "搭檔尚未扣牌時的上述張數",
            partner="hands"),
)  # fmt: skip
F: Any = namedtuple("F", [feature.name for feature in FEATURES])(*range(len(FEATURES)))
"""The index of each feature by name."""

PIPS = np.array([sum(RANK_SET << (r - 1) for r in range(1, 14) if r >> k & 1) for k in range(4)], np.int64)
"""The cards whose pips have bit k set: a card set's pips are the sum of 2^k times its cards in PIPS[k]."""


@helper
def _pips(cards):
    """The pips of a card set, summed."""
    total = 0
    for k in range(4):
        total += popcount(cards & PIPS[k]) << k
    return total


@helper
def _outside(card):
    """The cards of the suit that can only be laid after this one (a bit position): those further from the 7."""
    suit = card // LANE
    rank = card - LANE * suit + 1
    cards = 0
    if rank >= 7:
        cards |= LANE_MASK >> rank << rank
    if rank <= 7:
        cards |= (1 << (rank - 1)) - 1
    return cards << (LANE * suit)


@helper
def _inside(card):
    """The cards of the suit that must be laid before this one (a bit position): from the 7 on."""
    suit = card // LANE
    rank = card - LANE * suit + 1
    cards = (1 << max(rank, 7)) - (1 << (min(rank, 7) - 1))
    return (cards & ~(1 << (rank - 1))) << (LANE * suit)


@helper
def _cut_off(rules, state, seat):
    """The cards that covered cards which the seat knows of have cut off, those included (BQ-05)."""
    known = state.covered[seat]
    if rules.open_covers:
        for p in range(rules.seats):
            known |= state.covered[p]
    cards = known
    while known:
        cards |= _outside(lowest(known))
        known &= known - 1
    return cards


@helper
def features(rules, state, move, x):
    """What the player at turn knows of a card to lay or cover: own hand and covers, the table, who has covered."""
    seat = state.cur
    card = lowest(move) if state.phase == MAIN else move
    bit = 1 << card
    dead = _cut_off(rules, state, seat)
    own = state.hand[seat] & ~bit & ~dead
    others = CARDS & ~state.table & ~state.hand[seat] & ~dead
    outside = _outside(card)
    rank = _rank(card)
    note(x, F.points, rank)
    note(x, F.clean_points, rank * (state.covered[seat] == 0))
    note(x, F.own_behind, popcount(own & outside))
    note(x, F.own_points_behind, _pips(own & outside))
    behind = popcount(others & outside)
    note(x, F.others_behind, behind)
    clean = 0
    for p in range(rules.seats):
        clean += (p != seat) & (state.covered[p] == 0)
    note(x, F.blocks_clean, behind * clean)
    if state.phase == MAIN:
        opened = _beside(bit) & ~state.table
        note(x, F.seven, bit & SEVENS != 0)
        note(x, F.stranded_seven, (_stranded(state.hand[seat] & (bit | outside)) != 0) * (rank == 7))
        note(x, F.opens_own, popcount(opened & own))
        note(x, F.opens_others, popcount(opened & others))
    else:
        opened = 0
        note(x, F.dead, bit & dead != 0)
        note(x, F.missing, popcount(_inside(card) & ~state.table))
    if paired(x) and rules.seats >= 4 and rules.seats % 2 == 0:
        partner = (seat + rules.seats // 2) % rules.seats
        _public_partner(rules, state, partner, bit, popcount(opened & others), state.open & others, behind, x)
        _told_partner(state, partner, opened, outside & ~dead, x)


@helper
def _public_partner(rules, state, partner, bit, opened, live, behind, x):
    """What everybody knows and matters to somebody who plays for the seat opposite as well.

    A card that a move makes live is in nobody's `lacks`, as a card stays live until it is laid. But a seat that lacks
    every live card of others (`live`, as far as the mover knows) needs new ones most.
    """
    note(x, F.opens_needed, opened * (live & ~state.lacks[partner] == 0))
    stuck = 0
    for p in range(rules.seats):
        stuck += (p != state.cur) & (p != partner) & (live & ~state.lacks[p] == 0)
    note(x, F.opens_rivals, opened * stuck)
    last = state.last[partner]
    note(x, F.follows_partner, last != 0 and bit & _outside(lowest(last)) != 0)
    note(x, F.blocks_partner, behind * (state.covered[partner] == 0))


@helper
def _told_partner(state, partner, opened, outside, x):
    """What matters to somebody who plays for the seat opposite as well and has been told its hand."""
    held = state.hand[partner]
    behind = popcount(held & outside)
    note(x, F.opens_partner, popcount(opened & held & outside))
    note(x, F.partner_behind, behind)
    note(x, F.partner_points_behind, _pips(held & outside))
    note(x, F.partner_clean_behind, behind * (state.covered[partner] == 0))


@helper
def cost(rules, state, move):
    """The pips shown beside a card to lay: what it would cost to cover it."""
    return _pips(move)


# --- What a seat has seen ---------------------------------------------------------------------------------------------

MEMORY = np.dtype(
    [
        ("table", np.int64),
        ("covers", np.int64),  # cards covered so far, and of each:
        ("coverer", np.int64, DECK),
        ("live", np.int64, DECK),  # the cards then live: neither it nor any that stayed in that hand is one
    ]
)


@helper
def _note_cover(memory, seat, live):
    memory.coverer[memory.covers] = seat
    memory.live[memory.covers] = live
    memory.covers += 1


@helper
def forget(rules, state, memory):
    """Nothing is known of a hand, nor of a card that lies covered, but that neither can be a 7."""
    memory.table = state.table
    memory.covers = 0
    for p in range(rules.seats):
        for _ in range(popcount(state.covered[p])):
            _note_cover(memory, p, SEVENS)


@helper
def remember(rules, memory, event, a, b, c, d):
    """Table cards, covers, and what a cover proves: that the seat had no live card (L48, L58)."""
    if event == PLAY:
        memory.table |= b
    elif event == PUT:
        _note_cover(memory, a, (SEVENS | _beside(memory.table)) & ~memory.table)


@helper
def resample(rules, state, memory, seat, rng, stream):
    """The hands of the others and, unless they lie open (BQ-05), their covers: uniform over all that covers prove.

    A live card stays live until it is laid, so a later cover excludes every card that is still hidden and that an
    earlier one excludes. Where places draw their cards in turn, the latest cover first, each draws from cards that all
    places after it could hold as well: the draws of the others leave it as many choices whatever they are.
    """
    hidden = 0
    for p in range(rules.seats):
        if p != seat:
            hidden |= state.hand[p] if rules.open_covers else state.hand[p] | state.covered[p]
    dealt = 1 << seat
    for k in range(memory.covers - 1, -1, -1):
        p = memory.coverer[k]
        if p == seat:
            continue
        if not dealt >> p & 1:
            dealt |= 1 << p
            state.hand[p] = some_of(hidden & ~memory.live[k], popcount(state.hand[p]), rng, stream)
            hidden ^= state.hand[p]
            if not rules.open_covers:
                state.covered[p] = 0
                state.points[p] = 0
        if not rules.open_covers:
            card = some_of(hidden & ~memory.live[k], 1, rng, stream)
            hidden ^= card
            state.covered[p] |= card
            state.points[p] += _rank(lowest(card))
    for p in range(rules.seats):
        if not dealt >> p & 1:
            state.hand[p] = some_of(hidden, popcount(state.hand[p]), rng, stream)
            hidden ^= state.hand[p]


# --- Positions --------------------------------------------------------------------------------------------------------


class BieqiPosition(PositionModel):
    """A position; cards that it names nowhere take no part. Nobody's last card so far counts as a lone seven."""

    table: list[Card] = []
    covered: list[list[Card]] = []
    stock: list[Card] = Field([], max_length=0)


def from_position(
    rules: BieqiRules, position: BieqiPosition, state: Any, shuffled: Callable[[list[int]], list[int]]
) -> None:
    """Set `state` to a given position (DESIGN, Positions). Raises ImpossiblePosition with the reason."""
    for name in STATE.names or ():
        state[name] = 0
    hands = [mask_of(hand) for hand in position.hands]
    table = mask_of(position.table)
    covered = _covered(position)
    _check_table(table)
    _check_seats(position, table, hands, covered)
    state.hand[: rules.seats] = hands
    state.covered[: rules.seats] = covered
    state.points[: rules.seats] = [sum(bit % LANE + 1 for bit in bits_of(cards)) for cards in covered]
    state.largest[: rules.seats] = [hand.bit_count() for hand in hands]
    state.table = table
    state.open = ((table << 1 | table >> 1) & CARDS | SEVENS) & ~table
    state.cur = state.first = position.to_move
    state.choice = hands[position.to_move] & int(state.open) if table else SPADE_SEVEN
    state.turn = 1


def _covered(position: BieqiPosition) -> list[int]:
    """The covered cards by seat; none when the position leaves them out."""
    if not position.covered:
        return [0] * len(position.hands)
    if len(position.covered) != len(position.hands):
        raise ImpossiblePosition("covered", f"{len(position.covered)} lists for {len(position.hands)} seats")
    seen = {card for cards in (position.table, *position.hands) for card in cards}
    for card in (card for cards in position.covered for card in cards):
        if card in seen:
            raise ImpossiblePosition("covered", f"{card} stands in two places")
        seen.add(card)
    return [mask_of(cards) for cards in position.covered]


def _check_table(table: int) -> None:
    """Every opened suit is a row without holes that contains its 7; S7 comes first."""
    if table and not table & SPADE_SEVEN:
        raise ImpossiblePosition("table", "S7 is missing; it is led")
    for suit, name in enumerate(SUITS):
        lane = table >> (LANE * suit) & LANE_MASK
        if lane and not lane >> 6 & 1:
            raise ImpossiblePosition("table", f"{name}7 is missing; every suit starts with its 7")
        if lane and (lane // (lane & -lane) + 1).bit_count() > 1:
            raise ImpossiblePosition("table", f"suit {name} has a hole")


def _check_seats(position: BieqiPosition, table: int, hands: list[int], covered: list[int]) -> None:
    """What a seat can hold, and what it can have covered."""
    seat = position.to_move
    if not hands[seat]:
        raise ImpossiblePosition("to_move", f"seat {seat} has no cards")
    if not table and not hands[seat] & SPADE_SEVEN:
        raise ImpossiblePosition("to_move", f"seat {seat} must lead S7 and does not hold it")
    for seat, (hand, cards) in enumerate(zip(hands, covered, strict=True)):
        if (hand | cards | table) & ~CARDS:
            raise ImpossiblePosition("hands", "this game has no Jokers")
        if cards and not table:
            raise ImpossiblePosition("covered", "nobody covers before S7 is led")
        if cards & SEVENS or (cards and hand & SEVENS):
            raise ImpossiblePosition("covered", f"seat {seat} had a 7 to play; a 7 is always live")


def to_position(rules: BieqiRules, state: Any) -> dict[str, Any]:
    """The state in a position file's own keys."""
    seats = range(rules.seats)
    return {
        "hands": [card_names(state.hand[seat]) for seat in seats],
        "table": card_names(state.table),
        "covered": [card_names(state.covered[seat]) for seat in seats],
        "stock": [],
        "to_move": int(state.cur),
    }


GAME = Game(
    name="bieqi",
    title={"en": "Bie Qi", "zh-Hant": "憋七"},
    prose=PROSE,
    Toggles=BieqiToggles,
    Position=BieqiPosition,
    Rules=BieqiRules,
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
    cost={"en": "points", "zh-Hant": "點數"},
    scored=1,
    usual={"seats": 4, "jokers": 0, "decks": 1},
    max_moves=64,
    module=sys.modules[__name__],
)
