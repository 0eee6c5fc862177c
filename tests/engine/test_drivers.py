"""The language of drivers: what Python computes with numbers and arrays, machine code computes too; lanes; errors."""

import math

import numpy as np
import pytest

from gyrostat.engine.drivers.driver import driver
from gyrostat.engine.drivers.linear_algebra import lu, solve
from gyrostat.engine.drivers.words import (
    LANES,
    bits,
    copy,
    count_at,
    doubles,
    floor,
    fma,
    kernel,
    ptr,
    shared,
    some,
    sqrt,
    table,
    where,
    words,
)
from gyrostat.errors import CompileError

HALF, MANY = 0.5, 3


def place(x):
    return x.__array_interface__["data"][0]


# ------------------------------------------------------------------------------------------------ loops and branches
def loops(n: int, x: ptr, w: words) -> int:
    """Sums forwards, backwards, with break and continue; the last counters."""
    for k in range(n):
        x[k] = x[k] + k
    for k in range(n - 1, -1, -2):
        x[k] = -x[k]
    count = 0
    while True:
        count += 1
        if count == 4:
            continue
        if count > 6:
            break
        w[0] = w[0] + count
    for k in range(2, 2):
        w[k] = 1000
    w[1] = n // 2
    w[2] = n % 3
    w[3] = max(n, 3) - min(n, 3)
    return count


def test_loops():
    x, w = np.arange(5.0), np.zeros(4, dtype=np.int64)
    assert driver(loops).call(5, place(x), place(w)) == 7
    np.testing.assert_array_equal(x, [-0.0, 2.0, -4.0, 6.0, -8.0])
    np.testing.assert_array_equal(w, [1 + 2 + 3 + 5 + 6, 2, 2, 2])


def branches(a: float, b: float, x: ptr) -> int:
    """Numbers that depend on comparisons."""
    x[0] = 1.0 if a < b else 2
    if a == b:
        x[1] = 10.0
    elif not (a > b):
        x[1] = 20.0
    else:
        x[1] = 30.0
    x[2], x[3] = x[1], HALF * MANY
    x[4] += a
    if a != b and (b > 0.0 or a > 0.0):
        return 1
    return 0


@pytest.mark.parametrize(("a", "b"), [(1.0, 2.0), (2.0, 1.0), (1.0, 1.0), (-1.0, -2.0), (math.nan, 1.0)])
def test_branches_do_what_python_does(a, b):
    ours, theirs = np.ones(5), np.ones(5)
    assert driver(branches).call(a, b, place(ours)) == branches(a, b, theirs)
    np.testing.assert_array_equal(ours, theirs)


def touched(w: words, k: int) -> int:
    """1, and a mark that it was called."""
    w[k] = w[k] + 1
    return 1


def short(a: int, w: words) -> int:
    """What comes later in and, or, if-else is evaluated only if it is needed."""
    if a > 0 and touched(w, 0) == 1:
        w[1] = 7
    if a > 0 or touched(w, 2) == 1:
        w[3] = 7
    return touched(w, 4) if a > 0 else touched(w, 5)


def test_and_or_and_choices_evaluate_what_they_need():
    for a, want in ((1, [1, 7, 0, 7, 1, 0]), (-1, [0, 0, 1, 7, 0, 1])):
        w = np.zeros(6, dtype=np.int64)
        assert driver(short).call(a, place(w)) == 1
        np.testing.assert_array_equal(w, want)


# ------------------------------------------------------------------------------------------------ numbers and pointers
def mathematics(a: float, b: float, x: ptr) -> int:
    """Every function of numbers."""
    x[0] = abs(a)
    x[1] = sqrt(abs(b))
    x[2] = floor(a)
    x[3] = fma(a, b, a)
    x[4] = max(a, b)
    x[5] = min(a, b)
    x[6] = pow(abs(a), b)
    x[7] = -a / b
    x[8] = float(int(a))
    x[9] = where(a > b, a, b)
    return LANES


def test_functions_of_numbers():
    x, a, b = np.zeros(10), -2.75, 1.3
    assert driver(mathematics).call(a, b, place(x)) == 1
    want = [2.75, math.sqrt(b), -3.0, a * b + a, b, a, 2.75**b, -a / b, -2.0, b]
    np.testing.assert_allclose(x, want, rtol=1e-15)


def pointers(w: words, x: ptr) -> int:
    """Through words to doubles, parts of arrays, copies."""
    there = doubles(w[0])
    part = there + 2
    part[0] = 5.0
    copy(2, x, part + 1)
    inner = count_at(w[1])
    inner[0] = bits(part) - bits(there)
    return inner[0]


def test_pointers_reach_what_words_name():
    there, inner, x = np.zeros(6), np.zeros(1, dtype=np.int64), np.array([8.0, 9.0])
    w = np.array([place(there), place(inner)])
    assert driver(pointers).call(place(w), place(x)) == 16
    np.testing.assert_array_equal(there, [0, 0, 5, 8, 9, 0])


def total(w: words, x: ptr, y: ptr) -> int:
    """A kernel by its address."""
    good = kernel(w[0])(x, y, y + 1)
    return 1 if good == 0.0 else 0


def test_kernels_are_called_by_their_address():
    from gyrostat.engine.drivers.kernel_code import KernelCode
    from gyrostat.engine.tracing.record import record

    program = record(lambda x: {"y": np.array([x[0] * x[1] + 2.0])}, {"x": (2,)}, "small")
    code = KernelCode(program)
    x, y, w = np.array([3.0, 4.0]), np.zeros(1 + code.work), np.array([code.address])
    assert driver(total).call(place(w), place(x), place(y)) == 1 and y[0] == 14.0
    x[0] = np.nan
    assert driver(total).call(place(w), place(x), place(y)) == 0


# ------------------------------------------------------------------------------------------------ lanes
def newton(n: int, x: ptr, y: ptr, scale: table) -> int:
    """Square roots of x (n,), in all lanes until none moves; times what lanes share."""
    count = 0
    for k in range(n):
        r = x[k]
        while some(abs(r * r - x[k]) > 1e-14 * x[k]):
            r = where(abs(r * r - x[k]) > 1e-14 * x[k], 0.5 * (r + x[k] / r), r)
            count += 1
        y[k] = r * scale[k]
    return count


def test_four_lanes_give_the_bits_of_one():
    x = np.random.default_rng(0).uniform(0.1, 50.0, size=(3, 4))
    wide, scale = np.zeros((3, 4)), np.array([1.0, 2.0, 3.0])
    driver(newton, 4).call(3, place(x), place(wide), place(scale))
    for lane in range(4):
        one, single = np.ascontiguousarray(x[:, lane]), np.zeros(3)
        driver(newton).call(3, place(one), place(single), place(scale))
        np.testing.assert_array_equal(wide[:, lane], single)
    np.testing.assert_allclose(wide, np.sqrt(x) * scale[:, None], rtol=1e-14)


def first_of_all(x: ptr, y: ptr) -> int:
    """The memory of all lanes, double by double."""
    each = shared(x)
    for k in range(LANES):
        y[k] = each[k]
    return LANES


def test_what_lanes_share_is_read_one_by_one():
    x, y = np.arange(4.0), np.zeros((4, 4))
    assert driver(first_of_all, 4).call(place(x), place(y)) == 4
    np.testing.assert_array_equal(y, np.repeat(x[:, None], 4, axis=1))


# ------------------------------------------------------------------------------------------------ linear equations
def solution(n: int, A: ptr, piv: words, b: ptr) -> int:
    """Of A x = b, in b."""
    if lu(n, A, piv) == 1:
        return 1
    return solve(n, A, piv, b)


@pytest.mark.parametrize("n", [1, 2, 5, 12])
def test_linear_equations(n):
    rng = np.random.default_rng(n)
    A, x, piv = rng.normal(size=(n, n)), rng.normal(size=n), np.zeros(n, dtype=np.int64)
    A[0, 0] = 0.0 if n > 1 else A[0, 0]
    b, work = A @ x, A.copy()
    assert driver(solution).call(n, place(work), place(piv), place(b)) == 0
    np.testing.assert_allclose(b, x, rtol=1e-10, atol=1e-12)
    zero = np.zeros((n, n))
    assert driver(solution).call(n, place(zero), place(piv), place(b)) == 1


# ------------------------------------------------------------------------------------------------ refusals
def no_list(n: int) -> int:
    """A list."""
    return [n][0]


def no_annotation(n) -> int:
    """Without a kind."""
    return n


def no_range(x: ptr) -> int:
    """A loop over something else."""
    for k in x:
        return k
    return 0


def no_chain(a: float) -> int:
    """Two comparisons at once."""
    return 1 if 0.0 < a < 1.0 else 0


def unknown(a: float) -> int:
    """A function that drivers do not have."""
    return math.sin(a)


def too_few(w: words) -> int:
    """A call with an argument too few."""
    return touched(w)


def not_whole(x: ptr) -> int:
    """A double as an address."""
    return count_at(x[0])[0]


def a_float(a: float) -> float:
    """No int."""
    return a


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (no_list, r"driver 'no_list', line 3: no expression of drivers: \[n\]"),
        (no_annotation, "annotated with nothing"),
        (no_range, r"driver 'no_range', line 3: loops run over range\(\.\.\.\): x"),
        (no_chain, "driver 'no_chain', line 3: no comparison of drivers: 0.0 < a < 1.0"),
        (unknown, r"driver 'unknown', line 3: no call of drivers: math.sin\(a\)"),
        (too_few, r"driver 'too_few', line 3: 'touched' takes 2 arguments: touched\(w\)"),
        (a_float, "driver 'a_float' must return an int"),
    ],
)
def test_what_drivers_cannot_say_is_told_with_its_line(function, message):
    with pytest.raises(CompileError, match=message):
        _ = driver(function).text


def test_words_of_drivers_are_not_called():
    with pytest.raises(TypeError, match="translated, never called"):
        fma(1.0, 2.0, 3.0)


def test_one_driver_for_the_process():
    assert driver(loops) is driver(loops) and driver(newton, 4) is not driver(newton)


# ------------------------------------------------------------------------------------------------ doubles one by one
def transposed(n: int, rows: table, columns: ptr, back: table) -> int:
    """Rows of robots to columns of lanes, and back."""
    c = shared(columns)
    for lane in range(LANES):
        for k in range(n):
            c[k * LANES + lane] = rows[lane * n + k]
    for k in range(n):
        columns[k] = 2.0 * columns[k]
    for lane in range(LANES):
        for k in range(n):
            (back + lane * n)[k] = shared(columns)[k * LANES + lane]
    return 0


@pytest.mark.parametrize("lanes", [1, 4])
def test_a_double_goes_from_table_to_table_whatever_the_lanes(lanes):
    rows = np.arange(3.0 * lanes).reshape(lanes, 3) + 0.25
    columns, back = np.zeros((3, lanes)), np.zeros((lanes, 3))
    assert driver(transposed, lanes).call(3, place(rows), place(columns), place(back)) == 0
    assert np.array_equal(columns, 2.0 * rows.T) and np.array_equal(back, 2.0 * rows)
