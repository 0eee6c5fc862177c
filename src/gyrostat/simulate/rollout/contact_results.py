"""What a rollout with contacts tells of them: forces by candidate, residuals, steps that did not converge."""

from __future__ import annotations

import numpy as np

from gyrostat.simulate.rollout.kernel import RolloutKernel
from gyrostat.simulate.rollout.lane_memory import Rows

Array = np.ndarray


class ContactRecord:
    """Of the memory (rows, N, nm) of a run, whose last columns are impulses, residual and count."""

    def __init__(self, kernel: RolloutKernel, run: Rows, cut: slice, alone: bool):
        self.kernel, self.h, self.every = kernel, run.h, run.every
        self.m = run.m[cut, 0] if alone else run.m[cut]

    @property
    def forces(self) -> dict[str, Array]:
        """(rows, N, 3) [N] in contact axes (normal, t1, t2), on the first surface: means over the step before a row."""
        contact = self.kernel.contact
        if contact is None:
            return {}
        first = len(self.kernel.source.m0)
        shape = (*self.m.shape[:-1], 3)
        forces = {c.name: np.zeros(shape) for c in contact.step.candidates}
        names = list(forces)
        for row, (number, axis) in enumerate(contact.pattern.places):
            if number >= 0:
                forces[names[number]][..., axis] = self.m[..., first + row] / self.h
        return forces

    @property
    def residual(self) -> Array:
        """(rows, N) [m/s, rad/s] of the step before a row."""
        return self.m[..., -2].copy() if self.kernel.contact is not None else np.zeros(self.m.shape[:-1])

    @property
    def unsettled(self) -> Array:
        """(N,): steps whose residual stayed above 1e-8."""
        count = self.m[-1, ..., -1] if self.kernel.contact is not None else np.zeros(self.m.shape[1:-1])
        return np.nan_to_num(count, nan=0.0).astype(np.int64)
