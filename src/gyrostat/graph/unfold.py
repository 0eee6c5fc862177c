"""Entities that are made of others: what is inside goes into the network, each part with its share of the state.

An entity with an :class:`~gyrostat.graph.inside.Inside` becomes several components. They are those that the inner
entities would become by themselves, so that no rule and no algorithm knows of it: joints and bodies inside a beam cut
into pieces are joints and bodies. Their names begin with that of the entity, ``boom.piece1``; ports of the entity keep
their names, and are the only ones of it that are located."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from gyrostat.errors import SpecError
from gyrostat.graph.draft import Draft, DraftPart, ShaftPart
from gyrostat.graph.inside import Inside
from gyrostat.graph.lower import Lowered, Values, lower
from gyrostat.graph.transmission import ShaftComponent, Transmission
from gyrostat.spec.entity import Entity
from gyrostat.spec.reference_frame import ReferenceFrame
from gyrostat.spec.spanning_tree import Connection, traverse
from gyrostat.spec.wiring import label_of

OUTSIDE = "(outside)"
"""Stands for what the entity is entered from."""


def unfold(draft: Draft, name: str, entity: Entity, inside: Inside, inport: str, source: str) -> list[str]:
    """Put what is inside the entity called ``name`` into a draft; it is entered by ``inport``, which the outport
    ``source`` feeds. Returns what was normalised."""
    entities = {OUTSIDE: ReferenceFrame(OUTSIDE)} | {inner.name: inner for inner in inside.entities}
    groups = [tuple(_port(text) for text in group) for group in inside.connections]
    tree = traverse(OUTSIDE, entities, _entered(groups, _port(inside.ports[inport])))
    states = _states(name, entity, inside)
    ports = {inner: f"{name}.{port}" for port, inner in inside.ports.items()}
    full = lambda inner: ports.get(inner, f"{name}.{inner}")  # noqa: E731
    notes: list[str] = []
    for visit in tree.visits[1:]:
        inner = entities[visit.entity]
        low = _lowered(inner, inside, visit.inport)
        notes += [f"{name}.{note}" for note in low.notes]
        fed = source if visit.source == f"{OUTSIDE}.frame" else full(visit.source)
        spatial = [port.name for port in inner.ports if port.kind == "spatial" and port.name != visit.inport]
        outs = {port: full(f"{inner.name}.{port}") for port in spatial}
        enters = full(f"{inner.name}.{visit.inport}")
        part = DraftPart(full(inner.name), low.kind, low.props, visit.inport, fed, outs, low.places)
        draft.hide(replace(part, entity=inner, owner=name, state=states.get(inner.name), enters=enters))
        for key in outs.values():
            if key in ports.values():
                draft.locate(key, key)
        if enters in ports.values():
            draft.locate(enters, fed)
    draft.elements += _elements(name, inside, groups, states)
    return notes


def inner_elements(draft: Draft, moved: Transmission) -> tuple[ShaftComponent, ...]:
    """Springs and the like inside entities, on the rates that they act on."""
    return tuple(
        ShaftComponent(
            part.name,
            part.low.kind,
            part.low.props,
            {port: moved.shaft(moved.slices[owner][1].start + k) for port, (owner, k) in part.rates.items()},
        )
        for part in draft.elements
    )


def _port(text: str) -> tuple[str, str]:
    entity, _, port = text.rpartition(".")
    return entity, port


def _entered(groups: list[Connection], first: tuple[str, str]) -> list[Connection]:
    """Connections with one to the outside, at the port ``first``."""
    joined = [(*group, (OUTSIDE, "frame")) if first in group else group for group in groups]
    return joined if any(first in group for group in groups) else [*groups, (first, (OUTSIDE, "frame"))]


def _lowered(inner: Entity, inside: Inside, inport: str | None) -> Lowered:
    return lower(inner, Values(inner.name, inner, inside.values), inport)


def _states(name: str, entity: Entity, inside: Inside) -> dict[str, tuple[slice, slice]]:
    """Places of each inner entity within the q and v of the whole."""
    states: dict[str, tuple[slice, slice]] = {}
    nq = nv = 0
    for inner in inside.entities:
        q, v = len(inner.coordinates), len(inner.rates)
        if v:
            states[inner.name] = slice(nq, nq + q), slice(nv, nv + v)
        nq, nv = nq + q, nv + v
    if (nq, nv) != (len(entity.coordinates), len(entity.rates)):
        message = (
            f"has {len(entity.coordinates)} coordinates and {len(entity.rates)} rates, what is inside {nq} and {nv}"
        )
        remedy = "name the coordinates of what is inside, in its order"
        raise SpecError.one(label_of(entity, name), "inside", message, remedy, (nq, nv))
    return states


def _elements(
    name: str, inside: Inside, groups: list[Connection], states: Mapping[str, tuple[slice, slice]]
) -> list[ShaftPart]:
    """Inner entities that act on shafts of inner joints alone."""
    entities = {inner.name: inner for inner in inside.entities}
    at = {port: group for group in groups for port in group}
    parts: list[ShaftPart] = []
    for inner in inside.entities:
        if not inner.is_shaft_element:
            continue
        rates: dict[str, tuple[str, int]] = {}
        for port in inner.ports:
            owner, shaft = next(other for other in at[inner.name, port.name] if other[0] in states)
            rates[port.name] = name, states[owner][1].start + entities[owner].shafts.index(shaft)
        parts.append(ShaftPart(f"{name}.{inner.name}", _lowered(inner, inside, None), rates))
    return parts
