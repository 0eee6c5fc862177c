"""Reduction of finite-element models: what it keeps, and what each method gives up."""

import time
from functools import cache
from itertools import pairwise

import numpy as np
import pytest
import scipy.linalg as la
import scipy.sparse as sp
import scipy.sparse.linalg as sl

import gyrostat as gs
from gyrostat.finite_elements import riccati
from gyrostat.finite_elements.balanced import position_gramian
from gyrostat.finite_elements.gmres import gmres
from tests.support.fe_structures import beam, plate, stepped_shaft, truss

METHODS = ("riccati", "modes", "guyan", "craig-bampton", "hurty", "rubin", "balanced")


@cache
def structure(name):
    return {"cantilever": beam(40), "free beam": beam(40, True), "shaft": stepped_shaft(), "truss": truss()}[name]


@cache
def reduced(name, method="riccati"):
    s = structure(name)
    return gs.reduce_fe(s.M, s.K, s.keep, method=method, candidates=s.candidates)


NAMES = ("cantilever", "free beam", "shaft", "truss")


def hertz(values):
    return np.sqrt(np.abs(np.sort(np.real(values)))) / (2 * np.pi)


def exact(s, count):
    """Frequencies [Hz] by a dense eigensolver."""
    return hertz(la.eigh(s.K.toarray(), s.M.toarray(), eigvals_only=True)[:count])


def balanced_load(s, seed=0):
    """A random load that inertia holds in balance where the structure is free."""
    R = np.random.default_rng(seed).normal(size=s.M.shape[0])
    B = s.rigid
    return R - s.M @ B @ np.linalg.solve(B.T @ s.M @ B, B.T @ R) if B.shape[1] else R


def held_statics(s, R):
    """u with K u = R; of a free structure one that has no rigid-body part."""
    B = s.rigid
    if not B.shape[1]:
        return sl.spsolve(s.K, R)
    A = sp.bmat([[s.K, s.M @ B], [(s.M @ B).T, None]]).tocsc()
    return sl.spsolve(A, np.r_[R, np.zeros(B.shape[1])])[: len(R)]


@pytest.mark.parametrize("name", NAMES)
def test_frequencies_rigid_inertia_and_statics_are_kept(name):
    s, r = structure(name), reduced(name)
    m, B, f = len(r.keep), s.rigid, exact(s, len(r.keep))
    elastic = slice(B.shape[1], None)
    for values in (la.eigvals(r.K_bar, r.M_bar), la.eigvalsh(r.K_bar, r.M_symmetric)):
        assert np.allclose(hertz(values)[elastic], f[elastic], rtol=1e-9)
    assert np.allclose(r.frequencies[elastic], f[elastic], rtol=1e-9)
    assert np.all(r.frequencies[: B.shape[1]] == 0.0)
    for M in (r.M_bar, r.M_symmetric):
        whole = B.T @ s.M @ B
        assert np.abs(B[r.keep].T @ M @ B[r.keep] - whole).max(initial=0) <= 1e-9 * np.abs(whole).max(initial=1)
    R = balanced_load(s)
    u = held_statics(s, R)
    load = gs.reduce_fe(s.M, s.K, r.keep, R).load
    u1 = np.linalg.lstsq(r.K_bar, load, rcond=1e-10)[0]
    lever = B[r.keep]
    if B.shape[1]:
        u1 = u1 + lever @ np.linalg.lstsq(lever, u[r.keep] - u1, rcond=None)[0]
    assert np.abs(u1 - u[r.keep]).max() <= 1e-8 * np.abs(u).max()
    assert m == s.keep


@pytest.mark.parametrize("free", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_three_thousand_coordinates_to_twelve(free):
    s = plate(26 if free else 27, free)
    keep = gs.reduce_fe(s.M, s.K, 12, method="guyan", candidates=s.candidates).keep
    begun = time.process_time()
    r = gs.reduce_fe(s.M, s.K, keep)
    r.M_symmetric  # noqa: B018 - it is timed
    assert time.process_time() - begun < 2.0
    assert "Newton" in r.solver and r.residual < 1e-9
    assert s.M.shape[0] == (2916 if free else 3024) and r.K_bar.shape == (12, 12)
    f = np.sqrt(np.maximum(sl.eigsh(s.K, 12, s.M, sigma=-300.0)[0], 0.0)) / (2 * np.pi)
    elastic = slice(s.rigid.shape[1], None)
    for values in (la.eigvals(r.K_bar, r.M_bar), la.eigvalsh(r.K_bar, r.M_symmetric)):
        assert np.abs(hertz(values)[elastic] / f[elastic] - 1).max() < 1e-9
    if free:
        B = s.rigid
        for M in (r.M_bar, r.M_symmetric):
            assert np.abs(B[keep].T @ M @ B[keep] - B.T @ s.M @ B).max() < 1e-9 * np.abs(B.T @ s.M @ B).max()
        assert (B.T @ s.M @ B)[0, 0] == pytest.approx(0.7)  # kg
    else:
        R = np.random.default_rng(0).normal(size=s.M.shape[0])
        u = sl.spsolve(s.K, R)
        u1 = np.linalg.solve(r.K_bar, R[keep] + r.Gamma @ R[r.omit])
        assert np.abs(u1 - u[keep]).max() < 1e-8 * np.abs(u).max()


@pytest.mark.parametrize("name", NAMES)
def test_the_riccati_equation_holds_and_agrees_with_the_modes(name):
    s, r = structure(name), reduced(name)
    G = np.linalg.solve(s.M.toarray(), s.K.toarray())
    i, o = r.keep, r.omit
    G11, G12, G21, G22 = (G[np.ix_(*k)] for k in ((i, i), (i, o), (o, i), (o, o)))
    L = r.L
    size = sum(np.linalg.norm(x) for x in (L @ G11, G22 @ L, L @ G12 @ L, G21))
    assert np.linalg.norm(L @ G11 - G22 @ L - L @ G12 @ L + G21) < 1e-9 * size  # (17)
    oracle = gs.reduce_fe(s.M, s.K, r.keep, method="modes")
    assert np.abs(L - oracle.L).max() < 1e-7 * np.abs(oracle.L).max()
    M11, M12, M21, M22 = (s.M.toarray()[np.ix_(*k)] for k in ((i, i), (i, o), (o, i), (o, o)))
    K11, K21, K22 = (s.K.toarray()[np.ix_(*k)] for k in ((i, i), (o, i), (o, o)))
    Gamma = -np.linalg.solve(K22, K21).T
    assert np.allclose(r.Gamma, Gamma, rtol=0, atol=1e-8 * np.abs(Gamma).max())
    assert np.allclose(r.M_bar, M11 - M12 @ L + r.Gamma @ (M21 - M22 @ L), rtol=0, atol=1e-9 * np.abs(r.M_bar).max())
    assert np.allclose(r.K_bar, K11 + r.Gamma @ K21, rtol=0, atol=1e-8 * np.abs(K11).max())


def test_the_plain_iteration_diverges_where_ours_does_not():
    """Anderson and Hallauer's fixed point, six elements, four kept deflections."""
    s = beam(6)
    keep = np.array([2, 5, 8, 10])
    omit = np.setdiff1d(np.arange(12), keep)
    G = np.linalg.solve(s.M.toarray(), s.K.toarray())
    G11, G12, G21, G22 = (G[np.ix_(*k)] for k in ((keep, keep), (keep, omit), (omit, keep), (omit, omit)))
    L = np.linalg.solve(G22, G21)
    with np.errstate(all="ignore"):
        for _ in range(60):
            L = np.linalg.solve(G22, L @ G11 - L @ G12 @ L + G21)
            if np.linalg.norm(L) > 1e12:
                break
    assert np.linalg.norm(L) > 1e12
    r = gs.reduce_fe(s.M, s.K, keep)
    assert np.linalg.norm(r.L @ G11 - G22 @ r.L - r.L @ G12 @ r.L + G21) < 1e-9 * np.linalg.norm(G22 @ r.L)
    assert np.linalg.norm(r.M_bar - r.M_bar.T) / np.linalg.norm(r.M_bar) > 0.05


def test_the_price_of_a_symmetric_mass_is_in_the_last_shapes():
    r = reduced("cantilever")
    assert np.linalg.eigvalsh(r.M_symmetric).min() > 0 and np.array_equal(r.M_symmetric, r.M_symmetric.T)
    assert r.shape_error[0] < 1e-6 < 1e-4 < r.shape_error[-1] < 0.1
    half = hertz(la.eigvals(r.K_bar, (r.M_bar + r.M_bar.T) / 2))
    assert np.abs(half / r.frequencies - 1).max() > 1e-4
    T = r.T
    s = structure("cantilever")
    lost = np.linalg.norm(T.T @ (s.K @ T) - r.K_bar) / np.linalg.norm(r.K_bar)
    assert lost > 1e-3  # Galerkin with L keeps the modes and loses statics


def test_expansion_gives_modes_and_statics_of_all_coordinates():
    s, r = structure("cantilever"), reduced("cantilever")
    V = la.eigh(s.K.toarray(), s.M.toarray())[1]
    assert np.allclose(r.expand(V[r.keep, 2]), V[:, 2], rtol=0, atol=1e-8 * np.abs(V[:, 2]).max())
    R = np.random.default_rng(3).normal(size=len(V))
    u = sl.spsolve(s.K, R)
    assert np.abs(r.expand(u[r.keep], load=R) - u).max() < 1e-8 * np.abs(u).max()
    assert np.abs(r.expand(u[r.keep]) - u).max() > 1e-4 * np.abs(u).max()
    assert r.expand(np.ones((6, 3))).shape == (80, 3)


@pytest.mark.parametrize("method", METHODS[2:])
@pytest.mark.parametrize("name", NAMES)
def test_galerkin_methods_bound_frequencies_from_above(name, method):
    s = structure(name)
    rigid = s.rigid.shape[1]
    keep = reduced(name).keep[: max(s.keep // 2, rigid)]
    if name == "truss":
        keep = gs.reduce_fe(s.M, s.K, 6, method="guyan").keep
    options = {"modes": 4} if method in ("craig-bampton", "hurty", "rubin") else {}
    r = gs.reduce_fe(s.M, s.K, keep, method=method, **options)
    f = exact(s, len(r.K_bar))
    assert np.all(r.frequencies[rigid:] >= f[rigid:] * (1 - 1e-8))
    assert np.allclose(hertz(la.eigvalsh(r.K_bar, r.M_bar))[rigid:], r.frequencies[rigid:], rtol=1e-7)
    B = s.rigid
    if rigid:  # rigid-body motions are among the shapes
        z = np.linalg.lstsq(r.T, B, rcond=None)[0]
        assert np.abs(r.T @ z - B).max() < 1e-8
        assert np.abs(z.T @ r.M_bar @ z - B.T @ s.M @ B).max() < 1e-8 * np.abs(B.T @ s.M @ B).max()
    if r.physical:
        assert np.allclose(r.T[r.keep][:, : len(keep)], np.eye(len(keep)), atol=1e-8)
        assert np.allclose(r.T[r.keep][:, len(keep) :], 0.0, atol=1e-8)


@pytest.mark.parametrize("method", ["craig-bampton", "hurty", "rubin"])
def test_more_modes_come_nearer(method):
    s = structure("cantilever")
    f = exact(s, 3)
    errors = []
    for modes in (0, 2, 4, 8):
        r = gs.reduce_fe(s.M, s.K, [60, 78], method=method, modes=modes)
        errors.append(np.abs(r.frequencies[:2] / f[:2] - 1).max())
    assert all(b < 1.001 * a + 1e-9 for a, b in pairwise(errors)) and errors[-1] < 1e-5


def test_hurty_is_craig_bampton_in_other_coordinates():
    s = structure("truss")
    keep = gs.reduce_fe(s.M, s.K, 9, method="guyan").keep
    a, b = (gs.reduce_fe(s.M, s.K, keep, method=m, modes=5) for m in ("craig-bampton", "hurty"))
    assert np.allclose(a.frequencies[6:], b.frequencies[6:], rtol=1e-9)
    assert np.abs(b.K_bar[:6]).max() < 1e-9 * np.abs(b.K_bar).max()  # the first six move the rigid body


def test_craig_bampton_is_exact_in_statics_at_its_coordinates():
    s = structure("cantilever")
    r = gs.reduce_fe(s.M, s.K, [39, 79], np.eye(80)[79], method="craig-bampton", modes=3)
    u = sl.spsolve(s.K, np.eye(80)[79])
    assert np.allclose(r.expand(np.linalg.solve(r.K_bar, r.load)), u, rtol=1e-7)
    assert r.modal == 3 and np.abs(r.K_bar[:2, 2:]).max() < 1e-6


def test_the_gramian_solves_its_lyapunov_equation():
    rng = np.random.default_rng(1)
    w, b, z = np.array([1.0, 1.1, 3.0, 7.0]), rng.normal(size=(4, 2)), 0.03
    A = np.block([[np.zeros((4, 4)), np.eye(4)], [-np.diag(w**2), -np.diag(2 * z * w)]])
    B = np.vstack([np.zeros((4, 2)), b])
    assert np.allclose(position_gramian(w, b, z), la.solve_continuous_lyapunov(A, -B @ B.T)[:4, :4], rtol=1e-10)


def test_columns_are_solved_together_each_with_its_own_matrix():
    rng = np.random.default_rng(0)
    A, y = rng.normal(size=(30, 30)) / 30 + np.eye(30), np.array([1.0, 2.0, 5.0])
    B = rng.normal(size=(30, 3))
    X = gmres(lambda X: X * y + A @ X, B, 1e-12)
    for k in range(3):
        assert np.allclose(X[:, k], np.linalg.solve(y[k] * np.eye(30) + A, B[:, k]), atol=1e-10)


def test_an_iteration_without_end_falls_back_on_the_modes(monkeypatch):
    s = structure("cantilever")
    monkeypatch.setattr(riccati, "INVERSE_STEPS", 1)
    monkeypatch.setattr(riccati, "NEWTON_STEPS", 0)
    r = gs.reduce_fe(s.M, s.K, reduced("cantilever").keep)
    assert r.solver.startswith("modes, as 1 inverse iterations, 0 Newton steps left a residual of")
    assert np.allclose(r.frequencies, reduced("cantilever").frequencies, rtol=1e-9)


def test_coordinates_without_mass_are_no_obstacle():
    s = structure("cantilever")
    M = sp.diags(np.tile([1 / 40, 0.0], 40)).tocsc()  # lumped
    r = gs.reduce_fe(M, s.K, [18, 38, 58, 78])
    G = np.linalg.inv(s.K.toarray())
    f = hertz(1 / np.sort(la.eigvals(G @ M.toarray()).real)[::-1][:4])
    assert np.allclose(r.frequencies, f, rtol=1e-9)


def test_numbers_of_coordinates_are_chosen_so_that_they_tell_the_modes_apart():
    s = structure("cantilever")
    r = gs.reduce_fe(s.M, s.K, 4, candidates=np.arange(0, 80, 2))
    assert len(r.keep) == 4 and np.all(r.keep % 2 == 0)
    assert np.linalg.cond(r.modes.V[r.keep]) < 10


S = beam(8)
ONE = np.eye(3)
MISTAKES = [
    ((np.ones((2, 3)), ONE, 1), {}, r"M has shape \(2, 3\), expected \(n, n\)"),
    ((ONE, np.eye(4), 1), {}, r"M has shape \(3, 3\), K \(4, 4\)"),
    ((ONE, np.array([[1, 2.0, 0], [0, 1, 0], [0, 0, 1]]), 1), {}, "K is not symmetric.*one triangle"),
    ((ONE, (1 + 0.01j) * ONE, 1), {}, "K is complex, expected real numbers"),
    ((np.diag([1, np.nan, 1]), ONE, 1), {}, "M has entries that are not finite"),
    ((ONE, np.diag([1.0, -1.0, 1.0]), 1), {}, r"K has -1 on its diagonal at coordinate 1"),
    ((ONE, ONE, [0.5]), {}, "keep must be a number of coordinates or their indices"),
    ((ONE, ONE, [0, 3]), {}, "keep has indices from 0 to 3, expected different ones from 0 to 2"),
    ((ONE, ONE, [0, 0]), {}, "each coordinate once"),
    ((ONE, ONE, [0, 1, 2]), {}, "all 3 coordinates are kept"),
    ((ONE, ONE, 3), {}, "keep=3 of 3 coordinates"),
    ((S.M, S.K, 2), {"method": "guyen"}, "no method 'guyen'.*guyan"),
    ((S.M, S.K, 2), {"modes": 3}, "method 'riccati' has no modal coordinates"),
    ((S.M, S.K, [0]), {"method": "rubin", "modes": -1}, "modes must be a number of modes, got -1"),
    ((S.M, S.K, [0]), {"method": "craig-bampton", "modes": 99}, "99 modes of 15 coordinates"),
    ((S.M, S.K, [0]), {"candidates": [1]}, "candidates are for keep=number"),
    ((S.M, S.K, 2, np.ones(3)), {}, r"load has shape \(3,\), expected finite numbers \(16,\)"),
    ((beam(8, True).M, beam(8, True).K, [0]), {}, "can move while the kept coordinates stand still"),
]


@pytest.mark.parametrize(("arguments", "options", "message"), MISTAKES)
def test_mistakes_are_told(arguments, options, message):
    with pytest.raises(gs.ReductionError, match=message):
        gs.reduce_fe(*arguments, **options)


def test_kept_coordinates_that_do_not_see_the_modes_are_refused():
    """The kept deflections are those of one of two equal beams side by side."""
    M, K = (sp.block_diag([A, A * factor]).tocsc() for A, factor in ((S.M, 1.0), (S.K, 1.3)))
    with pytest.raises(gs.ReductionError, match=r"do not tell the first 2 modes apart.*keep=2"):
        gs.reduce_fe(M, K, [6, 14])


def test_equal_frequencies_are_not_parted():
    M, K = (sp.block_diag([A, A]).tocsc() for A in (S.M, S.K))
    with pytest.raises(gs.ReductionError, match=r"one of several equal ones.*keep 4 coordinates"):
        gs.reduce_fe(M, K, [6, 14, 22])
    assert gs.reduce_fe(M, K, [6, 14, 22, 30]).frequencies[0] == pytest.approx(3.5160152685 / 2 / np.pi, rel=1e-5)
