"""MuJoCo reads what is left of a file: it fills in what ``<default>``, classes and ``<compiler>`` say; its messages
become findings. What it made is an ``MjSpec``."""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping
from typing import Any

from gyrostat.errors import LoadError, Problem
from gyrostat.io.mjcf.grammar import find_unknown
from gyrostat.io.mjcf.meshes import MeshFile
from gyrostat.io.mjcf.source import MjcfReader
from gyrostat.io.safe_xml import Element
from gyrostat.io.xml_elements import shown

OLDEST = (3, 3, 7)
"""Version of MuJoCo whose MjSpec has what is used here."""

_LINE = re.compile(r"\bline (\d+)")


def load_mujoco() -> Any:
    """The package, or one sentence."""
    try:
        import mujoco
    except ImportError:
        raise _lacking("MJCF files are read through MuJoCo, which is not installed", "pip install mujoco") from None
    version = tuple(int(part) for part in re.findall(r"\d+", mujoco.__version__)[:3])
    if version < OLDEST:
        wanted = ".".join(map(str, OLDEST))
        message = f"MJCF files need MuJoCo {wanted} or later, {mujoco.__version__} is installed"
        raise _lacking(message, "pip install --upgrade mujoco")
    return mujoco


def _lacking(message: str, remedy: str) -> LoadError:
    return LoadError([Problem("MJCF", "missing-package", message, remedy)])


def parse_spec(reader: MjcfReader, mujoco: Any, text: str) -> Any | None:
    """MuJoCo's specification of a text; None, and findings, if it refuses it."""
    try:
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            spec = mujoco.MjSpec.from_string(text)
    except (ValueError, RuntimeError, mujoco.FatalError) as error:
        if "Schema violation" not in str(error) or not find_unknown(reader, mujoco):
            refused(reader, error)
        return None
    pass_on(reader, told)
    return spec


def refused(reader: MjcfReader, error: Exception, meshes: Mapping[str, MeshFile] | None = None) -> None:
    """MuJoCo's own words, at the element that they are about."""
    message = str(error).strip()
    line = _LINE.search(message)
    element = reader.source.at(int(line[1])) if line else reader.source.root
    for mesh in (meshes or {}).values():
        if mesh.element.get("file") in message:
            message, element = message.replace(mesh.element.get("file"), mesh.file), mesh.element
    what = message.splitlines()[0].removeprefix("XML Error: ").removeprefix("Error: ").strip()
    rule = "moving-massless" if "mass and inertia of moving bodies" in what else "mujoco"
    if rule == "moving-massless":
        what = "moves, but it has no mass or no inertia, nor has anything that is fixed to it"
    fix = "add <inertial> or geoms with mass" if rule == "moving-massless" else "see MuJoCo's XML reference"
    reader.error(element, rule, f"MuJoCo refuses it: {what}" if rule == "mujoco" else what, shown(element), fix)


def pass_on(reader: MjcfReader, told: list[Any]) -> None:
    """MuJoCo's warnings as findings, each once."""
    for warning in told:
        what = "MuJoCo warns: " + " ".join(str(warning.message).split())
        if not any(f.what == what for f in reader.notes.findings):
            reader.warn(reader.source.root, "mujoco", what)


def elements_of(reader: MjcfReader, items: Any) -> list[Element]:
    """The element of each of MuJoCo's items."""
    elements: list[Element] = []
    for item in items:
        line = _LINE.search(item.info or "")
        elements.append(reader.source.at(int(line[1])) if line else reader.source.root)
    return elements
