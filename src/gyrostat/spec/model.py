"""The model: entities, connections and context as frozen data, every physical property addressable by path."""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from pydantic import BaseModel, ValidationError

from gyrostat.errors import SpecError, clipped, nearest
from gyrostat.spec.assembly import Assembly, to_connections
from gyrostat.spec.context import Context
from gyrostat.spec.describe import RefusedError, describe
from gyrostat.spec.entity import Entity
from gyrostat.spec.solver_spec import SolverSpec
from gyrostat.spec.values import Frame
from gyrostat.spec.wiring import Wiring, wire


@dataclass(frozen=True, eq=False)
class Model:
    """What a mechanism is. Nothing is computed here; ``gs.check`` finds mistakes, solvers compute.

    ``model["forearm.mass"]`` reads a property, ``model.replace({"forearm.mass": 2.0})`` makes a new model. Two models
    are equal when their data are.
    """

    name: str
    entities: tuple[Entity, ...]
    connections: tuple[tuple[str, ...], ...] = ()
    context: Context = field(default_factory=Context)
    sources: Mapping[str, str] = field(default_factory=dict, repr=False)  # path -> "file:line"
    solvers: Mapping[str, SolverSpec] = field(default_factory=dict, repr=False)  # by a name of the user's

    def __post_init__(self) -> None:
        owner = f"model '{self.name}'"
        if not isinstance(self.name, str):
            raise _refused("model", f"name must be a text, got {clipped(self.name)}", "give the name first", self.name)
        if not isinstance(self.context, Context):
            message = f"context must be a Context, got {clipped(self.context)}"
            raise _refused(owner, message, "write Context(gravity=(0, 0, -9.81), base='fixed')", self.context)
        if not isinstance(self.entities, list | tuple) or not all(isinstance(e, Entity) for e in self.entities):
            wrong = self.entities
            if isinstance(wrong, list | tuple):
                wrong = next(e for e in wrong if not isinstance(e, Entity))
            message = f"entities must be a list of Entity objects, got {clipped(wrong)}"
            raise _refused(owner, message, "chains and connections go through assemble(...)", wrong)
        object.__setattr__(self, "entities", tuple(self.entities))
        try:
            object.__setattr__(self, "connections", to_connections(self.connections))
        except RefusedError as refused:
            raise _refused(owner, f"connections: {refused}", refused.remedy, self.connections) from None
        if not isinstance(self.solvers, Mapping) or not all(
            isinstance(k, str) and isinstance(v, SolverSpec) for k, v in self.solvers.items()
        ):
            message = f"solvers must map names to SolverSpec objects, got {clipped(self.solvers)}"
            raise _refused(owner, message, "write {'torques': SolverSpec('InverseDynamics')}", self.solvers)
        object.__setattr__(self, "solvers", dict(self.solvers))

    # ------------------------------------------------------------------ equality
    def _data(self) -> tuple[Any, ...]:
        return self.name, self.entities, self.connections, self.context, tuple(sorted(self.solvers.items(), key=_first))

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Model) and self._data() == other._data())

    @cached_property
    def _hash(self) -> int:
        return hash(self._data())

    def __hash__(self) -> int:
        return self._hash

    def __getstate__(self) -> dict[str, Any]:
        """The data alone: what was derived (solvers, hash) belongs to this process."""
        return {key: self.__dict__[key] for key in FIELDS}

    # ------------------------------------------------------------------ structure and state
    @cached_property
    def wiring(self) -> Wiring:
        """Flat entities and groups of connected ports."""
        return wire(self.entities, self.connections)

    @cached_property
    def shafts(self) -> Any:
        """What turns with what: :class:`gyrostat.graph.shafts.Shafts`."""
        from gyrostat.graph.shafts import shafts

        return shafts(self.wiring)

    @cached_property
    def stateful(self) -> tuple[tuple[str, tuple[str, ...], tuple[str, ...], int | None], ...]:
        """(entity, names in q, names in v, place of a quaternion) in order of the state: file order, parents first."""
        found = []
        for name in self.wiring.state_order():
            entity = self.wiring.entities[name]
            q, v = entity.coordinates, entity.rates
            kept = self.shafts.kept(name, entity)
            if len(kept) < len(v):  # the others are tied to rates elsewhere
                q, v = tuple(q[k] for k in kept), tuple(v[k] for k in kept)
            if v:
                found.append((name, q, v, entity.quaternion_at))
        found += [(name, ("q",), ("v",), None) for name in self.shafts.rotors]
        root = self.wiring.root
        if self.context.base == "free" and root is not None:
            from gyrostat.spec.joint import JOINT_KINDS

            free = JOINT_KINDS["free"]
            found.insert(0, (root, free.q, free.v, free.quaternion_at))
        return tuple(found)

    @cached_property
    def coordinates(self) -> tuple[str, ...]:
        """Names of the entries of q: the joint's name, or joint.coordinate when it has several."""
        return tuple(n for name, q, _, _ in self.stateful for n in _names(name, q))

    @cached_property
    def dofs(self) -> tuple[str, ...]:
        """Names of the entries of v, a and tau."""
        return tuple(n for name, _, v, _ in self.stateful for n in _names(name, v))

    @property
    def nq(self) -> int:
        """Length of q."""
        return len(self.coordinates)

    @property
    def nv(self) -> int:
        """Length of v, a and tau: the degrees of freedom."""
        return len(self.dofs)

    # ------------------------------------------------------------------ properties by path
    def __getitem__(self, path: str) -> Any:
        if not isinstance(path, str):
            message = f"a path must be a string, got {path!r}"
            raise _refused(f"model '{self.name}'", message, "write a path such as 'forearm.mass'", path)
        value: Any = self
        for depth, key in enumerate(self.canonical(path).split(".")):
            value = _child(value, key, path, depth)
        return value

    def canonical(self, path: str) -> str:
        """A path as it is stored: ``elbow.gear.ratio`` is ``elbow_drive.gear.ratio``, the drive of that joint."""
        keys, value, found = path.split("."), self, []
        for k, key in enumerate(keys):
            inside = _children(value)
            drive = inside.get(f"{key}_drive")
            below = _children(inside.get(key))
            after = keys[k + 1 : k + 3]  # a single word that neither of them has belongs to the joint
            if isinstance(drive, Assembly) and after and after[0] not in below:
                key = f"{key}_drive" if len(after) > 1 or after[0] in _children(drive) else key
            found.append(key)
            value = inside.get(key)
        return ".".join(found)

    def paths(self) -> Iterator[str]:
        """Every address of a physical property."""
        yield "context.gravity"
        yield "context.base"
        for entity in self.entities:
            yield from _paths(entity, entity.name)

    def replace(self, changes: Mapping[str, Any]) -> Model:
        """A new model with other values: ``model.replace({"forearm.mass": 2.0, "context.gravity": (0, 0, -1.62)})``."""
        if not isinstance(changes, Mapping):
            message = f"changes must map paths to values, got {type(changes).__name__}"
            raise _refused("replace", message, "write {'forearm.mass': 2.0}", changes)
        model, found = self, []
        for path, value in changes.items():
            try:
                self[path]  # an unknown path is an error that suggests near ones
                model = _with(model, self.canonical(path).split("."), value, path)
            except SpecError as error:
                found += error.problems
        if found:
            raise SpecError(found)
        from gyrostat.spec.edits.replaced import expect_sound

        expect_sound(self, model, [self.canonical(path) for path in changes])
        return model

    # ------------------------------------------------------------------ structure
    def attach(
        self,
        part: Entity | Model,
        to: str,
        at: Any = None,
        *,
        prefix: str = "",
        port: str | None = None,
        check: bool = True,
    ) -> Model:
        """A new model with a payload, a tool or a second robot at the port ``to``.

        ``part``: an entity, connected by its first port of the same kind, or by ``port``; or a model, whose reference
        frame becomes a displacement that is called like the model. ``at``: where it sits, seen from ``to``: (x, y, z)
        [m], ((x, y, z), rotation), {translation, rotation}, a rotation, a :class:`Displacement` or a 4x4 matrix; an
        entity is then carried by a displacement ``<name>_origin``. ``prefix`` goes before all new names (inside
        assemblies names stay as they are). Inside an assembly (``to="left.hand.tip"``) the part belongs to it.

        A second robot keeps drives, couplings, limits and shapes; there is one gravity, that of this model. Its own
        base must be fixed.

        As all structural edits, it checks the result and tells all problems; ``check=False`` leaves that to the last
        one of several edits. Solvers check anyway.
        """
        from gyrostat.spec.edits.attach import attach

        return attach(self, part, to, at, prefix, port, check)

    def detach(self, name: str, *, check: bool = True) -> Model:
        """A new model without an entity, its connections and everything outboard of it: what the reference frame
        reaches through it alone, by the connections as they are written. Drives of joints that go, go with them; so
        does the displacement ``<name>_origin`` that carried it."""
        from gyrostat.spec.edits.detach import detach

        return detach(self, name, check)

    def remove(self, name: str, *, check: bool = True) -> Model:
        """A new model without one entity or assembly on which nothing depends; otherwise the error names what does."""
        from gyrostat.spec.edits.detach import remove

        return remove(self, name, check)

    def lock(self, joints: str | Mapping[str, Any], value: Any = None, *, check: bool = True) -> Model:
        """A new, reduced model in which joints stand still: ``model.lock("wrist", 0.3)``, ``model.lock({"j1": 0.1,
        "j2": 0})``. Values are those of q: one number, or all coordinates of the joint, quaternions x y z w.

        The joint becomes a displacement of the same name, with the ports ``a`` and ``b``. Limits, motor, gear, spring
        and friction of its own drive go with it; a rotor stands still in its carrier, where its mass stays unless the
        carrier contains it (lumped); one behind a spring loses its coordinate, too. Joints that follow a locked one
        are locked where they then are; a follower itself is refused, since it has no coordinate. Springs and gears
        that lead to joints which still move stay, with the locked angle in their rest angle or offset."""
        from gyrostat.spec.edits.lock import lock

        return lock(self, joints, value, check)

    def connect(self, *ports: str, check: bool = True) -> Model:
        """A new model with one more connection: ``model.connect("rod.tip", "disc.origin")``."""
        from gyrostat.spec.edits.connect import connect

        return connect(self, ports, check)

    def disconnect(self, *ports: str, check: bool = True) -> Model:
        """A new model without the connection of two ports; or with one port taken out of the connection it is in."""
        from gyrostat.spec.edits.connect import disconnect

        return disconnect(self, ports, check)

    def rename(self, old: str, new: str, *, check: bool = True) -> Model:
        """A new model in which an entity (``"left.knee"``), a frame of a body (``"hand.tip"``) or an exposed port has
        another name, wherever it is used. ``new`` is the bare name. ``<old>_drive``, ``_origin``, ``_mimic``,
        ``_spring`` and ``_bushing`` that are connected with an entity are renamed with it."""
        from gyrostat.spec.edits.rename import rename

        return rename(self, old, new, check)

    def with_drive(self, joint: str, **properties: Any) -> Model:
        """A new model in which a joint has a drivetrain: an assembly ``<joint>_drive`` of the entities that are needed.

        ``rotor_inertia`` I_r [kg m^2], on the motor side, about ``rotor_axis``; ``gear_ratio`` N: motor turns per
        joint turn; ``stiffness`` [N m/rad] and ``damping`` [N m s/rad] of the elasticity between gear and joint
        (``spring``: other properties of :class:`Spring`; ``rotor``: those of :class:`RotorInertia`, such as ``mass``
        with ``lumped=False``); ``viscous`` [N m s/rad] and ``coulomb`` [N m] (one magnitude or plus, minus;
        ``friction``: other properties of :class:`Friction`) at the joint, or with ``friction_at="motor"`` on the
        motor's shaft; ``torque_limit`` [N m] and ``speed_limit`` [rad/s] of the motor. ``motor=False``: no motor.
        A drive that the joint has already, such as the friction of a URDF, stays, and what is given is added to it;
        contradictions are refused by name. ``replace=True``: instead of the drive that the joint has, with its
        friction.

        The rotor sits on the joint's parent body and turns about the joint's axis, unless ``carrier`` (a body, or a
        port) and ``rotor_axis`` (in the axes of that port) say otherwise. ``lumped=True``: the inertia of the carrier
        already contains the rotor. ``reflected_inertia_only=True``: N^2 I_r at the joint, and nothing that the carrier
        feels, as other programs have it.

        A joint with a stiff drive keeps its coordinate; with a spring, the rotor has one of its own, its angle on the
        motor side, behind those of the joints. Properties have paths: ``model["elbow.gear.ratio"]``.
        """
        from gyrostat.spec.with_drive import with_drive

        return with_drive(self, joint, **properties)

    def with_solvers(self, solvers: Mapping[str, SolverSpec | None]) -> Model:
        """A new model with specifications of solvers beside it, by names of your own; those of the same name are
        replaced, None takes one away. ``model.solvers["torques"].build(model)`` makes the solver; files keep them, and
        edits, which rename what they name (those of a model that is attached do not come along)."""
        if not isinstance(solvers, Mapping):
            message = f"solvers must map names to SolverSpec objects, got {type(solvers).__name__}"
            raise _refused(f"model '{self.name}'", message, "{'torques': SolverSpec('InverseDynamics')}", solvers)
        kept = {name: spec for name, spec in {**self.solvers, **solvers}.items() if spec is not None}
        return Model(self.name, self.entities, self.connections, self.context, self.sources, kept)

    def source(self, path: str) -> str | None:
        """file:line of an entity or property, if the model came from a file."""
        return self.sources.get(path)

    # ------------------------------------------------------------------ tables
    def rows(self) -> list[tuple[str, str, str, str, str]]:
        """(name, kind, moved or placed by, mass, dofs) of every entity, for display."""
        _, parent = self.wiring.outward()
        table: list[tuple[str, str, str, str, str]] = []
        owners = {name: v for name, _, v, _ in self.stateful}
        for name, entity in self.wiring.entities.items():
            kind = getattr(entity, "kind", entity.type_name.replace("_", " "))
            mass = getattr(entity, "mass", None)
            on = parent.get(name) or self._beside(name)
            shown = f"{mass:g}" if isinstance(mass, float | int) else ""
            table.append((name, kind, "" if on == name else on, shown, ", ".join(owners.get(name, ()))))
        return table

    def _beside(self, name: str) -> str:
        """What an entity that has shafts only is connected with."""
        group_of = self.wiring.group_of()
        groups = [
            group_of[name, port.name] for port in self.wiring.entities[name].ports if (name, port.name) in group_of
        ]
        beside = [other for group in groups for other, _ in self.wiring.groups[group] if other != name]
        return ", ".join(dict.fromkeys(beside)) or "unreachable"

    def __str__(self) -> str:
        """All entities as a table."""
        head = ("entity", "kind", "on", "mass [kg]", "rates")
        rows = [head, *self.rows()]
        widths = [max(len(row[k]) for row in rows) for k in range(len(head))]
        lines = ["  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip() for row in rows]
        lines.insert(1, "  ".join("-" * w for w in widths))
        return "\n".join([self._headline(), *lines])

    def __repr__(self) -> str:
        """Ten lines at most: the table if it fits, else what there is, by kinds. ``print`` shows all."""
        from gyrostat.spec.summary import TEN, summary

        table = str(self)
        return table if table.count("\n") < TEN else "\n".join([self._headline(), *summary(self)])

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{h}</th>" for h in ("entity", "kind", "on", "mass [kg]", "rates"))
        body = "".join(
            "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in self.rows()
        )
        return (
            f"<p>{html.escape(self._headline())}</p><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        )

    def _headline(self) -> str:
        entities = self.wiring.entities
        elsewhere = [name for name, e in entities.items() if e.from_elsewhere and len(e.shafts) < len(e.ports)]
        mass = sum(float(getattr(e, "mass", 0.0)) for name, e in entities.items() if name not in elsewhere)
        unknown = f" without {', '.join(map(repr, elsewhere[:3]))}{', ...' * (len(elsewhere) > 3)}" if elsewhere else ""
        base = self.context.base if isinstance(self.context.base, str) else "moving"
        gravity = self.context.gravity
        shown = f"({', '.join(f'{x:g}' for x in gravity.g)}) m/s^2" if hasattr(gravity, "g") else type(gravity).__name__
        return (
            f"Model '{self.name}': nq {self.nq}, nv {self.nv}, mass {mass:g} kg{unknown}, base {base}, gravity {shown}"
        )


FIELDS = ("name", "entities", "connections", "context", "sources", "solvers")


def _first(item: tuple[str, Any]) -> str:
    return item[0]


def _names(owner: str, parts: Sequence[str]) -> tuple[str, ...]:
    """A joint with one coordinate gives it its name; of a joint that keeps one of several, the coordinate is named."""
    return (owner,) if tuple(parts) in (("q",), ("v",)) else tuple(f"{owner}.{part}" for part in parts)


def _refused(entity: str, message: str, remedy: str, value: object) -> SpecError:
    return SpecError.one(entity, "property-type", message, remedy, value)


def _children(value: Any) -> dict[str, Any]:
    """Name -> value of what can follow in a path."""
    if isinstance(value, Model):
        return {"context": value.context} | {entity.name: entity for entity in value.entities}
    if isinstance(value, Assembly):
        return {entity.name: entity for entity in value.entities}
    if isinstance(value, BaseModel):
        found = {k: getattr(value, k) for k in type(value).model_fields if k != "name"}
        frames = {f.name: f for f in found.get("frames", ()) if isinstance(f, Frame)}
        return frames | {k: v for k, v in found.items() if k != "frames"}
    return {}


def _child(value: Any, key: str, path: str, depth: int) -> Any:
    found = _children(value)
    if key not in found:
        owner = getattr(value, "label", None) or ".".join(path.split(".")[:depth]) or f"model '{value.name}'"
        raise SpecError.one(str(owner), "unknown-path", f"'{path}': there is no '{key}'", nearest(key, found), path)
    return found[key]


def _paths(value: Any, prefix: str) -> Iterator[str]:
    for key, child in _children(value).items():
        inside = f"{prefix}.{key}"
        if isinstance(child, Entity | Frame):
            yield from _paths(child, inside)
        else:
            yield inside


def _with(value: Any, keys: Sequence[str], new: Any, path: str) -> Any:
    """Copy of ``value`` in which the property at ``keys`` is ``new``."""
    key = keys[0]
    child = new if len(keys) == 1 else _with(_child(value, key, path, 0), keys[1:], new, path)
    if isinstance(value, Model):
        if key == "context":
            return replace(value, context=child)
        return replace(value, entities=_swap(value.entities, key, child))
    fields = {k: getattr(value, k) for k in type(value).model_fields}
    if isinstance(value, Assembly):
        fields["entities"] = _swap(value.entities, key, child)
    elif key in fields:
        fields[key] = child
    else:
        fields["frames"] = _swap(fields["frames"], key, child)
    try:
        return type(value).model_validate(fields)
    except ValidationError as error:
        owner = "" if isinstance(value, Context) else path.rpartition(".")[0]
        raise SpecError(describe(type(value), owner, error)) from None


def _swap(items: Sequence[Any], name: str, new: Any) -> tuple[Any, ...]:
    return tuple(new if item.name == name else item for item in items)
