"""SDF: a file of links, joints and frames to a model, with an audit of everything in it.

Each link becomes a rigid body whose frame is that of the link, each joint a joint between two displacements. Closed
chains stay closed: SDF says where every link is, so that loops fit at q = 0. Damping, friction and springs act on the
joints' shafts; followers and gearboxes are gears. What is not in the model is listed as ignored.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from gyrostat.errors import Problem
from gyrostat.io.audit import Audit, Finding, Notes
from gyrostat.io.inertia_rules import check_inertia
from gyrostat.io.mesh_paths import Roots
from gyrostat.io.sdf.bases import find_bases
from gyrostat.io.sdf.build import Builder
from gyrostat.io.sdf.couplings import add_couplings
from gyrostat.io.sdf.document import Document, read_document
from gyrostat.io.sdf.grammar import Unknowns
from gyrostat.io.sdf.includes import Includes
from gyrostat.io.sdf.joints import SdfJoint, read_joint
from gyrostat.io.sdf.links import SdfLink, read_link
from gyrostat.io.sdf.source import SdfReader, Source, parse_sdf
from gyrostat.io.sdf.versions import read_version
from gyrostat.spec.check import problems
from gyrostat.spec.context import Context
from gyrostat.spec.model import Model


def read_sdf(
    text: str,
    file: str = "<text>",
    base: str = "fixed",
    policy: str = "strict",
    roots: Sequence[str | os.PathLike[str]] = (),
    friction: bool = True,
    mimic: bool = True,
) -> tuple[Model | None, Audit]:
    """The model in an SDF text, None if ``policy`` refuses it, and everything that is to be said about the text.

    ``file``: name of the file in messages; included models and meshes are looked for in its folder and in ``roots``
    alone. ``base``: whether models that float in the file stand in the world (``"fixed"``) or move (``"free"``).
    ``friction=False`` leaves damping and friction out, ``mimic=False`` leaves followers and gearboxes out.
    :class:`LoadError` if it is no XML.
    """
    root = parse_sdf(text, file)
    notes = Notes(file, policy)
    reader = SdfReader(notes, [])
    reader.source = Source(root)
    reader.source.grow(root, file, text)
    model = _model(reader, base, Roots.of(Path(file), roots), file, friction, mimic)
    return (None if notes.refused else model), notes.audit()


def _model(reader: SdfReader, base: str, roots: Roots, file: str, friction: bool, mimic: bool) -> Model | None:
    root = reader.source.root
    if not read_version(reader, root, file):
        return None
    Includes(reader, roots, file).expand(root)
    Unknowns(reader).look_through(root)
    document = read_document(reader, root)
    if document is None:
        return None
    links = {name: read_link(document, part, roots) for name, part in document.links.items()}
    joints = _joints(document, friction)
    bases = find_bases(document, joints, base)
    unphysical = {name for name, link in links.items() if not check_inertia(reader, link)}
    _check_masses(document, links)
    if reader.notes.fatal:
        return None
    builder = Builder(document, links, joints, bases, unphysical)
    builder.build()
    add_couplings(builder, mimic)
    context = Context(gravity=document.gravity, base="free" if bases.moving else "fixed")
    title = document.title if document.title.isprintable() else ""
    name = title or Path(file).stem or "robot"
    model = Model(name, tuple(builder.entities), tuple(builder.connections), context, builder.sources)
    for problem in problems(model):  # what these rules have not seen
        reader.notes.add(_left(problem, file))
    return model


def _joints(document: Document, friction: bool) -> dict[str, SdfJoint]:
    """Joints that can move; those between links that stand still are told."""
    joints: dict[str, SdfJoint] = {}
    for name, part in document.joints.items():
        joint = read_joint(document, part, friction)
        if joint is None:
            continue
        ends = [document.links.get(end) for end in (joint.parent, joint.child)]
        if all(end is None or end.static for end in ends):
            document.reader.ignore(part.element, "static-joint", "joins links of static models, which do not move")
        else:
            joints[name] = joint
    return joints


def _check_masses(document: Document, links: dict[str, SdfLink]) -> None:
    """Rule ``massless``: links that are not static have mass."""
    for name, link in links.items():
        if link.readable and link.mass == 0.0 and not any(link.moments) and not document.links[name].static:
            what = "has no mass, which SDF asks for"
            document.reader.wrong(
                link.at("mass", "inertial"), "massless", what, "mass 0 kg", "give its mass and inertia"
            )


def _left(problem: Problem, file: str) -> Finding:
    place, _, line = (problem.where or "").rpartition(":")
    name, at = (place, int(line)) if line.isdecimal() else (file, 0)
    return Finding("error", name, at, "", problem.entity, problem.rule, problem.message, "", problem.remedy, fatal=True)
