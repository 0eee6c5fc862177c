"""MJCF text to one tree, each element with its file and line, and that tree to the text that MuJoCo gets to see.

MuJoCo sees the text that comes out of here alone (:meth:`Source.text`): one line for each tag, so that the lines in its
messages name elements, and without ``<include>``, so that it has no reason to open a file.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from xml.sax.saxutils import quoteattr

from gyrostat.errors import clipped
from gyrostat.io.safe_xml import MAX_TAGS, Element, bound_depth, parse, refusal, short
from gyrostat.io.xml_elements import Reader

MAX_DEPTH = 200


def parse_mjcf(text: str, file: str) -> Element:
    """The root element of an MJCF text."""
    return parse(text, file, "mujoco", MAX_DEPTH)


@dataclass
class Source:
    """A file with all that it includes, as one tree."""

    root: Element
    lines: dict[str, list[str]]  # file -> its lines
    file_of: dict[Element, str]  # holds every element, which keeps it the same object
    order: list[Element] = field(default_factory=list)  # the element of each line of the text, from line 1 on

    def text(self, dropped: frozenset[str] = frozenset()) -> str:
        """XML with one line for each tag; ``dropped``: sections of the model that are left out."""
        self.order, lines = [], list[str]()
        stack: list[tuple[Element, bool]] = [(self.root, False)]
        while stack:
            element, closing = stack.pop()
            if closing:
                lines[-1] += f"</{element.tag}>"
                continue
            attributes = "".join(f" {key}={quoteattr(_plain(value))}" for key, value in element.attrib.items())
            lines.append(f"<{element.tag}{attributes}>")
            self.order.append(element)
            stack.append((element, True))
            inside = element if element is not self.root else [c for c in element if c.tag not in dropped]
            stack += [(child, False) for child in reversed(list(inside))]
        return "\n".join(lines)

    def at(self, line: int) -> Element:
        """The element in a line of the text."""
        return self.order[line - 1] if 0 < line <= len(self.order) else self.root


def _plain(value: str) -> str:
    return " ".join(value.split())


class MjcfReader(Reader):
    """Tells what is wrong with elements of several files."""

    source: Source

    def line(self, element: Element) -> int:
        kept = self.lines
        self.lines = self.source.lines[self.source.file_of[element]]
        try:
            return super().line(element)
        finally:
            self.lines = kept

    @staticmethod
    def owner(element: Element) -> str:
        """``joint 'knee'``: the element if it has a name, otherwise with the nearest one around it that has."""
        name, tag = element.get("name"), short(element.tag)
        if name or element.getparent() is None:
            return f"{tag} {clipped(name)}" if name else tag
        around = element.getparent()
        while around is not None and not around.get("name"):
            around = around.getparent()
        return tag if around is None else f"{tag} of {short(around.tag)} {clipped(around.get('name'))}"

    def file_of(self, element: Element) -> str:
        return self.source.file_of[element]


def open_source(text: str, file: str) -> Source:
    """The tree of one text, before anything is included."""
    root = parse_mjcf(text, file)
    source = Source(root, {}, {})
    grow(source, root, file, text)
    return source


def grow(source: Source, root: Element, file: str, text: str) -> None:
    """Take the elements of a file into the books; the whole stays bounded."""
    source.lines.setdefault(file, text.split("\n"))
    for element in root.iter():
        source.file_of[element] = file
    if len(source.file_of) > MAX_TAGS:
        raise refusal(file, 1, "xml-size", f"has more than {MAX_TAGS} tags with what it includes", "take some out")
    bound_depth(root, file, MAX_DEPTH)
