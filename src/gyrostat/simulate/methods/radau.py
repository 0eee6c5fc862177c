"""Radau IIA of order 5: three stages at the zeros of Radau's polynomial, one of them the end of the step.

    c = (4 - sqrt 6)/10, (4 + sqrt 6)/10, 1;     y_i = y_0 + h sum_j a_ij f(y_j),

with the a_ij for which polynomials of degree 3 are exact. L-stable; the dense output is the polynomial through the
stages, of order 3 [Hairer, Wanner, Solving Ordinary Differential Equations II, IV.5, IV.8]. In machine code:
:mod:`~gyrostat.simulate.methods.drivers.radau_steps`."""

from __future__ import annotations

from functools import cache, cached_property
from typing import Any

import numpy as np

from gyrostat.engine.drivers.driver import driver
from gyrostat.simulate.kernels.newton_matrix import slopes_size
from gyrostat.simulate.kernels.sampling import NEXT_LIMIT
from gyrostat.simulate.methods.drivers import radau_memory as at
from gyrostat.simulate.methods.drivers.radau_steps import radau_steps
from gyrostat.simulate.methods.method import StepFailure
from gyrostat.simulate.methods.vector_method import VectorMethod
from gyrostat.simulate.plant.harvest import Harvest
from gyrostat.simulate.plant.machine import Machine, address
from gyrostat.simulate.plant.plant import Plant

Array = np.ndarray
NEWTON_SHARE = 0.01
"""Error of Newton's method, in units of the tolerance of a step."""


def eigenvector(B: Array, value: complex) -> Array:
    """x (3,) with B x = value x and last entry 1."""
    C = B - value * np.eye(3)
    return np.append(np.linalg.solve(C[:2, :2], -C[:2, 2]), 1.0)


@cache
def coefficients() -> Array:
    """The table as machine code reads it: nodes, A^-1, A, eigenvalues and eigenvectors of A^-1, weights of the error,
    dense output."""
    root = np.sqrt(6.0)
    c = np.array([(4.0 - root) / 10.0, (4.0 + root) / 10.0, 1.0])
    powers = c[:, None] ** np.arange(1, 4)
    A = (powers / np.arange(1, 4)) @ np.linalg.inv(c[:, None] ** np.arange(3))
    B = np.linalg.inv(A)
    cube, square = 3.0 ** (1.0 / 3.0), 3.0 ** (2.0 / 3.0)
    mu, pair = 3.0 + square - cube, complex(3.0 + 0.5 * (cube - square), 0.5 * np.sqrt(3.0) * (cube + square))
    right = [np.real(eigenvector(B, mu)), eigenvector(B, pair)]
    left = [np.real(eigenvector(B.T, mu)), eigenvector(B.T, pair)]
    left = [x / (x @ y) for x, y in zip(left, right, strict=True)]
    parts = [np.concatenate([x, np.real(y), np.imag(y)]) for x, y in (left, right)]
    error = np.array([-13.0 - 7.0 * root, -13.0 + 7.0 * root, -1.0]) / 3.0
    return np.concatenate([
        c, B.ravel(), A.ravel(), [mu, pair.real, pair.imag], *parts, error, np.linalg.inv(powers).T.ravel()
    ])  # fmt: skip


class Radau(VectorMethod):
    """``"radau"``: few, long steps at tight tolerances, and undamped vibrations, which bdf cannot follow. Steps are
    controlled by 15 % of the tolerances, so that the tolerance is kept at the end, and between the steps."""

    name, order, share = "radau", 5, 0.15
    degree = 3

    def __init__(self, plant: Plant, rtol: float = 1e-6, atol: float = 1e-9, max_step: float = np.inf, **options: Any):
        super().__init__(plant, rtol, atol, max_step)
        n, k, width = plant.nv, plant.np, self.size + 1
        self.words, self.ctl = np.zeros(48, dtype=np.int64), np.zeros(24)
        self.y, self.f1, self.u0, self.u1, self.tau1 = *(self.room(width) for _ in range(4)), self.room(n)
        m = n + k
        arrays = {
            at.Y: self.y, at.F1: self.f1, at.U0: self.u0, at.U1: self.u1, at.END_TAU: self.tau1, at.ATOL: self.allowed,
            at.S: self.room(slopes_size(n, k)), at.A: self.room(m, m), at.B: self.room(2 * m, m),
            at.PIVOTS: np.zeros(m, dtype=np.int64), at.COMPLEX_PIVOTS: np.zeros(m, dtype=np.int64),
            at.PACKED: self.room(2 * m), at.SPARE: self.room(2 * m * n + width + 32), at.TAU: self.room(n),
            at.TABLE: coefficients(), at.TURNED: self.room(2 * n + 32),
        }  # fmt: skip
        singles = {word: self.room(width) for word in (at.Y1, at.F0, at.REAL, at.SCALE, at.U)}
        pairs = {word: self.room(2, width) for word in (at.IMAGINARY, at.DZ)}
        triples = {word: self.room(3, width) for word in (at.Z, at.OLD, at.G)}
        self.place(self.words, arrays | singles | pairs | triples)
        self.ctl[at.RTOL], self.ctl[at.MAX_STEP] = self.step_rtol, max_step
        self.ctl[at.TINY_STEP] = 16.0 * np.finfo(float).eps
        self.ctl[at.NEWTON_TOLERANCE] = max(10.0 * np.finfo(float).eps / self.step_rtol, NEWTON_SHARE)
        self.ctl[at.ETA] = 1.0

    @cached_property
    def _steps(self) -> Any:
        return driver(radau_steps).call

    def prepare(self, t: float, q: Array, v: Array, p: Array) -> None:
        self.plant.machine.need(*self.kernels)
        _ = self._steps  # compiles

    def begin(self, t: float, q: Array, v: Array, p: Array) -> None:
        words = self.words
        self.ctl[at.T] = t
        self.u0[: self.size] = self.y[: self.size] = self.system.joined(q, v, p)
        self.ctl[at.H_BEFORE] = 0.0
        for word in (at.PENDING, at.KNOWN, at.EXTRAPOLATE, at.AGAIN, at.SLOPES_KNOWN, at.SLOPES_NEW, at.FACTORED):
            words[word] = 0

    def run(self, machine: Machine, harvest: Harvest, budget: int) -> int:
        words, ctl = self.words, self.ctl
        ctl[at.LIMIT], ctl[at.FASTEST] = self.clock[NEXT_LIMIT], self.fastest
        words[at.BUDGET] = budget
        words[at.REJECTED] = words[at.FACTORISATIONS] = 0
        status = self._steps(machine.env, address(words), harvest.io, address(ctl), address(self.clock))
        self.rejected += int(words[at.REJECTED])
        factorisations = self.statistics.get("factorisations", 0) + int(words[at.FACTORISATIONS])
        self.statistics["factorisations"] = factorisations
        return status

    def end(self) -> tuple[float, Array, Array, Array, Array | None, Array | None]:
        t, waits = float(self.ctl[at.T]), bool(self.words[at.PENDING])
        if not waits:
            return t, *self.parts(self.u0), None, None
        q, n = self.plant.nq, self.plant.nv
        return t, *self.parts(self.u1), self.f1[q : q + n].copy(), self.tau1.copy()

    def last_step(self) -> tuple[float, float, Array]:
        return float(self.ctl[at.T0]), float(self.ctl[at.T]), self.u0[: self.plant.nq].copy()

    def failure(self, status: int) -> StepFailure:
        return self.trouble(status, float(self.ctl[at.T]), int(self.words[at.WORST]), int(self.words[at.REASON]))
