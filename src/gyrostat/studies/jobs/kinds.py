"""What a job can do, in one table: how many points are computed at once, and what can be read off them.

A kind is a function (model, inputs, changes) -> one :class:`Computed` or exception for each point. ``changes``: values
(N,) by path of the model; what differs in anything else comes in another call."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gyrostat.errors import GyrostatError, clipped, nearest
from gyrostat.simulate.blocks.from_data import law_from_data, numbers, reference_from_data
from gyrostat.simulate.rollout.result import DivergedError
from gyrostat.simulate.rollout.rollout import rollout
from gyrostat.simulate.run.simulate import simulate
from gyrostat.simulate.trajectories.trajectory import Trajectory
from gyrostat.solvers.functions import fk, rnea
from gyrostat.solvers.kinematics.forward_kinematics import ForwardKinematics
from gyrostat.solvers.machinery.solver_cache import cached_solver
from gyrostat.solvers.machinery.variants import set_live, variant
from gyrostat.spec.model import Model
from gyrostat.spec.solver_spec import SolverSpec
from gyrostat.studies.design.objective import with_model
from gyrostat.studies.jobs.outputs import Computed
from gyrostat.studies.study_data import StudyData
from gyrostat.studies.vibration.eigenfrequencies import eigenfrequencies

Array = np.ndarray
Changes = Mapping[str, Array]
Outcome = Computed | GyrostatError


@dataclass(frozen=True)
class Kind:
    """``needs`` and ``takes``: names of inputs; ``lanes``: points that are computed at once."""

    compute: Callable[[Model, Mapping[str, Any], Changes, int], list[Outcome]]
    needs: tuple[str, ...]
    takes: tuple[str, ...]
    lanes: int = 1


def of_points(function: Callable[[Model, Mapping[str, Any]], Computed]) -> Any:
    """A kind that computes one point after the other, on models that share their machine code."""

    def compute(model: Model, inputs: Mapping[str, Any], changes: Changes, count: int) -> list[Outcome]:
        found: list[Outcome] = []
        for k in range(count):
            try:
                at = {path: values[k].tolist() for path, values in changes.items()}
                found.append(function(variant(model, at) if at else model, inputs))
            except GyrostatError as error:
                found.append(error)
        return found

    return compute


# ------------------------------------------------------------------------------------------------ motion in time
def by_simulation(model: Model, inputs: Mapping[str, Any], changes: Changes, count: int) -> list[Outcome]:
    """Each run with steps of its own; all of them in one call of ``gs.simulate``."""
    given = {key: value for key, value in inputs.items() if key not in ("torque", "q0", "v0", "t_eval")}
    law = law_from_data(inputs.get("torque"), model)
    times: dict[str, Any] = {"t_eval": numbers(inputs["t_eval"], "t_eval")} if "t_eval" in inputs else {}
    start: dict[str, Any] = {key: numbers(inputs[key], key) for key in ("q0", "v0") if key in inputs}
    together: dict[str, Any] = {"parameters": dict(changes)} if changes else {}
    runs = simulate(model, law, **start, **times, **given, **together, runs=count, progress=False)
    reference = _reference(inputs, model)
    found: list[Outcome] = []
    for k, run in enumerate(runs):
        if run.status == "failed":
            found.append(GyrostatError(run.message))
            continue
        at = {path: values[k].tolist() for path, values in changes.items()}
        series = {"t": run.t, "q": run.q, "v": run.v, "a": run.a, "tau": run.tau, "work": run.work}
        found.append(_motion(model, at, series, reference))
    return found


def by_rollout(model: Model, inputs: Mapping[str, Any], changes: Changes, count: int) -> list[Outcome]:
    """Fixed steps, all points in the lanes of one loop in machine code."""
    law = law_from_data(inputs.get("torque"), model)
    start = {key: numbers(inputs[key], key) for key in ("q0", "v0") if key in inputs}
    rows = {name: np.broadcast_to(x, (count, *x.shape)) for name, x in start.items()}
    given = {key: inputs[key] for key in ("dt", "steps", "method", "every") if key in inputs}
    run: Any
    try:
        run = rollout(model, law, **rows, **given, parameters=dict(changes))
    except DivergedError as error:
        run = error.result
    reference = _reference(inputs, model)
    tau = run.tau
    found: list[Outcome] = []
    for k in range(count):
        if run.diverged[k] >= 0:
            found.append(GyrostatError(f"the motion is not finite after step {run.diverged[k]}"))
            continue
        at = {path: values[k].tolist() for path, values in changes.items()}
        series = {"t": run.t, "q": run.q[:, k], "v": run.v[:, k], "tau": tau[:, k]}
        found.append(_motion(model, at, series, reference))
    return found


def _reference(inputs: Mapping[str, Any], model: Model) -> Any:
    law = inputs.get("torque")
    if not isinstance(law, Mapping) or law.get("reference") is None:
        return None
    return reference_from_data(law["reference"], model)


def _motion(model: Model, at: Mapping[str, float], series: dict[str, Array], reference: Any) -> Computed:
    if reference is not None and model.nq == model.nv:
        wanted = reference(series["t"]) if isinstance(reference, Trajectory) else np.asarray(reference)
        series["error"] = wanted - series["q"]
    columns = {name: model.dofs for name in ("v", "a", "tau", "error")} | {"q": model.coordinates}

    return Computed(
        series, columns, {"t_end": float(series["t"][-1])}, lambda name: _path_of(model, name, at, series["q"])
    )


def _path_of(model: Model, frame: str, at: Mapping[str, Any], q: Array) -> Array:
    """Positions (T, 3) of a frame; one solver serves all values of the same properties."""
    if not at:
        return fk(model, q)[frame].p
    try:
        solver = cached_solver(model, ForwardKinematics, live=tuple(sorted(at)))
    except GyrostatError:  # some cannot be live
        return fk(variant(model, at), q)[frame].p
    set_live(solver, at)
    return solver(q)[frame].p


# ------------------------------------------------------------------------------------------------ one point each
def torques(model: Model, inputs: Mapping[str, Any]) -> Computed:
    """Inverse dynamics of a motion: ``motion`` (a reference) at ``times``, or arrays ``q``, ``v``, ``a``."""
    if "motion" in inputs:
        motion = reference_from_data(inputs["motion"], model, "motion")
        if not isinstance(motion, Trajectory):
            raise GyrostatError("job: motion must have a kind, such as quintic, to move in time")
        last = motion.duration
        times = numbers(inputs["times"], "times") if "times" in inputs else np.linspace(0.0, last, 201)
        q, v, a = np.moveaxis(motion.derivatives(times, 2), 1, 0)
    else:
        q, v, a = (np.atleast_2d(numbers(inputs.get(x, np.zeros(model.nv)), x)) for x in "qva")
        times = np.arange(float(len(q)))
    series = {"t": times, "q": q, "v": v, "a": a, "tau": rnea(model, q, v, a)}
    columns = {name: model.dofs for name in ("v", "a", "tau")} | {"q": model.coordinates}
    return Computed(series, columns, {}, lambda name: fk(model, q)[name].p)


def frequencies(model: Model, inputs: Mapping[str, Any]) -> Computed:
    """Eigenfrequencies [Hz] at a pose: numbers f1, f2, ...; with a law, damping ratios d1, d2, ..."""
    law = law_from_data(inputs.get("torque"), model)
    options = {key: inputs[key] for key in ("locked", "rest") if key in inputs}
    controller = {} if law is None else {"controller": law}
    found = eigenfrequencies(model, numbers(inputs["q"], "q"), **controller, **options)
    named = {f"f{k + 1}": float(f) for k, f in enumerate(found.undamped)}
    named |= {f"d{k + 1}": float(d) for k, d in enumerate(found.damping_ratios)}
    return Computed({"frequencies": np.asarray(found.undamped)}, {}, named)


def solver(model: Model, inputs: Mapping[str, Any]) -> Computed:
    """Any solver by its specification: ``spec`` and its arguments by name; its outputs by name."""
    words, given = inputs["spec"], inputs.get("arguments", ())
    if not isinstance(words, Mapping):
        hint = "spec: {solver: InverseDynamics}"
        raise GyrostatError(f"job: spec must be a solver's specification by name, got {clipped(words)}. Hint: {hint}")
    if not isinstance(given, Sequence) or isinstance(given, str):
        hint = "arguments: [[0, 0], [0, 0], [0, 0]]"
        raise GyrostatError(f"job: arguments must be a list of arrays, got {clipped(given)}. Hint: {hint}")
    try:
        made = SolverSpec(**words).build(model)
        answer = made(*(numbers(x, f"arguments[{k}]") for k, x in enumerate(given)))
    except TypeError as error:  # of a call: names and numbers of arguments
        raise GyrostatError(f"job: solver {clipped(words.get('solver'))}: {error}.") from None
    if isinstance(answer, Mapping) and all(hasattr(motion, "p") for motion in answer.values()):  # of frames
        return Computed(frame=lambda name: _position(answer, name))
    one = dict.fromkeys(("value", *made.outputs[:1]), answer) if isinstance(answer, np.ndarray | float) else {}
    named = answer if isinstance(answer, Mapping) else getattr(answer, "_asdict", lambda: one)()
    arrays = {key: np.asarray(value, dtype=float) for key, value in named.items() if not isinstance(value, str)}
    series = {key: x.reshape(1, -1) for key, x in arrays.items()}
    columns = {key: [str(k) for k in range(x.shape[1])] for key, x in series.items()}
    return Computed(series, columns, {key: x.item() for key, x in arrays.items() if x.size == 1})


def _position(frames: Mapping[str, Any], name: str) -> Array:
    if name not in frames:
        raise GyrostatError(f"job: there is no frame '{name}'. Hint: {nearest(name, frames)}")
    return frames[name].p.reshape(1, 3)


def study(base: Model) -> Any:
    """Any study as data (``to_dict``), about the model of the job or a changed one."""

    def compute(model: Model, inputs: Mapping[str, Any]) -> Computed:
        data = inputs["study"]
        made = data if isinstance(data, StudyData) else StudyData.from_dict(data)
        result = with_model(made, base, model).run(progress=False)  # type: ignore[attr-defined]
        if not getattr(result, "finished", True):
            raise GyrostatError(f"the study did not finish: {getattr(result, 'message', '')}")
        named = {name: getattr(result, name) for name in dir(result) if not name.startswith("_")}
        plain = {key: float(x) for key, x in named.items() if isinstance(x, float | int | np.number)}
        series = {key: x for key, x in named.items() if isinstance(x, np.ndarray) and x.dtype.kind in "fib" and x.ndim}
        return Computed(series, {}, plain)

    return compute


def by_study(model: Model, inputs: Mapping[str, Any], changes: Changes, count: int) -> list[Outcome]:
    return of_points(study(model))(model, inputs, changes, count)


def each(names: str) -> tuple[str, ...]:
    return tuple(names.split())


START = each("torque q0 v0 method dt")
KINDS: dict[str, Kind] = {
    "simulate": Kind(by_simulation, ("t_end",), (*START, *each("rtol atol t_eval max_step t_start impact")), 64),
    "rollout": Kind(by_rollout, ("steps", "q0"), (*START, "every"), 256),
    "torque": Kind(of_points(torques), (), each("motion times q v a")),
    "frequencies": Kind(of_points(frequencies), ("q",), each("torque locked rest")),
    "solver": Kind(of_points(solver), ("spec",), ("arguments",)),
    "study": Kind(by_study, ("study",), ()),
}


def points_by_inputs(points: Sequence[Mapping[str, Any]]) -> list[list[int]]:
    """Numbers of the points that share everything but properties of the model."""
    groups: dict[Any, list[int]] = {}
    for k, point in enumerate(points):
        own = tuple(sorted((key, repr(value)) for key, value in point.items() if key.startswith("inputs.")))
        groups.setdefault((own, tuple(sorted(point))), []).append(k)
    return list(groups.values())
