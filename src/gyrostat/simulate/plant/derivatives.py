"""Derivatives of a plant: of its residual, for implicit methods, and of its right-hand side.

The Jacobian of active constraints is taken as it is at the state: Newton's method needs no more."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gyrostat.configuration.manifold import integrate
from gyrostat.solvers.functions import aba_derivatives, rnea_derivatives

if TYPE_CHECKING:
    from gyrostat.simulate.plant.plant import Plant

Array = np.ndarray
STEP = 6e-6
"""Relative step of central differences, the cube root of rounding."""


class SourceDerivatives(NamedTuple):
    """Of tau (nv,) and dp/dt (np,) along q (nv columns, on the manifold), v and p."""

    tau_q: Array
    tau_v: Array
    tau_p: Array
    p_q: Array
    p_v: Array
    p_p: Array


class PlantDerivatives:
    """Of a plant, at its active constraints."""

    def __init__(self, plant: Plant):
        self.plant = plant

    def residual_jacobians(self, t: float, q: Array, v: Array, a: Array, p: Array) -> tuple[Array, Array, Array]:
        """dr/dq (along the rates, on the manifold), dr/dv, dr/da (nv, nv) of the residual r = rnea - tau."""
        plant = self.plant
        plant.counters.jacobian_evaluations += 1
        d = rnea_derivatives(plant.moving, q, v, a, **plant.time(t))
        source, active = self.of_source(t, q, v, p), plant.active.rows(q, v)
        slopes = d.dtau_dq - source.tau_q, d.dtau_dv - source.tau_v - plant.sliding_slopes(v), d.dtau_da
        return slopes if active is None else active.residual_slopes(*slopes)

    def rhs_jacobian(self, t: float, q: Array, v: Array, p: Array) -> Array:
        """Of (v, a, dp/dt) by (q, v, p), (2 nv + np, 2 nv + np); along the rates on the manifold, where dq/dt = v."""
        plant, n = self.plant, self.plant.nv
        plant.counters.jacobian_evaluations += 1
        source = self.of_source(t, q, v, p)
        tau = plant.torque(t, q, v, p)[0] + plant.sliding_efforts(v)
        d = aba_derivatives(plant.moving, q, v, tau, **plant.time(t))
        J = np.zeros((2 * n + plant.np, 2 * n + plant.np))
        J[:n, n : 2 * n] = np.eye(n)
        J[n : 2 * n, :n] = d.da_dq + d.da_dtau @ source.tau_q
        J[n : 2 * n, n : 2 * n] = d.da_dv + d.da_dtau @ (source.tau_v + plant.sliding_slopes(v))
        J[n : 2 * n, 2 * n :] = d.da_dtau @ source.tau_p
        J[2 * n :] = np.concatenate([source.p_q, source.p_v, source.p_p], axis=1)
        active = plant.active.rows(q, v)
        if active is not None:
            J[n : 2 * n] = active.acceleration_slopes(d.da_dtau, J[n : 2 * n])
        return J

    def of_source(self, t: float, q: Array, v: Array, p: Array) -> SourceDerivatives:
        """Of the torque source: exact where it is recorded, otherwise by central differences; efforts on what active
        constraints keep have no effect."""
        plant = self.plant
        if plant.source.constant is not None:
            return SourceDerivatives(
                *(np.zeros((i, j)) for i in (plant.nv, plant.np) for j in (plant.nv, plant.nv, plant.np))
            )
        slopes = self.source_differences(t, q, v, p) if plant.law is None else self._exact(t, q, v, p)
        active = plant.active.rows(q, v)
        if active is None:
            return slopes
        N = active.projector
        return slopes._replace(tau_q=N @ slopes.tau_q, tau_v=N @ slopes.tau_v, tau_p=N @ slopes.tau_p)

    def _exact(self, t: float, q: Array, v: Array, p: Array) -> SourceDerivatives:
        plant, n, m = self.plant, self.plant.nv, self.plant.np
        shapes = [(i, j) for i in (n, m) for j in (n, n, m)]
        return SourceDerivatives(
            *(x.reshape(s) for x, s in zip(plant.machine.law_slopes(t, q, v, p), shapes, strict=True))
        )

    def source_differences(self, t: float, q: Array, v: Array, p: Array) -> SourceDerivatives:
        plant = self.plant

        def column(moved: Callable[[float], tuple[Array, Array, Array]], size: float) -> tuple[Array, Array]:
            h = STEP * max(1.0, abs(size))
            ahead, behind = plant.torque(t, *moved(h)), plant.torque(t, *moved(-h))
            return (ahead[0] - behind[0]) / (2.0 * h), (ahead[1] - behind[1]) / (2.0 * h)

        units, own = np.eye(plant.nv), np.eye(plant.np)
        along = [
            [column(lambda h, e=e: (integrate(plant.model, q, h * e), v, p), 1.0) for e in units],
            [column(lambda h, e=e: (q, v + h * e, p), float(e @ v)) for e in units],
            [column(lambda h, e=e: (q, v, p + h * e), float(e @ p)) for e in own],
        ]
        stack = lambda k, rows: [  # noqa: E731
            np.stack([c[k] for c in columns], axis=1) if columns else np.zeros((rows, 0)) for columns in along
        ]
        return SourceDerivatives(*stack(0, plant.nv), *stack(1, plant.np))
