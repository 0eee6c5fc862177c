"""Spheres and capsules on frames that keep apart: distances recorded, with exact derivatives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gyrostat.engine.tracing.choose import maximum, minimum, where
from gyrostat.errors import GyrostatError, clipped
from gyrostat.graph.lower import Values, rotation
from gyrostat.spec.model import Model
from gyrostat.studies.optimal_control.conditions import Condition, at_least
from gyrostat.studies.study_data import StudyData

Array = np.ndarray
PARALLEL = 1e-9
"""sin^2 of the angle between axes below which the nearest points are taken from the first end."""


@dataclass(frozen=True)
class Capsule(StudyData):
    """All points within ``radius`` [m] of the segment from ``start`` to ``end``, in the axes of ``frame`` (a port or a
    body); start = end: a sphere."""

    frame: str
    radius: float
    start: tuple[float, ...] = (0.0, 0.0, 0.0)
    end: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.frame, str):
            raise GyrostatError(f"Capsule: frame must be a name, got {clipped(self.frame)}.")
        if not isinstance(self.radius, int | float) or not 0.0 <= self.radius < np.inf:
            raise GyrostatError(f"Capsule '{self.frame}': radius must be a length >= 0, got {clipped(self.radius)}.")
        for name in ("start", "end"):
            given = getattr(self, name)
            given = self.start if given is None else given
            try:
                point = np.asarray(given, dtype=float)
            except (TypeError, ValueError):
                point = np.zeros(0)
            if point.shape != (3,) or not np.all(np.isfinite(point)):
                raise GyrostatError(f"Capsule '{self.frame}': {name} must be a point (3,), got {clipped(given)}.")
            object.__setattr__(self, name, tuple(float(x) for x in point))

    @property
    def is_sphere(self) -> bool:
        return self.start == self.end

    def segment(self, s: Any) -> tuple[Array, Array]:
        """Start (3,) in the world, and the way to the end."""
        frame = s.frame(self.frame)
        start, end = np.array(self.start), np.array(self.end)
        return frame.p + frame.R @ start, frame.R @ (end - start)


@dataclass(frozen=True)
class Apart(StudyData):
    """Pairs of capsules that keep ``gap`` [m]. See :func:`apart`."""

    pairs: tuple[tuple[Capsule, Capsule], ...]
    gap: float = 0.0

    def __call__(self, s: Any) -> dict[str, Condition]:
        found = {}
        for k, (a, b) in enumerate(self.pairs):
            least = a.radius + b.radius + self.gap
            found[f"{a.frame} apart from {b.frame} ({k})"] = at_least(
                (squared_distance(a, b, s) - least**2) * (1.0 / max(least, 1e-3))
            )
        return found


def apart(pairs: Any, gap: float = 0.0) -> Apart:
    """Pairs of :class:`Capsule` (spheres among them) at least ``gap`` [m] apart, by d^2 >= (r_a + r_b + gap)^2 with d
    the distance of their segments. It holds at the points of the grid."""
    try:
        read = tuple((a, b) for a, b in pairs)
    except (TypeError, ValueError):
        read = ()
    if not read or not all(isinstance(x, Capsule) for pair in read for x in pair):
        raise GyrostatError(f"apart: expected pairs of gs.studies.Capsule, got {clipped(pairs)}.")
    if isinstance(gap, bool) or not isinstance(gap, int | float) or not np.isfinite(gap):
        raise GyrostatError(f"apart: gap must be a length, got {clipped(gap)}.")
    return Apart(read, float(gap))


def capsules(model: Model, bodies: str | Sequence[str]) -> tuple[Capsule, ...]:
    """Spheres and capsules among the shapes of bodies that can touch, as :class:`Capsule`."""
    found: list[Capsule] = []
    for body in (bodies,) if isinstance(bodies, str) else bodies:
        entity = model.wiring.entities.get(body)
        shapes = [x for x in getattr(entity, "shapes", ()) if x.can_touch]
        if not shapes:
            raise GyrostatError(f"capsules: '{body}' has no shapes that can touch. Hint: Capsule('{body}', radius)")
        for x in shapes:
            if x.kind not in ("sphere", "capsule"):
                raise GyrostatError(
                    f"capsules: '{body}' has a {x.kind}, whose distances are not recorded. "
                    f"Hint: cover it by Capsule('{body}', radius, start, end)"
                )
            R, middle = rotation(Values(body, x.rotation, {}), []), np.asarray(x.translation, float)
            half = 0.5 * x.size[1] * R[:, 2] if x.kind == "capsule" else np.zeros(3)
            found.append(Capsule(f"{body}.origin", x.size[0], tuple(middle - half), tuple(middle + half)))
    return tuple(found)


def squared_distance(a: Capsule, b: Capsule, s: Any) -> Any:
    """Of the segments of two capsules [m^2] [Ericson 2005, 5.1.9]; the derivative is continuous where axes are not
    parallel."""
    p, d = a.segment(s)
    q, e = b.segment(s)
    r = p - q
    if a.is_sphere and b.is_sphere:
        return r @ r
    if a.is_sphere or b.is_sphere:
        point, start, way = (p, q, e) if a.is_sphere else (q, p, d)
        off = point - start
        off = off - _clamped((way @ off) / _size(b if a.is_sphere else a)) * way
        return off @ off
    A, E = _size(a), _size(b)  # squares of lengths are numbers
    along, f, c = d @ e, e @ r, d @ r
    cross = A * E - along * along
    parallel = cross < PARALLEL * A * E
    x = where(parallel, 0.0, _clamped((along * f - c * E) / where(parallel, 1.0, cross)))
    y = (along * x + f) * (1.0 / E)
    inside = _clamped(y)
    x = where(y == inside, x, _clamped((along * inside - c) * (1.0 / A)))
    off = r + x * d - inside * e
    return off @ off


def _size(c: Capsule) -> float:
    way = np.array(c.end) - np.array(c.start)
    return float(way @ way)


def _clamped(x: Any) -> Any:
    return minimum(maximum(x, 0.0), 1.0)
