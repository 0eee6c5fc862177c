"""Placements of frames, and the static forces at joints that deflect, as a compiled program with its derivatives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gyrostat.algorithms.algorithm import Setting
from gyrostat.algorithms.recursions.kinematics import sweep_motion
from gyrostat.algorithms.recursions.rne import Loads, sweep_forces
from gyrostat.engine.kernel import Kernel
from gyrostat.engine.tracing.derivative import pushforward
from gyrostat.graph.network import Network
from gyrostat.solvers.machinery.call_signatures import of_configuration
from gyrostat.solvers.machinery.state_solver import StateSolver
from gyrostat.spec.model import Model

Array = np.ndarray


class StaticProgram(StateSolver):
    """R (f, 3, 3), p (f, 3) of ``frames`` in the world, and the generalised forces tau (r,) that hold the robot at rest
    at the rates ``rows``; with their derivatives along any change of q and of live properties."""

    name = "static_poses"
    state = ("q",)
    __call__ = of_configuration
    loops = "closed"
    rate_axes = (("R", ()), ("p", ()), ("tau", ()))

    def __init__(self, model: Model, frames: Sequence[str], rows: Sequence[int], live: Sequence[str] = ()):
        super().__init__(model, "body", None, live)
        self.frames = tuple(self.network.port(name) for name in frames)
        self.rows = list(rows)

    def compute(self, net: Network, on: Setting, x: Mapping[str, Any], given: Loads) -> Mapping[str, Any]:
        rest = np.zeros(net.model.nv)
        if self.rows:
            tau, _, motions = sweep_forces(net, on, x["q"], rest, rest)
            held = tau[self.rows]
        else:
            motions, held = sweep_motion(net, on, x["q"], rest, rest), np.zeros(0)
        poses = [motions[at].pose.then(*place) for at, place in (net.located[name] for name in self.frames)]
        R, p = np.array([pose.R for pose in poses]), np.array([pose.p for pose in poses])
        return {"R": R, "p": p, "tau": held}

    @property
    def outputs(self) -> tuple[str, ...]:
        return ("R", "p", "tau")

    def derivative_kernel(self) -> Kernel:
        """Outputs R, p, tau and their rates along a direction of q and of every live property."""
        names = ["R", "p", "tau"] if self.rows else ["R", "p"]
        return Kernel(pushforward(self.main_kernel().program, names, ["q", *self.live], primal=True), self.name)
