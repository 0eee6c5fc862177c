"""The model: entities, connections and context as frozen data, every physical property addressable by path."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from gyrostat.errors import SpecError, clipped
from gyrostat.spec.assembly import to_connections
from gyrostat.spec.context import Context
from gyrostat.spec.describe import RefusedError
from gyrostat.spec.entity import Entity
from gyrostat.spec.flatten import wire
from gyrostat.spec.free_bodies import with_free_bodies
from gyrostat.spec.paths import canonical, changed, paths, swapped, value_at
from gyrostat.spec.solver_spec import SolverSpec
from gyrostat.spec.wiring import Wiring

if TYPE_CHECKING:
    from gyrostat.configuration.layout import Layout, Shafts


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
        wiring = wire(self.entities, self.connections)
        if self.context.loops == "maximal":
            return with_free_bodies(wiring)
        wiring.keep = frozenset(self.context.independent)
        return wiring

    @cached_property
    def layout(self) -> Layout:
        """Where everything is in q and v: :class:`gyrostat.configuration.layout.Layout`."""
        from gyrostat.configuration.layout import layout  # the one import that points upwards

        return layout(self)

    @property
    def shafts(self) -> Shafts:
        """What turns with what: :class:`gyrostat.graph.shafts.Shafts`."""
        return self.layout.shafts

    @property
    def coordinates(self) -> tuple[str, ...]:
        """Names of the entries of q: the joint's name, or joint.coordinate when it has several."""
        return self.layout.coordinates

    @property
    def dofs(self) -> tuple[str, ...]:
        """Names of the entries of v, a and tau: file order, parents first."""
        return self.layout.dofs

    @property
    def nq(self) -> int:
        """Length of q."""
        return self.layout.nq

    @property
    def nv(self) -> int:
        """Length of v, a and tau: the degrees of freedom."""
        return self.layout.nv

    # ------------------------------------------------------------------ properties by path
    @property
    def _inside(self) -> dict[str, Any]:
        """What paths begin with."""
        return {"context": self.context} | {entity.name: entity for entity in self.entities}

    def __getitem__(self, path: str) -> Any:
        if not isinstance(path, str):
            message = f"a path must be a string, got {path!r}"
            raise _refused(f"model '{self.name}'", message, "write a path such as 'forearm.mass'", path)
        return value_at(self._inside, path, self.canonical(path), f"model '{self.name}'")

    def canonical(self, path: str) -> str:
        """A path as it is stored: ``elbow.gear.ratio`` is ``elbow_drive.gear.ratio``, the drive of that joint."""
        return canonical(self._inside, path)

    def paths(self) -> Iterator[str]:
        """Every address of a physical property."""
        yield "context.gravity"
        yield "context.base"
        for entity in self.entities:
            yield from paths(entity, entity.name)

    def replace(self, changes: Mapping[str, Any]) -> Model:
        """A new model with other values: ``model.replace({"forearm.mass": 2.0, "context.gravity": (0, 0, -1.62)})``."""
        if not isinstance(changes, Mapping):
            message = f"changes must map paths to values, got {type(changes).__name__}"
            raise _refused("replace", message, "write {'forearm.mass': 2.0}", changes)
        model, problems = self, []
        for path, value in changes.items():
            try:
                self[path]  # an unknown path is an error that suggests near ones
                model = model._with(path, value)
            except SpecError as error:
                problems += error.problems
        if problems:
            raise SpecError(problems)
        from gyrostat.spec.edits.replaced import expect_sound

        expect_sound(self, model, [self.canonical(path) for path in changes])
        return model

    def _with(self, path: str, value: Any) -> Model:
        """A copy in which one property has another value."""
        first, *keys = self.canonical(path).split(".")
        new = changed(self._inside[first], keys, value, path)
        if first == "context":
            return replace(self, context=new)
        return replace(self, entities=swapped(self.entities, first, new))

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

    def with_flexible_link(
        self,
        link: str,
        *,
        start: str | None = None,
        end: str | None = None,
        up: Any = None,
        check: bool = True,
        **beam: Any,
    ) -> Model:
        """A new model in which a rigid link bends: ``robot.with_flexible_link("forearm", E=7e10, G=2.6e10, area=1e-3,
        I_y=2e-7, I_z=2e-7, J=4e-7, modes=2)``; other properties are those of :class:`FlexibleBeam`.

        The link becomes an assembly of its name: a body ``start``, the ``beam``, a body ``end``. The beam runs from
        where the link is held to the one joint that it carries; ``start`` and ``end`` name other ports of the link, or
        joints on it. ``up``: direction of the beam's z in the axes of the link, against which I_y is; by default the
        link's z, or the next axis that is across. Mass, centre and inertia of the straight link stay what they are:
        what the beam does not have is shared by the two bodies. ``density`` [kg/m^3]: by default nine tenths of the
        greatest that leaves these bodies possible; a greater one than that is refused. Frames and what hangs on the
        link stay at their places: before the beam on ``start``, along it on the beam, behind it on ``end``. Shapes are
        drawn with ``start``."""
        from gyrostat.spec.edits.with_flexible_link import with_flexible_link

        return with_flexible_link(self, link, start, end, up, check, beam)

    def with_ground(
        self,
        name: str = "ground",
        *,
        at: Any = None,
        points: Any = (),
        radius: float = 0.0,
        check: bool = True,
        **law: Any,
    ) -> Model:
        """A new model with a :class:`Ground`, the plane z = 0 of the world, that collision shapes and contact points
        touch: ``robot.with_ground(friction=0.8, points=["left_foot.toe", "right_foot.toe"])``.

        ``points``: frames that get a :class:`ContactPoint` (of a ``radius`` [m]), called after them, or by the keys of
        a mapping name -> frame. ``at``: where the ground is, see :meth:`attach`, seen from the reference frame. Other
        properties are those of the ground: ``friction``, ``restitution``, ``stiffness``, ``damping``, ``torsional``,
        ``rolling``."""
        from gyrostat.spec.edits.with_ground import with_ground

        return with_ground(self, name, at, points, radius, law, check)

    def with_rolling(self, what: Any, *, check: bool = True) -> Model:
        """A new model in which a wheel rolls without slipping: ``car.with_rolling(gs.Rolling("front", radius=0.3)
        .on("front_wheel"))``. Its coordinates are the same; the wheel must touch the ground where a run begins."""
        from gyrostat.spec.edits.with_rolling import with_rolling

        return with_rolling(self, what, check)

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
        from gyrostat.spec.table import rows

        return rows(self)

    def __str__(self) -> str:
        """All entities as a table."""
        from gyrostat.spec.table import as_text

        return as_text(self)

    def __repr__(self) -> str:
        """Ten lines at most: the table if it fits, else what there is, by kinds. ``print`` shows all."""
        from gyrostat.spec.summary import short

        return short(self)

    def _repr_html_(self) -> str:
        from gyrostat.spec.table import as_html

        return as_html(self)


FIELDS = ("name", "entities", "connections", "context", "sources", "solvers")


def _first(item: tuple[str, Any]) -> str:
    return item[0]


def _refused(entity: str, message: str, remedy: str, value: object) -> SpecError:
    return SpecError.one(entity, "property-type", message, remedy, value)
