"""Kinematic and elastic calibration: the numbers of a robot that fit what was measured of it [H04 5.3]."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gyrostat.errors import GyrostatError, clipped
from gyrostat.spec.check import expect_model
from gyrostat.spec.model import Model
from gyrostat.studies.calibration.equations import Equations
from gyrostat.studies.calibration.identifiability import open_in_words, sparse_directions
from gyrostat.studies.calibration.least_squares import Fit, LeastSquares, covariance, read_loss
from gyrostat.studies.calibration.measurement import Measurement
from gyrostat.studies.calibration.result import CalibrationResult
from gyrostat.studies.progress import Progress
from gyrostat.studies.study_data import StudyData

Array = np.ndarray
WHO = "calibrate"
NOISE_ROUNDS = 6
LEAST_NOISE = 1e-9
"""In parts of the usual one: residuals that are rounding tell no noise."""
MUCH = 5.0
"""Times the stated noise: residuals that say that something is missing."""
SUSPICIOUS = 50.0
"""Times the usual noise: more than any instrument has."""
SUSPECT = "units, the order of columns or poses, frames or parameters are wrong or missing"


@dataclass(frozen=True, eq=False)
class Calibration(StudyData):
    """Data of :func:`calibrate`; ``run`` finds the result."""

    model: Model
    measurements: tuple[Measurement, ...]
    parameters: Any
    loss: str = "linear"
    loss_scale: float | None = None
    cross_validation: int = 5

    def __post_init__(self) -> None:
        expect_model(self.model, WHO)
        read_loss(self.loss, self.loss_scale, WHO)
        if not self.measurements or not all(isinstance(m, Measurement) for m in self.measurements):
            raise GyrostatError(
                f"{WHO}: measurements are {clipped(self.measurements)}. "
                "Hint: gs.studies.Points(frame, q, points, std=5e-5), Poses, Distances, Camera, ..."
            )
        folds = self.cross_validation
        if isinstance(folds, bool) or not isinstance(folds, int) or folds < 0 or folds == 1:
            raise GyrostatError(f"{WHO}: cross_validation must be 0 or from 2 folds on, got {clipped(folds)}.")

    def run(self, progress: Any = None) -> CalibrationResult:
        """The calibrated robot; the best so far if interrupted."""
        for m in self.measurements:
            if m.planned:
                raise m.refused("nothing was measured", "numbers; select_poses and Equations take planned ones")
        return _Run(self, progress).result()


class _Run:
    def __init__(self, study: Calibration, progress: Any):
        self.study, self.progress = study, progress
        self.equations = Equations(study.model, study.measurements, study.parameters, WHO)
        self.loss = read_loss(study.loss, study.loss_scale, WHO)
        columns = self.equations.columns
        self.low = np.array([c.low / c.scale for c in columns])
        self.high = np.array([c.high / c.scale for c in columns])

    def result(self) -> CalibrationResult:
        with Progress(self.progress, WHO) as shown:
            equations = self.equations
            x0 = equations.start()
            before = equations.raw(x0)
            search = LeastSquares(
                equations.evaluate, equations.jacobian, self.low, self.high, self.loss,
                lambda cost: shown.step(1, f"chi2 {cost:.6g}"),
            )  # fmt: skip
            fit = search.fit(x0)
            iterations = fit.iterations
            factors, fit, more = self._noise(search, x0, fit)
            iterations += more
            held = search.at_bounds(fit.x)
            try:
                folds = self._folds(fit, shown) if fit.finished else None
            except KeyboardInterrupt:
                folds, fit = None, replace(fit, message="converged; cross-validation was interrupted")
            return self._gathered(fit, x0, before, factors, held, folds, iterations)

    # ------------------------------------------------------------------ noise that nobody stated
    def _noise(self, search: LeastSquares, x0: Array, fit: Fit) -> tuple[Array, Fit, int]:
        """Estimated over assumed standard deviation of each measurement (variance components): 1 where it is stated.
        What more noise leaves open goes back to ``x0``."""
        equations, measurements = self.equations, self.study.measurements
        factors = np.ones(len(measurements))
        unknown = [k for k, m in enumerate(measurements) if m.std is None and m.covariance is None]
        more = 0
        for _ in range(NOISE_ROUNDS if unknown and fit.finished else 0):
            free = redundancy(fit.J)
            groups, changed = equations.group_numbers(), 1.0
            for k in unknown:
                mine = groups == k
                if free[mine].sum() < 1.0:
                    raise GyrostatError(
                        f"{WHO}: too few numbers to tell the noise of '{measurements[k].name}'. Hint: give its std."
                    )
                share = float(np.sqrt(_squares(fit.e[mine], self.loss) / free[mine].sum()))
                share = max(share, LEAST_NOISE / factors[k])
                factors[k] *= share
                equations.white[k] = equations.white[k] / share
                changed = max(changed, share, 1.0 / share)
            fit = search.fit(x0, start=fit.x)
            more += fit.iterations
            if changed < 1.02:
                break
        return factors, fit, more

    # ------------------------------------------------------------------ cross-validation
    def _folds(self, fit: Fit, shown: Progress) -> Array | None:
        """e (rows,) of every pose, predicted by a calibration without it; None if there are too few poses."""
        folds, poses = self.study.cross_validation, self.equations.pose_numbers()
        numbers = np.unique(poses)
        identified = len(fit.x) - fit.N.shape[1]
        if not folds or len(numbers) < 2 * folds or len(fit.e) * (folds - 1) / folds < 1.2 * identified:
            return None
        order = np.random.default_rng(0).permutation(numbers)
        left_out = np.full(len(fit.e), np.nan)
        for k in range(folds):
            out = np.isin(poses, order[k::folds])
            part = LeastSquares(
                lambda x, out=out: self.equations.evaluate(x)[~out],
                lambda x, out=out: self.equations.jacobian(x)[~out],
                self.low, self.high, self.loss,
            )  # fmt: skip
            try:
                one = part.fit(fit.x, fit.N)
            except GyrostatError:
                return None
            if not one.finished:
                raise KeyboardInterrupt
            left_out[out] = self.equations.evaluate(one.x)[out]
            shown.step(1, f"fold {k + 1} of {folds}")
        return left_out

    # ------------------------------------------------------------------ result
    def _gathered(
        self,
        fit: Fit,
        x0: Array,
        before: Sequence[Array],
        factors: Array,
        held: Array,
        folds: Array | None,
        iterations: int,
    ) -> CalibrationResult:
        equations, study = self.equations, self.study
        slopes = equations.native_slopes(fit.x)
        C = covariance(fit, self.loss, held) * np.outer(slopes, slopes)
        after, names = equations.raw(fit.x), [m.name for m in study.measurements]
        open_ = np.abs(sparse_directions(fit.N)).max(axis=0, initial=0.0) > 0.01
        identified = len(fit.x) - fit.N.shape[1]
        freedom = len(fit.e) - identified
        crossed = None
        if folds is not None:
            groups = equations.group_numbers()
            crossed = {n: float(np.sqrt(np.mean(folds[groups == k] ** 2))) for k, n in enumerate(names)}
        message = fit.message
        if held.any():
            message += "; at a bound: " + ", ".join(c.name for c, h in zip(equations.columns, held, strict=True) if h)
        chi2 = float(fit.e @ fit.e)
        typical = np.sqrt(_squares(fit.e, self.loss) / freedom) if freedom > 0 else 0.0
        if typical > MUCH:
            message += f"; residuals are {typical:.3g} times the stated noise: {SUSPECT}"
        message += "".join(
            f"; nobody stated the noise of '{m.name}', and {m.noise_in_words(f)} is left: {SUSPECT}"
            for m, f in zip(study.measurements, factors, strict=True)
            if f > SUSPICIOUS
        )
        robot = equations.robot
        return CalibrationResult(
            study=study,
            model=robot.changed(equations.split(fit.x)[0]),
            parameters=tuple(c.name for c in equations.columns),
            units=tuple(c.unit for c in equations.columns),
            initial=equations.native(x0),
            values=equations.native(fit.x),
            covariance=C,
            determined=~open_,
            unidentifiable=open_in_words(fit.N, fit.J, equations.columns),
            residuals=dict(zip(names, after, strict=True)),
            residuals_before=dict(zip(names, before, strict=True)),
            noise={n: float(f) for n, f in zip(names, factors, strict=True)},
            chi2=chi2,
            freedom=int(freedom),
            cross_validation=crossed,
            iterations=iterations,
            changes=fit.x,
            finished=fit.finished,
            message=message,
        )


def redundancy(J: Array) -> Array:
    """(rows,): share of each row that the unknowns do not fit, 1 - h_ii of the hat matrix."""
    U, S, _ = np.linalg.svd(J, full_matrices=False)
    U = U[:, max(1.0, 1e-11 * (S[0] if len(S) else 1.0)) <= S]
    return 1.0 - np.sum(U * U, axis=1)


def _squares(e: Array, loss: tuple[str, float]) -> float:
    """Sum of squares; of robust losses from the median, which outliers do not move."""
    if loss[0] == "linear":
        return float(e @ e)
    return float(len(e) * (np.median(np.abs(e)) / 0.67449) ** 2)


def calibrate(
    model: Model,
    measurements: Measurement | Sequence[Measurement],
    parameters: Sequence[str] | Mapping[str, Any],
    *,
    loss: str = "linear",
    loss_scale: float | None = None,
    cross_validation: int = 5,
    progress: Any = None,
) -> CalibrationResult:
    """The robot that fits the measurements: min sum rho(|L^-1 (predicted - measured)|^2) over ``parameters``.

    ``model``: as it was drawn; with springs in its drives or flexible links it bends under gravity and payload, and so
    do the predictions. ``measurements``: one or several of Poses, Points, Distances, Camera, FixedPoint, PlaneContact,
    each with its noise; noise that is not stated is estimated. ``parameters``: paths, or path -> (low, high) or None:

    =============================== ==========================================================================
    ``"upper.translation"``, ``.x`` lengths [m]; also ``length``, ``a``, ``d`` of whatever has them
    ``"elbow.axis"``, ``.y``        tilts of an axis about the two directions across it [rad]
    ``"hand.rotation"``, ``.z``     turns of a frame about x, y, z of the frame before it [rad]; ``alpha``, ``theta``
    ``"elbow.offset"``              what the joint's encoder reads too little [rad, m]
    ``"base"``, ``"tool"``          how they are mounted: x y z [m], rx ry rz [rad]; or ``"base.rz"``
    ``"elbow.spring.stiffness"``    elasticity of drives [N m/rad] and links (``"forearm.E"``)
    ``"elbow.gear.ratio"``          and every other number that may be live, such as ``"payload.mass"``
    =============================== ==========================================================================

    ``loss``: ``"linear"``, or ``"huber"``, ``"soft_l1"``, ``"cauchy"`` against outliers, beyond ``loss_scale`` standard
    deviations. ``cross_validation``: folds over the poses, 0 for none.

    Directions that the measurements leave open are named in ``result.unidentifiable`` and keep their values."""
    one = (measurements,) if isinstance(measurements, Measurement) else measurements
    given: Any = tuple(one) if isinstance(one, list | tuple) else one
    paths = dict(parameters) if isinstance(parameters, Mapping) else parameters
    paths = list(paths) if isinstance(paths, tuple) else paths
    return Calibration(model, given, paths, loss, loss_scale, cross_validation).run(progress)
