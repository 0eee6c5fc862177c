"""Where a joint stands at given coordinates: the displacement that takes its place when it is locked."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gyrostat.geometry.rotation import about_axis, plane_direction
from gyrostat.spec.displacement import Displacement
from gyrostat.spec.edits.scope import refused
from gyrostat.spec.joint import Joint
from gyrostat.spec.orientation import unit
from gyrostat.spec.rules import UNIT
from gyrostat.spec.values import AxisAngle, Quaternion, RotationMatrix

Place = dict[str, Any]
"""``translation`` and ``rotation`` of a displacement."""


def locked_place(joint: Joint, q: Sequence[float]) -> Displacement:
    """b in a at the coordinates q of :class:`Joint`."""
    for key in joint.table.needs:
        if getattr(joint, key) is None:
            raise refused(f"lock: {joint.label}", f"a {joint.kind} joint needs '{key}'", f"add '{key}'", joint.name)
    return Displacement(joint.name, **PLACES[joint.kind](joint, q))


def _turned(joint: Joint, angle: float) -> AxisAngle:
    return AxisAngle(axis=tuple(unit(joint.axis).tolist()), angle=float(angle))


def _screwed(joint: Joint, shift: float, angle: float) -> Place:
    """A shift along the axis and a turn about it."""
    return {"translation": unit(joint.axis) * shift, "rotation": _turned(joint, angle)}


def _universal(joint: Joint, q: Sequence[float]) -> Place:
    R = about_axis(unit(joint.axis), q[0]) @ about_axis(unit(joint.second_axis), q[1])
    return {"rotation": RotationMatrix(matrix=tuple(map(tuple, R.tolist())))}


def _planar(joint: Joint, q: Sequence[float]) -> Place:
    u = unit(joint.axis)
    given = None if joint.second_axis is None else unit(joint.second_axis)
    e1 = plane_direction(u, given, int(np.argmax(np.abs(np.array(joint.axis)))))
    return {"translation": e1 * q[0] + np.cross(u, e1) * q[1], "rotation": _turned(joint, q[2])}


PLACES: dict[str, Callable[[Joint, Sequence[float]], Place]] = {
    "revolute": lambda joint, q: {"rotation": _turned(joint, q[0])},
    "continuous": lambda joint, q: {"rotation": _turned(joint, q[0])},
    "prismatic": lambda joint, q: {"translation": unit(joint.axis) * q[0]},
    "helical": lambda joint, q: _screwed(joint, (joint.pitch or 0.0) * q[0], q[0]),
    "cylindrical": lambda joint, q: _screwed(joint, q[1], q[0]),
    "universal": _universal,
    "planar": _planar,
    "spherical": lambda joint, q: {"rotation": _quaternion(q)},
    "free": lambda joint, q: {"translation": q[:3], "rotation": _quaternion(q[3:])},
}


def is_unit(quaternion: Sequence[float]) -> bool:
    return abs(math.hypot(*quaternion) - 1.0) <= UNIT


def _quaternion(q: Sequence[float]) -> Quaternion:
    length = math.hypot(*q)
    return Quaternion(quaternion=tuple(x / length for x in q))
