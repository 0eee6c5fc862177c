"""Who hangs on whom, as people see it: what meets in one connection hangs on the body that is there, drives belong to
their joints."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gyrostat.spec.model import Model

SOLID = ("rigid_body", "flexible_beam", "flexible_body")
"""Kinds of entities that joints sit on."""


def is_drive(model: Model, name: str) -> bool:
    """Whether an entity is driven by shafts alone: rotors, gears, springs, motors, friction, which move no frame."""
    entity = model.wiring.entities[name]
    return entity.type_name != "joint" and any(port.kind == "scalar" for port in entity.ports)


def parents(model: Model) -> dict[str, str]:
    """Entity -> the one it hangs on, outwards from the reference frame, which hangs on itself; drives are left out."""
    wiring = model.wiring
    if wiring.root is None:
        return {}
    group_of, order, parent, entered = wiring.group_of(), [wiring.root], {wiring.root: wiring.root}, set[int]()
    for name in order:
        for port in wiring.entities[name].ports if wiring.entities[name].binds else ():
            group = group_of.get((name, port.name)) if port.kind == "spatial" else None
            if group is None or group in entered or (name, port.name) in wiring.tree.cut:
                continue
            entered.add(group)
            met = dict.fromkeys(other for other, at in wiring.groups[group] if (other, at) not in wiring.tree.cut)
            new = [other for other in met if other not in parent and not is_drive(model, other)]
            bodies = [other for other in new if wiring.entities[other].type_name in SOLID]
            anchor = name if wiring.entities[name].type_name in SOLID or not bodies else bodies[0]
            new.sort(key=lambda other: other != anchor)  # the body first, the others as they come
            for other in new:
                parent[other] = name if other == anchor else anchor
            order += new
    return parent


def drives(model: Model) -> dict[str, list[str]]:
    """Joint -> entities that its shafts turn, up to the shafts of other joints, in the order in which they are met.

    Each is named once: what two joints share (a coupling) with the first of them."""
    wiring = model.wiring
    group_of, seen = wiring.group_of(), set[str]()
    turned: dict[str, list[str]] = {}
    for joint, entity in wiring.entities.items():
        if entity.type_name != "joint":
            continue
        queue = [joint]
        for name in queue:
            shafts = [port.name for port in wiring.entities[name].ports if port.kind == "scalar"]
            groups = [wiring.groups[group_of[name, shaft]] for shaft in shafts if (name, shaft) in group_of]
            own = [g for g in groups if not any(wiring.entities[o].type_name == "joint" and o != joint for o, _ in g)]
            for other in dict.fromkeys(other for group in own for other, _ in group):
                if other not in seen and is_drive(model, other):
                    seen.add(other)
                    queue.append(other)
        turned[joint] = queue[1:]
    return turned


def children(model: Model, parent: dict[str, str]) -> dict[str, list[str]]:
    """The other way round; shifts that something hangs on are left out."""
    passed = {
        above: parent[above] for above in parent.values() if "displacement" in model.wiring.entities[above].type_name
    }
    below: dict[str, list[str]] = {}
    for name, above in parent.items():
        if name != above and name not in passed:
            while above in passed:
                above = passed[above]
            below.setdefault(above, []).append(name)
    return below


def ends(model: Model, parent: dict[str, str]) -> dict[str, tuple[str, str]]:
    """Entity -> the body it sits on and the body it carries; shifts and other joints in between are passed over."""
    entities, root = model.wiring.entities, model.wiring.root
    inner: dict[str, str] = {}
    for name, above in parent.items():
        inner[name] = above if above == root or entities[above].type_name in SOLID else inner[above]
    outer: dict[str, str] = {}
    for name in reversed(parent):
        carried = name if entities[name].type_name in SOLID else outer.get(name, "")
        if carried and (parent[name] not in outer or carried == name):
            outer[parent[name]] = carried
    return {name: (inner.get(name, ""), outer.get(name, "")) for name in entities}
