"""Assemblies (H04 2.2.1, relation *component*): entities inside, some of their ports outside."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Annotated, Any

from pydantic import InstanceOf, PlainSerializer, PlainValidator, SerializeAsAny

from gyrostat.spec.describe import RefusedError
from gyrostat.spec.entity import Entity, Port, PortKind


def to_connections(value: Any) -> tuple[tuple[str, ...], ...]:
    """Connections as tuples of port names."""
    if not isinstance(value, list | tuple):
        raise RefusedError("must be a list of connections", value, "write [[elbow.b, forearm.origin]]")
    return tuple(to_connection(ports) for ports in value)


def to_connection(value: Any) -> tuple[str, ...]:
    """One connection: a list of port names."""
    if not isinstance(value, list | tuple) or not all(isinstance(port, str) for port in value):
        raise RefusedError("must be a list of ports", value, "write two or more ports as in [elbow.b, forearm.origin]")
    return tuple(value)


def to_exposed(value: Any) -> tuple[tuple[str, str], ...]:
    """Pairs (outer port, inner port) from a mapping or from pairs."""
    pairs = tuple(value.items()) if isinstance(value, Mapping) else value
    if isinstance(pairs, list | tuple) and all(isinstance(pair, list | tuple) and len(pair) == 2 for pair in pairs):
        texts = [text for pair in pairs for text in pair]
        if all(isinstance(text, str) for text in texts):
            return tuple(zip(texts[::2], texts[1::2], strict=True))
    raise RefusedError("must map outer port names to inner ports", value, "write them as in {hip: thigh.origin}")


Connections = Annotated[
    tuple[tuple[str, ...], ...], PlainValidator(to_connections), PlainSerializer(lambda c: [list(p) for p in c])
]
Exposed = Annotated[tuple[tuple[str, str], ...], PlainValidator(to_exposed), PlainSerializer(dict)]


class Assembly(Entity):
    """A part made of parts. ``exposes`` maps the assembly's own port names to ports of the entities inside.

    Names inside are local: two legs may both have a ``knee``; from outside they are ``left.knee`` and ``right.knee``.
    """

    entities: tuple[SerializeAsAny[InstanceOf[Entity]], ...]
    connections: Connections = ()
    exposes: Exposed = ()

    def inner(self, port: str) -> str | None:
        """The inner port behind the exposed name."""
        return dict(self.exposes).get(port)

    @property
    def ports(self) -> tuple[Port, ...]:
        return self._ports

    @cached_property  # asking entities inside of entities again and again would take exponential time
    def _ports(self) -> tuple[Port, ...]:
        inside: dict[str, Entity] = {}
        for entity in self.entities:
            inside.setdefault(entity.name, entity)
        return tuple(Port(outer, self._kind(inner, inside)) for outer, inner in self.exposes)

    @staticmethod
    def _kind(inner: str, inside: Mapping[str, Entity]) -> PortKind:
        name, _, port_name = inner.partition(".")
        entity = inside.get(name)
        if entity is None:
            return "spatial"
        kinds: dict[str, PortKind] = {port.name: port.kind for port in entity.ports}
        return kinds.get(port_name or entity.default_port or "", "spatial")
