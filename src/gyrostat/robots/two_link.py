"""The planar arm of the textbooks, with a closed form to compare with."""

from __future__ import annotations

from gyrostat.spec.assemble import assemble, chain
from gyrostat.spec.joint import Joint
from gyrostat.spec.model import Model
from gyrostat.spec.rigid_body import RigidBody
from gyrostat.spec.shape import Shape

RADIUS = 0.03  # as drawn [m]


def two_link(
    masses: tuple[float, float] = (2.0, 1.0), lengths: tuple[float, float] = (0.5, 0.4), gravity: float = 9.81
) -> Model:
    """Two uniform rods ``upper`` and ``lower`` that hang from ``shoulder`` and ``elbow``, which turn about y; all
    figures ours: ``masses`` [kg], ``lengths`` [m], ``gravity`` [m/s^2] downwards.

    With m1, m2, l1, l2, c2 = cos(q2), s2 = sin(q2) and h = m2 l1 l2 / 2:

    M11 = (m1/3 + m2) l1^2 + m2 l2^2/3 + 2 h c2, M12 = m2 l2^2/3 + h c2, M22 = m2 l2^2/3,
    C = h s2 (-2 v1 v2 - v2^2, v1^2),
    G = g ((m1/2 + m2) l1 sin(q1) + m2 l2/2 sin(q1 + q2), m2 l2/2 sin(q1 + q2)).
    """
    bodies = [_rod(name, m, l) for name, m, l in zip(("upper", "lower"), masses, lengths, strict=True)]
    joints = [Joint(name, "revolute", axis="y") for name in ("shoulder", "elbow")]
    parts = chain("world", joints[0], bodies[0], joints[1], bodies[1])
    return assemble("two_link", parts, gravity=(0.0, 0.0, -gravity))


def _rod(name: str, mass: float, length: float) -> RigidBody:
    """A thin rod that hangs down from its frame; ``tip`` is its end."""
    moment = mass * length**2 / 12.0
    middle = (0.0, 0.0, -length / 2.0)
    shape = Shape(kind="cylinder", size=(RADIUS, length), translation=middle, color=(0.3, 0.5, 0.8))
    frames = {"tip": (0.0, 0.0, -length)}
    return RigidBody(name, mass=mass, com=middle, inertia=(moment, moment, 0.0), frames=frames, shapes=(shape,))
