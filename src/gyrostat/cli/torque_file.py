"""What drives a robot, from a small YAML file: a controller or constant torques. Nothing in it is executed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from gyrostat.errors import LoadError, Problem, nearest

if TYPE_CHECKING:
    import numpy as np

    from gyrostat.spec.model import Model

KEYS = {
    "pd": ("kp", "kd", "reference", "limit", "gravity", "sample_time"),
    "pid": ("kp", "ki", "kd", "reference", "limit", "gravity", "sample_time"),
}


def controller(path: Path, model: Model, q0: np.ndarray) -> Any:
    """What ``gs.simulate`` takes as torque."""
    import gyrostat as gs

    (kind, said), name = _read(path), str(path)
    if kind == "kind":  # the words of a job: any controller, any reference
        from gyrostat.simulate.blocks.from_data import law_from_data

        return law_from_data({"reference": q0.tolist(), **said} if "reference" not in said else said, model, name)
    if kind == "torque":
        return _numbers(name, model, "torque", said, model.dofs)
    given = _mapping(name, kind, said)
    for key in given:
        if key not in KEYS[kind]:
            raise _refused(name, f"{kind}: there is no '{key}'", nearest(str(key), KEYS[kind]))
    for key in ("kp", "kd"):
        if key not in given:
            raise _refused(name, f"{kind}: '{key}' is missing", f"{kind}: {{kp: 100, kd: 20}}")
    values = {key: _numbers(name, model, key, value, model.dofs) for key, value in given.items() if key in GAINS}
    if "sample_time" in given:
        values["sample_time"] = _number(name, "sample_time", given["sample_time"])
    reference = given.get("reference")
    values["reference"] = q0 if reference is None else _reference(name, model, reference, q0)
    if given.get("gravity", False) is True:
        values["feedforward"] = gs.blocks.GravityCompensation(model)
    elif given.get("gravity", False) is not False:
        raise _refused(name, "gravity must be true or false", "gravity: true")
    return getattr(gs.blocks, kind)(model=model, **values)


GAINS = ("kp", "ki", "kd", "limit")


def _read(path: Path) -> tuple[str, Any]:
    """The one thing that the file says."""
    import yaml

    from gyrostat.io.text_files import read_text

    name = str(path)
    text = read_text(path, name, "YAML")
    try:
        if any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(text, Loader=yaml.SafeLoader)):
            raise _refused(name, "has an alias (*)", "write the numbers out")
        said = yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise _refused(name, f"is no YAML: {error}", "pd: {kp: 100, kd: 20}") from None
    if isinstance(said, dict) and "kind" in said:
        return "kind", said
    if not isinstance(said, dict) or len(said) != 1 or next(iter(said)) not in (*KEYS, "torque"):
        raise _refused(name, "must say one of pd, pid, torque", "pd: {kp: 100, kd: 20}")
    return next(iter(said.items()))


def _mapping(name: str, kind: str, said: Any) -> dict[Any, Any]:
    if not isinstance(said, dict):
        raise _refused(name, f"{kind} must be a mapping", f"{kind}: {{kp: 100, kd: 20}}")
    return said


def _numbers(name: str, model: Model, key: str, value: Any, names: tuple[str, ...]) -> Any:
    """One number, or an array of one for each name."""
    import numpy as np

    if isinstance(value, dict):
        out = np.zeros(len(names))
        for joint, number in value.items():
            if joint not in names:
                raise _refused(name, f"{key}: '{model.name}' has no '{joint}'", nearest(str(joint), names))
            out[names.index(joint)] = _number(name, key, number)
        return out
    if isinstance(value, list):
        if len(value) != len(names):
            raise _refused(name, f"{key} has {len(value)} numbers, expected {len(names)}", ", ".join(names))
        return np.array([_number(name, key, x) for x in value])
    number = _number(name, key, value)
    return np.full(len(names), number) if key == "torque" else number


def _reference(name: str, model: Model, value: Any, q0: np.ndarray) -> np.ndarray:
    if isinstance(value, dict):
        out = q0.copy()
        for joint, number in value.items():
            if joint not in model.coordinates:
                raise _refused(name, f"reference: no coordinate '{joint}'", nearest(str(joint), model.coordinates))
            out[model.coordinates.index(joint)] = _number(name, "reference", number)
        return out
    if not isinstance(value, list):
        raise _refused(name, "reference must be a list, or coordinates by name", "reference: {elbow: 0.5}")
    return _numbers(name, model, "reference", value, model.coordinates)


def _number(name: str, key: str, value: Any) -> float:
    import math

    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise _refused(name, f"{key}: {value!r} is no finite number", "write digits, 100 or 1.0e-3")
    return float(value)


def _refused(name: str, message: str, remedy: str) -> LoadError:
    return LoadError([Problem(f"file '{name}'", "torque-file", message, remedy, name)])
