"""From the numbers of a solver to a motion with names."""

from __future__ import annotations

from typing import Any

import numpy as np

from gyrostat.studies.optimal_control.mesh_error import GridError
from gyrostat.studies.optimal_control.nonlinear_program import NonlinearProgram
from gyrostat.studies.optimal_control.optimal_motion import OptimalMotion, PhaseMotion
from gyrostat.studies.optimal_control.phase_equations import PhaseEquations
from gyrostat.studies.optimal_control.point import Point
from gyrostat.studies.optimal_control.point_functions import PointFunction
from gyrostat.studies.optimal_control.program_solution import ProgramSolution
from gyrostat.studies.optimal_control.state_data import whole
from gyrostat.studies.optimal_control.transcription import Recorded

Array = np.ndarray


def motion_of(
    study: Any, known: Recorded, program: NonlinearProgram, s: ProgramSolution, errors: GridError, table: Array
) -> OptimalMotion:
    """The motion at the solution."""
    theta, row, phases = s.x[program.theta_at], 0, []
    for p, eta in zip(program.phases, errors.states, strict=True):
        multipliers = s.rows[row : row + p.defects].reshape(-1, p.rule.stages, p.n2)
        row += p.rows
        phases.append(_phase(p, p.z(s.x, theta), theta, multipliers, eta))
    g = program.constraints(s.x)
    violation = float(np.maximum(np.maximum(program.low - g, g - program.high), 0.0).max(initial=0.0))
    impulses = s.x[len(s.x) - sum(link.impulses for link in program.links) :]
    return OptimalMotion(
        study, tuple(phases), {name: float(x) for name, x in known.free.named(theta).items()}, s.cost, s.converged,
        s.message, s.iterations, s.seconds, s.seconds_in_functions, violation, errors.greatest, float(table[-1, 3]),
        table, s.history, program.n, program.m, impulses,
    )  # fmt: skip


def _phase(p: PhaseEquations, z: Array, theta: Array, multipliers: Array, eta: Array) -> PhaseMotion:
    space, n = p.space, p.space.n
    e, y = p.flow.value(z, *p.data)
    xi, v, u = z[:, :n], z[:, n : 2 * n], z[:, 2 * n : p.nw]
    tau = np.zeros((len(z), n))
    tau[:, list(space.controls)] = u
    grid = p.rule.grid
    t = grid.start(theta) + p.rule.fractions * grid.duration(theta)
    forces = {}
    if space.held:
        names = [h.contact.frame for h in space.held]

        def wrenches(z: Array, y: Array, clock: Array, spent: Array) -> Array:
            point = Point(space, space.split(z, clock, spent), y)
            return np.concatenate([point.forces[name] for name in names])

        rows = PointFunction(space, wrenches, "forces").value(z, y, *p.data).reshape(len(z), -1, 6)
        forces = {name: rows[:, k].copy() for k, name in enumerate(names)}
    name = space.phase.name or str(space.number)
    controls = tuple(space.model.dofs[k] for k in space.controls)
    return PhaseMotion(
        name, t, whole(space, xi), v.copy(), y[:, :n].copy(), u.copy(), tau, forces, xi.copy(), e[:, :n].copy(),
        grid.edges, p.rule.fractions, multipliers, eta, controls,
    )  # fmt: skip
