"""Stored tallies: one Parquet file per range of games, named by its content, written whole or not at all.

A file `<key>-<first>-<last>.parquet` holds the tally of the games first..last-1 of one group. The key says
what was played: the sources that played it, the game, the seats, the players' weights, the seed, the
rulesets' toggles and the contrasts, but not how many games. So a file stays valid for any number of games
and any division into chunks, and changing anything that could change a number changes the name. A file is
written under a temporary name of its own, flushed to the disk and renamed (`replace_file`), so that a run
killed at any moment leaves either no file or a complete one. Its checksum, key and range are verified when
it is read; a file that fails is treated as missing.

Inside is one row per integer (columns array, index, value), so that any Parquet reader can use it; shapes
and the checksum are in the schema's metadata.
"""

from __future__ import annotations

import ast
import bisect
import contextlib
import dataclasses
import functools
import hashlib
import json
import os
import re
import time
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sim import NOT_PLAYING

if TYPE_CHECKING:
    from sim.config import Group, Player

Tally = dict[str, np.ndarray]
"""Named int64 arrays that are merged by adding them elementwise."""

Range = tuple[int, int]
"""The games first, first+1, ..., last-1 of a group."""

FORMAT = 1
"""Changes when the meaning of a stored file does; part of every key."""

SOURCES = Path(__file__).parent
STALE_SECONDS = 3600
PROBE_BYTES = 1 << 16

_NAME = re.compile(r"([0-9a-f]{16})-(\d+)-(\d+)\.parquet")
_TEMPORARY = re.compile(r".*\.\d+-[0-9a-f]+\.tmp")


class StoreError(Exception):
    """The output folder cannot be written to; the message is one line for the user."""


def replace_file(path: Path, data: bytes) -> None:
    """Write a file whole or not at all, replacing one of that name at once.

    The temporary file stands in the same folder under a name that no other process uses, and is gone afterwards
    however this ends, so that several runs may write the same file: the last one wins.

    Raises:
        StoreError: the disk is full, or such a file cannot be written there.
    """
    try:
        _replace(path, data)
    except OSError as error:
        raise StoreError(f"{path}: cannot be written: {error.strerror or error}") from error


def remove_stale(folder: Path) -> None:
    """Remove the temporary files that killed runs left; young ones may belong to a run that is writing now."""
    try:
        names = os.listdir(folder)
    except OSError:  # such as a folder that is still to be made
        return
    oldest = time.time() - STALE_SECONDS
    for path in (folder / name for name in names if _TEMPORARY.fullmatch(name)):
        with contextlib.suppress(OSError):
            if path.stat().st_mtime < oldest:
                path.unlink()


def _replace(path: Path, data: bytes) -> None:
    temporary = _temporary(path)
    try:
        _write(temporary, data)
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise


def _write(path: Path, data: bytes) -> None:
    """Write a new file and wait until the disk has it: a rename must never publish an unfinished one."""
    with open(path, "xb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _temporary(path: Path) -> Path:
    return path.with_name(f"{path.stem[:40]}.{os.getpid()}-{uuid.uuid4().hex}.tmp")


def source_digest(game: str) -> str:
    """SHA-256 (hex) of the sources that decide the results of `game`: the core, the players, the game's file.

    Other games' files are left out, so that adding or editing one keeps the rest of the stored results; those
    that the game's file imports count. Line ends are normalised: a checkout that rewrites them plays the same.

    Raises:
        FileNotFoundError: there is no such game.
    """
    names = {path.relative_to(SOURCES).as_posix() for path in SOURCES.rglob("*.py")}
    core = {name for name in names if name.split("/")[0].removesuffix(".py") not in (*NOT_PLAYING, "games")}
    digest = hashlib.sha256()
    for name in sorted(core | _game_files(game)):
        text = (SOURCES / name).read_bytes().replace(b"\r\n", b"\n")
        digest.update(f"{name} {len(text)}\n".encode())
        digest.update(text)
    return digest.hexdigest()


def _game_files(game: str) -> set[str]:
    """The files under games/ that `game` is made of: its own, and those that these import."""
    found, new = {"games/__init__.py"}, {f"games/{game}.py"}
    while new:
        found |= new
        words = set().union(*(_imported((SOURCES / name).read_bytes()) for name in new))
        new = {
            f"games/{path.name}" for path in (SOURCES / "games").glob("*.py") if path.stem in words
        } - found
    return found


@functools.cache
def _imported(source: bytes) -> frozenset[str]:
    """Every word of the import statements of a source file: more than the modules it imports, never fewer."""
    imports = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Import | ast.ImportFrom)]
    names = [alias.name for node in imports for alias in node.names]
    modules = [node.module or "" for node in imports if isinstance(node, ast.ImportFrom)]
    return frozenset(word for name in names + modules for word in name.split("."))


def group_key(group: Group) -> str:
    """SHA-256 (hex) of all that decides a game of `group`; the number of games is not part of it."""
    content = {
        "format": FORMAT,
        "sources": source_digest(group.game),
        "game": group.game,
        "seats": group.seats,
        "lineups": [
            [_player_content(player, group.game) for player in lineup]
            for lineup in group.fitted or (group.lineup,)
        ],
        "seed": group.seed,
        "arms": [[arm.game, arm.settings()] for arm in group.arms],
        "contrasts": [contrast.terms for contrast in group.contrasts],
    }
    return hashlib.sha256(_canonical(content)).hexdigest()


def cover(stored: set[Range], games: int) -> list[Range]:
    """Those disjoint ranges of `stored` inside 0..games that together hold the most games, in order.

    Weighted interval scheduling, so that files left by runs with different chunk sizes are used as well as
    can be. Where a long range and its pieces are both there the long one is taken.
    """
    usable = sorted((r for r in stored if r[1] <= games), key=lambda r: (r[1], r[0]))
    ends = [last for _, last in usable]
    before = [bisect.bisect_right(ends, first) for first, _ in usable]
    best = [0]
    for (first, last), earlier in zip(usable, before, strict=True):
        best.append(max(best[-1], best[earlier] + last - first))
    chosen, i = [], len(usable)
    while i:
        if best[i] == best[i - 1]:
            i -= 1
        else:
            chosen.append(usable[i - 1])
            i = before[i - 1]
    return chosen[::-1]


class Store:
    """A folder of stored tallies, for several threads and for several runs at once."""

    def __init__(self, folder: Path) -> None:
        """Create `folder` if it is missing, make sure that it can be written, and remove old temporary files.

        Raises:
            StoreError: the folder cannot be created or written, or the disk is full.
        """
        self.folder = folder
        probe = _temporary(folder / "probe")
        try:
            folder.mkdir(parents=True, exist_ok=True)
            try:
                _write(probe, bytes(PROBE_BYTES))
            finally:
                probe.unlink(missing_ok=True)
        except OSError as error:
            raise self._error(error) from error
        remove_stale(folder)

    def ranges(self) -> dict[str, set[Range]]:
        """The ranges that files, sound or not, exist for, by the first 16 digits of the key."""
        found: dict[str, set[Range]] = {}
        try:
            names = os.listdir(self.folder)
        except OSError as error:
            raise self._error(error) from error
        for name in names:
            if match := _NAME.fullmatch(name):
                first, last = int(match[2]), int(match[3])
                if first < last and name == _file_name(match[1], (first, last)):
                    found.setdefault(match[1], set()).add((first, last))
        return found

    def load(self, key: str, part: Range) -> Tally | None:
        """The stored tally of the games `part`, or None when there is no sound file of this key and range."""
        try:
            data = (self.folder / _file_name(key, part)).read_bytes()
        except OSError:
            return None
        return decode(data, key, part)

    def save(self, key: str, part: Range, tally: Tally) -> None:
        """Store the tally of the games `part`, replacing any file of that name at once.

        Raises:
            StoreError: the disk is full, or the folder cannot be written to any more.
        """
        try:
            _replace(self.folder / _file_name(key, part), encode(tally, key, part))
        except OSError as error:
            raise self._error(error) from error

    def prune(self, key: str, games: int) -> None:
        """Remove the files inside 0..games other than the one that holds them all."""
        for part in self.ranges().get(key[:16], set()):
            if part[1] <= games and part != (0, games):
                self._remove(key, part)

    def forget(self, key: str) -> None:
        """Remove every file of a group."""
        for part in self.ranges().get(key[:16], set()):
            self._remove(key, part)

    def _remove(self, key: str, part: Range) -> None:
        try:
            (self.folder / _file_name(key, part)).unlink(missing_ok=True)
        except OSError as error:
            raise self._error(error) from error

    def _error(self, error: OSError) -> StoreError:
        return StoreError(f"{self.folder}: cannot store results here: {error.strerror or error}")


def encode(tally: Tally, key: str, part: Range) -> bytes:
    """A tally as the bytes of a Parquet file.

    Raises:
        TypeError: an array is not int64.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    for name, array in tally.items():
        if array.dtype != np.int64:
            raise TypeError(f"tally array {name} is {array.dtype}, not int64")
    names = list(tally)
    sizes = [array.size for array in tally.values()]
    values = np.concatenate([np.empty(0, np.int64), *(array.ravel() for array in tally.values())])
    header = _canonical(
        {"format": FORMAT, "key": key, "range": part, "shapes": [[name, tally[name].shape] for name in names]}
    )
    table = pa.table(
        {
            "array": pa.DictionaryArray.from_arrays(
                np.repeat(np.arange(len(names), dtype=np.int32), sizes), names
            ),
            "index": np.concatenate([np.empty(0, np.int64), *(np.arange(size) for size in sizes)]),
            "value": values,
        }
    ).replace_schema_metadata({b"fairdeal": header, b"checksum": _checksum(header, values)})
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, compression="zstd", write_page_checksum=True)
    data: bytes = sink.getvalue().to_pybytes()
    return data


def decode(data: bytes, key: str, part: Range) -> Tally | None:
    """The tally in the bytes of a Parquet file, or None when damaged or not of this key and range."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(pa.BufferReader(data), page_checksum_verification=True)
        table = file.read(columns=["value"], use_threads=False)
        values = table.column("value").to_numpy().astype(np.int64, casting="safe")
    except (
        pa.ArrowException,
        OSError,
        ValueError,
        TypeError,
        KeyError,
    ):  # what pyarrow raises on damaged bytes
        return None
    metadata = table.schema.metadata or {}
    header = metadata.get(b"fairdeal", b"")
    if metadata.get(b"checksum") != _checksum(header, values):
        return None
    content = json.loads(header)  # the checksum has shown that `encode` wrote it
    if (content["format"], content["key"], content["range"]) != (FORMAT, key, list(part)):
        return None
    tally, start = {}, 0
    for name, shape in content["shapes"]:
        stop = start + int(np.prod(shape, dtype=np.int64))
        tally[name] = values[start:stop].reshape(shape)
        start = stop
    return tally


def _file_name(key: str, part: Range) -> str:
    return f"{key[:16]}-{part[0]}-{part[1]}.parquet"


def _checksum(header: bytes, values: np.ndarray) -> bytes:
    return hashlib.sha256(header + b"\n" + values.astype("<i8").tobytes()).hexdigest().encode()


def _canonical(content: Any) -> bytes:
    return json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=True).encode()


def _player_content(player: Player, game: str) -> dict[str, Any]:
    """What decides a player's moves in `game`: neither its name and title nor its weights for other games."""
    fields = [field.name for field in dataclasses.fields(player) if field.name not in ("name", "title")]
    content = {name: getattr(player, name) for name in fields}
    content["weights"] = player.weights.get(game, {})
    search = content.get("search")
    if search is not None:
        settings = {item.name: getattr(search, item.name) for item in dataclasses.fields(search)}
        content["search"] = {
            **settings,
            "plays_out": _player_content(search.plays_out, game),
            "opponents": [_player_content(opponent, game) for opponent in search.opponents],
        }
    return content
