"""Small motions of a model whose loops, or wheels that roll, stay constraints: the state space of what is free.

Displacements d and changes w of the rates of the whole tree move as

    d' = -v x d + w,      w' = da/dq d + da/dv w + da/dtau u,      x = (d, w)                                  (1)

with the accelerations of the constrained robot. The constraints keep them in a subspace: of the nh holonomic rows
J_h d = 0, and of all m rows J w + (d(J v)/dq) d = 0. Of a steady motion, along which everything looks the same from the
robot, that subspace is carried into itself by (1), and A, B are (1) in a basis of it. That is looked at: another
motion is refused.

Displacements that nothing depends on (where a bicycle is, where it heads, how far its wheels have turned) are the
largest subspace N of displacements that (1) carries into itself without changing any rate; what is left of x beside N
has equations of its own, in fewer coordinates [Meijaard and others 2007, 5: two of nine, and the speed]."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from gyrostat.algorithms.constrained.loop_derivatives import loop_slopes
from gyrostat.algorithms.constrained.loop_equations import loop_equations, row_names
from gyrostat.configuration.model_cache import cached_on
from gyrostat.engine.kernel import Kernel
from gyrostat.engine.tracing.record import record
from gyrostat.errors import LoopError, StateError
from gyrostat.graph.network import Network, kept_network
from gyrostat.spec.model import Model

Array = np.ndarray
WHO = "linearise"
ZERO = 1e-9
"""Part of the largest singular value below which one counts as zero."""
CLEAN = 1e-3
"""How much less a dof counts that displacements which are left out have a part of."""
STEADY = 1e-6
"""Accelerations, slip, and what leaves the subspace, relative to one plus the size of what they come from."""


class MinimalStateSpace(NamedTuple):
    """dx/dt = A x + B u: ``A`` (..., k, k), ``B`` (..., k, nv). ``basis`` (..., 2 nv, k): displacements (along the
    rates), then changes of the rates, of the whole robot for each x. ``names`` (k,): ``d <dof>`` for a displacement,
    ``v <dof>`` for the change of a rate; x is the value of that dof itself, but for ``ignored`` (..., nv, j): the
    displacements that nothing depends on."""

    A: Array
    B: Array
    basis: Array
    names: tuple[str, ...]
    ignored: Array


class Rows(NamedTuple):
    """``J`` (m, nv), and ``by_q`` (m, nv) = d(J v)/dq along displacements at constant rates."""

    J: Array
    by_q: Array


class _Space(NamedTuple):
    """d = D y, w = follow y + W z: ``D``, ``W`` orthonormal, ``W`` with ``J W = 0``."""

    D: Array
    W: Array
    follow: Array


class _Motion(NamedTuple):
    """y' = yy y + yz z, z' = zy y + zz z + u B."""

    yy: Array
    yz: Array
    zy: Array
    zz: Array
    B: Array


def minimal(model: Model, rows: Rows, A: Array, B: Array, keep: bool) -> MinimalStateSpace:
    """Of the tree's A (2 nv, 2 nv) and B (2 nv, nv) about a motion without accelerations; ``keep``: also
    displacements that nothing depends on."""
    n, space = model.nv, _space(model, rows)
    motion = _within(model, space, A, B)
    used, ignored = _told_apart(motion, keep)
    D, follow = space.D @ used, space.follow @ used
    dofs = _telling(D, space.D @ ignored), _telling(space.W, np.zeros((n, 0)))
    y, z = np.linalg.inv(D[dofs[0]]), np.linalg.inv(space.W[dofs[1]])
    shift = -z @ follow[dofs[1]] @ y
    P = np.block([[y, np.zeros((len(y), len(z)))], [shift, z]])
    back = np.linalg.inv(P)
    small = np.block([[used.T @ motion.yy @ used, used.T @ motion.yz], [motion.zy @ used, motion.zz]])
    driven = np.concatenate([np.zeros((len(y), n)), motion.B])
    basis = np.block([[D, np.zeros_like(space.W)], [follow, space.W]]) @ P
    names = (*(f"d {model.dofs[k]}" for k in dofs[0]), *(f"v {model.dofs[k]}" for k in dofs[1]))
    return MinimalStateSpace(back @ small @ P, back @ driven, basis, names, space.D @ ignored)


# ------------------------------------------------------------------------------------------------ the subspace
def rows_at(model: Model, q: Array, v: Array) -> Rows:
    """At one state."""
    kept = cached_on(model)
    if "loop slopes" not in kept:
        net = kept_network(model)

        def function(q: Array, v: Array) -> Mapping[str, Any]:
            J = loop_equations(net, q).J
            slopes = loop_slopes(net, q, np.zeros(model.nv), v, np.zeros(len(J)))
            return {"J": J, "by_q": slopes.acceleration_dq}

        shapes = {"q": (model.nq,), "v": (model.nv,)}
        kept["loop slopes"] = Kernel(record(function, shapes, f"{model.name}_slopes"), WHO)
    return Rows(**kept["loop slopes"].call(q, v))


def free_motions(J: Array, n: int) -> Array:
    """Motions (n, k) with J x = 0, orthonormal."""
    if not len(J):
        return np.eye(n)
    _, s, vt = np.linalg.svd(J)
    return vt[_rank(s) :].T


def _rank(s: Array) -> int:
    return int(np.count_nonzero(s > ZERO * max(float(s.max(initial=0.0)), 1e-300)))


def _space(model: Model, rows: Rows) -> _Space:
    every = row_names(kept_network(model))
    holonomic = np.array([closure.equations[i].holonomic for closure, i in every], dtype=bool)
    D, W = free_motions(rows.J[holonomic], model.nv), free_motions(rows.J, model.nv)
    return _Space(D, W, -np.linalg.pinv(rows.J, rcond=ZERO) @ rows.by_q @ D)


def _within(model: Model, space: _Space, A: Array, B: Array) -> _Motion:
    """The tree's equations in the subspace, which they must not leave."""
    n, (D, W, follow) = model.nv, space
    d = A[:n, :n] @ D + follow, W
    w = A[n:, :n] @ D + A[n:, n:] @ follow, A[n:, n:] @ W
    yy, yz = (D.T @ x for x in d)
    zy, zz = (W.T @ x for x in w)
    outside = [x - D @ (D.T @ x) for x in d]
    outside += [x - follow @ y - W @ z for x, y, z in zip(w, (yy, yz), (zy, zz), strict=True)]
    size = 1.0 + max(float(np.abs(x).max(initial=0.0)) for x in (*d, *w))
    if max(float(np.abs(x).max(initial=0.0)) for x in outside) > STEADY * size:
        raise StateError(
            f"{WHO}: '{model.name}' is in no steady motion: what its constraints allow changes along it, so that no "
            "constant A tells how small motions go on. Hint: linearise at rest, or about a motion that looks the same "
            "from the robot at every instant"
        )
    return _Motion(yy, yz, zy, zz, W.T @ B[n:])


def _told_apart(motion: _Motion, keep: bool) -> tuple[Array, Array]:
    """Coefficients (k, i) of displacements that rates depend on, sooner or later, and (k, j) of the others:
    orthonormal."""
    lead, seen = motion.zy, [np.zeros((1, len(motion.yy)))]
    for _ in range(len(motion.yy)):
        size = float(np.abs(lead).max(initial=0.0))
        seen.append(lead / size if size > ZERO * (1.0 + float(np.abs(motion.zy).max(initial=0.0))) else 0.0 * lead)
        lead = seen[-1] @ motion.yy
    _, s, vt = np.linalg.svd(np.concatenate(seen))
    rank = len(motion.yy) if keep else _rank(s)
    return (np.eye(rank), vt[:0].T) if keep else (vt[:rank].T, vt[rank:].T)


def _telling(Z: Array, ignored: Array) -> list[int]:
    """Dofs whose entries tell the coefficients of Z (n, k), one by one the largest of what is left: those first in
    which nothing of ``ignored`` (n, j) is."""
    rest, dofs = Z.copy(), list[int]()
    clean = np.linalg.norm(ignored, axis=1) <= ZERO
    for _ in range(Z.shape[1]):
        size = np.round(np.linalg.norm(rest, axis=1), 9) * np.where(clean, 1.0, CLEAN)
        size[dofs] = -1.0
        k = int(np.argmax(size))
        dofs.append(k)
        u = rest[k] / max(float(np.linalg.norm(rest[k])), 1e-300)
        rest = rest - np.outer(rest @ u, u)
    return dofs


# ------------------------------------------------------------------------------------------------ what is refused
def expect_steady(net: Network, v: Array, a: Array, rows: Rows) -> None:
    """Refuse rates that violate constraints, and accelerations."""
    speed = rows.J @ v
    size = 1.0 + np.abs(rows.J) @ np.abs(v)
    worst = int(np.argmax(np.abs(speed) / size)) if len(speed) else 0
    if len(speed) and not abs(speed[worst]) <= STEADY * size[worst]:
        closure = row_names(net)[worst][0]
        raise LoopError(
            f"{WHO}: v violates '{closure.name}' of '{net.model.name}' with {abs(speed[worst]):.3g} m/s (or 1/s). "
            "Hint: gs.close(model, q, v)[1] are the nearest rates that do not",
            [closure.loop.entities],
        )
    fast = int(np.argmax(np.abs(a)))
    if not np.abs(a[fast]) <= STEADY * (1.0 + float(np.abs(v).max(initial=0.0)) ** 2):
        raise StateError(
            f"{WHO}: '{net.model.dofs[fast]}' of '{net.model.name}' accelerates with {a[fast]:.3g}: its constraints "
            "allow no steady motion with this v, or tau drives it. Hint: leave tau out, or give one that balances it"
        )
