"""Eigenfrequencies over the workspace: at all points of a grid of joint coordinates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gyrostat.configuration.manifold import neutral
from gyrostat.configuration.packing import coordinates, real_array
from gyrostat.errors import ShapeError, StateError, nearest
from gyrostat.spec.check import expect_model
from gyrostat.spec.model import Model
from gyrostat.studies.vibration.eigenfrequencies import eigenfrequencies
from gyrostat.studies.vibration.mode_figures import plot_frequencies, plot_map
from gyrostat.studies.vibration.rest_pose import elastic_coordinates

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Array = np.ndarray
WHO = "frequency_map"


@dataclass(frozen=True, eq=False)
class FrequencyMap:
    """``undamped`` (n_1, n_2, ..., k) [Hz] at the points of a grid, in increasing order at each; ``grid``: names of the
    coordinates and their values (n_i,). ``poles`` (n_1, ..., m) [rad/s]; ``q`` (n_1, ..., nq): the poses."""

    undamped: Array
    poles: Array
    grid: Mapping[str, Array]
    q: Array
    model: Model

    def plot(self, mode: int | None = None, *, figure: Figure | None = None) -> Figure:
        """One joint: all frequencies over it. Two joints: the frequency of a ``mode`` (0 by default) as a map."""
        names = list(self.grid)
        title = self.model.name
        if len(names) == 1:
            hz = self.undamped if mode is None else self.undamped[:, [mode]]
            return plot_frequencies(hz, self.grid[names[0]], label=names[0], title=title, figure=figure)
        if len(names) > 2:
            raise ShapeError(f"{WHO}: a figure has one or two joints, this grid has {len(names)}. Hint: slice it")
        k = 0 if mode is None else int(mode)
        return plot_map(self.undamped[..., k], self.grid, f"{title}: mode {k}", figure)


def frequency_map(
    model: Model, grid: Mapping[str, Any], q: Any = None, locked: Sequence[str] = (), **options: Any
) -> FrequencyMap:
    """Eigenfrequencies at all points of a grid: ``{"shoulder": np.linspace(0, 1, 20), "elbow": ...}``.

    ``grid``: values of coordinates by name. All others stay as in ``q`` (nq,), ``gs.neutral`` by default, but for
    rotors behind springs and shapes of flexible links, which carry the weight everywhere. ``locked`` and ``options``
    (``controller``) are those of :func:`eigenfrequencies`."""
    expect_model(model, WHO)
    if not isinstance(grid, Mapping) or not grid:
        raise StateError(f"{WHO}: grid must map coordinates to values, got {type(grid).__name__}. Hint: {{'elbow': x}}")
    start = neutral(model) if q is None else coordinates(model, q, WHO)
    if start.ndim != 1:
        raise ShapeError(f"{WHO}: q has shape {start.shape}, expected ({model.nq},). Hint: the grid has the poses")
    axes = {name: _values(model, name, x) for name, x in grid.items()}
    mesh = np.meshgrid(*axes.values(), indexing="ij")
    poses = np.broadcast_to(start, (*mesh[0].shape, model.nq)).copy()
    for name, x in zip(axes, mesh, strict=True):
        poses[..., model.coordinates.index(name)] = x
    elastic = elastic_coordinates(model)
    fixed = not any(elastic[model.coordinates.index(name)] for name in axes)
    found = eigenfrequencies(model, poses[..., ~elastic] if fixed else poses, locked, **options)
    return FrequencyMap(found.undamped, found.poles, axes, found.q, model)


def _values(model: Model, name: str, x: Any) -> Array:
    if name not in model.coordinates:
        hint = nearest(str(name), model.coordinates)
        raise StateError(f"{WHO}: '{name}' is no coordinate of '{model.name}'. Hint: {hint}")
    values = np.atleast_1d(real_array(x, WHO, f"grid of '{name}'"))
    if values.ndim != 1 or not len(values) or not np.isfinite(values).all():
        raise ShapeError(f"{WHO}: values of '{name}' have shape {values.shape}, expected finite (n,). Hint: linspace")
    return values
