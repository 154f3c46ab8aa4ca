"""How fast this machine plays: games and decisions a second, what a second thread adds, start-up, and memory.

Speeds are medians of repetitions in which all cases take turns, so that a disturbance of the machine meets them all. A
searching player's speed is counted in its own decisions with more than one legal move, and in all the time that its
games take. Compiling is measured in a process of its own with an empty cache; the start is that of a real command.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from rich.table import Table

from sim.config import Group, load_player, load_ruleset
from sim.games import game, games

SEATS = 4
RANDOM, GREEDY, SEARCHING = "random", "greedy", "search"
PLAYERS = (RANDOM, GREEDY)
PROGRAMS = Path(__file__).parents[1] / "tests" / "bench"
"""Plain C programs that play a game's default ruleset with random players at `SEATS` seats: GAME.c."""

SECONDS = 0.5
"""About how long one repetition of one case takes."""

FIRST_GAMES = 2000
"""Games played to estimate how many make up `SECONDS`."""

SEARCHING_GAMES = 20
"""The same, where one of the seats searches."""

TEXT: Mapping[str, Mapping[str, str]] = {
    "en": {
        "speed": "Speed: {seats} seats, median of {repeats} repetitions",
        "ruleset": "ruleset",
        "players": "players",
        "games": "games/s, one thread",
        "decisions": "decisions/s, one thread",
        "two": "two threads against one",
        "plain": "{name}: games/s of plain C, and ours against it",
        "start": "Start and memory",
        "searching": "Search: {seats} seats, {playouts} play-outs ({player}), median of {repeats} repetitions",
        "choices": "decisions/s, one thread",
        "games_searching": "games/s, one seat searching",
        "compiling": "compile with an empty cache",
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
        "plain": "{name}：純 C 程式每秒局數，與本程式之比",
        "start": "啟動與記憶體",
        "searching": "搜尋：{seats} 人，每次決策推演 {playouts} 局（{player}），{repeats} 次的中位數",
        "choices": "單執行緒每秒決策數",
        "games_searching": "每秒局數，一家搜尋",
        "compiling": "空快取時的編譯時間",
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
    """All measurements: the cases, what plain C programs reach, seconds by game to compile and to start, and MiB."""

    cases: list[Case]
    plain_c: Mapping[str, list[float]]
    compile: Mapping[str, float]
    start: Mapping[str, float]
    memory: float | None


def run_bench(repeats: int) -> Bench:
    """Measure everything; the speeds `repeats` times."""
    compiling = {name: compile_seconds(name) for name in games()}
    start = {name: start_seconds(name) for name in games()}
    cases = [_case(name, player) for name in games() for player in PLAYERS if load_player(player).plays(name)]
    for case in cases:
        case.calibrate()
    with tempfile.TemporaryDirectory(prefix="fairdeal-") as folder:
        programs = build_programs(Path(folder))
        plain_c: dict[str, list[float]] = {name: [] for name in programs}
        for _ in range(repeats):
            for case in cases:
                case.measure()
                name = case.group.game
                if name in programs and case.group.lineup[0].name == RANDOM:
                    plain_c[name].append(_program_speed(programs[name], case.deals))
    return Bench(cases, plain_c, compiling, start, peak_mebibytes())


@dataclass
class Searching:
    """One ruleset, where one seat searches among random players, and its measurements: a number a repetition."""

    group: Group
    compile: float
    deals: int = SEARCHING_GAMES
    games_per_second: list[float] = field(default_factory=list)
    choices_per_second: list[float] = field(default_factory=list)

    def measure(self) -> None:
        """One repetition: the same deals."""
        from sim.engine import play_seats
        from sim.players import lineup_arrays

        group, played = self.group, game(self.group.game)
        rules = played.rules(group.arms[0].toggles, group.seats)
        lineup = lineup_arrays(played, group.lineup)
        start = time.perf_counter()
        choices = play_seats(played, rules, lineup, group.seed, self.deals, column="choices")
        seconds = time.perf_counter() - start
        self.games_per_second.append(self.deals / seconds)
        self.choices_per_second.append(int(choices[:, 0].sum()) / seconds)


def run_players(repeats: int) -> list[Searching]:
    """Measure the searching player in every game, `repeats` times; how many games that takes is found out before."""
    cases = [
        Searching(_case(name, SEARCHING, RANDOM).group, compile_seconds(name, SEARCHING)) for name in games()
    ]
    for case in cases:
        from sim.engine import compile_for

        compile_for(case.group)
        case.measure()
        case.deals = max(SEARCHING_GAMES, int(SECONDS * case.games_per_second.pop()))
        case.choices_per_second.clear()
    for _ in range(repeats):
        for case in cases:
            case.measure()
    return cases


def build_programs(folder: Path) -> dict[str, Path]:
    """The plain C programs of games, by game, compiled into `folder`; none where there is no gcc or no source."""
    compiler = shutil.which("gcc")
    programs = {}
    for source in sorted(PROGRAMS.glob("*.c")) if compiler else []:
        programs[source.stem] = folder / source.stem
        flags = ("-O3", "-march=native", "-o", str(programs[source.stem]))
        subprocess.run([str(compiler), *flags, str(source)], check=True)
    return programs


def _program_speed(program: Path, deals: int) -> float:
    """Games a second of a plain C program, which plays the same deals with random players."""
    output = subprocess.run(
        [program, str(deals), "1"], stdout=subprocess.PIPE, check=True, encoding="utf-8"
    ).stdout
    return deals / float(output.split()[0])


def _case(game: str, player: str, others: str | None = None) -> Case:
    """One seat of a player, and the others of another one, or of the same."""
    ruleset = load_ruleset(game)
    seats = min(max(SEATS, ruleset.seats[0]), ruleset.seats[1])
    lineup = (load_player(player), *(load_player(others or player),) * (seats - 1))
    return Case(Group(seats, lineup, (ruleset,), (), seed=1, games=1, game=game))


def compile_seconds(game: str, player: str = RANDOM) -> float:
    """Seconds to compile the kernel of a game for a player, in a process of its own with an empty cache."""
    code = "import sys; from analysis.bench import print_compile_seconds as run; run(*sys.argv[1:])"
    with tempfile.TemporaryDirectory(prefix="fairdeal-") as cache:
        return float(_python("-c", code, game, player, NUMBA_CACHE_DIR=cache))


def print_compile_seconds(game: str, player: str) -> None:
    """Compile the kernel of a game and print how long that took: what the process of `compile_seconds` runs."""
    from sim.engine import compile_for

    case = _case(game, player, RANDOM)
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


def _python(*arguments: str, **variables: str) -> str:
    """What Python prints when run with these arguments and variables and this project on its path."""
    root = str(Path(__file__).parents[1])
    path = os.pathsep.join([root, *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = {**os.environ, "PYTHONPATH": path, "PYTHONIOENCODING": "utf-8", **variables}
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


def players_table(cases: Sequence[Searching], language: str) -> Table:
    """The searching players' speeds for the terminal."""
    text = TEXT[language]
    settings = cases[0].group.lineup[0].search
    assert settings is not None
    title = text["searching"].format(
        seats=SEATS,
        playouts=settings.playouts,
        player=settings.plays_out.title[language],
        repeats=len(cases[0].choices_per_second),
    )
    table = Table(title=title, title_justify="left")
    table.add_column(text["ruleset"])
    for heading in ("choices", "games_searching", "compiling"):
        table.add_column(text[heading], justify="right")
    for case in cases:
        choices, speed = median(case.choices_per_second), median(case.games_per_second)
        seconds = text["seconds"].format(value=case.compile)
        decisions = f"{choices:,.0f}" if choices else "–"
        table.add_row(case.group.arms[0].name, decisions, f"{speed:,.0f}", seconds)
    return table


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
    for name, speeds_c in measured.plain_c.items():
        ours = next(case for case in measured.cases if case.group.game == name)
        pairs = zip(ours.games_per_second, speeds_c, strict=True)
        against = median(speed / plain for speed, plain in pairs)
        rest.add_row(text["plain"].format(name=name), f"{median(speeds_c):,.0f}, {against:.2f}")
    memory = text["unknown"] if measured.memory is None else f"{measured.memory:,.0f} MiB"
    rest.add_row(text["memory"], memory)
    return [speeds, rest]
