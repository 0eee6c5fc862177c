"""dq/dt of the coordinates for rates v, in code that can be recorded; see ``configuration.manifold`` for the whole
manifold."""

from __future__ import annotations

import numpy as np

from gyrostat.spatial.algebra import Array
from gyrostat.spatial.rotation import from_quaternion
from gyrostat.spec.model import Model


def coordinate_rates(model: Model, q: Array, v: Array) -> Array:
    """dq/dt (nq,): q' = v, quaternions q' = q (x) (w, 0) / 2, positions of free joints p' = R u."""
    found: list[Array] = []
    nq = nv = 0
    for _, names, rates, at in model.stateful:
        found.append(rates_of_coordinates(q[nq : nq + len(names)], v[nv : nv + len(rates)], at))
        nq, nv = nq + len(names), nv + len(rates)
    return np.concatenate(found) if found else np.zeros(0)


def rates_of_coordinates(q: Array, v: Array, quaternion_at: int | None) -> Array:
    """dq/dt of one joint."""
    if quaternion_at is None:
        return v
    turn = q[quaternion_at:]
    turning = quaternion_rate(turn, v[:3])
    return np.concatenate([from_quaternion(turn) @ v[3:], turning]) if quaternion_at else turning


def quaternion_rate(q: Array, w: Array) -> Array:
    """Rate of the quaternion x y z w of a frame that turns with the angular velocity w, in its own axes."""
    x, y, z, s = q
    return 0.5 * np.array(
        [
            s * w[0] + y * w[2] - z * w[1],
            s * w[1] + z * w[0] - x * w[2],
            s * w[2] + x * w[1] - y * w[0],
            -x * w[0] - y * w[1] - z * w[2],
        ]
    )
