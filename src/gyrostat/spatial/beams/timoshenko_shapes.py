"""Shapes of a beam that shears (Timoshenko): deflection v and rotation psi of the sections are independent.

Strain and kinetic energy, in E I / L^3 and in the mass of the beam, lengths in L:

    V = 1/2 int I psi'^2 + A (v' - psi)^2 / Phi,    T = 1/2 int mu v_t^2 + r^2 iota psi_t^2,

Phi = E I / (k G A L^2), r^2 = I / (A L^2), with distributions A, I of area and moment, mu, iota those with the mean 1.
Many polynomials for both, reduced to the lowest modes and the shapes under a force and a moment at the tip."""

from __future__ import annotations

import numpy as np

from gyrostat.spatial.algebra import Array
from gyrostat.spatial.beams.shape_integrals import Weight
from gyrostat.spatial.beams.trial_functions import TrialFunctions, polynomials, quadrature, reduced_modes

MORE = 8
"""Polynomials beyond the number of shapes, for v and for psi: modes are then those of the equations to 1e-9."""


def timoshenko_shapes(
    n: int, Phi: float, r2: float, mass: Weight, area: Weight, moment: Weight, breaks: tuple[float, ...]
) -> tuple[TrialFunctions, TrialFunctions, Array]:
    """v, psi and the stiffness matrix of n shapes; ``moment``: distribution I, that of rotary inertia, too."""
    base = polynomials(n + MORE, 1)
    N = base.n
    x, w = quadrature(breaks, 2 * base.degree + 1)
    f, slope = base(x), base(x, 1)
    gap = np.concatenate([slope, -f])  # v' - psi, of (v, psi)
    K = (gap * (w * area(x) / Phi)) @ gap.T
    K[N:, N:] += (slope * (w * moment(x))) @ slope.T
    M = np.zeros((2 * N, 2 * N))
    M[:N, :N] = (f * (w * mass(x))) @ f.T
    M[N:, N:] = (f * (w * (r2 / (w @ moment(x))) * moment(x))) @ f.T
    tip, none = base(np.array([1.0])), np.zeros((N, 1))
    loads = np.concatenate([np.concatenate([tip, none]), np.concatenate([none, tip])], axis=1)
    V = reduced_modes(M, K, n, loads)
    return base.combined(V[:N]), base.combined(V[N:]), np.diag(np.diag(V.T @ K @ V))
