"""Derivatives of contact forces as drivers: tangent and adjoint of :func:`~.cone_driver_rounds.cone_solve`, by the
equations of :mod:`~gyrostat.algorithms.contact.cone_sensitivity`.

With e = dG P + dc, dP = X e: :func:`cone_tangent` multiplies by X, :func:`cone_adjoint` by X^T, which gives the
gradient gc by c, and gc P^T by G. What forces can do to each other without motion is divided by 1e-10: gradients gP
that come from velocities (J M^-1 times something) have no such part."""

from __future__ import annotations

from gyrostat.algorithms.contact.cone_driver_elimination import wide_for
from gyrostat.algorithms.contact.cone_driver_newton import bounds_met, eliminated, gathered, slide_one, slide_two
from gyrostat.algorithms.contact.cone_driver_rounds import cone_stride
from gyrostat.algorithms.contact.cone_driver_scaling import (
    HEAD,
    dead_rows,
    own_matrices,
    scaled_laws,
    scaled_rows,
)
from gyrostat.algorithms.contact.cone_driver_sweeps import LAW
from gyrostat.engine.drivers.words import count_at, ptr, sqrt, words


def turned(k: int, size: int, radius: float, P: ptr, u: ptr, x: ptr) -> int:
    """x[k], x[k + 1] become T x of a disc that slides; those of one that sticks stay. 0."""
    y = P[k] - u[k]
    z = P[k + 1] - u[k + 1] if size == 2 else 0.0
    square = y * y + z * z
    if square > radius * radius:
        if size == 1:
            x[k] = 0.0
        else:
            along = (x[k] * y + x[k + 1] * z) / square
            turn = radius / sqrt(square)
            x[k] = turn * (x[k] - along * y)
            x[k + 1] = turn * (x[k + 1] - along * z)
    return 0


def all_turned(count: int, units: words, laws: ptr, P: ptr, u: ptr, x: ptr) -> int:
    """E x (m,) in the place of x, which is zero where rows are at bounds. 0."""
    for i in range(count):
        law, size, k = laws + i * LAW, units[2 * i], units[2 * i + 1]
        if size > 1:
            turned(k + 1, 2, law[0] * P[k] + law[3], P, u, x)
        if size > 3:
            turned(k + 3, 1, law[1] * P[k] + law[4], P, u, x)
        if size > 4:
            turned(k + 4, 2, law[2] * P[k] + law[5], P, u, x)
    return 0


def system_of(m: int, count: int, G: ptr, units: words, numbers: ptr, P: ptr, u: ptr, memory: ptr) -> int:
    """K of the active rows at a solution, n of them; after the laws in ``memory`` stand scale, P, u, a free vector,
    the active rows, their places, a free vector and K, ``wide`` apart."""
    stride, wide = cone_stride(m), wide_for(m)
    A, laws = memory + HEAD, memory + HEAD + m * stride
    scale = laws + count * LAW
    Q, w = scale + wide, scale + 2 * wide
    active, place, K = count_at(scale + 4 * wide), count_at(scale + 5 * wide), scale + 7 * wide
    scaled_rows(m, count, stride, G, u, units, A, scale, Q, w)
    scaled_laws(count, units, numbers, scale, laws)
    dead_rows(count, stride, G, units, scale, laws)
    own_matrices(count, stride, units, A, laws)
    for k in range(stride):
        Q[k] = P[k] * scale[k] if k < m else 0.0
        w[k] = w[k] if k < m else 0.0
    bounds_met(count, stride, units, laws, A, Q, w, place)
    n = gathered(m, stride, wide, A, w, active, place, K)
    for i in range(count):
        law, size, k = laws + i * LAW, units[2 * i], units[2 * i + 1]
        if size > 1 and place[k + 1] >= 0:
            slide_two(n, wide, k + 1, k, law[0], law[0] * Q[k] + law[3], Q, w, place, K)
            if size > 3:
                slide_one(n, wide, k + 3, k, law[1], law[1] * Q[k] + law[4], Q, w, place, K)
            if size > 4:
                slide_two(n, wide, k + 4, k, law[2], law[2] * Q[k] + law[5], Q, w, place, K)
    return n


def cone_tangent(
    m: int, count: int, G: ptr, units: words, numbers: ptr, P: ptr, u: ptr, e: ptr, dP: ptr, memory: ptr
) -> int:
    """dP (m,) for e = dG P + dc (m,), at the forces P and velocities u (stride,) of a solution; the other arguments as
    for :func:`~.cone_driver_rounds.cone_solve`. 1; 0 if there is no derivative."""
    wide = wide_for(m)
    n = system_of(m, count, G, units, numbers, P, u, memory)
    laws = memory + HEAD + m * cone_stride(m)
    scale = laws + count * LAW
    Q, w, x = scale + wide, scale + 2 * wide, scale + 3 * wide
    active, place, y, K = count_at(scale + 4 * wide), count_at(scale + 5 * wide), scale + 6 * wide, scale + 7 * wide
    for k in range(m):
        x[k] = -e[k] / scale[k] if place[k] >= 0 else 0.0
        dP[k] = 0.0
    all_turned(count, units, laws, Q, w, x)
    for r in range(n):
        K[r * wide + n] = x[active[r]]
    if eliminated(n, wide, K, y) == 0:
        return 0
    for r in range(n):
        dP[active[r]] = y[r] / scale[active[r]]
    return 1


def cone_adjoint(
    m: int, count: int, G: ptr, units: words, numbers: ptr, P: ptr, u: ptr, gP: ptr, gc: ptr, memory: ptr
) -> int:
    """gc (m,), the gradient by c of a number with the gradient ``gP`` (m,) by P; the other arguments as for
    :func:`cone_tangent`. That by G is gc P^T. 1; 0 if there is no derivative."""
    wide = wide_for(m)
    n = system_of(m, count, G, units, numbers, P, u, memory)
    laws = memory + HEAD + m * cone_stride(m)
    scale = laws + count * LAW
    Q, w, x = scale + wide, scale + 2 * wide, scale + 3 * wide
    active, y, K = count_at(scale + 4 * wide), scale + 6 * wide, scale + 7 * wide
    for r in range(n):
        row = K + r * wide
        for s in range(r):
            z = row[s]
            row[s] = K[s * wide + r]
            K[s * wide + r] = z
        row[n] = -gP[active[r]] / scale[active[r]]
    if eliminated(n, wide, K, y) == 0:
        return 0
    for k in range(m):
        x[k] = 0.0
    for r in range(n):
        x[active[r]] = y[r]
    all_turned(count, units, laws, Q, w, x)
    for k in range(m):
        gc[k] = x[k] / scale[k]
    return 1
