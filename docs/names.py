"""The directive ``names``: what the listed public names are, one line each, then each from its docstring.

Nothing is written into the folder of the sources, as the stub pages of autosummary would be.
"""

import re
from inspect import isclass, isfunction, ismodule
from operator import attrgetter
from pathlib import Path

from docutils import nodes
from docutils.parsers.rst import Directive
from docutils.statemachine import StringList

import gyrostat as gs

MEMBERS = (":members:", ":special-members: __call__", ":exclude-members: model_config, model_post_init")
PLAIN = re.compile(r"(``.*?``|`[^`]*`|(?<!\w)\*{1,2}[A-Za-z][^*|]*\*{1,2}(?!\w))")
"""What keeps its meaning in docstrings: literals, roles, emphasis. Elsewhere bars and stars are mathematics."""


PAGES = Path(__file__).parent / "reference" / "api"


def split() -> set[str]:
    """Modules whose names are listed one by one, ``studies.identify``, on pages of their own."""
    text = "\n".join(page.read_text("utf-8") for page in PAGES.glob("*.md"))
    blocks = re.findall(r"\.\. names::\n((?: {3}.*\n)+)", text)
    return {name.partition(".")[0] for block in blocks for name in block.split() if "." in name}


def described(name: str) -> list[str]:
    """The directive of autodoc for one name, as lines."""
    thing = attrgetter(name)(gs)
    if ismodule(thing) and name in split():
        return [f".. automodule:: gyrostat.{name}", ""]
    if ismodule(thing):
        twice = [x for x in getattr(thing, "__all__", ()) if getattr(gs, x, None) is getattr(thing, x)]  # by themselves
        without = [f"   :exclude-members: {', '.join(twice)}"] if twice else []
        return [f".. automodule:: gyrostat.{name}", "   :members:", *without, ""]
    if isfunction(thing):
        return [f".. autofunction:: gyrostat.{name}", ""]
    if isclass(thing):
        members = () if issubclass(thing, gs.Entity) and thing is not gs.Entity else MEMBERS  # its docstring tells all
        return [f".. autoclass:: gyrostat.{name}", *(f"   {option}" for option in members), ""]
    return [f".. autodata:: gyrostat.{name}", "   :no-value:", ""]


def escaped(line: str) -> str:
    """A line of a docstring, in which bars, stars and colons stand for themselves."""
    parts = PLAIN.split(line)
    plain = [part if k % 2 else re.sub(r"([|*])", r"\\\1", part) for k, part in enumerate(parts)]
    return re.sub(r"(?<![`\w])file:line\b", "``file:line``", "".join(plain))  # no address


def on_docstring(app, what, name, thing, options, lines) -> None:
    lines[:] = [escaped(line) for line in lines]


class Names(Directive):
    has_content = True

    def run(self) -> list[nodes.Node]:
        names = " ".join(self.content).split()
        lines = [".. autosummary::", "   :nosignatures:", "", *(f"   gyrostat.{name}" for name in names), ""]
        for name in names:
            lines += described(name)
        found = nodes.container()
        self.state.nested_parse(StringList(lines, "names"), self.content_offset, found)
        return found.children


def setup(app) -> dict[str, bool]:
    app.add_directive("names", Names)
    app.connect("autodoc-process-docstring", on_docstring)
    return {"parallel_read_safe": True}
