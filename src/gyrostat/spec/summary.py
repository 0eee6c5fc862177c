"""A model in a few lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

from gyrostat.spec.gear import Gear
from gyrostat.spec.joint import Joint
from gyrostat.spec.motor import Motor
from gyrostat.spec.rigid_body import RigidBody
from gyrostat.spec.rotor import RotorInertia
from gyrostat.spec.table import as_text, headline

if TYPE_CHECKING:
    from gyrostat.spec.model import Model

TEN = 10
"""Lines of ``repr`` at most."""

WIDE = 100
"""Characters of a line, about."""


def short(model: Model) -> str:
    """Ten lines at most: the table if it fits, else what there is, by kinds."""
    table = as_text(model)
    return table if table.count("\n") < TEN else "\n".join([headline(model), *summary(model)])


def summary(model: Model) -> list[str]:
    """Nine lines at most: what the model is made of."""
    entities = model.wiring.entities
    joints = [e for e in entities.values() if isinstance(e, Joint)]
    bodies = {name: e for name, e in entities.items() if isinstance(e, RigidBody)}
    heavy = max(bodies, key=lambda name: bodies[name].mass, default="")
    rows = {
        "dofs": _listed(model.dofs),
        "joints": _counted(joint.kind for joint in joints),
        "limits": _limits(joints),
        "bodies": f"{len(bodies)}, the heaviest '{heavy}' with {bodies[heavy].mass:g} kg" if bodies else "",
        "drives": _counted(e.type_name.replace("_", " ") for e in entities.values() if isinstance(e, DRIVING)),
        "others": _counted(e.type_name.replace("_", " ") for e in entities.values() if not isinstance(e, SHOWN)),
        "parts": _listed([*model.wiring.assemblies]),
    }
    lines = [f"  {key:<7} {text}" for key, text in rows.items() if text]
    return [*lines, "  print(model) shows every entity, gs.view(model) the robot"]


DRIVING = (RotorInertia, Gear, Motor)
SHOWN = (Joint, RigidBody, *DRIVING)


def _counted(kinds: Iterable[str]) -> str:
    return _listed([f"{count} {kind}" for kind, count in Counter(kinds).most_common()])


def _limits(joints: list[Joint]) -> str:
    given = sum(joint.lower is not None or joint.upper is not None for joint in joints)
    return f"{given} of {sum(bool(joint.rates) for joint in joints)} joints have a range" if given else ""


def _listed(names: Iterable[str]) -> str:
    """Names until the line is full, and how many there are then."""
    names, text = list(names), ""
    for k, name in enumerate(names):
        if len(text) + len(name) > WIDE - 20:
            return f"{text}... ({len(names)})" if k else f"{name[: WIDE - 20]} ... ({len(names)})"
        text += name + (", " if k + 1 < len(names) else "")
    return text
