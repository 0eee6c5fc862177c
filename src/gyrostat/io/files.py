"""Models from files and back."""

from __future__ import annotations

import contextlib
import logging
import os
import shutil
import stat
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from gyrostat.errors import LoadError, Problem, SaveError, SpecError, nearest
from gyrostat.io.audit import POLICIES, Policy
from gyrostat.io.mjcf import from_mjcf
from gyrostat.io.mjcf_xml import is_mjcf
from gyrostat.io.urdf import from_urdf
from gyrostat.io.urdf_write import to_urdf
from gyrostat.io.xacro import EXPANDED, expanded
from gyrostat.io.yaml_model import from_text, to_text
from gyrostat.io.yaml_text import MAX_BYTES, refusal, too_large
from gyrostat.spec.check import check
from gyrostat.spec.model import Model

READERS: dict[str, Callable[[str, str], Model]] = {".yaml": from_text, ".yml": from_text}
"""What can be read, by suffix: text and the file's name in messages -> model."""


XACRO = ".xacro"
FOREIGN = (".urdf", ".xml", ".mjcf", XACRO)
"""Formats of others: the outermost tag says which of them it is. Of these, URDF can be written."""

_log = logging.getLogger("gyrostat")

Folders = Sequence[str | os.PathLike[str]]


def load(
    path: str | os.PathLike[str],
    base: Literal["fixed", "free"] | None = None,
    policy: Policy = "strict",
    roots: Folders = (),
    arguments: Mapping[str, object] | None = None,
    friction: bool = True,
    mimic: bool = True,
) -> Model:
    """The model in a file (.yaml, .urdf, .xacro, MJCF .xml), checked. ``base`` replaces what the file says about the
    base.

    For URDF and MJCF: ``policy`` is ``"strict"`` (errors are refused), ``"repair"`` (what can be mended is, and told)
    or ``"accept"`` (numbers are taken as they are, and what is wrong with them is told); ``roots``: folders that hold
    packages with meshes and included files. ``gs.audit(path)`` lists everything. ``arguments``: values for the
    ``<xacro:arg>`` of a .xacro file, which is expanded first; messages then have lines of the expanded document.
    ``friction=False`` leaves damping and friction out of the dynamics and ``mimic=False`` lets followers move by
    themselves, which is what Pinocchio computes by default.

    Raises :class:`LoadError` if there is no readable text, :class:`SpecError` with every mistake otherwise.
    """
    place, name = opened(path)
    checked_options(place, base, policy, roots)
    if arguments and place.suffix.lower() != XACRO:
        message, remedy = "arguments are for .xacro files", "leave them out"
        raise SpecError.one("load", "property-value", message, remedy, arguments)
    if place.suffix.lower() not in FOREIGN and not (friction and mimic):
        message, remedy = "friction and mimic are for URDF and MJCF files", "leave them out"
        raise SpecError.one("load", "property-value", message, remedy, (friction, mimic))
    if place.suffix.lower() in FOREIGN:
        text, name = foreign_text(place, name, arguments, roots)
        if is_mjcf(text, name):
            return from_mjcf(text, name, base, policy, roots, friction, mimic)
        return from_urdf(text, name, base or "fixed", policy, roots, friction, mimic)
    model = READERS[place.suffix.lower()](text_of(place, name), name)
    if base is not None:
        model = model.replace({"context.base": base})
        check(model)
    return model


def foreign_text(
    place: Path, name: str, arguments: Mapping[str, object] | None = None, roots: Folders = ()
) -> tuple[str, str]:
    """The text of a URDF or MJCF file, xacro expanded, and how messages call it."""
    text = text_of(place, name, "XML")
    if place.suffix.lower() != XACRO:
        return text, name
    return expanded(text, name, arguments, roots), f"{name}{EXPANDED}"


def opened(path: Any) -> tuple[Path, str]:
    """Path and name of a file whose kind can be read."""
    place, name = _path(path, LoadError)
    if place.suffix.lower() not in (*READERS, *FOREIGN):
        what = "is a folder" if place.is_dir() else f"files of the kind '{place.suffix}' cannot be read"
        raise _failed(LoadError, "file-kind", name, what, f"{_known()}, {', '.join(FOREIGN)}")
    return place, name


def checked_options(place: Path, base: object, policy: object, roots: object) -> None:
    """Refuse options that mean nothing."""

    def refuse(name: str, message: str, remedy: str, value: object) -> None:
        raise SpecError.one("load", "property-value", f"{name} {message}", remedy, value)

    if base not in (None, "fixed", "free"):
        message = f"must be 'fixed', 'free' or None, got {base!r}"
        refuse("base", message, "leave it out to take what the file says", base)
    if policy not in POLICIES:
        refuse(
            "policy", f"must be one of {', '.join(POLICIES)}, got {policy!r}", nearest(str(policy), POLICIES), policy
        )
    if not isinstance(roots, list | tuple) or not all(isinstance(r, str | os.PathLike) for r in roots):
        refuse("roots", f"must be a list of folders, got {roots!r}", "write roots=['folder']", roots)
    if place.suffix.lower() not in FOREIGN and (policy != "strict" or roots):
        refuse("policy and roots", "are for URDF and MJCF files", "leave them out", policy)


def save(model: Model, path: str | os.PathLike[str], allow_loss: bool = False) -> tuple[Problem, ...]:
    """Store a model (.yaml, .urdf), checked. The file is complete or untouched: it is written next to its place, then
    moved there.

    Returns what the format cannot say, which the log ``gyrostat`` tells, too: nothing for YAML. URDF that would lose
    coordinates or joints raises :class:`SaveError`, unless ``allow_loss``: such joints are fixed then.
    """
    place, name = _path(path, SaveError)
    lost: tuple[Problem, ...] = ()
    if place.suffix.lower() == ".urdf":
        text, lost = to_urdf(model, place, allow_loss)
    elif place.suffix.lower() in READERS:
        text = to_text(model)
    else:
        remedy = f"{_known()}, .urdf"
        raise _failed(SaveError, "file-kind", name, f"files of the kind '{place.suffix}' cannot be written", remedy)
    try:
        _write(Path(os.path.realpath(place)), text.encode("utf-8"))  # a link stays a link
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        remedy = "check the folder and its permissions"
        raise _failed(SaveError, "file", name, f"cannot be written: {reason}", remedy) from None
    if lost:
        _log.warning("%s: what this file does not say:\n%s", name, "\n".join(map(str, lost)))
    return lost


def _write(place: Path, data: bytes) -> None:
    draft = place.with_name(f".{uuid.uuid4().hex}.part")
    try:
        with open(draft, "xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        with contextlib.suppress(FileNotFoundError):
            shutil.copymode(place, draft)
        os.replace(draft, place)
    finally:
        with contextlib.suppress(OSError):
            draft.unlink()


def _path(path: Any, kind: type[SpecError]) -> tuple[Path, str]:
    try:
        name = os.fsdecode(path)
    except TypeError:
        raise _failed(kind, "file", repr(path), "is not a path", "give a text or a pathlib.Path") from None
    return Path(name), name


def _failed(kind: type[SpecError], rule: str, name: str, message: str, remedy: str) -> SpecError:
    return kind([Problem(f"file '{name}'", rule, message, remedy, name)])


def _known() -> str:
    return f"use a file with one of {', '.join(READERS)}"


def text_of(place: Path, name: str, language: str = "YAML") -> str:
    """The text of a regular file of bounded size, in UTF-8; ``language``: what messages call it."""
    try:
        return _text(place, name)
    except LoadError as error:
        raise LoadError(
            replace(p, entity=language, rule=p.rule.replace("yaml", language.lower())) if p.entity == "YAML" else p
            for p in error.problems
        ) from None


def _text(place: Path, name: str) -> str:
    """The text of a regular file of bounded size, in UTF-8."""
    try:
        with open(place, "rb", opener=_without_waiting) as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise _failed(LoadError, "file", name, "is not a regular file", "give the path of a file")
            if status.st_size > MAX_BYTES:
                raise too_large(name, status.st_size)
            data = file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise _failed(LoadError, "file", name, f"cannot be read: {reason}", _remedy(place)) from None
    if len(data) > MAX_BYTES:  # it grew meanwhile
        raise too_large(name, len(data))
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        message = f"is not UTF-8 text: byte 0x{data[error.start]:02x} at position {error.start}"
        raise refusal(name, line, "yaml-characters", message, "save it with the encoding UTF-8") from None


def _without_waiting(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))  # opening a pipe would wait for its other end


def _remedy(place: Path) -> str:
    """The files of the same kind that are there."""
    with contextlib.suppress(OSError, ValueError):
        if place.is_dir():
            return "give a file in this folder"
        if not place.parent.is_dir():
            return f"there is no folder '{place.parent}'"
        there = sorted(p.name for p in place.parent.iterdir() if p.suffix.lower() in (*READERS, *FOREIGN))
        if there:
            return nearest(place.name, there)
    return "check the path"
