"""SDF texts as one tree, each element with its file and line; values that stand as text between tags."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from gyrostat.errors import clipped
from gyrostat.io.numbers import LARGEST, number
from gyrostat.io.safe_xml import MAX_TAGS, Element, bound_depth, parse, refusal, short
from gyrostat.io.xml_elements import Reader

MAX_DEPTH = 64

OLDEST, NEWEST = (1, 4), (1, 12)
"""Versions of SDF that are read."""

FRAMES_SINCE = (1, 7)
"""The version with ``relative_to``, ``attached_to`` and ``expressed_in``."""

OWNERS = ("link", "joint", "frame", "model", "include", "world")
"""Elements that messages name a place by."""

INFINITE = 1e16
"""From here on SDF means no limit."""

Version = tuple[int, int]


def parse_sdf(text: str, file: str) -> Element:
    """The root element of an SDF text."""
    return parse(text, file, 'sdf version="1.11"', MAX_DEPTH)


@dataclass
class Source:
    """A file with all that it includes, as one tree."""

    root: Element
    lines: dict[str, list[str]] = field(default_factory=dict)  # file -> its lines
    version: dict[str, Version] = field(default_factory=dict)  # file -> its version
    file_of: dict[Element, str] = field(default_factory=dict)  # holds every element, which keeps it the same object

    def grow(self, root: Element, file: str, text: str) -> None:
        """Take the elements of a file into the books; the whole stays bounded."""
        self.lines.setdefault(file, text.split("\n"))
        for element in root.iter():
            self.file_of[element] = file
        if len(self.file_of) > MAX_TAGS:
            raise refusal(file, 1, "xml-size", f"has more than {MAX_TAGS} tags with what it includes", "take some out")
        bound_depth(root, file, MAX_DEPTH)


class SdfReader(Reader):
    """Tells what is wrong with elements of several files, and reads the values in them."""

    source: Source

    def file_of(self, element: Element) -> str:
        return self.source.file_of.get(element, self.notes.file)

    def version(self, element: Element) -> Version:
        """The version of SDF that the file of an element is in."""
        return self.source.version.get(self.file_of(element), NEWEST)

    def line(self, element: Element) -> int:
        kept = self.lines
        self.lines = self.source.lines[self.file_of(element)]
        try:
            return super().line(element)
        finally:
            self.lines = kept

    @staticmethod
    def owner(element: Element) -> str:
        """``joint 'knee'``: the nearest part of a model around an element."""
        while element.getparent() is not None and (element.tag not in OWNERS or not element.get("name")):
            element = element.getparent()
        name = element.get("name")
        return f"{short(element.tag)} {clipped(name)}" if name else short(element.tag)

    # ------------------------------------------------------------------ values between tags
    def text(self, element: Element | None) -> str:
        """What stands between the tags, without spaces around it."""
        return "" if element is None else (element.text or "").strip(" \t\r\n")

    def inner(self, owner: Element, tag: str) -> str:
        """The text of a child; empty if there is none."""
        return self.text(self.child(owner, tag))

    def values(self, element: Element, *counts: int, strict: bool = True) -> tuple[float, ...] | None:
        """So many numbers between the tags, one of ``counts``; None, and a finding, if they cannot be read.

        ``strict``: numbers that the dynamics depend on; others are warnings."""
        text = self.text(element)
        tell = self.error if strict else self.warn
        wanted = f"<{short(element.tag)}> must hold {' or '.join(map(str, counts))} finite number(s)"
        given = [number(part, LARGEST if strict else math.inf) for part in text.split()]
        for value in given:
            if isinstance(value, str):
                tell(element, "number", wanted, clipped(text), value)
                return None
        if len(given) not in counts:
            tell(element, "number", f"{wanted}, there are {len(given)}", clipped(text), "separate them by spaces")
            return None
        return tuple(value for value in given if isinstance(value, float))

    def value(self, owner: Element, tag: str, default: float, strict: bool = True) -> float | None:
        """One number in a child; the default if there is none, None if it cannot be read."""
        element = self.child(owner, tag)
        if element is None:
            return default
        values = self.values(element, 1, strict=strict)
        return None if values is None else values[0]

    def limit(self, owner: Element, tag: str) -> float | None:
        """A limit in a child: None if there is none, which numbers from 1e16 on and ``inf`` mean, too."""
        element = self.child(owner, tag)
        if element is None or self.text(element).lower().lstrip("+-") in ("inf", "infinity"):
            return None
        values = self.values(element, 1, strict=False)
        return None if values is None or abs(values[0]) >= INFINITE else values[0]

    def truth(self, element: Element | None, default: bool = False) -> bool:
        """true, false, 1 or 0 between the tags."""
        return default if element is None else self.truth_of(element, self.text(element), default)

    def truth_of(self, element: Element, text: str, default: bool) -> bool:
        """A text that is a truth value."""
        if text.lower() in ("true", "1", "false", "0"):
            return text.lower() in ("true", "1")
        what = f"<{short(element.tag)}> must say true or false"
        self.error(element, "truth-value", what, clipped(text), "write true or false")
        return default
