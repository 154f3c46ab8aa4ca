"""Results folders: what was played is stored there, and its tables, its configuration, its report and its manifest.

The files of a folder belong together when its manifest says `complete`. Before that the manifest only tells how far
each cell got, and files beside it may be those of an earlier run. Every file is written under another name and then
renamed, so that none is ever half written.
"""

from __future__ import annotations

import dataclasses
import json
import os
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from analysis.metrics import (
    CONTRAST_COLUMNS,
    METRIC_COLUMNS,
    contrasts_frame,
    lineup_name,
    metrics_frame,
    read_table,
    write_table,
)
from analysis.versions import versions
from sim import batch
from sim.config import ConfigError, Sweep, load_sweep
from sim.config.document import shown_path
from sim.store import PROBE_BYTES, StoreError, source_digest

if TYPE_CHECKING:
    import pandas as pd

    from sim.config import Group

REPORTS = Path("reports")
CONFIG = "config.resolved.yaml"
MANIFEST = "manifest.json"
METRICS = "metrics.csv"
CONTRASTS = "contrasts.csv"


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
    text = yaml.dump(sweep.resolved, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100)
    _replace(folder / CONFIG, text)
    write_reports(sweep, results)
    return complete(results)


def play_groups(name: str, groups: Sequence[Group], folder: Path, options: Options) -> Results:
    """Play groups into a folder and write the two tables and a manifest that is not yet complete.

    Raises:
        StoreError: the folder cannot be written to; tried before anything is made.
        Interrupted: a signal came; the manifest tells how far each cell got.
    """
    check_folder(folder)
    start = time.perf_counter()

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
    write_table(metrics_frame(groups, run.tallies).drop_duplicates(), folder / METRICS)
    write_table(contrasts_frame(groups, run.tallies), folder / CONTRASTS)
    return _read(folder, manifest)


def complete(results: Results) -> Results:
    """Say in the folder's manifest that all its files belong together."""
    manifest = {**results.manifest, "complete": True}
    _write_manifest(results.folder, manifest)
    return dataclasses.replace(results, manifest=manifest)


def write_reports(sweep: Sweep, results: Results) -> None:
    """Write the figures and the report in both languages."""
    from analysis.report import write_report

    write_report(sweep, results.metrics, results.contrasts, results.manifest, results.folder)


def load_results(folder: Path) -> tuple[Sweep, Results]:
    """The sweep of a results folder and what it found.

    Raises:
        ConfigError: the folder does not hold the complete results of a sweep.
    """
    name = shown_path(folder)
    if not folder.is_dir():
        raise ConfigError(f"{name}: no such folder")
    _check_there(folder, MANIFEST)
    manifest = _read_manifest(folder / MANIFEST)
    if not manifest["complete"]:
        raise ConfigError(f"{name}: these results are not complete; run their sweep again")
    _check_there(folder, CONFIG, METRICS, CONTRASTS)
    sweep = dataclasses.replace(load_sweep(folder / CONFIG), name=manifest["name"])
    return sweep, _read(folder, manifest)


def _check_there(folder: Path, *files: str) -> None:
    for file in files:
        if not (folder / file).is_file():
            raise ConfigError(f"{shown_path(folder)}: not the results of a sweep; {file} is missing")


def check_folder(folder: Path) -> None:
    """Make sure that `folder` can be written to, or made, with room to spare; leaves nothing behind.

    Raises:
        StoreError: it cannot.
    """
    place = folder / "cells"
    while not os.path.exists(place):
        place = place.parent
    if not place.is_dir():
        raise StoreError(f"{folder}: cannot store results here: {shown_path(place)} is a file, not a folder")
    try:
        with tempfile.NamedTemporaryFile(dir=place, prefix="fairdeal-") as probe:
            probe.write(bytes(PROBE_BYTES))
            probe.flush()
            os.fsync(probe.fileno())
    except OSError as error:
        raise StoreError(f"{folder}: cannot store results here: {error.strerror or error}") from error


def _manifest(
    name: str, groups: Sequence[Group], statuses: Sequence[batch.Status], command: str, seconds: float
) -> dict[str, Any]:
    """The content of manifest.json. It names no folder and no machine."""
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
    _replace(folder / MANIFEST, json.dumps(manifest, indent=2, ensure_ascii=False) + "\n")


def _read_manifest(path: Path) -> dict[str, Any]:
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as problem:
        raise ConfigError(f"{shown_path(path)}: cannot be read: {problem}") from None
    wanted = ("name", "complete", "command", "seed", "games", "seconds", "versions", "sources", "cells")
    if not isinstance(manifest, dict) or any(key not in manifest for key in wanted):
        raise ConfigError(f"{shown_path(path)}: not a manifest of results")
    return manifest


def _read(folder: Path, manifest: Mapping[str, Any]) -> Results:
    """The tables as they are in the files, so that a report made later is made of the same digits."""
    tables = []
    for file, columns in ((METRICS, METRIC_COLUMNS), (CONTRASTS, CONTRAST_COLUMNS)):
        path = folder / file
        try:
            table = read_table(path)
        except (OSError, ValueError) as problem:  # pandas' own errors of parsing are ValueErrors
            raise ConfigError(f"{shown_path(path)}: cannot be read: {problem}") from None
        if tuple(table.columns) != columns:
            raise ConfigError(f"{shown_path(path)}: its columns are not those of this table")
        tables.append(table)
    metrics, contrasts = tables
    return Results(folder, metrics, contrasts, manifest)


def _replace(path: Path, text: str) -> None:
    """Write a text file, replacing an older one at once."""
    temporary = path.with_name(path.name + ".tmp")
    temporary.write_text(text, encoding="utf-8", newline="\n")
    os.replace(temporary, path)


class _Dumper(yaml.SafeDumper):
    """Writes values out every time, where YAML's aliases would say `as above`: files with aliases are refused."""

    def ignore_aliases(self, data: Any) -> bool:
        return True
