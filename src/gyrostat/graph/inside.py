"""What an entity is made of, where it becomes several components; ``graph.unfold`` puts them into a network."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from gyrostat.spatial.algebra import Array
from gyrostat.spec.entity import Entity


@dataclass(frozen=True)
class Inside:
    """What an entity is made of: a tree of joints, bodies and other entities, as one would connect them by hand.

    ``entities``: those with coordinates in the order of the entity's own, springs and the like on shafts of joints
    among them; ``connections`` of two or more of their ports each, ``"piece0.end"``; ``ports``: where the ports of the
    entity are, ``{"a": "piece0.origin"}``; ``values``: numbers, live ones too, to use by path instead of those that
    the inner entities hold, ``{"piece0.mass": m}``."""

    entities: tuple[Entity, ...]
    connections: tuple[tuple[str, ...], ...]
    ports: Mapping[str, str]
    values: Mapping[str, Any] = field(default_factory=dict)


class BeamFrame(NamedTuple):
    """A frame on a beam: the ``fraction`` of the length at which it is, R and p (3,) [m] seen from frame a."""

    fraction: float
    R: Array
    p: Array

    @property
    def station(self) -> tuple[float, tuple[Array, Array]]:
        """The fraction, and the placement on the section there."""
        return self.fraction, (self.R, self.p * np.array([0.0, 1.0, 1.0]))
