"""Contact candidates: pairs of surfaces that may touch, with the law of their contact.

Which pairs are candidates: everything that can touch with every :class:`~gyrostat.spec.contact.Ground`, but what is
fixed to it, or stands still as it does; and the surfaces that a :class:`~gyrostat.spec.contact.ContactPair` names. Pairs
that are named by ``"*"`` leave out surfaces of one body or of bodies that are joined by one joint.

On a plane, a capsule is the two spheres at its ends, a box its eight corners, a cylinder the lowest points of its two
rims (and four points of each, on which it stands)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np

from gyrostat.graph.contact_links import Links
from gyrostat.graph.lower import Values, rotation
from gyrostat.spatial.algebra import Array
from gyrostat.spatial.contact_geometry import closed_form
from gyrostat.spec.contact import EVERYTHING, ContactPair, ContactPoint, Ground
from gyrostat.spec.contact_law import LAW
from gyrostat.spec.contact_surfaces import NamedSurface, meant, pairs, surfaces
from gyrostat.spec.model import Model

USUAL: Mapping[str, float | None] = {
    "friction": 0.0,
    "restitution": 0.0,
    "torsional": 0.0,
    "rolling": 0.0,
    "stiffness": None,
    "damping": 0.0,
    "exponent": 1.0,
    "slip_speed": 0.01,
}
"""What counts where neither surface nor a pair says anything."""


@dataclass(frozen=True)
class ContactLaw:
    """The law of a contact in SI units; see :class:`~gyrostat.spec.contact_law.ContactEntity`. ``stiffness`` None:
    rigid."""

    mu_static: float = 0.0
    mu_dynamic: float = 0.0
    restitution: float = 0.0
    torsional: float = 0.0
    rolling: float = 0.0
    stiffness: float | None = None
    damping: float = 0.0
    exponent: float = 1.0
    slip_speed: float = 0.01


@dataclass(frozen=True)
class Surface:
    """A surface: the full name of the ``entity`` that has it; ``port``: a located port of the network, or "" where it
    stands still in the world; placement ``R`` (3, 3), ``p`` (3,) on that port; ``kind`` and ``size`` [m]: point (),
    sphere and rim (radius), capsule and cylinder (radius, length), box (lengths), ellipsoid (radii), plane ()."""

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
    known in closed form, see :mod:`~gyrostat.spatial.contact_geometry`."""

    name: str
    a: Surface
    b: Surface
    law: ContactLaw
    closed_form: bool


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
        law = _law(model, known[one], known[two], pair)
        for a, b in _features(placed(model, known[one]), placed(model, known[two])):
            yield Candidate(f"{a.name}|{b.name}", a, b, law, closed_form(a.kind, b.kind))


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


def _exactness(wiring: Any, known: Mapping[str, NamedSurface], pair: str, side: str) -> int:
    """0 everything, 1 an assembly, 2 an entity with several surfaces, 3 a surface."""
    if side == EVERYTHING:
        return 0
    names = meant(wiring, known, pair, side) or []
    owners = {known[name].entity for name in names}
    return 1 if len(owners) != 1 else (2 if len(names) != 1 else 3)


def _asked(
    model: Model, known: Mapping[str, NamedSurface], said: Mapping[Names, ContactPair]
) -> dict[Names, ContactPair | None]:
    """Pairs of surfaces that can touch, ground last, and what is said about them."""
    links = Links(model)
    entities = model.wiring.entities
    grounds = [name for name, s in known.items() if isinstance(entities[s.entity], Ground)]
    others = [name for name in known if name not in grounds]
    found: dict[Names, ContactPair | None] = {}
    for name, ground in product(others, grounds):
        if not links.together(known[name].entity, known[ground].entity):
            found[name, ground] = said.get((name, ground)) or said.get((ground, name))
    for (one, two), pair in said.items():
        if one in grounds or two in grounds:
            continue
        a, b = known[one].entity, known[two].entity
        if links.together(a, b) or (pair.sides == (EVERYTHING, EVERYTHING) and links.adjacent(a, b)):
            continue
        points = [isinstance(entities[x], ContactPoint) for x in (a, b)]
        if not all(points) or any(entities[x].radius for x in (a, b)):  # type: ignore[attr-defined]
            found[one, two] = pair
    return found


# ------------------------------------------------------------------------------------------------ laws
def _law(model: Model, one: NamedSurface, two: NamedSurface, pair: ContactPair | None) -> ContactLaw:
    """What the pair says; else the larger of what both surfaces say (friction as MuJoCo takes it), or what one says.
    Of two compliant surfaces, k = k_a k_b / (k_a + k_b), and D as each gives way."""
    a, b = (_own(model, s) for s in (one, two))
    both = {key: _larger(a[key], b[key]) for key in LAW}
    if a["stiffness"] is not None and b["stiffness"] is not None:
        ka, kb = a["stiffness"], b["stiffness"]
        both["stiffness"] = ka * kb / (ka + kb)
        both["damping"] = (kb * (a["damping"] or 0.0) + ka * (b["damping"] or 0.0)) / (ka + kb)
    values = {key: _first(getattr(pair, key, None), both[key], USUAL[key]) for key in LAW}
    mu = values.pop("friction")
    static, dynamic = mu if isinstance(mu, tuple) else (mu, mu)
    return ContactLaw(mu_static=static, mu_dynamic=dynamic, **values)


def _own(model: Model, surface: NamedSurface) -> dict[str, Any]:
    if surface.shape is not None:
        return dict.fromkeys(LAW)
    entity = model.wiring.entities[surface.entity]
    return {key: getattr(entity, key) for key in LAW}


def _larger(one: Any, two: Any) -> Any:
    if one is None or two is None:
        return two if one is None else one
    return max(one, two, key=lambda x: x if isinstance(x, tuple) else (x, x))


def _first(*values: Any) -> Any:
    return next((x for x in values if x is not None), None)


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


def _features(a: Surface, b: Surface) -> Iterator[tuple[Surface, Surface]]:
    """The pairs of simple surfaces that two surfaces are for contact."""
    if b.kind != "plane" or a.kind not in SIMPLE:
        yield a, b
        return
    for feature in SIMPLE[a.kind](a):
        yield feature, b


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
