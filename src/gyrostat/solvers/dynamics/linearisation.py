"""Small motions about a state: the state space of the whole model, elastic or not."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gyrostat.configuration.packing import packed
from gyrostat.graph.network import kept_network
from gyrostat.solvers.dynamics.derivatives import ForwardDynamicsDerivatives
from gyrostat.solvers.dynamics.inverse_dynamics import InverseDynamics
from gyrostat.solvers.machinery.solver_cache import cached_solver
from gyrostat.solvers.machinery.state_solver import Array
from gyrostat.spatial.algebra import tilde
from gyrostat.spec.check import expect_model
from gyrostat.spec.model import Model


class StateSpace(NamedTuple):
    """dx/dt = A x + B u, x = (displacement, change of the rates): ``A`` (..., 2 nv, 2 nv), ``B`` (..., 2 nv, nv)."""

    A: Array
    B: Array


def linearise(
    model: Model, q: Any, v: Any = None, tau: Any = None, *, method: str = "auto", **options: Any
) -> StateSpace:
    """State space of small motions about q (..., nq), v and tau (..., nv), on the tangent: a displacement d means
    ``integrate(q, d)``, so that dx/dt has d' = change of v, and where coordinates are quaternions - v x d beside it.

    ``v``: at rest by default. ``tau``: by default what gives no acceleration. ``method`` and ``options``
    are those of :func:`aba_derivatives`."""
    expect_model(model, "linearise")
    kept_network(model).refuse_loops("linearise")
    q = packed(model, q, "q", "linearise")
    v = np.zeros(model.nv) if v is None else packed(model, v, "v", "linearise")
    timed = {k: x for k, x in options.items() if k == "t"}
    tau = _balance(model, q, v, **timed) if tau is None else packed(model, tau, "tau", "linearise")
    derivatives = cached_solver(model, ForwardDynamicsDerivatives, method=method)(q, v, tau, **options)
    n, lead = model.nv, derivatives.da_dq.shape[:-2]
    A, B = np.zeros((*lead, 2 * n, 2 * n)), np.zeros((*lead, 2 * n, n))
    A[..., :n, :n] = _turning(model, v)
    A[..., :n, n:] = np.eye(n)
    A[..., n:, :n], A[..., n:, n:], B[..., n:, :] = derivatives
    return StateSpace(A, B)


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
