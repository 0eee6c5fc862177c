"""Which torques are cut: the conditions that have one answer, on random matrices and limits."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gyrostat.studies.achievable import saturation
from gyrostat.studies.achievable.saturation import Saturation, solve_some
from tests.support.examples import few


def problem(seed: int, n: int, wide: float = 1.0, idle: bool = False) -> Saturation:
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(n, n))
    H = A @ A.T + 10.0 ** rng.uniform(-4, 0) * np.eye(n)  # from well to badly conditioned
    a, bias = rng.normal(size=n) * 10.0 ** rng.uniform(-1, 3, n), rng.normal(size=n)
    top = np.abs(rng.normal(size=n)) * wide * 10.0 ** rng.uniform(-1, 2, n)
    low = top * rng.uniform(-1, 0.0, n)  # not symmetric, as voltage limits are
    none = rng.random(n) < 0.2 if idle else np.zeros(n, bool)
    top[none], low[none] = 0.0, 0.0
    needed = H @ a + bias
    if none.any():
        x = solve_some(H, none.astype(float), -needed)
        a, needed = a + x, needed + H @ x
    return Saturation(H, a, needed, list(zip(low.tolist(), top.tolist(), strict=True)), none.tolist())


def fits(p: Saturation, cut, x, u):
    low, high = np.array(p.bounds).T
    size = 1e-7 * (1.0 + np.abs(p.needed).max())
    assert np.all(u <= high + 1e-8 * (1 + high))
    assert np.all(u >= low - 1e-8 * (1 + high))
    for mark, d, at, idle in zip(cut, x, u, p.idle, strict=True):
        assert (mark != 0) or d == 0.0
        assert idle or mark * d <= 1e-8 * (1.0 + np.abs(p.a).max()), (mark, d, at)
    assert np.allclose(p.needed + p.H @ x, u, atol=size)


@settings(deadline=None, max_examples=few(150))
@given(seed=st.integers(0, 10**6), n=st.integers(1, 10), idle=st.booleans(), start=st.integers(0, 10**6))
def test_the_conditions_hold_from_any_start(seed, n, idle, start):
    p = problem(seed, n, idle=idle)
    begin = np.random.default_rng(start).integers(-1, 2, n).astype(float)
    begin[np.array(p.idle)] = 1.0
    cut, x, u, left = p.settled(begin)
    assert not left
    fits(p, cut, x, u)
    none = np.where(p.idle, 1.0, 0.0)
    _, other, _, _ = p.settled(none)
    scale = 1.0 + np.abs(p.a).max()
    assert np.abs(p.H @ (x - other)).max() < 1e-6 * (1.0 + np.abs(p.needed).max()), "there is one answer only"
    assert (x - other) @ p.H @ (x - other) < 1e-8 * scale**2 * np.abs(p.H).max()


def test_one_change_at_a_time_comes_to_an_end_too(monkeypatch):
    """Murty's rule from the first round on."""
    for seed in range(60):
        p = problem(seed, 6)
        want = p.settled(np.zeros(6))

        def single(self, cut, x, u, plain=Saturation.better):
            changed = plain(self, cut, x, u)
            last = np.flatnonzero(changed != cut)[-1:]
            return np.where(np.isin(np.arange(len(cut)), last), changed, cut)

        with monkeypatch.context() as patch:
            patch.setattr(saturation.Saturation, "better", single)
            cut, x, u, left = p.settled(np.zeros(6))
        assert not left
        fits(p, cut, x, u)
        assert np.allclose(u, want[2], atol=1e-7 * (1 + np.abs(p.needed).max()))


def test_nothing_is_nearer_to_the_programme():
    """Gauss: every other motion within the limits has a greater (a - a_p)^T H (a - a_p)."""
    rng = np.random.default_rng(0)
    for seed in range(20):
        p = problem(seed, 4)
        _, x, _, _ = p.settled(np.zeros(4))
        low, high = np.array(p.bounds).T
        for _ in range(50):
            y = np.linalg.solve(p.H, rng.uniform(low, high) - p.needed)
            assert y @ p.H @ y >= x @ p.H @ x * (1 - 1e-9)


def test_a_neighbour_that_can_follow_does():
    """Two masses in a row on one line. The first is asked for more than it can do; the second needs no more than it
    has, but would, if the first could: it is not cut."""
    H = np.array([[3.0, 1.0], [1.0, 1.0]])
    a = np.array([100.0, 0.0])
    p = Saturation(H, a, H @ a, [(-30.0, 30.0), (-20.0, 20.0)], [False, False])
    cut, x, u, left = p.settled(np.zeros(2))
    assert not left
    assert cut.tolist() == [1.0, 0.0]
    assert (a + x).tolist() == pytest.approx([10.0, 0.0])
    assert u.tolist() == pytest.approx([30.0, 10.0])


@pytest.mark.parametrize("mask", [(0, 0, 0), (1, 0, 1), (1, 1, 1), (0, 1, 0)])
def test_some_equations_are_solved(mask):
    p = problem(3, 3)
    held = np.flatnonzero(mask)
    right = np.array([1.0, -2.0, 3.0])
    x = solve_some(p.H, [float(m) for m in mask], right)
    assert np.allclose((p.H @ x)[held], right[held])
    assert np.all(np.delete(x, held) == 0.0)
