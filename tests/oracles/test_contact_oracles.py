"""Contact against independent models: a five-link biped by hand, rotors as bodies of their own in Pinocchio, Talos in
Pinocchio."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from tests.support.comparing import assert_close
from tests.support.contact_models import in_contact, jacobian
from tests.support.drive_models import driven_tree

# ------------------------------------------------------------------------------------------------ five-link biped
LENGTH, CENTRE = {"torso": 0.63, "thigh": 0.4, "shank": 0.4}, {"torso": 0.24, "thigh": 0.11, "shank": 0.24}
MASS, INERTIA = {"torso": 12.0, "thigh": 6.8, "shank": 3.2}, {"torso": 1.33, "thigh": 0.47, "shank": 0.2}


def biped() -> gs.Model:
    """In the plane x, z: position of the hips, pitch of the torso, then hip and knee of two legs, about y."""

    def link(name, kind, sign):
        com = (0.0, 0.0, sign * CENTRE[kind])
        end = {"end": (0.0, 0.0, sign * LENGTH[kind])}
        return gs.RigidBody(name, mass=MASS[kind], com=com, inertia=(1.0, INERTIA[kind], 1.0), frames=end)

    parts = [
        gs.Joint("x", "prismatic", axis="x"),
        gs.Joint("z", "prismatic", axis="z"),
        gs.Joint("pitch", "revolute", axis="y"),
    ]
    legs = [
        gs.chain(
            "torso",
            gs.Joint(f"{side}_hip", "revolute", axis="y"),
            link(f"{side}_thigh", "thigh", -1),
            gs.Joint(f"{side}_knee", "revolute", axis="y"),
            link(f"{side}_shank", "shank", -1),
        )
        for side in ("left", "right")
    ]
    return gs.assemble("biped", gs.chain("world", *parts, link("torso", "torso", 1)), *legs)


def placed(q):
    """Centres of mass and pitches of the five links and the two feet, by hand; q may be complex."""
    hips, torso = np.array([q[0], q[1]]), q[2]
    along = lambda angle, s: s * np.array([np.sin(angle), np.cos(angle)])  # noqa: E731
    points, angles, feet = [hips + along(torso, CENTRE["torso"])], [torso], []
    for hip, knee in ((q[3], q[4]), (q[5], q[6])):
        thigh, shank = torso + hip, torso + hip + knee
        down = hips + along(thigh, -LENGTH["thigh"])
        points += [hips + along(thigh, -CENTRE["thigh"]), down + along(shank, -CENTRE["shank"])]
        angles += [thigh, shank]
        feet.append(down + along(shank, -LENGTH["shank"]))
    return points, angles, feet


def by_hand(q):
    """M (7, 7), and the Jacobian (2, 7) of the left foot in the plane, by complex steps."""
    h = 1e-30
    steps = [placed(q + 1j * h * e) for e in np.eye(7)]
    rate = lambda pick: np.stack([np.imag(pick(s)) / h for s in steps], axis=-1)  # noqa: E731
    kinds = ("torso", "thigh", "shank", "thigh", "shank")
    M = sum(
        MASS[kind] * rate(lambda s, k=k: s[0][k]).T @ rate(lambda s, k=k: s[0][k])
        + INERTIA[kind] * np.outer(rate(lambda s, k=k: s[1][k]), rate(lambda s, k=k: s[1][k]))
        for k, kind in enumerate(kinds)
    )
    return M, rate(lambda s: s[2][0])


@pytest.mark.parametrize("e", [0.0, 0.4])
def test_the_impact_map_of_a_five_link_biped_is_that_of_equations_by_hand(e):
    model, rng = biped(), np.random.default_rng(0)
    assert model.dofs == ("x", "z", "pitch", "left_hip", "left_knee", "right_hip", "right_knee")
    for _ in range(5):
        q, v = rng.normal(size=(2, 7))
        M, E = by_hand(q)
        assert_close(gs.crba(model, q), M, 1e-12)
        K = np.block([[M, -E.T], [E, np.zeros((2, 2))]])
        after = np.linalg.solve(K, np.concatenate([M @ v, -e * E @ v]))
        got = gs.impact(model, q, v, {"left_shank.end": "point"}, restitution=e)
        assert_close(got.v, after[:7], 1e-10)
        R = gs.fk(model, q)["left_shank"].R
        assert_close((R @ got.impulses["left_shank.end"][3:])[[0, 2]], after[7:], 1e-10)


def test_a_biped_that_lands_with_friction_keeps_its_impulse_in_the_cone_and_loses_energy():
    model, rng = biped(), np.random.default_rng(1)
    feet = [gs.FrameContact(f"{side}_shank.end", "point") for side in ("left", "right")]
    for k in range(40):
        q, v = rng.normal(size=(2, 7))
        mu, e = (0.0, 0.3, 1.0)[k % 3], (0.0, 0.5, 1.0)[k % 2]
        got = gs.impact(model, q, v, feet, restitution=e, friction=mu)
        assert gs.kinetic_energy(model, q, got.v) <= gs.kinetic_energy(model, q, v) * (1.0 + 1e-9)
        frames = gs.fk(model, q, got.v)
        for foot in feet:
            frame = frames[foot.frame]
            P = frame.R @ got.impulses[foot.frame][3:]
            assert P[2] >= -1e-9 and np.hypot(P[0], P[1]) <= mu * P[2] + 1e-9
            assert frame.velocity("aligned")[5] >= -1e-9


# ------------------------------------------------------------------------------------------------ rotors and gears
@pytest.mark.parametrize("seed", [0, 3, 4, 5])
def test_contact_with_rotors_and_gears_is_that_of_rotors_as_bodies(seed):
    """Every rotor a body on a joint of its own in Pinocchio, gears eliminated."""
    driven, s = driven_tree(seed), in_contact(f"drives {seed}")
    assert s.model.dofs == driven.plain.dofs and s.model.nq == driven.plain.nq
    oracle, (q, v, tau) = driven.oracle, s[2:5]
    M, h = oracle.crba(q), oracle.rnea(q, v, 0.0 * v)
    assert np.abs(M - gs.crba(driven.plain, q)).max() > 1e-6  # the rotors count

    plain = driven.plain

    def rows(at):  # of points in the axes of the world: their acceleration is held
        points = {c.frame for c in s.contacts if isinstance(c.kind, str) and c.kind == "point"}
        return np.concatenate([
            gs.jacobian(plain, at, c.frame, "aligned")[3:] if c.frame in points else jacobian(plain, at, c)
            for c in s.contacts
        ])  # fmt: skip

    J, step = rows(q), 1e-6
    ends = [rows(gs.integrate(driven.plain, q, x * step * v)) for x in (1, -1)]
    bias = (ends[0] - ends[1]) @ v / (2.0 * step)
    n, m = len(v), len(J)
    K = np.block([[M, -J.T], [J, np.zeros((m, m))]])
    a = np.linalg.solve(K, np.concatenate([tau - h, -bias]))
    got = gs.ContactDynamics(s.model, s.contacts, mode="interpret")(q, v, tau)
    assert_close(got.a, a[:n], 1e-6)
    after = np.linalg.solve(K, np.concatenate([M @ v, np.zeros(m)]))
    hit = gs.Impact(s.model, s.contacts, mode="interpret")(q, v)
    assert_close(hit.v, after[:n], 1e-9)
    without = gs.Impact(driven.plain, s.contacts, mode="interpret")(q, v).v
    assert m == n or np.abs(without - hit.v).max() > 1e-9


# ------------------------------------------------------------------------------------------------ Talos
@pytest.mark.parametrize(("kind", "count"), [("point", 2), ("fixed", 1)])
def test_contacts_and_derivatives_are_those_of_pinocchio_also_where_they_are_not_held(kind, count):
    """Two legs of three joints under a free base, v with w != 0: conventions of the drift are the same."""
    pin = pytest.importorskip("pinocchio")
    mass, com, inertia, end = 1.3, np.array([0.02, 0.03, -0.2]), np.diag([0.02, 0.03, 0.01]), np.array([0.1, 0, -0.4])
    theirs, tips, parts = pin.Model(), [], [gs.RigidBody("hip", mass=5.0, inertia=(0.2, 0.3, 0.4))]
    base = theirs.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "base")
    theirs.appendBodyToJoint(base, pin.Inertia(5.0, np.zeros(3), np.diag([0.2, 0.3, 0.4])), pin.SE3.Identity())
    trees = [gs.chain("world", parts[0])]
    for leg in "ab":
        at, place, links = base, np.zeros(3), []
        for k, axis in enumerate("xyy"):
            joint = getattr(pin, f"JointModelR{axis.upper()}")()
            at = theirs.addJoint(at, joint, pin.SE3(np.eye(3), place), f"{leg}{k}")
            theirs.appendBodyToJoint(at, pin.Inertia(mass, com, inertia), pin.SE3.Identity())
            body = gs.RigidBody(f"{leg}_link{k}", mass=mass, com=com, inertia=inertia, frames={"end": end})
            links += [gs.Joint(f"{leg}{k}", "revolute", axis=axis), body]
            place = end
        tips.append(at)
        trees.append(gs.chain("hip", *links))
    model = gs.assemble("legs", *trees, base="free")
    rng = np.random.default_rng(2)
    q, (v, tau) = gs.random_configuration(model, rng), rng.normal(size=(2, model.nv))
    order = np.r_[3:6, 0:3, 6:12]
    three = kind == "point"
    form = pin.ContactType.CONTACT_3D if three else pin.ContactType.CONTACT_6D
    models, datas = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
    for tip in tips[:count]:
        models.append(pin.RigidConstraintModel(form, theirs, tip, pin.SE3(np.eye(3), end), pin.LOCAL))
        datas.append(models[-1].createData())
    data, settings = theirs.createData(), pin.ProximalSettings(1e-14, 0.0, 1)
    pin.initConstraintDynamics(theirs, data, models, datas)
    a = np.array(pin.constraintDynamics(theirs, data, q, v[order], tau[order], models, datas, settings))
    pin.computeConstraintDynamicsDerivatives(theirs, data, models, datas, settings)
    held = {f"{leg}_link2.end": kind for leg in "ab"[:count]}
    assert_close(gs.ContactDynamics(model, held, mode="interpret")(q, v, tau).a, a[order], 1e-9)
    got, both = gs.contact_dynamics_derivatives(model, q, v, tau, held), np.ix_(order, order)
    for ours, wanted in zip(got[:3], (data.ddq_dq, data.ddq_dv, data.ddq_dtau), strict=True):
        assert_close(ours, np.array(wanted)[both], 1e-8)


@pytest.mark.slow
def test_talos_on_two_feet_is_that_of_pinocchio():
    pytest.importorskip("pinocchio")
    from benchmarks.bench_contact import CORNERS, FEET, free_talos, peer, states

    other = peer(False)
    model = free_talos(other.model)
    Q, V, T = states(model, 3)
    fixed = gs.ContactDynamics(model, list(FEET))(Q, V, T)
    points = gs.ContactDynamics(model, {f"{f}_{i}": "point" for f in FEET for i in range(len(CORNERS))})(Q, V, T)
    for k in range(3):
        want = np.array(other.accelerations(*other.state(Q[k], V[k], T[k])))[other.order]
        scale = np.abs(want).max()
        assert np.abs(fixed.a[k] - want).max() < 1e-9 * scale
        assert np.abs(points.a[k] - want).max() < 1e-8 * scale
        for name, memory in zip(FEET, other.memory, strict=True):
            f = np.array(memory.contact_force.vector)[[3, 4, 5, 0, 1, 2]]
            assert_close(fixed.forces[name][k], f, 1e-8)
    assert np.isfinite(points.forces.array).all()
