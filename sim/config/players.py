"""Players: who decides, read from a YAML file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

import sim.games
from sim.config import document as files
from sim.config.document import ConfigError, Document, KeyPath, read_document
from sim.config.models import FileModel, Title, validate
from sim.config.rulesets import Blame, is_path
from sim.config.values import nearest, shown, unknown_key

MOST_WEIGHT = 1_000_000
"""Keeps a sum of weighted features far inside 64 bits."""

Weight = Annotated[int, Field(ge=-MOST_WEIGHT, le=MOST_WEIGHT)]
Weights = dict[str, dict[str, dict[str, int]]]
"""game -> phase -> feature -> weight; what is not named weighs 0."""


class PlayerFile(FileModel):
    """The keys of a player file."""

    title: Title | None = None
    kind: Literal["random", "weights"]
    games: dict[str, dict[str, dict[str, Weight]]] = {}


@dataclass(frozen=True)
class Player:
    """A way to play: `random` picks uniformly among the legal moves, `weights` the move of the largest weighted sum."""

    name: str
    kind: Literal["random", "weights"]
    title: Mapping[str, str] = field(hash=False)
    weights: Weights = field(hash=False)

    def plays(self, game: str) -> bool:
        """Whether this player knows how to play `game`."""
        return self.kind == "random" or game in self.weights


def load_player(ref: str | Path) -> Player:
    """The player called `ref`: the name of one of the project's own players, or a path to a YAML file.

    Raises:
        ConfigError: for every mistake.
    """
    return read_player(player_path(ref, Path(), ConfigError))


def player_path(ref: str | Path, folder: Path, blame: Blame) -> Path:
    """The file that `ref` means; a relative path starts at `folder`."""
    if is_path(ref):
        path = folder / ref
        if not files.exists(path):
            raise blame(f"{files.shown_path(path)}: no such file")
        return path
    known = {path.stem: path for path in sorted((files.CONFIGS / "players").glob("*.yaml"))}
    if ref not in known:
        raise blame(
            f"no player is called '{shown(ref)}'{nearest(str(ref), known)}; known: {', '.join(known)}"
        )
    return known[str(ref)]


def read_player(path: Path) -> Player:
    """The player of a file."""
    document = read_document(path)
    return make_player(path.stem, validate(document, PlayerFile), document, ())


def make_player(name: str, content: PlayerFile, document: Document, at: KeyPath) -> Player:
    """The player described by `content`, which stands at key path `at` of `document`."""
    at = (*at, "games")
    if content.kind == "random" and content.games:
        raise document.error(at, "a random player has no weights")
    if content.kind == "weights" and not content.games:
        raise document.error(at, "missing; a player of kind weights needs weights for at least one game")
    known = sim.games.games()
    for game, phases in content.games.items():
        if game not in known:
            raise document.error((*at, game), unknown_key(game, known, "game"))
        features = [feature.name for feature in known[game].features]
        for phase, weights in phases.items():
            if phase not in known[game].phases:
                raise document.error((*at, game, phase), unknown_key(phase, known[game].phases, "phase"))
            for feature in weights:
                if feature not in features:
                    raise document.error(
                        (*at, game, phase, feature), unknown_key(feature, features, "feature")
                    )
    title = content.title.words() if content.title else {"en": name, "zh-Hant": name}
    return Player(name, content.kind, title, content.games)
