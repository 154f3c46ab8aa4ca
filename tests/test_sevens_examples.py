"""The worked examples of the rules of sevens (RULES.md 4.5), its toggles, and the fast path against the logged one."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from scipy.stats import chisquare

from sim.cards import CARD_NAMES
from sim.config import ConfigError, load_player, load_ruleset, presets
from sim.engine import play_rows
from sim.games import SHARE, game
from sim.position import play_position
from sim.trace import replay

POSITIONS = Path(__file__).parent / "positions" / "sevens"
RANDOM = load_player("random")
Answer = dict[str, Any]


def answer(name: str, toggles: dict[str, Any] | None = None, **changes: Any) -> Answer:
    """What the engine says to a position file, read with some toggles and keys replaced."""
    position = yaml.safe_load((POSITIONS / f"{name}.yaml").read_text(encoding="utf-8"))
    return play_position(position | {"toggles": toggles or {}} | changes)


def legal(result: Answer) -> set[str]:
    """The playable cards; "pass" for the empty move."""
    return {move["cards"][0] if move["cards"] else "pass" for move in result["legal"]}


def events(result: Answer, kind: str) -> list[dict[str, Any]]:
    return [event for event in result["events"] if event["type"] == kind]


def test_e1_legal_cards() -> None:
    assert legal(answer("E1")) == {"D6", "D8", "H7", "S7"}


def test_e3_pass() -> None:
    result = answer("E3")
    assert legal(result) == {"pass"}
    assert result["events"][:2] == [
        {"type": "turn", "turn": 1, "seat": 0, "legal": [[]]},
        {"type": "pass", "seat": 0},
    ]


def test_e4_only_the_open_end() -> None:
    assert legal(answer("E4")) == {"D6"}


def test_e5_first_card_is_forced() -> None:
    assert legal(answer("E5")) == {"D7"}
    assert legal(answer("E5", {"start_card": "S7"})) == {"S7"}
    assert legal(answer("E5", {"start_card": "any_7_by_dealer_left"})) == {"S7", "D7"}


def test_e6_last_card_wins_at_once() -> None:
    result = answer("E6")
    assert [event["type"] for event in result["events"]] == ["turn", "play", "finish"]
    outcome = result["outcome"]
    assert (outcome["outcome"], outcome["winners"], outcome["places"][1]) == ("win", [1], 1)


@pytest.mark.parametrize(
    ("seats", "sizes"), [(3, [18, 17, 17]), (5, [11, 11, 10, 10, 10]), (8, [7] * 4 + [6] * 4)]
)
def test_e7_sizes_of_the_deal(seats: int, sizes: list[int]) -> None:
    assert [
        len(hand) for hand in replay(load_ruleset("sevens"), (RANDOM,) * seats, 1, 0)[1]["hands"]
    ] == sizes


def test_dealer_left_without_a_seven() -> None:
    hands = [["C4"], ["D7", "S7"], []]
    assert answer("E5", {"start_card": "any_7_by_dealer_left"}, hands=hands)["events"][0]["seat"] == 1


def test_places_by_cards_left() -> None:
    held = ("S9", "H2", "H3", "C2")
    rest = [card for card in every_card() if card not in (*held, "S7", "S8", "D7")]
    result = answer("E6", hands=[["S9"], ["H2", "H3"], ["C2"], rest], to_move=0)
    assert result["outcome"]["places"] == [1, 3, 2, 4]


def every_card() -> list[str]:
    return list(CARD_NAMES[:52])


def test_covering() -> None:
    result = answer("cover")
    choice, put = events(result, "choose")[0], events(result, "put")[0]
    assert legal(result) == {"pass"}
    assert (choice["what"], choice["value"], set(choice["legal"])) == (
        "cover_card",
        "DQ",
        {"S10", "H6", "DQ"},
    )
    assert put == {"type": "put", "seat": 0, "cards": ["DQ"], "where": "covered"}
    assert result["state"]["covered"] == [["DQ", "C2"], [], []]


LAST_CARD = {
    "hands": [[], [], ["SK"]],
    "covered": [["DQ", "DK"], ["CA", "C2"], []],
    "table": [card for card in every_card() if card not in ("DQ", "DK", "CA", "C2", "SK")],
    "to_move": 2,
    "line": [["SK"]],
}
"""Seats 0 and 1 have covered all their cards, seat 2 plays the last one."""


@pytest.mark.parametrize(
    ("toggles", "scores", "places"),
    [
        ({}, [-25, -3, 0], [3, 2, 1]),
        ({"cover_score": "count"}, [-2, -2, 0], [2, 2, 1]),
        ({"all_covered_wins": True}, [-25, -3, 0], [1, 1, 3]),
    ],
)
def test_scores_of_covers(toggles: dict[str, Any], scores: list[int], places: list[int]) -> None:
    outcome = answer("cover", toggles, **LAST_CARD)["outcome"]
    assert (outcome["outcome"], outcome["scores"], outcome["places"]) == ("win", scores, places)
    assert outcome["winners"] == [p for p in range(3) if places[p] == 1]


def test_covering_at_will() -> None:
    result = answer("cover", {"forced_play": "may_pass"}, table=["S7", "S8", "S9"], line=[[], "H6"])
    assert legal(result) == {"S10", "pass"}
    assert events(result, "put")[0]["cards"] == ["H6"]


def test_fourth_pass_lays_the_hand_out() -> None:
    result = answer("fourth_pass")
    assert result["events"][1:3] == [
        {"type": "put", "seat": 0, "cards": ["S2", "H5", "CK"], "where": "table"},
        {"type": "eliminate", "seat": 0, "reason": "limit"},
    ]
    assert result["events"][3]["legal"] == [["SA"], ["H4"], ["CQ"]]
    assert result["state"]["eliminated"] == [0]
    assert events(answer("fourth_pass", passes=[2, 1, 0]), "pass")[0]["seat"] == 0


def test_passing_at_will_is_bounded() -> None:
    free = answer("E1", {"forced_play": "may_pass"})
    assert legal(free) == {"D6", "D8", "H7", "S7", "pass"}
    assert "pass" not in legal(answer("E1", {"forced_play": "may_pass"}, passes_in_a_row=3))
    assert "pass" not in legal(answer("E5", {"forced_play": "may_pass"}))


@pytest.mark.parametrize(
    ("toggles", "table", "playable"),
    [
        ({}, "D7 D6", "D5 D8"),
        ({"eight_before_six": True}, "D7", "D8"),
        ({"eight_before_six": True}, "D7 D8", "D6 D9"),
        ({}, "D7 D8 D9 D10 DJ DQ DK", "D6"),
        ({"wrap": True}, "D7 D8 D9 D10 DJ DQ DK", "D6 DA"),
        ({"wrap": True}, "DA D7 D8 D9 D10 DJ DQ DK", "D2 D6"),
        ({"ace_high": True}, "D7 D8 D9 D10 DJ DQ DK", "D6 DA"),
        ({"ace_high": True}, "DA D7 D8 D9 D10 DJ DQ DK", "D6"),
        ({"ace_high": True}, "D2 D3 D4 D5 D6 D7", "D8"),
    ],
)
def test_order_of_a_suit(toggles: dict[str, Any], table: str, playable: str) -> None:
    diamonds = [card for card in every_card() if card[0] == "D" and card not in table.split()]
    assert legal(answer("E1", toggles, hands=[diamonds, [], []], table=table.split())) == set(
        playable.split()
    )


@pytest.mark.parametrize(
    ("toggles", "changes", "reason"),
    [
        ({}, {"table": ["D7", "D9"]}, "D9 is not joined to a 7"),
        ({}, {"table": ["D7"], "hands": [["C2"], ["C3"], ["C4"]]}, "SA stands nowhere"),
        ({}, {"covered": [["C2"], [], []]}, "nobody covers"),
        ({"wrap": True, "ace_high": True}, {}, "wrap lets A follow K"),
        ({"no_move": "cover", "forced_play": "max_3_passes"}, {}, "leaves none"),
    ],
)
def test_what_cannot_be(toggles: dict[str, Any], changes: dict[str, Any], reason: str) -> None:
    with pytest.raises((ConfigError, ValueError), match=reason):
        answer("E1", toggles, **changes)


def test_a_state_can_be_fed_back() -> None:
    state = answer(
        "fourth_pass",
        line=[
            ["H4"],
        ],
    )["state"]
    assert play_position(state)["state"] == state


def test_pass_fee_goes_to_the_winner() -> None:
    log = replay(load_ruleset("sevens", {"pass_fee": "1"}), (RANDOM,) * 5, 1, 3)
    passes = Counter(event["seat"] for event in log if event["type"] == "pass")
    end = log[-1]
    paid = [-passes[p] + passes.total() * (p in end["winners"]) for p in range(5)]
    assert passes
    assert end["scores"] == paid


def test_play_to_places() -> None:
    log = replay(load_ruleset("sevens/all_places"), (RANDOM,) * 4, 1, 3)
    finished = [event["seat"] for event in log if event["type"] == "finish"]
    assert [log[-1]["places"][seat] for seat in finished] == [1, 2, 3]
    assert sorted(log[-1]["places"]) == [1, 2, 3, 4]


@pytest.mark.parametrize(
    ("extra_cards", "sets"),
    [
        ("first_seats_dealt", [(0, 1)]),
        ("rotate", [(p, (p + 1) % 5) for p in range(5)]),
        ("random", [(p, q) for q in range(5) for p in range(q)]),
    ],
)
def test_who_holds_a_card_more(extra_cards: str, sets: list[tuple[int, int]]) -> None:
    ruleset, games = load_ruleset("sevens", {"extra_cards": extra_cards}), 400
    seen: Counter[tuple[int, ...]] = Counter()
    for number in range(games):
        hands = replay(ruleset, (RANDOM,) * 5, 2, number)[1]["hands"]
        seen[tuple(p for p in range(5) if len(hands[p]) == 11)] += 1
    wanted = {tuple(sorted(seats)) for seats in sets}
    assert seen.keys() == wanted
    assert len(wanted) == 1 or chisquare(list(seen.values())).pvalue > 1e-6


@pytest.mark.parametrize("version", presets("sevens"))
def test_games_without_a_log_are_the_same(version: str) -> None:
    """The turns of the plain game are played by a shorter path when nobody listens."""
    ruleset = load_ruleset(f"sevens/{version}")
    seats, games = 5, 60
    lineup = (RANDOM, load_player("greedy"), RANDOM, RANDOM, load_player("greedy"))
    rows = play_rows(ruleset, lineup, 3, games)
    for number in range(games):
        log = replay(ruleset, lineup, 3, number)
        first, end = log[1]["first"], log[-1]
        by_position = [(first + k) % seats for k in range(seats)]
        row = rows.loc[number]
        assert row["turns"] == end["turns"]
        assert row["passes"] == sum(event["type"] == "pass" for event in log)
        for k, seat in enumerate(by_position, 1):
            share = SHARE // len(end["winners"]) if seat in end["winners"] else 0
            assert (row[f"share/{k}"], row[f"score/{k}"]) == (share, end["scores"][seat])


def test_a_game_needs_at_most_its_natural_number_of_turns() -> None:
    for version in presets("sevens"):
        ruleset = load_ruleset(f"sevens/{version}")
        for seats in (2, 3, 8):
            bound = game("sevens").rules(ruleset.toggles, seats).max_turns
            turns = play_rows(ruleset, (RANDOM,) * seats, 4, 2000)["turns"]
            assert np.all(turns <= bound)
