"""What a variational step needs of a model: momenta, the forces that change them, and how both are carried along a
displacement. Plain NumPy that can be recorded.

Rates v are those of a body's own axes: dq = q . v. With p = M v, ad w = [v, w] their bracket (zero for angles
and shifts) and f the efforts of Newton and Euler, the equations of motion are

    dp/dt = g + ad^T p + tau,   g = dM/dt v - ad^T p - f(q, v, 0),

where g is the derivative of the Lagrangian along the rates, with all other forces that f holds: damping, friction, and
what comes from a base that is driven.

A displacement d leads from q0 to q1 = q0 exp(d). With Jl(d) = sum ad_d^n / (n + 1)! and Jr(d) = Jl(-d), variations at
the two ends and in the middle belong together as dd = Jr(d)^-1 (.)_1 - Jl(d)^-1 (.)_0 and, with one end held,
(.)_m = Jr(d/2) dd / 2 or -Jl(d/2) dd / 2."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gyrostat.algorithms.algorithm import Setting
from gyrostat.algorithms.matrices.body_jacobians import at_rest
from gyrostat.algorithms.matrices.coriolis_matrix import bracket, coriolis_matrix
from gyrostat.algorithms.recursions.articulated_dynamics import sweep_articulated
from gyrostat.algorithms.recursions.crba import composite_mass_matrix
from gyrostat.graph.network import Network
from gyrostat.spec.model import Model

Array = np.ndarray
TURN = 1.0
"""Rotation [rad] up to which the series below are exact to rounding."""
INVERSE = (1 / 12, -1 / 720, 1 / 30240, -1 / 1209600, 1 / 47900160, -691 / 1307674368000, 1 / 74724249600,
           -3617 / 10670622842880000, 43867 / 5109094217170944000)  # fmt: skip
"""B_n / n! for n = 2, 4, ...: Jl(x)^-1 = 1 - x~ / 2 + sum of B_n / n! x~^n."""
FORWARD_TERMS = 13


class Momentum(NamedTuple):
    """p = M v and g (nv,), M and dM/dt (nv, nv)."""

    p: Array
    g: Array
    M: Array
    M_rate: Array


def momentum(model: Model, M: Array, C: Array, f: Array, v: Array) -> Momentum:
    """From mass matrix, Coriolis matrix (dM/dt = C + C^T) and the efforts f (nv,) without accelerations."""
    p, M_rate = M @ v, C + C.T
    return Momentum(p, M_rate @ v - bracket(model, v).T @ p - f, M, M_rate)


def matrices(net: Network, on: Setting, q: Array, v: Array) -> tuple[Array, Array]:
    """M and C (nv, nv)."""
    return composite_mass_matrix(net, on, q), coriolis_matrix(net, at_rest(net, on), q, v)


def rates(net: Network, on: Setting, q: Array, p: Array) -> Array:
    """v (nv,) with M v = p, along the tree."""
    columns = np.stack([np.zeros(len(p)), p], axis=1)
    return sweep_articulated(net, on, q, np.zeros(len(p)), columns).a[:, 1]


def carried(model: Model, d: Array, p: Array, half: Array) -> tuple[Array, Array]:
    """Momenta (nv,) at the beginning and at the end of a displacement d, for p in its middle and half of the impulse,
    h/2 times the forces: Jl(d)^-T (p - Jl(d/2)^T half) and Jr(d)^-T (p + Jr(d/2)^T half)."""
    ad = bracket(model, d).T
    even, odd = _exponential(0.5 * ad, half)
    before, after = p - (even + odd), p + (even - odd)
    return _inverse(ad, before, -0.5), _inverse(ad, after, 0.5)


def arrival(model: Model, d: Array, v: Array) -> Array:
    """Jr(d)^-1 v (nv,): the rate of the displacement d for the rates v at its end."""
    return _inverse(bracket(model, d), v, 0.5)


def _exponential(ad: Array, x: Array) -> tuple[Array, Array]:
    """Even and odd part of sum ad^n x / (n + 1)!."""
    parts, factor = [x, 0.0 * x], 1.0
    for n in range(1, FORWARD_TERMS + 1):
        x, factor = ad @ x, factor / (n + 1)
        parts[n % 2] = parts[n % 2] + factor * x
    return parts[0], parts[1]


def _inverse(ad: Array, x: Array, first: float) -> Array:
    """x + first ad x + sum of B_n / n! ad^n x."""
    total = x + first * (ad @ x)
    for factor in INVERSE:
        x = ad @ (ad @ x)
        total = total + factor * x
    return total
