"""A plant as a first-order system of plain numbers, y' = f(t, y), for libraries that integrate vectors.

y = (q, v, p). Angles and shifts are numbers already. A quaternion c (4,) is a point of R^4 of any length, and stands
for the rotation c / |c|, of which alone the forces know:

    c' = c (x) (w, 0) / 2,     p' = R(c / |c|) u,     (a, f) = forward dynamics at (c / |c|, v, p).

f is homogeneous: s c moves as s times what c does, for every number s. So the exact flow takes rotations to rotations,
whatever the lengths, a method of order k for numbers is one of order k for rotations, errors along c are none, and
there is no chart to be changed and no history to be lost. |c| stays but for the errors of the method; see ``strayed``.

Derivatives: dc turns by d = 2 vec(conj(c) (x) dc) / |c|^2, and what depends on the rotation has slopes along d."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from gyrostat.engine.cpython.layout import available
from gyrostat.engine.kernel import Kernel
from gyrostat.engine.tracing.record import record
from gyrostat.geometry.rotation import from_quaternion
from gyrostat.simulate.plant.plant import Plant
from gyrostat.spatial.algebra import skew
from gyrostat.spatial.so3 import normalised
from gyrostat.spatial.so3_recorded import rate_matrix, spin_matrix
from gyrostat.spec.model import Model

Array = np.ndarray
WHO = "simulate"
SHORTEST, LONGEST = 0.7, 1.4
"""Lengths of quaternions beyond which a method begins anew, with length one."""
MANY = 100
"""Rates from which on matrices are not recorded."""


class Lifted(NamedTuple):
    """Quaternions of unit length in ``unit`` (nq,), and dq/dt (nq,)."""

    unit: Array
    rate: Array


class Slopes(NamedTuple):
    """d(dq/dt)/dq (nq, nq) and d(dq/dt)/dv (nq, nv); ``turn`` (nv, nq): dq as a motion along the rates."""

    by_q: Array
    by_v: Array
    turn: Array


def lifted(model: Model, q: Array, v: Array) -> Lifted:
    """For numbers and recorded values."""
    unit: list[Array] = []
    rate: list[Array] = []
    for block in model.layout:
        if not block.turns:
            unit, rate = [*unit, q[block.q]], [*rate, v[block.v]]
            continue
        c = q[block.quaternion]
        one = c / (c @ c) ** 0.5
        if block.moves:
            unit, rate = [*unit, q[block.position]], [*rate, from_quaternion(one) @ v[block.linear]]
        unit, rate = [*unit, one], [*rate, rate_matrix(c) @ v[block.angular]]
    return Lifted(np.concatenate(unit), np.concatenate(rate))


def slopes(model: Model, q: Array, v: Array) -> Slopes:
    """For numbers and recorded values."""
    by_q, by_v, turn = (
        np.zeros(shape, dtype=object) for shape in ((len(q), len(q)), (len(q), len(v)), (len(v), len(q)))
    )
    for i, j in zip(model.layout.number_q, model.layout.number_v, strict=True):
        by_v[i, j] = turn[j, i] = 1.0
    for block in model.layout.turning:
        quaternion, angular, position, linear = block.quaternion, block.angular, block.position, block.linear
        c = q[quaternion]
        size = c @ c
        turned = 4.0 * rate_matrix(c).T / size
        by_q[quaternion, quaternion] = spin_matrix(v[angular])
        by_v[quaternion, angular], turn[angular, quaternion] = rate_matrix(c), turned
        if block.moves:
            R = from_quaternion(c / size**0.5)
            by_q[position, quaternion] = -R @ skew(v[linear]) @ turned
            by_v[position, linear], turn[linear, position] = R, R.T
    return Slopes(by_q, by_v, turn)


def differences(function: Callable[[Array], Array], y: Array) -> Array:
    """df/dy (m, n) by central differences."""
    columns = []
    for k, size in enumerate(np.maximum(1.0, np.abs(y))):
        h = 6e-6 * size
        ahead, behind = y.copy(), y.copy()
        ahead[k] += h
        behind[k] -= h
        columns.append((function(ahead) - function(behind)) / (2.0 * h))
    return np.stack(columns, axis=1)


class VectorSystem:
    """Right-hand side and Jacobian of a plant for y = (q, v, p) of size n = nq + nv + np."""

    def __init__(self, plant: Plant):
        self.plant = plant
        self.quaternion = plant.model.layout.quaternions
        self.size = plant.nq + plant.nv + plant.np

    def joined(self, q: Array, v: Array, p: Array) -> Array:
        """y of a state."""
        return np.concatenate([q, v, p])

    def prepare(self, t: float, q: Array, v: Array, p: Array) -> None:
        """Compile f and its Jacobian, without counting."""
        before, y = vars(self.plant.counters).copy(), self.joined(q, v, p)
        self.rates(t, y)
        self.jacobian(t, y)
        vars(self.plant.counters).update(before)

    def parts(self, y: Array) -> tuple[Array, Array, Array]:
        """q, v, p of y (..., n) as they are."""
        n, k = self.plant.nq, self.plant.nq + self.plant.nv
        return y[..., :n], y[..., n:k], y[..., k:]

    def state(self, y: Array) -> tuple[Array, Array, Array]:
        """q with unit quaternions, v, p of y (..., n)."""
        q, v, p = self.parts(y)
        if not self.plant.plain:
            q = q.copy()
            q[..., self.quaternion] = normalised(q[..., self.quaternion])
        return (*self._closed(q, v), p)

    def _closed(self, q: Array, v: Array) -> tuple[Array, Array]:
        """States that are projected onto closed loops, if there are loops that are constraints: f is that of the
        projected state, so that y moves beside closed states as these do, and errors across them do not grow."""
        return self.plant.closed(q, v)

    def strayed(self, y: Array) -> bool:
        """Whether a quaternion of y (n,) has become much shorter or longer than one."""
        if self.plant.plain:
            return False
        size = np.sum(y[self.quaternion] ** 2, axis=1)
        return bool(size.min() < SHORTEST**2 or size.max() > LONGEST**2)

    def absolute(self, rtol: float, atol: float) -> float | Array:
        """Absolute tolerances: a rotation has the size one, and a quaternion changes by half of a turn; states of
        blocks have sizes of their own."""
        tolerances = np.full(self.size, atol)
        tolerances[self.size - self.plant.np :] *= self.plant.source.sizes
        if self.plant.plain:
            return tolerances if self.plant.np else atol
        tolerances[self.quaternion] = 0.5 * (rtol + atol)
        return tolerances

    def rates(self, t: float, y: Array) -> Array:
        """y' = f(t, y). NonFiniteError where it is not finite."""
        q, v, p = self.parts(y)
        if self.plant.plain:
            q, v = self._closed(q, v)
            a, f, _ = self.plant.acceleration(t, q, v, p)
            return np.concatenate([v, a, f])
        unit, rate = self._lifted(q, v)
        if self.plant.projected:
            unit, v = self._closed(unit, v)
            rate = self._lifted(q, v).rate
        a, f, _ = self.plant.acceleration(t, unit, v, p)
        return np.concatenate([rate, a, f])

    def jacobian(self, t: float, y: Array) -> Array:
        """df/dy (n, n), exact; by central differences where loops are constraints."""
        if self.plant.projected:
            return differences(lambda x: self.rates(t, x), y)
        q, v, p = self.parts(y)
        if self.plant.plain:
            return self.plant.derivatives.rhs_jacobian(t, q, v, p)
        n, k, m = self.plant.nq, self.plant.nq + self.plant.nv, self.plant.nv
        along = self.plant.derivatives.rhs_jacobian(t, self._lifted(q, v).unit, v, p)
        by_q, by_v, turn = self._slopes(q, v)
        J = np.zeros((self.size, self.size))
        J[:n, :n], J[:n, n:k] = by_q, by_v
        J[n:, :n], J[n:, n:] = along[m:, :m] @ turn, along[m:, m:]
        return J

    # ------------------------------------------------------------------ machine code
    @cached_property
    def _lifted(self) -> Callable[[Array, Array], Lifted]:
        return self._made(lifted, Lifted)

    @cached_property
    def _slopes(self) -> Callable[[Array, Array], Slopes]:
        return self._made(slopes, Slopes)

    def _made(self, function: Callable[..., Any], result: type[Any]) -> Callable[[Array, Array], Any]:
        if self.plant.nv > MANY:
            return lambda q, v: result(*(np.array(x, dtype=float) for x in function(self.plant.model, q, v)))

        def named(q: Array, v: Array) -> Mapping[str, Array]:
            return function(self.plant.model, q, v)._asdict()

        shapes = {"q": (self.plant.nq,), "v": (self.plant.nv,)}
        kernel = Kernel(record(named, shapes, f"{self.plant.model.name}_{function.__name__}"), WHO)
        general = lambda *arrays: result(**kernel.call(*arrays))  # noqa: E731
        return general if available() else kernel.builtin(general, [], WHO, function.__name__, result)
