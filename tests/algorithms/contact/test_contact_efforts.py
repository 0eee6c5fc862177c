"""Inverse dynamics of robots in contact: equations of motion, nothing where nothing drives, least norm, cones."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
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
