"""The linear algebra of constraints: forces of active ones, which of them are active, and impacts.

With the accelerations a of the motion without them, A = J M^-1 J^T (Delassus' matrix) and c = J a + b, forces f along
the rows change the accelerations of the rows to A f + c. Each row either keeps its speed, or moves against a force
at its limit:

    g = A f + c:   g_i = 0 and low_i <= f_i <= high_i,   or   g_i > 0 and f_i = low_i,   or   g_i < 0 and f_i = high_i.

These are the conditions of the least kinetic energy of acceleration, f . A f / 2 + c . f, within the limits (Gauss); g
is unique. Friction has limits on both sides, a stop on one, a closed loop on none. An impact is the same problem with
rates in the place of accelerations and impulses in the place of forces.

A contact that slides has a force along another direction than the row that it keeps: f (J_n - mu d . J_t). Then rows
``J`` and the ``directions`` F of forces differ, A = J M^-1 F^T is not symmetric, and what projects residuals of inverse
dynamics onto the motions that remain is the oblique I - F^T (J F^T)^-1 J, in which forces along F have no part."""

from __future__ import annotations

import numpy as np

from gyrostat.errors import GyrostatError

Array = np.ndarray
ROUNDING = 1e-13
RIDGE = 1e-13
"""Relative part that is added to the diagonal of A where rows depend on each other."""
COST = 1e5
"""Of a force of friction, against one of other rows that hold the same motion: these take the load."""


class ActiveRows:
    """Rows J (k, nv) of active constraints at a state, with their bias b (k,); ``directions`` F (k, nv) of their
    forces, None if these are along the rows. ``spared`` (k,) bool: rows of limited force, which carry only what the
    others cannot."""

    def __init__(
        self, J: Array, bias: Array | None = None, directions: Array | None = None, spared: Array | None = None
    ):
        self.J, self.bias, self.spared = J, bias, spared
        self.F = J if directions is None else directions
        n = J.shape[1]
        self.full = np.linalg.matrix_rank(J) == len(J)
        self.pseudoinverse = np.linalg.pinv(J)
        self.projector = np.eye(n) - self.pseudoinverse @ J
        """I - J^+ J (nv, nv): on the motions that remain."""
        used = np.flatnonzero(np.abs(J).max(axis=0, initial=0.0))
        if self.full and len(used) == len(J):  # single rates, exactly
            self.projector = np.eye(n)
            self.projector[used, used] = 0.0
        self.oblique = self.projector
        """I - F^T (J F^T)^-1 J (nv, nv): of residuals."""
        self.lift = self.pseudoinverse
        """F^T (J F^T)^-1 (nv, k)."""
        if directions is not None:
            G = J @ directions.T
            self.lift = directions.T @ self._sparing(G, np.linalg.pinv(G, rcond=1e-12))
            self.oblique = np.eye(n) - self.lift @ J

    def forces(self, M_inverse: Array, a: Array) -> Array:
        """f (k,) for which J (a + M^-1 F^T f) + b = 0; where they are not unique the smallest, of rows that are
        spared before all."""
        return self._forces(M_inverse, a, self.bias)

    def _forces(self, M_inverse: Array, a: Array, bias: Array | None) -> Array:
        A, c = self.J @ M_inverse @ self.F.T, self.J @ a
        c = c if bias is None else c + bias
        return np.linalg.solve(A, -c) if self.full else self._sparing(A, np.linalg.lstsq(A, -c, rcond=1e-10)[0])

    def _sparing(self, A: Array, f: Array) -> Array:
        """f (k, ...) with the same A f that has the least on the rows that are spared."""
        if self.full or self.spared is None or not self.spared.any():
            return f
        _, s, vt = np.linalg.svd(A)
        N = vt[int(np.sum(s > 1e-10 * s[0])) :].T
        cost = np.where(self.spared, COST, 1.0)
        return f - N @ np.linalg.lstsq((N.T * cost).T, (f.T * cost).T, rcond=1e-14)[0]

    def least(self, M_inverse: Array, asked: Array) -> Array:
        """d (nv,) with J d = asked (k,), the smallest in the metric of the mass matrix."""
        A = self.J @ M_inverse @ self.J.T
        f = np.linalg.solve(A, asked) if self.full else np.linalg.lstsq(A, asked, rcond=1e-10)[0]
        return M_inverse @ (self.J.T @ f)

    def accelerations(self, M_inverse: Array, a: Array) -> Array:
        """a (nv,) with these forces."""
        a = a + M_inverse @ (self.F.T @ self.forces(M_inverse, a))
        return self.projector @ a if self.bias is None else self.projector @ a - self.pseudoinverse @ self.bias

    def acceleration_slopes(self, M_inverse: Array, slopes: Array) -> Array:
        """Derivatives (nv, ...) of accelerations, for those without the constraints; J as it is."""
        return self.projector @ (slopes + M_inverse @ (self.F.T @ self._forces(M_inverse, slopes, None)))

    def residual(self, r: Array, a: Array) -> Array:
        """The residual r (nv,) of inverse dynamics along the motions that remain, and what J a + b = 0 asks of the
        accelerations along the others."""
        r = self.oblique @ r + (a - self.oblique @ a)
        return r if self.bias is None else r + self.lift @ self.bias

    def residual_slopes(self, by_q: Array, by_v: Array, by_a: Array) -> tuple[Array, Array, Array]:
        """Its derivatives by q, v and a, from those of r; J as it is."""
        N = self.oblique
        return N @ by_q, N @ by_v, N @ by_a + np.eye(len(N)) - N


def constraint_forces(A: Array, c: Array, low: Array, high: Array) -> Array:
    """f (k,) of the conditions above, by principal pivoting: all at once, one by one if that goes round in circles
    [Judice and Pires, Comp. Oper. Res. 21 (1994) 587-596]."""
    k = len(c)
    if not k:
        return np.zeros(0)
    if np.linalg.matrix_rank(A, tol=1e-10 * float(np.abs(A).max())) < k:
        A = A + RIDGE * np.trace(A) * np.eye(k)
    at = np.zeros(k, dtype=int)  # 0: active, -1: at low, 1: at high
    best, patience = k + 1, 5
    for _ in range(100 + 20 * 2 ** min(k, 10)):
        f = np.where(at < 0, low, np.where(at > 0, high, 0.0))
        active = at == 0
        if active.any():
            f[active] = np.linalg.solve(
                A[np.ix_(active, active)], -(c[active] + A[np.ix_(active, ~active)] @ f[~active])
            )
        wrong = _violations(A, c, f, low, high, at)
        bad = np.flatnonzero(wrong)
        if not len(bad):
            return f
        best, patience = (len(bad), 5) if len(bad) < best else (best, patience - 1)
        for i in bad if patience > 0 else bad[-1:]:
            at[i] = wrong[i] if active[i] else 0
    raise GyrostatError("the constraints find no forces within their limits")


def _violations(A: Array, c: Array, f: Array, low: Array, high: Array, at: Array) -> Array:
    """(k,): the limit, 1 or -1, that an active force exceeds; not zero where one at its limit must be active again."""
    g = A @ f + c
    scale = ROUNDING * (np.abs(A) @ np.where(np.isfinite(f), np.abs(f), 0.0) + np.abs(c) + 1e-300)
    return np.where(at == 0, (f > high) * 1 - (f < low) * 1, ((at < 0) & (g < -scale)) | ((at > 0) & (g > scale)))


def rates_after_impact(M_inverse: Array, J: Array, v: Array, restitution: Array) -> Array:
    """v+ (nv,) = v + M^-1 J^T s, with the impulses s (k,) that turn the speeds w = J v round: w+ = -e w [Newton]. Rows
    with e = 0 come to rest, or stay there."""
    unbounded, w = np.full(len(J), np.inf), J @ v
    s = constraint_forces(J @ M_inverse @ J.T, w + restitution * w, -unbounded, unbounded)
    return v + M_inverse @ J.T @ s
