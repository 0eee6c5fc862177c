"""Every method of integration on every kind of mechanism whose loops are constraints: the same motion as in minimal
coordinates, or as a pseudoinverse gives it, closed loops, or a refusal by name."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.algorithms.algorithm import Setting
from gyrostat.algorithms.constrained.loop_equations import loop_equations
from gyrostat.algorithms.recursions.rne import sweep_forces
from gyrostat.graph.network import kept_network
from gyrostat.simulate.methods import METHODS
from gyrostat.spatial.gravity import gravity
from gyrostat.spatial.representation import representation
from tests.simulate.loops.mechanisms import MECHANISMS, five_bar, floating, four_bar, slider_crank, stewart, stirred

TIMES = np.linspace(0.0, 0.3, 7)
FIXED = {"dt": 1e-3}
OPTIONS: dict[str, dict[str, Any]] = {
    "rk4": FIXED, "semi-implicit-euler": FIXED, "moreau": FIXED, "newmark": FIXED, "trapezoid": FIXED,
    "generalised-alpha": FIXED,
    "dina": FIXED, "variational": FIXED,
}  # fmt: skip
ERROR = {
    "dopri5": 1e-5, "dop853": 1e-5, "ode23": 1e-5, "rk4": 1e-7, "semi-implicit-euler": 2e-2, "moreau": 2e-2,
    "radau": 1e-6,
    "bdf": 1e-5,
    "newmark": 2e-4, "trapezoid": 2e-4, "generalised-alpha": 2e-4, "dina": 2e-4, "cvode": 1e-5, "ida": 1e-5,
    "scipy-bdf": 1e-5, "scipy-radau": 1e-5,
}  # fmt: skip
"""Largest error [rad, m] of a coordinate after 0.3 s, with the default tolerances or steps of 1 ms."""
MINIMAL = {"four-bar": four_bar, "five-bar": five_bar, "slider-crank": slider_crank, "floating four-bar": floating}
MINIMAL["stewart"] = stewart


@cache
def mechanism(name: str) -> tuple[gs.Model, Any, Any]:
    """The model with its start."""
    model = MECHANISMS[name]()
    return model, gs.neutral(model), stirred(model, name)


@cache
def exact(name: str) -> np.ndarray:
    """q (T, nq) of the constrained model, by another way than its own."""
    model, q, v = mechanism(name)
    if name in MINIMAL:
        return by_minimal_coordinates(name)
    return by_pseudoinverse(model, q, v)


def by_minimal_coordinates(name: str) -> np.ndarray:
    model, q, v = mechanism(name)
    small = MINIMAL[name]("minimal")
    own = [model.coordinates.index(x) for x in small.coordinates]
    rates = [model.dofs.index(x) for x in small.dofs]
    run = gs.simulate(small, q0=q[own], v0=v[rates], t_eval=TIMES, method="dop853", rtol=1e-12, atol=1e-13)
    whole = np.full((len(TIMES), model.nq), np.nan)
    whole[:, own] = run.q
    return whole


def by_pseudoinverse(model: gs.Model, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Classical Runge-Kutta on J = U S V^T, whose small singular values are left out."""
    net = kept_network(model)
    on = Setting(representation("body"), gravity(model.context.gravity))

    def inverse(J: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """J^+ and the motions that remain, with the rank that J has where loops are closed."""
        u, s, vt = np.linalg.svd(J)
        return vt[:rank].T @ (u[:, :rank] / s[:rank]).T, vt[rank:].T

    def rates(q: np.ndarray, v: np.ndarray) -> np.ndarray:
        rows = loop_equations(net, q, v)
        M, h = gs.crba(model, q), np.array(sweep_forces(net, on, q, v, np.zeros(model.nv))[0], dtype=float)
        back, Z = inverse(rows.J.astype(float))
        a = -back @ rows.bias.astype(float)
        return a + Z @ np.linalg.solve(Z.T @ M @ Z, Z.T @ (-h - M @ a))

    def closed(q: np.ndarray) -> np.ndarray:
        for _ in range(4):
            rows = loop_equations(net, q)
            q = q - inverse(rows.J.astype(float))[0] @ rows.g.astype(float)
        return q

    s = np.linalg.svd(loop_equations(net, q).J.astype(float), compute_uv=False)
    rank = int(np.count_nonzero(s > 1e-7 * s[0]))
    rows, h = [q], 1e-2
    for k in range(round(TIMES[-1] / h)):
        k1 = v, rates(q, v)
        k2 = v + h / 2 * k1[1], rates(closed(q + h / 2 * k1[0]), v + h / 2 * k1[1])
        k3 = v + h / 2 * k2[1], rates(closed(q + h / 2 * k2[0]), v + h / 2 * k2[1])
        k4 = v + h * k3[1], rates(closed(q + h * k3[0]), v + h * k3[1])
        q, v = (x + h / 6 * (a + 2 * b + 2 * c + d) for x, a, b, c, d in zip((q, v), k1, k2, k3, k4, strict=True))
        q = closed(q)
        if (k + 1) % 5 == 0:
            rows.append(q)
    return np.array(rows)


def methods() -> list[str]:
    return [name for name in METHODS if name in ERROR]


def test_every_method_is_in_this_product_or_refused() -> None:
    assert set(METHODS) == set(ERROR) | {"variational"}


@pytest.mark.parametrize("name", [pytest.param(x, marks=pytest.mark.slow) if x == "stewart" else x for x in MECHANISMS])
@pytest.mark.parametrize("method", methods())
def test_the_motion_is_the_exact_one_and_loops_stay_closed(method: str, name: str) -> None:
    model, q, v = mechanism(name)
    run = gs.simulate(model, q0=q, v0=v, t_eval=TIMES, method=method, **OPTIONS.get(method, {}))
    known = np.isfinite(exact(name)).all(axis=0)
    assert np.abs(run.q - exact(name))[:, known].max() < ERROR[method]
    assert known.any()
    for loop in run.closure.values():
        assert loop.distance.max() < 1e-12
        assert loop.rate.max() < 1e-11


@pytest.mark.parametrize("name", [pytest.param(x, marks=pytest.mark.slow) if x == "stewart" else x for x in MECHANISMS])
@pytest.mark.parametrize("method", methods())
def test_baumgarte_draws_loops_together_to_the_size_of_the_errors(method: str, name: str) -> None:
    if method == "ida":
        pytest.skip("solves the equations of index 2")
    model, q, v = mechanism(name)
    options = OPTIONS.get(method, {}) | {"stabilisation": "baumgarte", "k1": 40.0, "k2": 400.0}
    run = gs.simulate(model, q0=q, v0=v, t_eval=TIMES, method=method, **options)
    known = np.isfinite(exact(name)).all(axis=0)
    assert np.abs(run.q - exact(name))[:, known].max() < 3.0 * ERROR[method]
    assert all(loop.distance.max() < ERROR[method] for loop in run.closure.values())


@pytest.mark.parametrize("index", [2, 3])
@pytest.mark.parametrize("name", [pytest.param(x, marks=pytest.mark.slow) if x == "stewart" else x for x in MECHANISMS])
@pytest.mark.parametrize("method", ["newmark", "trapezoid", "generalised-alpha", "dina"])
def test_steps_with_multipliers_have_order_two_in_both_forms(method: str, name: str, index: int) -> None:
    model, q, v = mechanism(name)
    known = np.isfinite(exact(name)).all(axis=0)
    errors = []
    for dt in (4e-3, 2e-3):
        run = gs.simulate(model, q0=q, v0=v, t_eval=TIMES, method=method, dt=dt, index=index)
        errors.append(np.abs(run.q - exact(name))[:, known].max())
        assert all(loop.distance.max() < 1e-12 for loop in run.closure.values())
    assert errors[1] < 2e-3
    assert errors[1] < 0.4 * errors[0] or errors[1] < 1e-9


@pytest.mark.parametrize("name", ["four-bar", "stewart"])
def test_variational_steps_are_refused_by_name(name: str) -> None:
    model, q, v = mechanism(name)
    with pytest.raises(gs.GyrostatError, match=r"variational.*loops are constraints.*Hint: method='trapezoid'"):
        gs.simulate(model, q0=q, v0=v, t_end=0.1, method="variational", dt=1e-3)


@pytest.mark.parametrize("method", [*methods(), "variational"])
def test_minimal_coordinates_run_through_every_method(method: str) -> None:
    small = four_bar("minimal")
    _, q, v = mechanism("four-bar")
    run = gs.simulate(small, q0=q[:1], v0=v[:1], t_eval=TIMES, method=method, **OPTIONS.get(method, {}))
    assert np.abs(run.q[:, 0] - exact("four-bar")[:, 0]).max() < ERROR.get(method, 2e-4)
    assert run.closure == {}


def test_a_law_drives_a_loop_as_it_drives_minimal_coordinates() -> None:
    model, small = four_bar(), four_bar("minimal")
    q = gs.neutral(model)

    def torque(t: float, q: Any, v: Any) -> Any:
        return {"A": 3.0 * (0.5 - q[0]) - 0.2 * v[0] + np.sin(5.0 * t)}

    runs = [
        gs.simulate(x, torque, q0=q[: x.nq], t_eval=TIMES, method=m, rtol=1e-9, atol=1e-11)
        for x in (model, small)
        for m in ("dopri5", "radau")
    ]
    for run in runs[1:]:
        assert np.abs(run.q[:, 0] - runs[0].q[:, 0]).max() < 1e-6
