"""Pages from notebooks: ``*.ipynb`` is executed when the site is built, its figures and outputs become the page.

Cells with the tag ``solution`` are folded. ``-D execute_notebooks=0`` builds the pages without outputs, in no time.
"""

from __future__ import annotations

import html
import re
from itertools import groupby
from pathlib import Path
from typing import Any

import nbformat
from myst_parser.parsers.sphinx_ import MystParser
from sphinx.errors import SphinxError

KERNEL = {"timeout": 300, "kernel_name": "python3", "coalesce_streams": True}
KERNEL["extra_arguments"] = ["--IPKernelApp.log_level=40"]
"""``timeout`` [s] is for one cell."""
FORMULAS = "---\nmyst:\n  enable_extensions: [colon_fence, dollarmath]\n---\n\n"
"""Dollars are formulas on these pages, and nothing on others."""
COLOR = re.compile(r"\x1b\[[0-9;]*m")


def executed(book: Any, folder: Path) -> Any:
    """The notebook with its outputs: a kernel of this Python, in the notebook's folder."""
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError

    try:
        NotebookClient(book, **KERNEL, resources={"metadata": {"path": folder}}).execute()
    except CellExecutionError as error:
        raise SphinxError(COLOR.sub("", str(error))) from error
    return book


def page(book: Any, name: str) -> str:
    """The notebook as Markdown for MyST."""
    parts = [f"{{download}}`This page as a notebook <{name}>`"]
    for folded, cells in groupby(book.cells, key=is_solution):
        inside = [text for cell in cells for text in shown(cell)]
        if folded:
            inside = [raw('<details class="solution"><summary>Solution</summary>'), *inside, raw("</details>")]
        parts += inside
    title, *rest = parts[1].split("\n", 1)  # the download stands below the title
    return FORMULAS + "\n\n".join([title, parts[0], *rest, *parts[2:]]) + "\n"


def is_solution(cell: Any) -> bool:
    return "solution" in cell.metadata.get("tags", ())


def shown(cell: Any) -> list[str]:
    """A cell and what it gives."""
    if cell.cell_type == "markdown":
        return [cell.source]
    if cell.cell_type == "raw":
        return []
    code = fenced(cell.source, "python")
    return [code, *(text for output in cell.outputs for text in given(output, cell))]


def given(output: Any, cell: Any) -> list[str]:
    if output.output_type == "stream":
        if output.name == "stderr":
            raise SphinxError(f"a cell writes to stderr: {output.text.strip()}\n{cell.source}")
        return [fenced(output.text.rstrip(), "text")]
    data = output.get("data", {})
    if "image/png" in data:
        alt = html.escape(cell.metadata.get("alt", ""), quote=True)
        picture = data["image/png"].replace("\n", "")
        return [raw(f'<img class="output" alt="{alt}" src="data:image/png;base64,{picture}">')]
    if "text/html" in data:
        return [raw(f'<div class="output">{data["text/html"]}</div>')]
    return [fenced(data["text/plain"], "text")] if "text/plain" in data else []


def fenced(text: str, kind: str) -> str:
    return f"~~~~~~{kind}\n{text}\n~~~~~~"


def raw(text: str) -> str:
    return f"~~~~~~{{raw}} html\n{text}\n~~~~~~"


class NotebookParser(MystParser):
    supported = ("notebook",)

    def parse(self, inputstring: str, document: Any) -> None:
        file = Path(document.settings.env.doc2path(document.settings.env.docname))
        book = nbformat.reads(inputstring, as_version=4)
        if document.settings.env.config.execute_notebooks:
            book = executed(book, file.parent)
        super().parse(page(book, file.name), document)


def setup(app) -> dict[str, bool]:
    app.add_config_value("execute_notebooks", True, "env", types=(bool,))
    app.add_source_suffix(".ipynb", "notebook")
    app.add_source_parser(NotebookParser)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
