"""Armature, damping, friction, springs, couplings and limits of effort: what acts on the joints of an MJCF.

=========================== ========================================================================================
MJCF                        model
=========================== ========================================================================================
armature [kg m^2 or kg]     inertia that the joint alone feels; an actuator's counts by the square of its gear
damping, frictionloss       viscous and Coulomb friction at the joint; an actuator's damping likewise
stiffness, springref        a ``Spring`` between the joint's shaft and its housing
the same of ball joints,    a ``Bushing``: they are alike in all directions
damping of free ones
equality of two joints      a ``Gear``: q1 = ref1 + c0 + c1 (q2 - ref2), rigid here; likewise one that holds a fixed
                            tendon of joints at its length
range of force or control   ``effort_limit`` of the joint
=========================== ========================================================================================
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gyrostat.io.mjcf.actuators import Actuators
from gyrostat.io.mjcf.build import BALL, FREE, Parts
from gyrostat.io.numbers import number
from gyrostat.io.safe_xml import Element
from gyrostat.io.xml_elements import shown
from gyrostat.spec.gear import Gear
from gyrostat.spec.joint import Joint
from gyrostat.spec.model import Model
from gyrostat.spec.pair_forces import Bushing
from gyrostat.spec.shaft_elements import Spring


def fixed_tendons(root: Element) -> dict[str, list[tuple[str, float]]]:
    """Joints and coefficients of the tendons that are sums of joint angles, by name."""
    tendons: dict[str, list[tuple[str, float]]] = {}
    for tendon in root.iterfind("tendon/fixed"):
        terms = [(joint.get("joint") or "", number((joint.get("coef") or "0").strip())) for joint in tendon]
        if tendon.get("name") and all(isinstance(coef, float) for _, coef in terms):
            tendons[tendon.get("name")] = [(joint, coef) for joint, coef in terms if isinstance(coef, float)]
    return tendons


CURVED = {"jnt_stiffnesspoly": "spring", "jnt_springyield": "spring", "dof_dampingpoly": "damper"}
"""Where newer versions of MuJoCo keep springs and dampers that are not linear, and what switches them off."""


@dataclass
class Drives:
    """Puts what acts on joints into the parts of a model."""

    parts: Parts
    actuators: Actuators
    off: set[str]  # forces that the file switches off: spring, damper, frictionloss, equality
    tendons: dict[str, list[tuple[str, float]]]  # fixed tendons: joints and coefficients

    def add(self) -> None:
        """Springs, then armature, damping and friction of each joint."""
        joints = {entity.name: entity for entity in self.parts.entities if isinstance(entity, Joint)}
        for j, name in self.parts.joint.items():
            forces = self._forces(j)
            if not any(forces.values()):
                continue
            if self.parts.done.model.jnt_type[j] in (FREE, BALL):
                self._bushing(j, forces)
                continue
            if forces["curved"]:
                self._not_here(j, forces, "springs and dampers that are not linear")
            if forces["stiffness"]:
                self._spring(j, forces["stiffness"])
            if forces["armature"] or forces["damping"] or forces["frictionloss"]:
                self._drive(j, joints[name], forces)

    def _forces(self, j: int) -> dict[str, float]:
        """Coefficients of what acts on a joint; ``curved``: whether springs or dampers are not linear."""
        m, own = self.parts.done.model, self.parts.done.model.joint(j).name
        at, curved = int(m.jnt_dofadr[j]), 0.0
        for field, force in CURVED.items():
            if hasattr(m, field) and force not in self.off:
                curved += float(np.abs(getattr(m, field)[at if force == "damper" else j]).sum())
        forces = {
            "armature": float(m.dof_armature[at]) + self.actuators.armature.get(own, 0.0),
            "damping": float(m.dof_damping[at]) + self.actuators.damping.get(own, 0.0),
            "frictionloss": float(m.dof_frictionloss[at]),
            "stiffness": float(m.jnt_stiffness[j]),
        }
        switches = {"damping": "damper", "frictionloss": "frictionloss", "stiffness": "spring"}
        return {k: 0.0 if switches.get(k) in self.off else x for k, x in forces.items()} | {"curved": curved}

    def _spring(self, j: int, stiffness: float) -> None:
        parts, name = self.parts, self.parts.joint[j]
        own = parts.names.free(f"{name[:110]}_spring", "spring")
        rest = float(parts.done.model.qpos_spring[parts.done.model.jnt_qposadr[j]])
        parts.add(Spring(own, stiffness=stiffness, rest=rest, ground=True), parts.done.elements["joint"][j])
        parts.connections.append((f"{own}.a", f"{name}.shaft"))

    def _drive(self, j: int, joint: Joint, forces: dict[str, float]) -> None:
        """An assembly ``<joint>_drive``, made on the joint alone and put among the parts."""
        given: dict[str, Any] = {"viscous": forces["damping"] or None, "coulomb": forces["frictionloss"] or None}
        if forces["armature"]:
            given |= {"rotor_inertia": forces["armature"], "reflected_inertia_only": True}
        driven = Model(joint.name, (joint,)).with_drive(joint.name, motor=False, **given)
        self.parts.add(driven.entities[-1], self.parts.done.elements["joint"][j])
        self.parts.connections += driven.connections

    def _bushing(self, j: int, forces: dict[str, float]) -> None:
        """Ball and free joints: damping, and the spring of a ball, are torques along the rotation vector."""
        parts, name = self.parts, self.parts.joint[j]
        free = parts.done.model.jnt_type[j] == FREE
        if forces["armature"] or forces["frictionloss"] or forces["curved"] or (free and forces["stiffness"]):
            self._not_here(j, forces, "armature and friction of ball and free joints, and springs of free ones")
        k, d = forces["stiffness"] * (not free), forces["damping"]
        if k or d:
            own = parts.names.free(f"{name[:110]}_bushing", "bushing")
            stiffness, damping = (k,) * 3 + (0.0,) * 3, (d,) * 3 + (d if free else 0.0,) * 3
            parts.add(Bushing(own, stiffness=stiffness, damping=damping), parts.done.elements["joint"][j])
            parts.connections += [(f"{own}.a", f"{name}.a"), (f"{own}.b", f"{name}.b")]

    def _not_here(self, j: int, forces: dict[str, float], sort: str) -> None:
        element = self.parts.done.elements["joint"][j]
        given = ", ".join(f"{key} {value:g}" for key, value in forces.items() if value and key != "curved")
        fix = "set them to zero for this joint, or add the forces yourself"
        self.parts.reader.wrong(element, "joint-forces", f"{sort} are not in the model", given, fix, left_out=True)

    def couplings(self, ties: list[tuple[Any, Element]], mujoco: Any) -> None:
        """A gear for each equality of two joints; other equalities close loops."""
        reader, kinds, fix = self.parts.reader, mujoco.mjtEq, "take it out, or load without couplings by mimic=False"
        for equality, element in ties:
            if not equality.active or "equality" in self.off:
                reader.ignore(element, "unused-equality", "an equality that is switched off is not in the model")
            elif equality.type not in (kinds.mjEQ_JOINT, kinds.mjEQ_TENDON):
                what = f"<{element.tag}> closes a loop, and loops are not read from MJCF"
                reader.error(element, "loop", what, shown(element), fix)
            elif (terms := self._terms(equality, mujoco)) is None or not self._single(terms[0]):
                what = "only linear couplings of different hinges and slides are treated"
                reader.wrong(element, "coupling", what, shown(element), fix, left_out=True)
            else:
                self._gear(equality.name, element, *terms)

    def _single(self, joints: list[str]) -> bool:
        """Whether all of them are hinges and slides of the model."""
        m = self.parts.done.model
        kinds = {m.joint(j).name: m.jnt_type[j] for j in self.parts.joint}
        return len(set(joints)) == len(joints) and all(kinds.get(name, FREE) not in (FREE, BALL) for name in joints)

    def _terms(self, equality: Any, mujoco: Any) -> tuple[list[str], list[float], float] | None:
        """(joints, ratios, shift): q0 - ref0 = shift + sum of ratio_k (q_k - ref_k); None if it is not of that kind."""
        c = [float(x) for x in equality.data[:5]]
        if equality.type == mujoco.mjtEq.mjEQ_JOINT:
            linear = equality.name2 and c[1] and not any(c[2:])
            return ([equality.name1, equality.name2], [c[1]], c[0]) if linear else None
        path = [(joint, coef) for joint, coef in self.tendons.get(equality.name1, []) if coef]
        names = [joint for joint, _ in path]
        if equality.name2 or len(path) < 2 or len(set(names)) < len(path):
            return None
        first = path[0][1]
        return names, [-coef / first for _, coef in path[1:]], c[0] / first

    def _gear(self, wanted: str, element: Element, joints: list[str], ratios: list[float], shift: float) -> None:
        parts, m = self.parts, self.parts.done.model
        ends = [m.joint(name).id for name in joints]
        ref = [float(m.qpos0[m.jnt_qposadr[j]]) for j in ends]
        first, *others = (parts.joint[j] for j in ends)
        own = parts.names.free(wanted or f"{first[:100]}_coupling", "coupling")
        offset = ref[0] + shift - sum(ratio * x for ratio, x in zip(ratios, ref[1:], strict=True))
        gear = Gear(own, ratios[0] if len(ratios) == 1 else [ratios], offset=offset)
        parts.add(gear, element)
        parts.connections.append((f"{own}.motor", f"{first}.shaft"))
        parts.connections += [(f"{own}.{p}", f"{other}.shaft") for p, other in zip(gear.joints, others, strict=True)]
