"""Results folders: what was played is stored there, and its tables, its configuration, its report and its manifest.

The files of a folder belong together when its manifest says `complete` and names their digests. Before that the
manifest only tells how far each cell got, and files beside it may be those of an earlier run. Every file is written
under a temporary name and then renamed, so that none is ever half written; of several runs in one folder the last one
to write a file wins.
"""

from __future__ import annotations

import dataclasses
import hashlib
import io
import json
import os
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from analysis.metrics import (
    CONTRAST_COLUMNS,
    METRIC_COLUMNS,
    contrasts_frame,
    lineup_name,
    metrics_frame,
    read_table,
    write_table,
)
from analysis.train import announce
from analysis.versions import versions
from sim import batch
from sim.config import ConfigError, Sweep, load_sweep
from sim.config.document import shown_path
from sim.config.models import LANGUAGES
from sim.store import PROBE_BYTES, StoreError, remove_stale, replace_file, source_digest
from sim.training import fit_group

if TYPE_CHECKING:
    import pandas as pd

    from sim.config import Group

REPORTS = Path("reports")
CONFIG = "config.resolved.yaml"
MANIFEST = "manifest.json"
METRICS = "metrics.csv"
CONTRASTS = "contrasts.csv"
FILES = (CONFIG, MANIFEST, METRICS, CONTRASTS, *(f"report.{language}.md" for language in LANGUAGES))
FOLDERS = ("cells", "figures")
"""What a results folder holds."""


class Cell(BaseModel):
    """What the manifest tells of one group: who played which rulesets, and how far its deals got."""

    model_config = ConfigDict(strict=True)

    key: str
    game: str
    seats: int
    lineup: str
    rulesets: list[str]
    deals: int
    found: int
    played: int
    complete: bool
    worker_seconds: float


class Manifest(BaseModel):
    """The content of manifest.json. It names no folder and no machine.

    `files` holds the SHA-256 (hex) of the tables and the configuration, line ends normalised, as `report` needs them.
    """

    model_config = ConfigDict(strict=True)

    name: str
    complete: bool
    command: str
    seed: int
    games: dict[str, int]
    seconds: float
    versions: dict[str, str]
    sources: dict[str, str]
    cells: list[Cell]
    files: dict[str, str]


@dataclass(frozen=True)
class Options:
    """How to play: on `jobs` threads (None: one a processor), at most `chunk` games at a time (None: as usual), going
    on from what is stored or not; `command` is what the manifest says was asked for."""

    jobs: int | None = None
    chunk: int | None = None
    resume: bool = True
    command: str = ""


@dataclass(frozen=True)
class Results:
    """What a results folder holds: the tables metrics.csv and contrasts.csv, and the manifest."""

    folder: Path
    metrics: pd.DataFrame
    contrasts: pd.DataFrame
    manifest: Mapping[str, Any]


def run_sweep(sweep: Sweep, folder: Path, options: Options) -> Results:
    """Play a sweep, or take from the folder what is stored there, and write all that belongs into the folder.

    Raises:
        StoreError: the folder cannot be written to; tried before anything is made.
        Interrupted: a signal came; the same call goes on from there.
    """
    results = play_groups(sweep.name, sweep.groups, folder, options)
    text: str = yaml.dump(sweep.resolved, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100)
    replace_file(folder / CONFIG, text.encode())
    write_reports(sweep, results)
    return complete(results, {CONFIG: _digest(text.encode())})


def play_groups(name: str, groups: Sequence[Group], folder: Path, options: Options) -> Results:
    """Play groups into a folder and write the two tables and a manifest that is not yet complete.

    Raises:
        StoreError: the folder cannot be written to; tried before anything is made.
        Interrupted: a signal came; the manifest tells how far each cell got.
    """
    check_folder(folder)
    for place in (folder, folder / "figures"):
        remove_stale(place)
    start = time.perf_counter()
    groups = [fit_group(group, options.jobs or os.cpu_count() or 1, announce) for group in groups]

    def note(statuses: Sequence[batch.Status]) -> dict[str, Any]:
        manifest = _manifest(name, groups, statuses, options.command, time.perf_counter() - start)
        _write_manifest(folder, manifest)
        return manifest

    try:
        with batch.stderr_progress() as progress:
            chunk = options.chunk or batch.CHUNK
            run = batch.run(groups, folder, options.jobs, chunk, options.resume, progress=progress)
    except batch.Interrupted as stop:
        note(stop.statuses)
        raise
    manifest = note(run.statuses)
    # Two arms with the same rules under the same name (A against A) are one entry of the table.
    metrics = write_table(metrics_frame(groups, run.tallies).drop_duplicates(), folder / METRICS)
    contrasts = write_table(contrasts_frame(groups, run.tallies), folder / CONTRASTS)
    manifest["files"] = {METRICS: _digest(metrics), CONTRASTS: _digest(contrasts)}
    return _results(folder, metrics, contrasts, manifest)


def complete(results: Results, digests: Mapping[str, str]) -> Results:
    """Say in the folder's manifest that all its files belong together; `digests` are of those it does not name yet."""
    manifest = {**results.manifest, "files": {**results.manifest["files"], **digests}, "complete": True}
    _write_manifest(results.folder, manifest)
    return dataclasses.replace(results, manifest=manifest)


def write_reports(sweep: Sweep, results: Results) -> None:
    """Write the figures and the report in both languages.

    Raises:
        StoreError: one of them cannot be written or replaced.
    """
    from analysis.report import write_report

    try:
        write_report(sweep, results.metrics, results.contrasts, results.manifest, results.folder)
    except OSError as error:
        place = error.filename or results.folder
        raise StoreError(f"{place}: cannot be written: {error.strerror or error}") from error


def load_results(folder: Path) -> tuple[Sweep, Results]:
    """The sweep of a results folder and what it found.

    Raises:
        ConfigError: the folder does not hold the complete results of a sweep, as that wrote them.
    """
    name = shown_path(folder)
    if not os.path.isdir(folder):
        raise ConfigError(f"{name}: no such folder")
    manifest = _read_manifest(folder)
    if not manifest["complete"]:
        raise ConfigError(f"{name}: these results are not complete; run their sweep again")
    _, metrics, contrasts = (_intact(folder, file, manifest) for file in (CONFIG, METRICS, CONTRASTS))
    sweep = dataclasses.replace(load_sweep(folder / CONFIG), name=manifest["name"])
    return sweep, _results(folder, metrics, contrasts, manifest)


def _content(folder: Path, file: str) -> bytes:
    path = folder / file
    if not os.path.isfile(path):
        raise ConfigError(f"{shown_path(folder)}: not the results of a sweep; {file} is missing")
    try:
        return path.read_bytes()
    except OSError as problem:
        raise ConfigError(f"{shown_path(path)}: cannot be read: {problem.strerror}") from None


def _intact(folder: Path, file: str, manifest: Mapping[str, Any]) -> bytes:
    """The content of a file that must be as the manifest says."""
    content = _content(folder, file)
    if _digest(content) != manifest["files"].get(file):
        text = "damaged, or changed since its sweep wrote it; run that sweep again"
        raise ConfigError(f"{shown_path(folder / file)}: {text}")
    return content


def _digest(content: bytes) -> str:
    """SHA-256 (hex) of a text file, whatever its line ends."""
    return hashlib.sha256(content.replace(b"\r\n", b"\n")).hexdigest()


def check_folder(folder: Path, files: Sequence[str] = FILES, folders: Sequence[str] = FOLDERS) -> None:
    """Make sure that `files` and `folders` below `folder` can be written, with room to spare; leaves nothing behind.

    Raises:
        StoreError: it cannot, or something else stands where its files or folders belong.
    """
    refusal = f"{folder}: cannot store results here"
    for file in files:
        if os.path.isdir(folder / file):
            raise StoreError(f"{refusal}: {file} is a folder, not a file")
    for name in folders or (".",):
        place = folder / name
        while not os.path.exists(place):
            place = place.parent
        if not os.path.isdir(place):
            raise StoreError(f"{refusal}: {shown_path(place)} is a file, not a folder")
        _probe(place, refusal)


def _probe(place: Path, refusal: str) -> None:
    """Try to write a file, of which nothing is left."""
    try:
        with tempfile.NamedTemporaryFile(dir=place, prefix="fairdeal-") as probe:
            probe.write(bytes(PROBE_BYTES))
            probe.flush()
            os.fsync(probe.fileno())
    except OSError as error:
        raise StoreError(f"{refusal}: {error.strerror or error}") from error


def _manifest(
    name: str, groups: Sequence[Group], statuses: Sequence[batch.Status], command: str, seconds: float
) -> dict[str, Any]:
    """The content of manifest.json, not complete and without the digests of files."""
    return {
        "name": name,
        "complete": False,
        "command": command,
        "seed": groups[0].seed,
        "games": {
            "played": sum(status.played * status.arms for status in statuses),
            "found": sum(status.found * status.arms for status in statuses),
            "wanted": sum(status.games * status.arms for status in statuses),
        },
        "seconds": round(seconds, 2),
        "versions": versions(),
        "sources": {game: source_digest(game) for game in sorted({group.game for group in groups})},
        "cells": [_cell(group, status) for group, status in zip(groups, statuses, strict=True)],
        "files": {},
    }


def _cell(group: Group, status: batch.Status) -> dict[str, Any]:
    return {
        "key": status.key,
        "game": group.game,
        "seats": group.seats,
        "lineup": lineup_name(group),
        "rulesets": [arm.name for arm in group.arms],
        "deals": status.games,
        "found": status.found,
        "played": status.played,
        "complete": status.complete,
        "worker_seconds": round(status.seconds, 3),
    }


def _write_manifest(folder: Path, manifest: Mapping[str, Any]) -> None:
    text = json.dumps(manifest, indent=2, ensure_ascii=False) + "\n"
    replace_file(folder / MANIFEST, text.encode())


def _read_manifest(folder: Path) -> dict[str, Any]:
    try:
        return Manifest.model_validate_json(_content(folder, MANIFEST)).model_dump()
    except ValidationError:
        text = "not a manifest of results, or one of another version; run the sweep again"
        raise ConfigError(f"{shown_path(folder / MANIFEST)}: {text}") from None


def _results(folder: Path, metrics: bytes, contrasts: bytes, manifest: Mapping[str, Any]) -> Results:
    """The tables as they are in the files, so that a report made later is made of the same digits."""

    def table(file: str, content: bytes, columns: tuple[str, ...]) -> pd.DataFrame:
        found = read_table(io.BytesIO(content))
        if tuple(found.columns) != columns:
            text = "its columns are not those of this version; run its sweep again"
            raise ConfigError(f"{shown_path(folder / file)}: {text}")
        return found

    tables = table(METRICS, metrics, METRIC_COLUMNS), table(CONTRASTS, contrasts, CONTRAST_COLUMNS)
    return Results(folder, *tables, manifest)


class _Dumper(yaml.SafeDumper):
    """Writes values out every time, where YAML's aliases would say `as above`: files with aliases are refused."""

    def ignore_aliases(self, data: Any) -> bool:
        return True
