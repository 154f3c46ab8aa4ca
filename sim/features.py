"""The features of a move, weighed as they are found or written down.

A game's `features` calls `note(x, feature, value)` for every feature of a move that is not 0. For a player that weighs
them `x` is a `Weighing`, and the sum is taken on the way, without a vector in between; for training and tests `x` is
an int64 array that receives the values.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import types
from numba.extending import overload

from sim.jit import OPTIONS


class Weighing(NamedTuple):
    """`weight` int64 [features]; `total` int64 [1], the weighted sum so far; `paired`: some weight is of a partner."""

    weight: np.ndarray
    total: np.ndarray
    paired: bool


def note(x, feature, value):
    """Give a feature of the move at hand its value."""
    if isinstance(x, Weighing):
        x.total[0] += x.weight[feature] * value
    else:
        x[feature] = value


def _weigh(x, feature, value):
    x.total[0] += x.weight[feature] * value


def _write(x, feature, value):
    x[feature] = value


@overload(note, jit_options=OPTIONS)
def _note(x, feature, value):
    return _write if isinstance(x, types.Array) else _weigh


def paired(x):
    """Whether the features of a partner are asked for; they take time that others need not spend."""
    return x.paired if isinstance(x, Weighing) else True


@overload(paired, jit_options=OPTIONS)
def _paired(x):
    return (lambda x: True) if isinstance(x, types.Array) else (lambda x: x.paired)
