"""What two who play together gain, what that costs the others, and whether the record of the games gives them away.

A pair sits in opposite seats of a table of honest players, who were all trained for themselves, with different seeds,
so that they differ in style. A pair's weights are trained against them; it goes by what everybody sees, or each
tells the other its hand. What it gains is measured against honest players in the same seats on the same deals.

The detector knows what everybody can see once a game is over: all moves and, from these, all hands. Of a seat it takes
how the moves it made differ, on the mean, from those it could have made, feature by feature, and how often it had a
choice. A logistic regression with a ridge penalty is fitted to half of the sittings, thresholds are chosen there too,
and all figures are of the other half. Whether it finds collusion, or just a style that it does not know, is seen from
honest players whom it was never shown.

References:
    DeLong, E. R., DeLong, D. M. & Clarke-Pearson, D. L. (1988). Comparing the areas under two or more correlated
        receiver operating characteristic curves. Biometrics 44.
    Hoerl, A. E. & Kennard, R. W. (1970). Ridge regression. Technometrics 12; le Cessie, S. & van Houwelingen, J. C.
        (1992) for logistic regression. Applied Statistics 41.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
from rich.table import Table

from analysis.figures import FORMATS, Plot, write_figures
from analysis.sheet import COLOURS, GREY, LEVEL, Box, Panel, Sheet, handle
from analysis.stats import Estimate, normal_quantile, paired_difference, proportion, unseen
from sim.config import ConfigError, Player, Ruleset, load_player
from sim.games import SHARE, Game, Pair, game
from sim.players.basic import Lineup, basic_lineup
from sim.store import replace_file
from sim.training import Notify, Task, result
from sim.traits import Observer, Traits

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SITTINGS = (1, 10, 50)
"""Games of a sitting."""

BLOCK = max(SITTINGS)
LEAST = 20 * BLOCK
"""Deals at least, so that there are ten of the longest sittings of each kind to learn from and ten to be judged by."""

STYLES = 3
"""Honest players, trained with different seeds; one more is a stranger to the detectors."""

STRANGER = "greedy"
"""Another, whose weights were not made by training."""

RIDGE = 1.0
"""The penalty on the squared weights of standardised traits, in the unit of the log-likelihood."""

ALARMS = (0.01, 0.05)
"""Shares of honest pairs that may be accused."""

CHUNK = 20
"""Blocks that a thread plays at a time."""

TEXT: Mapping[str, Mapping[str, str]] = {
    "en": {
        "gains": "{ruleset}, {seats} seats: a pair in opposite seats among honest players, {games:,} deals",
        "gains_note": "Differences on the same deals from honest players in the same seats; {level} intervals.",
        "pair": "the pair goes by",
        "signals": "what all see",
        "hands": "each other's hands",
        "who": "mean of",
        "partners": "each of the pair",
        "others": "each of the others",
        "measure": "measure",
        "score": "score",
        "share": "win share, %",
        "honest": "honest table",
        "colluding": "with the pair",
        "difference": "difference",
        "detector": "Told from the record of a sitting: do two opposite seats play together?",
        "games": "games",
        "auc": "area under ROC",
        "accuracy": "accuracy, %",
        "hits": "found, % ({alarm} % false)",
        "strangers": "Honest strangers whom the detector accuses, % of sittings",
        "strangers_note": "Players whom the detector never saw. Where it accuses them too, what it knows is a style "
        "and no collusion.",
        "verdict": "claim",
        "above": "above it",
        "below": "below it",
        "open": "undecided",
        "detector_note": "Half of the {n:,} to {m:,} sittings judged have a pair: guessing is right in 50 %. "
        "Thresholds come from other sittings; in brackets the false alarms that they then gave. {level} intervals.",
        "claim": "The game's text claims that an experienced player recognises cheats with an accuracy above "
        "{claim:.0f} %. {found}",
        "reached": "The record of {games} games gives {accuracy} % for a pair that goes by {pair}: {verdict}; it "
        "accuses honest strangers in up to {accused} %.",
        "round": "Games are single rounds, not matches.",
        "title": "{ruleset}: does the record give a pair away?",
        "false": "honest pairs accused, %",
        "true": "colluding pairs found, %",
        "length": "games a sitting: {games}",
        "line": "accuracy of {claim:.0f} %",
        "caption": "{n:,} to {m:,} sittings of each kind, none of which the detector was fitted to.",
    },
    "zh-Hant": {
        "gains": "{ruleset}，{seats} 人：對坐的搭檔與誠實玩家同桌，{games:,} 副牌",
        "gains_note": "與相同牌、相同座位的誠實玩家之差；{level} 信賴區間。",
        "pair": "搭檔依據",
        "signals": "公開訊號",
        "hands": "互報手牌",
        "who": "平均",
        "partners": "搭檔每人",
        "others": "其他每人",
        "measure": "指標",
        "score": "得分",
        "share": "勝率（%）",
        "honest": "誠實桌",
        "colluding": "有搭檔",
        "difference": "差",
        "detector": "由牌局紀錄判斷：對坐兩家是否合夥",
        "games": "每場局數",
        "auc": "ROC 曲線下面積",
        "accuracy": "準確率（%）",
        "hits": "誤判 {alarm} % 時查獲（%）",
        "strangers": "誠實的生客被誤判的場次（%）",
        "strangers_note": "判斷式從未見過這些玩家；若連他們也被誤判，它認的就只是打法，而不是合夥。",
        "verdict": "與所稱相比",
        "above": "更高",
        "below": "不及",
        "open": "未定",
        "detector_note": "判斷 {n:,} 至 {m:,} 場，半數有搭檔，亂猜的準確率為 50 %。門檻取自其他場次，"
        "括號內為實際誤判率（%）。{level} 信賴區間。",
        "claim": "遊戲原文稱，老手識別作弊的準確率在 {claim:.0f} % 以上。{found}",
        "reached": "搭檔依據「{pair}」時，{games} 局紀錄的準確率為 {accuracy} %：{verdict}；"
        "生客被誤判最多達 {accused} %。",
        "round": "每局為單一回合，而非整場比賽。",
        "title": "{ruleset}：牌局紀錄能否識破搭檔",
        "false": "誠實者被誤判（%）",
        "true": "搭檔被查獲（%）",
        "length": "每場 {games} 局",
        "line": "準確率 {claim:.0f} %",
        "caption": "每類 {n:,} 至 {m:,} 場，皆未用於訓練判斷式。",
    },
}


TABLES = ("gains", "detectors", "strangers", "roc", "signs")
FILES = (
    *(f"{name}.csv" for name in TABLES),
    *(f"roc.{language}.{ending}" for language in TEXT for ending in FORMATS),
)


@dataclass(frozen=True)
class Collusion:
    """What was found.

    `gains` has a row per kind of pair, of seats and of measure: means at an honest table and with the pair, their
    paired difference with its interval. `detectors` has a row per kind of pair and length of a sitting, `strangers`
    one per detector and honest player unknown to it, `roc` the points of each one's curve, `signs` the weights of the
    traits in the longest sittings, per standard deviation.
    """

    ruleset: Ruleset
    seats: int
    games: int
    claim: float
    gains: pd.DataFrame
    detectors: pd.DataFrame
    strangers: pd.DataFrame
    roc: pd.DataFrame
    signs: pd.DataFrame


def run_collusion(
    ruleset: Ruleset, seats: int, games: int, budget: int, claim: float, seed: int, jobs: int, notify: Notify
) -> Collusion:
    """Train, or find, honest players and pairs, let them play `games` deals (rounded down to whole blocks), and judge.

    The result does not depend on the number of `jobs` (threads). Raises ConfigError where there are too few deals.
    """
    if games < LEAST:
        raise ConfigError(f"--games: the sittings need {LEAST} deals at least")
    played = game(ruleset.game)
    players = _players(ruleset, seats, budget, jobs, notify)
    rows = players.rows(played)
    hall = _Hall(played, played.rules(ruleset.toggles, seats), rows, seed, jobs)
    blocks = games // BLOCK
    fair, control = hall.play(None, 0, blocks), hall.play(None, blocks, blocks)
    strange = {
        name: hall.play(STYLES + k, 2 * blocks, blocks // 2) for k, name in enumerate(players.strangers)
    }
    gains, detectors, strangers, curves, signs = [], [], [], [], []
    for k, pair in enumerate(players.pairs):
        cheats = hall.play(STYLES + len(strange) + k, 0, blocks)
        gains += [{"pair": pair, **row} for row in _gains(played, seats, fair, cheats)]
        for size in SITTINGS:
            told = detect(control.vectors(size), cheats.vectors(size))
            names = {"pair": pair, "games": size}
            detectors.append({**names, **_detector_row(told, claim)})
            strangers += [
                {**names, "player": name, **_accused(told, record.vectors(size))}
                for name, record in strange.items()
            ]
            curves.append(roc(told.honest, told.colluding).assign(**names))
        signs += [{"pair": pair, **row} for row in _signs(played, told.weights)]
    order = ["pair", "games", "false", "true"]
    return Collusion(
        ruleset,
        seats,
        blocks * BLOCK,
        claim,
        pd.DataFrame(gains),
        pd.DataFrame(detectors),
        pd.DataFrame(strangers),
        pd.concat(curves, ignore_index=True)[order],
        pd.DataFrame(signs),
    )


def _signs(played: Game, weights: np.ndarray) -> Iterator[dict[str, Any]]:
    """A detector's weights of the features, by phase; those of the numbers of decisions come after them."""
    by_phase = weights[: -len(played.phases)].reshape(len(played.phases), -1)
    for phase, of_phase in zip(played.phases, by_phase, strict=True):
        for feature, weight in zip(played.features, of_phase, strict=True):
            yield {"phase": phase, "feature": feature.name, "weight": weight}


class _Players(NamedTuple):
    """Who plays: honest players of `STYLES` styles, strangers by name, pairs, which trained against the honest."""

    honest: list[Player]
    strangers: dict[str, Player]
    pairs: dict[Pair, Player]

    def rows(self, played: Game) -> Lineup:
        """All of them, in this order, for a game."""
        return basic_lineup(played, [*self.honest, *self.strangers.values(), *self.pairs.values()])


def _players(ruleset: Ruleset, seats: int, budget: int, jobs: int, notify: Notify) -> _Players:
    """Train them, or find them."""
    played, like = game(ruleset.game), load_player("adapted")
    aim = "score" if played.scored > 0 else "share"
    *honest, unknown = [
        result(Task(ruleset, seats, like, (), aim, budget, seed), jobs, notify)
        for seed in range(1, STYLES + 2)
    ]
    strangers = {"adapted": unknown}
    if load_player(STRANGER).plays(played.name):
        strangers[STRANGER] = load_player(STRANGER)
    field = tuple(honest[: seats - 2])
    pairs = {
        pair: result(Task(ruleset, seats, like, field, aim, budget, 1, pair), jobs, notify)
        for pair in played.pairs
    }
    return _Players(honest, strangers, pairs)


# --- Sittings ---------------------------------------------------------------------------------------------------------


class Record(NamedTuple):
    """Games of blocks played one after another, of the two seats watched in each: those of the pair, if there is one.

    Attributes:
        sums: float32 [blocks, BLOCK, 2, phases, features], as in `Traits`.
        decisions: int64 [blocks, BLOCK, 2, phases].
        results: int64 [measures, blocks, BLOCK, 2], the shares and scores of the two seats and of the others, summed.
    """

    sums: np.ndarray
    decisions: np.ndarray
    results: np.ndarray

    def vectors(self, games: int) -> np.ndarray:
        """What is known of the two seats of each sitting of so many games: float64 [sittings, traits].

        Means over their decisions, by phase and feature, and how many decisions they had a game, by phase; both are
        means over the two seats.
        """
        blocks, size, *shape = self.sums.shape
        split = blocks * (size // games), games
        sums = self.sums.reshape(*split, *shape).sum(axis=1, dtype=np.float64)
        decisions = self.decisions.reshape(*split, *shape[:-1]).sum(axis=1)
        means = (sums / np.maximum(1, decisions)[..., None]).mean(axis=1)
        return np.concatenate([means.reshape(split[0], -1), decisions.mean(axis=1) / games], axis=1)


class _Hall:
    """Where tables of honest players play, with a pair among them or without."""

    def __init__(self, played: Game, rules: Any, rows: Lineup, seed: int, jobs: int) -> None:
        self._game, self._rules, self._rows, self._seed, self._jobs = played, rules, rows, seed, jobs

    def play(self, pair: int | None, first: int, blocks: int) -> Record:
        """Play blocks of deals with honest players, in two opposite seats the pair of this row of the line-up.

        The players' styles and the two seats watched go round from block to block.
        """
        with ThreadPoolExecutor(self._jobs) as threads:
            parts = np.array_split(np.arange(first, first + blocks), max(1, blocks // CHUNK))
            found = list(threads.map(lambda part: self._play(pair, part), parts))
        return Record(*(np.concatenate([part[k] for part in found], axis=int(k == 2)) for k in range(3)))

    def _play(self, pair: int | None, blocks: np.ndarray) -> Record:
        observer = Observer(self._game, self._rules)
        seats = self._rules.seats
        sums, decisions, results = [], [], []
        for block in blocks.tolist():
            two = [block % (seats // 2), block % (seats // 2) + seats // 2]
            sitting = (np.arange(seats) + block) % STYLES
            if pair is not None:
                sitting[two] = pair
            lineup = Lineup(self._rows.kind[sitting], self._rows.weights[sitting])
            traits = observer.traits(lineup, self._seed, BLOCK, block * BLOCK)
            sums.append(traits.sums[:, two].astype(np.float32))
            decisions.append(traits.decisions[:, two])
            results.append(_results(traits, two))
        return Record(np.array(sums), np.array(decisions), np.stack(results, axis=1))


def _results(traits: Traits, two: Sequence[int]) -> np.ndarray:
    """int64 [measures, games, 2]: shares and scores of two seats, and of the others, summed."""
    values = np.stack([traits.shares, traits.scores])
    own = values[:, :, list(two)].sum(axis=2)
    return np.stack([own, values.sum(axis=2) - own], axis=2)


def _gains(played: Game, seats: int, fair: Record, cheats: Record) -> Iterator[dict[str, Any]]:
    """The rows of the gains: what the two seats, and the others, get with a pair in place of honest players."""
    measures = [("score", 1, 1.0)] if played.scored else []
    measures.append(("share", 0, 100 / SHARE))
    for who, several in enumerate((2, seats - 2)):
        for name, at, value in measures:
            unit = value / several
            before, after = fair.results[at, ..., who].ravel(), cheats.results[at, ..., who].ravel()
            change = after - before
            found = paired_difference(
                len(change),
                int(change.sum()),
                int((change * change).sum()),
                int((change > 0).sum()),
                int((change < 0).sum()),
            )
            yield {
                "who": ("partners", "others")[who],
                "measure": name,
                "honest": float(before.mean()) * unit,
                "colluding": float(after.mean()) * unit,
                "difference": found.estimate * unit,
                "low": found.low * unit,
                "high": found.high * unit,
                "p": found.p,
            }


# --- The detector -----------------------------------------------------------------------------------------------------


class Detection(NamedTuple):
    """A detector and how it judges sittings it was not fitted to.

    Attributes:
        honest, colluding: float64, the log odds that it gives to these sittings.
        threshold: above it a sitting is taken for one with a pair.
        alarms: the thresholds for the false alarms of `ALARMS`.
        bias, weights, centre, scale: the log odds are bias + (x - centre) / scale @ weights.
    """

    honest: np.ndarray
    colluding: np.ndarray
    threshold: float
    alarms: tuple[float, ...]
    bias: float
    weights: np.ndarray
    centre: np.ndarray
    scale: np.ndarray

    def odds(self, sample: np.ndarray) -> np.ndarray:
        """The log odds of sittings ([n, traits])."""
        return _odds(sample, self.bias, self.weights, self.centre, self.scale)


def detect(honest: np.ndarray, colluding: np.ndarray) -> Detection:
    """Fit a detector to the first half of honest and of colluding sittings ([n, traits] each), and judge the rest."""
    known = [sample[: len(sample) // 2] for sample in (honest, colluding)]
    new = [sample[len(sample) // 2 :] for sample in (honest, colluding)]
    sample = np.concatenate(known)
    centre, scale = sample.mean(axis=0), sample.std(axis=0)
    scale[scale < 1e-9] = np.inf
    guilty = np.repeat([False, True], [len(part) for part in known])
    bias, weights = logistic((sample - centre) / scale, guilty)

    line = bias, weights, centre, scale
    fair, cheats, *judged = (_odds(part, *line) for part in (*known, *new))
    alarms = tuple(float(np.quantile(fair, 1 - share, method="higher")) for share in ALARMS)
    return Detection(judged[0], judged[1], best_threshold(fair, cheats), alarms, *line)


def _odds(
    sample: np.ndarray, bias: float, weights: np.ndarray, centre: np.ndarray, scale: np.ndarray
) -> np.ndarray:
    odds: np.ndarray = bias + (sample - centre) / scale @ weights
    return odds


def logistic(x: np.ndarray, y: np.ndarray) -> tuple[float, np.ndarray]:
    """The bias and the weights of a logistic regression of y (bool [n]) on x ([n, k]), the weights with a ridge."""
    from scipy.optimize import minimize

    sign = np.where(y, 1.0, -1.0)

    def loss(w: np.ndarray) -> tuple[float, np.ndarray]:
        margin = sign * (w[0] + x @ w[1:])
        pull = -sign * np.exp(-np.logaddexp(0, margin))
        slope = np.concatenate([[pull.sum()], x.T @ pull + RIDGE * w[1:]])
        return float(np.logaddexp(0, -margin).sum() + RIDGE / 2 * (w[1:] @ w[1:])), slope

    found = minimize(loss, np.zeros(x.shape[1] + 1), jac=True, method="L-BFGS-B", options={"maxiter": 1000})
    return float(found.x[0]), found.x[1:]


def best_threshold(honest: np.ndarray, colluding: np.ndarray) -> float:
    """The log odds above which to accuse, for the largest mean of the shares of both kinds that are judged right."""
    values = np.concatenate([honest, colluding])
    weight = np.repeat([1 / len(honest), -1 / len(colluding)], [len(honest), len(colluding)])
    order = np.argsort(values, kind="stable")
    gain = np.cumsum(weight[order])
    last = np.append(np.diff(values[order]) > 0, True)
    at = int(np.argmax(np.where(last, gain, -np.inf)))
    ends = values[order][at : at + 2]
    return float(ends.mean())


def area(honest: np.ndarray, colluding: np.ndarray) -> Estimate:
    """The area under the ROC curve, with DeLong's interval; where nothing varies, with `unseen` in its place."""
    from scipy.stats import rankdata

    m, n = len(colluding), len(honest)
    ranks = rankdata(np.concatenate([colluding, honest]))
    beaten = (ranks[:m] - rankdata(colluding)) / n
    beaten_by = 1 - (ranks[m:] - rankdata(honest)) / m
    estimate = float(beaten.mean())
    error = np.sqrt(beaten.var(ddof=1) / m + beaten_by.var(ddof=1) / n)
    if error == 0:
        width = unseen(min(m, n))
        low, high = estimate * (1 - width), estimate + (1 - estimate) * width
        return Estimate(estimate, low, high, "constant in the sample")
    half = normal_quantile() * error
    return Estimate(estimate, max(0.0, estimate - half), min(1.0, estimate + half), "DeLong")


def roc(honest: np.ndarray, colluding: np.ndarray, most: int = 400) -> pd.DataFrame:
    """The ROC curve: `false` and `true`, the shares of both kinds accused, at no more than about `most` thresholds."""
    cuts = np.unique(np.concatenate([honest, colluding]))[::-1]
    cuts = cuts[np.unique(np.linspace(0, len(cuts) - 1, most).astype(int))]
    shares = [
        1 - np.searchsorted(np.sort(sample), cuts, side="left") / len(sample)
        for sample in (honest, colluding)
    ]
    return pd.DataFrame({"false": [0.0, *shares[0]], "true": [0.0, *shares[1]]})


def _accused(told: Detection, sample: np.ndarray) -> dict[str, Any]:
    """How often a detector accuses the honest players of these sittings."""
    accused = proportion(int((told.odds(sample) > told.threshold).sum()), len(sample))
    return {"sittings": len(sample), **_columns("accused", accused)}


def _detector_row(told: Detection, claim: float) -> dict[str, Any]:
    """What is said of a detector."""
    right = int((told.colluding > told.threshold).sum() + (told.honest <= told.threshold).sum())
    accuracy = proportion(right, len(told.honest) + len(told.colluding))
    row: dict[str, Any] = {"sittings": len(told.honest) + len(told.colluding)}
    row |= _columns("auc", area(told.honest, told.colluding)) | _columns("accuracy", accuracy)
    for share, threshold in zip(ALARMS, told.alarms, strict=True):
        for name, sample in (("hits", told.colluding), ("alarms", told.honest)):
            found = proportion(int((sample > threshold).sum()), len(sample))
            row |= _columns(f"{name}_{100 * share:.0f}", found)
    verdict = "above" if accuracy.low > claim else "below" if accuracy.high < claim else "open"
    return {**row, "verdict": verdict}


def _columns(name: str, estimate: Estimate) -> dict[str, float]:
    return {name: estimate.estimate, f"{name}_low": estimate.low, f"{name}_high": estimate.high}


# --- Output -----------------------------------------------------------------------------------------------------------


def collusion_tables(found: Collusion, language: str) -> list[Table | str]:
    """What was found, for the terminal."""
    text = TEXT[language]
    tables = _gains_table(found, text), _detector_table(found, text), _strangers_table(found, text, language)
    return [*tables, _claim(found, text), *([text["round"]] if found.ruleset.rounds > 1 else [])]


def _gains_table(found: Collusion, text: Mapping[str, str]) -> Table:
    title = text["gains"].format(ruleset=found.ruleset.name, seats=found.seats, games=found.games)
    caption = text["gains_note"].format(level=LEVEL)
    table = Table(title=title, title_justify="left", caption=caption, caption_justify="left")
    for column in ("pair", "who", "measure"):
        table.add_column(text[column])
    for column in ("honest", "colluding", "difference"):
        table.add_column(text[column], justify="right")
    for row in _rows(found.gains):
        difference = f"{row.difference:+.2f} [{row.low:+.2f}, {row.high:+.2f}]"
        words = text[row.pair], text[row.who], text[row.measure]
        table.add_row(*words, f"{row.honest:.2f}", f"{row.colluding:.2f}", difference)
    return table


def _detector_table(found: Collusion, text: Mapping[str, str]) -> Table:
    sizes = found.detectors.sittings
    caption = text["detector_note"].format(n=sizes.min(), m=sizes.max(), level=LEVEL)
    table = Table(title=text["detector"], title_justify="left", caption=caption, caption_justify="left")
    table.add_column(text["pair"])
    for column in ("games", "auc", "accuracy"):
        table.add_column(text[column], justify="right")
    alarms = [f"{100 * share:.0f}" for share in ALARMS]
    for alarm in alarms:
        table.add_column(text["hits"].format(alarm=alarm), justify="right")
    table.add_column(text["verdict"])
    for row in found.detectors.to_dict("records"):
        area_ = f"{row['auc']:.3f} [{row['auc_low']:.3f}, {row['auc_high']:.3f}]"
        hits = [f"{_percent(row, f'hits_{alarm}')} ({100 * row[f'alarms_{alarm}']:.1f})" for alarm in alarms]
        words = text[row["pair"]], str(row["games"]), area_, _percent(row, "accuracy")
        table.add_row(*words, *hits, text[row["verdict"]])
    return table


def _strangers_table(found: Collusion, text: Mapping[str, str], language: str) -> Table:
    caption = text["strangers_note"]
    table = Table(title=text["strangers"], title_justify="left", caption=caption, caption_justify="left")
    table.add_column(text["pair"])
    table.add_column(text["games"], justify="right")
    for name in found.strangers.player.unique():
        table.add_column(f"{load_player(name).title[language]}", justify="right")
    for (pair, games), rows in found.strangers.groupby(["pair", "games"], sort=False):
        table.add_row(
            text[str(pair)], str(games), *(_percent(row, "accused") for row in rows.to_dict("records"))
        )
    return table


def _claim(found: Collusion, text: Mapping[str, str]) -> str:
    """The accuracy in the longest sittings set against the claim."""
    joint = "" if text is TEXT["zh-Hant"] else " "
    rows = [row for row in found.detectors.to_dict("records") if row["games"] == BLOCK]
    accused = found.strangers[found.strangers.games == BLOCK].groupby("pair").accused.max()
    said = [
        text["reached"].format(
            games=BLOCK,
            accuracy=_percent(row, "accuracy"),
            pair=text[row["pair"]],
            verdict=text[row["verdict"]],
            accused=f"{100 * accused[row['pair']]:.1f}",
        )
        for row in rows
    ]
    return text["claim"].format(claim=100 * found.claim, found=joint.join(said))


def _percent(row: Mapping[Any, Any], name: str) -> str:
    estimate, low, high = (100 * row[key] for key in (name, f"{name}_low", f"{name}_high"))
    return f"{estimate:.1f} [{low:.1f}, {high:.1f}]"


def _rows(frame: pd.DataFrame) -> Iterator[Any]:
    """The rows, whose fields mypy cannot know."""
    return frame.itertuples()


def write_collusion(found: Collusion, folder: Path) -> None:
    """Write the tables as CSV files, and the figure, into a folder, which is made if it is missing."""
    folder.mkdir(parents=True, exist_ok=True)
    inputs = hashlib.sha256(Path(__file__).read_bytes() + f"{found.ruleset.name} {found.claim}".encode())
    for name in TABLES:
        content = getattr(found, name).to_csv(index=False, lineterminator="\n").encode()
        inputs.update(content)
        replace_file(folder / f"{name}.csv", content)
    title = {name: text["title"].format(ruleset=found.ruleset.name) for name, text in TEXT.items()}
    plot = Plot("roc", "collusion", title, lambda sheet, words: _draw(found, sheet, words))
    write_figures(folder, [plot], inputs.hexdigest())


def _draw(found: Collusion, sheet: Sheet, title: str) -> Figure:
    """The ROC curves, a panel for each kind of pair, and where the accuracy claimed would lie."""
    text = TEXT[sheet.language]
    pairs = list(dict.fromkeys(found.roc.pair))
    legend = [handle(text["length"].format(games=size), color=c) for size, c in _colours()]
    legend.append(handle(text["line"].format(claim=100 * found.claim), color=GREY, linestyle="--"))
    sizes = found.detectors.sittings // 2
    caption = [text["caption"].format(n=int(sizes.min()), m=int(sizes.max()))]
    box = Box(left=0.6, bottom=0.5, gap_x=0.6, top=0.3)
    figure, ((*panels,),) = sheet.panels(title, box, [[Panel(2.4, 2.4)] * len(pairs)], caption, legend)
    for axes, pair in zip(panels, pairs, strict=True):
        axes.set_title(f"{text['pair']}{': ' if sheet.language == 'en' else '：'}{text[pair]}")
        for size, colour in _colours():
            curve = found.roc[(found.roc.pair == pair) & (found.roc.games == size)]
            axes.plot(100 * curve["false"], 100 * curve["true"], color=colour, linewidth=1.2)
        ends = np.array([0.0, 200 * (1 - found.claim)])
        axes.plot(ends, ends + 100 * (2 * found.claim - 1), color=GREY, linestyle="--", linewidth=0.8)
        axes.set(xlim=(-2, 102), ylim=(-2, 102), xlabel=text["false"], ylabel=text["true"])
    return figure


def _colours() -> Iterator[tuple[int, str]]:
    """The sittings' lengths and their colours."""
    return zip(SITTINGS, COLOURS, strict=False)
