"""Which links and joints of a URDF keep their names in the model."""

from __future__ import annotations

from dataclasses import dataclass, field

from gyrostat.io.names import Names
from gyrostat.io.urdf.joints import UrdfJoint
from gyrostat.io.urdf.links import UrdfLink
from gyrostat.io.urdf.robot import Robot
from gyrostat.io.xml_elements import Reader
from gyrostat.spec.wiring import is_name

WORLD = "world"


@dataclass
class UrdfNames:
    """Names in the model by those in the file; ``origin``: by joint, of the displacement before it."""

    names: Names
    link: dict[str, str] = field(default_factory=dict)
    joint: dict[str, str] = field(default_factory=dict)
    origin: dict[str, str] = field(default_factory=dict)

    def free(self, wanted: str, sort: str) -> str:
        """A name that is not in use."""
        return self.names.free(wanted, sort)


def name_all(reader: Reader, robot: Robot, root: str) -> UrdfNames:
    """Joints that move keep their names first, then links, then fixed joints. ``root``: the link that carries all; one
    called world without mass is the reference frame."""
    names = UrdfNames(Names(reader))
    if root == WORLD and robot.links[root].mass == 0.0:
        names.link[WORLD] = WORLD
    moving = [joint for joint in robot.joints.values() if joint.moves]
    fixed = [joint for joint in robot.joints.values() if not joint.moves]
    rows: list[tuple[dict[str, str], str, UrdfJoint | UrdfLink]] = [(names.joint, "joint", j) for j in moving]
    rows += [(names.link, "link", link) for link in robot.links.values() if link.name not in names.link]
    rows += [(names.joint, "joint", joint) for joint in fixed]
    for usable in (True, False):
        for table, sort, item in rows:
            if is_name(item.name) == usable:
                table[item.name] = names.names.give(item.name, sort, item.element, sort)
    for name, given in names.joint.items():
        names.origin[name] = names.free(f"{given[:110]}_origin", "origin")
    return names
