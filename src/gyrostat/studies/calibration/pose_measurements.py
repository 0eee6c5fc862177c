"""Measured placements of a frame, and measured points on it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from gyrostat.geometry.rotation import quaternion_of
from gyrostat.spatial import so3
from gyrostat.studies.calibration.measurement import Measurement, OwnUnknown, Rows, no_properties, point_motion

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Poses(Measurement):
    """Placements of a frame in the world: ``poses`` (n, 4, 4), homogeneous matrices.

    ``std``: (of angles [rad], of positions [m]), or six numbers rx ry rz x y z; ``covariance`` (6, 6) or (n, 6, 6) in
    that order, in the world's axes. Residuals: rotation vector of R R_measured^T, then p - p_measured."""

    what: ClassVar[str] = "poses"
    together: ClassVar[int] = 6

    frame: str
    q: Any
    poses: Any = None
    std: Any = None
    covariance: Any = None
    properties: Mapping[str, Any] = no_properties()
    seen: Any = None
    name: str = "poses"

    def __post_init__(self) -> None:
        self.check()
        if self.poses is None:
            return
        self.expect_placements("poses", self.keep("poses", (self.count, 4, 4), np.eye(4)))

    @property
    def planned(self) -> bool:
        return self.poses is None

    @property
    def frames(self) -> tuple[str, ...]:
        return (self.frame,)

    @property
    def width(self) -> int:
        return 6

    def row_names(self) -> list[str]:
        return ["rx", "ry", "rz", "x", "y", "z"]

    def own_unknowns(self) -> list[OwnUnknown]:
        return []

    def rows(self, R: Sequence[Array], p: Sequence[Array], y: Array) -> Rows:
        n = len(R[0])
        T = self.poses if self.poses is not None else _matrices(R[0], p[0])
        T = np.asarray(T, dtype=float)
        turned = np.einsum("nij,nkj->nik", R[0], T[:, :3, :3])
        log = so3.log(turned) if n == 0 else np.array([_log(D) for D in turned])
        D = np.zeros((n, 6, 6))
        D[:, 3:, 3:] = np.eye(3)
        for k, x in enumerate(log):
            D[k, :3, :3] = np.column_stack([so3.left_jacobian_inverse(x, e) for e in np.eye(3)])
        return Rows(np.concatenate([log, p[0] - T[:, :3, 3]], axis=1), (D,), np.zeros((n, 6, 0)))


def _log(R: Array) -> Array:
    return so3.quaternion_log(quaternion_of(R))


def _matrices(R: Array, p: Array) -> Array:
    T = np.zeros((len(R), 4, 4))
    T[:, :3, :3], T[:, :3, 3], T[:, 3, 3] = R, p, 1.0
    return T


@dataclass(frozen=True, eq=False)
class Points(Measurement):
    """Points of a frame in the world: ``points`` (n, 3), or (n, m, 3) of m ``markers`` (m, 3) that sit on the frame.

    ``unknown=("markers",)``: where the markers sit is found, too. A marker that was hidden: ``seen`` (n, m) False (its
    numbers do not count). ``std`` [m]: one number, or x y z; ``covariance`` (3, 3) of each point."""

    what: ClassVar[str] = "points"
    together: ClassVar[int] = 3

    frame: str
    q: Any
    points: Any = None
    markers: Any = (0.0, 0.0, 0.0)
    unknown: tuple[str, ...] = ()
    std: Any = None
    covariance: Any = None
    properties: Mapping[str, Any] = no_properties()
    seen: Any = None
    name: str = "points"

    def __post_init__(self) -> None:
        markers = self.array("markers", self.markers, None)
        if markers.ndim not in (1, 2) or markers.shape[-1] != 3 or not len(markers):
            raise self.refused(f"markers have shape {markers.shape}", "(3,) or (m, 3)")
        self.chosen(self.unknown, ("markers",))
        self.check()
        if self.points is not None:
            self.keep("points", (self.count, *markers.shape))

    @property
    def planned(self) -> bool:
        return self.points is None

    @property
    def frames(self) -> tuple[str, ...]:
        return (self.frame,)

    @property
    def width(self) -> int:
        return int(np.asarray(self.markers).size)

    def row_names(self) -> list[str]:
        one = self.width == 3
        return [c if one else f"{k + 1}{c}" for k in range(self.width // 3) for c in "xyz"]

    def own_unknowns(self) -> list[OwnUnknown]:
        return marker_unknowns(self.name, self.markers) if self.unknown else []

    def rows(self, R: Sequence[Array], p: Sequence[Array], y: Array) -> Rows:
        n, b = len(R[0]), (y if self.unknown else np.asarray(self.markers, dtype=float)).reshape(-1, 3)
        m = len(b)
        r, D, own = np.empty((n, m, 3)), np.empty((n, m, 3, 6)), np.zeros((n, m, 3, len(y)))
        for k in range(m):
            arm, D[:, k] = point_motion(R[0], b[k])
            r[:, k] = p[0] + arm
            if self.unknown:
                own[:, k, :, 3 * k : 3 * k + 3] = R[0]
        if self.points is not None:
            r -= np.asarray(self.points, dtype=float).reshape(n, m, 3)
        return Rows(r.reshape(n, 3 * m), (D.reshape(n, 3 * m, 6),), own.reshape(n, 3 * m, len(y)))


def marker_unknowns(name: str, markers: Any) -> list[OwnUnknown]:
    b = np.asarray(markers, dtype=float).reshape(-1, 3)
    return [
        OwnUnknown(f"{name}.marker{k + 1}.{c}", float(b[k, j]), "m", 0.1)
        for k in range(len(b))
        for j, c in enumerate("xyz")
    ]
