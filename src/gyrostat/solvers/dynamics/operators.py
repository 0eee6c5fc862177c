"""The stacked spatial operators at a state, for users: states are read and examined as in the solvers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from gyrostat.algorithms.matrices.assemble_operators import assemble_operators
from gyrostat.algorithms.matrices.operators import Operators
from gyrostat.configuration.packing import coordinates, rates, real_array
from gyrostat.errors import NonFiniteError, ShapeError, StateError
from gyrostat.spec.check import expect_model
from gyrostat.spec.model import Model


def operators(
    model: Model, q: Any, v: Any, *, representation: str = "body", t: Any = None, rules: Iterable[str] = ()
) -> Operators:
    """Stacked operators of a model at the state q (nq,), v (nv,), over all its spatial ports (no rewriting by default)
    and the shafts of its drives, see :class:`Operators`.

    The size is six times the number of ports, squared: an instrument for analysis and tests, not for speed.
    """
    expect_model(model, "operators")
    state = coordinates(model, q, "operators"), rates(model, v, "operators", "v")
    for x, what in zip(state, "qv", strict=True):
        if x.ndim != 1:
            raise ShapeError(
                f"operators: {what} has shape {x.shape}, expected {x.shape[-1:]}. Hint: one state at a time"
            )
    if t is None and not isinstance(model.context.base, str):
        raise StateError(f"operators: the base of '{model.name}' moves with time. Hint: give t=...")
    time = real_array(0.0 if t is None else t, "operators", "t")
    if time.ndim:
        raise ShapeError(f"operators: t has shape {time.shape}, expected a number. Hint: one state at a time")
    if not np.isfinite(time):
        raise NonFiniteError(f"operators: t is {float(time)}, not a finite number")
    return assemble_operators(model, *state, representation=representation, t=float(time), rules=rules)
