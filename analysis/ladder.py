"""How much skill there is in a ruleset: a round-robin of players, what decides a game, and which decisions matter.

Every pair of players meets as one seat against a field of the other, on common deals, in every seat of each deal. From
these win shares come strengths on the Elo scale, by the model in which a seat's chance is in proportion to the strength
of its player (Plackett 1975, Luce 1959), fitted by weighted least squares. What decides a game is told apart by playing
every deal several times with the players rotated round the table: an analysis of variance whose terms are unbiased
(expected mean squares of the balanced crossed design; Searle, Casella & McCulloch 1992), with bootstrap intervals.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from rich.table import Table
from scipy import stats

from analysis.stats import Estimate, proportion
from sim.config import Player, Ruleset
from sim.engine import Table as GameTable
from sim.games import SHARE, Game, game
from sim.players import Search, lineup_arrays
from sim.store import replace_file
from sim.training import CONFIDENCE, Worth, bounded_interval, seat_worths

LADDER = ("random", "greedy", "adapted", "search_adapted")
"""The usual players."""

REPLAYS = 4
"""How often every deal is played with every rotation of the players, for the analysis of variance."""

BOOTSTRAPS = 400
CHUNK, CHUNK_PLAYOUTS = 250, 10_000
"""Deals that a thread plays at a time, and play-outs a decision: an interruption waits for them."""

PROBES = 400
"""Play-outs at a decision, shared equally among its moves, to see whether the best and the worst of them differ."""

SIGNIFICANT = 0.01

TEXT = {
    "en": {
        "title": "{ruleset}, {seats} seats: win share of one seat against a field of another player (par {par:.1f} %)",
        "comma": ", ",
        "colon": ": ",
        "then": "; ",
        "corner": "one of | against",
        "elo": "Strength (Elo scale, {zero} = 0) and the best against each field",
        "player": "player",
        "rating": "Elo",
        "ceiling": "best against a field of it",
        "decides": "What decides a game: share of the variance of a seat's win share",
        "term": "decided by",
        "share": "share",
        "deal": "the deal",
        "seat": "the seat",
        "chance": "chance after the deal",
        "skill": "who sits there",
        "both": "who sits there with which deal",
        "players": "players: {names}; {deals:,} deals, each played {replays} times in {seats} rotations",
        "matter": "Decisions that matter",
        "matter_text": "{share} of {n:,} decisions with more than one move: play-outs tell their moves apart "
        "(1 % of decisions would be taken for such by chance); {choices:.1f} such choices a seat and game.",
        "plain": "{deals:,} deals for pairs without a search",
        "searching": "{deals:,} deals for pairs with a search",
        "intervals": "{percent:.0f} % intervals",
        "no_search": "Decisions that matter are told where somebody searches.",
        "rounds": "A game is a match of {rounds} rounds; the decisions that matter are those of its first round.",
    },
    "zh-Hant": {
        "title": "{ruleset}，{seats} 人：一家對一桌其他玩法的勝率（平均 {par:.1f} %）",
        "comma": "、",
        "colon": "：",
        "then": "；",
        "corner": "一家｜對一桌",
        "elo": "實力（Elo 分，{zero} = 0）與對各桌的最佳成績",
        "player": "玩法",
        "rating": "Elo",
        "ceiling": "對一桌此玩法的最佳者",
        "decides": "勝負由什麼決定：一家勝率變異的占比",
        "term": "決定者",
        "share": "占比",
        "deal": "發牌",
        "seat": "座位",
        "chance": "發牌後的運氣",
        "skill": "由誰坐",
        "both": "由誰拿到哪副牌",
        "players": "玩家：{names}；{deals:,} 副牌，每副以 {seats} 種輪替各打 {replays} 次",
        "matter": "關鍵決策",
        "matter_text": "有選擇的 {n:,} 次決策中占 {share}：推演能分出著法好壞（純屬偶然者約 1 %）；"
        "每家每局有選擇 {choices:.1f} 次。",
        "plain": "無搜尋的組合 {deals:,} 副牌",
        "searching": "有搜尋的組合 {deals:,} 副牌",
        "intervals": "區間為 {percent:.0f} %",
        "no_search": "有搜尋的玩法時才會評估關鍵決策。",
        "rounds": "一局為 {rounds} 回合的比賽；關鍵決策只看第一回合。",
    },
}


@dataclass(frozen=True)
class Ladder:
    """What was found.

    `pairs` has a row per (player, field): estimate, low, high of the win share, and its deals. `ratings` a row per
    player: elo, low, high. `variance` a row per term: share, low, high. `matter` is the share of decisions whose moves
    differ, over `decisions` of them, with `choices` decisions of more than one move a seat and game. A game is a match
    where the ruleset has rounds; `variance` is of `variance_players`, who are two at least.
    """

    ruleset: Ruleset
    seats: int
    players: tuple[Player, ...]
    pairs: pd.DataFrame
    ratings: pd.DataFrame
    variance: pd.DataFrame
    variance_players: tuple[Player, ...]
    variance_deals: int
    matter: Estimate | None
    decisions: int
    choices: float


def run_ladder(
    ruleset: Ruleset,
    players: Sequence[Player],
    seats: int,
    games: int,
    search_games: int,
    seed: int,
    jobs: int,
) -> Ladder:
    """Play a ladder of players who are fitted to the ruleset already.

    `games` and `search_games` are numbers of deals, two at least.
    """
    played = game(ruleset.game)
    with ThreadPoolExecutor(jobs) as threads:
        hall = _Hall(played, played.rules(ruleset.toggles, seats), ruleset.rounds, seed, threads)
        rows = []
        for a in players:
            for b in players:
                if a is not b:
                    worth = hall.pair(a, b, search_games if a.search or b.search else games)
                    rows.append((a.name, b.name, *worth))
        pairs = pd.DataFrame(rows, columns=["player", "field", "estimate", "low", "high", "deals"])
        basic = [player for player in players if not player.search]
        compared = (basic if len(basic) > 1 else list(players))[:seats]
        most = search_games if any(player.search for player in compared) else games
        deals = max(50, most // (2 * REPLAYS))
        values = hall.replays(compared, deals)
    identity = [k % len(compared) for k in range(seats)]
    told, decisions, probed = _matter(ruleset, players, seats, seed, max(4, search_games // 25))
    return Ladder(
        ruleset,
        seats,
        tuple(players),
        pairs,
        ratings(pairs, [player.name for player in players], seats),
        variance_shares(values, identity, seed),
        tuple(compared),
        deals,
        proportion(told, decisions) if decisions else None,
        decisions,
        decisions / max(1, probed * seats),
    )


class _Hall:
    """Where the games of a ladder are played."""

    def __init__(self, played: Game, rules: Any, rounds: int, seed: int, threads: ThreadPoolExecutor) -> None:
        self._game, self._rules, self._rounds, self._seed = played, rules, rounds, seed
        self._threads = threads

    def pair(self, a: Player, b: Player, deals: int) -> Worth:
        """The win share of one seat of `a` among `b`, a mean over the seats on each deal."""
        seats = range(self._rules.seats)
        parts = _parts((a, b), deals)
        tasks = [
            (tuple(a if p == seat else b for p in seats), part, 0, [seat]) for seat in seats for part in parts
        ]
        found = list(self._threads.map(lambda task: self._shares(*task), tasks))
        return bounded_interval(np.concatenate(found).reshape(len(seats), deals).mean(axis=0))

    def replays(self, players: Sequence[Player], deals: int) -> np.ndarray:
        """Win shares by (deal, rotation, replay, seat); in rotation k seat p has player (p - k) mod N, repeated."""
        seats = self._rules.seats
        parts = _parts(players, deals)
        tasks = [
            (tuple(players[(p - k) % seats % len(players)] for p in range(seats)), part, replay, range(seats))
            for k in range(seats)
            for replay in range(REPLAYS)
            for part in parts
        ]
        found = np.concatenate(list(self._threads.map(lambda task: self._shares(*task), tasks)))
        return found.reshape(seats, REPLAYS, deals, seats).transpose(2, 0, 1, 3)

    def _shares(
        self, round_: tuple[Player, ...], deals: np.ndarray, replay: int, seats: Sequence[int]
    ) -> np.ndarray:
        """The win shares of some seats: float64, shape (deals, seats)."""
        lineup = lineup_arrays(self._game, round_)
        first = int(deals[0])
        worths = seat_worths(
            self._game, self._rules, lineup, self._seed, len(deals), first, replay, rounds=self._rounds
        )
        return worths[:, list(seats)]


def _parts(players: Sequence[Player], deals: int) -> list[np.ndarray]:
    """The numbers of the deals, in parts that take no more than seconds each."""
    playouts = max(player.search.playouts if player.search else 1 for player in players)
    size = max(1, min(CHUNK, CHUNK_PLAYOUTS // playouts))
    return np.array_split(np.arange(deals), -(-deals // size))


def ratings(pairs: pd.DataFrame, names: Sequence[str], seats: int) -> pd.DataFrame:
    """Strengths on the Elo scale, the first player's 0, with intervals.

    A seat of strength s among N - 1 of strength t wins with probability 10^(s/400) / (10^(s/400) + (N-1) 10^(t/400)).
    The log odds of the measured shares - of the middles of their intervals, which are never 0 or 1 - are fitted by
    weighted least squares.
    """
    z = stats.norm.ppf(0.5 + CONFIDENCE / 2)
    half = ((pairs.high - pairs.low) / (2 * z)).to_numpy()
    share = ((pairs.high + pairs.low) / 2).to_numpy()
    error = np.maximum(half, 1e-6) / (share * (1 - share))
    odds = np.log(share * (seats - 1) / (1 - share))
    design = np.array(
        [[(row.player == name) - (row.field == name) for name in names[1:]] for row in _rows(pairs)],
        dtype=float,
    )
    weight = 1 / error**2
    covariance = np.linalg.inv(design.T @ (design * weight[:, None]))
    strength = covariance @ (design.T @ (weight * odds))
    # Where the model does not fit, the intervals widen with the residuals.
    residual = odds - design @ strength
    freedom = max(1, len(odds) - len(strength))
    inflation = max(1.0, float(weight @ residual**2) / freedom)
    scale = 400 / np.log(10)
    elo = np.concatenate([[0.0], strength]) * scale
    spread = np.concatenate([[0.0], np.sqrt(np.diag(covariance) * inflation)]) * scale * z
    return pd.DataFrame({"player": names, "elo": elo, "low": elo - spread, "high": elo + spread})


TERMS = ("deal", "seat", "skill", "both", "chance")


def variance_terms(values: np.ndarray, identity: Sequence[int]) -> np.ndarray:
    """The variance of a seat's result by term, in the order of `TERMS`; unbiased, so that a term may be negative.

    `values` is indexed by (deal, rotation, replay, seat); `identity` names the player who sits in seat p in rotation 0,
    equal numbers being equal players.
    """
    deals, seats, replays, _ = values.shape
    player = np.array([[identity[(p - k) % seats] for p in range(seats)] for k in range(seats)])
    cell = values.mean(axis=2)  # deal, rotation, seat
    chance = values.var(axis=2, ddof=1).mean()
    by_seat = cell.mean(axis=(0, 1))
    by_player = np.array([cell[:, player == i].mean() for i in range(max(identity) + 1)])
    centred = cell - by_seat - by_player[player] + cell.mean()
    of_deal = centred.mean(axis=1)  # deal, seat
    rest = centred - of_deal[:, None]
    # Within a deal and seat: the players' means over replays; seats - 1 degrees of freedom.
    both = rest.var(axis=1, ddof=1).mean() - chance / replays
    deal = of_deal.var(axis=0, ddof=1).mean() - (both + chance / replays) / seats
    noise = cell.var(axis=0, ddof=1).mean() / deals
    seat = by_seat.var() - of_deal.var(axis=0, ddof=1).mean() / deals
    count = np.bincount(identity, minlength=len(by_player))
    skill = np.average((by_player - cell.mean()) ** 2, weights=count) - noise / seats
    return np.array([deal, seat, skill, both, chance])


def variance_shares(values: np.ndarray, identity: Sequence[int], seed: int) -> pd.DataFrame:
    """Each term's share of the variance, with a percentile bootstrap interval over deals."""
    rng = np.random.default_rng([seed, len(values)])

    def shares(sample: np.ndarray) -> np.ndarray:
        terms: np.ndarray = variance_terms(sample, identity).clip(min=0)
        shared: np.ndarray = terms / max(terms.sum(), 1e-300)
        return shared

    found = shares(values)
    again = np.array([shares(values[rng.integers(0, len(values), len(values))]) for _ in range(BOOTSTRAPS)])
    tail = 50 * (1 - CONFIDENCE)
    low, high = np.percentile(again, [tail, 100 - tail], axis=0)
    return pd.DataFrame({"term": TERMS, "share": found, "low": low, "high": high})


def _matter(
    ruleset: Ruleset, players: Sequence[Player], seats: int, seed: int, games: int
) -> tuple[int, int, int]:
    """How many decisions' moves differ in play-outs, how many had more than one move, and in how many games.

    All seats search, each move gets as many play-outs, and a chi-square test of homogeneity is made of their wins.
    """
    searching = next((player for player in players if player.search), None)
    if searching is None or searching.search is None:
        return 0, 0, 0
    settings = replace(searching.search, playouts=PROBES, samples=PROBES // 4, exploration=1e6, aim="share")
    probing = replace(searching, search=settings)
    played = game(ruleset.game)
    table = GameTable(played, played.rules(ruleset.toggles, seats), (probing,) * seats, seed)
    search = table.lineup
    assert isinstance(search, Search)
    told = decisions = 0
    for number in range(games):
        table.deal(number)
        over = table.begin()
        while not over:
            n = len(table.legal()[0])
            move = table.choose()
            if n > 1:
                decisions += 1
                told += _differ(search.visits[:n], search.worth[:n] / SHARE)
            over = table.make(move)
    return told, decisions, games


def _differ(visits: np.ndarray, wins: np.ndarray) -> bool:
    """Whether moves that won `wins` of `visits` play-outs differ (chi-square test of homogeneity)."""
    tried = visits > 0
    visits, wins = visits[tried], wins[tried]
    p = wins.sum() / visits.sum()
    if not 0 < p < 1 or len(visits) < 2:
        return False
    statistic = ((wins - visits * p) ** 2 / (visits * p * (1 - p))).sum()
    return bool(stats.chi2.sf(statistic, len(visits) - 1) < SIGNIFICANT)


TABLES = ("pairs", "ratings", "variance")
FILES = tuple(f"{name}.csv" for name in TABLES)


def write_ladder(ladder: Ladder, folder: Path) -> None:
    """Write the tables as CSV files into a folder, which is made if it is missing."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, file in zip(TABLES, FILES, strict=True):
        text = getattr(ladder, name).to_csv(index=False, lineterminator="\n")
        replace_file(folder / file, text.encode())


def ladder_tables(ladder: Ladder, language: str) -> list[Table | str]:
    """The ladder for the terminal."""
    text = TEXT[language]
    title = {player.name: player.title[language] for player in ladder.players}
    par = 100 / ladder.seats
    heading = text["title"].format(ruleset=ladder.ruleset.name, seats=ladder.seats, par=par)
    cross = Table(title=heading, title_justify="left")
    cross.add_column(text["corner"])
    for name in title.values():
        cross.add_column(name, justify="right")
    cell = {
        (row.player, row.field): f"{_percent(row.estimate)} [{_percent(row.low)}, {_percent(row.high)}]"
        for row in _rows(ladder.pairs)
    }
    for a in title:
        cross.add_row(title[a], *(cell.get((a, b), "–") for b in title))
    elo = Table(title=text["elo"].format(zero=title[ladder.players[0].name]), title_justify="left")
    for column in ("player", "rating", "ceiling"):
        elo.add_column(text[column], justify="right" if column == "rating" else "left")
    for row in _rows(ladder.ratings):
        against = ladder.pairs[ladder.pairs.field == row.player]
        best = against.loc[against.estimate.idxmax()]
        value = f"{round(row.elo)} [{round(row.low)}, {round(row.high)}]"
        elo.add_row(
            title[row.player], value, f"{title[best.player]}{text['colon']}{cell[best.player, row.player]}"
        )
    return [cross, elo, _variance_table(ladder, text, language), *_remarks(ladder, text)]


def _variance_table(ladder: Ladder, text: dict[str, str], language: str) -> Table:
    names = text["comma"].join(player.title[language] for player in ladder.variance_players)
    caption = text["players"].format(
        names=names, deals=ladder.variance_deals, replays=REPLAYS, seats=ladder.seats
    )
    table = Table(title=text["decides"], title_justify="left", caption=caption, caption_justify="left")
    table.add_column(text["term"])
    table.add_column(text["share"], justify="right")
    for row in _rows(ladder.variance):
        value = f"{_percent(row.share)} [{_percent(row.low)}, {_percent(row.high)}]"
        table.add_row(text[row.term], value)
    return table


def _remarks(ladder: Ladder, text: dict[str, str]) -> list[str]:
    remarks = []
    if ladder.matter is not None:
        estimate, low, high, _ = ladder.matter
        share = f"{_percent(estimate)} [{_percent(low)}, {_percent(high)}]"
        told = text["matter_text"].format(share=share, n=ladder.decisions, choices=ladder.choices)
        remarks.append(f"{text['matter']}{text['colon']}{told}")
    else:
        remarks.append(text["no_search"])
    if ladder.ruleset.rounds > 1:
        remarks.append(text["rounds"].format(rounds=ladder.ruleset.rounds))
    searching = [player.name for player in ladder.players if player.search]
    with_search = ladder.pairs.player.isin(searching) | ladder.pairs.field.isin(searching)
    parts = [
        text[key].format(deals=deals.iloc[0])
        for key, deals in (
            ("plain", ladder.pairs.deals[~with_search]),
            ("searching", ladder.pairs.deals[with_search]),
        )
        if len(deals)
    ]
    remarks.append(text["then"].join([*parts, text["intervals"].format(percent=100 * CONFIDENCE)]))
    return remarks


def _rows(frame: pd.DataFrame) -> Iterator[Any]:
    """The rows, whose fields mypy cannot know."""
    return frame.itertuples()


def _percent(value: float) -> str:
    return f"{100 * value:.1f} %"
