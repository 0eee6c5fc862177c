"""Tangents of what a step is made of, as programs for many columns at once: what all columns share is computed once.

A column is one direction in which something changes: e (nv,) moves the configuration along its rates, q (+) e, so that
dq = T(q) e with dq/dt = T(q) v; the dots of v, p, m, parameters and live properties are plain. Three programs, of which
``dot_`` inputs and outputs differ from column to column:

    STAGE   (t, q0, y, m, parameters, constants, live, e, dot_y, dot_m, dot_parameters, dot_live | dy, dot_dy)
    PLACE   (q0, x, e, dot_x | d)               along the rates at q = moved(q0, x): how that q moves
    UPDATE  (t, q, v, p, m, parameters, constants, e, dot_v, dot_p, dot_m, dot_parameters | dot_m_next)

y = (x, v, p) with local coordinates x around q0, see :mod:`gyrostat.configuration.chart`; dy = (x', a, p')."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from gyrostat.configuration.chart import along, local_rates, moved
from gyrostat.configuration.tangent import coordinate_rates
from gyrostat.engine.tracing.derivative import pushforward
from gyrostat.engine.tracing.program import Program, prune
from gyrostat.engine.tracing.record import record
from gyrostat.engine.tracing.replay import inlined
from gyrostat.geometry.rotation import from_quaternion
from gyrostat.simulate.kernels.model_kernels import ModelKernels
from gyrostat.spatial.so3_recorded import rate_matrix
from gyrostat.spec.model import Model

Array = np.ndarray
SHARED = ("t", "q0", "q", "x", "y", "v", "p", "m", "parameters", "constants", "live")
"""Inputs that all columns share."""


def stage_tangents(kernels: ModelKernels, law: Program, wrt: Sequence[str]) -> Program:
    """STAGE: the right-hand side in local coordinates, and how it changes; ``wrt``: which of "parameters" and "live"
    change. ``law``: (t, q, v, p, m, parameters, constants) -> tau, dp/dt."""
    model, sizes = kernels.model, {slot.name: slot.size for slot in law.inputs}
    n, size = model.nv, 2 * model.nv + sizes["p"]

    def stage(
        t: Array, q0: Array, y: Array, m: Array, parameters: Array, constants: Array, live: Array
    ) -> dict[str, Any]:
        x, v, p = y[:n], y[n : 2 * n], y[2 * n :]
        q, x_rate = moved(model, q0, x), local_rates(model, x, v)
        source = inlined(law, t, q, v, p, m, parameters, constants)
        directions = np.zeros(0)
        a = inlined(kernels.forward, t, q, v, source["tau"], directions, live)["a"]
        return {"dy": np.concatenate([x_rate, a, source["p_rate"]])}

    given = {
        "t": 1, "q0": model.nq, "y": size, "m": sizes["m"], "parameters": sizes["parameters"],
        "constants": sizes["constants"], "live": kernels.live_size,
    }  # fmt: skip
    primal = _bare(record(stage, _vectors(given), f"{model.name}_stage"))
    changed = [name for name in ("q0", "y", "m", *wrt) if given[name]]
    dots = {"e": n, **{f"dot_{name}": given[name] for name in ("y", "m", "parameters", "live")}}
    return _along_rates(model, primal, "dy", changed, given, dots)


def update_tangents(model: Model, update: Program, wrt: Sequence[str]) -> Program:
    """UPDATE: how the memory of digital parts changes at a sample; ``update``: (t, q, v, p, m, parameters, constants)
    -> m."""
    given = {slot.name: slot.size for slot in update.inputs}
    changed = [name for name in ("q", "v", "p", "m", *wrt) if name != "live" and given[name]]
    dots = {"e": model.nv, **{f"dot_{name}": given[name] for name in ("v", "p", "m", "parameters")}}
    return _along_rates(model, _bare(update), update.outputs[0].name, changed, given, dots, primal=False)


def place_tangents(model: Model, retracted: bool = False) -> Program:
    """PLACE; ``retracted``: x (nv,) is a displacement as in ``gs.integrate`` in the place of local coordinates."""
    n = model.nv

    def place(q0: Array, x: Array) -> dict[str, Any]:
        return {"q": moved(model, q0, along(model, x) if retracted else x)}

    primal = _bare(record(place, {"q0": (model.nq,), "x": (n,)}, f"{model.name}_place"))
    tangent = _bare(pushforward(primal, ["q"], ["q0", "x"], primal=True))

    def function(q0: Array, x: Array, e: Array, dot_x: Array) -> dict[str, Any]:
        values = inlined(tangent, q0, x, coordinate_rates(model, q0, e), dot_x)
        return {"d": displacement(model, values["q"], values["dot_q"])}

    shapes = {"q0": (model.nq,), "x": (n,), "e": (n,), "dot_x": (n,)}
    return _bare(record(function, shapes, f"{model.name}_place_tangents"))


def displacement(model: Model, q: Array, dq: Array) -> Array:
    """d (nv,) along the rates at q (nq,) with dq = T(q) d, for dq (nq,) that keeps quaternions of unit length:
    angular 2 vec(conj(c) (x) dc), linear R^T dp."""
    parts: list[Array] = []
    for block in model.layout:
        if not block.turns:
            parts.append(dq[block.q])
            continue
        c = q[block.quaternion]
        parts.append(4.0 * rate_matrix(c).T @ dq[block.quaternion])
        if block.moves:
            parts.append(from_quaternion(c).T @ dq[block.position])
    return np.concatenate(parts)


def _along_rates(
    model: Model,
    program: Program,
    of: str,
    changed: Sequence[str],
    given: Mapping[str, int],
    dots: Mapping[str, int],
    primal: bool = True,
) -> Program:
    """The tangents of a program, whose configuration (q0 or q) changes along its rates; ``dots``: sizes of what differs
    from column to column, whether it counts or not."""
    tangent = _bare(pushforward(program, [of], changed, primal=primal))
    place = "q0" if "q0" in given else "q"

    def function(**x: Array) -> dict[str, Any]:
        x[f"dot_{place}"] = coordinate_rates(model, x[place], x["e"])
        values = inlined(tangent, *(x[slot.name] for slot in tangent.inputs))
        return {name: value for name, value in values.items() if name != "guard"}

    return _bare(record(function, _vectors({**given, **dots}), f"{program.name}_tangents"))


def _vectors(sizes: Mapping[str, int]) -> dict[str, tuple[int, ...]]:
    return {name: (size,) for name, size in sizes.items()}


def _bare(program: Program) -> Program:
    """Without guards: the motion itself has been looked at, and the constants of a law may be NaN where nobody goes."""
    return prune(replace(program, guards=()))
