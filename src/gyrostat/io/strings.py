"""Models from texts that are in no file, such as the ``robot_description`` of ROS."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import PurePath
from typing import Any, Literal

from gyrostat.errors import LoadError, Problem, SpecError, clipped, nearest
from gyrostat.io.audit import Audit, Policy
from gyrostat.io.files import looks_like_text
from gyrostat.io.formats import FOREIGN, READERS, Folders, Options, audit_of, is_mjcf, model_of, outermost
from gyrostat.io.mesh_paths import TEXT
from gyrostat.spec.model import Model

Format = Literal["urdf", "sdf", "mjcf", "xacro", "yaml"]
SUFFIXES = {"urdf": ".urdf", "sdf": ".sdf", "mjcf": ".xml", "xacro": ".xacro", "yaml": ".yaml"}

_MARKUP = re.compile(r"<!--.*?(?:-->|\Z)|<\?.*?(?:\?>|\Z)", re.DOTALL)
_OF_XACRO = re.compile(r"<xacro:|\$\{")


def load_string(
    text: str,
    format: Format | None = None,
    base: Literal["fixed", "free"] | None = None,
    policy: Policy = "accept",
    folder: str | os.PathLike[str] | None = None,
    roots: Folders = (),
    arguments: Mapping[str, object] | None = None,
    friction: bool = True,
    mimic: bool = True,
    contacts: bool | None = None,
    srdf: str | os.PathLike[str] | None = None,
) -> Model:
    """The model in a text: URDF (the ``robot_description`` of ROS), SDF, MJCF, xacro or YAML; ``format=None`` guesses.

    ``folder``: where relative names of meshes and included files are looked for; nothing outside it and ``roots`` is
    opened. Without either, meshes are mere references, and nothing can be included. Messages call the text
    ``<text>.urdf``. Everything else as in ``gs.load``.
    """
    text, name, suffix = _source(text, format, folder)
    options = Options(base, policy, roots, arguments, friction, mimic, contacts, srdf).checked(suffix)
    return model_of(text, name, suffix, options, lister="gs.audit_string(text)")


def audit_string(
    text: str,
    format: Format | None = None,
    base: Literal["fixed", "free"] | None = None,
    policy: Policy = "strict",
    folder: str | os.PathLike[str] | None = None,
    roots: Folders = (),
    arguments: Mapping[str, object] | None = None,
    friction: bool = True,
    mimic: bool = True,
    contacts: bool | None = None,
    srdf: str | os.PathLike[str] | None = None,
) -> Audit:
    """Everything that is to be said about a text, as ``gs.audit`` says it about a file; options of ``load_string``."""
    text, name, suffix = _source(text, format, folder)
    return audit_of(
        text, name, suffix, Options(base, policy, roots, arguments, friction, mimic, contacts, srdf).checked(suffix)
    )


def _source(text: Any, format: Any, folder: Any) -> tuple[str, str, str]:
    """The text, what messages call it, and the suffix of its format."""
    if not isinstance(text, str):
        remedy = "write text.decode('utf-8')" if isinstance(text, bytes) else "give a str; gs.load(path) reads a file"
        raise _failed("text", f"the model must be a text, got {clipped(text)}", remedy)
    suffix = PurePath(text[-40:]).suffix.lower()
    if not looks_like_text(text) and suffix in (*READERS, *FOREIGN):
        raise _failed("text", f"{clipped(text)} is the path of a file, not the text of a model", "write gs.load(path)")
    if format is not None and format not in SUFFIXES:
        message = f"format must be one of {', '.join(SUFFIXES)} or None, got {clipped(format)}"
        raise SpecError.one("load_string", "property-value", message, nearest(str(format), SUFFIXES), format)
    text = text.removeprefix("\ufeff")
    suffix = SUFFIXES[format or guess(text)]
    if folder is None:
        return text, f"{TEXT}{suffix}", suffix
    try:
        place = os.path.abspath(os.fsdecode(folder))
    except (TypeError, ValueError):
        place = ""
    if not os.path.isdir(place):
        raise _failed("folder", f"there is no folder {clipped(folder)}", "give the folder of meshes and included files")
    return text, os.path.join(place, f"{TEXT}{suffix}"), suffix


def guess(text: str) -> Format:
    """The format of a text: by its outermost tag, by tags and expressions of xacro, otherwise YAML."""
    if not text.lstrip().startswith("<"):
        return "yaml"
    if outermost(text) == "sdf":
        return "sdf"
    if is_mjcf(text, ".urdf"):
        return "mjcf"
    return "xacro" if _OF_XACRO.search(_MARKUP.sub("", text)) else "urdf"


def _failed(rule: str, message: str, remedy: str) -> LoadError:
    return LoadError([Problem("load_string", rule, message, remedy)])
