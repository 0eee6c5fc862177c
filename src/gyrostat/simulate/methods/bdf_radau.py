"""Implicit methods for stiff models by SciPy, stepped by us, with our compiled Jacobians.

``"bdf"``: backward differentiation of order 1 to 5 in the quasi-constant form [Shampine, Reichelt, SIAM J. Sci. Comp.
18 (1997) 1-22], ``"radau"``: Radau IIA of order 5 [Hairer, Wanner, Solving Ordinary Differential Equations II, IV.8].
The system is y = (q, v, p), y' = (v, a, p'), its Jacobian :meth:`Plant.rhs_jacobian`. Plain coordinates only."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from gyrostat.errors import GyrostatError, NonFiniteError
from gyrostat.simulate.methods.method import Method, Step, StepFailure
from gyrostat.simulate.plant import Plant

Array = np.ndarray


class ScipyMethod(Method):
    """A solver of ``scipy.integrate`` that is asked for one step after the other."""

    adaptive, quaternions = True, False
    solver: ClassVar[str]
    share: ClassVar[float]
    """Part of the tolerances that the estimate for a single step gets."""

    def __init__(self, plant: Plant, rtol: float = 1e-6, atol: float = 1e-9, max_step: float = np.inf, **options: Any):
        super().__init__(plant, rtol, atol, max_step)
        try:
            from scipy import integrate
        except ImportError as error:
            raise GyrostatError(f"simulate: method '{self.name}' needs scipy. Hint: pip install scipy") from error
        self._class = getattr(integrate, self.solver)
        self._solver: Any = None

    def _rhs(self, t: float, y: Array) -> Array:
        n = self.plant.nv
        try:
            a, p_rate, _ = self.plant.acceleration(t, y[:n], y[n : 2 * n], y[2 * n :])
        except NonFiniteError as error:
            self._cause = str(error)
            return np.full(len(y), np.nan)  # the solver takes a smaller step
        return np.concatenate([y[n : 2 * n], a, p_rate])

    _cause = ""

    def _jacobian(self, t: float, y: Array) -> Array:
        n = self.plant.nv
        return self.plant.rhs_jacobian(float(t), y[:n], y[n : 2 * n], y[2 * n :])

    def prepare(self, t: float, q: Array, v: Array, p: Array) -> None:
        counted = self.plant.counters.jacobian_evaluations
        self.plant.rhs_jacobian(t, q, v, p)
        self.plant.counters.jacobian_evaluations = counted

    def start(self, t: float, q: Array, v: Array, p: Array) -> None:
        self._begin = (t, np.concatenate([q, v, p]))
        self._solver = None

    def _made(self, t_limit: float) -> Any:
        t, y = self._begin
        return self._class(
            self._rhs,
            t,
            y,
            t_limit,
            max_step=self.max_step,
            rtol=max(self.share * self.rtol, 3e-14),
            atol=self.share * self.atol,
            jac=self._jacobian,
        )

    def step(self, t_limit: float) -> Step:
        n = self.plant.nv
        if self._solver is None:
            self._solver = self._made(t_limit)
        solver = self._solver
        solver.t_bound, solver.status = t_limit, "running"
        told = solver.step()
        if solver.status == "failed":
            raise StepFailure(self._cause or f"{told}".rstrip(".").lower(), hint="the efforts may jump or grow there")
        y, inside = solver.y.copy(), solver.dense_output()
        self.statistics["factorisations"] = self.statistics.get("factorisations", 0) + solver.nlu
        solver.nlu = 0

        def dense(t: Any) -> tuple[Array, Array, Array]:
            found = np.moveaxis(inside(np.asarray(t, dtype=float)), 0, -1)
            return found[..., :n], found[..., n : 2 * n], found[..., 2 * n :]

        return Step(float(solver.t_old), float(solver.t), y[:n], y[n : 2 * n], y[2 * n :], None, None, dense)


class Bdf(ScipyMethod):
    """``"bdf"``: the fewest evaluations for smooth stiff motions. Steps are controlled by a tenth of the tolerances:
    errors of a multistep method add up over many short steps, and with a tenth the tolerance is kept at the end."""

    name, order, solver, share = "bdf", 5, "BDF", 0.1


class Radau(ScipyMethod):
    """``"radau"``: few, long steps at tight tolerances, and undamped vibrations, which bdf cannot follow."""

    name, order, solver, share = "radau", 5, "Radau", 1.0
