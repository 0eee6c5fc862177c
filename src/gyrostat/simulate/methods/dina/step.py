"""Steps of the implicit method of AS 2.1 as a program that does one Newton-Euler pass at a time.

    a1 = 2 a - a_before,    p1 = p + h f                                                               predictor
    (q1, v1) by Newmark (5) from a1,    r = (H(q1, v1, a1, p1, t1), p1 - p - h/2 (f + f1))             a pass
    accepted by r: the step ends, see :mod:`gyrostat.simulate.methods.acceptance`; otherwise
    (a1, p1) -= S r                                                                                    (6)

or by the formulas of generalised-alpha in the place of (5). S is given: the inverse of the matrix of Newton's method at
some earlier state (7), with a bias for the first Newton step of each step, without it for further ones. The same code
runs on recorded values and on numbers, for torques that are Python functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from gyrostat.algorithms.algorithm import Setting
from gyrostat.algorithms.recursions.rne import sweep_forces
from gyrostat.configuration.chart import along, moved
from gyrostat.engine.llvm.loop import Loop
from gyrostat.engine.tracing.choose import maximum, where
from gyrostat.engine.tracing.record import record
from gyrostat.simulate.methods.acceptance import Forces
from gyrostat.simulate.methods.newmark import Formulas
from gyrostat.simulate.plant.plant import Plant
from gyrostat.spatial.gravity import gravity
from gyrostat.spatial.representation import representation
from gyrostat.spec.context import HarmonicMotion

Array = np.ndarray
PARTS = ("q", "v", "a", "w", "before", "p", "f")
"""State of the method: w moves v on, see ``newmark.State``; ``before``: a one step ago; f = dp/dt."""
TRIED = ("a1", "p1", "step", "tries")
"""Within a step: what Newton's method has found so far; the number of the step, and of Newton steps in it."""
FIXED = ("S", "whole", "mass", "slopes", "h", "t0", "last", "share", "m", "directions")
TOLD = ("tau", "residual", "done", "tried")
"""What a pass tells besides: ``done``: a step ends with it, after so many Newton steps, ``tried``."""
TRIES = 8
"""Newton steps with S, after which a step is given up."""


class Parts(NamedTuple):
    """What a step is made of: H, and the way of the configuration."""

    residual: Callable[..., tuple[Array, Array, Array]]  # (t, q, v, a, p) -> H, tau, dp/dt
    retract: Callable[[Array, Array], Array]


def predicted(x: Mapping[str, Any], h: Any) -> dict[str, Any]:
    """The start of Newton's method from a state."""
    return {"a1": 2.0 * x["a"] - x["before"], "p1": x["p"] + h * x["f"], "tries": 0.0}


def one_pass(parts: Parts, formulas: Formulas, x: Mapping[str, Any], iterations: int) -> dict[str, Any]:
    """PARTS and TRIED after a pass, and TOLD."""
    h, n, a1, p1 = x["h"], len(x["v"]), x["a1"], x["p1"]
    move, v1, w1 = formulas.advanced(x, a1)
    q1 = parts.retract(x["q"], move)
    r, tau, f1 = parts.residual(x["t0"] + (x["step"] + 1.0) * h, q1, v1, a1, p1)
    r = np.concatenate([r, p1 - x["p"] - (h / 2.0) * (x["f"] + f1)])
    allowed = Forces(x["mass"], x["slopes"], h).allowed(r, q1, a1, tau, p1, (x["f"], f1), x["share"])
    left = np.sum(maximum(np.abs(r) - allowed, np.zeros(len(r))))
    ready = where(x["tries"] >= iterations, where(x["step"] < x["last"], 1.0, 0.0), 0.0)
    done = where(left <= 0.0, ready, 0.0)
    change = where(x["tries"] < 1.0, x["S"] @ r, x["whole"] @ r)
    after = {"q": q1, "v": v1, "a": a1, "w": w1, "before": x["a"], "p": p1, "f": f1}
    other = {"a1": a1 - change[:n], "p1": p1 - change[n:], "tries": x["tries"] + 1.0, "step": x["step"]}
    other |= {name: x[name] for name in PARTS}
    next_one = after | predicted(after, h) | {"step": x["step"] + 1.0}
    chosen = {name: where(done > 0.0, next_one[name], other[name]) for name in (*PARTS, *TRIED)}
    return chosen | {"tau": tau, "residual": r, "done": done, "tried": x["tries"]}


def compiled_passes(plant: Plant, formulas: Formulas, iterations: int) -> Loop:
    """Pass after pass in machine code, with S the same in all of them."""
    model, net, n = plant.model, plant.network, plant.nv + plant.np
    law, timed = gravity(model.context.gravity), isinstance(model.context.base, HarmonicMotion)

    def function(**x: Any) -> Mapping[str, Any]:
        def residual(t: Any, q: Array, v: Array, a: Array, p: Array) -> tuple[Array, Array, Array]:
            on = Setting(representation("body"), law, t if timed else 0.0)
            tau, f = plant.source.evaluate(t, q, v, p, x["m"])
            sliding = plant.constraints.sliding_efforts(v, x["directions"])
            return sweep_forces(net, on, q, v, a)[0] - tau - sliding, tau, f

        given = x | {name: x[name][()] for name in ("h", "t0", "last", "share", "step", "tries")}
        given["t0"] = given["t0"] + x["zero"][()]  # a loop needs an input that goes on
        parts = Parts(residual, lambda q, d: moved(model, q, along(model, d)))
        after = one_pass(parts, formulas, given, iterations)
        going = where(after["step"] < given["last"], where(after["tries"] <= TRIES, 1.0, 0.0), 0.0)
        outputs = {name if name in TOLD else f"{name}_next": value for name, value in after.items()}
        return outputs | {"halt": 1.0 / going}  # a loop ends at what is not finite

    rates, own, one = (plant.nv,), (plant.np,), ()
    shapes: dict[str, tuple[int, ...]] = {"zero": one, "q": (plant.nq,), "p": own, "f": own, "p1": own}
    shapes |= dict.fromkeys(("v", "a", "w", "before", "a1"), rates)
    shapes |= dict.fromkeys(("step", "tries", "h", "t0", "last", "share"), one)
    shapes |= dict.fromkeys(("S", "whole", "slopes"), (n, n)) | {"mass": (plant.nv, plant.nv), "m": plant.memory.shape}
    shapes["directions"] = plant.active.directions.shape
    with np.errstate(all="ignore"):
        program = record(function, shapes, f"{model.name}_dina")
        return Loop(program, {f"{name}_next": name for name in (*PARTS, *TRIED)})


class Passes:
    """Machine code for up to ``most`` passes at a time, with its memory."""

    def __init__(self, plant: Plant, formulas: Formulas, iterations: int, most: int):
        self.loop, self.most = compiled_passes(plant, formulas, iterations), most
        sizes = {slot.name: slot.shape for slot in self.loop.program.inputs}
        self.fixed = {name: np.zeros(sizes[name]) for name in FIXED}
        start = {name: np.zeros(sizes[name]) for name in (*PARTS, *TRIED)}
        self.arrays = self.loop.arrays({"zero": np.zeros(most)}, start, self.fixed)

    def run(self, start: Mapping[str, Any], fixed: Mapping[str, Any], count: int) -> tuple[dict[str, Array], int]:
        """Rows (steps, ...) of PARTS and TOLD at the ends of steps, and how many passes there were, up to the first one
        that is not finite."""
        results, count = self.arrays.results, min(count, self.most)
        for name, value in fixed.items():
            self.fixed[name][...] = value
        for name in (*PARTS, *TRIED):
            results[f"{name}_next"][0] = start[name]
        bad = self.loop.advance(self.arrays, 0, count)
        if bad >= 0:
            told = (results[name][bad] for name in TOLD)
            count = bad + int(
                all(np.isfinite(x).all() for x in told) and np.isfinite(results["a1_next"][bad + 1]).all()
            )
        ends = np.flatnonzero(results["done"][:count] > 0.0)
        rows = {name: results[f"{name}_next"][ends + 1] for name in PARTS}
        return rows | {name: results[name][ends] for name in TOLD}, count


def passes_in_python(
    parts: Parts, formulas: Formulas, iterations: int, start: Mapping[str, Any], fixed: Mapping[str, Any], count: int
) -> tuple[dict[str, Array], int]:
    """The same with torques that are Python functions; what they raise comes out if it is in the first step."""
    x, ends = dict(start), []
    for k in range(count):
        try:
            after = one_pass(parts, formulas, {**x, **fixed}, iterations)
        except Exception:
            if not ends:
                raise
            count = k
            break
        if not all(np.isfinite(x).all() for x in after.values()):
            count = k
            break
        x = {name: after[name] for name in (*PARTS, *TRIED)}
        ends += [after] if after["done"] else []
        if x["step"] >= fixed["last"] or x["tries"] > TRIES:
            count = k + 1
            break
    return {name: np.array([x[name] for x in ends]) for name in (*PARTS, *TOLD)}, count
