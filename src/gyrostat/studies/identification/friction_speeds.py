"""The speeds of friction, in which torques are not linear: where the sign is rounded, and where sticking has gone.

    d tau / d log s   = -(w/s) sech^2(w/s) (c + d sign(w) + e exp(-(w/w_s)^2))
    d tau / d log w_s = 2 (w/w_s)^2 e s(w) exp(-(w/w_s)^2)

Gauss-Newton beside all other unknowns. Edges of Coulomb friction are most of what is left of a small joint's torque."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gyrostat.studies.identification.measured_run import MeasuredRun
from gyrostat.studies.identification.sought import SMOOTH, STRIBECK
from gyrostat.studies.identification.torque_fit import Fit
from gyrostat.studies.identification.torque_terms import ShaftTerms

Array = np.ndarray
STEPS, LONGEST, SETTLED = 6, 0.7, 0.02
RANGE = (0.05, 8.0)
"""Of the usual speeds."""


def fitted_speeds(task: Fit, terms: tuple[str, ...], x: Array, W: Array) -> None:
    """Speeds of the shafts whose friction is new, moved to the best ones at the estimate x; columns follow."""
    if "coulomb" not in terms:
        return
    for _ in range(STEPS):
        kinds = [
            (k, key) for k, s in enumerate(task.columns.shafts) for key in s.free if key == "smooth" or key in terms
        ]
        if not kinds:
            return
        G = np.stack([_column(task, k, key, x, terms) for k, key in kinds], axis=2)
        at = task.columns_of(terms)
        A = np.concatenate([task.A[:, :, at], G], axis=2)
        Aw = np.einsum("ij,tjk->tik", W, A).reshape(-1, A.shape[2])
        size = np.einsum("ij,tj->ti", W, task.b)
        prior = np.r_[task.prior.H[at], np.ones(len(kinds))]  # a factor of e either way is likely
        H, g = Aw.T @ Aw + np.diag(prior), Aw.T @ size.ravel() + np.r_[task.prior.g[at], np.zeros(len(kinds))]
        d = np.sqrt(np.diag(H))
        solution = np.linalg.lstsq(H / np.outer(d, d), g / d, rcond=1e-14)[0] / d
        step = np.clip(solution[len(at) :], -LONGEST, LONGEST)
        x = x.copy()
        x[at] = solution[: len(at)]
        shafts = list(task.columns.shafts)
        for (k, key), by in zip(kinds, step, strict=True):
            shafts[k] = _moved(shafts[k], key, float(by))
        task.reshape(tuple(shafts), terms)
        if np.abs(step).max() < SETTLED:
            return


def _moved(shaft: ShaftTerms, key: str, step: float) -> ShaftTerms:
    usual = shaft.usual * (SMOOTH if key == "smooth" else STRIBECK)
    value = float(np.clip(getattr(shaft, key) * np.exp(step), RANGE[0] * usual, RANGE[1] * usual))
    return replace(shaft, **{key: value})


def _column(task: Fit, k: int, key: str, x: Array, terms: tuple[str, ...]) -> Array:
    """(T, rows): d tau / d log speed of a shaft."""
    shaft, places = task.columns.shafts[k], task.columns.places
    c, d, e = (float(x[places[t]][k]) if t in terms else 0.0 for t in ("coulomb", "asymmetric", "stribeck"))

    def column(run: MeasuredRun) -> Array:
        w = shaft.rate(run.v)
        fade = np.exp(-((w / shaft.stribeck) ** 2))
        if key == "stribeck":
            torque = 2.0 * (w / shaft.stribeck) ** 2 * e * shaft.sign(w) * fade
        else:
            z = np.clip(w / (shaft.smooth or 1.0), -30.0, 30.0)
            torque = -z / np.cosh(z) ** 2 * (c + d * np.sign(w) + e * fade)
        return run.smoothed(shaft.column(torque, task.columns.bare.nv))[:, task.rows, 0]

    return np.concatenate([column(run) for run in task.runs])
