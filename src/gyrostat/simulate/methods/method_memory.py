"""The memory of a method between two steps: arrays that machine code reads and writes. It can be rewound, saved, and
given back, in the same bits.

Words (64-bit whole numbers) may be addresses, which belong to one process and one object: they stay where they are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from gyrostat.simulate.methods.method import Method

Array = np.ndarray
DEEP = 3
"""Levels of containers in which arrays are looked for."""
FAR = 2**32
"""Whole numbers from here on are no counts."""


def arrays_of(method: Method) -> dict[str, Array]:
    """All arrays that hang on a method, by name, in sorted order; each once."""
    known: set[tuple[int, int]] = set()
    arrays: dict[str, Array] = {}
    for name, x in sorted(vars(method).items()):
        for path, array in _found(name, x, DEEP):
            key = int(array.__array_interface__["data"][0]), array.nbytes
            if array.size and array.flags.writeable and key not in known:
                known.add(key)
                arrays[path] = array
    return arrays


def _found(path: str, x: Any, deep: int) -> Iterator[tuple[str, Array]]:
    if isinstance(x, np.ndarray):
        yield path, x
    elif deep and isinstance(x, list | tuple):
        for k, y in enumerate(x):
            yield from _found(f"{path}.{k}", y, deep - 1)
    elif deep and isinstance(x, Mapping):
        for key, y in x.items():
            yield from _found(f"{path}.{key}", y, deep - 1)


def addresses(arrays: Mapping[str, Array]) -> Array:
    """Where the arrays are."""
    return np.array([x.__array_interface__["data"][0] for x in arrays.values()], dtype=np.int64)


class MethodMemory:
    """The memory of a method that has not begun yet, to begin with it again."""

    def __init__(self, method: Method):
        self.method = method
        self._vars = {name: x.copy() if isinstance(x, dict) else x for name, x in vars(method).items()}
        self._arrays = [(x, x.copy()) for x in arrays_of(method).values()]

    def rewind(self) -> None:
        """As it was."""
        own = vars(self.method)
        own.clear()
        own.update(self._vars)
        own["statistics"] = dict(self._vars["statistics"])
        for x, before in self._arrays:
            x[...] = before


def saved(arrays: Mapping[str, Array]) -> dict[str, Array]:
    """Copies of arrays, with zeros in the place of addresses."""
    places = addresses(arrays)
    copies = {name: x.copy() for name, x in arrays.items()}
    for x in copies.values():
        if x.dtype == np.int64:
            x[_far(x, places)] = 0
    return copies


def give_back(arrays: Mapping[str, Array], copies: Mapping[str, Array]) -> None:
    """Write what was saved into arrays of the same names and shapes."""
    places = addresses(arrays)
    for name, x in arrays.items():
        if name not in copies:  # there was no need of it yet
            continue
        if x.dtype == np.int64:
            stays = _far(x, places)
            x[~stays] = copies[name][~stays]
        else:
            x[...] = copies[name]


def _far(x: Array, places: Array) -> Array:
    """Which words are addresses."""
    return (np.abs(x) >= FAR) | (np.isin(x, places) & (x != 0))
