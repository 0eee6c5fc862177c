"""What gyrostat says about a mechanism of ``adams_cases``, in the columns that ADAMS has printed, and how far apart
they are.

Columns, in the world's axes: position, velocity and acceleration of the centre of mass (Pos, Vel, Acc), quaternion
w x y z of the body's axes (Quat), angular velocity and acceleration (Avel, Aacc). Reactions, as physics tells them
apart: force and torque *on the ground*, at the marker on the ground (Rforce, Rtorque, Rforce_Body1, Rtorque_Body1;
joint and spring together); on the body, at the end of the rod (Rforce_Body2, Rtorque_Body2); of the actuator on the
body (RforceA, RtorqueA), of its prismatic joint on the ground (RforceP, RtorqueP).
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np

import gyrostat as gs
from gyrostat.geometry.rotation import from_quaternion
from tests.support.adams_cases import Mechanism, build

Array = np.ndarray
History = dict[str, Array]
TIMES = np.arange(501) / 100.0
QUANTITIES = ("Pos", "Vel", "Acc", "Quat", "Avel", "Aacc", "Rforce", "Rtorque")
"""What columns begin with."""
ZERO = 1e-9
"""Allowed where ADAMS has printed zero, or nothing but rounding."""


def read(path: Path) -> History:
    """Columns (T, 3), quaternions (T, 4), by name."""
    lines = path.read_text("utf-8").splitlines()
    names = [name.partition(":")[0] for name in lines[1].split(",")]
    table = np.array([[float(x) for x in line.split(",")] for line in lines[2:]])
    return {name: table[:, [k for k, x in enumerate(names) if x == name]] for name in dict.fromkeys(names)}


# ------------------------------------------------------------------------------------------------ gyrostat
@cache
def simulated(name: str) -> tuple[Mechanism, gs.Result]:
    """The motion of a case from its start, at ``TIMES``. Its own error is below 3 % of the error of ADAMS everywhere,
    see test_adams_newton_euler."""
    mechanism = build(name)
    return mechanism, released(mechanism)


def released(mechanism: Mechanism) -> gs.Result:
    """The motion from the start."""
    options = {"t_end": TIMES[-1], "t_eval": TIMES, "rtol": 1e-10, "atol": 1e-11}
    return gs.simulate(mechanism.model, mechanism.effort, v0=mechanism.v0, **options)


def history(name: str) -> History:
    """The columns of ADAMS by simulation."""
    return columns(*simulated(name))


def columns(mechanism: Mechanism, run: gs.Result) -> History:
    return observed(mechanism, run.q, run.v, run.a, run.tau)


def observed(mechanism: Mechanism, q: Array, v: Array, a: Array, tau: Array) -> History:
    """The columns of ADAMS for states and accelerations (T, ...) of the model under the efforts tau."""
    frames = gs.fk(mechanism.model, q, v, a)
    body = frames["body"]
    V, A = body.velocity("aligned"), body.acceleration("aligned")
    found = {"Pos": body.p, "Vel": V[:, 3:], "Acc": A[:, 3:], "Quat": quaternion(body.R), "Avel": V[:, :3]}
    found["Aacc"] = A[:, :3]
    F = gs.InverseDynamics(mechanism.model).port_forces(q, v, a, ports=["post.b", "end.a"])
    torque, force = -F["post.b"][:, :3], -F["post.b"][:, 3:]  # the cut force is what the ground exerts
    if mechanism.case.kind == "actuator":
        pull = tau * mechanism.axes[:, 2]
        return found | {"RforceA": pull, "RtorqueA": 0.0 * pull, "RforceP": force + pull, "RtorqueP": torque}
    if mechanism.case.kind == "revolute-spherical":
        on_body = [np.einsum("nij,nj->ni", frames["end.a"].R, F["end.a"][:, k : k + 3]) for k in (0, 3)]
        found |= {"Rforce_Body2": on_body[1], "Rtorque_Body2": on_body[0]}
        return found | {"Rforce_Body1": force, "Rtorque_Body1": torque}
    return found | {"Rforce": force, "Rtorque": torque}


def along(name: str, printed: History) -> History:
    """What forward dynamics says in the states that ADAMS has printed: nothing is integrated.

    q: the configuration whose body is nearest to the printed one, by Gauss-Newton steps from the simulated one; v in
    the same way, by least squares."""
    mechanism, run = simulated(name)
    model, R, q = mechanism.model, rotations(printed["Quat"]), run.q
    for _ in range(4):
        body = gs.fk(model, q)["body"]
        turn = 0.5 * np.cross(body.R, R, axis=1).sum(axis=2)
        q = gs.integrate(model, q, _nearest(mechanism, q, turn, printed["Pos"] - body.p))
    v = _nearest(mechanism, q, printed["Avel"], printed["Vel"])
    effort = mechanism.effort or (lambda t, q, v: np.zeros(model.nv))
    tau = np.array([effort(0.0, *state) for state in zip(q, v, strict=True)])
    return observed(mechanism, q, v, gs.aba(model, q, v, tau), tau)


def _nearest(mechanism: Mechanism, q: Array, angular: Array, linear: Array) -> Array:
    """Rates (T, nv) that move the body by a twist as well as they can."""
    J = gs.jacobian(mechanism.model, q, "body", "aligned")
    return np.einsum("nij,nj->ni", np.linalg.pinv(J), np.concatenate([angular, linear], axis=1))


# ------------------------------------------------------------------------------------------------ comparison
def rotations(wxyz: Array) -> Array:
    """R (T, 3, 3) of quaternions (T, 4) of any length."""
    return np.array([from_quaternion(one) for one in wxyz[:, [1, 2, 3, 0]]])


def quaternion(R: Array) -> Array:
    """w x y z (T, 4) of R (T, 3, 3), of either sign: eigenvector for the largest eigenvalue of
    [trace R, r; r, R + R^T - trace R], with r the axial vector of R - R^T."""
    K = np.empty((len(R), 4, 4))
    trace = np.einsum("nii->n", R)
    axial = np.stack([R[:, 2, 1] - R[:, 1, 2], R[:, 0, 2] - R[:, 2, 0], R[:, 1, 0] - R[:, 0, 1]], axis=1)
    K[:, 0, 0], K[:, 0, 1:], K[:, 1:, 0] = trace, axial, axial
    K[:, 1:, 1:] = R + R.transpose(0, 2, 1) - trace[:, None, None] * np.eye(3)
    return np.linalg.eigh(K)[1][:, :, 3]


def deviations(got: History, want: History) -> dict[str, float]:
    """The largest difference by quantity, over all columns of it that both have; quaternions up to their sign."""
    found: dict[str, float] = {}
    for quantity in QUANTITIES:
        for name in (name for name in want if name.startswith(quantity) and name in got):
            value = got[name]
            if name == "Quat":
                value = value * np.sign(np.einsum("ni,ni->n", value, want[name]))[:, None]
            found[quantity] = max(found.get(quantity, 0.0), float(np.abs(value - want[name]).max()))
    return found


def read_table(text: str) -> dict[str, dict[str, float]]:
    """Errors by case and quantity from a table between rules of "=", below its head: lines ``case number ...`` in the
    order of ``QUANTITIES``; a dash stands for ``ZERO``."""
    lines = text.splitlines()
    _, head, end = (k for k, line in enumerate(lines) if line.startswith("==="))
    found = {}
    for name, *words in (line.split() for line in lines[head + 1 : end]):
        numbers = [ZERO if word == "-" else float(word) for word in words[: len(QUANTITIES)]]
        found[name] = dict(zip(QUANTITIES, numbers, strict=True))
    return found
