"""Frames in contact: Newton-Euler with the contact forces gives tau, and what is held has no acceleration; for every
kind of robot, joint, mounting, drive, loop, base and gravity."""

from __future__ import annotations

import pickle
import subprocess
from functools import cache

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.algorithms.constrained.loop_equations import loop_equations
from gyrostat.solvers.dynamics.operational_space import InverseOperationalInertia
from tests.support import contact_models
from tests.support.comparing import assert_close
from tests.support.contact_models import ZOO, held, in_contact

COMPILED = ("tree 3", "tree 6", "drives 0", "springs", "moving base 0", "four-bar, constraints", "cam")


def bearable(model, q):
    """J of loops that are constraints, whose multipliers can bear anything in the range of its transpose."""
    net = gs.network(model)
    return np.asarray(loop_equations(net, q).J, dtype=float) if net.closures else np.zeros((0, model.nv))


def without_bearable(s, forces):
    J = bearable(s.model, s.q)
    return forces - J.T @ np.linalg.lstsq(J.T, forces, rcond=1e-9)[0]


@pytest.mark.by_default(18)
@pytest.mark.parametrize("name", ZOO)
def test_contacts_hold_and_forces_balance(name):
    s = in_contact(name)
    for mode in ("interpret", "compile") if name in COMPILED else ("interpret",):
        got = gs.ContactDynamics(s.model, s.contacts, mode=mode)(s.q, s.v, s.tau, **s.options)
        size = 1.0 + np.abs(got.a).max()
        _, rate = held(s, s.v, got.a)
        assert np.abs(rate).max() < 1e-9 * size
        rnea = gs.InverseDynamics(s.model, mode="interpret")
        tau = rnea(s.q, s.v, got.a, wrenches=dict(got.forces), **s.options)
        assert np.abs(without_bearable(s, tau - s.tau)).max() < 1e-9 * size
        assert list(got.forces) == [c.frame for c in s.contacts]


@pytest.mark.by_default(18)
@pytest.mark.parametrize("name", ZOO)
@pytest.mark.parametrize("e", [0.0, 0.7])
def test_an_impact_turns_what_is_held_and_momentum_balances(name, e):
    s = in_contact(name)
    mode = "compile" if name in COMPILED and e else "interpret"
    got = gs.Impact(s.model, s.contacts, e, mode=mode)(s.q, s.v, **s.options)
    before, after = (held(s, v, 0.0 * v)[0] for v in (s.v, got.v))
    size = 1.0 + np.abs(got.v).max()
    assert np.abs(after + e * before).max() < 1e-9 * size
    M = gs.MassMatrix(s.model, mode="interpret")(s.q, **s.options)
    blow = sum(
        gs.Jacobian(s.model, f, "local", mode="interpret")(s.q, **s.options).T @ w for f, w in got.impulses.items()
    )
    assert np.abs(without_bearable(s, M @ (got.v - s.v) - blow)).max() < 1e-9 * size
    if not s.options:
        assert got.v @ M @ got.v <= s.v @ M @ s.v + 1e-9 * size**2


@pytest.mark.parametrize("name", ["tree 1", "couplings 0", "five-bar, constraints"])
def test_derivatives_of_the_recorded_program_are_those_of_differences(name):
    s = in_contact(name)
    h = 1e-6
    T = gs.tangent(s.model, s.q)
    for solver, of, state in (
        (gs.ContactDynamics(s.model, s.contacts), ("a", "forces"), (s.q, s.v, s.tau)),
        (gs.Impact(s.model, s.contacts, 0.3), ("v_after", "impulses"), (s.q, s.v)),
    ):
        rng = np.random.default_rng(1)
        along = contact_models.motions_left(s.model, s.q) @ rng.normal(size=s.model.nv)
        for k, wrt in enumerate(solver.state):
            steps = [
                gs.integrate(s.model, s.q, x * h * along) if wrt == "q" else state[k] + x * h * along for x in (1, -1)
            ]
            if wrt == "q" and gs.network(s.model).closures:
                steps = [gs.close(s.model, x) for x in steps]
            ends = [solver(*state[:k], x, *state[k + 1 :]) for x in steps]
            for part, output in enumerate(of):
                way = T @ along if wrt == "q" else along
                if name != "tree 1":
                    got = solver.jacobian(output, wrt)(*state) @ way
                else:
                    got = solver.directional(output, [wrt])(*state, way)
                assert_close(got, (ends[0][part] - ends[1][part]) / (2.0 * h), 2e-4)


def test_a_mass_can_be_live_and_differentiated():
    s = in_contact("tree 3")
    body = s.contacts[0].frame.split(".")[0]
    path = f"{body}.mass"
    solver = gs.ContactDynamics(s.model, s.contacts, live=[path])
    heavier = s.model.replace({path: s.model[path] + 1e-5})
    slope = solver.jacobian("a", path)(s.q, s.v, s.tau)
    two = gs.ContactDynamics(heavier, s.contacts, mode="interpret")(s.q, s.v, s.tau).a
    assert_close(slope.reshape(-1), (two - solver(s.q, s.v, s.tau).a) / 1e-5, 1e-3)
    solver.refresh(heavier)
    assert_close(solver(s.q, s.v, s.tau).a, two, 1e-9)


def test_batches_are_states_one_after_the_other():
    s = in_contact("tree 6")
    rng = np.random.default_rng(0)
    solver = gs.ContactDynamics(s.model, s.contacts)
    Q = np.stack([gs.random_configuration(s.model, rng) for _ in range(21)])
    V, T = rng.normal(size=(2, 21, s.model.nv))
    for threads in (1, 2):
        many = solver(Q, V, T, threads=threads)
        for k in range(21):
            one = solver(Q[k], V[k], T[k])
            assert_close(many.a[k], one.a, 1e-8)
            assert_close(many.forces[s.contacts[0].frame][k], one.forces[s.contacts[0].frame], 1e-8)


@pytest.mark.parametrize("name", ["tree 1", "drives 0"])
def test_the_exported_c_gives_the_same(name, tmp_path):
    s = in_contact(name)
    for k, solver in enumerate((gs.ContactDynamics(s.model, s.contacts), gs.Impact(s.model, s.contacts, 0.5))):
        files = solver.export_c(tmp_path / str(k), "held")
        sources = [str(f) for f in files if f.suffix == ".c"]
        program = str(tmp_path / str(k) / "check")
        subprocess.run(["cc", "-std=c99", "-o", program, *sources, "-lm"], check=True)
        done = subprocess.run([program], capture_output=True, text=True, check=False)
        assert float(done.stdout.split()[-1]) <= 1e-9


# ------------------------------------------------------------------------------------------------ redundant contacts
@cache
def standing(points=4, compliance=0.0):
    """A box on its corners: 3 * points rows of rank 6."""
    corners = {f"c{k}": (0.3 * (-1) ** k, 0.2 * (-1) ** (k // 2), -0.1 - 0.02 * (k // 4)) for k in range(points)}
    box = gs.RigidBody("box", mass=5.0, inertia=(0.1, 0.2, 0.3), frames=corners)
    model = gs.assemble("box", gs.chain("world", box), base="free")
    return model, [gs.FrameContact(f"box.c{k}", "point", compliance=compliance) for k in range(points)]


@pytest.mark.parametrize("points", [3, 4, 8])
@pytest.mark.parametrize("mode", ["interpret", "compile"])
def test_redundant_contacts_share_with_least_norm(points, mode):
    model, contacts = standing(points)
    rng = np.random.default_rng(points)
    q, tau = gs.random_configuration(model, rng), rng.normal(size=6)
    got = gs.ContactDynamics(model, contacts, mode=mode)(q, np.zeros(6), tau)
    assert_close(got.a, np.zeros(6), 1e-10)
    J = np.concatenate([gs.jacobian(model, q, c.frame, "local")[3:] for c in contacts])
    f = np.linalg.pinv(J.T) @ (gs.bias(model, q, np.zeros(6)) - tau)
    assert_close(got.forces.array[:, 3:].reshape(-1), f, 1e-8)
    assert_close(got.forces.array[:, :3], np.zeros((points, 3)), 1e-12)


@pytest.mark.parametrize("seed", range(20))
def test_more_rows_than_a_robot_can_move_are_held_with_the_least_forces(seed):
    rng = np.random.default_rng([seed, 5])
    model = gs.robots.tree(seed, int(rng.integers(2, 6)), base=str(rng.choice(["free", "fixed"])))
    bodies = [f"{name}.origin" for name, e in model.wiring.entities.items() if isinstance(e, gs.RigidBody)]
    chosen = rng.permutation(bodies)[: int(rng.integers(2, 5))]
    kinds = rng.choice(["fixed", "point"], len(chosen))
    contacts = [gs.FrameContact(str(b), str(kind)) for b, kind in zip(chosen, kinds, strict=True)]
    q, (v, tau) = gs.random_configuration(model, rng), rng.normal(size=(2, model.nv))
    J = np.concatenate([contact_models.jacobian(model, q, c) for c in contacts])
    s = contact_models.Scene(model, contacts, q, v - np.linalg.pinv(J, 1e-8) @ (J @ v), tau, {})
    got = gs.ContactDynamics(model, contacts, mode="interpret")(q, s.v, tau)
    size = 1.0 + np.abs(got.a).max()
    assert np.abs(held(s, s.v, got.a)[1]).max() < 1e-9 * size
    f = np.concatenate([c.selector @ got.forces[c.frame] for c in contacts])
    needed = gs.InverseDynamics(model, mode="interpret")(q, s.v, got.a) - tau
    assert_close(f, np.linalg.pinv(J.T, 1e-8) @ needed, 1e-6)


def test_compliance_is_added_to_the_inverse_inertia():
    model, contacts = standing(4, compliance=0.3)
    rng = np.random.default_rng(0)
    q, v, tau = gs.random_configuration(model, rng), rng.normal(size=6), rng.normal(size=6)
    got = gs.ContactDynamics(model, contacts)(q, v, tau)
    J = np.concatenate([gs.jacobian(model, q, c.frame, "local")[3:] for c in contacts])
    frames = gs.fk(model, q, v, np.zeros(6))
    bias = np.concatenate([frames[c.frame].acceleration("local")[3:] for c in contacts])
    M = gs.crba(model, q)
    free = gs.aba(model, q, v, tau)
    f = -np.linalg.solve(J @ np.linalg.solve(M, J.T) + 0.3 * np.eye(12), J @ free + bias)
    assert_close(got.forces.array[:, 3:].reshape(-1), f, 1e-9)
    assert_close(got.a, free + np.linalg.solve(M, J.T @ f), 1e-9)


def test_contacts_of_what_cannot_move_bear_nothing_and_singular_positions_are_no_nan():
    arm = gs.robots.planar(2) if hasattr(gs.robots, "planar") else gs.robots.tree(0, 2, kinds=["revolute"])
    q = np.zeros(arm.nv)
    tip = list(arm.wiring.entities)[-1]
    got = gs.ContactDynamics(arm, {"world.frame": "fixed", tip: "fixed"})(q, q, q)
    assert np.isfinite(got.a).all() and np.abs(got.a).max() < 1e-9
    assert_close(got.forces["world.frame"], np.zeros(6), 1e-12)
    impact = gs.impact(arm, q, np.ones(arm.nv), {"world.frame": "fixed", tip: "fixed"})
    assert_close(impact.v, np.zeros(arm.nv), 1e-9)


# ------------------------------------------------------------------------------------------------ impacts with friction
@pytest.mark.parametrize("law", ["poisson", "newton", "sequential"])
@pytest.mark.parametrize("e", [0.0, 0.6, 1.0])
def test_contacts_that_only_push_stay_in_their_cones_and_gain_nothing(law, e):
    model, contacts = standing(4)
    rng = np.random.default_rng(0)
    for mu in (0.0, 0.4):
        Q = np.stack([gs.random_configuration(model, rng) for _ in range(4)])
        V = rng.normal(size=(4, 6))
        got = gs.impact(model, Q, V, contacts, e, friction=mu, law=law)
        for k in range(4):
            M, R = gs.crba(model, Q[k]), gs.fk(model, Q[k])["box"].R
            J = np.concatenate([gs.jacobian(model, Q[k], c.frame, "local") for c in contacts])
            assert_close(M @ (got.v[k] - V[k]), J.T @ got.impulses.array[k].ravel(), 1e-9)
            assert got.v[k] @ M @ got.v[k] <= V[k] @ M @ V[k] * (1.0 + 1e-9)
            P = got.impulses.array[k, :, 3:] @ R.T
            assert np.all(np.hypot(P[:, 0], P[:, 1]) <= mu * P[:, 2] + 1e-9)
            for c in contacts:
                assert gs.jacobian(model, Q[k], c.frame, "aligned")[5] @ got.v[k] >= -1e-8


def test_held_contacts_stand_still_beside_those_that_push():
    s = in_contact("plain tree 4")
    held = gs.FrameContact("body2.origin", "point")
    hit = [
        gs.FrameContact("body5.origin", "point", friction=0.5),
        gs.FrameContact("body3.origin", "normal", friction=0.0),
    ]
    got = gs.impact(s.model, s.q, s.v, [held, *hit], restitution=0.5)
    assert list(got.impulses) == ["body2.origin", "body5.origin", "body3.origin"]
    frames = gs.fk(s.model, s.q, got.v)
    assert np.abs(frames["body2"].V[3:]).max() < 1e-8
    for c in hit:
        assert frames[c.frame].velocity("aligned")[5] >= -1e-8
    M = gs.crba(s.model, s.q)
    assert got.v @ M @ got.v <= s.v @ M @ s.v * (1.0 + 1e-9)


# ------------------------------------------------------------------------------------------------ forms and words
def test_every_form_of_contacts_is_the_same():
    s = in_contact("tree 6")
    frame = s.contacts[0].frame
    forms = (
        [gs.FrameContact(frame, "point")],
        gs.FrameContact(frame, "point"),
        {frame: "point"},
        {frame: {"kind": "point"}},
    )
    found = [gs.ContactDynamics(s.model, form, mode="interpret")(s.q, s.v, s.tau).a for form in forms]
    assert all(np.array_equal(found[0], a) for a in found)
    rows = gs.ContactDynamics(s.model, {frame: np.eye(6)[3:]}, mode="interpret")  # the same but for the drift
    assert_close(rows(s.q, 0.0 * s.v, s.tau).a, gs.ContactDynamics(s.model, forms[0])(s.q, 0.0 * s.v, s.tau).a, 1e-9)
    one, two = (gs.ContactDynamics(s.model, c, mode="interpret") for c in ([frame], frame))
    assert np.array_equal(one(s.q, s.v, s.tau).a, two(s.q, s.v, s.tau).a)


def test_the_inertia_at_contacts_takes_them_too():
    s = in_contact("tree 6")
    frame = s.contacts[0].frame
    one, two = (gs.operational_inertia(s.model, s.q, c) for c in ({frame: "point"}, [gs.FrameContact(frame, "point")]))
    assert np.array_equal(one.Lambda, two.Lambda)
    with pytest.raises(gs.ShapeError, match=r"operational_inertia: .* has compliance = 0.1.*Hint: compliance=0"):
        gs.operational_inertia(s.model, s.q, [gs.FrameContact(frame, "point", compliance=0.1)])
    with pytest.raises(gs.ShapeError, match=r"has no property 'mu'"):
        gs.operational_inertia(s.model, s.q, {frame: {"mu": 0.1}})


@pytest.mark.parametrize("name", ["tree 6", "drives 0"])
@pytest.mark.parametrize("locked", [False, True])
def test_the_inertia_along_normals_of_the_world_is_that_of_jacobians(name, locked):
    s = in_contact(name)
    frame, n = s.contacts[0].frame, np.array([0.6, 0.0, 0.8])
    joints = s.model.layout.entities[1:] if locked else s.model.layout.entities
    at_q, numbers = (list(places) for places in s.model.layout.places(joints))
    q = gs.neutral(s.model)
    q[at_q] = s.q[at_q]
    J, M = gs.jacobian(s.model, q, frame, "aligned")[3:, numbers], gs.crba(s.model, q)[np.ix_(numbers, numbers)]
    for form, along in (({frame: "normal"}, np.eye(3)[2]), ([gs.FrameContact(frame, "normal", normal=n)], n)):
        wanted = along @ J @ np.linalg.solve(M, J.T @ along)
        solver = InverseOperationalInertia(s.model, form)
        assert_close((solver.in_order(joints) if locked else solver)(q[at_q]), [[wanted]], 1e-9)
        if not locked:
            assert_close(gs.operational_inertia(s.model, q, form).Lambda_inverse, [[wanted]], 1e-9)


def test_results_go_by_name_and_through_pickles():
    s = in_contact("tree 6")
    got = gs.ContactDynamics(s.model, s.contacts)(s.q, s.v, s.tau)
    a, forces = got
    assert a is got.a and forces.shape == (len(s.contacts), 6)
    back = pickle.loads(pickle.dumps(got))
    assert np.array_equal(back.a, got.a) and dict(back.forces).keys() == dict(got.forces).keys()
    assert got.forces.get("nothing") is None and s.contacts[0].frame in got.forces
    with pytest.raises(gs.FrameError, match=r"no contact is called 'toe'.*Hint"):
        got.forces["toe"]


WRONG = {
    "frame must be a name, got 3": lambda m, f: gs.FrameContact(3),
    "no kind 'pont'.*did you mean 'point'": lambda m, f: gs.FrameContact(f, "pont"),
    r"rows have shape \(1, 5\)": lambda m, f: gs.FrameContact(f, [1.0, 0, 0, 0, 0]),
    r"kind must be one of": lambda m, f: gs.FrameContact(f, object()),
    r"normal must be a direction \(3,\), got \(0, 0, 0\)": lambda m, f: gs.FrameContact(f, normal=(0, 0, 0)),
    "friction must be finite and not negative, got -1": lambda m, f: gs.FrameContact(f, friction=-1.0),
    "compliance must be a number, got 'soft'": lambda m, f: gs.FrameContact(f, compliance="soft"),
    "no contacts are named": lambda m, f: gs.ContactDynamics(m, []),
    "is in contact twice": lambda m, f: gs.ContactDynamics(m, [f, gs.FrameContact(f, "point")]),
    "has no property 'mu'": lambda m, f: gs.ContactDynamics(m, {f: {"mu": 1.0}}),
    "contacts must be a name": lambda m, f: gs.ContactDynamics(m, 7),
    "frame|port": lambda m, f: gs.ContactDynamics(m, ["no such thing"]),
    "is fixed, and a friction cone belongs to a point": lambda m, f: gs.impact(m, 0, 0, f, friction=0.5),
    "there is no law 'hard'.*poisson": lambda m, f: gs.impact(
        m, gs.neutral(m), np.zeros(m.nv), {f: "point"}, friction=0.5, law="hard"
    ),
    "restitution must be a number between 0 and 1, got 1.5": lambda m, f: gs.impact(m, 0, 0, f, 1.5),
}


@pytest.mark.parametrize("text", WRONG)
def test_what_is_wrong_is_said(text):
    s = in_contact("tree 6")
    with pytest.raises(gs.GyrostatError, match=text):
        WRONG[text](s.model, s.contacts[0].frame)


@pytest.mark.parametrize("friction", [None, 0.5])
def test_an_impact_knows_its_laws_and_no_compliance(friction):
    model, contacts = standing(4)
    state = gs.neutral(model), np.zeros(model.nv)
    with pytest.raises(gs.GyrostatError, match=r"impact: there is no law 'newtn'.*newton"):
        gs.impact(model, *state, contacts, friction=friction, law="newtn")
    with pytest.raises(gs.GyrostatError, match=r"there is no law \['newton'\]"):
        gs.impact(model, *state, contacts, friction=friction, law=["newton"])
    soft = [*contacts[:3], gs.FrameContact("box.c3", "point", compliance=0.3)]
    with pytest.raises(gs.ShapeError, match=r"impact: 'box.c3' has compliance = 0.3.*Hint: compliance=0"):
        gs.impact(model, *state, soft, friction=friction)
    with pytest.raises(gs.ShapeError, match=r"impact: 'box.c3' has compliance"):
        gs.Impact(model, soft)
