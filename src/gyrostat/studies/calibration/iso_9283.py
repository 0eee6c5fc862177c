"""Poses and paths of ISO 9283: the cube in the working space, its inclined plane with five points, and test paths.

Corners C1 ... C4 are the lower face counted anticlockwise from (-x, -y), C5 ... C8 the upper face above them. The
planes are the diagonal ones: "a" C1 C2 C7 C8, "b" C2 C3 C8 C5, "c" C3 C4 C5 C6, "d" C4 C1 C6 C7. P1 is the centre
of the cube, P2 ... P5 lie on the diagonals of the plane, at 10 % of their length from its corners in this order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gyrostat.errors import GyrostatError, clipped, nearest
from gyrostat.solvers.kinematics.inverse.inverse_kinematics import inverse_kinematics
from gyrostat.spec.model import Model
from gyrostat.studies.study_data import StudyData

Array = np.ndarray
PLANES = {"a": (0, 1, 6, 7), "b": (1, 2, 7, 4), "c": (2, 3, 4, 5), "d": (3, 0, 5, 6)}
PATHS = ("line", "rectangle", "large circle", "small circle")
INSET = 0.1
"""Part of a diagonal between a corner of the plane and a point."""


@dataclass(frozen=True, eq=False)
class ISOCube(StudyData):
    """``centre`` (3,) and ``side`` [m] of the cube, with edges along the world's axes; ``plane`` "a" ... "d";
    ``orientation`` (3, 3) of the frame at all poses."""

    centre: Any
    side: float
    plane: str = "a"
    orientation: Any = None

    def __post_init__(self) -> None:
        if np.shape(self.centre) != (3,) or not np.all(np.isfinite(np.asarray(self.centre, dtype=float))):
            raise GyrostatError(f"ISOCube: centre is {clipped(self.centre)}. Hint: (x, y, z) [m].")
        if isinstance(self.side, bool) or not isinstance(self.side, int | float) or not 0.0 < self.side < np.inf:
            raise GyrostatError(f"ISOCube: side must be a positive length, got {clipped(self.side)}.")
        if self.plane not in PLANES:
            raise GyrostatError(f"ISOCube: plane must be a, b, c or d, got {clipped(self.plane)}.")
        if self.orientation is not None:
            R = np.asarray(self.orientation, dtype=float)
            if R.shape != (3, 3) or np.abs(R @ R.T - np.eye(3)).max() > 1e-6 or np.linalg.det(R) < 0.0:
                raise GyrostatError("ISOCube: orientation is no rotation (3, 3).")

    @property
    def corners(self) -> Array:
        """C1 ... C8 (8, 3) [m]."""
        flat = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)])
        unit = np.concatenate([np.column_stack([flat, np.full(4, z)]) for z in (-1.0, 1.0)])
        return np.asarray(self.centre, dtype=float) + 0.5 * self.side * unit

    @property
    def points(self) -> Array:
        """P1 ... P5 (5, 3) [m]."""
        corners, centre = self.corners[list(PLANES[self.plane])], np.asarray(self.centre, dtype=float)
        return np.concatenate([centre[None], centre + (1.0 - 2.0 * INSET) * (corners - centre)])

    @property
    def poses(self) -> Array:
        """(5, 4, 4): P1 ... P5 with the orientation."""
        return self._placed(self.points)

    def path(self, kind: str = "rectangle", samples: int = 100) -> Array:
        """(samples, 4, 4) along a test path: the "line" P2 P4, the "rectangle" P2 P3 P4 P5, the "large circle" about P1
        with 80 % of the side as diameter, or the "small circle" with a tenth of that."""
        if kind not in PATHS:
            raise GyrostatError(
                f"ISOCube.path: {clipped(kind)} is none of {', '.join(PATHS)}. Hint: {nearest(str(kind), PATHS)}"
            )
        if isinstance(samples, bool) or not isinstance(samples, int) or samples < 2:
            raise GyrostatError(f"ISOCube.path: samples must be a whole number from 2 on, got {clipped(samples)}.")
        P, s = self.points, np.linspace(0.0, 1.0, samples)
        if kind == "line":
            return self._placed(P[1] + s[:, None] * (P[3] - P[1]))
        if kind == "rectangle":
            loop = P[[1, 2, 3, 4, 1]]
            length = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(loop, axis=0), axis=1))])
            return self._placed(np.column_stack([np.interp(s * length[-1], length, loop[:, k]) for k in range(3)]))
        e1 = (P[2] - P[1]) / np.linalg.norm(P[2] - P[1])
        e2 = P[4] - P[1] - e1 * (e1 @ (P[4] - P[1]))
        e2 = e2 / np.linalg.norm(e2)
        radius = 0.4 * self.side * (0.1 if kind == "small circle" else 1.0)
        turn = 2.0 * np.pi * s[:, None]
        return self._placed(P[0] + radius * (np.cos(turn) * e1 + np.sin(turn) * e2))

    def _placed(self, points: Array) -> Array:
        T = np.zeros((len(points), 4, 4))
        T[:, :3, :3] = np.eye(3) if self.orientation is None else np.asarray(self.orientation, dtype=float)
        T[:, :3, 3], T[:, 3, 3] = points, 1.0
        return T


def iso_configurations(model: Model, frame: str, cubes: ISOCube | Sequence[ISOCube], q0: Any = None) -> Array:
    """q (5 k, nq) that bring ``frame`` to the five poses of each cube, by inverse kinematics of the model; refused if
    one is out of reach."""
    every = (cubes,) if isinstance(cubes, ISOCube) else tuple(cubes)
    targets = np.concatenate([cube.poses for cube in every])
    found = inverse_kinematics(model, frame, targets, q0)
    if not np.all(found.converged):
        k = int(np.argmin(found.converged))
        raise GyrostatError(
            f"iso_configurations: P{k % 5 + 1} of cube {k // 5 + 1} is out of reach of '{frame}', by "
            f"{1e3 * float(found.position_error[k]):.3g} mm and {float(found.orientation_error[k]):.3g} rad. "
            "Hint: a smaller cube, another centre or orientation."
        )
    return found.q
