"""Whole-body control has torques where the model has motors, and nowhere else."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.solvers.legs.whole_body import WholeBodyProblem

pytest.importorskip("clarabel")

FRAMES = {"heel": (-0.1, 0.0, -0.4), "toe": (0.1, 0.0, -0.4), "left": (0.0, 0.1, -0.4), "right": (0.0, -0.1, -0.4)}
POINTS = [gs.FrameContact(f"link2.{name}", "point", friction=0.7) for name in FRAMES]
FRAMES["end"] = (0.0, 0.0, -0.4)  # the last one carries the next joint
Q = np.array([0, 0, 0, 0, 0, 0, 1, 0.3, -0.6, 0.3])


def leg(floating: str = "base", idle: str | None = None, limit: float | None = None) -> gs.Model:
    """A hip with a leg of three joints; it floats by its base, or by a free joint."""
    parts: list = ["world"] if floating == "base" else ["world", gs.Joint("float", "free")]
    parts.append(gs.RigidBody("hip", mass=5.0, inertia=(0.2, 0.2, 0.2)))
    for k in range(3):
        name = f"joint{k}"
        parts.append(gs.Joint(name, "revolute", axis="y", effort_limit=limit, passive=True if name == idle else None))
        parts.append(gs.RigidBody(f"link{k}", mass=1.0, com=(0, 0, -0.2), inertia=(0.02, 0.02, 0.01), frames=FRAMES))
    return gs.assemble("leg", gs.chain(*parts), base="free" if floating == "base" else "fixed")


def stood(model: gs.Model, q: np.ndarray = Q, **options):
    """The solution at rest, and the efforts that its motion and forces take in inverse dynamics."""
    rest = np.zeros(model.nv)
    found = WholeBodyProblem(model, POINTS, [gs.blocks.PostureTask(target=q)], **options).solve(0.0, q, rest)
    wrenches = {frame: gs.Wrench([0, 0, 0, *f], "aligned") for frame, f in found.forces.items()}
    return found, gs.rnea(model, q, rest, found.a, wrenches=wrenches)


def test_a_free_joint_carries_a_robot_like_a_free_base():
    found, needed = stood(leg("joint"))
    other, _ = stood(leg("base"))
    np.testing.assert_array_equal(found.tau[:6], 0.0)
    np.testing.assert_allclose(needed, found.tau, atol=1e-5)
    np.testing.assert_allclose(found.tau, other.tau, atol=1e-5)


@pytest.mark.parametrize("floating", ["base", "joint"])
def test_the_posture_leaves_what_floats_alone(floating):
    model = leg(floating)
    E, _ = gs.blocks.PostureTask(target=Q).rows(model, 0.0, Q, np.zeros(9))
    np.testing.assert_array_equal(E, np.eye(9)[6:])


@pytest.mark.parametrize("floating", ["base", "joint"])
def test_passive_joints_of_the_model_and_by_name_are_the_same(floating):
    by_model, needed = stood(leg(floating, idle="joint1"))
    assert by_model.tau[7] == 0.0
    np.testing.assert_allclose(needed, by_model.tau, atol=1e-5)
    for names in ("joint1", ["joint1"]):
        np.testing.assert_allclose(stood(leg(floating), passive=names)[0].tau, by_model.tau, atol=1e-5)


def test_the_motor_of_an_elastic_drive_acts_at_its_rotor():
    ratio, stiffness = 100.0, 500.0
    elastic = leg().with_drive("joint1", rotor_inertia=1e-4, gear_ratio=ratio, stiffness=stiffness, damping=1.0)
    stiff, _ = stood(leg())
    torque = stiff.tau[7]
    assert abs(torque) > 0.1 and np.abs(stiff.a).max() < 1e-4
    q = np.append(Q, ratio * (Q[8] + torque / stiffness))  # the spring is wound up by what the stiff leg needs
    found, needed = stood(elastic, q)
    np.testing.assert_array_equal(found.tau[:6], 0.0)
    assert found.tau[7] == 0.0
    assert found.tau[9] == pytest.approx(torque / ratio, abs=1e-5)
    np.testing.assert_allclose(needed, found.tau, atol=1e-5)


def test_effort_limits_of_joints_behind_springs_are_refused():
    partly = leg().replace({"joint2.effort_limit": 50.0}).with_drive("joint1", rotor_inertia=1e-4, stiffness=500.0)
    assert WholeBodyProblem(partly, POINTS, [], passive="joint2").limits[8] == 50.0
    elastic = leg(limit=50.0).with_drive("joint1", rotor_inertia=1e-4, gear_ratio=100.0, stiffness=500.0)
    with pytest.raises(gs.GyrostatError, match=r"WholeBody: 'joint1' has an effort_limit, but no motor of its own"):
        WholeBodyProblem(elastic, POINTS, [])
    assert WholeBodyProblem(elastic, POINTS, [], torque_limits=np.full(10, 0.5)).limits[9] == 0.5
