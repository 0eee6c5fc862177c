"""One robot in viser: a node for each link, its solids on it, in layers that can be shown and hidden."""

from __future__ import annotations

from typing import Any

import numpy as np

from gyrostat.view.scene.mesh_places import PLAIN, MeshError, read_mesh
from gyrostat.view.scene.scene import Scene
from gyrostat.view.scene.solid import Solid
from gyrostat.view.scene.sticks import along
from gyrostat.view.scene.triangles import solid

Array = np.ndarray

LAYERS = ("robot", "frames", "centres of mass", "whole centre of mass", "inertia boxes", "collision shapes", "names")
GHOST = (0.20, 0.45, 0.85, 0.28)
"""What a reference looks like, whatever the colours of the robot."""
WHOLE = ((0.82, 0.12, 0.42, 1.0), (0.82, 0.12, 0.42, 0.55))
"""The centre of mass of the whole robot, and the disc below it on the ground."""

_LAYER_OF = {
    "visual": "robot",
    "stick": "robot",
    "joint": "robot",
    "com": "centres of mass",
    "inertia": "inertia boxes",
    "collision": "collision shapes",
}


def wxyz(R: Array) -> Array:
    """Quaternions w x y z (..., 4) of rotation matrices (..., 3, 3)."""
    from viser.transforms import SO3

    return SO3.from_matrix(np.asarray(R)).wxyz


class RobotNodes:
    """Draws a :class:`Scene` below the node ``root``; a ``ghost`` has its robot only, translucent and without shadow.
    ``layers``: handles by layer; ``missing``: what could not be drawn; ``names``: those of the nodes of the links."""

    def __init__(self, server: Any, scene: Scene, root: str, ghost: bool = False):
        self.server, self.scene, self._ghost = server, scene, ghost
        self.missing = list(scene.missing)
        self.layers: dict[str, list[Any]] = {name: [] for name in LAYERS}
        self._points: list[Array] = []
        self.nodes = [self._link(f"{root}/{k}", k) for k in range(len(scene.links))]
        if not ghost:
            self.nodes += self._whole(root)

    def cloud(self, R: Array, p: Array) -> Array:
        """Corners (n, 3) of boxes around what is drawn, in the world, for placements of the links."""
        return np.concatenate([*(p[k] + x @ R[k].T for k, x in enumerate(self._points) if len(x)), p[: len(R)]])

    def _whole(self, root: str) -> list[Any]:
        """A ball at the centre of mass of the robot, and a disc on the ground below it."""
        add, size = self.server.scene, 0.028 * self.scene.extent
        found: list[Any] = []
        for name, kind, measures, color in (
            ("whole", "sphere", (size,), WHOLE[0]),
            ("below", "cylinder", (size, 0.05 * size), WHOLE[1]),
        ):
            node = add.add_frame(f"{root}/{name}", show_axes=False)
            R = along(self.scene.up) if kind == "cylinder" else np.eye(3)
            item = Solid(name, kind, measures, R, np.zeros(3), color, "com")
            self.layers["whole centre of mass"] += self._solid(f"{root}/{name}/0", item)[0]
            found.append(node)
        return found

    def _link(self, root: str, k: int) -> Any:
        link = self.scene.links[k]
        node = self.server.scene.add_frame(root, show_axes=False)
        points: list[Array] = []
        for n, item in enumerate(link.solids):
            seen = item.role in ("visual", "stick", "joint")
            if seen or not self._ghost:
                handles, corners = self._solid(f"{root}/{n}", item)
                self.layers[_LAYER_OF[item.role]] += handles
                points += corners if seen else []
        self._points.append(np.concatenate(points) if points else np.zeros((0, 3)))
        size = 0.06 * self.scene.extent
        for n, (name, (R, p)) in enumerate(() if self._ghost else link.frames.items()):
            place = {"wxyz": wxyz(R), "position": p}
            axes = self.server.scene.add_frame(
                f"{root}/f{n}", axes_length=size, axes_radius=0.05 * size, origin_radius=0.09 * size, **place
            )
            self.layers["frames"].append(axes)
            if name.endswith((".origin", ".frame")):
                label = self.server.scene.add_label(f"{root}/n{n}", name.rpartition(".")[0], position=p)
                self.layers["names"].append(label)
        return node

    def _solid(self, name: str, item: Solid) -> tuple[list[Any], list[Array]]:
        if item.file is None:
            parts = [(*(item.triangles or solid(item.kind, item.size)), None)]
        else:
            try:
                parts = read_mesh(item.file, item.size)
            except MeshError as error:
                self.missing.append(f"{item.name.rpartition('/')[0]}: the mesh '{item.file}' {error}")
                return [], []
        handles, corners = [], []
        flat = item.file is not None or item.triangles is not None
        for n, (vertices, faces, own) in enumerate(parts):
            r, g, b, opacity = GHOST if self._ghost else (item.color or own or PLAIN)
            handles.append(
                self.server.scene.add_mesh_simple(
                    f"{name}/{n}",
                    vertices,
                    faces,
                    color=(r, g, b),
                    opacity=None if opacity >= 1.0 else opacity,
                    flat_shading=flat,
                    side="double" if flat else "front",
                    cast_shadow=opacity >= 1.0,
                    wxyz=wxyz(item.R),
                    position=item.p,
                )
            )
            box = np.array([vertices.min(axis=0), vertices.max(axis=0)])
            ends = np.array(np.meshgrid(*box.T)).reshape(3, -1).T
            corners.append(item.p + ends @ item.R.T)
        return handles, corners
