"""The motion of every kind of joint (H04 2.2.1.3): placement of b in a, joint subspace and its rate.

For the coordinates q and rates v of a joint: ``R, p`` place b in a; the velocity of b against a, in b, is ``S v`` (S
is H of H04, (6, nv)); its derivative in b is ``S a + c`` with ``c = (dS/dt) v``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from gyrostat.geometry.rotation import about_axis, about_coordinate, from_quaternion
from gyrostat.spatial.algebra import (
    Array,
    columns,
    compose,
    cross,
    cross_motion,
    inverse,
    join,
    motion_to_child,
    motion_to_parent,
)

Props = Mapping[str, Any]
ZERO3, ZERO6 = np.zeros(3), np.zeros(6)


@dataclass(frozen=True)
class JointMotion:
    """Placement R, p of the far frame; subspace S (6, nv) and bias c (6,), both in the far frame.

    ``dS[k]`` (6, nv) and ``dc[k]`` (6,): derivatives of these numbers when the far frame is displaced along the twist
    S[:, k]; empty where all are zero."""

    R: Array
    p: Array
    S: Array
    c: Array
    dS: tuple[Array, ...] = ()
    dc: tuple[Array, ...] = ()

    def reversed(self) -> JointMotion:
        """The same joint met from its far side: frame a against frame b, in a.

        S_a = -phi_{a,b} S_b, and c_a = -phi_{a,b} c_b because the motion S v does not turn itself. A displacement
        along S_k changes phi_{a,b} by phi_{a,b} S_k~.
        """
        R, p = inverse(self.R, self.p)
        back = lambda V: -motion_to_parent(self.R, self.p, V)  # noqa: E731
        dS, dc = [], []
        for k in range(self.S.shape[1]) if self.S.shape[1] > 1 else ():
            s = self.S[:, k]
            carried = columns(lambda x, s=s: cross_motion(s, x), self.S)
            dS.append(columns(back, carried + self.dS[k] if self.dS else carried))
            dc.append(back(cross_motion(s, self.c) + self.dc[k] if self.dc else cross_motion(s, self.c)))
        return JointMotion(R, p, columns(back, self.S), back(self.c), tuple(dS), tuple(dc))

    def behind(self, R: Array, p: Array) -> JointMotion:
        """The motion of a frame that is fixed at R, p in the far one; without derivatives of S and c."""
        moved = columns(lambda V: motion_to_child(R, p, V), self.S)
        return JointMotion(*compose(self.R, self.p, R, p), moved, motion_to_child(R, p, self.c))

    def after(self, R: Array, p: Array) -> JointMotion:
        """The same joint behind a displacement R, p."""
        return JointMotion(*compose(R, p, self.R, self.p), self.S, self.c, self.dS, self.dc)


def turn(props: Props, angle: Any, which: str = "axis") -> Array:
    """Rotation about an axis of the joint; a plane rotation where the axis lies on a coordinate axis."""
    aligned = props.get(f"{which}_aligned")
    if aligned is None:
        return about_axis(props[which], angle)
    return about_coordinate(aligned[0], aligned[1] * angle)


def _stack(*motions: tuple[Array, Array]) -> Array:
    return np.stack([join(angular, linear) for angular, linear in motions], axis=1)


def fixed(props: Props, q: Array, v: Array) -> JointMotion:
    return JointMotion(np.eye(3), ZERO3, np.zeros((6, 0)), ZERO6)


def revolute(props: Props, q: Array, v: Array) -> JointMotion:
    u = props["axis"]
    return JointMotion(turn(props, q[0]), ZERO3, _stack((u, ZERO3)), ZERO6)


def prismatic(props: Props, q: Array, v: Array) -> JointMotion:
    u = props["axis"]
    return JointMotion(np.eye(3), u * q[0], _stack((ZERO3, u)), ZERO6)


def helical(props: Props, q: Array, v: Array) -> JointMotion:
    u, h = props["axis"], props["pitch"]
    return JointMotion(turn(props, q[0]), u * (h * q[0]), _stack((u, u * h)), ZERO6)


def cylindrical(props: Props, q: Array, v: Array) -> JointMotion:
    u = props["axis"]
    return JointMotion(turn(props, q[0]), u * q[1], _stack((u, ZERO3), (ZERO3, u)), ZERO6)


def universal(props: Props, q: Array, v: Array) -> JointMotion:
    u2 = props["second_axis"]
    R1, R2 = turn(props, q[0]), turn(props, q[1], "second_axis")
    s1 = R2.T @ props["axis"]  # the first axis, seen from b
    turned = cross(s1, u2)  # d(R2^T) u1 = -u2 dq2 x R2^T u1
    c = join(turned * (v[0] * v[1]), ZERO3)
    dS = np.zeros((6, 2)), _stack((turned, ZERO3), (ZERO3, ZERO3))
    dc = ZERO6, join(cross(turned, u2) * (v[0] * v[1]), ZERO3)
    return JointMotion(R1 @ R2, ZERO3, _stack((s1, ZERO3), (u2, ZERO3)), c, dS, dc)


def planar(props: Props, q: Array, v: Array) -> JointMotion:
    n, e1 = props["axis"], props["second_axis"]
    e2, R = cross(n, e1), turn(props, q[2])
    s1, s2 = R.T @ e1, R.T @ e2
    turned = cross(s1 * v[0] + s2 * v[1], n)  # d(R^T)/dt e = -n w x R^T e
    c, zero = join(ZERO3, turned * v[2]), np.zeros((6, 3))
    dS = zero, zero, _stack((ZERO3, cross(s1, n)), (ZERO3, cross(s2, n)), (ZERO3, ZERO3))
    dc = ZERO6, ZERO6, join(ZERO3, cross(turned, n) * v[2])
    return JointMotion(R, e1 * q[0] + e2 * q[1], _stack((ZERO3, s1), (ZERO3, s2), (n, ZERO3)), c, dS, dc)


def spherical(props: Props, q: Array, v: Array) -> JointMotion:
    return JointMotion(from_quaternion(q), ZERO3, np.eye(6)[:, :3], ZERO6)


def free(props: Props, q: Array, v: Array) -> JointMotion:
    return JointMotion(from_quaternion(q[3:]), q[:3], np.eye(6), ZERO6)


MOTIONS: dict[str, Callable[[Props, Array, Array], JointMotion]] = {
    "fixed": fixed,
    "revolute": revolute,
    "continuous": revolute,
    "prismatic": prismatic,
    "helical": helical,
    "cylindrical": cylindrical,
    "universal": universal,
    "planar": planar,
    "spherical": spherical,
    "free": free,
}
