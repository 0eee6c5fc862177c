"""The humanoid walks: half a stride in two phases, statically stable, 6 s for a stride [H04 5.4.4, Fig. 5.9].

H04 takes the data of its prototype from a paper; this robot is ours, a child of twelve with 47 kg, about ten times the
torques. (5.4) adds squares of torques and of rates, so that it depends on the unit of torque: here it is 10 N m. Of
H04: the robot's structure, two phases, 6 s, 0.06 m/s, static stability, 63 grid points.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

import gyrostat as gs
from demos.options import Stages, save, say_figures, subplots, table, with_samples

STRIDE, PERIOD = 0.36, 6.0  # [m], [s]
TORQUE = 10.0  # the unit of torque in (5.4) [N m]
H04 = {"points": 63, "variables": 2176, "equalities": 1479, "inequalities": 300}
LINES = {
    "left": ("torso.left_hip", "left_thigh.knee", "left_shank.ankle", "left_foot.sole"),
    "right": ("torso.right_hip", "right_thigh.knee", "right_shank.ankle", "right_foot.sole"),
}


def walk(nodes: int = 63) -> gs.studies.Gait:
    """What is asked for."""
    cost = {"torque": 1.0 / TORQUE**2, "velocity": 1.0}
    return gs.studies.Gait(
        gs.robots.humanoid(), "biped walk", stride=STRIDE, period=PERIOD, nodes=nodes, stability="static", cost=cost
    )


def margins(motion: gs.studies.GaitMotion) -> np.ndarray:
    """Distance of the centre of mass from the edge of the support polygon (n,) [m]."""
    gait, found = motion.gait, np.empty(len(motion.t))
    for k, phase in enumerate(gait.phases):
        here = motion.phase == k
        corners = [c for foot in phase.feet for c in gait.robot.foot(foot).corners]
        found[here] = gs.stability_margin(gait.model, motion.q[here], points=corners)
    return found


def snapshots(motion: gs.studies.GaitMotion) -> Any:
    """A stride from the side and from above."""
    t, q = motion.stride()
    pose = gs.fk(motion.gait.model, q)
    figure, axes = subplots(2, 1, (9.5, 6.4), height_ratios=(2.2, 1.0))
    side, above = axes[:, 0]
    for s in np.linspace(0.0, t[-1], 9):
        k = int(np.argmin(np.abs(t - s)))
        for color, frames in zip(("C0", "C3"), LINES.values(), strict=True):
            points = np.array([pose[f].p[k] for f in frames])
            foot = frames[-1].split(".")[0]
            sole = np.array([pose[f"{foot}.{end}_left"].p[k] for end in ("heel", "toe")])
            side.plot(points[:, 0] + 0.22 * s, points[:, 2], "-o", ms=3, lw=1.6, color=color)
            side.plot(sole[:, 0] + 0.22 * s, sole[:, 2], "-", lw=2.5, color=color)
        top = pose["torso"].p[k] + pose["torso"].R[k] @ np.array([0.0, 0.0, 0.5])
        x = np.array([pose["torso"].p[k], top])
        side.plot(x[:, 0] + 0.22 * s, x[:, 2], "-", lw=5, color="0.4", alpha=0.7)
        side.annotate(f"{s:.1f} s", (top[0] + 0.22 * s, top[2] + 0.03), ha="center", fontsize=8)
    side.set(aspect="equal", ylabel="height [m]", xticks=[], title="a stride from the side, drawn apart by 0.22 m/s")
    c = gs.center_of_mass(motion.gait.model, q)
    above.plot(c[:, 0], c[:, 1], lw=2, color="0.2", label="centre of mass")
    for foot in motion.gait.robot.feet:
        for s in (0.05, 0.55, 1.05):
            place = motion.gait.place(foot.name, s)
            color = "C0" if foot.name == "left" else "C3"
            corners = np.array([[-0.075, -0.055], [0.145, -0.055], [0.145, 0.055], [-0.075, 0.055], [-0.075, -0.055]])
            above.plot(*(corners + place[:2]).T, color=color, lw=1.2)
    above.set(aspect="equal", xlabel="x [m]", ylabel="y [m]", title="soles and centre of mass from above")
    above.legend(fontsize=8)
    return figure


def figure_efforts(motion: gs.studies.GaitMotion) -> Any:
    figure, axes = subplots(3, 1, (8.5, 8.2), sharex=True)
    model = motion.gait.model
    for ax, side in zip(axes[:2, 0], ("left", "right"), strict=True):
        for k, dof in enumerate(model.dofs):
            if dof.startswith(side):
                ax.plot(motion.t, motion.tau[:, k], lw=1.5, label=dof.removeprefix(f"{side}_"))
        ax.set_ylabel(f"torques {side} [N m]")
    axes[0, 0].legend(ncols=6, fontsize=7, loc="upper center")
    for foot, f in motion.forces.items():
        axes[2, 0].plot(motion.t, f[:, 2], lw=1.8, label=f"vertical force {foot} [N]")
    axes[2, 0].plot(motion.t, 1e4 * margins(motion), lw=1.5, color="0.3", label="stability margin [0.1 mm]")
    axes[2, 0].set_xlabel("time [s]: both feet, then the left one")
    axes[2, 0].legend(fontsize=8)
    return figure


def figure_grid(motion: gs.studies.GaitMotion) -> Any:
    """Errors of the re-simulation over the stages."""
    figure, axes = subplots(1, 1, (7.0, 3.6))
    ax = axes[0, 0]
    ax.semilogy(range(len(motion.history)), [row[4] for row in motion.history], "o-", lw=1.6)
    ax.set_xticks(range(len(motion.history)), [row[0] for row in motion.history])
    ax.set_ylabel("error of an interval [rad, m, /s]")
    ax.set_title("63 points that move to where the error is")
    return figure


def report(motion: gs.studies.GaitMotion, seconds: float) -> str:
    size = [(word, motion.size[word], H04.get(word, "")) for word in H04]
    rows = [
        (name, its, f"{spent:.1f}", f"{cost:.5g}", f"{error:.1e}") for name, its, spent, cost, error in motion.history
    ]
    return "\n".join(
        [
            f"{motion.gait.model.name}: {motion.speed:.3g} m/s, {PERIOD:g} s for a stride of {STRIDE:g} m\n",
            table(("the programme", "here", "H04"), size),
            "",
            table(("stage", "iterations", "seconds", "cost (5.4)", "error"), rows),
            f"\n{motion.message}: violation {motion.violation:.1e}, error of the re-simulation {motion.error:.1e}",
            f"least stability margin {1e3 * margins(motion).min():.1f} mm; {seconds:.0f} s in all",
        ]
    )


def main(arguments: list[str] | None = None) -> None:
    options = with_samples("gait", __doc__, 63, "grid points of half a stride", arguments)
    begun = time.perf_counter()
    with Stages(1, options.quiet) as stage:
        motion = stage(
            "gait", lambda: gs.studies.optimal_gait(walk(max(options.samples, 15)), refinements=8, progress=False)
        )
    seconds = time.perf_counter() - begun
    figures = {"stride": snapshots(motion), "efforts": figure_efforts(motion), "grid": figure_grid(motion)}
    print(report(motion, seconds))
    say_figures(save(figure, options, f"gait_{name}") for name, figure in figures.items())


if __name__ == "__main__":
    main()
