"""Compliant contacts of a network: forces between the frames of two surfaces, from their nearest points."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from gyrostat.errors import SpecError
from gyrostat.graph.contact_laws import contact_law
from gyrostat.graph.contacts import Candidate, Surface, contact_candidates
from gyrostat.graph.data_flow import Network, Pair
from gyrostat.graph.lower import Placement
from gyrostat.spatial.algebra import compose


class CompliantContact:
    """The kind of such a force; properties: ``kinds`` and ``sizes`` of the two surfaces, and ``law``, a
    :class:`~gyrostat.graph.contact_laws.ContactLaw`."""


def compliant(candidate: Candidate) -> bool:
    """Whether the contact has a force law."""
    return candidate.law.stiffness is not None


def compliant_contacts(network: Network, live: Mapping[str, Any]) -> Iterator[Pair]:
    """Of every candidate that has a stiffness; ``live``: arrays to use for properties by path."""
    for c in contact_candidates(network.model):
        if not compliant(c):
            continue
        if not c.closed_form:
            message = f"a {c.a.kind} and a {c.b.kind} have no nearest points in closed form, which a force law needs"
            remedy = "give one of them spheres or capsules, or leave the stiffness out"
            if c.b.kind == "height-field":
                remedy = "leave the stiffness out: gs.simulate(method='moreau') has rigid contact with it"
            raise SpecError.one(f"contact '{c.name}'", "contact-law", message, remedy, c.name)
        law = contact_law(network.model, *c.surfaces, c.pair, live) if live else c.law
        props = {"kinds": (c.a.kind, c.b.kind), "sizes": (c.a.size, c.b.size), "law": law}
        yield Pair(c.name, CompliantContact, props, _at(network, c.a), _at(network, c.b))


def _at(network: Network, surface: Surface) -> tuple[int | None, Placement]:
    """The outport that carries a surface, None for the world; and the surface's placement on it."""
    if not surface.port:
        return None, (surface.R, surface.p)
    port, place = network.located[surface.port]
    return port, compose(*place, surface.R, surface.p)
