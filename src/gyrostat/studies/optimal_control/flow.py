"""Rates of a phase at batches of points: e = (dxi/dt, a, rate of the cost), with total derivatives by z."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from gyrostat.configuration.model_cache import cached_on
from gyrostat.studies.optimal_control.compiled_dynamics import CompiledDynamics, compilable
from gyrostat.studies.optimal_control.phase_space import PhaseSpace
from gyrostat.studies.optimal_control.point_dynamics import PointDynamics, Slopes
from gyrostat.studies.optimal_control.point_functions import running_outputs

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Linearised:
    """e (k, ne) with B = de/dz (k, ne, nz) at points z, and what second derivatives need."""

    z: Array
    data: tuple[Array, ...]
    e: Array
    B: Array
    at: Slopes
    by_y: Array


class Flow:
    """e of a phase; ``ne`` = 2 nv + 1."""

    def __init__(self, space: PhaseSpace, cost: Callable[[Any], Any] | None):
        self.space = space
        self.dynamics = known_dynamics(space)
        self.running = running_outputs(space, cost)
        self.n, self.ne = space.n, 2 * space.n + 1

    def value(self, z: Array, *data: Array) -> tuple[Array, Array]:
        """e (k, ne) and y (k, ny)."""
        y = self.dynamics.value(z, *data)
        return self._joined(self.running.value(z, y, *data), y[:, : self.n]), y

    def slopes(self, z: Array, *data: Array) -> Linearised:
        at = self.dynamics.slopes(z, *data)
        outputs = self.running.value(z, at.y, *data)
        J, by_y = self.running.slopes(z, at, *data)
        e = self._joined(outputs, at.y[:, : self.n])
        return Linearised(z, data, e, self._joined(J, at.Y[:, : self.n]), at, by_y)

    def _joined(self, running: Array, a: Array) -> Array:
        return np.concatenate([running[:, : self.n], a, running[:, self.n :]], axis=1)

    def weights_of_y(self, x: Linearised, weights: Array) -> Array:
        """What a weighted sum of e weighs y with (k, ny)."""
        n = self.n
        own = np.concatenate([weights[:, :n], weights[:, 2 * n :]], axis=1)
        w = np.einsum("kij,ki->kj", x.by_y, own)
        w[:, :n] += weights[:, n : 2 * n]
        return w

    def curvature(self, x: Linearised, weights: Array, more: Array | None = None) -> Array:
        """Second derivatives (k, nz, nz) of weights . e, and of ``more`` . y."""
        n = self.n
        own = np.concatenate([weights[:, :n], weights[:, 2 * n :]], axis=1)
        on_y = self.weights_of_y(x, weights)
        on_y = on_y if more is None else on_y + more
        return self.running.curvature(x.z, x.at, own, *x.data) + self.dynamics.curvature(x.z, x.at, on_y, *x.data)


def known_dynamics(space: PhaseSpace) -> PointDynamics:
    """The dynamics of a phase; machine code stays with the model, where nothing is free but the points."""
    kind = CompiledDynamics if compilable(space) else PointDynamics
    if space.free.size:
        return kind(space)
    kept = cached_on(space.model).setdefault("optimal control", {})
    key = space.controls, tuple(map(repr, space.phase.contacts))
    if key not in kept:
        kept[key] = kind(space)
    return kept[key]
