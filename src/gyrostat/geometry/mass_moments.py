"""Mass, centre and inertia of a body as one symmetric matrix (4, 4), which adds and subtracts like the bodies do.

    P = int (r, 1) (r, 1)^T dm = [[K, h], [h^T, m]],    K = int r r^T dm,    h = m c

P is positive semidefinite if and only if there is a distribution of positive mass that has it [Wensing, Kim, Slotine
2018]: the triangle inequality of the principal moments is contained in that."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

Array = np.ndarray


class MassProperties(NamedTuple):
    """``mass`` [kg], ``com`` (3,) [m], ``inertia`` (3, 3) about it [kg m^2]."""

    mass: float
    com: Array
    inertia: Array


def mass_moments(mass: float, com: Array, inertia: Array) -> Array:
    """P (4, 4) of a body, about the origin of the frame that ``com`` is given in; ``inertia`` is about the centre."""
    c, J = np.asarray(com, dtype=float), np.asarray(inertia, dtype=float)
    P = np.zeros((4, 4))
    P[:3, :3] = np.trace(J) / 2 * np.eye(3) - J + mass * np.outer(c, c)
    P[:3, 3] = P[3, :3] = mass * c
    P[3, 3] = mass
    return P


def second_moment(P: Array) -> Array:
    """K (3, 3) about the centre of mass."""
    h, m = P[:3, 3], P[3, 3]
    return P[:3, :3] - np.outer(h, h) / m


def inertia_of(K: Array) -> Array:
    """Inertia (3, 3) of a second moment about the same point."""
    return np.trace(K) * np.eye(3) - K


def largest_share(P: Array, part: Array) -> float:
    """The greatest x for which P - x part is still a body: 1 / the greatest eigenvalue of P^-1 part. Zero where P
    itself has no extent in a direction in which the part has one."""
    w, U = np.linalg.eigh(P)
    if w[0] <= 1e-14 * w[-1]:
        return 0.0
    root = U / np.sqrt(w)
    return float(1.0 / np.linalg.eigvalsh(root.T @ part @ root)[-1])
