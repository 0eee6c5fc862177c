"""Derivatives of inverse and forward dynamics on the configuration manifold, first and second order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from gyrostat.algorithms.algorithm import Setting
from gyrostat.algorithms.recursions.articulated_dynamics import forward_dynamics, sweep_articulated
from gyrostat.algorithms.recursions.inverse_dynamics_derivatives import rnea_derivatives
from gyrostat.algorithms.recursions.rne import Loads, no_loads, sweep_forces
from gyrostat.algorithms.recursions.sensitivity import uncovered
from gyrostat.configuration.packing import names_of
from gyrostat.configuration.tangent import coordinate_rates
from gyrostat.engine.tracing.dual import Dual, rates_of, with_rates
from gyrostat.errors import GyrostatError, nearest
from gyrostat.graph.network import Network, network
from gyrostat.solvers.dynamics.locked_joints import accelerations, symmetric_inverse
from gyrostat.solvers.machinery.calls import OfAcceleration, OfForce
from gyrostat.solvers.machinery.state_solver import Array, StateSolver
from gyrostat.solvers.machinery.wrench import Application, loads
from gyrostat.spatial.gravity import gravity
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


class Derivatives(StateSolver):
    """What the derivatives of inverse and forward dynamics share.

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


class InverseDynamicsDerivatives(Derivatives, OfAcceleration):
    """Derivatives of tau(q, v, a) with respect to q, v and a; a named tuple of (..., nv, nv).

    Column k of ``dtau_dq`` is the change of tau per unit of a displacement along rate k, ``integrate(q, e_k)``: for
    quaternions a turn in the frame's own axes. ``wrenches`` as in :class:`InverseDynamics`; those in the world's axes
    turn against the body, which is in the derivative. See :class:`Derivatives` for ``method``."""

    name = "rnea_derivatives"
    Result = InverseDerivatives
    takes_wrenches = True

    def compute(self, net: Network, on: Setting, x: Mapping[str, Any], given: Loads) -> Mapping[str, Any]:
        found = self.inverse_derivatives(net, on, x["q"], x["v"], x["a"], given)
        return dict(zip(InverseDerivatives._fields, found, strict=True))


class ForwardDynamicsDerivatives(Derivatives, OfForce):
    """Derivatives of a(q, v, tau) with respect to q, v and tau; a named tuple of (..., nv, nv).

    da/dtau = M^-1, da/dq = -M^-1 dtau/dq, da/dv = -M^-1 dtau/dv at the acceleration that tau gives [H04 (3.54)-(3.56)];
    M is factorised along the tree, never inverted. Otherwise like :class:`InverseDynamicsDerivatives`."""

    name = "aba_derivatives"
    Result = ForwardDerivatives
    inverts = True
    takes_wrenches = True

    def compute(self, net: Network, on: Setting, x: Mapping[str, Any], given: Loads) -> Mapping[str, Any]:
        q, v, n = x["q"], x["v"], net.model.nv
        a, factors = accelerations(net, on, q, v, x["tau"], given, self.held)
        dq, dv, _ = self.inverse_derivatives(net, on, q, v, a, given)
        return {"da_dq": factors.solve(-dq), "da_dv": factors.solve(-dv), "da_dtau": symmetric_inverse(factors, n)}


class SecondDerivatives(NamedTuple):
    """Of tau, each (..., nv, nv, nv); the first index is that of tau: d2tau_dqdq[i, j, k] is the derivative of
    dtau_dq[i, j] along q_k."""

    d2tau_dqdq: Array
    d2tau_dvdq: Array
    d2tau_dvdv: Array
    d2tau_dadq: Array


class InverseDynamicsSecondDerivatives(Derivatives, OfAcceleration):
    """Second derivatives of tau(q, v, a) on the manifold: the closed forms of the first, on numbers with a rate.

    tau is linear in a and quadratic in v, so d2tau_dada and d2tau_dadv are zero. Along quaternions the order of two
    displacements matters: d2tau_dqdq is not symmetric in its last two indices there."""

    name = "rnea_second_derivatives"
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


class ParameterDerivatives(OfAcceleration):
    """d tau / d properties (..., nv, m): masses, centres, inertias, lengths, axes; one column for each number of the
    paths in ``parameters``, see ``columns``. ``wrt_wrenches`` names ports whose local wrench (6,) adds six columns
    each.

    ``of="a"``: derivatives of the accelerations instead, -M^-1 dtau/dp; called with q, v, tau."""

    name = "parameter_derivatives"
    rate_axes = (("dtau_dp", (0,)), ("da_dp", (0,)))

    def __init__(
        self,
        model: Model,
        parameters: Sequence[str] = (),
        wrt_wrenches: Sequence[str] = (),
        of: str = "tau",
        representation: str = "body",
        rules: Iterable[str] | None = None,
        mode: str = "auto",
    ):
        if of not in ("tau", "a"):
            raise GyrostatError(f"{self.name}: of must be 'tau' or 'a', got {of!r}. Hint: of='tau'")
        self.of = of
        self.result, self.inverts = f"d{of}_dp", of == "a"
        self.state = ("q", "v", "a") if of == "tau" else ("q", "v", "tau")
        paths = names_of(parameters, self.name, "parameters")
        super().__init__(model, representation, rules, paths, mode)
        ports = names_of(wrt_wrenches, self.name, "wrt_wrenches")
        if not paths and not ports:
            raise GyrostatError(f"{self.name}: nothing to differentiate by. Hint: parameters=['payload.mass']")
        self.parameters = paths
        self.ports = tuple(self.network.port(name) for name in ports)
        self.columns = numbered(self._live) + tuple(
            f"{port}.{part}" for port in self.ports for part in ("nx", "ny", "nz", "fx", "fy", "fz")
        )

    def options(self) -> dict[str, Any]:
        kept = {k: v for k, v in super().options().items() if k != "live"}
        return kept | {"parameters": self.parameters, "wrt_wrenches": self.ports, "of": self.of}

    def compute(self, net: Network, on: Setting, x: Mapping[str, Any], given: Loads) -> Mapping[str, Any]:
        if self.of == "tau":
            return {"dtau_dp": self._columns(net, on, x, x["a"])}
        a, factors = accelerations(net, on, x["q"], x["v"], x["tau"], given, self.held)
        return {"da_dp": factors.solve(-self._columns(net, on, x, a))}

    def _columns(self, net: Network, on: Setting, x: Mapping[str, Any], a: Array) -> Array:
        """d tau / dp: one number after the other is given a unit rate."""
        q, v = x["q"], x["v"]
        values = {path: np.asarray(x.get(path, self._live[path])) for path in self.live}
        columns: list[Array] = []
        for path, there in varied(values):
            law = gravity(self.model.context.gravity, there.pop(path) if path == "context.gravity" else None)
            changed = network(self.model, self._rules, live=there)
            columns.append(rates_of(sweep_forces(changed, Setting(on.representation, law, on.t), q, v, a)[0]))
        for port in self.ports:
            for unit in np.eye(6):
                moved = with_rates(np.zeros(6), unit)
                acting = loads(net, on, [Application(port, "local")], [moved])
                columns.append(rates_of(sweep_forces(net, on, q, v, a, acting)[0]))
        return np.stack(columns, axis=1)


class DeltaAcceleration(StateSolver):
    """da (..., nv): the change of the accelerations for small changes dq (nv,), dv, dtau, without any matrix. Cost
    O(n).

    The recursive algorithm of H04 3.2.2.2 [Jain, Rodriguez 1993]: forward dynamics in three sweeps, the change of the
    forces that the true accelerations need in one more (numbers with a rate), and the articulated bodies' answer to
    it. dq is a displacement on the manifold."""

    name = "delta_acceleration"
    result = "da"
    inverts = True
    state = ("q", "v", "tau", "dq", "dv", "dtau")

    def __call__(
        self,
        q: Any,
        v: Any,
        tau: Any,
        dq: Any,
        dv: Any,
        dtau: Any,
        *,
        t: Any = None,
        out: Any = None,
        threads: int = 1,
        nonfinite: str = "raise",
    ) -> Array:
        """da for the state and its changes."""
        return self.serve((q, v, tau, dq, dv, dtau), None, t, out, threads, nonfinite)

    def compute(self, net: Network, on: Setting, x: Mapping[str, Any], given: Loads) -> Mapping[str, Any]:
        q, v = x["q"], x["v"]
        if not len(v):
            return {"da": np.zeros(0)}
        if self.held:
            a, factors = accelerations(net, on, q, v, x["tau"], given, self.held)
        else:
            a, factors = forward_dynamics(net, on, q, v, x["tau"]), None
        moved, faster = with_rates(q, coordinate_rates(net.model, q, x["dq"])), with_rates(v, x["dv"])
        needed = rates_of(sweep_forces(net, on, moved, faster, a)[0])
        if factors is not None:
            return {"da": factors.solve(x["dtau"] - needed)}
        right = np.stack([x["tau"], x["dtau"] - needed], axis=1)
        return {"da": sweep_articulated(net, on, q, v, right).a[:, 1]}


def numbered(values: Mapping[str, Array]) -> tuple[str, ...]:
    """A name for every number of live properties."""
    return tuple(
        path if value.ndim == 0 else f"{path}[{', '.join(map(str, index))}]"
        for path, value in values.items()
        for index in np.ndindex(value.shape)
    )


def varied(values: Mapping[str, Array]) -> Iterator[tuple[str, dict[str, Array]]]:
    """Live properties with a unit rate in one number, one number after the other; and whose it is."""
    for path, value in values.items():
        for index in np.ndindex(value.shape):
            changed = np.array(value, dtype=object)
            changed[index] = Dual(changed[index], 1.0)
            yield path, {**values, path: changed}
