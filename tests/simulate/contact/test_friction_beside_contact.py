"""Dry friction of joints that hold the same motion as closed contacts: forces within all limits, whoever carries."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.simulate.constraints.inner_forces import inner_forces, least

G = 9.81
TILT = 0.5


def slider(coulomb: float) -> gs.Model:
    """A carriage along x with a mass along z, whose tip is on rough ground; z has dry friction."""
    first, second = (gs.RigidBody(name, mass=1.0, inertia=(0.1, 0.1, 0.1)) for name in ("carriage", "mass"))
    joints = [gs.Joint(axis, "prismatic", axis=axis) for axis in ("x", "z")]
    model = gs.assemble(
        "slider", gs.chain("world", joints[0], first, joints[1], second, gs.ContactPoint("tip")),
        gs.Ground("floor", friction=0.5),
    )  # fmt: skip
    return model.with_drive("z", rotor_inertia=1e-4, gear_ratio=50, coulomb=coulomb)


def hoist(coulomb: float) -> gs.Model:
    """A mass along z on smooth ground, with dry friction."""
    body = gs.RigidBody("mass", mass=1.0, inertia=(0.1, 0.1, 0.1))
    chain = gs.chain("world", gs.Joint("z", "prismatic", axis="z"), body, gs.ContactPoint("tip"))
    model = gs.assemble("hoist", chain, gs.Ground("floor", friction=0.0))
    return model.with_drive("z", rotor_inertia=1e-4, gear_ratio=50, coulomb=coulomb)


def leg(coulomb: float, along_z: float) -> gs.Model:
    """A trunk on a vertical rail, on a leg of two links whose foot has two points."""
    trunk = gs.RigidBody("trunk", mass=5.0, inertia=(0.1, 0.1, 0.1))
    com, inertia, foot = (0.0, 0.0, -0.2), (0.02, 0.02, 0.02), {"heel": (-0.1, 0, -0.4), "toe": (0.15, 0, -0.4)}
    thigh = gs.RigidBody("thigh", mass=1.0, com=com, inertia=inertia, frames={"knee": (0.0, 0.0, -0.4)})
    shin = gs.RigidBody("shin", mass=1.0, com=com, inertia=inertia, frames=foot)
    rail, hip = gs.Joint("z", "prismatic", axis="z"), gs.Joint("hip", "revolute", axis="y")
    model = gs.assemble(
        "leg", gs.chain("world", rail, trunk, hip, thigh),
        gs.chain("thigh.knee", gs.Joint("knee", "revolute", axis="y"), shin),
        *(gs.chain(f"shin.{name}", gs.ContactPoint(name)) for name in foot), gs.Ground("floor", friction=0.5),
    )  # fmt: skip
    for joint in ("hip", "knee"):
        model = model.with_drive(joint, rotor_inertia=1e-5, gear_ratio=30, coulomb=coulomb)
    return model.with_drive("z", rotor_inertia=1e-5, gear_ratio=30, coulomb=along_z) if along_z else model


STANDING = np.array([0.4 * np.cos(TILT) + 0.4, TILT, -TILT])


@pytest.mark.parametrize("method", ["dopri5", "radau"])
def test_a_contact_that_slides_carries_the_load_beside_a_friction_that_sticks(method):
    run = gs.simulate(slider(0.1), [0.0, 0.0], q0=[0.0, 0.0], v0=[1.0, 0.0], t_end=1.0, method=method)
    assert run.q[-1, 0] == pytest.approx(1.0 / (0.5 * G), rel=1e-8)  # v^2 / (2 a), a = mu N / (2 kg)
    np.testing.assert_allclose(run.contact_forces["tip|floor"][10], [G, -0.5 * G, 0.0], rtol=1e-8)
    stepped = gs.simulate(slider(0.1), [0.0, 0.0], q0=[0.0, 0.0], v0=[1.0, 0.0], t_end=1.0, method="moreau", dt=1e-3)
    least, most = (2.0 / (G + side * 0.1) for side in (1.0, -1.0))  # the split is not unique: N = G +- the friction
    assert least - 1e-5 <= stepped.q[-1, 0] <= most + 1e-5


@pytest.mark.parametrize("method", ["dopri5", "radau"])
def test_a_body_leaves_the_ground_when_its_friction_can_hold_no_more(method):
    def lift(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return np.array([30.0 * t])

    model = hoist(1.0)
    run = gs.simulate(model, lift, q0=[0.0], t_end=0.5, method=method)
    inertia, begins = 1.0 + 1e-4 * 50.0**2, (G + 1.0) / 30.0
    assert run.contact_phases[-1].t_start == pytest.approx(begins, abs=1e-9)
    assert run.q[-1, 0] == pytest.approx(30.0 * (0.5 - begins) ** 3 / (6.0 * inertia), rel=1e-7)
    assert run.contact_forces["tip|floor"][:, 0].min() >= -1e-9


@pytest.mark.slow
@pytest.mark.parametrize(("along_z", "rate", "t_end"), [(0.0, 200.0, 0.4), (20.0, 300.0, 0.35)])
def test_a_leg_with_friction_in_its_joints_leaves_at_its_weight_and_the_friction_of_its_rail(along_z, rate, t_end):
    def lift(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return np.array([rate * t, 0.0, 0.0])

    model = leg(30.0, along_z)
    run = gs.simulate(model, lift, q0=STANDING, t_end=t_end)
    left = [x.t_start for x in run.contact_phases if x.phase == "open" and x.t_end == t_end]
    np.testing.assert_allclose(left, (7.0 * G + along_z) / rate, atol=1e-6)
    stepped = gs.simulate(model, lift, q0=STANDING, t_end=t_end, method="moreau", dt=2e-4)
    np.testing.assert_allclose(run.q[-1], stepped.q[-1], atol=1e-6)


@pytest.mark.slow
def test_a_leg_that_is_pushed_at_its_hip_stands_until_no_forces_are_within_all_limits():
    def push(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return np.array([0.0, 150.0 * t, 0.0])

    model = leg(30.0, 0.0)
    run = gs.simulate(model, push, q0=STANDING, t_end=0.4)
    stepped = gs.simulate(model, push, q0=STANDING, t_end=0.4, method="moreau", dt=2e-4)
    np.testing.assert_allclose(run.q[-1], stepped.q[-1], atol=1e-6)
    assert abs(run.v[-1, 1] - stepped.v[-1, 1]) < 1e-3 * abs(run.v[-1, 1])


def test_forces_are_found_inside_cones_and_boxes():
    N = np.array([[1.0], [-1.0]]) / np.sqrt(2.0)  # a friction and a normal force that hold the same motion
    found = inner_forces(np.array([-4.0, 2.0]), N, [(1, None)], [(0, -1.0, 1.0)])
    assert least(found, [(1, None)], [(0, -1.0, 1.0)]) < 0.0  # -2 in all: none
    found = inner_forces(np.array([-4.0, 3.5]), N, [(1, None)], [(0, -1.0, 1.0)])
    assert least(found, [(1, None)], [(0, -1.0, 1.0)]) > 0.0
    assert found.sum() == pytest.approx(-0.5, abs=1e-12)
