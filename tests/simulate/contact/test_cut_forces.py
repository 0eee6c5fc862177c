"""Cut forces of runs with rigid contacts know the contact forces."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs


def robot(**law):
    shape = gs.Shape(kind="box", size=(0.2, 0.2, 0.2), role="collision")
    box = gs.RigidBody("box", mass=2.0, inertia=(0.1, 0.1, 0.1), shapes=[shape])
    arm = gs.RigidBody("arm", mass=1.0, com=(0.1, 0, 0), inertia=(0.01, 0.01, 0.01))
    chain = gs.chain("world", gs.Joint("pose", "free"), box, gs.Joint("hinge", "revolute", axis="y"), arm)
    return gs.assemble("robot", chain, gs.Ground("floor", friction=0.5, **law))


def spring(t, q, v):
    return np.array([0, 0, 0, 0, 0, 0, -5.0 * q[7] - 0.2 * v[6]])


def standing(model):
    q = gs.neutral(model).copy()
    q[2] = 0.1
    return q


@pytest.mark.parametrize(("method", "bound"), [("dopri5", 1e-10), ("moreau", 0.1)])
def test_nothing_holds_a_free_body_but_its_contacts(method, bound):
    model = robot()
    options = {"dt": 1e-3} if method == "moreau" else {}
    run = gs.simulate(model, spring, q0=standing(model), t_end=0.05, method=method, **options)
    assert sum(f[-1, 0] for f in run.contact_forces.values()) > 20.0
    assert np.abs(run.port_forces(["pose.b"])["pose.b"][1:]).max() < bound


def test_the_floor_carries_the_weight_beside_a_wrench_at_the_same_port():
    model = robot()
    push = {"box.origin": [0, 0, 0, 0, 0, -7.0]}
    run = gs.simulate(model, spring, q0=standing(model), t_end=0.05, wrenches=push)
    assert np.abs(run.port_forces(["pose.b"])["pose.b"]).max() < 1e-10


def test_a_force_sensor_above_a_foot_feels_the_floor():
    leg = gs.RigidBody("leg", mass=3.0, inertia=(0.1, 0.1, 0.1))
    sole = gs.RigidBody("sole", mass=1.0, inertia=(0.01, 0.01, 0.01))
    slide = gs.Joint("slide", "prismatic", axis="z")
    chain = gs.chain("world", slide, leg, gs.Joint("ankle", "revolute", axis="y"), sole, gs.ContactPoint("tip"))
    model = gs.sensors.add(gs.assemble("foot", chain, gs.Ground("floor")), gs.sensors.ForceTorque("ankle.b", "cell"))
    run = gs.simulate(model, lambda t, q, v: np.array([0.0, -10.0 * q[1] - v[1]]), q0=[0.0, 0.0], t_end=0.02)
    assert abs(run.sensors["cell"][-1][-1]) == pytest.approx(3.0 * 9.81, rel=1e-9)  # the weight above it
