"""A robot with two flexible links under PID control (AS 3, Figs. 2 and 3): 27 degrees of freedom by in-cut joints.

Of AS: joints 1, 2 and 15 are real ones with PID-controlled drives; all others are in-cut joints with springs and linear
friction, three at each cut, two superelements for each link. Dimensions, gains and motion are ours: the source prints
none. The same robot with shapes instead of cuts is the check.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import gyrostat as gs
from demos.options import Stages, save, say_figures, subplots, table, with_samples

Array = np.ndarray
JOINTS = ("turn", "shoulder", "elbow")
LINKS = ("upper", "fore")
BEGIN, END = np.array([0.0, -0.9, 1.3]), np.array([1.4, -0.4, 0.5])  # [rad]
MOVE, DURATION = 1.0, 3.0  # [s]
KP, KI, KD = (6000.0, 9000.0, 2500.0), (6000.0, 9000.0, 2500.0), (900.0, 1300.0, 250.0)


@dataclass(frozen=True)
class Run:
    """A motion under control: angles of the real joints and their ``wanted`` values (n, 3) [rad]; ``bent``: deflections
    (n, 2) of the ends of both links across, sideways and up in the axes of their roots, by link [m]; ``twist`` (n,)
    [rad]; ``tip`` (n, 3) [m], and where it is on straight links with the same joints."""

    model: gs.Model
    result: gs.Result
    wanted: Array
    bent: dict[str, Array]
    twist: dict[str, Array]
    tip: Array
    straight: Array

    @property
    def t(self) -> Array:
        return self.result.t

    @property
    def angles(self) -> Array:
        return self.result.q[:, [self.model.coordinates.index(name) for name in JOINTS]]


def robot(method: str = "in-cut") -> gs.Model:
    shapes = {} if method == "in-cut" else {"modes": 3, "modes_x": (2, 0)}
    return gs.robots.flexible_arm(method, **shapes)


def rest(model: gs.Model) -> gs.Equilibrium:
    """The sag of the links while the joints are held at the start."""
    q = np.zeros(model.nq)
    q[[model.coordinates.index(name) for name in JOINTS]] = BEGIN
    return gs.equilibrium(model, q, locked=JOINTS)


def controller(model: gs.Model, held: Array) -> gs.blocks.Block:
    """PID drives at the three real joints; they hold the robot when it starts."""
    move = gs.trajectories.quintic(BEGIN, END, MOVE)
    hold = gs.blocks.Constant(held, target="hold")
    return gs.blocks.at_joints(model, JOINTS, gs.blocks.pid(KP, KI, KD, move, feedforward=hold))


def simulated(method: str = "in-cut", samples: int = 601, rtol: float = 1e-6) -> Run:
    model = robot(method)
    sag = rest(model)
    at = [model.dofs.index(name) for name in JOINTS]
    law, t = controller(model, sag.held[at]), np.linspace(0.0, DURATION, samples)
    options = {"method": "radau", "rtol": rtol, "atol": 1e-3 * rtol, "compiled": True, "progress": False}
    result = gs.simulate(model, law, sag.q, np.zeros(model.nv), DURATION, t_eval=t, **options)  # type: ignore[arg-type]
    frames = gs.ForwardKinematics(model)(result.q)
    flat = np.zeros_like(result.q)
    flat[:, at] = result.q[:, at]
    straight = gs.ForwardKinematics(model)(flat)["payload.tip"].p
    bent, twist = {}, {}
    for link in LINKS:
        a, b = frames[f"{link}.a"], frames[f"{link}.b"]
        bent[link] = np.einsum("tji,tj->ti", a.R, b.p - a.p)[:, 1:]
        R = np.einsum("tji,tjk->tik", a.R, b.R)
        twist[link] = np.arctan2(R[:, 2, 1], R[:, 2, 2])
    wanted = gs.trajectories.quintic(BEGIN, END, MOVE)(np.minimum(t, MOVE))
    return Run(model, result, wanted, bent, twist, frames["payload.tip"].p, straight)


# ---------------------------------------------------------------------------------------------------- figures
def figure_joints(run: Run):
    figure, axes = subplots(2, 1, (8.5, 6.0), sharex=True)
    for j, name in enumerate(JOINTS):
        axes[0, 0].plot(run.t, run.angles[:, j], lw=1.6, label=name)
        axes[0, 0].plot(run.t, run.wanted[:, j], "k:", lw=1.0)
        axes[1, 0].plot(run.t, 1e3 * (run.angles - run.wanted)[:, j], lw=1.4)
    axes[0, 0].set(ylabel="angle [rad]", title="Real joints, and what they are told (dotted)")
    axes[0, 0].legend(loc="lower right", ncols=3)
    axes[1, 0].set(ylabel="error [mrad]", xlabel="time [s]")
    return figure


def figure_bent(run: Run, check: Run):
    """As Fig. 3 of AS: deformations of the arm over time."""
    figure, axes = subplots(3, 1, (8.5, 8.0), sharex=True)
    for k, (ax, what) in enumerate(zip(axes[:2, 0], ("sideways", "up"), strict=True)):
        for c, link in enumerate(LINKS):
            ax.plot(run.t, 1e3 * run.bent[link][:, k], lw=1.6, color=f"C{c}", label=f"{link}, in-cut joints")
            ax.plot(check.t, 1e3 * check.bent[link][:, k], "k:", lw=1.0, label="shapes" if c else None)
        ax.set_ylabel(f"end {what} [mm]")
    for c, link in enumerate(LINKS):
        axes[2, 0].plot(run.t, 1e3 * run.twist[link], lw=1.6, color=f"C{c}")
        axes[2, 0].plot(check.t, 1e3 * check.twist[link], "k:", lw=1.0)
    axes[0, 0].legend(ncols=3, fontsize=9)
    axes[0, 0].set_title("Deformations of both links, as AS Fig. 3")
    axes[2, 0].set(ylabel="twist [mrad]", xlabel="time [s]")
    return figure


def figure_tip(run: Run):
    figure, axes = subplots(1, 2, (11.0, 4.4))
    path, off = axes[0]
    path.plot(run.tip[:, 0], run.tip[:, 1], lw=1.6, label="flexible")
    path.plot(run.straight[:, 0], run.straight[:, 1], "k:", lw=1.2, label="straight links, same joints")
    path.set(xlabel="x [m]", ylabel="y [m]", title="path of the payload, from above", aspect="equal")
    path.legend()
    off.plot(run.t, 1e3 * np.linalg.norm(run.tip - run.straight, axis=1), lw=1.6)
    off.set(xlabel="time [s]", ylabel="distance [mm]", title="payload: flexible against straight links")
    return figure


# ---------------------------------------------------------------------------------------------------- words
def frequencies(run: Run) -> Array:
    """First four frequencies [Hz] with the real joints held, at the start."""
    return gs.eigenfrequencies(run.model, run.result.q[0], locked=JOINTS).undamped[:4]


def report(run: Run, check: Run) -> str:
    rows = []
    for link in LINKS:
        both = np.hstack([run.bent[link], run.twist[link][:, None]])
        other = np.hstack([check.bent[link], check.twist[link][:, None]])
        size, off = np.abs(both).max(axis=0), np.abs(both - other).max(axis=0)
        rows.append((link, *(f"{1e3 * x:.2f}" for x in size), *(f"{1e3 * x:.2f}" for x in off)))
    head = ("link", "sideways [mm]", "up [mm]", "twist [mrad]", "- shapes [mm]", "[mm]", "[mrad]")
    error = 1e3 * np.abs(run.angles - run.wanted).max(axis=0)
    late = run.t > MOVE
    left = 1e3 * np.linalg.norm(run.tip - run.tip[-1], axis=1)[late].max()
    off = 1e3 * np.linalg.norm(run.tip - run.straight, axis=1).max()
    hertz = ", ".join(f"{f:.3f}" for f in frequencies(run))
    return "\n".join(
        [
            f"Flexible robot [AS Figs. 2-3]: {run.model.nv} degrees of freedom, real joints 1, 2, 15; data are ours\n",
            "largest deformations, and how far a model with three shapes is from them",
            table(head, rows),
            f"\nfrequencies with the joints held: {hertz} Hz",
            "largest errors of the joints [mrad]: "
            + ", ".join(f"{n} {e:.1f}" for n, e in zip(JOINTS, error, strict=True)),
            f"payload: up to {off:.1f} mm from where straight links would have it;",
            f"up to {left:.1f} mm from its end after the move",
            f"{run.result.counters.steps} steps of radau for {DURATION:g} s\n",
        ]
    )


def main(arguments: list[str] | None = None) -> None:
    options = with_samples("flexible-robot", __doc__, 601, "times in the figures", arguments)
    with Stages(2, options.quiet) as stage:
        run = stage("27 degrees of freedom", lambda: simulated("in-cut", options.samples))
        check = stage("the same with shapes", lambda: simulated("modal", options.samples))
    figures = {"joints": figure_joints(run), "deformations": figure_bent(run, check), "payload": figure_tip(run)}
    paths = [save(figure, options, f"flexible_robot_{name}") for name, figure in figures.items()]
    print(report(run, check))
    say_figures(paths)


if __name__ == "__main__":
    main()
