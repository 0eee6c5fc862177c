"""Semi-implicit (symplectic) Euler with fixed steps: rates first, coordinates with the new rates. Order 1, one
evaluation a step.

    v1 = v0 + h a(q0, v0),   q1 = q0 (+) h v1,   p1 = p0 + h p'.

Without forces that depend on v it is symplectic: the energy of a conservative motion oscillates with an amplitude
proportional to h, and does not drift [Hairer, Lubich, Wanner, Geometric Numerical Integration, VI.3]."""

from __future__ import annotations

from typing import Any

import numpy as np

from gyrostat.errors import NonFiniteError
from gyrostat.simulate.methods.method import Method, Step, StepFailure
from gyrostat.simulate.methods.runge_kutta import FixedStep
from gyrostat.simulate.plant.plant import Plant

Array = np.ndarray


class SemiImplicitEuler(Method):
    """``"semi-implicit-euler"``: fixed steps ``dt``; what lies between them is the end of a shorter step."""

    name, order, adaptive = "semi-implicit-euler", 1, False
    options = ("dt",)

    def __init__(self, plant: Plant, rtol: float = 1e-6, atol: float = 1e-9, max_step: float = np.inf, **options: Any):
        super().__init__(plant, rtol, atol, max_step)
        self.clock = FixedStep(options["dt"], self.name)

    def start(self, t: float, q: Array, v: Array, p: Array) -> None:
        self.t, self.q, self.v, self.p = t, q, v, p
        self._known: tuple[Array, Array, Array] | None = None
        self.clock.restart(t)

    def step(self, t_limit: float) -> Step:
        t0, q0, v0, p0 = self.t, self.q, self.v, self.p
        t1 = self.clock.next(t_limit)
        h = t1 - t0
        try:
            a0, p_rate, tau0 = self._known or self.plant.acceleration(t0, q0, v0, p0)
            v1, p1 = v0 + h * a0, p0 + h * p_rate
            q1 = self.plant.retract(q0, h * v1)
            a1, _, tau1 = self._known = self.plant.acceleration(t1, q1, v1, p1)
        except NonFiniteError as error:
            raise StepFailure(str(error), hint="a smaller dt, or look at the efforts there") from error
        self.t, self.q, self.v, self.p = t1, q1, v1, p1
        self.clock.reached(t1)

        def dense(t: Any) -> tuple[Array, Array, Array]:
            s = (np.asarray(t, dtype=float) - t0)[..., None]
            v = v0 + s * a0
            q = q0 + s * v if self.plant.plain else self.plant.move(q0, s * v)
            return q, v, p0 + s * p_rate

        power = 0.5 * float(tau0 @ v1 + tau1 @ v1)
        return Step(t0, t1, q1, v1, p1, a1, tau1, dense, lambda t: (np.asarray(t, dtype=float) - t0) * power)
