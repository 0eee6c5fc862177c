"""The report of an identification: an engineer hands it on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gyrostat.studies.identification.pseudo_inertia import mass_properties
from gyrostat.studies.report import Report

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from gyrostat.studies.identification.measured_run import MeasuredRun

MOST = 24
"""Joints that are drawn."""


def identification_report(found: Any) -> Report:
    """Of :class:`~gyrostat.studies.identification.identification.Identification`."""
    report = Report(f"Identification of {found.before.name}")
    samples, length = (
        sum(len(range(len(r.t))[r.inner]) for r in found.runs),
        sum(float(r.t[-1] - r.t[0]) for r in found.runs),
    )
    runs = f"{len(found.runs)} run{'s' * (len(found.runs) > 1)}, {length:.4g} s, {samples} samples after thinning"
    report.text(f"{runs}. Terms: inertias, {', '.join(found.terms) or 'nothing else'}. {found.message}.")
    if found.outside:
        report.text(f"Not in the model, only in .torques: {', '.join(found.outside)}.")
    for note in found.notes:
        report.text(f"Note: {note}.")
    _torques(report, found)
    _folds(report, found)
    _terms(report, found)
    _base(report, found)
    _inertias(report, found)
    return report


def _torques(report: Report, found: Any) -> None:
    tau = np.concatenate([r.tau for r in found.runs])
    size = np.sqrt(np.mean(tau**2, axis=0))
    rows = [
        (name, s, e, 100.0 * e / s if s else 0.0)
        for name, s, e in zip(found.model.dofs, size, found.noise, strict=True)
    ]
    report.heading("Torques").table(("joint", "rms [N m, N]", "left over", "%"), rows, "rms over the fitted runs")
    for k, run in enumerate(found.runs[:3]):
        label = f"run {k + 1}: measured, identified with two standard deviations, and what is left"
        report.figure(torque_figure(found, run), label)


def torque_figure(found: Any, run: MeasuredRun) -> Figure:
    """Measured and predicted torques over time, one row for each joint."""
    from matplotlib.figure import Figure

    n = min(found.model.nv, MOST)
    told = found.predicted(run)
    run = told.run
    spread = found.torque_sigma(run.q, run.v, run.a, temperature=run.temperature, noise=True)
    figure = Figure(figsize=(9.0, 1.5 * n + 1.0), layout="constrained")
    step = max(1, len(run.t) // 1500)
    t = run.t[::step]
    for k, ax in enumerate(figure.subplots(n, 1, sharex=True, squeeze=False)[:, 0]):
        band = 2.0 * np.where(np.isfinite(spread[::step, k]), spread[::step, k], 0.0)
        ax.plot(t, run.tau[::step, k], color="0.6", lw=1.2, label="measured")
        ax.plot(t, told.torques[::step, k], color="C0", lw=0.9, label="identified")
        ax.fill_between(t, told.torques[::step, k] - band, told.torques[::step, k] + band, color="C0", alpha=0.2, lw=0)
        ax.plot(t, run.tau[::step, k] - told.torques[::step, k], color="C3", lw=0.7, label="left")
        ax.set_ylabel(found.model.dofs[k], fontsize=8)
    figure.axes[-1].set_xlabel("t [s]")
    figure.axes[0].legend(loc="upper right", fontsize=7, ncols=3)
    return figure


def _folds(report: Report, found: Any) -> None:
    selection = found.selection
    if len(selection.tried) < 2:
        return
    first = set(selection.tried[0])
    rows = [
        (" + ".join(t for t in terms if t not in first) or "the first terms", score, ratio.max(),
         "chosen" if terms == selection.chosen else "")
        for terms, score, ratio in zip(selection.tried, selection.scores, selection.ratios, strict=True)
    ]  # fmt: skip
    caption = f"rms of blocks that were left out, over that with {', '.join(selection.tried[0])} alone"
    report.heading("Terms by folds").table(("added", "mean", "worst joint", ""), rows, caption)


def _terms(report: Report, found: Any) -> None:
    places = found.columns.places
    sigma = dict(zip(found.base.names, found.base.sigma, strict=True))
    rows = [
        (
            name,
            float(found.x[k]),
            float(sigma[name]) if name in sigma else "-",
            "beside" if term in found.outside else "model",
        )
        for term in ("paths", *found.terms)
        for k, name in zip(range(len(found.x))[places[term]], found.columns.groups[term], strict=True)
    ]
    if rows:
        caption = (
            "units of the coordinate's torque and rate; speeds of tanh and of Stribeck's effect are in found.columns"
        )
        report.heading("Friction and other terms").table(("parameter", "value", "sigma", "in"), rows, caption)


def _base(report: Report, found: Any) -> None:
    base = found.base
    consistent = base.projection @ found.x[found._at]
    rows = [
        (name, value, sigma if seen else "not excited", z, text if len(text) < 90 else text[:86] + " ...")
        for name, value, sigma, seen, z, text in zip(
            base.names, base.values, base.sigma, base.excited, consistent, base.combinations, strict=True
        )
    ]
    caption = f"weighted least squares; condition number of the columns, scaled to unit length: {base.condition:.4g}"
    head = ("base parameter", "least squares", "sigma", "of the model", "combination")
    report.heading("Base parameters").table(head, rows, caption)


def _inertias(report: Report, found: Any) -> None:
    if not found.columns.bodies:
        return
    rows = []
    for k, (body, least) in enumerate(found.consistency.items()):
        m, c, J = mass_properties(found.x[10 * k : 10 * k + 10])
        shown = ", ".join(f"{x:.4g}" for x in np.linalg.eigvalsh(J))
        rows.append((body, found.before[f"{body}.mass"], m, ", ".join(f"{x:.4g}" for x in c), shown, least))
    caption = (
        "one of many sets with the same torques: the nearest to the model before. Physically consistent where the "
        "least eigenvalue of the scaled pseudo-inertia is positive"
    )
    head = ("body", "mass before [kg]", "mass [kg]", "centre [m]", "principal moments [kg m^2]", "least eigenvalue")
    report.heading("Inertias").table(head, rows, caption)
