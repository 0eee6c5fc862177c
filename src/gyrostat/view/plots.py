"""Figures over time: coordinates, rates, accelerations and efforts by joint, with units and limits."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from gyrostat.errors import ShapeError
from gyrostat.spec.check import expect_model
from gyrostat.spec.model import Model
from gyrostat.view.channels import Channel, chosen
from gyrostat.view.marks import instants, legend, mark
from gyrostat.view.reference import reference_of, same_side

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Array = np.ndarray

TITLES = {"q": "coordinate", "v": "rate", "a": "acceleration", "tau": "effort"}
BLUE, RED = "#2563a8", "#c0392b"
COLORS = (BLUE, "#d97706", "#2f855a", "#7b4fa3")
WIDTH, HEIGHT = 3.4, 1.35
"""Size of one panel [inch]."""

CROWD = 12
"""From so many rows on, panels are less high, with fewer numbers on their axes."""


def plot_motion(
    model: Model,
    t: Any,
    q: Any = None,
    v: Any = None,
    a: Any = None,
    tau: Any = None,
    joints: Iterable[str] | str | None = None,
    *,
    reference: Any = None,
    events: Any = (),
    title: str | None = None,
    figure: Figure | None = None,
) -> Figure:
    """A figure with a row for each joint and a column for each quantity that is given.

    t (T,) [s]; q (T, nq); v, a, tau (T, nv). ``joints``: names of those to draw, all by default. A rotation in space
    has one row, a free joint two (place and turn). Beyond a joint's limits the panel is shaded, and what is out there
    is drawn red. ``reference``: what the motion shall be compared with, drawn dashed: a result, a trajectory, or a
    mapping of "q", "v", "a", "tau" with "t" if its times are others. ``events``: vertical lines, for events of a
    result, pairs (time [s], label) or times. ``figure``: an empty one to draw into, for example
    ``plt.figure()``; by default a new one, which needs no display: ``plot_motion(...).savefig("motion.png")``.
    """
    from gyrostat.view.picture import empty

    expect_model(model, "plot_motion")
    times = _times(t)
    given = {name: _array(model, name, x, len(times)) for name, x in (("q", q), ("v", v), ("a", a), ("tau", tau))}
    columns = {name: x for name, x in given.items() if x is not None}
    if not columns:
        raise ShapeError("plot_motion: there is nothing to draw. Hint: give at least one of q, v, a, tau")
    rows, found = chosen(model, joints, "plot_motion"), instants(events, "plot_motion")
    wanted = None if reference is None else reference_of(model, reference, times, "plot_motion")
    height = HEIGHT if len(rows) < CROWD else 0.7 * HEIGHT
    size = (WIDTH * len(columns) + 1.2, height * max(len(rows), 1) + 0.9)
    fig = empty(figure, *size, model.name if title is None else title, len(rows) * len(columns))
    if not rows:
        fig.text(0.5, 0.5, "nothing in this model moves", ha="center")
        return fig
    axes = fig.subplots(len(rows), len(columns), sharex=True, squeeze=False)
    for row, channel in enumerate(rows):
        for column, (name, values) in enumerate(columns.items()):
            ax, own = axes[row, column], values[:, list(channel.at(name))]
            if wanted is not None and name in wanted[1]:
                _dashed(ax, times, own, wanted[0], wanted[1][name][:, list(channel.at(name))], channel, name)
            _panel(ax, times, own, channel, name, rounding(values))
            if len(rows) >= CROWD:
                ax.locator_params(axis="y", nbins=3)
        axes[row, 0].annotate(
            channel.name, (0.0, 1.0), (2, 2), "axes fraction", "offset points", fontsize=9, fontweight="bold"
        )
    for ax, name in zip(axes[0], columns, strict=True):
        ax.set_title(f"{TITLES[name]} {name}", fontsize=10, loc="right")
    for ax in axes[-1]:
        ax.set_xlabel("t [s]")
    mark(axes.flat, found)
    parts = [n for channel in rows for name in columns for n in channel.names(name)]
    legend(fig, axes.flat, parts)
    if fig.get_layout_engine() is not None:  # with a hundred panels that takes most of the time
        fig.align_ylabels(axes)
    return fig


def _dashed(ax: Axes, t: Array, x: Array, times: Array, reference: Array, channel: Channel, name: str) -> None:
    """The reference of one panel, behind its curves."""
    if channel.sort == "turn" and name == "q":
        reference = same_side(t, x, times, reference)
    for k in range(reference.shape[1]):
        label = "reference" if k == 0 else None
        ax.plot(times, reference[:, k], color="#222222", lw=1.1, ls=(0, (4, 2)), alpha=0.85, label=label, zorder=2.5)


def _times(t: Any) -> Array:
    try:
        times = np.asarray(t, dtype=float)
    except (TypeError, ValueError):
        raise ShapeError("plot_motion: t must be an array of times [s]. Hint: np.linspace(0, 1, 101)") from None
    if times.ndim != 1 or len(times) < 1:
        raise ShapeError(f"plot_motion: t has shape {times.shape}, expected (T,). Hint: one time [s] for each sample")
    if not np.all(np.isfinite(times)):
        raise ShapeError("plot_motion: t must be finite. Hint: look for NaN in the times")
    return times


def _array(model: Model, name: str, value: Any, samples: int) -> Array | None:
    if value is None:
        return None
    width = model.nq if name == "q" else model.nv
    try:
        x = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        x = np.empty(0)
    if x.shape != (samples, width):
        letter = "nq" if name == "q" else "nv"
        wanted = f"({samples}, {width}) = (length of t, {letter} of '{model.name}')"
        raise ShapeError(f"plot_motion: {name} has shape {x.shape}, expected {wanted}. Hint: one row for each time")
    return x


def rounding(every: Array) -> float:
    """What is not worth an axis of its own, of numbers that are drawn side by side."""
    return 1e-9 * float(np.abs(every).max(initial=0.0, where=np.isfinite(every)))


def lengthen(axis: tuple[float, float], least: float, change: Callable[[float, float], Any]) -> None:
    """``change`` an axis that is shorter than ``least``: rounding is no curve."""
    low, high = axis
    if high - low < least:
        change(0.5 * (low + high) - least, 0.5 * (low + high) + least)


def _panel(ax: Axes, t: Array, x: Array, channel: Channel, quantity: str, least: float) -> None:
    lines = [
        ax.plot(t, x[:, k], color=COLORS[k % len(COLORS)], lw=1.4, label=name if x.shape[1] > 1 else None)[0]
        for k, name in enumerate(channel.names(quantity))
    ]
    ax.set_ylabel(pretty(channel.unit(quantity)), fontsize=9)
    ax.grid(alpha=0.25)
    ax.tick_params(labelsize=8)
    ax.margins(x=0.0)
    lengthen(ax.get_ylim(), least, ax.set_ylim)
    if x.shape[1] > 1:
        ax.legend(handles=lines, fontsize=7, ncols=x.shape[1], loc="upper right", framealpha=0.6, handlelength=1.0)
    if quantity in channel.limits:
        _shade(ax, t, x[:, 0], *channel.limits[quantity])


def pretty(unit: str) -> str:
    return unit.replace("^2", "\N{SUPERSCRIPT TWO}").replace("N m", "N\N{MIDDLE DOT}m")


def _shade(ax: Axes, t: Array, x: Array, lower: float | None, upper: float | None) -> None:
    """The region beyond limits, as far as it is near the curve; and the curve in it, in red."""
    low, high = ax.get_ylim()
    finite = x[np.isfinite(x)]
    span = max(float(np.ptp(finite)) if len(finite) else 0.0, 1e-9)
    if upper is not None and np.isfinite(upper) and upper < high + 1.5 * span:
        high = max(high, upper + 0.08 * span)
        ax.axhspan(upper, max(high, upper), color=RED, alpha=0.12, lw=0)
        ax.axhline(upper, color=RED, lw=0.8, ls="--", label="limit")
    if lower is not None and np.isfinite(lower) and lower > low - 1.5 * span:
        low = min(low, lower - 0.08 * span)
        ax.axhspan(min(low, lower), lower, color=RED, alpha=0.12, lw=0)
        ax.axhline(lower, color=RED, lw=0.8, ls="--", label="limit")
    ax.set_ylim(low, high)
    beyond = np.zeros(len(x), dtype=bool)
    if upper is not None:
        beyond |= x > upper
    if lower is not None:
        beyond |= x < lower
    if beyond.any():
        ax.plot(
            t,
            np.where(beyond, x, np.nan),
            color=RED,
            lw=2.2,
            marker="." if beyond.sum() < 3 else None,
            label="beyond a limit",
        )
