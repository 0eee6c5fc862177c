"""Loops solved one after the other, each for those of its dependents that are not solved yet (H04 3.2.3.2, C1.9).

A form is accepted if it closes the loop at all configurations that are tried."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Sequence as Many
from itertools import combinations

import numpy as np

from gyrostat.graph.data_flow import Network
from gyrostat.graph.loops.angle import plain
from gyrostat.graph.loops.closed_forms import Form, candidates
from gyrostat.graph.loops.plan_data import ConstantTie, Rate, Solved
from gyrostat.graph.loops.solutions import Branches, Known
from gyrostat.graph.loops.ways import Closure
from gyrostat.spatial.algebra import Array

AGREES = 1e-9
"""Residuals of a loop that is closed, and differences of ratios that are constant."""
SPREAD = 1e-2
"""How far points must be apart, in each coordinate, to tell constant ratios [rad, m]."""
BRANCH = 1e-7
"""Parts of the reach that the reference must be away from where two branches meet."""


class Sequence:
    """``points``: coordinates that components see at the reference and at the samples, with the unknowns that were
    solved so far; NaN where a form has no solution there."""

    def __init__(
        self,
        net: Network,
        closures: Many[Closure],
        rates: Many[Rate],
        reference: Array,
        samples: Many[Array],
        dependents: Iterable[Rate],
    ):
        self.net, self.closures, self.rates, self.dependents = net, closures, rates, set(dependents)
        self.number = {rate: k for k, rate in enumerate(rates)}
        moved = net.transmission
        self.points = [np.asarray(moved.coordinates(q), dtype=float) for q in (reference, *samples)]
        self.near = dict(enumerate(map(float, self.points[0])))
        self.solved: list[Solved] = []
        blocks = net.model.layout.of
        self.slots = {rate: blocks[rate[0]].q.start + rate[1] for rate in rates if not blocks[rate[0]].turns}
        self.seen = {k for closure in closures for c in closure.components for k in range(c.v_at.start, c.v_at.stop)}

    def solve(self) -> tuple[list[Solved], set[int], dict[int, str]]:
        """Loops that are solved, in order; those that are closed by others; why the rest is not solved."""
        pending, redundant, reasons = list(range(len(self.closures))), set[int](), dict[int, str]()
        progress = True
        while progress and pending:
            progress = False
            known = {rate for step in self.solved for rate in step.unknowns}
            for i in list(pending):
                unknown = [rate for rate in self._rates(i) if rate in self.dependents and rate not in known]
                if not unknown:
                    done = self._closed(i, self.points)
                    redundant |= {i} if done else set()
                else:
                    reason = self._try(i, unknown)
                    done = reason is None
                    reasons |= {} if reason is None else {i: reason}
                    known |= set(unknown) if done else set()
                if done:
                    pending.remove(i)
                    progress = True
        return self.solved, redundant, reasons

    def _rates(self, i: int) -> list[Rate]:
        """Rates that a loop depends on, by gears too."""
        moved, found = self.net.transmission, dict[Rate, None]()
        for c in self.closures[i].components:
            for k in range(c.v_at.start, c.v_at.stop):
                found |= dict.fromkeys(self.rates[number] for number, _ in moved.ties(k))
        return list(found)

    def _depends(self, i: int, unknown: Many[Rate]) -> tuple[Rate, ...]:
        """Rates that are not solved for, on which the unknowns of a loop depend."""
        before = {rate: step.depends for step in self.solved for rate in step.unknowns}
        found: dict[Rate, None] = {}
        for rate in self._rates(i):
            if rate not in unknown:
                found |= dict.fromkeys(before.get(rate, (rate,)))
        return tuple(found)

    # ------------------------------------------------------------------ one loop
    def _try(self, i: int, unknown: Many[Rate]) -> str | None:
        """Add a solution of loop i; or say why there is none."""
        names = ", ".join(self.net.model.dofs[self.number[rate]] for rate in unknown)
        if any(rate not in self.slots for rate in unknown):
            return f"{names} cannot follow: a quaternion has no closed form"
        slots = [self.slots[rate] for rate in unknown]
        for number, form in enumerate(candidates(self.closures[i], slots)):
            signs = self._accepted(i, form, slots)
            if isinstance(signs, str):
                return signs
            rows = None if signs is None else self._rows(i, unknown)
            if signs is None or rows is None:
                continue
            self.points = [self._with(x, form, signs) for x in self.points]
            depends, constant = self._depends(i, unknown), self._constant(unknown)
            self.solved.append(Solved(i, tuple(unknown), number, form.name, signs, rows, depends, constant))
            return None
        if len(unknown) > 3:
            return f"{len(unknown)} unknowns ({names}) are coupled"
        return f"no closed form for {names} in a loop closed by a {self.closures[i].kind} joint"

    def _accepted(self, i: int, form: Form, slots: Many[int]) -> tuple[float, ...] | str | None:
        """Signs of the roots of a form that closes the loop at all points; in words, why none can be chosen."""
        branches, reference = Branches(), self.points[0]
        with np.errstate(all="ignore"):
            try:
                at = form.solve(Known(lambda k: float(reference[k]), self.near), branches)
            except (ValueError, ZeroDivisionError, FloatingPointError):
                return None
        signs = tuple(branches.noted)
        if set(at) != set(slots) or not self._closed(i, [self._with(x, form, signs) for x in self.points]):
            return None
        if any(not margin > BRANCH for margin, _, _ in branches.margins):
            return "the reference is at a singular position, where the ways to assemble it meet: it chooses none"
        return signs

    def _with(self, x: Array, form: Form, signs: tuple[float, ...]) -> Array:
        """Coordinates with the unknowns of a form."""
        values = x.copy()
        with np.errstate(all="ignore"):
            for slot, value in form.solve(Known(lambda k: float(x[k]), self.near), Branches(signs)).items():
                values[slot] = float(plain(value))
        return values

    def _closed(self, i: int, points: Many[Array]) -> bool:
        """Whether a loop is closed at all points that are there, and these are several."""
        gaps = [self.closures[i].rows(x, None).g.astype(float) for x in points if np.all(np.isfinite(x))]
        return len(gaps) >= 2 and max(float(np.abs(g).max()) for g in gaps) <= AGREES

    def _rows(self, i: int, unknown: Many[Rate]) -> tuple[int, ...] | None:
        """Equations of a loop from which the rates of the unknowns follow best."""
        numbers, matrices = [self.number[rate] for rate in unknown], []
        for x in self.points:
            if np.all(np.isfinite(x)):
                J = self.closures[i].rows(x, None).J
                matrices.append(np.stack([J[k].astype(float) for k in numbers], axis=1))
        best, chosen = 1e-9, None
        for rows in combinations(range(len(matrices[0])), len(unknown)):
            sizes = sorted(abs(float(np.linalg.det(A[list(rows)]))) for A in matrices)
            typical = sizes[len(sizes) // 2]
            if typical > best * (1.0 + 1e-9):
                best, chosen = typical, rows
        return chosen

    def _constant(self, unknown: Many[Rate]) -> dict[Rate, ConstantTie] | None:
        """Ties with constant ratios, if the unknowns just solved have them: slopes of -1, 0 or 1 at all points."""
        curved = {rate for step in self.solved if step.constant is None for rate in step.unknowns}
        others = [
            rate
            for rate in self.slots
            if self.number[rate] in self.seen and (rate not in self.dependents or rate in curved)
        ]
        points = np.array([x for x in self.points if np.all(np.isfinite(x))])
        if len(points) < max(3, len(others) + 1):
            return None
        A = points[:, [self.slots[rate] for rate in others]]
        if np.any(np.ptp(A, axis=0) < SPREAD):
            return None  # the points are too close to each other to tell a constant ratio
        ties: dict[Rate, ConstantTie] = {}
        for rate in unknown:
            y = points[:, self.slots[rate]]
            factors, *_ = np.linalg.lstsq(A - A[0], y - y[0], rcond=None)
            whole = np.round(factors)
            offset = y - A @ whole
            if np.abs(whole).max(initial=0.0) > 1.0 or np.abs(offset - offset[0]).max() > AGREES:
                return None
            ties[rate] = ConstantTie(float(offset[0]), {r: float(f) for r, f in zip(others, whole, strict=True) if f})
        return ties
