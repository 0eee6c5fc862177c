"""Robots without pictures: sticks between joints, drums and slides for the joints, a plate for the base."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gyrostat.spatial.algebra import compose
from gyrostat.spec.joint import Joint
from gyrostat.spec.model import Model
from gyrostat.view.scene.rigid_parts import RigidPart
from gyrostat.view.scene.solid import Placement, Solid, seen_from, upward

Array = np.ndarray
STICKS = ((0.80, 0.82, 0.85, 1.0), (0.62, 0.67, 0.74, 1.0))
TURNING = (0.93, 0.45, 0.13, 1.0)
SLIDING = (0.12, 0.58, 0.55, 1.0)
BASE = (0.30, 0.33, 0.38, 1.0)


def sticks(
    model: Model, parts: Sequence[RigidPart], rest: Mapping[str, Placement], has_picture: Sequence[bool]
) -> list[list[Solid]]:
    """For each part the solids that stand for it, in its frame; none where it has a picture."""
    lines = [_lines(model, part, rest) for part in parts]
    r = _radius(lines, rest)
    picture = any(has_picture)
    drawings: list[list[Solid]] = []
    for k, part in enumerate(parts):
        solids: list[Solid] = []
        empty = not any(getattr(model.wiring.entities[body], "mass", 0.0) > 0.0 for body in part.bodies)
        if not has_picture[k] and not (picture and empty):
            solids += [_stick(part, n, a, b, r, STICKS[k % 2]) for n, (a, b) in enumerate(lines[k])]
            solids += [s for name, port in part.outer for s in _joint(model, part, name, port, rest, r)]
            if part.parent is None and k == 0 and model.context.base != "free":
                solids.append(_plate(model, part, rest, r))
        drawings.append([s for s in solids if s is not None])
    return drawings


def _lines(model: Model, part: RigidPart, rest: Mapping[str, Placement]) -> list[tuple[Array, Array]]:
    """Ends of the sticks: from the joint that carries the part to those on it; else to its farthest place or mass."""
    start = seen_from(rest, part.port, part.inner or part.port)[1]
    outer = [seen_from(rest, part.port, port)[1] for _, port in part.outer]
    ends = [p for p in outer if np.linalg.norm(p - start) > 1e-9]
    if not outer:
        places = [seen_from(rest, part.port, port)[1] for port in part.named]
        places += [_centre(model, body, part, rest) for body in part.bodies if _mass(model, body) > 0.0]
        far = max(places, key=lambda p: float(np.linalg.norm(p - start)), default=start)
        ends = [far] if np.linalg.norm(far - start) > 1e-9 else []
    unique: list[Array] = []
    for end in ends:
        if all(np.linalg.norm(end - other) > 1e-9 for other in unique):
            unique.append(end)
    return [(start, end) for end in unique]


def _mass(model: Model, body: str) -> float:
    return float(getattr(model.wiring.entities[body], "mass", 0.0))


def _centre(model: Model, body: str, part: RigidPart, rest: Mapping[str, Placement]) -> Array:
    entity: Any = model.wiring.entities[body]
    R, p = seen_from(rest, part.port, f"{body}.origin")
    return p + R @ np.array(entity.com)


def _radius(lines: Sequence[list[tuple[Array, Array]]], rest: Mapping[str, Placement]) -> float:
    """One radius for all sticks [m]: thin against their length, thick enough against the whole robot."""
    lengths = [float(np.linalg.norm(b - a)) for ends in lines for a, b in ends]
    points = np.array([p for _, p in rest.values()])
    whole = max(float(np.linalg.norm(points.max(axis=0) - points.min(axis=0))), *lengths, 1e-3)
    typical = float(np.median(lengths)) if lengths else whole
    return float(np.clip(0.09 * typical, 0.006 * whole, 0.03 * whole))


def along(direction: Array) -> Array:
    """A rotation R whose z axis has this direction."""
    z = direction / np.linalg.norm(direction)
    x = np.cross(np.eye(3)[int(np.argmin(np.abs(z)))], z)
    x /= np.linalg.norm(x)
    return np.stack([x, np.cross(z, x), z], axis=1)


def _stick(part: RigidPart, n: int, a: Array, b: Array, r: float, color: tuple[float, ...]) -> Solid:
    length = float(np.linalg.norm(b - a))
    return Solid(f"{part.name}/stick{n}", "capsule", (r, length), along(b - a), (a + b) / 2.0, color, "stick")


def _joint(model: Model, part: RigidPart, name: str, port: str, rest: Mapping[str, Placement], r: float) -> list[Solid]:
    entity = model.wiring.entities[name]
    if not isinstance(entity, Joint):
        return []
    R, p = seen_from(rest, part.port, port)

    def solid(kind: str, size: tuple[float, ...], axis: Any, color: tuple[float, ...], n: int = 0) -> Solid:
        own = np.eye(3) if axis is None else along(np.array(axis, dtype=float))
        return Solid(f"{name}/joint{n}", kind, size, *compose(R, p, own, np.zeros(3)), color, "joint")

    if entity.kind in ("revolute", "continuous", "helical"):
        return [solid("cylinder", (1.7 * r, 4.2 * r), entity.axis, TURNING)]
    if entity.kind == "prismatic":
        return [solid("box", (2.8 * r, 2.8 * r, 5.0 * r), entity.axis, SLIDING)]
    if entity.kind == "cylindrical":
        return [
            solid("cylinder", (1.7 * r, 3.0 * r), entity.axis, TURNING),
            solid("cylinder", (1.3 * r, 5.4 * r), entity.axis, SLIDING, 1),
        ]
    if entity.kind == "universal":
        axes = (entity.axis, entity.second_axis)
        return [solid("cylinder", (1.0 * r, 4.4 * r), axis, TURNING, n) for n, axis in enumerate(axes)]
    if entity.kind == "planar":
        return [solid("box", (7.0 * r, 7.0 * r, 0.6 * r), entity.axis, SLIDING)]
    if entity.kind == "spherical":
        return [solid("sphere", (2.0 * r,), None, TURNING)]
    return []


def _plate(model: Model, part: RigidPart, rest: Mapping[str, Placement], r: float) -> Solid:
    """A round plate below the reference frame."""
    R_w, _ = rest[part.port]
    up = R_w.T @ upward(model)
    root = seen_from(rest, part.port, f"{model.wiring.root}.frame")[1]
    return Solid(f"{part.name}/base", "cylinder", (4.0 * r, r), along(up), root - up * r / 2.0, BASE, "stick")
