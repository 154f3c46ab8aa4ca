"""The worked examples of the rules of paijie (RULES.md 1.13): positions and the numbers they must give."""

from __future__ import annotations

from collections import Counter
from math import comb
from pathlib import Path
from typing import Any

import pytest
import yaml
from scipy.stats import binomtest

from sim.config import load_player, load_ruleset
from sim.engine import play_rows
from sim.position import play_position

POSITIONS = Path(__file__).parent / "positions" / "paijie"
Answer = dict[str, Any]
Cards = frozenset[str]


def answer(name: str, toggles: dict[str, Any] | None = None, **changes: Any) -> Answer:
    """What the engine says to a position file, read with some toggles and keys replaced."""
    path = POSITIONS / f"{name}.yaml"
    if not toggles and not changes:
        return play_position(path)
    position = yaml.safe_load(path.read_text(encoding="utf-8"))
    position["toggles"] = position.get("toggles", {}) | (toggles or {})
    return play_position(position | changes)


def cards(text: str) -> Cards:
    return frozenset(text.split())


def legal(result: Answer) -> dict[Cards, int]:
    """The gap of every legal move."""
    return {frozenset(move["cards"]): move["gap"] for move in result["legal"]}


def events(result: Answer, kind: str, /, **values: Any) -> list[dict[str, Any]]:
    """The events of this type with these values, in order."""
    wanted = values | {"type": kind}
    return [e for e in result["events"] if all(e.get(key) == value for key, value in wanted.items())]


def drawn(result: Answer, seat: int, reason: str) -> int:
    """How many cards the seat drew for this reason."""
    return sum(len(event["cards"]) for event in events(result, "draw", seat=seat, reason=reason))


def outcome(result: Answer) -> str | None:
    """How the game ended, None while it goes on."""
    return None if result["outcome"] is None else str(result["outcome"]["outcome"])


def singles(text: str) -> dict[Cards, int]:
    """Gaps in the notation of the rules: "S6:0 S5:1"."""
    return {frozenset((card,)): int(gap) for card, gap in (item.split(":") for item in text.split())}


@pytest.mark.parametrize(
    ("name", "gaps"),
    [
        ("E1", "S6:0 S8:0 H7:0 S5:1 SK:5 SA:5 S9:1 S10:2 H6:1 H8:1 H5:2 HK:6 HA:6 C10:3"),
        ("E2", "H7:0 H9:0 S8:0 S7:1 SA:7 S9:1 SK:5 HK:4 HA:6 H6:1"),
        ("E3", "S10:1 S5:1 S2:0 SJ:0 SK:0 S3:1 S4:2 S9:1 S8:0 S6:0"),
        ("E4", "H6:1 H9:0 HJ:0 H8:1 H7:0 H5:2 HQ:1 HK:2 HA:6 S6:0 SJ:0 D6:1"),
    ],
)
def test_e1_to_e4_gaps(name: str, gaps: str) -> None:
    moves = legal(answer(name))
    assert {move: gap for move, gap in moves.items() if len(move) == 1} == singles(gaps)


@pytest.mark.parametrize(
    ("connection", "name", "card", "gap"),
    [
        ("virtual_card", "E2", "S7", 0),
        ("virtual_card", "E2", "SA", 6),
        ("virtual_card", "E4", "H6", 0),
        ("suit_only", "E4", "H6", 3),
    ],
)
def test_other_readings_of_the_connection_miss_the_texts_numbers(
    connection: str, name: str, card: str, gap: int
) -> None:
    assert legal(answer(name, {"connection": connection}))[cards(card)] == gap


@pytest.mark.parametrize(("combo_gap", "gap"), [("min", 3), ("max", 6), ("sum", 9)])
def test_e6_gap_of_a_pair_of_kings(combo_gap: str, gap: int) -> None:
    moves = legal(answer("E6", {"combo_gap": combo_gap}))
    assert [moves[cards("SK")], moves[cards("CK")], moves[cards("SK CK")]] == [3, 6, gap]


def test_e8_gap_of_straights() -> None:
    moves = legal(answer("E8"))
    assert [moves[cards("H4")], moves[cards("H5")], moves[cards("H4 H5")]] == [3, 2, 2]
    assert moves[cards("S9 S10 SJ")] == 1


def test_e9_short_stock() -> None:
    result = answer("E9")
    assert [event["gap"] for event in events(result, "play")] == [5]
    assert [event["cards"] for event in events(result, "draw", reason="gap")] == [["C2", "C3"]]
    assert result["state"]["stock"] == []


def test_e10_legal_combinations() -> None:
    moves = legal(answer("E10"))
    assert {cards("S8 S9 S10"), cards("S5 H5 D5")} <= moves.keys()
    assert moves.keys().isdisjoint(
        {cards("H7 D7"), cards("S6 S7"), cards("S7 S8"), cards("SK SA"), cards("S6 S8")}
    )


def test_e11_lock() -> None:
    assert legal(answer("E11")).keys() == {cards("H5"), cards("D9")}
    assert legal(answer("E11", to_move=0)).keys() == {cards("S2"), cards("H3")}


def test_e12_four_locks() -> None:
    assert legal(answer("E12a")).keys() == {cards("BJ")}
    assert legal(answer("E12a", to_move=2)).keys() == {cards("RJ")}
    result = answer("E12b")
    assert [event["suit"] for event in events(result, "lock", seat=0)] == ["S", "H", "D", "C"]
    assert drawn(result, 0, "exchange") == 1
    assert result["state"]["locks"] == {"S": 0, "H": 0, "D": 0, "C": 0}
    assert legal(play_position(result["state"])).keys() == {cards("BJ")}


def test_e13_joker_only() -> None:
    result = answer("E13a")
    assert [event["seat"] for event in events(result, "eliminate", reason="joker_only")] == [1]
    assert (result["state"]["exiled"], result["state"]["eliminated"]) == (["BJ"], [1])
    assert legal(answer("E13b")).keys() == {cards("BJ"), cards("RJ"), cards("BJ RJ")}


@pytest.mark.parametrize(
    ("name", "toggles", "changes", "count"),
    [
        ("E14a", {}, {}, 3),
        ("E14b", {}, {}, 1),
        ("E14a", {"stuck_draw": "one"}, {}, 1),
        ("E14a", {}, {"stock": ["C3", "C5"]}, 2),
    ],
)
def test_e14_stuck_draw(name: str, toggles: dict[str, Any], changes: dict[str, Any], count: int) -> None:
    assert drawn(answer(name, toggles, **changes), 1, "stuck") == count


@pytest.mark.parametrize(("straight", "hit"), [("S5 S6", 1), ("S4 S5 S6", 2), ("S3 S4 S5 S6", 3)])
def test_e16_straight_hits(straight: str, hit: int) -> None:
    result = answer("E16a", line=[straight.split()])
    assert drawn(result, 1, "straight_hit") == hit
    assert len(result["state"]["hands"][1]) == 1 + hit


@pytest.mark.parametrize(
    ("name", "played", "chosen"),
    [
        ("E16b", "S6 H6", "H2"),
        ("E16b", "S6 H6 D6", "H2 C9"),
        ("E16b", "S6 H6 D6 C6", "H2 C9 D3"),
        ("E16c", "S6 H6 D6", "H2"),
    ],
)
def test_e16_exchange(name: str, played: str, chosen: str) -> None:
    result = answer(name, line=[played.split(), *chosen.split()])
    (put,) = events(result, "put", where="stock_shuffled")
    assert frozenset(put["cards"]) == cards(chosen)
    assert drawn(result, 0, "exchange") == len(chosen.split())


def test_e17_straight_with_king_queen_and_jack() -> None:
    result = answer("E17")
    (hit,) = events(result, "draw", reason="straight_hit")
    assert (hit["seat"], hit["cards"]) == (1, ["C2", "C3", "C4"])
    (jack,) = events(result, "choose", what="jack_take")
    assert frozenset(jack["legal"]) == cards("H2 C6 C8")
    told = [(event["type"], event.get("reason", event.get("what"))) for event in result["events"]]
    start = told.index(("play", None))
    assert told[start : start + 9] == [
        ("play", None),
        ("draw", "straight_hit"),
        ("lock", None),
        ("draw", "queen"),
        ("choose", "queen_return"),
        ("put", None),
        ("choose", "jack_take"),
        ("draw", "jack"),
        ("shuffle", None),
    ]
    assert frozenset(result["state"]["hands"][0]) == cards("H3 C5 C8")
    assert Counter(result["state"]["stock"]) == Counter(["H2", "C6"])
    assert result["state"]["locks"] == {"S": 0}


@pytest.mark.parametrize("when", ["immediate", "own_turn_end"])
def test_e19_limit_in_the_own_turn(when: str) -> None:
    over = answer("E19a", {"limit_when": when})
    assert drawn(over, 0, "gap") == 5
    assert [event["seat"] for event in events(over, "eliminate", reason="limit")] == [0]
    assert len(events(over, "lock")) == (when == "own_turn_end")
    safe = answer("E19b", {"limit_when": when})
    assert len(safe["state"]["hands"][0]) == 10
    assert not events(safe, "eliminate")


def test_e20_limit_after_a_straight_of_somebody_else() -> None:
    old = answer("E20", {"limit_when": "immediate"}, line=[["S4", "S5", "S6"]])
    assert [event["seat"] for event in events(old, "eliminate", reason="limit")] == [1]
    new = answer("E20")
    assert drawn(new, 1, "straight_hit") == 2
    assert not events(new, "eliminate")
    assert len(new["state"]["hands"][1]) == 10


TARGETS = {
    "v1.0": {"A": 1, "5": 5, "9": 9, "10": 9, "K": 9, "J": 9, "Q": 9, "Joker": 10},
    "v1.1": {"A": 10, "5": 5, "9": 9, "10": 10, "K": 10, "J": 10, "Q": 10, "Joker": 11},
}


@pytest.mark.parametrize("version", TARGETS)
def test_e22_joker_pair_targets(version: str) -> None:
    wanted = TARGETS[version] | {str(rank): rank for rank in range(2, 9)}
    found = {}
    for seed in range(400):
        result = answer("E22", {"jp_values": version}, seed=seed)
        (redeal,) = events(result, "redeal", kind="joker_pair")
        for card, hand in zip(redeal["flips"], redeal["hands"], strict=True):
            assert card in hand
            found["Joker" if card in ("BJ", "RJ") else card[1:]] = len(hand)
        if found.keys() == wanted.keys():
            break
    assert found == wanted


def test_e23_joker_pair_as_the_last_cards() -> None:
    eleven = 0
    for seed in range(400):
        result = answer("E23", seed=seed)
        size = len(result["state"]["hands"][0])
        (redeal,) = events(result, "redeal")
        assert outcome(result) is None
        assert 2 <= size <= 11
        assert (size == 11) == (redeal["flips"][0] in ("BJ", "RJ"))
        if size == 11:
            eleven += 1
            strict = answer("E23", {"joker_pair_own_turn_grace": False}, seed=seed)
            assert events(strict, "redeal") == [redeal]
            assert [event["seat"] for event in events(strict, "eliminate", reason="limit")] == [0]
            assert outcome(strict) == "survivor"
        if eleven == 3:
            break
    assert eleven == 3


@pytest.mark.parametrize("win_check", ["after_effects", "after_cost", "on_empty"])
def test_e24_last_card_jack(win_check: str) -> None:
    effects = win_check == "after_effects"
    result = answer("E24", {"win_check": win_check}, line=[["SJ"], "C3"] if effects else [["SJ"]])
    assert outcome(result) == (None if effects else "win")
    assert result["state"]["hands"][0] == (["C3"] if effects else [])
    empty = answer("E24", {"win_check": win_check}, stock=[], line=[["SJ"]])
    assert outcome(empty) == "win"


@pytest.mark.parametrize("win_check", ["after_effects", "after_cost", "on_empty"])
def test_e25_last_card_with_a_gap(win_check: str) -> None:
    result = answer("E25", {"win_check": win_check})
    wins = win_check == "on_empty"
    assert outcome(result) == ("win" if wins else None)
    assert drawn(result, 0, "gap") == (0 if wins else 1)


@pytest.mark.parametrize("win_check", ["after_effects", "after_cost", "on_empty"])
def test_e26_last_card_queen(win_check: str) -> None:
    effects = win_check == "after_effects"
    result = answer("E26", {"win_check": win_check}, line=[["SQ"], "C2"] if effects else [["SQ"]])
    assert outcome(result) == "win"
    assert result["outcome"]["winners"] == [0]
    assert drawn(result, 0, "queen") == (1 if effects else 0)
    assert result["state"]["stock"] == ["C2", "C3"]


@pytest.mark.parametrize(("name", "card", "rank"), [("E28a", "H8", 8), ("E28b", "D7", 7)])
def test_e28_start_search(name: str, card: str, rank: int) -> None:
    result = answer(name)
    assert legal(result) == {cards(card): 0}
    assert [event["seat"] for event in events(result, "play")] == [1]
    assert result["state"]["start_rank"] == rank


def test_e29_drawn_game() -> None:
    result = answer("E29")
    idle = [event["seat"] for event in events(result, "turn") if event["legal"] == []]
    assert idle == [0, 1, 2, 3]
    assert not events(result, "draw")
    assert outcome(result) == "drawn"
    assert (result["outcome"]["winners"], result["outcome"]["places"]) == ([], [1, 1, 1, 1])


def test_e30_survivor_and_lay_out() -> None:
    result = answer("E30a")
    assert outcome(result) == "survivor"
    assert (result["outcome"]["winners"], result["outcome"]["places"]) == ([1], [2, 1])
    assert legal(answer("E30b", to_move=1, line=[]))[cards("SA")] == 2
    after = answer("E30b")
    assert cards("S2 S3 D9 CJ") <= frozenset(after["state"]["table"])
    assert (after["state"]["exiled"], after["state"]["eliminated"]) == (["BJ"], [0])
    assert legal(play_position(after["state"]))[cards("SA")] == 0


def chance_of_a_seven(deck: int, dealt: int) -> float:
    """The chance that at least one of the four sevens is among the dealt cards."""
    return 1 - comb(deck - 4, dealt) / comb(deck, dealt)


@pytest.mark.parametrize(("seats", "hand_size", "jokers"), [(2, 6, 2), (4, 6, 2), (2, 4, 0), (5, 8, 2)])
def test_start_rank_seven_is_as_frequent_as_computed(seats: int, hand_size: int, jokers: int) -> None:
    games = 20_000
    ruleset = load_ruleset("paijie/v1.1", {"hand_size": str(hand_size), "jokers": str(jokers)})
    lineup = (load_player("random"),) * seats
    start_ranks = play_rows(ruleset, lineup, 1, games)["start_rank"]
    assert len(start_ranks) == games
    chance = chance_of_a_seven(52 + jokers, seats * hand_size)
    assert binomtest(int((start_ranks == 7).sum()), games, chance).pvalue > 1e-6
