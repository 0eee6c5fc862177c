"""Achievable motion of a programme under the limits of the actuators [KV II, V], cycle by cycle in machine code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from gyrostat.algorithms.actuators import actuators, motor_map
from gyrostat.algorithms.algorithm import Setting
from gyrostat.engine.loop import Loop
from gyrostat.engine.record import record
from gyrostat.errors import GyrostatError, NonFiniteError, ShapeError, StateError, nearest
from gyrostat.graph.network import network
from gyrostat.simulate.achievable_cycle import Cycle
from gyrostat.simulate.achieved import Achieved
from gyrostat.simulate.motion_limits import Limits, motion_limits
from gyrostat.simulate.slow_down import slow_down
from gyrostat.solvers.wrench import Application, loads, read_wrenches
from gyrostat.spatial.algebra import Array
from gyrostat.spatial.gravity import gravity
from gyrostat.spatial.representation import representation
from gyrostat.spec.check import expect_model
from gyrostat.spec.model import Model

KEEP = ("accelerations", "torques")
LEVELS = (0, 2, 6)
"""How often torques are looked at again: usually, for the limits of the cycle before are a good guess; in cycles where
that is not enough; and at most in machine code. What needs more still is computed apart."""
SPAN, CHUNK = 32, 65536
"""For how many cycles a longer code is used, to begin with, and how many cycles go together."""
WHO = "AchievableMotion"
CARRIED = {"q_next": "q", "v_next": "v", "cut": "before"}
"""What a cycle passes on to the next."""


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
        if model.nq != model.nv or not isinstance(model.context.base, str):
            raise StateError(
                f"{WHO}: every coordinate must have its own rate, and the base must not be driven. Hint: base='fixed'"
            )
        self.model, self.dt, self.keep, self.catch_up, self.mode = model, float(dt), keep, float(catch_up), mode
        self.network = network(model)
        self.network.refuse_loops(WHO)
        found = actuators(self.network, WHO, tuple(passive))
        self.passive = tuple(passive)
        self.actuators = tuple(a.name for a in found)
        self.motor_map = motor_map(found, model.nv)
        self._found = found
        self._loops: dict[tuple[tuple[Application, ...], int], Loop] = {}

    @cached_property
    def limits(self) -> Limits:
        """Position and speed limits of the joints (n,)."""
        return motion_limits(self.network, WHO)

    def _cycle(self, rounds: int | None) -> Cycle:
        return Cycle(self._found, self.motor_map, self.limits, self.dt, self.keep, rounds)

    def _setting(self) -> Setting:
        return Setting(representation("body"), gravity(self.model.context.gravity))

    def _one(self, places: tuple[Application, ...], rounds: int | None, x: Mapping[str, Any]) -> dict[str, Any]:
        on = self._setting()
        given = loads(self.network, on, places, [x[f"wrench{k}"] for k in range(len(places))])
        asked = x["v_p"]
        if self.catch_up:
            asked = asked + (x["q_p"] - x["q"] - x["v"] * self.dt) * self.catch_up
        return self._cycle(rounds).step(self.network, on, x["q"], x["v"], asked, x["before"], given)

    def _loop(self, places: tuple[Application, ...], rounds: int) -> Loop:
        if (places, rounds) not in self._loops:
            n = self.model.nv
            names = {name: (n,) for name in ("q", "v", "before", "v_p", "q_p")}

            def function(**x: Any) -> Mapping[str, Any]:
                found = self._one(places, rounds, x)
                left = found.pop("left")
                return found | {"guard": 1.0 / (1.0 - left)} if self.keep == "accelerations" else found

            program = record(function, names | {f"wrench{k}": (6,) for k in range(len(places))}, WHO)
            self._loops[places, rounds] = Loop(program, CARRIED)
        return self._loops[places, rounds]

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
        found = self._run(tuple(places), stepped, start)
        q, v, none = found["q_next"], found["v_next"][: steps + 1], np.zeros((steps, self.model.nv), dtype=bool)
        q[-1] = q[-2] + v[-1] * self.dt
        cut = found["cut"][1 : steps + 1]
        passive = np.array([a.passive for a in self._found])
        return Achieved(
            self.model,
            np.arange(len(path)) * self.dt,
            q,
            v,
            found["a"],
            found["u"],
            np.where(passive, 0.0, cut) if np.any(passive) else cut,
            found["slowed"] > 0.0 if "slowed" in found else none,
            found["stopped"] > 0.0 if "stopped" in found else none,
            path,
            self.actuators,
            self.motor_map,
            wrenches,
        )

    @property
    def _levels(self) -> tuple[int, ...]:
        """How often torques are looked at again, from the shortest code to the longest."""
        return LEVELS if self.keep == "accelerations" else LEVELS[:1]

    def _run(
        self, places: tuple[Application, ...], stepped: Mapping[str, Array], start: Mapping[str, Array]
    ) -> Mapping[str, Array]:
        """All cycles, and a spare row behind what is carried: by a short code; where the limits of the cycle before do
        not fit, by a longer one for a while; cycles that are too much for that, too, one by one."""
        steps, levels = len(stepped["v_p"]), self._levels
        start = dict(start) | {"before": np.zeros(self.model.nv)}
        if self.mode == "interpret":
            return self._interpreted(places, stepped, start)
        arrays = self._loop(places, levels[0]).arrays(stepped, start, {}, spare=1)
        done, level, span = 0, 0, SPAN
        while done < steps:
            count = min(CHUNK if level == 0 else span, steps - done)
            bad = self._loop(places, levels[level]).advance(arrays, done, count)
            if bad < 0:
                done, level = done + count, 0
                continue
            span, done = (min(2 * span, CHUNK) if bad - done < SPAN else SPAN), bad
            if level + 1 < len(levels):
                level += 1
                continue
            now = {key: x[done] for key, x in stepped.items()}
            now |= {given: arrays.results[key][done] for key, given in CARRIED.items()}
            for key, value in self._apart(places, now, done).items():
                arrays.results[key][done + (key in CARRIED)] = value
            done += 1
        return arrays.results

    def _interpreted(
        self, places: tuple[Application, ...], stepped: Mapping[str, Array], start: Mapping[str, Array]
    ) -> Mapping[str, Array]:
        state, rows = dict(start), []
        for k in range(len(stepped["v_p"])):
            rows.append(self._apart(places, {key: x[k] for key, x in stepped.items()} | state, k))
            state = {given: rows[-1][key] for key, given in CARRIED.items()}
        found = {key: np.array([row[key] for row in rows]) for key in rows[0]}
        none = np.zeros(self.model.nv)
        return found | {key: np.concatenate([[start[given]], found[key], [none]]) for key, given in CARRIED.items()}

    def _apart(self, places: tuple[Application, ...], x: Mapping[str, Array], cycle: int) -> dict[str, Array]:
        """One cycle in plain NumPy, with as many rounds as there can be."""
        with np.errstate(all="ignore"):
            found = self._one(places, None, x)
        if found.pop("left"):
            raise StateError(
                f"{WHO}: at t = {cycle * self.dt:g} s (cycle {cycle}) no set of limits was found that fits. "
                "Hint: look at the masses there; something without inertia can move"
            )
        arrays = {key: np.asarray(value, dtype=float) for key, value in found.items()}
        wrong = [key for key, value in arrays.items() if not np.all(np.isfinite(value))]
        if wrong:
            raise NonFiniteError(
                f"{WHO}: at t = {cycle * self.dt:g} s (cycle {cycle}) {wrong[0]} is not finite. "
                "Hint: a smaller dt, if damping is strong; otherwise look at the programme and at the limits there"
            )
        return arrays

    def _programme(self, programme: Any) -> Array:
        path = np.asarray(programme, dtype=float)
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
        array = np.asarray(x, dtype=float)
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
        found = self._run(tuple(places), stepped, {"q": q, "v": v})
        none = np.zeros((1, self.model.nv))
        marks = [found.get(key, none)[0] > 0.0 for key in ("slowed", "stopped")]
        cut = np.where([a.passive for a in self._found], 0.0, found["cut"][1])
        return Step(found["q_next"][1], found["v_next"][1], found["a"][0], found["u"][0], cut, *marks)

    # ------------------------------------------------------------------ slower
    def slow_down(self, programme: Any, wrenches: Any = None, most: float = 1e4) -> float:
        """The factor s >= 1 by which the whole programme must be slowed down, as cycles of s dt, so that it keeps its
        path within all torque and speed limits. See :func:`slow_down`."""
        path = self._programme(programme)
        return slow_down(self.model, self._found, self.limits, path, self.dt, wrenches, most, self.mode)
