"""How solvers treat closed loops that stay constraints: each says so by its attribute ``loops``.

    "any"       the answer is that of the tree, right for any q: kinematics, energies, momenta, the mass matrix
    "closed"    the answer is about the closed robot, and q must close the loops to 1e-8
    "solved"    the same, with the forces that keep them closed: singular positions are refused too
    "refused"   the answer would be wrong, or would mean something else than its name says

Velocities and accelerations are taken as they are given: v is not asked to satisfy J v = 0, nor a to satisfy J a + b =
0 where it is given (as in AS and in Pinocchio): forward dynamics finds accelerations with J a = -dJ/dt v for any v."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gyrostat.algorithms.algorithm import Setting
from gyrostat.algorithms.constrained.loop_dynamics import cheaper_way, row_margins
from gyrostat.algorithms.constrained.loop_equations import loop_facing, loop_residual
from gyrostat.algorithms.constrained.loop_numbers import resting
from gyrostat.algorithms.constrained.loop_structure import loop_structure
from gyrostat.engine.tracing.choose import where
from gyrostat.errors import LoopError, StateError
from gyrostat.graph.loops.numbers import FACING
from gyrostat.graph.network import Network

Array = np.ndarray
OPEN = 1e-8
"""Distance [m, or of directions] from which on a loop is open."""
SINGULAR, POOR = 1e-13, 1e-6
"""Part of a row's pivot below which its loop counts as singular; below which another order of elimination is tried."""


class PivotError(LoopError):
    """The order of elimination has no pivot at a state that is not singular: another order has."""


def expect_treatment(net: Network, who: str, treatment: str, hint: str) -> None:
    """A :class:`LoopError` if a solver does not treat loops, and the network has some."""
    if not net.closures or treatment != "refused":
        return
    told = "; ".join(str(closure.loop) for closure in net.closures)
    hint = hint or "where a closed form exists, loops='auto' needs no constraints"
    raise LoopError(
        f"{who}: '{net.model.name}' has {len(net.closures)} loop(s) that stay constraints, which this solver does not "
        f"treat: {told}. Hint: {hint}; gs.loops(model) tells more",
        [closure.loop.entities for closure in net.closures],
    )


def expect_all_joints(net: Network, joints: Sequence[str], who: str) -> None:
    """A :class:`LoopError` if joints are left out, to be locked, where loops are constraints: they would stop
    others."""
    left = [name for name in net.model.layout.entities if name not in joints]
    if net.closures and left:
        raise LoopError(
            f"{who}: {', '.join(left)} would be locked, and '{net.model.name}' has loops that stay constraints. Hint: "
            "name all joints, in any order; a joint that is to be fixed is of kind 'fixed'",
            [closure.loop.entities for closure in net.closures],
        )


def expect_held(net: Network, who: str) -> None:
    """A :class:`StateError` if a rate has no inertia, and no loop tells how it moves."""
    structure = loop_structure(net)
    there = {k for pivot in structure.safe for k in (pivot if isinstance(pivot, tuple) else (pivot,))}
    missing = [net.model.dofs[k] for k in range(net.model.nv) if k not in there]
    if missing:
        raise StateError(
            f"{who}: '{missing[0]}' of '{net.model.name}' moves nothing that has inertia of its own, and no loop "
            "decides how it moves. Hint: give mass to what lies between it and the next joint, or leave that joint out"
        )


@dataclass(frozen=True)
class LoopTreatment:
    """How a solver called ``who`` treats the loops of ``net``: as the text of the module says, by a ``way`` of
    :data:`~gyrostat.algorithms.constrained.loop_dynamics.WAYS` (None: the cheaper one), in an order of elimination that
    is ``safe``, which has pivots at every position that is not singular, or not."""

    net: Network
    who: str
    kind: str
    way: str | None
    safe: bool

    @property
    def settled(self) -> bool:
        """Whether there is no other order to be tried."""
        structure, way = loop_structure(self.net), self.way or cheaper_way(self.net.model)
        return self.safe or structure.order == structure.safe or way != "kkt"

    def guards(self, net: Network, on: Setting, q: Array) -> list[Any]:
        """Numbers that are NaN where q does not close the loops, if it has to, or where they are singular; ``net``:
        with recorded properties."""
        if self.kind not in ("closed", "solved"):
            return []
        singular = pivot_guard(net, on, q, self.way, self.settled) if self.kind == "solved" else []
        return [*closed_guard(net, q), *singular]

    def examine(self, q: Array) -> None:
        """Raise what is wrong with the loops at q (..., nq), in words."""
        if self.kind in ("closed", "solved"):
            refuse_open(self.net, q, self.who)
        if self.kind == "solved":
            refuse_singular(self.net, q, self.who, self.settled)


# ------------------------------------------------------------------------------------------------ recorded
def closed_guard(net: Network, q: Array) -> list[Any]:
    """For every loop, 0 if it is closed at q, else NaN."""
    g = loop_residual(net, q)
    found: list[Any] = []
    at = 0
    for closure, cosines in zip(net.closures, loop_facing(net, q), strict=True):
        own = g[at : at + len(closure.equations)]
        at += len(own)
        square = own @ own
        found.append(where(square <= OPEN * OPEN, 0.0, np.nan))
        found += [where(x > FACING, 0.0, np.nan) for x in cosines if not (isinstance(x, float) and x > FACING)]
    return found


def pivot_guard(net: Network, on: Setting, q: Array, way: str | None, safe: bool) -> list[Any]:
    """For every row, 0 if it is independent of the others, else NaN."""
    margins = row_margins(net, on, q, way, safe)
    return [where(x > (SINGULAR if safe else POOR), 0.0, np.nan) for x in margins.values()]


# ------------------------------------------------------------------------------------------------ in words
def refuse_open(net: Network, q: Array, who: str) -> None:
    """For q (..., nq): a :class:`LoopError` that names the first loop which is open, and how far."""
    rows = np.reshape(np.asarray(q, dtype=float), (-1, net.model.nq))
    lead = np.shape(q)[:-1]
    for k, row in enumerate(rows):
        if not np.isfinite(row).all():
            continue  # that is told elsewhere, or let through
        g = np.asarray(loop_residual(net, row), dtype=float)
        at = 0
        for closure, cosines in zip(net.closures, loop_facing(net, row), strict=True):
            own = g[at : at + len(closure.equations)]
            at += len(own)
            gap = float(np.linalg.norm(own))
            if not gap <= OPEN:
                raise LoopError(
                    f"{who}: the loop {closure.loop} of '{net.model.name}' is open{state_of(k, lead)} by {gap:.3g} (m, "
                    f"or of a direction), allowed are {OPEN:g}. Hint: q = gs.close(model, q)",
                    [closure.loop.entities],
                )
            if min(map(float, cosines), default=1.0) <= FACING:
                raise LoopError(
                    f"{who}: the loop {closure.loop} of '{net.model.name}' is turned over{state_of(k, lead)}: its "
                    "frames meet, but their axes do not point the same way. Hint: q = gs.close(model, q) from nearer "
                    "to gs.neutral(model)",
                    [closure.loop.entities],
                )


def refuse_singular(net: Network, q: Array, who: str, safe: bool) -> None:
    """For q (..., nq) with closed loops: a :class:`LoopError` that names the loops at the first singular position. A
    :class:`PivotError` if only the order of elimination fails there."""
    lead = np.shape(q)[:-1]
    for k, row in enumerate(np.reshape(np.asarray(q, dtype=float), (-1, net.model.nq))):
        if not np.isfinite(row).all():
            continue
        for order in (False, True):
            with np.errstate(all="ignore"):
                margins = row_margins(net, resting(net), row, safe=order)
            poor = [number for number, x in margins.items() if not float(x) > (SINGULAR if order else POOR)]
            if not poor:
                if order and not safe:
                    raise PivotError(f"{who}: no pivot{state_of(k, lead)} although the loops are not singular")
                break
        else:
            rows = [closure for closure in net.closures for _ in closure.equations]
            named = dict.fromkeys(str(rows[i].loop) for i in poor)
            raise LoopError(
                f"{who}: '{net.model.name}' is{state_of(k, lead)} at a singular position, or within rounding of one: "
                f"the equations of {'; '.join(named)} depend on each other, so that accelerations are not determined. "
                "Hint: move away from it; where links are in line, the mechanism can go on in several ways",
                [rows[i].loop.entities for i in poor],
            )


def state_of(k: int, lead: tuple[int, ...]) -> str:
    """Which state of a batch it is."""
    return f" in state {tuple(int(i) for i in np.unravel_index(k, lead))}" if lead else ""
