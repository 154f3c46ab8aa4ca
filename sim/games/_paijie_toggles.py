"""The toggles of paijie."""

from __future__ import annotations

from typing import Literal

from sim.games import ToggleModel, toggle


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
    start_search: Literal["rank_major"] = toggle(
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
    start_effect: Literal["fires"] = toggle(
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
    hub_when_no_start_card: Literal["stays"] = toggle(
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
    gap_order: Literal["before_effects"] = toggle(
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
    stuck_target: Literal["max_owner"] = toggle(
        "PJ-11",
        "max_owner",
        "Whose hand size a stuck seat must reach when several lock it; each lock obliges, so the largest counts.",
        "被多家封鎖而無牌可出時要抽到與誰一樣多；每個封鎖都要滿足，所以取最多者。",
    )
    play_after_stuck_draw: Literal[False] = toggle(
        "PJ-12",
        False,
        "Whether a stuck seat may play after drawing; the text has it draw instead of playing.",
        "無牌可出而抽牌後能否再出牌；原文是以抽牌代替出牌。",
    )
    exchange_short_hand: Literal["as_many_as_possible"] = toggle(
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
    limit_batch: Literal["after_each_card"] = toggle(
        "PJ-17",
        "after_each_card",
        "Whether an immediate limit is tested after each card or after the whole draw; version 1.0 says at any time.",
        "隨時判定時，每抽一張就判定或整批抽完才判定；1.0 版寫任何時候。",
    )
    q_transient_counts: Literal[True] = toggle(
        "PJ-18",
        True,
        "Whether the Queen's extra card counts for an immediate limit before one is put back; "
        "version 1.0 says at any time.",
        "隨時判定時，Q 抽進而尚未放回的牌是否算入；1.0 版寫任何時候。",
    )
    effects_after_self_elimination: Literal["dropped"] = toggle(
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
    eliminated_jokers: Literal["exiled"] = toggle(
        "PJ-21",
        "exiled",
        "Where the Jokers of an eliminated hand go; they have no place on the table.",
        "被淘汰者手中的 Joker 去處；場上沒有它的位置，故除外。",
    )
    laid_cards_recallable: Literal[True] = toggle(
        "PJ-22",
        True,
        "Whether an Ace may recall a card laid out by an elimination; it is a card on the table like any other.",
        "A 能否收回淘汰時擺上的牌；它們與場上其他牌無異。",
    )
    lock_of_eliminated: Literal["lifted"] = toggle(
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
    ace_may_take_start_card: Literal[True] = toggle(
        "PJ-27",
        True,
        "Whether an Ace may recall a card of the start rank; the text says any card.",
        "A 能否收回起點牌；原文為任意一張。",
    )
    ace_recall_lifts_lock: Literal[True] = toggle(
        "PJ-28",
        True,
        "Whether recalling a King lifts its lock; the text says so.",
        "收回 K 時是否解除其封鎖；原文明言。",
        impact="-",
    )
    complete_immune: Literal[True] = toggle(
        "PJ-29",
        True,
        "Whether a complete suit is immune to every effect; the text says so.",
        "完成的花色是否不再受任何影響；原文明言。",
    )
    lock_release_by: Literal["any_play_with_suit"] = toggle(
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
    q_return_order: Literal["chooser"] = toggle(
        "PJ-32",
        "chooser",
        "Who orders the cards that several Queens return; the text is silent, so their player does.",
        "多張 Q 放回的牌由誰決定順序；原文未提，由出牌者決定。",
    )
    j_reveal: Literal["hidden"] = toggle(
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
    black_joker_scope: Literal["active_players"] = toggle(
        "PJ-36",
        "active_players",
        "Whose hands the black Joker collects; eliminated seats have no cards.",
        "黑 Joker 集合哪些人的手牌；被淘汰者已無手牌。",
        impact="-",
    )
    jokers_lift_locks: Literal[False] = toggle(
        "PJ-37",
        False,
        "Whether a Joker lifts the locks; the text only lists it as a way to get the suit back to the owner.",
        "Joker 是否解除封鎖；原文只說可把該花色洗回封鎖者手上。",
    )
    joker_pair_is_also_set: Literal[False] = toggle(
        "PJ-38",
        False,
        "Whether the Joker pair also exchanges a card as a set; it has an effect of its own.",
        "Joker 對是否同時有對子的換牌效果；它有自己的效果。",
    )
    single_joker_with_both_held: Literal["allowed"] = toggle(
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
    jp_order: Literal["from_player"] = toggle(
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
    effect_order: Literal["type_K_Q_J_A"] = toggle(
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
    drawn_rule: Literal["idle_cycle"] = toggle(
        "PJ-46",
        "idle_cycle",
        "When the game is drawn: after a round in which nobody could play or draw, as in the text's example.",
        "何時和局：一輪中無人能出牌也無牌可抽，如原文的例子。",
    )
    direction: Literal["clockwise"] = toggle(
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
    continue_for_places: Literal[False] = toggle(
        "PJ-49",
        False,
        "Whether play goes on for the other places after the first seat is out; the text only knows a winner.",
        "有人出完後是否繼續爭其他名次；原文只決定勝者。",
    )
    set_with_locked_member: Literal["illegal"] = toggle(
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
    ban_owner_exempt: Literal[True] = toggle(
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
    ban_lifted_by: Literal["owner_eliminated_or_K_recalled"] = toggle(
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
