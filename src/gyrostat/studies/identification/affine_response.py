"""Responses in frequency of many parameter sets, where mass, damping and stiffness matrices are affine in them.

    M(p) = M_0 + sum_i p_i M_i, D and K alike;   H = s^order (C_d + s C_v) (s^2 M + s D + K)^-1 F

True of stiffness, damping, friction and inertias; checked at one more point, and left alone where it is not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gyrostat.solvers.functions import crba
from gyrostat.spec.model import Model
from gyrostat.studies.vibration.frequency_response import FrequencyResponse

Array = np.ndarray


def affine_response(exact: Callable[[Array], FrequencyResponse], model: Model, start: Array) -> Any:
    """A function p -> H (F, outputs, inputs) that agrees with ``exact(p).H``; ``exact`` itself where M, D, K are not
    affine, a controller takes part, or coordinates are locked."""
    at = exact(start)
    if at.system.A.shape != (2 * model.nv, 2 * model.nv) or np.any(at.system.D):
        return lambda p: exact(p).H
    first = _matrices(at, model)
    moved = [np.where(np.arange(len(start)) == k, 1.5 * start, start) for k in range(len(start))]
    slopes = [(_matrices(exact(p), model) - first) / (0.5 * p[k] / 1.5) for k, p in enumerate(moved)]
    n, s, order = model.nv, 2j * np.pi * at.hz, at.system.order
    C = at.system.C

    def fast(p: Array) -> Array:
        total = first + sum((x - x0) * S for x, x0, S in zip(p, start, slopes, strict=True))
        M, D, K, F = total[:, :n], total[:, n : 2 * n], total[:, 2 * n : 3 * n], total[:, 3 * n :]
        Z = s[:, None, None] ** 2 * M + s[:, None, None] * D + K
        y = np.linalg.solve(Z, np.broadcast_to(F, (len(s), *F.shape)))
        out = (C[:, :n] + s[:, None, None] * C[:, n:]) @ y
        return out * s[:, None, None] ** order[:, None]

    probe = start * np.linspace(0.7, 1.6, len(start))
    wanted = exact(probe).H
    if np.abs(fast(probe) - wanted).max() > 1e-8 * np.abs(wanted).max():
        return lambda p: exact(p).H
    return fast


def _matrices(found: FrequencyResponse, model: Model) -> Array:
    """[M, D, K, F] (n, 3 n + inputs), read off the state space."""
    n = model.nv
    M = np.asarray(crba(found.model, found.q))
    A, B = found.system.A, found.system.B
    return np.concatenate([M, -M @ A[n:, n:], -M @ A[n:, :n], M @ B[n:]], axis=1)
