"""Places along a flexible beam: how its sections stand and accelerate, at points of Gauss' rule between all places
where something breaks (cuts, segments, elements, ports, and the places that are asked for)."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.polynomial.legendre import leggauss

from gyrostat.algorithms.algorithm import Setting
from gyrostat.configuration.model_cache import cached_on
from gyrostat.graph.in_cut_joints import cut_places
from gyrostat.graph.network import Network, network
from gyrostat.solvers.kinematics.frame_motion import frame_quantities, motions_of
from gyrostat.spatial.gravity import gravity
from gyrostat.spatial.representation import representation
from gyrostat.spec.edits.rebuild import Changes, rebuilt
from gyrostat.spec.flexible_beam import FlexibleBeam
from gyrostat.spec.model import Model

Array = np.ndarray
LEAST = 8
"""Points between two breaks, at least."""
KEPT = 4
"""Sets of places that stay with a model."""


@dataclass(frozen=True)
class Sections:
    """Sections at places (m,): ``x`` [m], ``R`` (m, 3, 3) and ``p`` (m, 3) in the world, ``w`` and ``alpha`` (m, 3) in
    the axes of the section, ``a`` (m, 3) [m/s^2] in the world."""

    x: Array
    R: Array
    p: Array
    w: Array
    alpha: Array
    a: Array


@dataclass(frozen=True)
class Stations:
    """Of one beam: ``asked`` (m,) places [m]; ``intervals`` (k, 2), between which everything is smooth; points (k, g)
    and weights (k, g) [m] in them. ``network``: of the model with a frame at each of all places."""

    beam: FlexibleBeam
    asked: Array
    intervals: Array
    points: Array
    weights: Array
    network: Network
    frames: tuple[str, ...]

    def sections(self, q: Any, v: Any, a: Any) -> tuple[Sections, Sections, Sections]:
        """At the places that were asked for, at the starts of the intervals, and at all points."""
        on = Setting(representation("body"), gravity(self.network.model.context.gravity), 0.0)
        known = frame_quantities(self.network, on, self.frames, q, v, a)
        arrays = {key: np.array(values, dtype=float) for key, values in known.items()}
        found = [*motions_of(arrays, self.frames, self.network).values()]
        x = np.concatenate([self.asked, self.intervals[:, 0], self.points.ravel()])
        spin, turn = (np.array([getattr(f, key)("local")[:3] for f in found]) for key in ("velocity", "acceleration"))
        places = np.array([f.R for f in found]), np.array([f.p for f in found])
        every = x, *places, spin, turn, np.array([f.acceleration("aligned")[3:] for f in found])
        ends = np.cumsum([len(self.asked), len(self.intervals)])
        parts = zip(*(np.split(part, ends) for part in every), strict=True)
        one, two, three = (Sections(*part) for part in parts)
        return one, two, three


def breaks(beam: FlexibleBeam) -> list[float]:
    """Places [m] where shapes, cuts, segments or the profile of a beam break; ends included."""
    L = beam.length
    if beam.method == "in-cut":
        return [0.0, *(x * L for x in cut_places(beam.elements)), L]
    inside = [x * L for x in beam.form.breaks]
    step = L / beam.segments
    return sorted({k * step + x / beam.segments for k in range(beam.segments) for x in inside})


def profile(beam: FlexibleBeam, x: Array) -> dict[str, Array]:
    """area, I_y, I_z, J at places x [m]."""
    at, *rows = (np.array(column) for column in zip(*beam.form.profile, strict=True))
    keys = ("area", "I_y", "I_z", "J")
    return {k: getattr(beam, k) * np.interp(x / beam.length, at, row) for k, row in zip(keys, rows, strict=True)}


def stations(model: Model, name: str, asked: Array) -> Stations:
    """Of the beam of this name, made once for a set of places."""
    kept = cached_on(model).setdefault("beam stations", {})
    key = name, tuple(asked.tolist())
    if key not in kept:
        while len(kept) >= KEPT:
            kept.pop(next(iter(kept)))
        kept[key] = _made(model, name, asked)
    return kept[key]


def _made(model: Model, name: str, asked: Array) -> Stations:
    beam = model.wiring.entities[name]
    assert isinstance(beam, FlexibleBeam)
    ends = sorted({*breaks(beam), *asked.tolist(), *(f.translation[0] for f in beam.frames)})
    ends = [ends[0], *(b for a, b in pairwise(ends) if b - a > 1e-12 * beam.length)]
    intervals = np.array(list(pairwise(ends)))
    shapes = max(beam.families.values()) if beam.method == "modal" else 4
    nodes, weights = leggauss(max(LEAST, shapes + 4))
    half = 0.5 * (intervals[:, 1] - intervals[:, 0])[:, None]
    points = intervals.mean(axis=1)[:, None] + half * nodes
    x = np.concatenate([asked, intervals[:, 0], points.ravel()])
    added = {f"station_{k}": (float(at), 0.0, 0.0) for k, at in enumerate(x)}
    own = {f.name: {"translation": f.translation, "rotation": f.rotation} for f in beam.frames}
    fields = {key: getattr(beam, key) for key in type(beam).model_fields} | {"frames": {**own, **added}}
    with_frames = rebuilt(model, Changes(swap={name: type(beam).model_validate(fields)}))
    frames = tuple(f"{name}.{frame}" for frame in added)
    return Stations(beam, asked, intervals, points, half * weights, network(with_frames), frames)
