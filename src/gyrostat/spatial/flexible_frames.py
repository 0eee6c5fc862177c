"""Frames of a flexible body: how they move against its floating frame, and against each other.

A frame is at p = p_0 + phi q and turned by R = Rz Ry Rx of the angles psi q (about the axes of the floating frame, z
first, then the turned y and x), behind which its own axes R_0 come: a joint with the six rates (turning about z, y, x;
dp/dt) = Psi v. Psi is constant; what R does with the angles is exact."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from gyrostat.geometry.rotation import about_coordinate
from gyrostat.spatial.algebra import Array, columns, compose, cross, cross_motion, join, motion_to_child
from gyrostat.spatial.joints import JointMotion

EX, EY, EZ = np.eye(3)
Station = tuple[Array, Array, Array]
"""R_0 (3, 3) and p_0 (3,) of a frame while q = 0, and Psi (6, n)."""


def zyx_joint(p: Array, angles: Array, rates: Array) -> JointMotion:
    """A frame at p, turned by ``angles`` (3,) about z, y, x; ``rates`` (6,): those of the angles, then of p. S (6, 6)
    and its bias are seen from the frame."""
    Rz, Ry, Rx = (about_coordinate(axis, angle) for axis, angle in zip((2, 1, 0), angles, strict=True))
    R = Rz @ Ry @ Rx
    ey, ez = Rx.T @ EY, Rx.T @ (Ry.T @ EZ)
    none = np.zeros((3, 3))
    turning = np.concatenate([np.stack([ez, ey, EX], axis=1), none], axis=1)
    S = np.concatenate([turning, np.concatenate([none, R.T], axis=1)])
    wx = EX * rates[2]
    wy = wx + ey * rates[1]
    turned = -cross(wx, ey) * rates[1] - cross(wy, ez) * rates[0]
    bias = join(turned, -cross(wy + ez * rates[0], R.T @ rates[3:]))
    return JointMotion(R, p, S, bias)


class MovingFrames(ABC):
    """Frames of a flexible link by name; ``floating`` is the one that the others are seen from."""

    floating: str

    @abstractmethod
    def of_body(self, name: str, q: Array, v: Array) -> JointMotion:
        """A frame against the floating one, with the rates v of the link."""

    def motion(self, start: str, end: str, q: Array, v: Array) -> JointMotion:
        """Frame ``end`` against frame ``start``, with the rates v of the body."""
        if start == self.floating:
            return self.of_body(end, q, v)
        back = self.of_body(start, q, v).reversed()
        if end == self.floating:
            return JointMotion(back.R, back.p, back.S, back.c)
        out = self.of_body(end, q, v)
        carried = columns(lambda V: motion_to_child(out.R, out.p, V), back.S)
        bias = motion_to_child(out.R, out.p, back.c) + out.c - cross_motion(out.S @ v, carried @ v)
        return JointMotion(*compose(back.R, back.p, out.R, out.p), carried + out.S, bias)


@dataclass(frozen=True)
class FlexibleFrames(MovingFrames):
    """The frames of a body by name; ``floating`` is the one that the others are seen from."""

    floating: str
    stations: Mapping[str, Station]

    def joint(self, name: str, q: Array, v: Array) -> JointMotion:
        """A frame against the floating one, with six rates Psi v."""
        R_0, p_0, Psi = self.stations[name]
        here = Psi @ q
        return zyx_joint(p_0 + here[3:], here[:3], Psi @ v).behind(R_0, np.zeros(3))

    def of_body(self, name: str, q: Array, v: Array) -> JointMotion:
        joint = self.joint(name, q, v)
        return JointMotion(joint.R, joint.p, joint.S @ self.stations[name][2], joint.c)
