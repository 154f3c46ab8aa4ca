"""心臟病 heart_attack: call, turn a card, and slap when they agree (S2; RULES.md section 6).

The rules in prose. 52 cards are dealt face down into stacks that nobody looks at. In turn each seat turns the top card
of its stack onto the centre pile and calls the next number; the calls run 1 to 13 round and round. When call and rank
agree everybody slaps and the last to slap takes the pile under his stack. When they do not agree and somebody slaps
all the same, the first to do so takes it. Nobody takes when it cannot be told who was last, or first. Who takes turns
next and calls 1. A seat whose last card did not bring the pile back has won.

The encoding of moves. There is nothing to choose but when to slap, so every turn has the one move 0: turn your card.
Who slaps when comes from the reaction model, a part of its own (`_slaps`) that knows nothing of stacks and piles and
may be replaced: it is asked whose hands come down and after how many milliseconds, for given seats and a given reason.
It reads a script of slap times first, while there is one (positions, tests), and else draws times from the CHANCE
stream. Times are whole milliseconds before anything is compared, so that the last digits of a logarithm decide nothing.
"""

from __future__ import annotations

import math
import sys
from collections import namedtuple
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
from pydantic import BeforeValidator, Field, create_model

from sim.cards import LANE, card_name, parse_card
from sim.events import DRAW, FINISH, LOSE, MOVE, PLAY, SLAP, TIME, TURN, WORD, emit, recording
from sim.games import (
    BY_TURN,
    DRAWN,
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
from sim.jit import helper, lowest, nth_bit, popcount
from sim.rng import CHANCE, below, shuffle

PROSE = {
    "en": "Cards are turned onto a pile in turn while the calls run 1 to 13. When call and card agree everybody slaps "
    "and the last takes the pile; who slaps wrongly takes it too. The first to be rid of all cards wins.",
    "zh-Hant": "大家輪流喊 1 到 13 並翻牌到中央；喊數與牌面相同時一起拍牌，最慢者收走中央牌堆，誤拍者也要收牌。"
    "先出完自己的牌者勝。",
}

SEATS = 10


# --- Toggles ----------------------------------------------------------------------------------------------------------


class HeartAttackFrame(ToggleModel):
    """Every rule of heart_attack that can be set, in the order of the rules table, and the reactions of all seats."""

    tie: Literal["nobody_takes", "re_slap", "random_of_tied"] = toggle(
        "HA-01",
        "nobody_takes",
        "What happens when it cannot be told who was last (or first): nobody takes, those concerned slap again, or one "
        "of them takes at random; in the text nobody takes.",
        "無法判斷誰最慢（或最先誤拍）時：無人收牌、相關者重拍，或隨機一人收牌；原文為無人收牌。",
    )
    end: Literal[
        "last_card_resolved", "needs_k_more_slaps", "until_one_left", "most_cards_loses_after_52"
    ] = toggle(
        "HA-02",
        "last_card_resolved",
        "When the game ends: a last card that did not bring the pile back wins (the text); k more slaps without "
        "being last are needed; the only seat with cards left loses; or most cards lose after 52 flips. "
        "Where the game goes on, a seat without cards still slaps.",
        "何時結束：最後一張翻出而未收回牌者勝（原文）；出完後還要成功拍牌 k 次；只剩一家有牌時該家輸；"
        "或翻 52 張後牌最多者輸。遊戲未結束前，沒有牌的人仍要拍牌。",
        impact="H",
    )
    k: int = toggle(
        "HA-02",
        1,
        "How many slaps a seat without cards must still get through under needs_k_more_slaps; the text only says "
        "several, one is the least.",
        "needs_k_more_slaps 時，出完牌者還要成功拍牌幾次；原文只說幾次，預設取最少的一次。",
        impact="M",
        ge=1,
        le=10,
    )
    false_slap_penalty: Literal["take_pile", "none"] = toggle(
        "HA-03",
        "take_pile",
        "Whether the first to slap wrongly takes the pile; the text says so.",
        "最先誤拍者是否收牌；原文為收牌。",
        impact="M",
    )
    restart_call: Literal[1, "continue"] = toggle(
        "HA-04",
        1,
        "Where the calls go on after a take: at 1, as the text has it, or with the next number.",
        "收牌後從 1 重新喊數（原文），或接著往下喊。",
    )
    pickup_order: Literal["fifo", "reversed", "shuffled"] = toggle(
        "HA-05",
        "fifo",
        "How the pile goes under the stack: first turned on top, as a block turned over lies; reversed; or shuffled. "
        "The text is silent.",
        "中央牌堆收到牌底的順序：先翻的先出（整疊翻面）、反序或洗過；原文未提，取整疊翻面。",
    )
    counter: Literal["shared", "per_player"] = toggle(
        "HA-06",
        "shared",
        "Whether all go on with one count or each seat counts its own turns; shared in the text. A take restarts "
        "the taker's own count only.",
        "大家共用一個喊數，或各人各自計數；原文為共同接續。各自計數時，只有收牌者自己重新喊起。",
    )
    deal_extra: Literal["first_seats", "random"] = toggle(
        "HA-07",
        "first_seats",
        "Who gets the extra cards of an uneven deal: the first seats, by dealing round from seat 0, or seats drawn at "
        "random; it matters, as short stacks win more often.",
        "牌數不能均分時誰多一張：依序發牌的前幾家，或隨機；牌少者較易獲勝，故有影響。",
        impact="H",
    )
    first_flipper: Literal["seat0", "random"] = toggle(
        "HA-08",
        "seat0",
        "Who turns first: seat 0 or a random seat; the text is silent. With the first seats holding the extra cards, "
        "seat 0 keeps the two effects together.",
        "誰先翻牌：0 號玩家或隨機；原文未提。",
        impact="H",
    )
    jokers: Literal[0] = toggle(
        "HA-09",
        0,
        "How many Jokers are in the deck; the text plays without.",
        "牌組中有幾張鬼牌；原文不使用。",
        impact="-",
    )
    several_false_slappers: Literal["first_only"] = toggle(
        "HA-10",
        "first_only",
        "Who takes when several slap wrongly; the first alone in the text.",
        "多人誤拍時由誰收牌；原文為最先誤拍者一人。",
        impact="-",
    )
    false_slap_in_match: Literal["cannot_happen"] = toggle(
        "HA-11",
        "cannot_happen",
        "Whether a slap can be wrong when call and card agree; any slap is right then.",
        "喊數與牌面相同時拍牌是否可能算誤拍；此時任何拍牌都正確。",
        impact="-",
    )
    reaction: Literal["lognormal", "exgaussian", "shifted_lognormal"] = toggle(
        "HA-12",
        "lognormal",
        "The distribution of reaction times; all three have the given mean and spread and a tail to the right, "
        "lognormal is the simplest.",
        "反應時間的分布；三者平均與標準差相同且右偏，對數常態最簡單。",
        impact="M",
    )
    mean_ms: int = toggle(
        "HA-12",
        450,
        "The mean reaction time of a seat in milliseconds; 450 is a choice between alternatives, not a bare reflex.",
        "平均反應時間（毫秒）；450 相當於需要判斷的反應。",
        impact="H",
        ge=50,
        le=5000,
    )
    sd_ms: int = toggle(
        "HA-12",
        120,
        "The standard deviation of reaction times in milliseconds; about a quarter of the mean is usual.",
        "反應時間的標準差（毫秒）；通常約為平均的四分之一。",
        impact="H",
        ge=0,
        le=2000,
    )
    false_rate_per_mille: int = toggle(
        "HA-12",
        10,
        "How often, in a thousand flips that do not agree, a seat slaps all the same; one in a hundred is assumed.",
        "每一千次不相符的翻牌中，一名玩家誤拍幾次；假設百分之一。",
        impact="H",
        ge=0,
        le=1000,
    )
    lapse_per_mille: int = toggle(
        "HA-12",
        0,
        "How often, in a thousand slaps, a seat dreams and is a second late; nobody does by default.",
        "每一千次拍牌中，一名玩家恍神而慢一秒幾次；預設為無。",
        impact="M",
        ge=0,
        le=1000,
    )
    tie_window_ms: int = toggle(
        "HA-12",
        30,
        "Slaps closer than so many milliseconds cannot be told apart; 1 leaves only equal times. 30 is about what an "
        "eye resolves.",
        "相差不到幾毫秒即無法分辨先後；1 表示只有同時才算。30 約為肉眼可分辨的間隔。",
        impact="M",
        ge=1,
        le=2000,
    )
    near_factor: int = toggle(
        "HA-12",
        1,
        "How many times as often a seat slaps wrongly when call and rank differ by one; no difference by default.",
        "喊數與牌面只差 1 時，誤拍機率為平常的幾倍；預設相同。",
        ge=1,
        le=100,
    )
    flipper_delay_ms: int = toggle(
        "HA-12",
        0,
        "How many milliseconds later the seat is whose hand turned the card; none by default.",
        "翻牌者因手在牌上而慢幾毫秒；預設為 0。",
        impact="M",
        ge=0,
        le=2000,
    )
    shift_ms: int = toggle(
        "HA-12",
        200,
        "The least reaction time under shifted_lognormal in milliseconds; nobody is faster than about 200.",
        "shifted_lognormal 時的最短反應時間（毫秒）；人的極限約 200。",
        ge=0,
        le=2000,
    )
    max_flips: int = toggle(
        "HA-13",
        5000,
        "After how many flips a game counts as stalled; normal games take far fewer.",
        "翻幾張牌後視為僵局；正常遊戲遠少於此。",
        impact="-",
        ge=1,
        le=20000,
    )


PER_SEAT = {
    "mean_ms": ("mean reaction time in milliseconds", "平均反應時間（毫秒）"),
    "sd_ms": ("standard deviation of the reaction time in milliseconds", "反應時間的標準差（毫秒）"),
    "false_rate_per_mille": ("false slaps in a thousand flips", "每一千次翻牌的誤拍次數"),
    "lapse_per_mille": ("lapses in a thousand slaps", "每一千次拍牌的恍神次數"),
}
"""The parameters that a seat may have of its own, under the key `seat_<number>_<parameter>`."""


def _seat_toggles() -> dict[str, Any]:
    """The toggles of single seats: the same bounds as for all seats, and none for no difference."""
    fields: dict[str, Any] = {}
    for seat in range(SEATS):
        for name, (en, zh) in PER_SEAT.items():
            least, most = (limit for limit in HeartAttackFrame.model_fields[name].metadata)
            fields[f"seat_{seat}_{name}"] = (
                int | None,
                toggle(
                    "HA-12",
                    None,
                    f"Seat {seat}'s own {en}, for players of unequal skill; none: as {name}.",
                    f"玩家 {seat} 自己的{zh}，用於實力不同的玩家；none 表示同 {name}。",
                    impact="H",
                    ge=least.ge,
                    le=most.le,
                ),
            )
    return fields


HeartAttackToggles: type[HeartAttackFrame] = create_model(
    "HeartAttackToggles", __base__=HeartAttackFrame, __module__=__name__, **_seat_toggles()
)
"""All toggles of heart_attack: those of `HeartAttackFrame`, then the reactions of single seats."""


# --- Rules ------------------------------------------------------------------------------------------------------------

NOBODY_TAKES, RE_SLAP, RANDOM_OF_TIED = range(3)  # HA-01
LAST_CARD, MORE_SLAPS, ONE_LEFT, AFTER_52 = range(4)  # HA-02
FIFO, REVERSED, SHUFFLED = range(3)  # HA-05
LOGNORMAL, EXGAUSSIAN = range(2)  # HA-12; the shifted lognormal is a lognormal with a shift


class HeartAttackRules(NamedTuple):
    """The toggles as the kernel reads them; the reactions by seat."""

    seats: int
    jokers: int  # HA-09
    decks: int
    max_turns: int  # HA-13
    tie: int  # HA-01
    ending: int  # HA-02
    more: int  # HA-02: k
    penalty: int  # HA-03
    restart: int  # HA-04
    pickup: int  # HA-05
    own_count: int  # HA-06
    random_extra: int  # HA-07
    random_first: int  # HA-08
    window: int  # ms
    near_factor: int
    flipper_delay: int  # ms
    model: int
    shift: float  # ms
    mu: tuple[float, ...]  # of the logarithm, or of the normal part in ms
    sigma: tuple[float, ...]
    tail: tuple[float, ...]  # mean of the exponential part, ms
    false_rate: tuple[int, ...]  # per mille
    lapse: tuple[int, ...]  # per mille


def make_rules(toggles: HeartAttackFrame, seats: int) -> HeartAttackRules:
    """The kernel's rules from the toggles. Raises ValueError when a mean lies below the least reaction time."""
    t = toggles
    own = {name: _by_seat(t, name) for name in PER_SEAT}
    shift = t.shift_ms if t.reaction == "shifted_lognormal" else 0
    for seat, mean in enumerate(own["mean_ms"][:seats]):
        if mean <= shift:
            raise ValueError(f"seat {seat}'s mean of {mean} ms is not above the least time of {shift} ms")
    exgaussian = t.reaction == "exgaussian"
    moments = _exgaussian if exgaussian else _lognormal
    mu, sigma, tail = zip(
        *(moments(max(mean - shift, 1), sd) for mean, sd in zip(own["mean_ms"], own["sd_ms"], strict=True)),
        strict=True,
    )
    ending = ("last_card_resolved", "needs_k_more_slaps", "until_one_left", "most_cards_loses_after_52")
    return HeartAttackRules(
        seats=seats,
        jokers=t.jokers,
        decks=1,
        max_turns=min(t.max_flips, 52) if t.end == "most_cards_loses_after_52" else t.max_flips,
        tie=("nobody_takes", "re_slap", "random_of_tied").index(t.tie),
        ending=ending.index(t.end),
        more=t.k,
        penalty=int(t.false_slap_penalty == "take_pile"),
        restart=int(t.restart_call == 1),
        pickup=("fifo", "reversed", "shuffled").index(t.pickup_order),
        own_count=int(t.counter == "per_player"),
        random_extra=int(t.deal_extra == "random"),
        random_first=int(t.first_flipper == "random"),
        window=t.tie_window_ms,
        near_factor=t.near_factor,
        flipper_delay=t.flipper_delay_ms,
        model=EXGAUSSIAN if exgaussian else LOGNORMAL,
        shift=float(shift),
        mu=mu,
        sigma=sigma,
        tail=tail,
        false_rate=own["false_rate_per_mille"],
        lapse=own["lapse_per_mille"],
    )


def _by_seat(toggles: HeartAttackFrame, name: str) -> tuple[int, ...]:
    """A reaction parameter of every seat: its own, else that of all."""
    common = int(getattr(toggles, name))
    own = [getattr(toggles, f"seat_{seat}_{name}") for seat in range(SEATS)]
    return tuple(common if value is None else int(value) for value in own)


def _lognormal(mean: float, sd: float) -> tuple[float, float, float]:
    """(mu, sigma, 0) of the lognormal distribution with this mean and standard deviation."""
    variance = math.log1p((sd / mean) ** 2)
    return math.log(mean) - variance / 2, math.sqrt(variance), 0.0


TAIL = 0.8
"""The exponential part of an ex-Gaussian's standard deviation; 0.6 is left for the normal part, as 0.6² + 0.8² = 1."""


def _exgaussian(mean: float, sd: float) -> tuple[float, float, float]:
    """(mu, sigma, tail) of the ex-Gaussian distribution with this mean and standard deviation."""
    return mean - TAIL * sd, math.sqrt(1 - TAIL**2) * sd, TAIL * sd


# --- State ------------------------------------------------------------------------------------------------------------

RING = 64
"""Places of a stack's ring: a power of two above 52, so that an index wraps by a mask."""
SCRIPT = 64
"""The most slaps a position can prescribe."""
NEVER = 1 << 20
"""The time of a seat that does not slap: later than any."""
SLOWEST = 60_000
"""A reaction time is cut off there, in ms."""
LAPSE_MS = 1000
RE_SLAPS = 10
"""How often tied seats slap again at most (HA-01); then nobody takes."""

COUNTERS = (
    Counter("matches", "matches of call and card", "喊數與牌面相符次數", bins=128),
    Counter("misses", "flips without a match", "喊數與牌面不符次數"),
    Counter("false_slaps", "flips with a false slap", "發生誤拍的次數", bins=64),
    Counter("false_slappers", "false slaps, by all seats", "誤拍總人次"),
    Counter("judged", "flips where it mattered who was last or first", "需判定先後的次數"),
    Counter("undecided", "flips too close to tell who was last", "無法判斷先後次數", bins=64),
    Counter("takes", "piles taken", "收牌次數", bins=128),
    Counter("false_takes", "piles taken for a false slap", "因誤拍收牌次數"),
    Counter("flipper_takes", "piles taken by the seat that turned the card", "翻牌者自己收牌次數"),
    Counter("taken_cards", "cards taken in piles", "收牌總張數"),
    Counter("largest_pile", "largest pile taken", "最大一次收牌張數", bins=53, given="takes"),
    Counter("first_match", "flip of the first match", "首次相符的翻牌數", bins=BY_TURN, given="matches"),
    Counter("last_cards", "last cards turned", "翻出最後一張牌次數"),
    Counter("last_card_returns", "last cards that brought the pile back", "翻出最後一張後又收回牌次數"),
    Counter("centre_left", "cards left in the centre at the end", "終局中央牌堆張數", bins=53),
)
C: Any = namedtuple("C", [counter.name for counter in COUNTERS])(*range(len(COUNTERS)))
"""The index of each counter by name."""

RATIOS = (
    Ratio("match_share", "matches", "turns", "share of flips where call and card agree", "相符的翻牌占比"),
    Ratio("false_slap_share", "false_slaps", "misses",
          "share of other flips with a false slap", "不符時有人誤拍的占比"),
    Ratio("undecided_share", "undecided", "judged", "share of judgements too close to tell", "無法判斷先後的占比"),
    Ratio("cards_per_take", "taken_cards", "takes", "cards per pile taken", "每次收牌張數"),
    Ratio("flipper_take_share", "flipper_takes", "takes",
          "share of piles taken by who turned the card", "翻牌者收牌占比"),
    Ratio("last_card_return_share", "last_card_returns", "last_cards", "share of last cards that bring the pile back",
          "最後一張翻出後又收回牌的占比"),
)  # fmt: skip

PARTITIONS = (
    Partition(
        "stack",
        ("even", "short", "long"),
        "size of the stack dealt: all equal, one card fewer, one card more",
        "起始牌疊：張數相同、少一張或多一張",
        (("all equal", "張數相同"), ("one card fewer", "少一張"), ("one card more", "多一張")),
    ),
)

PHASES = ("main",)
CHOICES: dict[str, str | tuple[str, ...]] = {}
FEATURES: tuple[Feature, ...] = ()

STATE = np.dtype(
    [
        ("stack", np.uint8, (SEATS, RING)),  # a ring a seat: stack[p, (top[p] + i) % RING] for i < held[p]
        ("top", np.int64, SEATS),
        ("held", np.int64, SEATS),
        ("centre", np.uint8, 52),  # in the order turned
        ("centre_held", np.int64),
        ("call", np.int64, SEATS),  # the next call; of all seats in call[0] unless each counts its own
        ("time", np.int64, SEATS),  # ms of the present slap, or NEVER
        ("script", np.int64, (SCRIPT, SEATS)),  # prescribed slaps, NEVER for none
        ("script_at", np.int64),
        ("script_end", np.int64),
        ("good_slaps", np.int64, SEATS),  # slaps got through since the stack ran out (HA-02)
        ("phase", np.int64),
        ("turn", np.int64),
        ("cur", np.int64),
        ("first", np.int64),
        ("over", np.int64),  # 0, or the outcome's code + 1
        ("named", np.int64),  # mask of the winners, or of the losers
        ("drawn", np.int64, SEATS),
        ("largest", np.int64, SEATS),
        ("count", np.int64, len(COUNTERS)),
    ]
)


@helper
def deal(rules, deck, number, loser, state, rng):
    """Deal all cards round robin, the first on top; the extra cards go to the first seats or to random ones (HA-07).

    The extra card lies at the bottom, so that both ways of dealing turn the same cards until the first stack ends.
    """
    seats = rules.seats
    _clear(state)
    size = 52 // seats
    for p in range(seats):
        for i in range(size):
            state.stack[p, i] = deck[i * seats + p]
        state.held[p] = size
    at = seats * size
    for p in range(seats):
        extra = 52 - at
        if extra and (not rules.random_extra or below(rng, CHANCE, seats - p) < extra):
            state.stack[p, size] = deck[at]
            state.held[p] += 1
            at += 1
        state.largest[p] = state.held[p]
    if rules.random_first:
        state.first = below(rng, CHANCE, seats)
    state.cur = state.first


@helper
def _clear(state):
    for p in range(SEATS):
        state.top[p] = 0
        state.held[p] = 0
        state.call[p] = 1
        state.good_slaps[p] = 0
        state.drawn[p] = 0
        state.largest[p] = 0
    for k in range(state.count.size):
        state.count[k] = 0
    state.centre_held = state.script_at = state.script_end = 0
    state.phase = state.first = state.over = state.named = 0
    state.turn = 1


# --- The reaction model (6.2) -----------------------------------------------------------------------------------------


@helper
def _uniform(rng):
    """A uniform number in the open interval (0, 1), from 31 bits of the table's chance."""
    return (below(rng, CHANCE, 1 << 31) + 0.5) / (1 << 31)


@helper
def _normal(rng):
    """A standard normal number (Marsaglia's polar method, one of its pair)."""
    while True:
        x = 2.0 * _uniform(rng) - 1.0
        y = 2.0 * _uniform(rng) - 1.0
        s = x * x + y * y
        if s < 1.0:
            return x * math.sqrt(-2.0 * math.log(s) / s)


@helper
def _reaction(rules, seat, rng):
    """A reaction time of the seat in whole milliseconds, at least 1."""
    z = rules.mu[seat] + rules.sigma[seat] * _normal(rng)
    gaussian = rules.model == EXGAUSSIAN
    ms = z - rules.tail[seat] * math.log(_uniform(rng)) if gaussian else rules.shift + math.exp(z)
    return np.int64(min(max(ms + 0.5, 1.0), float(SLOWEST)))


@helper
def _slaps(rules, state, asked, due, near, rng):
    """Who slaps when: writes `state.time` of the seats `asked` (a mask), and returns the mask of those that slap.

    `due`: every asked seat has a reason to slap; else each errs by its rate, oftener when call and card are `near`.
    """
    slapped = 0
    scripted = state.script_at < state.script_end
    for p in range(rules.seats):
        state.time[p] = NEVER
        if asked >> p & 1 == 0:
            continue
        if scripted:
            state.time[p] = state.script[state.script_at, p]
        elif due or _errs(rules, p, near, rng):
            state.time[p] = _reaction(rules, p, rng)
            if p == state.cur:
                state.time[p] += rules.flipper_delay
            if due and rules.lapse[p] and below(rng, CHANCE, 1000) < rules.lapse[p]:
                state.time[p] += LAPSE_MS
        slapped |= (state.time[p] < NEVER) << p
    state.script_at += scripted
    return slapped


@helper
def _errs(rules, seat, near, rng):
    """Whether the seat slaps where call and card differ."""
    rate = rules.false_rate[seat]
    if near:
        rate *= rules.near_factor
    return rate and below(rng, CHANCE, 1000) < rate


# --- A flip -----------------------------------------------------------------------------------------------------------


@helper
def _tied(rules, state, among, last):
    """Of the seats `among` (a mask), those that may have been last (or first): one seat when it can be told who was.

    Two times are told apart when they differ by the tie window or more; who does not slap is later than all who do.
    """
    sign = 1 if last else -1
    extreme = -2 * NEVER
    for p in range(rules.seats):
        if among >> p & 1:
            extreme = max(extreme, sign * state.time[p])
    tied = 0
    for p in range(rules.seats):
        if among >> p & 1 and extreme - sign * state.time[p] < rules.window:
            tied |= 1 << p
    return tied


@helper
def _log_slap(rules, state, slapped, taker, log):
    """Log who slapped when, if anybody did."""
    if recording(log) and slapped:
        emit(log, SLAP, taker)
        for p in range(rules.seats):
            if slapped >> p & 1:
                emit(log, TIME, p, state.time[p])


@helper
def _judge(rules, state, match, near, rng, log):
    """Let everybody slap that will, as often as the rules want; returns the seat that takes the pile, or -1 (6.1).

    At a match all are expected to slap, and who does not counts as last.
    """
    asked = (1 << rules.seats) - 1
    for attempt in range(RE_SLAPS + 1):
        slapped = _slaps(rules, state, asked, match or attempt > 0, near, rng)
        among = asked if match else slapped
        if attempt == 0 and not match:
            state.count[C.false_slaps] += slapped != 0
            state.count[C.false_slappers] += popcount(slapped)
        if among == 0:
            return -1
        if not match and not rules.penalty:
            _log_slap(rules, state, slapped, -1, log)
            return -1
        tied = _tied(rules, state, among, match)
        decided = tied & (tied - 1) == 0
        if attempt == 0:
            state.count[C.judged] += 1
            state.count[C.undecided] += not decided
        taker = -1
        if decided:
            taker = lowest(tied)
        elif rules.tie == RANDOM_OF_TIED:
            taker = lowest(nth_bit(tied, below(rng, CHANCE, popcount(tied))))
        _log_slap(rules, state, slapped, taker, log)
        if taker >= 0 or rules.tie == NOBODY_TAKES:
            return taker
        asked = tied
    return -1


@helper
def _take(rules, state, taker, rng, log):
    """The pile goes under the taker's stack (HA-05), and the call starts anew (HA-04)."""
    cards = state.centre_held
    if rules.pickup == SHUFFLED:
        shuffle(rng, CHANCE, state.centre, 0, cards)
    end = state.top[taker] + state.held[taker]
    for i in range(cards):
        card = state.centre[cards - 1 - i if rules.pickup == REVERSED else i]
        state.stack[taker, (end + i) & (RING - 1)] = card
        emit(log, DRAW, taker, np.int64(card), WORD.pile)
    state.centre_held = 0
    state.held[taker] += cards
    state.good_slaps[taker] = 0
    state.drawn[taker] += cards
    state.largest[taker] = max(state.largest[taker], state.held[taker])
    state.count[C.takes] += 1
    state.count[C.taken_cards] += cards
    state.count[C.largest_pile] = max(state.count[C.largest_pile], cards)
    if rules.restart:
        state.call[taker if rules.own_count else 0] = 1


@helper
def _turn_card(rules, state, log):
    """Turn the top card onto the pile and call; returns rank minus call."""
    seat = state.cur
    card = np.int64(state.stack[seat, state.top[seat]])
    state.top[seat] = (state.top[seat] + 1) & (RING - 1)
    state.held[seat] -= 1
    state.centre[state.centre_held] = card
    state.centre_held += 1
    emit(log, PLAY, seat, 1 << card, 0)
    counter = seat if rules.own_count else 0
    call = state.call[counter]
    state.call[counter] = call + 1 if call < 13 else 1
    return card - LANE * (card // LANE) + 1 - call


@helper
def apply(rules, state, move, rng, log):
    """Turn a card, judge the slaps, and go on to the next turn or the end (6.1: turn, call, slaps, take, win test)."""
    seat = state.cur
    empty = _empty(rules, state)
    difference = _turn_card(rules, state, log)
    match = difference == 0
    if match:
        state.count[C.matches] += 1
        if state.count[C.first_match] == 0:
            state.count[C.first_match] = state.turn
    taker = _judge(rules, state, match, abs(difference) == 1, rng, log)
    if taker >= 0:
        state.count[C.false_takes] += not match
        state.count[C.flipper_takes] += taker == seat
        last_card = state.held[seat] == 0
        state.count[C.last_cards] += last_card
        state.count[C.last_card_returns] += last_card and taker == seat
        _take(rules, state, taker, rng, log)
        if match:
            for p in range(rules.seats):
                state.good_slaps[p] += empty >> p & 1 and p != taker
    else:
        state.count[C.last_cards] += state.held[seat] == 0
    _end_test(rules, state, seat, log)
    if state.over == 0:
        _next_turn(rules, state, taker, log)


@helper
def _empty(rules, state):
    """The mask of the seats without cards."""
    empty = 0
    for p in range(rules.seats):
        empty |= (state.held[p] == 0) << p
    return empty


@helper
def _end_test(rules, state, flipper, log):
    """Whether the game ends after this flip, and for whom (HA-02, L127; HA-13)."""
    if rules.ending == LAST_CARD:
        if state.held[flipper] == 0:
            emit(log, FINISH, flipper)
            state.named = 1 << flipper
            state.over = WIN + 1
    elif rules.ending == MORE_SLAPS:
        _end_by_slaps(rules, state, log)
    elif rules.ending == ONE_LEFT:
        if state.held[flipper] == 0:
            emit(log, FINISH, flipper)
            left = ((1 << rules.seats) - 1) & ~_empty(rules, state)
            if left & (left - 1) == 0:
                _lose(rules, state, left, log)
    elif state.turn >= 52 or _empty(rules, state) == (1 << rules.seats) - 1:
        _end_by_cards(rules, state, log)
    if state.over == 0 and state.turn >= rules.max_turns:
        state.over = STALLED + 1


@helper
def _end_by_slaps(rules, state, log):
    """Seats that got through their k slaps win, together if at once; drawn when nobody has a card left to turn."""
    for p in range(rules.seats):
        if state.good_slaps[p] >= rules.more:
            emit(log, FINISH, p)
            state.named |= 1 << p
    if state.named:
        state.over = WIN + 1
    elif _empty(rules, state) == (1 << rules.seats) - 1:
        state.over = DRAWN + 1


@helper
def _end_by_cards(rules, state, log):
    """The seats with most cards lose; drawn when all have equally many."""
    most = 0
    for p in range(rules.seats):
        most = max(most, state.held[p])
    losers = 0
    for p in range(rules.seats):
        losers |= (state.held[p] == most) << p
    if losers == (1 << rules.seats) - 1:
        state.over = DRAWN + 1
    else:
        _lose(rules, state, losers, log)


@helper
def _lose(rules, state, losers, log):
    for p in range(rules.seats):
        if losers >> p & 1:
            emit(log, LOSE, p)
    state.named = losers
    state.over = LOSER_FOUND + 1


@helper
def _next_turn(rules, state, taker, log):
    """The taker turns next, else the next seat clockwise that has cards."""
    if taker >= 0:
        state.cur = taker
    else:
        seat = state.cur
        while True:
            seat = seat + 1 if seat + 1 < rules.seats else 0
            if state.held[seat]:
                break
        state.cur = seat
    state.turn += 1
    _log_turn(state, log)


@helper
def _log_turn(state, log):
    if recording(log):
        emit(log, TURN, state.turn, state.cur)
        emit(log, MOVE, 0)


# --- The rest of the protocol -----------------------------------------------------------------------------------------


@helper
def begin(rules, state, rng, log):
    """Start the first turn."""
    _log_turn(state, log)


@helper
def mover(rules, state):
    """The seat that turns a card."""
    return state.cur


@helper
def moves(rules, state, out):
    """The one move there is."""
    out[0] = 0
    return 1


@helper
def pick(rules, state, rng, stream, out):
    """(0, 1): nothing to choose."""
    return 0, 1


@helper
def is_over(rules, state):
    """Whether the game has ended."""
    return state.over != 0


@helper
def standing(rules, state, seat):
    """Fewest cards lead."""
    return state.held[seat]


@helper
def cost(rules, state, move):
    """The number that will be called."""
    return state.call[state.cur if rules.own_count else 0]


@helper
def features(rules, state, move, x):
    """Nothing is known about the only move."""


@helper
def opening(rules, state, seat, classes):
    """The cards of the stack dealt, and its class: the deck divides evenly, or one card fewer or more than others."""
    cards = 0
    for i in range(state.held[seat]):
        cards |= 1 << np.int64(state.stack[seat, (state.top[seat] + i) & (RING - 1)])
    size = 52 // rules.seats
    classes[0] = 0 if size * rules.seats == 52 else 1 if state.held[seat] <= size else 2
    return cards


@helper
def outcome(rules, state, row):
    """Outcome, places (winners first, the others by stack size), win shares (in 1/2520), figures and counters."""
    state.count[C.centre_left] = state.centre_held
    state.count[C.misses] = state.turn - state.count[C.matches]
    row.outcome = state.over - 1
    row.turns = state.turn
    row.first = state.first
    won = state.named if state.over == WIN + 1 else 0
    shared = won
    if state.over == LOSER_FOUND + 1:
        shared = ((1 << rules.seats) - 1) & ~state.named
    for p in range(rules.seats):
        place = 1
        for q in range(rules.seats):
            place += _order(state, won, q) < _order(state, won, p)
        row.place[p] = place
        row.share[p] = SHARE // popcount(shared) if shared >> p & 1 else 0
        row.score[p] = 0
        row.drawn[p] = state.drawn[p]
        row.largest[p] = state.largest[p]
        row.out_turn[p] = 0
    for k in range(state.count.size):
        row.count[k] = state.count[k]


@helper
def _order(state, won, seat):
    return -1 if won >> seat & 1 else state.held[seat]


# --- What a seat has seen ---------------------------------------------------------------------------------------------
#
# Nobody looks at a stack, not even at his own, and all else lies open: every seat knows the same. A card that came into
# a stack with a pile has been seen, and so has its place, unless the pile was shuffled.

UNSEEN = 0

MEMORY = np.dtype(
    [
        (
            "pile",
            np.int64,
            (SEATS, RING),
        ),  # by place of a ring: the number of the pile its card came with, or UNSEEN
        ("end", np.int64, SEATS),  # the place behind a stack
        ("flips", np.int64),
    ]
)


@helper
def forget(rules, state, memory):
    """No card of a stack has been seen."""
    memory.flips = 0
    for p in range(SEATS):
        memory.end[p] = (state.top[p] + state.held[p]) & (RING - 1)
        for i in range(RING):
            memory.pile[p, i] = UNSEEN


@helper
def remember(rules, memory, event, a, b, c, d):
    """The cards that a pile brings into a stack. A flip brings one pile at most: its number is the flip's."""
    if event == PLAY:
        memory.flips += 1
    elif event == DRAW:
        memory.pile[a, memory.end[a]] = memory.flips
        memory.end[a] = (memory.end[a] + 1) & (RING - 1)


@helper
def _cards_of(state, memory, seat, pile):
    """The cards of a stack that came with a pile."""
    cards = 0
    for i in range(state.held[seat]):
        place = (state.top[seat] + i) & (RING - 1)
        if memory.pile[seat, place] == pile:
            cards |= 1 << np.int64(state.stack[seat, place])
    return cards


@helper
def _put_at_random(state, memory, seat, pile, cards, rng, stream):
    """Fill the places of a pile's cards in a stack with some of these. Returns those that are left."""
    for i in range(state.held[seat]):
        place = (state.top[seat] + i) & (RING - 1)
        if memory.pile[seat, place] == pile:
            card = nth_bit(cards, below(rng, stream, popcount(cards)))
            state.stack[seat, place] = lowest(card)
            cards ^= card
    return cards


@helper
def resample(rules, state, memory, seat, rng, stream):
    """All cards that nobody has seen, dealt anew to their places; and what is left in a stack of each shuffled pile."""
    unseen = 0
    for p in range(rules.seats):
        unseen |= _cards_of(state, memory, p, UNSEEN)
    for p in range(rules.seats):
        unseen = _put_at_random(state, memory, p, UNSEEN, unseen, rng, stream)
    if rules.pickup != SHUFFLED:
        return
    for p in range(rules.seats):
        mixed = UNSEEN
        for i in range(state.held[p]):
            pile = memory.pile[p, (state.top[p] + i) & (RING - 1)]
            if pile > mixed:
                mixed = pile
                _put_at_random(state, memory, p, pile, _cards_of(state, memory, p, pile), rng, stream)


# --- Positions --------------------------------------------------------------------------------------------------------


def _seat_keys(value: Any) -> Any:
    """A mapping by seat whose keys are numbers or, as YAML keys are read, digits."""
    if not isinstance(value, Mapping):
        return value
    if not all(str(seat).isdecimal() for seat in value):
        raise ValueError(f"{next(s for s in value if not str(s).isdecimal())} is no seat")
    return {int(seat): number for seat, number in value.items()}


BySeat = Annotated[dict[int, int], BeforeValidator(_seat_keys)]


class HeartAttackPosition(PositionModel):
    """A position: `hands` are stacks, top first; `centre` the pile, first turned first; `slaps` the next flips' times.

    Each flip (and each second try at a tie) uses up one entry of `slaps`; then the reaction model goes on. `call` is
    the next call, a list by seat when each seat counts its own; `flips` how many were made; `good_slaps` how many slaps
    each seat without cards got through since (needs_k_more_slaps). Cards not named are out of the game.
    """

    centre: list[Card] = []
    call: Annotated[int, Field(ge=1, le=13)] | list[Annotated[int, Field(ge=1, le=13)]] = 1
    slaps: list[BySeat] = Field([], max_length=SCRIPT)
    flips: int = Field(0, ge=0)
    good_slaps: BySeat = {}


def from_position(
    rules: HeartAttackRules,
    position: HeartAttackPosition,
    state: Any,
    shuffled: Callable[[list[int]], list[int]],
) -> None:
    """Set `state` to a given position (DESIGN, Positions). Raises ImpossiblePosition with the reason."""
    for name in STATE.names or ():
        state[name] = 0
    _check(rules, position)
    for seat, stack in enumerate(position.hands):
        state.stack[seat, : len(stack)] = [parse_card(name) for name in stack]
        state.held[seat] = state.largest[seat] = len(stack)
    state.centre[: len(position.centre)] = [parse_card(name) for name in position.centre]
    state.centre_held = len(position.centre)
    calls = position.call if isinstance(position.call, list) else [position.call] * rules.seats
    state.call[: rules.seats] = calls
    state.turn = position.flips + 1
    state.cur = state.first = position.to_move
    for seat, number in position.good_slaps.items():
        state.good_slaps[seat] = number
    state.script[:] = NEVER
    for at, times in enumerate(position.slaps):
        for seat, ms in times.items():
            state.script[at, seat] = ms
    state.script_end = len(position.slaps)


def _check(rules: HeartAttackRules, position: HeartAttackPosition) -> None:
    """What can be wrong with a position beyond a card that stands twice."""
    named = [("centre", position.centre), *(("hands", stack) for stack in position.hands)]
    for key, cards in named:
        if {"BJ", "RJ"} & set(cards):
            raise ImpossiblePosition(key, "this game has no Jokers")
    holders = [seat for seat, stack in enumerate(position.hands) if stack]
    if position.to_move not in holders:
        raise ImpossiblePosition("to_move", f"seat {position.to_move} has no card to turn")
    if rules.ending == LAST_CARD and len(holders) < rules.seats:
        raise ImpossiblePosition("hands", "a seat without cards has won, and the game is over")
    if rules.ending == ONE_LEFT and len(holders) < 2:
        raise ImpossiblePosition("hands", "only one seat has cards, and the game is over")
    if position.flips >= rules.max_turns:
        raise ImpossiblePosition("flips", f"the game ends after {rules.max_turns} flips")
    if isinstance(position.call, list) and not (rules.own_count and len(position.call) == rules.seats):
        raise ImpossiblePosition("call", "a list is for per_player counting, one call a seat")
    _check_slaps(rules, position, holders)


def _check_slaps(rules: HeartAttackRules, position: HeartAttackPosition, holders: list[int]) -> None:
    """The seats and times of prescribed slaps, and of slaps got through."""
    for times in position.slaps:
        for seat, ms in times.items():
            if seat >= rules.seats:
                raise ImpossiblePosition("slaps", f"there is no seat {seat}")
            if not 0 <= ms < NEVER:
                raise ImpossiblePosition("slaps", f"{ms} ms is no time between 0 and {NEVER - 1}")
    for seat, number in position.good_slaps.items():
        if rules.ending != MORE_SLAPS or seat >= rules.seats or seat in holders:
            raise ImpossiblePosition("good_slaps", f"seat {seat} has no slaps to get through")
        if not 0 <= number < rules.more:
            raise ImpossiblePosition("good_slaps", f"{number} is not between 0 and {rules.more - 1}")


def to_position(rules: HeartAttackRules, state: Any) -> dict[str, Any]:
    """The state in a position file's own keys."""
    stacks = [
        [card_name(state.stack[p, (int(state.top[p]) + i) % RING]) for i in range(int(state.held[p]))]
        for p in range(rules.seats)
    ]
    script = state.script[int(state.script_at) : int(state.script_end), : rules.seats].tolist()
    calls = state.call[: rules.seats].tolist()
    position = {
        "hands": stacks,
        "centre": [card_name(card) for card in state.centre[: int(state.centre_held)]],
        "call": calls if rules.own_count else calls[0],
        "to_move": int(state.cur),
        "flips": int(state.turn) - 1,
        "slaps": [{p: ms for p, ms in enumerate(times) if ms < NEVER} for times in script],
        "good_slaps": {p: int(n) for p, n in enumerate(state.good_slaps[: rules.seats]) if n},
    }
    optional = ("flips", "slaps", "good_slaps")
    return {key: value for key, value in position.items() if value or key not in optional}


GAME = Game(
    name="heart_attack",
    title={"en": "Heart Attack", "zh-Hant": "心臟病"},
    prose=PROSE,
    Toggles=HeartAttackToggles,
    Position=HeartAttackPosition,
    Rules=HeartAttackRules,
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
    cost={"en": "call", "zh-Hant": "喊數"},
    max_moves=1,
    module=sys.modules[__name__],
)
