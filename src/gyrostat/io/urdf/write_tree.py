"""A model as links and joints: what moves together becomes links fixed to each other, what moves a joint of URDF."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gyrostat.errors import Problem
from gyrostat.graph.lower import Placement, Values, lower
from gyrostat.spatial.algebra import Array, compose, cross
from gyrostat.spec.displacement import Displacement
from gyrostat.spec.entity import Entity
from gyrostat.spec.force_element import ForceElement
from gyrostat.spec.joint import Joint
from gyrostat.spec.model import Model
from gyrostat.spec.reference_frame import ReferenceFrame
from gyrostat.spec.rigid_body import RigidBody
from gyrostat.spec.rotor import LockedRotor, RotorInertia
from gyrostat.spec.spanning_tree import Visit
from gyrostat.spec.wiring import label_of

HERE: Placement = (np.eye(3), np.zeros(3))


@dataclass
class Spot:
    """A named place of a group: a body, a frame of one, or an open displacement; ``fixed``: the fixed joint on the way
    to it, if there is one."""

    name: str
    place: Placement
    body: RigidBody | None = None
    fixed: str = ""

    @property
    def here(self) -> bool:
        return not self.place[1].any() and np.array_equal(self.place[0], np.eye(3))


@dataclass
class Step:
    """A joint of URDF; ``rate``: whose coordinate it has."""

    name: str
    kind: str
    axis: Array | None
    rate: tuple[str, int] | None


@dataclass
class Group:
    """Everything that moves together. ``parent`` and ``place``: the group before the joint and where it sits there;
    ``steps``: the joints of URDF that take the place of ``joint``."""

    joint: str = ""
    parent: int = -1
    place: Placement = HERE
    steps: list[Step] = field(default_factory=list)
    spots: list[Spot] = field(default_factory=list)
    empty: list[Spot] = field(default_factory=list)  # displacements by nothing: links without mass


@dataclass
class Parts:
    """Groups in the order of the file; ``lost``: what URDF cannot say; ``essential``: what it must say and cannot;
    ``loops``: without which it would be another mechanism.

    ``rotors``: for each rotor the group that carries it, and its axis there."""

    groups: list[Group] = field(default_factory=list)
    rotors: dict[str, tuple[Group, Array]] = field(default_factory=dict)
    lost: list[Problem] = field(default_factory=list)
    essential: list[Problem] = field(default_factory=list)
    loops: list[Problem] = field(default_factory=list)


def groups_of(model: Model) -> Parts:
    """The groups of a model, each joint's after that of the joint before it."""
    walk = _Walk(model)
    for loop in model.wiring.tree.loops:
        remedy = "save it as YAML, or take a joint of the loop out: a URDF is a tree"
        walk.parts.loops.append(Problem("model", "urdf-loop", f"has a loop, {loop}", remedy, loop.entities))
    for visit in model.wiring.tree.visits:
        walk.meet(visit)
    return _ordered(model, walk.parts)


class _Walk:
    """From the reference frame outward: which group every port belongs to, and where it is in it."""

    def __init__(self, model: Model):
        self.wiring, self.parts = model.wiring, Parts()
        self.at: dict[str, tuple[int, Placement]] = {}  # port -> group, place in it
        self.fixed: dict[str, str] = {}  # port -> the fixed joint that leads to it
        self.connected = {port for group in model.wiring.groups for port in group}

    def meet(self, visit: Visit) -> None:
        """One entity, by what URDF can make of it; what lies behind something that cannot be said is passed over."""
        name, entity = visit.entity, self.wiring.entities[visit.entity]
        if isinstance(entity, ReferenceFrame):
            self.parts.groups.append(Group())
            self.at[f"{name}.frame"] = 0, HERE
        elif str(visit.source) not in self.at or isinstance(entity, ForceElement):  # forces are told elsewhere
            return
        elif isinstance(entity, Joint | RotorInertia) and type(entity) not in (Joint, RotorInertia):
            self.parts.essential.append(_cannot(entity, name, "is unknown to URDF", "take it out"))
        elif isinstance(entity, Joint):
            self._joint(visit, entity)
        else:
            self._rigid(visit, entity)

    def _joint(self, visit: Visit, joint: Joint) -> None:
        """What moves beyond a joint is a group; beyond a fixed one the group goes on."""
        name, (k, place) = visit.entity, self.at[str(visit.source)]
        out = f"{name}.{'a' if visit.inport == 'b' else 'b'}"
        steps = [] if joint.kind == "fixed" else _steps(name, joint, visit.inport == "b", self.parts)
        if steps:
            self.at[out] = len(self.parts.groups), HERE
            self.parts.groups.append(Group(name, k, place, steps))
        else:
            self.at[out], self.fixed[out] = (k, place), name

    def _rigid(self, visit: Visit, entity: Entity) -> None:
        """What sits in a group: bodies, displacements, rotors."""
        name, (k, place), group = visit.entity, self.at[str(visit.source)], self._group(visit)
        seen = lower(entity, Values(name, entity, {}), visit.inport)
        if isinstance(entity, RotorInertia):
            self.parts.rotors[name] = group, place[0] @ seen.props["axis"]
            if entity.mass and seen.beside is not None:  # what it weighs is a link of its own
                group.spots.append(Spot(name, place, _body(entity, seen.beside)))
        elif seen.kind not in (RigidBody, Displacement):
            self.parts.essential.append(_cannot(entity, name, "is unknown to URDF", "take it out"))
        elif isinstance(entity, LockedRotor):
            group.spots.append(Spot(name, place, _body(entity, seen.props)))
        else:
            for out, inner in seen.places.items():
                self.at[f"{name}.{out}"] = k, compose(*place, *inner)
            way = self.fixed.get(str(visit.source), "")
            _spots(group, name, entity, place, way, self.at, self.connected, str(visit.inport))

    def _group(self, visit: Visit) -> Group:
        return self.parts.groups[self.at[str(visit.source)][0]]


def _body(entity: Entity, values: Mapping[str, Any]) -> RigidBody:
    """The mass of a rotor as a body."""
    return RigidBody(entity.name, **{key: values[key] for key in ("mass", "com", "inertia")})


def _spots(
    group: Group,
    name: str,
    entity: Entity,
    place: Placement,
    way: str,
    at: dict[str, tuple[int, Placement]],
    connected: set[tuple[str, str]],
    inport: str,
) -> None:
    """The links that an entity becomes."""
    if isinstance(entity, RigidBody):
        origin = place if inport == "origin" else at[f"{name}.origin"][1]
        group.spots.append(Spot(name, origin, entity, way))
        for frame in entity.frames:
            there = place if inport == frame.name else at[f"{name}.{frame.name}"][1]
            group.spots.append(Spot(f"{name}.{frame.name}", there))
        return
    far = "a" if inport == "b" else "b"
    spot = Spot(name, at[f"{name}.{far}"][1], None, way)
    if (name, far) not in connected:
        group.spots.append(spot)
    elif spot.here:
        group.empty.append(spot)


def _ordered(model: Model, parts: Parts) -> Parts:
    """Joints in the order of the state."""
    rank = {name: k for k, name in enumerate(model.wiring.state_order(), start=1)}
    order = sorted(range(len(parts.groups)), key=lambda k: rank.get(parts.groups[k].joint, 0))
    place = {k: new for new, k in enumerate(order)}
    parts.groups = [parts.groups[k] for k in order]
    for group in parts.groups:
        group.parent = place.get(group.parent, -1)
    return parts


def _cannot(entity: Entity, name: str, message: str, remedy: str) -> Problem:
    return Problem(label_of(entity, name), "urdf-lacks", message, remedy, name)


def _steps(name: str, joint: Joint, far: bool, parts: Parts) -> list[Step]:
    """The joints of URDF that mean the same as a joint that is met from a, or from the far side; none if there are
    none, and then the joint is told.

    Met from b, the motion is undone: a turn by -q about the axis is one by q about its opposite. Several coordinates
    keep their order only if their motions commute."""
    seen = lower(joint, Values(name, joint, {}), "b" if far else "a").props
    axis: Any = -seen["axis"] if far and "axis" in seen else seen.get("axis")
    second: Any = seen.get("second_axis")
    kind = joint.kind
    if kind in ("revolute", "continuous", "prismatic"):
        free = kind == "revolute" and joint.lower is None and joint.upper is None
        return [Step(name, "continuous" if free else kind, axis, (name, 0))]
    if kind == "cylindrical":
        return _chain(name, joint, parts, [("angle", "continuous", axis), ("shift", "prismatic", axis)])
    if not far and kind == "universal":
        return _chain(name, joint, parts, [("angle1", "continuous", axis), ("angle2", "continuous", second)])
    if not far and kind == "planar":
        shifts = [("x", "prismatic", second), ("y", "prismatic", cross(axis, second))]
        return _chain(name, joint, parts, [*shifts, ("angle", "continuous", axis)])
    if not far and kind == "free":
        return [Step(name, "floating", None, None)]
    why = " that is met from its far side" if far and kind not in ("helical", "spherical") else ""
    message = f"URDF has no {kind} joint{why}"
    remedy = "use revolute or prismatic joints, or save with allow_loss=True, which makes it fixed"
    parts.essential.append(_cannot(joint, name, message, remedy))
    return []


def _chain(name: str, joint: Joint, parts: Parts, steps: list[tuple[str, str, Any]]) -> list[Step]:
    """Simple joints in a row that have the same coordinates in the same order."""
    chain = [Step(f"{name}_{suffix}", kind, axis, (name, k)) for k, (suffix, kind, axis) in enumerate(steps)]
    called = ", ".join(step.name for step in chain)
    message = f"URDF has no {joint.kind} joint that says its directions; it is written as {called}"
    parts.lost.append(Problem(label_of(joint, name), "urdf-chain", message, "its coordinates have these names", name))
    return chain
