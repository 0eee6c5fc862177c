"""The context: what is usually silent. Gravity, and how the reference frame moves. All units are SI."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field, PlainSerializer, PlainValidator, WithJsonSchema

from gyrostat.errors import Problem
from gyrostat.spec.closed_loops import LoopTreatment, Names, Reference, ReferenceConfiguration
from gyrostat.spec.describe import RefusedError
from gyrostat.spec.rules import UNIT, finite, infinities, shown
from gyrostat.spec.values import VECTOR_SCHEMA, Axis, Number, Value, Vector, to_vector


class UniformGravity(Value):
    """The same acceleration of gravity ``g`` [m/s^2] everywhere.

    ``treat_as``: ``"acceleration"`` lets the reference frame accelerate by -g (H04 3.1.2, cheapest); ``"field"`` lets
    every body feel its own weight. The results are the same.
    """

    g: Vector
    treat_as: Literal["acceleration", "field"] = "acceleration"


class CentralGravity(Value):
    """Gravity of a point mass: g(p) = -mu (p - centre) / |p - centre|^3.

    Extended bodies have the potential -mu m/r - mu (tr J - 3 n . J n) / (2 r^3), n the direction from the centre
    [MacCullagh]; the torque of the gradient and the force that belongs to it are its derivatives. ``mu`` [m^3/s^2];
    ``centre`` [m] in the world.
    """

    mu: Number
    centre: Vector = (0.0, 0.0, 0.0)


class GravityField(Value):
    """Gravity by functions of the point ``p`` (3,) [m] of the world, in plain NumPy.

    ``potential(p)`` [J/kg]: everything else is its exact derivative: the acceleration -dphi/dp, its gradient, and with
    them weight, gradient torque and energy of extended bodies. ``field(p)`` (3,) [m/s^2] alone: an acceleration that
    acts at the centre of mass of each body, which counts as a point; energies are refused, they have no potential.
    ``gradient(p)`` (3, 3) [1/s^2]: dg/dp of the field, for the torques and forces on extended bodies. What is given
    beside the potential must agree with it.

    ``extended``: whether bodies feel that the field varies over their extent; by default where a potential or a
    gradient is given. ``extended=True`` with ``field`` alone differentiates it. Functions must depend on ``p`` alone: a
    solver records them once and does not call them again. They cannot be stored in a file."""

    field: Callable[[Any], Any] | None = None
    potential: Callable[[Any], Any] | None = None
    gradient: Callable[[Any], Any] | None = None
    extended: bool | None = None


class HarmonicMotion(Value):
    """A moving base whose motion is data: x(t) = offset + velocity t + amplitude sin(2 pi frequency t + phase).

    The origin moves by this law with vectors ``offset``, ``velocity``, ``amplitude`` [m, m/s, m]; the base turns about
    the fixed axis ``axis`` by the angle ``angle + rate t + swing sin(2 pi swing_frequency t + swing_phase)`` [rad].
    Frequencies in Hz, phases in rad.
    """

    offset: Vector = (0.0, 0.0, 0.0)
    velocity: Vector = (0.0, 0.0, 0.0)
    amplitude: Vector = (0.0, 0.0, 0.0)
    frequency: Number = 0.0
    phase: Number = 0.0
    axis: Axis = (0.0, 0.0, 1.0)
    angle: Number = 0.0
    rate: Number = 0.0
    swing: Number = 0.0
    swing_frequency: Number = 0.0
    swing_phase: Number = 0.0


class MovingBase(Value):
    """A moving base as a given function of time.

    ``motion(t)`` returns ``(R, p, V, A)``: axes (3, 3) and origin (3,) [m] of the base in the world; its velocity (6,)
    and the derivative of these six numbers (6,), angular part first, in the axes of the base [rad/s, m/s, ...]. A
    function cannot be stored in a file.
    """

    motion: Callable[[Any], Any]


Gravity = UniformGravity | CentralGravity | GravityField
Base = Literal["fixed", "free"] | HarmonicMotion | MovingBase


def to_gravity(value: Any) -> Any:
    if isinstance(value, UniformGravity | CentralGravity | GravityField):
        return value
    if callable(value):
        return GravityField(field=value)
    if isinstance(value, Mapping):
        form = {"g": UniformGravity, "mu": CentralGravity}.get(next((k for k in ("g", "mu") if k in value), ""))
        if form is not None:
            return form.model_validate(dict(value))
    if isinstance(value, list | tuple | np.ndarray):
        return UniformGravity.model_validate({"g": to_vector(value)})
    remedy = "write [0, 0, -9.81], {g: [x, y, z], treat_as: field} or {mu: 3.986e14, centre: [x, y, z]}"
    raise RefusedError("must be three numbers [m/s^2], a mapping or a function of position", value, remedy)


def plain_gravity(value: Any) -> Any:
    if isinstance(value, UniformGravity) and value.treat_as == "acceleration":
        return list(value.g)
    return value.model_dump(exclude_defaults=True)


def to_base(value: Any) -> Any:
    if isinstance(value, HarmonicMotion | MovingBase) or (isinstance(value, str) and value in ("fixed", "free")):
        return value
    if callable(value):
        return MovingBase(motion=value)
    if isinstance(value, Mapping):
        return HarmonicMotion.model_validate(dict(value))
    remedy = "write fixed, free or {amplitude: [0, 0, 0.1], frequency: 2}"
    raise RefusedError("must be fixed, free, a harmonic motion or a function of time", value, remedy)


def plain_base(value: Any) -> Any:
    return value if isinstance(value, str) else value.model_dump(exclude_defaults=True)


class Context(Value):
    """Gravity and base of a model.

    ``gravity``, by default 9.81 m/s^2 along -z: three numbers [m/s^2], a :class:`UniformGravity`, a
    :class:`CentralGravity`, a :class:`GravityField`, or a function of position, the acceleration. ``base``:
    ``"fixed"``, ``"free"`` (7 coordinates and 6 rates of the reference frame come first in q and v), a
    :class:`HarmonicMotion`, or a function of time (:class:`MovingBase`).

    Closed loops: ``reference`` gives coordinates of joints [rad, m] at a configuration in which the loops are closed,
    at least roughly; it chooses among the ways to assemble them. ``independent``: names of the joints whose coordinates
    are kept, by default those that are actuated. ``loops``: ``"minimal"`` solves the others explicitly and keeps the
    independent coordinates alone, ``"constraints"`` keeps those of the whole tree, ``"maximal"`` those of free bodies,
    ``"auto"`` decides loop by loop."""

    gravity: Annotated[
        Any,
        PlainValidator(to_gravity),
        PlainSerializer(plain_gravity),
        WithJsonSchema(
            {"anyOf": [VECTOR_SCHEMA, UniformGravity.model_json_schema(), CentralGravity.model_json_schema()]}
        ),
    ] = UniformGravity(g=(0.0, 0.0, -9.81))
    base: Annotated[
        Any,
        PlainValidator(to_base),
        PlainSerializer(plain_base),
        WithJsonSchema({"anyOf": [{"enum": ["fixed", "free"]}, HarmonicMotion.model_json_schema()]}),
    ] = "fixed"
    reference: ReferenceConfiguration = Field(default_factory=Reference)
    independent: Names = ()
    loops: LoopTreatment = "auto"

    def problems(self) -> list[Problem]:
        problems: list[Problem] = []

        def add(rule: str, message: str, remedy: str, path: tuple[str, ...]) -> None:
            problems.append(Problem("context", rule, message, remedy, path))

        for path, bad in infinities(self):
            name = "gravity" if path == ("gravity", "g") else ".".join(path)
            add("finite", f"'{name}' must be finite, got {shown(bad)}", "give a number, not NaN or infinity", path)
        for name, numbers in self.reference.items():
            if not finite(numbers):
                message = f"'reference' of '{name}' must be finite, got {shown(numbers)}"
                add("finite", message, "give numbers, rad and m", ("reference",))
        law = self.gravity
        if isinstance(law, GravityField) and law.field is None and law.potential is None:
            message = "'gravity' has neither a field nor a potential"
            remedy = "give potential=f with f(p) in J/kg, or field=g with g(p) in m/s^2"
            add("gravity-field", message, remedy, ("gravity",))
        if isinstance(law, GravityField) and law.extended is False and law.gradient is not None:
            message = "'gravity' has a gradient, but extended=False: bodies count as points"
            add("gravity-field", message, "leave one of them out", ("gravity",))
        if isinstance(self.base, HarmonicMotion) and finite(self.base.axis):
            length = math.hypot(*self.base.axis)
            if abs(length - 1.0) > UNIT:
                message = f"'base.axis' must have unit length, got {shown(self.base.axis)} of length {length:g}"
                add("unit-axis", message, "give a unit vector such as [0, 0, 1]", ("base", "axis"))
        return problems
