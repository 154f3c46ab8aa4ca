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
from collections import namedtuple
from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from sim.cards import (
    BITS,
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
from sim.games import (
    BY_TURN,
    DRAWN,
    SHARE,
    STALLED,
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
    Suit,
    ToggleModel,
    toggle,
)
from sim.jit import allocating, helper, highest, lowest, nth_bit, outlined, popcount
from sim.knowledge import SHARING, share_out, some_of
from sim.rng import CHANCE, below, shuffle

PROSE = {
    "en": "Sevens without covering: any card may be played, at the price of drawing as many cards as are missing "
    "up to the nearest connected one. The first empty hand wins; too many cards in hand eliminate.",
    "zh-Hant": "不蓋牌的排七：任何牌都可出，但與最近接點相差幾張就抽幾張。先出完手牌者勝，手牌超過上限者淘汰。",
}


# --- Toggles ----------------------------------------------------------------------------------------------------------


class PaijieToggles(ToggleModel):
    """Every rule of paijie that can be set, in the order of the rules table; the defaults are version 1.1."""

    combos: bool = toggle(
        "PJ-S1",
        True,
        "Whether sets and straights may be played; the game has had them since its second stage, h1.",
        "可否出多條與順子；從第二個階段 h1 起就有。",
        impact="H",
    )
    set_exchange: bool = toggle(
        "PJ-S2",
        True,
        "Whether a set makes its player exchange cards with the stock; part of the full game, taken as new in h2.",
        "出多條時是否要與牌庫換牌；完整規則有此效果，視為 h2 加入。",
        impact="M",
    )
    straight_hit: bool = toggle(
        "PJ-S3",
        True,
        "Whether a straight makes the next seat draw; added in h2 against hoarding long straights.",
        "出順子時下一家是否要抽牌；h2 為了防止囤積長順子而加入。",
        impact="H",
    )
    ace: Literal["plain", "recall"] = toggle(
        "PJ-S4",
        "recall",
        "What an Ace does: nothing, or send a card from the table back to a hand; since h3, to make Aces bearable.",
        "A 的作用：無，或把場上一張牌收回某家手中；h3 起加入，讓 A 不再礙事。",
        impact="H",
    )
    king: Literal["plain", "ban_rank", "lock_suit", "tax", "choose"] = toggle(
        "PJ-S5",
        "lock_suit",
        "What a King does: nothing, ban a rank (h3a), lock its suit, tax its suit by one draw, or the player's choice "
        "of lock or tax; the rules text locks.",
        "K 的作用：無、禁一個數字（h3a）、封鎖該花色、出該花色多抽一張，或由玩家選封鎖或多抽；原文為封鎖。",
        impact="H",
    )
    stuck_draw: Literal["one", "match"] = toggle(
        "PJ-S6",
        "match",
        "How many cards a seat draws that cannot play: one, or up to the King owner's hand size; version 1 raised it.",
        "無牌可出時抽幾張：一張，或抽到與出 K 者一樣多；第 1 版改為後者。",
        impact="H",
    )
    queen: Literal["plain", "exchange"] = toggle(
        "PJ-S7",
        "exchange",
        "What a Queen does: nothing, or draw the top card and return one to the top; new in version 1.",
        "Q 的作用：無，或抽牌庫頂一張再放回一張到頂端；第 1 版新增。",
        impact="M",
    )
    jack: Literal["plain", "tutor"] = toggle(
        "PJ-S8",
        "tutor",
        "What a Jack does: nothing, or take any card out of the stock and shuffle it; new in version 1.",
        "J 的作用：無，或從牌庫任選一張加入手牌再洗牌；第 1 版新增。",
        impact="M",
    )
    jokers: Literal[0, 2] = toggle(
        "PJ-01",
        2,
        "How many Jokers are in the deck; they belong to the last stage, version 1.",
        "牌組中有幾張 Joker；Joker 屬於最後的第 1 版。",
        impact="M",
    )
    start_search: Literal["rank_major", "suit_major"] = toggle(
        "PJ-02",
        "rank_major",
        "In which order the start card is looked for: the text goes through all four suits of 7 before the 8s.",
        "尋找起點牌的順序：原文先找四種花色的 7，再找其他數字。",
    )
    first_card: Literal["forced", "free_single"] = toggle(
        "PJ-03",
        "forced",
        "Whether the first player must lead the start card found or may lead any single card; "
        "the search only makes sense if the card found is the one led.",
        "首家必須出找到的起點牌，或可任選一張單張；只有前者才使尋找順序有意義。",
        impact="M",
    )
    start_effect: Literal["fires", "none"] = toggle(
        "PJ-04",
        "fires",
        "Whether the effect of the first card fires; the text makes every effect mandatory.",
        "第一張牌的效果是否發動；原文所有效果必發。",
    )
    connection: Literal["hub_gap", "virtual_card", "suit_only"] = toggle(
        "PJ-05",
        "hub_gap",
        "How the start rank links the suits: as a hub one step away, as a card present in every suit, or not at all; "
        "only the hub gives all the worked numbers of the text.",
        "起點如何連接各花色：相隔一步的共同起點、視同各花色都有該牌，或完全不連；只有第一種符合原文所有例子。",
        impact="H",
    )
    hub_when_no_start_card: Literal["stays", "off"] = toggle(
        "PJ-06",
        "stays",
        "Whether the start rank still connects when no card of it lies on the table; the text remembers the number.",
        "場上已無起點牌時起點是否仍有效；原文說要記住的是數字。",
    )
    combo_gap: Literal["min", "max", "sum"] = toggle(
        "PJ-07",
        "min",
        "Which gap a play of several cards costs: the smallest, the largest or the sum; "
        "in the text's pairs the nearest card decides.",
        "一次出多張時以哪個差計算：最小、最大或總和；原文的對子例子以最接近的牌為準。",
        impact="H",
    )
    gap_order: Literal["before_effects", "after_effects"] = toggle(
        "PJ-08",
        "before_effects",
        "Whether the gap is paid before or after the effects; paying belongs to placing the card.",
        "先抽缺牌或先發動效果；抽牌屬於出牌的一部分，所以在先。",
    )
    short_stock: Literal["draw_what_is_left", "play_illegal"] = toggle(
        "PJ-09",
        "draw_what_is_left",
        "What happens when the gap exceeds the stock: draw what is left, or the play is illegal; "
        "the text lets the game go on with an empty stock.",
        "缺牌數多於牌庫時：抽到沒牌為止，或不准出；原文說牌庫沒牌仍繼續進行。",
        impact="M",
    )
    voluntary_pass: Literal["no", "yes_draw_1", "yes_free"] = toggle(
        "PJ-10",
        "no",
        "Whether a seat that can play may pass, for one draw or for nothing; in the text only a King stops a play.",
        "有牌可出時能否選擇不出（抽一張或不抽）；原文唯一不能出牌的情況是 K。",
        impact="M",
    )
    stuck_target: Literal["max_owner", "min_owner", "latest_lock"] = toggle(
        "PJ-11",
        "max_owner",
        "Whose hand size a stuck seat must reach when several lock it; each lock obliges, so the largest counts.",
        "被多家封鎖而無牌可出時要抽到與誰一樣多；每個封鎖都要滿足，所以取最多者。",
    )
    play_after_stuck_draw: bool = toggle(
        "PJ-12",
        False,
        "Whether a stuck seat may play after drawing; the text has it draw instead of playing.",
        "無牌可出而抽牌後能否再出牌；原文是以抽牌代替出牌。",
    )
    exchange_short_hand: Literal["as_many_as_possible", "skip"] = toggle(
        "PJ-13",
        "as_many_as_possible",
        "What a set's exchange does when too few cards are left; the text is silent, so it does what it can.",
        "多條換牌而手牌不足時如何處理；原文未提，故能換幾張就換幾張。",
    )
    limit_value: int | None = toggle(
        "PJ-14",
        10,
        "How many cards a hand may hold before its seat is out, 6 to 14, or none; the text says 10.",
        "手牌上限 6 至 14 張，超出即淘汰，或無上限；原文為 10 張。",
        impact="H",
        ge=6,
        le=14,
    )
    limit_when: Literal["immediate", "own_turn_end", "any_turn_end", "round_end"] = toggle(
        "PJ-15",
        "own_turn_end",
        "When the hand limit is tested: at once (v1.0), at the end of the own turn (v1.1), of any turn or of a round; "
        "version 1.1 gives every seat a turn to recover.",
        "何時判定手牌上限：隨時（v1.0）、自己回合結束（v1.1）、任何回合結束或一輪結束；1.1 版讓人有機會掙扎。",
        impact="H",
    )
    joker_pair_own_turn_grace: bool = toggle(
        "PJ-16",
        True,
        "Whether the Joker pair's player who flips a Joker is spared the test at the end of that turn; "
        "the text promises that he is not out at once. Acts only under own_turn_end.",
        "出 Joker 對而翻到 Joker 者，該回合結束是否免判定；原文說不會直接失敗。僅於 own_turn_end 時有作用。",
        impact="M",
    )
    limit_batch: Literal["after_each_card", "after_each_draw_batch"] = toggle(
        "PJ-17",
        "after_each_card",
        "Whether an immediate limit is tested after each card or after the whole draw; version 1.0 says at any time.",
        "隨時判定時，每抽一張就判定或整批抽完才判定；1.0 版寫任何時候。",
    )
    q_transient_counts: bool = toggle(
        "PJ-18",
        True,
        "Whether the Queen's extra card counts for an immediate limit before one is put back; "
        "version 1.0 says at any time.",
        "隨時判定時，Q 抽進而尚未放回的牌是否算入；1.0 版寫任何時候。",
    )
    effects_after_self_elimination: Literal["dropped", "resolved"] = toggle(
        "PJ-19",
        "dropped",
        "Whether the remaining effects of a play happen after its player is eliminated by it; he has no turn any more.",
        "因自己出牌而被淘汰後，剩下的效果是否發動；被淘汰者已無回合，故不發動。",
    )
    eliminated_hand: Literal["to_table", "out_of_game", "into_stock"] = toggle(
        "PJ-20",
        "to_table",
        "Where the hand of an eliminated seat goes: to its places on the table, out of the game or into the stock; "
        "the text lays it out.",
        "被淘汰者的手牌：擺上場、移出遊戲或洗入牌庫；原文為依順序擺上。",
        impact="M",
    )
    eliminated_jokers: Literal["exiled", "into_stock"] = toggle(
        "PJ-21",
        "exiled",
        "Where the Jokers of an eliminated hand go; they have no place on the table.",
        "被淘汰者手中的 Joker 去處；場上沒有它的位置，故除外。",
    )
    laid_cards_recallable: bool = toggle(
        "PJ-22",
        True,
        "Whether an Ace may recall a card laid out by an elimination; it is a card on the table like any other.",
        "A 能否收回淘汰時擺上的牌；它們與場上其他牌無異。",
    )
    lock_of_eliminated: Literal["lifted", "stays"] = toggle(
        "PJ-23",
        "lifted",
        "What becomes of an eliminated seat's locks; the text lifts them.",
        "被淘汰者的封鎖如何處理；原文明言解除。",
    )
    ace_may_take_current_play: bool = toggle(
        "PJ-24",
        False,
        "Whether an Ace may recall a card of its own play; off, as an Ace could else return itself for ever.",
        "A 能否收回同一手剛出的牌；預設不可，否則 A 可無限收回自己。",
        impact="M",
    )
    ace_receiver: Literal["any_active", "opponents", "self"] = toggle(
        "PJ-25",
        "any_active",
        "Who may receive the card an Ace recalls; the text says any player, oneself included.",
        "A 收回的牌可給誰；原文為任意一名玩家，包含自己。",
        impact="H",
    )
    ace_multi_receivers: Literal["distinct_if_possible", "independent"] = toggle(
        "PJ-26",
        "distinct_if_possible",
        "Whether several Aces must name different receivers; the text says two cards and two players.",
        "多張 A 是否須指定不同玩家；原文寫任意 2 張與任意 2 名玩家。",
        impact="M",
    )
    ace_may_take_start_card: bool = toggle(
        "PJ-27",
        True,
        "Whether an Ace may recall a card of the start rank; the text says any card.",
        "A 能否收回起點牌；原文為任意一張。",
    )
    ace_recall_lifts_lock: bool = toggle(
        "PJ-28",
        True,
        "Whether recalling a King lifts its lock; the text says so.",
        "收回 K 時是否解除其封鎖；原文明言。",
        impact="-",
    )
    complete_immune: bool = toggle(
        "PJ-29",
        True,
        "Whether a complete suit is immune to every effect; the text says so.",
        "完成的花色是否不再受任何影響；原文明言。",
    )
    lock_release_by: Literal["any_play_with_suit", "single_only"] = toggle(
        "PJ-30",
        "any_play_with_suit",
        "Which plays of its owner release a lock; the text speaks of any card of the suit.",
        "封鎖者出什麼牌會解除封鎖；原文為再次打出同花色的牌。",
    )
    q_empty_stock: Literal["return_as_many_as_drawn", "must_return"] = toggle(
        "PJ-31",
        "return_as_many_as_drawn",
        "What a Queen returns when the stock had too few cards; returning without a draw would be a free discard.",
        "牌庫不足時 Q 要放回幾張；只放不抽等於白白丟牌，故抽幾張放幾張。",
        impact="M",
    )
    q_return_order: Literal["chooser", "random"] = toggle(
        "PJ-32",
        "chooser",
        "Who orders the cards that several Queens return; the text is silent, so their player does.",
        "多張 Q 放回的牌由誰決定順序；原文未提，由出牌者決定。",
    )
    j_reveal: Literal["hidden", "shown"] = toggle(
        "PJ-33",
        "hidden",
        "Whether the card a Jack takes is shown; the text is silent, so it stays hidden.",
        "J 找到的牌是否公開；原文未提，故不公開。",
    )
    win_check: Literal["after_effects", "after_cost", "on_empty"] = toggle(
        "PJ-34",
        "after_effects",
        "When an empty hand wins: after the effects, after paying the gap or at once; all effects are mandatory.",
        "何時判定出完手牌獲勝：效果之後、抽缺牌之後或立即；原文所有效果必發，故在效果之後。",
        impact="H",
    )
    joker_only_loss: Literal["at_turn_start", "never", "also_when_hit"] = toggle(
        "PJ-35",
        "at_turn_start",
        "When a hand of a single Joker loses: at the start of its turn, never, or at the end of any turn too; "
        "the text says at the moment its turn comes.",
        "手牌只剩一張 Joker 何時失敗：輪到自己時、從不，或任何回合結束時也算；原文為輪到出牌的瞬間。",
        impact="M",
    )
    joker_count: Literal["after_play", "before_play"] = toggle(
        "PJ-59",
        "after_play",
        "Whether the Joker just played counts for its player's hand size at the redeal; it has left the hand.",
        "Joker 重發時，出牌者的張數是否包含剛出的 Joker；它已離開手牌，故不含。",
        impact="M",
    )
    black_joker_scope: Literal["active_players", "all"] = toggle(
        "PJ-36",
        "active_players",
        "Whose hands the black Joker collects; eliminated seats have no cards.",
        "黑 Joker 集合哪些人的手牌；被淘汰者已無手牌。",
        impact="-",
    )
    jokers_lift_locks: bool = toggle(
        "PJ-37",
        False,
        "Whether a Joker lifts the locks; the text only lists it as a way to get the suit back to the owner.",
        "Joker 是否解除封鎖；原文只說可把該花色洗回封鎖者手上。",
    )
    joker_pair_is_also_set: bool = toggle(
        "PJ-38",
        False,
        "Whether the Joker pair also exchanges a card as a set; it has an effect of its own.",
        "Joker 對是否同時有對子的換牌效果；它有自己的效果。",
    )
    single_joker_with_both_held: Literal["allowed", "pair_forced"] = toggle(
        "PJ-39",
        "allowed",
        "Whether a seat with both Jokers may play just one; the text is silent, so it may.",
        "持有兩張 Joker 時能否只出一張；原文未提，故可以。",
    )
    jp_values: Literal["v1.0", "v1.1"] = toggle(
        "PJ-40",
        "v1.1",
        "Which hand size a card flipped for the Joker pair means; version 1.1 took the advantage from flipping an Ace.",
        "Joker 對翻開的牌代表幾張手牌；1.1 版取消翻到 A 的直接優勢。",
        impact="H",
    )
    jp_order: Literal["from_player", "from_next"] = toggle(
        "PJ-41",
        "from_player",
        "Where the Joker pair's flips begin; the text says in order, so with its player.",
        "Joker 對從誰開始翻牌；原文寫按順序，故從出牌者開始。",
    )
    jp_scale_with_limit: Literal["absolute", "relative"] = toggle(
        "PJ-42",
        "absolute",
        "Whether the Joker pair's hand sizes move with a hand limit other than 10; the text's numbers are absolute.",
        "手牌上限不是 10 時，Joker 對的張數是否隨之調整；原文為固定數字。",
        impact="M",
    )
    multi_effect_scaling: Literal["per_card", "once"] = toggle(
        "PJ-43",
        "per_card",
        "Whether each card of a set fires its effect or all together once; the text has three Queens draw three.",
        "多條中每張牌各發動一次或只發動一次；原文三條 Q 抽三張。",
        impact="M",
    )
    effect_order: Literal["type_K_Q_J_A", "type_A_K_Q_J"] = toggle(
        "PJ-44",
        "type_K_Q_J_A",
        "In which order the effects of one play happen; the text has the combination first, then K, Q, J.",
        "同一手牌各效果的順序；原文為特殊牌型先，再 K、Q、J。",
        impact="-",
    )
    survivor_wins: Literal["yes", "must_still_go_out"] = toggle(
        "PJ-45",
        "yes",
        "Whether the last seat left wins at once or must still go out; the text is silent, at once is natural.",
        "只剩一家時是否立即獲勝或仍須出完；原文未提，立即獲勝較自然。",
        impact="M",
    )
    drawn_rule: Literal["idle_cycle", "all_stuck_even_with_stock"] = toggle(
        "PJ-46",
        "idle_cycle",
        "When the game is drawn: after a round in which nobody could play or draw, as in the text's example.",
        "何時和局：一輪中無人能出牌也無牌可抽，如原文的例子。",
    )
    direction: Literal["clockwise", "counter"] = toggle(
        "PJ-47",
        "clockwise",
        "Which way the turn goes round; the text is silent and it makes no difference.",
        "輪流的方向；原文未提，亦無影響。",
        impact="-",
    )
    hand_size: int = toggle(
        "PJ-48",
        6,
        "How many cards each seat is dealt, 4 to 8; the text says 6.",
        "起手每家發 4 至 8 張；原文為 6 張。",
        impact="M",
        ge=4,
        le=8,
    )
    continue_for_places: bool = toggle(
        "PJ-49",
        False,
        "Whether play goes on for the other places after the first seat is out; the text only knows a winner.",
        "有人出完後是否繼續爭其他名次；原文只決定勝者。",
    )
    set_with_locked_member: Literal["illegal", "allowed"] = toggle(
        "PJ-50",
        "illegal",
        "Whether a set may hold a card of a locked suit; each of its cards is a card of that suit.",
        "多條中能否包含被封鎖花色的牌；每張都屬於該花色，故不可。",
    )
    ban_duration: Literal["until_owner_plays_that_rank", "one_round", "until_next_K", "forever"] = toggle(
        "PJ-52",
        "until_owner_plays_that_rank",
        "How long the old King's ban of a rank lasts; the text is silent, so it ends as a lock does.",
        "舊版 K 禁數字持續多久；原文未提，比照封鎖，到自己再出該數字為止。",
        impact="M",
    )
    ban_owner_exempt: bool = toggle(
        "PJ-53",
        True,
        "Whether the ban's owner may play the banned rank; else the ban could not end.",
        "禁數字者自己能否出該數字；否則無法解除。",
    )
    ban_no_connector: Literal["unplayable", "hub_anyway"] = toggle(
        "PJ-55",
        "unplayable",
        "What happens to a card with nothing to connect to under a ban of the start rank; "
        "the text says that banned cards connect nothing.",
        "起點被禁而花色尚無牌可接時：不能出，或仍以起點計算；原文說被禁的數字不能成為接點。",
        impact="M",
    )
    ban_lifted_by: Literal["owner_eliminated_or_K_recalled", "nothing"] = toggle(
        "PJ-56",
        "owner_eliminated_or_K_recalled",
        "What lifts a ban early: its owner's elimination or the recall of its King, as for a lock.",
        "什麼會提前解除禁數字：禁者被淘汰或該 K 被收回，與封鎖相同。",
    )
    max_turns: int = toggle(
        "PJ-58",
        400,
        "After how many turns a game counts as stalled; Aces can make a game endless, 400 hardly ever happens.",
        "幾回合後視為僵局；A 可能讓遊戲無法結束，正常遊戲極少到 400 回合。",
        impact="-",
        ge=1,
        le=2000,
    )


# --- Rules ------------------------------------------------------------------------------------------------------------

IMMEDIATE, OWN_TURN_END, ANY_TURN_END, ROUND_END = range(4)  # PJ-15
PLAIN, BAN_RANK, LOCK_SUIT, TAX, CHOOSE_KING = range(5)  # PJ-S5
HUB_GAP, VIRTUAL_CARD, SUIT_ONLY = range(3)  # PJ-05
MIN, MAX, SUM = range(3)  # PJ-07
AFTER_EFFECTS, AFTER_COST, ON_EMPTY = range(3)  # PJ-34
TO_TABLE, OUT_OF_GAME, INTO_STOCK = range(3)  # PJ-20
ANY_ACTIVE, OPPONENTS, SELF = range(3)  # PJ-25
OWNER_PLAYS, ONE_ROUND, NEXT_KING, FOREVER = range(4)  # PJ-52
MAX_OWNER, MIN_OWNER, LATEST_LOCK = range(3)  # PJ-11

NO_LIMIT = 99
UNREACHABLE = 99
"""The gap of a card that nothing connects to (PJ-55)."""


class PaijieRules(NamedTuple):
    """The toggles as the kernel reads them: integers, with rare toggles behind derived flags."""

    seats: int
    jokers: int  # PJ-01
    decks: int
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
    suit_major: int  # PJ-02
    start_effect: int  # PJ-04
    hub_stays: int  # PJ-06
    pay_last: int  # PJ-08
    stuck_target: int  # PJ-11
    play_when_drawn: int  # PJ-12
    whole_exchange: int  # PJ-13
    batch: int  # PJ-17
    queen_counts: int  # PJ-18
    resolved: int  # PJ-19
    jokers_to_stock: int  # PJ-21
    laid_recallable: int  # PJ-22
    locks_stay: int  # PJ-23
    start_recallable: int  # PJ-27
    recall_lifts: int  # PJ-28
    immune: int  # PJ-29
    single_release: int  # PJ-30
    random_return: int  # PJ-32
    jack_shown: int  # PJ-33
    jokers_lift: int  # PJ-37
    pair_is_set: int  # PJ-38
    pair_forced: int  # PJ-39
    pair_from_next: int  # PJ-41
    ace_first: int  # PJ-44
    draws_are_idle: int  # PJ-46
    direction: int  # PJ-47: 1 or -1
    for_places: int  # PJ-49
    locked_member: int  # PJ-50
    owner_exempt: int  # PJ-53
    bans_stay: int  # PJ-56
    filtered: int  # whether some plays of free cards can be illegal, or a pass is offered
    listed: int  # whether a random play is picked from the list of all of them
    plain_gap: int  # whether `gap` is the plain hub distance
    faces: int  # the cards that have an effect when played


def _index(values: tuple[str, ...], value: object) -> int:
    return values.index(str(value))


def make_rules(toggles: PaijieToggles, seats: int) -> PaijieRules:
    """The kernel's rules from the toggles, for a number of seats. Raises ValueError when the deck is too small."""
    t = toggles
    deck = 52 + t.jokers
    if t.hand_size * seats >= deck:
        raise ValueError(f"{seats} seats with {t.hand_size} cards each leave no stock in a deck of {deck}")
    king = _index(("plain", "ban_rank", "lock_suit", "tax", "choose"), t.king)
    passing = _index(("no", "yes_draw_1", "yes_free"), t.voluntary_pass)
    filtered = t.short_stock == "play_illegal" or passing > 0 or king == BAN_RANK
    faces = 0
    for rank, on in (
        (1, t.ace == "recall"),
        (11, t.jack == "tutor"),
        (12, t.queen == "exchange"),
        (13, king != PLAIN),
    ):
        faces |= (RANK_SET << (rank - 1)) if on else 0
    return PaijieRules(
        seats=seats,
        jokers=t.jokers,
        decks=1,
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
        ban_duration=_index(
            ("until_owner_plays_that_rank", "one_round", "until_next_K", "forever"), t.ban_duration
        ),
        hub_anyway=int(t.ban_no_connector == "hub_anyway"),
        suit_major=int(t.start_search == "suit_major"),
        start_effect=int(t.start_effect == "fires"),
        hub_stays=int(t.hub_when_no_start_card == "stays"),
        pay_last=int(t.gap_order == "after_effects"),
        stuck_target=_index(("max_owner", "min_owner", "latest_lock"), t.stuck_target),
        play_when_drawn=int(t.play_after_stuck_draw),
        whole_exchange=int(t.exchange_short_hand == "skip"),
        batch=int(t.limit_batch == "after_each_draw_batch"),
        queen_counts=int(t.q_transient_counts),
        resolved=int(t.effects_after_self_elimination == "resolved"),
        jokers_to_stock=int(t.eliminated_jokers == "into_stock"),
        laid_recallable=int(t.laid_cards_recallable),
        locks_stay=int(t.lock_of_eliminated == "stays"),
        start_recallable=int(t.ace_may_take_start_card),
        recall_lifts=int(t.ace_recall_lifts_lock),
        immune=int(t.complete_immune),
        single_release=int(t.lock_release_by == "single_only"),
        random_return=int(t.q_return_order == "random"),
        jack_shown=int(t.j_reveal == "shown"),
        jokers_lift=int(t.jokers_lift_locks),
        pair_is_set=int(t.joker_pair_is_also_set and t.combos and t.set_exchange),
        pair_forced=int(t.single_joker_with_both_held == "pair_forced"),
        pair_from_next=int(t.jp_order == "from_next"),
        ace_first=int(t.effect_order == "type_A_K_Q_J"),
        draws_are_idle=int(t.drawn_rule == "all_stuck_even_with_stock"),
        direction=1 if t.direction == "clockwise" else -1,
        for_places=int(t.continue_for_places),
        locked_member=int(t.set_with_locked_member == "allowed"),
        owner_exempt=int(t.ban_owner_exempt),
        bans_stay=int(t.ban_lifted_by == "nothing"),
        filtered=int(filtered),
        listed=int(filtered or t.play_after_stuck_draw or t.set_with_locked_member == "allowed"),
        plain_gap=int(t.connection == "hub_gap" and king != BAN_RANK and t.hub_when_no_start_card == "stays"),
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
    Counter(
        "first_elimination_turn",
        "turn of the first elimination",
        "首次淘汰的回合",
        bins=BY_TURN,
        given="eliminations",
    ),
    Counter("table_cards", "cards on the table at the end", "終局桌面張數", bins=53),
    Counter("complete_suits", "complete suits at the end", "終局完成花色數", bins=5),
    Counter("holes", "missing cards between table cards at the end", "終局花色間缺口張數", bins=45),
    Counter("stock_left", "cards left in the stock at the end", "終局牌庫剩餘張數", bins=55),
    Counter("start_rank", "start rank", "起點", bins=14),
)
C: Any = namedtuple("C", [counter.name for counter in COUNTERS])(*range(len(COUNTERS)))
"""The index of each counter by name."""

RATIOS = (
    Ratio("stuck_share", "stuck", "turns", "share of turns without a legal play", "無牌可出回合占比"),
    Ratio("early_elimination_share", "early_eliminations", "eliminations",
          "share of eliminations by the seat's second own turn", "淘汰發生於自己第二回合前的占比"),
    Ratio("cards_per_play", "cards_played", "turns", "cards played per turn", "每回合出牌張數"),
)  # fmt: skip

PARTITIONS = (
    Partition(
        "aces_kings",
        tuple(str(k) for k in range(9)),
        "Aces and Kings in the opening hand",
        "起手 A 與 K 張數",
    ),
    Partition("jokers", ("0", "1", "2"), "Jokers in the opening hand", "起手 Joker 張數"),
    Partition(
        "shape",
        tuple(f"set{s}_run{r}" for s in ("1", "2", "3+") for r in ("1", "2", "3+")),
        "largest set and longest straight of the opening hand",
        "起手最大多條與最長順子",
        tuple(
            (f"set {s[0]}, straight {r[0]}", f"多條{s[1]}、順子{r[1]}")
            for s in (("none", "無"), ("of 2", " 2 張"), ("of 3 or 4", " 3、4 張"))
            for r in (("none", "無"), ("of 2", " 2 張"), ("of 3 or more", " 3 張以上"))
        ),
    ),
)

MAIN, EXCHANGE_CARD, QUEEN_RETURN, JACK_TAKE, ACE_CARD, ACE_RECEIVER, KING_MODE, KING_RANK = range(8)
PHASES = (
    "main",
    "exchange_card",
    "queen_return",
    "jack_take",
    "ace_card",
    "ace_receiver",
    "king_mode",
    "king_rank",
)
CHOICES: dict[str, str | tuple[str, ...]] = {
    "exchange_card": "card",
    "queen_return": "card",
    "jack_take": "card",
    "ace_card": "card",
    "ace_receiver": "seat",
    "king_mode": ("lock", "tax"),
    "king_rank": "rank",
}

# The stages of a play after its placing (1.6, steps 7 and 8), in the default order.
S_TYPE, S_KING, S_QUEEN, S_JACK, S_ACE, S_PAY, S_END = range(7)

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
        ("price", np.int64),  # gap and tax still to pay (PJ-08)
        ("tax", np.int64),
        ("laid", np.int64),  # table cards that an elimination laid out
        ("lock_owner", np.int64, 4),  # -1 or a seat
        ("lock_at", np.int64, 4),  # when it was set, counting locks
        ("locks_set", np.int64),
        ("locked", np.int64),  # the lanes of all locked suits
        ("taxed", np.int64),  # the lanes of all taxed suits
        ("ban_rank", np.int64, 4),  # by the suit of the King; 0 none
        ("ban_owner", np.int64, 4),
        ("new_bans", np.int64),  # suits of the Kings that named a rank in this play
        ("turn", np.int64),
        ("acted", np.int64),  # whether this turn saw a play, a draw or an elimination
        ("idle", np.int64),
        ("passed", np.int64),  # voluntary passes in a row
        ("grace", np.int64),  # PJ-16: the player of the pair flipped a Joker this turn
        ("over", np.int64),  # 0, or the outcome's code + 1
        ("winner", np.int64),
        ("spare", np.int64),  # PJ-12: this decision follows a stuck draw
        ("done", np.int64),  # the player at turn has finished: what is left of his play is dropped
        ("finished", np.int64),  # seats that have finished (PJ-49)
        ("finish_order", np.int64, SEATS),
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
def deal(rules, deck, number, loser, state, rng):
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
        state.finish_order[p] = 0
    for suit in range(4):
        state.lock_owner[suit] = -1
        state.lock_at[suit] = 0
        state.ban_rank[suit] = 0
        state.ban_owner[suit] = -1
    for k in range(state.count.size):
        state.count[k] = 0
    state.table = state.exiled = state.laid = state.top = state.active = state.cur = state.first = 0
    state.start_rank = state.start_card = state.phase = state.play = state.asking = state.left = 0
    state.pending = state.new_bans = state.receivers = state.ace_card = state.price = state.tax = 0
    state.locks_set = state.locked = state.taxed = state.acted = state.idle = state.passed = 0
    state.grace = state.over = state.spare = state.done = state.finished = state.moment = 0
    state.stage = S_END
    state.turn = 1
    state.winner = -1


SEARCH = np.array([7, 8, 6, 9, 5, 10, 4, 11, 3, 12, 2, 13, 1], dtype=np.int64)
"""The ranks of the start search, by their distance from 7 (L11-12)."""


@helper
def _start_search(rules, state):
    """Find the start card (rank by rank, inside a rank S H D C; PJ-02) and its holder, the first player."""
    held = 0
    for p in range(rules.seats):
        held |= state.hand[p]
    for step in range(52):
        place, suit = (step % 13, step // 13) if rules.suit_major else (step // 4, step % 4)
        card = held & (1 << (LANE * suit + SEARCH[place] - 1))
        if card:
            state.start_card = card
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
    return _unusual_gap(rules, state, table, lane, rank)


@outlined
def _unusual_gap(rules, state, table, lane, rank):
    """The gap under another PJ-05 or PJ-06 reading, or with ranks banned as connectors (h3a, PJ-55)."""
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
    if not rules.hub_stays and table & (RANK_SET << (start - 1)) == 0:
        return near if lane else far
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
def _suit_set(cards):
    """The suits that occur among the cards, as a set of suits."""
    suits = 0
    for suit in range(4):
        if cards & (LANE_MASK << (LANE * suit)):
            suits |= 1 << suit
    return suits


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
def _banned(rules, state, seat):
    """The cards that bans, of other seats or of any (PJ-53), forbid this seat to play (h3a)."""
    cards = 0
    for k in range(4):
        if state.ban_rank[k] and (state.ban_owner[k] != seat or not rules.owner_exempt):
            cards |= RANK_SET << (state.ban_rank[k] - 1)
    return cards


@helper
def _playable(rules, state, seat):
    """The seat's regular cards that no lock and no ban keeps from being played, whatever they cost."""
    cards = state.hand[seat] & CARDS & ~_others(state, state.locked, seat)
    if rules.king == BAN_RANK:
        cards &= ~_banned(rules, state, seat)
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
    """Whether the seat has a legal play. If any is, one card is legal alone or, PJ-50, in a pair with a locked one."""
    if state.hand[seat] & JOKERS:
        return True
    cards = _playable(rules, state, seat)
    if not rules.filtered:
        return cards != 0
    while cards:
        card = cards & -cards
        if _affordable(rules, state, seat, card):
            return True
        if rules.locked_member and state.locked:
            mates = _set_material(rules, state, seat, card) & (RANK_SET << (_rank(lowest(card)) - 1)) & ~card
            while mates:
                if _affordable(rules, state, seat, card | (mates & -mates)):
                    return True
                mates &= mates - 1
        cards ^= card
    return False


@helper
def _set_material(rules, state, seat, cards):
    """Whether the seat has a legal play. If any is, one card is legal alone or, PJ-50, with a locked one in a pair."""
    if not rules.combos:
        return 0
    if rules.locked_member and state.locked:
        cards = state.hand[seat] & CARDS
        if rules.king == BAN_RANK:
            cards &= ~_banned(rules, state, seat)
    return cards & ~(RANK_SET << (state.start_rank - 1))


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
    pairs = (
        popcount(sh) + popcount(s & d) + popcount(s & c) + popcount(h & d) + popcount(h & c) + popcount(dc)
    )
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
def _with_any(cards, out, first, n):
    """Keep of out[first:n] the plays that contain any of `cards`; the new n."""
    kept = first
    for i in range(first, n):
        if out[i] & cards:
            out[kept] = out[i]
            kept += 1
    return kept


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
        singles = n
        n = _sets(_set_material(rules, state, seat, cards), out, n)
        if rules.locked_member:
            n = _with_any(cards, out, singles, n)
        n = _straights(cards & ~(RANK_SET << (state.start_rank - 1)), out, n)
    if rules.filtered:
        kept = 0
        for i in range(n):
            if _affordable(rules, state, seat, out[i]):
                out[kept] = out[i]
                kept += 1
        n = kept
    jokers = state.hand[seat] & JOKERS
    if jokers:
        rest = 0 if rules.pair_forced and jokers == JOKERS else jokers
        while rest:
            out[n] = rest & -rest
            n += 1
            rest &= rest - 1
        if jokers == JOKERS:
            out[n] = JOKERS
            n += 1
    if (rules.passing or state.spare) and n:
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
def _incomplete(rules, table, cards):
    """Of these cards those whose suit is not complete on the table; all, where completion protects nothing (PJ-29)."""
    if rules.immune:
        for suit in range(4):
            lane = LANE_MASK << (LANE * suit)
            if table & lane == lane:
                cards &= ~lane
    return cards


@helper
def _recallable(rules, state):
    """The table cards an Ace may take (L84): none of a complete suit (L19) or of this play (PJ-22, PJ-24, PJ-27)."""
    cards = _incomplete(rules, state.table, state.table)
    if not rules.laid_recallable:
        cards &= ~state.laid
    if not rules.start_recallable:
        cards &= ~state.start_card
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
        k = below(rng, stream, n)
        return lowest(nth_bit(rest, k)), n
    if rules.listed or state.start_rank == 0:
        n = _plays(rules, state, state.cur, out)
        k = below(rng, stream, n)
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
    both = jokers == 2
    if both and rules.pair_forced:
        jokers = 0
    total = n + jokers + both
    k = below(rng, stream, total)
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
def _next_seat(rules, state, seat):
    """The nearest active seat after `seat` in the direction of play (PJ-47); itself when there is no other."""
    if state.active == 0:
        return seat
    if rules.direction < 0:
        before = state.active & ((1 << seat) - 1)
        return highest(before if before else state.active)
    after = state.active >> (seat + 1)
    return seat + 1 + lowest(after) if after else lowest(state.active)


@helper
def _seat_after(rules, seat, steps):
    """The seat so many steps on in the direction of play, whether active or not."""
    return (seat + steps * rules.direction) % rules.seats


@helper
def _gained(rules, state, seat, tested, rng, log):
    """After a seat gained cards: its largest hand and, if tested, the limit."""
    held = popcount(state.hand[seat])
    state.largest[seat] = max(state.largest[seat], held)
    if tested and held > rules.limit:
        _eliminate(rules, state, 1 << seat, WORD.limit, rng, log)


@helper
def _draw(rules, state, seat, wanted, reason, rng, log):
    """Draw up to `wanted` cards; an immediate limit ends draw and seat with the first one too many (PJ-17, PJ-18)."""
    n = min(wanted, state.stock_end - state.top)
    tested = rules.limit_when == IMMEDIATE and (reason != WORD.queen or rules.queen_counts)
    if tested and not rules.batch:
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
    if not rules.draws_are_idle:
        state.acted = 1
    _gained(rules, state, seat, tested, rng, log)
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
def _place(rules, state, cards, log):
    """Put regular cards on the table; suits that become complete lose their lock (L19, PJ-29)."""
    state.table |= cards
    while cards:
        suit = lowest(cards) // LANE
        lane = LANE_MASK << (LANE * suit)
        cards &= ~lane
        if state.table & lane == lane:
            if rules.immune and state.lock_owner[suit] >= 0:
                _unlock(state, suit, WORD.complete, log)
            emit(log, COMPLETE, suit)


# --- Elimination and the end (1.7, 1.8) -------------------------------------------------------------------------------


@helper
def _lay_out(rules, state, seat, cards, rng, log):
    """What becomes of an eliminated hand's regular cards (L6-7, PJ-20), its Jokers, locks and bans (L78)."""
    regular = cards & CARDS
    jokers = cards & JOKERS
    back = jokers if rules.jokers_to_stock else 0
    if rules.layout == TO_TABLE:
        _put_all(state, seat, regular, WORD.table, log)
    elif rules.layout == OUT_OF_GAME:
        _put_all(state, seat, regular, WORD.removed, log)
        state.exiled |= regular
    else:
        back |= regular
    if back:
        _put_all(state, seat, back, WORD.stock_shuffled, log)
        _to_stock(state, back)
        _shuffle_stock(state, rng, log)
    _put_all(state, seat, jokers & ~back, WORD.exiled, log)
    state.exiled |= jokers & ~back
    if not rules.locks_stay:
        _end_locks(state, seat, WORD.owner_eliminated, log)
    if not rules.bans_stay:
        _end_bans(state, seat, WORD.owner_eliminated, log)
    if rules.layout == TO_TABLE:
        state.laid |= regular
        _place(rules, state, regular, log)


@helper
def _end_locks(state, seat, reason, log):
    """End every lock and tax of a seat (L78)."""
    for suit in range(4):
        if state.lock_owner[suit] == seat:
            _unlock(state, suit, reason, log)


@helper
def _end_bans(state, seat, reason, log):
    """End every ban of a seat."""
    for suit in range(4):
        if state.ban_rank[suit] and state.ban_owner[suit] == seat:
            _unban(state, suit, reason, log)


@outlined
def _eliminate(rules, state, seats, reason, rng, log):
    """Eliminate a set of seats judged at one moment, in seat order from the player at turn; it may end the game."""
    state.moment += 1
    state.acted = 1
    for step in range(rules.seats):
        seat = _seat_after(rules, state.cur, step)
        if not seats >> seat & 1:
            continue
        emit(log, ELIMINATE, seat, reason)
        state.active &= ~(1 << seat)
        cards = state.hand[seat]
        state.hand[seat] = 0
        state.out_moment[seat] = state.moment
        state.out_turn[seat] = state.turn
        if state.count[C.eliminations] == 0:
            state.count[C.first_elimination_turn] = state.turn
        state.count[C.eliminations] += 1
        state.count[C.eliminated_limit if reason == WORD.limit else C.eliminated_joker_only] += 1
        if state.own_turns[seat] <= 2:
            state.count[C.early_eliminations] += 1
        _lay_out(rules, state, seat, cards, rng, log)
    _count_active(rules, state)


@helper
def _count_active(rules, state):
    """End the game when at most one seat is left in it (PJ-45, PJ-49)."""
    left = popcount(state.active)
    if left > 1:
        return
    if state.finished:
        state.over = WIN + 1
    elif left == 0:
        state.over = DRAWN + 1
    elif not rules.must_go_out:
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
        _eliminate(rules, state, over, WORD.limit, rng, log)


@helper
def _finish(rules, state, seat, log):
    """A seat has no cards left: it wins and the game ends (L5) or, PJ-49, goes on for the places."""
    emit(log, FINISH, seat)
    state.finished += 1
    state.finish_order[seat] = state.finished
    if state.finished == 1:
        state.winner = seat
    state.done = 1
    if not rules.for_places:
        state.over = WIN + 1
        return
    state.active &= ~(1 << seat)
    _end_locks(state, seat, WORD.owner_finished, log)
    if not rules.bans_stay:
        _end_bans(state, seat, WORD.owner_finished, log)
    _count_active(rules, state)


@helper
def _is_in(state):
    """Whether the player at turn is in the game."""
    return state.active >> state.cur & 1


@helper
def _play_is_dead(rules, state):
    """Whether what is left of the play is dropped: the game is over, or its player is out (PJ-19) or has finished."""
    return state.over != 0 or state.done != 0 or not (_is_in(state) or rules.resolved)


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
    if cards & (cards >> 1) and cards != JOKERS:
        hit = _next_seat(rules, state, state.cur)
        if rules.straight_hit and hit != state.cur:
            state.count[C.straight_hits] += _draw(rules, state, hit, n - 1, WORD.straight_hit, rng, log)
    elif rules.set_exchange and _is_in(state):
        held = popcount(state.hand[state.cur])
        state.left = 0 if rules.whole_exchange and held < n - 1 else min(n - 1, held)
        if state.left:
            _ask(state, EXCHANGE_CARD)


@helper
def _exchange_card(rules, state, card, rng, log):
    """One card chosen for the exchange; after the last they go into the stock, which is shuffled and drawn from."""
    seat = state.cur
    state.hand[seat] ^= 1 << card
    state.pending |= 1 << card
    state.left -= 1
    if state.left:
        return
    _put_all(state, seat, state.pending, WORD.stock_shuffled, log)
    n = popcount(state.pending)
    _to_stock(state, state.pending)
    state.pending = 0
    _shuffle_stock(state, rng, log)
    state.count[C.exchanged] += n
    _draw(rules, state, seat, n, WORD.exchange, rng, log)
    state.asking = 0


@helper
def _kings_at_work(rules, state):
    """The Kings of the play that act: those of suits not complete (L19), only the first under PJ-43 once."""
    kings = _incomplete(rules, state.table, state.play & rules.faces & (RANK_SET << 12))
    return kings & -kings if rules.once else kings


@helper
def _lock(state, suit, tax, log):
    """The player at turn locks (or taxes) a suit (L72-78)."""
    lane = LANE_MASK << (LANE * suit)
    state.lock_owner[suit] = state.cur
    state.locks_set += 1
    state.lock_at[suit] = state.locks_set
    state.locked &= ~lane
    state.taxed &= ~lane
    if tax:
        state.taxed |= lane
    else:
        state.locked |= lane
    emit(log, LOCK, suit, state.cur, tax)


@helper
def _start_kings(rules, state, log):
    """Kings lock or tax their suits at once; naming a rank or a mode is a decision each (L72-78, L136)."""
    kings = _kings_at_work(rules, state)
    if kings == 0 or not _is_in(state):
        return
    state.count[C.kings] += popcount(kings)
    if rules.king == BAN_RANK or rules.king == CHOOSE_KING:
        state.left = kings
        if rules.ban_duration == NEXT_KING:
            for suit in range(4):
                if state.ban_rank[suit]:
                    _unban(state, suit, WORD.next_king, log)
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
        if state.ban_rank[suit]:
            _unban(state, suit, WORD.next_king, log)
        state.ban_rank[suit] = move
        state.ban_owner[suit] = state.cur
        state.new_bans |= 1 << suit
        emit(log, BAN, move, state.cur, card)
    state.left &= state.left - 1
    if state.left == 0:
        state.asking = 0


@helper
def _start_queens(rules, state, rng, log):
    """Queens draw at once (L79-80, L113); the cards then put back are decisions."""
    queens = _effect_count(rules, state.play, 12)
    if queens == 0 or not _is_in(state):
        return
    state.count[C.queens] += queens
    drawn = _draw(rules, state, state.cur, queens, WORD.queen, rng, log)
    if state.over or not _is_in(state):
        return
    state.left = min(queens, popcount(state.hand[state.cur])) if rules.must_return else drawn
    if state.left:
        _ask(state, QUEEN_RETURN)


@helper
def _queen_return(rules, state, card, rng, log):
    """A card goes back on top of the stock; in a random order all go together after the last choice (PJ-32)."""
    state.hand[state.cur] ^= 1 << card
    state.pending |= 1 << card
    state.left -= 1
    if state.left and rules.random_return:
        return
    n = _pool(rules, state, state.pending)
    state.pending = 0
    if n > 1:
        shuffle(rng, CHANCE, state.pool, 0, n)
    for i in range(n):
        state.top -= 1
        state.stock[state.top] = state.pool[i]
        emit(log, PUT, state.cur, np.int64(state.pool[i]), WORD.stock_top)
    state.asking = int(state.left > 0)


@helper
def _start_jacks(rules, state):
    """Every Jack will take a card out of the stock, while there is one."""
    jacks = min(_effect_count(rules, state.play, 11), state.stock_end - state.top)
    if jacks and _is_in(state):
        state.count[C.jacks] += jacks
        state.left = jacks
        _ask(state, JACK_TAKE)


@helper
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
    emit(log, DRAW, seat, card, WORD.jack)
    _gained(rules, state, seat, rules.limit_when == IMMEDIATE, rng, log)
    state.left = state.left - 1 if _is_in(state) else 0
    if state.left == 0 and not _play_is_dead(rules, state):
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


@helper
def _ace_receiver(rules, state, seat, rng, log):
    """The named seat takes the named card back into its hand; a King's lock or ban ends with it (L150)."""
    card = state.ace_card
    suit = card // LANE
    state.table ^= 1 << card
    state.hand[seat] |= 1 << card
    state.receivers |= 1 << seat
    state.count[C.aces] += 1
    state.count[C.self_recalls] += seat == state.cur
    emit(log, RECALL, card, seat)
    if _rank(card) == 13:
        if rules.recall_lifts and state.lock_owner[suit] >= 0:
            _unlock(state, suit, WORD.king_recalled, log)
        if state.ban_rank[suit] and not rules.bans_stay:
            _unban(state, suit, WORD.king_recalled, log)
    _gained(rules, state, seat, rules.limit_when == IMMEDIATE, rng, log)
    state.left -= 1
    if not _play_is_dead(rules, state):
        _next_ace(rules, state)


@helper
def _run_effects(rules, state, rng, log):
    """Run the stages of the play until one needs a decision or all are done (L111)."""
    while state.stage != S_END:
        stage = state.stage
        state.stage += 1
        if rules.ace_first and S_TYPE < stage < S_PAY:
            stage = S_ACE if stage == S_KING else stage - 1
        if state.play == JOKERS and stage != S_TYPE:
            state.stage = S_END
            _joker(rules, state, JOKERS, rng, log)
        elif stage == S_TYPE:
            _start_type_effect(rules, state, rng, log)
        elif stage == S_KING:
            _start_kings(rules, state, log)
        elif stage == S_QUEEN:
            _start_queens(rules, state, rng, log)
        elif stage == S_JACK:
            _start_jacks(rules, state)
        elif stage == S_ACE:
            _start_aces(rules, state)
        elif rules.pay_last and _is_in(state):
            _pay(rules, state, state.price, state.tax, rng, log)
        if _play_is_dead(rules, state):
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


@helper
def _joker(rules, state, cards, rng, log):
    """The effect of a Joker or of both (L86-105)."""
    me = state.cur
    hands = 0
    for p in range(rules.seats):
        hands |= state.hand[p]
    if cards == JOKERS:
        state.count[C.joker_pairs] += 1
        kind = WORD.joker_pair
        _to_stock(state, hands | JOKERS)
        shuffle(rng, CHANCE, state.stock, state.top, state.stock_end)
    else:
        state.exiled |= cards
        _put_all(state, me, cards, WORD.exiled, log)
        if cards == 1 << BLACK_JOKER:
            state.count[C.black_jokers] += 1
            kind = WORD.black_joker
            shuffle(rng, CHANCE, state.pool, 0, _pool(rules, state, hands))
        else:
            state.count[C.red_jokers] += 1
            kind = WORD.red_joker
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
        p = _seat_after(rules, state.cur, step)
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
        p = _seat_after(rules, state.cur, step)
        n = popcount(state.hand[p])
        state.hand[p] = 0
        if step == 0 and rules.count_joker:
            n += 1
        for _ in range(n):
            _take_top(state, p)


@helper
def _deal_pair(rules, state, log):
    """Every active seat flips its first card, then draws on in turn up to the size it calls for (L101-104)."""
    begin_at = state.cur + rules.pair_from_next * rules.direction
    for step in range(rules.seats):
        p = _seat_after(rules, begin_at, step)
        state.hand[p] = 0
        state.pool[p] = 0
        if state.active >> p & 1 and state.top < state.stock_end:
            card = np.int64(state.stock[state.top])
            emit(log, FLIP, card)
            _take_top(state, p)
            state.pool[p] = _pair_target(rules, card)
            if p == state.cur and card >= BLACK_JOKER:
                state.grace = 1
    short = True
    while short and state.top < state.stock_end:
        short = False
        for step in range(rules.seats):
            p = _seat_after(rules, begin_at, step)
            if popcount(state.hand[p]) < state.pool[p]:
                _take_top(state, p)
                short = True


# --- The turn (1.6) ---------------------------------------------------------------------------------------------------


@helper
def _owners_target(rules, state, seat):
    """The draws of a stuck seat: up to the hand of the owner whose lock blocks it, at least 1 (L75-77)."""
    return _target(rules, state, seat, _suit_set(state.hand[seat] & _others(state, state.locked, seat)))


@helper
def _target(rules, state, seat, suits):
    """The draws of a seat that the locks of these suits, a set, block (PJ-11)."""
    due = 0
    latest = 0
    if rules.match_stuck:
        mine = popcount(state.hand[seat])
        for suit in range(4):
            if suits >> suit & 1:
                more = max(1, popcount(state.hand[state.lock_owner[suit]]) - mine)
                if rules.stuck_target == LATEST_LOCK:
                    due = more if state.lock_at[suit] > latest else due
                    latest = max(latest, state.lock_at[suit])
                elif rules.stuck_target == MIN_OWNER and due:
                    due = min(due, more)
                else:
                    due = max(due, more)
    return max(due, 1)


@helper
def _release(rules, state, cards, log):
    """A play of the owner that contains a locked suit releases it (L73, PJ-30)."""
    if cards & (state.locked | state.taxed) == 0 or (rules.single_release and cards & (cards - 1)):
        return
    for suit in range(4):
        if state.lock_owner[suit] == state.cur and cards & (LANE_MASK << (LANE * suit)):
            _unlock(state, suit, WORD.owner_played, log)


@helper
def _release_bans(state, cards, log):
    """A ban until its owner plays that rank ends when he does (PJ-52), but not by the play that named it."""
    for suit in range(4):
        rank = 0 if state.new_bans >> suit & 1 else state.ban_rank[suit]
        if rank and state.ban_owner[suit] == state.cur and cards & (RANK_SET << (rank - 1)):
            _unban(state, suit, WORD.owner_played, log)


@helper
def _pass(rules, state, rng, log):
    """A voluntary pass (PJ-10), or no play after a stuck draw (PJ-12)."""
    emit(log, PASS, state.cur)
    if state.spare:
        return
    state.passed += 1
    state.count[C.passes] += 1
    if rules.passing == 1:
        _draw(rules, state, state.cur, 1, WORD.pass_, rng, log)


@helper
def _play(rules, state, cards, rng, log):
    """Steps 3 to 7 of a turn: the play, what it releases and completes, its price. Leaves the effects to run."""
    seat = state.cur
    price = gap(rules, state, cards)
    tax = _tax(state, seat, cards)
    emit(log, PLAY, seat, cards, price)
    starts = state.start_rank == 0
    if starts:
        state.start_rank = _rank(lowest(cards))
        state.start_card = cards
    n = popcount(cards)
    state.hand[seat] ^= cards
    state.acted = 1
    state.passed = 0
    state.count[C.cards_played] += n
    state.play = cards
    state.new_bans = 0
    state.stage = S_END
    if cards & JOKERS:
        _play_jokers(rules, state, cards, rng, log)
        return
    if n > 1:
        state.count[C.straights if cards & (cards >> 1) else C.sets] += 1
    _release(rules, state, cards, log)
    _place(rules, state, cards, log)
    if rules.win_check == ON_EMPTY and state.hand[seat] == 0:
        _finish(rules, state, seat, log)
        return
    if rules.pay_last:
        state.price = price
        state.tax = tax
        state.stage = S_PAY
    else:
        _pay(rules, state, price, tax, rng, log)
    if (n > 1 or cards & rules.faces) and (rules.start_effect or not starts):
        state.stage = S_TYPE
        state.receivers = 0


@helper
def _pay(rules, state, price, tax, rng, log):
    """Step 7: the draws that a play costs, what ends with them, and the win test after the cost."""
    seat = state.cur
    state.count[C.gap_draws] += _draw(rules, state, seat, price, WORD.gap, rng, log)
    if tax and not state.over and _is_in(state):
        _draw(rules, state, seat, tax, WORD.tax, rng, log)
    if state.over or not _is_in(state):
        return
    if rules.king == BAN_RANK and rules.ban_duration == OWNER_PLAYS:
        _release_bans(state, state.play, log)
    if rules.win_check == AFTER_COST and state.hand[seat] == 0:
        _finish(rules, state, seat, log)


@helper
def _play_jokers(rules, state, cards, rng, log):
    """A Joker or both: lifts every lock under PJ-37, exchanges like a set under PJ-38, then redeals."""
    if rules.jokers_lift:
        for suit in range(4):
            if state.lock_owner[suit] >= 0:
                _unlock(state, suit, WORD.joker, log)
    if cards == JOKERS and rules.pair_is_set:
        state.stage = S_TYPE
    else:
        _joker(rules, state, cards, rng, log)


@helper
def _limit_seats(rules, state):
    """The seats whose limit is tested at the end of this turn (PJ-15, PJ-16)."""
    me = 1 << state.cur
    if rules.limit_when == OWN_TURN_END:
        return 0 if rules.pair_grace and state.grace else me
    if rules.limit_when == ANY_TURN_END:
        return state.active
    if rules.limit_when == ROUND_END:
        step = ((_next_seat(rules, state, state.cur) - state.cur) * rules.direction - 1) % rules.seats
        home = ((state.first - state.cur) * rules.direction - 1) % rules.seats
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
    if _is_in(state) and state.hand[seat] == 0:
        _finish(rules, state, seat, log)
        if state.over:
            return
    tested = _limit_seats(rules, state)
    if tested:
        _test_limit(rules, state, tested, rng, log)
    if rules.joker_only == 2 and not state.over:
        lone = _lone_jokers(rules, state)
        if lone:
            _eliminate(rules, state, lone, WORD.joker_only, rng, log)
    if state.over:
        return
    active = popcount(state.active)
    state.idle = 0 if state.acted else state.idle + 1
    if (rules.passing and state.passed >= active) or (state.idle < active and state.turn >= rules.max_turns):
        state.over = STALLED + 1
        state.winner = -1
    elif state.idle >= active:
        state.over = (WIN if state.finished else DRAWN) + 1
    else:
        state.cur = _next_seat(rules, state, seat)
        state.turn += 1


@allocating
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
    state.spare = 0
    state.done = 0
    state.own_turns[seat] += 1
    if rules.king == BAN_RANK and rules.ban_duration == ONE_ROUND:
        for suit in range(4):
            if state.ban_rank[suit] and state.ban_owner[suit] == seat:
                _unban(state, suit, WORD.round_over, log)
    hand = state.hand[seat]
    if rules.joker_only and hand & JOKERS and hand & (hand - 1) == 0:
        if recording(log):
            _log_turn(rules, state, False, log)
        state.passed = 0
        _eliminate(rules, state, 1 << seat, WORD.joker_only, rng, log)
        return False
    stuck = state.start_rank != 0 and not _can_play(rules, state, seat)
    if recording(log):
        _log_turn(rules, state, not stuck, log)
    if not stuck:
        state.phase = MAIN
        return True
    state.passed = 0
    state.count[C.stuck] += 1
    state.count[C.stuck_draws] += _draw(
        rules, state, seat, _owners_target(rules, state, seat), WORD.stuck, rng, log
    )
    if rules.play_when_drawn and not state.over and _is_in(state) and _can_play(rules, state, seat):
        state.spare = 1
        if recording(log):
            _log_turn(rules, state, True, log)
        state.phase = MAIN
        return True
    return False


@helper
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
        _queen_return(rules, state, move, rng, log)
    elif phase == JACK_TAKE:
        _jack_take(rules, state, move, rng, log)
    elif phase == ACE_CARD:
        state.ace_card = move
        state.phase = ACE_RECEIVER
    elif phase == ACE_RECEIVER:
        _ace_receiver(rules, state, move, rng, log)
    else:
        _king_decided(rules, state, move, log)
    if _play_is_dead(rules, state):
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
    """Fewest cards lead; a seat that has finished is ahead, an eliminated one behind everybody."""
    if state.active >> seat & 1 or state.finish_order[seat]:
        return popcount(state.hand[seat])
    return DECK + 1


@helper
def _order(state, seat):
    """A seat's place as a number to sort by: the finished, active seats by hand size, the latest eliminated (1.8)."""
    if seat == state.winner or state.finish_order[seat]:
        return state.finish_order[seat] - DECK
    if state.active >> seat & 1:
        return popcount(state.hand[seat])
    return 1000 - state.out_moment[seat]


@helper
def _count_table(state):
    """Cards, complete suits and holes of the final table."""
    state.count[C.table_cards] = popcount(state.table)
    for suit in range(4):
        lane = (state.table >> (LANE * suit)) & LANE_MASK
        if lane == LANE_MASK:
            state.count[C.complete_suits] += 1
        if lane:
            state.count[C.holes] += highest(lane) - lowest(lane) + 1 - popcount(lane)
    state.count[C.stock_left] = state.stock_end - state.top
    state.count[C.start_rank] = state.start_rank


@helper
def outcome(rules, state, row):
    """Outcome, places, win shares (in 1/2520), per-seat figures and counters."""
    _count_table(state)
    row.outcome = state.over - 1
    row.turns = state.turn
    row.first = state.first
    row.direction = rules.direction
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
def opening(rules, state, seat, classes):
    """The opening hand, and its class in each partition."""
    hand = state.hand[seat]
    classes[0] = popcount(hand & (RANK_SET | RANK_SET << 12))
    classes[1] = popcount(hand & JOKERS)
    sets = min(max(_largest_set(hand & CARDS), 1), 3)
    runs = min(max(_longest_run(hand & CARDS), 1), 3)
    classes[2] = 3 * (sets - 1) + runs - 1
    return hand


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
    Feature(
        "hit_near_win", "the same, when the next seat holds at most 2 cards", "下家剩 2 張以下時的順子抽牌數"
    ),
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
    Feature(
        "hand_gap", "for a Joker: the gaps of the hand it gives away, summed", "出 Joker 時換走手牌的總差數"
    ),
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
    Feature(
        "closes_own", "own free cards lost when it is taken from the table", "回收後自己失去的免費接點數"
    ),
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
    Feature(
        "neighbours",
        "pairs of neighbouring cards of a suit in hand afterwards",
        "此著之後手中同花色相鄰的組數",
    ),
    Feature(
        "long_straights",
        "cards in hand afterwards that belong to straights of four or more",
        "此著之後手中屬於四張以上順子的牌數",
    ),
)
F: Any = namedtuple("F", [feature.name for feature in FEATURES])(*range(len(FEATURES)))
"""The index of each feature by name."""


@helper
def _free_places(table, start_rank):
    """The cards not on the table that cost nothing: next to a table card, or of the start rank."""
    return ((table << 1 | table >> 1) & CARDS | RANK_SET << (start_rank - 1)) & ~table


@helper
def _straight_features(rules, start_rank, hand, x):
    """What straights a hand holds; nothing where they may not be played.

    Two shifts leave the lowest card of every four in a row, two more spread it over the four. A row ends at a suit's
    guard bit and at the start rank, which no straight contains; 0, before the first play, masks nothing.
    """
    cards = hand & CARDS & ~(RANK_SET << start_rank >> 1)
    pairs = cards & cards >> 1
    if rules.combos and pairs:
        note(x, F.neighbours, popcount(pairs))
        lowest_of_four = pairs & pairs >> 2
        spread = lowest_of_four | lowest_of_four << 1
        note(x, F.long_straights, popcount(spread | spread << 2))


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
        note(x, F.seat_self, move == state.cur)
        note(x, F.seat_cards, popcount(state.hand[move]))
        note(x, F.seat_next, move == _next_seat(rules, state, state.cur))
        note(x, F.seat_over, popcount(state.hand[move]) >= rules.limit)
    elif phase == KING_RANK:
        note(x, F.rank_own, popcount(state.hand[state.cur] & (RANK_SET << (move - 1))))
        note(x, F.rank_table, popcount(state.table & (RANK_SET << (move - 1))))
        note(x, F.rank_start, move == state.start_rank)
    elif phase == KING_MODE:
        note(x, F.mode_tax, move)
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
    note(x, F.gap, draws)
    note(x, F.shed, n)
    after = left + draws + _effect_features(rules, state, cards, hand, x)
    note(x, F.hand_after, after)
    note(
        x,
        F.goes_out,
        after == 0
        or (left == 0 and (rules.win_check == ON_EMPTY or (draws == 0 and rules.win_check == AFTER_COST))),
    )
    note(x, F.over_limit, max(0, after - rules.limit))
    note(x, F.lone_joker, after == 1 and hand & JOKERS != 0)
    start = state.start_rank if state.start_rank else _rank(lowest(cards))
    _straight_features(rules, start, hand, x)
    before = _free_places(state.table, start)
    then = _free_places(state.table | cards, start)
    note(x, F.opens_own, popcount(then & hand) - popcount(before & hand))
    note(x, F.opens_others, popcount(then & ~hand) - popcount(before & ~hand & ~cards))
    if n > 1:
        if cards & (cards >> 1):
            hit = _next_seat(rules, state, seat)
            note(x, F.hit, (n - 1) * rules.straight_hit)
            note(x, F.hit_near_win, (n - 1) * rules.straight_hit * (popcount(state.hand[hit]) <= 2))
        else:
            note(x, F.exchange, min(n - 1, left) * rules.set_exchange)


@helper
def _effect_features(rules, state, cards, hand, x):
    """The special cards of a play, and the locks it sets and releases. Returns the cards its Jacks will take."""
    if cards & (state.locked | state.taxed):
        releases = 0
        for suit in range(4):
            if state.lock_owner[suit] == state.cur and cards & (LANE_MASK << (LANE * suit)):
                releases += 1
        note(x, F.releases, releases)
    if cards & rules.faces == 0:
        return 0
    kings = cards & rules.faces & (RANK_SET << 12)
    note(x, F.kings, popcount(kings))
    if kings:
        note(x, F.lock_own, popcount(hand & _suits(kings)))
    stock = state.stock_end - state.top
    note(x, F.queens, _effect_count(rules, cards, 12))
    note(x, F.aces, _effect_count(rules, cards, 1))
    jacks = min(_effect_count(rules, cards, 11), stock)
    note(x, F.jacks, jacks)
    return jacks


@helper
def _joker_features(rules, state, jokers, x):
    """A Joker, the pair, or a pass."""
    hand = state.hand[state.cur] & ~jokers
    note(x, F.passes, jokers == 0)
    note(x, F.black_joker, jokers == 1 << BLACK_JOKER)
    note(x, F.red_joker, jokers == 1 << RED_JOKER)
    note(x, F.joker_pair, jokers == JOKERS)
    note(x, F.shed, popcount(jokers))
    note(x, F.hand_after, popcount(hand))
    if jokers:
        rest = hand & CARDS
        total = 0
        while rest:
            total += _card_gap(rules, state, state.table, lowest(rest))
            rest &= rest - 1
        note(x, F.hand_gap, total)
    else:
        _straight_features(rules, state.start_rank, hand, x)


@helper
def _card_features(rules, state, card, x):
    """A card to give away (exchange, Queen) or to take (Jack)."""
    _straight_features(rules, state.start_rank, state.hand[state.cur] ^ 1 << card, x)
    if card >= BLACK_JOKER:
        note(x, F.card_joker, 1)
        return
    rank = _rank(card)
    bit = 1 << card
    note(x, F.card_gap, _card_gap(rules, state, state.table, card))
    note(x, F.card_ace, rank == 1 and rules.ace)
    note(x, F.card_jack, rank == 11 and rules.jack)
    note(x, F.card_queen, rank == 12 and rules.queen)
    note(x, F.card_king, rank == 13 and rules.king != PLAIN)
    note(x, F.card_locked, _others(state, state.locked, state.cur) & bit != 0)
    if rules.combos and rank != state.start_rank:
        partners = RANK_SET << (rank - 1) | bit << 1 | bit >> 1
        partners &= ~(RANK_SET << (state.start_rank - 1)) & CARDS & ~bit
        note(x, F.card_links, popcount(state.hand[state.cur] & partners))


@helper
def _recall_features(rules, state, card, x):
    """A table card that an Ace may send back into a hand."""
    bit = 1 << card
    hand = state.hand[state.cur]
    table = state.table & ~bit
    before = _free_places(state.table, state.start_rank)
    then = _free_places(table, state.start_rank) & ~bit
    note(x, F.card_gap, _card_gap(rules, state, table, card))
    note(x, F.card_king, _rank(card) == 13 and rules.king != PLAIN)
    note(x, F.card_ace, _rank(card) == 1 and rules.ace)
    note(x, F.closes_own, popcount(before & hand) - popcount(then & hand))
    note(x, F.closes_others, popcount(before & ~hand) - popcount(then & ~hand))
    suit = card // LANE
    owner = state.lock_owner[suit]
    if _rank(card) == 13 and owner >= 0:
        note(x, F.own_lock, owner == state.cur)
        note(x, F.lifts_lock, 0 if owner == state.cur else popcount(hand & (LANE_MASK << (LANE * suit))))


# --- What a seat has seen ---------------------------------------------------------------------------------------------
#
# To a seat a hidden card is a blank, which may have any of a set of faces; blanks of one set are of a kind. A picture
# says how many blanks of each kind lie in each place. A seat has pictures in mind, each with a weight. Where the game
# moves a hidden card, any blank of its place may have moved; where a card comes to light, any blank that may be it was
# it; what behaviour proves takes faces away: every picture becomes all pictures that can follow it, weighted with
# their chances, and equal ones become one again. In the end the hidden cards are shared out among the blanks of a
# picture, which is chosen by its weight times the ways to share them out. That is exact but for what is dropped when
# there are too many pictures; with nothing seen there is but one.

ROWS = 1024
"""How many rows of the record are kept. A seat that has more to catch up with forgets what it knew."""

KINDS = 24
PICTURES = 100
"""How many kinds and pictures a seat has in mind. Too many kinds are merged, the least likely pictures dropped."""

TOPS = 8
"""How many blanks on top of the stock are kept apart, as their order is known."""

FACTS = 32
"""How many of the latest proofs are kept."""

EVERYTHING = CARDS | JOKERS

# Places of blanks beside the hands: the shuffled part of the stock, a redeal's pool, the stock's top, and those seen.
BAG, POOL, TOP = SEATS, SEATS + 1, SEATS + 2
GONE = TOP + TOPS

CELLS = (GONE + 1) * KINDS
"""The numbers that make a picture, by place and kind. Those of GONE do not count."""

KEYS = np.random.default_rng(1).integers(1 << 56, size=CELLS)
"""A picture's key is their sum, one for each blank: two pictures of equal keys are equal, but for a chance of 2^-56."""
KEYS[GONE * KINDS :] = 0

# What a row of the record tells of a seat and of a card or some cards.
SHOWS = 0  # these cards leave the hand face up
DRAWS = 1  # the top card of the stock goes to the hand
LOOKS = 2  # these are the cards of the stock, which a Jack's player sees
TAKES = 3  # he takes this one
RETURNS = 4  # a card of the hand goes on top of the stock
MIXES = 5  # the stock is shuffled
RECALLS = 6  # an Ace gives this table card to the hand
HOLDS = 7  # this card is in the hand, as everybody knows
LACKS = 8  # none of these cards is in the hand
PROVES = 9  # the number of a proof about the hand
POOLS = 10  # all hands are shuffled together for the seat's black Joker
IS_DEALT = 11  # these are its new hand

ONE_OF, PLAYABLE, NO_PAIR, LOCKED_SUITS = range(4)
"""What is proved of a hand: see `alone`, `far`, `near` and `suits`."""

QUIET, ASKED, HAS_DRAWN = range(3)
"""What a turn has shown so far: nothing that proves anything, that it began, that its seat drew as it was stuck."""

MEMORY = np.dtype(
    [
        *SHARING,
        # The game as the log tells it; what the rules are asked about has the names of a state.
        ("hand", np.int64, SEATS),
        ("stock", np.int64),
        ("active", np.int64),
        ("table", np.int64),
        ("start_rank", np.int64),
        ("lock_owner", np.int64, 4),
        ("lock_at", np.int64, 4),
        ("locks_set", np.int64),
        ("locked", np.int64),
        ("taxed", np.int64),
        ("ban_rank", np.int64, 4),
        ("ban_owner", np.int64, 4),
        ("top", np.int64),
        ("stock_end", np.int64),
        ("turn", np.int64),
        ("seat", np.int64),  # the seat at turn
        ("spare", np.int64),
        ("open", np.int64),  # what the turn has shown
        ("kind", np.int64),  # of the redeal at hand,
        ("pooled", np.int64),  # all its cards, the stock's included,
        ("flipped", np.int64),
        ("dealt", np.int64),  # and the seats whose hands have been told
        # The record: row r stands at r mod ROWS
        ("rows", np.int64),
        ("what", np.int64, ROWS),
        ("who", np.int64, ROWS),
        ("cards", np.int64, ROWS),
        # Proofs that a hand held one of the cards `alone`, or else a pair of a `far` and a `near` one; that it held no
        # such pair; or that the locked suits it held were one of the sets of suits in `suits`
        ("facts", np.int64),
        ("proof", np.int64, FACTS),
        ("alone", np.int64, FACTS),
        ("far", np.int64, 2 * FACTS),
        ("near", np.int64, 2 * FACTS),
        ("suits", np.int64, FACTS),
        # What each seat has in mind
        ("about", np.int64, SEATS),  # hidden cards that it knows something about, if still hidden
        ("noted", np.int64, SEATS),  # the rows it has caught up with
        ("looked", np.int64, SEATS),  # and whether it looks at the stock after them
        ("hidden_from", np.int64, SEATS),
        ("held_by", np.int64, SEATS),
        ("kinds_of", np.int64, SEATS),
        ("tops_of", np.int64, SEATS),
        ("side_of", np.int64, SEATS),
        ("pictures_of", np.int64, SEATS),
        ("faces", np.int64, SEATS * KINDS),
        # Its pictures, and beside them those that follow
        ("weight", np.float64, SEATS * 2 * PICTURES),
        ("key", np.int64, SEATS * 2 * PICTURES),
        ("cells", np.uint8, SEATS * 2 * PICTURES * CELLS),
        ("worth", np.float64, SEATS * PICTURES),  # with the ways to share the cards out
        # The same of the seat at hand
        ("viewer", np.int64),
        ("hidden", np.int64),
        ("mine", np.int64),
        ("kinds", np.int64),
        ("tops", np.int64),
        ("side", np.int64),
        ("pictures", np.int64),
        ("following", np.int64),
        ("becomes", np.int64, KINDS),  # kinds renamed
        ("dealer", np.int64),  # the player of the black Joker at hand
        ("nested", np.int64),  # whether of any two groups one has all faces of the other, or none
    ]
)


# Noting what happens


@helper
def _is_single(cards):
    return cards != 0 and cards & (cards - 1) == 0


@outlined
def _learn(rules, memory, seat, cards):
    """Before a row that tells a seat of some cards: where all that it knew about has come to light, it begins anew."""
    hidden = memory.stock
    for p in range(rules.seats):
        if p != seat:
            hidden |= memory.hand[p]
    if memory.about[seat] & hidden == 0:
        memory.about[seat] = 0
        _begin_knowing(rules, memory, seat, hidden)
    memory.about[seat] |= cards


@outlined
def _write(rules, memory, what, who, cards):
    """Write a row, if any seat needs it."""
    needed = 0
    for p in range(rules.seats):
        if memory.rows - memory.noted[p] == ROWS:
            memory.about[p] = 0
        needed |= memory.about[p]
    if needed:
        row = memory.rows % ROWS
        memory.what[row] = what
        memory.who[row] = who
        memory.cards[row] = cards
        memory.rows += 1


@outlined
def _tell(rules, memory, what, who, cards, about):
    """Write a row that tells all seats but `who` something about some cards."""
    for p in range(rules.seats):
        if p != who:
            _learn(rules, memory, p, about)
    _write(rules, memory, what, who, cards)


@helper
def forget(rules, state, memory):
    """Every seat knows its own hand and what lies open and, before the first play, what the start search told (1.2)."""
    memory.rows = memory.facts = memory.turn = memory.seat = memory.spare = memory.open = 0
    memory.stock = _stock_cards(state)
    memory.stock_end = DECK
    memory.active = state.active
    memory.table = state.table
    memory.start_rank = state.start_rank
    memory.locked = state.locked
    memory.taxed = state.taxed
    memory.locks_set = state.locks_set
    for p in range(SEATS):
        memory.hand[p] = state.hand[p]
        memory.about[p] = 0
    for suit in range(4):
        memory.lock_owner[suit] = state.lock_owner[suit]
        memory.lock_at[suit] = state.lock_at[suit]
        memory.ban_rank[suit] = state.ban_rank[suit]
        memory.ban_owner[suit] = state.ban_owner[suit]
    if state.start_rank == 0:
        _note_search(rules, state, memory)


@outlined
def _note_search(rules, state, memory):
    """No hand holds a card that the start search asked for before the one it found; who holds that is told too."""
    asked = 0
    for step in range(52):
        place, suit = (step % 13, step // 13) if rules.suit_major else (step // 4, step % 4)
        card = 1 << (LANE * suit + SEARCH[place] - 1)
        if card == state.start_card:
            break
        asked |= card
    if asked:
        for p in range(rules.seats):
            _tell(rules, memory, LACKS, p, asked, asked)
    if rules.free_start:
        _tell(rules, memory, HOLDS, state.first, state.start_card, state.start_card)


@helper
def _legal_alone(rules, memory, seat):
    """The cards, Jokers among them, that the seat could play alone now if it held them."""
    memory.top = memory.stock_end - popcount(memory.stock)
    cards = CARDS & ~memory.table & ~_others(memory, memory.locked, seat)
    if rules.king == BAN_RANK:
        cards &= ~_banned(rules, memory, seat)
    if rules.filtered:
        rest = cards
        while rest:
            card = rest & -rest
            rest ^= card
            if not _affordable(rules, memory, seat, card):
                cards ^= card
    return cards | JOKERS


@outlined
def _note_pairs(rules, memory, seat, alone, fact):
    """The pairs that the seat could play of cards it could not play alone: PJ-50 and PJ-09 together. Whether any.

    The free one of the two is too far from everything, the locked one near enough; a tax on the free one comes on top.
    """
    locked = _others(memory, memory.locked, seat)
    sets = CARDS & ~memory.table & ~(RANK_SET << (memory.start_rank - 1))
    for tax in range(2):
        memory.far[2 * fact + tax] = 0
        memory.near[2 * fact + tax] = 0
    counts = rules.locked_member and rules.strict_stock and rules.combos and rules.combo_gap == MIN
    if locked == 0 or not counts:
        return False
    far = sets & ~locked & ~alone
    taxed = _others(memory, memory.taxed, seat)
    memory.far[2 * fact] = far & ~taxed
    memory.far[2 * fact + 1] = far & taxed
    rest = sets & locked
    while rest:
        card = rest & -rest
        rest ^= card
        left = memory.stock_end - memory.top - gap(rules, memory, card)
        if left >= 0:
            memory.near[2 * fact] |= card
        if left > 0:
            memory.near[2 * fact + 1] |= card
    return _has_pair(memory, fact, EVERYTHING)


@helper
def _ranks_of(cards):
    """The ranks of regular cards, as a lane."""
    cards |= cards >> (2 * LANE)
    return (cards | cards >> LANE) & LANE_MASK


@helper
def _has_pair(memory, fact, cards):
    """Whether there is a pair of a far and a near card among the cards."""
    common = 0
    for tax in range(2 * fact, 2 * fact + 2):
        common |= _ranks_of(memory.far[tax] & cards & CARDS) & _ranks_of(memory.near[tax] & cards & CARDS)
    return common != 0


@outlined
def _note_proof(rules, memory, seat, proof):
    """A proof about the hand of a seat, whose sets are written already."""
    memory.proof[memory.facts % FACTS] = proof
    memory.facts += 1
    _tell(rules, memory, PROVES, seat, memory.facts - 1, EVERYTHING)


@outlined
def _note_play(rules, memory, seat, can):
    """A seat is proved to have something to play now, or nothing."""
    alone = _legal_alone(rules, memory, seat)
    fact = memory.facts % FACTS
    memory.alone[fact] = alone
    pairs = _note_pairs(rules, memory, seat, alone, fact)
    if can:
        if memory.table | alone != EVERYTHING:
            _note_proof(rules, memory, seat, PLAYABLE if pairs else ONE_OF)
        return
    _tell(rules, memory, LACKS, seat, alone, alone)
    if pairs:
        _note_proof(rules, memory, seat, NO_PAIR)


@outlined
def _note_target(rules, memory, seat):
    """How many cards a stuck seat draws tells something of the suits that block it, if their locks ask for different
    numbers (PJ-11)."""
    most = popcount(memory.stock)
    if rules.limit_when == IMMEDIATE and not rules.batch:
        most = min(most, max(1, rules.limit + 1 - popcount(memory.hand[seat])))
    drawn = min(_owners_target(rules, memory, seat), most)
    locked = _suit_set(_others(memory, memory.locked, seat))
    fits = some = single = 0
    for suits in range(0 if rules.strict_stock else 1, 16):
        if suits & ~locked == 0 and min(_target(rules, memory, seat, suits), most) == drawn:
            fits |= 1 << suits
            some |= suits
            single |= suits if _is_single(suits) else 0
    if locked & ~some:
        lanes = _lanes(locked & ~some)
        _tell(rules, memory, LACKS, seat, lanes, lanes)
    free = simple = True
    for suits in range(0 if rules.strict_stock else 1, 16):
        if suits & ~some == 0:
            free &= fits >> suits & 1 != 0
            simple &= (fits >> suits & 1 != 0) == (suits & single != 0)
    if free:
        return
    memory.alone[memory.facts % FACTS] = _lanes(single if simple else locked)
    memory.suits[memory.facts % FACTS] = fits
    _note_proof(rules, memory, seat, ONE_OF if simple else LOCKED_SUITS)


@helper
def _lanes(suits):
    """The cards of a set of suits."""
    cards = 0
    for suit in range(4):
        if suits >> suit & 1:
            cards |= LANE_MASK << (LANE * suit)
    return cards


@outlined
def _conclude(rules, memory, event, a, b, c):
    """What the next event proves of a turn that has begun: whether its seat could play, or held a single Joker."""
    seat = memory.seat
    shown = memory.open
    if shown == HAS_DRAWN and event == DRAW and c == WORD.stuck:
        return
    memory.open = QUIET
    if shown == HAS_DRAWN:
        if event == TURN and a == memory.turn:
            _note_play(rules, memory, seat, 1)
        elif event != ELIMINATE or a != seat or rules.limit_when != IMMEDIATE:
            _note_play(rules, memory, seat, 0)
    elif event == MOVE:
        if rules.joker_only and _is_single(memory.hand[seat]):
            _tell(rules, memory, LACKS, seat, JOKERS, JOKERS)
    elif event == ELIMINATE and a == seat and b == WORD.joker_only:
        _tell(rules, memory, LACKS, seat, CARDS, JOKERS)
    else:
        _note_play(rules, memory, seat, 0)
        if event == DRAW:
            if rules.match_stuck:
                _note_target(rules, memory, seat)
            memory.open = HAS_DRAWN if rules.play_when_drawn else QUIET


@helper
def _note_turn(rules, memory, turn, seat):
    """A turn begins, or PJ-12 goes on. Under PJ-35 also_when_hit nobody holds a single Joker after the last one."""
    memory.spare = np.int64(turn == memory.turn)
    if memory.spare:
        return
    if rules.joker_only == 2 and memory.turn:
        for p in range(rules.seats):
            if p != seat and _is_single(memory.hand[p]):
                _tell(rules, memory, LACKS, p, JOKERS, JOKERS)
    memory.turn = turn
    memory.seat = seat
    memory.open = ASKED


@helper
def _note_draw(rules, memory, seat, card, reason):
    if reason == WORD.jack:
        _learn(rules, memory, seat, EVERYTHING)
        if rules.jack_shown:
            for p in range(rules.seats):
                _learn(rules, memory, p, card)
        _write(rules, memory, LOOKS, seat, memory.stock)
        _write(rules, memory, TAKES, seat, card)
    else:
        _write(rules, memory, DRAWS, seat, card)
    memory.stock &= ~card
    memory.hand[seat] |= card


@helper
def _note_put(rules, memory, seat, card, place):
    """A card leaves a hand, for the stock unseen, else face up."""
    if memory.hand[seat] & card == 0:
        return  # a Joker, which was noted before
    if place == WORD.stock_top or place == WORD.stock_shuffled:
        if not memory.active >> seat & 1 and rules.layout != INTO_STOCK:
            _tell(rules, memory, LACKS, seat, CARDS, JOKERS)  # all other cards have been laid out
        _learn(rules, memory, seat, card)
        _write(rules, memory, RETURNS, seat, card)
        memory.stock |= card
    else:
        _write(rules, memory, SHOWS, seat, card)
        if place == WORD.table:
            memory.table |= card
    memory.hand[seat] &= ~card


@helper
def _note_elimination(rules, memory, seat):
    """A seat is out. Where its hand goes into the stock but for the Jokers, those are shown, and no other is in it."""
    memory.active &= ~(1 << seat)
    if rules.layout == INTO_STOCK and not rules.jokers_to_stock:
        jokers = memory.hand[seat] & JOKERS
        if jokers:
            _write(rules, memory, SHOWS, seat, jokers)
            memory.hand[seat] &= ~jokers
        _tell(rules, memory, LACKS, seat, JOKERS, JOKERS)


@helper
def _note_redeal(rules, memory, kind):
    memory.kind = kind
    memory.dealt = memory.flipped = 0
    memory.pooled = memory.stock | (JOKERS if kind == WORD.joker_pair else 0)
    for p in range(rules.seats):
        memory.pooled |= memory.hand[p]
    if kind == WORD.black_joker:
        for p in range(rules.seats):
            _learn(rules, memory, p, memory.hand[p])
        _write(rules, memory, POOLS, memory.seat, 0)


@helper
def _note_hand(rules, memory, hand):
    """The next seat's hand of a redeal; after the last one of a red Joker or a pair only the flips are known."""
    seat = memory.dealt
    memory.dealt += 1
    memory.hand[seat] = hand
    if memory.kind == WORD.black_joker:
        _write(rules, memory, IS_DEALT, seat, hand)
    if memory.dealt < rules.seats:
        return
    memory.stock = memory.pooled
    for p in range(rules.seats):
        memory.stock &= ~memory.hand[p]
    if memory.kind == WORD.black_joker:
        return
    for p in range(rules.seats):
        memory.about[p] = 0
    for p in range(rules.seats):
        flip = memory.hand[p] & memory.flipped
        if flip:
            _tell(rules, memory, HOLDS, p, flip, flip)


@helper
def _note_locks(memory, event, a, b, c):
    """Locks, taxes and bans."""
    if event == LOCK:
        lane = LANE_MASK << (LANE * a)
        memory.lock_owner[a] = b
        memory.locks_set += 1
        memory.lock_at[a] = memory.locks_set
        memory.locked = memory.locked & ~lane | (0 if c else lane)
        memory.taxed = memory.taxed & ~lane | (lane if c else 0)
    elif event == UNLOCK:
        lane = LANE_MASK << (LANE * a)
        memory.lock_owner[a] = -1
        memory.locked &= ~lane
        memory.taxed &= ~lane
    elif event in (BAN, UNBAN):
        suit = c // LANE
        memory.ban_rank[suit] = a if event == BAN else 0
        memory.ban_owner[suit] = b if event == BAN else -1


@helper
def remember(rules, memory, event, a, b, c, d):
    """Note what the seats see of an event, each of them its part."""
    if memory.open and event != CARD:
        _conclude(rules, memory, event, a, b, c)
    if event == TURN:
        _note_turn(rules, memory, a, b)
    elif event == PLAY:
        if memory.start_rank == 0:
            memory.start_rank = _rank(lowest(b))
        memory.hand[a] &= ~b
        memory.table |= b & CARDS
        _write(rules, memory, SHOWS, a, b)
    elif event == PASS:
        if not memory.spare:
            _note_play(rules, memory, a, 1)
    elif event == DRAW:
        _note_draw(rules, memory, a, 1 << b, c)
    elif event == PUT:
        _note_put(rules, memory, a, 1 << b, c)
    elif event == SHUFFLE:
        _write(rules, memory, MIXES, 0, 0)
    elif event == RECALL:
        _tell(rules, memory, RECALLS, b, 1 << a, 1 << a)
        memory.table &= ~(1 << a)
        memory.hand[b] |= 1 << a
    elif event == ELIMINATE:
        _note_elimination(rules, memory, a)
    elif event == REDEAL:
        _note_redeal(rules, memory, a)
    elif event == FLIP:
        memory.flipped |= 1 << a
    elif event == HAND:
        _note_hand(rules, memory, a)
    else:
        _note_locks(memory, event, a, b, c)


# What a seat makes of it


@helper
def _first(memory):
    """The index of the first picture of the seat at hand."""
    return (2 * memory.viewer + memory.side) * PICTURES


@helper
def _at(picture, place, kind):
    """The index of a cell of a picture: how many blanks of a kind lie in a place."""
    return picture * CELLS + place * KINDS + kind


@helper
def _faces(memory, kind):
    """The faces, hidden now, that a blank of a kind may have."""
    return memory.faces[memory.viewer * KINDS + kind] & memory.hidden


@outlined
def _begin_knowing(rules, memory, seat, hidden):
    """A seat knows its hand and nothing else: one kind of blanks, one picture."""
    memory.noted[seat] = memory.rows
    memory.looked[seat] = 0
    memory.held_by[seat] = memory.hand[seat]
    memory.hidden_from[seat] = hidden
    memory.tops_of[seat] = memory.side_of[seat] = 0
    memory.kinds_of[seat] = memory.pictures_of[seat] = 1
    memory.faces[seat * KINDS] = hidden
    picture = 2 * seat * PICTURES
    memory.weight[picture] = 1.0
    for cell in range(CELLS):
        memory.cells[picture * CELLS + cell] = 0
    left = popcount(hidden)
    for p in range(rules.seats):
        if p != seat:
            memory.cells[_at(picture, p, 0)] = popcount(memory.hand[p])
            left -= popcount(memory.hand[p])
    memory.cells[_at(picture, BAG, 0)] = left


@helper
def _recall(memory, seat):
    """Take up what a seat has in mind."""
    memory.viewer = seat
    memory.hidden = memory.hidden_from[seat]
    memory.mine = memory.held_by[seat]
    memory.kinds = memory.kinds_of[seat]
    memory.tops = memory.tops_of[seat]
    memory.side = memory.side_of[seat]
    memory.pictures = memory.pictures_of[seat]


@helper
def _keep(memory, seat):
    """Leave what the seat has in mind now."""
    memory.hidden_from[seat] = memory.hidden
    memory.held_by[seat] = memory.mine
    memory.kinds_of[seat] = memory.kinds
    memory.tops_of[seat] = memory.tops
    memory.side_of[seat] = memory.side
    memory.pictures_of[seat] = memory.pictures


@outlined
def _kind(memory, faces):
    """The kind of the blanks that may have these faces. If there are too many kinds, the likest one, widened."""
    likest = 0
    least = BITS + 1
    for k in range(memory.kinds):
        unlike = popcount(_faces(memory, k) ^ faces & memory.hidden)
        if unlike == 0:
            return k
        if unlike < least:
            least = unlike
            likest = k
    if memory.kinds == KINDS:
        memory.faces[memory.viewer * KINDS + likest] |= faces
        return likest
    memory.faces[memory.viewer * KINDS + memory.kinds] = faces
    memory.kinds += 1
    return memory.kinds - 1


@outlined
def _tidy(memory):
    """Make kinds that have become equal one, and pictures; drop kinds that are not used and pictures that cannot be."""
    first = _first(memory)
    kinds = 0
    for k in range(memory.kinds):
        used = 0
        for i in range(first, first + memory.pictures):
            for place in range(GONE):
                used |= memory.cells[_at(i, place, k)]
        memory.becomes[k] = KINDS
        if used and _faces(memory, k):
            for other in range(kinds):
                if _faces(memory, other) == _faces(memory, k):
                    memory.becomes[k] = other
            if memory.becomes[k] == KINDS:
                memory.faces[memory.viewer * KINDS + kinds] = memory.faces[memory.viewer * KINDS + k]
                memory.becomes[k] = kinds
                kinds += 1
    kept = 0
    for i in range(first, first + memory.pictures):
        if memory.weight[i] > 0.0 and _rename_kinds(memory, i):
            kept += _join(memory, i, first, first + kept)
    memory.kinds = kinds
    memory.pictures = kept


@helper
def _rename_kinds(memory, picture):
    """Rename the kinds of a picture, and work out its key. Whether each blank has a face."""
    key = 0
    for place in range(GONE):
        for k in range(memory.kinds):
            cell = _at(picture, place, k)
            number = memory.cells[cell]
            if number:
                kind = memory.becomes[k]
                if kind == KINDS:
                    return False
                memory.cells[cell] = 0
                memory.cells[_at(picture, place, kind)] += number
                key += number * KEYS[place * KINDS + kind]
    memory.key[picture] = key
    return True


@helper
def _join(memory, picture, first, goal):
    """Move a picture to the index `goal`, unless it is equal to one from `first` on. Whether it has moved."""
    for i in range(first, goal):
        if memory.key[i] == memory.key[picture]:
            memory.weight[i] += memory.weight[picture]
            return False
    memory.weight[goal] = memory.weight[picture]
    memory.key[goal] = memory.key[picture]
    if goal < picture:
        for cell in range(CELLS):
            memory.cells[goal * CELLS + cell] = memory.cells[picture * CELLS + cell]
    return True


@outlined
def _add_picture(memory, source, origin, number, goal, moved, rest, weight):
    """Add a picture that follows from `source`: of `number` blanks in the cell `origin` some have `moved` to the cell
    `goal`, the others to the cell `rest`. Where there are too many pictures, the least likely one is dropped."""
    key = memory.key[source] - number * KEYS[origin] + moved * KEYS[goal] + (number - moved) * KEYS[rest]
    first = (2 * memory.viewer + 1 - memory.side) * PICTURES
    at = first + memory.following
    for i in range(first, at):
        if memory.key[i] == key:
            memory.weight[i] += weight
            return
    if memory.following < PICTURES:
        memory.following += 1
    else:
        at = first
        for i in range(first + 1, first + PICTURES):
            at = i if memory.weight[i] < memory.weight[at] else at
        if memory.weight[at] >= weight:
            return
    for cell in range(CELLS):
        memory.cells[at * CELLS + cell] = memory.cells[source * CELLS + cell]
    memory.cells[at * CELLS + origin] -= number
    memory.cells[at * CELLS + goal] += moved
    memory.cells[at * CELLS + rest] += number - moved
    memory.key[at] = key
    memory.weight[at] = weight


@helper
def _follow(memory):
    """Go on with the pictures that have been added."""
    memory.side = 1 - memory.side
    memory.pictures = memory.following


@outlined
def _move(memory, origin, beside, goal, card):
    """A blank goes to `goal`, any one of the place `origin` and, if that is another, the place `beside`.

    If a card is given, the blank proves to be it.
    """
    first = _first(memory)
    memory.following = 0
    for i in range(first, first + memory.pictures):
        total = 0
        for k in range(memory.kinds):
            total += memory.cells[_at(i, origin, k)]
            if beside != origin:
                total += memory.cells[_at(i, beside, k)]
        for k in range(memory.kinds):
            if card and not _faces(memory, k) & card:
                continue
            for side in range(1 + (beside != origin)):
                cell = (beside if side else origin) * KINDS + k
                number = memory.cells[i * CELLS + cell]
                if number:
                    weight = memory.weight[i] * number / total
                    _add_picture(memory, i, cell, 1, goal * KINDS + k, 1, cell, weight)
    _follow(memory)
    memory.hidden &= ~card


@outlined
def _split(rules, memory, place, cards):
    """Tell apart, in a place, the blanks that are among some cards and those that are not."""
    for k in range(memory.kinds):
        if _faces(memory, k) & cards == 0 or _faces(memory, k) & ~cards == 0:
            continue
        inside = place * KINDS + _kind(memory, _faces(memory, k) & cards)
        outside = place * KINDS + _kind(memory, _faces(memory, k) & ~cards)
        first = _first(memory)
        memory.following = 0
        for i in range(first, first + memory.pictures):
            number = np.int64(memory.cells[_at(i, place, k)])
            weight = memory.weight[i]
            for moved in range(number + 1):
                _add_picture(memory, i, place * KINDS + k, number, inside, moved, outside, weight)
                weight *= (number - moved) / (moved + 1)
        _follow(memory)
        _thin(rules, memory)


@outlined
def _bar(memory, place, cards):
    """No blank of a place is one of these cards."""
    first = _first(memory)
    for k in range(memory.kinds):
        if _faces(memory, k) & cards == 0:
            continue
        left = -1
        for i in range(first, first + memory.pictures):
            number = memory.cells[_at(i, place, k)]
            if number:
                left = _kind(memory, _faces(memory, k) & ~cards) if left < 0 else left
                memory.cells[_at(i, place, k)] = 0
                memory.cells[_at(i, place, left)] += number
    _tidy(memory)


@outlined
def _hide(memory, cards):
    """Cards that were seen are hidden from now on; no blank that was hidden before is one of them. Their kind."""
    memory.hidden |= cards
    for k in range(memory.kinds):
        memory.faces[memory.viewer * KINDS + k] &= ~cards
    return _kind(memory, cards)


@outlined
def _add_blank(memory, place, kind):
    """A blank of a kind comes to a place of every picture."""
    first = _first(memory)
    for i in range(first, first + memory.pictures):
        memory.cells[_at(i, place, kind)] += 1
        memory.key[i] += KEYS[place * KINDS + kind]


@helper
def _carry(memory, picture, origin, goal):
    """All blanks of a place go to another one."""
    for k in range(memory.kinds):
        number = memory.cells[_at(picture, origin, k)]
        memory.cells[_at(picture, origin, k)] = 0
        memory.cells[_at(picture, goal, k)] += number


@helper
def _is_known(memory, picture, kind):
    """Whether blanks of this kind are one card, which no other blank of the picture may be."""
    card = _faces(memory, kind)
    if not _is_single(card):
        return False
    others = 0
    for k in range(memory.kinds):
        if k != kind and _faces(memory, k) & card:
            for place in range(GONE):
                others |= memory.cells[_at(picture, place, k)]
    return others == 0


@outlined
def _shuffle_blanks(memory, picture, place, known):
    """The blanks of a place are shuffled; `known` is the kind of several known cards among them, or -1.

    A known card and blanks of a kind that are shuffled together cannot be told apart: each of them may have its face,
    which no blank elsewhere may have.
    """
    cards = shuffled = most = 0
    best = -1
    for k in range(memory.kinds):
        number = np.int64(memory.cells[_at(picture, place, k)])
        if number and (k == known or _is_known(memory, picture, k)):
            cards |= _faces(memory, k)
            shuffled += number
            memory.cells[_at(picture, place, k)] = 0
        elif number > most:
            most = number
            best = k
    if cards:
        faces = cards
        if best >= 0:
            faces |= _faces(memory, best)
            memory.cells[_at(picture, place, best)] = 0
        memory.cells[_at(picture, place, _kind(memory, faces))] += most + shuffled


@outlined
def _mix_stock(memory):
    """The stock is shuffled, with the blanks on top whose order was known."""
    first = _first(memory)
    for i in range(first, first + memory.pictures):
        for top in range(TOP, TOP + memory.tops):
            _carry(memory, i, top, BAG)
        _shuffle_blanks(memory, i, BAG, -1)
    memory.tops = 0
    _tidy(memory)


@outlined
def _pool_hands(rules, memory):
    """All hands are shuffled together, the seat's own too."""
    first = _first(memory)
    known = _hide(memory, memory.mine)
    for i in range(first, first + memory.pictures):
        for p in range(rules.seats):
            _carry(memory, i, p, POOL)
        memory.cells[_at(i, POOL, known)] += popcount(memory.mine)
        _shuffle_blanks(memory, i, POOL, known)
    memory.mine = 0
    _tidy(memory)
    if _deals(rules, memory) > PICTURES:
        for i in range(first, first + memory.pictures):
            _widen_pool(memory, i)
        _tidy(memory)


@helper
def _deals(rules, memory):
    """At most how many pictures follow when the pool is dealt: in each of them a hand has some blanks of each kind."""
    first = _first(memory)
    most = cards = 0
    for i in range(first, first + memory.pictures):
        kinds = cards = 0
        for k in range(memory.kinds):
            cards += memory.cells[_at(i, POOL, k)]
            kinds += memory.cells[_at(i, POOL, k)] > 0
        most = max(most, kinds)
    hands = popcount(memory.active)
    return memory.pictures * (1.0 + cards / hands) ** ((most - 1) * (hands - 1))


@helper
def _widen_pool(memory, picture):
    """Let the blanks of the pool be of one kind. What is forgotten is how many of them have faces of the stock's."""
    faces = number = 0
    for k in range(memory.kinds):
        cell = _at(picture, POOL, k)
        if memory.cells[cell]:
            faces |= _faces(memory, k)
            number += memory.cells[cell]
            memory.cells[cell] = 0
    memory.cells[_at(picture, POOL, _kind(memory, faces))] += number


@helper
def _top_place(memory):
    """The place of the stock's top blank: it has one of its own if its order is known."""
    if memory.tops == 0:
        return BAG
    memory.tops -= 1
    return TOP + memory.tops


@helper
def _new_top(memory):
    """The place of a blank that comes on top of the stock. Of too many the order is forgotten."""
    if memory.tops == TOPS:
        _mix_stock(memory)
    memory.tops += 1
    return TOP + memory.tops - 1


@outlined
def _look(memory, cards):
    """The seat sees which cards the stock has: its blanks are these, and no others. Its top keeps its order."""
    if memory.tops:
        for place in range(GONE):
            _bar(memory, place, cards if place < BAG else ~cards)
        return
    first = _first(memory)
    for i in range(first, first + memory.pictures):
        memory.weight[i] *= _ways(memory, _group_stock(memory, i, 0), cards)
        for cell in range(_at(i, BAG, 0), _at(i, GONE, 0)):
            memory.cells[cell] = 0
    kind = _hide(memory, cards)
    for i in range(first, first + memory.pictures):
        memory.cells[_at(i, BAG, kind)] = popcount(cards)
    _tidy(memory)


# Proofs


@helper
def _is_true(memory, fact, cards):
    """Whether the cards are as proved."""
    proof = memory.proof[fact]
    if proof == LOCKED_SUITS:
        return memory.suits[fact] >> _suit_set(cards & memory.alone[fact]) & 1 != 0
    if proof == NO_PAIR:
        return not _has_pair(memory, fact, cards)
    return cards & memory.alone[fact] != 0 or (proof == PLAYABLE and _has_pair(memory, fact, cards))


@outlined
def _prove(rules, memory, place, number):
    """Keep the pictures where a hand is as proved. Its blanks are told apart first, as far as that is about them."""
    if number <= memory.facts - FACTS:
        return
    fact = number % FACTS
    proof = memory.proof[fact]
    if proof == LOCKED_SUITS:
        for suit in range(4):
            _split(rules, memory, place, memory.alone[fact] & (LANE_MASK << (LANE * suit)))
    if proof in (ONE_OF, PLAYABLE):
        _split(rules, memory, place, memory.alone[fact])
    if proof in (PLAYABLE, NO_PAIR):
        for tax in range(2 * fact, 2 * fact + 2):
            ranks = _ranks_of(memory.far[tax]) & _ranks_of(memory.near[tax])
            while ranks:
                same = RANK_SET << lowest(ranks)
                ranks &= ranks - 1
                _split(rules, memory, place, memory.far[tax] & same)
                _split(rules, memory, place, memory.near[tax] & same)
    first = _first(memory)
    for i in range(first, first + memory.pictures):
        cards = 0
        for k in range(memory.kinds):
            if memory.cells[_at(i, place, k)]:
                cards |= _faces(memory, k) & -_faces(memory, k)
        memory.weight[i] *= _is_true(memory, fact, cards)
    _tidy(memory)


# Rows


@helper
def _draws_extra(rules, memory, seat):
    """Whether a seat that is dealt a new hand takes a card of the stock as well (PJ-59)."""
    if not rules.count_joker or seat != memory.dealer:
        return False
    first = _first(memory)
    left = memory.tops
    for k in range(memory.kinds):
        left += memory.cells[_at(first, BAG, k)]
    return left > 0


@outlined
def _receive_hand(rules, memory, seat, cards):
    """The seat's own new hand. One of the cards may be the stock's."""
    memory.mine = cards
    extra = POOL
    if _draws_extra(rules, memory, seat):
        origin = _top_place(memory)
        extra = TOP + memory.tops
        _move(memory, origin, origin, extra, 0)
    while cards:
        _move(memory, POOL, extra, GONE, cards & -cards)
        cards &= cards - 1
    if extra != POOL:
        first = _first(memory)
        for i in range(first, first + memory.pictures):
            for k in range(memory.kinds):
                if memory.cells[_at(i, extra, k)]:
                    memory.weight[i] = 0.0
        _tidy(memory)


@outlined
def _see_own(rules, memory, seat, what, cards):
    """Take in what the seat itself does or sees."""
    if what == SHOWS:
        memory.mine &= ~cards
    elif what == RECALLS:
        memory.mine |= cards
    elif what in (DRAWS, TAKES):
        memory.mine |= cards
        if what == TAKES:
            _mix_stock(memory)
        origin = _top_place(memory)
        _move(memory, origin, origin, GONE, cards)
    elif what == LOOKS:
        _look(memory, cards)
    elif what == RETURNS:
        memory.mine &= ~cards
        place = _new_top(memory)
        _add_blank(memory, place, _hide(memory, cards))
    elif what == IS_DEALT:
        _receive_hand(rules, memory, seat, cards)


@helper
def _see_shown(rules, memory, who, cards):
    """Cards of a hand come to light: one by one or, if they are all of the hand, at once."""
    first = _first(memory)
    held = 0
    for k in range(memory.kinds):
        held += memory.cells[_at(first, who, k)]
    if memory.pictures and held == popcount(cards):
        for i in range(first, first + memory.pictures):
            memory.weight[i] *= _ways(memory, _group_place(memory, i, who, 0), cards)
            for k in range(memory.kinds):
                memory.cells[_at(i, who, k)] = 0
        memory.hidden &= ~cards
        _tidy(memory)
        return
    while cards:
        _move(memory, who, who, GONE, cards & -cards)
        _thin(rules, memory)
        cards &= cards - 1


@outlined
def _see_other(rules, memory, who, what, cards):
    """Take in what another seat does, as the seat sees it."""
    if what == SHOWS:
        _see_shown(rules, memory, who, cards)
    elif what == DRAWS:
        origin = _top_place(memory)
        _move(memory, origin, origin, who, 0)
    elif what == TAKES:
        _mix_stock(memory)  # as it is shuffled after that anyway, but for a player who is out with it
        if rules.jack_shown:
            _move(memory, BAG, BAG, GONE, cards)
            _add_blank(memory, who, _hide(memory, cards))
        else:
            _move(memory, BAG, BAG, who, 0)
    elif what == RETURNS:
        place = _new_top(memory)
        _move(memory, who, who, place, 0)
    elif what == RECALLS:
        _add_blank(memory, who, _hide(memory, cards))
    elif what == HOLDS:
        _move(memory, who, who, GONE, cards)
        _add_blank(memory, who, _hide(memory, cards))
    elif what == LACKS:
        _bar(memory, who, cards)
    elif what == PROVES:
        _prove(rules, memory, who, cards)
    elif what == IS_DEALT:
        origin = _top_place(memory) if _draws_extra(rules, memory, who) else POOL
        for _ in range(popcount(cards)):
            _move(memory, origin, origin, who, 0)
            origin = POOL


@outlined
def _catch_up(rules, memory, seat, looked):
    """Take in all that has happened since the seat's last decision, and the stock if it looks at it now.

    Then weigh its pictures.
    """
    _recall(memory, seat)
    _tidy(memory)
    for row in range(memory.noted[seat], memory.rows):
        what = memory.what[row % ROWS]
        who = memory.who[row % ROWS]
        if what == MIXES:
            _mix_stock(memory)
        elif what == POOLS:
            memory.dealer = who
            _pool_hands(rules, memory)
        elif who == seat:
            _see_own(rules, memory, seat, what, memory.cards[row % ROWS])
        else:
            _see_other(rules, memory, who, what, memory.cards[row % ROWS])
        if memory.kinds > KINDS // 2:
            _tidy(memory)
        _thin(rules, memory)
    if looked:
        _look(memory, looked)
    memory.noted[seat] = memory.rows
    memory.looked[seat] = looked
    _weigh(rules, memory, seat)
    _keep(memory, seat)


@helper
def _weigh(rules, memory, seat):
    """Work out what the seat's pictures are worth. If all are worth nothing, it knows nothing any more."""
    first = _first(memory)
    most = total = 0.0
    for i in range(memory.pictures):
        groups = _group_all(rules, memory, first + i)
        worth = memory.weight[first + i] * _ways(memory, groups, memory.hidden)
        memory.worth[seat * PICTURES + i] = worth
        total += worth
        most = max(most, memory.weight[first + i])
    for i in range(memory.pictures):
        memory.weight[first + i] /= most
    if total == 0.0:
        memory.about[seat] = 0


@helper
def _thin(rules, memory):
    """Before there are too many pictures, drop those that cannot be."""
    if memory.pictures <= PICTURES // 4:
        return
    first = _first(memory)
    for i in range(first, first + memory.pictures):
        groups = _group_place(memory, i, POOL, _group_all(rules, memory, i))
        memory.weight[i] *= _ways(memory, groups, memory.hidden) > 0.0
    _tidy(memory)


# Sharing out


@helper
def _group_place(memory, picture, place, groups):
    """The blanks of a place as groups for sharing out; the number of groups so far."""
    for k in range(memory.kinds):
        number = memory.cells[_at(picture, place, k)]
        if number:
            memory.room[groups] = number
            memory.barred[groups] = ~_faces(memory, k)
            groups += 1
    return groups


@helper
def _group_stock(memory, picture, groups):
    """The blanks of the stock as groups, the top first."""
    for top in range(TOP + memory.tops - 1, TOP - 1, -1):
        groups = _group_place(memory, picture, top, groups)
    return _group_place(memory, picture, BAG, groups)


@helper
def _group_all(rules, memory, picture):
    """All blanks as groups: by hand, then the stock's."""
    groups = 0
    for p in range(rules.seats):
        groups = _group_place(memory, picture, p, groups)
    return _group_stock(memory, picture, groups)


@outlined
def _ways(memory, groups, cards):
    """In how many ways the cards can be shared out among the groups, as a part of all ways if nothing were barred.

    Group by group, the most restricted first: the faces it may have less those taken by groups before. That is exact
    where groups are nested, so that a group before takes from this one's faces always or never; else it is a guess.
    Leaves the order in `queue`.
    """
    order = memory.queue
    faceless = cards
    for g in range(groups):
        faceless &= memory.barred[g]
        size = popcount(~memory.barred[g] & cards)
        at = g
        while at > 0 and popcount(~memory.barred[order[at - 1]] & cards) > size:
            order[at] = order[at - 1]
            at -= 1
        order[at] = g
    memory.nested = 1
    if faceless:
        return 0.0
    part = 1.0
    left = popcount(cards)
    for i in range(groups):
        faces = ~memory.barred[order[i]] & cards
        free = 1.0 * popcount(faces)
        for j in range(i):
            other = ~memory.barred[order[j]] & cards
            if other & faces == other:
                free -= memory.room[order[j]]
            elif other & faces:
                memory.nested = 0
                free -= memory.room[order[j]] * popcount(other & faces) / popcount(other)
        for _ in range(memory.room[order[i]]):
            if free <= 0.0 and memory.nested:
                return 0.0
            part *= max(free, 0.1) / left
            free -= 1.0
            left -= 1
    return part


@helper
def _share_blanks(memory, groups, cards, rng, stream):
    """Share the cards out among the groups, after `_ways`. Whether that can be done."""
    if not memory.nested:
        return share_out(memory, cards, groups, rng, stream)
    for i in range(groups):
        g = memory.queue[i]
        memory.share[g] = some_of(~memory.barred[g] & cards, memory.room[g], rng, stream)
        cards ^= memory.share[g]
    return True


@helper
def _choose_picture(memory, seat, rng, stream):
    """The number of a picture, chosen by what it is worth; -1 if there is none."""
    total = 0.0
    for i in range(memory.pictures):
        total += memory.worth[seat * PICTURES + i]
    if total == 0.0:
        return -1
    left = total * below(rng, stream, 1 << 30) / (1 << 30)
    chosen = -1
    for i in range(memory.pictures):
        worth = memory.worth[seat * PICTURES + i]
        if worth > 0.0:
            chosen = i
            left -= worth
            if left < 0.0:
                break
    return chosen


@helper
def _lay_down(rules, state, memory, picture):
    """Put the cards that the blanks have been given into the state. The index in the stock where no order is known."""
    g = 0
    for p in range(rules.seats):
        cards = 0
        for k in range(memory.kinds):
            if memory.cells[_at(picture, p, k)]:
                cards |= memory.share[g]
                g += 1
        if p != memory.viewer:
            state.hand[p] = cards
    at = state.top
    for _ in range(memory.tops):
        at = _lay_stock(state, at, memory.share[g])
        g += 1
    shuffled = at
    for k in range(memory.kinds):
        if memory.cells[_at(picture, BAG, k)]:
            at = _lay_stock(state, at, memory.share[g])
            g += 1
    return shuffled


@helper
def _lay_stock(state, at, cards):
    """Lay cards into the stock from index `at` on; the index after them."""
    while cards:
        state.stock[at] = lowest(cards)
        at += 1
        cards &= cards - 1
    return at


@helper
def _deal_blindly(rules, state, seat, hidden, looked, rng, stream):
    """Deal the hidden cards to the others and the stock in any way; `looked`: the stock's, if the seat sees it."""
    hidden ^= looked
    for p in range(rules.seats):
        if p != seat:
            state.hand[p] = some_of(hidden, popcount(state.hand[p]), rng, stream)
            hidden ^= state.hand[p]
    _lay_stock(state, state.top, hidden | looked)
    shuffle(rng, stream, state.stock, state.top, state.stock_end)


@helper
def _deal_as_known(rules, state, memory, seat, looked, rng, stream):
    """Deal the hidden cards as the seat thinks likely. Whether anything it has in mind is possible."""
    if memory.noted[seat] != memory.rows or memory.looked[seat] != looked:
        _catch_up(rules, memory, seat, looked)
    _recall(memory, seat)
    while True:
        chosen = _choose_picture(memory, seat, rng, stream)
        if chosen < 0:
            return False
        picture = _first(memory) + chosen
        groups = _group_all(rules, memory, picture)
        _ways(memory, groups, memory.hidden)
        if _share_blanks(memory, groups, memory.hidden, rng, stream):
            shuffled = _lay_down(rules, state, memory, picture)
            shuffle(rng, stream, state.stock, shuffled, state.stock_end)
            return True
        memory.worth[seat * PICTURES + chosen] = 0.0  # the guess was wrong: it cannot be


@helper
def resample(rules, state, memory, seat, rng, stream):
    """The others' hands and the stock, uniform over all that agrees with what the seat has seen and been proved."""
    stock = _stock_cards(state)
    hidden = stock
    for p in range(rules.seats):
        if p != seat:
            hidden |= state.hand[p]
    for i in range(state.top):
        state.stock[i] = 0
    for i in range(DECK):
        state.pool[i] = 0
    looked = stock if state.phase == JACK_TAKE else 0
    known = memory.about[seat] & hidden != 0
    if not known or not _deal_as_known(rules, state, memory, seat, looked, rng, stream):
        _deal_blindly(rules, state, seat, hidden, looked, rng, stream)


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
        _find_start(rules, hands, state)
    _set_locks(rules, position, state)


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
        stays = rules.bans_stay if key == "bans" else rules.locks_stay and key != "to_move"
        if seat not in active and not (stays and 0 <= seat < rules.seats):
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
                raise ImpossiblePosition(
                    "hands", f"seat {seat} is over the limit of {rules.limit}, out at once here"
                )


def _find_start(rules: PaijieRules, hands: list[int], state: Any) -> None:
    """The start search for given hands (1.2, PJ-02)."""
    order = [(int(rank), suit) for rank in SEARCH for suit in range(4)]
    for rank, suit in sorted(order, key=lambda place: place[1]) if rules.suit_major else order:
        card = 1 << (LANE * suit + rank - 1)
        for seat, hand in enumerate(hands):
            if hand & card:
                state.start_card, state.first, state.cur = card, seat, seat
                return
    raise ImpossiblePosition("hands", "nobody holds a card to start with")


def _set_locks(rules: PaijieRules, position: PaijiePosition, state: Any) -> None:
    """Locks, taxes and bans; each needs its King on the table, a lock or tax also a suit that is not complete."""
    for key, owners in (("locks", position.locks), ("taxes", position.taxes), ("bans", position.bans)):
        for suit in owners:
            k = SUITS.index(suit)
            lane = (int(state.table) >> (LANE * k)) & LANE_MASK
            lost = not rules.recall_lifts if key != "bans" else rules.bans_stay
            if not lane >> 12 and not lost:
                raise ImpossiblePosition(key, f"{suit}K is not on the table")
            if lane == LANE_MASK and key != "bans" and rules.immune:
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
    bans = {
        SUITS[k]: {"rank": int(state.ban_rank[k]), "seat": int(state.ban_owner[k])}
        for k in range(4)
        if state.ban_rank[k]
    }
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
