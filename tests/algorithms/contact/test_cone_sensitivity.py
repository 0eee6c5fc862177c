"""Derivatives of contact forces next to central differences, away from changes of phase."""

from __future__ import annotations

import numpy as np
import pytest

from gyrostat.algorithms.contact.cone_driver import ConeSolver
from gyrostat.algorithms.contact.cone_layout import ConeLayout
from gyrostat.algorithms.contact.cone_problem import solve_cones
from gyrostat.algorithms.contact.cone_sensitivity import ConeSensitivity
from gyrostat.errors import ShapeError
from tests.support.random_cones import RandomCones, random_cones

H = 1e-6


def changes(case: RandomCones, seed: int):
    """dG, symmetric, dc and dmu, which leaves frictionless contacts so."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=case.G.shape) * np.sqrt(np.outer(np.diag(case.G), np.diag(case.G))) * 0.1
    return X + X.T, rng.normal(size=len(case.c)), rng.normal(size=len(case.mu)) * case.mu


@pytest.mark.parametrize("seed", range(25))
def test_tangents_are_those_of_differences(seed):
    case = random_cones(seed, free=True)
    dG, dc, dmu = changes(case, seed)

    def at(h: float):
        return solve_cones(
            case.G + h * dG, case.c + h * dc, case.layout, case.mu + h * dmu, tolerance=1e-13, **case.laws
        )

    solution, plus, minus = at(0.0), at(H), at(-H)
    dP, du = ConeSensitivity(solution, case.G, case.c, case.layout, case.mu, **case.laws).tangent(dG, dc, dmu)
    np.testing.assert_allclose(dP, (plus.P - minus.P) / (2 * H), atol=3e-5 * np.abs(dP).max())
    np.testing.assert_allclose(du, (plus.u - minus.u) / (2 * H), atol=3e-5 * np.abs(du).max())


@pytest.mark.parametrize("seed", range(25))
def test_adjoints_are_transposed_tangents(seed):
    case = random_cones(seed)
    dG, dc, dmu = changes(case, seed)
    rng = np.random.default_rng(seed)
    gP, gu = rng.normal(size=(2, len(case.c)))
    solution = solve_cones(case.G, case.c, case.layout, case.mu, **case.laws)
    at = ConeSensitivity(solution, case.G, case.c, case.layout, case.mu, **case.laws)
    dP, du = at.tangent(dG, dc, dmu)
    gG, gc, gmu = at.adjoint(gP, gu)
    forward, backward = gP @ dP + gu @ du, np.sum(gG * dG) + gc @ dc + gmu @ dmu
    assert backward == pytest.approx(forward, rel=1e-9, abs=1e-9 * np.abs(gP * dP).sum())


def test_redundant_contacts_have_unique_derivatives_of_velocities():
    rng = np.random.default_rng(5)
    J = rng.normal(size=(3, 6))
    J = np.vstack([J, J])  # the same contact twice
    G, c, dv = J @ J.T, J @ np.array([-1.0, 0.5, 2.0, 0.3, -0.7, 0.2]), rng.normal(size=6)
    single = solve_cones(G[:3, :3], c[:3], ConeLayout(1), 0.3, tolerance=1e-13)
    double = solve_cones(G, c, ConeLayout(2), 0.3, tolerance=1e-13)
    assert single.P[0] > 0.0 and np.linalg.norm(single.u[1:]) > 1e-3  # it slides
    one = ConeSensitivity(single, G[:3, :3], c[:3], ConeLayout(1), 0.3).tangent(dc=J[:3] @ dv)
    two = ConeSensitivity(double, G, c, ConeLayout(2), 0.3).tangent(dc=J @ dv)
    np.testing.assert_allclose(two[1][:3], one[1], atol=1e-8)
    np.testing.assert_allclose(two[0][:3] + two[0][3:], one[0], atol=1e-8)


@pytest.mark.parametrize("seed", range(25))
def test_the_drivers_derivatives_equal_the_references(seed):
    case = random_cones(seed, free=True)
    rng = np.random.default_rng(seed)
    solver = ConeSolver(case.layout, case.mu, **case.laws)
    solution = solver(case.G, case.c)
    at = ConeSensitivity(solution, case.G, case.c, case.layout, case.mu, **case.laws)
    e, gP = rng.normal(size=(2, case.layout.rows))
    dP, _ = at.tangent(dc=e)
    _, gc, _ = at.adjoint(gP)
    np.testing.assert_allclose(solver.tangent(e), dP, atol=1e-7 * np.abs(dP).max(initial=1e-12))
    np.testing.assert_allclose(solver.adjoint(gP), gc, atol=1e-7 * np.abs(gc).max(initial=1e-12))


def test_a_derivative_needs_a_number_for_each_row():
    with pytest.raises(ShapeError, match=r"ConeSolver.tangent: got shape \(2,\), expected \(3,\)"):
        ConeSolver(ConeLayout(1), 0.5).tangent([0.0, 0.0])
