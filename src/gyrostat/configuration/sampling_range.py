"""Where random coordinates lie: inside the limits of the joints, those of followers included."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gyrostat.configuration.limits import limits_of, own_range
from gyrostat.errors import StateError
from gyrostat.graph.network import network
from gyrostat.spec.entity import Entity
from gyrostat.spec.model import Model

Array = np.ndarray

ROUNDS = 1000
"""How often samples are drawn again for the sake of joints that follow several others."""


@dataclass(frozen=True)
class CurvedLimits:
    """(place among all coordinates, lower, upper) of joints that follow by curves."""

    model: Model
    limits: tuple[tuple[int, float, float], ...]

    def violated(self, q: Array) -> Array:
        """Whether configurations (m, nq) are outside."""
        if not self.limits:
            return np.zeros(len(q), dtype=bool)
        moved = network(self.model).transmission
        every = np.array([moved.coordinates(row) for row in q]).reshape(len(q), -1)
        return np.any([(every[:, k] < low) | (every[:, k] > high) for k, low, high in self.limits], axis=0)


@dataclass(frozen=True)
class SamplingRange:
    """``low``, ``high`` (nq,); joints that follow several coordinates: ``least`` <= ``ratio`` q + ``offset`` <=
    ``most``, with ``ratio`` (m, nq); ``curved``: limits of joints that follow by curves."""

    low: Array
    high: Array
    ratio: Array
    offset: Array
    least: Array
    most: Array
    curved: CurvedLimits

    def draw(self, source: np.random.Generator, lead: tuple[int, ...]) -> Array:
        """q (*lead, nq), uniform; where samples violate a limit of a follower, they are drawn again."""
        q = source.uniform(self.low, self.high, (*lead, len(self.low)))
        if not len(self.ratio) and not self.curved.limits:
            return q
        flat = q.reshape(-1, len(self.low))
        for _ in range(ROUNDS):
            follower = flat @ self.ratio.T + self.offset
            wrong = ((follower < self.least) | (follower > self.most)).any(axis=-1)
            outside = np.flatnonzero(wrong | self.curved.violated(flat))
            if not len(outside):
                return flat.reshape(q.shape)
            flat[outside] = source.uniform(self.low, self.high, (len(outside), len(self.low)))
        raise StateError(
            "random_configuration: no configuration was found in which all joints that follow others are within their "
            "limits. Hint: widen these limits, or write within_limits=False"
        )


def sampling_range(model: Model, reach: Array, within_limits: bool) -> SamplingRange:
    """Limits where they are given, else ``reach`` (nq,) to both sides of zero; with one limit, the part of that range
    that it leaves, or as much beyond it."""
    low, high = limits_of(model, "model" if within_limits else None, "random_configuration")
    rows: list[tuple[Array, float, float, float]] = []
    curved: list[tuple[int, float, float]] = []
    dependents = () if model.layout.plan is None else model.layout.plan.dependents
    for name, entity in model.wiring.entities.items() if within_limits else ():
        if len(entity.rates) == 1 and np.isfinite(own_range(entity)).any():
            shaft = model.shafts.shaft(name, entity, 0)
            if (name, 0) in dependents:
                curved.append((network(model).transmission.slices[name][0].start, *own_range(entity)))
            elif shaft is None or model.shafts.is_linear(shaft):
                rows += _followed(model, name, entity)
            else:
                curved.append((network(model).transmission.slices[name][0].start, *own_range(entity)))
    several = [row for row in rows if np.count_nonzero(row[0]) > 1]
    for ratio, offset, least, most in rows:
        if np.count_nonzero(ratio) == 1:
            k = int(np.flatnonzero(ratio)[0])
            ends = sorted(((least - offset) / ratio[k], (most - offset) / ratio[k]))
            low[k], high[k] = max(low[k], ends[0]), min(high[k], ends[1])
    if (low > high).any():
        name = model.coordinates[int(np.flatnonzero(low > high)[0])]
        raise StateError(
            f"random_configuration: the limits of '{name}' and of the joints that follow it leave no room. "
            "Hint: change them, or write within_limits=False"
        )
    low, high = _completed(low, high, reach)
    ratio = np.array([row[0] for row in several]).reshape(len(several), model.nq)
    offset, least, most = (np.array([row[k] for row in several]) for k in (1, 2, 3))
    return SamplingRange(low, high, ratio, offset, least, most, CurvedLimits(model, tuple(curved)))


def _followed(model: Model, name: str, joint: Entity) -> list[tuple[Array, float, float, float]]:
    """(ratio (nq,), offset, lower, upper) of a joint that follows coordinates; nothing for one with its own."""
    shaft = model.shafts.shaft(name, joint, 0)
    if shaft is None or model.shafts.owner(shaft) == (name, 0):
        return []
    line = model.shafts.lines.get(shaft)
    terms = {shaft: 1.0} if line is None else line.terms
    place = {(b.entity, part): k for b in model.layout for k, part in enumerate(b.coordinates, b.q.start)}
    ratio = np.zeros(model.nq)
    for other, factor in terms.items():
        owner = model.shafts.owner(other)
        if owner is not None:
            leader = model.wiring.entities[owner[0]]
            part = leader.coordinates[owner[1]] if leader.coordinates else "q"
            ratio[place[owner[0], part]] += factor
    return [(ratio, 0.0 if line is None else line.constant, *own_range(joint))]


def _completed(low: Array, high: Array, reach: Array) -> tuple[Array, Array]:
    """Bounds on both sides."""
    down = np.where(high > -reach, -reach, high - 2.0 * reach)
    up = np.where(low < reach, reach, low + 2.0 * reach)
    return np.where(np.isfinite(low), low, down), np.where(np.isfinite(high), high, up)
