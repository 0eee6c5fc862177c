"""Figures of a run: energies, and forces of contacts or cuts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from gyrostat.errors import StateError, nearest
from gyrostat.graph.network import network
from gyrostat.view.marks import instants, legend, mark
from gyrostat.view.plots import BLUE, COLORS, CROWD, HEIGHT, WIDTH, pretty

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Array = np.ndarray
CONTACT = ("normal", "along t1", "along t2")
AXES = ("x", "y", "z")


def plot_energy(run: Any, *, title: str | None = None, figure: Figure | None = None) -> Figure:
    """Kinetic and potential energy, their sum, and the work of efforts and wrenches [J] of a result over time; below
    it what is not that work (``run.energy_residual``): losses, or the error of the integration. Events are marked."""
    from gyrostat.view.picture import empty

    fig = empty(figure, 7.5, 5.0, f"{run.model.name}: energy" if title is None else title)
    above, below = fig.subplots(2, 1, sharex=True, height_ratios=(2.2, 1.0))
    total, start = run.energy, run.energy[0] if len(run.t) else 0.0
    above.plot(run.t, run.kinetic_energy, color=BLUE, lw=1.3, label="kinetic T")
    above.plot(run.t, run.potential_energy, color=COLORS[1], lw=1.3, label="potential U")
    above.plot(run.t, total, color="#222222", lw=1.8, label="T + U")
    above.plot(run.t, start + run.work - (run.work[0] if len(run.t) else 0.0), color=COLORS[2], lw=1.3, ls="--",
               label="T + U at the start + work")  # fmt: skip
    below.plot(run.t, run.energy_residual, color=COLORS[3], lw=1.2, label="not work: losses, or error")
    for ax in (above, below):
        _dress(ax, "J")
    below.set_xlabel("t [s]")
    mark((above, below), instants(run.events, "plot_energy"))
    legend(fig, (above, below))
    return fig


def plot_forces(
    run: Any, ports: Iterable[str] | str | None = None, *, title: str | None = None, figure: Figure | None = None
) -> Figure:
    """Forces [N] and moments [N m] of a result over time, a row for each contact or port.

    Without ``ports``: rigid contacts by name, in contact axes (normal, t1, t2); where a run has none, the cut forces
    at the far side of every joint that moves. ``ports``: names of contacts or of ports, whose cut forces are drawn in
    the port's axes, moments about its origin, see :meth:`Result.port_forces`. Events are marked."""
    from gyrostat.view.picture import empty

    rows = _rows(run, ports)
    moments = any(len(x) > 1 for _, x, _ in rows)
    size = (WIDTH * (1 + moments) + 1.6, (HEIGHT if len(rows) < CROWD else 0.7 * HEIGHT) * max(len(rows), 1) + 1.1)
    fig = empty(figure, *size, f"{run.model.name}: forces" if title is None else title, len(rows) * (1 + moments))
    if not rows:
        fig.text(0.5, 0.5, "no contact, and no joint that moves", ha="center")
        return fig
    axes = fig.subplots(len(rows), 1 + moments, sharex=True, squeeze=False)
    for line, (name, parts, words) in zip(axes, rows, strict=True):
        for ax, x, unit in zip(line, parts, ("N", "N m"), strict=False):
            for k, word in enumerate(words):
                ax.plot(run.t, x[:, k], color=COLORS[k], lw=1.2, label=word)
            _dress(ax, unit)
            if len(rows) >= CROWD:
                ax.locator_params(axis="y", nbins=3)
        for ax in line[len(parts) :]:
            ax.set_axis_off()
        line[0].annotate(name, (0.0, 1.0), (2, 2), "axes fraction", "offset points", fontsize=9, fontweight="bold")
    for ax, word in zip(axes[0], ("force", "moment"), strict=False):
        ax.set_title(word, fontsize=10, loc="right")
    for ax in axes[-1]:
        ax.set_xlabel("t [s]")
    mark(axes.flat, instants(run.events, "plot_forces"))
    legend(fig, axes.flat)
    if fig.get_layout_engine() is not None:  # with a hundred panels that takes most of the time
        fig.align_ylabels(axes)
    return fig


Row = tuple[str, tuple[Array, ...], tuple[str, ...]]


def _rows(run: Any, ports: Any) -> list[Row]:
    """Name; force (T, 3), and moment (T, 3) if there is one; words for its axes."""
    contacts = run.contact_forces
    if ports is None and len(contacts):
        names = list(contacts)
    elif ports is None:
        entities = (block.entity for block in run.model.layout)
        names = [f"{e}.b" for e in entities if f"{e}.b" in _known(run)]
    else:
        names = [ports] if isinstance(ports, str) else list(ports)
    unknown = [n for n in names if n not in contacts and n not in _known(run) and not _alone(run, n)]
    if unknown:
        hint = nearest(str(unknown[0]), [*contacts, *_known(run)])
        raise StateError(f"plot_forces: there is no contact and no port '{unknown[0]}'. Hint: {hint}")
    cut = run.port_forces([n for n in names if n not in contacts]) if any(n not in contacts for n in names) else {}
    rows: list[Row] = []
    for name in names:
        if name in contacts:
            moment = run.contact_moments.get(name)
            rows.append((name, (contacts[name],) if moment is None else (contacts[name], moment), CONTACT))
        else:
            rows.append((name, (cut[name][:, 3:], cut[name][:, :3]), AXES))
    return rows


def _known(run: Any) -> list[str]:
    """Names of ports of bodies and joints."""
    return list(network(run.model).ports)


def _alone(run: Any, name: str) -> bool:
    return name in run.model.wiring.entities


def _dress(ax: Any, unit: str) -> None:
    ax.set_ylabel(pretty(unit), fontsize=9)
    ax.grid(alpha=0.25)
    ax.tick_params(labelsize=8)
    ax.margins(x=0.0)
