"""YAML text to plain data with line numbers, bounded in every direction, for text that nobody vouches for.

The text is taken event by event with a stack of our own: depth costs no recursion, and a text that goes too deep or on
for too long is dropped where it does. Tags, anchors, aliases and merge keys, through which YAML text can make objects
or multiply itself, are refused. Scalars follow the YAML 1.2 core schema: ``yes``, ``no``, ``on`` and ``off`` are texts,
``1e-3`` is a number.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

import yaml

from gyrostat.errors import LoadError, Problem, clipped
from gyrostat.io.text_files import MAX_BYTES, too_large

MAX_DEPTH = 32
MAX_VALUES = 100_000
LONGEST_INT = 300

LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the C one is some thirty times faster; same events

Scalar = str | int | float | bool | None

_INT = re.compile(r"[-+]?[0-9]+")
_HEX = re.compile(r"0o[0-7]{1,16}|0x[0-9a-fA-F]{1,12}")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
_WORDS = {"": None, "~": None} | {
    spelt: value
    for word, value in {"null": None, "true": True, "false": False}.items()
    for spelt in (word, word.capitalize(), word.upper())
}
_FORBIDDEN = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # YAML 1.2, 5.1
_HALF = re.compile("[\ud800-\udfff]")


@dataclass(slots=True)
class Node:
    """A value and where it stands: the line (from 1) of its key if it has one, else of itself."""

    value: dict[str, Node] | list[Node] | Scalar
    line: int
    text: str = ""  # of a scalar: as it was written

    def plain(self) -> Any:
        """Dicts, lists and scalars."""
        if isinstance(self.value, dict):
            return {key: node.plain() for key, node in self.value.items()}
        return [node.plain() for node in self.value] if isinstance(self.value, list) else self.value


def scalar(text: str) -> Scalar:
    """The value of a plain scalar by the YAML 1.2 core schema.

    >>> scalar("1e-3"), scalar("0x10"), scalar("~"), scalar("true"), scalar("yes")
    (0.001, 16, None, True, 'yes')
    """
    if text in _WORDS:
        return _WORDS[text]
    if _HEX.fullmatch(text):
        return int(text, 0)
    if _INT.fullmatch(text) and len(text) <= LONGEST_INT:
        return int(text)
    if _FLOAT.fullmatch(text):  # and integers that are too long to count anything
        return float(text.lower().replace(".inf", "inf").replace(".nan", "nan"))
    return text


def read(text: str, file: str = "<text>") -> Node:
    """The one document in ``text`` as a tree; :class:`LoadError` with file and line if it is anything else."""
    _check_characters(text, file)
    reading = _Reading(file)
    try:
        for event in yaml.parse(text, Loader=LOADER):
            reading.take(event)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        what = " ".join(part for part in (error.context, error.problem) if part)
        remedy = "indent with spaces, close quotes and brackets, put a space behind ':', quote texts with special signs"
        last = text.rstrip().count("\n") + 1  # what is not closed is found missing behind the end
        raise refusal(file, min(mark.line + 1, last) if mark else 1, "yaml-syntax", what, remedy) from None
    except yaml.YAMLError as error:
        raise refusal(file, 1, "yaml-syntax", " ".join(str(error).split()), "write plain YAML") from None
    if reading.root is None or (reading.root.value is None and not reading.root.text):
        raise refusal(file, 1, "yaml-empty", "there is nothing in it", "start with 'gyrostat: 1'")
    return reading.root


def refusal(file: str, line: int, rule: str, message: str, remedy: str, value: object = None) -> LoadError:
    """The exception for one mistake in a text."""
    return LoadError([Problem("YAML", rule, message, remedy, value, f"{file}:{line}")])


def _check_characters(text: str, file: str) -> None:
    if len(text) > MAX_BYTES:
        raise too_large(file, len(text), "YAML")
    bad = _FORBIDDEN.search(text)
    if bad:
        line = text.count("\n", 0, bad.start()) + 1
        message = f"has the character {bad[0]!a}, which YAML does not allow"
        raise refusal(file, line, "yaml-characters", message, "save the file as plain UTF-8 text", bad[0])


@dataclass(slots=True)
class _Open:
    """A mapping or sequence that has begun."""

    value: dict[str, Node] | list[Node]
    key: str | None = None  # of the value that comes next in a mapping
    line: int = 0  # of that key


@dataclass
class _Reading:
    file: str
    root: Node | None = None
    stack: list[_Open] = field(default_factory=list)
    documents: int = 0
    values: int = 0

    def take(self, event: yaml.Event) -> None:
        """One event: checked, then put where it belongs."""
        line = event.start_mark.line + 1
        if isinstance(event, yaml.NodeEvent):
            self._refuse_tricks(event, line)
        if isinstance(event, yaml.ScalarEvent):
            self._scalar(event, line)
        elif isinstance(event, yaml.CollectionStartEvent):
            self._begin({} if isinstance(event, yaml.MappingStartEvent) else [], line)
        elif isinstance(event, yaml.CollectionEndEvent):
            self.stack.pop()
        elif isinstance(event, yaml.DocumentStartEvent):
            self.documents += 1
            if self.documents > 1:
                raise self._refusal(line, "yaml-documents", "a second document begins", "keep one model in one file")

    def _refusal(self, line: int, rule: str, message: str, remedy: str, value: object = None) -> LoadError:
        return refusal(self.file, line, rule, message, remedy, value)

    def _refuse_tricks(self, event: Any, line: int) -> None:
        self.values += 1
        if self.values > MAX_VALUES:
            raise self._refusal(line, "yaml-size", f"has more than {MAX_VALUES} values", "split the model")
        if event.anchor is not None:
            what = "alias '*" if isinstance(event, yaml.AliasEvent) else "anchor '&"
            message = f"the {what}{clipped(event.anchor)[1:-1]}' is not allowed"
            raise self._refusal(line, "yaml-anchor", message, "write the value out where it is used", event.anchor)
        if getattr(event, "tag", None) is not None:
            message = f"the tag {clipped(event.tag)} is not allowed"
            remedy = "remove it; a model is made of texts, numbers, lists and mappings"
            raise self._refusal(line, "yaml-tag", message, remedy, event.tag)

    def _scalar(self, event: yaml.ScalarEvent, line: int) -> None:
        plain = event.style in (None, "")
        if event.style == '"' and _HALF.search(event.value):
            message = "has half of a character, written as an escape"
            raise self._refusal(line, "yaml-characters", message, "write the character itself")
        value = scalar(event.value) if plain else event.value
        parent = self.stack[-1] if self.stack else None
        if parent and isinstance(parent.value, dict) and parent.key is None:
            parent.key, parent.line = self._key(value, event.value, plain, line, parent.value), line
        else:
            self._put(Node(value, line, event.value))

    def _key(self, key: Scalar, text: str, plain: bool, line: int, mapping: dict[str, Node]) -> str:
        if not isinstance(key, str):
            message = f"the key {clipped(text) if text else 'nothing'} is not a text"
            raise self._refusal(line, "yaml-key", message, "put it in quotes", key)
        if plain and key == "<<":
            raise self._refusal(line, "yaml-key", "the merge key '<<' is not allowed", "write the values out", key)
        if key in mapping:
            message = f"the key {clipped(key)} is here for the second time, first in line {mapping[key].line}"
            raise self._refusal(line, "yaml-key", message, "remove one of them", key)
        return key

    def _begin(self, value: dict[str, Node] | list[Node], line: int) -> None:
        parent = self.stack[-1] if self.stack else None
        if parent and isinstance(parent.value, dict) and parent.key is None:
            raise self._refusal(line, "yaml-key", "a list or mapping is used as a key", "use a text as key")
        if len(self.stack) >= MAX_DEPTH:
            message = f"lists and mappings are nested more than {MAX_DEPTH} deep"
            raise self._refusal(line, "yaml-depth", message, "make the model flatter")
        self._put(Node(value, line))
        self.stack.append(_Open(value))

    def _put(self, node: Node) -> None:
        parent = self.stack[-1] if self.stack else None
        if parent is None:
            self.root = node
        elif isinstance(parent.value, list):
            parent.value.append(node)
        elif parent.key is not None:
            node.line = parent.line
            parent.value[parent.key] = node
            parent.key = None
