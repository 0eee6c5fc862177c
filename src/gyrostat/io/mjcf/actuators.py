"""Actuators of an MJCF: what they add to the inertia and damping of a joint, and how strong they are.

The law from control to force is not in the model; tau is the generalised force at the joint, gear included.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gyrostat.io.mjcf.build import BALL, FREE
from gyrostat.io.mjcf.defaults import elements_of
from gyrostat.io.mjcf.source import MjcfReader
from gyrostat.io.safe_xml import Element
from gyrostat.io.xml_elements import shown


@dataclass
class Actuators:
    """What actuators add to joints, by the name of the joint: inertia, damping, greatest effort."""

    armature: dict[str, float] = field(default_factory=dict)
    damping: dict[str, float] = field(default_factory=dict)
    effort: dict[str, float | None] = field(default_factory=dict)  # None: one of them is not bounded


def read_actuators(reader: MjcfReader, mujoco: Any, spec: Any) -> Actuators:
    """Simple ones on a joint give a limit; the law from control to force is for the user."""
    actuators, targets = Actuators(), _targets(mujoco, spec)
    for actuator, element in zip(spec.actuators, elements_of(reader, spec.actuators), strict=True):
        sort, names = targets.get(actuator.trntype, ("", set[str]()))
        if sort and actuator.target not in names:
            what, fix = f"acts on a {sort} that does not exist", reader.nearest(actuator.target, names)
            reader.error(element, f"unknown-{sort}", what, repr(actuator.target), fix)
        elif _is_simple(reader, actuator, element, sort == "joint"):
            law = "the actuator is not in the model: tau is the generalised force at the joint, gear included"
            given = shown(element, "joint", "tendon", "site", "body", "gear")
            reader.ignore(element, "unused-actuator", law, given)
            if sort == "joint":
                _told_if_lopsided(reader, actuator, element)
                _add(actuators, actuator, _greatest(mujoco, actuator, spec.compiler.autolimits))
    return actuators


def _targets(mujoco: Any, spec: Any) -> dict[Any, tuple[str, set[str]]]:
    """What actuators of each kind act on, and the names there are."""
    kinds = mujoco.mjtTrn
    return {
        kinds.mjTRN_JOINT: ("joint", {joint.name for joint in spec.joints}),
        kinds.mjTRN_JOINTINPARENT: ("joint", {joint.name for joint in spec.joints}),
        kinds.mjTRN_TENDON: ("tendon", {tendon.name for tendon in spec.tendons}),
        kinds.mjTRN_SITE: ("site", {site.name for site in spec.sites}),
        kinds.mjTRN_BODY: ("body", {body.name for body in spec.bodies}),
    }


def _damping(actuator: Any) -> np.ndarray:
    return np.atleast_1d(getattr(actuator, "damping", 0.0))  # since MuJoCo 4


def _armature(actuator: Any) -> float:
    return float(getattr(actuator, "armature", 0.0))


def _is_simple(reader: MjcfReader, actuator: Any, element: Element, on_joint: bool) -> bool:
    """Whether armature and damping, if there are any, are those of a joint; if not, it is told."""
    damping = _damping(actuator)
    if not (_armature(actuator) or float(np.abs(damping).max())) or (on_joint and not np.any(damping[1:])):
        return True
    what = "armature or damping of an actuator that is not simply on a joint is not in the model"
    reader.wrong(element, "actuator", what, shown(element), "put it on the joint", left_out=True)
    return False


def _add(actuators: Actuators, actuator: Any, bound: float | None) -> None:
    """Inertia and damping by the square of the gear, and the greatest force by the gear."""
    joint, gear = actuator.target, float(actuator.gear[0])
    actuators.armature[joint] = actuators.armature.get(joint, 0.0) + gear**2 * _armature(actuator)
    actuators.damping[joint] = actuators.damping.get(joint, 0.0) + gear**2 * float(_damping(actuator)[0])
    so_far = actuators.effort.get(joint, 0.0)
    actuators.effort[joint] = None if bound is None or so_far is None else so_far + abs(gear) * bound


def _limited(mujoco: Any, limited: Any, range_: Any, auto: bool) -> bool:
    if int(limited) == int(mujoco.mjtLimited.mjLIMITED_AUTO):
        return bool(auto and range_[0] < range_[1])
    return int(limited) == int(mujoco.mjtLimited.mjLIMITED_TRUE)


def _greatest(mujoco: Any, actuator: Any, auto: bool) -> float | None:
    """The greatest force [before the gear], None if it has no bound."""
    bounds: list[float] = []
    if _limited(mujoco, actuator.forcelimited, actuator.forcerange, auto):
        bounds.append(float(np.abs(actuator.forcerange).max()))
    plain = actuator.biastype == mujoco.mjtBias.mjBIAS_NONE and actuator.gaintype == mujoco.mjtGain.mjGAIN_FIXED
    if plain and _limited(mujoco, actuator.ctrllimited, actuator.ctrlrange, auto):
        direct = actuator.dyntype == mujoco.mjtDyn.mjDYN_NONE
        if direct:
            bounds.append(abs(float(actuator.gainprm[0])) * float(np.abs(actuator.ctrlrange).max()))
    return min(bounds) if bounds else None


def _told_if_lopsided(reader: MjcfReader, actuator: Any, element: Element) -> None:
    low, high = (float(x) for x in actuator.forcerange)
    if low + high and low < high:
        what = "the range of force is not symmetric; the greater magnitude is taken for the joint's effort limit"
        reader.warn(element, "effort-range", what, f"{low:g} .. {high:g}")


def effort_limits(m: Any, actuators: Actuators) -> dict[int, float]:
    """Greatest effort of each joint: of its actuators together, and of the joint itself."""
    limits: dict[int, float] = {}
    for j in range(m.njnt):
        bounds = [x for x in [actuators.effort.get(m.joint(j).name)] if x]
        if m.jnt_actfrclimited[j]:
            bounds.append(float(np.abs(m.jnt_actfrcrange[j]).max()))
        if bounds and m.jnt_type[j] not in (FREE, BALL):
            limits[j] = min(bounds)
    return limits
