"""CVODE for y' = f(t, y) with our compiled Jacobian: backward differentiation of order 1 to 5, or Adams' formulas of
order 1 to 12, with variable coefficients."""

from __future__ import annotations

from typing import Any

import numpy as np

from gyrostat.errors import GyrostatError, clipped
from gyrostat.simulate.methods.sundials import SundialsMethod
from gyrostat.simulate.plant.plant import Plant
from gyrostat.simulate.plant.vector_system import VectorSystem

Array = np.ndarray
DEGREES = {"bdf": 5, "adams": 12}


class Cvode(SundialsMethod):
    """``"cvode"``: for stiff motions; ``formula="adams"`` for smooth ones that are not, at tight tolerances."""

    name, share = "cvode", 0.03
    options = ("formula",)

    def __init__(self, plant: Plant, rtol: float = 1e-6, atol: float = 1e-9, max_step: float = np.inf, **options: Any):
        super().__init__(plant, rtol, atol, max_step)
        self.formula = options.get("formula", "bdf")
        if self.formula not in DEGREES:
            raise GyrostatError(
                f"simulate: cvode: formula must be 'bdf' or 'adams', got {clipped(self.formula)}. Hint: leave it out"
            )
        try:
            from sksundae.cvode import CVODE
        except ImportError as error:
            raise GyrostatError(
                "simulate: method 'cvode' needs scikit-sundae. Hint: pip install scikit-sundae"
            ) from error
        self._class, self.degree = CVODE, DEGREES[self.formula]
        self.system = VectorSystem(plant)

    def prepare(self, t: float, q: Array, v: Array, p: Array) -> None:
        self.system.prepare(t, q, v, p)

    def _restarted(self, t: float, y: Array) -> None:
        if self._solver is None:
            self._solver = self._class(self._rhs, jacfn=self._jacobian, method=self.formula, **self.settings())
        self._solver.init_step(t, y)

    def _rhs(self, t: float, y: Array, out: Array) -> None:
        self._seen.add(t)
        self.guarded(lambda: self.system.rates(t, y.copy()), out)

    def _jacobian(self, t: float, y: Array, rate: Array, out: Array) -> None:
        self.guarded(lambda: self.system.jacobian(t, y.copy()), out)
