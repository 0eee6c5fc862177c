"""Elements of XML files: their attributes and numbers, where they stand, and findings about them."""

from __future__ import annotations

import math
import re
from collections.abc import Collection
from dataclasses import dataclass

from gyrostat.errors import clipped, nearest
from gyrostat.io.audit import Finding, Notes, Severity
from gyrostat.io.numbers import LARGEST, number
from gyrostat.io.safe_xml import Element, short

COMPARED = 100_000
"""How many names are compared with misspelt ones in search of near ones, all in all."""

_SPACES = re.compile(r"[ \t\r\n]+")


@dataclass
class Reader:
    """Reads elements and tells what is wrong with them."""

    notes: Notes
    lines: list[str]
    compared: int = 0

    # ------------------------------------------------------------------ where
    def file_of(self, element: Element) -> str:
        """The name of the file that the element is in."""
        return self.notes.file

    def line(self, element: Element) -> int:
        """The line in which the tag begins; the parser knows that in which it ends."""
        last = min(int(element.sourceline or 1), len(self.lines))
        for line in range(last, max(0, last - 500), -1):
            if f"<{short(element.tag)}" in self.lines[line - 1] or f":{short(element.tag)}" in self.lines[line - 1]:
                return line
        return last

    @staticmethod
    def path(element: Element) -> str:
        """``robot/link[finger]/inertial/mass``."""
        steps: list[str] = []
        while element is not None:
            name = element.get("name") if element.getparent() is not None else None
            steps.append(short(element.tag) + (f"[{name}]" if name else ""))
            element = element.getparent()
        return "/".join(reversed(steps))

    @staticmethod
    def owner(element: Element) -> str:
        """``link 'finger'``: the part of the robot that an element belongs to."""
        while element.getparent() is not None and element.getparent().getparent() is not None:
            element = element.getparent()
        name = element.get("name")
        return f"{short(element.tag)} {clipped(name)}" if name else short(element.tag)

    def nearest(self, name: str, known: Collection[str]) -> str:
        """A hint with near names, as long as not too many were compared: it takes time."""
        self.compared += len(known)
        return nearest(name, known) if self.compared <= COMPARED else "check its spelling"

    # ------------------------------------------------------------------ findings
    def note(
        self,
        severity: Severity,
        element: Element,
        rule: str,
        what: str,
        value: str,
        fix: str,
        fatal: bool = False,
        left_out: bool = False,
    ) -> None:
        """Keep a finding about an element; ``value``: what stands in the file."""
        place = (self.file_of(element), self.line(element), self.path(element), self.owner(element))
        self.notes.add(Finding(severity, *place, rule, what, value, fix, fatal, left_out))

    def error(self, element: Element, rule: str, what: str, value: str = "", fix: str = "") -> None:
        """What no policy gets past: there is nothing to compute, or nobody knows what."""
        self.note("error", element, rule, what, value, fix, fatal=True)

    def wrong(
        self,
        element: Element,
        rule: str,
        what: str,
        value: str,
        fix: str,
        mended: str = "",
        left_out: bool = False,
        fatal: bool = False,
    ) -> bool:
        """What the policy decides about; ``mended``: what a repair does. True if the caller shall do it.

        ``left_out``: it is accepted by leaving this part out of the model; ``fatal``: it can be mended, not accepted.
        """
        if self.notes.policy == "repair" and mended:
            self.note("repaired", element, rule, f"{what}: {mended}", value, "")
            return True
        self.note("error", element, rule, what, value, fix, fatal, left_out)
        return False

    def warn(self, element: Element, rule: str, what: str, value: str = "", fix: str = "") -> None:
        """What is odd."""
        self.note("warning", element, rule, what, value, fix)

    def ignore(self, element: Element, rule: str, what: str, value: str = "", fix: str = "") -> None:
        """What is not in the model."""
        self.note("ignored", element, rule, what, value, fix)

    # ------------------------------------------------------------------ values
    def child(self, element: Element, tag: str) -> Element | None:
        """The one child with a tag, if there is one."""
        children = [c for c in element if c.tag == tag]
        for again in children[1:]:
            what = f"there is a second <{tag}> in <{short(element.tag)}>"
            self.error(again, "duplicate-element", what, "", "keep one of them")
        return children[0] if children else None

    def need(self, element: Element, attribute: str, what: str = "") -> str | None:
        """An attribute that must be there and not be empty."""
        value = element.get(attribute)
        if value is None or not value.strip():
            given = "nothing" if value is None else repr(value)
            told = what or f"<{short(element.tag)}> needs the attribute '{attribute}'"
            self.error(element, "missing", told, given, f'write <{short(element.tag)} {attribute}="...">')
            return None
        return value

    def numbers(self, element: Element, attribute: str, count: int, strict: bool = True) -> tuple[float, ...] | None:
        """So many numbers in an attribute; None, and a finding, if they cannot be read.

        ``strict``: numbers that the dynamics depend on; others are warnings.
        """
        text = element.get(attribute) or ""
        parts = [part for part in _SPACES.split(text.strip(" \t\r\n")) if part]
        tell = self.error if strict else self.warn
        label = f"'{attribute}' of <{short(element.tag)}>"
        values = [number(part, LARGEST if strict else math.inf) for part in parts]
        for value in values:
            if isinstance(value, str):
                tell(element, "number", f"{label} must be {_counted(count)}", clipped(text), value)
                return None
        if len(parts) != count:
            wanted = f"{label} must be {_counted(count)}, there are {len(parts)}"
            tell(element, "number", wanted, clipped(text), f"write {_counted(count)}, separated by spaces")
            return None
        return tuple(value for value in values if isinstance(value, float))

    def scalar(self, element: Element, attribute: str, strict: bool = True) -> float | None:
        """One number in an attribute."""
        values = self.numbers(element, attribute, 1, strict)
        return None if values is None else values[0]


def accepted(reader: Reader, what: str, done: str) -> str:
    """What is wrong, and under ``policy="accept"`` what becomes of it."""
    return f"{what}; {done}" if reader.notes.policy == "accept" else what


def shown(element: Element, *names: str) -> str:
    """Some attributes of an element, or all, as they stand in the file, for messages."""
    pairs = [(key, value) for key, value in element.attrib.items() if not names or key in names]
    return " ".join(f'{short(key)}="{value[:30]}"' for key, value in pairs[:6]) or "nothing"


def _counted(count: int) -> str:
    return {1: "one finite number", 3: "three finite numbers", 4: "four finite numbers"}[count]
