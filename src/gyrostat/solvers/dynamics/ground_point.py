"""Solvers whose result is a point of the ground."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from gyrostat.solvers.dynamics.ground_plane import ground_plane
from gyrostat.solvers.machinery.state_solver import StateSolver
from gyrostat.spec.model import Model


class GroundPoint(StateSolver):
    """Abstract: a point (..., 3) [m] of the plane normal . p = height."""

    loops = "any"
    needs = ("rigid",)
    result = "p"
    rate_axes = (("p", ()),)

    def __init__(
        self,
        model: Model,
        normal: Any = (0.0, 0.0, 1.0),
        height: float = 0.0,
        rules: Iterable[str] | None = None,
        live: Sequence[str] = (),
        mode: str = "auto",
    ):
        super().__init__(model, "absolute", rules, live, mode)
        self.plane = ground_plane(normal, height, self.name)
        self.prepare()

    def prepare(self) -> None:
        """What is looked at once, when model and plane are known."""

    def options(self) -> dict[str, Any]:
        kept = {k: v for k, v in super().options().items() if k != "representation"}
        return kept | {"normal": self.plane.normal, "height": self.plane.height}
