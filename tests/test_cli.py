"""The command line: what each command prints, and that every mistake ends in exit code 2, one message and no files."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
import resource
import struct
import subprocess
import sys
import termios
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from rich.cells import cell_len
from typer.testing import CliRunner

from analysis import bench
from analysis.cli import _portable, _spread_players, app

ROOT = Path(__file__).parents[1]
POSITION = ROOT / "tests" / "positions" / "paijie" / "E12a.yaml"
COMMANDS = [
    *["sweep", "report", "compare", "replay", "position", "rules", "check", "schema"],
    *["train", "ladder", "collusion", "bench"],
]

SWEEP = """
title: {en: Small, zh-Hant: 小}
seed: 5
games: 50
families:
  - name: versions
    rulesets: [paijie/v1.0, paijie/v1.1]
    seats: [2]
    contrast: chain
"""


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def run(*words: object) -> Any:
    return CliRunner().invoke(app, [str(word) for word in words], catch_exceptions=False)


def output(*words: object) -> str:
    result = run(*words)
    assert (result.exit_code, result.stderr) == (0, "")
    return str(result.stdout)


def python(*words: object, **more: Any) -> subprocess.Popen[bytes]:
    """The command in a process of its own."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **more.pop("env", {})}
    command = [sys.executable, "-m", "analysis.cli", *map(str, words)]
    return subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, **more)


def files(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def refused(*words: object) -> str:
    """The message of a command that is refused: one line on stderr, nothing on stdout, no file made or changed."""
    before = files(Path())
    result = run(*words)
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    assert result.stderr.count("\n") == 1
    assert result.stderr.endswith("\n")
    assert "Traceback" not in result.stderr
    assert files(Path()) == before
    return str(result.stderr)


# --- Help and names ---


def test_help_names_every_command() -> None:
    for words in ([], ["--help"]):
        text = output(*words)
        assert all(f" {command} " in text for command in COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(command: str) -> None:
    assert f"fairdeal {command}" in output(command, "--help")


def test_version_is_that_of_the_project() -> None:
    assert 'version = "{}"'.format(output("--version").split()[1]) in (ROOT / "pyproject.toml").read_text()


def test_help_does_not_load_what_only_commands_need() -> None:
    code = "import sys, analysis.cli; print(sorted({'numba', 'pandas', 'scipy', 'matplotlib'} & set(sys.modules)))"
    loaded = subprocess.check_output(
        [sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": str(ROOT)}
    )
    assert loaded.strip() == b"[]"


@pytest.mark.parametrize(
    ("words", "nearest"),
    [
        (["swep"], "'sweep'"),
        (["replai", "paijie"], "'replay'"),
        (["sweep", "--job", "2"], "--jobs"),
        (["compare", "paijie", "--sets", "limit_value=8"], "--set"),
        (["replay", "pajie/v1.1"], "'paijie'"),
        (["replay", "paijie/v1.2"], "'v1.1'"),
        (["replay", "paijie", "--players", "randon", "random"], "'random'"),
        (["replay", "paijie", "--set", "limit_vlaue=8"], "'limit_value'"),
        (["sweep", "defualt"], "'default'"),
        (["sweep", "--set", "gmaes=5"], "'games'"),
        (["sweep", "--set", "SEED=5"], "'seed'"),
        (["rules", "pajie"], "'paijie'"),
        (["schema", "swep"], "'sweep'"),
        (["schema", "positions"], "'position'"),
        (["replay", "paijie", "--set", "limit_value=NONE"], "'none'"),
    ],
)
def test_a_slip_is_answered_with_the_nearest_name(words: list[str], nearest: str) -> None:
    assert nearest in refused(*words)


# --- Wrong numbers and options ---


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["sweep", "--games", "0"], "--games"),
        (["sweep", "--games", "many"], "--games"),
        (["sweep", "--games", str(10**13)], "--games"),
        (["sweep", "--seed", "-1"], "--seed"),
        (["sweep", "--seed", str(2**63)], "--seed"),
        (["sweep", "--jobs", "0"], "--jobs"),
        (["sweep", "--chunk", "0"], "--chunk"),
        (["sweep", "--lang", "fr"], "--lang"),
        (["sweep", "--set", "jobs=2"], "--set"),
        (["sweep", "--set", "games=0"], "games: 0 is too small"),
        (["sweep", "--games", "5", "--set", "games=abc"], "games: abc is not a whole number"),
        (["sweep", "--seed", "5", "--set", "games=5", "--set", "seed=-1"], "seed: -1 is too small"),
        (["compare"], "A"),
        (["compare", "paijie/v1.0"], "--set"),
        (["compare", "paijie/v1.0", "paijie/v1.1", "--games", "0"], "--games"),
        (["compare", "paijie/v1.0", "paijie/v1.1", "--seed", "-1"], "--seed"),
        (["compare", "paijie/v1.0", "paijie/v1.1", "--seats", "1"], "1 is not allowed"),
        (["compare", "paijie/v1.0", "paijie/v1.1", "--seats", "10"], "10 is not allowed"),
        (["compare", "paijie/v1.0", "--set", "limit_value=99"], "99 is not allowed"),
        (["compare", "paijie/v1.0", "--set", "limit_value=8", "--set", "limit_value=9"], "twice"),
        (["compare", "paijie/v1.0", "--set", "limit_value"], "KEY=VALUE"),
        (
            ["compare", "paijie", "paijie", "--seats", "2", "--players", "random", "random", "random"],
            "3 players",
        ),
        (["replay", "paijie", "--seed", "-1"], "--seed"),
        (["replay", "paijie", "--game", "-1"], "--game"),
        (["replay", "paijie", "--seats", "1"], "1 is not allowed"),
        (["replay", "paijie", "--players", *["random"] * 10], "10 is not allowed"),
        (["replay", "paijie", "--players", "--seed", "7"], "--players"),
        (["replay", "paijie", "--format", "xml"], "--format"),
        (["replay", "no/such.yaml"], "no such file"),
        (["position", "none.yaml"], "no such file"),
        (["check", "none.yaml"], "no such file"),
        (["report", "none"], "no such folder"),
        (["bench", "--repeats", "0"], "--repeats"),
        (["bench", "--players", "random"], "random"),
        (["ladder", "sevens", "--players", "random"], "--players"),
        (["ladder", "sevens", "--players", "random", "random"], "--players"),
        (["ladder", "sevens", "--seats", "9"], "--seats"),
        (["ladder", "sevens", "--players", "random", "hoarder"], "hoarder"),
    ],
)
def test_a_wrong_value_is_refused(words: list[str], told: str) -> None:
    assert told in refused(*words)


@pytest.mark.parametrize(
    "words",
    [
        ["sweep", ""],
        ["sweep", "--out", ""],
        ["report", " "],
        ["compare", "", "paijie"],
        ["compare", "paijie", ""],
        ["compare", "paijie", "paijie", "--out="],
        ["compare", "paijie", "paijie", "--players="],
        ["replay", ""],
        ["position", ""],
        ["check", "good.yaml", ""],
        ["rules", ""],
        ["schema", ""],
    ],
    ids=" ".join,
)
def test_what_is_empty_names_nothing(words: list[str]) -> None:
    Path("good.yaml").write_text(RULESET + "  limit_value: 8\n")
    assert "it is empty" in refused(*words)


@pytest.mark.parametrize("command", [["check"], ["report"], ["compare", "paijie", "paijie", "--out"]])
def test_a_name_that_is_no_utf8_is_refused(command: list[str]) -> None:
    assert "'\ufffd\ufffd.yaml' is not text in UTF-8" in refused(*command, os.fsdecode(b"\xff\xfe.yaml"))


# --- Wrong files ---

RULESET = "extends: paijie/v1.1\ntoggles:\n"
BOMB = "a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\n"
WRONG = [
    (
        "unknown_key.yaml",
        RULESET + "  limit_vlaue: 8\n",
        ":3:3: toggles.limit_vlaue: unknown key; did you mean",
    ),
    ("wrong_type.yaml", RULESET + "  limit_value: [8]\n", ":3:3: toggles.limit_value: a list is not allowed"),
    ("out_of_range.yaml", RULESET + "  limit_value: 0\n", ":3:3: toggles.limit_value: 0 is not allowed"),
    ("cycle.yaml", "extends: cycle.yaml\n", ":1:1: extends: a circle"),
    ("bomb.yaml", BOMB, ":1:1: a: anchors and aliases"),
    (
        "twice.yaml",
        RULESET + "  limit_value: 8\n  limit_value: 9\n",
        ":4:3: toggles.limit_value: the same key twice",
    ),
    ("tab.yaml", RULESET + "\tlimit_value: 8\n", ":3:1: a tab"),
    ("orphan.yaml", "extends: nowhere.yaml\n", ":1:1: extends: nowhere.yaml: no such file"),
    (
        "capitals.yaml",
        RULESET + "  limit_value: NONE\n",
        ":3:3: toggles.limit_value: NONE is not allowed; allowed: 6..14, none; did you mean 'none'?",
    ),
    (
        "escape.yaml",
        'extends: paijie/v1.1\ntitle: {en: a, zh-Hant: "\\e[31m"}\n',
        ":2:16: title.zh-Hant: character U+001B",
    ),
    ("lines.yaml", "extends: paijie/v1.1\ntitle: |\n  two\n  lines\n", ":2:1: title: character U+000A"),
    (
        "long.yaml",
        f"extends: paijie/v1.1\ntitle: {'x' * 201}\n",
        ":2:1: title: 201 characters; the most are 200",
    ),
    ("bell\a.yaml", RULESET + "  limit_value: 8\n", "bell\ufffd.yaml: a file's name: character U+0007"),
    ("broken.yaml", "toggles: [\n", "not valid YAML"),
    ("empty.yaml", "", "the file is empty"),
]


@pytest.mark.parametrize(("name", "content", "told"), WRONG, ids=[name for name, _, _ in WRONG])
def test_a_wrong_ruleset_is_refused_with_its_place(name: str, content: str, told: str) -> None:
    Path(name).write_text(content)
    for command in (["replay"], ["check"], ["compare", "paijie/v1.1"]):
        assert told in refused(*command, name)


@pytest.mark.parametrize("command", ["sweep", "replay", "check", "position"])
def test_a_file_that_is_no_text_is_refused(command: str) -> None:
    Path("cards.yaml").write_bytes(bytes(range(256)))
    assert "not a text file" in refused(command, "cards.yaml")
    Path("folder.yaml").mkdir()
    assert "not a file" in refused(command, "folder.yaml")


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("seats: [2]", "seats: [1]", ":8:13: families[0].seats[0]: 1 is not allowed"),
        ("seats: [2]", "seats: [10]", ":8:13: families[0].seats[0]: 10 is not allowed"),
        ("games: 50", "games: 0", ":4:1: games: 0 is too small"),
        ("games: 50", "games: fifty", ":4:1: games: fifty is not a whole number"),
        ("seed: 5", "seed: -5", ":3:1: seed: -5 is too small"),
        ("contrast: chain", "contrast: chian", "did you mean 'chain'?"),
        ("paijie/v1.1]", "paijie/v1.9]", ":7:29: families[0].rulesets[1]: paijie has no ruleset 'v1.9'"),
        ("families:", "familes:", "did you mean 'families'?"),
        (
            "families:",
            'rulesets: {"paijie/\\e[1m": {}}\nfamilies:',
            ":5:12: rulesets.paijie/\ufffd[1m: character U+001B",
        ),
    ],
)
def test_a_wrong_sweep_is_refused_with_its_place(old: str, new: str, told: str) -> None:
    Path("small.yaml").write_text(SWEEP.replace(old, new))
    assert told in refused("sweep", "small.yaml", "--out", "results")


def test_check_judges_every_file() -> None:
    Path("good.yaml").write_text(RULESET + "  limit_value: 8\n")
    Path("small.yaml").write_text(SWEEP)
    Path("bad.yaml").write_text(RULESET + "  limit_value: 0\n")
    result = run("check", "good.yaml", "bad.yaml", "small.yaml")
    assert result.exit_code == 2
    assert [line.split(":")[0] for line in result.stdout.splitlines()] == ["good.yaml", "small.yaml"]
    assert [line.split(":")[0] for line in result.stderr.splitlines()] == ["bad.yaml"]


# --- Output folders ---


def results_commands() -> list[list[str]]:
    return [["sweep", "small.yaml"], ["compare", "paijie/v1.0", "paijie/v1.1", "--games", "50"]]


@pytest.mark.parametrize("command", results_commands(), ids=lambda command: command[0])
def test_an_output_folder_that_cannot_be_made_is_refused(command: list[str]) -> None:
    Path("small.yaml").write_text(SWEEP)
    Path("file").write_text("in the way")
    for out in ("file", "file/below", "/proc/none", "/dev/null/none", "x" * 300):
        assert "cannot store results" in refused(*command, "--out", out)


@pytest.mark.parametrize("command", results_commands(), ids=lambda command: command[0])
@pytest.mark.parametrize("name", ["figures", "cells"])
def test_a_file_in_place_of_a_folder_of_results_is_refused(command: list[str], name: str) -> None:
    Path("small.yaml").write_text(SWEEP)
    Path("results").mkdir()
    Path("results", name).touch()
    assert f"results/{name} is a file, not a folder" in refused(*command, "--out", "results")


@pytest.mark.parametrize("command", results_commands(), ids=lambda command: command[0])
@pytest.mark.parametrize("name", ["metrics.csv", "report.zh-Hant.md"])
def test_a_folder_in_place_of_a_file_of_results_is_refused(command: list[str], name: str) -> None:
    Path("small.yaml").write_text(SWEEP)
    Path("results", name).mkdir(parents=True)
    assert f"{name} is a folder, not a file" in refused(*command, "--out", "results")


@pytest.mark.parametrize("command", results_commands(), ids=lambda command: command[0])
def test_a_full_disk_is_refused_before_anything_is_made(command: list[str]) -> None:
    Path("small.yaml").write_text(SWEEP)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, hard))
    try:
        assert "cannot store results" in refused(*command, "--out", "results")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize(
    ("words", "stands", "told"),
    [
        ("train sevens --games 100", "sevens", "out/sevens is a file, not a folder"),
        ("train sevens --games 100", "", "out is a file, not a folder"),
        ("ladder sevens --players random greedy", "", "out is a file, not a folder"),
        ("collusion bieqi", "", "out is a file, not a folder"),
    ],
)
def test_files_in_the_way_of_players_and_tables_are_refused(words: str, stands: str, told: str) -> None:
    path = Path("out", stands)
    path.parent.mkdir(exist_ok=True)
    path.touch()
    assert told in refused(*words.split(), "--out", "out")


@pytest.mark.parametrize(
    ("words", "name"),
    [("ladder sevens --players random greedy", "pairs.csv"), ("collusion bieqi", "roc.en.png")],
)
def test_folders_in_the_way_of_tables_are_refused(words: str, name: str) -> None:
    Path("out", name).mkdir(parents=True)
    assert f"{name} is a folder, not a file" in refused(*words.split(), "--out", "out")


# --- Pipes and terminals ---


def test_results_are_written_whether_or_not_they_are_read() -> None:
    words = "ladder sevens --players random greedy --games 20 --out ladder"
    process = python(*words.split(), stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.close()
    process.communicate()
    assert process.returncode == 0
    assert {path.name for path in Path("ladder").iterdir()} == {"pairs.csv", "ratings.csv", "variance.csv"}
    process = python("train", "sevens", "bieqi", "--games", "10", "--out", "players", stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.close()
    process.communicate()
    assert process.returncode == 0
    assert {path.name for path in Path("players").iterdir()} == {"sevens", "bieqi"}


@pytest.mark.parametrize(
    "words", [["schema", "paijie"], ["rules", "paijie"], ["--help"], ["sweep", "--help"]]
)
def test_a_reader_that_stops_reading_is_no_error(words: list[str]) -> None:
    process = python(*words, stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.close()
    assert process.communicate()[1] == b""
    assert process.returncode == 0


@pytest.mark.parametrize(
    ("words", "closed", "code"),
    [
        ("check good.yaml", ">&-", 0),
        ("--help", ">&-", 0),
        ("check none.yaml", ">&-", 2),
        ("check none.yaml", "2>&-", 2),
        ("check good.yaml none.yaml", ">&- 2>&-", 2),
    ],
)
def test_closed_streams_change_no_exit_code(words: str, closed: str, code: int) -> None:
    Path("good.yaml").write_text(RULESET + "  limit_value: 8\n")
    command = f"{sys.executable} -m analysis.cli {words} {closed}"
    done = subprocess.run(
        command, shell=True, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True
    )
    assert done.returncode == code
    assert done.stdout == ""
    assert done.stderr == ("none.yaml: no such file\n" if closed == ">&-" and code else "")


def test_messages_that_nobody_reads_change_no_exit_code() -> None:
    process = python("check", "none.yaml", stdout=subprocess.DEVNULL)
    assert process.stderr is not None
    process.stderr.close()
    assert process.wait() == 2


@pytest.mark.parametrize("columns", [40, 80])
def test_a_comparison_reads_well_at_any_width(columns: int) -> None:
    reader, terminal = os.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    words = ["compare", "paijie/v1.0", "paijie/v1.1", "--games", 50, "--out", "compared"]
    process = python(*words, stdout=terminal, env={"TERM": "xterm", "COLUMNS": "", "LINES": ""})
    os.close(terminal)
    text = b""
    with contextlib.suppress(OSError):  # EIO, once the other end is closed
        while part := os.read(reader, 4096):
            text += part
    os.close(reader)
    process.communicate()
    assert process.returncode == 0
    lines = re.sub("\x1b[^m]*m", "", text.decode()).splitlines()
    assert max(map(cell_len, lines)) <= columns
    assert "…" not in "".join(lines)
    assert any(re.match(r"measure +A +B +B - A", line) for line in lines) == (columns == 80)
    words_shown = " ".join(lines).split()
    for row in pd.read_csv("compared/contrasts.csv").itertuples():
        share = row.metric in ("win_share", "outcome")
        difference = f"{100 * row.estimate:+.2f}" if share else f"{row.estimate:+.3g}"
        assert (difference if row.verdict != "identical" else "0") in words_shown


def test_a_full_disk_behind_stdout_is_one_message() -> None:
    with open("/dev/full", "wb") as full:
        process = python("schema", "paijie", stdout=full)
        message = process.communicate()[1]
    assert process.returncode == 2
    assert message.count(b"\n") == 1
    assert b"Traceback" not in message


def test_chinese_reaches_a_terminal_of_another_encoding() -> None:
    process = python(
        "rules", "paijie", "--lang", "zh-Hant", stdout=subprocess.PIPE, env={"PYTHONIOENCODING": "cp950"}
    )
    text, message = process.communicate()
    assert (process.returncode, message) == (0, b"")
    assert "牌接" in text.decode("utf-8")


# --- Players on the command line ---


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ("replay x --players a b c --seed 7", "replay x --players a --players b --players c --seed 7"),
        ("replay x --players a,b --players c", "replay x --players a --players b --players c"),
        ("replay x --players=a,b c", "replay x --players a --players b --players c"),
        ("compare x y --set k=v", "compare x y --set k=v"),
    ],
)
def test_players_follow_one_option(given: str, wanted: str) -> None:
    assert _spread_players(given.split()) == wanted.split()


# --- Commands ---


def test_replay_shows_the_game_of_the_log() -> None:
    words = ["replay", "paijie/v1.1", "--seed", 7, "--game", 3, "--players", "greedy", "random", "greedy"]
    log = [json.loads(line) for line in output(*words, "--format", "jsonl").splitlines()]
    assert {key: log[0][key] for key in ("type", "game", "version", "seats", "seed", "index")} == {
        **{"type": "game", "game": "paijie", "version": "v1.1"},
        **{"seats": 3, "seed": 7, "index": 3},
    }
    assert log[0]["players"] == ["greedy", "random", "greedy"]
    assert [event["type"] for event in (log[1], log[-1])] == ["deal", "end"]
    assert output(*words) == output(*words, "--format", "text") != ""
    assert output(*words, "--lang", "zh-Hant") != output(*words)


def test_replay_seats_four_and_takes_toggles() -> None:
    log = json.loads(
        output("replay", "paijie", "--set", "limit_value=8", "--format", "jsonl").splitlines()[0]
    )
    assert (log["seats"], log["toggles"]["limit_value"]) == (4, 8)
    two = output("replay", "paijie", "--players", "random", "--seats", 2, "--format", "jsonl")
    assert json.loads(two.splitlines()[0])["players"] == ["random", "random"]


def test_position_tells_moves_events_and_state() -> None:
    from sim.position import play_position

    assert json.loads(output("position", POSITION, "--json")) == play_position(POSITION)
    for language in ("en", "zh-Hant"):
        assert "BJ" in output("position", POSITION, "--lang", language)


def test_rules_and_schema_describe_a_game() -> None:
    from sim.config import describe_game, json_schema

    for language in ("en", "zh-Hant"):
        assert output("rules", "paijie", "--lang", language) == describe_game("paijie", language)
    assert json.loads(output("schema", "paijie")) == json_schema("paijie")


def test_the_schema_of_positions_has_every_games_keys() -> None:
    from sim.games import games

    text = output("schema", "position")
    schema = json.loads(text)
    shapes = dict(zip(games(), schema["anyOf"], strict=True))
    for name, shape in shapes.items():
        assert list(shape["properties"]) == list(games()[name].Position.model_fields)
        assert shape["additionalProperties"] is False
        assert {"ruleset", "hands"} <= set(shape["required"])
        allowed = re.compile(shape["properties"]["ruleset"]["pattern"])
        assert [other for other in games() if allowed.search(f"{other}/default")] == [name]
        assert allowed.search("my/rules.yaml")
        assert list(shape["properties"]["toggles"]["properties"]) == list(games()[name].Toggles.model_fields)
    referred = set(re.findall(r'"#/\$defs/([^"]+)"', text))
    assert referred == set(schema["$defs"]) != set()


def test_a_move_that_is_not_legal_is_answered_in_the_files_own_words() -> None:
    position = "ruleset: paijie\nhands: [[SA, H2], [D3]]\ntable: [S7]\nstart_rank: 7\nline: {}\n"
    Path("p.yaml").write_text(position.format("[[SA, H2]]"))
    assert refused("position", "p.yaml") == (
        "p.yaml:5:8: line[0]: [SA, H2] is not legal here (main); legal: [SA], [H2]; did you mean '[SA]'?\n"
    )
    Path("p.yaml").write_text(position.format("[[SA], s7]"))
    assert refused("position", "p.yaml") == (
        "p.yaml:5:14: line[1]: s7 is not legal here (ace_card); legal: S7; did you mean 'S7'?\n"
    )


def compare(*words: object) -> tuple[str, Callable[[str], pd.DataFrame]]:
    result = run("compare", *words, "--games", 300, "--out", "compared")
    assert result.exit_code == 0, result.stderr
    return result.stdout, lambda name: pd.read_csv(Path("compared") / name)


def test_a_ruleset_against_itself_differs_by_exactly_nothing() -> None:
    text, table = compare("paijie/v1.1", "paijie/v1.1", "--seats", 3)
    contrasts = table("contrasts.csv")
    assert len(contrasts) > 10
    assert (contrasts[["estimate", "low", "high"]] == 0).all(axis=None)
    assert set(contrasts["verdict"]) == {"identical"}
    assert not table("metrics.csv").duplicated(["ruleset", "metric", "key"]).any()
    assert "same rules" in text


def test_a_comparison_is_b_minus_a() -> None:
    text, table = compare("paijie/v1.1", "--set", "limit_value=6", "--players", "random", "random")
    metrics, contrasts = table("metrics.csv"), table("contrasts.csv")
    assert set(contrasts["a"]) == {"paijie/v1.1"}
    assert set(contrasts["b"]) == {"paijie/v1.1+limit_value=6"}
    assert set(contrasts["seats"]) == {2}
    means = metrics.set_index(["ruleset", "metric", "key"])["estimate"]
    for row in contrasts.itertuples():
        difference = means[row.b, row.metric, row.key] - means[row.a, row.metric, row.key]
        assert row.estimate == pytest.approx(difference, abs=1e-8)
    assert json.loads((Path("compared") / "manifest.json").read_text())["complete"] is True
    assert "paijie/v1.1+limit_value=6 (B)" in text


def test_a_comparison_leaves_nothing_when_no_folder_is_named() -> None:
    result = run("compare", "paijie/v1.0", "paijie/v1.1", "--games", 50, "--lang", "zh-Hant")
    assert result.exit_code == 0
    assert "相同的 50 副牌" in result.stdout
    assert files(Path()) == []


def test_different_rules_of_one_name_are_not_compared() -> None:
    Path("v1.1.yaml").write_text(RULESET + "  limit_value: 8\n")
    assert "two different rulesets are called paijie/v1.1" in refused("compare", "paijie/v1.1", "v1.1.yaml")


# --- The manifest's command, and the benchmark's tables ---


def test_the_command_for_the_manifest_names_no_place_of_this_machine(tmp_path: Path) -> None:
    inside, outside = tmp_path / "a.yaml", Path("/home/somebody/results")
    given = ["sweep", str(inside), "--games", "5", f"--out={outside}"]
    assert _portable(given) == "fairdeal sweep a.yaml --games 5 --out=results"


@pytest.mark.parametrize("language", ["en", "zh-Hant"])
def test_the_benchmark_shows_medians(language: str, monkeypatch: pytest.MonkeyPatch) -> None:
    case = bench._case("paijie", "random")
    case.games_per_second = [9e9, 1000.0, 2000.0]
    case.decisions_per_second = [5.0, 4e4, 4e9]
    case.threads_ratio = [1.0, 1.9, 2.5]
    measured = bench.Bench([case], {"paijie": [1e4, 2000.0, 1e3]}, {"paijie": 12.5}, {"paijie": 0.75}, None)
    monkeypatch.setattr(bench, "run_bench", lambda repeats: measured)
    text = output("bench", "--lang", language)
    assert all(number in text for number in ("2,000", "40,000", "1.90", "12.50", "0.75", "2,000, 2.00"))
    assert bench.TEXT[language]["unknown"] in text


@pytest.mark.parametrize("language", ["en", "zh-Hant"])
def test_the_benchmark_of_players_shows_medians(language: str, monkeypatch: pytest.MonkeyPatch) -> None:
    case = bench.Searching(bench._case("paijie", "search", "random").group, 45.25)
    assert [player.name for player in case.group.lineup] == ["search", "random", "random", "random"]
    case.games_per_second, case.choices_per_second = [9e9, 300.0, 20.0], [5.0, 4e3, 4e9]
    monkeypatch.setattr(bench, "run_players", lambda repeats: [case])
    text = output("bench", "--players", "--lang", language)
    assert all(number in text for number in ("paijie/default", "100", "4,000", "300", "45.25"))


def test_the_decisions_counted_are_those_of_the_searching_seat() -> None:
    from sim.trace import replay

    group = bench._case("sevens", "search", "random").group
    case = bench.Searching(group, 0.0)
    case.measure()
    listed = sum(
        event["type"] == "turn" and event["seat"] == 0 and len(event["legal"]) > 1
        for number in range(case.deals)
        for event in replay(group.arms[0], group.lineup, group.seed, number)
    )
    seconds = case.deals / case.games_per_second[0]
    assert round(case.choices_per_second[0] * seconds) == listed > case.deals


@pytest.mark.slow
@pytest.mark.parametrize("players", [[], ["--players"]])
def test_the_benchmark_runs(players: list[str]) -> None:
    result = run("bench", "--repeats", 1, *players)
    assert result.exit_code == 0
    assert "paijie/default" in result.stdout


# --- What testers found ---

CONFLICTS = (
    ["compare", "ninety_nine/default", "--set", "after_loss_hand=new_hand", "--games", "5"],
    ["compare", "yishi/default", "--set", "deal=one_of_each_rank", "--seats", "10", "--games", "3"],
    ["replay", "sevens/default", "--set", "wrap=yes", "--set", "ace_high=yes"],
    ["replay", "paijie/default", "--seats", "8", "--set", "hand_size=8"],
    ["replay", "x" * 300 + ".yaml"],
    ["replay", "paijie/default", "--players", "x" * 300 + ".yaml"],
)


@pytest.mark.parametrize("command", CONFLICTS, ids=lambda command: " ".join(command)[:40])
def test_toggles_and_seats_that_exclude_each_other_are_refused(command: list[str]) -> None:
    assert refused(*command)


@pytest.mark.parametrize("escape", ["\\UFFFFFFFF", "\\U00110000", "\\ud800"])
def test_an_escape_that_is_no_character_is_refused(escape: str) -> None:
    Path("odd.yaml").write_text(f'extends: paijie/v1.1\ntitle: "{escape}"\n')
    assert "no character" in refused("check", "odd.yaml")


def test_one_player_fills_the_usual_table() -> None:
    assert "4 seats (greedy, greedy, greedy, greedy)" in output("replay", "bieqi", "--players", "greedy")


def test_a_report_shows_scores_where_they_change_and_says_what_it_leaves_out() -> None:
    Path("fee.yaml").write_text(
        "games: 400\nlineups: [[random], [greedy], [adapted], [greedy, random]]\n"
        "families:\n"
        "  - {name: fee, rulesets: [sevens], grid: {pass_fee: [0, 1]}, seats: [4], contrast: baseline}\n"
    )
    assert run("sweep", "fee.yaml").exit_code == 0
    text = Path("reports/fee/report.en.md").read_text(encoding="utf-8")
    assert re.search(r"^\| change \|.*\| score of ", text, re.MULTILINE)
    scores = re.findall(r"^\| ([^|]+) \| [^|]+ \| score \|", text, re.MULTILINE)
    assert set(scores) == {"default+pass_fee=1"}
    assert "| cards drawn |" not in text
    figure = Path("reports/fee/figures/win_share_by_card.en.svg").read_text(encoding="utf-8")
    assert "The first 3 of 4 line-ups." in figure


def test_names_and_titles_are_no_markup() -> None:
    Path("[b]x.yaml").write_text('kind: random\ntitle: "[/x] [red]R :bomb:"\n')
    text = output("ladder", "sevens", "--players", "random", "[b]x.yaml", "--games", "20")
    assert "[/x] [red]R :bomb:" in text
    assert "Written to o[red]5/sevens/" in run("train", "sevens", "--games", "10", "--out", "o[red]5").stdout


def test_two_players_of_one_name_are_refused() -> None:
    Path("greedy.yaml").write_text("kind: random\n")
    for words in ("ladder sevens", "compare sevens sevens", "replay sevens"):
        told = refused(*words.split(), "--players", "greedy", "greedy.yaml")
        assert told == "--players: two players are called greedy; rename one of the files\n"


def test_a_player_who_forbids_nothing_in_a_game_is_no_restriction() -> None:
    told = refused("train", "sevens", "--like", "no_kings")
    assert told == "--like: no_kings forbids and prefers nothing in sevens\n"


def test_training_that_gains_nothing_says_so() -> None:
    text = run("train", "sevens", "--games", "10").stdout
    assert "generations: 0" in text
    assert "No gain found: these are the weights that training starts from" in text
    Path("nine.yaml").write_text("extends: sevens/default\nrounds: 9\n")
    assert "Games are single rounds, not matches" in run("train", "nine.yaml", "--games", "10").stdout


def test_a_title_is_no_markup() -> None:
    Path("me.yaml").write_text('kind: random\ntitle: "[/x]"\n')
    result = run("compare", "sevens", "sevens", "--players", "me.yaml", "--games", "5")
    assert result.exit_code == 0
    assert "[/x]" in result.stdout
