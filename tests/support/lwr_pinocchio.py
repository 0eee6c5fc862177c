"""The motion of WM15 4.3 by Pinocchio's forward dynamics and SciPy's integrators: nothing of ``gyrostat.simulate``."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.integrate import solve_ivp

import gyrostat as gs
from demos.lwr_problem import DURATION, START, TIMES, C, K, law
from tests.support.pinocchio_oracle import Oracle, pin


def solved(method: str, rtol: float, atol: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """q, v, a (141, 7) at ``TIMES``."""
    oracle = Oracle(gs.robots.kuka_lwr4())
    model, data = oracle.model, oracle.data

    def rhs(t, y):
        q, v = y[:7], y[7:]
        return np.concatenate([v, pin.aba(model, data, q, v, law(t, q, v))])

    def slopes(t, y):
        q, v = y[:7], y[7:]
        dq, dv, inverse = pin.computeABADerivatives(model, data, q, v, law(t, q, v))
        inverse = np.triu(inverse) + np.triu(inverse, 1).T
        return np.block([[np.zeros((7, 7)), np.eye(7)], [dq - inverse * K, dv - inverse * C]])

    y0 = np.concatenate([START, np.zeros(7)])
    options: dict[str, Any] = {} if method == "DOP853" else {"jac": slopes}
    found = solve_ivp(rhs, (0.0, DURATION), y0, method=method, rtol=rtol, atol=atol, t_eval=TIMES, **options)
    assert found.success, found.message
    a = np.array([rhs(t, y)[7:] for t, y in zip(found.t, found.y.T, strict=True)])
    return found.y[:7].T, found.y[7:].T, a
