"""Whether the joints, frames and properties that specifications of solvers name are there in the model."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gyrostat.errors import Problem, SpecError, nearest
from gyrostat.spec.model import Model
from gyrostat.spec.solver_spec import SolverSpec
from gyrostat.spec.wiring import LooseEnd, Scope, resolve

PLACE = "model.solvers"
"""Where ``sources`` has the lines of specifications."""


def reference_problems(model: Model) -> list[Problem]:
    """One problem for each name that does not exist; the model itself must be sound."""
    return [problem for name, spec in model.solvers.items() for problem in _of_one(model, name, spec)]


def _of_one(model: Model, name: str, spec: SolverSpec) -> Iterator[Problem]:
    label = f"solver '{name}'"
    joints = [owner for owner, *_ in model.stateful]
    for joint in spec.order:
        if joint not in joints:
            message = f"order: '{joint}' is no joint with coordinates"
            yield Problem(label, "unknown-joint", message, nearest(joint, joints), joint, f"{PLACE}.{name}.order")
    for path in spec.live:
        try:
            model[path]
        except SpecError as error:
            message, remedy = f"live: {error.problems[0].message}", error.problems[0].remedy
            yield Problem(label, "unknown-path", message, remedy, path, f"{PLACE}.{name}.live")
    for frame in spec.frames:
        known = _ports(model)
        if not _is_port(model, frame, known):
            hint = nearest(frame, [*known, *model.wiring.entities])
            message = f"frames: there is no frame or port '{frame}'"
            yield Problem(label, "unknown-frame", message, hint, frame, f"{PLACE}.{name}.frames")


def _ports(model: Model) -> list[str]:
    entities = model.wiring.entities.items()
    return [f"{name}.{port.name}" for name, e in entities for port in e.ports if port.kind == "spatial"]


def _is_port(model: Model, name: str, known: list[str]) -> bool:
    """A port, an entity that stands for its origin, frame or port b, or a port of an assembly."""
    if name in known or any(f"{name}.{last}" in known for last in ("origin", "frame", "b")):
        return True
    exposed: Any = resolve(name, Scope({e.name: e for e in model.entities}), guess=False)
    return not isinstance(exposed, LooseEnd) and ".".join(exposed[0]) in known
