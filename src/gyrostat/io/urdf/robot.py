"""The links and joints of a URDF, in the order of the file."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeVar

from gyrostat.errors import nearest
from gyrostat.io.mesh_paths import Roots
from gyrostat.io.safe_xml import Element, short
from gyrostat.io.urdf.drives import UrdfDrive
from gyrostat.io.urdf.grammar import Unknowns
from gyrostat.io.urdf.joints import UrdfJoint, read_joint
from gyrostat.io.urdf.limits import SINGLE
from gyrostat.io.urdf.links import UrdfLink, read_link
from gyrostat.io.urdf.mimics import read_mimics
from gyrostat.io.urdf.surfaces import gazebo_frictions, with_frictions
from gyrostat.io.urdf.transmissions import read_transmissions
from gyrostat.io.xml_elements import Reader

MAX_LINKS = 100_000

T = TypeVar("T", UrdfLink, UrdfJoint)


@dataclass
class Robot:
    """What a file holds, in its order."""

    name: str
    root: Element
    links: dict[str, UrdfLink] = field(default_factory=dict)
    joints: dict[str, UrdfJoint] = field(default_factory=dict)

    @property
    def drives(self) -> dict[str, UrdfDrive]:
        """Drives by joint."""
        return {name: joint.drive for name, joint in self.joints.items()}

    @property
    def kinds(self) -> dict[str, tuple[Element, str]]:
        """Element and kind by joint."""
        return {name: (joint.element, joint.kind) for name, joint in self.joints.items()}


def read_robot(reader: Reader, root: Element, roots: Roots, friction: bool, mimic: bool) -> Robot | None:
    """Links and joints in the order of the file; names that come twice are errors."""
    if not _is_robot(reader, root):
        return None
    Unknowns(reader).robot(root)
    robot = Robot(_name(reader, root), root)
    links = list(root.iterchildren("link"))
    if not links or len(links) > MAX_LINKS:
        what = f"a robot has links, at most {MAX_LINKS}"
        reader.error(root, "links", what, f"{len(links)} links", "is this the right file?")
        return robot if links else None
    for element in links:
        _keep(reader, robot.links, read_link(reader, element, roots), "link")
    for element in root.iterchildren("joint"):
        _keep(reader, robot.joints, read_joint(reader, element, robot.links, friction), "joint")
    with_frictions(robot.links.values(), gazebo_frictions(reader, root))
    drives = robot.drives
    read_mimics(reader, robot.kinds, drives, mimic)
    read_transmissions(reader, root, {name: drives[name] for name, j in robot.joints.items() if j.kind in SINGLE})
    return robot


def _is_robot(reader: Reader, root: Element) -> bool:
    if root.tag == "robot":
        return True
    what, fix = "the outermost tag must be <robot>", nearest(short(root.tag), ["robot"])
    if root.tag != short(root.tag):
        what, fix = f"{what}, without a namespace", "take xmlns and the prefix out"
    reader.error(root, "root-tag", what, f"<{root.tag[:80]}>", fix)
    return False


def _name(reader: Reader, root: Element) -> str:
    name = root.get("name")
    if not name or not name.isprintable():
        what = "<robot> has no usable name; the model is called like the file"
        reader.warn(root, "robot-name", what, "nothing" if name is None else repr(name), 'write <robot name="...">')
    return name or ""


def _keep(reader: Reader, table: dict[str, T], item: T | None, sort: str) -> None:
    if item is None:
        return
    if item.name in table:
        first = reader.line(table[item.name].element)
        what = f"another {sort} has the same name, in line {first}"
        reader.error(item.element, "unique-name", what, repr(item.name), "rename one of them")
    else:
        table[item.name] = item
