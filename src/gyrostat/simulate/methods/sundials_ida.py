"""IDA for F(t, y, y') = 0 with our compiled Jacobian: backward differentiation of order 1 to 5 on inverse dynamics.

No forward dynamics in the integration, but for y' at the start: the mass matrix appears in the matrix of Newton's
method alone, where stiffness and damping keep it company."""

from __future__ import annotations

from typing import Any

import numpy as np

from gyrostat.errors import GyrostatError
from gyrostat.simulate.methods.sundials import SundialsMethod
from gyrostat.simulate.plant.loop_residual_system import LoopResidualSystem
from gyrostat.simulate.plant.plant import Plant
from gyrostat.simulate.plant.residual_system import ResidualSystem

Array = np.ndarray


class Ida(SundialsMethod):
    """``"ida"``: as ``"cvode"``, with residuals of inverse dynamics (``residual_evaluations``)."""

    name, share = "ida", 0.03

    def __init__(self, plant: Plant, rtol: float = 1e-6, atol: float = 1e-9, max_step: float = np.inf, **options: Any):
        super().__init__(plant, rtol, atol, max_step)
        try:
            from sksundae.ida import IDA
        except ImportError as error:
            raise GyrostatError(
                "simulate: method 'ida' needs scikit-sundae. Hint: pip install scikit-sundae"
            ) from error
        self._class = IDA
        self.system = self._implicit = _system(plant)

    def prepare(self, t: float, q: Array, v: Array, p: Array) -> None:
        before = vars(self.plant.counters).copy()
        y, dy = self._start(t, self.system.joined(q, v, p))
        self._implicit.residual(t, y, dy)
        self._implicit.residual_jacobian(t, y, dy, 1.0)
        vars(self.plant.counters).update(before)

    def _restarted(self, t: float, y: Array) -> None:
        if self._solver is None:
            self._solver = self._class(self._residual, jacfn=self._jacobian, **self.settings())
        self._solver.init_step(t, *self._start(t, y))

    def settings(self) -> dict[str, Any]:
        known = super().settings()
        system = self._implicit
        return known | {"algebraic_idx": system.algebraic} if isinstance(system, LoopResidualSystem) else known

    def _start(self, t: float, y: Array) -> tuple[Array, Array]:
        """y and y' that fulfil the equations."""
        system = self._implicit
        return system.started(t, y) if isinstance(system, LoopResidualSystem) else (y, system.rates(t, y))

    def _residual(self, t: float, y: Array, dy: Array, out: Array) -> None:
        self._seen.add(t)
        self.guarded(lambda: self._implicit.residual(t, y.copy(), dy.copy()), out)

    def _jacobian(self, t: float, y: Array, dy: Array, rest: Array, c: float, out: Array) -> None:
        self.guarded(lambda: self._implicit.residual_jacobian(t, y.copy(), dy.copy(), c), out)


def _system(plant: Plant) -> ResidualSystem:
    loops = plant.loops
    return ResidualSystem(plant) if loops is None or not loops.settings.projects else LoopResidualSystem(plant, loops)
