"""Where a run begins if nothing is said: at rest in the neutral configuration, with closed loops in the reference."""

from __future__ import annotations

import numpy as np

from gyrostat.configuration.manifold import neutral
from gyrostat.graph.loops.plan import loop_plan
from gyrostat.spec.model import Model

Array = np.ndarray


def start_configuration(model: Model) -> Array:
    """q (nq,): the reference that a model with loops was assembled in, solved for; otherwise the neutral one."""
    if not model.wiring.tree.loops:
        return neutral(model)
    plan = loop_plan(model)
    if plan.error is not None:
        raise plan.error
    place = {name: k for k, name in enumerate(plan.tree.layout.coordinates)}
    return plan.reference[[place[name] for name in model.layout.coordinates]]
