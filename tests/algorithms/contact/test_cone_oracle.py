"""Contact forces next to Clarabel: convex problems directly, friction by its own radii put in as known."""

from __future__ import annotations

import numpy as np
import pytest

from gyrostat.algorithms.contact.cone_layout import ConeLayout, force_set
from gyrostat.algorithms.contact.cone_problem import solve_cones
from tests.support.random_cones import RandomCones, random_cones

clarabel = pytest.importorskip("clarabel")
pin = pytest.importorskip("pinocchio")
sparse = pytest.importorskip("scipy.sparse")


def convex_forces(case: RandomCones, radii: list[float]) -> np.ndarray:
    """Forces of least P . G P / 2 + c . P with discs of these radii (Gauss), in rows scaled by the diagonal."""
    m, forces = case.layout.rows, force_set(case.layout, case.mu, **case.laws)
    s = np.sqrt(np.diag(case.G))
    blocks: list[tuple[np.ndarray, np.ndarray]] = []
    cones = []
    inside = {k for d in forces.discs for k in range(d.first, d.first + d.size)}
    rows = [k for k in range(m) if k not in inside]
    for sign, bound in ((-1.0, forces.low), (1.0, forces.high)):
        for k in (k for k in rows if np.isfinite(bound[k])):
            blocks.append((sign * np.eye(m)[[k]], np.array([sign * bound[k] * s[k]])))
            cones.append(clarabel.NonnegativeConeT(1))
    for disc, radius in zip(forces.discs, radii, strict=True):
        rows_of = np.zeros((disc.size + 1, m))
        rows_of[range(1, disc.size + 1), range(disc.first, disc.first + disc.size)] = -1.0 / s[disc.rows]
        blocks.append((rows_of, np.array([radius, *[0.0] * disc.size])))
        cones.append(clarabel.SecondOrderConeT(disc.size + 1))
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-12
    quadratic = sparse.csc_matrix(np.triu(case.G / np.outer(s, s)))
    A = sparse.csc_matrix(np.vstack([a for a, _ in blocks]))
    b = np.concatenate([b for _, b in blocks])
    return np.array(clarabel.DefaultSolver(quadratic, case.c / s, A, b, cones, settings).solve().x) / s


@pytest.mark.parametrize("seed", range(20))
def test_friction_within_its_own_radii_is_the_convex_solution(seed):
    """At a solution the discs have radii mu P_n: with these put in, all forces are those of a convex problem."""
    case = random_cones(seed, free=True)
    found = solve_cones(case.G, case.c, case.layout, case.mu, **case.laws)
    discs = force_set(case.layout, case.mu, **case.laws).discs
    expected = convex_forces(case, [d.ratio * found.P[d.normal] for d in discs])
    assert found.converged
    np.testing.assert_allclose(found.P, expected, atol=2e-5 * np.abs(expected).max())


def moves(case: RandomCones) -> bool:
    """Whether every row moves something."""
    return bool((np.diag(case.G) > 1e-12 * np.diag(case.G).max()).all())


@pytest.mark.parametrize("seed", [seed for seed in range(30) if moves(random_cones(seed))])
def test_without_friction_redundant_rows_have_the_velocities_of_the_convex_solution(seed):
    case = random_cones(seed)
    laws = {"torsional": 0.0, "rolling": 0.0, "bounds": case.laws["bounds"]}
    bare = RandomCones(case.J, case.W, case.v, case.layout, np.zeros(len(case.mu)), laws)
    found = solve_cones(bare.G, bare.c, bare.layout, 0.0, **laws)
    P = convex_forces(bare, [0.0] * len(force_set(bare.layout, 0.0, bounds=laws["bounds"]).discs))
    assert found.converged
    s = np.sqrt(np.diag(bare.G))
    np.testing.assert_allclose(found.u / s, (bare.G @ P + bare.c) / s, atol=1e-5 * np.abs(bare.c / s).max())


def pinocchios_impulses(G: np.ndarray, c: np.ndarray, mu: float) -> np.ndarray:
    """Impulses by Pinocchio's alternating directions, which solve the same problem; its rows are t1, t2, normal."""
    contacts = len(c) // 3
    order = np.concatenate([[3 * k + 1, 3 * k + 2, 3 * k] for k in range(contacts)])
    model, models, datas = pin.buildSampleModelManipulator(), pin.StdVec_ConstraintModel(), pin.StdVec_ConstraintData()
    for _ in range(contacts):
        contact = pin.PointContactConstraintModel(model, 1, pin.SE3.Identity())
        contact.setFriction(mu)
        models.append(pin.ConstraintModel(contact))
        datas.append(pin.ConstraintData(contact.createData()))
    settings, result = pin.ADMMSolverSettings(), pin.ADMMSolverResult()
    settings.max_iterations = 20_000
    for name in ("feasibility", "complementarity"):
        setattr(settings, f"absolute_{name}_tol", 1e-11)
        setattr(settings, f"relative_{name}_tol", 1e-11)
    operator = pin.DelassusOperatorDense(G[np.ix_(order, order)])
    assert pin.ADMMConstraintSolver(len(c)).solve(operator, c[order], models, datas, settings, result)
    P = np.zeros(len(c))
    P[order] = np.asarray(result.retrieveConstraintImpulses()).ravel()
    return P


@pytest.mark.skipif(not hasattr(pin, "ADMMConstraintSolver"), reason="this Pinocchio has no solver for cones")
@pytest.mark.parametrize("mu", [0.0, 0.3, 0.8])
@pytest.mark.parametrize("seed", range(5))
def test_impulses_are_those_of_pinocchios_complementarity_solver(seed, mu):
    rng = np.random.default_rng(seed)
    contacts = 1 + seed
    J = rng.normal(size=(3 * contacts, 3 * contacts + 6))
    G, c = J @ J.T, J @ rng.normal(size=3 * contacts + 6)
    expected = pinocchios_impulses(G, c, mu)
    found = solve_cones(G, c, ConeLayout(contacts), mu)
    np.testing.assert_allclose(found.P, expected, atol=1e-7 * max(np.abs(expected).max(), 0.1))
