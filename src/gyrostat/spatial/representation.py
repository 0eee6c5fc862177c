"""The three coordinate representations of H04 2.1.2: body <B>, inertial <I>, absolute <A>.

| | reference point | axes | acceleration message A |
|---|---|---|---|
| body | the frame's origin | the frame's | (dw/dt, dv/dt) of the point against the world, in the frame's axes |
| inertial | the frame's origin | the world's | the same, in the world's axes |
| absolute | the world's origin | the world's | rate of V in the world (H04 (2.27)) |

H04's <B> sends the relative derivative A - Omega~ V, :meth:`Representation.circle` gives it. With the acceleration of
the point instead, the linear velocity drops out of the recursion (as in Luh, Walker, Paul), which saves a fifth of
the operations.

An algorithm asks a representation how a motion goes through a displacement or a joint, how things that are known in a
frame's own coordinates look in the representation, and what force a motion needs; the sweeps are then the same."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from gyrostat.errors import ShapeError, nearest
from gyrostat.spatial.algebra import (
    Array,
    columns,
    compose,
    cross,
    cross_force,
    cross_motion,
    force_to_child,
    force_to_parent,
    join,
    motion_to_child,
    motion_to_parent,
)
from gyrostat.spatial.inertia import SpatialInertia
from gyrostat.spatial.joints import JointMotion


@dataclass(frozen=True)
class Pose:
    """Axes R and origin p of a frame in the world."""

    R: Array
    p: Array

    def then(self, R: Array, p: Array) -> Pose:
        return Pose(*compose(self.R, self.p, R, p))


@dataclass(frozen=True)
class Motion:
    """Placement, velocity V and acceleration A of a frame, in a representation."""

    pose: Pose
    V: Array
    A: Array


@dataclass(frozen=True)
class Shift:
    """phi from one frame to the next: ``motion`` takes motions outward, ``force`` (its transpose) takes forces
    inward, ``inertia`` takes inertias inward: phi^T M phi."""

    motion: Callable[[Array], Array]
    force: Callable[[Array], Array]
    inertia: Callable[[Any], Any]


class Representation(ABC):
    """How motions, forces and inertias of a frame are written down."""

    name: str

    @abstractmethod
    def shift(self, pose: Pose, R: Array, p: Array) -> Shift:
        """phi from the frame at ``pose`` to the frame placed at R, p in it [H04 (2.18), (2.22), Table 3.3]."""

    @abstractmethod
    def motion(self, pose: Pose, V_local: Array) -> Array:
        """A motion given in the coordinates of the frame at ``pose``."""

    @abstractmethod
    def motion_local(self, pose: Pose, V: Array) -> Array:
        """Undo :meth:`motion`."""

    @abstractmethod
    def force(self, pose: Pose, F_local: Array) -> Array:
        """A force given in the coordinates of the frame at ``pose``."""

    @abstractmethod
    def force_local(self, pose: Pose, F: Array) -> Array:
        """Undo :meth:`force`."""

    @abstractmethod
    def inertia(self, pose: Pose, I_local: SpatialInertia) -> SpatialInertia:
        """M of a body whose inertia is known in the frame at ``pose`` [H04 Table 3.7]."""

    @abstractmethod
    def circle(self, V: Array, A: Array) -> Array:
        """The derivative that transforms like a velocity [H04 (2.23)]."""

    @abstractmethod
    def dot(self, V: Array, circle: Array) -> Array:
        """Undo :meth:`circle`."""

    @abstractmethod
    def through(self, motion: Motion, joint: JointMotion, v: Array, a: Array) -> tuple[Motion, Shift, Array]:
        """Motion behind a joint (or a displacement: a joint without rates), phi, and S (6, nv) in the
        representation."""

    @abstractmethod
    def newton_euler(self, M: SpatialInertia, momentum: Array, V: Array, A: Array) -> Array:
        """Force that a gyrostat with internal ``momentum`` (6,) needs to move so [H04 (2.15), (2.24), (2.27)]."""


class Classical(Representation):
    """What <B> and <I> share: the reference point moves with the body, and A is the acceleration of that point."""

    @abstractmethod
    def turned(self, pose: Pose, R: Array, p: Array) -> tuple[Callable[[Array], Array], Array]:
        """How a 3-vector of this frame is written in the next one, and p in this frame's axes of the representation."""

    def circle(self, V: Array, A: Array) -> Array:
        """A - Omega~ V."""
        return join(A[:3], A[3:] - cross(V[:3], V[3:]))

    def dot(self, V: Array, circle: Array) -> Array:
        return join(circle[:3], circle[3:] + cross(V[:3], V[3:]))

    def through(self, motion: Motion, joint: JointMotion, v: Array, a: Array) -> tuple[Motion, Shift, Array]:
        """With s = S v, e = S a + c: w_2 = w_1 + s_w, dw_2 = dw_1 + e_w + w_2 x s_w, dv_2 = dv_1 + W_1 p + 2 w_1 x
        s_v + s_w x s_v + e_v, where W = dw~ + w~ w~; the first terms written in the next frame."""
        pose = motion.pose.then(joint.R, joint.p)
        turn, p = self.turned(motion.pose, joint.R, joint.p)
        S = columns(lambda x: self.motion(pose, x), joint.S)
        s, e = S @ v, S @ a + self.motion(pose, joint.c)
        w, u, dw, du = motion.V[:3], motion.V[3:], motion.A[:3], motion.A[3:]
        w1 = turn(w)
        w2 = w1 + s[:3]
        dw2 = turn(dw) + e[:3] + cross(w1, s[:3])
        u2 = turn(u + cross(w, p)) + s[3:]
        du2 = turn(du + spread(w, dw) @ p) + cross(w1 + w2, s[3:]) + e[3:]
        return Motion(pose, join(w2, u2), join(dw2, du2)), self.shift(motion.pose, joint.R, joint.p), S

    def newton_euler(self, M: SpatialInertia, momentum: Array, V: Array, A: Array) -> Array:
        """f = m dv + W h, n = (W K - (W K)^T) as a vector + h x dv + w x l, with K = tr(J)/2 - J the second moment of
        mass.

        The same as M A - (M Omega~ + V~^T M) V + dl/dt, (2.15) with the sign of its proof: dw x r + w x (w x r) = W
        r, integrated."""
        w, W = V[:3], spread(V[:3], A[:3])
        P = W @ M.second_moment
        n = np.array([P[2, 1] - P[1, 2], P[0, 2] - P[2, 0], P[1, 0] - P[0, 1]])
        return join(n + cross(M.h, A[3:]) + cross(w, momentum[:3]), M.m * A[3:] + W @ M.h)


def spread(w: Array, dw: Array) -> Array:
    """W = dw~ + w~ w~: the acceleration of a point at r, relative to the origin of its body, is W r."""
    xx, yy, zz = w[0] * w[0], w[1] * w[1], w[2] * w[2]
    xy, xz, yz = w[0] * w[1], w[0] * w[2], w[1] * w[2]
    return np.array(
        [
            [-(yy + zz), xy - dw[2], xz + dw[1]],
            [xy + dw[2], -(xx + zz), yz - dw[0]],
            [xz - dw[1], yz + dw[0], -(xx + yy)],
        ]
    )


class Body(Classical):
    """<B>: each frame's own coordinates. The most economical one for recursions (H04 3.1.2)."""

    name = "body"

    def turned(self, pose: Pose, R: Array, p: Array) -> tuple[Callable[[Array], Array], Array]:
        return lambda x: R.T @ x, p

    def shift(self, pose: Pose, R: Array, p: Array) -> Shift:
        return Shift(lambda V: motion_to_child(R, p, V), lambda F: force_to_parent(R, p, F), lambda M: M.moved(R, p))

    def motion(self, pose: Pose, V_local: Array) -> Array:
        return V_local

    def motion_local(self, pose: Pose, V: Array) -> Array:
        return V

    def force(self, pose: Pose, F_local: Array) -> Array:
        return F_local

    def force_local(self, pose: Pose, F: Array) -> Array:
        return F

    def inertia(self, pose: Pose, I_local: SpatialInertia) -> SpatialInertia:
        return I_local


class Inertial(Classical):
    """<I>: the frame's origin, the world's axes, derivatives in the world: every number has its everyday meaning."""

    name = "inertial"

    def turned(self, pose: Pose, R: Array, p: Array) -> tuple[Callable[[Array], Array], Array]:
        return lambda x: x, pose.R @ p

    def shift(self, pose: Pose, R: Array, p: Array) -> Shift:
        r = pose.R @ p

        def motion(V: Array) -> Array:
            return join(V[:3], V[3:] + cross(V[:3], r))

        def force(F: Array) -> Array:
            return join(F[:3] + cross(r, F[3:]), F[3:])

        return Shift(motion, force, lambda M: M.moved(np.eye(3), r))

    def motion(self, pose: Pose, V_local: Array) -> Array:
        return join(pose.R @ V_local[:3], pose.R @ V_local[3:])

    def motion_local(self, pose: Pose, V: Array) -> Array:
        return join(pose.R.T @ V[:3], pose.R.T @ V[3:])

    def force(self, pose: Pose, F_local: Array) -> Array:
        return self.motion(pose, F_local)

    def force_local(self, pose: Pose, F: Array) -> Array:
        return self.motion_local(pose, F)

    def inertia(self, pose: Pose, I_local: SpatialInertia) -> SpatialInertia:
        return SpatialInertia(I_local.m, pose.R @ I_local.h, pose.R @ I_local.J @ pose.R.T)


class Absolute(Representation):
    """<A>: the world's origin and axes for everything: displacements disappear (H04 2.1.2.3)."""

    name = "absolute"

    def shift(self, pose: Pose, R: Array, p: Array) -> Shift:
        return Shift(lambda V: V, lambda F: F, lambda M: M)

    def motion(self, pose: Pose, V_local: Array) -> Array:
        return motion_to_parent(pose.R, pose.p, V_local)

    def motion_local(self, pose: Pose, V: Array) -> Array:
        return motion_to_child(pose.R, pose.p, V)

    def force(self, pose: Pose, F_local: Array) -> Array:
        return force_to_parent(pose.R, pose.p, F_local)

    def force_local(self, pose: Pose, F: Array) -> Array:
        return force_to_child(pose.R, pose.p, F)

    def inertia(self, pose: Pose, I_local: SpatialInertia) -> SpatialInertia:
        return I_local.moved(pose.R, pose.p)

    def circle(self, V: Array, A: Array) -> Array:
        return A

    def dot(self, V: Array, circle: Array) -> Array:
        return circle

    def through(self, motion: Motion, joint: JointMotion, v: Array, a: Array) -> tuple[Motion, Shift, Array]:
        """V_2 = V_1 + S v, A_2 = A_1 + S a + c + V_2~ S v [H04 Table 3.8]."""
        pose = motion.pose.then(joint.R, joint.p)
        S = columns(lambda x: self.motion(pose, x), joint.S)
        Delta = S @ v
        V = motion.V + Delta
        A = motion.A + S @ a + self.motion(pose, joint.c) + cross_motion(V, Delta)
        return Motion(pose, V, A), self.shift(motion.pose, joint.R, joint.p), S

    def newton_euler(self, M: SpatialInertia, momentum: Array, V: Array, A: Array) -> Array:
        """M A - V~^T (M V + internal momentum) [H04 (2.27)]; the momentum is constant in the body."""
        return M @ A + cross_force(V, (M @ V) + momentum)


REPRESENTATIONS: dict[str, Representation] = {r.name: r for r in (Body(), Inertial(), Absolute())}


def representation(name: str) -> Representation:
    """The representation called ``name``."""
    if not isinstance(name, str) or name not in REPRESENTATIONS:
        raise ShapeError(
            f"representation must be one of {', '.join(REPRESENTATIONS)}, got {name!r}. "
            f"Hint: {nearest(str(name), REPRESENTATIONS)}"
        )
    return REPRESENTATIONS[name]
