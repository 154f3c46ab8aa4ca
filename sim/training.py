"""Weights fitted to a ruleset by self-play, and the `adapted` player that stands for them.

The cross-entropy method (Rubinstein 1999) with noise added to the spread (Szita & Lorincz 2006): a generation of weight
vectors plays common deals, each in every seat, against opponents out of a pool, and the best ones make the next
generation. The pool grows by every mean that has beaten it, so that self-play does not run in circles. The budget is a
number of games, and all randomness comes from the seed: the same task has the same result. Training plays deals of its
own, and what comes out is measured on others: their seeds are none that a sweep can have.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import yaml

from sim.config.document import CONFIGS, MAX_TITLE, ConfigError, read_document, shorten
from sim.config.groups import Group
from sim.config.models import validate
from sim.config.players import Player, PlayerFile, load_player, make_player, read_player
from sim.config.rulesets import Ruleset
from sim.engine import play_seats
from sim.games import SHARE, Game, Pair, game
from sim.jit import cache_root
from sim.players.basic import PAIRED, RANDOM, Lineup, basic_lineup
from sim.store import replace_file

FORMAT = 1

BUDGET = 3_000_000
"""Games, those of the search for features that matter included, after which no generation is begun."""

SCALE = 1000
"""The largest weight of a phase at the start; weights are integers."""

POPULATION, ELITE = 32, 8
SPREAD, NOISE = 0.5, 0.15
"""The standard deviation of the first generation, and what is added to later ones while it fades, in units of SCALE."""

DEALS, MORE_DEALS = 120, 8
"""Deals that the first generation plays, and how many more every generation: its members differ less and less."""

CHECK_EVERY, CHECK_DEALS, PATIENCE = 8, 2000, 4
"""After so many generations the mean is checked against the best so far; so many checks without a gain end it all."""

POOL = 5
"""Opponents at most: the first, and the latest."""

PROBE_DEALS = 150

LONGEST_VERSION = 40
"""Letters of a ruleset's version in the name of a file."""

DOMAIN = -(1 << 63)
"""Added to a seed, gives one that no sweep can have."""

MEASURED_FROM, MEASURED_DEALS = 1 << 40, 10_000
"""The deals on which the result is measured: behind those of the training."""

CONFIDENCE = 0.99

ROUNDING = 1e-12
"""Shares that differ by less are equal."""


class Worth(NamedTuple):
    """The mean worth of a player over deals, each played in every seat, with its Student t interval."""

    estimate: float
    low: float
    high: float
    deals: int

    def shown(self) -> dict[str, float | int]:
        """The numbers as a file keeps them."""
        rounded = {name: round(value, 4) for name, value in self._asdict().items() if name != "deals"}
        return {**rounded, "deals": self.deals, "confidence": CONFIDENCE}


def interval(sample: np.ndarray) -> Worth:
    """The mean of at least two independent values and its interval."""
    from scipy import stats

    n = len(sample)
    half = stats.t.ppf(0.5 + CONFIDENCE / 2, n - 1) * sample.std(ddof=1) / np.sqrt(n)
    return Worth(float(sample.mean()), float(sample.mean() - half), float(sample.mean() + half), n)


def bounded_interval(sample: np.ndarray) -> Worth:
    """As `interval`, of values from 0 to 1.

    A constant sample does not prove that there is nothing else: its interval is widened by the largest share that
    values not seen may have (Clopper & Pearson 1934).
    """
    estimate, low, high, n = interval(sample)
    if np.ptp(sample) < ROUNDING:
        unseen = 1 - ((1 - CONFIDENCE) / 2) ** (1 / n)
        low, high = estimate * (1 - unseen), estimate + (1 - estimate) * unseen
    return Worth(estimate, max(low, 0.0), min(high, 1.0), n)


@dataclass(frozen=True)
class Task:
    """What to train: weights for a ruleset and a number of seats, and how.

    Attributes:
        like: a player whose `forbid` and `prefer` the trained one keeps to.
        against: the field to play against, a player for each other seat (repeated if there are fewer); by default
            weights are trained in self-play.
        aim: what is maximised, the win share or the score.
        budget: games after which no generation is begun.
        pair: given, the seat opposite plays the same weights and counts as much, and the features of a partner may be
            weighed which such a pair knows; whoever plays for himself weighs none of them.
    """

    ruleset: Ruleset
    seats: int
    like: Player
    against: tuple[Player, ...] = ()
    aim: str = "share"
    budget: int = BUDGET
    seed: int = 1
    pair: Pair | None = None

    def content(self) -> dict[str, Any]:
        """All that decides the result, as plain values."""
        played = game(self.ruleset.game)
        return {
            "format": FORMAT,
            "game": played.name,
            "ruleset": self.ruleset.resolved(),
            "seats": self.seats,
            "forbid": self.like.forbid.get(played.name, {}),
            "prefer": self.like.prefer.get(played.name, {}),
            "against": [_basic_content(player, played.name) for player in self.against],
            "aim": self.aim,
            "budget": self.budget,
            "seed": self.seed,
            "phases": played.phases,
            "features": [feature.name for feature in played.features_for(self.pair)],
            **({"pair": self.pair} if self.pair else {}),
        }

    @property
    def digest(self) -> str:
        """SHA-256 (hex) of the content."""
        text = json.dumps(self.content(), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()


def _basic_content(player: Player, name: str) -> list[Any]:
    """All that decides a basic player's moves in a game, as plain values."""
    restrictions = [by.get(name, {}) for by in (player.forbid, player.prefer)]
    return [player.kind, player.weights.get(name, {}), *(restrictions if any(restrictions) else [])]


@dataclass(frozen=True)
class Trained:
    """The result of a task: weights by phase and feature, and how well they do against fields of known players.

    `gained` is whether they are others than those that training starts from.
    """

    task: Task
    weights: Mapping[str, Mapping[str, int]] = field(hash=False)
    measured: Mapping[str, Worth] = field(hash=False)
    games: int
    generations: int
    gained: bool

    def document(self) -> str:
        """The player file (YAML), which says where the weights come from."""
        task, ruleset = self.task, self.task.ruleset
        restrictions = {"forbid": task.like.forbid, "prefer": task.like.prefer}
        kept = {
            key: {ruleset.game: by[ruleset.game]} for key, by in restrictions.items() if ruleset.game in by
        }
        name = shorten(ruleset.name)
        against, like = " ".join(player.name for player in task.against), task.like.name
        title = [f"{'pair ' if task.pair else ''}trained for {name}, {task.seats} seats"]
        title_zh = [f"為 {name} {task.seats} 人訓練{'之搭檔' if task.pair else ''}"]
        if against:
            title.append(f"against {against}")
            title_zh.append(f"對 {against}")
        if kept:
            title.append(f"like {like}")
            title_zh.append(f"如 {like}")
        content = {
            "title": {
                "en": ", ".join(title)[:MAX_TITLE],
                "zh-Hant": "，".join(title_zh)[:MAX_TITLE],
            },
            "kind": "weights",
            "games": {ruleset.game: {phase: dict(named) for phase, named in self.weights.items()}},
            **kept,
            "trained": {
                "digest": task.digest,
                "ruleset": ruleset.name,
                "seats": task.seats,
                "seed": task.seed,
                "budget": task.budget,
                "games": self.games,
                "generations": self.generations,
                "field": [player.name for player in task.against] or "itself",
                "aim": task.aim,
                **({"pair": task.pair} if task.pair else {}),
                "against": {name: worth.shown() for name, worth in self.measured.items()},
            },
        }
        return yaml.safe_dump(content, allow_unicode=True, sort_keys=False, width=110)


def train(task: Task, jobs: int) -> Trained:
    """Fit weights to a task. The result depends on the task alone, not on the number of `jobs` (threads)."""
    played = game(task.ruleset.game)
    names = [name for name in ("greedy", "random") if load_player(name).plays(played.name)]
    fields: dict[str, tuple[Player, ...]] = {name: (load_player(name),) for name in names}
    if task.against:
        fields = {" ".join(player.name for player in task.against): task.against}
    with ThreadPoolExecutor(jobs) as threads:
        arena = Arena(task, threads)
        weighting = Weighting(
            arena, basic_lineup(played, [replace(task.like, kind="weights", weights={})]), task.pair
        )
        first = task.against[0] if task.pair and task.against else load_player(names[0])
        start = weighting.vector(basic_lineup(played, [first]))
        field_ = basic_lineup(played, next(iter(fields.values())))
        best, generations = fit_weights(arena, weighting, start, field_, task)
        games = arena.games
        measured = {
            name: arena.measure(weighting.row(best), basic_lineup(played, players), MEASURED_DEALS)
            for name, players in fields.items()
        }
    return Trained(task, weighting.named(best), measured, games, generations, best is not start)


class Arena:
    """One seat, or a pair, against a field of others, on common deals, in every seat of each."""

    def __init__(self, task: Task, threads: ThreadPoolExecutor) -> None:
        self.game: Game = game(task.ruleset.game)
        self.rules = self.game.rules(task.ruleset.toggles, task.seats)
        self.seats, self.seed, self.aim, self.games = task.seats, task.seed + DOMAIN, task.aim, 0
        lowest_wins = task.aim == "score" and self.game.scored < 0
        self._sign = -1 if lowest_wins else 1
        self._places = placements(task.seats, task.pair is not None)
        self._threads = threads
        self._deal = 0

    def worths(self, rows: Sequence[Lineup], fields: Sequence[Lineup], deals: int) -> np.ndarray:
        """What each of some players is worth on deals not played before: float64, shape (players, deals).

        More is better, even where the lowest score wins. A player is a line-up of one row, a field one of a row, or of
        one for each other seat. The fields share the deals, and all players play the same.
        """
        parts = np.array_split(np.arange(self._deal, self._deal + deals), len(fields))
        tasks = [(row, *pair) for row in rows for pair in zip(fields, parts, strict=True)]
        found = list(self._threads.map(lambda task: self._worth(*task), tasks))
        self._deal += deals
        self.games += len(rows) * deals * len(self._places)
        return self._sign * np.array(
            [np.concatenate(found[k : k + len(fields)]) for k in range(0, len(found), len(fields))]
        )

    def measure(self, row: Lineup, opponents: Lineup, deals: int) -> Worth:
        """The worth of a player against a field, on deals of which no training has any."""
        parts = np.array_split(np.arange(MEASURED_FROM, MEASURED_FROM + deals), 16)
        found = np.concatenate(list(self._threads.map(lambda part: self._worth(row, opponents, part), parts)))
        return bounded_interval(found) if self.aim == "share" else interval(found)

    def _worth(self, row: Lineup, opponents: Lineup, deals: np.ndarray) -> np.ndarray:
        if not len(deals):
            return np.zeros(0)
        worth = np.zeros(len(deals))
        for taken in self._places:
            lineup = seated(row, opponents, taken, self.seats)
            values = seat_worths(
                self.game, self.rules, lineup, self.seed, len(deals), int(deals[0]), aim=self.aim
            )
            worth += values[:, taken].mean(axis=1)
        return worth / len(self._places)


def placements(seats: int, pair: bool) -> list[list[int]]:
    """The seats that a player takes, or a pair: all there are to choose from."""
    return [[s, s + seats // 2] for s in range(seats // 2)] if pair else [[s] for s in range(seats)]


def seated(row: Lineup, opponents: Lineup, taken: Sequence[int], seats: int) -> Lineup:
    """The line-up with one player in the seats `taken` and the others round the table after the first of them."""
    round_ = [(taken[0] + k) % seats for k in range(1, seats)]
    free = [seat for seat in round_ if seat not in taken]
    rows = np.zeros(seats, dtype=np.int64)
    rows[free] = np.arange(len(free)) % len(opponents.kind)
    kind, weights = opponents.kind[rows], opponents.weights[rows]
    kind[list(taken)], weights[list(taken)] = row.kind[0], row.weights[0]
    return Lineup(kind, weights)


def seat_worths(
    played: Game,
    rules: Any,
    lineup: Any,
    seed: int,
    deals: int,
    first: int = 0,
    replay: int = 0,
    aim: str = "share",
    rounds: int = 1,
) -> np.ndarray:
    """What each game, or match of so many rounds, is worth to each seat: float64, shape (deals, N).

    The score, or the win share; a drawn or stalled one gives everybody 1/N of that.
    """
    values = play_seats(played, rules, lineup, seed, deals, first, replay, aim, rounds)
    if aim != "share":
        return values.astype(float)
    shares = values / SHARE
    shares[values.sum(axis=1) == 0] = 1 / rules.seats
    return shares


class Weighting:
    """The weights that matter under a ruleset, as a vector: of features that tell the moves of a phase apart."""

    def __init__(self, arena: Arena, fixed: Lineup, pair: Pair | None = None) -> None:
        """Find them: a feature matters if weighing nothing else changes some game. `fixed` holds restrictions; the
        features of a partner are for pairs only."""
        self.game, self.fixed = arena.game, fixed
        self._kind = np.array([PAIRED]) if pair else fixed.kind
        nothing = np.zeros_like(fixed.weights)
        field_ = Lineup(np.array([RANDOM]), nothing)
        known = self.game.features_for(pair)
        usable = [k for k, feature in enumerate(self.game.features) if feature in known]
        places = [(f, k) for f in range(nothing.shape[1]) for k in usable]
        probes = [Lineup(self._kind, nothing)]
        for phase, feature in places:
            weights = nothing.copy()
            weights[0, phase, feature] = 1
            probes.append(Lineup(self._kind, weights))
        worths = arena.worths(probes, [field_], PROBE_DEALS)
        self.places = [
            place
            for place, worth in zip(places, worths[1:], strict=True)
            if (worth != worths[0]).any() and not fixed.weights[(0, *place)]
        ]

    def vector(self, row: Lineup) -> np.ndarray:
        """The vector of a player's weights, the largest of each phase scaled to 1."""
        scaled = row.weights[0] / np.abs(row.weights[0]).max(axis=1, keepdims=True, initial=1)
        return np.array([scaled[place] for place in self.places])

    def row(self, vector: np.ndarray) -> Lineup:
        """The player of a vector."""
        weights = self.fixed.weights.copy()
        for place, weight in zip(self.places, np.rint(vector * SCALE), strict=True):
            weights[(0, *place)] = int(weight)
        return Lineup(self._kind, weights)

    def named(self, vector: np.ndarray) -> dict[str, dict[str, int]]:
        """The weights of a vector by phase and feature."""
        found: dict[str, dict[str, int]] = {}
        for (phase, feature), weight in zip(self.places, np.rint(vector * SCALE), strict=True):
            named = found.setdefault(self.game.phases[phase], {})
            named[self.game.features[feature].name] = int(weight)
        return found


def fit_weights(
    arena: Arena, weighting: Weighting, start: np.ndarray, first: Lineup, task: Task
) -> tuple[np.ndarray, int]:
    """The best vector found from `start` on within the task's budget, and the generations that took.

    The pool begins with the field `first` and grows, unless the task names the field.
    """
    rng = np.random.default_rng([task.seed, len(start)])
    mean, spread, pool = start, np.full(len(start), SPREAD), [first]
    best, stale, generation = start, 0, 0
    while len(start) and arena.games < task.budget and stale < PATIENCE:
        vectors = mean + spread * rng.standard_normal((POPULATION, len(mean)))
        vectors[0] = mean
        worths = arena.worths([weighting.row(v) for v in vectors], pool, DEALS + MORE_DEALS * generation)
        elite = vectors[np.argsort(-worths.mean(axis=1), kind="stable")[:ELITE]]
        mean = elite.mean(axis=0)
        spread = elite.std(axis=0) + NOISE * max(0.0, 1 - 2 * arena.games / task.budget)
        generation += 1
        ends_early = generation < CHECK_EVERY and arena.games >= task.budget
        if generation % CHECK_EVERY == 0 or ends_early:
            gain = np.subtract(*arena.worths([weighting.row(mean), weighting.row(best)], pool, CHECK_DEALS))
            clear = gain.mean() > gain.std() / np.sqrt(CHECK_DEALS)
            stale = 0 if clear else stale + 1
            if gain.mean() > 0:
                best = mean
            if clear and not task.against:
                pool = [first, *[*pool[1:], weighting.row(mean)][1 - POOL :]]
    return best, generation


# --- The adapted player -----------------------------------------------------------------------------------------------

SHIPPED = CONFIGS / "players" / "adapted"

Notify = Callable[[Task], None]
"""Called before a task that takes a while."""


def fitted(player: Player, ruleset: Ruleset, seats: int, jobs: int, notify: Notify) -> Player:
    """The player who plays for `player` under a ruleset: with trained weights where he, or his play-outs, are adapted.

    They are looked up by the content of their task, among those that come with the project and those trained before,
    and trained where there are none.
    """
    if player.search:
        plays_out, *opponents = (
            fitted(basic, ruleset, seats, jobs, notify) for basic in player.search.players
        )
        return replace(player, search=replace(player.search, plays_out=plays_out, opponents=tuple(opponents)))
    if player.kind != "adapted":
        return player
    found = result(Task(ruleset, seats, player), jobs, notify)
    return replace(found, name=player.name, title=player.title)


def result(task: Task, jobs: int, notify: Notify) -> Player:
    """The player that a task makes, found where the task was done before."""
    player = _find(task)
    if player is None:
        notify(task)
        player = read_player(write(train(task, jobs), cache_root() / "players"))
    return player


def write(trained: Trained, folder: Path) -> Path:
    """Write the player file of a result under a folder, where it is found again by its task; whole or not at all."""
    path = folder / trained.task.ruleset.game / file_name(trained.task)
    path.parent.mkdir(parents=True, exist_ok=True)
    replace_file(path, trained.document().encode())
    return path


def file_name(task: Task) -> str:
    """The name of a task's player file: for people first, then the digest by which it is found."""
    return f"{task.ruleset.version[:LONGEST_VERSION]}-{task.seats}-{task.digest[:12]}.yaml"


def _find(task: Task) -> Player | None:
    """The player of a task that was done before, if its file is sound."""
    for folder in (SHIPPED, cache_root() / "players"):
        for path in sorted((folder / task.ruleset.game).glob(f"*-{task.digest[:12]}.yaml")):
            try:
                document = read_document(path)
                content = validate(document, PlayerFile)
                player = make_player(path.stem, content, document, (), {})
            except ConfigError:
                continue
            if player.kind == "weights" and (content.trained or {}).get("digest") == task.digest:
                return player
    return None


def _basic_players(player: Player) -> tuple[Player, ...]:
    """The player, or those that a searching one plays out with and expects."""
    return player.search.players if player.search else (player,)


def fit_group(group: Group, jobs: int, notify: Notify) -> Group:
    """The group with every adapted player fitted to each arm's ruleset."""
    if not any(basic.kind == "adapted" for player in group.lineup for basic in _basic_players(player)):
        return group
    lineups = [
        tuple(fitted(player, arm, group.seats, jobs, notify) for player in group.lineup) for arm in group.arms
    ]
    return replace(group, fitted=tuple(lineups))
