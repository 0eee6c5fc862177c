"""SRDF (MoveIt): which links of a URDF never touch."""

from __future__ import annotations

import os
from pathlib import Path

from gyrostat.errors import LoadError, Problem, SpecError, nearest
from gyrostat.io.safe_xml import parse
from gyrostat.io.text_files import read_text
from gyrostat.spec.contact import ContactPair
from gyrostat.spec.entity import Entity


def disabled_collisions(path: str | os.PathLike[str]) -> list[tuple[str, str, int]]:
    """(link1, link2, line) of every ``<disable_collisions>``, each two links once."""
    place = Path(os.fsdecode(path))
    name = str(place)
    root = parse(read_text(place, name, "XML", lambda _: "check the path"), name, 'robot name="..."')
    if root.tag != "robot":
        message = f"the outermost tag of an SRDF must be <robot>, got <{root.tag}>"
        raise LoadError([Problem(f"file '{name}'", "root-tag", message, "give the .srdf file of the robot", name)])
    found: dict[frozenset[str], tuple[str, str, int]] = {}
    for element in root.iter("disable_collisions"):
        one, two, line = element.get("link1"), element.get("link2"), int(element.sourceline or 0)
        if not one or not two or one == two:
            message = f"<disable_collisions> must name two links, got {one!r} and {two!r}"
            raise SpecError(
                [Problem("SRDF", "srdf", message, 'write link1="a" link2="b"', (one, two), f"{name}:{line}")]
            )
        found.setdefault(frozenset((one, two)), (one, two, line))
    return list(found.values())


def excluded_pairs(path: str | os.PathLike[str], bodies: set[str], taken: set[str]) -> list[Entity]:
    """A pair that excludes contact for each two links; all links that are not in the model are told at once."""
    pairs: list[Entity] = []
    problems: list[Problem] = []
    for one, two, line in disabled_collisions(path):
        for link in (one, two):
            if link not in bodies:
                message, remedy = f"there is no link '{link}' in the model", nearest(link, bodies)
                problems.append(Problem("SRDF", "srdf", message, remedy, link, f"{os.fsdecode(path)}:{line}"))
        name = f"{one}_{two}_apart"
        while name in taken:
            name += "_"
        taken.add(name)
        pairs.append(ContactPair(one, two, name=name, exclude=True))
    if problems:
        raise SpecError(problems)
    return pairs
