"""Lagrange's equations of the flyball governor (IFToMM A05), written out: nothing of gyrostat takes part.

Coordinates: angle of the shaft, height s of the slider, angles b1, b2 of the rods below the horizontal. A rod from the
hinge at distance e and height h has its points at r = e + x cos b, z = h - x sin b; with m1 = integral x dm and
m2 = integral x^2 dm along it the kinetic energy of one rod is

    1/2 w^2 (m e^2 + 2 e m1 cos b + m2 cos^2 b + Iw (1 + sin^2 b)) + 1/2 (m2 + Iw) b'^2

with Iw = m d^2 / 12 for the width d of the rod: once about either transverse axis, twice about its own."""

from __future__ import annotations

import numpy as np
from scipy.integrate import solve_ivp

E, H, L, WIDTH, G, K, D, REST = 0.05, 1.0, 1.0, 0.01, 9.81, 8e5, 4e4, 0.5
ROD, BALL, SLIDER = 0.3, 5.0, 3.0
IW = ROD * WIDTH**2 / 12.0
M0, M1, M2 = ROD + BALL, ROD * L / 2.0 + BALL * L, ROD * L**2 / 3.0 + BALL * L**2
STILL = 0.3 * WIDTH**2 / 6.0 + SLIDER * 0.1**2 / 6.0  # shaft and slider about the vertical
START = np.array([0.0, 0.5, np.pi / 6, np.pi / 6, 2.0 * np.pi, 0.0, 0.0, 0.0])


def spring(b: float, db: float, s: float, ds: float) -> tuple[float, float]:
    """Forces of one spring on the slider (upwards) and on the angle b: from (e, s) to the middle of the rod."""
    r, z = 0.5 * np.cos(b), H - 0.5 * np.sin(b) - s
    dr, dz = -0.5 * np.sin(b) * db, -0.5 * np.cos(b) * db - ds
    length = np.hypot(r, z)
    pull = K * (length - REST) + D * (r * dr + z * dz) / length
    return pull * z / length, pull * (0.5 * np.sin(b) * r + 0.5 * np.cos(b) * z) / length


def rates(_: float, y: np.ndarray) -> np.ndarray:
    _, s, *b, w, ds, db1, db2 = y
    db = (db1, db2)
    inertia, slope, lift, ddb = STILL, 0.0, -SLIDER * G, []
    for angle, rate in zip(b, db, strict=True):
        c, sn = np.cos(angle), np.sin(angle)
        inertia += M0 * E**2 + 2.0 * E * M1 * c + M2 * c**2 + IW * (1.0 + sn**2)
        turn = -2.0 * E * M1 * sn - 2.0 * (M2 - IW) * c * sn
        slope += turn * rate
        up, force = spring(angle, rate, s, ds)
        lift += up
        ddb.append((0.5 * w**2 * turn + M1 * G * c + force) / (M2 + IW))
    return np.array([w, ds, *db, -w * slope / inertia, lift / SLIDER, *ddb])


def history(t: np.ndarray, tolerance: float = 1e-11) -> np.ndarray:
    """(T, 8): coordinates and rates at t."""
    run = solve_ivp(rates, (t[0], t[-1]), START, "Radau", t, rtol=tolerance, atol=1e-2 * tolerance)
    assert run.success, run.message
    return run.y.T
