"""Which rates are deflections of flexible links: no motor moves them, and nothing can prescribe them."""

from __future__ import annotations

import numpy as np

from gyrostat.spec.model import Model


def flexible_links(model: Model) -> tuple[str, ...]:
    """Names of the links with deflections, in order of the state."""
    return tuple(name for name in model.layout.entities if model.wiring.entities[name].deforms)


def deflections(model: Model) -> np.ndarray:
    """(nv,) whether each rate is that of a deflection."""
    bent = np.zeros(model.nv, dtype=bool)
    for name in flexible_links(model):
        bent[model.layout.of[name].v] = True
    return bent
