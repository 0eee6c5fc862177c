"""Derivatives of torques or accelerations by masses, lengths, axes and wrenches."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from gyrostat.algorithms.algorithm import Setting
from gyrostat.algorithms.recursions.rne import Loads, sweep_forces
from gyrostat.configuration.packing import names_of
from gyrostat.engine.tracing.dual import rates_of, with_rates
from gyrostat.errors import GyrostatError
from gyrostat.graph.network import Network, network
from gyrostat.solvers.dynamics.locked_joints import free_accelerations
from gyrostat.solvers.machinery.call_signatures import of_acceleration
from gyrostat.solvers.machinery.live_properties import number_names, with_unit_rates
from gyrostat.solvers.machinery.state_solver import Array, StateSolver
from gyrostat.solvers.machinery.wrench import Application, loads
from gyrostat.spatial.gravity import gravity
from gyrostat.spec.model import Model


class ParameterDerivatives(StateSolver):
    """d tau / d properties (..., nv, m): masses, centres, inertias, lengths, axes; one column for each number of the
    paths in ``parameters``, see ``columns``. ``wrt_wrenches`` names ports whose local wrench (6,) adds six columns
    each.

    ``of="a"``: derivatives of the accelerations instead, -M^-1 dtau/dp; called with q, v, tau."""

    loops_hint = "of='tau' gives those of the tree's forces"
    name = "parameter_derivatives"
    state = ("q", "v", "a")
    __call__ = of_acceleration
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
        self.loops = "closed" if of == "tau" else "refused"
        self.result, self.inverts = f"d{of}_dp", of == "a"
        self.state = ("q", "v", "a") if of == "tau" else ("q", "v", "tau")
        paths = names_of(parameters, self.name, "parameters")
        super().__init__(model, representation, rules, paths, mode)
        ports = names_of(wrt_wrenches, self.name, "wrt_wrenches")
        if not paths and not ports:
            raise GyrostatError(f"{self.name}: nothing to differentiate by. Hint: parameters=['payload.mass']")
        self.parameters = paths
        self.ports = tuple(self.network.port(name) for name in ports)
        self.columns = number_names(self._live) + tuple(
            f"{port}.{part}" for port in self.ports for part in ("nx", "ny", "nz", "fx", "fy", "fz")
        )

    def options(self) -> dict[str, Any]:
        options = {k: v for k, v in super().options().items() if k != "live"}
        return options | {"parameters": self.parameters, "wrt_wrenches": self.ports, "of": self.of}

    def compute(self, net: Network, on: Setting, x: Mapping[str, Any], given: Loads) -> Mapping[str, Any]:
        if self.of == "tau":
            return {"dtau_dp": self._columns(net, on, x, x["a"])}
        a, factors = free_accelerations(net, on, x["q"], x["v"], x["tau"], given, self.locked)
        return {"da_dp": factors.solve(-self._columns(net, on, x, a))}

    def _columns(self, net: Network, on: Setting, x: Mapping[str, Any], a: Array) -> Array:
        """d tau / dp: one number after the other is given a unit rate."""
        q, v = x["q"], x["v"]
        values = {path: np.asarray(x.get(path, self._live[path])) for path in self.live}
        columns: list[Array] = []
        for path, there in with_unit_rates(values):
            law = gravity(self.model.context.gravity, there.pop(path) if path == "context.gravity" else None)
            changed = network(self.model, self._rules, live=there)
            columns.append(rates_of(sweep_forces(changed, Setting(on.representation, law, on.t), q, v, a)[0]))
        for port in self.ports:
            for unit in np.eye(6):
                moved = with_rates(np.zeros(6), unit)
                acting = loads(net, on, [Application(port, "local")], [moved])
                columns.append(rates_of(sweep_forces(net, on, q, v, a, acting)[0]))
        return np.stack(columns, axis=1)
