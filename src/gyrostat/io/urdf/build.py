"""Links and joints of a URDF to a model: for each joint its origin, itself and its child link, then its drive."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gyrostat.geometry.rotation import from_euler
from gyrostat.io.accept_policy import AcceptedBody, AcceptedPlace
from gyrostat.io.inertia_rules import matrix
from gyrostat.io.safe_xml import Element
from gyrostat.io.urdf.drive_entities import drive_entities
from gyrostat.io.urdf.joints import UrdfJoint
from gyrostat.io.urdf.links import UrdfLink
from gyrostat.io.urdf.names import WORLD, UrdfNames, name_all
from gyrostat.io.urdf.robot import Robot
from gyrostat.io.urdf.shapes import Color, named_colors, to_shape
from gyrostat.io.urdf.tree import Tree
from gyrostat.io.xml_elements import Reader
from gyrostat.spec.context import Context
from gyrostat.spec.displacement import Displacement
from gyrostat.spec.entity import Entity
from gyrostat.spec.joint import Joint
from gyrostat.spec.model import Model
from gyrostat.spec.reference_frame import ReferenceFrame
from gyrostat.spec.rigid_body import RigidBody
from gyrostat.spec.values import Euler


@dataclass
class Builder:
    """Puts a model together. ``unphysical``: links whose inertias no body has; ``massless``: links without mass, nor
    any beyond, that move nevertheless; both are accepted as they are."""

    reader: Reader
    robot: Robot
    tree: Tree
    unphysical: set[str]
    massless: set[str]
    file: str
    names: UrdfNames = field(init=False)
    empty: set[str] = field(init=False)  # links that move in a group without mass
    colors: dict[str, Color] = field(init=False)
    entities: list[Entity] = field(default_factory=lambda: [ReferenceFrame(WORLD)])
    connections: list[tuple[str, ...]] = field(default_factory=list)
    sources: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        robot, tree = self.robot, self.tree
        self.names = name_all(self.reader, robot, tree.root)
        group, own, _ = tree.carried(robot)
        self.empty = {name for name in group if group[name] != tree.root and own[group[name]] == 0.0}
        shapes = [shape for link in robot.links.values() for shape in link.shapes]
        self.colors = named_colors(self.reader, robot.root, shapes)

    def model(self, base: str, fallback: str) -> Model:
        """The model: the reference frame, the root link, then every joint with its child; drives come last.

        ``fallback``: the name of the model if that of the robot cannot be used.
        """
        self._root()
        moved = [(self._joint(joint), joint) for joint in self.robot.joints.values()]
        for entity, joint in moved:
            self._drive(entity, joint)
        name = self.robot.name
        title = name if name and name.isprintable() else fallback
        return Model(title, tuple(self.entities), tuple(self.connections), Context(base=base), self.sources)

    def _note(self, path: str, element: Element) -> None:
        self.sources[path] = f"{self.file}:{self.reader.line(element)}"

    # ------------------------------------------------------------------ links
    def _root(self) -> None:
        root = self.tree.root
        if self.names.link[root] == WORLD:
            self._leave_shapes_out(self.robot.links[root], "the link is the world itself")
        else:
            self._link(root)
            self.connections.append((f"{WORLD}.frame", self._port(root, "a")))

    def _link(self, name: str) -> None:
        link = self.robot.links[name]
        entity = self._body(link)
        if isinstance(entity, RigidBody):
            shapes = tuple(to_shape(shape, self.colors) for shape in link.shapes)
            entity = entity.model_copy(update={"shapes": shapes}) if shapes else entity
        else:
            self._leave_shapes_out(link, "a link that moves without mass is a mere frame")
        self.entities.append(entity)
        if name in self.massless and isinstance(entity, RigidBody):  # inertia without mass, moving
            place = AcceptedPlace(self.names.free(f"{entity.name[:110]}_accepted", "place"))
            self.entities.append(place)
            self.connections.append((f"{entity.name}.origin", f"{place.name}.a"))
        self._note(entity.name, link.element)
        for key, element in link.places.items():
            self._note(f"{entity.name}.{key}", element)

    def _body(self, link: UrdfLink) -> Entity:
        """A body; a place without mass that moves by itself is a displacement by nothing."""
        name, unphysical = self.names.link[link.name], link.name in self.unphysical
        if link.name in self.empty and not unphysical:
            return AcceptedPlace(name) if link.name in self.massless else Displacement(name)
        values: dict[str, Any] = {"mass": link.mass, "com": link.com, "inertia": _inertia(link)}
        return AcceptedBody(name, **values) if unphysical else RigidBody(name, **values)

    def _leave_shapes_out(self, link: UrdfLink, why: str) -> None:
        for shape in link.shapes:
            what = f"{why}; its {shape.role} is not in the model"
            self.reader.ignore(shape.element, f"unused-{shape.role}", what)

    def _port(self, link: str, side: str) -> str:
        """Where a joint meets a link: ``side`` of one without mass, which is a displacement."""
        name = self.names.link[link]
        if name == WORLD:
            return f"{WORLD}.frame"
        return f"{name}.{side if link in self.empty and link not in self.unphysical else 'origin'}"

    # ------------------------------------------------------------------ joints
    def _joint(self, joint: UrdfJoint) -> Joint:
        """The origin of a joint, itself and its child."""
        origin, name = self.names.origin[joint.name], self.names.joint[joint.name]
        axis = {} if joint.axis is None else {"axis": joint.axis}
        entity = Joint(name, joint.kind, **axis, **joint.drive.limits)
        self.entities += [Displacement(origin, translation=joint.xyz, rotation=Euler(euler=joint.rpy)), entity]
        self._note(origin, joint.at("origin"))
        self._note(name, joint.element)
        self._note(f"{name}.axis", joint.at("axis"))
        self._link(joint.child)
        self.connections.append((self._port(joint.parent, "b"), f"{origin}.a"))
        self.connections += [(f"{origin}.b", f"{name}.a"), (f"{name}.b", self._port(joint.child, "a"))]
        return entity

    def _drive(self, entity: Joint, joint: UrdfJoint) -> None:
        parts, connections = drive_entities(entity.name, entity, joint.drive, self.names.joint, self.names.free)
        self.entities += parts
        self.connections += connections
        for part in parts:
            self._note(part.name, joint.element)


def _inertia(link: UrdfLink) -> np.ndarray:
    """(3, 3) about the centre of mass, in the axes of the link: R I R^T."""
    I = matrix(link)
    if not any(link.rpy):
        return I
    R = from_euler(np.array(link.rpy), "xyz")
    I = R @ I @ R.T
    return (I + I.T) / 2.0
