"""Weighted, robust least squares with bounds: SciPy's trust region on exact Jacobians, in what is identified.

    min  sum_i c^2 rho((e_i(x) / c)^2) / 2     low <= x <= high,    N^T x = N^T x_0

with the directions N that the measurements leave open. Losses: linear, huber, soft_l1, cauchy. Covariance, with psi the
derivative of the loss and B the directions that are identified [Huber]:

    C = mean(psi^2) B H^-1 (B^T J^T J B) H^-1 B^T,    H = mean(psi') B^T J^T J B

which is (J^T J)^-1 for the linear loss and unit weights."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from gyrostat.errors import GyrostatError, clipped, nearest
from gyrostat.studies.calibration.identifiability import open_directions

Array = np.ndarray
LOSSES = {"linear": 1.0, "huber": 1.345, "soft_l1": 1.0, "cauchy": 2.385}
"""Loss -> its scale c in standard deviations (95 % efficient for normal noise where that is known)."""
ROUNDS = 4
HEAVY = 1e4


@dataclass(frozen=True)
class Fit:
    """x (n,), residuals e (rows,), Jacobian J (rows, n), directions N (n, k) that stay, iterations."""

    x: Array
    e: Array
    J: Array
    N: Array
    iterations: int
    finished: bool
    message: str


def read_loss(loss: object, scale: object, who: str) -> tuple[str, float]:
    if not isinstance(loss, str) or loss not in LOSSES:
        raise GyrostatError(
            f"{who}: loss must be one of {', '.join(LOSSES)}, got {clipped(loss)}. Hint: {nearest(str(loss), LOSSES)}"
        )
    if scale is None:
        return loss, LOSSES[loss]
    if isinstance(scale, bool) or not isinstance(scale, int | float) or not 0.0 < scale < np.inf:
        raise GyrostatError(
            f"{who}: loss_scale must be a positive number of standard deviations, got {clipped(scale)}."
        )
    return loss, float(scale)


class LeastSquares:
    """Of residuals and Jacobian as functions of x, between bounds; ``told`` hears of every iteration."""

    def __init__(
        self,
        evaluate: Callable[[Array], Array],
        jacobian: Callable[[Array], Array],
        low: Array,
        high: Array,
        loss: tuple[str, float] = ("linear", 1.0),
        told: Callable[[float], None] = lambda cost: None,
    ):
        self.evaluate, self.jacobian, self.low, self.high = evaluate, jacobian, low, high
        self.loss, self.told = loss, told
        self.iterations = 0
        self.best: Array | None = None

    def fit(self, x0: Array, N: Array | None = None, start: Array | None = None) -> Fit:
        """From ``start``, x0 by default; what is left open stays at x0, and is found unless N is given."""
        x = x0 if start is None else start
        self.iterations, self.best = 0, x
        try:
            if N is not None:
                x = self._minimum(x0, x0, N)
                return self._fitted(x, N, True, "converged")
            N = np.zeros((len(x0), 0))
            for k in range(ROUNDS):
                fresh, _ = open_directions(self.jacobian(x))
                if k and fresh.shape == N.shape and np.linalg.norm(fresh.T @ N, -2 if N.size else None) > 0.999:
                    break
                if k and not fresh.shape[1] and not N.shape[1]:
                    break
                N = fresh
                x = self._minimum(x0, self._on(x, x0, N), N)
            return self._fitted(x, N, True, "converged")
        except KeyboardInterrupt:
            x = x0 if self.best is None else self.best
            N = open_directions(self.jacobian(x))[0] if N is None else N
            return self._fitted(x, N, False, "interrupted: the best of the iterations so far")

    def _on(self, x: Array, x0: Array, N: Array) -> Array:
        """x without what it has moved along directions that stay."""
        return np.clip(x - N @ (N.T @ (x - x0)), self.low, self.high)

    def _minimum(self, anchor: Array, x: Array, N: Array) -> Array:
        from scipy.optimize import least_squares

        known: dict[bytes, Array] = {}
        weight: list[float] = []
        least, rows = np.inf, len(self.jacobian(x))

        def e(z: Array) -> Array:
            nonlocal least
            try:
                r = self.evaluate(z)
            except (
                GyrostatError
            ):  # a step to where the robot does not rest, or behind the camera: a shorter one follows
                if not np.isfinite(least):
                    raise
                return np.full(rows + N.shape[1], 1e3 * np.sqrt(1.0 + least))
            cost = float(r @ r)
            if cost < least:
                least, self.best = cost, z.copy()
            return np.concatenate([r, weight[0] * (N.T @ (z - anchor))])

        def J(z: Array) -> Array:
            key = z.tobytes()
            if key not in known:
                self.iterations += 1
                known.clear()
                known[key] = np.vstack([self.jacobian(z), weight[0] * N.T])
                self.told(least)
            return known[key]

        # heavy: what noise leaves open is seen by the residuals, and these must not pull there
        weight.append(HEAVY * float(np.linalg.norm(self.jacobian(x), 2)) or 1.0)
        name, scale = self.loss
        found = least_squares(
            e, x, jac=J,  # type: ignore[arg-type]
            bounds=(self.low, self.high), method="trf", loss=name, f_scale=scale,
            xtol=1e-9, ftol=1e-10, gtol=1e-8, max_nfev=200,
        )  # fmt: skip
        if found.status == 0:
            raise GyrostatError(
                "calibrate: 200 iterations did not converge. Hint: fewer parameters, a better start of the "
                "measuring system, or bounds."
            )
        return self._on(found.x, anchor, N)

    def _fitted(self, x: Array, N: Array, finished: bool, message: str) -> Fit:
        return Fit(x, self.evaluate(x), self.jacobian(x), N, self.iterations, finished, message)

    def at_bounds(self, x: Array) -> Array:
        """(n,): unknowns that a bound stopped."""
        near = 1e-7 * np.maximum(1.0, np.abs(x))
        return (x - self.low <= near) | (self.high - x <= near)


def weights(e: Array, loss: tuple[str, float]) -> tuple[Array, Array]:
    """psi(e)/e and psi'(e): what a residual counts."""
    name, c = loss
    z = (e / c) ** 2
    if name == "huber":
        inside = z <= 1.0
        return np.where(inside, 1.0, 1.0 / np.sqrt(np.where(inside, 1.0, z))), inside.astype(float)
    if name == "soft_l1":
        return (1.0 + z) ** -0.5, (1.0 + z) ** -1.5
    if name == "cauchy":
        return 1.0 / (1.0 + z), (1.0 - z) / (1.0 + z) ** 2
    return np.ones_like(e), np.ones_like(e)


def covariance(fit: Fit, loss: tuple[str, float], held: Array) -> Array:
    """C (n, n) of x; rows of what is held at a bound, and of directions that stay, are zero."""
    n = len(fit.x)
    free = np.flatnonzero(~held)
    J = fit.J[:, free]
    _, S, Vt = np.linalg.svd(J, full_matrices=False)
    B = Vt[max(1.0, 1e-11 * (S[0] if len(S) else 1.0)) <= S].T
    w, slope = weights(fit.e, loss)
    JB = J @ B
    spread = 1.0 if loss[0] == "linear" else float(np.mean((w * fit.e) ** 2) / np.mean(slope) ** 2)
    C = np.zeros((n, n))
    C[np.ix_(free, free)] = spread * (B @ np.linalg.solve(JB.T @ JB, B.T))
    return C
