"""A model built again with entities left out, replaced or renamed: connections, exposed ports and places in files
follow."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from gyrostat.spec.assembly import Assembly
from gyrostat.spec.closed_loops import to_reference
from gyrostat.spec.contact import ContactPair
from gyrostat.spec.context import Context
from gyrostat.spec.entity import Entity
from gyrostat.spec.model import Model
from gyrostat.spec.port_names import first_of_each
from gyrostat.spec.rigid_body import RigidBody
from gyrostat.spec.sensor import Sensor

Connections = tuple[tuple[str, ...], ...]


@dataclass
class Changes:
    """By full names: entities and assemblies to ``drop``; entities that take the place of others (``swap``), perhaps
    by another name; what their ``ports`` are called afterwards. A port that is no more loses its connections."""

    drop: set[str] = field(default_factory=set)
    swap: dict[str, Entity] = field(default_factory=dict)
    ports: dict[tuple[str, str], str] = field(default_factory=dict)


def rebuilt(model: Model, changes: Changes) -> Model:
    """The model with all changes made. Connections of fewer than two ports that are left, and assemblies with nothing
    left inside, vanish."""
    work = _Rebuild(changes)
    entities, connections, _ = work.scope(model.entities, model.connections, (), "", "")
    entities = _contact_pairs(model, work, entities, "")
    sources = work.sources(model.sources)
    solvers = {name: spec.renamed(work.renamed) for name, spec in model.solvers.items()}
    return Model(model.name, entities, connections, _context(model, work), sources, solvers)


def _context(model: Model, work: _Rebuild) -> Context:
    """With the joints that are left, by their new names, in what is said about loops."""
    context = model.context
    if not context.reference and not context.independent:
        return context
    left = lambda names: [name for name in names if not work.is_gone(name)]  # noqa: E731
    reference = {work.renamed(name): context.reference[name] for name in left(context.reference)}
    independent = tuple(work.renamed(name) for name in left(context.independent))
    return context.model_copy(update={"reference": to_reference(reference), "independent": independent})


def _contact_pairs(model: Model, work: _Rebuild, entities: tuple[Entity, ...], prefix: str) -> tuple[Entity, ...]:
    """Pairs of surfaces and sensors name things by their new names, and vanish with them; ``prefix``: of the names
    they have now."""
    before = {work.moved[name]: name for name in model.wiring.entities if name in work.moved and name not in work.gone}
    kept: list[Entity] = []
    for entity in entities:
        if isinstance(entity, Assembly):
            inside = _contact_pairs(model, work, entity.entities, f"{prefix}{entity.name}.")
            fields = {key: getattr(entity, key) for key in type(entity).model_fields}
            same = inside == entity.entities
            entity = entity if same else type(entity).model_validate(fields | {"entities": inside})
        elif isinstance(entity, ContactPair):
            scope = before.get(prefix + entity.name, "").rpartition(".")[0]
            sides = [_side(model, work, scope, prefix, side) for side in entity.sides]
            if None in sides:
                continue
            entity = entity.model_copy(update=dict(zip("ab", sides, strict=True)))
        elif isinstance(entity, Sensor):
            scope = before.get(prefix + entity.name, "").rpartition(".")[0]
            given = {key: value for key in ("at", "reference") if (value := getattr(entity, key)) is not None}
            named = {key: _side(model, work, scope, prefix, value) for key, value in given.items()}
            if None in named.values():
                continue
            entity = entity.model_copy(update=named)
        kept.append(entity)
    return tuple(kept)


def _side(model: Model, work: _Rebuild, scope: str, prefix: str, side: str) -> str | None:
    """How a side of a pair inside ``scope`` (before) and ``prefix`` (now) is called; None if it is no more."""
    while True:
        full = f"{scope}.{side}" if scope else side
        above = full.rpartition(".")[0]
        owner = full if full in work.moved else None
        if isinstance(model.wiring.entities.get(above), RigidBody):
            owner = above  # one of its shapes
        if owner is not None and (owner in model.wiring.entities or owner in model.wiring.assemblies):
            if owner in work.gone or any(owner.startswith(f"{gone}.") for gone in work.gone):
                return None
            return work.renamed(full).removeprefix(prefix)
        if not scope:
            return side
        scope = scope.rpartition(".")[0]


@dataclass
class _Rebuild:
    changes: Changes
    gone: set[str] = field(default_factory=set)
    moved: dict[str, str] = field(default_factory=dict)  # full names and places of connections, before -> after

    def scope(
        self,
        entities: Sequence[Entity],
        connections: Connections,
        exposes: Sequence[tuple[str, str]],
        old: str,
        new: str,
    ) -> tuple[tuple[Entity, ...], Connections, tuple[tuple[str, str], ...]]:
        """One list of entities with its connections; ``old``, ``new``: prefix of its names, before and after."""
        made: dict[str, Entity] = {}
        kept: list[Entity] = []
        for entity in entities:
            changed = self.entity(entity, old, new)
            if changed is not None:
                kept.append(changed)
                made.setdefault(entity.name, changed)
        before = first_of_each(entities)
        links: list[tuple[str, ...]] = []
        for k, ports in enumerate(connections):
            left = tuple(p for p in (self.port(text, before, made, old) for text in ports) if p is not None)
            place = f"{old}connections[{k}]"
            if left == ports or len(left) > 1:
                self.moved[place] = f"{new}connections[{len(links)}]"
                links.append(left)
            else:
                self.gone.add(place)
        shown = [(outer, self.port(inner, before, made, old)) for outer, inner in exposes]
        return tuple(kept), tuple(links), tuple((outer, inner) for outer, inner in shown if inner is not None)

    def entity(self, entity: Entity, old: str, new: str) -> Entity | None:
        full = old + entity.name
        changed = self.changes.swap.get(full, entity)
        self.moved[full] = new + changed.name
        if full in self.changes.drop:
            self.gone.add(full)
            return None
        if not isinstance(changed, Assembly):
            return changed
        inside, links, shown = self.scope(
            changed.entities, changed.connections, changed.exposes, f"{full}.", f"{new}{changed.name}."
        )
        if changed.entities and not inside:
            self.gone.add(full)
            return None
        if (inside, links, shown) == (changed.entities, changed.connections, changed.exposes):
            return changed
        fields = {key: getattr(changed, key) for key in type(changed).model_fields}
        return type(changed).model_validate(fields | {"entities": inside, "connections": links, "exposes": shown})

    def port(self, text: str, before: Mapping[str, Entity], made: Mapping[str, Entity], prefix: str) -> str | None:
        """How a port is called now; None if it is no more."""
        name, _, port = text.partition(".")
        entity, changed = before.get(name), made.get(name)
        if entity is None:
            return text  # it led nowhere before
        if changed is None:
            return None
        meant = port or entity.default_port or ""
        called = self.changes.ports.get((prefix + name, meant), meant)
        if called not in {p.name for p in changed.ports}:
            return None if meant in {p.name for p in entity.ports} else text
        return changed.name if not port and called == changed.default_port else f"{changed.name}.{called}"

    def is_gone(self, name: str) -> bool:
        """Whether an entity, or an assembly that holds it, is no more, or has no coordinates any more."""
        parts = name.split(".")
        swapped = self.changes.swap.get(name)
        without = swapped is not None and not swapped.coordinates
        return without or any(".".join(parts[:n]) in self.gone for n in range(1, len(parts) + 1))

    def renamed(self, path: str) -> str:
        """A name, or a path that begins with one, as it is now; what is gone keeps the old one."""
        parts = re.split(r"(?=\.)", path)
        above = ("".join(parts[:n]) for n in range(len(parts), 0, -1))
        known = next((known for known in above if known in self.moved and known not in self.gone), "")
        return (self.moved[known] if known else "") + path[len(known) :]

    def sources(self, sources: Mapping[str, str]) -> dict[str, str]:
        """file:line of what is left, by the new names."""
        kept: dict[str, str] = {}
        for path, place in sources.items():
            parts = re.split(r"(?=\.)", path)
            above = ["".join(parts[:n]) for n in range(len(parts), 0, -1)]
            if not any(known in self.gone for known in above):
                known = next((known for known in above if known in self.moved), "")
                kept[(self.moved[known] if known else "") + path[len(known) :]] = place
        return kept
