"""Strain of a beam: stiffness and damping of its four families, constant matrices times E I / L^3, G J / L, E A / L."""

from __future__ import annotations

from typing import Any

import numpy as np

from gyrostat.algorithms.algorithm import Setting
from gyrostat.algorithms.flexible.beam_kinematics import shapes_of
from gyrostat.algorithms.flexible.beam_mass import beam_mass
from gyrostat.graph.network import Component
from gyrostat.spatial.algebra import Array
from gyrostat.spatial.beams.beam_shapes import dot, product
from gyrostat.spatial.beams.shape_integrals import Shapes
from gyrostat.spatial.beams.trial_functions import natural_modes
from gyrostat.spatial.representation import Motion


def stiffness_factors(c: Component) -> tuple[Any, Any, Any, Any]:
    """By which the tables of the families are multiplied."""
    L, E = c["length"], c["E"]
    return E * c["I_z"] / L**3, E * c["I_y"] / L**3, c["G"] * c["J"] / L, E * c["area"] / L


def stiffness(c: Component) -> tuple[Array, ...]:
    """Matrices (n, n) of the families y, z, t, x."""
    s = shapes_of(c)
    return tuple(f.stiffness * k for f, k in zip((s.y, s.z, s.t, s.x), stiffness_factors(c), strict=True))


def strain_energy(c: Component, on: Setting, motion: Motion, q: Array) -> Any:
    """q^T K q / 2."""
    parts = zip(stiffness(c), shapes_of(c).split(q), strict=True)
    return 0.5 * sum((dot(product(K, x), x) for K, x in parts), 0.0)


def strain_forces(c: Component, q: Array, v: Array) -> Array:
    """K q + D v, (n,)."""
    s, (kind, given) = shapes_of(c), c["damping"]
    if kind == "kelvin-voigt":
        return np.concatenate([product(K, x) for K, x in zip(stiffness(c), s.split(q + v * given), strict=True)])
    forces = [product(K, x) for K, x in zip(stiffness(c), s.split(q), strict=True)]
    dampers = rayleigh(c, *given) if kind == "rayleigh" else modal(c, given)
    return np.concatenate([f + product(D, x) for f, D, x in zip(forces, dampers, s.split(v), strict=True)])


def mass_tables(c: Component) -> list[tuple[Array, Any]]:
    """Mass matrices of the straight beam that is held at a, as tables and what multiplies them."""
    s, mass, L = shapes_of(c), beam_mass(c), c["length"]
    bending = [(with_rotary(f, J / (mass.m * L * L)), mass.m) for f, J in ((s.y, mass.J[2]), (s.z, mass.J[1]))]
    return [*bending, (s.t.rotary, mass.J[0]), (s.x.P.T @ s.x.P, mass.m)]


def with_rotary(f: Shapes, r2: Any) -> Array:
    """Mass and rotary inertia; r2 is their ratio."""
    return f.mass + f.rotary * r2 if np.any(f.rotary) else f.mass


def rayleigh(c: Component, alpha: Any, beta: Any) -> list[Array]:
    """alpha M + beta K."""
    return [M * (m * alpha) + K * beta for (M, m), K in zip(mass_tables(c), stiffness(c), strict=True)]


def modal(c: Component, ratios: Array) -> list[Array]:
    """M Phi diag(2 zeta w) Phi^T M with the natural modes Phi, Phi^T M Phi = 1, of each family."""
    s, dampers = shapes_of(c), []
    for f, k, (M, m) in zip((s.y, s.z, s.t, s.x), stiffness_factors(c), mass_tables(c), strict=True):
        values, V = natural_modes(np.asarray(M, dtype=float), f.stiffness)
        zeta = np.array([ratios[min(i, len(ratios) - 1)] for i in range(f.n)])
        dampers.append((M @ V * (2.0 * zeta * np.sqrt(values))) @ (M @ V).T * np.sqrt(k * m) if f.n else M)
    return dampers
