"""MJCF: a file of MuJoCo to a model, with an audit of everything in it.

MuJoCo itself reads and compiles the file (angles, defaults, inertias of geoms), after it has been looked through and
stripped of everything that could open files; bodies, joints, inertias, sites and shapes are taken from what it made.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gyrostat.errors import Problem, nearest
from gyrostat.io.audit import Audit, Finding, Notes
from gyrostat.io.mesh_paths import Roots
from gyrostat.io.mjcf.actuators import effort_limits, read_actuators
from gyrostat.io.mjcf.build import FRAME, FREE, Parts
from gyrostat.io.mjcf.compile import compile_spec
from gyrostat.io.mjcf.contacts import Contacts, check_contact, geom_contacts
from gyrostat.io.mjcf.defaults import elements_of, load_mujoco, parse_spec
from gyrostat.io.mjcf.drives import Drives
from gyrostat.io.mjcf.equalities import Equalities, fixed_tendons, held, used
from gyrostat.io.mjcf.height_fields import FieldAsset, take_height_fields
from gyrostat.io.mjcf.includes import Includes
from gyrostat.io.mjcf.inertias import check_inertias, give_inertias
from gyrostat.io.mjcf.meshes import MeshFile, collect_meshes
from gyrostat.io.mjcf.missing_forces import check_compensation, check_options, check_tendons
from gyrostat.io.mjcf.sensors import add_sensors
from gyrostat.io.mjcf.source import MjcfReader, Source, open_source
from gyrostat.io.mjcf.strip import refuse_foreign, strip, take_sensors
from gyrostat.io.safe_xml import Element, short
from gyrostat.spec.check import problems
from gyrostat.spec.context import Context
from gyrostat.spec.model import Model

Folders = Sequence[str | os.PathLike[str]]


def read_mjcf(
    text: str,
    file: str = "<text>",
    base: str | None = None,
    policy: str = "strict",
    roots: Folders = (),
    friction: bool = True,
    mimic: bool = True,
    contacts: bool | None = None,
) -> tuple[Model | None, Audit]:
    """The model in an MJCF text, None if ``policy`` refuses it, and everything that is to be said about the text.

    ``file``: name of the file in messages; other files are looked for in its folder and in ``roots`` alone.
    ``base``: None as the file says; ``"fixed"`` leaves free joints out; ``"free"`` lets the world of a file without
    free joints move. ``friction=False`` leaves damping and friction out, ``mimic=False`` couplings of joints.
    ``contacts``: None for planes and the pairs of the file, True also for all geoms with each other, False for none.
    :class:`LoadError` if it is no XML.
    """
    notes = Notes(file, policy)
    reader = MjcfReader(notes, [])
    reader.source = open_source(text, file)
    off = (set() if friction else {"damper", "frictionloss"}) | (set() if mimic else {"equality"})
    model = _model(reader, file, base, Roots.of(Path(file), roots), off, contacts)
    return (None if notes.refused else model), notes.audit()


def _model(
    reader: MjcfReader, file: str, base: str | None, roots: Roots, off: set[str], contacts: bool | None
) -> Model | None:
    prepared = _prepared(reader, file, roots)
    if prepared is None:
        return None
    meshes, sensors, fields = prepared
    mujoco, source = load_mujoco(), reader.source
    spec = parse_spec(reader, mujoco, source.text())
    if spec is None:
        return None
    check_options(reader, spec)
    check_contact(reader, mujoco, spec, contacts)
    touching = geom_contacts(reader, mujoco, spec) if contacts is not False else []
    check_tendons(reader, spec)
    check_compensation(reader, spec)
    changed = check_inertias(reader, mujoco, spec)
    actuators = read_actuators(reader, mujoco, spec)
    ties = list(zip(spec.equalities, elements_of(reader, spec.equalities), strict=True))
    done = compile_spec(reader, mujoco, meshes, lambda compiled: give_inertias(compiled, changed), touching)
    if done is None:
        return None
    done.fields = fields
    by_number = {done.bodies[k]: inertial for k, inertial in changed.items()}
    off = off | _switched_off(mujoco, spec)
    ties = used(reader, done, ties, "equality" in off)
    parts = Parts(reader, done, base, by_number, effort_limits(done.model, actuators), held(done, ties))
    parts.build()
    Contacts(parts, spec, contacts).add()
    Drives(parts, actuators, off).add()
    equalities = Equalities(parts, fixed_tendons(source.root))
    equalities.add(ties)
    add_sensors(parts, sensors)
    floats = base == "free" and not (done.model.jnt_type == FREE).any()
    told = equalities.reference()
    about_loops = {"reference": told} if told else {}
    context = Context(gravity=_gravity(mujoco, spec), base="free" if floats else "fixed", **about_loops)
    title = source.root.get("model") or Path(file).stem
    name = title if title.isprintable() and title else "robot"
    model = Model(name, tuple(parts.entities), tuple(parts.connections), context, parts.sources)
    for problem in problems(model):  # what these rules have not seen
        reader.notes.add(_left(problem, file))
    return model


def _prepared(
    reader: MjcfReader, file: str, roots: Roots
) -> tuple[dict[str, MeshFile], list[Element], dict[str, FieldAsset | None]] | None:
    """Make the tree what MuJoCo may see; meshes, sensors and height fields of the file, None if there is no way on."""
    root = reader.source.root
    if root.tag != "mujoco":
        what, tag = "the outermost tag must be <mujoco>, or <robot> for URDF", short(root.tag)
        reader.error(root, "root-tag", what, f"<{tag}>", nearest(tag, ["mujoco", "robot"]))
        return None
    Includes(reader, roots, file).expand()
    folder, bare = _mesh_folder(root)
    refuse_foreign(reader, root)
    sensors = take_sensors(reader)
    fields = take_height_fields(reader, load_mujoco(), roots, folder, bare)
    strip(reader)
    if reader.notes.fatal:
        return None
    _name_frames(reader.source)
    return collect_meshes(reader, roots, folder, bare), sensors, fields


def _mesh_folder(root: Any) -> tuple[str, bool]:
    """Where meshes are, relative to the file, and whether paths in their names do not count: <compiler> says it."""
    folder, bare = "", False
    for compiler in root.iterchildren("compiler"):
        folder = compiler.get("meshdir") or compiler.get("assetdir") or folder
        bare = compiler.get("strippath", "true" if bare else "false") == "true"
    return folder, bare


def _name_frames(source: Source) -> None:
    """A site in every named <frame>: frames do not outlive MuJoCo's compiler, sites do."""
    for frame in list(source.root.iter("frame")):
        if frame.get("name"):
            site = frame.makeelement("site", {"name": FRAME + frame.get("name"), "pos": "0 0 0", "quat": "1 0 0 0"})
            frame.insert(0, site)
            source.file_of[site], site.sourceline = source.file_of[frame], frame.sourceline


def _switched_off(mujoco: Any, spec: Any) -> set[str]:
    flags, bits = int(spec.option.disableflags), mujoco.mjtDisableBit
    off = {
        name
        for name, bit in (
            ("spring", bits.mjDSBL_SPRING),
            ("damper", bits.mjDSBL_DAMPER),
            ("frictionloss", bits.mjDSBL_FRICTIONLOSS),
            ("equality", bits.mjDSBL_EQUALITY),
        )
        if flags & int(bit)
    }
    return off | ({"frictionloss", "equality"} if flags & int(bits.mjDSBL_CONSTRAINT) else set())


def _gravity(mujoco: Any, spec: Any) -> tuple[float, ...]:
    off = int(spec.option.disableflags) & int(mujoco.mjtDisableBit.mjDSBL_GRAVITY)
    return (0.0, 0.0, 0.0) if off else tuple(float(x) for x in spec.option.gravity)


def _left(problem: Problem, file: str) -> Finding:
    place, _, line = (problem.where or "").rpartition(":")
    name, at = (place, int(line)) if line.isdecimal() else (file, 0)
    return Finding("error", name, at, "", problem.entity, problem.rule, problem.message, "", problem.remedy, fatal=True)
