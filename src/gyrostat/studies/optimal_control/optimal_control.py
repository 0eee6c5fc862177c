"""Optimal control in phases by direct collocation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from gyrostat.errors import GyrostatError, clipped, nearest
from gyrostat.studies.optimal_control.independence import expect_independent, twice_held
from gyrostat.studies.optimal_control.initial_guess import first_guess
from gyrostat.studies.optimal_control.ipopt import solve_by_ipopt
from gyrostat.studies.optimal_control.ipopt_by_casadi import solve_by_casadi
from gyrostat.studies.optimal_control.mesh_error import GridError, grid_error, refined
from gyrostat.studies.optimal_control.nonlinear_program import NonlinearProgram
from gyrostat.studies.optimal_control.optimal_motion import OptimalMotion
from gyrostat.studies.optimal_control.periodicity import Periodicity, read_periodicity
from gyrostat.studies.optimal_control.phase import Phase
from gyrostat.studies.optimal_control.program_solution import ProgramSolution
from gyrostat.studies.optimal_control.solution_motion import motion_of
from gyrostat.studies.optimal_control.transcription import METHODS, recorded, transcribed
from gyrostat.studies.progress import Progress
from gyrostat.studies.study_data import StudyData

Array = np.ndarray
WHO = "optimal_control"
SUMMED, SPREAD = 10.0, 2.0
"""Errors of the cost were up to 7 times what residuals tell, in which it is not that controls are straight; and up to
0.9 times what they tell without the signs of the intervals."""


@dataclass(frozen=True, eq=False)
class OptimalControl(StudyData):
    """Data of :func:`optimal_control`; ``run`` finds the motion."""

    phases: tuple[Phase, ...]
    parameters: dict[str, Any] = field(default_factory=dict)
    periodic: Periodicity | None = None
    link: Any = None
    method: str = "hermite-simpson"
    stages: int = 3
    tolerance: float = 1e-8
    refine: int = 0
    grid_tolerance: float = 1e-6
    iterations: int = 3000
    solver: str = "ipopt"
    options: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        given = (self.phases,) if isinstance(self.phases, Phase) else self.phases
        if not isinstance(given, list | tuple) or not given or not all(isinstance(p, Phase) for p in given):
            raise GyrostatError(f"{WHO}: phases must be a list of gs.studies.Phase, got {clipped(given)}.")
        object.__setattr__(self, "phases", tuple(given))
        object.__setattr__(self, "periodic", read_periodicity(self.periodic))
        if self.method not in METHODS:
            raise GyrostatError(f"{WHO}: no method {self.method!r}. Hint: {nearest(str(self.method), METHODS)}")
        for name, least in (("stages", 2), ("refine", 0), ("iterations", 1)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                raise GyrostatError(f"{WHO}: {name} must be a whole number of at least {least}, got {clipped(value)}.")
        for name in ("tolerance", "grid_tolerance"):
            value = getattr(self, name)
            if not isinstance(value, int | float) or not 0.0 < value < 1.0:
                raise GyrostatError(f"{WHO}: {name} must be between 0 and 1, got {clipped(value)}.")
        if self.solver not in SOLVERS:
            raise GyrostatError(f"{WHO}: no solver {self.solver!r}. Hint: {nearest(str(self.solver), SOLVERS)}")

    @property
    def ipopt_options(self) -> dict[str, Any]:
        """Options for Ipopt, those of the user last."""
        usual = {"print_level": 0, "sb": "yes", "tol": float(self.tolerance), "max_iter": self.iterations,
                 "mumps_pivot_order": 0}  # fmt: skip
        return usual | dict(self.options)

    def run(self, guess: Any = None, progress: Any = None) -> OptimalMotion:
        """The motion; the last iterate if interrupted."""
        known = recorded(self.phases, self.parameters, self.periodic, self.link)
        edges = [np.linspace(0.0, 1.0, int(p.nodes)) for p in self.phases]
        if hasattr(guess, "phases"):
            edges = _known_edges(guess, edges)
        table: list[tuple[float, ...]] = []
        with Progress(progress, WHO) as shown:
            while True:
                program = transcribed(known, edges, self.method, self.stages)
                x0 = first_guess(program, known, guess)
                expect_independent(program, x0)
                solution = self._solved(program, x0, shown)
                errors = grid_error(program, solution)
                table.append(_row(program, solution, errors, table))
                motion = motion_of(self, known, program, solution, errors, np.array(table))
                if not solution.converged:
                    cause = twice_held(program, solution.x)
                    motion = replace(motion, message=f"{motion.message}; {cause}") if cause else motion
                done = errors.greatest <= self.grid_tolerance or len(table) > self.refine
                if done or not solution.converged:
                    return motion
                edges, guess = refined(program, errors, self.grid_tolerance, self.method), motion

    def _solved(self, program: NonlinearProgram, x0: Array, shown: Progress) -> ProgramSolution:
        def told(k: int, cost: float, violation: float) -> None:
            shown.step(1, f"{program.n} variables, cost {cost:.6g}, violation {violation:.1e}")

        return SOLVERS[self.solver](program, x0, self.ipopt_options, told)


SOLVERS = {"ipopt": solve_by_ipopt, "casadi": solve_by_casadi}


def _known_edges(guess: OptimalMotion, edges: list[Array]) -> list[Array]:
    """Grids of a motion that goes on with as many nodes."""
    if len(guess.phases) != len(edges):
        return edges
    return [p.edges if len(p.edges) == len(e) else e for p, e in zip(guess.phases, edges, strict=True)]


def _row(
    program: NonlinearProgram, s: ProgramSolution, errors: GridError, before: list[tuple[float, ...]]
) -> tuple[float, ...]:
    """Nodes, cost, error, error of the cost, iterations, seconds."""
    nodes = sum(p.rule.points for p in program.phases)
    moved = abs(s.cost - before[-1][1]) if before else 0.0
    off = max(SUMMED * abs(errors.cost), SPREAD * errors.spread, moved)
    return nodes, s.cost, errors.greatest, off, s.iterations, s.seconds


def optimal_control(
    phases: Sequence[Phase] | Phase,
    *,
    parameters: Mapping[str, Any] | None = None,
    periodic: Any = None,
    link: Any = None,
    guess: Any = None,
    method: str = "hermite-simpson",
    stages: int = 3,
    tolerance: float = 1e-8,
    refine: int = 0,
    grid_tolerance: float = 1e-6,
    iterations: int = 3000,
    solver: str = "ipopt",
    options: Mapping[str, Any] | None = None,
    progress: Any = None,
) -> OptimalMotion:
    """The motion of least cost through ``phases``, under the equations of motion, limits and conditions.

    ``parameters``: name -> (low, high) or (low, guess, high): free numbers, seen by functions as
    ``s.parameters[name]``; a name that is a path of the model ("thigh.mass") is a property of the robot itself.
    ``periodic``: True, or :class:`Periodicity`: the start of the first phase follows from the end of the last one.
    ``link(first, last)``: conditions between the start and the end. ``guess``: None, a function of time that returns q,
    (q, v) or (q, v, u), or a motion that was found before.

    ``method``: ``"hermite-simpson"`` (cubic states, linear controls) or ``"radau"`` with ``stages`` points in an
    interval. ``refine``: how often intervals whose error is above ``grid_tolerance`` are divided. ``tolerance``,
    ``iterations``, ``options``: of Ipopt. ``solver``: ``"ipopt"`` or ``"casadi"``, Ipopt through CasADi."""
    study = OptimalControl(
        tuple(phases) if not isinstance(phases, Phase) else (phases,), dict(parameters or {}), periodic, link, method,
        stages, tolerance, refine, grid_tolerance, iterations, solver, dict(options or {}),
    )  # fmt: skip
    return study.run(guess, progress)
