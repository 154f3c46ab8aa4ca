"""Sweep files: which groups and contrasts they give, and the exact message for everything that can be wrong."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

import sim.games
from sim.config import (
    Contrast,
    Family,
    load_player,
    load_ruleset,
    load_sweep,
    make_groups,
)
from tests.snap import Write, message, snap_project


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    """Writes a file into an empty project that knows the tiny games."""
    return snap_project(tmp_path, monkeypatch)


SWEEP = """\
title: {en: All, zh-Hant: 全部}
seed: 7
games: 1000
lineups: [random, [greedy, random]]
families:
  - name: versions
    rulesets: [snap/v1, snap]
    seats: [2, 3]
    contrast: chain
  - name: square
    rulesets: snap
    grid: {when: [at_once, turn_end], values: [v1.0, v1.1]}
    seats: 3
    contrast: factorial
    lineups: random
    games: 5000
  - name: limits
    rulesets: [snap]
    grid: {limit: [10, 8, none]}
    seats: [3]
    contrast: baseline
    lineups: random
  - name: alone
    rulesets: [snap/v1, other]
    grid: {limit: [6, 7]}
    seats: [3]
    lineups: random
answers:
  - {kind: opening_class, partition: aces, at_least: 3, title: Aces}
  - {kind: first_player, title: First}
  - {kind: change, a: snap/v1, b: snap/default, title: Change}
"""


def test_groups_of_a_sweep(write: Write) -> None:
    sweep = load_sweep(write("s.yaml", SWEEP))
    assert (sweep.name, sweep.seed, sweep.games) == ("s", 7, 1000)
    shape = [
        (
            g.game,
            g.seats,
            "".join(p.name[0] for p in g.lineup),
            g.games,
            [arm.version for arm in g.arms],
            len(g.contrasts),
        )
        for g in sweep.groups
    ]
    at_once = "default+when=at_once"
    linked = ["v1", "default", f"{at_once}+values=v1.0", at_once, "default+limit=8", "default+limit=none"]
    assert shape == [
        ("snap", 2, "rr", 1000, ["v1", "default"], 1),
        ("snap", 3, "rrr", 5000, linked, 6),
        ("snap", 3, "rrr", 1000, ["v1+limit=6"], 0),
        ("snap", 3, "rrr", 1000, ["v1+limit=7"], 0),
        ("snap", 2, "gr", 1000, ["v1", "default"], 1),
        ("snap", 3, "grg", 1000, ["v1", "default"], 1),
        ("other", 3, "rrr", 1000, ["default+limit=6"], 0),
        ("other", 3, "rrr", 1000, ["default+limit=7"], 0),
    ]
    assert all(group.seed == 7 for group in sweep.groups)
    assert len({hash(group) for group in sweep.groups}) == len(sweep.groups)


def test_contrasts_of_a_sweep(write: Write) -> None:
    sweep = load_sweep(write("s.yaml", SWEEP))
    v1, default, both, at_once, eight, unlimited = range(6)
    assert sweep.groups[1].contrasts == (
        Contrast("versions", "snap/v1", "snap/default", ((v1, -1), (default, 1))),
        Contrast(
            "square",
            "when=at_once",
            "when=turn_end",
            ((both, -1), (at_once, -1), (v1, 1), (default, 1)),
            2,
            "main",
        ),
        Contrast(
            "square",
            "values=v1.0",
            "values=v1.1",
            ((both, -1), (at_once, 1), (v1, -1), (default, 1)),
            2,
            "main",
        ),
        Contrast(
            "square",
            "values=v1.0->v1.1 if when=at_once",
            "values=v1.0->v1.1 if when=turn_end",
            ((both, 1), (at_once, -1), (v1, -1), (default, 1)),
            1,
            "interaction",
        ),
        Contrast("limits", "snap/default", "snap/default+limit=8", ((default, -1), (eight, 1))),
        Contrast("limits", "snap/default", "snap/default+limit=none", ((default, -1), (unlimited, 1))),
    )
    # Every contrast of a ruleset with itself is zero: the weights sum to nothing.
    assert all(sum(weight for _, weight in c.terms) == 0 for g in sweep.groups for c in g.contrasts)


def test_equal_rules_are_one_arm(write: Write) -> None:
    """The grid's corner equals snap/v1, and its other corner snap: they carry the files' names everywhere."""
    sweep = load_sweep(write("s.yaml", SWEEP))
    names = [arm.name for arm in sweep.families[1].rulesets]
    assert names == [
        "snap/default+when=at_once+values=v1.0",
        "snap/default+when=at_once",
        "snap/v1",
        "snap/default",
    ]
    assert sweep.families[2].rulesets[0].name == "snap/default"
    assert sweep.families[1].grid == {"when": ("at_once", "turn_end"), "values": ("v1.0", "v1.1")}


def test_answers_of_a_sweep(write: Write) -> None:
    write("configs/games/snap/latest.yaml", "extends: default.yaml\n")
    text = SWEEP.replace("b: snap/default", "b: snap/latest")
    aces, first, change = load_sweep(write("s.yaml", text)).answers
    assert (aces.kind, aces.partition, aces.at_least, aces.title["en"]) == (
        "opening_class",
        "aces",
        3,
        "Aces",
    )
    assert (first.kind, first.title) == ("first_player", {"en": "First", "zh-Hant": "First"})
    assert (change.kind, change.a, change.b) == ("change", "snap/v1", "snap/default")


def test_a_resolved_sweep_loads_again(write: Write, tmp_path: Path) -> None:
    write("mine.yaml", "extends: snap/v1\ntoggles: {limit: none, reverse_on_ten: off}\n")
    sweep = load_sweep(write("s.yaml", SWEEP.replace("[snap/v1, snap]", "[mine.yaml, snap/v1, snap]")))
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    text = yaml.safe_dump(dict(sweep.resolved), allow_unicode=True, sort_keys=False)
    (elsewhere / "s.yaml").write_text(text, encoding="utf-8")
    for source in Path("configs").rglob("*.yaml"):
        source.unlink()
    again = load_sweep(elsewhere / "s.yaml")
    assert again.groups == sweep.groups
    assert again == sweep
    assert again.resolved == sweep.resolved


SEARCHING = """\
seed: 7
games: 100
families:
  - {name: one, rulesets: [snap], seats: [2], lineups: [[seeker, random]]}
players:
  seeker: {kind: search, plays_out: %s, opponents: [mine, greedy.yaml]}
  mine: {kind: weights, games: {snap: {main: {gap: 2}}}}
"""


def test_a_searching_player_brings_those_it_names(write: Write, tmp_path: Path) -> None:
    write("greedy.yaml", "kind: weights\ngames: {snap: {main: {gap: 3}}}\n")
    write("steady.yaml", "kind: weights\ngames: {snap: {main: {gap: 1}}}\n")
    sweep = load_sweep(write("s.yaml", SEARCHING % "steady.yaml"))
    seeker = sweep.groups[0].lineup[0]
    assert seeker.search is not None
    found = [(player.name, player.weights["snap"]["main"]["gap"]) for player in seeker.search.players]
    assert found == [("steady", 1), ("mine", 2), ("greedy", 3)]
    assert set(sweep.resolved["players"]) == {"seeker", "random", "steady", "mine", "greedy"}
    (tmp_path / "elsewhere").mkdir()
    again = tmp_path / "elsewhere" / "s.yaml"
    again.write_text(yaml.safe_dump(dict(sweep.resolved), allow_unicode=True), encoding="utf-8")
    assert load_sweep(again) == sweep


def test_players_of_one_name_must_be_the_same(write: Write) -> None:
    write("mine.yaml", "kind: weights\ngames: {snap: {main: {gap: 1}}}\n")
    clash = write("s.yaml", (SEARCHING % "mine").replace("greedy.yaml", "./mine.yaml"))
    assert (
        message(load_sweep, clash)
        == "s.yaml:4:5: families[0]: another player is called mine too; rename one of the files"
    )
    loop = write("s.yaml", SEARCHING % "seeker")
    assert (
        message(load_sweep, loop)
        == "s.yaml:6:26: players.seeker.plays_out: a player who searches cannot play out; name a basic player"
    )


@pytest.mark.parametrize(
    ("what", "here"),
    [
        ("player", "players: {greedy: {kind: random}}"),
        ("ruleset", "rulesets: {snap/v1: {toggles: {limit: 7}}}"),
    ],
)
def test_a_name_taken_in_must_mean_the_same(write: Write, what: str, here: str) -> None:
    write("configs/sweeps/part.yaml", SWEEP)
    family = "families: [{name: one, rulesets: [snap/v1], seats: [2], lineups: [[greedy, random]]}]"
    path = write("s.yaml", f"games: 50\n{family}\nsweeps: [part]\n{here}\n")
    name = {"player": "greedy", "ruleset": "snap/v1"}[what]
    assert (
        message(load_sweep, path)
        == f"s.yaml:3:10: sweeps[0]: another {what} is called {name} there; rename this one"
    )


def test_games_and_seed_from_the_command_line(write: Write) -> None:
    path = write("s.yaml", SWEEP)
    sweep = load_sweep(path, {"games": "20", "seed": "0"})
    assert {group.games for group in sweep.groups} == {20}
    assert {group.seed for group in sweep.groups} == {0}
    expected = {
        ("games", "0"): "--set: games: 0 is too small; the least is 1",
        ("games", "-5"): "--set: games: -5 is too small; the least is 1",
        ("games", "1e6"): "--set: games: 1000000.0 is not a whole number",
        ("games", "many"): "--set: games: many is not a whole number",
        ("games", "10000000000000"): "--set: games: 10000000000000 is too large; the most is 1000000000000",
        ("seed", "-1"): "--set: seed: -1 is too small; the least is 0",
        ("seed", str(2**63)): f"--set: seed: {2**63} is too large; the most is {2**63 - 1}",
        ("sed", "1"): "--set: sed: unknown key; did you mean 'seed'?",
    }
    for (key, text), words in expected.items():
        assert message(load_sweep, path, {key: text}) == words


def test_names_of_sweeps(write: Write) -> None:
    write("configs/sweeps/default.yaml", SWEEP)
    assert load_sweep("default").name == "default"
    assert (
        message(load_sweep, "defualt")
        == "no sweep is called 'defualt'; did you mean 'default'?; known: default"
    )
    assert message(load_sweep, "nope.yaml") == "nope.yaml: no such file"


SWEEP_ERRORS = {
    "one seat": (
        "seats: [2, 3]",
        "seats: [2, 1]",
        "8:16: families[0].seats[1]: 1 is not allowed; snap is played by 2..5 seats",
    ),
    "ten seats": (
        "seats: 3",
        "seats: 10",
        "13:5: families[1].seats[0]: 10 is not allowed; snap is played by 2..5 seats",
    ),
    "seats that are words": (
        "seats: 3",
        "seats: [three]",
        "13:13: families[1].seats[0]: three is not a whole number",
    ),
    "no seats": ("seats: 3", "seats: []", "13:5: families[1].seats: the list is empty"),
    "seats twice": ("seats: [2, 3]", "seats: [2, 3, 2]", "8:19: families[0].seats[2]: 2 twice"),
    "no games": ("games: 1000", "games: 0", "3:1: games: 0 is too small; the least is 1"),
    "no games in a family": (
        "games: 5000",
        "games: 0",
        "16:5: families[1].games: 0 is too small; the least is 1",
    ),
    "half a game": ("games: 1000", "games: 0.5", "3:1: games: 0.5 is not a whole number"),
    "negative seed": ("seed: 7", "seed: -1", "2:1: seed: -1 is too small; the least is 0"),
    "huge seed": ("seed: 7", f"seed: {2**63}", f"2:1: seed: {2**63} is too large; the most is {2**63 - 1}"),
    "missing games": ("games: 1000\n", "", "1:1: games: missing"),
    "misspelt games": ("games: 1000\n", "gams: 1000\n", "3:1: gams: unknown key; did you mean 'games'?"),
    "missing seats": ("    seats: 3\n", "", "10:5: families[1].seats: missing"),
    "misspelt contrast": (
        "contrast: chain",
        "contrast: chian",
        "9:5: families[0].contrast: chian is not allowed; "
        "allowed: chain, baseline, factorial, none; did you mean 'chain'?",
    ),
    "unknown key in a family": (
        "    seats: 3\n",
        "    seats: 3\n    setas: 3\n",
        "14:5: families[1].setas: unknown key; did you mean 'seats'?",
    ),
    "unknown key in an answer": (
        "at_least: 3",
        "at_most: 3",
        "29:44: answers[0].at_most: unknown key; did you mean 'at_least'?",
    ),
    "no such ruleset": (
        "[snap/v1, snap]",
        "[snap/v1, snap/v12]",
        "7:25: families[0].rulesets[1]: snap has no ruleset 'v12'; did you mean 'v1'?; known: default, v1",
    ),
    "no such ruleset file": (
        "[snap/v1, snap]",
        "[snap/v1, my.yaml]",
        "7:25: families[0].rulesets[1]: my.yaml: no such file",
    ),
    "no such player": (
        "[greedy, random]",
        "[greedi, random]",
        "4:20: lineups[1][0]: no player is called 'greedi'; did you mean 'greedy'?; known: greedy, random",
    ),
    "long line-up": (
        "[greedy, random]",
        "[greedy, random, random]",
        "4:19: lineups[1]: 3 players for 2 seats in family versions",
    ),
    "a player without weights": (
        "    lineups: random\nanswers",
        "    lineups: greedy\nanswers",
        "27:5: families[3].lineups[0]: greedy has no weights for other",
    ),
    "unknown toggle in a grid": (
        "grid: {limit: [10",
        "grid: {limti: [10",
        "19:12: families[2].grid.limti: unknown key; did you mean 'limit'?",
    ),
    "value in a grid": (
        "[10, 8, none]",
        "[10, 88, none]",
        "19:24: families[2].grid.limit[1]: 88 is not allowed; allowed: 6..14, none",
    ),
    "value twice": ("[10, 8, none]", "[10, 8, 10]", "19:27: families[2].grid.limit[2]: 10 twice"),
    "empty grid": ("[10, 8, none]", "[]", "19:12: families[2].grid.limit: the list is empty"),
    "nothing to compare": (
        "[10, 8, none]",
        "[10]",
        "21:5: families[2].contrast: baseline needs at least two rulesets",
    ),
    "not two by two": (
        "[at_once, turn_end]",
        "[at_once]",
        "14:5: families[1].contrast: factorial needs one ruleset and a grid of two toggles, two values each",
    ),
    "two games": (
        "[snap/v1, snap]",
        "[snap/v1, other]",
        "9:5: families[0].contrast: chain needs rulesets of one game",
    ),
    "the same rules": (
        "[snap/v1, snap]",
        "[snap, snap/default]",
        "7:5: families[0].rulesets: snap/default and snap/default are the same rules",
    ),
    "name twice": (
        "name: square",
        "name: versions",
        "10:5: families[1].name: a second family called versions",
    ),
    "a strange name": (
        "name: square",
        "name: a/b",
        "10:5: families[1].name: a/b is no name; use letters, digits and _ . -",
    ),
    "no families": (SWEEP[SWEEP.index("families") :], "families: []\n", "5:1: families: the list is empty"),
    "families as a mapping": (
        SWEEP[SWEEP.index("families") :],
        "families: {}\n",
        "5:1: families: a mapping is not a list",
    ),
    "a family that is a word": (
        SWEEP[SWEEP.index("  - name") :],
        "  - versions\n",
        "6:5: families[0]: versions is not a mapping of keys to values",
    ),
    "no such partition": (
        "partition: aces",
        "partition: ace",
        "29:27: answers[0].partition: unknown partition of opening hands; did you mean 'aces'?",
    ),
    "no such class": (
        "at_least: 3",
        "at_least: 5",
        "29:44: answers[0].at_least: 5 is not allowed; allowed: 1..4",
    ),
    "missing class": (", at_least: 3", "", "29:5: answers[0].at_least: missing"),
    "a key too many": (
        "first_player,",
        "first_player, a: snap,",
        "30:26: answers[1].a: a question of kind first_player has no such key",
    ),
    "not compared": (
        "a: snap/v1, b: snap/default",
        "a: snap/default, b: snap/v1",
        "31:5: answers[2]: no family compares snap/v1 against snap/default",
    ),
    "no such kind": (
        "kind: change",
        "kind: chnage",
        "31:6: answers[2].kind: chnage is not allowed; "
        "allowed: opening_class, first_player, change; did you mean 'change'?",
    ),
    "an inline ruleset of no game": (
        "seed: 7",
        "rulesets: {v3: {}}\nseed: 7",
        "2:12: rulesets.v3: a ruleset is named GAME/VERSION; games: other, snap",
    ),
    "a fault in an inline ruleset": (
        "seed: 7",
        "rulesets:\n  snap/v3:\n    toggles: {limit: 5}\nseed: 7",
        "4:15: rulesets.snap/v3.toggles.limit: 5 is not allowed; allowed: 6..14, none",
    ),
    "a fault in an inline player": (
        "seed: 7",
        "players: {me: {kind: weights, games: {snap: {main: {gpa: 1}}}}}\nseed: 7",
        "2:53: players.me.games.snap.main.gpa: unknown feature; did you mean 'gap'?",
    ),
}


@pytest.mark.parametrize("case", SWEEP_ERRORS)
def test_mistakes_in_a_sweep_file(write: Write, case: str) -> None:
    old, new, expected = SWEEP_ERRORS[case]
    assert SWEEP.count(old) == 1
    path = write("s.yaml", SWEEP.replace(old, new))
    assert message(load_sweep, path) == f"s.yaml:{expected}"


def test_a_sweep_blames_the_ruleset_file_that_holds_the_fault(write: Write) -> None:
    write("configs/games/snap/v1.yaml", "toggles:\n  limit: 5\n")
    path = write("s.yaml", SWEEP)
    expected = "configs/games/snap/v1.yaml:2:3: toggles.limit: 5 is not allowed; allowed: 6..14, none"
    assert message(load_sweep, path) == expected


def test_two_things_of_one_name(write: Write) -> None:
    write("v1.yaml", "game: snap\n")
    write("random.yaml", "kind: weights\ngames: {snap: {main: {gap: 1}}}\n")
    path = write("s.yaml", SWEEP.replace("[snap/v1, snap]", "[snap/v1, v1.yaml]"))
    expected = (
        "s.yaml:7:25: families[0].rulesets[1]: another ruleset is called snap/v1 too; rename one of the files"
    )
    assert message(load_sweep, path) == expected
    path = write("s.yaml", SWEEP.replace("[greedy, random]", "[greedy, random.yaml]"))
    expected = "s.yaml:4:28: lineups[1][1]: another player is called random too; rename one of the files"
    assert message(load_sweep, path) == expected


def test_a_grid_that_explodes(write: Write) -> None:
    grid = "{limit: [6, 7, 8, 9, 10, 11, 12, 13, 14, none], when: [at_once, turn_end], values: [v1.0, v1.1],"
    grid += " reverse_on_ten: [yes, no], jokers: [0, 2], passing: [no, yes_free]}"
    text = "games: 1\nfamilies:\n  - name: all\n    seats: 2\n    rulesets: [snap, snap/v1, other, a.yaml]\n"
    write("a.yaml", "game: snap\n")
    path = write("s.yaml", text + f"    grid: {grid}\n")
    expected = "s.yaml:6:151: families[0].grid.passing: more than 1000 rulesets in one family"
    assert message(load_sweep, path) == expected


def test_seats_that_one_arm_cannot_have(write: Write) -> None:
    text = "games: 1\nfamilies:\n  - {name: a, rulesets: snap, seats: [4, 5], grid: {jokers: [2, 0]}}\n"
    expected = "s.yaml:3:42: families[0].seats[1]: 5 is not allowed with snap/default+jokers=0: too few cards"
    assert message(load_sweep, write("s.yaml", text)) == expected


def test_a_grid_point_that_the_game_rejects(write: Write) -> None:
    text = "games: 1\nfamilies:\n  - {name: a, rulesets: snap, seats: 2, grid: {jokers: [2, 0], passing: yes_free}}\n"
    assert message(load_sweep, write("s.yaml", text)) == "s.yaml:3:41: families[0].grid: passing needs Jokers"


def test_groups_without_a_file(write: Write) -> None:
    """What a comparison of two rulesets builds by hand."""
    arms = load_ruleset("snap"), load_ruleset("snap/v1")
    family = Family("compare", {}, arms, {}, (2,), ((load_player("random"),),), "chain", 50)
    (group,) = make_groups([family], seed=3)
    assert group.arms == arms
    assert group.contrasts == (Contrast("compare", "snap/default", "snap/v1", ((0, -1), (1, 1))),)


def test_a_sweep_takes_in_others() -> None:
    sweep, part = load_sweep("all"), load_sweep("old_maid")
    assert {group.game for group in sweep.groups} == set(sim.games.games())
    names = [family.name for family in sweep.families]
    assert [name for name in names if name.startswith("old_maid.")] == [
        f"old_maid.{family.name}" for family in part.families
    ]
    assert len(names) == len(set(names))
    asked = [answer for answer in sweep.answers if answer.game == "old_maid"]
    assert [answer.title for answer in asked] == [answer.title for answer in part.answers]
    assert load_sweep("all", {"games": "10", "seed": "3"}).groups[0].games == 10


TAKEN_IN = {
    "itself": ("all", "2:10: sweeps[0]: all takes in sweeps itself"),
    "unknown": ("sevns", "2:10: sweeps[0]: no sweep is called 'sevns'; did you mean 'sevens'?"),
}


@pytest.mark.parametrize("case", TAKEN_IN)
def test_mistakes_in_what_a_sweep_takes_in(
    case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, expected = TAKEN_IN[case]
    monkeypatch.chdir(tmp_path)
    Path("s.yaml").write_text(f"games: 10\nsweeps: [{name}]\n", encoding="utf-8")
    assert message(load_sweep, Path("s.yaml")).startswith(f"s.yaml:{expected}")


def test_the_default_sweep() -> None:
    sweep = load_sweep("default")
    main = [group for group in sweep.groups if group.game == "paijie"]
    shape = [(group.lineup[0].name, group.seats, len(group.arms), len(group.contrasts)) for group in main]
    assert shape == [
        ("random", 2, 7, 7),
        ("random", 3, 7, 7),
        ("random", 4, 18, 19),
        ("random", 5, 7, 7),
        ("greedy", 2, 7, 7),
        ("greedy", 3, 7, 7),
        ("greedy", 4, 21, 22),
        ("greedy", 5, 7, 7),
        ("hoarder", 4, 4, 3),
        ("hoarder", 4, 4, 3),
    ]
    assert {group.games for group in main} == {70000}
    assert sum(group.games * len(group.arms) for group in sweep.groups) > 5_000_000
    assert {group.game for group in sweep.groups} == set(sim.games.games())
    assert [answer.kind for answer in sweep.answers] == ["opening_class", "first_player", "change"]
