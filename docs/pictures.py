"""The pictures of README and landing page: ``python docs/pictures.py`` writes them into ``docs/pictures``."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import gyrostat as gs

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
from render import picture  # noqa: E402 - beside this file


def run() -> gs.Result:
    """The five lines of the README."""
    arm = gs.robots.arm6(drives=False)
    move = gs.trajectories.quintic([-1.2, 0.9, 0.5, 0, 0.4, 0], [1.2, 0.3, 1.2, 0, 0.2, 0], duration=1.2)
    law = gs.blocks.computed_torque(arm, kp=400.0, kd=40.0, reference=move)
    return gs.simulate(arm, law, q0=move(0.0), t_end=1.6, progress=False)


def robot_and_plot(run: gs.Result, tall: bool = False) -> Figure:
    """The arm on its way beside its angles and torques, or above them."""
    figure = Figure(figsize=(6.0, 6.2) if tall else (11.0, 3.9), dpi=150, layout="constrained", facecolor="white")
    grid = (
        figure.add_gridspec(3, 1, height_ratios=(1.9, 1, 1))
        if tall
        else figure.add_gridspec(2, 2, width_ratios=(1.0, 1.5))
    )
    places = [np.array([np.interp(t, run.t, x) for x in run.q.T]) for t in (0.0, 0.4, 0.62, 1.6)]
    robot = figure.add_subplot(grid[0] if tall else grid[:, 0])
    size, fill = ((1000, 520), 0.94) if tall else ((660, 585), 0.9)
    robot.imshow(picture(run.model, places[-1], size, ghosts=places[:-1], turn=-8.0, tilt=22.0, fill=fill))
    robot.set_axis_off()
    for row, (name, unit, series) in enumerate((("q", "rad", run.q), ("torque", "N m", run.tau))):
        axes = figure.add_subplot(grid[row + 1] if tall else grid[row, 1])
        for joint, x in zip(run.model.dofs, series.T, strict=True):
            axes.plot(run.t, x, label=joint, linewidth=1.6)
        axes.set_ylabel(f"{name} [{unit}]")
        axes.margins(x=0)
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(alpha=0.25)
        if row == 0:
            axes.legend(ncols=6, loc="lower center", bbox_to_anchor=(0.5, 1.0), frameon=False, handlelength=1.2)
            axes.tick_params(labelbottom=False)
        else:
            axes.set_xlabel("t [s]")
    return figure


def main(out: Path = HERE / "pictures") -> None:
    out.mkdir(exist_ok=True)
    moved = run()
    robot_and_plot(moved).savefig(out / "arm.png", metadata={"Software": ""})
    robot_and_plot(moved, tall=True).savefig(out / "arm_tall.png", metadata={"Software": ""})


if __name__ == "__main__":
    main()
