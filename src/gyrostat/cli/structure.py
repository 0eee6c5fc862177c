"""Who hangs on whom, as people see it: what meets in one connection hangs on the body that is there."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gyrostat.spec.model import Model

SOLID = ("rigid_body", "flexible_beam")
"""Kinds of entities that joints sit on."""


def parents(model: Model) -> dict[str, str]:
    """Entity -> the one it hangs on, outwards from the reference frame, which hangs on itself."""
    wiring = model.wiring
    if wiring.root is None:
        return {}
    group_of, order, parent, entered = wiring.group_of(), [wiring.root], {wiring.root: wiring.root}, set[int]()
    for name in order:
        for port in wiring.entities[name].ports:
            group = group_of.get((name, port.name))
            if group is None or group in entered:
                continue
            entered.add(group)
            new = [other for other in dict.fromkeys(o for o, _ in wiring.groups[group]) if other not in parent]
            bodies = [other for other in new if wiring.entities[other].type_name in SOLID]
            anchor = name if wiring.entities[name].type_name in SOLID or not bodies else bodies[0]
            new.sort(key=lambda other: other != anchor)  # the body first, the others as they come
            for other in new:
                parent[other] = name if other == anchor else anchor
            order += new
    return parent


def children(model: Model, parent: dict[str, str]) -> dict[str, list[str]]:
    """The other way round; shifts that something hangs on are left out."""
    passed = {
        above: parent[above] for above in parent.values() if "displacement" in model.wiring.entities[above].type_name
    }
    found: dict[str, list[str]] = {}
    for name, above in parent.items():
        if name != above and name not in passed:
            while above in passed:
                above = passed[above]
            found.setdefault(above, []).append(name)
    return found


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
