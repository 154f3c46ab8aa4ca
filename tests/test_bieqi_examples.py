"""The worked examples of the rules of bieqi (RULES.md 7), its scores, and what each of its toggles changes."""

from __future__ import annotations

import dataclasses
import itertools
import math
import random
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml

from analysis.metrics import metrics_frame, select
from sim.cards import card_name, card_names
from sim.config import ConfigError, Group, Player, load_player, load_ruleset
from sim.engine import Table, play_range, play_rows
from sim.games import game
from sim.position import play_position, table_of
from sim.trace import replay

POSITIONS = Path(__file__).parent / "positions" / "bieqi"
RANDOM, GREEDY = load_player("random"), load_player("greedy")
SEEING = dataclasses.replace(
    GREEDY,
    weights={
        "bieqi": {
            phase: {**weights, **{f.name: 7 for f in game("bieqi").features if f.partner == "signals"}}
            for phase, weights in GREEDY.weights["bieqi"].items()
        }
    },
)
"""Greedy as one of a pair that goes by what all see."""

NAMED = ("cover_high", "cover_low", "small_first", "big_first", "seven_holder")
BIEQI = game("bieqi")
PIPS = {rank: pips for pips, rank in enumerate(("A", *map(str, range(2, 11)), "J", "Q", "K"), 1)}
Answer = dict[str, Any]


def position(name: str, toggles: dict[str, Any] | None = None, **changes: Any) -> dict[str, Any]:
    """A position file with some toggles and keys replaced."""
    content = yaml.safe_load((POSITIONS / f"{name}.yaml").read_text(encoding="utf-8"))
    return content | {"toggles": toggles or {}} | changes


def answer(name: str, toggles: dict[str, Any] | None = None, **changes: Any) -> Answer:
    """What the engine says to a position file."""
    return play_position(position(name, toggles, **changes))


def events(log: list[Answer], kind: str, **values: Any) -> list[Answer]:
    """The events of this type with these values, in order."""
    wanted = values | {"type": kind}
    return [event for event in log if all(event.get(key) == value for key, value in wanted.items())]


def scores(name: str, **toggles: Any) -> list[int]:
    return list(answer(name, toggles)["outcome"]["scores"])


def rows(games: int, seats: int = 4, player: str = "random", version: str = "default", **toggles: Any) -> Any:
    """The columns of single games, all seats played alike."""
    ruleset = load_ruleset(f"bieqi/{version}", {key: str(value) for key, value in toggles.items()})
    return play_rows(ruleset, (load_player(player),) * seats, seed=5, games=games)


def score_sums(frame: pd.DataFrame, seats: int) -> pd.Series:
    return frame[[f"score/{position}" for position in range(1, seats + 1)]].sum(axis=1)


def test_e1_live_cards() -> None:
    moves = {move["cards"][0]: move["points"] for move in answer("E1")["legal"]}
    assert moves == {"S6": 6, "H7": 7}


@pytest.mark.parametrize(("card", "points"), [("S10", 10), ("H6", 6), ("DK", 13)])
def test_e2_without_a_live_card_any_card_may_be_covered(card: str, points: int) -> None:
    result = answer("E2", line=[card])
    assert result["legal"] == [{"cards": [], "points": 0}]
    (choice,) = events(result["events"], "choose", what="cover_card")
    assert (sorted(choice["legal"]), choice["value"]) == (["DK", "H6", "S10"], card)
    assert events(result["events"], "put", seat=0, cards=[card], where="covered")
    assert result["state"]["covered"] == [[card], []]
    alone = answer("E2", hands=[[card], []], line=[card])["outcome"]
    assert alone["scores"] == [-2 * points, 2 * points]
    assert alone["winners"] == [1]


def test_e3_the_texts_example() -> None:
    end = answer("E3")["outcome"]
    assert end["scores"] == [6, -6, 22, -22]
    assert (end["outcome"], end["winners"], end["places"]) == ("win", [2], [2, 3, 1, 4])


def test_e4_a_passer_doubles_the_others_cover_points() -> None:
    assert scores("E4") == [42, -22, 34, -54]
    assert scores("E4", multiply="after_nonpassers_only") == [21, -22, 34, -54]
    end = answer("E4", {"multiply": "after_nonpassers_only"})["outcome"]
    assert (end["winners"], end["places"]) == ([0], [1, 3, 2, 4])


@pytest.mark.parametrize(
    ("toggles", "expected"),
    [
        ({}, [2000, -560, -880, -560]),
        ({"lone_seven_combine": "replace"}, [1000, -280, -440, -280]),
        ({"lone_seven_combine": "inclusive"}, [1000, -280, -440, -280]),
        ({"lone_seven_needs_single_passer": True}, [2000, -560, -880, -560]),
        ({"multiply": "after_nonpassers_only"}, [125, -560, -880, -560]),
    ],
)
def test_e6_a_lone_seven(toggles: dict[str, Any], expected: list[int]) -> None:
    assert scores("E6", **toggles) == expected


def test_e8_no_lone_seven() -> None:
    assert scores("E8") == [250, -70, -110, -70]
    lead = answer("lead")
    assert [move["cards"] for move in lead["legal"]] == [["S7"]]
    assert lead["state"]["hands"][0] == ["H7"]


@pytest.mark.parametrize(
    ("toggles", "factor"),
    [
        ({}, 4 * 64),
        ({"lone_seven_combine": "replace"}, 64),
        ({"lone_seven_combine": "inclusive"}, 4 * 16),
        ({"lone_seven_needs_single_passer": True}, 4),
        ({"lone_seven_needs_single_passer": True, "lone_seven_combine": "replace"}, 4),
    ],
)
def test_two_passers_with_a_lone_seven_each(toggles: dict[str, Any], factor: int) -> None:
    assert scores("two_lone_sevens", **toggles) == [20 * factor, 20 * factor, -20 * factor, -20 * factor]


def test_when_all_pass_nobody_scores_and_all_share() -> None:
    end = answer("E3", covered=[])["outcome"]
    assert (end["scores"], end["winners"], end["places"]) == ([0] * 4, [0, 1, 2, 3], [1] * 4)


def test_bq01_the_first_empty_hand_ends_the_game() -> None:
    assert answer("first_empty")["outcome"] is None
    result = answer("first_empty", {"end": "first_empty"})
    assert events(result["events"], "finish", seat=0)
    assert result["outcome"]["winners"] == [0, 1]
    turns = rows(2000, version="table_game")["turns"]
    assert set(turns) == {49}
    assert set(rows(2000)["turns"]) == {52}


def test_bq05_open_covers_tell_which_cards_are_cut_off() -> None:
    for hidden, covered in ((True, "H9"), (False, "S10")):
        table = table_of(position("open_covers", {"covers_hidden": hidden}), (GREEDY, GREEDY))
        assert card_name(table.choose()) == covered


def test_a_seat_without_cards_is_skipped() -> None:
    result = answer("skipped")
    assert [event["seat"] for event in events(result["events"], "turn")] == [0, 2, 0]
    assert result["outcome"]["scores"] == [-2 * 4 * 2, 4 * 2, 4 * 2]


@pytest.mark.parametrize(
    ("name", "changes", "reason"),
    [
        ("E1", {"table": ["S8"]}, "S7 is missing"),
        ("E1", {"table": ["S7", "C8"]}, "C7 is missing"),
        ("E1", {"table": ["S7", "SJ"]}, "suit S has a hole"),
        ("E1", {"covered": [["D7"], []]}, "a 7 is always live"),
        ("E1", {"covered": [["C2"], []]}, "a 7 is always live"),
        ("E1", {"covered": [["C2"]]}, "1 lists for 2 seats"),
        ("E1", {"covered": [[], ["S5"]]}, "two places"),
        ("E1", {"covered": [[], ["BJ"]]}, "no Jokers"),
        ("E3", {"to_move": 1, "line": []}, "no cards"),
        ("lead", {"to_move": 1, "line": []}, "must lead S7"),
        ("lead", {"covered": [[], ["C2"]]}, "before S7"),
        ("lead", {"line": [["H7"]]}, "not legal"),
    ],
)
def test_impossible_positions_are_refused(name: str, changes: dict[str, Any], reason: str) -> None:
    with pytest.raises(ConfigError, match=reason):
        answer(name, **changes)


def test_a_state_can_be_fed_back() -> None:
    state = answer("E2")["state"]
    again = play_position(state)
    assert {**again["state"]} == state
    assert again["legal"] == [{"cards": [], "points": 0}]


@pytest.mark.parametrize("seats", range(2, 7))
@pytest.mark.parametrize("player", ["random", "greedy"])
def test_scores_sum_to_zero_in_every_game(seats: int, player: str) -> None:
    for combine, single in itertools.product(("cumulative", "replace", "inclusive"), (False, True)):
        toggles = {"lone_seven_combine": combine, "lone_seven_needs_single_passer": single}
        for end in ("all_hands_empty", "first_empty"):
            assert not score_sums(rows(1500, seats, player, end=end, **toggles), seats).any()


def test_multiplied_final_scores_do_not_sum_to_zero() -> None:
    frame = rows(2000, version="final_scores")
    passed = (frame["passers"] > 0) & (frame["cover_points"] > 0)
    assert (score_sums(frame, 4) != 0).eq(passed).mean() > 0.99
    assert not score_sums(frame[~passed], 4).any()


def test_counters_agree_with_the_scores() -> None:
    frame = rows(5000, player="cover_high")
    assert (frame["multiplier"] == 2 ** frame["doublings"]).all()
    seats = range(1, 5)
    score = np.array([frame[f"score/{seat}"] for seat in seats])
    assert (score.max(0) == frame["best_score"]).all()
    assert (-score.min(0) == frame["largest_loss"]).all()
    assert (frame["best_score"] + frame["largest_loss"] == frame["score_spread"]).all()
    factor = frame["multiplier"].to_numpy()
    points = (factor * frame["cover_points"].to_numpy() - score) // (4 * factor)
    assert (points.min(0) == frame["fewest_points"]).all()
    assert (points.max(0) == frame["most_points"]).all()
    share = np.array([frame[f"share/{seat}"] for seat in seats])
    assert ((score == score.max(0)) == (share > 0)).all()
    assert (share.sum(0) == 2520).all()
    cards = np.array([frame[f"draws/{seat}"] for seat in seats])
    assert ((cards == 0) == (points == 0)).all()
    assert ((cards == 0).sum(0) == frame["passers"]).all()
    assert (cards.sum(0) == frame["covers"]).all()
    assert (frame["lone_sevens"] <= np.minimum(frame["passers"], 3)).all()
    assert frame["lone_sevens"].max() > 0
    assert ((frame["first_cover_turn"] > 0) == (frame["covers"] > 0)).all()


def test_a_lone_seven_can_bring_two_thousand_points() -> None:
    """The text's claim needs the eightfold on top of the pass's doubling (RULES.md 7.2)."""
    cumulative, replace = (
        rows(20000, player="cover_high"),
        rows(20000, player="cover_high", version="lone_seven_replaces"),
    )
    lone = cumulative["lone_sevens"] == 1
    assert cumulative["wins_of_2000"].sum() > 50
    assert (cumulative["lone_seven_2000"] <= cumulative["wins_of_2000"]).all()
    assert replace[lone & (replace["passers"] == 1)]["wins_of_2000"].sum() == 0
    single = cumulative[lone & (cumulative["passers"] == 1)]
    assert (single["cover_points"] >= 57).all()
    assert ((single["cover_points"] >= 125) == (single["wins_of_2000"] == 1)).all()


@pytest.mark.parametrize("seats", [2, 3, 4, 6])
def test_scores_follow_from_the_log(seats: int) -> None:
    """The scores counted by hand from what was covered and what each seat played last."""
    for number in range(30):
        log = replay(load_ruleset("bieqi"), ((RANDOM, GREEDY) * 3)[:seats], 4, number)
        points, last = [0] * seats, [""] * seats
        for event in log:
            if event["type"] in ("play", "put"):
                (last[event["seat"]],) = event["cards"]
                points[event["seat"]] += PIPS[last[event["seat"]][1:]] * (event["type"] == "put")
        passers = points.count(0)
        lone = sum(card[1:] == "7" and not paid for card, paid in zip(last, points, strict=True))
        factor = 2 ** (passers % seats) * 8**lone
        assert log[-1]["scores"] == [factor * (sum(points) - seats * paid) for paid in points]
        assert log[-1]["winners"] == [seat for seat in range(seats) if points[seat] == min(points)]


@pytest.mark.parametrize("name", NAMED)
def test_named_players_do_what_they_are_called_for(name: str) -> None:
    """One turn of each: the decision that names the player."""
    hands = {
        "cover_high": ([["HA", "HQ"], ["C3", "C4"]], ["S7"], "HQ"),
        "cover_low": ([["HA", "HQ"], ["C3", "C4"]], ["S7"], "HA"),
        "small_first": ([["S6", "S8"], ["C3", "C4"]], ["S7"], "S6"),
        "big_first": ([["S6", "S8"], ["C3", "C4"]], ["S7"], "S8"),
        "seven_holder": ([["H7", "H2", "S8"], ["C3", "C4", "C5"]], ["S7"], "S8"),
    }
    held, table_cards, wanted = hands[name]
    player = load_player(name)
    table = table_of({"ruleset": "bieqi", "hands": held, "table": table_cards}, (player, player))
    move = table.choose()
    assert card_name(move.bit_length() - 1 if table.state.phase == 0 else move) == wanted


@pytest.mark.parametrize(
    "player", [GREEDY, *map(load_player, NAMED), SEEING], ids=["greedy", *NAMED, "seeing"]
)
def test_hidden_cards_never_change_a_choice(player: Player) -> None:
    """The opponents' hands, and their covers unless they lie open, are exchanged: the choice stays the same."""
    rnd, decisions = random.Random(player.name), 0
    ruleset = load_ruleset("bieqi")
    table = Table(BIEQI, BIEQI.rules(ruleset.toggles, 4), (player,) * 4, seed=3)
    for number in range(15):
        table.deal(number)
        over = table.begin()
        while not over:
            kept = table.scratch.states.copy(), table.scratch.rng.copy()
            move = table.choose()
            table.scratch.states[:], table.scratch.rng[:] = kept
            swap_hidden(table.state, int(table.state.cur), rnd)
            assert table.choose() == move
            table.scratch.states[:] = kept[0]
            decisions += 1
            over = table.make(move)
    assert decisions == 15 * 52


def swap_hidden(state: np.record, me: int, rnd: random.Random) -> None:
    """Deal the opponents' cards and covers anew among their places, each place keeping its size."""
    others = [seat for seat in range(4) if seat != me]
    places = [(field, seat) for field in ("hand", "covered") for seat in others]
    sizes = [int(state[field][seat]).bit_count() for field, seat in places]
    cards = [1 << bit for field, seat in places for bit in range(58) if int(state[field][seat]) >> bit & 1]
    rnd.shuffle(cards)
    for (field, seat), size in zip(places, sizes, strict=True):
        state[field][seat] = sum(cards[:size])
        cards = cards[size:]


def test_scores_are_reported_with_intervals_that_may_be_negative() -> None:
    group = Group(4, (RANDOM,) * 4, (load_ruleset("bieqi"),), (), seed=1, games=3000, game="bieqi")
    frame = metrics_frame([group], [play_range(group, 0, 3000)])
    table = select(frame, metric="score")
    assert list(table["key"]) == ["1", "2", "3", "4"]
    assert abs(table["estimate"].sum()) < 1e-9
    lowest = table.loc[table["estimate"].idxmin()]
    assert lowest["low"] < lowest["estimate"] < 0


STRENGTHS = ("weak", "rather_weak", "rather_strong", "strong")


def strength(hand: list[str]) -> str:
    """The class of an opening hand: four a step from the 7, plus pips, against the quartiles of 13 cards."""
    burden = sum(4 * abs(PIPS[card[1:]] - 7) + PIPS[card[1:]] for card in hand)
    return STRENGTHS[sum(13 * burden <= most * len(hand) for most in (240, 258, 276))]


@pytest.mark.parametrize("seats", [2, 4])
def test_strength_counts_hands_as_one_would_by_hand(seats: int) -> None:
    ruleset, games = load_ruleset("bieqi"), 1000
    group = Group(seats, (GREEDY,) * seats, (ruleset,), (), seed=1, games=games, game="bieqi")
    frame = select(metrics_frame([group], [play_range(group, 0, games)]), metric="win_share_by_strength")
    table = Table(BIEQI, BIEQI.rules(ruleset.toggles, seats), group.lineup, seed=1)
    dealt = []
    for number in range(games):
        table.deal(number)
        dealt += [strength(card_names(table.state.hand[seat])) for seat in range(seats)]
    assert list(frame["key"]) == list(STRENGTHS)
    assert dict(zip(frame["key"], frame["n"], strict=True)) == Counter(dealt)
    assert frame["estimate"].is_monotonic_increasing


def test_strength_cuts_random_hands_into_quarters() -> None:
    """Counted over all hands of 13: how many have which burden."""
    hands = [Counter({0: 1})] + [Counter() for _ in range(13)]
    for burden in [4 * abs(pips - 7) + pips for pips in PIPS.values()] * 4:
        for size in range(13, 0, -1):
            for total, ways in hands[size - 1].items():
                hands[size][total + burden] += ways
    below = [sum(n for total, n in hands[13].items() if total <= most) for most in (240, 258, 276)]
    assert [n / math.comb(52, 13) for n in below] == pytest.approx([0.25, 0.5, 0.75], abs=0.006)
