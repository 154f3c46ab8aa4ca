"""Every preset's golden game is played again and compared line by line; a preset without one fails."""

from __future__ import annotations

import pytest

from tests.golden import FOLDER, NAMES, lines_of, path_of


@pytest.mark.parametrize("name", NAMES)
def test_the_golden_game_is_played_again(name: str) -> None:
    assert path_of(name).exists(), f"no golden log for {name}: run python -m tests.golden"
    assert lines_of(name) == path_of(name).read_text(encoding="utf-8").splitlines()


def test_no_golden_log_is_left_over() -> None:
    assert {path_of(name) for name in NAMES} == set(FOLDER.rglob("*.jsonl"))
