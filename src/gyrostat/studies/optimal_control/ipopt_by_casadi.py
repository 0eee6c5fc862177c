"""The same nonlinear programs by Ipopt through CasADi's interface, where its library cannot be called directly: slower,
as sparse matrices go through CasADi, with the same functions and derivatives."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from gyrostat.engine.tracing.casadi_functions import casadi_module
from gyrostat.studies.optimal_control.nonlinear_program import NonlinearProgram
from gyrostat.studies.optimal_control.program_solution import ProgramSolution, started

Array = np.ndarray
NAMES = {"nlp": ("f", "g"), "grad_f": ("f", "grad_f_x"), "jac_g": ("g", "jac_g_x"), "hess_lag": ("hess",)}
STATUS = {
    "Solve_Succeeded": 0, "Solved_To_Acceptable_Level": 1, "Infeasible_Problem_Detected": 2,
    "Search_Direction_Becomes_Too_Small": 3, "Diverging_Iterates": 4, "User_Requested_Stop": 5,
    "Maximum_Iterations_Exceeded": -1, "Restoration_Failed": -2, "Error_In_Step_Computation": -3,
    "Maximum_CpuTime_Exceeded": -4, "Not_Enough_Degrees_Of_Freedom": -10, "Invalid_Number_Detected": -13,
}  # fmt: skip


def solve_by_casadi(
    program: NonlinearProgram, x0: Array, options: Mapping[str, Any], told: Callable[[int, float, float], object]
) -> ProgramSolution:
    """The solution that Ipopt finds from ``x0`` (n,)."""
    ca = casadi_module()
    spent = [0.0]
    n, m = program.n, program.m
    rows, cols = program.hessian_pattern
    jac, hess = _Triplets(program.jacobian_pattern, (m, n)), _Triplets((cols, rows), (n, n))

    def timed(f: Callable[[], Any]) -> Any:
        begun = time.perf_counter()
        try:
            return f()
        finally:
            spent[0] += time.perf_counter() - begun

    def function(name: str, inputs: list[Any], outputs: list[Any], call: Callable[..., list[Array]]) -> Any:
        return _callback(ca, name, inputs, outputs, lambda *x: timed(lambda: call(*x)))

    x, p, f, g = ca.Sparsity.dense(n, 1), ca.Sparsity.dense(0, 1), ca.Sparsity.dense(1, 1), ca.Sparsity.dense(m, 1)
    nlp = function("nlp", [x, p], [f, g], lambda x, p: [np.array([program.cost(x)]), program.constraints(x)])
    gradient = function("grad_f", [x, p], [f, x], lambda x, p: [np.array([program.cost(x)]), program.gradient(x)])
    jacobian = function(
        "jac_g", [x, p], [g, jac.sparsity(ca)],
        lambda x, p: [program.constraints(x), jac.values(program.jacobian(x))],
    )  # fmt: skip
    hessian = function(
        "hess_lag", [x, p, f, g], [hess.sparsity(ca)],
        lambda x, p, s, w: [hess.values(program.hessian(x, float(s[0]), w))],
    )  # fmt: skip
    usual = {"ipopt." + key: value for key, value in options.items()}
    settings = {"grad_f": gradient, "jac_g": jacobian, "hess_lag": hessian, "no_nlp_grad": True, "calc_lam_p": False,
                "print_time": False, "error_on_fail": False}  # fmt: skip
    solver = ca.nlpsol("motion", "ipopt", nlp, settings | usual)
    begun = time.perf_counter()
    found = solver(x0=started(program, x0), lbx=program.lower, ubx=program.upper, lbg=program.low, ubg=program.high)
    seconds, stats = time.perf_counter() - begun, solver.stats()
    every = stats.get("iterations", {})
    table = [every.get(name, []) for name in ("obj", "inf_pr", "inf_du", "mu")]
    history = np.array(list(zip(*table, strict=True)), dtype=float).reshape(-1, 4)
    for k, row in enumerate(history):
        told(k, row[0], row[1])
    bounds = np.array(found["lam_x"]).ravel()
    return ProgramSolution(
        np.array(found["x"]).ravel(), float(found["f"]), np.array(found["lam_g"]).ravel(), np.maximum(-bounds, 0.0),
        np.maximum(bounds, 0.0), STATUS.get(stats["return_status"], -199), int(stats["iter_count"]), seconds, spent[0],
        history,
    )  # fmt: skip


class _Triplets:
    """Entries in any order, some of them twice, as the columns of a sparse matrix."""

    def __init__(self, pattern: tuple[Array, Array], shape: tuple[int, int]):
        key = pattern[1].astype(np.int64) * shape[0] + pattern[0]
        places, self.at = np.unique(key, return_inverse=True)
        self.rows, self.cols, self.shape = places % shape[0], places // shape[0], shape

    def sparsity(self, ca: Any) -> Any:
        return ca.Sparsity.triplet(*self.shape, self.rows.tolist(), self.cols.tolist())

    def values(self, entries: Array) -> Array:
        return np.bincount(self.at, weights=entries, minlength=len(self.rows))


def _callback(ca: Any, name: str, inputs: list[Any], outputs: list[Any], call: Callable[..., list[Array]]) -> Any:
    class Function(ca.Callback):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            ca.Callback.__init__(self)
            self.construct(name, {})

        def get_n_in(self) -> int:
            return len(inputs)

        def get_n_out(self) -> int:
            return len(outputs)

        def get_name_in(self, k: int) -> str:
            return ("x", "p", "lam_f", "lam_g")[k]

        def get_name_out(self, k: int) -> str:
            return NAMES[name][k]

        def get_sparsity_in(self, k: int) -> Any:
            return inputs[k]

        def get_sparsity_out(self, k: int) -> Any:
            return outputs[k]

        def has_eval_buffer(self) -> bool:
            return True

        def eval_buffer(self, arg: Any, res: Any) -> int:
            given = [
                np.zeros(s.nnz()) if a is None or not len(a) else np.frombuffer(a, dtype=float).copy()
                for a, s in zip(arg, inputs, strict=True)
            ]
            found = call(*given)
            good = all(np.isfinite(x).all() for x in found)
            for target, x in zip(res, found, strict=True):
                if target is not None and len(target):
                    np.frombuffer(target, dtype=float)[:] = x
            return 0 if good else 1

    return Function()
