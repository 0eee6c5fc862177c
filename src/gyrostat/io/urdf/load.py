"""URDF: a file of links and joints to a model, with an audit of everything in it.

Each link becomes a rigid body whose frame is that of the link, each joint a displacement (its origin) and a joint; the
root link is attached to the world, which is free if asked for. Damping, friction and transmissions become drives,
followers (mimic) are tied by gears. What is not in the model is listed as ignored.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from gyrostat.errors import Problem
from gyrostat.io.audit import Audit, Finding, Notes
from gyrostat.io.inertia_rules import check_inertia
from gyrostat.io.mesh_paths import Roots
from gyrostat.io.safe_xml import Element, parse
from gyrostat.io.urdf.build import Builder
from gyrostat.io.urdf.masses_along_tree import check_masses
from gyrostat.io.urdf.mimics import settle
from gyrostat.io.urdf.robot import Robot, read_robot
from gyrostat.io.urdf.tree import find_tree
from gyrostat.io.xml_elements import Reader
from gyrostat.spec.check import problems
from gyrostat.spec.model import Model


def read_urdf(
    text: str,
    file: str = "<text>",
    base: str = "fixed",
    policy: str = "strict",
    roots: Sequence[str | os.PathLike[str]] = (),
    friction: bool = True,
    mimic: bool = True,
) -> tuple[Model | None, Audit]:
    """The model in a URDF text, None if ``policy`` refuses it, and everything that is to be said about the text.

    ``friction=False`` leaves damping and friction out, ``mimic=False`` leaves followers independent.

    ``file``: name of the file in messages, and where meshes are looked for. :class:`LoadError` if it is no XML.
    """
    root = parse(text, file)
    notes = Notes(file, policy)
    reader = Reader(notes, text.split("\n"))
    model = _model(reader, root, base, Roots.of(Path(file), roots), file, friction, mimic)
    return (None if notes.refused else model), notes.audit()


def _model(
    reader: Reader, root: Element, base: str, roots: Roots, file: str, friction: bool, mimic: bool
) -> Model | None:
    robot = read_robot(reader, root, roots, friction, mimic)
    if robot is None:
        return None
    complete = not reader.notes.fatal
    unphysical = {name for name, link in robot.links.items() if not check_inertia(reader, link)}
    tree = find_tree(reader, robot, complete=_joints_read(robot, root)) if robot.links else None
    if tree is None:
        return None
    massless = check_masses(reader, robot, tree, base == "free")
    if not complete or reader.notes.fatal:
        return None
    drives = robot.drives
    settle(reader, robot.kinds, drives)
    for name, joint in robot.joints.items():
        joint.drive = drives[name]
    model = Builder(reader, robot, tree, unphysical, massless, file).model(base, Path(file).stem or "robot")
    for problem in problems(model):  # what these rules have not seen
        reader.notes.add(_left(problem, file))
    return model


def _joints_read(robot: Robot, root: Element) -> bool:
    """Whether every joint of the file is known: what hangs on the others is not told apart from loose links."""
    return len(robot.joints) == sum(1 for _ in root.iterchildren("joint"))


def _left(problem: Problem, file: str) -> Finding:
    line = (problem.where or "").rpartition(":")[2]
    at = int(line) if line.isdecimal() else 0
    return Finding("error", file, at, "", problem.entity, problem.rule, problem.message, "", problem.remedy, fatal=True)
