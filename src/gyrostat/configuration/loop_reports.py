"""What became of the closed loops of a model."""

from __future__ import annotations

from gyrostat.graph.loops.plan import loop_plan
from gyrostat.graph.loops.plan_data import LoopReport
from gyrostat.spec.check import check
from gyrostat.spec.model import Model


class LoopReports(tuple[LoopReport, ...]):
    """One :class:`LoopReport` for each loop; printed one below the other."""

    def __str__(self) -> str:
        return "\n".join(map(str, self)) or "no closed loops"

    __repr__ = __str__


def loops(model: Model) -> LoopReports:
    """Reports on all closed loops: entities, mobility, redundant equations, where each was cut, whether it is solved in
    closed form, for which unknowns, in which order, and why; :class:`LoopReport`."""
    check(model)
    if not model.wiring.tree.loops:
        return LoopReports()
    plan = loop_plan(model)
    if plan.error is not None:
        raise plan.error
    return LoopReports(plan.reports)
