"""Shapes of one family (along y or z, of twist, of stretch) and their integrals over the length: constant tables.

Lengths are counted in the length of the beam, mass in its mass: with mu the distribution of mass, int mu = 1, the
positions along the axis are sums over functions pi_k, int mu pi_k pi_l = delta_kl, of which the first is 1."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from gyrostat.spatial.algebra import Array
from gyrostat.spatial.beams.trial_functions import TrialFunctions, quadrature

Weight = Callable[[Array], Array]
"""A function of x along the beam."""


ORTHONORMAL = 1e-10
"""Rounding of modes that are orthonormal."""


@dataclass(frozen=True)
class Station:
    """Shapes at one place: values (n,), rotations of the section (n,), and int_0^x f_i' f_j' (n, n)."""

    f: Array
    turn: Array
    shortening: Array


@dataclass(frozen=True)
class Shapes:
    """n shapes of one family, k axial functions: ``mass`` int mu f f and ``stiffness`` (n, n); ``P`` (k, n) int mu pi_k
    f, ``G`` (k, n, n) int mu pi_k int_0^x f' f'; ``turn`` (n,) and ``rotary`` (n, n): integrals of the rotations of the
    sections and of their products, zero where that inertia is neglected; ``at(x)``, 0 <= x <= 1."""

    mass: Array
    stiffness: Array
    P: Array
    G: Array
    turn: Array
    rotary: Array
    at: Callable[[float], Station]

    @property
    def n(self) -> int:
        return len(self.mass)


@dataclass(frozen=True)
class Axis:
    """Axial functions ``pi``, mass ``mu``, both along 0 ... 1, and all places where something breaks."""

    pi: TrialFunctions
    mu: Weight
    degree: int
    breaks: tuple[float, ...]

    def points(self, degree: int) -> tuple[Array, Array]:
        return quadrature(self.breaks, degree + self.degree)

    @property
    def positions(self) -> Array:
        """int mu pi_k x: the straight axis, (k,)."""
        x, w = self.points(self.pi.degree + 1)
        return tidy((self.pi(x) * (w * self.mu(x))) @ x)

    def beyond(self, x: Array) -> Array:
        """int_x^1 mu pi_k, (k, m)."""
        columns = []
        for start in x:
            at, w = quadrature(self.breaks, self.pi.degree + self.degree, start, 1.0)
            columns.append(self.pi(at) @ (w * self.mu(at)))
        return np.stack(columns, axis=1)


def axial_functions(stretch: TrialFunctions, mu: Weight, degree: int, breaks: tuple[float, ...]) -> Axis:
    """1, x and the shapes of stretch, made orthonormal: constant and linear ones take all of the stiffening by uniform
    and by centrifugal fields. With the first alone the spin-up of Kane's beam lags by 0.533 instead of 0.576 m, a third
    and fourth Legendre function change that by 3e-5."""

    def evaluate(x: Array, d: int) -> Array:
        return np.concatenate(
            [np.stack([x**0.0 if d == 0 else 0.0 * x, (x, x**0.0)[d] if d < 2 else 0.0 * x]), stretch(x, d)]
        )

    base = TrialFunctions(stretch.n + 2, max(stretch.degree, 1), stretch.breaks, evaluate)
    x, w = quadrature(breaks, 2 * base.degree + degree)
    root = np.sqrt(w * mu(x))
    V = np.zeros((base.n, 0))
    for k in range(base.n):
        v = np.eye(base.n)[:, k]
        for _ in range(2):  # twice is enough
            v = v - V @ ((V.T @ base(x) * root) @ (v @ base(x) * root))
        size = np.linalg.norm(v @ base(x) * root)
        if size > 1e-8 * np.linalg.norm(base(x)[k] * root):
            V = np.concatenate([V, v[:, None] / size], axis=1)
    return Axis(base.combined(V), mu, degree, breaks)


def shape_integrals(
    f: TrialFunctions, turn: TrialFunctions, stiffness: Array, axis: Axis, rotary: Weight | None
) -> Shapes:
    """Tables of shapes f with rotations ``turn``; ``rotary``: distribution of rotary inertia, None: neglected."""
    x, w = axis.points(2 * f.degree + axis.pi.degree + 2)
    inner, beyond = f(x, 1), axis.beyond(x)
    G = np.array([(inner * (w * h)) @ inner.T for h in beyond]).reshape(axis.pi.n, f.n, f.n)
    weight = w * (axis.mu(x) if rotary is None else rotary(x)) * (0.0 if rotary is None else 1.0)

    @lru_cache
    def at(place: float) -> Station:
        here = np.array([place])
        points, w = quadrature(axis.breaks, 2 * f.degree, 0.0, place) if place else (here, np.zeros(1))
        slope = f(points, 1)
        return Station(f(here)[:, 0], turn(here)[:, 0], tidy((slope * w) @ slope.T))

    return Shapes(
        tidy((f(x) * (w * axis.mu(x))) @ f(x).T, ORTHONORMAL),
        tidy(stiffness),
        tidy((axis.pi(x) * (w * axis.mu(x))) @ f(x).T),
        tidy(G),
        tidy(turn(x) @ weight),
        tidy((turn(x) * weight) @ turn(x).T),
        at,
    )


def tidy(table: Array, rounding: float = 1e-13) -> Array:
    """Zeros and ones that rounding hides, so that they cost no arithmetic."""
    table = np.where(np.abs(table) < rounding * np.abs(table).max(initial=0.0), 0.0, table)
    return np.where(np.abs(table - 1.0) < rounding, 1.0, table)
