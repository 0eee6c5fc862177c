"""What a figure shows besides curves: events as vertical lines, and one legend for all panels."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from gyrostat.errors import ShapeError, clipped

MARKS = ("#7b4fa3", "#0f8b8d", "#c0392b", "#8d6e0f", "#59616e", "#d97706")
MOST = len(MARKS)
"""How many sorts of events have a colour and a line in the legend; what comes later shares the last."""


def instants(events: Any, who: str) -> dict[str, list[float]]:
    """Label -> times [s] of events: those of a result, pairs (t, label), or times alone."""
    found: dict[str, list[float]] = {}
    for event in events:
        label, t = "event", event
        if hasattr(event, "t"):
            label, t = " ".join(str(x) for x in (event.name, getattr(event, "kind", "")) if x and x != "event"), event.t
        elif isinstance(event, tuple | list) and len(event) == 2:
            t, label = event[0], str(event[1])
        try:
            now = float(t)
        except (TypeError, ValueError):
            now = np.nan
        if not np.isfinite(now):
            wanted = "a time [s], a pair (time, label), or an event of a result"
            raise ShapeError(f"{who}: an event is {clipped(event)}, expected {wanted}. Hint: events=[(0.5, 'push')]")
        found.setdefault(label, []).append(now)
    return found


def mark(axes: Iterable[Any], found: dict[str, list[float]]) -> None:
    """Draw events into all panels."""
    for ax in axes:
        for k, (label, times) in enumerate(found.items()):
            shown = label if k < MOST - 1 or len(found) == MOST else f"{len(found) - MOST + 1} other sorts of events"
            transform = ax.get_xaxis_transform()
            alpha = 0.9 if len(times) < 20 else 0.35
            ax.vlines(
                times, 0.0, 1.0, transform=transform, colors=MARKS[min(k, MOST - 1)], lw=0.9, ls=":",
                alpha=alpha, label=shown, zorder=1.5,
            )  # fmt: skip


def legend(fig: Any, axes: Iterable[Any], leave: Iterable[str] = ()) -> None:
    """One legend below all panels, of every label once; none where there is nothing to tell apart."""
    entries: dict[str, Any] = {}
    for ax in axes:
        for handle, label in zip(*ax.get_legend_handles_labels(), strict=True):
            entries.setdefault(label, handle)
    for label in leave:
        entries.pop(label, None)
    columns = max(1, min(len(entries), int(fig.get_figwidth() / 2.0)))
    fixed = fig.get_layout_engine() is None
    if fixed:
        _margins(fig, -(-len(entries) // columns))
    if entries:
        place = "lower center" if fixed else "outside lower center"
        fig.legend([*entries.values()], [*entries], loc=place, ncols=columns, fontsize=8, frameon=False)


def _margins(fig: Any, lines: int) -> None:
    """Fixed margins [inch] of a figure that has no automatic ones."""
    width, height = fig.get_size_inches()
    below = 0.5 + 0.2 * lines
    fig.subplots_adjust(
        left=0.75 / width, right=1.0 - 0.15 / width, bottom=below / height, top=1.0 - 0.6 / height,
        wspace=0.28, hspace=0.42,
    )  # fmt: skip
    fig.suptitle(fig.get_suptitle(), y=1.0 - 0.1 / height)
