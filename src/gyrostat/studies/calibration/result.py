"""What a calibration comes to: the corrected robot, how certain it is, and what it cannot tell."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from gyrostat.errors import GyrostatError, clipped, nearest
from gyrostat.spec.model import Model
from gyrostat.studies.calibration.commands import Commands, commands_for
from gyrostat.studies.calibration.equations import shared_poses
from gyrostat.studies.calibration.report import calibration_report
from gyrostat.studies.calibration.static_poses import StaticPoses
from gyrostat.studies.calibration.unknowns import RobotUnknowns, read_unknowns
from gyrostat.studies.report import Report
from gyrostat.studies.study_data import StudyData

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class CalibrationResult(StudyData):
    """``model``: corrected, by ``model.replace``; ``parameters``, ``units``, ``initial``, ``values`` (n,) of all
    unknowns, those of measuring systems at the end; tilts and turns count from the model that was given.
    ``covariance`` (n, n); ``determined`` (n,): False for those in a direction that was left open, whose standard
    deviation is that beside it.

    ``unidentifiable``: these directions in words. ``residuals``, ``residuals_before``: predicted minus measured (poses,
    k) by measurement, in its units. ``noise``: estimated over assumed standard deviation where none was stated, else 1.
    ``chi2`` and ``freedom``: sum of squares of whitened residuals, and what it should be on average.
    ``cross_validation``: rms of whitened residuals of poses that were left out, by measurement; None: too few poses."""

    study: Any
    model: Model
    parameters: tuple[str, ...]
    units: tuple[str, ...]
    initial: Array
    values: Array
    covariance: Array
    determined: Array
    unidentifiable: tuple[str, ...]
    residuals: dict[str, Array]
    residuals_before: dict[str, Array]
    noise: dict[str, float]
    chi2: float
    freedom: int
    cross_validation: dict[str, float] | None
    iterations: int
    changes: Array
    finished: bool = True
    message: str = "converged"

    # ------------------------------------------------------------------ numbers
    def __getitem__(self, name: str) -> float:
        """The value of one unknown."""
        return float(self.values[self._number(name)])

    def _number(self, name: str) -> int:
        if name not in self.parameters:
            raise GyrostatError(
                f"calibration: there is no {clipped(name)}. Hint: {nearest(str(name), self.parameters)}"
            )
        return self.parameters.index(name)

    @property
    def standard_deviations(self) -> Array:
        """(n,), in the units of the values."""
        return np.sqrt(np.maximum(np.diag(self.covariance), 0.0))

    @property
    def variance_factor(self) -> float:
        """chi2 / freedom: 1 if model and noise are as stated; far above, something is missing."""
        return self.chi2 / self.freedom if self.freedom > 0 else float("nan")

    def confidence(self, level: float = 0.95) -> Array:
        """(n, 2): intervals that hold each value with this probability."""
        from scipy.stats import norm

        if not 0.0 < level < 1.0:
            raise GyrostatError(f"confidence: level must be between 0 and 1, got {clipped(level)}. Hint: 0.95")
        half = norm.ppf(0.5 + 0.5 * level) * self.standard_deviations
        return np.column_stack([self.values - half, self.values + half])

    # ------------------------------------------------------------------ the robot
    def _robot(self, frame: str) -> tuple[RobotUnknowns, StaticPoses, int]:
        """The corrected robot as a function of commands, and the number of the frame in it; the controller's ratios are
        those of the model as it was."""
        study = self.study
        frames = tuple(dict.fromkeys(f for m in study.measurements for f in m.frames))
        changed = tuple(dict.fromkeys(study.model.canonical(p) for m in study.measurements for p in m.properties))
        robot = read_unknowns(study.model, study.parameters, frames, "calibration", changed)
        frames = frames if frame in frames else (frame,)
        return robot, shared_poses(study.model, robot, frames, "calibration"), frames.index(frame)

    def _values(
        self, robot: RobotUnknowns, properties: Mapping[str, Any] | None = None
    ) -> tuple[dict[str, Array], list[tuple[str, Array]]]:
        x = np.array([c.expected for c in robot.columns]) * self.changes[: len(robot.columns)]
        values, unknown = robot.values(x), {c.path for c in robot.columns}
        free = [path for path in robot.live if path not in unknown]
        for path, value in (properties or {}).items():
            full = self.model.canonical(path)
            if full not in free:
                raise GyrostatError(
                    f"calibration: '{path}' did not change between measurements. "
                    f"Hint: {nearest(full, free) if free else 'result.model.replace(...) for other models'}"
                )
            given = np.asarray(value, dtype=float)
            if given.shape != values[full].shape or not np.all(np.isfinite(given)):
                raise GyrostatError(f"calibration: '{path}' is {clipped(value)}. Hint: shape {values[full].shape}.")
            values[full] = given
        return values, robot.slopes(x)

    def poses(self, frame: str, q: Any, properties: Mapping[str, Any] | None = None) -> Array:
        """(..., 4, 4): where the corrected robot has ``frame`` for commands q (..., c), deflection and gears included.
        ``properties``: what is different from ``model`` now, such as the payload; only paths that measurements had."""
        robot, kinematics, k = self._robot(frame)
        c = kinematics.read(q)
        placed, _ = kinematics.rest(c, self._values(robot, properties)[0])
        T = np.zeros((len(c), 4, 4))
        T[:, :3, :3], T[:, :3, 3], T[:, 3, 3] = placed.R[:, k], placed.p[:, k], 1.0
        return T if np.ndim(q) != 1 else T[0]

    def positions(self, frame: str, q: Any, properties: Mapping[str, Any] | None = None) -> Array:
        """(..., 3): the same, origins only."""
        return self.poses(frame, q, properties)[..., :3, 3]

    def coordinates(self, q: Any, properties: Mapping[str, Any] | None = None) -> Array:
        """(..., nq): all coordinates of ``model`` for commands q (..., c): through gears, with deflections."""
        frame = self.study.measurements[0].frames[0]
        robot, kinematics, _ = self._robot(frame)
        placed, _ = kinematics.rest(kinematics.read(q), self._values(robot, properties)[0])
        return placed.q if np.ndim(q) != 1 else placed.q[0]

    def position_deviations(self, frame: str, q: Any) -> Array:
        """(..., 3): standard deviations [m] of the predicted positions, from the covariance of the parameters."""
        robot, kinematics, k = self._robot(frame)
        c = kinematics.read(q)
        values, slopes = self._values(robot)
        placed, _ = kinematics.rest(c, values)
        J = kinematics.sensitivities(c, placed.q, values, slopes)[:, k, 3:]
        m = len(robot.columns)
        natural = np.array([u.slope(x * u.expected) for u, x in zip(robot.columns, self.changes[:m], strict=True)])
        C = self.covariance[:m, :m] / np.outer(natural, natural)
        s = np.sqrt(np.maximum(np.einsum("nim,mk,nik->ni", J, C, J), 0.0))
        return s if np.ndim(q) != 1 else s[0]

    def commands(
        self,
        frame: str,
        targets: Any,
        q0: Any = None,
        *,
        properties: Mapping[str, Any] | None = None,
        tolerance: float = 1e-9,
    ) -> Commands:
        """What the controller must command so that the *real* robot brings ``frame`` to ``targets`` (..., 4, 4) or
        positions (..., 3): inverse kinematics of the corrected robot, with deflections, offsets and gears.

        ``q0`` (c,) or (..., c): where the search begins, such as the commands of the nominal robot."""
        robot, kinematics, k = self._robot(frame)
        return commands_for(kinematics, k, self._values(robot, properties)[0], targets, q0, tolerance)

    def report(self) -> Report:
        """Parameters with deviations, what is not identified, residuals before and after, as tables and figures."""
        return calibration_report(self)

    def __str__(self) -> str:
        return str(self.report())

    def __repr__(self) -> str:
        return (
            f"<calibration of '{self.model.name}': {len(self.parameters)} unknowns, {len(self.unidentifiable)} "
            f"directions not identified, chi2/freedom {self.variance_factor:.3g}, {self.message}>"
        )
