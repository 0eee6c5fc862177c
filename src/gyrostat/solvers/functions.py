"""One-line functions over solvers that are built once for each model and kept with it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from gyrostat.solvers.forward_kinematics import ForwardKinematics, Motions
from gyrostat.solvers.inverse_dynamics import InverseDynamics
from gyrostat.spec.model import Model

S = TypeVar("S")


class Kept(dict[Any, Any]):
    """Solvers of one model object; a copy or pickle of the model begins without any."""

    def __reduce__(self) -> tuple[Any, ...]:
        return Kept, ()


def cached(model: Model, key: Any, build: Callable[[], S]) -> S:
    """The solver of a model under a key. It hangs on the model object and goes with it."""
    solvers = model.__dict__.setdefault("_solvers", Kept())
    found = solvers.get(key)
    if found is None:
        found = solvers[key] = build()
    return found


def rnea(
    model: Model, q: Any, v: Any, a: Any, wrenches: Any = None, *, representation: str = "body", t: Any = None, **options: Any
) -> np.ndarray:
    """Inverse dynamics: generalised forces tau (..., nv) for q (..., nq), v, a (..., nv); see :class:`InverseDynamics`.

    ``options``: ``out``, ``threads``, ``nonfinite``.
    """
    solver = cached(model, ("rnea", representation), lambda: InverseDynamics(model, representation))
    if wrenches is None and t is None and not options:
        return solver(q, v, a)
    return solver(q, v, a, wrenches, t=t, **options)


def fk(model: Model, q: Any, v: Any = None, a: Any = None, *, representation: str = "body", t: Any = None, **options: Any) -> Motions:
    """Forward kinematics of all frames: ``fk(model, q)["tool.tip"].p``; see :class:`ForwardKinematics`."""
    solver = cached(model, ("fk", representation), lambda: ForwardKinematics(model, representation=representation))
    return solver(q, v, a, t=t, **options)
