"""Names of ports as connections write them: ``world``, ``arm.tip``, ``leg.foot`` of an assembly that exposes it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice

from gyrostat.errors import Problem, near, suggestion
from gyrostat.spec.assembly import Assembly
from gyrostat.spec.entity import Entity, Port
from gyrostat.spec.wiring import LooseEnd


@dataclass
class Scope:
    """The names that can be used in one list of connections: those of the model, or of one assembly."""

    by_name: Mapping[str, Entity]
    prefix: str = ""
    label: str = "model"
    _ports: dict[str, dict[str, Port]] = field(default_factory=dict)

    def ports(self, name: str) -> dict[str, Port]:
        if name not in self._ports:
            self._ports[name] = {port.name: port for port in self.by_name[name].ports}
        return self._ports[name]

    @cached_property
    def inner(self) -> dict[str, tuple[Scope, dict[str, str]]]:
        """For each assembly: the scope inside, and its exposed ports."""
        return {
            name: (Scope(first_of_each(entity.entities), f"{self.prefix}{name}."), dict(entity.exposes))
            for name, entity in self.by_name.items()
            if isinstance(entity, Assembly)
        }


def first_of_each(entities: Iterable[Entity]) -> dict[str, Entity]:
    """By name; of several with one name, the first."""
    entities_by_name: dict[str, Entity] = {}
    for entity in entities:
        entities_by_name.setdefault(entity.name, entity)
    return entities_by_name


def resolve(text: str, scope: Scope, guess: bool = True) -> tuple[tuple[str, str], Port] | LooseEnd:
    """The port that is meant by a name as written: (entity, port) by full names, through assemblies."""
    name, _, port_name = text.partition(".")
    entity = scope.by_name.get(name)
    if entity is None:
        close = tuple(near(name, scope.by_name)) if guess else ()
        remedy = suggestion(close, [*islice(scope.by_name, 9)])
        problem = Problem("", "dangling-connection", f"there is no entity '{scope.prefix}{name}'", remedy)
        meant = tuple(scope.prefix + n for n in close) or (scope.prefix.rstrip("."),)
        return LooseEnd(f"{scope.prefix}*", problem, meant=meant)
    full = scope.prefix + name
    port_name = port_name or entity.default_port or ""
    ports = scope.ports(name)
    if port_name not in ports:
        what = f"has no port '{port_name}'" if port_name else "has several ports and none was named"
        remedy = suggestion(near(port_name, ports) if guess else (), [*islice(ports, 9)])
        return LooseEnd(full, Problem("", "dangling-connection", f"'{full}' {what}", remedy), meant=(full,))
    if name not in scope.inner:
        return (full, port_name), ports[port_name]
    inside, exposes = scope.inner[name]
    end = resolve(exposes[port_name], inside, guess=False)
    return LooseEnd(end.lacks, None, meant=(full,)) if isinstance(end, LooseEnd) else end
