"""The event stream of a game: its codes, its words, and `emit`.

An event log is an int64 array of shape (capacity, 5): row 0 holds (rows used, overflow flag), every other row an event
code and up to four integers. Kernels take the log as an argument; given None, `emit` compiles to nothing; given a
`Watch`, each event is folded into the memory of what the seats have seen, and then goes to the log behind it.
"""

from __future__ import annotations

from collections import namedtuple
from typing import Any, NamedTuple

import numpy as np
from numba import types
from numba.extending import overload

from sim.jit import OPTIONS, outlined
from sim.protocol import remember

# An event, and the integers that follow its code. Rows marked with + continue the event above them.
TURN = 1  # turn, seat
MOVE = 2  # + a legal main move (card set)
PLAY = 3  # seat, card set, gap
CHOOSE = 4  # seat, phase, move
OPTION = 5  # + a legal inner move
DRAW = 6  # seat, card, reason; consecutive draws of a seat for one reason are one event
PUT = 7  # seat, card, where; consecutive puts of a seat to one place are one event
SHUFFLE = 8  # then the stock as CARD rows, top first
CARD = 9  # + card
LOCK = 10  # suit, seat, kind
UNLOCK = 11  # suit, reason
BAN = 12  # rank, seat, card
UNBAN = 13  # rank, seat, card, reason
RECALL = 14  # card, seat
COMPLETE = 15  # suit
REDEAL = 16  # kind; then FLIP, HAND and CARD rows
FLIP = 17  # + card
HAND = 18  # + card set of the next seat
ELIMINATE = 19  # seat, reason
PASS = 20  # seat
FINISH = 21  # seat
LOSE = 22  # seat
SLAP = 23  # seat that takes the pile, or -1
TIME = 24  # + seat, milliseconds

_DRAWS = "gap tax straight_hit stuck pass_ exchange queen jack refill borrow opponent pile"
_PLACES = "stock_top stock_shuffled covered table discard removed exiled"
_LOCKS_END = "owner_played complete king_recalled owner_eliminated round_over next_king joker owner_finished"
_OTHERS = "black_joker red_joker joker_pair limit joker_only"
_WORDS = f"{_DRAWS} {_PLACES} {_LOCKS_END} {_OTHERS}".split()
WORD: Any = namedtuple("WORD", _WORDS)(*range(len(_WORDS)))
"""The code of each word that an event may carry as a reason, place or kind: `WORD.stock_top`."""


def word(code: int) -> str:
    """The word of a code in `WORD`."""
    return _WORDS[int(code)].rstrip("_")


def new_log(capacity: int = 1 << 15) -> np.ndarray:
    """An empty event log: int64, shape (capacity, 5)."""
    log = np.zeros((capacity, 5), dtype=np.int64)
    log[0, 0] = 1
    return log


@outlined
def _record(log, event, a, b, c, d):
    used = log[0, 0]
    if used >= log.shape[0]:
        log[0, 1] = 1
        return
    log[used, 0] = event
    log[used, 1] = a
    log[used, 2] = b
    log[used, 3] = c
    log[used, 4] = d
    log[0, 0] = used + 1


class Watch(NamedTuple):
    """A log that also remembers: the game's rules, its memory (one record), and the log behind (an array or None)."""

    rules: Any
    memory: Any
    log: Any


def emit(log, event, a=0, b=0, c=0, d=0):
    """Append an event to the log, or do nothing when there is none. A full log sets its overflow flag."""
    if isinstance(log, Watch):
        remember(log.rules, log.memory[0], event, a, b, c, d)
        emit(log.log, event, a, b, c, d)
    elif log is not None:
        _record(log, event, a, b, c, d)


@overload(emit, jit_options=OPTIONS)
def _emit(log, event, a=0, b=0, c=0, d=0):
    if isinstance(log, types.NoneType):
        return lambda log, event, a=0, b=0, c=0, d=0: None
    if isinstance(log, types.Array):
        return lambda log, event, a=0, b=0, c=0, d=0: _record(log, event, a, b, c, d)

    def fold(log, event, a=0, b=0, c=0, d=0):
        remember(log.rules, log.memory[0], event, a, b, c, d)
        emit(log.log, event, a, b, c, d)

    return fold


def recording(log):
    """Whether events are kept: a constant for the compiler."""
    return log is not None


@overload(recording, jit_options=OPTIONS)
def _recording(log):
    kept = not isinstance(log, types.NoneType)
    return (lambda log: True) if kept else (lambda log: False)
