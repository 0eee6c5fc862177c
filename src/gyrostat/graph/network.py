"""The network: components in outward order, each with one inport, its outports, and what feeds it (H04 4.2.1)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from gyrostat.errors import FrameError, LoopError, SpecError, clipped, nearest
from gyrostat.graph.draft import Draft, DraftPart
from gyrostat.graph.lower import Lowered, Placement, Values, lower
from gyrostat.graph.reference_frames import DrivenBase, FixedBase, FreeBase
from gyrostat.graph.rewrite import DEFAULT, RULES, rewrite
from gyrostat.graph.transmission import Ties, Transmission, transmission
from gyrostat.spatial.algebra import Array
from gyrostat.spec.check import check
from gyrostat.spec.context import Context, HarmonicMotion, MovingBase, UniformGravity
from gyrostat.spec.displacement import Displacement
from gyrostat.spec.force_element import ForceElement
from gyrostat.spec.joint import Joint
from gyrostat.spec.model import Model
from gyrostat.spec.port_names import Scope, resolve
from gyrostat.spec.reference_frame import ReferenceFrame
from gyrostat.spec.rigid_body import RigidBody
from gyrostat.spec.rotor import RotorInertia
from gyrostat.spec.spanning_tree import Loop, Visit
from gyrostat.spec.wiring import LooseEnd, label_of

NO_STATE = slice(0, 0), slice(0, 0)
BOUND = 2**31


@dataclass(frozen=True)
class Component:
    """A node of the dataflow: ``kind`` selects the row of each algorithm.

    ``inport`` is a number of ``Network.ports`` (None for the reference frame); ``outports`` maps the names of
    outports to numbers; ``places`` are the placements of outports seen from the inport, for rigid kinds. ``q_at`` and
    ``v_at`` are its part of the state; ``ties`` say for each of its rates which rates of the model make it up, and
    ``tie_rates`` how that changes at a state (nothing, where no curve is followed); ``met`` is the name of the port
    that it was met by."""

    name: str
    kind: type
    props: Mapping[str, Any]
    inport: int | None
    outports: Mapping[str, int]
    places: Mapping[str, Placement]
    q_at: slice
    v_at: slice
    ties: tuple[Ties, ...] = ()
    met: str = ""
    tie_rates: tuple[Ties, ...] = ()

    def __getitem__(self, prop: str) -> Any:
        return self.props[prop]


@dataclass(frozen=True)
class Pair:
    """Forces between two frames: where a and b are, each an outport and the placement of the frame on it."""

    name: str
    kind: type
    props: Mapping[str, Any]
    a: tuple[int, Placement]
    b: tuple[int, Placement]

    def __getitem__(self, prop: str) -> Any:
        return self.props[prop]


@dataclass(frozen=True)
class Network:
    """How data will flow. Built once from a :class:`Model`; solvers run over it.

    ``ports`` are the spatial ports that are left after rewriting; ``source[i]`` is the outport that feeds inport i;
    ``feeds[o]`` the inports that outport o feeds. ``located`` tells for every spatial port of the specification on
    which outport of the network it sits, and where. ``transmission`` ties rates of components to those of the model;
    ``pairs`` are forces between two frames."""

    model: Model
    components: tuple[Component, ...]
    ports: tuple[str, ...]
    owner: tuple[int, ...]
    source: Mapping[int, int]
    feeds: Mapping[int, tuple[int, ...]]
    located: Mapping[str, tuple[int, Placement]]
    loops: tuple[Loop, ...]
    events: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    notes: tuple[str, ...] = field(default=(), repr=False)
    rules: tuple[str, ...] = ()
    transmission: Transmission = field(default_factory=Transmission, repr=False)
    pairs: tuple[Pair, ...] = ()

    @property
    def context(self) -> Context:
        return self.model.context

    @property
    def inward(self) -> tuple[Component, ...]:
        return tuple(reversed(self.components))

    @property
    def side_by_side(self) -> tuple[Component, ...]:
        """Components in outward order too, but those of all limbs level by level: neighbours in it do not wait for each
        other, as the joints of one limb do."""
        depth: dict[int, int] = {}
        levels: list[int] = []
        for c in self.components:
            levels.append(0 if c.inport is None else depth[self.source[c.inport]] + 1)
            depth |= dict.fromkeys(c.outports.values(), levels[-1])
        order = sorted(range(len(levels)), key=levels.__getitem__)
        return tuple(self.components[k] for k in order)

    @property
    def driven(self) -> bool:
        """Whether the base moves by itself."""
        return any(c.kind is DrivenBase for c in self.components)

    def at(self, q: Array, v: Array | None = None) -> Network:
        """With the ties of all rates at a state, see :meth:`Transmission.at`; itself where all ties are constant."""
        moved = self.transmission.at(q, v)
        if moved is self.transmission:
            return self
        components = tuple(_at(c, moved) if c.ties else c for c in self.components)
        return replace(self, transmission=moved, components=components)

    def in_order(self, parts: Mapping[str, Array]) -> Array:
        """Values of all rates that components have, from the values of each component; zero for those of none."""
        count = self.transmission.n + len(self.transmission.followers)
        ordered = sorted((c for c in self.components if c.v_at.stop > c.v_at.start), key=lambda c: c.v_at.start)
        pieces: list[Array] = []
        at = 0
        for c in ordered:
            if c.v_at.start > at:
                pieces.append(np.zeros((c.v_at.start - at, *np.shape(parts[c.name])[1:])))
            pieces.append(parts[c.name])
            at = c.v_at.stop
        if at < count:
            pieces.append(np.zeros((count - at, *(np.shape(pieces[0])[1:] if pieces else ()))))
        return np.concatenate(pieces) if pieces else np.zeros(0)

    def path(self, port: int) -> list[tuple[Component, str]]:
        """Components, with the outport taken, from the world to an outport."""
        steps: list[tuple[Component, str]] = []
        at: int | None = port
        while at is not None:
            c = self.components[self.owner[at]]
            steps.append((c, next(name for name, k in c.outports.items() if k == at)))
            at = self.source[c.inport] if c.inport is not None else None
        return steps[::-1]

    def port(self, name: str) -> str:
        """The full name of a spatial port: an entity alone stands for its origin, its frame, or its port b."""
        if not isinstance(name, str):
            raise FrameError(f"frames and ports are named by texts, got {clipped(name)}. Hint: 'tool.tip'")
        if name in self.located:
            return name
        for last in ("origin", "frame", "b"):
            if f"{name}.{last}" in self.located:
                return f"{name}.{last}"
        exposed = resolve(str(name), Scope({e.name: e for e in self.model.entities}), guess=False)
        if not isinstance(exposed, LooseEnd) and ".".join(exposed[0]) in self.located:
            return ".".join(exposed[0])  # a port of an assembly
        raise FrameError(f"there is no frame or port '{name}' in '{self.model.name}'. Hint: {self._suggest(name)}")

    def _suggest(self, name: str) -> str:
        return nearest(str(name), [*self.located, *(n for n in self.model.wiring.entities)])

    def refuse_loops(self, algorithm: str) -> None:
        """For algorithms that need a tree."""
        if self.loops:
            told = "; ".join(str(loop) for loop in self.loops)
            raise LoopError(
                f"{algorithm}: '{self.model.name}' has {len(self.loops)} kinematic loop(s), which this algorithm "
                f"cannot treat: {told}. Hint: open the named connection",
                [loop.entities for loop in self.loops],
            )

    def explain(self) -> str:
        """Which rules fired on what, which body went where, and what was normalised."""
        lines = [
            f"Network of '{self.model.name}': {len(self.model.wiring.entities)} entities became {len(self.components)} "
            f"components with {len(self.ports)} ports; rules on: {', '.join(self.rules) or 'none'}"
        ]
        lines += [f"  {rule}: {what}" for rule, what in self.events]
        lines += [f"  normalised: {note}" for note in self.notes]
        lines += [f"  loop: {loop}" for loop in self.loops]
        lines.append("  outward order: " + " -> ".join(c.name for c in self.components))
        return "\n".join(lines)


def _at(c: Component, moved: Transmission) -> Component:
    """A component whose ties are those of a state."""
    shafts = [moved.shaft(k) for k in range(c.v_at.start, c.v_at.stop)]
    return replace(c, ties=tuple(s.ties for s in shafts), tie_rates=tuple(s.tie_rates for s in shafts))


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
    frozen = _freeze(model, draft, moved, tree.loops, tuple(events), tuple(notes), used)
    if "_has_room" not in model.__dict__ and any(c.kind is RotorInertia for c in frozen.components):
        merged, _ = _draft(model, tree.visits, {})  # whatever the rules are: each carrier as one body
        rewrite(merged, list(DEFAULT), ())
        _expect_room(_freeze(model, merged, moved, tree.loops, (), (), DEFAULT))
        model.__dict__["_has_room"] = True
    return replace(frozen, pairs=tuple(_pairs(frozen, live)))


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
        if entity.binds:
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
        spatial = [port.name for port in entity.ports if port.kind == "spatial"]
        outs = {name: f"{visit.entity}.{name}" for name in spatial if name != visit.inport}
        draft.add(DraftPart(visit.entity, low.kind, low.props, visit.inport, visit.source, outs, low.places))
        if low.beside is not None:
            draft.hide(DraftPart(f"{visit.entity} (body)", RigidBody, low.beside, visit.inport, visit.source, {}, {}))
    return draft, notes


def _reference(model: Model) -> Lowered:
    base = model.context.base
    if base == "free":
        return Lowered(FreeBase, {"kind": "free", "far": False})
    if isinstance(base, HarmonicMotion | MovingBase):
        return Lowered(DrivenBase, {"motion": base})
    return Lowered(FixedBase, {})


def _freeze(
    model: Model,
    draft: Draft,
    moved: Transmission,
    loops: tuple[Loop, ...],
    events: Any,
    notes: tuple[str, ...],
    rules: tuple[str, ...],
) -> Network:
    slices = moved.slices
    ports: list[str] = []
    owner: list[int] = []
    inports: dict[str, int] = {}
    outports: dict[str, int] = {}
    parts = draft.outward()
    for k, part in enumerate(parts):
        if part.source is not None:
            inports[part.name] = len(ports)
            ports.append(f"{part.name}.{part.inport}")
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
            *slices.get(part.name, NO_STATE),
            tuple(moved.ties(k) for k in range(*slices.get(part.name, NO_STATE)[1].indices(BOUND))),
            part.inport or "",
        )
        for part in parts
    )
    source = {inports[part.name]: outports[part.source] for part in parts if part.source is not None}
    feeds: dict[int, tuple[int, ...]] = dict.fromkeys(outports.values(), ())
    for i, o in source.items():
        feeds[o] += (i,)
    located = {name: (outports[key], (R, p)) for name, (key, R, p) in draft.located.items()}
    where = tuple(ports), tuple(owner), source, feeds, located
    return Network(model, components, *where, loops, events, notes, rules, moved)
