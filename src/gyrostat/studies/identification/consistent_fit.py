"""The weighted least-squares problem with parameters that a machine can have: a semidefinite program (clarabel).

    min 1/2 x^T H x - g^T x    P_i(x) >= diag(e_i) for each body,   C x >= c

H and g hold the measurement and the prior; P_i is the pseudo-inertia [Wensing 2018, Sousa 2014]."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from gyrostat.errors import GyrostatError
from gyrostat.studies.identification.pseudo_inertia import BASIS

Array = np.ndarray
SOLVED = ("Solved", "AlmostSolved")


def consistent_fit(H: Array, g: Array, bodies: int, least: Array, C: Array, c: Array, who: str) -> Array:
    """x (N,): bodies' ten parameters first; ``least`` (bodies, 4): least diagonal of what P exceeds, in the order
    second moments, mass; ``C`` (k, N), ``c`` (k,)."""
    try:
        clarabel: Any = import_module("clarabel")
        from scipy import sparse
    except ImportError:
        raise GyrostatError(f"{who}: needs clarabel and scipy. Hint: pip install 'gyrostat[studies]'") from None
    N, s = len(g), np.sqrt(np.diag(H))
    rows, low, cones = [], [], []
    for i in range(bodies):
        d = np.sqrt(least[i])  # D^-1 P D^-1 >= 1
        for k in range(4):
            for j in range(k + 1):
                row = np.zeros(N)
                row[10 * i : 10 * i + 10] = -BASIS[j, k] * (1.0 if j == k else np.sqrt(2.0)) / (d[j] * d[k])
                rows.append(row)
                low.append(-1.0 if j == k else 0.0)
        cones.append(clarabel.PSDTriangleConeT(4))
    if len(C):
        rows += [-row for row in C]
        low += [-x for x in c]
        cones.append(clarabel.NonnegativeConeT(len(C)))
    if not rows:
        return np.linalg.solve(H, g)
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    scale = np.array([1.0 / max(np.linalg.norm(row / s), 1e-300) for row in rows])
    for i in range(bodies):  # a cone is scaled as a whole
        scale[10 * i : 10 * i + 10] = scale[10 * i : 10 * i + 10].min()
    size = float(np.abs(g / s).max(initial=0.0)) or 1.0  # y = s x / size is of order one
    problem = clarabel.DefaultSolver(
        sparse.csc_matrix(np.triu(H / np.outer(s, s))),
        -g / s / size,
        sparse.csc_matrix(np.array(rows) / s * scale[:, None]),
        np.array(low) * scale / size,
        cones,
        settings,
    )
    solution = problem.solve()
    if str(solution.status) not in SOLVED:
        raise GyrostatError(
            f"{who}: no physically consistent parameters were found, the solver says '{solution.status}'. "
            "Hint: check signs and units of q and tau; a smaller prior= keeps closer to the model"
        )
    return np.array(solution.x) * size / s
