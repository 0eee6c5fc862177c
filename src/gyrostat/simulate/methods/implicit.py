"""What Newmark's method, generalised-alpha and dina share: steps of a fixed length whose residual is one pass of
inverse dynamics, in machine code (:mod:`~gyrostat.simulate.methods.drivers.implicit_steps`)."""

from __future__ import annotations

from functools import cache, cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np

from gyrostat.engine.drivers.driver import driver
from gyrostat.engine.drivers.elimination import Elimination
from gyrostat.engine.drivers.kernel_code import KernelCode
from gyrostat.errors import GyrostatError
from gyrostat.simulate.kernels import environment as env
from gyrostat.simulate.kernels import harvest as harvesting
from gyrostat.simulate.kernels.sampling import NEXT_LIMIT
from gyrostat.simulate.methods.compiled import NO_SOLUTION, NOT_FINITE, RUNAWAY, CompiledMethod
from gyrostat.simulate.methods.drivers import fixed_clock as clock
from gyrostat.simulate.methods.drivers import implicit_memory as at
from gyrostat.simulate.methods.drivers.implicit_steps import ENDLESS, implicit_steps
from gyrostat.simulate.methods.drivers.newton import MOST_ITERATIONS
from gyrostat.simulate.methods.method import StepFailure
from gyrostat.simulate.methods.one_memory import OneMemory
from gyrostat.simulate.plant.harvest import Harvest
from gyrostat.simulate.plant.machine import Machine, address
from gyrostat.simulate.plant.plant import Plant

Array = np.ndarray
LOOSEST = 1e-2
"""Largest ``rtol``: a check that accepts everything is none."""
SPARSE = 0.6
"""Part of the multiplications of a full matrix below which it is factorised along the tree."""
BETWEEN = at.WORDS - 1
"""Word of the scratch of polynomials."""
VECTORS = (
    at.MOVE, at.RESIDUAL, at.CHANGE, at.BASE, at.BASE_RESIDUAL, at.WEIGHTS, at.REACH, at.BEFORE, at.PREDICTED, at.FLOW,
)  # fmt: skip
SQUARES = (
    at.WHOLE, at.FACTORS, at.MASS_SIZE, at.BIASED_INVERSE, at.WHOLE_INVERSE, at.KEPT_MATRIX, at.KEPT_MASS, at.METRIC,
    at.HERE, at.THERE, at.KEPT_DAMPING,
)  # fmt: skip
_orders: dict[tuple[str, str], Elimination] = {}


class Formulas(NamedTuple):
    """Coefficients of generalised-alpha, see there; those of the trapezoidal rule by default."""

    alpha_m: float = 0.0
    alpha_f: float = 0.0
    beta: float = 0.25
    gamma: float = 0.5


class ImplicitMethod(CompiledMethod):
    """(1 - alpha_m) w1 + alpha_m w0 = (1 - alpha_f) a1 + alpha_f a0, and w in the place of a in Newmark's formulas."""

    order, adaptive, degree = 2, False, 3
    way = harvesting.ALONG
    options = ("dt",)
    kernels = (env.INVERSE, env.SLOPES, env.LAW_SLOPES, env.RETRACT)
    counts: ClassVar[dict[str, int]] = {
        "newton_iterations": at.NEWTON, "factorisations": at.FACTORISATIONS, "halved": at.HALVED,
    }  # fmt: skip

    def __init__(self, plant: Plant, rtol: float = 1e-6, atol: float = 1e-9, max_step: float = np.inf, **options: Any):
        super().__init__(plant, rtol, atol, max_step)
        if rtol > LOOSEST:
            raise GyrostatError(
                f"simulate: {self.name}: rtol is the residual of a step that is accepted, relative to its forces, got "
                f"{rtol:g}, expected {LOOSEST:g} at most. Hint: leave it out"
            )
        self.words, self.ctl = np.zeros(at.WORDS, dtype=np.int64), np.zeros(at.NUMBERS)
        self.ctl[clock.DT], self.ctl[at.SHARE], self.ctl[at.LONGEST] = options["dt"], rtol, ENDLESS
        self.words[at.EVERY] = 1
        self.use(Formulas())
        self.statistics |= dict.fromkeys(self.counts, 0)
        self._machine: Machine | None = None
        self._allot(plant.nq, plant.nv, plant.np)

    def use(self, formulas: Formulas) -> None:
        """Steps by these formulas."""
        self.formulas = formulas
        self.ctl[at.ALPHA_M], self.ctl[at.ALPHA_F], self.ctl[at.BETA], self.ctl[at.GAMMA] = formulas

    def _allot(self, nq: int, n: int, p: int, pairs: bool = False) -> None:
        """Memory of the steps; ``pairs``: of those with a stage in their middle too."""
        self.words[at.STRIDE] = (n + p + 3) // 4 * 4
        memory = _memory(nq, n, p, pairs)
        self._memory = memory.new(self.words)
        part = memory.parts
        self.x, self.y, self._spare = (self._memory[part[word]] for word in (at.START, at.FINISH, BETWEEN))
        self._memory[part[at.SIZES]] = [*self.plant.source.sizes, 1.0]
        self._places = [address(self.ctl), address(self.clock), int(self.words[BETWEEN])]

    # ------------------------------------------------------------------ machine code
    @cached_property
    def _steps(self) -> Any:
        return driver(implicit_steps).call

    def prepare(self, t: float, q: Array, v: Array, p: Array) -> None:
        self.plant.machine.need(*self.kernels)
        _ = self._steps  # compiles

    def _follow(self, machine: Machine) -> None:
        """Another machine: nothing is known of its matrices."""
        if machine is not self._machine:
            self._machine, self.words[at.KEPT] = machine, 0
            order = elimination(machine, self.plant.nv, self.plant.np)
            self.words[at.TREE] = order is not None
            if order is not None:
                self._order = order
                self.words[at.FIRST], self.words[at.RUNS] = address(order.first), address(order.runs)

    # ------------------------------------------------------------------ calls
    def begin(self, t: float, q: Array, v: Array, p: Array) -> None:
        nq, n, k = self.plant.nq, self.plant.nv, self.plant.np
        self.ctl[clock.T] = self.ctl[clock.ORIGIN] = t
        self.ctl[clock.STEPS], self.ctl[at.LONGEST] = 0.0, ENDLESS
        self.x[:nq], self.x[nq : nq + n], self.x[nq + 4 * n : nq + 4 * n + k] = q, v, p
        self.words[clock.PENDING] = self.words[clock.KNOWN] = self.words[at.PHASE] = self.words[at.IRREGULAR] = 0

    def run(self, machine: Machine, harvest: Harvest, budget: int) -> int:
        self._follow(machine)
        self.ctl[clock.LIMIT], self.ctl[clock.FASTEST] = self.clock[NEXT_LIMIT], self.fastest
        self.words[clock.BUDGET] = budget
        status = self._steps(machine.env, address(self.words), harvest.io, *self._places)
        harvest.words[harvesting.SKIP] *= status == 2
        self.statistics |= {name: int(self.words[word]) for name, word in self.counts.items()}
        self.rejected = int(self.words[at.HALVED])
        return status

    def end(self) -> tuple[float, Array, Array, Array, Array | None, Array | None]:
        nq, n, k, t = self.plant.nq, self.plant.nv, self.plant.np, float(self.ctl[clock.T])
        pending = bool(self.words[clock.PENDING])
        q, v, a, _, tau, p, _ = (z.copy() for z in np.split(self.y if pending else self.x, ends(nq, n, k)))
        return (t, q, v, p, a, tau) if pending else (t, q, v, p, None, None)

    def last_step(self) -> tuple[float, float, Array]:
        return float(self.ctl[clock.T0]), float(self.ctl[clock.T]), self.x[: self.plant.nq].copy()

    def placed(self, q0: Array, x: Array) -> Array:
        return self.plant.retract(q0, x)

    def failure(self, status: int) -> StepFailure:
        if status == RUNAWAY:
            return self.grows(int(self.words[clock.WORST]))
        if status == NO_SOLUTION:
            return self._unsolved(float(self.ctl[at.TRIED_H]))
        error = self.not_finite(float(self.ctl[clock.T]))
        hint = "a smaller dt, or look at the efforts there"
        return StepFailure(str(error), error.dof if status == NOT_FINITE else None, hint)

    def _unsolved(self, h: float) -> StepFailure:
        return StepFailure(
            f"Newton's method does not fulfil the equations of motion in {MOST_ITERATIONS} iterations, nor with steps "
            f"of {h:.1e} s", int(self.words[clock.WORST]),
            "efforts that jump with the state have no solution there: gs.Friction sticks and slips by events, "
            "gs.JointLimits and gs.Event cut the run; or a smaller dt",
        )  # fmt: skip


@cache
def _memory(nq: int, n: int, p: int, pairs: bool) -> OneMemory:
    """What steps of a robot of these sizes need."""
    size = n + p
    stride = (size + 3) // 4 * 4
    state = nq + 4 * n + 2 * p
    sizes = {at.START: state, at.FINISH: state, at.SIZES: p + 1, BETWEEN: 2 * n + p + 1}
    sizes |= dict.fromkeys(VECTORS, stride) | dict.fromkeys(SQUARES, stride * size)
    sizes |= {at.SPARE: 2 * size, at.PIVOTS: size, at.KEPT_Q: nq}
    sizes |= {at.BLOCKS: 5 * n * n + 3 * n * p + p * p, at.REACH_P: size * p + 1}
    if pairs:
        sizes |= {at.MIDDLE: state, at.PAIR_RESIDUAL: 2 * stride, at.PAIR_CHANGE: 2 * stride}
        sizes |= {at.PAIR_INVERSE: size * 2 * stride, at.PAIR_RIGHT: 2 * stride, at.PAIR_PRODUCT: 4 * stride}
    return OneMemory(sizes)


def ends(nq: int, n: int, k: int) -> list[int]:
    """Where q, v, a, w, tau, p end in a state that ends with f."""
    return np.cumsum([nq, n, n, n, n, k]).tolist()


def elimination(machine: Machine, n: int, p: int) -> Elimination | None:
    """The order in which the matrix of Newton's method is eliminated without pivots; None if that does not pay, or if
    its pattern is not known."""
    model, law = machine.code(env.SLOPES), machine.code(env.LAW_SLOPES)
    if not isinstance(model, KernelCode) or not isinstance(law, KernelCode):
        return None
    key = model.program.digest, law.program.digest
    if key not in _orders:
        if len(_orders) > 256:
            _orders.clear()
        _orders[key] = Elimination.of(pattern(model, law, n, p))
    order = _orders[key]
    return order if order.operations < SPARSE * order.dense else None


def pattern(model: KernelCode, law: KernelCode, n: int, p: int) -> Array:
    """(n + p, n + p) bool: what may be other than zero in the matrix of Newton's method."""

    def filled(code: KernelCode, output: int, shape: tuple[int, int]) -> Array:
        entries = np.ones(shape[0] * shape[1], dtype=bool)
        for element, value in code.program.fixed(output).items():
            entries[element] = value != 0.0
        return entries.reshape(shape)

    full = np.eye(n + p, dtype=bool)
    for output in range(3):
        full[:n, :n] |= filled(model, output, (n, n))
    for output, (rows, columns) in enumerate(((0, 0), (0, 0), (0, 1), (1, 0), (1, 0), (1, 1))):
        shape = (p if rows else n, p if columns else n)
        full[rows * n : rows * n + shape[0], columns * n : columns * n + shape[1]] |= filled(law, output, shape)
    return full
