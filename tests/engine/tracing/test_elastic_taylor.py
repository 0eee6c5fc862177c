"""Truncated Taylor series: every function equals the function itself a little later in time."""

from __future__ import annotations

import math

import numpy as np
import pytest

from gyrostat.engine.tracing.choose import sign
from gyrostat.engine.tracing.record import record
from gyrostat.engine.tracing.taylor import Taylor, series
from tests.support.comparing import assert_close

ORDER, LATER = 14, 0.05
X, Y = (0.7, 0.4, -0.9, 0.2), (1.3, -0.5, 0.6)  # polynomials in time

FUNCTIONS = {
    "sum": lambda x, y: x + y - 2.0 + (1.5 - x) - (-y),
    "product": lambda x, y: x * y * 3.0 - 2.0 * y,
    "square": lambda x, y: x * x,
    "quotient": lambda x, y: x / y + 1.0 / x - y / 4.0,
    "sine": lambda x, y: np.sin(x * y),
    "cosine": lambda x, y: np.cos(x - y),
    "tangent": lambda x, y: np.tan(x * 0.5),
    "exponential": lambda x, y: np.exp(x * y),
    "logarithm": lambda x, y: np.log(x + y),
    "root": lambda x, y: np.sqrt(x * x + y),
    "tanh": lambda x, y: np.tanh(2.0 * x - y),
    "angle": lambda x, y: np.arctan2(x, y) + np.arctan2(y, -2.0) + np.arctan2(x, 3.0),
    "powers": lambda x, y: x**3 + y**-2 + y**1.5 + x**0.3 + y**0,
    "absolute": lambda x, y: abs(-x) * y,
    "sign": lambda x, y: sign(-x) * y,
    "matrix": lambda x, y: np.array([[x, 1.0], [0.0, y]]) @ np.array([y, 2.0]) @ np.array([1.0, x]),
}


def polynomial(c, t):
    return sum(x * t**k for k, x in enumerate(c))


def padded(c):
    return Taylor([*c, *[0.0] * (ORDER + 1 - len(c))])


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_series_is_the_function_a_little_later(name):
    f = FUNCTIONS[name]
    found = f(padded(X), padded(Y))
    assert len(found.c) >= ORDER
    for t in (0.0, LATER, -LATER):
        assert_close(polynomial(found.c, t), f(polynomial(X, t), polynomial(Y, t)), 1e-13)


@pytest.mark.parametrize("name", [name for name in FUNCTIONS if name != "matrix"])
def test_recorded_series_equal_those_of_floats(name):
    f = FUNCTIONS[name]

    def coefficients(x, y):
        return {"c": np.array(f(Taylor([*x, *[0.0] * 3]), Taylor([*y, *[0.0] * 4])).c)}

    program = record(coefficients, {"x": (4,), "y": (3,)})
    from gyrostat.engine.tracing.program import run

    (got,) = run(program, X, Y)
    assert_close(np.array(got), coefficients(X, Y)["c"], 1e-12)


def test_rates_and_derivatives():
    x = series([1.0, 2.0, 3.0, 4.0])
    assert x.derivatives() == [1.0, 2.0, 3.0, 4.0]
    assert x.rate().derivatives() == [2.0, 3.0, 4.0]
    assert x.rate().integral(1.0).derivatives() == pytest.approx([1.0, 2.0, 3.0, 4.0])
    assert x.cut(1).c == (1.0, 2.0)
    assert len((x.cut(1) * x).c) == 2  # what is not known is not there


def test_zeros_cost_nothing():
    """Constants stay numbers, structural zeros never reach the program."""
    assert padded(X) * 0.0 == 0.0
    program = record(lambda x: {"c": np.array((Taylor([x[0], 0.0, 0.0, 0.0]) * Taylor([*x])).c)}, {"x": (4,)})
    assert program.counts() == {"mul": 4}


def test_a_square_needs_half_the_products():
    program = record(lambda x: {"c": np.array((lambda s: s * s)(Taylor([*x])).c)}, {"x": (9,)})
    counts = program.counts()
    assert counts["mul"] <= 9 + 16 + 8  # products, and one doubling for each order
    assert math.comb(10, 2) == 45  # without
