"""Modes along a path: which mode of one pose is which of the next, by the modal assurance criterion.

    MAC_ij = |x_i^T W y_j|^2 / (x_i^T W x_i  y_j^T W y_j)

of shapes x before and y now; W is the mean of their mass matrices: modes of one pose have MAC = 1 with themselves and 0
with each other [R. J. Allemang, The modal assurance criterion, Sound and Vibration 37 (2003); the mass as weight]."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gyrostat.solvers.dynamics.mass_matrix import MassMatrix
from gyrostat.solvers.machinery.solver_cache import cached_solver
from gyrostat.studies.vibration.modes import Eigenfrequencies

Array = np.ndarray


def mac(X: Array, Y: Array, W: Array) -> Array:
    """(i, j) of shapes (n, i) and (n, j) in the metric W (n, n)."""
    cross = np.abs(np.conj(X.T) @ W @ Y) ** 2
    lengths = [np.real(np.einsum("ki,kl,li->i", np.conj(A), W, A)) for A in (X, Y)]
    return cross / np.maximum(np.outer(*lengths), 1e-300)


def paired(score: Array) -> Array:
    """For each row the column that belongs to it, each once: the best pair of all first."""
    score = score.copy()
    order = np.zeros(len(score), dtype=int)
    for _ in range(len(score)):
        i, j = np.unravel_index(int(np.argmax(score)), score.shape)
        order[i] = j
        score[i], score[:, j] = -1.0, -1.0
    return order


def tracked(found: Eigenfrequencies) -> Eigenfrequencies:
    """The same with modes and poles of q (k, nq) in the order that the first pose has, and shapes of one sign."""
    M = cached_solver(found.model, MassMatrix, algorithm="crba", representation="body")(found.q)
    undamped, modes = found.undamped.copy(), found.modes.copy()
    poles, shapes = found.poles.copy(), found.damped_modes.copy()
    for k in range(1, len(found.q)):
        W = 0.5 * (M[k - 1] + M[k])
        order = paired(mac(modes[k - 1], modes[k], W))
        undamped[k], modes[k] = undamped[k][order], modes[k][:, order]
        modes[k] *= np.where(np.einsum("ni,nl,li->i", modes[k - 1], W, modes[k]) < 0.0, -1.0, 1.0)
        near = -np.abs(poles[k - 1][:, None] - poles[k]) / (np.abs(poles[k - 1]).max(initial=0.0) + 1e-300)
        order = paired(mac(shapes[k - 1], shapes[k], W) + near)
        poles[k], shapes[k] = poles[k][order], shapes[k][:, order]
    return replace(found, undamped=undamped, modes=modes, poles=poles, damped_modes=shapes)
