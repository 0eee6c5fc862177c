"""The equations of motion as the actuators see them, and what actuators can give."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.algorithms.shafts.actuators import UNLIMITED, actuators, coupled
from gyrostat.graph.network import network
from tests.support.achievable_models import machine
from tests.support.random_models import random_state


@pytest.mark.parametrize("seed", range(6))
def test_actuator_terms_are_those_of_the_joints_seen_through_the_gears(seed):
    m = machine(seed)
    solver = gs.ActuatorDynamics(m.model, passive=m.passive)
    T = m.map(solver.actuators)
    assert np.allclose(solver.motor_map, T)
    rng = np.random.default_rng(seed)
    q, v, a = (np.stack(x) for x in zip(*(random_state(m.model, rng) for _ in range(5)), strict=True))
    w = {"body1": rng.normal(size=(5, 6))}
    H, bias = solver(q, v, w)
    tau = gs.InverseDynamics(m.model)(q, v, a, w)
    assert np.allclose(T.T @ H, gs.crba(m.model, q), rtol=1e-9, atol=1e-12)
    u = solver.torques(q, v, a, w)
    assert np.allclose(u @ T, tau, rtol=1e-9, atol=1e-9)
    assert np.allclose(np.einsum("kij,kj->ki", H, a) + bias, u, rtol=1e-9, atol=1e-9 * np.abs(u).max())
    # power is the same on both sides
    assert np.allclose(np.sum(u * (v @ T.T), axis=1), np.sum(tau * v, axis=1), rtol=1e-9, atol=1e-9)
    plain = gs.ActuatorDynamics(m.model, passive=m.passive, mode="interpret")(q[0], v[0], {"body1": w["body1"][0]})
    assert np.allclose(plain.H, H[0], rtol=1e-10, atol=1e-12)
    assert np.allclose(plain.bias, bias[0], rtol=1e-10, atol=1e-10)


def geared(ratio=-50.0, **motor):
    arm = gs.robots.pendulum(mass=2.0, length=0.5)
    (joint,) = arm.dofs
    arm = arm.with_drive(joint, rotor_inertia=1e-4, gear_ratio=ratio, viscous=0.2, coulomb=(0.3, 0.5), motor=True)
    return arm.replace({f"{joint}_drive.motor.{key}": value for key, value in motor.items()}), joint


@pytest.mark.parametrize("ratio", [50.0, -50.0])
@pytest.mark.parametrize("v", [0.4, -0.4])
def test_one_geared_joint_in_closed_form(ratio, v):
    """u N = (m l^2 / 3 + I N^2) a + m g l / 2 sin q + friction [KV (42), (43)]; the rotor's carrier is the world."""
    arm, _ = geared(ratio)
    H, bias = gs.ActuatorDynamics(arm)([0.7], [v])
    friction = 0.2 * v + (0.3 if v > 0 else -0.5)
    assert H[0, 0] == pytest.approx((2.0 * 0.25 / 3 + 1e-4 * ratio**2) / ratio)
    assert bias[0] == pytest.approx((abs(bias_of_gravity(arm)) + friction) / ratio)


def bias_of_gravity(arm):
    return float(gs.gravity(arm, [0.7])[0])


def bounds(w, **motor):
    (found,) = actuators(network(geared(**motor)[0]), "test")
    return found.torques(w)


def test_what_bounds_a_motor():
    assert bounds(3.0) == (-UNLIMITED, UNLIMITED)
    assert bounds(3.0, torque_limit=2.0) == (-2.0, 2.0)
    assert bounds(3.0, torque_limit=2.0, torque_constant=0.1, current_limit=15.0) == (-1.5, 1.5)
    points = [(10.0, 4.0), (20.0, 2.0), (30.0, 0.5)]
    for w, top in ((0.0, 4.0), (10.0, 4.0), (-15.0, 3.0), (25.0, 1.25), (30.0, 0.5), (-99.0, 0.5)):
        assert bounds(w, torque_speed=points) == pytest.approx((-top, top))
    assert bounds(5.0, torque_speed=points, torque_limit=1.0) == (-1.0, 1.0)


def test_voltage_bounds_what_drives_more_than_what_brakes():
    """u = k_t (U - k_t w) / R: at the speed w more is left for braking, up to the current limit; and the torque is on
    the motor's shaft, whose speed has the sign of the gear."""
    electric = {"torque_constant": 0.2, "resistance": 0.5, "voltage_limit": 10.0}
    for w in (-60.0, -20.0, 0.0, 20.0, 60.0):
        low, high = bounds(w, **electric)
        assert high == pytest.approx(max(0.2 * (10.0 - 0.2 * w) / 0.5, 0.0))
        assert low == pytest.approx(min(0.2 * (-10.0 - 0.2 * w) / 0.5, 0.0))
    low, high = bounds(20.0, **electric, current_limit=15.0)
    assert (low, high) == pytest.approx((-3.0, 2.4))
    # through a negative gear: a joint that turns forwards has a motor that turns backwards
    arm, joint = geared(-50.0, **electric, current_limit=15.0)
    solver = gs.AchievableMotion(arm, 0.001)
    v = 0.4  # motor at -20 rad/s
    hard = solver.step([0.0], [v], [v * 0.001], [1.0])  # forwards at once: the motor must push backwards
    assert hard.u == pytest.approx(-2.4)
    assert hard.cut.tolist() == [-1.0]
    brake = solver.step([0.0], [v], [v * 0.001], [-1.0])
    assert brake.u == pytest.approx(3.0)
    assert brake.a < 0.0 < hard.a
    assert solver.actuators == (joint,)


def test_effort_limits_of_driven_joints_hold_at_the_motor():
    arm, joint = geared(-50.0, torque_limit=0.4)
    for effort, top in ((10.0, 0.2), (30.0, 0.4)):
        (found,) = actuators(network(arm.replace({f"{joint}.effort_limit": effort})), "test")
        assert found.torques(0.0) == pytest.approx((-top, top))


def test_groups_of_actuators():
    T = np.zeros((5, 5))
    T[0, 3], T[1, 0], T[2, 1], T[2, 4], T[3, 1], T[3, 4], T[4, 2] = 9, 1, 2, 3, 4, -5, 1
    assert coupled(T) == [((1,), (0,)), ((2, 3), (1, 4)), ((4,), (2,)), ((0,), (3,))]
    belt = np.array([[1.0, 0, 0], [1, 1, 0], [0, 1, 1]])
    assert coupled(belt) == [((0, 1, 2), (0, 1, 2))]


def differential(**joint):
    a = gs.RigidBody("a", mass=1.0, inertia=(0.01, 0.01, 0.01))
    b = gs.RigidBody("b", mass=1.0, inertia=(0.01, 0.02, 0.02))
    joints = gs.Joint("roll", "revolute", axis="x", **joint), gs.Joint("pitch", "revolute", axis="y")
    gear = gs.Gear("gear", [[10.0, 10.0], [10.0, -10.0]])
    links = [gs.connect("roll.shaft", "gear.joint1"), gs.connect("pitch.shaft", "gear.joint2")]
    links += [gs.connect(f"gear.motor{k}", f"m{k}.shaft") for k in (1, 2)]
    return gs.assemble(
        "pair", gs.chain("world", joints[0], a, joints[1], b), gear, gs.Motor("m1"), gs.Motor("m2"), *links
    )


def test_what_cannot_be_is_refused():
    with pytest.raises(gs.StateError, match=r"'roll' has an effort limit, but several motors share.*torque limits"):
        gs.ActuatorDynamics(differential(effort_limit=5.0))
    with pytest.raises(gs.StateError, match=r"'pitch' has a motor, so it is not passive"):
        gs.ActuatorDynamics(differential(), passive=["pitch"])
    with pytest.raises(gs.StateError, match=r"there is no rate 'rol'. Hint: did you mean 'roll'"):
        gs.ActuatorDynamics(differential(), passive=["rol"])
    with pytest.raises(gs.StateError, match=r"sits behind a spring"):
        gs.ActuatorDynamics(gs.robots.elastic_arm())
    one = differential()
    spare = gs.Model(
        one.name, (*one.entities, gs.Motor("m3")), (*one.connections, ("m3.shaft", "roll.shaft")), one.context
    )
    with pytest.raises(
        gs.StateError, match=r"3 actuators for 2 rates do not determine each other \(motors: m1, m2, m3\)"
    ):
        gs.ActuatorDynamics(spare)
    with pytest.raises(gs.StateError, match=r"'gear.ratio' cannot be live"):
        gs.ActuatorDynamics(one, live=["gear.ratio"])


def test_a_free_base_is_driven_by_nobody():
    solver = gs.ActuatorDynamics(gs.robots.quadruped())
    found = actuators(solver.network, "test")
    assert sum(a.passive for a in found) == 6
    assert solver.motor_map.shape == (18, 18)


def test_live_properties_reach_torques_too():
    arm, _ = geared()
    (body,) = [name for name, e in arm.wiring.entities.items() if isinstance(e, gs.RigidBody)]
    solver = gs.ActuatorDynamics(arm, live=[f"{body}.mass"])
    state = [0.7], [0.4], [1.5]
    before = solver.torques(*state)
    heavy = arm.replace({f"{body}.mass": 5.0})
    solver.refresh(heavy)
    want = gs.ActuatorDynamics(heavy)
    assert np.allclose(solver(*state[:2]).bias, want(*state[:2]).bias)
    assert np.allclose(solver.torques(*state), want.torques(*state))
    assert not np.allclose(solver.torques(*state), before)


def test_another_order_of_joints():
    wrist = differential()
    solver = gs.ActuatorDynamics(wrist)
    other = solver.in_order(["pitch", "roll"])
    q, v, a = np.array([0.2, 0.5]), np.array([1.0, -2.0]), np.array([0.3, 0.4])
    assert np.allclose(other.torques(q[::-1], v[::-1], a[::-1]), solver.torques(q, v, a))
    H, bias = other(q[::-1], v[::-1])
    assert np.allclose(H @ a[::-1] + bias, solver.torques(q, v, a))
