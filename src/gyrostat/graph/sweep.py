"""The two traversals of a network, written once: outward (kinematics is copied at a connection), inward (forces are
summed)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from gyrostat.graph.network import Component, Network

M = TypeVar("M")
F = TypeVar("F", bound=Any)


def outward(
    network: Network,
    start: M,
    step: Callable[[Component, M], Mapping[str, M]],
    order: Sequence[Component] | None = None,
) -> dict[int, M]:
    """Messages at every port: ``step(component, message at its inport)`` gives those at its outports, by name.

    ``start`` is what the reference frame receives from the world. ``order``: another outward order of the components.
    """
    messages: dict[int, M] = {}
    for c in network.components if order is None else order:
        incoming = start
        if c.inport is not None:
            incoming = messages[network.source[c.inport]]
            messages[c.inport] = incoming
        for name, message in step(c, incoming).items():
            messages[c.outports[name]] = message
    return messages


def inward(
    network: Network,
    zero: F,
    step: Callable[[Component, Mapping[str, F]], F],
    loads: Mapping[int, Any],
) -> dict[int, F]:
    """Forces at every port: ``step(component, forces at its outports)`` gives the force at its inport.

    Anything that adds up like forces can be sent; external forces are subtracted from it.

    ``loads`` are external forces at ports; they act outward of an outport, and on the owner of an inport.
    """
    forces: dict[int, F] = {}
    for c in network.inward:
        at_outports: dict[str, F] = {}
        for name, port in c.outports.items():
            total = zero
            for fed in network.feeds[port]:
                total = total + forces[fed]
            if port in loads:
                total = total - loads[port]
            forces[port] = at_outports[name] = total
        needed = step(c, at_outports)
        if c.inport is not None:
            forces[c.inport] = needed - loads[c.inport] if c.inport in loads else needed
    return forces
