"""The worked examples of the rules of bieqi_borrow (RULES.md 8.5): positions and what must happen in them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from scipy.stats import binomtest

from sim.config import ConfigError, load_player, load_ruleset
from sim.engine import Table, play_rows
from sim.games import game
from sim.position import play_position

POSITIONS = Path(__file__).parent / "positions" / "bieqi_borrow"
Answer = dict[str, Any]


def answer(name: str, toggles: dict[str, Any] | None = None, **changes: Any) -> Answer:
    """What the engine says to a position file, read with some toggles and keys replaced."""
    position = yaml.safe_load((POSITIONS / f"{name}.yaml").read_text(encoding="utf-8"))
    position["toggles"] = position.get("toggles", {}) | (toggles or {})
    return play_position(position | changes)


def events(result: Answer, kind: str, /, **values: Any) -> list[dict[str, Any]]:
    """The events of this type with these values, in order."""
    wanted = values | {"type": kind}
    return [e for e in result["events"] if all(e.get(key) == value for key, value in wanted.items())]


def turns(result: Answer) -> list[tuple[int, list[list[str]]]]:
    """Seat and legal moves of every turn."""
    return [(event["seat"], event["legal"]) for event in events(result, "turn")]


def lent(result: Answer) -> list[tuple[int, int, str]]:
    """(lender, borrower, card) of every card lent by choice."""
    chosen = [(event["seat"], event["value"]) for event in events(result, "choose", what="lend_card")]
    taken = [(event["seat"], event["cards"]) for event in events(result, "draw", reason="borrow")]
    assert [card for _, card in chosen] == [card for _, (card,) in taken]
    return [(lender, borrower, card) for (lender, card), (borrower, _) in zip(chosen, taken, strict=True)]


def offered(result: Answer) -> set[str]:
    """The cards that the first lender may choose from."""
    (first, *_) = events(result, "choose", what="lend_card")
    return set(first["legal"])


def test_e1_the_lender_may_give_the_joker_and_then_plays() -> None:
    result = answer("E1")
    assert result["legal"] == [{"cards": [], "gap": 0}]
    assert offered(result) == {"BJ", "S6", "H2"}
    assert lent(result) == [(1, 0, "BJ")]
    assert result["state"]["hands"] == [["H9", "D3", "BJ"], ["S6", "H2"]]
    assert turns(result)[-1] == (1, [["S6"]])


def test_e2_the_lender_of_its_only_live_card_must_borrow() -> None:
    result = answer("E2")
    assert result["state"]["hands"] == [["S6", "H9", "D3"], ["H2", "BJ"], ["S8", "CK"]]
    assert turns(result)[-1] == (1, [[]])
    after = answer("E2", line=["S6", "CK"])
    assert lent(after) == [(1, 0, "S6"), (2, 1, "CK")]
    assert turns(after)[-1] == (2, [["S8"]])


def test_e3_a_seat_without_cards_is_passed_over() -> None:
    result = answer("E3")
    assert lent(result) == [(2, 0, "CK")]
    assert turns(result)[-1] == (2, [["S8"]])


def test_e5_a_joker_alone_borrows_in_every_turn() -> None:
    result = answer("E5")
    assert lent(result) == [(1, 0, "S4"), (1, 0, "S5")]
    assert [event["seat"] for event in events(result, "finish")] == [1]
    assert turns(result)[-1] == (0, [["S5"]])
    end = play_position({**result["state"], "line": [["S5"], ["S4"]]})["outcome"]
    assert (end["outcome"], end["winners"], end["places"]) == ("win", [1], [2, 1])


@pytest.mark.parametrize(
    ("seats", "sizes"),
    [(2, [27, 26]), (3, [18, 18, 17]), (4, [14, 13, 13, 13]), (5, [11, 11, 11, 10, 10]), (6, [9] * 5 + [8])],
)
def test_e7_deal(seats: int, sizes: list[int]) -> None:
    played, random = game("bieqi_borrow"), load_player("random")
    seen = set()
    for start in ("random_seat", "previous_loser"):
        rules = played.rules(load_ruleset("bieqi_borrow", {"first_deal_14": start}).toggles, seats)
        table = Table(played, rules, (random,) * seats, 1)
        for number in range(100):
            table.deal(number)
            dealt = tuple(len(hand) for hand in played.module.to_position(rules, table.state)["hands"])
            if start == "random_seat":
                seen.add(dealt)
            else:
                assert list(dealt) == sizes
    assert seen == {tuple(sizes[-k:] + sizes[:-k]) for k in range(seats)}


@pytest.mark.parametrize(
    ("value", "places", "turns_of_first_out"),
    [("allowed_counts_as_finished", [3, 1, 2], 1), ("allowed_not_winning", [3, 2, 1], 4)],
)
def test_running_out_by_lending_the_last_card(value: str, places: list[int], turns_of_first_out: int) -> None:
    result = answer("last_card", {"lend_last_card": value})
    assert lent(result) == [(1, 0, "S5")]
    assert [event["seat"] for event in events(result, "finish")] == [1, 2]
    assert [event["seat"] for event in events(result, "lose")] == [0]
    end = result["outcome"]
    assert (end["outcome"], end["winners"], end["places"]) == ("win", [places.index(1)], places)
    line = ["S5", ["S6"], ["S5"], ["S8"]][:turns_of_first_out]
    first = answer("last_card", {"lend_last_card": value, "end": "first_out"}, line=line)
    assert first["outcome"]["turns"] == turns_of_first_out


def test_a_seat_may_not_lend_its_last_card() -> None:
    result = answer("last_card", {"lend_last_card": "forbidden"}, line=["S6"])
    assert lent(result) == [(2, 0, "S6")]
    assert turns(result)[-1] == (1, [[]])


@pytest.mark.parametrize(("end", "moves"), [("first_out", 1), ("all_but_one_out", 4), ("52_on_table", 5)])
def test_the_end(end: str, moves: int) -> None:
    line = ["S5", ["S6"], ["S5"], ["S8"], ["S9"]][:moves]
    result = answer("last_card", {"end": end}, line=line)
    assert result["outcome"]["winners"] == [1]
    assert result["outcome"]["places"][0] == 3


def test_the_only_live_card_can_go_to_and_fro_for_ever() -> None:
    result = answer("loop")
    assert [seat for seat, _ in turns(result)] == [0, 1, 0, 1, 0, 1]
    end = result["outcome"]
    assert (end["outcome"], end["winners"], end["turns"]) == ("stalled", [], 6)
    assert not events(result, "lose")
    kept = answer("loop", {"may_lend_sole_live_card": False}, line=["H2"])
    assert offered(kept) == {"H2"}
    assert turns(kept)[-1] == (1, [["S6"]])


@pytest.mark.parametrize(
    ("toggles", "cards"),
    [
        ({}, {"BJ", "S6", "H2"}),
        ({"may_lend_sole_live_card": False}, {"BJ", "H2"}),
        ({"who_chooses": "borrower_asks_live_card"}, {"S6"}),
        ({"who_chooses": "borrower_asks_live_card", "may_lend_sole_live_card": False}, {"BJ", "H2"}),
    ],
)
def test_what_may_be_lent(toggles: dict[str, Any], cards: set[str]) -> None:
    result = answer("E1", toggles, line=[min(cards)])
    assert offered(result) == cards


def test_a_card_drawn_blind_asks_nobody() -> None:
    seen = set()
    for seed in range(30):
        result = answer("E1", {"who_chooses": "borrower_blind", "max_turns": 1}, line=[], seed=seed)
        assert not events(result, "choose")
        seen.add(events(result, "draw", seat=0, reason="borrow")[0]["cards"][0])
    assert seen == {"BJ", "S6", "H2"}


def test_borrowing_may_be_refused() -> None:
    refused = answer("E1", {"borrow": "optional"}, line=["pass"])
    assert [event["seat"] for event in events(refused, "pass")] == [0]
    assert refused["state"]["hands"][0] == ["H9", "D3"]
    assert lent(answer("E1", {"borrow": "optional"}, line=["borrow", "H2"])) == [(1, 0, "H2")]


def test_a_borrowed_live_card_is_played_at_once() -> None:
    result = answer("E1", {"borrower_plays_after": "if_live"}, line=["S6"])
    assert [event["cards"] for event in events(result, "play", seat=0)] == [["S6"]]
    assert "S6" in result["state"]["table"]
    assert not events(answer("E1", {"borrower_plays_after": "if_live"}), "play")


def test_the_joker_is_lent_once_in_a_turn_cycle() -> None:
    hands = [["D3", "D2"], ["BJ"], ["C2", "C3"]]
    result = answer("E2", {"joker_lend_limit": "once_per_turn_cycle"}, hands=hands, line=["BJ", "D2"])
    assert events(result, "choose", what="lend_card")[1]["legal"] == ["D2", "D3"]
    free = answer("E2", hands=hands, line=["BJ", "BJ"])
    assert free["state"]["hands"][2] == ["C2", "C3", "BJ"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"table": ["S7", "BJ"], "hands": [["S6"], ["H2"]]}, "BJ"),
        ({"table": ["S7", "S9"]}, "unbroken row"),
        ({"table": ["S7", "H8"]}, "unbroken row"),
        ({"table": ["H7"]}, "S7"),
        ({"table": []}, "S7"),
        ({"hands": [[], ["S6"]]}, "seat 0 holds no cards"),
        ({"hands": [["H9"], ["S6"], []], "finished": [1]}, "without cards"),
    ],
)
def test_impossible_positions(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        answer("E1", line=[], **changes)


@pytest.mark.parametrize("seats", [2, 3, 4, 6])
@pytest.mark.parametrize("player", ["random", "greedy"])
def test_hardly_a_game_stalls(seats: int, player: str) -> None:
    ruleset, lineup = load_ruleset("bieqi_borrow"), (load_player(player),) * seats
    rows = play_rows(ruleset, lineup, seed=1, games=20_000)
    assert rows["outcome/stalled"].mean() < 0.001
    assert (rows[[f"share/{k}" for k in range(1, seats + 1)]].sum(axis=1) == 2520).mean() > 0.999


def test_no_game_stalls_where_the_only_live_card_is_kept() -> None:
    ruleset = load_ruleset("bieqi_borrow/keep_live", {"max_turns": "5000"})
    rows = play_rows(ruleset, (load_player("random"),) * 4, seed=1, games=20_000)
    assert rows["outcome/stalled"].sum() == 0
    assert rows["longest_idle"].max() < 4
    assert rows["turns"].max() <= 52 * 4


def test_the_deal_starts_at_every_seat_alike() -> None:
    played, random = game("bieqi_borrow"), load_player("random")
    rules = played.rules(load_ruleset("bieqi_borrow").toggles, 4)
    table = Table(played, rules, (random,) * 4, 1)
    fourteen = 0
    for number in range(2000):
        table.deal(number)
        fourteen += int(table.state.largest[0]) == 14
    assert binomtest(fourteen, 2000, 0.25).pvalue > 1e-6
