"""The generalised-alpha method [Chung, Hulbert, J. Appl. Mech. 60 (1993) 371-375] in the form with an auxiliary
acceleration w, so that the equations of motion hold at the end of every step [Arnold, Bruls, Multibody Syst. Dyn. 18
(2007) 185-202]:

    (1 - alpha_m) w1 + alpha_m w0 = (1 - alpha_f) a1 + alpha_f a0,
    q1 = q0 (+) (h v0 + h^2 ((1/2 - beta) w0 + beta w1)),    v1 = v0 + h ((1 - gamma) w0 + gamma w1),
    alpha_m = (2 rho - 1)/(rho + 1), alpha_f = rho/(rho + 1), gamma = 1/2 + alpha_f - alpha_m, beta = (gamma + 1/2)^2/4.

rho is the factor by which vibrations that are much faster than the step shrink in each step: 1 none is damped, 0 they
are gone after one. Slow motions keep order 2 and lose almost nothing. Own states p of the torque source follow the
trapezoidal rule."""

from __future__ import annotations

from typing import Any

import numpy as np

from gyrostat.errors import GyrostatError, clipped
from gyrostat.simulate.methods.implicit import Formulas, ImplicitMethod
from gyrostat.simulate.plant.plant import Plant


class GeneralisedAlpha(ImplicitMethod):
    """``"generalised-alpha"``: fixed steps ``dt``; ``rho_inf`` from 0 to 1, 0.8 by default."""

    name = "generalised-alpha"
    options = ("dt", "rho_inf")

    def __init__(self, plant: Plant, rtol: float = 1e-6, atol: float = 1e-9, max_step: float = np.inf, **options: Any):
        super().__init__(plant, rtol, atol, max_step, **options)
        self.use(formulas(options.get("rho_inf", 0.8), self.name))


def formulas(rho: Any, name: str) -> Formulas:
    """The coefficients for a damping of fast vibrations."""
    if isinstance(rho, bool) or not isinstance(rho, float | int) or not 0.0 <= rho <= 1.0:
        raise GyrostatError(f"simulate: {name}: rho_inf must be from 0 to 1, got {clipped(rho)}. Hint: rho_inf=0.8")
    alpha_m, alpha_f = (2.0 * rho - 1.0) / (rho + 1.0), rho / (rho + 1.0)
    gamma = 0.5 + alpha_f - alpha_m
    return Formulas(alpha_m, alpha_f, 0.25 * (gamma + 0.5) ** 2, gamma)
