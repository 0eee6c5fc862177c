"""Output error: properties such that the simulated motion is the measured one.

    min_{p, x_0^w} sum_w sum_k |q(t_k; p, x_0^w) (-) q_k|^2 / sigma^2

The run is cut into windows with a state of their own at the start (multiple shooting): errors do not grow over the
whole run, and unstable robots can be fitted. Derivatives by p and x_0 are those of the compiled run (``sensitivities``
of ``gs.simulate``); states are eliminated window by window. No accelerations are needed, noise of q does not bias the
parameters, and any property with a derivative can be sought. The start must be near: identify first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gyrostat.configuration.manifold import difference, integrate
from gyrostat.errors import GyrostatError, SpecError, clipped
from gyrostat.simulate.run.simulate import simulate
from gyrostat.spec.check import expect_model
from gyrostat.spec.model import Model
from gyrostat.studies.identification.measured_run import MeasuredRun, measured_run
from gyrostat.studies.progress import Progress
from gyrostat.studies.report import Report
from gyrostat.studies.study_data import StudyData

Array = np.ndarray
WHO = "output_error"
KNOTS = 16
SETTLED = 1e-6


@dataclass(frozen=True, eq=False)
class OutputError(StudyData):
    """``model`` with the ``values`` of the ``paths``; ``sigma``, ``covariance``; ``rms`` (nv,) of the positions that
    are left, ``rms_before`` those of the start; ``history`` of the cost; ``windows``: how many."""

    model: Model
    before: Model
    paths: tuple[str, ...]
    values: Array
    sigma: Array
    covariance: Array
    rms: Array
    rms_before: Array
    history: Array
    windows: int
    run: MeasuredRun
    finished: bool = True
    message: str = "finished"

    def report(self) -> Report:
        """Parameters with deviations, what is left of the positions, the course of the cost."""
        from matplotlib.figure import Figure

        report = Report(f"Output error of {self.before.name}")
        report.text(f"{self.windows} windows of {KNOTS} intervals; {len(self.history)} iterations. {self.message}.")
        rows = [(p, float(self.before[p]), x, s) for p, x, s in zip(self.paths, self.values, self.sigma, strict=True)]
        report.heading("Parameters").table(("path", "before", "identified", "sigma"), rows)
        rows = list(zip(self.model.dofs, map(float, self.rms_before), map(float, self.rms), strict=True))
        report.heading("Positions").table(("joint", "rms before", "rms"), rows, "simulated minus measured")
        figure = Figure(figsize=(6.0, 3.0), layout="constrained")
        ax = figure.subplots()
        ax.semilogy(self.history, "o-")
        ax.set_xlabel("iteration")
        ax.set_ylabel("cost")
        return report.figure(figure, "sum of squares over the noise")


def output_error(
    model: Model,
    t: Any,
    q: Any,
    tau: Any,
    v: Any = None,
    *,
    parameters: Sequence[str],
    band: float | bool | None = None,
    window: float | None = None,
    iterations: int = 20,
    progress: Any = None,
    **options: Any,
) -> OutputError:
    """Fit the properties ``parameters`` (paths of numbers) to the motion ``q`` (T, nq) under the efforts ``tau``.

    ``band`` as in ``identify``; ``window`` [s]: length of a window, by default 16 samples that are left after
    filtering. ``options`` go to ``gs.simulate`` (``rtol``, ``atol``). Dry friction must be smooth
    (``gs.Friction(smooth=...)``). Gauss-Newton with damping; what is not determined is refused by name."""
    expect_model(model, WHO)
    paths = tuple(
        dict.fromkeys(model.canonical(p) for p in ([parameters] if isinstance(parameters, str) else parameters))
    )
    start = np.array([_number(model, p) for p in paths])
    if not paths:
        raise GyrostatError(f"{WHO}: nothing to fit. Hint: parameters=['forearm.mass']")
    if isinstance(iterations, bool) or not isinstance(iterations, int) or iterations < 1:
        raise GyrostatError(f"{WHO}: iterations must be a whole number from 1, got {clipped(iterations)}.")
    run = measured_run(model, t, q, tau, v, band=band, who=WHO)
    task = _Windows.of(model, run, paths, window, options)
    scale = np.where(start != 0.0, np.abs(start), 1.0)
    p, finished, message = start.copy(), True, "finished"
    with Progress(progress, WHO, iterations) as shown:
        r, J = task.evaluate(p)
        sigma = np.sqrt(np.mean(r**2, axis=(0, 1)))
        sigma = np.where(sigma > 0.0, sigma, 1.0)
        before, cost, damping = sigma, float(np.sum((r / sigma) ** 2)), 1e-6
        history = [cost]
        try:
            for _ in range(iterations):
                N, g, states = _reduced(
                    r / sigma, J / sigma[:, None] * np.r_[scale, np.ones(J.shape[3] - len(p))], len(p)
                )
                step = np.linalg.solve(N + damping * np.diag(np.diag(N)) + 1e-14 * np.trace(N) * np.eye(len(p)), -g)
                kept = task.q0.copy(), task.v0.copy()
                task.move(states, step)
                tried = r, J
                try:
                    tried = task.evaluate(p + scale * step)
                    new = float(np.sum((tried[0] / sigma) ** 2))
                except (GyrostatError, SpecError):
                    new = np.inf
                if new < cost:
                    p, (r, J), gained, cost, damping = (
                        p + scale * step,
                        tried,
                        cost - new,
                        new,
                        max(damping / 10.0, 1e-12),
                    )
                    history.append(cost)
                    shown.step(1, f"cost {cost:.4g}")
                    if gained < SETTLED * cost:
                        break
                else:
                    task.q0, task.v0 = kept
                    damping = max(damping, 1e-8) * 100.0
                    if damping > 1e6:
                        break
            else:
                finished, message = False, f"stopped after {iterations} iterations"
        except KeyboardInterrupt:
            finished, message = False, "interrupted: the best so far"
    left = np.sqrt(np.mean(r**2, axis=(0, 1)))
    noise = np.where(left > 0.0, left, 1e-300)
    N, _, _ = _reduced(r / noise, J / noise[:, None] * np.r_[scale, np.ones(J.shape[3] - len(p))], len(p))
    values, V = np.linalg.eigh(N)
    if values[0] <= 1e-12 * values[-1]:
        k = int(np.argmax(np.abs(V[:, 0])))
        raise GyrostatError(
            f"{WHO}: the motion does not determine '{paths[k]}' beside the others. Hint: take it out of parameters, "
            "or a motion that excites it"
        )
    states_free = r.size / max(r.size - 2 * model.nv * len(r) - len(p), 1)
    covariance = np.linalg.inv(N) * np.outer(scale, scale) * states_free * run_colour(r)
    changed = model.replace(dict(zip(paths, p.tolist(), strict=True)))
    return OutputError(
        changed, model, paths, p, np.sqrt(np.diag(covariance)), covariance, left, before, np.array(history), len(r),
        run, finished, message,
    )  # fmt: skip


def _number(model: Model, path: str) -> float:
    value = model[path]
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise GyrostatError(f"{WHO}: '{path}' is {clipped(value)}. Hint: parameters are single numbers")
    return float(value)


def run_colour(r: Array) -> float:
    """How many times more the variance of a mean is than for white noise: from the lags inside the windows."""
    flat = r - r.mean(axis=1, keepdims=True)
    K = flat.shape[1]
    power = float(np.sum(flat**2)) or 1.0
    rho = [float(np.sum(flat[:, lag:] * flat[:, : K - lag])) / power for lag in range(1, K // 2)]
    return max(1.0, 1.0 + 2.0 * sum(x for x in rho if x > 0.0))


def _reduced(r: Array, J: Array, count: int) -> tuple[Array, Array, list[tuple[Array, Array]]]:
    """Normal equations of the parameters, with the states of each window eliminated: N, g, and how states follow."""
    N, g, states = np.zeros((count, count)), np.zeros(count), []
    for r_w, J_w in zip(r, J, strict=True):
        P, S, e = J_w.reshape(-1, J_w.shape[2])[:, :count], J_w.reshape(-1, J_w.shape[2])[:, count:], r_w.ravel()
        left = np.linalg.pinv(S, rcond=1e-10)
        rest = P - S @ (left @ P)
        N += rest.T @ rest
        g += rest.T @ e
        states.append((-left @ e, -left @ P))
    return N, g, states


@dataclass
class _Windows:
    """Windows of KNOTS intervals: ``q`` (W, KNOTS + 1, nq), ``tau`` (W, KNOTS + 1, nv); ``q0``, ``v0``: their
    starts."""

    model: Model
    paths: tuple[str, ...]
    dt: float
    q: Array
    tau: Array
    q0: Array
    v0: Array
    options: dict[str, Any]

    @classmethod
    def of(
        cls, model: Model, run: MeasuredRun, paths: tuple[str, ...], window: float | None, options: dict[str, Any]
    ) -> _Windows:
        dt = float(run.t[1] - run.t[0])
        step = 1 if window is None else max(1, round(window / (KNOTS * dt)))
        size = KNOTS * step
        count = (len(run.t) - 1) // size
        if count < 1:
            raise GyrostatError(f"{WHO}: a window of {size * dt:.3g} s is longer than the run. Hint: a smaller window")
        at = np.arange(count)[:, None] * size + np.arange(0, size + 1, step)
        every = np.arange(count)[:, None] * size + np.arange(size + 1)
        hats = np.maximum(1.0 - np.abs(np.arange(size + 1)[:, None] / step - np.arange(KNOTS + 1)), 0.0)
        tau = np.einsum("ks,wsn->wkn", np.linalg.pinv(hats), run.tau[every])  # straight lines nearest to all samples
        return cls(
            model, paths, dt * step, run.q[at], tau, run.q[at[:, 0]].copy(), run.v[at[:, 0]].copy(), dict(options)
        )

    def evaluate(self, p: Array) -> tuple[Array, Array]:
        """Residuals (W, KNOTS + 1, nv), their derivatives (W, KNOTS + 1, nv, P + 2 nv)."""
        times = np.arange(KNOTS + 1) * self.dt
        residuals, slopes = [], []
        for q, tau, q0, v0 in zip(self.q, self.tau, self.q0, self.v0, strict=True):
            numbers = {"knots": tau, "dt": self.dt} | dict(zip(self.paths, p.tolist(), strict=True))
            run = simulate(
                self.model, between, q0=q0, v0=v0, t_eval=times, parameters=numbers,
                sensitivities=[*self.paths, "q0", "v0"], **self.options,
            )  # fmt: skip
            residuals.append(difference(self.model, q, run.q))
            slopes.append(np.concatenate([run.sensitivities[k].q for k in (*self.paths, "q0", "v0")], axis=2))
        return np.array(residuals), np.array(slopes)

    def move(self, states: list[tuple[Array, Array]], step: Array) -> None:
        """The starts that belong to a step of the parameters."""
        n = self.model.nv
        moved = np.array([own + by @ step for own, by in states])
        self.q0 = integrate(self.model, self.q0, moved[:, :n])
        self.v0 = self.v0 + moved[:, n:]


def between(t: Any, q: Any, v: Any, knots: Any, dt: Any) -> Any:
    """Efforts with straight lines between the knots (KNOTS + 1, nv)."""
    x = t / dt
    total = 0.0
    for k in range(KNOTS + 1):
        d = x - float(k)
        hat = 1.0 - abs(d)
        total = total + np.asarray(knots)[k] * (0.5 * (hat + abs(hat)))
    return total
