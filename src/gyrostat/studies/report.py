"""The report of a study: headings, sentences, tables and figures, as one HTML file that can be handed on.

The file needs nothing else: figures are inside it, no font, no address of another machine, and no script but those of
motions in the viewer, where somebody asked for them."""

from __future__ import annotations

import html
import io
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from gyrostat.errors import GyrostatError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from gyrostat.view.viewer.inline import InlineScene

STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; color: #1a202c; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.7rem; } h2 { font-size: 1.25rem; margin-top: 2rem; }
figure { margin: 1.5rem 0; } figure svg { max-width: 100%; height: auto; }
figcaption, caption { color: #4a5568; font-size: 0.9rem; text-align: left; padding: 0.3rem 0; }
.wide { overflow-x: auto; } table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: 0.9rem; }
th, td { padding: 0.25rem 0.8rem 0.25rem 0; border-bottom: 1px solid #e2e8f0; text-align: left; white-space: nowrap; }
"""


class Report:
    """Built piece by piece: ``Report("Calibration of arm").text(...).table(...).figure(...)``.

    ``print(report)`` gives its text, a notebook shows it, ``report.save("calibration.html")`` writes it."""

    def __init__(self, title: str):
        self.title = title
        self._html: list[str] = []
        self._text: list[str] = [title, "=" * len(title)]
        self.figures: list[Figure] = []

    def heading(self, text: str) -> Self:
        """The name of the next part."""
        self._html.append(f"<h2>{html.escape(text)}</h2>")
        self._text += ["", text, "-" * len(text)]
        return self

    def text(self, text: str) -> Self:
        """A paragraph; markup in it is shown, not obeyed."""
        self._html.append(f"<p>{html.escape(text)}</p>")
        self._text += ["", text]
        return self

    def table(self, headers: Sequence[str], rows: Iterable[Sequence[Any]], caption: str = "") -> Self:
        """Rows of cells; numbers are shown with five digits."""
        cells = [[shown(x) for x in row] for row in rows]
        for row in cells:
            if len(row) != len(headers):
                raise GyrostatError(f"Report.table: a row has {len(row)} cells for {len(headers)} headers")
        head = "".join(f"<th>{html.escape(h)}</th>" for h in headers)
        body = "".join("<tr>" + "".join(f"<td>{html.escape(x)}</td>" for x in row) + "</tr>" for row in cells)
        about = f"<caption>{html.escape(caption)}</caption>" if caption else ""
        table = f"<table>{about}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        self._html.append(f'<div class="wide">{table}</div>')
        lines = [list(headers), *cells]
        widths = [max(len(row[k]) for row in lines) for k in range(len(headers))]
        text = ["  ".join(x.ljust(w) for x, w in zip(row, widths, strict=True)).rstrip() for row in lines]
        self._text += ["", *([caption] if caption else []), text[0], "  ".join("-" * w for w in widths), *text[1:]]
        return self

    def figure(self, figure: Figure, caption: str = "") -> Self:
        """A figure of Matplotlib, drawn into the report as SVG; it may change afterwards."""
        import matplotlib

        drawn = io.StringIO()
        with matplotlib.rc_context({"svg.fonttype": "path", "svg.hashsalt": self.title}):
            figure.savefig(drawn, format="svg", metadata={"Date": None})
        svg = drawn.getvalue()
        svg = svg[svg.index("<svg") :].replace('id="', f'id="f{len(self.figures)}-')  # ids are unique in a page
        for before in ("url(#", 'xlink:href="#', ' href="#'):
            svg = svg.replace(before, f"{before}f{len(self.figures)}-")
        about = f"<figcaption>{html.escape(caption)}</figcaption>" if caption else ""
        self._html.append(f'<figure role="img" aria-label="{html.escape(caption)}">{svg}{about}</figure>')
        self._text += ["", f"[figure: {caption}]"]
        self.figures.append(figure)
        return self

    def scene(self, scene: InlineScene, caption: str = "") -> Self:
        """A motion in the viewer, inside the page."""
        self._html.append(f"<figure>{scene._repr_html_()}<figcaption>{html.escape(caption)}</figcaption></figure>")
        self._text += ["", f"[motion: {caption}]"]
        return self

    @property
    def html(self) -> str:
        """The whole page."""
        title = html.escape(self.title)
        head = f'<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{title}</title>'
        body = "\n".join(self._html)
        return (
            f'<!doctype html>\n<html lang="en"><head>{head}<style>{STYLE}</style></head>\n'
            f"<body><h1>{title}</h1>\n{body}\n</body></html>\n"
        )

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the page; returns where it is."""
        file = Path(path)
        if file.suffix not in (".html", ".htm"):
            raise GyrostatError(f"Report.save: '{file}' is no HTML file. Hint: give it the suffix .html.")
        file.write_text(self.html, encoding="utf-8")
        return file

    def __str__(self) -> str:
        return "\n".join(self._text)

    def __repr__(self) -> str:
        return f"<Report '{self.title}': {len(self._html)} parts, {len(self.figures)} figures>"

    def _repr_html_(self) -> str:
        return f"<h1>{html.escape(self.title)}</h1>" + "\n".join(self._html)


def shown(value: Any) -> str:
    """A cell of a table as text: floats with five digits."""
    if isinstance(value, bool) or not isinstance(value, float):
        return str(value)
    return f"{value:.5g}"
