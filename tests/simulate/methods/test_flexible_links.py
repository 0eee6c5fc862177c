"""Every method on robots with flexible links: the motion that SciPy finds with the same accelerations."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import gyrostat as gs
from gyrostat.simulate.methods import METHODS
from tests.support.flexible_models import boom_arm

TIMES = np.linspace(0.0, 0.2, 5)
FIXED = {"dt": 2e-4}
OPTIONS: dict[str, dict[str, Any]] = dict.fromkeys(
    ("rk4", "semi-implicit-euler", "moreau", "newmark", "trapezoid", "generalised-alpha", "dina", "variational"), FIXED
)
ERROR = {
    "dopri5": 1e-7, "dop853": 1e-8, "ode23": 1e-6, "rk4": 1e-8, "semi-implicit-euler": 1e-3, "moreau": 1e-5,
    "radau": 1e-8, "bdf": 1e-7, "newmark": 1e-5, "trapezoid": 1e-5, "generalised-alpha": 1e-5, "dina": 1e-5,
    "variational": 1e-5, "cvode": 1e-7, "ida": 1e-7, "scipy-bdf": 1e-7, "scipy-radau": 1e-8,
}  # fmt: skip
"""Largest error [rad, m] of a coordinate within 0.2 s, with the default tolerances or steps of 0.2 ms."""
BEAMS: dict[str, dict[str, Any]] = {
    "one beam": {"modes": 2, "modes_x": 0},
    "segments": {"modes": (1, 0), "modes_x": 0, "segments": 2},
    "in-cut": {"method": "in-cut", "elements": 1, "modes_x": 0},
}


def started(model: gs.Model) -> tuple[np.ndarray, np.ndarray]:
    """Hinges at speed, springs and shapes unloaded: all of them vibrate."""
    q, v = np.zeros(model.nv), np.zeros(model.nv)
    q[:2], v[:2] = (0.3, -0.4), (2.0, 1.0)
    return q, v


def exact(model: gs.Model, law: Any, q: np.ndarray, v: np.ndarray, times: np.ndarray) -> np.ndarray:
    n, aba = model.nv, gs.ForwardDynamics(model)

    def rates(t: float, y: np.ndarray) -> np.ndarray:
        return np.concatenate([y[n:], aba(y[:n], y[n:], law(t, y[:n], y[n:]))])

    y = np.concatenate([q, v])
    motion = solve_ivp(rates, (0.0, times[-1]), y, method="DOP853", t_eval=times, rtol=1e-10, atol=1e-12)
    return motion.y[:n].T


@cache
def swinging(kind: str) -> tuple[gs.Model, np.ndarray]:
    model = boom_arm(**BEAMS[kind])
    return model, exact(model, lambda t, q, v: np.zeros(len(v)), *started(model), TIMES)


def test_every_method_is_in_this_product() -> None:
    assert set(METHODS) == set(ERROR)


@pytest.mark.parametrize("kind", [x if x != "segments" else pytest.param(x, marks=pytest.mark.slow) for x in BEAMS])
@pytest.mark.parametrize("method", ERROR)
def test_every_method_moves_every_kind_of_beam(method: str, kind: str) -> None:
    model, want = swinging(kind)
    q, v = started(model)
    run = gs.simulate(model, q0=q, v0=v, t_eval=TIMES, method=method, progress=False, **OPTIONS.get(method, {}))
    assert np.abs(run.q - want).max() < ERROR[method]


# ------------------------------------------------------------------------------------------------ 27 rates
DRIVEN = [0, 1, 14]
START, END = np.array([0.0, -0.6, 1.0]), np.array([0.2, -0.5, 0.9])


def drives(t: Any, q: Any, v: Any) -> Any:
    """PD laws that lead the driven joints along sin^2 ways in 0.2 s."""
    s, ds = np.sin(2.5 * np.pi * t) ** 2, 2.5 * np.pi * np.sin(5.0 * np.pi * t)
    tau = [0.0 * q[0]] * 27
    for start, end, k, kp, kd in zip(START, END, DRIVEN, (3e3, 3e3, 8e2), (3e2, 3e2, 6e1), strict=True):
        tau[k] = kp * (start + (end - start) * s - q[k]) + kd * ((end - start) * ds - v[k])
    return np.array(tau)


@cache
def arm() -> tuple[gs.Model, np.ndarray, np.ndarray]:
    model, q = gs.robots.flexible_arm(), np.zeros(27)
    q[DRIVEN] = START
    return model, q, exact(model, drives, q, np.zeros(27), TIMES)


def led(**how: Any) -> tuple[float, gs.Result]:
    """Largest error of a coordinate [rad], and the run."""
    model, q, want = arm()
    run = gs.simulate(model, drives, q, t_eval=TIMES, progress=False, compiled=True, **how)
    return np.abs(run.q - want).max(), run


@pytest.mark.parametrize(
    ("how", "error"),
    [
        ({"method": "dina", "dt": 1e-3}, 1e-5),
        ({"method": "generalised-alpha", "dt": 1e-3, "rho_inf": 0.95}, 1e-5),
        ({"method": "dina", "scheme": "simpson", "dt": 5e-3}, 1e-6),
        ({"method": "radau", "rtol": 1e-5, "atol": 1e-8}, 1e-8),
    ],
)
def test_the_arm_of_27_rates_is_led_within(how: dict[str, Any], error: float) -> None:
    assert led(**how)[0] < error


def test_derivatives_serve_on_where_the_mass_matrix_is_renewed() -> None:
    """Of light links it changes much; stiffness and damping of springs and drives do not."""
    run = led(method="dina", dt=1e-3)[1]
    told = run.counters.statistics
    assert told["factorisations"] > 5 * run.counters.jacobian_evaluations
    assert told["newton_fallbacks"] == told["halved"] == 0


def test_order_four_needs_few_matrices_on_light_links() -> None:
    told = led(method="dina", scheme="simpson", dt=5e-3)[1].counters.statistics
    assert told["steps"] == 40
    assert told["factorisations"] <= 12
