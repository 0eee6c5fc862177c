"""What contacts hold, as rows over a motion: w = Q V with V the velocity of a frame in its own axes, and dw/dt.

The drift: fixed frames and rows hold the *numbers* w, so that dw/dt = Q J a + d(Q J)/dt v is zero, exactly, whatever v
is: Q dV/dt, V the six numbers of the local velocity (H04 (3.66)). Points hold the acceleration of their origin,
dv/dt in the world, and with the normal of the ground n . dv/dt. Where w = 0, as it is in contact, these are the same;
derivatives are not. Pinocchio's 6-D and 3-D contacts have the same two conventions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gyrostat.algorithms.algorithm import Setting
from gyrostat.algorithms.contact.frame_contact import FrameContact
from gyrostat.algorithms.matrices.body_jacobians import at_rest, weightless
from gyrostat.algorithms.recursions.kinematics import sweep_motion
from gyrostat.graph.network import Network
from gyrostat.spatial.algebra import Array, cross, force_to_parent, join, motion_to_child
from gyrostat.spatial.representation import Motion, spread


@dataclass(frozen=True)
class Held:
    """A contact on a network: ``port`` that carries its frame, ``place`` R, p of the frame there, ``at``: its rows
    among those of all contacts."""

    contact: FrameContact
    port: int
    place: tuple[Array, Array]
    at: slice
    directions: Array | None
    """(m, 3) in the world, of the velocity of the origin; None where the selector is constant in the frame."""

    @property
    def rows(self) -> int:
        return self.at.stop - self.at.start

    @property
    def is_point(self) -> bool:
        """Whether the acceleration of the origin is held, in the axes of the frame."""
        return self.directions is None and isinstance(self.contact.kind, str) and self.contact.kind == "point"

    def selector(self, motion: Motion) -> Array:
        """Q (m, 6) on the velocity of the frame in its own axes."""
        if self.directions is None:
            return self.contact.selector
        n = self.directions @ (motion.pose.R @ self.place[0])
        return np.concatenate([np.zeros((self.rows, 3)), n], axis=1)

    def carried(self, motion: Motion) -> Array:
        """Q^T (6, m) as forces at the port that carries the frame."""
        return force_to_parent(*self.place, self.selector(motion).T)

    def velocity(self, motion: Motion) -> Array:
        """w (m,), for a motion in body representation."""
        return self.selector(motion) @ motion_to_child(*self.place, motion.V)

    def acceleration(self, motion: Motion, world: Array) -> Array:
        """dw/dt (m,), of a point the acceleration of its origin, for a motion in body representation whose world
        accelerates by ``world`` (3,)."""
        R, V, A = motion.pose.R, motion.V, motion.A
        point = A[3:] - R.T @ world
        if self.directions is not None:
            return self.directions @ (R @ (point + spread(V[:3], A[:3]) @ self.place[1]))
        if self.is_point:
            return self.place[0].T @ (point + spread(V[:3], A[:3]) @ self.place[1])
        rate = join(A[:3], point - cross(V[:3], V[3:]))
        return self.contact.selector @ motion_to_child(*self.place, rate)


def held_frames(network: Network, contacts: Sequence[FrameContact], cones: bool = False) -> tuple[Held, ...]:
    """Where the frames of contacts are, and their rows; ``cones``: points with friction have the rows (normal, t1, t2)
    of :func:`contact_axes`, in the world."""
    found, at = [], 0
    for contact in contacts:
        port, place = network.located[network.port(contact.frame)]
        directions = np.array([contact.normal]) if contact.kind == "normal" else None
        if cones and contact.kind == "point" and contact.friction is not None:
            directions = contact_axes(contact.normal)
        found.append(Held(contact, port, place, slice(at, at + contact.rows), directions))
        at += contact.rows
    return tuple(found)


def contact_axes(normal: Sequence[float]) -> Array:
    """Normal and two tangents (3, 3) of unit length in rows, right-handed."""
    n = np.array(normal, dtype=float)
    away = np.eye(3)[int(np.abs(n).argmin())]
    t = away - n * (n @ away)
    t /= np.sqrt(t @ t)
    return np.stack([n, t, np.cross(n, t)])


def count(held: Sequence[Held]) -> int:
    """m, the rows of all contacts."""
    return held[-1].at.stop if held else 0


def compliances(held: Sequence[Held]) -> Array:
    """Of every row (m,)."""
    return np.concatenate([np.full(h.rows, h.contact.compliance) for h in held])


def stacked(parts: Sequence[Array]) -> Array:
    """Rows of all contacts, one after the other."""
    return np.concatenate(list(parts))


def held_velocities(held: Sequence[Held], motions: Mapping[int, Motion]) -> Array:
    """w (m,)."""
    return stacked([h.velocity(motions[h.port]) for h in held])


def held_accelerations(held: Sequence[Held], motions: Mapping[int, Motion], world: Array) -> Array:
    """dw/dt (m,)."""
    return stacked([h.acceleration(motions[h.port], world) for h in held])


def held_wrenches(held: Sequence[Held], motions: Mapping[int, Motion], f: Array) -> Array:
    """Q^T f (contacts, 6): torque and force on the robot in the axes of each frame."""
    return np.array([h.selector(motions[h.port]).T @ f[h.at] for h in held])


def contact_jacobian(network: Network, on: Setting, q: Array, held: Sequence[Held]) -> Array:
    """J_c (m, nv): unit velocities through the joints between world and frames [H04 3.2.2.1]; zero elsewhere."""
    n = network.model.nv
    still, rest = weightless(at_rest(network, on), on.representation), np.zeros(n)
    rows: list[Array] = []
    for h in held:
        path = replace(network, components=tuple(c for c, _ in network.path(h.port)))
        rates = list(dict.fromkeys(k for c in path.components for ties in c.ties for k, _ in ties))
        J: Any = np.zeros((h.rows, n), dtype=object)
        J[...] = 0.0
        for k in rates:
            J[:, k] = h.velocity(sweep_motion(path, still, q, np.eye(n)[k], rest)[h.port])
        rows.append(J)
    J = stacked(rows)
    return J if any(not isinstance(x, float) for x in J.ravel()) else J.astype(float)
