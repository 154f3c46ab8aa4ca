"""The worked examples of the rules of ninety_nine (RULES.md 5.5), and one position a toggle with what must follow."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from sim.config import ConfigError, load_player, load_ruleset
from sim.engine import play_rows
from sim.games.ninety_nine import TOP
from sim.position import play_position
from sim.trace import replay
from tests.referee.ninety_nine import Disagreement, check

POSITIONS = Path(__file__).parent / "positions" / "ninety_nine"
Answer = dict[str, Any]
SAFE = ["SA", *(suit + rank for suit in "SHDC" for rank in ("4", "5", "10", "J", "Q", "K"))]


def answer(name: str, toggles: dict[str, Any] | None = None, **changes: Any) -> Answer:
    """What the engine says to a position file, read with some toggles and keys replaced."""
    path = POSITIONS / f"{name}.yaml"
    if not toggles and not changes:
        return play_position(path)
    position = yaml.safe_load(path.read_text(encoding="utf-8"))
    position["toggles"] = position.get("toggles", {}) | (toggles or {})
    return play_position(position | changes)


def legal(result: Answer) -> dict[str, int]:
    """The highest total that every legal card can lead to."""
    return {move["cards"][0]: move["total"] for move in result["legal"]}


def total(name: str, *line: Any, toggles: dict[str, Any] | None = None, **changes: Any) -> int:
    """The total after a line."""
    return int(answer(name, toggles, line=list(line), **changes)["state"]["total"])


def events(result: Answer, kind: str) -> list[dict[str, Any]]:
    return [event for event in result["events"] if event["type"] == kind]


def turns(result: Answer) -> list[int]:
    """The seats at turn, in order."""
    return [event["seat"] for event in events(result, "turn")]


def test_e1_at_99() -> None:
    assert legal(answer("E1a")) == {"SA": 0, "D10": 89, "CQ": 79, "SK": 99}
    assert legal(answer("E1b")) == {"S4": 99, "H5": 99, "DJ": 99}
    assert [total("E1a", ["D10"], "-"), total("E1a", ["CQ"], "-")] == [89, 79]
    assert [total("E1a", ["SA"]), total("E1a", ["SK"]), total("E1b", ["DJ"])] == [0, 99, 99]


def test_e2_at_0() -> None:
    assert legal(answer("E2")) == {"S10": 10, "CQ": 20, "S4": 0}
    for card in ("S10", "CQ"):
        with pytest.raises(ConfigError, match=r"- is not legal here \(sign\)"):
            total("E2", [card], "-")


def test_e3_at_85() -> None:
    assert legal(answer("E3")) == {"D10": 95, "HQ": 65, "S9": 94, "SK": 99}
    assert [total("E3", ["D10"], "+"), total("E3", ["D10"], "-"), total("E3", ["HQ"], "-")] == [95, 75, 65]


def test_e5_no_legal_card_loses() -> None:
    result = answer("E5a")
    assert result["legal"] == []
    assert [event["type"] for event in result["events"]] == ["turn", "lose"]
    end = result["outcome"]
    assert (end["outcome"], end["losers"], end["places"]) == ("loser_found", [0], [2, 1])
    assert legal(answer("E5b")) == {"H4": 99}


def test_e6_a_four_reverses() -> None:
    result = answer("E6")
    assert turns(result) == [1, 0]
    assert result["state"]["direction"] == -1


def test_e7_a_five_names_who_plays_next() -> None:
    result = answer("E7")
    assert turns(result) == [2, 0, 3]
    assert events(result, "choose")[0]["legal"] == [0, 1, 3]


@pytest.mark.parametrize("held", [SAFE[at : at + 5] for at in range(0, len(SAFE), 5)])
def test_safe_cards_fit_at_every_total(held: list[str]) -> None:
    for at in range(TOP + 1):
        result = play_position({"ruleset": "ninety_nine/default", "hands": [held, ["H2"]], "total": at})
        assert legal(result).keys() == set(held)


def test_every_other_card_needs_room_for_its_pips() -> None:
    names = ("A", "2", "3", "6", "7", "8", "9")
    for pips, card in ((1 if name == "A" else int(name), "H" + name) for name in names):
        for at in range(TOP - 10, TOP + 1):
            result = play_position({"ruleset": "ninety_nine/default", "hands": [[card], ["S2"]], "total": at})
            assert legal(result) == ({card: at + pips} if at + pips <= TOP else {})


def test_the_discards_become_the_new_stock() -> None:
    result = answer("reshuffle")
    (shuffled,) = events(result, "shuffle")
    assert sorted(shuffled["stock"]) == ["C9", "D8", "HK", "S2"]
    assert events(result, "draw") == [
        {"type": "draw", "seat": 0, "cards": shuffled["stock"][:1], "reason": "refill"}
    ]
    assert result["state"]["total"] == 52


def test_the_last_card_may_stay() -> None:
    result = answer("reshuffle", {"reshuffle": "keep_last_card"})
    assert sorted(events(result, "shuffle")[0]["stock"]) == ["C9", "D8", "HK"]
    assert result["state"]["discard"] == ["S2"]
    alone = answer("reshuffle", {"reshuffle": "keep_last_card"}, discard=[])
    assert events(alone, "draw") == []
    assert alone["state"]["hands"][0] == ["H2"]


def test_without_reshuffling_empty_hands_are_safe() -> None:
    result = answer("no_reshuffle")
    assert turns(result) == [0, 1, 2, 2]
    assert events(result, "draw") == []
    end = answer("no_reshuffle", line=[["S2"], ["S3"], ["S4"], ["H2"]])["outcome"]
    assert (end["outcome"], end["places"]) == ("drawn", [1, 1, 1])


def test_a_forgotten_draw_is_lost() -> None:
    result = answer("forgotten")
    assert turns(result) == [0, 1, 2, 1, 2]
    assert events(result, "draw") == []
    assert result["state"]["hands"] == [[], [], ["H6"]]
    assert result["state"]["stock"] == ["C2", "C3", "C6", "C7"]
    end = answer("forgotten", line=[["S2"], ["S3"], ["S6"], ["H3"], ["H6"]])["outcome"]
    assert (end["outcome"], end["places"]) == ("drawn", [1, 1, 1])


def test_a_draw_that_is_not_forgotten() -> None:
    result = answer("forgotten", {"forget_percent": 0}, line=[["S3"]], to_move=1)
    assert sorted(result["state"]["hands"][1]) == ["C2", "H3"]
    with pytest.raises(ConfigError, match="seat 0 has no cards"):
        answer("forgotten", {"forget_percent": 0}, hands=[[], ["S3"], ["S6"]], to_move=1)


@pytest.mark.parametrize(
    "changes", [{"forget_percent": 100}, {"draw_time": "forgotten_draw_lost", "forget_percent": 0}]
)
def test_where_nobody_forgets_chance_is_the_same_as_ever(changes: dict[str, Any]) -> None:
    usual, lineup = load_ruleset("ninety_nine/default"), (load_player("random"),) * 4
    assert replay(usual.changed(changes), lineup, 1, 2)[1:] == replay(usual, lineup, 1, 2)[1:]


def test_one_draw_in_twenty_is_forgotten() -> None:
    rows = play_rows(load_ruleset("ninety_nine/forgetful"), (load_player("random"),) * 4, seed=1, games=4000)
    plays = rows["turns"].sum() - rows["losses"].sum()
    assert rows["forgotten"].sum() / plays == pytest.approx(0.05, abs=0.003)


def test_only_a_card_that_is_there_can_be_forgotten() -> None:
    """With 5 seats of 5 cards and no new stock, nothing but the 27 cards of the first one can be."""
    toggles = {"draw_time": "forgotten_draw_lost", "forget_percent": 50, "reshuffle": None}
    ruleset = load_ruleset("ninety_nine/default").changed(toggles)
    rows = play_rows(ruleset, (load_player("random"),) * 5, seed=1, games=500)
    draws = rows[[f"draws/{position}" for position in range(1, 6)]].sum(axis="columns")
    plays = rows["turns"] - rows["losses"]
    assert (draws + rows["forgotten"] <= plays).all()
    assert (draws + rows["forgotten"] < plays)[draws == 27].any()


def test_the_log_shows_a_forgotten_draw_by_leaving_it_out() -> None:
    game = replay(load_ruleset("ninety_nine/default"), (load_player("random"),) * 4, 1, 0)
    last = max(at for at, event in enumerate(game) if event["type"] == "draw")
    one_less = game[:last] + game[last + 1 :]
    check(game)
    with pytest.raises(Disagreement):
        check(one_less)

    def under(percent: int, lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
        changed = {"draw_time": "forgotten_draw_lost", "forget_percent": percent}
        return [{**lines[0], "toggles": {**lines[0]["toggles"], **changed}}, *lines[1:]]

    check(under(5, game))
    with pytest.raises(Disagreement, match="every draw is forgotten"):
        check(under(100, game))


def test_elimination() -> None:
    result = answer("elimination")
    assert [event["type"] for event in result["events"]] == ["turn", "eliminate", "put", "turn"]
    assert events(result, "put")[0]["where"] == "discard"
    assert (turns(result), result["state"]["total"]) == ([0, 1], 0)
    assert result["state"]["eliminated"] == [0]


def test_the_total_may_be_kept_after_a_loss() -> None:
    result = answer("elimination", {"after_loss_total": "keep"})
    assert turns(result) == [0, 1]
    assert (result["outcome"]["outcome"], result["outcome"]["winners"]) == ("survivor", [2])
    assert result["outcome"]["places"] == [3, 2, 1]


def test_a_losers_hand_may_leave_the_game() -> None:
    state = answer("elimination", {"after_loss_hand": "removed"})["state"]
    assert (state["removed"], state["discard"]) == (["S2", "S3", "S6", "S7", "S8"], ["HK"])


def test_a_life_is_lost() -> None:
    result = answer("lives")
    assert [event["type"] for event in result["events"]] == ["turn", "lose", "put", "draw", "turn"]
    assert (turns(result), result["state"]["lives"]) == ([0, 1], [1, 1, 3])
    assert result["state"]["hands"][0] == ["C2", "C3", "C6", "C7", "C8"]
    assert turns(answer("lives", {"after_loss_next": "loser_starts"})) == [0, 0]


def test_the_last_life() -> None:
    result = answer("last_life")
    assert [event["type"] for event in result["events"]] == ["turn", "lose", "eliminate"]
    assert result["outcome"]["winners"] == [1]


def test_other_aces_and_kings() -> None:
    assert legal(answer("E1b", {"ace_other": 0}))["HA"] == 99
    eleven = answer("E1b", {"ace_other": "1_or_11"}, total=88, line=[["HA"], 11])
    assert events(eleven, "choose")[0]["legal"] == [1, 11]
    assert eleven["state"]["total"] == 99
    narrow = answer("E1b", {"ace_other": "1_or_11"}, total=89, line=[["HA"], 1])
    assert events(narrow, "choose")[0]["legal"] == [1]
    assert legal(answer("E1a", {"spade_ace": 1, "king": 13})).keys() == {"D10", "CQ"}
    plain = legal(answer("E1a", {"spade_ace": 1, "king": 13}, total=86))
    assert (plain["SA"], plain["SK"]) == (87, 99)


def test_a_five_may_name_oneself() -> None:
    result = answer("E7", {"five_self": True}, line=[["S5"], 2])
    assert turns(result) == [2, 2]


@pytest.mark.parametrize(("four", "seats"), [("no_extra_turn", [0, 1]), ("plays_again", [0, 0])])
def test_a_four_between_two(four: str, seats: list[int]) -> None:
    assert turns(answer("E5b", {"four_two_players": four}, line=[["H4"]])) == seats


def test_jokers() -> None:
    assert answer("jokers")["state"]["total"] == 42
    assert total("jokers", ["BJ"], toggles={"joker_effect": "set_99"}) == 99


def test_the_guard_stalls_a_game_without_a_loser() -> None:
    end = answer("E6", {"max_turns": 1})["outcome"]
    assert (end["outcome"], end["losers"], end["places"]) == ("stalled", [], [1, 1, 1])


@pytest.mark.parametrize(
    ("name", "changes", "text"),
    [
        ("E1a", {"hands": [["S2", "S3", "S6", "S7", "S8", "S9"], ["H2"]]}, "more than 5 cards"),
        ("E1a", {"total": 100}, "the most is 99"),
        ("E1a", {"hands": [["BJ"], ["H2"]]}, "plays without BJ"),
        ("E1a", {"hands": [["S2"], []]}, "seat 1 has no cards"),
        ("E1a", {"removed": ["S9"]}, "no card leaves the game"),
        ("E1a", {"eliminated": [1]}, "the first loser ends the game"),
        ("elimination", {"eliminated": [1]}, "still holds cards"),
        ("lives", {"lives": [4, 1, 1]}, "seat 0 cannot have 4"),
        ("lives", {"lives": [1, 1]}, "2 numbers for 3 seats"),
        ("E2", {"discard": ["S4"]}, "stands in"),
    ],
)
def test_impossible_positions_are_refused(name: str, changes: dict[str, Any], text: str) -> None:
    with pytest.raises(ConfigError, match=text):
        answer(name, **changes)


def test_new_hand_needs_lives() -> None:
    with pytest.raises(ConfigError, match="needs end: lives"):
        answer("elimination", {"after_loss_hand": "new_hand"})


@pytest.mark.parametrize(
    "version", ["default", "three_cards", "elimination", "lives", "no_reshuffle", "jokers", "forgetful"]
)
@pytest.mark.parametrize("player", ["random", "greedy", "keep_it_high"])
def test_usual_tables_hardly_ever_stall(version: str, player: str) -> None:
    rows = play_rows(load_ruleset(f"ninety_nine/{version}"), (load_player(player),) * 4, seed=1, games=2000)
    assert rows["outcome/stalled"].mean() < 0.001


def test_cautious_tables_stall_and_say_so() -> None:
    rows = play_rows(load_ruleset("ninety_nine/default"), (load_player("cautious"),) * 4, seed=1, games=200)
    assert rows["outcome/stalled"].mean() > 0.9


def test_without_reshuffling_the_deck_bounds_the_game() -> None:
    rows = play_rows(
        load_ruleset("ninety_nine/no_reshuffle"), (load_player("random"),) * 4, seed=1, games=2000
    )
    assert rows["turns"].max() <= 53


def test_the_loser_of_the_last_game_may_start() -> None:
    ruleset = load_ruleset("ninety_nine/default").changed({"first_player": "loser_of_last"})
    assert all(
        replay(ruleset, (load_player("random"),) * 3, 1, number)[1]["first"] == 0 for number in range(9)
    )


def test_three_cards_make_shorter_games_than_five() -> None:
    means = [
        play_rows(load_ruleset(f"ninety_nine/{version}"), (load_player("random"),) * 4, seed=1, games=2000)[
            "turns"
        ].mean()
        for version in ("default", "four_cards", "three_cards")
    ]
    assert means[0] > means[1] > means[2]
