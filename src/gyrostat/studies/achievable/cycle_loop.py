"""The cycles of a programme, one after the other: in machine code, and what is too much for that in plain NumPy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gyrostat.algorithms.algorithm import Setting
from gyrostat.algorithms.shafts.actuators import Actuator
from gyrostat.engine.llvm.loop import Loop
from gyrostat.engine.tracing.record import record
from gyrostat.errors import NonFiniteError, RecordError, StateError
from gyrostat.graph.network import Network
from gyrostat.solvers.machinery.wrench import Application, loads
from gyrostat.spatial.algebra import Array
from gyrostat.spatial.gravity import gravity
from gyrostat.spatial.representation import representation
from gyrostat.spec.context import GravityField
from gyrostat.studies.achievable.interpolation_cycle import Cycle
from gyrostat.studies.achievable.motion_limits import Limits

WHO = "AchievableMotion"
LEVELS = (0, 1, 6)
"""How often torques are looked at again: usually, for the limits of the cycle before are a good guess; in cycles where
that is not enough; and at most in machine code. What needs more still is computed apart."""
SPAN, CHUNK = 32, 65536
"""For how many cycles a longer code is used, to begin with, and how many cycles go together."""
CARRIED = {"q_next": "q", "v_next": "v", "cut": "before"}
"""What a cycle passes on to the next."""


@dataclass(frozen=True)
class CycleLoop:
    """What all cycles have in common; ``loops``: machine code by the places of wrenches and the number of rounds."""

    network: Network
    actuators: Sequence[Actuator]
    T: Array
    limits: Limits
    dt: float
    keep: str
    catch_up: float
    mode: str
    loops: dict[tuple[tuple[Application, ...], int], Loop] = field(default_factory=dict)

    @property
    def _levels(self) -> tuple[int, ...]:
        """How often torques are looked at again, from the shortest code to the longest."""
        return LEVELS if self.keep == "accelerations" else LEVELS[:1]

    def run(
        self, places: tuple[Application, ...], stepped: Mapping[str, Array], start: Mapping[str, Array]
    ) -> Mapping[str, Array]:
        """All cycles, and a spare row behind what is carried: by a short code; where the limits of the cycle before do
        not fit, by a longer one for a while; cycles that are too much for that, too, one by one."""
        steps, levels = len(stepped["v_p"]), self._levels
        start = dict(start) | {"before": np.zeros(self.network.model.nv)}
        if self.mode == "interpret":
            return self._interpreted(places, stepped, start)
        try:
            first = self._loop(places, levels[0])
        except RecordError:
            if not isinstance(self.network.model.context.gravity, GravityField):
                raise
            return self._interpreted(places, stepped, start)  # gravity is a Python function that cannot be recorded
        arrays = first.arrays(stepped, start, {}, spare=1)
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
        arrays = {key: np.array([row[key] for row in rows]) for key in rows[0]}
        none = np.zeros(self.network.model.nv)
        return arrays | {key: np.concatenate([[start[given]], arrays[key], [none]]) for key, given in CARRIED.items()}

    def _apart(self, places: tuple[Application, ...], x: Mapping[str, Array], cycle: int) -> dict[str, Array]:
        """One cycle in plain NumPy, with as many rounds as there can be."""
        with np.errstate(all="ignore"):
            motion = self._one(places, None, x)
        if motion.pop("left"):
            raise StateError(
                f"{WHO}: at t = {cycle * self.dt:g} s (cycle {cycle}) no set of limits was found that fits. "
                "Hint: look at the masses there; something without inertia can move"
            )
        arrays = {key: np.asarray(value, dtype=float) for key, value in motion.items()}
        wrong = [key for key, value in arrays.items() if not np.all(np.isfinite(value))]
        if wrong:
            raise NonFiniteError(
                f"{WHO}: at t = {cycle * self.dt:g} s (cycle {cycle}) {wrong[0]} is not finite. "
                "Hint: a smaller dt, if damping is strong; otherwise look at the programme and at the limits there"
            )
        return arrays

    def _one(self, places: tuple[Application, ...], rounds: int | None, x: Mapping[str, Any]) -> dict[str, Any]:
        on = Setting(representation("body"), gravity(self.network.model.context.gravity))
        given = loads(self.network, on, places, [x[f"wrench{k}"] for k in range(len(places))])
        asked = x["v_p"]
        if self.catch_up:
            asked = asked + (x["q_p"] - x["q"] - x["v"] * self.dt) * self.catch_up
        cycle = Cycle(self.actuators, self.T, self.limits, self.dt, self.keep, rounds)
        return cycle.step(self.network, on, x["q"], x["v"], asked, x["before"], given)

    def _loop(self, places: tuple[Application, ...], rounds: int) -> Loop:
        if (places, rounds) not in self.loops:
            n = self.network.model.nv
            names = {name: (n,) for name in ("q", "v", "before", "v_p", "q_p")}

            def function(**x: Any) -> Mapping[str, Any]:
                motion = self._one(places, rounds, x)
                left = motion.pop("left")
                return motion | {"guard": 1.0 / (1.0 - left)} if self.keep == "accelerations" else motion

            program = record(function, names | {f"wrench{k}": (6,) for k in range(len(places))}, WHO)
            self.loops[places, rounds] = Loop(program, CARRIED)
        return self.loops[places, rounds]
