"""The viewer in a notebook: a scene that needs no server, inside the page."""

from __future__ import annotations

import html as html_text
import sys
from dataclasses import dataclass, field
from pathlib import Path

HEIGHT = 420
"""Height of the frame in a notebook [pixel]."""


@dataclass(frozen=True)
class InlineScene:
    """A robot, and its motion if there is one, as HTML that needs neither network nor Python; a notebook shows it."""

    name: str
    html: str = field(repr=False)

    def _repr_html_(self) -> str:
        return (
            f'<iframe srcdoc="{html_text.escape(self.html)}" title="{html_text.escape(self.name)}" '
            f'style="width:100%;height:{HEIGHT}px;border:1px solid #ccd" sandbox="allow-scripts allow-same-origin">'
            "</iframe>"
        )

    def save(self, path: str | Path) -> Path:
        """Write it as one HTML file."""
        target = Path(path)
        target.write_text(self.html, "utf-8")
        return target


def in_notebook() -> bool:
    """Whether a kernel of Jupyter runs this."""
    shell = sys.modules.get("IPython")
    running = None if shell is None else shell.get_ipython()
    return running is not None and getattr(running, "kernel", None) is not None
