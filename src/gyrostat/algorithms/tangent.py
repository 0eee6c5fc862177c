"""dq/dt of the coordinates for rates v, in code that can be recorded; see ``solvers.manifold`` for the whole
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
        q_j, v_j = q[nq : nq + len(names)], v[nv : nv + len(rates)]
        if at is None:
            found.append(v_j)
        else:
            turn = q_j[at:]
            if at:
                found.append(from_quaternion(turn) @ v_j[3:])
            found.append(quaternion_rate(turn, v_j[:3]))
        nq, nv = nq + len(names), nv + len(rates)
    return np.concatenate(found) if found else np.zeros(0)


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
