"""Maximal coordinates (AS (10)): every body moves freely, and every joint is a constraint between two of them.

The wiring of a model gets one free joint ``<body>_pose`` from the reference frame to each rigid group of bodies; all
joints then close loops, and those that carry nothing but their relation leave the tree."""

from __future__ import annotations

from gyrostat.errors import SpecError
from gyrostat.spec.joint import Joint
from gyrostat.spec.rigid_body import RigidBody
from gyrostat.spec.wiring import Wiring

SUFFIX = "_pose"


def with_free_bodies(wiring: Wiring) -> Wiring:
    """The wiring with free joints to all rigid groups that have a body and are not fixed to the reference frame."""
    root = wiring.root
    if root is None:
        return wiring
    fixed = _rigid_group(wiring, root)
    done, poses = set(fixed), dict[str, str]()
    for name, entity in wiring.entities.items():
        if isinstance(entity, RigidBody) and name not in done:
            done |= _rigid_group(wiring, name)
            poses[name] = f"{name}{SUFFIX}"
    for body, pose in poses.items():
        if pose in wiring.entities:
            message = f"'{pose}' is the name of the coordinates of '{body}' in maximal coordinates"
            raise SpecError.one(f"entity '{pose}'", "name", message, "rename it", pose)
        wiring.entities[pose] = Joint(pose, "free", passive=True)
        _join(wiring, (root, "frame"), (pose, "a"))
        _join(wiring, (body, "origin"), (pose, "b"))
    wiring.keep = frozenset(poses.values())
    return wiring


def _rigid_group(wiring: Wiring, start: str) -> set[str]:
    """Entities that move as one with another: nothing between them has rates."""
    group, queue = {start}, [start]
    for name in queue:
        for port in wiring.entities[name].ports:
            for other, _ in wiring.connection(name, port.name) if port.kind == "spatial" else ():
                entity = wiring.entities[other]
                if other not in group and not entity.rates and not entity.carries_nothing and entity.binds:
                    group.add(other)
                    queue.append(other)
    return group


def _join(wiring: Wiring, port: tuple[str, str], new: tuple[str, str]) -> None:
    """One more port at a connection, which is made if there is none."""
    for k, group in enumerate(wiring.groups):
        if port in group:
            wiring.groups[k] = (*group, new)
            return
    wiring.groups.append((port, new))
