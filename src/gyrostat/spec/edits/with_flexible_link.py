"""``model.with_flexible_link``: a rigid link becomes a beam between two rigid ends, with the same mass properties.

The link is replaced by an assembly of its name: a rigid body at its start, a :class:`FlexibleBeam`, a rigid body at its
end. Both bodies use the frame of the link, so that frames, shapes and displacements on it stay as they are written.
What the beam does not have of mass, first and second moments is shared by the two bodies, as far apart as it can be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from gyrostat.geometry.beam_profile import profile_integral
from gyrostat.geometry.mass_moments import MassProperties, inertia_of, largest_share, mass_moments, second_moment
from gyrostat.spec.assembly import Assembly
from gyrostat.spec.displacement import Displacement
from gyrostat.spec.edits.link_ends import Attachment, LinkEnds, link_ends
from gyrostat.spec.edits.link_shift import shift_absorbed
from gyrostat.spec.edits.scope import Connections, checked, find_port, full_name, refused, scope_of, with_scope
from gyrostat.spec.entity import Entity
from gyrostat.spec.flexible_beam import FlexibleBeam
from gyrostat.spec.model import Model
from gyrostat.spec.orientation import matrix_of
from gyrostat.spec.rigid_body import RigidBody
from gyrostat.spec.spanning_tree import PortName
from gyrostat.spec.values import RotationMatrix

START, BEAM, END = "start", "beam", "end"
SHARE = 0.9
"""Of the greatest density that the link's mass properties allow, where none is given."""
LEFT = 0.999
"""Of the density at which what is left would have no mass, or no extent."""
Array = np.ndarray


def with_flexible_link(
    model: Model, link: str, start: str | None, end: str | None, up: Any, check: bool, given: Mapping[str, Any]
) -> Model:
    """See :meth:`Model.with_flexible_link`."""
    full = full_name(model, link, "with_flexible_link")
    who = f"with_flexible_link '{full}'"
    body = model.wiring.entities.get(full)
    if type(body) is not RigidBody:
        what = "an assembly" if body is None else f"a {body.kind_label}"
        raise refused(who, f"is {what}, expected a rigid body", "name a link", link)
    model, body = shift_absorbed(model, full, body, start, who)
    ends = link_ends(model, full, body, start, end, who)
    axes = _axes(ends, up, who)
    beam = _beam(body, ends, axes, given, who)
    rest = mass_moments(body.mass, np.array(body.com), np.array(body.inertia)) - beam_moments(beam, ends.start, axes)
    near, far = _shared(rest, ends, axes)
    place = find_port(model, f"{full}.origin", who)
    entities, connections = scope_of(model, place.scope)
    made = _Assembled(body, beam, ends, axes, near, far)
    for attachment in ends.attachments:
        made.hang(attachment)
    part = made.assembly()
    above = "".join(f"{name}." for name in place.scope)
    links = _rehung(connections, made, above, who)
    changed = tuple(part if e.name == body.name else e for e in entities)
    return checked(with_scope(model, place.scope, changed, links), check)


def _rehung(connections: Connections, made: _Assembled, above: str, who: str) -> list[tuple[str, ...]]:
    """Connections of the scope in which the link is; what hangs on another part of it is connected there."""
    name = made.body.name
    links = [tuple(f"{name}.origin" if text == name else text for text in group) for group in connections]
    for (entity, port), (old, new) in made.moved.items():
        text = f"{entity.removeprefix(above)}.{port}"
        k = next((k for k, group in enumerate(links) if text in group and f"{name}.{old}" in group), None)
        if k is None:
            message = f"'{entity}' is connected with it from outside of the assembly '{above.rstrip('.')}'"
            raise refused(who, message, "name a link whose joints are beside it", entity)
        if len(links[k]) == 2:
            links[k] = f"{name}.{new}", text
        else:
            links[k] = tuple(other for other in links[k] if other != text)
            links.append((f"{name}.{new}", text))
    return links


def _axes(ends: LinkEnds, up: Any, who: str) -> Array:
    """R (3, 3): x from start to end; z as near to ``up`` as it can be, by default to that axis of the link which is
    nearest to perpendicular, z first."""
    x = (ends.end - ends.start) / ends.length
    if up is None:
        up = next(axis for axis in np.eye(3)[[2, 1, 0]] if abs(axis @ x) < 0.7072)
    z = np.asarray(up, dtype=float).reshape(-1)
    if z.shape != (3,) or not np.all(np.isfinite(z)) or np.linalg.norm(np.cross(z, x)) < 1e-9 * np.linalg.norm(z):
        raise refused(who, f"'up' must be a direction across the beam, got {up}", "up=(0, 0, 1), in axes of the link")
    z = z - (z @ x) * x
    z = z / np.linalg.norm(z)
    return np.stack([x, np.cross(z, x), z], axis=1)


def beam_moments(beam: FlexibleBeam, start: Array, axes: Array) -> Array:
    """P (4, 4) of a straight beam whose frame a has the origin ``start`` and the ``axes``."""
    profile, L = np.array(beam.form.profile), beam.length
    m_0, m_1, m_2 = (profile_integral(profile, 1, power=power) for power in range(3))
    I_y, I_z = (beam.density * L * I * profile_integral(profile, k) for k, I in ((2, beam.I_y), (3, beam.I_z)))
    bar = beam.mass * L**2 * (m_2 / m_0 - (m_1 / m_0) ** 2)
    across = float(beam.sections_turn)
    J = axes @ np.diag([I_y + I_z, bar + across * I_y, bar + across * I_z]) @ axes.T
    return mass_moments(beam.mass, start + axes[:, 0] * (L * m_1 / m_0), J)


def _beam(body: RigidBody, ends: LinkEnds, axes: Array, given: Mapping[str, Any], who: str) -> FlexibleBeam:
    """The beam, whose density is allowed by the link's mass properties."""
    options = dict(given) | {"length": ends.length}
    density = options.pop("density", None)
    one = FlexibleBeam(BEAM, **options, density=1.0)
    P = mass_moments(body.mass, np.array(body.com), np.array(body.inertia))
    part = beam_moments(one, ends.start, axes)
    most = LEFT * largest_share(P, part)
    if density is None:
        density = SHARE * most
    if not density <= most * (1.0 + 1e-12) or most <= 0.0:
        left = P - density * part
        message = (
            f"a beam of {density:g} kg/m^3 has {density * part[3, 3]:.6g} of {body.mass:.6g} kg; what is left is no "
            f"body: its moments have the eigenvalue {np.linalg.eigvalsh(left)[0]:.3g}"
        )
        remedy = f"density={most:.6g} at most, a smaller section, or start and end closer to the mass"
        raise refused(who, message, remedy, density)
    return FlexibleBeam(BEAM, **options, density=float(density))


def _shared(rest: Array, ends: LinkEnds, axes: Array) -> tuple[MassProperties, MassProperties]:
    """What the beam does not have, on two bodies: masses by the lever, m_2 = m c_x / l; their centres as far apart
    along the axis as the second moment allows, at most at the ends; what is left of that in proportion."""
    m, x = float(rest[3, 3]), axes[:, 0]
    if m <= 0.0:
        none = MassProperties(0.0, np.zeros(3), np.zeros((3, 3)))
        return none, none
    com, K = rest[:3, 3] / m, second_moment(rest)
    along = float((com - ends.start) @ x)
    share = min(max(along / ends.length, 0.0), 1.0)
    spread = m * share * (1.0 - share) * ends.length**2  # second moment along x of two points at the ends
    if spread > 0.0:
        room = largest_share(K, np.outer(x, x) * spread) if share not in (0.0, 1.0) else 0.0
        t = np.sqrt(min(1.0, room * (1.0 - 1e-9)))
        K = K - np.outer(x, x) * spread * t**2
    else:
        t = 0.0
    J = inertia_of(K)
    near = MassProperties(m * (1 - share), com - x * (t * share * ends.length), J * (1 - share))
    far = MassProperties(m * share, com + x * (t * (1 - share) * ends.length), J * share)
    return near, far


def _vector(p: Array) -> tuple[float, float, float]:
    x, y, z = p.tolist()
    return x, y, z


@dataclass
class _Assembled:
    """The parts of the new link, and what hangs on which of them."""

    body: RigidBody
    beam: FlexibleBeam
    ends: LinkEnds
    axes: Array
    near: MassProperties
    far: MassProperties

    def __post_init__(self) -> None:
        taken = {"origin", *(frame.name for frame in self.body.frames)}
        self.names = {part: part if part not in taken else f"{part}_part" for part in (START, BEAM, END)}
        self.places = {"origin": (np.eye(3), np.zeros(3))} | {
            f.name: (matrix_of(f.rotation), np.array(f.translation)) for f in self.body.frames
        }
        self.frames: dict[str, tuple[Any, Any]] = {}  # of the beam
        self.displacements: list[Displacement] = []
        self.connections: list[tuple[str, ...]] = []
        self.exposes = {port: self._own(port) for port in self.places}
        self.moved: dict[PortName, tuple[str, str]] = {}  # ports of others -> ports of the link, before and now

    def part_at(self, p: Array) -> str:
        """The part of the link that a point is on."""
        x = float((p - self.ends.start) @ self.axes[:, 0])
        margin = 1e-9 * self.ends.length
        return START if x <= margin else END if x >= self.ends.length - margin else BEAM

    def _own(self, port: str) -> str:
        """Where a port of the link is; those along the beam are frames of the beam."""
        R, p = self.places[port]
        part = START if port == self.ends.entry else self.part_at(p)
        if part != BEAM:
            return f"{self.names[part]}.{port}"
        self.frames[port] = self.axes.T @ (p - self.ends.start), RotationMatrix(matrix=self.axes.T @ R)
        return f"{self.names[BEAM]}.{port}"

    def hang(self, attachment: Attachment) -> None:
        """What is displaced from a port of the link hangs on the part that it is displaced to: on a body by the port of
        the same name there, on the beam by a frame at its place and a displacement back to the port."""
        port, part = attachment.port, self.part_at(attachment.p)
        inner, hook = f"{self.names[part]}.{port}", f"at_{attachment.other[0].rpartition('.')[2]}"
        if part == BEAM:
            R, p = self.places[port]
            at = self.axes.T @ (attachment.p - self.ends.start)
            self.frames[hook] = at, RotationMatrix(matrix=self.axes.T @ R)
            self.displacements.append(Displacement(f"{hook}_back", translation=_vector(R.T @ (p - attachment.p))))
            self.connections.append((f"{self.names[BEAM]}.{hook}", f"{hook}_back.a"))
            inner = f"{hook}_back.b"
        if self.exposes[port] == inner:
            return
        outer = next((o for o, i in self.exposes.items() if i == inner), None)
        if outer is None:
            outer = f"{port}_{part}" if part != BEAM else hook
            self.exposes[outer] = inner
        self.moved[attachment.other] = port, outer

    def assembly(self) -> Assembly:
        """All of it, with the ports of the link."""
        ends, names, matrix = self.ends, self.names, RotationMatrix(matrix=self.axes)
        bodies: list[Entity] = []
        for part, mass, port, p in ((START, self.near, "beam", ends.start), (END, self.far, "beam", ends.end)):
            frames = {f.name: (f.translation, f.rotation) for f in self.body.frames}
            link = port if port not in self.places else f"{port}_part"
            body = RigidBody(
                names[part], mass=mass.mass, com=mass.com, inertia=mass.inertia, frames=frames | {link: (p, matrix)}
            )
            if part == START:
                body = body.model_copy(update={"shapes": self.body.shapes, "momentum": self.body.momentum})
            bodies.append(body)
            self.connections.append((f"{names[part]}.{link}", f"{names[BEAM]}.{'a' if part == START else 'b'}"))
        own = {f.name: (f.translation, f.rotation) for f in self.beam.frames}
        fields = {key: getattr(self.beam, key) for key in self.beam.model_fields_set - {"name", "frames"}}
        beam = FlexibleBeam(names[BEAM], **fields, frames=own | self.frames)
        return Assembly(
            self.body.name,
            entities=(bodies[0], beam, bodies[1], *self.displacements),
            connections=tuple(self.connections),
            exposes=tuple(self.exposes.items()),
        )
