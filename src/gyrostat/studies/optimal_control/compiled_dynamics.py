"""The dynamics of points wholly in machine code: trees without contacts, whose configuration is a row of numbers.

    a = M^-1 (B u - h),   Y = da/dz = M^-1 (-dtau/dq, -dtau/dv, B)             [H04 (3.51)-(3.56)]
    w . d^2 a / dz^2 = -(S_zz + S_za Y + (S_za Y)^T),   S = d^2 (mu . tau(q, v, a)),   mu = M^-1 w

M is factorised along the tree. Second derivatives of mu . tau are sparse: none along v and u, nor along two
accelerations."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from gyrostat.algorithms.matrices.ltdl import factorise, inboard_rates
from gyrostat.algorithms.recursions.crba import composite_mass_matrix
from gyrostat.algorithms.recursions.inverse_dynamics_derivatives import rnea_derivatives
from gyrostat.algorithms.recursions.rne import sweep_forces
from gyrostat.algorithms.recursions.sensitivity import uncovered
from gyrostat.engine.tracing.record import record
from gyrostat.solvers.dynamics.locked_joints import symmetric_inverse
from gyrostat.studies.optimal_control.batch_call import LONG, batch_call
from gyrostat.studies.optimal_control.phase_space import PhaseSpace
from gyrostat.studies.optimal_control.point_dynamics import PointDynamics, Slopes

Array = np.ndarray
LARGEST = 12
"""Rates up to which products with Y are written out."""


def compilable(space: PhaseSpace) -> bool:
    """Whether :class:`CompiledDynamics` serves the phase."""
    plain = space.ny == space.n and not space.turning and not space.free.live(space.model)
    return plain and space.n <= LARGEST and not uncovered(space.net, space.on)


class CompiledDynamics(PointDynamics):
    """As :class:`PointDynamics`; ``Slopes.K`` holds M^-1."""

    whole = True

    @cached_property
    def _accelerations(self) -> Any:
        space = self.space

        def function(z: Array) -> dict[str, Any]:
            return {"a": self._solved_at(z[: space.nw])[0]}

        return batch_call(record(function, {"z": (space.nz,)}, f"{self.name}_a"), f"{self.name}_a", LONG)

    def _solved_at(self, w: Array) -> tuple[Array, Any, Array, Array]:
        """a, factors of M, q and v."""
        space, n = self.space, self.space.n
        q, v = w[:n], w[n : 2 * n]
        factors = factorise(inboard_rates(space.net), composite_mass_matrix(space.net, space.on, q))
        h = sweep_forces(space.net, space.on, q, v, np.zeros(n))[0]
        return factors.solve(space.efforts(w[2 * n :]) - h), factors, q, v

    @cached_property
    def _node(self) -> Any:
        space, n = self.space, self.space.n

        def function(z: Array) -> dict[str, Any]:
            a, factors, q, v = self._solved_at(z[: space.nw])
            dq, dv, _ = rnea_derivatives(space.net, space.on, q, v, a)
            inverse = symmetric_inverse(factors, n)
            Y: Any = np.zeros((n, space.nz), dtype=object)
            Y[...] = 0.0
            Y[:, :n], Y[:, n : 2 * n] = factors.solve(-dq), factors.solve(-dv)
            Y[:, 2 * n : space.nw] = inverse[:, list(space.controls)]
            return {"a": a, "Y": Y, "inverse": inverse}

        return batch_call(record(function, {"z": (space.nz,)}, f"{self.name}_node"), f"{self.name}_node", LONG)

    def bending(self, places: Array) -> Any:
        """H (packed lower triangle) of w . a from entries of S and Y, and of what is added at ``places`` of it."""
        nz, (i, j) = self.space.nz, self.residual.second_pattern

        def function(S: Array, Y: Array, more: Array) -> dict[str, Any]:
            full: Any = np.zeros((nz + self.space.n,) * 2, dtype=object)
            full[...] = 0.0
            full[i, j] = S
            full[j, i] = S
            mixed = full[:nz, nz:] @ Y
            H = -(full[:nz, :nz] + mixed + mixed.T)[np.tril_indices(nz)]
            H[places] = H[places] + more
            return {"H": H}

        shapes = {"S": (len(i),), "Y": (self.space.n, nz), "more": (len(places),)}
        return batch_call(record(function, shapes, f"{self.name}_bent"), f"{self.name}_bent", LONG)

    def value(self, z: Array, *data: Array) -> Array:
        return self._accelerations(z)

    def slopes(self, z: Array, *data: Array) -> Slopes:
        return Slopes(*self._node(z))

    @cached_property
    def _bent(self) -> Any:
        return self.bending(np.zeros(0, dtype=int))

    def packed_curvature(
        self, z: Array, at: Slopes, weights: Array, *data: Array, bent: Any = None, more: Array | None = None
    ) -> Array:
        """Lower triangles (k, nz (nz + 1) / 2) of second derivatives of weights . a; with ``bent`` (of :meth:`bending`)
        and ``more`` added to them."""
        mu = (at.K @ weights[..., None])[..., 0]
        S = self.residual.second(np.concatenate([z, at.y], axis=1), mu, *data)
        return (bent or self._bent)(S, at.Y, np.zeros((len(z), 0)) if more is None else more)

    def curvature(self, z: Array, at: Slopes, weights: Array, *data: Array) -> Array:
        nz = self.space.nz
        i, j = np.tril_indices(nz)
        H = np.empty((len(z), nz, nz))
        H[:, i, j] = H[:, j, i] = self.packed_curvature(z, at, weights, *data)
        return H
