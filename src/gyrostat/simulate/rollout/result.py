"""What comes out of a rollout, and the exception for robots that fly off."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gyrostat.errors import NonFiniteError
from gyrostat.graph.network import kept_network
from gyrostat.simulate.plant.plant_loops import WORKSPACE, end_of_workspace
from gyrostat.simulate.plant.torque_source import TorqueSource, trouble_ahead
from gyrostat.simulate.rollout.control_law import WHO
from gyrostat.spatial.algebra import Array
from gyrostat.spec.model import Model


@dataclass(frozen=True)
class Rollout:
    """What came out: ``t`` (rows,) [s]; ``q`` (rows, N, nq); ``v`` (rows, N, nv); ``p`` (rows, N, np) states of a
    block; without N for one robot.

    ``diverged`` (N,): the step in which a robot's state was no longer finite, or -1; its later rows are NaN."""

    model: Model
    t: Array
    q: Array
    v: Array
    p: Array
    diverged: Array
    _torque: Any = field(repr=False, default=None)
    _gradient: Any = field(repr=False, default=None)
    _contact: Any = field(repr=False, default=None)

    @property
    def contact_forces(self) -> dict[str, Array]:
        """By the names of contact candidates (rows, N, 3) [N] in contact axes (normal, t1, t2), on the first surface:
        means over the step before each row, zero at the start. With ``method="moreau"``."""
        return self._contact.forces

    @property
    def contact_residual(self) -> Array:
        """(rows, N) [m/s, rad/s]: by how much contacts and stops violated their laws in the step before each row."""
        return self._contact.residual

    @property
    def unsettled(self) -> Array:
        """(N,): how many steps of a robot kept a contact residual above 1e-8."""
        return self._contact.unsettled

    @property
    def tau(self) -> Array:
        """The controller's efforts (rows, N, nv) [N m, N] in these states; computed when asked for."""
        return self._torque()

    def vjp(self, weights: Any) -> dict[str, Array]:
        """Derivatives of sum(w_q q) + sum(w_v v) over all rows and robots, exact for the steps as they were computed.

        ``weights``: a pair (w_q, w_v) or a mapping with "q" and "v", shaped as ``q`` and ``v``; either may be None.
        They count for the coordinates that are stored, all four numbers of a quaternion.

        By name: ``"q0"`` along the rates (nv,), that is for ``gs.integrate(model, q0, d)``; ``"v0"``; every name in
        ``parameters``, gains and physical properties alike; ``"tau"`` if that is constant. Each has the robots' axis in
        front that it was given with; numbers which robots share have the sum over them.

        The motion is computed once more, then backwards [reverse mode, Griewank and Walther]: about three times the
        time of the rollout, however many parameters there are. Memory stays below 64 MB for each thread."""
        return self._gradient(weights)

    def __str__(self) -> str:
        robots, bad = int(np.prod(self.q.shape[1:-1], dtype=int)), int(np.count_nonzero(self.diverged >= 0))
        told = f"; {bad} diverged" if bad else ""
        return f"rollout of '{self.model.name}': {robots} robots, {self.t[-1]:g} s in {len(self.t)} rows{told}"


class DivergedError(NonFiniteError):
    """A robot's state is no longer finite. ``result``: all others, and the rows before it happened."""

    def __init__(self, message: str, result: Rollout | None = None):
        super().__init__(message)
        self.result = result


def divergence(result: Rollout, dt: float, source: TorqueSource | None = None) -> str:
    """Which robot, when, and what its controller says about it, or which of its rates was largest before."""
    bad, v = np.atleast_1d(result.diverged), result.v
    ill = np.flatnonzero(bad >= 0)
    robot = int(ill[np.argmin(bad[ill])])
    rows = v[:, robot] if v.ndim == 3 else v
    whole = np.flatnonzero(np.all(np.isfinite(rows), axis=-1))
    cause, hint = "", "a smaller dt, or less stiffness and gain"
    words = "" if source is None or not len(whole) else _said(result, robot, int(whole[-1]), source)
    if words:
        cause, _, hint = f"; {words}".partition(". Hint: ")
    elif len(whole) and (loops := end_of_workspace(kept_network(result.model), _row(result, robot, int(whole[-1])))):
        cause, hint = f"; {loops}", WORKSPACE
    elif len(whole):
        rate = rows[whole[-1]]
        k = int(np.argmax(np.abs(rate)))
        cause = f"; in the last row before, '{result.model.dofs[k]}' moves fastest, {rate[k]:.3g}"
    who = f"robot {robot}" if v.ndim == 3 else "the robot"
    more = f" ({len(ill)} robots of {len(bad)} diverge)" if len(ill) > 1 else ""
    return (
        f"{WHO}: the state of {who} is not finite any more in step {int(bad[robot])}, t = {bad[robot] * dt:.6g} s"
        f"{cause}{more}. Hint: {hint}; the exception's result holds everything else, nonfinite='return' returns it"
    )


def _row(result: Rollout, robot: int, row: int) -> Array:
    """q (nq,) of a robot after a row."""
    return np.asarray(result.q[(row, robot) if result.v.ndim == 3 else (row,)])


def _said(result: Rollout, robot: int, row: int, source: TorqueSource) -> str:
    """What a controller says about a robot after a row, "" if nothing."""
    at = (row, robot) if result.v.ndim == 3 else (row,)
    t, ahead = float(result.t[row]), float(abs(result.t[1] - result.t[0])) if len(result.t) > 1 else 0.0
    q, v, p = (np.asarray(x[at]) for x in (result.q, result.v, result.p))
    return trouble_ahead(source, result.model, t, (q, v, p, source.m0), ahead)
