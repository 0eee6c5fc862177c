"""Questions that need many evaluations of a model: what it can do, how it is fitted to a machine, how it moves best."""

from gyrostat.studies.achievable.achievable_motion import AchievableMotion
from gyrostat.studies.calibration.calibration import Calibration, calibrate
from gyrostat.studies.calibration.camera import Camera
from gyrostat.studies.calibration.distances import Distances, FixedPoint, PlaneContact
from gyrostat.studies.calibration.drift import Drift, WarmUp, calibrate_drift
from gyrostat.studies.calibration.iso_9283 import ISOCube, iso_configurations
from gyrostat.studies.calibration.observability import Observability, observability
from gyrostat.studies.calibration.pose_measurements import Points, Poses
from gyrostat.studies.calibration.pose_selection import PoseSelection, select_poses
from gyrostat.studies.calibration.result import CalibrationResult
from gyrostat.studies.calibration.static_poses import StaticPoses
from gyrostat.studies.design.objective import Objective
from gyrostat.studies.design.pareto import Pareto, ParetoFront, pareto
from gyrostat.studies.design.sensitivity import Sensitivities, sensitivities
from gyrostat.studies.fastest_path.carried import Carried
from gyrostat.studies.fastest_path.fastest_path import FastestPath
from gyrostat.studies.fastest_path.jerk_limited_path import JerkLimitedPath
from gyrostat.studies.fastest_path.time_optimal import TimeOptimal, time_optimal
from gyrostat.studies.gaits.gait import Gait
from gyrostat.studies.gaits.legged_robot import Foot, LeggedRobot, Mirror, legged, mirror
from gyrostat.studies.gaits.motion import GaitMotion
from gyrostat.studies.gaits.patterns import PATTERNS, GaitPattern, StancePhase, gait_pattern, gait_phases
from gyrostat.studies.gaits.solve import optimal_gait
from gyrostat.studies.identification.elasticity import ElasticityEstimate, identify_elasticity
from gyrostat.studies.identification.exciting_trajectory import ExcitingTrajectory, exciting_trajectory
from gyrostat.studies.identification.identification import Identification
from gyrostat.studies.identification.identify import identify
from gyrostat.studies.identification.measured_response import MeasuredResponse, measured_response
from gyrostat.studies.identification.measured_run import MeasuredRun, measured_run
from gyrostat.studies.identification.output_error import OutputError, output_error
from gyrostat.studies.identification.payload import PayloadEstimate, identify_payload
from gyrostat.studies.optimal_control.apart import Apart, Capsule, apart, capsules
from gyrostat.studies.optimal_control.conditions import at_least, at_most, between, equal
from gyrostat.studies.optimal_control.continuation import Continuation, continuation
from gyrostat.studies.optimal_control.ddp import DDPMotion, ddp
from gyrostat.studies.optimal_control.lqr import Regulator, lqr
from gyrostat.studies.optimal_control.optimal_control import OptimalControl, optimal_control
from gyrostat.studies.optimal_control.optimal_motion import OptimalMotion
from gyrostat.studies.optimal_control.periodicity import Periodicity
from gyrostat.studies.optimal_control.phase import Phase
from gyrostat.studies.optimal_control.ready_conditions import (
    CenterOfPressure,
    Clearance,
    FrictionCone,
    HipRadius,
    Support,
    Unilateral,
    center_of_pressure,
    com_over_support,
    foot_clearance,
    friction_cone,
    hip_radius,
    unilateral,
    zmp_in_support,
)
from gyrostat.studies.report import Report
from gyrostat.studies.sweeps.sensitivity import Indices
from gyrostat.studies.sweeps.study import Study
from gyrostat.studies.sweeps.study_result import StudyResult

__all__ = [
    "PATTERNS",
    "AchievableMotion",
    "Apart",
    "Calibration",
    "CalibrationResult",
    "Camera",
    "Capsule",
    "Carried",
    "CenterOfPressure",
    "Clearance",
    "Continuation",
    "DDPMotion",
    "Distances",
    "Drift",
    "ElasticityEstimate",
    "ExcitingTrajectory",
    "FastestPath",
    "FixedPoint",
    "Foot",
    "FrictionCone",
    "Gait",
    "GaitMotion",
    "GaitPattern",
    "HipRadius",
    "ISOCube",
    "Identification",
    "Indices",
    "JerkLimitedPath",
    "LeggedRobot",
    "MeasuredResponse",
    "MeasuredRun",
    "Mirror",
    "Objective",
    "Observability",
    "OptimalControl",
    "OptimalMotion",
    "OutputError",
    "Pareto",
    "ParetoFront",
    "PayloadEstimate",
    "Periodicity",
    "Phase",
    "PlaneContact",
    "Points",
    "PoseSelection",
    "Poses",
    "Regulator",
    "Report",
    "Sensitivities",
    "StancePhase",
    "StaticPoses",
    "Study",
    "StudyResult",
    "Support",
    "TimeOptimal",
    "Unilateral",
    "WarmUp",
    "apart",
    "at_least",
    "at_most",
    "between",
    "calibrate",
    "calibrate_drift",
    "capsules",
    "center_of_pressure",
    "com_over_support",
    "continuation",
    "ddp",
    "equal",
    "exciting_trajectory",
    "foot_clearance",
    "friction_cone",
    "gait_pattern",
    "gait_phases",
    "hip_radius",
    "identify",
    "identify_elasticity",
    "identify_payload",
    "iso_configurations",
    "legged",
    "lqr",
    "measured_response",
    "measured_run",
    "mirror",
    "observability",
    "optimal_control",
    "optimal_gait",
    "output_error",
    "pareto",
    "select_poses",
    "sensitivities",
    "time_optimal",
    "unilateral",
    "zmp_in_support",
]
