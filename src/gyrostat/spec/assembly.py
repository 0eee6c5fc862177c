"""Assemblies (H04 2.2.1, relation *component*): entities inside, some of their ports outside."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import InstanceOf, PlainSerializer, PlainValidator, SerializeAsAny

from gyrostat.spec.entity import Entity, Port


def to_connections(value: Any) -> tuple[tuple[str, ...], ...]:
    """Connections as tuples of port names."""
    if not isinstance(value, list | tuple):
        raise ValueError(f"must be a list of lists of ports, got {value!r}")
    for ports in value:
        if not isinstance(ports, list | tuple) or not all(isinstance(port, str) for port in ports):
            raise ValueError(f"must be a list of lists of ports such as [elbow.b, forearm.origin], got {ports!r}")
    return tuple(tuple(ports) for ports in value)


def to_exposed(value: Any) -> tuple[tuple[str, str], ...]:
    pairs = tuple(value.items()) if isinstance(value, Mapping) else tuple(value)
    if not all(isinstance(pair, tuple | list) and len(pair) == 2 for pair in pairs) or not all(
        isinstance(text, str) for pair in pairs for text in pair
    ):
        raise ValueError(f"must map outer port names to inner ports, got {value!r}")
    return tuple((str(outer), str(inner)) for outer, inner in pairs)


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
        return tuple(Port(outer, self._kind(inner)) for outer, inner in self.exposes)

    def _kind(self, inner: str) -> Any:
        entity_name, _, port_name = inner.partition(".")
        for entity in self.entities:
            if entity.name == entity_name:
                kinds = {port.name: port.kind for port in entity.ports}
                return kinds.get(port_name or entity.default_port or "", "spatial")
        return "spatial"
