"""Forward dynamics: the accelerations for given generalised forces, by any algorithm of the sources."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from gyrostat.algorithms.algorithm import Setting
from gyrostat.algorithms.constrained.loop_dynamics import constrained_accelerations
from gyrostat.algorithms.forward_dynamics import FORWARD
from gyrostat.algorithms.recursions.rne import Loads
from gyrostat.configuration.packing import packed
from gyrostat.errors import LoopError
from gyrostat.graph.network import Network
from gyrostat.solvers.dynamics.inverse_dynamics import InverseDynamics
from gyrostat.solvers.dynamics.locked_joints import free_accelerations
from gyrostat.solvers.machinery.call_signatures import of_force
from gyrostat.solvers.machinery.solver_cache import cached_solver
from gyrostat.solvers.machinery.state_solver import StateSolver
from gyrostat.spec.model import Model

Array = np.ndarray

LOOP_WAYS = {"aba": None, "crba": "kkt"}
"""How algorithms solve with loops that stay constraints; None: the cheaper way."""


class ForwardDynamics(StateSolver):
    """a = M(q)^-1 (tau - C(q, v) - G(q) + J^T w).

    ``algorithm``: ``"aba"`` articulated bodies, O(n) [H04 Table 3.11]; ``"crba"`` composite bodies and L^T D L along
    the tree; ``"walker-orin"`` n + 1 inverse dynamics; ``"mrnea"`` mass matrix and bias in one pass [KV (4)-(36)];
    ``"newton-euler"`` every row by itself [G13 (12)]; ``"operators"`` D, C, G, Q from stacked Jacobians [WM15
    (23)-(27)]. All give the same numbers; ``explain()`` tells their operations.

    Where loops stay constraints: M a + C + G = tau + J^T (w, f) with the forces f that keep them closed, J a + dJ/dt v
    = 0, and q must be closed. ``"aba"`` then takes the cheaper of the sparse [[M, J^T], [J, 0]] and articulated bodies,
    ``"crba"`` the first; the others are refused. :meth:`multipliers` gives f.

    Called with q (..., nq), v and tau (..., nv) [N m, N]; returns a (..., nv) in the order of ``model.dofs``. The other
    arguments are those of :class:`InverseDynamics`."""

    loops = "solved"
    name = "aba"
    state = ("q", "v", "tau")
    __call__ = of_force
    result = "a"
    inverts = True
    takes_wrenches = True
    algorithms = tuple(FORWARD)

    def __init__(
        self,
        model: Model,
        algorithm: str = "aba",
        representation: str = "body",
        rules: Iterable[str] | None = None,
        live: Sequence[str] = (),
        mode: str = "auto",
    ):
        super().__init__(model, representation, rules, live, mode, algorithm)
        if self.network.closures and self.algorithm not in LOOP_WAYS:
            raise LoopError(
                f"{self.name}: algorithm='{self.algorithm}' knows no loops that stay constraints, and '{model.name}' "
                f"has some. Hint: {' or '.join(map(repr, LOOP_WAYS))}",
                [closure.loop.entities for closure in self.network.closures],
            )
        self.loop_way = LOOP_WAYS.get(self.algorithm)

    def compute(self, net: Network, on: Setting, x: Mapping[str, Any], given: Loads) -> Mapping[str, Any]:
        if net.closures:
            state = x["q"], x["v"], x["tau"]
            return {"a": constrained_accelerations(net, on, *state, given, way=self.loop_way, safe=self.safe).a}
        if self.locked:
            return {"a": free_accelerations(net, on, x["q"], x["v"], x["tau"], given, self.locked)[0]}
        return {"a": FORWARD[self.algorithm](net, on, x["q"], x["v"], x["tau"], given)}

    # ------------------------------------------------------------------ forces in loops
    def multipliers(self, q: Any, v: Any, tau: Any, wrenches: Any = None, *, t: Any = None) -> Array:
        """f (..., m) [N, N m] of the loops that stay constraints, M a + h = tau + J^T f: one for each equation, loop by
        loop in the order of ``network.closures``; zero for equations that say nothing new."""
        if not self.network.closures:
            raise LoopError(f"{self.name}: '{self.model.name}' has no loops that stay constraints, so no multipliers")
        return cached_solver(self.model, LoopMultipliers)(q, v, tau, wrenches, t=t)

    def port_forces(
        self,
        q: Any,
        v: Any,
        tau: Any,
        wrenches: Any = None,
        *,
        t: Any = None,
        ports: Iterable[str] | None = None,
    ) -> dict[str, Array]:
        """Spatial forces (..., 6) at ports while tau acts, see :meth:`InverseDynamics.port_forces`."""
        inverse = cached_solver(self.model, InverseDynamics, representation="body")
        plan = self.model.layout.plan
        if plan is not None and plan.solved:
            a, forces = self(q, v, tau, wrenches, t=t), packed(self.model, tau, "tau", self.name)
            return inverse.solved_port_forces(plan.tree, q, v, a, wrenches, t, ports, forces)
        f = self.multipliers(q, v, tau, wrenches, t=t) if self.network.closures else None
        return inverse.port_forces(q, v, self(q, v, tau, wrenches, t=t), wrenches, t=t, ports=ports, multipliers=f)


class LoopMultipliers(StateSolver):
    """Forces (..., m) that keep loops closed, see :meth:`ForwardDynamics.multipliers`."""

    loops = "solved"
    name = "multipliers"
    state = ("q", "v", "tau")
    __call__ = of_force
    result = "multipliers"
    inverts = True
    takes_wrenches = True
    rate_axes = (("multipliers", ()),)

    def compute(self, net: Network, on: Setting, x: Mapping[str, Any], given: Loads) -> Mapping[str, Any]:
        motion = constrained_accelerations(net, on, x["q"], x["v"], x["tau"], given, way="kkt", safe=self.safe)
        return {"multipliers": motion.multipliers}
