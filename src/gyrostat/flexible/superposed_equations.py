"""Small motions U about the recorded rigid motion: linear equations with matrices that depend on time [AS (19)].

    M(t) U'' + D(t) U' + K(t) U = -r(t) + F,     r = tau(q, v, a) of the undeformed flexible model in its rigid motion

M, D, K are the derivatives of inverse dynamics by a, v, q there: nothing of first order in U is left out, neither
Coriolis forces nor the stiffness that rotation and weight give. -r is R of AS: in the rows of deflections the inertia
forces and weights of the rigid motion, in those of joints the efforts that it needs.

Coordinates with quaternions, of a floating base, are displaced along their rates: d v = U' + V~ U, d a = U'' + V~ U' +
A~ U with V, A the twist and its rate, so that D and K get further terms, and U' stays the derivative of U."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from typing import Any, NamedTuple

import numpy as np

from gyrostat.flexible.superposed_nominal import Nominal
from gyrostat.graph.network import kept_network
from gyrostat.solvers.dynamics.closed_contacts import refuse_closed
from gyrostat.solvers.dynamics.derivatives import InverseDynamicsDerivatives
from gyrostat.solvers.dynamics.inverse_dynamics import InverseDynamics
from gyrostat.solvers.kinematics.frame_jacobian import Jacobian
from gyrostat.solvers.machinery.solver_cache import cached_solver
from gyrostat.spatial.algebra import tilde
from gyrostat.spec.model import Model

Array = np.ndarray
STRETCH = 256
"""Samples whose matrices are computed together."""


class Sample(NamedTuple):
    """At one instant: M, D, K (C, n, n), r (C, n); C is 1 where all cases share them. ``turning`` (n, n): V~, or
    None."""

    M: Array
    D: Array
    K: Array
    r: Array
    turning: Array | None


class SuperposedEquations:
    """Along a nominal motion; ``free`` (n,): rates of the model that U stands for. ``live``: physical properties by
    path, each with C values, one for each case."""

    def __init__(self, given: Nominal, free: Sequence[int], live: Mapping[str, Array], who: str):
        self.given, self.free, self.live = given, np.array(free, dtype=int), dict(live)
        self.model: Model = given.model
        kept_network(self.model).refuse_loops(who)
        refuse_closed(self.model, given.q, who)
        paths = tuple(live)
        self._rnea = cached_solver(self.model, InverseDynamics, representation="body", live=paths)
        self._slopes = cached_solver(self.model, InverseDynamicsDerivatives, live=paths)
        self._twists = _twists(self.model, given)
        self._stretch: tuple[int, tuple[Array, ...]] = 0, ()

    @property
    def t(self) -> Array:
        """(T,) [s]."""
        return self.given.t

    def of_cases(self, cases: slice) -> SuperposedEquations:
        """The same for some of the cases."""
        twin = copy(self)
        twin.live = {path: x if len(x) == 1 else x[cases] for path, x in self.live.items()}
        return twin

    @property
    def names(self) -> tuple[str, ...]:
        """Of U."""
        return tuple(self.model.dofs[k] for k in self.free)

    @property
    def shared(self) -> bool:
        """Whether all cases have the same matrices."""
        return not self.live

    def sample(self, k: int) -> Sample:
        """At the instant t[k]."""
        if not self.shared:
            M, D, K, r = (x[0] for x in self.matrices(slice(k, k + 1)))
            return Sample(M, D, K, r, self.turning(k))
        first, rows = self._stretch
        if not rows or not first <= k < first + len(rows[0]):
            first = k
            self._stretch = first, (rows := self.matrices(slice(first, first + STRETCH)))
        M, D, K, r = (x[k - first : k - first + 1] for x in rows)
        return Sample(M, D, K, r, self.turning(k))

    def turning(self, k: int | slice, rate: bool = False) -> Array | None:
        """V~ (..., n, n) at the instants t[k], or A~; None where no coordinate is a quaternion."""
        return None if self._twists is None else self._twists[int(rate)][k][..., self.free[:, None], self.free]

    def matrices(self, k: slice) -> tuple[Array, Array, Array, Array]:
        """M, D, K (samples, [C,] n, n) and r (samples, [C,] n)."""
        M, D, K, r = self._at(k)
        turn, turn_rate = self.turning(k), self.turning(k, rate=True)
        if turn is None or turn_rate is None:
            return M, D, K, r
        if not self.shared:
            turn, turn_rate = turn[:, None], turn_rate[:, None]
        return M, D + M @ turn, K + D @ turn + M @ turn_rate, r

    def jacobian(self, port: str) -> Array:
        """(T, 6, n): displacement of a port for unit U, in its own axes."""
        J = cached_solver(self.model, Jacobian, frame=port, expressed_in="local")(self.given.q)
        return J[..., self.free]

    def torques(self) -> Array:
        """r (T, nv) of all rates, with the properties of the model itself."""
        state = self.given.q, self.given.v, self.given.a
        return cached_solver(self.model, InverseDynamics, representation="body")(*state, **_time(self.model, self.t))

    def _at(self, k: slice) -> tuple[Array, Array, Array, Array]:
        """The same by the rates themselves."""
        state = tuple(x[k] for x in (self.given.q, self.given.v, self.given.a))
        r, slopes = (self._called(solver, state, self.t[k]) for solver in (self._rnea, self._slopes))
        K, D, M = (x[..., self.free[:, None], self.free] for x in slopes)
        return M, D, K, r[..., self.free]

    def _called(self, solver: Any, state: Sequence[Array], t: Array) -> Any:
        """All cases at these instants, in one call of machine code."""
        if not self.live:
            return solver(*state, **_time(self.model, t))
        count = len(self.live)
        inputs = [x[:, None] for x in solver.arguments(state, t if _time(self.model, t) else None)[:-count]]
        return solver.returned(solver.main_kernel().call(*inputs, *(x[None] for x in self.live.values())))


def _time(model: Model, t: Array) -> dict[str, Any]:
    """t, where the base moves as a function of time."""
    return {} if isinstance(model.context.base, str) else {"t": t}


def _twists(model: Model, given: Nominal) -> tuple[Array, Array] | None:
    """V~ and A~ (T, nv, nv) of coordinates with quaternions; None where there are none."""
    if not model.layout.turning:
        return None
    turns = np.zeros((2, len(given.t), model.nv, model.nv))
    for block in model.layout.turning:
        for turn, rates in zip(turns, (given.v, given.a), strict=True):
            for k, rate in enumerate(rates[:, block.v]):
                turn[k][block.v, block.v] = tilde(np.concatenate([rate, np.zeros(6 - block.nv)]))[
                    : block.nv, : block.nv
                ]
    return turns[0], turns[1]
