"""Figures of vibration: frequencies over poses, and the robot with arrows that show how its frames move."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gyrostat.configuration.manifold import integrate
from gyrostat.errors import ShapeError
from gyrostat.solvers.functions import fk
from gyrostat.spec.model import Model
from gyrostat.view.plots import BLUE, RED

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Array = np.ndarray
GREY = "#8a9099"


def frame_names(model: Model) -> list[str]:
    """All spatial ports."""
    return [f"{name}.{port}" for name, ports in _ports(model).items() for port in ports]


def _ports(model: Model) -> dict[str, list[str]]:
    entities = model.wiring.entities
    return {name: [p.name for p in entity.ports if p.kind == "spatial"] for name, entity in entities.items()}


def plot_frequencies(
    hz: Any, along: Any = None, *, label: str = "pose", title: str = "", figure: Figure | None = None
) -> Figure:
    """Frequencies (poses, k) [Hz] over ``along`` (poses,), by default their numbers; (k,) of one pose as bars."""
    from matplotlib.figure import Figure

    hz = np.asarray(hz, dtype=float)
    if hz.ndim not in (1, 2):
        raise ShapeError(f"plot: frequencies have shape {hz.shape}, expected (k,) or (poses, k). Hint: one path")
    fig = Figure(layout="constrained", figsize=(6.0, 3.6)) if figure is None else figure
    ax = fig.subplots()
    if hz.ndim == 1:
        ax.bar(np.arange(len(hz)), hz, color=BLUE)
        ax.set_xlabel("mode")
    else:
        x = np.arange(len(hz)) if along is None else np.asarray(along, dtype=float)
        ax.plot(x, hz, lw=1.4)
        ax.set_xlabel(label)
        ax.margins(x=0.0)
    ax.set_ylabel("f [Hz]")
    ax.set_title(title, fontsize=10)
    ax.grid(alpha=0.25)
    return fig


def plot_map(hz: Array, grid: Mapping[str, Array], title: str, figure: Figure | None = None) -> Figure:
    """One frequency (n_1, n_2) [Hz] over two coordinates, as filled contours."""
    from matplotlib.figure import Figure

    fig = Figure(layout="constrained", figsize=(5.6, 4.4)) if figure is None else figure
    ax = fig.subplots()
    (first, x), (second, y) = grid.items()
    fig.colorbar(ax.contourf(x, y, hz.T, levels=20), ax=ax, label="f [Hz]")
    ax.set_xlabel(first)
    ax.set_ylabel(second)
    ax.set_title(title, fontsize=10)
    return fig


def plot_shape(
    model: Model,
    q: Array,
    swing: Array,
    hz: float,
    mode: int,
    *,
    frames: Sequence[str] | None = None,
    plane: str = "",
    figure: Figure | None = None,
) -> Figure:
    """The robot at q (grey), displaced by ``swing`` (nv,) (blue), and arrows from the one to the other (red).

    ``frames``: where arrows are, all spatial ports by default. ``plane``: "xz" and the like draws a projection, "" in
    space."""
    from matplotlib.figure import Figure

    axes = [("xyz".index(x)) for x in plane] if plane and set(plane) <= set("xyz") else []
    if plane and len(axes) != 2:
        raise ShapeError(f"plot: plane must be two of x, y, z, got {plane!r}. Hint: 'xz'")
    fig = Figure(layout="constrained", figsize=(6.0, 5.0)) if figure is None else figure
    ax: Any = fig.subplots() if axes else fig.add_subplot(projection="3d")
    there, moved = fk(model, q, swing), fk(model, integrate(model, q, swing))
    keep = axes or [0, 1, 2]
    for motions, color in ((there, GREY), (moved, BLUE)):
        for name, ports in _ports(model).items():
            for port in ports[1:]:
                ends = np.array([motions[f"{name}.{p}"].p[keep] for p in (ports[0], port)])
                ax.plot(*ends.T, color=color, lw=2.0, solid_capstyle="round")
    names = frame_names(model) if frames is None else [frames] if isinstance(frames, str) else list(frames)
    p = np.array([there[name].p for name in names])[:, keep]
    d = np.array([there[name].R @ np.asarray(there[name].V)[3:] for name in names])[:, keep]
    if axes:
        ax.quiver(*p.T, *d.T, angles="xy", scale_units="xy", scale=1.0, color=RED, width=0.005)
        ax.set_aspect("equal", "datalim")
    else:
        ax.quiver(*p.T, *d.T, color=RED)
        ax.set_aspect("equal")
    for k, i in enumerate(keep):
        getattr(ax, f"set_{'xyz'[k]}label")(f"{'xyz'[i]} [m]")
    ax.set_title(f"{model.name}: mode {mode}, {hz:.4g} Hz", fontsize=10)
    return fig
