"""Whether the joints, frames and properties that specifications of solvers name are there in the model."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gyrostat.errors import Problem, SpecError, nearest
from gyrostat.spec.model import Model
from gyrostat.spec.port_names import Scope, resolve
from gyrostat.spec.solver_spec import SolverSpec
from gyrostat.spec.wiring import LooseEnd

PLACE = "model.solvers"
"""Where ``sources`` has the lines of specifications."""


def reference_problems(model: Model) -> list[Problem]:
    """One problem for each name that does not exist; the model itself must be sound."""
    return [problem for name, spec in model.solvers.items() for problem in _of_one(model, name, spec)]


def _of_one(model: Model, name: str, spec: SolverSpec) -> Iterator[Problem]:
    label = f"solver '{name}'"
    joints = model.layout.entities
    for joint in spec.order:
        if joint not in joints:
            message = f"order: '{joint}' is no joint with coordinates"
            yield Problem(label, "unknown-joint", message, nearest(joint, joints), joint, f"{PLACE}.{name}.order")
    for joint in spec.options.get("independent", ()):
        if joint not in joints:
            message = f"independent: '{joint}' is no joint with coordinates"
            yield Problem(label, "unknown-joint", message, nearest(joint, joints), joint, f"{PLACE}.{name}.independent")
    for path in (*spec.live, *spec.options.get("parameters", ())):
        try:
            model[path]
        except SpecError as error:
            message, remedy = (
                f"{'live' if path in spec.live else 'parameters'}: {error.problems[0].message}",
                error.problems[0].remedy,
            )
            yield Problem(label, "unknown-path", message, remedy, path, f"{PLACE}.{name}.live")
    known = _ports(model)
    for key, frame in _frames(spec):
        if not _is_port(model, frame, known):
            hint = nearest(frame, [*known, *model.wiring.entities])
            message = f"{key.partition('.')[0]}: there is no frame or port '{frame}'"
            yield Problem(label, "unknown-frame", message, hint, frame, f"{PLACE}.{name}.{key}")


def _frames(spec: SolverSpec) -> Iterator[tuple[str, str]]:
    """Property and name of every frame."""
    yield from (("frames", frame) for frame in spec.frames)
    yield from (("contacts", frame) for frame in spec.options.get("contacts", ()))
    yield from (("points", frame) for frame in _listed(spec.options.get("points", ())))
    for answer, options in spec.options.get("answers", {}).items():
        listed = (*_listed(options.get("frames", ())), *_listed(options.get("points", ())))
        every = (*listed, *options.get("contacts", ()), *([options["frame"]] if "frame" in options else []))
        yield from ((f"answers.{answer}", str(frame)) for frame in every)


def _listed(names: Any) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(names)


def _ports(model: Model) -> list[str]:
    entities = model.wiring.entities.items()
    return [f"{name}.{port.name}" for name, e in entities for port in e.ports if port.kind == "spatial"]


def _is_port(model: Model, name: str, known: list[str]) -> bool:
    """A port, an entity that stands for its origin, frame or port b, or a port of an assembly."""
    if name in known or any(f"{name}.{last}" in known for last in ("origin", "frame", "b")):
        return True
    exposed: Any = resolve(name, Scope({e.name: e for e in model.entities}), guess=False)
    return not isinstance(exposed, LooseEnd) and ".".join(exposed[0]) in known
