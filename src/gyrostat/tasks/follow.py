"""Tasks whose targets move: one step after the other."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from gyrostat.configuration.manifold import integrate
from gyrostat.configuration.packing import coordinates, real_array
from gyrostat.errors import ShapeError, SpecError, clipped
from gyrostat.tasks.layout import STEP

Array = np.ndarray


@dataclass(frozen=True)
class Followed:
    """``t`` (n,) [s], ``q`` (n, nq), ``v`` (n, nv): the rates that led there, zero at first; ``errors`` (n, m) of each
    task against its target at the same instant."""

    t: Array
    q: Array
    v: Array
    errors: Mapping[str, Array]

    @property
    def worst(self) -> dict[str, float]:
        """The largest error of each task."""
        return {name: float(np.abs(e).max(initial=0.0)) for name, e in self.errors.items()}

    def __repr__(self) -> str:
        told = ", ".join(f"{name} {value:.3g}" for name, value in self.worst.items())
        return f"<followed for {self.t[-1] - self.t[0]:g} s in {len(self.t) - 1} steps; largest errors: {told}>"


def followed(stack: Any, q: Any, targets: Mapping[str, Any], t: Any) -> Followed:
    """See :meth:`Stack.follow`."""
    times = real_array(t, "follow", "t")
    if times.ndim != 1 or len(times) < 2 or np.any(np.diff(times) <= 0.0) or not np.isfinite(times).all():
        raise ShapeError(f"follow: t must be at least two growing times [s], got {clipped(t)}")
    start = coordinates(stack.model, q, "follow")
    if start.ndim != 1:
        raise ShapeError(f"follow: q has shape {start.shape}, expected ({stack.model.nq},)")
    rows = _rows(stack, targets, times)
    path, v = np.empty((len(times), len(start))), np.zeros((len(times), stack.model.nv))
    path[0] = start
    numbers_only = not stack.model.layout.turning
    for k, dt in enumerate(np.diff(times).tolist()):
        x = rows[k + 1]
        x[STEP] = dt
        v[k + 1] = stack._steps.rates(path[k], x, dt)
        if numbers_only:
            path[k + 1] = path[k] + v[k + 1] * dt
        else:
            path[k + 1] = integrate(stack.model, path[k], v[k + 1], dt)
    return Followed(times, path, v, stack.by_task(stack._program.rows(path, rows).e))


def _rows(stack: Any, targets: Mapping[str, Any], times: Array) -> Array:
    """The numbers of the stack at every instant (n, size)."""
    if not isinstance(targets, Mapping):
        message = f"targets is {clipped(targets)}"
        raise SpecError.one("follow", "targets", message, "{'hand': function of the time}", targets)
    given: dict[str, Any] = {}
    for name, target in targets.items():
        given[name] = _sampled(target, times) if callable(target) else target
    x = stack._numbers(given, "follow")
    if x.shape[:-1] not in ((), (1,), times.shape):
        raise ShapeError(f"follow: there are {len(times)} times, but targets of shape {x.shape[:-1]}")
    return np.broadcast_to(x, (len(times), stack._at.size)).copy()


def _sampled(target: Callable[[float], Any], times: Array) -> Any:
    values = [target(float(t)) for t in times]
    if hasattr(values[0], "matrix"):
        return np.array([value.matrix for value in values])
    return np.array(values)
