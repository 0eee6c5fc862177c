"""A palletizing robot with two coupled loops: structure, order of solution, inverse dynamics of a pick-and-place,
forces in the rods, and what it costs against a robot of six axes (H04 5.2, Figs. 5.4 and 5.5).

H04 prints neither dimensions nor masses of the KUKA KR180PA: these are ours. Of H04: five revolute axes R1 ... R5 and
two loops, R1, R2, R3, R5 driven, four revolute joints replaced by two rods, 180 kg, a flange that stays level.
"""

from __future__ import annotations

import timeit
from dataclasses import dataclass
from typing import Any

import numpy as np

import gyrostat as gs
from demos.options import Stages, save, say_figures, subplots, table, with_samples

Array = np.ndarray
TIMES = (0.0, 0.8, 2.0, 2.8)  # [s]
PLACES = (
    (1.90, -1.10, 0.35, 0.0),
    (1.70, -0.90, 1.30, 0.0),
    (1.40, 1.10, 1.35, np.pi / 2),
    (1.60, 1.30, 0.55, np.pi / 2),
)
"""Middle of the box x, y, z [m] and its turn about the vertical [rad]: picked, lifted, above the pallet, placed."""
START = (0.0, 0.2, 0.3, 0.0)  # where the search for joint angles begins [rad]
UNEQUAL = {"rod1.length": 1.27, "rod2.length": 1.37}
"""Rods that are no sides of parallelograms [m]."""
POINTS = {  # what is drawn: bodies as lines through frames
    "carousel": ("foot.top", "carousel.shoulder", "carousel.rod1"),
    "arm": ("carousel.shoulder", "arm.elbow"),
    "triangle": ("triangle.rod1", "arm.elbow", "triangle.rod2", "triangle.rod1"),
    "forearm": ("arm.elbow", "forearm.wrist"),
    "hand": ("hand.rod2", "forearm.wrist", "hand.flange"),
    "gripper": ("hand.flange", "payload.tool"),
    "rod 1": ("carousel.rod1", "triangle.rod1"),
    "rod 2": ("triangle.rod2", "hand.rod2"),
}


@dataclass(frozen=True)
class Cycle:
    """The motion at ``t`` (N,): q, v, a (N, 4), torques ``tau`` at the joints and ``motor`` at the motors (N, 4) [N m],
    ``weight`` (N, 4): what they are at rest; ``rods`` (N, 2): forces in the rods [N], positive if they pull."""

    robot: gs.Model
    path: gs.trajectories.Trajectory
    t: Array
    q: Array
    v: Array
    a: Array
    tau: Array
    weight: Array
    motor: Array
    rods: Array


@dataclass(frozen=True)
class Cost:
    """Of one inverse dynamics: operations, and the best time of a call [s], by robot."""

    operations: dict[str, int]
    seconds: dict[str, float]

    def ratio(self, name: str) -> float:
        return self.seconds[name] / self.seconds["arm6"]


def level_pose(x: float, y: float, z: float, turn: float) -> Array:
    """Frame (4, 4) of a box that is horizontal."""
    pose = np.eye(4)
    pose[:2, :2] = [[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]]
    pose[:3, 3] = x, y, z
    return pose


def planned_path(robot: gs.Model) -> gs.trajectories.Trajectory:
    """Inverse kinematics of the four places, then polynomials of fifth order through them, at rest at both ends."""
    targets = np.array([level_pose(*place) for place in PLACES])
    reached = gs.inverse_kinematics(robot, "payload.tool", targets, q0=START)
    if not np.all(reached.converged):
        raise gs.GyrostatError(f"palletizer: a place is out of reach by {np.max(reached.position_error):.3g} m")
    return gs.trajectories.spline(TIMES, reached.q, degree=5, names=robot.dofs)


def cycle(samples: int = 401) -> Cycle:
    robot = gs.robots.palletizer()
    path = planned_path(robot)
    t = np.linspace(TIMES[0], TIMES[-1], samples)
    q, v, a = np.moveaxis(path.derivatives(t, 2), -2, 0)
    rest = np.zeros_like(v)
    tau, weight = gs.rnea(robot, q, v, a), gs.rnea(robot, q, rest, rest)
    motor = gs.ActuatorDynamics(robot).torques(q, v, a)
    return Cycle(robot, path, t, q, v, a, tau, weight, motor, by_rods(q, v, a)[1])


# ---------------------------------------------------------------------------------------------------- as H04 does it
def whole(x: Array) -> Array:
    """Coordinates, rates or accelerations (..., 6) of R1 ... R6: R6 = -R2 and R4 = -R2 - R3 in parallelograms."""
    R1, R2, R3, R5 = np.moveaxis(x, -1, 0)
    return np.stack([R1, R2, R3, -R2 - R3, R5, -R2], axis=-1)


def by_rods(q: Array, v: Array, a: Array) -> tuple[Array, Array]:
    """Torques (N, 4) of the driven joints and forces (N, 2) in the rods by the steps of H04 3.2.3.2: inverse dynamics
    of the tree without rods gives torques of R4 and R6 that nobody drives; the rods' forces balance them, rod 2 at R4,
    then rod 1 at R6; and these forces act at the driven joints, too. The drives are in the tree, too."""
    tree = gs.robots.palletizer(loops="constraints")
    names = [f"R{k}" for k in range(1, 7)]
    at = [tree.dofs.index(name) for name in names]
    full = [np.empty((len(q), 6)) for _ in range(3)]
    for x, given in zip(full, (q, v, a), strict=True):
        x[:, at] = whole(given)
    torque = gs.rnea(tree, *full)[:, at]
    place = gs.fk(tree, full[0])
    lengths = np.stack([lever(place, joint, rod) for rod in ENDS for joint in names], axis=-1).reshape(len(q), 2, 6)
    second = torque[:, 3] / lengths[:, 1, 3]
    first = (torque[:, 5] - second * lengths[:, 1, 5]) / lengths[:, 0, 5]
    rods = np.column_stack([first, second])
    driven = torque - np.einsum("nr,nrk->nk", rods, lengths)
    return driven[:, [0, 1, 2, 4]], -rods


ENDS = {"rod1": ("carousel.rod1", "triangle.rod1"), "rod2": ("triangle.rod2", "hand.rod2")}
MOVED = {  # ends of the rods that a joint of the tree moves
    "rod1": {"R2": ("triangle.rod1",), "R6": ("triangle.rod1",)},
    "rod2": {"R3": ("hand.rod2",), "R4": ("hand.rod2",), "R6": ("triangle.rod2",)},
}


def lever(place: Any, joint: str, rod: str) -> Array:
    """(N,): how the distance of a rod's ends grows with a joint of the tree [m/rad]; others move both ends."""
    ends = ENDS[rod]
    way = place[ends[1]].p - place[ends[0]].p
    e = way / np.linalg.norm(way, axis=-1, keepdims=True)
    grown = np.zeros(len(way))
    for end in MOVED[rod].get(joint, ()):
        axis = place[f"{joint}.a"].R[:, :, 1]
        speed = np.cross(axis, place[end].p - place[f"{joint}.a"].p)
        grown += np.einsum("ni,ni->n", e, speed) * (1.0 if end == ends[1] else -1.0)
    return grown


def driven(path: gs.trajectories.Trajectory, t: Array, tolerance: float = 1e-11) -> Array:
    """q (N, 4) that the computed torques give, without feedback: forward dynamics of the robot without drives."""
    robot = gs.robots.palletizer(drives=False)
    torque = gs.blocks.feedforward(robot, path)
    q0, v0 = path.derivatives(TIMES[0], 1)
    run = gs.simulate(robot, torque, q0, v0, t_end=TIMES[-1], rtol=tolerance, atol=tolerance, t_eval=t, progress=False)
    return run.q


# ---------------------------------------------------------------------------------------------------- cost
def cost(rounds: int = 60, number: int = 1000) -> Cost:
    """One inverse dynamics of robots with drives, in turns, so that other work on the machine meets all of them."""
    plain = gs.robots.palletizer()
    robots = {"arm6": gs.robots.arm6(), "palletizer": plain, "unequal rods": plain.replace(UNEQUAL)}
    solvers = {name: gs.InverseDynamics(robot) for name, robot in robots.items()}
    rng, states = np.random.default_rng(0), {}
    for name, robot in robots.items():
        q = np.array([0.4, 0.3, 0.2, 0.5, 0.1, -0.2])[: robot.nv]
        states[name] = q, rng.normal(size=robot.nv), rng.normal(size=robot.nv)
        solvers[name](*states[name])
    seconds = dict.fromkeys(robots, np.inf)
    for _ in range(rounds):
        for name, solver in solvers.items():
            state = states[name]
            taken = timeit.timeit(lambda solver=solver, state=state: solver(*state), number=number) / number
            seconds[name] = min(seconds[name], taken)
    operations = {name: sum(solver.main_kernel().program.counts().values()) for name, solver in solvers.items()}
    return Cost(operations, seconds)


# ---------------------------------------------------------------------------------------------------- figures
def side_view(place: Any, port: str, k: int) -> Array:
    """(2,): a frame in the plane of operation, along x of the carousel and upwards [m]."""
    p = place[port].p[k]
    return np.array([p @ place["carousel"].R[k][:, 0], p[2]])


def figure_structure(cycle: Cycle):
    figure, axes = subplots(1, 2, (12.0, 5.6))
    place = gs.fk(cycle.robot, np.vstack([np.zeros(4), cycle.path(np.array(TIMES))]))
    left, right = axes[0]
    _draw(left, place, 0, 1.0)
    joints = {
        "R2": "carousel.shoulder",
        "R3, R6": "arm.elbow",
        "R4": "forearm.wrist",
        "R5": "hand.flange",
        "R1": "foot.top",
    }
    for name, port in joints.items():
        offset = (-24, -16) if name == "R4" else (9, -14)
        left.annotate(name, side_view(place, port, 0), offset, textcoords="offset points", weight="bold")
    for (one, two), text in (((*ENDS["rod1"],), "rod 1"), ((*ENDS["rod2"],), "rod 2")):
        x, z = (side_view(place, one, 0) + side_view(place, two, 0)) / 2
        left.annotate(text, (x, z), (-34, 8) if text == "rod 1" else (0, 8), textcoords="offset points", color="C3")
    left.set_title("structure at q = 0, as H04 Figs. 5.4 (b), 5.5")
    for k in range(4):
        _draw(right, place, k + 1, 0.35 + 0.2 * k)
        corner = side_view(place, "payload.tool", k + 1) + np.array([0.31, -0.19])
        right.annotate(f"{TIMES[k]:g} s", corner, (2, 0), textcoords="offset points")
    right.set_title("four places, each in its plane of operation: the flange stays level")
    for ax in axes[0]:
        ax.set(xlabel="from the axis of R1 [m]", ylabel="height [m]", aspect="equal")
        ax.set(xlim=(-0.25, 2.85), ylim=(-0.1, 2.6))
        ax.axhline(0.0, color="0.5", lw=1.0)
    return figure


def _draw(ax, place: Any, k: int, alpha: float) -> None:
    for body, ports in POINTS.items():
        x = np.array([side_view(place, port, k) for port in ports])
        color, width = {"r": ("C3", 1.5), "g": ("0.5", 1.5)}.get(body[0], ("0.25", 4.0))
        ax.plot(*x.T, "-", lw=width, color=color, alpha=alpha)
        ax.plot(*x[: 1 if body == "gripper" else None].T, "o", ms=5, color=color, alpha=alpha, mfc="w")
    x, z = side_view(place, "payload.tool", k)
    ax.add_patch(_box((x - 0.3, z - 0.2), 0.6, 0.4, alpha))


def _box(corner: tuple[float, float], width: float, height: float, alpha: float):
    from matplotlib.patches import Rectangle

    return Rectangle(corner, width, height, facecolor="C0", edgecolor="0.2", alpha=0.5 * alpha)


def figure_motion(cycle: Cycle):
    figure, axes = subplots(3, 1, (8.5, 8.0), sharex=True)
    rows = ((cycle.q, "position [rad]"), (cycle.v, "velocity [rad/s]"), (cycle.a, "acceleration [rad/s²]"))
    for ax, (y, label) in zip(axes[:, 0], rows, strict=True):
        for j, name in enumerate(cycle.robot.dofs):
            ax.plot(cycle.t, y[:, j], lw=1.7, label=name)
        full = whole(y)
        for column, name, style in ((3, "R4, follows", "--"), (5, "R6, follows", ":")):
            ax.plot(cycle.t, full[:, column], style, lw=1.4, color="0.3", label=name)
        for t in TIMES[1:-1]:
            ax.axvline(t, color="0.5", lw=0.8, ls="--")
        ax.set_ylabel(label)
    axes[0, 0].legend(ncols=6, loc="upper center", bbox_to_anchor=(0.5, 1.22), frameon=False)
    axes[2, 0].set_xlabel("time [s]   (dashed: lifted; above the pallet)")
    figure.suptitle("Palletizer: pick-and-place")
    return figure


def figure_torques(cycle: Cycle):
    figure, axes = subplots(2, 2, (10.5, 6.4), sharex=True)
    for j, (name, ax) in enumerate(zip(cycle.robot.dofs, axes.flat, strict=True)):
        unit, size = ("kN m", 1e3) if np.abs(cycle.tau[:, j]).max() > 100.0 else ("N m", 1.0)
        ax.plot(cycle.t, cycle.tau[:, j] / size, lw=1.8, color=f"C{j}", label="inverse dynamics")
        ax.plot(cycle.t, cycle.weight[:, j] / size, lw=1.1, ls="--", color="0.25", label="at rest")
        for t in TIMES[1:-1]:
            ax.axvline(t, color="0.5", lw=0.8, ls="--")
        ax.set_ylabel(f"torque {name} [{unit}]")
        motors = ax.twinx()
        low, high = (x * size / cycle.robot[f"{name}_drive.gear.ratio"] for x in ax.get_ylim())
        motors.set_ylim(low, high)
        motors.set_ylabel("at the motor [N m]", fontsize=8)
        motors.tick_params(labelsize=8)
    axes[0, 0].legend(loc="lower left")
    for ax in axes[-1]:
        ax.set_xlabel("time [s]")
    figure.suptitle("Palletizer with 180 kg: torques of the four driven joints")
    return figure


def figure_rods(cycle: Cycle):
    figure, axes = subplots(1, 1, (8.5, 4.2))
    ax = axes[0, 0]
    for k, name in enumerate(("rod 1", "rod 2")):
        ax.plot(cycle.t, cycle.rods[:, k] / 1e3, lw=1.8, label=name)
    ax.axhline(0.0, color="0.5", lw=0.8)
    ax.set(xlabel="time [s]", ylabel="force [kN], pull positive", title="Forces in the two connecting rods")
    ax.legend()
    return figure


# ---------------------------------------------------------------------------------------------------- words
def order_of_solution(robot: gs.Model) -> str:
    head = ("step", "loop", "equations", "solved for", "how")
    rows = [
        (str(r.order), " - ".join(r.entities), str(r.equations), ", ".join(r.unknowns), r.treatment)
        for r in sorted(gs.loops(robot), key=lambda r: r.order or 0)
    ]
    return table(head, rows)


def report(cycle: Cycle, run: Array, spent: Cost) -> str:
    head = ("joint", "speed [rad/s]", "torque [N m]", "at rest [N m]", "motor [N m]")
    peaks = [np.abs(x).max(axis=0) for x in (cycle.v, cycle.tau, cycle.weight, cycle.motor)]
    rows = [(name, *(f"{x[j]:.6g}" for x in peaks)) for j, name in enumerate(cycle.robot.dofs)]
    level = np.abs(gs.fk(cycle.robot, cycle.q)["payload"].R[:, :2, 2]).max()
    apart = np.abs(by_rods(cycle.q, cycle.v, cycle.a)[0] - cycle.tau).max()
    bound = np.abs(cycle.rods).max(axis=0) / 1e3
    costs = [
        (name, str(spent.operations[name]), f"{1e9 * spent.seconds[name]:.0f}", f"{spent.ratio(name):.2f}")
        for name in spent.seconds
    ]
    return "\n".join(
        [
            "Palletizer after the KUKA KR180PA [H04 5.2]: 180 kg; dimensions, masses, drives are ours\n",
            order_of_solution(cycle.robot),
            "\nwith rods of 1.27 m and 1.37 m, no parallelograms any more:",
            order_of_solution(cycle.robot.replace(UNEQUAL)),
            "",
            table(head, rows),
            f"\nflange: tilt {level:.1e} rad at most",
            f"rods: at most {bound[0]:.2f} kN and {bound[1]:.2f} kN; torques by their forces, as H04 3.2.3.2, "
            f"differ by {apart:.1e} N m",
            f"forward dynamics with the torques, without feedback: differs by {np.abs(run - cycle.q).max():.1e} rad "
            f"after {TIMES[-1]:g} s\n",
            "one inverse dynamics, with drives (H04: 75 us and 36 us for six axes, 2.1 times):",
            table(("robot", "operations", "ns", "x arm6"), costs),
            "",
        ]
    )


def main(arguments: list[str] | None = None) -> None:
    options = with_samples("palletizer", __doc__, 401, "times along the path", arguments)
    with Stages(3, options.quiet) as stage:
        motion = stage("path, torques, rods", lambda: cycle(options.samples))
        run = stage("forward dynamics", lambda: driven(motion.path, motion.t))
        spent = stage("cost", cost)
    figures = {
        "structure": figure_structure(motion),
        "motion": figure_motion(motion),
        "torques": figure_torques(motion),
        "rods": figure_rods(motion),
    }
    paths = [save(figure, options, f"palletizer_{name}") for name, figure in figures.items()]
    print(report(motion, run, spent))
    say_figures(paths)


if __name__ == "__main__":
    main()
