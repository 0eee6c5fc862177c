"""Wheels that roll: a disc, a sphere, a turntable, and equations of others to compare with."""

from __future__ import annotations

from typing import Any

import numpy as np

import gyrostat as gs

RADIUS, MASS = 0.3, 2.0
FREE = {"pose": (0.0, 0.0, RADIUS, 0.0, 0.0, 0.0, 1.0)}


def disc(kind: str = "disc", inertia: Any = (0.03, 0.06, 0.03), **properties: Any) -> gs.Model:
    """A body on a free joint that rolls on the world's plane; a disc about its y."""
    body = gs.RigidBody("disc", mass=MASS, inertia=inertia)
    model = gs.assemble("disc", gs.chain("world", gs.Joint("pose", "free"), body), reference=FREE)
    return model.with_rolling(gs.Rolling("contact", RADIUS, kind=kind, **properties).on("disc"))


def wheel(axial: float = 0.06, across: float = 0.03, **properties: Any) -> gs.Model:
    """The disc by single joints: x, y, z, then yaw about z, lean about x, spin about y. Straight rolling along x is a
    motion with constant rates."""
    joints = [gs.Joint(name, "prismatic", axis=name) for name in "xyz"]
    joints += [gs.Joint(n, "revolute", axis=axis) for n, axis in (("yaw", "z"), ("lean", "x"), ("spin", "y"))]
    body = gs.RigidBody("disc", mass=MASS, inertia=(across, axial, across))
    model = gs.assemble("wheel", gs.chain("world", *joints, body), reference={"z": RADIUS})
    return model.with_rolling(gs.Rolling("contact", RADIUS, **properties).on("disc"))


def turntable(speed_inertia: float = 1e9) -> gs.Model:
    """A sphere on a plate that turns about z, so heavy that the sphere does not slow it down."""
    plate = gs.RigidBody("plate", mass=1.0, inertia=(speed_inertia, speed_inertia, speed_inertia))
    ball = gs.RigidBody("ball", mass=MASS, inertia=(0.4 * MASS * RADIUS**2,) * 3)
    model = gs.assemble(
        "turntable",
        gs.chain("world", gs.Joint("turn", "continuous", axis="z"), plate),
        gs.chain("world", gs.Joint("pose", "free"), ball),
        reference=FREE,
    )
    return model.with_rolling(gs.Rolling("contact", RADIUS, kind="sphere").on("ball", ground="plate"))


def leaned(lean: float, yaw: float = 0.0) -> np.ndarray:
    """q of :func:`disc` that touches the plane."""
    c, s, C, S = np.cos(lean / 2), np.sin(lean / 2), np.cos(yaw / 2), np.sin(yaw / 2)
    return np.array([0.0, 0.0, RADIUS * np.cos(lean), C * s, S * s, S * c, C * c])


def euler_rates(lean: float, t: float, y: np.ndarray, axial: float, across: float, g: float) -> np.ndarray:
    """Independent equations of a rolling disc in its own frame that does not spin (1: along the horizontal diameter, 2:
    the axis, 3: up the disc), derived by hand from F = m dv/dt and M = dH/dt with v_C = -w x s, s = -r e3:

    y = (lean, w1, w2, w3) with w1 = d lean/dt; the frame turns with (w1, w3 tan(lean), w3)."""
    theta, w1, w2, w3 = y
    m, r = MASS, RADIUS
    p = w3 * np.tan(theta)  # the frame's own turn about the axis
    # v = w x (r e3) = r (w2, -w1, 0) with w = (w1, w2, w3); frame turns with (w1, p, w3)
    # dv/dt = r (dw2, -dw1, 0) + (w1, p, w3) x r (w2, -w1, 0)
    #       = r (dw2 + w3 w1, -dw1 + w3 w2, -w1^2 - p w2)
    # H = (B w1, A w2, B w3); dH = (B dw1, A dw2, B dw3) + (w1, p, w3) x H
    # force of the ground F = m dv/dt - m G, G = g (0, -sin, -cos); torque about C: s x F, s = -r e3: (r F2, -r F1, 0)
    G = -g * np.array([0.0, np.sin(theta), np.cos(theta)])
    A, B = axial, across
    # 1: B dw1 + p B w3 - w3 A w2 = r F2 = r m (r (-dw1 + w3 w2) - G2)
    dw1 = (w3 * A * w2 - p * B * w3 + r * m * (r * w3 * w2 - G[1])) / (B + m * r * r)
    # 2: A dw2 + (w3 B w1 - w1 B w3) = -r F1 = -r m r (dw2 + w3 w1)
    dw2 = -m * r * r * w3 * w1 / (A + m * r * r)
    # 3: B dw3 + w1 A w2 - p B w1 = 0
    dw3 = (p * B * w1 - w1 * A * w2) / B
    return np.array([w1, dw1, dw2, dw3])
