"""Motions that tell the most about inertias and friction: optimised Fourier series [Swevers 1997].

    q_j = o_j + sum_l a_jl sin(l w t) + b_jl cos(l w t),   at rest at the start and after each period:
    sum_l l a_jl = 0,   sum_l l^2 b_jl = 0

    "d-optimal":  max log det A^T A        volume of what is not known, does not depend on units
    "condition":  min log (s_1 / s_r)      columns of unit length
A: columns of the base parameters and of friction, rows weighted by 1 / torque limit. Limits of position, speed,
acceleration, torque and clearance are penalties while it is sought; in the end amplitudes are drawn in until all hold
on a grid that is four times finer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gyrostat.errors import GyrostatError, clipped
from gyrostat.simulate.trajectories.fourier import fourier
from gyrostat.simulate.trajectories.trajectory import Trajectory
from gyrostat.solvers.functions import rnea
from gyrostat.spec.check import expect_model
from gyrostat.spec.model import Model
from gyrostat.studies.identification.base_estimate import structure
from gyrostat.studies.identification.exciting_limits import Limits, read_limits
from gyrostat.studies.identification.measured_run import MeasuredRun
from gyrostat.studies.identification.sought import expect_linear, random_run, sought
from gyrostat.studies.identification.torque_terms import TorqueColumns
from gyrostat.studies.progress import Progress
from gyrostat.studies.report import Report
from gyrostat.studies.study_data import StudyData

Array = np.ndarray
WHO = "exciting_trajectory"
STEP, PENALTY = 1e-6, 1e3
OBJECTIVES = ("d-optimal", "condition")


@dataclass(frozen=True, eq=False)
class ExcitingTrajectory(StudyData):
    """``offset`` (n,), ``sine``, ``cosine`` (L, n), ``frequency`` [Hz]: the series; ``condition`` of the columns of
    unit length, ``start_condition`` that of the random start; ``log_det`` of A^T A, columns as they are; ``use``:
    largest part of each limit that is used, by name; ``history`` of the objective; ``finished`` False: interrupted."""

    model: Model
    offset: Array
    sine: Array
    cosine: Array
    frequency: float
    periods: int
    objective: str
    condition: float
    start_condition: float
    log_det: float
    use: dict[str, Array]
    history: Array
    finished: bool = True
    message: str = "finished"

    @property
    def trajectory(self) -> Trajectory:
        """As one of ``gs.trajectories``, for the controller."""
        return fourier(self.offset, self.sine, self.cosine, self.frequency, self.periods, names=self.model.dofs)

    def report(self) -> Report:
        """What it excites, what of the limits it uses, and the motion."""
        from matplotlib.figure import Figure

        report = Report(f"Exciting trajectory of {self.model.name}")
        report.text(
            f"{self.objective}, {len(self.sine)} harmonics of {self.frequency:.4g} Hz, {self.periods} periods. "
            f"Condition number of the columns of unit length: {self.condition:.4g}; of the random start: "
            f"{self.start_condition:.4g}. {self.message}."
        )
        names = list(self.use)
        rows = [(dof, *(float(self.use[k][j]) for k in names)) for j, dof in enumerate(self.model.dofs)]
        report.heading("Use of the limits").table(("joint", *names), rows, "largest value over the limit")
        motion = self.trajectory
        t = np.linspace(0.0, 1.0 / self.frequency, 400)
        shown = motion.derivatives(t, 2)
        figure = Figure(figsize=(9.0, 6.0), layout="constrained")
        for ax, x, label in zip(figure.subplots(3, 1, sharex=True), range(3), ("q", "v", "a"), strict=True):
            ax.plot(t, shown[:, x], lw=1.0)
            ax.set_ylabel(label)
        ax.set_xlabel("t [s]")
        figure.axes[0].legend(self.model.dofs, fontsize=7, ncols=4, loc="upper right")
        report.heading("Motion").figure(figure, "one period: positions, rates, accelerations")
        report.heading("Series").table(
            (
                "joint",
                "offset",
                *(f"sin {k + 1}" for k in range(len(self.sine))),
                *(f"cos {k + 1}" for k in range(len(self.sine))),
            ),
            [
                (d, *map(float, (self.offset[j], *self.sine[:, j], *self.cosine[:, j])))
                for j, d in enumerate(self.model.dofs)
            ],
        )
        return report


@dataclass(frozen=True)
class _Series:
    """The free numbers of a series: offsets, then K amplitudes of each joint; rest at the ends is built in."""

    rates: Array
    N_sine: Array
    N_cosine: Array
    n: int

    @classmethod
    def of(cls, harmonics: int, frequency: float, n: int) -> _Series:
        l = np.arange(1.0, harmonics + 1.0)
        null = [np.linalg.svd(row[None, :])[2][1:].T / l[:, None] for row in (np.ones(harmonics), l)]
        return cls(2.0 * np.pi * frequency * l, null[0], null[1], n)

    def bases(self, t: Array) -> tuple[Array, Array, Array]:
        """Phi (T, 1 + K) of q, v and a."""
        x = t[:, None] * self.rates
        s, c, w = np.sin(x), np.cos(x), self.rates
        one, none = np.ones((len(t), 1)), np.zeros((len(t), 1))
        pairs = ((one, s, c), (none, c * w, -s * w), (none, -s * w * w, -c * w * w))
        return tuple(np.hstack([o, a @ self.N_sine, b @ self.N_cosine]) for o, a, b in pairs)  # type: ignore[return-value]

    def coefficients(self, z: Array) -> tuple[Array, Array, Array]:
        K = self.N_sine.shape[1]
        return z[0], self.N_sine @ z[1 : 1 + K], self.N_cosine @ z[1 + K :]


def exciting_trajectory(
    model: Model,
    *,
    duration: float = 20.0,
    period: float = 10.0,
    harmonics: int = 5,
    terms: Sequence[str] = ("viscous", "coulomb"),
    bodies: Sequence[str] | None = None,
    position_limits: Any = None,
    velocity_limits: Any = None,
    acceleration_limits: Any = None,
    torque_limits: Any = None,
    margin: float = 0.9,
    clearance: Callable[[Array], Any] | None = None,
    objective: str = "d-optimal",
    iterations: int = 60,
    samples: int = 80,
    rng: int = 0,
    progress: Any = None,
) -> ExcitingTrajectory:
    """A periodic motion for :func:`identify`: ``harmonics`` of 1 / ``period``, for ``duration`` [s].

    Limits by default those of the joints (``lower``, ``upper``, ``velocity_limit``, ``effort_limit``); given ones take
    their place: ``position_limits`` (lower (n,), upper (n,)), others a number or (n,). ``margin``: part of each limit
    that may be used (of positions: of the range). ``clearance(q)``: distances (T,) or (T, k) [m] of configurations
    (T, nq), which must stay positive, such as those of a collision model. ``terms``, ``bodies``: what is to be
    identified, as in ``identify``. ``iterations`` of L-BFGS from the best of 20 random starts."""
    expect_model(model, WHO)
    expect_linear(model, WHO)
    limits = read_limits(model, position_limits, velocity_limits, acceleration_limits, torque_limits, margin, WHO)
    _expect_numbers(duration, period, harmonics, iterations, samples, objective)
    task = _Task.of(model, limits, terms, bodies, period, harmonics, samples, objective, clearance)
    random = np.random.default_rng(rng)
    history: list[float] = []
    with Progress(progress, WHO, iterations) as shown:
        starts = [task.start(random) for _ in range(20)]
        z = min(starts, key=task.plain)
        first = task.condition(z)
        finished = True
        best = [task.value(z.ravel())[0], z]

        def told(x: Array) -> None:
            value = task.last
            history.append(value)
            if value < best[0]:
                best[:] = [value, x.reshape(z.shape).copy()]
            shown.step(1, f"objective {value:.4g}")

        try:
            _minimise(task.value, z.ravel(), told, iterations)
        except KeyboardInterrupt:
            finished = False
        z = task.drawn_in(best[1])
    o, a, b = task.series.coefficients(z)
    periods = max(1, round(duration / period))
    message = "finished" if finished else "interrupted: the best motion so far"
    return ExcitingTrajectory(
        model, o, a, b, 1.0 / period, periods, objective, task.condition(z), first, task.log_det(z), task.use(z),
        np.array(history), finished, message,
    )  # fmt: skip


def _expect_numbers(duration: Any, period: Any, harmonics: Any, iterations: Any, samples: Any, objective: Any) -> None:
    for name, value in (("duration", duration), ("period", period)):
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0.0 < value < np.inf:
            raise GyrostatError(f"{WHO}: {name} must be a positive time [s], got {clipped(value)}.")
    for name, value, least in (("harmonics", harmonics, 2), ("iterations", iterations, 0), ("samples", samples, 20)):
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise GyrostatError(f"{WHO}: {name} must be a whole number from {least}, got {clipped(value)}.")
    if abs(duration / period - round(duration / period)) > 1e-9 or duration < period:
        raise GyrostatError(
            f"{WHO}: duration {duration:g} s is no multiple of the period {period:g} s. Hint: 20 and 10"
        )
    if objective not in OBJECTIVES:
        raise GyrostatError(f"{WHO}: objective must be one of {', '.join(OBJECTIVES)}, got {clipped(objective)}.")


def _minimise(f: Any, x: Array, callback: Any, iterations: int) -> None:
    try:
        from scipy.optimize import minimize
    except ImportError:
        raise GyrostatError(f"{WHO}: needs scipy. Hint: pip install 'gyrostat[studies]'") from None
    if iterations:
        minimize(f, x, jac=True, method="L-BFGS-B", callback=callback, options={"maxiter": iterations, "maxcor": 20})


@dataclass
class _Task:
    model: Model
    limits: Limits
    columns: TorqueColumns
    chosen: Array
    weights: Array
    scale: Array
    series: _Series
    t: Array
    objective: str
    clearance: Any
    last: float = np.inf

    @classmethod
    def of(
        cls, model: Model, limits: Limits, terms: Any, bodies: Any, period: float, harmonics: int, samples: int,
        objective: str, clearance: Any,
    ) -> _Task:  # fmt: skip
        n = model.nv
        rough = np.linspace(-1.0, 1.0, 30)[:, None] * np.minimum(limits.velocity, 1e3) * 0.3
        run = MeasuredRun(np.arange(30.0), np.zeros((30, model.nq)), rough, rough, rough)
        columns, _, _ = sought(model, [run], tuple(terms), (), (), bodies, None, None, False)
        rich = random_run(columns)
        A = columns.at(rich, columns.prior())
        weights = 1.0 / np.where(np.isfinite(limits.torque), limits.torque, 1.0)
        chosen, _ = structure((A * weights[:, None]).reshape(-1, A.shape[2]))
        series = _Series.of(harmonics, 1.0 / period, n)
        t = np.arange(samples) * period / samples
        task = cls(model, limits, columns, chosen, weights, np.ones(len(chosen)), series, t, objective, clearance)
        task.scale = np.linalg.norm(task._rows(*task.motion(task.start(np.random.default_rng(0)))), axis=0)
        task.scale = np.where(task.scale > 0.0, task.scale, 1.0)
        return task

    # ------------------------------------------------------------------ motion
    def motion(self, z: Array, t: Array | None = None) -> tuple[Array, Array, Array]:
        q, v, a = (Phi @ z for Phi in self.series.bases(self.t if t is None else t))
        return q, v, a

    def start(self, random: Any) -> Array:
        """A random series that keeps the limits of motion."""
        K = 2 * self.series.N_sine.shape[1]
        low, high = self.limits.lower, self.limits.upper
        z = np.zeros((1 + K, self.model.nv))
        z[0] = low + (high - low) * random.uniform(0.3, 0.7, self.model.nv)
        z[1:] = random.normal(size=(K, self.model.nv))
        q, v, a = self.motion(z)
        room = np.minimum(high - z[0], z[0] - low)
        size = np.min([room / np.abs(q - z[0]).max(axis=0), self.limits.velocity / np.abs(v).max(axis=0),
                       self.limits.acceleration / np.abs(a).max(axis=0)], axis=0)  # fmt: skip
        z[1:] *= 0.9 * size
        return z

    def _rows(self, q: Array, v: Array, a: Array) -> Array:
        """A of the base parameters (T n, r), weighted and scaled."""
        run = MeasuredRun(np.arange(float(len(q))), q, v, a, np.zeros_like(v))
        A = self.columns.at(run, self.columns.prior())
        return (A[:, :, self.chosen] * self.weights[:, None]).reshape(-1, len(self.chosen)) / self.scale

    def _slope(self, A: Array) -> tuple[float, Array]:
        """The objective, and its derivative by A."""
        R = np.linalg.qr(A, mode="r")
        _, s, Vt = np.linalg.svd(R)
        s = np.maximum(s, 1e-12 * s[0])
        if self.objective == "condition":
            slope = np.outer(A @ Vt[0], Vt[0]) / s[0] ** 2 - np.outer(A @ Vt[-1], Vt[-1]) / s[-1] ** 2
            return float(np.log(s[0] / s[-1])), slope
        return float(-2.0 * np.log(s).sum()), -2.0 * (A @ Vt.T / s**2) @ Vt

    # ------------------------------------------------------------------ objective
    def plain(self, z: Array) -> float:
        """Objective and penalties without derivatives."""
        q, v, a = self.motion(z)
        return self._slope(self._rows(q, v, a))[0] + PENALTY * self._penalty(q, v, a)

    def _excess(self, q: Array, v: Array, a: Array) -> Array:
        """(T, many): how far beyond limits, in parts of them; not positive where all is well."""
        L = self.limits
        half, middle = 0.5 * (L.upper - L.lower), 0.5 * (L.upper + L.lower)
        parts = [np.abs(q - middle) / half - 1.0, np.abs(v) / L.velocity - 1.0, np.abs(a) / L.acceleration - 1.0]
        if np.isfinite(L.torque).any():
            parts.append(np.abs(rnea(self.model, q, v, a)) / L.torque - 1.0)
        if self.clearance is not None:
            d = np.asarray(self.clearance(q), dtype=float)
            if d.shape[:1] != (len(q),) or d.ndim > 2 or not np.isfinite(d).all():
                raise GyrostatError(
                    f"{WHO}: clearance gave shape {d.shape} for {len(q)} configurations, expected (T,) or (T, k)"
                )
            parts.append(-d.reshape(len(q), -1))
        return np.concatenate(parts, axis=1)

    def _penalty(self, q: Array, v: Array, a: Array) -> float:
        return float(np.sum(self._penalties(q, v, a)))

    def _penalties(self, q: Array, v: Array, a: Array) -> Array:
        return np.sum(np.maximum(self._excess(q, v, a) + 1e-3, 0.0) ** 2, axis=1)

    def value(self, x: Array) -> tuple[float, Array]:
        """Objective and gradient: A and the penalties are differentiated sample by sample, all samples at once."""
        n, z = self.model.nv, x.reshape(-1, self.model.nv)
        q, v, a = self.motion(z)
        T, r = len(q), len(self.chosen)
        moved = [np.tile(m, (3 * n, 1, 1)) for m in (q, v, a)]
        for k in range(3 * n):
            moved[k // n][k, :, k % n] += STEP
        flat = [np.concatenate([m0, m.reshape(-1, n)]) for m0, m in zip((q, v, a), moved, strict=True)]
        A = self._rows(*flat).reshape(3 * n + 1, T, n, r)
        value, slope = self._slope(A[0].reshape(-1, r))
        by = np.einsum("ktnr,tnr->kt", A[1:] - A[0], slope.reshape(T, n, r)) / STEP
        P = self._penalties(*flat).reshape(3 * n + 1, T)
        by = by + PENALTY * (P[1:] - P[0]) / STEP
        gradient = sum(
            (Phi.T @ by[k * n : (k + 1) * n].T for k, Phi in enumerate(self.series.bases(self.t))), np.zeros_like(z)
        )
        self.last = value + PENALTY * float(P[0].sum())
        return self.last, gradient.ravel()

    # ------------------------------------------------------------------ result
    def drawn_in(self, z: Array) -> Array:
        """Amplitudes made smaller until every limit holds on a grid four times finer."""
        fine = np.linspace(0.0, self.t[-1] + self.t[1], 4 * len(self.t) + 1)

        def holds(size: float) -> bool:
            x = np.vstack([z[:1], size * z[1:]])
            return bool(self._excess(*self.motion(x, fine)).max() <= 0.0)

        if holds(1.0):
            return z
        low, high = 0.0, 1.0
        if not holds(1e-3):
            raise GyrostatError(
                f"{WHO}: not even small motions about {np.round(z[0], 3)} keep the limits. "
                "Hint: wider limits, another rng, or a margin closer to 1"
            )
        for _ in range(30):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if holds(middle) else (low, middle)
        return np.vstack([z[:1], low * z[1:]])

    def condition(self, z: Array) -> float:
        A = self._rows(*self.motion(z))
        size = np.linalg.norm(A, axis=0)
        return float(np.linalg.cond(A / np.where(size > 0.0, size, 1.0)))

    def log_det(self, z: Array) -> float:
        s = np.linalg.svd(self._rows(*self.motion(z)) * self.scale, compute_uv=False)
        return float(2.0 * np.log(np.maximum(s, 1e-300)).sum())

    def use(self, z: Array) -> dict[str, Array]:
        fine = np.linspace(0.0, self.t[-1] + self.t[1], 4 * len(self.t) + 1)
        q, v, a = self.motion(z, fine)
        L = self.limits
        half, middle = 0.5 * (L.upper - L.lower), 0.5 * (L.upper + L.lower)
        found = {"position": np.abs(q - middle).max(axis=0) / half, "speed": np.abs(v).max(axis=0) / L.velocity,
                 "acceleration": np.abs(a).max(axis=0) / L.acceleration}  # fmt: skip
        found["torque"] = np.abs(rnea(self.model, q, v, a)).max(axis=0) / L.torque
        return {k: L.margin * x for k, x in found.items()}
