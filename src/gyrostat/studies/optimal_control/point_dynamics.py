"""Accelerations and forces y(z) of the implicit dynamics R(z, y) = 0, and their derivatives, for batches of points.

    y = -K^-1 R(z, 0),   K = dR/dy,       Y = dy/dz = -K^-1 dR/dz,
    w . d^2 y / dz^2 = -(I, Y)^T d^2 (mu . R) (I, Y),   K^T mu = w

R is linear in y, so that nothing but R itself is ever differentiated."""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from gyrostat.engine.tracing.record import record
from gyrostat.studies.optimal_control.batch_call import batch_call
from gyrostat.studies.optimal_control.phase_space import PhaseSpace
from gyrostat.studies.optimal_control.smooth_function import SmoothFunction

Array = np.ndarray


class Slopes(NamedTuple):
    """y (k, ny), Y (k, ny, nz), K (k, ny, ny) at points."""

    y: Array
    Y: Array
    K: Array


class PointDynamics:
    """The dynamics of a phase at batches of points z (k, nz) with data ``clock`` (k, 2), ``spent`` (k, free)."""

    whole = False
    """Whether R is differentiated as a whole, however large."""

    def __init__(self, space: PhaseSpace):
        self.space = space
        self.name = f"{space.model.name}_point"

    @cached_property
    def _terms(self) -> Any:
        def function(z: Array, clock: Array, spent: Array) -> dict[str, Any]:
            R, K = self.space.terms(self.space.split(z, clock, spent))
            return {"R": R, "K": K}

        return batch_call(record(function, {"z": (self.space.nz,), **self.space.data}, f"{self.name}_terms"), self.name)

    @cached_property
    def residual(self) -> SmoothFunction:
        """R of (z, y)."""
        space = self.space

        def function(z: Array, clock: Array, spent: Array) -> Array:
            return space.residual(space.split(z[: space.nz], clock, spent), z[space.nz :])

        return SmoothFunction(function, space.nz + space.ny, space.data, f"{self.name}_residual", self.whole)

    def value(self, z: Array, *data: Array) -> Array:
        """y (k, ny)."""
        return self._solved(z, data)[0]

    def _solved(self, z: Array, data: tuple[Array, ...]) -> tuple[Array, Array]:
        R, K = self._terms(z, *data)
        return -solved(K, R[..., None])[..., 0], K

    def slopes(self, z: Array, *data: Array) -> Slopes:
        """y and its first derivatives."""
        y, K = self._solved(z, data)
        J = self.residual.jacobian(np.concatenate([z, y], axis=1), *data)
        return Slopes(y, -solved(K, J[:, :, : self.space.nz]), K)

    def curvature(self, z: Array, at: Slopes, weights: Array, *data: Array) -> Array:
        """Second derivatives (k, nz, nz) of weights . y; weights (k, ny)."""
        nz = self.space.nz
        mu = solved(at.K.swapaxes(1, 2), weights[..., None])[..., 0]
        S = self.residual.hessian(np.concatenate([z, at.y], axis=1), mu, *data, first=nz)
        mixed = S[:, :nz, nz:] @ at.Y
        return -(S[:, :nz, :nz] + mixed + mixed.swapaxes(1, 2))


def solved(K: Array, B: Array) -> Array:
    """K^-1 B for batches; nan where K is singular, which no step of a solver accepts."""
    try:
        return np.linalg.solve(K, B)
    except np.linalg.LinAlgError:
        X = np.full(B.shape, np.nan)
        for k in range(len(K)):
            try:
                X[k] = np.linalg.solve(K[k], B[k])
            except np.linalg.LinAlgError:
                continue
        return X
