"""The torque regressor: generalised forces are linear in the ten inertial parameters of every body.

Of a body, about its origin and in its axes: m, m c (3), J_xx, J_xy, J_xz, J_yy, J_yz, J_zz. Newton-Euler with each
parameter alone equal to one gives a force (6, 10); it is carried inward like any force."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gyrostat.algorithms.algorithm import Setting
from gyrostat.algorithms.recursions.kinematics import Own, rigid, sweep_motion, world_motion
from gyrostat.algorithms.recursions.transfer import Transfer, transfer_of
from gyrostat.graph.network import Component, Network
from gyrostat.graph.sweep import inward
from gyrostat.spatial.algebra import Array, cross, force_to_parent, join
from gyrostat.spatial.inertia import SpatialInertia
from gyrostat.spatial.representation import Motion

PARAMETERS = ("m", "mx", "my", "mz", "Jxx", "Jxy", "Jxz", "Jyy", "Jyz", "Jzz")
PLACES = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))


def parameters_of(M: SpatialInertia) -> Array:
    """The ten numbers of a spatial inertia."""
    return np.array([M.m, *M.h, *(M.J[i, j] for i, j in PLACES)])


def _unit(k: int) -> SpatialInertia:
    """The inertia whose k-th parameter is one, the others zero."""
    J = np.zeros((3, 3))
    if k >= 4:
        i, j = PLACES[k - 4]
        J[i, j] = J[j, i] = 1.0
    return SpatialInertia(float(k == 0), np.array([float(k == 1), float(k == 2), float(k == 3)]), J)


@dataclass(frozen=True)
class UnitForces:
    """Forces (6, 10) by the number of the body."""

    F: Mapping[int, Array]

    def __add__(self, other: UnitForces) -> UnitForces:
        return UnitForces({**self.F, **other.F})

    def __sub__(self, given: UnitForces) -> UnitForces:
        return self + given


def _needed(on: Setting, motion: Motion) -> Array:
    """Forces (6, 10) that unit parameters need for a motion, in the representation."""
    rep, pose = on.representation, motion.pose
    columns = []
    for k in range(10):
        unit = _unit(k)
        f = rep.newton_euler(rep.inertia(pose, unit), np.zeros(6), motion.V, motion.A)
        if on.gravity.field is not None:  # uniform: m g at the centre of mass is linear in m and m c
            g = pose.R.T @ np.asarray(on.gravity.field(pose.p))
            f = f - rep.force(pose, join(cross(unit.h, g), g * unit.m))
        columns.append(f)
    return np.stack(columns, axis=1)


def regressor(network: Network, on: Setting, q: Array, v: Array, a: Array, bodies: Sequence[str]) -> Array:
    """Y (nv, 10 bodies) with tau = Y pi + what does not depend on inertias. ``on`` must be in body representation."""
    through: dict[str, Transfer] = {}

    def begin(c: Component, motion: Motion, memo: Any, own: Own) -> None:
        through[c.name] = transfer_of(c, on, motion, memo, own)

    motions = sweep_motion(network, on, q, v, a, world_motion(on.gravity.acceleration), begin)
    loads: dict[int, UnitForces] = {}
    for k, name in enumerate(bodies):
        at, (R, p) = network.located[f"{name}.origin"]
        origin, _ = rigid(on, motions[at], R, p)
        given = UnitForces({k: force_to_parent(R, p, _needed(on, origin))})
        loads[at] = loads[at] + given if at in loads else given
    count = network.model.nv + len(network.transmission.followers)
    Y = np.full((count, 10 * len(bodies)), 0.0, dtype=np.result_type(np.asarray(q), np.float64))

    def step(c: Component, messages: Mapping[str, UnitForces]) -> UnitForces:
        phi, S = through[c.name].shifts, through[c.name].S
        total: dict[int, Array] = {}
        for name, message in messages.items():
            for k, F in message.F.items():
                if len(c.ties):
                    Y[c.v_at, 10 * k : 10 * k + 10] = S[name].T @ F
                total[k] = phi[name].force(F)
        return UnitForces(total)

    inward(network, UnitForces({}), step, loads)
    return network.transmission.gathered(Y)
