"""MuJoCo reads and compiles what is left of a file; its messages become findings.

Nothing is opened by MuJoCo: included files are in the text, meshes that inertias depend on are handed over as bytes,
all others are replaced by spheres. Contact is switched off, so that no convex hulls are made.
"""

from __future__ import annotations

import os
import re
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gyrostat.errors import LoadError, Problem
from gyrostat.io.mesh_paths import Roots
from gyrostat.io.mjcf.grammar import find_unknown
from gyrostat.io.mjcf.source import MjcfReader, attributes
from gyrostat.io.xml import Element

MAX_MESH = 64 * 2**20
"""Bytes of a mesh that is read for its inertia."""

OLDEST = (3, 3, 7)
"""Version of MuJoCo whose MjSpec has what is used here."""

FORMATS = (".stl", ".obj", ".msh")

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


@dataclass
class Compiled:
    """``spec``: as written, defaults filled in; ``model``: as compiled. ``meshes``: name -> file as in the MJCF."""

    mujoco: Any
    spec: Any
    model: Any
    meshes: dict[str, MeshFile] = field(default_factory=dict)
    left_out: dict[int, str] = field(default_factory=dict)  # geoms that are spheres now, and the mesh they were
    bodies: list[int] = field(default_factory=list)  # numbers of the bodies in the order of ``spec.bodies``
    elements: dict[str, list[Element]] = field(default_factory=dict)  # "body", "joint", "geom", "site" -> by number


@dataclass
class MeshFile:
    """A mesh and where it is; ``path`` is None if it is not to be had."""

    name: str
    file: str
    path: Path | None
    why: str
    element: Element
    scale: tuple[float, ...] = (1.0, 1.0, 1.0)
    refpos: tuple[float, ...] = (0.0, 0.0, 0.0)
    refquat: tuple[float, ...] = (1.0, 0.0, 0.0, 0.0)  # w x y z


def collect_meshes(reader: MjcfReader, roots: Roots, folder: str, bare: bool) -> dict[str, MeshFile]:
    """The meshes of the file by name; their elements get names of their own as files. ``bare``: without their paths."""
    found: dict[str, MeshFile] = {}
    for k, element in enumerate(reader.source.root.iterfind("asset/mesh")):
        file = element.get("file")
        if file is None:
            continue
        name = element.get("name") or Path(file).stem
        file = Path(file).name if bare else file
        whole = not folder or "://" in file or os.path.isabs(file) or file[1:2] == ":"
        path, why = roots.resolve(file if whole else f"{folder}/{file}")
        if path is not None and path.suffix.lower() not in FORMATS:
            path, why = None, f"is of a kind that is not read ({', '.join(FORMATS)} are)"
        if path is None and "refused" in why:
            fix = "keep meshes in the folder of the model, or name theirs in roots=[...]"
            reader.warn(element, "mesh-path", f"the mesh {why}", repr(file), fix)
        element.set("name", name)
        element.attrib.pop("content_type", None)
        element.set("file", f"gyrostat-mesh-{k}{path.suffix.lower() if path else '.stl'}")
        found[name] = MeshFile(name, file, path, why, element)
    return found


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
    _warned(reader, told)
    return spec


def refused(reader: MjcfReader, error: Exception, meshes: dict[str, MeshFile] | None = None) -> None:
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
    reader.error(element, rule, f"MuJoCo refuses it: {what}" if rule == "mujoco" else what, attributes(element), fix)


def _warned(reader: MjcfReader, told: list[Any]) -> None:
    for warning in told:
        what = "MuJoCo warns: " + " ".join(str(warning.message).split())
        if not any(f.what == what for f in reader.notes.findings):
            reader.warn(reader.source.root, "mujoco", what)


def elements_of(reader: MjcfReader, items: Any) -> list[Element]:
    """The element of each of MuJoCo's items."""
    found: list[Element] = []
    for item in items:
        line = _LINE.search(item.info or "")
        found.append(reader.source.at(int(line[1])) if line else reader.source.root)
    return found


def compile_spec(reader: MjcfReader, mujoco: Any, meshes: dict[str, MeshFile], edit: Any) -> Compiled | None:
    """The compiled model; ``edit(spec)`` may change numbers of the specification before."""
    dropped = frozenset(("tendon", "actuator", "equality", "deformable"))
    spec = parse_spec(reader, mujoco, reader.source.text(dropped))
    if spec is None:
        return None
    done = Compiled(mujoco, spec, None, meshes)
    assets = _assets(reader, done)
    if reader.notes.fatal:
        return None
    edit(spec)
    spec.assets = assets
    try:
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            done.model = spec.compile()
    except (ValueError, RuntimeError, mujoco.FatalError) as error:
        refused(reader, error, meshes)
        return None
    _warned(reader, told)
    _number(reader, done)
    return done


def _number(reader: MjcfReader, done: Compiled) -> None:
    """From places in lists to the numbers that things have in the compiled model."""
    spec = done.spec
    for sort, items in (("body", spec.bodies), ("joint", spec.joints), ("geom", spec.geoms), ("site", spec.sites)):
        by_number = dict(zip([item.id for item in items], elements_of(reader, items), strict=True))
        done.elements[sort] = [by_number[k] for k in range(len(by_number))]
    geoms = [geom.id for geom in spec.geoms]
    done.left_out = {geoms[k]: name for k, name in done.left_out.items()}
    done.bodies = [body.id for body in spec.bodies]


def _assets(reader: MjcfReader, done: Compiled) -> dict[str, bytes]:
    """The meshes that inertias depend on; every other mesh geom becomes a sphere, every other mesh is taken out."""
    kinds, spec = done.mujoco.mjtGeom, done.spec
    always = spec.compiler.inertiafromgeom == done.mujoco.mjtInertiaFromGeom.mjINERTIAFROMGEOM_TRUE
    never = spec.compiler.inertiafromgeom == done.mujoco.mjtInertiaFromGeom.mjINERTIAFROMGEOM_FALSE
    used: dict[str, bytes] = {}
    for k, geom in enumerate(spec.geoms):
        geom.contype, geom.conaffinity = 0, 0
        if not geom.meshname and geom.type != kinds.mjGEOM_HFIELD:
            continue
        body = geom.parent
        light = geom.mass == 0.0 or geom.density == 0.0 or body.name == "world"
        needed = geom.meshname and not light and not never and (always or not body.explicitinertial)
        mesh = done.meshes.get(geom.meshname)
        wanted = geom.meshname and (needed or geom.type != kinds.mjGEOM_MESH)
        if wanted and _fetch(reader, mesh, used, bool(needed)):
            continue
        done.left_out[k] = geom.meshname
        geom.meshname, geom.hfieldname, geom.type = "", "", kinds.mjGEOM_SPHERE
        geom.size, geom.fromto = [0.01, 0.0, 0.0], [float("nan")] * 6
        if not needed:
            geom.mass = 0.0
    names = {geom.meshname for geom in spec.geoms}
    for mesh in list(spec.meshes):
        file = done.meshes.get(mesh.name)
        if file is not None:
            file.scale, file.refpos, file.refquat = tuple(mesh.scale), tuple(mesh.refpos), tuple(mesh.refquat)
        if mesh.name not in names:
            spec.delete(mesh)
    return used


def _fetch(reader: MjcfReader, mesh: MeshFile | None, used: dict[str, bytes], needed: bool) -> bool:
    """Read the file of a mesh; False if there is none."""
    if mesh is None:  # it is written out in the MJCF, or MuJoCo will say that there is none
        return True
    key = mesh.element.get("file")
    if key in used:
        return True
    why, data = mesh.why, b""
    if mesh.path is not None:
        try:
            with open(mesh.path, "rb") as file:
                data = file.read(MAX_MESH + 1)
            why = f"is larger than {MAX_MESH // 2**20} MiB" if len(data) > MAX_MESH else ""
        except OSError as error:
            why = f"cannot be read: {error.strerror}"
    if not why:
        used[key] = data
        return True
    if needed:
        what = f"the inertia of a body depends on this mesh, which {why}"
        fix = "write <inertial> in the body, or put the file there"
        reader.error(mesh.element, "mesh-missing", what, repr(mesh.file), fix)
    return False
