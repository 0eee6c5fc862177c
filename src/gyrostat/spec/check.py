"""``check(model)``: every mistake of a specification, at once."""

from __future__ import annotations

from dataclasses import replace

from gyrostat.errors import Problem, SpecError
from gyrostat.spec.force_element import ForceElement
from gyrostat.spec.joint import Joint
from gyrostat.spec.model import Model
from gyrostat.spec.reference_frame import ReferenceFrame
from gyrostat.spec.rigid_body import RigidBody
from gyrostat.spec.wiring import Wiring


def check(model: Model) -> None:
    """Raise one :class:`SpecError` whose ``problems`` lists all mistakes; return None if there is none."""
    found = problems(model)
    if found:
        raise SpecError(found)


def problems(model: Model) -> list[Problem]:
    """All mistakes: of entities by themselves, of connections, of the whole."""
    wiring = model.wiring
    found = [_at(model, "context", p) for p in model.context.problems()]
    for name, entity in wiring.entities.items():
        for problem in entity.problems():
            named = replace(problem, entity=problem.entity.replace(f"'{entity.name}'", f"'{name}'"))
            found.append(_at(model, name, named))
    found += [_locate(model, problem) for problem in wiring.problems]
    found += [_locate(model, problem) for problem in _root_problems(wiring)]
    if wiring.root is not None:
        found += [_at(model, str(p.value), p) for p in _reach_problems(wiring, blamed=bool(wiring.problems))]
        found += [_at(model, str(p.value), p) for p in _mass_problems(wiring)]
    return found


def _at(model: Model, entity: str, problem: Problem) -> Problem:
    """Add file:line of the property, or of the entity."""
    path = problem.value if isinstance(problem.value, tuple) else ()
    value = problem.value
    if path:
        try:
            value = model[f"{entity}.{path[0]}"]
        except SpecError:
            value = problem.value
    keys = [f"{entity}.{'.'.join(str(k) for k in path[:n])}" for n in range(len(path), 0, -1)]
    where = next((w for key in [*keys, entity] if (w := model.source(key))), problem.where)
    return replace(problem, where=where, value=value)


def _locate(model: Model, problem: Problem) -> Problem:
    """file:line of a connection or an entity that the wiring complains about."""
    value = problem.value
    if isinstance(value, tuple) and value and value[0] == "connections":
        _, prefix, index = value
        where = model.source(f"{prefix}connections[{index}]")
    elif isinstance(value, tuple) and value and value[0] == "duplicate":
        where = model.source(f"{value[1]} (again)")
    else:
        name = problem.entity.partition("'")[2].rpartition("'")[0]
        where = model.source(name)
    return replace(problem, where=where or problem.where)


def _root_problems(wiring: Wiring) -> list[Problem]:
    roots = [name for name, entity in wiring.entities.items() if isinstance(entity, ReferenceFrame)]
    if len(roots) == 1:
        return []
    what = "has no reference frame" if not roots else f"has {len(roots)} reference frames: {', '.join(roots)}"
    remedy = "add ReferenceFrame('world') and connect the mechanism to world.frame" if not roots else "keep one of them"
    return [Problem("model", "one-reference-frame", what, remedy, tuple(roots))]


def _reach_problems(wiring: Wiring, blamed: bool) -> list[Problem]:
    """Rule ``unreachable``: one problem for each separate part, unless a broken connection already explains it."""
    if blamed:
        return []
    order, _ = wiring.outward()
    lost = [name for name in wiring.entities if name not in set(order)]
    found: list[Problem] = []
    while lost:
        part = _part_of(lost[0], wiring)
        lost = [name for name in lost if name not in part]
        label = wiring.entities[part[0]].label.replace(f"'{wiring.entities[part[0]].name}'", f"'{part[0]}'")
        others = "" if len(part) == 1 else f" (and with it {', '.join(part[1:6])}{', ...' if len(part) > 6 else ''})"
        message = f"cannot be reached from the reference frame{others}"
        found.append(Problem(label, "unreachable", message, "connect one of its ports, or remove it", part[0]))
    return found


def _part_of(name: str, wiring: Wiring) -> list[str]:
    part, group_of = [name], wiring.group_of()
    for member in part:
        for port in wiring.entities[member].ports:
            if (member, port.name) in group_of:
                group = wiring.groups[group_of[member, port.name]]
                part += [other for other, _ in dict.fromkeys(group) if other not in part]
    return list(dict.fromkeys(part))


def _mass_problems(wiring: Wiring) -> list[Problem]:
    """Rules ``moving-mass`` (a body that moves has mass) and ``moved-mass`` (a joint moves some mass)."""
    order, parent = wiring.outward()
    rigid: dict[str, str] = {}  # entity -> the joint (or root) whose motion it follows
    for name in order:
        entity = wiring.entities[name]
        rigid[name] = name if name == parent[name] or entity.rates else rigid[parent[name]]
    massive: set[str] = set()
    for name in order:
        entity = wiring.entities[name]
        if getattr(entity, "mass", 0.0) != 0.0 or not isinstance(entity, RigidBody | Joint | ReferenceFrame | ForceElement):
            massive.add(rigid[name])
    own_mass = set(massive)
    for name in reversed(order):  # what a joint carries counts for every joint further in
        if rigid[name] in massive and parent[name] != name:
            massive.add(rigid[parent[name]])
    found: list[Problem] = []
    for name in order:
        entity, group = wiring.entities[name], rigid[name]
        moves = group != wiring.root
        if moves and isinstance(entity, RigidBody) and entity.mass == 0.0 and group not in own_mass:
            label = f"rigid body '{name}'"
            message = "moves, but its mass is 0 kg and nothing with mass is fixed to it"
            found.append(Problem(label, "moving-mass", message, "give its mass; a massless link is a Displacement", name))
        elif moves and name == group and name not in massive:
            label = entity.label.replace(f"'{entity.name}'", f"'{name}'")
            message = "moves nothing that has mass"
            found.append(Problem(label, "moved-mass", message, "attach a RigidBody, or make the joint fixed", name))
    return found
