"""Forward kinematics: placement, velocity and acceleration of any port or named frame."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from gyrostat.algorithms.kinematics import sweep_motion
from gyrostat.errors import FrameError, StateError, nearest
from gyrostat.solvers.solver import Solver
from gyrostat.solvers.state import coordinates, rates, together
from gyrostat.spatial.algebra import motion_to_child
from gyrostat.spec.model import Model

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

        ``"local"``: of the origin, in the frame's axes; ``"aligned"``: of the origin, in the world's axes; ``"world"``: of the body point at the world's
        origin, in the world's axes.
        """
        return self._expressed(self._known(self.V, "v"), expressed_in)

    def spatial_acceleration(self, expressed_in: str = "local") -> Array:
        """Derivative of the six numbers of the local (or world) velocity, (..., 6); see :meth:`velocity` for the axes."""
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
            raise StateError(f"motion of '{self.name}' was computed without {letter}. Hint: pass {letter} to the solver")
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

    def __iter__(self) -> Iterator[str]:
        return iter(self._frames)

    def __len__(self) -> int:
        return len(self._frames)

    def __repr__(self) -> str:
        return f"<motions of {len(self)} frames: {', '.join(list(self)[:6])}{', ...' if len(self) > 6 else ''}>"


class ForwardKinematics(Solver):
    """Placements, velocities and accelerations of frames [H04 Table 3.3]. Cost O(n).

    ``frames``: names of ports or entities, all spatial ports by default. Called with q (..., nq) and, if wanted, v and a (..., nv); returns
    :class:`Motions`.
    """

    name = "fk"

    def __init__(
        self,
        model: Model,
        frames: Iterable[str] | None = None,
        representation: str = "body",
        rules: Iterable[str] | None = None,
    ):
        super().__init__(model, representation, rules)
        wanted = self.network.located if frames is None else [frames] if isinstance(frames, str) else frames
        self.frames = tuple(dict.fromkeys(self.network.port(name) for name in wanted))

    def __call__(self, q: Any, v: Any = None, a: Any = None, *, t: Any = None) -> Motions:
        model, zero = self.model, np.zeros(self.model.nv)
        if a is not None and v is None:
            raise StateError("fk: a was given without v. Hint: accelerations depend on velocities, pass v too")
        shape, states = together(
            self.name,
            q=(coordinates(model, q, self.name), 1),
            v=(zero if v is None else rates(model, v, self.name, "v"), 1),
            a=(zero if a is None else rates(model, a, self.name, "a"), 1),
            t=(self.times(t), 0),
        )
        count = len(states[0])
        R, p = np.empty((len(self.frames), count, 3, 3)), np.empty((len(self.frames), count, 3))
        V, A = (np.empty((len(self.frames), count, 6)) for _ in "VA")
        rep = self._representation
        for k, (q_k, v_k, a_k, t_k) in enumerate(zip(*states, strict=True)):
            motions, _ = sweep_motion(self.network, self.setting(t_k), q_k, v_k, a_k)
            for f, name in enumerate(self.frames):
                at, place = self.network.located[name]
                m = motions[at]
                pose = m.pose.then(*place)
                R[f, k], p[f, k] = pose.R, pose.p
                V[f, k] = motion_to_child(*place, rep.motion_local(m.pose, m.V))
                A[f, k] = motion_to_child(*place, rep.motion_local(m.pose, rep.circle(m.V, m.A)))
        found = {
            name: FrameMotion(
                name,
                R[f].reshape((*shape, 3, 3)),
                p[f].reshape((*shape, 3)),
                None if v is None else V[f].reshape((*shape, 6)),
                None if a is None else A[f].reshape((*shape, 6)),
            )
            for f, name in enumerate(self.frames)
        }
        return Motions(found, self.network.port)
