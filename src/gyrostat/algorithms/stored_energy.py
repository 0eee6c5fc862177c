"""Energy that components store, beside that of gravity: a table like any other, for springs of every kind.

Protocol: what the forces of a component depend on at rest in, energy [J] out; nothing travels through ports, the
energies of all components are summed. A row is ``row(c, angle by port)`` for elements on shafts [rad, m], ``row(c, a,
b)`` for forces between the moving frames a and b, ``row(c, on, motion, q)`` for all others, with the motion at its
inport in the representation of the setting. Energy cannot be read off forces, so a component that pushes at rest and
has no row is refused by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gyrostat.algorithms.algorithm import Algorithm

stored_energy: Algorithm[Callable[..., Any]] = Algorithm("stored energy")
