"""How the coordinates of the model move the components (H04 2.2.2, scalar ports): through gears linearly, through cams
by curves.

Components see more rates than the model has: those of a joint that follows another one, of a rotor behind a gear.
They come behind the model's own ones: all rates = (v, T v), and generalised forces come back as u + T^T u'. Elements
on shafts, which no frame carries, see the angle and rate of each of their shafts.

Behind curves T depends on the state, and accelerations have a bias: ``transmission.at(q, v)`` gives the transmission
with both. Without curves that is the transmission itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np

from gyrostat.errors import LoopError
from gyrostat.graph.loops.angle import Angle, plain
from gyrostat.graph.loops.plan_data import LoopPlan, Rate
from gyrostat.graph.lower import Values, lower
from gyrostat.graph.shafts import Line, ShaftCurve, Shafts, curve_relations, relations, solve_for, substitute
from gyrostat.graph.tied_shafts import CurvedShaft, FollowedCurve, Moved, Shaft, StateDependent, Ties
from gyrostat.spatial.algebra import Array
from gyrostat.spec.entity import Entity
from gyrostat.spec.model import Model

__all__ = ["Shaft", "ShaftComponent", "Ties", "Transmission", "transmission"]


@dataclass(frozen=True)
class ShaftComponent:
    """An element that acts on shafts alone; ``shafts`` by the names of its ports."""

    name: str
    kind: type
    props: Mapping[str, Any]
    shafts: Mapping[str, Shaft]

    def __getitem__(self, prop: str) -> Any:
        return self.props[prop]

    @property
    def has_inertia(self) -> bool:
        """Whether its torques depend on accelerations."""
        return bool(getattr(self.kind, "has_inertia", True))


class LoopSolution(Protocol):
    """Coordinates that follow from closed loops: :class:`gyrostat.graph.loops.ties.LoopTies`; ``blocks``: places in q
    and in v of each joint, and of its quaternion."""

    @property
    def blocks(self) -> tuple[tuple[slice, slice, int | None], ...]: ...

    def at(self, q: Array, v: Array, curves: Callable[[Array], list[Moved]], moving: bool) -> list[Moved]:
        """How the followers of curves and of loops move."""
        ...

    def margins(self, q: Array, curves: Callable[[Array], list[Moved]]) -> list[tuple[Any, tuple[int, ...], list[Any]]]:
        """For each loop its unknowns, and how far each of their roots is from having no solution."""
        ...


def _array(values: list[Any]) -> Array:
    """Coordinates; angles that are known by cosine and sine stay so, unless these are plain numbers."""
    values = [plain(x) if isinstance(x, Angle) and isinstance(x.c, float) else x for x in values]
    array = np.empty(len(values), dtype=float if all(isinstance(x, float) for x in values) else object)
    array[:] = values
    return array


@dataclass(frozen=True)
class Transmission:
    """``followers``: rates beyond the ``n`` of the model, each tied to those; ``place``: where the coordinate of each
    rate is in q; ``slices``: part of the state of each component; ``elements``: what acts on shafts alone; ``curves``:
    what followers follow that do so by a curve; ``loops``: what those follow that close a loop, behind the curves;
    ``constant_loops``: numbers of loops whose ties are constant; ``state``: the q and v that these were evaluated
    at."""

    n: int = 0
    place: tuple[int, ...] = ()
    followers: tuple[Shaft, ...] = ()
    slices: Mapping[str, tuple[slice, slice]] = field(default_factory=dict)
    elements: tuple[ShaftComponent, ...] = ()
    curves: tuple[FollowedCurve, ...] = ()
    loops: LoopSolution | None = None
    constant_loops: frozenset[int] = frozenset()
    state: tuple[Array, Array | None] | None = field(default=None, repr=False, compare=False)

    def at(self, q: Array, v: Array | None = None) -> Transmission:
        """With ties and biases at a state; without ``v`` at rest. Itself where all ties are constant."""
        if not self.bends or self._is_at(q, v):
            return self
        rates = np.zeros(self.n) if v is None else v

        def curves(x: Array) -> list[Moved]:
            return self._curves(x, rates)

        moved = curves(q) if self.loops is None else self.loops.at(q, rates, curves, v is not None)
        followers = tuple(shaft.at(q, self.place, moved) for shaft in self.followers)
        elements = tuple(
            replace(c, shafts={port: shaft.at(q, self.place, moved) for port, shaft in c.shafts.items()})
            for c in self.elements
        )
        return replace(self, followers=followers, elements=elements, state=(q, v))

    def loop_margins(self, q: Array) -> list[tuple[Any, tuple[int, ...], list[Any]]]:
        """On numbers: for each loop in closed form its unknowns, and how far each of their roots is from having no
        solution."""
        return [] if self.loops is None else self.loops.margins(q, lambda x: self._curves(x, np.zeros(self.n)))

    def _curves(self, q: Array, v: Array) -> list[Moved]:
        moved: list[Moved] = []
        for curve in self.curves:
            moved.append(curve.at(q, v, self.place, moved))
        return moved

    @property
    def bends(self) -> bool:
        """Whether ties depend on the state."""
        return bool(self.curves) or self.loops is not None

    def _is_at(self, q: Array, v: Array | None) -> bool:
        return self.state is not None and self.state[0] is q and (v is None or self.state[1] is v)

    def coordinates(self, q: Array) -> Array:
        """Coordinates that the components see."""
        if not self.followers:
            return q
        return np.concatenate([q, _array([shaft.angle(q, self.place) for shaft in self.at(q).followers])])

    def rates(self, v: Array) -> Array:
        """Rates that the components see."""
        if not self.followers:
            return v
        return np.concatenate([v, np.array([shaft.rate(v) for shaft in self.followers])])

    def accelerations(self, a: Array) -> Array:
        """Accelerations that the components see, with their bias."""
        if not self.followers:
            return a
        return np.concatenate([a, np.array([shaft.acceleration(a) for shaft in self.followers])])

    def gathered(self, u: Array) -> Array:
        """Generalised forces (n, ...) of the model's rates, from those of all rates (all, ...)."""
        if not self.followers:
            return u
        total = list(u[: self.n])
        for shaft, follower in zip(self.followers, u[self.n :], strict=True):
            for k, factor in shaft.ties:
                total[k] = total[k] + follower * factor
        return np.array(total).reshape(self.n, *np.shape(u)[1:])

    def ties(self, rate: int) -> Ties:
        """A rate of a component, by the rates of the model."""
        return ((rate, 1.0),) if rate < self.n else self.followers[rate - self.n].ties

    def shaft(self, rate: int) -> Shaft:
        """The same with its angle."""
        return Shaft(((rate, 1.0),)) if rate < self.n else self.followers[rate - self.n]

    def reduced(self, X: Array) -> Array:
        """G^T X G of a matrix over all rates (all, all)."""
        return self.gathered(self.gathered(X).T).T


def transmission(model: Model, live: Mapping[str, Any]) -> Transmission:
    """Shafts of all components with live numbers."""
    place, nq = model.layout.coordinate_of_rate, model.nq
    own = {block.entity: (block.q, block.v) for block in model.layout}
    numbers = {(b.entity, part): k for b in model.layout for k, part in enumerate(b.rates, b.v.start)}
    every, entities, plan = model.shafts, model.wiring.entities, model.layout.plan
    if not every.at and plan is None:
        return Transmission(len(place), place, (), own)
    shafts = _Shafts(model, every, live, numbers, plan)
    left_out = model.wiring.tree.left_out
    followers: list[Shaft] = []
    for name, entity in entities.items():
        rates = entity.carried_rates
        if (name in own and own[name][1].stop - own[name][1].start == len(rates)) or not rates or name in left_out:
            continue
        at = nq + len(followers), len(place) + len(followers)
        own[name] = slice(at[0], at[0] + len(rates)), slice(at[1], at[1] + len(rates))
        for k, rate in enumerate(rates):
            s = _shaft_of(every, name, entity, k)
            if s is not None:
                followers.append(shafts.shaft(s))
            elif (name, k) in shafts.solved:
                followers.append(shafts.combined(0.0, [(1.0, shafts.of_loop((name, k)))]))
            else:
                followers.append(Shaft(((numbers[name, rate], 1.0),)))
    elements = tuple(
        ShaftComponent(
            name,
            (low := lower(entity, Values(name, entity, live), None)).kind,
            low.props,
            {port.name: shafts.shaft(every.at[name, port.name]) for port in entity.ports},
        )
        for name, entity in entities.items()
        if entity.is_shaft_element and not entity.ties_shafts and all((name, p.name) in every.at for p in entity.ports)
    )
    constant = frozenset(shafts.constant_loops)
    return Transmission(
        len(place), place, tuple(followers), own, elements, tuple(shafts.curves), constant_loops=constant
    )


def _shaft_of(every: Shafts, name: str, entity: Entity, k: int) -> int | None:
    """The shaft that turns with rate k of a component."""
    return every.shaft(name, entity, k) if entity.rotor_shaft is None else every.at[name, entity.rotor_shaft]


Terms = tuple[Any, dict[int, Any], dict[int, Any]]
"""Offset, factors by the numbers of rates, and by those of what moves by curves and loops."""


class _Shafts:
    """All shafts of a model by the numbers of its rates, with live factors; ``solved``: rates that follow from
    loops."""

    def __init__(
        self,
        model: Model,
        every: Shafts,
        live: Mapping[str, Any],
        numbers: Mapping[tuple[str, str], int],
        plan: LoopPlan | None,
    ):
        self.lines, curved = _solved(model, every, live)
        self.bent: list[Ties] = []  # what moves by a curve or a loop: the rates it depends on
        self.solved: dict[Rate, Terms] = {}
        self.constant_loops: list[int] = []
        rates = {(b.entity, b.rates[k]): b.v.start + k for b in model.layout for k in range(b.nv)}
        self.rates = {
            (name, k): rates[name, part]
            for name, entity in model.wiring.entities.items()
            for k, part in enumerate(entity.rates)
            if (name, part) in rates
        }
        self.index = {shaft: i for i, shaft in enumerate(curved)}
        if plan is not None:
            self._solve(model, plan, live, len(curved))
        self.number = _numbers(model, every, numbers, self.solved)
        self.loops = {shaft: owner for shaft in every.rates if (owner := every.owner(shaft)) in self.solved}
        self.curves: list[FollowedCurve] = []
        if curved:
            self.bent = [()] * len(curved) + self.bent
        for i, curve in enumerate(curved.values()):  # in their order: a driver may follow one of those before
            driver = self.shaft(curve.driver)
            if any(k >= len(curved) for k, _ in getattr(driver, "bent", ())):
                raise LoopError(
                    f"'{curve.entity}' is driven by a joint that follows from a closed loop in closed form: curves are "
                    "evaluated before loops. Hint: loops='constraints', or independent=[...] with its driver",
                )
            self.curves.append(FollowedCurve(curve.entity, driver, curve.function))
            self.bent[i] = self.curves[i].ties

    def _solve(self, model: Model, plan: LoopPlan, live: Mapping[str, Any], first: int) -> None:
        """Rates that loops are solved for, in order."""
        loops = model.wiring.tree.loops
        around = {name for step in plan.solved for name in (*loops[step.loop].entities, loops[step.loop].closer)}
        lengths = [path for path in live if not _is_inertia(path)]
        changed = any(
            path.startswith(f"{name}.") for path in lengths for name in around
        )  # of any loop: they are coupled
        for step in plan.solved:
            loop = loops[step.loop]
            if step.constant is not None and not changed:
                self.constant_loops.append(step.loop)
                for rate, tie in step.constant.items():
                    parts = [(factor, self.of_rate(other)) for other, factor in tie.factors.items()]
                    self.solved[rate] = _sum(tie.offset, parts)
                continue
            name = loop.closer or loop.cut[1]
            ties = tuple((self.rates[rate], StateDependent(name)) for rate in step.depends)
            for rate in step.unknowns:
                self.solved[rate] = 0.0, {}, {first + len(self.bent): 1.0}
                self.bent.append(ties)

    def of_rate(self, rate: Rate) -> Terms:
        return self.solved[rate] if rate in self.solved else (0.0, {self.rates[rate]: 1.0}, {})

    def of_loop(self, rate: Rate) -> Terms:
        return self.solved[rate]

    def _base(self, shaft: int) -> Terms:
        if shaft in self.index:
            return 0.0, {}, {self.index[shaft]: 1.0}
        if shaft in self.loops:
            return self.solved[self.loops[shaft]]  # type: ignore[index]
        return 0.0, {self.number[shaft]: 1.0}, {}

    def shaft(self, k: int) -> Shaft:
        line = self.lines.get(k, Line({k: 1.0}))
        return self.combined(line.constant, [(x, self._base(s)) for s, x in line.terms.items()])

    def combined(self, offset: Any, parts: list[tuple[Any, Terms]]) -> Shaft:
        """A sum of base shafts."""
        offset, direct, bent = _sum(offset, parts)
        if self.rates and not direct and not any(self.bent[i] for i in bent):
            direct = {0: 0.0}  # a loop that cannot move: tied to any rate, by nothing
        if not bent:
            return Shaft(tuple(direct.items()), offset)
        ties: dict[int, Any] = {k: unknown for i in bent for k, unknown in self.bent[i]}
        ties = {k: ties.get(k, x) for k, x in direct.items()} | ties
        return CurvedShaft(tuple(ties.items()), offset, tuple(direct.items()), tuple(bent.items()))


def _sum(offset: Any, parts: list[tuple[Any, Terms]]) -> Terms:
    direct: dict[int, Any] = {}
    bent: dict[int, Any] = {}
    for factor, (constant, own, followed) in parts:
        if not (isinstance(constant, float) and constant == 0.0):
            offset = offset + constant * factor
        for total, terms in ((direct, own), (bent, followed)):
            for k, x in terms.items():
                y = factor if isinstance(x, float) and x == 1.0 else x * factor
                total[k] = total[k] + y if k in total else y
    return offset, direct, bent


def _is_inertia(path: str) -> bool:
    """Whether a property says nothing about where frames are."""
    return path.rpartition(".")[2] in ("mass", "com", "inertia", "momentum")


def _solved(
    model: Model, every: Shafts, live: Mapping[str, Any]
) -> tuple[Mapping[int, Line], Mapping[int, ShaftCurve]]:
    """Lines and curves of ``every`` again, with live numbers in the same order of elimination."""
    ties = {name: e for name, e in model.wiring.entities.items() if e.ties_shafts}
    if not any(path.rpartition(".")[0] in ties for path in live):
        return every.lines, every.curved
    read = lambda name, key: Values(name, ties[name], live)(key)  # noqa: E731
    linear, curves = relations(ties, every.at, read), curve_relations(ties, every.at, read)
    lines: dict[int, Line] = {}
    for k, shaft in every.pivots:
        terms, constant = substitute(linear[k], lines)
        kept = {s: x for s, x in terms.items() if s == shaft or not (isinstance(x, float) and x == 0.0)}
        solve_for(shaft, kept, constant, lines)
    new = {curve.follower: curve for curve in curves}
    return lines, {shaft: new[shaft] for shaft in every.curved}


def _numbers(
    model: Model, every: Shafts, numbers: Mapping[tuple[str, str], int], solved: Mapping[Rate, Any]
) -> dict[int, int]:
    """Number of the rate of every independent shaft."""
    number: dict[int, int] = {}
    for k in every.rates:
        owner = every.owner(k)
        if owner is not None and owner not in solved:
            entity = model.wiring.entities[owner[0]]
            number[k] = numbers[owner[0], "v" if entity.rotor_shaft is not None else entity.rates[owner[1]]]
    return number
