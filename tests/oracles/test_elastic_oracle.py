"""The decisive oracle: motor torques of elastic inverse dynamics, put into explicit models in which every rotor is a
body on a joint of its own, give the prescribed motion of links and rotors."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gyrostat as gs
from tests.support.comparing import assert_close, central
from tests.support.examples import few

pin = pytest.importorskip("pinocchio", reason="pinocchio comes with the extra 'oracles'")

RESIDUAL = 1e-8


@dataclass(frozen=True)
class Rotor:
    """Of a drive: carrier (0 is the base), axis and place there."""

    carrier: int
    axis: np.ndarray
    place: np.ndarray
    inertia: float
    ratio: float
    stiffness: float
    cubic: float = 0.0


@dataclass(frozen=True)
class Link:
    """A joint and its body, on the body ``parent`` (0 is the base)."""

    parent: int
    R: np.ndarray
    p: np.ndarray
    kind: str
    axis: np.ndarray
    mass: float
    com: np.ndarray
    inertia: np.ndarray  # about the centre of mass, rotors included
    rotor: Rotor


def unit(rng):
    x = rng.normal(size=3)
    return x / np.linalg.norm(x)


def rotation(rng):
    R, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    return R * np.linalg.det(R)


def random_links(rng, n, branching=0.0, anywhere=False, aligned=False, prismatic=0.0, cubic=0.0):
    """``anywhere``: rotors on any body inboard of their joint, or in another branch, about any axis."""
    links = []
    for j in range(n):
        parent = j if rng.random() >= branching else int(rng.integers(0, j + 1))
        kind = "prismatic" if rng.random() < prismatic else "revolute"
        axis = np.eye(3)[2 if j % 2 == 0 else 1] if aligned else unit(rng)
        R = np.eye(3) if aligned else rotation(rng)
        points, masses = rng.uniform(-0.2, 0.2, (6, 3)), rng.uniform(0.2, 1.0, 6)
        com = masses @ points / masses.sum()
        r = points - com
        inertia = sum(m * ((x @ x) * np.eye(3) - np.outer(x, x)) for m, x in zip(masses, r, strict=True))
        rotor = Rotor(
            int(rng.integers(0, j + 1)) if anywhere else parent,
            unit(rng) if anywhere else R @ axis,
            rng.uniform(-0.1, 0.1, 3),
            float(rng.uniform(2e-4, 2e-3)),
            float(rng.choice([-1, 1]) * rng.uniform(5.0, 60.0)),
            float(rng.uniform(800.0, 4000.0)),
            float(cubic),
        )
        p = rng.uniform(-0.3, 0.3, 3)
        links.append(Link(parent, R, p, kind, axis, float(masses.sum()), com, inertia, rotor))
    return links


def body(k):
    return f"body{k}.origin" if k else "world.frame"


def gyrostat_model(links, **options):
    parts = []
    for k, link in enumerate(links, 1):
        parts += [
            gs.Displacement(f"shift{k}", translation=link.p, rotation=link.R),
            gs.Joint(f"joint{k}", link.kind, axis=link.axis),
            gs.RigidBody(f"body{k}", mass=link.mass, com=link.com, inertia=link.inertia),
            gs.connect(body(link.parent), f"shift{k}.a"),
            gs.connect(f"shift{k}.b", f"joint{k}.a"),
            gs.connect(f"joint{k}.b", f"body{k}.origin"),
        ]
    model = gs.assemble("explicit", *parts, gravity=(1.0, -2.0, -9.0))
    for k, link in enumerate(links, 1):
        r = link.rotor
        model = model.with_drive(
            f"joint{k}", rotor_inertia=r.inertia, gear_ratio=r.ratio, stiffness=r.stiffness, carrier=body(r.carrier),
            rotor_axis=r.axis, spring={"cubic": r.cubic} if r.cubic else None, **options,
        )  # fmt: skip
    return model


@dataclass
class Explicit:
    """Pinocchio's model with 2 n joints. Inertia of the rotors is taken out of their carriers; each joint's rotor is
    added before its link wherever its carrier is there already."""

    links: list
    joint: dict = field(default_factory=dict)
    rotor: dict = field(default_factory=dict)

    def __post_init__(self):
        self.model = pin.Model()
        self.model.gravity.linear = np.array([1.0, -2.0, -9.0])
        bodies = {k: pin.Inertia(link.mass, link.com, link.inertia) for k, link in enumerate(self.links, 1)}
        for link in self.links:
            if link.rotor.carrier:
                at, Y = self._rotor(link.rotor)
                numbers = bodies[link.rotor.carrier].toDynamicParameters() - at.act(Y).toDynamicParameters()
                bodies[link.rotor.carrier] = pin.Inertia.FromDynamicParameters(numbers)
        for k, link in enumerate(self.links, 1):
            if link.rotor.carrier < k:
                self._add_rotor(k, link.rotor)
            motion = pin.JointModelRevoluteUnaligned if link.kind == "revolute" else pin.JointModelPrismaticUnaligned
            parent = self.joint[link.parent] if link.parent else 0
            self.joint[k] = self.model.addJoint(parent, motion(link.axis), pin.SE3(link.R, link.p), f"joint{k}")
            self.model.appendBodyToJoint(self.joint[k], bodies[k], pin.SE3.Identity())
        for k, link in enumerate(self.links, 1):
            if link.rotor.carrier >= k:
                self._add_rotor(k, link.rotor)
        self.data = self.model.createData()

    @staticmethod
    def _rotor(rotor):
        """Placement with z along the axis; a disc of 50 g."""
        z = rotor.axis
        x = np.cross(z, np.eye(3)[np.argmin(np.abs(z))])
        x /= np.linalg.norm(x)
        at = pin.SE3(np.column_stack([x, np.cross(z, x), z]), rotor.place)
        return at, pin.Inertia(0.05, np.zeros(3), np.diag([0.6, 0.6, 1.0]) * rotor.inertia)

    def _add_rotor(self, k, rotor):
        at, Y = self._rotor(rotor)
        carrier = self.joint[rotor.carrier] if rotor.carrier else 0
        self.rotor[k] = self.model.addJoint(carrier, pin.JointModelRZ(), at, f"rotor{k}")
        self.model.appendBodyToJoint(self.rotor[k], Y, pin.SE3.Identity())

    def places(self):
        n = len(self.links)
        at = [self.model.idx_vs[self.joint[k]] for k in range(1, n + 1)]
        return at + [self.model.idx_vs[self.rotor[k]] for k in range(1, n + 1)]

    def accelerations(self, q, v, tau_motor):
        """Of links, then rotors; the springs are ours."""
        n, at = len(self.links), self.places()
        N = np.array([link.rotor.ratio for link in self.links])
        d = q[n:] / N - q[:n]
        u = np.array([link.rotor.stiffness for link in self.links]) * d
        u = u + np.array([link.rotor.cubic for link in self.links]) * d**3
        tau, Q, V = np.zeros(2 * n), np.zeros(2 * n), np.zeros(2 * n)
        Q[at], V[at], tau[at] = q, v, np.concatenate([u, tau_motor - u / N])
        return pin.aba(self.model, self.data, Q, V, tau)[at]

    def mass_matrix(self, q):
        """By columns of inverse dynamics: Pinocchio's own takes subtrees to be numbered one after the other."""
        Q, at, zero = np.zeros(len(q)), self.places(), np.zeros(len(q))
        Q[at] = q
        rest = pin.rnea(self.model, self.data, Q, zero, zero)
        columns = [pin.rnea(self.model, self.data, Q, zero, unit) - rest for unit in np.eye(len(q))]
        return np.array(columns).T[np.ix_(at, at)]


def motion(n, seed=0):
    """A smooth motion and its derivatives: t -> (order + 1, n)."""
    rng = np.random.default_rng([seed, 5])
    A, w, phase = rng.uniform(0.1, 0.4, (3, n)), rng.uniform(0.5, 2.0, (3, n)), rng.uniform(0, 6, (3, n))

    def derivatives(t, order):
        rows = [np.sum(A * w**k * np.sin(w * t + phase + k * np.pi / 2), axis=0) for k in range(order + 1)]
        return np.array(rows)

    return derivatives


def residual(model, solver, explicit, D):
    """Relative, of the accelerations of links and rotors, in both explicit models; and the equations themselves."""
    found = solver(D)
    q, v = np.concatenate([D[0], found.theta]), np.concatenate([D[1], found.theta_dot])
    want, n = np.concatenate([D[2], found.theta_ddot]), len(D[0])
    forces = np.concatenate([np.zeros(n), found.tau_motor])
    ours = gs.ForwardDynamics(model, mode="interpret")(q, v, forces)
    theirs = explicit.accelerations(q, v, found.tau_motor)
    return max(np.abs(x - want).max() / np.abs(want).max() for x in (ours, theirs))


@settings(max_examples=few(15), deadline=None)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(1, 8),
    branching=st.sampled_from([0.0, 0.5, 1.0]),
    anywhere=st.booleans(),
    prismatic=st.sampled_from([0.0, 0.3]),
    cubic=st.sampled_from([0.0, 1e5]),
)
def test_torques_for_random_trees_give_the_prescribed_motion(seed, n, branching, anywhere, prismatic, cubic):
    rng = np.random.default_rng(seed)
    links = random_links(rng, n, branching, anywhere, prismatic=prismatic, cubic=cubic)
    model = gyrostat_model(links)
    try:
        solver = gs.ElasticInverseDynamics(model, mode="interpret")
    except gs.SpecError as error:
        assert anywhere  # a rotor in another branch may be moved by what it moves
        assert "in a circle" in str(error) or "its own joint" in str(error)
        return
    assert residual(model, solver, Explicit(links), motion(n, seed)(0.4, solver.order)) <= RESIDUAL


def chain(n, seed=1):
    return random_links(np.random.default_rng(seed), n)


def perpendicular(n, seed=2):
    return random_links(np.random.default_rng(seed), n, aligned=True)


@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_general_axes_need_two_derivatives_for_every_joint_and_two_more(n):
    """H04 3.2.1.2: the equations are differentiated 2 N times, the joint coordinates 2 (N + 1) times."""
    solver = gs.ElasticInverseDynamics(gyrostat_model(chain(n)))
    assert solver.order == 2 * (n + 1)
    assert list(solver.orders.values()) == [2 * (k + 1) for k in range(1, n + 1)]


@pytest.mark.slow
@pytest.mark.parametrize("make", [chain, perpendicular])
def test_seven_axes_give_the_prescribed_motion_to_1e_8(make):
    links = make(7)
    model = gyrostat_model(links)
    solver, explicit = gs.ElasticInverseDynamics(model), Explicit(links)
    assert solver.order == (16 if make is chain else 10)
    path = motion(7)
    for t in (0.0, 0.7, 1.9):
        assert residual(model, solver, explicit, path(t, solver.order)) <= RESIDUAL


def test_the_arm_with_perpendicular_axes_gives_the_prescribed_motion_and_its_derivatives():
    model, path = gs.robots.elastic_arm(), motion(7)
    solver = gs.ElasticInverseDynamics(model, mode="interpret")
    D = path(0.3, 12)  # two orders more than are needed
    found = solver(D)
    q, v = np.concatenate([D[0], found.theta]), np.concatenate([D[1], found.theta_dot])
    a = gs.aba(model, q, v, np.concatenate([np.zeros(7), found.tau_motor]))
    assert_close(a / np.abs(a).max(), np.concatenate([D[2], found.theta_ddot]) / np.abs(a).max(), RESIDUAL)
    for value, slope in (("theta", "theta_dot"), ("theta_dot", "theta_ddot")):
        rate = central(lambda t, name=value: getattr(solver(path(t, 12)), name), 0.3, 1e-2)
        assert_close(rate, getattr(found, slope), 1e-9)


def test_the_step_of_h04_5_1_at_order_12():
    """Seven axes, all through 2 rad, a filter of order 16: links and rotors move as prescribed."""
    from gyrostat.simulate.trajectories import filtered_step

    model = gs.robots.elastic_arm()
    solver, step = gs.ElasticInverseDynamics(model, mode="interpret"), filtered_step(np.zeros(7), np.full(7, 2.0), 2.5)
    for t in (0.4, 0.8, 1.1, 1.6):
        D = step.derivatives(t, 12)
        found = solver(D)
        q, v = np.concatenate([D[0], found.theta]), np.concatenate([D[1], found.theta_dot])
        want = np.concatenate([D[2], found.theta_ddot])
        a = gs.aba(model, q, v, np.concatenate([np.zeros(7), found.tau_motor]))
        assert np.abs(a - want).max() <= RESIDUAL * np.abs(want).max()


@settings(max_examples=few(10), deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(1, 8), branching=st.sampled_from([0.0, 0.6]))
def test_forward_dynamics_of_elastic_trees_equal_the_explicit_model(seed, n, branching):
    rng = np.random.default_rng(seed)
    links = random_links(rng, n, branching, anywhere=True, prismatic=0.2, cubic=1e4)
    q, v, tau = rng.uniform(-1, 1, 2 * n), rng.normal(size=2 * n), rng.normal(size=n)
    q[n:] = np.array([link.rotor.ratio for link in links]) * (q[:n] + rng.normal(size=n) * 1e-2)
    a = gs.ForwardDynamics(gyrostat_model(links), mode="interpret")(q, v, np.concatenate([np.zeros(n), tau]))
    want = Explicit(links).accelerations(q, v, tau)
    assert_close(a / np.abs(want).max(), want / np.abs(want).max(), 1e-9)


@pytest.mark.slow
def test_motor_torques_drive_the_elastic_arm_along_the_programme():
    """Forward in time, without feedback: the 2 n model stays on the prescribed motion."""
    model, path, h = gs.robots.elastic_arm(), motion(7), 1e-4
    solver = gs.ElasticInverseDynamics(model)
    times = np.arange(801) * (h / 2)
    tau = solver(np.array([path(t, solver.order) for t in times])).tau_motor
    D, first = path(0.0, solver.order), solver(path(0.0, solver.order))
    x = np.concatenate([D[0], first.theta, D[1], first.theta_dot])

    def rate(x, tau):
        return np.concatenate([x[14:], gs.aba(model, x[:14], x[14:], np.concatenate([np.zeros(7), tau]))])

    for k in range(0, 800, 2):
        k1 = rate(x, tau[k])
        k2 = rate(x + h / 2 * k1, tau[k + 1])
        k3 = rate(x + h / 2 * k2, tau[k + 1])
        k4 = rate(x + h * k3, tau[k + 2])
        x = x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    last = solver(path(times[-1], solver.order))
    assert_close(x[:7], path(times[-1], 0)[0], 1e-7)
    assert_close(x[7:14], last.theta, 1e-6)


def test_s_of_q_is_a_block_of_the_explicit_mass_matrix():
    links = random_links(np.random.default_rng(4), 5, 0.4, anywhere=True)
    model, explicit = gyrostat_model(links), Explicit(links)
    q = np.random.default_rng(0).uniform(-2, 2, 10)
    M = explicit.mass_matrix(q)
    assert_close(gs.crba(model, q), M, 1e-12)
    assert_close(gs.rotor_coupling(model, q).S / 1e-3, M[:5, 5:] / 1e-3, 1e-12)
