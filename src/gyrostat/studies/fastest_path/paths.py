"""Geometric paths q(s): through waypoints, as a function of s, or along a trajectory; with exact derivatives by s."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np

from gyrostat.engine.drivers.driver import driver
from gyrostat.engine.drivers.words import ptr, words
from gyrostat.engine.kernel import Kernel
from gyrostat.engine.tracing.choose import where
from gyrostat.engine.tracing.record import record
from gyrostat.engine.tracing.taylor import Taylor, series
from gyrostat.errors import RecordError, ShapeError, SpecError, StateError, clipped
from gyrostat.simulate.blocks.recorded_motion import recorded_motion
from gyrostat.simulate.trajectories.given import finite_array
from gyrostat.simulate.trajectories.piecewise import Piecewise
from gyrostat.simulate.trajectories.spline import spline
from gyrostat.simulate.trajectories.trajectory import Trajectory
from gyrostat.spec.model import Model
from gyrostat.studies.fastest_path.jumps import jumps

Array = np.ndarray
WHO = "time_optimal"
PIECES = 200
"""Paths of more breaks are not recorded: every piece is code."""


class Path(ABC):
    """q(s) (n,) for s from ``start`` to ``end``; ``breaks``: where derivatives may jump; ``smoothness``: highest order
    that is continuous there; ``available``: highest order that is known."""

    start: float
    end: float
    n: int
    breaks: Array
    smoothness: float
    available: float = math.inf

    @abstractmethod
    def derivatives(self, s: Array, order: int = 2) -> Array:
        """(order + 1, P, n) for s (P,): d^k q / ds^k. At a break: from the right, at the end from the left."""

    def recorded(self, s: Any, order: int) -> Array:
        """(order + 1, n) at a recorded s inside."""
        raise RecordError(f"{WHO}: this path cannot be recorded. Hint: a function of s, or waypoints")

    def inside(self, s: Array) -> Array:
        """s, kept between the ends."""
        return np.clip(s, self.start, self.end)


class PolynomialPath(Path):
    """Polynomials in powers of the distance from the last break; evaluated in machine code."""

    def __init__(self, motion: Piecewise):
        h, d = np.diff(motion.breaks), len(motion.differences) - 1
        powers = [math.comb(d, k) * motion.differences[k][:, 0] / h[:, None] ** k for k in range(d + 1)]
        self.coefficients = np.ascontiguousarray(np.stack(powers, axis=1))  # (pieces, d + 1, n)
        self.breaks, self.n, self.smoothness = motion.breaks, motion.n, motion.inner
        self.start, self.end = float(motion.breaks[0]), float(motion.breaks[-1])

    def derivatives(self, s: Array, order: int = 2) -> Array:
        flat = np.ascontiguousarray(self.inside(s), dtype=float)
        piece = np.clip(np.searchsorted(self.breaks, flat, side="right") - 1, 0, len(self.breaks) - 2)
        result = np.zeros((order + 1, len(flat), self.n))
        scratch, places = np.zeros(order + 1), np.ascontiguousarray(piece, dtype=np.int64)
        size = self.coefficients.shape[1] - 1
        local = np.ascontiguousarray(flat - self.breaks[piece])
        arrays = (places, local, self.coefficients, scratch, result)
        addresses = [x.ctypes.data for x in arrays]
        if order == 2:
            driver(twice_evaluated).call(len(flat), self.n, size, *addresses)
        else:
            driver(evaluated).call(len(flat), self.n, size, order, *addresses)
        return result

    def recorded(self, s: Any, order: int) -> Array:
        breaks = self.breaks.tolist()
        if len(breaks) > PIECES:
            raise RecordError(f"{WHO}: a path of {len(breaks) - 1} pieces is too long to be recorded ({PIECES - 1})")
        c, local = self.coefficients[0], s - breaks[0]
        for start, table in zip(breaks[1:-1], self.coefficients[1:], strict=True):
            c, local = where(s >= start, table, c), where(s >= start, s - start, local)
        rows = []
        for k in range(order + 1):
            value = 0.0 * self.coefficients[0, 0]
            for p in range(len(c) - 1, k - 1, -1):
                value = value * local + math.perm(p, k) * c[p]
            rows.append(value)
        return np.array(rows)


def twice_evaluated(count: int, n: int, degree: int, piece: words, x: ptr, c: ptr, scratch: ptr, result: ptr) -> int:
    """:func:`evaluated` for two derivatives, in registers. 0."""
    q1, q2 = result + count * n, result + 2 * count * n
    for i in range(count):
        table = c + piece[i] * (degree + 1) * n
        at = x[i]
        for j in range(n):
            value, slope, bend = 0.0, 0.0, 0.0
            for back in range(degree + 1):
                bend = bend * at + slope
                slope = slope * at + value
                value = value * at + table[(degree - back) * n + j]
            result[i * n + j] = value
            q1[i * n + j] = slope
            q2[i * n + j] = 2.0 * bend
    return 0


def evaluated(
    count: int, n: int, degree: int, order: int, piece: words, x: ptr, c: ptr, scratch: ptr, result: ptr
) -> int:
    """Horner's rule with derivatives: result (order + 1, count, n). 0."""
    for i in range(count):
        table = c + piece[i] * (degree + 1) * n
        for j in range(n):
            for k in range(order + 1):
                scratch[k] = 0.0
            for back in range(degree + 1):
                p = degree - back
                for other in range(order):
                    k = order - other
                    scratch[k] = scratch[k] * x[i] + scratch[k - 1]
                scratch[0] = scratch[0] * x[i] + table[p * n + j]
            factorial = 1.0
            for k in range(order + 1):
                result[(k * count + i) * n + j] = scratch[k] * factorial
                factorial = factorial * (k + 1.0)
    return 0


class FunctionPath(Path):
    """A function of s, recorded on truncated Taylor series: derivatives of any order are exact."""

    def __init__(self, function: Callable[[Any], Any], interval: tuple[float, float]):
        self.function, (self.start, self.end) = function, interval
        self.smoothness = math.inf
        self.breaks = np.array(interval)
        self._kernels: dict[int, Kernel] = {}
        self.n = self._kernel(0).program.outputs[0].shape[1]

    def _kernel(self, order: int) -> Kernel:
        if order not in self._kernels:

            def recorded(s: Array) -> dict[str, Any]:
                q = np.atleast_1d(np.asarray(self.function(series([s[()], 1.0, *[0.0] * (order - 1)][: order + 1]))))
                if q.ndim != 1:
                    raise ShapeError(f"{WHO}: path(s) has shape {q.shape}, expected (nq,) for one s")
                rows = [x.derivatives() if type(x) is Taylor else [x, *[0.0] * order] for x in q]
                return {"q": np.array(rows, dtype=object).T}

            try:
                program = record(recorded, {"s": ()}, "path")
            except (RecordError, TypeError) as error:
                raise RecordError(
                    f"{WHO}: the path cannot be recorded ({error}). Hint: write it with NumPy functions of s"
                ) from error
            self._kernels[order] = Kernel(program, "path")
        return self._kernels[order]

    def derivatives(self, s: Array, order: int = 2) -> Array:
        result = self._kernel(order).call(np.ascontiguousarray(self.inside(s), dtype=float))["q"]
        return np.ascontiguousarray(np.moveaxis(result, -2, 0))

    def recorded(self, s: Any, order: int) -> Array:
        q = np.atleast_1d(np.asarray(self.function(series([s, 1.0, *[0.0] * order][: order + 1]))))
        return np.array([x.derivatives() if type(x) is Taylor else [x, *[0.0] * order] for x in q], dtype=object).T


class TrajectoryPath(Path):
    """The path of a trajectory, whatever its timing was: s is its time."""

    def __init__(self, motion: Trajectory):
        self.motion, self.start, self.end, self.n = motion, 0.0, float(motion.duration), motion.n
        self.breaks, self.smoothness = np.array([0.0, self.end]), motion.inner
        self.available = min(motion.available, motion.inner + 1)

    def derivatives(self, s: Array, order: int = 2) -> Array:
        return np.ascontiguousarray(np.moveaxis(self.motion.at(self.inside(s), order), 1, 0))

    def recorded(self, s: Any, order: int) -> Array:
        return recorded_motion(self.motion, s, order)


def read_path(model: Model, path: Any, interval: Any, degree: int) -> Path:
    """A path for the model from what the user gave."""
    if model.nq != model.nv:
        quaternions = ", ".join(block.entity for block in model.layout if block.nq != block.nv)
        raise StateError(
            f"{WHO}: '{model.name}' has quaternions in q ({quaternions}): a path through them is no curve of numbers "
            "that add. Hint: lock the joint, or describe it by three revolute joints"
        )
    if isinstance(path, Path):
        found = path
    elif isinstance(path, Trajectory):
        found = PolynomialPath(path) if isinstance(path, Piecewise) and path.outside != "continue" else None
        found = TrajectoryPath(path) if found is None else found
    elif callable(path):
        found = FunctionPath(path, _interval(interval))
    else:
        found = through(path, model.nq, degree)
    if interval is not None and not isinstance(found, FunctionPath):
        raise SpecError.one(WHO, "interval", "only a path that is a function of s has one", "leave it out", interval)
    if found.n != model.nq:
        raise ShapeError(f"{WHO}: the path has {found.n} coordinates, expected {model.nq} = nq of '{model.name}'")
    if found.smoothness < 1:
        message = "the path has corners, where no robot can pass without stopping"
        raise SpecError.one(WHO, "path", message, "a spline of degree 3 or higher, or one path for each side", path)
    if isinstance(found, FunctionPath) or (isinstance(found, TrajectoryPath) and found.smoothness < 2):
        _look_for_jumps(found)
    return found


def _look_for_jumps(path: FunctionPath | TrajectoryPath) -> None:
    """Paths that do not say where they are not smooth: corners are refused, jumps of q'' become breaks."""
    if not np.abs(path.derivatives(np.linspace(path.start, path.end, 101), 1)[1]).max() > 0.0:
        raise SpecError.one(WHO, "path", "the path stays where it is", "a path with a length", None)
    for order, what in ((0, "the path jumps"), (1, "the path has a corner")):
        at = jumps(path.derivatives, path.start, path.end, order)
        if len(at):
            message = f"{what} at s = {at[0]:.9g}, where no robot can pass without stopping"
            raise SpecError.one(WHO, "path", message, "a smoother path, or one path for each side", None)
    at = jumps(path.derivatives, path.start, path.end, 2)
    if len(at):
        path.smoothness = 1
        path.breaks = np.concatenate([[path.start], at, [path.end]])


def through(points: Any, n: int, degree: int) -> PolynomialPath:
    """A spline with natural ends through waypoints (k, nq), at s = 0 ... 1 in proportion to the distances between."""
    q = finite_array(points, WHO, "path")
    if q.ndim != 2 or q.shape[1] != n or len(q) < 2:
        raise ShapeError(f"{WHO}: waypoints have shape {q.shape}, expected (2 or more, {n}): one row for each point")
    if degree not in (3, 5, 7, 9):
        raise SpecError.one(WHO, "degree", f"degree is {clipped(degree)}", "3, 5, 7 or 9", degree)
    lengths = np.linalg.norm(np.diff(q, axis=0), axis=1)
    if np.any(lengths == 0.0):
        k = int(np.argmin(lengths))
        raise SpecError.one(WHO, "path", f"waypoints {k} and {k + 1} are the same", "leave one of them out", points)
    s = np.concatenate([[0.0], np.cumsum(lengths)])
    made = spline(s / s[-1], q, min(degree, 2 * len(q) - 3), "natural")  # less: a polynomial through all points
    return PolynomialPath(made)  # type: ignore[arg-type]


def _interval(given: Any) -> tuple[float, float]:
    if given is None:
        return 0.0, 1.0
    ends = finite_array(given, WHO, "interval")
    if ends.shape != (2,) or not ends[0] < ends[1]:
        raise SpecError.one(WHO, "interval", f"interval is {clipped(given)}", "(0, 1): where s begins and ends", given)
    return float(ends[0]), float(ends[1])
