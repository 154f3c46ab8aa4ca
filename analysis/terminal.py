"""Tables on a terminal of any width: where a table does not fit, each of its rows stands as a few lines of its own."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from rich.cells import cell_len
from rich.console import Console, Group, RenderableType
from rich.measure import Measurement
from rich.padding import Padding
from rich.table import Column, Table
from rich.text import Text

LEAST = 10
"""A column of running text is not made narrower than this."""

UNBOUNDED = 10_000
INDENT = 2
CHINESE = "[\u2e80-\uffff]"
"""Every character that is broken at its ends, and a few more."""

GAP = "   "
"""Between the parts of a line."""


def fitted(what: RenderableType, console: Console) -> RenderableType:
    """The same for the width of `console`; tables that could not be read there are laid out as lines.

    Columns that may not wrap keep their width, others at least that of their longest word (or `LEAST`, where words may
    be folded; Chinese is broken between characters): a table for which this is too much is given up, as no figure in it
    may be cut. Titles and captions stand on lines of their own, which may be longer than the table is wide.
    """
    if isinstance(what, Group):
        return Group(*(fitted(part, console) for part in what.renderables))
    if not isinstance(what, Table):
        return what
    around = [_line(what.title, "table.title"), _line(what.caption, "table.caption")]
    what.title = what.caption = None
    return Group(*around[:1], _fitted(what, console), *around[1:])


def _line(text: RenderableType | None, style: str) -> RenderableType:
    """A table's title or caption; nothing where there is none."""
    return Text(text, style) if isinstance(text, str) else text or Group()


def _fitted(what: Table, console: Console) -> RenderableType:
    """A table, or its rows laid out as lines."""
    options = console.options.update(width=UNBOUNDED)
    widths = [_widths(column, console) for column in what.columns]
    frame = Measurement.get(console, options, what).maximum - sum(natural for _, natural in widths)
    spare = console.width - frame - sum(least for least, _ in widths)
    if spare < 0:
        return Group(*_lines(what, console))
    for column, (least, natural) in zip(what.columns, widths, strict=True):
        more = min(natural - least, spare)
        column.width, spare = least + more, spare - more
        if not column.no_wrap:
            column.overflow = "fold"
    return what


def _widths(column: Column, console: Console) -> tuple[int, int]:
    """The least width at which a column reads well, and the width it has by nature."""
    options = console.options.update(width=UNBOUNDED)
    cells = [column.header, *column.cells]
    natural = max(Measurement.get(console, options, cell).maximum for cell in cells)
    if column.no_wrap:
        return natural, natural
    least = min(natural, LEAST)
    if column.overflow != "fold":
        words = [word for cell in cells for word in re.split(rf"\s|{CHINESE}", _plain(cell, console))]
        least = max(least, *map(cell_len, words))
    return least, natural


def _lines(table: Table, console: Console) -> Iterator[RenderableType]:
    """For each row its first cell, and under it the others with their headings."""
    headings = [_plain(column.header, console) if table.show_header else "" for column in table.columns]
    rows = zip(*(column.cells for column in table.columns), strict=True)
    for first, *others in rows:
        yield Text(_plain(first, console), style="bold")
        parts = [
            f"{heading}: {text}" if heading else text
            for heading, cell in zip(headings[1:], others, strict=True)
            if (text := _plain(cell, console))
        ]
        for line in _filled(parts, console.width - INDENT):
            yield Padding(Text(line), (0, 0, 0, INDENT), expand=False)


def _plain(cell: RenderableType, console: Console) -> str:
    """A cell's text on one line; between Chinese characters a line's end leaves no space."""
    segments = console.render(cell, console.options.update(width=UNBOUNDED))
    text = "".join(segment.text for segment in segments).strip()
    return re.sub(r"\s+", " ", re.sub(rf"(?<={CHINESE})\s+(?={CHINESE})", "", text))


def _filled(parts: Sequence[str], width: int) -> Iterator[str]:
    """As many parts on a line as fit; none is broken."""
    line = ""
    for part in parts:
        if line and cell_len(line + GAP + part) > width:
            yield line
            line = part
        else:
            line = line + GAP + part if line else part
    if line:
        yield line
