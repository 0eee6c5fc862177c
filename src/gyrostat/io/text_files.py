"""Texts from files and into files: bounded, in UTF-8; a file is written completely or left as it was."""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import uuid
from collections.abc import Callable
from pathlib import Path

from gyrostat.errors import LoadError, Problem

MAX_BYTES = 16 * 2**20
"""Size of a text that is read, whatever its language."""


def read_text(place: Path, name: str, language: str, remedy: Callable[[Path], str] | None = None) -> str:
    """The text of a regular file of bounded size, in UTF-8.

    ``name``: that of the file in messages, ``language``: what messages call the text; ``remedy(place)``: what to do
    about a file that cannot be opened.
    """
    try:
        data = _bytes(place, name, language)
    except (OSError, ValueError) as error:
        hint = "check the path" if remedy is None else remedy(place)
        raise unreadable(name, f"cannot be read: {reason(error)}", hint) from None
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        message = f"is not UTF-8 text: byte 0x{data[error.start]:02x} at position {error.start}"
        hint = "save it with the encoding UTF-8"
        problem = Problem(language, f"{language.lower()}-characters", message, hint, None, f"{name}:{line}")
        raise LoadError([problem]) from None


def _bytes(place: Path, name: str, language: str) -> bytes:
    with open(place, "rb", opener=_without_waiting) as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise unreadable(name, "is not a regular file", "give the path of a file")
        if status.st_size > MAX_BYTES:
            raise too_large(name, status.st_size, language)
        data = file.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:  # it grew meanwhile
        raise too_large(name, len(data), language)
    return data


def _without_waiting(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))  # opening a pipe would wait for its other end


def too_large(file: str, size: int, language: str) -> LoadError:
    """The exception for a text of ``size`` bytes."""
    message = f"is {size / 2**20:.1f} MiB long, expected at most {MAX_BYTES // 2**20} MiB"
    hint = "a model is some kilobytes; is this the right file?"
    return LoadError([Problem(language, f"{language.lower()}-size", message, hint, size, file)])


def unreadable(name: str, message: str, remedy: str) -> LoadError:
    """The exception for a file that cannot be opened."""
    return LoadError([Problem(f"file '{name}'", "file", message, remedy, name)])


def reason(error: Exception) -> str:
    """Why the operating system refuses something."""
    return getattr(error, "strerror", None) or str(error)


def write_text(place: Path, text: str) -> None:
    """Store a text in UTF-8: next to its place first, then moved there. A link stays a link."""
    target = Path(os.path.realpath(place))
    draft = target.with_name(f".{uuid.uuid4().hex}.part")
    try:
        with open(draft, "xb") as file:
            file.write(text.encode("utf-8"))
            file.flush()
            os.fsync(file.fileno())
        with contextlib.suppress(FileNotFoundError):
            shutil.copymode(target, draft)
        os.replace(draft, target)
    finally:
        with contextlib.suppress(OSError):
            draft.unlink()
