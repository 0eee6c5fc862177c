"""GMRES for several right-hand sides at once, each with a matrix of its own: one product with all of them a step."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

Array = np.ndarray


def gmres(apply: Callable[[Array], Array], B: Array, tolerance: float, steps: int = 40) -> Array:
    """X (n, k) with apply(X) ~ B, where ``apply`` acts on each column by itself, linearly.

    Without restart [Saad, Schultz, SIAM J. Sci. Stat. Comp. 7 (1986) 856-869]; it ends when every residual is below
    ``tolerance`` times its right-hand side, or after ``steps`` products, as far as it then came."""
    n, k = B.shape
    size = np.sqrt(np.einsum("ij,ij->j", B, B))
    basis = [B / np.where(size > 0.0, size, 1.0)]
    H = np.zeros((k, steps + 1, steps))
    done, X = 0, np.zeros((k, 0))
    for step in range(steps):
        W = apply(basis[-1])
        for _ in range(2):  # twice is enough
            for i, V in enumerate(basis):
                h = np.einsum("ij,ij->j", V, W)
                H[:, i, step] += h
                W = W - V * h
        norm = np.sqrt(np.einsum("ij,ij->j", W, W))
        H[:, step + 1, step] = norm
        basis.append(W / np.where(norm > 0.0, norm, 1.0))
        done = step + 1
        X, left = _least_squares(H[:, : done + 1, :done], size)
        if np.all(left <= tolerance * size):
            break
    return sum((basis[i] * X[:, i] for i in range(done)), np.zeros((n, k)))


def _least_squares(H: Array, size: Array) -> tuple[Array, Array]:
    """Coefficients (k, steps) of least residual, and the residuals (k,)."""
    e = np.zeros(H.shape[:2])
    e[:, 0] = size
    X = np.stack([np.linalg.lstsq(h, b, rcond=None)[0] for h, b in zip(H, e, strict=True)])
    return X, np.linalg.norm(np.einsum("kij,kj->ki", H, X) - e, axis=1)
