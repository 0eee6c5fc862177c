"""How far a block of the user is from the general solver: the worst of random states."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

Array = np.ndarray


class Agreement(NamedTuple):
    """Of ``samples`` random states the worst one: ``difference`` (relative to the largest entry of an output where that
    is above one, below ``tolerance``), in the ``output`` of this name, and the arrays of the ``state``."""

    samples: int
    difference: float
    tolerance: float
    output: str
    state: tuple[Array, ...]


def agreement(
    expected: Mapping[str, Array],
    computed: Iterable[Mapping[str, Array]],
    state: Sequence[Array],
    samples: int,
    tolerance: float,
) -> Agreement:
    """The worst difference of outputs (N, ...), computed in one or more ways, from those that are expected."""
    ways = list(computed)
    worst = Agreement(samples, 0.0, tolerance, next(iter(expected)), ())
    for name, array in expected.items():
        for way in ways:
            difference = relative_difference(way[name], array)
            k = int(np.argmax(difference))
            if difference[k] > worst.difference or not worst.state:
                worst = Agreement(samples, float(difference[k]), tolerance, name, tuple(x[k] for x in state))
    return worst


def relative_difference(computed: Array, expected: Array) -> Array:
    """(N,): largest difference in each state, relative to the largest entry where that is above one."""
    size = np.maximum(1.0, np.abs(expected.reshape(len(expected), -1)).max(axis=1, initial=0.0))
    return np.abs(computed - expected).reshape(len(expected), -1).max(axis=1, initial=0.0) / size
