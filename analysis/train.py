"""Training on the command line: which tasks, where the player files go, and what is shown of them."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.table import Table

from sim.config import ConfigError, Player, Ruleset, check_seats, load_player, load_ruleset
from sim.games import Pair, game
from sim.training import BUDGET, CONFIDENCE, Task, Trained, train, write

FOLDER = Path("reports") / "players"

TEXT = {
    "en": {
        "like": "It keeps to what {like} forbids and prefers.",
        "title": "{name}, {seats} seats: trained with {games:,} games, generations: {generations}",
        "pair": "{name}, {seats} seats: a pair trained with {games:,} games, generations: {generations}",
        "against": "one against a field of",
        "each": "each of a pair against a field of",
        "share": "win share (par {par:.1f} %)",
        "score": "score",
        "deals": "deals",
        "nothing": "Nothing to train: no feature tells moves apart.",
        "start": "No gain found: these are the weights that training starts from; more games may help.",
        "round": "Games are single rounds, not matches.",
        "percent": "{percent:.0f} % intervals.",
        "file": "Written to {path}",
    },
    "zh-Hant": {
        "like": "遵守 {like} 的禁忌與偏好。",
        "title": "{name}，{seats} 人：訓練 {games:,} 局，{generations} 代",
        "pair": "{name}，{seats} 人：搭檔訓練 {games:,} 局，{generations} 代",
        "against": "一家對一桌",
        "each": "搭檔之一對一桌",
        "share": "勝率（平均 {par:.1f} %）",
        "score": "得分",
        "deals": "副牌",
        "nothing": "無可訓練：沒有能分辨著法的特徵。",
        "start": "未見進步：這是訓練起點的權重；可增加局數。",
        "round": "每局為單一回合，而非整場比賽。",
        "percent": "區間為 {percent:.0f} %。",
        "file": "已寫入 {path}",
    },
}


def training_tasks(
    rulesets: Sequence[str],
    against: Sequence[str] | None,
    like: str,
    seats: int,
    games: int | None,
    aim: str,
    seed: int,
    toggles: Mapping[str, str],
    pair: Pair | None = None,
) -> list[Task]:
    """The tasks of a command line. Raises ConfigError for a mistake in any of them."""
    tasks = []
    restrictions, field = load_player(like), tuple(load_player(name) for name in against or ())
    if restrictions.kind not in ("weights", "adapted"):
        raise ConfigError(
            f"--like: {restrictions.name} is a player of kind {restrictions.kind}; it has no weights"
        )
    others = seats - (2 if pair else 1)
    if len(field) > others:
        raise ConfigError(f"--against: {len(field)} players for {others} other seats")
    for name in rulesets:
        ruleset = load_ruleset(name, toggles)
        check_seats(ruleset, seats, lambda text: ConfigError(f"--seats: {text}"))
        for player in field:
            _check_basic(player, ruleset.game)
        if like != "adapted" and not restricted(restrictions, ruleset.game):
            raise ConfigError(f"--like: {restrictions.name} forbids and prefers nothing in {ruleset.game}")
        if aim == "score" and not game(ruleset.game).scored:
            raise ConfigError(f"--aim: {ruleset.game} has no scores")
        if pair:
            check_pair(ruleset, seats, pair, "--pair")
        tasks.append(Task(ruleset, seats, restrictions, field, aim, games or BUDGET, seed, pair))
    return tasks


def restricted(player: Player, name: str) -> bool:
    """Whether the player forbids or prefers anything in a game."""
    return any(by.get(name) for by in (player.forbid, player.prefer))


def check_pair(ruleset: Ruleset, seats: int, pair: Pair | None, blamed: str) -> None:
    """Raise a ConfigError where there can be no pair of partners, of a kind or of any."""
    pairs = game(ruleset.game).pairs
    if not pairs or (pair and pair not in pairs):
        raise ConfigError(f"{blamed}: {ruleset.game} has no features of a partner")
    if seats < 4 or seats % 2:
        raise ConfigError(
            f"{blamed}: partners sit opposite each other, at 4 or 6 seats and so on, not at {seats}"
        )


def _check_basic(player: Player, name: str) -> None:
    if player.kind not in ("random", "weights"):
        raise ConfigError(f"--against: {player.name} is of kind {player.kind}; the field needs basic players")
    if obstacle := player.obstacle(name):
        raise ConfigError(f"--against: {obstacle}")


def announce(task: Task) -> None:
    """Tell that a player is being trained, which takes a while."""
    print(
        f"training a {'pair' if task.pair else 'player'} for {task.ruleset.name}, {task.seats} seats"
        + (f", like {task.like.name}" if restricted(task.like, task.ruleset.game) else ""),
        file=sys.stderr,
        flush=True,
    )


def show_training(task: Task, jobs: int | None, folder: Path | None, language: str) -> tuple[Table, str]:
    """Train, write the player file, and return what is shown of it: a table, and a line that says where it is."""
    announce(task)
    trained = train(task, jobs or os.cpu_count() or 1)
    path = write(trained, folder or FOLDER)
    return _table(trained, language), TEXT[language]["file"].format(path=path)


def _table(trained: Trained, language: str) -> Table:
    task, text = trained.task, TEXT[language]
    title = text["pair" if task.pair else "title"].format(
        name=task.ruleset.name, seats=task.seats, games=trained.games, generations=trained.generations
    )
    notes = {
        "like": restricted(task.like, task.ruleset.game),
        "nothing": not trained.weights,
        "start": trained.weights and not trained.gained,
        "round": task.ruleset.rounds > 1,
        "percent": True,
    }
    caption = " ".join(text[key] for key, wanted in notes.items() if wanted)
    caption = caption.format(percent=100 * CONFIDENCE, like=task.like.title[language])
    table = Table(title=title, title_justify="left", caption=caption, caption_justify="left")
    table.add_column(text["each"] if task.pair else text["against"])
    table.add_column(text[task.aim].format(par=100 / task.seats), justify="right")
    table.add_column(text["deals"], justify="right")
    for name, (estimate, low, high, deals) in trained.measured.items():
        shown = _percent if task.aim == "share" else _number
        table.add_row(name, f"{shown(estimate)} [{shown(low)}, {shown(high)}]", f"{deals:,}")
    return table


def _percent(value: float) -> str:
    return f"{100 * value:.2f} %"


def _number(value: float) -> str:
    return f"{value:.2f}"
