"""Calibration repeated in time: how a robot's numbers wander with temperature and wear.

Each session is linearised about its own estimate; the numbers follow a random walk, whose rate is stated or the most
likely one, and are smoothed (:mod:`.random_walk`). A robot that warms up follows

    p(t) = p_end + (p_start - p_end) exp(-t / tau)

with one time constant for all numbers, which is fitted to all sessions at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gyrostat.errors import GyrostatError, clipped, nearest
from gyrostat.spec.check import expect_model
from gyrostat.spec.model import Model
from gyrostat.studies.calibration.equations import Equations
from gyrostat.studies.calibration.least_squares import LeastSquares
from gyrostat.studies.calibration.measurement import Measurement
from gyrostat.studies.calibration.random_walk import Walk, walk
from gyrostat.studies.progress import Progress
from gyrostat.studies.report import Report
from gyrostat.studies.study_data import StudyData

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Array = np.ndarray
WHO = "calibrate_drift"
ROUNDS = 3


@dataclass(frozen=True, eq=False)
class WarmUp(StudyData):
    """``tau`` and its standard deviation [units of the times]; ``start``, ``end`` (n,) of the ``parameters``; ``chi2``
    of the curve and of ``free`` estimates of every session, which has ``freedom`` more numbers."""

    tau: float
    tau_deviation: float
    start: Array
    end: Array
    parameters: tuple[str, ...]
    chi2: float
    free_chi2: float
    freedom: int

    def values(self, t: Any) -> Array:
        """(..., n) at times t (...), from 0 on."""
        decay = np.exp(-np.asarray(t, dtype=float) / self.tau)[..., None]
        return self.end + (self.start - self.end) * decay


@dataclass(frozen=True, eq=False)
class Drift(StudyData):
    """Numbers of the robot at the ``times`` (k,) of the sessions: ``values`` (k, n) and ``standard_deviations`` know
    all sessions, ``filtered`` (k, n) those until then. ``rates`` (n,): standard deviation after one unit of time."""

    model: Model
    study: Any
    times: Array
    parameters: tuple[str, ...]
    units: tuple[str, ...]
    values: Array
    standard_deviations: Array
    filtered: Array
    filtered_deviations: Array
    rates: Array
    changes: Array
    triangles: Array
    right_sides: Array
    left: Array
    finished: bool = True
    message: str = "all sessions"

    def values_at(self, t: Any) -> Array:
        """(..., n): the mean of the random walk: linear between sessions, constant before and after them."""
        t = np.asarray(t, dtype=float)
        return np.stack([np.interp(t, self.times, column) for column in self.values.T], axis=-1)

    def model_at(self, t: float) -> Model:
        """The corrected robot at a time, by ``model.replace``."""
        x = np.array([np.interp(t, self.times, column) for column in self.changes.T])
        equations = Equations(self.model, self.study[0], self.study[1], WHO)
        return equations.robot.changed(equations.split(x)[0])

    def warm_up(self) -> WarmUp:
        """The curve of a robot that warms up from time 0 on."""
        return _warm_up(self)

    def figure(self) -> Figure:
        """Smoothed and filtered numbers over time with two standard deviations, largest changes first."""
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        size = np.ptp(self.values, axis=0) / np.maximum(self.standard_deviations.mean(axis=0), 1e-300)
        chosen = np.argsort(-size)[:6]
        figure = Figure(figsize=(9.0, 2.2 * ((len(chosen) + 1) // 2)), layout="constrained")
        FigureCanvasAgg(figure)
        grid = figure.subplots((len(chosen) + 1) // 2, 2 if len(chosen) > 1 else 1, squeeze=False)
        for axes, k in zip(grid.flat, chosen, strict=False):
            unit = {"m": ("mm", 1e3), "rad": ("mrad", 1e3)}.get(self.units[k], (self.units[k], 1.0))
            y, s = (unit[1] * x[:, k] for x in (self.values - self.values[0], self.standard_deviations))
            axes.fill_between(self.times, y - 2 * s, y + 2 * s, alpha=0.2)
            axes.plot(self.times, y, "-", label="smoothed")
            axes.plot(self.times, unit[1] * (self.filtered - self.values[0])[:, k], ".", label="filtered")
            axes.set(title=self.parameters[k], ylabel=f"change [{unit[0]}]", xlabel="time")
            axes.grid(alpha=0.3)
        grid[0, 0].legend()
        return figure

    def report(self) -> Report:
        """Numbers over time as table and figure."""
        report = Report(f"Drift of {self.model.name}")
        report.text(f"{len(self.times)} sessions: {self.message}.")
        rows = [
            (name, self.units[k], float(self.values[0, k]), float(self.values[-1, k]),
             float(self.standard_deviations[-1, k]), float(self.rates[k]))
            for k, name in enumerate(self.parameters)
        ]  # fmt: skip
        report.table(("parameter", "unit", "first", "last", "deviation of last", "rate"), rows)
        return report.figure(self.figure(), "Changes since the first session with two standard deviations")


def calibrate_drift(
    model: Model,
    sessions: Sequence[tuple[float, Any]],
    parameters: Sequence[str] | Mapping[str, Any],
    *,
    drifting: Sequence[str] | None = None,
    rates: float | Mapping[str, float] | None = None,
    progress: Any = None,
) -> Drift:
    """Numbers of a robot as functions of time, from ``sessions`` [(time, measurements), ...] in order of time.

    ``drifting``: the unknowns that change (by their names, or the beginnings of these), all of the robot by default;
    the others are constant. ``rates``: name -> standard deviation after one unit of time, or one number in parts of how
    large an error may be (20 mm, 20 mrad, ...); None: the most likely number.

    All measurements need their noise; sessions have the same kinds of unknowns."""
    expect_model(model, WHO)
    times, measured = _read_sessions(sessions)
    systems = [Equations(model, m, parameters, WHO) for m in measured]
    names = [c.name for c in systems[0].columns]
    for k, system in enumerate(systems):
        if [c.name for c in system.columns] != names:
            raise GyrostatError(
                f"{WHO}: session {k} has other unknowns than session 0. Hint: the same names of measurements in each."
            )
    moving = _moving(names, drifting, len(systems[0].robot.columns))
    scale = systems[0].scale
    finished, message = True, "all sessions"

    def smoothed(x: Array, rate: Any) -> tuple[Walk, Any, Array]:
        """Linearised about x (k, n), and smoothed."""
        seen = [_compressed(s, xk) for s, xk in zip(systems, x, strict=True)]
        Q = _rates(rate, moving, names, scale, times, seen)
        return walk(times, [(R, y) for R, y, _ in seen], Q), seen, Q

    with Progress(progress, WHO, ROUNDS * len(times)) as shown:
        found, seen, Q = smoothed(np.tile(_common(systems), (len(times), 1)), rates)
        try:
            for _ in range(ROUNDS - 1):
                shown.step(len(times), f"log likelihood {found.log_likelihood:.6g}")
                found, seen, Q = smoothed(found.smoothed, rates)
        except KeyboardInterrupt:
            finished, message = False, "interrupted: linearised about an earlier round"
    return _gathered(model, measured, parameters, times, systems, found, seen, Q, finished, message)


def _gathered(
    model: Model, measured: Any, parameters: Any, times: Array, systems: Any, found: Walk, seen: Any, Q: Array,
    finished: bool, message: str,
) -> Drift:  # fmt: skip
    native = lambda x: np.array([s.native(xk) for s, xk in zip(systems, x, strict=True)])  # noqa: E731
    slopes = np.array([np.abs(s.native_slopes(xk)) for s, xk in zip(systems, found.smoothed, strict=True)])
    deviations = [
        np.sqrt(np.maximum(np.diagonal(C, axis1=1, axis2=2), 0.0)) * slopes
        for C in (found.smoothed_covariance, found.filtered_covariance)
    ]
    columns = systems[0].columns
    return Drift(
        model, [tuple(measured[0]), parameters], times, tuple(c.name for c in columns), tuple(c.unit for c in columns),
        native(found.smoothed), deviations[0], native(found.filtered), deviations[1], np.sqrt(Q) * systems[0].scale,
        found.smoothed, np.array([R for R, _, _ in seen]), np.array([y for _, y, _ in seen]),
        np.array([c for _, _, c in seen]), finished, message,
    )  # fmt: skip


def _read_sessions(sessions: Any) -> tuple[Array, list[list[Measurement]]]:
    pairs: list[Any] = [tuple(s) if isinstance(s, tuple | list) else () for s in sessions] if sessions else []
    if len(pairs) < 2 or any(len(p) != 2 for p in pairs):
        raise GyrostatError(f"{WHO}: sessions must be two or more (time, measurements), got {clipped(sessions)}.")
    times = np.array([float(t) for t, _ in pairs])
    if not np.all(np.isfinite(times)) or np.any(np.diff(times) <= 0.0):
        raise GyrostatError(f"{WHO}: times must grow from session to session, got {clipped(times.tolist())}.")
    measured = [[m] if isinstance(m, Measurement) else list(m) for _, m in pairs]
    for session in measured:
        for m in session:
            if m.planned:
                raise m.refused("nothing was measured", "numbers")
            if m.std is None and m.covariance is None:
                raise m.refused("its noise is not stated", "std or covariance")
    return times, measured


def _moving(names: Sequence[str], drifting: Any, robot: int) -> Array:
    if drifting is None:
        return np.arange(len(names)) < robot
    moving = np.zeros(len(names), dtype=bool)
    for word in [drifting] if isinstance(drifting, str) else drifting:
        hits = [k for k, name in enumerate(names) if name == word or name.startswith(f"{word}.")]
        if not hits:
            raise GyrostatError(f"{WHO}: {clipped(word)} is no unknown. Hint: {nearest(str(word), names)}")
        moving[hits] = True
    return moving


def _common(systems: Sequence[Equations]) -> Array:
    """One constant x for all sessions."""
    low = np.array([c.low / c.scale for c in systems[0].columns])
    high = np.array([c.high / c.scale for c in systems[0].columns])
    search = LeastSquares(
        lambda x: np.concatenate([s.evaluate(x) for s in systems]),
        lambda x: np.concatenate([s.jacobian(x) for s in systems]),
        low, high,
    )  # fmt: skip
    return search.fit(systems[0].start()).x


def _compressed(system: Equations, x: Array) -> tuple[Array, Array, float]:
    """R (n, n), y (n,) and what is left: |e + J (z - x)|^2 = |R z - y|^2 + left."""
    J, e = system.jacobian(x), system.evaluate(x)
    n = J.shape[1]
    Q, R = np.linalg.qr(np.vstack([J, np.zeros((max(0, n - len(J)), n))]))
    whole = np.concatenate([J @ x - e, np.zeros(max(0, n - len(J)))])
    y = Q.T @ whole
    return R, y, float(max(0.0, whole @ whole - y @ y))


def _rates(rates: Any, moving: Array, names: Sequence[str], scale: Array, times: Array, seen: Any) -> Array:
    """Q (n,) of x per unit of time."""
    if isinstance(rates, Mapping):
        Q = np.zeros(len(names))
        for name, rate in rates.items():
            if name not in names or not moving[names.index(name)] or not float(rate) >= 0.0:
                raise GyrostatError(
                    f"{WHO}: rates has {clipped(name)}: {clipped(rate)}. Hint: drifting unknowns, >= 0."
                )
            Q[names.index(name)] = (float(rate) / scale[names.index(name)]) ** 2
        return Q
    if rates is not None:
        if isinstance(rates, bool) or not isinstance(rates, int | float) or not 0.0 <= rates < np.inf:
            raise GyrostatError(f"{WHO}: rates must be a number, a mapping or None, got {clipped(rates)}.")
        return moving * float(rates) ** 2
    from scipy.optimize import minimize_scalar

    pairs, span = [(R, y) for R, y, _ in seen], float(times[-1] - times[0])
    unlikely = lambda log: -walk(times, pairs, moving * np.exp(2.0 * log) / span).log_likelihood  # noqa: E731
    best: Any = minimize_scalar(unlikely, bounds=(np.log(1e-7), np.log(1.0)), method="bounded", options={"xatol": 0.05})
    return moving * np.exp(2.0 * best.x) / span


def _warm_up(drift: Drift) -> WarmUp:
    from scipy.optimize import minimize_scalar

    times, n = drift.times, len(drift.parameters)
    moving = drift.rates > 0.0
    if len(times) < 3:
        raise GyrostatError(f"{WHO}: a warm-up needs three sessions or more, got {len(times)}.")
    prior = np.eye(2 * n) * 1e-6  # of directions that no session sees

    def solved(log_tau: float) -> tuple[float, Array]:
        decay = np.exp(-times / np.exp(log_tau))
        A, b = prior.copy(), np.zeros(2 * n)
        for R, y, f in zip(drift.triangles, drift.right_sides, decay, strict=True):
            D = np.hstack([R, f * R * moving])
            A, b = A + D.T @ D, b + D.T @ y
        z = np.linalg.solve(A + np.diag(np.concatenate([np.zeros(n), np.where(moving, 0.0, 1.0)])), b)
        cost = 0.0
        for R, y, f, left in zip(drift.triangles, drift.right_sides, decay, drift.left, strict=True):
            cost += float(np.sum((R @ (z[:n] + f * moving * z[n:]) - y) ** 2)) + float(left)
        return cost, z

    step = float(np.diff(times).min())
    span = float(times[-1] - min(0.0, float(times[0])))
    grid = np.linspace(np.log(0.2 * step), np.log(10.0 * span), 60)
    k = int(np.argmin([solved(g)[0] for g in grid]))
    around = grid[max(0, k - 1)], grid[min(len(grid) - 1, k + 1)]
    best: Any = minimize_scalar(lambda g: solved(g)[0], bounds=around, method="bounded", options={"xatol": 1e-6})
    cost, z = solved(best.x)
    h = 0.02
    bend = (solved(best.x + h)[0] - 2.0 * cost + solved(best.x - h)[0]) / h**2
    tau = float(np.exp(best.x))
    deviation = float(tau * np.sqrt(2.0 / bend)) if bend > 0.0 else float("inf")
    equations = Equations(drift.model, drift.study[0], drift.study[1], WHO)
    end, start = equations.native(z[:n]), equations.native(z[:n] + moving * z[n:])
    free = float(drift.left.sum())
    for R, y in zip(drift.triangles, drift.right_sides, strict=True):
        x = np.linalg.lstsq(R, y, rcond=1e-11)[0]
        free += float(np.sum((R @ x - y) ** 2))
    ranks = sum(int(np.linalg.matrix_rank(R, tol=1e-11 * np.abs(R).max())) for R in drift.triangles)
    return WarmUp(tau, deviation, start, end, drift.parameters, cost, free, ranks - n - int(moving.sum()) - 1)
