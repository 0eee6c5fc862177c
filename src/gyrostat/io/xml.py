"""XML text that nobody vouches for to a tree with line numbers; strict numbers.

No document types, hence no entities; no network; size, depth and number of elements are bounded. A number is an
optional sign, digits with at most one point, and an optional exponent: ``nan``, ``1,5``, ``0x10`` and ``5cm`` are none.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from lxml import etree  # pyright: ignore[reportAttributeAccessIssue]  # it has no types

from gyrostat.errors import LoadError, Problem, clipped, nearest
from gyrostat.io.audit import Finding, Notes, Severity
from gyrostat.io.text_files import MAX_BYTES

MAX_DEPTH = 32
MAX_TAGS = 2_000_000
LARGEST = 1e12
"""Numbers beyond this one are refused: their products leave the range of floating-point numbers."""

COMPARED = 100_000
"""How many names are compared with misspelt ones in search of near ones, all in all."""

Element = Any  # lxml has no types of its own

_NUMBER = re.compile(r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?", re.ASCII)
_PROLOG = re.compile(r"<!--.*?(?:-->|\Z)|<\?.*?(?:\?>|\Z)|<!\[CDATA\[.*?(?:\]\]>|\Z)|<!(?:DOCTYPE|ENTITY)", re.DOTALL)
_SPACES = re.compile(r"[ \t\r\n]+")


def refusal(file: str, line: int, rule: str, message: str, remedy: str, value: object = None) -> LoadError:
    """The exception for a text that is no readable XML."""
    return LoadError([Problem("XML", rule, message, remedy, value, f"{file}:{line}")])


def parse(text: str, file: str) -> Element:
    """The root element of an XML text."""
    if len(text) > MAX_BYTES:
        message = f"is {len(text) / 2**20:.1f} MiB long, expected at most {MAX_BYTES // 2**20} MiB"
        raise refusal(file, 1, "xml-size", message, "is this the right file?", len(text))
    if not text.strip():
        raise refusal(file, 1, "xml-empty", "there is nothing in it", 'start with <robot name="...">')
    if text.count("<") > MAX_TAGS:
        message = f"has more than {MAX_TAGS} tags"
        raise refusal(file, 1, "xml-size", message, "is this the right file?", text.count("<"))
    for match in _PROLOG.finditer(text):
        if match[0].startswith(("<!D", "<!E")):
            line = text.count("\n", 0, match.start()) + 1
            message = "has a document type or entity declaration, which is not allowed"
            raise refusal(file, line, "xml-doctype", message, "take it out, and write the values where they are used")
    return _parsed(text, file)


def _parsed(text: str, file: str) -> Element:
    parser = etree.XMLParser(
        encoding="utf-8",
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        dtd_validation=False,
        huge_tree=False,
        recover=False,
        remove_comments=True,
        remove_pis=True,
    )
    try:
        root = etree.fromstring(text.encode("utf-8", "surrogatepass"), parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        raise _syntax(error, parser, text, file) from None
    if root is None or root.getroottree().docinfo.internalDTD is not None:
        raise refusal(file, 1, "xml-doctype", "has a document type, which is not allowed", "take it out")
    _bound_depth(root, file)
    return root


def _syntax(error: Any, parser: Any, text: str, file: str) -> LoadError:
    lines = text.count("\n") + 1
    found: list[Problem] = []
    for entry in list(parser.error_log)[:20] or [error]:
        message = " ".join(str(getattr(entry, "message", entry)).split()).partition(", use XML_PARSE_HUGE")[0]
        line = min(max(int(getattr(entry, "line", 1) or 1), 1), lines)
        rule = "xml-depth" if "depth" in message.lower() else "xml-syntax"
        remedy = (
            "make the file flatter" if rule == "xml-depth" else "close every tag, quote every value, write & as &amp;"
        )
        found.append(Problem("XML", rule, f"is not well-formed: {message}", remedy, None, f"{file}:{line}"))
    return LoadError(found)


def _bound_depth(root: Element, file: str) -> None:
    level, depth = [root], 1
    while level:
        if depth > MAX_DEPTH:
            line, message = int(level[0].sourceline or 1), f"elements are nested more than {MAX_DEPTH} deep"
            raise refusal(file, line, "xml-depth", message, "make the file flatter")
        level = [child for element in level for child in element if isinstance(child.tag, str)]
        depth += 1


def short(tag: Any) -> str:
    """The name of a tag or attribute as it stands in the file: ``{http://...}x`` is ``x``."""
    return str(tag).rpartition("}")[2]


def number(text: str, largest: float = LARGEST) -> float | str:
    """The finite number that a text is, or what to do about it.

    >>> number("1e-3"), number("1,5")
    (0.001, 'write a decimal point: 1.5')
    """
    if _NUMBER.fullmatch(text):
        value = float(text)
        if math.isfinite(value) and abs(value) <= largest:
            return value
        return f"too large: give a number between -{min(largest, 1e308):g} and {min(largest, 1e308):g} in SI units"
    if "${" in text or "$(" in text:
        return "this is xacro; expand the file with xacro first"
    if _NUMBER.fullmatch(text.replace(",", ".", 1)):
        return f"write a decimal point: {text.replace(',', '.', 1)}"
    if text.lower().lstrip("+-") in ("nan", "inf", "infinity"):
        return "give a finite number"
    return "write a decimal number such as 0.5, without units"


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
        found: str,
        fix: str,
        fatal: bool = False,
        left_out: bool = False,
    ) -> None:
        """Keep a finding about an element."""
        place = (self.file_of(element), self.line(element), self.path(element), self.owner(element))
        self.notes.add(Finding(severity, *place, rule, what, found, fix, fatal, left_out))

    def error(self, element: Element, rule: str, what: str, found: str = "", fix: str = "") -> None:
        """What no policy gets past: there is nothing to compute, or nobody knows what."""
        self.note("error", element, rule, what, found, fix, fatal=True)

    def wrong(
        self,
        element: Element,
        rule: str,
        what: str,
        found: str,
        fix: str,
        mended: str = "",
        left_out: bool = False,
        fatal: bool = False,
    ) -> bool:
        """What the policy decides about; ``mended``: what a repair does. True if the caller shall do it.

        ``left_out``: it is accepted by leaving this part out of the model; ``fatal``: it can be mended, not accepted.
        """
        if self.notes.policy == "repair" and mended:
            self.note("repaired", element, rule, f"{what}: {mended}", found, "")
            return True
        self.note("error", element, rule, what, found, fix, fatal, left_out)
        return False

    def warn(self, element: Element, rule: str, what: str, found: str = "", fix: str = "") -> None:
        """What is odd."""
        self.note("warning", element, rule, what, found, fix)

    def ignore(self, element: Element, rule: str, what: str, found: str = "", fix: str = "") -> None:
        """What is not in the model."""
        self.note("ignored", element, rule, what, found, fix)

    # ------------------------------------------------------------------ values
    def child(self, element: Element, tag: str) -> Element | None:
        """The one child with a tag, if there is one."""
        found = [c for c in element if c.tag == tag]
        for again in found[1:]:
            what = f"there is a second <{tag}> in <{short(element.tag)}>"
            self.error(again, "duplicate-element", what, "", "keep one of them")
        return found[0] if found else None

    def need(self, element: Element, attribute: str, what: str = "") -> str | None:
        """An attribute that must be there and not be empty."""
        value = element.get(attribute)
        if value is None or not value.strip():
            found = "nothing" if value is None else repr(value)
            told = what or f"<{short(element.tag)}> needs the attribute '{attribute}'"
            self.error(element, "missing", told, found, f'write <{short(element.tag)} {attribute}="...">')
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
        found = self.numbers(element, attribute, 1, strict)
        return None if found is None else found[0]


def _counted(count: int) -> str:
    return {1: "one finite number", 3: "three finite numbers", 4: "four finite numbers"}[count]
