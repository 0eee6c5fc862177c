"""Gravity as an acceleration of the reference frame, or as a field in which every body feels its own weight (H04
3.1.2)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from gyrostat.errors import NonFiniteError
from gyrostat.spatial.algebra import Array, cross, join, returned
from gyrostat.spatial.representation import Pose
from gyrostat.spec.context import CentralGravity, UniformGravity


@dataclass(frozen=True)
class Gravity:
    """``acceleration``: what the world is accelerated by, (3,); ``field(p)`` and ``gradient(p)``: g and dg/dp in the
    world."""

    acceleration: Array
    field: Callable[[Array], Array] | None = None
    gradient: Callable[[Array], Array] | None = None

    def weight(self, pose: Pose, m: Any, com: Array, J_c: Array) -> Array:
        """Wrench of the field on a body (6,), in the coordinates of its frame; zero when the world is accelerated
        instead.

        The force acts at the centre of mass. To first order in the size of the body, a field with gradient G also
        exerts the torque integral r x G r dm, with the second moment integral r r^T dm = tr(J)/2 - J."""
        if self.field is None:
            return np.zeros(6)
        p_c = pose.p + pose.R @ com
        f = pose.R.T @ (m * np.asarray(self.field(p_c)))
        torque = cross(com, f)
        if self.gradient is not None:
            G = pose.R.T @ self.gradient(p_c) @ pose.R
            K = G @ (np.eye(3) * (np.trace(J_c) / 2.0) - J_c)
            torque = torque + np.array([K[2, 1] - K[1, 2], K[0, 2] - K[2, 0], K[1, 0] - K[0, 1]])
        return join(torque, f)


def gravity(given: Any, live: Array | None = None) -> Gravity:
    """The law that a context asks for; ``live`` (3,) stands for the numbers of a uniform one."""
    zero = np.zeros(3)
    if isinstance(given, UniformGravity):
        g = np.array(given.g) if live is None else live
        return Gravity(-g) if given.treat_as == "acceleration" else Gravity(zero, lambda p: g)
    if isinstance(given, CentralGravity):
        return _central(given.mu, np.array(given.centre))
    return Gravity(zero, lambda p: returned(given.field(p), (3,), "gravity field: field(p)"))


def _central(mu: float, centre: Array) -> Gravity:
    def field(p: Array) -> Array:
        r = p - centre
        if type(r @ r) is float and r @ r == 0.0:  # recorded: it is there in every state
            raise NonFiniteError(f"gravity: a body is fixed at the centre of attraction {tuple(centre.tolist())}")
        return r * (-mu / (r @ r) ** 1.5)

    def gradient(p: Array) -> Array:
        r = p - centre
        rr = r @ r
        return (np.outer(r, r) * (3.0 / rr) - np.eye(3)) * (mu / rr**1.5)

    return Gravity(np.zeros(3), field, gradient)
