"""Players: who decides, read from a YAML file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

import sim.games
from sim.config import document as files
from sim.config.document import ConfigError, Document, KeyPath, read_document, shorten
from sim.config.models import FileModel, Title, validate
from sim.config.rulesets import Blame, is_path
from sim.config.values import nearest, unknown_key

MOST_WEIGHT = 1_000_000
"""Keeps a sum of weighted features far inside 64 bits."""

MOST_SAMPLES = 20_000
"""Each takes memory in every thread: some kilobytes in the largest games."""

Weight = Annotated[int, Field(ge=-MOST_WEIGHT, le=MOST_WEIGHT)]
Weights = dict[str, dict[str, dict[str, int]]]
"""game -> phase -> feature -> weight; what is not named weighs 0."""


Kind = Literal["random", "weights", "search", "adapted"]

Restrictions = dict[str, dict[str, list[str]]]
"""game -> phase -> names of features."""


class PlayerFile(FileModel):
    """The keys of a player file."""

    title: Title | None = None
    kind: Kind
    games: dict[str, dict[str, dict[str, Weight]]] = {}
    forbid: Restrictions = {}
    prefer: Restrictions = {}
    trained: dict[str, Any] | None = None
    playouts: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    samples: Annotated[int, Field(ge=1, le=MOST_SAMPLES)] | None = None
    exploration: Annotated[float, Field(ge=0, le=100)] | None = None
    plays_out: str | None = None
    opponents: list[str] = []
    aim: Literal["share", "score"] | None = None


@dataclass(frozen=True)
class SearchSettings:
    """How a searching player spends its time at a decision.

    Attributes:
        playouts: games played to the end.
        samples: full states that these start from.
        exploration: width of the upper confidence bound, in units of the range of worths seen.
        plays_out: the basic player who plays them, in every seat.
        opponents: basic players that each of the others may be, for what their choices tell; of none they tell nothing.
        aim: what is maximised, the win share or the score.
    """

    playouts: int
    samples: int
    exploration: float
    plays_out: Player
    aim: Literal["share", "score"]
    opponents: tuple[Player, ...] = ()

    @property
    def players(self) -> tuple[Player, ...]:
        """The basic players that it names: who plays out, then those that the others may be."""
        return self.plays_out, *self.opponents


@dataclass(frozen=True)
class Player:
    """A way to play: `random` picks uniformly among the legal moves, `weights` the move of the largest weighted sum,
    `search` the one that does best in play-outs; `adapted` stands for weights trained for the ruleset that is played.

    Weights may be restricted: of the moves of a phase, none is made for which a feature that `forbid` names is larger
    than for another, nor one for which a feature that `prefer` names is smaller.
    """

    name: str
    kind: Kind
    title: Mapping[str, str] = field(hash=False)
    weights: Weights = field(hash=False)
    search: SearchSettings | None = None
    forbid: Restrictions = field(default_factory=dict, hash=False)
    prefer: Restrictions = field(default_factory=dict, hash=False)

    def plays(self, game: str) -> bool:
        """Whether this player knows how to play `game`."""
        return not self.obstacle(game)

    def obstacle(self, game: str) -> str:
        """Why this player cannot play `game`; nothing if it can."""
        if self.search and self.search.aim == "score" and not sim.games.games()[game].scored:
            return f"{self.name} aims at the score, and {game} has none"
        basic = self.search.plays_out if self.search else self
        if basic.kind == "weights" and game not in basic.weights:
            return f"{self.name} has no weights for {game}"
        return ""


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
            f"no player is called '{shorten(str(ref))}'{nearest(str(ref), known)}; known: {', '.join(known)}"
        )
    return known[str(ref)]


def read_player(path: Path) -> Player:
    """The player of a file."""
    document = read_document(path)
    return make_player(path.stem, validate(document, PlayerFile), document, (), {})


def make_player(
    name: str, content: PlayerFile, document: Document, at: KeyPath, others: Mapping[str, PlayerFile]
) -> Player:
    """The player described by `content`, which stands at key path `at` of `document`.

    A searching player may name any of `others`, which stand under `players` of that document.
    """
    title = content.title.words() if content.title else {"en": name, "zh-Hant": name}
    for key in content.model_fields_set - {"title", "kind", *KEYS[content.kind]}:
        raise document.error((*at, key), f"a player of kind {content.kind} has no such key")
    if content.kind == "search":
        return Player(name, content.kind, title, {}, _search_settings(content, document, at, others))
    if content.kind == "weights" and not content.games:
        raise document.error(
            (*at, "games"), "missing; a player of kind weights needs weights for at least one game"
        )
    for key in ("games", "forbid", "prefer"):
        _check_names(getattr(content, key), document, (*at, key))
    for game, phases in content.prefer.items():
        for phase, features in phases.items():
            for k, feature in enumerate(features):
                if feature in content.forbid.get(game, {}).get(phase, ()):
                    text = f"{feature} is both forbidden and preferred"
                    raise document.error((*at, "prefer", game, phase, k), text)
    return Player(name, content.kind, title, content.games, forbid=content.forbid, prefer=content.prefer)


KEYS: Mapping[str, tuple[str, ...]] = {
    "random": (),
    "weights": ("games", "forbid", "prefer", "trained"),
    "search": ("playouts", "samples", "exploration", "plays_out", "aim", "opponents"),
    "adapted": ("forbid", "prefer"),
}
"""The keys that each kind of player has beside title and kind."""


def _check_names(games: Mapping[str, Mapping[str, Iterable[str]]], document: Document, at: KeyPath) -> None:
    """Refuse the name of a game, phase or feature that there is not."""
    known = sim.games.games()
    for game, phases in games.items():
        if game not in known:
            raise document.error((*at, game), unknown_key(game, known, "game"))
        features = [feature.name for feature in known[game].features]
        for phase, named in phases.items():
            if phase not in known[game].phases:
                raise document.error((*at, game, phase), unknown_key(phase, known[game].phases, "phase"))
            for place, feature in enumerate(named):
                where = (*at, game, phase, place if isinstance(named, list) else feature)
                if feature not in features:
                    raise document.error(where, unknown_key(feature, features, "feature"))


PLAYOUTS, PLAYOUTS_A_SAMPLE, EXPLORATION = 100, 5, 2.0
"""The defaults of a searching player."""


def _search_settings(
    content: PlayerFile, document: Document, at: KeyPath, others: Mapping[str, PlayerFile]
) -> SearchSettings:
    """The settings of a searching player, and the basic players that it names."""
    playouts = content.playouts or PLAYOUTS
    samples = content.samples or min(max(1, playouts // PLAYOUTS_A_SAMPLE), MOST_SAMPLES)
    if samples > playouts:
        raise document.error((*at, "samples"), f"{samples} samples for {playouts} play-outs")
    plays_out = _basic_player(
        "random" if content.plays_out is None else content.plays_out,
        document,
        (*at, "plays_out"),
        others,
        "a player who searches cannot play out",
    )
    opponents = [
        _basic_player(
            name, document, (*at, "opponents", k), others, "what a search would choose is not known"
        )
        for k, name in enumerate(content.opponents)
    ]
    exploration = EXPLORATION if content.exploration is None else content.exploration
    aim = content.aim or "share"
    return SearchSettings(playouts, samples, exploration, plays_out, aim, tuple(opponents))


def _basic_player(
    ref: str, document: Document, where: KeyPath, others: Mapping[str, PlayerFile], why_not_search: str
) -> Player:
    """The player that a key of a searching player names: one of `others`, or of a file."""
    at: KeyPath = ()
    if ref in others:
        name, named, at, content = ref, document, ("players", ref), others[ref]
    else:
        path = player_path(ref, document.path.parent, lambda text: document.error(where, text))
        named = read_document(path)
        name, content = path.stem, validate(named, PlayerFile)
    if content.kind == "search":  # asked before its own players are read: they may lead back to it
        raise document.error(where, f"{why_not_search}; name a basic player")
    return make_player(name, content, named, at, {})
