"""Fastest motions followed in simulation: torques alone, and with a controller."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs

EFFORT = np.array([176.0, 176.0, 100.0, 100.0, 100.0, 38.0, 38.0])


def fastest(grid: int = 60) -> gs.studies.FastestPath:
    points = np.random.default_rng(0).uniform(-0.8, 0.8, (5, 7))
    return gs.studies.time_optimal(gs.robots.kuka_lwr4(), points, EFFORT, velocity_limits=4.0, grid=grid)


def run(found: gs.studies.FastestPath, law: object, rtol: float, end: float = 1.0) -> tuple[float, bool]:
    T = found.duration * end
    times = np.linspace(0.0, T, 9)
    motion = gs.simulate(found.study.model, law, q0=found.trajectory(0.0), t_end=T, rtol=rtol, atol=rtol, t_eval=times)  # type: ignore[arg-type]
    return float(np.abs(motion.q - found.trajectory(times)).max()), bool(motion.counters.compiled)


@pytest.mark.slow
def test_torques_alone_follow_the_motion_as_far_as_the_tolerance_of_the_run_lets_them():
    found = fastest()
    law = lambda t, q, v: found.torques(t)  # noqa: E731
    coarse, compiled = run(found, law, 1e-7, 0.3)
    fine, _ = run(found, law, 1e-11, 0.3)
    assert compiled and fine < 1e-6 and fine < 1e-2 * coarse


@pytest.mark.slow
def test_the_error_with_a_controller_goes_to_zero_with_the_tolerance():
    found = fastest()
    law = gs.blocks.diagram(
        gs.blocks.Reference(found.trajectory), gs.blocks.ComputedTorque(found.study.model, 400.0, 40.0)
    )
    coarse, compiled = run(found, law, 1e-6)
    fine, _ = run(found, law, 1e-10)
    assert compiled and fine < 1e-6 and fine < 1e-2 * coarse


@pytest.mark.parametrize("kind", ["waypoints", "function", "trajectory"])
def test_recorded_motions_are_the_motions(kind):
    from gyrostat.engine.kernel import Kernel
    from gyrostat.engine.tracing.record import record
    from gyrostat.simulate.blocks.recorded_motion import recorded_motion

    points = np.array([[0.1, 0.2], [0.8, -0.3], [0.5, 0.9]])
    path = {
        "waypoints": points,
        "function": lambda s: [np.sin(2.0 * s), 0.3 * s**2],
        "trajectory": gs.trajectories.fourier([0.1, 0.2], [[0.2, 0.1], [0.0, 0.2]], [[0.3, 0.1], [0.1, 0.0]], 0.3)
        if kind == "trajectory"
        else None,
    }[kind]
    motion = gs.studies.time_optimal(
        gs.robots.two_link(), path, 200.0, velocity_limits=2.0, acceleration_limits=5.0, grid=40
    ).trajectory
    program = record(lambda t: {"q": recorded_motion(motion, t[()], 2)}, {"t": ()}, "motion")
    times = np.linspace(0.0, motion.duration, 211)
    recorded = Kernel(program, "motion").call(times)["q"]
    assert recorded == pytest.approx(motion.derivatives(times, 2), abs=1e-9)
