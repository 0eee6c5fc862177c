"""Efforts of drives from generalised forces, by virtual power; static rest."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from tests.support import loop_models
from tests.support.comparing import assert_close


def said(model: gs.Model, **passive: bool | None) -> gs.Model:
    """The same with joints that are said to be passive or not."""
    changed = tuple(
        e.model_copy(update={"passive": passive[e.name]}) if e.name in passive else e for e in model.entities
    )
    return gs.Model(model.name, changed, model.connections, model.context)


def legs(loops: str) -> gs.Model:
    return said(loop_models.stewart(loops=loops), **{f"leg{k}": False for k in range(6)})


def power(model: gs.Model, q, v, efforts: gs.ActuatorEfforts) -> float:
    """Of efforts at the rates of joints with coordinates."""
    return float(sum(efforts.array[k] * v[list(model.dofs).index(name)] for k, name in enumerate(efforts.names)))


def test_the_legs_of_a_platform_bear_its_wrench_in_minimal_coordinates_and_with_constraints():
    minimal, constraints = legs("minimal"), legs("constraints")
    rng = np.random.default_rng(0)
    q = gs.integrate(minimal, gs.neutral(minimal), 0.05 * rng.normal(size=6))
    tau = rng.normal(size=6)
    efforts = gs.actuator_efforts(minimal, q, tau)
    assert set(efforts) == {f"leg{k}" for k in range(6)}
    assert efforts.redundancy == 0
    assert efforts.note == ""
    # by hand: a leg pushes along its line
    frames = gs.fk(minimal, q)
    R = frames["plate.origin"].R
    total = np.zeros(6)
    for k in range(6):
        arm = frames[f"plate.ball{k}"].p - frames["plate.origin"].p
        u = frames[f"plate.ball{k}"].p - frames[f"foot{k}.b"].p
        force = efforts[f"leg{k}"] * u / np.linalg.norm(u)
        total += np.concatenate([R.T @ np.cross(arm, force), R.T @ force])
    assert_close(total, tau, 1e-9)
    whole = np.zeros(constraints.nv)
    for x, name in zip(tau, minimal.dofs, strict=True):
        whole[list(constraints.dofs).index(name)] = x
    start = gs.neutral(constraints)
    for x, name in zip(q, minimal.coordinates, strict=True):
        start[list(constraints.coordinates).index(name)] = x
    Q, V = gs.close(constraints, start, rng.normal(size=constraints.nv), keep=["platform"])
    found = gs.actuator_efforts(constraints, Q, whole)
    assert_close(found.array, efforts.array, 1e-8)
    assert_close(power(constraints, Q, V, found), whole @ V, 1e-8)


def test_more_actuators_than_degrees_of_freedom_share_by_least_norm_and_say_so():
    model = said(loop_models.four_bar(loops="constraints"), A=False, D=False)
    q, v = gs.close(model, gs.neutral(model), [1.0, 0.0, 0.0])
    tau = np.array([1.0, 2.0, 3.0])
    efforts = gs.actuator_efforts(model, q, tau)
    assert efforts.redundancy == 1
    assert "least norm" in efforts.note
    at = [list(model.dofs).index(x) for x in ("A", "D")]
    assert_close(efforts.array @ v[at], tau @ v, 1e-10)
    assert_close(efforts.array, v[at] * (tau @ v) / (v[at] @ v[at]), 1e-10)
    only = gs.actuator_efforts(said(loop_models.four_bar(loops="constraints"), A=False), q, tau)
    assert set(only) == {"A"}
    assert_close(only["A"] * v[at[0]], tau @ v, 1e-10)


def test_what_the_actuators_cannot_do_is_refused_by_name():
    model = loop_models.four_bar(loops="constraints")
    with pytest.raises(
        gs.LoopError, match=r"actuator_efforts: tau of 'four-bar' cannot be given.*\(none\).*passive=False"
    ):
        gs.actuator_efforts(model, gs.neutral(model), [1.0, 0.0, 0.0])
    body = gs.RigidBody("body", mass=1.0, inertia=(0.1, 0.1, 0.1))
    link = gs.RigidBody("link", mass=1.0, com=(0.1, 0, 0), inertia=(0.1, 0.1, 0.1))
    flying = gs.assemble("flying", gs.chain("world", body, gs.Joint("arm", "revolute", axis="z"), link), base="free")
    q = gs.neutral(flying)
    assert_close(gs.actuator_efforts(flying, q, [0, 0, 0, 0, 0, 0, 2.0])["arm"], 2.0, 1e-12)
    with pytest.raises(gs.StateError, match="world"):
        gs.actuator_efforts(flying, q, [0, 0, 1.0, 0, 0, 0, 2.0])


def test_models_without_loops_and_batches_come_back_as_they_are():
    arm = gs.robots.arm6()
    rng = np.random.default_rng(0)
    q, tau = gs.random_configuration(arm, rng, (3, 2)), rng.normal(size=(3, 2, arm.nv))
    efforts = gs.actuator_efforts(arm, q, tau)
    assert_close(efforts.array, tau, 1e-12)
    assert efforts.names == arm.dofs
    with pytest.raises(gs.LoopError, match="open"):
        gs.actuator_efforts(loop_models.four_bar(loops="constraints"), [0.0, 0.0, 0.0], [0.0, 0.0, 0.0])


# ------------------------------------------------------------------------------------------------ rest
def test_a_four_bar_rests_where_its_energy_is_least():
    minimal, constraints = (loop_models.four_bar(loops=x) for x in ("minimal", "constraints"))
    found = gs.equilibrium(constraints, gs.neutral(constraints))
    assert found.stable
    assert found.acceleration < 1e-9
    crank = found.q[list(constraints.coordinates).index("A")]
    angles = crank + np.linspace(-0.2, 0.2, 2001)
    energies = gs.potential_energy(minimal, angles[:, None])
    assert abs(angles[np.argmin(energies)] - crank) < 2e-4
    other = gs.equilibrium(minimal, gs.neutral(minimal))
    assert_close(other.q[0], crank, 1e-8)
    assert_close(other.stiffness, found.stiffness, 1e-6)
    assert_close(found.stiffness, -gs.aba_derivatives(minimal, other.q, [0.0], [0.0]).da_dq[0], 1e-6)


def test_springs_sag_and_unstable_rest_is_told():
    link = gs.RigidBody("link", mass=1.0, com=(0.3, 0, 0), inertia=(0.01, 0.01, 0.01), frames={"tip": (0.6, 0, 0)})
    arm = gs.assemble(
        "arm",
        gs.chain("world", gs.Joint("hinge", "revolute", axis="y"), link),
        gs.chain("world", gs.Displacement("up", translation=(0.6, 0, 1.0))),
        gs.PointSpring("rope", stiffness=100.0, rest_length=1.0),
        gs.connect("rope.a", "link.tip"),
        gs.connect("rope.b", "up.b"),
    )
    found = gs.equilibrium(arm, [0.0])
    assert found.stable
    assert_close(gs.rnea(arm, found.q, [0.0], [0.0]), [0.0], 1e-8)
    assert 0.001 < found.q[0] < 0.2, "it sags"
    bare = gs.assemble("pendulum", gs.chain("world", gs.Joint("hinge", "revolute", axis="y"), link))
    assert_close(gs.equilibrium(bare, [-1.5]).q % (2 * np.pi), [np.pi / 2], 1e-8)
    upright = gs.equilibrium(bare, [-1.5], stable=False)
    assert upright.stable is False
    assert_close(upright.q, [-np.pi / 2], 1e-8)
    with pytest.raises(gs.StateError, match=r"did not come to rest.*still accelerates with"):
        gs.equilibrium(gs.assemble("free", gs.chain("world", link), base="free"), [0, 0, 0, 0, 0, 0, 1.0])
    held = gs.equilibrium(bare, [0.5], tau=[1.0])
    assert_close(gs.rnea(bare, held.q, [0.0], [0.0]), [1.0], 1e-8)
