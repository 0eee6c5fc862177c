"""Trajectories: exact derivatives, stated smoothness, no silent answer outside."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.interpolate import make_interp_spline

import gyrostat as gs
from gyrostat.simulate import trajectories as tr
from gyrostat.spatial import so3
from tests.support.comparing import assert_close, central
from tests.support.examples import few
from tests.support.puma_arm import puma

RNG = np.random.default_rng(5)
TIMES = np.array([0.0, 0.4, 1.1, 1.5, 2.3])
POINTS = RNG.uniform(-1.0, 1.0, (5, 2))
LOOP = np.concatenate([POINTS, POINTS[:1]])

ALL = {
    "point to point": tr.point_to_point([0.3, 0.0], [1.0, -2.0], 1.7, 4),
    "moving ends": tr.quintic([0.0], [1.0], 1.2, start_derivatives=[[0.5], [0.1]], end_derivatives=[[0.2], [-1.0]]),
    "hermite": tr.hermite([0.0, 0.5, 1.3], RNG.normal(size=(3, 4, 2))),
    "bezier": tr.bezier(RNG.normal(size=(6, 2)), 0.8),
    "spline": tr.spline(TIMES, POINTS),
    "natural spline": tr.spline(TIMES, POINTS, 5, "natural"),
    "periodic spline": tr.spline(np.append(TIMES, 3.0), LOOP, 7, "periodic"),
    "spline of degree 17": tr.spline(TIMES, POINTS, 17),
    "trapezoidal": tr.trapezoidal([0.0, 1.0], [1.0, -2.0], [1.0, 1.2], 4.0),
    "fourier": tr.fourier([0.1, 0.2], RNG.normal(size=(3, 2)), RNG.normal(size=(3, 2)), 0.5, 2),
    "filtered step": tr.filtered_step([0.0, 1.0], [2.0, 0.5], 2.5),
    "hold": tr.hold([0.3, 0.4], 1.0),
    "joined": tr.quintic([0.0], [1.0], 1.0).then(tr.hold([1.0], 0.3)).then(tr.septic([1.0], [0.5], 0.8)),
    "slower": tr.spline(TIMES, POINTS, 5).slower(1.5),
    "stacked": tr.stack(tr.quintic([0.0], [1.0], 1.0), tr.filtered_step([0.0], [1.0], 2.0)),
}


# ------------------------------------------------------------------------------------------------ all of them
@pytest.mark.parametrize("motion", ALL.values(), ids=ALL.keys())
def test_each_derivative_is_the_rate_of_the_one_before(motion):
    top = int(min(motion.smoothness + 1, 10))
    seams = np.array([0.0, motion.duration, *getattr(motion, "breaks", [])])
    peaks = motion.peaks(top)
    for t in motion.duration * np.array([0.11, 0.37, 0.52, 0.83]):
        if np.abs(seams - t).min() < 1e-2:
            continue
        for k in range(top):
            rate = central(lambda x, k=k: motion.derivatives(x, k)[k], t, 1e-3 * min(1.0, motion.duration))
            error = np.abs(rate - motion.derivatives(t, top)[k + 1]).max()
            assert error <= 1e-6 * peaks[k + 1] + 1e-8 * peaks[k] / motion.duration


@pytest.mark.parametrize("motion", ALL.values(), ids=ALL.keys())
def test_times_of_any_shape(motion):
    order = int(min(motion.smoothness + 1, 4))
    t = motion.duration * np.array([[0.1, 0.5, 0.9], [0.2, 0.0, 1.0]])
    table = motion.derivatives(t, order)
    assert table.shape == (2, 3, order + 1, motion.n)
    assert motion(t).shape == (2, 3, motion.n)
    assert np.array_equal(motion.derivatives(t[1, 2], order), table[1, 2])
    assert np.array_equal(motion(t), table[:, :, 0])
    assert motion.derivatives(list(t[0]), order).shape == (3, order + 1, motion.n)
    assert motion.derivatives(np.zeros(0), order).shape == (0, order + 1, motion.n)


@pytest.mark.parametrize("motion", ALL.values(), ids=ALL.keys())
def test_continuous_up_to_the_stated_order_and_no_further(motion):
    """At every seam, the ends included, derivatives up to ``smoothness`` do not jump; one of the next order does."""
    if math.isinf(motion.smoothness):
        return
    top = int(motion.smoothness) + 1
    seams = np.unique([0.0, 1.0, 1.3, *getattr(motion, "breaks", [motion.duration]), motion.duration])
    e = 1e-9 * motion.duration
    inside = seams if motion.outside != "error" else seams[(seams > 0.0) & (seams < motion.duration)]
    jumps = np.abs(motion.derivatives(inside + e, top) - motion.derivatives(inside - e, top)).max(axis=(0, 2))
    peaks = motion.peaks(top)
    assert np.all(jumps[:-1] <= 1e-5 * peaks[:-1])
    if motion.outside != "error" or len(inside):
        assert jumps[-1] > 1e-3 * peaks[-1]


@pytest.mark.parametrize("motion", ALL.values(), ids=ALL.keys())
def test_orders_with_impulses_are_refused(motion):
    if math.isinf(motion.smoothness):
        assert motion.derivatives(0.3, 30).shape == (31, motion.n)
        return
    motion.derivatives(0.3, int(motion.smoothness) + 1)
    with pytest.raises(gs.StateError, match=r"impulses|are known"):
        motion.derivatives(0.3, int(motion.smoothness) + 2)
    for wrong in (-1, 1.5, True, "2"):
        with pytest.raises(gs.StateError, match="whole number"):
            motion.derivatives(0.3, wrong)


@pytest.mark.parametrize("motion", ALL.values(), ids=ALL.keys())
def test_times_outside(motion):
    if motion.outside == "error":
        for t in (-0.1, motion.duration + 0.1):
            with pytest.raises(gs.StateError, match="is outside"):
                motion(t)
        assert np.all(np.isfinite(motion(motion.duration * (1 + 1e-15))))
    elif motion.outside == "hold":
        table = motion.derivatives([-1.0, motion.duration + 1.0], 1)
        assert np.array_equal(table[:, 0], motion([0.0, motion.duration]))
        assert not table[:, 1].any()
    else:
        assert np.all(np.isfinite(motion([-1.0, motion.duration + 1.0])))
    for t in (np.nan, np.inf):
        with pytest.raises(gs.NonFiniteError, match="finite"):
            motion(t)
    with pytest.raises(gs.GyrostatError):
        motion("soon")
    assert f"{motion.n} coordinates" in repr(motion)


# ------------------------------------------------------------------------------------------------ filtered step
def exact_step(x: mpmath.mpf, k: int, lags: int) -> mpmath.mpf:
    """d^k F/dx^k in 60 digits, F(x) = 1 - exp(-x) sum x^j/j!, from f_m' = f_(m-1) - f_m of the densities."""
    if k == 0:
        return 1 - mpmath.exp(-x) * sum(x**j / mpmath.factorial(j) for j in range(lags))

    def density(m: int) -> mpmath.mpf:
        return x ** (m - 1) * mpmath.exp(-x) / mpmath.factorial(m - 1)

    return sum((-1) ** (k - 1 - j) * mpmath.binomial(k - 1, j) * density(lags - j) for j in range(k))


def test_the_filtered_step_agrees_with_sixty_digits():
    with mpmath.workdps(60):
        motion = tr.filtered_step([0.0], [1.0], 2.5)
        t = np.concatenate([[0.0, 1e-6, 1e-3], np.linspace(0.02, 4.0, 60)])
        got = motion.derivatives(t, 16)[:, :, 0]
        T = mpmath.mpf(motion.time_constant)
        for k in range(17):
            want = np.array([float(exact_step(mpmath.mpf(x) / T, k, 16) / T**k) for x in t])
            assert np.abs(got[:, k] - want).max() <= 1e-14 * np.abs(want).max()
        x = mpmath.mpf(1)  # the formula of the oracle is itself a derivative
        assert abs(mpmath.diff(lambda y: exact_step(y, 0, 16), x, 5) - exact_step(x, 5, 16)) < mpmath.mpf("1e-30")


def test_the_filtered_step_solves_the_equation_of_the_filter():
    """(1 + T d/dt)^16 q = end for t > 0."""
    motion = tr.filtered_step([0.5], [2.5], 2.5)
    t = np.linspace(0.0, 3.0, 50)
    table = motion.derivatives(t, 16)[:, :, 0]
    terms = np.array([math.comb(16, k) * motion.time_constant**k for k in range(17)])
    assert_close(table @ terms, np.full(50, 2.5), 1e-11)


def test_the_filtered_step_starts_smoothly_and_settles():
    motion = tr.filtered_step([0.0], [2.0], 2.5)
    assert motion.smoothness == 15
    at_start = motion.derivatives(0.0, 16)[:, 0]
    assert not at_start[:16].any()
    assert at_start[16] == pytest.approx(2.0 / motion.time_constant**16, rel=1e-14)
    assert not motion.derivatives(-0.1, 16).any()
    assert 2.0 - motion(2.5)[0] == pytest.approx(2e-6, rel=1e-8)
    assert motion(1e3)[0] == 2.0
    assert np.all(np.diff(motion(np.linspace(0.0, 5.0, 500))[:, 0]) >= 0.0)  # no overshoot
    assert tr.filtered_step(0.0, 1.0, 1.0, time_constant=0.1).time_constant == 0.1
    first = tr.filtered_step(0.0, 1.0, 1.0, order=1, time_constant=0.5)
    assert_close(first(0.7), [1.0 - math.exp(-1.4)], 1e-15)
    assert first.smoothness == 0


@pytest.mark.parametrize("lags", [1, 2, 5, 16, 40, 64])
def test_the_filter_of_any_order_tends_to_the_step(lags):
    motion = tr.filtered_step(0.0, 1.0, 2.0, order=lags, settled=1e-13)
    assert abs(motion(2.0)[0] - 1.0) < 2e-13
    assert np.all(np.isfinite(motion.derivatives(np.linspace(0, 100, 1000), lags)))


# ------------------------------------------------------------------------------------------------ polynomials
def test_cubic_quintic_septic_closed_forms():
    x = np.linspace(0.0, 1.0, 21)
    t, way = 2.0 * x, 3.0
    assert_close(tr.point_to_point(1.0, 4.0, 2.0, 1)(t)[:, 0], 1.0 + way * (3 * x**2 - 2 * x**3), 1e-14)
    assert_close(tr.quintic(1.0, 4.0, 2.0)(t)[:, 0], 1.0 + way * (10 * x**3 - 15 * x**4 + 6 * x**5), 1e-14)
    septic = 35 * x**4 - 84 * x**5 + 70 * x**6 - 20 * x**7
    assert_close(tr.septic(1.0, 4.0, 2.0)(t)[:, 0], 1.0 + way * septic, 1e-14)
    assert tr.quintic(1.0, 4.0, 2.0).derivatives(1.0, 1)[1, 0] == pytest.approx(15.0 / 8.0 * way / 2.0, rel=1e-14)


def polynomial(series: list, x: mpmath.mpf) -> mpmath.mpf:
    """Horner's scheme."""
    value = mpmath.mpf(0)
    for c in reversed(series):
        value = value * x + c
    return value


@pytest.mark.parametrize("order", [1, 4, 8, 12, 16, 24, 32])
def test_smooth_polynomials_of_high_order_against_many_digits(order):
    """The rate of the polynomial is c x^m (1 - x)^m; relative to the peak of each derivative."""
    motion = tr.point_to_point([0.3], [1.7], 2.0, order)
    assert motion.smoothness == order
    t = np.linspace(0.0, 2.0, 33)
    got = motion.derivatives(t, order + 1)[:, :, 0]
    with mpmath.workdps(80):
        factor = mpmath.factorial(2 * order + 1) / mpmath.factorial(order) ** 2
        series = [mpmath.mpf(0)] * (order + 1)
        series += [factor * (-1) ** j * mpmath.binomial(order, j) / (order + 1 + j) for j in range(order + 1)]
        for k in range(order + 2):
            want = np.array([float(polynomial(series, mpmath.mpf(x) / 2) * 1.4 / 2**k) for x in t])
            want += 0.3 * (k == 0)
            assert np.abs(got[:, k] - want).max() <= 1e-14 * np.abs(want).max()
            series = [i * c for i, c in enumerate(series)][1:]
    assert not got[0, 1 : order + 1].any()
    assert not got[-1, 1 : order + 1].any()


@settings(max_examples=few(40), deadline=None)
@given(seed=st.integers(0, 10**6), order=st.integers(0, 9), n=st.integers(1, 3), duration=st.floats(0.05, 30.0))
def test_any_conditions_at_the_ends_are_met(seed, order, n, duration):
    rng = np.random.default_rng(seed)
    tables = rng.normal(size=(2, order + 1, n)) / duration ** np.arange(order + 1)[:, None]
    motion = tr.point_to_point(
        tables[0, 0], tables[1, 0], duration, order, start_derivatives=tables[0, 1:], end_derivatives=tables[1, 1:]
    )
    for t, table in zip((0.0, duration), tables, strict=True):
        scale = motion.peaks(order)[:, None]
        assert np.all(np.abs(motion.derivatives(t, order) - table) <= 1e-12 * scale)


def test_hermite_meets_its_table():
    table = RNG.normal(size=(4, 3, 2))
    motion = tr.hermite([0.0, 1.0, 1.5, 3.0], table)
    assert motion.smoothness == 2
    assert_close(motion.derivatives([0.0, 1.0, 1.5, 3.0], 2), table, 1e-12)


def test_bezier_ends_and_tangents():
    control = RNG.normal(size=(5, 3))
    curve = tr.bezier(control, 2.0)
    assert_close(curve([0.0, 2.0]), control[[0, 4]], 1e-15)
    assert_close(curve.derivatives(0.0, 1)[1], 4.0 * (control[1] - control[0]) / 2.0, 1e-14)
    middle = sum(math.comb(4, i) * control[i] for i in range(5)) / 16.0
    assert_close(curve(1.0), middle, 1e-14)
    assert curve.smoothness == math.inf


# ------------------------------------------------------------------------------------------------ splines
def test_three_points_of_third_order_without_a_stop():
    """G13 section 3: rest, a middle point that is passed with v = 3 (q2 - q0)/(4 h), rest."""
    q = np.array([[0.0, 1.0], [0.4, 0.2], [1.0, -1.0]])
    motion = tr.spline([0.0, 2.0, 4.0], q)
    assert_close(motion([0.0, 2.0, 4.0]), q, 1e-15)
    assert_close(motion.derivatives(2.0, 1)[1], 3.0 * (q[2] - q[0]) / 8.0, 1e-15)
    assert not motion.derivatives([0.0, 4.0], 1)[:, 1].any()
    before, after = motion.derivatives([2.0 - 1e-12, 2.0], 2)
    assert_close(before[2], after[2], 1e-10)


@pytest.mark.parametrize("degree", [3, 5, 7, 9])
@pytest.mark.parametrize("ends", ["rest", "natural", "periodic"])
def test_splines_equal_those_of_scipy(degree, ends):
    rng = np.random.default_rng(degree)
    times = np.concatenate([[0.0], np.cumsum(rng.uniform(0.4, 1.5, 11))])
    q = rng.normal(size=(12, 2))
    k = (degree - 1) // 2
    if ends == "periodic":
        q[-1] = q[0]
        other = make_interp_spline(times, q, degree, bc_type="periodic")
    else:
        orders = range(1, k + 1) if ends == "rest" else range(k + 1, 2 * k + 1)
        other = make_interp_spline(times, q, degree, bc_type=([(j, np.zeros(2)) for j in orders],) * 2)
    t = np.linspace(0.0, times[-1], 300)
    assert_close(tr.spline(times, q, degree, ends)(t), other(t), 1e-10)


@pytest.mark.parametrize("degree", [9, 13, 17, 25, 33])
@pytest.mark.parametrize("ends", ["rest", "periodic"])
def test_splines_of_high_degree_are_as_smooth_as_they_say(degree, ends):
    """Left and right derivatives at inner points, from the neighbouring polynomials themselves."""
    q = np.concatenate([POINTS, POINTS[:1]])
    motion = tr.spline(np.append(TIMES, 3.0), q, degree, ends)
    assert_close(motion(np.append(TIMES, 3.0)[:-1]), POINTS, 1e-12)
    h, peaks = np.diff(motion.breaks), motion.peaks(degree - 1)
    for k in range(degree):
        scale = math.perm(degree, k)
        left = motion.differences[k][:-1, -1] * scale / h[:-1, None] ** k
        right = motion.differences[k][1:, 0] * scale / h[1:, None] ** k
        assert np.abs(left - right).max() <= 1e-12 * peaks[k]
    assert motion.smoothness == ((degree - 1) // 2 if ends == "rest" else degree - 1)


@pytest.mark.parametrize("degree", [3, 5, 7, 9, 17])
@pytest.mark.parametrize("ratio", [1e2, 1e4])
def test_uneven_times_are_solved_or_refused(degree, ratio):
    times, q = np.array([0.0, 1.0, 1.0 + 1.0 / ratio, 2.0]), [[0.0], [1.0], [2.0], [3.0]]
    motion = tr.spline(times, q, degree)
    assert motion.largest_jump(degree - 1) < 1e-10
    assert_close(motion(times), q, 1e-12)
    with pytest.raises(gs.SpecError, match="too uneven for degree 33"):
        tr.spline([0.0, 1.0, 1.0 + 1e-9, 2.0], q, 33)


@pytest.mark.parametrize("degree", [3, 7, 9, 33])
@pytest.mark.parametrize("ends", ["natural", "rest"])
def test_straight_lines_and_rests_are_no_uneven_times(degree, ends):
    times = np.array([0.0, 1.0, 1.1, 3.7, 3.71])
    motion = tr.spline(times, times[:, None] * [0.3, 0.0] + [0.1, 0.7], degree, ends=ends)
    assert_close(motion(times)[:, 1], np.full(5, 0.7), 1e-12)
    if ends == "natural" and degree < 33:  # which swings by what rounding leaves of a straight line
        t = np.linspace(0.0, 3.71, 50)
        assert_close(motion(t)[:, 0], 0.3 * t + 0.1, 1e-12)


def test_a_spline_of_degree_one_is_a_polygon():
    motion = tr.spline(TIMES, POINTS, 1)
    t = np.linspace(0.0, TIMES[-1], 50)
    assert_close(motion(t), np.stack([np.interp(t, TIMES, POINTS[:, k]) for k in range(2)], axis=1), 1e-15)
    assert motion.smoothness == 0


def test_a_spline_with_given_derivatives_at_its_ends():
    first, last = RNG.normal(size=(2, 2, 2))
    motion = tr.spline(TIMES, POINTS, 5, start_derivatives=first, end_derivatives=last)
    assert_close(motion.derivatives(0.0, 2)[1:], first, 1e-12)
    assert_close(motion.derivatives(TIMES[-1], 2)[1:], last, 1e-11)
    assert motion.outside == "error"
    assert motion.smoothness == 4


def test_a_spline_reproduces_polynomials_of_its_degree():
    x = np.polynomial.Polynomial([0.3, 1.0, -2.0, 0.7, 0.2, -0.1])
    rates = [x.deriv(1), x.deriv(2)]
    edges = [[[r(t)] for r in rates] for t in (0.0, TIMES[-1])]
    motion = tr.spline(TIMES, x(TIMES), 5, start_derivatives=edges[0], end_derivatives=edges[1])
    t = np.linspace(0.0, TIMES[-1], 50)
    for k in range(6):
        assert_close(motion.derivatives(t, 5)[:, k, 0], x.deriv(k)(t) if k else x(t), 1e-10)


# ------------------------------------------------------------------------------------------------ trapezoidal, Fourier
@settings(max_examples=few(60), deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(1, 4), longer=st.one_of(st.none(), st.floats(1.0, 5.0)))
def test_trapezoidal_motion_keeps_its_limits_and_uses_one(seed, n, longer):
    rng = np.random.default_rng(seed)
    start, end = rng.normal(size=(2, n))
    v, a = rng.uniform(0.1, 3.0, (2, n))
    motion = tr.trapezoidal(start, end, v, a)
    if longer is not None:
        wanted = motion.duration * longer
        motion = tr.trapezoidal(start, end, v, a, duration=wanted)
        assert motion.duration == pytest.approx(wanted, rel=1e-12)
    t = np.concatenate([np.linspace(0.0, motion.duration, 101), motion.breaks])
    table = motion.derivatives(t, 2)
    speed, force = np.abs(table[:, 1]).max(axis=0) / v, np.abs(table[:, 2]).max(axis=0) / a
    assert speed.max() <= 1.0 + 1e-9
    assert force.max() == pytest.approx(1.0, rel=1e-6)
    assert_close(motion([0.0, motion.duration]), [start, end], 1e-12)
    assert not motion.derivatives([-1e-3, motion.duration + 1e-3], 1)[:, 1].any()
    line = (table[:, 0] - start) / (end - start)  # all joints in step
    assert np.ptp(line, axis=1).max() < 1e-9


def test_trapezoidal_by_hand():
    motion = tr.trapezoidal([0.0], [3.0], 1.0, 2.0)  # ramps of 0.5 s, 0.25 rad each; 2.5 s at 1 rad/s
    assert motion.duration == pytest.approx(3.5)
    assert_close(motion([0.5, 1.0, 3.0])[:, 0], [0.25, 0.75, 2.75], 1e-14)
    assert_close(motion.derivatives([0.2, 1.0, 3.2], 2)[:, 2, 0], [2.0, 0.0, -2.0], 1e-12)
    triangle = tr.trapezoidal([0.0], [1.0], 10.0, 4.0)
    assert triangle.duration == pytest.approx(1.0)
    assert triangle.smoothness == 1


def test_fourier_series():
    motion = tr.fourier([0.5], [[1.0], [0.0], [0.2]], [[0.0], [0.3]], 0.25, periods=3)
    w, t = 0.5 * math.pi, np.linspace(-1.0, 20.0, 57)
    assert motion.duration == 12.0
    assert_close(motion(t)[:, 0], 0.5 + np.sin(w * t) + 0.2 * np.sin(3 * w * t) + 0.3 * np.cos(2 * w * t), 1e-14)
    third = -(w**3) * np.cos(w * t) - 0.2 * (3 * w) ** 3 * np.cos(3 * w * t) + 0.3 * (2 * w) ** 3 * np.sin(2 * w * t)
    assert_close(motion.derivatives(t, 3)[:, 3, 0], third, 1e-12)


# ------------------------------------------------------------------------------------------------ composition
def test_then_finds_the_smoothness_of_the_seam():
    rising = tr.quintic([0.0], [1.0], 1.0, end_derivatives=[[2.0], [0.0]])
    falling = tr.quintic([1.0], [1.5], 2.0, start_derivatives=[[2.0], [0.0]])
    both = rising.then(falling)
    assert both.duration == 3.0
    assert both.smoothness == 2
    assert_close(both([0.5, 1.0, 2.0]), np.concatenate([rising([0.5]), falling([0.0, 1.0])]), 1e-15)
    with pytest.raises(gs.StateError, match="is outside"):
        both(-0.5)
    assert tr.quintic([0.0], [1.0], 1.0).then(tr.septic([1.0], [0.0], 1.0)).smoothness == 2
    kink = tr.bezier([[0.0], [1.0]], 1.0).then(tr.bezier([[1.0], [1.5]], 1.0))
    assert kink.smoothness == 0
    smooth = tr.filtered_step([0.0], [1.0], 2.5, settled=1e-18).then(tr.filtered_step([1.0], [0.0], 2.5))
    assert smooth.smoothness == 15
    with pytest.raises(gs.SpecError, match=r"elbow jumps from 1 to 1.2"):
        tr.quintic([0.0], [1.0], 1.0, names=["elbow"]).then(tr.quintic([1.2], [1.0], 1.0))
    with pytest.raises(gs.ShapeError, match="2 coordinates, expected 1"):
        tr.hold([0.0], 1.0).then(tr.hold([0.0, 0.0], 1.0))
    with pytest.raises(gs.SpecError, match="expected a trajectory"):
        tr.hold([0.0], 1.0).then("wait")


@pytest.mark.parametrize("factor", [0.5, 1.0, 3.0])
def test_slower_divides_derivatives_by_powers(factor):
    motion = tr.point_to_point([0.0, 1.0], [1.0, 0.0], 2.0, 6)
    slow = motion.slower(factor)
    assert slow.duration == 2.0 * factor
    assert slow.smoothness == 6
    t = np.linspace(0.0, 2.0, 11)
    powers = factor ** -np.arange(8.0)[:, None]
    got, want = slow.derivatives(factor * t, 7), motion.derivatives(t, 7) * powers
    assert np.all(np.abs(got - want) <= 1e-11 * slow.peaks(7)[:, None])
    with pytest.raises(gs.SpecError, match="above 0"):
        motion.slower(-1.0)


def test_stack_puts_coordinates_side_by_side():
    one, two = tr.quintic([0.0], [1.0], 1.0, names=["a"]), tr.septic([0.0, 2.0], [1.0, 3.0], 2.0, names=["b", "c"])
    both = tr.stack(one, two)
    assert (both.n, both.duration, both.names, both.smoothness) == (3, 2.0, ("a", "b", "c"), 2)
    assert_close(both(1.5), [1.0, *two(1.5)], 1e-15)
    assert_close(both(9.0), [1.0, 1.0, 3.0], 1e-15)
    with pytest.raises(gs.SpecError, match="without stopping"):
        tr.stack(tr.bezier([[0.0], [1.0]], 1.0), two)
    with pytest.raises(gs.SpecError, match="no trajectory"):
        tr.stack()


# ------------------------------------------------------------------------------------------------ mistakes
MISTAKES = [
    (lambda: tr.quintic([0.0], [1.0, 2.0], 1.0), gs.ShapeError, r"end has shape \(2,\), expected \(1,\)"),
    (lambda: tr.quintic([[0.0]], [1.0], 1.0), gs.ShapeError, "start has shape"),
    (lambda: tr.quintic([np.nan], [1.0], 1.0), gs.NonFiniteError, "start holds nan"),
    (lambda: tr.quintic([0.0], [1.0], 0.0), gs.SpecError, "duration must be one number above 0"),
    (lambda: tr.quintic([0.0], [1.0], [1.0, 2.0]), gs.SpecError, "duration must be one number"),
    (lambda: tr.quintic(["x"], [1.0], 1.0), gs.GyrostatError, "start"),
    (lambda: tr.quintic([0.0], [1.0], 1.0, names=["a", "b"]), gs.SpecError, "names must be 1 different"),
    (lambda: tr.quintic([0.0], [1.0], 1.0, start_derivatives=[[1.0]]), gs.SpecError, r"expected \(2, 1\)"),
    (lambda: tr.point_to_point([0.0], [1.0], 1.0, 99), gs.SpecError, "order must be a whole number from 0 to 32"),
    (lambda: tr.spline([0.0, 1.0, 1.0], POINTS[:3]), gs.SpecError, "times must grow, but time 2 is 1 s after 1 s"),
    (lambda: tr.spline([0.0, 2.0, 1.0], POINTS[:3]), gs.SpecError, "times must grow"),
    (lambda: tr.spline([1.0, 2.0, 3.0], POINTS[:3]), gs.SpecError, "start at 0"),
    (lambda: tr.spline([0.0, 1.0], POINTS), gs.ShapeError, "5 points for 2 times"),
    (lambda: tr.spline([0.0], POINTS[:1]), gs.ShapeError, "at least two"),
    (lambda: tr.spline(TIMES, POINTS, 4), gs.SpecError, "degree must be odd"),
    (lambda: tr.spline(TIMES, POINTS, 35), gs.SpecError, "degree must be odd, 1 to 33"),
    (lambda: tr.spline(TIMES, POINTS, 3, "periodc"), gs.SpecError, "did you mean 'periodic'"),
    (lambda: tr.spline(TIMES, POINTS, 3, "periodic"), gs.SpecError, "last one equal to the first"),
    (lambda: tr.spline(TIMES, POINTS, 3, "natural", start_derivatives=[[0, 0]]), gs.SpecError, "use ends='rest'"),
    (lambda: tr.spline(TIMES, POINTS, 5, start_derivatives=[[0, 0]]), gs.ShapeError, r"expected \(2, 2\)"),
    (lambda: tr.hermite(TIMES, POINTS), gs.ShapeError, "instants, orders"),
    (lambda: tr.trapezoidal([1.0], [1.0], 1.0, 1.0), gs.SpecError, "start and end are equal"),
    (lambda: tr.trapezoidal([1.0], [2.0], -1.0, 1.0), gs.SpecError, "limits must be above zero"),
    (lambda: tr.trapezoidal([1.0], [2.0], 1.0, 1.0, duration=0.5), gs.SpecError, "too short: the limits allow 2 s"),
    (lambda: tr.fourier([0.0], [[1.0, 2.0]], [[1.0]], 1.0), gs.ShapeError, "sine has shape"),
    (lambda: tr.fourier([0.0], [[1.0]], [[1.0]], 1.0, periods=0), gs.SpecError, "periods"),
    (lambda: tr.bezier([[1.0]], 1.0), gs.SpecError, "degree must be a whole number from 1"),
    (lambda: tr.filtered_step([0.0], [1.0], 1.0, order=0), gs.SpecError, "order must be a whole number from 1 to 64"),
    (lambda: tr.filtered_step([0.0], [1.0], 1.0, settled=0.9), gs.SpecError, "settled must be between"),
    (lambda: tr.spline(TIMES, POINTS, np.array([3, 5])), gs.SpecError, "degree must be odd"),
    (lambda: tr.spline(TIMES, POINTS, 3, ["rest"]), gs.SpecError, "ends is"),
    (lambda: tr.quintic([0.0], [1.0], 1.0, names=3), gs.SpecError, "names must be"),
    (lambda: tr.quintic([1e308], [-1e308], 1.0)(0.5), gs.NonFiniteError, "too large"),
    (lambda: tr.point_to_point([0.0], [1.0], 1e-300, 16).derivatives(0.0, 3), gs.NonFiniteError, "too short"),
    (lambda: tr.hold([], 1.0), gs.ShapeError, "q has shape"),
]


@pytest.mark.parametrize(("call", "error", "message"), MISTAKES, ids=[message for *_, message in MISTAKES])
def test_mistakes_are_told(call, error, message):
    with pytest.raises(error, match=message):
        call()


# ------------------------------------------------------------------------------------------------ Cartesian lines
Q0 = np.array([0.3, -0.8, 0.5, 0.4, 0.9, -0.2])


def line_target(arm: gs.Model) -> np.ndarray:
    T = gs.fk(arm, Q0 + np.array([0.0, 0.1, -0.1, 0.3, 0.2, 0.4]))["l6"].matrix
    T[:3, 3] = gs.fk(arm, Q0)["l6"].p + np.array([0.1, -0.15, 0.1])
    return T


def test_a_cartesian_line_is_straight_at_every_time_and_has_exact_rates():
    arm = puma()
    T = line_target(arm)
    motion = tr.cartesian_line(arm, "l6", Q0, T, 2.0)
    t = np.linspace(0.0, 2.0, 41)
    table = motion.derivatives(t, 2)
    here, s = gs.fk(arm, table[:, 0])["l6"], tr.quintic(0.0, 1.0, 2.0)(t)
    assert_close(here.p, here.p[0] + s * (T[:3, 3] - here.p[0]), 1e-12)
    assert_close(here.R[-1], T[:3, :3], 1e-10)
    turned = so3.log(here.R[0].T @ here.R)
    assert_close(turned, s * turned[-1], 1e-10)  # one axis all the way
    for x in (0.31, 1.0, 1.7):
        assert_close(motion.derivatives(x, 1)[1], central(motion, x), 1e-8)
        assert_close(motion.derivatives(x, 2)[2], central(lambda y: motion.derivatives(y, 1)[1], x), 1e-7)
    assert motion.smoothness == 2
    assert not motion.derivatives([-1.0, 3.0], 1)[:, 1].any()
    with pytest.raises(gs.StateError, match="order 2 are known"):
        motion.derivatives(0.5, 3)


def test_a_line_of_position_alone_with_another_law():
    arm = puma()
    motion = tr.cartesian_line(
        arm, "l6", Q0, line_target(arm)[:3, 3], law=tr.trapezoidal(0.0, 1.0, 0.8, 2.0), hold=["q4", "q5", "q6"]
    )
    table = motion.derivatives(np.linspace(0.0, motion.duration, 20), 2)
    assert_close(table[:, 0, 3:], np.tile(Q0[3:], (20, 1)), 1e-15)
    p = gs.fk(arm, table[:, 0])["l6"].p
    assert np.abs(np.cross(p - p[0], p[-1] - p[0])).max() < 1e-12
    assert motion.smoothness == 1


def test_lines_that_cannot_be_followed_say_where():
    arm = puma()
    free = {"hold": ["q4", "q5", "q6"]}
    with pytest.raises(gs.StateError, match=r"at 18.8 % of the line: the frame cannot follow"):
        tr.cartesian_line(arm, "l6", Q0, [3.0, 0.0, 0.0], 1.0, **free)
    with pytest.raises(gs.SpecError, match="no rates to spare for a posture"):
        tr.cartesian_line(arm, "l6", Q0, line_target(arm), 1.0, posture=Q0)
    with pytest.raises(gs.SpecError, match="either duration or law"):
        tr.cartesian_line(arm, "l6", Q0, [0.5, 0.0, 0.0])
    with pytest.raises(gs.SpecError, match="from 0 to 1"):
        tr.cartesian_line(arm, "l6", Q0, [0.5, 0.0, 0.0], law=tr.quintic(0.0, 2.0, 1.0))
    with pytest.raises(gs.SpecError, match="a rotation alone"):
        tr.cartesian_line(arm, "l6", Q0, np.eye(3), 1.0)
    ball = gs.assemble("ball", gs.chain("world", gs.Joint("s", "spherical"), gs.RigidBody("b", mass=1.0)))
    with pytest.raises(gs.SpecError, match="quaternions"):
        tr.cartesian_line(ball, "b", [0, 0, 0, 1], [0.5, 0.0, 0.0], 1.0)


def test_the_load_of_the_hydraulic_manipulator_stays_horizontal_on_a_line():
    """G13: five axes, the load turns about the vertical alone."""
    crane = gs.robots.hydraulic_manipulator()
    q0 = np.array([0.3, 0.8, -1.2, 0.4, 0.5])
    T = gs.fk(crane, q0)["link5.tool"].matrix
    turn = np.array([[math.cos(0.6), -math.sin(0.6), 0.0], [math.sin(0.6), math.cos(0.6), 0.0], [0.0, 0.0, 1.0]])
    T[:3, :3], T[:3, 3] = turn @ T[:3, :3], T[:3, 3] + [-0.4, 0.3, 0.2]
    motion = tr.cartesian_line(crane, "link5.tool", q0, T, 4.0)
    q = motion(np.linspace(0.0, 4.0, 30))
    assert np.abs(q[:, 1] + q[:, 2] + q[:, 3]).max() < 1e-10
    assert_close(gs.fk(crane, q)["link5.tool"].R[:, 2], np.tile([0.0, 0.0, 1.0], (30, 1)), 1e-10)
    assert_close(gs.fk(crane, q[-1])["link5.tool"].matrix, T, 1e-10)


def test_a_law_that_calls_a_trajectory_is_told_which_block_takes_it():
    move = tr.quintic([0.0], [1.0], 1.0)
    with pytest.warns(gs.PerformanceWarning, match=r"calls a trajectory .* gs\.blocks\.Reference\(move\)"):
        gs.simulate(gs.robots.pendulum(), lambda t, q, v: 10.0 * (move(t) - q), t_end=0.01, progress=False)
