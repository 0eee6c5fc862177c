"""Figures and the page of an optimal motion."""

from __future__ import annotations

from typing import Any

import numpy as np

from gyrostat.studies.report import Report

MANY = 12
"""Lines with a legend."""


def figure_of(motion: Any) -> Any:
    """Coordinates, rates, controls over time, and, with refined grids, error and change of the cost by points."""
    from matplotlib.figure import Figure

    refined = len(motion.refinements) > 1
    figure = Figure(figsize=(8.0, 8.5 if refined else 6.5), layout="constrained")
    axes = figure.subplots(4 if refined else 3, 1)
    dofs = motion.problem.phases[0].model.dofs
    for k, p in enumerate(motion.phases):
        for ax, rows, names in ((axes[0], p.xi, dofs), (axes[1], p.v, dofs), (axes[2], p.u, p.controls)):
            ax.set_prop_cycle(None)
            lines = ax.plot(p.t, rows, linewidth=1.2)
            if k == 0 and len(names) <= MANY:
                ax.legend(lines, names, fontsize="x-small", ncols=4)
            if k:
                ax.axvline(p.t[0], color="0.7", linewidth=0.8)
    for ax, text in zip(axes, ("coordinates [rad, m]", "rates", "controls [N m, N]"), strict=False):
        ax.set_ylabel(text)
    axes[2].set_xlabel("t [s]")
    if refined:
        table = motion.refinements
        axes[3].loglog(table[:, 0], table[:, 2], "o-", label="error of the states")
        axes[3].loglog(table[:, 0], np.maximum(table[:, 3], 1e-300), "s--", label="error of the cost, estimated")
        axes[3].set_xlabel("points")
        axes[3].legend(fontsize="x-small")
    return figure


def report_of(motion: Any) -> Report:
    """What was asked, what came out, how sure it is."""
    study = motion.problem
    failed = "" if motion.converged else " (NOT CONVERGED)"
    report = Report(f"Optimal motion of {study.phases[0].model.name}{failed}")
    state = "Converged" if motion.converged else f"NOT CONVERGED, this is where the search ended: {motion.message}"
    report.text(
        f"{state}. Cost {motion.cost:.8g}, error estimated {motion.cost_error:.1e}; states are off by at most "
        f"{motion.error:.1e} of their range plus one over an interval; conditions are violated "
        f"by {motion.violation:.1e}. "
        f"{motion.variables} variables, {motion.equations} conditions, {motion.iterations} iterations of Ipopt in "
        f"{motion.seconds:.2f} s, of which functions and derivatives {motion.seconds_in_functions:.2f} s."
    )
    rows = [
        (p.name, len(p.t), p.duration, ", ".join(p.forces) or "none", float(p.error.max(initial=0.0)))
        for p in motion.phases
    ]
    report.heading("Phases").table(("phase", "points", "duration [s]", "contacts", "error"), rows)
    if motion.parameters:
        report.heading("Parameters").table(("name", "value"), list(motion.parameters.items()))
    heads = ("points", "cost", "error of the states", "error of the cost", "iterations", "seconds")
    grids = [(int(r[0]), *map(float, r[1:4]), int(r[4]), float(r[5])) for r in motion.refinements]
    report.heading("Grids").table(heads, grids)
    return report.figure(figure_of(motion), "The motion")
