"""Bodies on the ground for tests of contact by events."""

from __future__ import annotations

import numpy as np

import gyrostat as gs

G = 9.81


def slope(angle: float) -> tuple[float, float, float]:
    """Gravity on ground that is inclined by an angle, downhill along x."""
    return G * np.sin(angle), 0.0, -G * np.cos(angle)


def ball(restitution: float = 0.9, radius: float = 0.0) -> gs.Model:
    """A ball that moves along z alone."""
    body = gs.RigidBody("ball", mass=1.0, inertia=(0.01, 0.01, 0.01))
    tip = gs.ContactPoint("tip", radius=radius)
    ground = gs.Ground("floor", friction=0.0, restitution=restitution)
    return gs.assemble("ball", gs.chain("world", gs.Joint("z", "prismatic", axis="z"), body, tip), ground)


def block(friction: object = 0.3, restitution: float = 0.0, angle: float = 0.0) -> gs.Model:
    """A free block of 0.4 m x 0.3 m x 0.2 m."""
    mass, (a, b, c) = 2.0, (0.4, 0.3, 0.2)
    inertia = tuple(mass / 12.0 * x for x in (b * b + c * c, a * a + c * c, a * a + b * b))
    shape = gs.Shape(kind="box", size=(a, b, c), role="collision")
    body = gs.RigidBody("block", mass=mass, inertia=inertia, shapes=[shape])
    ground = gs.Ground("floor", friction=friction, restitution=restitution)
    return gs.assemble("block", gs.chain("world", gs.Joint("free", "free"), body), ground, gravity=slope(angle))


def sphere(friction: object = 0.3, restitution: float = 0.0, radius: float = 0.1, angle: float = 0.0) -> gs.Model:
    """A free ball."""
    body = gs.RigidBody("ball", mass=1.0, inertia=(0.4 * radius**2,) * 3)
    tip, ground = gs.ContactPoint("tip", radius=radius), gs.Ground("floor", friction=friction, restitution=restitution)
    return gs.assemble("sphere", gs.chain("world", gs.Joint("free", "free"), body, tip), ground, gravity=slope(angle))


def at(x: float, y: float, z: float, quaternion: object = (0.0, 0.0, 0.0, 1.0)) -> np.ndarray:
    """q of a free body."""
    return np.array([x, y, z, *quaternion])


def gaps(model: gs.Model, q: np.ndarray) -> np.ndarray:
    """Gaps (T, k) of all contacts."""
    from gyrostat.simulate.plant.rigid_contacts import contact_rules

    return np.atleast_2d(contact_rules(model).gaps_at(q))


def expect_sound(model: gs.Model, run: gs.Result, friction: float, depth: float = 1e-9, gain: float = 1e-6) -> None:
    """No penetration, forces inside their cones, energy never grows."""
    assert np.isfinite(run.q).all() and np.isfinite(run.v).all()
    assert gaps(model, run.q).min() >= -depth
    for f in run.contact_forces.values():
        assert f[:, 0].min(initial=0.0) >= -1e-9
        assert np.all(np.linalg.norm(f[:, 1:], axis=1) <= friction * f[:, 0] + 1e-9)
    energy = run.energy
    jumps = np.diff(run.t) == 0.0
    assert np.all(np.diff(energy)[jumps] <= 1e-12 * np.abs(energy).max())
    assert np.all(np.diff(energy - run.work) <= gain * (1.0 + np.abs(energy).max()))
