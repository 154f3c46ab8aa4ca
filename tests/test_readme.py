"""The examples of the README are valid files, and it explains every key."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from sim.config import load_player, load_sweep
from sim.config.families import FamilyFile
from sim.config.groups import Pattern
from sim.config.models import FileModel
from sim.config.players import PlayerFile
from sim.config.sweeps import AnswerFile, AnswerKind, InlineRuleset, SweepFile

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")


def section(title: str) -> str:
    return README.split(f"\n## {title}\n")[1].split("\n## ")[0]


def example(title: str, folder: Path) -> Path:
    (text,) = re.findall(r"```yaml\n(.*?)```", section(title), re.DOTALL)
    path = folder / "example.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_the_example_of_a_sweep_is_one(tmp_path: Path) -> None:
    sweep = load_sweep(example("Write a sweep", tmp_path))
    assert [family.name for family in sweep.families][:2] == ["passing", "old_maid.versions"]
    assert len(sweep.families[0].rulesets) == 4
    assert [answer.kind for answer in sweep.answers[:3]] == ["first_player", "opening_class", "change"]


def test_the_example_of_a_player_is_one(tmp_path: Path) -> None:
    player = load_player(example("Write a player", tmp_path))
    assert player.plays("sevens")
    assert player.title["zh-Hant"] == "吝嗇"


@pytest.mark.parametrize(
    ("title", "model"),
    [
        *(("Write a sweep", model) for model in (SweepFile, FamilyFile, AnswerFile, InlineRuleset)),
        ("Write a player", PlayerFile),
    ],
)
def test_every_key_is_explained(title: str, model: type[FileModel]) -> None:
    text = section(title)
    explained = set(re.findall(r"`(\w+)`", text))
    assert {field.alias or name for name, field in model.model_fields.items()} <= explained


def test_every_word_for_a_key_is_explained() -> None:
    text = section("Write a sweep")
    for word in (*Pattern.__args__, *AnswerKind.__args__):
        assert f"`{word}`" in text
    for word in PlayerFile.model_fields["kind"].annotation.__args__:
        assert f"`{word}`" in section("Write a player")
