"""Forces inside loops that are solved in closed form: those of the same robot with the coordinates of its whole tree.

Minimal coordinates know no multipliers. In the coordinates of the tree, where M a + h = T^T u + J^T f, they follow from
the motion: the actuated joints exert u if they can move the robot so, else the joints whose coordinates are kept."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gyrostat.errors import LoopError
from gyrostat.graph.network import Network
from gyrostat.solvers.dynamics.actuator_efforts import RANK, loop_multipliers
from gyrostat.spec.model import Model

Array = np.ndarray


class TreeState(NamedTuple):
    """A state in the coordinates of the tree; ``kept`` (nv of the tree,): rates that are the model's own."""

    q: Array
    v: Array
    a: Array
    kept: Array


def tree_state(net: Network, tree: Model, q: Array, v: Array, a: Array) -> TreeState:
    """The state of a model with solved loops as one of its whole tree."""
    moved = net.transmission.at(q, v)
    every = moved.coordinates(q), moved.rates(v), moved.accelerations(a)
    new = TreeState(np.zeros(tree.nq), np.zeros(tree.nv), np.zeros(tree.nv), np.zeros(tree.nv, dtype=bool))
    for block in tree.layout:
        q_at, v_at = moved.slices[block.entity]
        new.q[block.q], new.v[block.v], new.a[block.v] = every[0][q_at], every[1][v_at], every[2][v_at]
        own = net.model.layout.of.get(block.entity)
        if own is not None:
            new.kept[block.v] = [rate in own.rates for rate in block.rates]
    return new


def lifted(model: Model, tree: Model, tau: Array) -> Array:
    """Efforts (nv of the tree,) of the joints whose coordinates are kept, from those of the model."""
    found = np.zeros(tree.nv)
    found[[tree.dofs.index(name) for name in model.dofs]] = tau
    return found


def tree_multipliers(tree: Model, J: Array, state: TreeState, tau: Array, exerted: Array | None = None) -> Array:
    """f (m,) of all equations, the least ones where these are redundant; tau (nv of the tree,) = M a + h. ``exerted``
    (nv of the tree,): what joints exert, if that is known."""
    if exerted is not None:
        return np.linalg.lstsq(J.T, tau - exerted, rcond=RANK)[0]
    try:
        return loop_multipliers(tree, state.q, tau)
    except LoopError:  # nothing is actuated, or not enough: the joints that are kept exert what is needed
        dependent = ~state.kept
        return np.linalg.lstsq(J[:, dependent].T, tau[dependent], rcond=RANK)[0]
