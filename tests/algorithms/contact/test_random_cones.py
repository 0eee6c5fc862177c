"""Contact problems by the thousand: always an end, never NaN, the law obeyed; the driver beside the reference."""

from __future__ import annotations

import numpy as np
import pytest

from gyrostat.algorithms.contact.cone_driver import ConeSolver
from gyrostat.algorithms.contact.cone_problem import solve_cones
from tests.support.random_cones import RandomCones, random_cones


def check_law(case: RandomCones, P: np.ndarray, u: np.ndarray, tolerance: float) -> None:
    """Coulomb's and Signorini's laws, written down again, row by row; in rows scaled to one unit."""
    s = np.sqrt(np.maximum(np.diag(case.G), 1e-14 * np.diag(case.G).max()))
    size = np.abs(case.c / s).max() * tolerance
    layout = case.layout
    forces, speeds = np.abs(P * s).max() + 1.0, np.abs(u / s).max() + 1.0
    for i, (n, rows) in enumerate(zip(layout.normals, layout.sizes, strict=True)):
        assert P[n] >= 0.0 and u[n] / s[n] >= -size
        assert min(P[n] * s[n], u[n] / s[n]) <= size
        parts = [(n + 1, 2, case.mu[i]), (n + 3, 1, case.laws["torsional"][i]), (n + 4, 2, case.laws["rolling"][i])]
        for first, wide, mu in parts:
            if first >= n + rows:
                continue
            p, w = P[first : first + wide], u[first : first + wide]
            unit = np.sqrt(np.mean(s[first : first + wide] ** 2))
            assert np.linalg.norm(p) <= mu * P[n] * (1 + 1e-9)
            slack = (mu * P[n] - np.linalg.norm(p)) * unit
            assert min(slack, np.linalg.norm(w) / unit) <= 3 * size + 1e-12 * forces  # sticks, or slides at the limit
            assert np.linalg.norm(p * np.linalg.norm(w) + w * np.linalg.norm(p)) <= 10 * size * (forces + speeds) * (
                1 + 1 / unit
            )


def run(seeds: range) -> dict[str, int]:
    told = dict.fromkeys(("converged", "reference", "equal", "all"), 0)
    for seed in seeds:
        case = random_cones(seed)
        found = ConeSolver(case.layout, case.mu, **case.laws)(case.G, case.c)
        assert np.isfinite(found.P).all() and np.isfinite(found.u).all() and np.isfinite(found.residual), seed
        np.testing.assert_allclose(found.u, case.G @ found.P + case.c, atol=1e-9 * (1 + np.abs(case.G @ found.P).max()))
        told["all"] += 1
        told["converged"] += found.converged
        if found.converged:
            check_law(case, found.P, found.u, 1e-9)
    return told


def test_random_problems_are_solved():
    told = run(range(300))
    assert told["converged"] >= 0.98 * told["all"], told


@pytest.mark.slow
def test_ten_thousand_random_problems_are_solved():
    told = run(range(10_000))
    assert told["converged"] >= 0.98 * told["all"], told


@pytest.mark.parametrize("seed", range(40))
def test_the_driver_equals_the_reference_where_forces_are_unique(seed):
    case = random_cones(seed, free=True)
    reference = solve_cones(case.G, case.c, case.layout, case.mu, **case.laws)
    found = ConeSolver(case.layout, case.mu, **case.laws)(case.G, case.c)
    assert reference.converged and found.converged
    np.testing.assert_allclose(found.P, reference.P, atol=1e-7 * np.abs(reference.P).max())


def test_warm_starts_from_anywhere_end_at_the_same_velocities():
    case = random_cones(7, free=True)
    solver = ConeSolver(case.layout, case.mu, **case.laws)
    first = solver(case.G, case.c)
    for seed in range(20):
        start = 10 * np.random.default_rng(seed).normal(size=case.layout.rows)
        again = solver(case.G, case.c, start)
        np.testing.assert_allclose(again.u, first.u, atol=1e-8 * np.abs(case.c).max())
