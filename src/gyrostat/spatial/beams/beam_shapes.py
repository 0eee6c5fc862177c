"""The shapes of one beam: its four families, which functions they are made of, and how they overlap."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from gyrostat.spatial.algebra import Array
from gyrostat.spatial.beams.shape_integrals import (
    ORTHONORMAL,
    Shapes,
    Station,
    Weight,
    axial_functions,
    shape_integrals,
    tidy,
)
from gyrostat.spatial.beams.timoshenko_shapes import MORE, timoshenko_shapes
from gyrostat.spatial.beams.trial_functions import (
    TrialFunctions,
    hermite_elements,
    linear_elements,
    polynomials,
    quadrature,
    reduced_modes,
)
from gyrostat.spec.beam_form import BeamForm

FAMILIES = ("y", "z", "t", "x")
PROFILE = ("area", "I_y", "I_z", "J")


@dataclass(frozen=True)
class BeamShapes:
    """Shapes along y and z, of twist t and of stretch x; ``yz`` (n_y, n_z): int mu f_y f_z; ``axis`` (k,): int mu pi_k
    x; ``means``: area, I_y and I_z averaged over the length, in those at x = 0."""

    y: Shapes
    z: Shapes
    t: Shapes
    x: Shapes
    yz: Array
    axis: Array
    means: Array

    @property
    def axial(self) -> int:
        """How many functions carry positions along the axis."""
        return len(self.axis)

    def split(self, q: Array) -> tuple[Array, Array, Array, Array]:
        """Coordinates (n,) of the four families."""
        ends = np.cumsum([getattr(self, family).n for family in FAMILIES])
        y, z, t, x = np.split(q, ends[:-1])
        return y, z, t, x

    def at(self, place: float) -> Mapping[str, Station]:
        """Values at a place 0 ... 1 along the beam."""
        return {family: getattr(self, family).at(place) for family in FAMILIES}


def product(A: Array, x: Array) -> Array:
    """A x, also where there is nothing to sum."""
    return A @ x if A.size else np.zeros(A.shape[:-1])


def dot(x: Array, y: Array) -> Any:
    return x @ y if len(x) else 0.0


def _gram(
    f: TrialFunctions, g: TrialFunctions, weight: Weight, breaks: tuple[float, ...], derivative: int = 0
) -> Array:
    """int weight f g of derivatives; the weight is linear between breaks."""
    x, w = quadrature(breaks, f.degree + g.degree + 1)
    return (f(x, derivative) * (w * weight(x))) @ g(x, derivative).T


@dataclass(frozen=True)
class Distributions:
    """Of area, I_y, I_z and J along the beam, each in its value at x = 0; linear between ``breaks``."""

    form: BeamForm

    def __getattr__(self, name: str) -> Weight:
        column = PROFILE.index(name)
        x, *rows = zip(*self.form.profile, strict=True)
        return lambda at: np.interp(at, x, rows[column])

    def mean(self, weight: Weight) -> float:
        x, w = quadrature(self.form.breaks, 1)
        return float(w @ weight(x))

    def mu(self, x: Array) -> Array:
        """Of mass, its mean 1."""
        return self.area(x) / self.mean(self.area)

    def polar(self, x: Array) -> Array:
        """Of rotary inertia about the axis, its mean 1."""
        share = self.form.polar_share
        total = lambda x: share * self.I_y(x) + (1.0 - share) * self.I_z(x)  # noqa: E731
        return total(x) / self.mean(total)


def _natural(
    form: BeamForm, n: int, order: int, mass: Weight, stiffness: Weight, turn: float = 1.0
) -> tuple[TrialFunctions, Array]:
    """n shapes and their stiffness matrix; ``order`` 2 for bending, 1 for torsion and stretch; ``turn``: sign of the
    rotation that goes with a slope."""
    if not n:
        return polynomials(0, order), np.zeros((0, 0))
    if form.elements:
        base = hermite_elements(form.elements) if order == 2 else linear_elements(form.elements)
    else:
        uniform = len({row[1:] for row in form.profile}) == 1  # n polynomials then bear loads at the tip exactly
        base = polynomials(n if uniform else n + MORE, order)
    K = _gram(base, base, stiffness, form.breaks, order)
    if form.nodal and order == 2:
        scale = np.array([1.0, form.nodal * turn] * form.elements)  # rotations in rad: dv/dx, not L dv/dx
        return base.combined(np.diag(scale)), K * np.outer(scale, scale)
    tip = np.array([1.0])
    V = reduced_modes(
        _gram(base, base, mass, form.breaks), K, n, np.concatenate([base(tip, d) for d in range(order)], axis=1)
    )
    return base.combined(V), np.diag(np.diag(V.T @ K @ V))


@lru_cache
def beam_shapes(form: BeamForm) -> BeamShapes:
    """All tables of a beam of this form."""
    given = Distributions(form)
    stretch, K_x = _natural(form, form.x, 1, given.mu, given.area)
    axis = axial_functions(stretch, given.mu, 1, form.breaks)
    bending: list[tuple[TrialFunctions, Shapes]] = []
    for n, I, shear, sign in ((form.y, given.I_z, form.shear_y, 1.0), (form.z, given.I_y, form.shear_z, -1.0)):
        if shear is None or not n:
            f, K = _natural(form, n, 2, given.mu, I, sign)
            turn, rotary = f.derivative(), None
        else:
            f, turn, K = timoshenko_shapes(n, *shear, given.mu, given.area, I, form.breaks)
            rotary = lambda x, I=I: I(x) / given.mean(I)  # noqa: E731
        bending.append((f, shape_integrals(f, turn, K, axis, rotary)))
    twist, K_t = _natural(form, form.t, 1, given.polar, given.J)
    torsion = shape_integrals(twist, twist, K_t, axis, given.polar)
    along = shape_integrals(stretch, stretch.derivative(), K_x, axis, None)
    (y, of_y), (z, of_z) = bending
    yz = _gram(y, z, given.mu, form.breaks) if y.n and z.n else np.zeros((y.n, z.n))
    means = np.array([given.mean(I) for I in (given.area, given.I_y, given.I_z)])
    return BeamShapes(of_y, of_z, torsion, along, tidy(yz, ORTHONORMAL), axis.positions, means)
