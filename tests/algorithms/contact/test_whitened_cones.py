"""Whitened rows, as lanes have them, against the solver of all contact problems: same laws, same solutions."""

import numpy as np
import pytest

from gyrostat.algorithms.contact.cone_layout import ConeLayout
from gyrostat.algorithms.contact.cone_problem import solve_cones
from gyrostat.algorithms.contact.whitened_cones import Cone, WhitenedCones, disc, eliminated


def problem(seed, contacts=3, limits=2, n=14, tangents=2):
    """Random rows X (m, n), speeds b, friction; contacts first, then limits."""
    rng = np.random.default_rng(seed)
    m = contacts * (1 + tangents) + limits
    X, b = rng.normal(size=(m, n)), rng.normal(size=m)
    mu = [*rng.uniform(0.1, 1.0, contacts), *[0.0] * limits]
    cones = [
        Cone(k * (1 + tangents), tuple(range(k * (1 + tangents) + 1, (k + 1) * (1 + tangents))))
        for k in range(contacts)
    ]
    cones += [Cone(contacts * (1 + tangents) + k) for k in range(limits)]
    rows = [dict(enumerate(map(float, row))) for row in X]
    return WhitenedCones(cones, rows, list(map(float, b)), n, mu, [0.0] * len(cones)), X, b, np.array(mu[:contacts])


def solved(cones, rounds=40):
    """Impulses by rounds of a Newton step where it helps, and two sweeps."""
    G = cones.diagonal()
    inverse = [1.0 / g for g in G]
    P = [0.0] * len(cones.X)
    w = cones.total(P)
    r = cones.residual(P, w, G, inverse)
    for _ in range(rounds):
        trial, _ = cones.newton(P, w, inverse)
        total = cones.total(trial)
        if cones.residual(trial, total, G, inverse) < r:
            P, w = trial, total
        for _ in range(2):
            cones.sweep(P, w, inverse)
        r = cones.residual(P, w, G, inverse)
    return np.array(P), r


@pytest.mark.parametrize("seed", range(12))
def test_impulses_are_those_of_the_solver_of_all_contact_problems(seed):
    cones, X, b, mu = problem(seed)
    P, residual = solved(cones)
    expected = solve_cones(X @ X.T, b, ConeLayout(3, limits=2), mu, tolerance=1e-12)
    assert expected.converged
    assert residual < 1e-9
    assert np.abs(P - expected.P).max() < 1e-7 * (1.0 + np.abs(expected.P).max())


@pytest.mark.parametrize("seed", range(6))
def test_planar_contacts_stay_in_their_wedges(seed):
    cones, X, b, mu = problem(seed, contacts=4, limits=0, n=12, tangents=1)
    P, residual = solved(cones)
    u = b + X @ (X.T @ P)
    assert residual < 1e-9
    assert (P[::2] >= 0.0).all()
    assert (u[::2] > -1e-8).all()
    assert (np.abs(P[1::2]) <= mu * P[::2] + 1e-12).all()
    slides = np.abs(u[1::2]) > 1e-6
    assert np.allclose((P[1::2] + mu * P[::2] * np.sign(u[1::2]))[slides], 0.0, atol=1e-8)


@pytest.mark.parametrize("seed", range(4))
def test_the_least_impulse_is_kept(seed):
    cones, X, b, _ = problem(seed)
    low = [0.3] * 3 + [0.0] * 2
    bounded = WhitenedCones(cones.cones, cones.X, cones.b, cones.n, cones.mu, low)
    P, residual = solved(bounded)
    u = b + X @ (X.T @ P)
    assert residual < 1e-9
    normals = [c.normal for c in cones.cones[:3]]
    assert (P[normals] >= 0.3 - 1e-12).all()
    assert np.abs((P[normals] - 0.3) * u[normals]).max() < 1e-8


def test_redundant_rows_give_numbers():
    cones, *_ = problem(1, contacts=1, limits=0)
    twice = [Cone(0, (1, 2)), Cone(3, (4, 5))]
    doubled = WhitenedCones(twice, [*cones.X, *cones.X], [*cones.b, *cones.b], cones.n, [0.5, 0.5], [0.0, 0.0])
    P, residual = solved(doubled)
    assert np.isfinite(P).all()
    assert residual < 1e-8


def test_the_nearest_point_of_a_disc():
    assert disc([3.0, 4.0], 10.0) == [3.0, 4.0]
    assert np.allclose(disc([3.0, 4.0], 1.0), [0.6, 0.8])
    assert disc([-3.0], 1.0) == [-1.0]
    assert disc([0.0, 0.0], 0.0) == [0.0, 0.0]


def test_elimination_solves():
    rng = np.random.default_rng(0)
    A, b = rng.normal(size=(5, 5)) + 5.0 * np.eye(5), rng.normal(size=5)
    x = eliminated([dict(enumerate(row)) for row in A], list(b))
    assert np.allclose(x, np.linalg.solve(A, b))
