"""The meshes of an MJCF: where they are, and which of them inertias depend on. MuJoCo gets those as bytes."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gyrostat.io.mesh_paths import Roots
from gyrostat.io.mjcf.source import MjcfReader
from gyrostat.io.safe_xml import Element

MAX_MESH = 64 * 2**20
"""Bytes of a mesh that is read for its inertia."""

FORMATS = (".stl", ".obj", ".msh")


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
    meshes: dict[str, MeshFile] = {}
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
        meshes[name] = MeshFile(name, file, path, why, element)
    return meshes


def read_meshes(
    reader: MjcfReader, mujoco: Any, spec: Any, meshes: Mapping[str, MeshFile]
) -> tuple[dict[str, bytes], dict[int, str]]:
    """The meshes that inertias depend on, by file; every other mesh geom becomes a sphere, every other mesh is taken
    out. And the spheres: place among the geoms -> the mesh they were."""
    data: dict[str, bytes] = {}
    spheres: dict[int, str] = {}
    for k, geom in enumerate(spec.geoms):
        geom.contype, geom.conaffinity = 0, 0
        if not geom.meshname and geom.type != mujoco.mjtGeom.mjGEOM_HFIELD:
            continue
        needed = _needed(mujoco, spec, geom)
        wanted = geom.meshname and (needed or geom.type != mujoco.mjtGeom.mjGEOM_MESH)
        if wanted and _fetch(reader, meshes.get(geom.meshname), data, needed):
            continue
        spheres[k] = geom.meshname
        geom.meshname, geom.hfieldname, geom.type = "", "", mujoco.mjtGeom.mjGEOM_SPHERE
        geom.size, geom.fromto = [0.01, 0.0, 0.0], [float("nan")] * 6
        if not needed:
            geom.mass = 0.0
    _take_out(spec, meshes)
    return data, spheres


def _needed(mujoco: Any, spec: Any, geom: Any) -> bool:
    """Whether the inertia of the body depends on the mesh of a geom."""
    sources, chosen = mujoco.mjtInertiaFromGeom, spec.compiler.inertiafromgeom
    light = geom.mass == 0.0 or geom.density == 0.0 or geom.parent.name == "world"
    if not geom.meshname or light or chosen == sources.mjINERTIAFROMGEOM_FALSE:
        return False
    return bool(chosen == sources.mjINERTIAFROMGEOM_TRUE or not geom.parent.explicitinertial)


def _take_out(spec: Any, meshes: Mapping[str, MeshFile]) -> None:
    """Meshes that no geom has any more; what the file says about their place is kept."""
    names = {geom.meshname for geom in spec.geoms}
    for mesh in list(spec.meshes):
        file = meshes.get(mesh.name)
        if file is not None:
            file.scale, file.refpos, file.refquat = tuple(mesh.scale), tuple(mesh.refpos), tuple(mesh.refquat)
        if mesh.name not in names:
            spec.delete(mesh)


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
