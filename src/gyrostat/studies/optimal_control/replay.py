"""Integrate the equations of motion again under the controls that were found: how far the motion is from where it
claims to be."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gyrostat.studies.optimal_control.nonlinear_program import NonlinearProgram
from gyrostat.studies.optimal_control.phase_equations import PhaseEquations
from gyrostat.studies.optimal_control.radau import radau_points
from gyrostat.studies.optimal_control.transcription import recorded, transcribed

Array = np.ndarray


def replayed(motion: Any, rtol: float, atol: float) -> tuple[Array, ...]:
    """Differences (P, 2 nv) of xi and v at the points of each phase, integrated from the start of the phase."""
    study = motion.problem
    known = recorded(study.phases, study.parameters, study.periodic, study.link)
    program = transcribed(known, [p.edges for p in motion.phases], study.method, study.stages)
    theta = np.array(known.free.guess)
    for k, name in enumerate(known.free.names):
        theta[k] = motion.parameters[name]
    for number in known.free.timed:
        theta[known.free.duration(number)] = motion.phases[number].duration
    return tuple(_phase(p, old, theta, rtol, atol) for p, old in zip(_phases(program), motion.phases, strict=True))


def _phases(program: NonlinearProgram) -> Sequence[PhaseEquations]:
    return program.phases


def _phase(p: PhaseEquations, old: Any, theta: Array, rtol: float, atol: float) -> Array:
    from scipy.integrate import solve_ivp

    n2, T = p.n2, p.rule.grid.duration(theta)
    states = np.concatenate([old.xi, old.v], axis=1)
    found = np.zeros_like(states)
    found[0] = x = states[0]
    edges, columns = p.rule.grid.edges, p.rule.columns
    for k, at in enumerate(columns):
        controls = _controls(p, old.u[at])
        width = edges[k + 1] - edges[k]

        def rates(t: float, x: Array, k: int = k, width: float = width, controls: Any = controls) -> Array:
            s = t / (T * width)
            z = np.concatenate([x, controls(s), theta])[None]
            e, _ = p.flow.value(z, *p.rule.grid.data(np.array([edges[k] + s * width]), z))
            return e[0, :n2]

        inside = (p.rule.fractions[at[1:]] - edges[k]) * T
        run = solve_ivp(
            rates, (0.0, T * width), x, "DOP853", t_eval=np.minimum(inside, T * width), rtol=rtol, atol=atol
        )
        found[at[1:]] = run.y.T
        x = run.y[:, -1]
    return found - states


def _controls(p: PhaseEquations, u: Array) -> Any:
    """u (c, m) of an interval as a function of its fraction."""
    if p.rule.stages == 1:
        return lambda s: (1.0 - s) * u[0] + s * u[1]
    c = radau_points(p.rule.stages)
    table = np.linalg.solve(np.vander(c, increasing=True), u[1:])
    return lambda s: (s ** np.arange(len(c))) @ table
