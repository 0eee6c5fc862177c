"""Stiffness, damping and inertias of elastic joints from a measured response in frequency.

    min sum_f w(f)^2 |log H(f, p) - log H_measured(f)|^2,   p > 0 in logarithms

The logarithm counts resonance and antiresonance alike, where the response itself would see the resonance alone.
w^2 = coherence / (1 - coherence), as the variance of log H is [Bendat & Piersol]. The cost has valleys where a
resonance of the model meets another one of the robot: each stiffness is first scanned over two decades."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gyrostat.configuration.packing import real_array
from gyrostat.errors import GyrostatError, NonFiniteError, ShapeError, StateError, clipped
from gyrostat.spec.check import expect_model
from gyrostat.spec.model import Model
from gyrostat.studies.identification.affine_response import affine_response
from gyrostat.studies.identification.measured_response import MeasuredResponse
from gyrostat.studies.progress import Progress
from gyrostat.studies.report import Report
from gyrostat.studies.study_data import StudyData
from gyrostat.studies.vibration.frequency_response import frequency_response

Array = np.ndarray
WHO = "identify_elasticity"
SCAN = np.geomspace(0.1, 10.0, 41)
CEILING = 0.9999
"""Coherence above this counts as this: no measurement is better."""


@dataclass(frozen=True, eq=False)
class ElasticityEstimate(StudyData):
    """``model`` with the ``values`` of the ``paths``; ``sigma`` of these; ``resonances``, ``antiresonances`` [Hz] of
    the first output by the first input; ``misfit``: rms of |log H / H_measured| (0.1: 10 %)."""

    model: Model
    before: Model
    paths: tuple[str, ...]
    values: Array
    sigma: Array
    hz: Array
    measured: Array
    fitted: Array
    resonances: Array
    antiresonances: Array
    misfit: float
    finished: bool = True
    message: str = "finished"

    def report(self) -> Report:
        """Parameters, resonances, and Bode's figure of the measurement and the fit."""
        from matplotlib.figure import Figure

        report = Report(f"Elasticity of {self.before.name}")
        report.text(
            f"{len(self.hz)} frequencies, {self.hz[0]:.4g} to {self.hz[-1]:.4g} Hz. "
            f"Misfit {100 * self.misfit:.3g} %. {self.message}."
        )
        rows = [(p, float(self.before[p]), x, s) for p, x, s in zip(self.paths, self.values, self.sigma, strict=True)]
        report.heading("Parameters").table(("path", "before", "identified", "sigma"), rows)
        report.text(f"Resonances: {_shown(self.resonances)} Hz; antiresonances: {_shown(self.antiresonances)} Hz.")
        figure = Figure(figsize=(8.0, 5.0), layout="constrained")
        upper, lower = figure.subplots(2, 1, sharex=True)
        measured, fitted = (x[..., 0] + 1j * x[..., 1] for x in (self.measured, self.fitted))
        for H, style, label in ((measured, ".", "measured"), (fitted, "-", "identified")):
            upper.loglog(self.hz, np.abs(H[:, 0, 0]), style, ms=3, label=label)
            lower.semilogx(self.hz, np.degrees(np.unwrap(np.angle(H[:, 0, 0]))), style, ms=3)
        upper.set_ylabel("|H|")
        lower.set_ylabel("phase [deg]")
        lower.set_xlabel("f [Hz]")
        upper.legend(fontsize=8)
        return report.heading("Response").figure(figure, "first output by first input")


def _parts(H: Array) -> Array:
    """Real and imaginary parts, as a last axis."""
    return np.stack([np.real(H), np.imag(H)], -1)


def _shown(f: Array) -> str:
    return ", ".join(f"{x:.4g}" for x in f) or "none"


def identify_elasticity(
    model: Model,
    q: Any,
    inputs: Any,
    outputs: Any,
    hz: Any = None,
    H: Any = None,
    *,
    parameters: Sequence[str],
    coherence: Any = None,
    progress: Any = None,
    **asked: Any,
) -> ElasticityEstimate:
    """Fit properties by path to a measured response about the pose ``q``.

    ``inputs``, ``outputs``: signals as in ``gs.frequency_response``. ``hz`` (F,), ``H`` (F,) or (F, outputs, inputs)
    complex, ``coherence`` of the same shape; or a :class:`MeasuredResponse` in the place of hz. ``parameters``: paths
    of positive numbers, such as ``"elbow_drive.spring.stiffness"``, ``"elbow_drive.damper.damping"``,
    ``"elbow_drive.rotor.inertia"``. Further arguments go to ``gs.frequency_response`` (``locked``, ``controller``)."""
    expect_model(model, WHO)
    if isinstance(hz, MeasuredResponse):
        hz, H, coherence = hz.hz, hz.H, hz.coherence
    paths = tuple(model.canonical(p) for p in ([parameters] if isinstance(parameters, str) else parameters))
    start = np.array([_positive(model, p) for p in paths])
    if not paths:
        raise GyrostatError(f"{WHO}: nothing to fit. Hint: parameters=['elbow_drive.spring.stiffness']")
    f, wanted, weight = _measurement(hz, H, coherence)

    def response(p: Array) -> Any:
        return frequency_response(
            model, q, inputs, outputs, f, parameters=dict(zip(paths, p.tolist(), strict=True)), **asked
        )

    first = response(start)
    if wanted.ndim == 1:
        wanted, weight = wanted[:, None, None], weight[:, None, None]
    if first.H.shape != wanted.shape:
        raise ShapeError(f"{WHO}: H has shape {wanted.shape}, the model gives {first.H.shape}: (F, outputs, inputs)")

    answer = affine_response(response, model, start)

    def residual(x: Array) -> Array:
        try:
            ratio = answer(start * np.exp(np.clip(x, -15.0, 15.0))) / wanted
        except (StateError, np.linalg.LinAlgError):  # a frequency at an undamped pole
            return np.full(2 * wanted.size, 1e3)
        left = weight * np.log(np.where(np.abs(ratio) > 1e-300, ratio, 1e-300))
        return np.concatenate([np.real(left).ravel(), np.imag(left).ravel()])

    finished, x = True, np.zeros(len(paths))
    with Progress(progress, WHO, 2 * len(paths) + 1) as shown:
        try:
            x = _scanned(residual, x, paths, shown)
            x, J, cost = _descended(residual, x)
            shown.step(1, "fit")
        except KeyboardInterrupt:
            finished = False
            J, cost = np.zeros((1, len(x))), 0.0
    values = start * np.exp(x)
    found = response(values)
    left = np.log(found.H / wanted)
    free = max(2 * wanted.size - len(x), 1)
    covariance = np.linalg.pinv(J.T @ J) * 2.0 * cost / free if finished else np.full((len(x), len(x)), np.inf)
    sigma = values * np.sqrt(np.maximum(np.diag(covariance), 0.0))
    changed = model.replace(dict(zip(paths, values.tolist(), strict=True)))
    return ElasticityEstimate(
        changed, model, paths, values, sigma, f, _parts(wanted),
        _parts(found.H), found.resonances, found.antiresonances(0, 0),
        float(np.sqrt(np.mean(np.abs(left) ** 2))), finished,
        "finished" if finished else "interrupted: the best so far",
    )  # fmt: skip


def _positive(model: Model, path: str) -> float:
    value = model[path]
    if isinstance(value, bool) or not isinstance(value, int | float) or not value > 0.0:
        raise GyrostatError(
            f"{WHO}: '{path}' is {clipped(value)}, expected a positive number. Hint: a first guess by model.replace"
        )
    return float(value)


def _measurement(hz: Any, H: Any, coherence: Any) -> tuple[Array, Array, Array]:
    f = real_array(hz, WHO, "hz")
    if H is None:
        raise GyrostatError(f"{WHO}: no response was given. Hint: hz and H, or gs.studies.measured_response(...)")
    wanted = np.asarray(H, dtype=complex)
    if f.ndim != 1 or len(f) < 4 or wanted.shape[:1] != f.shape or wanted.ndim not in (1, 3):
        raise ShapeError(
            f"{WHO}: hz and H have shapes {f.shape}, {wanted.shape}, expected (F,) and (F,) or (F, outputs, inputs)"
        )
    if not (np.isfinite(f).all() and np.isfinite(wanted).all()):
        raise NonFiniteError(f"{WHO}: hz and H must be finite. Hint: leave out frequencies without power")
    if not np.all(np.abs(wanted) > 0.0):
        lowest = int(np.argmin(np.abs(wanted.reshape(len(f), -1)).min(axis=1)))
        raise GyrostatError(f"{WHO}: H is zero at {f[lowest]:g} Hz. Hint: leave it out")
    gamma = np.full(wanted.shape, 0.5) if coherence is None else real_array(coherence, WHO, "coherence")
    if gamma.shape != wanted.shape or not np.all((gamma >= 0.0) & (gamma <= 1.0)):
        raise ShapeError(f"{WHO}: coherence has shape {gamma.shape}, expected {wanted.shape} with values from 0 to 1")
    gamma = np.clip(gamma, 0.0, CEILING)
    return f, wanted, np.sqrt(gamma / (1.0 - gamma))


def _scanned(residual: Any, x: Array, paths: tuple[str, ...], shown: Any) -> Array:
    """Each parameter over two decades, stiffnesses first; twice."""
    order = sorted(range(len(paths)), key=lambda k: not paths[k].endswith(("stiffness", "E")))
    for _ in range(2):
        for k in order:
            tried = [np.where(np.arange(len(x)) == k, x + np.log(s), x) for s in SCAN]
            x = min(tried, key=lambda y: float(np.sum(np.arctan(residual(y) ** 2))))
            shown.step(1, paths[k])
    return x


def _descended(residual: Any, x: Array) -> tuple[Array, Array, float]:
    try:
        from scipy.optimize import least_squares
    except ImportError:
        raise GyrostatError(f"{WHO}: needs scipy. Hint: pip install 'gyrostat[studies]'") from None
    robust = least_squares(residual, x, loss="soft_l1", f_scale=0.3)
    found = least_squares(residual, robust.x, x_scale="jac", xtol=1e-12, ftol=1e-12)
    return found.x, found.jac, float(found.cost)
