"""Inverse operational inertia by recursion over articulated bodies (H04 3.2.4.1, (3.62)-(3.64)), without M.

Y_ij = (Psi H D^-1 H^T Psi^T)_ij is the acceleration of port i for a unit force at port j. Outward, Y_22 = psi Y_11
psi^T + H D^-1 H^T through a joint; two ports in different branches are joined where their paths part: Y_ij =
psi_{i,k} Y_kk psi_{j,k}^T."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from gyrostat.algorithms.algorithm import Setting
from gyrostat.algorithms.matrices.body_jacobians import at_rest, pseudo_velocities, weightless
from gyrostat.algorithms.matrices.ltdl import factorise, inboard_rates
from gyrostat.algorithms.recursions.aba import aba
from gyrostat.algorithms.recursions.articulated_dynamics import sweep_articulated
from gyrostat.algorithms.recursions.articulated_message import Outward
from gyrostat.algorithms.recursions.crba import composite_mass_matrix
from gyrostat.algorithms.recursions.kinematics import sweep_motion
from gyrostat.algorithms.shafts.aba_tied_rates import elimination_plan
from gyrostat.graph.network import Component, Network
from gyrostat.graph.sweep import outward
from gyrostat.spatial.algebra import Array, motion_to_child


def _psi(c: Outward, port: str, X: Array) -> Array:
    """psi_{2,1} X: columns of accelerations, through a component whose joints are free."""
    X = c.shifts[port].motion(X)
    for rate in c.rates:
        X = X - np.outer(rate.s, (rate.U @ X) * rate.inverse)
    return X


def _through(c: Outward, port: str, Y: Array) -> Array:
    """Y behind a component, from Y in front of it: each rate adds what it yields by itself."""
    Y = c.shifts[port].motion(c.shifts[port].motion(Y).T)
    for rate in c.rates:
        Y = Y - np.outer(rate.s, (rate.U @ Y) * rate.inverse)
        Y = Y - np.outer((Y @ rate.U) * rate.inverse, rate.s) + np.outer(rate.s * rate.inverse, rate.s)
    return Y


def inverse_operational_inertia(
    network: Network, on: Setting, q: Array, frames: Sequence[str], selectors: Sequence[Array]
) -> Array:
    """Lambda^-1 = Q Y Q^T (3.64) for frames and selectors Q_k (m_k, 6), each in the axes of its frame."""
    n = network.model.nv
    places = elimination_plan(network, aba.serves)
    if places.meetings or places.frameless:
        return _by_mass_matrix(network, on, q, frames, selectors)
    passed = sweep_articulated(network, on, q, np.zeros(n), np.zeros((n, 1))).components
    ys: dict[int, Array] = {}

    def step(c: Component, Y: Array) -> Mapping[str, Array]:
        out = {name: _through(passed[c.name], name, Y) for name in c.outports}
        ys.update({c.outports[name]: value for name, value in out.items()})
        return out

    outward(network, np.zeros((6, 6)), step)
    located = [network.located[name] for name in frames]
    paths = [network.path(at) for at, _ in located]
    rows: list[list[Array]] = []
    for i, Q_i in enumerate(selectors):
        row: list[Array] = []
        for j, Q_j in enumerate(selectors):
            if j < i:
                row.append(rows[j][i].T)
                continue
            Y = _joined(network, passed, ys, paths[i], paths[j])
            left = motion_to_child(*located[i][1], Y)
            row.append(Q_i @ motion_to_child(*located[j][1], left.T).T @ Q_j.T)
        rows.append(row)
    return np.concatenate([np.concatenate(row, axis=1) for row in rows])


def _by_mass_matrix(
    network: Network, on: Setting, q: Array, frames: Sequence[str], selectors: Sequence[Array]
) -> Array:
    """Q J M^-1 J^T Q^T: where rates are tied across the tree, what one of them moves is not outboard of it alone."""
    n = network.model.nv
    still, rest = weightless(at_rest(network, on), on.representation), np.zeros(n)

    def velocities(v: Array) -> Array:
        motions = sweep_motion(network, still, q, v, rest)
        selected = []
        for name, Q in zip(frames, selectors, strict=True):
            at, place = network.located[name]
            local = on.representation.motion_local(motions[at].pose, motions[at].V)
            selected.append(Q @ motion_to_child(*place, local))
        return np.concatenate(selected)

    J = pseudo_velocities(velocities, n)
    return J @ factorise(inboard_rates(network), composite_mass_matrix(network, on, q)).solve(J.T)


def _joined(
    network: Network,
    passed: Mapping[str, Outward],
    ys: Mapping[int, Array],
    one: Sequence[tuple[Component, str]],
    two: Sequence[tuple[Component, str]],
) -> Array:
    """Y of two outports: from the last port that their paths share."""
    shared = 0
    while shared < min(len(one), len(two)) and one[shared] == two[shared]:
        shared += 1
    Y = np.zeros((6, 6))
    if shared:
        c, port = one[shared - 1]
        Y = ys[c.outports[port]]
    for c, port in one[shared:]:
        Y = _psi(passed[c.name], port, Y)
    Y = Y.T
    for c, port in two[shared:]:
        Y = _psi(passed[c.name], port, Y)
    return Y.T
