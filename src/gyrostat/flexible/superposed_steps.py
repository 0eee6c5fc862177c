"""Steps of the linear, time-dependent equations of small vibrations, for all cases at once.

Lobatto's methods IIIA: the equations hold at the recorded instants themselves, so that nothing is interpolated.
``trapezoid`` takes two samples for a step and is the average acceleration of [AS (7)], order 2; ``simpson`` takes
three, order 4. Both are stable for all frequencies and take no energy out of the vibration.

With a_ij of the table, h the step, A_i the accelerations at its instants,

    V_i = v + h sum a_ij A_j,    U_i = u + h sum a_ij V_j,    M_i A_i + D_i V_i + K_i U_i = F_i - r_i,

which is one linear system for A_2 (and A_3), n or 2 n unknowns. Cases that share M, D, K and the slopes of the drives
share its factors: one factorisation for a step of thousands. Laws that are not linear take a few iterations with the
slopes at the recorded motion, then with those of each case."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from typing import Any, NamedTuple

import numpy as np

from gyrostat.errors import NonFiniteError, SimulationError
from gyrostat.flexible.superposed_equations import Sample

Array = np.ndarray

TABLES = {
    "trapezoid": np.array([[0.0, 0.0], [1 / 2, 1 / 2]]),
    "simpson": np.array([[0.0, 0.0, 0.0], [5 / 24, 1 / 3, -1 / 24], [1 / 6, 2 / 3, 1 / 6]]),
}
"""a_ij of Lobatto IIIA."""

SETTLED, SLOW, MOST = 1e-11, 8, 40
"""Of the iterations of laws: the last change, as a share of the accelerations; how many with slopes at the recorded
motion; how many in all."""


class State(NamedTuple):
    """Of N cases: U, U', U'' (N, n) and states p of the drives, with their rates (N, m)."""

    U: Array
    V: Array
    A: Array
    p: Array
    p_rate: Array


class Vibration:
    """The equations with their drives: ``equations.sample(k)``, ``drives``; ``rows`` (n',): places in U of the rates
    that the drives act on, -1 where a rate is locked; ``loads(k)`` (N, n): disturbances, or None."""

    def __init__(self, equations: Any, drives: Any, rows: Array, loads: Callable[[int], Array] | None, who: str):
        self.equations, self.drives, self.rows, self.loads, self.who = equations, drives, rows, loads, who
        self.n, self.m = len(equations.free), len(drives.p0)
        self.into = np.zeros((len(rows), self.n))  # efforts of the rigid model's rates to rows of U
        self.into[rows >= 0, rows[rows >= 0]] = 1.0

    def of_cases(self, cases: slice) -> Vibration:
        """The same for some of the cases."""
        twin, loads = copy(self), self.loads
        twin.equations, twin.drives = self.equations.of_cases(cases), self.drives.of_cases(cases)
        twin.loads = None if loads is None else lambda k: some(loads(k), cases)
        return twin

    def start(self, U: Array, V: Array, p: Array) -> State:
        """Accelerations at the first instant."""
        s = self.equations.sample(0)
        blank = State(U, V, np.zeros_like(U), p, np.zeros_like(p))
        residual, rate = self._residual(0, s, blank)
        A = -np.linalg.solve(np.broadcast_to(s.M, (len(U), self.n, self.n)), residual[..., None])[..., 0]
        return blank._replace(A=A, p_rate=rate)

    def advance(self, k: int, table: Array, h: float, x: State) -> list[State]:
        """States at the instants after t[k] of one step."""
        count = len(table) - 1
        samples = [self.equations.sample(k + i + 1) for i in range(count)]
        square = table @ table
        A = np.tile(x.A, (count, 1, 1))
        rate = np.tile(x.p_rate, (count, 1, 1))
        solve: Callable[[Array], Array] | None = None
        stages: list[State] = []
        for iteration in range(MOST):
            stages = self.stages(table, h, x, A, rate)
            residuals = [self._residual(k + i + 1, s, y) for i, (s, y) in enumerate(zip(samples, stages, strict=True))]
            left = np.concatenate([part for i, (f, g) in enumerate(residuals) for part in (f, rate[i] - g)], axis=1)
            if solve is None or iteration >= SLOW:
                at = None if iteration < SLOW else stages
                solve = _solver(self._matrix(k, table, square, h, samples, x, at))
            step = solve(left).reshape(len(left), count, self.n + self.m).swapaxes(0, 1)
            A, rate = A - step[..., : self.n], rate - step[..., self.n :]
            if not np.isfinite(A).all():
                raise NonFiniteError(f"{self.who}: the vibration is not finite after {self.equations.t[k]:g} s")
            if self.drives.linear or np.abs(step).max(initial=0.0) <= SETTLED * (1.0 + np.abs(A).max(initial=0.0)):
                return self.stages(table, h, x, A, rate)
        raise SimulationError(
            f"{self.who}: the efforts of the drives were not found at {self.equations.t[k]:g} s in {MOST} iterations. "
            "Hint: a smaller dt, or a law without jumps"
        )

    def sag(self, elastic: Sequence[int]) -> Array:
        """U (C, n) that the loads of the first instant cause at rest, of the rates ``elastic`` of the model alone."""
        s = self.equations.sample(0)
        here = np.flatnonzero(np.isin(self.equations.free, elastic))
        load = s.r if self.loads is None else s.r - self.loads(0)
        U = np.zeros(np.broadcast_shapes(load.shape, (len(s.K), self.n)))
        K = np.broadcast_to(s.K[:, here[:, None], here], (len(U), len(here), len(here)))
        U[:, here] = -np.linalg.solve(K, np.broadcast_to(load, U.shape)[:, here, None])[..., 0]
        return U[0] if len(U) == 1 else U

    def torques(self, k: int, x: State) -> Array:
        """Efforts (N, n') of the rates that the drives act on; of locked ones, what holds them is not known here."""
        return self.drives.efforts(k, *self._joints(self.equations.turning(k), x.U, x.V), x.p)[0]

    # ------------------------------------------------------------------ one step
    def stages(self, table: Array, h: float, x: State, A: Array, rate: Array) -> list[State]:
        """States at the instants of a step after its first, of their accelerations A (s, N, n) and dp/dt (s, N, m)."""
        square = table @ table
        every, rates = np.concatenate([x.A[None], A]), np.concatenate([x.p_rate[None], rate])
        stages: list[State] = []
        for i in range(1, len(table)):
            V = x.V + h * np.tensordot(table[i], every, 1)
            U = x.U + h * table[i].sum() * x.V + h * h * np.tensordot(square[i], every, 1)
            stages.append(State(U, V, A[i - 1], x.p + h * np.tensordot(table[i], rates, 1), rate[i - 1]))
        return stages

    def _joints(self, turning: Array | None, U: Array, V: Array) -> tuple[Array, Array]:
        """mu and the change of the rates of the rigid model's joints (N, n')."""
        change = V if turning is None else V + U @ turning.T
        return U @ self.into.T, change @ self.into.T

    def _residual(self, k: int, s: Sample, y: State) -> tuple[Array, Array]:
        """M A + D V + K U + r - F (N, n), and dp/dt (N, m)."""
        tau, p_rate = self.drives.efforts(k, *self._joints(s.turning, y.U, y.V), y.p)
        inner = _times(s.M, y.A) + _times(s.D, y.V) + _times(s.K, y.U) + s.r - tau @ self.into
        return (inner if self.loads is None else inner - self.loads(k)), p_rate

    def _matrix(
        self, k: int, table: Array, square: Array, h: float, samples: list[Sample], x: State, at: list[State] | None
    ) -> Array:
        """(C, s (n + m), s (n + m)), of the unknowns (A_2, p_2', A_3, p_3')."""
        n, m, count = self.n, self.m, len(samples)
        closed = [self._closed(k + i + 1, s, x, None if at is None else at[i]) for i, s in enumerate(samples)]
        S = np.zeros((max(len(K) for _, K, *_ in closed), count, n + m, count, n + m))
        for i, (s, (D, K, tau_p, p_U, p_V, p_p)) in enumerate(zip(samples, closed, strict=True)):
            for j in range(count):
                a, b = h * table[i + 1, j + 1], h * h * square[i + 1, j + 1]
                block = S[:, i, :, j]
                block[:, :n, :n] = a * D + b * K
                block[:, :n, n:], block[:, n:, :n], block[:, n:, n:] = -a * tau_p, -a * p_V - b * p_U, -a * p_p
            S[:, i, :n, i, :n] += s.M
            S[:, i, n:, i, n:] += np.eye(m)
        return S.reshape(len(S), count * (n + m), count * (n + m))

    def _closed(self, k: int, s: Sample, x: State, at: State | None) -> tuple[Array, ...]:
        """D and K with the slopes of the drives, and those of p; at the recorded motion, or at the states ``at``."""
        n, m = self.n, self.m
        p = x.p[:1] if at is None and self.drives.shared else x.p
        if at is None:
            mu = rate = np.zeros((len(p), len(self.rows)))
        else:
            (mu, rate), p = self._joints(s.turning, at.U, at.V), at.p
        slopes = self.drives.slopes(k, mu, rate, p)
        if slopes is None:
            zero = np.zeros((1, n, m)), np.zeros((1, m, n)), np.zeros((1, m, n)), np.zeros((1, m, m))
            return s.D, s.K, *zero
        E, turn = self.into, np.zeros((n, n)) if s.turning is None else s.turning
        tau_V, p_V = E.T @ slopes.tau_v @ E, slopes.p_v @ E
        tau_U, p_U = E.T @ slopes.tau_q @ E + tau_V @ turn, slopes.p_q @ E + p_V @ turn
        size = max(len(s.K), len(slopes.tau_q))
        D, K = (np.broadcast_to(x, (size, n, n)) for x in (s.D - tau_V, s.K - tau_U))
        return D, K, E.T @ slopes.tau_p, p_U, p_V, slopes.p_p


def some(x: Array, cases: slice) -> Array:
    """Rows of some cases; what all share, (1, ...), stays."""
    return x if len(x) == 1 else x[cases]


def _times(X: Array, y: Array) -> Array:
    """X (C, n, n) times y (N, n)."""
    return y @ X[0].T if len(X) == 1 else np.einsum("cij,cj->ci", X, y)


def _solver(S: Array) -> Callable[[Array], Array]:
    """y (N, k) -> S^-1 y, of S (C, k, k)."""
    if len(S) == 1:
        return lambda y: np.linalg.solve(S[0], y.T).T
    return lambda y: np.linalg.solve(S, y[..., None])[..., 0]
