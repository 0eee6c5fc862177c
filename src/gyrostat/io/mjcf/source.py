"""MJCF text that nobody vouches for to one tree: bounded, included files inserted, each element with its file and line.

MuJoCo sees the text that comes out of here alone (:meth:`Source.text`): one line for each tag, so that the lines in its
messages name elements, and without ``<include>``, so that it has no reason to open a file.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

from lxml import etree  # pyright: ignore[reportAttributeAccessIssue]  # it has no types

from gyrostat.errors import clipped
from gyrostat.io.mesh_paths import Roots
from gyrostat.io.text_files import MAX_BYTES, read_text
from gyrostat.io.xml import MAX_TAGS, Element, Reader, refusal, short

MAX_DEPTH = 200
MAX_FILES = 200
"""How many files one model may include."""

_MARKUP = re.compile(r"<!--.*?(?:-->|\Z)|<\?.*?(?:\?>|\Z)|<!\[CDATA\[.*?(?:\]\]>|\Z)|<!(?:DOCTYPE|ENTITY)", re.DOTALL)


_OUTERMOST = re.compile(r"<([A-Za-z_][^\s/>]*)")


def is_mjcf(text: str, file: str) -> bool:
    """Whether the outermost tag is that of an MJCF file; where it is that of neither, the name of the file decides."""
    found = _OUTERMOST.search(_MARKUP.sub("", text[: 2**20]))
    tag = found[1] if found else ""
    return tag == "mujoco" or (tag != "robot" and not file.lower().endswith(".urdf"))


def parse(text: str, file: str) -> Element:
    """The root element of an XML text: no document type, hence no entities; size, depth, number of tags bounded."""
    if len(text) > MAX_BYTES or text.count("<") > MAX_TAGS:
        message = f"is too large: {len(text) / 2**20:.1f} MiB, {text.count('<')} tags"
        raise refusal(file, 1, "xml-size", message, "is this the right file?", len(text))
    if not text.strip():
        raise refusal(file, 1, "xml-empty", "there is nothing in it", "start with <mujoco>")
    for match in _MARKUP.finditer(text):
        if match[0].startswith(("<!D", "<!E")):
            line = text.count("\n", 0, match.start()) + 1
            message = "has a document type or entity declaration, which is not allowed"
            raise refusal(file, line, "xml-doctype", message, "take it out, and write the values where they are used")
    options = {"resolve_entities": False, "no_network": True, "load_dtd": False, "huge_tree": False}
    parser = etree.XMLParser(encoding="utf-8", recover=False, remove_comments=True, remove_pis=True, **options)
    try:
        root = etree.fromstring(text.encode("utf-8", "surrogatepass"), parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        message = " ".join(str(getattr(error, "msg", None) or error).split())
        line = min(max(int(getattr(error, "lineno", 1) or 1), 1), text.count("\n") + 1)
        if "depth" in message.lower():
            raise refusal(file, line, "xml-depth", message, "make the file flatter") from None
        remedy = "close every tag, quote every value, write & as &amp;"
        raise refusal(file, line, "xml-syntax", f"is not well-formed: {message}", remedy) from None
    return root


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


@dataclass
class Includes:
    """Puts the content of included files in the place of ``<include>``."""

    reader: MjcfReader
    roots: Roots
    file: str
    done: set[Path] = field(default_factory=set)

    def expand(self) -> None:
        """All of them, also those within included files; each file once, as MuJoCo has it."""
        source = self.reader.source
        self.done.add(Path(self.file).resolve())
        todo = [e for e in source.root.iter("include")]
        while todo:
            element = todo.pop(0)
            inside = self._read(element)
            parent = element.getparent()
            at = parent.index(element)
            for k, child in enumerate(list(inside) if inside is not None else []):
                parent.insert(at + 1 + k, child)
                todo += list(child.iter("include"))
            parent.remove(element)
        _bound_depth(source.root, self.file)

    def _read(self, element: Element) -> Element | None:
        name = self.reader.need(element, "file")
        if name is None:
            return None
        path, why, folder = self._find(name, self.reader.source.file_of[element])
        if path is None:
            fix = "include files from the folder of the model, or name their folder in roots=[...]"
            self.reader.error(element, "include", f"the included file {why}", repr(name), fix)
            return None
        if path in self.done or len(self.done) > MAX_FILES:
            again = "the file is included already" if path in self.done else f"more than {MAX_FILES} files are included"
            self.reader.error(element, "include", again, repr(name), "include each file once")
            return None
        self.done.add(path)
        shown = str(folder / name)
        text = read_text(path, shown, "XML")
        root = parse(text, shown)
        grow(self.reader.source, root, shown, text)
        return root

    def _find(self, name: str, including: str) -> tuple[Path | None, str, Path]:
        """The file, what is to be said, and the folder that its name is relative to: the model's, or the including
        file's."""
        path, why = self.roots.resolve(name)
        if path is None and "refused" not in why and including != self.file:
            here = Path(including).parent
            path, _ = Roots(here, self.roots.places).resolve(name)
            allowed = [Path(p).resolve() for p in self.roots.places]
            if path is not None and not any(path.is_relative_to(p) for p in allowed):
                return None, "is refused: it leads out of the allowed folders", here
            return path, why, here
        return path, why, Path(self.file).parent


def grow(source: Source, root: Element, file: str, text: str) -> None:
    """Take the elements of a file into the books; the whole stays bounded."""
    source.lines.setdefault(file, text.split("\n"))
    for element in root.iter():
        source.file_of[element] = file
    if len(source.file_of) > MAX_TAGS:
        raise refusal(file, 1, "xml-size", f"has more than {MAX_TAGS} tags with what it includes", "take some out")
    _bound_depth(root, file)


def _bound_depth(root: Element, file: str) -> None:
    level, depth = [root], 1
    while level:
        if depth > MAX_DEPTH:
            message = f"elements are nested more than {MAX_DEPTH} deep"
            raise refusal(file, int(level[0].sourceline or 1), "xml-depth", message, "make the file flatter")
        level = [child for element in level for child in element]
        depth += 1


def open_source(text: str, file: str) -> Source:
    """The tree of one text, before anything is included."""
    root = parse(text, file)
    source = Source(root, {}, {})
    grow(source, root, file, text)
    return source


def attributes(element: Element, *names: str) -> str:
    """Some attributes as they stand in the file."""
    found: list[tuple[Any, Any]] = [(k, v) for k, v in element.attrib.items() if not names or k in names]
    return " ".join(f'{short(k)}="{str(v)[:30]}"' for k, v in found[:6]) or "nothing"
