"""Configurations and velocities brought to closed loops: damped least squares with limits [Levenberg 1944]."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gyrostat.algorithms.constrained.loop_numbers import LoopNumbers, loop_numbers
from gyrostat.configuration.limits import limits_of
from gyrostat.configuration.packing import coordinates, names_of, rates, together
from gyrostat.errors import LoopError, StateError, nearest
from gyrostat.graph.loops.numbers import length_rates, moved_along
from gyrostat.graph.network import Network, kept_network
from gyrostat.solvers.machinery.loop_treatment import refuse_open
from gyrostat.spec.check import expect_model
from gyrostat.spec.model import Model

Array = np.ndarray
WHO = "close"
ENOUGH, CLOSED = 1e-14, 1e-10
"""Distances [m, or of directions] at which the search ends, and below which loops count as closed."""
TURNS, LONGEST = 200, 0.3
"""Iterations, and the longest step of each: rad, or parts of the mechanism's size."""
RANK = 1e-9


def close(model: Model, q: Any, v: Any = None, keep: str | Iterable[str] = (), *, limits: Any = "model") -> Any:
    """q (..., nq) with closed loops near a given one; with ``v`` (..., nv) both (q, v), the velocity with J v = 0.

    Coordinates move by least squares, 1 rad counting as much as the size of the mechanism; velocities change least in
    the metric of the mass matrix. ``keep``: names of joints or rates that stay as they are given. ``limits``: of the
    joints ("model"), None, or (lower, upper), within which the others stay. Where loops are solved in closed form or
    there are none, q and v come back as they are.

    A :class:`LoopError` names the loop that stays open, and how far."""
    expect_model(model, WHO)
    given = coordinates(model, q, WHO)
    speeds = None if v is None else rates(model, v, WHO, "v")
    net = kept_network(model)
    kept = _kept_rates(model, names_of(keep if isinstance(keep, str) else list(keep), WHO, "keep"))
    low, high = limits_of(model, limits, WHO)
    if not net.closures:
        return np.array(given) if speeds is None else (np.array(given), np.array(speeds))
    task = Closing(net, loop_numbers(model), kept, low, high)
    if speeds is None:
        shape, (flat,) = together(WHO, q=(given, 1))
        return np.array([task.closed(row, k, shape) for k, row in enumerate(flat)]).reshape((*shape, model.nq))
    shape, (flat, flat_v) = together(WHO, q=(given, 1), v=(speeds, 1))
    closed = [task.closed(row, k, shape) for k, row in enumerate(flat)]
    moving = [task.moving(row, own, k, shape) for k, (row, own) in enumerate(zip(closed, flat_v, strict=True))]
    return np.array(closed).reshape((*shape, model.nq)), np.array(moving).reshape((*shape, model.nv))


def _kept_rates(model: Model, names: Sequence[str]) -> Array:
    """Flags (nv,) of rates that are named, themselves or by their joint."""
    flags = np.zeros(model.nv, dtype=bool)
    for name in names:
        found = [k for k, rate in enumerate(model.dofs) if rate == name or rate.startswith(f"{name}.")]
        found += [k for b in model.layout if b.entity == name for k in range(b.v.start, b.v.stop)]
        if not found:
            known = [*model.layout.entities, *model.dofs]
            raise StateError(f"{WHO}: keep names '{name}', which is no joint. Hint: {nearest(name, known)}")
        flags[found] = True
    return flags


@dataclass(frozen=True)
class Closing:
    """``kept`` (nv,): rates that do not move; ``low``, ``high`` (nq,)."""

    net: Network
    numbers: LoopNumbers
    kept: Array
    low: Array
    high: Array

    @property
    def model(self) -> Model:
        return self.net.model

    def closed(self, q: Array, number: int = 0, shape: tuple[int, ...] = ()) -> Array:
        """q (nq,) with closed loops, or a :class:`LoopError`."""
        found, gap = self._searched(q)
        if not gap <= CLOSED:
            self._refuse(found, number, shape)
        refuse_open(self.net, found, WHO)  # or turned over
        return found

    def _searched(self, q: Array) -> tuple[Array, float]:
        model = self.model
        q = self._within(np.array(q, dtype=float))
        scale = np.where(length_rates(model), self._size(), 1.0)
        g, J, _ = self.numbers(q)
        best, damping = float(np.abs(g).max(initial=0.0)), 0.0
        for _ in range(TURNS):
            if best <= ENOUGH:
                break
            step = self._step(q, g, J, scale, damping)
            new = self._within(moved_along(model, q, step))
            g_new, J_new, _ = self.numbers(new)
            if np.linalg.norm(g_new) < np.linalg.norm(g):
                q, g, J, damping = new, g_new, J_new, 0.1 * damping if damping > 1e-12 else 0.0
                best = float(np.abs(g).max(initial=0.0))
            else:
                if best <= 1e-13:
                    break  # rounding is left
                damping = max(10.0 * damping, 1e-8)
                if damping > 1e8:
                    break
        return q, best

    def _step(self, q: Array, g: Array, J: Array, scale: Array, damping: float) -> Array:
        """Least displacement (nv,) that closes the loops to first order, without those that would leave a limit."""
        moves = ~self.kept
        for _ in range(len(scale)):
            W = J * (scale * moves)
            u, s, vt = np.linalg.svd(W, full_matrices=False)
            top = float(s.max(initial=0.0))
            good = s > RANK * max(top, 1e-300)
            step = -scale * moves * (vt[good].T @ ((u.T @ g)[good] * s[good] / (s[good] ** 2 + damping * top**2)))
            longest = float(np.abs(step / scale).max(initial=0.0))
            step = step * min(1.0, LONGEST / max(longest, 1e-300))
            stopped = moves & self._leaving(q, step)
            if not stopped.any():
                return step
            moves = moves & ~stopped
        return np.zeros(len(scale))

    def _leaving(self, q: Array, step: Array) -> Array:
        """Rates (nv,) whose coordinate is at a limit, and would go beyond it."""
        flags = np.zeros(len(step), dtype=bool)
        at_q, at_v = self.model.layout.number_q, self.model.layout.number_v
        flags[at_v] = ((q[at_q] >= self.high[at_q]) & (step[at_v] > 0.0)) | (
            (q[at_q] <= self.low[at_q]) & (step[at_v] < 0.0)
        )
        return flags

    def _within(self, q: Array) -> Array:
        """q inside the limits, what is kept apart."""
        at_q, at_v = self.model.layout.number_q, self.model.layout.number_v
        free = at_q[~self.kept[at_v]]
        q[free] = np.clip(q[free], self.low[free], self.high[free])
        return q

    def _size(self) -> float:
        """A length of the mechanism [m]."""
        points = [np.linalg.norm(p) for c in self.net.components for _, p in c.places.values()]
        points += [np.linalg.norm(c["before"][1]) for c in self.net.components if "before" in c.props]
        points += [np.linalg.norm(way.place[1]) for closure in self.net.closures for way in closure.ways]
        longest = max([float(x) for x in points], default=0.0)
        return longest if longest > 0.0 else 1.0

    def _refuse(self, q: Array, number: int, shape: tuple[int, ...]) -> None:
        g, at, worst = self.numbers(q).g, 0, (-1.0, self.net.closures[0])
        for closure in self.net.closures:
            count = len(closure.equations)
            worst = max(worst, (float(np.linalg.norm(g[at : at + count])), closure), key=lambda pair: pair[0])
            at += count
        names, limited = self._held_names(q)
        held = f", while {', '.join(names)} stay(s) as given" if names else ""
        stops = f", and {', '.join(limited)} is (are) at a limit" if limited else ""
        where = f" in state {tuple(int(i) for i in np.unravel_index(number, shape))}" if shape else ""
        raise LoopError(
            f"{WHO}: the loop {worst[1].loop} of '{self.model.name}'{where} stays open by {worst[0]:.3g} (m, or of a "
            f"direction){held}{stops}. Hint: start nearer to a closed configuration such as gs.neutral(model), or keep "
            "fewer joints",
            [worst[1].loop.entities],
        )

    def _held_names(self, q: Array) -> tuple[list[str], list[str]]:
        at_q = self.model.layout.number_q
        at_limit = at_q[(q[at_q] <= self.low[at_q]) | (q[at_q] >= self.high[at_q])]
        kept = [self.model.dofs[k] for k in np.flatnonzero(self.kept)]
        return kept, [self.model.coordinates[k] for k in at_limit if self.model.coordinates[k] not in kept]

    def moving(self, q: Array, v: Array, number: int = 0, shape: tuple[int, ...] = ()) -> Array:
        """The velocity (nv,) with J v = 0 that is nearest in the metric of M, kept rates unchanged."""
        _, J, M = self.numbers(q)
        free = ~self.kept
        light = 1e-9 * float(np.diag(M).max(initial=1.0))  # for rates that move nothing by themselves
        L = np.linalg.cholesky(M[np.ix_(free, free)] + light * np.eye(int(free.sum())))
        W = np.linalg.solve(L, J[:, free].T).T
        new = np.array(v, dtype=float)
        new[free] -= np.linalg.solve(L.T, np.linalg.pinv(W, RANK) @ (J @ v))
        left = J @ new
        if np.abs(left).max(initial=0.0) > 1e-9 * max(1.0, float(np.abs(v).max(initial=0.0))):
            rows = [closure for closure in self.net.closures for _ in closure.equations]
            loop = rows[int(np.argmax(np.abs(left)))].loop
            names = ", ".join(self.model.dofs[k] for k in np.flatnonzero(self.kept))
            where = f" in state {tuple(int(i) for i in np.unravel_index(number, shape))}" if shape else ""
            raise LoopError(
                f"{WHO}: the velocities of {names}{where}, which are kept, do not go together in the loop {loop}: it "
                f"opens with {float(np.abs(left).max()):.3g} (m/s, or of a direction in 1/s). Hint: keep fewer rates",
                [loop.entities],
            )
        return new
