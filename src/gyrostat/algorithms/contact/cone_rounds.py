"""How a scaled contact problem is solved: rounds of sweeps and steps of Newton, and ways out where these do not end.

A proximal problem (A + e, c - e P) has the same solutions once P repeats, and is easier the larger e is: e goes down.
With the radii of all discs held fixed the problem is convex, and repeated with the new radii [Haslinger 1983]."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from gyrostat.algorithms.contact.cone_layout import Array
from gyrostat.algorithms.contact.cone_newton import newton_step
from gyrostat.algorithms.contact.cone_scaling import ScaledProblem
from gyrostat.algorithms.contact.cone_sweeps import Sweeps

ROUNDS, FEW_ROUNDS = 8, 3
"""For a problem, and for each on the ways out."""
FIRST_SWEEPS, FIRST_STEPS, MOST_STEPS = 2, 8, 40
"""Of a round; twice as many in the next."""
PATIENCE, SHORTEST = 3, 0.02
"""How many steps of Newton may raise the sum of squares, and below which length they are not shortened."""
Found = tuple[Array, float, int]
"""Scaled forces, their residual, and how many sweeps and steps of Newton they took."""


def solved(problem: ScaledProblem, P: Array, tolerance: float) -> Found:
    """The best that is found: rounds first, then the ways out until one gets there."""
    P = problem.forces.feasible(np.where(problem.dead, 0.0, P))
    best = rounds(problem, P, tolerance)
    for way in (_continued, _repeated):
        if best[1] <= tolerance:
            break
        for trial in way(problem, best[0], tolerance):
            count = best[2] + trial[2]
            best = (*trial[:2], count) if trial[1] < best[1] else (*best[:2], count)
            if best[1] <= tolerance:
                break
    return best


def rounds(problem: ScaledProblem, P: Array, tolerance: float, most: int = ROUNDS) -> Found:
    """Sweeps and then Newton's method, twice as many of both in each round."""
    sweeps = Sweeps.of(np.where(problem.dead[:, None], 0.0, problem.A), problem.forces)
    residual, count = problem.residual(P), 0
    for k in range(most):
        if residual <= tolerance:
            break
        for _ in range(FIRST_SWEEPS * 2**k):
            P = sweeps.swept(P, problem.c)
        P, residual, steps = refined(problem, P, tolerance, min(FIRST_STEPS * 2**k, MOST_STEPS))
        count += FIRST_SWEEPS * 2**k + steps
    return P, residual, count


def refined(problem: ScaledProblem, P: Array, tolerance: float, most: int = MOST_STEPS) -> Found:
    """Steps of Newton, shorter ones where the whole does not lower the sum of squares; the best of all of them."""
    best, residual = P, problem.residual(P)
    square, failures, step = problem.square(P), 0, 0
    while step < most and residual > tolerance and failures <= PATIENCE:
        dP = newton_step(problem.A, problem.c, problem.forces, P, problem.dead)
        before, length, start = square, 2.0, P
        while length > 2 * SHORTEST and (length > 1.0 or square >= before):
            length /= 2
            P = problem.forces.feasible(start + length * dP)
            square = problem.square(P)
        step, failures = step + 1, 0 if square < before else failures + 1
        if problem.residual(P) < residual:
            best, residual = P, problem.residual(P)
    return best, residual, step


def _continued(problem: ScaledProblem, P: Array, tolerance: float) -> Iterator[Found]:
    """Proximal problems, from what there is and from nothing."""
    for start, e, factor in ((P, 0.1, 0.1), (0.0 * P, 0.3, 0.3)):
        Q = problem.forces.feasible(start)
        while e > 1e-9:
            near = replace(problem, A=problem.A + e * np.eye(len(P)), c=problem.c - e * Q)
            Q, _, count = rounds(near, Q, tolerance, FEW_ROUNDS)
            R, residual, steps = refined(problem, Q, tolerance)
            yield R, residual, count + steps
            e *= factor


def _repeated(problem: ScaledProblem, P: Array, tolerance: float) -> Iterator[Found]:
    """Discs of fixed radius, again and again, half of the way each time and then the whole."""
    for part in (0.5, 1.0):
        Q = P
        for _ in range(10):
            discs = tuple(replace(d, ratio=0.0, base=d.ratio * Q[d.normal] + d.base) for d in problem.forces.discs)
            fixed = replace(problem, forces=replace(problem.forces, discs=discs))
            R, _, count = rounds(fixed, fixed.forces.feasible(Q), tolerance, FEW_ROUNDS)
            Q = problem.forces.feasible(Q + part * (R - Q))
            R, residual, steps = refined(problem, Q, tolerance)
            yield R, residual, count + steps
