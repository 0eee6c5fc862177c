"""Derivatives of inverse and forward dynamics on the configuration manifold, first and second order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from gyrostat.algorithms.algorithm import Setting
from gyrostat.algorithms.constrained.loop_derivatives import loop_slopes, solved_columns, symmetric_response
from gyrostat.algorithms.constrained.loop_dynamics import constrained_accelerations, kkt_factors
from gyrostat.algorithms.constrained.loop_equations import loop_equations
from gyrostat.algorithms.recursions.inverse_dynamics_derivatives import rnea_derivatives
from gyrostat.algorithms.recursions.rne import Loads, no_loads, sweep_forces
from gyrostat.algorithms.recursions.sensitivity import uncovered
from gyrostat.configuration.tangent import coordinate_rates
from gyrostat.engine.tracing.dual import rates_of, with_rates
from gyrostat.errors import GyrostatError, nearest
from gyrostat.graph.network import Network
from gyrostat.solvers.dynamics.locked_joints import free_accelerations, symmetric_inverse
from gyrostat.solvers.machinery.call_signatures import of_acceleration, of_force
from gyrostat.solvers.machinery.state_solver import Array, StateSolver
from gyrostat.spec.model import Model

METHODS = ("auto", "closed-form", "forward-mode")


class InverseDerivatives(NamedTuple):
    """d tau / dq, dv, da (..., nv, nv)."""

    dtau_dq: Array
    dtau_dv: Array
    dtau_da: Array


class ForwardDerivatives(NamedTuple):
    """da / dq, dv, dtau (..., nv, nv)."""

    da_dq: Array
    da_dv: Array
    da_dtau: Array


class DerivativeSolver(StateSolver):
    """Abstract: what the derivatives of inverse and forward dynamics share.

    ``method``: ``"closed-form"`` sums along the tree [H04 (3.51)-(3.56)]; ``"forward-mode"`` the rows of Newton-Euler
    run on numbers with a rate, once for each column; ``"auto"`` the first, which needs about half the operations,
    wherever it holds: not in fields of gravity, with wrenches that do not turn with their body, or with components of
    your own that have no row for it."""

    def __init__(
        self,
        model: Model,
        method: str = "auto",
        representation: str = "body",
        rules: Iterable[str] | None = None,
        live: Sequence[str] = (),
        mode: str = "auto",
    ):
        if method not in METHODS:
            raise GyrostatError(f"{self.name}: there is no method {method!r}. Hint: {nearest(str(method), METHODS)}")
        super().__init__(model, representation, rules, live, mode)
        self.method = method
        self.reason = uncovered(self.network, self.setting(0.0))
        if method == "closed-form" and self.reason:
            raise GyrostatError(
                f"{self.name}: the closed form does not hold, {self.reason}. Hint: method='forward-mode'"
            )

    def options(self) -> dict[str, Any]:
        return super().options() | {"method": self.method}

    def inverse_derivatives(
        self, net: Network, on: Setting, q: Array, v: Array, a: Array, given: Loads
    ) -> tuple[Array, Array, Array]:
        """d tau / dq, dv, da, by the method that was chosen."""
        if self.method != "forward-mode" and not self.reason and given is no_loads:
            return rnea_derivatives(net, on, q, v, a)
        return forward_mode(net, on, q, v, a, given)


def forward_mode(net: Network, on: Setting, q: Array, v: Array, a: Array, given: Loads) -> tuple[Array, Array, Array]:
    """Column by column: Newton-Euler on numbers with a rate, of level 1: the state may carry rates of its own."""
    n = len(v)

    def column(x: Array, y: Array, z: Array) -> Array:
        return rates_of(sweep_forces(net, on, x, y, z, given)[0], 1)

    units = np.eye(n)
    dq = [column(with_rates(q, coordinate_rates(net.model, q, unit), 1), v, a) for unit in units]
    dv = [column(q, with_rates(v, unit, 1), a) for unit in units]
    da = [column(q, v, with_rates(a, unit, 1)) for unit in units]
    dq_, dv_, da_ = (np.stack(x, axis=1) if n else np.zeros((0, 0)) for x in (dq, dv, da))
    return dq_, dv_, da_


class InverseDynamicsDerivatives(DerivativeSolver):
    """Derivatives of tau(q, v, a) with respect to q, v and a; a named tuple of (..., nv, nv).

    Column k of ``dtau_dq`` is the change of tau per unit of a displacement along rate k, ``integrate(q, e_k)``: for
    quaternions a turn in the frame's own axes. ``wrenches`` as in :class:`InverseDynamics`; those in the world's axes
    turn against the body, which is in the derivative. See :class:`DerivativeSolver` for ``method``."""

    loops = "closed"
    name = "rnea_derivatives"
    state = ("q", "v", "a")
    __call__ = of_acceleration
    Result = InverseDerivatives
    takes_wrenches = True

    def compute(self, net: Network, on: Setting, x: Mapping[str, Any], given: Loads) -> Mapping[str, Any]:
        derivatives = self.inverse_derivatives(net, on, x["q"], x["v"], x["a"], given)
        return dict(zip(InverseDerivatives._fields, derivatives, strict=True))


class ForwardDynamicsDerivatives(DerivativeSolver):
    """Derivatives of a(q, v, tau) with respect to q, v and tau; a named tuple of (..., nv, nv).

    da/dtau = M^-1, da/dq = -M^-1 dtau/dq, da/dv = -M^-1 dtau/dv at the acceleration that tau gives [H04 (3.54)-(3.56)];
    M is factorised along the tree, never inverted. Otherwise like :class:`InverseDynamicsDerivatives`.

    Where loops stay constraints, the same with [[M, J^T], [J, 0]], see
    :mod:`~gyrostat.algorithms.constrained.loop_derivatives`. A column for a rate that opens a loop is the derivative of
    M a + h = tau + J^T f, J a + b = 0 at the position that is open; along displacements with J dq = 0 it is that of the
    closed robot."""

    loops = "solved"
    name = "aba_derivatives"
    state = ("q", "v", "tau")
    __call__ = of_force
    Result = ForwardDerivatives
    inverts = True
    takes_wrenches = True

    def compute(self, net: Network, on: Setting, x: Mapping[str, Any], given: Loads) -> Mapping[str, Any]:
        q, v, n = x["q"], x["v"], net.model.nv
        if net.closures:
            return self._constrained(net, on, x, given)
        a, factors = free_accelerations(net, on, q, v, x["tau"], given, self.locked)
        dq, dv, _ = self.inverse_derivatives(net, on, q, v, a, given)
        return {"da_dq": factors.solve(-dq), "da_dv": factors.solve(-dv), "da_dtau": symmetric_inverse(factors, n)}

    def _constrained(self, net: Network, on: Setting, x: Mapping[str, Any], given: Loads) -> Mapping[str, Any]:
        q, v, n = x["q"], x["v"], net.model.nv
        a, f = constrained_accelerations(net, on, q, v, x["tau"], given, way="kkt", safe=self.safe)
        factors = kkt_factors(net, on, q, loop_equations(net, q).J, self.safe)
        dq, dv, _ = self.inverse_derivatives(net, on, q, v, a, given)
        slopes = loop_slopes(net, q, v, a, f)
        return {
            "da_dq": solved_columns(factors, slopes.force_dq - dq, -slopes.acceleration_dq),
            "da_dv": solved_columns(factors, -dv, -slopes.acceleration_dv),
            "da_dtau": symmetric_response(factors, n, len(f)),
        }


class SecondDerivatives(NamedTuple):
    """Of tau, each (..., nv, nv, nv); the first index is that of tau: d2tau_dqdq[i, j, k] is the derivative of
    dtau_dq[i, j] along q_k."""

    d2tau_dqdq: Array
    d2tau_dvdq: Array
    d2tau_dvdv: Array
    d2tau_dadq: Array


class InverseDynamicsSecondDerivatives(DerivativeSolver):
    """Second derivatives of tau(q, v, a) on the manifold: the closed forms of the first, on numbers with a rate.

    tau is linear in a and quadratic in v, so d2tau_dada and d2tau_dadv are zero. Along quaternions the order of two
    displacements matters: d2tau_dqdq is not symmetric in its last two indices there."""

    loops = "closed"
    name = "rnea_second_derivatives"
    state = ("q", "v", "a")
    __call__ = of_acceleration
    Result = SecondDerivatives

    def compute(self, net: Network, on: Setting, x: Mapping[str, Any], given: Loads) -> Mapping[str, Any]:
        q, v, a = x["q"], x["v"], x["a"]
        along_q = [with_rates(q, coordinate_rates(net.model, q, unit)) for unit in np.eye(len(v))]
        with_q = [[rates_of(d) for d in self.inverse_derivatives(net, on, moved, v, a, given)] for moved in along_q]
        with_v = [
            rates_of(self.inverse_derivatives(net, on, q, with_rates(v, unit), a, given)[1]) for unit in np.eye(len(v))
        ]
        stack = lambda matrices: np.stack(matrices, axis=-1) if matrices else np.zeros((0, 0, 0))  # noqa: E731
        return {
            "d2tau_dqdq": stack([d[0] for d in with_q]),
            "d2tau_dvdq": stack([d[1] for d in with_q]),
            "d2tau_dvdv": stack(with_v),
            "d2tau_dadq": stack([d[2] for d in with_q]),
        }
