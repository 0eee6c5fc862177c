"""Where the search begins: a straight way between known ends, a function of time, or another motion."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from gyrostat.configuration.packing import coordinates, rates
from gyrostat.errors import GyrostatError, ShapeError, clipped
from gyrostat.solvers.functions import rnea
from gyrostat.studies.optimal_control.nonlinear_program import NonlinearProgram
from gyrostat.studies.optimal_control.phase_equations import PhaseEquations
from gyrostat.studies.optimal_control.point_limits import point_bounds
from gyrostat.studies.optimal_control.state_data import given_state, local, whole
from gyrostat.studies.optimal_control.transcription import Recorded

Array = np.ndarray
WHO = "optimal_control: guess"


def first_guess(program: NonlinearProgram, known: Recorded, guess: Any) -> Array:
    """x0 (n,)."""
    x = np.zeros(program.n)
    theta = np.array(known.free.guess)
    if hasattr(guess, "phases") and hasattr(guess, "parameters"):
        return from_motion(program, known, guess)
    x[program.theta_at] = theta
    for p, rows in zip(program.phases, _rows(program.phases, theta, guess), strict=True):
        x[p.first : p.first + p.size] = rows.ravel()
    return x


def _rows(phases: Sequence[PhaseEquations], theta: Array, guess: Any) -> list[Array]:
    if guess is None:
        return _straight(phases, theta)
    if callable(guess):
        return [_of_function(p, theta, guess) for p in phases]
    raise GyrostatError(f"{WHO} must be None, a motion, or a function of time, got {clipped(guess)}.")


# ------------------------------------------------------------------------------------------------ straight
def _straight(phases: Sequence[PhaseEquations], theta: Array) -> list[Array]:
    """Coordinates linear in time between ends that are given as data; efforts that hold the robot still."""
    times, states = [], []
    for p in phases:
        for what, fraction in (("start", 0.0), ("end", 1.0)):
            given = getattr(p.space.phase, what)
            times.append(p.rule.grid.start(theta) + fraction * p.rule.grid.duration(theta))
            states.append(given_state(p.space, given if isinstance(given, Mapping) else {}, what))
    n = phases[0].space.n
    if any(p.space.n != n for p in phases):
        return [_at_rest(p) for p in phases]
    table, found = np.array(states), []
    middle = _middle(phases[0])
    for p in phases:
        at = p.rule.grid.start(theta) + p.rule.fractions * p.rule.grid.duration(theta)
        xi = np.tile(middle, (len(at), 1))
        for k in range(n):
            known = np.isfinite(table[:, k])
            if known.any():
                xi[:, k] = np.interp(at, np.array(times)[known], table[known, k])
        v = np.zeros_like(xi)
        if len(at) > 1:
            v[:] = np.gradient(xi, at, axis=0)
        found.append(np.concatenate([xi, v, _holding(p, xi)], axis=1))
    return found


def _middle(p: PhaseEquations) -> Array:
    """Coordinates where nothing is known: zero, inside the limits."""
    lower, upper = _limits(p)
    return np.clip(np.zeros(p.space.n), lower, upper)


def _limits(p: PhaseEquations) -> tuple[Array, Array]:
    low, high = point_bounds(p.space)
    return low[: p.space.n], high[: p.space.n]


def _at_rest(p: PhaseEquations) -> Array:
    xi = np.tile(_middle(p), (p.rule.points, 1))
    return np.concatenate([xi, np.zeros_like(xi), _holding(p, xi)], axis=1)


def _holding(p: PhaseEquations, xi: Array) -> Array:
    """Efforts (k, m) of the controls against gravity."""
    space = p.space
    if space.net.closures or space.held:
        return np.zeros((len(xi), space.m))
    still = np.zeros_like(xi)
    with np.errstate(all="ignore"):
        tau = rnea(space.model, whole(space, xi), still, still)
    return np.asarray(tau)[:, list(space.controls)]


# ------------------------------------------------------------------------------------------------ a function
def _of_function(p: PhaseEquations, theta: Array, guess: Callable[[float], Any]) -> Array:
    """``guess(t)`` -> q, or (q, v), or (q, v, u); rates by differences where they are not told."""
    at = p.rule.grid.start(theta) + p.rule.fractions * p.rule.grid.duration(theta)
    told = [guess(float(t)) for t in at]
    parts: list[tuple[Any, ...]] = [x if isinstance(x, tuple) else (x,) for x in told]
    if len({len(x) for x in parts}) != 1 or not 1 <= len(parts[0]) <= 3:
        raise ShapeError(f"{WHO}: the function must return q, (q, v) or (q, v, u), always alike.")
    q = coordinates(p.space.model, np.array([x[0] for x in parts], dtype=float), WHO)
    xi = _unwound(local(p.space, q), p)
    if len(parts[0]) > 1:
        v = rates(p.space.model, np.array([x[1] for x in parts], dtype=float), WHO, "v")
    else:
        v = np.gradient(xi, at, axis=0)
    if len(parts[0]) > 2:
        u = np.array([x[2] for x in parts], dtype=float).reshape(len(at), -1)
        if u.shape[1] != p.space.m:
            raise ShapeError(f"{WHO}: u has {u.shape[1]} numbers, expected {p.space.m}: the controls")
    else:
        u = _holding(p, xi)
    return np.concatenate([xi, v, u], axis=1)


def _unwound(xi: Array, p: PhaseEquations) -> Array:
    """Rotation vectors without jumps of a full turn."""
    for block in p.space.model.layout.turning:
        for k in range(1, len(xi)):
            x, last = xi[k, block.angular], xi[k - 1, block.angular]
            angle = float(np.linalg.norm(x))
            if angle > 1e-9:
                other = x * (1.0 - 2.0 * np.pi / angle)
                if np.linalg.norm(other - last) < np.linalg.norm(x - last):
                    xi[k, block.angular] = other
    return xi


# ------------------------------------------------------------------------------------------------ a motion
def from_motion(program: NonlinearProgram, known: Recorded, motion: Any) -> Array:
    """The points of another motion with the same phases, on this grid."""
    if len(motion.phases) != len(program.phases):
        raise GyrostatError(
            f"{WHO}: the motion has {len(motion.phases)} phases, the problem {len(program.phases)}. "
            "Hint: a function of time serves other phases"
        )
    x = np.zeros(program.n)
    theta = np.array(known.free.guess)
    for k, name in enumerate(known.free.names):
        theta[k] = motion.parameters.get(name, theta[k])
    for number in known.free.timed:
        theta[known.free.duration(number)] = motion.phases[number].duration
    x[program.theta_at] = theta
    for p, old in zip(program.phases, motion.phases, strict=True):
        x[p.first : p.first + p.size] = _resampled(p, old).ravel()
    return x


def _resampled(p: PhaseEquations, old: Any) -> Array:
    s = p.rule.fractions
    row = old.at_fractions(s)
    if row.shape[1] != p.nw:
        raise ShapeError(f"{WHO}: the motion has {row.shape[1]} numbers at a point, the problem {p.nw}.")
    return row
