"""Models with surfaces that can touch."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

import gyrostat as gs
from gyrostat.algorithms.algorithm import Setting
from gyrostat.algorithms.contact.contact_kinematics import ContactKinematics, contact_kinematics
from gyrostat.graph.contacts import Candidate, contact_candidates
from gyrostat.graph.network import network
from gyrostat.spatial.gravity import gravity
from gyrostat.spatial.representation import representation

SIZES = {
    "sphere": (0.1,),
    "capsule": (0.1, 0.4),
    "box": (0.2, 0.3, 0.4),
    "cylinder": (0.1, 0.4),
    "ellipsoid": (0.1, 0.2, 0.3),
}


def shape(kind: str, rng: np.random.Generator | None = None, **more: Any) -> gs.Shape:
    """A shape that can touch, somewhere on its body."""
    if rng is not None:
        x = rng.normal(size=4)
        more |= {"translation": rng.uniform(-0.3, 0.3, 3), "rotation": gs.quaternion(*(x / np.linalg.norm(x)))}
    return gs.Shape(kind=kind, size=SIZES[kind], role="collision", **more)


def with_surfaces(model: gs.Model, seed: int, bodies: int = 4, **law: Any) -> gs.Model:
    """The model with shapes of all kinds on some bodies, a point on another, a ground in the world and one on a moving
    body, and contacts of all with all."""
    rng = np.random.default_rng([seed, 16])
    there = [e for e in model.entities if isinstance(e, gs.RigidBody)]
    chosen = [there[k].name for k in rng.permutation(len(there))[:bodies]]
    kinds = ["capsule", "sphere", "capsule", "box", "cylinder", "ellipsoid"]
    shapes = {name: tuple(shape(kind, rng) for kind in kinds[k::bodies]) for k, name in enumerate(chosen)}
    entities = [e.model_copy(update={"shapes": shapes[e.name]}) if e.name in shapes else e for e in model.entities]
    more = [gs.Ground("floor", **law), gs.Ground("tray"), gs.ContactPoint("nose"), gs.ContactPair("*", "*")]
    ports = (f"{chosen[0]}.origin", "tray.frame"), (f"{chosen[-1]}.origin", "nose.frame")
    return replace(model, entities=(*entities, *more), connections=(*model.connections, *ports))


def closed_forms(model: gs.Model) -> list[Candidate]:
    """Candidates with a closed form."""
    return [c for c in contact_candidates(model) if c.closed_form]


def kinematics_of(model: gs.Model, q: Any, v: Any = None, t: float = 0.0) -> ContactKinematics:
    """Kinematics of all candidates with a closed form, in NumPy."""
    on = Setting(representation("body"), gravity(model.context.gravity), t)
    return contact_kinematics(
        network(model), on, closed_forms(model), np.asarray(q), None if v is None else np.asarray(v)
    )


def flying(name: str, *shapes: gs.Shape, mass: float = 1.0) -> Any:
    """A body that flies, as part of a model."""
    inertia = (0.02 * mass, 0.03 * mass, 0.04 * mass)
    return gs.chain(
        "world", gs.Joint(f"{name}_flight", "free"), gs.RigidBody(name, mass=mass, inertia=inertia, shapes=shapes)
    )


def ball_on(**law: Any) -> gs.Model:
    """A ball of 0.1 m and 1 kg above a ground."""
    ball = gs.RigidBody("ball", mass=1.0, inertia=(0.004,) * 3, shapes=[shape("sphere")])
    return gs.assemble("ball", gs.chain("world", gs.Joint("flight", "free"), ball), gs.Ground("floor", **law))
