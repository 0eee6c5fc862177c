"""Tasks of frames: a pose, a position, an orientation, a pose seen from another frame, a point to look at."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from gyrostat.configuration.packing import real_array
from gyrostat.errors import SpecError, clipped
from gyrostat.graph.network import Network
from gyrostat.spatial.algebra import compose, inverse, motion_to_child, skew
from gyrostat.spatial.se3_recorded import log_rate, placement_log, placement_log_rate, rotation_log
from gyrostat.tasks.scene import Scene
from gyrostat.tasks.targets import placement, point, rotation
from gyrostat.tasks.task import Task, weights

Array = np.ndarray


@dataclass(frozen=True)
class OfFrame(Task):
    """Abstract: a task of one frame, any port or entity."""

    frame: str
    target: Any = None
    numbers: ClassVar[int] = 3

    @property
    def target_size(self) -> int:
        return self.numbers

    @property
    def given(self) -> Any:
        return self.target

    @property
    def usual_name(self) -> str:
        return self.frame

    def bound(self, net: Network) -> Task:
        self._expect_numbers()
        self.row_weights()
        return replace(self, frame=net.port(self.frame), name=self.called)


@dataclass(frozen=True)
class Frame(OfFrame):
    """``frame`` at the placement ``target``: (4, 4) in the world, or the motion of a frame as ``gs.fk`` gives it.

    e = log(T_target^-1 T_frame) (6,), the twist that leads from the target to the frame, in the frame's axes: turn
    [rad], then shift [m]. ``orientation``, ``position``: weights, one number or three, along the frame's axes; 0 leaves
    rows out."""

    numbers: ClassVar[int] = 12
    position: Any = 1.0
    orientation: Any = 1.0

    def row_weights(self) -> Array:
        parts = ((self.orientation, "orientation"), (self.position, "position"))
        return np.concatenate([weights(value, 3, self.who, what) for value, what in parts])

    def target_numbers(self, value: Any) -> Array:
        return placement(value, self.who)

    def target_here(self, at: Scene) -> Array:
        pose = at.pose(self.frame)
        return np.concatenate([pose.R.ravel(), pose.p])

    def rows(self, at: Scene, target: Array) -> tuple[Array, Array]:
        pose = at.pose(self.frame)
        return _from_target(target, pose.R, pose.p, at.jacobian(self.frame))


def _from_target(target: Array, R: Array, p: Array, J: Array) -> tuple[Array, Array]:
    """log(T_target^-1 T) and its rate, of a placement that moves with the velocity J v in its own axes."""
    D, d = compose(*inverse(target[:9].reshape(3, 3), target[9:]), R, p)
    e = placement_log(D, d)
    return e, placement_log_rate(e, d) @ J


@dataclass(frozen=True)
class RelativeFrame(OfFrame):
    """``frame`` at the placement ``target`` (4, 4), seen from another frame of the robot, ``root``: two hands that hold
    one thing. e and weights as of :class:`Frame`."""

    numbers: ClassVar[int] = 12
    root: str = ""
    position: Any = 1.0
    orientation: Any = 1.0

    @property
    def usual_name(self) -> str:
        return f"{self.frame} from {self.root}"

    def bound(self, net: Network) -> Task:
        if not isinstance(self.root, str) or not self.root:
            raise SpecError.one(self.who, "root", "root is not named", "the frame from which frame is seen", self.root)
        name = self.called
        return replace(super().bound(net), root=net.port(self.root), name=name)  # type: ignore[call-arg]

    def row_weights(self) -> Array:
        return Frame.row_weights(self)  # type: ignore[arg-type]

    def target_numbers(self, value: Any) -> Array:
        return placement(value, self.who)

    def target_here(self, at: Scene) -> Array:
        R, p = self._seen(at)
        return np.concatenate([R.ravel(), p])

    def rows(self, at: Scene, target: Array) -> tuple[Array, Array]:
        R, p = self._seen(at)
        ground = at.jacobian(self.root)
        carried = [motion_to_child(R, p, ground[:, k]) for k in range(ground.shape[1])]
        moved = np.stack(carried, axis=1) if carried else ground
        return _from_target(target, R, p, at.jacobian(self.frame) - moved)

    def _seen(self, at: Scene) -> tuple[Array, Array]:
        root, frame = at.pose(self.root), at.pose(self.frame)
        return compose(*inverse(root.R, root.p), frame.R, frame.p)


@dataclass(frozen=True)
class Position(OfFrame):
    """The origin of ``frame`` at the point ``target`` (3,) [m] in the world; e = p - target. ``weight``: one number, or
    three along the world's axes, 0 for one that does not matter."""

    weight: Any = 1.0

    @property
    def usual_name(self) -> str:
        return f"{self.frame} position"

    def row_weights(self) -> Array:
        return weights(self.weight, 3, self.who, "weight")

    def target_numbers(self, value: Any) -> Array:
        return point(value, self.who)

    def target_here(self, at: Scene) -> Array:
        return at.pose(self.frame).p

    def rows(self, at: Scene, target: Array) -> tuple[Array, Array]:
        return at.pose(self.frame).p - target, at.jacobian(self.frame, "aligned")[3:]


@dataclass(frozen=True)
class Orientation(OfFrame):
    """``frame`` turned as ``target`` (3, 3); e = log(R_target^T R) (3,) [rad]. ``weight``: one number, or three along
    the frame's axes: (1, 1, 0) leaves the turn about its z axis free, for small errors."""

    numbers: ClassVar[int] = 9
    weight: Any = 1.0

    @property
    def usual_name(self) -> str:
        return f"{self.frame} orientation"

    def row_weights(self) -> Array:
        return weights(self.weight, 3, self.who, "weight")

    def target_numbers(self, value: Any) -> Array:
        R = rotation(value, self.who)
        return R.reshape(*R.shape[:-2], 9)

    def target_here(self, at: Scene) -> Array:
        return at.pose(self.frame).R.ravel()

    def rows(self, at: Scene, target: Array) -> tuple[Array, Array]:
        e = rotation_log(target.reshape(3, 3).T @ at.pose(self.frame).R)
        return e, log_rate(e) @ at.jacobian(self.frame)[:3]


@dataclass(frozen=True)
class LookAt(OfFrame):
    """The ``axis`` of ``frame`` points at ``target`` (3,) [m] in the world: a camera at what it sees.

    e = u - axis (3,), u the direction of the target in the frame: 2 sin(angle / 2) long. Turns about the axis are free.
    The target must not come to the frame's origin."""

    axis: Any = "z"
    weight: Any = 1.0

    @property
    def usual_name(self) -> str:
        return f"{self.frame} gaze"

    def bound(self, net: Network) -> Task:
        self._axis()
        return super().bound(net)

    def _axis(self) -> Array:
        named = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}
        given = self.axis
        if isinstance(given, str) and given.lstrip("-") in named and len(given) <= 2:
            return np.array(named[given.lstrip("-")]) * (-1.0 if given.startswith("-") else 1.0)
        x = real_array(given, self.who, "axis") if not isinstance(given, str) else np.zeros(0)
        if x.shape != (3,) or not abs(float(x @ x) - 1.0) < 1e-9:
            message = f"axis must be x, y, z, -x, -y, -z or a unit vector, got {clipped(given)}"
            raise SpecError.one(self.who, "axis", message, "'z'", given)
        return x

    def row_weights(self) -> Array:
        return weights(self.weight, 3, self.who, "weight")

    def target_numbers(self, value: Any) -> Array:
        return point(value, self.who)

    def target_here(self, at: Scene) -> Array:
        pose = at.pose(self.frame)
        return pose.p + pose.R @ self._axis()

    def rows(self, at: Scene, target: Array) -> tuple[Array, Array]:
        """d = R^T (target - p), dd/dt = d~ omega - v in the frame's axes."""
        pose, J = at.pose(self.frame), at.jacobian(self.frame)
        d = pose.R.T @ (target - pose.p)
        length = np.sqrt(d @ d)
        u = d / length
        across = (np.eye(3) - np.outer(u, u)) / length
        return u - self._axis(), across @ (skew(d) @ J[:3] - J[3:])
