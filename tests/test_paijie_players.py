"""Players of paijie see what their seat would see, and greedy plays the inner decisions sensibly."""

from __future__ import annotations

import random

import numpy as np
import pytest

from sim.cards import card_names, parse_card
from sim.config import Player, load_player, load_ruleset
from sim.engine import Table
from sim.games import game
from sim.position import table_of

GREEDY = load_player("greedy")
HOARDER = load_player("hoarder")
PAIJIE = game("paijie")
JACK_TAKE = PAIJIE.phases.index("jack_take")


def permute_hidden(state: np.record, seats: int, me: int, rnd: random.Random) -> None:
    """Deal the opponents' cards and, where the seat does not see it, the stock anew among each other."""
    others = [seat for seat in range(seats) if seat != me]
    cards = [1 << bit for seat in others for bit in range(58) if int(state.hand[seat]) >> bit & 1]
    top, end = int(state.top), int(state.stock_end)
    stock_seen = int(state.phase) == JACK_TAKE
    if not stock_seen:
        cards += [1 << int(card) for card in state.stock[top:end]]
    rnd.shuffle(cards)
    for seat in others:
        n = int(state.hand[seat]).bit_count()
        state.hand[seat] = sum(cards[:n])
        cards = cards[n:]
    stock = [card.bit_length() - 1 for card in cards] if not stock_seen else state.stock[top:end].tolist()
    rnd.shuffle(stock)
    state.stock[top:end] = stock


@pytest.mark.parametrize("player", ["random", "greedy", "hoarder"])
@pytest.mark.parametrize("version", ["v1.0", "v1.1", "h3a"])
def test_hidden_cards_never_change_a_choice(player: str, version: str) -> None:
    ruleset, seats, rnd = load_ruleset(f"paijie/{version}"), 4, random.Random(version)
    lineup = (load_player(player),) * seats
    table = Table(PAIJIE, PAIJIE.rules(ruleset.toggles, seats), lineup, seed=2)
    decisions, phases = 0, set()
    for number in range(40):
        table.deal(number)
        over = table.begin()
        while not over:
            kept = table.scratch.states.copy(), table.scratch.rng.copy()
            move = table.choose()
            used = table.scratch.rng.copy()
            for _ in range(3):
                table.scratch.states[:], table.scratch.rng[:] = kept
                permute_hidden(table.state, seats, int(table.state.cur), rnd)
                assert table.choose() == move
                assert np.array_equal(table.scratch.rng, used)
            table.scratch.states[:] = kept[0]
            decisions += 1
            phases.add(int(table.state.phase))
            over = table.make(move)
    assert decisions > 1000
    assert len(phases) > 2


def test_the_hidden_card_test_would_notice_a_peek() -> None:
    """A choice that looks at the top of the stock does change."""
    ruleset, rnd = load_ruleset("paijie/v1.1"), random.Random(4)
    table = Table(PAIJIE, PAIJIE.rules(ruleset.toggles, 4), (GREEDY,) * 4, seed=2)
    table.deal(0)
    table.begin()
    tops = set()
    for _ in range(20):
        permute_hidden(table.state, 4, int(table.state.cur), rnd)
        tops.add(int(table.state.stock[int(table.state.top)]))
    assert len(tops) > 1


def choices(position: dict, plays: list) -> list:
    """What greedy answers, one after another, after the given play (a card list) at the position."""
    table = table_of(
        {"ruleset": "paijie/v1.1", "start_rank": 7} | position, (GREEDY,) * len(position["hands"])
    )
    moves = {tuple(sorted(card_names(move))): move for move in table.legal()[0]}
    table.make(moves[tuple(sorted(plays))])
    answers = []
    while table.state.phase != 0:
        move = table.choose()
        answers.append((PAIJIE.phases[int(table.state.phase)], move))
        table.make(move)
    return answers


TABLE = ["S7", "S8", "S9", "H7", "D7"]


def test_greedy_exchanges_a_far_card_and_keeps_its_best() -> None:
    hands = [["H5", "D5", "S10", "CA", "BJ"], ["C2", "C3", "C4"]]
    [(phase, card)] = choices({"hands": hands, "table": TABLE, "stock": ["C9", "C10", "CJ"]}, ["H5", "D5"])
    assert (phase, card) == ("exchange_card", parse_card("CA"))


def test_greedy_recalls_no_card_to_itself_for_nothing() -> None:
    hands = [["SA", "S10", "H9"], ["C2", "C3", "C4"]]
    answers = choices({"hands": hands, "table": TABLE, "stock": ["C9", "C10", "CJ", "CQ", "CK"]}, ["SA"])
    assert [phase for phase, _ in answers] == ["ace_card", "ace_receiver"]
    assert answers[1][1] == 1


def test_greedy_takes_a_useful_card_with_a_jack() -> None:
    hands = [["SJ", "H9", "D9"], ["C2", "C3", "C4"]]
    [(phase, card)] = choices({"hands": hands, "table": TABLE, "stock": ["CK", "H8", "DK"]}, ["SJ"])
    assert (phase, card) == ("jack_take", parse_card("H8"))


def test_greedy_returns_its_farthest_card_with_a_queen() -> None:
    hands = [["SQ", "S10", "CA"], ["C2", "C3", "C4"]]
    answers = choices({"hands": hands, "table": TABLE, "stock": ["H8", "C9", "C10"]}, ["SQ"])
    assert answers == [("queen_return", parse_card("CA"))]


def play(player: Player, hand: str, table: str, ruleset: str = "paijie/h1") -> list[str]:
    """What a player lays from a hand, the other seat holding two clubs."""
    position = {"ruleset": ruleset, "start_rank": 7, "hands": [hand.split(), ["C2", "C3"]]}
    position |= {"table": table.split(), "stock": ["H2", "H4", "D2", "D4"]}
    return card_names(table_of(position, (player,) * 2).choose())


def test_the_hoarder_does_not_break_a_straight_for_a_set() -> None:
    """Four 5s are free; the spade one belongs to a straight of four, so that the hoarder lays the other three."""
    hand, table = "S2 S3 S4 S5 H5 D5 C5", "S7 H6 H7 D7 C7"
    assert play(GREEDY, hand, table) == ["S5", "H5", "D5", "C5"]
    assert play(HOARDER, hand, table) == ["H5", "D5", "C5"]


def test_the_hoarder_keeps_a_whole_straight_at_a_price() -> None:
    """The straight is free, the lone card costs two draws; a straight of three is no reason to pay."""
    assert play(GREEDY, "S3 S4 S5 S6 H9", "S7 H7 H6") == ["S3", "S4", "S5", "S6"]
    assert play(HOARDER, "S3 S4 S5 S6 H10", "S7 H7 H6") == ["H10"]
    assert play(HOARDER, "S4 S5 S6 H10", "S7 H7 H6") == ["S4", "S5", "S6"]


def test_the_hoarder_lets_short_straights_grow_while_other_cards_are_free() -> None:
    assert play(GREEDY, "S5 S6 H8", "S7 H7") == ["S5", "S6"]
    assert play(HOARDER, "S5 S6 H8", "S7 H7") == ["H8"]


def test_the_hoarder_lays_its_straight_to_go_out() -> None:
    assert play(HOARDER, "S3 S4 S5 S6", "S7") == ["S3", "S4", "S5", "S6"]


def test_the_hoarder_lays_its_straight_to_stay_within_the_limit() -> None:
    """Every other card costs two draws or more, too many for a hand of ten; without a limit the cheapest is laid."""
    hand, table = "S3 S4 S5 S6 D9 C10 HJ DQ CK DA", "S7 H7"
    assert play(HOARDER, hand, table, "paijie/h2") == ["S3", "S4", "S5", "S6"]
    assert play(HOARDER, hand, table) == ["D9"]


def test_no_long_straights_where_straights_may_not_be_played() -> None:
    hand, table = "S3 S4 S5 S6 H10", "S7 H7 H6"
    assert play(HOARDER, hand, table, "paijie/h0") == play(GREEDY, hand, table, "paijie/h0") == ["S6"]
