"""sin and cos of the vector code against high-precision arithmetic; its bound is in ``engine.llvm.elementary``."""

from __future__ import annotations

import math
import re
from dataclasses import replace

import mpmath
import numpy as np
import pytest

from gyrostat.engine import kernel as kernel_module
from gyrostat.engine.kernel import Kernel
from gyrostat.engine.llvm import elementary
from gyrostat.engine.llvm.target import host
from gyrostat.engine.tracing.record import record

BOUND = {True: 1.51, False: 1.53}  # ulp, with and without fused multiply-add: the documented ones
LIMIT = elementary.LIMIT
FUNCTIONS = {"sin": (np.sin, mpmath.sin), "cos": (np.cos, mpmath.cos)}
EXTENDED = np.finfo(np.longdouble).nmant >= 63
needs_extended = pytest.mark.skipif(not EXTENDED, reason="long double has no more digits than double here")


def sine_kernel(monkeypatch, **target) -> Kernel:
    """sin and cos of a batch, for a machine that may be a little different from this one."""
    monkeypatch.setenv("GYROSTAT_CACHE", "off")
    pretended = replace(host(), **target)
    monkeypatch.setattr(kernel_module, "host", lambda: pretended)
    return Kernel(record(lambda x: {"sin": np.sin(x), "cos": np.cos(x)}, {"x": ()}))


@pytest.fixture(params=[True, False], ids=["fma", "no_fma"])
def machine(request, monkeypatch):
    if request.param and not host().fma:
        pytest.skip("this machine has no fused multiply-add")
    return sine_kernel(monkeypatch, fma=request.param), BOUND[request.param]


def ulps_by_long_double(x: np.ndarray, got: np.ndarray, name: str) -> np.ndarray:
    want = FUNCTIONS[name][0](x.astype(np.longdouble))
    return np.abs(got.astype(np.longdouble) - want) / np.spacing(np.abs(want.astype(float)))


def ulps_by_mpmath(x: np.ndarray, got: np.ndarray, name: str) -> np.ndarray:
    """Error in units of the last place of the true value, with 300 bits."""
    found = []
    with mpmath.workprec(300):
        for one, result in zip(x.tolist(), got.tolist(), strict=True):
            want = FUNCTIONS[name][1](mpmath.mpf(one))
            found.append(float(abs(mpmath.mpf(result) - want) / float(np.spacing(abs(float(want))))))
    return np.array(found)


def around_multiples(last: int) -> np.ndarray:
    """The doubles next to k pi/2, two on either side: where the reduction cancels most. (k, 5)"""
    with mpmath.workprec(300):
        centre = np.array([float(k * mpmath.pi / 2) for k in range(1, last + 1)])
    up, down = np.nextafter(centre, np.inf), np.nextafter(centre, 0.0)
    return np.stack([np.nextafter(down, 0.0), down, centre, up, np.nextafter(up, np.inf)], axis=1)


LAST = int(LIMIT / (np.pi / 2))


@pytest.fixture(scope="module")
def multiples() -> np.ndarray:
    return around_multiples(LAST)


def check(kernel: Kernel, bound: float, x: np.ndarray, measure=ulps_by_mpmath) -> float:
    found = kernel.call(x)
    worst = max(float(measure(x, found[name], name).max()) for name in FUNCTIONS)
    print(f"largest error over {len(x)} arguments: {worst:.3f} ulp")
    assert worst <= bound <= 2.0
    return worst


def test_the_documented_bound_is_the_tested_one():
    assert re.search(rf"{BOUND[True]} ulp \({BOUND[False]} ulp", elementary.__doc__)


def test_pi_is_split_without_loss():
    with mpmath.workprec(300):
        for parts, bits in ((elementary.PI_2, 130), (elementary.PI_2_SHORT, 115)):
            assert abs(sum(map(mpmath.mpf, parts)) - mpmath.pi / 2) < mpmath.mpf(2) ** -bits
    for part in (*elementary.PI_2[:1], *elementary.PI_2_SHORT[:2]):  # times k < 2^16 they are exact
        assert np.frexp(part)[0] * 2.0**33 == int(np.frexp(part)[0] * 2.0**33)


def test_random_arguments_are_within_the_bound(machine):
    rng = np.random.default_rng(1)
    x = np.concatenate([rng.uniform(-LIMIT, LIMIT, 3000), rng.uniform(-10.0, 10.0, 1500), [LIMIT, -LIMIT]])
    assert check(*machine, x) > 1.0  # the measure sees errors at all


def test_arguments_where_results_just_reach_a_lower_binade_are_within_the_bound(machine):
    """sin r just below 1/2 with r above 1/2: an ulp of r counts double."""
    rng = np.random.default_rng(2)
    k = rng.integers(-LAST + 1, LAST, 3000)
    check(*machine, k * (np.pi / 2) + rng.choice([-1, 1], 3000) * rng.uniform(0.4999, 0.524, 3000))


def test_doubles_next_to_multiples_of_a_quarter_turn_are_within_the_bound(machine, multiples):
    rng = np.random.default_rng(3)
    distance = np.abs(np.sin(2.0 * multiples)).min(axis=1)
    hardest = np.argsort(distance)[:200]
    chosen = np.unique(np.concatenate([hardest, np.arange(50), rng.integers(0, LAST, 150), [LAST - 1]]))
    x = multiples[chosen].ravel()
    check(*machine, np.concatenate([x, -x])[np.tile(np.abs(x) <= LIMIT, 2)])


@needs_extended
def test_all_doubles_next_to_multiples_of_a_quarter_turn_are_within_the_bound(machine, multiples):
    x = multiples[multiples <= LIMIT]
    check(*machine, np.concatenate([x, -x]), ulps_by_long_double)


@needs_extended
def test_long_doubles_are_a_fair_reference(multiples):
    rng = np.random.default_rng(4)
    x = np.concatenate([rng.uniform(-LIMIT, LIMIT, 300), multiples[rng.integers(0, LAST, 60)].ravel()])
    for name, (function, _) in FUNCTIONS.items():
        got = function(x)
        np.testing.assert_allclose(ulps_by_long_double(x, got, name), ulps_by_mpmath(x, got, name), atol=2e-3)


@needs_extended
@pytest.mark.slow
def test_many_random_arguments_are_within_the_bound(machine):
    rng = np.random.default_rng(5)
    for draw in range(10):
        n = 1_000_000
        around = rng.integers(-LAST + 1, LAST, n) * (np.pi / 2) + rng.choice([-1, 1], n) * rng.uniform(0.4999, 0.524, n)
        check(*machine, around if draw % 2 else rng.uniform(-LIMIT, LIMIT, n), ulps_by_long_double)


def test_tiny_and_denormal_arguments_are_their_own_sine(machine):
    kernel, _ = machine
    x = np.array([0.0, 5e-324, 1e-310, 2.2e-308, 1e-200, 1e-20, 1e-9])
    x = np.concatenate([x, -x])
    found = kernel.call(x)
    np.testing.assert_array_equal(found["sin"], x)
    np.testing.assert_array_equal(found["cos"], np.where(np.abs(x) > 1e-8, np.cos(x), 1.0))


def test_arguments_beyond_the_limit_are_as_good_as_the_systems(machine):
    kernel, _ = machine
    rng = np.random.default_rng(6)
    x = np.concatenate([10.0 ** rng.uniform(5.0, 300.0, 300) * rng.choice([-1, 1], 300), [1e300, 1.7e308]])
    x = np.concatenate([x, np.nextafter([LIMIT, -LIMIT], [np.inf, -np.inf]), [2.0**60]])
    hardest = 6381956970095103 * 2.0**797  # the double that comes closest to an odd multiple of pi/2
    for name, system in (("sin", math.sin), ("cos", math.cos)):
        found = kernel.call(x)[name]
        np.testing.assert_array_equal(found, [system(one) for one in x])
        assert ulps_by_mpmath(x, found, name).max() <= 1.0
        assert kernel.call(hardest)[name] == system(hardest)


def test_infinity_and_nan_give_nan(machine):
    kernel, _ = machine
    found = kernel.call([np.inf, -np.inf, np.nan, 0.0], nonfinite="return")
    for name in FUNCTIONS:
        np.testing.assert_array_equal(np.isnan(found[name]), [True, True, True, False])


@pytest.mark.parametrize("lanes", [2, 4, 8])
def test_a_lane_does_not_depend_on_its_neighbours(monkeypatch, lanes):
    kernel = sine_kernel(monkeypatch, lanes=lanes)
    rng = np.random.default_rng(7)
    values = np.concatenate(
        [
            rng.uniform(-3.0, 3.0, 12),
            rng.uniform(-LIMIT, LIMIT, 12),
            10.0 ** rng.uniform(5, 300, 12),
            [np.nan, np.inf, 0.0],
        ]
    )
    alone = {k: kernel.call(np.array([x]), nonfinite="return") for k, x in enumerate(values)}
    for _ in range(30):
        order = rng.permutation(len(values))
        found = kernel.call(values[order], nonfinite="return")
        for name in FUNCTIONS:
            want = np.array([alone[k][name][0] for k in order])
            np.testing.assert_array_equal(found[name].view(np.int64), want.view(np.int64))


@pytest.mark.parametrize("fma", [True, False])
def test_any_number_of_lanes_gives_the_same_bits(monkeypatch, fma):
    if fma and not host().fma:
        pytest.skip("this machine has no fused multiply-add")
    x = np.random.default_rng(8).uniform(-LIMIT, LIMIT, 1003)
    found = [sine_kernel(monkeypatch, lanes=lanes, fma=fma).call(x) for lanes in (2, 4, 8)]
    for other in found[1:]:
        for name in FUNCTIONS:
            np.testing.assert_array_equal(other[name], found[0][name])
