"""Inverse dynamics of a light-weight arm with elastic gears along a smoothed step, against a rigid model, and the check
by forward simulation (H04 5.1, Figs. 5.2 and 5.3).

H04 prints no masses, rotors, gear ratios or time constants of the DLR LBR 2: these are ours. Of H04: seven axes,
neighbours perpendicular, about 1 m and 17 kg, joint stiffness about 10^4 N m/rad, rotors on the joint axes; a step of
2 rad of all joints smoothed by a filter of order 16, 2.5 s.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import gyrostat as gs
from demos.options import Stages, save, say_figures, subplots, table, with_samples

Array = np.ndarray
STEP, DURATION = 2.0, 2.5  # [rad], [s]
FASTER = 2.0
DT = 2e-4  # step of the forward simulation [s]


@dataclass(frozen=True)
class Torques:
    """Motor torques (N, 7) [N m] at ``t`` (N,) [s], by three models along the same motion ``derivatives`` (N, k, 7)."""

    solver: gs.ElasticInverseDynamics
    t: Array
    derivatives: Array
    elastic: gs.ElasticResult
    stiff: Array
    """Without springs, with the rotors' gyroscopic coupling."""
    rigid: Array
    """Without springs, rotors as inertia of their joints only: the rigid model of H04."""

    @property
    def difference(self) -> Array:
        """(N, 7): what the rigid model misses, Fig. 5.3."""
        return self.elastic.tau_motor - self.rigid


@dataclass(frozen=True)
class Check:
    """The elastic arm driven by computed motor torques alone; errors (N, 7) of its joints and rotors [rad] at run.t."""

    run: gs.Result
    error: Array
    rotor_error: Array


def smoothed_step(duration: float = DURATION) -> gs.trajectories.Trajectory:
    """Of all seven joints; one millionth of the step is left at the end."""
    return gs.trajectories.filtered_step(np.zeros(7), np.full(7, STEP), duration, order=16)


def inverse(duration: float = DURATION, samples: int = 501) -> Torques:
    solver = gs.ElasticInverseDynamics(gs.robots.elastic_arm())
    t = np.linspace(0.0, duration, samples)
    derivatives = smoothed_step(duration).derivatives(t, solver.order)
    stiff, rigid = (without_springs(derivatives, plain) for plain in (False, True))
    return Torques(solver, t, derivatives, solver(derivatives), stiff, rigid)


def without_springs(derivatives: Array, plain: bool) -> Array:
    """Motor torques (N, 7) of the arm with stiff gears; ``plain``: rotors as inertia of their joints only."""
    arm = gs.robots.elastic_arm(elastic=False, reflected_inertia_only=plain)
    return gs.ActuatorDynamics(arm).torques(*(derivatives[:, k] for k in range(3)))


def forward(solver: gs.ElasticInverseDynamics, rigid: bool = False, dt: float = DT, kept: int = 500) -> Check:
    """The motion of the elastic arm under torques of its own model, or of the rigid one; without feedback.

    The classical Runge-Kutta method asks for torques at the ends and in the middle of its steps: they are computed
    there, so that nothing is interpolated."""
    steps = round(DURATION / dt / kept) * kept
    dt = DURATION / steps
    halves = np.arange(2 * steps + 1) * (dt / 2)
    derivatives = smoothed_step().derivatives(halves, solver.order)
    wanted = solver(derivatives)
    torques = np.zeros((len(halves), 14))  # none at the joints themselves
    torques[:, 7:] = without_springs(derivatives, plain=True) if rigid else wanted.tau_motor
    start = np.hstack([derivatives[0, :2], [wanted.theta[0], wanted.theta_dot[0]]])  # q, v
    shown = slice(None, None, 2 * steps // kept)
    run = gs.simulate(
        solver.model,
        lambda t, q, v: torques[round(2.0 * t / dt)],
        *start,
        t_end=DURATION,
        method="rk4",
        dt=dt,
        t_eval=halves[shown],
        compiled=False,
        progress=False,
    )
    return Check(run, run.q[:, :7] - derivatives[shown, 0], run.q[:, 7:] - wanted.theta[shown])


# ---------------------------------------------------------------------------------------------------- figures
def figure_52(torques: Torques):
    figure, axes = subplots(1, 1, (8.5, 5.2))
    ax = axes[0, 0]
    for j in range(3):
        ax.plot(torques.t, torques.elastic.tau_motor[:, j], lw=1.8, label=f"τ{j + 1}")
    ax.set(xlabel="time [s]", ylabel="motor torque [N m]", title="Elastic arm: motor torques, as H04 Fig. 5.2")
    ax.legend(loc="upper right")
    inset = ax.inset_axes((0.62, 0.08, 0.34, 0.26))
    inset.plot(torques.t, torques.derivatives[:, 0, 0], color="0.2", lw=1.4)
    inset.set_title("all joints [rad]", fontsize=9)
    inset.tick_params(labelsize=8)
    inset.grid(alpha=0.3)
    return figure


def figure_53(torques: Torques):
    figure, axes = subplots(3, 1, (8.5, 8.0), sharex=True)
    gyroscopic, springs = torques.stiff - torques.rigid, torques.elastic.tau_motor - torques.stiff
    for j, ax in enumerate(axes[:, 0]):
        ax.plot(torques.t, 1e3 * torques.difference[:, j], lw=1.8, color=f"C{j}", label="elastic - rigid model")
        ax.plot(torques.t, 1e3 * springs[:, j], lw=1.0, ls="--", color="0.25", label="of it: springs")
        ax.plot(torques.t, 1e3 * gyroscopic[:, j], lw=1.0, ls=":", color="0.25", label="of it: gyroscopic coupling")
        ax.set_ylabel(f"Δτ{j + 1} [mN m]")
    axes[0, 0].legend(loc="upper right")
    axes[0, 0].set_title("What the rigid model misses at the motors, as H04 Fig. 5.3")
    axes[-1, 0].set_xlabel("time [s]")
    figure.align_ylabels(axes)
    return figure


def figure_springs(torques: Torques, check: Check, rigid: Check):
    figure, axes = subplots(1, 3, (13.0, 4.4))
    torque, wound, error = axes[0]
    stiffness = np.array([torques.solver.model[f"q{j}_drive.spring.stiffness"] for j in range(1, 8)])
    for j in range(7):
        torque.plot(torques.t, torques.elastic.tau_spring[:, j], lw=1.4, label=f"q{j + 1}")
        wound.plot(torques.t, 1e3 * torques.elastic.tau_spring[:, j] / stiffness[j], lw=1.4)
        error.semilogy(check.run.t[1:], np.maximum(np.abs(check.error[1:, j]), 1e-17), lw=1.0)
    worst = np.abs(rigid.error[1:]).max(axis=1)
    error.semilogy(rigid.run.t[1:], worst, "k--", lw=1.2, label="torques of the rigid model, worst joint")
    error.legend(loc="center right", fontsize=8)
    torque.set(title="torques of the springs", xlabel="time [s]", ylabel="torque [N m]")
    torque.legend(ncols=2, fontsize=8)
    wound.set(title="deflections of the springs", xlabel="time [s]", ylabel="deflection [mrad]")
    error.set(title="forward simulation - programmed motion", xlabel="time [s]", ylabel="|error of joint| [rad]")
    error.set_ylim(1e-17, 10.0)
    return figure


# ---------------------------------------------------------------------------------------------------- words
def zeros(solver: gs.ElasticInverseDynamics) -> str:
    """The structure of S(q), (5.1): x where it is not zero, o where only the rate of the rotor acts."""
    signs = np.array([".", "o", "x"])[solver.coupling()]
    return "\n".join("  " + " ".join(row) for row in signs)


def report(torques: Torques, fast: Torques, check: Check, rigid: Check) -> str:
    def peak(x: Array) -> Array:
        return np.abs(x).max(axis=0)

    columns = (
        peak(torques.elastic.tau_motor),
        peak(torques.elastic.theta_dot),
        peak(torques.elastic.tau_spring),
        1e3 * peak(torques.difference),
        100.0 * peak(torques.difference) / peak(torques.rigid),
        100.0 * peak(fast.difference) / peak(fast.rigid),
    )
    head = ("joint", "motor [N m]", "[rad/s]", "spring [N m]", "elastic - rigid [mN m]", "[%]", "[%], twice as fast")
    rows = [(f"q{j + 1}", *(f"{x[j]:.4g}" for x in columns)) for j in range(7)]
    return "\n".join(
        [
            "Elastic arm like the DLR LBR 2 [H04 5.1], largest values; masses, rotors, gears are ours\n",
            table(head, rows),
            "\nS(q) (5.1), x: not zero, o: zero, but the rotor's rate acts; derivatives of q needed: "
            f"{torques.solver.order}",
            zeros(torques.solver),
            f"\nforward simulation with these torques, rk4, steps of {DT:g} s: joints follow within "
            f"{np.abs(check.error).max():.1e} rad,\nrotors within {np.abs(check.rotor_error).max():.1e} rad; energy "
            f"balance within {np.abs(check.run.energy_residual).max():.1e} J",
            f"with those of the rigid model: {np.abs(rigid.error[rigid.run.t <= 1.0]).max():.3f} rad off in the first "
            f"second, {np.abs(rigid.error).max():.3f} rad in all\n",
        ]
    )


def main(arguments: list[str] | None = None) -> None:
    options = with_samples("elastic", __doc__, 501, "times in the figures", arguments)
    with Stages(4, options.quiet) as stage:
        slow = stage("inverse dynamics", lambda: inverse(DURATION, options.samples))
        fast = stage("twice as fast", lambda: inverse(DURATION / FASTER, options.samples))
        check = stage("forward simulation", lambda: forward(slow.solver))
        rigid = stage("with torques of the rigid model", lambda: forward(slow.solver, rigid=True))
    figures = {"torques": figure_52(slow), "difference": figure_53(slow), "springs": figure_springs(slow, check, rigid)}
    paths = [save(figure, options, f"elastic_{name}") for name, figure in figures.items()]
    print(report(slow, fast, check, rigid))
    say_figures(paths)


if __name__ == "__main__":
    main()
