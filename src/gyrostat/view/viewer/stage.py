"""A scene in viser: one node for each link, its solids on it, in layers that can be shown and hidden."""

from __future__ import annotations

from typing import Any

import numpy as np

from gyrostat.view.scene.mesh_places import PLAIN, MeshError, read_mesh
from gyrostat.view.scene.scene import Scene
from gyrostat.view.scene.solid import Solid
from gyrostat.view.scene.sticks import along
from gyrostat.view.scene.triangles import solid

Array = np.ndarray

LAYERS = ("robot", "frames", "centres of mass", "inertia boxes", "collision shapes", "names")
SKY, HORIZON = (140, 164, 194), (206, 216, 228)
"""Colours behind the robot, above and below."""

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


class Stage:
    """Draws a :class:`Scene` into a viser server. ``missing``: what could not be drawn."""

    def __init__(self, server: Any, scene: Scene):
        self.server, self.scene = server, scene
        self.missing = list(scene.missing)
        self.layers: dict[str, list[Any]] = {name: [] for name in LAYERS}
        self._last: tuple[Array, Array] | None = None
        self._points: list[Array] = []
        self._surroundings()
        self._nodes = [self._link(k) for k in range(len(scene.links))]
        self._opacity = [1.0 if handle.opacity is None else handle.opacity for handle in self.layers["robot"]]
        shown = {"robot"} if scene.drawn else {"robot", "centres of mass", "inertia boxes"}
        for name in LAYERS:
            self.show(name, name in shown)

    def _surroundings(self) -> None:
        scene, up = self.server.scene, self.scene.up
        scene.set_up_direction(tuple(up))
        scene.configure_environment_map(hdri="studio", environment_intensity=0.38)
        scene.configure_default_lights(enabled=True, cast_shadow=True)
        shade = np.linspace(SKY, HORIZON, 64)[:, None, :].repeat(2, axis=1)
        scene.set_background_image(shade.astype(np.uint8), format="png")

    def look(self, R: Array, p: Array) -> None:
        """Put the camera in front of the robot, and the ground below it.

        R (samples, links, 3, 3), p (samples, links, 3): placements that shall be in the picture; the ground is that of
        the first one.
        """
        seen = [self._cloud(R[n], p[n]) for n in range(len(p))]
        points, everywhere = seen[0], np.concatenate(seen)
        low, high = everywhere.min(axis=0), everywhere.max(axis=0)
        extent = max(float(np.linalg.norm(high - low)), 1e-3)
        up, middle = self.scene.up, (low + high) / 2.0
        axes = along(up)
        k = int(np.argmax(np.abs(up)))
        x, y = np.eye(3)[(k + 1) % 3], np.eye(3)[(k + 2) % 3]  # along the ground
        direction = 1.0 * x - 0.75 * y + 0.45 * up
        self.server.initial_camera.position = middle + 1.1 * extent * direction / np.linalg.norm(direction)
        self.server.initial_camera.look_at = middle
        self.server.initial_camera.up = up
        self.server.initial_camera.near = 0.002 * extent
        self.server.initial_camera.far = 100.0 * extent
        cell = 10.0 ** np.floor(np.log10(extent / 2.0))
        ground = middle + up * (float(np.min(points @ up)) - float(middle @ up))
        self.server.scene.add_grid(
            "/ground",
            width=4.0 * extent,
            height=4.0 * extent,
            cell_size=cell,
            section_size=5.0 * cell,
            cell_color=(176, 184, 194),
            section_color=(138, 148, 160),
            wxyz=wxyz(axes),
            position=ground - up * 1e-3 * extent,
            shadow_opacity=0.3,
        )

    def _cloud(self, R: Array, p: Array) -> Array:
        """Corners of boxes around what is drawn, in the world."""
        return np.concatenate([*(p[k] + x @ R[k].T for k, x in enumerate(self._points) if len(x)), p])

    # ------------------------------------------------------------------ nodes
    def _link(self, k: int) -> Any:
        link = self.scene.links[k]
        root = f"/robot/{k}"
        node = self.server.scene.add_frame(root, show_axes=False)
        points: list[Array] = []
        for n, item in enumerate(link.solids):
            handles, corners = self._solid(f"{root}/{n}", item)
            self.layers[_LAYER_OF[item.role]] += handles
            points += corners if item.role in ("visual", "stick", "joint") else []
        self._points.append(np.concatenate(points) if points else np.zeros((0, 3)))
        size = 0.06 * self.scene.extent
        for n, (name, (R, p)) in enumerate(link.frames.items()):
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
            r, g, b, opacity = item.color or own or PLAIN
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

    # ------------------------------------------------------------------ what changes
    def show(self, layer: str, on: bool) -> None:
        """Show or hide a layer."""
        for handle in self.layers[layer]:
            handle.visible = on

    def fade(self, share: float) -> None:
        """Make the robot transparent, to see frames and centres of mass in it: 1 as it is, 0 invisible."""
        for handle, own in zip(self.layers["robot"], self._opacity, strict=True):
            handle.opacity = None if own * share >= 1.0 else own * share

    @property
    def names(self) -> list[str]:
        """Names of the nodes of the links."""
        return [node.name for node in self._nodes]

    def place(self, R: Array, p: Array) -> None:
        """Move the links: R (links, 3, 3), p (links, 3). Only those that moved are sent."""
        quaternions = wxyz(R)
        with self.server.atomic():
            for k, node in enumerate(self._nodes):
                if self._last is None or not np.array_equal(self._last[0][k], quaternions[k]):
                    node.wxyz = quaternions[k]
                if self._last is None or not np.array_equal(self._last[1][k], p[k]):
                    node.position = p[k]
        self._last = quaternions, np.array(p)
