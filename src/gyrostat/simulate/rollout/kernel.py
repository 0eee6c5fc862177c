"""Machine code of a rollout: kernels of the model and of what drives it, for one lane or W.

Kernels and formulas are those of ``gs.simulate``; the steps are :mod:`~gyrostat.simulate.rollout.lane_steps`, those
with contacts :mod:`~gyrostat.simulate.rollout.moreau_steps`."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from gyrostat.algorithms.matrices.singular_inertia import expect_inertia
from gyrostat.configuration.manifold import neutral
from gyrostat.configuration.model_cache import cached_on
from gyrostat.engine.drivers.kernel_code import KernelCode
from gyrostat.errors import LoopError, StateError
from gyrostat.graph.network import kept_network
from gyrostat.simulate.kernels import environment as at
from gyrostat.simulate.kernels.law_kernels import shared_code
from gyrostat.simulate.kernels.loop_programs import margin_count
from gyrostat.simulate.kernels.model_kernels import ModelKernels, kept_kernels
from gyrostat.simulate.methods.rk4 import ClassicalRungeKutta
from gyrostat.simulate.rollout.control_law import WHO, Law
from gyrostat.simulate.rollout.moreau_model import moreau_programs
from gyrostat.simulate.rollout.source import RolloutSource, Shapes
from gyrostat.simulate.rollout.wrenches import RolloutWrenches
from gyrostat.spec.context import MovingBase
from gyrostat.spec.model import Model

Array = np.ndarray
METHODS = {"rk4": ClassicalRungeKutta.table, "semi-implicit": None, "moreau": None}
"""Tables of the explicit methods; semi-implicit Euler and steps with contacts have none."""


class RolloutKernel:
    """A model with one method, law and wrenches; ``live``: shapes of properties that are inputs, by path."""

    def __init__(self, model: Model, method: str, law: Law | None, live: Shapes, wrenches: RolloutWrenches):
        if isinstance(model.context.base, MovingBase):
            raise StateError(
                f"{WHO}: the base of '{model.name}' moves by a Python function, which cannot be compiled. "
                "Hint: gs.HarmonicMotion can; gs.simulate takes any function"
            )
        self.model, self.method, self.law, self.wrenches = model, method, law, wrenches
        self.table = METHODS[method]
        self.stages = 0 if self.table is None else self.table.stages - 1
        self.source = RolloutSource(model, law, wrenches, live).looked_at()
        self.kernels = _of_model(model, live)
        self.contact = moreau_programs(model, self.kernels) if method == "moreau" else None

    @cached_property
    def margins(self) -> int:
        """Roots in the closed forms of loops."""
        return margin_count(kept_network(self.model), neutral(self.model))

    @cached_property
    def impulses(self) -> int:
        """Rows of contacts and stops, whose impulses robots carry along."""
        return 0 if self.contact is None else self.contact.pattern.rows

    @property
    def solution(self) -> int:
        """Impulses of a step in its record: those, the ones that correct depth, and what a start owes of it."""
        return 0 if self.contact is None else self.impulses + len(self.contact.pattern.cones) + 1

    @cached_property
    def m0(self) -> Array:
        """What a robot remembers at the start: digital parts; impulses, what is left of the depth of its start,
        residual, and steps that did not converge."""
        more = 0 if self.contact is None else self.impulses + 3
        return np.concatenate([self.source.m0, np.zeros(more)])

    @property
    def plain(self) -> bool:
        return self.model.nq == self.model.nv

    @property
    def record(self) -> int:
        """Columns of the record of a step."""
        n, nq, stages = 2 * self.model.nv + len(self.source.p0), self.model.nq, max(1, self.stages)
        return stages * (2 * n + nq) + n + nq + 2 * len(self.m0) + self.solution

    @property
    def operations(self) -> int:
        """In one step."""
        law = len(self.source.lifted.program.nodes)
        if self.contact is not None:
            return law + self.contact.operations
        each = len(self.kernels.forward.nodes) + law + 8 * self.model.nv
        return max(1, self.stages) * each

    @cached_property
    def weights(self) -> Array:
        """The table as steps read it: a (S, S), b (S,), c (S,)."""
        if self.table is None:
            return np.zeros(1)
        s = self.stages
        rows = np.zeros((s + 2, s))
        for i, row in enumerate(self.table.a, start=1):
            rows[i, : len(row)] = row
        rows[s + 1] = self.table.c[:s]
        return rows.ravel()

    def codes(self, lanes: int) -> dict[int, KernelCode]:
        """Kernels by the words of the environment."""
        named = {at.FORWARD: "forward"} | ({} if self.plain else {at.CHART: "chart", at.RETRACT: "retract"})
        if self.contact is not None:
            named = {} if self.plain else {at.RETRACT: "retract"}
        elif self.stages:
            named.pop(at.RETRACT, None)
        else:
            named.pop(at.CHART, None)
        if self.margins:
            named[at.MARGINS] = "margins"
        codes = {word: self.kernels.code(name, lanes) for word, name in named.items()}
        codes[at.LAW] = shared_code(self.source.lifted.program, lanes)
        if self.source.update is not None:
            codes[at.UPDATE] = shared_code(self.source.update.program, lanes)
        return codes


def _of_model(model: Model, live: Shapes) -> ModelKernels:
    """Kernels of the model, which must have something to move, and a regular inertia."""
    if not model.nv:
        raise StateError(f"{WHO}: nothing in '{model.name}' can move. Hint: it has no joints with coordinates")
    net, kept = kept_network(model), cached_on(model)
    if net.closures:
        told = "; ".join(str(closure.loop) for closure in net.closures)
        raise LoopError(
            f"{WHO}: '{model.name}' has {len(net.closures)} loop(s) that are constraints, and the lanes of a rollout "
            f"do not project: {told}. Hint: loops='auto' or 'minimal', where they have closed forms; or "
            "gs.simulate(..., q0=(N, nq), threads=...), which does",
            [closure.loop.entities for closure in net.closures],
        )
    if "regular inertia" not in kept:
        expect_inertia(net, neutral(model), WHO)
        kept["regular inertia"] = True
    return kept_kernels(model, model, net, live)
