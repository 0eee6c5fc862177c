"""The same 28 mechanisms without gyrostat: Newton and Euler for one free body, constraints by Lagrange multipliers.

    p'' = -g e_z + f,    I w' + w x I w = n,    with the constraint forces (n, f) = G^T l,    G (w', p'') = c(w, ...)

in the world's axes, integrated by SciPy with relative tolerance 1e-11. What both gyrostat and these equations say is
right; what ADAMS says besides is the error of ADAMS, which is found here without gyrostat.

With ground axes b and body axes e (columns of the markers' rotations), rho from the centre to the body's end, and
d = p + rho - ground the vector from the marker on the ground to the end:

    d . b = const:   b . (p'' + w' x rho + w x (w x rho)) = 0
    d . d = const:   d . (the same) + d' . d' = 0
    b . e = 0:       (e x b) . w' = - b . (w x (w x e))
"""

from __future__ import annotations

import numpy as np
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

from tests.support.adams_cases import CASES, GRAVITY, Case, Vector

Array = np.ndarray
# kind: numbers of the ground axes along which the end is held, pairs (ground axis, body axis) that stay perpendicular,
# whether the distance is held
ALIGNED = ((0, 2), (1, 2))
CONSTRAINTS = {
    "revolute": ((0, 1, 2), ALIGNED, False),
    "spherical": ((0, 1, 2), (), False),
    "universal": ((0, 1, 2), ((0, 1),), False),
    "cylindrical": ((0, 1), ALIGNED, False),
    "prismatic": ((0, 1), (*ALIGNED, (0, 1)), False),
    "actuator": ((0, 1, 2), (*ALIGNED, (0, 1)), False),
    "distance": ((), (), True),
    "revolute-spherical": ((2,), (), True),
    "spring": ((), (), False),
    "bushing": ((), (), False),
    "strut": ((), (), False),
}


class OneBody:
    """State x: position, quaternion w x y z, velocity, angular velocity (13,)."""

    def __init__(self, name: str):
        self.case = case = CASES[name]
        self.held, self.perpendicular, self.distant = CONSTRAINTS[case.kind]
        self.ground, self.axes = np.array(case.ground, float), rotation(case.turn)
        self.start = rotation(case.turn if case.body_turn is None else case.body_turn)
        end = case.ground if case.attached is None else case.attached
        self.end = np.subtract(end, case.centre)  # from the centre, in the world at the start
        self.rest = float(np.linalg.norm(np.subtract(end, case.ground)))
        self.inertia = np.array(case.inertia, float)

    def accelerations(self, p: Array, turned: Array, v: Array, w: Array) -> tuple[Array, Array]:
        """p'' and w'; ``turned``: rotation since the start."""
        R, rho = turned @ self.start, turned @ self.end
        d, d_rate = p + rho - self.ground, v + np.cross(w, rho)
        inertia = R @ np.diag(self.inertia) @ R.T
        mass = np.zeros((6, 6))
        mass[:3, :3], mass[3:, 3:] = inertia, np.eye(3)
        force, torque = self.applied(d, d_rate, turned, w)
        loads = np.concatenate([torque + np.cross(rho, force) - np.cross(w, inertia @ w), force])
        loads[5] -= GRAVITY
        G, c = self.constraints(turned, rho, d, d_rate, w)
        n = len(c)
        system = np.block([[mass, G.T], [G, np.zeros((n, n))]])
        found = np.linalg.solve(system, np.concatenate([loads, c]))
        return found[3:6], found[:3]

    def constraints(self, turned: Array, rho: Array, d: Array, d_rate: Array, w: Array) -> tuple[Array, Array]:
        """G (n, 6) for (w', p''), and the right-hand side."""
        bend = np.cross(w, np.cross(w, rho))
        lines = [(self.axes[:, k], 0.0) for k in self.held] + ([(d, d_rate @ d_rate)] if self.distant else [])
        rows = [np.concatenate([np.cross(rho, b), b]) for b, _ in lines]
        right = [-b @ bend - extra for b, extra in lines]
        for ground_axis, body_axis in self.perpendicular:
            b, e = self.axes[:, ground_axis], turned @ self.axes[:, body_axis]
            rows.append(np.concatenate([np.cross(e, b), np.zeros(3)]))
            right.append(-b @ np.cross(w, np.cross(w, e)))
        return np.array(rows).reshape(-1, 6), np.array(right)

    def applied(self, d: Array, d_rate: Array, turned: Array, w: Array) -> tuple[Array, Array]:
        """Force on the body's end and torque on the body, of spring and damper."""
        law, zero = self.case.law, np.zeros(3)
        if law is None:
            return zero, zero
        if self.case.kind == "revolute":
            z, x = self.axes[:, 2], self.axes[:, 0]
            angle = np.arctan2(turned @ x @ self.axes[:, 1], turned @ x @ x)
            return zero, -z * (law.stiffness * angle + law.square * abs(angle) * angle + law.damping * (w @ z))
        length = np.linalg.norm(d)
        n = d / length if length else np.array([0.0, 0.0, -1.0])  # the direction of the fall
        stretch = length - self.rest
        pull = law.stiffness * stretch + law.square * abs(stretch) * stretch + law.damping * (n @ d_rate)
        return -pull * n, zero

    def rate(self, _: float, x: Array) -> Array:
        p, h, v, w = np.split(x, [3, 7, 10])
        a, w_rate = self.accelerations(p, self.turned(h), v, w)
        h_rate = 0.5 * np.array([-h[1:] @ w, *(h[0] * w + np.cross(w, h[1:]))])
        return np.concatenate([v, h_rate, a, w_rate])

    @staticmethod
    def turned(h: Array) -> Array:
        w, x = h[0], h[1:]
        cross = np.array([[0, -x[2], x[1]], [x[2], 0, -x[0]], [-x[1], x[0], 0]])
        return np.eye(3) + 2.0 * (w * cross + cross @ cross) / (h @ h)


def rotation(angles: Vector) -> Array:
    return Rotation.from_euler("ZXZ", angles, degrees=True).as_matrix()


def solve(name: str, t: Array) -> dict[str, Array]:
    """Columns of ADAMS (see adams_histories) at the instants t (T,); of the reactions those of one side."""
    one = OneBody(name)
    case: Case = one.case
    start = np.concatenate([case.centre, (1.0, 0.0, 0.0, 0.0), case.speed * one.axes[:, 2], np.zeros(3)])
    x = solve_ivp(one.rate, (0.0, t[-1]), start, "DOP853", t, rtol=1e-11, atol=1e-11).y.T
    p, h, v, w = np.split(x, [3, 7, 10], axis=1)
    turned = np.array([one.turned(k) for k in h])
    pairs = [one.accelerations(*state) for state in zip(p, turned, v, w, strict=True)]
    a, w_rate = (np.array([pair[k] for pair in pairs]) for k in (0, 1))
    R = turned @ one.start
    found = {"Pos": p, "Vel": v, "Acc": a, "Avel": w, "Aacc": w_rate}
    found["Quat"] = Rotation.from_matrix(R).as_quat()[:, [3, 0, 1, 2]]
    inertia = np.einsum("nij,j,nkj->nik", R, one.inertia, R)
    spin = np.einsum("nij,nj->ni", inertia, w_rate) + np.cross(w, np.einsum("nij,nj->ni", inertia, w))
    force = -(a + np.array([0.0, 0.0, GRAVITY]))  # on the ground, where the torque is about the marker
    torque = np.cross(p - one.ground, force) - spin
    if case.kind == "actuator":
        pull = -np.outer(force @ one.axes[:, 2], one.axes[:, 2])
        return found | {"RforceA": pull, "RtorqueA": 0.0 * pull, "RforceP": force + pull, "RtorqueP": torque}
    side = "_Body1" if case.kind == "revolute-spherical" else ""
    return found | {f"Rforce{side}": force, f"Rtorque{side}": torque}
