"""What tasks see of a robot while their errors are recorded: placements, Jacobians, the centre of mass, q itself."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from gyrostat.algorithms.algorithm import Setting
from gyrostat.algorithms.recursions.crba import total_inertia
from gyrostat.algorithms.recursions.kinematics import sweep_motion
from gyrostat.errors import StateError
from gyrostat.graph.network import Network
from gyrostat.solvers.kinematics.frame_jacobian import recorded_jacobian
from gyrostat.spatial.representation import Pose, representation

Array = np.ndarray
ABSOLUTE = representation("absolute")


@dataclass
class Scene:
    """A robot at q (nq,), recorded; what was asked for once is kept."""

    net: Network
    on: Setting
    q: Array
    _kept: dict[str, object] = field(default_factory=dict)

    def pose(self, port: str) -> Pose:
        """Placement of a located port in the world."""
        if "motions" not in self._kept:
            rest = np.zeros(self.net.model.nv)
            self._kept["motions"] = sweep_motion(self.net, self._absolute, self.q, rest, rest)
        at, place = self.net.located[port]
        return self._kept["motions"][at].pose.then(*place)  # type: ignore[index]

    def jacobian(self, port: str, expressed_in: str = "local") -> Array:
        """(6, nv), see :class:`~gyrostat.solvers.kinematics.frame_jacobian.Jacobian`."""
        key = f"{expressed_in} {port}"
        if key not in self._kept:
            self._kept[key] = recorded_jacobian(self.net, self.on, self.q, port, expressed_in)
        return self._kept[key]  # type: ignore[return-value]

    def centre_of_mass(self) -> tuple[Array, Array]:
        """(3,) in the world, and its Jacobian (3, nv)."""
        total, columns = total_inertia(self.net, self._absolute, self.q)
        if isinstance(total.m, float) and total.m <= 0.0:
            raise StateError(f"CenterOfMass: '{self.net.model.name}' has no mass. Hint: give its bodies a mass")
        rows = [columns.get(k, np.zeros(6))[3:] / total.m for k in range(self.net.model.nv)]
        return total.h / total.m, (np.stack(rows, axis=1) if rows else np.zeros((3, 0)))

    @property
    def _absolute(self) -> Setting:
        return Setting(ABSOLUTE, self.on.gravity, self.on.t)
