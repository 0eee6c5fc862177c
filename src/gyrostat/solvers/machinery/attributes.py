"""What a solver tells about itself (H04 4.3.1): the attributes it provides, and where they come from in the
specification."""

from __future__ import annotations

from typing import NamedTuple

from gyrostat.errors import FrameError, nearest
from gyrostat.graph.network import Network
from gyrostat.spec.model import Model
from gyrostat.spec.rigid_body import RigidBody


class Attributes(NamedTuple):
    """Names of ``coordinates`` (q), ``rates`` (v), ``frames`` (ports), ``bodies`` with mass, and ``live``
    properties."""

    coordinates: tuple[str, ...]
    rates: tuple[str, ...]
    frames: tuple[str, ...]
    bodies: tuple[str, ...]
    live: tuple[str, ...]


class Origin(NamedTuple):
    """Where an attribute comes from: the ``entity`` and the ``part`` of it (a port, a property, q or v) in the
    specification; the ``component`` of the network that computes it; and the line ``source`` of the file, if any."""

    entity: str
    part: str
    component: str
    source: str


def attributes(model: Model, network: Network, live: tuple[str, ...]) -> Attributes:
    bodies = tuple(name for name, e in model.wiring.entities.items() if isinstance(e, RigidBody))
    return Attributes(tuple(model.coordinates), tuple(model.dofs), tuple(network.located), bodies, live)


def origin(model: Model, network: Network, name: str) -> Origin:
    """The preimage of a coordinate, rate, frame, body or property."""
    owners = {part: b.entity for b in model.layout for part in _names(b.entity, (*b.coordinates, *b.rates))}
    if name in owners:
        part = name.removeprefix(owners[name]).lstrip(".") or "q"
        return Origin(owners[name], part, _component(network, owners[name]), model.sources.get(owners[name], ""))
    if name in model.wiring.entities:
        return Origin(name, "", _component(network, name), model.sources.get(name, ""))
    if name in network.located:
        at, _ = network.located[name]
        entity, _, port = name.rpartition(".")
        return Origin(entity, port, network.components[network.owner[at]].name, model.sources.get(entity, ""))
    if name in model.paths():
        entity, _, part = name.rpartition(".")
        return Origin(entity, part, _component(network, entity), model.sources.get(name, ""))
    known = [*owners, *model.wiring.entities, *network.located]
    raise FrameError(f"mapping: there is no attribute '{name}' in '{model.name}'. Hint: {nearest(str(name), known)}")


def _names(owner: str, parts: tuple[str, ...]) -> list[str]:
    return [owner, *(f"{owner}.{part}" for part in parts)]


def _component(network: Network, entity: str) -> str:
    """The component that an entity became, or that it was merged into."""
    names = [c.name for c in network.components]
    if entity in names:
        return entity
    for port, (at, _) in network.located.items():
        if port.startswith(f"{entity}."):
            return network.components[network.owner[at]].name
    return ""
