"""One-line functions over solvers that are built once for each model and kept as long as the model lives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

import numpy as np

from gyrostat.solvers.forward_kinematics import ForwardKinematics, Motions
from gyrostat.solvers.inverse_dynamics import InverseDynamics
from gyrostat.spec.model import Model

S = TypeVar("S")
_solvers: WeakKeyDictionary[Model, dict[tuple[Any, ...], Any]] = WeakKeyDictionary()


def cached(model: Model, key: tuple[Any, ...], build: Callable[[], S]) -> S:
    """The solver of a model under a key; equal models share it."""
    known = _solvers.setdefault(model, {})
    if key not in known:
        known[key] = build()
    return known[key]


def rnea(
    model: Model, q: Any, v: Any, a: Any, wrenches: Any = None, *, representation: str = "body", t: Any = None
) -> np.ndarray:
    """Inverse dynamics: generalised forces tau (..., nv) for q (..., nq), v, a (..., nv); see :class:`InverseDynamics`."""
    solver = cached(model, ("rnea", representation), lambda: InverseDynamics(model, representation))
    return solver(q, v, a, wrenches, t=t)


def fk(model: Model, q: Any, v: Any = None, a: Any = None, *, representation: str = "body", t: Any = None) -> Motions:
    """Forward kinematics of all frames: ``fk(model, q)["tool.tip"].p``; see :class:`ForwardKinematics`."""
    solver = cached(model, ("fk", representation), lambda: ForwardKinematics(model, representation=representation))
    return solver(q, v, a, t=t)
