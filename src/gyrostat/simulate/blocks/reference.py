"""Where the robot should be: a trajectory, or a point that stays, as signals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from gyrostat.engine.tracing.recording_scalar import Recorded
from gyrostat.simulate.blocks.block import Block, Signals
from gyrostat.simulate.blocks.given import count, numbers
from gyrostat.simulate.blocks.recorded_motion import recorded_motion
from gyrostat.simulate.trajectories.polynomial import hold
from gyrostat.simulate.trajectories.trajectory import Trajectory

NAMES = ("q_ref", "v_ref", "a_ref")


@dataclass(frozen=True)
class Reference(Block):
    """Signals q_ref, v_ref, a_ref: the ``motion`` at t and its exact derivatives up to ``order`` (0 to 2).

    ``motion``: a trajectory, or numbers (n,) for a point that stays. Needs no input. Each derivative must be free of
    impulses, as ``motion.derivatives`` asks."""

    kind: ClassVar[str] = "reference"
    motion: Any
    order: int = 2
    names: tuple[str, ...] = NAMES
    name: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "order", count(self.order, self.who, "order", 0, 2, "2 gives q, v and a"))
        if not isinstance(self.motion, Trajectory):
            object.__setattr__(self, "motion", hold(numbers(self.motion, self.who, "motion"), 1.0))
        self.motion.derivatives(0.0, self.order)  # refuses impulses at once

    @property
    def inputs(self) -> tuple[str, ...]:
        return ()

    @property
    def outputs(self) -> tuple[str, ...]:
        return self.names[: self.order + 1]

    def output(self, t: Any, x: Signals, p: Any, m: Any) -> dict[str, Any]:
        time = t[()] if isinstance(t, np.ndarray) else t
        recorded = isinstance(time, Recorded)
        derivatives = (
            recorded_motion(self.motion, time, self.order) if recorded else self.motion.derivatives(t, self.order)
        )
        return dict(zip(self.outputs, derivatives, strict=True))
