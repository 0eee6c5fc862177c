"""Loops solved one after the other, each for those of its dependents that are not solved yet (H04 3.2.3.2, C1.9).

A form is accepted if it closes the loop at all configurations that are tried."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
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

AGREES = 1e-8
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
        reasons = {i: "a wheel that rolls stays a constraint" for i, c in enumerate(self.closures) if c.rolls}
        pending, redundant = [i for i in range(len(self.closures)) if i not in reasons], set[int]()
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
            depends, constant = self._depends(i, unknown), self._constant(i, unknown, form, signs)
            self.points = [
                self._with(x, form, signs) if constant is None else self._tied(x, constant) for x in self.points
            ]
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

    def _constant(
        self, i: int, unknown: Many[Rate], form: Form, signs: tuple[float, ...]
    ) -> dict[Rate, ConstantTie] | None:
        """Ties with constant ratios, if the unknowns of loop i have them: slopes of -1, 0 or 1 at the reference, with
        which the loop is closed at all points. Those of a parallelogram go on beyond its flat position, where the
        closed form takes the other branch."""
        curved = {rate for step in self.solved if step.constant is None for rate in step.unknowns}
        others = [
            rate
            for rate in self.slots
            if self.number[rate] in self.seen and (rate not in self.dependents or rate in curved)
        ]
        points = np.array([x for x in self.points if np.all(np.isfinite(x))])
        if len(points) < 3 or np.any(np.ptp(points[:, [self.slots[rate] for rate in others]], axis=0) < SPREAD):
            return None  # the points are too close to each other to tell a constant ratio
        slopes = {rate: self._slopes(rate, unknown, form, signs) for rate in others}
        if any(not abs(x - np.round(x)) < 1e-6 or not abs(x) < 1.5 for row in slopes.values() for x in row):
            return None
        ties: dict[Rate, ConstantTie] = {}
        for k, rate in enumerate(unknown):
            factors = {r: float(np.round(row[k])) for r, row in slopes.items() if np.round(row[k])}
            offset = self.near[self.slots[rate]] - sum(f * self.near[self.slots[r]] for r, f in factors.items())
            ties[rate] = ConstantTie(offset, factors)
        return ties if self._closed(i, [self._tied(x, ties) for x in points]) else None

    def _slopes(
        self, driver: Rate, unknown: Many[Rate], form: Form, signs: tuple[float, ...], h: float = 1e-5
    ) -> list[float]:
        """Derivatives of the unknowns of a form by a coordinate at the reference: constant ties follow it, what other
        forms gave is held."""
        ends = []
        for step in (h, -h):
            x = self.points[0].copy()
            x[self.slots[driver]] += step
            for solved in self.solved:
                x = x if solved.constant is None else self._tied(x, solved.constant)
            ends.append(self._with(x, form, signs))
        return [float(ends[0][self.slots[r]] - ends[1][self.slots[r]]) / (2.0 * h) for r in unknown]

    def _tied(self, x: Array, ties: Mapping[Rate, ConstantTie]) -> Array:
        """Coordinates with the unknowns of constant ties."""
        values = x.copy()
        for rate, tie in ties.items():
            values[self.slots[rate]] = tie.offset + sum(f * x[self.slots[r]] for r, f in tie.factors.items())
        return values
