"""Gravity as an acceleration of the reference frame, or as a field in which every body feels its own weight (H04
3.1.2).

In a field with the potential phi a body has the energy U = integral of phi dm. To second order in its size that is

    U = m phi(c) - 1/2 tr(G K),    G = dg/dp,  g = -dphi/dp at the centre of mass c,  K = integral r r^T dm about c,

and force and torque are the derivatives of this one function: f = m g + 1/2 d tr(G K)/dc, n = integral r x G r dm."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from gyrostat.errors import NonFiniteError, StateError
from gyrostat.spatial.algebra import Array, cross, join
from gyrostat.spatial.gravity_field import derived
from gyrostat.spatial.inertia import SpatialInertia, steiner
from gyrostat.spatial.representation import Pose
from gyrostat.spec.context import CentralGravity, UniformGravity


@dataclass(frozen=True)
class Gravity:
    """``acceleration``: what the world is accelerated by, (3,); or ``field(p)``, g in the world.

    ``gradient(p)``: G (3, 3), and ``stretch(p, K)``: 1/2 d tr(G K)/dp (3,); None: bodies count as points.
    ``potential(p)``: phi [J/kg], None: there is none."""

    acceleration: Array
    field: Callable[[Array], Array] | None = None
    potential: Callable[[Array], Any] | None = None
    gradient: Callable[[Array], Array] | None = None
    stretch: Callable[[Array, Array], Array] | None = None

    def weight(self, pose: Pose, m: Any, com: Array, J_c: Array) -> Array:
        """Wrench of the field on a body (6,), in the coordinates of its frame; zero when the world is accelerated
        instead. ``com`` and ``J_c``, the inertia about it, are in the frame's axes."""
        if self.field is None:
            return np.zeros(6)
        p_c = pose.p + pose.R @ com
        f, n = m * np.asarray(self.field(p_c)), np.zeros(3)
        if self.gradient is not None and self.stretch is not None and _extended(J_c):
            K = _second_moment(pose, J_c)
            f = f + self.stretch(p_c, K)
            N = self.gradient(p_c) @ K
            n = np.array([N[2, 1] - N[1, 2], N[0, 2] - N[2, 0], N[1, 0] - N[0, 1]])
        f = pose.R.T @ f
        return join(pose.R.T @ n + cross(com, f), f)

    def energy(self, pose: Pose, m: Any, com: Array, J_c: Array) -> Any:
        """U of a body [J], of which :meth:`weight` is the derivative."""
        p_c = pose.p + pose.R @ com
        if self.field is None:
            return m * (self.acceleration @ p_c)
        if self.potential is None:
            raise StateError(
                "potential_energy: the field of gravity is an acceleration only, without a potential. "
                "Hint: GravityField(potential=...), a function of position [J/kg]"
            )
        U = m * self.potential(p_c)
        if self.gradient is None or not _extended(J_c):
            return U
        return U - 0.5 * np.sum(self.gradient(p_c) * _second_moment(pose, J_c))

    def energy_of(self, pose: Pose, M: SpatialInertia) -> Any:
        """The same from the inertia about the frame's origin; what has no mass has no energy."""
        if self.field is None:
            return self.acceleration @ (pose.p * M.m + pose.R @ M.h)
        if isinstance(M.m, float) and M.m == 0.0:
            return 0.0
        com = M.h / M.m
        return self.energy(pose, M.m, com, M.J - M.m * steiner(com))


def _extended(J_c: Array) -> bool:
    """Whether a body has any extent."""
    return J_c.dtype == object or bool(np.any(J_c))


def _second_moment(pose: Pose, J_c: Array) -> Array:
    """K about the centre of mass, in the axes of the world."""
    return pose.R @ SpatialInertia(0.0, np.zeros(3), J_c).second_moment @ pose.R.T


def gravity(given: Any, live: Array | None = None) -> Gravity:
    """The law that a context asks for; ``live`` (3,) stands for the numbers of a uniform one."""
    zero = np.zeros(3)
    if isinstance(given, UniformGravity):
        g = np.array(given.g) if live is None else live
        return Gravity(-g) if given.treat_as == "acceleration" else Gravity(zero, lambda p: g, lambda p: -(g @ p))
    if isinstance(given, CentralGravity):
        return _central(given.mu, np.array(given.centre))
    return Gravity(zero, *derived(given))


def _central(mu: float, centre: Array) -> Gravity:
    """phi = -mu/|r| and its derivatives; the second-order part of U is that of MacCullagh."""

    def seen(p: Array) -> tuple[Array, Any]:
        r = p - centre
        if type(r @ r) is float and r @ r == 0.0:  # recorded: it is there in every state
            raise NonFiniteError(f"gravity: a body is fixed at the centre of attraction {tuple(centre.tolist())}")
        return r, r @ r

    def potential(p: Array) -> Any:
        return -mu / np.sqrt(seen(p)[1])

    def field(p: Array) -> Array:
        r, rr = seen(p)
        return r * (-mu / rr**1.5)

    def gradient(p: Array) -> Array:
        r, rr = seen(p)
        return (np.outer(r, r) * (3.0 / rr) - np.eye(3)) * (mu / rr**1.5)

    def stretch(p: Array, K: Array) -> Array:
        r, rr = seen(p)
        Kr = K @ r
        return (3.0 * Kr + r * (1.5 * np.trace(K) - 7.5 * (r @ Kr) / rr)) * (mu / rr**2.5)

    return Gravity(np.zeros(3), field, potential, gradient, stretch)
