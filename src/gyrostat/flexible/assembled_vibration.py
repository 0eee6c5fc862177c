"""``gs.flexible.assembled``: small vibrations of reduced finite-element links, assembled over hinges [AS 2.2]."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from gyrostat.errors import StateError, nearest
from gyrostat.flexible.assembled_links import AssembledLinks
from gyrostat.flexible.rigid_links import rigid as with_rigid_links
from gyrostat.flexible.superposed_drives import GivenEfforts, Law
from gyrostat.flexible.superposed_loads import Loads
from gyrostat.flexible.superposed_nominal import nominal
from gyrostat.flexible.superposed_propagation import integrated, table_of, whole_number
from gyrostat.flexible.superposed_steps import Vibration
from gyrostat.flexible.superposed_vibration import case_count, starts
from gyrostat.simulate.trajectories.trajectory import Trajectory
from gyrostat.solvers.functions import fk
from gyrostat.spec.check import expect_model
from gyrostat.spec.model import Model

Array = np.ndarray
WHO = "assembled"


@dataclass(frozen=True, eq=False)
class AssembledVibration:
    """``t`` (T,) [s]; ``U``, ``U_rate``, ``U_acceleration`` (T, n), or (T, N, n) of N cases, of the variables
    ``names``: angles mu of the hinges, and displacements of the links' sections seen from their first ones; ``tau``
    (T, n'), efforts of the hinges in the order of the rigid model."""

    links: AssembledLinks
    t: Array
    U: Array
    U_rate: Array
    U_acceleration: Array
    tau: Array
    rows: Array

    @property
    def names(self) -> tuple[str, ...]:
        return self.links.names

    def __getitem__(self, name: str) -> Array:
        """One variable (T,), or (T, N)."""
        if name not in self.names:
            raise StateError(f"{WHO}: there is no '{name}'. Hint: {nearest(str(name), self.names)}")
        return self.U[..., self.names.index(name)]

    @property
    def mu(self) -> dict[str, Array]:
        """Hinge -> what it has turned beside the recorded motion [rad]."""
        return {name: self[name] for name in self.links.given.rigid.dofs}

    def deviation(self, frame: str) -> Array:
        """Place of a port beside that of the rigid motion, to first order (T, 3) [m], in the world's axes."""
        X = self.links.displacement(frame, self.rows)[:, 3:]
        X = fk(self.links.given.model, self.links.given.q[self.rows])[frame].R @ X
        return np.einsum("tij,t...j->t...i", X, self.U)


def assembled(
    model: Model,
    motion: Any,
    torque: Any = None,
    *,
    rigid: Model | None = None,
    dt: float | None = None,
    start: Any = None,
    start_rate: Any = None,
    wrenches: Mapping[str, Any] | None = None,
    inside: int = 3,
    elements: int = 24,
    method: str = "simpson",
    every: int = 1,
) -> AssembledVibration:
    """Small motions about a recorded rigid motion as AS computes them: links by finite elements, reduced by
    (12)-(18), assembled over hinges (program MON), and simulated by M(q) U'' + K U = R + F (19) (program VMS).

    ``model``: a tree of revolute hinges, rigid bodies and :class:`FlexibleBeam`, each met by its port a, on a fixed
    base. Beams have ``elements`` finite elements, of which displacements at ``inside`` places are kept beside those of
    the end sections; their modes and method do not matter. Other arguments are those of :func:`superposed`.

    Left out, as in AS: Coriolis forces on U, and the stiffness that rotation, weight and the forces in bent links
    cause. :func:`superposed` has them."""
    expect_model(model, WHO)
    stiff = rigid if rigid is not None or not isinstance(motion, Trajectory) else with_rigid_links(model)
    given = nominal(model, motion, stiff, dt, WHO)
    table, count = table_of(method, WHO), whole_number(every, WHO)
    links = AssembledLinks(given, inside, elements, WHO)
    recorded = links.efforts(slice(None)) if given.tau is None else given.tau
    drives: Any = Law(given, torque, {}, WHO) if torque is not None else GivenEfforts(recorded)
    jacobians = {port: links.displacement(port, slice(None)) for port in wrenches or ()}
    loads = Loads(given.t, wrenches, jacobians, WHO) if wrenches else None
    vibration = Vibration(links, drives, links.rows, loads, WHO)
    elastic = np.setdiff1d(links.free, links.rows).tolist()
    U = starts(len(links.names), links.free, start, "start", lambda: vibration.sag(elastic))
    V = starts(len(links.names), links.free, start_rate, "start_rate")
    cases = case_count({}, U, V, loads, WHO)
    kept = integrated(vibration, table, U, V, cases, count)
    at = np.arange(0, len(given.t), count)
    tau = np.stack([vibration.torques(int(k), x) for k, x in zip(at, kept, strict=True)])
    rows = [np.stack([getattr(x, name) for x in kept]) for name in ("U", "V", "A")]
    rows = [x if cases else x[:, 0] for x in (*rows, tau)]
    return AssembledVibration(links, given.t[at], rows[0], rows[1], rows[2], rows[3], at)
