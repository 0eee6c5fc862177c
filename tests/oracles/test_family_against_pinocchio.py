"""Forward dynamics, matrices, Jacobians, momenta, energies and derivatives against Pinocchio, over random trees.

As in ``test_against_pinocchio`` the wide sweeps run the plain NumPy code; compiled code has smaller ones of its own.
Derivatives are also compared with differences along the motions of the joints.
"""

from contextlib import contextmanager

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import gyrostat as gs
from gyrostat.solvers.machinery.solver import Solver
from tests.oracles.test_against_pinocchio import single_joint
from tests.support.comparing import assert_close, central
from tests.support.examples import few
from tests.support.pinocchio_oracle import Oracle, pin, random_state, walk
from tests.support.random_models import random_wrenches, spatial_ports, various_tree

ALGORITHMS = ("aba", "crba", "walker-orin", "mrnea", "newton-euler", "operators")
REPRESENTATIONS = ("body", "inertial", "absolute")
EXPRESSIONS = ("local", "aligned", "world")
SAME = 1e-10
SOLVED = 1e-9  # where the mass matrix is inverted: chains of forty bodies have condition numbers of 1e6 and more
SEEDS = st.integers(0, 2**32 - 1)


def some(examples):
    """The same examples every time; a smaller seed is no simpler tree, so nothing is shrunk."""
    return settings(
        max_examples=few(examples), deadline=None, derandomize=True, phases=(Phase.explicit, Phase.generate)
    )


@contextmanager
def interpreted():
    """Solvers that are built inside run the plain NumPy code."""
    build = Solver.__init__

    def built(self, *args, **options):
        build(self, *args, **options)
        self.mode, self.why_interpreted = "interpret", "asked for"

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Solver, "__init__", built)
        yield


# ------------------------------------------------------------------------------------------------ models and states
def on_a_body(model):
    """A free base gets a body: without it, its motion and that of a joint on it could not be told apart."""
    if model.context.base != "free":
        return model
    base = gs.RigidBody("base", mass=1.3, com=(0.1, -0.05, 0.02), inertia=(0.03, 0.04, 0.05))
    wires = [*model.connections, ("world.frame", "base.origin")]
    return gs.Model(model.name, [*model.entities, base], wires, model.context)


def tree(seed, bodies=None):
    return on_a_body(various_tree(seed, bodies, treat_as=["acceleration", "field"][seed % 2]))


def without_force_elements(model):
    kept = [entity for entity in model.entities if not isinstance(entity, gs.ForceElement)]
    names = {entity.name for entity in kept}
    wires = [wire for wire in model.connections if all(port.partition(".")[0] in names for port in wire)]
    return gs.Model(model.name, kept, wires, model.context)


def integrate(model, q, v):
    """q after unit time with constant rates v: angles and shifts add, poses move by the exponential of a body twist."""
    q = q.copy()
    for block in model.layout:
        part, rate = q[block.q], v[block.v]
        if not block.turns:
            part += rate
        else:
            linear = rate[3:] if block.moves else np.zeros(3)
            position = part[:3] if block.moves else np.zeros(3)
            X = pin.SE3(pin.Quaternion(part[-4:].copy()).toRotationMatrix(), position.copy())
            moved = X * pin.exp6(pin.Motion(linear, rate[:3]))
            part[:] = pin.SE3ToXYZQUAT(moved)[0 if block.moves else 3 :]
    return q


def prepared(model, seed):
    """Random numbers, oracle, q, v, a, wrenches in all kinds of frames, and these in the coordinates of their ports."""
    rng, oracle = np.random.default_rng([seed, 22]), Oracle(model)
    q, v, a = random_state(model, rng)
    wrenches = random_wrenches(model, rng, 6)
    oracle.move(q, v, a)
    local = {port: oracle.local_wrench(port, w.value, w.expressed_in) for port, w in wrenches.items()}
    return rng, oracle, q, v, a, wrenches, local


# ------------------------------------------------------------------------------------------------ what is compared
def assert_same_accelerations(model, seed):
    """Forward dynamics with and without wrenches; it undoes inverse dynamics."""
    _, oracle, q, v, a, wrenches, local = prepared(model, seed)
    tau = oracle.rnea(q, v, a)
    assert_close(gs.aba(model, q, v, tau), oracle.aba(q, v, tau), SOLVED)
    assert_close(gs.aba(model, q, v, tau, wrenches), oracle.aba(q, v, tau, local), SOLVED)
    assert_close(gs.aba(model, q, v, gs.rnea(model, q, v, a)), a, SOLVED)
    assert_close(gs.aba(model, q, v, gs.rnea(model, q, v, a, wrenches), wrenches), a, SOLVED)


def assert_all_ways_agree(model, seed):
    """Every algorithm in every representation."""
    _, oracle, q, v, a, wrenches, local = prepared(model, seed)
    tau = oracle.rnea(q, v, a)
    expected, expected_with = oracle.aba(q, v, tau), oracle.aba(q, v, tau, local)
    for algorithm in ALGORITHMS:
        for representation in REPRESENTATIONS:
            way = {"algorithm": algorithm, "representation": representation}
            assert_close(gs.aba(model, q, v, tau, **way), expected, SOLVED)
            assert_close(gs.aba(model, q, v, tau, wrenches, **way), expected_with, SOLVED)


def assert_same_matrices(model, seed):
    """M, its inverse, C v + G, G, and of C what is unique: C v, and C + C^T = dM/dt."""
    _, oracle, q, v, *_ = prepared(model, seed)
    M, C, G = gs.crba(model, q), gs.coriolis(model, q, v), gs.gravity(model, q)
    assert_close(M, oracle.crba(q), SAME)
    assert_close(M, M.T, 1e-14)
    assert_close(gs.inverse_mass_matrix(model, q), oracle.inverse_mass_matrix(q), SOLVED)
    assert_close(gs.bias(model, q, v), oracle.bias(q, v), SAME)
    assert_close(G, oracle.gravity(q), SAME)
    assert_close(C @ v, oracle.bias(q, v) - oracle.gravity(q), SAME)
    assert_close(C + C.T, oracle.mass_rate(q, v), SAME)


def assert_same_jacobians(model, seed, ports=2):
    rng, oracle, q, v, *_ = prepared(model, seed)
    for port in [*rng.permutation(spatial_ports(model))[:ports], "world.frame"]:
        for axes in EXPRESSIONS:
            expected = oracle.jacobian(q, port, axes), oracle.jacobian_rate(q, v, port, axes)
            assert_close(gs.jacobian(model, q, str(port), expressed_in=axes), expected[0], SAME)
            assert_close(gs.jacobian_rate(model, q, v, str(port), expressed_in=axes), expected[1], SAME)
            if axes == "world":
                assert_close(gs.jacobian(model, q, str(port)), expected[0], SAME)


def assert_same_momenta(model, seed):
    """Centre of mass, momentum about it, energies."""
    _, oracle, q, v, *_ = prepared(model, seed)
    p, p_rate = oracle.center_of_mass(q, v)
    assert_close(gs.center_of_mass(model, q), p, SAME)
    both = gs.center_of_mass(model, q, v)
    assert_close(both.p, p, SAME)
    assert_close(both.v, p_rate, SAME)
    assert_close(gs.centroidal_momentum(model, q, v), oracle.centroidal_momentum(q, v), SAME)
    assert_close(gs.centroidal_matrix(model, q), oracle.centroidal_matrix(q), SAME)
    assert_close(gs.kinetic_energy(model, q, v), oracle.kinetic_energy(q, v), SAME)
    assert_close(gs.potential_energy(model, q), oracle.potential_energy(q), SAME)


def assert_same_derivatives(model, seed):
    """Against Pinocchio, and against differences of sixth order along the twists of the joints."""
    _, oracle, q, v, a, *_ = prepared(model, seed)
    tau, E = oracle.rnea(q, v, a), np.eye(model.nv)

    def differences(function):
        return np.array([central(lambda h, e=e: function(h * e), 0.0) for e in E]).T

    found = gs.rnea_derivatives(model, q, v, a)
    for got, expected in zip(found, oracle.rnea_derivatives(q, v, a), strict=True):
        assert_close(got, expected, SAME)
    assert_close(found.dtau_dq, differences(lambda d: gs.rnea(model, integrate(model, q, d), v, a)), 1e-6)
    assert_close(found.dtau_dv, differences(lambda d: gs.rnea(model, q, v + d, a)), 1e-6)
    assert_close(found.dtau_da, differences(lambda d: gs.rnea(model, q, v, a + d)), 1e-6)

    found = gs.aba_derivatives(model, q, v, tau)
    for got, expected in zip(found, oracle.aba_derivatives(q, v, tau), strict=True):
        assert_close(got, expected, SOLVED)
    assert_close(found.da_dq, differences(lambda d: gs.aba(model, integrate(model, q, d), v, tau)), 1e-6)
    assert_close(found.da_dv, differences(lambda d: gs.aba(model, q, v + d, tau)), 1e-6)
    assert_close(found.da_dtau, differences(lambda d: gs.aba(model, q, v, tau + d)), 1e-6)


# ------------------------------------------------------------------------------------------------ random trees
@some(40)
@given(seed=SEEDS, bodies=st.integers(1, 40))
def test_accelerations_of_random_trees(seed, bodies):
    with interpreted():
        assert_same_accelerations(tree(seed, bodies), seed)


@some(4)
@given(seed=SEEDS, bodies=st.integers(1, 8))
def test_accelerations_by_every_algorithm_in_every_representation(seed, bodies):
    with interpreted():
        assert_all_ways_agree(tree(seed, bodies), seed)


@some(30)
@given(seed=SEEDS, bodies=st.integers(1, 40))
def test_matrices_of_random_trees(seed, bodies):
    with interpreted():
        assert_same_matrices(without_force_elements(tree(seed, bodies)), seed)


@some(10)
@given(seed=SEEDS, bodies=st.integers(1, 12))
def test_bias_is_coriolis_forces_gravity_and_what_force_elements_need(seed, bodies):
    model = tree(seed, bodies)
    _, oracle, q, v, *_ = prepared(model, seed)
    with interpreted():
        C_v = gs.coriolis(model, q, v) @ v
        terms = gs.EquationsOfMotion(model, mode="interpret")(q, v)
        assert_close(gs.bias(model, q, v), C_v + gs.gravity(model, q) + terms.Q, SAME)
        assert_close(gs.gravity(model, q), oracle.gravity(q), SAME)
    assert_close(C_v, oracle.bias(q, v) - oracle.gravity(q), SAME)


@some(15)
@given(seed=SEEDS, bodies=st.integers(1, 40))
def test_jacobians_of_random_trees(seed, bodies):
    with interpreted():
        assert_same_jacobians(tree(seed, bodies), seed)


@some(24)
@given(seed=SEEDS, bodies=st.integers(1, 40))
def test_momenta_and_energies_of_random_trees(seed, bodies):
    with interpreted():
        assert_same_momenta(tree(seed, bodies), seed)


@some(3)
@given(seed=SEEDS, bodies=st.integers(1, 8))
def test_derivatives_of_random_trees(seed, bodies):
    assert_same_derivatives(tree(seed, bodies), seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(14))
def test_derivatives_of_larger_trees(seed):
    assert_same_derivatives(tree(seed, 12), seed)


@pytest.mark.slow
@pytest.mark.parametrize("batch", range(20))
def test_the_family_on_five_hundred_more_trees(batch):
    with interpreted():
        for seed in range(2000 + 25 * batch, 2025 + 25 * batch):
            model = tree(seed)
            assert_same_accelerations(model, seed)
            assert_same_matrices(without_force_elements(model), seed)
            assert_same_jacobians(model, seed)
            assert_same_momenta(model, seed)


@pytest.mark.by_default(2)
@pytest.mark.parametrize("seed", range(4))
def test_the_family_by_compiled_code(seed):
    model = tree(seed, 2 + seed)
    assert_same_accelerations(model, seed)
    assert_same_matrices(without_force_elements(model), seed)
    assert_same_jacobians(model, seed, ports=1)
    assert_same_momenta(model, seed)


@pytest.mark.by_default(1)
@pytest.mark.parametrize("seed", range(2))
def test_accelerations_by_compiled_code_of_every_algorithm(seed):
    assert_all_ways_agree(tree(seed, 2), seed)


# ------------------------------------------------------------------------------------------------ single joints
MOVING = [kind for kind in gs.JOINT_KINDS if kind != "fixed"]


@pytest.mark.parametrize("base", ["fixed", "free"])
@pytest.mark.parametrize("near", ["a", "b"])
@pytest.mark.parametrize("kind", MOVING)
def test_the_family_on_a_single_joint(kind, near, base):
    model = on_a_body(single_joint(kind, near, base))
    with interpreted():
        assert_same_accelerations(model, 1)
        assert_all_ways_agree(model, 1)
        assert_same_matrices(model, 1)
        assert_same_jacobians(model, 1)
        assert_same_momenta(model, 1)


def test_bodies_that_stand_still_count_for_the_centre_of_mass():
    model = single_joint("revolute", "a")
    post = gs.RigidBody("post", mass=2.9, com=(0.3, 0.1, -0.2), inertia=(0.2, 0.3, 0.4))
    wires = [*model.connections, ("world.frame", "post.origin")]
    with interpreted():
        assert_same_momenta(gs.Model("post", [*model.entities, post], wires, model.context), 1)


@pytest.mark.parametrize("near", ["a", "b"])
@pytest.mark.parametrize("kind", MOVING)
def test_derivatives_on_a_single_joint(kind, near):
    assert_same_derivatives(single_joint(kind, near), 1)


# ------------------------------------------------------------------------------------------------ the oracle itself
def test_joints_of_a_subtree_follow_each_other_in_the_oracle():
    """Pinocchio's matrices are wrong without a word where they do not."""
    for seed in range(20):
        model = Oracle(tree(seed)).model
        for joint in range(1, model.njoints):
            below = sorted(model.subtrees[joint])
            assert below == list(range(below[0], below[0] + len(below)))


def test_motions_are_converted_for_joints_entered_at_port_b():
    """Among the trees are spherical and free joints from both sides: their rates are those of the other port."""
    met = {(moved.joint.kind, moved.far) for seed in range(30) for moved in walk(tree(seed)).moved[1:]}
    assert {(kind, far) for kind in ("spherical", "free") for far in "ab"} <= met


@pytest.mark.parametrize("seed", range(6))
def test_matrices_of_the_oracle_come_from_its_forces_and_motions(seed):
    """Each method of the oracle against another one, or against differences of it along the motion.

    1e-8: differences of sixth order leave about 1e-11 for functions of size one.
    """
    model = without_force_elements(tree(seed, 1 + seed))
    _, oracle, q, v, a, *_ = prepared(model, seed)
    zero, E = np.zeros(model.nv), np.eye(model.nv)
    G, M = oracle.gravity(q), oracle.crba(q)
    along = lambda function: central(lambda h: function(integrate(model, q, h * v)), 0.0)  # noqa: E731
    assert_close(M, np.array([oracle.rnea(q, zero, e) - G for e in E]).T, 1e-12)
    assert_close(oracle.inverse_mass_matrix(q) @ M, E, SOLVED)
    assert_close(oracle.mass_rate(q, v), along(oracle.crba), 1e-8)
    assert_close(oracle.coriolis(q, v) @ v, oracle.rnea(q, v, zero) - G, 1e-12)
    assert_close(oracle.bias(q, v) + M @ a, oracle.rnea(q, v, a), 1e-12)
    assert_close(oracle.kinetic_energy(q, v), 0.5 * v @ M @ v, 1e-12)
    assert_close(along(oracle.potential_energy), G @ v, 1e-8)
    _, p_rate = oracle.center_of_mass(q, v)
    assert_close(along(lambda x: oracle.center_of_mass(x)[0]), p_rate, 1e-8)
    mass = sum(entity.mass for entity in model.entities if isinstance(entity, gs.RigidBody))
    assert_close(oracle.centroidal_momentum(q, v)[3:], mass * p_rate, 1e-12)
    assert_close(oracle.centroidal_matrix(q) @ v, oracle.centroidal_momentum(q, v), 1e-12)
    for port in ("end.origin", "world.frame"):
        for axes in EXPRESSIONS:
            rate = along(lambda x, port=port, axes=axes: oracle.jacobian(x, port, axes))
            assert_close(oracle.jacobian_rate(q, v, port, axes), rate, 1e-8)
            J = oracle.jacobian(q, port, axes)
            assert_close(J @ v, oracle.move(q, v, a).velocity(port, axes), 1e-12)
