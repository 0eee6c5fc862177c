"""Articulated bodies as stacked operators (H04 (3.7)-(3.13)): the innovations factorisation for any tree, with drives.

H04 lets every rate act at one port. A gear or a coupling lets it act at several: behind a joint, and on the shaft of a
rotor. Rates are eliminated stage by stage, so these ports must be of one stage; ways between them that take several
stages are then passed in one. Their shifts are gathered in ``E_tied``, zero where every rate acts at one stage, as in
H04.

With E = E_phi - E_tied: P solves (1 - E_tied)^T P (1 - E_tied) = M + E^T tau-bar^T P tau-bar E, K = G E and E_psi =
E_phi - H K. Without E_tied that is (3.7), (3.12), (3.11). For any P that solves it, H^T Phi^T M Phi H is
(1 + K Phi H)^T D (1 + K Phi H)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gyrostat.errors import StateError
from gyrostat.spatial.algebra import Array

SINGULAR = 1e-13
"""Smallest eigenvalue of D over its largest, below which something without inertia can move."""


@dataclass(frozen=True)
class ArticulatedOperators:
    """``P`` (6N, 6N) articulated inertias (3.7), ``D`` (n, n) about the axes (3.8), ``G`` (n, 6N) gain (3.9),
    ``tau_bar`` (6N, 6N) (3.10), ``E_psi`` (6N, 6N) articulated shift (3.11), ``K`` (n, 6N) shifted gain (3.12), ``Psi``
    (6N, 6N) (3.13), ``E_tied`` (6N, 6N) shifts inside of groups of tied rates."""

    P: Array
    D: Array
    G: Array
    tau_bar: Array
    E_psi: Array
    K: Array
    Psi: Array
    E_tied: Array


def articulated(
    E_phi: Array, H: Array, M: Array, parent: Sequence[int | None], dofs: Sequence[str]
) -> ArticulatedOperators:
    """The operators of a forest of ports with shifts E_phi, axes H and inertias M; ``parent`` of each port."""
    one = np.eye(len(M))
    acts = np.abs(H).reshape(len(parent), 6, -1).sum(axis=1) > 0.0  # (ports, rates)
    joined = _one_stage(parent, acts)
    E_tied = E_phi * np.repeat(joined, 6)[:, None]
    Q = np.linalg.inv(one - E_tied)
    E, H_group = Q @ (E_phi - E_tied), Q @ H
    P = Q.T @ _by_stages(E, H_group, M, _stages(parent, acts, joined), dofs) @ Q
    D = H.T @ P @ H
    G = np.linalg.solve(D, H.T @ P)
    K = G @ (E_phi - E_tied)
    E_psi = E_phi - H @ K
    return ArticulatedOperators(P, D, G, one - H @ G, E_psi, K, np.linalg.inv(one - E_psi), E_tied)


def _by_stages(E: Array, H: Array, M: Array, stages: Array, dofs: Sequence[str]) -> Array:
    """P = M + E^T (P - P H D^-1 H^T P) E, from the outermost stage inward; ports of one stage only are coupled."""
    P, outer = np.zeros_like(M), None
    stage_of = np.repeat(stages, 6)
    for stage in range(int(stages.max(initial=0)), -1, -1):
        here = np.flatnonzero(stage_of == stage)
        own = M[np.ix_(here, here)]
        if outer is not None:
            ports, X = outer
            shift = E[np.ix_(ports, here)]
            own = own + shift.T @ X @ shift
        P[np.ix_(here, here)] = own
        outer = here, own - _yielding(own, H[here], dofs)
    return P


def _yielding(P: Array, H: Array, dofs: Sequence[str]) -> Array:
    """P H D^-1 H^T P of the rates that act here."""
    rates = np.flatnonzero(np.abs(H).sum(axis=0))
    if not len(rates):
        return np.zeros_like(P)
    PH = P @ H[:, rates]
    D = H[:, rates].T @ PH
    sizes = np.linalg.eigvalsh(D)
    if sizes[0] <= SINGULAR * max(sizes[-1], 0.0):
        names = ", ".join(dofs[int(k)] for k in rates[:6])
        raise StateError(
            f"operators: the articulated inertia D about the axes of {names} is singular. Hint: something without "
            "inertia can move; see gs.check"
        )
    return PH @ np.linalg.solve(D, PH.T)


# ------------------------------------------------------------------------------------------------ stages
def _one_stage(parent: Sequence[int | None], acts: Array) -> Array:
    """(ports,): whether the way into a port is passed in the stage of the port before it."""
    joined = np.zeros(len(parent), dtype=bool)
    classes = [[p for p in ports if p not in _alone(parent)] for ports in _classes(acts)]
    uneven = True
    while uneven:  # what hangs on ports that moved is at another depth, too
        uneven = False
        for ports in classes:
            for first in (1, 0):
                if not _even(parent, ports, joined):
                    uneven = True
                    _pass_in_one_stage(parent, ports, joined, first)
    return joined


def _even(parent: Sequence[int | None], ports: Sequence[int], joined: Array) -> bool:
    return len({_depth(parent, p, joined) for p in ports}) < 2


def _pass_in_one_stage(parent: Sequence[int | None], ports: Sequence[int], joined: Array, first: int) -> None:
    """All ways from where the paths to these ports part, but for the first step unless a rate acts there."""
    ways = [_way(parent, p) for p in ports]
    start = [p for p in ways[0] if all(p in way for way in ways)][-1]
    for way in ways:
        joined[way[way.index(start) + 1 + (first if start not in ports else 0) :]] = True


def _alone(parent: Sequence[int | None]) -> set[int]:
    """Ports that nothing carries and that carry nothing: shafts of elements."""
    return {p for p in range(len(parent)) if parent[p] is None} - set(parent)


def _way(parent: Sequence[int | None], port: int) -> list[int]:
    """Ports from a root to this one."""
    way, at = [port], parent[port]
    while at is not None:
        way.append(at)
        at = parent[at]
    return way[::-1]


def _classes(acts: Array) -> list[list[int]]:
    """Ports at which a rate acts, those of rates that share one together."""
    left, classes = {k: set(np.flatnonzero(acts[:, k])) for k in range(acts.shape[1])}, []
    while left:
        _, ports = left.popitem()
        while True:
            more = [k for k, others in left.items() if others & ports]
            if not more:
                break
            for k in more:
                ports |= left.pop(k)
        classes.append(sorted(int(p) for p in ports))
    return classes


def _depth(parent: Sequence[int | None], port: int, joined: Array) -> int:
    """Stages from the root to a port; ways that are passed in one stage take none."""
    return sum(1 for p in _way(parent, port)[1:] if not joined[p])


def _stages(parent: Sequence[int | None], acts: Array, joined: Array) -> Array:
    """The stage of every port; shafts of elements have that of the rates that move them."""
    stages = np.array([_depth(parent, p, joined) for p in range(len(parent))], dtype=int)
    alone = _alone(parent)
    for ports in _classes(acts):
        others = [p for p in ports if p not in alone]
        stages[[p for p in ports if p in alone]] = stages[others[0]] if others else 0
    return stages
