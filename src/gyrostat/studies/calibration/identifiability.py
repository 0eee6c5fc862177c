"""What measurements tell and what they leave open: directions in the space of the unknowns, and their names in words.

With the singular values S and directions V of the whitened Jacobian, whose columns are scaled by how large an error of
each unknown may be, noise leaves 1/S_i open along V_i. Where that is more than 1, the direction is not identified: the
measurements add nothing to what was known before. Such directions stay where they are."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gyrostat.studies.calibration.equations import Column

Array = np.ndarray
PART = 0.02
"""Share of a direction below which an unknown is not mentioned."""
EXACT = 1e-7
"""Sensitivity, relative to the largest, below which nothing at all is seen of a direction."""


def open_directions(J: Array) -> tuple[Array, Array]:
    """N (n, k): orthonormal directions that J (rows, n) leaves open; and singular values (n,), zeros where there are
    fewer rows."""
    n = J.shape[1]
    _, S, Vt = np.linalg.svd(J, full_matrices=len(J) < n)
    S = np.concatenate([S, np.zeros(n - len(S))])
    return Vt[max(1.0, 1e-11 * S[0]) > S].T, S


def sparse_directions(N: Array) -> Array:
    """The same directions (k, n) with as few unknowns in each as possible: rows reduced on their largest entries."""
    B = N.T.copy()
    for r in range(len(B)):
        i, j = np.unravel_index(np.abs(B[r:]).argmax(), B[r:].shape)
        B[[r, r + i]] = B[[r + i, r]]
        B[r] /= B[r, j]
        others = np.arange(len(B)) != r
        B[others] -= np.outer(B[others, j], B[r])
    return B


def open_in_words(N: Array, J: Array, columns: Sequence[Column]) -> tuple[str, ...]:
    """A sentence for every direction that is not identified."""
    largest = np.linalg.norm(J, axis=0).max(initial=0.0)
    words = []
    for row in sparse_directions(N):
        involved = [k for k in np.argsort(-np.abs(row)) if abs(row[k]) > PART]
        effect = float(np.linalg.norm(J @ row) / np.linalg.norm(row))
        exact = effect <= EXACT * largest
        if len(involved) == 1:
            words.append(_alone(columns[involved[0]], effect, exact))
        else:
            words.append(_together(row, involved, columns, effect, exact))
    return tuple(words)


def _alone(column: Column, effect: float, exact: bool) -> str:
    if exact:
        return f"'{column.name}' has no effect on what was measured; it keeps its value"
    known = amount(column.scale / effect, column.unit)
    return f"'{column.name}' is not excited enough: it would be known to {known} only; it keeps its value"


def _together(row: Array, involved: Sequence[int], columns: Sequence[Column], effect: float, exact: bool) -> str:
    """The change that leaves everything as it is, in units in which the first one is 1 mm, 1 mrad or 1."""
    steps = [row[k] * columns[k].scale for k in involved]
    first = {"m": 1e-3, "rad": 1e-3}.get(columns[involved[0]].unit, abs(steps[0]))
    parts = [
        f"{columns[k].name} by {amount(s * first / steps[0], columns[k].unit)}"
        for k, s in zip(involved, steps, strict=True)
    ]
    names = [f"'{columns[k].name}'" for k in involved]
    listed = f"{', '.join(names[:-1])} and {names[-1]}"
    why = "changes nothing that was measured" if exact else "changes less than the noise"
    return f"{listed} cannot be told apart: changing {', '.join(parts)} together {why}"


def amount(value: float, unit: str) -> str:
    """A number with its unit, lengths and angles in mm and mrad."""
    if unit in ("m", "rad"):
        return f"{1e3 * value:.3g} m{unit}"
    return f"{value:.3g} {unit}".strip()
