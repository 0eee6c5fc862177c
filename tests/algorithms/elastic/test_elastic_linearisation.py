"""Elastic joints forward: coupling matrices of H04, state space and eigenfrequencies at a pose."""

from __future__ import annotations

import json

import numpy as np
import pytest

import gyrostat as gs
from tests.support.comparing import assert_close, assert_differs
from tests.support.reference_data import reference

ARM = gs.robots.elastic_arm()
POSE = np.array([0.2, 0.6, -0.3, 1.1, 0.4, -0.5, 0.9])


# ---------------------------------------------------------------------------------------------- S, C_rotor, C_carrier
def state(seed=0):
    rng = np.random.default_rng(seed)
    return rng.uniform(-2, 2, 14), rng.uniform(-1, 1, 14)


def test_s_is_the_block_of_the_mass_matrix_between_joints_and_rotors():
    q, _ = state()
    S = gs.rotor_coupling(ARM, q).S
    assert_close(S * 1e4, gs.crba(ARM, q)[:7, 7:] * 1e4, 1e-13)
    assert np.abs(S[0, 2]) > 1e-6
    assert np.all(np.abs(np.tril(S, 1)) < 1e-18)  # (5.1)
    assert_close(gs.rotor_coupling(ARM, q[:7]).S, S, 1e-15)  # the angles of the rotors do not matter


def test_s_ij_depends_on_the_joints_between_and_not_as_3_19_has_it():
    """(3.19) prints S_12(q_1), S_13(q_1, q_2); (3.44) is right: S_13(q_2), and S_12 would be constant."""
    q, _ = state()
    S = gs.rotor_coupling(ARM, q).S
    for joint in range(7):
        other = q.copy()
        other[joint] += 0.7
        changed = np.abs(gs.rotor_coupling(ARM, other).S - S) > 1e-9
        i, j = np.indices((7, 7))
        assert not np.any(changed & ~((i < joint) & (joint < j)))
    other = q.copy()
    other[1] += 0.7
    assert_differs(gs.rotor_coupling(ARM, other).S[0, 2] * 1e4, S[0, 2] * 1e4)


def test_coriolis_terms_of_the_whole_model_are_those_of_links_rotors_and_carriers():
    q, v = state()
    found, links = gs.rotor_coupling(ARM, q, v), np.concatenate([v[:7], np.zeros(7)])
    whole, without = (gs.coriolis(ARM, q, x) @ x for x in (v, links))
    assert_close(found.C_rotor * 1e3, (whole - without)[:7] * 1e3, 1e-11)  # (3.42)
    assert_close(found.C_carrier * 1e3, whole[7:] * 1e3, 1e-11)  # (3.46)
    terms = gs.rotor_coupling(ARM, q)
    assert_close(np.einsum("ijr,j,r->i", terms.C_rotor, v[:7], v[7:]) * 1e3, found.C_rotor * 1e3, 1e-13)
    assert_close(np.einsum("rjk,j,k->r", terms.C_carrier, v[:7], v[:7]) * 1e3, found.C_carrier * 1e3, 1e-13)


def test_equation_3_47_is_the_angular_acceleration_of_the_carrier_along_the_axis():
    q, v = state(1)
    a = np.random.default_rng(2).uniform(-1, 1, 7)
    found = gs.rotor_coupling(ARM, q, v)
    frames = gs.fk(gs.robots.elastic_arm(drives=False), q[:7], v[:7], a)
    inertia = [ARM[f"q{k}_drive.rotor.inertia"] for k in range(1, 8)]
    axes = [np.array(ARM[f"q{k}.axis"]) for k in range(1, 8)]
    carriers = [np.zeros(3), *(frames[f"link{k}"].A[:3] for k in range(1, 7))]
    want = [i * z @ A for i, z, A in zip(inertia, axes, carriers, strict=True)]
    assert_close((found.C_carrier + found.S.T @ a) * 1e3, np.array(want) * 1e3, 1e-12)


def test_coupling_comes_in_batches_and_refuses_what_it_does_not_know():
    Q = np.random.default_rng(0).uniform(-1, 1, (2, 3, 14))
    found = gs.rotor_coupling(ARM, Q)
    assert (found.S.shape, found.C_rotor.shape, found.C_carrier.shape) == (
        (2, 3, 7, 7),
        (2, 3, 7, 7, 7),
        (2, 3, 7, 7, 7),
    )
    assert_close(found.C_carrier[1, 2], gs.rotor_coupling(ARM, Q[1, 2]).C_carrier, 1e-15)
    with pytest.raises(gs.ShapeError, match=r"expected \(\.\.\., 14\).*or \(\.\.\., 7\)"):
        gs.rotor_coupling(ARM, np.zeros(8))
    with pytest.raises(gs.SpecError, match="no rotor with a coordinate of its own"):
        gs.rotor_coupling(gs.robots.elastic_arm(elastic=False), np.zeros(7))


# ---------------------------------------------------------------------------------------------- state space
@pytest.mark.parametrize("base", ["fixed", "free"])
def test_the_state_space_predicts_small_motions(base):
    """d/dt of the displacement between two motions, and of their rates, on the manifold."""
    kinds = ("revolute", "spherical", "universal")
    model = gs.robots.tree(3, 4, kinds, base=base)
    rng = np.random.default_rng(1)
    q, v, tau = gs.random_configuration(model, rng), rng.normal(size=model.nv), rng.normal(size=model.nv)
    A, B = gs.linearise(model, q, v, tau)
    x, u, eps, h = rng.normal(size=2 * model.nv), rng.normal(size=model.nv), 1e-6, 1e-4

    def after(h, sign):
        """State at time h, by a Taylor step, from a state that is a little off."""
        q0 = gs.integrate(model, q, sign * eps * x[: model.nv])
        v0 = v + sign * eps * x[model.nv :]
        a0 = gs.aba(model, q0, v0, tau + sign * eps * u)
        return gs.integrate(model, q0, h * v0), v0 + h * a0

    def off(h):
        (q1, v1), (q2, v2) = after(h, -1.0), after(h, 1.0)
        return np.concatenate([gs.difference(model, q1, q2), v2 - v1]) / (2 * eps)

    assert_close((off(h) - off(-h)) / (2 * h), A @ x + B @ u, 1e-5)


def test_defaults_are_rest_and_the_torques_that_hold():
    model = gs.robots.kuka_lwr4()
    A, _ = gs.linearise(model, POSE)
    zero = np.zeros(7)
    want = gs.linearise(model, POSE, zero, gs.gravity(model, POSE))
    assert_close(A, want.A, 1e-14)
    batch = gs.linearise(model, np.stack([POSE, 2 * POSE]), zero, zero)
    assert batch.A.shape == (2, 14, 14)
    assert batch.B.shape == (2, 14, 7)


# ---------------------------------------------------------------------------------------------- frequencies
# Moberg, Ohr, Gunnarsson, "A benchmark problem for robust control of a multivariable nonlinear flexible manipulator":
# linear model of four inertias in a row, as coded by Oakes and Phillips (2017); frequencies recomputed with SciPy.
INERTIAS, STIFFNESS, DAMPING = (0.005, 0.002, 0.02, 0.02), (110.0, 80.0), (0.08, 0.06, 0.08)
FREQUENCIES = {100.0: (0.0, 12.4018459, 19.1196608, 54.670639), 16.7: (0.0, 8.76296457, 14.4720215, 41.7732866)}


def moberg(k1):
    """Motor and two inertias on shafts, the last one a body on a joint."""
    parts = [gs.RotorInertia(f"mass{k}", inertia=INERTIAS[k]) for k in range(3)]
    parts += [gs.Joint("arm", "revolute", axis="z"), gs.RigidBody("load", mass=1.0, com=(0, 0, 0), inertia=(0.02,) * 3)]
    shafts = [["mass0.shaft"], ["mass1.shaft"], ["mass2.shaft"], ["arm.shaft"]]
    for k, (stiffness, damping) in enumerate(zip((k1, *STIFFNESS), DAMPING, strict=True)):
        parts += [gs.Spring(f"spring{k}", stiffness=stiffness), gs.Damper(f"damper{k}", damping=damping)]
        for side, port in ((0, "a"), (1, "b")):
            shafts[k + side] += [f"spring{k}.{port}", f"damper{k}.{port}"]
    links = [("world.frame", "arm.a"), ("arm.b", "load.origin"), *shafts]
    return gs.assemble("moberg", *parts, *(gs.connect(*link) for link in links))


@pytest.mark.parametrize("k1", FREQUENCIES)
def test_frequencies_of_the_moberg_axis_to_eight_digits(k1):
    found = gs.eigenfrequencies(moberg(k1), np.zeros(4))
    for got, want in zip(found.undamped, FREQUENCIES[k1], strict=True):
        assert abs(got - want) <= 5e-9 * max(want, 10.0)


def test_the_typed_figures_of_the_moberg_axis_are_those_of_the_reference_data():
    data = json.loads(reference("moberg_elastic_joint_benchmark.json").read_text())
    assert tuple(data["J"]) == INERTIAS
    assert (data["k2"], data["k3"]) == STIFFNESS
    assert tuple(data["d"]) == DAMPING
    assert tuple(data["undamped_freqs_Hz_k1_100"]) == FREQUENCIES[100.0]
    assert tuple(data["undamped_freqs_Hz_k1_16.7"]) == FREQUENCIES[16.7]


def test_damped_frequencies_and_modes_solve_the_damped_equations():
    model = moberg(100.0)
    found = gs.eigenfrequencies(model, np.zeros(4))
    K, D = np.zeros((4, 4)), np.zeros((4, 4))
    places = [1, 2, 3, 0]  # the joint comes first in the model
    for k, (stiffness, damping) in enumerate(zip((100.0, *STIFFNESS), DAMPING, strict=True)):
        e = np.eye(4)[places[k]] - np.eye(4)[places[k + 1]]
        K, D = K + stiffness * np.outer(e, e), D + damping * np.outer(e, e)
    M = np.diag([INERTIAS[3], *INERTIAS[:3]])
    for f, mode in zip(found.undamped, found.modes.T, strict=True):
        assert_close((K - (2 * np.pi * f) ** 2 * M) @ mode, np.zeros(4), 1e-9)
    assert_close(found.modes.T @ M @ found.modes, np.eye(4), 1e-12)
    for s, f, mode in zip(found.poles, found.damped, found.damped_modes.T, strict=True):
        assert_close((M * s**2 + D * s + K) @ mode, np.zeros(4), 1e-8)
        assert_close(f, abs(s.imag) / (2 * np.pi), 1e-12)


def test_a_pendulum_on_a_spring_by_hand():
    """One joint: rotor against link over the spring; the weight adds to the link's stiffness."""
    m, l, J, I, N, K, g = 2.0, 0.4, 0.03, 1e-3, 20.0, 500.0, 9.81
    parts = [
        gs.Joint("hinge", "revolute", axis="y"),
        gs.RigidBody("arm", mass=m, com=(0, 0, -l), inertia=(0.1, J, 0.1)),
    ]
    links = [gs.connect("world.frame", "hinge.a"), gs.connect("hinge.b", "arm.origin")]
    model = gs.assemble("pendulum", *parts, *links).with_drive("hinge", rotor_inertia=I, gear_ratio=N, stiffness=K)
    q = 0.3
    M = np.diag([J + m * l * l, N * N * I])
    C = np.array([[K + m * g * l * np.cos(q), -K], [-K, K]])
    want = np.sqrt(np.linalg.eigvals(np.linalg.solve(M, C))) / (2 * np.pi)
    assert_close(gs.eigenfrequencies(model, [q]).undamped, np.sort(want), 1e-12)
    locked = gs.eigenfrequencies(model, [q], locked=["hinge_drive.rotor"])
    assert_close(locked.undamped, [np.sqrt(C[0, 0] / M[0, 0]) / (2 * np.pi)], 1e-12)
    assert locked.modes.shape == (2, 1)


def test_an_arm_that_stands_upright_has_modes_that_grow():
    found = gs.eigenfrequencies(gs.robots.kuka_lwr4(), 0.2 * POSE)
    assert found.undamped[0] < 0.0
    assert np.all(np.diff(found.undamped) >= 0.0)


def test_the_rotors_stand_where_the_springs_carry_the_weight():
    poses = np.stack([POSE, np.zeros(7)])
    q = gs.eigenfrequencies(ARM, poses).q
    tau = gs.rnea(ARM, q, np.zeros(14), np.zeros(14))
    assert_close(tau[..., :7], np.zeros((2, 7)), 1e-9)
    found = gs.ElasticInverseDynamics(ARM, mode="interpret")(np.concatenate([POSE[None], np.zeros((10, 7))]))
    assert_close(q[0, 7:], found.theta, 1e-11)
    frequencies = gs.eigenfrequencies(ARM, poses)
    assert frequencies.undamped.shape == (2, 14)
    assert_close(frequencies.undamped[0], gs.eigenfrequencies(ARM, q[0]).undamped, 1e-9)


def test_locked_names_must_be_rates():
    with pytest.raises(gs.StateError, match="locked names 'rotor9', which is no rate"):
        gs.eigenfrequencies(ARM, POSE, locked=["rotor9"])
    with pytest.raises(gs.ShapeError, match=r"q has shape \(5,\)"):
        gs.eigenfrequencies(ARM, np.zeros(5))
    with pytest.raises(gs.ShapeError, match="q must hold real numbers"):
        gs.eigenfrequencies(ARM, "upright")


def test_a_free_body_on_a_bushing_swings_as_its_poles_say():
    """Under its weight the stiffness is not symmetric: the torques that hold it turn with it."""
    body, joint = gs.RigidBody("block", mass=3.0, inertia=(0.2, 0.2, 0.2)), gs.Joint("free", "free")
    K = (10.0, 20.0, 30.0, 100.0, 200.0, 300.0)
    spring = gs.Bushing("spring", stiffness=K)
    links = gs.chain("world", joint, body), spring, gs.connect("world", "spring.a"), gs.connect("block", "spring.b")
    found = gs.eigenfrequencies(gs.assemble("block", *links), [0, 0, 0, 0, 0, 0, 1])
    expected = np.sort(np.sqrt(np.array([10, 20, 30, 0, 0, 0]) / 0.2 + np.array([0, 0, 0, 100, 200, 300]) / 3.0))
    assert np.allclose(found.damped[::2], np.sort(found.undamped), rtol=1e-9)
    still = gs.eigenfrequencies(gs.assemble("block", *links, gravity=(0, 0, 0)), [0, 0, 0, 0, 0, 0, 1])
    assert np.allclose(2.0 * np.pi * still.undamped, expected, rtol=1e-12)
    assert np.allclose(2.0 * np.pi * found.undamped, expected, rtol=1e-9)


def test_slack_springs_that_do_not_carry_the_weight_are_told():
    arm = gs.chain(
        "world", gs.Joint("j", "revolute", axis="y"), gs.RigidBody("b", mass=1, com=(0, 0, -0.3), inertia=(0.1,) * 3)
    )
    drive = (
        gs.RotorInertia("r", inertia=1e-3, axis="z"),
        gs.Gear("g", 20.0),
        gs.Backlash("k", gap=0.02, stiffness=500.0),
    )
    wires = ("world", "r.carrier"), ("r.shaft", "g.motor"), ("g.joint", "k.a"), ("k.b", "j.shaft")
    model = gs.assemble("slack", arm, *drive, *(gs.connect(*ports) for ports in wires))
    with pytest.raises(gs.GyrostatError, match="no coordinates of rotors and flexible links were found"):
        gs.eigenfrequencies(model, [0.5])
