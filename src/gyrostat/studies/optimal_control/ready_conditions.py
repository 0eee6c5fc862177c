"""Conditions on contacts, feet and stability that most problems of legged robots have, as data.

Each is a function of a point for ``path``, ``start`` or ``end`` of :class:`gs.studies.Phase`, alone or in lists."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gyrostat.algorithms.contact.contact_rows import contact_axes
from gyrostat.algorithms.contact.frame_contact import FrameContact
from gyrostat.errors import GyrostatError, clipped
from gyrostat.geometry.convex_hull import convex_hull
from gyrostat.studies.optimal_control.conditions import Condition, at_least, between
from gyrostat.studies.study_data import StudyData

Array = np.ndarray
UP = (0.0, 0.0, 1.0)


@dataclass(frozen=True)
class FrictionCone(StudyData):
    """|f_t| <= mu f_n, f_n >= 0 [N]: the force of the ground on ``contact``. See :func:`friction_cone`."""

    contact: str
    mu: float
    normal: tuple[float, ...] = UP
    facets: int = 0

    def __call__(self, s: Any) -> list[Condition]:
        n, t1, t2 = contact_axes(self.normal)
        f = s.ground_force(self.contact)
        push, x, y = n @ f, t1 @ f, t2 @ f
        if not self.facets:
            return [at_least(push), at_least((self.mu * push) * (self.mu * push) - x * x - y * y)]
        angles = 2.0 * np.pi * np.arange(self.facets) / self.facets
        inner = self.mu * float(np.cos(np.pi / self.facets))
        return [at_least(push), at_least(np.array([inner * push - np.cos(k) * x - np.sin(k) * y for k in angles]))]


def friction_cone(contact: Any, mu: float | None = None, *, normal: Any = None, facets: int = 0) -> FrictionCone:
    """Force of ``contact`` (a frame, or a :class:`gs.FrameContact` with its friction and normal) inside its cone

        |f_t| <= mu f_n,   f_n >= 0,

    ``normal`` in the axes of the world. ``facets`` = 0: the exact cone, by (mu f_n)^2 - f_t . f_t >= 0; otherwise a
    pyramid of so many faces inside it, linear in the force."""
    frame, known_mu, known_normal = _contact(contact)
    mu = known_mu if mu is None else mu
    if mu is None:
        raise GyrostatError(f"friction_cone: '{frame}' has no friction. Hint: friction_cone('{frame}', mu=0.6)")
    _number(mu, "friction_cone: mu", 0.0)
    if isinstance(facets, bool) or not isinstance(facets, int) or facets < 0 or facets in (1, 2):
        raise GyrostatError(f"friction_cone: facets must be 0 or a whole number of at least 3, got {clipped(facets)}.")
    return FrictionCone(frame, float(mu), _direction(known_normal if normal is None else normal), facets)


@dataclass(frozen=True)
class Unilateral(StudyData):
    """n . f >= least [N]: the ground pushes ``contact``, and does not pull. See :func:`unilateral`."""

    contact: str
    least: float = 0.0
    normal: tuple[float, ...] = UP

    def __call__(self, s: Any) -> Condition:
        return at_least(np.array(self.normal) @ s.ground_force(self.contact), self.least)


def unilateral(contact: Any, least: float = 0.0, *, normal: Any = None) -> Unilateral:
    """The ground pushes ``contact`` with at least ``least`` [N] along ``normal`` (world)."""
    frame, _, known = _contact(contact)
    return Unilateral(
        frame, _number(least, "unilateral: least", -np.inf), _direction(known if normal is None else normal)
    )


@dataclass(frozen=True)
class CenterOfPressure(StudyData):
    """Centre of pressure of a foot that is held fixed, inside a rectangle of its own frame, whose z axis is the normal
    of the sole. See :func:`center_of_pressure`."""

    contact: str
    x: tuple[float, float]
    y: tuple[float, float]

    def __call__(self, s: Any) -> list[Condition]:
        if self.contact not in s.forces:
            s.ground_force(self.contact)  # which tells the names
        w = s.forces[self.contact]
        push, x, y = w[5], -w[1], w[0]
        (x0, x1), (y0, y1) = self.x, self.y
        return [
            at_least(push),
            at_least(np.array([x - x0 * push, x1 * push - x, y - y0 * push, y1 * push - y])),
        ]


def center_of_pressure(contact: Any, x: Sequence[float], y: Sequence[float]) -> CenterOfPressure:
    """Centre of pressure of a flat foot (kind ``"fixed"``) between ``x`` = (low, high) and ``y`` [m] in the axes of
    its frame, with z the normal of the sole: x_0 f_z <= -n_y <= x_1 f_z, y_0 f_z <= n_x <= y_1 f_z, f_z >= 0."""
    return CenterOfPressure(
        _contact(contact)[0], _range(x, "center_of_pressure: x"), _range(y, "center_of_pressure: y")
    )


@dataclass(frozen=True)
class Clearance(StudyData):
    """Frames above a contour while a foot swings. See :func:`foot_clearance`."""

    frames: tuple[str, ...]
    contour: Any
    ground: float = 0.0

    def __call__(self, s: Any) -> Condition:
        height = self.contour(s) if callable(self.contour) else self.contour * np.sin(np.pi * s.fraction)
        return at_least(np.array([s.frame(name).p[2] - self.ground - height for name in self.frames]))


def foot_clearance(frames: Any, contour: float | Callable[[Any], Any], *, ground: float = 0.0) -> Clearance:
    """Frames (corners of a foot) at least a contour above z = ``ground`` [m]: a number h means h sin(pi s) with s the
    fraction of the phase, zero at both ends; a function of the point may depend on where the foot is."""
    if not callable(contour):
        _number(contour, "foot_clearance: contour", 0.0)
    return Clearance(_names(frames, "foot_clearance"), contour, _number(ground, "foot_clearance: ground", -np.inf))


@dataclass(frozen=True)
class HipRadius(StudyData):
    """shortest <= |p_hip - p_ankle| <= longest [m]. See :func:`hip_radius`."""

    hip: str
    ankle: str
    longest: float
    shortest: float = 0.0

    def __call__(self, s: Any) -> Condition:
        r = s.frame(self.hip).p - s.frame(self.ankle).p
        return between((r @ r) / self.longest**2, (self.shortest / self.longest) ** 2, 1.0)


def hip_radius(hip: str, ankle: str, longest: float, shortest: float = 0.0) -> HipRadius:
    """The leg neither stretched nor folded too far: distance of two frames between ``shortest`` and ``longest`` [m]."""
    _number(shortest, "hip_radius: shortest", 0.0)
    if not _number(longest, "hip_radius: longest", 0.0) > shortest:
        raise GyrostatError(f"hip_radius: longest is {longest:g} and shortest {shortest:g}. Hint: exchange them")
    above, below = _names((hip, ankle), "hip_radius")
    return HipRadius(above, below, float(longest), float(shortest))


@dataclass(frozen=True)
class Support(StudyData):
    """A point of stability inside a support polygon, seen from above. See :func:`com_over_support`,
    :func:`zmp_in_support`."""

    what: str
    corners: Any
    margin: float
    height: float = 0.0

    def __post_init__(self) -> None:
        if self.what not in ("com", "zmp"):
            raise GyrostatError(f"Support: what must be 'com' or 'zmp', got {clipped(self.what)}.")

    def __call__(self, s: Any) -> list[Condition] | Condition:
        places = _places(s, self.corners)
        edges = np.roll(places, -1, axis=0) - places
        inward = [np.array([-e[1], e[0]]) / np.sqrt(e @ e) for e in edges]
        if self.what == "com":
            c = s.center_of_mass[:2]
            return at_least(np.array([n @ (c - p) - self.margin for n, p in zip(inward, places, strict=True)]))
        w = s.base_wrench
        push = w[5]
        moment = np.array([-w[1] + self.height * w[3], w[0] + self.height * w[4]])
        rows = [n @ (moment - push * p) - self.margin * push for n, p in zip(inward, places, strict=True)]
        return [at_least(push), at_least(np.array(rows))]


def com_over_support(corners: Any, margin: float = 0.0) -> Support:
    """Static stability: the centre of mass, seen from above, at least ``margin`` [m] inside the edges of the support
    polygon. ``corners``: points (k, 2) [m], whose convex hull is taken, or names of frames anticlockwise as seen from
    above, which may move and depend on parameters."""
    return Support("com", _corners(corners, "com_over_support"), _number(margin, "com_over_support: margin", -np.inf))


def zmp_in_support(corners: Any, margin: float = 0.0, *, height: float = 0.0) -> Support:
    """Dynamic stability: the zero-moment point in the plane z = ``height`` at least ``margin`` [m] inside the support
    polygon, ``corners`` as in :func:`com_over_support`; times the vertical force, which is >= 0 [N m]."""
    who = "zmp_in_support"
    return Support("zmp", _corners(corners, who), _number(margin, f"{who}: margin", -np.inf),
                   _number(height, f"{who}: height", -np.inf))  # fmt: skip


# ------------------------------------------------------------------------------------------------ what was given
def _places(s: Any, corners: Any) -> Array:
    if isinstance(corners, np.ndarray):
        return corners
    return np.array([s.frame(name).p[:2] for name in corners])


def _corners(given: Any, who: str) -> Any:
    if isinstance(given, list | tuple) and given and all(isinstance(x, str) for x in given):
        if len(given) < 3:
            raise GyrostatError(f"{who}: {len(given)} frames span no polygon. Hint: three or more, anticlockwise")
        return _names(given, who)
    try:
        points = np.asarray(given, dtype=float)
    except (TypeError, ValueError):
        points = np.asarray([], dtype=float)
    if points.ndim != 2 or points.shape[1] != 2 or not np.all(np.isfinite(points)):
        raise GyrostatError(f"{who}: corners must be points (k, 2) or names of frames, got {clipped(given)}.")
    hull = convex_hull(points)
    if len(hull) < 3:
        raise GyrostatError(f"{who}: the corners lie on a line. Hint: three points that span a polygon")
    return hull


def _contact(given: Any) -> tuple[str, float | None, Any]:
    if isinstance(given, FrameContact):
        return given.frame, given.friction, given.normal
    return _names(given, "a condition on a contact")[0], None, UP


def _names(given: Any, who: str) -> tuple[str, ...]:
    names = (given,) if isinstance(given, str) else given
    if not isinstance(names, list | tuple) or not names or not all(isinstance(x, str) for x in names):
        raise GyrostatError(f"{who}: expected names of frames, got {clipped(given)}.")
    return tuple(names)


def _number(given: Any, what: str, least: float) -> float:
    good = isinstance(given, int | float | np.number) and not isinstance(given, bool) and np.isfinite(given)
    if not good or given < least:
        above = "" if least == -np.inf else f" of at least {least:g}"
        raise GyrostatError(f"{what} must be a number{above}, got {clipped(given)}.")
    return float(given)


def _range(given: Any, what: str) -> tuple[float, float]:
    if not isinstance(given, list | tuple | np.ndarray) or len(given) != 2 or not given[0] < given[1]:
        raise GyrostatError(f"{what} must be (low, high) with low < high, got {clipped(given)}.")
    return _number(given[0], what, -np.inf), _number(given[1], what, -np.inf)


def _direction(given: Any) -> tuple[float, ...]:
    return tuple(float(x) for x in FrameContact("normal", "normal", normal=given).normal)
