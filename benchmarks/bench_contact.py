"""Talos in contact."""

from __future__ import annotations

from typing import Any

import gyrostat as gs


def free_talos(peer: Any) -> gs.Model:
    """The robot joint by joint from Pinocchio's reading with a free base, soles as frames."""
    from benchmarks.robots import _joint

    frames: dict[int, dict[str, gs.Displacement]] = {}
    parts: list[Any] = []
    tips = ["", "body_root.origin"]
    root = peer.inertias[1]
    parts += [
        gs.RigidBody("body_root", mass=float(root.mass), com=root.lever, inertia=root.inertia),
        gs.connect("world.frame", "body_root.origin"),
    ]
    for k in range(2, peer.njoints):
        kind, axis = _joint(peer.joints[k])
        joint, body = peer.names[k], f"body_{peer.names[k]}"
        place, inertia = peer.jointPlacements[k], peer.inertias[k]
        parts += [
            gs.Displacement(f"place_{joint}", translation=place.translation, rotation=place.rotation),
            gs.Joint(joint, kind, axis=axis),
            gs.RigidBody(body, mass=float(inertia.mass), com=inertia.lever, inertia=inertia.inertia),
            gs.connect(tips[peer.parents[k]], f"place_{joint}.a"),
            gs.connect(f"place_{joint}.b", f"{joint}.a"),
            gs.connect(f"{joint}.b", f"{body}.origin"),
        ]
        tips.append(f"{body}.origin")
    for name in ("left_sole_link", "right_sole_link"):
        frame = peer.frames[peer.getFrameId(name)]
        place = frame.placement
        parts += [
            gs.Displacement(name, translation=place.translation, rotation=place.rotation),
            gs.connect(tips[frame.parentJoint], f"{name}.a"),
        ]
    return gs.assemble("talos", *parts, base="free", gravity=peer.gravity.linear)
