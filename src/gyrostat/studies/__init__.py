"""Questions that need many evaluations of a model: what it can do, how it is fitted to a machine, how it moves best."""

from gyrostat.studies.achievable.achievable_motion import AchievableMotion
from gyrostat.studies.design.objective import Objective
from gyrostat.studies.design.pareto import Pareto, ParetoFront, pareto
from gyrostat.studies.design.sensitivity import Sensitivities, sensitivities
from gyrostat.studies.fastest_path.carried import Carried
from gyrostat.studies.fastest_path.fastest_path import FastestPath
from gyrostat.studies.fastest_path.time_optimal import TimeOptimal, time_optimal
from gyrostat.studies.report import Report

__all__ = [
    "AchievableMotion",
    "Carried",
    "FastestPath",
    "Objective",
    "Pareto",
    "ParetoFront",
    "Report",
    "Sensitivities",
    "TimeOptimal",
    "pareto",
    "sensitivities",
    "time_optimal",
]
