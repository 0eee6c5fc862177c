"""Models from files and back."""

from __future__ import annotations

import contextlib
import logging
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from gyrostat.errors import LoadError, Problem, SaveError, SpecError, clipped, nearest
from gyrostat.io.audit import Audit, Policy, from_problems
from gyrostat.io.formats import FOREIGN, READERS, Folders, Options, audit_of, model_of
from gyrostat.io.text_files import read_text, reason, write_text
from gyrostat.io.urdf.write import to_urdf
from gyrostat.io.yaml.write import to_text
from gyrostat.spec.model import Model

_log = logging.getLogger("gyrostat")


def load(
    path: str | os.PathLike[str],
    base: Literal["fixed", "free"] | None = None,
    policy: Policy = "accept",
    roots: Folders = (),
    arguments: Mapping[str, object] | None = None,
    friction: bool = True,
    mimic: bool = True,
    contacts: bool | None = None,
    srdf: str | os.PathLike[str] | None = None,
) -> Model:
    """The model in a file (.yaml, .urdf, .xacro, .sdf, MJCF .xml), checked. ``base`` replaces what the file says about
    the base.

    For URDF, SDF and MJCF: ``policy`` is ``"accept"`` (what can be computed is taken as it stands, and one
    :class:`ModelWarning` counts the errors by rule), ``"strict"`` (every error is refused) or ``"repair"`` (what can be
    mended is, and told). What cannot be computed is refused in any case: NaN, loops of URDF, negative masses.
    ``roots``: folders that hold packages with meshes and included files. ``gs.audit(path)`` lists everything.
    ``arguments``: values for the ``<xacro:arg>`` of a .xacro file, which is expanded first; messages then have lines of
    the expanded document. ``friction=False`` leaves damping and friction out of the dynamics and ``mimic=False`` lets
    followers move by themselves, which is what Pinocchio computes by default. ``gs.load_string`` reads a text instead
    of a file.

    ``contacts=True`` asks for contact of all bodies with each other where they have collision shapes, but those that
    are joined by one joint; ``srdf``: a file that says which of them never touch (``disable_collisions``). Planes of
    MJCF are grounds that bodies touch, unless ``contacts=False``.

    Raises :class:`LoadError` if there is no readable text, :class:`SpecError` with every mistake otherwise.
    """
    place, name = opened(path)
    suffix = place.suffix.lower()
    options = Options(base, policy, roots, arguments, friction, mimic, contacts, srdf).checked(suffix)
    return model_of(read_text(place, name, _language(suffix), _remedy), name, suffix, options)


def audit(
    path: str | os.PathLike[str],
    base: Literal["fixed", "free"] | None = None,
    policy: Policy = "strict",
    roots: Folders = (),
    arguments: Mapping[str, object] | None = None,
    friction: bool = True,
    mimic: bool = True,
    contacts: bool | None = None,
    srdf: str | os.PathLike[str] | None = None,
) -> Audit:
    """Everything that is to be said about a file: errors, warnings, what is ignored, what ``policy`` would repair.

    Mistakes in the file are findings; only a file that cannot be opened raises :class:`LoadError`. Options as for
    ``gs.load``.
    """
    place, name = opened(path)
    suffix = place.suffix.lower()
    options = Options(base, policy, roots, arguments, friction, mimic, contacts, srdf).checked(suffix)
    try:
        text = read_text(place, name, _language(suffix), _remedy)
    except LoadError as error:
        if any(p.rule == "file" for p in error.problems):
            raise
        return from_problems(name, error.problems)
    return audit_of(text, name, suffix, options)


def _language(suffix: str) -> str:
    return "XML" if suffix in FOREIGN else "YAML"


def opened(path: Any) -> tuple[Path, str]:
    """Path and name of a file whose kind can be read."""
    place, name = _path(path, LoadError)
    if looks_like_text(name):
        message = "is the text of a model, not the path of a file"
        raise _failed(
            LoadError, "file", clipped(name, 40), message, "write gs.load_string(text), gs.audit_string(text)"
        )
    if place.suffix.lower() not in (*READERS, *FOREIGN):
        what = f"files of the kind '{place.suffix}' cannot be read"
        with contextlib.suppress(OSError, ValueError):  # as of names that are too long
            what = "is a folder" if place.is_dir() else what
        raise _failed(LoadError, "file-kind", name, what, f"{_known()}, {', '.join(FOREIGN)}")
    return place, name


def save(model: Model, path: str | os.PathLike[str], allow_loss: bool = False) -> tuple[Problem, ...]:
    """Store a model (.yaml, .urdf), checked. The file is complete or untouched: it is written next to its place, then
    moved there.

    Returns what the format cannot say, which the log ``gyrostat`` tells, too: nothing for YAML. URDF that would lose
    coordinates or joints raises :class:`SaveError`, unless ``allow_loss``: such joints are fixed then. Closed loops are
    refused in any case.
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
        write_text(place, text)
    except (OSError, ValueError) as error:
        remedy = "check the folder and its permissions"
        raise _failed(SaveError, "file", name, f"cannot be written: {reason(error)}", remedy) from None
    if lost:
        _log.warning("%s: what this file does not say:\n%s", name, "\n".join(map(str, lost)))
    return lost


def looks_like_text(name: str) -> bool:
    """Whether this is XML or several lines, which no path is."""
    return name.lstrip("\ufeff \t\r\n").startswith("<") or "\n" in name.strip()


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
