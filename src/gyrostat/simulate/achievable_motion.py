"""Achievable motion of a programme under the limits of the actuators [KV II, V], cycle by cycle in machine code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from gyrostat.algorithms.actuators import UNLIMITED, actuators, motor_map
from gyrostat.algorithms.algorithm import Setting
from gyrostat.engine.loop import Loop
from gyrostat.engine.record import record
from gyrostat.errors import GyrostatError, NonFiniteError, ShapeError, StateError, nearest
from gyrostat.graph.network import network
from gyrostat.simulate.achievable_cycle import Cycle, Limits
from gyrostat.simulate.achieved import Achieved
from gyrostat.solvers.actuator_dynamics import ActuatorDynamics
from gyrostat.solvers.wrench import Application, loads, read_wrenches
from gyrostat.spatial.algebra import Array
from gyrostat.spatial.gravity import gravity
from gyrostat.spatial.representation import representation
from gyrostat.spec.joint import Joint
from gyrostat.spec.model import Model

KEEP = ("accelerations", "torques")
FEW, ROUNDS = 2, 8
"""How often torques are looked at again: usually, and at most in machine code. Cycles that need more are computed
apart."""
SPAN, CHUNK = 32, 4096
"""For how many cycles the longer code is used, to begin with, and how many cycles go together."""
WHO = "AchievableMotion"


class Step(NamedTuple):
    """One cycle: where it ends, the velocity of the next one, acceleration, actuator torques, which of them are cut."""

    q: Array
    v: Array
    a: Array
    u: Array
    cut: Array


class AchievableMotion:
    """``AchievableMotion(model, dt)(programme)``: what of a programme of joint positions the actuators can do.

    ``programme`` (N + 1, n): positions at intervals of ``dt`` [s], as a path planner sends them; the velocity is
    constant in each cycle. Limits are those of the model: torque and speed of motors (constant, by a torque-speed
    curve, or by voltage and current), effort, speed and positions of joints.

    ``keep="accelerations"`` (default) [KV II]: an actuator that saturates does not disturb the others, they keep their
    programmed accelerations if they can; this is what servo loops do, and only the joint concerned leaves its path.
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
        mode: str = "compile",
    ):
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
        found = actuators(self.network, WHO, tuple(passive))
        self.passive = tuple(passive)
        self.actuators = tuple(a.name for a in found)
        self.motor_map = motor_map(found, model.nv)
        self._found = found
        self._loops: dict[tuple[tuple[Application, ...], int], Loop] = {}

    @cached_property
    def limits(self) -> Limits:
        """Position and speed limits of the joints (n,)."""
        joints = [self.model.wiring.entities.get(name) for name in self.model.dofs]
        rows = [
            [
                default if value is None else value
                for key, default in (("lower", -UNLIMITED), ("upper", UNLIMITED), ("velocity_limit", UNLIMITED))
                for value in [getattr(joint, key) if isinstance(joint, Joint) else None]
            ]
            for joint in joints
        ]
        lower, upper, speed = np.array(rows, dtype=float).reshape(-1, 3).T
        return Limits(lower, upper, speed)

    def _cycle(self, rounds: int) -> Cycle:
        return Cycle(self._found, self.motor_map, self.limits, self.dt, self.keep, rounds)

    def _setting(self) -> Setting:
        return Setting(representation("body"), gravity(self.model.context.gravity))

    def _one(self, places: tuple[Application, ...], rounds: int, x: Mapping[str, Any]) -> dict[str, Any]:
        on = self._setting()
        given = loads(self.network, on, places, [x[f"wrench{k}"] for k in range(len(places))])
        asked = x["v_p"]
        if self.catch_up:
            asked = asked + (x["q_p"] - x["q"] - x["v"] * self.dt) * self.catch_up
        return self._cycle(rounds).step(self.network, on, x["q"], x["v"], asked, given) | {"asked": asked}

    def _loop(self, places: tuple[Application, ...], rounds: int) -> Loop:
        if (places, rounds) not in self._loops:
            n = self.model.nv
            names = {"q": (n,), "v": (n,), "v_p": (n,), "q_p": (n,)}

            def function(**x: Any) -> Mapping[str, Any]:
                found = self._one(places, rounds, x)
                left = found.pop("left")
                return found | {"guard": 0.0 / (1.0 - left) if self.keep == "accelerations" else np.zeros(0)}

            program = record(function, names | {f"wrench{k}": (6,) for k in range(len(places))}, WHO)
            self._loops[places, rounds] = Loop(program, {"q_next": "q", "v_next": "v"})
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
        start = {"q": path[0], "v": v_p[0] if v0 is None else self._rates(v0)}
        found = self._run(tuple(places), stepped, start)
        q, v = found["q_next"], found["v_next"]
        clipped = np.clip(found["asked"], -self.limits.speed, self.limits.speed)
        reached = q[:-1] + v[:-1] * self.dt
        room = np.clip(clipped, (self.limits.lower - reached) / self.dt, (self.limits.upper - reached) / self.dt)
        fast = np.array([min(a.speed_limit, UNLIMITED) for a in self._found])
        w = np.abs(room @ self.motor_map.T) > fast * (1.0 + 1e-12)
        moved = (np.abs(np.linalg.inv(self.motor_map)) > 0.0).astype(float)
        passive = np.array([a.passive for a in self._found])
        return Achieved(
            self.model,
            np.arange(len(path)) * self.dt,
            np.concatenate([q, q[-1:] + v[-1:] * self.dt]),
            v,
            found["a"],
            found["u"],
            np.where(passive, 0.0, found["cut"]),
            (clipped != found["asked"]) | (w.astype(float) @ moved.T > 0.0),
            room != clipped,
            path,
            self.actuators,
            self.motor_map,
        )

    def _run(
        self, places: tuple[Application, ...], stepped: Mapping[str, Array], start: Mapping[str, Array]
    ) -> dict[str, Array]:
        """All cycles: by a short code; where more actuators reach their limits one after the other than it looks for,
        by a longer one for a while; cycles that are too much for that, too, one by one."""
        total, done, most = len(stepped["v_p"]), 0, min(self.model.nv, ROUNDS)
        pieces: list[dict[str, Array]] = []
        state = {key: np.array(value, dtype=float) for key, value in start.items()}
        few, span = (0 if self.mode == "interpret" else min(FEW, most)), SPAN
        while done < total:
            size = 1 if few == 0 else (CHUNK if few < most else span)
            rest = {key: value[done : done + size] for key, value in stepped.items()}
            count = 0
            if few:
                bad, found = self._loop(places, few).run(rest, state, {})
                count = len(rest["v_p"]) if bad < 0 else bad
                pieces.append({k: x[: count + (k in CARRIED)] for k, x in found.items()})
                state = {"q": found["q_next"][count], "v": found["v_next"][count]}
                done += count
                if bad < 0:
                    few, span = min(FEW, most), (SPAN if few < most else span)
                    continue
            if 0 < few < most:
                few, span = most, min(2 * span, CHUNK) if count < SPAN else SPAN
                continue
            pieces.append(self._apart(places, {k: x[done] for k, x in stepped.items()} | state, done))
            state = {"q": pieces[-1]["q_next"][1], "v": pieces[-1]["v_next"][1]}
            done += 1
        last = {key: [pieces[-1][key][-1:]] for key in CARRIED}
        return {
            key: np.concatenate([*(p[key][:-1] if key in CARRIED else p[key] for p in pieces), *last.get(key, ())])
            for key in pieces[0]
        }

    def _apart(self, places: tuple[Application, ...], x: Mapping[str, Array], cycle: int) -> dict[str, Array]:
        with np.errstate(all="ignore"):
            found = self._one(places, self.model.nv, x)
        found.pop("left")
        wrong = [key for key, value in found.items() if not np.all(np.isfinite(np.asarray(value, dtype=float)))]
        if wrong:
            raise NonFiniteError(
                f"{WHO}: at t = {cycle * self.dt:g} s (cycle {cycle}) {wrong[0]} is not finite. "
                "Hint: look at the programme there, and at limits that cannot be kept"
            )
        return {
            key: np.stack([x[key.removesuffix("_next")], value])
            if key in CARRIED
            else np.asarray(value, dtype=float)[None]
            for key, value in found.items()
        }

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

    def _rates(self, v: Any) -> Array:
        array = np.asarray(v, dtype=float)
        if array.shape != (self.model.nv,) or not np.all(np.isfinite(array)):
            raise ShapeError(f"{WHO}: a velocity has shape {array.shape}, expected finite ({self.model.nv},)")
        return array

    # ------------------------------------------------------------------ step by step
    def step(self, q: Any, v: Any, q_next: Any, q_after: Any, wrenches: Any = None) -> Step:
        """One cycle from q with v: the programme asks for q_next at its end and q_after one cycle later."""
        rows = np.stack([self._rates(x) for x in (q, q_next, q_after)])
        places, values = read_wrenches(self.network, wrenches, WHO)
        stepped = {"v_p": (rows[2] - rows[1])[None] / self.dt, "q_p": rows[1][None]}
        stepped |= {f"wrench{k}": w.reshape(1, 6) for k, w in enumerate(values)}
        found = self._run(tuple(places), stepped, {"q": rows[0], "v": self._rates(v)})
        return Step(found["q_next"][1], found["v_next"][1], found["a"][0], found["u"][0], found["cut"][0])

    # ------------------------------------------------------------------ slower
    def slow_down(self, programme: Any, most: float = 1e4) -> float:
        """The smallest factor s >= 1 by which the whole programme must be slowed down so that it is within all torque
        and speed limits and keeps its path: cycles of s dt. By bisection, to 1e-9."""
        path = self._programme(programme)
        v = np.diff(path, axis=0) / self.dt
        a, q, v = np.diff(v, axis=0) / self.dt, path[:-2], v[:-1]
        solver = ActuatorDynamics(self.model, self.passive, mode=self.mode)

        def excess(s: float) -> Array:
            u, w = solver.torques(q, v / s, a / s**2), (v / s) @ self.motor_map.T
            over = []
            for k, actuator in enumerate(self._found):
                low, high = actuator.torques(w[:, k])
                over.append(np.max(np.maximum(u[:, k] - high, low - u[:, k])) if not actuator.passive else -1.0)
                over.append(np.max(np.abs(w[:, k])) - actuator.speed_limit)
            over += list(np.max(np.abs(v) / s, axis=0) - self.limits.speed)
            return np.array(over)

        low, high = 1.0, 1.0
        while np.any(excess(high) > 0.0):
            low, high = high, high * 2.0
            if high > most:
                worst = int(np.argmax(excess(most)))
                names = [n for name in self.actuators for n in (name, name)] + list(self.model.dofs)
                raise StateError(
                    f"{WHO}: even {most:g} times slower '{names[worst]}' exceeds its limit. "
                    "Hint: its weight alone is too much for it"
                )
        while high - low > 1e-9 * high and high > 1.0:
            middle = 0.5 * (low + high)
            low, high = (middle, high) if np.any(excess(middle) > 0.0) else (low, middle)
        return high


CARRIED = ("q_next", "v_next")
"""What a cycle passes on to the next."""
