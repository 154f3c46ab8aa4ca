"""The worked examples of the rules of yishi (RULES.md 2.10), every toggle, and what its deals must look like."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import yaml

from sim.config import ConfigError, load_player, load_ruleset
from sim.engine import Table, play_rows
from sim.games import game
from sim.position import play_position, table_of
from sim.trace import replay

POSITIONS = Path(__file__).parent / "positions" / "yishi"
RANDOM = load_player("random")
YISHI = game("yishi")
Answer = dict[str, Any]


def answer(name: str, toggles: dict[str, Any] | None = None, **changes: Any) -> Answer:
    """What the engine says to a position file, read with some toggles and keys replaced."""
    path = POSITIONS / f"{name}.yaml"
    if not toggles and not changes:
        return play_position(path)
    position = yaml.safe_load(path.read_text(encoding="utf-8"))
    position["toggles"] = position.get("toggles", {}) | (toggles or {})
    return play_position(position | changes)


def moves(result: Answer) -> set[str]:
    """The legal moves, in short: "5", "Q+4", "cover"."""
    return {name(move["cards"]) for move in result["legal"]}


def name(cards: list[str]) -> str:
    ranks = [card[1:] for card in cards]
    special = [rank for rank in ranks if rank in ("J", "Q", "K")]
    if len(ranks) == 2:
        ranks = [special[-1], next(iter((Counter(ranks) - Counter(special[-1:])).elements()))]
    return "+".join(ranks) or "cover"


def state(result: Answer) -> tuple[int, int]:
    """Number and direction that the next seat follows."""
    return result["state"]["number"], result["state"]["direction"]


def next_moves(result: Answer) -> set[str]:
    """What the next seat may play."""
    return moves(play_position(result["state"]))


def plain(names: set[str]) -> set[str]:
    return {move for move in names if "+" not in move and move != "cover"}


def options(result: Answer, what: str) -> list[Any]:
    [event] = [e for e in result["events"] if e["type"] == "choose" and e["what"] == what]
    return event["legal"]


def test_e1_what_fits() -> None:
    assert moves(answer("E1")) == {"5", "6", "Q+5", "Q+4", "cover"}


def test_e1_the_number_after_each_play() -> None:
    numbers = {name(move["cards"]): move["number"] for move in answer("E1")["legal"]}
    assert numbers == {"5": 5, "6": 6, "Q+5": 5, "Q+4": 4, "cover": 5}


def test_e2_after_the_reversal() -> None:
    result = answer("E1", hands=[["S5", "H6", "D4", "CQ"], ["S3", "S4", "S5"]])
    assert state(result) == (4, -1)
    assert plain(next_moves(result)) == {"4", "3"}


def test_e3_a_king_is_a_ten() -> None:
    result = answer("E3")
    assert "K" in moves(result)
    assert state(result) == (10, -1)
    assert plain(next_moves(result)) == {"9", "10", "J", "Q", "K"}


def test_e4_a_ten_on_a_ten() -> None:
    assert state(answer("E4")) == (10, -1)
    result = answer("E4", {"ten_effect": "toggle"})
    assert state(result) == (10, 1)
    assert plain(next_moves(result)) == {"10"}


def test_e5_jack_with_ace() -> None:
    result = answer("E5")
    assert state(result) == (1, 1)
    assert plain(next_moves(result)) == {"A", "2"}


def test_e6_following_a_cover() -> None:
    result = answer("E6")
    assert state(result) == (8, 1)
    assert plain(next_moves(result)) == {"8", "9"}
    assert result["state"]["covered"] == [["S2"], []]
    previous = answer("E6", {"follow_after_cover": "previous"})
    assert state(previous) == (5, 1)
    assert plain(next_moves(previous)) == {"5", "6"}


@pytest.mark.parametrize(
    ("card", "toggles", "after"),
    [
        ("S10", {}, (10, -1)),
        ("SA", {}, (1, 1)),
        ("S10", {"cover_after_ten_or_one": "ignored"}, (10, 1)),
    ],
)
def test_e7_a_ten_or_an_ace_after_a_cover(card: str, toggles: dict, after: tuple[int, int]) -> None:
    assert state(answer("E7", toggles, line=[[], "S3", card])) == after


def test_e7_an_ace_after_a_cover_turns_up_again() -> None:
    assert state(answer("E7", direction=-1, line=[[], "S3", "SA"])) == (1, 1)
    ignored = answer("E7", {"cover_after_ten_or_one": "ignored"}, direction=-1, line=[[], "S3", "SA"])
    assert state(ignored) == (1, -1)


def test_e8_last_card_is_covered() -> None:
    result = answer("E8")
    assert moves(result) == {"cover"}
    assert [event["type"] for event in result["events"]] == ["turn", "choose", "put", "finish", "turn"]
    assert state(result) == (3, 1)
    assert result["state"]["covered"] == [["S9"], []]


@pytest.mark.parametrize(("counts", "scores"), [(True, [1, 0]), (False, [0, 0])])
def test_e8_whether_the_last_cover_counts(counts: bool, scores: list[int]) -> None:
    result = answer("E8", {"last_card_cover_counts": counts}, line=[[], "S9", ["S4"]])
    assert result["outcome"]["scores"] == scores
    assert result["outcome"]["places"] == ([2, 1] if counts else [1, 1])


def test_e9_two_jacks() -> None:
    result = answer("E9")
    assert moves(result) == {"cover"}
    assert state(result) == (10, -1)
    assert result["state"]["hands"][0] == []


def test_e9_faces_that_are_no_tens_are_covered_one_a_turn() -> None:
    result = answer("E9", {"faces_plain_ten": False}, line=[[], "SJ"])
    assert state(result) == (3, 1)
    assert result["state"]["hands"] == [["SJ"], ["S4", "S5"]]
    later = play_position(result["state"] | {"line": [["S4"], [], "SJ"]})
    assert later["state"]["covered"] == [["SJ", "SJ"], []]


def test_e12_ties_share_a_place() -> None:
    end = answer("E12")["outcome"]
    assert (end["scores"], end["places"], end["winners"]) == ([2, 0, 2, 5], [2, 1, 2, 4], [1])


def test_e12_pips() -> None:
    assert answer("E12", {"score": "covered_pips"})["outcome"]["scores"] == [5, 0, 14, 53]


def test_e13_what_follows_the_spade_ace() -> None:
    state_after = answer("E13")["state"]
    assert moves(answer("E13")) == {"A"}
    playable = 0
    for seat in range(4):
        fitting = plain(moves(play_position(state_after | {"to_move": seat})))
        playable += sum(card[1:] in fitting for card in state_after["hands"][seat])
    assert playable == 3 + 4


# --- Toggles ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("toggles", "special"),
    [
        ({}, {"J", "Q", "K"}),
        ({"special_J": False}, {"Q", "K"}),
        ({"special_Q": False}, {"J", "K"}),
        ({"special_K": False}, {"J", "Q"}),
        ({"J_mode": "off"}, {"Q", "K"}),
        ({"faces_special": False}, set()),
    ],
)
def test_special_cards_one_by_one(toggles: dict[str, Any], special: set[str]) -> None:
    hand = ["SA", "S5", "S8", "SJ", "SQ", "SK"]
    pairs = {move for move in moves(answer("E1", toggles, hands=[hand, ["S2"]], line=[])) if "+" in move}
    assert {move[0] for move in pairs} == special
    assert pairs <= {"J+A", "Q+5", "K+A", "K+5", "K+8"}


def test_a_jack_alone_counts_one_or_ten() -> None:
    toggles = {"J_mode": "alone_counts_1"}
    hands = [["SJ", "SA", "S3"], ["S2"]]
    result = answer("E5", toggles, hands=hands, line=[["SJ"], "special"])
    assert "J+A" not in moves(result)
    assert options(result, "as") == ["special"]
    assert state(result) == (1, 1)
    both = answer("E3", toggles, hands=hands, line=[["SJ"], "plain"])
    assert options(both, "as") == ["plain", "special"]
    assert state(both) == (10, -1)
    free = answer("E5", toggles, hands=hands, line=[[], "S3", "SJ", "special"])
    assert state(free) == (1, 1)
    assert free["state"]["hands"][0] == ["SA"]


def test_special_cards_beside_faces() -> None:
    hands = [["SJ", "SQ", "SQ", "SK", "SK"], ["S2"]]
    assert "Q+Q" not in moves(answer("E3", hands=hands, line=[]))
    toggles = {"special_with_face_as_ten": True}
    assert {move for move in moves(answer("E3", toggles, hands=hands, number=5, line=[])) if "+" in move} == {
        "K+J",
        "K+Q",
        "K+K",
    }
    down = answer("E3", toggles, hands=hands, direction=-1, line=[["SQ", "SQ"]])
    assert {"Q+J", "Q+Q"} <= moves(down)
    assert down["state"]["hands"][0] == ["SJ", "SK", "SK"]
    assert state(down) == (10, -1)


def test_a_special_pair_after_a_cover() -> None:
    hands = [["S3", "S7", "SQ", "SK"], ["S2"]]
    assert options(answer("E6", hands=hands, line=[[], "S3", "SQ"]), "free_card") == ["S7", "SQ", "SK"]
    toggles = {"free_card_may_be_special_pair": True}
    result = answer("E6", toggles, hands=hands, line=[[], "S3", "SQ", "special", "S7"])
    assert options(result, "as") == ["plain", "special"]
    assert options(result, "partner") == ["S7"]
    assert state(result) == (7, -1)
    assert result["state"]["hands"][0] == ["SK"]


def test_covering_only_without_a_play() -> None:
    toggles = {"cover_voluntary": "only_if_no_play"}
    assert "cover" not in moves(answer("E1", toggles))
    assert moves(answer("E8", toggles)) == {"cover"}


@pytest.mark.parametrize(("turns", "after"), [(True, (10, -1)), (False, (10, 1))])
def test_a_face_played_as_ten_may_leave_the_direction(turns: bool, after: tuple[int, int]) -> None:
    assert state(answer("E3", {"reversal_by_face_ten": turns})) == after


@pytest.mark.parametrize(
    ("ties", "places"),
    [("shared", [1, 1]), ("earlier_finisher_first", [1, 2]), ("later_finisher_first", [2, 1])],
)
def test_ties(ties: str, places: list[int]) -> None:
    position = {"hands": [["S4"], ["S5", "S6"]], "number": 4, "line": [["S4"], ["S5"], ["S6"]]}
    end = play_position({"ruleset": "yishi/default", "toggles": {"ties": ties}} | position)["outcome"]
    assert end["places"] == places
    assert end["winners"] == [seat for seat in (0, 1) if places[seat] == 1]


def test_shared_wins_are_split() -> None:
    rows = play_rows(load_ruleset("yishi"), (RANDOM,) * 4, seed=3, games=300)
    shares = rows[[f"share/{p}" for p in range(1, 5)]]
    assert (shares.sum(axis=1) == 2520).all()
    assert (shares.max(axis=1) == 2520 // rows["winners"]).all()
    assert rows["winners"].max() > 1


def counted(log: list[Answer]) -> dict[str, int]:
    """The game's counters, from its log."""
    turns = [event for event in log if event["type"] == "turn"]
    plays = [[card[1:] for card in event["cards"]] for event in log if event["type"] == "play"]
    singles = Counter(ranks[0] for ranks in plays if len(ranks) == 1)
    pairs = Counter(ranks[-1] for ranks in plays if len(ranks) == 2)
    covers = sum(event["type"] == "put" for event in log)
    forced = sum(turn["legal"] == [[]] for turn in turns)
    finishes = [event["seat"] for event in log if event["type"] == "finish"]
    scores = log[-1]["scores"]
    return {
        "covers": covers,
        "forced_covers": forced,
        "voluntary_covers": covers - forced,
        "bare_covers": len(turns) - len(plays),
        "jack_specials": pairs["J"],
        "queen_specials": pairs["Q"],
        "king_specials": pairs["K"],
        "aces_with_jacks": pairs["J"],
        "faces_as_ten": singles["J"] + singles["Q"] + singles["K"],
        "jacks_played": pairs["J"] + singles["J"],
        "best_covers": min(scores),
        "worst_covers": max(scores),
        "winners": len(log[-1]["winners"]),
        "first_out_covers": scores[finishes[0]],
        "last_out_covers": scores[finishes[-1]],
        "turns": len(turns),
        "turns_q1": sum(gone * 4 // 52 == 0 for gone in cards_gone(log)),
        "turns_q4": sum(gone * 4 // 52 == 3 for gone in cards_gone(log)),
        "held": sum(held_at_turns(log)),
    }


def cards_gone(log: list[Answer]) -> list[int]:
    """How many cards have left the hands at the start of every turn."""
    gone, at = 0, []
    for event in log:
        if event["type"] == "turn":
            at.append(gone)
        elif event["type"] in ("play", "put"):
            gone += len(event["cards"])
    return at


def held_at_turns(log: list[Answer]) -> list[int]:
    """The size of the hand at turn, turn by turn."""
    held, at = [len(hand) for hand in log[1]["hands"]], []
    for event in log:
        if event["type"] == "turn":
            at.append(held[event["seat"]])
        elif event["type"] in ("play", "put"):
            held[event["seat"]] -= len(event["cards"])
    return at


@pytest.mark.parametrize("player", ["random", "greedy"])
def test_counters_are_what_the_log_shows(player: str) -> None:
    ruleset, lineup = load_ruleset("yishi"), (load_player(player),) * 4
    rows = play_rows(ruleset, lineup, seed=8, games=40)
    for number in range(40):
        wanted = counted(replay(ruleset, lineup, 8, number))
        assert rows.loc[number, list(wanted)].to_dict() == wanted


# --- Deals ------------------------------------------------------------------------------------------------------------


def deals(toggles: dict[str, Any], seats: int, number: int = 60) -> list[Answer]:
    """The deal lines of some games."""
    ruleset = load_ruleset("yishi").changed(toggles)
    return [replay(ruleset, (RANDOM,) * seats, 5, k)[1] for k in range(number)]


@pytest.mark.parametrize(
    ("toggles", "seats", "sizes"),
    [
        ({}, 3, [18, 17, 17]),
        ({}, 5, [11, 11, 10, 10, 10]),
        ({"decks": 2}, 6, [18, 18, 17, 17, 17, 17]),
        ({"deal": "equal_burn_rest"}, 5, [10] * 5),
        ({"deal": "one_of_each_rank"}, 3, [13] * 3),
        ({"decks": 3, "deal": "one_of_each_rank"}, 10, [13] * 10),
    ],
)
def test_hand_sizes(toggles: dict[str, Any], seats: int, sizes: list[int]) -> None:
    for deal in deals(toggles, seats, 5):
        assert [len(hand) for hand in deal["hands"]] == sizes
        copies = Counter(card for hand in deal["hands"] for card in hand)
        assert max(copies.values()) <= 4 * toggles.get("decks", 1)
        if toggles.get("deal") == "one_of_each_rank":
            assert all(len(set(hand)) == 13 for hand in deal["hands"])
        elif "deal" not in toggles:
            assert set(copies.values()) == {4 * toggles.get("decks", 1)}


def test_one_of_each_rank_needs_enough_cards() -> None:
    with pytest.raises(ValueError, match="at most 4"):
        YISHI.rules(load_ruleset("yishi/theash").toggles, 5)


def test_the_holder_of_the_spade_ace_leads_it() -> None:
    ruleset = load_ruleset("yishi")
    for number in range(20):
        log = replay(ruleset, (RANDOM,) * 4, 5, number)
        assert log[2]["legal"] == [["SA"]]
        assert "SA" in log[1]["hands"][log[1]["first"]]
        assert log[3] == {"type": "play", "seat": log[1]["first"], "cards": ["SA"], "gap": 0}


def test_a_burned_spade_ace_leaves_the_lead_free() -> None:
    """With two of four A-to-K hands dealt every second game lacks the spade Ace."""
    ruleset = load_ruleset("yishi").changed({"deal": "one_of_each_rank"})
    leads = Counter(len(replay(ruleset, (RANDOM,) * 2, 5, k)[2]["legal"]) for k in range(60))
    assert set(leads) == {1, 13}
    assert 15 <= leads[1] <= 45


def test_dice_and_direction() -> None:
    dice = {"start_number": "two_dice"}
    clamped = Counter(deal["number"] for deal in deals(dice, 4, 400))
    again = Counter(deal["number"] for deal in deals(dice | {"dice_over_10": "reroll"}, 4, 400))
    assert set(clamped) == set(again) == set(range(2, 11))
    assert clamped[10] > again[10]
    for deal in deals(dice | {"initial_direction": "random"}, 4):
        assert deal["direction"] == -1 or deal["number"] != 10
    seen = {
        (deal["number"], deal["direction"]) for deal in deals(dice | {"initial_direction": "random"}, 4, 300)
    }
    assert {(5, 1), (5, -1)} <= seen
    kept = deals({"start_number": "fixed", "start_value": 10, "normalise_at_ends": False}, 4, 3)
    assert {(deal["number"], deal["direction"]) for deal in kept} == {(10, 1)}


def test_the_starter() -> None:
    for starter in ("random", "rotating"):
        firsts = Counter(deal["first"] for deal in deals({"starter": starter}, 4, 200))
        assert set(firsts) == {0, 1, 2, 3}
    free = replay(load_ruleset("yishi").changed({"lead": "free_by_spadeA_holder"}), (RANDOM,) * 4, 5, 0)
    assert "SA" in free[1]["hands"][free[1]["first"]]
    assert len(free[2]["legal"]) == len(set(free[1]["hands"][free[1]["first"]]))


# --- Positions and players --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"hands": [["S5"] * 5, ["S2"]]}, "5 cards of rank 5"),
        ({"hands": [["S5", "BJ"], ["S2"]]}, "no Jokers"),
        ({"hands": [[], ["S2"]]}, "holds no cards"),
        ({"covered": [["S2"]]}, "1 lists for 2 seats"),
        ({"number": 11}, "number"),
    ],
)
def test_impossible_positions(changes: dict[str, Any], reason: str) -> None:
    with pytest.raises(ConfigError, match=reason):
        answer("E1", line=[], **changes)


@pytest.mark.parametrize("player", ["random", "greedy", "special_hoarder", "coverer"])
def test_hidden_cards_never_change_a_choice(player: str) -> None:
    """The other hands, and what others covered, may be dealt anew among each other."""
    lineup = (load_player(player),) * 4
    table = Table(YISHI, YISHI.rules(load_ruleset("yishi").toggles, 4), lineup, seed=2)
    decisions = 0
    for number in range(10):
        table.deal(number)
        over = table.begin()
        while not over:
            kept = table.scratch.states.copy(), table.scratch.rng.copy()
            move = table.choose()
            table.scratch.states[:], table.scratch.rng[:] = kept
            swap_hidden(table.state)
            assert table.choose() == move
            table.scratch.states[:] = kept[0]
            decisions += 1
            over = table.make(move)
    assert decisions > 300


def swap_hidden(state: Any) -> None:
    """Two opponents swap hands and covered cards."""
    a, b = (seat for seat in range(4) if seat != int(state.cur) and seat != (int(state.cur) + 2) % 4)
    for field in ("hand", "covered"):
        state[field][a], state[field][b] = int(state[field][b]), int(state[field][a])


def test_greedy_keeps_its_king_while_a_card_fits() -> None:
    table = table_of(answer("E3")["state"] | {"to_move": 1}, (load_player("greedy"),) * 3)
    assert table.choose() in (1 << 8, 1 << 9)  # the nine or the ten


def test_the_coverer_covers_whenever_it_may() -> None:
    rows = play_rows(load_ruleset("yishi"), (load_player("coverer"),) * 4, seed=1, games=50)
    assert (rows["covers"] == rows["turns"] - 1).all()  # all but the lead


def test_the_hoarder_plays_specials_only_instead_of_covering() -> None:
    lineup = (load_player("special_hoarder"),) * 4
    for number in range(20):
        log = replay(load_ruleset("yishi"), lineup, 3, number)
        for turn, play in pairwise(log):
            if turn["type"] == "turn" and play["type"] == "play" and len(play["cards"]) == 2:
                singles = {move[0] for move in turn["legal"] if len(move) == 1}
                assert singles <= {"SJ", "SQ", "SK"}
