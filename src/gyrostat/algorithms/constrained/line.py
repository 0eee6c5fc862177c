"""The line between two frames: its length, and how the rates of the robot change it.

    l = |p_b - p_a|,    dl/dt = G v,    G = n . (J_b - J_a),    n = (p_b - p_a) / l

with the Jacobians J (3, nv) of the two origins, from unit velocities sent through the kinematics [H04 3.2.2.1]. A force
F that pushes the frames apart has the power F dl/dt: it acts on the rates as G^T F. Joints that carry both frames alike
have an exact zero in G; a base that moves by itself carries both."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from gyrostat.algorithms.algorithm import Setting
from gyrostat.algorithms.recursions.kinematics import sweep_motion
from gyrostat.engine.kernel import Kernel
from gyrostat.engine.tracing.record import is_recorded, record
from gyrostat.graph.network import Network
from gyrostat.spatial.algebra import Array, cross
from gyrostat.spatial.base_motion import BaseState
from gyrostat.spatial.gravity import gravity
from gyrostat.spatial.representation import Pose, representation

STILL = BaseState(np.eye(3), np.zeros(3), np.zeros(6), np.zeros(6))


@dataclass(frozen=True, eq=False)
class Line:
    """From the origin of frame ``a`` to that of frame ``b``: full names of ports of ``network``."""

    network: Network
    a: str
    b: str

    def __call__(self, q: Array) -> tuple[Any, Array]:
        """l [m] and G (nv,) [m per unit of each rate] at q (nq,): recorded, or by machine code on numbers."""
        if is_recorded(q):
            return self.swept(q)
        line = self._kernel.call(np.asarray(q, dtype=float))
        return line["length"][()], line["G"]

    def effort(self, G: Array, force: Any) -> Array:
        """G^T F (nv,) [N m, N]; nothing reaches the other rates, not even NaN."""
        tau = np.full(len(G), 0.0, dtype=np.result_type(np.asarray(G), np.asarray(force)))
        for k in self.moves:
            tau[k] = G[k] * force
        return tau

    @cached_property
    def _kernel(self) -> Kernel:
        def function(q: Array) -> Mapping[str, Any]:
            length, G = self.swept(q)
            return {"length": length, "G": G}

        model = self.network.model
        return Kernel(record(function, {"q": (model.nq,)}, f"{model.name}_line"), f"line from '{self.a}' to '{self.b}'")

    @cached_property
    def _paths(self) -> tuple[set[str], set[str]]:
        """Names of the components between the world and each frame."""
        a, b = ({c.name for c, _ in self.network.path(self.network.located[port][0])} for port in (self.a, self.b))
        return a, b

    @cached_property
    def moves(self) -> tuple[int, ...]:
        """Places of the rates that move one frame against the other."""
        a, b = self._paths
        apart = [c for c in self.network.components if c.name in a ^ b]
        return tuple(dict.fromkeys(k for c in apart for ties in c.ties for k, _ in ties))

    def swept(self, q: Array) -> tuple[Any, Array]:
        """The same by the kinematics of the two frames."""
        net, places = self.network, [self.network.located[port] for port in (self.a, self.b)]
        on = Setting(representation("absolute"), gravity(net.context.gravity), STILL if net.driven else 0.0)
        a, b = self._paths
        both = replace(net, components=tuple(c for c in net.components if c.name in a | b))
        rest = np.zeros(net.model.nv)

        def origins(v: Array) -> list[tuple[Pose, Array]]:
            motions = sweep_motion(both, on, q, v, rest)
            return [(motions[at].pose.then(*place), motions[at].V) for at, place in places]

        (from_pose, _), (to_pose, _) = origins(rest)
        d = to_pose.p - from_pose.p
        length = np.sqrt(d @ d)
        n = d / length
        G = np.full(len(rest), 0.0, dtype=object if is_recorded(q) else float)
        for k in self.moves:
            (_, V_a), (_, V_b) = origins(np.eye(len(rest))[k])
            G[k] = n @ (V_b[3:] + cross(V_b[:3], to_pose.p) - V_a[3:] - cross(V_a[:3], from_pose.p))
        return length, G
