"""Machine code of a law, the source of the efforts of a run, found again by what it computes.

A law is recorded at every call, since what it reads from outside may have changed; that takes a fraction of a
millisecond. Its numbers become inputs (:mod:`~gyrostat.engine.tracing.lifted_constants`), so that other gains find the
machine code, the derivatives and the checks of earlier calls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from gyrostat.configuration.tangent import coordinate_rates
from gyrostat.engine.drivers.kernel_code import KernelCode
from gyrostat.engine.llvm.compile import LOADING
from gyrostat.engine.tracing.derivative import columns_along, input_leaves, pullback
from gyrostat.engine.tracing.lifted_constants import Lifted, lifted_constants
from gyrostat.engine.tracing.operations import INPUT
from gyrostat.engine.tracing.program import Program, prune
from gyrostat.engine.tracing.record import finish, record
from gyrostat.engine.tracing.replay import inlined, replay
from gyrostat.engine.tracing.sparsity import dependence
from gyrostat.engine.tracing.tape import Tape
from gyrostat.spec.model import Model

Array = np.ndarray
MOST = 256
"""Laws of a process whose machine code is at hand."""
_codes: dict[tuple[str, str, int], KernelCode] = {}


def _kept(key: tuple[str, str, int], program: Callable[[], Program]) -> KernelCode:
    """The machine code of a key, one for the process; ``program`` makes what it is of."""
    with LOADING:
        if key not in _codes:
            while len(_codes) >= MOST:
                _codes.pop(next(iter(_codes)))  # who uses it holds on to it
            _codes[key] = KernelCode(program(), key[2])
        return _codes[key]


def shared_code(program: Program, lanes: int = 1, kind: str = "") -> KernelCode:
    """The machine code of a program, one for the process."""
    return _kept((program.digest, kind, lanes), lambda: program)


def shared_pullback(program: Program, of: Sequence[str], wrt: Sequence[str], lanes: int = 1) -> KernelCode:
    """The machine code of the reverse mode of a program, one for the process."""
    return _kept((program.digest, f"pullback {of} {wrt}", lanes), lambda: pullback(program, of, wrt))


class LawKernels:
    """Of a recorded law: ``program`` with the inputs t (1,), q, v, p, m, parameters and, last, constants."""

    def __init__(self, model: Model, recorded: Program):
        self.model = model
        self.program, self.constants = lifted_constants(recorded)
        self.update: tuple[Lifted, ...] | None = None
        """What digital parts do at a sample, once somebody has asked for it; empty if it cannot be recorded."""

    @cached_property
    def code(self) -> KernelCode:
        return shared_code(self.program)

    def wide(self, lanes: int) -> KernelCode:
        """For several lanes."""
        return shared_code(self.program, lanes)

    @cached_property
    def slopes(self) -> KernelCode:
        """Derivatives of tau (nv,) and p_rate (np,) along the rates, by v and by p, exact."""
        turns = [(block.q.start, block.v.start, block.quaternion_at) for block in self.model.layout]
        where = "" if self.model.nq == self.model.nv else repr(turns)  # coordinates move along the rates by it
        return _kept((self.program.digest, f"slopes {where}", 1), lambda: law_slopes(self.model, self.program))


def law_slopes(model: Model, law: Program) -> Program:
    """tau_q, tau_v, tau_p, p_q, p_v, p_p of a law with the inputs t, q, v, p, m, ..., as one program."""
    tape = Tape()
    leaves = input_leaves(tape, law.inputs)
    values = replay(law, leaves)
    T = _tangent(model, leaves[1])
    slopes: dict[str, Array] = {}
    for output, of in enumerate(("tau", "p")):
        for wrt, name in ((1, "q"), (2, "v"), (3, "p")):
            pattern = dependence(law, output, wrt)
            directions: list[dict[tuple[int, int], Any]] = [{(wrt, e): 1.0} for e in range(law.inputs[wrt].size)]
            if name == "q" and T is not None:
                present = np.array([[not (type(x) is float and x == 0.0) for x in row] for row in T])
                pattern = (pattern.astype(int) @ present) > 0
                directions = [{(1, int(k)): T[k, j] for k in np.flatnonzero(present[:, j])} for j in range(model.nv)]
            slopes[f"{of}_{name}"] = columns_along(law, values, output, pattern, directions)
    guards = np.array([values[k] for k in law.guards], dtype=object)
    program = finish(tape, f"{law.name}_slopes", {s.name: s.shape for s in law.inputs}, slopes, guards)
    constants = len(law.inputs) - 1, INPUT  # numbers of the law's own, which may be NaN where nobody goes
    kept = tuple(k for k in program.guards if program.nodes[k][1::-1] != constants)
    return prune(replace(program, guards=kept))


def _tangent(model: Model, q: Sequence[Any]) -> Array | None:
    """dq/dt = T v (nq, nv) as recorded values; None where q and v are alike."""
    if model.nq == model.nv:
        return None

    def function(q: Array) -> dict[str, Array]:
        columns = [coordinate_rates(model, q, unit) for unit in np.eye(model.nv)]
        return {"T": np.stack(columns, axis=1)}

    return inlined(record(function, {"q": (model.nq,)}, "tangent"), np.array(q, dtype=object))["T"]
