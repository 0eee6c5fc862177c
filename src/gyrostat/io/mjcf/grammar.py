"""Tags and attributes that are no MJCF, all of them, with near names; MuJoCo itself names the first one alone."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from gyrostat.errors import near
from gyrostat.io.mjcf.source import MjcfReader
from gyrostat.io.safe_xml import Element

GUESSES = 300
"""How many unknown names are compared with the known ones."""

FREE = ("frame", "replicate", "composite")
"""Tags that MuJoCo's list leaves out; those inside a body may stand in them."""

_ROW = re.compile(r"^( *)([a-z0-9_()]+) \((?:!|\*|\?|R)\) *(.*)$")
Grammar = dict[tuple[str, ...], tuple[set[str], set[str]]]


@cache
def grammar(mujoco: Any) -> Grammar:
    """Path of tags -> (attributes, tags inside), from the table that MuJoCo prints of its own."""
    table: Grammar = {}
    path: list[str] = []
    for row in mujoco.mj_printSchema(False, False).splitlines():
        columns = _ROW.match(row)
        if columns is None:
            if path and row.strip():
                table[tuple(path)][0].update(row.split())
            continue
        depth = len(columns[1]) // 3
        tag = columns[2].removeprefix("(world)")
        path = [*path[:depth], tag]
        table[tuple(path)] = (set(columns[3].split()), set())
        if depth:
            table[tuple(path[:-1])][1].add(tag)
    return table


def find_unknown(reader: MjcfReader, mujoco: Any) -> int:
    """Tell every tag and attribute that is not in the table; how many there were."""
    table, unknown = grammar(mujoco), 0
    stack: list[tuple[Element, tuple[str, ...]]] = [(reader.source.root, ("mujoco",))]
    while stack:
        element, path = stack.pop()
        if path not in table:
            continue
        known, inside = table[path]
        for key in element.attrib:
            if key not in known and element.tag not in FREE:
                unknown += 1
                what = f"attribute '{key}' of <{element.tag}> is unknown"
                reader.error(element, "unknown-attribute", what, "", _hint(key, known, unknown))
        bodily = path == ("mujoco", "body")
        for child in element:
            if child.tag in inside:
                stack.append((child, (*path, child.tag)))
            elif child.tag == "worldbody" and path == ("mujoco",):
                stack.append((child, ("mujoco", "body")))
            elif child.tag in ((*FREE, "body") if bodily else ("default",) if path == ("mujoco", "default") else ()):
                stack.append((child, path))
            else:
                unknown += 1
                names = {*inside, *(("body", *FREE) if bodily else ()), *(("worldbody",) if len(path) == 1 else ())}
                what = f"<{child.tag}> in <{element.tag}> is unknown"
                reader.error(child, "unknown-tag", what, "", _hint(child.tag, names, unknown))
    return unknown


def _hint(name: str, known: set[str], so_far: int) -> str:
    close = near(name.lower(), sorted(known), 2) if so_far <= GUESSES else []
    return f"did you mean '{close[0]}'?" if close else "take it out"
