"""What a rule of collocation returns: rows of its intervals and their derivatives."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

Array = np.ndarray


class Derivatives(NamedTuple):
    """Rows D (N, s, ne) of N intervals with s stages each, and their derivatives by the c points of the interval
    (N, s, ne, c, nw) and by the free numbers (N, s, ne, r); the last of the ne rows is the negative cost, in the last
    stage. ``memory``: what second derivatives need."""

    D: Array
    J: Array
    Jt: Array
    memory: Any


class Curvatures(NamedTuple):
    """Second derivatives of a weighted sum of rows: of each point of an interval (N, c, nw, nw), of neighbours
    ``cross`` (N, nw, nw), last point by first (None: there are none), of free numbers with points (N, c, r, nw) and
    among themselves (r, r). ``weights`` (P, ne): what the sum weighs e of the points with, whose second derivatives are
    still to be added."""

    own: Array | None
    cross: Array | None
    free: Array
    free_free: Array
    weights: Array
