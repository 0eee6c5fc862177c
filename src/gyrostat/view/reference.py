"""What a motion shall be compared with: a planned motion, another run, or a measurement."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gyrostat.errors import ShapeError, clipped, nearest
from gyrostat.spec.model import Model

Array = np.ndarray
QUANTITIES = ("q", "v", "a", "tau")


def reference_of(model: Model, reference: Any, t: Array, who: str) -> tuple[Array, dict[str, Array]]:
    """Times (S,) and arrays by quantity: of a result; of a mapping with "q", "v", "a" or "tau" and perhaps "t" (by
    default the times of the motion); of a trajectory, which is evaluated at these times."""
    if isinstance(reference, Mapping):
        unknown = [k for k in reference if k not in ("t", *QUANTITIES)]
        if unknown:
            hint = nearest(str(unknown[0]), ("t", *QUANTITIES))
            raise ShapeError(f"{who}: the reference has {clipped(unknown[0])}. Hint: {hint}")
        given = {name: reference[name] for name in QUANTITIES if reference.get(name) is not None}
        times = np.asarray(reference.get("t", t), dtype=float)
    elif hasattr(reference, "derivatives"):
        times = np.asarray(t, dtype=float)
        rows = np.asarray(reference.derivatives(times, int(min(2, reference.smoothness))))
        given = {name: rows[:, k] for k, name in enumerate(QUANTITIES[: rows.shape[1]])}
        if model.nq != model.nv:
            given = {"q": given["q"]}
    elif hasattr(reference, "t") and hasattr(reference, "q"):
        times = np.asarray(reference.t, dtype=float)
        given = {name: x for name in QUANTITIES if (x := getattr(reference, name, None)) is not None}
    else:
        told = "expected a result, a trajectory, or a mapping such as {'t': t, 'q': q}"
        raise ShapeError(f"{who}: the reference is {clipped(reference)}, {told}. Hint: reference={{'q': q_wanted}}")
    if times.ndim != 1 or not np.all(np.isfinite(times)):
        raise ShapeError(f"{who}: t of the reference has shape {times.shape}, expected finite times (S,). Hint: 1-D")
    arrays = {name: np.asarray(x, dtype=float) for name, x in given.items()}
    for name, x in arrays.items():
        wanted = (len(times), model.nq if name == "q" else model.nv)
        if x.shape != wanted:
            hint = f"one row for each of its times, in the order of '{model.name}'"
            raise ShapeError(f"{who}: {name} of the reference has shape {x.shape}, expected {wanted}. Hint: {hint}")
    return times, arrays


def same_side(t: Array, q: Array, times: Array, reference: Array) -> Array:
    """Quaternions (S, 4) of a reference with the signs of those of the motion: q and -q are the same rotation."""
    near = np.clip(np.searchsorted(t, times), 0, len(t) - 1)
    signs = np.where(np.einsum("ij,ij->i", q[near], reference) < 0.0, -1.0, 1.0)
    return signs[:, None] * reference
