"""Rules of flexible beams: ``beam-positive``, ``beam-damping``, ``beam-frame``, ``beam-section``, ``beam-method``."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

from gyrostat.errors import Problem
from gyrostat.spec.beam_damping import Modal, Rayleigh
from gyrostat.spec.rules import finite, not_finite, rotation_problems, shown

if TYPE_CHECKING:
    from gyrostat.spec.flexible_beam import FlexibleBeam

UNITS = {
    "length": "m", "area": "m^2", "I_y": "m^4", "I_z": "m^4", "J": "m^4", "E": "Pa", "G": "Pa", "density": "kg/m^3",
}  # fmt: skip
MOST = 40
"""Shapes of one family at most: their equations are written out, and polynomials of higher degree lose digits."""


def beam_problems(beam: FlexibleBeam) -> list[Problem]:
    """All mistakes that a beam can see by itself."""
    rules = (_positive, _damping, _frames, _sections, _method)
    return [*not_finite(beam), *(problem for rule in rules for problem in rule(beam))]


def _positive(beam: FlexibleBeam) -> Iterator[Problem]:
    for key, unit in UNITS.items():
        value = getattr(beam, key)
        if finite(value) and value <= 0.0:
            message = f"'{key}' must be positive, got {shown(value)} {unit}"
            yield beam.problem("beam-positive", message, f"give it in {unit}", (key,))


def _damping(beam: FlexibleBeam) -> Iterator[Problem]:
    d = beam.damping
    numbers = d.ratios if isinstance(d, Modal) else (d.alpha, d.beta) if isinstance(d, Rayleigh) else (d,)
    if finite(numbers) and min(numbers) < 0.0:
        message = f"'damping' must not be negative, got {shown(min(numbers))}"
        yield beam.problem("beam-damping", message, "it would feed vibrations; check its sign", ("damping",))


def _frames(beam: FlexibleBeam) -> Iterator[Problem]:
    for frame in beam.frames:
        yield from rotation_problems(beam, f"frames.{frame.name}.rotation", frame.rotation)
        x = frame.translation[0]
        if finite(x) and finite(beam.length) and not 0.0 <= x <= beam.length:
            message = f"frame '{frame.name}' is at x = {shown(x)} m, outside of 0 ... {shown(beam.length)}"
            yield beam.problem("beam-frame", message, "give its place along the beam in m", ("frames", frame.name))


def _sections(beam: FlexibleBeam) -> Iterator[Problem]:
    if not isinstance(beam.section, tuple):
        return
    places = [x for x, _ in beam.section]
    if len(places) < 2 or any(b <= a for a, b in pairwise(places)) or (places[0], places[-1]) != (0.0, beam.length):
        message = f"the places of its sections are {shown(tuple(places))} m"
        remedy = f"let them rise from 0 to the length {shown(beam.length)}"
        yield beam.problem("beam-section", message, remedy, ("section",))
    for x, section in beam.section:
        for key in ("area", "I_y", "I_z", "J"):
            if finite(getattr(section, key)) and getattr(section, key) <= 0.0:
                message = f"'{key}' of the section at {shown(x)} m must be positive, got {shown(getattr(section, key))}"
                yield beam.problem("beam-section", message, f"give it in {UNITS[key]}", ("section",))


def _method(beam: FlexibleBeam) -> Iterator[Problem]:
    if beam.method == "in-cut" and beam.segments > 1:
        message = f"'segments' is {beam.segments}: a beam with in-cut joints is in pieces already"
        yield beam.problem("beam-method", message, "write elements=... alone", ("segments",))
    if beam.method == "in-cut" and (isinstance(d := beam.damping, Modal) or (isinstance(d, Rayleigh) and d.alpha)):
        message = "springs at cuts have damping in proportion to their stiffness, nothing else"
        yield beam.problem("beam-method", message, "give a time constant in s, or write 'modal'", ("damping",))
    if beam.method != "modal" and beam.shear:
        what = "finite elements" if beam.method == "fe" else "in-cut joints"
        yield beam.problem("beam-method", f"'shear' is not there for {what}", "write method 'modal'", ("shear",))
    if beam.method == "in-cut":
        return
    most = max(beam.families.values())
    if most > MOST and not beam.nodal:
        message = f"has {most} shapes in one family, expected {MOST} at most"
        yield beam.problem("beam-method", message, "fewer shapes in several segments", ("modes",))
    if beam.method == "fe" and not beam.nodal:
        rooms = {"y": 2 * beam.elements, "z": 2 * beam.elements, "t": beam.elements, "x": beam.elements}
        for family, n in beam.families.items():
            if n > rooms[family]:
                message = f"has {n} shapes '{family}', more than the {rooms[family]} coordinates of its elements"
                yield beam.problem("beam-method", message, "take fewer shapes, or more elements", ("elements",))
