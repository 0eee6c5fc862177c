"""Robots in contact, and the dense solution of their equations: an oracle for everything about legs."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

import gyrostat as gs

ROWS = {"fixed": np.eye(6), "point": np.eye(6)[3:]}
SOLES = ("left_foot.sole", "right_foot.sole")
PAWS = tuple(f"{leg}_lower.foot" for leg in ("front_left", "front_right", "rear_left", "rear_right"))
HUMANOID_LEGS = (0.1, 0.05, -0.4, 0.8, -0.4, -0.05, -0.1, -0.05, -0.3, 0.7, -0.4, 0.05)
AIBO_LEGS = (-0.4, 0.2, 0.8, -0.3, -0.2, 0.7, 0.4, 0.1, -0.9, 0.5, -0.1, -1.0)


def bent(model: gs.Model) -> np.ndarray:
    """A humanoid or a dog with bent knees, turned and lifted."""
    q = gs.neutral(model)
    q[:7] = (0.1, -0.2, 0.75, *(np.array([0.1, -0.05, 0.2, 1.0]) / np.linalg.norm([0.1, -0.05, 0.2, 1.0])))
    q[7:19] = HUMANOID_LEGS if "left_knee" in model.dofs else AIBO_LEGS
    return q


def held_rows(model: gs.Model, q: np.ndarray, contacts: Mapping[str, str]) -> np.ndarray:
    """J_c (m, nv)."""
    return np.concatenate([ROWS[k] @ gs.jacobian(model, q, f, expressed_in="local") for f, k in contacts.items()])


def dense_solution(
    model: gs.Model, contacts: Mapping[str, str], q: np.ndarray, v: np.ndarray, tau: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """a (nv,) and wrenches (contacts, 6) of M a + h = tau + J^T f, J a + dJ/dt v = 0, by one dense matrix."""
    J = held_rows(model, q, contacts)
    drift = np.concatenate(
        [ROWS[k] @ gs.jacobian_rate(model, q, v, f, expressed_in="local") @ v for f, k in contacts.items()]
    )
    n, m = len(v), len(J)
    K = np.block([[gs.crba(model, q), -J.T], [J, np.zeros((m, m))]])
    x = np.linalg.solve(K, np.concatenate([tau - gs.bias(model, q, v), -drift]))
    wrenches, at = [], n
    for kind in contacts.values():
        Q = ROWS[kind]
        wrenches.append(Q.T @ x[at : at + len(Q)])
        at += len(Q)
    return x[:n], np.array(wrenches)
