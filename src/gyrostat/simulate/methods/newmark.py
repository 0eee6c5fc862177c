"""Newmark's method with Newton's iteration on the residual of inverse dynamics [Newmark 1959; AS (1), (5)].

    H(t1, q1, v1, a1, p1) = rnea(q1, v1, a1) - tau(t1, q1, v1, p1) = 0,    p1 = p0 + h/2 (f0 + f1),
    q1 = q0 (+) (h v0 + h^2 ((1/2 - beta) a0 + beta a1)),    v1 = v0 + h ((1 - gamma) a0 + gamma a1).

The mass matrix is never inverted; the matrix of Newton's method is M + gamma h dH/dv + beta h^2 dH/dq, from the exact
derivatives of inverse dynamics. With quaternions the step is that of the Lie group method of Bruls and Cardona
[J. Comp. Nonlin. Dyn. 5 (2010) 031002], of the same order; their Jacobian is exact up to terms of order h.

beta = 1/4, gamma = 1/2 is the trapezoidal rule: order 2, stable for any step, without damping.

A step is accepted when its residual says so (:mod:`~gyrostat.simulate.methods.drivers.implicit_equations`); otherwise
Newton goes on, with a matrix made anew where it converges slowly; otherwise the step is halved, and the rest of it
follows; otherwise the run stops."""

from __future__ import annotations

from typing import Any

import numpy as np

from gyrostat.errors import GyrostatError, clipped
from gyrostat.simulate.methods.implicit import Formulas, ImplicitMethod
from gyrostat.simulate.plant.plant import Plant


class Newmark(ImplicitMethod):
    """``"newmark"``: fixed steps ``dt``; ``beta`` from 1/4 and ``gamma`` from 1/2 on are stable for any step. Order 2
    for gamma = 1/2, else 1."""

    name = "newmark"
    options = ("dt", "beta", "gamma")

    def __init__(self, plant: Plant, rtol: float = 1e-6, atol: float = 1e-9, max_step: float = np.inf, **options: Any):
        super().__init__(plant, rtol, atol, max_step, **options)
        given = Formulas(beta=options.get("beta", 0.25), gamma=options.get("gamma", 0.5))
        for name, value in (("beta", given.beta), ("gamma", given.gamma)):
            if isinstance(value, bool) or not isinstance(value, float | int) or not 0.0 < value <= 1.0:
                raise GyrostatError(
                    f"simulate: newmark: {name} must be in (0, 1], got {clipped(value)}. Hint: leave it out"
                )
        self.use(given)


class Trapezoid(ImplicitMethod):
    """``"trapezoid"``: the trapezoidal rule for q' = v, v' = a, p' = f; Newmark's method with 1/4 and 1/2."""

    name = "trapezoid"
