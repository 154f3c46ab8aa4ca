"""The worked examples of the rules of old_maid (RULES.md 3.6), and what each of its toggles changes."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml
from scipy.stats import binomtest

from analysis.metrics import metrics_frame, select
from sim.cards import card_names, parse_card
from sim.config import ConfigError, Group, load_player, load_ruleset
from sim.engine import play_range, play_rows
from sim.games.old_maid import MATES
from sim.position import play_position, table_of
from sim.trace import replay

POSITIONS = Path(__file__).parent / "positions" / "old_maid"
RANDOM, GREEDY = load_player("random"), load_player("greedy")
JOKER = "BJ"
Answer = dict[str, Any]
Event = dict[str, Any]


def answer(name: str, toggles: dict[str, Any] | None = None, **changes: Any) -> Answer:
    """What the engine says to a position file, read with some toggles and keys replaced."""
    position = yaml.safe_load((POSITIONS / f"{name}.yaml").read_text(encoding="utf-8"))
    position["toggles"] = position.get("toggles", {}) | (toggles or {})
    return play_position(position | changes)


def events(log: list[Event], kind: str, **values: Any) -> list[Event]:
    """The events of this type with these values, in order."""
    wanted = values | {"type": kind}
    return [event for event in log if all(event.get(key) == value for key, value in wanted.items())]


def game_log(
    seats: int, number: int, version: str = "joker53", lineup: str = "random", **toggles: str
) -> list[Event]:
    """The log of a game of seed 3."""
    ruleset = load_ruleset(f"old_maid/{version}", toggles)
    return replay(ruleset, (load_player(lineup),) * seats, 3, number)


def losers(name: str, games: int) -> Counter[int]:
    """Who loses from a position, over that many seeds."""
    position = yaml.safe_load((POSITIONS / f"{name}.yaml").read_text(encoding="utf-8"))
    lost: Counter[int] = Counter()
    for seed in range(games):
        table = table_of(position | {"seed": seed})
        while not table.make(0):
            pass
        shares = [int(share) for share in table.result().share[: len(position["hands"])]]
        lost[shares.index(0)] += 1
    return lost


# --- Worked examples --------------------------------------------------------------------------------------------------


def test_e1_initial_pairs() -> None:
    result = answer("E1")
    hands = [frozenset(hand) for hand in result["state"]["hands"]]
    assert hands == [{"D8", "SJ", "SQ", JOKER}, {"C8", "HJ", "HQ"}]
    (removed,) = events(result["events"], "put")
    assert (removed["seat"], removed["where"]) == (0, "removed")
    assert frozenset(removed["cards"]) == {"S8", "H8", "SK", "HK", "DK", "CK"}
    assert result["legal"] == [{"cards": [], "among": 3}]


def test_e2_the_seat_without_the_joker_draws() -> None:
    at_once = 0
    for seed in range(400):
        result = answer("E2", seed=seed)
        (drawn,) = events(result["events"], "draw")
        over = result["outcome"] is not None
        assert over == (drawn["cards"] == ["S5"])
        at_once += over
    assert binomtest(at_once, 400, 1 / 2).pvalue > 1e-3
    assert binomtest(losers("E2", 600)[0], 600, 2 / 3).pvalue > 1e-3


def test_e3_the_holder_of_the_joker_draws() -> None:
    result = answer("E3")
    assert [event["type"] for event in result["events"]] == ["turn", "draw", "finish", "put", "lose"]
    assert result["outcome"]["outcome"] == "loser_found"
    assert (result["outcome"]["losers"], result["outcome"]["places"]) == ([0], [2, 1])
    assert result["state"]["hands"] == [[JOKER], []]
    assert losers("E3", 50) == {0: 50}


def test_e4_the_nearest_seat_with_cards() -> None:
    result = answer("E4")
    (drawn,) = events(result["events"], "draw")
    assert drawn["cards"][0] in ("H5", "H9", JOKER)
    assert result["legal"] == [{"cards": [], "among": 3}]
    assert len(result["state"]["hands"][1]) == 2


def test_e6_the_last_queen() -> None:
    for seed in range(40):
        table = table_of(POSITIONS / "E6.yaml") if seed == 0 else table_of(_with_seed("E6", seed))
        while not table.make(0):
            pass
        left = [card_names(hand) for hand in table.state.hand if hand]
        assert len(left) == 1
        assert left[0] in (["SQ"], ["HQ"], ["DQ"])


def _with_seed(name: str, seed: int) -> dict[str, Any]:
    position: dict[str, Any] = yaml.safe_load((POSITIONS / f"{name}.yaml").read_text(encoding="utf-8"))
    return position | {"seed": seed}


@pytest.mark.parametrize(
    ("version", "sizes"),
    [
        ("joker53", [27, 26]),
        ("joker53", [18, 18, 17]),
        ("joker53", [14, 13, 13, 13]),
        ("queen51", [26, 25]),
        ("queen51", [17, 17, 17]),
        ("queen51", [13, 13, 13, 12]),
    ],
)
def test_e7_deal_sizes(version: str, sizes: list[int]) -> None:
    deal = game_log(len(sizes), 0, version)[1]
    assert [len(hand) for hand in deal["hands"]] == sizes
    queens = sum(card[1:] == "Q" for hand in deal["hands"] for card in hand)
    assert (queens, any(JOKER in hand for hand in deal["hands"])) == (
        (4, True) if version == "joker53" else (3, False)
    )


# --- Toggles ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("direction", "source"), [("right_neighbour", 2), ("left", 1)])
def test_draw_from_a_neighbour(direction: str, source: int) -> None:
    before = answer("left", {"draw_from": direction})["state"]["hands"]
    after = answer("left", {"draw_from": direction}, line=[[]])["state"]["hands"]
    assert len(after[source]) == len(before[source]) - 1


def test_draw_from_a_seat_of_choice() -> None:
    result = answer("left", {"draw_from": "any_chosen"}, line=[[], 1])
    (choice,) = events(result["events"], "choose")
    assert (choice["seat"], choice["what"], choice["value"]) == (0, "target", 1)
    assert sorted(choice["legal"]) == [1, 2]
    assert events(result["events"], "draw")[0]["cards"] == ["H5"]
    assert [event["seat"] for event in events(result["events"], "finish")] == [1]


def test_greedy_draws_from_the_largest_hand() -> None:
    log = game_log(4, 0, lineup="greedy", draw_from="any_chosen")
    sizes = {}
    for number, event in enumerate(log):
        if event["type"] == "put" and not sizes and log[number + 1]["type"] == "turn":
            removed = events(log[: number + 1], "put")
            sizes = {p: len(hand) for p, hand in enumerate(log[1]["hands"])}
            for put in removed:
                sizes[put["seat"]] -= len(put["cards"])
        if event["type"] == "choose":
            assert sizes[event["value"]] == max(sizes[q] for q in event["legal"])
            break
    else:
        pytest.fail("nobody chose")


def test_pairs_by_colour() -> None:
    hands = answer("colours", {"pair_rule": "rank_and_colour"})["state"]["hands"]
    assert [frozenset(hand) for hand in hands] == [{"S5", "H5", JOKER}, {"D5", "C5"}]
    assert answer("colours", {"pair_rule": "rank"})["outcome"]["losers"] == [0]


@pytest.mark.parametrize(("order", "places"), [("neighbour_first", [2, 3, 1]), ("tie", [1, 3, 1])])
def test_double_exit(order: str, places: list[int]) -> None:
    result = answer("double_exit", {"double_exit_order": order})
    assert [event["seat"] for event in events(result["events"], "finish")] == [2, 0]
    assert (result["outcome"]["places"], result["outcome"]["losers"]) == (places, [1])


def test_first_drawer_and_first_seat_dealt_to() -> None:
    firsts = {
        rule: Counter(game_log(4, number, first_drawer=rule)[1]["first"] for number in range(60))
        for rule in ("random", "seat0", "dealer_left", "bigger_hand", "smaller_hand")
    }
    assert set(firsts["random"]) == {0, 1, 2, 3}
    assert set(firsts["smaller_hand"]) == {1, 2, 3}
    assert firsts["seat0"] == firsts["dealer_left"] == firsts["bigger_hand"] == {0: 60}
    larger = Counter()
    for number in range(60):
        deal = game_log(4, number, first_drawer="dealer_left", extra_card_seat="rotating")[1]
        larger[deal["first"]] += 1
        assert len(deal["hands"][deal["first"]]) == 14
    assert set(larger) == {0, 1, 2, 3}


def test_length_guard() -> None:
    log = game_log(4, 0, max_draws="7")
    assert (log[-1]["outcome"], log[-1]["turns"], log[-1]["winners"], log[-1]["losers"]) == (
        "stalled",
        7,
        [],
        [],
    )
    assert not events(log, "lose")


def test_games_hardly_ever_reach_the_length_guard() -> None:
    rows = play_rows(load_ruleset("old_maid/joker53"), (RANDOM,) * 8, 5, 20_000)
    assert rows["outcome/stalled"].sum() == 0
    assert rows["turns"].max() < 1000


def recognised(log: list[Event], by_colour: bool) -> list[tuple[str, set[str]]]:
    """Every card drawn from the right, and the cards that memory lets its drawer choose from (OM-04 sticky)."""
    hands = [set(hand) for hand in log[1]["hands"]]
    known: list[set[str]] = [set() for _ in hands]
    draws = []
    for event in log:
        if event["type"] == "put":
            hands[event["seat"]] -= set(event["cards"])
        if event["type"] != "draw":
            continue
        seat, card = event["seat"], event["cards"][0]
        source = next(p for p, hand in enumerate(hands) if card in hand)
        there = known[seat] & hands[source]
        mates = {held for own in hands[seat] for held in card_names(MATES[int(by_colour), parse_card(own)])}
        able = there & mates or hands[source] - there or there - {JOKER} or there
        draws.append((card, able))
        hands[source].remove(card)
        hands[seat].add(card)
        known[source].add(card)
    return draws


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_memory_picks_among_the_recognised_cards(seats: int) -> None:
    fewer = 0
    for number in range(100):
        for card, able in recognised(game_log(seats, number, "memory"), by_colour=False):
            assert card in able
            fewer += card == JOKER and len(able) > 1
    assert fewer > 0  # a Joker in a hand one does not know is drawn as any card


def test_memory_never_takes_the_joker_back() -> None:
    seen = Counter(
        tuple(event["cards"][0] == JOKER for event in events(answer("memory", seed=seed)["events"], "draw"))
        for seed in range(60)
    )
    assert seen[True, False] > 5
    assert seen[True, True] == 0
    mixed = [answer("memory", seed=seed, ruleset="old_maid/joker53")["events"] for seed in range(60)]
    assert any([event["cards"] for event in events(log, "draw")] == [[JOKER], [JOKER]] for log in mixed)


# --- Positions, results -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "changes", "reason"),
    [
        ("E2", {"hands": [["S5", "BJ"], []], "to_move": 0}, "S5"),
        ("E2", {"hands": [["S5"], ["H5"]]}, "BJ must be held"),
        ("E2", {"hands": [["S5", "BJ", "RJ"], ["H5"]]}, "the only Joker"),
        ("E4", {"to_move": 2}, "holds no cards"),
        ("E6", {"hands": [["SQ", "BJ"], ["HQ"], ["DQ"]]}, "no Joker"),
        ("E6", {"hands": [["SQ", "CQ"], ["HQ"], ["DQ"]]}, "one Queen"),
        ("E6", {"hands": [["SQ", "S5"], ["HQ"], ["H5"]]}, "a Queen"),
    ],
)
def test_impossible_positions(name: str, changes: dict[str, Any], reason: str) -> None:
    with pytest.raises(ConfigError, match=reason):
        answer(name, **({"line": []} | changes))


def test_a_state_can_be_played_on() -> None:
    first = answer("left", line=[[]])
    assert play_position(first["state"] | {"line": []})["state"] == first["state"]


@pytest.mark.parametrize("seats", [2, 3, 4, 8])
def test_loss_share(seats: int) -> None:
    ruleset = load_ruleset("old_maid/joker53")
    group = Group(seats, (RANDOM,) * seats, (ruleset,), (), 1, 2000, "old_maid")
    frame = metrics_frame([group], [play_range(group, 0, 2000)])
    lost = select(frame, metric="loss_share").set_index("key")["estimate"]
    won = select(frame, metric="win_share").set_index("key")["estimate"]
    assert list(lost.index) == [str(p + 1) for p in range(seats)]
    assert lost.sum() == pytest.approx(1)
    for position in lost.index:
        assert lost[position] == pytest.approx(1 - (seats - 1) * won[position])
