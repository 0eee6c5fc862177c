"""The spatial disorientation trainer of KV: link torques and accelerations by the one-pass algorithm (section IV,
Fig. 3), what of a programmed motion its motors can do (sections II and V), and the forces of its joints then (VI).

KV prints neither the programme nor masses, lengths, gears and motors: these are ours. Of KV: four axes with the offsets
of section IV, cycles between 3 ms and 10 ms, equations (34) and (42)-(44), the rule for torques beyond their limits.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import gyrostat as gs
from demos.options import Stages, save, say_figures, subplots, table, with_samples

Array = np.ndarray
DURATION = 10.0  # [s]
CYCLE = 0.005  # [s]
DRIVES = {"q1": (120.0, 0.05, 90.0), "q2": (80.0, 0.02, 40.0), "q3": (100.0, 0.01, 13.0), "q4": (100.0, 0.01, 12.0)}
"""Gear ratio, inertia of the rotor [kg m^2], largest torque of the motor [N m]."""
VISCOUS, COULOMB = 30.0, 40.0  # friction of each joint [N m s/rad, N m]
SMOOTH = 0.005
"""tanh(v / SMOOTH) for the sign in KV (43) [rad/s]: the rounding of a programme that rests would toss the sign."""
SPEED = 2.5  # of the arm [rad/s]


@dataclass(frozen=True)
class Links:
    """Section IV at ``t`` (N,): motion q, v, a (N, 4); torques (N, 4) by RNEA and by mRNEA (34); solved (N, 4): the
    accelerations that the linear system (34) gives back."""

    t: Array
    q: Array
    v: Array
    a: Array
    rnea: Array
    mrnea: Array
    solved: Array


AXES = {"q1": 2, "q2": 2, "q3": 1, "q4": 0}
"""Along which axis of its frame a joint turns."""


@dataclass(frozen=True)
class JointForces:
    """What a joint transmits over time (N - 1,), programmed and achievable: ``drive`` torque about its axis [N m],
    ``moment`` across its axis [N m] and ``force`` [N], which its bearings carry."""

    drive: tuple[Array, Array]
    moment: tuple[Array, Array]
    force: tuple[Array, Array]


@dataclass(frozen=True)
class Motors:
    """Section V: the programme (N + 1, 4), what the motors would need for it, u (N - 1, 4), what they can do, the same
    by KV (44), and by how much the programme must be slower."""

    trainer: gs.Model
    programme: Array
    wanted: Array
    achieved: gs.Achieved
    by_44: gs.Achieved
    factor: float


def programmed() -> gs.trajectories.Trajectory:
    """Fifth-order polynomials: the arm speeds up, turns and brakes; the gondola is turned about all its axes."""
    turned = 2.0 / 2 * SPEED  # while the speed rises or falls for two seconds [rad]
    arm = ((0.0, 0.0, 0.0), (0.5, 0.0, 0.0), (2.5, turned, SPEED), (7.0, turned + 4.5 * SPEED, SPEED))
    q1 = _through(*arm, (9.0, 2 * turned + 4.5 * SPEED, 0.0))
    q2 = _through((2.0, 0.0, 0.0), (3.2, -1.5, 0.0))
    q3 = _through((3.0, 0.0, 0.0), (4.0, 0.6, 0.0), (6.0, 0.6, 0.0), (7.0, 0.0, 0.0))
    q4 = _through((1.0, 0.0, 0.0), (2.0, 0.35, 0.0), (3.5, -0.35, 0.0), (5.0, 0.35, 0.0), (6.5, 0.0, 0.0))
    return gs.trajectories.stack(q1, q2, q3, q4)


def _through(*points: tuple[float, float, float]) -> gs.trajectories.Trajectory:
    """Points: time, angle, rate; no acceleration there. Held from 0 s on and to the end."""
    rows = [(0.0, points[0][1], 0.0)] * (points[0][0] > 0.0) + list(points) + [(DURATION, points[-1][1], 0.0)]
    return gs.trajectories.hermite([t for t, _, _ in rows], [[[q], [v], [0.0]] for _, q, v in rows])


def link_level(samples: int = 1001) -> Links:
    """Figure 3: torques by two algorithms, and the accelerations that they give back."""
    trainer = gs.robots.spatial_disorientation_trainer()
    t = np.linspace(0.0, DURATION, samples)
    q, v, a = np.moveaxis(programmed().derivatives(t, 2), -2, 0)
    H, bias = gs.ActuatorDynamics(trainer)(q, v)  # mass matrix and bias of the links by one pass (4)-(36)
    torque = gs.rnea(trainer, q, v, a)
    solved = gs.ForwardDynamics(trainer, algorithm="mrnea")(q, v, torque)
    return Links(t, q, v, a, torque, np.einsum("nij,nj->ni", H, a) + bias, solved)


def driven_trainer() -> gs.Model:
    """The trainer with its motors."""
    trainer = gs.robots.spatial_disorientation_trainer()
    for joint, (ratio, rotor, torque) in DRIVES.items():
        trainer = trainer.with_drive(
            joint, gear_ratio=ratio, rotor_inertia=rotor, torque_limit=torque, viscous=VISCOUS, coulomb=COULOMB
        )
    return trainer.replace({f"{joint}_drive.friction.smooth": SMOOTH for joint in DRIVES})


def motor_level() -> Motors:
    """Section V: positions every cycle, as a path planner sends them."""
    trainer = driven_trainer()
    programme = programmed()(np.arange(round(DURATION / CYCLE) + 1) * CYCLE)
    v = np.diff(programme, axis=0) / CYCLE
    wanted = gs.ActuatorDynamics(trainer).torques(programme[:-2], v[:-1], np.diff(v, axis=0) / CYCLE)
    motion = gs.AchievableMotion(trainer, CYCLE)
    by_44 = gs.AchievableMotion(trainer, CYCLE, keep="torques")(programme)
    return Motors(trainer, programme, wanted, motion(programme), by_44, motion.slow_down(programme))


def joint_forces(motors: Motors) -> dict[str, JointForces]:
    """KV II, VI: forces and moments of the joints, as the programme would have them and as they can occur."""
    ports = {joint: f"{joint}.b" for joint in AXES}
    v = np.diff(motors.programme, axis=0) / CYCLE
    asked = gs.InverseDynamics(motors.trainer).port_forces(
        motors.programme[:-2], v[:-1], np.diff(v, axis=0) / CYCLE, ports=ports.values()
    )
    both = asked, motors.achieved.forces(list(ports.values()))
    forces = {}
    for joint, axis in AXES.items():
        wrenches = [x[ports[joint]] for x in both]
        drive = [x[:, axis] for x in wrenches]
        moment = [np.linalg.norm(np.delete(x[:, :3], axis, axis=1), axis=1) for x in wrenches]
        force = [np.linalg.norm(x[:, 3:], axis=1) for x in wrenches]
        forces[joint] = JointForces(*((a, b) for a, b in (drive, moment, force)))
    return forces


# ---------------------------------------------------------------------------------------------------- figures
def figure_3(links: Links):
    figure, axes = subplots(4, 2, (10.0, 8.6), sharex=True)
    shown = slice(None, None, max(1, len(links.t) // 40))
    for j in range(4):
        left, right = axes[j]
        left.plot(links.t, links.rnea[:, j] / 1e3, lw=1.6, color=f"C{j}", label="RNEA")
        left.plot(links.t[shown], links.mrnea[shown, j] / 1e3, "o", ms=3.5, mfc="none", color="0.2", label="mRNEA")
        right.plot(links.t, links.a[:, j], lw=1.6, color=f"C{j}", label="input")
        right.plot(links.t[shown], links.solved[shown, j], "o", ms=3.5, mfc="none", color="0.2", label="from (34)")
        left.set_ylabel(f"u{j + 1} [kN m]")
        right.set_ylabel(f"acceleration q{j + 1} [rad/s²]")
    axes[0, 0].set_title("(a) link torques")
    axes[0, 1].set_title("(b) link accelerations")
    for ax in axes[0]:
        ax.legend(loc="upper right")
    for ax in axes[-1]:
        ax.set_xlabel("time [s]")
    figure.align_ylabels(axes)
    figure.suptitle("Disorientation trainer, as KV Fig. 3")
    return figure


def figure_achievable(motors: Motors):
    figure, axes = subplots(4, 3, (12.0, 9.0), sharex=True)
    achieved, limits = motors.achieved, [torque for _, _, torque in DRIVES.values()]
    t, v = achieved.t, np.diff(motors.programme, axis=0) / CYCLE
    pairs = (
        (t[:-1], v, achieved.v, "v{} [rad/s]"),
        (t[:-2], np.diff(v, axis=0) / CYCLE, achieved.a, "a{} [rad/s²]"),
        (t[:-2], motors.wanted, achieved.u, "u{} [N m]"),
    )
    for j in range(4):
        for ax, (x, asked, done, label) in zip(axes[j], pairs, strict=True):
            ax.plot(x, asked[:, j], lw=1.1, color="0.45", ls="--", label="programmed")
            ax.plot(x, done[:, j], lw=1.4, color=f"C{j}", label="achievable")
            ax.set_ylabel(label.format(j + 1))
        for side in (-1.0, 1.0):
            axes[j, 2].axhline(side * limits[j], color="C3", lw=0.8, ls=":", label="limit" if side > 0 else None)
        for ax in axes[j]:
            for episode in achieved.report():
                if episode.who == f"q{j + 1}":
                    ax.axvspan(episode.start, episode.end, color="C3", alpha=0.10, lw=0)
    axes[0, 2].legend(loc="upper right")
    for ax, title in zip(axes[0], ("velocities of the joints", "accelerations", "torques of the motors"), strict=True):
        ax.set_title(title)
    for ax in axes[-1]:
        ax.set_xlabel("time [s]   (shaded: at a torque limit)")
    figure.suptitle("Disorientation trainer: programmed and achievable motion")
    return figure


def figure_forces(motors: Motors, forces: dict[str, JointForces]):
    figure, axes = subplots(4, 3, (12.0, 9.0), sharex=True)
    t, episodes = motors.achieved.t[:-2], motors.achieved.report()
    for j, (joint, x) in enumerate(forces.items()):
        rows = ((x.drive, "drive {} [N m]"), (x.moment, "moment {} [N m]"), (x.force, "force {} [N]"))
        for ax, ((asked, done), label) in zip(axes[j], rows, strict=True):
            ax.plot(t, asked, lw=1.1, color="0.45", ls="--", label="programmed")
            ax.plot(t, done, lw=1.4, color=f"C{j}", label="achievable")
            ax.set_ylabel(label.format(joint))
            for episode in episodes:
                ax.axvspan(episode.start, episode.end, color="C3", alpha=0.10, lw=0)
    axes[0, 0].legend(loc="upper right")
    titles = "torque about the axis", "moment on the bearings", "force on the bearings"
    for ax, title in zip(axes[0], titles, strict=True):
        ax.set_title(title)
    for ax in axes[-1]:
        ax.set_xlabel("time [s]   (shaded: a motor at its limit)")
    figure.align_ylabels(axes)
    figure.suptitle("Disorientation trainer: forces of the joints, programmed and achievable (KV VI)")
    return figure


# ---------------------------------------------------------------------------------------------------- words
def report_forces(forces: dict[str, JointForces]) -> str:
    head = ("joint", "drive [N m]", "can be", "moment on bearings [N m]", "can be", "differs by", "force [N]", "can be",
            "differs by")  # fmt: skip
    rows = []
    for joint, x in forces.items():
        drive, moment, force = ([np.abs(y).max() for y in pair] for pair in (x.drive, x.moment, x.force))
        apart = [np.abs(pair[0] - pair[1]).max() for pair in (x.moment, x.force)]
        rows.append((joint, *(f"{y:.1f}" for y in (*drive, *moment, apart[0], *force, apart[1]))))
    return table(head, rows) + "\n"


def report(links: Links, motors: Motors) -> str:
    achieved = motors.achieved
    columns = (
        np.abs(motors.wanted).max(axis=0),
        np.abs(achieved.u).max(axis=0),
        (achieved.cut != 0).sum(axis=0),
        np.abs(achieved.deviation).max(axis=0),
        np.abs(motors.by_44.deviation).max(axis=0),
    )
    head = ("motor", "needs [N m]", "gives [N m]", "cycles at its limit", "off by [rad]", "off by, KV (44) [rad]")
    rows = [(name, *(x[j].item() for x in columns)) for j, name in enumerate(achieved.actuators)]
    return "\n".join(
        [
            "Spatial disorientation trainer [KV IV-VI]; masses, motors and programme are ours\n",
            f"links: largest torques {', '.join(f'{x:.1f}' for x in np.abs(links.rnea).max(axis=0))} N m",
            f"RNEA and mRNEA differ by {np.abs(links.rnea - links.mrnea).max():.1e} N m; accelerations from (34) and "
            f"those of the input by {np.abs(links.solved - links.a).max():.1e} rad/s^2\n",
            table(head, rows),
            f"\nto the operator: {achieved}",
            f"slower by the factor {motors.factor:.6f} the whole programme is achievable\n",
        ]
    )


def main(arguments: list[str] | None = None) -> None:
    options = with_samples("trainer", __doc__, 1001, "times of figure 3", arguments)
    with Stages(3, options.quiet) as stage:
        links = stage("links", lambda: link_level(options.samples))
        motors = stage("motors", motor_level)
        forces = stage("joints", lambda: joint_forces(motors))
    figures = {"links": figure_3(links), "achievable": figure_achievable(motors)}
    figures["forces"] = figure_forces(motors, forces)
    paths = [save(figure, options, f"trainer_{name}") for name, figure in figures.items()]
    print(report(links, motors))
    print(report_forces(forces))
    say_figures(paths)


if __name__ == "__main__":
    main()
