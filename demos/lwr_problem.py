"""The experiment of WM15 4.2-4.4: the programmed motion (28)-(31), the laws (32)-(34), and the numbers of its text."""

from __future__ import annotations

from typing import Any

import numpy as np

import gyrostat as gs
from gyrostat.simulate.methods import METHODS
from gyrostat.simulate.methods.runge_kutta import RungeKutta

Array = np.ndarray

DURATION = 14.0
"""Of the motion [s]."""
W = np.pi / 7.0
"""Frequency of the motion [rad/s]."""
START = np.full(7, np.pi / 2)
"""q(0) [rad], at rest [WM15 (30), (31)]."""
K = np.array([10.0, 1000.0, 200.0, 100.0, 10.0, 10.0, 10.0])
"""Gains [N m/rad] [WM15 (33)]."""
C = np.array([1000.0, 10000.0, 1000.0, 1000.0, 10.0, 10.0, 10.0])
"""Gains [N m s/rad] [WM15 (34); it prints kg m/(rad s)]."""
TIMES = np.linspace(0.0, DURATION, 141)
"""Instants of comparison [s]."""

TABLE = {
    "Scilab BDF": (1924, 993),
    "ADAMS GSTIFF SI2": (4432, 1745),
    "ADAMS GSTIFF I3": (2583, 1613),
    "ADAMS WSTIFF SI2": (4852, 1824),
    "ADAMS WSTIFF I3": (3388, 1489),
    "ADAMS HHT": (7431, 2190),
    "ADAMS Newmark": (7495, 2196),
    "ADAMS HASTIFF SI1": (7010, 1821),
    "ADAMS HASTIFF SI2": (6272, 1787),
}
"""WM15 Table 1: evaluations of the right-hand side at the tolerances 1e-6 and 1e-3."""
DIFFERENCES = (5e-4, 5e-4, 0.014)
"""Largest differences between ADAMS and Scilab that WM15 4.3 states [rad, rad/s, rad/s^2]."""


def desired(t: Any) -> tuple[Array, Array, Array]:
    """q, v, a (..., 7) of the programmed motion: pi/2 cos(pi t/7) in every joint [WM15 (28), (29)]."""
    s, c = (f(W * np.asarray(t, dtype=float))[..., None] * np.ones(7) for f in (np.sin, np.cos))
    return np.pi / 2 * c, -np.pi / 2 * W * s, -np.pi / 2 * W**2 * c


def law(t: Any, q: Any, v: Any) -> Any:
    """tau_j = k_j (q_dj - q_j) + c_j (v_dj - v_j) [WM15 (32)]: each joint for itself, no model."""
    return K * (np.pi / 2 * np.cos(W * t) - q) + C * (-np.pi / 2 * W * np.sin(W * t) - v)


def run(
    method: str, rtol: float, atol: float, t_end: float = DURATION, t_eval: Any = TIMES, dt: float | None = None
) -> gs.Result:
    """Forward dynamics under the laws, by gyrostat."""
    model, settings = gs.robots.kuka_lwr4(), {"method": method, "rtol": rtol, "atol": atol, "dt": dt}
    return gs.simulate(model, law, START, t_end=t_end, t_eval=t_eval, progress=False, **settings)


def stiff_methods() -> list[str]:
    """Names of the methods that choose their steps and are implicit; without those of SciPy, of which ours are like."""
    implicit = (name for name, method in METHODS.items() if method.adaptive and not issubclass(method, RungeKutta))
    return sorted(name for name in implicit if not name.startswith("scipy-"))
