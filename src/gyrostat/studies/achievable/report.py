"""What came out of a programmed motion: the motion that is possible, the torques, and a report for the operator."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gyrostat.solvers.dynamics.inverse_dynamics import InverseDynamics
from gyrostat.spatial.algebra import Array
from gyrostat.spec.model import Model


@dataclass(frozen=True)
class Episode:
    """A stretch of time [s] in which one limit was met: a motor gives its greatest torque, a joint moves with less than
    the programmed velocity; ``deviation``: greatest distance of the joints concerned from the programme, from then to
    the end of the motion [rad, m]."""

    who: str
    limit: str  # "torque", "velocity" or "position"
    start: float
    end: float
    deviation: float

    def __str__(self) -> str:
        away = f"; up to {self.deviation:.3g} from the programme" if self.deviation else ""
        return f"{self.who}: {self.limit} limit from {self.start:.6g} s to {self.end:.6g} s{away}"


@dataclass(frozen=True, eq=False, repr=False)
class Achieved:
    """The achievable motion of a programme of N cycles.

    ``t`` (N + 1,) [s]; ``q`` (N + 1, n) positions at these times; ``v`` (N, n) velocities, constant in each cycle;
    ``a`` (N - 1, n) accelerations from one cycle to the next; ``u`` (N - 1, n) torques of the ``actuators``; ``cut``
    (N - 1, n): 1 or -1 where an actuator is at its greatest or least torque; ``slowed``, ``stopped`` (N - 1, n): the
    velocity of a joint in the *next* cycle was kept at a speed limit (its own or a motor's), or within its position
    limits. ``programme`` (N + 1, n); ``wrenches``: the external ones."""

    model: Model
    t: Array
    q: Array
    v: Array
    a: Array
    u: Array
    cut: Array
    slowed: Array
    stopped: Array
    programme: Array
    actuators: tuple[str, ...]
    motor_map: Array
    wrenches: Any = None

    @property
    def limited(self) -> Array:
        """(N - 1,): cycles in which some limit was met."""
        return np.any(self.cut != 0.0, axis=1) | np.any(self.slowed, axis=1) | np.any(self.stopped, axis=1)

    @property
    def deviation(self) -> Array:
        """(N + 1, n): achievable minus programmed positions."""
        return self.q - self.programme

    def forces(self, ports: Sequence[str] | None = None) -> Any:
        """Forces and moments (N - 1, 6) at ports, as they really occur; see :meth:`InverseDynamics.port_forces`."""
        solver = InverseDynamics(self.model)
        return solver.port_forces(self.q[:-2], self.v[:-1], self.a, self.wrenches, ports=ports)

    def report(self) -> list[Episode]:
        """Who met which limit, when, and how far from the programme that led; in order of time."""
        episodes = [*self._episodes("torque", self.cut != 0.0, self.actuators, self.motor_map, 0)]
        identity = np.eye(self.model.nv)
        episodes += self._episodes("velocity", self.slowed, self.model.dofs, identity, 1)
        episodes += self._episodes("position", self.stopped, self.model.dofs, identity, 1)
        return sorted(episodes, key=lambda e: (e.start, e.who))

    def _episodes(self, limit: str, flags: Array, names: Sequence[str], rows: Array, late: int) -> Iterator[Episode]:
        away = np.abs(self.deviation)
        for i, name in enumerate(names):
            joints = np.flatnonzero(rows[i])
            edges = np.flatnonzero(np.diff(np.concatenate([[False], flags[:, i], [False]]).astype(int)))
            for start, stop in edges.reshape(-1, 2):
                worst = float(away[start:, joints].max(initial=0.0))
                times = float(self.t[start + late]), float(self.t[stop + late])
                yield Episode(name, limit, *times, worst if worst > 1e-9 else 0.0)

    def __str__(self) -> str:
        episodes = self.report()
        if not episodes:
            return f"{len(self.v)} cycles, {self.t[-1]:.6g} s: the programme is achievable"
        head = f"{len(self.v)} cycles, {self.t[-1]:.6g} s: limits are met in {int(self.limited.sum())} of them"
        more = [f"... and {len(episodes) - 20} more"] if len(episodes) > 20 else []
        return "\n".join([head, *(f"  {episode}" for episode in episodes[:20]), *more])

    def __repr__(self) -> str:
        return str(self)
