"""Measured distances (laser, draw wire, ball-bar), a point that is touched again and again, and touched planes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from gyrostat.studies.calibration.measurement import Measurement, OwnUnknown, Rows, no_properties, point_motion

Array = np.ndarray


class OfMarker(Measurement):
    """Abstract: something of one point ``marker`` (3,) of a frame; ``unknown`` may name it."""

    frame: str
    marker: Any
    unknown: tuple[str, ...]

    @property
    def frames(self) -> tuple[str, ...]:
        return (self.frame,)

    def marker_start(self) -> list[OwnUnknown]:
        if "marker" not in self.unknown:
            return []
        b = np.asarray(self.marker, dtype=float)
        return [OwnUnknown(f"{self.name}.marker.{c}", float(b[j]), "m", 0.1) for j, c in enumerate("xyz")]

    def own_point(self, word: str, start: Any) -> list[OwnUnknown]:
        if word not in self.unknown:
            return []
        x = np.asarray(start, dtype=float)
        return [OwnUnknown(f"{self.name}.{word}.{c}", float(x[j]), "m", 1.0) for j, c in enumerate("xyz")]

    def split(self, y: Array, sizes: Mapping[str, int]) -> dict[str, slice]:
        """Where each unknown is in y."""
        at, found = 0, {}
        for word, size in sizes.items():
            if word in self.unknown:
                found[word] = slice(at, at + size)
                at += size
        return found


@dataclass(frozen=True, eq=False)
class Distances(OfMarker):
    """Distances (n,) [m] of a point ``marker`` of a frame from ``origin``: a point (3,) of the world, or the name of
    another frame. predicted = |p + R marker - origin| + offset.

    A ball-bar, whose centre and length are not known: ``Distances(frame, q, readings, origin=about_here, offset=-0.3,
    unknown=("origin", "offset"))``. ``unknown``: some of origin, offset, marker."""

    what: ClassVar[str] = "distances"

    frame: str
    q: Any
    distances: Any = None
    origin: Any = (0.0, 0.0, 0.0)
    marker: Any = (0.0, 0.0, 0.0)
    offset: float = 0.0
    unknown: tuple[str, ...] = ()
    std: Any = None
    covariance: Any = None
    properties: Mapping[str, Any] = no_properties()
    seen: Any = None
    name: str = "distances"

    def __post_init__(self) -> None:
        self.chosen(self.unknown, ("origin", "offset", "marker"))
        self.array("marker", self.marker, (3,))
        self.array("offset", self.offset, ())
        if not isinstance(self.origin, str):
            self.array("origin", self.origin, (3,))
        elif "origin" in self.unknown:
            raise self.refused("the origin is a frame of the robot", "unknown without 'origin'")
        self.check()
        if self.distances is not None:
            self.keep("distances", (self.count,))

    @property
    def planned(self) -> bool:
        return self.distances is None

    @property
    def frames(self) -> tuple[str, ...]:
        return (self.frame, self.origin) if isinstance(self.origin, str) else (self.frame,)

    @property
    def width(self) -> int:
        return 1

    def own_unknowns(self) -> list[OwnUnknown]:
        length = [OwnUnknown(f"{self.name}.offset", float(self.offset), "m", 0.1)] if "offset" in self.unknown else []
        return self.own_point("origin", self.origin) + length + self.marker_start()

    def rows(self, R: Sequence[Array], p: Sequence[Array], y: Array) -> Rows:
        at = self.split(y, {"origin": 3, "offset": 1, "marker": 3})
        b = y[at["marker"]] if "marker" in at else np.asarray(self.marker, dtype=float)
        arm, D = point_motion(R[0], b)
        origin = p[1] if len(p) > 1 else y[at["origin"]] if "origin" in at else np.asarray(self.origin, dtype=float)
        way = p[0] + arm - origin
        length = np.linalg.norm(way, axis=1)
        if np.any(length < 1e-9):
            raise self.refused("the point lies on the origin, where its distance has no direction", "another origin")
        e = way / length[:, None]
        frames = [np.einsum("ni,nij->nj", e, D)[:, None]]
        if len(p) > 1:
            frames.append(np.concatenate([np.zeros_like(e), -e], axis=1)[:, None])
        own = np.zeros((len(e), 1, len(y)))
        if "origin" in at:
            own[:, 0, at["origin"]] = -e
        if "offset" in at:
            own[:, 0, at["offset"]] = 1.0
        if "marker" in at:
            own[:, 0, at["marker"]] = np.einsum("ni,nij->nj", e, R[0])
        r = length + (y[at["offset"]] if "offset" in at else float(self.offset))
        r = r if self.distances is None else r - np.asarray(self.distances, dtype=float)
        return Rows(r[:, None], tuple(frames), own)


@dataclass(frozen=True, eq=False)
class FixedPoint(OfMarker):
    """A point ``marker`` of a frame was brought to one point of the world again and again: ``point`` (3,), which
    ``unknown=("point",)`` finds, too. Needs no measuring system at all. ``std`` [m]: how well it was met."""

    what: ClassVar[str] = "fixed point"
    together: ClassVar[int] = 3

    frame: str
    q: Any
    point: Any = None
    marker: Any = (0.0, 0.0, 0.0)
    unknown: tuple[str, ...] = ("point",)
    std: Any = None
    covariance: Any = None
    properties: Mapping[str, Any] = no_properties()
    seen: Any = None
    name: str = "fixed point"

    def __post_init__(self) -> None:
        self.chosen(self.unknown, ("point", "marker"))
        self.array("marker", self.marker, (3,))
        if self.point is not None:
            self.array("point", self.point, (3,))
        self.check()

    @property
    def planned(self) -> bool:
        return self.point is None and "point" not in self.unknown

    @property
    def width(self) -> int:
        return 3

    def row_names(self) -> list[str]:
        return list("xyz")

    def own_unknowns(self) -> list[OwnUnknown]:
        return self.own_point("point", self.point if self.point is not None else np.zeros(3)) + self.marker_start()

    def guessed(self, R: Sequence[Array], p: Sequence[Array]) -> Array:
        """Where the search begins: a point that nobody told is the mean of what is predicted."""
        y = np.array([o.start for o in self.own_unknowns()])
        if "point" in self.unknown and self.point is None:
            y[:3] = np.mean(p[0] + np.einsum("nij,j->ni", R[0], np.asarray(self.marker, dtype=float)), axis=0)
        return y

    def rows(self, R: Sequence[Array], p: Sequence[Array], y: Array) -> Rows:
        at = self.split(y, {"point": 3, "marker": 3})
        arm, D = point_motion(R[0], y[at["marker"]] if "marker" in at else np.asarray(self.marker, dtype=float))
        target = y[at["point"]] if "point" in at else np.zeros(3) if self.point is None else np.asarray(self.point)
        own = np.zeros((len(arm), 3, len(y)))
        if "point" in at:
            own[:, range(3), range(at["point"].start, at["point"].stop)] = -1.0
        if "marker" in at:
            own[:, :, at["marker"]] = R[0]
        return Rows(p[0] + arm - target, (D,), own)


@dataclass(frozen=True, eq=False)
class PlaneContact(OfMarker):
    """A point ``marker`` of a frame touched a plane: normal . (p + R marker) = ``distance`` [m]; a probe with a ball
    has its radius in it. ``unknown=("plane",)`` finds the plane, too: two tilts of its ``normal`` and its distance."""

    what: ClassVar[str] = "plane"

    frame: str
    q: Any
    distance: Any = None
    normal: Any = (0.0, 0.0, 1.0)
    marker: Any = (0.0, 0.0, 0.0)
    unknown: tuple[str, ...] = ()
    std: Any = None
    covariance: Any = None
    properties: Mapping[str, Any] = no_properties()
    seen: Any = None
    name: str = "plane"

    def __post_init__(self) -> None:
        self.chosen(self.unknown, ("plane", "marker"))
        self.array("marker", self.marker, (3,))
        normal = self.array("normal", self.normal, (3,))
        if not np.linalg.norm(normal) > 0.0:
            raise self.refused("normal is zero", "a direction")
        if self.distance is not None:
            self.array("distance", self.distance, ())
        self.check()

    @property
    def planned(self) -> bool:
        return self.distance is None and "plane" not in self.unknown

    def guessed(self, R: Sequence[Array], p: Sequence[Array]) -> Array:
        """Where the search begins: a distance that nobody told is the mean of what is predicted."""
        y = np.array([o.start for o in self.own_unknowns()])
        if "plane" in self.unknown and self.distance is None:
            n = np.asarray(self.normal, dtype=float) / np.linalg.norm(np.asarray(self.normal, dtype=float))
            y[2] = np.mean((p[0] + np.einsum("nij,j->ni", R[0], np.asarray(self.marker, dtype=float))) @ n)
        return y

    @property
    def width(self) -> int:
        return 1

    def own_unknowns(self) -> list[OwnUnknown]:
        plane = []
        if "plane" in self.unknown:
            plane = [OwnUnknown(f"{self.name}.tilt{k + 1}", 0.0, "rad", 0.1) for k in range(2)]
            plane.append(OwnUnknown(f"{self.name}.distance", float(self.distance or 0.0), "m", 1.0))
        return plane + self.marker_start()

    def rows(self, R: Sequence[Array], p: Sequence[Array], y: Array) -> Rows:
        at = self.split(y, {"plane": 3, "marker": 3})
        arm, D = point_motion(R[0], y[at["marker"]] if "marker" in at else np.asarray(self.marker, dtype=float))
        n0 = np.asarray(self.normal, dtype=float) / np.linalg.norm(np.asarray(self.normal, dtype=float))
        across = np.linalg.svd(n0[None])[2][1:]
        w = n0 + (y[at["plane"]][:2] @ across if "plane" in at else 0.0)
        size = np.linalg.norm(w)
        n, point = w / size, p[0] + arm
        own = np.zeros((len(arm), 1, len(y)))
        if "plane" in at:
            turned = (across - np.outer(across @ n, n)) / size
            own[:, 0, at["plane"]] = np.column_stack([point @ turned.T, -np.ones(len(arm))])
        if "marker" in at:
            own[:, 0, at["marker"]] = np.einsum("i,nij->nj", n, R[0])
        d = y[at["plane"]][2] if "plane" in at else float(self.distance or 0.0)
        return Rows((point @ n - d)[:, None], (np.einsum("i,nij->nj", n, D)[:, None],), own)
