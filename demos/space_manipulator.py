"""A large space manipulator: small vibrations superposed on its rigid motion against the full motion with in-cut joints
(AS 2.2: the test by which its first technique was compared with its second).

AS prints no data of its manipulator: these are ours, of the size of the arm of the Space Shuttle. Two booms of 6.4 and
7.0 m, tubes of 0.33 m with walls of 2.5 mm (E 120 GPa, 1600 kg/m^3), shoulder yaw, shoulder and elbow pitch, 45 kg at
the elbow, 90 kg of wrist and 2000 kg of load; on a fixed base, without gravity. Drives are springs and dampers to a
programmed turn; the booms have about 1 % of critical damping in their first mode.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cache

import numpy as np

import gyrostat as gs
from demos.options import Stages, save, say_figures, subplots, table, with_samples

Array = np.ndarray
RADIUS, WALL, E, G, DENSITY = 0.165, 0.0025, 1.2e11, 3.0e10, 1600.0
LENGTHS = 6.4, 7.0
LOAD = 2000.0
BEGIN, TURN = np.array([0.0, -0.6, 1.3]), np.array([1.2, 0.4, -0.9])
STIFFNESS, DAMPING = np.array([3.0e5, 3.0e5, 1.5e5]), np.array([2.4e5, 2.4e5, 8.0e4])
DURATIONS = 120.0, 60.0, 30.0, 15.0, 10.0
TIP = "load.tip"


@cache
def manipulator(method: str = "in-cut", load: float = LOAD) -> gs.Model:
    """The arm with flexible booms: ``"in-cut"`` (two superelements each, 27 rates) or ``"modal"``."""
    area, I = 2.0 * np.pi * RADIUS * WALL, np.pi * RADIUS**3 * WALL
    section = {"area": area, "I_y": I, "I_z": I, "J": 2.0 * I, "E": E, "G": G, "density": DENSITY, "damping": 2.0e-2}
    shapes = {"elements": 2, "modes": 1, "modes_x": (1, 0)} if method == "in-cut" else {"modes": 3, "modes_x": (1, 0)}
    booms = [
        gs.FlexibleBeam(f"boom{k}", length=L, method=method, **section, **shapes)
        for k, L in enumerate(LENGTHS, start=1)
    ]
    hinges = [gs.Joint(n, "revolute", axis=x) for n, x in (("yaw", "z"), ("shoulder", "y"), ("elbow", "y"))]
    bodies = [
        gs.RigidBody("root", mass=80.0, inertia=(4.0, 4.0, 4.0)),
        gs.RigidBody("joint", mass=45.0, inertia=(1.5, 1.5, 1.5)),
        gs.RigidBody("wrist", mass=90.0, com=(0.4, 0, 0), inertia=(3.0, 8.0, 8.0), frames={"end": (0.9, 0, 0)}),
        gs.RigidBody(
            "load", mass=load, com=(1.5, 0, 0), inertia=(1500.0, 2500.0, 2500.0), frames={"tip": (1.5, 0.0, 0.0)}
        ),
    ]
    ports = (
        "world", "yaw.a", "yaw.b", "root", "root", "shoulder.a", "shoulder.b", "boom1.a", "boom1.b", "elbow.a",
        "elbow.b", "joint", "joint", "boom2.a", "boom2.b", "wrist", "wrist.end", "load",
    )  # fmt: skip
    wires = [gs.connect(*ports[k : k + 2]) for k in range(0, len(ports), 2)]
    return gs.assemble("manipulator", *hinges, *booms, *bodies, *wires, gravity=(0.0, 0.0, 0.0))


def drives(duration: float):
    """Torques of the hinges [N m]: springs and dampers to a turn of sine shape."""

    def law(t, q, v):
        phase = 2.0 * np.pi * t / duration
        goal = BEGIN + (t / duration - np.sin(phase) / (2.0 * np.pi)) * TURN
        return STIFFNESS * (goal - q) + DAMPING * ((1.0 - np.cos(phase)) / duration * TURN - v)

    return law


@dataclass(frozen=True)
class Turn:
    """One turn, simulated in three ways; deviations (T, 3) [m] of the tip from the rigid motion."""

    duration: float
    both: gs.flexible.Comparison
    assembled: Array

    @property
    def t(self) -> Array:
        return self.both.t

    @property
    def size(self) -> float:
        """Largest deviation of the full motion [m]."""
        return float(np.linalg.norm(self.both.deviations[1], axis=1).max())

    @property
    def shares(self) -> tuple[float, float]:
        """Largest difference from the full motion, as a share of its largest deviation: superposed, assembled as AS."""
        small, full = self.both.deviations
        superposed, assembled = (np.linalg.norm(x - full, axis=1).max() for x in (small, self.assembled))
        return float(superposed / self.size), float(assembled / self.size)


def turn(duration: float, samples: int = 601) -> Turn:
    """A turn of 1.2, 0.4 and -0.9 rad in ``duration`` [s]."""
    model, law = manipulator(), drives(duration)
    rigid = gs.flexible.rigid(model)
    dt = duration / (samples - 1)
    both = gs.flexible.compare(model, rigid, law, BEGIN, t_end=duration, dt=dt, frame=TIP)
    links = gs.flexible.assembled(model, both.rigid, law)
    return Turn(duration, both, links.deviation(TIP))


@dataclass(frozen=True)
class Cases:
    """Deviations (T, N) [m] of the tip in the turn of 60 s, of loads (N,) [kg] and pushes (N,) [N] for one second."""

    t: Array
    loads: Array
    pushes: Array
    by_load: Array
    by_push: Array
    seconds: tuple[float, float]


def cases(count: int = 1000, samples: int = 601) -> Cases:
    """Loads from 200 to 5000 kg, and pushes of a docking vehicle of up to 200 N, on one recorded motion."""
    model, duration = manipulator(), 60.0
    law = drives(duration)
    t = np.linspace(0.0, duration, samples)
    run = gs.simulate(gs.flexible.rigid(model), law, BEGIN, t_eval=t, rtol=1e-9, atol=1e-11, progress=False)
    pushes = np.random.default_rng(1).normal(scale=60.0, size=count)
    wrench = np.zeros((count, 6))
    wrench[:, 4] = pushes
    begun = time.perf_counter()
    pushed = gs.flexible.superposed(
        model, run, law, wrenches={TIP: lambda t: wrench * (20.0 <= t <= 21.0)}, every=4
    ).deviation(TIP)
    between = time.perf_counter()
    loads = np.linspace(200.0, 5000.0, max(2, count // 10))
    loaded = gs.flexible.superposed(model, run, law, parameters={"load.mass": loads}, every=4).deviation(TIP)
    seconds = between - begun, time.perf_counter() - between
    return Cases(t[::4], loads, pushes, np.linalg.norm(loaded, axis=2), np.linalg.norm(pushed, axis=2), seconds)


# ---------------------------------------------------------------------------------------------------- figures
def figure_turn(shown: Turn):
    figure, axes = subplots(3, 2, (11.0, 7.5), sharex=True)
    small, full = shown.both.deviations
    for k, name in enumerate("xyz"):
        left, right = axes[k]
        left.plot(shown.t, 1e3 * full[:, k], color="0.6", lw=3.0, label="full motion, in-cut joints")
        left.plot(shown.t, 1e3 * small[:, k], "C0", lw=1.2, label="superposed")
        left.plot(shown.t, 1e3 * shown.assembled[:, k], "C1--", lw=1.2, label="superposed, links assembled as AS")
        right.plot(shown.t, 1e3 * (small - full)[:, k], "C0", lw=1.2)
        right.plot(shown.t, 1e3 * (shown.assembled - full)[:, k], "C1--", lw=1.2)
        left.set_ylabel(f"tip - rigid, {name} [mm]")
        right.set_ylabel("- full motion [mm]")
    axes[0, 0].legend(fontsize=8)
    axes[0, 0].set_title(f"turn of {shown.duration:g} s")
    axes[0, 1].set_title("differences")
    for ax in axes[-1]:
        ax.set_xlabel("time [s]")
    return figure


def figure_agreement(turns: list[Turn]):
    figure, axes = subplots(1, 2, (11.0, 4.4))
    durations = [x.duration for x in turns]
    for k, (name, style) in enumerate((("superposed", "C0o-"), ("links assembled as AS", "C1s--"))):
        axes[0, 0].loglog(durations, [100.0 * x.shares[k] for x in turns], style, label=name)
    axes[0, 0].set(xlabel="duration of the turn [s]", ylabel="difference from the full motion [%]")
    axes[0, 0].legend()
    axes[0, 1].loglog(durations, [1e3 * x.size for x in turns], "C2o-")
    axes[0, 1].set(xlabel="duration of the turn [s]", ylabel="tip - rigid, full motion [mm]")
    return figure


def figure_cases(many: Cases):
    figure, axes = subplots(1, 2, (11.0, 4.4))
    for k in np.linspace(0, len(many.loads) - 1, 6).astype(int):
        axes[0, 0].plot(many.t, 1e3 * many.by_load[:, k], lw=1.2, label=f"{many.loads[k]:.0f} kg")
    axes[0, 0].set(xlabel="time [s]", ylabel="|tip - rigid| [mm]", title="loads on the motion recorded with 2000 kg")
    axes[0, 0].legend(fontsize=8)
    axes[0, 1].plot(many.t, 1e3 * np.quantile(many.by_push, [0.05, 0.5, 0.95], axis=1).T, lw=1.4)
    axes[0, 1].set(xlabel="time [s]", ylabel="|tip - rigid| [mm]", title=f"{len(many.pushes)} pushes: 5, 50, 95 %")
    return figure


# ---------------------------------------------------------------------------------------------------- words
def report(turns: list[Turn], many: Cases) -> str:
    f = gs.eigenfrequencies(manipulator(), turns[0].both.superposed.nominal.q[0], locked=["yaw", "shoulder", "elbow"])
    rows = [
        (f"{x.duration:g}", f"{1e3 * x.size:.4g}", f"{x.both.turn:.2g}", *(f"{100.0 * y:.3g}" for y in x.shares),
         f"{x.both.full.counters.wall_time:.2f}")
        for x in turns
    ]  # fmt: skip
    head = ("turn [s]", "tip - rigid [mm]", "it turns [rad]", "superposed [%]", "assembled as AS [%]", "full run [s]")
    return "\n".join(
        [
            "Space manipulator [AS 2.2], two booms, 2000 kg; data are ours. Differences from the full motion with "
            "in-cut joints,\nas shares of the largest deviation of the tip from the rigid motion\n",
            table(head, rows),
            f"\nfirst frequencies, hinges held: {', '.join(f'{x:.3g}' for x in f.undamped[:4])} Hz",
            f"{len(many.pushes)} pushes on one recorded motion: {many.seconds[0]:.2f} s; {len(many.loads)} loads: "
            f"{many.seconds[1]:.2f} s\n",
            str(turns[-1].both),
        ]
    )


def main(arguments: list[str] | None = None) -> None:
    options = with_samples("space-manipulator", __doc__, 1000, "pushes, all at once", arguments)
    with Stages(len(DURATIONS) + 1, options.quiet) as stage:
        turns = [stage(f"turn of {x:g} s", lambda x=x: turn(x)) for x in DURATIONS]
        many = stage("cases", lambda: cases(options.samples))
    figures = {"turn": figure_turn(turns[3]), "agreement": figure_agreement(turns), "cases": figure_cases(many)}
    paths = [save(figure, options, f"space_manipulator_{name}") for name, figure in figures.items()]
    print(report(turns, many))
    say_figures(paths)


if __name__ == "__main__":
    main()
