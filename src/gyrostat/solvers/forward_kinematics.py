"""Forward kinematics: placement, velocity and acceleration of any port or named frame."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gyrostat.algorithms.algorithm import Setting
from gyrostat.algorithms.kinematics import sweep_motion
from gyrostat.engine.kernel import Kernel, check_nonfinite, check_threads
from gyrostat.errors import FrameError, NonFiniteError, StateError, nearest
from gyrostat.graph.network import Network
from gyrostat.solvers.solver import Solver
from gyrostat.solvers.state import coordinates, packed, rates, together
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


class ForwardKinematics(Solver):
    """Placements, velocities and accelerations of frames [H04 Table 3.3]. Cost O(n).

    ``frames``: names of ports or entities, all spatial ports by default. Called with q (..., nq) and, if wanted, v
    and a (..., nv); returns :class:`Motions`."""

    name = "fk"

    def __init__(
        self,
        model: Model,
        frames: Iterable[str] | None = None,
        representation: str = "body",
        rules: Iterable[str] | None = None,
        live: Sequence[str] = (),
        mode: str = "auto",
    ):
        super().__init__(model, representation, rules, live, mode)
        wanted = self.network.located if frames is None else [frames] if isinstance(frames, str) else frames
        self.frames = tuple(dict.fromkeys(self.network.port(name) for name in wanted))

    def options(self) -> dict[str, Any]:
        return super().options() | {"frames": self.frames}

    def __call__(
        self, q: Any, v: Any = None, a: Any = None, *, t: Any = None, threads: int = 1, nonfinite: str = "raise"
    ) -> Motions:
        if a is not None and v is None:
            raise StateError("fk: a was given without v. Hint: accelerations depend on velocities, pass v too")
        level = 1 + (v is not None) + (a is not None)
        state = [(x, n) for x, n in zip((q, v, a), "qva", strict=True)][:level]
        if self._compiled():
            kernel = self._for_level(level)
            arrays = [packed(self.model, x, n, self.name) for x, n in state]
            found = kernel.call(
                *arrays,
                *self._base_inputs(t),
                *self._live.values(),
                threads=threads,
                nonfinite=nonfinite,
                explain=lambda: self._examine(state, nonfinite),
            )
        else:
            check_threads(threads, self.name)
            check_nonfinite(nonfinite, self.name)
            found = self._interpreted(state, t, nonfinite)
        return self._motions(found)

    def _quantities(self, net: Network, on: Setting, q: Any, v: Any, a: Any) -> dict[str, list[Any]]:
        """R, p, V, A of every frame, in its own axes."""
        motions = sweep_motion(net, on, q, v, a)
        rep = on.representation
        found: dict[str, list[Any]] = {"R": [], "p": [], "V": [], "A": []}
        for name in self.frames:
            at, place = net.located[name]
            m = motions[at]
            pose = m.pose.then(*place)
            found["R"].append(pose.R)
            found["p"].append(pose.p)
            found["V"].append(motion_to_child(*place, rep.motion_local(m.pose, m.V)))
            found["A"].append(motion_to_child(*place, rep.motion_local(m.pose, rep.circle(m.V, m.A))))
        return found

    def _for_level(self, level: int) -> Kernel:
        """Code for placements (1), with velocities (2), with accelerations (3)."""
        nv = self.model.nv

        def function(**x: Any) -> dict[str, Any]:
            net, on = self._scene(x)
            zero = np.zeros(nv)
            found = self._quantities(net, on, x["q"], x.get("v", zero), x.get("a", zero))
            shapes = {"R": (-1, 3, 3), "p": (-1, 3), "V": (-1, 6), "A": (-1, 6)}
            return {k: np.array(found[k]).reshape(shapes[k]) for k in "RpVA"[: level + 1]}

        inputs = {"q": (self.model.nq,), "v": (nv,), "a": (nv,)}
        return self._kernel(("fk", level), function, {k: inputs[k] for k in "qva"[:level]})

    def _examine(self, state: list[tuple[Any, str]], nonfinite: str) -> None:
        for x, n in state:
            self._given(x, n, nonfinite)

    def _given(self, x: Any, n: str, nonfinite: str) -> Array:
        if n == "q":
            return coordinates(self.model, x, self.name, nonfinite)
        return rates(self.model, x, self.name, n, nonfinite)

    def _interpreted(self, state: list[tuple[Any, str]], t: Any, nonfinite: str) -> dict[str, Array]:
        given = {n: x for x, n in state}
        zero = np.zeros(self.model.nv)
        shape, states = together(
            self.name,
            **{n: (self._given(given[n], n, nonfinite) if n in given else zero, 1) for n in "qva"},
            t=(self.times(t), 0),
        )
        trailing = {"R": (3, 3), "p": (3,), "V": (6,), "A": (6,)}
        keys = "RpVA"[: len(state) + 1]
        found = {k: np.empty((len(states[0]), len(self.frames), *trailing[k])) for k in keys}
        with np.errstate(all="ignore"):  # what is not finite is found below
            for n, (q, v, a, t_n) in enumerate(zip(*states, strict=True)):
                for k, values in self._quantities(self.network, self.setting(t_n), q, v, a).items():
                    if k in keys:
                        found[k][n] = np.array(values).reshape(found[k].shape[1:])
        for k in keys:
            if nonfinite == "raise" and not np.all(np.isfinite(found[k])):
                raise NonFiniteError(
                    f"{self.name}: {k} is not finite. Hint: the numbers of the state or model are too large"
                )
        return {k: x.reshape((*shape, *x.shape[1:])) for k, x in found.items()}

    def _motions(self, found: dict[str, Array]) -> Motions:
        frames = {
            name: FrameMotion(
                name,
                found["R"][..., f, :, :],
                found["p"][..., f, :],
                found["V"][..., f, :] if "V" in found else None,
                found["A"][..., f, :] if "A" in found else None,
            )
            for f, name in enumerate(self.frames)
        }
        return Motions(frames, self.network.port)
