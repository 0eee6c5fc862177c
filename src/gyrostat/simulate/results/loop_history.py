"""Loops that are constraints along a run: how far they were open, and the forces that kept them closed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from gyrostat.algorithms.constrained.loop_equations import loop_equations
from gyrostat.algorithms.constrained.loop_structure import loop_structure
from gyrostat.configuration.model_cache import cached_on
from gyrostat.engine.kernel import Kernel
from gyrostat.engine.tracing.record import record
from gyrostat.errors import LoopError
from gyrostat.graph.network import kept_network
from gyrostat.spec.model import Model

Array = np.ndarray
WHO = "result"
LEFT = 1e-6
"""Part of the efforts that forces of loops may leave over by the errors of a run."""


class ClosureHistory(NamedTuple):
    """One loop over t (T,): ``distance`` (T,) by which it is open [m, or of directions], and how fast it opens,
    ``rate`` (T,) [1/s of that]: lengths of g and of dg/dt over all its equations, those that say nothing new
    included."""

    distance: Array
    rate: Array


def closure_history(model: Model, q: Array, v: Array) -> dict[str, ClosureHistory]:
    """Of every loop that is a constraint, by what closes it."""
    net = kept_network(model)
    if not net.closures or not len(q):
        return {}
    g, J = _equations(model, q)
    speed = np.einsum("tij,tj->ti", J, v)
    found: dict[str, ClosureHistory] = {}
    at = 0
    for closure in net.closures:
        own = slice(at, at + len(closure.equations))
        at = own.stop
        found[closure.name] = ClosureHistory(np.linalg.norm(g[:, own], axis=1), np.linalg.norm(speed[:, own], axis=1))
    return found


def rolling_forces(model: Model, multipliers: Array) -> dict[str, Array]:
    """(T, 3) of every wheel that rolls, out of the multipliers (T, m) of all loops."""
    found: dict[str, Array] = {}
    at = 0
    for closure in kept_network(model).closures:
        own = slice(at, at + len(closure.equations))
        at = own.stop
        found |= {closure.name: multipliers[:, own]} if closure.rolls else {}
    return found


def loop_multipliers(model: Model, q: Array, rest: Array, t: Array) -> Array:
    """Multipliers (T, m) whose forces J^T f are what inverse dynamics leaves over, ``rest`` (T, nv). Refused where
    something else acts too: stops, or friction that sticks."""
    net = kept_network(model)
    rows = list(loop_structure(net).rows)
    _, J = _equations(model, q)
    f = np.zeros((len(q), J.shape[1]))
    for k in range(len(q)):
        own = J[k, rows].T
        f[k, rows] = np.linalg.lstsq(own, rest[k], rcond=None)[0]
        left = rest[k] - own @ f[k, rows]
        if np.abs(left).max() > LEFT * (1.0 + np.abs(rest[k]).max()):
            worst = model.dofs[int(np.argmax(np.abs(left)))]
            raise LoopError(
                f"{WHO}: at t = {t[k]:.6g} s a stop, or friction that sticks, acts on '{worst}' beside the forces that "
                "keep loops closed, and the samples do not tell how much each of them does. Hint: samples at which it "
                "is free",
                [closure.loop.entities for closure in net.closures],
            )
    return f


def _equations(model: Model, q: Array) -> tuple[Array, Array]:
    """g (T, m) and J (T, m, nv) of all equations."""
    kept = cached_on(model)
    if "loop history" not in kept:
        net = kept_network(model)

        def function(q: Array) -> Mapping[str, Any]:
            found = loop_equations(net, q)
            return {"g": found.g, "J": found.J}

        kept["loop history"] = Kernel(record(function, {"q": (model.nq,)}, f"{model.name}_loops"), WHO)
    found = kept["loop history"].call(q)
    return found["g"], found["J"]
