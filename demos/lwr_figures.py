"""Figures of the experiment WM15 4.2-4.4."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

import gyrostat as gs
from demos.lwr_problem import DIFFERENCES, DURATION, TABLE, desired
from demos.lwr_study import Differences, Row, Torques, law_torques, tracking
from demos.options import subplots

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLOURS = {"bdf": "tab:blue", "radau": "tab:orange", "cvode": "tab:green", "ida": "tab:red"}
MARKS = {"bdf": "o", "radau": "s", "cvode": "^", "ida": "D"}
LABELS = {"ida": "ida (residuals)"}
TIME = "time [s]"
Array = np.ndarray


def torque_figure(inverse: Torques, motion: gs.Result) -> Figure:
    """Torques by inverse dynamics along the programmed motion, and those of the laws (32) [WM15 Fig. 5]."""
    figure, axes = subplots(2, 4, (12, 5.6), sharex=True)
    tau = law_torques(motion)
    for j, ax in enumerate(axes.flat[:7]):
        ax.plot(inverse.t, inverse.tau[:, j], lw=2.4, color="0.65", label="inverse dynamics, (28)")
        ax.plot(motion.t[1:], tau[1:, j], lw=1.1, color="tab:blue", label="PD laws, (32)")
        ax.axvline(DURATION / 2, color="0.3", lw=0.7, ls=":", label="axis of symmetry")
        ax.set_title(f"joint {j + 1}", fontsize=10)
        ax.set_xticks((0.0, 3.5, 7.0, 10.5, 14.0), ("0", "3.5", "7", "10.5", "14"))
        if j >= 3:
            ax.set_xlabel(TIME)
            ax.xaxis.set_tick_params(labelbottom=True)
    for ax in axes[:, 0]:
        ax.set_ylabel("torque [N m]")
    axes[1, 3].axis("off")
    axes[1, 3].legend(*axes[0, 0].get_legend_handles_labels(), loc="center", frameon=False)
    figure.suptitle("KUKA LWR 4+: torques for q = pi/2 cos(pi t / 7) in every joint")
    return figure


def motion_figure(motion: gs.Result) -> Figure:
    """Joint 1 [WM15 Figs. 6, 8, 10], and what the laws leave of the programmed motion in all joints."""
    figure, axes = subplots(2, 2, (10, 6.4), sharex=True)
    names = (r"$q_1$ [rad]", r"$\dot q_1$ [rad/s]", r"$\ddot q_1$ [rad/s$^2$]")
    for ax, name, wanted, got in zip(axes.flat, names, desired(motion.t), (motion.q, motion.v, motion.a), strict=False):
        ax.plot(motion.t, wanted[:, 0], lw=2.6, color="0.7", label="programmed")
        ax.plot(motion.t[1:], got[1:, 0], lw=1.1, color="tab:blue", label="simulated, from t = 0.1 s")
        ax.set_ylabel(name)
    axes[0, 0].legend(fontsize=8)
    last = axes[1, 1]
    last.plot(motion.t, 1e3 * tracking(motion), lw=1.2, label=[f"joint {j}" for j in range(1, 8)])
    last.set_ylabel(r"$q_j - q_{dj}$ [mrad]")
    last.legend(ncols=4, fontsize=7, loc="upper center", bbox_to_anchor=(0.5, 1.16), framealpha=1.0)
    for ax in axes[1]:
        ax.set_xlabel(TIME)
    figure.suptitle("KUKA LWR 4+ under independent PD laws, bdf at 1e-6")
    return figure


def difference_figure(differences: Sequence[Differences], exact: Sequence[Differences]) -> Figure:
    """Differences against Exudyn over time for its smallest step [WM15 Figs. 7, 9, 11], and over its step."""
    figure, axes = subplots(2, 2, (10, 6.8))
    best = differences[-1]
    names = (r"$|\delta q|$ [rad]", r"$|\delta \dot q|$ [rad/s]", r"$|\delta \ddot q|$ [rad/s$^2$]")
    for ax, name, delta, limit in zip(axes.flat, names, best.delta, DIFFERENCES, strict=False):
        for j in range(7):
            ax.semilogy(best.t[1:], np.maximum(delta[1:, j], 1e-12), lw=0.9, label=f"joint {j + 1}")
        ax.axhline(limit, color="k", ls="--", lw=1.0, label="ADAMS and Scilab, WM15")
        ax.set_ylabel(name)
        ax.set_xlabel(TIME)
        ax.set_ylim(limit * (1e-7 if ax is not axes[1, 0] else 1e-5), limit * 4)
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=8, fontsize=8)
    _refinement(axes[1, 1], exact)
    figure.suptitle(f"gyrostat (bdf, 1e-6) against Exudyn (Cartesian DAE, step {1e3 * best.step:g} ms)")
    return figure


def _refinement(ax: Any, exact: Sequence[Differences]) -> None:
    steps = np.array([x.step for x in exact])
    size = np.array([x.largest[:2] for x in exact])
    ax.loglog(1e3 * steps, size[:, 0], "o-", color="tab:blue", label=r"$|\delta q|$ [rad]")
    ax.loglog(1e3 * steps, size[:, 1], "s--", color="tab:orange", mfc="none", ms=9, label=r"$|\delta \dot q|$ [rad/s]")
    ax.loglog(1e3 * steps, 0.4 * size[0, 0] * (steps / steps[0]) ** 2, "k:", label="slope 2")
    ax.set_xticks(1e3 * steps, [f"{1e3 * h:g}" for h in steps])
    ax.xaxis.minorticks_off()
    ax.set_ylim(1e-7, 1e-3)
    ax.set_xlabel("step of Exudyn [ms]")
    ax.set_ylabel("largest difference to radau at 1e-11")
    ax.legend(fontsize=8)


def evaluation_figure(rows: Sequence[Row]) -> Figure:
    """Evaluations over tolerance, next to WM15 Table 1, and whether the tolerance is kept."""
    figure, (axes,) = subplots(1, 2, (11, 4.6))
    left, right = axes
    for name in dict.fromkeys(row.method for row in rows):
        mine = [row for row in rows if row.method == name]
        tolerances = [row.tolerance for row in mine]
        style = {
            "color": COLOURS.get(name),
            "marker": MARKS.get(name, "v"),
            "ms": 5,
            "lw": 1.4,
            "label": LABELS.get(name, name),
        }
        left.loglog(tolerances, [row.evaluations for row in mine], **style)
        right.loglog(tolerances, [row.errors[0] for row in mine], **style)
    for program, counts in TABLE.items():
        scilab = program.startswith("Scilab")
        label = "WM15 Table 1: Scilab BDF" if scilab else "WM15 Table 1: ADAMS" if "GSTIFF SI2" in program else None
        style = {"color": "k", "ms": 11} if scilab else {"color": "0.55", "ms": 6}
        left.loglog((1e-6, 1e-3), counts, ls="none", marker="*" if scilab else "x", label=label, **style)
    ends = np.array([min(row.tolerance for row in rows), max(row.tolerance for row in rows)])
    right.loglog(ends, ends, "k--", lw=1.0, label="error = tolerance")
    left.set_yticks((200, 500, 1000, 2000, 5000), ("200", "500", "1000", "2000", "5000"))
    left.yaxis.minorticks_off()
    left.set_ylabel("evaluations of the right-hand side, 14 s")
    right.set_ylabel("largest error of any joint [rad]")
    for ax in axes:
        ax.set_xlabel("tolerance, relative and absolute")
        ax.invert_xaxis()
        ax.legend(fontsize=8)
    return figure


def wall_figure(courses: Mapping[tuple[str, float], gs.Result], bodies: Sequence[tuple[Row, Array]] = ()) -> Figure:
    """Wall time over simulated time at two tolerances [WM15 Fig. 12], and by Exudyn with two steps [Fig. 13]."""
    tolerances = list(dict.fromkeys(tolerance for _, tolerance in courses))
    count = len(tolerances) + bool(bodies)
    figure, (axes,) = subplots(1, count, (5.5 * count, 4.2))
    for ax, tolerance in zip(axes, tolerances, strict=False):
        for (name, of), course in courses.items():
            if of == tolerance:
                ax.plot(course.t, 1e3 * course.wall, color=COLOURS.get(name), lw=1.4, label=name)
        ax.set_title(f"tolerance $10^{{{round(np.log10(tolerance))}}}$", fontsize=10)
    for (row, course), colour in zip(bodies, ("tab:purple", "tab:brown"), strict=False):
        label = f"step {1e3 * row.tolerance:g} ms, {row.errors[0]:.0e} rad"
        axes[-1].plot(course[:, 0], 1e3 * course[:, 1], color=colour, lw=1.4, label=label)
        axes[-1].set_title("Exudyn, Cartesian coordinates", fontsize=10)
    for ax in axes:
        ax.set_xlabel("simulated time [s]")
        ax.set_xlim(-0.3, DURATION)
        ax.set_ylim(bottom=0.0)
        ax.legend(fontsize=8)
    axes[0].set_ylabel("wall time [ms]")
    return figure
