"""The machine code of a stack: errors and Jacobians of all tasks, bounds, and the step itself, each in one call.

With W the weights, d = v dt the step of one level is

    min  sum over tasks of |W (J d + gain e)|^2 + (damping + sum of damping_i |W gain e|^2) |d|^2

inside the bounds; where none is active it is H d = -h, which is solved in machine code."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MethodType
from typing import Any, NamedTuple

import numpy as np

from gyrostat.algorithms.constrained.loop_equations import loop_equations
from gyrostat.algorithms.constrained.sparse_ldl import is_zero
from gyrostat.algorithms.matrices.body_jacobians import tied_row
from gyrostat.configuration.packing import coordinates
from gyrostat.engine.cpython.direct import Direct
from gyrostat.engine.kernel import Kernel
from gyrostat.engine.tracing.choose import maximum
from gyrostat.engine.tracing.choose import minimum as least
from gyrostat.errors import GyrostatError, NonFiniteError
from gyrostat.graph.contacts import Candidate
from gyrostat.graph.loops.explain import refuse_unsolved
from gyrostat.graph.network import kept_network
from gyrostat.solvers.collision.collision_program import closed_gaps
from gyrostat.solvers.machinery.machine_call import install_machine_call, written_class
from gyrostat.solvers.machinery.solver import Solver
from gyrostat.spec.model import Model
from gyrostat.tasks.layout import AVOID, DAMPING, EXTRA, SHARE, STEP, Numbers
from gyrostat.tasks.limits import NEVER, Follower
from gyrostat.tasks.normal_equations import minimum, normal_equations, product
from gyrostat.tasks.scene import Scene
from gyrostat.tasks.task import Task

Array = np.ndarray
Arrays = Mapping[str, Any]


class Step(NamedTuple):
    """``v`` = d/dt and ``d`` (nv,) without bounds; ``h`` (nv,), half the slope of the cost; ``told`` (2,): by how much
    the worst bound is broken (0 or less: none), and sum of |W e|^2."""

    v: Array
    d: Array
    h: Array
    told: Array


class Bounded(NamedTuple):
    """min 1/2 y^T H y + h^T y, lower <= (y, rows y) <= upper (nv + k,), of d = min(dt, 1) y; H has entries of about
    one."""

    H: Array
    h: Array
    rows: Array
    lower: Array
    upper: Array


class Rows(NamedTuple):
    """Weighted rows A (m, nv) and wanted r (m,) of all tasks, level by level; dampings (levels,); errors e (m,) as they
    are; bounds; equations of closed loops: J (c, nv), g (c,)."""

    A: Array
    r: Array
    e: Array
    damping: Array
    low: Array
    high: Array
    rows: Array
    least: Array
    most: Array
    J: Array
    g: Array


class TaskProgram(Solver):
    """Everything that a stack computes at q (nq,) with its numbers x."""

    name = "tasks"
    loops = "any"

    def __init__(
        self,
        model: Model,
        tasks: Sequence[Task],
        numbers: Numbers,
        followers: Sequence[Follower],
        candidates: Sequence[Candidate],
        held: Array,
    ):
        super().__init__(model, "absolute")
        if self.network.driven:
            raise GyrostatError(f"Stack: the base of '{model.name}' moves with time. Hint: use a fixed or a free base")
        self.tasks, self.numbers, self.held = tuple(tasks), numbers, held
        self.followers, self.candidates = tuple(followers), tuple(candidates)
        self.levels = sorted({task.level for task in tasks})
        q, x = (model.nq,), (numbers.size,)
        made = partial(self._part, {"q": q, "x": x})
        self.step = made(self._step, Step)
        self.bounded = made(self._bounded, Bounded)
        self.rows = made(self._rows, Rows)

    def _part(self, inputs: Any, function: Callable[..., Arrays], result: Any) -> Part:
        def kernel() -> Kernel:
            return self._kernel(result.__name__, lambda **x: function(self._scene_at(x), x["x"]), inputs)

        return Part(self.model, kernel, result)

    def _scene_at(self, x: Arrays) -> Scene:
        net, on = self._scene(x)
        return Scene(net, on, x["q"])

    # ------------------------------------------------------------------ recorded
    def _wanted(self, at: Scene, x: Array) -> list[tuple[Task, Array, Array, Array, Any]]:
        """Task, e, W J without what is held, -W gain e, its own damping."""
        found = []
        for task, place in zip(self.tasks, self.numbers.tasks, strict=True):
            e, J = task.rows(at, x[place.target])
            J = np.where(self.held[None, :], 0.0, J)
            w, gain = x[place.weights], x[place.gain]
            A = np.array([[0.0 if is_zero(c) else c * k for c in row] for row, k in zip(J, w, strict=True)])
            r = -(w * e * gain)
            found.append((task, e, A.reshape(J.shape), r, x[place.damping] * (r @ r if len(r) else 0.0)))
        return found

    def _equations(self, at: Scene, x: Array) -> tuple[Array, Array, Any]:
        """H, h = -(wanted), and the sum of |W e|^2."""
        wanted = self._wanted(at, x)
        A = np.concatenate([one[2] for one in wanted])
        r = np.concatenate([one[3] for one in wanted])
        damping = x[DAMPING] + x[EXTRA] + sum((one[4] for one in wanted), 0.0)
        H, minus = normal_equations(A, r, damping)
        weighted = [x[place.weights] * one[1] for one, place in zip(wanted, self.numbers.tasks, strict=True)]
        return H, -minus, sum((w @ w for w in weighted if len(w)), 0.0)

    def _step(self, at: Scene, x: Array) -> Arrays:
        H, h, cost = self._equations(at, x)
        d = minimum(H, -h)
        low, high, rows, below, above = self._bounds(at, x)
        worst: Any = -NEVER
        for value, a, b in zip([*d, *product(rows, d)], [*low, *below], [*high, *above], strict=True):
            worst = maximum(worst, maximum(a - value, value - b))
        return {"v": d * (1.0 / x[STEP]), "d": d, "h": h, "told": np.array([worst, cost])}

    def _bounded(self, at: Scene, x: Array) -> Arrays:
        H, h, _ = self._equations(at, x)
        low, high, rows, below, above = self._bounds(at, x)
        size = H[0, 0]
        for k in range(1, len(h)):
            size = maximum(size, H[k, k])
        small, unit = 1.0 / size, least(x[STEP], 1.0)
        ends = np.concatenate([low, below]), np.concatenate([high, above])
        lower, upper = (np.array([end * (1.0 / unit) for end in side]) for side in ends)
        H = np.array([[0.0 if is_zero(c) else c * small for c in row] for row in H])
        return {"H": H, "h": h * (small / unit), "rows": rows, "lower": lower, "upper": upper}

    def _rows(self, at: Scene, x: Array) -> Arrays:
        wanted = self._wanted(at, x)
        by_level = [one for level in self.levels for one in wanted if one[0].level == level]
        dampings = [
            x[DAMPING] + x[EXTRA] + sum((one[4] for one in wanted if one[0].level == level), 0.0)
            for level in self.levels
        ]
        loops = loop_equations(at.net, at.q) if at.net.closures else None
        nv = self.model.nv
        J, g = (
            (np.zeros((0, nv)), np.zeros(0)) if loops is None else (np.where(self.held[None, :], 0.0, loops.J), loops.g)
        )
        low, high, rows, below, above = self._bounds(at, x)
        A, r = np.concatenate([one[2] for one in by_level]), np.concatenate([one[3] for one in by_level])
        e = np.concatenate([one[1] for one in wanted])
        return {
            "A": A, "r": r, "e": e, "damping": np.array(dampings), "low": low, "high": high, "rows": rows,
            "least": below, "most": above, "J": J, "g": g,
        }  # fmt: skip

    def _bounds(self, at: Scene, x: Array) -> tuple[Array, Array, Array, Array, Array]:
        """Of d; rows over the rates, and their bounds."""
        dt, share, model = x[STEP], x[SHARE], self.model
        fast = x[self.numbers.most] * dt
        low, high = np.array(-fast), np.array(fast)
        for k, j in zip(model.layout.number_q, model.layout.number_v, strict=True):
            low[j] = _inside((x[self.numbers.low][k] - at.q[k]) * share, fast[j])
            high[j] = _inside((x[self.numbers.high][k] - at.q[k]) * share, fast[j])
        low, high = (np.where(self.held, sign * NEVER, side) for sign, side in ((-1.0, low), (1.0, high)))
        rows, below, above = self._follower_rows(at, x)
        if self.candidates:
            found = closed_gaps(at.net, at.on, self.candidates, at.q)
            distance, part, _ = x[AVOID]
            rows += list(np.where(self.held[None, :], 0.0, found["gradient"]))
            below += [(distance - gap) * part for gap in found["gap"]]
            above += [NEVER] * len(self.candidates)
        count = len(rows)
        return low, high, np.array(rows).reshape(count, model.nv), np.array(below), np.array(above)

    def _follower_rows(self, at: Scene, x: Array) -> tuple[list[Any], list[Any], list[Any]]:
        """Of joints that follow by curves, or several others."""
        rows: list[Any] = []
        below: list[Any] = []
        above: list[Any] = []
        if self.followers:
            moved = at.net.transmission.at(at.q)
            every = moved.coordinates(at.q)
            for one in self.followers:
                fast = min(one.most, NEVER) * x[STEP]
                ends = (np.clip(end, -NEVER, NEVER) for end in (one.low, one.high))
                less, more = (_inside((end - every[one.q_at]) * x[SHARE], fast) for end in ends)
                rows.append(np.where(self.held, 0.0, tied_row(moved.ties(one.v_at), self.model.nv)))
                below.append(less)
                above.append(more)
        return rows, below, above


def _inside(x: Any, most: Any) -> Any:
    return maximum(-most, least(x, most))


class Part(Direct):
    """A function of (q, x), in machine code from its first call on; plain arrays go there at once."""

    def __init__(self, model: Model, kernel: Callable[[], Kernel], result: Any):
        self.model, self._made, self.result = model, kernel, result

    def __call__(self, q: Any, x: Any, threads: int = 1) -> Any:
        kernel = self.__dict__.get("_kernel")
        if kernel is None:
            kernel = self._kernel = self._made()
            general = MethodType(written_class(self).__call__, self)
            if install_machine_call(self, kernel, [], general, self.result) and threads == 1:
                return self(q, x)  # by the builtin, now and from now on
        return self.result(**kernel.call(q, x, threads=threads, explain=lambda: self._explain(q, x)))

    def _explain(self, q: Any, x: Any) -> None:
        read = coordinates(self.model, q, "tasks")
        refuse_unsolved(kept_network(self.model), read, "tasks")
        if not np.isfinite(x).all():
            raise NonFiniteError("tasks: a target is missing or not finite. Hint: stack.set(name, target=...)")
