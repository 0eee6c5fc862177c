"""The equations of loops that stay constraints, over the rates of the model: g(q) = 0, J v = 0, J a + b = 0 (AS (2),
C = df/dq), and the forces that their multipliers stand for.

Rows come loop by loop in the order of ``network.closures``, each with its equations in the order of
:data:`~gyrostat.graph.loops.closure.EQUATIONS`; all of them, whether they say something new or not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gyrostat.algorithms.algorithm import Setting
from gyrostat.algorithms.constrained.sparse_ldl import is_zero
from gyrostat.algorithms.recursions.kinematics import JointMemo, kinematics
from gyrostat.algorithms.user_components.component_equations import equations
from gyrostat.graph.loops.closure import ZERO3
from gyrostat.graph.loops.ways import Closure, follow, plain_step
from gyrostat.graph.network import Component, Network
from gyrostat.spatial.algebra import Array, cross, join
from gyrostat.spatial.gravity import Gravity
from gyrostat.spatial.representation import Motion, Shift, representation
from gyrostat.spec.joint import Joint

STILL = Setting(representation("body"), Gravity(np.zeros(3)))


@dataclass(frozen=True)
class LoopEquations:
    """``g`` (m,) [m, or of directions]; ``J`` (m, nv), with exact zeros where a rate is not in a loop; ``bias`` (m,) =
    dJ/dt v."""

    g: Array
    J: Array
    bias: Array


def any_step(c: Component, port: str, motion: Motion, q: Array, v: Array, a: Array) -> tuple[Motion, Shift, Array]:
    """Through any component, as its row of kinematics says."""
    if port in c.places or issubclass(c.kind, Joint):
        return plain_step(c, port, motion, q, v, a)
    out, memo = kinematics.of(c)(c, STILL, motion, q, v, a)
    if isinstance(memo, JointMemo):
        return out[port], memo.shift, memo.S
    own = equations(c, STILL, motion, q, v)
    return out[port], own.shifts[port], own.S[port]


def loop_equations(network: Network, q: Array, v: Array | None = None) -> LoopEquations:
    """All equations at q (nq,) and v (nv,); without ``v`` the bias is that of rest, zero."""
    network = network.at(q, v)
    moved, n = network.transmission, network.transmission.n
    every_q = moved.coordinates(q)
    every_v = None if v is None else moved.rates(v)
    follow_on = moved.accelerations(np.zeros(n)) if moved.followers and v is not None else None
    g: list[Any] = []
    bias: list[Any] = []
    rows: list[dict[int, Any]] = []
    for closure in network.closures:
        one = closure.rows(every_q, every_v, any_step)
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
    for closure in network.closures:
        found += list(closure.rows(every, None, any_step).g)
    return _array(found)


def row_names(network: Network) -> list[tuple[Closure, int]]:
    """Of each row, its loop and its number there."""
    return [(closure, i) for closure in network.closures for i in range(len(closure.equations))]


@dataclass(frozen=True)
class CutForce:
    """What closes a loop acts on the body at its port b with a force and a torque about the origin of that frame, in the
    axes of the frame at port a; on the body at port a with the opposite, about the origin of its own frame."""

    on_a: Array
    on_b: Array


def cut_forces(network: Network, q: Array, multipliers: Array) -> list[CutForce]:
    """Of each loop: wrenches (6,), torque first, on the two bodies that it joins, each in the axes of its own frame and
    about its origin, from the multipliers (m,) [N, N m]."""
    network = network.at(q)
    every = network.transmission.coordinates(q)
    found: list[CutForce] = []
    at = 0
    for closure in network.closures:
        one, two = (follow(way, every, None, any_step) for way in closure.ways)
        R, p = one.R.T @ two.R, one.R.T @ (two.p - one.p)
        torque, force = ZERO3, ZERO3
        for equation in closure.equations:
            row = equation.at(R, p)
            torque, force = torque + row.a * multipliers[at], force + row.b * multipliers[at]
            at += 1
        found.append(CutForce(-join(torque + cross(p, force), force), join(R.T @ torque, R.T @ force)))
    return found


def _array(values: Sequence[Any]) -> Array:
    return np.array(values, dtype=object) if any(not isinstance(x, float) for x in values) else np.array(values, float)


def _plain(J: Array) -> Array:
    return J if any(not isinstance(x, float) for x in J.ravel()) else J.astype(float)
