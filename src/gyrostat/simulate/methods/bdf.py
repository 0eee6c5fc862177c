"""Backward differentiation of order 1 to 5, with steps and orders by estimates of the error.

The formulas are those of Klopfenstein and Shampine [Shampine, Reichelt, SIAM J. Sci. Comp. 18 (1997) 1-22]: with
gamma_k = 1 + 1/2 + ... + 1/k,

    (1 - kappa_k) gamma_k (y - y*) + sum_{i <= k} gamma_i D_i = h y'(y),
    error = (kappa_k gamma_k + 1/(k + 1)) |y - y*|,

where y* is the polynomial through the last k + 1 states at the new instant, and D_i are their backward differences.
They are solved on inverse dynamics, in machine code: :mod:`~gyrostat.simulate.methods.drivers.bdf_steps`."""

from __future__ import annotations

from functools import cache, cached_property
from typing import Any

import numpy as np

from gyrostat.engine.drivers.driver import driver
from gyrostat.simulate.kernels.newton_matrix import slopes_size
from gyrostat.simulate.kernels.sampling import NEXT_LIMIT
from gyrostat.simulate.methods.dopri5 import DormandPrince
from gyrostat.simulate.methods.drivers import bdf_memory as at
from gyrostat.simulate.methods.drivers.bdf_steps import bdf_steps, stride_of
from gyrostat.simulate.methods.drivers.differences import HIGHEST, ROWS
from gyrostat.simulate.methods.method import StepFailure
from gyrostat.simulate.methods.one_memory import OneMemory
from gyrostat.simulate.methods.vector_method import VectorMethod
from gyrostat.simulate.plant.harvest import Harvest
from gyrostat.simulate.plant.machine import Machine, address
from gyrostat.simulate.plant.plant import Plant

Array = np.ndarray
KAPPA = np.array([0.0, -0.1850, -1.0 / 9.0, -0.0823, -0.0415, 0.0])
"""For orders 0 to 5: a smaller error for a little less stability."""
NEWTON_SHARE = 0.02
"""Error of Newton's method, in units of the tolerance of a step."""


@cache
def coefficients() -> Array:
    """gamma, alpha, error constants of orders 0 to 6, weights of Adams and Moulton, and a basis (6, 6) of polynomials:
    row i holds the coefficients of prod_{j < i} (s - 1 + j) / (j + 1)."""
    gamma = np.concatenate([[0.0], np.cumsum(1.0 / np.arange(1, HIGHEST + 2))])
    kappa = np.append(KAPPA, 0.0)
    table = np.zeros((4, 8))
    table[0, :7], table[1, :7] = gamma, (1.0 - kappa) * gamma
    table[2, :7] = kappa * gamma + 1.0 / np.arange(1, 8)
    basis = np.zeros((HIGHEST + 1, HIGHEST + 1))
    product = np.array([1.0])
    for i in range(HIGHEST + 1):
        basis[i, : i + 1] = product
        product = np.convolve(product, [i - 1.0, 1.0]) / (i + 1.0)
    table[3, : HIGHEST + 1] = basis @ (1.0 / np.arange(1, HIGHEST + 2))
    return np.concatenate([table.ravel(), basis.ravel()])


@cache
def _memory(size: int, n: int, k: int) -> OneMemory:
    """What steps need: of y (size,), rates (n,), own states of the source (k,)."""
    width, m = size + 1, n + k
    sizes = dict.fromkeys((at.U0, at.U1, at.Y, at.BASE, at.PREDICTED, at.SCALE, at.U, at.DIFFERENCE), width)
    sizes |= dict.fromkeys((at.TAU, at.ACCELERATIONS, at.END_ACCELERATIONS, at.END_TAU), n)
    sizes |= {at.R: m, at.PIVOTS: m, at.RATES: k + 1, at.A: m * m, at.S: slopes_size(n, k)}
    sizes |= {at.INVERSE: m * stride_of(m), at.CHANGE: stride_of(m), at.D: ROWS * width}
    sizes |= {at.K: DormandPrince.table.stages * width, at.SPARE: max(m * n, (HIGHEST + 1) * width) + width}
    return OneMemory(sizes)


class Bdf(VectorMethod):
    """``"bdf"``: the fewest evaluations for smooth stiff motions. Steps are controlled by 3 % of the tolerances:
    errors of a multistep method add up over many short steps, and so the tolerance is kept at the end."""

    name, order, share = "bdf", 5, 0.03
    degree = HIGHEST + 1
    outputs_apart = True

    def __init__(self, plant: Plant, rtol: float = 1e-6, atol: float = 1e-9, max_step: float = np.inf, **options: Any):
        super().__init__(plant, rtol, atol, max_step)
        n, k, width = plant.nv, plant.np, self.size + 1
        self.words, self.ctl = np.zeros(48, dtype=np.int64), np.zeros(24)
        memory = _memory(self.size, n, k)
        self._memory, part = memory.new(self.words), memory.parts
        self.u0, self.u1, self.a1, self.tau1 = (
            self._memory[part[word]] for word in (at.U0, at.U1, at.END_ACCELERATIONS, at.END_TAU)
        )
        self.table = self._memory[part[at.D]].reshape(ROWS, width)
        self.place(
            self.words, {at.ATOL: self.allowed, at.TABLE: DormandPrince.table.memory, at.COEFFICIENTS: coefficients()}
        )
        self.ctl[at.RTOL], self.ctl[at.MAX_STEP] = self.step_rtol, max_step
        self.ctl[at.TINY_STEP] = 16.0 * np.finfo(float).eps
        self.ctl[at.NEWTON_TOLERANCE] = max(10.0 * np.finfo(float).eps / self.step_rtol, NEWTON_SHARE)
        self.words[at.SLOPES_AGE] = 1000

    @cached_property
    def _steps(self) -> Any:
        return driver(bdf_steps).call

    def prepare(self, t: float, q: Array, v: Array, p: Array) -> None:
        self.plant.machine.need(*self.kernels)
        _ = self._steps  # compiles

    def begin(self, t: float, q: Array, v: Array, p: Array) -> None:
        self.ctl[at.T] = t
        self.u0[: self.size] = self.system.joined(q, v, p)
        self.words[at.FRESH] = 1
        self.words[at.PENDING] = self.words[at.FIRST_KNOWN] = 0

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
        q, v, p = self.parts(self.u1 if waits else self.u0)
        if waits and self.words[at.KNOWN_END]:
            return t, q, v, p, self.a1.copy(), self.tau1.copy()
        return t, q, v, p, None, None

    def last_step(self) -> tuple[float, float, Array]:
        return float(self.ctl[at.T0]), float(self.ctl[at.T]), self.u0[: self.plant.nq].copy()

    def failure(self, status: int) -> StepFailure:
        return self.trouble(status, float(self.ctl[at.T]), int(self.words[at.WORST]), int(self.words[at.REASON]))
