"""Sums of stages in blocks of eight: each number as if it were alone, and nothing beside them is touched."""

import math

import numpy as np
import pytest

from gyrostat.engine.drivers.driver import driver
from gyrostat.engine.drivers.words import ptr
from gyrostat.simulate.methods.drivers.stage_sums import combined, relative_errors

RNG = np.random.default_rng(0)
SIZES = [1, 2, 7, 8, 9, 15, 16, 17, 19, 40, 77]


def place(x):
    return x.__array_interface__["data"][0]


def add_up(size: int, count: int, weights: ptr, K: ptr, h: float, y: ptr, x: ptr) -> int:
    """From outside."""
    return combined(size, count, weights, K, h, y, x)


def errors(size: int, stride: int, count: int, weights: ptr, K: ptr, allowed: ptr, e: ptr, total: ptr) -> int:
    """From outside."""
    total[0] = relative_errors(size, stride, count, weights, K, allowed, e)
    return 0


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("count", [1, 2, 6, 7])
def test_a_combination_of_stages_is_the_sum_of_its_terms(size, count):
    K, y, weights = RNG.normal(size=(count, size)), RNG.normal(size=size), RNG.normal(size=count)
    weights[1:2] = 0.0
    x, h = np.full(size + 2, 7.0), 0.01
    driver(add_up).call(size, count, place(weights), place(K), h, place(y), place(x) + 8)
    want = [math.fsum([y[k], *(h * weights * K[:, k])]) for k in range(size)]
    assert x[1:-1] == pytest.approx(np.array(want), rel=1e-15, abs=1e-15)
    assert x[0] == x[-1] == 7.0


def test_a_stage_without_weight_does_not_count_even_if_it_is_not_finite():
    for size in (3, 19):
        K, y = np.ones((3, size)), np.zeros(size)
        K[1] = np.nan
        x = np.empty(size)
        driver(add_up).call(size, 3, place(np.array([1.0, 0.0, 2.0])), place(K), 1.0, place(y), place(x))
        assert np.array_equal(x, np.full(size, 3.0))


@pytest.mark.parametrize("size", SIZES)
def test_errors_are_relative_to_what_is_allowed_and_their_squares_add_up(size):
    count, stride = 7, size + 1
    K, weights = RNG.normal(size=(count, stride)), RNG.normal(size=count)
    allowed, e, total = RNG.uniform(1.0, 2.0, size), np.full(size + 2, 7.0), np.zeros(1)
    given = place(weights), place(K), place(allowed), place(e) + 8, place(total)
    driver(errors).call(size, stride, count, *given)
    want = (weights @ K)[:size] / allowed
    assert e[1:-1] == pytest.approx(want, rel=1e-13, abs=1e-13) and e[0] == e[-1] == 7.0
    assert total[0] == pytest.approx(want @ want, rel=1e-13)
