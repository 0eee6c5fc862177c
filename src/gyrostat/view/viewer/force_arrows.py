"""Forces as arrows: where they act and how large they are over time, and their nodes in viser."""

from __future__ import annotations

import html as html_text
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from gyrostat.errors import ShapeError, clipped

Array = np.ndarray
COLORS = ((196, 30, 58), (37, 99, 168), (217, 119, 6), (47, 133, 90), (123, 79, 163), (15, 139, 141))
SIDES = 16
RADIUS, HEAD = 0.012, 0.05
"""Radius of the shaft and length of the head of an arrow of full size, over the size of the robot."""
LENGTH = 0.35
"""Length of the arrow of a large force, over the size of the robot."""


@dataclass(frozen=True)
class Forces:
    """``points`` and ``forces`` (T, n, 3) in the world [m, N] of n forces by name, at ``t`` (T,) [s]; T is one where
    nothing moves. ``scale`` [m/N]."""

    names: tuple[str, ...]
    points: Array
    forces: Array
    t: Array | None
    scale: float

    def at(self, times: Array) -> tuple[Array, Array]:
        """Points and forces (N, n, 3), straight between samples."""
        if self.t is None:
            shape = (len(times), *self.points.shape[1:])
            return np.broadcast_to(self.points[0], shape), np.broadcast_to(self.forces[0], shape)
        return _straight(self.t, self.points, times), _straight(self.t, self.forces, times)

    def table(self, force: Array) -> str:
        """Names and sizes [N] of forces (n, 3) as a table in HTML, with the colours of the arrows."""
        rows = "".join(
            f'<tr><td style="color:rgb{COLORS[k % len(COLORS)]}">&#9679;</td><td>{html_text.escape(name)}</td>'
            f'<td style="text-align:right;font-variant-numeric:tabular-nums">{np.linalg.norm(force[k]):.3f}</td>'
            '<td style="padding-left:6px">N</td></tr>'
            for k, name in enumerate(self.names)
        )
        return (
            f'<table style="font-size:12px;margin:4px 12px;width:calc(100% - 24px)">{rows}</table>'
            f'<div style="font-size:12px;margin:4px 12px">1 m of arrow is {1.0 / self.scale:.4g} N</div>'
        )


def _straight(t: Array, x: Array, times: Array) -> Array:
    k = np.clip(np.searchsorted(t, times, side="right") - 1, 0, len(t) - 2)
    share = np.clip((times - t[k]) / np.maximum(t[k + 1] - t[k], 1e-300), 0.0, 1.0)[:, None, None]
    return (1.0 - share) * x[k] + share * x[k + 1]


def given_forces(given: Any, t: Array | None, extent: float, scale: float | None) -> Forces | None:
    """Forces of a mapping name -> (points, forces), each (T, 3) with the times of the motion, or (3,) without one."""
    if given is None:
        return None
    if not isinstance(given, Mapping):
        told = "a mapping name -> (points, forces)"
        raise ShapeError(f"view: forces is {clipped(given)}, expected {told}. Hint: run.view(forces=True)")
    if not given:
        return None
    wanted = (3,) if t is None else (len(t), 3)
    points, forces = [], []
    for name, pair in given.items():
        arrays = [np.asarray(x, dtype=float) for x in pair] if isinstance(pair, tuple | list) else []
        if len(arrays) != 2 or any(x.shape != wanted or not np.all(np.isfinite(x)) for x in arrays):
            shapes = ", ".join(str(x.shape) for x in arrays) or clipped(pair)
            raise ShapeError(
                f"view: force {clipped(name)} has {shapes}, expected finite points and forces {wanted}. "
                "Hint: in the world, one row for each time"
            )
        points.append(arrays[0].reshape(-1, 3))
        forces.append(arrays[1].reshape(-1, 3))
    F = np.stack(forces, axis=1)
    return Forces(tuple(map(str, given)), np.stack(points, axis=1), F, t, _scaled(F, extent, scale))


def _scaled(F: Array, extent: float, scale: float | None) -> float:
    """[m/N]: so that all but the two percent largest forces are at most ``LENGTH`` times the robot long."""
    if scale is not None:
        if isinstance(scale, bool) or not isinstance(scale, int | float) or not 0.0 < scale < np.inf:
            raise ShapeError(f"view: force_scale must be a number above 0 [m/N], got {clipped(scale)}")
        return float(scale)
    sizes = np.linalg.norm(F, axis=-1)
    there = sizes[sizes > 1e-9 * sizes.max(initial=0.0)]
    return LENGTH * extent / float(np.percentile(there, 98.0)) if len(there) else 1.0


class ArrowNodes:
    """One node for each force: a mesh of length one on a frame, whose scale is the length. ``size`` [m]: the robot."""

    def __init__(self, server: Any, forces: Forces, size: float, root: str = "/forces"):
        self.forces, self.size = forces, size
        self.nodes, self.meshes = [], []
        vertices, faces = unit_arrow(RADIUS * size, HEAD * size)
        for k in range(len(forces.names)):
            node = server.scene.add_frame(f"{root}/{k}", show_axes=False)
            color = COLORS[k % len(COLORS)]
            mesh = server.scene.add_mesh_simple(
                f"{root}/{k}/arrow", vertices, faces, color=color, flat_shading=False, side="double", cast_shadow=False
            )
            self.nodes.append(node)
            self.meshes.append(mesh)

    def placements(self, times: Array) -> tuple[Array, Array, Array]:
        """R (N, n, 3, 3), p (N, n, 3) and scales (N, n, 3): z of R is along the force. Short arrows are thin."""
        points, F = self.forces.at(times)
        length = np.linalg.norm(F, axis=-1)
        gone = length * self.forces.scale < 1e-4 * self.size
        z = np.where(gone[..., None], (0.0, 0.0, 1.0), F / np.maximum(length, 1e-300)[..., None])
        wide = np.where(np.abs(z[..., 2:]) < 0.9, (0.0, 0.0, 1.0), (1.0, 0.0, 0.0))
        x = np.cross(wide, z)
        x /= np.linalg.norm(x, axis=-1, keepdims=True)
        R = np.stack([x, np.cross(z, x), z], axis=-1)
        long = np.where(gone, 1e-6 * self.size, length * self.forces.scale)
        thin = np.minimum(1.0, long / (2.0 * HEAD * self.size))
        return R, points, np.stack([thin, thin, long], axis=-1)


def unit_arrow(radius: float, head: float) -> tuple[Array, Array]:
    """Vertices (n, 3) and faces (m, 3) of an arrow along z from 0 to 1: a shaft, and a cone on its last quarter."""
    turn = np.linspace(0.0, 2.0 * np.pi, SIDES, endpoint=False)
    ring = np.stack([np.cos(turn), np.sin(turn)], axis=1)
    rows = ((radius, 0.0), (radius, 0.75), (0.5 * head, 0.75))
    circles = [np.c_[r * ring, np.full(SIDES, z)] for r, z in rows]
    vertices = np.concatenate([*circles, [[0.0, 0.0, 1.0]], [[0.0, 0.0, 0.0]]])
    faces = []
    for k in range(SIDES):
        n = (k + 1) % SIDES
        for low in (0, SIDES):
            faces += [(low + k, low + n, low + SIDES + n), (low + k, low + SIDES + n, low + SIDES + k)]
        faces += [(2 * SIDES + k, 2 * SIDES + n, 3 * SIDES), (n, k, 3 * SIDES + 1)]
    return vertices, np.array(faces, dtype=np.int64)
