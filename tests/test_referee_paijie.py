"""The naive referee of paijie: it accepts logs written by hand from the rules and refuses them damaged."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.referee import paijie
from tests.referee.log import CARD, JOKERS, ORDER, Disagreement
from tests.referee.paijie import check

Event = dict[str, Any]

TOGGLES: Event = {
    "combos": True,
    "set_exchange": True,
    "straight_hit": True,
    "ace": "recall",
    "king": "lock_suit",
    "stuck_draw": "match",
    "queen": "exchange",
    "jack": "tutor",
    "jokers": 0,
    "start_search": "rank_major",
    "first_card": "forced",
    "start_effect": "fires",
    "connection": "hub_gap",
    "hub_when_no_start_card": "stays",
    "combo_gap": "min",
    "gap_order": "before_effects",
    "short_stock": "draw_what_is_left",
    "voluntary_pass": "no",
    "stuck_target": "max_owner",
    "play_after_stuck_draw": False,
    "exchange_short_hand": "as_many_as_possible",
    "limit_value": 10,
    "limit_when": "own_turn_end",
    "joker_pair_own_turn_grace": True,
    "limit_batch": "after_each_card",
    "q_transient_counts": True,
    "effects_after_self_elimination": "dropped",
    "eliminated_hand": "to_table",
    "eliminated_jokers": "exiled",
    "laid_cards_recallable": True,
    "lock_of_eliminated": "lifted",
    "ace_may_take_current_play": False,
    "ace_receiver": "any_active",
    "ace_multi_receivers": "distinct_if_possible",
    "ace_may_take_start_card": True,
    "ace_recall_lifts_lock": True,
    "complete_immune": True,
    "lock_release_by": "any_play_with_suit",
    "q_empty_stock": "return_as_many_as_drawn",
    "q_return_order": "chooser",
    "j_reveal": "hidden",
    "win_check": "after_effects",
    "joker_only_loss": "at_turn_start",
    "joker_count": "after_play",
    "black_joker_scope": "active_players",
    "jokers_lift_locks": False,
    "joker_pair_is_also_set": False,
    "single_joker_with_both_held": "allowed",
    "jp_values": "v1.1",
    "jp_order": "from_player",
    "jp_scale_with_limit": "absolute",
    "multi_effect_scaling": "per_card",
    "effect_order": "type_K_Q_J_A",
    "survivor_wins": "yes",
    "drawn_rule": "idle_cycle",
    "direction": "clockwise",
    "hand_size": 4,
    "continue_for_places": False,
    "set_with_locked_member": "illegal",
    "ban_duration": "until_owner_plays_that_rank",
    "ban_owner_exempt": True,
    "ban_no_connector": "unplayable",
    "ban_lifted_by": "owner_eliminated_or_K_recalled",
    "max_turns": 400,
}


def turn(number: int, seat: int, legal: str) -> Event:
    """A turn line; moves are separated by commas, cards by blanks; "pass" is the empty move."""
    moves = [[] if move.strip() == "pass" else move.split() for move in legal.split(",")] if legal else []
    return {"type": "turn", "turn": number, "seat": seat, "legal": moves}


def play(seat: int, cards: str, gap: int) -> Event:
    return {"type": "play", "seat": seat, "cards": cards.split(), "gap": gap}


def draw(seat: int, cards: str, reason: str) -> Event:
    return {"type": "draw", "seat": seat, "cards": cards.split(), "reason": reason}


def put(seat: int, cards: str, where: str) -> Event:
    return {"type": "put", "seat": seat, "cards": cards.split(), "where": where}


def choose(seat: int, what: str, value: object, legal: str | list[Any]) -> Event:
    """An inner decision; an empty `legal` stands for the whole stock."""
    choices = legal.split() if isinstance(legal, str) else legal
    return {"type": "choose", "seat": seat, "what": what, "value": value, "legal": choices}


def shuffle(top: str) -> Event:
    """A shuffle after which these cards lie on top."""
    return {"type": "shuffle", "stock": top.split()}


def redeal(kind: str, hands: list[str], flips: str, top: str) -> Event:
    return {
        "type": "redeal",
        "kind": kind,
        "hands": [hand.split() for hand in hands],
        "flips": flips.split(),
        "stock": top.split(),
    }


def unlock(suit: str, reason: str) -> Event:
    return {"type": "unlock", "suit": suit, "reason": reason}


def eliminate(seat: int) -> Event:
    return {"type": "eliminate", "seat": seat, "reason": "limit"}


def end(outcome: str, winners: list[int], places: list[int], turns: int) -> Event:
    scores = [0] * len(places)
    result = {"outcome": outcome, "winners": winners, "losers": [], "places": places}
    return {"type": "end", **result, "scores": scores, "turns": turns}


def game(hands: list[str], top: str, *events: Event, **toggles: object) -> list[Event]:
    """A log: the header, a deal in which these cards lie on top of the stock, and the events.

    The stock's lower part, which no event touches, is filled in: all cards that are nowhere else.
    """
    resolved = TOGGLES | toggles
    deck = [*CARD.values(), *(JOKERS if resolved["jokers"] else ())]
    elsewhere = {card for hand in hands for card in hand.split()}

    def fill(top: list[str]) -> list[str]:
        return top + [card for card in deck if card not in elsewhere and card not in top]

    header = {"format": 1, "game": "paijie", "version": "test", "toggles": resolved}
    seats = {"players": ["random"] * len(hands), "seats": len(hands), "seed": 1, "index": 0}
    deal = {"hands": [sorted(hand.split(), key=ORDER.__getitem__) for hand in hands], "first": 0}
    log: list[Event] = [{"type": "game", **header, **seats}]
    log.append({"type": "deal", **deal, "stock": fill(top.split())})
    for event in copy.deepcopy(list(events)):
        if event["type"] == "draw":
            elsewhere |= set(event["cards"])
        elif event["type"] == "put" and event["where"].startswith("stock"):
            elsewhere -= set(event["cards"])
        elif event.get("kind") == "joker_pair":
            elsewhere = on_table(log).union(*event["hands"])
        if "stock" in event:
            event["stock"] = fill(event["stock"])
        if event.get("legal") == [] and event["type"] == "choose":
            event["legal"] = fill([])
        log.append(event)
    return log


def on_table(log: list[Event]) -> set[str]:
    """The cards on the table of a log in which nobody was eliminated."""
    played = {card for event in log if event["type"] == "play" for card in event["cards"]}
    return played - {event["card"] for event in log if event["type"] == "recall"} - set(JOKERS)


RANKS = list(range(1, 14))
LOGS = {
    "exchange_and_going_out": game(
        ["S7 S8 S9 H2", "D4 D5 C3 C9"],
        "H3 H4 DK S2 S3 S4 S5",
        turn(1, 0, "S7"),
        play(0, "S7", 0),
        turn(2, 1, "C3, C9, D4, D5, D4 D5"),
        play(1, "C9", 2),
        draw(1, "H3 H4", "gap"),
        turn(3, 0, "S8, S9, H2, S8 S9"),
        play(0, "S8 S9", 0),
        draw(1, "DK", "straight_hit"),
        turn(4, 1, "D4, D5, C3, H3, H4, DK, D4 D5, H3 H4, H3 C3, H4 D4"),
        play(1, "H3 C3", 4),
        draw(1, "S2 S3 S4 S5", "gap"),
        choose(1, "exchange_card", "DK", "D4 D5 H4 DK S2 S3 S4 S5"),
        put(1, "DK", "stock_shuffled"),
        shuffle("CK C2"),
        draw(1, "CK", "exchange"),
        turn(5, 0, "H2"),
        play(0, "H2", 0),
        {"type": "finish", "seat": 0},
        end("win", [0], [1, 2], 5),
    ),
    "lock_stuck_black_joker": game(
        ["S7 SK H6 H8", "S2 S3 S4 S5", "D6 D8 C6 BJ"],
        "S9 C2 H2 H4 D9 DQ C10 C4 CQ DK",
        turn(1, 0, "S7"),
        play(0, "S7", 0),
        turn(2, 1, "S2, S3, S4, S5, S2 S3, S3 S4, S4 S5, S2 S3 S4, S3 S4 S5, S2 S3 S4 S5"),
        play(1, "S5", 1),
        draw(1, "S9", "gap"),
        turn(3, 2, "D6, D8, C6, BJ, D6 C6"),
        play(2, "D6", 1),
        draw(2, "C2", "gap"),
        turn(4, 0, "SK, H6, H8"),
        play(0, "SK", 5),
        draw(0, "H2 H4 D9 DQ C10", "gap"),
        {"type": "lock", "suit": "S", "seat": 0},
        turn(5, 1, ""),
        draw(1, "C4 CQ DK", "stuck"),
        turn(6, 2, "D8, C6, C2, BJ"),
        play(2, "BJ", 0),
        put(2, "BJ", "exiled"),
        redeal("black_joker", ["S2 S4 S9 H6 H8 DQ C10", "S3 H2 H4 D9 C4 CQ DK", "D8 C6 C2"], "", ""),
        turn(7, 0, "S2, S4, S9, H6, H8, DQ, C10"),
        play(0, "S4", 0),
        unlock("S", "owner_played"),
        end("stalled", [], [2, 3, 1], 7),
        jokers=2,
        max_turns=7,
    ),
    "eliminated_by_a_straight": game(
        ["S7 SK H9 BJ", "H7 C2 C4 DQ", "D3 D7 C9 C10"],
        "S6 S4 H2 DA C5 S2 S3 H10 HJ D2 CK H6",
        turn(1, 0, "S7"),
        play(0, "S7", 0),
        turn(2, 1, "H7, C2, C4, DQ"),
        play(1, "H7", 0),
        turn(3, 2, "D3, D7, C9, C10, C9 C10"),
        play(2, "D7", 0),
        turn(4, 0, "SK, H9, BJ"),
        play(0, "SK", 5),
        draw(0, "S6 S4 H2 DA C5", "gap"),
        {"type": "lock", "suit": "S", "seat": 0},
        turn(5, 1, "C2, C4, DQ"),
        play(1, "C4", 3),
        draw(1, "S2 S3 H10", "gap"),
        turn(6, 2, "D3, C9, C10, C9 C10"),
        play(2, "C9 C10", 2),
        draw(2, "HJ D2", "gap"),
        draw(0, "CK", "straight_hit"),
        eliminate(0),
        put(0, "S4 S6 H2 H9 DA C5 CK", "table"),
        put(0, "BJ", "exiled"),
        unlock("S", "owner_eliminated"),
        turn(7, 1, "C2, DQ, S2, S3, H10, S2 S3, S2 C2"),
        play(1, "H10", 0),
        turn(8, 2, "D2, D3, HJ, D2 D3"),
        play(2, "D2 D3", 0),
        draw(1, "H6", "straight_hit"),
        turn(9, 1, "C2, DQ, S2, S3, H6, S2 S3, S2 C2"),
        play(1, "S3", 0),
        turn(10, 2, "HJ"),
        play(2, "HJ", 0),
        {"type": "finish", "seat": 2},
        end("win", [2], [3, 2, 1], 10),
        jokers=2,
        jack="plain",
        limit_value=7,
        limit_when="immediate",
    ),
    "ace_queen_joker_pair_jack": game(
        ["S7 HA BJ RJ", "SK D7 DJ CQ"],
        "H2 H4 H9 D4 D9 C2 C4 C6 S9 D3 C10 S3 S5 H6 H8 D5 CJ",
        turn(1, 0, "S7"),
        play(0, "S7", 0),
        turn(2, 1, "SK, D7, DJ, CQ"),
        play(1, "SK", 5),
        draw(1, "H2 H4 H9 D4 D9", "gap"),
        {"type": "lock", "suit": "S", "seat": 1},
        turn(3, 0, "HA, BJ, RJ, BJ RJ"),
        play(0, "HA", 6),
        draw(0, "C2 C4 C6 S9 D3 C10", "gap"),
        choose(0, "ace_card", "SK", "S7 SK"),
        choose(0, "ace_receiver", 1, [0, 1]),
        {"type": "recall", "card": "SK", "to": 1},
        unlock("S", "king_recalled"),
        turn(4, 1, "SK, D7, DJ, CQ, H2, H4, H9, D4, D9, H4 D4, H9 D9"),
        play(1, "CQ", 5),
        draw(1, "S3 S5 H6 H8 D5", "gap"),
        draw(1, "CJ", "queen"),
        choose(1, "queen_return", "H2", "SK D7 DJ H2 H4 H9 D4 D9 S3 S5 H6 H8 D5 CJ"),
        put(1, "H2", "stock_top"),
        turn(5, 0, "BJ, RJ, C2, C4, C6, S9, D3, C10, BJ RJ"),
        play(0, "BJ RJ", 0),
        redeal("joker_pair", ["C2 S5", "H3 DJ C9"], "C2 H3", "S8 BJ HK D2"),
        turn(6, 1, "H3, DJ, C9"),
        play(1, "DJ", 4),
        draw(1, "S8 BJ HK D2", "gap"),
        choose(1, "jack_take", "RJ", ""),
        draw(1, "RJ", "jack"),
        shuffle("C3"),
        end("stalled", [], [1, 2], 6),
        jokers=2,
        limit_value=None,
        max_turns=6,
    ),
    "passes": game(
        ["S7 S9 HJ D3", "D4 D6 C3 C9"],
        "H3",
        turn(1, 0, "S7"),
        play(0, "S7", 0),
        turn(2, 1, "D4, D6, C3, C9, pass"),
        {"type": "pass", "seat": 1},
        draw(1, "H3", "pass"),
        turn(3, 0, "S9, HJ, D3, pass"),
        {"type": "pass", "seat": 0},
        draw(0, "SA", "pass"),
        end("stalled", [], [1, 2], 3),
        voluntary_pass="yes_draw_1",
    ),
    "both_eliminated": game(
        ["S7 H5 D9 CA", "H6 D3 DK C10"],
        "S2 S3 S4 S5 H8 H9 HJ HQ D5",
        turn(1, 0, "S7"),
        play(0, "S7", 0),
        turn(2, 1, "H6, D3, DK, C10"),
        play(1, "DK", 6),
        draw(1, "S2 S3 S4 S5", "gap"),
        eliminate(1),
        put(1, "S2 S3 S4 S5 H6 D3 C10", "table"),
        turn(3, 0, "H5, D9, CA"),
        play(0, "CA", 6),
        draw(0, "H8 H9 HJ HQ D5", "gap"),
        eliminate(0),
        put(0, "H5 H8 H9 HJ HQ D5 D9", "table"),
        end("drawn", [], [1, 2], 3),
        limit_value=6,
        limit_when="immediate",
        survivor_wins="must_still_go_out",
    ),
    "banned_rank": game(
        ["S7 H6 D9 C2", "SK S5 D6 CJ"],
        "H2 H4 H9 D3 DQ S2 S4 C9",
        turn(1, 0, "S7"),
        play(0, "S7", 0),
        turn(2, 1, "SK, S5, D6, CJ"),
        play(1, "SK", 5),
        draw(1, "H2 H4 H9 D3 DQ", "gap"),
        choose(1, "king_rank", 6, RANKS),
        {"type": "ban", "rank": 6, "seat": 1, "card": "SK"},
        turn(3, 0, "D9, C2"),
        play(0, "D9", 2),
        draw(0, "S2 S4", "gap"),
        turn(4, 1, "S5, D6, CJ, H2, H4, H9, D3, DQ"),
        play(1, "D6", 1),
        draw(1, "C9", "gap"),
        {"type": "unban", "rank": 6, "seat": 1, "card": "SK", "reason": "owner_played"},
        end("stalled", [], [1, 2], 4),
        king="ban_rank",
        max_turns=4,
    ),
    "taxed_suit": game(
        ["S7 S8 D9 C2", "SK S5 D6 CJ"],
        "H2 H4 H9 D3 DQ S2 S4",
        turn(1, 0, "S7"),
        play(0, "S7", 0),
        turn(2, 1, "SK, S5, D6, CJ"),
        play(1, "SK", 5),
        draw(1, "H2 H4 H9 D3 DQ", "gap"),
        choose(1, "king_mode", "tax", "lock tax"),
        {"type": "lock", "suit": "S", "seat": 1, "kind": "tax"},
        turn(3, 0, "S8, D9, C2"),
        play(0, "S8", 0),
        draw(0, "S2", "tax"),
        turn(4, 1, "S5, D6, CJ, H2, H4, H9, D3, DQ"),
        play(1, "S5", 1),
        unlock("S", "owner_played"),
        draw(1, "S4", "gap"),
        end("stalled", [], [1, 2], 4),
        king="choose",
        max_turns=4,
    ),
    "quiet_start_counter_clockwise": game(
        ["SJ C2 C4 D9", "H7 D3 D5 CQ", "HQ H2 D8 C9"],
        "S2 S3",
        turn(1, 0, "SJ"),
        play(0, "SJ", 0),
        turn(2, 2, "HQ, H2, D8, C9"),
        play(2, "HQ", 1),
        draw(2, "S2", "gap"),
        draw(2, "S3", "queen"),
        choose(2, "queen_return", "S2", "H2 D8 C9 S2 S3"),
        put(2, "S2", "stock_top"),
        end("stalled", [], [1, 2, 2], 2),
        start_search="suit_major",
        start_effect="none",
        direction="counter",
        max_turns=2,
    ),
    "effects_before_the_gap": game(
        ["S7 S9 HJ D3", "HQ DQ C3 C9"],
        "",
        turn(1, 0, "S7"),
        play(0, "S7", 0),
        turn(2, 1, "HQ, DQ, C3, C9, HQ DQ"),
        play(1, "HQ DQ", 5),
        choose(1, "exchange_card", "C3", "C3 C9"),
        put(1, "C3", "stock_shuffled"),
        shuffle("H3 S2 S4 S5 S6 S8"),
        draw(1, "H3", "exchange"),
        draw(1, "S2 S4", "queen"),
        choose(1, "queen_return", "S2", "C9 H3 S2 S4"),
        choose(1, "queen_return", "H3", "C9 H3 S4"),
        put(1, "H3 S2", "stock_top"),
        draw(1, "S2 H3 S5 S6 S8", "gap"),
        end("stalled", [], [1, 2], 2),
        gap_order="after_effects",
        q_return_order="random",
        max_turns=2,
    ),
    "playing_on_for_places": game(
        ["SK H7 D7 C7", "S2 S3 S4 S5", "CQ C2 C4 D9"],
        "D8 H2 H4 H6 H9 HJ DA C3 C5 C8 C9",
        turn(1, 0, "SK, H7, D7, C7"),
        play(0, "SK", 0),
        {"type": "lock", "suit": "S", "seat": 0},
        turn(2, 1, ""),
        draw(1, "D8", "stuck"),
        turn(2, 1, "D8, pass"),
        play(1, "D8", 5),
        draw(1, "H2 H4 H6 H9 HJ", "gap"),
        turn(3, 2, "CQ, C2, C4, D9"),
        play(2, "CQ", 1),
        draw(2, "DA", "gap"),
        turn(4, 0, "H7, D7, C7, H7 D7, H7 C7, D7 C7, H7 D7 C7"),
        play(0, "H7 D7 C7", 0),
        {"type": "finish", "seat": 0},
        unlock("S", "owner_finished"),
        turn(
            5,
            1,
            "S2, S3, S4, S5, H2, H4, H6, H9, HJ, S2 S3, S3 S4, S4 S5, S2 S3 S4, S3 S4 S5, S2 S3 S4 S5,"
            "S2 H2, S4 H4",
        ),
        play(1, "H2", 4),
        draw(1, "C3 C5 C8 C9", "gap"),
        eliminate(1),
        put(1, "S2 S3 S4 S5 H4 H6 H9 HJ C3 C5 C8 C9", "table"),
        end("win", [0], [1, 3, 2], 5),
        first_card="free_single",
        queen="plain",
        play_after_stuck_draw=True,
        continue_for_places=True,
    ),
    "joker_pair_as_a_set": game(
        ["S7 D3 D5 H3", "SK BJ RJ C2"],
        "H2 H4 H9 D4 D9 C4 C6",
        turn(1, 0, "S7"),
        play(0, "S7", 0),
        turn(2, 1, "SK, C2, BJ RJ"),
        play(1, "SK", 5),
        draw(1, "H2 H4 H9 D4 D9", "gap"),
        {"type": "lock", "suit": "S", "seat": 1},
        turn(3, 0, "D3, D5, H3, D3 H3"),
        play(0, "D5", 2),
        draw(0, "C4 C6", "gap"),
        turn(4, 1, "C2, H2, H4, H9, D4, D9, BJ RJ, C2 H2, H4 D4, H9 D9"),
        play(1, "BJ RJ", 0),
        unlock("S", "joker"),
        choose(1, "exchange_card", "C2", "C2 H2 H4 H9 D4 D9"),
        put(1, "C2", "stock_shuffled"),
        shuffle("S2"),
        draw(1, "S2", "exchange"),
        redeal("joker_pair", ["H3 S9 C9", "D3 SJ CJ"], "H3 D3", ""),
        end("stalled", [], [1, 1], 4),
        jokers=2,
        jokers_lift_locks=True,
        joker_pair_is_also_set=True,
        single_joker_with_both_held="pair_forced",
        jp_order="from_next",
        max_turns=4,
    ),
    "effects_of_an_eliminated_player": game(
        ["S7 D3 D9 H5", "CA C2 BJ H9", "H2 D4 D6 C8"],
        "S2 S3 S4 S5 S6",
        turn(1, 0, "S7"),
        play(0, "S7", 0),
        turn(2, 1, "CA, C2, H9, BJ, CA C2"),
        play(1, "CA C2", 5),
        draw(1, "S2 S3 S4 S5 S6", "gap"),
        eliminate(1),
        put(1, "S2 S3 S4 S5 S6 H9", "table"),
        put(1, "BJ", "stock_shuffled"),
        shuffle("HQ"),
        draw(2, "HQ", "straight_hit"),
        choose(1, "ace_card", "S7", "S7"),
        choose(1, "ace_receiver", 0, [0, 2]),
        {"type": "recall", "card": "S7", "to": 0},
        end("stalled", [], [1, 3, 2], 2),
        jokers=2,
        limit_value=6,
        limit_when="immediate",
        limit_batch="after_each_draw_batch",
        effects_after_self_elimination="resolved",
        eliminated_jokers="into_stock",
        laid_cards_recallable=False,
        max_turns=2,
    ),
}


@pytest.mark.parametrize("name", LOGS)
def test_a_log_that_follows_the_rules_is_accepted(name: str) -> None:
    check(LOGS[name])
    check(json.dumps(event) for event in LOGS[name])


def damaged_values(event: Event) -> Iterator[Event]:
    """The event with one value changed to something it can never be."""
    free = {"type", "version", "seed", "index", "toggles", "players"}
    for key in event.keys() - free:
        value = event[key]
        if isinstance(value, int):
            yield event | {key: value + 1}
        elif isinstance(value, str):
            yield event | {key: "?"}
        elif value:
            yield event | {key: value[:-1]}
            yield event | {key: [*value, value[-1]]}


def damaged(log: list[Event]) -> Iterator[tuple[str, list[Event]]]:
    """The log with one line lost, doubled, swapped with the next, or changed in one key or value."""
    for i, event in enumerate(log):
        head, tail = log[:i], log[i + 1 :]
        yield f"line {i + 1} lost", head + tail
        yield f"line {i + 1} doubled", [*head, event, event, *tail]
        if tail:
            yield f"line {i + 1} swapped", [*head, tail[0], event, *tail[1:]]
        yield f"line {i + 1} with an extra key", [*head, event | {"extra": 0}, *tail]
        for key in event:
            less = {k: v for k, v in event.items() if k != key}
            yield f"line {i + 1} without {key}", [*head, less, *tail]
        for changed in damaged_values(event):
            yield f"line {i + 1} as {changed}", [*head, changed, *tail]


@pytest.mark.parametrize("name", LOGS)
def test_every_damaged_log_is_refused(name: str) -> None:
    accepted = []
    for what, log in damaged(LOGS[name]):
        try:
            check(log)
        except Disagreement:
            continue
        accepted.append(what)
    assert not accepted


def change(name: str, line: int, **values: object) -> list[Event]:
    log = copy.deepcopy(LOGS[name])
    log[line - 1] |= values
    return log


def without(name: str, line: int) -> list[Event]:
    return LOGS[name][: line - 1] + LOGS[name][line:]


@pytest.mark.parametrize(
    ("log", "message"),
    [
        (change("exchange_and_going_out", 6, gap=1), r"line 6: expected gap 2 for \['C9'\]"),
        (without("exchange_and_going_out", 7), "line 7: expected a line of type draw"),
        (change("exchange_and_going_out", 7, cards=["H4", "H3"]), r"line 7: .*cards = \['H3', 'H4'\]"),
        (change("exchange_and_going_out", 11, legal=[["D4"]]), r"line 11: .*also \[\['C3'\], \['C3', 'H3'\]"),
        (change("exchange_and_going_out", 18, legal=[["H2"], ["H2"]]), "line 18: expected no move twice"),
        (change("exchange_and_going_out", 21, places=[1, 1]), r"line 21: expected end.places = \[1, 2\]"),
        (change("exchange_and_going_out", 2, first=1), "line 2: expected first seat 0, who holds S7"),
        (without("lock_stuck_black_joker", 23), "line 23: expected a line of type unlock"),
        (change("lock_stuck_black_joker", 15, legal=[["S2"]]), r"line 15: .*illegal ones: \[\['S2'\]\]"),
        (change("lock_stuck_black_joker", 16, cards=["C4", "CQ"]), r"line 16: .*'C4', 'CQ', 'DK'"),
        (without("eliminated_by_a_straight", 23), "line 23: expected a line of type unlock"),
        (change("ace_queen_joker_pair_jack", 24, flips=["H3", "C2"]), "line 24: expected a flip for each"),
        (change("taxed_suit", 3, turn=True), "line 3: expected turn 1 of seat 0"),
        (LOGS["passes"][:-1], "line 11: expected a line of type end, logged nothing more"),
    ],
)
def test_the_message_names_the_line_and_both_sides(log: list[Event], message: str) -> None:
    with pytest.raises(Disagreement, match=message):
        check(log)


@pytest.mark.parametrize("value", ["sometimes", 5, None])
def test_an_unknown_toggle_value_is_refused(value: object) -> None:
    with pytest.raises(Disagreement, match="line 1: expected a toggle the referee knows"):
        check(change("passes", 1, toggles=TOGGLES | {"king": value}))


def referee_with(**toggles: object) -> paijie._Referee:
    """A referee in the middle of a game, without a log."""
    referee = paijie._Referee([])
    referee.toggles, referee.start_rank = TOGGLES | toggles, 7
    return referee


@pytest.mark.parametrize(
    ("start", "table", "gaps"),
    [
        (7, "S7", "S6:0 S8:0 H7:0 S5:1 SK:5 SA:5 S9:1 S10:2 H6:1 H8:1 H5:2 HK:6 HA:6 C10:3"),
        (8, "H8", "H7:0 H9:0 S8:0 S7:1 SA:7 S9:1 SK:5 HK:4 HA:6 H6:1"),
        (7, "S7 SA SQ", "S10:1 S5:1 S2:0 SJ:0 SK:0 S3:1 S4:2 S9:1 S8:0 S6:0"),
        (7, "S7 S8 S9 S10 H10", "H6:1 H9:0 HJ:0 H8:1 H7:0 H5:2 HQ:1 HK:2 HA:6 S6:0 SJ:0 D6:1"),
    ],
)
def test_the_referee_counts_the_gaps_of_the_source_text(start: int, table: str, gaps: str) -> None:
    referee = referee_with()
    referee.start_rank, referee.table = start, set(table.split())
    wanted = {card: int(gap) for card, gap in (item.split(":") for item in gaps.split())}
    assert {card: referee.member_gap(card) for card in wanted} == wanted


@pytest.mark.parametrize(
    ("hub", "connection", "gaps"),
    [
        ("stays", "hub_gap", {"S6": 1, "SK": 3, "H6": 1, "D8": 1, "D7": 0}),
        ("off", "hub_gap", {"S6": 2, "SK": 3, "H6": 1, "D8": 1, "D7": 0}),
        ("off", "virtual_card", {"S6": 2, "SK": 3, "H6": 1, "D8": 1, "D7": 0}),
    ],
)
def test_the_hub_may_depend_on_a_start_rank_card(hub: str, connection: str, gaps: dict[str, int]) -> None:
    referee = referee_with(hub_when_no_start_card=hub, connection=connection)
    referee.table = {"S9", "H8"}
    assert {card: referee.member_gap(card) for card in gaps} == gaps


@pytest.mark.parametrize(("target", "cards"), [("max_owner", 4), ("min_owner", 2), ("latest_lock", 3)])
def test_a_stuck_seat_draws_up_to_one_of_the_owners(target: str, cards: int) -> None:
    referee = referee_with(stuck_target=target)
    referee.locks = {"H": (1, "lock"), "S": (2, "lock"), "D": (3, "lock"), "C": (4, "lock")}
    cards_of_owners = list(CARD.values())
    referee.hands = [{"S2", "H2", "D2"}, *(set(cards_of_owners[:size]) for size in (7, 5, 6, 10))]
    assert referee.stuck_cards(0) == cards


@pytest.mark.parametrize(
    ("allowed", "sets"), [("illegal", set()), ("allowed", {"S5 H5", "H5 C5", "S5 H5 C5"})]
)
def test_a_set_may_hide_locked_cards_behind_a_free_one(allowed: str, sets: set[str]) -> None:
    referee = referee_with(set_with_locked_member=allowed)
    referee.hands, referee.locks = [{"S5", "H5", "C5"}], {"S": (1, "lock"), "C": (1, "lock")}
    wanted = {frozenset(cards.split()) for cards in {"H5"} | sets}
    assert set(referee.candidates(0)) == wanted


@pytest.mark.parametrize(("exempt", "banned"), [(True, [False, True]), (False, [True, True])])
def test_a_ban_may_bind_its_owner(exempt: bool, banned: list[bool]) -> None:
    referee = referee_with(ban_owner_exempt=exempt)
    referee.bans = [(9, 0, "SK")]
    assert [referee.is_banned(seat, "D9") for seat in (0, 1)] == banned


@pytest.mark.parametrize(
    ("toggles", "targets"),
    [
        ({}, "S7 H8 D9"),
        ({"ace_may_take_current_play": True}, "S7 H8 D9 DA"),
        ({"ace_may_take_start_card": False}, "H8 D9"),
        ({"laid_cards_recallable": False}, "S7 H8"),
        ({"complete_immune": False}, "S7 H8 D9 CA"),
    ],
)
def test_what_an_ace_may_take(toggles: Event, targets: str) -> None:
    referee = referee_with(**toggles)
    referee.table = {"S7", "H8", "D9", "DA", "CA"}
    referee.start_card, referee.laid, referee.complete = "S7", {"D9"}, {"C"}
    assert referee.ace_targets(frozenset({"DA"})) == set(targets.split())


@pytest.mark.parametrize("toggles", [{"j_reveal": "shown"}, {"black_joker_scope": "all"}])
def test_toggles_that_only_change_what_players_know_leave_the_log_alone(toggles: Event) -> None:
    check(change("lock_stuck_black_joker", 1, toggles=LOGS["lock_stuck_black_joker"][0]["toggles"] | toggles))
