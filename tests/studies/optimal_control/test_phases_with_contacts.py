"""Contacts, impacts, floating bases and periodic motions."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from tests.studies.optimal_control.derivative_check import derivative_errors

Phase, at_least = gs.studies.Phase, gs.studies.at_least


def hopper() -> gs.Model:
    """A body on a rail and a foot below it, pushed apart by a drive."""
    return gs.assemble(
        "hopper",
        gs.chain(
            "world", gs.Joint("z", "prismatic", axis="z", passive=True), gs.RigidBody("body", mass=4.0),
            gs.Joint("leg", "prismatic", axis="z"), gs.RigidBody("foot", mass=1.0),
        ),
    )  # fmt: skip


def walker() -> gs.Model:
    """A free trunk with two legs of one hinge each."""
    legs = [
        gs.chain(
            "trunk.origin", gs.Displacement(f"{name}_side", translation=(0, y, 0)),
            gs.Joint(f"{name}_hip", "revolute", axis="y"),
            gs.RigidBody(f"{name}_leg", mass=1.0, com=(0, 0, -0.2), inertia=(0.01, 0.01, 0.005)),
            gs.Displacement(f"{name}_foot", translation=(0, 0, -0.5)),
        )
        for name, y in (("left", 0.1), ("right", -0.1))
    ]  # fmt: skip
    trunk = gs.RigidBody("trunk", mass=5.0, inertia=(0.1, 0.1, 0.1))
    return gs.assemble("walker", gs.connect("world", "trunk.origin"), trunk, *legs, base="free")


def hop(method: str) -> tuple[gs.Model, gs.studies.OptimalMotion]:
    model, limits = hopper(), {"q": ([-5, -1.0], [5, -0.4]), "u": 500.0}
    stance = Phase(
        model, {"foot.origin": "normal"}, duration=(0.1, 1.0), nodes=9, cost="torque", limits=limits,
        start=lambda s: s.frame("foot").p[2], path=lambda s: s.ground_force("foot.origin")[2],
    )  # fmt: skip
    flight = Phase(
        model, duration=0.3, nodes=9, cost="torque", limits=limits, end=lambda s: s.frame("foot").p[2], reset="impact"
    )
    guess = lambda t: (np.array([0.7, -0.7]), np.zeros(2), np.array([-40.0]))  # noqa: E731
    return model, gs.studies.optimal_control([stance, flight], periodic=True, method=method, guess=guess)


@pytest.mark.parametrize("method", ["hermite-simpson", "radau"])
def test_a_hopper_falls_freely_and_loses_at_impact_what_its_impulse_says(method):
    model, motion = hop(method)
    assert motion.converged and motion.violation < 1e-6
    stance, flight = motion.phases
    speed = (4.0 * flight.v[:, 0] + flight.v.sum(axis=1)) / 5.0
    assert speed[-1] - speed[0] == pytest.approx(-9.81 * 0.3, abs=1e-6)  # the centre of mass in free fall
    M = gs.crba(model, flight.q[-1])
    np.testing.assert_allclose(M @ (stance.v[0] - flight.v[-1]), motion.impulses[0] * np.ones(2), atol=1e-5)
    np.testing.assert_allclose(stance.v.sum(axis=1), 0.0, atol=1e-6)  # the foot stands
    push = stance.forces["foot.origin"][:, 5]
    np.testing.assert_allclose(push, 9.81 * 5.0 + stance.a @ [5.0, 1.0], atol=1e-6)
    assert push.min() > -1e-6
    known = gs.ContactDynamics(model, {"foot.origin": "normal"})(stance.q, stance.v, stance.tau)
    np.testing.assert_allclose(stance.a, known.a, atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["hermite-simpson", "radau"])
def test_derivatives_are_exact_for_a_floating_robot_with_contacts_impacts_and_periodicity(method):
    model = walker()
    left, right = (gs.FrameContact(f"{name}_foot.b", "point", friction=0.6) for name in ("left", "right"))
    first = Phase(
        model, (left,), duration=(0.2, 0.6), nodes=4, cost="effort", reset="impact",
        path=lambda s: [s.ground_force("left_foot.b")[2] - 1.0, s.forces["left_foot.b"][3] * s.center_of_mass[0]],
        start=lambda s: [s.frame("left_foot.b").p[2]],
    )  # fmt: skip
    last = Phase(
        model, (right,), duration=0.4, nodes=3, cost="torque", reset="impact", end=lambda s: s.zero_moment_point()
    )
    mirrored = gs.studies.Periodicity(
        exchange={"left_hip": "right_hip", "left_foot.b": "right_foot.b"},
        negate=("world.wx", "world.wz", "world.vy"), free=("world.vx",),
    )  # fmt: skip
    both = gs.studies.OptimalControl((first, last), {"trunk.mass": (4.0, 6.0)}, True, method=method)
    assert max(derivative_errors(both, (4, 3))) < 1e-8
    assert max(derivative_errors(gs.studies.OptimalControl((first,), {}, mirrored, method=method), (4,))) < 1e-8


def test_names_of_a_mirrored_motion_must_fit():
    with pytest.raises(gs.GyrostatError, match="'a' is exchanged with 'b' and with 'c'"):
        gs.studies.Periodicity(exchange={"b": "a", "c": "a"})
    with pytest.raises(gs.GyrostatError, match=r"no rate 'hipp'. Hint: .*hip"):
        gs.studies.Periodicity(negate=("hipp",)).matrix(walker())
