"""The flexible arm of 27 rates under PID laws, 1 s: three driven joints go from one posture to another, 24 elastic ones
follow. By methods of gyrostat, and by SciPy's Radau on gyrostat's forward dynamics."""

from __future__ import annotations

import time
from functools import cached_property
from typing import Any

import numpy as np

import gyrostat as gs

Array = np.ndarray
START, WAY = np.array([0.0, -0.6, 1.0]), np.array([1.0, 0.4, -0.6])  # [rad]
KP, KI, KD = np.array([3e3, 3e3, 8e2]), np.array([3e3, 3e3, 8e2]), np.array([3e2, 3e2, 6e1])
DRIVEN = (0, 1, 14)
NV = 27
INSTANTS = np.linspace(0.0, 1.0, 21)


class Drives:
    """PID laws on the driven joints, along a quintic of 1 s; its states are the integrals of the errors [rad s]."""

    states = (0.0, 0.0, 0.0)

    def errors(self, t: Any, q: Any) -> tuple[Any, Any]:
        s, ds = t * t * t * (10.0 - 15.0 * t + 6.0 * t * t), 30.0 * t * t * (1.0 - 2.0 * t + t * t)
        return [START[i] + WAY[i] * s - q[k] for i, k in enumerate(DRIVEN)], [WAY[i] * ds for i in range(3)]

    def output(self, t: Any, x: Any, p: Any, m: Any) -> dict[str, Any]:
        (e, rate), tau = self.errors(t, x["q"]), [0.0 * x["q"][0]] * NV
        for i, k in enumerate(DRIVEN):
            tau[k] = KP[i] * e[i] + KI[i] * p[i] + KD[i] * (rate[i] - x["v"][k])
        return {"tau": np.array(tau)}

    def derivative(self, t: Any, x: Any, p: Any, m: Any) -> Any:
        return np.array(self.errors(t, x["q"])[0])


class ArmRun:
    """Seconds and errors [rad] of runs from a start at rest with unloaded springs, so that all of them vibrate."""

    def __init__(self, **beam: Any) -> None:
        self.model = gs.robots.flexible_arm(**beam)
        self.q = np.zeros(NV)
        self.q[list(DRIVEN)] = START
        self.aba = gs.ForwardDynamics(self.model)

    def run(self, **how: Any) -> gs.Result:
        how = {"t_eval": INSTANTS, "compiled": True, "progress": False} | how
        return gs.simulate(self.model, Drives(), self.q, t_end=1.0, **how)

    @cached_property
    def reference(self) -> Array:
        return self.run(method="radau", rtol=1e-10, atol=1e-13).q

    def error(self, q: Array) -> float:
        return float(np.abs(q - self.reference).max())

    def timed(self, repeat: int, **how: Any) -> tuple[float, float, gs.Result]:
        """Seconds of the processor for the shortest call, its error, and the run."""
        seconds, run = np.inf, None
        for _ in range(repeat):
            began = time.process_time()
            run = self.run(**how)
            seconds = min(seconds, time.process_time() - began)
        assert run is not None
        return seconds, self.error(run.q), run

    # ------------------------------------------------------------------ SciPy
    def rates(self, t: float, y: Array) -> Array:
        q, v, p = y[:NV], y[NV : 2 * NV], y[2 * NV :]
        s, ds = t * t * t * (10.0 - 15.0 * t + 6.0 * t * t), 30.0 * t * t * (1.0 - 2.0 * t + t * t)
        out, at = np.empty(2 * NV + 3), list(DRIVEN)
        e = START + WAY * s - q[at]
        tau = np.zeros(NV)
        tau[at] = KP * e + KI * p + KD * (WAY * ds - v[at])
        out[:NV], out[NV : 2 * NV], out[2 * NV :] = v, self.aba(q, v, tau), e
        return out

    def scipy(self, repeat: int, rtol: float, atol: float) -> tuple[float, float]:
        from scipy.integrate import solve_ivp

        y, seconds, q = np.concatenate([self.q, np.zeros(NV + 3)]), np.inf, self.q
        for _ in range(repeat):
            began = time.process_time()
            motion = solve_ivp(self.rates, (0.0, 1.0), y, method="Radau", t_eval=INSTANTS, rtol=rtol, atol=atol)
            seconds, q = min(seconds, time.process_time() - began), motion.y[:NV].T
        return seconds, self.error(q)
