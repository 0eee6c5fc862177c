"""The five-axis hydraulic manipulator of G13 section 3: a path through three points, the torques that drive it, and
what happens when all valves close at once (Figs. 3-5).

G13 prints neither dimensions nor masses, points, stiffness or damping: these are ours. Of G13: five revolute axes, a
load of 3200 N that stays horizontal, third-order polynomials through three points, the law (14), the method ODE23.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import gyrostat as gs
from demos.hydraulic_cylinders import Cylinders, closure
from demos.options import Stages, save, say_figures, subplots, table, with_samples

Array = np.ndarray
TIMES = (0.0, 2.5, 5.0)  # start, middle, end [s]
PLACES = ((2.2, -1.4, 0.5, 0.0), (2.6, 0.3, 1.5, 0.6), (1.4, 1.9, 0.7, 1.2))
"""Centre of mass of the load x, y, z [m], and its turn about the vertical [rad]."""
ELBOW_UP = (0.0, 0.8, -1.4, 0.6, 0.0)  # where the search for joint angles starts [rad]
STIFFNESS = np.array([2.5e6, 3.0e6, 1.2e6, 4.0e5, 3.0e4])  # of oil and hoses, at the joints [N m/rad]
DAMPING = np.array([4.0e4, 5.0e4, 1.5e4, 3.0e3, 150.0])  # [N m s/rad]
CLOSURE = 1.25  # when the valves close, on the way up [s]
SWING = 2.0  # time after the closure [s]
CLOSING = 0.05  # of valves that close within a time [s]


@dataclass(frozen=True)
class Motion:
    """The path at ``t`` (N,) [s]: q, v, a (N, 5), torques tau (N, 5) [N m], base (N, 6): what the ground carries."""

    arm: gs.Model
    path: gs.trajectories.Trajectory
    t: Array
    q: Array
    v: Array
    a: Array
    tau: Array
    base: Array


@dataclass(frozen=True)
class Closure:
    """After the closure: the model with oil in its joints, its run by ODE23 and one with a tight tolerance."""

    closed: gs.Model
    free: Array
    run: gs.Result
    exact: gs.Result

    @property
    def torque(self) -> Array:
        """(N, 5): what oil and hoses do to the joints, (14) with a spring that restores."""
        return STIFFNESS * (self.free - self.run.q) - DAMPING * self.run.v


def level_pose(x: float, y: float, z: float, turn: float) -> Array:
    """Frame (4, 4) of a load that is horizontal."""
    pose = np.eye(4)
    pose[:2, :2] = [[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]]
    pose[:3, 3] = x, y, z
    return pose


def planned_path(arm: gs.Model) -> gs.trajectories.Trajectory:
    """Inverse kinematics of the three places, then third-order polynomials that do not stop at the second."""
    targets = np.array([level_pose(*place) for place in PLACES])
    reached = gs.inverse_kinematics(arm, "link5.tool", targets, q0=ELBOW_UP)
    if not np.all(reached.converged):
        raise gs.GyrostatError(f"hydraulic: a place is out of reach by {np.max(reached.position_error):.3g} m")
    return gs.trajectories.spline(TIMES, reached.q, names=arm.dofs)


def inverse_problem(samples: int = 501) -> Motion:
    """Figures 3 and 4."""
    arm = gs.robots.hydraulic_manipulator()
    path = planned_path(arm)
    t = np.linspace(TIMES[0], TIMES[-1], samples)
    q, v, a = np.moveaxis(path.derivatives(t, 2), -2, 0)
    solver = gs.InverseDynamics(arm)
    base = solver.port_forces(q, v, a, ports=["q1.a"])["q1.a"]
    return Motion(arm, path, t, q, v, a, solver(q, v, a), base)


def one_by_one(motion: Motion, joints: tuple[str, ...] = ("q2", "q3", "q4")) -> Array:
    """Torques of some joints, each without regard to the others, by the closed form of G13 (12)."""
    solver = gs.InverseDynamics(motion.arm, only=joints, algorithm="newton-euler")
    return np.asarray(solver(motion.q, motion.v, motion.a))


def driven(motion: Motion, tolerance: float = 1e-12) -> gs.Result:
    """The motion that the computed torques give, without any feedback: forward dynamics along the whole path."""
    torque = gs.blocks.feedforward(motion.arm, motion.path)
    return gs.simulate(
        motion.arm,
        torque,
        motion.q[0],
        motion.v[0],
        t_end=TIMES[-1],
        rtol=tolerance,
        atol=tolerance,
        t_eval=motion.t,
        progress=False,
    )


def with_oil(arm: gs.Model, free: Array) -> gs.Model:
    """The arm with closed valves: every joint is held by a spring and a damper (14); ``free``: where the oil carries
    nothing [rad]."""
    parts, wires = [], []
    for joint, k, d, rest in zip(arm.dofs, STIFFNESS, DAMPING, free, strict=True):
        parts.append(gs.Spring(f"oil_{joint}", stiffness=k, rest=rest, ground=True))
        parts.append(gs.Damper(f"hose_{joint}", damping=d, ground=True))
        wires.append((f"{joint}.shaft", f"oil_{joint}.a", f"hose_{joint}.a"))
    return gs.Model("closed valves", (*arm.entities, *parts), (*arm.connections, *wires), arm.context)


def forward_problem(motion: Motion, samples: int = 1001) -> Closure:
    """Figure 5: the valves close on the way to the middle point."""
    q0, v0 = motion.path.derivatives(CLOSURE, 1)
    free = q0 + gs.gravity(motion.arm, q0) / STIFFNESS  # the oil carries the weight when the valves close
    closed = with_oil(motion.arm, free)
    t = np.linspace(0.0, SWING, samples)
    run, exact = (
        gs.simulate(
            closed, None, q0, v0, t_end=SWING, method=method, rtol=rtol, atol=1e-3 * rtol, t_eval=t, progress=False
        )
        for method, rtol in (("ode23", 1e-6), ("dopri5", 1e-11))
    )
    return Closure(closed, free, run, exact)


def with_cylinders(motion: Motion, law: Closure, closing: float = 0.0) -> Cylinders:
    """The same closure with cylinders in the place of (14); within ``closing`` [s], from steady motion, if it is not
    zero."""
    q0, v0 = motion.path.derivatives(CLOSURE, 1)
    return closure(motion.arm, q0, v0, STIFFNESS, DAMPING, law.run.t, closing)


# ---------------------------------------------------------------------------------------------------- figures
def figure_3(motion: Motion):
    figure, axes = subplots(3, 1, (8.5, 8.0), sharex=True)
    rows = ((motion.q, "position [rad]"), (motion.v, "velocity [rad/s]"), (motion.a, "acceleration [rad/s²]"))
    for ax, (y, label) in zip(axes[:, 0], rows, strict=True):
        for j, name in enumerate(motion.arm.dofs):
            ax.plot(motion.t, y[:, j], lw=1.6, label=name)
        ax.axvline(TIMES[1], color="0.5", lw=0.9, ls="--")
        ax.set_ylabel(label)
    axes[0, 0].legend(ncols=5, loc="upper center", bbox_to_anchor=(0.5, 1.2), frameon=False)
    axes[2, 0].set_xlabel("time [s]   (dashed: middle point, passed without a stop)")
    figure.suptitle("Hydraulic manipulator: joint motion, as G13 Fig. 3")
    return figure


def figure_4(motion: Motion, alone: Array):
    figure, axes = subplots(1, 1, (8.5, 4.6))
    ax, shown = axes[0, 0], slice(None, None, 20)
    for k, name in enumerate(("q2", "q3", "q4")):
        (line,) = ax.plot(motion.t, motion.tau[:, k + 1] / 1e3, lw=1.8, label=f"{name}, recursive Newton-Euler")
        ax.plot(motion.t[shown], alone[shown, k] / 1e3, "o", ms=4.5, mfc="none", color=line.get_color())
    ax.plot([], [], "o", ms=4.5, mfc="none", color="0.3", label="each by itself, G13 (12)")
    ax.axvline(TIMES[1], color="0.5", lw=0.9, ls="--")
    ax.set(xlabel="time [s]", ylabel="torque [kN m]", title="Driving torques of joints 2 to 4, as G13 Fig. 4")
    ax.legend(loc="center right", bbox_to_anchor=(1.0, 0.66))
    return figure


def figure_5(closure: Closure):
    figure, axes = subplots(5, 2, (9.5, 9.0), sharex=True)
    run, held = closure.run, closure.torque
    for j, name in enumerate(closure.closed.dofs):
        axes[j, 0].plot(run.t, 1e3 * (run.q[:, j] - run.q[0, j]), lw=1.5, color=f"C{j}")
        axes[j, 1].plot(run.t, held[:, j] / 1e3, lw=1.5, color=f"C{j}", label="oil and hoses")
        weight = STIFFNESS[j] * (closure.free[j] - run.q[0, j]) / 1e3
        axes[j, 1].axhline(weight, color="0.4", lw=0.9, ls="--", label="weight alone")
        axes[j, 0].set_ylabel(f"{name} - {name}(0) [mrad]")
        axes[j, 1].set_ylabel(f"torque {name} [kN m]")
    axes[0, 0].set_title("oscillation about the initial position, as G13 Fig. 5")
    axes[0, 1].set_title("torque of the closed drives")
    axes[0, 1].legend(loc="upper right")
    for ax in axes[-1]:
        ax.set_xlabel("time after the closure [s]")
    figure.align_ylabels(axes)
    return figure


def figure_cylinders(law: Closure, sudden: Cylinders):
    figure, axes = subplots(5, 3, (12.5, 9.0), sharex=True)
    t = law.run.t
    for j, name in enumerate(law.closed.dofs):
        swing, torque, pressure = axes[j]
        swing.plot(t, 1e3 * (sudden.run.q[:, j] - law.run.q[0, j]), lw=1.6, color=f"C{j}", label="cylinder")
        swing.plot(t, 1e3 * (law.run.q[:, j] - law.run.q[0, j]), lw=1.0, ls="--", color="0.15", label="law (14)")
        torque.plot(t, sudden.run.tau[:, j] / 1e3, lw=1.6, color=f"C{j}", label="cylinder")
        torque.plot(t, law.torque[:, j] / 1e3, lw=1.0, ls="--", color="0.15", label="law (14)")
        for k, chamber in enumerate("ab"):
            style = ("-", ":")[k]
            pressure.plot(t, sudden.pressures[:, j, k] / 1e6, style, lw=1.5, color=f"C{j}", label=f"chamber {chamber}")
        swing.set_ylabel(f"{name} - {name}(0) [mrad]")
        torque.set_ylabel(f"torque {name} [kN m]")
        pressure.set_ylabel("pressure [MPa]")
    for ax, title in zip(axes[0], ("swing", "torque at the joint", "pressures of the chambers"), strict=True):
        ax.set_title(title)
        ax.legend(loc="lower right" if title.startswith("torque") else "upper right")
    for ax in axes[-1]:
        ax.set_xlabel("time after the closure [s]")
    figure.align_ylabels(axes)
    figure.suptitle("Closed valves: cylinders between the links and the law G13 (14)")
    return figure


# ---------------------------------------------------------------------------------------------------- words
def report_cylinders(law: Closure, sudden: Cylinders, slow: Cylinders) -> str:
    head = ("cylinder", "swing [mrad]", "by (14)", "torque [N m]", "by (14)", "p_a, p_b up to [MPa]", "down to [MPa]",
            "after 2 s [mrad]", "torque, closed in 50 ms [N m]")  # fmt: skip
    rows = []
    for j, name in enumerate(law.closed.dofs):
        highest, lowest = (x(sudden.pressures[:, j], axis=0) / 1e6 for x in (np.max, np.min))
        swings = [1e3 * np.abs(x.q[:, j] - law.run.q[0, j]).max() for x in (sudden.run, law.run)]
        torques = [np.abs(x[:, j]).max() for x in (sudden.run.tau, law.torque)]
        pressures = [f"{a:.2f}, {b:.2f}" for a, b in (highest, lowest)]
        rest = 1e3 * (sudden.run.q[-1, j] - law.run.q[0, j])
        cells = [f"{x:.5g}" for x in (*swings, *torques)]
        rows.append((name, *cells, *pressures, f"{rest:.3f}", f"{np.abs(slow.run.tau[:, j]).max():.5g}"))
    return table(head, rows) + "\n"


def report(motion: Motion, alone: Array, run: gs.Result, closure: Closure) -> str:
    head = ("joint", "largest speed [rad/s]", "torque [N m]", "swing, valves closed [mrad]", "torque, closed [N m]")
    columns = (motion.v, motion.tau, 1e3 * (closure.run.q - closure.run.q[0]), closure.torque)
    peaks = [np.abs(x).max(axis=0) for x in columns]
    rows = [(name, *(f"{x[j]:.6g}" for x in peaks)) for j, name in enumerate(motion.arm.dofs)]
    level = np.abs(motion.q[:, 1:4].sum(axis=1)).max()
    q, v = motion.path.derivatives(TIMES[1], 1)
    middle = np.linalg.norm(gs.jacobian(motion.arm, q, "link5.tool", "aligned")[3:] @ v)
    tones = np.sort(gs.eigenfrequencies(closure.closed, closure.run.q[0]).damped)[::2]
    return "\n".join(
        [
            "Hydraulic manipulator [G13 3]: five axes, 3200 N; dimensions, masses, stiffness are ours\n",
            table(head, rows),
            f"\nload: tilt {level:.1e} rad at most, speed at the middle point {middle:.4f} m/s",
            f"ground: at most {np.linalg.norm(motion.base[:, 3:], axis=1).max():.1f} N and "
            f"{np.linalg.norm(motion.base[:, :3], axis=1).max():.1f} N m",
            f"each torque by itself, G13 (12): differs by {np.abs(alone - motion.tau[:, 1:4]).max():.1e} N m",
            f"forward dynamics with these torques: differs by {np.abs(run.q - motion.q).max():.1e} rad after 5 s",
            f"valves closed: damped tones {', '.join(f'{f:.2f}' for f in tones)} Hz",
            f"ode23 at 1e-6 differs from dopri5 at 1e-11 by {np.abs(closure.run.q - closure.exact.q).max():.1e} rad "
            f"({closure.run.counters.rhs_evaluations} evaluations)\n",
        ]
    )


def main(arguments: list[str] | None = None) -> None:
    options = with_samples("hydraulic", __doc__, 501, "times along the path", arguments)
    with Stages(5, options.quiet) as stage:
        motion = stage("path and torques", lambda: inverse_problem(options.samples))
        alone = stage("torques one by one", lambda: one_by_one(motion))
        run = stage("forward dynamics", lambda: driven(motion))
        law = stage("closed valves", lambda: forward_problem(motion))
        sudden, slow = stage("cylinders", lambda: [with_cylinders(motion, law, x) for x in (0.0, CLOSING)])
    figures = {"motion": figure_3(motion), "torques": figure_4(motion, alone), "closure": figure_5(law)}
    figures["cylinders"] = figure_cylinders(law, sudden)
    paths = [save(figure, options, f"hydraulic_{name}") for name, figure in figures.items()]
    print(report(motion, alone, run, law))
    print(report_cylinders(law, sudden, slow))
    say_figures(paths)


if __name__ == "__main__":
    main()
