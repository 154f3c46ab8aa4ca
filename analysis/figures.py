"""The report's figures as files: which are worth drawing, each in every language, as PNG and as SVG.

Equal tables give equal bytes: nothing in a file depends on the time or on a random id. Files whose inputs have not
changed are kept.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.metadata
import json
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
    endings_differ,
    forest,
    outcomes,
    position_cases,
    positions,
    step_measures,
    steps,
    turns,
)
from analysis.sheet import RC, TEXT, Sheet, encoded, faces, packaged_font
from analysis.view import LANGUAGES, View, largest_changes
from sim.games import Words
from sim.store import replace_file

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
            title = {language: _of_game(view, language, words) for language, words in title.items()}
        return Plot(stem, topic, title, draw)

    for metric, title in (("win_share", "title_position"), ("loss_share", "title_losses")):
        if position_cases(view, metric):
            draw = functools.partial(positions, view, metric)
            yield plot(f"{metric}_by_position", "position", _title(title), draw)
    if prefixed and not view.comparisons:
        return
    if endings_differ(view):
        yield plot("outcomes", "endings", _title("title_outcomes"), functools.partial(outcomes, view))
    yield plot("turns", "length", _title("title_turns"), functools.partial(turns, view))
    for partition in view.game.partitions:
        if all(name.isdigit() for name in partition.classes) and class_cases(view, partition.name):
            words = _title("title_class", partition={"en": partition.en, "zh-Hant": partition.zh})
            draw = functools.partial(classes, view, partition.name)
            yield plot(f"win_share_by_{partition.name}", "openings", words, draw)
    if view.keys(view.cases()[0], "win_share_by_card"):
        words = _title("title_card", seats=view.most_seats)
        yield plot("win_share_by_card", "openings", words, functools.partial(cards, view))
    for family in view.families:
        yield from _family_plots(view, family, plot)
    for a, b in _pairs(view):
        words = _title("title_change", a=view.short(a), b=_changed(view, a, b))
        draw = functools.partial(
            forest, view, view.compared(a=a, b=b), lambda sheet, c: sheet.say("seats", n=c.seats)
        )
        yield plot(f"change_{view.label(a)}_{view.label(b)}", "changes", words, draw)


def _of_game(view: View, language: str, words: str) -> str:
    """A title with the game's before it, if it does not begin with that."""
    game = view.game.title[language]
    return words if words.startswith(game) else f"{game} · {words}"


def _changed(view: View, a: str, b: str) -> str:
    """Ruleset b in short; of one made from a by changing toggles only these."""
    changes = b.removeprefix(f"{a}+")
    return changes.replace("=", " ").replace("+", ", ") if changes != b else view.short(b)


def _family_plots(view: View, family: Family, plot: Callable[..., Plot]) -> Iterator[Plot]:
    if family.contrast == "factorial":
        if largest_changes(view.compared(family.name)):
            title = _title("title_factorial", family=family.title)
            draw = functools.partial(forest, view, view.compared(family.name), contrast_words)
            yield plot(f"effects_{family.name}", "changes", title, draw)
    elif len(family.rulesets) > 2 and step_measures(view, family)[0]:
        title = _title("title_steps", family=family.title)
        yield plot(f"steps_{family.name}", "changes", title, functools.partial(steps, view, family))


def _pairs(view: View) -> list[tuple[str, str]]:
    """The changes from one ruleset to another that get a figure: those asked about and families of two rulesets, where
    anything differs at all."""
    asked = [(answer.a, answer.b) for answer in view.questions if answer.a]
    small = [(c.a, c.b) for f in view.families if len(f.rulesets) == 2 for c in view.compared(f.name)]
    known = {(c.a, c.b) for c in view.comparisons if largest_changes([c])}
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
        for name in before.get("files", {}).keys() - set(files):
            (folder / name).unlink(missing_ok=True)
        known = dict(_draw(folder, plots))
        replace_file(stamp, json.dumps({"inputs": digest, "files": known}, indent=1).encode() + b"\n")
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
    """Whether the files are those of the stamp, as they were written."""
    known = stamp["files"]
    if set(known) != set(files):
        return False
    try:
        return all(_digest((folder / name).read_bytes()) == known[name] for name in files)
    except OSError:  # missing, or being removed by another run
        return False


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


def _draw(folder: Path, plots: Sequence[Plot]) -> Iterator[tuple[str, str]]:
    """Draw the figures and write their files; yields each file's name and the digest of its content.

    The digest is not taken from the file, which another run may be replacing.
    """
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
                    name, content = plot.file(language, ending), encoded(figure, ending)
                    replace_file(folder / name, content)
                    yield name, _digest(content)
