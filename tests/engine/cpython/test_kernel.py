"""Calls of compiled programs: the same bits whatever the batch, any array safely, a sentence for everything else."""

from __future__ import annotations

import array
import gc
import subprocess
import sys
import textwrap
import warnings
import weakref
from collections import deque
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided

import gyrostat as gs
from gyrostat.engine import kernel as kernel_module
from gyrostat.engine.cpython.layout import available
from gyrostat.engine.kernel import Kernel
from gyrostat.engine.llvm import plan as plan_module
from gyrostat.engine.llvm.target import host
from gyrostat.engine.llvm.threads import MAX_THREADS
from gyrostat.engine.tracing.choose import where
from gyrostat.engine.tracing.program import Program, run
from gyrostat.engine.tracing.record import record
from gyrostat.errors import NonFiniteError, ShapeError

W = host().lanes
needs_builtin = pytest.mark.skipif(bool(available()), reason=f"no builtins: {available()}")


@pytest.fixture(autouse=True)
def no_cache(monkeypatch):
    monkeypatch.setenv("GYROSTAT_CACHE", "off")


def mixed(x, y):
    """Something of everything: products and sums that fuse, sines near and far, a choice, functions of libm."""
    s, c = np.sin(x), np.cos(x)
    a = x * y[:3] + s * c - y[0] * y[6] + np.exp(-np.abs(y[3])) * x[1]
    b = np.array([np.sqrt(x @ x + 1.0), np.arctan2(y[1], y[2]), where(x[0] < y[0], s[0], c[0] * 2.0) / (3.0 + s[1])])
    return {"z": np.concatenate([a, b])}


@pytest.fixture(scope="module")
def program() -> Program:
    return record(mixed, {"x": (3,), "y": (7,)})


@pytest.fixture(scope="module")
def kernel(program) -> Kernel:
    return Kernel(program, "mixed")


@pytest.fixture(scope="module")
def doubling() -> Kernel:
    """z = 2 x + y[0], one row of five each: easy to predict exactly."""
    return Kernel(record(lambda x, y: {"z": x * 2.0 + y[0]}, {"x": (5,), "y": (1,)}), "doubling")


def states(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    x = rng.uniform(-3.0, 3.0, (n, 3))
    x[rng.random(n) < 0.2] *= 1e6  # some go through the far sines
    return x, rng.normal(size=(n, 7))


def one_by_one(kernel: Kernel, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    def slow(*args, **options):
        raise AssertionError("a plain call took the slow path")

    call = kernel.builtin(slow, [], "mixed", "")
    return np.array([call(a.copy(), b.copy()) for a, b in zip(x, y, strict=True)])


# ---------------------------------------------------------------------------------------------- the same bits


@needs_builtin
def test_one_state_has_the_same_bits_as_any_row_of_any_batch(kernel):
    x, y = states(3 * W + 1)
    alone = one_by_one(kernel, x, y)
    for n in range(3 * W + 2):
        np.testing.assert_array_equal(kernel.call(x[:n], y[:n])["z"], alone[:n])
    for shift in range(1, 2 * W):
        np.testing.assert_array_equal(kernel.call(x[shift:], y[shift:])["z"], alone[shift:])


def test_the_number_of_threads_does_not_change_a_bit(kernel):
    for n in (1, W, 5 * W + 3, 1000):
        x, y = states(n, n)
        want = kernel.call(x, y)["z"]
        for threads in (2, 3, 7, MAX_THREADS):
            np.testing.assert_array_equal(kernel.call(x, y, threads=threads)["z"], want)


def test_compiled_results_are_the_interpreters(kernel, program):
    x, y = states(50)
    want = np.array([run(program, a.tolist(), b.tolist())[0] for a, b in zip(x, y, strict=True)])
    np.testing.assert_allclose(kernel.call(x, y)["z"], want, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("fma", [True, False])
@pytest.mark.parametrize("lanes", [2, 4, 8])
def test_machines_with_other_registers_give_the_same_bits(monkeypatch, program, lanes, fma):
    if fma and not host().fma:
        pytest.skip("this machine has no fused multiply-add")
    x, y = states(2 * lanes + 1)
    monkeypatch.setattr(kernel_module, "host", lambda: replace(host(), fma=fma))
    want = Kernel(program).call(x, y)["z"]
    monkeypatch.setattr(kernel_module, "host", lambda: replace(host(), lanes=lanes, fma=fma))
    kernel = Kernel(program)
    for n in range(2 * lanes + 2):
        np.testing.assert_array_equal(kernel.call(x[:n], y[:n])["z"], want[:n])
    if not available():
        np.testing.assert_array_equal(one_by_one(kernel, x, y), want)


@pytest.mark.parametrize("part", [1, 2, 3, 7])
def test_a_program_in_many_parts_gives_the_same_bits_as_in_one(monkeypatch, program, kernel, part):
    x, y = states(2 * W + 1)
    want = kernel.call(x, y)["z"]
    monkeypatch.setattr(plan_module, "PART", part)
    cut = Kernel(program, "cut")
    np.testing.assert_array_equal(cut.call(x, y)["z"], want)
    assert cut._wide.parts > 3
    if not available():
        np.testing.assert_array_equal(one_by_one(cut, x, y), want)


def test_a_robot_in_many_parts_gives_the_same_bits_as_in_one(monkeypatch):
    solver = gs.InverseDynamics(gs.robots.tree(4, 6, base="free"))
    program = solver.main_kernel().program
    rng = np.random.default_rng(0)
    inputs = [np.array([solver._example(s.name, s.shape, rng) for _ in range(W + 1)]) for s in program.inputs]
    monkeypatch.setattr(plan_module, "PART", 10**9)
    want = Kernel(program).call(*inputs)["tau"]
    for part in (40, 333):
        monkeypatch.setattr(plan_module, "PART", part)
        cut = Kernel(program)
        np.testing.assert_array_equal(cut.call(*inputs)["tau"], want)
        assert cut._wide.parts > 1


# ---------------------------------------------------------------------------------------------- shapes of programs


@pytest.mark.parametrize("lanes", [2, 4, 8])
def test_rows_of_every_width_are_read_and_written_whole(monkeypatch, lanes):
    monkeypatch.setattr(kernel_module, "host", lambda: replace(host(), lanes=lanes))
    for n in (0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 17):
        kernel = Kernel(record(lambda x, n=n: {"a": x[::-1] * 2.0, "b": [x.sum() if n else 1.0]}, {"x": (n,)}))
        for count in (1, lanes, lanes + 1, 2 * lanes + 1):
            x = np.arange(1.0, 1.0 + count * n).reshape(count, n)
            found = kernel.call(x)
            np.testing.assert_array_equal(found["a"], x[:, ::-1] * 2.0)
            np.testing.assert_array_equal(found["b"][:, 0], x.sum(axis=1) if n else np.ones(count))


def test_inputs_and_outputs_may_be_scalars_and_matrices():
    kernel = Kernel(record(lambda A, c: {"B": A.T * c, "t": np.trace(A), "I": A}, {"A": (3, 3), "c": ()}))
    rng = np.random.default_rng(0)
    A, c = rng.normal(size=(2, 5, 3, 3)), rng.normal(size=(5,))
    found = kernel.call(A, c)
    np.testing.assert_array_equal(found["B"], A.swapaxes(-1, -2) * c[:, None, None])
    np.testing.assert_allclose(found["t"], np.trace(A, axis1=-2, axis2=-1), rtol=1e-15)
    np.testing.assert_array_equal(found["I"], A)
    assert kernel.call(A[0, 0], 2.0)["t"].shape == ()


@needs_builtin
def test_builtins_take_scalars_and_matrices():
    slow = []
    kernel = Kernel(record(lambda A, c: {"B": A * c}, {"A": (2, 3), "c": ()}))
    call = kernel.builtin(lambda *x: slow.append(x), [], "f", "doc")
    A = np.arange(6.0).reshape(2, 3)
    np.testing.assert_array_equal(call(A, np.array(2.0)), A * 2.0)
    total = Kernel(record(lambda x: {"s": x.sum()}, {"x": (3,)})).builtin(lambda *x: slow.append(x), [], "f", "doc")
    assert total(np.ones(3)).shape == () and total(np.ones(3)) == 3.0
    assert slow == []
    call(A.T, np.array(2.0)), call(A[:, :2], np.array(2.0)), call(A[None], np.array(2.0)), call(A, 2.0)
    assert len(slow) == 4
    assert call.__name__ == "f" and call.__doc__ == "doc"


def test_programs_without_inputs_or_outputs_run():
    constant = Kernel(record(lambda: {"y": np.array([1.5, 2.5])}, {}))
    np.testing.assert_array_equal(constant.call()["y"], [1.5, 2.5])
    assert Kernel(record(lambda x: {}, {"x": (2,)})).call(np.ones((3, 2))) == {}
    empty = Kernel(record(lambda x: {"y": np.zeros((0, 4))}, {"x": (0,)}))
    assert empty.call(np.zeros((3, 0)))["y"].shape == (3, 0, 4)
    if not available():
        assert constant.builtin(None, [], "f", "")().tolist() == [1.5, 2.5]
        assert empty.builtin(None, [], "f", "")(np.zeros(0)).shape == (0, 4)


def test_wide_inputs_go_through():
    n = 300
    kernel = Kernel(record(lambda x, y: {"z": x * y[::-1]}, {"x": (n,), "y": (n,)}))
    x, y = np.random.default_rng(0).normal(size=(2, W + 1, n))
    np.testing.assert_array_equal(kernel.call(x, y)["z"], x * y[:, ::-1])


# ---------------------------------------------------------------------------------------------- arrays of every kind


def layouts(x: np.ndarray) -> dict[str, np.ndarray]:
    """Arrays equal to x (n, m), each laid out in memory in its own way."""
    n, m = x.shape
    padded = np.full((n, m + 3), np.nan)
    padded[:, 1 : m + 1] = x
    spread = np.full((n, 2 * m), np.nan)
    spread[:, ::2] = x
    rows = np.full((3 * n, m), np.nan)
    rows[::3] = x
    crumbs = np.zeros(n * m * 8 + 1, np.uint8)
    misaligned = np.frombuffer(crumbs, np.uint8, offset=1).view(np.float64).reshape(n, m)
    misaligned[...] = x
    odd = np.zeros(n * (m * 8 + 4), np.uint8)
    odd_rows = as_strided(odd.view(np.uint8)[: m * 8].view(np.float64), (n, m), (m * 8 + 4, 8))
    odd_rows[...] = x
    frozen = x.copy()
    frozen.flags.writeable = False
    deep = np.full((n, m, 2), np.nan)
    deep[..., 1] = x
    return {
        "plain": x.copy(),
        "Fortran order": np.asfortranarray(x),
        "padded rows": padded[:, 1 : m + 1],
        "every other column": spread[:, ::2],
        "every third row": rows[::3],
        "rows backwards": x[::-1].copy()[::-1],
        "columns backwards": x[:, ::-1].copy()[:, ::-1],
        "both backwards": x[::-1, ::-1].copy()[::-1, ::-1],
        "misaligned": misaligned,
        "odd row stride": odd_rows,
        "read-only": frozen,
        "last axis of three": deep[..., 1],
        "other byte order": x.astype(">f8"),
        "memory view": memoryview(x.copy()),
    }


@pytest.mark.parametrize("n", [1, 2, W, 2 * W + 1])
@pytest.mark.parametrize("name", list(layouts(np.ones((2, 3)))))
def test_arrays_of_every_layout_give_the_same_bits(kernel, name, n):
    x, y = states(n)
    want = kernel.call(x, y)["z"]
    np.testing.assert_array_equal(kernel.call(layouts(x)[name], y)["z"], want)
    np.testing.assert_array_equal(kernel.call(x, layouts(y)[name])["z"], want)
    np.testing.assert_array_equal(kernel.call(layouts(x)[name], layouts(y)[name], threads=2)["z"], want)


@pytest.mark.parametrize("name", list(layouts(np.ones((2, 3)))))
def test_the_code_gets_aligned_arrays_only(kernel, monkeypatch, name):
    """Not every processor forgives what this one does."""
    x, y = states(5)
    original = Kernel._run

    def watched(self, rows, count, threads):
        for row in rows:
            assert row.ctypes.data % 8 == 0 and row.strides[0] % 8 == 0
            assert row.shape[1] < 2 or row.strides[1] == 8
        return original(self, rows, count, threads)

    monkeypatch.setattr(Kernel, "_run", watched)
    out = layouts(np.zeros((5, 6)))[name] if name not in ("read-only", "other byte order") else np.zeros((5, 6))
    kernel.call(layouts(x)[name], layouts(y)[name], out={"z": np.asarray(out)})
    kernel.call(np.asarray(layouts(x)[name])[0], y)
    kernel.call(np.asarray(layouts(x)[name])[:, None], y)


@needs_builtin
@pytest.mark.parametrize("name", list(layouts(np.ones((2, 3)))))
def test_single_states_of_every_layout_give_the_same_bits(kernel, name):
    x, y = states(2)
    call = kernel.builtin(lambda *a: kernel.call(*a)["z"], [], "f", "")
    a, b = (np.asarray(layouts(v)[name]) for v in (x, y))
    for k in range(2):
        np.testing.assert_array_equal(call(a[k], b[k]), call(x[k].copy(), y[k].copy()))


def test_rows_may_be_the_same_memory(kernel):
    x, y = states(1)
    many = kernel.call(np.broadcast_to(x, (2 * W + 1, 3)), np.broadcast_to(y[0], (2 * W + 1, 7)))["z"]
    np.testing.assert_array_equal(many, np.broadcast_to(kernel.call(x, y)["z"], (2 * W + 1, 6)))
    window = np.lib.stride_tricks.sliding_window_view(np.arange(20.0), 3)
    np.testing.assert_array_equal(
        kernel.call(window, y[0])["z"], kernel.call(window.copy(), np.broadcast_to(y[0], (18, 7)))["z"]
    )


@pytest.mark.parametrize("dtype", ["f4", "f2", "i1", "i8", "u2", "u8", "g", ">i4"])
def test_real_numbers_of_every_type_are_taken(kernel, dtype):
    x, y = np.array([[1, 2, 3], [0, 5, 7]]), np.arange(14).reshape(2, 7)
    want = kernel.call(x.astype(float), y.astype(float))["z"]
    np.testing.assert_array_equal(kernel.call(x.astype(dtype), y.astype(dtype))["z"], want)


@pytest.mark.parametrize(
    ("wrong", "kind"),
    [
        (np.ones((2, 3), bool), "bool"),
        (np.ones((2, 3), complex), "complex128"),
        (np.ones((2, 3), object), "object"),
        (np.full((2, 3), "a"), "<U1"),
        (np.full((2, 3), b"a"), r"\|S1"),
        (np.zeros((2, 3), "M8[s]"), r"datetime64\[s\]"),
        (np.zeros((2, 3), [("a", float)]), r"\[\('a', '<f8'\)\]"),
        ([[True, False, True]], "bool"),
        ("abc", "<U3"),
        (None, "object"),
        (b"abc", r"\|S3"),
        ({1.0, 2.0}, "object"),
        ((k for k in range(3)), "object"),
        (object(), "object"),
        ([1.0, None, 2.0], "object"),
        ([10**400, 1, 2], "object"),
        (np.array(None), "object"),
        (float, "object"),
    ],
)
def test_what_holds_no_real_numbers_is_refused_by_name_and_type(kernel, wrong, kind):
    with pytest.raises(ShapeError, match=rf"mixed: x must hold real numbers, got {kind}"):
        kernel.call(wrong, np.ones(7))
    with pytest.raises(ShapeError, match=rf"mixed: y must hold real numbers, got {kind}"):
        kernel.call(np.ones(3), wrong)


@pytest.mark.parametrize("wrong", [[[1.0, 2.0, 3.0], [1.0, 2.0]], [1.0, [2.0], 3.0]])
def test_ragged_lists_are_refused(kernel, wrong):
    with pytest.raises(
        ShapeError, match=r"x is not a rectangular array of numbers. Hint: all rows need the same length"
    ):
        kernel.call(wrong, np.ones(7))


class Foreign:
    """Like a data frame: no array, but can become one."""

    def __init__(self, value):
        self.value = value

    def __array__(self, dtype=None, copy=None):
        if isinstance(self.value, Exception):
            raise self.value
        return np.asarray(self.value, dtype=dtype)


class Unprintable:
    def __repr__(self):
        raise RuntimeError("no")


class Tagged(np.ndarray):
    """A subclass with a mind of its own."""

    def __array_finalize__(self, other):
        self.tag = getattr(other, "tag", "new")

    def __array_ufunc__(self, *args, **kwargs):
        raise RuntimeError("no arithmetic, please")


def same_as(x: list[float]) -> dict[str, object]:
    return {
        "list": x,
        "tuple": tuple(x),
        "list of arrays": [np.array(e) for e in x],
        "array module": array.array("d", x),
        "deque": np.array(deque(x)),
        "foreign": Foreign(x),
        "foreign float32": Foreign(np.array(x, "f4")),
        "masked, nothing masked": np.ma.masked_array(x, mask=False),
        "subclass": np.array(x).view(Tagged),
        "record array": np.array(x).view(np.recarray),
        "range": range(1, 4),
    }


@pytest.mark.parametrize("name", list(same_as([1.0, 2.0, 3.0])))
def test_other_things_with_numbers_are_taken(kernel, name):
    y = np.arange(7.0)
    want = kernel.call([1.0, 2.0, 3.0], y)["z"]
    got = kernel.call(same_as([1.0, 2.0, 3.0])[name], y)["z"]
    assert type(got) is np.ndarray
    np.testing.assert_array_equal(got.reshape(-1), want)


@pytest.mark.filterwarnings("ignore:the matrix subclass")
def test_matrices_are_batches_of_rows(kernel):
    found = kernel.call(np.asmatrix([1.0, 2.0, 3.0]), np.arange(7.0))["z"]
    assert type(found) is np.ndarray
    np.testing.assert_array_equal(found, [kernel.call([1.0, 2.0, 3.0], np.arange(7.0))["z"]])


def test_memory_maps_are_taken_and_written(doubling, tmp_path):
    x = np.memmap(tmp_path / "x", float, "w+", shape=(7, 5))
    x[...] = np.arange(35.0).reshape(7, 5)
    out = np.memmap(tmp_path / "z", float, "w+", shape=(7, 5))
    assert doubling.call(x, [1.0], out={"z": out})["z"] is out
    np.testing.assert_array_equal(out, np.array(x) * 2.0 + 1.0)


def test_masked_entries_are_refused(kernel):
    with pytest.raises(ShapeError, match=r"mixed: x is a masked array with masked entries. Hint: fill them"):
        kernel.call(np.ma.masked_array([1.0, 2.0, 3.0], mask=[0, 1, 0]), np.ones(7))


@pytest.mark.parametrize("error", [RuntimeError("broken"), ValueError("broken"), TypeError("no"), KeyError("x")])
def test_objects_that_cannot_become_arrays_are_refused(kernel, error):
    with pytest.raises(ShapeError, match=r"mixed: x (cannot be read as an array, |is not a rectangular array)"):
        kernel.call(Foreign(error), np.ones(7))


def test_objects_that_cannot_even_be_shown_are_refused(kernel):
    with pytest.raises(ShapeError, match=r"x must hold real numbers, got object \(a Unprintable\)"):
        kernel.call(Unprintable(), np.ones(7))
    with pytest.raises(ShapeError, match="threads must be a whole number from 1 to 256, got a Unprintable"):
        kernel.call(np.ones(3), np.ones(7), threads=Unprintable())


@pytest.mark.parametrize(
    ("shape", "expected"),
    [((), r"x has shape \(\), expected \(..., 3\)"), ((4,), r"\(4,\)"), ((0,), r"\(0,\)"), ((3, 1), r"\(3, 1\)")],
)
def test_wrong_shapes_are_told(kernel, shape, expected):
    with pytest.raises(ShapeError, match=expected):
        kernel.call(np.zeros(shape), np.zeros(7))


def test_leading_shapes_broadcast_or_are_told(kernel):
    x, y = states(6)
    want = kernel.call(np.repeat(x, 6, axis=0), np.tile(y, (6, 1)))["z"].reshape(6, 6, 6)
    np.testing.assert_array_equal(kernel.call(x[:, None], y[None])["z"], want)
    np.testing.assert_array_equal(kernel.call(x[:, None], y)["z"], want)
    np.testing.assert_array_equal(kernel.call(x[:, None, :], y, threads=3)["z"], want)
    np.testing.assert_array_equal(kernel.call(x[0], y)["z"], want[0])
    np.testing.assert_array_equal(kernel.call(x[None, None], y[0])["z"][0, 0], want[:, 0])
    with pytest.raises(ShapeError, match=r"mixed: leading shapes do not go together: x \(6,\), y \(5,\)"):
        kernel.call(x, y[:5])


@pytest.mark.parametrize("lead", [(0,), (0, 4), (4, 0), (1, 0, 3)])
def test_empty_batches_give_empty_results(kernel, lead):
    assert kernel.call(np.zeros((*lead, 3)), np.zeros((*lead, 7)))["z"].shape == (*lead, 6)
    assert kernel.call(np.zeros((*lead, 3)), np.zeros(7), threads=4)["z"].shape == (*lead, 6)


def test_the_number_of_arrays_is_told(kernel):
    with pytest.raises(ShapeError, match="mixed: got 1 arrays, expected 2: x, y"):
        kernel.call(np.ones(3))


@pytest.mark.parametrize("threads", [0, -1, 257, 1.0, "2", None, True, np.array([1, 2]), 10**30])
def test_wrong_numbers_of_threads_are_told(kernel, threads):
    with pytest.raises(ShapeError, match="mixed: threads must be a whole number from 1 to 256, got "):
        kernel.call(*states(2), threads=threads)


@pytest.mark.parametrize("choice", ["warn", None, True, np.array(["raise", "return"]), 0])
def test_wrong_choices_for_what_is_not_finite_are_told(kernel, choice):
    with pytest.raises(ShapeError, match="mixed: nonfinite must be 'raise' or 'return', got "):
        kernel.call(*states(2), nonfinite=choice)


# ---------------------------------------------------------------------------------------------- out=


@pytest.mark.parametrize("n", [1, W, 2 * W + 1])
@pytest.mark.parametrize("name", [k for k in layouts(np.ones((2, 3))) if k not in ("read-only", "other byte order")])
def test_results_are_written_into_arrays_of_every_layout(doubling, name, n):
    x = np.random.default_rng(n).normal(size=(n, 5))
    out = np.asarray(layouts(np.zeros((n, 5)))[name])
    assert doubling.call(x, [1.0], out={"z": out})["z"] is out
    np.testing.assert_array_equal(out, x * 2.0 + 1.0)


@needs_builtin
@pytest.mark.parametrize("name", [k for k in layouts(np.ones((2, 3))) if k not in ("read-only", "other byte order")])
def test_single_results_are_written_into_arrays_of_every_layout(doubling, name):
    call = doubling.builtin(lambda x, y, out=None: doubling.call(x, y, out={"z": out})["z"], [], "f", "")
    out = np.asarray(layouts(np.zeros((2, 5)))[name])[1]
    x = np.arange(5.0)
    assert call(x, np.ones(1), out=out) is out
    np.testing.assert_array_equal(out, x * 2.0 + 1.0)


@pytest.mark.parametrize(
    ("out", "message"),
    [
        (np.zeros((2, 4)), r"out has shape \(2, 4\), expected \(2, 5\)"),
        (np.zeros(5), r"out has shape \(5,\), expected \(2, 5\)"),
        (np.zeros((1, 2, 5)), r"out has shape \(1, 2, 5\), expected \(2, 5\)"),
        (np.zeros((2, 5), "f4"), "out must be a float64 array, got float32"),
        (np.zeros((2, 5), int), "out must be a float64 array, got int64"),
        (np.zeros((2, 5), ">f8"), "out must be a float64 array, got >f8"),
        (np.zeros((2, 5), object), "out must be a float64 array, got object"),
        ([[0.0] * 5] * 2, "out must be a float64 array, got list"),
        ("out", "out must be a float64 array, got str"),
        (Foreign(np.zeros((2, 5))), "out must be a float64 array, got Foreign"),
        (np.broadcast_to(np.zeros(5), (2, 5)), "out is read-only. Hint: pass a writeable array, or none"),
        (layouts(np.zeros((2, 5)))["read-only"], "out is read-only"),
        (as_strided(np.zeros(5), (2, 5), (0, 8)), "out does not keep what is written into it"),
        (as_strided(np.zeros(9), (2, 5), (16, 8)), "out does not keep what is written into it"),
    ],
)
def test_unsuitable_arrays_for_results_are_refused(doubling, out, message):
    x = np.arange(10.0).reshape(2, 5)
    with pytest.raises(ShapeError, match=f"doubling: {message}"):
        doubling.call(x, [1.0], out={"z": out})


def test_an_output_that_does_not_exist_is_told(doubling):
    with pytest.raises(ShapeError, match="doubling: there is no output 'tau'"):
        doubling.call(np.zeros(5), [1.0], out={"tau": np.zeros(5)})


@pytest.mark.parametrize("n", [1, 2, W, 3 * W + 1])
@pytest.mark.parametrize("shift", [-6, -5, -1, 0, 1, 4, 5, 7])
def test_results_may_overlap_the_inputs_in_any_way(doubling, n, shift):
    memory = np.random.default_rng(n).normal(size=40 + 5 * n)
    x, out = (memory[k : k + 5 * n].reshape(n, 5) for k in (10, 10 + shift))
    want = x * 2.0 + 1.0
    for threads in (1, 2):
        before = memory.copy()
        np.testing.assert_array_equal(doubling.call(x, [1.0], out={"z": out}, threads=threads)["z"], want)
        memory[...] = before
    flipped = out[::-1]
    np.testing.assert_array_equal(doubling.call(x, [1.0], out={"z": flipped})["z"], want)


def test_results_may_overlap_an_input_that_all_states_share(doubling):
    memory = np.arange(30.0)
    x, y, out = np.ones((4, 5)), memory[7:8], memory[:20].reshape(4, 5)
    assert np.all(doubling.call(x, y, out={"z": out})["z"] == 9.0)


@needs_builtin
@pytest.mark.parametrize("shift", range(-6, 7))
def test_a_single_result_may_overlap_the_inputs_in_any_way(doubling, shift):
    slow = []

    def general(x, y, out=None):
        slow.append(1)
        return doubling.call(x, y, out={"z": out})["z"]

    call = doubling.builtin(general, [], "f", "")
    memory = np.arange(20.0)
    x, out = memory[7:12], memory[7 + shift : 12 + shift]
    want = x * 2.0 + 1.0
    np.testing.assert_array_equal(call(x, np.ones(1), out=out), want)
    assert bool(slow) == (abs(shift) < 5)


@needs_builtin
def test_a_single_result_may_overlap_hidden_inputs(doubling):
    hidden = np.arange(5.0)[2:3]
    whole = hidden.base

    def general(x, out=None):
        return doubling.call(x, hidden, out={"z": out})["z"]

    call = doubling.builtin(general, [hidden], "f", "")
    np.testing.assert_array_equal(call(np.ones(5), out=whole), np.full(5, 4.0))


def test_several_outputs_may_be_given_or_not():
    kernel = Kernel(record(lambda x: {"a": x + 1.0, "b": x * 2.0}, {"x": (3,)}))
    x, a, b = np.arange(6.0).reshape(2, 3), np.zeros((2, 3)), np.zeros((2, 3))
    found = kernel.call(x, out={"b": b})
    assert found["b"] is b and found["a"] is not a
    both = kernel.call(x, out={"a": a, "b": b})
    assert both["a"] is a and both["b"] is b
    np.testing.assert_array_equal(both["a"], x + 1.0)
    np.testing.assert_array_equal(both["b"], x * 2.0)


def test_results_are_fresh_arrays(doubling):
    x = np.ones((3, 5))
    first = doubling.call(x, [1.0])["z"]
    second = doubling.call(x * 2.0, [1.0])["z"]
    assert not np.shares_memory(first, second) and not np.shares_memory(first, x)
    np.testing.assert_array_equal(first, np.full((3, 5), 3.0))
    if not available():
        call = doubling.builtin(None, [], "f", "")
        first, second = call(x[0], np.ones(1)), call(x[0] * 2.0, np.ones(1))
        assert first.flags.owndata and first.flags.writeable and not np.shares_memory(first, second)
        np.testing.assert_array_equal(first, np.full(5, 3.0))


# ---------------------------------------------------------------------------------------------- inside arrays only


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("n", [1, 2, W - 1, W, W + 1, 5 * W + 3])
def test_nothing_is_written_outside_an_array(doubling, n, threads):
    sentinel = 3.25e7
    memory = np.full((n + 4, 11), sentinel)
    x, out = np.ones((n, 5)), memory[2 : n + 2, 3:8]
    doubling.call(x, [1.0], out={"z": out}, threads=threads)
    assert np.all(memory[2 : n + 2, 3:8] == 3.0)
    memory[2 : n + 2, 3:8] = sentinel
    assert np.all(memory == sentinel)
    line = np.full(5 * n + 40, sentinel)
    inner = line[20 : 20 + 5 * n].reshape(n, 5)  # contiguous: written directly
    doubling.call(x, [1.0], out={"z": inner}, threads=threads)
    assert np.all(inner == 3.0) and np.all(line[:20] == sentinel) and np.all(line[20 + 5 * n :] == sentinel)


@pytest.mark.skipif(sys.platform != "linux", reason="asks for pages of memory as on Linux")
def test_nothing_is_read_or_written_beyond_the_edge_of_a_page(tmp_path):
    """Arrays end where memory ends, or begin where it begins: one byte too far and the process is gone."""
    script = """
        import ctypes, mmap, sys
        import numpy as np
        from gyrostat.engine.cpython.layout import available
        from gyrostat.engine.kernel import Kernel
        from gyrostat.engine.tracing.record import record

        libc = ctypes.CDLL(None, use_errno=True)
        PAGE = mmap.PAGESIZE
        kept = []

        def fenced(shape, at_end):
            size = int(np.prod(shape)) * 8
            pages = -(-size // PAGE)
            memory = mmap.mmap(-1, (pages + 2) * PAGE)
            address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
            for fence in (address, address + (pages + 1) * PAGE):
                assert libc.mprotect(ctypes.c_void_p(fence), ctypes.c_size_t(PAGE), 0) == 0
            start = PAGE + (pages * PAGE - size if at_end else 0)
            kept.append(memory)
            return np.frombuffer(memory, float, size // 8, start).reshape(shape)

        for width in (1, 2, 3, 4, 5, 7, 8, 9, 16, 17):
            kernel = Kernel(record(lambda x, y: {"z": x * 2.0 + y}, {"x": (width,), "y": (width,)}))
            call = None if available() else kernel.builtin(None, [], "f", "")
            for at_end in (True, False):
                for n in (1, 2, 3, 4, 5, 8, 9, 17):
                    x, y, z = (fenced((n, width), at_end) for _ in range(3))
                    x[...], y[...] = np.random.default_rng(0).normal(size=(2, n, width))
                    for threads in (1, 2):
                        z[...] = 0.0
                        kernel.call(x, y, out={"z": z}, threads=threads)
                        assert np.array_equal(z, x * 2.0 + y)
                        backwards = kernel.call(x[::-1], y[::-1])["z"]
                        assert np.array_equal(backwards[::-1], z)
                    if call and n == 1:
                        z[...] = 0.0
                        call(x[0], y[0], out=z[0])
                        assert np.array_equal(z, x * 2.0 + y)
        print("intact")
    """
    file = tmp_path / "fences.py"
    file.write_text(textwrap.dedent(script))
    done = subprocess.run([sys.executable, "-X", "faulthandler", file], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout) == (0, "intact\n"), done.stderr


# ---------------------------------------------------------------------------------------------- what is not finite


@pytest.fixture(scope="module")
def roots() -> Kernel:
    program = record(lambda x, y: {"r": np.sqrt(x), "s": x + y, "guard": [np.log(y[0])]}, {"x": (2,), "y": (1,)})
    return Kernel(program, "roots")


@pytest.mark.parametrize("k", [0, 1, W, 2 * W])
@pytest.mark.parametrize("threads", [1, 2])
def test_the_state_and_the_input_to_blame_are_named(roots, k, threads):
    x, y = np.ones((2 * W + 1, 2)), np.ones((2 * W + 1, 1))
    x[k, 1] = np.inf
    with pytest.raises(NonFiniteError, match=rf"roots: x\[1\] in state \({k},\) is inf, so that 'r' is not finite"):
        roots.call(x, y, threads=threads)
    x[k, 1] = -1.0
    with pytest.raises(NonFiniteError, match=rf"roots: 'r' in state \({k},\) is not finite although all inputs are"):
        roots.call(x, y, threads=threads)
    x[k, 1], y[k] = 1.0, -1.0
    with pytest.raises(
        NonFiniteError, match=rf"roots: a guard in state \({k},\) is not finite although all inputs are"
    ):
        roots.call(x, y, threads=threads)
    x[k, 1], y[k] = 1.0, np.nan
    with pytest.raises(NonFiniteError, match=rf"roots: y\[0\] in state \({k},\) is nan, so that 's' is not finite"):
        roots.call(x, y, threads=threads)


def test_the_first_bad_state_is_named_with_its_place_in_the_batch(roots):
    x, y = np.ones((3, 4, 2)), np.ones((4, 1))
    x[1, 2, 0] = x[2, 3, 1] = np.nan
    with pytest.raises(NonFiniteError, match=r"x\[0\] in state \(1, 2\) is nan"):
        roots.call(x, y)
    with pytest.raises(NonFiniteError, match=r"roots: x\[0\] is nan"):
        roots.call(x[1, 2], y[2])


def test_what_is_not_finite_may_be_returned(roots):
    x, y = np.array([[-1.0, 4.0], [np.inf, 1.0], [4.0, 9.0]]), np.array([[1.0], [1.0], [-1.0]])
    found = roots.call(x, y, nonfinite="return")
    np.testing.assert_array_equal(found["r"], [[np.nan, 2.0], [np.inf, 1.0], [2.0, 3.0]])
    np.testing.assert_array_equal(found["s"], [[0.0, 5.0], [np.inf, 2.0], [3.0, 8.0]])


def test_the_caller_may_say_more_about_what_is_wrong(roots):
    def explain():
        raise ValueError("said in other words")

    for nonfinite in ("raise", "return"):
        with pytest.raises(ValueError, match="in other words"):
            roots.call([-1.0, 0.0], [1.0], explain=explain, nonfinite=nonfinite)
    roots.call([1.0, 0.0], [1.0], explain=explain)


@needs_builtin
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e308])
def test_a_single_result_that_is_not_finite_goes_to_the_slow_path(doubling, value):
    slow = []
    call = doubling.builtin(lambda *a, **k: slow.append((a, k)), [], "f", "")
    x = np.full(5, value)
    assert call(x, np.ones(1)) is None and len(slow) == 1 and slow[0][0][0] is x
    out = np.zeros(5)
    references = sys.getrefcount(out)
    assert call(x, np.ones(1), out=out) is None and slow[1][1]["out"] is out
    slow.clear()
    assert sys.getrefcount(out) == references


# ---------------------------------------------------------------------------------------------- the builtin itself


@needs_builtin
def test_the_builtin_neither_leaks_nor_loses_references(doubling):
    call = doubling.builtin(lambda *a, **k: None, [], "f", "")
    x, y, out = np.ones(5), np.ones(1), np.zeros(5)
    before = [sys.getrefcount(v) for v in (x, y, out)]
    for _ in range(1000):
        call(x, y)
        call(x, y, out=out)
        call(x, y, out=None)
        call([1.0], y)
    assert [sys.getrefcount(v) for v in (x, y, out)] == before
    assert sys.getrefcount(call(x, y)) == sys.getrefcount(np.ones(5)) + 1  # it may be returned again


@needs_builtin
def test_an_array_is_returned_again_only_if_nobody_can_see_it_and_it_is_as_it_was(doubling):

    call = doubling.builtin(None, [], "f", "")
    y = np.ones(1)
    inputs = [np.full(5, float(k)) for k in range(40)]
    expected = [doubling.call(x, y)["z"] for x in inputs]
    kept = [call(x, y) for x in inputs]  # all held at once
    assert all(np.array_equal(k, e) for k, e in zip(kept, expected, strict=True))
    views = [call(x, y)[1:3] for x in inputs]  # held by views
    assert all(np.array_equal(k, e[1:3]) for k, e in zip(views, expected, strict=True))
    buffers = [memoryview(call(x, y)) for x in inputs]
    assert all(np.array_equal(k, e) for k, e in zip(buffers, expected, strict=True))
    del kept, views, buffers
    found = call(inputs[1], y)
    for x, e in zip(inputs, expected, strict=True):  # one is still held while the next is made
        before, found = found, call(x, y)
        assert before is not found and np.array_equal(found, e)
    alterations = [
        lambda z: z.setflags(write=False),
        lambda z: setattr(z, "shape", (5, 1)),
        lambda z: setattr(z, "dtype", np.int64),
        lambda z: z.resize((7,), refcheck=False),
        lambda z: setattr(z, "strides", (0,)),
    ]
    for alter in alterations:
        for _ in range(3):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # some of these are frowned upon
                alter(call(inputs[2], y))
            fresh = call(inputs[3], y)
            assert fresh.flags.carray and fresh.shape == (5,) and fresh.dtype == float
            assert np.array_equal(fresh, expected[3])
    watched = call(inputs[4], y)
    watcher = weakref.ref(watched)
    del watched
    others = [call(x, y) for x in inputs[:3]]
    assert watcher() is None or all(watcher() is not z for z in others)


@needs_builtin
def test_batches_go_through_the_builtin_as_well(doubling):
    seen = []
    doubling = Kernel(doubling.program)

    def general(*arrays):
        seen.append(arrays)
        return doubling.call(*arrays)["z"]

    call = doubling.builtin(general, [], "f", "")
    x, y = np.arange(35.0).reshape(7, 5), np.arange(7.0).reshape(7, 1)
    first = call(x, y)  # by the general path, which makes the code
    second = call(x, y)
    assert len(seen) == 1 and second is not first and np.array_equal(first, second)
    for n in (1, 2, 3, 4, 5, 7):
        assert np.array_equal(call(x[:n], y[:n]), first[:n]) and len(seen) == 1
    for odd in [(x, y[:1]), (x[::2], y[::2]), (x[:0], y[:0]), (x[None], y[None]), (x.astype("f4"), y), (x, y[0])]:
        seen.clear()
        want = doubling.call(*odd)["z"]
        assert np.array_equal(call(*odd), want) and len(seen) == 1
    seen.clear()
    x[3, 2] = np.nan
    with pytest.raises(NonFiniteError, match=r"state \(3,\)"):
        call(x, y)
    assert len(seen) == 1


@needs_builtin
def test_several_outputs_come_as_a_named_tuple():
    from typing import NamedTuple

    class Pair(NamedTuple):
        s: np.ndarray
        d: np.ndarray

    kernel = Kernel(record(lambda x, y: {"s": x + y, "d": np.outer(x, y)}, {"x": (3,), "y": (3,)}))
    call = kernel.builtin(lambda x, y: Pair(**kernel.call(x, y)), [], "f", "", Pair)
    x, y = np.arange(3.0), np.ones(3)
    for _ in range(5):
        found = call(x, y)
        assert type(found) is Pair and np.array_equal(found.s, x + y) and np.array_equal(found.d, np.outer(x, y))
    X, Y = np.arange(12.0).reshape(4, 3), np.ones((4, 3))
    for _ in range(3):
        many = call(X, Y)
        assert type(many) is Pair and many.d.shape == (4, 3, 3) and np.array_equal(many.d[2], np.outer(X[2], Y[2]))
    before = sys.getrefcount(found.s)
    held = [call(x, y) for _ in range(10)]
    del held
    gc.collect()
    assert sys.getrefcount(found.s) == before


@needs_builtin
def test_everything_unusual_goes_to_the_slow_path_as_it_was_given(doubling):
    seen = []
    call = doubling.builtin(lambda *a, **k: seen.append((a, k)) or "slow", [], "f", "")
    x, y, out = np.ones(5), np.ones(1), np.zeros(5)
    frozen = np.zeros(5)
    frozen.flags.writeable = False
    usual = [((x, y), {}), ((x, y), {"out": out}), ((frozen, y), {})]
    for a, k in usual:
        assert call(*a, **k) is not None and seen == []
    unusual = [
        ((), {}),
        ((x,), {}),
        ((x, y, y), {}),
        ((x,), {"y": y}),
        ((x, y), {"out": None}),
        ((x, y), {"out": frozen}),
        ((x, y), {"out": out, "threads": 1}),
        ((x, y), {"threads": 1, "out": out}),
        ((x, y), {"output": out}),
        ((x, y), {"out": np.zeros(6)}),
        ((x, y), {"out": np.zeros((1, 5))}),
        ((x, y), {"out": np.zeros(10)[::2]}),
        ((x, y), {"out": np.zeros(5, "f4")}),
        ((x, y), {"out": np.zeros(5).view(Tagged)}),
        ((x, y), {"out": x}),
        ((x.astype("f4"), y), {}),
        ((x.astype(">f8"), y), {}),
        ((x[None], y), {}),
        ((np.ones(6), y), {}),
        ((np.ones(10)[::2], y), {}),
        ((np.ones(5)[::-1], y), {}),
        ((x.view(Tagged), y), {}),
        ((np.frombuffer(bytes(41), np.uint8, 40, 1).view(float), y), {}),
        ((None, y), {}),
        ((5, "y"), {}),
        (([1.0] * 5, (1.0,)), {}),
    ]
    for a, k in unusual:
        seen.clear()
        assert call(*a, **k) == "slow"
        assert len(seen) == 1 and all(p is q for p, q in zip(seen[0][0], a, strict=True))
        assert all(seen[0][1][name] is v for name, v in k.items()) and len(seen[0][1]) == len(k)


@needs_builtin
def test_keyword_names_that_are_not_interned_are_understood(doubling):
    call = doubling.builtin(lambda x, y, out=None: doubling.call(x, y, out={"z": out})["z"], [], "f", "")
    out = np.zeros(5)
    assert call(np.ones(5), np.ones(1), **{"".join(["o", "ut"]): out}) is out and np.all(out == 3.0)


@needs_builtin
def test_errors_of_the_slow_path_come_through(doubling):
    def slow(*args, **options):
        raise KeyError("from the slow path")

    call = doubling.builtin(slow, [], "f", "")
    with pytest.raises(KeyError, match="from the slow path"):
        call(1, 2)
    with pytest.raises(TypeError):
        doubling.builtin(lambda x, y: None, [], "f", "")(1, 2, 3)


@needs_builtin
def test_two_builtins_of_one_kernel_have_their_own_tables(doubling):
    """A second builtin must not redirect the first one, whose slow path may be gone when the second one dies."""
    first = doubling.builtin(lambda *a: "first", [], "f", "")
    second = doubling.builtin(lambda x: "second", [np.array([5.0])], "g", "")
    third = doubling.builtin(lambda *a: "third", [], "f", "")
    assert (first(1, 2), second(1), third(1, 2)) == ("first", "second", "third")
    x = np.ones(5)
    np.testing.assert_array_equal(first(x, np.ones(1)), np.full(5, 3.0))
    np.testing.assert_array_equal(second(x), np.full(5, 7.0))


@needs_builtin
def test_hidden_inputs_are_read_at_every_call(doubling):
    hidden = np.array([1.0])
    call = doubling.builtin(None, [hidden], "f", "")
    for value in (1.0, -4.0):
        hidden[...] = value
        np.testing.assert_array_equal(call(np.ones(5)), np.full(5, 2.0 + value))


# ---------------------------------------------------------------------------------------------- after a fork


@pytest.mark.skipif(not hasattr(sys.modules["os"], "fork"), reason="no fork on this system")
def test_threads_work_in_a_forked_child(tmp_path):
    script = """
        import os, signal, sys
        import numpy as np
        from gyrostat.engine.kernel import Kernel
        from gyrostat.engine.tracing.record import record

        kernel = Kernel(record(lambda x: {"y": np.sin(x)}, {"x": (3,)}))
        x = np.ones((100_000, 3))
        for _ in range(5):
            want = kernel.call(x, threads=8)["y"]  # leaves idle threads, which the child does not have
        child = os.fork()
        if child == 0:
            signal.alarm(20)
            os._exit(0 if np.array_equal(kernel.call(x, threads=2)["y"], want) else 1)
        sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    """
    file = tmp_path / "fork.py"
    file.write_text(textwrap.dedent(script))
    done = subprocess.run([sys.executable, "-W", "ignore", file], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


# ---------------------------------------------------------------------------------------------- hostile calls


def hostile(*arguments: str, timeout: float) -> str:
    """Random calls in a process of their own, so that a crash is seen and not suffered."""
    script = Path(__file__).parents[2] / "support" / "hostile_calls.py"
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", script, *arguments], capture_output=True, text=True, timeout=timeout
    )
    assert done.returncode == 0, f"exit {done.returncode}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    return done.stdout


def test_three_thousand_hostile_calls_return_the_right_numbers_or_a_sentence():
    told = hostile("1", "3000", timeout=120)
    assert "3000 calls" in told and int(told.split(" right")[0].split()[-1]) > 500


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_a_hundred_thousand_hostile_calls_return_the_right_numbers_or_a_sentence(seed):
    assert "10000 calls" in hostile(str(100 + seed), "10000", timeout=900)


def test_large_results_are_returned_again_only_if_nobody_has_them(doubling):
    kernel = Kernel(doubling.program)
    x, y = np.arange(50_000.0).reshape(10_000, 5), np.ones((10_000, 1))
    want = kernel.call(x, y)["z"].copy()
    first = kernel.call(x, y)["z"]
    second = kernel.call(2.0 * x, y)["z"]  # the first is still held
    assert first is not second and np.array_equal(first, want)
    view = second[3:5]
    del second
    third = kernel.call(x, y)["z"]  # the second is held by a view
    assert np.array_equal(view, kernel.call(2.0 * x[3:5], y[3:5])["z"]) and np.array_equal(third, want)
    address = third.ctypes.data
    del third
    again = kernel.call(x, y, threads=2)["z"]
    assert again.ctypes.data == address and np.array_equal(again, want)
    again.flags.writeable = False
    del again
    assert kernel.call(x, y)["z"].flags.writeable
    given = np.empty((10_000, 5))
    assert kernel.call(x, y, out={"z": given})["z"] is given
    assert kernel.call(x, y)["z"] is not given
