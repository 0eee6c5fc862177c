"""Joints of an SDF that follow others: <mimic> and gearboxes, each a :class:`Gear`."""

from __future__ import annotations

from functools import partial

import numpy as np

from gyrostat.io.sdf.axes import SdfAxis
from gyrostat.io.sdf.build import Builder
from gyrostat.io.sdf.joints import SdfJoint
from gyrostat.io.xml_elements import accepted, shown
from gyrostat.spec.gear import Gear
from gyrostat.spec.joint import JOINT_KINDS

PARALLEL = 1e-3
"""How far the axes of a gearbox may be off those of its joints."""


def add_couplings(builder: Builder, follow: bool) -> None:
    """A gear for each follower and each gearbox; ``follow=False`` leaves them independent, and tells it."""
    for joint in builder.joints.values():
        if joint.kind == "gear":
            _gearbox(builder, joint, follow)
        else:
            for k, axis in enumerate(joint.axes):
                _mimic(builder, joint, k, axis, follow)


def _mimic(builder: Builder, joint: SdfJoint, k: int, axis: SdfAxis, follow: bool) -> None:
    reader, mimic = builder.document.reader, axis.mimic
    if mimic is None:
        return
    shown_name = repr(mimic.leader.rpartition("::")[2][:60])
    if not follow:
        what = "follows another joint in the file; it is independent here, as asked for"
        reader.ignore(mimic.element, "unused-mimic", what, shown_name)
        return
    alone, told = "it moves by itself", partial(accepted, reader, done="it moves by itself")
    leader = builder.joints.get(mimic.leader)
    if leader is None:
        near = reader.nearest(mimic.leader, builder.joints)
        what = told("follows a joint that does not exist")
        reader.wrong(mimic.element, "unknown-joint", what, shown_name, near, alone, left_out=True)
    elif leader is joint and mimic.axis == k:
        reader.error(mimic.element, "mimic", "a joint cannot follow itself", shown_name, "take the mimic out")
    elif leader.kind == "gear" or mimic.axis >= len(JOINT_KINDS[leader.kind].shafts):
        what = told("follows an axis that the joint does not have")
        reader.wrong(mimic.element, "mimic", what, shown_name, "name a joint with such an axis", alone, left_out=True)
    elif mimic.multiplier == 0.0:
        what = told("a follower with the multiplier 0 does not move")
        reader.wrong(mimic.element, "mimic", what, "0", "make it a fixed joint", alone, left_out=True)
    else:
        own = builder.joint[joint.name] + ("" if len(joint.axes) == 1 else str(k + 1))
        gear = Gear(builder.names.free(f"{own}_mimic", "gear"), mimic.multiplier, offset=mimic.offset)
        builder.add(gear, mimic.element)
        ends = builder.shaft(joint.name, k), builder.shaft(leader.name, mimic.axis)
        builder.connections += [(ends[0], f"{gear.name}.motor"), (ends[1], f"{gear.name}.joint")]


def _gearbox(builder: Builder, box: SdfJoint, follow: bool) -> None:
    """theta_2 = -ratio theta_1: angles of child and parent against the reference link, about axis2 and axis."""
    reader = builder.document.reader
    if not follow:
        reader.ignore(box.element, "unused-gearbox", "the gearbox is left out, as asked for")
        return
    first, second = (_angle(builder, box, end, k) for k, end in enumerate((box.parent, box.child)))
    if first is None or second is None:
        what = accepted(
            reader,
            "a gearbox needs hinges from its reference link to its parent and its child, along its axes",
            "it is left out",
        )
        fix = "join both by revolute joints with the axes of the gearbox"
        reader.wrong(box.element, "gearbox", what, shown(box.element), fix, left_out=True)
        return
    ratio = -first[1] * second[1] / box.ratio
    gear = Gear(builder.joint[box.name], ratio)
    builder.add(gear, box.element)
    ends = builder.shaft(first[0], 0), builder.shaft(second[0], 0)
    builder.connections += [(ends[0], f"{gear.name}.motor"), (ends[1], f"{gear.name}.joint")]


def _angle(builder: Builder, box: SdfJoint, link: str, k: int) -> tuple[str, float] | None:
    """The hinge between the reference link and a link, and the sign of its angle about axis k of the gearbox."""
    for joint in builder.joints.values():
        if joint.kind not in ("revolute", "continuous") or {joint.parent, joint.child} != {box.reference, link}:
            continue
        cosine = float(np.dot(box.direction(k), joint.direction()))
        if abs(abs(cosine) - 1.0) <= PARALLEL:
            sign = 1.0 if cosine > 0.0 else -1.0
            return joint.name, sign if joint.parent == box.reference else -sign
    return None
