"""Why the loops of a model are not closed at a configuration, in words: which loop, which unknown, how far."""

from __future__ import annotations

import numpy as np

from gyrostat.errors import LoopError
from gyrostat.graph.data_flow import Network
from gyrostat.graph.loops.ways import Closure
from gyrostat.spatial.algebra import Array

SINGULAR = 1e-13
"""Parts of the reach within which an unknown is at a dead point."""


def refuse_unsolved(network: Network, q: Array, who: str) -> None:
    """For q (..., nq): a :class:`LoopError` if a loop in minimal coordinates has no solution, or is at a dead point."""
    ties = network.transmission.loops
    if ties is None:
        return
    for row in np.reshape(np.asarray(q, dtype=float), (-1, network.model.nq)):
        for closure, slots, margins in ties.margins(row):
            unknowns = unknown_names(network, closure, slots)
            for margin, short, unit in margins:
                if not margin > SINGULAR:
                    _refuse(network, closure, unknowns, float(margin), short(), unit, who)


def unknown_names(network: Network, closure: Closure, slots: tuple[int, ...]) -> str:
    owners = {c.name for c in closure.components for k in slots if c.q_at.start <= k < c.q_at.stop}
    return ", ".join(f"'{name}'" for name in sorted(owners))


def _refuse(
    network: Network, closure: Closure, unknowns: str, margin: float, short: float, unit: str, who: str
) -> None:
    loop = closure.loop
    if abs(margin) <= SINGULAR:
        what = (
            f"is at a dead point: {unknowns} can go either way, {abs(margin):.1g} of its reach from where no solution "
            "is left"
        )
        hint = "move the independent coordinates away from it, or choose others with independent=[...]"
    else:
        what = f"cannot be closed: {unknowns} has no solution, {short:.3g} {unit} are missing"
        hint = "the independent coordinates are outside the workspace"
    raise LoopError(f"{who}: the loop {loop} of '{network.model.name}' {what}. Hint: {hint}", [loop.entities])
