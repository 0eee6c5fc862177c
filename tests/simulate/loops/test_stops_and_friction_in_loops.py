"""Stops, bounces and dry friction on joints of loops: impacts and forces respect the loops, as minimal coordinates, a
smooth law or the balance of energy say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.algorithms.constrained.loop_equations import loop_equations
from gyrostat.graph.network import kept_network
from tests.simulate.loops.mechanisms import four_bar

TIMES = np.linspace(0.0, 0.8, 17)
METHODS: dict[str, tuple[dict[str, Any], float]] = {
    "dopri5": ({}, 1e-5), "radau": ({}, 1e-5), "bdf": ({}, 1e-5), "cvode": ({}, 1e-5),
    "generalised-alpha": ({"dt": 2e-3}, 2e-3), "dina": ({"dt": 2e-3}, 2e-3), "rk4": ({"dt": 2e-3}, 1e-5),
}  # fmt: skip


def both(**more: Any) -> tuple[gs.Model, gs.Model]:
    return four_bar("constraints", **more), four_bar("minimal", **more)


def with_friction(joint: str, **friction: Any) -> dict[str, Any]:
    return {"parts": [gs.Friction("f", **friction), gs.connect(f"{joint}.shaft", "f.shaft")]}


@pytest.mark.by_default(3)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("restitution", [0.4, pytest.param(0.0, marks=pytest.mark.slow)])
def test_a_stop_in_a_loop_is_that_of_minimal_coordinates(method: str, restitution: float) -> None:
    model, small = both(joints={"A": {"lower": -2.0, "upper": 0.5}})
    options, allowed = METHODS[method]
    given: dict[str, Any] = {"events": gs.JointLimits(restitution=restitution), "t_eval": TIMES, "method": method}
    q = gs.neutral(model)
    run, other = (gs.simulate(x, q0=q[: x.nq], **given, **options) for x in (model, small))
    assert [e.name for e in run.events] == [e.name for e in other.events]
    assert run.events
    assert np.abs(run.q[:, 0] - other.q[:, 0]).max() < allowed
    assert run.closure["C"].distance.max() < 1e-12
    assert run.closure["C"].rate.max() < 1e-11


def test_a_stop_on_a_joint_that_follows_is_the_same_in_both_coordinates() -> None:
    model, small = both(joints={"D": {"lower": -1.75, "upper": 0.5}})
    q = gs.neutral(model)
    given: dict[str, Any] = {"events": gs.JointLimits(restitution=0.3), "t_eval": TIMES}
    run, other = (gs.simulate(x, q0=q[: x.nq], **given) for x in (model, small))
    assert [e.name for e in run.events][:3] == ["D", "D", "D"]
    assert np.abs(run.q[:, 0] - other.q[:, 0]).max() < 1e-5


def test_an_impact_leaves_rates_that_keep_the_loop_closed_and_takes_energy() -> None:
    model = four_bar(joints={"D": {"lower": -1.75, "upper": 0.5}})
    run = gs.simulate(model, t_end=0.35, events=gs.JointLimits(restitution=0.5), rtol=1e-9, atol=1e-11)
    hit = run.events[0]
    rate = model.layout.of["D"].v.start
    assert hit.v_after[rate] == pytest.approx(-0.5 * hit.v[rate], rel=1e-9)
    jump = np.flatnonzero(np.diff(run.t) == 0.0)[0]
    assert run.kinetic_energy[jump + 1] < run.kinetic_energy[jump]
    assert run.closure["C"].rate.max() < 1e-11
    M, J = gs.crba(model, hit.q), np.zeros((1, 3))
    J[0, rate] = 1.0
    impulse = M @ (hit.v_after - hit.v)  # M dv = J^T s + J_loop^T f: nothing along the motion that both leave
    every = np.concatenate([J, loop_equations(kept_network(model), hit.q).J.astype(float)])
    rest = impulse - every.T @ np.linalg.lstsq(every.T, impulse, rcond=None)[0]
    assert np.abs(rest).max() < 1e-10


@pytest.mark.by_default(3)
@pytest.mark.parametrize("method", METHODS)
def test_dry_friction_in_a_loop_is_that_of_minimal_coordinates(method: str) -> None:
    model, small = both(**with_friction("A", coulomb=0.5, viscous=0.05))
    options, allowed = METHODS[method]
    q = gs.neutral(model)
    run, other = (gs.simulate(x, q0=q[: x.nq], t_eval=TIMES, method=method, **options) for x in (model, small))
    assert np.abs(run.q[:, 0] - other.q[:, 0]).max() < allowed


def test_friction_holds_a_loop_and_lets_it_go() -> None:
    model = four_bar(**with_friction("B", coulomb=20.0))
    run = gs.simulate(model, t_end=0.5)
    assert np.abs(run.q - run.q[0]).max() < 1e-9

    def pull(t: float, q: Any, v: Any) -> Any:
        return {"A": 40.0 * t}

    let_go = gs.simulate(model, pull, t_end=1.0)
    assert any(e.kind == "slip" for e in let_go.events)
    assert np.abs(let_go.q[-1] - let_go.q[0]).max() > 0.1
    assert let_go.closure["C"].distance.max() < 1e-12


def test_friction_on_a_joint_that_follows_is_that_of_a_steep_smooth_law() -> None:
    model = four_bar(**with_friction("B", coulomb=0.4))
    smooth = four_bar("minimal", **with_friction("B", coulomb=0.4, smooth=1e-3))
    q = gs.neutral(model)
    run = gs.simulate(model, q0=q, t_eval=TIMES)
    other = gs.simulate(smooth, q0=q[:1], t_eval=TIMES, method="radau")
    assert np.abs(run.q[:, 0] - other.q[:, 0]).max() < 5e-3
    assert run.energy_residual[-1] < -0.1


def test_friction_on_all_joints_of_a_loop_with_a_stop_goes_on() -> None:
    parts = [
        p
        for k, n in enumerate("ABD")
        for p in (gs.Friction(f"f{k}", coulomb=0.2), gs.connect(f"{n}.shaft", f"f{k}.shaft"))
    ]
    model = four_bar(parts=parts, joints={"A": {"lower": -2.0, "upper": 0.3}})
    run = gs.simulate(model, t_eval=TIMES, events=gs.JointLimits(restitution=0.2))
    assert run.status == "finished"
    assert run.closure["C"].distance.max() < 1e-12
    assert (np.diff(run.energy_residual) < 1e-7).all()
    assert run.q[:, 0].max() <= 0.3 + 1e-9


def test_an_event_of_the_user_finds_a_closed_state() -> None:
    model = four_bar()

    def reset(t: float, q: Any, v: Any) -> Any:
        return q, -v

    run = gs.simulate(model, t_end=0.4, events=gs.Event(lambda t, q, v: q[0] + 0.5, reset=reset, name="turn"))
    assert run.events[0].name == "turn"
    assert run.closure["C"].distance.max() < 1e-12
    assert run.closure["C"].rate.max() < 1e-11


def test_a_reset_that_opens_a_loop_is_refused_by_its_name() -> None:
    model = four_bar()
    event = gs.Event(lambda t, q, v: q[0] + 0.5, reset=lambda t, q, v: (q + 0.1, v), name="jump")
    with pytest.raises(gs.GyrostatError, match=r"loop 'C'.*open"):
        gs.simulate(model, t_end=0.4, events=event)
