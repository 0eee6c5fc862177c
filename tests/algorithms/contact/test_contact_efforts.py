"""Inverse dynamics of robots in contact: equations of motion, nothing where nothing drives, least norm, cones."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.solvers.dynamics.contact_inverse_dynamics import unactuated
from tests.algorithms.contact.test_contact_derivatives import legged
from tests.support.comparing import assert_close

pytest.importorskip("clarabel")


def standing(friction=0.6):
    """Upright on four corners of the foot."""
    s = legged(["point"] * 4)
    contacts = [gs.FrameContact(c.frame, "point", friction=friction) for c in s.contacts]
    q = gs.neutral(s.model)
    return s.model, contacts, q


def balanced(model, q, v, a, got):
    return gs.rnea(model, q, v, a, wrenches=dict(got.forces)) - got.tau


def world_forces(model, q, got):
    R = gs.fk(model, q)["foot"].R
    return got.forces.array[..., 3:] @ R.T


@pytest.mark.parametrize("friction", [None, 0.6])
def test_a_motion_that_contacts_allow_is_found_again(friction):
    model, contacts, q = standing(friction)
    rng = np.random.default_rng(0)
    v, tau = np.zeros(model.nv), np.concatenate([np.zeros(6), 0.2 * rng.normal(size=4)])
    a = gs.ContactDynamics(model, [gs.FrameContact(c.frame, "point") for c in contacts])(q, v, tau).a
    got = gs.rnea(model, q, v, a, contacts=contacts)
    assert np.all(got.tau[:6] == 0.0)
    assert_close(balanced(model, q, v, a, got), np.zeros(model.nv), 1e-8)
    J = np.concatenate([gs.jacobian(model, q, c.frame, "aligned")[3:] for c in contacts])
    f = world_forces(model, q, got)
    if friction is None:
        assert_close(f.reshape(-1), np.linalg.pinv(J[:, :6].T) @ gs.rnea(model, q, v, a)[:6], 1e-9)
    else:
        assert np.all(np.hypot(f[:, 0], f[:, 1]) <= friction * f[:, 2] + 1e-8) and np.all(f[:, 2] >= -1e-8)


def test_cones_change_the_forces_that_would_pull():
    """The centre of mass near an edge of the foot: two corners would pull."""
    model, contacts, q = standing(0.8)
    v = np.zeros(model.nv)
    lifted = [gs.FrameContact(c.frame, "point") for c in contacts]
    a = gs.ContactDynamics(model, lifted)(q, v, v).a
    held, free = (gs.rnea(model, q, v, a, contacts=c) for c in (contacts, lifted))
    assert np.linalg.norm(held.forces.array) >= np.linalg.norm(free.forces.array) - 1e-9
    assert_close(balanced(model, q, v, a, held), np.zeros(model.nv), 1e-8)


def test_batches_passive_joints_and_fixed_feet():
    model, _, q = standing()
    rng = np.random.default_rng(1)
    Q, V = np.stack([q, q]), 0.1 * rng.normal(size=(2, model.nv))
    A = gs.ContactDynamics(model, ["foot"])(Q, V, np.zeros(model.nv)).a
    got = gs.rnea(model, Q, V, A, contacts=["foot"])
    assert got.tau.shape == (2, model.nv) and got.forces["foot"].shape == (2, 6)
    for k in range(2):
        one = {name: w[k] for name, w in got.forces.items()}
        assert_close(gs.rnea(model, Q[k], V[k], A[k], wrenches=one), got.tau[k], 1e-8)
    limp = gs.rnea(model, Q, V, A, contacts=["foot"], passive=["ankle"])
    assert_close(limp.tau[:, 7:], np.zeros((2, 3)), 1e-12)


def test_elastic_drives_push_at_their_rotors_and_springs_at_the_joints():
    """At rest, the spring wound up by what the stiff robot needs: none at the joint, the motor's share at the rotor."""
    model = legged(["point"]).model
    q, rest = gs.random_configuration(model, np.random.default_rng(4)), np.zeros(model.nv)
    ratio, stiffness, at = 100.0, 500.0, model.dofs.index("swing")
    push = {"hip": np.array([0.3, 7.0, -0.2, 1.0, 2.0, 3.0])}
    stiff = gs.rnea(model, q, rest, rest, push, contacts=["foot"])
    assert abs(stiff.tau[at]) > 0.1
    geared = model.with_drive("swing", rotor_inertia=1e-4, gear_ratio=ratio)
    assert_close(gs.rnea(geared, q, rest, rest, push, contacts=["foot"]).tau, stiff.tau, 1e-9)
    elastic = model.with_drive("swing", rotor_inertia=1e-4, gear_ratio=ratio, stiffness=stiffness, damping=1.0)
    state, still = np.append(q, ratio * (q[7] + stiff.tau[at] / stiffness)), np.zeros(elastic.nv)
    got = gs.rnea(elastic, state, still, still, push, contacts=["foot"])
    assert got.tau[at] == 0.0 and [elastic.dofs[k] for k in unactuated(elastic)][6:] == ["swing"]
    assert_close(got.tau[-1], stiff.tau[at] / ratio, 1e-8)
    assert_close(got.tau[-1], gs.rnea(elastic, state, still, still, push)[-1], 1e-9)
    assert_close(got.tau[7:-1], stiff.tau[7:], 1e-8)
    assert_close(gs.rnea(elastic, state, still, still, wrenches=push | dict(got.forces)), got.tau, 1e-8)
    state[-1] += 1.0
    with pytest.raises(gs.StateError, match="where nothing drives the robot"):
        gs.rnea(elastic, state, still, still, push, contacts=["foot"])


def shafted(*parts, **joint):
    """Two joints, and what is on their shafts."""
    links = [gs.RigidBody(name, mass=1.0, com=(0, 0, 0.1), inertia=(0.1, 0.1, 0.1)) for name in ("one", "two")]
    tree = gs.chain("world", gs.Joint("i", "revolute"), links[0], gs.Joint("j", "revolute", **joint), links[1])
    return gs.assemble("shafts", tree, *parts)


MOTOR, ROTOR, SPRING = gs.Motor("m"), gs.RotorInertia("r", inertia=1e-3), gs.Spring("s", stiffness=40.0)
MIDDLE, SECOND = gs.RotorInertia("p", inertia=1e-3), gs.Spring("t", stiffness=40.0)
ELASTIC = (ROTOR, SPRING, gs.connect("r.shaft", "s.a"), gs.connect("s.b", "j.shaft"))
BEHIND = {
    "nothing": ([], {}, []),
    "a motor on the joint": ([MOTOR, gs.connect("m.shaft", "j.shaft")], {}, []),
    "a spring between joints, one with a motor": (
        [MOTOR, SPRING, gs.connect("m.shaft", "i.shaft"), gs.connect("i.shaft", "s.a"), gs.connect("s.b", "j.shaft")],
        {},
        [],
    ),
    "an elastic drive": ([*ELASTIC, MOTOR, gs.connect("m.shaft", "r.shaft")], {}, ["j"]),
    "one without a motor": (ELASTIC, {}, ["j"]),
    "and a motor on the joint": ([*ELASTIC, MOTOR, gs.connect("m.shaft", "j.shaft")], {}, ["r"]),
    "a joint that says it is driven": ([*ELASTIC, MOTOR, gs.connect("m.shaft", "r.shaft")], {"passive": False}, []),
    "an inertia between two springs": (
        [*ELASTIC, MIDDLE, SECOND, MOTOR]
        + [gs.connect(*ends.split()) for ends in ("r.shaft t.a", "t.b p.shaft", "m.shaft p.shaft")],
        {},
        ["j", "r"],
    ),
}


@pytest.mark.parametrize("name", BEHIND)
def test_only_what_no_motor_turns_is_behind_springs(name):
    parts, joint, wanted = BEHIND[name]
    model = shafted(*parts, **joint)
    assert [model.dofs[k] for k in unactuated(model)] == wanted


def test_empty_batches_give_empty_efforts():
    model, contacts, q = standing()
    none = np.zeros((0, model.nv))
    got = gs.rnea(model, np.zeros((0, len(q))), none, none, contacts=contacts)
    assert got.tau.shape == (0, model.nv) and got.forces.array.shape == (0, 4, 6)
    two = gs.rnea(model, np.zeros((2, 0, len(q))), none, none, contacts=["foot"])
    assert two.tau.shape == (2, 0, model.nv) and two.forces["foot"].shape == (2, 0, 6)


def test_what_cannot_be_is_refused():
    model, contacts, q = standing()
    v = np.zeros(model.nv)
    with pytest.raises(gs.StateError, match=r"no forces at foot.c0 make this motion.*missing.*Hint"):
        gs.rnea(model, q, v, v, contacts={"foot.c0": "point"})
    fall = v.copy()
    fall[5] = -30.0  # faster than gravity: contacts would have to pull
    with pytest.raises(gs.StateError, match=r"inside the friction cones.*Hint"):
        gs.rnea(model, q, v, fall, contacts=contacts)
    with pytest.raises(gs.ShapeError, match="belongs to a point"):
        gs.rnea(model, q, v, v, contacts=[gs.FrameContact("foot", friction=0.5)])
    with pytest.raises(gs.StateError, match=r"passive names 'anckle'.*ankle"):
        gs.rnea(model, q, v, v, contacts=contacts, passive=["anckle"])
    with pytest.raises(gs.ShapeError, match="threads is not taken with contacts"):
        gs.rnea(model, q, v, v, contacts=contacts, threads=2)
    with pytest.raises(gs.ShapeError, match=r"rnea: passive= goes with contacts=, which is not given.*Hint"):
        gs.rnea(model, q, v, v, passive=["ankle"])
