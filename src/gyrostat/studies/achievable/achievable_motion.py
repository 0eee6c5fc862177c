"""Achievable motion of a programme under the limits of the actuators [KV II, V], cycle by cycle in machine code."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from gyrostat.algorithms.shafts.actuators import actuators, motor_map
from gyrostat.configuration.packing import real_array
from gyrostat.errors import GyrostatError, NonFiniteError, ShapeError, StateError, nearest
from gyrostat.graph.network import network
from gyrostat.solvers.machinery.wrench import read_wrenches
from gyrostat.spatial.algebra import Array
from gyrostat.spec.check import expect_model
from gyrostat.spec.model import Model
from gyrostat.studies.achievable.cycle_loop import WHO, CycleLoop
from gyrostat.studies.achievable.motion_limits import Limits, motion_limits
from gyrostat.studies.achievable.report import Achieved
from gyrostat.studies.achievable.slow_down import slow_down

KEEP = ("accelerations", "torques")


class Step(NamedTuple):
    """One cycle: where it ends, the velocity of the next one, acceleration, actuator torques; which of them are cut
    (-1, 0, 1), which joints had to be slowed down, or stopped at a position limit."""

    q: Array
    v: Array
    a: Array
    u: Array
    cut: Array
    slowed: Array
    stopped: Array


class AchievableMotion:
    """``AchievableMotion(model, dt)(programme)``: what of a programme of joint positions the actuators can do.

    ``programme`` (N + 1, n): positions at intervals of ``dt`` [s], as a path planner sends them; the velocity is
    constant in each cycle. Limits are those of the model: torque and speed of motors (constant, by a torque-speed
    curve, or by voltage and current), effort, speed and positions of joints.

    ``keep="accelerations"`` (default) [KV II]: an actuator that saturates does not disturb the others, they keep their
    programmed accelerations if they can; this is what servo loops do, and only the joint concerned leaves its path. Of
    all motions that the actuators can do it is the nearest to the programme (Gauss' principle of least constraint).
    ``keep="torques"`` [KV (44)]: torques that are within their limits stay as they were computed, so that every joint
    coupled with the saturated one deviates. ``catch_up`` [1/s]: how fast a joint that fell behind goes back to the
    programme; 0, as in KV: it keeps the programmed velocity, and its distance. ``passive``: rates without actuator.
    """

    def __init__(
        self,
        model: Model,
        dt: float,
        keep: str = "accelerations",
        catch_up: float = 0.0,
        passive: Sequence[str] = (),
        mode: str = "auto",
    ):
        expect_model(model, WHO)
        if keep not in KEEP:
            raise GyrostatError(
                f"{WHO}: keep must be one of {', '.join(KEEP)}, got {keep!r}. Hint: {nearest(str(keep), KEEP)}"
            )
        if not isinstance(dt, float | int) or not 0.0 < dt < np.inf:
            raise GyrostatError(f"{WHO}: dt must be a positive time [s], got {dt!r}. Hint: dt=0.005")
        if not isinstance(catch_up, float | int) or not 0.0 <= catch_up * dt <= 1.0:
            raise GyrostatError(
                f"{WHO}: catch_up must be from 0 to 1/dt = {1 / dt:g} 1/s, got {catch_up!r}. Hint: catch_up=0"
            )
        if model.nv == 0:
            raise StateError(f"{WHO}: nothing in '{model.name}' moves. Hint: a model with joints")
        if model.nq != model.nv or not isinstance(model.context.base, str):
            raise StateError(
                f"{WHO}: every coordinate must have its own rate, and the base must not be driven. Hint: base='fixed'"
            )
        self.model, self.dt, self.keep, self.catch_up, self.mode = model, float(dt), keep, float(catch_up), mode
        self.network = network(model)
        self.network.refuse_loops(WHO)
        self._actuators = actuators(self.network, WHO, tuple(passive))
        self.passive = tuple(passive)
        self.actuators = tuple(a.name for a in self._actuators)
        self.motor_map = motor_map(self._actuators, model.nv)

    @cached_property
    def _cycles(self) -> CycleLoop:
        options = self.dt, self.keep, self.catch_up, self.mode
        return CycleLoop(self.network, self._actuators, self.motor_map, self.limits, *options)

    @cached_property
    def limits(self) -> Limits:
        """Position and speed limits of the joints (n,)."""
        return motion_limits(self.network, WHO)

    # ------------------------------------------------------------------ whole programmes
    def __call__(self, programme: Any, v0: Any = None, wrenches: Any = None) -> Achieved:
        """The achievable motion of a programme (N + 1, n), N >= 2; ``v0``: velocity (n,) in the first cycle, by default
        the programmed one; ``wrenches``: external ones by port, (6,) or (N - 1, 6)."""
        path = self._programme(programme)
        steps, v_p = len(path) - 2, np.diff(path, axis=0) / self.dt
        places, values = read_wrenches(self.network, wrenches, WHO)
        stepped = {"v_p": v_p[1:], "q_p": path[1:-1]}
        for k, w in enumerate(values):
            if w.shape not in ((6,), (steps, 6)):
                raise ShapeError(f"{WHO}: a wrench has shape {w.shape}, expected (6,) or ({steps}, 6)")
            stepped[f"wrench{k}"] = np.broadcast_to(w, (steps, 6))
        start = {"q": path[0], "v": v_p[0] if v0 is None else self._rates(v0, "v0")}
        cycles = self._cycles.run(tuple(places), stepped, start)
        q, v, none = cycles["q_next"], cycles["v_next"][: steps + 1], np.zeros((steps, self.model.nv), dtype=bool)
        q[-1] = q[-2] + v[-1] * self.dt
        _expect_near(self.model, q, path, self.dt)
        cut = cycles["cut"][1 : steps + 1]
        passive = np.array([a.passive for a in self._actuators])
        return Achieved(
            self.model,
            np.arange(len(path)) * self.dt,
            q,
            v,
            cycles["a"],
            cycles["u"],
            np.where(passive, 0.0, cut) if np.any(passive) else cut,
            cycles["slowed"] > 0.0 if "slowed" in cycles else none,
            cycles["stopped"] > 0.0 if "stopped" in cycles else none,
            path,
            self.actuators,
            self.motor_map,
            wrenches,
        )

    def _programme(self, programme: Any) -> Array:
        path = np.array(real_array(programme, WHO, "the programme"))  # its own: results refer to it
        n = self.model.nv
        if path.ndim != 2 or path.shape[1] != n or len(path) < 3:
            raise ShapeError(
                f"{WHO}: the programme has shape {path.shape}, expected (3 or more, {n}). "
                f"Hint: one row of positions each {self.dt:g} s"
            )
        if not np.all(np.isfinite(path)):
            row, column = (int(k) for k in np.argwhere(~np.isfinite(path))[0])
            raise NonFiniteError(
                f"{WHO}: the programme of '{self.model.dofs[column]}' is {path[row, column]} in row {row}"
            )
        return path

    def _rates(self, x: Any, name: str) -> Array:
        array = real_array(x, WHO, name)
        if array.shape != (self.model.nv,) or not np.all(np.isfinite(array)):
            raise ShapeError(f"{WHO}: {name} has shape {array.shape}, expected ({self.model.nv},) finite numbers")
        return array

    # ------------------------------------------------------------------ step by step
    def step(self, q: Any, v: Any, q_next: Any, q_after: Any, wrenches: Any = None) -> Step:
        """One cycle from q with v: the programme asks for q_next at its end and q_after one cycle later."""
        given = {"q": q, "v": v, "q_next": q_next, "q_after": q_after}
        q, v, q_next, q_after = (self._rates(x, name) for name, x in given.items())
        places, values = read_wrenches(self.network, wrenches, WHO)
        stepped = {"v_p": (q_after - q_next)[None] / self.dt, "q_p": q_next[None]}
        for k, w in enumerate(values):
            if w.shape != (6,):
                raise ShapeError(f"{WHO}: a wrench has shape {w.shape}, expected (6,)")
            stepped[f"wrench{k}"] = w[None]
        cycles = self._cycles.run(tuple(places), stepped, {"q": q, "v": v})
        none = np.zeros((1, self.model.nv))
        marks = [cycles.get(key, none)[0] > 0.0 for key in ("slowed", "stopped")]
        cut = np.where([a.passive for a in self._actuators], 0.0, cycles["cut"][1])
        return Step(cycles["q_next"][1], cycles["v_next"][1], cycles["a"][0], cycles["u"][0], cut, *marks)

    # ------------------------------------------------------------------ slower
    def slow_down(self, programme: Any, wrenches: Any = None, most: float = 1e4) -> float:
        """The factor s >= 1 by which the whole programme must be slowed down, as cycles of s dt, so that it keeps its
        path within all torque and speed limits. See :func:`slow_down`."""
        path = self._programme(programme)
        return slow_down(self.model, self._actuators, self.limits, path, self.dt, wrenches, most, self.mode)


def _expect_near(model: Model, q: Array, path: Array, dt: float) -> None:
    """Cycles are explicit: with too much damping for their length, a joint swings up without end."""
    away = np.abs(q - path).max(axis=1) > RUNAWAY * (1.0 + np.abs(path).max())
    if np.any(away):
        row = int(np.argmax(away))
        joint = model.dofs[int(np.argmax(np.abs(q - path)[row]))]
        raise StateError(
            f"{WHO}: '{joint}' runs away from t = {row * dt:g} s on: cycles of {dt:g} s are too long for its damping. "
            "Hint: dt well below 2 inertia / damping"
        )


RUNAWAY = 1e4
"""Distance from the programme, in its own size, that no motion reaches."""
