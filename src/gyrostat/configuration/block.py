"""A block of the state: the coordinates and rates of one entity, numbers, a rotation or a placement.

=========== ============================================== ==============================================
kind        q                                              v
=========== ============================================== ==============================================
numbers     n angles or shifts                             their n rates
rotation    unit quaternion x y z w (4,) of b in a         angular velocity (3,), in b
placement   position (3,) of b in a, then quaternion (4,)  angular, then linear velocity (6,), in b
=========== ============================================== =============================================="""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

BlockKind = Literal["numbers", "rotation", "placement"]

QUATERNION = 4
"""Numbers of a quaternion."""


@dataclass(frozen=True)
class Block:
    """The part of the state that belongs to one entity.

    ``q`` and ``v``: its places; ``coordinates`` and ``rates``: what the entity calls them; ``lengths`` and
    ``periodic``: whether each coordinate is in metres, and whether a full turn of it changes nothing."""

    entity: str
    kind: BlockKind
    q: slice
    v: slice
    coordinates: tuple[str, ...]
    rates: tuple[str, ...]
    lengths: tuple[bool, ...]
    periodic: tuple[bool, ...]

    @property
    def nq(self) -> int:
        """Number of coordinates."""
        return len(self.coordinates)

    @property
    def nv(self) -> int:
        """Number of rates."""
        return len(self.rates)

    @property
    def turns(self) -> bool:
        """Whether it holds a quaternion."""
        return self.kind != "numbers"

    @property
    def moves(self) -> bool:
        """Whether it holds a position beside the quaternion."""
        return self.kind == "placement"

    @property
    def quaternion_at(self) -> int | None:
        """Where the quaternion begins in its own coordinates, if it holds one."""
        return self.nq - QUATERNION if self.turns else None

    @property
    def quaternion(self) -> slice:
        """Places of the quaternion in q: the last four."""
        return slice(self.q.stop - QUATERNION, self.q.stop)

    @property
    def position(self) -> slice:
        """Places of the position in q, of a placement."""
        return slice(self.q.start, self.q.start + 3)

    @property
    def angular(self) -> slice:
        """Places of the angular velocity in v."""
        return slice(self.v.start, self.v.start + 3)

    @property
    def linear(self) -> slice:
        """Places of the linear velocity in v, of a placement."""
        return slice(self.v.start + 3, self.v.stop)

    @property
    def coordinate_names(self) -> tuple[str, ...]:
        """Names of its entries of q in the model."""
        return full_names(self.entity, self.coordinates)

    @property
    def rate_names(self) -> tuple[str, ...]:
        """Names of its entries of v in the model."""
        return full_names(self.entity, self.rates)


def full_names(entity: str, parts: Sequence[str]) -> tuple[str, ...]:
    """A joint with one coordinate gives it its name; of a joint that keeps one of several, the coordinate is named."""
    return (entity,) if tuple(parts) in (("q",), ("v",)) else tuple(f"{entity}.{part}" for part in parts)
