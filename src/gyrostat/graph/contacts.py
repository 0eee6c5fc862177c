"""Contact candidates: pairs of surfaces that may touch, with the law of their contact.

Which pairs are candidates: everything that can touch with every :class:`~gyrostat.spec.contact.Ground` and every height
field, but what is fixed to it, or stands still as it does; and the surfaces that a
:class:`~gyrostat.spec.contact.ContactPair` names. Pairs that are named by ``"*"`` leave out bodies that are joined by
one joint, and surfaces whose layers do not let them touch.

On a plane, a capsule is the two spheres at its ends, a box its eight corners, a cylinder the lowest points of its two
rims (and four points of each, on which it stands), a mesh its vertices, or those that are farthest out (it counts as
convex)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

import numpy as np

from gyrostat.errors import SpecError
from gyrostat.graph.contact_laws import ContactLaw, contact_law
from gyrostat.graph.contact_links import Links
from gyrostat.graph.contact_meshes import points_of
from gyrostat.graph.lower import Values, rotation
from gyrostat.spatial.algebra import Array
from gyrostat.spatial.contact_geometry import closed_form
from gyrostat.spec.contact import EVERYTHING, ContactPair, ContactPoint, Ground
from gyrostat.spec.contact_surfaces import NamedSurface, full_name, meant, pairs, surfaces
from gyrostat.spec.model import Model
from gyrostat.spec.wiring import Wiring

NOWHERE = NamedSurface("", ""), NamedSurface("", "")


@dataclass(frozen=True)
class Surface:
    """A surface: the full name of the ``entity`` that has it; ``port``: a located port of the network, or "" where it
    stands still in the world; placement ``R`` (3, 3), ``p`` (3,) on that port; ``kind`` and ``size`` [m]: point (),
    sphere and rim (radius), capsule and cylinder (radius, length), box (lengths), ellipsoid (radii), plane (),
    height-field (lengths, depth)."""

    name: str
    entity: str
    port: str
    R: Array
    p: Array
    kind: str
    size: tuple[float, ...]


@dataclass(frozen=True)
class Candidate:
    """Two surfaces that may touch. ``name`` such as ``"tip|floor"``; ``closed_form``: whether the nearest points are
    known in closed form, see :mod:`~gyrostat.spatial.contact_geometry`. ``surfaces``: those of the specification that
    they are part of; ``pair``: what is said about these."""

    name: str
    a: Surface
    b: Surface
    law: ContactLaw
    closed_form: bool
    surfaces: tuple[NamedSurface, NamedSurface] = field(repr=False, default=NOWHERE)
    pair: ContactPair | None = field(repr=False, default=None)


def contact_candidates(model: Model) -> tuple[Candidate, ...]:
    """All candidates of a model, in the order of its entities; found once for a model object."""
    kept = model.__dict__.setdefault("_contact_candidates", {})
    if "found" not in kept:
        kept["found"] = tuple(_candidates(model))
    return kept["found"]


def _candidates(model: Model) -> Iterator[Candidate]:
    known = surfaces(model.wiring)
    said = _said(model, known)
    for (one, two), pair in _asked(model, known, said).items():
        if pair is not None and pair.exclude:
            continue
        law = contact_law(model, known[one], known[two], pair)
        for a, b in _features(model, known[one], known[two]):
            known_form = closed_form(a.kind, b.kind)
            yield Candidate(f"{a.name}|{b.name}", a, b, law, known_form, (known[one], known[two]), pair)


# ------------------------------------------------------------------------------------------------ which pairs
Names = tuple[str, str]


def _said(model: Model, known: Mapping[str, NamedSurface]) -> dict[Names, ContactPair]:
    """For each two surfaces the pair that speaks of them most exactly; the later one of two that are as exact."""
    wiring, exact = model.wiring, dict[Names, int]()
    found: dict[Names, ContactPair] = {}
    order = {name: k for k, name in enumerate(known)}
    for name, pair in pairs(wiring).items():
        sides = [meant(wiring, known, name, side) or [] for side in pair.sides]
        exactness = sum(_exactness(wiring, known, name, side) for side in pair.sides)
        for one, two in product(*sides):
            pass_over = one == two or (EVERYTHING in pair.sides and order[one] > order[two] and pair.a == pair.b)
            key = (two, one) if (two, one) in found else (one, two)
            if not pass_over and exactness >= exact.get(key, 0):
                found[key], exact[key] = pair, exactness
    return found


def _exactness(wiring: Wiring, known: Mapping[str, NamedSurface], pair: str, side: str) -> int:
    """0 everything, 1 an assembly, 2 an entity with several surfaces, 3 a surface."""
    full = None if side == EVERYTHING else full_name(wiring, known, pair, side)
    if full is None:
        return 0
    return 1 if full in wiring.assemblies else (3 if full in known else 2)


def _asked(
    model: Model, known: Mapping[str, NamedSurface], said: Mapping[Names, ContactPair]
) -> dict[Names, ContactPair | None]:
    """Pairs of surfaces that can touch, ground last, and what is said about them."""
    links = Links(model)
    entities = model.wiring.entities
    grounds = [name for name, s in known.items() if isinstance(entities[s.entity], Ground) or _is_field(s)]
    others = [name for name in known if name not in grounds]
    found: dict[Names, ContactPair | None] = {}
    for name, ground in product(others, grounds):
        if not links.together(known[name].entity, known[ground].entity):
            pair = said.get((name, ground)) or said.get((ground, name))
            if _by_name(pair) or _may_touch(model, known[name], known[ground]):
                found[name, ground] = pair
    for (one, two), pair in said.items():
        if one in grounds or two in grounds:
            _expect_no_two_grounds(known[one], known[two], grounds, pair)
            continue
        a, b = known[one].entity, known[two].entity
        filtered = links.adjacent(a, b) or not _may_touch(model, known[one], known[two])
        if links.together(a, b) or (filtered and not _by_name(pair)):
            continue
        points = [isinstance(entities[x], ContactPoint) for x in (a, b)]
        if not all(points) or any(entities[x].radius for x in (a, b)):  # type: ignore[attr-defined]
            found[one, two] = pair
    return found


def _is_field(surface: NamedSurface) -> bool:
    return surface.shape is not None and surface.shape.kind == "height-field"


def _expect_no_two_grounds(one: NamedSurface, two: NamedSurface, grounds: list[str], pair: ContactPair) -> None:
    """Height fields touch no grounds, nor each other."""
    both = one.name in grounds and two.name in grounds and (_is_field(one) or _is_field(two))
    if both and _by_name(pair) and not pair.exclude:
        message = f"'{one.name}' and '{two.name}' are grounds or height fields, which do not touch each other"
        raise SpecError.one(f"contact pair '{pair.name}'", "contact-pair", message, "name a body", pair.name)


def _by_name(pair: ContactPair | None) -> bool:
    """Whether both surfaces are named, not only by ``"*"``."""
    return pair is not None and EVERYTHING not in pair.sides


def _may_touch(model: Model, one: NamedSurface, two: NamedSurface) -> bool:
    """Whether their layers let them touch."""
    (la, ta), (lb, tb) = (_layers(model, s) for s in (one, two))
    return bool(la & tb or lb & ta)


def _layers(model: Model, surface: NamedSurface) -> tuple[int, int]:
    said: Any = model.wiring.entities[surface.entity] if surface.shape is None else surface.shape.contact
    return (1, 1) if said is None else (said.layers, said.touches)


# ------------------------------------------------------------------------------------------------ surfaces
def placed(model: Model, surface: NamedSurface) -> Surface:
    """A surface of the specification, where it is."""
    name, entity = surface.name, model.wiring.entities[surface.entity]
    at = np.eye(3), np.zeros(3)
    if surface.shape is not None:
        shape = surface.shape
        R = rotation(Values(name, shape.rotation, {}), [])
        return Surface(
            name, surface.entity, f"{surface.entity}.origin", R, np.array(shape.translation), shape.kind, shape.size
        )
    if isinstance(entity, Ground):
        alone = not model.wiring.connection(surface.entity, "frame")
        return Surface(name, surface.entity, "" if alone else f"{surface.entity}.frame", *at, "plane", ())
    radius = float(entity.radius)  # type: ignore[attr-defined]
    size = (radius,) if radius else ()
    return Surface(name, surface.entity, f"{surface.entity}.frame", *at, "sphere" if radius else "point", size)


def _features(model: Model, one: NamedSurface, two: NamedSurface) -> Iterator[tuple[Surface, Surface]]:
    """The pairs of simple surfaces that two surfaces are for contact."""
    a, b = placed(model, one), placed(model, two)
    for feature in on_a_plane(model, one, a) if b.kind == "plane" else (a,):
        yield feature, b


def on_a_plane(model: Model, surface: NamedSurface, at: Surface) -> list[Surface]:
    """The simple surfaces that one placed at ``at`` is on a plane; itself if it is one, or a mesh that is not there."""
    if at.kind == "mesh" and surface.shape is not None:
        points = points_of(model, surface.name, surface.shape)
        return [at] if points is None else [_moved(at, f":{k}", x, "point", ()) for k, x in enumerate(points)]
    return list(SIMPLE[at.kind](at)) if at.kind in SIMPLE else [at]


def _moved(s: Surface, suffix: str, by: Any, kind: str, size: tuple[float, ...]) -> Surface:
    return replace(s, name=s.name + suffix, p=s.p + s.R @ np.array(by), kind=kind, size=size)


def _capsule_ends(s: Surface) -> Iterator[Surface]:
    for sign, mark in ((1.0, "+"), (-1.0, "-")):
        yield _moved(s, mark, (0.0, 0.0, sign * s.size[1] / 2), "sphere", s.size[:1])


def _corners(s: Surface) -> Iterator[Surface]:
    for signs in product((1.0, -1.0), repeat=3):
        mark = "".join("+" if x > 0 else "-" for x in signs)
        yield _moved(s, mark, [x * half / 2 for x, half in zip(signs, s.size, strict=True)], "point", ())


def _rims(s: Surface) -> Iterator[Surface]:
    r, half = s.size[0], s.size[1] / 2
    for sign, mark in ((1.0, "+"), (-1.0, "-")):
        yield _moved(s, mark, (0.0, 0.0, sign * half), "rim", (r,))
        for k, (x, y) in enumerate(((r, 0.0), (0.0, r), (-r, 0.0), (0.0, -r))):
            yield _moved(s, f"{mark}{k}", (x, y, sign * half), "point", ())


SIMPLE = {"capsule": _capsule_ends, "box": _corners, "cylinder": _rims}
"""What these are on a plane."""
