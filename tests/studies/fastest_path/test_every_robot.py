"""Products: robots of the catalogue x kinds of limits; every limit holds at 60 points of each interval."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs

ROBOTS = ["arm6", "differential_wrist", "kuka_lwr4", "palletizer", "pendulum", "puma560", "two_link"]
MORE = ["andrews_squeezer", "five_bar", "hydraulic_manipulator", "spatial_disorientation_trainer"]
KINDS = {
    "speed": {"velocity_limits": 2.0},
    "torque": {"torque_limits": 5e3, "velocity_limits": 5.0},
    "acceleration": {"velocity_limits": 2.0, "acceleration_limits": 8.0},
    "stop": {"velocity_limits": 2.0, "acceleration_limits": 20.0, "stops": [0.5]},
    "from speed": {"velocity_limits": 2.0, "acceleration_limits": 8.0, "start_speed": 0.1, "end_speed": 0.1},
}


def fastest(name: str, kind: str, seed: int = 0) -> gs.studies.FastestPath:
    model = getattr(gs.robots, name)()
    q = np.random.default_rng(seed).uniform(-0.3, 0.3, (4, model.nq))
    return gs.studies.time_optimal(model, q, positions=False, grid=100, **KINDS[kind])


@pytest.mark.parametrize("kind", KINDS)
def test_limits_hold_for_two_links(kind):
    found = fastest("two_link", kind)
    assert found.check(60) <= 0.0 and found.duration > 0.0


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", [*ROBOTS, *MORE])
def test_limits_hold_for_every_robot_and_kind(name, kind):
    for seed in range(3):
        try:
            found = fastest(name, kind, seed)
        except gs.GyrostatError as error:  # too weak for its own weight, or out of its workspace: said so
            assert "stand still" in str(error) or "cannot be closed" in str(error), error
            continue
        assert found.check(60) <= 0.0


@pytest.mark.slow
def test_torques_drive_the_robot_along_the_path():
    model = gs.robots.two_link()
    found = gs.studies.time_optimal(model, [[0.1, 0.2], [0.8, -0.3], [1.2, 0.4]], 60.0, velocity_limits=8.0)
    motion = found.trajectory
    q, v = motion.derivatives(0.0, 1)
    worst = 0.0
    for t0, t1 in zip(found.t[:-1:25], found.t[25::25], strict=True):  # piece by piece: no feedback
        q, v = motion.derivatives(t0, 1)
        for h in [np.diff(np.linspace(t0, t1, 401))[0]]:
            t = t0
            for _ in range(400):  # rk4 with the torques of the study

                def rates(time, q, v):
                    return v, gs.aba(model, q, v, found.torques(time))

                k1 = rates(t, q, v)
                k2 = rates(t + h / 2, q + h / 2 * k1[0], v + h / 2 * k1[1])
                k3 = rates(t + h / 2, q + h / 2 * k2[0], v + h / 2 * k2[1])
                k4 = rates(t + h, q + h * k3[0], v + h * k3[1])
                q = q + h / 6 * (k1[0] + 2 * k2[0] + 2 * k3[0] + k4[0])
                v = v + h / 6 * (k1[1] + 2 * k2[1] + 2 * k3[1] + k4[1])
                t += h
        worst = max(worst, float(np.abs(q - motion(t1)).max()))
    assert worst < 1e-4
