"""Whole-body control: torques of all joints of a robot in contact, by a quadratic program at every sample.

Unknown are the accelerations a and the forces f of the contacts, at points of the feet:

    minimise    sum of w |E a - r|^2 + w_f |f|^2
    subject to  M a + h - J_f^T f = 0 without a motor (the free base), else |M a + h - J_f^T f| <= limit,
                J_c a + dJ_c/dt v = -k J_c v of the frames in contact, |f_t| <= mu f_n at every point.

tau = M a + h - J_f^T f follows. The program is convex with exact cones; Clarabel solves it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from gyrostat.algorithms.contact.frame_contact import FrameContact, read_contacts
from gyrostat.configuration.packing import coordinates, names_of, rates, real_array
from gyrostat.errors import GyrostatError, ShapeError, clipped
from gyrostat.graph.network import network
from gyrostat.solvers.dynamics.behind_springs import behind_springs
from gyrostat.solvers.dynamics.bias_forces import Bias
from gyrostat.solvers.dynamics.contact_inverse_dynamics import unactuated
from gyrostat.solvers.dynamics.ground_plane import ground_plane
from gyrostat.solvers.dynamics.mass_matrix import MassMatrix
from gyrostat.solvers.kinematics.frame_jacobian import Jacobian, JacobianRate
from gyrostat.solvers.legs.quadratic_program import QuadraticProgram, solved
from gyrostat.solvers.legs.tasks import Task
from gyrostat.solvers.machinery.joint_order import read_joints
from gyrostat.solvers.machinery.solver_cache import cached_solver
from gyrostat.spec.check import expect_model
from gyrostat.spec.joint import Joint
from gyrostat.spec.model import Model

Array = np.ndarray
WHO = "WholeBody"


class WholeBodySolution(NamedTuple):
    """``tau`` (nv,) of all joints, zero where there is no motor; ``a`` (nv,); ``forces``: (3,) [N] on the robot in the
    world's axes by the frame of the point; ``iterations`` of the solver."""

    tau: Array
    a: Array
    forces: dict[str, Array]
    iterations: int


class WholeBodyProblem:
    """The program of a robot with given contacts and tasks; :meth:`solve` at a state.

    ``contacts``: frames in contact, ``"fixed"`` or ``"point"``, each with ``friction``, and its ``normal`` in the
    world. ``corners``: {frame: frames where forces act}, for feet that are areas: the pressure then stays inside. A
    fixed contact needs them. ``torque_limits``: ``"model"`` (``effort_limit`` of the joints), an array (nv,), or None.
    ``passive``: joints without a motor, besides those that the model says to be passive. A free base has none, and no
    free joint; of an elastic drive the motor is at the rotor. ``damping`` k [1/s] of what moves at the contacts;
    ``force_weight`` w_f."""

    def __init__(
        self,
        model: Model,
        contacts: Any,
        tasks: Sequence[Task],
        *,
        corners: Mapping[str, Sequence[str]] | None = None,
        torque_limits: Any = "model",
        passive: str | Sequence[str] = (),
        damping: float = 10.0,
        force_weight: float = 1e-8,
    ):
        expect_model(model, WHO)
        net = network(model)
        if net.driven or net.closures:
            what = "has a base that moves by itself" if net.driven else "has loops that stay constraints"
            raise GyrostatError(f"{WHO}: '{model.name}' {what}. Hint: a free or fixed base, without loops")
        self.model, self.contacts = model, read_contacts(net, contacts, WHO)
        self.tasks = tuple(tasks)
        for task in self.tasks:
            if not isinstance(task, Task):
                raise GyrostatError(f"{WHO}: {clipped(task)} is no task. Hint: gs.blocks.CenterOfMassTask(target=...)")
            task.expect(model)
        self.points = tuple(_points(net, contact, corners or {}) for contact in self.contacts)
        self.damping, self.force_weight = _positive(damping, "damping"), _positive(force_weight, "force_weight")
        named = names_of(passive, WHO, "passive")
        idle = unactuated(model, read_joints(model, named, WHO) if named else ())
        self.idle = np.array(idle, dtype=int)
        self.driven = np.array([k for k in range(model.nv) if k not in idle], dtype=int)
        self.limits = _limits(model, torque_limits)

    def solve(self, t: float, q: Any, v: Any) -> WholeBodySolution:
        """Torques, accelerations and forces at the time t [s] for q (nq,), v (nv,)."""
        model = self.model
        q, v = coordinates(model, q, WHO), rates(model, v, WHO, "v")
        for name, x in (("q", q), ("v", v)):
            if x.ndim != 1:
                raise ShapeError(f"{WHO}: {name} has shape {x.shape}, expected one state. Hint: a loop over states")
        M, h = cached_solver(model, MassMatrix)(q), cached_solver(model, Bias)(q, v)
        J_f, normals, mu, frames = self._force_points(q)
        n, m = model.nv, len(J_f)
        program = QuadraticProgram(n + m)
        for task in self.tasks:
            E, r = task.rows(model, t, q, v)
            program.add_squares(np.hstack([E, np.zeros((len(E), m))]), r, task.weight)
        program.add_squares(np.hstack([np.zeros((m, n)), np.eye(m)]), np.zeros(m), self.force_weight)
        program.add_squares(np.hstack([np.eye(n), np.zeros((n, m))]), np.zeros(n), 1e-9)
        D = np.hstack([M, -J_f.T])
        program.add_equal(D[self.idle], -h[self.idle])
        J, drift = self._held(q, v)
        program.add_equal(np.hstack([J, np.zeros((len(J), m))]), -drift - self.damping * (J @ v))
        limited = [k for k in self.driven if np.isfinite(self.limits[k])]
        program.add_at_most(np.vstack([D[limited], -D[limited]]), np.concatenate([self.limits[limited] - h[limited],
                            self.limits[limited] + h[limited]]))  # fmt: skip
        for k, (axes, friction) in enumerate(zip(normals, mu, strict=True)):
            cone = np.zeros((3, n + m))
            cone[:, n + 3 * k : n + 3 * k + 3] = axes * np.array([[friction], [1.0], [1.0]])
            program.add_cone(cone)
        found = solved(program, WHO, t)
        a, f = found.x[:n], found.x[n:]
        tau = D @ found.x + h
        tau[self.idle] = 0.0
        forces = {frame: f[3 * k : 3 * k + 3] for k, frame in enumerate(frames)}
        return WholeBodySolution(tau, a, forces, found.iterations)

    def _force_points(self, q: Array) -> tuple[Array, list[Array], list[float], list[str]]:
        """J (3 points, nv) of all points in the world's axes; normal and tangents (3, 3), friction, frame of each."""
        rows, axes, mu, frames = [np.zeros((0, self.model.nv))], [], [], []
        for contact, points in zip(self.contacts, self.points, strict=True):
            plane = ground_plane(contact.normal, 0.0, WHO)
            for frame in points:
                rows.append(cached_solver(self.model, Jacobian, frame=frame, expressed_in="aligned")(q)[3:])
                axes.append(np.vstack([contact.normal, plane.axes]))
                mu.append(float(contact.friction or 0.0))
                frames.append(frame)
        return np.vstack(rows), axes, mu, frames

    def _held(self, q: Array, v: Array) -> tuple[Array, Array]:
        """J_c (rows, nv) and dJ_c/dt v of the frames in contact."""
        rows, drift = [np.zeros((0, self.model.nv))], [np.zeros(0)]
        for contact in self.contacts:
            Q, frame = contact.selector, contact.frame
            rows.append(Q @ cached_solver(self.model, Jacobian, frame=frame, expressed_in="local")(q))
            rate = cached_solver(self.model, JacobianRate, frame=frame, expressed_in="local")(q, v)
            drift.append(Q @ (rate @ v))
        return np.vstack(rows), np.concatenate(drift)


def _points(net: Any, contact: FrameContact, corners: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    who = f"{WHO}: the contact '{contact.frame}'"
    if contact.kind not in ("fixed", "point"):
        raise GyrostatError(f"{who} is {clipped(contact.kind)}, expected fixed or point. Hint: kind='point'")
    if contact.friction is None:
        raise GyrostatError(f"{who} has no friction. Hint: gs.FrameContact('{contact.frame}', friction=0.7)")
    if contact.compliance:
        raise GyrostatError(f"{who} is compliant, which the program is not. Hint: leave compliance out")
    listed = {net.port(name): points for name, points in corners.items()}.get(net.port(contact.frame))
    if listed is None and contact.kind == "fixed":
        raise GyrostatError(f"{who} is fixed, an area whose corners are not known. Hint: corners={{frame: [frames]}}")
    if listed is None:
        return (contact.frame,)
    named = names_of(listed, who, "corners")
    if not named:
        raise GyrostatError(f"{who} has no corners, so that no force could act. Hint: corners={{frame: [frames]}}")
    return tuple(net.port(name) for name in named)


def _positive(given: Any, name: str) -> float:
    if isinstance(given, bool) or not isinstance(given, int | float | np.number) or not 0.0 <= given < np.inf:
        raise GyrostatError(f"{WHO}: {name} must be a number >= 0, got {clipped(given)}. Hint: 10.0")
    return float(given)


def _limits(model: Model, given: Any) -> Array:
    """Largest efforts (nv,) [N m, N]; infinite where there is none."""
    none = np.full(model.nv, np.inf)
    if given is None:
        return none
    if isinstance(given, str) and given == "model":
        behind = behind_springs(model)
        for block in model.layout:
            joint = model.wiring.entities[block.entity]
            limit = getattr(joint, "effort_limit", None) if isinstance(joint, Joint) else None
            if limit is None:
                continue
            if block.v.start in behind:
                raise GyrostatError(
                    f"{WHO}: '{block.entity}' has an effort_limit, but no motor of its own: one drives it through a "
                    "spring. Hint: torque_limits (nv,), with what the motor gives at the rate of its rotor"
                )
            none[block.v] = limit
        return none
    limits = real_array(given, WHO, "torque_limits")
    if limits.shape != (model.nv,) or not (limits >= 0.0).all():
        raise ShapeError(f"{WHO}: torque_limits has shape {limits.shape}, expected ({model.nv},), not negative")
    return limits
