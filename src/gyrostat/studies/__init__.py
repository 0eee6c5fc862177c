"""Questions that need many evaluations of a model: what it can do, how it is fitted to a machine, how it moves best."""

from gyrostat.studies.achievable.achievable_motion import AchievableMotion
from gyrostat.studies.design.objective import Objective
from gyrostat.studies.design.pareto import Pareto, ParetoFront, pareto
from gyrostat.studies.design.sensitivity import Sensitivities, sensitivities
from gyrostat.studies.gaits.gait import Gait
from gyrostat.studies.gaits.legged_robot import Foot, LeggedRobot, Mirror, legged, mirror
from gyrostat.studies.gaits.motion import GaitMotion
from gyrostat.studies.gaits.patterns import PATTERNS, GaitPattern, StancePhase, gait_pattern, gait_phases
from gyrostat.studies.gaits.solve import optimal_gait
from gyrostat.studies.optimal_control.conditions import at_least, at_most, between, equal
from gyrostat.studies.optimal_control.lqr import Regulator, lqr
from gyrostat.studies.optimal_control.optimal_control import OptimalControl, optimal_control
from gyrostat.studies.optimal_control.optimal_motion import OptimalMotion
from gyrostat.studies.optimal_control.periodicity import Periodicity
from gyrostat.studies.optimal_control.phase import Phase
from gyrostat.studies.report import Report

__all__ = [
    "PATTERNS",
    "AchievableMotion",
    "Foot",
    "Gait",
    "GaitMotion",
    "GaitPattern",
    "LeggedRobot",
    "Mirror",
    "Objective",
    "OptimalControl",
    "OptimalMotion",
    "Pareto",
    "ParetoFront",
    "Periodicity",
    "Phase",
    "Regulator",
    "Report",
    "Sensitivities",
    "StancePhase",
    "at_least",
    "at_most",
    "between",
    "equal",
    "gait_pattern",
    "gait_phases",
    "legged",
    "lqr",
    "mirror",
    "optimal_control",
    "optimal_gait",
    "pareto",
    "sensitivities",
]
