"""Programs of loops: how they are closed, and how far those in closed form are from having no solution."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from gyrostat.algorithms.constrained.loop_dynamics import kkt_factors, loop_structure
from gyrostat.algorithms.constrained.loop_equations import loop_equations
from gyrostat.algorithms.constrained.sparse_ldl import product
from gyrostat.engine.tracing.dual import OUTER, rates_of, with_rates
from gyrostat.engine.tracing.program import Program
from gyrostat.engine.tracing.record import record
from gyrostat.graph.network import Network
from gyrostat.spatial.coordinate_rates import rates_of_coordinates

if TYPE_CHECKING:
    from gyrostat.simulate.kernels.model_kernels import ModelKernels

Array = np.ndarray
LEVEL = OUTER + 7
"""Of the rates that differentiate margins in time."""


def _shapes(kernels: ModelKernels, *names: str) -> dict[str, tuple[int, ...]]:
    sizes = {"t": 1, "q": kernels.model.nq, "v": kernels.model.nv, "live": kernels.live_size}
    return {name: (sizes[name],) for name in names}


def close(kernels: ModelKernels) -> Program:
    """d (nv,): the Newton step towards closed loops that is the shortest in the metric of the mass matrix."""

    def function(t: Array, q: Array, live: Array) -> Mapping[str, Any]:
        net, on = kernels.scene(t[0], live)
        found = loop_equations(net, q)
        x = kkt_factors(net, on, q, found.J, safe=True).solve(np.concatenate([np.zeros(net.model.nv), -found.g]))
        return {"d": x[: net.model.nv]}

    with np.errstate(all="ignore"):
        return record(function, _shapes(kernels, "t", "q", "live"), f"{kernels.model.name}_close")


def closed_rates(kernels: ModelKernels) -> Program:
    """v (nv,) without what opens loops."""

    def function(t: Array, q: Array, v: Array, live: Array) -> Mapping[str, Any]:
        net, on = kernels.scene(t[0], live)
        J = loop_equations(net, q).J
        x = kkt_factors(net, on, q, J, safe=True).solve(np.concatenate([np.zeros(len(v)), -product(J, v)]))
        return {"rates": v + x[: len(v)]}

    with np.errstate(all="ignore"):
        return record(function, _shapes(kernels, "t", "q", "v", "live"), f"{kernels.model.name}_closed_rates")


def margins(kernels: ModelKernels) -> Program:
    """Margins (k,) of the roots in closed forms, and their rates (k,)."""

    def function(t: Array, q: Array, v: Array, live: Array) -> Mapping[str, Any]:
        net, _ = kernels.scene(t[0], live)
        pace = [rates_of_coordinates(q[b.q], v[b.v], b.quaternion_at) for b in kernels.model.layout]
        moving = with_rates(q, np.concatenate(pace), LEVEL)
        return {"margin": np.array(_margins(net, q)), "rate": rates_of(np.array(_margins(net, moving)), LEVEL)}

    with np.errstate(all="ignore"):
        return record(function, _shapes(kernels, "t", "q", "v", "live"), f"{kernels.model.name}_margins")


def _margins(net: Network, q: Array) -> list[Any]:
    return [margin for _, _, own in net.transmission.loop_margins(q) for margin, *_ in own]


def margin_count(net: Network, q: Array) -> int:
    """How many roots the closed forms of a network have."""
    return len(_margins(net, q)) if net.transmission.loops is not None else 0


def loop_rows(kernels: ModelKernels) -> Program:
    """g (m,), J (m, nv) and b (m,) of all equations."""

    def function(t: Array, q: Array, v: Array, live: Array) -> Mapping[str, Any]:
        net, _ = kernels.scene(t[0], live)
        found = loop_equations(net, q, v)
        rows = list(loop_structure(net).rows)
        return {"g": found.g[rows], "J": found.J[rows], "b": found.bias[rows]}

    with np.errstate(all="ignore"):
        return record(function, _shapes(kernels, "t", "q", "v", "live"), f"{kernels.model.name}_loop_rows")
