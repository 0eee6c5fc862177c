"""Functions O(z, y) of points, with y(z) from the dynamics: values, total derivatives, second derivatives.

dO/dz = O_z + O_y Y,
d^2 (w . O) / dz^2 = (I, Y)^T d^2 (w . O) (I, Y) + (w . O_y) . d^2 y / dz^2"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from gyrostat.errors import GyrostatError
from gyrostat.studies.optimal_control.conditions import Conditions, read_conditions
from gyrostat.studies.optimal_control.phase_space import PhaseSpace
from gyrostat.studies.optimal_control.point import Point
from gyrostat.studies.optimal_control.point_dynamics import Slopes
from gyrostat.studies.optimal_control.smooth_function import SmoothFunction

Array = np.ndarray


class PointFunction:
    """Outputs of ``function(z, y, clock, spent)`` with derivatives along the motion."""

    def __init__(self, space: PhaseSpace, function: Callable[..., Any], name: str):
        self.space, self.name = space, name
        nz = space.nz

        def joined(z: Array, clock: Array, spent: Array) -> Any:
            return function(z[:nz], z[nz:], clock, spent)

        self.smooth = SmoothFunction(joined, nz + space.ny, space.data, f"{space.model.name}_{name}")
        self.rows = self.smooth.rows

    @cached_property
    def needs_y(self) -> bool:
        """Whether outputs depend on accelerations or forces."""
        return bool(np.any(self.smooth.first_places[:, self.space.nz :]))

    @cached_property
    def places(self) -> Array:
        """Where total derivatives may be non-zero (rows, nz)."""
        nz, own = self.space.nz, self.smooth.first_places
        through = np.any(own[:, nz:], axis=1)
        return own[:, :nz] | through[:, None]

    def value(self, z: Array, y: Array, *data: Array) -> Array:
        """(k, rows)."""
        return self.smooth.value(np.concatenate([z, y], axis=1), *data)

    def slopes(self, z: Array, at: Slopes, *data: Array) -> tuple[Array, Array]:
        """Total derivatives (k, rows, nz), and those by y (k, rows, ny)."""
        J = self.smooth.jacobian(np.concatenate([z, at.y], axis=1), *data)
        nz = self.space.nz
        by_z, by_y = J[:, :, :nz], J[:, :, nz:]
        return (by_z + by_y @ at.Y if self.needs_y else by_z), by_y

    def curvature(self, z: Array, at: Slopes, weights: Array, *data: Array) -> Array:
        """(I, Y)^T d^2 (weights . O) (I, Y), (k, nz, nz), without what y itself is bent."""
        nz = self.space.nz
        S = self.smooth.hessian(np.concatenate([z, at.y], axis=1), weights, *data)
        H = S[:, :nz, :nz]
        if not self.needs_y:
            return H
        mixed = S[:, :nz, nz:] @ at.Y
        return H + mixed + mixed.swapaxes(1, 2) + at.Y.swapaxes(1, 2) @ S[:, nz:, nz:] @ at.Y


class RecordedConditions:
    """Conditions of a user's function as a :class:`PointFunction`, with their bounds and names."""

    def __init__(self, space: PhaseSpace, function: Callable[[Point], Any], bare_high: float, name: str, plain: bool):
        found: list[Conditions] = []
        who = f"{space.who}: {name}"

        def outputs(z: Array, y: Array, clock: Array, spent: Array) -> Array:
            point = Point(space, space.split(z, clock, spent), y)
            found.append(read_conditions(_returned(function, point, who), bare_high, who))
            return found[-1].values

        self.function = PointFunction(space, outputs, name)
        self.low, self.high, self.names = found[0].low, found[0].high, found[0].names


def _returned(function: Callable[[Point], Any], point: Point, who: str) -> Any:
    try:
        return function(point)
    except GyrostatError:
        raise
    except Exception as error:
        raise GyrostatError(
            f"{who}: the function failed while it was recorded, {type(error).__name__}: {error}"
        ) from error


def running_outputs(space: PhaseSpace, cost: Callable[[Point], Any] | None) -> PointFunction:
    """(dxi/dt (nv,), rate of the cost)."""
    who = f"{space.who}: cost"

    def outputs(z: Array, y: Array, clock: Array, spent: Array) -> Array:
        split = space.split(z, clock, spent)
        rate = 0.0 if cost is None else _returned(cost, Point(space, split, y), who)  # type: ignore[arg-type]
        return np.concatenate([space.coordinate_rates(split), [_one(rate, who)]])

    return PointFunction(space, outputs, "running")


def _one(value: Any, who: str) -> Any:
    array = np.asarray(value, dtype=object)
    if array.size != 1:
        raise GyrostatError(f"{who}: the function returned {array.size} numbers, expected one. Hint: s.u @ s.u")
    return array.reshape(())[()]
