"""Rates of coordinates from rates v, in code that can be recorded; see ``configuration.manifold`` for the whole
manifold."""

from __future__ import annotations

import numpy as np

from gyrostat.spatial.algebra import Array
from gyrostat.spatial.coordinate_rates import rates_of_coordinates
from gyrostat.spec.model import Model


def coordinate_rates(model: Model, q: Array, v: Array) -> Array:
    """dq/dt (nq,): q' = v, quaternions q' = q (x) (w, 0) / 2, positions of free joints p' = R u."""
    parts = [rates_of_coordinates(q[block.q], v[block.v], block.quaternion_at) for block in model.layout]
    return np.concatenate(parts) if parts else np.zeros(0)
