"""The stacked operators of H04 2.3 and 3.1 hold what is printed there, or what docs/theory/errata.md says instead.

The operators are read off the rows of the recursions, so that an identity that holds for random trees tests both. The
equations of a single gyrostat (H04 2.1) are checked against Newton's and Euler's laws, differentiated numerically.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache, cached_property

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gyrostat as gs
from gyrostat.algorithms.matrices.operators import Operators
from gyrostat.spatial.inertia import SpatialInertia
from gyrostat.spatial.representation import Pose, representation
from tests.support.comparing import REPRESENTATIONS, assert_close, assert_differs, central, rate
from tests.support.examples import few
from tests.support.random_models import random_state

# ------------------------------------------------------------------------------------------------ mechanisms and states
DRIVEN = gs.HarmonicMotion(
    offset=(0.3, -0.2, 0.1),
    velocity=(0.5, 0.1, -0.4),
    amplitude=(0.2, 0.1, -0.3),
    frequency=0.7,
    phase=0.4,
    axis=(0.0, 0.6, 0.8),
    rate=0.9,
    swing=0.5,
    swing_frequency=0.6,
)
ONE_DOF = ("revolute", "continuous", "prismatic", "helical")  # what H04 3.1 assumes, (iv)
ZOO = {
    "fixed": gs.robots.tree(1, bodies=6),
    "fixed, reversed": gs.robots.tree(2, bodies=6, reversed_share=0.5, momentum=True),
    "free": gs.robots.tree(3, bodies=4, base="free", momentum=True),
    "free, reversed": gs.robots.tree(4, bodies=5, base="free", reversed_share=0.5, branching=0.8),
    "driven": gs.robots.tree(5, bodies=5, base=DRIVEN, momentum=True),
    "driven, reversed": gs.robots.tree(6, bodies=5, base=DRIVEN, reversed_share=0.5),
    "far side only": gs.robots.tree(9, bodies=5, kinds=("helical", "free", "universal", "planar"), reversed_share=1.0),
    "weights": gs.robots.tree(7, bodies=4, gravity=gs.UniformGravity(g=(1.0, 2.0, -9.0), treat_as="field")),
    "one-dof": gs.robots.tree(8, bodies=6, kinds=ONE_DOF, branching=0.7),
}
TIME = 0.37


@dataclass(frozen=True)
class Case:
    """A mechanism of the zoo at a random state, in one representation."""

    name: str
    representation: str
    model: gs.Model = field(repr=False)
    q: np.ndarray
    v: np.ndarray
    a: np.ndarray

    @cached_property
    def op(self) -> Operators:
        return gs.operators(self.model, self.q, self.v, representation=self.representation, t=TIME)

    @cached_property
    def Phi(self) -> np.ndarray:
        return self.op.Phi

    @cached_property
    def solver(self) -> gs.InverseDynamics:
        return gs.InverseDynamics(self.model, self.representation, mode="interpret")

    @cached_property
    def motions(self):
        return gs.ForwardKinematics(self.model, rules=(), mode="interpret")(self.q, self.v, self.a, t=TIME)

    def rnea(self, v=None, a=None) -> np.ndarray:
        v, a = (self.v if v is None else v), (self.a if a is None else a)
        return self.solver(self.q, v, a, t=TIME)

    def pose(self, port: str) -> Pose:
        return Pose(self.motions[port].R, self.motions[port].p)

    def local_motions(self, stacked: np.ndarray) -> dict[str, np.ndarray]:
        """Stacked motions in each port's own axes."""
        rep = representation(self.representation)
        return {
            n: rep.motion_local(self.pose(n), V) for n, V in zip(self.op.ports, stacked.reshape(-1, 6), strict=True)
        }

    def local_forces(self, stacked: np.ndarray) -> dict[str, np.ndarray]:
        rep = representation(self.representation)
        return {n: rep.force_local(self.pose(n), f) for n, f in zip(self.op.ports, stacked.reshape(-1, 6), strict=True)}


@cache
def case(name: str, in_representation: str) -> Case:
    model = ZOO[name]
    return Case(name, in_representation, model, *random_state(model, np.random.default_rng(len(name))))


everywhere = pytest.mark.parametrize(
    "c", [pytest.param((n, r), id=f"{n} {r}") for n in ZOO for r in REPRESENTATIONS], indirect=True
)


@pytest.fixture
def c(request) -> Case:
    return case(*request.param)


def block(matrix: np.ndarray, i: int, j: int) -> np.ndarray:
    return matrix[6 * i : 6 * i + 6, 6 * j : 6 * j + 6]


def skew(p):
    return np.array([[0, -p[2], p[1]], [p[2], 0, -p[0]], [-p[1], p[0], 0]])


def phi_D(l):
    return np.block([[np.eye(3), np.zeros((3, 3))], [-skew(l), np.eye(3)]])


def phi_R(R):
    return np.block([[R, np.zeros((3, 3))], [np.zeros((3, 3)), R]])


def tilde(X):
    return np.block([[skew(X[:3]), np.zeros((3, 3))], [skew(X[3:]), skew(X[:3])]])


def diagonal(blocks) -> np.ndarray:
    blocks = list(blocks)
    out = np.zeros((6 * len(blocks), 6 * len(blocks)))
    for k, b in enumerate(blocks):
        out[6 * k : 6 * k + 6, 6 * k : 6 * k + 6] = b
    return out


def test_the_zoo_holds_every_kind_of_joint_and_both_mountings():
    met = {(component["kind"], component["far"])
           for model in ZOO.values() for component in gs.network(model, rules=()).components
           if component.kind is gs.Joint}  # fmt: skip
    assert {kind for kind, _ in met} == set(gs.JOINT_KINDS)
    assert {kind for kind, far in met if far} >= {"universal", "planar", "spherical", "free", "helical", "cylindrical"}
    assert any(
        body.momentum != (0.0, 0.0, 0.0) for m in ZOO.values() for body in m.entities if hasattr(body, "momentum")
    )


# ------------------------------------------------------------------------------------------------ topology
@everywhere
def test_connectivity_is_symmetric_has_no_diagonal_and_open_ports_have_zero_rows(c):  # (2.28)
    C = c.op.C
    assert np.array_equal(C, C.T)
    assert not C.diagonal().any()
    assert set(np.unique(C)) <= {0.0, 1.0}
    connected = {port for group in c.model.wiring.groups for port in group}
    for k, port in enumerate(c.op.ports):
        assert C[k].any() == (tuple(port.rsplit(".", 1)) in connected)


@everywhere
def test_connectivity_of_the_network_is_that_of_the_specification(c):
    told = gs.connectivity(c.model)
    order = [told.ports.index(port) for port in c.op.ports]
    assert np.array_equal(c.op.C, told.C[np.ix_(order, order)])
    names = [component.name for component in gs.network(c.model, rules=()).components]
    entities = [told.entities.index(name) for name in names]
    assert np.array_equal(c.op.C_plus, told.C_plus[np.ix_(entities, entities)])
    assert np.array_equal(c.op.C_plus, c.op.C_plus.T)


@everywhere
def test_in_and_outports_span_the_space_of_ports(c):  # (2.30)
    N = len(c.op.ports)
    basis = np.hstack([c.op.O, c.op.I])
    assert np.array_equal(basis.T @ basis, np.eye(N))
    assert np.array_equal(c.op.O_hat + c.op.I_hat, np.eye(6 * N))
    assert np.array_equal(c.op.O_hat @ c.op.O_hat, c.op.O_hat)
    assert not (c.op.O_hat @ c.op.I_hat).any()


@everywhere
def test_the_transfer_matrix_takes_messages_from_outports_to_the_inports_they_feed(c):  # (2.31)
    net = gs.network(c.model, rules=())
    message = np.arange(6.0 * len(net.ports)).reshape(-1, 6)
    arrived = (c.op.C_up @ message.ravel()).reshape(-1, 6)
    for port in range(len(net.ports)):
        expected = message[net.source[port]] if port in net.source else np.zeros(6)
        assert np.array_equal(arrived[port], expected)
    assert_close(c.op.C_up, c.op.I_hat @ np.kron(c.op.C, np.eye(6)) @ c.op.O_hat, 0.0)


@everywhere
def test_the_shift_operator_has_a_block_from_each_inport_to_its_outports_only(c):  # (2.32), (2.33)
    net = gs.network(c.model, rules=())
    E = c.op.E_phi
    assert_close(E, c.op.T_up + c.op.C_up, 0.0)
    inside = {(o, k.inport) for k in net.components if k.inport is not None for o in k.outports.values()}
    across = set(net.source.items())
    filled = np.abs(E).reshape(len(net.ports), 6, len(net.ports), 6).sum(axis=(1, 3)) > 0.0
    assert {(i, j) for i, j in np.argwhere(filled)} == inside | across
    for i, j in across:
        assert np.array_equal(block(E, i, j), np.eye(6))


@everywhere
def test_phi_of_every_component_is_the_printed_one_and_its_way_back_is_the_inverse(c):  # (2.18), (2.22), <A>: 1
    for component in gs.network(c.model, rules=()).components:
        for out in component.outports.values() if component.inport is not None else ():
            x, y = c.pose(c.op.ports[out]), c.pose(c.op.ports[component.inport])
            l = x.p - y.p  # r_{y,x} in the axes of the world
            expected = {
                "inertial": phi_D(l),
                "body": phi_R(x.R.T @ y.R) @ phi_D(y.R.T @ l),
                "absolute": np.eye(6),
            }[c.representation]
            assert_close(block(c.op.T_phi, out, component.inport), expected)
            back = block(c.op.T_phi, component.inport, out)
            assert_close(back @ expected, np.eye(6))


def test_the_shift_operator_of_the_printed_example_has_the_printed_pattern():
    """H04 Figure 2.12: base, two entities of two ports. The text calls the outports 0, 2, 4, the matrix O 1, 3, 5."""
    links = [gs.RigidBody(f"link{k}", mass=1.0, frames={"tip": (0.1, 0.2, 0.3)}) for k in (1, 2)]
    op = gs.operators(gs.assemble("example", gs.chain("world", *links)), [], [])
    assert op.ports == ("world.frame", "link1.origin", "link1.tip", "link2.origin", "link2.tip")
    C = np.zeros((5, 5))
    C[0, 1] = C[1, 0] = C[2, 3] = C[3, 2] = 1.0
    assert np.array_equal(op.C, C)
    outports, inports = (1, 3, 5), (2, 4)  # numbered from 1, as the ports are
    assert np.array_equal(op.O, np.eye(5)[:, [k - 1 for k in outports]])
    assert np.array_equal(op.I, np.eye(5)[:, [k - 1 for k in inports]])
    pattern = np.array([[block(op.E_phi, i, j).any() for j in range(5)] for i in range(5)])
    assert np.array_equal(pattern, np.eye(5, k=-1, dtype=bool))
    pattern = np.array([[block(op.T_phi, i, j).any() for j in range(5)] for i in range(5)])
    assert {(i + 1, j + 1) for i, j in np.argwhere(pattern)} == {(2, 3), (3, 2), (4, 5), (5, 4)}


# ------------------------------------------------------------------------------------------------ recursions
@everywhere
def test_the_shift_operator_is_nilpotent_and_phi_is_its_sum(c):  # (2.35) = (2.36)
    E, power, total, stages = c.op.E_phi, np.eye(len(c.op.V)), np.zeros_like(c.op.E_phi), 0
    while power.any():
        total, power, stages = total + power, power @ E, stages + 1
        assert stages <= len(c.op.ports)
    assert_close(c.Phi, total)
    assert_close(c.Phi @ (np.eye(len(E)) - E), np.eye(len(E)))


def test_the_sum_of_2_35_needs_a_term_for_every_stage_and_not_for_every_joint():
    op = gs.operators(gs.robots.chain(3), np.ones(3), np.ones(3))
    terms = [np.linalg.matrix_power(op.E_phi, k) for k in range(len(op.ports))]
    assert_differs(sum(terms[: 3 + 1]), op.Phi)  # N = 3 joints
    assert_differs(sum(terms[:-1]), op.Phi)
    assert_close(sum(terms), op.Phi)  # up to N_p - 1, exactly so for a chain


@everywhere
def test_the_velocity_recursion_has_the_explicit_solution(c):  # (2.34), (2.37)
    out = c.op.O_hat @ c.op.Delta
    assert_close(c.op.V, c.op.E_phi @ c.op.V + out)
    assert_close(c.op.V, c.Phi @ out)
    assert_close(c.op.Delta, out)


@everywhere
def test_velocities_are_phi_h_v_and_those_of_forward_kinematics(c):
    expected = c.Phi @ c.op.H @ c.v
    if c.name.startswith("driven"):
        assert_differs(c.op.V, expected)
        expected = c.Phi @ (c.op.H @ c.v + c.op.V_base)
    assert_close(c.op.V, expected)
    for name, V in c.local_motions(c.op.V).items():
        assert_close(V, c.motions[name].V)


@pytest.mark.parametrize("rep", REPRESENTATIONS)
@pytest.mark.parametrize("name", ["fixed, reversed", "driven"])
@given(data=st.data())
@settings(max_examples=few(8), deadline=None)
def test_the_recursion_can_be_restricted_to_any_ports(name, rep, data):  # (2.38)-(2.40)
    c = case(name, rep)
    ports = data.draw(st.lists(st.sampled_from(c.op.ports), unique=True))
    part = c.op.restrict(ports)
    assert part.ports == tuple(ports)
    assert_close(part.V, part.Phi @ part.Delta)
    assert_close(part.Phi, part.E.T @ c.Phi @ part.E)
    chosen = [c.op.ports.index(port) for port in ports]
    assert_close(part.V, c.op.V.reshape(-1, 6)[chosen].ravel())
    # (2.40) word for word
    E_perp = np.kron(np.eye(len(c.op.ports))[:, [k for k in range(len(c.op.ports)) if k not in chosen]], np.eye(6))
    correction = np.linalg.inv(part.Phi) @ part.E.T @ c.Phi @ E_perp @ E_perp.T
    assert_close(part.Delta, (part.E.T + correction) @ c.op.O_hat @ c.op.Delta)


@everywhere
def test_restricted_to_outports_the_recursion_takes_two_shifts_at_a_time(c):  # (2.41)
    part = c.op.restrict([port for k, port in enumerate(c.op.ports) if c.op.O[k].any()])
    O = np.kron(c.op.O, np.eye(6))
    E2 = O.T @ c.op.E_phi @ c.op.E_phi @ O
    assert_close(part.E, O, 0.0)
    assert_close(part.Delta, O.T @ c.op.Delta)
    assert_close(part.V, E2 @ part.V + part.Delta)
    assert_close(part.Phi, np.linalg.inv(np.eye(len(E2)) - E2))


def test_a_restriction_to_unknown_or_repeated_ports_is_refused():
    op = gs.operators(gs.robots.pendulum(), [0.1], [0.2])
    with pytest.raises(gs.FrameError, match=r"no port 'hinge\.c'. Hint: did you mean .*'hinge\.[ab]'"):
        op.restrict(["hinge.c"])
    with pytest.raises(gs.FrameError, match=r"port 'hinge\.a' is named twice"):
        op.restrict(["hinge.a", "hinge.b", "hinge.a"])
    assert op.restrict("hinge.b").ports == ("hinge.b",)


# ------------------------------------------------------------------------------------------------ dynamics
@everywhere
def test_the_closed_form_of_inverse_dynamics_is_the_recursion(c):  # (3.2)
    tau = c.rnea()
    assert np.abs(c.op.rnea(c.a) - tau).max() <= 1e-11 * np.abs(tau).max()


@everywhere
def test_the_mass_matrix_is_what_inverse_dynamics_makes_of_unit_accelerations(c):  # (3.3)
    M = c.op.mass_matrix()
    rest = c.rnea(a=np.zeros(c.model.nv))
    columns = [c.rnea(a=unit) - rest for unit in np.eye(c.model.nv)]
    assert_close(M, np.stack(columns, axis=1))
    assert_close(M, M.T, 1e-13)
    lowest = -1e-13 if c.model.context.base == "free" else 1e-6  # a free base without mass of its own moves for nothing
    assert np.linalg.eigvalsh(M).min() > lowest
    assert_close(M, c.op.H.T @ c.Phi.T @ c.op.M @ c.Phi @ c.op.H, 1e-13)


@pytest.mark.parametrize("name", ZOO)
def test_kinetic_energy_is_the_same_in_joint_space_and_over_ports(name):
    for rep in REPRESENTATIONS:
        c = case(name, rep)
        V = c.op.V - c.Phi @ c.op.V_base  # without the prescribed motion of the base
        assert_close(V @ c.op.M @ V, c.v @ c.op.mass_matrix() @ c.v)


@everywhere
def test_stacked_inertia_is_symmetric_and_sits_at_the_inports_of_bodies(c):
    M = c.op.M
    assert_close(M, M.T, 1e-14)
    off_diagonal = M - diagonal(block(M, k, k) for k in range(len(c.op.ports)))
    assert not off_diagonal.any()
    inports = [k.inport for k in gs.network(c.model, rules=()).components if k.kind is gs.RigidBody]
    assert [k for k in range(len(c.op.ports)) if block(M, k, k).any()] == sorted(inports)


@everywhere
def test_accelerations_of_table_3_8_are_those_of_forward_kinematics(c):
    circle = c.op.circle_acceleration(c.a)
    for name, A in c.local_motions(circle).items():
        assert_close(A, c.motions[name].A)
    if c.representation == "inertial":  # the row <I> adds Omega~ V: rates of velocities in the world
        for name, A in zip(c.op.ports, (circle + c.op.Omega_tilde @ c.op.V).reshape(-1, 6), strict=True):
            assert_close(A, c.motions[name].acceleration("aligned"))


@everywhere
def test_forces_of_table_3_8_are_those_of_the_recursion_at_every_port(c):
    told = c.solver.port_forces(c.q, c.v, c.a, t=TIME)
    found = c.local_forces(c.op.forces(c.a))
    assert set(found) == set(told)
    for name, f in found.items():
        assert_close(f, told[name])


@pytest.mark.parametrize("rep", REPRESENTATIONS)
def test_table_3_8_holds_word_for_word_for_joints_of_one_degree_of_freedom(rep):
    c = case("one-dof", rep)
    op, Phi, V = c.op, c.Phi, c.op.V
    Delta_tilde = diagonal(tilde(D) for D in (op.H @ c.v).reshape(-1, 6))
    V_tilde = diagonal(tilde(X) for X in V.reshape(-1, 6))
    Omega_tilde = diagonal(tilde(np.r_[X[:3], 0, 0, 0]) for X in V.reshape(-1, 6))
    for mine, theirs in ((Delta_tilde, op.Delta_tilde), (V_tilde, op.V_tilde), (Omega_tilde, op.Omega_tilde)):
        assert_close(theirs, mine, 0.0)
    A = Phi @ (op.H @ c.a - Delta_tilde @ V)
    if rep == "inertial":
        A = A + Omega_tilde @ V
        f = Phi.T @ (op.M @ (A + op.A_gravity) - (op.M @ Omega_tilde + V_tilde.T @ op.M) @ V)
    else:
        f = Phi.T @ (op.M @ (A + op.A_gravity) - V_tilde.T @ op.M @ V)
    assert_close(f, op.forces(c.a))
    assert_close(op.H.T @ f, c.rnea())
    # (3.2), the same in all representations
    inner = op.M @ (Phi @ (op.H @ c.a - Delta_tilde @ V) + op.A_gravity) - V_tilde.T @ op.M @ V
    assert_close(op.H.T @ Phi.T @ inner, c.rnea())


@pytest.mark.parametrize("kind", ["universal", "planar"])
@pytest.mark.parametrize("rep", REPRESENTATIONS)
def test_joints_whose_axes_move_need_the_rate_of_h_in_table_3_8(kind, rep):
    """H04 3.1 assumes joints of one degree of freedom, where H is constant in its frame; these two are beyond it."""
    model = gs.robots.tree(11, bodies=2, kinds=(kind,))
    q, v, a = random_state(model, np.random.default_rng(1))
    op = gs.operators(model, q, v, representation=rep)
    tau = gs.InverseDynamics(model, mode="interpret")(q, v, a)
    assert_close(op.rnea(a), tau)
    f = op.M @ (op.Phi @ (op.H @ a - op.Delta_tilde @ op.V) + op.A_gravity) - op.V_tilde.T @ op.M @ op.V
    assert_differs(op.H.T @ op.Phi.T @ f, tau)
    simple = gs.robots.tree(11, bodies=2, kinds=("cylindrical",))
    q, v, _ = random_state(simple, np.random.default_rng(1))
    assert np.abs(gs.operators(simple, q, v, representation=rep).H_rate).max() < 1e-13


@pytest.mark.parametrize("rep", REPRESENTATIONS)
def test_gravity_reaches_every_port_as_an_acceleration_of_minus_g(rep):
    """Tables 3.4 and 3.6 add V'_g = (0, g): their g is the acceleration of the world, opposite to the field."""
    c = case("one-dof", rep)
    g = np.array(c.model.context.gravity.g)
    for name, A in c.local_motions(c.op.A_gravity).items():
        assert_close(A, np.r_[np.zeros(3), c.pose(name).R.T @ -g])
    pendulum = gs.robots.pendulum(mass=2.0, length=0.5)  # hangs down: a positive angle needs a positive torque
    op = gs.operators(pendulum, [0.3], [0.0], representation=rep)
    assert_close(op.rnea([0.0]), [2.0 * 9.81 * 0.25 * np.sin(0.3)])
    printed = op.H.T @ op.Phi.T @ op.M @ -op.A_gravity
    assert_close(printed, [-2.0 * 9.81 * 0.25 * np.sin(0.3)])


@pytest.mark.parametrize("rep", REPRESENTATIONS)
def test_bodies_that_feel_their_weight_have_no_gravity_in_the_acceleration(rep):
    c = case("weights", rep)
    assert not c.op.A_gravity.any()
    g = np.array(c.model.context.gravity.g)
    for body in (e for e in c.model.entities if isinstance(e, gs.RigidBody)):
        f = c.local_forces(c.op.F_given)[f"{body.name}.origin"]
        at_origin = c.pose(f"{body.name}.origin").R.T @ g * body.mass
        assert_close(f, -np.r_[np.cross(body.com, at_origin), at_origin])


@pytest.mark.parametrize("rep", REPRESENTATIONS)
@pytest.mark.parametrize("name", ["fixed, reversed", "free", "driven"])
def test_internal_momentum_adds_minus_v_tilde_transposed_times_itself(name, rep):
    c = case(name, rep)
    plain = c.model.replace({f"{b.name}.momentum": (0, 0, 0) for b in c.model.entities if isinstance(b, gs.RigidBody)})
    without = gs.operators(plain, c.q, c.v, representation=rep, t=TIME)
    V_tilde, added = c.op.V_tilde, c.op.F_bias - without.F_bias
    assert_close(without.F_bias, -V_tilde.T @ without.M @ c.op.V)
    assert_differs(c.op.F_bias, without.F_bias)
    for component in gs.network(c.model, rules=()).components:
        if component.kind is gs.RigidBody:
            k = component.inport
            l = representation(rep).force(c.pose(c.op.ports[k]), np.r_[component["momentum"], np.zeros(3)])
            assert_close(added[6 * k : 6 * k + 6], -block(V_tilde, k, k).T @ l)
    tau_without = gs.InverseDynamics(plain, rep, mode="interpret")(c.q, c.v, c.a, t=TIME)
    assert_close(c.rnea() - tau_without, c.op.H.T @ c.Phi.T @ added)


@pytest.mark.parametrize("rep", REPRESENTATIONS)
def test_the_rate_of_stacked_inertia_follows_the_velocities(rep):
    """d<I>M/dt = Omega~ M - M Omega~, d<A>M/dt = -V~^T M - M V~, d<B>M/dt = 0 along a motion of a whole mechanism."""
    c = case("one-dof", rep)
    found = central(lambda s: gs.operators(c.model, c.q + s * c.v, c.v, representation=rep).M, 0.0, h=2e-3)
    M, V_tilde, Omega_tilde = c.op.M, c.op.V_tilde, c.op.Omega_tilde
    expected = {
        "inertial": Omega_tilde @ M - M @ Omega_tilde,
        "absolute": -V_tilde.T @ M - M @ V_tilde,
        "body": np.zeros_like(M),
    }[rep]
    assert_close(found, expected, 1e-9)


# ------------------------------------------------------------------------------------------------ one gyrostat
class Gyrostat:
    """A body on a motion that is an analytic function of time, by first principles: momenta, and their rates.

    ``c`` is its centre of mass, ``x`` another frame fixed to it. Axes of the world, unless the name says local.
    """

    m = 1.7
    J = np.array([[0.30, 0.02, -0.01], [0.02, 0.25, 0.03], [-0.01, 0.03, 0.20]])  # about c, axes of c
    l = np.array([0.4, -0.7, 0.5])  # internal momentum, axes of c
    x_in_c = np.array([0.3, -0.5, 0.2])
    R_cx = None  # set below
    u, w = np.array([0.6, 0.0, 0.8]), np.array([0.0, 1.0, 0.0])

    def angles(self, t):
        return np.sin(1.3 * t) + 0.4, 0.7 * t * t - 0.2, 1.3 * np.cos(1.3 * t), 1.4 * t

    def R(self, t):
        first, second, *_ = self.angles(t)
        return self.turn(self.u, first) @ self.turn(self.w, second)

    def omega(self, t):
        first, _, rate1, rate2 = self.angles(t)
        return self.u * rate1 + self.turn(self.u, first) @ self.w * rate2

    def r(self, t):
        return np.array([np.sin(t), 0.5 * t * t, np.cos(2.0 * t)])

    def v(self, t):
        return np.array([np.cos(t), t, -2.0 * np.sin(2.0 * t)])

    @staticmethod
    def turn(u, angle):  # (B.2)
        return np.eye(3) + skew(u) * np.sin(angle) + skew(u) @ skew(u) * (1.0 - np.cos(angle))

    # ---- point x
    def arm(self, t):
        """r_{c,x}."""
        return self.R(t) @ self.x_in_c

    def V_c(self, t):
        return np.concatenate([self.omega(t), self.v(t)])

    def V_x(self, t):
        return np.concatenate([self.omega(t), self.v(t) + np.cross(self.omega(t), self.arm(t))])

    def V_origin(self, t):
        """Of the body point at the world's origin (2.25)."""
        return np.concatenate([self.omega(t), self.v(t) - np.cross(self.omega(t), self.r(t))])

    def J_world(self, t):
        return self.R(t) @ self.J @ self.R(t).T

    def M_c(self, t):
        return np.block([[self.J_world(t), np.zeros((3, 3))], [np.zeros((3, 3)), self.m * np.eye(3)]])

    def M_x(self, t):
        """phi_{c,x}^T M_c phi_{c,x}."""
        l = -self.arm(t)  # r_{x,c}
        return np.block([[self.J_world(t) - self.m * skew(l) @ skew(l), self.m * skew(l)],
                         [-self.m * skew(l), self.m * np.eye(3)]])  # fmt: skip

    def phi_cx(self, t):
        """From x to c: phi_D(r_{x,c}) (2.18)."""
        return phi_D(-self.arm(t))

    # ---- Newton and Euler, (2.1), (2.2) about the centre of mass
    def momentum(self, t):
        return np.concatenate([self.J_world(t) @ self.omega(t) + self.R(t) @ self.l, self.m * self.v(t)])

    def f_c(self, t):
        return rate(self.momentum, t)

    def f_x(self, t):
        f = self.f_c(t)
        return np.concatenate([f[:3] - np.cross(self.arm(t), f[3:]), f[3:]])  # (2.17)

    def internal_rate(self, t):
        return np.concatenate([rate(lambda s: self.R(s) @ self.l, t), np.zeros(3)])


Gyrostat.R_cx = Gyrostat.turn(np.array([0.8, 0.6, 0.0]), 0.7)
G = Gyrostat()
T = 0.83


def test_the_trial_motion_is_consistent():
    assert_close(rate(G.r, T), G.v(T), 1e-14)
    assert_close(rate(G.R, T), skew(G.omega(T)) @ G.R(T), 1e-14)
    assert_close(G.R(T) @ G.R(T).T, np.eye(3), 1e-14)


def test_velocities_and_forces_move_between_points_as_printed():  # (2.16)-(2.19)
    x = lambda t: G.r(t) + G.arm(t)  # noqa: E731
    l = G.arm(T)  # r_{c,x}: from y = c to x
    assert_close(G.V_x(T)[3:], rate(x, T))
    assert_close(rate(x, T), G.v(T) - np.cross(l, G.omega(T)))  # (2.16)
    phi_xc = phi_D(l)  # (2.18)
    assert_close(phi_xc @ G.V_c(T), G.V_x(T))  # (2.19)
    assert_close(phi_xc.T @ G.f_x(T), G.f_c(T))
    assert_close(G.V_c(T) @ G.f_c(T), G.V_x(T) @ G.f_x(T))  # the same power
    assert_close(G.phi_cx(T) @ phi_xc, np.eye(6))


def test_euler_s_law_about_a_moving_point_has_the_printed_extra_term():  # (2.5)
    def s(t):
        return np.array([np.sin(2 * t), t, t * t])

    def s_rate(t):
        return np.array([2 * np.cos(2 * t), 1 + 0 * t, 2 * t])

    def relative(t):
        """Angular momentum about s, of the motion relative to s."""
        return G.momentum(t)[:3] + G.m * np.cross(G.r(t) - s(t), G.v(t) - s_rate(t))

    torque = G.f_c(T)[:3] + np.cross(G.r(T) - s(T), G.f_c(T)[3:])
    assert_close(rate(relative, T), torque - G.m * np.cross(G.r(T) - s(T), rate(s_rate, T)))


def test_dynamics_at_the_centre_of_mass_are_as_printed():  # (2.8)-(2.11)
    w, J = G.omega(T), G.J_world(T)
    torque = J @ rate(G.omega, T) + np.cross(w, J @ w + G.R(T) @ G.l)
    assert_close(G.f_c(T), np.r_[torque, G.m * rate(G.v, T)])
    assert_close(G.momentum(T), G.M_c(T) @ G.V_c(T) + np.r_[G.R(T) @ G.l, 0, 0, 0])  # (2.10)
    Omega = tilde(np.r_[w, 0, 0, 0])
    f = G.M_c(T) @ rate(G.V_c, T) + (Omega @ G.M_c(T) - G.M_c(T) @ Omega) @ G.V_c(T) + G.internal_rate(T)
    assert_close(f, G.f_c(T))


def test_phi_between_points_of_a_body_turns_as_in_2_20():
    Omega = tilde(np.r_[G.omega(T), 0, 0, 0])
    phi = G.phi_cx(T)
    assert_close(rate(G.phi_cx, T), Omega @ phi - phi @ Omega)
    assert_differs(rate(G.phi_cx, T), phi @ Omega - Omega @ phi)


def test_inertia_about_any_point_is_the_printed_matrix_and_turns_with_the_body():
    phi, Omega = G.phi_cx(T), tilde(np.r_[G.omega(T), 0, 0, 0])
    assert_close(G.M_x(T), phi.T @ G.M_c(T) @ phi)
    assert_close(rate(G.M_x, T), Omega @ G.M_x(T) - G.M_x(T) @ Omega)


def test_equation_2_21_needs_v_tilde_transposed():
    phi, Omega, V, M = G.phi_cx(T), tilde(np.r_[G.omega(T), 0, 0, 0]), G.V_x(T), G.M_x(T)
    right = phi.T @ Omega @ np.linalg.inv(phi.T) @ M @ V
    assert_close(-tilde(V).T @ M @ V, right)
    assert_differs(-tilde(V) @ M @ V, right)  # as printed
    assert_differs(tilde(V) @ M @ V, right)


def test_equation_2_15_needs_the_minus_of_its_proof_and_v_tilde_transposed():
    M, V, A, phi = G.M_x(T), G.V_x(T), rate(G.V_x, T), G.phi_cx(T)
    Omega, momentum = tilde(np.r_[G.omega(T), 0, 0, 0]), phi.T @ G.internal_rate(T)
    assert_close(M @ A - (M @ Omega + tilde(V).T @ M) @ V + momentum, G.f_x(T))  # Table 3.8
    assert_differs(M @ A + (M @ Omega + tilde(V) @ M) @ V + momentum, G.f_x(T))  # (2.15) as printed
    assert_differs(M @ A - (M @ Omega + tilde(V) @ M) @ V + momentum, G.f_x(T))  # the last line of its proof


def local(t, stacked_in_world):
    """A vector of the world, resolved in the axes of x."""
    return phi_R((G.R(t) @ G.R_cx).T) @ stacked_in_world


def body_phi_cx():
    """<B>phi_{c,x} (2.22): from x to c, each in its own axes; l = r_{x,c} in x."""
    return phi_R(G.R_cx) @ phi_D(-G.R_cx.T @ G.x_in_c)


def test_the_body_representation_of_phi_and_of_dynamics():  # (2.22)-(2.24)
    V, A = (lambda t: local(t, G.V_x(t))), rate(lambda t: local(t, G.V_x(t)), T)  # rate of the six numbers
    Omega = tilde(np.r_[G.omega(T), 0, 0, 0])
    assert_close(local(T, rate(G.V_x, T) - Omega @ G.V_x(T)), A)  # (2.23)
    assert_close(body_phi_cx() @ V(T), phi_R(G.R(T).T) @ G.V_c(T))  # (2.22)
    M_c = np.block([[G.J, np.zeros((3, 3))], [np.zeros((3, 3)), G.m * np.eye(3)]])
    M = body_phi_cx().T @ M_c @ body_phi_cx()
    without = M @ A - tilde(V(T)).T @ M @ V(T)
    own_axes = phi_R(G.R(T).T) @ G.internal_rate(T)
    assert_close(without + body_phi_cx().T @ own_axes, local(T, G.f_x(T)))


def test_equation_2_24_needs_the_absolute_rate_of_internal_momentum_in_the_axes_of_the_body():
    """It prints <B>phi^T <I>Pi': the absolute derivative is meant, but its numbers must be those of the body's axes."""
    V, A = (lambda t: local(t, G.V_x(t))), rate(lambda t: local(t, G.V_x(t)), T)
    M = phi_R((G.R(T) @ G.R_cx).T) @ G.M_x(T) @ phi_R(G.R(T) @ G.R_cx)
    without, phi = M @ A - tilde(V(T)).T @ M @ V(T), body_phi_cx()
    assert_differs(without + phi.T @ G.internal_rate(T), local(T, G.f_x(T)))  # numbers of the world's axes
    assert_differs(without, local(T, G.f_x(T)))  # the relative derivative, which is zero
    assert_close(without + phi.T @ np.r_[np.cross(G.R(T).T @ G.omega(T), G.l), 0, 0, 0], local(T, G.f_x(T)))


def at_origin(t, f_x):
    """A force at x, about the world's origin."""
    return np.concatenate([f_x[:3] + np.cross(G.r(t) + G.arm(t), f_x[3:]), f_x[3:]])


def phi_x_origin(t):
    """<I>phi_{x,I}: from the world's origin to x; l = r_{I,x}."""
    return phi_D(G.r(t) + G.arm(t))


def test_the_absolute_representation_of_velocity_inertia_and_dynamics():  # (2.25)-(2.27)
    assert_close(np.linalg.inv(phi_x_origin(T)) @ G.V_x(T), G.V_origin(T))  # (2.25)
    M = lambda t: phi_x_origin(t).T @ G.M_x(t) @ phi_x_origin(t)  # noqa: E731
    V, A = G.V_origin(T), rate(G.V_origin, T)
    assert_close(rate(M, T), -tilde(V).T @ M(T) - M(T) @ tilde(V))
    internal = phi_D(G.r(T)).T @ G.internal_rate(T)  # phi_{c,I}
    assert_close(M(T) @ A - tilde(V).T @ M(T) @ V + internal, at_origin(T, G.f_x(T)))  # (2.27)
    fixed_in_body = lambda t: np.linalg.inv(phi_D(G.r(t))) @ phi_R(G.R(t)) @ np.arange(1.0, 7.0)  # noqa: E731
    assert_close(rate(fixed_in_body, T), tilde(V) @ fixed_in_body(T))  # (2.26)


def test_the_rate_of_phi_to_the_world_s_origin_is_omega_tilde_minus_v_tilde():
    """The line after (2.26) adds a commutator with phi' (or phi) that does not belong there."""
    found, phi = rate(phi_x_origin, T), phi_x_origin(T)
    Omega, V = tilde(np.r_[G.omega(T), 0, 0, 0]), tilde(G.V_x(T))
    assert_close(found, Omega - V)
    assert_close(found, (Omega - V) @ phi)
    assert_differs(found, Omega - V + Omega @ found - found @ Omega)  # as printed
    assert_differs(found, Omega - V + Omega @ phi - phi @ Omega)


@pytest.mark.parametrize("name", REPRESENTATIONS)
def test_the_library_s_newton_euler_is_newton_s_and_euler_s_law(name):
    rep = representation(name)
    pose = lambda t: Pose(G.R(t) @ G.R_cx, G.r(t) + G.arm(t))  # noqa: E731
    I_local = SpatialInertia.at_centre(G.m, -G.R_cx.T @ G.x_in_c, G.R_cx.T @ G.J @ G.R_cx)
    V = lambda t: rep.motion(pose(t), local(t, G.V_x(t)))  # noqa: E731
    A = rep.dot(V(T), rep.motion(pose(T), rate(lambda t: local(t, G.V_x(t)), T)))
    if name != "body":  # there the message is the rate of the six numbers in the axes of the world
        assert_close(A, rate(V, T))
    M, l = rep.inertia(pose(T), I_local), rep.force(pose(T), np.r_[G.R_cx.T @ G.l, np.zeros(3)])
    f = rep.newton_euler(M, l, V(T), A)
    assert_close(rep.force_local(pose(T), f), local(T, G.f_x(T)))
    inertia_rate = rate(lambda t: rep.inertia(pose(t), I_local).matrix(), T)
    V_tilde, Omega = tilde(V(T)), tilde(np.r_[V(T)[:3], 0, 0, 0])
    expected = {
        "body": np.zeros((6, 6)),
        "inertial": Omega @ M.matrix() - M.matrix() @ Omega,
        "absolute": -V_tilde.T @ M.matrix() - M.matrix() @ V_tilde,
    }[name]
    assert_close(inertia_rate, expected)


def test_table_3_3_needs_the_inverse_for_a_displacement_met_from_its_far_side():
    """It prints phi_{2,1} transposed for the way from 2 to 1; that carries forces. Pure rotations do not care."""
    link = gs.RigidBody("link", mass=1.0, com=(0.1, 0, 0), frames={"tip": (0.3, 0.1, -0.2)})
    hinge, shift = gs.Joint("hinge", "revolute", axis="z"), gs.Displacement("shift", translation=(0.4, -0.3, 0.2))
    model = gs.assemble("far", gs.chain("world", hinge, ("b", shift), "a", link))
    for rep in ("body", "inertial"):
        op = gs.operators(model, [0.4], [1.0], representation=rep)
        a, b = op.ports.index("shift.a"), op.ports.index("shift.b")
        back, forth = block(op.T_phi, a, b), block(op.T_phi, b, a)
        assert_close(back, np.linalg.inv(forth))
        assert_differs(back, forth.T)
        V = op.V.reshape(-1, 6)
        assert_close(back @ V[b], V[a])
        assert_differs(forth.T @ V[b], V[a])


def test_table_3_7_needs_phi_r_on_the_left_and_phi_to_the_body():
    """H = phi_R(R_1) <B>H of Table 3.3: R_1 takes the body's axes to the world's, so that M = phi_R <B>M phi_R^T."""
    R, p = G.R(T) @ G.R_cx, G.r(T) + G.arm(T)
    inside = SpatialInertia.at_centre(G.m, -G.R_cx.T @ G.x_in_c, G.R_cx.T @ G.J @ G.R_cx)
    M_B, pose = inside.matrix(), Pose(R, p)
    M_I, M_A = (representation(name).inertia(pose, inside).matrix() for name in ("inertial", "absolute"))
    assert_close(M_I, G.M_x(T))  # first principles
    assert_close(M_I, phi_R(R) @ M_B @ phi_R(R).T)
    assert_differs(M_I, phi_R(R).T @ M_B @ phi_R(R))  # as printed
    phi_10 = phi_R(R.T) @ phi_D(p)  # <B>phi_{1,0}: from the world's origin to the body's frame
    assert_close(M_A, phi_x_origin(T).T @ G.M_x(T) @ phi_x_origin(T))
    assert_close(M_A, phi_10.T @ M_B @ phi_10)
    phi_01 = np.linalg.inv(phi_10)
    assert_differs(M_A, phi_01.T @ M_B @ phi_01)  # as printed


def test_connections_of_entities_are_counted_over_the_integers():
    """Over {0, 1} with 1 + 1 = 0, as H04 2.3 has it, two connections between the same entities vanish from C+."""
    body = gs.RigidBody("body", mass=1.0, frames={"one": (0.1, 0, 0), "two": (0, 0.1, 0)})
    rod = gs.Displacement("rod")
    parts = (gs.connect("world", "body.origin"), gs.connect("body.one", "rod.a"), gs.connect("body.two", "rod.b"))
    told = gs.connectivity(gs.assemble("twice", body, rod, *parts))
    assert told.entities == ("world", "body", "rod")
    assert np.array_equal(told.C_plus, [[0, 1, 0], [1, 0, 2], [0, 2, 0]])
    assert told.C_plus[1, 2] % 2 == 0


# ------------------------------------------------------------------------------------------------ what operators refuse
@pytest.mark.parametrize(
    ("q", "v", "error", "pattern"),
    [
        (
            [0.1, 0.2],
            [0.0],
            gs.ShapeError,
            r"operators: q has shape \(2,\), expected \(\.\.\., 1\), nq of",
        ),
        ([[0.1]], [0.0], gs.ShapeError, r"operators: q has shape \(1, 1\)"),
        ([0.1], [], gs.ShapeError, r"operators: v has shape \(0,\)"),
        (["a"], [0.0], gs.ShapeError, r"operators: q must hold real numbers"),
        ([0.1], [1j], gs.ShapeError, r"operators: v must hold real numbers, got complex128"),
        ([np.nan], [0.0], gs.NonFiniteError, r"operators: q of '.*' is nan"),
    ],
)
def test_operators_refuse_states_that_are_not_states(q, v, error, pattern):
    with pytest.raises(error, match=pattern):
        gs.operators(gs.robots.pendulum(), q, v)


def test_operators_refuse_an_unknown_representation():
    with pytest.raises(gs.GyrostatError, match="one of body, inertial, absolute, got 'bodily'"):
        gs.operators(gs.robots.pendulum(), [0.1], [0.2], representation="bodily")


def test_operators_of_a_rewritten_network_give_the_same_torques():
    c = case("fixed, reversed", "body")
    small = gs.operators(c.model, c.q, c.v, rules=["fold-displacements", "merge-bodies", "prune-frames"])
    assert len(small.ports) < len(c.op.ports)
    assert_close(small.rnea(c.a), c.rnea())
    assert_close(small.mass_matrix(), c.op.mass_matrix())
