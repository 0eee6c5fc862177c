"""Robots and synthetic measurements for the tests of calibration."""

from __future__ import annotations

import numpy as np

import gyrostat as gs
from gyrostat.studies.calibration.equations import Equations

NOISE = 5e-5  # [m]
ROWS = (
    ("z", (0.35, 0, 0.5), 400.0), ("y", (0, 0, 1.2), 350.0), ("y", (0.1, 0, 0.3), 250.0),
    ("z", (0, 0, 0.9), 120.0), ("y", (0, 0, 0.15), 60.0), ("z", (0.15, 0.05, 0.2), 180.0),
)  # fmt: skip
SPRINGS = {"q2": 1.25e6, "q3": 8e5, "q5": 3e5}  # [N m/rad]
THIRTY = [
    "base", "d6.translation", *(f"q{k}.offset" for k in range(1, 7)), *(f"q{k}.axis" for k in range(2, 7)),
    *(f"{joint}_drive.spring.stiffness" for joint in SPRINGS), "d2.translation.z", "d4.translation.z",
]  # fmt: skip
SIZES = np.array([2e-3] * 6 + [1e-3] * 3 + [2e-3] * 6 + [1e-3] * 10 + [0.5] * 3 + [1e-3] * 2)
"""Standard deviations of the true errors, compliances relative."""


def six_axes(elastic: bool = True) -> gs.Model:
    """Six axes, 1360 kg, with springs in three drives."""
    parts = [gs.Displacement("mount", translation=(0, 0, 0.4))]
    for k, (axis, out, mass) in enumerate(ROWS, 1):
        com = tuple(0.4 * np.array(out))
        inertia = (0.05 * mass, 0.05 * mass, 0.03 * mass)
        parts += [gs.Joint(f"q{k}", "revolute", axis=axis)]
        parts += [
            gs.RigidBody(f"link{k}", mass=mass, com=com, inertia=inertia),
            gs.Displacement(f"d{k}", translation=out),
        ]
    model = gs.assemble("six", gs.chain("world", *parts))
    for joint, stiffness in SPRINGS.items() if elastic else ():
        model = model.with_drive(joint, gear_ratio=100.0, rotor_inertia=1e-3, stiffness=stiffness)
    return model


def six_angles(rng: np.random.Generator, count: int) -> np.ndarray:
    return rng.uniform(-1, 1, (count, 6)) * np.array([2.5, 0.9, 1.0, 2.8, 1.8, 2.8])


def measured(model, planned, parameters, x, rng, noise=True):
    """What a robot with changes x (in the units of the unknowns, systems included) shows to planned measurements."""
    equations = Equations(model, planned, parameters)
    exact = equations.raw(np.asarray(x) / equations.scale)
    out = []
    for m, r in zip(planned, exact, strict=True):
        r = np.array(r)
        if noise:
            W = m.whitening()
            r += np.einsum("...ij,nj->ni", np.linalg.inv(W), rng.normal(size=r.shape))
        out.append(r)
    return out, equations
