"""``gs.flexible.inverse_dynamics``: torques that move joints, or a tip, as prescribed while what no motor drives moves.

Links bend and springs of drives wind up; their motion is found by :mod:`.stable_inversion`. With joints prescribed
(link side) it is the vibration of links that are held, passive and causal. A prescribed tip has zeros in the right half
plane: its torques begin before the tip moves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from gyrostat.configuration.packing import coordinates
from gyrostat.errors import StateError, clipped
from gyrostat.flexible.inversion.stable_inversion import Inverted, Problem, inverted, no_columns, rest_along
from gyrostat.flexible.inversion.undriven_equations import WHO, UndrivenEquations, refused, undriven_equations
from gyrostat.flexible.inversion.zero_dynamics import Zeros, growth_of, rest_of, zeros_at
from gyrostat.simulate.trajectories.piecewise import Piecewise
from gyrostat.simulate.trajectories.trajectory import Trajectory, expect_trajectory
from gyrostat.spec.check import expect_model
from gyrostat.spec.model import Model

Array = np.ndarray
QUIET = 22.0
"""Decay (e^-22 = 3e-10) for which torques begin before the outputs move, and go on behind."""
SAMPLES = 800


@dataclass(frozen=True, eq=False)
class FlexibleInverse:
    """``t`` (T,) [s]; ``q``, ``v``, ``a``, ``tau`` (T, nv) of the whole model; tau is zero where nothing drives.

    ``zeros``: of the rest at the start, see :func:`gs.flexible.zeros`; ``begin``, ``end`` [s]: the time in which
    torques differ from those at rest. ``torque(t)``: tau (..., nv) in between."""

    t: Array
    q: Array
    v: Array
    a: Array
    tau: Array
    zeros: Zeros
    begin: float
    end: float
    _inverted: Inverted

    @property
    def error(self) -> float:
        """How much the torques changed, as a part of the largest, when intervals were last halved: below ``rtol``, or
        1e-6 where rounding allows no less."""
        return self._inverted.error

    def at(self, t: Any) -> tuple[Array, Array, Array, Array]:
        """q, v, a, tau (..., nv) at instants t (...) [s]; before and behind it is at rest."""
        times = np.asarray(t, dtype=float)
        limited = np.clip(times.ravel(), self.begin, self.end)
        return tuple(x.reshape(*times.shape, -1) for x in self._inverted.motion(limited))  # type: ignore[return-value]

    def torque(self, t: Any) -> Array:
        """tau (..., nv)."""
        return self.at(t)[3]

    def __repr__(self) -> str:
        return f"<torques from {self.begin:.4g} to {self.end:.4g} s, {self.zeros!r:.60}>"


def inverse_dynamics(
    model: Model,
    motion: Trajectory,
    t_eval: Any = None,
    *,
    outputs: Any = None,
    q0: Any = None,
    before: float | None = None,
    after: float | None = None,
    rtol: float = 1e-8,
    intervals: int = 3200,
) -> FlexibleInverse:
    """Torques, and the motion of links and drives, for a ``motion`` of the outputs from rest to rest.

    ``outputs``: None for all joints, link side; (frame, axes) such as ``("boom.b", "xy")``; a matrix C (p, nv), y = C
    q; as many as there are motors. ``t_eval`` (T,): instants of the rows, by default 801 over the whole time. ``q0``
    (nv,): near the pose of rest at the begin. ``before``, ``after`` [s]: the time that torques may take before and
    behind the motion; by default as long as unstable (and well damped) zeros need to decay by e^-22, else zero.
    Torques change by less than ``rtol`` of the largest when the intervals of the solution (``intervals`` at most) are
    halved.

    Torques played back from the state at ``begin`` give the motion. Behind it undamped links go on vibrating as far as
    it has excited them; :func:`gs.flexible.rest_to_rest` shapes a motion that leaves nothing."""
    expect_model(model, WHO)
    motion = expect_trajectory(motion, WHO)
    equations = undriven_equations(model, outputs)
    _expect_fit(equations, motion)
    ends = motion.derivatives(np.array([0.0, motion.duration]), 0)[:, 0]
    start = start_near(equations, q0, ends[0])
    first_rest = rest_of(equations, ends[0], start)
    last_rest = rest_along(equations, ends[0], ends[1], first_rest)
    first, last = (zeros_at(equations, end, q) for end, q in zip(ends, (first_rest, last_rest), strict=True))
    begin = -_lead(equations, first, before)
    times = None if t_eval is None else _instants(t_eval)
    follow = _trail(last) if after is None and times is None else 0.0 if after is None else _time(after, "after")
    end = motion.duration + (follow if times is None else max(follow, float(times[-1]) - motion.duration))
    seams = np.unique(np.concatenate([[begin], _seams(motion), [end, end + growth_time(last)]]))
    problem = Problem(
        equations, trajectory_outputs(motion), no_columns, 0, np.stack([first_rest, last_rest]), seams, end
    )
    done = inverted(problem, rtol, intervals)
    t = np.linspace(begin, end, SAMPLES + 1) if times is None else times
    q, v, a, tau = done.motion(np.clip(t, begin, end))
    return FlexibleInverse(t, q, v, a, tau, first, begin, end, done)


def trajectory_outputs(motion: Trajectory) -> Callable[[Array, Array], Array]:
    """(N, 3, p) at t (N,): held before and behind."""

    def y(t: Array, c: Array) -> Array:
        inside = motion.derivatives(np.clip(t, 0.0, motion.duration), 2)
        inside[(t < 0.0) | (t > motion.duration), 1:] = 0.0
        return inside

    return y


def _expect_fit(equations: UndrivenEquations, motion: Trajectory) -> None:
    model, names = equations.model, equations.names
    if motion.n != len(names) or (equations.outputs is None and motion.names not in (None, names)):
        given = motion.n if motion.names is None else ", ".join(motion.names)
        message = (
            f"the motion is of {given}, expected {'all joints' if equations.outputs is None else 'the outputs'} in "
        )
        raise refused("outputs", model, f"{message}their order: {', '.join(names)}", "outputs= says what is prescribed")
    for side, t in (("begin", 0.0), ("end", motion.duration)):
        if np.abs(motion.derivatives(t, 1)[1]).max() > 1e-12 * max(np.abs(motion.peaks(1)[1]), 1e-300):
            message = f"the motion does not {side} at rest"
            raise refused("rest", model, message, "take a motion from rest to rest, such as gs.trajectories.septic")


def start_near(equations: UndrivenEquations, q0: Any, first: Array) -> Array:
    """The pose (nv,) near which the rest with outputs ``first`` is sought."""
    model = equations.model
    q = np.zeros(model.nv) if q0 is None else coordinates(model, q0, WHO).copy()
    if q.shape != (model.nv,):
        raise StateError(f"{WHO}: q0 has shape {q.shape}, expected ({model.nv},): one pose")
    if equations.outputs is None:
        q[equations.known] = first
    return q


def _lead(equations: UndrivenEquations, zeros: Zeros, before: float | None) -> float:
    growth = np.real(zeros.values)[zeros.growing]
    if before is None:
        return growth_time(zeros)
    lead = _time(before, "before")
    if len(growth) and lead == 0.0:
        told = ", ".join(f"{growth_of(value)} 1/s ('{name}')" for name, value in zeros.unstable.items())
        message = f"outputs {', '.join(equations.names)} have unstable zeros: {told}; causal torques grow with them"
        raise refused("zeros", equations.model, message, "leave before= out for bounded torques that begin earlier")
    return lead


def growth_time(zeros: Zeros) -> float:
    """Time before and behind a motion in which what grows fades backwards to nothing."""
    growth = np.real(zeros.values)[zeros.growing]
    return float(QUIET / growth.min()) if len(growth) else 0.0


def _trail(zeros: Zeros) -> float:
    """Until motions that are no vibrations have faded."""
    decay = -np.real(zeros.values)
    slow = decay[decay > 0.1 * np.abs(zeros.values)]
    return float(QUIET / slow.min()) if len(slow) else 0.0


def _time(value: Any, name: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | np.number) or not 0.0 <= value < np.inf:
        raise StateError(f"{WHO}: {name} must be a time [s] from 0 on, got {clipped(value)}")
    return float(value)


def _instants(t_eval: Any) -> Array:
    t = np.asarray(t_eval, dtype=float)
    if t.ndim != 1 or not len(t) or not np.isfinite(t).all() or np.any(np.diff(t) <= 0.0):
        raise StateError(f"{WHO}: t_eval must be finite instants that increase, got {clipped(t_eval)}")
    return t


def _seams(motion: Trajectory) -> Array:
    """Where derivatives of the motion may jump."""
    if isinstance(motion, Piecewise) and len(motion.breaks) < 1000:
        return motion.breaks
    return np.array([0.0, motion.duration])
