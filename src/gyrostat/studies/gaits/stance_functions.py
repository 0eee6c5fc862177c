"""One phase of a gait as a recorded function of a point: reduced dynamics, cost, and what must hold [H04 5.4].

A point is z = (x, v, u), all scaled: x local coordinates (independent,) about the upright robot, v rates of the
independent joints, u efforts of the legs. Legs that stand follow by their closed forms (H04 5.4.1), so that

    out(z) = (x', v', cost, conditions),          x' = local rates,   v' = reduced dynamics (5.3)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from gyrostat.algorithms.algorithm import Setting
from gyrostat.algorithms.contact.contact_rows import contact_jacobian
from gyrostat.algorithms.contact.reduced_dynamics import Dependence
from gyrostat.algorithms.recursions.rne import no_loads
from gyrostat.configuration.chart import local_rates, moved
from gyrostat.configuration.manifold import difference, neutral
from gyrostat.graph.network import Network
from gyrostat.solvers.dynamics.center_of_mass import total_momentum
from gyrostat.solvers.kinematics.frame_motion import frame_quantities
from gyrostat.solvers.legs.reduced_dynamics import ReducedDynamics
from gyrostat.studies.gaits.legged_robot import Foot, LeggedRobot

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Scales:
    """What counts as one: displacements [rad, m], rates, efforts."""

    x: float = 1.0
    v: float = 1.0
    u: float = 20.0


@dataclass(frozen=True, eq=False)
class Row:
    """low <= value <= high; ``value`` (k,) is computed from a :class:`Moment`."""

    name: str
    value: Callable[[Moment], Any]
    low: Any
    high: Any


class Moment:
    """What conditions and costs see: ``q``, ``v``, ``a`` of all joints, ``u``, ``forces`` {foot: (6,)} in the axes of
    the foot's frame (torque, force), ``t`` part of the phase."""

    def __init__(self, net: Network, on: Setting, q: Any, v: Any, a: Any, u: Any, forces: dict[str, Any], t: Any):
        self.net, self.on, self.q, self.v, self.a, self.u, self.forces, self.t = net, on, q, v, a, u, forces, t
        self._frames: dict[str, Any] = {}

    @cached_property
    def center_of_mass(self) -> Any:
        total, _ = total_momentum(self.net, self.on, self.q, self.v)
        return total.h / total.m

    def p(self, frame: str) -> Any:
        """Where a frame is (3,)."""
        return self._frame(frame)["p"][0]

    def R(self, frame: str) -> Any:
        """Its axes (3, 3)."""
        return self._frame(frame)["R"][0]

    def V(self, frame: str) -> Any:
        """Its velocity (6,) in its own axes."""
        return self._frame(frame)["V"][0]

    def _frame(self, frame: str) -> Any:
        port = self.net.port(frame)
        if port not in self._frames:
            self._frames[port] = frame_quantities(self.net, self.on, [port], self.q, self.v, self.a)
        return self._frames[port]


class StanceFunctions:
    """``reduced``: the dynamics; ``rows``: conditions at every point; ``cost``: of a moment."""

    def __init__(
        self,
        robot: LeggedRobot,
        reduced: ReducedDynamics,
        cost: Callable[[Moment, Any], Any],
        rows: Sequence[Row],
        scales: Scales,
    ):
        self.robot, self.model, self.reduced = robot, robot.model, reduced
        self.cost, self.rows, self.scales = cost, tuple(rows), scales
        self.independent = list(reduced.parts.independent)
        self.n = len(self.independent)
        self.driven = list(range(6, self.model.nv))
        self.m = len(self.driven)
        self.size, self.ny = 2 * self.n + self.m, 2 * self.n
        self.scale = np.concatenate([np.full(self.n, scales.x), np.full(self.n, scales.v), np.full(self.m, scales.u)])
        self.base = neutral(self.model)

    # ------------------------------------------------------------------ recorded
    def state(self, y: Any) -> tuple[Any, Any, Dependence]:
        """Whole q (nq,) and v (nv,) of scaled states y = (x, v), and how the legs that stand depend on the others."""
        y = y * self.scale[: self.ny]
        solver = self.reduced.solver
        net, on = solver.network, solver.setting(0.0)
        q = solver.standing(net, on, self._own(y[: self.n]), self.reduced.stance)
        held = solver.held(net)
        J = contact_jacobian(net, on, q, held) if held else np.zeros((0, self.model.nv))
        dependence = Dependence.of(self.reduced.parts, J)
        return q, self.reduced.parts.whole(y[self.n :], dependence.N_D @ y[self.n :]), dependence

    def _own(self, x: Any) -> Any:
        """q_I of unscaled local coordinates x."""
        whole: Any = np.zeros(self.model.nv, dtype=object)
        whole[self.independent] = x
        return moved(self.model, self.base, whole)[self.reduced._order.q]

    def moment(self, z: Any, t: Any) -> tuple[Moment, Any]:
        """The moment, and v' (n,)."""
        z = z * self.scale
        x, v_I, u = z[: self.n], z[self.n : self.ny], z[self.ny :]
        solver = self.reduced.solver
        net, on = solver.network, solver.setting(0.0)
        tau: Any = np.zeros(self.model.nv, dtype=object)
        tau[self.driven] = u
        given = {"q": self._own(x), "v": v_I, "tau": tau, "stance": self.reduced.stance}
        q, found = solver.solved(net, on, given, no_loads)
        wrenches = solver.wrenches(net, found.f)
        feet = {c.frame: f for c, f in zip(self.reduced.contacts, wrenches, strict=True)}
        forces = {foot.name: feet[foot.frame] for foot in self.robot.feet if foot.frame in feet}
        return Moment(net, on, q, found.v, found.a, u, forces, t), found.a[self.independent]

    def coordinates_rate(self, z: Any) -> Any:
        """x' (n,) of scaled z, unscaled."""
        z = z * self.scale
        whole, rates = (np.zeros(self.model.nv, dtype=object) for _ in range(2))
        whole[self.independent], rates[self.independent] = z[: self.n], z[self.n : self.ny]
        return local_rates(self.model, whole, rates)[self.independent]

    def point(self, z: Any, t: Any, weights: Any) -> Any:
        """(x', v' scaled, cost, conditions)."""
        m, a = self.moment(z, t[0])
        rows = [np.atleast_1d(np.asarray(row.value(m), dtype=object)) for row in self.rows]
        rate = np.concatenate([self.coordinates_rate(z) / self.scales.x, a / self.scales.v])
        return np.concatenate([rate, [self.cost(m, weights)], *rows])

    # ------------------------------------------------------------------ bounds
    @cached_property
    def row_bounds(self) -> tuple[Array, Array, Array]:
        """low, high (r,) of all conditions, and the number of the row that each entry belongs to."""
        q = self.reduced.near
        z = np.zeros(self.size)
        z[: self.n] = difference(self.model, self.base, q)[self.independent] / self.scales.x
        probe, _ = self.moment(z, 0.5)
        low: list[float] = []
        high: list[float] = []
        owners: list[int] = []
        for k, row in enumerate(self.rows):
            size = np.size(row.value(probe))
            low += np.broadcast_to(np.asarray(row.low, dtype=float), (size,)).tolist()
            high += np.broadcast_to(np.asarray(row.high, dtype=float), (size,)).tolist()
            owners += [k] * size
        return np.array(low), np.array(high), np.array(owners, dtype=int)

    def swinging(self) -> list[Foot]:
        """Feet in the air."""
        stand = {c.frame for c in self.reduced.contacts}
        return [foot for foot in self.robot.feet if foot.frame not in stand]
