"""Pairs of shapes that can meet, by structure and, if wanted, by samples."""

from __future__ import annotations

from typing import Any

import numpy as np

from gyrostat.configuration.manifold import neutral, random_configuration
from gyrostat.errors import GyrostatError, clipped
from gyrostat.solvers.collision.pair_choice import usual_pairs
from gyrostat.solvers.collision.touching import touching
from gyrostat.spec.check import expect_model
from gyrostat.spec.model import Model

WHO = "collision_pairs"


def collision_pairs(model: Model, samples: int = 0, rng: Any = 0) -> tuple[tuple[str, str], ...]:
    """Names of the shapes that can collide: with each other, and with grounds.

    Left out are shapes that move as one, those of bodies that one joint joins, and pairs that the model excludes:
    ``ContactPair(..., exclude=True)``, which is what ``gs.load(..., srdf=...)`` makes of ``disable_collisions``.

    ``samples``: so many random configurations are looked at, and pairs that touch in all of them, or in none, are left
    out too, as setup assistants do; ``rng`` as of :func:`random_configuration`. A pair that never touched in a thousand
    samples may touch in another configuration."""
    expect_model(model, WHO)
    if isinstance(samples, bool) or not isinstance(samples, int) or samples < 0:
        raise GyrostatError(f"{WHO}: samples must be a whole number >= 0, got {clipped(samples)}. Hint: 1000")
    found = usual_pairs(model)
    if not samples or not found:
        return tuple((one.a, one.b) for one in found)
    q = np.concatenate([neutral(model)[None], random_configuration(model, rng, samples)])
    met = touching(model, q, found, 0.0)
    kept = np.asarray(met.any(axis=0) & ~met.all(axis=0))
    return tuple((one.a, one.b) for one, keep in zip(found, kept, strict=True) if keep)
