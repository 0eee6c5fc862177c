"""Solvers that solve with the forces which keep loops closed."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from gyrostat.algorithms.algorithm import Setting
from gyrostat.algorithms.constrained.loop_dynamics import cheaper_way, loop_structure
from gyrostat.graph.network import Network
from gyrostat.solvers.machinery.loop_treatment import PivotError, closed_guard, pivot_guard, refuse_singular
from gyrostat.solvers.machinery.machine_call import written_class
from gyrostat.solvers.machinery.state_solver import StateSolver
from gyrostat.spec.model import Model

Array = np.ndarray


class ConstrainedSolver(StateSolver):
    """Abstract. Singular positions are refused by name. Where only the order of elimination fails, which was chosen for
    few operations, the same solver with an order that cannot fail answers instead."""

    loops = "closed"
    safe = False
    """Whether the order of elimination has pivots at every position that is not singular."""

    def loop_way(self) -> str | None:
        """Of :data:`~gyrostat.algorithms.constrained.loop_dynamics.WAYS`; None for the cheaper one."""
        return "kkt"

    @property
    def settled(self) -> bool:
        """Whether there is no other order to be tried."""
        structure = loop_structure(self.network)
        return self.safe or structure.order == structure.safe or (self.loop_way() or cheaper_way(self.model)) != "kkt"

    def loop_guards(self, net: Network, on: Setting, q: Array) -> list[Any]:
        if self.loops != "closed":
            return []
        return [*closed_guard(net, q), *pivot_guard(net, on, q, self.loop_way(), self.settled)]

    def examine_loops(self, q: Array) -> None:
        super().examine_loops(q)
        if self.loops == "closed":
            refuse_singular(self.network, q, self.name, self.settled)

    def serve(
        self,
        state: Sequence[Any],
        wrenches: Any = None,
        t: Any = None,
        out: Any = None,
        threads: int = 1,
        nonfinite: str = "raise",
    ) -> Any:
        try:
            return super().serve(state, wrenches, t, out, threads, nonfinite)
        except PivotError:
            return self._with_safe_order.serve(state, wrenches, t, out, threads, nonfinite)

    def refresh(self, model: Model) -> None:
        super().refresh(model)
        self.__dict__.pop("_with_safe_order", None)

    @cached_property
    def _with_safe_order(self) -> ConstrainedSolver:
        twin = written_class(self)(self.model, **{k: v for k, v in self.options().items() if k != "order"})
        twin = twin if self.order is None else twin.in_order(self.order)
        twin.safe = True
        return twin
