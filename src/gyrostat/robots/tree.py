"""Random trees with every kind of joint, for everybody's tests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gyrostat.errors import SpecError, nearest
from gyrostat.spec.assemble import assemble, connect
from gyrostat.spec.displacement import Displacement
from gyrostat.spec.entity import Entity
from gyrostat.spec.joint import JOINT_KINDS, Joint
from gyrostat.spec.model import Model
from gyrostat.spec.rigid_body import RigidBody
from gyrostat.spec.values import Quaternion


def tree(
    seed: int,
    bodies: int = 10,
    kinds: Sequence[str] = tuple(JOINT_KINDS),
    base: Any = "fixed",
    branching: float = 0.5,
    reversed_share: float = 0.0,
    momentum: bool = False,
    gravity: Any = None,
) -> Model:
    """A random tree of ``bodies`` rigid bodies ``body0`` ..., each on a joint ``joint0`` ... of one of ``kinds``; the
    same for the same seed.

    A body hangs on the previous one, or, with probability ``branching``, on any earlier one; between them may sit
    displacements. Inertias belong to real distributions of mass (a few point masses and a ball). A share of joints,
    displacements and bodies is met from the far side (``reversed_share``). ``momentum`` gives bodies internal angular
    momentum. Gravity points anywhere by default. The first joint is never ``fixed``.
    A free base carries one more body, ``hull``."""
    for kind in kinds:
        if kind not in JOINT_KINDS:
            raise SpecError.one(
                "tree", "joint-kind", f"there is no joint kind '{kind}'", nearest(kind, JOINT_KINDS), kind
            )
    rng = np.random.default_rng(seed)
    parts: list[Any] = []
    tips = ["world.frame"]
    for k in range(bodies):
        inner = tips[-1] if k == 0 or rng.random() > branching else tips[int(rng.integers(len(tips)))]
        if rng.random() < 0.6:
            shift = Displacement(f"shift{k}", translation=_vector(rng, 0.4), rotation=_rotation(rng))
            near, far = _sides(rng, reversed_share, "a", "b")
            parts += [shift, connect(inner, f"shift{k}.{near}")]
            inner = f"shift{k}.{far}"
        joint = _joint(rng, f"joint{k}", kinds, moving=k == 0)
        near, far = _sides(rng, reversed_share, "a", "b")
        parts += [joint, connect(inner, f"joint{k}.{near}")]
        body = _body(rng, f"body{k}", momentum)
        near, far_frame = _sides(rng, reversed_share, "origin", "tip")
        parts += [body, connect(f"joint{k}.{far}", f"body{k}.{near}")]
        tips += [f"body{k}.{far_frame}", f"body{k}.side"]
    if base == "free":  # with nothing but joints on it, a free base would have no inertia of its own
        parts += [_body(rng, "hull", momentum), connect("world.frame", "hull.origin")]
    g = tuple(float(x) for x in rng.normal(size=3) * 5.0) if gravity is None else gravity
    return assemble(f"tree{seed}", *parts, gravity=g, base=base)


def _sides(rng: np.random.Generator, share: float, near: str, far: str) -> tuple[str, str]:
    return (far, near) if rng.random() < share else (near, far)


def _vector(rng: np.random.Generator, size: float) -> tuple[float, float, float]:
    x, y, z = (float(c) for c in rng.uniform(-size, size, 3))
    return x, y, z


def _unit(rng: np.random.Generator, n: int = 3) -> tuple[float, ...]:
    """A random direction, or in one of three cases a coordinate axis."""
    if n == 3 and rng.random() < 0.33:
        return tuple(float(c) for c in np.eye(3)[int(rng.integers(3))] * rng.choice([-1.0, 1.0]) + 0.0)
    x = rng.normal(size=n)
    return tuple(float(c) for c in x / np.sqrt(x @ x))


def _rotation(rng: np.random.Generator) -> Quaternion:
    return Quaternion(quaternion=_unit(rng, 4))


def _joint(rng: np.random.Generator, name: str, kinds: Sequence[str], moving: bool) -> Joint:
    kind = str(rng.choice([k for k in kinds if k != "fixed" or not moving] or ["revolute"]))
    needs = JOINT_KINDS[kind].needs
    properties: dict[str, Any] = {}
    if "axis" in needs:
        properties["axis"] = _unit(rng)
    if "second_axis" in needs:
        other = np.cross(properties["axis"], rng.normal(size=3))
        properties["second_axis"] = tuple(float(c) for c in other / np.sqrt(other @ other))
    if "pitch" in needs:
        properties["pitch"] = float(rng.uniform(-0.3, 0.3))
    return Joint(name, kind, **properties)


def _body(rng: np.random.Generator, name: str, momentum: bool) -> Entity:
    masses = rng.uniform(0.05, 1.0, 5)
    points = rng.uniform(-0.2, 0.2, (5, 3))
    mass = float(masses.sum())
    com = masses @ points / mass
    r = points - com
    inertia = sum(m * ((x @ x) * np.eye(3) - np.outer(x, x)) for m, x in zip(masses, r, strict=True))
    ball = 0.4 * mass * 0.05**2 * np.eye(3)
    J = np.asarray(inertia + ball)
    return RigidBody(
        name,
        mass=mass,
        com=tuple(float(c) for c in com),
        inertia=((J + J.T) / 2).tolist(),
        momentum=_vector(rng, 0.5) if momentum else (0.0, 0.0, 0.0),
        frames={"tip": (_vector(rng, 0.4), _rotation(rng)), "side": (_vector(rng, 0.4), _rotation(rng))},
    )
