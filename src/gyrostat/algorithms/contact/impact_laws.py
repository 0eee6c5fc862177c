"""Laws of impact: impulses of all contacts at an instant, friction cones exact, energy never grows.

From velocities w- = J v- of the rows, impulses P give w+ = w- + G P, and the kinetic energy changes by P . (w- + w+)/2.

* Poisson [Pfeiffer, Glocker: Multibody Dynamics with Unilateral Contacts, 8]: compression, w_c = w- + G P_c within the
  cones; then decompression, P_n >= e P_nc, (P_n - e P_nc) w+_n = 0, with friction of its own, from w_c.
* Newton: w+_n >= -e w-_n for contacts that approach, complementary to P_n.
* Sequential: Poisson's law for the contact that approaches fastest, again and again (Newton's cradle: 0, 0, 1).

Without restitution (e = 0) an impact loses energy: P . w+ <= 0. With friction, or different e, the first two may gain:
then all e are scaled down until nothing is gained."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gyrostat.algorithms.contact.cone_driver import ConeSolver
from gyrostat.algorithms.contact.cone_layout import Array, ConeLayout, ForceSet, force_set
from gyrostat.algorithms.contact.cone_problem import ConeSolution, checked
from gyrostat.algorithms.contact.cone_rounds import solved
from gyrostat.algorithms.contact.cone_scaling import NEGLIGIBLE, scaled
from gyrostat.errors import GyrostatError, NonFiniteError, ShapeError

LAWS = ("poisson", "newton", "sequential")
ROUNDING = 1e-12
"""Energy that counts as none, relative to the sum of P w-."""
TINY = float(np.finfo(float).tiny)
HALVINGS = 20
MOST_IMPACTS = 200
"""How many single impacts a sequence has before what is left over meets without restitution."""


@dataclass(frozen=True)
class ImpactSolution:
    """Impulses ``P`` (m,), velocities of the rows after them ``w`` (m,), the energy that the impact ``gained`` [J],
    never positive but for rounding, by what the restitution was ``scaled`` (1: not at all), and the residual of the
    cones."""

    P: Array
    w: Array
    gained: float
    scaled: float
    residual: float
    converged: bool


@dataclass(frozen=True)
class _Meeting:
    """Everything that an impact is computed from; ``e`` (m,): restitution of each row, zero where it has none."""

    G: Array
    w: Array
    layout: ConeLayout
    forces: ForceSet
    e: Array
    tolerance: float

    def cones(self, c: Array, forces: ForceSet | None = None, thorough: bool = True) -> ConeSolution:
        """The cones from velocities c: in machine code, and where that does not end, if ``thorough``, by all ways."""
        forces = forces or self.forces
        found = ConeSolver.of(self.layout, forces)(self.G, c, tolerance=self.tolerance)
        if found.converged or not thorough:
            return found
        problem = scaled(self.G, c, forces)
        P, residual, count = solved(problem, found.P * problem.scale, self.tolerance)
        P = P / problem.scale
        return ConeSolution(P, self.G @ P + c, residual, count, residual <= self.tolerance)

    def result(self, P: Array, scale: float, parts: list[ConeSolution]) -> ImpactSolution:
        w = self.w + self.G @ P
        gained = float(P @ (self.w + w)) / 2
        residual = max((p.residual for p in parts), default=0.0)
        return ImpactSolution(P, w, gained, scale, residual, all(p.converged for p in parts))


def impact(
    G: Any,
    w_minus: Any,
    layout: ConeLayout,
    mu: Any,
    restitution: Any,
    law: str = "poisson",
    *,
    torsional: Any = 0.0,
    rolling: Any = 0.0,
    bounds: Any = None,
    tolerance: float = 1e-12,
) -> ImpactSolution:
    """Impulses of rows that meet with velocities ``w_minus`` (m,); G = J M^-1 J^T (m, m). ``restitution``: one for all,
    or one for each contact and then each limit, 0 to 1. Bilateral rows take part and end at rest."""
    G, w, _ = checked(G, w_minus, layout, None, "impact")
    forces = force_set(layout, mu, torsional, rolling, bounds, "impact")
    meeting = _Meeting(G, w, layout, forces, restitutions(layout, restitution), tolerance)
    if law == "sequential":
        return _sequential(meeting)
    if law not in LAWS:
        raise GyrostatError(f"impact: law {law!r} is not one of {', '.join(map(repr, LAWS))}")
    return _without_gain(meeting, _poisson if law == "poisson" else _newton)


def restitutions(layout: ConeLayout, given: Any) -> Array:
    """e (m,) of each row."""
    values, rows = np.asarray(given, dtype=float), layout.one_sided
    if values.shape not in ((), (len(rows),)):
        raise ShapeError(
            f"impact: restitution has shape {values.shape}, expected () or ({len(rows)},): contacts, then limits"
        )
    if not np.all((values >= 0.0) & (values <= 1.0)):
        raise NonFiniteError(f"impact: restitution must lie between 0 and 1, got {given}")
    e = np.zeros(layout.rows)
    e[list(rows)] = values
    return e


def _without_gain(meeting: _Meeting, law: Callable[[_Meeting, float], ImpactSolution]) -> ImpactSolution:
    """The largest scale of the restitution that gains nothing, to 20 bits."""
    full = law(meeting, 1.0)
    if _sound(meeting, full):
        return full
    low, high, best = 0.0, 1.0, law(meeting, 0.0)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        trial = law(meeting, middle)
        if _sound(meeting, trial):
            low, best = middle, trial
        else:
            high = middle
    return best


def _sound(meeting: _Meeting, found: ImpactSolution) -> bool:
    return found.converged and found.gained <= ROUNDING * float(np.abs(found.P) @ np.abs(meeting.w))


def _poisson(meeting: _Meeting, scale: float) -> ImpactSolution:
    compression = meeting.cones(meeting.w)
    returned = scale * meeting.e * compression.P
    if not returned.any():
        return meeting.result(compression.P, scale, [compression])
    discs = tuple(replace(d, base=d.ratio * float(returned[d.normal])) for d in meeting.forces.discs)
    further = replace(meeting.forces, discs=discs)
    decompression = meeting.cones(compression.u + meeting.G @ returned, further, scale == 1.0)
    return meeting.result(compression.P + returned + decompression.P, scale, [compression, decompression])


def _newton(meeting: _Meeting, scale: float) -> ImpactSolution:
    asked = scale * meeting.e * np.minimum(meeting.w, 0.0)
    cones = meeting.cones(meeting.w + asked, thorough=scale == 0.0)
    return meeting.result(cones.P, scale, [cones])


def _sequential(meeting: _Meeting) -> ImpactSolution:
    total, w, parts, scale = np.zeros(len(meeting.w)), meeting.w, list[ConeSolution](), 1.0
    rows = np.array(meeting.layout.one_sided, dtype=int)
    units = np.sqrt(np.maximum(np.diag(meeting.G), NEGLIGIBLE * np.diag(meeting.G).max(initial=0.0))) + TINY
    still = ROUNDING * float(np.abs(w / units).max(initial=0.0))
    for _ in range(MOST_IMPACTS):
        approach = (w / units)[rows]
        first = int(approach.argmin()) if len(rows) else 0
        if not len(rows) or approach[first] >= -still:
            break
        own, alone = _alone(meeting, first, w)
        single = _without_gain(alone, _poisson)
        parts.append(ConeSolution(single.P, single.w, single.residual, 0, single.converged))
        total[own] += single.P
        w, scale = meeting.w + meeting.G @ total, min(scale, single.scaled)
    else:
        scale = 0.0
    held = (w / units)[len(w) - meeting.layout.bilateral :]
    if scale == 0.0 or np.abs(held).max(initial=0.0) > still:
        smaller = np.abs(meeting.w).max() / np.abs(w).max()  # what is left is known to the rounding of what there was
        rest = replace(meeting, w=w, tolerance=min(meeting.tolerance * smaller, 1.0)).cones(w)
        total, parts = total + rest.P, [*parts, rest]
    return meeting.result(total, scale, parts)


def _alone(meeting: _Meeting, which: int, w: Array) -> tuple[Array, _Meeting]:
    """Rows of one contact or limit, with boxes and bilateral rows, and their impact: the others give no impulse."""
    layout, contacts = meeting.layout, len(meeting.layout.sizes)
    first, beside = layout.one_sided[which], sum(layout.sizes) + layout.limits
    size = layout.sizes[which] if which < contacts else 1
    rows = np.array([*range(first, first + size), *range(beside, layout.rows)])
    one = replace(layout, contacts=(size,) if which < contacts else (), limits=int(which >= contacts))
    discs = tuple(replace(d, first=d.first - first, normal=0) for d in meeting.forces.discs if d.normal == first)
    forces = replace(meeting.forces, low=meeting.forces.low[rows], high=meeting.forces.high[rows], discs=discs)
    G = meeting.G[np.ix_(rows, rows)]
    return rows, replace(meeting, G=G, w=w[rows], layout=one, forces=forces, e=meeting.e[rows])
