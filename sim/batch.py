"""Plays groups of games on several threads, in chunks that are stored as they finish.

A group's result over n games is the sum of its results over any division of 0..n-1, exactly, because
tallies are integers. So the number of jobs, the size of the chunks, interruptions, and files left by
earlier runs never change a number; they only decide what is still to be played. A worker merges its chunk
into the group's running total, so that the memory needed does not grow with the number of games.

Games are counted as a user would: a deal that is played under three arms is three games. A group's `games`,
and the ranges of its stored files, count deals.
"""

from __future__ import annotations

import contextlib
import itertools
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from sim.store import Range, Store, Tally, cover, group_key

if TYPE_CHECKING:
    from sim.config import Group

Play = Callable[["Group", int, int], Tally]
"""(group, first deal, number of deals) -> tally. Pure, thread-safe, and best when it lets go of the GIL."""

Progress = Callable[[int, int, str], None]
"""(games done, games in all, the group's label). The first call comes before anything is played."""

CHUNK = 32768
"""Games a chunk: a good fraction of a second for simple players."""

CHUNKS_PER_JOB = 4
"""Small runs use smaller chunks: every worker has at least so many, and all end at about the same time."""

LINE_SECONDS = 5.0


@dataclass(frozen=True)
class Status:
    """How far a group got. `found` and `played` are deals, out of `games`; every arm plays each deal."""

    label: str
    key: str
    games: int
    arms: int
    found: int
    played: int
    seconds: float
    """Working time spent playing, summed over the workers."""

    @property
    def complete(self) -> bool:
        """Whether the group's result is complete and stored."""
        return self.found + self.played == self.games

    @property
    def games_per_second(self) -> float:
        """Games a second of one worker, 0 when nothing was played."""
        return self.played * self.arms / self.seconds if self.seconds else 0.0


class Run(NamedTuple):
    """What `run` returns: the merged tally and the status of every group, in the groups' order."""

    tallies: list[Tally]
    statuses: list[Status]


class Interrupted(Exception):
    """A signal stopped the run; what had been played is stored, and the same call goes on from there."""

    def __init__(self, done: int, total: int, statuses: Sequence[Status]) -> None:
        super().__init__(f"interrupted after {done:,} of {total:,} games")
        self.done = done
        self.total = total
        self.statuses = list(statuses)


def run(
    groups: Sequence[Group],
    out: Path,
    jobs: int | None = None,
    chunk: int = CHUNK,
    resume: bool = True,
    play: Play | None = None,
    progress: Progress | None = None,
) -> Run:
    """Play every group's games 0..games-1, or take them from `out`/cells as far as they are stored there.

    Args:
        groups: what to play; their results do not depend on one another.
        out: the folder of the results; made when missing.
        jobs: number of worker threads; None for one a processor.
        chunk: most games (deals times arms) a chunk.
        resume: False removes these groups' stored results first.
        play: plays a range of a group's deals; None for the engine's.
        progress: called after every chunk, in the calling thread.

    Raises:
        StoreError: `out` cannot be written to; tried before anything is played.
        Interrupted: SIGINT or SIGTERM came. The chunks being played are finished and stored first; a second
            signal leaves them. Signals are handled only when called from the main thread.
        OverflowError: a sum left the range of int64.
        Exception: whatever `play` raises, as it is.
    """
    from joblib import cpu_count

    jobs = cpu_count() if jobs is None else jobs
    if jobs < 1 or chunk < 1 or any(group.games < 1 for group in groups):
        raise ValueError("jobs, chunk and every group's games must be at least 1")
    cells = [_Cell(group, group_key(group)) for group in groups]
    store = Store(out / "cells")
    with _Signals() as signals:
        try:
            _take_stored(cells, store, resume)
            _play_missing(cells, _Workers(store, signals), jobs, chunk, play, progress or _silent)
        except KeyboardInterrupt:
            signals.received = True
        if signals.received:
            raise Interrupted(*_games_done(cells), [cell.status() for cell in cells])
    return Run([cell.total for cell in cells], [cell.status() for cell in cells])


def add(total: Tally, part: Tally) -> None:
    """Add `part` to `total` in place; an empty `total` becomes a copy.

    Raises:
        OverflowError: a sum does not fit into int64. `total` is then useless.
        ValueError: the two do not have the same arrays and shapes.
    """
    if not total:
        total.update({name: array.astype(np.int64, casting="safe") for name, array in part.items()})
        return
    shapes = {name: array.shape for name, array in total.items()}
    if shapes != {name: array.shape for name, array in part.items()}:
        raise ValueError("tallies with different arrays cannot be added")
    for name, array in part.items():
        old = total[name]
        new = old + array
        # Two's complement: a sum has overflowed when both terms differ from it in sign.
        if np.any(((old ^ new) & (array ^ new)) < 0):
            raise OverflowError(f"the tally {name} does not fit into 64 bits any more; play fewer games")
        total[name] = new


def group_label(group: Group) -> str:
    """A group in a few words, such as "paijie, 4 seats, greedy"."""
    names = [player.name for player in group.lineup]
    return f"{group.game}, {group.seats} seats, {names[0] if len(set(names)) == 1 else ' '.join(names)}"


def _silent(done: int, total: int, label: str) -> None:
    pass


@dataclass
class _Cell:
    """A group's running total. Workers take turns to change it."""

    group: Group
    key: str
    total: Tally = field(default_factory=dict)
    files: int = 0
    found: int = 0
    played: int = 0
    seconds: float = 0.0
    missing: list[Range] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def take(self, part: Range, tally: Tally, seconds: float) -> bool:
        """Merge a chunk just played; True when it was the last one missing."""
        with self.lock:
            add(self.total, tally)
            self.files += 1
            self.played += part[1] - part[0]
            self.seconds += seconds
            complete: bool = self.found + self.played == self.group.games
            return complete

    def finish(self, store: Store) -> None:
        """Replace the parts of a complete group by one file."""
        if self.files > 1:
            store.save(self.key, (0, self.group.games), self.total)
        store.prune(self.key, self.group.games)

    def status(self) -> Status:
        group = self.group
        arms, label = len(group.arms), group_label(group)
        return Status(label, self.key, group.games, arms, self.found, self.played, self.seconds)


def _games_done(cells: Sequence[_Cell]) -> tuple[int, int]:
    done = sum((cell.found + cell.played) * len(cell.group.arms) for cell in cells)
    return done, sum(cell.group.games * len(cell.group.arms) for cell in cells)


def _take_stored(cells: Sequence[_Cell], store: Store, resume: bool) -> None:
    """Merge what sound files hold of every group, and note what is missing."""
    if not resume:
        for cell in cells:
            store.forget(cell.key)
    files = store.ranges()
    for cell in cells:
        stored = set(files.get(cell.key[:16], ()))
        chosen, total = _load(cell, store, stored)
        cell.files, cell.total = len(chosen), total
        cell.found = sum(last - first for first, last in chosen)
        cell.missing = _gaps(chosen, cell.group.games)
        if not cell.missing and stored != {(0, cell.group.games)}:
            cell.finish(store)


def _load(cell: _Cell, store: Store, stored: set[Range]) -> tuple[list[Range], Tally]:
    """The ranges to use of those stored and their tallies' sum; chosen again while one proves unsound."""
    while True:
        chosen, total, unsound = cover(stored, cell.group.games), Tally(), set[Range]()
        for part in chosen:
            tally = store.load(cell.key, part)
            if tally is None:
                unsound.add(part)
            else:
                add(total, tally)
        if not unsound:
            return chosen, total
        stored = stored - unsound


def _gaps(chosen: Sequence[Range], games: int) -> list[Range]:
    """What of 0..games the ordered, disjoint ranges leave out."""
    starts = [0, *(last for _, last in chosen)]
    ends = [*(first for first, _ in chosen), games]
    return [(first, last) for first, last in zip(starts, ends, strict=True) if first < last]


def _chunks(cells: Sequence[_Cell], jobs: int, chunk: int) -> Iterator[tuple[_Cell, Range]]:
    """The missing ranges cut at multiples of the chunk size, lazily, so that their number costs no memory."""
    left = sum((last - first) * len(cell.group.arms) for cell in cells for first, last in cell.missing)
    games = min(chunk, -(-left // (CHUNKS_PER_JOB * jobs)))
    for cell in cells:
        step = max(1, games // len(cell.group.arms))
        for first, last in cell.missing:
            cuts = itertools.chain([first], range((first // step + 1) * step, last, step), [last])
            yield from ((cell, part) for part in itertools.pairwise(cuts))


class _Signals:
    """Turns SIGINT and SIGTERM into a flag while chunks are played, and into KeyboardInterrupt otherwise."""

    def __init__(self) -> None:
        # A plain flag: the lock of an Event could be held by the very code that a signal interrupts.
        self.received = False
        self._patient = False
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                # An ignored signal stays ignored: a shell sets that for the background jobs of a script.
                if signal.getsignal(number) is not signal.SIG_IGN:
                    self._before[number] = signal.signal(number, self._handle)
        return self

    def __exit__(self, *error: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)

    @contextlib.contextmanager
    def patient(self) -> Iterator[None]:
        """Within it the first signal only sets `received`."""
        self._patient = True
        try:
            yield
        finally:
            self._patient = False

    def _handle(self, number: int, frame: FrameType | None) -> None:
        """Note the signal, or let the handler that was there before decide whether to interrupt."""
        if self._patient and not self.received:
            self.received = True
        elif callable(before := self._before.get(number)):
            before(number, frame)
        else:
            raise KeyboardInterrupt


class _Workers:
    """Threads that play, store and merge chunks; as a context, it ends after them."""

    def __init__(self, store: Store, signals: _Signals) -> None:
        self.signals = signals
        self._store = store
        self._results: Iterable[tuple[_Cell, int]] = ()
        self._failed = False
        self._busy = 0
        self._idle = threading.Condition()

    def start(
        self, play: Play, chunks: Iterable[tuple[_Cell, Range]], jobs: int
    ) -> Iterable[tuple[_Cell, int]]:
        """Play the chunks on `jobs` threads; yields (cell, number of games just played) as they are finished.

        Threads, not processes: the kernel lets go of the GIL, and starting processes would cost seconds.
        """
        from joblib import Parallel, delayed

        parallel = Parallel(n_jobs=jobs, backend="threading", return_as="generator_unordered", batch_size=1)
        wanted = itertools.takewhile(lambda _: not self._stopping(), chunks)
        self._results = parallel(delayed(self._work)(play, cell, part) for cell, part in wanted)
        return self._results

    def _stopping(self) -> bool:
        return self.signals.received or self._failed

    def _work(self, play: Play, cell: _Cell, part: Range) -> tuple[_Cell, int]:
        with self._working():
            if self._stopping():
                return cell, 0
            start = time.perf_counter()
            tally = play(cell.group, part[0], part[1] - part[0])
            seconds = time.perf_counter() - start
            self._store.save(cell.key, part, tally)
            if cell.take(part, tally, seconds):
                cell.finish(self._store)
            return cell, (part[1] - part[0]) * len(cell.group.arms)

    @contextlib.contextmanager
    def _working(self) -> Iterator[None]:
        with self._idle:
            self._busy += 1
        try:
            yield
        finally:
            with self._idle:
                self._busy -= 1
                self._idle.notify_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        """After an error let the other chunks end, so that nobody writes behind the caller's back.

        Not when the user has asked a second time to stop.
        """
        self._failed = kind is not None
        if kind is not None and issubclass(kind, KeyboardInterrupt):
            return
        for _ in self._results:  # an error in the loop over them has left some to come
            pass
        with self._idle:  # an error in one of them has ended them early
            self._idle.wait_for(lambda: self._busy == 0)


def _play_missing(
    cells: Sequence[_Cell], workers: _Workers, jobs: int, chunk: int, play: Play | None, progress: Progress
) -> None:
    """Play what is missing on `jobs` threads and store it, until it is done or a signal comes."""
    done, total = _games_done(cells)
    rest = [cell for cell in cells if cell.missing]
    progress(done, total, "compiling" if rest and play is None else "")
    if not rest:
        return
    if play is None:
        play = _compiled_engine(rest)
        progress(done, total, "")
    with workers.signals.patient(), workers:
        for cell, games in workers.start(play, _chunks(rest, jobs, chunk), jobs):
            done += games
            if games:
                progress(done, total, group_label(cell.group))


def _compiled_engine(cells: Sequence[_Cell]) -> Play:
    """The engine's `play_range`, compiled before threads start: two of them would compile the same kernel."""
    from sim import engine

    for cell in cells:
        engine.compile_for(cell.group)
    play: Play = engine.play_range
    return play


@contextlib.contextmanager
def stderr_progress() -> Iterator[Progress]:
    """Shows progress on stderr while open: a bar on a terminal, else one plain line every few seconds."""
    if not sys.stderr.isatty():
        yield _Lines()
        return
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn
    from rich.progress import Progress as Bar

    pace = _Pace()
    columns = (BarColumn(), TextColumn("{task.description}", markup=False))
    # Only stderr is redirected round the bar: stdout is for results and may be a file.
    with Bar(*columns, console=Console(stderr=True), transient=True, redirect_stdout=False) as bar:
        task = bar.add_task("", total=None)

        def show(done: int, total: int, label: str) -> None:
            bar.update(task, completed=done, total=total, description=pace.words(done, total, label))

        yield show


class _Lines:
    """Progress as plain lines, for a log. A log that takes no more is no reason to stop playing."""

    def __init__(self) -> None:
        self._pace = _Pace()
        self._next = time.monotonic() + LINE_SECONDS
        self._printed = False

    def __call__(self, done: int, total: int, label: str) -> None:
        words = self._pace.words(done, total, label)
        if time.monotonic() >= self._next or (self._printed and done == total):
            with contextlib.suppress(OSError):
                print(words, file=sys.stderr, flush=True)
            self._next = time.monotonic() + LINE_SECONDS
            self._printed = True


class _Pace:
    """Speed and time left, counted from the last report before the first game was played."""

    def __init__(self) -> None:
        self._start = 0.0
        self._base: int | None = None

    def words(self, done: int, total: int, label: str) -> str:
        """One line, such as "2,000 of 8,000 games, 500 games/s, 12 s left (paijie, 4 seats, random)"."""
        now = time.monotonic()
        if self._base is None or done == self._base:
            self._base, self._start = done, now
        text = f"{done:,} of {total:,} games"
        if done > self._base:
            speed = (done - self._base) / max(now - self._start, 1e-9)
            text += f", {speed:,.0f} games/s"
            if done < total:
                text += f", {_duration((total - done) / speed)} left"
        return f"{text} ({label})" if label else text


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 1:
        return f"{rest} s"
    if minutes < 60:
        return f"{minutes} min {rest:02d} s"
    return f"{minutes // 60:,} h {minutes % 60:02d} min"
