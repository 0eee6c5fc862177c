"""Reduced dynamics of robots whose legs are in contact [H04 5.4.1, (5.3)].

Rates are independent, v_I, or dependent, v_D: those of legs in contact. With J = [J_I J_D] of the contacts, J_D square,

    v = N v_I,   N_D = -J_D^-1 J_I,       a = N a_I + g,   g_D = -J_D^-1 dJ/dt v,
    N^T M N a_I = N^T (tau - h(q, v, g)),   J_D^T f = (M a + h - tau)_D

which is the solution of M a + h = tau + J^T f, J a + dJ/dt v = 0 for its independent rates, because J N = 0.

Sensitivities are exact. A displacement along N_k changes v by B_k, B_D = -J_D^-1 d(J v)/dq N, and what contacts would
accelerate by E_k; with X_k the change of h + M a - J^T f at fixed a and f: N^T M N da_I = -N^T (X - M_D J_D^-1 E)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from gyrostat.algorithms.algorithm import Setting
from gyrostat.algorithms.contact.contact_rows import Held, contact_jacobian, held_accelerations, held_velocities
from gyrostat.algorithms.matrices.ltdl import Factors, factorise
from gyrostat.algorithms.matrices.orthogonal_factors import OrthogonalFactors, orthogonal_factors
from gyrostat.algorithms.recursions.crba import composite_mass_matrix
from gyrostat.algorithms.recursions.kinematics import sweep_motion
from gyrostat.algorithms.recursions.rne import Loads, sweep_forces
from gyrostat.configuration.tangent import coordinate_rates
from gyrostat.engine.tracing.dual import rates_of, with_rates
from gyrostat.graph.network import Network
from gyrostat.spatial.algebra import Array


@dataclass(frozen=True)
class Partition:
    """Numbers of the independent and the dependent rates; ``groups``: rows of contacts, and dependent rates (as places
    in ``dependent``) that they decide, as many of one as of the other."""

    independent: tuple[int, ...]
    dependent: tuple[int, ...]
    groups: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]

    def whole(self, own: Array, others: Array) -> Array:
        """Rows (nv, ...) from those of the independent and of the dependent rates."""
        n = len(self.independent) + len(self.dependent)
        x: Any = np.zeros((n, *np.shape(own)[1:]), dtype=object)
        x[list(self.independent)] = own
        x[list(self.dependent)] = others
        return x


@dataclass(frozen=True)
class Dependence:
    """J_D of the contacts, factorised group by group: legs do not know of each other."""

    parts: Partition
    J: Array
    factors: tuple[OrthogonalFactors, ...]

    @staticmethod
    def of(parts: Partition, J: Array) -> Dependence:
        J_D = J[:, list(parts.dependent)]
        factors = [orthogonal_factors(J_D[np.ix_(rows, rates)]) for rows, rates in parts.groups]
        return Dependence(parts, J, tuple(factors))

    def solve(self, B: Array) -> Array:
        """J_D^-1 B (dependent, columns) for B (rows, columns)."""
        return self._each(B, len(self.parts.dependent), False)

    def solve_transposed(self, B: Array) -> Array:
        """J_D^-T B (rows, columns) for B (dependent, columns)."""
        return self._each(B, len(self.J), True)

    def _each(self, B: Array, count: int, transposed: bool) -> Array:
        X: Any = np.zeros((count, B.shape[1]), dtype=object)
        X[...] = 0.0
        for (rows, rates), factors in zip(self.parts.groups, self.factors, strict=True):
            source, target = (list(rates), list(rows)) if transposed else (list(rows), list(rates))
            for k in range(B.shape[1]):
                b = B[source, k]
                if any(not _nothing(x) for x in b):
                    X[target, k] = factors.solve_transposed(b) if transposed else factors.solve(b)
        return X

    @cached_property
    def N_D(self) -> Array:
        """-J_D^-1 J_I (dependent, independent)."""
        return -self.solve(self.J[:, list(self.parts.independent)])

    @cached_property
    def N(self) -> Array:
        """All rates per independent one (nv, independent)."""
        return self.parts.whole(np.eye(len(self.parts.independent)), self.N_D)

    def project(self, X: Array) -> Array:
        """N^T X for X (nv, ...)."""
        return X[list(self.parts.independent)] + self.N_D.T @ X[list(self.parts.dependent)]


def _nothing(x: Any) -> bool:
    return isinstance(x, float | int) and x == 0.0


class Reduced(NamedTuple):
    """All rates v and accelerations a (nv,), forces f (rows,) of the contacts, and what they were solved with."""

    v: Array
    a: Array
    f: Array
    dependence: Dependence
    M: Array
    inertia: Factors


def reduced_motion(
    net: Network, on: Setting, q: Array, v_I: Array, tau: Array, held: Sequence[Held], parts: Partition, given: Loads
) -> Reduced:
    """The motion at q (nq,), which satisfies the contacts."""
    I, D = list(parts.independent), list(parts.dependent)
    J = contact_jacobian(net, on, q, held) if held else np.zeros((0, net.model.nv))
    dependence = Dependence.of(parts, J)
    v = parts.whole(v_I, dependence.N_D @ v_I)
    g = np.zeros(len(I) + len(D), dtype=object)
    if held:
        drift = held_accelerations(held, _motions(net, on, held, q, v, np.zeros(len(v))), np.zeros(3))
        g = parts.whole(np.zeros(len(I)), -dependence.solve(drift[:, None])[:, 0])
    rest: Any = tau - sweep_forces(net, on, q, v, g, given)[0]
    M = composite_mass_matrix(net, on, q)
    inertia = factorise(_dense(len(I)), dependence.project(dependence.project(M).T))
    own = inertia.solve(dependence.project(rest))
    moved = dependence.N @ own
    f = dependence.solve_transposed((M[D] @ moved - rest[D])[:, None])[:, 0]
    return Reduced(v, moved + g, f, dependence, M, inertia)


def _dense(n: int) -> dict[int, tuple[int, ...]]:
    return {k: tuple(reversed(range(k))) for k in range(n)}


def _motions(net: Network, on: Setting, held: Sequence[Held], q: Array, v: Array, a: Array) -> Any:
    """Motions of the frames in contact."""
    kept = dict.fromkeys(c.name for h in held for c, _ in net.path(h.port))
    path = replace(net, components=tuple(c for c in net.components if c.name in kept))
    return sweep_motion(path, on, q, v, a)


class Sensitivities(NamedTuple):
    """Derivatives of a_I (independent, any) and of f (rows, any) by q_I, v_I (along the rates) and tau."""

    a_q: Array
    a_v: Array
    a_tau: Array
    f_q: Array
    f_v: Array
    f_tau: Array


def sensitivities(
    net: Network,
    on: Setting,
    q: Array,
    held: Sequence[Held],
    found: Reduced,
    slopes: tuple[Array, Array, Array],
) -> Sensitivities:
    """Exact derivatives at a motion; ``slopes``: d tau / dq, dv, da of the inverse dynamics there, without contacts."""
    D_q, D_v, _ = slopes
    dependence, N, parts = found.dependence, found.dependence.N, found.dependence.parts
    n, count = N.shape
    B, E_q, E_v, turned = (_zeros(n, count), _zeros(len(found.f), count), _zeros(len(found.f), count), _zeros(n, count))
    on_path = {k for h in held for c, _ in net.path(h.port) for ties in c.ties for k, _ in ties}
    for k, rate in enumerate(parts.independent):
        if rate not in on_path:
            continue
        moved = with_rates(q, coordinate_rates(net.model, q, N[:, k]), 1)
        swing = rates_of(held_velocities(held, _motions(net, on, held, moved, found.v, found.a)), 1)
        B[list(parts.dependent), k] = -dependence.solve(swing[:, None])[:, 0]
        moving = with_rates(found.v, B[:, k], 1)
        E_q[:, k] = _slope(net, on, held, moved, moving, found.a)
        E_v[:, k] = _slope(net, on, held, q, with_rates(found.v, N[:, k], 1), found.a)
        turned[:, k] = rates_of(contact_jacobian(net, on, moved, held), 1).T @ found.f
    X_q, X_v = D_q @ N + D_v @ B - turned, D_v @ N
    a_q, f_q = _solved(found, X_q, E_q)
    a_v, f_v = _solved(found, X_v, E_v)
    a_tau, f_tau = _solved(found, -np.eye(n), _zeros(len(found.f), n))
    return Sensitivities(a_q, a_v, a_tau, f_q, f_v, f_tau)


def _slope(net: Network, on: Setting, held: Sequence[Held], q: Array, v: Array, a: Array) -> Array:
    return rates_of(held_accelerations(held, _motions(net, on, held, q, v, a), np.zeros(3)), 1)


def _solved(found: Reduced, X: Array, E: Array) -> tuple[Array, Array]:
    """Changes of a_I and of f for those of the forces, X (nv, any), and of the contacts' accelerations, E."""
    dependence, parts = found.dependence, found.dependence.parts
    D = list(parts.dependent)
    yielded = -dependence.solve(E)
    X = X + found.M[:, D] @ yielded if D else X
    own = found.inertia.solve(-dependence.project(X))
    change = found.M[D] @ (dependence.N @ own) + X[D]
    return own, dependence.solve_transposed(change)


def _zeros(*shape: int) -> Array:
    x: Any = np.zeros(shape, dtype=object)
    x[...] = 0.0
    return x
