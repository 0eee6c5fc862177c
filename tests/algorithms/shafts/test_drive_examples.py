"""The robots and drives of the examples: closed forms and independent computations behind what the pages show."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.robots.knee import RATIO, ROTOR, elastic_knee
from gyrostat.robots.wrist import differential_wrist


def runge_kutta(slope, x, dt, steps):
    found = [x]
    for _ in range(steps):
        x = found[-1]
        a = slope(x)
        b = slope(x + 0.5 * dt * a)
        c = slope(x + 0.5 * dt * b)
        found.append(x + dt / 6.0 * (a + 2 * b + 2 * c + slope(x + dt * c)))
    return np.array(found)


# ------------------------------------------------------------------ the trainer with saturating motors
def trainer(torques=(90.0, 40.0, 13.0, 12.0)):
    model = gs.robots.spatial_disorientation_trainer()
    for joint, ratio, rotor, torque in zip(
        model.dofs, (120.0, 80.0, 100.0, 100.0), (0.05, 0.02, 0.01, 0.01), torques, strict=True
    ):
        model = model.with_drive(joint, gear_ratio=ratio, rotor_inertia=rotor, torque_limit=torque, viscous=30.0)
    return model


def test_the_arm_of_the_trainer_speeds_up_as_fast_as_its_motor_allows():
    """From rest, all joints but the first locked by their programme: a_1 = N u / (H_11 + N^2 I), by hand from H."""
    model = trainer((90.0, 1e6, 1e6, 1e6))
    dt = 0.005
    path = np.zeros((5, 4))
    path[2:, 0] = [1.0, 3.0, 6.0]  # far more than it can do
    found = gs.AchievableMotion(model, dt)(path)
    M = gs.crba(model, np.zeros(4))  # the rotor's N^2 I is in it
    assert found.u[0, 0] == 90.0
    assert found.a[0] == pytest.approx([120.0 * 90.0 / M[0, 0], 0, 0, 0], abs=1e-9)
    plain = gs.crba(gs.robots.spatial_disorientation_trainer(), np.zeros(4))
    assert M[0, 0] - plain[0, 0] == pytest.approx(0.05 * 120.0**2, rel=1e-9)
    free = gs.AchievableMotion(model, dt, keep="torques")(path)
    # (44): q2 pushes with the torque that it would need if q1 could follow, and runs away
    assert abs(free.a[0, 1]) > 1.0


def test_episodes_of_the_trainer_cover_the_cycles_that_are_limited():
    t = np.arange(801) * 0.005
    x = np.clip(t / 2.0, 0, 1)
    turn = 3.0 * x**3 * (10 - 15 * x + 6 * x**2)
    path = np.stack([turn, -turn, 0.3 * turn, 0.2 * np.sin(4 * t) * x], axis=1)
    found = gs.AchievableMotion(trainer((60.0, 25.0, 9.0, 8.0)), 0.005)(path)
    told = np.zeros_like(found.cut, dtype=bool)
    for e in found.report():
        assert e.limit == "torque"
        told[round(e.start / 0.005) : round(e.end / 0.005), found.actuators.index(e.who)] = True
    assert np.array_equal(told, found.cut != 0)
    assert 0 < found.limited.sum() < len(found.limited)


# ------------------------------------------------------------------ sudden closure of the valves
def closed(q0, k, d):
    arm = gs.robots.hydraulic_manipulator()
    free = q0 + gs.gravity(arm, q0) / k
    parts, wires = [], []
    for j in range(5):
        parts += [gs.Spring(f"oil{j}", stiffness=k[j], rest=free[j], ground=True)]
        parts += [gs.Damper(f"hose{j}", damping=d[j], ground=True)]
        wires.append((f"q{j + 1}.shaft", f"oil{j}.a", f"hose{j}.a"))
    return arm, gs.Model("closed", (*arm.entities, *parts), (*arm.connections, *wires), arm.context), free


def test_the_drive_law_of_the_valves_is_a_restoring_spring_with_a_damper():
    """G13 (14) with the sign that restores."""
    q0, k, d = np.array([0.1, 0.6, -0.9, 0.3, 0.2]), np.array([25.0, 30, 12, 4, 0.3]) * 1e5, np.full(5, 900.0)
    arm, model, free = closed(q0, k, d)
    rng = np.random.default_rng(0)
    q, v, tau = q0 + 0.01 * rng.normal(size=(9, 5)), rng.normal(size=(9, 5)), 100 * rng.normal(size=(9, 5))
    want = gs.aba(arm, q, v, tau - k * (q - free) - d * v)
    assert np.allclose(gs.aba(model, q, v, tau), want, rtol=1e-11)
    assert np.abs(gs.aba(model, q0, np.zeros(5), np.zeros(5))).max() < 1e-9  # it rests where the valves closed
    energy = gs.PotentialEnergy(model)(q) - gs.PotentialEnergy(arm)(q)
    assert np.allclose(energy, np.sum(0.5 * k * (q - free) ** 2, axis=1), rtol=1e-9)


def test_the_swing_after_the_closure_loses_what_the_dampers_take_to_fourth_order():
    q0 = np.array([0.0, 0.6, -0.9, 0.3, 0.0])
    v0 = np.array([0.4, 0.25, -0.3, 0.05, 0.0])
    k, d = np.array([2.5e6, 3.0e6, 1.2e6, 4.0e5, 3.0e4]), np.array([4.0e4, 5.0e4, 1.5e4, 3.0e3, 150.0])
    _, model, _ = closed(q0, k, d)
    solver, T, U = gs.ForwardDynamics(model), gs.KineticEnergy(model), gs.PotentialEnergy(model)
    none, errors = np.zeros(5), []

    def slope(x):
        return np.concatenate([x[5:], solver(x[:5], x[5:], none)])

    for dt in (2e-3, 1e-3, 5e-4):
        q, v = np.split(runge_kutta(slope, np.concatenate([q0, v0]), dt, round(0.4 / dt)), 2, axis=1)
        power = np.sum(d * v**2, axis=1)
        taken = dt / 3.0 * (power[0] + 4 * power[1:-1:2].sum() + 2 * power[2:-1:2].sum() + power[-1])
        lost = T(q[0], v[0]) + U(q[0]) - T(q[-1], v[-1]) - U(q[-1])
        errors.append(abs(taken / lost - 1.0))
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert np.all(np.abs(orders - 4.0) < 0.5), (errors, orders)
    assert np.abs(q - q0).max() < 0.02


# ------------------------------------------------------------------ series-elastic knee
def by_hand(q, v, tau, k, d):
    """Accelerations of hip, knee and rotor from the rigid leg: the drive's spring between rotor and knee."""
    bare = gs.Model(
        "bare",
        [e for e in elastic_knee().entities if e.name != "knee_drive"],
        [c for c in elastic_knee().connections if not any("knee_drive" in port for port in c)],
        elastic_knee().context,
    )
    spring = k * (q[2] / RATIO - q[1]) + d * (v[2] / RATIO - v[1])
    M, h = np.zeros((3, 3)), np.zeros(3)
    M[:2, :2] = gs.crba(bare, q[:2])
    # the rotor turns with the thigh, whose inertia already contains it (lumped): spin I (theta + hip)
    M[2, 2], M[0, 2], M[2, 0] = ROTOR, ROTOR, ROTOR
    h[:2] = gs.bias(bare, q[:2], v[:2])
    return np.linalg.solve(M, tau - h + np.array([0.0, spring, -spring / RATIO]))


@pytest.mark.parametrize(("k", "d"), [(350.0, 0.0), (60.0, 1.5)])
def test_the_elastic_knee_by_hand(k, d):
    leg = elastic_knee(stiffness=k, damping=d)
    rng = np.random.default_rng(3)
    for _ in range(5):
        q, v, tau = rng.normal(size=3), rng.normal(size=3), rng.normal(size=3)
        q[2] = RATIO * (q[1] + 0.1 * rng.normal())
        v[2] *= RATIO
        assert np.allclose(gs.aba(leg, q, v, tau), by_hand(q, v, tau, k, d), rtol=1e-9)
        stored = gs.PotentialEnergy(leg)(q) - gs.PotentialEnergy(elastic_knee(stiffness=None))(q[:2])
        assert stored == pytest.approx(0.5 * k * (q[2] / RATIO - q[1]) ** 2, rel=1e-9)


def test_a_stiff_knee_is_a_rigid_one():
    """The spring torque on the way to the rigid drive: the difference falls with 1/k."""
    rigid = gs.ActuatorDynamics(elastic_knee(stiffness=None))
    w, errors = 6.0, []
    for k in (1e4, 1e5, 1e6):
        solver = gs.ElasticInverseDynamics(elastic_knee(stiffness=k))
        d = np.array(
            [[-0.5 * (o == 0) + 0.3 * w**o * np.sin(0.4 + o * np.pi / 2)] * 2 for o in range(solver.order + 1)]
        )
        want = rigid.torques(*d[:3])[rigid.actuators.index("knee")]
        errors.append(abs(solver(d).tau_motor[1] - want))
    assert np.allclose(np.log10(np.array(errors[:-1]) / errors[1:]), 1.0, atol=0.05)


# ------------------------------------------------------------------ differential wrist
def test_the_differential_wrist_by_hand():
    """The rotors add T^T I T to the mass matrix of the bare wrist, and I N to elbow and pitch, about y both."""
    wrist = differential_wrist()
    inside = ("differential", "left", "right", "left_rotor", "right_rotor")
    bare = gs.Model(
        "bare",
        [e for e in wrist.entities if e.name not in inside],
        [c for c in wrist.connections if not any(port.split(".")[0] in inside for port in c)],
        wrist.context,
    )
    T = np.array([[0.0, 40.0, 40.0], [0.0, 40.0, -40.0]])
    I, rng = 3e-6, np.random.default_rng(5)
    for _ in range(4):
        q, v, a = rng.normal(size=3), rng.normal(size=3), rng.normal(size=3)
        M = gs.crba(bare, q) + I * T.T @ T
        M[0] += I * T.sum(axis=0)
        M[:, 0] += I * T.sum(axis=0)
        assert np.allclose(gs.crba(wrist, q), M, rtol=1e-11, atol=1e-15)
        # axes of the rotors are parallel to the elbow's: nothing gyroscopic
        tau = gs.rnea(bare, q, v, a) + (M - gs.crba(bare, q)) @ a
        assert np.allclose(gs.rnea(wrist, q, v, a), tau, rtol=1e-11)
        u = gs.ActuatorDynamics(wrist).torques(q, v, a)
        assert np.allclose(u[:2], np.linalg.solve(T[:, 1:].T, tau[1:]), rtol=1e-10)
        assert u[2] == pytest.approx(tau[0])


def test_the_wrist_and_the_knee_survive_yaml(tmp_path):
    for make in (differential_wrist, elastic_knee):
        gs.save(make(), tmp_path / "model.yaml")
        assert gs.load(tmp_path / "model.yaml") == make()


def test_a_pure_pitch_is_shared_evenly_and_a_pure_roll_is_opposed():
    wrist = differential_wrist()
    solver = gs.ActuatorDynamics(wrist.replace({"hand.com": (0.09, 0, 0)}))
    zero = np.zeros(3)
    left, right, _ = solver.torques([0, 0.4, 0], zero, zero)
    assert left == pytest.approx(right)
    left, right, _ = solver.torques(zero, zero, [0, 0, 1.0]) - solver.torques(zero, zero, zero)
    assert left == pytest.approx(-right)
