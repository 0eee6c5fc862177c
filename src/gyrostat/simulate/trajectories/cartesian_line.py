"""Straight lines of a frame, in joint coordinates by inverse kinematics.

The frame goes from p0, R0 (where it is at q0) to p1, R1: p = p0 + s (p1 - p0), R = R0 exp(s a), a = log(R0^T R1), the
shortest turn. s(t) from 0 to 1 is itself a trajectory. Joint rates and accelerations follow from
J v = (R0 a, p1 - p0) s' and J v' + J' v = (R0 a, p1 - p0) s'', in the world's axes (R0 a is constant along
the line): no finite differences.

A robot with more rates than there are conditions goes on by v = J^+ x' s' + N z s', N = 1 - J^+ J: least norm, and
z = pull (posture - q) where a posture is given. q(s) is integrated from node to node, and put back on the line; v' is
the derivative of v, with dJ^+/dt = -J^+ J' J^+ + N J'^T J^+^T J^+ [Golub, Pereyra 1973] for J of full rank.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from gyrostat.configuration.packing import coordinates
from gyrostat.errors import SpecError, StateError
from gyrostat.simulate.trajectories.polynomial import point_to_point
from gyrostat.simulate.trajectories.trajectory import Trajectory, expect_trajectory
from gyrostat.solvers.kinematics.forward_kinematics import ForwardKinematics
from gyrostat.solvers.kinematics.frame_jacobian import Jacobian, JacobianRate
from gyrostat.solvers.kinematics.inverse.closed_form import expect_solver, held_rates, solved_by
from gyrostat.solvers.kinematics.inverse.task import Task
from gyrostat.solvers.machinery.solver_cache import cached_solver
from gyrostat.spatial import so3
from gyrostat.spec.check import expect_model
from gyrostat.spec.model import Model

Array = np.ndarray

NODES = 64
FARTHEST = 0.5  # [rad, m] between neighbouring nodes: more is a jump to another branch
SINGULAR = 1e-6
STEPS = 4
"""Steps of integration between nodes, for a robot with rates to spare."""
PULL = 3.0
"""How much of the way to its posture a robot goes by s, where nothing stands against it: 1 - exp(-3) in the end."""


def cartesian_line(
    model: Model,
    frame: str,
    q0: Any,
    target: Any,
    duration: Any = None,
    law: Trajectory | None = None,
    limits: Any = "model",
    hold: str | Iterable[str] = (),
    tolerance: float = 1e-10,
    solver: Any = None,
    posture: Any = None,
) -> Trajectory:
    """Joint motion (nq,) that takes ``frame`` on a straight line from where it is at ``q0`` to ``target``.

    ``target``: a homogeneous matrix (4, 4) or the motion of a frame (line and turn), or a position (3,) [m] (line
    alone; the orientation is left to the joints). In ``duration`` [s] with a quintic s(t), or with any ``law`` of one
    coordinate from 0 to 1. Rates named in ``hold`` keep their q0. Of a robot with more rates than conditions the motion
    of least norm is taken, so that joints beside the way, a gripper, stay; ``posture`` (nq,) pulls what is left. The
    frame is on the line to ``tolerance`` [m, rad] at *every* time asked for. Derivatives up to order 2. Out of reach,
    at a limit or a singularity on the way: an error that says where. ``solver``: a closed form, as in
    :func:`inverse_kinematics`.
    """
    return CartesianLine(model, frame, q0, target, _law(duration, law), limits, hold, tolerance, solver, posture)


class CartesianLine(Trajectory):
    """See :func:`cartesian_line`; ``law`` is s(t), ``nodes`` (65, nq) the joint coordinates at equal steps of s."""

    kind = "cartesian_line"

    def __init__(
        self,
        model: Model,
        frame: str,
        q0: Any,
        target: Any,
        law: Trajectory,
        limits: Any,
        hold: str | Iterable[str],
        tolerance: float,
        solver: Any = None,
        posture: Any = None,
    ):
        expect_model(model, self.kind)
        if model.nq != model.nv:
            message = f"'{model.name}' has quaternions in q, whose derivatives are not rates"
            raise SpecError.one(self.kind, "model", message, "use inverse_kinematics at instants of your own")
        if not isinstance(model.context.base, str):
            message = f"the base of '{model.name}' moves with time"
            raise SpecError.one(self.kind, "model", message, "use inverse_kinematics with t=...")
        self.model, self.law, self.available = model, law, 2
        self.solver = solver
        self.task = Task(model, frame, target, q0, None, None, limits, held_rates(solver, model, hold), tolerance, None)
        expect_solver(solver, self.task, self.kind)
        if self.task.shape:
            raise SpecError.one(self.kind, "target", "one q0 and one target are expected", "use .then(...) for more")
        self.frame = self.task.problems.error.frame
        self.turns = bool(self.task.problems.error.turns)
        if not self.task.problems.error.shifts:
            raise SpecError.one(self.kind, "target", "a rotation alone is no line", "give a matrix (4, 4)")
        self._set_line()
        self.posture = None if posture is None else coordinates(model, posture, f"{self.kind}(posture)")
        self.redundant = int((~self.task.problems.held).sum()) > len(self.rate)
        if self.posture is not None and (self.posture.ndim != 1 or not self.redundant):
            message = (
                "there are no rates to spare for a posture" if self.posture.ndim == 1 else "one posture is expected"
            )
            raise SpecError.one(self.kind, "posture", message, "leave posture out")
        super().__init__(model.nq, law.duration, law.inner, law.outside, model.coordinates)
        self.nodes = self._march()

    def _set_line(self) -> None:
        p = self.task.problems
        here = cached_solver(self.model, ForwardKinematics, frames=(self.frame,))(self.task.start)[self.frame]
        self.R0, self.p0 = (here.R, here.p) if self.turns else (np.eye(3)[None], here.p)
        self.turn = so3.log(self.R0.transpose(0, 2, 1) @ p.R_t) if self.turns else np.zeros((1, 3))
        self.way = p.p_t - self.p0
        world = np.einsum("bij,bj->bi", self.R0, self.turn)[0]
        self.rate = np.concatenate([world, self.way[0]]) if self.turns else self.way[0]  # of the pose by s

    def at_rest(self, side: str) -> float:
        return self.law.at_rest(side)

    def evaluate(self, t: Array, order: int) -> Array:
        s = self.law.at(t, order)[:, :, 0]
        derivatives = np.empty((len(t), order + 1, self.n))
        if not len(t):
            return derivatives
        at = np.clip(s[:, 0], 0.0, 1.0) * NODES
        k = np.minimum(at.astype(int), NODES - 1)
        if self.redundant:
            guess = self._carried(self.nodes[k], np.clip(s[:, 0], 0.0, 1.0) - k / NODES)
        else:
            guess = self.nodes[k] + (at - k)[:, None] * (self.nodes[k + 1] - self.nodes[k])
        q = derivatives[:, 0] = self._solved(s[:, 0], guess)
        if order:
            self._rates(q, s, derivatives)
        return derivatives

    def _rates(self, q: Array, s: Array, derivatives: Array) -> None:
        """v, and a if it is wanted, at q (b, nv)."""
        inverse, J = self._inverse(q, s[:, 0]), self._rows(q)
        v = np.einsum("bvm,bm->bv", inverse, s[:, 1:2] * self.rate)
        z = self._pulled(q) * s[:, 1:2]
        if self.posture is not None:
            v += z - np.einsum("bvm,bm->bv", inverse, np.einsum("bmv,bv->bm", J, z))
        derivatives[:, 1] = v
        if derivatives.shape[1] < 3:
            return
        dJ = cached_solver(self.model, JacobianRate, frame=self.frame, expressed_in="aligned")(q, v)
        dJ = np.where(self.task.problems.held, 0.0, dJ[:, 0 if self.turns else 3 :])
        needed = s[:, 2:3] * self.rate - np.einsum("bmv,bv->bm", dJ, v)
        a = derivatives[:, 2]
        a[...] = np.einsum("bvm,bm->bv", inverse, needed)
        if not self.redundant:
            return
        # N v' of v = J^+ x + N z: J'^T (J J^T)^-1 (x - J z), and N z'
        x = np.einsum("bvm,bv->bm", inverse, v - z)
        free = np.einsum("bmv,bm->bv", dJ, x)
        if self.posture is not None:
            free += self._pulled(q) * s[:, 2:3] - PULL * v * s[:, 1:2]
        a += free - np.einsum("bvm,bm->bv", inverse, np.einsum("bmv,bv->bm", J, free))

    def _pulled(self, q: Array) -> Array:
        """z (b, nv) by s."""
        return np.zeros_like(q) if self.posture is None else PULL * (self.posture - q) * ~self.task.problems.held

    def _carried(self, q: Array, way: Array) -> Array:
        """q (b, nq) further along the line by ``way`` (b,) of s: the classical Runge-Kutta method."""
        h = (way / STEPS)[:, None]
        for _ in range(STEPS):
            k1 = self._slope(q)
            k2 = self._slope(q + 0.5 * h * k1)
            k3 = self._slope(q + 0.5 * h * k2)
            q = q + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + self._slope(q + h * k3))
        return q

    def _slope(self, q: Array) -> Array:
        """dq/ds (b, nv) of least norm, with the posture: z + J^T (J J^T)^-1 (x' - J z)."""
        J, z = self._rows(q), self._pulled(q)
        needed = self.rate - np.einsum("bmv,bv->bm", J, z)
        try:
            return z + np.einsum("bmv,bm->bv", J, np.linalg.solve(J @ J.swapaxes(1, 2), needed[..., None])[..., 0])
        except np.linalg.LinAlgError:
            raise self._failed(0.0, "a singularity") from None

    def _rows(self, q: Array) -> Array:
        """J (b, m, nv) of the conditions, zero for held rates."""
        J = cached_solver(self.model, Jacobian, frame=self.frame, expressed_in="aligned")(q)
        return np.where(self.task.problems.held, 0.0, J[:, 0 if self.turns else 3 :])

    def _march(self) -> Array:
        """Along the line, every node from the one before."""
        nodes = np.repeat(self.task.start, NODES + 1, axis=0)
        self._inverse(nodes[:1], np.zeros(1))
        for k in range(1, NODES + 1):
            ahead = nodes[k - 1] if k == 1 else 2.0 * nodes[k - 1] - nodes[k - 2]
            s = np.array([k / NODES])
            if self.redundant:
                ahead = self._carried(nodes[k - 1 : k], np.array([1.0 / NODES]))[0]
                self._expect_inside(float(s[0]), ahead)
            nodes[k] = self._solved(s, np.clip(ahead, self.task.problems.low, self.task.problems.high)[None])[0]
            if np.abs(nodes[k] - nodes[k - 1]).max() > FARTHEST:
                raise self._failed(float(s[0]), "the joints would have to jump to another branch")
        return nodes

    def _expect_inside(self, s: float, q: Array) -> None:
        p = self.task.problems
        out = np.flatnonzero((q < p.low) | (q > p.high))
        if len(out):
            name = self.model.coordinates[out[0]]
            raise self._failed(s, f"the motion of least norm takes '{name}' to its limit; a posture pulls it away")

    def _solved(self, s: Array, guess: Array) -> Array:
        p = self.task.problems
        R = self.R0 @ so3.exp(s[:, None] * self.turn)
        line = type(p)(p.error, R, self.p0 + s[:, None] * self.way, p.weights, p.low, p.high, p.held, p.tolerance)
        solution = solved_by(self.solver, self.model, line, guess, 100)
        lost = np.flatnonzero(~line.solved(solution.r))
        if len(lost):
            raise self._failed(float(s[lost[0]]), "the frame cannot follow: out of reach, or a joint at its limit")
        return solution.q

    def _inverse(self, q: Array, s: Array) -> Array:
        """(b, nv, m): rates from the velocity of the frame, zero for held ones."""
        held = self.task.problems.held
        J = self._rows(q)[:, :, ~held]
        sizes = np.linalg.svd(J, compute_uv=False)
        bad = np.flatnonzero(sizes[:, -1] < SINGULAR * sizes[:, 0])
        if len(bad):
            raise self._failed(
                float(s[bad[0]]), "a singularity, or a joint that does not move the frame and is not held"
            )
        inverse = np.zeros((len(q), self.model.nv, J.shape[1]))
        inverse[:, ~held] = np.linalg.pinv(J, rcond=1e-9)
        return inverse

    def _failed(self, s: float, why: str) -> StateError:
        return StateError(
            f"{self.kind}: '{self.frame}' at {100.0 * s:.3g} % of the line: {why}. "
            "Hint: another q0 (branch), a shorter line, or a motion in joint space"
        )


def _law(duration: Any, law: Trajectory | None) -> Trajectory:
    if (duration is None) == (law is None):
        raise SpecError.one("cartesian_line", "law", "give either duration or law", "duration=2.0 for a quintic s(t)")
    if law is None:
        return point_to_point(0.0, 1.0, duration)
    expect_trajectory(law, "cartesian_line")
    first, last = (float(law(t)[0]) for t in (0.0, law.duration))
    if law.n != 1 or abs(first) > 1e-12 or abs(last - 1.0) > 1e-3:
        message = f"the law must lead one coordinate from 0 to 1, got {law.n} from {first:g} to {last:g}"
        raise SpecError.one("cartesian_line", "law", message, "point_to_point(0, 1, duration, order=4)")
    return law
