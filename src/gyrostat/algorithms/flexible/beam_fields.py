"""Vector fields over a beam, in the axes of a: position r, its rate and its second rate.

Each component is a sum over one family of functions: along x the axial ones, along y and z the shapes. With these
functions integrated against each other once and for all, every integral over the mass is a product of amplitudes and
constant tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gyrostat.spatial.algebra import Array
from gyrostat.spatial.beams.beam_shapes import BeamShapes, dot, product


@dataclass(frozen=True)
class Field:
    """Amplitudes along x, y and z, (k,), (n_y,), (n_z,); ``moments``: means over the mass of the three components times
    each function of the families axial, y and z, (3, k), (3, n_y), (3, n_z)."""

    amplitudes: tuple[Array, Array, Array]
    moments: tuple[Array, Array, Array]

    @staticmethod
    def of(s: BeamShapes, X: Array, y: Array, z: Array) -> Field:
        return Field(
            (X, y, z),
            (
                np.stack([X, product(s.y.P, y), product(s.z.P, z)]),
                np.stack([product(s.y.P.T, X), product(s.y.mass, y), product(s.yz, z)]),
                np.stack([product(s.z.P.T, X), product(s.yz.T, y), product(s.z.mass, z)]),
            ),
        )

    @property
    def mean(self) -> Array:
        """(3,), over the mass: the first axial function is 1."""
        return self.moments[0][:, 0]

    def times(self, other: Field) -> Array:
        """Mean of field other^T, (3, 3)."""
        return np.array([[dot(x, other.moments[i][j]) for j in range(3)] for i, x in enumerate(self.amplitudes)])


@dataclass(frozen=True)
class BeamFields:
    """Position r, its rates dr and ddr seen from a, and ``dX_dq`` (k, n): how positions along the axis change."""

    r: Field
    dr: Field
    ddr: Field
    dX_dq: Array


def beam_fields(s: BeamShapes, L: Any, q: Array, v: Array, a: Array) -> BeamFields:
    """X = x + s + u: the shortening s takes the slopes, u is the stretch."""
    (y, z, t, x), (dy, dz, *_), (ay, az, *_) = (s.split(part) for part in (q, v, a))
    gy, gz = (-np.array([product(G, u) for G in f.G]).reshape(f.P.shape) / L for f, u in ((s.y, y), (s.z, z)))
    dX_dq = np.concatenate([gy, gz, np.zeros((s.axial, len(t))), s.x.P], axis=1)
    X = s.axis * L + (product(gy, y) + product(gz, z)) * 0.5 + product(s.x.P, x)
    bent = [dot(product(s.y.G[k], dy), dy) + dot(product(s.z.G[k], dz), dz) for k in range(s.axial)]
    ddX = product(dX_dq, a) - np.array(bent) / L
    r, dr, ddr = (Field.of(s, *parts) for parts in ((X, y, z), (product(dX_dq, v), dy, dz), (ddX, ay, az)))
    return BeamFields(r, dr, ddr, dX_dq)
