"""Tables on terminals: whatever the width, every figure can be read."""

from __future__ import annotations

import io
import re

import pytest
from rich.cells import cell_len
from rich.console import Console, Group
from rich.table import Table

from analysis.terminal import fitted

ROWS = [
    ("wins of the first seat", "24.80 %", "+0.30 [-0.10, +0.70]", "no clear difference"),
    ("各決策合法著數總和", "265", "+18.7 [+10.1, +27.2]", "無明顯差異"),
    ("turns", "31", "", "higher"),
]
HEADINGS = ("measure", "A", "difference [95 %]", "verdict")


def table() -> Table:
    made = Table(title="A comparison of two rulesets", caption="the same rules")
    for heading in HEADINGS:
        made.add_column(heading, no_wrap=heading in HEADINGS[1:3])
    for row in ROWS:
        made.add_row(*row)
    return made


def shown(width: int) -> list[str]:
    file = io.StringIO()
    console = Console(file=file, width=width)
    console.print(fitted(Group(table()), console))
    return file.getvalue().splitlines()


@pytest.mark.parametrize("width", [24, 32, 40, 60, 68, 69, 70, 80, 100, 200])
def test_nothing_is_cut_at_any_width(width: int) -> None:
    lines = shown(width)
    assert max(map(cell_len, lines)) <= width
    assert "…" not in "".join(lines)
    words = re.sub(r"[^\w%+.]+", " ", "".join(lines))
    for row in ROWS:
        for cell in row[1:3]:
            assert re.sub(r"[^\w%+.]+", " ", cell).strip() in words


def test_a_wide_terminal_gets_a_table_and_a_narrow_one_lines() -> None:
    assert any("wins of the first seat │ 24.80 % │ +0.30 [-0.10, +0.70] │" in line for line in shown(100))
    assert [line.rstrip() for line in shown(40)] == [
        "A comparison of two rulesets",
        "wins of the first seat",
        "  A: 24.80 %",
        "  difference [95 %]: +0.30 [-0.10,",
        "  +0.70]",
        "  verdict: no clear difference",
        "各決策合法著數總和",
        "  A: 265",
        "  difference [95 %]: +18.7 [+10.1,",
        "  +27.2]",
        "  verdict: 無明顯差異",
        "turns",
        "  A: 31   verdict: higher",
        "the same rules",
    ]


def test_a_column_is_narrowed_to_its_longest_word_and_no_further() -> None:
    narrowest = next(width for width in range(20, 200) if any("┃" in line for line in shown(width)))
    text = "\n".join(shown(narrowest))
    assert "difference" in text
    assert "measure" in text
    assert "+0.30 [-0.10, +0.70]" in text
