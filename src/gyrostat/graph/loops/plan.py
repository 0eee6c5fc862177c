"""The plan of a model with closed loops: how they are assembled, which coordinates are kept, which loop is solved for
what, in which order, and what is left to constraints (H04 3.2.3.1, C1.9).

It is made on numbers, once for a model: the reference configuration is closed, the rank of the equations is found at
configurations around it, and closed forms are accepted if they close the loops there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np

from gyrostat.errors import LoopError, SpecError
from gyrostat.graph.loops.angle import plain
from gyrostat.graph.loops.closed_forms import Branches, Form, Known, candidates
from gyrostat.graph.loops.numbers import LoopNumbers, close, length_rates, moved_along
from gyrostat.graph.loops.plan_data import ConstantTie, LoopPlan, LoopReport, Rate, Solved
from gyrostat.graph.loops.ways import closures
from gyrostat.graph.network import network
from gyrostat.spatial.algebra import Array
from gyrostat.spec.model import Model

SAMPLES = 5
RANK = 1e-7
"""Singular values below this part of the largest one are zero."""
AGREES = 1e-9
BRANCH = 1e-7
"""Parts of the reach that the reference must be away from where two branches meet."""



class _Plans(dict[str, LoopPlan]):
    """The plan that stays with a model object; a copy or pickle of the model begins without."""

    def __reduce__(self) -> tuple[Any, ...]:
        return _Plans, ()


def loop_plan(model: Model) -> LoopPlan:
    """The plan of a model with loops, made once for a model object. A mistake in the model, or loops that cannot be
    assembled, are told in ``error``: then the coordinates are those of the tree."""
    plans = model.__dict__.setdefault("_loop_plan", _Plans())
    if "plan" not in plans:
        plans["plan"] = _plan(model)
    return plans["plan"]


def _plan(model: Model) -> LoopPlan:
    tree = tree_of(model)
    try:
        return _Planner(model, tree).plan()
    except SpecError as error:  # mistakes that ``check`` tells
        return LoopPlan(tree, np.zeros(0), error=error)
    except LoopError as error:
        return LoopPlan(tree, np.zeros(0), error=error)


def tree_of(model: Model) -> Model:
    """The model itself with the coordinates of its whole tree."""
    if model.context.loops in ("constraints", "maximal"):
        return model
    context = model.context.model_copy(update={"loops": "constraints"})
    return replace(model, context=context)


# ------------------------------------------------------------------------------------------------ planning
class _Planner:
    def __init__(self, model: Model, tree: Model):
        self.model, self.tree = model, tree
        self.net = network(tree)
        self.closures = closures(self.net)
        self.numbers = LoopNumbers(self.net, self.closures)
        self.rates: list[Rate] = [(b.entity, k) for b in tree.layout for k in range(b.nv)]
        self.number = {rate: k for k, rate in enumerate(self.rates)}
        self.random = np.random.default_rng(20)

    def plan(self) -> LoopPlan:
        reference = self._assembled()
        samples = self._samples(reference)
        at = [self.numbers.jacobian(q)[1] for q in (*samples, reference)]
        rank = max(_rank(J) for J in at)
        J = next(J for J in at if _rank(J) == rank)
        present = [k for k in range(J.shape[1]) if np.abs(J[:, k]).max(initial=0.0) > 0.0]
        dependents = self._dependents(at, present, rank)
        independent = tuple(self.rates[k] for k in present if self.rates[k] not in dependents)
        moved = self.net.transmission
        every = np.asarray(moved.coordinates(reference), dtype=float)
        near = {name: tuple(map(float, every[at])) for name, (at, _) in moved.slices.items()}
        free = len(present) - rank
        base = LoopPlan(self.tree, reference, tuple(samples), mobility=free, independent=independent, near=near)
        treatment = self.model.context.loops
        if treatment in ("constraints", "maximal"):
            return self._reported(replace(base, constrained=tuple(range(len(self.closures)))), at[0], {})
        solved, redundant, reasons = _Sequence(self, reference, samples, dependents).solve()
        done = {step.loop for step in solved} | redundant
        left = tuple(i for i in range(len(self.closures)) if i not in done)
        if treatment == "minimal" and left:
            told = "; ".join(f"{self.closures[i].loop}: {reasons[i]}" for i in left)
            raise LoopError(
                f"'{self.model.name}': loops='minimal', but {len(left)} loop(s) have no closed form: {told}. "
                "Hint: loops='auto' or 'constraints', or choose other coordinates with independent=[...]",
                [self.closures[i].loop.entities for i in left],
            )
        unknowns = tuple(rate for step in solved for rate in step.unknowns)
        planned = replace(base, dependents=unknowns, solved=tuple(solved), constrained=left)
        return self._reported(planned, at[0], reasons)

    # -------------------------------------------------------------------- configurations
    def _start(self) -> tuple[Array, Array]:
        """The reference as it is given, and how readily each coordinate moves: given ones less, those that are kept
        hardly."""
        kept = {*self.model.context.independent, *self.actuated()}
        q = np.zeros(self.tree.nq)
        mobility = np.ones(self.tree.nv)
        for block in self.tree.layout:
            if block.turns:
                q[block.quaternion.stop - 1] = 1.0
            given = self.model.context.reference.get(block.entity)
            if given is not None and len(given) == block.nq:
                q[block.q] = given
                mobility[block.v] = 1e-5 if block.entity in kept else 1e-2
            if block.turns:
                q[block.quaternion] /= np.linalg.norm(q[block.quaternion])
        return q, mobility

    def _assembled(self) -> Array:
        """The reference configuration, closed."""
        start, mobility = self._start()
        size = self.numbers.size(start)
        allowed = 1e-10 * size
        q, error = close(self.numbers, start, mobility, size)
        best = error, q
        for attempt in range(24):
            if best[0] <= allowed:
                return best[1]
            spread = 0.05 * 1.2**attempt * mobility if attempt < 16 else 1.5 * np.ones_like(mobility)
            q = moved_along(self.tree, start, spread * self.random.standard_normal(self.tree.nv))
            q, error = close(self.numbers, q, mobility, size)
            best = min(best, (error, q), key=lambda pair: pair[0])
        if best[0] <= allowed:
            return best[1]
        open_by = [float(np.abs(g).max(initial=0.0)) for g in self.numbers.residuals(best[1])]
        worst = int(np.argmax(open_by))
        raise LoopError(
            f"'{self.model.name}' cannot be assembled: the loop {self.closures[worst].loop} stays open by "
            f"{open_by[worst]:.3g} (m, or of a direction) however its joints are moved. Hint: check lengths and axes in it, "
            "or give reference={joint: value} nearer to a configuration in which it is closed",
            [self.closures[worst].loop.entities],
        )

    def _samples(self, reference: Array) -> list[Array]:
        """Closed configurations around the reference."""
        size, found = self.numbers.size(reference), []
        scale = np.where(length_rates(self.tree), size, 1.0)
        for k in range(SAMPLES * 4):
            spread = (0.3, 0.1, 0.03, 0.01)[k % 4]
            start = moved_along(self.tree, reference, spread * scale * self.random.standard_normal(self.tree.nv))
            q, error = close(self.numbers, start, np.ones(self.tree.nv), size)
            if error <= 1e-10 * size:
                found.append(q)
            if len(found) == SAMPLES:
                break
        return found

    # -------------------------------------------------------------------- which coordinates are kept
    def actuated(self) -> set[str]:
        """Joints of the loops that something drives, or that are said to be actuated."""
        driven = driven_joints(self.tree)
        return {
            name
            for name, entity in self.tree.wiring.entities.items()
            if entity.said_passive is False or (name in driven and entity.said_passive is None)
        }

    def _dependents(self, at: Sequence[Array], present: Sequence[int], rank: int) -> list[Rate]:
        """As many rates as the equations determine: passive ones first, far from the base first, then those late in the
        alphabet; the order of the file does not count."""
        actuated, wanted = self.actuated(), set(self.model.context.independent)

        depth = _depths(self.tree)

        def reluctance(k: int) -> tuple[int, int]:
            name = self.rates[k][0]
            kind = 2 if name in wanted else 1 if name in actuated else 0
            return kind, -depth[name]

        chosen: list[int] = []
        by_name = sorted(present, key=self.rates.__getitem__, reverse=True)
        for k in sorted(by_name, key=reluctance):
            if len(chosen) == rank:
                break
            if self.rates[k][0] in wanted:
                break
            trial = [*chosen, k]
            if max(_least(J[:, trial]) for J in at) > 1e-6:
                chosen.append(k)
        if len(chosen) < rank:
            kept = ", ".join(sorted(wanted))
            free = len(present) - rank
            raise LoopError(
                f"'{self.model.name}': independent=[{kept}] cannot all be kept: the loops leave {free} degree(s) of "
                f"freedom to their {len(present)} rates. Hint: keep as many as are left",
                [closure.loop.entities for closure in self.closures],
            )
        if wanted and (more := [k for k in present if k not in chosen and self.rates[k][0] not in wanted]):
            names = ", ".join(sorted({self.rates[k][0] for k in more}))
            raise LoopError(
                f"'{self.model.name}': independent={sorted(wanted)} is too few: the loops leave {len(present) - rank} "
                f"degree(s) of freedom. Hint: keep also {names}",
                [closure.loop.entities for closure in self.closures],
            )
        return [self.rates[k] for k in chosen]

    # -------------------------------------------------------------------- reports
    def _reported(self, plan: LoopPlan, J: Array, reasons: Mapping[int, str]) -> LoopPlan:
        reports: list[LoopReport] = []
        steps = {step.loop: (order, step) for order, step in enumerate(plan.solved, 1)}
        start = 0
        for i, closure in enumerate(self.closures):
            count = len(closure.equations)
            own = J[start : start + count]
            start += count
            rank = _rank(own)
            present = int(np.count_nonzero(np.abs(own).max(axis=0, initial=0.0)))
            data = closure.loop.entities, closure.loop.cut, closure.loop.closer, count, count - rank, present - rank
            if i in steps:
                order, step = steps[i]
                treatment = "constant tie" if step.constant is not None else "closed form"
                why = {"constant tie": "a parallelogram: angles follow with constant ratios"}.get(treatment, step.name)
                names = tuple(self._name(rate) for rate in step.unknowns)
                reports.append(LoopReport(*data, treatment, names, order, why))
            elif i in plan.constrained:
                reports.append(LoopReport(*data, "constraints", why=reasons.get(i, "loops='constraints'")))
            else:
                reports.append(LoopReport(*data, "redundant", why="closed whenever the others are"))
        return replace(plan, reports=tuple(reports))

    def _name(self, rate: Rate) -> str:
        return self.tree.dofs[self.number[rate]]


def _depths(model: Model) -> dict[str, int]:
    """How far each entity is from the reference frame, along the tree."""
    depth: dict[str, int] = {}
    for name, parent in model.wiring.tree.parent.items():  # parents first
        depth[name] = 0 if name == parent else depth[parent] + 1
    return depth


def driven_joints(model: Model) -> set[str]:
    """Entities on shafts that a motor or a rotor is connected with."""
    wiring = model.wiring
    drives = [name for name, e in wiring.entities.items() if e.drives or e.rotor_shaft is not None]
    return set(wiring.joined(drives, ["scalar"]))


def _rank(J: Array) -> int:
    s = np.linalg.svd(J, compute_uv=False)
    return int(np.count_nonzero(s > RANK * max(float(s.max(initial=0.0)), 1e-300)))


def _least(J: Array) -> float:
    """How independent columns are: the least singular value of the columns at unit length."""
    lengths = np.linalg.norm(J, axis=0)
    if (lengths < 1e-12).any() or J.shape[1] > J.shape[0]:
        return 0.0
    return float(np.linalg.svd(J / lengths, compute_uv=False).min())


# ------------------------------------------------------------------------------------------------ the sequence
class _Sequence:
    """Loops one after the other, each for those of the dependents in it that are not solved yet."""

    def __init__(self, planner: _Planner, reference: Array, samples: Sequence[Array], dependents: Iterable[Rate]):
        self.planner, self.dependents = planner, set(dependents)
        moved = planner.net.transmission
        self.near = np.asarray(moved.coordinates(reference), dtype=float)
        self.samples = [np.asarray(moved.coordinates(q), dtype=float) for q in samples]
        self.solved: list[Solved] = []
        self.forms: list[tuple[Form, tuple[float, ...]]] = []
        self.slots = {
            rate: planner.tree.layout.of[rate[0]].q.start + rate[1]
            for rate in self.dependents
            if not planner.tree.layout.of[rate[0]].turns
        }

    def solve(self) -> tuple[list[Solved], set[int], dict[int, str]]:
        pending, redundant, reasons = list(range(len(self.planner.closures))), set[int](), dict[int, str]()
        progress = True
        while progress and pending:
            progress = False
            for i in list(pending):
                known = {rate for step in self.solved for rate in step.unknowns}
                unknown = [rate for rate in self._in_loop(i) if rate not in known]
                if not unknown:
                    if self._closed(i):
                        redundant.add(i)
                        pending.remove(i)
                        progress = True
                    continue
                reason = self._try(i, unknown)
                if reason is None:
                    pending.remove(i)
                    progress = True
                else:
                    reasons[i] = reason
        return self.solved, redundant, reasons

    def _in_loop(self, i: int) -> list[Rate]:
        """Dependents that a loop depends on, by gears too."""
        moved, rates = self.planner.net.transmission, dict[Rate, None]()
        for c in self.planner.closures[i].components:
            for k in range(c.v_at.start, c.v_at.stop):
                for number, _ in moved.ties(k):
                    if self.planner.rates[number] in self.dependents:
                        rates[self.planner.rates[number]] = None
        return list(rates)

    def _depends(self, i: int, unknown: Sequence[Rate]) -> tuple[Rate, ...]:
        """Rates that are not solved for, on which the unknowns of a loop depend."""
        moved, before = self.planner.net.transmission, {r: s.depends for s in self.solved for r in s.unknowns}
        rates: dict[Rate, None] = {}
        for c in self.planner.closures[i].components:
            for k in range(c.v_at.start, c.v_at.stop):
                for number, _ in moved.ties(k):
                    rate = self.planner.rates[number]
                    if rate not in unknown:
                        rates |= dict.fromkeys(before.get(rate, (rate,)))
        return tuple(rates)

    def _try(self, i: int, unknown: Sequence[Rate]) -> str | None:
        """Add a solution of loop i; or say why there is none."""
        names = ", ".join(self.planner._name(rate) for rate in unknown)
        if any(rate not in self.slots for rate in unknown):
            return f"{names} cannot follow: a quaternion has no closed form"
        slots = [self.slots[rate] for rate in unknown]
        closure = self.planner.closures[i]
        for number, form in enumerate(candidates(closure, slots)):
            signs = self._accepted(i, form, slots)
            if isinstance(signs, str):
                return signs
            if signs is not None:
                rows = self._rows(i, unknown)
                if rows is None:
                    continue
                self.forms.append((form, signs))
                constant = self._constant(unknown)
                depends = self._depends(i, unknown)
                self.solved.append(Solved(i, tuple(unknown), number, form.name, signs, rows, depends, constant))
                return None
        if len(unknown) > 3:
            return f"{len(unknown)} unknowns ({names}) are coupled"
        return f"no closed form for {names} in a loop closed by a {closure.kind} joint"

    def _accepted(self, i: int, form: Form, slots: Sequence[int]) -> tuple[float, ...] | str | None:
        """Signs of the roots of a form that closes the loop at the samples; in words, why none can be chosen."""
        near = dict(enumerate(self.near))
        with np.errstate(all="ignore"):
            branches = Branches()
            try:
                at = form.solve(Known(lambda k: self.near[k], near), branches)
            except (ValueError, ZeroDivisionError, FloatingPointError):
                return None
            signs = tuple(branches.noted)
            if set(at) != set(slots):
                return None
            good = 0
            for x in [self.near, *self.samples]:
                values = self._with(x, [*self.forms, (form, signs)])
                if not np.all(np.isfinite(values)):
                    continue
                g = self.planner.closures[i].rows(values, None).g.astype(float)
                if float(np.abs(g).max()) > AGREES:
                    return None
                good += 1
        if good < 2:
            return None
        if any(not margin > BRANCH for margin, _, _ in branches.margins):
            return "the reference is at a singular position, where the ways to assemble it meet: it chooses none"
        return signs

    def _with(self, x: Array, forms: Sequence[tuple[Form, tuple[float, ...]]]) -> Array:
        """Coordinates with the unknowns of forms solved one after the other."""
        values, near = x.copy(), dict(enumerate(self.near))
        for form, signs in forms:
            solved = form.solve(Known(lambda k: values[k], near), Branches(signs))
            for slot, value in solved.items():
                values[slot] = float(plain(value))
        return values

    def _closed(self, i: int) -> bool:
        """Whether a loop is closed by what was solved before."""
        with np.errstate(all="ignore"):
            every = [self._with(x, self.forms) for x in [self.near, *self.samples]]
        good = [x for x in every if np.all(np.isfinite(x))]
        worst = [float(np.abs(self.planner.closures[i].rows(x, None).g.astype(float)).max()) for x in good]
        return len(good) >= 2 and max(worst) <= AGREES

    def _rows(self, i: int, unknown: Sequence[Rate]) -> tuple[int, ...] | None:
        """Equations of a loop from which the rates of the unknowns follow best."""
        numbers = [self.planner.number[rate] for rate in unknown]
        matrices = []
        for x in [self.near, *self.samples]:
            J = self.planner.closures[i].rows(x, None).J
            matrices.append(np.stack([J[k].astype(float) for k in numbers], axis=1))
        count = len(matrices[0])
        best, chosen = 0.0, None
        for rows in combinations(range(count), len(unknown)):
            sizes = sorted(abs(float(np.linalg.det(A[list(rows)]))) for A in matrices)
            typical = sizes[len(sizes) // 2]
            if typical > best * (1.0 + 1e-9):
                best, chosen = typical, rows
        return chosen if best > 1e-9 else None

    def _constant(self, unknown: Sequence[Rate]) -> dict[Rate, ConstantTie] | None:
        """Ties with constant ratios, if the unknowns just solved have them: slopes of -1, 0 or 1 at all samples."""
        others = {
            rate: self.planner.tree.layout.of[rate[0]].q.start + rate[1]
            for rate in self.planner.rates
            if not self.planner.tree.layout.of[rate[0]].turns and rate not in self.dependents
        }
        curved = {
            rate: self.slots[rate] for step in self.solved if step.constant is None for rate in step.unknowns
        }
        candidates_ = {rate: slot for rate, slot in (others | curved).items() if self._moves(rate)}
        points = [x for x in [self.near, *self.samples]]
        with np.errstate(all="ignore"):
            full = [self._with(x, self.forms) for x in points]
        full = [x for x in full if np.all(np.isfinite(x))]
        if len(full) < max(3, len(candidates_) + 1):
            return None
        ties: dict[Rate, ConstantTie] = {}
        A = np.array([[x[slot] for slot in candidates_.values()] for x in full])
        for rate in unknown:
            y = np.array([x[self.slots[rate]] for x in full])
            factors, *_ = np.linalg.lstsq(np.column_stack([A - A[0]]), y - y[0], rcond=None)
            whole = np.round(factors)
            offset = y - A @ whole
            if np.abs(whole).max(initial=0.0) > 1.0 or np.abs(offset - offset[0]).max() > AGREES:
                return None
            kept = {r: float(f) for r, f in zip(candidates_, whole, strict=True) if f}
            ties[rate] = ConstantTie(float(offset[0]), kept)
        return ties

    def _moves(self, rate: Rate) -> bool:
        """Whether a coordinate is in a loop at all."""
        return any(
            k <= self.planner.number[rate] < stop
            for closure in self.planner.closures
            for c in closure.components
            for k, stop in [(c.v_at.start, c.v_at.stop)]
        )
