"""MuJoCo compiles its specification of a file: frames, inertias of geoms, numbers of everything.

Nothing is opened by MuJoCo: included files are in the text, meshes that inertias depend on are handed over as bytes,
all others are replaced by spheres. Contact is switched off, so that no convex hulls are made.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from gyrostat.io.mjcf.defaults import elements_of, parse_spec, pass_on, refused
from gyrostat.io.mjcf.height_fields import FieldAsset
from gyrostat.io.mjcf.meshes import MeshFile, read_meshes
from gyrostat.io.mjcf.source import MjcfReader
from gyrostat.io.safe_xml import Element
from gyrostat.spec.contact_law import ContactSurface


@dataclass
class Compiled:
    """``spec``: as written, defaults filled in; ``model``: as compiled. ``meshes``: name -> file as in the MJCF."""

    mujoco: Any
    spec: Any
    model: Any
    meshes: dict[str, MeshFile] = field(default_factory=dict)
    left_out: dict[int, str] = field(default_factory=dict)  # geoms that are spheres now, and the mesh they were
    on_field: dict[int, str] = field(default_factory=dict)  # geoms that are height fields -> the name of the field
    fields: dict[str, FieldAsset | None] = field(default_factory=dict)
    contact: dict[int, ContactSurface] = field(default_factory=dict)  # of geoms that can touch
    bodies: list[int] = field(default_factory=list)  # numbers of the bodies in the order of ``spec.bodies``
    elements: dict[str, list[Element]] = field(default_factory=dict)  # "body", "joint", "geom", "site" -> by number


def compile_spec(
    reader: MjcfReader,
    mujoco: Any,
    meshes: dict[str, MeshFile],
    edit: Any,
    contacts: Sequence[ContactSurface | None] = (),
) -> Compiled | None:
    """The compiled model; ``edit(spec)`` may change numbers of the specification before; ``contacts``: what its geoms
    say about touching, in their order."""
    dropped = frozenset(("tendon", "actuator", "equality", "deformable", "contact"))
    spec = parse_spec(reader, mujoco, reader.source.text(dropped))
    if spec is None:
        return None
    kind = mujoco.mjtGeom.mjGEOM_HFIELD
    on_field = {k: geom.hfieldname for k, geom in enumerate(spec.geoms) if geom.type == kind}
    assets, spheres = read_meshes(reader, mujoco, spec, meshes)
    done = Compiled(mujoco, spec, None, meshes, spheres, on_field)
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
    pass_on(reader, told)
    _number(reader, done)
    numbers = [geom.id for geom in spec.geoms]
    done.contact = {k: said for k, said in zip(numbers, contacts, strict=False) if said is not None}
    return done


def _number(reader: MjcfReader, done: Compiled) -> None:
    """From places in lists to the numbers that things have in the compiled model."""
    spec = done.spec
    for sort, items in (("body", spec.bodies), ("joint", spec.joints), ("geom", spec.geoms), ("site", spec.sites)):
        by_number = dict(zip([item.id for item in items], elements_of(reader, items), strict=True))
        done.elements[sort] = [by_number[k] for k in range(len(by_number))]
    geoms = [geom.id for geom in spec.geoms]
    done.left_out = {geoms[k]: name for k, name in done.left_out.items()}
    done.on_field = {geoms[k]: name for k, name in done.on_field.items()}
    done.bodies = [body.id for body in spec.bodies]
