"""Figures and report of a fastest motion."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gyrostat.errors import GyrostatError, nearest
from gyrostat.studies.report import Report

if TYPE_CHECKING:
    from gyrostat.studies.fastest_path.fastest_path import FastestPath

KINDS = ("phase", "motion", "torques")
SAMPLES = 1001


def plot(found: FastestPath, what: str) -> Any:
    """A figure of one kind."""
    drawn = {"phase": _phase, "motion": _motion, "torques": _torques}
    if what not in drawn:
        raise GyrostatError(f"plot: what must be one of {', '.join(KINDS)}, got {what!r}. Hint: {nearest(what, KINDS)}")
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.5, 4.8), layout="constrained")
    drawn[what](found, figure)
    return figure


def _phase(found: FastestPath, figure: Any) -> None:
    ax = figure.subplots()
    most = np.sqrt(found.most)
    top = 1.6 * found.sdot.max()
    ax.fill_between(found.s, np.minimum(most, top), top, color="0.9", lw=0.0, label="from here the end is out of reach")
    ax.plot(found.s, found.sdot, lw=2.0, color="C0", label="fastest motion")
    for switch in found.switching:
        y = float(found.at(switch.s)[1])
        ax.plot(switch.s, y, "o", ms=5, color="C3")
        ax.annotate(
            f"{switch.before[:3]}|{switch.after[:3]}", (switch.s, y), (3, 6), textcoords="offset points", size=8
        )
    ax.set(xlabel="s", ylabel="s' [1/s]", ylim=(0.0, top), title=f"{found.duration:.5g} s")
    ax.legend(loc="lower center")


def _motion(found: FastestPath, figure: Any) -> None:
    t = np.linspace(0.0, found.duration, SAMPLES)
    motion = np.moveaxis(found.trajectory.derivatives(t, 2), -2, 0)
    axes = figure.subplots(3, 1, sharex=True)
    for ax, y, label in zip(axes, motion, ("q", "v", "a"), strict=True):
        for k, name in enumerate(found.study.model.dofs):
            ax.plot(t, y[:, k], lw=1.3, label=name)
        ax.set_ylabel(label)
    axes[0].legend(ncols=min(7, len(found.study.model.dofs)), fontsize=7)
    axes[-1].set_xlabel("time [s]")


def _torques(found: FastestPath, figure: Any) -> None:
    t = np.linspace(0.0, found.duration, SAMPLES)
    rows = found.study.rows.torques
    tau = found.torques(t) @ rows.S.T
    sizes = np.abs(rows.at_rest).min(axis=1) if len(rows.rows) else np.zeros(0)
    ax = figure.subplots()
    for k, row in enumerate(rows.rows):
        size = sizes[k] if 0.0 < sizes[k] < 1e29 else np.abs(tau[:, k]).max()
        ax.plot(t, tau[:, k] / size, lw=1.2, label=row.name)
    for limit in (-1.0, 1.0):
        ax.axhline(limit, color="0.3", lw=0.9, ls="--")
    ax.set(xlabel="time [s]", ylabel="torque / limit at standstill")
    ax.legend(ncols=4, fontsize=7)


def report(found: FastestPath) -> Report:
    """Duration, switches, use of the limits, what was checked."""
    study = found.study
    made = Report(f"Fastest path of {study.model.name}")
    N, P = len(found.u), study.points + 1
    made.text(f"{found.duration:.6g} s along the path, in {len(found.switching)} switches.")
    more = study.points * (1 + study.check)
    made.text(
        f"Limits hold at {P} points of each of {N} intervals by construction, and between them by margins from how far "
        f"torques leave their chords; after {found.passes} passes nothing exceeded at {more} more points of each "
        f"interval (closest: {found.excess:.1e} of a limit). This is a check, not a proof."
    )
    rows = [(w.s, w.t, w.before, w.after, w.limit) for w in found.switching]
    made.heading("Switching structure").table(("s", "t [s]", "before", "after", "limit"), rows)
    made.figure(plot(found, "phase"), "Speed along the path, and what cannot be left any more")
    use, active = found._use, np.array(found.active)
    shares = []
    for k, name in enumerate(study.rows.names):
        here = [a == name or (name == "speed" and a.startswith("speed of")) for a in active]
        shares.append((name, float(use[:, k].max()), float(np.mean(here))))
    made.heading("Limits").table(("limit", "greatest use", "share of intervals"), shares)
    made.figure(plot(found, "motion"), "Motion").figure(plot(found, "torques"), "Torques")
    return made
