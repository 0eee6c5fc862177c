"""Figures that a notebook shows by themselves: as the last line of a cell, without pyplot and without a display."""

from __future__ import annotations

import io
from typing import Any

from matplotlib.figure import Figure


class Picture(Figure):
    """A figure of matplotlib that knows its picture; ``savefig`` and all else as usual."""

    def _repr_png_(self) -> bytes:
        data = io.BytesIO()
        self.savefig(data, format="png", dpi=100)
        return data.getvalue()


CROWD = 24
"""From so many panels on, margins are fixed: automatic ones take half a minute for a hundred panels."""


def empty(figure: Any, width: float, height: float, title: str, panels: int = 1) -> Any:
    """A figure of a size [inch] with a title: a new one, or the user's own."""
    fig = Picture(layout=None if panels >= CROWD else "constrained") if figure is None else figure
    fig.set_size_inches(width, height)
    fig.suptitle(title)
    return fig
