"""Exciting trajectories: limits hold, the objective falls, its gradient is right, rest at the ends."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.errors import GyrostatError
from gyrostat.studies.identification.exciting_limits import read_limits
from gyrostat.studies.identification.exciting_problem import ExcitingProblem

LIMITS = {
    "velocity_limits": 2.0,
    "acceleration_limits": 8.0,
    "torque_limits": (30.0, 12.0),
    "position_limits": (-1.2, 1.2),
}


@pytest.fixture(scope="module")
def model():
    return gs.robots.two_link()


@pytest.mark.parametrize("objective", ["condition", pytest.param("d-optimal", marks=pytest.mark.slow)])
def test_every_limit_holds_on_a_fine_grid_and_the_motion_tells_more_than_a_random_one(objective, model):
    found = gs.studies.exciting_trajectory(model, **LIMITS, objective=objective, iterations=25, harmonics=4)
    t = np.linspace(0.0, 20.0, 8001)
    q, v, a = np.moveaxis(found.trajectory.derivatives(t, 2), 1, 0)
    tau = gs.rnea(model, q, v, a)
    for x, limit in ((q, 1.2), (v, 2.0), (a, 8.0), (tau, (30.0, 12.0))):
        assert np.all(np.abs(x).max(axis=0) <= 0.9 * np.asarray(limit) * (1.0 + 1e-3))
    assert found.history[-1] < found.history[0]
    assert max(use.max() for use in found.use.values()) <= 0.9 + 1e-9
    for instant in (0.0, 10.0, 20.0):
        p = found.trajectory.derivatives(instant, 2)
        np.testing.assert_allclose(p[1:], 0.0, atol=1e-9)
    if objective == "condition":
        assert found.condition <= found.start_condition
    again = gs.studies.ExcitingTrajectory.from_dict(found.to_dict())
    np.testing.assert_array_equal(again.trajectory(t), found.trajectory(t))
    assert "Use of the limits" in str(found.report())


@pytest.mark.parametrize("objective", ["d-optimal", "condition"])
def test_the_gradient_is_that_of_differences(objective, model):
    given = (LIMITS[k] for k in ("position_limits", "velocity_limits", "acceleration_limits", "torque_limits"))
    limits = read_limits(model, *given, 0.9, "test")
    task = ExcitingProblem.of(
        model, limits, ("viscous", "coulomb"), None, 10.0, 4, 60, objective, lambda q: 0.5 - q[:, 0]
    )
    z = 1.3 * task.start(np.random.default_rng(3))
    value, gradient = task.value(z.ravel())
    assert value == pytest.approx(task.plain(z))
    for k in np.random.default_rng(1).choice(z.size, 6, replace=False):
        step = np.zeros(z.size)
        step[k] = 1e-5
        ends = [task.plain((z.ravel() + s * step).reshape(z.shape)) for s in (1.0, -1.0)]
        assert gradient[k] == pytest.approx((ends[0] - ends[1]) / 2e-5, rel=2e-3, abs=2e-3 * np.abs(gradient).max())


def test_a_clearance_is_kept(model):
    def clearance(q):
        return 0.8 - np.abs(q[:, 0] + q[:, 1])

    found = gs.studies.exciting_trajectory(model, **LIMITS, clearance=clearance, iterations=10, harmonics=3)
    t = np.linspace(0.0, 10.0, 4001)
    assert clearance(found.trajectory(t)).min() > -1e-3


@pytest.mark.slow
def test_shapes_stay_apart():
    def link(name):
        shape = gs.Shape(kind="capsule", size=(0.05, 0.2), translation=(0, 0, 0.2), role="collision")
        return gs.RigidBody(
            name, mass=1.0, inertia=(0.02, 0.02, 0.01), com=(0, 0, 0.2), shapes=[shape], frames={"end": (0, 0, 0.4)}
        )

    parts = [part for k in range(3) for part in (gs.Joint(f"j{k}", "revolute", axis="y"), link(f"l{k}"))]
    arm = gs.assemble("arm", gs.chain("world", *parts), gs.Ground("floor"))
    limits = {"velocity_limits": 2.0, "position_limits": (-2.5, 2.5), "acceleration_limits": 10.0}
    free, kept = (
        gs.studies.exciting_trajectory(arm, **limits, iterations=6, harmonics=3, apart=d) for d in (None, 0.02)
    )
    t = np.linspace(0.0, 10.0, 500)
    assert gs.distances(arm, free.trajectory(t)).distance.min() < 0.0
    assert gs.distances(arm, kept.trajectory(t)).distance.min() > 0.019
    with pytest.raises(GyrostatError, match="no shapes can touch"):
        gs.studies.exciting_trajectory(gs.robots.chain(2), velocity_limits=1.0, apart=0.1)


def test_an_interruption_keeps_the_best_motion(model):
    def stop(done, total, text):
        if done == 3:
            raise KeyboardInterrupt

    found = gs.studies.exciting_trajectory(model, **LIMITS, progress=stop, harmonics=3)
    assert not found.finished and len(found.history) == 3 and found.trajectory(0.0).shape == (2,)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"velocity_limits": None, "acceleration_limits": None}, "neither a velocity nor an acceleration limit"),
        ({"torque_limits": 0.5, "position_limits": ((0.4, 0.4), (1.2, 1.2))}, "not even small motions"),
        ({"duration": 15.0}, "is no multiple of the period"),
        ({"objective": "a-optimal"}, "objective must be one of"),
        ({"margin": 2.0}, "margin must be"),
        ({"clearance": lambda q: 1.0}, r"clearance gave shape \(\)"),
    ],
)
def test_what_cannot_be_is_refused(change, message, model):
    with pytest.raises(GyrostatError, match=message):
        gs.studies.exciting_trajectory(model, **LIMITS | {"iterations": 2, "harmonics": 2} | change)


def test_a_floating_base_is_refused():
    model = gs.robots.aibo()
    with pytest.raises(GyrostatError, match="no angle or shift that a series could prescribe"):
        gs.studies.exciting_trajectory(model, velocity_limits=1.0)
