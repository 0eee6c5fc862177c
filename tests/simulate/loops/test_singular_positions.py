"""IFToMM A02: n-fold four-bars that pass through flat, singular positions several times in 10 s.

The mechanism stays a parallelogram, and moves as a pendulum with one coordinate: its error at a tolerance is what the
error of the whole mechanism is measured with."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import gyrostat as gs
from tests.simulate.loops.mechanisms import hinge
from tests.support.reference_data import reference

TIMES = np.arange(0.0, 10.01, 0.5)
GRAVITY = 9.81


def four_bars(n: int, loops: str) -> gs.Model:
    """n + 1 vertical rods on the ground, n horizontal ones on their tips, all of 1 m and 1 kg, standing upright."""
    parts: list[Any] = []
    reference: dict[str, float] = {}

    def rod(name: str) -> gs.RigidBody:
        return gs.RigidBody(name, mass=1.0, com=(0.5, 0, 0), inertia=(1e-6, 1 / 12, 1 / 12), frames={"end": (1, 0, 0)})

    for k in range(n + 1):
        foot = [gs.Displacement(f"foot{k}", translation=(float(k), 0, 0))] if k else []
        parts.append(gs.chain("world", *foot, hinge(f"A{k}"), rod(f"v{k}")))
        reference[f"A{k}"] = -np.pi / 2
        if k < n:
            parts.append(gs.chain(f"v{k}.end", hinge(f"B{k}"), rod(f"h{k}")))
            reference[f"B{k}"] = np.pi / 2
    for k in range(n):
        parts += [gs.chain(f"h{k}.end", hinge(f"C{k}")), gs.connect(f"C{k}.b", f"v{k + 1}.end")]
    return gs.assemble("four_bars", *parts, reference=reference, loops=loops, gravity=(0, 0, -GRAVITY))


def start(model: gs.Model) -> tuple[np.ndarray, np.ndarray]:
    """Upright, tips at 1 m/s."""
    vertical = np.array([name[0] == "A" for name in model.coordinates])
    return np.where(vertical, -np.pi / 2, np.pi / 2), np.where(vertical, 1.0, -1.0)


def factors(n: int) -> tuple[float, float]:
    """Inertia about the feet, and weight times arm."""
    return (n + 1) / 3 + n, ((n + 1) / 2 + n) * GRAVITY


@cache
def truth(n: int) -> np.ndarray:
    inertia, weight = factors(n)
    found = solve_ivp(
        lambda t, y: [y[1], weight / inertia * np.cos(y[0])],
        (0.0, 10.0), [-np.pi / 2, 1.0], "DOP853", TIMES, rtol=1e-13, atol=1e-13,
    )  # fmt: skip
    return found.y[0]


@cache
def pendulum(n: int) -> gs.Model:
    inertia, weight = factors(n)
    mass, arm = 4.0 * weight / GRAVITY, 0.25
    body = gs.RigidBody("body", mass=mass, com=(arm, 0, 0), inertia=(inertia - mass * arm**2,) * 3)
    return gs.assemble("pendulum", gs.chain("world", hinge("A0"), body), gravity=(0, 0, -GRAVITY))


@cache
def mechanism(n: int, loops: str) -> gs.Model:
    return four_bars(n, loops)


def tip_error(q: np.ndarray, n: int) -> float:
    """Largest distance [m] of the first tip from where it should be."""
    return float(np.abs(np.exp(1j * q) - np.exp(1j * truth(n))).max())


def error(model: gs.Model, n: int, method: str, tolerance: float) -> float:
    q, v = start(model)
    at: dict[str, Any] = {"t_eval": TIMES, "method": method, "rtol": tolerance, "atol": tolerance}
    return tip_error(gs.simulate(model, q0=q, v0=v, **at).q[:, 0], n)


def expect_no_worse_than_the_pendulum(n: int, loops: str, method: str, tolerance: float, times: float = 3.0) -> bool:
    """Whether the mechanism passes; if not, it has said so."""
    alone = error(pendulum(n), n, method, tolerance)
    try:
        found = error(mechanism(n, loops), n, method, tolerance)
    except gs.SimulationError as refusal:
        assert "singular position" in str(refusal)
        assert "loop 'C" in str(refusal)
        return False
    assert found < times * alone + 1e-12
    return True


@pytest.mark.parametrize("method", ["dopri5", "dop853"])
@pytest.mark.parametrize("tolerance", [1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-11])
def test_two_four_bars_pass_flat_positions_with_the_error_of_one_coordinate(method: str, tolerance: float) -> None:
    assert expect_no_worse_than_the_pendulum(2, "constraints", method, tolerance)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["dopri5", "dop853"])
@pytest.mark.parametrize("tolerance", [1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10])
def test_forty_four_bars_pass_flat_positions_with_the_error_of_one_coordinate(method: str, tolerance: float) -> None:
    assert expect_no_worse_than_the_pendulum(40, "constraints", method, tolerance)


@pytest.mark.slow
@pytest.mark.parametrize("n", [2, 40])
@pytest.mark.parametrize("method", ["dopri5", "dop853", "radau", "bdf"])
def test_at_no_tolerance_the_motion_is_wrong(n: int, method: str) -> None:
    random, times = np.random.default_rng(3), 3.0 if method.startswith("dop") else 30.0
    passed = [
        expect_no_worse_than_the_pendulum(n, "constraints", method, 10.0 ** -random.uniform(5.0, 11.0), times)
        for _ in range(12 if n == 2 else 6)
    ]
    if n == 2 and method.startswith("dop"):
        assert sum(passed) >= 10


@pytest.mark.parametrize("loops", ["constraints", "auto"])
def test_the_first_tip_moves_as_the_exact_solution_of_the_benchmark_says(loops: str) -> None:
    """B0x, B0y and their rates by elliptic functions; our z is its y."""
    t, *expected = np.loadtxt(reference("iftomm_A02_Nfourbar_N2_exact.csv"), delimiter=",", skiprows=2, unpack=True)
    model = mechanism(2, loops)
    q, v = start(model)
    run = gs.simulate(model, q0=q, v0=v, t_eval=t, method="dop853", rtol=1e-10, atol=1e-11)
    angle, rate = run.q[:, 0], run.v[:, 0]
    found = np.cos(angle), -np.sin(angle), -np.sin(angle) * rate, -np.cos(angle) * rate
    for ours, theirs in zip(found, expected, strict=True):
        assert np.abs(ours - theirs).max() < 1e-6


@pytest.mark.parametrize("n", [2, pytest.param(40, marks=pytest.mark.slow)])
@pytest.mark.parametrize("tolerance", [1e-5, 1e-8, 1e-11])
def test_parallelograms_in_closed_form_have_no_singular_positions(n: int, tolerance: float) -> None:
    model = mechanism(n, "auto")
    assert model.nv == 1
    assert expect_no_worse_than_the_pendulum(n, "auto", "dopri5", tolerance)


def test_a_run_that_ends_at_a_singular_position_says_so() -> None:
    model = mechanism(2, "constraints")
    vertical = np.array([name[0] == "A" for name in model.coordinates])
    q = np.where(vertical, 0.0, 0.0)  # flat
    with pytest.raises(gs.GyrostatError, match=r"singular|not finite"):
        gs.simulate(model, q0=q, v0=np.where(vertical, 1.0, -1.0), t_end=1.0)
