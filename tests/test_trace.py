"""Game logs as text for people."""

from __future__ import annotations

import pytest

from sim.trace import to_text


def turn(n: int) -> dict:
    return {"type": "turn", "turn": 1, "seat": 0, "legal": [["S7"]] * n}


def play(gap: int) -> dict:
    return {"type": "play", "seat": 0, "cards": ["S7"], "gap": gap}


@pytest.mark.parametrize(
    ("language", "lines"),
    [("en", ["  plays ♠7", "  plays ♠7"]), ("zh-Hant", ["  出 ♠7", "  出 ♠7"])],
)
def test_a_game_without_gaps_speaks_of_none(language, lines):
    assert list(to_text([play(0), play(0)], language)) == lines


@pytest.mark.parametrize(
    ("language", "lines"),
    [("en", ["  plays ♠7, gap 0", "  plays ♠7, gap 3"]), ("zh-Hant", ["  出 ♠7，差 0", "  出 ♠7，差 3"])],
)
def test_a_game_with_gaps_tells_each(language, lines):
    """Also when the events come one at a time."""
    assert list(to_text(iter([play(0), play(3)]), language)) == lines


@pytest.mark.parametrize(
    ("n", "moves", "cards", "turns"),
    [(1, "1 legal move)", "(1 card)", "1 turn"), (2, "2 legal moves)", "(2 cards)", "2 turns")],
)
def test_one_is_not_plural(n, moves, cards, turns):
    shuffle = {"type": "shuffle", "stock": ["S7"] * n}
    end = {"type": "end", "outcome": "win", "winners": [0], "losers": [], "places": [1, 2], "turns": n}
    first, second, third = to_text([turn(n), shuffle, end])
    assert first.endswith(f"({moves}")
    assert second.endswith(cards)
    assert third.endswith(f"; {turns}")


def test_an_empty_stock_is_not_told():
    deal = {"type": "deal", "hands": [["S7"]], "stock": [], "first": 0}
    assert list(to_text([deal])) == ["  seat 0: ♠7"]
    assert list(to_text([deal | {"stock": ["D3"]}]))[1] == "  stock, top first: ♦3"
