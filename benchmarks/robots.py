"""Real robots of the `example-robot-data` wheel, for Pinocchio and, joint by joint, for gyrostat."""

from __future__ import annotations

import sysconfig
from pathlib import Path
from typing import Any

import numpy as np

import gyrostat as gs

FILES = {
    "panda": "panda_description/urdf/panda.urdf",
    "talos": "talos_data/robots/talos_reduced.urdf",
}


def urdf(name: str) -> Path:
    """The file of a robot inside the wheel."""
    place = Path(sysconfig.get_paths()["purelib"]) / "cmeel.prefix" / "share" / "example-robot-data" / "robots"
    return place / FILES[name]


def pinocchio_model(name: str) -> Any:
    """The robot as Pinocchio reads it, fixed base."""
    import pinocchio as pin

    return pin.buildModelFromUrdf(str(urdf(name)))


def from_pinocchio(model: Any, name: str) -> gs.Model:
    """The same robot as a gyrostat model; joints in Pinocchio's order. One-degree-of-freedom joints only."""
    parts: list[Any] = []
    tips = ["world.frame"]
    for k in range(1, model.njoints):
        kind, axis = joint_kind(model.joints[k])
        joint, body = f"{model.names[k]}", f"body_{model.names[k]}"
        place, inertia = model.jointPlacements[k], model.inertias[k]
        parts += [
            gs.Displacement(f"place_{joint}", translation=place.translation, rotation=place.rotation),
            gs.Joint(joint, kind, axis=axis),
            gs.RigidBody(body, mass=float(inertia.mass), com=inertia.lever, inertia=inertia.inertia),
            gs.connect(tips[model.parents[k]], f"place_{joint}.a"),
            gs.connect(f"place_{joint}.b", f"{joint}.a"),
            gs.connect(f"{joint}.b", f"{body}.origin"),
        ]
        tips.append(f"{body}.origin")
    return gs.assemble(name, *parts, gravity=model.gravity.linear)


def joint_kind(joint: Any) -> tuple[str, Any]:
    """Kind and axis of a joint with one degree of freedom."""
    short = joint.shortname().removeprefix("JointModel")
    kind = "revolute" if short.startswith("R") else "prismatic" if short.startswith("P") else ""
    if not kind or joint.nq != 1:
        raise ValueError(f"robots: a joint of type {short} is not expected here")
    if short[-1] in "XYZ" and "Unaligned" not in short:
        return kind, short[-1].lower()
    axis = np.array(joint.extract().axis)
    return kind, axis / np.sqrt(axis @ axis)
