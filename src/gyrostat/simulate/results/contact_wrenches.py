"""Forces of rigid contacts over the samples of a run, as external wrenches: what Newton and Euler need beside the
motion for cut forces and sensors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from gyrostat.algorithms.algorithm import Setting
from gyrostat.algorithms.contact.contact_kinematics import contact_kinematics
from gyrostat.configuration.model_cache import cached_on
from gyrostat.engine.kernel import Kernel
from gyrostat.engine.tracing.record import record
from gyrostat.errors import GyrostatError
from gyrostat.graph.contacts import Candidate, contact_candidates
from gyrostat.graph.network import Network, kept_network
from gyrostat.solvers.machinery.wrench import Wrench
from gyrostat.spatial.gravity import gravity
from gyrostat.spatial.representation import representation
from gyrostat.spec.model import Model

Array = np.ndarray
WHO = "port_forces"


def with_contacts(
    model: Model,
    q: Array,
    forces: Mapping[str, Array],
    wrenches: Mapping[str, Wrench],
    moments: Mapping[str, Array] = MappingProxyType({}),
) -> dict[str, Wrench]:
    """``wrenches`` by port, and those of contacts whose ``forces`` (T, 3) [N] and ``moments`` (T, 3) [N m] act on a, in
    contact axes, at q (T, nq): on both sides, in the world's axes about its origin."""
    candidates = [c for c in contact_candidates(model) if c.name in forces and np.any(forces[c.name])]
    _expect_places(forces, {c.name for c in contact_candidates(model)})
    if not candidates:
        return dict(wrenches)
    _expect_known(model, candidates, moments)
    net = kept_network(model)
    places = contact_places(model, net, candidates, q)
    loads: dict[str, Array] = {}
    for k, c in enumerate(candidates):
        F = np.einsum("ti,tij->tj", forces[c.name], places["axes"][:, k])
        M = np.einsum("ti,tij->tj", moments.get(c.name, np.zeros((len(q), 3))), places["axes"][:, k])
        world = np.concatenate([np.cross(places["positions"][:, k], F) + M, F], axis=1)
        for surface, sign in ((c.a, 1.0), (c.b, -1.0)):
            if surface.port:  # what stands still in the world feels nothing
                port = _free_port(net, net.port(surface.port), wrenches)
                loads[port] = loads.get(port, 0.0) + sign * world
    return dict(wrenches) | {port: Wrench(w, "world") for port, w in loads.items()}


def contact_places(model: Model, net: Network, candidates: Sequence[Candidate], q: Array) -> Mapping[str, Array]:
    """``positions`` (T, k, 3) of contacts and their ``axes`` (T, k, 3, 3)."""
    key = "contact places", tuple(c.name for c in candidates)
    kept = cached_on(model)
    if key not in kept:
        on = Setting(representation("body"), gravity(model.context.gravity), 0.0)

        def function(q: Array) -> Mapping[str, Any]:
            found = contact_kinematics(net, on, candidates, q)
            return {"positions": found.positions, "axes": found.axes}

        with np.errstate(all="ignore"):
            kept[key] = Kernel(record(function, {"q": (model.nq,)}, f"{model.name}_contact_places"), WHO)
    return kept[key].call(np.ascontiguousarray(q))


def _free_port(net: Network, port: str, taken: Mapping[str, Wrench]) -> str:
    """A port of the same body at which no wrench of the user acts."""
    if port not in {net.port(name) for name in taken}:
        return port
    at = net.located[port][0]
    for name, (other, _) in net.located.items():
        if other == at and name not in {net.port(x) for x in taken}:
            return name
    raise GyrostatError(
        f"{WHO}: wrenches act at every port of the body of '{port}', where a contact force acts too. "
        "Hint: give the body a frame more"
    )


def _expect_places(forces: Mapping[str, Array], known: set[str]) -> None:
    """Of points between two solids the place is not kept."""
    for name, f in forces.items():
        if name not in known and np.any(f):
            raise GyrostatError(
                f"{WHO}: contact '{name}' is a point between shapes without nearest points in closed form, and a "
                "result does not keep where it was. Hint: contact_forces has its force"
            )


def _expect_known(model: Model, candidates: Sequence[Candidate], moments: Mapping[str, Array]) -> None:
    for c in candidates:
        if (c.law.torsional or c.law.rolling) and c.name not in moments:
            raise GyrostatError(
                f"{WHO}: contact '{c.name}' has torsional or rolling friction, whose moments a result does not keep. "
                "Hint: cut forces are known without them"
            )
        if not c.closed_form:
            raise GyrostatError(f"{WHO}: contact '{c.name}' has no nearest points in closed form")
    if not isinstance(model.context.base, str):
        raise GyrostatError(
            f"{WHO}: '{model.name}' has rigid contacts, and its base moves by itself. Hint: a fixed or free base"
        )
