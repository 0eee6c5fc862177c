"""External wrenches, given at any port and in any frame."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gyrostat.algorithms.algorithm import Setting
from gyrostat.algorithms.recursions.rne import Loads, no_loads, wrench_at
from gyrostat.configuration.packing import real_array
from gyrostat.errors import NonFiniteError, ShapeError
from gyrostat.graph.network import Network
from gyrostat.spatial.algebra import Array, force_to_parent
from gyrostat.spatial.representation import Motion, Pose


@dataclass(frozen=True)
class Wrench:
    """A wrench (..., 6): torque [N m], then force [N], acting on what the port belongs to.

    ``expressed_in``: ``"local"`` (the port's axes and origin), ``"aligned"`` (the world's axes, the port's origin),
    ``"world"`` (the world's axes and origin), or the name of any other frame (its axes, torque about its origin)."""

    value: Any
    expressed_in: str = "local"


@dataclass(frozen=True)
class Application:
    """Where a wrench acts: name of the port, and in which frame its numbers are."""

    port: str
    expressed_in: str


def read_wrenches(network: Network, wrenches: Any, who: str) -> tuple[list[Application], list[Array]]:
    """Places and arrays (..., 6) of the wrenches of a call."""
    if wrenches is None:
        return [], []
    if not isinstance(wrenches, Mapping):
        raise ShapeError(
            f"{who}: wrenches must map ports to wrenches, got {type(wrenches).__name__}. Hint: {{'tool': w}}"
        )
    places: list[Application] = []
    arrays: list[Array] = []
    for name, given in wrenches.items():
        wrench = given if isinstance(given, Wrench) else Wrench(given)
        port = network.port(name)
        frame = wrench.expressed_in
        if frame not in ("local", "aligned", "world"):
            frame = network.port(frame)
        value = real_array(wrench.value, who, f"wrench at '{name}'")
        if value.ndim == 0 or value.shape[-1] != 6:
            raise ShapeError(
                f"{who}: wrench at '{name}' has shape {value.shape}, expected (..., 6): torque, then force"
            )
        if not np.all(np.isfinite(value)):
            raise NonFiniteError(f"{who}: wrench at '{name}' is not finite, got {value}")
        places.append(Application(port, frame))
        arrays.append(value)
    return places, arrays


def pose_of(network: Network, motions: Mapping[int, Motion], port: str) -> Pose:
    """Placement of any port of the specification in the world."""
    at, place = network.located[port]
    return motions[at].pose.then(*place)


def loads(network: Network, on: Setting, places: Sequence[Application], values: Sequence[Array]) -> Loads:
    """External forces at the ports of the network, in the representation."""
    if not places:
        return no_loads
    inports = {network.ports[i]: i for i in network.source}

    def at_ports(motions: Mapping[int, Motion]) -> Mapping[int, Array]:
        forces: dict[int, Array] = {}
        for place, w in zip(places, values, strict=True):
            port, (R, p) = network.located[place.port]
            expressed_in = place.expressed_in
            if network.source.get(inports.get(place.port, -1)) == port:  # it acts on the owner of this very port
                port = inports[place.port]
            if expressed_in == "local":
                w = force_to_parent(R, p, w)
            elif expressed_in == "aligned":  # the point is the named port's, not the carrier's
                r = pose_of(network, motions, place.port).p
                w, expressed_in = force_to_parent(np.eye(3), r, w), "world"
            elif expressed_in != "world":
                frame = pose_of(network, motions, expressed_in)
                w, expressed_in = force_to_parent(frame.R, frame.p, w), "world"
            f = wrench_at(on, motions[port], w, expressed_in)
            forces[port] = forces[port] + f if port in forces else f
        return forces

    return at_ports
