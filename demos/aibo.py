"""A four-legged robot trots: diagonal legs together, on point feet, in three dimensions [H04 5.4, Stelzer et al.].

All data of the robot are ours. A trot is its own mirror image: half a stride is computed, 18 degrees of freedom, of
which the two standing legs follow from the torso's place. It is stable dynamically only: forces push, inside their
friction cones.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import gyrostat as gs
from demos.options import Stages, save, say_figures, subplots, table, with_samples

STRIDE, PERIOD = 0.08, 0.8  # [m], [s]


def trot(nodes: int = 31) -> gs.studies.Gait:
    """What is asked for; the robot weighs 1.4 kg: torques are about 0.1 N m, hence the unit of torque in (5.4)."""
    cost = {"torque": 100.0, "velocity": 1.0}
    return gs.studies.Gait(
        gs.robots.aibo(), "trot", stride=STRIDE, period=PERIOD, nodes=nodes, clearance=0.01, highest=0.03, cost=cost
    )


def figure_pattern() -> Any:
    """Which feet stand when, of all gaits that are known by name."""
    figure, axes = subplots(5, 2, (9.5, 8.0), sharex=True)
    for ax, name in zip(axes.flat, gs.studies.PATTERNS, strict=True):
        pattern = gs.studies.gait_pattern(name)
        for row, foot in enumerate(pattern.feet):
            for phase in pattern.phases:
                if foot in phase.feet:
                    ax.barh(row, phase.end - phase.start, left=phase.start, color=f"C{row}", height=0.7)
        ax.set_yticks(range(len(pattern.feet)), pattern.feet, fontsize=7)
        ax.set(title=name, xlim=(0.0, 1.0))
        ax.invert_yaxis()
    axes[-1, 0].set_xlabel("part of a stride")
    return figure


def figure_motion(motion: gs.studies.GaitMotion) -> Any:
    figure, axes = subplots(3, 1, (8.5, 8.0))
    t, q = motion.stride(2)
    model = motion.gait.model
    pose = gs.fk(model, q)
    for foot in motion.gait.robot.feet:
        axes[0, 0].plot(t, 1e3 * pose[foot.frame].p[:, 2], lw=1.5, label=foot.name)
    axes[0, 0].set_ylabel("height of the feet [mm]")
    axes[0, 0].legend(ncols=4, fontsize=8)
    names = ("turn about x [mrad]", "turn about y [mrad]", "height - mean [mm]")
    turn = 2e3 * q[:, [model.layout.blocks[0].quaternion.start + k for k in (0, 1)]]
    height = 1e3 * (q[:, model.layout.blocks[0].position.start + 2])
    for name, y in zip(names, (turn[:, 0], turn[:, 1], height - height.mean()), strict=True):
        axes[1, 0].plot(t, y, lw=1.5, label=name)
    axes[1, 0].legend(fontsize=8)
    for k, dof in enumerate(model.dofs):
        if k > 5:
            axes[2, 0].plot(motion.t, motion.tau[:, k], lw=1.3, label=dof)
    axes[2, 0].set(xlabel="time [s]", ylabel="torques, half a stride [N m]")
    axes[2, 0].legend(ncols=4, fontsize=6)
    return figure


def report(motion: gs.studies.GaitMotion) -> str:
    rows = [
        (name, its, f"{spent:.1f}", f"{cost:.5g}", f"{error:.1e}") for name, its, spent, cost, error in motion.history
    ]
    load = [f for foot, f in motion.forces.items() if foot in motion.gait.phases[0].feet]
    slip = max(float((np.hypot(f[:, 0], f[:, 1]) / np.maximum(f[:, 2], 1e-9)).max()) for f in load)
    return "\n".join(
        [
            f"aibo trots: {motion.speed:.3g} m/s, {STRIDE:g} m in {PERIOD:g} s; {motion.size['variables']} variables\n",
            table(("stage", "iterations", "seconds", "cost", "error"), rows),
            f"\n{motion.message}: violation {motion.violation:.1e}, error of the re-simulation {motion.error:.1e}",
            f"greatest ratio of horizontal to vertical force {slip:.2f}, allowed {motion.gait.friction:g}",
        ]
    )


def main(arguments: list[str] | None = None) -> None:
    options = with_samples("aibo", __doc__, 31, "grid points of half a stride", arguments)
    with Stages(1, options.quiet) as stage:
        job = lambda: gs.studies.optimal_gait(trot(max(options.samples, 11)), refinements=3, progress=False)  # noqa: E731
        motion = stage("gait", job)
    figures = {"patterns": figure_pattern(), "trot": figure_motion(motion)}
    print(report(motion))
    say_figures(save(figure, options, f"aibo_{name}") for name, figure in figures.items())


if __name__ == "__main__":
    main()
