"""The spatial disorientation trainer of KV: four axes that turn a pilot."""

from __future__ import annotations

from gyrostat.spec.assemble import assemble, chain
from gyrostat.spec.joint import Joint
from gyrostat.spec.model import Model
from gyrostat.spec.rigid_body import RigidBody

ARM_RADIUS = 2.0  # a_1 [m], ours
GONDOLA_HEIGHT = 1.2  # d_2 [m], ours


def spatial_disorientation_trainer() -> Model:
    """KV section IV: four continuous joints ``q1`` ... ``q4``; bodies ``arm``, ``fork``, ``ring``, ``gondola``.

    Of KV, text above figure 2: four rotational axes in a row; the vectors from joint to joint, in the axes of the base,
    ``p*_1 = a_1 (c_1, s_1, 0)``, ``p*_2 = (0, 0, d_2)``, and zero after that. Hence axis 1 is vertical with an arm of
    length a_1; axis 2 is vertical too, because its offset d_2 stays vertical at every angle; axes 2, 3 and 4 meet in
    one point, the middle of the gondola.

    Ours, because the text prints no number and its figure 2 is missing: a_1 = 2.0 m and d_2 = 1.2 m, upwards; axis 3
    is y (pitch) and axis 4 is x (roll) when all angles are zero; all masses, centres of mass and inertias (those of a
    box, a thin ring and a solid cylinder); that the joints have no limits. z points up and gravity is (0, 0, -9.81);
    KV (6) writes ``v_z - g``, gravity along +z, as in a base frame whose z points down.

    All frames are parallel to the world at zero angles. ``gondola.origin`` is the point where the axes meet; the centre
    of mass hangs 0.05 m below.
    """
    arm = RigidBody("arm", mass=900.0, com=(0.5, 0, 0), inertia=box(900.0, 3.0, 0.8, 0.4), frames=_at(x=ARM_RADIUS))
    fork = RigidBody(
        "fork", mass=400.0, com=(0, 0, 0.5), inertia=box(400.0, 1.0, 2.6, 1.4), frames=_at(z=GONDOLA_HEIGHT)
    )
    ring = RigidBody("ring", mass=200.0, inertia=thin_ring(200.0, 1.1))
    gondola = RigidBody("gondola", mass=350.0, com=(0, 0, -0.05), inertia=cylinder(350.0, 0.7, 1.6))
    parts = chain(
        "world",
        Joint("q1", "continuous", axis="z"),
        arm,
        Joint("q2", "continuous", axis="z"),
        fork,
        Joint("q3", "continuous", axis="y"),
        ring,
        Joint("q4", "continuous", axis="x"),
        gondola,
    )
    return assemble("spatial_disorientation_trainer", parts)


def _at(x: float = 0.0, z: float = 0.0) -> dict[str, tuple[float, float, float]]:
    """Where the next joint sits."""
    return {"next": (x, 0.0, z)}


def box(mass: float, x: float, y: float, z: float) -> tuple[float, float, float]:
    """Moments of inertia [kg m^2] of a uniform box with edges x, y, z [m]."""
    return mass * (y * y + z * z) / 12.0, mass * (z * z + x * x) / 12.0, mass * (x * x + y * y) / 12.0


def thin_ring(mass: float, radius: float) -> tuple[float, float, float]:
    """Moments of inertia [kg m^2] of a thin ring in the plane x y."""
    return mass * radius**2 / 2.0, mass * radius**2 / 2.0, mass * radius**2


def cylinder(mass: float, radius: float, length: float) -> tuple[float, float, float]:
    """Moments of inertia [kg m^2] of a solid cylinder along x."""
    across = mass * (3.0 * radius**2 + length**2) / 12.0
    return mass * radius**2 / 2.0, across, across
