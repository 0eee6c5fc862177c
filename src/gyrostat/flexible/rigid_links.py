"""``gs.flexible.rigid``: the model with its flexible links stiff, whose motion is recorded [AS 2.2]."""

from __future__ import annotations

import numpy as np

from gyrostat.configuration.manifold import neutral
from gyrostat.errors import SpecError
from gyrostat.solvers.functions import crba, fk
from gyrostat.spec.assemble import assemble, connect
from gyrostat.spec.check import expect_model
from gyrostat.spec.edits.rebuild import Changes, rebuilt
from gyrostat.spec.entity import Entity
from gyrostat.spec.model import Model
from gyrostat.spec.rigid_body import RigidBody


def rigid(model: Model) -> Model:
    """The same model with a rigid body of the same mass, centre and inertia in the place of each flexible link, with
    frames where its undeformed ports are. Joints keep their names."""
    expect_model(model, "rigid")
    links = {name: entity for name, entity in model.wiring.entities.items() if entity.deforms}
    if not links:
        raise SpecError.one(
            f"rigid '{model.name}'", "rigid-links", "has no flexible link",
            "cuts that are joints of yours are locked by model.lock({...})", model.name,
        )  # fmt: skip
    swap: dict[str, Entity] = {name: _stiff(entity) for name, entity in links.items()}
    return rebuilt(model, Changes(swap=swap))


def _stiff(entity: Entity) -> RigidBody:
    """A flexible link as a rigid body: its inertia and frames, undeformed, in the axes of its first port."""
    first, *others = (port.name for port in entity.ports)
    name = entity.name
    alone = assemble("link", entity, connect("world", f"{name}.{first}"), base="free", gravity=(0.0, 0.0, 0.0))
    q = neutral(alone)
    M = crba(alone, q)[:6, :6]
    mass = float(M[3, 3])
    com = np.array([M[2, 4], M[0, 5], M[1, 3]]) / mass  # M[:3, 3:] = m c~
    inertia = M[:3, :3] - mass * (com @ com * np.eye(3) - np.outer(com, com))
    places = fk(alone, q)
    frames = {port: (places[f"{name}.{port}"].p, places[f"{name}.{port}"].R) for port in (first, *others)}
    return RigidBody(name, mass=mass, com=tuple(com), inertia=inertia, frames=frames)
