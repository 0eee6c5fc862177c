"""A frame that moves: what forces between two frames are computed from."""

from __future__ import annotations

from dataclasses import dataclass

from gyrostat.spatial.algebra import Array
from gyrostat.spatial.representation import Pose


@dataclass(frozen=True)
class MovingFrame:
    """A frame: its pose, angular velocity w and velocity u of its origin, in the world's axes."""

    pose: Pose
    w: Array
    u: Array
