"""<mimic> of a URDF: joints that follow other joints."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from gyrostat.io.safe_xml import Element
from gyrostat.io.urdf.drives import Mimic, UrdfDrive
from gyrostat.io.urdf.limits import SINGLE
from gyrostat.io.xml_elements import Reader, accepted, shown


def read_mimics(
    reader: Reader, joints: Mapping[str, tuple[Element, str]], drives: Mapping[str, UrdfDrive], follow: bool
) -> None:
    """Joints that follow others. ``joints``: element and kind by name; ``follow=False`` leaves them independent."""
    for name, (joint, kind) in joints.items():
        element = reader.child(joint, "mimic")
        mimic = None if element is None else _mimic(reader, element, follow)
        if mimic is not None and _can_follow(reader, mimic, kind, joints):
            drives[name].mimic = mimic
    _refuse_circles(reader, drives)


def _mimic(reader: Reader, element: Element, follow: bool) -> Mimic | None:
    """What the element says; None if it cannot be read, or is not wanted."""
    values = {"multiplier": 1.0, "offset": 0.0}
    given = {key: reader.scalar(element, key, strict=follow) for key in values if key in element.attrib}
    leader = reader.need(element, "joint")
    if leader is None:
        return None
    if not follow:
        what = f"follows '{leader[:60]}' in the file; it is independent here, as asked for"
        reader.ignore(element, "unused-mimic", what, shown(element))
        return None
    if None in given.values():  # told already
        return None
    values |= {key: value for key, value in given.items() if value is not None}
    return Mimic(leader, values["multiplier"], values["offset"], element)


def _can_follow(reader: Reader, mimic: Mimic, kind: str, joints: Mapping[str, tuple[Element, str]]) -> bool:
    """Whether there is a leader that can be followed; otherwise the joint moves by itself, and it is told why."""
    element, leader, alone = mimic.element, mimic.leader, "it moves by itself"
    told, fix = partial(accepted, reader, done=alone), "take the mimic out"
    if leader in joints and joints[leader][0] is element.getparent():
        reader.wrong(element, "mimic", "a joint cannot follow itself", repr(leader[:60]), fix, alone, fatal=True)
        return False
    if leader not in joints:
        what, near = told("follows a joint that does not exist"), reader.nearest(leader, joints)
        reader.wrong(element, "unknown-joint", what, repr(leader[:60]), near, alone, left_out=True)
        return False
    if kind not in SINGLE or joints[leader][1] not in SINGLE:
        what = told("a follower and its leader must have one rate each")
        kinds = f"a {kind} joint follows a {joints[leader][1]} one"
        reader.wrong(element, "mimic", what, kinds, fix, alone, left_out=True)
        return False
    if mimic.multiplier == 0.0:
        what = "a follower with the multiplier 0 does not move"
        reader.wrong(element, "mimic", told(what), 'multiplier="0"', "make it a fixed joint", alone, left_out=True)
        return False
    return True


def settle(reader: Reader, joints: Mapping[str, tuple[Element, str]], drives: dict[str, UrdfDrive]) -> None:
    """After repairs: a joint that was made fixed has no drive, and what followed it moves by itself."""
    for name, (_, kind) in joints.items():
        mimic = drives[name].mimic
        if kind not in SINGLE:
            drives[name] = UrdfDrive()
        elif mimic is not None and joints[mimic.leader][1] not in SINGLE:
            drives[name].mimic = None
            what = f"follows '{mimic.leader[:60]}', which was made fixed: it moves by itself"
            reader.note("repaired", mimic.element, "mimic", what, shown(mimic.element), "")


def _refuse_circles(reader: Reader, drives: Mapping[str, UrdfDrive]) -> None:
    for name, drive in drives.items():
        seen, at = [name], drive.mimic
        while at is not None and at.leader not in seen:
            seen.append(at.leader)
            at = drives[at.leader].mimic if at.leader in drives else None
        if at is not None and at.leader == name and drive.mimic is not None:
            ring = " follows ".join(repr(n[:40]) for n in [*seen[:6], name])
            what, done = "joints follow each other in a circle", "it moves by itself"
            reader.wrong(drive.mimic.element, "mimic", what, ring, "take one mimic out", done, fatal=True)
            drive.mimic = None
