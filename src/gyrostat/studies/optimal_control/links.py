"""What joins the end of one phase to the start of another: continuity, impacts, periodicity, functions of the user.

An impact brings the contacts of the next phase to rest at once, q stays:

    M (v+ - v-) = J^T Lambda,   J v+ = 0                                             [H04 3.2.4; C2.5]"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gyrostat.algorithms.contact.frame_contact import FrameContact
from gyrostat.errors import GyrostatError
from gyrostat.studies.optimal_control.conditions import read_conditions
from gyrostat.studies.optimal_control.periodicity import Periodicity
from gyrostat.studies.optimal_control.phase_space import PhaseSpace
from gyrostat.studies.optimal_control.point import Point
from gyrostat.studies.optimal_control.smooth_function import SmoothFunction

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Link:
    """Rows of (w of the end of phase ``before``, w of the start of phase ``after``, theta, ``impulses`` more variables)
    between ``low`` and ``high``."""

    before: int
    after: int
    impulses: int
    function: SmoothFunction
    low: Array
    high: Array
    name: str


def link(
    spaces: tuple[PhaseSpace, PhaseSpace],
    numbers: tuple[int, int],
    rows: Callable[[Any, Any, Array], tuple[Array, Array, Array]],
    impulses: int,
    name: str,
) -> Link:
    """``rows(split of the end, split of the start, impulses)`` -> values and bounds."""
    a, b = spaces
    r = a.free.size
    bounds: list[tuple[Array, Array]] = []

    def function(z: Array, clock_a: Array, spent_a: Array, clock_b: Array, spent_b: Array) -> Array:
        theta = z[a.nw + b.nw : a.nw + b.nw + r]
        end = a.split(np.concatenate([z[: a.nw], theta]), clock_a, spent_a)
        start = b.split(np.concatenate([z[a.nw : a.nw + b.nw], theta]), clock_b, spent_b)
        values, low, high = rows(end, start, z[a.nw + b.nw + r :])
        bounds.append((low, high))
        return values

    data = {"clock_a": (2,), "spent_a": (r,), "clock_b": (2,), "spent_b": (r,)}
    smooth = SmoothFunction(function, a.nw + b.nw + r + impulses, data, f"{a.model.name}_{name}")
    (before, after), (low, high) = numbers, bounds[0]
    return Link(before, after, impulses, smooth, low, high, name)


def equalities(values: Array) -> tuple[Array, Array, Array]:
    return values, np.zeros(len(values)), np.zeros(len(values))


def passage(
    spaces: tuple[PhaseSpace, PhaseSpace], numbers: tuple[int, int], reset: Any, period: Periodicity | None
) -> Link:
    """How the state goes on from one phase to the next, or, with ``period``, from the last to the first."""
    a, b = spaces
    if a.n != b.n or a.model.dofs != b.model.dofs:
        raise GyrostatError(
            f"{a.who} and {b.who}: their models have other rates, so that no state goes on. Hint: reset=function of "
            "(end, start), or one model with parameters"
        )
    n, name = a.n, "periodicity" if period else "passage"
    S = np.eye(n) if period is None else period.matrix(a.model)
    kept = list(range(n)) if period is None else period.kept(a.model)
    if callable(reset):
        return _own(spaces, numbers, reset, name)
    back = np.linalg.inv(S)
    if reset == "impact":
        struck = b if period is None else mirrored_space(a, b, period)
        count = struck.ny - n

        def impact(end: Any, start: Any, impulses: Array) -> tuple[Array, Array, Array]:
            before = S @ end.xi
            after = back @ start.v  # rates after the impact, in the robot before it is mirrored
            at = end._replace(v=after)
            momentum, rest = struck.momentum_step(at, after - end.v, impulses)
            return equalities(np.concatenate([(start.xi - before)[kept], momentum, rest]))

        return link(spaces, numbers, impact, count, name)

    def smooth(end: Any, start: Any, impulses: Array) -> tuple[Array, Array, Array]:
        return equalities(np.concatenate([(start.xi - S @ end.xi)[kept], start.v - S @ end.v]))

    return link(spaces, numbers, smooth, 0, name)


def mirrored_space(a: PhaseSpace, b: PhaseSpace, period: Periodicity) -> PhaseSpace:
    """The space of phase b whose contacts are named as before the exchange."""
    names = period.partners
    contacts = [{**c, "frame": names.get(c["frame"], c["frame"])} for c in b.phase.contacts]
    return PhaseSpace(replace(b.phase, contacts=tuple(FrameContact(**c) for c in contacts)), b.number, b.free)


def _own(spaces: tuple[PhaseSpace, PhaseSpace], numbers: tuple[int, int], function: Any, name: str) -> Link:
    a, b = spaces

    def rows(end: Any, start: Any, impulses: Array) -> tuple[Array, Array, Array]:
        points = Point(a, end, None), Point(b, start, None)
        found = read_conditions(function(*points), 0.0, f"{a.who}: {name}")
        return found.values, found.low, found.high

    return link(spaces, numbers, rows, 0, name)


def own_link(spaces: tuple[PhaseSpace, PhaseSpace], numbers: tuple[int, int], function: Any) -> Link:
    """``link(first, last)`` of the user: points at the start of the first and at the end of the last phase."""
    return _own(spaces, numbers, lambda end, start: function(start, end), "link")
