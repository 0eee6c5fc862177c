"""Nonlinear programs by Ipopt, through its C interface; functions and derivatives go straight into its arrays."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from gyrostat.errors import GyrostatError
from gyrostat.studies.optimal_control.ipopt_library import (
    EvalF,
    EvalG,
    EvalGradF,
    EvalH,
    EvalJacG,
    Intermediate,
    library,
)
from gyrostat.studies.optimal_control.nonlinear_program import NonlinearProgram
from gyrostat.studies.optimal_control.program_solution import ProgramSolution, started

Array = np.ndarray
INFINITE = 2e19
"""Bounds beyond this are none, for Ipopt."""

Start = tuple[Array, Array, Array]
"""Multipliers of rows and bounds to begin with."""


def solve_by_ipopt(
    program: NonlinearProgram,
    x0: Array,
    options: Mapping[str, Any],
    told: Callable[[int, float, float], object],
    start: Start | None = None,
) -> ProgramSolution:
    """The solution that Ipopt finds from ``x0`` (n,). ``told(iteration, cost, violation)`` is called at each
    iteration; a KeyboardInterrupt stops the solver, and its last iterate is returned."""
    lib, why = library()
    if lib is None:
        raise GyrostatError(f"optimal_control: Ipopt cannot be called directly, {why}. Hint: solver='casadi'")
    return _Run(lib, program, told).solved(x0, options, start)


class _Run:
    """One call of IpoptSolve: what its callbacks share."""

    def __init__(self, lib: Any, program: NonlinearProgram, told: Callable[[int, float, float], object]):
        self.lib, self.program, self.told = lib, program, told
        self.error: BaseException | None = None
        self.seconds, self.history = 0.0, []
        self.n, self.m = program.n, program.m
        self.jac = tuple(np.ascontiguousarray(x, dtype=np.int32) for x in program.jacobian_pattern)
        self.hess = tuple(np.ascontiguousarray(x, dtype=np.int32) for x in program.hessian_pattern)

    def guarded(self, f: Callable[[], Any]) -> int:
        """1 if f gave finite numbers; exceptions wait until Ipopt has returned."""
        if self.error is not None:
            return 0
        begun = time.perf_counter()
        try:
            return int(bool(f()))
        except BaseException as error:  # nothing may pass through the C code
            self.error = error
            return 0
        finally:
            self.seconds += time.perf_counter() - begun

    def callbacks(self) -> tuple[Any, ...]:
        p, n, m = self.program, self.n, self.m

        def f(n_: int, x: int, new: int, out: int, _: int) -> int:
            return self.guarded(lambda: _put(out, np.array([p.cost(_view(x, n).copy())])))

        def grad(n_: int, x: int, new: int, out: int, _: int) -> int:
            return self.guarded(lambda: _put(out, p.gradient(_view(x, n).copy())))

        def g(n_: int, x: int, new: int, m_: int, out: int, _: int) -> int:
            return self.guarded(lambda: _put(out, p.constraints(_view(x, n).copy())))

        def jac(n_: int, x: int, new: int, m_: int, k: int, i: int, j: int, out: int, _: int) -> int:
            if not out:
                return self.guarded(lambda: _put(i, self.jac[0]) and _put(j, self.jac[1]))
            return self.guarded(lambda: _put(out, p.jacobian(_view(x, n).copy())))

        def hess(n_: int, x: int, new: int, s: float, m_: int, w: int, nw: int, k: int, i: int, j: int, out: int,
                 _: int) -> int:  # fmt: skip
            if not out:
                return self.guarded(lambda: _put(i, self.hess[0]) and _put(j, self.hess[1]))
            return self.guarded(lambda: _put(out, p.hessian(_view(x, n).copy(), s, _view(w, m).copy())))

        def between(mode: int, k: int, cost: float, primal: float, dual: float, mu: float, *_: Any) -> int:
            self.history.append((cost, primal, dual, mu))

            def tell() -> bool:
                self.told(k, cost, primal)
                return True

            return self.guarded(tell)

        return EvalF(f), EvalG(g), EvalGradF(grad), EvalJacG(jac), EvalH(hess), Intermediate(between)

    def solved(self, x0: Array, options: Mapping[str, Any], start: Start | None) -> ProgramSolution:
        p, lib = self.program, self.lib
        bounds = [np.clip(b, -INFINITE, INFINITE) for b in (p.lower, p.upper, p.low, p.high)]
        *functions, between = self.callbacks()
        pointers = [b.ctypes.data for b in bounds]
        problem = lib.CreateIpoptProblem(
            self.n, *pointers[:2], self.m, *pointers[2:], len(self.jac[0]), len(self.hess[0]), 0, *functions
        )
        if not problem:
            raise GyrostatError("optimal_control: Ipopt refuses the problem: its bounds or sizes are inconsistent.")
        begun = time.perf_counter()
        try:
            for name, value in options.items():
                self.set(problem, name, value)
            lib.SetIntermediateCallback(problem, between)
            x = np.ascontiguousarray(started(p, x0), dtype=float).copy()
            rows, low, high = np.zeros(self.m), np.zeros(self.n), np.zeros(self.n)
            if start is not None:
                rows[:], low[:], high[:] = start
            cost = ctypes.c_double(np.nan)
            status = lib.IpoptSolve(
                problem, x.ctypes.data, None, ctypes.byref(cost), rows.ctypes.data, low.ctypes.data, high.ctypes.data,
                None,
            )  # fmt: skip
        finally:
            lib.FreeIpoptProblem(problem)
        if self.error is not None and not isinstance(self.error, KeyboardInterrupt):
            raise self.error
        status = 5 if self.error is not None else int(status)
        history = np.array(self.history, dtype=float).reshape(-1, 4)
        seconds = time.perf_counter() - begun
        return ProgramSolution(
            x, cost.value, rows, low, high, status, max(len(history) - 1, 0), seconds, self.seconds, history
        )

    def set(self, problem: Any, name: str, value: Any) -> None:
        key, lib = name.encode(), self.lib
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            raise GyrostatError(f"optimal_control: option '{name}' of Ipopt must be a text or a number, got {value!r}.")
        if isinstance(value, str):
            done = lib.AddIpoptStrOption(problem, key, value.encode())
        elif isinstance(value, int):
            done = lib.AddIpoptIntOption(problem, key, value) or lib.AddIpoptNumOption(problem, key, float(value))
        else:
            done = lib.AddIpoptNumOption(problem, key, value)
        if not done:
            raise GyrostatError(f"optimal_control: Ipopt has no option '{name}' that takes {value!r}.")


def _view(address: int, size: int) -> Array:
    if not size:
        return np.zeros(0)
    return np.ctypeslib.as_array(ctypes.cast(address, ctypes.POINTER(ctypes.c_double)), (size,))


def _put(address: int, values: Array) -> bool:
    """Copy numbers; False if some are not finite."""
    values = np.ascontiguousarray(values)
    if values.nbytes:
        kind = ctypes.POINTER(np.ctypeslib.as_ctypes_type(values.dtype))
        np.ctypeslib.as_array(ctypes.cast(address, kind), (values.size,))[:] = values.ravel()
    return values.dtype != np.float64 or bool(np.isfinite(values).all())
