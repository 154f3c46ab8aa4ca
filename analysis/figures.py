"""The report's figures as files: which are worth drawing, each in every language, as PNG and as SVG.

Equal tables give equal bytes: nothing in a file depends on the time or on a random id. Files whose inputs have not
changed are kept.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.metadata
import json
import os
import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from analysis.plots import (
    cards,
    class_cases,
    classes,
    contrast_words,
    forest,
    outcomes,
    positions,
    steps,
    turns,
)
from analysis.sheet import RC, TEXT, Sheet, encoded, faces, packaged_font
from analysis.view import LANGUAGES, View
from sim.games import Words

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from sim.config import Family

FORMATS = ("png", "svg")
STAMP = "figures.json"
DRAWING = ("answers", "figures", "plots", "sheet", "stats", "view")
"""Modules that decide how a figure looks."""


@dataclass(frozen=True)
class Plot:
    """A figure to draw: its file's stem, the report's topic it belongs to, its title and how to draw it."""

    name: str
    topic: str
    title: Words
    draw: Callable[[Sheet, str], Figure]

    def file(self, language: str, ending: str) -> str:
        """The file's name."""
        return f"{self.name}.{language}.{ending}"


# --- What to draw -----------------------------------------------------------------------------------------------------


def plan(views: Sequence[View]) -> dict[str, list[Plot]]:
    """The figures worth drawing, by game: of a game that stands in a line beside others, with nothing compared, one."""
    return {view.game.name: list(_plots(view, len(views) > 1)) for view in views}


def _plots(view: View, prefixed: bool) -> Iterator[Plot]:
    def plot(name: str, topic: str, title: Words, draw: Callable[[Sheet, str], Figure]) -> Plot:
        stem = re.sub(r"[^\w.+-]+", "_", f"{view.game.name}_{name}" if prefixed else name)
        if prefixed:
            title = {language: f"{view.game.title[language]} · {words}" for language, words in title.items()}
        return Plot(stem, topic, title, draw)

    yield plot(
        "win_share_by_position", "position", _title("title_position"), functools.partial(positions, view)
    )
    if prefixed and not view.comparisons:
        return
    yield plot("outcomes", "endings", _title("title_outcomes"), functools.partial(outcomes, view))
    yield plot("turns", "length", _title("title_turns"), functools.partial(turns, view))
    for partition in view.game.partitions:
        if all(name.isdigit() for name in partition.classes) and class_cases(view, partition.name):
            title = _title("title_class", partition={"en": partition.en, "zh-Hant": partition.zh})
            draw = functools.partial(classes, view, partition.name)
            yield plot(f"win_share_by_{partition.name}", "openings", title, draw)
    if view.keys(view.cases()[0], "win_share_by_card"):
        title = _title("title_card", seats=view.most_seats)
        yield plot("win_share_by_card", "openings", title, functools.partial(cards, view))
    for family in view.families:
        yield from _family_plots(view, family, plot)
    for a, b in _pairs(view):
        title = _title("title_change", a=view.short(a), b=view.short(b))
        draw = functools.partial(
            forest, view, view.compared(a=a, b=b), lambda sheet, c: sheet.say("seats", n=c.seats)
        )
        yield plot(f"change_{view.label(a)}_{view.label(b)}", "changes", title, draw)


def _family_plots(view: View, family: Family, plot: Callable[..., Plot]) -> Iterator[Plot]:
    if family.contrast == "factorial":
        title = _title("title_factorial", family=family.title)
        draw = functools.partial(forest, view, view.compared(family.name), contrast_words)
        yield plot(f"effects_{family.name}", "changes", title, draw)
    elif len(family.rulesets) > 2:
        title = _title("title_steps", family=family.title)
        yield plot(f"steps_{family.name}", "changes", title, functools.partial(steps, view, family))


def _pairs(view: View) -> list[tuple[str, str]]:
    """The changes from one ruleset to another that get a figure: those asked about, and families of two rulesets."""
    asked = [(answer.a, answer.b) for answer in view.questions if answer.a]
    small = [(c.a, c.b) for f in view.families if len(f.rulesets) == 2 for c in view.compared(f.name)]
    known = {(c.a, c.b) for c in view.comparisons if c.differences}
    return [pair for pair in dict.fromkeys([*asked, *small]) if pair in known]


def _title(key: str, **parts: Any) -> Words:
    return {
        language: TEXT[language][key].format(
            **{name: part[language] if isinstance(part, Mapping) else part for name, part in parts.items()}
        )
        for language in LANGUAGES
    }


# --- Writing files ----------------------------------------------------------------------------------------------------


def write_figures(folder: Path, plots: Sequence[Plot], inputs: str) -> list[Path]:
    """Draw the figures into `folder`, or keep those that are there when nothing they show has changed.

    Args:
        folder: made when missing. Figures that an earlier call drew and this one does not are removed.
        plots: what to draw.
        inputs: a digest of everything the figures show. How they are drawn is taken account of here.

    Returns:
        The files, in the plots' order.
    """
    files = [plot.file(language, ending) for plot in plots for language in LANGUAGES for ending in FORMATS]
    folder.mkdir(parents=True, exist_ok=True)
    stamp = folder / STAMP
    before = _read_stamp(stamp)
    digest = hashlib.sha256("\0".join([inputs, _drawing_digest(), *files]).encode()).hexdigest()
    if before.get("inputs") != digest or not _intact(folder, before, files):
        stamp.unlink(missing_ok=True)
        for name in before.get("files", {}):
            (folder / name).unlink(missing_ok=True)
        _draw(folder, plots)
        known = {name: _digest((folder / name).read_bytes()) for name in files}
        _replace(stamp, json.dumps({"inputs": digest, "files": known}, indent=1).encode() + b"\n")
    return [folder / name for name in files]


def _read_stamp(path: Path) -> dict[str, Any]:
    """What the last complete call wrote; nothing when it is missing or damaged."""
    try:
        stamp = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    known = isinstance(stamp, dict) and isinstance(stamp.get("files"), dict)
    return stamp if known and all(re.fullmatch(r"[\w.+-]+", name) for name in stamp["files"]) else {}


def _intact(folder: Path, stamp: Mapping[str, Any], files: Sequence[str]) -> bool:
    known = stamp["files"]
    return set(known) == set(files) and all(
        (folder / name).is_file() and _digest((folder / name).read_bytes()) == known[name] for name in files
    )


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _drawing_digest() -> str:
    """Changes with whatever else decides how a figure looks: the sources, matplotlib, the Chinese face."""
    sources = [Path(__file__).with_name(f"{name}.py") for name in DRAWING]
    parts = [source.read_bytes().replace(b"\r\n", b"\n") for source in sources]
    parts.append(importlib.metadata.version("matplotlib").encode())
    font = packaged_font()
    parts.append(font.name.encode() if font else b"")
    return _digest(b"\0".join(parts))


def _replace(path: Path, content: bytes) -> None:
    temporary = path.with_name(path.name + ".tmp")
    temporary.write_bytes(content)
    os.replace(temporary, path)


def _draw(folder: Path, plots: Sequence[Plot]) -> None:
    import matplotlib as mpl

    families, chinese = faces()
    if not chinese:
        text = "no font with Chinese characters was found: labels in the figures are English"
        warnings.warn(text, stacklevel=2)
    with mpl.rc_context({**RC, "font.family": families}):
        for plot in plots:
            for language in LANGUAGES:
                sheet = Sheet(language if chinese else "en", families)
                figure = plot.draw(sheet, plot.title[sheet.language])
                for ending in FORMATS:
                    _replace(folder / plot.file(language, ending), encoded(figure, ending))
