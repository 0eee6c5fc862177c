"""Whole-body control as a digital block: a quadratic program at every sample, its torques held between samples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from gyrostat.errors import GyrostatError, nearest
from gyrostat.simulate.blocks.sampled import Sampled
from gyrostat.solvers.legs.tasks import Task
from gyrostat.solvers.legs.whole_body import WholeBodyProblem, WholeBodySolution
from gyrostat.spec.model import Model

Array = np.ndarray


@dataclass(frozen=True, eq=False, init=False)
class WholeBody(Sampled):
    """Torques ``tau`` of all joints of a robot on legs, from q and v, every ``sample_time`` [s]: accelerations and
    contact forces that obey the equations of motion, keep the contacts, stay in friction cones and below torque limits,
    and do the tasks as well as that allows, in the least squares that their weights say; see
    :class:`~gyrostat.solvers.legs.whole_body.WholeBodyProblem` for the options. Needs the extra ``control``.

    ``model`` is the one that control believes in: the plant may have a ground, other masses, drives. ``phases``, if
    given, is a function of t that names which contacts there are: {name: contacts} is ``contacts`` then. ``solution``:
    that of the last sample. A program without a solution ends the run with its reason."""

    kind: ClassVar[str] = "whole-body control"
    problems: Mapping[str, WholeBodyProblem] = field(default_factory=dict)

    def __init__(
        self,
        model: Model,
        contacts: Any,
        tasks: Sequence[Task],
        sample_time: float = 0.002,
        *,
        phases: Any = None,
        name: str = "",
        target: str = "tau",
        **options: Any,
    ):
        named = contacts if phases is not None else {"": contacts}
        problems = {str(key): WholeBodyProblem(model, some, tasks, **options) for key, some in named.items()}
        law = _Law(problems, phases)
        object.__setattr__(self, "problems", problems)
        super().__init__(law, sample_time, ("q", "v"), target, model.nv, name)

    @property
    def solution(self) -> WholeBodySolution | None:
        """Torques, accelerations and forces of the last sample; None before the first."""
        return self.function.solution  # type: ignore[attr-defined]


class _Law:
    """What is called at every sample."""

    def __init__(self, problems: Mapping[str, WholeBodyProblem], phases: Any):
        self.problems, self.phases = problems, phases
        self.solution: WholeBodySolution | None = None

    def __call__(self, t: float, q: Array, v: Array) -> Array:
        key = "" if self.phases is None else str(self.phases(t))
        if key not in self.problems:
            raise GyrostatError(f"WholeBody: there is no phase {key!r}. Hint: {nearest(key, self.problems)}")
        self.solution = self.problems[key].solve(t, q, v)
        return self.solution.tau
