"""Small motions about a state: the state space of the whole model, elastic or not."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gyrostat.configuration.packing import packed
from gyrostat.errors import LoopError, StateError
from gyrostat.graph.network import kept_network
from gyrostat.solvers.dynamics.closed_contacts import refuse_closed
from gyrostat.solvers.dynamics.constrained_linearisation import (
    MinimalStateSpace,
    expect_steady,
    free_motions,
    minimal,
    rows_at,
)
from gyrostat.solvers.dynamics.derivatives import ForwardDynamicsDerivatives
from gyrostat.solvers.dynamics.forward_dynamics import ForwardDynamics
from gyrostat.solvers.dynamics.inverse_dynamics import InverseDynamics
from gyrostat.solvers.machinery.solver_cache import cached_solver
from gyrostat.solvers.machinery.state_solver import Array
from gyrostat.spatial.algebra import tilde
from gyrostat.spec.check import expect_model
from gyrostat.spec.model import Model

WHO = "linearise"


class StateSpace(NamedTuple):
    """dx/dt = A x + B u, x = (displacement, change of the rates): ``A`` (..., 2 nv, 2 nv), ``B`` (..., 2 nv, nv)."""

    A: Array
    B: Array


def linearise(
    model: Model,
    q: Any,
    v: Any = None,
    tau: Any = None,
    *,
    method: str = "auto",
    ignorable: bool | None = None,
    **options: Any,
) -> StateSpace | MinimalStateSpace:
    """State space of small motions about q (..., nq), v and tau (..., nv), on the tangent: a displacement d means
    ``integrate(q, d)``, so that dx/dt has d' = change of v, and where coordinates are quaternions - v x d beside it.

    ``v``: at rest by default. ``tau``: by default what gives no acceleration. ``method`` and ``options``
    are those of :func:`aba_derivatives`.

    Where loops, or wheels that roll, are constraints, a :class:`MinimalStateSpace` comes: A and B of what they leave
    free, with the basis. v is then a steady motion, along which the robot looks the same from itself at every instant
    (rest, or rolling straight ahead or in a circle); tau is by default the smallest that gives no acceleration.
    Displacements that nothing depends on, such as the place of a bicycle, are left out, unless ``ignorable=True``.

    Compliant contacts are in it; where a rigid one is closed the motion has no derivative, which is refused."""
    expect_model(model, WHO)
    q = packed(model, q, "q", WHO)
    v = np.zeros(model.nv) if v is None else packed(model, v, "v", WHO)
    refuse_closed(model, q, WHO)
    constrained = bool(kept_network(model).closures)
    if ignorable is not None and not constrained:
        raise LoopError(f"{WHO}: ignorable is about constraints, and '{model.name}' has none. Hint: leave it out")
    timed = {k: x for k, x in options.items() if k == "t"}
    if tau is None:
        tau = _balance(model, q, v, **timed)
        tau = _smallest(model, q, v, tau) if constrained else tau
    else:
        tau = packed(model, tau, "tau", WHO)
    if constrained:
        return _constrained(model, (q, v, tau), method, bool(ignorable), options)
    return _whole(model, (q, v, tau), method, options)


def _whole(model: Model, state: tuple[Array, Array, Array], method: str, options: dict[str, Any]) -> StateSpace:
    """Of all rates of the tree, with the accelerations that constraints leave."""
    q, v, tau = state
    derivatives = cached_solver(model, ForwardDynamicsDerivatives, method=method)(q, v, tau, **options)
    n, lead = model.nv, derivatives.da_dq.shape[:-2]
    A, B = np.zeros((*lead, 2 * n, 2 * n)), np.zeros((*lead, 2 * n, n))
    A[..., :n, :n] = _turning(model, v)
    A[..., :n, n:] = np.eye(n)
    A[..., n:, :n], A[..., n:, n:], B[..., n:, :] = derivatives
    return StateSpace(A, B)


def _constrained(
    model: Model, state: tuple[Array, Array, Array], method: str, keep: bool, options: dict[str, Any]
) -> MinimalStateSpace:
    """State by state."""
    net, lead = kept_network(model), np.broadcast_shapes(*(x.shape[:-1] for x in state))
    q, v, tau = (np.broadcast_to(x, (*lead, x.shape[-1])) for x in state)
    forward = cached_solver(model, ForwardDynamics, algorithm="aba", representation="body")
    found: list[MinimalStateSpace] = []
    for k in np.ndindex(lead):
        rows = rows_at(model, q[k], v[k])
        expect_steady(net, v[k], forward(q[k], v[k], tau[k], **options), rows)
        found.append(minimal(model, rows, *_whole(model, (q[k], v[k], tau[k]), method, options), keep))
    if len({(one.names, one.ignored.shape) for one in found}) > 1:
        raise StateError(
            f"{WHO}: not all of these states of '{model.name}' have the same coordinates: "
            f"{' / '.join(sorted({', '.join(one.names) for one in found}))}. Hint: ignorable=True, or state by state"
        )

    def stacked(parts: list[Array]) -> Array:
        return np.reshape(np.array(parts), (*lead, *parts[0].shape))

    A, B, basis = (stacked([getattr(one, name) for one in found]) for name in ("A", "B", "basis"))
    return MinimalStateSpace(A, B, basis, found[0].names, stacked([one.ignored for one in found]))


def _smallest(model: Model, q: Array, v: Array, tau: Array) -> Array:
    """Of all efforts that do what tau (..., nv) does along the motions that constraints leave."""
    small = np.empty(np.broadcast_shapes(tau.shape, (*q.shape[:-1], 1)))
    whole, places = np.broadcast_to(tau, small.shape), np.broadcast_to(q, (*small.shape[:-1], q.shape[-1]))
    for k in np.ndindex(small.shape[:-1]):
        W = free_motions(rows_at(model, places[k], np.zeros(model.nv)).J, model.nv)
        small[k] = W @ (W.T @ whole[k])
    return small


def _balance(model: Model, q: Array, v: Array, **timed: Any) -> Array:
    """tau (..., nv) that gives no acceleration."""
    return cached_solver(model, InverseDynamics, representation="body")(q, v, np.zeros(model.nv), **timed)


def _turning(model: Model, v: Array) -> Array:
    """-v~ of free and spherical joints: their displacements are seen from a frame that moves."""
    turning = np.zeros((*v.shape[:-1], model.nv, model.nv))
    for block in model.layout.turning:
        twist = np.zeros((*v.shape[:-1], 6))
        twist[..., : block.nv] = v[..., block.v]
        for k in np.ndindex(v.shape[:-1]):
            turning[k][block.v, block.v] = -tilde(twist[k])[: block.nv, : block.nv]
    return turning
