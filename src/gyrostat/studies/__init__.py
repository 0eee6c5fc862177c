"""Questions that need many evaluations of a model: what it can do, how it is fitted to a machine, how it moves best."""

from gyrostat.studies.achievable.achievable_motion import AchievableMotion
from gyrostat.studies.design.objective import Objective
from gyrostat.studies.design.pareto import Pareto, ParetoFront, pareto
from gyrostat.studies.design.sensitivity import Sensitivities, sensitivities
from gyrostat.studies.report import Report

__all__ = [
    "AchievableMotion",
    "Objective",
    "Pareto",
    "ParetoFront",
    "Report",
    "Sensitivities",
    "pareto",
    "sensitivities",
]
