"""How well a set of poses shows what is unknown, before anything is measured.

With the singular values s_1 >= ... >= s_r of the whitened Jacobian in the directions that are identified, and n poses:

    O1 = (s_1 ... s_r)^(1/r) / sqrt(n)    [Borm, Menq]      volume of the ellipsoid: D-optimality
    O2 = s_r / s_1                        [Driels, Pathre]  condition
    O3 = s_r                              [Nahvi et al.]    the weakest direction: E-optimality
    O4 = s_r^2 / s_1                      [Nahvi, Hollerbach]  noise amplification
    O5 = 1 / (1/s_1 + ... + 1/s_r)        [Sun, Hollerbach] sum of deviations, near A-optimality

All are to be large. Columns are scaled by how large an error of each unknown may be, so that units do not matter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gyrostat.errors import GyrostatError, clipped, nearest
from gyrostat.spec.model import Model
from gyrostat.studies.calibration.equations import Equations
from gyrostat.studies.calibration.identifiability import open_directions, open_in_words
from gyrostat.studies.calibration.measurement import Measurement
from gyrostat.studies.study_data import StudyData

Array = np.ndarray
CRITERIA = ("D", "O1", "O2", "O3", "O4", "O5")


@dataclass(frozen=True, eq=False)
class Observability(StudyData):
    """``O1`` ... ``O5`` (see :mod:`.observability`), ``singular_values`` (n,), and per unknown (``parameters``) the
    standard deviation that a calibration will have; ``unidentifiable`` in words."""

    O1: float
    O2: float
    O3: float
    O4: float
    O5: float
    singular_values: Array
    parameters: tuple[str, ...]
    standard_deviations: Array
    unidentifiable: tuple[str, ...]


def observability(
    model: Model, measurements: Measurement | Sequence[Measurement], parameters: Sequence[str] | Mapping[str, Any]
) -> Observability:
    """Of measurements that are planned (without numbers) or made, at the model as it is."""
    given = (measurements,) if isinstance(measurements, Measurement) else tuple(measurements)
    return judged(Equations(model, given, parameters, "observability"))


def judged(equations: Equations, within: Array | None = None) -> Observability:
    """Of equations at their start; O1 ... O5 in the directions ``within`` (n, r), by default in what is identified."""
    x = equations.start()
    J = equations.jacobian(x)
    N, S = open_directions(J)
    identified = len(S) - N.shape[1]
    s = S[:identified] if within is None else np.linalg.svd(J @ within, compute_uv=False)[: within.shape[1]]
    poses = sum(m.count for m in equations.measurements)
    B = np.linalg.svd(J)[2][:identified].T
    deviations = np.sqrt(np.sum((B / S[:identified]) ** 2, axis=1)) * np.abs(equations.native_slopes(x))
    return Observability(
        *(float(value(name, s[None], poses)[0]) for name in CRITERIA[1:]),
        singular_values=S,
        parameters=tuple(c.name for c in equations.columns),
        standard_deviations=deviations,
        unidentifiable=open_in_words(N, J, equations.columns),
    )


def value(criterion: str, s: Array, poses: int) -> Array:
    """(b,) of singular values (b, r), largest first."""
    if not s.shape[1]:
        return np.zeros(len(s))
    s = np.maximum(s, 1e-300)
    if criterion in ("D", "O1"):
        return np.exp(np.mean(np.log(s), axis=1)) / np.sqrt(poses)
    if criterion == "O2":
        return s[:, -1] / s[:, 0]
    if criterion == "O3":
        return s[:, -1]
    if criterion == "O4":
        return s[:, -1] ** 2 / s[:, 0]
    return 1.0 / np.sum(1.0 / s, axis=1)


def read_criterion(criterion: object, who: str) -> str:
    if not isinstance(criterion, str) or criterion not in CRITERIA:
        raise GyrostatError(
            f"{who}: criterion must be one of {', '.join(CRITERIA)}, got {clipped(criterion)}. "
            f"Hint: {nearest(str(criterion), CRITERIA)}"
        )
    return criterion
