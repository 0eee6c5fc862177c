"""Questions that need many evaluations of a model: what it can do, how it is fitted to a machine, how it moves best."""

from gyrostat.studies.achievable.achievable_motion import AchievableMotion
from gyrostat.studies.design.objective import Objective
from gyrostat.studies.design.pareto import Pareto, ParetoFront, pareto
from gyrostat.studies.design.sensitivity import Sensitivities, sensitivities
from gyrostat.studies.fastest_path.carried import Carried
from gyrostat.studies.fastest_path.fastest_path import FastestPath
from gyrostat.studies.fastest_path.time_optimal import TimeOptimal, time_optimal
from gyrostat.studies.optimal_control.conditions import at_least, at_most, between, equal
from gyrostat.studies.optimal_control.optimal_control import OptimalControl, optimal_control
from gyrostat.studies.optimal_control.optimal_motion import OptimalMotion
from gyrostat.studies.optimal_control.periodicity import Periodicity
from gyrostat.studies.optimal_control.phase import Phase
from gyrostat.studies.report import Report
from gyrostat.studies.sweeps.sensitivity import Indices
from gyrostat.studies.sweeps.study import Study
from gyrostat.studies.sweeps.study_result import StudyResult

__all__ = [
    "AchievableMotion",
    "Carried",
    "FastestPath",
    "Indices",
    "Objective",
    "OptimalControl",
    "OptimalMotion",
    "Pareto",
    "ParetoFront",
    "Periodicity",
    "Phase",
    "Report",
    "Sensitivities",
    "Study",
    "StudyResult",
    "TimeOptimal",
    "at_least",
    "at_most",
    "between",
    "equal",
    "optimal_control",
    "pareto",
    "sensitivities",
    "time_optimal",
]
