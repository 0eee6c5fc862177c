"""Whole-body control: the quadratic program keeps its constraints, and the humanoid stands and shifts its weight."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.solvers.legs.whole_body import WholeBodyProblem
from tests.support.legged import PAWS, SOLES, bent, held_rows

pytest.importorskip("clarabel")

HUMAN, DOG = gs.robots.humanoid(), gs.robots.aibo()
NAMES = ("toe_left", "toe_right", "heel_left", "heel_right")
CORNERS = {sole: [sole.replace("sole", name) for name in NAMES] for sole in SOLES}
FEET = [gs.FrameContact(sole, friction=0.6) for sole in SOLES]


def standing() -> np.ndarray:
    """The humanoid with bent knees, its soles on the ground."""
    q = gs.neutral(HUMAN)
    q[7:] = [0.0, 0.0, -0.4, 0.8, -0.4, 0.0] * 2
    q[2] -= gs.fk(HUMAN, q)[SOLES[0]].p[2]
    return q


def tasks(q: np.ndarray, shift=(0.0, 0.0, 0.0)) -> list:
    c = gs.center_of_mass(HUMAN, q) + np.array(shift)
    torso = gs.fk(HUMAN, q)["torso"].matrix
    return [
        gs.blocks.CenterOfMassTask(target=c, weight=10.0),
        gs.blocks.FrameTask(frame="torso", target=torso, axes="orientation", weight=5.0),
        gs.blocks.PostureTask(target=q, weight=0.05, kp=50.0),
    ]


def look(problem: WholeBodyProblem, q: np.ndarray, v: np.ndarray):
    """The solution, and the torques that its accelerations and forces take in inverse dynamics."""
    found = problem.solve(0.0, q, v)
    wrenches = {frame: gs.Wrench([0, 0, 0, *f], "aligned") for frame, f in found.forces.items()}
    return found, gs.rnea(problem.model, q, v, found.a, wrenches=wrenches)


def test_the_solution_obeys_motion_contacts_cones_and_limits():
    q = standing()
    rng = np.random.default_rng(1)
    v = 0.1 * gs.contact_velocities(HUMAN, q, rng.normal(size=18), list(SOLES))
    problem = WholeBodyProblem(HUMAN, FEET, tasks(q, (0.0, 0.02, 0.0)), corners=CORNERS)
    found, needed = look(problem, q, v)
    np.testing.assert_allclose(needed[6:], found.tau[6:], atol=1e-5)
    np.testing.assert_allclose(needed[:6], 0.0, atol=1e-5)
    np.testing.assert_array_equal(found.tau[:6], 0.0)
    J = held_rows(HUMAN, q, dict.fromkeys(SOLES, "fixed"))
    drift = np.concatenate([gs.jacobian_rate(HUMAN, q, v, sole, "local") @ v for sole in SOLES])
    np.testing.assert_allclose(J @ found.a + drift, 0.0, atol=1e-6)
    for f in found.forces.values():
        assert 0.6 * f[2] - np.hypot(f[0], f[1]) > -1e-6
    assert np.all(np.abs(found.tau) <= problem.limits + 1e-5)


def test_the_centre_of_mass_gets_the_acceleration_that_its_task_wants():
    q = standing()
    c = gs.center_of_mass(HUMAN, q)
    task = gs.blocks.CenterOfMassTask(target=c + np.array([0.0, 0.01, 0.0]), kp=40.0)
    found, _ = look(WholeBodyProblem(HUMAN, FEET, [task], corners=CORNERS), q, np.zeros(18))
    rate = gs.centroidal_momentum_rate(HUMAN, q, np.zeros(18), found.a)
    np.testing.assert_allclose(rate[3:] / 47.0, [0.0, 0.4, 0.0], atol=1e-3)


def test_momentum_frames_and_functions_of_time_are_tasks():
    q, v = bent(DOG), np.zeros(18)
    head = gs.fk(DOG, q)["torso"].matrix
    wanted = [
        gs.blocks.MomentumTask(weight=1e2),
        gs.blocks.FrameTask(frame="torso", target=lambda t: head, kp=25.0),
        gs.blocks.PostureTask(target=lambda t: q, joints=["front_left_knee"], weight=1e-3),
    ]
    paws = [gs.FrameContact(paw, "point", friction=0.7) for paw in PAWS]
    found, needed = look(WholeBodyProblem(DOG, paws, wanted), q, v)
    np.testing.assert_allclose(needed, found.tau, atol=1e-5)
    np.testing.assert_allclose(found.a, 0.0, atol=1e-3)


def test_torque_limits_are_kept_and_may_leave_no_solution():
    q = standing()
    weak = np.full(18, 40.0)
    problem = WholeBodyProblem(HUMAN, FEET, tasks(q, (0.0, 0.0, 0.3)), corners=CORNERS, torque_limits=weak)
    found, _ = look(problem, q, np.zeros(18))
    assert np.abs(found.tau).max() == pytest.approx(40.0, abs=1e-3)
    hanging = HUMAN.replace({"context.gravity": (0.0, 0.0, 9.81)})  # with stretched legs: the ground would have to pull
    stuck = WholeBodyProblem(hanging, FEET, [gs.blocks.MomentumTask()], corners=CORNERS)
    with pytest.raises(gs.StateError, match=r"no torques and forces satisfy contacts.*at t = 0 s \(Clarabel"):
        stuck.solve(0.0, gs.neutral(HUMAN), np.zeros(18))


def test_the_humanoid_stands_and_shifts_its_weight_on_rigid_ground():
    q = standing()
    c = gs.center_of_mass(HUMAN, q)

    def path(t: float) -> np.ndarray:
        s = min(t / 0.3, 1.0)
        return c + np.array([0.0, 0.02 * s * s * (3.0 - 2.0 * s), 0.0])

    wanted = tasks(q)
    wanted[0] = gs.blocks.CenterOfMassTask(target=path, weight=10.0, kp=200.0)
    control = gs.blocks.WholeBody(HUMAN, FEET, wanted, 0.005, corners=CORNERS)
    assert control.solution is None
    plant = HUMAN.with_ground(friction=0.8)
    run = gs.simulate(plant, control, q0=q, v0=np.zeros(18), t_end=0.6, method="moreau", dt=1e-3)
    moved = gs.center_of_mass(HUMAN, run.q[-1]) - c
    assert moved[1] == pytest.approx(0.02, abs=2e-3) and np.abs(moved[[0, 2]]).max() < 2e-3
    feet, before = gs.fk(HUMAN, run.q[-1]), gs.fk(HUMAN, q)
    for sole in SOLES:
        np.testing.assert_allclose(feet[sole].p, before[sole].p, atol=1e-5)
    weight = sum(f[2] for f in control.solution.forces.values())
    assert weight == pytest.approx(47.0 * 9.81, rel=0.02)
    left = sum(f[2] for frame, f in control.solution.forces.items() if frame.startswith("left"))
    assert left > 0.55 * weight  # more on the left


def test_phases_choose_the_contacts():
    q = standing()
    named = {"both": FEET, "left": FEET[:1]}
    control = gs.blocks.WholeBody(
        HUMAN, named, tasks(q), 0.01, corners=CORNERS, phases=lambda t: "both" if t < 1 else "left"
    )
    rest = np.zeros(18)
    control.function(0.0, q, rest)
    assert len(control.solution.forces) == 8
    control.function(2.0, q, rest)
    assert set(control.solution.forces) == set(CORNERS[SOLES[0]])
    lost = gs.blocks.WholeBody(HUMAN, named, tasks(q), 0.01, corners=CORNERS, phases=lambda t: "lft")
    with pytest.raises(gs.GyrostatError, match=r"no phase 'lft'.*left"):
        lost.function(0.0, q, rest)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"contacts": list(SOLES)}, r"'left_foot.sole' has no friction"),
        ({"contacts": FEET, "corners": None}, r"'left_foot.sole' is fixed, an area whose corners are not known"),
        ({"contacts": [gs.FrameContact(SOLES[0], "normal", friction=1.0)]}, r"is 'normal', expected fixed or point"),
        ({"corners": {sole: [] for sole in SOLES}}, r"'left_foot.sole' has no corners, so that no force could act"),
        ({"contacts": [gs.FrameContact(SOLES[0], friction=1.0, compliance=1.0)]}, r"'left_foot.sole' is compliant"),
        ({"tasks": [3]}, r"3 is no task"),
        ({"torque_limits": [1.0]}, r"torque_limits has shape \(1,\), expected \(18,\)"),
        ({"damping": -1.0}, r"damping must be a number >= 0"),
        ({"passive": ["left_kne"]}, r"'left_kne' is no joint with coordinates.*left_knee"),
    ],
)
def test_mistakes_are_named(options, message):
    given = {"contacts": FEET, "tasks": tasks(standing()), "corners": CORNERS} | options
    with pytest.raises(gs.GyrostatError, match=message):
        gs.blocks.WholeBody(HUMAN, **given)


def test_tasks_are_examined():
    with pytest.raises(gs.GyrostatError, match=r"CenterOfMassTask: kp must be a number >= 0, got -1"):
        gs.blocks.CenterOfMassTask(target=(0, 0, 0), kp=-1)
    with pytest.raises(gs.GyrostatError, match=r"FrameTask: axes is 'sideways'. Hint: pose"):
        WholeBodyProblem(HUMAN, FEET, [gs.blocks.FrameTask(frame="torso", target=0, axes="sideways")], corners=CORNERS)
    wrong = (((0, 0), r"shape \(2,\), expected \(3,\)"), (lambda t: [np.nan] * 3, r"not finite at t = 0"))
    for target, message in wrong:
        problem = WholeBodyProblem(HUMAN, FEET, [gs.blocks.CenterOfMassTask(target=target)], corners=CORNERS)
        with pytest.raises(gs.GyrostatError, match=message):
            problem.solve(0.0, standing(), np.zeros(18))


def test_one_state_is_solved_at_a_time():
    problem, q, v = WholeBodyProblem(HUMAN, FEET, tasks(standing()), corners=CORNERS), standing(), np.zeros(18)
    with pytest.raises(gs.ShapeError, match=r"WholeBody: q has shape \(2, 19\), expected one state"):
        problem.solve(0.0, np.tile(q, (2, 1)), v)
    with pytest.raises(gs.ShapeError, match=r"WholeBody: v has shape \(2, 18\), expected one state"):
        problem.solve(0.0, q, np.tile(v, (2, 1)))
