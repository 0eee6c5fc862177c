"""Unknown numbers of a robot by path: what each of them changes, its unit, and how large an error of it may be.

    "upper.translation", "upper.translation.x", "dh3.a"     lengths [m]
    "elbow.axis", "elbow.axis.y"                            tilts of an axis about the two directions across it [rad]
    "hand.rotation", "hand.rotation.z", "dh3.alpha"         turns of a frame [rad]
    "elbow.offset"                                          zero of a joint's coordinate [rad, m]
    "base", "base.x", "base.rz", "tool", "tool.rx"          how base and tool are mounted [m, rad]
    "elbow_drive.gear.ratio", "elbow_drive.spring.stiffness", "forearm.E", "payload.mass"    any live number

Tilts are a small change of the axis across itself, which is well posed for parallel axes too, where the angles of
Denavit and Hartenberg are not; Hayati's angle beta about y of a DH frame is ``"joint.axis.y"``. Stiffnesses are
estimated as compliances, in which deflections are linear."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gyrostat.errors import GyrostatError, clipped
from gyrostat.solvers.machinery.live_properties import live_value
from gyrostat.spatial import so3
from gyrostat.spec.model import Model
from gyrostat.studies.calibration.error_frames import (
    BASE,
    TOOL,
    ZERO,
    joint_of,
    last_joint,
    with_displacement,
    with_quaternion,
)

Array = np.ndarray
LETTERS = "xyz"
LENGTHS = ("translation", "length", "a", "d", "offset", "com", "position", "anchor", "anchor_a", "anchor_b")
ANGLES = ("alpha", "theta", "rest")
SOFT = ("stiffness", "E", "G", "cubic")
EXPECTED = {"m": 0.02, "rad": 0.02}
"""How large errors of lengths and angles may be: a direction that is left open beyond it is not identified."""
RATIO, RELATIVE, COMPLIANCE = 0.02, 1.0, 10.0
"""The same of gear ratios, other numbers, and compliances, relative to what the model has."""


@dataclass(frozen=True)
class Unknown:
    """One number: ``path`` of the property, ``kind`` of its change along ``direction``, ``bounds`` of the number
    itself."""

    name: str
    path: str
    kind: str  # "number": v + d x; "turn": exp(d x) R; "soft": v / (1 + x)
    direction: Array
    unit: str
    expected: float
    bounds: tuple[float, float] = (-np.inf, np.inf)
    start: float = 0.0

    def native(self, x: float) -> float:
        """The number itself: properties as they are, tilts and turns as their change [rad]."""
        return self.start / (1.0 + x) if self.kind == "soft" else self.start + x

    def slope(self, x: float) -> float:
        """d native / dx."""
        return -self.start / (1.0 + x) ** 2 if self.kind == "soft" else 1.0

    def limits(self) -> tuple[float, float]:
        """Bounds of x."""
        low, high = self.bounds
        if self.kind != "soft":
            return low - self.start, high - self.start
        top = self.start / low - 1.0 if low > 0.0 else np.inf
        return max(self.start / high - 1.0, -1.0 + 1e-6) if high > 0.0 else np.inf, top


@dataclass(frozen=True)
class RobotUnknowns:
    """The unknowns of a robot: ``model`` has all properties that they change; ``live``: these."""

    model: Model
    columns: tuple[Unknown, ...]
    base: Mapping[str, Array] = field(repr=False)

    @property
    def live(self) -> tuple[str, ...]:
        return tuple(self.base)

    def values(self, x: Array) -> dict[str, Array]:
        """Live properties at x (n,)."""
        values = {path: np.array(value) for path, value in self.base.items()}
        turns: dict[str, Array] = {}
        for c, xk in zip(self.columns, x, strict=True):
            if c.kind == "turn":
                turns[c.path] = turns.get(c.path, np.zeros(3)) + c.direction * xk
            elif c.kind == "soft":
                values[c.path] = values[c.path] / (1.0 + xk)
            else:
                values[c.path] = values[c.path] + c.direction * xk
        for path, turn in turns.items():
            values[path] = so3.product(so3.quaternion_exp(turn), self.base[path])
        return values

    def slopes(self, x: Array) -> list[tuple[str, Array]]:
        """Of each unknown: the property and its derivative."""
        turns: dict[str, Array] = {}
        for c, xk in zip(self.columns, x, strict=True):
            if c.kind == "turn":
                turns[c.path] = turns.get(c.path, np.zeros(3)) + c.direction * xk
        values = self.values(x)
        slopes: list[tuple[str, Array]] = []
        for c, xk in zip(self.columns, x, strict=True):
            if c.kind == "turn":
                half = 0.5 * so3.left_jacobian(turns[c.path], c.direction)
                slopes.append((c.path, so3.product(np.append(half, 0.0), values[c.path])))
            elif c.kind == "soft":
                slopes.append((c.path, np.asarray(-self.base[c.path] / (1.0 + xk) ** 2)))
            else:
                slopes.append((c.path, np.asarray(c.direction, dtype=float)))
        return slopes

    def changed(self, x: Array) -> Model:
        """The model with the values at x, by ``model.replace``."""
        changes = {}
        for path, value in self.values(x).items():
            if path.endswith(".axis"):
                value = value / np.linalg.norm(value)
            changes[path] = value.item() if value.ndim == 0 else tuple(value.tolist())
            if value.ndim == 2:
                changes[path] = tuple(map(tuple, value.tolist()))
        touched = {c.path for c in self.columns}
        return self.model.replace({path: value for path, value in changes.items() if path in touched})


# ------------------------------------------------------------------------------------------------ reading
def read_unknowns(model: Model, parameters: Any, frames: Sequence[str], who: str, more: Sequence[str] = ()) -> Any:
    """Unknowns from a list of paths, or a mapping path -> (low, high) or None; ``more``: properties that measurements
    change."""
    given = _given(parameters, who)
    for text in given:
        model = _prepared(model, text, frames, who)
    columns: list[Unknown] = []
    for text, bounds in given.items():
        columns += _columns(model, text, bounds, who)
    names = [c.name for c in columns]
    twice = sorted({n for n in names if names.count(n) > 1})
    if twice:
        raise GyrostatError(f"{who}: parameter '{twice[0]}' is named twice. Hint: name every number once.")
    paths = dict.fromkeys([*(c.path for c in columns), *more])
    return RobotUnknowns(model, tuple(columns), {path: live_value(model, path) for path in paths})


def _given(parameters: Any, who: str) -> dict[str, tuple[float, float] | None]:
    if isinstance(parameters, str) or not isinstance(parameters, Mapping | list | tuple) or not len(parameters):
        raise GyrostatError(
            f"{who}: parameters must be a list of paths, or a mapping from paths to bounds, got {clipped(parameters)}. "
            "Hint: ['base', 'elbow.axis', 'elbow.offset']."
        )
    pairs = parameters.items() if isinstance(parameters, Mapping) else ((p, None) for p in parameters)
    given: dict[str, tuple[float, float] | None] = {}
    for path, bounds in pairs:
        if not isinstance(path, str):
            raise GyrostatError(f"{who}: parameters are paths, got {clipped(path)}. Hint: 'elbow.axis'.")
        if path in given:
            raise GyrostatError(f"{who}: parameter '{path}' is named twice. Hint: name every number once.")
        given[path] = None if bounds is None else _bounds(path, bounds, who)
    return given


def _bounds(path: str, bounds: Any, who: str) -> tuple[float, float]:
    try:
        low, high = (float(b) for b in bounds)
    except (TypeError, ValueError):
        low = high = float("nan")
    if not low < high:
        raise GyrostatError(f"{who}: '{path}' needs bounds (low, high) with low < high, got {clipped(bounds)}.")
    return low, high


def _mounting(text: str) -> tuple[str, str] | None:
    """("base" or "tool", one of x y z rx ry rz or nothing)."""
    first, _, rest = text.partition(".")
    known = first in ("base", "tool") and rest in ("", "x", "y", "z", "rx", "ry", "rz")
    return (first, rest) if known else None


def _prepared(model: Model, text: str, frames: Sequence[str], who: str) -> Model:
    """The model with the displacement that an unknown needs, and rotations in a form that may be live."""
    mounted = _mounting(text)
    if mounted is not None and mounted[0] == "base":
        root = model.wiring.root
        return with_displacement(model, f"{root[0] if isinstance(root, tuple) else root}", BASE, who)
    if mounted is not None:
        joints = {last_joint(model, frame, who) for frame in frames}
        if len(joints) != 1:
            named = ", ".join(f"'{j}'" for j in sorted(joints))
            raise GyrostatError(
                f"{who}: 'tool' is not clear, the measured frames are behind {named or 'no joint'}. "
                "Hint: name a rotation and a translation behind the joint that is meant."
            )
        (joint,) = joints
        if model.wiring.entities[joint].coordinates and f"{joint}.b" in frames:
            raise _own_frame(joint, who)
        return with_displacement(model, f"{joint}.b", TOOL, who)
    owner, _, last = text.rpartition(".")
    if last == "offset" and owner in model.wiring.entities and model.wiring.entities[owner].is_joint:
        joint_of(model, owner, who)
        if any(frame in (owner, f"{owner}.b") for frame in frames):
            raise _own_frame(owner, who)
        return with_displacement(model, f"{owner}.b", f"{owner.rpartition('.')[2]}{ZERO}", who)
    path, _ = _component(text)
    if path.endswith(".rotation"):
        return with_quaternion(model, path)
    return model


def _own_frame(joint: str, who: str) -> GyrostatError:
    return GyrostatError(
        f"{who}: the frame '{joint}' that is measured is the joint's own, before what its error moves. "
        "Hint: measure a frame behind it, such as a gs.Displacement('tool')."
    )


def _component(text: str) -> tuple[str, str]:
    """("hand.rotation", "z") of "hand.rotation.z"."""
    path, _, last = text.rpartition(".")
    vector = path.rpartition(".")[2] in ("axis", "rotation", "translation", "com", "position")
    return (path, last) if vector and last in ("x", "y", "z") else (text, "")


def _columns(model: Model, text: str, bounds: Any, who: str) -> list[Unknown]:
    limits = (-np.inf, np.inf) if bounds is None else bounds
    mounted = _mounting(text)
    if mounted is not None:
        entity, one = (BASE if mounted[0] == "base" else TOOL), mounted[1]
        full = next(n for n in model.wiring.entities if n.rpartition(".")[2] == entity)
        wanted = [one] if one else ["x", "y", "z", "rx", "ry", "rz"]
        return [_mount(model, full, mounted[0], w, limits) for w in wanted]
    owner, _, last = text.rpartition(".")
    if last == "offset" and owner in model.wiring.entities and model.wiring.entities[owner].is_joint:
        return [_offset(model, owner, limits, who)]
    path, one = _component(text)
    if path.endswith(".axis"):
        return _tilts(model, path, one, limits, who)
    if path.endswith(".rotation"):
        return [_turn(f"{path}.{w}", path, w, limits) for w in ([one] if one else LETTERS)]
    return _numbers(model, path, one, limits, who)


def _mount(model: Model, entity: str, word: str, which: str, limits: tuple[float, float]) -> Unknown:
    if which[0] == "r":
        return _turn(f"{word}.{which}", f"{entity}.rotation", which[1], limits)
    path, direction = f"{entity}.translation", np.eye(3)[LETTERS.index(which)]
    start = float(np.array(model[path]) @ direction)
    return Unknown(f"{word}.{which}", path, "number", direction, "m", EXPECTED["m"], limits, start)


def _turn(name: str, path: str, letter: str, limits: tuple[float, float]) -> Unknown:
    direction = np.eye(3)[LETTERS.index(letter)]
    return Unknown(name, f"{path}.quaternion", "turn", direction, "rad", EXPECTED["rad"], limits)


def _offset(model: Model, joint: str, limits: tuple[float, float], who: str) -> Unknown:
    entity = joint_of(model, joint, who)
    axis = np.array(entity.axis, dtype=float)
    axis = axis / np.linalg.norm(axis)
    zero = f"{joint}{ZERO}"
    if entity.kind == "prismatic":
        start = float(np.array(model[f"{zero}.translation"]) @ axis)
        return Unknown(f"{joint}.offset", f"{zero}.translation", "number", axis, "m", EXPECTED["m"], limits, start)
    if entity.kind == "helical":
        raise GyrostatError(f"{who}: the offset of the helical joint '{joint}' shifts and turns at once. Hint: 'tool'.")
    return Unknown(f"{joint}.offset", f"{zero}.rotation.quaternion", "turn", axis, "rad", EXPECTED["rad"], limits)


def _tilts(model: Model, path: str, one: str, limits: tuple[float, float], who: str) -> list[Unknown]:
    """A turn by a small angle about n across the axis is the change n x axis."""
    owner = path.rpartition(".")[0]
    axis = np.array(live_value(model, path))
    axis = axis / np.linalg.norm(axis)
    about = [np.eye(3)[k] for k in range(3) if abs(axis[k]) < 1e-12]
    if len(about) != 2:
        first = np.eye(3)[int(np.argmin(np.abs(axis)))]
        first = first - axis * (axis @ first)
        first = first / np.linalg.norm(first)
        about = [first, np.cross(axis, first)]
    unknowns = []
    for n in about:
        inside = next((LETTERS[k] for k in range(3) if abs(n[k]) > 1.0 - 1e-12), "")
        name = f"{path}.{inside}" if inside else f"{path} about ({', '.join(f'{c:.3g}' for c in n)})"
        unknowns.append(Unknown(name, path, "number", np.cross(n, axis), "rad", EXPECTED["rad"], limits, 0.0))
    if not one:
        return unknowns
    chosen = [u for u in unknowns if u.name == f"{path}.{one}"]
    if not chosen:
        raise GyrostatError(
            f"{who}: the axis of '{owner}' does not tilt about {one}, it is {tuple(axis.round(4).tolist())}. "
            f"Hint: {', '.join(u.name for u in unknowns)}."
        )
    return chosen


def _numbers(model: Model, path: str, one: str, limits: tuple[float, float], who: str) -> list[Unknown]:
    path = model.canonical(path)
    value, last = live_value(model, path), path.rpartition(".")[2]
    if value.ndim == 0:
        return [_number(path, path, np.array(1.0), float(value), last, limits, who)]
    if value.ndim > 1:
        raise GyrostatError(f"{who}: '{path}' is a matrix. Hint: calibration takes numbers and vectors.")
    names = LETTERS if len(value) == 3 else [str(k) for k in range(len(value))]
    chosen = [k for k, letter in enumerate(names) if one in ("", letter)]
    directions = np.eye(len(value))
    return [_number(f"{path}.{names[k]}", path, directions[k], float(value[k]), last, limits, who) for k in chosen]


def _number(
    name: str, path: str, direction: Array, start: float, last: str, limits: tuple[float, float], who: str
) -> Unknown:
    if last in SOFT:
        if not start > 0.0:
            raise GyrostatError(f"{who}: '{name}' is {start:g}. Hint: begin with a positive stiffness.")
        return Unknown(name, path, "soft", direction, "", COMPLIANCE, limits, start)
    if last in LENGTHS and ".gear." not in path:
        return Unknown(name, path, "number", direction, "m", EXPECTED["m"], limits, start)
    if last in ANGLES or last == "offset":
        return Unknown(name, path, "number", direction, "rad", EXPECTED["rad"], limits, start)
    share = RATIO if last == "ratio" else RELATIVE
    return Unknown(name, path, "number", direction, "", share * (abs(start) or 1.0), limits, start)
