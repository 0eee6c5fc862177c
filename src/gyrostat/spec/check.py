"""``check(model)``: every mistake of a specification, at once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from gyrostat.errors import Problem, SpecError, clipped
from gyrostat.spec.contact_surfaces import contact_problems
from gyrostat.spec.loop_problems import loop_problems
from gyrostat.spec.model import Model
from gyrostat.spec.reference_frame import ReferenceFrame
from gyrostat.spec.rigid_body import RigidBody
from gyrostat.spec.sensor import sensor_problems
from gyrostat.spec.solver_references import reference_problems
from gyrostat.spec.state_problems import state_problems
from gyrostat.spec.wiring import Wiring, label_of


@dataclass
class Doubts:
    """What the reader of a file had to guess: nothing that may follow from a guess is reported."""

    names: set[str] = field(default_factory=set)  # may have other ports; "leg.*": leg may hold other entities
    ends: set[str] = field(default_factory=set)  # entities at connections that were lost
    meant: set[str] = field(default_factory=set)  # entities that such a connection may have led to; "" if it may be any
    root: bool = False  # one of the guesses may be a reference frame
    properties: set[tuple[str, ...]] = field(default_factory=set)  # (entity, *path) with a stand-in for a value
    parts: set[tuple[str, ...]] = field(default_factory=set)  # what these properties are part of

    def doubt(self, entity: str, path: tuple[str, ...]) -> None:
        self.properties.add((entity, *path))
        self.parts |= {(entity, *path[:n]) for n in range(1, len(path))}

    def about(self, entity: str, path: tuple[str, ...]) -> bool:
        """Whether the property, something inside it, or what it is part of, is a guess."""
        around = ((entity, *path[:n]) for n in range(1, len(path) + 1))
        return (entity, *path) in self.parts or any(place in self.properties for place in around)


def expect_model(model: object, who: str) -> None:
    """A sentence instead of an AttributeError further down."""
    if not isinstance(model, Model):
        raise SpecError.one(
            who,
            "model",
            f"expected a Model, got {type(model).__name__}",
            "gyrostat.load('robot.yaml') or gyrostat.assemble(...) make one",
        )


def check(model: Model) -> None:
    """Raise one :class:`SpecError` whose ``problems`` lists all mistakes; return None if there is none."""
    expect_model(model, "check")
    mistakes = problems(model)
    if mistakes:
        raise SpecError(mistakes)


def problems(model: Model, doubts: Doubts | None = None) -> list[Problem]:
    """All mistakes: of entities by themselves, of connections, of the whole."""
    doubts = doubts or Doubts()
    wiring = model.wiring
    mistakes = _name_problems(model) + _own_problems("context", model.context, model.context.problems(), doubts)
    for name, entity in [*wiring.entities.items(), *wiring.assemblies.items(), *wiring.again]:
        full = name.partition(" (again")[0]
        own = [replace(p, entity=p.entity.replace(f"'{entity.name}'", f"'{full}'")) for p in entity.problems()]
        mistakes += _own_problems(name, entity, own, doubts)
    mistakes += [p for name, entity in wiring.entities.items() for p in state_problems(name, entity)]
    mistakes += wiring.problems
    mistakes += [end.problem for end in wiring.loose if end.problem and end.lacks not in doubts.names]
    mistakes += _root_problems(wiring, doubts)
    mistakes += model.shafts.problems
    if not doubts.names:
        mistakes += contact_problems(wiring)
        mistakes += sensor_problems(wiring)
    if wiring.root is not None:
        mistakes += loop_problems(wiring, model.context)
    if wiring.root is not None:
        touched = doubts.ends | doubts.names | {name for end in wiring.loose for name in end.touches}
        meant = doubts.meant | {name for end in wiring.loose for name in end.meant}
        mistakes += _reach_problems(wiring, touched | meant)
        mistakes += _mass_problems(wiring, touched, model.context.base == "free")
    if not mistakes and model.solvers and not doubts.names:
        mistakes += reference_problems(model)
    return [replace(p, where=place_of(model.sources, p.where)) for p in mistakes]


def _own_problems(name: str, owner: Any, own: Iterable[Problem], doubts: Doubts) -> list[Problem]:
    """Problems that an entity sees by itself carry the path of the property; add the value that is there."""
    kept: list[Problem] = []
    for problem in own:
        path, value = problem.value, problem.value
        if isinstance(path, tuple) and path and all(isinstance(key, str) for key in path):
            if doubts.about(name, path):
                continue
            value = owner
            for key in path:
                named = {getattr(item, "name", None): item for item in value} if isinstance(value, tuple) else {}
                value = named.get(key, getattr(value, key, None))
        else:
            path = ()
        kept.append(replace(problem, value=value, where=".".join((name, *path))))
    return kept


def place_of(sources: Mapping[str, str], path: str | None) -> str | None:
    """file:line of the property or entity at ``path``, or of what it is part of."""
    while path and path not in sources:
        path = path.rpartition(".")[0]
    return sources.get(path) if path else None


def _name_problems(model: Model) -> list[Problem]:
    if model.name.isprintable():
        return []
    message = f"name {clipped(model.name)} holds characters that cannot be printed"
    return [Problem("model", "name", message, "use letters, digits, spaces and signs", model.name, "model.name")]


def _root_problems(wiring: Wiring, doubts: Doubts) -> list[Problem]:
    roots = [name for name, entity in wiring.entities.items() if isinstance(entity, ReferenceFrame)]
    if len(roots) == 1 or (not roots and doubts.root):
        return []
    what = "has no reference frame" if not roots else f"has {len(roots)} reference frames: {', '.join(roots)}"
    remedy = "keep one of them" if roots else "add a reference frame 'world' and connect the mechanism to world.frame"
    where = roots[1] if roots else "model"
    return [Problem("model", "one-reference-frame", what, remedy, tuple(roots), where)]


def _within(name: str, places: set[str]) -> bool:
    """Whether the entity, or an assembly that holds it, is among ``places``; "" holds everything."""
    while name and name not in places:
        name = name.rpartition(".")[0]
    return name in places


def _reach_problems(wiring: Wiring, explained: set[str]) -> list[Problem]:
    """Rule ``unreachable``: one problem for each separate part, unless a broken connection already explains it."""
    group_of, reached = wiring.group_of(), wiring.reached()
    mistakes: list[Problem] = []
    for name, entity in wiring.entities.items():
        if name in reached:
            continue
        part = {name: None}
        for member in (queue := [name]):
            for port in wiring.entities[member].ports:
                group = group_of.pop((member, port.name), None)
                for other, other_port in wiring.groups[group] if group is not None else ():
                    group_of.pop((other, other_port), None)
                    if other not in part:
                        part[other] = None
                        queue.append(other)
        reached.update(part)
        if not any(_within(member, explained) for member in part):
            others = list(part)[1:6]
            more = f" (and with it {', '.join(others)}{', ...' if len(part) > 6 else ''})" if others else ""
            message = f"cannot be reached from the reference frame{more}"
            remedy = "connect one of its ports, or remove it"
            mistakes.append(Problem(label_of(entity, name), "unreachable", message, remedy, name, name))
    return mistakes


def _mass_problems(wiring: Wiring, doubtful: set[str], free: bool) -> list[Problem]:
    """Rules ``moving-mass``: a body that moves has mass; ``moved-mass``: a joint, or a free base, moves some mass."""
    root, parent, closing = wiring.root, wiring.tree.parent, wiring.tree.closing
    rigid: dict[str, str] = {}  # entity -> the joint (or root) whose motion it follows
    massive: set[str] = set()
    bodies: set[str] = set()  # the same, whether or not the bodies have mass
    for name in parent:
        entity = wiring.entities[name]
        rigid[name] = name if name == parent[name] or entity.rates else rigid[parent[name]]
        if getattr(entity, "mass", 0.0) != 0.0 or not entity.tells_mass or _within(name, doubtful):
            massive.add(rigid[name])
            if entity.rates and name != parent[name]:  # a flexible body: it is clamped to what it is met by
                massive.add(rigid[parent[name]])
        if isinstance(entity, RigidBody) or rigid[name] in massive or name in closing:
            bodies.add(rigid[name])
    for name in reversed(parent):  # what a joint carries counts for every joint further in
        if rigid[name] in bodies:
            bodies.add(rigid[parent[name]])
    mistakes: list[Problem] = []
    for name in parent:
        entity, group = wiring.entities[name], rigid[name]
        label = label_of(entity, name)
        if group == root:
            continue
        if isinstance(entity, RigidBody) and entity.mass == 0.0 and group not in massive:
            message = "moves, but its mass is 0 kg and nothing with mass is fixed to it"
            remedy = "give its mass; a massless link is a Displacement"
            mistakes.append(Problem(label, "moving-mass", message, remedy, 0.0, f"{name}.mass"))
        elif name == group and name not in bodies:
            remedy = "attach a RigidBody, or make the joint fixed"
            mistakes.append(Problem(label, "moved-mass", "moves nothing that has mass", remedy, name, name))
    if free and not massive and not mistakes and root is not None:
        remedy = "attach a RigidBody that has mass, or fix the base"
        message = "is free, but nothing in the model has mass"
        mistakes.append(Problem(label_of(wiring.entities[root], root), "moved-mass", message, remedy, root, root))
    return mistakes
