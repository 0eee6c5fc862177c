"""Arms with known inverse kinematics: one like the Puma 560, and planar ones."""

from __future__ import annotations

import math

import gyrostat as gs

A2, A3, D3, D4 = 0.43, 0.02, 0.15, 0.44  # ours, near those of a Puma 560 [m]
ROWS = (
    (0.0, 0.0, 0.0),
    (-math.pi / 2, 0.0, 0.0),
    (0.0, A2, D3),
    (-math.pi / 2, A3, D4),
    (math.pi / 2, 0.0, 0.0),
    (-math.pi / 2, 0.0, 0.0),
)


def puma(**limits: tuple[float, float]) -> gs.Model:
    """Six revolute joints q1 ... q6 with a spherical wrist, links l1 ... l6; ``q3=(-1, 2)`` are limits."""
    links = []
    for j, (alpha, a, d) in enumerate(ROWS, start=1):
        lower, upper = limits.get(f"q{j}", (None, None))
        links.append(gs.DHDisplacement(f"s{j}", alpha=alpha, a=a, d=d, convention="modified"))
        links.append(gs.Joint(f"q{j}", "revolute", axis="z", lower=lower, upper=upper))
        links.append(gs.RigidBody(f"l{j}", mass=1.0, inertia=(0.1, 0.1, 0.1)))
    return gs.assemble("puma", gs.chain("world", *links))


def planar(*lengths: float, **limits: tuple[float, float]) -> gs.Model:
    """Revolute joints q1, q2 ... about z, links along x with the frames ``next``; the last one's is ``tip``."""
    links = []
    for j, length in enumerate(lengths, start=1):
        lower, upper = limits.get(f"q{j}", (None, None))
        far = "tip" if j == len(lengths) else "next"
        links.append(gs.Joint(f"q{j}", "revolute", axis="z", lower=lower, upper=upper))
        links.append(gs.RigidBody(f"l{j}", mass=1.0, inertia=(0.1, 0.1, 0.1), frames={far: (length, 0, 0)}))
    return gs.assemble("planar", gs.chain("world", *links))
