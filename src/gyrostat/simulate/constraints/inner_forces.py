"""Forces that are inside their cones and boxes, among those that do the same; if there are none, the nearest.

    max s   over z, s   with   f = f0 + N z,   f_n >= s,   mu f_n - |f_t| >= s   of every contact,
                                                   f - low >= s,   high - f >= s   of every friction,

by Newton's method on a logarithmic barrier, whose weight shrinks [Boyd, Vandenberghe: Convex Optimization, 11.3]."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

Array = np.ndarray
Cone = tuple[int, float | None]
"""First row of a contact, and its mu; None where there is its normal row alone."""
Box = tuple[int, float, float]
"""Row of a friction, its least and its greatest force."""
ENOUGH = 1e-11
"""Gap to the best, relative to the forces, at which it ends."""


def inner_forces(f0: Array, N: Array, cones: Sequence[Cone], boxes: Sequence[Box] = ()) -> Array:
    """f (m,)."""
    if not N.size:
        return f0
    size = max(1.0, float(np.abs(f0).max()))
    x = np.zeros(N.shape[1] + 1)
    x[-1] = least(f0, cones, boxes) / size - 1.0
    weight, f0 = 1.0, f0 / size
    boxes = [(i, low / size, high / size) for i, low, high in boxes]
    while weight > ENOUGH:
        x = _centred(x, f0, N, cones, boxes, weight)
        weight *= 0.05
        if least(f0 + N @ x[:-1], cones, boxes) > 0.0:  # inside all of them
            break
    return size * (f0 + N @ x[:-1])


def least(f: Array, cones: Sequence[Cone], boxes: Sequence[Box] = ()) -> float:
    """The smallest of all margins."""
    normal = [float(f[i]) for i, _ in cones]
    normal += [min(float(f[i]) - low, high - float(f[i])) for i, low, high in boxes]
    return min([*normal, *(mu * f[i] - float(np.hypot(f[i + 1], f[i + 2])) for i, mu in cones if mu is not None)])


def _centred(x: Array, f0: Array, N: Array, cones: Sequence[Cone], boxes: Sequence[Box], weight: float) -> Array:
    """The centre for a weight of the barrier."""
    for _ in range(30):
        g, H = _slopes(x, f0, N, cones, boxes, weight)
        d = -np.linalg.lstsq(H + 1e-14 * np.trace(H) * np.eye(len(H)), g, rcond=1e-14)[0]
        fall = float(g @ d)
        if -fall < 1e-12 * weight:
            break
        now, length = _barrier(x, f0, N, cones, boxes, weight), 1.0
        while not _barrier(x + length * d, f0, N, cones, boxes, weight) <= now + 0.1 * length * fall:
            length *= 0.5
            if length < 1e-12:
                return x
        x = x + length * d
    return x


def _barrier(x: Array, f0: Array, N: Array, cones: Sequence[Cone], boxes: Sequence[Box], weight: float) -> float:
    f, s = f0 + N @ x[:-1], x[-1]
    total = -s
    for i, low, high in boxes:
        if min(f[i] - low, high - f[i]) <= s:
            return np.inf
        total -= weight * (np.log(f[i] - low - s) + np.log(high - f[i] - s))
    for i, mu in cones:
        inner = [f[i] - s]
        if mu is not None:
            height = mu * f[i] - s
            inner += [height, height**2 - f[i + 1] ** 2 - f[i + 2] ** 2]
        if min(inner) <= 0.0:
            return np.inf
        total -= weight * (np.log(inner[0]) + (np.log(inner[2]) if mu is not None else 0.0))
    return float(total)


def _slopes(
    x: Array, f0: Array, N: Array, cones: Sequence[Cone], boxes: Sequence[Box], weight: float
) -> tuple[Array, Array]:
    """Gradient and Hessian of the barrier."""
    n = len(x)
    f, s = f0 + N @ x[:-1], x[-1]
    g, H = np.zeros(n), np.zeros((n, n))
    g[-1] = -1.0
    last = np.eye(n)[-1]

    def row(i: int) -> Array:
        return np.append(N[i], 0.0)

    for i, low, high in boxes:
        for a, left in ((row(i) - last, f[i] - low - s), (-row(i) - last, high - f[i] - s)):
            g -= weight * a / left
            H += weight * np.outer(a, a) / left**2
    for i, mu in cones:
        a = row(i) - last
        left = f[i] - s
        g -= weight * a / left
        H += weight * np.outer(a, a) / left**2
        if mu is None:
            continue
        B = np.array([mu * row(i) - last, row(i + 1), row(i + 2)])
        y = np.array([mu * f[i] - s, f[i + 1], f[i + 2]])
        D = np.array([1.0, -1.0, -1.0])
        inside = float(y @ (D * y))
        slope = 2.0 * B.T @ (D * y)
        g -= weight * slope / inside
        H += weight * (np.outer(slope, slope) / inside**2 - 2.0 * (B.T * D) @ B / inside)
    return g, H
