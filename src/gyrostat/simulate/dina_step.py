"""One step of the implicit method of AS 2.1 as a program: predictor, one Newton-Euler pass, one Newton step.

    a_p = 2 a - a_before,    (q_p, v_p) by Newmark (5) from a_p,    p_p = p + h f                      predictor
    (a1, p1) = (a_p, p_p) - S (H(q_p, v_p, a_p, p_p, t1), p_p - p - h/2 (f + f_p))                     (6)
    (q1, v1) by Newmark (5) from a1,

or by the formulas of generalised-alpha in the place of (5). S is given: the inverse of the matrix of Newton's method at
some earlier state (7). The same code runs on recorded values and on numbers, for torques that are Python functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from gyrostat.algorithms.algorithm import Setting
from gyrostat.algorithms.rne import sweep_forces
from gyrostat.engine.loop import Loop
from gyrostat.engine.record import record
from gyrostat.errors import NonFiniteError
from gyrostat.simulate.chart import moved
from gyrostat.simulate.dina_series import Series
from gyrostat.simulate.methods.newmark import Formulas
from gyrostat.simulate.plant import Plant
from gyrostat.simulate.rollout_kernel import along
from gyrostat.spatial.gravity import gravity
from gyrostat.spatial.representation import representation
from gyrostat.spec.context import HarmonicMotion

Array = np.ndarray
PARTS = ("q", "v", "a", "w", "before", "p", "f")
"""State of the method: w moves v on, see ``newmark.State``; ``before``: a one step ago; f = dp/dt."""


class Parts(NamedTuple):
    """What a step is made of: H, the torque source, and the way of the configuration."""

    residual: Callable[..., tuple[Array, Array]]  # (t, q, v, a, p) -> H, dp/dt
    source: Callable[..., tuple[Array, Array]]  # (t, q, v, p) -> tau, dp/dt
    retract: Callable[[Array, Array], Array]


def one_step(parts: Parts, formulas: Formulas, x: Mapping[str, Any], iterations: int) -> dict[str, Any]:
    """The state after a step from ``x``: PARTS, with S, t1 and h; tau there, and the ``residual`` (nv + np,) that is
    left."""
    h, t1, n = x["h"], x["t1"], len(x["v"])
    a1, p1 = 2.0 * x["a"] - x["before"], x["p"] + h * x["f"]
    for _ in range(iterations):
        move, v1, _ = formulas.advanced(x, a1)
        q1 = parts.retract(x["q"], move)
        r, f1 = parts.residual(t1, q1, v1, a1, p1)
        change = x["S"] @ np.concatenate([r, p1 - x["p"] - (h / 2.0) * (x["f"] + f1)])
        a1, p1 = a1 - change[:n], p1 - change[n:]
    move, v1, w1 = formulas.advanced(x, a1)
    q1 = parts.retract(x["q"], move)
    tau, f1 = parts.source(t1, q1, v1, p1)
    r, _ = parts.residual(t1, q1, v1, a1, p1)
    left = np.concatenate([r, p1 - x["p"] - (h / 2.0) * (x["f"] + f1)])
    return {"q": q1, "v": v1, "a": a1, "w": w1, "before": x["a"], "p": p1, "f": f1, "tau": tau, "residual": left}


def compiled_steps(plant: Plant, formulas: Formulas, iterations: int) -> Loop:
    """Step after step in machine code, with S the same in all of them."""
    model, net, n = plant.model, plant.network, plant.nv + plant.np
    law, timed = gravity(model.context.gravity), isinstance(model.context.base, HarmonicMotion)

    def function(**x: Any) -> Mapping[str, Any]:
        def source(t: Any, q: Array, v: Array, p: Array) -> tuple[Array, Array]:
            return plant.source.evaluate(t, q, v, p, x["m"])

        def residual(t: Any, q: Array, v: Array, a: Array, p: Array) -> tuple[Array, Array]:
            on = Setting(representation("body"), law, t if timed else 0.0)
            tau, f = source(t, q, v, p)
            return sweep_forces(net, on, q, v, a)[0] - tau - plant.rubbing(v, x["m"]), f

        parts = Parts(residual, source, lambda q, d: moved(model, q, along(model, d)))
        found = one_step(parts, formulas, x | {"h": x["h"][()], "t1": x["t1"][()]}, iterations)
        return {f"{name}_next" if name in PARTS else name: value for name, value in found.items()}

    shapes: dict[str, tuple[int, ...]] = {"q": (plant.nq,), "p": (plant.np,), "f": (plant.np,), "t1": (), "h": ()}
    shapes |= {
        "v": (plant.nv,),
        "a": (plant.nv,),
        "w": (plant.nv,),
        "before": (plant.nv,),
        "S": (n, n),
        "m": plant.memory.shape,
    }
    with np.errstate(all="ignore"):
        return Loop(record(function, shapes, f"{model.name}_dina"), {f"{name}_next": name for name in PARTS})


class Steps:
    """Machine code for up to ``most`` steps at a time, with its memory."""

    def __init__(self, plant: Plant, formulas: Formulas, iterations: int, most: int):
        self.loop = compiled_steps(plant, formulas, iterations)
        sizes = {slot.name: slot.shape for slot in self.loop.program.inputs}
        self.times, self.fixed = np.zeros(most), {name: np.zeros(sizes[name]) for name in ("S", "h", "m")}
        start = {name: np.zeros(sizes[name]) for name in PARTS}
        self.arrays = self.loop.arrays({"t1": self.times}, start, self.fixed)

    def run(self, t0: float, times: Sequence[float], start: Mapping[str, Array], fixed: Mapping[str, Any]) -> Series:
        """Steps from t0 to these instants, as far as they are finite; NonFiniteError if none is."""
        n, results = len(times), self.arrays.results
        self.times[:n] = times
        for name, value in fixed.items():
            self.fixed[name][...] = value
        for name in PARTS:
            results[f"{name}_next"][0] = start[name]
        bad = self.loop.advance(self.arrays, 0, n)
        if bad == 0:
            raise NonFiniteError(f"a step to t = {times[0]:.9g} s is not finite")
        n = n if bad < 0 else bad
        rows = {name: results[f"{name}_next"][: n + 1].copy() for name in PARTS}
        rows |= {name: np.concatenate([[start[name]], results[name][:n]]) for name in ("tau", "residual")}
        return Series(np.array([t0, *times[:n]]), rows)
