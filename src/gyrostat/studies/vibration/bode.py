"""Bode's figure: magnitude and phase over frequency."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from gyrostat.view.plots import COLORS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Array = np.ndarray


def plot_response(
    hz: Array, H: Array, labels: Sequence[Sequence[str]], title: str, figure: Figure | None = None
) -> Figure:
    """H (len(hz), outputs, inputs) over hz [Hz]; ``labels`` by output and input."""
    from matplotlib.figure import Figure

    fig = Figure(layout="constrained", figsize=(6.4, 5.0)) if figure is None else figure
    above, below = fig.subplots(2, 1, sharex=True)
    size = np.abs(H)
    least = size[size > 0.0].min(initial=1.0)
    curves = [(i, j) for i in range(H.shape[1]) for j in range(H.shape[2])]
    for k, (i, j) in enumerate(curves):
        color = COLORS[k % len(COLORS)]
        above.plot(hz, 20.0 * np.log10(np.maximum(size[:, i, j], least)), color=color, lw=1.4, label=labels[i][j])
        below.plot(hz, np.degrees(np.unwrap(np.angle(H[:, i, j]))), color=color, lw=1.4)
    for ax in (above, below):
        if (hz > 0.0).any():
            ax.set_xscale("log")
        ax.grid(alpha=0.25, which="both")
        ax.margins(x=0.0)
    above.set_ylabel("|H| [dB]")
    below.set_ylabel("phase [\N{DEGREE SIGN}]")
    below.set_xlabel("f [Hz]")
    above.legend(fontsize=8)
    above.set_title(title, fontsize=10)
    return fig
