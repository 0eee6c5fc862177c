"""Derivatives of accelerations and contact forces by q, v and tau are those of differences; also of forces that
redundant contacts share, and of contacts that slide."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from tests.support.comparing import assert_close
from tests.support.contact_models import ZOO, Scene, in_contact, motions_left

H = 1e-6
SLOW = ("stewart", "two rods", "cardan", "own kinds", "weight as a field 21", *(f"tree {k}" for k in (4, 5, 6, 7)))
CHOSEN = [name for name in ZOO if not name.startswith(SLOW)]


def differences(s, wrt, along):
    """Along a displacement, or a change of v or tau."""
    dynamics = gs.ContactDynamics(s.model, s.contacts, mode="interpret")
    ends = []
    for h in (H, -H):
        state = {"q": s.q, "v": s.v, "tau": s.tau}
        state[wrt] = gs.integrate(s.model, s.q, h * along) if wrt == "q" else state[wrt] + h * along
        if wrt == "q" and gs.network(s.model).closures:
            state["q"] = gs.close(s.model, state["q"])
        ends.append(dynamics(*state.values(), **s.options))
    return [(x - y) / (2.0 * H) for x, y in zip(*ends, strict=True)]


def assert_slopes(s, got):
    rng = np.random.default_rng(0)
    for wrt in ("q", "v", "tau"):
        along = rng.normal(size=s.model.nv)
        if wrt == "q":
            along = motions_left(s.model, s.q) @ along
        a, forces = differences(s, wrt, along)
        assert_close(getattr(got, f"da_d{wrt}") @ along, a, 1e-5)
        assert_close(getattr(got, f"dforces_d{wrt}").array @ along, forces, 1e-5)


@pytest.mark.by_default(16)
@pytest.mark.parametrize("name", CHOSEN)
def test_derivatives_are_those_of_differences(name):
    s = in_contact(name)
    solver = gs.ContactDynamicsDerivatives(s.model, s.contacts, mode="interpret")
    assert solver.closed_form == name.startswith("plain")
    assert_slopes(s, solver(s.q, s.v, s.tau, **s.options))


def legged(kinds, compliance=0.0):
    """A free hip, a leg, and a foot on four corners."""
    corners = {f"c{k}": (0.1 * (-1) ** k, 0.05 * (-1) ** (k // 2), -0.03) for k in range(4)}
    model = gs.assemble(
        "leg",
        gs.chain(
            "world",
            gs.RigidBody("hip", mass=2.0, inertia=(0.1, 0.2, 0.3)),
            gs.Joint("swing", "revolute", axis="y"),
            gs.RigidBody("shank", mass=1.0, com=(0, 0, -0.2), inertia=(0.01, 0.02, 0.03), frames={"end": (0, 0, -0.4)}),
            gs.Joint("ankle", "spherical"),
            gs.RigidBody("foot", mass=0.5, com=(0.1, 0, 0.02), inertia=(0.01, 0.02, 0.03), frames=corners),
        ),
        base="free",
    )
    contacts = [
        gs.FrameContact(f"foot.c{k}", kind, normal=(0.1, 0.2, 1.0), compliance=compliance)
        for k, kind in enumerate(kinds)
    ]
    rng = np.random.default_rng(3)
    q, (v, tau) = gs.random_configuration(model, rng), rng.normal(size=(2, model.nv))
    J = np.concatenate([gs.Jacobian(model, c.frame, "aligned", mode="interpret")(q)[3:] for c in contacts])
    return Scene(model, contacts, q, v - np.linalg.pinv(J, 1e-9) @ (J @ v), tau, {})


@pytest.mark.by_default(2)
@pytest.mark.parametrize("kinds", [["point"] * 4, ["point", "normal", "point", "point"], ["normal"] * 4])
@pytest.mark.parametrize("compliance", [0.0, 0.2])
def test_forces_that_redundant_contacts_share_have_derivatives(kinds, compliance):
    s = legged(kinds, compliance)
    for mode in ("interpret", "compile"):
        solver = gs.ContactDynamicsDerivatives(s.model, s.contacts, mode=mode)
        assert solver.redundant == (compliance == 0.0)
        assert_slopes(s, solver(s.q, s.v, s.tau))


@pytest.fixture(scope="module")
def long_tree():
    """A tree with so many rates that columns are computed in lanes; sliding and redundant contacts."""
    model = gs.robots.tree(5, 9, base="free", kinds=["revolute", "spherical", "prismatic"])
    bodies = [f"{name}.origin" for name, e in model.wiring.entities.items() if isinstance(e, gs.RigidBody)]
    found = []
    for held in (
        [gs.FrameContact(bodies[-1]), gs.FrameContact(bodies[3], "point")],
        [gs.FrameContact(bodies[-1], "normal", normal=(0.1, 0.2, 1.0)), gs.FrameContact(bodies[-2], "normal")],
        [gs.FrameContact(bodies[-1]), gs.FrameContact(bodies[-1].replace("origin", "side"), "point")],
    ):
        rng = np.random.default_rng(1)
        q, (v, tau) = gs.random_configuration(model, rng), rng.normal(size=(2, model.nv))
        J = np.concatenate([gs.Jacobian(model, c.frame, "local", mode="interpret")(q) for c in held])
        found.append(Scene(model, held, q, v - np.linalg.pinv(J, 1e-9) @ (J @ v), tau, {}))
    return found


@pytest.mark.parametrize("number", range(3))
def test_columns_in_lanes_give_the_same(long_tree, number):
    s = long_tree[number]
    plain = gs.ContactDynamicsDerivatives(s.model, s.contacts, mode="interpret")
    solver = gs.ContactDynamicsDerivatives(s.model, s.contacts)
    assert solver.in_columns and not plain.in_columns and solver.redundant == (number == 2)
    for _ in range(3):
        for got, expected in zip(solver(s.q, s.v, s.tau), plain(s.q, s.v, s.tau), strict=True):
            assert_close(got, expected, 1e-8)
    V = s.v + np.random.default_rng(0).normal(size=(5, s.model.nv)) * (number != 2)
    for threads in (1, 2):
        many = solver(s.q, V, s.tau, threads=threads)
        for k in range(5):
            for got, expected in zip(many, plain(s.q, V[k], s.tau), strict=True):
                assert_close(got[k], expected, 1e-8)


def test_results_that_somebody_has_are_not_written_again(long_tree):
    s = long_tree[0]
    solver = gs.ContactDynamicsDerivatives(s.model, s.contacts)
    solver(s.q, s.v, s.tau)
    one = solver(s.q, s.v, s.tau)
    part, named = solver(s.q, s.v, s.tau).da_dq[2:4], solver(s.q, s.v, s.tau).dforces_dq[s.contacts[0].frame]
    copies = [x.copy() for x in (*one, part, named)]
    for k in range(6):
        solver(s.q, s.v + k, s.tau)
    assert all(np.array_equal(x, y) for x, y in zip((*one, part, named), copies, strict=True))
    out = tuple(np.zeros_like(x) for x in one)
    assert solver(s.q, s.v, s.tau, out=out).da_dq is out[0] and np.array_equal(out[0], one.da_dq)
    with pytest.raises(gs.NonFiniteError, match="v of"):
        solver(s.q, s.v * np.nan, s.tau)
    assert np.isnan(solver(s.q, s.v * np.nan, s.tau, nonfinite="return").da_dq).any()
    with pytest.raises(gs.StateError, match="length"):
        solver(s.q * 1.1, s.v, s.tau)
    with pytest.raises(gs.ShapeError, match=r"v.*shape|expected"):
        solver(s.q, s.v[1:], s.tau)


def test_the_function_takes_the_same_and_names_its_forces():
    s = legged(["point", "normal"])
    got = gs.contact_dynamics_derivatives(s.model, s.q, s.v, s.tau, s.contacts)
    assert got.dforces_dq["foot.c1"].shape == (6, s.model.nv)
    assert "foot.c0" in repr(got)
    wrenches = {"shank.end": np.arange(6.0)}
    pushed = gs.contact_dynamics_derivatives(s.model, s.q, s.v, s.tau, s.contacts, wrenches)
    assert_close(pushed.da_dtau, got.da_dtau, 1e-10)
    assert np.abs(pushed.da_dq - got.da_dq).max() > 1e-3
