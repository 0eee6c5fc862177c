"""The fastest pick-and-place of the palletizing robot along its path, within what its motors give (H04 5.2).

H04 asks for time-optimal path following of robots with closed loops, with limits of torque or current, fast enough for
cycles of a controller. Robot and path are those of ``./run demo palletizer``; the motors are ours.
"""

from __future__ import annotations

import timeit
from dataclasses import dataclass

import numpy as np

import gyrostat as gs
from demos import palletizer
from demos.options import Stages, save, say_figures, subplots, table, with_samples

Array = np.ndarray
MOTORS = {"R1": 45.0, "R2": 70.0, "R3": 50.0, "R5": 8.0}
"""Greatest torques of the motors [N m]; they fall from 2000 to 3300 revolutions per minute."""
FAST, FASTEST = 210.0, 345.0  # [rad/s]
ACTIONS = {20.0: "gripper alone", 90.0: "half a load", 180.0: "full load"}
POWER = 6000.0  # [W] that one drive may take


@dataclass(frozen=True)
class Study:
    """``full``: the fastest path with the whole load; ``by_load``: payload [kg] -> the fastest path; ``rigid``: without
    friction; ``power``: with the power of each drive bounded; ``later``: re-timed on the way, with weaker motors."""

    full: gs.studies.FastestPath
    by_load: dict[float, gs.studies.FastestPath]
    rigid: gs.studies.FastestPath
    power: gs.studies.FastestPath
    later: gs.studies.FastestPath


def robot(payload: float = 180.0, scale: float = 1.0, friction: bool = True) -> gs.Model:
    """With motors whose torques are limited, the more the faster they turn."""
    model = gs.robots.palletizer(payload=payload)
    changes: dict[str, object] = {}
    for name, torque in MOTORS.items():
        most = scale * torque
        changes[f"{name}_drive.motor.torque_speed"] = ((0.0, most), (FAST, most), (FASTEST, 0.3 * most))
        changes[f"{name}_drive.motor.speed_limit"] = FASTEST
        if not friction:
            changes |= {f"{name}_drive.friction.viscous": 0.0, f"{name}_drive.friction.coulomb": 0.0}
    return model.replace(changes)


def study(grid: int = 500) -> Study:
    path = palletizer.planned_path(robot())
    by_load = {load: gs.studies.time_optimal(robot(load), path, grid=grid) for load in ACTIONS}
    full = by_load[180.0]
    rigid = gs.studies.time_optimal(robot(friction=False), path, grid=grid)
    power = gs.studies.time_optimal(
        robot(), path, power_limits=dict.fromkeys(full.study.rows.torques.drive_names, POWER), grid=grid
    )
    half = 0.5 * (full.s[0] + full.s[-1])
    later = full.retime(half, 0.8 * float(full.at(half)[1]), model=robot(scale=0.8))
    return Study(full, by_load, rigid, power, later)


def motor_torques(found: gs.studies.FastestPath, t: Array) -> tuple[Array, Array]:
    """Torques and speeds of the motors (N, 4); at the ends as from inside."""
    model, edge = found.study.model, 1e-9 * found.duration
    q, v, a = np.moveaxis(found.trajectory.derivatives(np.clip(t, edge, found.duration - edge), 2), -2, 0)
    solver = gs.ActuatorDynamics(model)
    return solver.torques(q, v, a), v @ solver.motor_map.T


def use_of_limits(found: gs.studies.FastestPath, t: Array) -> Array:
    """(N, 4): torque of each motor by what it can give at its speed."""
    u, w = motor_torques(found, t)
    most = np.stack(
        [
            np.interp(np.abs(w[:, k]), [0.0, FAST, FASTEST], [x, x, 0.3 * x])
            for k, x in enumerate(MOTORS[n] for n in found.study.model.dofs)
        ],
        axis=1,
    )
    return u / most


def figure_phase(found: Study):
    figure, axes = subplots(1, 1, (8.5, 4.6))
    ax = axes[0, 0]
    full = found.full
    top = 1.5 * max(one.sdot.max() for one in found.by_load.values())
    ax.fill_between(full.s, np.minimum(np.sqrt(full.most), top), top, color="0.92", label="full load: too fast to stop")
    for load, one in found.by_load.items():
        ax.plot(one.s, one.sdot, lw=1.8, label=f"{ACTIONS[load]}, {load:g} kg: {one.duration:.3f} s")
    ax.plot(found.later.s, found.later.sdot, "--", lw=1.6, color="0.2", label="re-timed half way, motors at 80 %")
    for switch in full.switching:
        ax.plot(switch.s, float(full.at(switch.s)[1]), "o", ms=5, color="C3")
    ax.axhline(1.0, color="0.4", lw=0.9, ls=":", label="as it was planned, 2.8 s")
    ax.set(xlabel="place on the path s, in seconds of the plan", ylabel="speed along the path s'", ylim=(0.0, top))
    ax.legend(fontsize=8, loc="upper right")
    return figure


def figure_torques(found: Study):
    figure, axes = subplots(2, 1, (8.5, 6.4), sharex=True)
    t = np.linspace(0.0, found.full.duration, 1201)
    share, (_, speed) = use_of_limits(found.full, t), motor_torques(found.full, t)
    for k, name in enumerate(found.full.study.model.dofs):
        axes[0, 0].plot(t, share[:, k], lw=1.5, label=name)
        axes[1, 0].plot(t, speed[:, k] * 30.0 / np.pi, lw=1.5, label=name)
    for limit in (-1.0, 1.0):
        axes[0, 0].axhline(limit, color="0.3", lw=0.9, ls="--")
    axes[0, 0].set_ylabel("torque / what the motor gives")
    axes[1, 0].set(ylabel="speed of the motor [1/min]", xlabel="time [s]")
    axes[0, 0].legend(ncols=4, loc="lower left")
    figure.suptitle(f"Fastest pick-and-place with 180 kg: {found.full.duration:.3f} s")
    return figure


def milliseconds(found: Study, rounds: int = 5) -> dict[str, float]:
    """Best times of a whole solution, and of a new one on the way [ms]."""
    full = found.full
    half = 0.5 * (full.s[0] + full.s[-1])
    speed = 0.9 * float(full.at(half)[1])
    jobs = {
        "fastest path, 500 intervals": lambda: gs.studies.time_optimal(full.study.model, full.study.path),
        "re-timed half way": lambda: full.retime(half, speed),
        "re-timed, 50 intervals": lambda: full.retime(half, speed, grid=np.linspace(half, full.s[-1], 51)),
    }
    return {name: 1e3 * min(timeit.repeat(job, number=1, repeat=rounds)) for name, job in jobs.items()}


def report(found: Study, spent: dict[str, float]) -> str:
    rows = [(f"{ACTIONS[load]}, {load:g} kg", one.duration, len(one.switching)) for load, one in found.by_load.items()]
    rows.append(("full load, without friction", found.rigid.duration, len(found.rigid.switching)))
    rows.append((f"full load, {POWER / 1e3:g} kW for each drive", found.power.duration, len(found.power.switching)))
    switches = [(f"{w.s:.4f}", f"{w.t:.4f}", f"{w.before} -> {w.after}", w.limit) for w in found.full.switching]
    t = np.linspace(0.0, found.full.duration, 20_001)
    share = float(np.abs(use_of_limits(found.full, t)).max())
    times = [(name, f"{ms:.1f}") for name, ms in spent.items()]
    return "\n".join(
        [
            "Palletizer after the KUKA KR180PA [H04 5.2]: fastest motion along the path (2.8 s as planned)\n",
            table(("case", "duration [s]", "switches"), rows),
            "\nswitching structure with the full load:",
            table(("s", "t [s]", "arcs", "then bounded by"), switches),
            f"\ngreatest share of what a motor gives, at {len(t)} instants: {share:.6f}",
            f"excess of any limit at 100 points of each interval: {max(found.full.check(100), 0.0):.0e} of it",
            f"half way at 80 % of the speed, motors at 80 %: {found.later.duration:.4f} s more\n",
            table(("computed in", "ms"), times),
            "",
        ]
    )


def main(arguments: list[str] | None = None) -> None:
    options = with_samples("palletizer-path", __doc__, 500, "intervals of the path", arguments)
    with Stages(2, options.quiet) as stage:
        found = stage("fastest paths", lambda: study(max(options.samples, 20)))
        spent = stage("times", lambda: milliseconds(found))
    figures = {"phase": figure_phase(found), "torques": figure_torques(found)}
    paths = [save(figure, options, f"palletizer_path_{name}") for name, figure in figures.items()]
    print(report(found, spent))
    say_figures(paths)


if __name__ == "__main__":
    main()
