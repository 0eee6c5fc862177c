"""Tasks of whole-body control: accelerations that are wanted, as rows E a = r over the accelerations of all joints."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gyrostat.configuration.floating import floats
from gyrostat.configuration.manifold import difference
from gyrostat.configuration.packing import coordinates, names_of, real_array
from gyrostat.errors import GyrostatError, NonFiniteError, ShapeError, clipped
from gyrostat.solvers.dynamics.center_of_mass import CenterOfMass, TotalInertia
from gyrostat.solvers.dynamics.centroidal_momentum import CentroidalMatrix, CentroidalMomentumRate
from gyrostat.solvers.kinematics.forward_kinematics import ForwardKinematics
from gyrostat.solvers.kinematics.frame_jacobian import Jacobian, JacobianRate
from gyrostat.solvers.machinery.joint_order import read_joints
from gyrostat.solvers.machinery.solver_cache import cached_solver
from gyrostat.spatial import so3
from gyrostat.spec.model import Model

Array = np.ndarray


@dataclass(frozen=True, kw_only=True)
class Task(ABC):
    """Abstract: what a robot should do, as a second-order system: x'' = kp (x_ref - x) - kd x'. ``kp`` [1/s^2], ``kd``
    [1/s], by default 2 sqrt(kp), which is critical damping; ``weight`` of its squared error against other tasks."""

    weight: float = 1.0
    kp: float = 100.0
    kd: float | None = None

    def __post_init__(self) -> None:
        for key in ("weight", "kp", "kd"):
            value = getattr(self, key)
            if value is None and key == "kd":
                continue
            if isinstance(value, bool) or not isinstance(value, int | float | np.number) or not 0.0 <= value < np.inf:
                raise GyrostatError(f"{self.who}: {key} must be a number >= 0, got {clipped(value)}. Hint: 100.0")

    @property
    def who(self) -> str:
        return type(self).__name__

    @property
    def damping(self) -> float:
        return 2.0 * float(np.sqrt(self.kp)) if self.kd is None else float(self.kd)

    def expect(self, model: Model) -> None:  # noqa: B027 - most tasks need nothing
        """Refuse what the model does not have, before the first sample."""

    @abstractmethod
    def rows(self, model: Model, t: float, q: Array, v: Array) -> tuple[Array, Array]:
        """E (m, nv) and r (m,) at a state."""

    def _value(self, given: Any, t: float, shape: tuple[int, ...], what: str) -> Array:
        """A reference: numbers, or a function of the time."""
        value = real_array(given(t) if callable(given) else given, self.who, what)
        if value.shape != shape:
            raise ShapeError(f"{self.who}: {what} has shape {value.shape}, expected {shape}. Hint: or a function of t")
        if not np.isfinite(value).all():
            raise NonFiniteError(f"{self.who}: {what} is not finite at t = {t:g} s, got {clipped(value.tolist())}")
        return value


@dataclass(frozen=True, kw_only=True)
class CenterOfMassTask(Task):
    """The centre of mass at ``target`` (3,) [m] in the world: numbers, or a function of t [s]."""

    target: Any

    def rows(self, model: Model, t: float, q: Array, v: Array) -> tuple[Array, Array]:
        wanted = self._value(self.target, t, (3,), "target")
        c, speed = cached_solver(model, CenterOfMass)(q, v)
        m, drift = _momentum(model, q, v)
        r = self.kp * (wanted - c) - self.damping * speed
        return cached_solver(model, CentroidalMatrix)(q)[3:] / m, r - drift[3:] / m


def _momentum(model: Model, q: Array, v: Array) -> tuple[float, Array]:
    """Total mass [kg], and what the momentum changes by without accelerations (6,)."""
    rate = cached_solver(model, CentroidalMomentumRate)(q, v, np.zeros(model.nv))
    return float(cached_solver(model, TotalInertia)(q).m), rate


@dataclass(frozen=True, kw_only=True)
class MomentumTask(Task):
    """Angular momentum about the centre of mass brought to zero: dL/dt = -kd L; ``kp`` has no part in it."""

    def rows(self, model: Model, t: float, q: Array, v: Array) -> tuple[Array, Array]:
        A = cached_solver(model, CentroidalMatrix)(q)[:3]
        _, drift = _momentum(model, q, v)
        return A, -self.damping * (A @ v) - drift[:3]


@dataclass(frozen=True, kw_only=True)
class PostureTask(Task):
    """Joints at their coordinates in ``target`` (nq,): numbers, or a function of t. ``joints``: names, by default all
    but a free base and free joints."""

    target: Any
    joints: Sequence[str] | None = None

    def expect(self, model: Model) -> None:
        self._rates(model)

    def _rates(self, model: Model) -> Array:
        if self.joints is not None:
            return model.layout.places(read_joints(model, names_of(self.joints, self.who, "joints"), self.who))[1]
        kept = [name for name in model.layout.entities if not floats(model, name)]
        return model.layout.places(kept)[1] if kept else np.zeros(0, dtype=int)

    def rows(self, model: Model, t: float, q: Array, v: Array) -> tuple[Array, Array]:
        wanted = coordinates(model, self._value(self.target, t, (model.nq,), "target"), self.who)
        error = difference(model, q, wanted)
        k = self._rates(model)
        return np.eye(model.nv)[k], self.kp * error[k] - self.damping * v[k]


PARTS = {"pose": slice(0, 6), "orientation": slice(0, 3), "position": slice(3, 6)}


@dataclass(frozen=True, kw_only=True)
class FrameTask(Task):
    """A frame at ``target``: a homogeneous matrix (4, 4) in the world, or a function of t that gives one. ``axes``:
    ``"pose"``, ``"position"`` or ``"orientation"``."""

    frame: str
    target: Any
    axes: str = "pose"

    def expect(self, model: Model) -> None:
        if self.axes not in PARTS:
            raise GyrostatError(f"{self.who}: axes is {clipped(self.axes)}. Hint: {', '.join(PARTS)}")
        cached_solver(model, Jacobian, frame=self.frame, expressed_in="local")

    def rows(self, model: Model, t: float, q: Array, v: Array) -> tuple[Array, Array]:
        T = self._value(self.target, t, (4, 4), "target")
        at = cached_solver(model, ForwardKinematics, frames=(self.frame,))(q)[self.frame]
        J = cached_solver(model, Jacobian, frame=self.frame, expressed_in="local")(q)
        drift = cached_solver(model, JacobianRate, frame=self.frame, expressed_in="local")(q, v) @ v
        turn = so3.log((at.R.T @ T[:3, :3])[None])[0]
        error = np.concatenate([turn, at.R.T @ (T[:3, 3] - at.p)])
        part = PARTS[self.axes]
        return J[part], (self.kp * error - self.damping * (J @ v) - drift)[part]
