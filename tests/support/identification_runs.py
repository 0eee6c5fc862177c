"""Synthetic measurements for identification: robots with friction, their motions, noise."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

import gyrostat as gs


class Run(NamedTuple):
    t: np.ndarray
    q: np.ndarray
    v: np.ndarray
    a: np.ndarray
    tau: np.ndarray


def with_friction(model, viscous=0.4, coulomb=0.6, smooth=0.02, **more):
    """Friction on every joint, different from joint to joint."""
    for k, joint in enumerate(model.dofs):
        model = model.with_drive(
            joint, viscous=viscous * (1 + 0.2 * k), coulomb=coulomb * (1 + 0.1 * k), friction={"smooth": smooth, **more}
        )
    return model


def wrong(model, factor=1.3):
    """The model with masses that are off: what one knows beforehand."""
    changes = {}
    for body in gs.Regressor(model).bodies:
        if model[f"{body}.mass"] > 0.0:
            changes[f"{body}.mass"] = factor * model[f"{body}.mass"]
            changes[f"{body}.inertia"] = tuple(tuple(factor * x for x in row) for row in model[f"{body}.inertia"])
    return model.replace(changes)


def motion(model, seconds=10.0, rate=500.0, seed=0, harmonics=5, size=0.5):
    """A Fourier series (T, n) with its derivatives: t, q, v, a."""
    rng, n = np.random.default_rng(seed), model.nv
    sine, cosine = rng.normal(size=(2, harmonics, n)) * size / np.arange(1, harmonics + 1)[:, None]
    series = gs.trajectories.fourier(rng.uniform(-0.5, 0.5, n), sine, cosine, 1.0 / seconds)
    t = np.arange(0.0, seconds, 1.0 / rate)
    d = series.derivatives(t, 2)
    return t, d[:, 0], d[:, 1], d[:, 2]


def run_of(model, seconds=10.0, rate=500.0, seed=0, noise=0.0, encoder=0.0, **asked):
    """Torques of a motion, with noise of ``noise`` times the rms of each."""
    t, q, v, a = motion(model, seconds, rate, seed, **asked)
    tau = gs.rnea(model, q, v, a)
    rng = np.random.default_rng(seed + 100)
    scatter = noise * np.sqrt(np.mean(tau**2, axis=0)) * rng.normal(size=tau.shape)
    return Run(t, q + encoder * rng.normal(size=q.shape), v, a, tau + scatter)


def truth(found, model):
    """x (N,) of the true model in the order of what was found: inertias, viscous and Coulomb friction."""
    x, columns = np.zeros(len(found.x)), found.columns
    pi, bodies = gs.inertial_parameters(model), gs.Regressor(model).bodies
    for k, body in enumerate(columns.bodies):
        at = 10 * bodies.index(body)
        x[10 * k : 10 * k + 10] = pi[at : at + 10]
    for term in ("viscous", "coulomb"):
        if term in found.terms:
            x[columns.places[term]] = [model[f"{s.joint}_drive.friction.{term}"] for s in columns.shafts]
    return x


def deviations(found, model):
    """How many sigmas each base parameter is from the truth."""
    used = found._at
    return (found.base.values - found.base.projection @ truth(found, model)[used]) / found.base.sigma
