"""Formulas as MathML, which browsers draw by themselves: no script, no font, no network. latex2mathml translates."""

from __future__ import annotations

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.errors import SphinxError


def mathml(tex: str, block: bool) -> str:
    """One formula, in the line or displayed. What the translator does not know, it passes on: here an error."""
    text = convert(tex.strip(), display="block" if block else "inline")
    if "\\" in text:
        raise SphinxError(
            f"formula {tex.strip()!r}: there is a command that is not known. Hint: write it in other words"
        )
    return text


def visit_inline(visitor, node):
    visitor.body.append(mathml(node.astext(), block=False))
    raise nodes.SkipNode


def visit_block(visitor, node):
    visitor.body.append(f'<div class="formula">{mathml(node.astext(), block=True)}</div>')
    raise nodes.SkipNode


def setup(app) -> dict[str, bool]:
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    app.config.html_math_renderer = "mathml"
    return {"parallel_read_safe": True, "parallel_write_safe": True}
