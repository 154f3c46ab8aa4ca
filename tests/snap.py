"""A tiny game for tests of configuration, so that they stand whatever becomes of the real games."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
import pytest
from pydantic import model_validator

import sim.games
from sim.config import ConfigError
from sim.config import document as files
from sim.games import Feature, Game, Partition, PositionModel, ToggleModel, toggle


class SnapToggles(ToggleModel):
    """A toggle of every sort."""

    reverse_on_ten: bool = toggle("SN-1", True, "Whether a ten reverses.", "十是否反轉。", impact="H")
    limit: int | None = toggle("SN-2", 10, "The hand limit.", "手牌上限。", impact="H", ge=6, le=14)
    when: Literal["at_once", "turn_end"] = toggle("SN-3", "turn_end", "When it is tested.", "何時判定。")
    passing: Literal["no", "yes_free"] = toggle("SN-4", "no", "Whether one may pass.", "可否略過。")
    jokers: Literal[0, 2] = toggle("SN-5", 2, "How many Jokers.", "幾張 Joker。")
    values: Literal["v1.0", "v1.1"] = toggle("SN-6", "v1.1", "Which values.", "哪種值。")
    wrap: Literal[False] = toggle("SN-7", False, "Whether K and A are adjacent.", "K 與 A 是否相連。")

    @model_validator(mode="after")
    def _check(self) -> SnapToggles:
        if self.passing != "no" and not self.jokers:
            raise ValueError("passing needs Jokers")
        return self


class SnapRules(NamedTuple):
    """Rules of the tiny game."""

    seats: int


def snap_rules(toggles: SnapToggles, seats: int) -> SnapRules:
    """Refuses tables for which the cards do not suffice."""
    if toggles.jokers == 0 and seats == 5:
        raise ValueError("too few cards")
    return SnapRules(seats)


SNAP = Game(
    name="snap",
    title={"en": "Snap", "zh-Hant": "搶"},
    prose={"en": "Play cards.", "zh-Hant": "出牌。"},
    Toggles=SnapToggles,
    Position=PositionModel,
    Rules=SnapRules,
    rules=snap_rules,
    state=np.dtype("i8"),
    memory=np.dtype([("nothing", np.int64)]),
    min_seats=2,
    max_seats=5,
    phases=("main", "give"),
    choices={"give": "card"},
    counters=(),
    ratios=(),
    partitions=(Partition("aces", ("0", "1", "2", "3", "4"), "aces", "A 的張數"),),
    features=(Feature("gap", "gap", "差"), Feature("shed", "cards shed", "出牌數")),
    cost={"en": "gap", "zh-Hant": "差"},
    module=sys.modules[__name__],
)


Write = Callable[[str, str], Path]


def snap_project(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    """Make `folder` a project that knows two games, snap and other, and work there; returns how to write files."""
    other = dataclasses.replace(SNAP, name="other")
    monkeypatch.setattr(sim.games, "games", lambda: {"other": other, "snap": SNAP})
    monkeypatch.setattr(files, "CONFIGS", folder / "configs")
    monkeypatch.chdir(folder)

    def to(name: str, text: str) -> Path:
        path = Path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    to("configs/games/snap/default.yaml", "title: {en: Snap, zh-Hant: 搶}\n")
    to("configs/games/snap/v1.yaml", "toggles: {values: v1.0}\n")
    to("configs/games/other/default.yaml", "title: Other\n")
    to("configs/players/random.yaml", "kind: random\n")
    to("configs/players/greedy.yaml", "kind: weights\ngames: {snap: {main: {gap: -40, shed: 25}}}\n")
    return to


def message(function: Callable[..., object], *arguments: object) -> str:
    """The message of the ConfigError that a call raises."""
    with pytest.raises(ConfigError) as caught:
        function(*arguments)
    return str(caught.value)
