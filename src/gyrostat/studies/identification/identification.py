"""What was identified: the model, its torques with their bands, and a report."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gyrostat.configuration.packing import coordinates, rates, together
from gyrostat.errors import GyrostatError
from gyrostat.spec.model import Model
from gyrostat.studies.identification.base_estimate import BaseEstimate
from gyrostat.studies.identification.fold_selection import Selection
from gyrostat.studies.identification.identification_report import identification_report
from gyrostat.studies.identification.measured_run import MeasuredRun, measured_run
from gyrostat.studies.identification.pseudo_inertia import least_eigenvalues
from gyrostat.studies.identification.torque_terms import BESIDE, TorqueColumns
from gyrostat.studies.report import Report
from gyrostat.studies.study_data import StudyData

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Validation(StudyData):
    """Torques of another run: ``run`` as it was filtered, ``torques`` (T, nv) predicted and filtered likewise, ``rms``
    (nv,) of what is left, ``relative`` (nv,) to the rms of the measured torque."""

    run: MeasuredRun
    torques: Array
    rms: Array
    relative: Array


@dataclass(frozen=True, eq=False)
class Identification(StudyData):
    """``model`` with the identified properties; ``terms`` that were fitted; ``base``: base parameters with deviations;
    ``noise`` (nv,) rms of what is left of each torque, nan where it was not measured; ``covariance`` of that between
    the measured ones; ``selection``: what the folds said; ``runs`` as they were filtered; ``notes``."""

    model: Model
    before: Model
    columns: TorqueColumns
    terms: tuple[str, ...]
    x: Array
    base: BaseEstimate
    noise: Array
    covariance: Array
    selection: Selection
    runs: tuple[MeasuredRun, ...]
    notes: tuple[str, ...] = ()
    earlier: Identification | None = None
    finished: bool = True
    message: str = "finished"

    # ------------------------------------------------------------------ parameters
    @property
    def parameters(self) -> dict[str, float]:
        """Every fitted number by name: inertias about the origin of each body, friction, tilt and others."""
        names = self.columns.names
        return {names[k]: float(self.x[k]) for k in self._at}

    @property
    def outside(self) -> tuple[str, ...]:
        """Terms that no model holds: they are in :meth:`torques`, not in ``gs.rnea(found.model, ...)``."""
        own = tuple(t for t in self.terms if t in BESIDE)
        return own if self.earlier is None else tuple(dict.fromkeys((*self.earlier.outside, *own)))

    @property
    def consistency(self) -> dict[str, float]:
        """Least eigenvalue of each identified body's pseudo-inertia, scaled to unit diagonal: positive where a
        distribution of mass exists."""
        values = least_eigenvalues(self.x[: 10 * len(self.columns.bodies)]) if self.columns.bodies else []
        return dict(zip(self.columns.bodies, map(float, values), strict=True))

    @property
    def _at(self) -> Array:
        places = self.columns.places
        groups = ("inertias", "paths", *(t for t in self.columns.terms if t in self.terms))
        return np.concatenate([np.arange(len(self.x))[places[g]] for g in groups]).astype(int)

    # ------------------------------------------------------------------ torques
    def torques(self, q: Any, v: Any, a: Any, wrenches: Any = None, *, temperature: Any = None) -> Array:
        """tau (..., nv) [N m, N] of a motion: A x + tau_known, which is ``gs.rnea(found.model, ...)`` and the terms
        :attr:`outside` of it. ``wrenches`` (..., 6) by port, local, as they were given to ``identify``."""
        shape, run = self._as_run(q, v, a, temperature, wrenches)
        tau = self.columns.at(run, self.x) @ self.x + self.columns.known(run)
        if self.earlier is not None:
            tau = tau + self.earlier.beside(run)
        return tau.reshape(*shape, self.model.nv)

    def beside(self, run: MeasuredRun) -> Array:
        """(T, nv): torques of the terms that the model does not hold."""
        tau = np.zeros_like(run.v) if self.earlier is None else self.earlier.beside(run)
        own = [t for t in self.terms if t in BESIDE]
        if not own:
            return tau
        A, places = self.columns.at(run, self.x), self.columns.places
        return tau + sum(A[:, :, places[t]] @ self.x[places[t]] for t in own)

    def torque_sigma(self, q: Any, v: Any, a: Any, *, temperature: Any = None, noise: bool = False) -> Array:
        """Standard deviation (..., nv) of the torques, from that of the base parameters; with ``noise`` also what a
        measurement scatters about them. What the motion did not excite counts as infinite where torques need it."""
        shape, run = self._as_run(q, v, a, temperature)
        A = self.columns.at(run, self.x)
        A = A[:, :, self._at][:, :, self.base.columns]
        variance = np.einsum("tik,kl,til->ti", A, self.base.covariance, A)
        blind = np.abs(A[:, :, ~self.base.excited]).max(axis=2, initial=0.0) > 0.0
        variance = np.where(blind, np.inf, np.maximum(variance, 0.0))
        if noise:
            variance = variance + np.nan_to_num(self.noise, nan=0.0) ** 2
        return np.sqrt(variance).reshape(*shape, self.model.nv)

    def torque_band(self, q: Any, v: Any, a: Any, *, sigmas: float = 2.0, **asked: Any) -> tuple[Array, Array]:
        """Lower and upper torques, ``sigmas`` standard deviations about :meth:`torques`."""
        tau, spread = self.torques(q, v, a, temperature=asked.get("temperature")), self.torque_sigma(q, v, a, **asked)
        return tau - sigmas * spread, tau + sigmas * spread

    def _as_run(
        self, q: Any, v: Any, a: Any, temperature: Any, wrenches: Any = None
    ) -> tuple[tuple[int, ...], MeasuredRun]:
        m = self.model
        given = (coordinates(m, q, "torques"), rates(m, v, "torques", "v"), rates(m, a, "torques", "a"))
        shape, (x, y, z) = together("torques", q=(given[0], 1), v=(given[1], 1), a=(given[2], 1))
        warm = None
        if "temperature" in self.terms:
            if temperature is None:
                raise GyrostatError("torques: friction depends on temperature here. Hint: temperature=40.0")
            warm = np.broadcast_to(np.asarray(temperature, dtype=float), (*shape, m.nv)).reshape(len(x), m.nv)
        ports = {}
        for port, w in (wrenches or {}).items():
            ports[port] = np.broadcast_to(np.asarray(w, dtype=float), (*shape, 6)).reshape(len(x), 6)
        none = np.zeros_like(y)
        return shape, MeasuredRun(np.arange(len(x), dtype=float), x, y, z, none, wrenches=ports, temperature=warm)

    def carrying(self, model: Model) -> Identification:
        """The same for a robot that carries something: ``model`` is the identified one with bodies attached."""
        return replace(self, model=model)

    # ------------------------------------------------------------------ judgement
    def validate(self, t: Any, q: Any, tau: Any, v: Any = None, a: Any = None, **asked: Any) -> Validation:
        """Predict the torques of another run, filtered as those of the fit; ``band``, ``wrenches``, ``temperature`` as
        in ``gs.studies.identify``."""
        band = self.runs[0].band
        asked = {"band": False if band is None else band} | asked
        run = measured_run(self.model, t, q, tau, v, a, who="validate", **asked)
        return self.predicted(run)

    def predicted(self, run: MeasuredRun) -> Validation:
        """The same for samples that are filtered already."""
        warm = run.temperature if "temperature" in self.terms else None
        torques = run.smoothed(self.torques(run.q, run.v, run.a, run.wrenches or None, temperature=warm))
        inner = run.part(run.inner)
        left = np.sqrt(np.mean((torques - inner.tau) ** 2, axis=0))
        size = np.sqrt(np.mean(inner.tau**2, axis=0))
        return Validation(inner, torques, left, left / np.where(size > 0.0, size, 1.0))

    def report(self) -> Report:
        """Residuals, folds, friction, base parameters, inertias; torques over time with their bands."""
        return identification_report(self)
