"""Rates of coordinates from rates v, in code that can be recorded; see ``configuration.manifold`` for the whole
manifold."""

from __future__ import annotations

import numpy as np

from gyrostat.geometry.rotation import from_quaternion
from gyrostat.spatial.algebra import Array
from gyrostat.spatial.so3_recorded import quaternion_rate
from gyrostat.spec.model import Model


def coordinate_rates(model: Model, q: Array, v: Array) -> Array:
    """dq/dt (nq,): q' = v, quaternions q' = q (x) (w, 0) / 2, positions of free joints p' = R u."""
    parts = [rates_of_coordinates(q[block.q], v[block.v], block.quaternion_at) for block in model.layout]
    return np.concatenate(parts) if parts else np.zeros(0)


def rates_of_coordinates(q: Array, v: Array, quaternion_at: int | None) -> Array:
    """dq/dt of one joint, whose quaternion, if it has one, is at a place of q."""
    if quaternion_at is None:
        return v
    quaternion = q[quaternion_at:]
    turning = quaternion_rate(quaternion, v[:3])
    return np.concatenate([from_quaternion(quaternion) @ v[3:], turning]) if quaternion_at else turning
