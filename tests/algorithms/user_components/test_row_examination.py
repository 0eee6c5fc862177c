"""Rows from elsewhere that cannot be right are refused by name before they serve; what a solver cannot have is, too."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.algorithms.recursions.kinematics import moving
from gyrostat.geometry.rotation import about_axis
from gyrostat.spatial.algebra import join
from gyrostat.spatial.inertia import SpatialInertia
from gyrostat.spatial.joints import JointMotion
from gyrostat.spec.values import Number
from tests.support.comparing import assert_close
from tests.support.foreign_kinds import CASES, NONE, ZERO3, ZERO6, SprungHinge, TwoEnded, arm, needed
from tests.support.random_models import random_state

Z = np.array([0.0, 0.0, 1.0])


@pytest.fixture
def kind():
    """A kind with ports a, b and one coordinate, whose rows a test writes; known during one test."""

    class Odd(TwoEnded):
        size: Number = 1.0

        @property
        def coordinates(self):
            return ("q",)

        @property
        def rates(self):
            return ("v",)

    yield Odd
    del gs.Entity.registry["odd"]
    for table in (gs.kinematics, gs.rne, gs.stored_energy):
        table.rows.pop(Odd, None)


@pytest.fixture
def leaf():
    class Oddment(gs.Entity):
        size: Number = 1.0

    gs.kinematics.row(Oddment)(lambda c, on, motion, q, v, a: ({}, None))
    yield Oddment
    del gs.Entity.registry["oddment"], gs.kinematics.rows[Oddment]
    for table in (gs.rne, gs.stored_energy):
        table.rows.pop(Oddment, None)


def hinge(c, on, motion, q, v, a, reverse=True):
    joint = JointMotion(about_axis(Z, q[0]), ZERO3, join(Z, ZERO3)[:, None], ZERO6)
    out, memo = moving(on, motion, joint.reversed() if reverse and c.met == "b" else joint, v, a)
    return {name: out for name in c.outports}, memo


def across(c, on, motion, memo):
    def action(forces):
        (f,) = forces.values()
        return memo.shift.force(f), memo.S.T @ f

    return action


def mounted(entity, turned=False):
    return arm(_between(entity, turned))


def _between(entity, turned):
    near, far = ("b", "a") if turned else ("a", "b")
    _, hand, *_ = CASES["swivel"].mine(False)
    return entity, hand, gs.connect("link.end", f"{entity.name}.{near}"), gs.connect(f"{entity.name}.{far}", "hand")


def on_hand(entity, **context):
    _, hand, *_ = CASES["swivel"].mine(False)
    return arm((hand, entity, gs.connect("link.end", "hand"), gs.connect("hand.tip", entity.name)), **context)


def ask(model):
    q, v, a = random_state(model, np.random.default_rng(1))
    return gs.InverseDynamics(model, mode="interpret")(q, v, a)


def test_a_row_that_ignores_the_port_by_which_it_is_met_is_refused_only_the_other_way_round(kind):
    gs.kinematics.row(kind)(lambda *x: hinge(*x, reverse=False))
    gs.rne.row(kind)(across)
    theirs = arm(_between(gs.Joint("x", "revolute", axis="z"), False))
    assert_close(ask(mounted(kind("x"))), ask(theirs), 1e-12)
    with pytest.raises(gs.RowError, match=r"kind Odd, as 'x' uses them: met by 'b' it is another.*c\.met"):
        ask(mounted(kind("x"), turned=True))


def test_a_row_that_names_its_outport_is_refused_the_other_way_round(kind):
    gs.kinematics.row(kind)(lambda *x: ({"b": next(iter(hinge(*x)[0].values()))}, hinge(*x)[1]))
    gs.rne.row(kind)(across)
    with pytest.raises(gs.RowError, match=r"'x'.*\['b'\], expected \['a'\].*c\.met"):
        ask(mounted(kind("x"), turned=True))


def test_forces_that_ignore_the_port_are_refused_the_other_way_round(kind):
    """The kinematics turns round, the mass stays where it was."""
    gs.kinematics.row(kind)(hinge)

    def heavy(c, on, motion, memo):
        own = needed(on, motion, 1.0, np.array([0.0, 0.1, 0.2]), np.eye(3) * 0.01)

        def action(forces):
            (f,) = forces.values()
            return memo.shift.force(f) + own, memo.S.T @ f

        return action

    gs.rne.row(kind)(heavy)
    ask(mounted(kind("x")))
    with pytest.raises(gs.RowError, match="met by 'b' it is another component than met by 'a': its inertia differs"):
        ask(mounted(kind("x"), turned=True))


def test_forces_must_do_the_work_that_motions_say(kind):
    gs.kinematics.row(kind)(hinge)
    gs.rne.row(kind)(
        lambda c, on, motion, memo: lambda forces: (memo.shift.force(forces["b"]), -memo.S.T @ forces["b"])
    )
    with pytest.raises(gs.RowError, match=r"'x'.*a force at 'b' does other work.*S\^T f"):
        ask(mounted(kind("x")))


def test_accelerations_must_be_the_rates_of_velocities(kind):
    def forgetful(c, on, motion, q, v, a):
        """S turns with q, and c = (dS/dt) v is left out."""
        S = join(ZERO3, np.array([np.cos(q[0]), np.sin(q[0]), 0.0]))[:, None]
        joint = JointMotion(np.eye(3), np.array([np.sin(q[0]), -np.cos(q[0]), 0.0]), S, ZERO6)
        out, memo = moving(on, motion, joint, v, a)
        return {"b": out}, memo

    gs.kinematics.row(kind)(forgetful)
    gs.rne.row(kind)(across)
    with pytest.raises(
        gs.RowError, match=r"the acceleration at 'b' is .*, but the rate of its velocity is.*\(dS/dt\) v"
    ):
        ask(mounted(kind("x")))


def test_velocities_must_fit_placements(kind):
    def shifted(c, on, motion, q, v, a):
        out, memo = hinge(c, on, motion, q, v, a)
        there = out["b"]
        return {"b": type(there)(there.pose, there.V + 0.1, there.A)}, memo

    gs.kinematics.row(kind)(shifted)
    gs.rne.row(kind)(across)
    with pytest.raises(gs.RowError, match=r"the velocity at 'b' is .* phi V \+ S v"):
        ask(mounted(kind("x")))


def test_inertia_must_be_symmetric(leaf):
    K = np.triu(np.ones((6, 6)))
    gs.rne.row(leaf)(lambda c, on, motion, memo: lambda forces: (K @ motion.A, NONE))
    with pytest.raises(gs.RowError, match=r"'x'.*not symmetric"):
        ask(on_hand(leaf("x")))


def test_forces_must_be_linear_in_accelerations(leaf):
    gs.rne.row(leaf)(lambda c, on, motion, memo: lambda forces: (motion.A * motion.A, NONE))
    with pytest.raises(gs.RowError, match=r"'x'.*linear in the accelerations"):
        ask(on_hand(leaf("x")))


def test_a_row_without_its_weight_is_refused_in_a_field_only(leaf):
    def light(c, on, motion, memo):
        rep = on.representation
        inertia = rep.inertia(motion.pose, SpatialInertia.at_centre(2.0, ZERO3, np.eye(3) * 0.01))
        own = rep.newton_euler(inertia, ZERO6, motion.V, motion.A)
        return lambda forces: (own, NONE)

    gs.rne.row(leaf)(light)
    ask(on_hand(leaf("x")))
    field = gs.UniformGravity(g=(0.0, 0.0, -9.81), treat_as="field")
    with pytest.raises(gs.RowError, match=r"'x'.*in a field of gravity it has the weight .*on\.gravity\.weight"):
        ask(on_hand(leaf("x"), gravity=field))


def added_mass(c, on, motion, memo):
    """A body in water: its inertia depends on the direction; in body representation only."""
    M = np.diag([0.01, 0.02, 0.03, 1.0, 2.0, 3.0])
    w, h = motion.V[:3], M @ motion.V
    acceleration = join(motion.A[:3], motion.A[3:] - np.cross(w, motion.V[3:]))
    turned = join(np.cross(w, h[:3]) + np.cross(motion.V[3:], h[3:]), np.cross(w, h[3:]))
    return lambda forces: (M @ acceleration + turned, NONE)


def test_inertia_that_is_not_of_a_rigid_body_moves_right_and_has_no_centre_of_mass(leaf):
    gs.rne.row(leaf)(added_mass)
    model = on_hand(leaf("x"))
    q, v, a = random_state(model, np.random.default_rng(2))
    solvers = [gs.ForwardDynamics(model, algorithm, mode="interpret") for algorithm in ("aba", "crba", "mrnea")]
    for solver in solvers:
        assert_close(gs.InverseDynamics(model, mode="interpret")(q, v, solver(q, v, a)), a, 1e-9)
    with pytest.raises(
        gs.RowError, match="center_of_mass: 'x' of kind Oddment has inertia, but not that of rigid bodies"
    ):
        gs.CenterOfMass(model)


def test_velocity_forces_that_are_not_inertial_are_no_coriolis_forces(leaf):
    """A lift: quadratic in the velocity."""

    def lift(c, on, motion, memo):
        local = on.representation.motion_local(motion.pose, motion.V)
        f = on.representation.force(motion.pose, join(ZERO3, Z * (local[3] * local[3])))
        return lambda forces: (f, NONE)

    gs.rne.row(leaf)(lift)
    model = on_hand(leaf("x"))
    q, v, a = random_state(model, np.random.default_rng(3))
    assert_close(gs.InverseDynamics(model, mode="interpret")(q, v, gs.aba(model, q, v, a)), a, 1e-9)
    with pytest.raises(gs.RowError, match="coriolis: 'x' of kind Oddment has quadratic velocity forces"):
        gs.Coriolis(model)


def test_stored_energy_comes_from_a_row_of_its_own():
    mine, theirs = (arm(parts(False)) for parts in (CASES["spring hinge"].mine, CASES["spring hinge"].theirs))
    q = random_state(theirs, np.random.default_rng(4))[0]
    gs.stored_energy.row(SprungHinge)(lambda c, on, motion, q: 0.5 * c["stiffness"] * q[0] * q[0])
    try:
        assert_close(
            gs.PotentialEnergy(mine, mode="interpret")(q), gs.PotentialEnergy(theirs, mode="interpret")(q), 1e-12
        )
    finally:
        del gs.stored_energy.rows[SprungHinge]


def test_an_element_on_a_shaft_that_pushes_at_rest_needs_its_energy():
    class Wound(gs.Entity):
        """A spring of somebody else."""

        stiffness: Number

        @property
        def ports(self):
            return (gs.Port("shaft", "scalar"),)

    gs.shafts.row(Wound)(lambda c, angle, rate, acceleration: {"shaft": angle["shaft"] * c["stiffness"]})
    try:
        model = arm((*CASES["swivel"].theirs(False), Wound("w", stiffness=2.0), gs.connect("x.shaft", "w.shaft")))
        with pytest.raises(
            gs.RowError, match=r"potential_energy: 'w' of kind Wound exerts forces at rest.*stored_energy"
        ):
            gs.PotentialEnergy(model)
        gs.KineticEnergy(model)
    finally:
        del gs.Entity.registry["wound"], gs.shafts.rows[Wound]


def test_a_more_special_kind_with_rows_of_its_own_is_not_taken_for_the_general_one():
    """``Tank`` redefines Newton-Euler of ``RigidBody``: rows of RigidBody in other algorithms do not know that."""
    mine, theirs = (arm(parts(False)) for parts in (CASES["tank"].mine, CASES["tank"].theirs))
    q, v, a = random_state(theirs, np.random.default_rng(5))
    plain = arm(CASES["tank"].mine(False)).replace({"x.fill": 1.0})
    assert_close(gs.aba(mine, q, v, a), gs.aba(theirs, q, v, a), 1e-10)
    assert np.abs(gs.aba(plain, q, v, a) - gs.aba(mine, q, v, a)).max() > 1e-3
