"""Implicit methods for stiff models by SciPy, stepped by us, with our compiled Jacobians: independent of ours, which
are compared with them.

``"scipy-bdf"``: backward differentiation of order 1 to 5 in the quasi-constant form [Shampine, Reichelt, SIAM J. Sci.
Comp. 18 (1997) 1-22], ``"scipy-radau"``: Radau IIA of order 5 [Hairer, Wanner, Solving Ordinary Differential Equations
II, IV.8]. The system y' = f(t, y) with its Jacobian is :class:`VectorSystem`: plain coordinates as they are,
quaternions as points of R^4 whose length has no meaning."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from gyrostat.errors import GyrostatError, NonFiniteError
from gyrostat.simulate.methods.method import Method, Step, StepFailure
from gyrostat.simulate.plant.plant import Plant
from gyrostat.simulate.plant.vector_system import VectorSystem

Array = np.ndarray


class ScipyMethod(Method):
    """A solver of ``scipy.integrate`` that is asked for one step after the other."""

    adaptive = True
    solver: ClassVar[str]
    share: ClassVar[float]
    """Part of the tolerances that the estimate for a single step gets."""
    instants: ClassVar[int]
    """Instants at which one try of a step evaluates f."""

    def __init__(self, plant: Plant, rtol: float = 1e-6, atol: float = 1e-9, max_step: float = np.inf, **options: Any):
        super().__init__(plant, rtol, atol, max_step)
        try:
            from scipy import integrate
        except ImportError as error:
            raise GyrostatError(f"simulate: method '{self.name}' needs scipy. Hint: pip install scipy") from error
        self._class = getattr(integrate, self.solver)
        self._solver: Any = None
        self.system = VectorSystem(plant)
        self._seen: set[float] = set()
        self._known: Array | None = None

    def _rhs(self, t: float, y: Array) -> Array:
        self._seen.add(t)
        try:
            return self.system.rates(t, y)
        except NonFiniteError as error:
            self._cause = str(error)
            return np.full(len(y), np.nan)  # the solver takes a smaller step

    _cause = ""

    def _jacobian(self, t: float, y: Array) -> Array:
        try:
            self._known = self.system.jacobian(float(t), y)
        except NonFiniteError as error:
            if self._known is None:
                raise
            self._cause = str(error)  # f is not finite there either, and a smaller step follows
        return self._known

    def prepare(self, t: float, q: Array, v: Array, p: Array) -> None:
        self.system.prepare(t, q, v, p)

    def start(self, t: float, q: Array, v: Array, p: Array) -> None:
        self._begin = (t, self.system.joined(q, v, p))
        self._solver = None

    def _made(self, t_limit: float) -> Any:
        t, y = self._begin
        rtol = max(self.share * self.rtol, 3e-14)
        return self._class(
            self._rhs,
            t,
            y,
            t_limit,
            max_step=self.max_step,
            rtol=rtol,
            atol=self.system.absolute(rtol, self.share * self.atol),
            jac=self._jacobian,
        )

    def step(self, t_limit: float) -> Step:
        if self._solver is None:
            self._solver = self._made(t_limit)
        solver = self._solver
        solver.t_bound, solver.status = t_limit, "running"
        self._seen.clear()
        self._cause = ""
        told = solver.step()
        if solver.status == "failed":
            raise StepFailure(self._cause or f"{told}".rstrip(".").lower(), hint="the efforts may jump or grow there")
        inside, t0, t1, state = solver.dense_output(), float(solver.t_old), float(solver.t), self.system.state
        tried = sum(t > t0 for t in self._seen)
        self.rejected += max(0, (tried - 1) // self.instants)
        self.statistics["factorisations"] = self.statistics.get("factorisations", 0) + solver.nlu
        solver.nlu = 0
        q, v, p = state(solver.y.copy())
        if self.system.strayed(solver.y):
            self.start(t1, q, v, p)
            self.statistics["restarts"] = self.statistics.get("restarts", 0) + 1

        def dense(t: Any) -> tuple[Array, Array, Array]:
            return state(np.moveaxis(inside(np.asarray(t, dtype=float)), 0, -1))

        return Step(t0, t1, q, v, p, None, None, dense)


class ScipyBdf(ScipyMethod):
    """``"scipy-bdf"``: with 3 % of the tolerances, as :class:`~gyrostat.simulate.methods.bdf.Bdf` has it."""

    name, order, solver, share, instants = "scipy-bdf", 5, "BDF", 0.03, 1


class ScipyRadau(ScipyMethod):
    """``"scipy-radau"``: few, long steps at tight tolerances."""

    name, order, solver, share, instants = "scipy-radau", 5, "Radau", 1.0, 3
