"""Lowering: what an entity looks like from the port it is entered by, in numbers.

The values are NumPy arrays of floats, or of recording scalars for the properties listed in ``values`` (path ->
array): everything downstream is plain arithmetic on them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import singledispatch
from typing import Any

import numpy as np

from gyrostat.geometry.rotation import about_axis, denavit_hartenberg, from_euler, from_quaternion, plane_direction
from gyrostat.graph.in_cut_joints import in_cut_beam
from gyrostat.graph.inside import BeamFrame, Inside
from gyrostat.graph.segments import beam_in_segments
from gyrostat.spatial.algebra import Array, compose, inverse
from gyrostat.spatial.beams.beam_frames import BeamFrames
from gyrostat.spatial.flexible_frames import FlexibleFrames
from gyrostat.spec.beam_damping import Modal, Rayleigh
from gyrostat.spec.displacement import DHDisplacement, Displacement
from gyrostat.spec.entity import Entity, is_axis
from gyrostat.spec.flexible_beam import FlexibleBeam
from gyrostat.spec.flexible_body import FlexibleBody
from gyrostat.spec.joint import Joint
from gyrostat.spec.rigid_body import RigidBody
from gyrostat.spec.rotor import LockedRotor, RotorInertia
from gyrostat.spec.values import AxisAngle, Euler, Quaternion, RotationMatrix

Placement = tuple[Array, Array]
EXACT = 4 * np.finfo(float).eps


@dataclass
class Lowered:
    """``props``: numbers by property; ``places``: placement of each outport seen from the inport, for rigid kinds;
    ``inside``: what it is made of, where it is not one component."""

    kind: type
    props: dict[str, Any]
    places: dict[str, Placement] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    beside: dict[str, Any] | None = None  # properties of a body that comes with it
    inside: Inside | None = None


class Values:
    """Reads properties of one entity: the live array if there is one, else the number of the specification."""

    def __init__(self, name: str, entity: Any, live: Mapping[str, Array]):
        self.name, self.entity, self.live = name, entity, live

    def __call__(self, prop: str) -> Any:
        path = f"{self.name}.{prop}"
        if path in self.live:
            value = np.asarray(self.live[path])
            return value if value.ndim else value[()]
        value = self.entity
        for key in prop.split("."):
            value = getattr(value, key)
        return np.array(value) if isinstance(value, tuple) else value

    def below(self, key: str, value: Any) -> Values:
        return Values(f"{self.name}.{key}", value, self.live)


def unit(u: Array) -> tuple[Array, bool]:
    """u scaled to unit length, and whether that changed a number."""
    if u.dtype == object:
        return u / np.sqrt(u @ u), False
    length = float(np.sqrt(u @ u))
    return (u, False) if abs(length - 1.0) <= EXACT else (u / length, True)


def rotation(read: Values, notes: list[str]) -> Array:
    """The matrix of a rotation property."""
    form = read.entity
    if isinstance(form, Euler):
        return from_euler(read("euler"), form.axes)
    if isinstance(form, Quaternion):
        return from_quaternion(read("quaternion"))
    if isinstance(form, AxisAngle):
        axis, changed = unit(read("axis"))
        notes += [f"{read.name}.axis scaled to unit length"] * changed
        return about_axis(axis, read("angle"))
    R = read("matrix")
    if isinstance(form, RotationMatrix) and R.dtype != object and np.abs(R @ R.T - np.eye(3)).max() > EXACT:
        left, _, right = np.linalg.svd(R)  # the nearest rotation
        notes.append(f"{read.name} made orthonormal")
        return left @ right
    return R


@singledispatch
def lower(entity: Entity, read: Values, inport: str | None) -> Lowered:
    """Default, and what new components get: every numeric property as a number or an array."""
    props = {key: read(key) for key in type(entity).model_fields if key != "name"}
    notes: list[str] = []
    for key, declared in type(entity).model_fields.items():
        if is_axis(declared):
            props[key], changed = unit(props[key])
            notes += [f"{read.name}.{key} scaled to unit length"] * changed
    return Lowered(type(entity), props, {}, notes)


def _more(entity: Entity, base: type[Entity], read: Values) -> dict[str, Any]:
    """Properties that a kind derived from ``base`` has beyond those of ``base``."""
    return {key: read(key) for key in type(entity).model_fields if key not in base.model_fields}


@lower.register
def _(entity: Displacement, read: Values, inport: str | None) -> Lowered:
    notes: list[str] = []
    place = rotation(read.below("rotation", entity.rotation), notes), read("translation")
    return Lowered(
        type(entity),
        _more(entity, Displacement, read),
        {"b": place} if inport == "a" else {"a": inverse(*place)},
        notes,
    )


@lower.register
def _(entity: DHDisplacement, read: Values, inport: str | None) -> Lowered:
    place = denavit_hartenberg(read("a"), read("alpha"), read("d"), read("theta"), entity.convention)
    kind = Displacement if type(entity) is DHDisplacement else type(entity)
    more = _more(entity, DHDisplacement, read)
    return Lowered(kind, more, {"b": place} if inport == "a" else {"a": inverse(*place)})


@lower.register
def _(entity: RigidBody, read: Values, inport: str | None) -> Lowered:
    """All geometry is written in the frame of the inport, whichever of the body's frames that is."""
    notes: list[str] = []
    places: dict[str, Placement] = {"origin": (np.eye(3), np.zeros(3))}
    for frame in entity.frames:
        at = read.below(frame.name, frame)
        places[frame.name] = rotation(at.below("rotation", frame.rotation), notes), at("translation")
    R, p = inverse(*places[str(inport)])
    props = {
        "mass": read("mass"),
        "com": p + R @ read("com"),
        "inertia": R @ read("inertia") @ R.T,
        "momentum": R @ read("momentum"),
    }
    if inport == "origin":
        props = {key: read(key) for key in props}
    else:
        places = {name: compose(R, p, *place) for name, place in places.items()}
    props |= _more(entity, RigidBody, read)
    return Lowered(type(entity), props, {n: place for n, place in places.items() if n != inport}, notes)


@lower.register
def _(entity: RotorInertia, read: Values, inport: str | None) -> Lowered:
    if entity.axis is None:
        return Lowered(type(entity), {"inertia": read("inertia")} | _more(entity, RotorInertia, read))
    axis, changed = unit(read("axis"))
    notes = [f"{read.name}.axis scaled to unit length"] * changed
    props = {"inertia": read("inertia"), "axis": axis} | _more(entity, RotorInertia, read)
    rotor = Lowered(type(entity), props, {}, notes)
    if not entity.lumped:
        rotor.beside = _rotor_as_body(read, axis)
    return rotor


@lower.register
def _(entity: LockedRotor, read: Values, inport: str | None) -> Lowered:
    axis, changed = unit(read("axis"))
    notes = [f"{read.name}.axis scaled to unit length"] * changed
    kind = RigidBody if type(entity) is LockedRotor else type(entity)
    return Lowered(kind, _rotor_as_body(read, axis) | _more(entity, LockedRotor, read), {}, notes)


def _rotor_as_body(read: Values, axis: Array) -> dict[str, Any]:
    """What a rotor that stands still in its carrier is: a body in the axes of the carrier's port."""
    across = read("transverse")
    inertia = np.eye(3) * across + np.outer(axis, axis) * (read("inertia") - across)
    return {"mass": read("mass"), "com": read("position"), "inertia": inertia, "momentum": np.zeros(3)}


@lower.register
def _(entity: Joint, read: Values, inport: str | None) -> Lowered:
    props: dict[str, Any] = {"kind": entity.kind, "far": inport == "b"}
    notes: list[str] = []
    for key in ("axis", "second_axis"):
        if getattr(entity, key) is not None:
            props[key], changed = unit(read(key))
            notes += [f"{read.name}.{key} scaled to unit length"] * changed
    if entity.pitch is not None:
        props["pitch"] = read("pitch")
    if entity.kind == "planar":
        props["second_axis"] = _first_direction(props["axis"], props.get("second_axis"), entity)
    return Lowered(type(entity), props | _more(entity, Joint, read), {}, notes)


def _first_direction(n: Array, given: Array | None, entity: Joint) -> Array:
    """The planar joint's first direction, exactly perpendicular to n."""
    return plane_direction(n, given, int(np.argmax(np.abs(np.array(entity.axis)))))


BEAM = ("length", "area", "I_y", "I_z", "J", "E", "G", "density")


@lower.register
def _(entity: FlexibleBeam, read: Values, inport: str | None) -> Lowered:
    """``form``: what the shapes depend on; ``frames``: how those on its sections move."""
    notes: list[str] = []
    numbers, frames = {key: read(key) for key in BEAM}, dict[str, BeamFrame]()
    for frame in entity.frames:
        at = read.below(frame.name, frame)
        R = rotation(at.below("rotation", frame.rotation), notes)
        frames[frame.name] = BeamFrame(frame.translation[0] / entity.length, R, at("translation"))
    frames["b"] = BeamFrame(1.0, np.eye(3), np.array([numbers["length"], 0.0, 0.0]))
    damping = _damping(read, entity.damping)
    if entity.method == "in-cut" or entity.segments > 1:
        made_of = in_cut_beam if entity.method == "in-cut" else beam_in_segments
        return Lowered(type(entity), {}, {}, notes, inside=made_of(entity, numbers, damping, frames))
    stations = {"a": (0.0, (np.eye(3), np.zeros(3)))} | {name: frame.station for name, frame in frames.items()}
    props = numbers | {"damping": damping, "form": entity.form}
    props["frames"] = BeamFrames(entity.form, numbers["length"], stations)
    return Lowered(type(entity), props | _more(entity, FlexibleBeam, read), {}, notes)


def _damping(read: Values, given: Any) -> tuple[str, Any]:
    """The law, and its numbers."""
    inside = read.below("damping", given)
    if isinstance(given, Rayleigh):
        return "rayleigh", (inside("alpha"), inside("beta"))
    return ("modal", inside("ratios")) if isinstance(given, Modal) else ("kelvin-voigt", read("damping"))


@lower.register
def _(entity: FlexibleBody, read: Values, inport: str | None) -> Lowered:
    """``frames``: its interfaces, of which Psi (6, n) has the angles about z, y, x, then the displacements;
    ``modal_mass`` (n, n)."""
    notes: list[str] = []
    keys = ("mass", "first_moment", "second_moment", "C1", "C2", "S", "stiffness")
    props = {key: read(key) for key in keys}
    n = len(entity.stiffness)
    props["damping"] = np.zeros((n, n)) if entity.damping is None else read("damping")
    props["modal_mass"] = sum(props["S"][i, i] for i in range(3))
    stations = {
        i.name: (
            rotation(read.below(i.name, i).below("rotation", i.rotation), notes),
            np.array(i.translation),
            np.concatenate([np.array(i.turn)[::-1], np.array(i.displacement)]),
        )
        for i in entity.interfaces
    }
    props["frames"] = FlexibleFrames(entity.interfaces[0].name, stations)
    return Lowered(type(entity), props | _more(entity, FlexibleBody, read), {}, notes)
