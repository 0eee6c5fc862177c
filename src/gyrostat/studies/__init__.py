"""Questions that need many evaluations of a model: what it can do, how it is fitted to a machine, how it moves best."""

from gyrostat.studies.achievable.achievable_motion import AchievableMotion
from gyrostat.studies.calibration.calibration import Calibration, calibrate
from gyrostat.studies.calibration.camera import Camera
from gyrostat.studies.calibration.distances import Distances, FixedPoint, PlaneContact
from gyrostat.studies.calibration.pose_measurements import Points, Poses
from gyrostat.studies.calibration.result import CalibrationResult
from gyrostat.studies.design.objective import Objective
from gyrostat.studies.design.pareto import Pareto, ParetoFront, pareto
from gyrostat.studies.design.sensitivity import Sensitivities, sensitivities
from gyrostat.studies.report import Report

__all__ = [
    "AchievableMotion",
    "Calibration",
    "CalibrationResult",
    "Camera",
    "Distances",
    "FixedPoint",
    "Objective",
    "Pareto",
    "ParetoFront",
    "PlaneContact",
    "Points",
    "Poses",
    "Report",
    "Sensitivities",
    "calibrate",
    "pareto",
    "sensitivities",
]
