"""Start points of searches: configurations evenly over the limits, always the same ones."""

from __future__ import annotations

import numpy as np

from gyrostat.spec.model import Model

Array = np.ndarray


def start_points(model: Model, low: Array, high: Array, count: int, skip: int = 0) -> Array:
    """q (count, nq): points ``skip``, skip + 1, ... of an additive quasi-random sequence (Kronecker's).

    Between the limits; without any, angles over the circle, shifts over [-1, 1] m; quaternions over all rotations.
    Point i has the fractional parts of 1/2 + (i + 1) g^-k, k = 1, 2, ..., where g > 1 solves g^(d+1) = g + 1, d = nq.
    """
    layout = model.layout
    x = _sequence(model.nq, count, skip)
    q = np.empty((count, model.nq))
    reach = np.ones(model.nq)
    reach[layout.periodic_q] = np.pi
    lower = np.where(np.isfinite(low), low, np.where(np.isfinite(high), high - 2.0 * reach, -reach))
    upper = np.where(np.isfinite(high), high, np.where(np.isfinite(low), low + 2.0 * reach, reach))
    q[:] = lower + x * (upper - lower)
    for block in layout.turning:
        q[:, block.quaternion] = _rotations(x[:, block.quaternion][:, :3])
    positions = layout.positions.ravel()
    q[:, positions] = 2.0 * x[:, positions] - 1.0
    return q


def with_held(model: Model, q: Array, start: Array, held: Array) -> Array:
    """q (..., nq) with the coordinates of held rates (nv,) as in ``start``; a quaternion or placement as a whole."""
    for block in model.layout:
        holds = held[block.v]
        taken = np.full(block.nq, holds.any()) if block.turns else holds
        places = block.q.start + np.flatnonzero(taken)
        q[..., places] = start[..., places]
    return q


def _sequence(dimensions: int, count: int, skip: int) -> Array:
    g = 2.0
    for _ in range(60):
        g = (1.0 + g) ** (1.0 / (dimensions + 1))
    steps = g ** -np.arange(1.0, dimensions + 1)
    return np.mod(0.5 + np.arange(skip + 1, skip + count + 1)[:, None] * steps, 1.0)


def _rotations(x: Array) -> Array:
    """Unit quaternions (N, 4), uniform over all rotations for x (N, 3) uniform in the cube (Shoemake)."""
    a, b = np.sqrt(1.0 - x[:, 0]), np.sqrt(x[:, 0])
    s, c = 2.0 * np.pi * x[:, 1], 2.0 * np.pi * x[:, 2]
    return np.stack([a * np.sin(s), a * np.cos(s), b * np.sin(c), b * np.cos(c)], axis=1)
