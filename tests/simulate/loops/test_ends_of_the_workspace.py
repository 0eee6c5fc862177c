"""Runs in minimal coordinates that reach the end of a workspace stop there, and name loop, unknown and distance; runs
that only come near it go on."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.simulate.methods import METHODS
from tests.simulate.loops.mechanisms import four_bar, hinge, rod

FIXED = {"dt": 1e-3}
OPTIONS: dict[str, dict[str, Any]] = {
    name: FIXED
    for name in (
        "rk4",
        "semi-implicit-euler",
        "newmark",
        "trapezoid",
        "generalised-alpha",
        "dina",
        "variational",
        "moreau",
    )
}
TURN = 0.2211
"""When the rocker turns back [s]: its crank is in line with the coupler."""


def by_the_rocker() -> gs.Model:
    """The crank-rocker with the rocker as its coordinate, which turns back twice in each turn of the crank."""
    q = gs.neutral(four_bar(reference={"A": -1.0399008, "B": 0.53096, "D": -1.65973244}))
    return four_bar("minimal", reference=dict(zip("ABD", q, strict=True)), independent=["D"])


@pytest.mark.parametrize("method", METHODS)
def test_every_method_stops_where_the_independent_joint_would_turn_back(method: str) -> None:
    model = by_the_rocker()
    assert model.coordinates == ("D",)
    with pytest.raises(
        gs.SimulationError, match=r"loop 'C'.*end of its workspace.*'A', 'B'.*of its largest value"
    ) as stop:
        gs.simulate(model, t_end=2.0, method=method, **OPTIONS.get(method, {}))
    run: Any = stop.value.result
    assert run.t[-1] < TURN + 1e-3
    assert run.t[-1] > 0.2
    assert np.isfinite(run.q).all()


@pytest.mark.parametrize("tolerance", [1e-3, 1e-6, 1e-9, 1e-11])
def test_at_any_tolerance_it_stops_at_the_same_place(tolerance: float) -> None:
    with pytest.raises(gs.SimulationError, match="end of its workspace") as stop:
        gs.simulate(by_the_rocker(), t_end=2.0, rtol=tolerance, atol=tolerance)
    run: Any = stop.value.result
    assert run.t[-1] == pytest.approx(TURN, abs=2e-4)


def test_robots_of_a_rollout_stop_there_too() -> None:
    model = by_the_rocker()
    with pytest.raises(gs.DivergedError, match=r"loop 'C'.*end of its workspace"):
        gs.rollout(model, q0=np.tile(gs.neutral(model), (5, 1)), dt=1e-3, steps=400)
    fine = gs.rollout(model, q0=np.tile(gs.neutral(model), (5, 1)), dt=1e-3, steps=200)
    assert np.isfinite(fine.q).all()


@pytest.mark.parametrize("length", [0.60005, *(pytest.param(x, marks=pytest.mark.slow) for x in (0.605, 0.6005))])
def test_a_crank_that_only_comes_near_the_end_goes_on(length: float) -> None:
    """At 0.6 m the rods could fold."""

    def mechanism(loops: str) -> gs.Model:
        return gs.assemble(
            "near",
            gs.chain("world", hinge("A"), rod("crank", 0.3), hinge("B"), rod("coupler", 0.9)),
            gs.chain("world", gs.Displacement("base", translation=(1.2, 0, 0)), hinge("D"), rod("rocker", length)),
            gs.chain("coupler.end", hinge("C")),
            gs.connect("C.b", "rocker.end"),
            reference={"A": -1.0, "B": 0.6, "D": -1.5},
            independent=["A"],
            loops=loops,
        )

    model, whole = mechanism("minimal"), mechanism("constraints")
    q = gs.neutral(whole)
    v = gs.close(whole, q, np.array([8.0, 0.0, 0.0]), keep=["A"])[1]
    tight: dict[str, Any] = {"t_eval": [0.0, 0.5, 1.0], "rtol": 1e-9, "atol": 1e-10}
    run, other = gs.simulate(model, q0=q[:1], v0=v[:1], **tight), gs.simulate(whole, q0=q, v0=v, **tight)
    assert run.q[-1, 0] > 6.0
    assert np.abs(run.q[:, 0] - other.q[:, 0]).max() < 1e-4
