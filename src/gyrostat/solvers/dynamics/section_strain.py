"""Forces in the sections of a flexible beam, by its strain.

    N = E A u',    T = G J t',    M_y = E I_y r_y',    M_z = E I_z r_z',    V_z = M_y',    V_y = -M_z'

with the stretch u' = p_x' - 1 + (p_y'^2 + p_z'^2) / 2 and the rotations t, r_y, r_z of the sections (R = Rz Ry Rx)
against the floating frame of their segment. At cuts: springs 2 E I / l times their angles, linear in between. It shows
what the shapes can take: with too few of them it differs from equilibrium. What has no shapes has no strain: NaN."""

from __future__ import annotations

import numpy as np
from numpy.polynomial import Legendre

from gyrostat.graph.in_cut_joints import CUT
from gyrostat.solvers.dynamics.beam_stations import Sections, Stations, profile

Array = np.ndarray


def by_strain(at: Stations, motion: tuple[Sections, ...]) -> Array:
    """S (m, 6) = (N, V_y, V_z, T, M_y, M_z) at the places that were asked for."""
    beam, (here, starts, inside) = at.beam, motion
    one = _of_cuts if beam.method == "in-cut" else _of_shapes
    S = np.array([one(at, x, starts, inside) for x in here.x]).reshape(-1, 6)
    n = beam.families
    for family, columns in {"x": [0], "y": [1, 5], "z": [2, 4], "t": [3]}.items():
        if not n[family] or (family == "x" and beam.method == "in-cut"):
            S[:, columns] = np.nan
    return S


def _angles(R: Array) -> Array:
    """About x, y, z (3, ...) of R = Rz Ry Rx (..., 3, 3)."""
    return np.stack(
        [np.arctan2(R[..., 2, 1], R[..., 2, 2]), -np.arcsin(R[..., 2, 0]), np.arctan2(R[..., 1, 0], R[..., 0, 0])]
    )


def _of_shapes(at: Stations, x: float, starts: Sections, inside: Sections) -> list[float]:
    """By derivatives of the polynomials through the points of the interval before x."""
    beam, (k, g) = at.beam, at.points.shape
    i = min(int(np.searchsorted(at.intervals[:, 1], x - 1e-9 * beam.length)), k - 1)
    step = beam.length / beam.segments
    start = step * int((at.intervals[i].mean()) // step)  # of the segment
    root = int(np.argmin(np.abs(starts.x - start)))
    rows = slice(i * g, (i + 1) * g)
    middle, half = at.intervals[i].mean(), 0.5 * np.ptp(at.intervals[i])
    places = inside.x[rows]
    local, to = (places - middle) / half, (x - middle) / half

    def rate(values: Array) -> Legendre:
        return Legendre.fit(local, values, g - 1, domain=[-1, 1]).deriv() / half

    R, p = starts.R[root].T @ inside.R[rows], (inside.p[rows] - starts.p[root]) @ starts.R[root]
    u = rate(p[:, 0] - places)(to) + 0.5 * (rate(p[:, 1])(to) ** 2 + rate(p[:, 2])(to) ** 2)
    of = profile(beam, places)
    stiffness = beam.G * of["J"], beam.E * of["I_y"], beam.E * of["I_z"]
    moments = [c * rate(angle)(local) for c, angle in zip(stiffness, _angles(R), strict=True)]
    T, M_y, M_z = (Legendre.fit(local, m, g - 1, domain=[-1, 1])(to) for m in moments)
    area = profile(beam, np.array([x]))["area"][0]
    return [beam.E * area * u, -rate(moments[2])(to), rate(moments[1])(to), T, M_y, M_z]


def _of_cuts(at: Stations, x: float, starts: Sections, inside: Sections) -> list[float]:
    """By the springs at the two cuts of the element that x is in."""
    beam = at.beam
    l = beam.length / beam.elements
    e = min(max(int(np.ceil(x / l - 1e-9)) - 1, 0), beam.elements - 1)
    cuts = [(e + c) * l for c in (CUT, 1.0 - CUT)]
    sides = [(np.flatnonzero(inside.x < cut)[-1], np.flatnonzero(inside.x > cut)[0]) for cut in cuts]
    angles = np.array([_angles(inside.R[before].T @ inside.R[after]) for before, after in sides])
    of = profile(beam, np.array(cuts))
    M = angles * np.stack([beam.G * of["J"], beam.E * of["I_y"], beam.E * of["I_z"]], axis=1) * (2.0 / l)
    slope = (M[1] - M[0]) / (cuts[1] - cuts[0])
    _, M_y, M_z = M[0] + slope * (x - cuts[0])
    return [np.nan, -slope[2], slope[1], M[:, 0].mean(), M_y, M_z]
