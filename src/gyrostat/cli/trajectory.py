"""Trajectories from CSV files, in blocks: columns ``t``, ``q.<coordinate>``, ``v.<dof>``, ``a.<dof>``, in any order.

Files are hostile input: the length of a line is bounded, every number is looked at, and every complaint has file and
line. A file of any length passes through a bounded amount of memory.
"""

from __future__ import annotations

import csv
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import numpy as np

from gyrostat.errors import LoadError, Problem, clipped, nearest

if TYPE_CHECKING:
    from gyrostat.spec.model import Model

Array = np.ndarray
ROWS = 4096
"""States in one block."""
MAX_LINE = 4 * 2**20
"""Characters that a line may have: room for ten thousand joints."""
MAX_BLOCK = 8 * 2**20
"""Characters in one block."""


@dataclass(frozen=True)
class Block:
    """Some rows: the numbers (n, columns), the line of each in the file, and how many characters they took."""

    values: Array
    lines: list[int]
    size: int


@dataclass(frozen=True)
class Columns:
    """Where the parts of a state stand in a row; None for a part that is not there. ``ignored``: other columns."""

    names: list[str]
    t: int | None
    q: list[int]
    v: list[int] | None
    a: list[int] | None
    ignored: list[str]


def refuse(file: str, line: int, rule: str, message: str, remedy: str) -> LoadError:
    """A complaint about one line."""
    where = f"{file}:{line}" if line else None
    return LoadError([Problem("trajectory" if line else f"trajectory '{file}'", rule, message, remedy, None, where)])


@contextmanager
def opened(path: str) -> Iterator[TextIO]:
    """The file as text; ``-`` is stdin."""
    if path == "-":
        if hasattr(sys.stdin, "reconfigure"):
            sys.stdin.reconfigure(encoding="utf-8", errors="replace")  # type: ignore[union-attr]
        yield sys.stdin
        return
    try:
        file = open(Path(path), encoding="utf-8-sig", errors="replace")  # noqa: SIM115
    except (OSError, ValueError) as error:
        raise _unreadable(path, error) from None
    with file:
        yield file


def _unreadable(name: str, error: Exception) -> LoadError:
    reason = getattr(error, "strerror", None) or str(error)
    return refuse(name, 0, "file", f"cannot be read: {reason}", "check the path and its permissions")


def size_of(file: TextIO) -> int | None:
    """Bytes of a regular file."""
    try:
        return os.fstat(file.fileno()).st_size or None
    except (OSError, ValueError):
        return None


def line_of(file: TextIO, name: str, number: int) -> str:
    """The next line without its end, empty after the last one; one that never ends is refused."""
    try:
        text = file.readline(MAX_LINE + 1)
    except OSError as error:
        raise _unreadable(name, error) from None
    if len(text) > MAX_LINE:
        raise refuse(name, number, "line", f"the line has more than {MAX_LINE} characters", "is this a CSV file?")
    return text


def read_header(file: TextIO, name: str, model: Model) -> Columns:
    """The columns that the first line names."""
    text = line_of(file, name, 1).removeprefix("\ufeff")
    if not text.strip():
        wanted = "the first line names the columns: t, q.joint, v.joint, a.joint"
        raise refuse(name, 1, "header", "the file is empty" if not text else "the first line is empty", wanted)
    try:
        names = [cell.strip() for cell in next(csv.reader([text], strict=True))]
    except csv.Error as error:
        raise refuse(name, 1, "header", f"the names cannot be read: {error}", "separate them by commas") from None
    _expect_distinct(names, name)
    _expect_names(names, name, model, text)
    place = {column: k for k, column in enumerate(names)}
    q = _part(place, "q", model.coordinates, name)
    if q is None:
        hint = f"name them {', '.join(f'q.{c}' for c in model.coordinates[:3])}{', ...' if model.nq > 3 else ''}"
        raise refuse(name, 1, "columns", "there are no columns q.<coordinate>", f"{hint}{_separated(text)}")
    v, a = (_part(place, letter, model.dofs, name) for letter in "va")
    used = {*q, *(v or ()), *(a or ()), place.get("t", -1)}
    ignored = [column for k, column in enumerate(names) if k not in used]
    return Columns(names, place.get("t"), q, v, a, ignored)


def _separated(text: str) -> str:
    return "; columns are separated by commas" if "," not in text and any(c in text for c in ";\t") else ""


def _expect_distinct(names: Sequence[str], file: str) -> None:
    seen: set[str] = set()
    for column in names:
        if column in seen:
            raise refuse(file, 1, "columns", f"the column {clipped(column)} is there twice", "keep one of them")
        seen.add(column)


def _expect_names(names: Sequence[str], file: str, model: Model, text: str) -> None:
    """Columns that look like parts of the state must be some."""
    known = {"q": model.coordinates, "v": model.dofs, "a": model.dofs}
    for column in names:
        letter, dot, rest = column.partition(".")
        if dot and letter in known and rest not in known[letter]:
            hint = nearest(column, [f"{letter}.{n}" for n in known[letter]])
            message = f"'{model.name}' has nothing called {clipped(column)}"
            raise refuse(file, 1, "columns", message, f"{hint}{_separated(text)}")


def _part(place: dict[str, int], letter: str, parts: Sequence[str], file: str) -> list[int] | None:
    """Columns of q, v or a in the model's order: all of them, or None if there is not one."""
    missing = [f"{letter}.{part}" for part in parts if f"{letter}.{part}" not in place]
    if not missing:
        return [place[f"{letter}.{part}"] for part in parts]
    if len(missing) == len(parts):
        return None
    shown = ", ".join(missing[:5]) + (", ..." if len(missing) > 5 else "")
    raise refuse(file, 1, "columns", f"columns are missing: {shown}", f"give all {letter}, or none")


def read_blocks(file: TextIO, name: str, columns: Columns) -> Iterator[Block]:
    """The rows below the header. Empty lines are passed over."""
    number, lines, texts, size = 1, [], [], 0
    while text := line_of(file, name, number + 1):
        number += 1
        size += len(text)
        if text.strip():
            lines.append(number)
            texts.append(text)
        if len(texts) >= ROWS or size > MAX_BLOCK:
            if texts:
                yield Block(_numbers(texts, lines, name, columns.names), lines, size)
            lines, texts, size = [], [], 0
    if texts:
        yield Block(_numbers(texts, lines, name, columns.names), lines, size)


def _numbers(texts: list[str], lines: list[int], file: str, names: Sequence[str]) -> Array:
    """Finite numbers (rows, columns); a complaint names the line and the column."""
    try:
        values = np.loadtxt(texts, delimiter=",", comments=None, ndmin=2, dtype=float)
    except ValueError:
        values = None  # looked at cell by cell
    if values is None or values.shape != (len(texts), len(names)) or not np.isfinite(values).all():
        values = np.array([_row(t, n, file, names) for t, n in zip(texts, lines, strict=True)])
    return values


def _row(text: str, line: int, file: str, names: Sequence[str]) -> list[float]:
    cells = text.rstrip("\r\n").split(",")
    if len(cells) != len(names):
        message = f"there are {len(cells)} numbers, expected {len(names)}"
        raise refuse(
            file, line, "columns", message, f"one for each column of the header, separated by commas{_hint(text)}"
        )
    numbers: list[float] = []
    for cell, name in zip(cells, names, strict=True):
        try:
            value = float(cell)
        except ValueError:
            value = None
        if value is None or "_" in cell:
            raise refuse(file, line, "number", f"{clipped(name)} is {clipped(cell.strip())}, not a number", "write 0.5")
        if not np.isfinite(value):
            raise refuse(file, line, "number", f"{clipped(name)} is {value}, not a finite number", "mend the file")
        numbers.append(value)
    return numbers


def _hint(text: str) -> str:
    return ", not by semicolons" if ";" in text else ""
