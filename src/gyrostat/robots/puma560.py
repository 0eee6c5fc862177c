"""The Unimation Puma 560 from its Denavit-Hartenberg table, with motors and friction."""

from __future__ import annotations

import math
from typing import Any

from gyrostat.io.dh.from_table import from_dh
from gyrostat.spec.model import Model

# Corke and Armstrong-Helouvry, "A search for consensus among model parameters reported for the PUMA 560 robot" (ICRA
# 1994), in the standard convention and the units of the Robotics Toolbox, which distributes them: lengths [m], angles
# [rad], masses [kg], centres of mass [m] and moments xx, yy, zz about them [kg m^2] in the frames of the links. Motors:
# inertia [kg m^2], gear ratio, viscous [N m s/rad] and Coulomb friction [N m] in both directions, on the motor side.
QUARTER = math.pi / 2.0
HEIGHT = 0.67183  # of the shoulder, 26.45 inches
TABLE: tuple[dict[str, Any], ...] = (
    {"d": HEIGHT, "a": 0.0, "alpha": QUARTER, "m": 0.0, "r": (0.0, 0.0, 0.0), "I": (0.0, 0.35, 0.0)},
    {"d": 0.0, "a": 0.4318, "alpha": 0.0, "m": 17.4, "r": (-0.3638, 0.006, 0.2275), "I": (0.13, 0.524, 0.539)},
    {
        "d": 0.15005,
        "a": 0.0203,
        "alpha": -QUARTER,
        "m": 4.8,
        "r": (-0.0203, -0.0141, 0.070),
        "I": (0.066, 0.086, 0.0125),
    },
    {"d": 0.4318, "a": 0.0, "alpha": QUARTER, "m": 0.82, "r": (0.0, 0.019, 0.0), "I": (1.8e-3, 1.3e-3, 1.8e-3)},
    {"d": 0.0, "a": 0.0, "alpha": -QUARTER, "m": 0.34, "r": (0.0, 0.0, 0.0), "I": (0.3e-3, 0.4e-3, 0.3e-3)},
    {"d": 0.0, "a": 0.0, "alpha": 0.0, "m": 0.09, "r": (0.0, 0.0, 0.032), "I": (0.15e-3, 0.15e-3, 0.04e-3)},
)
MOTORS: tuple[dict[str, Any], ...] = (
    {"Jm": 200e-6, "G": -62.6111, "B": 1.48e-3, "Tc": (0.395, -0.435)},
    {"Jm": 200e-6, "G": 107.815, "B": 0.817e-3, "Tc": (0.126, -0.071)},
    {"Jm": 200e-6, "G": -53.7063, "B": 1.38e-3, "Tc": (0.132, -0.105)},
    {"Jm": 33e-6, "G": 76.0364, "B": 71.2e-6, "Tc": (11.2e-3, -16.9e-3)},
    {"Jm": 33e-6, "G": 71.923, "B": 82.6e-6, "Tc": (9.26e-3, -14.5e-3)},
    {"Jm": 33e-6, "G": 76.686, "B": 36.7e-6, "Tc": (3.96e-3, -10.5e-3)},
)
LIMITS = (160.0, 110.0, 135.0, 266.0, 100.0, 266.0)  # both ways [degrees]

# What the published links lack to be bodies; see the docstring below.
FIRST = {"m": 13.0, "I": (0.2, 0.35, 0.2)}
ROD = 0.004  # [kg m^2]

NOMINAL = (0.0, math.pi / 4, math.pi, 0.0, math.pi / 4, 0.0)
"""The pose ``qn`` of the Robotics Toolbox [rad], for which results are published."""


def puma560(published: bool = False) -> Model:
    """Unimation Puma 560: six revolute joints ``q1`` ... ``q6``, links ``link1`` ... ``link6``, motors and friction.

    Figures of Corke and Armstrong-Helouvry (1994) as the Robotics Toolbox has them, in the standard convention; frame 0
    stands on the floor below the shoulder. Friction differs with the direction of motion.

    Two of the published links are no bodies: link 1 has inertia about its axis and no mass, because with a fixed base
    nothing else of it matters, and the measured moments 0.066, 0.086, 0.0125 of link 3 violate the triangle inequality.
    ``published=True`` takes them as they are (such a model cannot be saved). By default links 1, 2 and 3 are replaced
    by possible ones that need the same torques in every motion: link 1 gets a mass of 13 kg on its axis and moments
    across it (ours); and from link 2 to link 3 goes the inertia 0.004 kg m^2 of a massless rod along the axis of joint
    3, which cannot tell on which side of that joint it is: link 2 has (0.126, 0.520, 0.539), link 3 (0.070, 0.086,
    0.0165)."""
    rows = [dict(row) for row in TABLE]
    if not published:
        rows[0] |= FIRST
        xx, yy, zz = rows[1]["I"]
        rows[1]["I"] = (xx - ROD, yy - ROD, zz)  # the axis of joint 3 is z of link 2 ...
        xx, yy, zz = rows[2]["I"]
        rows[2]["I"] = (xx + ROD, yy, zz + ROD)  # ... and -y of link 3
    for row, motor, limit in zip(rows, MOTORS, LIMITS, strict=True):
        row |= motor | {"qlim": (-math.radians(limit), math.radians(limit))}
    return from_dh(rows, "standard", name="puma560", policy="accept" if published else "strict")
