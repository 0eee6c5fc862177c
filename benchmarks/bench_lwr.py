"""Stiff forward dynamics of WM15 4.3-4.4 (KUKA LWR under PD laws, 14 s): gyrostat next to SciPy's BDF on Pinocchio's
dynamics, and next to Exudyn, in the same process."""

from __future__ import annotations

import time
from importlib import import_module
from typing import Any

import numpy as np

from benchmarks.harness import Effort, Row
from demos import lwr_exudyn, lwr_reference
from demos.lwr_exudyn import S_BEFORE, S_BEHIND, J
from demos.lwr_problem import DURATION, START, C, K, law, run
from demos.lwr_study import usable

Array = np.ndarray

NOTES = (
    "KUKA LWR 4+ under independent PD laws [WM15 4.3], time constants from 2e-5 s to 100 s; best of 5 runs.",
    "SciPy's BDF on Pinocchio: aba, Jacobians by computeABADerivatives, 3 % of the tolerance, as bdf has it.",
    "Exudyn: Cartesian coordinates, generalised-alpha with a step of 2.5 ms, good to 3e-6 rad; best of 2 runs.",
)
SHARE = 0.03


def measure(effort: Effort) -> list[Row]:
    quick = effort.number is not None
    t_end, repeat = (0.05, 1) if quick else (DURATION, 5)
    methods, peer = usable()[0], Peer()
    if not quick:
        peer.check()
    rows: list[Row] = []
    for tolerance in (1e-6, 1e-3):
        case = f"{t_end:g} s, tolerance {tolerance:g}"
        for method in methods:
            runs = [run(method, tolerance, tolerance, t_end, [t_end]) for _ in range(repeat)]
            rows.append(Row("build", case, f"gyrostat, {method}", min(x.counters.build_time for x in runs)))
            rows.append(Row("run", case, f"gyrostat, {method}", min(x.counters.wall_time for x in runs)))
        seconds = min(peer.solved(tolerance, t_end)[1] for _ in range(repeat))
        rows.append(Row("run", case, "SciPy BDF, Pinocchio", seconds, peer=True))
    if lwr_exudyn.available():
        wall = min(lwr_exudyn.simulate(t_end, 0.0025, t_end).wall for _ in range(min(repeat, 2)))
        rows.append(Row("run", f"{t_end:g} s, tolerance 1e-06", "Exudyn, 2.5 ms", wall, peer=True))
    return rows


class Peer:
    """The arm in Pinocchio, from the numbers of WM15's appendix."""

    def __init__(self) -> None:
        pin: Any = import_module("pinocchio")
        self.pin, self.model = pin, pin.Model()
        self.model.gravity.linear = np.array(lwr_exudyn.GRAVITY)
        joint, at = 0, pin.SE3.Identity()
        for j, (C_before, C_behind) in enumerate(lwr_exudyn.frames()):
            at = at * pin.SE3(C_before, np.array([0.0, 0.0, S_BEFORE[j]]))
            joint = self.model.addJoint(joint, pin.JointModelRZ(), at, f"q{j + 1}")
            at = pin.SE3(C_behind, np.array([0.0, 0.0, S_BEHIND[j]])).inverse()  # the link in its joint
            self.model.appendBodyToJoint(joint, pin.Inertia(lwr_exudyn.MASS[j], np.zeros(3), np.diag(J[j])), at)
        self.data = self.model.createData()

    def rates(self, t: float, y: Array) -> Array:
        q, v = y[:7], y[7:]
        return np.concatenate([v, self.pin.aba(self.model, self.data, q, v, law(t, q, v))])

    def jacobian(self, t: float, y: Array) -> Array:
        q, v = y[:7], y[7:]
        by_q, by_v, inverse = self.pin.computeABADerivatives(self.model, self.data, q, v, law(t, q, v))
        inverse = np.triu(inverse) + np.triu(inverse, 1).T
        return np.block([[np.zeros((7, 7)), np.eye(7)], [by_q - inverse * K, by_v - inverse * C]])

    def solved(self, tolerance: float, t_end: float) -> tuple[Any, float]:
        """SciPy's answer, and seconds."""
        from scipy.integrate import solve_ivp

        y, limit = np.concatenate([START, np.zeros(7)]), SHARE * tolerance
        options: dict[str, Any] = {"method": "BDF", "jac": self.jacobian, "rtol": limit, "atol": limit}
        began = time.perf_counter()
        motion = solve_ivp(self.rates, (0.0, t_end), y, **options)
        return motion, time.perf_counter() - began

    def check(self) -> None:
        """Nothing is timed before it is right."""
        far = np.abs(self.solved(1e-8, DURATION)[0].y[:7, -1] - lwr_reference.Q[-1]).max()
        if far > 1e-7:
            raise ArithmeticError(f"SciPy on Pinocchio is {far:.1e} rad from the reference")
