"""Questions that need many evaluations of a model: what it can do, how it is fitted to a machine, how it moves best."""

from gyrostat.studies.achievable.achievable_motion import AchievableMotion
from gyrostat.studies.design.objective import Objective
from gyrostat.studies.design.pareto import Pareto, ParetoFront, pareto
from gyrostat.studies.design.sensitivity import Sensitivities, sensitivities
from gyrostat.studies.identification.elasticity import ElasticityEstimate, identify_elasticity
from gyrostat.studies.identification.exciting_trajectory import ExcitingTrajectory, exciting_trajectory
from gyrostat.studies.identification.identification import Identification
from gyrostat.studies.identification.identify import identify
from gyrostat.studies.identification.measured_response import MeasuredResponse, measured_response
from gyrostat.studies.identification.measured_run import MeasuredRun, measured_run
from gyrostat.studies.identification.output_error import OutputError, output_error
from gyrostat.studies.identification.payload import PayloadEstimate, identify_payload
from gyrostat.studies.report import Report

__all__ = [
    "AchievableMotion",
    "ElasticityEstimate",
    "ExcitingTrajectory",
    "Identification",
    "MeasuredResponse",
    "MeasuredRun",
    "Objective",
    "OutputError",
    "Pareto",
    "ParetoFront",
    "PayloadEstimate",
    "Report",
    "Sensitivities",
    "exciting_trajectory",
    "identify",
    "identify_elasticity",
    "identify_payload",
    "measured_response",
    "measured_run",
    "output_error",
    "pareto",
    "sensitivities",
]
