"""Where a joint stands at given coordinates: the displacement that takes its place when it is locked."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from gyrostat.geometry.rotation import about_axis, plane_direction
from gyrostat.spec.displacement import Displacement
from gyrostat.spec.joint import Joint
from gyrostat.spec.orientation import unit
from gyrostat.spec.rules import UNIT
from gyrostat.spec.values import AxisAngle, Quaternion, RotationMatrix


def locked_place(joint: Joint, q: Sequence[float]) -> Displacement:
    """b in a at the coordinates q of :class:`Joint`."""
    u = None if joint.axis is None else unit(joint.axis)
    turned: Any = None if u is None else AxisAngle(axis=tuple(u.tolist()), angle=float(q[0]))
    place: dict[str, Any] = {}
    if joint.kind in ("revolute", "continuous"):
        place = {"rotation": turned}
    elif joint.kind == "prismatic" and u is not None:
        place = {"translation": u * q[0]}
    elif joint.kind == "helical" and u is not None:
        place = {"translation": u * ((joint.pitch or 0.0) * q[0]), "rotation": turned}
    elif joint.kind == "cylindrical" and u is not None:
        place = {"translation": u * q[1], "rotation": turned}
    elif joint.kind == "universal" and u is not None:
        R = about_axis(u, q[0]) @ about_axis(unit(joint.second_axis), q[1])
        place = {"rotation": RotationMatrix(matrix=tuple(map(tuple, R.tolist())))}
    elif joint.kind == "planar" and u is not None:
        given = None if joint.second_axis is None else unit(joint.second_axis)
        e1 = plane_direction(u, given, int(np.argmax(np.abs(np.array(joint.axis)))))
        place = {"translation": e1 * q[0] + np.cross(u, e1) * q[1]}
        place["rotation"] = AxisAngle(axis=tuple(u.tolist()), angle=float(q[2]))
    elif joint.kind == "spherical":
        place = {"rotation": _quaternion(q)}
    elif joint.kind == "free":
        place = {"translation": q[:3], "rotation": _quaternion(q[3:])}
    return Displacement(joint.name, **place)


def is_unit(quaternion: Sequence[float]) -> bool:
    return abs(math.hypot(*quaternion) - 1.0) <= UNIT


def _quaternion(q: Sequence[float]) -> Quaternion:
    length = math.hypot(*q)
    return Quaternion(quaternion=tuple(x / length for x in q))
