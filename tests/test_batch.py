"""Batches: however a run is divided, stopped, damaged or repeated, its results are the same numbers."""

from __future__ import annotations

import io
import itertools
import json
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sim import batch
from sim import store as store_module
from sim.batch import Interrupted, Status, add, run, stderr_progress
from sim.store import Store, StoreError, Tally, group_key


@dataclass(frozen=True)
class Player:
    name: str
    kind: str
    title: dict[str, str]
    weights: dict[str, Any]


@dataclass(frozen=True)
class Ruleset:
    name: str
    game: str
    limit: int

    def settings(self) -> dict[str, Any]:
        return {"limit": self.limit}


@dataclass(frozen=True)
class Contrast:
    family: str
    terms: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Group:
    """A stand-in for the real group, with the attributes that a batch uses."""

    games: int
    arms: tuple[Ruleset, ...]
    seed: int = 1
    game: str = "fake"
    seats: int = 2
    lineup: tuple[Player, ...] = (Player("random", "random", {}, {}),) * 2
    contrasts: tuple[Contrast, ...] = (Contrast("limits", ((0, -1), (1, 1))),)
    fitted: tuple[tuple[Player, ...], ...] = ()


def make_group(games: int, arms: int = 2, seed: int = 1) -> Any:
    return Group(games, tuple(Ruleset(f"fake/{limit}", "fake", limit) for limit in range(arms)), seed)


def fake_play(group: Any, first: int, count: int) -> Tally:
    """Integer functions of (seed, deal, arm), added over the range."""
    deals = np.arange(first, first + count, dtype=np.int64)
    tally = {}
    values = [(deals * 2654435761 + group.seed * 97 + arm * 31) % 1009 for arm in range(len(group.arms))]
    for arm, value in enumerate(values):
        tally[f"arm/{arm}/games"] = np.array([count], dtype=np.int64)
        tally[f"arm/{arm}/sum"] = np.array([value.sum(), (value**2).sum()])
        tally[f"arm/{arm}/histogram"] = np.bincount(value, minlength=1009).astype(np.int64).reshape(1, 1009)
    difference = values[-1] - values[0]
    tally["contrast/0"] = np.array([[count, difference.sum(), np.sum(difference > 0)]], dtype=np.int64)
    return tally


class Counting:
    """`fake_play` that notes what it was asked for, and calls `before` first."""

    def __init__(self, before: Callable[[int], None] = lambda call: None) -> None:
        self.calls: list[tuple[int, int]] = []
        self.before = before
        self.lock = threading.Lock()

    def __call__(self, group: Any, first: int, count: int) -> Tally:
        with self.lock:
            self.calls.append((first, count))
            call = len(self.calls)
        self.before(call)
        return fake_play(group, first, count)

    @property
    def deals(self) -> int:
        return sum(count for _, count in self.calls)


@pytest.fixture(autouse=True)
def _no_sources(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_module, "source_digest", lambda game: f"sources of {game}")


def assert_right(tally: Tally, group: Any) -> None:
    """The tally is that of all the group's games played in one go."""
    wanted = fake_play(group, 0, group.games)
    assert list(tally) == list(wanted)
    for name, array in wanted.items():
        np.testing.assert_array_equal(tally[name], array, strict=True)


def assert_stored(out: Path, group: Any) -> None:
    """The folder holds exactly one file of this group, the whole one, and no temporary files."""
    store = Store(out / "cells")
    key = group_key(group)
    assert store.ranges()[key[:16]] == {(0, group.games)}
    tally = store.load(key, (0, group.games))
    assert tally is not None
    assert_right(tally, group)
    assert not list((out / "cells").glob("*.tmp"))


def files(out: Path) -> list[Path]:
    return sorted((out / "cells").glob("*.parquet"))


@pytest.mark.parametrize("jobs", [1, 2, 7])
@pytest.mark.parametrize("chunk", [1000, 65536])
def test_equal_for_any_jobs_and_chunks(tmp_path: Path, jobs: int, chunk: int) -> None:
    groups = [make_group(9001), make_group(4000, arms=3, seed=2), make_group(1, arms=1)]
    tallies, statuses = run(groups, tmp_path, jobs, chunk, play=fake_play)
    for group, tally, status in zip(groups, tallies, statuses, strict=True):
        assert_right(tally, group)
        assert_stored(tmp_path, group)
        assert status.complete
        assert (status.played, status.found, status.arms) == (group.games, 0, len(group.arms))
        assert status.games_per_second == pytest.approx(group.games * status.arms / status.seconds)


def test_rerun_plays_nothing(tmp_path: Path) -> None:
    groups = [make_group(5000), make_group(300, seed=2)]
    run(groups, tmp_path, 2, 1000, play=fake_play)
    before = [(path.name, path.stat().st_mtime_ns) for path in files(tmp_path)]
    play = Counting()
    tallies, statuses = run(groups, tmp_path, 2, 70, play=play)
    assert play.calls == []
    assert [(path.name, path.stat().st_mtime_ns) for path in files(tmp_path)] == before
    for group, tally, status in zip(groups, tallies, statuses, strict=True):
        assert_right(tally, group)
        assert (status.found, status.played, status.games_per_second) == (group.games, 0, 0.0)


def test_fresh_plays_again_and_leaves_other_groups_alone(tmp_path: Path) -> None:
    group, other = make_group(3000), make_group(300, seed=2)
    run([group, other], tmp_path, 2, 1000, play=fake_play)
    play = Counting()
    tallies, _ = run([group], tmp_path, 2, 1000, resume=False, play=play)
    assert play.deals == 3000
    assert_right(tallies[0], group)
    assert_stored(tmp_path, group)
    assert_stored(tmp_path, other)


def test_more_and_fewer_games(tmp_path: Path) -> None:
    run([make_group(3000)], tmp_path, 2, 1000, play=fake_play)
    for games, played in [(6000, 3000), (6500, 500), (6500, 0), (2500, 2500), (2500, 0)]:
        group, play = make_group(games), Counting()
        tallies, statuses = run([group], tmp_path, 2, 900, play=play)
        assert_right(tallies[0], group)
        assert play.deals == played, games
        assert statuses[0].found == games - played
    assert {path.name.split("-", 1)[1] for path in files(tmp_path)} == {"0-2500.parquet", "0-6500.parquet"}


class Crash(BaseException):
    """Stands for the process ending at this point: nothing in the program handles it."""


@pytest.mark.parametrize("jobs", [1, 2])
def test_resume_after_play_fails_at_any_chunk(tmp_path: Path, jobs: int) -> None:
    group = make_group(5000)
    for failing in range(1, 11):
        out = tmp_path / str(failing)

        def fail(call: int, failing: int = failing) -> None:
            if call == failing:
                raise RuntimeError("the kernel broke")

        first, second = Counting(fail), Counting()
        with pytest.raises(RuntimeError, match="the kernel broke"):
            run([group], out, jobs, 1000, play=first)
        stored = len(files(out))
        time.sleep(0.005)
        assert len(files(out)) == stored, "a worker went on after the error was raised"
        tallies, statuses = run([group], out, jobs, 700, play=second)
        assert_right(tallies[0], group)
        assert_stored(out, group)
        if jobs == 1:
            assert statuses[0].found == (failing - 1) * 500
        assert second.deals == 5000 - statuses[0].found


@pytest.mark.parametrize("name", ["fsync", "replace", "unlink"])
def test_resume_after_a_crash_at_any_file_operation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    group = make_group(1000)
    real = getattr(os, name)
    for crash in itertools.count(1):
        out = tmp_path / str(crash)
        calls = itertools.count(1)

        def operation(*args: Any, last: int = crash, calls: Any = calls, **options: Any) -> None:
            if next(calls) == last:
                raise Crash
            real(*args, **options)

        with monkeypatch.context() as patch:
            patch.setattr(os, name, operation)
            try:
                run([group], out, 1, 400, play=fake_play)
                break  # more operations than the run has
            except Crash:
                pass
        for path in out.glob("cells/*.parquet"):
            key, part = group_key(group), path.stem.split("-")
            assert Store(out / "cells").load(key, (int(part[1]), int(part[2]))) is not None
        for path in out.glob("cells/*.tmp"):
            path.unlink()
        tallies, _ = run([group], out, 1, 300, play=fake_play)
        assert_right(tallies[0], group)
        assert_stored(out, group)
    assert crash > 5


@pytest.mark.parametrize("damage", ["truncate", "empty", "swap", "text"])
def test_damaged_files_are_played_again(tmp_path: Path, damage: str) -> None:
    group = make_group(4000)
    with pytest.raises(RuntimeError):
        run([group], tmp_path, 1, 1000, play=Counting(fail_at(6)))
    paths = files(tmp_path)
    assert len(paths) == 5
    data = [path.read_bytes() for path in paths]
    new = {"truncate": data[1][:-100], "empty": b"", "swap": data[2], "text": b"hello"}[damage]
    paths[1].write_bytes(new)
    play = Counting()
    tallies, statuses = run([group], tmp_path, 2, 1000, play=play)
    assert_right(tallies[0], group)
    assert_stored(tmp_path, group)
    assert (statuses[0].found, play.deals) == (2000, 2000)


def fail_at(last: int) -> Callable[[int], None]:
    def fail(call: int) -> None:
        if call == last:
            raise RuntimeError

    return fail


def test_a_damaged_whole_file_is_replaced(tmp_path: Path) -> None:
    group = make_group(2000)
    run([group], tmp_path, 2, 1000, play=fake_play)
    (path,) = files(tmp_path)
    path.write_bytes(path.read_bytes()[:2000])
    tallies, _ = run([group], tmp_path, 2, 1000, play=fake_play)
    assert_right(tallies[0], group)
    assert_stored(tmp_path, group)


def test_parts_are_used_where_the_whole_file_is_damaged(tmp_path: Path) -> None:
    group = make_group(2000)
    store = Store(tmp_path / "cells")
    key = group_key(group)
    for first, last in [(0, 700), (700, 2000), (300, 900)]:
        store.save(key, (first, last), fake_play(group, first, last - first))
    store.save(key, (0, 2000), {"x": np.array([1])})
    (tmp_path / "cells" / f"{key[:16]}-0-2000.parquet").write_bytes(b"PAR1")
    play = Counting()
    tallies, _ = run([group], tmp_path, 2, 1000, play=play)
    assert play.calls == []
    assert_right(tallies[0], group)
    assert_stored(tmp_path, group)


def test_two_runs_in_one_folder(tmp_path: Path) -> None:
    groups = [make_group(games, seed=seed) for seed, games in enumerate([3000, 2000, 1000])]
    results: dict[int, Any] = {}

    def other(chunk: int) -> None:
        results[chunk] = run(groups, tmp_path, 2, chunk, play=fake_play)

    threads = [threading.Thread(target=other, args=(chunk,)) for chunk in (300, 700, 1100)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for chunk in (300, 700, 1100):
        for group, tally in zip(groups, results[chunk].tallies, strict=True):
            assert_right(tally, group)
    for group in groups:
        assert_stored(tmp_path, group)


def test_a_file_in_place_of_the_folder_is_noticed_before_playing(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("mine")
    play = Counting()
    with pytest.raises(StoreError):
        run([make_group(100)], tmp_path / "out", 2, play=play)
    assert play.calls == []


def test_disk_full_half_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    group = make_group(3000)
    real, calls = os.replace, itertools.count(1)

    def replace(source: Any, target: Any) -> None:
        if next(calls) > 3:
            raise OSError(28, "No space left on device")
        real(source, target)

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", replace)
        with pytest.raises(StoreError, match="No space left on device"):
            run([group], tmp_path, 2, 1000, play=fake_play)
    assert len(files(tmp_path)) == 3
    tallies, statuses = run([group], tmp_path, 2, 1000, play=fake_play)
    assert_right(tallies[0], group)
    assert statuses[0].found == 3 * 375


def test_overflow_is_an_error() -> None:
    limits = np.iinfo(np.int64)
    for a, b in [(limits.max, 1), (limits.min, -1), (limits.min, limits.min), (2**62, 2**62)]:
        with pytest.raises(OverflowError, match="the tally x"):
            add({"x": np.array([0, a])}, {"x": np.array([0, b])})
    total = {"x": np.array([limits.max, limits.min, 2**62])}
    add(total, {"x": np.array([limits.min, limits.max, -(2**62)])})
    assert list(total["x"]) == [-1, -1, 0]


def test_overflow_in_a_run(tmp_path: Path) -> None:
    def play(group: Any, first: int, count: int) -> Tally:
        return {"x": np.array([2**62])}

    with pytest.raises(OverflowError):
        run([make_group(100)], tmp_path, 2, 50, play=play)


def test_add_copies_and_compares() -> None:
    total: Tally = {}
    part = {"x": np.array([1, 2])}
    add(total, part)
    add(total, part)
    assert list(part["x"]) == [1, 2]
    assert list(total["x"]) == [2, 4]
    for other in ({"y": part["x"]}, {"x": np.array([[1, 2]])}, {}):
        with pytest.raises(ValueError, match="different arrays"):
            add(total, other)


@pytest.mark.parametrize(
    ("games", "arms", "jobs", "chunk", "least", "largest"),
    [
        (1000, 1, 2, 32768, 8, 125),
        (1000, 4, 2, 32768, 8, 125),
        (3, 1, 2, 32768, 3, 1),
        (5000, 2, 2, 200, 50, 100),
    ],
)
def test_small_runs_keep_all_workers_busy(
    tmp_path: Path, games: int, arms: int, jobs: int, chunk: int, least: int, largest: int
) -> None:
    play = Counting()
    run([make_group(games, arms)], tmp_path, jobs, chunk, play=play)
    assert least <= len(play.calls) <= least + 1
    assert max(count for _, count in play.calls) <= largest


def test_many_small_groups_are_not_cut_further(tmp_path: Path) -> None:
    play = Counting()
    run([make_group(100, seed=seed) for seed in range(8)], tmp_path, 2, play=play)
    assert len(play.calls) == 8


def test_arguments_are_checked(tmp_path: Path) -> None:
    for options in ({"jobs": 0}, {"chunk": 0}):
        with pytest.raises(ValueError, match="at least 1"):
            run([make_group(10)], tmp_path, **options, play=fake_play)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="at least 1"):
        run([make_group(0)], tmp_path, play=fake_play)
    assert run([], tmp_path, play=fake_play) == ([], [])


def test_outstanding_chunks_are_few(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ahead = 0
    taken = itertools.count(1)
    play = Counting()
    real = batch._chunks

    def chunks(*args: Any) -> Any:
        nonlocal ahead
        for item in real(*args):
            ahead = max(ahead, next(taken) - len(play.calls))
            yield item

    monkeypatch.setattr(batch, "_chunks", chunks)
    run([make_group(5000, arms=1)], tmp_path, 2, 50, play=play)
    assert len(play.calls) == 100
    assert ahead <= 6


def test_memory_does_not_grow_with_the_number_of_games(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Store, "save", lambda self, key, part, tally: None)

    def play(group: Any, first: int, count: int) -> Tally:
        return {"x": np.ones(10_000, dtype=np.int64)}

    def peak(games: int) -> int:
        tracemalloc.start()
        run([make_group(games, arms=1)], tmp_path, 2, 10, play=play)
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    peak(100)
    assert peak(20_000) < peak(500) + 10 * 80_000


def test_progress_is_told_what_was_found_and_played(tmp_path: Path) -> None:
    run([make_group(1000)], tmp_path, 1, 1000, play=fake_play)
    told: list[tuple[int, int, str]] = []
    run(
        [make_group(1500), make_group(200, arms=3, seed=2)],
        tmp_path,
        2,
        400,
        play=fake_play,
        progress=lambda *args: told.append(args),
    )
    assert told[0] == (2000, 3600, "")
    assert told[-1][:2] == (3600, 3600)
    assert {label for _, _, label in told[1:]} == {"fake, 2 seats, random"}
    assert [done for done, _, _ in told] == sorted({done for done, _, _ in told})


def test_an_error_in_progress_surfaces_after_the_workers_ended(tmp_path: Path) -> None:
    def progress(done: int, total: int, label: str) -> None:
        if done:
            raise BrokenPipeError

    with pytest.raises(BrokenPipeError):
        run([make_group(5000)], tmp_path, 2, 100, play=fake_play, progress=progress)
    assert threading.active_count() < 10
    tallies, _ = run([make_group(5000)], tmp_path, 2, play=fake_play)
    assert_right(tallies[0], make_group(5000))


def test_interrupt_from_play(tmp_path: Path) -> None:
    def interrupt(call: int) -> None:
        if call == 4:
            raise KeyboardInterrupt

    with pytest.raises(Interrupted) as stopped:
        run([make_group(2000)], tmp_path, 1, 1000, play=Counting(interrupt))
    assert (stopped.value.done, stopped.value.total) == (3000, 4000)
    assert str(stopped.value) == "interrupted after 3,000 of 4,000 games"
    assert len(files(tmp_path)) == 3


def test_a_signal_while_stored_files_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    group = make_group(2000)
    run([group], tmp_path, 1, 1000, play=fake_play)
    real = Store.load

    def load(self: Store, *args: Any) -> Any:
        signal.raise_signal(signal.SIGTERM)
        return real(self, *args)

    monkeypatch.setattr(Store, "load", load)
    with pytest.raises(Interrupted):
        run([group], tmp_path, 1, 1000, play=fake_play)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("jobs", [1, 3])
def test_a_signal_ends_the_run_and_keeps_what_was_played(tmp_path: Path, number: int, jobs: int) -> None:
    group = make_group(20_000)
    before = signal.getsignal(number)
    play = Counting(lambda call: signal.raise_signal(number) if call == 5 else time.sleep(0.002))
    with pytest.raises(Interrupted) as stopped:
        run([group], tmp_path, jobs, 1000, play=play)
    assert signal.getsignal(number) is before
    status = stopped.value.statuses[0]
    assert isinstance(status, Status)
    assert status.played == play.deals == stopped.value.done // 2
    assert 5 <= len(files(tmp_path)) == len(play.calls) < 40
    tallies, statuses = run([group], tmp_path, 2, 1000, play=fake_play)
    assert_right(tallies[0], group)
    assert statuses[0].found == status.played


def test_a_second_signal_is_for_the_handler_that_was_there_before(tmp_path: Path) -> None:
    seen: list[int] = []
    before = signal.signal(signal.SIGTERM, lambda number, frame: seen.append(number))

    def progress(done: int, total: int, label: str) -> None:
        if done and not seen:
            signal.raise_signal(signal.SIGTERM)
            signal.raise_signal(signal.SIGTERM)

    try:
        with pytest.raises(Interrupted):
            run([make_group(2000)], tmp_path, 2, 100, play=fake_play, progress=progress)
    finally:
        signal.signal(signal.SIGTERM, before)
    assert seen == [signal.SIGTERM]


def test_ignored_signals_stay_ignored(tmp_path: Path) -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        play = Counting(lambda call: signal.raise_signal(signal.SIGINT))
        tallies, _ = run([make_group(100)], tmp_path, 2, 50, play=play)
    finally:
        signal.signal(signal.SIGINT, before)
    assert_right(tallies[0], make_group(100))


SCRIPT = """
    import sys, time
    from pathlib import Path
    import test_batch
    from sim import batch, store

    store.source_digest = lambda game: f"sources of {game}"

    def play(group, first, count):
        time.sleep(float(sys.argv[2]) if first else 0)
        return test_batch.fake_play(group, first, count)

    def progress(done, total, label):
        print(done, flush=True)

    try:
        batch.run([test_batch.make_group(40_000)], Path(sys.argv[1]), 2, 1000, play=play, progress=progress)
    except batch.Interrupted as stopped:
        print(stopped, file=sys.stderr)
        sys.exit(3)
"""


def start(out: Path, seconds: float, games: int = 5000) -> subprocess.Popen[str]:
    """A run of 80 chunks, `seconds` each but the first, in its own process; returns when `games` are done."""
    here = Path(__file__).parent
    path = os.pathsep.join([str(here.parent), str(here)])
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(SCRIPT), str(out), str(seconds)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": path},
    )
    assert process.stdout is not None
    for line in process.stdout:
        if int(line) >= games:
            break
    return process


def test_resume_after_sigkill(tmp_path: Path) -> None:
    group = make_group(40_000)
    process = start(tmp_path, 0.02)
    process.kill()
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    assert 5 <= len(files(tmp_path)) < 80
    play = Counting()
    tallies, statuses = run([group], tmp_path, 2, 1000, play=play)
    assert_right(tallies[0], group)
    assert statuses[0].found >= 2500
    assert play.deals == 40_000 - statuses[0].found


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_from_outside(tmp_path: Path, number: int) -> None:
    process = start(tmp_path, 0.1)
    process.send_signal(number)
    began = time.monotonic()
    _, errors = process.communicate()
    assert time.monotonic() - began < 3
    assert process.returncode == 3
    assert errors.startswith("interrupted after ")
    assert errors.count("\n") == 1
    assert 5 <= len(files(tmp_path)) < 80


def test_a_second_signal_does_not_wait(tmp_path: Path) -> None:
    process = start(tmp_path, 30, games=1000)
    for _ in range(2):
        process.send_signal(signal.SIGINT)
        time.sleep(0.1)
    _, errors = process.communicate(timeout=15)
    assert process.returncode == 3
    assert errors.startswith("interrupted after ")
    assert errors.count("\n") == 1


def test_plain_progress_lines(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    now = 0.0
    monkeypatch.setattr(batch.time, "monotonic", lambda: now)
    with stderr_progress() as progress:
        progress(1000, 9000, "compiling")
        now = 10.0
        progress(1000, 9000, "")
        for done in range(2000, 10_000, 1000):
            now += 2
            progress(done, 9000, "fake, 2 seats, random")
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "\r" not in captured.err
    assert captured.err.splitlines() == [
        "1,000 of 9,000 games",
        "4,000 of 9,000 games, 500 games/s, 10 s left (fake, 2 seats, random)",
        "7,000 of 9,000 games, 500 games/s, 4 s left (fake, 2 seats, random)",
        "9,000 of 9,000 games, 500 games/s (fake, 2 seats, random)",
    ]


def test_a_log_that_takes_no_more_stops_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Closed(io.StringIO):
        def write(self, text: str) -> int:
            raise BrokenPipeError

    monkeypatch.setattr(sys, "stderr", Closed())
    monkeypatch.setattr(batch, "LINE_SECONDS", 0)
    with stderr_progress() as progress:
        tallies, _ = run([make_group(500)], tmp_path, 2, 100, play=fake_play, progress=progress)
    assert_right(tallies[0], make_group(500))


def test_short_runs_print_no_lines(capsys: pytest.CaptureFixture[str]) -> None:
    with stderr_progress() as progress:
        progress(0, 10, "")
        progress(10, 10, "x")
    assert capsys.readouterr() == ("", "")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_the_bar_is_on_stderr_only(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    with stderr_progress() as progress:
        progress(0, 2000, "")
        progress(1000, 2000, "fake [bold], 2 seats")
        time.sleep(0.15)
        print("a result")
    assert "1,000 of 2,000 games" in terminal.getvalue()
    assert "fake [bold], 2 seats" in terminal.getvalue()
    assert capsys.readouterr().out == "a result\n"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.2, "0 s"), (59.4, "59 s"), (61, "1 min 01 s"), (3600, "1 h 00 min"), (90_000, "25 h 00 min")],
)
def test_durations(seconds: float, text: str) -> None:
    assert batch._duration(seconds) == text


def test_heavy_packages_are_imported_where_they_are_used() -> None:
    code = "import json, sys, sim.batch; print(json.dumps(sorted(sys.modules)))"
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent)}
    printed = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, check=True).stdout
    assert not {"joblib", "numba", "pandas", "pyarrow", "rich", "sim.config"} & set(json.loads(printed))
