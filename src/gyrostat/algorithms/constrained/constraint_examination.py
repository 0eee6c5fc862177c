"""Rows of constraints that users define, looked at once at the start of a run: what cannot be is told by name.

The Jacobian is compared with differences of the residual along the rates, the bias with differences of the Jacobian
along the motion: a wrong sign of either lets a constraint drift away without a word."""

from __future__ import annotations

from typing import Any

import numpy as np

from gyrostat.algorithms.constrained.constraint import BILATERAL, ConstraintRows
from gyrostat.configuration.manifold import integrate
from gyrostat.errors import RowError
from gyrostat.spec.model import Model

Array = np.ndarray
STEP = 1e-6
ALLOWED = 1e-4
"""Differences that are rounding, relative to one plus the size of the entries."""


def examine(who: str, rows: ConstraintRows, model: Model, q: Array) -> None:
    """Shapes of what the functions of some rows return at q (nq,); J = dg/dq along the rates; b = dJ/dt v."""
    k = len(rows.names)
    v = np.random.default_rng(1).uniform(0.5, 1.0, model.nv)  # any motion
    with np.errstate(all="ignore"):  # a slack rope of no length has no direction
        if rows.residual is not None:
            _expect_shape(f"{who}: residual(q)", _called(who, "residual", rows.residual, q), (k,))
            if np.any(np.asarray(rows.side) != BILATERAL):
                several = _called(who, "residual", rows.residual, np.stack([q, q]))
                _expect_shape(f"{who}: residual of two configurations q (2, nq)", several, (2, k))
        if callable(rows.jacobian):
            _expect_shape(f"{who}: jacobian(q)", _called(who, "jacobian", rows.jacobian, q), (k, model.nv))
            _expect_shape(f"{who}: bias(q, v)", _called(who, "bias", rows.bias, q, v), (k,))
        q = integrate(model, q, 1e-3 * v)  # beside a start that may be special
        J = _jacobian(rows, q)
        if rows.residual is not None:
            _expect_close(who, rows, "jacobian", "the residual along the rates", J, _slopes(rows, model, q))
        if callable(rows.jacobian):
            ahead, behind = (_jacobian(rows, integrate(model, q, s * STEP * v)) for s in (1.0, -1.0))
            rate = (ahead - behind) @ v / (2.0 * STEP)
            bias = np.asarray(rows.bias(q, v), dtype=float)
            _expect_close(who, rows, "bias", "dJ/dt v", bias[:, None], rate[:, None])


def _jacobian(rows: ConstraintRows, q: Array) -> Array:
    return np.asarray(rows.jacobian(q) if callable(rows.jacobian) else rows.jacobian, dtype=float)


def _slopes(rows: ConstraintRows, model: Model, q: Array) -> Array:
    """dg/dq (k, nv) along the rates, by differences."""

    def residual(x: Array) -> Array:
        return np.asarray(rows.residual(x), dtype=float)  # type: ignore[misc]

    steps = STEP * np.eye(model.nv)
    pairs = [(residual(integrate(model, q, h)), residual(integrate(model, q, -h))) for h in steps]
    return np.array([(ahead - behind) / (2.0 * STEP) for ahead, behind in pairs]).T


def _called(who: str, what: str, function: Any, *arguments: Array) -> Any:
    try:
        return function(*arguments)
    except Exception as error:
        raise RowError(f"{who}: {what} fails, {type(error).__name__}: {error}. Hint: q has shape (..., nq)") from error


def _expect_shape(what: str, value: Any, shape: tuple[int, ...]) -> None:
    if np.shape(value) != shape:
        raise RowError(f"{what} has shape {np.shape(value)}, expected {shape}. Hint: one entry for each name")


def _expect_close(who: str, rows: ConstraintRows, what: str, of: str, given: Array, want: Array) -> None:
    """Where both are finite."""
    error = np.abs(given - want) - ALLOWED * (1.0 + np.abs(want).max(axis=1, keepdims=True))
    wrong = np.argwhere(np.isfinite(error) & (error > 0.0))
    if len(wrong):
        i, j = wrong[0]
        raise RowError(
            f"{who}: {what} of '{rows.names[i]}' is {given[i, j]:g}, but differences of {of} give {want[i, j]:g}. "
            "Hint: J = dg/dq along the rates v, bias = dJ/dt v"
        )
