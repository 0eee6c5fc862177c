"""Compliant contact: pushes only, takes energy out, is in every solver and every method."""

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.algorithms.recursions.contact_forces import coefficient_over_speed, normal_force
from gyrostat.graph.contact_laws import ContactLaw
from gyrostat.graph.contacts import contact_candidates
from gyrostat.graph.network import network
from tests.support.random_models import random_state, various_tree
from tests.support.surface_models import ball_on, flying, kinematics_of, shape

START = np.array([0, 0, 1.1, 0, 0, 0, 1.0])
SOFT = {"stiffness": 2e3, "damping": 0.3, "friction": (0.8, 0.5), "torsional": 0.02, "rolling": 0.01}


def energy(model, q, v):
    return gs.kinetic_energy(model, q, v) + gs.potential_energy(model, q)


def wall(model, seed):
    """A tree whose surfaces lie in a soft ground here and there."""
    rng = np.random.default_rng(seed)
    q, v, _ = random_state(model, rng)
    return q, v


def soft_tree(seed, **law):
    tree = various_tree(seed, bodies=4)
    bodies = [e.name for e in tree.entities if isinstance(e, gs.RigidBody)]
    parts = [gs.ContactPoint(f"p{k}", radius=0.1 * k) for k in range(len(bodies))]
    links = [(f"{name}.origin", f"p{k}.frame") for k, name in enumerate(bodies)]
    entities = (*tree.entities, *parts, gs.Ground("floor", **law), gs.ContactPair("p0", "p4", **law))
    return gs.Model(tree.name, entities, (*tree.connections, *links), tree.context)


# ------------------------------------------------------------------------------------------------ the law
def test_the_normal_force_is_that_of_hunt_and_crossley():
    law = ContactLaw(stiffness=1e4, damping=0.4, exponent=1.5)
    assert np.isclose(normal_force(law, -0.01, -0.5), 1e4 * 0.01**1.5 * (1 + 0.4 * 0.5))
    assert normal_force(law, 0.01, -0.5) == 0.0
    assert normal_force(law, -0.01, 5.0) == 0.0  # it would pull


def test_friction_reaches_its_static_value_and_falls_to_the_dynamic_one():
    law = ContactLaw(0.8, 0.5, stiffness=1.0, slip_speed=0.02)

    def mu(s):
        return coefficient_over_speed(law, s * s) * s

    assert mu(0.0) == 0.0 and np.isclose(mu(0.02), 0.8) and np.isclose(mu(0.2), 0.5)
    s = np.linspace(0, 0.2, 2001)
    curve = np.array([mu(x) for x in s])
    assert curve.max() <= 0.8 + 1e-12 and np.all(np.diff(curve[:200]) > 0.0) and np.all(np.diff(curve[201:]) <= 1e-12)
    assert np.abs(np.diff(curve, 2)).max() < 1e-4  # its slope is continuous


# ------------------------------------------------------------------------------------------------ solvers
@pytest.mark.parametrize("seed", range(6))
def test_forces_are_those_of_the_law_through_the_rows_of_the_contact(seed):
    soft, rigid = soft_tree(seed, **(SOFT | {"torsional": 0.0, "rolling": 0.0})), soft_tree(seed)
    q, v = wall(soft, seed)
    k = kinematics_of(soft, q, v)
    expected = np.zeros(soft.nv)
    for c, gap, w, J in zip(contact_candidates(soft), k.gaps, k.w, k.J, strict=True):
        f_n = normal_force(c.law, gap, w[0])
        f_t = -w[1:] * f_n * coefficient_over_speed(c.law, w[1:] @ w[1:])
        expected += J.T @ np.r_[f_n, f_t]
    zero = np.zeros(soft.nv)
    assert np.allclose(gs.rnea(rigid, q, v, zero) - gs.rnea(soft, q, v, zero), expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("seed", range(2))
def test_forward_and_inverse_dynamics_agree_and_derivatives_are_those_of_differences(seed):
    model = soft_tree(seed, exponent=1.5, **SOFT)
    q, v = wall(model, seed)
    tau = np.random.default_rng(seed).normal(size=model.nv)
    a = gs.aba(model, q, v, tau)
    assert np.allclose(gs.rnea(model, q, v, a), tau, rtol=1e-9, atol=1e-8)
    found, h = gs.rnea_derivatives(model, q, v, a), 1e-6
    by_v = np.stack(
        [(gs.rnea(model, q, v + h * e, a) - gs.rnea(model, q, v - h * e, a)) / (2 * h) for e in np.eye(model.nv)], 1
    )
    sides = [[gs.rnea(model, gs.integrate(model, q, s * e), v, a) for s in (h, -h)] for e in np.eye(model.nv)]
    by_q = np.stack([(ahead - behind) / (2 * h) for ahead, behind in sides], 1)
    scale = 1.0 + np.abs(by_q).max()
    assert np.abs(found.dtau_dv - by_v).max() < 1e-6 * scale and np.abs(found.dtau_dq - by_q).max() < 1e-5 * scale


@pytest.mark.parametrize("seed", range(12))
def test_energy_never_grows(seed):
    rng = np.random.default_rng([seed, 3])
    law = {"stiffness": 10 ** rng.uniform(2, 5), "damping": rng.uniform(0, 2), "exponent": rng.choice([1.0, 1.5, 2.0])}
    mu = np.sort(rng.uniform(0, 1.2, 2))[::-1]
    model = soft_tree(seed % 6, friction=tuple(mu), torsional=rng.uniform(0, 0.1), rolling=rng.uniform(0, 0.1), **law)
    q, v = wall(model, seed)
    tau = np.zeros(model.nv)
    pushed = gs.ForceElement  # those of the tree do work by themselves
    entities = [e for e in model.entities if not isinstance(e, pushed)]
    names = {e.name for e in model.entities if isinstance(e, pushed)}
    links = [c for c in model.connections if not any(port.partition(".")[0] in names for port in c)]
    model = gs.Model(model.name, tuple(entities), tuple(links), model.context)
    h = 1e-6
    a = gs.aba(model, q, v, tau)
    ahead, behind = (energy(model, gs.integrate(model, q, s * v), v + s * a) for s in (h, -h))
    scale = abs(energy(model, q, v)) + 1.0
    assert (ahead - behind) / (2 * h) < 1e-5 * scale * (1.0 + np.abs(a).max() * h)


def test_a_network_has_compliant_contacts_alone():
    assert not network(ball_on(friction=0.5)).pairs
    assert [pair.name for pair in network(ball_on(stiffness=1e4)).pairs] == ["ball|floor"]


def test_stiffness_and_friction_are_live():
    solver = gs.ForwardDynamics(ball_on(**SOFT), live=["floor.stiffness", "floor.friction", "floor.damping"])
    q, v = np.array([0, 0, 0.09, 0, 0, 0, 1.0]), np.array([0, 1.0, 0, 0.3, 0.2, -0.5])
    other = ball_on(**(SOFT | {"stiffness": 5e3, "friction": (0.4, 0.3), "damping": 0.1}))
    solver.refresh(other)
    assert np.allclose(solver(q, v, np.zeros(6)), gs.aba(other, q, v, np.zeros(6)), rtol=1e-12)


def test_boxes_without_a_closed_form_are_refused_by_name():
    model = gs.assemble(
        "m", flying("one", shape("box")), flying("two", shape("box")), gs.ContactPair("one", "two", stiffness=1e4)
    )
    with pytest.raises(
        gs.SpecError, match=r"contact 'one\|two': a box and a box have no nearest points in closed form"
    ):
        gs.aba(model, gs.neutral(model), np.zeros(12), np.zeros(12))


# ------------------------------------------------------------------------------------------------ motion
@pytest.mark.parametrize(("method", "options"), [("radau", {}), ("dopri5", {}), ("rk4", {"dt": 1e-5}), ("bdf", {})])
def test_a_ball_bounces_as_hunt_and_crossley_say(method, options):
    model = ball_on(stiffness=1e5, damping=0.02, exponent=1.5)
    run = gs.simulate(model, q0=START, t_end=0.6, method=method, **options)
    fell = np.sqrt(2 * 9.81 * 1.0)
    assert np.isclose(run.v[:, 5].max() / fell, 1 - 2 / 3 * 0.02 * fell, atol=4e-3)


def test_an_elastic_ball_keeps_its_energy():
    model = ball_on(stiffness=1e5, exponent=1.5)
    run = gs.simulate(model, q0=START, t_end=1.5, method="radau", rtol=1e-10, atol=1e-12)
    assert (
        np.abs(
            [energy(model, q, v) - energy(model, START, np.zeros(6)) for q, v in zip(run.q, run.v, strict=True)]
        ).max()
        < 1e-6
    )


@pytest.mark.parametrize(("slope", "slides"), [(0.3, False), (0.6, True)])
def test_a_block_on_a_slope_creeps_or_slides(slope, slides):
    """Below the angle of friction it creeps with less than the slip speed, above it slides with g (sin - mu cos)."""
    mu, slip = 0.5, 1e-3
    box = gs.RigidBody(
        "box", mass=1.0, inertia=(0.01,) * 3, shapes=[gs.Shape(kind="box", size=[0.2, 0.2, 0.1], role="collision")]
    )
    model = gs.assemble(
        "slope",
        gs.chain("world", gs.Joint("flight", "free"), box),
        gs.Ground("floor", stiffness=1e5, damping=100.0, friction=mu, slip_speed=slip),
        gravity=(9.81 * np.sin(slope), 0, -9.81 * np.cos(slope)),
    )
    q0 = np.array([0, 0, 0.05 - 9.81 * np.cos(slope) / 4e5, 0, 0, 0, 1.0])
    run = gs.simulate(model, q0=q0, t_end=1.0, method="radau")
    if slides:
        assert np.isclose(run.v[-1][3], 9.81 * (np.sin(slope) - mu * np.cos(slope)), rtol=2e-3)
    else:
        assert 0.0 < run.v[-1][3] < slip


def test_rolling_and_spinning_come_to_rest():
    model = ball_on(stiffness=1e4, damping=1.0, friction=0.5, torsional=0.02, rolling=0.02)
    v0 = np.array([0, 5.0, 5.0, 0.5, 0, 0])
    run = gs.simulate(model, q0=np.array([0, 0, 0.0995, 0, 0, 0, 1.0]), v0=v0, t_end=2.0, method="radau")
    assert np.abs(run.v[-1][:3]).max() < 0.6 and np.abs(run.v[-1][3:]).max() < 0.06


def test_many_at_once_move_as_one_alone():
    model = ball_on(**SOFT)
    v0 = np.array([0, 1.0, 0, 0.5, 0, 0])
    starts = np.tile(START, (5, 1))
    starts[:, 2] += np.arange(5) * 0.1 - 0.95
    many = gs.rollout(model, q0=starts, v0=np.tile(v0, (5, 1)), steps=300, dt=1e-3)
    one = gs.rollout(model, q0=starts[3], v0=v0, steps=300, dt=1e-3)
    assert np.allclose(many.q[-1, 3] if many.q.shape[0] == 301 else many.q[3, -1], np.squeeze(one.q)[-1], atol=1e-12)


# ------------------------------------------------------------------------------------------------ elastic joints, C
def elastic_finger():
    links = [
        gs.RigidBody(f"l{k}", mass=1.0, com=(0, 0, 0.2), inertia=(0.01,) * 3, frames={"tip": (0, 0, 0.4)})
        for k in (1, 2)
    ]
    joints = [gs.Joint(f"j{k}", "revolute", axis="x") for k in (1, 2)]
    tip = gs.ContactPoint("tip", radius=0.05)
    model = gs.assemble(
        "finger",
        gs.chain("world", joints[0], links[0], joints[1], links[1], tip),
        gs.Ground("floor", stiffness=1e3, damping=0.1, friction=(0.5, 0.4)),
    )
    for joint in joints:
        model = model.with_drive(joint.name, rotor_inertia=1e-4, gear_ratio=100.0, stiffness=1e4)
    return model


def test_elastic_inverse_dynamics_differentiates_the_contact_force():
    """The rate of the motor angles is that of their values along the motion."""
    solve = gs.ElasticInverseDynamics(elastic_finger())
    x = np.zeros((solve.order + 1, 2))
    x[:4] = [1.6, 0.3], [0.1, 0.2], [0.3, -0.1], [1.0, 2.0]

    def at(t):
        powers = [t**k / np.prod(np.arange(1, k + 1)) for k in range(len(x))]
        return np.array([sum(p * y for p, y in zip(powers, x[k:], strict=False)) for k in range(len(x))])

    h = 1e-5
    rate = (solve(at(h)).theta - solve(at(-h)).theta) / (2 * h)
    assert np.allclose(solve(x).theta_dot, rate, rtol=1e-6)


def test_a_compliant_contact_is_exported(tmp_path):
    files = gs.ForwardDynamics(ball_on(**SOFT)).export_c(tmp_path)
    assert any(file.suffix == ".c" and "exp" in file.read_text() for file in files)
