"""What is optimised for an exciting motion: a Fourier series at rest at its ends, the columns that it excites, limits.

Derivatives are exact along the series (a linear map) and by differences of every sample by its q, v and a, all samples
at once: A at one instant depends on nothing else."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gyrostat.errors import GyrostatError
from gyrostat.solvers.collision.distances import distances
from gyrostat.solvers.functions import rnea
from gyrostat.spec.model import Model
from gyrostat.studies.identification.base_estimate import structure
from gyrostat.studies.identification.exciting_limits import Limits
from gyrostat.studies.identification.measured_run import MeasuredRun
from gyrostat.studies.identification.sought import random_run, sought
from gyrostat.studies.identification.torque_terms import TorqueColumns

Array = np.ndarray
WHO = "exciting_trajectory"
STEP, PENALTY = 1e-6, 1e3


@dataclass(frozen=True)
class FourierSeries:
    """The free numbers of a series: offsets, then K amplitudes of each joint; rest at the ends is built in."""

    rates: Array
    N_sine: Array
    N_cosine: Array
    n: int

    @classmethod
    def of(cls, harmonics: int, frequency: float, n: int) -> FourierSeries:
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


def _squared(excess: Array) -> Array:
    """(T,): sum of squares of what is beyond, from a little before the limit on."""
    return np.sum(np.maximum(excess + 1e-3, 0.0) ** 2, axis=1)


@dataclass
class ExcitingProblem:
    model: Model
    limits: Limits
    columns: TorqueColumns
    chosen: Array
    weights: Array
    scale: Array
    series: FourierSeries
    t: Array
    objective: str
    clearance: Any
    apart: float | None = None
    last: float = np.inf

    @classmethod
    def of(
        cls, model: Model, limits: Limits, terms: Any, bodies: Any, period: float, harmonics: int, samples: int,
        objective: str, clearance: Any,
    ) -> ExcitingProblem:  # fmt: skip
        n = model.nv
        rough = np.linspace(-1.0, 1.0, 30)[:, None] * np.minimum(limits.velocity, 1e3) * 0.3
        run = MeasuredRun(np.arange(30.0), np.zeros((30, model.nq)), rough, rough, rough)
        columns, _, _ = sought(model, [run], tuple(terms), (), (), bodies, None, None, False)
        rich = random_run(columns)
        A = columns.at(rich, columns.prior())
        weights = 1.0 / np.where(np.isfinite(limits.torque), limits.torque, 1.0)
        chosen, _ = structure((A * weights[:, None]).reshape(-1, A.shape[2]))
        series = FourierSeries.of(harmonics, 1.0 / period, n)
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
        return np.concatenate(parts, axis=1)

    def _near(self, q: Array) -> Array:
        """(T, k): how far beyond the least distances [m]; not positive where all is well."""
        parts = [np.full((len(q), 1), -1.0)]
        if self.apart is not None:
            parts.append(self.apart - distances(self.model, q).distance)
        if self.clearance is not None:
            d = np.asarray(self.clearance(q), dtype=float)
            if d.shape[:1] != (len(q),) or d.ndim > 2 or not np.isfinite(d).all():
                raise GyrostatError(
                    f"{WHO}: clearance gave shape {d.shape} for {len(q)} configurations, expected (T,) or (T, k)"
                )
            parts.append(-d.reshape(len(q), -1))
        return np.concatenate(parts, axis=1)

    def _penalty(self, q: Array, v: Array, a: Array) -> float:
        return float(np.sum(self._penalties(q, v, a)) + np.sum(_squared(self._near(q))))

    def _penalties(self, q: Array, v: Array, a: Array) -> Array:
        return _squared(self._excess(q, v, a))

    def _nearness(self, q: Array) -> tuple[float, Array]:
        """Penalty of distances, and its derivatives (n, T): exact for those of shapes, differences of a function's."""
        n, slope = self.model.nv, np.zeros((self.model.nv, len(q)))
        if self.clearance is not None:
            moved = np.concatenate([q, *(q + STEP * np.eye(n)[k] for k in range(n))])
            P = _squared(ExcitingProblem._near(replace(self, apart=None), moved)).reshape(n + 1, len(q))
            slope += (P[1:] - P[0]) / STEP
        if self.apart is not None:
            found = distances(self.model, q)
            over = np.maximum(self.apart - found.distance + 1e-3, 0.0)
            slope -= 2.0 * np.einsum("tk,tkn->nt", over, found.gradient)
        return float(np.sum(_squared(self._near(q)))), slope

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
        close, slope_q = self._nearness(q)
        by[:n] += PENALTY * slope_q
        gradient = sum(
            (Phi.T @ by[k * n : (k + 1) * n].T for k, Phi in enumerate(self.series.bases(self.t))), np.zeros_like(z)
        )
        self.last = value + PENALTY * (float(P[0].sum()) + close)
        return self.last, gradient.ravel()

    # ------------------------------------------------------------------ result
    def drawn_in(self, z: Array) -> Array:
        """Amplitudes made smaller until every limit holds on a grid four times finer."""
        fine = np.linspace(0.0, self.t[-1] + self.t[1], 4 * len(self.t) + 1)

        def holds(size: float) -> bool:
            x = np.vstack([z[:1], size * z[1:]])
            moving = self.motion(x, fine)
            return bool(self._excess(*moving).max() <= 0.0 and self._near(moving[0]).max() <= 0.0)

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
