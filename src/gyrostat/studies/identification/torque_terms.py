"""What torques are made of, as columns that unknowns multiply: tau = A(q, v, a) x + tau_known.

By name, ``w`` the rate of the shaft, s = tanh(w / smooth) or sign(w), w_s the speed of Stribeck:

    inertias     ten numbers of each body                       in the model
    viscous      w                                              in the model (gs.Friction)
    coulomb      s                                              in the model
    asymmetric   |s|: Coulomb friction that differs by direction in the model
    stribeck     s exp(-(w / w_s)^2)                            in the model
    rotor        inertia of rotors                              in the model (gs.RotorInertia)
    tilt         gravity turned about two horizontal axes       in the model (context.gravity)
    offset       1: zero of the torque sensor, current offset   beside it
    load         s sqrt(u^2 + u_0^2), u the torque of the load  beside it
    quadratic    w |w|                                          beside it
    cogging      sin q, cos q;  cogging2: sin 2q, cos 2q        beside it
    temperature  w (T - T_0), s (T - T_0)                       beside it

``load`` and ``tilt`` depend on the inertias: their columns are those of the last estimate [the rest is linear]."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gyrostat.configuration.model_cache import cached_on
from gyrostat.solvers.dynamics.parameter_derivatives import ParameterDerivatives
from gyrostat.solvers.dynamics.regressor import Regressor, inertial_parameters
from gyrostat.solvers.functions import rnea
from gyrostat.solvers.machinery.solver_cache import cached_solver
from gyrostat.spec.model import Model
from gyrostat.studies.identification.measured_run import MeasuredRun
from gyrostat.studies.identification.pseudo_inertia import mass_properties
from gyrostat.studies.study_data import StudyData

Array = np.ndarray
FRICTION = ("viscous", "coulomb", "asymmetric", "stribeck")
HELD = (*FRICTION, "rotor", "tilt")
BESIDE = ("offset", "load", "quadratic", "cogging", "cogging2", "temperature")
TERMS = (*HELD, *BESIDE)
NOT_NEGATIVE = ("viscous", "coulomb", "stribeck", "rotor", "load", "quadratic")
LOAD = 0.01
"""(u_0 / rms of the torque)^2: rounds the corner of |u| off."""


@dataclass(frozen=True, eq=False)
class ShaftTerms(StudyData):
    """Where friction acts: ``entity``, the name of the ``gs.Friction``; ``ties``: its rate is the sum of factor x rate
    (number, factor); ``joint``: name of the rate; ``smooth``, ``stribeck`` [rad/s or m/s], ``smooth`` None: sign(w);
    ``load``: rms of its torque, for the corner of ``load``; ``new``: the port that it is to be connected with, None
    where the model has it already; ``usual``: its rms speed; ``free``: which of both speeds are fitted."""

    entity: str
    joint: str
    ties: tuple[tuple[int, float], ...]
    smooth: float | None
    stribeck: float
    load: float
    new: str | None
    usual: float = 1.0
    free: tuple[str, ...] = ()

    def rate(self, v: Array) -> Array:
        return sum((v[..., k] * f for k, f in self.ties), np.zeros(v.shape[:-1]))

    def sign(self, w: Array) -> Array:
        return np.sign(w) if self.smooth is None else np.tanh(w / self.smooth)

    def column(self, torque: Array, n: int) -> Array:
        """(T, n, 1): what a torque on the shaft is on the rates."""
        column = np.zeros((len(torque), n, 1))
        for k, factor in self.ties:
            column[:, k, 0] += factor * torque
        return column


@dataclass(frozen=True, eq=False)
class TorqueColumns(StudyData):
    """The columns A of a model. ``bare``: the model without the friction that is sought; ``bodies`` whose inertias are
    sought; ``shafts`` with friction; ``terms``: names of what is there; ``paths`` of properties in which torques are
    linear, with their ``values`` in the model; ``axes`` (2, 3): axes of the tilt; ``warm``: the temperature T_0."""

    bare: Model
    bodies: tuple[str, ...]
    shafts: tuple[ShaftTerms, ...]
    terms: tuple[str, ...]
    paths: tuple[str, ...]
    values: Array
    axes: Array
    warm: float = 0.0

    @property
    def groups(self) -> dict[str, tuple[str, ...]]:
        """Names of the unknowns of each term, in the order of the columns."""
        inertial = inertial_names(self.bare, self.bodies)
        joints = [s.joint for s in self.shafts]
        named = {"inertias": inertial, "paths": self.paths}
        for term in self.terms:
            if term == "tilt":
                named[term] = ("tilt about " + _axis(self.axes[0]), "tilt about " + _axis(self.axes[1]))
            elif term in ("cogging", "cogging2"):
                order = "2 " if term == "cogging2" else ""
                named[term] = tuple(f"{j}.{f} {order}q" for f in ("sin", "cos") for j in joints)
            elif term == "temperature":
                named[term] = tuple(f"{j}.{kind} per K" for kind in ("viscous", "coulomb") for j in joints)
            else:
                named[term] = tuple(f"{j}.{term}" for j in joints)
        return named

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for group in self.groups.values() for name in group)

    @property
    def places(self) -> dict[str, slice]:
        """Columns of each term."""
        found, start = {}, 0
        for term, names in self.groups.items():
            found[term] = slice(start, start + len(names))
            start += len(names)
        return found

    def prior(self) -> Array:
        """x of the model: its inertias and properties, no friction."""
        x = np.zeros(len(self.names))
        for k, body in enumerate(self.bodies):
            at = 10 * self._bodies().index(body)
            x[10 * k : 10 * k + 10] = inertial_parameters(self.bare)[at : at + 10]
        x[self.places["paths"]] = self.values
        return x

    def _bodies(self) -> tuple[str, ...]:
        return cached_solver(self.bare, Regressor).bodies

    def known(self, run: MeasuredRun) -> Array:
        """tau_known (T, nv): bodies that are not sought, rotors, springs, minus J^T of measured wrenches."""
        model = self.bare
        Y, tau = cached_solver(model, Regressor)(run.q, run.v, run.a)
        pi, bodies = inertial_parameters(model), self._bodies()
        for body in self.bodies:
            pi[10 * bodies.index(body) : 10 * bodies.index(body) + 10] = 0.0
        tau = tau + Y @ pi
        if run.wrenches:
            tau = tau + rnea(model, run.q, run.v, run.a, wrenches=run.wrenches) - rnea(model, run.q, run.v, run.a)
        if self.paths:
            tau = tau - self._by_path(run) @ self.values
        return tau

    def linear(self, run: MeasuredRun) -> Array:
        """A (T, nv, N); columns of ``load`` and ``tilt``, which depend on the estimate, are zero."""
        _n, shape = self.bare.nv, (len(run.q), self.bare.nv)
        A, places = np.zeros((*shape, len(self.names))), self.places
        if self.bodies:
            Y, bodies = cached_solver(self.bare, Regressor)(run.q, run.v, run.a).Y, self._bodies()
            for k, body in enumerate(self.bodies):
                at = 10 * bodies.index(body)
                A[:, :, 10 * k : 10 * k + 10] = Y[:, :, at : at + 10]
        if self.paths:
            A[:, :, places["paths"]] = self._by_path(run)
        for term in self.terms:
            columns = [] if term in ("load", "tilt") else self.of(term, run)
            if columns:
                A[:, :, places[term]] = np.concatenate(columns, axis=2)
        return A

    def of(self, term: str, run: MeasuredRun) -> list[Array]:
        """Columns (T, nv, 1) of a term, one for each shaft."""
        n = self.bare.nv
        if term == "rotor":
            return [s.column(s.rate(run.a), n) for s in self.shafts]
        if term in ("cogging", "cogging2"):
            order = 2.0 if term == "cogging2" else 1.0
            angles = [order * run.q[:, self._coordinate(s)] for s in self.shafts]
            return [s.column(f(x), n) for f in (np.sin, np.cos) for s, x in zip(self.shafts, angles, strict=True)]
        if term == "temperature":
            warm = np.zeros((len(run.q), n)) if run.temperature is None else run.temperature - self.warm
            return [
                s.column(f(s, s.rate(run.v)) * warm[:, s.ties[0][0]], n)
                for f in (FUNCTIONS["viscous"], FUNCTIONS["coulomb"])
                for s in self.shafts
            ]
        return [s.column(FUNCTIONS[term](s, s.rate(run.v)), n) for s in self.shafts]

    def _coordinate(self, shaft: ShaftTerms) -> int:
        return self.bare.coordinates.index(self.bare.dofs[shaft.ties[0][0]])

    def _by_path(self, run: MeasuredRun) -> Array:
        return cached_solver(self.bare, ParameterDerivatives, parameters=self.paths)(run.q, run.v, run.a)

    def inertias(self, x: Array) -> Array:
        """pi (10 bodies,) of all bodies, with those that are sought at the estimate x."""
        pi, bodies = inertial_parameters(self.bare), self._bodies()
        for k, body in enumerate(self.bodies):
            at = 10 * bodies.index(body)
            pi[at : at + 10] = x[10 * k : 10 * k + 10]
        return pi

    def load(self, run: MeasuredRun, x: Array) -> Array:
        """Columns (T, nv, k) of ``load`` at the estimate x."""
        u = cached_solver(self.bare, Regressor)(run.q, run.v, run.a).Y @ self.inertias(x)
        columns = []
        for s in self.shafts:
            load = sum((u[:, j] / f for j, f in s.ties), np.zeros(len(u))) / len(s.ties)
            size = np.sqrt(load**2 + LOAD * s.load**2)
            columns.append(s.column(s.sign(s.rate(run.v)) * size, self.bare.nv))
        return np.concatenate(columns, axis=2)

    def tilting(self, run: MeasuredRun) -> Array:
        """(2, T, nv, 10 bodies): what times pi is d tau / d angle of gravity about the axes."""
        still = np.zeros_like(run.v)
        level = cached_solver(self.bare, Regressor)(run.q, still, still).Y
        return np.stack([solver(run.q, still, still).Y - level for solver in self._tilted()])

    def _tilted(self) -> tuple[Regressor, ...]:
        """Regressors with gravity turned about each axis; they stay with the model."""
        kept, key = cached_on(self.bare), ("tilted", *self.axes.ravel().tolist())
        if key not in kept:
            g = np.array(self.bare.context.gravity.g, dtype=float)  # type: ignore[union-attr]
            turned = (self.bare.replace({"context.gravity": tuple((g + np.cross(e, g)).tolist())}) for e in self.axes)
            kept[key] = tuple(Regressor(model) for model in turned)
        return kept[key]

    def at(self, run: MeasuredRun, x: Array) -> Array:
        """A (T, nv, N) with all columns, those of ``load`` and ``tilt`` at x."""
        A, places = self.linear(run), self.places
        if "load" in self.terms:
            A[:, :, places["load"]] = self.load(run, x)
        if "tilt" in self.terms:
            A[:, :, places["tilt"]] = np.moveaxis(self.tilting(run) @ self.inertias(x), 0, 2)
        return A


ON_SPEEDS = ("coulomb", "asymmetric", "stribeck", "temperature")
"""Terms that depend on the speeds of friction, beside ``load``."""
FUNCTIONS = {
    "viscous": lambda s, w: w,
    "coulomb": lambda s, w: s.sign(w),
    "asymmetric": lambda s, w: np.abs(s.sign(w)),
    "stribeck": lambda s, w: s.sign(w) * np.exp(-((w / s.stribeck) ** 2)),
    "quadratic": lambda s, w: w * np.abs(w),
    "offset": lambda s, w: np.ones_like(w),
}
"""Torque on a shaft by its rate."""


def inertial_names(model: Model, bodies: tuple[str, ...]) -> tuple[str, ...]:
    columns = cached_solver(model, Regressor).columns
    every = cached_solver(model, Regressor).bodies
    return tuple(columns[10 * every.index(body) + k] for body in bodies for k in range(10))


def inertia_changes(bodies: tuple[str, ...], x: Array) -> dict[str, Any]:
    """Properties of the bodies by path."""
    changes: dict[str, Any] = {}
    for k, body in enumerate(bodies):
        m, c, inertia = mass_properties(x[10 * k : 10 * k + 10])
        changes[f"{body}.mass"], changes[f"{body}.com"] = m, tuple(c.tolist())
        changes[f"{body}.inertia"] = tuple(tuple(row) for row in inertia.tolist())
    return changes


def _axis(e: Array) -> str:
    return "(" + ", ".join(f"{x:.3g}" for x in np.round(e, 6) + 0.0) + ")"
