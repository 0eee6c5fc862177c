"""What an MJCF says about touching: masks and friction of geoms, planes, pairs of geoms, pairs of bodies to leave out.

Friction (sliding, torsional, rolling) counts as far as ``condim`` says: 1 none, 3 sliding, 4 also torsional [m], 6 also
rolling [m]. The softness of MuJoCo's contacts (solref, solimp), margins and priorities are not in the model: a contact
is rigid, unless a stiffness is given to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gyrostat.io.mjcf.defaults import elements_of
from gyrostat.io.mjcf.shapes import pose
from gyrostat.io.mjcf.source import MjcfReader
from gyrostat.io.safe_xml import Element
from gyrostat.io.xml_elements import shown
from gyrostat.spec.contact import EVERYTHING, ContactPair, Ground
from gyrostat.spec.contact_law import ContactSurface

if TYPE_CHECKING:
    from gyrostat.io.mjcf.build import Parts

BITS = 0xFFFFFFFF
COLLISION_GROUP = 3
SOFT = ("solref", "solimp", "solmix", "margin", "gap", "priority", "solreffriction")
"""Attributes of geoms and pairs that are settings of MuJoCo's own contact."""


def switched_off(mujoco: Any, spec: Any) -> bool:
    """Whether the file says that nothing touches."""
    off = mujoco.mjtDisableBit.mjDSBL_CONTACT | mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    return bool(int(spec.option.disableflags) & int(off))


def geom_contacts(reader: MjcfReader, mujoco: Any, spec: Any) -> list[ContactSurface | None]:
    """For each geom of the specification what it says about touching, None if nothing; settings that are not used are
    told."""
    if switched_off(mujoco, spec):
        return [None for _ in spec.geoms]
    paired = {name for pair in spec.pairs for name in (pair.geomname1, pair.geomname2)}
    found: list[ContactSurface | None] = []
    for geom, element in zip(spec.geoms, elements_of(reader, spec.geoms), strict=True):
        layers, touches = int(geom.contype) & BITS, int(geom.conaffinity) & BITS
        if not layers and not touches and geom.group < COLLISION_GROUP and geom.name not in paired:
            found.append(None)
            continue
        _tell_soft(reader, element)
        found.append(ContactSurface(layers=layers, touches=touches, **friction(geom.condim, geom.friction)))
    return found


def _tell_soft(reader: MjcfReader, element: Element) -> None:
    used = [key for key in SOFT if key in element.attrib]
    if used:
        what = "settings of MuJoCo's contact are not in the model: contacts are rigid, and touch without a margin"
        reader.ignore(element, "unused-contact", what, shown(element, *used))


def friction(condim: int, given: Any) -> dict[str, float]:
    """Properties of a contact from condim and (sliding, torsional, rolling)."""
    slide, spin, roll = (float(x) for x in given)
    law = {"friction": slide if condim > 1 else 0.0}
    if condim >= 4:
        law["torsional"] = spin
    if condim >= 6:
        law["rolling"] = roll
    return law


def check_contact(reader: MjcfReader, mujoco: Any, spec: Any, contacts: bool | None) -> None:
    """One finding for all geoms that would touch each other, not only a plane."""
    world = reader.source.root.find("worldbody")
    if world is None or switched_off(mujoco, spec):
        return
    planes = (mujoco.mjtGeom.mjGEOM_PLANE, mujoco.mjtGeom.mjGEOM_HFIELD)
    geoms = [geom for geom in spec.geoms if geom.contype or geom.conaffinity]
    count = sum(1 for geom in geoms if geom.type not in planes)
    if contacts is False and len(geoms) > 1:
        what = "contact is not in the model, since contacts=False"
        reader.ignore(world, "unused-contact", what, f"{len(geoms)} geoms that can touch")
    elif contacts is None and count > 1:
        what = "contact of geoms with each other is not in the model; that with planes and height fields is"
        reader.ignore(world, "unused-contact", what, f"{count} geoms that can touch", "load it with contacts=True")


class Contacts:
    """Grounds and pairs of a file, added to the parts of a model."""

    def __init__(self, parts: Parts, spec: Any, contacts: bool | None):
        self.parts, self.spec, self.contacts = parts, spec, contacts
        self.ground: dict[str, str] = {}  # geom -> entity

    def add(self) -> None:
        """Planes, pairs and what is left out; all bodies with each other if that was asked for."""
        done = self.parts.done
        planes = [k for k, kind in enumerate(done.model.geom_type) if kind == done.mujoco.mjtGeom.mjGEOM_PLANE]
        for k in planes:
            self._plane(k)
        if self.contacts is False or switched_off(done.mujoco, self.spec):
            return
        if self.contacts:
            name = self.parts.names.free("all_contacts", "pair")
            self.parts.add(ContactPair(EVERYTHING, EVERYTHING, name=name), self.parts.reader.source.root)
        for pair, element in zip(self.spec.pairs, elements_of(self.parts.reader, self.spec.pairs), strict=True):
            self._pair(pair, element)
        for pair, element in zip(self.spec.excludes, elements_of(self.parts.reader, self.spec.excludes), strict=True):
            self._exclude(pair, element)

    def _plane(self, k: int) -> None:
        parts, m = self.parts, self.parts.done.model
        said, element = parts.done.contact.get(k), parts.done.elements["geom"][k]
        if said is None or self.contacts is False or not (said.layers or said.touches):
            parts.reader.ignore(element, "unused-geom", "a plane that nothing touches is not in the model")
            return
        name = parts.names.give(m.geom(k).name, "ground", element, "ground")
        body = int(m.geom_bodyid[k])
        X = pose(m.geom_pos[k], m.geom_quat[k])
        parts.add(Ground(name, **said.model_dump(exclude_none=True)), element)
        if body or not np.array_equal(X[0], np.eye(3)) or X[1].any():
            port = f"{parts.body[body]}.origin" if body else "world.frame"
            parts.connections.append((parts.displaced(port, X, name, element), f"{name}.frame"))
        self.ground[m.geom(k).name] = name

    def _surface(self, geom: str, element: Element) -> str | None:
        """How contacts call a geom."""
        m = self.parts.done.model
        if geom in self.ground:
            return self.ground[geom]
        number = next((k for k in range(m.ngeom) if m.geom(k).name == geom), None)
        body = None if number is None else int(m.geom_bodyid[number])
        owner = self.parts.entity_of(body) if body is not None else None
        if owner is None or not any(shape.name == geom for shape in owner.shapes):
            what = "a pair with a geom that is not in the model is not, either"
            self.parts.reader.ignore(element, "unused-contact", what, repr(geom))
            return None
        return f"{owner.name}.{geom}"

    def _pair(self, pair: Any, element: Element) -> None:
        a, b = (self._surface(name, element) for name in (pair.geomname1, pair.geomname2))
        if a is None or b is None:
            return
        _tell_soft(self.parts.reader, element)
        slide, across, spin, roll, roll_across = (float(x) for x in pair.friction)
        if (pair.condim >= 3 and slide != across) or (pair.condim >= 6 and roll != roll_across):
            what = "friction is the same in all directions of the model; the first of two numbers is taken"
            self.parts.reader.warn(element, "contact-friction", what, shown(element, "friction"), "give equal ones")
        name = self.parts.names.free(f"{a}_{b}".replace(".", "_"), "pair")
        law = friction(int(pair.condim), (slide, spin, roll))
        self.parts.add(ContactPair(a, b, name=name, **law), element)

    def _exclude(self, pair: Any, element: Element) -> None:
        names = [self._body(name) for name in (pair.bodyname1, pair.bodyname2)]
        if None in names:
            what = "a body without shapes touches nothing: there is nothing to leave out"
            self.parts.reader.ignore(element, "unused-contact", what, shown(element, "body1", "body2"))
            return
        name = self.parts.names.free(f"{names[0]}_{names[1]}_apart", "pair")
        self.parts.add(ContactPair(*names, name=name, exclude=True), element)  # type: ignore[arg-type]

    def _body(self, name: str) -> str | None:
        m = self.parts.done.model
        number = next((b for b in range(m.nbody) if m.body(b).name == name), None)
        owner = self.parts.entity_of(number) if number is not None else None
        return None if owner is None else owner.name
