"""Contact problems by the thousand: always an end, never NaN, the law obeyed; the driver beside the reference."""

from __future__ import annotations

import numpy as np
import pytest

from gyrostat.algorithms.contact.cone_driver import ConeSolver
from gyrostat.algorithms.contact.cone_layout import ConeLayout
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
    told = {"converged": 0, "all": 0}
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
    assert told["converged"] >= 0.995 * told["all"], told


@pytest.mark.slow
def test_ten_thousand_random_problems_are_solved():
    told = run(range(10_000))
    assert told["converged"] >= 0.995 * told["all"], told


def stack(boxes: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows (normal, x, y) of four points below each box, on the next one or the ground, and the inverse mass matrix."""
    a, mass = 0.1, np.linspace(0.5, 2.0, boxes)
    W = np.diag(np.concatenate([[1.5 / (m * a * a)] * 3 + [1 / m] * 3 for m in mass]))
    rows = []
    for i in range(boxes):
        for x, y in ((a, a), (a, -a), (-a, a), (-a, -a)):
            row = np.zeros((3, 6 * boxes))
            for box, z, sign in ((i, -a, 1.0), (i - 1, a, -1.0)):
                if box >= 0:
                    cross = np.array([[0.0, z, -y], [-z, 0.0, x], [y, -x, 0.0]])
                    row[:, 6 * box : 6 * box + 6] = sign * np.hstack([cross, np.eye(3)])[[2, 0, 1]]
            rows.append(row)
    return np.vstack(rows), W


@pytest.mark.parametrize("boxes", [2, 5, 10])
def test_stacks_of_boxes_come_to_rest(boxes):
    """They are thrown at random; then only weight acts, in steps of 5 ms, 12 rows of rank 6 for each box."""
    J, W = stack(boxes)
    solver = ConeSolver(ConeLayout(4 * boxes), 0.5)
    v, h = 0.05 * np.random.default_rng(boxes).normal(size=6 * boxes), 0.005
    found = None
    for _ in range(40):
        v[5::6] -= 9.81 * h
        found = solver(J @ W @ J.T, J @ v)
        assert found.converged
        v = v + W @ J.T @ found.P
    assert found is not None
    total = 9.81 * h / np.diag(W)[5::6]
    assert found.P[:12:3].sum() == pytest.approx(total.sum(), rel=1e-6)  # the ground carries them all
    assert np.abs(v).max() <= 1e-6


@pytest.mark.by_default(12)
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
