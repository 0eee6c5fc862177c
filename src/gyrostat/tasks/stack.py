"""Inverse kinematics as a stack of tasks: rates for one step, or a configuration."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from gyrostat.configuration.deflections import deflections
from gyrostat.configuration.packing import coordinates, names_of, together
from gyrostat.errors import GyrostatError, ShapeError, SpecError, StateError, clipped, nearest
from gyrostat.graph.network import kept_network
from gyrostat.solvers.collision.collision_program import collision_program
from gyrostat.solvers.collision.pair_choice import chosen_pairs
from gyrostat.spec.check import expect_model
from gyrostat.spec.model import Model
from gyrostat.tasks.coal_rows import CoalRows
from gyrostat.tasks.follow import Followed, followed
from gyrostat.tasks.layout import DAMPING, STEP, Place, first_numbers, layout
from gyrostat.tasks.limits import CollisionAvoidance, JointLimits, VelocityLimits, box
from gyrostat.tasks.program import Rows, TaskProgram
from gyrostat.tasks.scene import Scene
from gyrostat.tasks.search import Solution, solved
from gyrostat.tasks.step_solver import StepSolver
from gyrostat.tasks.task import Task, fraction, number, positive

Array = np.ndarray
WHO = "Stack"


class Stack:
    """Tasks of a robot, and limits that none of them may break.

    ``tasks``: :class:`Frame`, :class:`Position`, ... Those of one level are weighted against each other; a lower
    ``level`` comes strictly first. ``limits``: "model" for :class:`JointLimits` and :class:`VelocityLimits` of the
    joints, None, or a list of these and :class:`CollisionAvoidance`. ``damping`` adds damping |d|^2 to the cost of a
    step d, for each level. ``hold``: names of rates that stay at rest, as deflections of flexible links always do.

    Joints that no task needs do not move: of all motions, that of least norm is taken. Closed loops stay closed.
    Everything is compiled once; targets, weights and gains can change at any time (:meth:`set`)."""

    def __init__(
        self,
        model: Model,
        tasks: Task | Iterable[Task],
        limits: Any = "model",
        *,
        damping: float = 1e-6,
        hold: str | Sequence[str] = (),
    ):
        expect_model(model, WHO)
        self.model = model
        net = kept_network(model)
        self.tasks = _bound_tasks(net, tasks)
        position, velocity, self.avoidance = _chosen_limits(limits)
        bounds = box(net, position, velocity)
        at = layout(model.nq, model.nv, self.tasks, [task.target_size for task in self.tasks])
        self._x = first_numbers(at, self.tasks, bounds, self.avoidance, number(damping, WHO, "damping"))
        self._at, self._complete = at, False
        avoided = () if self.avoidance is None else chosen_pairs(model, self.avoidance.pairs, "CollisionAvoidance")
        collisions = collision_program(model, avoided)
        self.held = _held(model, hold)
        self._program = TaskProgram(model, self.tasks, at, bounds.followers, collisions.closed, self.held)
        self._coal = CoalRows.of(model, avoided, self.held)
        self._steps = StepSolver(self._program, self._coal, float(self._x[DAMPING]))
        self._expect_bounded(bounds.low, bounds.high)

    def _expect_bounded(self, low: Array, high: Array) -> None:
        if not self.tasks:
            raise SpecError.one(WHO, "tasks", "there are no tasks", "gs.tasks.Frame('hand', target)", None)
        if np.any(low > high):
            raise SpecError.one(WHO, "limits", "a lower limit is above an upper one", "exchange them", None)

    # ------------------------------------------------------------------ what can change
    @property
    def names(self) -> tuple[str, ...]:
        """Names of the tasks."""
        return tuple(task.name for task in self.tasks)

    def set(self, name: str, target: Any = None, *, weight: Any = None, gain: Any = None, damping: Any = None) -> None:
        """Change a task: its target, weights (one number, or one for each row), gain or damping; nothing is
        compiled."""
        task, place = self._task(name)
        if target is not None:
            numbers = task.target_numbers(target)
            if numbers.ndim != 1:
                raise ShapeError(f"{WHO}: '{name}' takes one target here. Hint: many: rates(q, dt, targets={{...}})")
            self._x[place.target] = numbers
        if weight is not None:
            self._x[place.weights] = task.reweighted(weight)
        if gain is not None:
            self._x[place.gain] = fraction(gain, WHO, "gain")
        if damping is not None:
            self._x[place.damping] = number(damping, WHO, "damping")

    def aim_here(self, q: Any, *names: str) -> None:
        """Let tasks (by default those without a target) keep what they have at q (nq,)."""
        at_q = coordinates(self.model, q, f"{WHO}.aim_here")
        if at_q.ndim != 1:
            raise ShapeError(f"{WHO}.aim_here: q has shape {at_q.shape}, expected ({self.model.nq},)")
        chosen = names or [t.name for t, p in zip(self.tasks, self._at.tasks, strict=True) if self._unset(p)]
        net, on = kept_network(self.model), self._program.setting(0.0)
        for name in chosen:
            task, place = self._task(name)
            self._x[place.target] = np.asarray(task.target_here(Scene(net, on, at_q)), dtype=float)

    def _unset(self, place: Place) -> bool:
        return bool(np.isnan(self._x[place.target]).any())

    def _task(self, name: str) -> tuple[Task, Place]:
        if name not in self.names:
            raise StateError(f"{WHO}: there is no task {clipped(name)}. Hint: {nearest(str(name), self.names)}")
        k = self.names.index(name)
        return self.tasks[k], self._at.tasks[k]

    def _numbers(self, targets: Mapping[str, Any] | None, who: str) -> Array:
        """The row of numbers, or rows (..., size) where there are many targets."""
        x = self._x
        if not targets and self._complete:
            return x
        for name, value in (targets or {}).items():
            task, place = self._task(name)
            numbers = task.target_numbers(value)
            shape, _ = together(who, **{name: (numbers, 1), "other targets": (x, 1)})
            x = np.broadcast_to(x, (*shape, x.shape[-1])).copy()
            x[..., place.target] = numbers
        if np.isnan(x).any():
            missing = [
                task.name
                for task, place in zip(self.tasks, self._at.tasks, strict=True)
                if np.isnan(x[..., place.target]).any()
            ]
            raise StateError(
                f"{who}: '{missing[0]}' has no target. Hint: stack.set('{missing[0]}', target), or aim_here(q)"
            )
        self._complete = x is self._x
        return x

    # ------------------------------------------------------------------ answers
    def rates(self, q: Any, dt: float, targets: Mapping[str, Any] | None = None, threads: int = 1) -> Array:
        """v (..., nv) that brings all tasks nearest to their targets within ``dt`` [s], for q (..., nq).

        Errors, Jacobians and the step come from machine code; a quadratic program is solved only where a limit is
        active. ``targets``: by name of the task, one or as many as q has rows. No rates that keep all limits: a
        :class:`StateError` that says what stands against what."""
        x = self._numbers(targets, "rates")
        if type(dt) is not float or not 0.0 < dt < np.inf:
            dt = positive(dt, "rates", "dt")
        if x[STEP] != dt if x.ndim == 1 else True:
            x[..., STEP] = dt
        if not (type(q) is np.ndarray and q.dtype == np.float64 and q.ndim == 1):
            q = coordinates(self.model, q, "rates")
        if q.ndim == 1 and x.ndim == 1:
            return self._steps.rates(q, x, dt)
        return self._steps.many(q, x, dt, threads)

    def errors(self, q: Any, targets: Mapping[str, Any] | None = None) -> dict[str, Array]:
        """e (..., m) of every task at q (..., nq), by name."""
        x = self._numbers(targets, "errors")
        found: Rows = self._program.rows(coordinates(self.model, q, "errors"), x)
        return self.by_task(found.e)

    def by_task(self, e: Array) -> dict[str, Array]:
        """Errors (..., m) of all tasks, by name."""
        sizes = [len(task.row_weights()) for task in self.tasks]
        parts = np.split(e, np.cumsum(sizes)[:-1], axis=-1)
        return dict(zip(self.names, parts, strict=True))

    def solve(
        self,
        q: Any = None,
        targets: Mapping[str, Any] | None = None,
        *,
        tolerance: float = 1e-9,
        iterations: int = 1000,
        history: bool = False,
    ) -> Solution:
        """The configuration (..., nq) in which the tasks are nearest to their targets, inside the limits of joints,
        from q (..., nq) on (at rest by default). See :class:`Solution`; rates are not limited."""
        x = self._numbers(targets, "solve")
        return solved(self, q, x, positive(tolerance, "solve", "tolerance"), iterations, history)

    def follow(self, q: Any, targets: Mapping[str, Any], t: Any) -> Followed:
        """The motion from q (nq,) on through the instants ``t`` (n,) [s], one step of :meth:`rates` each: every
        ``targets[name]`` is a function of the time, or an array of targets (n, ...); see :class:`Followed`."""
        return followed(self, q, targets, t)

    def __repr__(self) -> str:
        levels = "; ".join(
            ", ".join(t.name for t in self.tasks if t.level == level) for level in sorted({t.level for t in self.tasks})
        )
        return f"<stack of tasks of '{self.model.name}': {levels}>"


# ------------------------------------------------------------------------------------------------ what users give
def _bound_tasks(net: Any, given: Any) -> tuple[Task, ...]:
    tasks = (given,) if isinstance(given, Task) else tuple(given) if isinstance(given, Iterable) else (given,)
    found: list[Task] = []
    for task in tasks:
        if not isinstance(task, Task):
            raise GyrostatError(f"{WHO}: {clipped(task)} is no task. Hint: gs.tasks.Frame('hand', target)")
        found.append(task.bound(net))
    names = [task.name for task in found]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise SpecError.one(WHO, "tasks", f"two tasks are called '{twice[0]}'", "give one of them name='...'", twice[0])
    return tuple(found)


def _chosen_limits(given: Any) -> tuple[JointLimits | None, VelocityLimits | None, CollisionAvoidance | None]:
    """One of each kind, or none."""
    if isinstance(given, str) and given == "model":
        return JointLimits(), VelocityLimits(), None
    listed = () if given is None else tuple(given) if isinstance(given, list | tuple) else (given,)
    kinds = (JointLimits, VelocityLimits, CollisionAvoidance)
    for one in listed:
        if not isinstance(one, kinds) or sum(type(x) is type(one) for x in listed) > 1:
            message = f"limits is {clipped(given)}"
            raise SpecError.one(WHO, "limits", message, "'model', None, or one of each of JointLimits(), ...", given)
    joints = next((x for x in listed if isinstance(x, JointLimits)), None)
    speeds = next((x for x in listed if isinstance(x, VelocityLimits)), None)
    avoid = next((x for x in listed if isinstance(x, CollisionAvoidance)), None)
    if avoid is not None:
        avoid.expect_numbers()
    return joints, speeds, avoid


def _held(model: Model, hold: Any) -> Array:
    held = deflections(model)
    for name in names_of(hold, WHO, "hold"):
        if name not in model.dofs:
            raise StateError(f"{WHO}: hold: no rate '{name}'. Hint: {nearest(name, model.dofs)}")
        held[model.dofs.index(name)] = True
    return held
