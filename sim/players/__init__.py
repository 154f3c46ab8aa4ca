"""Who plays: line-ups of basic players, and of players that search with them.

A line-up is a NamedTuple of arrays whose type selects the kernel: with a `Lineup` all seats decide at once from weights
or chance and no memory is kept; with a `Search` the engine also keeps what every seat has seen.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from numba.extending import overload

from sim.events import Watch
from sim.games import Game
from sim.jit import OPTIONS
from sim.players.basic import Lineup, basic_lineup, choose_basic
from sim.players.search import Search, choose_search, search_lineup
from sim.protocol import forget

if TYPE_CHECKING:
    from sim.config import Player

__all__ = ["Lineup", "Search", "choose", "lineup_arrays", "start_memory", "watched"]


def lineup_arrays(game: Game, players: tuple[Player, ...]) -> Lineup | Search:
    """The arrays of a line-up for a game."""
    searching = any(player.kind == "search" for player in players)
    return search_lineup(game, players) if searching else basic_lineup(game, players)


def _choose_basic(rules, state, seat, lineup, rng, out, tied, total):
    return choose_basic(rules, state, seat, lineup, seat, rng, out, tied, total)


def _choose_any(rules, state, seat, lineup, rng, out, tied, total):
    if lineup.playouts[seat]:
        return choose_search(rules, state, seat, lineup, rng)
    return choose_basic(rules, state, seat, lineup.basic, seat, rng, out, tied, total)


def choose(rules, state, seat, lineup, rng, out, tied, total):
    """(move, number of legal moves) of the player in `seat`. Scratch: `out`, `tied` int64 [max_moves], `total` [1]."""
    chooser = _choose_any if isinstance(lineup, Search) else _choose_basic
    return chooser(rules, state, seat, lineup, rng, out, tied, total)


@overload(choose, jit_options=OPTIONS)
def _choose(rules, state, seat, lineup, rng, out, tied, total):
    return _choose_any if lineup.instance_class is Search else _choose_basic


def start_memory(rules, state, lineup):
    """Begin to remember what the seats of a dealt (or given) position see, where somebody searches."""
    if isinstance(lineup, Search):
        forget(rules, state, lineup.memory[0])


@overload(start_memory, jit_options=OPTIONS)
def _start_memory(rules, state, lineup):
    if lineup.instance_class is Search:
        return lambda rules, state, lineup: forget(rules, state, lineup.memory[0])
    return lambda rules, state, lineup: None


def watched(rules, lineup, log):
    """The log that a game of this line-up writes to: `log`, behind a memory where somebody searches."""
    return Watch(rules, lineup.memory, log) if isinstance(lineup, Search) else log


@overload(watched, jit_options=OPTIONS)
def _watched(rules, lineup, log):
    if lineup.instance_class is Search:
        return lambda rules, lineup, log: Watch(rules, lineup.memory, log)
    return lambda rules, lineup, log: log
