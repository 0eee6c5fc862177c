"""What comes out of a rollout, and the exception for robots that fly off."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gyrostat.errors import NonFiniteError, StateError, clipped
from gyrostat.graph.network import kept_network
from gyrostat.simulate.plant.plant_loops import WORKSPACE, end_of_workspace
from gyrostat.simulate.plant.torque_source import TorqueSource, trouble_ahead
from gyrostat.simulate.rollout.control_law import WHO
from gyrostat.spatial.algebra import Array
from gyrostat.spec.facts import facts_html
from gyrostat.spec.model import Model

if TYPE_CHECKING:
    from matplotlib.figure import Figure


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

    # ------------------------------------------------------------------ pictures
    def plot(self, joints: Any = None, *, quantities: Any = ("q", "v"), **options: Any) -> Figure:
        """A figure of fans over time: bands that hold 90 % and 50 % of the robots, the median, and single robots.

        ``quantities``: of "q", "v" and "tau". Options: ``bands`` [%], ``lanes`` (robots by number, or how many),
        ``title``, ``figure``; see :func:`~gyrostat.view.fans.plot_fans`."""
        from gyrostat.simulate.rollout.files import by_lane
        from gyrostat.view.fans import plot_fans

        names = (quantities,) if isinstance(quantities, str) else tuple(quantities)
        unknown = [name for name in names if name not in ("q", "v", "tau")]
        if unknown or not names:
            raise StateError(f"Rollout.plot: quantities are {clipped(quantities)}. Hint: of 'q', 'v' and 'tau'")
        parts = by_lane(self, names)
        return plot_fans(self.model, self.t, parts, joints, **options)

    def view(self, robot: int = 0, **options: Any) -> Any:
        """Replay one robot in the browser, as far as it is finite; see :func:`gyrostat.view`."""
        from gyrostat.simulate.rollout.files import by_lane
        from gyrostat.view.viewer.viewer import view

        parts = by_lane(self, ("q", "v", "tau"))
        count = parts["q"].shape[1]
        if isinstance(robot, bool) or not isinstance(robot, int) or not 0 <= robot < count:
            raise StateError(f"Rollout.view: there is no robot {clipped(robot)} among {count}. Hint: 0 to {count - 1}")
        q, v, tau = (parts[name][:, robot] for name in ("q", "v", "tau"))
        whole = np.isfinite(q).all(axis=1) & np.isfinite(v).all(axis=1)
        return view(self.model, q[whole], self.t[whole], v=v[whole], tau=tau[whole], **options)

    # ------------------------------------------------------------------ files and tables
    def save(self, path: str | os.PathLike[str]) -> Path:
        """Store states, efforts and model in an .npz file, without pickles; :func:`gyrostat.load_rollout` reads it."""
        from gyrostat.simulate.rollout.files import save_rollout

        return save_rollout(self, path)

    def to_pandas(self) -> Any:
        """A DataFrame with the index (robot, t) and columns (quantity, name)."""
        from gyrostat.simulate.rollout.files import to_pandas

        return to_pandas(self)

    def to_xarray(self) -> Any:
        """A Dataset with q over (t, robot, coordinate), v and tau over (t, robot, rate)."""
        from gyrostat.simulate.rollout.files import to_xarray

        return to_xarray(self)

    def __str__(self) -> str:
        robots, bad = int(np.prod(self.q.shape[1:-1], dtype=int)), int(np.count_nonzero(self.diverged >= 0))
        told = f"; {bad} diverged" if bad else ""
        return f"rollout of '{self.model.name}': {robots} robots, {self.t[-1]:g} s in {len(self.t)} rows{told}"

    def _repr_html_(self) -> str:
        bad = np.flatnonzero(np.atleast_1d(self.diverged) >= 0)
        first = f"{len(bad)}, first robot {bad[0]}" if len(bad) else "none"
        rows = (("q", self.q.shape), ("v", self.v.shape), ("p", self.p.shape), ("diverged", first))
        return facts_html(str(self), rows)


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
