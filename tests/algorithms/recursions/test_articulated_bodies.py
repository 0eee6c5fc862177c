"""The articulated-body recursion by its messages, and its protocol as a row from elsewhere sees it."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.algorithms.algorithm import Setting
from gyrostat.algorithms.recursions.aba import (
    aba,
    articulated_inertias,
    bias_accelerations,
    eliminate,
    joint_accelerations,
)
from gyrostat.algorithms.recursions.articulated_message import Outward
from gyrostat.graph.network import network
from gyrostat.spatial.gravity import gravity
from gyrostat.spatial.representation import representation
from tests.support.comparing import assert_close
from tests.support.foreign_kinds import OwnJoint


@pytest.mark.parametrize("name", ["body", "inertial", "absolute"])
def test_the_plain_recursion_sends_the_articulated_inertias_of_the_operators(name):
    """P at every outport, (3.7), and the accelerations, by the page alone: no drives, no tied rates."""
    model, rng = gs.robots.quadruped(), np.random.default_rng(3)
    q, v, tau = gs.random_configuration(model, rng), rng.normal(size=model.nv), rng.normal(size=model.nv)
    net, on = network(model, ()), Setting(representation(name), gravity(model.context.gravity))
    rows, _ = bias_accelerations(net, on, q, v, lambda c, on, motion, memo, own: aba.of(c)(c, on, motion, memo))
    sent = {}

    def listening(c, row):
        def inward(messages, eliminate):
            sent.update({c.outports[port]: message for port, message in messages.items()})
            return row(messages, eliminate)

        return inward

    heard = {c.name: listening(c, rows[c.name]) for c in net.components}
    steps = articulated_inertias(net, heard, lambda message, s, k: eliminate(message, s, tau[k : k + 1]), {})
    assert_close(joint_accelerations(net, steps, 1)[:, 0], gs.aba(model, q, v, tau), 1e-9)
    operators = gs.operators(model, q, v, representation=name, rules=())
    assert len(sent) > 20
    for port, message in sent.items():
        at = 6 * operators.ports.index(net.ports[port])
        assert_close(message.P.matrix(), operators.P[at : at + 6, at : at + 6], 1e-8)


def leg(kind):
    """A hinge of a kind, mounted either way, and one of gyrostat's behind it."""
    bodies = [gs.RigidBody(f"b{k}", mass=1.0, com=(0.1, 0, 0.2), inertia=(0.1, 0.2, 0.15)) for k in (1, 2)]
    hinges = kind("hip", "revolute", axis="y"), gs.Joint("knee", "revolute", axis=(0.6, 0.0, 0.8))
    return gs.assemble("leg", gs.chain("world", hinges[0], bodies[0], hinges[1], bodies[1]))


@pytest.mark.parametrize("drive", [{}, {"rotor_inertia": 1e-3, "gear_ratio": 30.0, "rotor_axis": "y"}])
def test_a_joint_from_elsewhere_eliminates_its_rate_by_a_row_of_its_own(drive):
    """With a drive its rate is tied, and the row does not know of it."""
    asked: list[str] = []

    @aba.row(OwnJoint)
    def hinge(c, on, motion, memo):
        (port,) = c.outports

        def inward(messages, eliminate):
            asked.append(c.name)
            message, rate = eliminate(messages[port], memo.S[:, 0], c.v_at.start)

            def step(e):
                e = memo.shift.motion(e)
                a = rate.acceleration(e)
                return {port: e + np.outer(rate.s, a)}, a[None, :]

            return message.moved(memo.shift), Outward(step, {port: memo.shift}, [rate])

        return inward

    mine, theirs = leg(OwnJoint), leg(gs.Joint)
    if drive:
        mine, theirs = mine.with_drive("hip", **drive), theirs.with_drive("hip", **drive)
    state = [0.3, -0.7], [1.0, 2.0], [0.5, -0.4]
    try:
        np.testing.assert_array_equal(gs.aba(mine, *state), gs.aba(theirs, *state))
    finally:
        del aba.rows[OwnJoint]
    assert asked
    assert_close(gs.aba(leg(OwnJoint), *state), gs.aba(leg(gs.Joint), *state), 1e-12)
