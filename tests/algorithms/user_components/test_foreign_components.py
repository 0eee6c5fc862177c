"""Components from elsewhere, with rows of their own: what works, and what is told when something is missing."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.algorithms.recursions.aba import ArticulatedMessage, aba, rigidly
from gyrostat.algorithms.recursions.kinematics import kinematics
from gyrostat.algorithms.recursions.rne import rne
from gyrostat.spatial.articulated import ArticulatedInertia
from gyrostat.spatial.inertia import SpatialInertia
from gyrostat.spec.values import Number
from tests.support.comparing import assert_close


class Ball(gs.Entity):
    """A solid ball at its port ``frame``."""

    mass: Number
    radius: Number


@kinematics.row(Ball)
def still(c, on, motion, q, v, a):
    return {}, None


def inertia(c, on, motion):
    J = 0.4 * c["mass"] * c["radius"] ** 2 * np.eye(3)
    return on.representation.inertia(motion.pose, SpatialInertia.at_centre(c["mass"], np.zeros(3), J))


@rne.row(Ball)
def ball(c, on, motion, memo):
    own = on.representation.newton_euler(inertia(c, on, motion), np.zeros(6), motion.V, motion.A)
    return lambda forces: (own, np.zeros(0))


def arm(end):
    hinges = [gs.Joint(name, "revolute", axis=axis) for name, axis in (("pan", "z"), ("tilt", "y"))]
    link = gs.RigidBody("link", mass=1.0, com=(0, 0, 0.2), inertia=(0.1, 0.1, 0.05), frames={"end": (0, 0, 0.5)})
    return gs.assemble("arm", gs.chain("world", *hinges, link), end, gs.connect("link.end", end.name))


MINE = arm(Ball("ball", mass=2.0, radius=0.1))
THEIRS = arm(gs.RigidBody("ball", mass=2.0, inertia=(0.008, 0.008, 0.008)))
Q, V, A = np.array([0.3, 0.7]), np.array([1.0, -2.0]), np.array([0.5, 0.2])


@pytest.mark.parametrize("algorithm", ["aba", "crba", "walker-orin", "mrnea", "newton-euler", "operators"])
def test_rows_of_newton_euler_are_enough_for_forward_dynamics_and_mass_matrix(algorithm):
    want = gs.aba(THEIRS, Q, V, A)
    assert_close(gs.ForwardDynamics(MINE, algorithm)(Q, V, A), want, 1e-12)
    if algorithm in gs.MassMatrix.algorithms:
        assert_close(gs.MassMatrix(MINE, algorithm)(Q), gs.crba(THEIRS, Q), 1e-12)


def test_rows_of_newton_euler_are_enough_for_derivatives():
    for mine, theirs in zip(gs.rnea_derivatives(MINE, Q, V, A), gs.rnea_derivatives(THEIRS, Q, V, A), strict=True):
        assert_close(mine, theirs, 1e-12)
    for mine, theirs in zip(gs.aba_derivatives(MINE, Q, V, A), gs.aba_derivatives(THEIRS, Q, V, A), strict=True):
        assert_close(mine, theirs, 1e-12)


def test_a_row_of_its_own_takes_the_place_of_what_is_read_off():
    asked: list[str] = []

    @aba.row(Ball)
    def articulated(c, on, motion, memo):
        asked.append(c.name)
        M = inertia(c, on, motion)
        force = on.representation.newton_euler(M, np.zeros(6), motion.V, motion.A)
        return rigidly({}, ArticulatedMessage(ArticulatedInertia.of(M), force))

    try:
        assert_close(gs.aba(arm(Ball("ball", mass=2.0, radius=0.1)), Q, V, A), gs.aba(THEIRS, Q, V, A), 1e-12)
    finally:
        del aba.rows[Ball]
    assert asked
    times = len(asked)
    assert_close(gs.aba(MINE, Q, V, A), gs.aba(THEIRS, Q, V, A), 1e-12)
    assert len(asked) == times


class Wrong(gs.Entity):
    """A component whose rows are wrong in a way that a test chooses."""


WRONG_ROWS = {
    "an error": (lambda *x: ({}, None), lambda *x: 1 / 0, "ZeroDivisionError"),
    "no function": (lambda *x: ({}, None), lambda *x: 3, "must return a function"),
    "no pair": (lambda *x: ({}, None), lambda *x: lambda forces: np.zeros(6), r"\(force, generalised forces\)"),
    "a short force": (lambda *x: ({}, None), lambda *x: lambda forces: (np.zeros(3), np.zeros(0)), r"shape \(3,\)"),
    "too many rates": (lambda *x: ({}, None), lambda *x: lambda forces: (np.zeros(6), np.zeros(1)), r"shape \(1,\)"),
    "an error inward": (lambda *x: ({}, None), lambda *x: lambda forces: forces["nothing"], "KeyError"),
    "motions nowhere": (lambda *x: ({"b": None}, None), lambda *x: None, r"\['b'\], expected \[\]"),
    "no memo": (lambda *x: {}, lambda *x: None, "motions by outport"),
}


@pytest.mark.parametrize("what", WRONG_ROWS)
def test_what_goes_wrong_in_a_row_is_told_with_its_component(what):
    kinematics_row, rne_row, told = WRONG_ROWS[what]
    kinematics.row(Wrong)(kinematics_row)
    rne.row(Wrong)(rne_row)
    try:
        with pytest.raises(gs.RowError, match=told) as caught:
            gs.rnea(arm(Wrong("odd")), Q, V, A)
        assert "'odd'" in str(caught.value)
    finally:
        del kinematics.rows[Wrong], rne.rows[Wrong]
