"""Stored tallies: what is written is what is read, and nothing else is ever taken for it."""

from __future__ import annotations

import dataclasses
import errno
import itertools
import os
import shutil
import threading
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim import store as store_module
from sim.store import (
    Range,
    Store,
    StoreError,
    Tally,
    cover,
    decode,
    encode,
    group_key,
    replace_file,
    source_digest,
)

KEY = "0123456789abcdef" * 4
OTHER = "fedcba9876543210" * 4
PART = (1000, 2000)


def example() -> Tally:
    """Arrays of several shapes, negative and extreme values included."""
    limits = np.iinfo(np.int64)
    return {
        "games": np.array([1000]),
        "arm/0/histogram": np.arange(24).reshape(2, 3, 4) - 7,
        "arm/1/card": np.array([[limits.min, limits.max], [-1, 0]]),
        "contrast/0": np.zeros((0, 5), dtype=np.int64),
    }


def assert_same(found: Tally | None, wanted: Tally) -> None:
    """Equal names in order, dtypes, shapes and values."""
    assert found is not None
    assert list(found) == list(wanted)
    for name, array in wanted.items():
        assert found[name].dtype == np.int64
        np.testing.assert_array_equal(found[name], array, strict=True)


def path_of(folder: Path, key: str = KEY, part: Range = PART) -> Path:
    return folder / f"{key[:16]}-{part[0]}-{part[1]}.parquet"


def test_round_trip(tmp_path: Path) -> None:
    store = Store(tmp_path / "new" / "cells")
    store.save(KEY, PART, example())
    assert_same(store.load(KEY, PART), example())
    assert store.ranges() == {KEY[:16]: {PART}}
    assert [path.name for path in store.folder.iterdir()] == ["0123456789abcdef-1000-2000.parquet"]


def test_loaded_arrays_can_be_changed(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.save(KEY, PART, example())
    tally = store.load(KEY, PART)
    assert tally is not None
    tally["games"] += 1
    assert_same(store.load(KEY, PART), example())


def test_any_parquet_reader_can_use_a_file(tmp_path: Path) -> None:
    Store(tmp_path).save(KEY, PART, example())
    frame = pq.read_table(path_of(tmp_path)).to_pandas()
    assert list(frame.columns) == ["array", "index", "value"]
    rows = frame[frame["array"] == "arm/0/histogram"]
    assert list(rows["index"]) == list(range(24))
    assert list(rows["value"]) == list(example()["arm/0/histogram"].ravel())


def test_only_int64_is_stored() -> None:
    with pytest.raises(TypeError, match="tally array x is float64, not int64"):
        encode({"x": np.ones(3)}, KEY, PART)


def test_missing_file(tmp_path: Path) -> None:
    assert Store(tmp_path).load(KEY, PART) is None


def test_truncated_files_are_not_read() -> None:
    data = encode(example(), KEY, PART)
    for length in range(0, len(data), 41):
        assert decode(data[:length], KEY, PART) is None


def test_damaged_files_are_never_read_as_something_else() -> None:
    data = encode(example(), KEY, PART)
    refused = 0
    for position in range(0, len(data), 7):
        damaged = bytearray(data)
        damaged[position] ^= 0x55
        tally = decode(bytes(damaged), KEY, PART)
        if tally is None:
            refused += 1
        else:  # the damage is in a column that is there for other readers only, or in unused bytes
            assert_same(tally, example())
    assert refused > 50


def test_changed_values_are_refused(tmp_path: Path) -> None:
    data = encode(example(), KEY, PART)
    table = pq.read_table(pa.BufferReader(data))
    values = table.column("value").to_numpy().copy()
    values[0] += 1
    path = tmp_path / "changed.parquet"
    pq.write_table(table.set_column(2, "value", pa.array(values)), path)
    assert decode(path.read_bytes(), KEY, PART) is None


@pytest.mark.parametrize(
    "values", [pa.array(["a", "b"]), pa.array([1.5, 2.5]), pa.array([1, None]), pa.array([1, 2])]
)
def test_foreign_files_are_refused(tmp_path: Path, values: pa.Array) -> None:
    for column in ("value", "other"):
        path = tmp_path / f"{column}.parquet"
        pq.write_table(pa.table({column: values}), path)
        assert decode(path.read_bytes(), KEY, PART) is None


def test_swapped_files_are_refused_and_replaced(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.save(KEY, (0, 1000), {"x": np.array([1])})
    shutil.copy(path_of(tmp_path, KEY, (0, 1000)), path_of(tmp_path))
    shutil.copy(path_of(tmp_path, KEY, (0, 1000)), path_of(tmp_path, OTHER, (0, 1000)))
    assert store.load(KEY, PART) is None
    assert store.load(OTHER, (0, 1000)) is None
    assert store.load(KEY[:16] + OTHER[16:], (0, 1000)) is None, "the whole key counts, not only its start"
    store.save(KEY, PART, example())
    assert_same(store.load(KEY, PART), example())


def test_strange_names_are_ignored(tmp_path: Path) -> None:
    names = [
        "x.parquet",
        f"{KEY[:16]}-0-10.parquet.1.tmp",
        f"{KEY[:16]}-5-5.parquet",
        f"{KEY[:16]}-00-7.parquet",
    ]
    for name in [*names, f"{KEY}-0-10.parquet", f"{KEY[:16]}--1-10.parquet", f"{KEY[:16]}-0-10.csv"]:
        (tmp_path / name).touch()
    assert Store(tmp_path).ranges() == {}


def test_prune_and_forget(tmp_path: Path) -> None:
    store = Store(tmp_path)
    for key, part in [
        (KEY, (0, 10)),
        (KEY, (10, 20)),
        (KEY, (0, 20)),
        (KEY, (0, 40)),
        (KEY, (15, 25)),
        (OTHER, (0, 10)),
    ]:
        store.save(key, part, example())
    store.prune(KEY, 20)
    assert store.ranges() == {KEY[:16]: {(0, 20), (0, 40), (15, 25)}, OTHER[:16]: {(0, 10)}}
    store.forget(KEY)
    assert store.ranges() == {OTHER[:16]: {(0, 10)}}


def test_only_old_temporary_files_are_removed(tmp_path: Path) -> None:
    old, young, foreign = (tmp_path / name for name in ("a.1-2.tmp", "b.1-2.tmp", "mine.tmp"))
    for path in (old, young, foreign):
        path.touch()
    (tmp_path / "folder.1-2.tmp").mkdir()
    for path in (old, foreign, tmp_path / "folder.1-2.tmp"):
        os.utime(path, (time.time() - 4000, time.time() - 4000))
    Store(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["b.1-2.tmp", "folder.1-2.tmp", "mine.tmp"]


def assert_one_line(error: pytest.ExceptionInfo[StoreError], *parts: str) -> None:
    message = str(error.value)
    assert "\n" not in message
    for part in parts:
        assert part in message


@pytest.mark.parametrize("folder", ["file", "file/cells", "file/deep/cells"])
def test_a_file_in_place_of_the_folder(tmp_path: Path, folder: str) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(StoreError) as error:
        Store(tmp_path / folder)
    assert_one_line(error, str(tmp_path / folder), "cannot store results here")
    assert (tmp_path / "file").read_text() == "mine"


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EROFS, errno.EACCES])
def test_unwritable_is_noticed_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int) -> None:
    monkeypatch.setattr(os, "fsync", failing(code))
    with pytest.raises(StoreError) as error:
        Store(tmp_path)
    assert_one_line(error, str(tmp_path), os.strerror(code))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("function", ["fsync", "replace"])
def test_disk_full_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, function: str
) -> None:
    store = Store(tmp_path)
    monkeypatch.setattr(os, function, failing(errno.ENOSPC))
    with pytest.raises(StoreError) as error:
        store.save(KEY, PART, example())
    assert_one_line(error, "No space left on device")
    assert list(tmp_path.iterdir()) == []


def test_several_writers_of_one_file_leave_one_whole_version(tmp_path: Path) -> None:
    path = tmp_path / "metrics.csv"
    versions = [bytes([digit]) * 300_000 for digit in range(4)]
    threads = [
        threading.Thread(target=lambda data=data: [replace_file(path, data) for _ in range(10)])
        for data in versions
    ]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        assert not path.exists() or path.read_bytes() in versions
    assert path.read_bytes() in versions
    assert [file.name for file in tmp_path.iterdir()] == ["metrics.csv"]


@pytest.mark.parametrize("function", ["fsync", "replace"])
@pytest.mark.parametrize("problem", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()])
def test_a_file_that_cannot_be_replaced_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, function: str, problem: BaseException
) -> None:
    def fail(*args: object) -> None:
        raise problem

    path = tmp_path / "metrics.csv"
    path.write_text("old")
    monkeypatch.setattr(os, function, fail)
    with pytest.raises((StoreError, KeyboardInterrupt)) as error:
        replace_file(path, b"new")
    if isinstance(problem, OSError):
        assert_one_line(error, "metrics.csv: cannot be written: No space left on device")
    assert path.read_text() == "old"
    assert [file.name for file in tmp_path.iterdir()] == ["metrics.csv"]


def failing(code: int) -> Any:
    def fail(*args: object) -> None:
        raise OSError(code, os.strerror(code))

    return fail


def test_folder_removed_meanwhile(tmp_path: Path) -> None:
    store = Store(tmp_path / "cells")
    (tmp_path / "cells").rmdir()
    for use in (lambda: store.save(KEY, PART, example()), store.ranges):
        with pytest.raises(StoreError):
            use()


def test_cover_examples() -> None:
    assert cover(set(), 10) == []
    assert cover({(0, 20)}, 10) == []
    assert cover({(0, 5), (5, 10), (0, 10)}, 10) == [(0, 10)]
    assert cover({(0, 10), (10, 20), (5, 15)}, 25) == [(0, 10), (10, 20)]
    assert cover({(0, 3), (2, 9), (9, 12)}, 10) == [(2, 9)]


@given(
    st.sets(st.tuples(st.integers(0, 11), st.integers(1, 12)).filter(lambda r: r[0] < r[1]), max_size=7),
    st.integers(1, 12),
)
def test_cover_is_the_best_choice(stored: set[Range], games: int) -> None:
    chosen = cover(stored, games)
    assert set(chosen) <= stored
    assert all(last <= games for _, last in chosen)
    assert all(a[1] <= b[0] for a, b in itertools.pairwise(chosen))
    assert sum(last - first for first, last in chosen) == most_covered(sorted(stored), 0, games)


def most_covered(stored: list[Range], start: int, games: int) -> int:
    """The same by trying every choice."""
    sizes = (
        last - first + most_covered(stored, last, games)
        for first, last in stored
        if first >= start and last <= games
    )
    return max(sizes, default=0)


SOURCES = {
    "rng.py": "# numbers",
    "batch.py": "from sim.games import c",
    "config/models.py": "",
    "players/search.py": "",
    "games/__init__.py": "",
    "games/a.py": "import numpy\nfrom sim.games._cards import deal\nfrom sim.games import b_rules",
    "games/_cards.py": "from . import _marks",
    "games/_marks.py": "",
    "games/b_rules.py": "import sim.games.d.x",
    "games/d.py": "",
    "games/b.py": "from sim.games import _other",
    "games/_other.py": "",
}


@pytest.fixture
def sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small tree of sources that stands for the package's own."""
    root = tmp_path / "sim"
    for name, text in SOURCES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(f"{text}\n".encode())
    monkeypatch.setattr(store_module, "SOURCES", root)
    return root


@pytest.mark.parametrize(
    "name",
    ["rng.py", "new.py", "players/search.py", "players/new.py", "new/deep/file.py"]
    + [f"games/{name}.py" for name in ("__init__", "a", "_cards", "_marks", "b_rules", "d")],
)
def test_digest_depends_on(sources: Path, name: str) -> None:
    before = source_digest("a")
    (sources / name).parent.mkdir(parents=True, exist_ok=True)
    with (sources / name).open("a") as file:
        file.write("x = 1\n")
    assert source_digest("a") != before


@pytest.mark.parametrize(
    "name",
    ["batch.py", "store.py", "config/models.py", "notes.txt", "games/b.py", "games/c.py", "games/_other.py"],
)
def test_digest_does_not_depend_on(sources: Path, name: str) -> None:
    before = source_digest("a")
    with (sources / name).open("a") as file:
        file.write("x = 1\n")
    assert source_digest("a") == before


def test_real_sources_have_a_digest() -> None:
    assert len(source_digest("paijie")) == 64


def test_digest_ignores_line_ends_and_needs_the_game(sources: Path) -> None:
    before = source_digest("a")
    (sources / "rng.py").write_bytes(b"# numbers\r\n")
    assert source_digest("a") == before
    assert source_digest("b") != before
    with pytest.raises(FileNotFoundError):
        source_digest("c")


@dataclasses.dataclass(frozen=True)
class StandInPlayer:
    name: str
    title: str
    kind: str
    weights: dict[str, Any]
    search: Any = None


@dataclasses.dataclass(frozen=True)
class StandInSearch:
    playouts: int
    plays_out: StandInPlayer
    opponents: tuple[StandInPlayer, ...] = ()


def group(**changes: Any) -> Any:
    """A stand-in for a group, with the attributes that its key is made of."""
    player = StandInPlayer("greedy", "Greedy", "weights", {"a": {"main": {"gap": -40}}})
    content = {
        "game": "a",
        "seats": 2,
        "lineup": (player, player),
        "fitted": (),
        "seed": 1,
        "games": 100,
        "arms": tuple(arm(limit) for limit in (7, 10)),
        "contrasts": (SimpleNamespace(family="limits", terms=((0, -1), (1, 1))),),
    }
    return SimpleNamespace(**{**content, **changes})


def arm(limit: int | None, name: str = "a/v1") -> Any:
    return SimpleNamespace(game="a", name=name, settings=lambda: {"limit": limit, "jokers": True})


def player(**changes: Any) -> StandInPlayer:
    return dataclasses.replace(group().lineup[0], **changes)


def searcher(playouts: int, **changes: Any) -> StandInPlayer:
    return player(search=StandInSearch(playouts, player(**changes)))


@pytest.mark.parametrize(
    "changes",
    [
        {"game": "b"},
        {"seats": 3},
        {"seed": 2},
        {"arms": (arm(10), arm(7))},
        {"arms": (arm(7), arm(None))},
        {"lineup": (player(), player(weights={"a": {"main": {"gap": -41}}}))},
        {"lineup": (player(), player(kind="random"))},
        {"lineup": (player(), searcher(100))},
        {"fitted": ((player(), player(kind="random")), (player(), player()))},
        {"contrasts": ()},
        {"contrasts": (SimpleNamespace(family="limits", terms=((0, 1), (1, -1))),)},
    ],
)
def test_key_depends_on(sources: Path, changes: dict[str, Any]) -> None:
    assert group_key(group(**changes)) != group_key(group())


@pytest.mark.parametrize(
    "changes",
    [
        {"games": 200},
        {"arms": (arm(7, "a/old"), arm(10, "a/new"))},
        {"lineup": (player(name="keen"), player(title="Keen"))},
        {"lineup": (player(), player(weights={**player().weights, "b": {"main": {"gap": 1}}}))},
        {"contrasts": (SimpleNamespace(family="renamed", terms=((0, -1), (1, 1))),)},
    ],
)
def test_key_does_not_depend_on(sources: Path, changes: dict[str, Any]) -> None:
    assert group_key(group(**changes)) == group_key(group())


def test_key_depends_on_how_a_player_searches(sources: Path) -> None:
    key = group_key(group(lineup=(searcher(100),)))
    assert group_key(group(lineup=(searcher(100, name="keen", title="Keen"),))) == key
    assert group_key(group(lineup=(searcher(101),))) != key
    assert group_key(group(lineup=(searcher(100, kind="random"),))) != key
    expecting = StandInSearch(100, player(), (player(name="keen"),))
    assert group_key(group(lineup=(player(search=expecting),))) != key


def test_key_changes_with_the_sources(sources: Path) -> None:
    before = group_key(group())
    (sources / "rng.py").write_text("x = 2")
    assert group_key(group()) != before
