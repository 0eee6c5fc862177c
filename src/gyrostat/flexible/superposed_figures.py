"""Figures of small vibrations over time, and of two simulations beside each other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Array = np.ndarray
FEW = 8
"""Curves of a panel: the largest ones."""


def vibration_figure(
    t: Array, mu: Mapping[str, Array], bent: Mapping[str, Array], moved: Array | None, title: str
) -> Figure:
    """Angles mu of the hinges, deflections, and the deviation (T, 3) [m] of a frame."""
    figure, axes = _panels(2 if moved is None else 3, title)
    for ax, rows, label in zip(axes, (mu, bent), ("beside the rigid motion, mu", "deflections"), strict=False):
        for name in sorted(rows, key=lambda name: -np.abs(rows[name]).max(initial=0.0))[:FEW]:
            ax.plot(t, rows[name], lw=1.2, label=name)
        ax.set_ylabel(label)
        if rows:
            ax.legend(fontsize=7, loc="upper right", ncols=2)
    if moved is not None:
        _directions(axes[-1], t, 1e3 * moved, "deviation [mm]")
    axes[-1].set_xlabel("t [s]")
    return figure


def comparison_figure(t: Array, small: Array, full: Array, frame: str, title: str) -> Figure:
    """Deviation (T, 3) [m] of a frame from the rigid motion, by both simulations, and their difference."""
    figure, axes = _panels(2, title)
    for k, name in enumerate("xyz"):
        axes[0].plot(t, 1e3 * full[:, k], color=f"C{k}", lw=1.8, alpha=0.5, label=f"{name}, full motion")
        axes[0].plot(t, 1e3 * small[:, k], color=f"C{k}", lw=1.0, ls="--", label=f"{name}, superposed")
    axes[0].set_ylabel(f"{frame} - rigid [mm]")
    axes[0].legend(fontsize=7, ncols=3, loc="upper right")
    _directions(axes[1], t, 1e3 * (small - full), "superposed - full [mm]")
    axes[1].set_xlabel("t [s]")
    return figure


def _panels(count: int, title: str) -> tuple[Figure, Any]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.0, 2.4 * count + 0.6), layout="constrained")
    figure.suptitle(title)
    axes = figure.subplots(count, 1, sharex=True, squeeze=False)[:, 0]
    for ax in axes:
        ax.grid(alpha=0.3)
        ax.margins(x=0.0)
    return figure, axes


def _directions(ax: Any, t: Array, x: Array, label: str) -> None:
    for k, name in enumerate("xyz"):
        ax.plot(t, x[:, k], color=f"C{k}", lw=1.2, label=name)
    ax.set_ylabel(label)
    ax.legend(fontsize=7, loc="upper right")
