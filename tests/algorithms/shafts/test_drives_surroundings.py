"""Drives on moving bases, forces inside joints, wheels without frames, components of others on shafts."""

import pickle

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.algorithms.shafts.elements import shafts
from gyrostat.algorithms.stored_energy import stored_energy
from gyrostat.spec.entity import Port
from tests.oracles.test_family_against_pinocchio import interpreted
from tests.support.comparing import assert_close, central
from tests.support.drive_models import driven_tree
from tests.support.pinocchio_oracle import random_state

ALGORITHMS = ("aba", "crba", "walker-orin", "mrnea", "newton-euler", "operators")


@pytest.mark.parametrize("seed", range(4))
def test_on_a_base_that_moves_by_itself(seed):
    """The explicit model, of rotors that are bodies, on the same base."""
    driven = driven_tree(seed, joints=4, elastic=True, base="fixed")
    moving = gs.HarmonicMotion(amplitude=(0.1, 0.2, 0.3), frequency=2.0, axis=(0.6, 0.0, 0.8), angle=0.3, rate=1.5)
    context = gs.Context(gravity=driven.model.context.gravity, base=moving)
    model, full = (gs.Model(m.name, m.entities, m.connections, context) for m in (driven.model, driven.oracle.full))
    oracle, G, t = driven.oracle, driven.oracle.G, {"t": 0.37}
    q, v, a = random_state(model, np.random.default_rng(seed))
    with interpreted():
        tau = G.T @ gs.rnea(full, oracle.q(q), G @ v, G @ a, **t) + oracle.torques(q, v)
        assert_close(gs.rnea(model, q, v, a, **t), tau, 1e-10)
        for algorithm in ALGORITHMS:
            assert_close(gs.aba(model, q, v, tau, algorithm=algorithm, **t), a, 1e-9)
        kinetic = gs.kinetic_energy(full, oracle.q(q), G @ v, **t)
        assert_close(gs.kinetic_energy(model, q, v, **t), kinetic, 1e-10)
        found, expected = (
            gs.rnea_derivatives(model, q, v, a, **t),
            gs.rnea_derivatives(full, oracle.q(q), G @ v, G @ a, **t),
        )
        assert_close(found.dtau_dq, G.T @ expected.dtau_dq @ G + oracle._slopes("stiffness"), 1e-9)
        assert_close(found.dtau_dv, G.T @ expected.dtau_dv @ G + oracle._slopes("damping"), 1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_forces_inside_joints_hold_the_spinning_rotors(seed):
    """Cut forces at joints, as in the explicit model: there the rotors hang behind them as bodies."""
    driven = driven_tree(seed, joints=5, elastic=bool(seed % 2))
    q, v, a = random_state(driven.model, np.random.default_rng(seed))
    with interpreted():
        found = gs.InverseDynamics(driven.model).port_forces(q, v, a)
        driven.oracle.rnea(q, v, a)
        compared = 0
        for port, force in driven.oracle.oracle.joint_forces().items():
            if not port.startswith("spin_"):
                assert_close(found[port], force, 1e-10)
                compared += 1
        assert compared >= 5


def plain_arm():
    return gs.robots.tree(11, 3, kinds=("revolute",), branching=0.0)


def test_an_elastic_drive_of_which_only_the_inertia_counts():
    """Its rotor is a wheel that no frame carries: M = diag(M_plain, I_r), springs between."""
    plain, N, inertia, k, d = plain_arm(), -60.0, 2e-4, 150.0, 0.8
    given = {"rotor_inertia": inertia, "gear_ratio": N, "stiffness": k, "damping": d, "reflected_inertia_only": True}
    model = plain.with_drive("joint1", **given)
    assert model.dofs == ("joint0", "joint1", "joint2", "joint1_drive.rotor")
    q, v, a = random_state(model, np.random.default_rng(0))
    pull = k * (q[3] / N - q[1]) + d * (v[3] / N - v[1])
    with interpreted():
        expected = np.append(gs.rnea(plain, q[:3], v[:3], a[:3]), inertia * a[3]) + pull * np.array([0, -1, 0, 1 / N])
        tau = gs.rnea(model, q, v, a)
        assert_close(tau, expected)
        for algorithm in ALGORITHMS:
            assert_close(gs.aba(model, q, v, tau, algorithm=algorithm), a, 1e-10)
        M = np.zeros((4, 4))
        M[:3, :3], M[3, 3] = gs.crba(plain, q[:3]), inertia
        assert_close(gs.crba(model, q), M)
        assert_close(gs.inverse_mass_matrix(model, q), np.linalg.inv(M), 1e-10)
        assert_close(gs.kinetic_energy(model, q, v), v @ M @ v / 2)
        assert_close(gs.aba_derivatives(model, q, v, tau).da_dtau, np.linalg.inv(M), 1e-10)


def test_two_wheels_on_a_spring_float_in_the_air():
    """Two 1-D rotors tied to each other by a spring and to the arm by nothing but a second spring."""
    plain = plain_arm()
    parts = gs.RotorInertia("r", inertia=0.1), gs.RotorInertia("s", inertia=0.2), gs.Spring("k", stiffness=5.0)
    link = gs.Spring("l", stiffness=7.0)
    wires = (("joint2.shaft", "l.a"), ("l.b", "r.shaft", "k.a"), ("k.b", "s.shaft"))
    model = gs.Model("m", (*plain.entities, *parts, link), (*plain.connections, *wires), plain.context)
    gs.check(model)
    q, v, a = random_state(model, np.random.default_rng(1))
    with interpreted():
        tau = gs.rnea(model, q, v, a)
        extra = np.array([0, 0, 7 * (q[2] - q[3]), 0.1 * a[3] + 5 * (q[3] - q[4]) - 7 * (q[2] - q[3]), 0])
        extra[4] = 0.2 * a[4] - 5 * (q[3] - q[4])
        assert_close(tau, np.append(gs.rnea(plain, q[:3], v[:3], a[:3]), [0, 0]) + extra)
        for algorithm in ALGORITHMS:
            assert_close(gs.aba(model, q, v, tau, algorithm=algorithm), a, 1e-10)


def test_a_rotor_that_brings_its_mass_has_live_properties():
    plain = plain_arm()
    own = {"mass": 0.4, "position": (0.1, 0.0, 0.05), "transverse": 3e-3}
    model = plain.with_drive("joint1", rotor_inertia=2e-3, gear_ratio=20, lumped=False, rotor=own)
    paths = [f"joint1.rotor.{key}" for key in ("inertia", "axis", "mass", "position", "transverse")]
    solver = gs.InverseDynamics(model, live=paths)
    values = (3e-3, (0.0, 0.6, 0.8), 0.7, (0.0, -0.1, 0.2), 5e-3)
    other = model.replace(dict(zip(paths, values, strict=True)))
    q, v, a = random_state(model, np.random.default_rng(2))
    for now in (model, other):
        solver.refresh(now)
        assert_close(solver(q, v, a), gs.InverseDynamics(now, mode="interpret")(q, v, a))


def test_models_and_solvers_with_drives_can_be_pickled():
    model = driven_tree(1, joints=3, elastic=True).model
    again = pickle.loads(pickle.dumps(model))
    assert again == model
    assert hash(again) == hash(model)
    solver = pickle.loads(pickle.dumps(gs.InverseDynamics(model, mode="interpret")))
    q, v, a = random_state(model, np.random.default_rng(3))
    assert np.array_equal(solver(q, v, a), gs.InverseDynamics(model, mode="interpret")(q, v, a))


class TwinRotor(gs.Entity):
    """Of another author: a wheel that turns with the sum of two shafts, and a spring of fourth power on the first."""

    inertia: float
    strength: float

    @property
    def ports(self):
        return Port("one", "scalar"), Port("two", "scalar")


@pytest.fixture
def twin_rotor():
    @shafts.row(TwinRotor)
    def torque(c, angle, rate, acceleration):
        both = (acceleration["one"] + acceleration["two"]) * c["inertia"]
        x = angle["one"]
        return {"one": both + x * x * x * (4.0 * c["strength"]), "two": both}

    @stored_energy.row(TwinRotor)
    def energy(c, angle):
        x = angle["one"]
        return x * x * x * x * c["strength"]

    yield
    del shafts.rows[TwinRotor], stored_energy.rows[TwinRotor]


def test_a_component_of_others_on_shafts_is_in_every_algorithm(twin_rotor):
    plain = plain_arm()
    wires = (*plain.connections, ("joint0.shaft", "twin.one"), ("joint2.shaft", "twin.two"))
    model = gs.Model("m", (*plain.entities, TwinRotor("twin", inertia=0.3, strength=2.0)), wires, plain.context)
    gs.check(model)
    q, v, a = random_state(model, np.random.default_rng(4))
    with interpreted():
        both = 0.3 * (a[0] + a[2])
        tau = gs.rnea(model, q, v, a)
        assert_close(tau, gs.rnea(plain, q, v, a) + np.array([both + 8 * q[0] ** 3, 0, both]))
        for algorithm in ALGORITHMS:
            assert_close(gs.aba(model, q, v, tau, algorithm=algorithm), a, 1e-10)
        c = np.array([1.0, 0.0, 1.0])
        assert_close(gs.crba(model, q), gs.crba(plain, q) + 0.3 * np.outer(c, c))
        assert_close(gs.inverse_mass_matrix(model, q), np.linalg.inv(gs.crba(model, q)), 1e-10)
        assert_close(gs.kinetic_energy(model, q, v), v @ gs.crba(model, q) @ v / 2)
        assert_close(gs.potential_energy(model, q), gs.potential_energy(plain, q) + 2 * q[0] ** 4)
        found = gs.rnea_derivatives(model, q, v, a)
        for k, e in enumerate(np.eye(3)):
            assert_close(found.dtau_dq[:, k], central(lambda t, e=e: gs.rnea(model, q + e * t, v, a), 0.0), 1e-9)
    assert_close(gs.rnea(model, q, v, a), tau)
