"""Two rulesets on the same deals, compared deal by deal: the table in which A, B and their difference stand."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich import box
from rich.table import Table
from rich.text import Text

from analysis.answers import HEADINGS, VERDICTS, metric_words
from analysis.metrics import IDENTICAL, select
from analysis.sweep import Options, Results, complete, play_groups
from sim.batch import Interrupted
from sim.config import ConfigError, Contrast, Group, Ruleset
from sim.games import games

if TYPE_CHECKING:
    import pandas as pd

    from sim.config import Player

FAMILY = "comparison"

TEXT: Mapping[str, Mapping[str, str]] = {
    "en": {
        "title": "{a} (A) against {b} (B): {seats} seats, {lineup}, {games:,} common deals",
        "difference": "B - A [95 %]",
        "same": "A and B are the same rules.",
    },
    "zh-Hant": {
        "title": "{a}（A）與 {b}（B）：{seats} 人，{lineup}，相同的 {games:,} 副牌",
        "difference": "B - A [95 %]",
        "same": "A 與 B 的規則相同。",
    },
}

SHARES = ("win_share", "outcome")
"""Metrics that are shares: shown in per cent, their differences in percentage points."""


def comparison(a: Ruleset, b: Ruleset, lineup: tuple[Player, ...], seed: int, games: int) -> Group:
    """Both rulesets on the same deals, and the one contrast between them. They may be the same rules.

    Raises:
        ConfigError: the two are of different games, or are different rules of one name.
    """
    if a.game != b.game:
        raise ConfigError(f"{a.name} and {b.name} are different games; compare rulesets of one game")
    if a.name == b.name and a.settings() != b.settings():
        raise ConfigError(f"two different rulesets are called {a.name}; rename a file")
    contrast = Contrast(FAMILY, a.name, b.name, ((0, -1), (1, 1)))
    return Group(len(lineup), lineup, (a, b), (contrast,), seed, games, a.game)


def run_comparison(group: Group, folder: Path | None, options: Options) -> Results:
    """Play a comparison; its tables stay in `folder` when one is given.

    Raises:
        StoreError: the folder cannot be written to; tried before anything is made.
        Interrupted: a signal came; the same call goes on from there.
        KeyboardInterrupt: a signal came and, without a folder, nothing is left to go on from.
    """
    if folder is not None:
        return complete(play_groups(FAMILY, [group], folder, options), {})
    with tempfile.TemporaryDirectory(prefix="fairdeal-") as kept:
        try:
            return play_groups(FAMILY, [group], Path(kept), options)
        except Interrupted as stop:
            raise KeyboardInterrupt from stop


def comparison_table(group: Group, results: Results, language: str) -> Table:
    """The comparison for the terminal: a row a metric, with A, B, the difference and the verdict."""
    text = TEXT[language]
    a, b = (arm.name for arm in group.arms)
    players = [player.title[language] for player in group.lineup]
    lineup = players[0] if len(set(group.lineup)) == 1 else " ".join(players)
    title = text["title"].format(a=a, b=b, seats=group.seats, lineup=lineup, games=group.games)
    same = group.arms[0].settings() == group.arms[1].settings()
    table = Table(
        box=box.SIMPLE_HEAD,
        padding=0,
        pad_edge=False,
        show_edge=False,
        title=Text(title),
        caption=text["same"] if same else None,
        title_justify="left",
        caption_justify="left",
    )
    table.add_column(HEADINGS["metric"][language])
    for heading in ("A", "B", text["difference"]):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column(HEADINGS["p_adjusted"][language], justify="right")
    table.add_column(HEADINGS["verdict"][language])
    for row in results.contrasts.itertuples():
        table.add_row(*_cells(row, group, results.metrics, language))
    return table


def _cells(row: Any, group: Group, metrics: pd.DataFrame, language: str) -> list[str]:
    """The texts of one row of the table."""
    share = row.metric in SHARES
    means = [
        select(metrics, ruleset=arm.name, metric=row.metric, key=row.key)["estimate"].iloc[0]
        for arm in group.arms
    ]
    words = metric_words(games()[group.game], row.metric, row.key)[language]
    verdict = VERDICTS[row.verdict][language]
    difference = "{} [{}, {}]".format(
        *(_difference(value, share) for value in (row.estimate, row.low, row.high))
    )
    if row.verdict == IDENTICAL:
        difference = "0"
    return [words, *(_mean(mean, share) for mean in means), difference, _p_value(row.p_adjusted), verdict]


def _mean(value: float, share: bool) -> str:
    return f"{100 * value:.2f} %" if share else f"{value:.4g}"


def _difference(value: float, share: bool) -> str:
    return f"{100 * value:+.2f}" if share else f"{value:+.3g}"


def _p_value(value: float) -> str:
    return "<0.0001" if value < 0.0001 else f"{value:.4f}"
