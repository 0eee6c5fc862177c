"""What comes of small vibrations on a recorded rigid motion: deflections, angles mu of the hinges, places, forces."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from gyrostat.configuration.manifold import integrate
from gyrostat.errors import StateError, nearest
from gyrostat.flexible.superposed_figures import vibration_figure
from gyrostat.flexible.superposed_nominal import Nominal
from gyrostat.solvers.dynamics.inverse_dynamics import InverseDynamics
from gyrostat.solvers.functions import fk
from gyrostat.solvers.kinematics.forward_kinematics import ForwardKinematics
from gyrostat.solvers.machinery.solver_cache import cached_solver
from gyrostat.spec.model import Model

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Superposed:
    """``t`` (T,) [s]; ``U``, ``U_rate``, ``U_acceleration`` (T, nv), small motions of all rates of the flexible
    ``model`` beside the rigid motion, zero where a rate is locked; ``tau`` (T, nv), efforts of the drives; ``p`` (T, m)
    states of their law. Where there are N cases, they are the second axis: (T, N, nv).

    ``q``, ``v``, ``a``: the rigid motion with the vibration on it."""

    nominal: Nominal
    t: Array
    U: Array
    U_rate: Array
    U_acceleration: Array
    tau: Array
    p: Array
    rows: Array
    """Numbers of the samples of the rigid motion that were kept."""

    def __repr__(self) -> str:
        cases = f", {self.U.shape[1]} cases" if self.U.ndim == 3 else ""
        return (
            f"<small vibrations of '{self.model.name}': {self.t[-1]:g} s in {len(self.t)} rows{cases}, "
            f"{len(self.nominal.elastic)} deflections up to {np.abs(self._elastic).max(initial=0.0):.3g}>"
        )

    @property
    def model(self) -> Model:
        """The flexible model."""
        return self.nominal.model

    @property
    def _elastic(self) -> Array:
        return self.U[..., self.nominal.elastic]

    # ------------------------------------------------------------------ the small motions by name
    def __getitem__(self, name: str) -> Array:
        """Small motions (T, ...) of an entity or of a rate: ``mu`` of a hinge, deflections of a beam."""
        if name in self.model.dofs:
            return self.U[..., self.model.dofs.index(name)]
        block = self.model.layout.of.get(name)
        if block is None:
            hint = nearest(str(name), [*self.model.layout.entities, *self.model.dofs])
            raise StateError(f"superposed: there is no '{name}'. Hint: {hint}")
        return self.U[..., block.v]

    @cached_property
    def mu(self) -> dict[str, Array]:
        """Rate of the rigid model -> what it has turned or moved beside the recorded motion [rad, m], (T,)."""
        names = (self.model.dofs[k] for k in self.nominal.places)
        return {name: self[name] for name in names}

    @cached_property
    def deflections(self) -> dict[str, Array]:
        """Rate that the rigid model does not have -> its coordinate (T,)."""
        return {self.model.dofs[k]: self.U[..., k] for k in self.nominal.elastic}

    # ------------------------------------------------------------------ the whole motion
    def _recorded(self, x: Array) -> Array:
        rows = x[self.rows]
        return rows if self.U.ndim == 2 else rows[:, None]

    @cached_property
    def q(self) -> Array:
        """(T, nq)."""
        return integrate(self.model, self._recorded(self.nominal.q), self.U)

    @cached_property
    def v(self) -> Array:
        """(T, nv)."""
        return self._recorded(self.nominal.v) + self.U_rate + self._turned(self.nominal.v, self.U)

    @cached_property
    def a(self) -> Array:
        """(T, nv), to first order in U."""
        change = self.U_acceleration + self._turned(self.nominal.v, self.U_rate) + self._turned(self.nominal.a, self.U)
        return self._recorded(self.nominal.a) + change

    def _turned(self, twists: Array, U: Array) -> Array:
        """V~ U of coordinates with quaternions."""
        change = np.zeros(U.shape)
        for block in self.model.layout.turning:
            V, d = self._recorded(twists)[..., block.v], U[..., block.v]
            change[..., block.v][..., :3] = np.cross(V[..., :3], d[..., :3])
            if block.nv == 6:
                linear = np.cross(V[..., 3:], d[..., :3]) + np.cross(V[..., :3], d[..., 3:])
                change[..., block.v][..., 3:] = linear
        return change

    def frames(self) -> Any:
        """Places of all frames: ``run.frames()["tip"].p`` (T, 3)."""
        return fk(self.model, self.q, **self._time())

    def deviation(self, frame: str) -> Array:
        """Place of a frame beside that of the rigid motion (T, 3) [m], in the world's axes."""
        solver = cached_solver(self.model, ForwardKinematics, frames=(frame,))
        places = [solver(q, **self._time())[frame].p for q in (self.q, self._recorded(self.nominal.q))]
        return places[0] - places[1]

    def port_forces(self, ports: Any = None) -> dict[str, Array]:
        """The cut force (T, 6) at every port, or some: torque [N m], then force [N], in the port's axes; by Newton and
        Euler for the whole motion."""
        solver = cached_solver(self.model, InverseDynamics, representation="body")
        return solver.port_forces(self.q, self.v, self.a, ports=ports, **self._time())

    def _time(self) -> dict[str, Any]:
        if isinstance(self.model.context.base, str):
            return {}
        return {"t": self.t if self.U.ndim == 2 else self.t[:, None]}

    # ------------------------------------------------------------------ pictures
    def plot(self, frame: str | None = None, case: int = 0) -> Figure:
        """Angles mu of the hinges, deflections, and the deviation of a frame over time, of one case."""
        pick = (lambda x: x[:, case]) if self.U.ndim == 3 else (lambda x: x)
        mu, bent = ({name: pick(x) for name, x in rows.items()} for rows in (self.mu, self.deflections))
        moved = None if frame is None else pick(self.deviation(frame))
        return vibration_figure(self.t, mu, bent, moved, f"{self.model.name}: small vibrations")
