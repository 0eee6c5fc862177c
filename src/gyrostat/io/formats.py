"""From a text to a model, by the format that its name ends with: what ``load``, ``load_string`` and audits share."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from gyrostat.errors import LoadError, SpecError, nearest
from gyrostat.io.audit import POLICIES, Audit, from_problems, tell
from gyrostat.io.mjcf.load import read_mjcf
from gyrostat.io.sdf.load import read_sdf
from gyrostat.io.srdf import excluded_pairs
from gyrostat.io.urdf.load import read_urdf
from gyrostat.io.xacro.expand import EXPANDED, expanded
from gyrostat.io.yaml.read import from_text
from gyrostat.io.yaml.versions import stated_version
from gyrostat.spec.check import check
from gyrostat.spec.contact import EVERYTHING, ContactPair
from gyrostat.spec.entity import Entity
from gyrostat.spec.model import Model
from gyrostat.spec.rigid_body import RigidBody

READERS: dict[str, Callable[[str, str], Model]] = {".yaml": from_text, ".yml": from_text}
"""What can be read and written, by suffix: text and the file's name in messages -> model."""

XACRO = ".xacro"
SDF = (".sdf", ".world")
FOREIGN = (".urdf", *SDF, ".xml", ".mjcf", XACRO)
"""Formats of others: the outermost tag says which of them it is. Of these, URDF can be written."""

_MARKUP = re.compile(r"<!--.*?(?:-->|\Z)|<\?.*?(?:\?>|\Z)|<!\[CDATA\[.*?(?:\]\]>|\Z)|<!(?:DOCTYPE|ENTITY)", re.DOTALL)
_OUTERMOST = re.compile(r"<([A-Za-z_][^\s/>]*)")

Folders = Sequence[str | os.PathLike[str]]


@dataclass(frozen=True)
class Options:
    """How a text is read; as in ``gs.load``."""

    base: Literal["fixed", "free"] | None = None
    policy: str = "accept"
    roots: Folders = ()
    arguments: Mapping[str, object] | None = None
    friction: bool = True
    mimic: bool = True
    contacts: bool | None = None
    srdf: str | os.PathLike[str] | None = None

    def checked(self, suffix: str) -> Options:
        """Refuse options that mean nothing, or nothing for this format."""
        if self.base not in (None, "fixed", "free"):
            message = f"base must be 'fixed', 'free' or None, got {self.base!r}"
            _refuse(message, "leave it out to take what the file says", self.base)
        if self.policy not in POLICIES:
            message = f"policy must be one of {', '.join(POLICIES)}, got {self.policy!r}"
            _refuse(message, nearest(str(self.policy), POLICIES), self.policy)
        roots: Any = self.roots
        if not isinstance(roots, list | tuple) or not all(isinstance(r, str | os.PathLike) for r in roots):
            _refuse(f"roots must be a list of folders, got {roots!r}", "write roots=['folder']", roots)
        if self.arguments and suffix != XACRO:
            _refuse("arguments are for .xacro files", "leave them out", self.arguments)
        if suffix not in FOREIGN and (self.policy == "repair" or self.roots):
            _refuse("repairs and roots are for URDF, SDF and MJCF files", "leave them out", self.policy)
        if suffix not in FOREIGN and not (self.friction and self.mimic):
            message = "friction and mimic are for URDF, SDF and MJCF files"
            _refuse(message, "leave them out", (self.friction, self.mimic))
        if self.contacts not in (None, True, False):
            _refuse(f"contacts must be True, False or None, got {self.contacts!r}", "leave it out", self.contacts)
        if suffix not in FOREIGN and (self.contacts is not None or self.srdf is not None):
            _refuse("contacts and srdf are for URDF, SDF and MJCF files", "leave them out", self.contacts)
        return self


def _refuse(message: str, remedy: str, value: object) -> None:
    raise SpecError.one("load", "property-value", message, remedy, value)


def model_of(text: str, name: str, suffix: str, options: Options, lister: str = "gs.audit(path)") -> Model:
    """The model in a text; ``name``: that of the file in messages; one :class:`SpecError` lists what is refused.

    What was accepted is told in a warning, see :func:`tell`.
    """
    if suffix not in FOREIGN:
        model = READERS[suffix](text, name)
        if options.base is None:
            return model
        model = model.replace({"context.base": options.base})
        check(model)
        return model
    model, audit = _read(text, name, suffix, options)
    if model is None:
        raise SpecError([f.problem() for f in audit.errors])
    tell(audit, options.policy, lister)
    return _with_contacts(model, options, is_mjcf(text, name))


def _with_contacts(model: Model, options: Options, asked_already: bool) -> Model:
    """With contact of all bodies with each other if that was asked for, but those of which an SRDF says that they never
    touch."""
    taken, more = {entity.name for entity in model.entities}, list[Entity]()
    if options.contacts and not asked_already:
        name = "all_contacts"
        while name in taken:
            name += "_"
        more.append(ContactPair(EVERYTHING, EVERYTHING, name=name))
    if options.srdf is not None:
        bodies = {name for name, entity in model.wiring.entities.items() if isinstance(entity, RigidBody)}
        more += excluded_pairs(options.srdf, bodies, taken)
    return replace(model, entities=(*model.entities, *more)) if more else model


def audit_of(text: str, name: str, suffix: str, options: Options) -> Audit:
    """Everything that is to be said about a text."""
    if suffix not in FOREIGN:
        return _audit_of_text_form(text, name, suffix, options)
    try:
        return _read(text, name, suffix, options)[1]
    except LoadError as error:
        return from_problems(name, error.problems)


def _audit_of_text_form(text: str, name: str, suffix: str, options: Options) -> Audit:
    version = stated_version(text, name)
    try:
        model_of(text, name, suffix, options)
    except SpecError as error:
        return from_problems(name, error.problems, version)
    return Audit(name, (), version)


def _read(text: str, name: str, suffix: str, o: Options) -> tuple[Model | None, Audit]:
    if suffix == XACRO:
        text, name = expanded(text, name, o.arguments, o.roots), f"{name}{EXPANDED}"
    tag = outermost(text)
    if tag == "sdf" or (tag not in ("mujoco", "robot") and name.lower().endswith(SDF)):
        return read_sdf(text, name, o.base or "fixed", o.policy, o.roots, o.friction, o.mimic)
    if is_mjcf(text, name):
        return read_mjcf(text, name, o.base, o.policy, o.roots, o.friction, o.mimic, o.contacts)
    return read_urdf(text, name, o.base or "fixed", o.policy, o.roots, o.friction, o.mimic)


def outermost(text: str) -> str:
    """The first tag of a text, empty if there is none."""
    found = _OUTERMOST.search(_MARKUP.sub("", text[: 2**20]))
    return found[1] if found else ""


def is_mjcf(text: str, file: str) -> bool:
    """Whether the outermost tag is that of an MJCF file; where it is that of none, the name of the file decides."""
    tag = outermost(text)
    return tag == "mujoco" or (tag not in ("robot", "sdf") and not file.lower().endswith((".urdf", *SDF)))
