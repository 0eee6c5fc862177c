"""Figures of a study: distributions, and all points on parallel axes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from gyrostat.studies.sweeps.study_result import StudyResult

MOST = 2000
"""Points that are drawn as lines."""


def histogram(values: np.ndarray, name: str) -> Figure:
    """How an output is distributed, with its 5, 50 and 95 percent points."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.0, 2.6), layout="constrained")
    axes = figure.add_subplot()
    axes.hist(values, bins=min(60, max(5, len(values) // 8)), color="#4477aa")
    for x in np.quantile(values, [0.05, 0.5, 0.95]):
        axes.axvline(x, color="#cc3311", linewidth=1.0)
    axes.set_xlabel(name)
    axes.set_ylabel("points")
    return figure


def fan(t: np.ndarray, values: np.ndarray, names: Sequence[str]) -> Figure:
    """Series (points, T, columns) over time: the bands that hold 90 and 50 percent of the points, and the median."""
    from matplotlib.figure import Figure

    rows = -(-len(names) // 3)
    figure = Figure(figsize=(9.0, 1.9 * rows + 0.4), layout="constrained")
    for k, name in enumerate(names):
        axes = figure.add_subplot(rows, min(3, len(names)), k + 1)
        low, quarter, middle, three, high = np.quantile(values[:, :, k], [0.05, 0.25, 0.5, 0.75, 0.95], axis=0)
        axes.fill_between(t, low, high, color="#4477aa", alpha=0.2, linewidth=0.0)
        axes.fill_between(t, quarter, three, color="#4477aa", alpha=0.35, linewidth=0.0)
        axes.plot(t, middle, color="#4477aa", linewidth=1.2)
        axes.set_ylabel(name, fontsize=8)
        axes.tick_params(labelsize=7)
        axes.margins(x=0.0)
    return figure


def parallel_coordinates(result: StudyResult) -> Figure:
    """Every point as a line over its parameters and outputs, each axis from its least to its largest value."""
    from matplotlib import colormaps
    from matplotlib.collections import LineCollection
    from matplotlib.figure import Figure

    scalars = dict(_scalars(result, [*result.study.paths, *result.study.job.outputs]))
    names = list(scalars)
    figure = Figure(figsize=(max(6.0, 1.3 * len(names)), 3.4), layout="constrained")
    axes = figure.add_subplot()
    chosen = np.unique(np.linspace(0, len(result.done) - 1, min(MOST, len(result.done))).astype(int))
    columns = [_unit(values) for values in scalars.values()]
    rows = np.stack([x for x, _ in columns], axis=1)[chosen]
    lines = np.stack([np.broadcast_to(np.arange(len(names)), rows.shape), rows], axis=2)
    shade = rows[:, names.index(next(iter(result.study.job.outputs), names[0]))]
    strength = min(1.0, 30.0 / len(chosen) + 0.1)
    axes.add_collection(LineCollection(list(lines), colors=colormaps["viridis"](shade), linewidths=0.8, alpha=strength))
    axes.set_xlim(-0.2, len(names) - 0.8)
    axes.set_ylim(-0.08, 1.08)
    axes.set_yticks([])
    axes.set_xticks(range(len(names)), [_wrapped(name) for name in names])
    for k, (_, (low, high)) in enumerate(columns):
        axes.axvline(k, color="#888888", linewidth=0.8)
        axes.text(k, -0.02, low, ha="center", va="top", fontsize=8)
        axes.text(k, 1.02, high, ha="center", va="bottom", fontsize=8)
    return figure


def _scalars(result: StudyResult, names: Sequence[str]) -> Iterator[tuple[str, np.ndarray]]:
    """Values by name; properties that are vectors, number by number."""
    for name in names:
        values = result.values(name)
        if values.ndim == 1:
            yield name, values
        else:
            flat = values.reshape(len(values), -1)
            yield from ((f"{name}.{k}", flat[:, k]) for k in range(flat.shape[1]))


def _wrapped(name: str) -> str:
    return name.replace(".", ".\n", 1) if len(name) > 14 else name


def _unit(values: np.ndarray) -> tuple[np.ndarray, tuple[str, str]]:
    """Values between 0 and 1, and the texts at the ends of the axis."""
    if values.dtype.kind not in "fiub":
        words, numbers = np.unique([str(x) for x in values], return_inverse=True)
        return numbers / max(1, len(words) - 1), (str(words[0]), str(words[-1]))
    x: Any = values.astype(float)
    low, high = float(x.min()), float(x.max())
    return (x - low) / (high - low) if high > low else 0.5 + 0.0 * x, (f"{low:.4g}", f"{high:.4g}")
