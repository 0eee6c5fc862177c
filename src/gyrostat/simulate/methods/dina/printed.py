"""AS (6), (7) as they are printed, for comparison: one Newton step in each step, with a matrix that serves a hundred of
them, and no look at what it leaves.

    a1 = a0 - S H(q, v, a0, p1, t1),    S = (dH/da + c h dH/dv + h^2/4 dH/dq)^-1,    (q1, v1) by (5) from a1

``"printed"``: letter by letter, (q, v) = (q0, v0) and c = 1. That is of order 1, and undamped vibrations grow.
``"predicted"``: (q, v) by (5) from a1 = a0, and c = 1/2, as it follows from (5): of order 2. Either may be wrong in
silence; ``largest_residual`` of their statistics, relative to the forces in the step, tells. AS does not say how p is
integrated: p1 = p0 + h f0."""

from __future__ import annotations

from typing import Any

import numpy as np

from gyrostat.errors import GyrostatError, NonFiniteError, nearest
from gyrostat.simulate.methods.acceptance import Forces
from gyrostat.simulate.methods.newmark import Formulas, State
from gyrostat.simulate.plant.plant import Plant

Array = np.ndarray
SCHEMES = ("checked", "predicted", "printed")
SERVES = 100
"""Steps that a matrix serves [AS, below (7)]."""


class PrintedScheme:
    """Steps of AS (6), ``literal`` or with a prediction; the largest residual so far, relative to the forces."""

    def __init__(self, plant: Plant, literal: bool):
        self.plant, self.literal = plant, literal
        self.largest, self.made = 0.0, 0
        self._S: Array | None = None
        self._forces: Forces | None = None
        self._h, self._served = 0.0, 0

    def restart(self) -> None:
        """From another state, or with another model."""
        self._S = None

    def step(self, x: State, t1: float) -> State:
        """The state at t1."""
        h, plant, five = t1 - x.t, self.plant, Formulas()
        if self._S is None or self._served >= SERVES or abs(h - self._h) > 1e-6 * h:
            self._renew(x, h)
        self._served += 1
        given, p1 = {"h": h, "v": x.v, "a": x.a, "w": x.a}, x.p + h * x.f
        q, v = x.q, x.v
        if not self.literal:
            move, v, _ = five.advanced(given, x.a)
            q = plant.retract(x.q, move)
        a1 = x.a - self._S @ plant.residual(t1, q, v, x.a, p1)
        move, v1, _ = five.advanced(given, a1)
        q1 = plant.retract(x.q, move)
        if not (np.isfinite(q1).all() and np.isfinite(v1).all() and np.isfinite(a1).all()):
            raise NonFiniteError(f"a step to t = {t1:.9g} s is not finite")
        tau, f = plant.torque(t1, q1, v1, p1)
        now = State(t1, q1, v1, p1, a1, a1, f, tau)
        self._look(x, now)
        return now

    def _renew(self, x: State, h: float) -> None:
        by_q, by_v, M = self.plant.derivatives.residual_jacobians(x.t, x.q, x.v, x.a, x.p)
        A = M + (h if self.literal else 0.5 * h) * by_v + 0.25 * h * h * by_q
        self._S, self._forces, self._h, self._served = np.linalg.inv(A), Forces.of(A, M, h), h, 0
        self.made += 1

    def _look(self, x: State, now: State) -> None:
        r, none = self.plant.residual(now.t, now.q, now.v, now.a, now.p), np.zeros(0)
        force = self._forces.allowed(r, now.q, now.a, now.tau, none, (none, none), 1.0)  # type: ignore[union-attr]
        size = np.divide(np.abs(r), force, out=np.zeros(len(r)), where=force > 0.0)
        self.largest = max(self.largest, float(size.max()))


def printed_scheme(plant: Plant, scheme: Any, iterations: Any, rho: Any, matrix: Any) -> PrintedScheme | None:
    """The scheme of that name, None for the checked one."""
    if scheme not in SCHEMES:
        raise GyrostatError(f"simulate: dina: there is no scheme {scheme!r}. Hint: {nearest(str(scheme), SCHEMES)}")
    if scheme == "checked":
        return None
    if (iterations, rho, matrix) != (1, 1.0, "exact"):
        raise GyrostatError(
            f"simulate: dina: scheme '{scheme}' is AS (6) with (7) alone, iterations, rho_inf and matrix are not used. "
            "Hint: leave them out, or scheme='checked'"
        )
    return PrintedScheme(plant, scheme == "printed")
