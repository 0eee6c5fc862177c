"""Linear-quadratic regulators: about a rest, a steady motion or a trajectory; analogue or digital; for ever or until T.

    min  x(T)^T Q_end x(T) + int x^T Q x + 2 x^T N u + u^T R u dt        u = u_0 - K x

x = (displacement, change of the rates) on the tangent, see :func:`gs.linearise`; u are the efforts of the actuated
joints. The equations are those of :mod:`~gyrostat.studies.optimal_control.lqr_riccati`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gyrostat.configuration.packing import coordinates, packed, rates
from gyrostat.errors import GyrostatError, ShapeError, StateError, clipped
from gyrostat.simulate.trajectories.trajectory import Trajectory
from gyrostat.solvers.functions import rnea
from gyrostat.spec.check import expect_model
from gyrostat.spec.model import Model
from gyrostat.studies.optimal_control.feedback_block import StateFeedback
from gyrostat.studies.optimal_control.lqr_riccati import Linear, flow_back, gain, infinite, sampled, step_back
from gyrostat.studies.optimal_control.lqr_space import (
    WHO,
    Inputs,
    Space,
    inputs_of,
    space_at,
    standing_efforts,
    weight,
)
from gyrostat.studies.study_data import StudyData

Array = np.ndarray
GAUSS = (0.5 - np.sqrt(3.0) / 6.0, 0.5 + np.sqrt(3.0) / 6.0)


@dataclass(frozen=True, eq=False)
class Regulator(StudyData):
    """Gains at ``t`` (n,) [s], n = 1 for an infinite horizon: ``K`` (n, m, 2 nv), and ``P`` (n, 2 nv, 2 nv): the cost
    to go is x^T P x. ``q``, ``v``, ``u`` (n, any): what is regulated about; ``inputs`` (m,) are named, ``T`` (m, nv)
    takes u to the efforts. ``poles``: of the regulated system, of an infinite horizon, as far as they are in what loops
    and contacts leave free."""

    model: Model
    t: Array
    q: Array
    v: Array
    u: Array
    K: Array
    P: Array
    T: Array
    inputs: tuple[str, ...]
    poles_re: Array
    poles_im: Array
    sample_time: float | None = None

    @property
    def poles(self) -> Array:
        """(k,) complex, in s [1/s]; of a digital regulator in z."""
        return self.poles_re + 1j * self.poles_im

    def block(self, limit: Any = None, form: str = "linear", name: str = "") -> StateFeedback:
        """The regulator for ``gs.simulate`` and ``gs.rollout``. ``limit``: greatest effort of each input (m,), or the
        pair (lower, upper)."""
        bounds = None
        if limit is not None:
            pair = limit if isinstance(limit, tuple) and len(limit) == 2 else None
            top = np.broadcast_to(np.asarray(limit if pair is None else pair[1], dtype=float), (len(self.inputs),))
            low = -top if pair is None else np.broadcast_to(np.asarray(pair[0], dtype=float), (len(self.inputs),))
            bounds = np.array([low, top])
        held = "hold" if self.sample_time is not None else form
        # samples lie inside their row, whatever rounding
        early = 0.0 if self.sample_time is None else 0.5 * self.sample_time
        table = (self.t - early, self.q, self.v, self.u, self.K, self.T)
        return StateFeedback(self.model, *table, limit=bounds, form=held, sample_time=self.sample_time, name=name)


def lqr(
    model: Model,
    q: Any,
    v: Any = None,
    *,
    Q: Any,
    R: Any,
    N: Any = None,
    u: Any = None,
    t: Any = None,
    duration: float | None = None,
    intervals: int = 100,
    Q_end: Any = None,
    inputs: Sequence[str] | None = None,
    contacts: Any = None,
    sample_time: float | None = None,
    weights: str = "integral",
) -> Regulator:
    """The regulator that costs least.

    About a rest or a steady motion: q (nq,), v (nv,), zero by default; with ``duration`` [s] for a finite horizon, at
    whose end x^T Q_end x counts. About a motion: q a trajectory, or (n, nq) with v (n, nv) at ``t`` (n,) [s].

    ``Q``: weights of x = (displacements, changes of the rates), a number, (2 nv,) or (2 nv, 2 nv); ``R``: of u; ``N``
    (2 nv, m): of both. ``u`` (m,) or (n, m): the efforts along the motion; by default those that it takes. ``inputs``:
    joints whose efforts are chosen, by default all that are actuated; where springs drive them, the rotors.
    ``contacts``: frames on which the robot stands.

    ``sample_time`` [s]: digital, u held between samples, and the cost with ``weights="integral"`` is the integral,
    exactly; with ``"sum"`` it is the sum over samples of x^T Q x + 2 x^T N u + u^T R u."""
    expect_model(model, WHO)
    if weights not in ("integral", "sum") or (weights == "sum" and sample_time is None):
        raise GyrostatError(f"{WHO}: weights is {clipped(weights)}, expected 'integral', or 'sum' with a sample_time")
    if sample_time is not None and not (isinstance(sample_time, int | float) and 0.0 < sample_time < np.inf):
        raise GyrostatError(f"{WHO}: sample_time must be above 0 s, got {clipped(sample_time)}. Hint: 0.01")
    moving = isinstance(q, Trajectory) or np.ndim(q) == 2
    along = _Along(model, q, v, u, t, inputs, contacts) if moving else _At(model, q, v, u, inputs, contacts)
    cost = _Cost(model, along.inputs, Q, R, N)
    if not moving and duration is None:
        if Q_end is not None:
            raise GyrostatError(f"{WHO}: Q_end needs an end. Hint: duration=")
        return _for_ever(along, cost, sample_time, weights == "sum")
    times = along.times(duration, intervals, sample_time)
    end = weight(0.0 if Q_end is None else Q_end, 2 * model.nv, "Q_end", False)
    return _until(along, cost, times, end, sample_time, weights == "sum")


class _Cost:
    def __init__(self, model: Model, inputs: Inputs, Q: Any, R: Any, N: Any):
        n, m = 2 * model.nv, len(inputs.names)
        self.Q, self.R = weight(Q, n, "Q", False), weight(R, m, "R", True)
        self.N = np.zeros((n, m)) if N is None else np.asarray(N, dtype=float)
        if self.N.shape != (n, m) or not np.isfinite(self.N).all():
            raise ShapeError(f"{WHO}: N has shape {self.N.shape}, expected ({n}, {m}): x with u")
        least = np.linalg.eigvalsh(self.Q - self.N @ np.linalg.solve(self.R, self.N.T)).min()
        if least < -1e-9 * max(1.0, np.abs(self.Q).max()):
            raise StateError(
                f"{WHO}: Q - N R^-1 N^T has the eigenvalue {least:.4g}, expected none below zero. Hint: less N"
            )

    def of(self, space: Space) -> Linear:
        b = space.basis
        return Linear(space.A, space.B, b.T @ self.Q @ b, self.R, b.T @ self.N)


class _At:
    """One state."""

    def __init__(self, model: Model, q: Any, v: Any, u: Any, inputs: Any, contacts: Any):
        self.model, self.contacts = model, contacts
        self.q = coordinates(model, q, WHO)
        self.v = np.zeros(model.nv) if v is None else rates(model, v, WHO, "v")
        if self.q.ndim != 1 or self.v.ndim != 1:
            raise ShapeError(
                f"{WHO}: q {self.q.shape} and v {self.v.shape} must be those of one state. Hint: t= for many"
            )
        self.inputs = inputs_of(model, inputs, self.q)
        needed = standing_efforts(model, self.q, self.v, self.inputs, contacts) if u is None else u
        self.u = np.asarray(needed, dtype=float)
        if self.u.shape != (len(self.inputs.names),):
            raise ShapeError(f"{WHO}: u has shape {self.u.shape}, expected ({len(self.inputs.names)},)")
        self._space = space_at(model, self.q, self.v, self.inputs.T.T @ self.u, self.inputs, contacts)

    def space(self, t: float) -> Space:
        return self._space

    def times(self, duration: Any, intervals: Any, sample_time: float | None) -> Array:
        if not isinstance(duration, int | float) or not 0.0 < duration < np.inf:
            raise GyrostatError(f"{WHO}: duration must be above 0 s, got {clipped(duration)}. Hint: 2.0")
        return _instants(0.0, float(duration), intervals, sample_time)

    def table(self, t: Array) -> tuple[Array, Array, Array]:
        return tuple(np.tile(x, (len(t), 1)) for x in (self.q, self.v, self.u))  # type: ignore[return-value]


class _Along:
    """A motion: a trajectory, or samples between which A and B are interpolated linearly."""

    def __init__(self, model: Model, q: Any, v: Any, u: Any, t: Any, inputs: Any, contacts: Any):
        self.model = model
        if contacts is not None:
            raise GyrostatError(
                f"{WHO}: contacts are for robots at rest. Hint: gs.studies.ddp regulates motions on contacts"
            )
        self.path = q if isinstance(q, Trajectory) else None
        if self.path is not None:
            if self.path.n != model.nq or model.nq != model.nv:
                raise ShapeError(f"{WHO}: the trajectory has {self.path.n} coordinates, '{model.name}' {model.nq}")
            self.t = np.linspace(0.0, self.path.duration, 101) if t is None else np.asarray(t, dtype=float)
        else:
            self.t = np.asarray(t, dtype=float) if t is not None else np.zeros(0)
        if self.t.ndim != 1 or len(self.t) < 2 or not np.all(np.diff(self.t) > 0.0):
            raise ShapeError(f"{WHO}: t has shape {self.t.shape}, expected (n,) growing instants of the motion [s]")
        self.q, self.v, a = self._motion(q, v, self.t)
        self.inputs = inputs_of(model, inputs, self.q[0])
        self.u = self._efforts(u, a)
        self._spaces = self._at(self.t, self.q, self.v, self.u) if self.path is None else []

    def _motion(self, q: Any, v: Any, t: Array) -> tuple[Array, Array, Array]:
        if self.path is not None:
            rows = self.path.derivatives(t, 2)
            return rows[:, 0], rows[:, 1], rows[:, 2]
        places = coordinates(self.model, q, WHO)
        if v is None:
            raise StateError(f"{WHO}: a motion by samples needs v (n, nv). Hint: a trajectory knows its rates")
        speeds = rates(self.model, packed(self.model, v, "v", WHO), WHO, "v")
        if len(places) != len(t) or speeds.shape != (len(t), self.model.nv):
            raise ShapeError(
                f"{WHO}: q {places.shape} and v {speeds.shape} must have a row for each of {len(t)} instants"
            )
        return places, speeds, np.gradient(speeds, t, axis=0, edge_order=2 if len(t) > 2 else 1)

    def _efforts(self, u: Any, a: Array) -> Array:
        m = len(self.inputs.names)
        if u is None:
            tau = rnea(self.model, self.q, self.v, a)
            if self.path is None:
                return np.linalg.lstsq(self.inputs.T.T, tau.T, rcond=None)[0].T
            return np.array([self.inputs.needed(row, self.model) for row in tau])
        given = np.asarray(u, dtype=float)
        if given.shape == (len(self.t) - 1, m):
            given = np.concatenate([given, given[-1:]])
        if given.shape != (len(self.t), m):
            raise ShapeError(f"{WHO}: u has shape {given.shape}, expected ({len(self.t)}, {m})")
        return given

    def _at(self, t: Array, q: Array, v: Array, u: Array) -> list[Space]:
        return [space_at(self.model, q[k], v[k], self.inputs.T.T @ u[k], self.inputs) for k in range(len(t))]

    def space(self, t: float) -> Space:
        if self.path is not None:
            q, v, a = self.path.derivatives(t, 2)
            u = self.inputs.needed(rnea(self.model, q, v, a), self.model)
            return space_at(self.model, q, v, self.inputs.T.T @ u, self.inputs)
        k = int(np.clip(np.searchsorted(self.t, t, "right") - 1, 0, len(self.t) - 2))
        s = (t - self.t[k]) / (self.t[k + 1] - self.t[k])
        one, two = self._spaces[k], self._spaces[k + 1]
        A, B = ((1.0 - s) * x + s * y for x, y in ((one.A, two.A), (one.B, two.B)))
        return Space(A, B, one.basis, one.project, one.names)

    def times(self, duration: Any, intervals: Any, sample_time: float | None) -> Array:
        if duration is not None:
            raise GyrostatError(f"{WHO}: a motion has its own duration. Hint: leave duration= out")
        return self.t if sample_time is None else _instants(self.t[0], self.t[-1], 1, sample_time)

    def table(self, t: Array) -> tuple[Array, Array, Array]:
        if self.path is not None and len(t) != len(self.t):
            rows = self.path.derivatives(t, 2)
            tau = rnea(self.model, rows[:, 0], rows[:, 1], rows[:, 2])
            return rows[:, 0], rows[:, 1], np.array([self.inputs.needed(row, self.model) for row in tau])
        if len(t) == len(self.t) and np.allclose(t, self.t):
            return self.q, self.v, self.u
        if self.model.layout.turning:
            raise GyrostatError(
                f"{WHO}: samples of quaternions are not interpolated. Hint: t at multiples of sample_time"
            )
        return tuple(_interpolated(t, self.t, x) for x in (self.q, self.v, self.u))  # type: ignore[return-value]


def _interpolated(t: Array, at: Array, x: Array) -> Array:
    return np.stack([np.interp(t, at, column) for column in x.T], axis=1)


def _instants(start: float, end: float, intervals: Any, sample_time: float | None) -> Array:
    if sample_time is None:
        if not isinstance(intervals, int | np.integer) or intervals < 1:
            raise GyrostatError(f"{WHO}: intervals must be a whole number from 1 on, got {clipped(intervals)}")
        return np.linspace(start, end, int(intervals) + 1)
    count = round((end - start) / sample_time)
    if count < 1 or abs(count * sample_time - (end - start)) > 1e-9 * (end - start):
        raise GyrostatError(f"{WHO}: {end - start:g} s is no whole number of samples of {sample_time:g} s")
    return start + sample_time * np.arange(count + 1)


def _for_ever(at: Any, cost: _Cost, sample_time: float | None, summed: bool) -> Regulator:
    space = at.space(0.0)
    system = _digital(space, cost, sample_time, summed)
    P, K = infinite(system, sample_time is not None, space.names, WHO)
    poles = np.linalg.eigvals(system.A - system.B @ K)
    whole, costs = K @ space.project, space.project.T @ P @ space.project
    return _regulator(at, np.zeros(1), [whole], [costs], poles, sample_time)


def _digital(space: Space, cost: _Cost, sample_time: float | None, summed: bool) -> Linear:
    """The system that gains are computed for."""
    system = cost.of(space)
    if sample_time is None:
        return system
    held = sampled(system, sample_time)
    return Linear(held.A, held.B, system.Q, system.R, system.N) if summed else held


def _until(along: Any, cost: _Cost, times: Array, end: Array, sample_time: float | None, summed: bool) -> Regulator:
    last = along.space(times[-1])
    P = last.basis.T @ end @ last.basis
    Ps = [last.project.T @ P @ last.project]
    Ks = [] if sample_time is not None else [gain(cost.of(last), P, False) @ last.project]
    for start, stop in zip(times[-2::-1], times[:0:-1], strict=True):
        h = stop - start
        if sample_time is not None:
            space = along.space(start + 0.5 * h)
            P, K = step_back(_digital(space, cost, h, summed), P)
        else:
            first, second = (cost.of(along.space(start + c * h)) for c in GAUSS)
            P = flow_back(first, second, h, P)
            space = along.space(start)
            K = gain(cost.of(space), P, False)
        Ks.append(K @ space.project)
        Ps.append(space.project.T @ P @ space.project)
    if sample_time is not None:
        Ks = [Ks[0], *Ks] if Ks else Ks  # after the last sample its gain goes on
    return _regulator(along, times, Ks[::-1], Ps[::-1], np.zeros(0), sample_time)


def _regulator(
    along: Any, t: Array, K: list[Array], P: list[Array], poles: Array, sample_time: float | None
) -> Regulator:
    q, v, u = along.table(t)
    T, names = along.inputs.T, along.inputs.names
    tables = (np.array(K), np.array(P), T)
    return Regulator(along.model, t, q, v, u, *tables, names, np.real(poles), np.imag(poles), sample_time)
