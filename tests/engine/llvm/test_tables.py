"""Programs that run from tables: the bits of straight-line code, for one state, lanes and shared inputs."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.engine.kernel import Kernel
from gyrostat.engine.llvm import runs
from gyrostat.engine.llvm.emit import emit
from gyrostat.engine.llvm.plan import Plan
from gyrostat.engine.tracing.record import record
from gyrostat.errors import NonFiniteError
from tests.engine.llvm.test_shared_inputs import FMA, WideCode, everywhere
from tests.support.flexible_models import ALUMINIUM
from tests.support.random_programs import random_program


@pytest.fixture(autouse=True)
def no_cache(monkeypatch):
    monkeypatch.setenv("GYROSTAT_CACHE", "off")


@pytest.fixture
def tables(monkeypatch):
    """Everything runs from tables after it was called."""

    def switch() -> None:
        monkeypatch.setattr(runs, "MANY", 1)
        monkeypatch.setattr(runs, "LONG", 0)

    return switch


@pytest.mark.parametrize("fma", FMA)
@pytest.mark.parametrize("shared", [(), ("p",), ("q", "idle"), ("p", "q", "idle")])
def test_tables_give_the_bits_of_straight_line_code(shared, fma, tables):
    cases = []
    for seed in range(4):
        program, rng = random_program(seed), np.random.default_rng(seed)
        lanes = (1, 4, 8, 2)[seed] if not shared else 4
        x = [rng.normal(size=(() if s.name in shared else (lanes,)) + s.shape) for s in program.inputs]
        how = {"constants": True}
        cases.append((program, lanes, x, WideCode(program, lanes, shared, fma, **how)(*x)))
    tables()
    for program, lanes, x, (_, want) in cases:
        returned, got = WideCode(program, lanes, shared, fma, constants=True)(*x)
        np.testing.assert_array_equal(returned, 0.0)
        for one, two in zip(got, want, strict=True):
            np.testing.assert_array_equal(everywhere(one, lanes), everywhere(two, lanes))


def test_forward_dynamics_of_a_beam_from_tables_is_that_of_machine_code_alone_and_in_batches(tables):
    beam = gs.FlexibleBeam("boom", length=1.0, **ALUMINIUM, modes=(2, 2), modes_x=(1, 1))
    program = (
        gs.ForwardDynamics(gs.assemble("arm", gs.chain("world", gs.Joint("j", "revolute", axis="z"), beam)))
        .main_kernel()
        .program
    )
    x = [0.05 * np.random.default_rng(k).normal(size=(19, *slot.shape)) for k, slot in enumerate(program.inputs)]
    want = Kernel(program).call(*x)
    tables()
    kernel = Kernel(program)
    got = kernel.call(*x)
    assert kernel.codes()["batches"].size < 120_000
    single = kernel.builtin(lambda *_, **__: None, [], "call", "")
    for name in want:
        np.testing.assert_array_equal(got[name], want[name])
        np.testing.assert_array_equal(single(*(np.ascontiguousarray(one[7]) for one in x)), want[name][7])


def test_numbers_that_are_not_finite_are_seen_from_tables_too(tables):
    tables()
    program = record(lambda x: {"y": [1.0 / x[0], x[1] * x[1] + x[0]]}, {"x": (2,)}, "inverse")
    kernel = Kernel(program)
    np.testing.assert_array_equal(kernel.call([[2.0, 3.0], [4.0, 1.0]])["y"], [[0.5, 11.0], [0.25, 5.0]])
    with pytest.raises(NonFiniteError, match="'y' in state \\(1,\\) is not finite"):
        kernel.call([[2.0, 3.0], [0.0, 1.0]])


def test_only_long_programs_of_long_runs_run_from_tables(monkeypatch):
    sums = [(i, j, k) for i in range(20) for j in range(i) for k in range(5)]
    wide = record(lambda x: {"y": [x[i] * x[j] + x[k] for i, j, k in sums]}, {"x": (20,)}, "wide")
    assert runs.in_runs(Plan(wide, True)) is None
    monkeypatch.setattr(runs, "MANY", 900)
    (first, *_) = runs.in_runs(Plan(wide, False)) or []
    assert len(first.nodes) > runs.LONG
    chain = record(lambda x: {"y": _nested(x[0], 1000)}, {"x": (1,)}, "chain")
    assert runs.in_runs(Plan(chain, True)) is None
    assert emit(chain, 1, True).parts > 1


def _nested(x, count):
    y = x
    for _ in range(count):
        y = np.sqrt(y + x)
    return y
