"""Parts that move as one: ports that no joint lets move against each other."""

from __future__ import annotations

from dataclasses import dataclass, field

from gyrostat.graph.lower import Values, lower
from gyrostat.spec.entity import Entity
from gyrostat.spec.joint import Joint
from gyrostat.spec.model import Model
from gyrostat.spec.rigid_body import RigidBody

Port = tuple[str, str]


@dataclass
class RigidPart:
    """``port``: the frame it is drawn in; ``bodies`` on it; ``named``: ports that carry a name of the user;
    ``inner``: the port of the joint that carries it, ``outer``: ports of joints on it, with the joint's name."""

    name: str
    port: str
    bodies: list[str]
    ports: list[str]
    named: list[str]
    inner: str | None = None
    outer: list[tuple[str, str]] = field(default_factory=list)
    parent: int | None = None


def is_rigid(name: str, entity: Entity) -> bool:
    """Whether all spatial ports of an entity move as one."""
    spatial = [port.name for port in entity.ports if port.kind == "spatial"]
    if len(spatial) < 2 or (isinstance(entity, Joint) and entity.kind == "fixed"):
        return True
    return not entity.rates and bool(lower(entity, Values(name, entity, {}), spatial[0]).places)


def rigid_parts(model: Model) -> list[RigidPart]:
    """The parts of a model, that of the reference frame first, parents before what they carry."""
    wiring = model.wiring
    root_of: dict[Port, Port] = {}

    def find(port: Port) -> Port:
        root_of.setdefault(port, port)
        while root_of[port] != port:
            root_of[port] = root_of[root_of[port]]
            port = root_of[port]
        return port

    spatial = {
        name: [(name, port.name) for port in entity.ports if port.kind == "spatial"]
        for name, entity in wiring.entities.items()
    }
    connected = {name for group in wiring.groups for name, _ in group}  # a ground may stand alone, in the world
    known = {port for ports in spatial.values() for port in ports}
    for group in wiring.groups:
        for port in group[1:]:
            if port in known:
                root_of[find(port)] = find(group[0])
    for name, entity in wiring.entities.items():
        for port in spatial[name][1:] if is_rigid(name, entity) else ():
            root_of[find(port)] = find(spatial[name][0])
    members: dict[Port, list[Port]] = {}
    for name in wiring.tree.parent:
        for port in spatial[name] if wiring.entities[name].binds or name in connected else ():
            members.setdefault(find(port), []).append(port)
    parts = [_part(model, ports) for ports in members.values()]
    return _ordered(model, parts)


def _part(model: Model, ports: list[Port]) -> RigidPart:
    entities = model.wiring.entities
    names = list(dict.fromkeys(name for name, _ in ports))
    bodies = [name for name in names if isinstance(entities[name], RigidBody)]
    full = [".".join(port) for port in ports]
    heavy = max(bodies, key=lambda name: getattr(entities[name], "mass", 0.0), default=None)
    start = f"{heavy}.origin" if heavy else full[0]
    named = [f"{name}.{port}" for name, port in ports if name in bodies]
    if entities[names[0]].type_name == "reference_frame":
        named = [f"{names[0]}.frame", *named]
    return RigidPart(heavy or names[0], start, bodies, full, list(dict.fromkeys(named)))


def _ordered(model: Model, parts: list[RigidPart]) -> list[RigidPart]:
    """Breadth first from the reference frame; joints between parts are noted on both."""
    part_of = {port: part for part in parts for port in part.ports}
    root = f"{model.wiring.root}.frame"
    order = [part_of[root]]
    done = {id(order[0])}
    between: dict[int, list[tuple[str, str, str]]] = {}
    for name, entity in model.wiring.entities.items():
        ends = [f"{name}.{port.name}" for port in entity.ports if port.kind == "spatial"]
        if len(ends) == 2 and isinstance(entity, Joint) and all(end in part_of for end in ends):
            one, two = ends
            if part_of[one] is not part_of[two]:
                between.setdefault(id(part_of[one]), []).append((name, one, two))
                between.setdefault(id(part_of[two]), []).append((name, two, one))
    for k, part in enumerate(order):  # grows on the way
        for name, here, there in between.get(id(part), ()):
            if part.inner == here:
                continue
            part.outer.append((name, here))
            other = part_of[there]
            if id(other) not in done:
                done.add(id(other))
                other.inner, other.parent = there, k
                order.append(other)
    return order + [part for part in parts if id(part) not in done]
