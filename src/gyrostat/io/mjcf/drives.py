"""Armature, damping, friction, springs, couplings and limits of effort: what acts on the joints of an MJCF.

=========================== ========================================================================================
MJCF                        model
=========================== ========================================================================================
armature [kg m^2 or kg]     inertia that the joint alone feels; an actuator's counts by the square of its gear
damping, frictionloss       viscous and Coulomb friction at the joint; an actuator's damping likewise
stiffness, springref        a ``Spring`` between the joint's shaft and its housing
the same of ball joints,    a ``Bushing``: they are alike in all directions
damping of free ones
range of force or control   ``effort_limit`` of the joint
=========================== ========================================================================================
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gyrostat.io.mjcf.actuators import Actuators
from gyrostat.io.mjcf.build import BALL, FREE, Parts
from gyrostat.spec.joint import Joint
from gyrostat.spec.model import Model
from gyrostat.spec.pair_forces import Bushing
from gyrostat.spec.shaft_elements import Spring

CURVED = {"jnt_stiffnesspoly": "spring", "jnt_springyield": "spring", "dof_dampingpoly": "damper"}
"""Where newer versions of MuJoCo keep springs and dampers that are not linear, and what switches them off."""


@dataclass
class Drives:
    """Puts what acts on joints into the parts of a model."""

    parts: Parts
    actuators: Actuators
    off: set[str]  # forces that the file switches off: spring, damper, frictionloss

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
