"""Energy that components store, beside that of gravity: a table like any other, for springs of every kind.

A row gets what the forces of its component depend on at rest: ``row(c, angle by port)`` for elements on shafts,
``row(c, a, b)`` for forces between the frames a and b, ``row(c, on, motion, q)`` for all others; it returns the energy
[J]. It cannot be read off forces, so a component that pushes at rest and has no row is refused by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gyrostat.algorithms.algorithm import Algorithm

stored_energy: Algorithm[Callable[..., Any]] = Algorithm("stored energy")
