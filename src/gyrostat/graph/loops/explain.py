"""Why the loops of a model are not closed at a configuration, in words: which loop, which unknown, how far."""

from __future__ import annotations

import numpy as np

from gyrostat.errors import LoopError
from gyrostat.graph.data_flow import Network
from gyrostat.graph.loops.angle import Angle
from gyrostat.graph.loops.solutions import SINGULAR
from gyrostat.graph.loops.ways import Closure
from gyrostat.spatial.algebra import Array


def refuse_unsolved(network: Network, q: Array, who: str) -> None:
    """For q (..., nq): a :class:`LoopError` if a loop in minimal coordinates has no solution, or is at a dead point."""
    if network.transmission.loops is None:
        return
    _refuse_half_turns(network, np.reshape(np.asarray(q, dtype=float), (-1, network.model.nq)), who)
    for row in np.reshape(np.asarray(q, dtype=float), (-1, network.model.nq)):
        for closure, slots, margins in network.transmission.loop_margins(row):
            unknowns = unknown_names(network, closure, slots)
            for margin, short, unit in margins:
                if not margin > SINGULAR:
                    _refuse(network, closure, unknowns, float(margin), short(), unit, who)


def _refuse_half_turns(network: Network, q: Array, who: str) -> None:
    """A :class:`LoopError` where something is connected with a dependent joint that is half a turn from its
    reference."""
    for row in q:
        with np.errstate(all="ignore"):
            moved = network.transmission.at(row)
            if not np.isfinite(_root(network, row)):
                continue  # there is no solution, which is told otherwise
            bent = [(c.name, port, s) for c in moved.elements for port, s in c.shafts.items() if not s.is_linear]
            for element, port, shaft in bent:
                x = shaft.angle(row, moved.place)
                if np.isfinite(float(x.within() if isinstance(x, Angle) else x)):
                    continue
                raise LoopError(
                    f"{who}: '{element}' is connected (by '{port}') with a joint of a closed loop of "
                    f"'{network.model.name}' that is about half a turn from its reference: how often it has turned is "
                    "not known beyond. Hint: keep that joint with independent=[...], or loops='constraints'",
                    [loop.entities for loop in network.loops],
                )


def _root(network: Network, q: Array) -> float:
    """Least of what is under the roots of closed forms; NaN or negative where loops are not closed."""
    margins = [float(m[0]) for _, _, own in network.transmission.loop_margins(q) for m in own]
    return float("nan") if any(not m > 0.0 for m in margins) else min([*margins, 1.0])


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
        have = "have" if "," in unknowns else "has"
        what = f"cannot be closed: {unknowns} {have} no solution, {short:.3g} {unit} are missing"
        hint = "the independent coordinates are outside the workspace"
    raise LoopError(f"{who}: the loop {loop} of '{network.model.name}' {what}. Hint: {hint}", [loop.entities])
