"""Masses along the tree of a URDF: links that move without mass, and ends of chains that are too heavy."""

from __future__ import annotations

from gyrostat.io.inertia_rules import SMALL_MASS
from gyrostat.io.urdf.robot import Robot
from gyrostat.io.urdf.tree import Tree
from gyrostat.io.xml_elements import Reader


def check_masses(reader: Reader, robot: Robot, tree: Tree, free: bool) -> set[str]:
    """Findings about mass along the tree. The links without mass, nor any beyond, that move nevertheless."""
    group, own, beyond = tree.carried(robot)
    left: set[str] = set()
    for name in tree.order:
        link, first = robot.links[name], group[name]
        if first == tree.root or own[first] > 0.0 or not link.readable:
            continue
        joint, element = tree.above[first], link.at("mass", "inertial")
        if beyond[first] > 0.0:
            if name == first:
                what = f"moves by joint '{joint.name}' and has no mass of its own; links beyond have"
                reader.warn(element, "massless-link", what, "mass 0 kg", "")
            continue
        what = f"moves by joint '{joint.name}', but neither it nor anything beyond has mass"
        fix = "give its mass and inertia, or make the joint fixed"
        if reader.wrong(element, "moving-massless", what, "mass 0 kg", fix, f"joint '{joint.name}' made fixed"):
            joint.kind, joint.axis = "fixed", None
        else:
            left.add(name)
    if free and beyond[tree.root] == 0.0 and not left:
        element = robot.links[tree.root].element
        what, fix = "is the free base, but nothing in the file has mass", "give masses, or fix the base"
        reader.error(element, "moving-massless", what, "mass 0 kg", fix)
    _check_ratios(reader, robot, tree, group, own, beyond)
    return left


def _check_ratios(
    reader: Reader, robot: Robot, tree: Tree, group: dict[str, str], own: dict[str, float], beyond: dict[str, float]
) -> None:
    """The last of a chain is seldom far heavier than what carries it."""
    for name, mass in own.items():
        if name == tree.root or mass != beyond[name]:
            continue
        carrier = group[tree.above[name].parent]
        if carrier != tree.root and mass > SMALL_MASS and own[carrier] > 0.01 and mass > 20.0 * own[carrier]:
            link = robot.links[name]
            what = f"is at the end of a chain and {mass / own[carrier]:.3g} times as heavy as link '{carrier}'"
            reader.warn(link.at("mass", "inertial"), "mass-ratio", what, f"{mass:g} kg", "check that it is in kg")
