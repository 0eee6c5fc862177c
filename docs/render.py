"""A picture of a robot as an array, drawn by the processor: what pages and the gallery show. No browser, no screen.

Triangles are projected, lit and resolved by depth in NumPy; each pixel is ``SHARP`` x ``SHARP`` samples.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import gyrostat as gs
from gyrostat.geometry.mesh_file import read_mesh
from gyrostat.view.scene.scene import scene
from gyrostat.view.scene.sticks import along
from gyrostat.view.scene.triangles import solid

Array = np.ndarray
SHARP = 3
SKY, GROUND = np.array([0.905, 0.932, 0.960]), np.array([0.985, 0.990, 0.995])
"""Colours at the upper and the lower edge."""
LIGHT = np.array([0.35, -0.55, 1.0])
"""Direction to the lamp: right, towards the camera, up."""
ROLES = ("visual", "stick", "joint")


def picture(
    model: gs.Model,
    q: Any = None,
    size: tuple[int, int] = (480, 360),
    *,
    turn: float = -37.0,
    tilt: float = 17.0,
    ghosts: Any = (),
    fill: float = 0.86,
) -> Array:
    """The robot at q as (height, width, 3) numbers from 0 to 1.

    ``turn``, ``tilt``: where the camera stands [deg], about the vertical, from -y where z is up, and above the ground.
    ``ghosts``: further configurations, pale. ``fill``: share of the picture that the robot takes.
    """
    drawn = scene(model)
    poses = [*ghosts, gs.neutral(model) if q is None else q]
    corners, colors, normals, further = [], [], [], []
    for k, pose in enumerate(poses):
        pale = 0.0 if k == len(poses) - 1 else 0.72
        for part in _triangles(drawn, np.asarray(pose, dtype=float)):
            corners.append(part[0])
            further.append(np.full(len(part[0]), pale > 0))
            normals.append(part[1])
            colors.append(np.tile((1 - pale) * part[2] + pale * np.array([0.90, 0.92, 0.95]), (len(part[0]), 1)))
    parts = (np.concatenate(x) for x in (corners, normals, colors, further))
    return _drawn(*parts, drawn.up, size, turn, tilt, fill)


def _triangles(drawn: Any, q: Array) -> list[tuple[Array, Array, Array]]:
    """Corners (n, 3, 3) [m], their normals and the colour (3,) of every solid, in the world."""
    found = []
    R, p = drawn.placements(q)
    for k, link in enumerate(drawn.links):
        for item in link.solids:
            if item.role not in ROLES:
                continue
            own = [(*(item.triangles or solid(item.kind, item.size)), None)]
            for vertices, faces, color in own if item.file is None else read_mesh(item.file, item.size):
                turned = R[k] @ item.R
                places = (vertices @ item.R.T + item.p) @ R[k].T + p[k]
                look = np.array((item.color or color or (0.72, 0.74, 0.78, 1.0))[:3])
                lit = (_normals(vertices, faces) @ turned.T).reshape(*faces.shape, 3)
                found.append((places[faces], lit, look))
    return found


def _normals(vertices: Array, faces: Array) -> Array:
    """A normal for every corner of every face: the mean of faces around that turn by less than 40 degrees."""
    corners = vertices[faces]
    flat = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    _, same = np.unique(np.round(vertices, 7), axis=0, return_inverse=True)
    mean = np.zeros((same.max() + 1, 3))
    for c in range(3):
        np.add.at(mean, same.ravel()[faces[:, c]], flat)
    mean = _unit(mean)[same.ravel()[faces]]
    own = _unit(flat)[:, None, :]
    return np.where(np.sum(mean * own, axis=-1, keepdims=True) > 0.77, mean, own).reshape(-1, 3)


def _unit(x: Array) -> Array:
    return x / np.maximum(np.linalg.norm(x, axis=-1, keepdims=True), 1e-300)


def _drawn(
    corners: Array,
    normals: Array,
    colors: Array,
    further: Array,
    up: Array,
    size: Any,
    turn: float,
    tilt: float,
    fill: float,
) -> Array:
    width, height = size[0] * SHARP, size[1] * SHARP
    axes = along(up)  # its third column is up
    turn, tilt = np.radians(turn), np.radians(tilt)
    back = axes @ np.array([np.cos(turn) * np.cos(tilt), np.sin(turn) * np.cos(tilt), np.sin(tilt)])
    right = _unit(np.cross(up, back))
    top = np.cross(back, right)
    view = np.stack([right, top, back])
    low, high = corners.reshape(-1, 3).min(axis=0), corners.reshape(-1, 3).max(axis=0)
    middle, far = (low + high) / 2, 2.6 * max(float(np.linalg.norm(high - low)), 1e-6)

    def seen(points: Array) -> Array:
        x = (points - middle) @ view.T
        depth = far - x[..., 2]
        return np.concatenate([x[..., :2] * (far / depth)[..., None], depth[..., None]], axis=-1)

    lamp = _unit(LIGHT @ np.stack([right, -_unit(back - (back @ up) * up), up]))
    floor = float((corners @ up).min())
    fallen = corners - ((corners @ up - floor) / float(lamp @ up))[..., None] * lamp
    flat, shade = seen(corners), seen(fallen)
    flat[further, :, 2] += 2e-3 * far  # what is pale gives way
    box = flat[..., :2].reshape(-1, 2)
    lower, upper = box.min(axis=0), box.max(axis=0)
    scale = fill * min(width / (upper[0] - lower[0] + 1e-9), height / (upper[1] - lower[1] + 1e-9))
    centre = (lower + upper) / 2

    def pixels(points: Array) -> Array:
        x = (points[..., 0] - centre[0]) * scale + width / 2
        y = height / 2 - (points[..., 1] - centre[1]) * scale
        return np.stack([x, y, points[..., 2]], axis=-1)

    image = np.linspace(0, 1, height)[:, None, None] * (GROUND - SKY) + SKY
    image = np.broadcast_to(image, (height, width, 3)).copy()
    dark = np.zeros((height, width))

    def darken(k: Array, w: Array, at: Array) -> None:
        dark.ravel()[at] = 1.0

    _scan(pixels(shade), (height, width), darken)
    image *= 1 - 0.26 * _soft(dark, max(2, height // 90))[..., None]
    bright = _lit(normals, colors, lamp, back)

    def paint(k: Array, w: Array, at: Array) -> None:
        image.reshape(-1, 3)[at] = np.einsum("nc,ncr->nr", w, bright[k])

    _scan(pixels(flat), (height, width), paint)
    small = image.reshape(size[1], SHARP, size[0], SHARP, 3).mean(axis=(1, 3))
    return np.clip(small, 0, 1)


def _lit(normals: Array, colors: Array, lamp: Array, back: Array) -> Array:
    """Colours (n, 3, 3) of the corners: light from the sky, from the lamp, and a gleam."""
    away = np.sum(normals * back, axis=-1, keepdims=True)
    normals = np.where(away < 0, -normals, normals)  # both sides are seen
    diffuse = np.clip(normals @ lamp, 0, 1)[..., None]
    gleam = np.clip(normals @ _unit(lamp + back), 0, 1)[..., None] ** 40
    edge = np.clip(np.sum(normals * back, axis=-1, keepdims=True), 0, 1) ** 0.6
    return colors[:, None, :] * (0.34 + 0.22 * edge + 0.5 * diffuse) + 0.22 * gleam


def _scan(corners: Array, shape: tuple[int, int], paint: Any) -> None:
    """Call ``paint(triangle, weights, pixel)`` with what is in front, for corners (n, 3, 3) in pixels and depth."""
    height, width = shape
    depth = np.full(height * width, np.inf)
    k, row = _spread(corners[..., 1].min(axis=1), corners[..., 1].max(axis=1), height)
    low, high = np.full(len(k), np.inf), np.full(len(k), -np.inf)
    y = row + 0.5
    for one, two in ((0, 1), (1, 2), (2, 0)):  # where the edges cross the middle of the row
        (xa, ya), (xb, yb) = corners[k, one, :2].T, corners[k, two, :2].T
        with np.errstate(divide="ignore", invalid="ignore"):
            x = xa + (y - ya) / (yb - ya) * (xb - xa)
        crossed = (np.minimum(ya, yb) <= y) & (y <= np.maximum(ya, yb)) & np.isfinite(x)
        low, high = np.where(crossed, np.minimum(low, x), low), np.where(crossed, np.maximum(high, x), high)
    there = low <= high
    k, row, low, high = k[there], row[there], low[there], high[there]
    n, column = _spread(low, high, width)
    k, at = k[n], row[n] * width + column
    w = _weights(corners[k], column + 0.5, row[n] + 0.5)
    z = np.einsum("nc,nc->n", w, corners[k, :, 2])
    np.minimum.at(depth, at, z)
    front = z <= depth[at]
    paint(k[front], w[front], at[front])


def _spread(low: Array, high: Array, size: int) -> tuple[Array, Array]:
    """Which interval, and which pixel in it, for the pixels whose middles lie in the intervals."""
    first = np.clip(np.ceil(low - 0.5), 0, size).astype(int)
    count = np.maximum(np.clip(np.floor(high - 0.5), -1, size - 1).astype(int) - first + 1, 0)
    which = np.repeat(np.arange(len(low)), count)
    begin = np.cumsum(count) - count
    return which, first[which] + np.arange(len(which)) - begin[which]


def _weights(x: Array, px: Array, py: Array) -> Array:
    """Barycentric coordinates (n, 3) of points in triangles (n, 3, 3)."""
    (x0, y0), (x1, y1), (x2, y2) = (x[:, c, :2].T for c in range(3))
    area = (x1 - x0) * (y2 - y0) - (x2 - x0) * (y1 - y0)
    area = np.where(np.abs(area) < 1e-9, 1e-9, area)
    w1 = ((px - x0) * (y2 - y0) - (x2 - x0) * (py - y0)) / area
    w2 = ((x1 - x0) * (py - y0) - (px - x0) * (y1 - y0)) / area
    return np.clip(np.stack([1 - w1 - w2, w1, w2], axis=-1), 0, 1)


def _soft(mask: Array, reach: int) -> Array:
    """Three means over neighbours, along both axes: nearly a Gauss filter."""
    for axis in (0, 1) * 3:
        total = np.cumsum(np.pad(mask, [(reach + 1, reach) if a == axis else (0, 0) for a in (0, 1)]), axis=axis)
        n = mask.shape[axis]
        ahead, behind = (np.take(total, np.arange(n) + shift, axis=axis) for shift in (2 * reach + 1, 0))
        mask = (ahead - behind) / (2 * reach + 1)
    return mask
