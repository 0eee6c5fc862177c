"""From a problem that is solved to one that is hard, step by step, each from the motion before it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gyrostat.errors import GyrostatError, clipped, nearest
from gyrostat.studies.optimal_control.free_numbers import has_property
from gyrostat.studies.optimal_control.optimal_control import OptimalControl
from gyrostat.studies.optimal_control.optimal_motion import OptimalMotion
from gyrostat.studies.optimal_control.phase import Phase
from gyrostat.studies.study_data import StudyData

Array = np.ndarray
WHO = "continuation"


@dataclass(frozen=True, eq=False)
class Continuation(StudyData):
    """The result of :func:`continuation`: ``values`` (k,) that were solved, steps in between among them, and their
    ``motions``; ``complete``: whether the last value that was asked for is reached; ``message``: why not."""

    path: str
    values: tuple[Any, ...]
    motions: tuple[OptimalMotion, ...]
    complete: bool
    message: str = ""

    @property
    def motion(self) -> OptimalMotion:
        """The last motion that converged."""
        if not self.motions:
            raise GyrostatError(f"{WHO} of '{self.path}': not even the first value converged: {self.message}.")
        return self.motions[-1]

    @property
    def costs(self) -> Array:
        """(k,)"""
        return np.array([m.cost for m in self.motions])

    def __repr__(self) -> str:
        if self.complete:
            return f"<Continuation of '{self.path}' through {len(self.values)} values: complete>"
        return f"<NOT COMPLETE: {self.message}. Continuation of '{self.path}' through {len(self.values)} values>"


def continuation(
    problem: OptimalControl | Phase | list[Phase],
    path: str | Callable[[OptimalControl, Any], OptimalControl],
    values: Iterable[Any],
    *,
    guess: Any = None,
    halvings: int = 4,
    progress: Any = None,
) -> Continuation:
    """Solve ``problem`` for each of ``values`` in turn, each from the motion before it.

    ``path``: where the value goes: a property of the robot ("bob.mass", in every phase), a field of the problem
    ("tolerance", "parameters.reach"), of all phases ("duration") or of one ("phases.0.duration", "phases.0.limits.u",
    "phases.1.end.q.2"); or a function (problem, value) -> problem. Where a value does not converge, half the step is
    tried, up to ``halvings`` times in a row, if values are numbers or arrays of them; what is reached is kept."""
    study = problem if isinstance(problem, OptimalControl) else OptimalControl(problem)  # type: ignore[arg-type]
    asked = list(values)
    if not asked:
        raise GyrostatError(f"{WHO}: there are no values.")
    if isinstance(halvings, bool) or not isinstance(halvings, int) or halvings < 0:
        raise GyrostatError(f"{WHO}: halvings must be a whole number of at least 0, got {clipped(halvings)}.")
    name = path if isinstance(path, str) else getattr(path, "__name__", "function")
    solved: list[tuple[Any, OptimalMotion]] = []
    last: Any = guess
    for value in asked:
        goal, halved = value, 0
        while True:
            motion = changed(study, path, goal).run(last, progress)
            if motion.converged:
                solved.append((goal, motion))
                last = motion
                if goal is value:
                    break
                goal, halved = value, 0 if halved == 0 else halved - 1
                continue
            halfway = _between(solved[-1][0], goal) if solved and halved < halvings else None
            if halfway is None or motion.message.startswith("interrupted"):
                why = f"{name} = {clipped(goal)} did not converge: {motion.message}"
                return Continuation(name, *_columns(solved), False, why)
            goal, halved = halfway, halved + 1
    return Continuation(name, *_columns(solved), True)


def _columns(solved: list[tuple[Any, OptimalMotion]]) -> tuple[tuple[Any, ...], tuple[OptimalMotion, ...]]:
    return tuple(v for v, _ in solved), tuple(m for _, m in solved)


def _between(a: Any, b: Any) -> Any:
    """Half way; None where values are no numbers, or whole ones side by side."""
    try:
        x, y = np.asarray(a), np.asarray(b)
        middle = 0.5 * (x + y)
    except (TypeError, ValueError):
        return None
    if middle.dtype.kind != "f" or not np.all(np.isfinite(middle)):
        return None
    if x.dtype.kind == "i" and y.dtype.kind == "i":
        middle = np.round(middle).astype(int)
        if np.array_equal(middle, x) or np.array_equal(middle, y):
            return None
    return middle.tolist() if isinstance(b, list | tuple) else middle if middle.shape else middle.item()


# ------------------------------------------------------------------------------------------------ where the value goes
def changed(study: OptimalControl, path: Any, value: Any) -> OptimalControl:
    """The problem with another value."""
    if callable(path):
        made = path(study, value)
        if not isinstance(made, OptimalControl):
            raise GyrostatError(f"{WHO}: the function returned {clipped(made)}, expected gs.studies.OptimalControl.")
        return made
    if not isinstance(path, str) or not path:
        raise GyrostatError(f"{WHO}: path must be a text or a function, got {clipped(path)}.")
    steps = path.split(".")
    if steps[0] in study.__dataclass_fields__:
        made = _put(study, steps, value, path)
        return made  # type: ignore[no-any-return]
    if steps[0] in Phase.__dataclass_fields__:
        return replace(study, phases=tuple(_put(p, steps, value, path) for p in study.phases))
    if any(has_property(p.model, path) for p in study.phases):
        return replace(study, phases=tuple(replace(p, model=p.model.replace({path: value})) for p in study.phases))
    fields = (*study.__dataclass_fields__, *Phase.__dataclass_fields__)
    raise GyrostatError(f"{WHO}: '{path}' is no property of the robot and no field. Hint: {nearest(steps[0], fields)}")


def _put(place: Any, steps: list[str], value: Any, path: str) -> Any:
    if not steps:
        return value
    step, rest = steps[0], steps[1:]
    if isinstance(place, StudyData):
        fields = tuple(place.__dataclass_fields__)  # type: ignore[attr-defined]
        if step not in fields:
            raise GyrostatError(f"{WHO}: '{path}': no '{step}'. Hint: {nearest(step, fields)}")
        return replace(place, **{step: _put(getattr(place, step), rest, value, path)})  # type: ignore[type-var]
    if isinstance(place, dict):
        whole = ".".join(steps)
        if whole in place:  # names with dots
            return place | {whole: value}
        if step not in place and rest:
            raise GyrostatError(f"{WHO}: '{path}': no '{step}'. Hint: {nearest(step, [str(k) for k in place])}")
        return place | {step: _put(place.get(step), rest, value, path)}
    if isinstance(place, list | tuple | np.ndarray):
        if not step.isdecimal() or int(step) >= len(place):
            raise GyrostatError(f"{WHO}: '{path}': '{step}' is none of {len(place)} places, from 0")
        parts = list(place)
        parts[int(step)] = _put(parts[int(step)], rest, value, path)
        return np.array(parts, dtype=float) if isinstance(place, np.ndarray) else type(place)(parts)
    raise GyrostatError(f"{WHO}: '{path}': there is nothing inside {clipped(place)} that could be called '{step}'.")
