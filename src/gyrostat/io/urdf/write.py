"""A model as URDF text, and a list of what URDF cannot say."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from gyrostat.errors import Problem, SaveError
from gyrostat.io.urdf.write_drives import Drive, Rate, drives_of
from gyrostat.io.urdf.write_tree import Group, Parts, Spot, Step, groups_of
from gyrostat.io.urdf.write_xml import Element, add_origin, add_shapes, inertial, new, numbers, put, text_of
from gyrostat.spec.check import check
from gyrostat.spec.contact_law import ContactEntity
from gyrostat.spec.context import Context, UniformGravity
from gyrostat.spec.entity import Entity
from gyrostat.spec.force_element import ForceElement
from gyrostat.spec.joint import Joint
from gyrostat.spec.model import Model
from gyrostat.spec.pair_forces import PairForce
from gyrostat.spec.rigid_body import RigidBody
from gyrostat.spec.wiring import is_name, label_of

STANDARD = (0.0, 0.0, -9.81)
NO_LIMIT = 1e9
"""What is written where URDF demands a limit and the model has none."""


def to_urdf(model: Model, place: Path | None = None, allow_loss: bool = False) -> tuple[str, tuple[Problem, ...]]:
    """The model as URDF text, and what of it URDF cannot say.

    ``place``: where the file will be; meshes below its folder get relative names. Raises :class:`SaveError` if
    coordinates or whole joints cannot be said, unless ``allow_loss``: then such joints become fixed. Closed loops are
    refused in any case: what is left of one is another mechanism.
    """
    check(model)
    parts = groups_of(model)
    drives = drives_of(model, parts)
    if parts.loops or (parts.essential and not allow_loss):
        raise SaveError(parts.loops + parts.essential)
    parts.lost[:0] = parts.essential
    _context(model.context, parts)
    for name, entity in model.wiring.entities.items():
        _unsaid(name, entity, parts)
    if model.solvers:
        message = f"specifications of solvers cannot be said: {', '.join(model.solvers)}"
        parts.lost.append(Problem("model", "urdf-solvers", message, "give them again after loading: with_solvers"))
    robot = _Robot(model, parts, drives, place)
    return text_of(robot.root), tuple(parts.lost)


def _context(context: Context, parts: Parts) -> None:
    gravity, base = context.gravity, context.base
    if not isinstance(gravity, UniformGravity) or gravity.g != STANDARD:
        shown = numbers(gravity.g) if isinstance(gravity, UniformGravity) else type(gravity).__name__
        remedy = "set it after loading: model.replace({'context.gravity': ...})"
        parts.lost.append(Problem("context", "urdf-gravity", f"gravity cannot be said, it is {shown}", remedy))
    if base == "free":
        message, remedy = "that the base is free cannot be said", "load it with base='free'"
        parts.lost.append(Problem("context", "urdf-base", message, remedy, base))
    elif base != "fixed":
        message, remedy = "the motion of the base cannot be said", "set context.base after loading"
        parts.lost.append(Problem("context", "urdf-base", message, remedy, base))


def _unsaid(name: str, entity: Entity, parts: Parts) -> None:
    def tell(message: str, remedy: str) -> None:
        parts.lost.append(Problem(label_of(entity, name), "urdf-lacks", message, remedy, name))

    if isinstance(entity, RigidBody) and any(entity.momentum):
        tell(f"internal momentum {numbers(entity.momentum)} cannot be said", "set it again after loading")
    if isinstance(entity, ForceElement | PairForce):
        tell("forces cannot be said", "add it again after loading")
    if isinstance(entity, ContactEntity):
        tell("contact cannot be said", "add it again after loading: model.with_ground(...)")


class _Robot:
    """Builds the document: names first, then for each group its joints and links."""

    def __init__(self, model: Model, parts: Parts, drives: Mapping[Rate, Drive], place: Path | None):
        self.model, self.parts, self.drives = model, parts, drives
        self.folder = None if place is None else place.parent
        self.taken: set[str] = set()
        self.root = new("robot", name=model.name or "robot")
        self.joint_of: dict[Rate, str] = {}
        self.links: list[str] = []  # the top of each group
        for group in parts.groups:
            for step in group.steps:
                step.name = self.free(step.name, step.rate[0] if step.rate else "")
                if step.rate is not None:
                    self.joint_of[step.rate] = step.name
        self.tops = [self._top(group) for group in parts.groups]
        unlimited = [self._group(k, group) for k, group in enumerate(parts.groups)]
        if any(unlimited):
            message = f"URDF demands limits where the model has none; {NO_LIMIT:g} is written there"
            parts.lost.append(Problem("joints", "urdf-limits", message, "give the joints their limits", NO_LIMIT))

    def free(self, wanted: str, entity: str = "") -> str:
        """A name that is not taken; ``entity``: whose name it is, told if it changes."""
        name = "".join(c if is_name(c) else "_" for c in wanted)
        tried, k = name, 1
        while tried in self.taken:
            k += 1
            tried = f"{name}_{k}"
        self.taken.add(tried)
        if entity and tried != entity and entity == wanted:
            label = label_of(self.model.wiring.entities[entity], entity)
            message = f"is called '{tried}' in the file"
            self.parts.lost.append(Problem(label, "urdf-name", message, "names have no dots there", entity))
        return tried

    def _top(self, group: Group) -> Spot:
        """The link whose frame is that of the group: a body that sits there, or a link without mass."""
        here = [spot for spot in group.spots if spot.here and spot.body is not None]
        if here or (group.steps and group.empty):
            return here[0] if here else group.empty[0]
        name = f"{group.joint}_link" if group.steps else self.model.wiring.root or "world"
        return Spot(name, (np.eye(3), np.zeros(3)))

    def _group(self, k: int, group: Group) -> bool:
        top, entities = self.tops[k], self.model.wiring.entities
        names = {id(top): self.free(top.name, top.name if top.name in entities else "")}
        for spot in group.spots:
            if spot is not top:
                names[id(spot)] = self.free(spot.name.replace(".", "_"), spot.name if spot.name in entities else "")
        unlimited = self._joints(group, names[id(top)])
        self.links.append(names[id(top)])
        self._link(names[id(top)], top)
        for spot in group.spots:
            if spot is not top:
                self._fixed(names[id(top)], names[id(spot)], spot)
                self._link(names[id(spot)], spot)
        return unlimited

    # ------------------------------------------------------------------ links
    def _link(self, name: str, spot: Spot) -> None:
        link = put(self.root, "link", name=name)
        if spot.body is None:
            return
        if spot.body.mass or any(any(row) for row in spot.body.inertia):
            inertial(link, spot.body)
        for shape in add_shapes(link, name, spot.body.shapes, self._mesh):
            message, remedy = f"URDF has no {shape.kind}", "draw it as a mesh, or as one of URDF's solids"
            self.parts.lost.append(Problem(spot.body.label, "urdf-shape", message, remedy, shape.kind))

    def _mesh(self, file: str) -> str:
        """A mesh beside the file gets a relative name; others keep theirs, and readers may refuse them."""
        if not os.path.isabs(file):
            return file
        folder = None if self.folder is None else os.path.realpath(self.folder)
        if folder is not None and Path(os.path.realpath(file)).is_relative_to(folder):
            return Path(os.path.relpath(os.path.realpath(file), folder)).as_posix()
        message = f"the mesh '{file}' is outside the folder of the URDF; readers may refuse its name"
        self.parts.lost.append(Problem("mesh", "urdf-mesh", message, "save the URDF above its meshes", file))
        return file

    def _fixed(self, parent: str, child: str, spot: Spot) -> None:
        name = self.free((spot.fixed or f"{child}_fixed").replace(".", "_"))
        joint = put(self.root, "joint", name=name, type="fixed")
        add_origin(joint, *spot.place)
        put(joint, "parent", link=parent)
        put(joint, "child", link=child)

    # ------------------------------------------------------------------ joints
    def _joints(self, group: Group, child: str) -> bool:
        """The joints of a group in a row, with links without mass between them."""
        before = self.links[group.parent] if group.steps else ""
        place, unlimited = group.place, False
        for k, step in enumerate(group.steps):
            after = child if k == len(group.steps) - 1 else self.free(f"{step.name}_link")
            joint = put(self.root, "joint", name=step.name, type=step.kind)
            add_origin(joint, *place)
            put(joint, "parent", link=before)
            put(joint, "child", link=after)
            if step.axis is not None:
                put(joint, "axis", xyz=numbers(step.axis))
            unlimited |= self._properties(joint, step)
            if after != child:
                put(self.root, "link", name=after)
            before, place = after, (np.eye(3), np.zeros(3))
        return unlimited

    def _properties(self, joint: Element, step: Step) -> bool:
        """Limits, damping, followers and transmission; whether limits had to be made up."""
        if step.rate is None:
            return False
        entity = self.model.wiring.entities[step.rate[0]]
        unlimited = isinstance(entity, Joint) and _limits(joint, step.kind, entity)
        drive = self.drives.get(step.rate)
        if drive is None:
            return unlimited
        if drive.damping or drive.friction:
            put(joint, "dynamics", damping=repr(drive.damping), friction=repr(drive.friction))
        if drive.mimic is not None:
            leader, multiplier, offset = drive.mimic
            values = {"joint": self.joint_of[leader], "multiplier": repr(multiplier), "offset": repr(offset)}
            put(joint, "mimic", **values)
        for rotor in drive.rotors:
            self._transmission(step.name, *rotor, drive.motor)
        return unlimited

    def _transmission(
        self, joint: str, rotor: str, ratio: float, inertia: float, reflected: bool, motor: Mapping[str, float]
    ) -> None:
        owner = rotor.rpartition(".")[0] or rotor
        element = put(self.root, "transmission", name=self.free(f"{owner}_transmission".replace(".", "_")))
        put(element, "type").text = "transmission_interface/SimpleTransmission"
        put(put(element, "joint", name=joint), "hardwareInterface").text = "hardware_interface/EffortJointInterface"
        actuator = put(element, "actuator", name=self.free(rotor.replace(".", "_")))
        put(actuator, "mechanicalReduction").text = repr(ratio)
        put(actuator, "rotorInertia", **({"reflected": "true"} if reflected else {})).text = repr(inertia)
        for key, tag in (("torque_limit", "torqueLimit"), ("speed_limit", "speedLimit")):
            if key in motor:
                put(actuator, tag).text = repr(motor[key])


def _limits(joint: Element, kind: str, entity: Joint) -> bool:
    """<limit>, which URDF demands of revolute and prismatic joints; True if the model lacks one of its numbers."""
    given = {"lower": entity.lower, "upper": entity.upper}
    given |= {"effort": entity.effort_limit, "velocity": entity.velocity_limit}
    bounded = kind in ("revolute", "prismatic")
    if not bounded and given["effort"] is None and given["velocity"] is None:
        return False
    values = {"lower": -NO_LIMIT, "upper": NO_LIMIT, "effort": NO_LIMIT, "velocity": NO_LIMIT}
    wanted = [key for key in values if bounded or key in ("effort", "velocity")]
    values |= {key: value for key, value in given.items() if value is not None}
    put(joint, "limit", **{key: repr(values[key]) for key in wanted})
    return any(given[key] is None for key in wanted)
