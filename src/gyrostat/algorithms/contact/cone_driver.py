"""The contact problem in machine code, for Python: as :func:`~.cone_problem.solve_cones`, a hundred times faster.

:func:`~.cone_driver_rounds.cone_solve` is the driver itself, which other drivers call."""

from __future__ import annotations

from typing import Any

import numpy as np

from gyrostat.algorithms.contact.cone_driver_rounds import cone_memory, cone_solve
from gyrostat.algorithms.contact.cone_driver_scaling import NUMBERS
from gyrostat.algorithms.contact.cone_driver_sensitivity import cone_adjoint, cone_tangent
from gyrostat.algorithms.contact.cone_layout import Array, ConeLayout, ForceSet, force_set
from gyrostat.algorithms.contact.cone_problem import ConeSolution, checked
from gyrostat.engine.drivers.driver import driver
from gyrostat.errors import NonFiniteError, ShapeError


def cone_units(layout: ConeLayout, forces: ForceSet) -> tuple[Array, Array]:
    """``units`` (count, 2) of whole numbers and ``numbers`` (count, 6) as :func:`cone_solve` takes them."""
    discs = {d.first: d for d in forces.discs}
    units, numbers = list[tuple[int, int]](), list[list[float]]()
    for n, size in zip(layout.normals, layout.sizes, strict=True):
        units.append((size, n))
        if size == 1:
            numbers.append([forces.low[n], forces.high[n], *[0.0] * (NUMBERS - 2)])
            continue
        own = [discs.get(first) if first < n + size else None for first in (n + 1, n + 3, n + 4)]
        numbers.append([d.ratio if d else 0.0 for d in own] + [d.base if d else 0.0 for d in own])
    for k in range(sum(layout.sizes), layout.rows):
        units.append((1, k))
        numbers.append([forces.low[k], forces.high[k], *[0.0] * (NUMBERS - 2)])
    return np.array(units, dtype=np.int64).reshape(-1, 2), np.array(numbers).reshape(-1, NUMBERS)


class ConeSolver:
    """Memory for problems of one layout, and their solution in machine code, warm: every problem begins with the forces
    of the one before."""

    def __init__(self, layout: ConeLayout, mu: Any, *, torsional: Any = 0.0, rolling: Any = 0.0, bounds: Any = None):
        self._prepare(layout, force_set(layout, mu, torsional, rolling, bounds, "ConeSolver"))

    @classmethod
    def of(cls, layout: ConeLayout, forces: ForceSet) -> ConeSolver:
        """The solver for forces that need not be those of a layout's coefficients: discs may have a base."""
        solver = cls.__new__(cls)
        solver._prepare(layout, forces)
        return solver

    def _prepare(self, layout: ConeLayout, forces: ForceSet) -> None:
        self.layout = layout
        m = layout.rows
        units, numbers = cone_units(layout, forces)
        stride, count = (m + 3) // 4 * 4, len(units)
        self._table = np.zeros((m + 2, stride))  # G, c, P
        self._u, self._memory = np.zeros(stride), np.zeros(cone_memory(m, count))
        self._kept = units, numbers
        self._G, self._c, self._P = self._table[:m, :m], self._table[m, :m], self._table[m + 1, :m]
        G, c, P = (self._table.ctypes.data + 8 * stride * k for k in (0, m, m + 1))
        self._given = m, count, G, c, units.ctypes.data, numbers.ctypes.data, P, self._u.ctypes.data
        self._told = self._memory.ctypes.data
        self._call = driver(cone_solve).call

    def __call__(self, G: Any, c: Any, start: Any = None, tolerance: float = 1e-10) -> ConeSolution:
        """The solution for G (m, m), symmetric, and c (m,)."""
        m = self.layout.rows
        if np.shape(G) != (m, m) or np.shape(c) != (m,) or (start is not None and np.shape(start) != (m,)):
            checked(G, c, self.layout, start, "ConeSolver")
        self._G[:], self._c[:] = G, c
        if start is not None:
            self._P[:] = start
        if not np.isfinite(self._table).all():
            self._P[:] = 0.0
            checked(G, c, self.layout, start, "ConeSolver")
        done = self._call(*self._given, tolerance, self._told)
        residual, sweeps, steps = self._memory[:3].tolist()
        return ConeSolution(self._P.copy(), self._u[:m].copy(), residual, int(sweeps + steps), bool(done))

    def tangent(self, e: Any) -> Array:
        """dP (m,) of the last solution for e = dG P + dc (m,)."""
        return self._multiplied(cone_tangent, e, "tangent")

    def adjoint(self, gP: Any) -> Array:
        """Gradient gc (m,) by c of a number with the gradient ``gP`` by forces, at the last solution; gc P^T by G."""
        return self._multiplied(cone_adjoint, gP, "adjoint")

    def _multiplied(self, by: Any, given: Any, name: str) -> Array:
        m, count, G, _, units, numbers, P, u = self._given
        x, y = np.array(given, dtype=float), np.zeros(m)
        if x.shape != (m,) or not np.isfinite(x).all():
            raise ShapeError(f"ConeSolver.{name}: got shape {x.shape}, expected ({m},), finite")
        addresses = x.ctypes.data, y.ctypes.data, self._told
        if not driver(by).call(m, count, G, units, numbers, P, u, *addresses):
            raise NonFiniteError(
                f"ConeSolver.{name}: the last solution has no derivative: phases of contacts change there"
            )
        return y
