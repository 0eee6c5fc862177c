"""XML text that nobody vouches for to a tree with line numbers.

No document types, hence no entities, nor bombs of them; no network; size, depth and number of elements are bounded.
"""

from __future__ import annotations

import re
from typing import Any

from lxml import etree  # pyright: ignore[reportAttributeAccessIssue]  # it has no types

from gyrostat.errors import LoadError, Problem
from gyrostat.io.text_files import MAX_BYTES

MAX_DEPTH = 32
MAX_TAGS = 2_000_000

Element = Any  # lxml has no types of its own

_PROLOG = re.compile(r"<!--.*?(?:-->|\Z)|<\?.*?(?:\?>|\Z)|<!\[CDATA\[.*?(?:\]\]>|\Z)|<!(?:DOCTYPE|ENTITY)", re.DOTALL)


def refusal(file: str, line: int, rule: str, message: str, remedy: str, value: object = None) -> LoadError:
    """The exception for a text that is no readable XML."""
    return LoadError([Problem("XML", rule, message, remedy, value, f"{file}:{line}")])


def parse(text: str, file: str, outermost: str = 'robot name="..."', depth: int = MAX_DEPTH) -> Element:
    """The root element of an XML text. ``outermost``: the tag that an empty one lacks; ``depth``: of its elements."""
    _bound_size(text, file, outermost)
    for match in _PROLOG.finditer(text):
        if match[0].startswith(("<!D", "<!E")):
            line = text.count("\n", 0, match.start()) + 1
            message = "has a document type or entity declaration, which is not allowed"
            raise refusal(file, line, "xml-doctype", message, "take it out, and write the values where they are used")
    root = _parsed(text, file)
    bound_depth(root, file, depth)
    return root


def _bound_size(text: str, file: str, outermost: str) -> None:
    if len(text) > MAX_BYTES:
        message = f"is {len(text) / 2**20:.1f} MiB long, expected at most {MAX_BYTES // 2**20} MiB"
        raise refusal(file, 1, "xml-size", message, "is this the right file?", len(text))
    if not text.strip():
        raise refusal(file, 1, "xml-empty", "there is nothing in it", f"start with <{outermost}>")
    if text.count("<") > MAX_TAGS:
        message = f"has more than {MAX_TAGS} tags"
        raise refusal(file, 1, "xml-size", message, "is this the right file?", text.count("<"))


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
    return root


def _syntax(error: Any, parser: Any, text: str, file: str) -> LoadError:
    lines = text.count("\n") + 1
    problems: list[Problem] = []
    for entry in list(parser.error_log)[:20] or [error]:
        message = " ".join(str(getattr(entry, "message", entry)).split()).partition(", use XML_PARSE_HUGE")[0]
        line = min(max(int(getattr(entry, "line", 1) or 1), 1), lines)
        rule = "xml-depth" if "depth" in message.lower() else "xml-syntax"
        remedy = (
            "make the file flatter" if rule == "xml-depth" else "close every tag, quote every value, write & as &amp;"
        )
        problems.append(Problem("XML", rule, f"is not well-formed: {message}", remedy, None, f"{file}:{line}"))
    return LoadError(problems)


def bound_depth(root: Element, file: str, most: int) -> None:
    """Refuse elements that are nested deeper than ``most``."""
    level, depth = [root], 1
    while level:
        if depth > most:
            line, message = int(level[0].sourceline or 1), f"elements are nested more than {most} deep"
            raise refusal(file, line, "xml-depth", message, "make the file flatter")
        level = [child for element in level for child in element if isinstance(child.tag, str)]
        depth += 1


def short(tag: Any) -> str:
    """The name of a tag or attribute as it stands in the file: ``{http://...}x`` is ``x``."""
    return str(tag).rpartition("}")[2]
