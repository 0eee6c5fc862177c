"""Where random coordinates lie: inside the limits of the joints, those of followers included."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gyrostat.configuration.limits import limits_of
from gyrostat.errors import StateError
from gyrostat.spec.joint import Joint
from gyrostat.spec.model import Model

Array = np.ndarray

ROUNDS = 1000
"""How often samples are drawn again for the sake of joints that follow several others."""


@dataclass(frozen=True)
class SamplingRange:
    """``low``, ``high`` (nq,); joints that follow several coordinates: ``least`` <= ``ratio`` q + ``offset`` <=
    ``most``, with ``ratio`` (m, nq)."""

    low: Array
    high: Array
    ratio: Array
    offset: Array
    least: Array
    most: Array

    def draw(self, source: np.random.Generator, lead: tuple[int, ...]) -> Array:
        """q (*lead, nq), uniform; where samples violate a limit of a follower, they are drawn again."""
        q = source.uniform(self.low, self.high, (*lead, len(self.low)))
        if not len(self.ratio):
            return q
        flat = q.reshape(-1, len(self.low))
        for _ in range(ROUNDS):
            follower = flat @ self.ratio.T + self.offset
            outside = np.flatnonzero(((follower < self.least) | (follower > self.most)).any(axis=-1))
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
    for name, joint in model.wiring.entities.items() if within_limits else ():
        if isinstance(joint, Joint) and (joint.lower is not None or joint.upper is not None):
            rows += _followed(model, name, joint)
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
    return SamplingRange(low, high, ratio, offset, least, most)


def _followed(model: Model, name: str, joint: Joint) -> list[tuple[Array, float, float, float]]:
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
    least = -np.inf if joint.lower is None else joint.lower
    most = np.inf if joint.upper is None else joint.upper
    return [(ratio, 0.0 if line is None else line.constant, least, most)]


def _completed(low: Array, high: Array, reach: Array) -> tuple[Array, Array]:
    """Bounds on both sides."""
    down = np.where(high > -reach, -reach, high - 2.0 * reach)
    up = np.where(low < reach, reach, low + 2.0 * reach)
    return np.where(np.isfinite(low), low, down), np.where(np.isfinite(high), high, up)
