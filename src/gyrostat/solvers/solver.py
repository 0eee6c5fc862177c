"""What all solvers share: a model, its network, a representation, and the time of driven bases."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from gyrostat.algorithms.algorithm import Setting
from gyrostat.errors import StateError
from gyrostat.graph.network import Network, network
from gyrostat.solvers.state import real_array
from gyrostat.spatial.gravity import gravity
from gyrostat.spatial.representation import representation
from gyrostat.spec.model import Model


class Solver:
    """Base of the solvers: built once from a model, then called with states. Nothing in it changes."""

    name = "solver"

    def __init__(self, model: Model, representation: str = "body", rules: Iterable[str] | None = None):
        self.model = model
        self.representation = representation
        self.network = network(model, rules)
        self.network.refuse_loops(self.name)
        self._representation = _known(representation)
        self._gravity = gravity(model.context.gravity)

    def setting(self, t: Any) -> Setting:
        return Setting(self._representation, self._gravity, t)

    def times(self, t: Any) -> np.ndarray:
        """t as an array of any shape; needed only where the base moves as a function of time."""
        driven = not isinstance(self.model.context.base, str)
        if t is None:
            if driven:
                raise StateError(f"{self.name}: the base of '{self.model.name}' moves with time. Hint: give t=...")
            t = 0.0
        array = real_array(t, self.name, "t")
        if not np.all(np.isfinite(array)):
            raise StateError(f"{self.name}: t must be finite, got {array}")
        return array

    def explain(self) -> str:
        """What the solver does with the model."""
        return f"{type(self).__name__} in {self.representation} representation\n{self.network.explain()}"

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of '{self.model.name}', {self.representation} representation>"


def _known(name: str) -> Any:
    return representation(name)


__all__ = ["Network", "Solver"]
