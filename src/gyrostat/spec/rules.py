"""Rules that several kinds of entities share: finite numbers, unit vectors, proper rotations, physical inertias."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np
from pydantic import BaseModel

from gyrostat.errors import Problem, clipped
from gyrostat.spec.entity import Entity
from gyrostat.spec.values import AxisAngle, Euler, Quaternion, RotationMatrix

UNIT = 1e-6
"""How far from exact an axis, quaternion or rotation matrix may be; building the network normalises what is within."""

ROUNDING = 1e-9
"""Relative slack for symmetry, positivity and the triangle inequality of inertias."""


LEAST = 1e-50
"""Mass [kg] and largest moment of inertia [kg m^2] of a body at least, if it has any: an atom has more. The reciprocals
of such numbers, which accelerations need, leave the range of floating-point numbers."""


def numbers(value: object) -> Iterator[float]:
    if isinstance(value, float):
        yield value
    elif isinstance(value, tuple | list):
        for item in value:
            yield from numbers(item)
    elif isinstance(value, BaseModel) and not isinstance(value, Entity):
        for field in type(value).model_fields:
            yield from numbers(getattr(value, field))


def shown(value: Any) -> str:
    """Numbers as a reader writes them: (0, 0, 1) instead of (0.0, 0.0, 1.0)."""
    if isinstance(value, tuple | list):
        return "(" + ", ".join(shown(item) for item in value) + ")"
    return f"{value:.10g}" if isinstance(value, float) else clipped(value)


def infinities(owner: object, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], float]]:
    """(path, value) of every property within ``owner`` that holds NaN or infinity; the first one of each property."""
    if isinstance(owner, BaseModel):
        for field in type(owner).model_fields:
            yield from infinities(getattr(owner, field), (*path, field))
    elif isinstance(owner, tuple | list) and any(isinstance(item, BaseModel) for item in owner):
        for item in owner:
            if not isinstance(item, Entity):
                yield from infinities(item, (*path, str(getattr(item, "name", ""))))
    else:
        yield from ((path, x) for x in islice((x for x in numbers(owner) if not math.isfinite(x)), 1))


def not_finite(entity: Entity) -> list[Problem]:
    """Rule ``finite``: every number of every property is finite."""
    return [
        entity.problem(
            "finite",
            f"'{'.'.join(path)}' must be finite, got {shown(bad)}",
            "give a number, not NaN or infinity",
            path,
        )
        for path, bad in infinities(entity)
    ]


def finite(value: object) -> bool:
    return all(math.isfinite(x) for x in numbers(value))


def axis_problems(entity: Entity, field: str, axis: tuple[float, float, float]) -> list[Problem]:
    """Rule ``unit-axis``."""
    if not finite(axis):
        return []  # reported by the rule 'finite'
    length, path = math.hypot(*axis), tuple(field.split("."))
    if length == 0.0:
        remedy = "give the direction of the axis in frame a, for example [0, 0, 1]"
        return [entity.problem("unit-axis", f"'{field}' must be non-zero, got {shown(axis)}", remedy, path)]
    if abs(length - 1.0) > UNIT:
        message = f"'{field}' must have unit length, got {shown(axis)} of length {shown(length)}"
        return [entity.problem("unit-axis", message, f"write [{', '.join(map(shown, _unit(axis)))}]", path)]
    return []


def _unit(axis: tuple[float, float, float]) -> tuple[float, ...]:
    largest = max(abs(x) for x in axis)  # divided out first: squares of large numbers overflow
    scaled = [x / largest for x in axis]
    return tuple(x / math.hypot(*scaled) for x in scaled)


def rotation_problems(entity: Entity, field: str, rotation: object) -> list[Problem]:
    """Rule ``rotation``: unit quaternion, orthonormal right-handed matrix, unit axis, known Euler axes."""
    if not finite(rotation):
        return []
    path = tuple(field.split("."))
    if isinstance(rotation, Quaternion):
        length = math.hypot(*rotation.quaternion)
        if abs(length - 1.0) > UNIT:
            message = f"'{field}' must be a unit quaternion, got {shown(rotation.quaternion)} of length {shown(length)}"
            return [entity.problem("rotation", message, "divide it by its length; the order is x, y, z, w", path)]
    elif isinstance(rotation, RotationMatrix):
        R = np.clip(np.array(rotation.matrix), -2.0, 2.0)  # no entry exceeds 1; squares of large numbers overflow
        off = float(np.abs(R @ R.T - np.eye(3)).max())
        if off > UNIT or np.linalg.det(R) < 0.0:
            what = "its rows are not orthonormal" if off > UNIT else "its determinant is -1: left-handed axes"
            message = f"'{field}' must be a rotation matrix, {what}, got {shown(rotation.matrix)}"
            return [entity.problem("rotation", message, "columns are the right-handed unit axes of b in a", path)]
    elif isinstance(rotation, AxisAngle):
        return [replace(p, rule="rotation") for p in axis_problems(entity, f"{field}.axis", rotation.axis)]
    elif isinstance(rotation, Euler):
        axes = rotation.axes
        ok = len(axes) == 3 and set(axes.lower()) <= set("xyz") and axes in (axes.lower(), axes.upper())
        if not ok or axes[0] == axes[1] or axes[1] == axes[2]:
            message = f"'{field}' has Euler axes {axes!r}, expected three letters such as 'xyz', 'ZYX', 'zxz'"
            remedy = "lower case turns about fixed axes, upper case about moving ones"
            return [entity.problem("rotation", message, remedy, path)]
    return []


def inertia_problems(entity: Entity, mass: float, inertia: tuple[tuple[float, float, float], ...]) -> list[Problem]:
    """Rules ``mass``, ``mass-small``, ``inertia-small``, ``inertia-symmetric``, ``inertia-positive``,
    ``inertia-triangle``, ``inertia-without-mass``."""
    problems: list[Problem] = []
    if math.isfinite(mass) and mass < 0.0:
        message = f"mass must not be negative, got {shown(mass)} kg"
        problems.append(entity.problem("mass", message, "give the mass in kg", ("mass",)))
    if 0.0 < mass < LEAST:
        message = f"mass must be zero or at least {LEAST:g} kg, got {shown(mass)} kg"
        problems.append(entity.problem("mass-small", message, "give the mass in kg, or zero", ("mass",)))
    if not finite(inertia):
        return problems
    path = ("inertia",)
    scale = max(abs(x) for row in inertia for x in row)
    if scale == 0.0:
        return problems
    if scale < LEAST:
        message = f"inertia must be zero or at least {LEAST:g} kg m^2, got {shown(inertia)} kg m^2"
        problems.append(entity.problem("inertia-small", message, "give it in kg m^2; zero is a point mass", path))
    if mass == 0.0:
        message = f"has inertia {shown(inertia)} but mass 0"
        remedy = "give the mass in kg; a massless link is a Displacement"
        problems.append(entity.problem("inertia-without-mass", message, remedy, path))
    J = np.array(inertia) / scale
    skew = np.abs(J - J.T)
    if float(skew.max()) > ROUNDING:
        i, j = (int(k) for k in np.unravel_index(skew.argmax(), (3, 3)))
        ij, ji = "xyz"[i] + "xyz"[j], "xyz"[j] + "xyz"[i]
        message = f"inertia must be symmetric, I{ij} = {shown(inertia[i][j])} but I{ji} = {shown(inertia[j][i])}"
        problems.append(
            entity.problem("inertia-symmetric", message, "use one product of inertia for both entries", path)
        )
        return problems
    low, mid, high = (float(x) for x in np.linalg.eigvalsh(J))
    if low < -ROUNDING:
        message = f"inertia must be positive, its smallest principal moment is {low * scale:g} kg m^2"
        remedy = "moments about the centre of mass are never negative; check signs and the order of the entries"
        problems.append(entity.problem("inertia-positive", message, remedy, path))
    elif low + mid < high - ROUNDING:
        message = (
            "inertia violates the triangle inequality on principal moments, "
            f"{low * scale:g} + {mid * scale:g} = {(low + mid) * scale:g} < {high * scale:g} kg m^2"
        )
        remedy = "no distribution of mass has such moments; check units, and that they refer to the centre of mass"
        problems.append(entity.problem("inertia-triangle", message, remedy, path))
    return problems
