"""The equations of loops that stay constraints, over the rates of the model: g(q) = 0, J v = 0, J a + b = 0 (AS (2),
C = df/dq), and the forces that their multipliers stand for.

Rows come loop by loop in the order of ``network.closures``, each with its equations in the order of
:data:`~gyrostat.graph.loops.closure.EQUATIONS`; all of them, whether they say something new or not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gyrostat.algorithms.algorithm import Setting
from gyrostat.algorithms.constrained.loop_rows import CutWrench, any_step, closure_equations, common_axes, cut_wrench
from gyrostat.algorithms.constrained.sparse_ldl import is_zero
from gyrostat.algorithms.recursions.rne import Loads
from gyrostat.graph.loops.ways import Closure
from gyrostat.graph.network import Network
from gyrostat.spatial.algebra import Array, force_to_parent
from gyrostat.spatial.representation import Motion


@dataclass(frozen=True)
class LoopEquations:
    """``g`` (m,) [m, or of directions]; ``J`` (m, nv), with exact zeros where a rate is not in a loop; ``bias`` (m,) =
    dJ/dt v."""

    g: Array
    J: Array
    bias: Array


def loop_equations(
    network: Network, q: Array, v: Array | None = None, only: Sequence[int] | None = None
) -> LoopEquations:
    """All equations at q (nq,) and v (nv,), or those of loops by their number; without ``v`` the bias is that of rest,
    zero."""
    network = network.at(q, v)
    moved, n = network.transmission, network.transmission.n
    every_q = moved.coordinates(q)
    every_v = None if v is None else moved.rates(v)
    follow_on = moved.accelerations(np.zeros(n)) if moved.followers and v is not None else None
    g: list[Any] = []
    bias: list[Any] = []
    rows: list[dict[int, Any]] = []
    axes = common_axes(network.model)
    for number in range(len(network.closures)) if only is None else only:
        one = closure_equations(network.closures[number], every_q, every_v, axes[number])
        g += list(one.g)
        own = list(one.bias) if v is not None else [0.0] * len(one.g)
        parts: list[dict[int, Any]] = [{} for _ in one.g]
        for rate, column in one.J.items():
            late = 0.0 if follow_on is None or rate < n else follow_on[rate]
            for i, x in enumerate(column):
                if is_zero(x):
                    continue
                if not is_zero(late):
                    own[i] = own[i] + x * late
                for k, factor in moved.ties(rate):
                    y = x if isinstance(factor, float) and factor == 1.0 else x * factor
                    parts[i][k] = parts[i][k] + y if k in parts[i] else y
        bias += own
        rows += parts
    J = np.zeros((len(rows), n), dtype=object)
    J[...] = 0.0
    for i, row in enumerate(rows):
        for k, x in row.items():
            J[i, k] = x
    return LoopEquations(_array(g), _plain(J), _array(bias))


def loop_residual(network: Network, q: Array) -> Array:
    """g (m,) of all loops, rows that say nothing new included: how far each is open [m, or of directions]."""
    network = network.at(q)
    every = network.transmission.coordinates(q)
    found: list[Any] = []
    for closure, common in zip(network.closures, common_axes(network.model), strict=True):
        found += list(closure_equations(closure, every, None, common).g)
    return _array(found)


def loop_facing(network: Network, q: Array) -> list[list[Any]]:
    """Of each loop, cosines between axes that coincide when it is closed, see
    :meth:`~gyrostat.graph.loops.ways.Closure.facing`."""
    network = network.at(q)
    every = network.transmission.coordinates(q)
    return [closure.facing(every, any_step) for closure in network.closures]


def row_names(network: Network) -> list[tuple[Closure, int]]:
    """Of each row, its loop and its number there."""
    return [(closure, i) for closure in network.closures for i in range(len(closure.equations))]


def cut_wrenches(network: Network, q: Array, multipliers: Array) -> list[CutWrench]:
    """Of each loop, what closes it exerts on the two bodies that it joins, from the multipliers (m,) [N, N m]."""
    network = network.at(q)
    every = network.transmission.coordinates(q)
    found: list[CutWrench] = []
    at = 0
    for closure, common in zip(network.closures, common_axes(network.model), strict=True):
        count = len(closure.equations)
        found.append(cut_wrench(closure, every, multipliers[at : at + count], common))
        at += count
    return found


def cut_loads(network: Network, on: Setting, q: Array, multipliers: Array, given: Loads) -> Loads:
    """External forces ``given``, and with them those of what closes the loops: with both, the tree moves as the closed
    robot does."""
    wrenches = cut_wrenches(network, q, multipliers)

    def loads(motions: Mapping[int, Motion]) -> Mapping[int, Array]:
        total = dict(given(motions))
        for closure, wrench in zip(network.closures, wrenches, strict=True):
            for port, w in zip(closure.loop.frames, wrench, strict=True):
                at, place = network.located[port]
                f = on.representation.force(motions[at].pose, force_to_parent(*place, w))
                total[at] = total[at] + f if at in total else f
        return total

    return loads


def _array(values: Sequence[Any]) -> Array:
    return np.array(values, dtype=object) if any(not isinstance(x, float) for x in values) else np.array(values, float)


def _plain(J: Array) -> Array:
    return J if any(not isinstance(x, float) for x in J.ravel()) else J.astype(float)
