"""The report of a calibration: what was found, how certain it is, and the errors before and after."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gyrostat.studies.calibration.identifiability import amount
from gyrostat.studies.report import Report

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from gyrostat.studies.calibration.result import CalibrationResult

Array = np.ndarray


def calibration_report(result: CalibrationResult) -> Report:
    report = Report(f"Calibration of {result.model.name}")
    poses = sum(m.count for m in result.study.measurements)
    report.text(
        f"{len(result.parameters)} unknowns from {poses} poses in {result.iterations} iterations: {result.message}. "
        f"Sum of squares {result.chi2:.6g} for {result.freedom} degrees of freedom ({result.variance_factor:.3g}; 1 if "
        "model and noise are as stated)."
    )
    report.heading("Errors")
    report.table(
        ("measurement", "numbers", "rms before", "rms after", "unit", "largest after", "left out"), _errors(result)
    )
    report.figure(residual_figure(result), "Residuals at every pose, before and after, logarithmic")
    report.heading("Not identified")
    for sentence in result.unidentifiable or ("All unknowns are identified.",):
        report.text(sentence)
    report.heading("Parameters").table(
        ("parameter", "before", "after", "unit", "standard deviation", "95 %", "determined"), _parameters(result)
    )
    return report.figure(parameter_figure(result), "Changes in parts of their standard deviations")


def _errors(result: CalibrationResult) -> list[tuple[Any, ...]]:
    rows = []
    for m in result.study.measurements:
        seen, left = m.visible(), result.cross_validation
        before, after = result.residuals_before[m.name][seen], result.residuals[m.name][seen]
        rows.append(
            (m.name, int(seen.sum()), rms(before), rms(after), m.unit if m.what != "poses" else "rad, m",
             float(np.abs(after).max(initial=0.0)), "-" if left is None else f"{left[m.name]:.3g} of the noise")
        )  # fmt: skip
    return rows


def _parameters(result: CalibrationResult) -> list[tuple[Any, ...]]:
    rows = []
    bands = result.confidence()
    for k, name in enumerate(result.parameters):
        deviation = float(result.standard_deviations[k])
        band = f"{bands[k, 0]:.6g} ... {bands[k, 1]:.6g}"
        known = "yes" if result.determined[k] else "no"
        rows.append(
            (name, f"{result.initial[k]:.8g}", f"{result.values[k]:.8g}", result.units[k],
             amount(deviation, result.units[k]), band, known)
        )  # fmt: skip
    return rows


def rms(x: Array) -> float:
    return float(np.sqrt(np.mean(x * x))) if x.size else 0.0


def residual_figure(result: CalibrationResult) -> Figure:
    """Length of the residuals at every pose, by measurement."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    measurements = result.study.measurements
    figure = Figure(figsize=(8.0, 2.6 * len(measurements)), layout="constrained")
    FigureCanvasAgg(figure)
    for axes, m in zip(figure.subplots(len(measurements), 1, squeeze=False)[:, 0], measurements, strict=True):
        seen = m.visible()
        for label, table, marker in (("before", result.residuals_before, "o"), ("after", result.residuals, ".")):
            size = np.sqrt(np.sum(np.where(seen, table[m.name], 0.0) ** 2, axis=1))
            axes.semilogy(np.maximum(size, 1e-12), marker, label=label)
        axes.set(xlabel="pose", ylabel=f"{m.name} [{m.unit}]")
        axes.grid(alpha=0.3)
        axes.legend()
    return figure


def parameter_figure(result: CalibrationResult) -> Figure:
    """(after - before) / standard deviation of what is determined."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    at = [k for k in range(len(result.values)) if result.determined[k] and result.standard_deviations[k] > 0.0]
    ratio = (result.values - result.initial)[at] / result.standard_deviations[at]
    figure = Figure(figsize=(8.0, 1.2 + 0.22 * max(len(at), 1)), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    axes.barh(range(len(at)), ratio, color="C0")
    axes.set_yticks(range(len(at)), [result.parameters[k] for k in at], fontsize=8)
    axes.set_xscale("symlog", linthresh=3.0)
    axes.axvspan(-2.0, 2.0, color="0.9")
    axes.set_xlabel("change / standard deviation (grey: not different from zero)")
    axes.invert_yaxis()
    return figure
