"""What functions of a study see of one point of a motion."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from gyrostat.algorithms.contact.contact_rows import held_wrenches
from gyrostat.algorithms.recursions.kinematics import sweep_motion
from gyrostat.engine.tracing.signals import handed
from gyrostat.errors import GyrostatError, nearest
from gyrostat.solvers.dynamics.center_of_mass import total_momentum
from gyrostat.solvers.kinematics.frame_motion import frame_quantities

if TYPE_CHECKING:
    from gyrostat.studies.optimal_control.phase_space import PhaseSpace, Split

Array = np.ndarray


class FrameView:
    """A frame at a point: ``p`` (3,) [m] and ``R`` (3, 3) in the world, ``velocity`` and ``spin`` (3,) in the axes of
    the world, ``acceleration`` (3,) of its origin."""

    def __init__(self, quantities: dict[str, list[Any]]):
        self.R, self.p = np.asarray(quantities["R"][0]), handed(np.asarray(quantities["p"][0]))
        self._V, self._A = np.asarray(quantities["V"][0]), np.asarray(quantities["A"][0])

    @property
    def velocity(self) -> Array:
        return self.R @ self._V[3:]

    @property
    def spin(self) -> Array:
        return self.R @ self._V[:3]

    @property
    def acceleration(self) -> Array:
        w, v = self._V[:3], self._V[3:]
        turned = np.array([w[1] * v[2] - w[2] * v[1], w[2] * v[0] - w[0] * v[2], w[0] * v[1] - w[1] * v[0]])
        return self.R @ (self._A[3:] + turned)


class Point:
    """One point of a motion, as recorded arrays: use plain NumPy on them.

    ``t`` [s] from the start of the motion, ``fraction`` of the phase (0 to 1), ``duration`` [s] of the phase; ``q``
    (nq,), ``v``, ``a`` (nv,); ``u`` (controls,), ``tau`` (nv,) [N m, N]; ``parameters`` by name; ``forces`` by contact
    frame: (6,), torque and force on the robot in the axes of the frame, about its origin."""

    def __init__(self, space: PhaseSpace, split: Split, y: Array | None):
        self._space, self._split, self._y = space, split, y
        self.t, self.fraction, self.duration = split.t, split.fraction, split.duration
        self.q, self.v, self.u = handed(split.q), handed(split.v), handed(split.u)
        self.parameters = dict(split.parameters)

    @cached_property
    def tau(self) -> Array:
        """(nv,): controls at their rates, zero elsewhere."""
        return handed(self._space.efforts(self._split.u))

    @cached_property
    def a(self) -> Array:
        """Accelerations (nv,) that the dynamics give."""
        return handed(self._dynamics("a")[: self._space.n])

    @cached_property
    def forces(self) -> dict[str, Array]:
        """Wrenches (6,) of the contacts on the robot."""
        space = self._space
        if not space.held:
            return {}
        wrenches = held_wrenches(space.held, self._motions, self._dynamics("forces")[space.force_rows])
        return {h.contact.frame: handed(w) for h, w in zip(space.held, wrenches, strict=True)}

    def _dynamics(self, what: str) -> Array:
        if self._y is None:
            raise GyrostatError(f"{self._space.who}: {what} are not known here. Hint: use them in path, start or end")
        return self._y

    @cached_property
    def _motions(self) -> Any:
        split, space = self._split, self._space
        return sweep_motion(split.net, space.on, split.q, split.v, np.zeros(space.n))

    def ground_force(self, frame: str) -> Array:
        """Force (3,) [N] of a contact on the robot, in the axes of the world."""
        if frame not in self.forces:
            raise GyrostatError(
                f"{self._space.who}: '{frame}' is no contact of this phase. Hint: {nearest(frame, list(self.forces))}"
            )
        return handed(self.frame(frame).R @ self.forces[frame][3:])

    def frame(self, name: str) -> FrameView:
        """Where a frame is and how it moves."""
        split, space = self._split, self._space
        port = split.net.port(name)
        a = np.zeros(space.n) if self._y is None else self._y[: space.n]
        return FrameView(frame_quantities(split.net, space.on, [port], split.q, split.v, a))

    @cached_property
    def _mass(self) -> Any:
        split, space = self._split, self._space
        return total_momentum(split.net, space.on, split.q, split.v)

    @property
    def center_of_mass(self) -> Array:
        """(3,) [m] in the world."""
        total = self._mass[0]
        return handed(np.asarray(total.h / total.m))

    @property
    def center_of_mass_velocity(self) -> Array:
        """(3,) [m/s] in the world."""
        total, momentum = self._mass
        return handed(np.asarray(momentum[3:] / total.m))

    @cached_property
    def base_wrench(self) -> Array:
        """Rate of change of the robot's momentum less gravity (6,): torque about the world's origin and force that the
        world exerts on the robot, in the axes of the world."""
        split, space = self._split, self._space
        return space.external_wrench(split, self._dynamics("a")[: space.n])

    def zero_moment_point(self, height: float = 0.0) -> Array:
        """(2,) x and y [m] of the point of the plane z = ``height`` about which the world exerts no horizontal torque
        on the robot."""
        w = self.base_wrench
        n, f = w[:3], w[3:]
        return handed(np.array([(-n[1] + height * f[0]) / f[2], (n[0] + height * f[1]) / f[2]], dtype=object))
