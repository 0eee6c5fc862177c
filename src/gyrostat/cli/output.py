"""What commands print: results on stdout, everything else on stderr; tables, trees and colours on a terminal only."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from gyrostat.errors import GyrostatError


class MisuseError(GyrostatError):
    """The command was called in a way that means nothing; the files may be fine."""


def safe(text: str) -> str:
    """The text with control characters spelt out: names in files cannot steer the terminal.

    >>> safe("a\\x1b[31mb")
    'a\\\\x1b[31mb'
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in "\n\t" else c.encode("unicode_escape").decode("ascii") for c in text)


def shortened(text: str, limit: int) -> str:
    """At most so many characters."""
    return text if len(text) <= limit else f"{text[: limit - 4]} ..."


def complain(text: str) -> None:
    """A mistake, on stderr."""
    print(f"gyrostat: {safe(text)}", file=sys.stderr)


def note(text: str, quiet: bool = False) -> None:
    """A remark about what was done, on stderr."""
    if not quiet:
        print(safe(text), file=sys.stderr)


def say(text: str = "") -> None:
    """A line of the result."""
    print(safe(text))


def show_json(value: Any) -> None:
    """The whole result for other programs; infinities and NaN are not JSON, and never printed."""
    print(json.dumps(value, indent=2, allow_nan=False))


def on_terminal() -> bool:
    """Whether somebody looks at stdout."""
    return sys.stdout.isatty()


def painted(text: str, style: str) -> None:
    """A line of the result, in a colour where there are colours."""
    if not on_terminal():
        say(text)
        return
    from rich.console import Console
    from rich.text import Text

    Console(highlight=False, soft_wrap=True).print(Text(safe(text), style=style))


def show_table(title: str, head: Sequence[str], rows: Iterable[Sequence[str]], right: Iterable[int] = ()) -> None:
    """A table; ``right``: columns of numbers. In a pipe: columns that line up, separated by two blanks or more."""
    lines = [[safe(cell) for cell in row] for row in rows]
    numbers = set(right)
    widths = [max(len(row[k]) for row in [list(head), *lines]) for k in range(len(head))]
    if on_terminal() and _rich_table(title, head, lines, numbers, sum(w + 3 for w in widths[:-1])):
        return
    if title:
        say(title)
    for row in [list(head), ["-" * w for w in widths], *lines]:
        cells = [c.rjust(w) if k in numbers else c.ljust(w) for k, (c, w) in enumerate(zip(row, widths, strict=True))]
        say("  ".join(cells).rstrip())


NARROW = 24
"""Characters that the last column of a table with lines has at least; a terminal without room gets no lines."""


def _rich_table(title: str, head: Sequence[str], rows: list[list[str]], right: set[int], before: int) -> bool:
    """A table with lines, whose last column may be wrapped, if the terminal is wide enough; says whether it was."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(highlight=False)
    if before + NARROW > console.width:
        return False
    table = Table(title=Text(title, style="bold") if title else None, title_justify="left")
    for k, name in enumerate(head):
        table.add_column(Text(name), justify="right" if k in right else "left", no_wrap=k < len(head) - 1)
    for row in rows:
        table.add_row(*map(Text, row))
    console.print(table)
    return True


DEEPEST = 40
"""Levels of branches after which a tree is no longer indented further."""


def show_tree(root: str, children: Mapping[str, Sequence[str]], label: Mapping[str, str]) -> None:
    """Who hangs on whom; ``label``: how each is written. What hangs on each other one by one stands in one line."""
    fork, last, bar, gap = ("├─ ", "└─ ", "│  ", "   ") if on_terminal() else ("  ", "  ", "  ", "  ")
    stack = [(root, "", "", 0)]
    while stack:
        name, first, rest, depth = stack.pop()
        row = [label[name]]
        while len(children.get(name, ())) == 1:
            (name,) = children[name]
            row.append(label[name])
        say(first + " - ".join(row))
        below = children.get(name, ())
        for k in range(len(below) - 1, -1, -1):
            at_end = k == len(below) - 1
            deeper = rest + (gap if at_end else bar) if depth < DEEPEST else rest
            stack.append((below[k], rest + (last if at_end else fork), deeper, depth + 1))
