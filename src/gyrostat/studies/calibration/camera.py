"""One camera that looks at markers: pixels, with intrinsics and place of the camera known or not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from gyrostat.spatial import so3
from gyrostat.studies.calibration.measurement import Measurement, OwnUnknown, Rows, no_properties, point_motion
from gyrostat.studies.calibration.pose_measurements import marker_unknowns

Array = np.ndarray
FORWARD = "z forward, x to the right, y down in the picture"
NEAREST = 1e-3
"""Least distance [m] of a marker in front of the camera."""


@dataclass(frozen=True, eq=False)
class Camera(Measurement):
    """Pixels (n, m, 2) of m ``markers`` (m, 3) that one camera sees at n poses.

    ``frame``: the frame of the robot that carries the markers; None: they are fixed in the world. ``carrier``: the
    frame that carries the camera; None: it stands in the world. ``pose`` (4, 4): the camera in its carrier, z forward,
    x to the right, y down. With P = (X, Y, Z) a marker seen from the camera and x = X/Z, y = Y/Z, r^2 = x^2 + y^2,

        u = fx x (1 + k1 r^2 + k2 r^4) + cx,    v = fy y (1 + k1 r^2 + k2 r^4) + cy

    ``focal`` (fx, fy) and ``centre`` (cx, cy) [pixels], ``distortion`` (k1, k2). ``unknown``: some of pose, focal,
    centre, distortion, markers; what is given is where the search begins. ``seen`` (n, m): which markers were seen.
    ``std`` [pixels]; ``picture`` (width, height) [pixels], outside of which a planned camera sees nothing."""

    what: ClassVar[str] = "camera"
    unit: ClassVar[str] = "pixel"
    usual: ClassVar[float] = 0.1
    together: ClassVar[int] = 2

    q: Any
    pixels: Any = None
    markers: Any = ((0.0, 0.0, 0.0),)
    frame: str | None = None
    carrier: str | None = None
    pose: Any = None
    focal: Any = (1000.0, 1000.0)
    centre: Any = (500.0, 500.0)
    distortion: Any = (0.0, 0.0)
    picture: Any = None
    unknown: tuple[str, ...] = ()
    std: Any = None
    covariance: Any = None
    properties: Mapping[str, Any] = no_properties()
    seen: Any = None
    name: str = "camera"

    def __post_init__(self) -> None:
        self.chosen(self.unknown, ("pose", "focal", "centre", "distortion", "markers"))
        b = self.array("markers", self.markers, None)
        if b.ndim != 2 or b.shape[1] != 3 or not len(b):
            raise self.refused(f"markers have shape {b.shape}", "(m, 3)")
        if self.pose is None:
            raise self.refused(
                "the pose of the camera is not given", f"pose=(4, 4): {FORWARD}; unknown=('pose',) finds it"
            )
        self.expect_placements("pose", self.array("pose", self.pose, (4, 4)))
        for word in ("focal", "centre", "distortion"):
            self.array(word, getattr(self, word), (2,))
        if not np.all(np.asarray(self.focal, dtype=float) > 0.0):
            raise self.refused(f"focal is {self.focal}", "two positive numbers of pixels")
        if self.picture is not None:
            self.array("picture", self.picture, (2,))
        if self.frame is None and self.carrier is None:
            raise self.refused("neither camera nor markers move", "frame or carrier")
        self.check()
        if self.pixels is not None:
            self.keep("pixels", (self.count, len(b), 2))

    @property
    def planned(self) -> bool:
        return self.pixels is None

    @property
    def frames(self) -> tuple[str, ...]:
        return tuple(f for f in (self.frame, self.carrier) if f is not None)

    @property
    def width(self) -> int:
        return 2 * len(np.asarray(self.markers))

    def row_names(self) -> list[str]:
        return [f"{k + 1}{c}" for k in range(self.width // 2) for c in "uv"]

    def own_unknowns(self) -> list[OwnUnknown]:
        found = []
        if "pose" in self.unknown:
            T = np.asarray(self.pose, dtype=float)
            found += [OwnUnknown(f"{self.name}.{c}", float(T[j, 3]), "m", 1.0) for j, c in enumerate("xyz")]
            found += [OwnUnknown(f"{self.name}.r{c}", 0.0, "rad", 1.0) for c in "xyz"]
        for word, letters in (("focal", ("fx", "fy")), ("centre", ("cx", "cy")), ("distortion", ("k1", "k2"))):
            if word in self.unknown:
                x = np.asarray(getattr(self, word), dtype=float)
                far = 1.0 if word == "distortion" else 0.3 * float(np.mean(np.asarray(self.focal)))
                unit = "" if word == "distortion" else "pixel"
                found += [OwnUnknown(f"{self.name}.{c}", float(x[k]), unit, far) for k, c in enumerate(letters)]
        return found + (marker_unknowns(self.name, self.markers) if "markers" in self.unknown else [])

    def _split(self, y: Array) -> tuple[dict[str, slice], Array, Array, Array, Array, Array]:
        sizes = {"pose": 6, "focal": 2, "centre": 2, "distortion": 2, "markers": np.asarray(self.markers).size}
        at, where = 0, {}
        for word, size in sizes.items():
            if word in self.unknown:
                where[word] = slice(at, at + size)
                at += size
        T = np.array(self.pose, dtype=float)
        if "pose" in where:
            x = y[where["pose"]]
            T[:3, 3], T[:3, :3] = x[:3], _exp(x[3:]) @ T[:3, :3]
        rest = [y[where[w]] if w in where else np.asarray(getattr(self, w), float).ravel() for w in list(sizes)[1:]]
        return where, T, rest[0], rest[1], rest[2], rest[3].reshape(-1, 3)

    def rows(self, R: Sequence[Array], p: Sequence[Array], y: Array) -> Rows:
        where, T, f, centre, k, markers = self._split(y)
        n, m, moving = len(R[0]), len(markers), self.frame is not None
        E, e = T[:3, :3], T[:3, 3]
        Rk, pk = (
            (R[-1], p[-1]) if self.carrier is not None else (np.broadcast_to(np.eye(3), (n, 3, 3)), np.zeros((n, 3)))
        )
        r, own = np.zeros((n, m, 2)), np.zeros((n, m, 2, len(y)))
        D = [np.zeros((n, m, 2, 6)) for _ in R]
        turned = y[where["pose"]][3:] if "pose" in where else np.zeros(3)
        turn = np.column_stack([so3.left_jacobian(turned, unit) for unit in np.eye(3)])
        for j, b in enumerate(markers):
            arm, moved = point_motion(R[0], b) if moving else (np.broadcast_to(b, (n, 3)), None)
            point = p[0] + arm if moving else arm
            Y = np.einsum("nji,nj->ni", Rk, point - pk)  # seen from the carrier
            P = (Y - e) @ E
            r[:, j], dr, shape, k_slopes = self._pixels(j, P, f, centre, k)
            dP = np.einsum("nij,jk->nik", dr, E.T)  # by a shift of the point in the carrier's axes
            dw = np.einsum("nik,nlk->nil", dP, Rk)  # in the world's
            if moving:
                D[0][:, j] = dw @ moved
            if self.carrier is not None:
                _, carried = point_motion(np.broadcast_to(np.eye(3), (n, 3, 3)), np.zeros(3))
                s = point - pk
                carried = carried.copy()
                carried[:, 0, 1], carried[:, 0, 2], carried[:, 1, 0] = s[:, 2], -s[:, 1], -s[:, 2]
                carried[:, 1, 2], carried[:, 2, 0], carried[:, 2, 1] = s[:, 0], s[:, 1], -s[:, 0]
                D[-1][:, j] -= dw @ carried
            if "pose" in where:
                at, out = where["pose"].start, Y - e
                own[:, j, :, at : at + 3] = -dP
                across = np.stack([np.cross(turn[:, c], out) for c in range(3)], axis=-1)
                own[:, j, :, at + 3 : at + 6] = -dP @ across
            for word, slopes in (("focal", shape), ("distortion", k_slopes)):
                if word in where:
                    own[:, j, :, where[word]] = slopes
            if "centre" in where:
                own[:, j, :, where["centre"]] = np.eye(2)
            if "markers" in where:
                at = where["markers"].start + 3 * j
                own[:, j, :, at : at + 3] = dw @ R[0] if moving else dw
        if self.pixels is not None:
            r -= np.asarray(self.pixels, dtype=float)
        return Rows(r.reshape(n, 2 * m), tuple(x.reshape(n, 2 * m, 6) for x in D), own.reshape(n, 2 * m, len(y)))

    def _pixels(self, marker: int, P: Array, f: Array, centre: Array, k: Array) -> tuple[Array, Array, Array, Array]:
        """Pixels (n, 2), and derivatives by P (n, 2, 3), focal lengths and distortion (n, 2, 2)."""
        behind = P[:, 2] < NEAREST
        if np.any(behind & self._needed(marker)):
            pose = int(np.flatnonzero(behind)[0])
            raise self.refused(f"at pose {pose} a marker is behind the camera", f"a pose with {FORWARD}")
        Z = np.where(behind, 1.0, P[:, 2])
        x = P[:, :2] / Z[:, None]
        r2 = np.sum(x * x, axis=1)
        g, dg = 1.0 + k[0] * r2 + k[1] * r2 * r2, k[0] + 2.0 * k[1] * r2
        dx = np.zeros((len(P), 2, 3))
        dx[:, 0, 0] = dx[:, 1, 1] = 1.0 / Z
        dx[:, :, 2] = -x / Z[:, None]
        bent = g[:, None, None] * np.eye(2) + 2.0 * dg[:, None, None] * x[:, :, None] * x[:, None, :]
        slope = f[:, None] * (bent @ dx)
        shape = (x * g[:, None])[:, :, None] * np.eye(2)
        by_k = (f * x)[:, :, None] * np.stack([r2, r2 * r2], axis=-1)[:, None, :]
        return f * x * g[:, None] + centre, slope, shape, by_k

    def in_view(self, R: Sequence[Array], p: Sequence[Array]) -> Array:
        """(n,): whether all markers are in front of the camera, and in its picture."""
        _, T, f, centre, k, markers = self._split(np.array([o.start for o in self.own_unknowns()]))
        Rk, pk = (R[-1], p[-1]) if self.carrier is not None else (np.eye(3)[None], np.zeros((1, 3)))
        view = np.ones(len(R[0]), dtype=bool)
        for b in markers:
            point = p[0] + R[0] @ b if self.frame is not None else np.broadcast_to(b, (len(R[0]), 3))
            P = (np.einsum("nji,nj->ni", np.broadcast_to(Rk, R[0].shape), point - pk) - T[:3, 3]) @ T[:3, :3]
            front = P[:, 2] > NEAREST
            view &= front
            if self.picture is not None:
                x = P[:, :2] / np.where(front, P[:, 2], 1.0)[:, None]
                r2 = np.sum(x * x, axis=1)
                u = f * x * (1.0 + k[0] * r2 + k[1] * r2 * r2)[:, None] + centre
                view &= np.all((u >= 0.0) & (u <= np.asarray(self.picture, dtype=float)), axis=1)
        return view

    def _needed(self, marker: int) -> Array:
        """(n,): where this marker was seen."""
        return self.visible()[:, 2 * marker]


def _exp(x: Array) -> Array:
    return np.array(so3.exp(x), dtype=float)
