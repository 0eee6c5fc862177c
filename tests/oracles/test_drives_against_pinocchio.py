"""Drives against the explicit model of Pinocchio, in which every rotor is a body on a joint of its own and gears are
eliminated.

The wide sweeps run the plain NumPy code, a few seeds the compiled one."""

import numpy as np
import pytest

import gyrostat as gs
from tests.oracles.test_family_against_pinocchio import interpreted
from tests.support.comparing import assert_close
from tests.support.drive_models import driven_tree
from tests.support.pinocchio_oracle import random_state

SAME = 1e-9
REPRESENTATIONS = ("body", "inertial", "absolute")
ALGORITHMS = ("aba", "crba", "walker-orin", "mrnea", "newton-euler", "operators")


def state(model, seed):
    return random_state(model, np.random.default_rng([seed, 62]))


def assert_same_dynamics(driven, seed):
    """Inverse and forward dynamics, mass matrix, energies, momentum, centre of mass."""
    model, oracle = driven.model, driven.oracle
    q, v, a = state(model, seed)
    tau = oracle.rnea(q, v, a)
    assert_close(gs.rnea(model, q, v, a), tau, SAME)
    assert_close(gs.aba(model, q, v, tau), oracle.aba(q, v, tau), SAME)
    assert_close(gs.aba(model, q, v, tau), a, SAME)
    assert_close(gs.crba(model, q), oracle.crba(q), SAME)
    assert_close(gs.kinetic_energy(model, q, v), oracle.kinetic_energy(q, v), SAME)
    assert_close(gs.potential_energy(model, q), oracle.potential_energy(q), SAME)
    assert_close(gs.centroidal_momentum(model, q, v), oracle.centroidal_momentum(q, v), SAME)
    assert_close(gs.centroidal_matrix(model, q), oracle.centroidal_matrix(q), SAME)
    Y, tau_0 = gs.Regressor(model)(q, v, a)
    assert_close(Y @ gs.inertial_parameters(model) + tau_0, tau, SAME)
    for got, expected in zip(gs.center_of_mass(model, q, v), oracle.center_of_mass(q, v), strict=True):
        assert_close(got, expected, SAME)


def assert_same_derivatives(driven, seed):
    model, oracle = driven.model, driven.oracle
    q, v, a = state(model, seed)
    tau = oracle.rnea(q, v, a)
    for got, expected in zip(gs.rnea_derivatives(model, q, v, a), oracle.rnea_derivatives(q, v, a), strict=True):
        assert_close(got, expected, SAME)
    for got, expected in zip(gs.aba_derivatives(model, q, v, tau), oracle.aba_derivatives(q, v, tau), strict=True):
        assert_close(got, expected, SAME)
    C = gs.coriolis(model, q, v)
    assert_close(C + C.T, oracle.mass_rate(q, v), SAME)


def assert_all_ways_agree(driven, seed):
    """Every algorithm in every representation."""
    model, oracle = driven.model, driven.oracle
    q, v, a = state(model, seed)
    tau, M = oracle.rnea(q, v, a), oracle.crba(q)
    for representation in REPRESENTATIONS:
        assert_close(gs.rnea(model, q, v, a, representation=representation), tau, SAME)
        for algorithm in ALGORITHMS:
            way = {"algorithm": algorithm, "representation": representation}
            assert_close(gs.aba(model, q, v, tau, **way), a, SAME)
    assert_close(gs.inverse_mass_matrix(model, q), np.linalg.inv(M), SAME)


@pytest.mark.parametrize("elastic", [False, True], ids=["stiff", "elastic"])
@pytest.mark.parametrize("seed", range(20))
def test_dynamics_are_those_of_the_explicit_model(seed, elastic):
    driven = driven_tree(seed, elastic=elastic)
    with interpreted():
        assert_same_dynamics(driven, seed)


@pytest.mark.parametrize("elastic", [False, True], ids=["stiff", "elastic"])
@pytest.mark.parametrize("seed", range(20, 35))
def test_derivatives_are_those_of_the_explicit_model(seed, elastic):
    driven = driven_tree(seed, elastic=elastic)
    with interpreted():
        assert_same_derivatives(driven, seed)


@pytest.mark.parametrize("elastic", [False, True], ids=["stiff", "elastic"])
@pytest.mark.parametrize("seed", range(35, 38))
def test_all_algorithms_and_representations_agree(seed, elastic):
    driven = driven_tree(seed, elastic=elastic)
    with interpreted():
        assert_all_ways_agree(driven, seed)


EVERY_KIND = ("revolute", "prismatic", "helical", "universal", "cylindrical", "planar", "spherical", "fixed")


@pytest.mark.parametrize("elastic", [False, True], ids=["stiff", "elastic"])
@pytest.mark.parametrize("seed", range(300, 310))
def test_couplings_among_driven_joints_of_trees_with_every_kind(seed, elastic):
    driven = driven_tree(seed, 6, elastic, couplings=1 + seed % 3, kinds=EVERY_KIND if seed % 2 else EVERY_KIND[:3])
    with interpreted():
        assert_same_dynamics(driven, seed)
        assert_same_derivatives(driven, seed)


@pytest.mark.parametrize("elastic", [False, True], ids=["stiff", "elastic"])
def test_compiled_code_has_drives_too(elastic):
    driven = driven_tree(4, joints=3, elastic=elastic, base="free")
    assert_same_dynamics(driven, 4)
    assert_same_derivatives(driven, 4)


@pytest.mark.slow
@pytest.mark.parametrize("elastic", [False, True], ids=["stiff", "elastic"])
@pytest.mark.parametrize("seed", range(40, 240))
def test_many_more_trees(seed, elastic):
    driven = driven_tree(seed, elastic=elastic, couplings=seed % 4)
    with interpreted():
        assert_same_dynamics(driven, seed)
        assert_same_derivatives(driven, seed)


def test_the_explicit_model_is_made_of_real_bodies():
    """What is left of a carrier without its rotors passes all checks: the comparison is about real mechanisms."""
    for seed in range(10):
        gs.check(driven_tree(seed, elastic=True).oracle.full)


def test_a_rotor_that_is_left_out_is_noticed():
    """The comparison can fail: without the spin of its rotors the model is another one."""
    driven = driven_tree(3, joints=6)
    q, v, a = state(driven.model, 3)
    drives = [name for name, e in driven.model.wiring.entities.items() if isinstance(e, gs.RotorInertia)]
    assert drives
    other = driven.model.replace({f"{drives[0]}.inertia": 1.01 * driven.model[f"{drives[0]}.inertia"]})
    tau = driven.oracle.rnea(q, v, a)
    with interpreted():
        assert np.abs(gs.rnea(other, q, v, a) - tau).max() > 1e-6 * np.abs(tau).max()
