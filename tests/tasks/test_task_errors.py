"""Errors and Jacobians of all tasks, for robots of all kinds."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from gyrostat import tasks as ts
from tests.tasks.robots_of_tasks import ROBOTS, pose, tip


def every_task(model):
    """One of each kind, aimed at a random configuration nearby."""
    frame = tip(model)
    root = next(name for name in gs.network(model).located if name.endswith(".origin"))
    found = [
        ts.Frame(frame),
        ts.Position(frame),
        ts.Orientation(frame),
        ts.LookAt(frame, axis="-x"),
        ts.LookAt(frame, axis=(0.6, 0.0, 0.8), name="askew"),
        ts.CenterOfMass(),
        ts.Posture(),
    ]
    return [*found, ts.RelativeFrame(frame, root=root)] if root != frame else found


def moved(model, q, v, s):
    """Along v; closed loops are left as they are: errors are those of the tree."""
    return gs.integrate(model, q, v, s)


@pytest.mark.parametrize("name", ROBOTS)
def test_jacobians_of_all_tasks_are_the_rates_of_their_errors(name):
    model = ROBOTS[name]()
    q, other = (gs.random_configuration(model, seed) for seed in (1, 2))
    stack = ts.Stack(model, every_task(model), limits=None, damping=0.0)
    stack.aim_here(gs.integrate(model, q, 0.3 * gs.difference(model, q, other)))
    rows, h = stack._program.rows(q, stack._x), 1e-6
    free = ~stack.held
    for seed in range(3):
        v = np.random.default_rng(seed).normal(size=model.nv) * free
        ahead, behind = (np.concatenate(list(stack.errors(moved(model, q, v, s)).values())) for s in (h, -h))
        np.testing.assert_allclose(rows.A @ v, (ahead - behind) / (2 * h), atol=3e-7 * (1 + np.abs(rows.A @ v).max()))


@pytest.mark.parametrize("name", ROBOTS)
def test_errors_vanish_at_targets_that_are_taken_from_a_configuration(name):
    model = ROBOTS[name]()
    q = gs.random_configuration(model, 5)
    stack = ts.Stack(model, every_task(model), limits=None)
    stack.aim_here(q)
    for task, e in stack.errors(q).items():
        np.testing.assert_allclose(e, 0.0, atol=3e-8, err_msg=task)


def test_errors_are_what_their_words_say():
    model = ROBOTS["seven hinges"]()
    q = gs.random_configuration(model, 4)
    T = pose(model, q, "l6.end")
    turn = np.array([[0.0, -1, 0], [1, 0, 0], [0, 0, 1]])
    target = T.copy()
    target[:3, :3] = T[:3, :3] @ turn.T  # the frame is a quarter turn about z ahead of its target
    shifted = T[:3, 3] + [0.1, 0.2, 0.3]
    ahead = T[:3, 3] + 0.7 * T[:3, 0]
    found = ts.Stack(
        model,
        [
            ts.Frame("l6.end", target),
            ts.Position("l6.end", shifted),
            ts.Orientation("l6.end", target[:3, :3]),
            ts.LookAt("l6.end", ahead, axis="z"),
            ts.CenterOfMass(gs.center_of_mass(model, q) - [0, 0, 1.0]),
            ts.Posture(q - 0.1),
        ],
    ).errors(q)
    np.testing.assert_allclose(found["l6.end"], [0, 0, np.pi / 2, 0, 0, 0], atol=1e-14)
    np.testing.assert_allclose(found["l6.end position"], [-0.1, -0.2, -0.3], atol=1e-14)
    np.testing.assert_allclose(found["l6.end orientation"], [0, 0, np.pi / 2], atol=1e-14)
    np.testing.assert_allclose(found["l6.end gaze"], [1, 0, -1], atol=1e-14)  # it should look along x
    np.testing.assert_allclose(found["center_of_mass"], [0, 0, 1.0], atol=1e-14)
    np.testing.assert_allclose(found["posture"], 0.1, atol=1e-14)


WRONG = {
    "weights must be": lambda: ts.Frame("l6.end", np.eye(4), position=-1.0),
    "gain must be above 0": lambda: ts.Frame("l6.end", np.eye(4), gain=0.0),
    "level must be": lambda: ts.Posture(np.zeros(7), level=-1),
    "is not a rotation": lambda: ts.Frame("l6.end", np.diag([1.0, 1, -1, 1])),
    "the last row": lambda: ts.Frame("l6.end", np.ones((4, 4))),
    "expected points": lambda: ts.Position("l6.end", np.eye(4)),
    "axis must be": lambda: ts.LookAt("l6.end", np.ones(3), axis="w"),
    "root is not named": lambda: ts.RelativeFrame("l6.end", np.eye(4)),
    "not finite": lambda: ts.Position("l6.end", [np.nan, 0, 0]),
    "l6.end": lambda: ts.Frame("l6.edn", np.eye(4)),
    "weight must be one number": lambda: ts.Posture(np.zeros(7), weight=[1.0, 2.0]),
}


@pytest.mark.parametrize("words", WRONG)
def test_what_is_wrong_with_a_task_is_told(words):
    expected = words.replace("weights must be", "position must be")
    with pytest.raises(gs.GyrostatError, match=expected):
        ts.Stack(ROBOTS["seven hinges"](), WRONG[words]())
