"""Files that commands write: complete or not at all, and never over another one unless asked."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

from gyrostat.cli.output import MisuseError
from gyrostat.errors import SaveError, SpecError


def may_write(path: Path, force: bool) -> None:
    """Refuse a place that is taken."""
    if path.is_dir():
        raise MisuseError(f"'{path}' is a folder. Hint: give the name of a file")
    if not force and path.is_file():
        raise MisuseError(f"'{path}' exists. Hint: add --force to overwrite it, or choose another name")


def failed(path: Path, error: OSError) -> SpecError:
    """A place that cannot be written."""
    message = f"cannot be written: {error.strerror or error}"
    return SaveError.one(f"file '{path}'", "file", message, "check the folder and its permissions", str(path))


@contextlib.contextmanager
def writing(path: Path | None, force: bool) -> Iterator[TextIO]:
    """A text file to write into; stdout for None. It appears at its place when everything went well."""
    if path is None:
        yield sys.stdout
        return
    may_write(path, force)
    place = Path(os.path.realpath(path))  # a link stays a link
    special = place.exists() and not place.is_file()  # /dev/null, a pipe: nothing to protect
    draft = place if special else place.with_name(f".{uuid.uuid4().hex}.part")
    try:
        file = open(draft, "w" if special else "x", encoding="utf-8", newline="\n")  # noqa: SIM115
    except OSError as error:
        raise failed(path, error) from None
    try:
        with file:
            yield file
        if not special:
            with contextlib.suppress(FileNotFoundError):
                shutil.copymode(place, draft)
            os.replace(draft, place)
    except OSError as error:
        if isinstance(error, BrokenPipeError):
            raise
        raise failed(path, error) from None
    finally:
        if not special:
            with contextlib.suppress(OSError):
                draft.unlink()


def write_text(path: Path | None, text: str, force: bool) -> None:
    """A whole text at once."""
    with writing(path, force) as file:
        file.write(text if text.endswith("\n") else text + "\n")
