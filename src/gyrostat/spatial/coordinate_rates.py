"""Rates of the coordinates of one joint from its rates v, in code that can be recorded."""

from __future__ import annotations

import numpy as np

from gyrostat.geometry.rotation import from_quaternion
from gyrostat.spatial.algebra import Array
from gyrostat.spatial.so3_recorded import quaternion_rate


def rates_of_coordinates(q: Array, v: Array, quaternion_at: int | None) -> Array:
    """dq/dt of one joint, whose quaternion, if it has one, is at a place of q."""
    if quaternion_at is None:
        return v
    quaternion = q[quaternion_at:]
    turning = quaternion_rate(quaternion, v[:3])
    return np.concatenate([from_quaternion(quaternion) @ v[3:], turning]) if quaternion_at else turning
