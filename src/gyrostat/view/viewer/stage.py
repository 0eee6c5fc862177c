"""What stands in the picture: robots, their ghosts and forces; sky, ground and camera."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gyrostat.configuration.manifold import neutral
from gyrostat.view.scene.scene import Scene
from gyrostat.view.scene.sticks import along
from gyrostat.view.viewer.actor import Actor
from gyrostat.view.viewer.force_arrows import ArrowNodes, Forces
from gyrostat.view.viewer.robot_nodes import LAYERS as ROBOT_LAYERS
from gyrostat.view.viewer.robot_nodes import RobotNodes, wxyz

Array = np.ndarray

LAYERS = (*ROBOT_LAYERS, "reference", "forces")
SKY, HORIZON = (140, 164, 194), (206, 216, 228)
"""Colours behind the robot, above and below."""
THROUGH = 0.45
"""Opacity of a robot with forces: arrows begin inside it."""
GAP = 0.2
"""Room between robots side by side, over the size of the first one."""


class Stage:
    """Draws robots into a viser server: that of ``scene``, whose motion is told from outside, and ``others`` with
    motions of their own, beside it unless they are ghosts; ``spacing`` [m] from one to the next, by default as they
    need. ``missing``: what could not be drawn."""

    def __init__(
        self,
        server: Any,
        scene: Scene,
        others: Sequence[Actor] = (),
        forces: Forces | None = None,
        spacing: float | None = None,
    ):
        self.server, self.scene, self.actors = server, scene, (Actor(scene, neutral(scene.model)), *others)
        self._last: tuple[Array, Array] | None = None
        self._surroundings()
        roots = ("/robot", *(f"/other{k}" for k in range(len(others))))
        self.robots = [RobotNodes(server, a.scene, root, a.ghost) for a, root in zip(self.actors, roots, strict=True)]
        self.arrows = None if forces is None else ArrowNodes(server, forces, scene.extent)
        self.missing = list(dict.fromkeys(line for robot in self.robots for line in robot.missing))
        self.layers: dict[str, list[Any]] = {name: [] for name in LAYERS}
        for actor, robot in zip(self.actors, self.robots, strict=True):
            for name, handles in robot.layers.items():
                self.layers["reference" if actor.ghost else name] += handles
        self._nodes = [node for robot in self.robots for node in robot.nodes]
        if self.arrows is not None:
            self.layers["forces"] = self.arrows.meshes
            self._nodes += self.arrows.nodes
        self._offsets, self._spacing = [np.zeros(3) for _ in self.actors], spacing
        self._ground = 0.0
        self._opacity = [1.0 if handle.opacity is None else handle.opacity for handle in self.layers["robot"]]
        shown = {"robot", "reference", "forces"} | (set() if scene.drawn else {"centres of mass", "inertia boxes"})
        for name in LAYERS:
            self.show(name, name in shown)
        self.opacity = 1.0 if forces is None else THROUGH
        self.fade(self.opacity)

    def _surroundings(self) -> None:
        scene, up = self.server.scene, self.scene.up
        scene.set_up_direction(tuple(up))
        scene.configure_environment_map(hdri=None)  # an image would keep the page white while it is prepared
        scene.add_light_hemisphere("/sky", sky_color=(255, 255, 255), ground_color=(150, 155, 165), intensity=1.7)
        scene.configure_default_lights(enabled=True, cast_shadow=True)
        shade = np.linspace(SKY, HORIZON, 64)[:, None, :].repeat(2, axis=1)
        scene.set_background_image(shade.astype(np.uint8), format="png")

    # ------------------------------------------------------------------ where all are
    def placements(self, q: Array, times: Array) -> tuple[Array, Array]:
        """R (N, nodes, 3, 3) and p (N, nodes, 3) of all nodes, for q (N, nq) of the robot at times (N,)."""
        parts = []
        for k, actor in enumerate(self.actors):
            R, p = actor.placements(actor.configurations(times) if k else q, times)
            p = p + self._offsets[k]
            if not actor.ghost:  # the disc below the centre of mass lies on the ground
                up = self.scene.up
                p[:, -1] += (self._ground - p[:, -1] @ up)[:, None] * up
            parts.append((R, p))
        if self.arrows is not None:
            R, p, _ = self.arrows.placements(times)
            parts.append((R, p))
        return tuple(np.concatenate(x, axis=1) for x in zip(*parts, strict=True))  # type: ignore[return-value]

    def scales(self, times: Array) -> Array:
        """(N, arrows, 3)."""
        return np.zeros((len(times), 0, 3)) if self.arrows is None else self.arrows.placements(times)[2]

    def look(self, q: Array, times: Array) -> None:
        """Put the robots side by side, the camera in front of them, and the ground below the first one.

        q (N, nq) of the robot, times (N,): what shall be in the picture; the ground is that of the first sample."""
        up = self.scene.up
        clouds = [self._clouds(k, q, times) for k in range(len(self.actors))]
        self._ground = float(np.min(clouds[0][0] @ up))
        self._side_by_side([np.concatenate(cloud) for cloud in clouds])
        seen = np.concatenate([x + o for cloud, o in zip(clouds, self._offsets, strict=True) for x in cloud])
        low, high = seen.min(axis=0), seen.max(axis=0)
        extent = max(float(np.linalg.norm(high - low)), 1e-3)
        self._camera(extent, (low + high) / 2.0)

    def _clouds(self, k: int, q: Array, times: Array) -> list[Array]:
        actor, robot = self.actors[k], self.robots[k]
        R, p = actor.scene.placements(actor.configurations(times) if k else q, times)
        return [robot.cloud(one, two) for one, two in zip(R, p, strict=True)]

    def _along_ground(self) -> tuple[Array, Array]:
        """Directions to the camera and to the right of it."""
        k = int(np.argmax(np.abs(self.scene.up)))
        return np.eye(3)[(k + 1) % 3], np.eye(3)[(k + 2) % 3]

    def _side_by_side(self, clouds: Sequence[Array]) -> None:
        """Offsets of the robots that are no ghosts, and their names above them."""
        y = self._along_ground()[1]
        edge, count = float(np.max(clouds[0] @ y)), 0
        for k, (actor, cloud) in enumerate(zip(self.actors, clouds, strict=True)):
            if actor.ghost or not k:
                continue
            count += 1
            reach = cloud @ y
            shift = edge + GAP * self.scene.extent - float(np.min(reach))
            self._offsets[k] = (shift if self._spacing is None else count * self._spacing) * y
            edge = float(np.max(reach)) + shift
        for k, (actor, cloud) in enumerate(zip(self.actors, clouds, strict=True)):
            if count and not actor.ghost:
                up, middle = self.scene.up, (cloud.min(axis=0) + cloud.max(axis=0)) / 2.0
                top = middle + up * (float(np.max(cloud @ up)) - float(middle @ up) + 0.08 * self.scene.extent)
                name = actor.name or actor.scene.model.name
                self.server.scene.add_label(f"/title{k}", name, position=top + self._offsets[k], anchor="center-center")

    def _camera(self, extent: float, middle: Array) -> None:
        up = self.scene.up
        x, y = self._along_ground()
        direction = 1.0 * x - 0.75 * y + 0.45 * up
        if any(np.any(offset) for offset in self._offsets):  # from the front, or one would hide the other
            direction = 1.0 * x - 0.1 * y + 0.35 * up
        self.server.initial_camera.position = middle + 0.95 * extent * direction / np.linalg.norm(direction)
        self.server.initial_camera.look_at = middle
        self.server.initial_camera.up = up
        self.server.initial_camera.near = 0.002 * extent
        self.server.initial_camera.far = 100.0 * extent
        cell = 10.0 ** np.floor(np.log10(extent / 2.0))
        ground = middle + up * (self._ground - float(middle @ up))
        self.server.scene.add_grid(
            "/ground",
            width=4.0 * extent,
            height=4.0 * extent,
            cell_size=cell,
            section_size=5.0 * cell,
            cell_color=(176, 184, 194),
            section_color=(138, 148, 160),
            wxyz=wxyz(along(up)),
            position=ground - up * 1e-3 * extent,
            shadow_opacity=0.3,
        )

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
        """Names of all nodes, as placements have them."""
        return [node.name for node in self._nodes]

    def place(self, R: Array, p: Array, scales: Array | None = None) -> None:
        """Move all nodes: R (nodes, 3, 3), p (nodes, 3); ``scales`` (arrows, 3). Only those that moved are sent."""
        quaternions = wxyz(R)
        with self.server.atomic():
            for k, node in enumerate(self._nodes):
                if self._last is None or not np.array_equal(self._last[0][k], quaternions[k]):
                    node.wxyz = quaternions[k]
                if self._last is None or not np.array_equal(self._last[1][k], p[k]):
                    node.position = p[k]
            for k, scale in enumerate(() if scales is None or self.arrows is None else scales):
                self.arrows.meshes[k].scale = tuple(map(float, scale))  # type: ignore[union-attr]
        self._last = quaternions, np.array(p)

    def perform(self, q: Array, t: float) -> None:
        """Show all at a time [s], for q (nq,) of the robot."""
        times = np.array([t])
        R, p = self.placements(np.asarray(q)[None], times)
        self.place(R[0], p[0], self.scales(times)[0])
