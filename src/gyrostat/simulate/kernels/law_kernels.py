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
from gyrostat.engine.tracing.derivative import expressions, from_casadi, pullback
from gyrostat.engine.tracing.lifted_constants import Lifted, lifted_constants
from gyrostat.engine.tracing.operations import INPUT
from gyrostat.engine.tracing.program import Program, Slot, prune
from gyrostat.engine.tracing.record import record
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
    import casadi as ca

    symbols, (tau, rate), guards = expressions(law)
    q, v, p = symbols[1:4]
    T = _tangent(ca, model, q)
    blocks: list[Any] = []
    places: list[Array] = []
    slots: list[Slot] = []
    for of, value in (("tau", tau), ("p", rate)):
        for wrt, symbol in (("q", q), ("v", v), ("p", p)):
            J = ca.jacobian(value, symbol)
            J = ca.sparsify(ca.mtimes(J, T)) if wrt == "q" and T is not None else J
            rows, columns = (np.array(x, dtype=int) for x in J.sparsity().get_triplet())
            blocks.append(ca.vertcat(*J.nonzeros()) if J.nnz() else ca.SX(0, 1))
            width = model.nv if wrt == "q" else int(symbol.numel())
            places.append(rows * width + columns)
            slots.append(Slot(f"{of}_{wrt}", (int(value.numel()), width)))
    function = ca.Function("slopes", symbols, [*ca.cse(blocks), guards])
    slopes = from_casadi(function, law.inputs, slots, places, f"{law.name}_slopes")
    constants = len(law.inputs) - 1, INPUT  # numbers of the law's own, which may be NaN where nobody goes
    guards = tuple(k for k in slopes.guards if slopes.nodes[k][1::-1] != constants)
    return prune(replace(slopes, guards=guards))


def _tangent(ca: Any, model: Model, q: Any) -> Any:
    """dq/dt = T v (nq, nv) as an expression; None where q and v are alike."""
    if model.nq == model.nv:
        return None

    def function(q: Array) -> dict[str, Array]:
        columns = [coordinate_rates(model, q, unit) for unit in np.eye(model.nv)]
        return {"T": np.stack(columns, axis=1)}

    program = record(function, {"q": (model.nq,)}, "tangent")
    _, (entries,), _ = expressions(program, [q])
    return ca.sparsify(ca.reshape(entries, model.nv, model.nq).T)
