"""The response in frequency that was measured: from signals in time, by averaged spectra.

    H_1(f) = S_uy(f) / S_uu(f),   coherence = |S_uy|^2 / (S_uu S_yy)

Noise of the output averages out; noise of the input makes H_1 smaller, which the coherence tells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gyrostat.configuration.packing import real_array
from gyrostat.errors import GyrostatError, NonFiniteError, ShapeError
from gyrostat.studies.study_data import StudyData

Array = np.ndarray
WHO = "measured_response"


@dataclass(frozen=True, eq=False)
class MeasuredResponse(StudyData):
    """``hz`` (F,), ``real``, ``imaginary`` (F,) of H; ``coherence`` (F,) between 0 and 1; ``averages``: segments."""

    hz: Array
    real: Array
    imaginary: Array
    coherence: Array
    averages: int

    @property
    def H(self) -> Array:
        """(F,) complex."""
        return self.real + 1j * self.imaginary


def measured_response(
    t: Any, u: Any, y: Any, *, band: tuple[float, float], resolution: float | None = None
) -> MeasuredResponse:
    """H from ``u`` (T,) to ``y`` (T,) at evenly spaced ``t`` (T,) [s], between the frequencies ``band`` [Hz].
    ``resolution`` [Hz]: distance of the frequencies; by default a quarter of the lowest, at least 8 segments."""
    try:
        from scipy.signal import csd, welch
    except ImportError:
        raise GyrostatError(f"{WHO}: needs scipy. Hint: pip install 'gyrostat[studies]'") from None
    t, u, y = (real_array(x, WHO, name) for name, x in (("t", t), ("u", u), ("y", y)))
    if t.ndim != 1 or len(t) < 64 or u.shape != t.shape or y.shape != t.shape:
        raise ShapeError(f"{WHO}: t, u, y have shapes {t.shape}, {u.shape}, {y.shape}, expected (T,) each, T >= 64")
    if not all(np.isfinite(x).all() for x in (t, u, y)):
        raise NonFiniteError(f"{WHO}: t, u and y must be finite. Hint: leave gaps out")
    dt = float(np.median(np.diff(t)))
    if dt <= 0.0 or np.abs(np.diff(t) - dt).max() > 1e-3 * dt:
        raise GyrostatError(f"{WHO}: samples are not evenly spaced. Hint: np.interp brings them to np.arange(T) * dt")
    low, high = float(band[0]), float(band[1])
    if not 0.0 < low < high <= 0.5 / dt:
        raise GyrostatError(f"{WHO}: band must be 0 < low < high <= {0.5 / dt:g} Hz, got {band}.")
    step = low / 4.0 if resolution is None else float(resolution)
    size = min(max(32, round(1.0 / (step * dt))), len(t))
    if resolution is None:
        size = min(size, len(t) // 4)
    asked = {"fs": 1.0 / dt, "nperseg": size, "noverlap": size // 2, "detrend": "linear"}
    f, S_uy = csd(u, y, **asked)
    _, S_uu = welch(u, **asked)
    _, S_yy = welch(y, **asked)
    inside = (f >= low) & (f <= high)
    if not inside.any() or not np.all(S_uu[inside] > 0.0):
        raise GyrostatError(f"{WHO}: u has no power in the band {low:g} to {high:g} Hz. Hint: a sweep or noise there")
    H = S_uy[inside] / S_uu[inside]
    top = S_uu[inside] * S_yy[inside]
    gamma = np.abs(S_uy[inside]) ** 2 / np.where(top > 0.0, top, 1.0)
    averages = 1 + (len(t) - size) // max(1, size - size // 2)
    return MeasuredResponse(f[inside], H.real, H.imag, np.clip(gamma, 0.0, 1.0), averages)
