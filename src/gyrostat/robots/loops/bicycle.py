"""Whipple's bicycle with the parameters of the benchmark."""

from __future__ import annotations

import math

from gyrostat.robots.loops.links import GREY, ORANGE, STEEL, tube
from gyrostat.spec.assemble import assemble, chain, connect
from gyrostat.spec.joint import Joint
from gyrostat.spec.model import Model
from gyrostat.spec.rigid_body import RigidBody
from gyrostat.spec.rolling import Rolling
from gyrostat.spec.shape import Shape
from gyrostat.spec.values import rpy

# Meijaard, Papadopoulos, Ruina, Schwab, Proc. R. Soc. A 463 (2007) 1955-1982, table 1; there x forwards, y to the
# right, z down, here y to the left and z up. Lengths [m], masses [kg], moments of inertia [kg m^2].
WHEEL_BASE, TRAIL, TILT, GRAVITY = 1.02, 0.08, math.pi / 10.0, 9.81
REAR_RADIUS, REAR_MASS, REAR_ACROSS, REAR_AXIAL = 0.3, 2.0, 0.0603, 0.12
FRONT_RADIUS, FRONT_MASS, FRONT_ACROSS, FRONT_AXIAL = 0.35, 3.0, 0.1405, 0.28
BODY_MASS, BODY_AT = 85.0, (0.3, 0.0, 0.9)
BODY_INERTIA = ((9.2, 0.0, -2.4), (0.0, 11.0, 0.0), (-2.4, 0.0, 2.8))
FORK_MASS, FORK_AT = 4.0, (0.9, 0.0, 0.7)
FORK_INERTIA = ((0.05892, 0.0, 0.00756), (0.0, 0.06, 0.0), (0.00756, 0.0, 0.00708))


def bicycle() -> Model:
    """Whipple's bicycle: rear frame with a rigid rider, fork with handlebar, two knife-edge wheels that roll without
    slipping on the plane z = 0 of the world; parameters of the benchmark of Meijaard and others (2007), table 1.

    Joints: ``pose`` (free, of the rear frame ``frame``, whose origin is under the rear wheel where the bicycle stands
    upright), ``rear_spin`` and ``front_spin`` (about y, positive when it rolls forwards), ``steer`` (about the steering
    axis, upwards: positive to the left). Bodies ``frame``, ``rear_wheel``, ``fork``, ``front_wheel``; what rolls:
    ``rear_contact``, ``front_contact``. x points forwards, z up; gravity 9.81 m/s^2.

    Nine rates, six equations, of which four are nonholonomic: lean, steer and speed are free. At v [m/s] straight ahead
    the rates are ``{"pose": (0, 0, 0, v, 0, 0), "rear_spin": v / 0.3, "steer": 0, "front_spin": v / 0.35}``; it is
    stable on its own between 4.292 and 6.024 m/s."""
    hub = (0.0, 0.0, REAR_RADIUS)
    front_hub = (WHEEL_BASE, 0.0, FRONT_RADIUS)
    head = _on_steering_axis(FORK_AT[2])
    axis = (-math.sin(TILT), 0.0, math.cos(TILT))
    frame = RigidBody(
        "frame",
        mass=BODY_MASS,
        com=BODY_AT,
        inertia=BODY_INERTIA,
        frames={"hub": hub, "head": head},
        shapes=(tube(hub, (0.25, 0.0, 0.85), 0.02, ORANGE), tube((0.25, 0.0, 0.85), head, 0.02, ORANGE)),
    )
    at = _minus(FORK_AT, head)
    grip = (-0.1, 0.0, 0.35)
    fork = RigidBody(
        "fork",
        mass=FORK_MASS,
        com=at,
        inertia=FORK_INERTIA,
        frames={"hub": _minus(front_hub, head)},
        shapes=(
            tube(_minus(front_hub, head), (0.0, 0.0, 0.0), 0.015, STEEL),
            tube((0.0, 0.0, 0.0), grip, 0.015, STEEL),
        ),
    )
    rear = _wheel("rear_wheel", REAR_MASS, REAR_ACROSS, REAR_AXIAL, REAR_RADIUS)
    front = _wheel("front_wheel", FRONT_MASS, FRONT_ACROSS, FRONT_AXIAL, FRONT_RADIUS)
    return assemble(
        "bicycle",
        chain("world", Joint("pose", "free"), frame),
        chain("frame.hub", Joint("rear_spin", "continuous", axis="y"), rear),
        chain("frame.head", Joint("steer", "revolute", axis=axis), fork),
        chain("fork.hub", Joint("front_spin", "continuous", axis="y"), front),
        Rolling("rear_contact", REAR_RADIUS),
        Rolling("front_contact", FRONT_RADIUS),
        connect("world", "rear_contact.ground", "front_contact.ground"),
        connect("rear_wheel.origin", "rear_contact.wheel"),
        connect("front_wheel.origin", "front_contact.wheel"),
        gravity=(0.0, 0.0, -GRAVITY),
    )


def _on_steering_axis(z: float) -> tuple[float, float, float]:
    """The point of the steering axis at a height; it meets the ground the trail before the front wheel does."""
    return WHEEL_BASE + TRAIL - z * math.tan(TILT), 0.0, z


def _minus(a: tuple[float, float, float], b: tuple[float, float, float]) -> tuple[float, float, float]:
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


def _wheel(name: str, mass: float, across: float, axial: float, radius: float) -> RigidBody:
    about_y = rpy(math.pi / 2.0, 0.0, 0.0)
    disc = Shape(kind="cylinder", size=(radius, 0.02), rotation=about_y, color=GREY)
    return RigidBody(name, mass=mass, inertia=(across, axial, across), shapes=(disc,))
