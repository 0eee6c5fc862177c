"""Recording: what is written down is what NumPy would have done, and what cannot be written down says so."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gyrostat.engine.kernel import Kernel
from gyrostat.engine.tracing.choose import maximum, minimum, sign, where
from gyrostat.engine.tracing.operations import BY_NAME, CODE, CONST, INPUT, OPERATIONS
from gyrostat.engine.tracing.program import Program, Slot, prune, run, verify
from gyrostat.engine.tracing.record import is_recorded, record
from gyrostat.engine.tracing.recording_scalar import Recorded, general
from gyrostat.errors import NonFiniteError, RecordError
from tests.support.examples import few


@pytest.fixture(autouse=True)
def no_cache(monkeypatch):
    """Random programs do not belong into anybody's cache."""
    monkeypatch.setenv("GYROSTAT_CACHE", "off")


def recorded(function, *shapes: tuple[int, ...]) -> Program:
    """Program of ``function(x0, x1, ...)`` -> y."""
    inputs = {f"x{k}": shape for k, shape in enumerate(shapes)}
    return record(lambda **x: {"y": np.asarray(function(*x.values()))}, inputs)


def one_state(program: Program, *inputs: np.ndarray) -> np.ndarray:
    """What the one-lane code writes, finite or not."""
    kernel = Kernel(program)
    out = np.full(program.outputs[0].shape, 7.25)
    call = kernel.builtin(lambda *x, out: out, [], "call", "")  # results that are not finite have been written already
    return call(*inputs, out=out)


# ---------------------------------------------------------------------------------------------- every operation

# how each operation is written in a function that is recorded (of x, y, z), and what plain NumPy calls it
SPELLINGS = {
    "add": (lambda x, y, z: x + y, np.add),
    "sub": (lambda x, y, z: x - y, np.subtract),
    "mul": (lambda x, y, z: x * y, np.multiply),
    "div": (lambda x, y, z: x / y, np.divide),
    "neg": (lambda x, y, z: -x, np.negative),
    "sqrt": (lambda x, y, z: np.sqrt(x), np.sqrt),
    "abs": (lambda x, y, z: np.abs(x), np.abs),
    "floor": (lambda x, y, z: np.floor(x), np.floor),
    "ceil": (lambda x, y, z: np.ceil(x), np.ceil),
    "sin": (lambda x, y, z: np.sin(x), np.sin),
    "cos": (lambda x, y, z: np.cos(x), np.cos),
    "tan": (lambda x, y, z: np.tan(x), np.tan),
    "asin": (lambda x, y, z: np.arcsin(x), np.arcsin),
    "acos": (lambda x, y, z: np.arccos(x), np.arccos),
    "atan": (lambda x, y, z: np.arctan(x), np.arctan),
    "atan2": (lambda x, y, z: np.arctan2(x, y), np.arctan2),
    "sinh": (lambda x, y, z: np.sinh(x), np.sinh),
    "cosh": (lambda x, y, z: np.cosh(x), np.cosh),
    "tanh": (lambda x, y, z: np.tanh(x), np.tanh),
    "exp": (lambda x, y, z: np.exp(x), np.exp),
    "log": (lambda x, y, z: np.log(x), np.log),
    "pow": (lambda x, y, z: x**y, np.power),
    "fmod": (lambda x, y, z: np.fmod(x, y), np.fmod),
    "lt": (lambda x, y, z: x < y, np.less),
    "le": (lambda x, y, z: x <= y, np.less_equal),
    "eq": (lambda x, y, z: x == y, np.equal),
    "ne": (lambda x, y, z: x != y, np.not_equal),
    "not": (lambda x, y, z: ~x, lambda x: x == 0.0),
    "and": (lambda x, y, z: x & y, lambda x, y: (x != 0.0) & (y != 0.0)),
    "or": (lambda x, y, z: x | y, lambda x, y: (x != 0.0) | (y != 0.0)),
    "select": (lambda x, y, z: where(x, y, z), lambda c, y, z: np.where(c != 0.0, y, z)),
    "min": (lambda x, y, z: minimum(x, y), lambda x, y: np.where(y < x, y, x)),
    "max": (lambda x, y, z: maximum(x, y), lambda x, y: np.where(x < y, y, x)),
    "sign": (lambda x, y, z: sign(x), np.sign),
}
EXACT = {
    "add",
    "sub",
    "mul",
    "div",
    "neg",
    "sqrt",
    "abs",
    "floor",
    "ceil",
    "select",
    "min",
    "max",
}  # down to the sign of 0
SPECIAL = [
    0.0,
    -0.0,
    5e-324,
    -1e-310,
    2.2e-308,
    1e-200,
    0.5,
    -0.75,
    1.0,
    -1.0,
    2.0,
    -3.0,
    2.5,
    20.0,
    -700.0,
    710.0,
    1e5,
]
SPECIAL += [123456.789, -1e17, 1e300, -1e308, np.inf, -np.inf, np.nan]


def test_every_operation_of_the_table_has_a_spelling():
    assert set(SPELLINGS) == set(BY_NAME)


@pytest.fixture(scope="module")
def everything():
    """All operations on all pairs of special values: inputs, and results of the interpreter, one state, a batch."""
    program = recorded(lambda x: [spell(*x) for spell, _ in SPELLINGS.values()], (3,))
    assert set(program.counts()) == set(BY_NAME)
    grid = np.array([(x, y, z) for x in SPECIAL for y in SPECIAL for z in (1.5, -0.0)])
    interpreted = np.array([run(program, row.tolist())[0] for row in grid])
    kernel = Kernel(program)
    batch = kernel.call(grid, nonfinite="return")["y"]
    call = kernel.builtin(lambda x, out: out, [], "call", "")
    single = np.array([call(row.copy(), out=np.empty(len(SPELLINGS))) for row in grid])
    return grid, {"interpreter": interpreted, "batch": batch, "one state": single}


@pytest.mark.parametrize("way", ["interpreter", "batch", "one state"])
@pytest.mark.parametrize("name", list(SPELLINGS))
def test_recorded_operation_equals_numpy_special_values_included(everything, name, way):
    grid, found = everything
    reference = SPELLINGS[name][1]
    with np.errstate(all="ignore"):
        want = reference(*grid.T[: BY_NAME[name].arity]).astype(float)
    got = found[way][:, list(SPELLINGS).index(name)]
    np.testing.assert_array_equal(np.isnan(got), np.isnan(want))
    known = ~np.isnan(want)
    if name in EXACT or BY_NAME[name].llvm.startswith("fcmp") or name in ("not", "and", "or", "sign", "fmod"):
        np.testing.assert_array_equal(got[known], want[known])
    else:
        np.testing.assert_allclose(got[known], want[known], rtol=2e-15, atol=1e-322)
    if name in EXACT:
        np.testing.assert_array_equal(np.signbit(got[known]), np.signbit(want[known]))


def test_one_state_and_a_batch_give_the_same_bits_for_every_operation(everything):
    _, found = everything
    same = found["batch"].view(np.int64) == found["one state"].view(np.int64)
    assert np.all(same | (np.isnan(found["batch"]) & np.isnan(found["one state"])))


@pytest.mark.parametrize("exponent", [*range(-17, 18), *(k + 0.5 for k in range(-17, 17)), 0.3, -2.7, 1e300])
def test_powers_are_those_of_numpy(exponent):
    x = np.array([0.3, 0.9, 1.0, 1.7, 12.0])
    program = recorded(lambda x: x**exponent, (5,))
    with np.errstate(over="ignore"):
        want = x**exponent
        np.testing.assert_allclose(run(program, x)[0], want, rtol=5e-15)
    whole = {name for name in program.counts() if name != "pow"}
    if abs(exponent) <= 16 and (2 * exponent) == int(2 * exponent):
        assert set(program.counts()) == whole <= {"mul", "sqrt", "div"}


def test_a_recorded_exponent_is_a_power():
    program = recorded(lambda x: [x[0] ** x[1], 2.0 ** x[1]], (2,))
    assert run(program, (1.5, 3.25))[0] == [1.5**3.25, 2.0**3.25]


def test_remainders_have_the_sign_of_the_divisor_and_are_exactly_numpys():
    values = np.array([0.0, 0.1, 0.3, 1.0, 5.3, -5.3, 7.0, -7.0, 1e9, -1e-9])
    pairs = np.array([(x, y) for x in values for y in values if y])
    program = recorded(lambda x: [x[0] % x[1], np.mod(x[0], x[1]), np.remainder(x[0], x[1])], (2,))
    for got in (np.array([run(program, pair.tolist())[0] for pair in pairs]), Kernel(program).call(pairs)["y"]):
        for k in range(3):
            np.testing.assert_array_equal(got[:, k], np.mod(*pairs.T))
    assert run(recorded(lambda x: 5.5 % x[0], (1,)), [-2.0])[0] == [5.5 % -2.0]


def test_numbers_of_every_kind_may_stand_on_either_side():
    numbers = [2, 2.5, True, np.float64(2.5), np.float32(0.5), np.int64(3), np.uint8(4), np.bool_(True), Fraction(5, 4)]

    def function(x):
        found = []
        for n in numbers:
            found += [
                x[0] + n,
                n + x[0],
                x[0] - n,
                n - x[0],
                x[0] * n,
                n * x[0],
                x[0] / n,
                n / x[0],
                x[0] < n,
                n <= x[0],
            ]
        return found

    program = recorded(function, (1,))
    x = 1.75
    want = []
    for n in map(float, numbers):
        want += [x + n, n + x, x - n, n - x, x * n, n * x, x / n, n / x, x < n, n <= x]
    np.testing.assert_allclose(run(program, [x])[0], want, rtol=1e-15)


def test_array_functions_of_numpy_record_element_by_element():
    def function(A, x):
        return np.concatenate(
            [A @ x, np.cross(x, A[0]), np.square(x), np.outer(x, x).sum(axis=0), [x @ A @ x, np.trace(A)]]
        )

    program = recorded(function, (3, 3), (3,))
    rng = np.random.default_rng(1)
    A, x = rng.normal(size=(3, 3)), rng.normal(size=3)
    np.testing.assert_allclose(run(program, A.ravel(), x)[0], function(A, x), rtol=1e-14)


def test_choices_on_plain_numbers_are_plain_numbers():
    x, y = np.array([1.0, 5.0, -2.0]), np.array([2.0, 2.0, -2.5])
    np.testing.assert_array_equal(minimum(x, y), np.minimum(x, y))
    np.testing.assert_array_equal(maximum(x, y), np.maximum(x, y))
    np.testing.assert_array_equal(sign(x), np.sign(x))
    np.testing.assert_array_equal(where(x > y, x, 0.0), np.where(x > y, x, 0.0))
    assert minimum(x, y).dtype == where(True, x, y).dtype == sign(x).dtype == float
    assert where(False, 1.0, 2.0) == 2.0


def test_choices_broadcast_over_arrays_with_recorded_values_among_numbers():
    program = recorded(lambda x: where(np.array([True, False]), x, np.array([10.0, 20.0])), (2,))
    assert run(program, (1.0, 2.0))[0] == [1.0, 20.0]
    program = recorded(lambda x: maximum(x, [0.0, 5.0]), (2,))
    assert run(program, (1.0, 2.0))[0] == [1.0, 5.0]


# ---------------------------------------------------------------------------------------------- simplification


def test_constants_fold():
    program = recorded(lambda x: [x[0] + (2.0 * 3.0 - np.sin(0.5)), 2.0 * (3.0 * x[0])], (1,))
    assert program.counts() == {"add": 1, "mul": 1}
    assert set(program.constants) >= {6.0 - math.sin(0.5), 6.0}


def test_structural_zeros_and_ones_leave_nothing_behind():
    def function(x):
        assert x[0] * 0.0 == 0.0 and type(x[0] * 0.0) is float
        assert x[0] - x[0] == 0.0 and 0.0 / x[0] == 0.0
        assert (x[0] + 0.0) is x[0] and (x[0] - 0.0) is x[0] and (x[0] / 1.0) is x[0]
        return np.diag([1.0, 0.0, -1.0]) @ x

    program = recorded(function, (3,))
    assert program.counts() == {"neg": 1}
    assert run(program, (1.0, 2.0, 3.0))[0] == [1.0, 0.0, -3.0]


def test_the_same_expression_twice_is_one_node():
    def function(x):
        a, b = x
        return [np.sin(a * b) + np.cos(b), np.sin(b * a) + np.cos(b), (a + b) * 2.0, 2.0 * (b + a), (a < b), b > a]

    program = recorded(function, (2,))
    assert program.counts() == {"add": 2, "mul": 2, "sin": 1, "cos": 1, "lt": 1}
    assert program.results[0][0] == program.results[0][1]


def test_zero_and_minus_zero_are_different_constants():
    program = recorded(lambda x: [np.arctan2(x[0], minimum(0.0, x[0])), general("atan2", x[0], -0.0)], (1,))
    assert run(program, [0.0])[0][1] == math.pi


def test_signs_move_outward_and_cancel():
    def function(a, b, c):
        return [(-a) * (-b), (-a) * b, -(a - b), a - (-b), a + (-b), (-a) - b, np.negative(-c), c * -3.0]

    program = recorded(function, (), (), ())
    assert program.counts().get("neg", 0) == 2  # of a b and of a + b
    values = (1.25, -2.5, 7.0)
    assert run(program, *([v] for v in values))[0] == function(*values)


def test_constant_factors_are_not_combined_where_that_would_overflow_or_vanish():
    program = recorded(lambda x: [1e200 * (1e200 * x[0]), 1e-200 * (1e-200 * x[0])], (1,))
    assert run(program, [1e-200])[0][0] == pytest.approx(1e200)
    assert run(program, [1e300])[0][1] == pytest.approx(1e-100)
    assert run(program, [0.0])[0] == [0.0, 0.0]


def test_operations_before_simplification_are_counted():
    program = recorded(lambda x: x[0] * 0.0 + x[0] * 1.0 + (x[0] + 0.0), (1,))
    assert program.recorded == {"add": 3, "mul": 2} and program.counts() == {"add": 1}


# ---------------------------------------------------------------------------------------------- what cannot be recorded


def by_if(x):
    return x[0] if x[0] > 0.0 else -x[0]


def by_and(x):
    return (x[0] > 0.0) and x[1]


def by_min(x):
    return min(x[0], x[1])


def by_max_of_numpy(x):
    return np.maximum(x, 0.0)


def by_where_of_numpy(x):
    return np.where(x > 0.0, x, 0.0)


def by_clip(x):
    return np.clip(x, -1.0, 1.0)


def by_float(x):
    return float(x[0])


def by_math(x):
    return math.sin(x[0])


def by_writing_into_floats(x):
    y = np.zeros(2)
    y[0] = x[0]
    return y


def by_int(x):
    return int(x[0])


def by_range(x):
    return sum(range(x[0]))


def by_complex(x):
    return complex(x[0])


@pytest.mark.parametrize(
    ("function", "line", "what", "instead"),
    [
        (by_if, 1, "a Python condition", r"np\.where\(c, a, b\)"),
        (by_and, 1, "a Python condition", r"np\.where"),
        (by_min, 1, "a Python condition .*min", r"np\.where"),
        (by_max_of_numpy, 1, "a Python condition .*max", r"np\.where"),
        (by_where_of_numpy, 1, "a Python condition", r"np\.where"),
        (by_clip, 1, "a Python condition", r"np\.where"),
        (by_float, 1, "a conversion to float", "NumPy functions"),
        (by_math, 1, r"a conversion to float .*math\.sin", "NumPy functions"),
        (by_writing_into_floats, 2, "a conversion to float .*writing into a float array", r"np\.array\(\[\.\.\.\]\)"),
        (by_int, 1, "a conversion to int", "arithmetic"),
        (by_range, 1, "a conversion to int", "arithmetic"),
        (by_complex, 1, "a conversion to float", "NumPy functions"),
    ],
)
def test_what_needs_the_number_says_what_to_write_instead_and_where(function, line, what, instead):
    place = rf"{Path(__file__).name}:{function.__code__.co_firstlineno + line} in {function.__name__}\(\)"
    with pytest.raises(
        RecordError, match=rf"{what}.* on a recorded value at .*{place} cannot be recorded.* Hint: use .*{instead}"
    ):
        recorded(function, (2,))


def by_hypot(x):
    return np.hypot(x[0], x[1])


def by_isfinite(x):
    return np.isfinite(x)


def by_numbers_among_recorded_values(x):
    return np.sin(np.array([0.0, x[0]], dtype=object))


def by_a_number_first(x):
    return np.arctan2(1.0, x[0])


def by_whole_division(x):
    return x[0] // 2.0


def by_format(x):
    return f"{x[0]:.3f}"


def by_hash(x):
    return {x[0]: 1.0}


def by_method(x):
    return x[0].item()


def by_complex_operand(x):
    return x[0] + 1j


@pytest.mark.parametrize(
    "function",
    [
        by_hypot,
        by_isfinite,
        by_numbers_among_recorded_values,
        by_a_number_first,
        by_whole_division,
        by_format,
        by_hash,
        by_method,
        by_complex_operand,
    ],
)
def test_operations_that_the_table_does_not_have_are_refused_with_their_place(function):
    place = rf"{Path(__file__).name}:{function.__code__.co_firstlineno + 1} in {function.__name__}\(\)"
    with pytest.raises(RecordError, match=rf"{place} cannot be recorded: .* Hint: "):
        recorded(function, (2,))


def test_faults_of_the_function_itself_stay_what_they_are():
    def faulty(x):
        return len(5)

    with pytest.raises(TypeError, match="has no len"):
        recorded(faulty, (1,))


def test_two_recordings_cannot_be_mixed():
    kept = []
    recorded(lambda x: kept.append(x[0]) or x[0], (1,))
    for mix in (
        lambda x: x[0] + kept[0],
        lambda x: kept[0] * x[0],
        lambda x: np.arctan2(x[0], kept[0]),
        lambda x: kept[0],
    ):
        with pytest.raises(RecordError, match="two recordings were mixed"):
            recorded(mix, (1,))
    with pytest.raises(RecordError, match="two recordings were mixed"):
        recorded(lambda x: where(x[0] > 0.0, x[0], kept[0]), (1,))


@pytest.mark.parametrize("wrong", [None, "x", 1j, object()])
def test_outputs_and_choices_must_be_numbers(wrong):
    with pytest.raises(RecordError, match=r"output 'y' of 'program' holds .*, which is no number"):
        recorded(lambda x: np.array([x[0], wrong], dtype=object), (1,))
    with pytest.raises(RecordError, match="not all numbers"):
        recorded(lambda x: minimum(x[0], wrong), (1,))


@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf])
def test_an_output_that_is_never_finite_is_refused_when_recorded(number):
    with pytest.raises(RecordError, match=f"output 'y' of 'program' is the constant {number}, whatever the inputs are"):
        recorded(lambda x: [x[0], number], (1,))


def test_recorded_values_show_themselves_and_are_told_from_floats():
    seen = []

    def function(x):
        seen.append(repr(x[0]))
        assert is_recorded(x) and not is_recorded([1.0, 2.0]) and type(x[0]) is Recorded
        return x

    recorded(function, (1,))
    assert seen == ["<recorded node 0>"]


# ---------------------------------------------------------------------------------------------- programs


def small() -> Program:
    return record(lambda x, y: {"a": x * y[0], "b": [np.sin(y[1]) + 2.0]}, {"x": (2,), "y": (2,)}, "small")


def swap(program: Program, k: int, node: tuple[int, int, int, int]) -> Program:
    return replace(program, nodes=(*program.nodes[:k], node, *program.nodes[k + 1 :]))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda p: swap(p, 0, (INPUT, 2, 0, 0)), "node 0 reads element 0 of input 2"),
        (lambda p: swap(p, 0, (INPUT, -1, 0, 0)), "node 0 reads element 0 of input -1"),
        (lambda p: swap(p, 0, (INPUT, 0, 2, 0)), "node 0 reads element 2 of input 0"),
        (lambda p: swap(p, 0, (INPUT, 0, -1, 0)), "node 0 reads element -1 of input 0"),
        (lambda p: swap(p, 0, (CONST, 99, 0, 0)), "node 0 reads constant 99"),
        (lambda p: swap(p, 0, (CONST, -1, 0, 0)), "node 0 reads constant -1"),
        (lambda p: swap(p, 4, (len(OPERATIONS), 0, 0, 0)), "node 4 has the unknown operation"),
        (lambda p: swap(p, 4, (-3, 0, 0, 0)), "node 4 has the unknown operation -3"),
        (lambda p: swap(p, 4, (CODE["mul"], 0, 4, 0)), r"node 4 \(mul\) uses a later node"),
        (lambda p: swap(p, 4, (CODE["sin"], 5, 0, 0)), r"node 4 \(sin\) uses a later node"),
        (lambda p: swap(p, 4, (CODE["select"], 0, 1, -1)), r"node 4 \(select\) uses a later node"),
        (lambda p: replace(p, results=p.results[:1]), "more outputs than results"),
        (lambda p: replace(p, results=(p.results[0][:1], p.results[1])), "output 'a' has 1 results for 2 elements"),
        (lambda p: replace(p, outputs=(Slot("a", (3,)), p.outputs[1])), "output 'a' has 2 results for 3 elements"),
        (lambda p: replace(p, results=(p.results[0], (len(p.nodes),))), "a result is no node"),
        (lambda p: replace(p, results=(p.results[0], (-1,))), "a result is no node"),
        (lambda p: replace(p, guards=(len(p.nodes),)), "a result is no node"),
        (lambda p: replace(p, inputs=p.inputs[:1]), "reads element 0 of input 1"),
        (lambda p: replace(p, constants=()), "reads constant 0"),
    ],
)
def test_a_broken_program_is_not_accepted(change, message):
    assert verify(small()) == small()
    with pytest.raises(RecordError, match=f"program 'small' is broken: .*{message}.*please report it"):
        verify(change(small()))


def test_nodes_that_no_result_needs_are_dropped():
    def function(x):
        _ = np.exp(np.sin(x[0]) * x[1])
        return [x[1] * x[0]]

    program = recorded(function, (2,))
    assert program.counts() == {"mul": 1} and len(program.nodes) == 3
    longer = Program(
        "p", (Slot("x", (1,)),), (Slot("y", (1,)),), ((INPUT, 0, 0, 0), (CODE["neg"], 0, 0, 0)), (), ((0,),)
    )
    assert prune(longer).nodes == ((INPUT, 0, 0, 0),)
    assert prune(program) == program


def test_a_guard_keeps_what_it_needs_and_is_no_output():
    program = record(lambda x: {"y": x, "guard": [np.sqrt(x[0])]}, {"x": (1,)})
    assert program.counts() == {"sqrt": 1} and [s.name for s in program.outputs] == ["y"]
    assert prune(replace(program, guards=())).counts() == {}


def test_inputs_that_nothing_reads_are_guarded():
    program = record(lambda x, y: {"z": [x[0] * y[1] * 0.0 + y[0]]}, {"x": (2,), "y": (2,)})
    assert {program.nodes[k][1:3] for k in program.guards} == {(0, 0), (0, 1), (1, 1)}
    kernel = Kernel(program)
    kernel.call([1.0, 2.0], [3.0, 4.0])
    for k in range(4):
        values = np.ones(4)
        values[k] = np.nan
        with pytest.raises(NonFiniteError, match=rf"{'xxyy'[k]}\[{k % 2}\] is nan"):
            kernel.call(values[:2], values[2:])


def test_the_digest_depends_on_all_that_determines_the_code_and_not_on_names():
    program = small()
    others = [
        replace(program, constants=(3.0,)),
        replace(program, results=(program.results[0][::-1], program.results[1])),
        replace(program, guards=(0,)),
        replace(program, inputs=(Slot("x", (2, 1)), program.inputs[1])),
        replace(program, outputs=(Slot("a", (1, 2)), program.outputs[1])),
        swap(program, 4, (CODE["add"], 0, 2, 0)),
    ]
    assert len({p.digest for p in [program, *others]}) == 1 + len(others)
    renamed = replace(program, name="other", inputs=tuple(Slot(s.name.upper(), s.shape) for s in program.inputs))
    assert renamed.digest == program.digest
    moved = replace(program, inputs=(Slot("x", (2,)), Slot("y", ())), outputs=(Slot("z", (2,)), *program.outputs))
    assert moved.digest != program.digest


def test_outputs_may_be_inputs_constants_empty_or_equal():
    program = record(
        lambda x: {"same": x, "number": [1.5, -0.0], "none": np.zeros((0, 3)), "again": [x[1], x[1]]}, {"x": (2,)}
    )
    assert run(program, (3.0, 4.0)) == [[3.0, 4.0], [1.5, 0.0], [], [4.0, 4.0]]
    found = Kernel(program).call([[3.0, 4.0], [5.0, 6.0]])
    np.testing.assert_array_equal(found["again"], [[4.0, 4.0], [6.0, 6.0]])
    np.testing.assert_array_equal(np.signbit(found["number"]), [[False, True]] * 2)
    assert found["none"].shape == (2, 0, 3)


# ---------------------------------------------------------------------------------------------- random programs

# all values stay between 0.1 and 4 and no operation loses digits, so that any order of rounding agrees to 1e-13
STEPS = [
    lambda x, y: (x + y) / 2.0,
    lambda x, y: np.sqrt(x * y),
    lambda x, y: (-x) * (-y) / (x + y) + 0.2,
    lambda x, y: x - (-y) * 0.25,
    lambda x, y: np.sin(x) + 1.5,
    lambda x, y: np.cos(x * y) + 1.5,
    lambda x, y: np.exp(-x) + y * 0.125,
    lambda x, y: np.log(x + 1.0) + 0.1,
    lambda x, y: np.arctan2(x, y) + 0.1,
    lambda x, y: np.tanh(x) + 0.5,
    lambda x, y: where(x < y, x, y),
    lambda x, y: maximum(x, 0.75 * y),
    lambda x, y: minimum(x, 3.0) + sign(x - 10.0) * 0.05,
    lambda x, y: abs(x - 5.0) * 0.5,
    lambda x, y: x / (x + y) + 0.3,
    lambda x, y: (x * 0.5) ** 2 + 0.1,
    lambda x, y: np.fmod(x, 50.0) * 0.9 + 0.05,
]


@settings(max_examples=few(25), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_random_programs_compiled_interpreted_and_run_by_numpy_agree(data):
    n = data.draw(st.integers(1, 6), label="inputs")
    steps = data.draw(
        st.lists(
            st.tuples(st.integers(0, len(STEPS) - 1), st.integers(0, 99), st.integers(0, 99)), min_size=1, max_size=60
        ),
        label="steps",
    )

    def function(x):
        values = [*x]
        for step, i, j in steps:
            made = STEPS[step](values[i % len(values)], values[j % len(values)])
            values.append(minimum(maximum(made, 0.1), 4.0))
        return values[-8:]

    program = recorded(function, (n,))
    x = np.random.default_rng(len(steps)).uniform(0.2, 3.0, (7, n))
    want = np.array([function([float(e) for e in row]) for row in x])
    np.testing.assert_allclose([run(program, row.tolist())[0] for row in x], want, rtol=1e-13)
    batch = Kernel(program).call(x)["y"]
    np.testing.assert_allclose(batch, want, rtol=1e-13)
    np.testing.assert_array_equal(np.array([one_state(program, row.copy()) for row in x[:2]]), batch[:2])
