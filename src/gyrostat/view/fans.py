"""Figures of many robots over time: bands between percentiles, their median, and single robots."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gyrostat.errors import ShapeError, SpecError, clipped
from gyrostat.spec.model import Model
from gyrostat.view.channels import Channel, chosen
from gyrostat.view.marks import legend
from gyrostat.view.plots import COLORS, CROWD, HEIGHT, RED, TITLES, WIDTH, lengthen, pretty, rounding

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Array = np.ndarray
WHO = "plot_fans"


def plot_fans(
    model: Model,
    t: Array,
    quantities: dict[str, Array],
    joints: Iterable[str] | str | None = None,
    *,
    bands: Sequence[float] = (90.0, 50.0),
    lanes: int | Sequence[int] = 0,
    title: str | None = None,
    figure: Figure | None = None,
) -> Figure:
    """A row for each joint and a column for each of ``quantities`` "q", "v", "tau" (rows, N, n) over t (rows,) [s].

    ``bands``: shares of the robots [%] that lie inside each band about the median; ``lanes``: robots drawn by
    themselves, by number, or how many of them, spread over all. Robots that are not finite are left out from there."""
    from gyrostat.view.picture import empty

    rows, count = chosen(model, joints, WHO), next(iter(quantities.values())).shape[1]
    shares, single = _bands(bands), _lanes(lanes, count)
    size = (WIDTH * len(quantities) + 1.2, (HEIGHT if len(rows) < CROWD else 0.7 * HEIGHT) * max(len(rows), 1) + 0.9)
    told = f"{model.name}: {count} robots" if title is None else title
    fig = empty(figure, *size, told, len(rows) * len(quantities))
    if not rows:
        fig.text(0.5, 0.5, "nothing in this model moves", ha="center")
        return fig
    axes = fig.subplots(len(rows), len(quantities), sharex=True, squeeze=False)
    for row, channel in enumerate(rows):
        for column, (name, values) in enumerate(quantities.items()):
            ax = axes[row, column]
            own = values[:, :, list(channel.at(name))]
            _fan(ax, t, own, channel, name, shares, single, rounding(values))
            if row == 0:
                ax.set_title(f"{TITLES[name]} {name}", fontsize=10, loc="right")
            if row == len(rows) - 1:
                ax.set_xlabel("t [s]")
        axes[row, 0].annotate(
            channel.name, (0.0, 1.0), (2, 2), "axes fraction", "offset points", fontsize=9, fontweight="bold"
        )
    legend(fig, axes.flat)
    if fig.get_layout_engine() is not None:  # with a hundred panels that takes most of the time
        fig.align_ylabels(axes)
    return fig


def _fan(
    ax: Any, t: Array, x: Array, channel: Channel, name: str, shares: list[float], single: list[int], least: float
) -> None:
    for k, part in enumerate(channel.names(name)):
        color, values = COLORS[k % len(COLORS)], x[:, :, k]
        label = f"{part}: " if x.shape[2] > 1 else ""
        there = np.isfinite(values).any(axis=1)
        for depth, share in enumerate(shares):
            ends = np.nanpercentile(values[there], [50.0 - share / 2, 50.0 + share / 2], axis=1)
            alpha, told = (
                min(0.16 + 0.2 * depth, 0.8),
                f"{label}{share:g} % of the robots",
            )  # the legend tells them apart
            ax.fill_between(t[there], *ends, color=color, alpha=alpha, lw=0, label=told)
        ax.plot(t[there], np.nanmedian(values[there], axis=1), color=color, lw=1.6, label=f"{label}median")
        for lane in single:
            ax.plot(t, values[:, lane], color=color, lw=0.6, alpha=0.7)
    for limit in channel.limits.get(name, ()):
        low, high = ax.get_ylim()
        if limit is not None and np.isfinite(limit) and low <= limit <= high:
            ax.axhline(limit, color=RED, lw=0.8, ls="--", label="limit")
    ax.set_ylabel(pretty(channel.unit(name)), fontsize=9)
    ax.grid(alpha=0.25)
    ax.tick_params(labelsize=8)
    ax.margins(x=0.0)
    lengthen(ax.get_ylim(), least, ax.set_ylim)


def _bands(bands: Any) -> list[float]:
    shares = [float(x) for x in np.atleast_1d(np.asarray(bands, dtype=float))]
    if any(not 0.0 < x <= 100.0 for x in shares):
        raise SpecError.one(WHO, "bands", f"bands are {clipped(bands)}", "shares of the robots above 0 up to 100 [%]")
    return sorted(shares, reverse=True)


def _lanes(lanes: Any, count: int) -> list[int]:
    if isinstance(lanes, bool):
        raise SpecError.one(WHO, "lanes", f"lanes are {lanes}", "robots by number, or how many of them", lanes)
    if isinstance(lanes, int):
        return sorted({int(k) for k in np.linspace(0, count - 1, min(max(lanes, 0), count))})
    chosen_ones = [int(k) for k in lanes]
    for k in chosen_ones:
        if not 0 <= k < count:
            raise ShapeError(f"{WHO}: there is no robot {k} among {count}. Hint: 0 to {count - 1}")
    return chosen_ones
