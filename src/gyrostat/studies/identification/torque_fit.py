"""The weighted fit itself: weights, bilinear columns and the consistent problem, in turns."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from gyrostat.solvers.dynamics.regressor import inertial_parameters
from gyrostat.studies.identification.consistent_fit import consistent_fit
from gyrostat.studies.identification.measured_run import MeasuredRun
from gyrostat.studies.identification.pseudo_inertia import pseudo_inertia
from gyrostat.studies.identification.torque_terms import NOT_NEGATIVE, ON_SPEEDS, ShaftTerms, TorqueColumns

Array = np.ndarray
ROUNDS, SETTLED = 8, 1e-3
MASS, MOMENT = 1e-3, 1e-4
"""Least mass and least second moment of a body, in parts of those of the model."""
TILT = 0.1
"""Standard deviation of the prior of a tilt [rad]; that of other terms is ten times the torque."""


@dataclass(frozen=True)
class Prior:
    """1/2 (x - x_0)^T H (x - x_0) with H (N,) diagonal, g = H x_0; ``least`` (bodies, 4): see consistent_fit."""

    H: Array
    g: Array
    least: Array

    @classmethod
    def of(cls, columns: TorqueColumns, A: Array, b: Array, width: float) -> Prior:
        """``width``: deviation of inertias in multiples of mean mass, mean mass x radius, mean mass x radius^2."""
        x0, places, count = columns.prior(), columns.places, len(columns.bodies)
        pi = np.reshape(x0[: 10 * count], (-1, 10))
        every = inertial_parameters(columns.bare).reshape(-1, 10)
        every = every[every[:, 0] > 0.0]
        m = float(every[:, 0].mean()) if len(every) else 1.0
        r2 = float((every[:, [4, 7, 9]].sum(axis=1) / 2.0).mean()) / m if len(every) else 1.0
        r = np.sqrt(r2) if r2 > 0.0 else 0.1
        sizes = np.array([m, *[m * r] * 3, *[m * r * r] * 6])
        deviation = np.empty(len(x0))
        deviation[: 10 * count] = width * np.tile(sizes, count)
        torque, strength = np.sqrt(np.mean(b**2, axis=0)), np.sqrt(np.mean(A**2, axis=0))  # (n,), (n, N)
        for k in range(10 * count, len(x0)):
            seen = strength[:, k] > 0.0
            deviation[k] = (
                10.0 * float(np.max(torque[seen] / strength[seen, k])) if seen.any() and torque.any() else 1.0
            )
        deviation = np.where(deviation > 0.0, deviation, 1.0)
        for term in ("tilt", "load"):
            if term in places:
                deviation[places[term]] = TILT if term == "tilt" else 1.0
        by_path = places["paths"]
        deviation[by_path] = np.maximum(deviation[by_path], 10.0 * np.abs(x0[by_path]))
        least = np.empty((count, 4))
        moments = np.trace(pseudo_inertia(pi)[:, :3, :3], axis1=1, axis2=2) if count else np.zeros(0)
        least[:, :3] = (MOMENT * np.maximum(moments, 1e-3 * pi[:, 0] * r * r) / 3.0)[:, None]
        least[:, 3] = MASS * np.maximum(pi[:, 0], 1e-3 * m)
        H = 1.0 / deviation**2
        return cls(H, H * x0, least)


@dataclass
class Fit:
    """What is fitted: b = A x + e at the measured ``rows``; ``last``: the estimate that bilinear columns are of."""

    columns: TorqueColumns
    runs: tuple[MeasuredRun, ...]
    A: Array
    b: Array
    rows: Array
    prior: Prior
    weights: str
    last: Array = field(init=False)
    tilting: Array = field(init=False)

    def __post_init__(self) -> None:
        if "tilt" in self.columns.terms:  # F acts on what does not depend on the estimate, once
            parts = [np.moveaxis(r.smoothed(np.moveaxis(self.columns.tilting(r), 0, -1)), -1, 0) for r in self.runs]
            self.tilting = np.concatenate(parts, axis=1)[:, :, self.rows]
        self.refresh(self.columns.prior(), self.columns.terms)

    def refresh(self, x: Array, terms: tuple[str, ...]) -> None:
        """Columns that depend on the estimate, at x."""
        self.last, places = x, self.columns.places
        if "load" in terms:
            new = np.concatenate([run.smoothed(self.columns.load(run, x)) for run in self.runs])
            self.A[:, :, places["load"]] = new[:, self.rows]
        if "tilt" in terms:
            self.A[:, :, places["tilt"]] = np.moveaxis(self.tilting @ self.columns.inertias(x), 0, 2)

    def reshape(self, shafts: tuple[ShaftTerms, ...], terms: tuple[str, ...]) -> None:
        """Other speeds of friction: their columns anew."""
        self.columns = replace(self.columns, shafts=shafts)
        places = self.columns.places
        for term in (t for t in ON_SPEEDS if t in self.columns.terms):
            new = [r.smoothed(np.concatenate(self.columns.of(term, r), axis=2)) for r in self.runs]
            self.A[:, :, places[term]] = np.concatenate(new)[:, self.rows]
        self.refresh(self.last, tuple(t for t in terms if t == "load"))

    def columns_of(self, terms: tuple[str, ...]) -> Array:
        """Numbers of the columns of inertias, properties and these terms."""
        places = self.columns.places
        groups = ("inertias", "paths", *(t for t in self.columns.terms if t in terms))
        return np.concatenate([np.arange(self.A.shape[2])[places[g]] for g in groups]).astype(int)


def starting_weights(b: Array) -> Array:
    """1 / rms of each torque, before anything is known of its noise."""
    size = rms(b)
    top = float(size.max(initial=0.0))
    return np.diag(1.0 / np.where(size > 1e-6 * top, size, top if top > 0.0 else 1.0))


def rms(x: Array) -> Array:
    return np.sqrt(np.mean(x * x, axis=0))


def fitted(task: Fit, terms: tuple[str, ...], W: Array, who: str) -> tuple[Array, Array]:
    """x (N,) with zeros for terms that are not in the set, and the weights of its residual."""
    at, count = task.columns_of(terms), len(task.columns.bodies)
    C, c = inequalities(task.columns, terms, at)
    x = task.last
    for _ in range(ROUNDS):
        Aw = np.einsum("ij,tjk->tik", W, task.A[:, :, at]).reshape(-1, len(at))
        H = Aw.T @ Aw + np.diag(task.prior.H[at])
        g = Aw.T @ (task.b @ W.T).ravel() + task.prior.g[at]
        x = np.zeros(task.A.shape[2])
        x[at] = consistent_fit(H, g, count, task.prior.least, C, c, who)
        task.refresh(x, terms)
        new = _weights(task.A[:, :, at] @ x[at] - task.b, task.b, task.weights)
        change = float(np.max(np.abs(new - W)) / np.max(np.abs(new)))
        W = new
        if change < SETTLED:
            break
    return x, W


def _weights(residual: Array, b: Array, kind: str) -> Array:
    """W with W^T W = inverse covariance of the residual. No torque counts as known better than to 1e-4 of its rms, or
    worse than not at all: else one row after the other would be given up for the sake of the rest."""
    size = rms(b)
    top = max(float(size.max(initial=0.0)), 1e-300)
    size = np.maximum(size, 1e-6 * top)
    left = rms(residual)
    kept = np.clip(left, 1e-4 * size, size)
    if kind == "joint":
        return np.diag(1.0 / kept)
    correlation = residual.T @ residual / len(residual) / np.outer(np.maximum(left, 1e-300), np.maximum(left, 1e-300))
    correlation = 0.999 * correlation + 0.001 * np.eye(len(kept))
    return np.linalg.inv(np.linalg.cholesky(correlation)) / kept


def inequalities(columns: TorqueColumns, terms: tuple[str, ...], at: Array) -> tuple[Array, Array]:
    """C, c of C x >= c: friction brakes, rotors and springs keep their signs, |asymmetric| <= coulomb."""
    places, N = columns.places, len(columns.names)
    rows, low = [], []
    for term in terms:
        for k in range(*places[term].indices(N)) if term in NOT_NEGATIVE else ():
            rows.append(np.eye(N)[k])
            low.append(0.0)
    if "asymmetric" in terms:
        pairs = zip(range(N)[places["coulomb"]], range(N)[places["asymmetric"]], strict=True)
        for i, j in pairs:
            rows += [np.eye(N)[i] - np.eye(N)[j], np.eye(N)[i] + np.eye(N)[j]]
            low += [0.0, 0.0]
    for k, value in zip(range(N)[places["paths"]], columns.values, strict=True):
        if value > 0.0:
            rows.append(np.eye(N)[k])
            low.append(1e-6 * float(value))
    return np.array(rows).reshape(-1, N)[:, at], np.array(low)
