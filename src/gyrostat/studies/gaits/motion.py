"""What a gait is when it has been found: states, efforts and forces over time, figures of the programme, a report."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gyrostat.configuration.chart import moved
from gyrostat.configuration.manifold import difference, integrate
from gyrostat.solvers.functions import center_of_mass, fk
from gyrostat.solvers.kinematics.frame_jacobian import Jacobian, JacobianRate
from gyrostat.solvers.legs.reduced_dynamics import ReducedDynamics
from gyrostat.solvers.legs.reduced_solvers import ReducedMotion
from gyrostat.solvers.machinery.solver_cache import cached_solver
from gyrostat.studies.gaits.collocation import Collocation
from gyrostat.studies.gaits.gait import Gait
from gyrostat.studies.gaits.problem import GaitProblem
from gyrostat.studies.report import Report
from gyrostat.studies.study_data import StudyData

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class GaitMotion(StudyData):
    """One computed part of a stride, half of it where the gait is symmetric; points of all phases in a row, those where
    phases meet twice.

    ``t`` (n,) [s]; ``phase`` (n,): number of the phase; ``q`` (n, nq), ``v``, ``a``, ``tau`` (n, nv); ``forces`` {foot:
    (n, 3)} on the robot in the world [N], zero in the air. ``error``: of the re-simulation, interval by interval [rad,
    m, rad/s, m/s]; ``violation``: of equations and conditions, scaled. ``history``: stages of the solution: name,
    iterations, seconds, cost, error. ``variables``: of the programme, to begin another one with. ``period`` [s] of a
    stride. ``impulses`` {number of the phase that begins: {foot: (3,)}} on the robot in the world [N s], where feet
    land with an impact; where that phase is the first one of a symmetric gait, in the mirror image of the end."""

    gait: Gait
    t: Array
    phase: Array
    q: Array
    v: Array
    a: Array
    tau: Array
    forces: dict[str, Array]
    cost: float
    converged: bool
    message: str
    error: float
    violation: float
    size: dict[str, int]
    figures: dict[str, float]
    history: tuple[Any, ...]
    variables: Array
    period: float
    impulses: dict[str, dict[str, Array]]

    @property
    def speed(self) -> float:
        """[m/s]."""
        return self.gait.stride / self.period

    def stride(self, strides: int = 1) -> tuple[Array, Array]:
        """t (n,) and q (n, nq) of whole strides: mirrored halves, one step length further each time; for
        ``gs.view(model, q, t)``."""
        keep = np.concatenate([[True], np.diff(self.t) > 1e-12])
        t0, q0 = self.t[keep], self.q[keep]
        count = strides * (2 if self.gait.symmetric else 1)
        parts_t, parts_q = [], []
        for k in range(count):
            last = k == count - 1
            q = self._image(q0) if self.gait.symmetric and k % 2 else q0.copy()
            at = self.gait.model.layout.blocks[0].position.start
            q[:, at] += k * self.gait.stride * self.gait.part
            end = len(t0) if last else -1
            parts_t.append((t0 + k * self.period * self.gait.part)[:end])
            parts_q.append(q[:end])
        return np.concatenate(parts_t), np.concatenate(parts_q)

    def _image(self, q: Array) -> Array:
        """Mirrored configurations."""
        model, mirrored = self.gait.model, self.gait.mirror
        base = np.zeros(model.nq)
        base[model.layout.blocks[0].quaternion.stop - 1] = 1.0
        x = np.array([difference(model, base, row) for row in q])
        turned = mirrored(x)
        return np.array([integrate(model, base, row) for row in turned])

    @property
    def masses(self) -> Array:
        """Centre of mass (n, 3) [m]."""
        return np.array(center_of_mass(self.gait.model, self.q))

    def report(self) -> Report:
        """Figures of the programme and of the motion."""
        gait = self.gait
        name = gait.pattern.name or "gait"
        report = Report(f"{name} of {gait.model.name}")
        report.text(
            f"{gait.stride:.4g} m in {self.period:.4g} s, {self.speed:.3g} m/s; cost {self.cost:.6g}; {self.message}."
        )
        rows = [(word.replace("_", " "), number) for word, number in (*self.size.items(), *self.figures.items())]
        report.heading("The programme").table(("", ""), [*rows, ("violation", self.violation), ("error", self.error)])
        report.table(("stage", "iterations", "seconds", "cost", "error"), [tuple(row) for row in self.history])
        peaks = [
            (dof, *(float(np.abs(x[:, k]).max()) for x in (self.v, self.tau))) for k, dof in enumerate(gait.model.dofs)
        ]
        struck = [
            (self.gait.phases[int(k)].start, foot, *P) for k, feet in self.impulses.items() for foot, P in feet.items()
        ]
        if struck:
            report.heading("Impulses").table(("part of the stride", "foot", "x [N s]", "y", "z"), struck)
        report.heading("The motion").table(("joint", "greatest rate", "greatest effort"), peaks[6:])
        report.figure(self.plot(), "Efforts, vertical forces, and the centre of mass seen from above.")
        return report

    def plot(self) -> Any:
        """Efforts, vertical forces and the centre of mass."""
        from matplotlib.figure import Figure

        figure = Figure(figsize=(9, 9), layout="constrained")
        one, two, three = figure.subplots(3, 1)
        for k, dof in enumerate(self.gait.model.dofs[6:], 6):
            one.plot(self.t, self.tau[:, k], lw=1.2, label=dof)
        one.set(xlabel="time [s]", ylabel="effort [N m]")
        one.legend(fontsize=6, ncols=4)
        for foot, f in self.forces.items():
            two.plot(self.t, f[:, 2], lw=1.5, label=foot)
        two.set(xlabel="time [s]", ylabel="vertical force [N]")
        two.legend(fontsize=8)
        c = self.masses
        three.plot(c[:, 0], c[:, 1], lw=1.8, label="centre of mass")
        three.set(xlabel="x [m]", ylabel="y [m]", aspect="equal")
        three.legend(fontsize=8)
        for ax in (one, two, three):
            ax.grid(alpha=0.3)
        return figure


def gait_motion(
    problem: GaitProblem,
    programme: Collocation,
    x: Array,
    found: Any,
    error: float,
    told: dict[str, float],
    history: list[Any],
) -> GaitMotion:
    """The motion of the variables x."""
    gait, t0 = problem.gait, 0.0
    rows: dict[str, list[Array]] = {name: [] for name in ("t", "phase", "q", "v", "a", "tau")}
    forces: dict[str, list[Array]] = {foot.name: [] for foot in gait.robot.feet}
    for k, (s, made, z) in enumerate(zip(programme.at(x), problem.functions, programme.split(x), strict=True)):
        y = z * made.scale
        q_I, v_I = _independent(made, y)
        tau = np.zeros((len(z), gait.model.nv))
        tau[:, made.driven] = y[:, made.ny :]
        reduced: ReducedDynamics = made.reduced
        motion = reduced(q_I, v_I, tau)
        a = _accelerations(reduced, motion)
        for name, value in (
            ("t", t0 + s.grid * s.duration),
            ("phase", np.full(len(z), k)),
            ("q", motion.q),
            ("v", motion.v),
            ("a", a),
            ("tau", tau),
        ):
            rows[name].append(value)
        stand = {c.frame: motion.forces[:, j, 3:] for j, c in enumerate(reduced.contacts)}
        for foot in gait.robot.feet:
            forces[foot.name].append(_world(gait, foot.frame, stand.get(foot.frame), motion.q))
        t0 += s.duration
    equal = int((programme.low == programme.high).sum())
    size = {
        "points": sum(s.intervals + 1 for s in programme.segments),
        "variables": programme.n,
        "equalities": equal,
        "inequalities": programme.m - equal,
    }
    arrays = {name: np.concatenate(parts) for name, parts in rows.items()}
    cost = found.cost / programme.scale
    points = programme.split(x)
    impulses = {
        str(k): t.impulses(points[k - 1][-1, : t.before.ny], points[k][0, : t.after.ny])
        for k, t in problem.touch_downs.items()
    }
    return GaitMotion(
        gait, **arrays, forces={n: np.concatenate(f) for n, f in forces.items()}, cost=float(cost),
        converged=bool(found.converged), message=found.message, error=error, violation=programme.violation(x),
        size=size, figures={k: float(v) for k, v in told.items()}, history=tuple(tuple(row) for row in history),
        variables=x, period=gait.usual_period * programme.stretched(x), impulses=impulses,
    )  # fmt: skip


def _independent(made: Any, y: Array) -> tuple[Array, Array]:
    model, n = made.model, made.n
    whole = np.zeros((len(y), model.nv))
    whole[:, made.independent] = y[:, :n]
    q = np.array([moved(model, made.base, row) for row in whole])
    return made.reduced.reduced(q), y[:, n : made.ny]


def _accelerations(reduced: ReducedDynamics, motion: ReducedMotion) -> Array:
    """a (n, nv) of all joints: those of legs that stand follow from J a + dJ/dt v = 0 of their contacts."""
    independent = list(reduced.parts.independent)
    a = np.zeros_like(motion.v)
    a[:, independent] = motion.a
    if not reduced.contacts:
        return a
    J, bias = [], []
    for contact in reduced.contacts:
        frame = {"frame": contact.frame, "expressed_in": "local"}
        rows = slice(3, 6) if contact.kind == "point" else slice(0, 6)
        one = cached_solver(reduced.model, Jacobian, **frame)(motion.q)[:, rows]
        rate = cached_solver(reduced.model, JacobianRate, **frame)(motion.q, motion.v)[:, rows]
        J.append(one)
        bias.append((one @ a[..., None] + rate @ motion.v[..., None])[..., 0])
    dependent = np.setdiff1d(np.arange(a.shape[1]), independent)
    a[:, dependent] = -np.linalg.solve(np.concatenate(J, 1)[..., dependent], np.concatenate(bias, 1)[..., None])[..., 0]
    return a


def _world(gait: Gait, frame: str, f: Array | None, q: Array) -> Array:
    if f is None:
        return np.zeros((len(q), 3))
    return np.einsum("kij,kj->ki", fk(gait.model, q)[frame].R, f)
