"""From a model to its network: checked, lowered, rewritten, with its loops (H04 4.2)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from gyrostat.errors import SpecError
from gyrostat.graph.compliant_contacts import compliant_contacts
from gyrostat.graph.data_flow import BOUND, NO_STATE, Component, Network, Pair
from gyrostat.graph.draft import Draft, DraftPart
from gyrostat.graph.loops.attach import with_loops
from gyrostat.graph.lower import Lowered, Values, lower
from gyrostat.graph.reference_frames import DrivenBase, FixedBase, FreeBase
from gyrostat.graph.rewrite import DEFAULT, RULES, rewrite
from gyrostat.graph.transmission import Transmission, transmission
from gyrostat.graph.unfold import inner_elements, unfold
from gyrostat.spec.check import check
from gyrostat.spec.contact_law import ContactEntity
from gyrostat.spec.context import HarmonicMotion, MovingBase, UniformGravity
from gyrostat.spec.displacement import Displacement
from gyrostat.spec.force_element import ForceElement
from gyrostat.spec.joint import Joint
from gyrostat.spec.model import Model
from gyrostat.spec.reference_frame import ReferenceFrame
from gyrostat.spec.rigid_body import RigidBody
from gyrostat.spec.rotor import RotorInertia
from gyrostat.spec.spanning_tree import Loop, Visit
from gyrostat.spec.wiring import label_of

__all__ = ["Component", "Network", "Pair", "kept_network", "network"]


class _Kept(dict[str, "Network"]):
    """The network that stays with a model object; a copy or pickle of the model begins without."""

    def __reduce__(self) -> tuple[Any, ...]:
        return _Kept, ()


def kept_network(model: Model) -> Network:
    """``network(model)``, made once for a model object: whoever simulates a robot again and again needs no other."""
    kept = model.__dict__.setdefault("_network", _Kept())
    if "network" not in kept or kept["network"].model is not model:
        kept["network"] = network(model)
    return kept["network"]


def network(
    model: Model,
    rules: Iterable[str] | None = None,
    off: Iterable[str] = (),
    live: Mapping[str, Any] | None = None,
) -> Network:
    """Check a model, find its causality, lower its entities and rewrite the result.

    ``rules``: names of the rewriting rules to use, by default those of :data:`DEFAULT`; ``off``: rules to leave out.
    ``live``: arrays, of floats or recording scalars, to use for properties by path instead of the model's own
    numbers."""
    check(model)
    live = live or {}
    tree = model.wiring.tree
    draft, notes = _draft(model, tree.visits, live)
    rules = [rules] if isinstance(rules, str) else rules
    off = [off] if isinstance(off, str) else off
    chosen = list(DEFAULT if rules is None else rules)
    uniform = isinstance(model.context.gravity, UniformGravity)
    off = (
        *off,
        *(() if uniform else ("merge-bodies",)),
    )  # other fields act at the centre of mass of each body by itself
    events = rewrite(draft, [name for name in chosen if name not in set(off)], off)
    used = tuple(name for name in RULES if name in chosen and name not in set(off))
    moved = transmission(model, live)
    moved = replace(moved, elements=(*moved.elements, *inner_elements(draft, moved))) if draft.elements else moved
    frozen = _freeze(model, draft, moved, tree.loops, tuple(events), tuple(notes), used)
    if tree.loops:
        plan = model.layout.plan
        if plan is not None and plan.error is not None:
            raise plan.error
        frozen = with_loops(frozen, plan, live)
    if "_has_room" not in model.__dict__ and any(c.kind is RotorInertia for c in frozen.components):
        merged, _ = _draft(model, tree.visits, {})  # whatever the rules are: each carrier as one body
        rewrite(merged, list(DEFAULT), ())
        _expect_room(_freeze(model, merged, moved, tree.loops, (), (), DEFAULT))
        model.__dict__["_has_room"] = True
    return replace(frozen, pairs=(*_pairs(frozen, live), *compliant_contacts(frozen, live)))


KNOWN = (FixedBase, DrivenBase, FreeBase, Displacement, RigidBody, Joint, RotorInertia, ForceElement)
"""Kinds of which it is known here what inertia they have."""


def _expect_room(net: Network) -> None:
    """A rotor that is contained in its carrier has no more inertia about its axis than the carrier as a whole."""
    for c in net.components:
        if c.kind is not RotorInertia or not net.model.wiring.entities[c.name].lumped or c.inport is None:  # type: ignore[attr-defined]
            continue
        source = net.source[c.inport]
        if not any(before.v_at.stop > before.v_at.start for before, _ in net.path(source)):
            continue  # the ground
        bodies = [net.components[net.owner[k]] for k in net.feeds[source]]
        if any(b.kind not in KNOWN for b in (*bodies, net.components[net.owner[source]])):
            continue  # a component from elsewhere, whose inertia its rows tell
        axis = c["axis"]
        room = sum(float(axis @ b["inertia"] @ axis) for b in bodies if issubclass(b.kind, RigidBody))
        if c["inertia"] > room * (1.0 + 1e-9):
            entity = net.model.wiring.entities[c.name]
            message = (
                f"has {c['inertia']:g} kg m^2 about its axis, more than the {room:g} kg m^2 of the body that has it "
                "and is said to contain it (lumped)"
            )
            remedy = "write lumped=False if the body is given without it, or check both inertias"
            raise SpecError.one(label_of(entity, c.name), "rotor-lumped", message, remedy, c["inertia"])


def _pairs(net: Network, live: Mapping[str, Any]) -> Iterator[Pair]:
    """Entities that act between frames without moving them."""
    group_of = net.model.wiring.group_of()
    for name, entity in net.model.wiring.entities.items():
        if entity.binds or isinstance(entity, ContactEntity):
            continue
        at = []
        for port in entity.ports:
            others = net.model.wiring.groups[group_of[name, port.name]] if (name, port.name) in group_of else ()
            places = [".".join(other) for other in others if ".".join(other) in net.located]
            if not places:
                label, message = label_of(entity, name), f"its port '{port.name}' is connected to no frame"
                remedy = "connect it to a body, a joint or the reference frame"
                raise SpecError.one(label, "pair-force", message, remedy, port.name)
            at.append(net.located[places[0]])
        low = lower(entity, Values(name, entity, live), None)
        yield Pair(name, low.kind, low.props, *at)


def _draft(model: Model, visits: Iterable[Visit], live: Mapping[str, Any]) -> tuple[Draft, list[str]]:
    draft, notes = Draft(), []
    for visit in visits:
        entity = model.wiring.entities[visit.entity]
        low = (
            _reference(model)
            if isinstance(entity, ReferenceFrame)
            else lower(entity, Values(visit.entity, entity, live), visit.inport)
        )
        notes += low.notes
        source = None if visit.source is None else draft.located[visit.source][0]
        if low.inside is not None:
            notes += unfold(draft, visit.entity, entity, low.inside, str(visit.inport), str(source))
            continue
        spatial = [port.name for port in entity.ports if port.kind == "spatial"]
        outs = {name: f"{visit.entity}.{name}" for name in spatial if name != visit.inport}
        draft.add(DraftPart(visit.entity, low.kind, low.props, visit.inport, source, outs, low.places, entity))
        if low.beside is not None:
            draft.hide(DraftPart(f"{visit.entity} (body)", RigidBody, low.beside, visit.inport, source, {}, {}))
    for loop in model.wiring.tree.loops:
        if loop.closer and not loop.link:
            for port, frame in zip(model.wiring.entities[loop.closer].ports, loop.frames, strict=False):
                draft.share(f"{loop.closer}.{port.name}", frame)
    _share_contacts(model, draft)
    return draft, notes


def _share_contacts(model: Model, draft: Draft) -> None:
    """Grounds and points that can touch are where the frames are that they are connected with."""
    for name, entity in model.wiring.entities.items():
        if isinstance(entity, ContactEntity):
            for port in entity.ports:
                others = [".".join(other) for other in model.wiring.connection(name, port.name)]
                places = [other for other in others if other in draft.located]
                if not others and model.context.base == "fixed":
                    places = [f"{model.wiring.root}.frame"]
                if places:
                    draft.share(f"{name}.{port.name}", places[0])


def _reference(model: Model) -> Lowered:
    base = model.context.base
    if base == "free":
        return Lowered(FreeBase, {"kind": "free", "far": False})
    if isinstance(base, HarmonicMotion | MovingBase):
        return Lowered(DrivenBase, {"motion": base})
    return Lowered(FixedBase, {})


def _state(part: DraftPart, moved: Transmission) -> tuple[slice, slice]:
    """Its part of q and v, counted over all that components see."""
    if not part.owner:
        return moved.slices.get(part.name, NO_STATE)
    if part.state is None:
        return NO_STATE
    whole, own = moved.slices[part.owner], part.state
    q, v = (slice(all_.start + at.start, all_.start + at.stop) for all_, at in zip(whole, own, strict=True))
    return q, v


def _freeze(
    model: Model,
    draft: Draft,
    moved: Transmission,
    loops: tuple[Loop, ...],
    events: Any,
    notes: tuple[str, ...],
    rules: tuple[str, ...],
) -> Network:
    ports: list[str] = []
    owner: list[int] = []
    inports: dict[str, int] = {}
    outports: dict[str, int] = {}
    parts = draft.outward()
    states = [_state(part, moved) for part in parts]
    for k, part in enumerate(parts):
        if part.source is not None:
            inports[part.name] = len(ports)
            ports.append(part.inport_name)
            owner.append(k)
        for key in part.outs.values():
            outports[key] = len(ports)
            ports.append(key)
            owner.append(k)
    components = tuple(
        Component(
            part.name,
            part.kind,
            part.props,
            inports.get(part.name),
            {name: outports[key] for name, key in part.outs.items()},
            part.places,
            *state,
            tuple(moved.ties(k) for k in range(*state[1].indices(BOUND))),
            part.inport or "",
            entity=part.entity,
        )
        for part, state in zip(parts, states, strict=True)
    )
    source = {inports[part.name]: outports[part.source] for part in parts if part.source is not None}
    feeds: dict[int, tuple[int, ...]] = dict.fromkeys(outports.values(), ())
    for i, o in source.items():
        feeds[o] += (i,)
    located = {name: (outports[key], (R, p)) for name, (key, R, p) in draft.located.items()}
    where = tuple(ports), tuple(owner), source, feeds, located
    return Network(model, components, *where, loops, events, notes, rules, moved)
