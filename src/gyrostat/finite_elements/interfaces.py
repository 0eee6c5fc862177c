"""Interfaces of a finite-element model: groups of nodes that move like one frame.

``"rigid"`` (as RBE2 of Nastran): all nodes of the group move with the frame, u = x + theta x r; the group is stiff.
``"average"`` (as RBE3): the frame moves as the nodes do in the mean, weighed by their masses; the group stays soft, and
forces at the frame spread over it.

Both are a change of coordinates, u = G (x, rest), where x holds six motions (displacement, rotation) per frame."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from gyrostat.errors import MeshError, nearest
from gyrostat.finite_elements.elasticity import FeModel
from gyrostat.finite_elements.sparse_algebra import Array, Sparse, nearest_points, pivoted_columns, scipy_parts

COUPLINGS = ("rigid", "average")


@dataclass(frozen=True)
class InterfaceNodes:
    """Nodes (k,) of one interface, and its frame: ``origin`` (3,) [m] and ``R`` (3, 3) in the axes of the mesh."""

    name: str
    nodes: Array
    origin: Array
    R: Array


def select_interfaces(model: FeModel, chosen: Mapping[str, Any]) -> list[InterfaceNodes]:
    """Interfaces by name: a group of the file, indices of nodes, or a box ((x, y, z) least, (x, y, z) most); or a
    mapping with ``nodes``, ``group`` or ``box`` and ``at`` (3,), ``R`` (3, 3) of the frame. By default the frame is at
    the mean of the nodes, its axes those of the mesh."""
    if not isinstance(chosen, Mapping) or not chosen:
        raise MeshError(
            "interfaces must map names to groups of nodes. Hint: interfaces={'base': 'left', 'tip': 'right'}"
        )
    return [_interface(model, str(name), selector) for name, selector in chosen.items()]


def _interface(model: FeModel, name: str, selector: Any) -> InterfaceNodes:
    frame = dict(selector) if isinstance(selector, Mapping) else {}
    at, R = frame.pop("at", None), np.asarray(frame.pop("R", np.eye(3)), dtype=float)
    if frame and (len(frame) != 1 or next(iter(frame)) not in ("nodes", "group", "box")):
        raise MeshError(f"interface '{name}': got {sorted(frame)}. Hint: one of nodes, group, box; and at, R")
    nodes = _nodes(model, name, next(iter(frame.values())) if frame else selector)
    if len(nodes) == 0:
        low, high = model.nodes.min(axis=0), model.nodes.max(axis=0)
        raise MeshError(
            f"interface '{name}' has no nodes. Hint: the mesh reaches from {low.tolist()} to {high.tolist()}"
        )
    if R.shape != (3, 3) or np.abs(R @ R.T - np.eye(3)).max() > 1e-9 or np.linalg.det(R) < 0.0:
        raise MeshError(f"interface '{name}': R must be a rotation matrix. Hint: its columns are the frame's axes")
    origin = model.nodes[nodes].mean(axis=0) if at is None else np.asarray(at, dtype=float)
    if origin.shape != (3,) or not np.all(np.isfinite(origin)):
        raise MeshError(f"interface '{name}': at must be three numbers, got {at!r}. Hint: its place in the mesh [m]")
    return InterfaceNodes(name, nodes, origin, R)


def _nodes(model: FeModel, name: str, selector: Any) -> Array:
    if isinstance(selector, str):
        groups = model.solid.mesh.groups if model.solid else {}
        if selector not in groups:
            known = nearest(selector, groups) if groups else "the mesh has no groups"
            raise MeshError(f"interface '{name}': there is no group '{selector}'. Hint: {known}")
        return _at_positions(model, groups[selector])
    values = np.asarray(selector)
    if values.ndim == 1 and values.dtype.kind in "iu":
        points = model.solid.mesh.points if model.solid else model.nodes
        if len(values) and (values.min() < 0 or values.max() >= len(points)):
            raise MeshError(f"interface '{name}': nodes from {values.min()} to {values.max()} of {len(points)}")
        return _at_positions(model, model.solid.mesh.around(values)) if model.solid else np.unique(values)
    if values.shape == (2, 3) and values.dtype.kind in "iuf":
        low, high = values
        slack = 1e-9 * float(np.ptp(model.nodes, axis=0).max())
        return np.flatnonzero(np.all((model.nodes >= low - slack) & (model.nodes <= high + slack), axis=1))
    raise MeshError(f"interface '{name}': got {selector!r:.80}. Hint: a group's name, node indices, or a box (2, 3)")


def _at_positions(model: FeModel, positions: Array) -> Array:
    size = float(np.ptp(model.nodes, axis=0).max())
    distance, index = nearest_points(model.nodes, positions)
    return np.unique(index[distance < 1e-7 * size])


def coupling(model: FeModel, interfaces: list[InterfaceNodes], kind: str) -> Sparse:
    """G (n, 6 k + rest): all coordinates of the model from the motions of k frames and coordinates that are left."""
    if kind not in COUPLINGS:
        raise MeshError(
            f"coupling must be one of {', '.join(COUPLINGS)}, got {kind!r}. Hint: {nearest(str(kind), COUPLINGS)}"
        )
    sparse = scipy_parts()[0]
    n, frames = len(model.node), 6 * len(interfaces)
    taken, claimed = np.zeros(n, dtype=bool), np.zeros(n, dtype=bool)
    parts: list[tuple[Array, Array, Array]] = []  # rows, columns, values; columns of the rest count from ``frames``
    for k, interface in enumerate(interfaces):
        mine = np.flatnonzero(np.isin(model.node, interface.nodes))
        if np.any(claimed[mine]):
            raise MeshError(
                f"interface '{interface.name}' shares nodes with another one. Hint: each node in one of them"
            )
        dependent, G, others, rest = _frame_coupling(model, interface, mine, kind)
        taken[dependent] = claimed[mine] = True
        parts.append(_dense(dependent, np.arange(6 * k, 6 * k + 6), G))
        parts.append(_dense(dependent, others + frames, rest))
    free = np.flatnonzero(~taken)
    place = np.full(n, -1)
    place[free] = np.arange(len(free))
    parts.append((free, free + frames, np.ones(len(free))))
    rows, columns, values = (np.concatenate([p[i] for p in parts]) for i in range(3))
    columns = np.where(columns < frames, columns, place[np.maximum(columns - frames, 0)] + frames)
    return sparse.csc_matrix((values, (rows, columns)), shape=(n, frames + len(free)))


def _dense(rows: Array, columns: Array, values: Array) -> tuple[Array, Array, Array]:
    return np.repeat(rows, len(columns)), np.tile(columns, len(rows)), values.ravel()


def _frame_coupling(
    model: FeModel, interface: InterfaceNodes, mine: Array, kind: str
) -> tuple[Array, Array, Array, Array]:
    """Coordinates that follow, their rows over the frame's motion, other coordinates of the group, rows over those."""
    rigid = rigid_motions(model, mine, interface.origin)
    if np.linalg.matrix_rank(rigid) < 6:
        raise MeshError(
            f"interface '{interface.name}' has {len(interface.nodes)} nodes on one line: a frame cannot be held there. "
            "Hint: three nodes that are not, or one with rotations"
        )
    if kind == "rigid":
        return mine, rigid, np.zeros(0, dtype=int), np.zeros((len(mine), 0))
    mass = np.maximum(model.M.diagonal()[mine], 0.0)
    weight = np.where(model.component[mine] < 3, mass if np.any(mass) else 1.0, 0.0)
    if not np.any(weight):
        weight = np.ones(len(mine))
    A = np.linalg.solve(rigid.T @ (rigid * weight[:, None]), (rigid * weight[:, None]).T)  # x = A u
    order = pivoted_columns(A)
    follow, lead = order[:6], order[6:]
    inverse = np.linalg.inv(A[:, follow])
    return mine[follow], inverse, mine[lead], -inverse @ A[:, lead]


def rigid_motions(model: FeModel, chosen: Array, origin: Array) -> Array:
    """(k, 6): coordinates for unit displacements along, and unit rotations about, the axes at ``origin``."""
    r, component = model.nodes[model.node[chosen]] - origin, model.component[chosen]
    rows = np.zeros((len(chosen), 6))
    for axis in range(3):
        rows[component == axis, axis] = 1.0
        rows[component == axis + 3, axis + 3] = 1.0
        turned = np.cross(np.eye(3)[axis], r)  # theta x r
        moved = component < 3
        rows[moved, axis + 3] = turned[moved, component[moved]]
    return rows
