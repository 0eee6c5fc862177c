"""What implicit methods in machine code share: states as plain numbers, quaternions as points of R^4."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from gyrostat.simulate.kernels import environment as env
from gyrostat.simulate.kernels.harvest import ABSOLUTE
from gyrostat.simulate.methods.compiled import RUNAWAY, TOO_SMALL, CompiledMethod
from gyrostat.simulate.methods.drivers import stiff_ends as ends
from gyrostat.simulate.methods.method import StepFailure
from gyrostat.simulate.plant.machine import address
from gyrostat.simulate.plant.plant import Plant
from gyrostat.simulate.plant.vector_system import VectorSystem

Array = np.ndarray
HINT = "the efforts may jump or grow there"


class VectorMethod(CompiledMethod):
    """Of y = (q, v, p), (size,). ``share``: part of the tolerances that the estimate for a single step gets."""

    way = ABSOLUTE
    adaptive = True
    kernels = (env.INVERSE, env.SLOPES, env.LAW_SLOPES)
    share: ClassVar[float]

    def __init__(self, plant: Plant, rtol: float = 1e-6, atol: float = 1e-9, max_step: float = np.inf, **options: Any):
        super().__init__(plant, rtol, atol, max_step)
        self.size = plant.nq + plant.nv + plant.np
        self.system = VectorSystem(plant)
        self.step_rtol = max(self.share * rtol, 3e-14)
        self.allowed = np.broadcast_to(self.system.absolute(self.step_rtol, self.share * atol), self.size).copy()
        self._kept: list[Array] = []

    def room(self, *shape: int) -> Array:
        """Memory of the method."""
        self._kept.append(np.zeros(shape))
        return self._kept[-1]

    def place(self, words: Array, arrays: dict[int, Array]) -> None:
        """Addresses of arrays, which stay, by their words."""
        for word, array in arrays.items():
            self._kept.append(array)
            words[word] = address(array)

    def parts(self, y: Array) -> tuple[Array, Array, Array]:
        """Copies of q, v, p in y (size,)."""
        q, v, p = self.system.parts(y[: self.size].copy())
        return q, v, p

    def placed(self, q0: Array, x: Array) -> Array:
        q = np.array(x)
        if not self.plant.plain:
            c = q[..., self.system.quaternion]
            q[..., self.system.quaternion] = c / np.linalg.norm(c, axis=-1, keepdims=True)
        return q

    def trouble(self, status: int, t: float, worst: int, reason: int) -> StepFailure:
        """What is said of a call that ended so: ``worst`` entry of y, or rate, and why the last step was given up."""
        if status == RUNAWAY:
            return self.grows(worst)
        if status != TOO_SMALL or reason == ends.RESULT_NOT_FINITE:
            error = self.not_finite(t)
            return StepFailure(str(error), error.dof, hint=HINT)
        cause = "the error of a step exceeds the tolerance however small it is"
        if reason == ends.NO_CONVERGENCE:
            cause = "Newton's method does not converge however small the step is"
        if reason == ends.PROJECTED_TOO_FAR:
            cause = "closing the loops moves every step by more than 30 tolerances"
        rate = worst - self.plant.nq
        dof = rate if 0 <= rate < self.plant.nv else None
        return StepFailure(f"{cause}; steps became smaller than rounding of the time allows", dof, hint=HINT)
