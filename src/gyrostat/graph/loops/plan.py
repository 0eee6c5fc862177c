"""The plan of a model with closed loops: how they are assembled, which coordinates are kept, which loop is solved for
what, in which order, and what is left to constraints (H04 3.2.3.1, C1.9).

It is made on numbers, once for a model: the reference configuration is closed, the rank of the equations is found at
configurations around it, and closed forms are accepted if they close the loops there."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence as Many
from dataclasses import replace
from typing import Any

import numpy as np

from gyrostat.errors import LoopError, SpecError
from gyrostat.geometry.rotation import quaternion_of
from gyrostat.graph.loops.numbers import LoopNumbers, close, length_rates, moved_along
from gyrostat.graph.loops.plan_data import LoopPlan, LoopReport, Rate
from gyrostat.graph.loops.sequence import Sequence
from gyrostat.graph.loops.ways import Way, closures, follow
from gyrostat.graph.network import network
from gyrostat.spatial.algebra import Array
from gyrostat.spec.free_bodies import SUFFIX
from gyrostat.spec.model import Model

ASSEMBLED = 5e-9
"""Greatest residual of a reference [m, or of directions]: half of what solvers allow."""
KEPT = 1e-5
"""How readily given coordinates that are kept move, if they must."""
SAMPLES = 5
RANK = 1e-5
"""Singular values below this part of the largest one are zero."""


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
        points = [*self._samples(reference), reference]
        at = [self.numbers.jacobian(q)[1] for q in points]
        ranks = [_rank(J) for J in at]
        rank = max(ranks)
        tied = np.array([not c.rolls for c in self.closures for _ in c.equations], dtype=bool)
        samples = [q for q, r in zip(points[:-1], ranks[:-1], strict=True) if r == rank]  # others are singular
        at = [J for J, r in zip(at, ranks, strict=True) if r == rank]
        J = at[0]
        present = [k for k in range(J.shape[1]) if np.abs(J[:, k]).max(initial=0.0) > 0.0]
        follow = [J[tied] for J in at]
        may = [k for k in present if np.abs(follow[0][:, k]).max(initial=0.0) > 0.0]
        maximal = self.model.context.loops == "maximal"
        dependents = [] if maximal else self._dependents(follow, may, _rank(follow[0]))
        independent = tuple(self.rates[k] for k in present if self.rates[k] not in dependents)
        moved = self.net.transmission
        every = np.asarray(moved.coordinates(reference), dtype=float)
        near = {name: tuple(map(float, every[at])) for name, (at, _) in moved.slices.items()}
        free = len(present) - rank
        base = LoopPlan(self.tree, reference, tuple(samples), mobility=free, independent=independent, near=near)
        treatment = self.model.context.loops
        if treatment in ("constraints", "maximal"):
            return self._reported(replace(base, constrained=tuple(range(len(self.closures)))), at[0], {})
        solved, redundant, reasons = Sequence(
            self.net, self.closures, self.rates, reference, samples, dependents
        ).solve()
        done = {step.loop for step in solved} | redundant
        left = tuple(i for i in range(len(self.closures)) if i not in done)
        if treatment == "minimal" and not all(self.closures[i].rolls for i in left):
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
        """The reference as it is given, and how readily each coordinate moves: given ones less, those that are kept and
        deformations hardly."""
        kept = set(self.model.context.independent) or self.actuated()
        q = np.zeros(self.tree.nq)
        mobility = np.ones(self.tree.nv)
        for block in self.tree.layout:
            if block.turns:
                q[block.quaternion.stop - 1] = 1.0
            given = self.model.context.reference.get(block.entity)
            if given is not None and len(given) == block.nq:
                q[block.q] = given
                mobility[block.v] = KEPT if block.entity in kept else 1e-2
            if self.tree.wiring.entities[block.entity].deforms:
                mobility[block.v] = KEPT
            if block.turns:
                q[block.quaternion] /= np.linalg.norm(q[block.quaternion])
        if self.model.context.loops == "maximal":
            self._place_bodies(q)
        still = np.ones(self.tree.nv, dtype=bool)
        still[self._in_loops()] = False
        mobility[still] = 0.0
        return q, mobility

    def _in_loops(self) -> list[int]:
        """Numbers of the rates that loops depend on, by gears too."""
        moved = self.net.transmission
        rates = [k for c in self.closures for part in c.components for k in range(part.v_at.start, part.v_at.stop)]
        return sorted({number for k in rates for number, _ in moved.ties(k)})

    def _place_bodies(self, q: Array) -> None:
        """Bodies where they are in the coordinates of the tree at its reference."""
        jointed = replace(self.model, context=self.model.context.model_copy(update={"loops": "constraints"}))
        net = network(jointed)
        every = np.zeros(jointed.nq)
        every[jointed.layout.quaternions[:, 3]] = 1.0
        for name, given in self.model.context.reference.items():
            block = jointed.layout.of.get(name)
            if block is not None and len(given) == block.nq:
                every[block.q] = given
        if net.loops:
            plan = loop_plan(jointed)
            if plan.error is not None:
                raise plan.error
            every = plan.reference
        every = np.asarray(net.transmission.coordinates(every), dtype=float)
        for block in self.tree.layout:
            body = block.entity.removesuffix(SUFFIX)
            if block.moves and f"{body}.origin" in net.located and block.entity != body:
                at, place = net.located[f"{body}.origin"]
                frame = follow(Way(tuple(net.path(at)[1:]), place), every, None)
                q[block.q] = np.concatenate([frame.p, quaternion_of(frame.R)])

    def _assembled(self) -> Array:
        """The reference configuration, closed."""
        start, mobility = self._start()
        size = self.numbers.size(start)
        held = np.where(mobility <= KEPT, 0.0, mobility)
        q, error = close(self.numbers, start, held, size)
        if error <= ASSEMBLED:
            return q  # without moving what is kept
        q, error = close(self.numbers, start, mobility, size)
        best = error, q
        for attempt in range(24):
            if best[0] <= ASSEMBLED:
                return best[1]
            spread = 0.05 * 1.2**attempt * mobility if attempt < 16 else 1.5 * (mobility > 0.0)
            q = moved_along(self.tree, start, spread * self.random.standard_normal(self.tree.nv))
            q, error = close(self.numbers, q, mobility, size)
            best = min(best, (error, q), key=lambda pair: pair[0])
        if best[0] <= ASSEMBLED:
            return best[1]
        open_by = [float(np.abs(g).max(initial=0.0)) for g in self.numbers.residuals(best[1])]
        worst = int(np.argmax(open_by))
        raise LoopError(
            f"'{self.model.name}' cannot be assembled: the loop {self.closures[worst].loop} stays open by "
            f"{open_by[worst]:.3g} (m, or of a direction) however its joints are moved. Hint: check lengths and axes "
            "in it, or give reference={joint: value} nearer to a configuration in which it is closed",
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
            if error <= ASSEMBLED:
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

    def _dependents(self, at: Many[Array], present: Many[int], rank: int) -> list[Rate]:
        """As many rates as the equations determine: passive ones first, far from the base first, then those late in the
        alphabet; deformations late; the order of the file does not count."""
        actuated, wanted = self.actuated(), set(self.model.context.independent)

        depth = _depths(self.tree)

        def reluctance(k: int) -> tuple[int, int]:
            name = self.rates[k][0]
            stays = name in actuated or self.tree.wiring.entities[name].deforms
            kind = 2 if name in wanted else 1 if stays else 0
            return kind, -depth[name]

        chosen: list[int] = []
        bases = [_Basis() for _ in at]
        by_name = sorted(present, key=self.rates.__getitem__, reverse=True)
        for k in sorted(by_name, key=reluctance):
            if len(chosen) == rank:
                break
            if self.rates[k][0] in wanted:
                break
            if any([basis.takes(J[:, k]) for basis, J in zip(bases, at, strict=True)]):
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
                why = step.name
                if step.constant is not None:
                    moves = any(tie.factors for tie in step.constant.values())
                    why = "a parallelogram: angles follow with constant ratios" if moves else "it cannot move"
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


class _Basis:
    """Columns that are independent of each other."""

    def __init__(self) -> None:
        self.Q: list[Array] = []

    def takes(self, column: Array) -> bool:
        """Whether a column is independent of those before; then it is one of them."""
        length = float(np.linalg.norm(column))
        if length < 1e-12:
            return False
        rest = column / length
        for _ in range(2):
            for q in self.Q:
                rest = rest - q * (q @ rest)
        left = float(np.linalg.norm(rest))
        if left > 1e-6:
            self.Q.append(rest / left)
        return left > 1e-6
