"""Matches of several rounds: each round is a game of its own, and the match is what they add up to."""

from __future__ import annotations

import importlib
import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from sim.batch import run
from sim.config import (
    Contrast,
    Group,
    Ruleset,
    check_file,
    describe_game,
    json_schema,
    load_player,
    load_ruleset,
    load_sweep,
)
from sim.engine import Table, play_range, play_rows
from sim.games import DRAWN, LOSER_FOUND, OUTCOMES, SHARE, STALLED, SURVIVOR, WIN, games
from sim.position import play_position
from sim.store import group_key
from sim.tally import MOST_BINS, ROW, Layout, add_round, end_match, loser_of
from sim.trace import Event, replay, to_text
from tests.referee.rounds import check_log, rounds_of
from tests.snap import Write, message, snap_project

RANDOM, GREEDY = load_player("random"), load_player("greedy")

MATCHES = ("ninety_nine/match", "bieqi_borrow/match", "yishi")
"""Rulesets that are played by the compiled loop over rounds: by losses, with a previous loser, by lowest score."""


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    """Writes a file into an empty project that knows the tiny games."""
    return snap_project(tmp_path, monkeypatch)


def match_of(name: str, rounds: int, **toggles: str) -> Ruleset:
    """A ruleset as a match of so many rounds."""
    return load_ruleset(name, {"rounds": str(rounds), **toggles})


def lineup_of(ruleset: Ruleset, seats: int) -> tuple[Any, ...]:
    """Random and, where they know the game, greedy players in turn."""
    players = [player for player in (RANDOM, GREEDY) if player.plays(ruleset.game)]
    return tuple(itertools.islice(itertools.cycle(players), seats))


def seats_of(game: str) -> int:
    return min(max(4, games()[game].min_seats), games()[game].max_seats)


def firsts_and_losers(log: list[Event]) -> Iterator[tuple[Event, list[int]]]:
    """Of every round its `deal` line and the seats in last place, nobody where the round was not decided."""
    for one in rounds_of(log):
        end, seats = one[-1], len(one[-1]["places"])
        decided = end["outcome"] not in ("drawn", "stalled")
        yield one[1], [p for p in range(seats) if decided and end["places"][p] == seats]


# --- The log ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("game", games())
def test_round_one_is_the_single_game(game: str) -> None:
    single, match = load_ruleset(game), match_of(game, 3)
    lineup = lineup_of(single, seats_of(game))
    for number in range(5):
        log = replay(match, lineup, 7, number)
        assert log[0]["rounds"] == 3
        first = rounds_of(log)[0]
        assert first[1:] == replay(single, lineup, 7, number)[1:]


@pytest.mark.parametrize("game", games())
def test_the_referee_follows_every_round(game: str) -> None:
    check = importlib.import_module(f"tests.referee.{game}").check
    played = games()[game]
    for number in range(12):
        seats = played.min_seats + number % (played.max_seats - played.min_seats + 1)
        ruleset = match_of(game, 2 + number % 4)
        check_log(replay(ruleset, lineup_of(ruleset, seats), 3, number), check, played.scored)


def test_what_is_dealt_in_turn_goes_on_with_the_rounds() -> None:
    """The seat where the deal starts moves on: round k of deal d starts where deal d + k does, with its own cards."""
    ruleset = match_of("old_maid", 5, extra_card_seat="rotating")
    for number in range(6):
        logs = rounds_of(replay(ruleset, (RANDOM,) * 4, 1, number))
        assert len({str(log[1]["hands"]) for log in logs}) == 5
        for k, log in enumerate(logs):
            start = (number + k) % 4
            sizes = [len(hand) for hand in log[1]["hands"]]
            assert sizes == [14 if p == start else 13 for p in range(4)]


@pytest.mark.parametrize("max_turns", [1000, 40])
def test_the_loser_of_the_last_round_plays_first(max_turns: int) -> None:
    """A round that ends at the guard has no loser: who lost before it plays first again."""
    ruleset = load_ruleset("ninety_nine/match", {"max_turns": str(max_turns)})
    stalled, seen = 0, set()
    for number in range(30):
        first = 0
        for dealt, losers in firsts_and_losers(replay(ruleset, (RANDOM,) * 4, 5, number)):
            assert dealt["first"] == first
            first = losers[0] if losers else first
            stalled += not losers
            seen.add(first)
    assert seen == {0, 1, 2, 3}
    assert (stalled > 0) == (max_turns == 40)


def test_the_previous_loser_is_dealt_a_card_more() -> None:
    ruleset = load_ruleset("bieqi_borrow/match")
    seen = set()
    for number in range(30):
        extra = 0
        for dealt, losers in firsts_and_losers(replay(ruleset, lineup_of(ruleset, 4), 5, number)):
            assert [len(hand) for hand in dealt["hands"]] == [14 if p == extra else 13 for p in range(4)]
            extra = losers[0] if losers else extra
            seen.add(extra)
    assert seen == {0, 1, 2, 3}


def test_a_match_in_words() -> None:
    log = replay(match_of("ninety_nine", 2), (RANDOM,) * 3, 1, 4)
    assert [event["type"] for event in log if event["type"] in ("game", "deal", "round", "end")] == [
        *("game", "deal", "round", "deal", "round", "end")
    ]
    words = {"en": ("Match of 2 rounds", "End of round 2: "), "zh-Hant": ("共 2 輪", "第 2 輪結束：")}
    for language, (start, end) in words.items():
        lines = list(to_text(log, language))
        assert lines[1].startswith(start)
        assert lines[-2].startswith(end)
    assert "rounds" not in replay(load_ruleset("ninety_nine"), (RANDOM,) * 3, 1, 4)[0]


# --- What is counted --------------------------------------------------------------------------------------------------


def play_by_hand(ruleset: Ruleset, lineup: tuple[Any, ...], seed: int, number: int) -> dict[str, int]:
    """The columns of a match, added up round by round at a table."""
    played, seats = games()[ruleset.game], len(lineup)
    table = Table(played, played.rules(ruleset.toggles, seats), lineup, seed)
    table.deal(number)
    sums = np.zeros((5, seats), dtype=np.int64)  # score, draws, decisions, choices, largest hand
    counts = np.zeros(len(played.counters), dtype=np.int64)
    turns, listed, first = 0, 0, int(table.state.first)
    for k in range(ruleset.rounds):
        if k:
            table.deal_next()
        over = table.begin()
        while not over:
            n, seat = len(table.legal()[0]), table.mover()
            sums[2, seat] += 1
            sums[3, seat] += n > 1
            listed += n
            over = table.make(table.choose())
        row = table.end_round()
        sums[0] += row.score[:seats]
        sums[1] += row.drawn[:seats]
        sums[4] = np.maximum(sums[4], row.largest[:seats])
        counts += row.count[: len(counts)]
        turns += int(row.turns)
    row = table.match_result()
    assert row.turns == turns
    names = ("score", "draws", "decisions", "choices", "largest_hand")
    columns = {
        f"{name}/{(seat - first) % seats + 1}": int(value)
        for name, values in zip(names, sums, strict=True)
        for seat, value in enumerate(values)
    }
    columns |= {f"share/{(seat - first) % seats + 1}": int(row.share[seat]) for seat in range(seats)}
    columns |= {f"outcome/{OUTCOMES[row.outcome]}": 1, "turns": turns, "listed": listed}
    return columns | {c.name: int(value) for c, value in zip(played.counters, counts, strict=True)}


@pytest.mark.parametrize("name", MATCHES)
def test_a_match_adds_up_its_rounds(name: str) -> None:
    ruleset = match_of(name, 3)
    lineup = lineup_of(ruleset, seats_of(ruleset.game))
    rows = play_rows(ruleset, lineup, seed=3, games=15)
    single = play_rows(load_ruleset(name, {"rounds": "1"}), lineup, seed=3, games=15)
    for number in range(15):
        for column, value in play_by_hand(ruleset, lineup, 3, number).items():
            if column in rows:
                assert rows.loc[number, column] == value, (number, column)
    assert (rows["turns"] > single["turns"]).all()
    assert (rows["lead_changes"] >= single["lead_changes"]).all()
    assert rows.filter(like="outcome/").sum(axis=1).eq(1).all()
    won = rows["outcome/win"].to_numpy()
    assert (rows.filter(like="share/").sum(axis=1).to_numpy() == SHARE * won).all()


def row_of(outcome: int = WIN, **fields: int | list[int]) -> np.ndarray:
    """A row, as an array of one; the fields by seat (and the counters) as lists of the first few."""
    rows = np.zeros(1, dtype=ROW).view(np.recarray)
    rows[0].outcome = outcome
    for name, value in fields.items():
        if isinstance(value, list):
            rows[name][0, : len(value)] = value
        else:
            rows[name][0] = value
    return rows


def joined(rounds: list[np.ndarray], seats: int, scored: int = 0) -> Any:
    """The row of a match whose rounds have these rows, by the kernel's own functions run as plain Python."""
    match = np.zeros(1, dtype=ROW).view(np.recarray)
    for number, rows in enumerate(rounds):
        getattr(add_round, "py_func", add_round)(seats, 4, rows, match, number)
    result = np.zeros(1, dtype=ROW).view(np.recarray)
    getattr(end_match, "py_func", end_match)(seats, scored, result, match)
    return result[0]


@pytest.mark.parametrize(
    ("outcomes", "expected"),
    [
        ([WIN, WIN], WIN),
        ([LOSER_FOUND, LOSER_FOUND], WIN),
        ([SURVIVOR, DRAWN], WIN),
        ([DRAWN, LOSER_FOUND], WIN),
        ([DRAWN, DRAWN], DRAWN),
        ([STALLED, WIN], STALLED),
        ([WIN, STALLED], STALLED),
        ([DRAWN, STALLED], STALLED),
        ([STALLED, DRAWN, WIN], STALLED),
    ],
)
def test_the_outcome_of_a_match(outcomes: list[int], expected: int) -> None:
    """A stalled round is never hidden, and nobody wins a match that has one."""
    rounds = [row_of(outcome, share=[0 if outcome in (DRAWN, STALLED) else SHARE, 0]) for outcome in outcomes]
    match = joined(rounds, 2)
    assert match.outcome == expected
    assert match.share[:2].tolist() == ([SHARE, 0] if expected == WIN else [0, 0])


def test_the_winner_of_a_match() -> None:
    """The best total score, then the rounds won; equals share the win and the smallest place."""
    third = SHARE // 3
    lost = [row_of(LOSER_FOUND, share=[0 if p == loser else third for p in range(4)]) for loser in (2, 0, 2)]
    match = joined(lost, 4)
    assert match.place[:4].tolist() == [3, 1, 4, 1]
    assert match.share[:4].tolist() == [0, SHARE // 2, 0, SHARE // 2]
    scores = [
        row_of(WIN, score=[5, -1, 4], share=[SHARE, 0, 0]),
        row_of(WIN, score=[0, 6, 0], share=[0, SHARE, 0]),
    ]
    assert joined(scores, 3, scored=1).place[:3].tolist() == [1, 1, 3]
    assert joined(scores, 3, scored=-1).place[:3].tolist() == [2, 2, 1]
    scores[1][0].share[:2] = SHARE, 0
    assert joined(scores, 3, scored=1).place[:3].tolist() == [1, 2, 3]


def test_the_sums_of_a_match() -> None:
    first = row_of(
        **{"turns": 7, "listed": 9, "first": 1, "direction": -1, "lead_changes": 2},
        **{"opening": [5, 6], "drawn": [1, 2], "largest": [9, 4], "count": [1, 2, 3, 4]},
    )
    second = row_of(
        **{"turns": 3, "listed": 4, "first": 0, "direction": 1, "lead_changes": 1},
        **{"opening": [8, 9], "drawn": [10, 20], "largest": [7, 8], "count": [10, 20, 30, 40]},
    )
    match = joined([first, second], 2)
    assert (match.turns, match.listed, match.lead_changes) == (10, 13, 3)
    assert (match.first, match.direction, match.opening[:2].tolist()) == (1, -1, [5, 6])
    assert (match.drawn[:2].tolist(), match.largest[:2].tolist()) == ([11, 22], [9, 8])
    assert match.count[:4].tolist() == [11, 22, 33, 44]


@pytest.mark.parametrize(
    ("outcome", "places", "loser"),
    [
        (LOSER_FOUND, [1, 1, 4, 1], 2),
        (SURVIVOR, [2, 4, 1, 3], 1),
        (WIN, [1, 3, 2, 3], 9),
        (STALLED, [1, 1, 4, 1], 9),
        (DRAWN, [1, 1, 1, 1], 9),
    ],
)
def test_the_loser_of_a_round(outcome: int, places: list[int], loser: int) -> None:
    row = row_of(outcome, place=places)[0]
    assert getattr(loser_of, "py_func", loser_of)(4, row, 9) == loser


def test_histograms_grow_with_the_rounds() -> None:
    played = games()["ninety_nine"]
    rules = played.rules(load_ruleset("ninety_nine").toggles, 4)
    single, match, long = (dict(Layout(played, rules, rounds).histograms) for rounds in (1, 5, 100))
    assert (single["turns"], single["last_total"]) == (1001, 100)
    assert (match["turns"], match["last_total"]) == (5001, 496)
    assert (long["turns"], long["last_total"]) == (MOST_BINS + 1, 9901)


def test_a_range_of_matches_is_the_sum_of_its_parts(tmp_path: Path) -> None:
    """Single games and matches on the same deals, whatever the chunks and jobs."""
    arms = (load_ruleset("ninety_nine"), match_of("ninety_nine", 3), load_ruleset("ninety_nine/match"))
    contrasts = (
        Contrast("f", arms[0].name, arms[1].name, ((0, -1), (1, 1))),
        Contrast("f", arms[1].name, arms[2].name, ((1, -1), (2, 1))),
    )
    group = Group(4, (RANDOM,) * 4, arms, contrasts, seed=9, games=240, game="ninety_nine")
    whole = play_range(group, 0, 240)
    parts = [play_range(group, first, count) for first, count in ((0, 1), (1, 150), (151, 89))]
    for name, array in whole.items():
        assert np.array_equal(array, sum(part[name] for part in parts)), name
    assert whole["contrast/1"][:, 1].any(), "matches of 3 and 5 rounds do not differ"
    for jobs, chunk in ((1, 1000), (2, 50)):
        [tally] = run([group], tmp_path / str(jobs), jobs=jobs, chunk=chunk).tallies
        for name, array in whole.items():
            assert np.array_equal(array, tally[name]), name


# --- Configuration ----------------------------------------------------------------------------------------------------


def test_rounds_are_inherited(write: Write) -> None:
    write("snap/a.yaml", "rounds: 5\ntoggles: {limit: 8}\n")
    write("snap/b.yaml", "extends: a.yaml\n")
    write("snap/c.yaml", "extends: b.yaml\nrounds: 1\n")
    assert [load_ruleset(f"snap/{name}.yaml").rounds for name in "abc"] == [5, 5, 1]
    assert load_ruleset("snap/b.yaml", {"rounds": "3"}).rounds == 3
    assert load_ruleset("snap").rounds == 1
    changed = load_ruleset("snap", {"rounds": "3", "limit": "8"})
    assert changed.name == "snap/default+rounds=3+limit=8"
    assert changed.title["en"] == "Snap (rounds 3, limit 8)"
    assert changed.changes() == {"limit": 8, "rounds": 3}
    assert load_ruleset("snap", {"rounds": "1"}).name == "snap/default"


def test_rounds_tell_rulesets_apart(write: Write) -> None:
    single, match = load_ruleset("snap"), load_ruleset("snap", {"rounds": "2"})
    assert single.digest(3) != match.digest(3)
    assert single.content != match.content
    groups = [Group(4, (RANDOM,) * 4, (arm,), (), 1, 10, "old_maid") for arm in (single, match)]
    assert group_key(groups[0]) != group_key(groups[1])


def test_rounds_in_a_sweep(write: Write) -> None:
    write("snap/m.yaml", "extends: snap/v1\nrounds: 4\n")
    text = (
        "games: 10\nfamilies:\n"
        "  - {name: a, rulesets: [snap/v1, snap/m.yaml], seats: 3, contrast: chain}\n"
        "  - {name: b, rulesets: snap, grid: {rounds: [1, 5, 10]}, seats: 3, contrast: baseline}\n"
        "  - {name: c, rulesets: snap/inline, seats: 3}\n"
        "rulesets: {snap/inline: {rounds: 7}}\n"
    )
    sweep = load_sweep(write("s.yaml", text))
    assert {arm.name: arm.rounds for group in sweep.groups for arm in group.arms} == {
        **{"snap/v1": 1, "snap/m": 4, "snap/inline": 7},
        **{"snap/default": 1, "snap/default+rounds=5": 5, "snap/default+rounds=10": 10},
    }
    again = load_sweep(write("again.yaml", yaml.safe_dump(dict(sweep.resolved), sort_keys=False)))
    assert again.groups == sweep.groups
    assert sweep.resolved["rulesets"]["snap/m"]["rounds"] == 4
    assert "rounds" not in sweep.resolved["rulesets"]["snap/v1"]


BAD = {
    "0": "0 is too small; the least is 1",
    "101": "101 is too large; the most is 100",
    "-3": "-3 is too small; the least is 1",
    "five": "five is not a whole number",
    '"5"': '"5" is not a whole number',
    "2.0": "2.0 is not a whole number",
    "yes": "yes is not a whole number",
    "true": "yes is not a whole number",
    "[5]": "a list is not a whole number",
    "null": "none is not a whole number",
}


@pytest.mark.parametrize("text", BAD)
def test_mistakes_in_a_file(write: Write, text: str) -> None:
    path = write("snap/x.yaml", f"title: X\nrounds: {text}\n")
    assert message(load_ruleset, path) == f"snap/x.yaml:2:1: rounds: {BAD[text]}"


def test_other_mistakes(write: Write) -> None:
    path = write("snap/x.yaml", "round: 5\n")
    assert message(load_ruleset, path) == "snap/x.yaml:1:1: round: unknown key; did you mean 'rounds'?"
    path = write("snap/x.yaml", "toggles: {rounds: 5}\n")
    expected = "no toggle: it stands beside `toggles` in a ruleset file, not under it"
    assert message(load_ruleset, path) == f"snap/x.yaml:1:11: toggles.rounds: {expected}"
    for text in ("0", "101", "none", "2.5", ""):
        shown = text or '""'
        expected = f"--set: rounds: {shown} is not allowed; allowed: 1..100"
        assert message(load_ruleset, "snap", {"rounds": text}) == expected
    sweep = "games: 1\nfamilies: [{name: a, rulesets: snap, seats: 3, grid: {rounds: [1, 0]}}]\n"
    expected = "s.yaml:2:67: families[0].grid.rounds[1]: 0 is not allowed; allowed: 1..100"
    assert message(load_sweep, write("s.yaml", sweep)) == expected
    sweep = "games: 1\nfamilies: [{name: a, rulesets: snap/i, seats: 3}]\nrulesets: {snap/i: {rounds: 0}}\n"
    expected = "s.yaml:3:21: rulesets.snap/i.rounds: 0 is too small; the least is 1"
    assert message(load_sweep, write("s.yaml", sweep)) == expected


def test_what_is_told_about_rounds(write: Write) -> None:
    path = write("configs/games/snap/match.yaml", "rounds: 4\n")
    found = "ruleset snap/match, 0 of 7 toggles not at the default, rounds 4"
    assert check_file(path) == f"configs/games/snap/match.yaml: {found}"
    assert "- `snap/match`, Snap match: `rounds: 4`\n" in describe_game("snap")
    assert "`rounds: 5`" in describe_game("snap", "zh-Hant")
    schema = json_schema("snap")["properties"]["rounds"]
    assert schema == {"type": "integer", "minimum": 1, "maximum": 100, "default": 1}


def test_no_toggle_is_called_rounds() -> None:
    assert not [name for name, game in games().items() if "rounds" in game.Toggles.model_fields]


def test_a_position_of_a_match_is_one_round() -> None:
    position = {
        "hands": [["C5"], ["H2"]],
        "total": 95,
        "line": [["H2"]],
        "to_move": 1,
        "toggles": {"reshuffle": "none"},
    }
    answers = [play_position({"ruleset": f"ninety_nine{name}", **position}) for name in ("", "/match")]
    assert answers[0]["events"] == answers[1]["events"]
    assert answers[0]["outcome"] == answers[1]["outcome"]
