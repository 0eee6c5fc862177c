"""How a motion changes with one of its parameters."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Sensitivity:
    """Derivatives of a motion by k numbers, at the instants of the result: ``q`` (T, nv, k) along the rates,
    q(x + dx) = q(x) (+) S dx as in ``gs.integrate``; ``v`` (T, nv, k); ``p`` (T, np, k) of own states of a block.

    The k numbers are the entries of a parameter in C order, or for "q0" and "v0" the nv rates along which the start
    moves. Units: those of q, v, p over those of the parameter."""

    q: Array
    v: Array
    p: Array

    def __repr__(self) -> str:
        return f"<Sensitivity: {len(self.q)} samples, nv = {self.q.shape[1]}, k = {self.q.shape[2]}>"
