"""The forces of least norm inside friction cones: min \\|f\\|^2, A f = b, \\|f_t\\| <= mu f_n; by clarabel (extra
``control``)."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

import numpy as np

from gyrostat.algorithms.contact.frame_contact import FrameContact
from gyrostat.errors import GyrostatError

Array = np.ndarray
TOLERANCE = 1e-11
SOLVED = ("Solved", "AlmostSolved")


def forces_in_cones(contacts: Sequence[FrameContact], A: Array, b: Array) -> Array | None:
    """f (m,), contacts with friction as rows (normal, t1, t2) or (normal,); None if there are none. ``A`` (r, m) has
    orthonormal rows."""
    try:
        clarabel: Any = import_module("clarabel")
        from scipy import sparse
    except ImportError as error:
        raise GyrostatError(
            "rnea: friction cones need clarabel, which is not installed. Hint: pip install 'gyrostat[control]'"
        ) from error
    m = A.shape[1]
    rows: list[Array] = [A]
    cones: list[Any] = [clarabel.ZeroConeT(len(A))] if len(A) else []
    start = 0
    for c in contacts:
        unit = np.eye(m)[start : start + c.rows]
        start += c.rows
        if c.friction is None:
            continue
        if c.rows == 3 and c.friction > 0.0:
            rows.append(-np.concatenate([c.friction * unit[:1], unit[1:]]))
            cones.append(clarabel.SecondOrderConeT(3))
            continue
        rows.append(-unit[:1])
        cones.append(clarabel.NonnegativeConeT(1))
        if c.rows == 3:
            rows.append(unit[1:])
            cones.append(clarabel.ZeroConeT(2))
    every = np.concatenate(rows)
    right = np.concatenate([b, np.zeros(len(every) - len(b))])
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    for name in ("tol_gap_abs", "tol_gap_rel", "tol_feas"):
        setattr(settings, name, TOLERANCE)
    program = clarabel.DefaultSolver(
        sparse.csc_matrix(np.eye(m)), np.zeros(m), sparse.csc_matrix(every), right, cones, settings
    )
    found = program.solve()
    if str(found.status) not in SOLVED:
        return None
    f = np.array(found.x)
    return f + A.T @ (b - A @ f)
