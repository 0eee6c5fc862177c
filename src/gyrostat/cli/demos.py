"""The demonstrations: each computes a table and curves, from robots in the wheel alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import gyrostat as gs

Array = np.ndarray


@dataclass(frozen=True)
class Experiment:
    """A table, a sentence about it, and curves y (n, m) over x (n,) with their names."""

    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[float]]
    remark: str
    x: Array
    y: Array
    names: Sequence[str]
    labels: tuple[str, str]


def lwr() -> Experiment:
    """Torques of a KUKA LWR 4+ whose joints all follow pi/2 cos(pi t / 7)."""
    model = gs.robots.kuka_lwr4()
    t, w = np.linspace(0.0, 14.0, 701), np.pi / 7.0
    q, v, a = (
        np.repeat(x[:, None], model.nv, axis=1)
        for x in (
            np.pi / 2 * np.cos(w * t),
            -np.pi / 2 * w * np.sin(w * t),
            -np.pi / 2 * w**2 * np.cos(w * t),
        )
    )
    tau = gs.rnea(model, q, v, a)
    off = np.abs(tau - tau[::-1]).max()
    return Experiment(
        "KUKA LWR 4+: torques [N m]",
        ("t [s]", *model.dofs),
        np.column_stack([t, tau])[::100].tolist(),
        f"The torques are symmetric about t = 7 s: they differ by {off:.1e} N m.",
        t,
        tau,
        model.dofs,
        ("time [s]", "torque [N m]"),
    )


def pendulum() -> Experiment:
    """A rod swings for ten seconds: forward dynamics, integrated by Runge-Kutta, keeps its energy."""
    model = gs.robots.pendulum()
    h, n = 0.005, 2000
    q, v = np.array([2.0]), np.zeros(1)
    motion = np.empty((n + 1, 2))
    for k in range(n + 1):
        motion[k] = q[0], v[0]
        q, v = _step(model, q, v, h)
    t = h * np.arange(n + 1)
    energy = gs.kinetic_energy(model, motion[:, :1], motion[:, 1:]) + gs.potential_energy(model, motion[:, :1])
    drift = np.abs(energy - energy[0]).max()
    return Experiment(
        "pendulum: angle [rad], rate [rad/s], energy [J]",
        ("t [s]", "angle", "rate", "energy"),
        np.column_stack([t, motion, energy])[::200].tolist(),
        f"The energy stays within {drift:.1e} J.",
        t,
        motion,
        ("angle [rad]", "rate [rad/s]"),
        ("time [s]", "angle, rate"),
    )


def _step(model: gs.Model, q: Array, v: Array, h: float) -> tuple[Array, Array]:
    """One step of the classical Runge-Kutta method, free of torques; for coordinates that are plain numbers."""

    def rate(q: Array, v: Array) -> tuple[Array, Array]:
        return v, gs.aba(model, q, v, np.zeros(model.nv))

    v1, a1 = rate(q, v)
    v2, a2 = rate(q + h / 2 * v1, v + h / 2 * a1)
    v3, a3 = rate(q + h / 2 * v2, v + h / 2 * a2)
    v4, a4 = rate(q + h * v3, v + h * a3)
    return q + h / 6 * (v1 + 2 * v2 + 2 * v3 + v4), v + h / 6 * (a1 + 2 * a2 + 2 * a3 + a4)


def load() -> Experiment:
    """What a heavier load costs a hydraulic manipulator: holding torques over the load."""
    weights = np.linspace(0.0, 4000.0, 9)
    q = [0.0, 0.6, -0.9, 0.3, 0.0]
    tau = np.array([gs.gravity(gs.robots.hydraulic_manipulator(load=max(w, 1e-3)), q) for w in weights])
    names = gs.robots.hydraulic_manipulator().dofs
    slope = (tau[-1] - tau[0]) / (weights[-1] - weights[0])
    return Experiment(
        "hydraulic manipulator: torques [N m] that hold a load",
        ("load [N]", *names),
        np.column_stack([weights, tau]).tolist(),
        f"Each newton of load costs joint {names[1]} {slope[1]:.3f} N m.",
        weights,
        tau,
        names,
        ("load [N]", "torque [N m]"),
    )


DEMOS: dict[str, Callable[[], Experiment]] = {"lwr": lwr, "pendulum": pendulum, "load": load}


def draw(experiment: Experiment, path: Path) -> None:
    """The curves, as a PNG."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 5), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    for k, name in enumerate(experiment.names):
        axes.plot(experiment.x, experiment.y[:, k], lw=1.5, label=name)
    axes.set_xlabel(experiment.labels[0])
    axes.set_ylabel(experiment.labels[1])
    axes.set_title(experiment.title)
    axes.grid(alpha=0.3)
    axes.legend(ncols=2)
    figure.savefig(path, dpi=120)
