"""Disturbances: wrenches at ports, one for all cases or one for each, as loads J^T w of small vibrations."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from gyrostat.configuration.packing import real_array
from gyrostat.errors import NonFiniteError, ShapeError

Array = np.ndarray


class Loads:
    """``wrenches``: port -> (6,), (N, 6) or a function f(t) that gives one of these: torque [N m], then force [N], in
    the port's axes. ``jacobians``: port -> (T, 6, n), its displacement for unit U, in its own axes. They act on the
    undeformed robot: how they turn with the vibration is of second order for small disturbances."""

    def __init__(self, t: Array, wrenches: Mapping[str, Any], jacobians: Mapping[str, Array], who: str):
        self.who, self.t = who, t
        self._wrenches = [(port, wrench, jacobians[port]) for port, wrench in wrenches.items()]

    @property
    def cases(self) -> int:
        """N; 1 where all cases have the same loads."""
        sizes = {len(self._value(port, wrench, 0)) for port, wrench, _ in self._wrenches} - {1}
        if len(sizes) > 1:
            raise ShapeError(f"{self.who}: wrenches have {sorted(sizes)} cases, expected one number or none")
        return sizes.pop() if sizes else 1

    def __call__(self, k: int) -> Array:
        """(N, n) at the instant t[k]; N may be 1."""
        loads = [self._value(port, wrench, k) @ J[k] for port, wrench, J in self._wrenches]
        return np.sum(np.broadcast_arrays(*loads), axis=0)

    def _value(self, port: str, wrench: Any, k: int) -> Array:
        given: Callable[[float], Any] | Any = wrench
        w = real_array(given(float(self.t[k])) if callable(given) else given, self.who, f"wrench at '{port}'")
        if w.ndim not in (1, 2) or w.shape[-1] != 6:
            raise ShapeError(
                f"{self.who}: wrench at '{port}' has shape {w.shape}, expected (6,) or (N, 6): torque, then force. "
                "Hint: one that changes is a function f(t)"
            )
        if not np.isfinite(w).all():
            raise NonFiniteError(f"{self.who}: wrench at '{port}' is not finite at {self.t[k]:g} s")
        return np.atleast_2d(w)
