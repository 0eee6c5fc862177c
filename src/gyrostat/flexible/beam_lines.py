"""A straight beam by finite elements: bending in one plane, twist or stretch, free at both ends, reduced to its end
sections and a few displacements between them [AS (11)-(18)].

Bending has the coordinates (u, u') at each node and cubic elements with consistent mass, the turning of sections
included; twist and stretch have one coordinate and linear elements. The families of a straight beam do not act on each
other, and each keeps its own first modes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gyrostat.finite_elements.reduce_fe import reduce_fe

Array = np.ndarray


@dataclass(frozen=True)
class Line:
    """``M``, ``K`` (k, k) of the kept coordinates: those of the first section, of the last one, and displacements at
    ``x`` [m] between them. ``rigid`` (k, 2): their displacements if the line is displaced by c0 + c1 x. ``loads`` (k,
    2): forces on them that an acceleration c0 + c1 x of the line needs, R1 + Gamma R2 [AS (15)].
    ``first``: how many coordinates belong to the first section."""

    M: Array
    K: Array
    rigid: Array
    loads: Array
    x: Array
    first: int


def bending_line(length: float, EI: float, line: float, rotary: float, elements: int, inside: int) -> Line:
    """E I u'''' [N m^2]; ``line`` [kg/m]; ``rotary`` = density times I [kg m]."""
    h = length / elements
    mass = line * h / 420.0 * np.array([
        [156.0, 22 * h, 54.0, -13 * h], [22 * h, 4 * h * h, 13 * h, -3 * h * h],
        [54.0, 13 * h, 156.0, -22 * h], [-13 * h, -3 * h * h, -22 * h, 4 * h * h],
    ])  # fmt: skip
    turning = rotary / (30.0 * h) * np.array([
        [36.0, 3 * h, -36.0, 3 * h], [3 * h, 4 * h * h, -3 * h, -h * h],
        [-36.0, -3 * h, 36.0, -3 * h], [3 * h, -h * h, -3 * h, 4 * h * h],
    ])  # fmt: skip
    stiffness = EI / h**3 * np.array([
        [12.0, 6 * h, -12.0, 6 * h], [6 * h, 4 * h * h, -6 * h, 2 * h * h],
        [-12.0, -6 * h, 12.0, -6 * h], [6 * h, 2 * h * h, -6 * h, 4 * h * h],
    ])  # fmt: skip
    M, K = (_assembled(x, elements, 2) for x in (mass + turning, stiffness))
    x = np.linspace(0.0, length, elements + 1)
    field = np.zeros((2 * elements + 2, 2))
    field[::2, 0], field[::2, 1], field[1::2, 1] = 1.0, x, 1.0
    between = _between(elements, inside)
    return _reduced(M, K, [0, 1, 2 * elements, 2 * elements + 1, *(2 * between)], field, x[between], 2)


def axial_line(length: float, stiffness: float, line: float, elements: int) -> Line:
    """Stretch, E A [N] and mass [kg/m]; or twist, G J [N m^2] and polar inertia [kg m]."""
    h = length / elements
    mass, spring = line * h / 6.0 * np.array([[2.0, 1.0], [1.0, 2.0]]), stiffness / h * np.array([[1.0, -1], [-1, 1]])
    M, K = (_assembled(x, elements, 1) for x in (mass, spring))
    field = np.stack([np.ones(elements + 1), np.linspace(0.0, length, elements + 1)], axis=1)
    return _reduced(M, K, [0, elements], field, np.zeros(0), 1)


def _between(elements: int, inside: int) -> Array:
    """Numbers of nodes, evenly spaced."""
    return np.round(np.linspace(0, elements, inside + 2)[1:-1]).astype(int)


def _assembled(element: Array, count: int, step: int) -> Array:
    whole = np.zeros((step * (count + 1),) * 2)
    for k in range(count):
        at = slice(step * k, step * k + 2 * step)
        whole[at, at] += element
    return whole


def _reduced(M: Array, K: Array, keep: list[int], field: Array, x: Array, first: int) -> Line:
    if len(keep) == len(M):
        return Line(M[np.ix_(keep, keep)], K[np.ix_(keep, keep)], field[keep], (M @ field)[keep], x, first)
    reduction = reduce_fe(M, K, keep)
    order = [list(reduction.keep).index(k) for k in keep]
    R = M @ field
    loads = R[reduction.keep] + reduction.Gamma @ R[reduction.omit]
    M_bar, K_bar = (y[np.ix_(order, order)] for y in (reduction.M_symmetric, reduction.K_bar))
    return Line(M_bar, K_bar, field[reduction.keep][order], loads[order], x, first)
