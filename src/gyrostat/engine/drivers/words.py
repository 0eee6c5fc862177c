"""The words of a driver beyond Python's own: kinds of arguments, casts, and what a lane can say.

A *driver* is a Python function with annotated arguments that :mod:`~gyrostat.engine.drivers.translate` turns into LLVM
text. Its kinds are

* ``float``: a double, one for each lane; ``int``: 64 bits, the same for all lanes;
* ``ptr``: doubles, ``x[k]`` is that of each lane; ``table``: doubles that all lanes share, ``x[j] = y[k]`` of two
  tables copies one double;
* ``words``: 64-bit numbers: counts, and addresses of doubles and kernels.

A pointer plus a whole number is a pointer. ``kernel(w[k])(x, y, ...)`` calls machine code that takes pointers and
returns a double, zero if all it found is finite. Statements: assignment (also of tuples), ``if``, ``while``,
``for k in range(...)``, ``break``, ``continue``, ``return``. ``and``, ``or`` and ``a if c else b`` evaluate what they
need. Functions that are called are drivers themselves; names of modules stand for their numbers. A driver may promise
that its pointers are :func:`apart`."""

from __future__ import annotations

from typing import Any


class _Memory:
    """What a pointer can do, for readers and type checkers."""

    def __getitem__(self, k: int) -> Any:
        return _only_translated(k)

    def __setitem__(self, k: int, value: Any) -> None:
        _only_translated(k, value)

    def __add__(self, k: int) -> Any:
        return _only_translated(k)


class ptr(_Memory):  # noqa: N801
    """A pointer to doubles, one for each lane."""


class table(_Memory):  # noqa: N801
    """A pointer to doubles that all lanes share."""


class words(_Memory):  # noqa: N801
    """A pointer to 64-bit whole numbers."""


def _only_translated(*_: Any) -> Any:
    raise TypeError("a word of drivers is translated, never called")


kernel = doubles = shared = count_at = fma = where = some = bits = copy = sqrt = floor = ceil = _only_translated
"""``kernel(address)``: machine code there. ``doubles(address)``, ``shared(address)``, ``count_at(address)``: a ptr, a
table, words there; ``shared(p)`` of a ptr reads its memory double by double. ``fma(x, y, z)`` = x y + z in one
rounding. ``where(c, x, y)``: x in lanes where c holds, else y, both evaluated. ``some(c)``: whether c holds in a lane.
``bits(p)``: the address in a ptr as a number."""


def apart(function: Any) -> Any:
    """The pointers of a driver point to memory that does not overlap, as far as it is written: it is then free to read
    before it writes."""
    function.apart = True
    return function


LANES = 1
"""How many lanes the driver is compiled for."""
