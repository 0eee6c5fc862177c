"""Capture point: where a robot must step to come to rest, as an inverted pendulum of constant height."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gyrostat.algorithms.algorithm import Setting
from gyrostat.algorithms.recursions.rne import Loads
from gyrostat.errors import GyrostatError, StateError
from gyrostat.graph.network import Network
from gyrostat.solvers.dynamics.center_of_mass import centre_of, total_momentum
from gyrostat.solvers.dynamics.ground_plane import ground_plane
from gyrostat.solvers.dynamics.ground_point import GroundPoint
from gyrostat.solvers.machinery.call_signatures import of_motion
from gyrostat.solvers.machinery.solver_cache import cached_solver
from gyrostat.solvers.machinery.state_solver import Array
from gyrostat.spec.check import expect_model
from gyrostat.spec.context import UniformGravity
from gyrostat.spec.model import Model


class CapturePoint(GroundPoint):
    """Instantaneous capture point (..., 3) [m] on the ground: c + v / w0, w0 = sqrt(g / z) [Pratt et al. 2006].

    c and v are position and velocity of the centre of mass along the ground, z its height above it, normal . p =
    ``height``, and g gravity along the normal. With the pressure kept there, the linear inverted pendulum of this
    height comes to rest above it. Refused where the centre of mass is not above the ground."""

    name = "capture_point"
    state = ("q", "v")
    __call__ = of_motion

    def prepare(self) -> None:
        """Gravity along the normal [m/s^2], which presses."""
        given = self.model.context.gravity
        self.pull = (
            -float(np.array(given.g) @ np.array(self.plane.normal)) if isinstance(given, UniformGravity) else 0.0
        )
        if not self.pull > 0.0:
            raise GyrostatError(
                f"{self.name}: gravity of '{self.model.name}' does not press against the ground. Hint: uniform "
                "gravity, and a normal that points away from the ground"
            )

    def compute(self, net: Network, on: Setting, x: Mapping[str, Any], given: Loads) -> Mapping[str, Any]:
        total, momentum = total_momentum(net, on, x["q"], x["v"])
        n, c, v = np.array(self.plane.normal), centre_of(total, self), momentum[3:] / total.m
        g = on.gravity.acceleration @ n if on.gravity.field is None else self.pull
        z = n @ c - self.plane.height
        return {"p": c - n * z + (v - n * (n @ v)) * np.sqrt(z / g)}

    def examine(self, state: Sequence[Any], nonfinite: str = "raise") -> None:
        super().examine(state, nonfinite)
        if nonfinite == "raise":
            raise StateError(
                f"{self.name}: the centre of mass is not above the ground, which is at {self.plane.height:g} m along "
                f"{self.plane.normal}. Hint: height= says where it is"
            )


def capture_point(
    model: Model, q: Any, v: Any, *, normal: Any = (0.0, 0.0, 1.0), height: float = 0.0, **options: Any
) -> Array:
    """Instantaneous capture point (..., 3) [m] on the ground; see :class:`CapturePoint`."""
    expect_model(model, "capture_point")
    plane = ground_plane(normal, height, "capture_point")
    return cached_solver(model, CapturePoint, normal=plane.normal, height=plane.height)(q, v, **options)
