"""Two masses in a row on springs and dampers, and their matrices."""

import numpy as np

import gyrostat as gs

MASSES, STIFFNESS, DAMPING = (2.0, 0.5), (300.0, 200.0), (3.0, 2.0)
M = np.diag(MASSES)
K = np.array([[500.0, -200.0], [-200.0, 200.0]])
D = np.array([[5.0, -2.0], [-2.0, 2.0]])
TO_JOINTS = np.array([[1.0, 0.0], [-1.0, 1.0]])
"""Joint coordinates of the places of the masses."""


def two_masses():
    """Mass 1 on a slide s1 along x on the ground, mass 2 on a slide s2 on mass 1."""
    parts = []
    for k in (1, 2):
        parts += [gs.Joint(f"s{k}", "prismatic", axis="x")]
        parts += [gs.RigidBody(f"b{k}", mass=MASSES[k - 1], com=(0, 0, 0), inertia=(1.0,) * 3)]
        parts += [gs.Spring(f"k{k}", ground=True, stiffness=STIFFNESS[k - 1])]
        parts += [gs.Damper(f"c{k}", ground=True, damping=DAMPING[k - 1])]
        parts += [gs.connect(f"s{k}.shaft", f"k{k}.a", f"c{k}.a"), gs.connect(f"s{k}.b", f"b{k}.origin")]
    return gs.assemble("two masses", *parts, gs.connect("world.frame", "s1.a"), gs.connect("b1.origin", "s2.a"))


def receptance(hz):
    """(len(hz), 2, 2): places of the masses per force on them."""
    s = 2j * np.pi * np.asarray(hz)[:, None, None]
    return np.linalg.inv(s**2 * M + s * D + K)
