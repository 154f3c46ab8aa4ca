"""Sweeps from file to report: the same bytes however they were divided, interrupted or repeated."""

from __future__ import annotations

import json
import os
import platform
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from analysis import sweep as sweeps
from analysis.cli import app
from analysis.metrics import CONTRAST_COLUMNS, METRIC_COLUMNS
from sim.config import load_sweep
from sim.store import group_key

ROOT = Path(__file__).parents[1]

SWEEP = """
title: {en: Small, zh-Hant: 小}
seed: 5
games: 300
families:
  - name: versions
    title: {en: Versions, zh-Hant: 版本}
    rulesets: [paijie/v1.0, paijie/v1.1]
    seats: [2, 3]
    contrast: chain
  - name: limit_value
    rulesets: [paijie/v1.1]
    grid: {limit_value: [10, 8, none]}
    seats: [3]
    contrast: baseline
answers:
  - {kind: first_player, title: {en: "Does it pay to go first?", zh-Hant: "先出牌有利嗎？"}}
"""
GAMES = (2 + 4) * 300
TABLES = ("metrics.csv", "contrasts.csv")


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("small.yaml").write_text(SWEEP, encoding="utf-8")


@pytest.fixture
def unreported(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sweeps without figures and reports, for tests of the numbers."""
    monkeypatch.setattr(sweeps, "write_reports", lambda sweep, results: None)


def run(*words: object) -> Any:
    return CliRunner().invoke(app, [str(word) for word in words], catch_exceptions=False)


def swept(*words: object) -> str:
    result = run("sweep", "small.yaml", *words)
    assert result.exit_code == 0, result.stderr
    return str(result.stdout)


def content(folder: str) -> dict[str, bytes]:
    """The files of a results folder except for what tells times."""
    paths = [path for path in Path(folder).rglob("*") if path.is_file() and path.name != "manifest.json"]
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


def tables(folder: str) -> list[bytes]:
    return [(Path(folder) / name).read_bytes() for name in TABLES]


def manifest(folder: str) -> dict[str, Any]:
    return json.loads((Path(folder) / "manifest.json").read_text(encoding="utf-8"))


def test_a_sweep_fills_its_folder_and_a_second_run_changes_nothing() -> None:
    first = swept()
    folder = "reports/small"
    assert f"{GAMES:,} games: {GAMES:,} played, 0 found" in first
    assert first.splitlines()[-1] == f"{folder}/report.en.md"
    before = content(folder)
    names = {name.split("/")[0] for name in before}
    assert names == {*TABLES, "config.resolved.yaml", "cells", "figures", "report.en.md", "report.zh-Hant.md"}
    assert before["metrics.csv"].startswith(",".join(METRIC_COLUMNS).encode() + b"\n")
    assert before["contrasts.csv"].startswith(",".join(CONTRAST_COLUMNS).encode() + b"\n")
    assert any(name.startswith("figures/") and name.endswith(".png") for name in before)

    second = swept("--jobs", 1)
    assert f"{GAMES:,} games: 0 played, {GAMES:,} found" in second
    assert content(folder) == before

    (Path(folder) / "report.en.md").unlink()
    again = run("report", folder, "--lang", "zh-Hant")
    assert again.exit_code == 0, again.stderr
    assert again.stdout.splitlines()[-1] == f"{folder}/report.zh-Hant.md"
    assert content(folder) == before

    figure = next(Path(folder, "figures").glob("*.png"))
    figure.unlink()
    figure.mkdir()
    assert refused("report", folder) == f"{figure}: cannot be written: Is a directory\n"


@pytest.mark.usefixtures("unreported")
def test_tables_do_not_depend_on_jobs_and_chunks() -> None:
    swept("--out", "all")
    for jobs, chunk in ((1, 1000), (2, 1000), (2, 65536), (3, 7)):
        swept("--out", f"{jobs}-{chunk}", "--jobs", jobs, "--chunk", chunk)
        assert tables(f"{jobs}-{chunk}") == tables("all")


@pytest.mark.slow
@pytest.mark.usefixtures("unreported")
def test_large_tables_do_not_depend_on_jobs_and_chunks() -> None:
    folders = []
    for jobs, chunk in ((1, 1000), (2, 1000), (1, 65536), (2, 65536)):
        folders.append(f"{jobs}-{chunk}")
        swept("--games", 50_000, "--out", folders[-1], "--jobs", jobs, "--chunk", chunk)
    assert all(tables(folder) == tables(folders[0]) for folder in folders)


@pytest.mark.usefixtures("unreported")
def test_more_games_go_on_from_fewer_and_fresh_does_not() -> None:
    swept("--games", 100)
    text = swept("--games", 300)
    assert f"{GAMES:,} games: {GAMES * 2 // 3:,} played, {GAMES // 3:,} found" in text
    grown = tables("reports/small")
    assert f"{GAMES:,} games: {GAMES:,} played, 0 found" in swept("--games", 300, "--fresh")
    assert tables("reports/small") == grown
    swept("--seed", 6)
    assert tables("reports/small") != grown
    assert manifest("reports/small")["seed"] == 6


@pytest.mark.usefixtures("unreported")
def test_the_resolved_configuration_plays_the_same_games() -> None:
    swept()
    original, resolved = load_sweep("small.yaml"), load_sweep("reports/small/config.resolved.yaml")
    assert [*map(group_key, resolved.groups)] == [*map(group_key, original.groups)]
    assert resolved.answers == original.answers
    assert run("sweep", "reports/small/config.resolved.yaml", "--out", "again").exit_code == 0
    assert tables("again") == tables("reports/small")


@pytest.mark.usefixtures("unreported")
def test_the_manifest_tells_all_but_the_machine(tmp_path: Path) -> None:
    result = run("sweep", tmp_path / "small.yaml", "--out", tmp_path / "results", "--jobs", 1)
    assert result.exit_code == 0
    found = manifest("results")
    assert found["command"] == "fairdeal sweep small.yaml --out results --jobs 1"
    assert found["complete"] is True
    assert found["games"] == {"played": GAMES, "found": 0, "wanted": GAMES}
    assert [(cell["seats"], cell["deals"], cell["complete"]) for cell in found["cells"]] == [
        (2, 300, True),
        (3, 300, True),
    ]
    assert {"fairdeal", "python", "numba", "numpy"} <= found["versions"].keys()
    text = (Path("results") / "manifest.json").read_text(encoding="utf-8")
    assert str(tmp_path) not in text
    assert str(ROOT) not in text
    assert platform.node() not in text
    assert not re.search(r'"/', text)


# --- Interruptions ---


def started(out: str, *words: object) -> subprocess.Popen[str]:
    """A sweep in a process of its own that has stored at least two chunks."""
    command = [sys.executable, "-m", "analysis.cli", "sweep", "small.yaml", "--out", out]
    command += ["--games", "40000", "--jobs", "2", "--chunk", "2000", *map(str, words)]
    process = subprocess.Popen(
        command,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )
    deadline = time.monotonic() + 120
    while len(list(Path(out).glob("cells/*.parquet"))) < 2:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.01)
    return process


@pytest.fixture
def whole(unreported: None) -> Callable[[], list[bytes]]:
    def play() -> list[bytes]:
        swept("--games", 40000, "--out", "whole")
        return tables("whole")

    return play


def found_games(text: str) -> int:
    match = re.search(r"([\d,]+) found", text)
    assert match
    return int(match[1].replace(",", ""))


def test_a_killed_sweep_goes_on_to_the_same_tables(whole: Callable[[], list[bytes]]) -> None:
    process = started("killed")
    process.kill()
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    assert not (Path("killed") / "metrics.csv").exists()
    text = swept("--games", 40000, "--out", "killed", "--chunk", 3000)
    assert 0 < found_games(text) < 6 * 40000
    assert tables("killed") == whole()


def test_a_user_in_a_hurry_finds_all_whole(whole: Callable[[], list[bytes]]) -> None:
    process = started("stopped")
    for _ in range(4):
        process.send_signal(signal.SIGINT)
        time.sleep(0.03)
    text, message = process.communicate(timeout=60)
    assert process.returncode == 3
    assert text == ""
    assert "Traceback" not in message
    assert "nothing is lost. To go on: fairdeal sweep small.yaml" in message.splitlines()[-1]
    assert found_games(swept("--games", 40000, "--out", "stopped")) > 0
    assert tables("stopped") == whole()


@pytest.mark.slow
def test_two_sweeps_in_one_folder_both_end_well(whole: Callable[[], list[bytes]]) -> None:
    first, second = started("shared"), started("shared", "--seed", "6")
    for process in (first, second):
        _, message = process.communicate()
        assert process.returncode == 0, message
    assert not list(Path("shared").rglob("*.tmp"))
    swept("--games", 40000, "--out", "shared")
    assert tables("shared") == whole()
    assert run("report", "shared").exit_code == 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_sweep_says_how_to_go_on(number: int, whole: Callable[[], list[bytes]]) -> None:
    process = started("stopped", "--fresh")
    process.send_signal(number)
    text, message = process.communicate()
    assert process.returncode == 3
    assert text == ""
    assert "Traceback" not in message
    again = "fairdeal sweep small.yaml --out stopped --games 40000 --jobs 2 --chunk 2000"
    assert message.splitlines()[-1].endswith(f"nothing is lost. To go on: {again}")
    told = manifest("stopped")
    assert told["complete"] is False
    assert 0 < told["games"]["played"] < told["games"]["wanted"]
    assert "not complete" in refused("report", "stopped")
    text = swept("--games", 40000, "--out", "stopped")
    assert found_games(text) == told["games"]["played"]
    assert tables("stopped") == whole()


# --- Folders that hold no results ---


def refused(*words: object) -> str:
    result = run(*words)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.count("\n") == 1
    return str(result.stderr)


@pytest.mark.usefixtures("unreported")
def test_report_refuses_what_is_no_complete_results_folder() -> None:
    assert "manifest.json is missing" in refused("report", ".")
    swept("--games", 20)
    folder = Path("reports/small")
    for name in ("config.resolved.yaml", *TABLES):
        text = (folder / name).read_text(encoding="utf-8")
        (folder / name).unlink()
        assert f"{name} is missing" in refused("report", folder)
        for damaged in ("x\n1\n", text[:-20], text.replace("a", "\0"), ""):
            (folder / name).write_text(damaged, encoding="utf-8")
            assert f"{name}: damaged, or changed" in refused("report", folder)
        (folder / name).unlink()
        (folder / name).mkdir()
        assert f"{name} is missing" in refused("report", folder)
        (folder / name).rmdir()
        (folder / name).write_text(text.replace("\n", "\r\n"), encoding="utf-8", newline="")
    assert run("report", folder).exit_code == 0
    good = manifest("reports/small")
    for damaged in ("{", "[]", "{}", "[" * 100_000, "\udcff", json.dumps({**good, "cells": ["x"]})):
        (folder / "manifest.json").write_bytes(damaged.encode(errors="surrogateescape"))
        assert "manifest.json: not a manifest of results" in refused("report", folder)


@pytest.mark.usefixtures("unreported")
def test_report_refuses_a_folder_in_which_something_stands_in_its_way() -> None:
    swept("--games", 20)
    folder = Path("reports/small")
    (folder / "figures").touch()
    assert "figures is a file, not a folder" in refused("report", folder)
    (folder / "figures").unlink()
    (folder / "report.en.md").mkdir()
    assert "report.en.md is a folder, not a file" in refused("report", folder)
    assert "no such folder" in refused("report", "x" * 300)
