"""Forward dynamics of mechanisms with loops by Pinocchio's terms and a null space, written once more without gyrostat.

    M a + h = tau + C^T lambda,    C a + C'v = 0

C by Jacobians of the points that coincide (two points of a hinge's axis), its rank by singular values: redundant rows
do no harm."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

pin = pytest.importorskip("pinocchio", reason="Pinocchio comes with the extra 'oracles'")

Array = np.ndarray
Place = tuple[str | None, Sequence[float]]
"""A body, None for the world, and a point seen from it [m]."""
KINDS = {"RX": pin.JointModelRX, "RY": pin.JointModelRY, "RZ": pin.JointModelRZ, "PX": pin.JointModelPX}
KINDS |= {"PY": pin.JointModelPY, "PZ": pin.JointModelPZ}


class LoopOracle:
    """``rows``: body, parent (None: world), kind as in KINDS, place of the joint in the parent [m], mass [kg], centre
    of mass [m], moments about it [kg m^2]; ``pairs``: points that coincide."""

    def __init__(self, rows: Sequence[Any], pairs: Sequence[tuple[Place, Place]], gravity: Sequence[float]):
        ids: dict[str | None, int] = {None: 0}
        self.model = pin.Model()
        self.model.gravity.linear = np.array(gravity, dtype=float)
        for body, parent, kind, place, mass, com, moments in rows:
            shift = pin.SE3(np.eye(3), np.array(place, dtype=float))
            ids[body] = self.model.addJoint(ids[parent], KINDS[kind](), shift, body)
            inertia = pin.Inertia(mass, np.array(com, dtype=float), np.diag(moments))
            self.model.appendBodyToJoint(ids[body], inertia, pin.SE3.Identity())
        self.pairs = []
        for k, pair in enumerate(pairs):
            frames = []
            for n, (body, point) in enumerate(pair):
                shift = pin.SE3(np.eye(3), np.array(point, dtype=float))
                frame = pin.Frame(f"pair{k}_{n}", ids[body], 0, shift, pin.FrameType.OP_FRAME)
                frames.append(self.model.addFrame(frame))
            self.pairs.append(tuple(frames))
        self.data = self.model.createData()

    def closure(self, q: Array, v: Array) -> tuple[Array, Array, Array]:
        """g, C and C'v."""
        m, d = self.model, self.data
        pin.forwardKinematics(m, d, q, v, np.zeros(m.nv))
        pin.computeJointJacobians(m, d, q)
        pin.updateFramePlacements(m, d)
        g, C, bias = [], [], []
        for one, two in self.pairs:
            g.append(d.oMf[one].translation - d.oMf[two].translation)
            parts = [
                (
                    pin.getFrameJacobian(m, d, f, pin.LOCAL_WORLD_ALIGNED)[:3],
                    pin.getFrameClassicalAcceleration(m, d, f, pin.LOCAL_WORLD_ALIGNED).linear,
                )
                for f in (one, two)
            ]
            C.append(parts[0][0] - parts[1][0])
            bias.append(parts[0][1] - parts[1][1])
        return np.concatenate(g), np.concatenate(C), np.concatenate(bias)

    def acceleration(self, q: Array, v: Array, tau: Array) -> Array:
        _, C, bias = self.closure(q, v)
        M = pin.crba(self.model, self.data, q)
        M = np.triu(M) + np.triu(M, 1).T
        h = pin.nonLinearEffects(self.model, self.data, q, v)
        _, s, Vh = np.linalg.svd(C)
        rank = int(np.count_nonzero(s > 1e-7 * s[0]))
        a, Z = -np.linalg.pinv(C, 1e-7) @ bias, Vh[rank:].T
        return a + Z @ np.linalg.solve(Z.T @ M @ Z, Z.T @ (tau - h - M @ a))

    def closed(self, q: Array, v: Array) -> tuple[Array, Array]:
        """The state moved to where the loops are closed."""
        for _ in range(5):
            g, C, _ = self.closure(q, v)
            q = q - np.linalg.pinv(C, 1e-7) @ g
        _, C, _ = self.closure(q, v)
        return q, v - np.linalg.pinv(C, 1e-7) @ (C @ v)

    def motion(self, q: Array, v: Array, t: Array, tau: Callable[[Array, Array], Array], tolerance: float) -> Array:
        """q (T, n) at the instants t, by SciPy's DOP853, projected at each of them."""
        n, rows = self.model.nv, [np.array(q, dtype=float)]
        y = np.r_[q, v].astype(float)
        for t0, t1 in pairwise(t):
            run = solve_ivp(
                lambda _, y: np.r_[y[n:], self.acceleration(y[:n], y[n:], tau(y[:n], y[n:]))],
                (t0, t1),
                y,
                "DOP853",
                rtol=tolerance,
                atol=tolerance,
            )
            assert run.success, run.message
            y = np.concatenate(self.closed(run.y[:n, -1], run.y[n:, -1]))
            rows.append(y[:n])
        return np.array(rows)
