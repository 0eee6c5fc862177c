"""How the links of a URDF hang together: one tree, or it is told why not."""

from __future__ import annotations

from dataclasses import dataclass, field

from gyrostat.io.urdf.joints import UrdfJoint
from gyrostat.io.urdf.robot import Robot
from gyrostat.io.xml_elements import Reader


@dataclass
class Tree:
    """``order``: links outward from the root; ``above``: the joint that carries each link but the root."""

    root: str
    above: dict[str, UrdfJoint]
    order: list[str] = field(default_factory=list)
    below: dict[str, list[UrdfJoint]] = field(default_factory=dict)

    def carried(self, robot: Robot) -> tuple[dict[str, str], dict[str, float], dict[str, float]]:
        """For each link the first link of its rigid group; the mass [kg] of each group; that of it and all beyond."""
        group: dict[str, str] = {}
        for name in self.order:
            joint = self.above.get(name)
            group[name] = name if joint is None or joint.moves else group[joint.parent]
        own: dict[str, float] = dict.fromkeys(group.values(), 0.0)
        for name in self.order:
            own[group[name]] += abs(robot.links[name].mass)
        beyond = dict(own)
        for name in reversed(self.order):
            joint = self.above.get(name)
            if joint is not None and joint.moves:
                beyond[group[joint.parent]] += beyond[name]
        return group, own, beyond


def find_tree(reader: Reader, robot: Robot, complete: bool) -> Tree | None:
    """The tree of all links, or None and errors. ``complete``: whether all joints could be read."""
    above: dict[str, UrdfJoint] = {}
    fine = complete
    for joint in robot.joints.values():
        if joint.parent == joint.child:
            what = "joins a link with itself"
            reader.error(joint.element, "self-joint", what, repr(joint.child), "name two different links")
            fine = False
        elif joint.child in above:
            what = f"is a second joint that carries link '{joint.child}': a loop, or a name given twice"
            fix = "keep one of them; loops are not part of URDF"
            reader.error(joint.element, "two-parents", what, f"the first is '{above[joint.child].name}'", fix)
            fine = False
        else:
            above[joint.child] = joint
    if not fine:
        return None
    roots = [name for name in robot.links if name not in above]
    if len(roots) > 1:
        for name in roots[1:]:
            what = f"is carried by no joint, like link '{roots[0]}': there must be one root"
            fix = "join it to the others, for example by a fixed joint"
            shown = ", ".join(map(repr, roots[:6])) + (", ..." if len(roots) > 6 else "")
            reader.error(robot.links[name].element, "several-roots", what, f"{len(roots)} roots: {shown}", fix)
        return None
    tree = Tree(roots[0] if roots else "", above)
    for joint in robot.joints.values():
        tree.below.setdefault(joint.parent, []).append(joint)
    tree.order = roots
    for name in tree.order:
        tree.order += [joint.child for joint in tree.below.get(name, ())]
    reached = set(tree.order)
    missing = [name for name in robot.links if name not in reached]
    if missing:
        shown = ", ".join(map(repr, missing[:6])) + (", ..." if len(missing) > 6 else "")
        what, fix = "the joints form a loop that hangs on nothing", "loops are not part of URDF; open it"
        reader.error(robot.links[missing[0]].element, "loop", what, shown, fix)
        return None
    return tree
