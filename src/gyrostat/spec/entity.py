"""The MBS entity of H04 2.2.1: a name, ports, physical properties and, for some, state."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from gyrostat.errors import Problem, SpecError
from gyrostat.spec.describe import describe, snake
from gyrostat.spec.relations import CurveRelation, LinearRelation, Value
from gyrostat.spec.values import to_axis

PortKind = Literal["spatial", "scalar"]

LENGTHS = ("x", "y", "z", "shift")
"""Coordinates that are called so are in metres."""
ANGLES = ("angle", "angle1", "angle2")
"""Coordinates that are called so are angles of which a full turn changes nothing."""


class Port(NamedTuple):
    """An interaction port: ``spatial`` carries a frame (6-D messages), ``scalar`` a shaft (1-D messages)."""

    name: str
    kind: PortKind = "spatial"


class Entity(BaseModel):
    """Base of everything a mechanism is made of.

    A new kind of component is a subclass: its annotated fields are the physical properties (addressable by path, stored
    in YAML under the class's name in snake case), and ``ports`` says where it can be connected. Behaviour is not here:
    each algorithm has one row per kind.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)
    registry: ClassVar[dict[str, type[Entity]]] = {}
    type_name: ClassVar[str] = "entity"
    binds: ClassVar[bool] = True
    """Whether frames at its ports move each other; False for forces between two frames."""
    has_inertia: ClassVar[bool] = True
    """Of what acts on shafts alone: whether its torques depend on accelerations."""
    drives: ClassVar[bool] = False
    """Whether it exerts torques of its own on its shafts, as motors do."""
    tells_mass: ClassVar[bool] = False
    """Whether its mass, if it has any, is its property ``mass``: no row of an algorithm hides some."""
    deforms: ClassVar[bool] = False
    """Whether its coordinates are deformations: loops are rather assembled without them."""
    abstract: ClassVar[bool] = False
    """A class that sets it is no kind by itself, only what kinds have in common."""
    not_live: ClassVar[Mapping[str, str]] = {}
    """Properties that cannot be live, as they decide about the structure of the equations; with a hint each."""
    since: ClassVar[int] = 1
    """The version of the text form that this kind came with."""
    name: str = Field(kw_only=False)

    def __init__(self, name: str, **properties: Any):
        try:
            super().__init__(name=name, **properties)
        except ValidationError as error:
            raise SpecError(describe(type(self), name, error)) from None

    @classmethod
    def __pydantic_init_subclass__(cls, **kwargs: Any) -> None:
        super().__pydantic_init_subclass__(**kwargs)
        if cls.__dict__.get("abstract"):
            return
        cls.type_name = snake(cls.__name__)
        if cls.type_name in cls.model_fields:
            message = f"'{cls.type_name}' is both the kind and one of its properties"
            remedy = "rename one of them; in YAML files the kind's key holds the name"
            raise SpecError.one(f"entity class {cls.__qualname__}", "class-name", message, remedy, cls.type_name)
        known = Entity.registry.get(cls.type_name)
        if known is not None and (known.__module__, known.__qualname__) != (cls.__module__, cls.__qualname__):
            message = f"'{cls.type_name}' is already the kind of {known.__module__}.{known.__qualname__}"
            remedy = "choose another class name, the kind in YAML files derives from it"
            raise SpecError.one(f"entity class {cls.__qualname__}", "class-name", message, remedy, cls.type_name)
        Entity.registry[cls.type_name] = cls

    @property
    def label(self) -> str:
        """How messages call this entity, for example ``joint 'elbow'``."""
        return f"{self.type_name.replace('_', ' ')} '{self.name}'"

    @property
    def ports(self) -> tuple[Port, ...]:
        """The ports in a fixed order; the first one is where a chain enters, the last one where it leaves."""
        return (Port("frame"),)

    @property
    def default_port(self) -> str | None:
        """The port that is meant when only the entity is named; None if it must be said."""
        ports = [port for port in self.ports if port.kind == "spatial"]
        return ports[0].name if len(ports) == 1 else None

    @property
    def coordinates(self) -> tuple[str, ...]:
        """Names of the position coordinates q that belong to this entity."""
        return ()

    @property
    def rates(self) -> tuple[str, ...]:
        """Names of the velocity coordinates v that belong to this entity."""
        return ()

    @property
    def shafts(self) -> tuple[str, ...]:
        """Scalar ports, in the order of the rates that they turn with: where a drive can be connected."""
        return tuple(port.name for port in self.ports if port.kind == "scalar")

    @property
    def is_joint(self) -> bool:
        """Whether its two sides move against each other; a fixed joint counts as one that does not."""
        return bool(self.rates) and not self.deforms

    @property
    def closes(self) -> bool:
        """Whether a loop can be cut here so that the entity is left out of the tree: that its two frames are placed
        rightly says all that it says."""
        return False

    @property
    def stands_alone(self) -> bool:
        """Whether it means something while it is connected with nothing."""
        return False

    @property
    def said_passive(self) -> bool | None:
        """Whether it is said to be actuated by nothing, as deformations are; None where nothing is said."""
        return True if self.deforms else None

    @property
    def is_rod(self) -> bool:
        """Whether it holds the origins of its two frames at a distance, and nothing else."""
        return False

    @property
    def carries_nothing(self) -> bool:
        """Whether it only relates its two frames: what is at each must be held otherwise."""
        return self.is_rod

    @property
    def is_massless_link(self) -> bool:
        """Whether it is rigid, without mass, and has two ports."""
        return False

    @property
    def kind_label(self) -> str:
        """How messages call its kind, for example ``prismatic joint``."""
        return self.type_name.replace("_", " ")

    @property
    def shaft_axis(self) -> tuple[float, float, float] | None:
        """The axis of its shaft in the axes of its ports, if it has one."""
        return getattr(self, "axis", None)

    @property
    def rotor_shaft(self) -> str | None:
        """The scalar port that turns a rotor of this entity, which has a coordinate of its own if nothing ties it."""
        return None

    @property
    def carried_rates(self) -> tuple[str, ...]:
        """Names of the rates that its component has in the network: those of a rotor count if a frame carries it."""
        if self.rotor_shaft is None:
            return self.rates
        return ("v",) if any(port.kind == "spatial" for port in self.ports) else ()

    @property
    def is_shaft_element(self) -> bool:
        """Whether it acts on shafts alone: it has scalar ports and no spatial one."""
        return {port.kind for port in self.ports} == {"scalar"}

    def relations(self, value: Value) -> tuple[LinearRelation, ...]:
        """Linear relations that it makes between its shafts (gears); ``value(property)`` reads its numbers."""
        return ()

    def curves(self, value: Value) -> tuple[CurveRelation, ...]:
        """Shafts that follow others by a curve (cams); ``value(property)`` reads its numbers."""
        return ()

    @property
    def ties_shafts(self) -> bool:
        """Whether it does nothing but relate its shafts to each other."""
        return type(self).relations is not Entity.relations or type(self).curves is not Entity.curves

    @property
    def needs_all_shafts(self) -> bool:
        """Whether it does nothing, and so is a mistake, unless all its shafts are connected."""
        return self.ties_shafts

    @property
    def from_elsewhere(self) -> bool:
        """Whether somebody else wrote the kind: its rows, not its properties, tell what mass it has."""
        return not type(self).__module__.startswith("gyrostat.")

    @property
    def quaternion_at(self) -> int | None:
        """Where a unit quaternion starts within ``coordinates``, if there is one."""
        return None

    def is_length(self, coordinate: str) -> bool:
        """Whether one of its coordinates is in metres: by its name, unless the kind says it otherwise."""
        return coordinate in LENGTHS

    def is_periodic(self, coordinate: str) -> bool:
        """Whether a full turn of one of its coordinates changes nothing: by its name, unless the kind says it."""
        return coordinate in ANGLES

    def why_not_live(self, path: str) -> str | None:
        """A hint, where a property (its path inside the entity) cannot be live: :attr:`not_live`, unless a kind knows
        more."""
        return self.not_live.get(path.split(".")[0])

    def problems(self) -> list[Problem]:
        """Mistakes that this entity can see by itself: numbers that are not finite, axes that are not of unit length.

        Kinds with rules of their own override it and add to what ``super().problems()`` finds.
        """
        from gyrostat.spec.rules import axis_problems, not_finite

        axes = [(key, getattr(self, key)) for key, field in type(self).model_fields.items() if is_axis(field)]
        return not_finite(self) + [p for key, axis in axes for p in axis_problems(self, key, axis)]

    def problem(self, rule: str, message: str, remedy: str, value: object = None) -> Problem:
        return Problem(self.label, rule, message, remedy, value)


def is_axis(field: Any) -> bool:
    """Whether a property was declared as an :data:`Axis`."""
    return any(getattr(item, "func", None) is to_axis for item in field.metadata)
