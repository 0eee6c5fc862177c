"""Forces of a run as arrows: where they act in the world, for the viewer."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from gyrostat.errors import StateError, clipped, nearest
from gyrostat.graph.contacts import contact_candidates
from gyrostat.graph.network import network
from gyrostat.simulate.results.contact_wrenches import contact_places

Array = np.ndarray
Arrows = dict[str, tuple[Array, Array]]
WORDS = ("contacts", "cuts")


def drawn_forces(run: Any, which: Any) -> Arrows:
    """Name -> points (T, 3) [m] and forces (T, 3) [N] in the world.

    ``which``: "contacts", what acts on the first surface of each rigid contact; "cuts", what the side of the base
    exerts on the far side of every joint that moves; True, contacts, or cuts where a run has none; names of contacts
    and ports. Contacts between shapes without nearest points in closed form have no place, and are left out."""
    known = _contacts(run)
    if which is True:
        which = "contacts" if known else "cuts"
    if isinstance(which, str) and which in WORDS:
        names = list(known) if which == "contacts" else cut_ports(run)
    elif isinstance(which, str | Iterable) and not isinstance(which, bool):
        names = [which] if isinstance(which, str) else list(which)
    else:
        raise StateError(f"Result.view: forces is {clipped(which)}. Hint: True, 'contacts', 'cuts' or names of ports")
    ports = list(network(run.model).ports)
    unknown = [name for name in names if name not in known and name not in ports]
    if unknown:
        hint = nearest(str(unknown[0]), [*known, *ports])
        raise StateError(f"Result.view: there is no contact and no port {clipped(unknown[0])}. Hint: {hint}")
    cut = [name for name in names if name not in known]
    return {name: known[name] for name in names if name in known} | (_cuts(run, cut) if cut else {})


def cut_ports(run: Any) -> list[str]:
    """The far sides of all joints that move."""
    ports = network(run.model).ports
    return [f"{block.entity}.b" for block in run.model.layout if f"{block.entity}.b" in ports]


def _contacts(run: Any) -> Arrows:
    """Of rigid contacts whose places are known; zero while a structure without them is in force."""
    found: Arrows = {}
    if not any(np.any(f) for f in run.contact_forces.values()):
        return found
    for model, at in run._spans():
        q = run.q[at]
        of = [c for c in contact_candidates(model) if c.name in run.contact_forces and c.closed_form]
        if not of or not isinstance(model.context.base, str):
            continue
        places = contact_places(model, network(model), of, q)
        for k, c in enumerate(of):
            points, forces = found.setdefault(c.name, (np.zeros((len(run.t), 3)), np.zeros((len(run.t), 3))))
            points[at] = places["positions"][:, k]
            forces[at] = np.einsum("ti,tij->tj", run.contact_forces[c.name][at], places["axes"][:, k])
    return found


def _cuts(run: Any, names: list[str]) -> Arrows:
    frames = run.frames()
    found = run.port_forces(names)
    return {name: (frames[name].p, np.einsum("tij,tj->ti", frames[name].R, found[name][:, 3:])) for name in names}
