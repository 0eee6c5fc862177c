"""The section ``solvers`` of a YAML text: specifications of solvers by name, through any number of mistakes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from gyrostat.errors import Problem, SpecError, clipped
from gyrostat.io.yaml.parse import Node
from gyrostat.spec.check import place_of
from gyrostat.spec.solver_kinds import ANSWERS, KINDS, REPRESENTATIONS
from gyrostat.spec.solver_references import PLACE
from gyrostat.spec.solver_spec import SolverSpec, known_options

REMEDY = "write {torques: {solver: InverseDynamics, algorithm: rne}}"


def read_solvers(
    node: Node | None, note: Callable[[str, Node], None], sources: dict[str, str]
) -> tuple[dict[str, SolverSpec], list[Problem]]:
    """Specifications by name, and what is wrong with the others; ``note`` writes lines down in ``sources``."""
    if node is None or node.value is None:
        return {}, []
    note(PLACE, node)
    if not isinstance(node.value, dict):
        return {}, [_problem("solvers", f"must be a mapping, got {clipped(node.plain())}", sources[PLACE])]
    specs: dict[str, SolverSpec] = {}
    problems: list[Problem] = []
    for name, item in node.value.items():
        label, place = f"solver '{name}'", f"{PLACE}.{name}"
        data = item.plain()
        if not isinstance(data, dict) or "solver" not in data:
            message = f"must be a mapping with the name of a solver, got {clipped(data)}"
            problems.append(_problem(label, message, sources[place]))
            continue
        try:
            specs[name] = SolverSpec(**data)
        except SpecError as error:
            for problem in error.problems:
                path = problem.value if isinstance(problem.value, tuple) else ()
                where = place_of(sources, ".".join((place, *path)))
                problems.append(replace(problem, entity=label, value=data, where=where))
    return specs, problems


def _problem(label: str, message: str, where: str | None) -> Problem:
    return Problem(label, "property-type", message, REMEDY, None, where)


def solvers_schema() -> dict[str, Any]:
    """JSON Schema of the section."""
    names = {"type": "array", "items": {"type": "string"}}
    known: dict[str, Any] = {"representation": {"enum": list(REPRESENTATIONS)}}
    known |= {key: names for key in ("frames", "order", "live", "rules", "only", "passive", "parameters")}
    known |= {"wrt_wrenches": names, "mode": {"enum": ["auto", "compile", "interpret"]}}
    known |= {"expressed_in": {"enum": ["local", "aligned", "world"]}, "contacts": {"type": ["object", "array"]}}
    known |= {"answers": {"type": "object", "description": f"one of {', '.join(ANSWERS)}, or names of your own"}}
    known |= {"of": {"enum": ["tau", "a"]}, "negligible": {"type": "number"}}
    known |= {"constrained": {"type": "boolean"}, "restitution": {"type": "number"}}
    known |= {"points": names, "independent": names, "height": {"type": "number"}}
    known |= {"normal": {"type": "array", "items": {"type": "number"}, "minItems": 3, "maxItems": 3}}
    known |= {"method": {"enum": ["auto", "closed-form", "forward-mode"]}}
    kinds = []
    for name, kind in KINDS.items():
        properties: dict[str, Any] = {"solver": {"const": name}}
        for key in known_options(kind):
            properties[key] = {"enum": list(kind.algorithms)} if key == "algorithm" else known[key]
        needs = ["solver", *kind.needs]
        kinds.append({"type": "object", "properties": properties, "required": needs, "additionalProperties": False})
    return {
        "type": "object",
        "description": "specifications of solvers, by names of your own",
        "additionalProperties": {"anyOf": kinds},
    }
