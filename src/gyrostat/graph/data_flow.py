"""The data flow of a model: components in outward order, each with one inport, its outports, and what feeds it (H04
4.2.1). ``graph.network`` makes it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from gyrostat.errors import FrameError, LoopError, clipped, nearest
from gyrostat.graph.lower import Placement
from gyrostat.graph.reference_frames import DrivenBase
from gyrostat.graph.transmission import Ties, Transmission
from gyrostat.spatial.algebra import Array
from gyrostat.spec.context import Context
from gyrostat.spec.entity import Entity
from gyrostat.spec.model import Model
from gyrostat.spec.port_names import Scope, resolve
from gyrostat.spec.spanning_tree import Loop
from gyrostat.spec.wiring import LooseEnd

NO_STATE = slice(0, 0), slice(0, 0)
BOUND = 2**31


@dataclass(frozen=True)
class Component:
    """A node of the dataflow: ``kind`` selects the row of each algorithm.

    ``inport`` is a number of ``Network.ports`` (None for the reference frame); ``outports`` maps the names of
    outports to numbers; ``places`` are the placements of outports seen from the inport, for rigid kinds. ``q_at`` and
    ``v_at`` are its part of the state; ``ties`` say for each of its rates which rates of the model make it up, and
    ``tie_rates`` how that changes at a state (nothing, where no curve is followed); ``met`` is the name of the port
    that it was met by; ``entity`` is what it was lowered from, one of the specification or inside one of these."""

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
    entity: Entity | None = field(default=None, repr=False, compare=False)

    def __getitem__(self, prop: str) -> Any:
        return self.props[prop]


@dataclass(frozen=True)
class Pair:
    """Forces between two frames: where a and b are, each an outport (None: it stands still in the world) and the
    placement of the frame on it."""

    name: str
    kind: type
    props: Mapping[str, Any]
    a: tuple[int | None, Placement]
    b: tuple[int | None, Placement]

    def __getitem__(self, prop: str) -> Any:
        return self.props[prop]


@dataclass(frozen=True)
class Network:
    """How data will flow. Built once from a :class:`Model`; solvers run over it.

    ``ports`` are the spatial ports that are left after rewriting; ``source[i]`` is the outport that feeds inport i;
    ``feeds[o]`` the inports that outport o feeds. ``located`` tells for every spatial port of the specification on
    which outport of the network it sits, and where. ``transmission`` ties rates of components to those of the model;
    ``pairs`` are forces between two frames. ``loops``: all of them; ``closures``: those that are left as constraints,
    each a :class:`~gyrostat.graph.loops.ways.Closure`."""

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
    closures: tuple[Any, ...] = ()

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
        owner, _, port = name.rpartition(".")
        inner = self.model.wiring.assemblies[owner].inner(port) if owner in self.model.wiring.assemblies else None
        if inner is not None:  # of one inside another
            return self.port(f"{owner}.{inner}")
        raise FrameError(f"there is no frame or port '{name}' in '{self.model.name}'. Hint: {self._suggest(name)}")

    def _suggest(self, name: str) -> str:
        return nearest(str(name), [*self.located, *(n for n in self.model.wiring.entities)])

    def refuse_loops(self, algorithm: str) -> None:
        """For algorithms that know no constraints: loops that are solved in closed form are none."""
        if self.closures:
            told = "; ".join(str(closure.loop) for closure in self.closures)
            raise LoopError(
                f"{algorithm}: '{self.model.name}' has {len(self.closures)} kinematic loop(s) without a closed form, "
                f"which this algorithm cannot treat: {told}. Hint: gs.loops(model) says why; open the named connection",
                [closure.loop.entities for closure in self.closures],
            )

    def explain(self) -> str:
        """Which rules fired on what, which body went where, and what was normalised."""
        lines = [
            f"Network of '{self.model.name}': {len(self.model.wiring.entities)} entities became {len(self.components)} "
            f"components with {len(self.ports)} ports; rules on: {', '.join(self.rules) or 'none'}"
        ]
        lines += [f"  {rule}: {what}" for rule, what in self.events]
        lines += [f"  normalised: {note}" for note in self.notes]
        plan = self.model.layout.plan
        lines += [f"  {told}" for told in (plan.reports if plan is not None else [f"loop: {x}" for x in self.loops])]
        lines.append("  outward order: " + " -> ".join(c.name for c in self.components))
        return "\n".join(lines)


def _at(c: Component, moved: Transmission) -> Component:
    """A component whose ties are those of a state."""
    shafts = [moved.shaft(k) for k in range(c.v_at.start, c.v_at.stop)]
    return replace(c, ties=tuple(s.ties for s in shafts), tie_rates=tuple(s.tie_rates for s in shafts))
