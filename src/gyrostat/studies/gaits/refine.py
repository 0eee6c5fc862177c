"""Re-simulation of a collocated motion, interval by interval, and a grid on which its errors are equal.

The error of an interval is how far the motion that begins at its first point, under its linear controls, ends from its
second one. Between the ends an interval is integrated by classical Runge-Kutta steps, extrapolated."""

from __future__ import annotations

import numpy as np

from gyrostat.studies.gaits.collocation import Segment

Array = np.ndarray


def interval_errors(s: Segment, z: Array, weights: Array, steps: int = 12) -> Array:
    """(intervals, ny): of all intervals at once, by classical Runge-Kutta steps, extrapolated from two step sizes."""
    fine, coarse = (_resimulated(s, z, weights, n) for n in (2 * steps, steps))
    return fine + (fine - coarse) / 15.0 - z[1:, : s.ny]


def _resimulated(s: Segment, z: Array, weights: Array, steps: int) -> Array:
    y, u0, u1 = z[:-1, : s.ny].copy(), z[:-1, s.ny :], z[1:, s.ny :]
    h, t0, dt = s.h / steps, s.grid[:-1, None], np.diff(s.grid)[:, None]
    rest = np.tile(weights, (s.intervals, 1))

    def rate(y: Array, w: float) -> Array:
        return s.function.value(np.concatenate([y, u0 + w * (u1 - u0)], axis=1), t0 + w * dt, rest)[:, : s.ny]

    for k in range(steps):
        w, half = k / steps, 0.5 / steps
        k1 = rate(y, w)
        k2 = rate(y + 0.5 * h * k1, w + half)
        k3 = rate(y + 0.5 * h * k2, w + half)
        k4 = rate(y + h * k3, w + 2.0 * half)
        y = y + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
    return y


def equal_errors(s: Segment, errors: Array, order: float = 5.0, smooth: float = 0.25) -> Array:
    """A grid with as many points on which errors (intervals,) ~ h^order would be the same everywhere; no interval more
    than some times as long as its neighbours."""
    width = np.diff(s.grid)
    density = np.maximum(errors, 1e-300) ** (1.0 / order) / width
    density = np.maximum(density, smooth * density.mean())
    for _ in range(3):
        padded = np.concatenate([density[:1], density, density[-1:]])
        density = np.maximum(density, 0.4 * np.maximum(padded[:-2], padded[2:]))
    mass = np.concatenate([[0.0], np.cumsum(density * width)])
    return np.interp(np.linspace(0.0, mass[-1], len(s.grid)), mass, s.grid)


def moved_points(s: Segment, z: Array, F: Array, grid: Array) -> Array:
    """Points (intervals + 1, m) at another grid: states by their cubics, controls by their lines."""
    k = np.clip(np.searchsorted(s.grid, grid, "right") - 1, 0, s.intervals - 1)
    h = s.h[k]
    w = ((grid - s.grid[k]) / np.diff(s.grid)[k])[:, None]
    y0, y1, f0, f1 = z[k, : s.ny], z[k + 1, : s.ny], h * F[k, : s.ny], h * F[k + 1, : s.ny]
    y = y0 * (1 + 2 * w) * (1 - w) ** 2 + f0 * w * (1 - w) ** 2 + y1 * w**2 * (3 - 2 * w) + f1 * w**2 * (w - 1)
    return np.concatenate([y, z[k, s.ny :] * (1 - w) + z[k + 1, s.ny :] * w], axis=1)
