"""The command `fairdeal`.

Exit codes: 0 done, 1 our fault, 2 the user's input is wrong, 3 interrupted but resumable (130 when there is nothing to
resume). Results go to stdout; progress and messages, one line each, to stderr. Either may be closed, or its reader
gone: that changes nothing else. Whatever takes long to import is imported by the command that needs it.
"""

from __future__ import annotations

import contextlib
import errno
import json
import math
import os
import shlex
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import IO, TYPE_CHECKING, Annotated, Any, Literal

import typer
from typer.core import TyperGroup

if TYPE_CHECKING:
    from rich.console import RenderableType

    from analysis.sweep import Results
    from sim.config import Player, Ruleset, Sweep

SEATS = 4
"""Seats when neither seats nor players are named."""

PIPE_WIDTH = 160
"""Width of tables that do not go to a terminal."""

MOST = 2**63 - 1

DISK_ERRORS = (
    *(errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS),
    *(errno.EACCES, errno.EPERM, errno.EIO, errno.EBADF),
)
"""What the user can put right when writing fails; any other error of the system is our fault."""

_POSITION_WORDS = {
    "en": {"legal": "Legal moves:", "pass": "pass", "events": "What happens:", "state": "Afterwards:"},
    "zh-Hant": {"legal": "可以出的牌：", "pass": "不出", "events": "過程：", "state": "之後："},
}


PATIENCE = 1.0
"""Seconds within which several signals mean one interruption."""


@dataclass
class _Call:
    """A command line being run, and whether typing it again would go on from where it is interrupted."""

    words: list[str]
    resumable: bool = False


class _Interrupt:
    """Handles SIGINT and SIGTERM: raises KeyboardInterrupt, but not again before `PATIENCE` is over.

    What the first one sets going (temporary files are removed, threads left, a message written) is thus not broken off
    by a user who presses Ctrl-C several times.
    """

    def __init__(self) -> None:
        self._last = -math.inf

    def __call__(self, number: int, frame: FrameType | None) -> None:
        before, self._last = self._last, time.monotonic()
        if self._last - before > PATIENCE:
            raise KeyboardInterrupt


class _Commands(TyperGroup):
    """The commands, with our own exit codes and messages in place of typer's."""

    def main(self, args: Sequence[str] | None = None, *_: Any, **__: Any) -> Any:
        """Run the command of `args` (sys.argv by default) and exit."""
        given = sys.argv[1:] if args is None else list(args)
        code = _exit_code(self, given)
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except OSError:  # what failed was told already, if there was anybody to tell it to
                _drop(stream)
        sys.exit(code)


def _filled(text: str) -> str:
    """The value of an option or argument that names a file or the like: the empty text names the current folder."""
    if not text.strip():
        raise typer.BadParameter("it is empty")
    return text


def _folder(text: str) -> Path:
    return Path(_filled(text))


app = typer.Typer(
    cls=_Commands,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Measures what the rules of a card game do: plays millions of games per ruleset and reports what it found.",
)

Language = Annotated[Literal["en", "zh-Hant"], typer.Option("--lang", help="Language of the output.")]
Jobs = Annotated[
    int | None, typer.Option(metavar="N", min=1, max=1024, help="Threads; by default one a processor.")
]
Games = Annotated[int, typer.Option(metavar="N", min=1, max=10**12, help="Deals to play under each ruleset.")]
Seed = Annotated[int, typer.Option(metavar="S", min=0, max=MOST, help="Seed of the deals.")]
OneRuleset = Annotated[
    str, typer.Argument(metavar="RULESET", parser=_filled, help="A ruleset: game/version or a file.")
]
Seats = Annotated[
    int | None,
    typer.Option(metavar="N", min=1, max=100, help="Seats; fewer players are repeated round the table."),
]
Players = Annotated[
    list[str] | None,
    typer.Option(
        metavar="PLAYER ...",
        parser=_filled,
        help="Who plays, by seat: names of players, or paths of player files.",
    ),
]
Toggles = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Set a toggle; may be given several times."),
]
Out = Annotated[Path | None, typer.Option(metavar="DIR", parser=_folder, help="Folder for the results.")]


@app.callback(invoke_without_command=True)
def _top(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Show the version.")] = False,
) -> None:
    if version:
        from analysis.versions import fairdeal

        typer.echo(f"fairdeal {fairdeal()}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@app.command()
def sweep(
    context: typer.Context,
    file: Annotated[
        str, typer.Argument(metavar="FILE|NAME", parser=_filled, help="A sweep file, or a sweep's name.")
    ] = "default",
    jobs: Jobs = None,
    games: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, max=10**12, help="Deals a table, in place of the file's numbers."),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(metavar="S", min=0, max=MOST, help="Seed, in place of the file's.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", parser=_folder, help="Results folder; else reports/NAME.")
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume/--fresh", help="Use stored results, or play all anew.")
    ] = True,
    chunk: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, max=10**9, help="Most games a thread plays before it saves them."),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Set `games` or `seed` of the file."),
    ] = None,
    lang: Language = "en",
) -> None:
    """Play a sweep and write its tables, figures and reports."""
    call: _Call = context.obj
    call.resumable = True
    start = time.perf_counter()
    from analysis.sweep import REPORTS, Options, run_sweep
    from sim.config import load_sweep

    given = {key: str(value) for key, value in (("games", games), ("seed", seed)) if value is not None}
    overrides = _settings(settings)
    if overrides.keys() & given.keys():  # what an option replaces must be right all the same
        load_sweep(file, overrides)
    plan = load_sweep(file, {**overrides, **given})
    folder = out or REPORTS / plan.name
    results = run_sweep(plan, folder, Options(jobs, chunk, resume, _portable(call.words)))
    _show_summary(plan, results, lang)
    _show_end(results.manifest["games"], time.perf_counter() - start, folder / f"report.{lang}.md", lang)


@app.command()
def report(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", parser=_folder, help="A results folder of `fairdeal sweep`.")
    ],
    lang: Language = "en",
) -> None:
    """Make the figures and reports of a results folder anew from its files."""
    from analysis.sweep import check_folder, load_results, write_reports

    plan, results = load_results(folder)
    check_folder(folder)
    write_reports(plan, results)
    _show_summary(plan, results, lang)
    typer.echo(folder / f"report.{lang}.md")


@app.command()
def compare(
    context: typer.Context,
    a: Annotated[str, typer.Argument(metavar="A", parser=_filled, help="A ruleset: game/version or a file.")],
    b: Annotated[
        str | None,
        typer.Argument(metavar="B", parser=_filled, help="Another one; with --set, A when left out."),
    ] = None,
    settings: Toggles = None,
    games: Games = 100_000,
    players: Players = None,
    seats: Seats = None,
    seed: Seed = 1,
    jobs: Jobs = None,
    out: Out = None,
    lang: Language = "en",
) -> None:
    """Compare two rulesets deal by deal; --set changes toggles of the second."""
    if b is None and not settings:
        raise typer.BadParameter("name two rulesets, or one and --set KEY=VALUE", param_hint="B")
    call: _Call = context.obj
    call.resumable = out is not None
    from analysis.compare import comparison, comparison_table, run_comparison
    from analysis.sweep import Options
    from sim.config import ConfigError, check_seats, load_ruleset

    first, second = load_ruleset(a), load_ruleset(b or a, _settings(settings))
    names = players or ["random"]
    lineup = _lineup(names, seats or _seats_for(names), first)
    check_seats(second, len(lineup), lambda text: ConfigError(f"--seats: {text}"))
    group = comparison(first, second, lineup, seed, games)
    results = run_comparison(group, out, Options(jobs, command=_portable(call.words)))
    _show(comparison_table(group, results, lang))


@app.command()
def replay(
    ruleset: Annotated[
        str,
        typer.Argument(metavar="RULESET", parser=_filled, help="A ruleset: game/version or a file."),
    ],
    seed: Seed = 1,
    game: Annotated[int, typer.Option(metavar="D", min=0, max=MOST, help="Number of the deal.")] = 0,
    players: Players = None,
    seats: Seats = None,
    form: Annotated[
        Literal["text", "jsonl"], typer.Option("--format", help="For people or for programs.")
    ] = "text",
    settings: Toggles = None,
    lang: Language = "en",
) -> None:
    """Show one game, event by event: the very game that a sweep counts."""
    from analysis.train import announce
    from sim.config import load_ruleset
    from sim.trace import replay as play
    from sim.trace import to_text
    from sim.training import fitted

    rules = load_ruleset(ruleset, _settings(settings))
    names = players or ["random"]
    lineup = _lineup(names, seats or _seats_for(names), rules)
    jobs = os.cpu_count() or 1
    log = play(rules, tuple(fitted(p, rules, len(lineup), jobs, announce) for p in lineup), seed, game)
    for line in to_text(log, lang) if form == "text" else map(_json_line, log):
        typer.echo(line)


@app.command()
def position(
    file: Annotated[str, typer.Argument(metavar="FILE", parser=_filled, help="A position file.")],
    as_json: Annotated[bool, typer.Option("--json", help="For programs.")] = False,
    lang: Language = "en",
) -> None:
    """Show the legal moves of a position, and what a given line of moves does."""
    from sim.position import play_position

    answer = play_position(file)
    for line in [_json_line(answer)] if as_json else _position_lines(answer, lang):
        typer.echo(line)


@app.command()
def rules(
    game: Annotated[str, typer.Argument(metavar="GAME", parser=_filled, help="A game's name.")],
    lang: Language = "en",
) -> None:
    """Explain a game: its rules, its toggles with their values, its rulesets."""
    from sim.config import describe_game

    typer.echo(describe_game(game, lang), nl=False)


@app.command()
def check(
    files: Annotated[list[str], typer.Argument(metavar="FILE ...", parser=_filled, help="YAML files.")],
) -> None:
    """Check ruleset, player, sweep and position files."""
    from sim.config import ConfigError, check_file

    wrong = 0
    for file in files:
        try:
            typer.echo(check_file(file))
        except ConfigError as mistake:
            wrong += 1
            _message(str(mistake))
    if wrong:
        raise typer.Exit(2)


@app.command()
def schema(
    kind: Annotated[
        str,
        typer.Argument(
            metavar="KIND", parser=_filled, help="player, sweep, position, or a game's name for its rulesets."
        ),
    ],
) -> None:
    """Print the JSON schema of a kind of file, for editors."""
    from sim.config import json_schema

    typer.echo(json.dumps(json_schema(kind), indent=2, ensure_ascii=False))


@app.command()
def train(
    rulesets: Annotated[
        list[str],
        typer.Argument(metavar="RULESET ...", parser=_filled, help="Rulesets: game/version or files."),
    ],
    against: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PLAYER ...", parser=_filled, help="Train against this field instead of by self-play."
        ),
    ] = None,
    like: Annotated[
        str,
        typer.Option(metavar="PLAYER", parser=_filled, help="Keep to what this player forbids and prefers."),
    ] = "adapted",
    seats: Seats = None,
    games: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            max=10**12,
            help="Games to train with; finding out which features matter comes first and counts too.",
        ),
    ] = None,
    aim: Annotated[Literal["share", "score"], typer.Option(help="What to maximise.")] = "share",
    pair: Annotated[
        Literal["signals", "hands"] | None,
        typer.Option(help="Train two who sit opposite: by what all see, or telling each other their hands."),
    ] = None,
    seed: Seed = 1,
    settings: Toggles = None,
    jobs: Jobs = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", parser=_folder, help="Folder for the player files.")
    ] = None,
    lang: Language = "en",
) -> None:
    """Fit a player's weights to a ruleset, and measure how well they do."""
    from analysis.sweep import check_folder
    from analysis.train import FOLDER, show_training, training_tasks

    toggles = _settings(settings)
    tasks = training_tasks(rulesets, against, like, seats or SEATS, games, aim, seed, toggles, pair)
    check_folder(out or FOLDER, (), sorted({task.ruleset.game for task in tasks}))
    for task in tasks:
        table, remark = show_training(task, jobs, out, lang)
        _show(table)
        _tell(remark)


@app.command()
def ladder(
    ruleset: OneRuleset,
    players: Players = None,
    seats: Seats = None,
    games: Annotated[
        int, typer.Option(metavar="N", min=2, max=10**12, help="Deals that each pair of players plays.")
    ] = 10_000,
    search_games: Annotated[
        int | None,
        typer.Option(metavar="N", min=2, max=10**12, help="Deals where somebody searches; else a 20th."),
    ] = None,
    seed: Seed = 1,
    settings: Toggles = None,
    jobs: Jobs = None,
    out: Out = None,
    lang: Language = "en",
) -> None:
    """Tell how much skill a ruleset has room for: players against each other, and what decides a game.

    Players meet in pairs, one seat of the one among seats of the other; by default random, greedy, adapted and
    searching ones.
    """
    from analysis.ladder import FILES, LADDER, ladder_tables, run_ladder, write_ladder
    from analysis.sweep import check_folder
    from analysis.train import announce
    from sim.config import ConfigError, check_seats, load_player, load_ruleset
    from sim.training import fitted

    rules, jobs, seats = (
        load_ruleset(ruleset, _settings(settings)),
        jobs or os.cpu_count() or 1,
        seats or SEATS,
    )
    check_seats(rules, seats, lambda text: ConfigError(f"--seats: {text}"))
    names = players or [name for name in LADDER if load_player(name).plays(rules.game)]
    named = {player.name: player for player in _players(names, rules)}
    if len(named) < 2:
        raise ConfigError("--players: a ladder needs two different players at least")
    if out:
        check_folder(out, FILES, ())
    chosen = [fitted(player, rules, seats, jobs, announce) for player in named.values()]
    found = run_ladder(rules, chosen, seats, games, search_games or max(2, games // 20), seed, jobs)
    if out:
        write_ladder(found, out)
    for part in ladder_tables(found, lang):
        _show(part)


@app.command()
def collusion(
    ruleset: OneRuleset,
    seats: Seats = None,
    games: Games = 100_000,
    training_games: Annotated[
        int | None,
        typer.Option(metavar="N", min=100_000, max=10**12, help="Games to train each player with."),
    ] = None,
    claim: Annotated[
        float, typer.Option(metavar="X", min=0.5, max=1, help="The accuracy that the game's text claims.")
    ] = 0.9,
    seed: Seed = 1,
    settings: Toggles = None,
    jobs: Jobs = None,
    out: Out = None,
    lang: Language = "en",
) -> None:
    """Tell what two who play together gain, and whether the record of the games gives them away."""
    from analysis.collusion import FILES, collusion_tables, run_collusion, write_collusion
    from analysis.sweep import check_folder
    from analysis.train import announce, check_pair
    from sim.config import ConfigError, check_seats, load_ruleset
    from sim.training import BUDGET

    rules, seats = load_ruleset(ruleset, _settings(settings)), seats or SEATS
    check_seats(rules, seats, lambda text: ConfigError(f"--seats: {text}"))
    check_pair(rules, seats, None, "collusion")
    if out:
        check_folder(out, FILES, ())
    jobs = jobs or os.cpu_count() or 1
    found = run_collusion(rules, seats, games, training_games or BUDGET, claim, seed, jobs, announce)
    if out:
        write_collusion(found, out)
    for part in collusion_tables(found, lang):
        _show(part)


@app.command()
def bench(
    repeats: Annotated[
        int, typer.Option(metavar="N", min=1, max=1000, help="Repetitions of every speed.")
    ] = 5,
    players: Annotated[
        bool, typer.Option("--players", help="Measure the searching players instead.")
    ] = False,
    lang: Language = "en",
) -> None:
    """Measure how fast this machine plays."""
    from analysis.bench import bench_tables, players_table, run_bench, run_players

    tables = (
        [players_table(run_players(repeats), lang)] if players else bench_tables(run_bench(repeats), lang)
    )
    for table in tables:
        _show(table)


def main() -> None:
    """The entry point of `fairdeal`."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:  # closed by whoever started us: nobody wants to read it
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
        elif hasattr(stream, "reconfigure"):
            # A terminal of another encoding shows ? for what it cannot, instead of ending the program.
            stream.reconfigure(encoding="utf-8", errors="replace")
    interrupt = _Interrupt()
    for number in (signal.SIGINT, signal.SIGTERM):
        # An ignored signal stays ignored: a shell sets that for the background jobs of a script.
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, interrupt)
    try:
        app()
    finally:
        _ignore_signals()


def _exit_code(commands: _Commands, given: list[str]) -> int:
    """Run a command line and turn whatever ends it into a message and an exit code."""
    call = _Call(given)
    for word in given:
        if any("\ud800" <= letter <= "\udfff" for letter in word):  # how Python passes on other bytes
            return _message(f"fairdeal: '{word}' is not text in UTF-8; use another name")
    try:
        code = _run(commands, call)
        sys.stdout.flush()
        return code
    except typer.TyperException as mistake:
        command = getattr(getattr(mistake, "ctx", None), "command_path", "fairdeal")
        return _message(f"{command}: {mistake.format_message()}", 2)
    except BrokenPipeError:  # whoever reads our output has seen enough
        _drop(sys.stdout)
        return 0
    except SystemExit as end:  # what rich makes of a broken pipe
        if not isinstance(end.__context__, BrokenPipeError):
            raise
        return 0
    except KeyboardInterrupt:
        return _stopped(call, "interrupted")
    except _interrupted() as stop:
        return _stopped(call, str(stop))
    except _mistakes() as mistake:
        return _message(str(mistake), 2)
    except OSError as problem:
        if problem.errno not in DISK_ERRORS:
            raise
        _drop(sys.stdout)
        return _message(f"{problem.filename or 'output'}: {problem.strerror or problem}", 2)


def _run(commands: _Commands, call: _Call) -> int:
    try:
        with commands.make_context("fairdeal", _spread_players(call.words), obj=call) as context:
            commands.invoke(context)
    except typer.Exit as end:
        return end.exit_code
    return 0


def _mistakes() -> tuple[type[Exception], ...]:
    """What the user can put right; looked up only when something is raised."""
    from sim.config import ConfigError
    from sim.store import StoreError

    return ConfigError, StoreError


def _message(text: str, code: int = 2) -> int:
    """Tell the user on one line, if anybody reads it."""
    line = "".join(sign if sign.isprintable() else "\N{REPLACEMENT CHARACTER}" for sign in text)
    with contextlib.suppress(OSError):
        print(line, file=sys.stderr)
    return code


def _drop(stream: IO[str]) -> None:
    """Send what is still to be written to nowhere, or Python would complain about it when it ends."""
    with contextlib.suppress(OSError), open(os.devnull, "wb") as nowhere:
        os.dup2(nowhere.fileno(), stream.fileno())


def _spread_players(given: Sequence[str]) -> list[str]:
    """The command line with `--players a b,c` written as `--players a --players b --players c`, `--against` too.

    Everything up to the next option counts, which typer's own options cannot do.
    """
    words, spread = list(given), []
    while words:
        word = words.pop(0)
        option, equals, value = word.partition("=")
        flag = given[0] == "bench"  # whose --players takes no names
        if option not in ("--players", "--against") or flag:
            spread.append(word)
            continue
        named = [value] if equals else []
        while words and not words[0].startswith("-"):
            named.append(words.pop(0))
        players = [player for part in named for player in part.split(",") if player]
        spread += [part for player in players or [""] for part in (option, player)]
    return spread


def _stopped(call: _Call, text: str) -> int:
    _ignore_signals()
    if not call.resumable:
        return _message(text, 130)
    again = shlex.join(["fairdeal", *(word for word in call.words if word != "--fresh")])
    return _message(f"{text}; nothing is lost. To go on: {again}", 3)


def _ignore_signals() -> None:
    """From now on only a message is left to write; Python would otherwise let signals kill it while it ends."""
    for number in (signal.SIGINT, signal.SIGTERM):
        if isinstance(signal.getsignal(number), _Interrupt):
            signal.signal(number, signal.SIG_IGN)


def _interrupted() -> type[Exception]:
    from sim.batch import Interrupted

    return Interrupted


def _settings(given: Sequence[str] | None) -> dict[str, str]:
    """KEY=VALUE options as a mapping."""
    settings = {}
    for word in given or ():
        key, equals, value = word.partition("=")
        if not (key and equals and value):
            raise typer.BadParameter(f"'{word}' is not KEY=VALUE", param_hint="--set")
        if key in settings:
            raise typer.BadParameter(f"{key} is set twice", param_hint="--set")
        settings[key] = value
    return settings


def _seats_for(names: Sequence[str]) -> int:
    """The number of seats where none is given: one a player; a single player fills the usual table."""
    return len(names) if len(names) > 1 else SEATS


def _lineup(names: Sequence[str], seats: int, ruleset: Ruleset) -> tuple[Player, ...]:
    """The players of all seats, those named repeated round the table."""
    from sim.config import ConfigError, check_seats

    players = _players(names, ruleset)
    check_seats(ruleset, seats, lambda text: ConfigError(f"--seats: {text}"))
    if len(names) > seats:
        raise ConfigError(f"--players: {len(names)} players for {seats} seats")
    return tuple(players[seat % len(players)] for seat in range(seats))


def _players(names: Sequence[str], ruleset: Ruleset) -> list[Player]:
    """The players of these names, who all know the game."""
    from sim.config import ConfigError, load_player

    players = [load_player(name) for name in names]
    named: dict[str, Player] = {}
    for player in players:
        if named.setdefault(player.name, player) != player:
            raise ConfigError(f"--players: two players are called {player.name}; rename one of the files")
        if obstacle := player.obstacle(ruleset.game):
            raise ConfigError(f"--players: {obstacle}")
    return players


def _portable(given: Sequence[str]) -> str:
    """The command line for the manifest, with no path that holds on this machine only."""
    from sim.config.document import shown_path

    words = []
    for word in given:
        option, equals, value = word.rpartition("=")
        if os.path.isabs(value):
            short = shown_path(Path(value))
            value = Path(value).name if os.path.isabs(short) else short
        words.append(option + equals + value)
    return shlex.join(["fairdeal", *words])


def _position_lines(answer: dict[str, Any], language: str) -> Iterator[str]:
    """A position's answer for people: legal moves, what happened, and the state in a position file's own keys."""
    from sim.cards import card_text
    from sim.games import games
    from sim.trace import to_text

    words = _POSITION_WORDS[language]
    costs = {game.cost["en"]: game.cost[language] for game in games().values()}
    yield words["legal"]
    for move in answer["legal"]:
        cost = ", ".join(f"{costs[name]} {value}" for name, value in move.items() if name != "cards")
        yield f"  {' '.join(map(card_text, move['cards'])) or words['pass']} ({cost})"
    yield words["events"]
    log = answer["events"] + ([answer["outcome"]] if answer["outcome"] else [])
    yield from (f"  {line}" for line in to_text(log, language))
    yield words["state"]
    for key, value in answer["state"].items():
        yield f"  {key}: {json.dumps(value)}".replace('"', "")


def _json_line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _show_summary(sweep: Sweep, results: Results, language: str) -> None:
    from analysis.report import terminal_summary

    _show(terminal_summary(sweep, results.metrics, results.contrasts, language))


def _show_end(games: dict[str, int], seconds: float, path: Path, language: str) -> None:
    """The last lines of a sweep: how much was played, how long it took, where the report is."""
    words = {
        "en": "{total:,} games: {played:,} played, {found:,} found; {seconds:.1f} s",
        "zh-Hant": "共 {total:,} 局：新玩 {played:,} 局，沿用 {found:,} 局；{seconds:.1f} 秒",
    }[language]
    total = games["played"] + games["found"]
    typer.echo(words.format(total=total, seconds=seconds, played=games["played"], found=games["found"]))
    typer.echo(path)


def _show(what: RenderableType) -> None:
    """Print a table; one that goes to a file or program is not squeezed into 80 columns.

    Names and titles are the user's: nothing in them is markup.
    """
    from rich.console import Console

    from analysis.terminal import fitted

    terminal = sys.stdout.isatty()
    width = None if terminal else PIPE_WIDTH
    console = Console(file=sys.stdout, width=width, markup=False, emoji=False, highlight=False)
    if terminal:
        console.print(fitted(what, console))
        return
    with console.capture() as captured:
        console.print(fitted(what, console))
    for line in captured.get().splitlines():
        _tell(line.rstrip())


def _tell(line: str) -> None:
    """Print a line, if there is still somebody to read it: what is to be done yet does not depend on that."""
    try:
        typer.echo(line)
    except BrokenPipeError:
        _drop(sys.stdout)


if __name__ == "__main__":
    main()
