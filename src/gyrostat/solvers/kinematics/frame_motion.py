"""The motion of frames: what forward kinematics returns, and how it is read off a sweep."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gyrostat.algorithms.algorithm import Setting
from gyrostat.algorithms.recursions.kinematics import sweep_motion
from gyrostat.errors import FrameError, StateError, nearest
from gyrostat.graph.network import Network
from gyrostat.spatial.algebra import motion_to_child

Array = np.ndarray
EXPRESSIONS = ("local", "aligned", "world")


@dataclass(frozen=True)
class FrameMotion:
    """Motion of one frame; every array may have leading batch axes.

    ``R`` (..., 3, 3): its axes in the world; ``p`` (..., 3): its origin in the world [m].
    """

    name: str
    R: Array
    p: Array
    V: Array | None  # (..., 6) in the frame's own axes
    A: Array | None  # rate of V

    @property
    def matrix(self) -> Array:
        """Homogeneous matrix (..., 4, 4)."""
        T = np.zeros((*self.p.shape[:-1], 4, 4))
        T[..., :3, :3], T[..., :3, 3], T[..., 3, 3] = self.R, self.p, 1.0
        return T

    def velocity(self, expressed_in: str = "local") -> Array:
        """Angular [rad/s], then linear velocity [m/s], (..., 6).

        ``"local"``: of the origin, in the frame's axes; ``"aligned"``: of the origin, in the world's axes;
        ``"world"``: of the body point at the world's origin, in the world's axes."""
        return self._expressed(self._known(self.V, "v"), expressed_in)

    def spatial_acceleration(self, expressed_in: str = "local") -> Array:
        """Derivative of the six numbers of the local (or world) velocity, (..., 6); see :meth:`velocity` for the
        axes."""
        return self._expressed(self._known(self.A, "a"), expressed_in)

    def acceleration(self, expressed_in: str = "local") -> Array:
        """Angular acceleration [rad/s^2], then the acceleration of the origin against the world [m/s^2], (..., 6)."""
        if expressed_in == "world":
            raise FrameError(
                "acceleration(): expressed_in must be 'local' or 'aligned', got 'world'. "
                "Hint: the acceleration of a point has no other point; see spatial_acceleration('world')"
            )
        V, A = self._known(self.V, "v"), self._known(self.A, "a")
        point = np.concatenate([A[..., :3], A[..., 3:] + np.cross(V[..., :3], V[..., 3:])], axis=-1)
        return self._expressed(point, expressed_in)

    def _known(self, value: Array | None, letter: str) -> Array:
        if value is None:
            raise StateError(
                f"motion of '{self.name}' was computed without {letter}. Hint: pass {letter} to the solver"
            )
        return value

    def _expressed(self, V: Array, expressed_in: str) -> Array:
        if expressed_in not in EXPRESSIONS:
            raise FrameError(
                f"expressed_in must be one of {', '.join(EXPRESSIONS)}, got {expressed_in!r}. "
                f"Hint: {nearest(str(expressed_in), EXPRESSIONS)}"
            )
        if expressed_in == "local":
            return V
        w, v = (np.einsum("...ij,...j->...i", self.R, V[..., part]) for part in (slice(0, 3), slice(3, 6)))
        if expressed_in == "world":
            v = v + np.cross(self.p, w)
        return np.concatenate([w, v], axis=-1)


class Motions(Mapping[str, FrameMotion]):
    """Frames by name: ``motions["forearm.tip"].p``. An entity's name alone stands for its origin, frame or port b."""

    def __init__(self, frames: Mapping[str, FrameMotion], full_name: Any):
        self._frames, self._full_name = frames, full_name

    def __getitem__(self, name: str) -> FrameMotion:
        full = self._full_name(name)
        if full not in self._frames:
            raise FrameError(f"frame '{full}' was not asked for. Hint: {nearest(full, self._frames)}")
        return self._frames[full]

    def __contains__(self, name: object) -> bool:
        try:
            return isinstance(name, str) and self._full_name(name) in self._frames
        except FrameError:
            return False

    def get(self, key: str, default: Any = None) -> Any:
        """The frame, or ``default`` if there is none of this name."""
        return self[key] if self.__contains__(key) else default

    def __iter__(self) -> Iterator[str]:
        return iter(self._frames)

    def __len__(self) -> int:
        return len(self._frames)

    def __repr__(self) -> str:
        return f"<motions of {len(self)} frames: {', '.join(list(self)[:6])}{', ...' if len(self) > 6 else ''}>"


TRAILING = {"R": (3, 3), "p": (3,), "V": (6,), "A": (6,)}
"""Shapes of what is known of a frame."""


def frame_quantities(net: Network, on: Setting, frames: Sequence[str], q: Any, v: Any, a: Any) -> dict[str, list[Any]]:
    """R, p, V, A of every frame, in its own axes."""
    motions = sweep_motion(net, on, q, v, a)
    rep = on.representation
    quantities: dict[str, list[Any]] = {"R": [], "p": [], "V": [], "A": []}
    for name in frames:
        at, place = net.located[name]
        m = motions[at]
        pose = m.pose.then(*place)
        quantities["R"].append(pose.R)
        quantities["p"].append(pose.p)
        quantities["V"].append(motion_to_child(*place, rep.motion_local(m.pose, m.V)))
        quantities["A"].append(motion_to_child(*place, rep.motion_local(m.pose, rep.circle(m.V, m.A))))
    return quantities


def motions_of(arrays: Mapping[str, Array], frames: Sequence[str], net: Network) -> Motions:
    """Frames by name from R (..., frames, 3, 3), p, and V, A if they were computed."""
    by_name = {
        name: FrameMotion(
            name,
            arrays["R"][..., f, :, :],
            arrays["p"][..., f, :],
            arrays["V"][..., f, :] if "V" in arrays else None,
            arrays["A"][..., f, :] if "A" in arrays else None,
        )
        for f, name in enumerate(frames)
    }
    return Motions(by_name, net.port)
