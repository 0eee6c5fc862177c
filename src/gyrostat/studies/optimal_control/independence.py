"""Whether what stands and what closes is held once: forces of rows that say the same are not determined.

Rows J are measured by the mass matrix M = L L^T, as W = J L^-T with rows of unit length: W has full rank if and only if
the equations of motion have one solution for accelerations and forces."""

from __future__ import annotations

import numpy as np

from gyrostat.errors import GyrostatError
from gyrostat.studies.optimal_control.nonlinear_program import NonlinearProgram
from gyrostat.studies.optimal_control.phase_equations import PhaseEquations
from gyrostat.studies.optimal_control.phase_space import PhaseSpace

Array = np.ndarray
SMALL = 1e-8
"""Singular values of W, relative to the largest one, that count as zero."""
ELSEWHERE = 3
"""Further configurations that are looked at."""


def expect_independent(program: NonlinearProgram, x: Array) -> None:
    """Refuse phases whose contacts and loops hold something twice at the guess x (n,)."""
    found = twice_held(program, x)
    if found:
        raise GyrostatError(found)


def twice_held(program: NonlinearProgram, x: Array) -> str:
    """What is held twice at points of x (n,), as a sentence; empty if nothing is."""
    theta = x[program.theta_at]
    for p in program.phases:
        if p.space.ny > p.space.n:
            found = _sentence(p, p.z(x, theta))
            if found:
                return found
    return ""


def _sentence(p: PhaseEquations, z: Array) -> str:
    K = _matrices(p, z, np.arange(len(z)))
    worst = min((_whitened(k, p.space.n) for k in K), key=_rank)
    rank = _rank(worst)
    if rank == len(worst):
        return ""
    other = z[:ELSEWHERE].copy()
    n = p.space.n
    other[:, :n] += np.random.default_rng(1).uniform(-0.5, 0.5, (len(other), n))
    again = _matrices(p, other, np.arange(len(other)))
    everywhere = all(_rank(_whitened(k, n)) < len(worst) for k in again)
    names = _involved(p.space, worst, rank)
    rest = len(worst) - rank
    follow = "follows" if rest == 1 else "follow"
    text = f"{p.space.who}: {names}: of {len(worst)} components that are held, {rest} {follow}"
    if everywhere:
        return (
            f"{text} from the others, so that their forces are not determined. Hint: hold what is rigid once, a flat "
            "foot with kind 'fixed' and gs.studies.center_of_pressure, or leave components out with rows (m, 6)"
        )
    return f"{text} from the others where the search begins or ended: a singular configuration. Hint: another guess"


def _matrices(p: PhaseEquations, z: Array, at: Array) -> Array:
    """dR/dy (k, ny, ny)."""
    return np.asarray(p.flow.dynamics._terms(z, *(d[at] for d in p.data))[1])


def _whitened(K: Array, n: int) -> Array:
    """W (rows, nv); rows that hold nothing that can move are zero."""
    if not np.all(np.isfinite(K)):
        return np.zeros((len(K) - n, n))
    try:
        W = np.linalg.solve(np.linalg.cholesky(K[:n, :n]), K[n:, :n].T).T
    except np.linalg.LinAlgError:  # rates without inertia
        W = K[n:, :n]
    size = np.linalg.norm(W, axis=1)
    return W / np.where(size > SMALL * size.max(initial=0.0), size, np.inf)[:, None]


def _rank(W: Array) -> int:
    s = np.linalg.svd(W, compute_uv=False)
    return int((s > SMALL * max(s.max(initial=0.0), SMALL)).sum())


def _involved(space: PhaseSpace, W: Array, rank: int) -> str:
    """Names of what takes part in the dependence: rows of the left null space."""
    U = np.linalg.svd(W)[0]
    size = np.linalg.norm(U[:, rank:], axis=1)
    names = [f"'{h.contact.frame}'" for h in space.held if size[h.at].max() > 1e-6]
    if space.loop_rows and size[len(W) - len(space.loop_rows) :].max() > 1e-6:
        names.append("closed loops")
    what = "contact " if len(names) == 1 and space.held else "contacts " if space.held else ""
    return what + " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
