"""The three coordinate representations of H04 2.1.2: body <B>, inertial <I>, absolute <A>.

| | reference point | axes | acceleration message A |
|---|---|---|---|
| body | the frame's origin | the frame's | rate of the six numbers V (relative derivative, H04 (2.24)) |
| inertial | the frame's origin | the world's | rate of V in the world: A = (dw/dt, dv/dt) of the point |
| absolute | the world's origin | the world's | rate of V in the world (H04 (2.27)) |

An algorithm asks a representation how a motion goes through a displacement (phi), how things that are known in a frame's own
coordinates look in the representation, and which derivative its acceleration is; the recursions are then the same.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

from gyrostat.errors import ShapeError, nearest
from gyrostat.spatial.algebra import (
    Array,
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


@dataclass(frozen=True)
class Pose:
    """Axes R and origin p of a frame in the world."""

    R: Array
    p: Array

    def then(self, R: Array, p: Array) -> Pose:
        return Pose(*compose(self.R, self.p, R, p))


@dataclass(frozen=True)
class Shift:
    """phi from one frame to the next: ``motion`` takes motions outward, ``force`` (its transpose) takes forces inward."""

    motion: Callable[[Array], Array]
    force: Callable[[Array], Array]


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

    def circle(self, V: Array, A: Array) -> Array:
        """The derivative that transforms like a velocity: A itself, or A - Omega~ V for <I> [H04 (2.23)]."""
        return A

    def dot(self, V: Array, circle: Array) -> Array:
        """Undo :meth:`circle`."""
        return circle

    def newton_euler(self, M: SpatialInertia, momentum: Array, V: Array, A: Array) -> Array:
        """Force on a gyrostat [H04 (2.15), (2.24), (2.27)]: M A - V~^T (M V + internal momentum).

        (2.15) with the sign of its proof: M A - (M Omega~ + V~^T M) V, which is the same with A - Omega~ V for A. The internal momentum is
        constant in the body, so that its rate is -V~^T times itself [H04 (2.9)].
        """
        return M @ self.circle(V, A) + cross_force(V, (M @ V) + momentum)


class Body(Representation):
    """<B>: each frame's own coordinates. The most economical one for recursions (H04 3.1.2)."""

    name = "body"

    def shift(self, pose: Pose, R: Array, p: Array) -> Shift:
        return Shift(lambda V: motion_to_child(R, p, V), lambda F: force_to_parent(R, p, F))

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


class Inertial(Representation):
    """<I>: the frame's origin, the world's axes, derivatives in the world: every number has its everyday meaning."""

    name = "inertial"

    def shift(self, pose: Pose, R: Array, p: Array) -> Shift:
        r = pose.R @ p

        def motion(V: Array) -> Array:
            return join(V[:3], V[3:] + cross(V[:3], r))

        def force(F: Array) -> Array:
            return join(F[:3] + cross(r, F[3:]), F[3:])

        return Shift(motion, force)

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

    def circle(self, V: Array, A: Array) -> Array:
        return join(A[:3], A[3:] - cross(V[:3], V[3:]))

    def dot(self, V: Array, circle: Array) -> Array:
        return join(circle[:3], circle[3:] + cross(V[:3], V[3:]))


class Absolute(Representation):
    """<A>: the world's origin and axes for everything: displacements disappear (H04 2.1.2.3)."""

    name = "absolute"

    def shift(self, pose: Pose, R: Array, p: Array) -> Shift:
        return Shift(lambda V: V, lambda F: F)

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


REPRESENTATIONS: dict[str, Representation] = {r.name: r for r in (Body(), Inertial(), Absolute())}


def representation(name: str) -> Representation:
    """The representation called ``name``."""
    if name not in REPRESENTATIONS:
        raise ShapeError(f"representation must be one of {', '.join(REPRESENTATIONS)}, got {name!r}. Hint: "
                         f"{nearest(str(name), REPRESENTATIONS)}")
    return REPRESENTATIONS[name]


__all__ = ["REPRESENTATIONS", "Absolute", "Body", "Inertial", "Pose", "Representation", "Shift", "cross_motion", "representation"]
