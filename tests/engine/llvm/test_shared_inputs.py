"""Kernels of several lanes with inputs that all lanes share: the bits of kernels that read a column for each lane."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.engine.llvm.compile import key_of, load
from gyrostat.engine.llvm.emit import emit
from gyrostat.engine.llvm.plan import Plan
from gyrostat.engine.llvm.target import host
from gyrostat.engine.tracing.derivative import pushforward
from gyrostat.engine.tracing.program import Program
from gyrostat.engine.tracing.reassociate import reassociate
from gyrostat.engine.tracing.record import record
from tests.support.random_programs import random_program

FMA = [False, True] if host().fma else [False]
FUNCTIONS = ("kernel", "common", "lanes")


class WideCode:
    """W-lane code of a program as functions of addresses; the inputs that are named are shared."""

    def __init__(self, program: Program, lanes: int, shared: Sequence[str] = (), fma: bool = host().fma, **how: Any):
        self.program, self.lanes = program, lanes
        self.shared = frozenset(k for k, slot in enumerate(program.inputs) if slot.name in shared)
        self.emitted = emit(program, lanes, fma, shared=self.shared, **how)
        count = len(program.inputs) + len(program.outputs) + 1
        arguments = ", ".join(f"ptr %a{k}" for k in range(count))
        text = self.emitted.text
        for name in FUNCTIONS if self.shared else FUNCTIONS[:1]:
            kind = "double" if name == "common" else f"<{lanes} x double>"
            text += f"\ndefine void @call_{name}({arguments}, ptr %r) {{\n  %x = call {kind} @{name}({arguments})\n"
            text += f"  store {kind} %x, ptr %r, align 8\n  ret void\n}}"
        key = key_of(program.digest, "test", repr((lanes, sorted(self.shared), fma, sorted(how.items()))))
        self.loaded, self.count = load(key, lambda: text), count
        self.work = np.full(lanes * self.emitted.work + 1, np.nan)

    def function(self, name: str) -> Any:
        return ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * (self.count + 1))(self.loaded.address(f"call_{name}"))

    def columns(self, x: Sequence[Any]) -> list[np.ndarray]:
        """Inputs as the code reads them: (n,) where shared, else (n, W) from (W, ...) or one for all lanes."""
        arrays = []
        for k, (given, slot) in enumerate(zip(x, self.program.inputs, strict=True)):
            one = np.asarray(given, dtype=float)
            wide = np.broadcast_to(one, (self.lanes, *slot.shape)).reshape(self.lanes, slot.size).T
            arrays.append(np.ascontiguousarray(one.ravel() if k in self.shared else wide))
        return arrays

    def outputs(self) -> list[np.ndarray]:
        """Arrays for the outputs: (n,) where shared, else (n, W)."""
        sizes = [(s.size,) if k in self.emitted.shared_outputs else (s.size, self.lanes) for k, s in self.numbered]
        return [np.full(size, -7.0) for size in sizes]

    @property
    def numbered(self) -> list[tuple[int, Any]]:
        return list(enumerate(self.program.outputs))

    def run(self, name: str, columns: Sequence[np.ndarray], outputs: Sequence[np.ndarray]) -> np.ndarray:
        """Call a function of the module; what it returns."""
        returned = np.full(self.lanes, -7.0)
        self.function(name)(*(x.ctypes.data for x in [*columns, *outputs, self.work, returned]))
        return returned[:1] if name == "common" else returned

    def __call__(self, *x: Any) -> tuple[np.ndarray, list[np.ndarray]]:
        columns, outputs = self.columns(x), self.outputs()
        return self.run("kernel", columns, outputs), outputs


def everywhere(array: np.ndarray, lanes: int) -> np.ndarray:
    """An output in all lanes."""
    return array if array.ndim == 2 else np.repeat(array[:, None], lanes, axis=1)


@pytest.mark.parametrize("fma", FMA)
@pytest.mark.parametrize("lanes", [2, 4, 8])
@pytest.mark.parametrize("part", [3, 40, None])
@pytest.mark.parametrize("shared", [("p",), ("p", "idle"), ("q", "idle"), ("p", "q", "idle"), ("idle",)])
def test_shared_inputs_give_the_bits_of_columns_for_every_lane(shared, part, lanes, fma):
    for seed in range(3):
        program, rng = random_program(seed), np.random.default_rng(seed)
        x = [rng.normal(size=(() if s.name in shared else (lanes,)) + s.shape) for s in program.inputs]
        finite, want = WideCode(program, lanes, (), fma, constants=True)(*x)
        code = WideCode(program, lanes, shared, fma, part=part, constants=True)
        returned, got = code(*x)
        np.testing.assert_array_equal(finite, 0.0)
        np.testing.assert_array_equal(returned, 0.0)
        for one, two in zip(got, want, strict=True):
            np.testing.assert_array_equal(everywhere(one, lanes), two)


@pytest.fixture(scope="module")
def tangents() -> tuple[Program, list[np.ndarray]]:
    """Forward dynamics of an arm and its rates along directions of q."""
    program = gs.ForwardDynamics(gs.robots.kuka_lwr4()).main_kernel().program
    x = [np.random.default_rng(k).normal(size=7) for k in range(3)]
    return pushforward(program, ["a"], ["q", "v"], primal=True), x


def test_the_common_part_of_a_robot_serves_all_columns(tangents):
    program, x = tangents
    W, rng = host().lanes, np.random.default_rng(4)
    wide, code = WideCode(program, W), WideCode(program, W, ("q", "v", "tau"))
    assert {program.outputs[k].name for k in code.emitted.shared_outputs} == {"a"}
    one = code.outputs()
    assert code.run("common", code.columns([*x, np.full(7, np.nan), np.full(7, np.nan)]), one) == 0.0
    for _ in range(3):
        dots = [rng.normal(size=(W, 7)) for _ in range(2)]
        _, want = wide(*x, *dots)
        got = [one[0], np.empty((7, W))]
        np.testing.assert_array_equal(code.run("lanes", code.columns([*x, *dots]), got), 0.0)
        np.testing.assert_array_equal(everywhere(got[0], W), want[0])
        np.testing.assert_array_equal(got[1], want[1])


def test_shared_values_take_one_double_of_work_space(tangents):
    program, _ = tangents
    wide, code = emit(program, 8, True), emit(program, 8, True, shared=frozenset({0, 1, 2}))
    assert code.work < 0.6 * wide.work


def test_outputs_are_written_once_where_shared_as_a_whole_and_else_in_all_lanes():
    def function(x: Any, y: Any) -> dict[str, Any]:
        return {
            "sum": [x[0] + x[1], 3.0, x[1]],  # shared, with a constant and an input
            "mixed": [x[0] * x[1], y[0] * x[1], x[0], y[1], 5.0],
            "fixed": [1.0, 2.0],
            "copy": x,
        }

    program = record(function, {"x": (2,), "y": (2,)})
    code = WideCode(program, 4, ("x",), constants=True)
    assert code.emitted.shared_outputs == {0, 3}
    y = np.arange(8.0).reshape(4, 2)
    returned, (total, mixed, fixed, copy) = code([2.0, 7.0], y)
    np.testing.assert_array_equal(returned, 0.0)
    np.testing.assert_array_equal(total, [9.0, 3.0, 7.0])
    np.testing.assert_array_equal(copy, [2.0, 7.0])
    np.testing.assert_array_equal(mixed, [[14.0] * 4, 7.0 * y[:, 0], [2.0] * 4, y[:, 1], [5.0] * 4])
    np.testing.assert_array_equal(fixed, [[1.0] * 4, [2.0] * 4])


def test_constants_are_left_to_the_caller_unless_asked_for():
    program = record(lambda x: {"y": [x[0], 5.0]}, {"x": (1,)})
    for constants, want in ((False, -7.0), (True, 5.0)):
        _, (y,) = WideCode(program, 2, constants=constants)(np.array([[1.0], [2.0]]))
        np.testing.assert_array_equal(y, [[1.0, 2.0], [want, want]])


def test_what_is_not_finite_is_told_by_the_function_that_computes_it():
    def function(x: Any, y: Any) -> dict[str, Any]:
        return {"z": [x[0] * y[0]], "guard": [np.log(x[1]), np.log(y[1])]}

    code = WideCode(record(function, {"x": (2,), "y": (2,)}), 2, ("x",))
    good, bad = [1.0, 1.0], [1.0, -1.0]

    def finite(x: Any, y: Any) -> tuple[list[bool], list[bool]]:
        columns, outputs = code.columns([x, y]), code.outputs()
        common = code.run("common", columns, outputs)
        return list(common == 0.0), list(code.run("lanes", columns, outputs) == 0.0)

    assert finite(good, [good, good]) == ([True], [True, True])
    assert finite(bad, [good, good]) == ([False], [True, True])
    assert finite(good, [good, bad]) == ([True], [True, False])
    assert finite([np.inf, 1.0], [good, good]) == ([True], [False, False])
    assert np.isnan(code(bad, [good, good])[0]).all()


@pytest.mark.parametrize("at", [0.3, 1e5, 1e7, -3e8])
def test_sines_of_shared_inputs_have_the_bits_of_columns(at):
    def function(x: Any, y: Any) -> dict[str, Any]:
        turns = [np.sin(x[0]), np.cos(x[1]), np.sin(x[2]) * np.cos(x[2]), np.sin(2.0 * x[0]), np.arctan2(x[0], x[1])]
        return {"z": [t * y[0] for t in turns]}

    program, y = record(function, {"x": (3,), "y": (1,)}), np.array([[1.0], [-0.5], [3.0], [1e-3]])
    x = at * np.array([1.0, 1.1, -0.7])
    np.testing.assert_array_equal(WideCode(program, 4, ("x",))(x, y)[1][0], WideCode(program, 4)(x, y)[1][0])


def test_one_lane_reads_shared_inputs_like_any_others():
    program = random_program(1)
    assert emit(program, 1, True, 8, shared=frozenset({0})) == emit(program, 1, True, 8)


@pytest.mark.parametrize("shared", [frozenset(), frozenset({0, 1})])
def test_no_function_has_more_operations_than_told(shared):
    program = gs.ForwardDynamics(gs.robots.kuka_lwr4()).main_kernel().program
    for most in (50, 200, 10**9):
        plan = Plan(reassociate(program), True, most, shared)
        assert max(len(part) for part in plan.parts) <= most
        assert emit(program, 8, True, shared=shared, part=most).parts == len(plan.parts)
        assert len(plan.parts) >= (1 if most > 200 else 2)
