"""One-line functions over solvers that are built once for each model and kept with it."""

from __future__ import annotations

from typing import Any

import numpy as np

from gyrostat.engine.dispatch import quick, remember
from gyrostat.solvers.fast import usual
from gyrostat.solvers.forward_kinematics import ForwardKinematics, Motions
from gyrostat.solvers.inverse_dynamics import InverseDynamics
from gyrostat.spec.model import Model


class Kept(dict[Any, Any]):
    """Solvers of one model object; a copy or pickle of the model begins without any."""

    def __reduce__(self) -> tuple[Any, ...]:
        return Kept, ()


def kept(model: Model) -> Kept:
    """Solvers that hang on a model object; they go with it."""
    return model.__dict__.setdefault("_solvers", Kept())


@quick
def rnea(
    model: Model,
    q: Any,
    v: Any,
    a: Any,
    wrenches: Any = None,
    *,
    representation: str = "body",
    t: Any = None,
    out: Any = None,
    threads: int = 1,
    nonfinite: str = "raise",
) -> np.ndarray:
    """Inverse dynamics: generalised forces tau (..., nv) for q (..., nq), v, a (..., nv); see
    :class:`InverseDynamics`."""
    try:
        solver = model.__dict__["_solvers"]["rnea", representation]
    except (AttributeError, KeyError, TypeError):  # the first time, or no model, or no representation
        solver = kept(model)["rnea", representation] = InverseDynamics(model, representation)
    if representation == "body":
        remember(rnea, model, solver)
    if wrenches is None and t is None and out is None and usual(threads, nonfinite):
        return solver(q, v, a)
    return solver(q, v, a, wrenches, t=t, out=out, threads=threads, nonfinite=nonfinite)


def fk(
    model: Model,
    q: Any,
    v: Any = None,
    a: Any = None,
    *,
    representation: str = "body",
    t: Any = None,
    threads: int = 1,
    nonfinite: str = "raise",
) -> Motions:
    """Forward kinematics of all frames: ``fk(model, q)["tool.tip"].p``; see :class:`ForwardKinematics`."""
    try:
        solver = model.__dict__["_solvers"]["fk", representation]
    except (AttributeError, KeyError, TypeError):
        solver = kept(model)["fk", representation] = ForwardKinematics(model, representation=representation)
    return solver(q, v, a, t=t, threads=threads, nonfinite=nonfinite)
