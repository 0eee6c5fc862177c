"""A way to write models that reads well: chains, single connections, and ``assemble``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from gyrostat.errors import SpecError, clipped
from gyrostat.spec.assembly import Assembly
from gyrostat.spec.context import Context
from gyrostat.spec.entity import Entity
from gyrostat.spec.model import Model
from gyrostat.spec.reference_frame import ReferenceFrame


@dataclass(frozen=True)
class Parts:
    """Entities and connections that belong together; what :func:`chain` and :func:`connect` return."""

    entities: tuple[Entity, ...] = ()
    connections: tuple[tuple[str, ...], ...] = ()


def connect(*ports: str) -> Parts:
    """One connection of two or more ports: ``connect("elbow.b", "forearm.origin")``."""
    return Parts(connections=(ports,))


Link = Entity | tuple[str, Entity] | str


def chain(start: str, *links: Link) -> Parts:
    """Entities one after the other, beginning at the port ``start``.

    Each entity is entered at its first spatial port and left at its last one: a joint or displacement from a to b, a
    body from its origin to its last frame (or its origin, if it has no frames). ``("tip", body)`` enters the body by
    its port ``tip``; a string that follows an entity names the port to leave it by:
    ``chain("world", ("tip", body), "origin", joint)``.

    >>> parts = chain("world", Joint("hinge", "revolute", axis="y"), RigidBody("rod", mass=1))
    >>> parts.connections
    (('world', 'hinge.a'), ('hinge.b', 'rod.origin'))
    """
    entities: list[Entity] = []
    connections: list[tuple[str, ...]] = []
    if not isinstance(start, str):
        message = f"starts with {clipped(start)}, expected the name of a port"
        raise SpecError.one("chain", "chain", message, 'write chain("world", ...)', start)
    leave = start
    for link in links:
        if isinstance(link, str):
            if not entities:
                message = f"the port '{link}' follows no entity"
                raise SpecError.one("chain", "chain", message, "put it after an entity", link)
            leave = f"{entities[-1].name}.{link}"
            continue
        enter, entity = link if isinstance(link, tuple) and len(link) == 2 else (None, link)
        if not isinstance(entity, Entity):
            message = f"expected entities and names of their ports, got {clipped(link)}"
            remedy = (
                'write chain("world", joint, body, "tip", joint); single connections go beside it, with connect(...)'
            )
            raise SpecError.one("chain", "chain", message, remedy, link)
        ports = [port.name for port in entity.ports if port.kind == "spatial"]
        if not ports:
            raise SpecError(
                [entity.problem("chain", "has no spatial port to be entered by", "expose one", entity.name)]
            )
        connections.append((leave, f"{entity.name}.{enter or ports[0]}"))
        leave = f"{entity.name}.{ports[-1]}"
        entities.append(entity)
    return Parts(tuple(entities), tuple(connections))


def _gather(parts: Sequence[Parts | Entity]) -> Parts:
    entities: list[Entity] = []
    connections: list[tuple[str, ...]] = []
    for part in parts:
        if isinstance(part, Entity):
            entities.append(part)
        elif isinstance(part, Parts):
            entities += part.entities
            connections += part.connections
        else:
            what = f"expected entities, chain(...) or connect(...), got {clipped(part)}"
            raise SpecError.one("assemble", "parts", what, "write assemble(name, chain(...), connect(...), body)", part)
    return Parts(tuple(entities), tuple(connections))


def assemble(
    name: str,
    *parts: Parts | Entity,
    gravity: Any = (0.0, 0.0, -9.81),
    base: Any = "fixed",
    reference: Any = (),
    independent: Any = (),
    loops: Any = "auto",
) -> Model:
    """A model from entities, chains and connections; a reference frame ``world`` is added if none is given.

    A closed loop is simply connected. ``reference={"crank": 0.5, ...}`` [rad, m] says how it is assembled, at least
    roughly; ``independent``: joints whose coordinates are kept, by default the actuated ones; ``loops``: "auto",
    "minimal", "constraints" or "maximal", see :class:`Context`.

    >>> rod = RigidBody("rod", mass=1, com=(0, 0, -0.5), inertia=(1 / 12, 1 / 12, 0))
    >>> model = assemble("pendulum", chain("world", Joint("hinge", "revolute", axis="y"), rod))
    """
    gathered = _gather(parts)
    entities = gathered.entities
    if not any(isinstance(entity, ReferenceFrame) for entity in entities):
        entities = (ReferenceFrame("world"), *entities)
    reference = {} if isinstance(reference, tuple) and not reference else reference
    about_loops = {"reference": reference, "independent": independent, "loops": loops}
    return Model(name, entities, gathered.connections, Context(gravity=gravity, base=base, **about_loops))


def assembly(name: str, *parts: Parts | Entity, exposes: Any = ()) -> Assembly:
    """An :class:`Assembly` from entities, chains and connections; its outer ports: ``exposes={"hip": "thigh.origin"}``.

    Connections that lead to ports outside belong to the model that uses the assembly.
    """
    gathered = _gather(parts)
    return Assembly(name, entities=gathered.entities, connections=gathered.connections, exposes=exposes)
