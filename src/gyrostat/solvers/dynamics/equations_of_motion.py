"""The terms of the equations of motion: D a + C v + G + Q = tau, apart and together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from gyrostat.algorithms.algorithm import Setting
from gyrostat.algorithms.matrices.body_jacobians import at_rest, weightless
from gyrostat.algorithms.matrices.coriolis_matrix import coriolis_matrix
from gyrostat.algorithms.matrices.jacobian_equations import applied_forces, coriolis_from_jacobians, gravity_forces
from gyrostat.algorithms.recursions.crba import composite_mass_matrix
from gyrostat.algorithms.recursions.rne import Loads, sweep_forces
from gyrostat.graph.network import Network, network
from gyrostat.graph.rewrite import DEFAULT
from gyrostat.solvers.machinery.state_solver import Array, StateSolver


class Terms(NamedTuple):
    """``D a + C v + G + Q = tau`` [WM15 (23)]: ``D`` and ``C`` (..., nv, nv), ``G`` and ``Q`` (..., nv); and
    ``C_skew`` with dD/dt = C_skew + C_skew^T, C_skew v = C v.

    ``Q`` balances what is given: force elements, springs, friction, external wrenches, and the motion of a base that
    moves by itself."""

    D: Array
    C: Array
    G: Array
    Q: Array
    C_skew: Array


class EquationsOfMotion(StateSolver):
    """D, C, G, Q of WM15 (24)-(27) at q (..., nq), v (..., nv), with external ``wrenches`` in Q, and a C for
    controllers.

    C is not unique; both have dD/dt = C + C^T. ``C`` is that of (25), from the bodies' Jacobians in world axes and
    their rates, about centres of mass, for the bodies as they are specified. ``C_skew`` is that of :class:`Coriolis`.
    What a base that moves by itself adds is in Q, also the part that is linear in v: ``C`` and ``G`` are those of the
    robot on a base that stands still where it is."""

    loops = "closed"
    name = "equations_of_motion"
    needs = ("inertial",)
    Result = Terms
    takes_wrenches = True
    state = ("q", "v")

    def __call__(
        self,
        q: Any,
        v: Any,
        wrenches: Any = None,
        *,
        t: Any = None,
        out: Any = None,
        threads: int = 1,
        nonfinite: str = "raise",
    ) -> Terms:
        """D, C, G, Q, C_skew for q, v."""
        return self.serve((q, v), wrenches, t, out, threads, nonfinite)

    def compute(self, net: Network, on: Setting, x: Mapping[str, Any], given: Loads) -> Mapping[str, Any]:
        q, v = x["q"], x["v"]
        single = [rule for rule in DEFAULT if rule != "merge-bodies"]
        live = {path: x[path] for path in self.live if path in x}
        whole = network(self.model, single, live=live)
        return {
            "D": composite_mass_matrix(net, on, q),
            "C": coriolis_from_jacobians(whole, on, q, v),
            "G": gravity_forces(net, on, q),
            "Q": applied_forces(net, on, q, given, v) + base_forces(net, on, q, v),
            "C_skew": coriolis_matrix(net, at_rest(net, on), q, v),
        }


def base_forces(net: Network, on: Setting, q: Array, v: Array) -> Array:
    """Generalised forces (nv,) that a base which moves by itself adds to those of the same base at rest."""
    if not net.driven:
        return np.zeros(len(v))
    moving, still = (weightless(x, on.representation) for x in (on, at_rest(net, on)))
    return sweep_forces(net, moving, q, v, np.zeros(len(v)))[0] - sweep_forces(net, still, q, v, np.zeros(len(v)))[0]
