"""How fast this machine plays: games and decisions a second, what a second thread adds, start-up, and memory.

Speeds are medians of repetitions in which all cases take turns, so that a disturbance of the machine meets them all.
Compiling is measured in a process of its own with an empty cache; the start is that of a real command.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from rich.table import Table

from sim.config import Group, load_player, load_ruleset
from sim.games import games

SEATS = 4
PLAYERS = ("random", "greedy")
SECONDS = 0.5
"""About how long one repetition of one case takes."""

FIRST_GAMES = 2000
"""Games played to estimate how many make up `SECONDS`."""

TEXT: Mapping[str, Mapping[str, str]] = {
    "en": {
        "speed": "Speed: {seats} seats, median of {repeats} repetitions",
        "ruleset": "ruleset",
        "players": "players",
        "games": "games/s, one thread",
        "decisions": "decisions/s, one thread",
        "two": "two threads against one",
        "start": "Start and memory",
        "compile": "compile with an empty cache",
        "cached": "command to first game, cached",
        "memory": "peak memory of this process",
        "seconds": "{value:.2f} s",
        "unknown": "not known on this system",
    },
    "zh-Hant": {
        "speed": "速度：{seats} 人，{repeats} 次的中位數",
        "ruleset": "規則",
        "players": "玩法",
        "games": "單執行緒每秒局數",
        "decisions": "單執行緒每秒決策數",
        "two": "兩執行緒與單執行緒之比",
        "start": "啟動與記憶體",
        "compile": "空快取時的編譯時間",
        "cached": "有快取時，從命令到第一局",
        "memory": "此程序的記憶體峰值",
        "seconds": "{value:.2f} 秒",
        "unknown": "此系統無法得知",
    },
}


@dataclass
class Case:
    """One ruleset with one kind of player, and its measurements: a number a repetition."""

    group: Group
    deals: int = FIRST_GAMES
    games_per_second: list[float] = field(default_factory=list)
    decisions_per_second: list[float] = field(default_factory=list)
    threads_ratio: list[float] = field(default_factory=list)

    def calibrate(self) -> None:
        """Find out how many deals take `SECONDS`; compiles on the way."""
        from sim.engine import compile_for

        compile_for(self.group)
        seconds, _ = self._play(1)
        self.deals = max(FIRST_GAMES, 2 * int(self.deals * SECONDS / seconds / 2))

    def measure(self) -> None:
        """One repetition: the same deals on one thread and on two."""
        alone, decisions = self._play(1)
        together, _ = self._play(2)
        self.games_per_second.append(self.deals / alone)
        self.decisions_per_second.append(decisions / alone)
        self.threads_ratio.append(alone / together)

    def _play(self, threads: int) -> tuple[float, int]:
        """Seconds to play all deals on so many threads, and the decisions made in them."""
        from analysis.metrics import arm
        from sim.engine import play_range

        share = self.deals // threads
        start = time.perf_counter()
        with ThreadPoolExecutor(threads) as pool:
            parts = list(pool.map(lambda i: play_range(self.group, i * share, share), range(threads)))
        seconds = time.perf_counter() - start
        return seconds, sum(arm(self.group, part, 0).sums("decisions")[0] for part in parts)


@dataclass(frozen=True)
class Bench:
    """All measurements: the cases, seconds by game to compile and to start, and the peak memory in MiB."""

    cases: list[Case]
    compile: Mapping[str, float]
    start: Mapping[str, float]
    memory: float | None


def run_bench(repeats: int) -> Bench:
    """Measure everything; the speeds `repeats` times."""
    compiling = {name: compile_seconds(name) for name in games()}
    start = {name: start_seconds(name) for name in games()}
    cases = [_case(name, player) for name in games() for player in PLAYERS]
    for case in cases:
        case.calibrate()
    for _ in range(repeats):
        for case in cases:
            case.measure()
    return Bench(cases, compiling, start, peak_mebibytes())


def _case(game: str, player: str) -> Case:
    group = Group(
        SEATS, (load_player(player),) * SEATS, (load_ruleset(game),), (), seed=1, games=1, game=game
    )
    return Case(group)


def compile_seconds(game: str) -> float:
    """Seconds to compile the kernel of a game, in a process of its own with an empty cache."""
    code = (
        "import sys, numba, sim.jit; numba.config.CACHE_DIR = sys.argv[1]; "
        "from analysis.bench import print_compile_seconds; print_compile_seconds(sys.argv[2])"
    )
    with tempfile.TemporaryDirectory(prefix="fairdeal-") as cache:
        return float(_python("-c", code, cache, game))


def print_compile_seconds(game: str) -> None:
    """Compile the kernel of a game and print how long that took: what the process of `compile_seconds` runs."""
    from sim.engine import compile_for

    case = _case(game, PLAYERS[0])
    start = time.perf_counter()
    compile_for(case.group)
    print(time.perf_counter() - start)


def start_seconds(game: str) -> float:
    """Seconds from start to end of the command that shows one game, with compiled kernels; median of three."""
    command = ("-m", "analysis.cli", "replay", game, "--format", "jsonl")
    _python(*command)  # compiles what is not compiled yet
    times = []
    for _ in range(3):
        start = time.perf_counter()
        _python(*command)
        times.append(time.perf_counter() - start)
    return median(times)


def _python(*arguments: str) -> str:
    """What Python prints when run with these arguments and this project on its path."""
    root = str(Path(__file__).parents[1])
    path = os.pathsep.join([root, *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = {**os.environ, "PYTHONPATH": path, "PYTHONIOENCODING": "utf-8"}
    return subprocess.run(
        [sys.executable, *arguments], env=environment, stdout=subprocess.PIPE, check=True, encoding="utf-8"
    ).stdout


def peak_mebibytes() -> float | None:
    """The most memory this process has held so far, or None where the system does not tell."""
    try:
        import resource
    except ImportError:  # Windows
        return None
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 2**20


def bench_tables(measured: Bench, language: str) -> list[Table]:
    """The measurements for the terminal: the speeds, then start and memory."""
    text = TEXT[language]
    title = text["speed"].format(seats=SEATS, repeats=len(measured.cases[0].games_per_second))
    speeds = Table(title=title, title_justify="left")
    for heading in ("ruleset", "players", "games", "decisions", "two"):
        speeds.add_column(text[heading], justify="left" if heading in ("ruleset", "players") else "right")
    for case in measured.cases:
        player = case.group.lineup[0].title[language]
        speed, decisions = median(case.games_per_second), median(case.decisions_per_second)
        ratio = f"{median(case.threads_ratio):.2f}"
        speeds.add_row(case.group.arms[0].name, player, f"{speed:,.0f}", f"{decisions:,.0f}", ratio)
    rest = Table(title=text["start"], title_justify="left", show_header=False)
    for name, seconds in measured.compile.items():
        rest.add_row(f"{name}: {text['compile']}", text["seconds"].format(value=seconds))
    for name, seconds in measured.start.items():
        rest.add_row(f"{name}: {text['cached']}", text["seconds"].format(value=seconds))
    memory = text["unknown"] if measured.memory is None else f"{measured.memory:,.0f} MiB"
    rest.add_row(text["memory"], memory)
    return [speeds, rest]
