"""What notebooks show of an object: a headline and a small table."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence


def facts_html(title: str, rows: Iterable[Sequence[object]], head: Sequence[str] = ()) -> str:
    """A headline and rows of cells in HTML; all text is escaped."""

    def line(cells: Sequence[object], tag: str) -> str:
        style = ' style="text-align:left"'
        return "<tr>" + "".join(f"<{tag}{style}>{html.escape(str(cell))}</{tag}>" for cell in cells) + "</tr>"

    above = f"<thead>{line(head, 'th')}</thead>" if head else ""
    body = "".join(line(row, "td") for row in rows)
    return f"<p><b>{html.escape(title)}</b></p><table>{above}<tbody>{body}</tbody></table>"
