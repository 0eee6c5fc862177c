"""Plain data to YAML text: one layout, so that equal data give equal bytes; every float comes back as the same float.

What fits on a line and holds scalars and lists of numbers goes on one line; everything else goes one item per line.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Any

from gyrostat.errors import SaveError, clipped
from gyrostat.io.yaml.parse import scalar

WIDTH = 100
LONGEST_KEY = 1000  # YAML readers look no further for the colon behind a key

_PLAIN = re.compile(r"[^\W\d][\w./-]*")  # begins with a letter or underscore: no sign of YAML, no number
_WORDS_ELSEWHERE = {"y", "n", "yes", "no", "on", "off"}  # truth values in YAML 1.1, which other programs read
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}


def emit(data: dict[str, Any]) -> str:
    """The text of a mapping."""
    return "".join(f"{line}\n" for line in _mapping(data, ""))


def one_line(value: Any) -> str:
    """Any value in flow style: ``[0.0, 0.0, 1.0]``, ``{tip: [0.0, 0.0, 0.5]}``."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_key(k)}: {one_line(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(one_line(item) for item in value) + "]"
    return _scalar(value)


def _mapping(data: dict[str, Any], indent: str) -> Iterator[str]:
    for key, value in data.items():
        head = f"{indent}{_key(key)}:"
        section = indent == "" and isinstance(value, dict) and value
        if _is_short(value, WIDTH - len(head)) and not section:
            yield f"{head} {one_line(value)}"
        else:
            yield head
            yield from _block(value, indent + "  ")


def _block(value: Any, indent: str) -> Iterator[str]:
    if isinstance(value, dict):
        yield from _mapping(value, indent)
        return
    for item in value:
        if _is_short(item, WIDTH - len(indent)) and not (isinstance(item, dict) and item):
            yield f"{indent}- {one_line(item)}"
        else:
            lines = list(_block(item, indent + "  "))
            yield f"{indent}- {lines[0].removeprefix(indent + '  ')}"
            yield from lines[1:]


def _is_short(value: Any, room: int) -> bool:
    """Whether the value is a scalar, is empty, or is flat and fits into the room."""
    if not isinstance(value, dict | list | tuple) or not value:
        return True
    items = list(value.values()) if isinstance(value, dict) else list(value)
    return all(_is_scalar(item) or _is_numbers(item) for item in items) and len(one_line(value)) < room


def _is_scalar(value: Any) -> bool:
    return not isinstance(value, dict | list | tuple)


def _is_numbers(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return all(_is_numbers(item) for item in value)
    return isinstance(value, int | float)


def _scalar(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, float):
        return _float(value)
    return int.__repr__(value) if isinstance(value, int) else _text(str(value))


def _float(value: float) -> str:
    """Shortest text that reads back as the same float; with a point, without which YAML 1.1 takes 1e-05 for a text."""
    if not math.isfinite(value):
        return ".nan" if math.isnan(value) else (".inf" if value > 0.0 else "-.inf")
    text = float.__repr__(value)
    digits, e, exponent = text.partition("e")
    return text if "." in digits else f"{digits}.0{e}{exponent}"


def _key(key: Any) -> str:
    text = _text(str(key))
    if len(text) > LONGEST_KEY:
        message = f"the name {clipped(key)} is too long for a key"
        raise SaveError.one("YAML", "yaml-key", message, f"use at most {LONGEST_KEY} characters", key)
    return text


def _text(text: str) -> str:
    if _PLAIN.fullmatch(text) and isinstance(scalar(text), str) and text.lower() not in _WORDS_ELSEWHERE:
        return text
    return '"' + "".join(_ESCAPES.get(c) or (c if c.isprintable() else _escaped(c)) for c in text) + '"'


def _escaped(c: str) -> str:
    code = ord(c)
    if 0xD800 <= code <= 0xDFFF:
        message = f"the character {c!a} is half of a character and cannot be stored"
        raise SaveError.one("YAML", "yaml-characters", message, "take it out", c)
    return f"\\x{code:02x}" if code < 0x100 else (f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}")
