"""Conditions at the ends of the time: what grows forwards is bounded from the end, all else from the start.

Near the rest at an end a deviation x = (z, h z') goes from node to node as x_{i+1} = T x_i. Left invariant subspaces of
T tell its parts: those that do not grow (stable and undamped vibrations) must be zero where the motion begins, those
that grow (unstable zeros) where it ends [Devasia, Chen, Paden, IEEE Trans. Autom. Control 41 (1996) 930-942]. Equations
without derivatives add pairs of both kinds, which collocation makes of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Array = np.ndarray
GROWTH = 0.5
"""Logarithm of the growth over the whole time from which on a part is bounded from the end."""
SLOW = 200.0
"""|s| times the duration of a motion up to which vibrations are shaped away: polynomials do not excite faster ones."""


def causal_and_growing(T: Array, steps: int) -> tuple[Array, Array]:
    """Rows (k, 2n) and (2n - k, 2n) that tell the two parts of a deviation; T for one of ``steps`` intervals."""
    limit = np.exp(GROWTH / steps)
    return _part(T, lambda x: abs(x) <= limit), _part(T, lambda x: abs(x) > limit)


def slow_causal(T: Array, steps: int) -> Array:
    """Rows that tell what does not grow and is no faster than SLOW over the time: what a smooth motion excites."""
    limit, slow = np.exp(GROWTH / steps), SLOW / steps
    return _part(T, lambda x: 0.0 < abs(x) <= limit and abs(np.log(complex(x))) < slow)


def _part(T: Array, chosen: Callable[[complex], bool]) -> Array:
    from scipy.linalg import schur

    found: Any = schur(T.T, output="real", sort=lambda re, im: chosen(complex(re, im)))
    _, Z, count = found
    return Z[:, :count].T
