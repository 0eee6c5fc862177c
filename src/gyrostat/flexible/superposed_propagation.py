"""All steps of a run. Linear ones that all cases share are matrices that take the state of one step to the next, made
for many steps at once.

A step of Lobatto's methods with drives that are linear, F = F_0 + F_q mu + F_v mu', gives the accelerations at its
instants as A = P (U, U', U'') + S^-1 (F_0 - r + loads), with P and S^-1 that depend on time alone: thousands of cases
are two products of matrices."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from gyrostat.errors import GyrostatError, NonFiniteError, StateError, clipped, nearest
from gyrostat.flexible.superposed_steps import TABLES, State, Vibration

Array = np.ndarray
STEPS = 128
"""Steps whose matrices are made together."""
GROUP = 64
"""Cases with matrices of their own that are stepped together: these matrices fit into the cache."""


def integrated(vibration: Vibration, table: Array, U: Array, V: Array, cases: int, every: int) -> list[State]:
    """States of all cases at every ``every``-th sample, from U and U' (n,) or (N, n) at the first."""
    U, V = (np.array(np.broadcast_to(np.atleast_2d(x), (cases or 1, vibration.n))) for x in (U, V))
    if shares_all(vibration):
        return propagated(vibration, table, _start(vibration, U, V), every)
    if vibration.equations.shared and vibration.drives.shared:
        return _stepped(vibration, table, _start(vibration, U, V), every)
    groups = [slice(k, k + GROUP) for k in range(0, len(U), GROUP)]
    parts = [(vibration.of_cases(group), U[group], V[group]) for group in groups]
    runs = [_stepped(part, table, _start(part, u, v), every) for part, u, v in parts]
    return [State(*(np.concatenate(x) for x in zip(*states, strict=True))) for states in zip(*runs, strict=True)]


def _start(vibration: Vibration, U: Array, V: Array) -> State:
    return vibration.start(U, V, np.tile(vibration.drives.p0, (len(U), 1)))


def _stepped(vibration: Vibration, table: Array, x: State, every: int) -> list[State]:
    """States at every ``every``-th sample, step by step."""
    t, k, kept = vibration.equations.t, 0, [x]
    while k < len(t) - 1:
        stages = vibration.advance(k, table, float(t[k + len(table) - 1] - t[k]), x)
        kept += [stage for i, stage in enumerate(stages, k + 1) if i % every == 0]
        k, x = k + len(stages), stages[-1]
    return kept


def table_of(method: Any, who: str) -> Array:
    """a_ij of a method."""
    if method not in TABLES:
        raise GyrostatError(f"{who}: there is no method {method!r}. Hint: {nearest(str(method), TABLES)}")
    return TABLES[method]


def whole_number(every: Any, who: str) -> int:
    """How many samples lie between two that are kept, and one."""
    try:
        count = operator.index(every)
    except TypeError:
        count = 0
    if count < 1:
        raise StateError(f"{who}: every must be a whole number from 1 on, got {clipped(every)}")
    return count


def shares_all(vibration: Vibration) -> bool:
    """Whether the matrices below exist: no case has its own, and no law needs iterations or has states."""
    drives: Any = vibration.drives
    return vibration.equations.shared and drives.shared and drives.linear and vibration.m == 0


def propagated(vibration: Vibration, table: Array, x: State, every: int) -> list[State]:
    """States at every ``every``-th sample."""
    t, width, kept = vibration.equations.t, len(table) - 1, [x]
    for begin in range(0, len(t) - 1, STEPS * width):
        count = min(STEPS, (len(t) - 1 - begin) // width)
        P, f, inverse = _matrices(vibration, table, begin, count)
        for step in range(count):
            k = begin + step * width
            A = np.concatenate([x.U, x.V, x.A], axis=1) @ P[step].T + f[step]
            if vibration.loads is not None:
                A = A + np.hstack([vibration.loads(k + i + 1) for i in range(width)]) @ inverse[step].T
            accelerations = A.reshape(len(A), width, -1).swapaxes(0, 1)
            stages = vibration.stages(table, float(t[k + width] - t[k]), x, accelerations, np.zeros((width, len(A), 0)))
            if not np.isfinite(A).all():
                raise NonFiniteError(f"{vibration.who}: the vibration is not finite after {t[k]:g} s")
            kept += [stage for i, stage in enumerate(stages, k + 1) if i % every == 0]
            x = stages[-1]
    return kept


def _matrices(vibration: Vibration, table: Array, begin: int, count: int) -> tuple[Array, Array, Array]:
    """P (count, s n, 3 n), S^-1 (F_0 - r) (count, s n), S^-1 (count, s n, s n), of steps from t[begin] on."""
    width, n = len(table) - 1, vibration.n
    t = vibration.equations.t
    samples = slice(begin + 1, begin + count * width + 1)
    M, D, K, f = (x.reshape(count, width, *x.shape[1:]) for x in _closed(vibration, samples))
    h = (t[begin + width : begin + count * width + 1 : width] - t[begin : begin + count * width : width])[:, None, None]
    square, c = table @ table, table.sum(axis=1)
    S = np.zeros((count, width, n, width, n))
    B = np.zeros((count, width, n, 3 * n))
    for i in range(width):
        Mi, Di, Ki = M[:, i], D[:, i], K[:, i]
        for j in range(width):
            S[:, i, :, j] = float(i == j) * Mi + h * table[i + 1, j + 1] * Di + h * h * square[i + 1, j + 1] * Ki
        first = h * table[i + 1, 0] * Di + h * h * square[i + 1, 0] * Ki
        B[:, i] = np.concatenate([Ki, Di + h * c[i + 1] * Ki, first], axis=2)
    S, B = S.reshape(count, width * n, width * n), B.reshape(count, width * n, 3 * n)
    right = np.concatenate([-B, f.reshape(count, width * n, 1), np.tile(np.eye(width * n), (count, 1, 1))], axis=2)
    solved = np.linalg.solve(S, right)
    return solved[..., : 3 * n], solved[..., 3 * n], solved[..., 3 * n + 1 :]


def _closed(vibration: Vibration, k: slice) -> tuple[Array, Array, Array, Array]:
    """M, D - F_v, K - F_q (samples, n, n), F_0 - r (samples, n)."""
    M, D, K, r = vibration.equations.matrices(k)
    rest = np.zeros((len(M), len(vibration.rows)))
    none = np.zeros((len(M), 0))
    E = vibration.into
    efforts = vibration.drives.efforts(k, rest, rest, none)[0]
    slopes = vibration.drives.slopes(k, rest, rest, none)
    if slopes is not None:
        turning = vibration.equations.turning(k)
        F_v = E.T @ slopes.tau_v @ E
        F_q = E.T @ slopes.tau_q @ E + (0.0 if turning is None else F_v @ turning)
        D, K = D - F_v, K - F_q
    return M, D, K, efforts @ E - r
