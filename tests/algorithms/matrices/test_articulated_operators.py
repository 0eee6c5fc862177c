"""Articulated bodies, drives and rotors as stacked operators: (3.2)-(3.14), (3.25), (3.38)-(3.47), (3.54) of H04."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.spatial.representation import Pose, representation
from tests.support.comparing import REPRESENTATIONS, assert_close, assert_differs
from tests.support.drive_models import driven_tree


def interpreted(cls, model, *arguments):
    return cls(model, *arguments, mode="interpret")


TIME = 0.37
SHAKE = gs.HarmonicMotion(amplitude=(0.2, -0.1, 0.15), frequency=0.7, axis=(0.6, 0, 0.8), rate=1.3, swing=0.4,
                          swing_frequency=0.9)  # fmt: skip


def links(*joints):
    pairs = [(j, gs.RigidBody(f"link_{j.name}", mass=1.5, com=(0.1, 0.2, -0.1), inertia=(0.3, 0.4, 0.5),
                              momentum=(0.1, 0.0, 0.2), frames={"tip": (0.3, 0.1, 0.0)})) for j in joints]  # fmt: skip
    return [part for joint, body in pairs for part in (joint, body, "tip")][:-1]


def hinges(*names):
    return [gs.Joint(name, "revolute", axis=axis) for name, axis in zip(names, "yxzyxz", strict=False)]


def arm(*trunk, **context):
    return gs.assemble("arm", gs.chain("world", *trunk, *links(*hinges("j1", "j2", "j3", "j4"))), **context)


def serial_followers():
    """Joint 3 follows joint 1, with a free joint between them; joint 4 follows joint 3's leader, too."""
    gears = [gs.Gear("g3", ratio=2.0), gs.Gear("g4", ratio=-0.5)]
    joined = [
        gs.connect("j1.shaft", "g3.joint", "g4.joint"), gs.connect("j3.shaft", "g3.motor"),
        gs.connect("j4.shaft", "g4.motor"),
    ]  # fmt: skip
    return gs.assemble("fingers", gs.chain("world", *links(*hinges("j1", "j2", "j3", "j4"))), *gears, *joined)


def far_rotor():
    """The motor of the last joint sits on the first link, and that of the first on the last."""
    model = arm()
    model = model.with_drive("j4", gear_ratio=30.0, rotor_inertia=0.002, carrier="link_j1", rotor_axis="z")
    return model.with_drive("j1", gear_ratio=20.0, rotor_inertia=0.003, carrier="link_j3.tip", rotor_axis="x")


def springy():
    model = arm(gs.RigidBody("trunk", mass=4.0, inertia=(1.0, 1.2, 0.8)), base="free", gravity=(0.0, 1.0, -9.81))
    model = model.with_drive("j2", gear_ratio=10.0, rotor_inertia=0.01, stiffness=300.0, viscous=0.2, coulomb=0.1)
    return model.with_drive("j3", gear_ratio=-5.0, rotor_inertia=0.02, stiffness=200.0, damping=1.0)


def tied_by_forces():
    rope = gs.PointSpring("rope", stiffness=20.0, damping=3.0, rest_length=0.1)
    push = gs.ForceElement("push", wrench=(0.1, 0, 0.3, 1.0, 0.5, -0.2), expressed_in="world")
    ends = gs.connect("link_j3.tip", "push"), gs.connect("link_j4.tip", "rope.a"), gs.connect("world", "rope.b")
    parts = gs.chain("world", *links(*hinges("j1", "j2", "j3", "j4")))
    model = gs.assemble("tied", parts, rope, push, *ends, base=SHAKE)
    return model.with_drive("j2", gear_ratio=10.0, rotor_inertia=0.01, reflected_inertia_only=True, coulomb=0.3)


ZOO = {
    "tree": lambda: gs.robots.tree(2, bodies=5, reversed_share=0.5, momentum=True),
    "free tree": lambda: gs.robots.tree(4, bodies=4, base="free", branching=0.8),
    "shaken tree": lambda: gs.robots.tree(5, bodies=4, base=SHAKE, momentum=True),
    "weights": lambda: gs.robots.tree(7, bodies=4, gravity=gs.CentralGravity(mu=20.0, centre=(1.0, 2.0, -3.0))),
    "stiff drives": lambda: driven_tree(3, joints=5).model,
    "stiff drives, free": lambda: driven_tree(11, joints=4, base="free").model,
    "elastic drives": lambda: driven_tree(5, joints=4, elastic=True).model,
    "couplings": lambda: driven_tree(7, joints=6, couplings=1).model,
    "followers in a row": serial_followers,
    "motors far away": far_rotor,
    "springs": springy,
    "forces between frames": tied_by_forces,
    "wrist": gs.robots.differential_wrist,
}


@cache
def case(name, rep):
    model = ZOO[name]()
    rng = np.random.default_rng(len(name))
    q = gs.random_configuration(model, rng)
    v, a = rng.uniform(-1.0, 1.0, (2, model.nv))
    return model, q, v, a, gs.operators(model, q, v, representation=rep, t=TIME)


everywhere = pytest.mark.parametrize(("name", "rep"), [(name, rep) for name in ZOO for rep in REPRESENTATIONS])


@everywhere
def test_closed_forms_of_dynamics_hold_with_drives(name, rep):  # (3.2), (3.3), (3.14)
    model, q, v, a, op = case(name, rep)
    tau = interpreted(gs.InverseDynamics, model)(q, v, a, t=TIME)
    assert_close(op.rnea(a), tau, 1e-10)
    assert_close(op.mass_matrix(), interpreted(gs.MassMatrix, model)(q, t=TIME), 1e-11)
    assert_close(op.aba(tau), a, 1e-8)
    assert_close(op.V, op.Phi @ op.Delta, 1e-11)


def test_3_14_needs_the_other_sign_of_gravity():
    model = gs.robots.kuka_lwr4()
    q, v, tau = np.random.default_rng(1).uniform(-1.0, 1.0, (3, 7))
    op = gs.operators(model, q, v)
    exact = gs.aba(model, q, v, tau)
    right = np.eye(7) - op.K @ op.Psi @ op.H
    coriolis = op.Phi @ op.Delta_tilde @ op.V
    for sign in (1.0, -1.0):
        inner = op.K.T @ tau - op.M @ (coriolis + sign * op.A_gravity) - op.V_tilde.T @ op.M @ op.V
        found = right @ np.linalg.solve(op.D, tau - op.H.T @ op.Psi.T @ inner)
        (assert_differs if sign > 0.0 else assert_close)(found, exact)
    b = op.M @ (op.A_gravity - coriolis) - op.V_tilde.T @ op.M @ op.V  # the sweeps of 3.1.3
    c = op.Psi.T @ (op.K.T @ tau + b)
    d = np.linalg.solve(op.D, tau - op.H.T @ c)
    assert_close(d - op.K @ op.Psi @ op.H @ d, exact, 1e-11)
    assert op.G.shape == op.K.shape == (7, len(op.V))


@everywhere
def test_articulated_operators_are_as_defined(name, rep):  # (3.7)-(3.13)
    *_, op = case(name, rep)
    one = np.eye(len(op.V))
    E = op.E_phi - op.E_tied
    size = np.abs(op.P).max()
    left = (one - op.E_tied).T @ op.P @ (one - op.E_tied)
    assert_close((left - op.M - E.T @ op.tau_bar.T @ op.P @ op.tau_bar @ E) / size, 0.0 * one, 1e-11)
    assert_close(op.D, op.H.T @ op.P @ op.H, 1e-12)
    assert_close(op.D @ op.G, op.H.T @ op.P, 1e-10)
    assert_close(op.tau_bar, one - op.H @ op.G, 1e-12)
    assert_close(op.tau_bar @ op.tau_bar, op.tau_bar, 1e-9)
    assert_close(op.K, op.G @ E, 1e-11)
    assert_close(op.E_psi, op.E_tied + op.tau_bar @ E, 1e-10)
    assert_close(op.Psi @ (one - op.E_psi), one, 1e-8)


@everywhere
def test_the_innovations_factorisation_and_its_inverse(name, rep):  # (3.5), (3.6), (3.54)
    model, q, _, _, op = case(name, rep)
    n = model.nv
    M = interpreted(gs.MassMatrix, model)(q, t=TIME)
    left = np.eye(n) + op.K @ op.Phi @ op.H
    assert_close(left.T @ op.D @ left, M, 1e-10)
    right = np.eye(n) - op.K @ op.Psi @ op.H
    assert_close(right @ left, np.eye(n), 1e-8)
    inverse = right @ np.linalg.solve(op.D, right.T)
    assert_close(inverse, op.inverse_mass_matrix(), 1e-12)
    assert_close(inverse @ M, np.eye(n), 1e-8)
    assert_close(op.Phi @ op.H @ right, op.Psi @ op.H, 1e-8)


@pytest.mark.parametrize("name", ZOO)
def test_3_54_is_the_derivative_of_the_accelerations_by_the_forces(name):
    model, q, v, a, op = case(name, "body")
    tau = interpreted(gs.InverseDynamics, model)(q, v, a, t=TIME)
    exact = interpreted(gs.ForwardDynamicsDerivatives, model)(q, v, tau, t=TIME).da_dtau
    assert_close(op.inverse_mass_matrix(), exact, 1e-8 * max(1.0, np.abs(exact).max()))


@pytest.mark.parametrize("name", ZOO)
def test_d_is_positive_and_has_the_determinant_of_the_mass_matrix(name):
    *_, op = case(name, "body")
    assert np.linalg.eigvalsh(op.D)[0] > 0.0
    assert_close(np.linalg.det(op.D), np.linalg.det(op.mass_matrix()), 1e-7)  # the factors are triangular


@pytest.mark.parametrize("name", ["tree", "free tree", "shaken tree", "weights", "springs"])
def test_without_ties_every_equation_is_the_printed_one(name):  # (3.7), (3.11), (3.12)
    *_, op = case(name, "absolute")
    assert not op.E_tied.any()
    assert_close(op.P, op.E_psi.T @ op.P @ op.E_psi + op.M, 1e-9)
    assert_close(op.E_psi, op.tau_bar @ op.E_phi, 1e-10)
    assert_close(op.K, op.G @ op.E_phi, 1e-11)
    blocks = np.abs(op.P).reshape(len(op.ports), 6, len(op.ports), 6).max(axis=(1, 3))
    assert_close(blocks, np.diag(np.diag(blocks)), 1e-12)


def test_ties_over_several_stages_are_held():
    for name in ("followers in a row", "motors far away"):
        *_, op = case(name, "body")
        assert op.E_tied.any()


@pytest.mark.parametrize("rep", REPRESENTATIONS)
def test_articulated_inertias_are_those_of_forward_dynamics(rep):
    """The acceleration of a port for a unit force there is (Psi H D^-1 H^T Psi^T), (3.62)."""
    for name in ("tree", "stiff drives", "followers in a row"):
        model, q, _, _, op = case(name, rep)
        body = next(port for port in reversed(op.ports) if port.endswith(".origin"))
        Y = op.Psi @ op.H @ np.linalg.solve(op.D, op.H.T @ op.Psi.T)
        at = 6 * op.ports.index(body)
        pose, form = interpreted(gs.ForwardKinematics, model, body)(q)[body], representation(rep)
        X = np.array([form.motion(Pose(pose.R, pose.p), e) for e in np.eye(6)]).T
        expected = X @ interpreted(gs.InverseOperationalInertia, model, [body])(q) @ X.T
        assert_close(Y[at : at + 6, at : at + 6], expected, 1e-8)


# ------------------------------------------------------------------------------------------------ rotors
def elastic_chain():
    """H04 3.2.1: each rotor on the link before its joint."""
    model = arm()
    for k, name in enumerate(("j1", "j2", "j3", "j4")):
        model = model.with_drive(name, gear_ratio=10.0 + k, rotor_inertia=0.01 * (1 + k), stiffness=300.0)
    return model


@pytest.mark.parametrize("rep", REPRESENTATIONS)
def test_rotors_couple_to_the_links_as_printed(rep):  # (3.25), (3.38)-(3.47)
    model = elastic_chain()
    n, m = 4, 4
    rng = np.random.default_rng(3)
    q = rng.uniform(-1.0, 1.0, model.nq)
    v, a = rng.uniform(-1.0, 1.0, (2, model.nv))
    op = gs.operators(model, q, v, representation=rep)
    found = gs.rotor_coupling(model, q, v)
    I, theta_dd = op.I_r, a[n:]
    assert op.rotors == tuple(f"j{k}_drive.rotor" for k in (1, 2, 3, 4))
    assert_close(op.T_r, np.eye(n + m)[n:], 1e-15)
    assert_close(op.S[:n], found.S, 1e-12)  # (3.41)
    assert_close(op.S[n:], np.zeros((m, m)), 1e-15)
    assert_close(np.tril(op.S[:n]), np.zeros((n, n)), 1e-12)  # (3.19)
    assert_close(op.C_rotor[:n], found.C_rotor, 1e-12)  # (3.42)
    assert_close(op.C_carrier, found.C_carrier, 1e-12)  # (3.46)
    A = op.circle_acceleration(a)
    assert_close(op.C_carrier + op.S.T @ a, I @ op.H_r.T @ A, 1e-12)  # (3.47)
    # tau = R u + I theta'' + H_r^T Phi H q'' I - H_r^T Phi Delta~ V I (3.45); the springs' torque u is R u at the rotor
    needed = gs.rnea(model, q, v, a)
    N = 10.0 + np.arange(m)
    u = 300.0 * (q[n:] / N - q[:n])
    assert_close(u / N + I @ theta_dd + op.S.T @ a + op.C_carrier, needed[n:], 1e-10)
    # and of the links (3.38)-(3.40): u = M q'' + C + G + S theta'' + C_rotor; what the springs do not give is needed
    rigid = gs.rnea(arm(), q[:n], v[:n], a[:n])
    assert_close(rigid + op.S[:n] @ theta_dd + op.C_rotor[:n] - u, needed[:n], 1e-10)


def test_h_r_shows_which_link_carries_each_rotor():  # (3.25)
    model = elastic_chain()
    op = gs.operators(model, np.zeros(model.nq), np.zeros(model.nv))
    E = op.restrict([f"j{k}.b" for k in (1, 2, 3, 4)])
    torque = E.E.T @ op.Phi.T @ op.H_r  # of each rotor, at the joints
    blocks = np.abs(torque.reshape(4, 6, 4)).max(axis=1) > 1e-12
    assert np.array_equal(blocks, np.triu(np.ones((4, 4)), 1))


@pytest.mark.parametrize("rep", REPRESENTATIONS)
def test_the_mass_matrix_of_stiff_drives_is_that_of_the_links_and_four_terms(rep):
    """M = H^T Phi^T M Phi H of links alone + S T_r + (S T_r)^T + T_r^T I T_r."""
    model, q, v, _, op = case("motors far away", rep)
    links_only = gs.crba(arm(), q)
    S = gs.operators(model, q, v, representation=rep).S
    assert_close(links_only + S @ op.T_r + (S @ op.T_r).T + op.T_r.T @ op.I_r @ op.T_r, gs.crba(model, q), 1e-11)


@pytest.mark.parametrize("name", ["stiff drives", "elastic drives", "couplings", "springs", "motors far away"])
def test_kinetic_energy_is_that_of_all_ports(name):
    model, q, v, _, op = case(name, "inertial")
    assert_close(0.5 * op.V @ op.M @ op.V, gs.kinetic_energy(model, q, v), 1e-11)


def test_something_that_moves_without_inertia_is_refused_when_it_is_let_go():
    rod = gs.Joint("hinge", "revolute", axis="x")
    model = gs.assemble("m", gs.chain("world", rod, gs.RigidBody("b", mass=1.0, inertia=(0.0, 0.1, 0.1))))
    op = gs.operators(model, [0.1], [0.0])
    with pytest.raises(gs.StateError, match="articulated inertia D about the axes of hinge is singular"):
        _ = op.P


def test_a_component_of_a_user_with_inertia_of_its_own_rate_is_in_the_operators():
    from gyrostat.spec.rotor import RotorInertia

    class OperatorWheel(RotorInertia):
        """A rotor by another name: rows are found for it, operators read them."""

    body = gs.RigidBody("body", mass=2.0, inertia=(0.3, 0.4, 0.5))
    spring = gs.Spring("spring", stiffness=1.0, ground=True)
    for kind in (RotorInertia, OperatorWheel):
        wheel = kind("wheel", inertia=0.1, axis="z")
        joined = [gs.connect("body", "wheel.carrier"), gs.connect("wheel.shaft", "spring.a")]
        model = gs.assemble("m", gs.chain("world", gs.Joint("j", "revolute", axis="z"), body), wheel, spring, *joined)
        q, v = np.ones(model.nq), np.ones(model.nv)
        op = gs.operators(model, q, v)
        assert_close(op.mass_matrix(), gs.crba(model, q), 1e-13)
        assert_differs(op.mass_matrix()[0, 1], 0.0, 0.05)
