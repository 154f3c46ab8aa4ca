"""The worked examples of the rules of heart_attack (RULES.md 6.6), and what each of its toggles changes (6.3)."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from sim.config import ConfigError, load_player, load_ruleset
from sim.engine import play_rows
from sim.position import play_position
from sim.trace import replay, to_text

POSITIONS = Path(__file__).parent / "positions" / "heart_attack"
RANDOM = load_player("random")
Answer = dict[str, Any]


def answer(name: str, toggles: dict[str, Any] | None = None, **changes: Any) -> Answer:
    """What the engine says to a position file, read with some toggles and keys replaced."""
    path = POSITIONS / f"{name}.yaml"
    if not toggles and not changes:
        return play_position(path)
    position = yaml.safe_load(path.read_text(encoding="utf-8"))
    position["toggles"] = position.get("toggles", {}) | (toggles or {})
    return play_position(position | changes)


def events(result: Answer, kind: str) -> list[dict[str, Any]]:
    return [event for event in result["events"] if event["type"] == kind]


def takers(result: Answer) -> list[int | None]:
    return [event["taker"] for event in events(result, "slap")]


def outcome(result: Answer) -> str | None:
    return None if result["outcome"] is None else str(result["outcome"]["outcome"])


def log(ruleset: str, seats: int, number: int, **toggles: str) -> list[dict[str, Any]]:
    return replay(load_ruleset(ruleset, toggles), (RANDOM,) * seats, 7, number)


def slap_times(toggles: dict[str, str], seats: int, games: int) -> np.ndarray:
    """The times of all seats at the matches of some games: float64, shape (matches, seats)."""
    times = [
        list(event["times"].values())
        for number in range(games)
        for event in log("heart_attack/default", seats, number, false_rate_per_mille="0", **toggles)
        if event["type"] == "slap"
    ]
    return np.array(times, dtype=float)


# --- The examples of the rules


def test_e1_the_last_to_slap_takes() -> None:
    result = answer("E1")
    assert result["legal"] == [{"cards": [], "call": 1}]
    turn = {"type": "turn", "turn": 1, "seat": 0, "legal": [[]]}
    assert result["events"] == [
        turn,
        {"type": "play", "seat": 0, "cards": ["SA"], "gap": 0},
        {"type": "slap", "times": {"0": 300, "1": 420}, "taker": 1},
        {"type": "draw", "seat": 1, "cards": ["SA"], "reason": "pile"},
        turn | {"turn": 2, "seat": 1},
    ]
    state = result["state"]
    assert state["hands"] == [["H5"], ["D2", "C9", "SA"]]
    assert (state["to_move"], state["call"], state["centre"]) == (1, 1, [])


def test_e3_a_false_slap() -> None:
    state = answer("E3")["state"]
    assert state["hands"] == [["H5"], ["D2", "C8", "S2", "SQ", "H3", "C9"]]
    assert (state["to_move"], state["call"]) == (1, 1)


@pytest.mark.parametrize(("second", "taker"), [(350, 0), (340, 0), (339, None), (330, None), (310, None)])
def test_e4_the_first_false_slap_or_nobody(second: int, taker: int | None) -> None:
    result = answer("E4", slaps=[{0: 310, 2: second}])
    assert takers(result) == [taker]
    if taker is None:
        assert result["state"]["centre"] == ["S2", "SQ", "H3", "C9"]
        assert (result["state"]["to_move"], result["state"]["call"]) == (1, 5)


def test_e5_the_last_card() -> None:
    assert outcome(answer("E5")) == "win"
    assert answer("E5")["outcome"]["winners"] == [0]
    match: dict[str, Any] = {"hands": [["C4"], ["D2", "C8"]]}
    taken = answer("E5", **match, slaps=[{0: 420, 1: 300}])
    assert outcome(taken) is None
    assert taken["state"]["hands"][0] == ["S2", "SQ", "H3", "C4"]
    for times in ({0: 300, 1: 420}, {0: 300, 1: 310}):
        result = answer("E5", **match, slaps=[times])
        assert [event["seat"] for event in events(result, "finish")] == [0]
        assert result["outcome"]["winners"] == [0]
        assert result["outcome"]["places"] == [1, 2]
    wrong = answer("E5", slaps=[{0: 300}])
    assert outcome(wrong) is None, "a false slap brings the pile back too"


def test_e7_thirteen_is_followed_by_one_and_uneven_deals() -> None:
    result = answer("E7")
    assert takers(result) == [0]
    assert result["state"]["hands"][0] == ["C4", "D5", "SA"]
    for seats, sizes in ((3, [18, 17, 17]), (5, [11, 11, 10, 10, 10]), (4, [13] * 4), (10, [6, 6] + [5] * 8)):
        deal = log("heart_attack/default", seats, 0)[1]
        assert [len(stack) for stack in deal["hands"]] == sizes
        assert len({card for stack in deal["hands"] for card in stack}) == 52
        assert (deal["first"], deal["stock"]) == (0, [])


# --- The toggles


@pytest.mark.parametrize(("card", "times"), [("C9", {0: 310, 2: 330}), ("C4", {0: 310, 1: 200, 2: 330})])
def test_ha01_ties(card: str, times: dict[int, int]) -> None:
    hands = {"hands": [[card, "H5"], ["D2", "C8"], ["SK", "SJ"]]}
    assert takers(answer("E4", slaps=[times], **hands)) == [None]
    again = answer("E4", {"tie": "re_slap"}, slaps=[times, {0: 300, 1: 999, 2: 350}], **hands)
    assert takers(again) == [None, 2 if card == "C4" else 0]
    assert events(again, "slap")[1]["times"] == {"0": 300, "2": 350}, "only those concerned slap again"
    seen = Counter(
        takers(answer("E4", {"tie": "random_of_tied"}, slaps=[times], seed=seed, **hands))[0]
        for seed in range(60)
    )
    assert seen.keys() == {0, 2}
    assert min(seen.values()) > 15


def test_ha01_slapping_again_comes_to_an_end() -> None:
    same = {"tie": "re_slap", "sd_ms": 0, "false_rate_per_mille": 0}
    result = answer("E4", same, hands=[["C4", "H5"], ["D2", "C8"]], slaps=[])
    assert takers(result) == [None] * 11


@pytest.mark.parametrize(
    ("times", "winners", "good"),
    [
        ({0: 300, 1: 500, 2: 400}, [2], {}),
        ({0: 300, 1: 400, 2: 500}, [], {}),  # the last: the pile, and all slaps anew
        ({0: 300, 1: 500, 2: 490}, [], {2: 1}),  # too close to tell: it does not count
    ],
)
def test_ha02_slaps_still_needed(times: dict[int, int], winners: list[int], good: dict[int, int]) -> None:
    result = answer("slaps_needed", slaps=[times])
    assert (result["outcome"] or {"winners": []})["winners"] == winners
    if not winners:
        assert result["state"].get("good_slaps", {}) == good
        assert play_position(result["state"])["state"] == result["state"], "a state is a position"


def test_ha02_slaps_needed_count_from_the_flip_after_the_last_card() -> None:
    more = {"end": "needs_k_more_slaps", "k": 1}
    first = answer("E5", more, hands=[["C4"], ["D2", "C8"]], slaps=[{0: 300, 1: 500}])
    assert outcome(first) is None
    assert first["state"]["to_move"] == 1
    second = answer("E5", more, hands=[["C4"], ["SA", "C8"]], slaps=[{0: 300, 1: 500}] * 2, line=[[]] * 2)
    assert second["outcome"]["winners"] == [0]
    both = {"hands": [["D4", "C8"], [], []], "good_slaps": {1: 0}, "slaps": [{0: 500, 1: 300, 2: 310}]}
    result = answer("slaps_needed", {"k": 1}, **both)
    assert (result["outcome"]["winners"], result["outcome"]["places"]) == ([1, 2], [3, 1, 1])


def test_ha02_nobody_has_a_card_left() -> None:
    result = answer("slaps_needed", hands=[["C5"], [], []], slaps=[{}])
    assert (outcome(result), result["outcome"]["winners"]) == ("drawn", [])


@pytest.mark.parametrize(
    ("times", "losers"),
    [
        ({0: 300, 1: 500, 2: 400}, [1]),
        ({0: 300, 1: 400, 2: 500}, []),  # seat 2 is back, seats 1 and 2 go on
        ({0: 500, 1: 400, 2: 300}, []),
        ({0: 400, 1: 410, 2: 300}, [1]),  # undecided
    ],
)
def test_ha02_until_one_is_left(times: dict[int, int], losers: list[int]) -> None:
    result = answer("one_left", slaps=[times])
    assert [event["seat"] for event in events(result, "lose")] == losers
    if losers:
        assert outcome(result) == "loser_found"
        assert (result["outcome"]["losers"], result["outcome"]["places"]) == ([1], [1, 3, 1])


@pytest.mark.parametrize(
    ("hands", "losers", "places"),
    [
        ([["C9", "H5", "S3"], ["D2", "C8", "CA"], ["SK", "SJ"]], [1], [1, 3, 1]),
        ([["C9", "H5", "S3"], ["D2"], ["SK", "SJ"]], [0, 2], [2, 1, 2]),
        ([["C9", "H5", "S3"], ["D2", "C8"], ["SK", "SJ"]], None, [1, 1, 1]),
    ],
)
def test_ha02_most_cards_after_52_flips(
    hands: list[list[str]], losers: list[int] | None, places: list[int]
) -> None:
    end = answer("flip52", hands=hands)["outcome"]
    assert end["outcome"] == ("drawn" if losers is None else "loser_found")
    assert (end["losers"], end["places"], end["turns"]) == (losers or [], places, 52)


def test_ha03_false_slaps_without_penalty() -> None:
    result = answer("E3", {"false_slap_penalty": "none"})
    assert takers(result) == [None]
    assert result["state"]["centre"] == ["S2", "SQ", "H3", "C9"]


def test_ha04_ha06_calls() -> None:
    assert answer("E3", {"restart_call": "continue"})["state"]["call"] == 5
    own = {"counter": "per_player"}
    result = answer("E4", own, call=[4, 7, 9], slaps=[{}, {}], line=[[], []])
    assert result["legal"] == [{"cards": [], "call": 4}]
    assert result["state"]["call"] == [5, 8, 9]
    taken = answer("E4", own, call=[4, 7, 9], slaps=[{2: 300}])
    assert taken["state"]["call"] == [5, 7, 1], "only the taker begins anew"
    kept = answer("E4", own | {"restart_call": "continue"}, call=[4, 7, 9], slaps=[{2: 300}])
    assert kept["state"]["call"] == [5, 7, 9]


def test_ha05_pickup_order() -> None:
    pile = ["S2", "SQ", "H3", "C9"]
    reverse = answer("E3", {"pickup_order": "reversed"})
    assert reverse["state"]["hands"][1] == ["D2", "C8", *pile[::-1]]
    orders = set()
    for seed in range(20):
        result = answer("E3", {"pickup_order": "shuffled"}, seed=seed)
        (draw,) = events(result, "draw")
        assert result["state"]["hands"][1][2:] == draw["cards"]
        assert sorted(draw["cards"]) == sorted(pile)
        orders.add(tuple(draw["cards"]))
    assert len(orders) > 10


def test_ha07_ha08_who_gets_the_extra_cards_and_begins() -> None:
    longer: Counter[int] = Counter()
    first: Counter[int] = Counter()
    for number in range(200):
        deal = log("heart_attack/default", 5, number, deal_extra="random", first_flipper="random")[1]
        assert sorted(map(len, deal["hands"])) == [10, 10, 10, 11, 11]
        longer.update(seat for seat, stack in enumerate(deal["hands"]) if len(stack) == 11)
        first[deal["first"]] += 1
    assert min(first[seat] for seat in range(5)) > 20
    assert min(longer[seat] for seat in range(5)) > 50


@pytest.mark.parametrize("reaction", ["lognormal", "exgaussian", "shifted_lognormal"])
def test_ha12_reaction_times_have_the_given_moments(reaction: str) -> None:
    times = slap_times({"reaction": reaction, "seat_2_mean_ms": "700", "seat_2_sd_ms": "60"}, 4, 400)
    assert len(times) > 1000
    error = 120 / np.sqrt(len(times))
    assert times.mean(axis=0) == pytest.approx([450, 450, 700, 450], abs=4 * error)
    assert times.std(axis=0) == pytest.approx([120, 120, 60, 120], rel=0.12)
    skew = ((times[:, 0] - times[:, 0].mean()) ** 3).mean() / times[:, 0].std() ** 3
    assert skew > 0.4
    if reaction == "shifted_lognormal":
        assert times.min() > 200


def test_ha12_delay_and_lapses() -> None:
    late = {"sd_ms": "0", "flipper_delay_ms": "80", "seat_1_lapse_per_mille": "1000", "tie_window_ms": "1"}
    for number in range(5):
        flipper = -1
        for event in log("heart_attack/default", 3, number, false_rate_per_mille="0", **late):
            flipper = event["seat"] if event["type"] == "play" else flipper
            if event["type"] == "slap":
                assert event["times"] == {
                    str(seat): 450 + 80 * (seat == flipper) + 1000 * (seat == 1) for seat in range(3)
                }
                assert event["taker"] == 1


def test_ha12_false_slaps() -> None:
    rows = play_rows(load_ruleset("heart_attack", {"false_rate_per_mille": "50"}), (RANDOM,) * 4, 3, 3000)
    assert rows["false_slappers"].sum() / rows["misses"].sum() == pytest.approx(4 * 0.05, rel=0.03)
    near = {"false_rate_per_mille": "0", "seat_3_false_rate_per_mille": "50", "near_factor": "20"}
    call, seen = 1, Counter[bool]()
    for number in range(60):
        for event in log("heart_attack/default", 4, number, restart_call="continue", **near):
            if event["type"] == "game":
                call = 0
            elif event["type"] == "play":
                call, card = call % 13 + 1, event["cards"][0]
                rank = ("A", "2", "3", "4", "5", "6", "7", "8", "9", "10", "J", "Q", "K").index(card[1:]) + 1
            elif event["type"] == "slap" and rank != call:
                assert event["times"].keys() == {"3"}
                seen[abs(rank - call) == 1] += 1
    assert seen[True] > 2 * seen[False], "a near miss is slapped at every time"


def test_ha12_a_mean_below_the_shift_is_refused() -> None:
    ruleset = load_ruleset("heart_attack", {"reaction": "shifted_lognormal", "seat_3_mean_ms": "150"})
    with pytest.raises(ValueError, match="seat 3's mean of 150 ms is not above the least time of 200 ms"):
        play_rows(ruleset, (RANDOM,) * 4, 1, 1)
    play_rows(ruleset, (RANDOM,) * 3, 1, 1)


def test_ha13_a_game_that_never_ends() -> None:
    """A seat that always slaps wrongly takes every pile, and turns for ever."""
    endless = {"seat_0_false_rate_per_mille": "1000", "seat_0_mean_ms": "5000"}
    rows = play_rows(load_ruleset("heart_attack", endless | {"max_flips": "300"}), (RANDOM,) * 2, 1, 5)
    stalled = rows["outcome/stalled"] == 1
    assert stalled.any()
    assert (rows.loc[stalled, "turns"] == 300).all()


# --- Positions and words


@pytest.mark.parametrize(
    ("name", "changes", "message"),
    [
        ("E1", {"hands": [["SA", "BJ"], ["D2"]]}, "no Jokers"),
        ("E1", {"hands": [[], ["D2"]]}, "seat 0 has no card to turn"),
        ("E1", {"hands": [["SA"], []]}, "the game is over"),
        ("E1", {"hands": [["SA"], ["SA"]]}, "stands in"),
        ("E1", {"call": [1, 2]}, "a list is for per_player counting"),
        ("E1", {"call": 14}, "14"),
        ("E1", {"slaps": [{2: 300}]}, "there is no seat 2"),
        ("E1", {"slaps": [{"first": 300}]}, "first is no seat"),
        ("E1", {"slaps": [{0: -1}]}, "no time"),
        ("E1", {"good_slaps": {0: 1}}, "no slaps to get through"),
        ("E1", {"flips": 5000}, "ends after 5000 flips"),
        ("E1", {"line": [["SA"]]}, "not legal"),
        ("slaps_needed", {"good_slaps": {2: 2}}, "not between 0 and 1"),
        ("one_left", {"hands": [["C4"], [], []]}, "only one seat has cards"),
        ("flip52", {"flips": 52}, "ends after 52 flips"),
    ],
)
def test_impossible_positions(name: str, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        answer(name, **changes)


def test_a_seat_that_does_not_slap_at_a_match_is_last() -> None:
    assert takers(answer("E1", slaps=[{0: 300}])) == [1]
    result = answer("E1", slaps=[{}])
    assert (takers(result), result["state"]["centre"]) == ([], ["SA"])


def test_prescribed_slaps_run_out_and_reactions_take_over() -> None:
    result = answer("E7", slaps=[{}], line=[[]])
    assert "slaps" not in result["state"]
    assert answer("E7", slaps=[{}, {0: 1}], line=[[]])["state"]["slaps"] == [{0: 1}]
    times = events(answer("E7", {"sd_ms": 0}, slaps=[{}]), "slap")[0]["times"]
    assert times == {"0": 450, "1": 450}


@pytest.mark.parametrize("language", ["en", "zh-Hant"])
def test_the_log_can_be_read(language: str) -> None:
    text = "\n".join(to_text(log("heart_attack/default", 3, 1), language))
    assert "Heart Attack" in text or "心臟病" in text
    assert "{" not in text
