"""Dynamics of closed loops by projection, from the open tree: independent of how loops are solved or eliminated.

The motion of the tree is any that satisfies J a + b = 0; forces of the loops do no work along the null space N of J."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

import gyrostat as gs
from gyrostat.algorithms.algorithm import Setting
from gyrostat.algorithms.recursions.crba import composite_mass_matrix
from gyrostat.algorithms.recursions.rne import sweep_forces
from gyrostat.graph.loops.numbers import LoopNumbers
from gyrostat.graph.loops.plan import tree_of
from gyrostat.graph.loops.ways import closures
from gyrostat.graph.network import network
from gyrostat.spatial.gravity import gravity
from gyrostat.spatial.representation import representation


class TreeState(NamedTuple):
    """The same state in the coordinates of the tree, and T (nv of the tree, nv): rates of the tree by those of the
    model."""

    q: np.ndarray
    v: np.ndarray
    a: np.ndarray
    T: np.ndarray


def in_tree(model: gs.Model, q, v, a) -> TreeState:
    tree = tree_of(model)
    moved, to = network(model).transmission.at(q, v), network(tree).transmission
    coordinates, rates, accelerations = moved.coordinates(q), moved.rates(v), moved.accelerations(a)
    Q, V, A, T = np.zeros(tree.nq), np.zeros(tree.nv), np.zeros(tree.nv), np.zeros((tree.nv, model.nv))
    for block in tree.layout:
        q_at, v_at = moved.slices[block.entity]
        count = block.v.stop - block.v.start
        Q[block.q] = coordinates[q_at][: block.nq].astype(float)
        V[block.v], A[block.v] = rates[v_at][:count], accelerations[v_at][:count]
        for i in range(count):
            for k, factor in moved.ties(v_at.start + i):
                T[block.v.start + i, k] += factor
    assert to.n == tree.nv
    return TreeState(Q, V, A, T)


class Equations(NamedTuple):
    """M, h, J, b and g of the open tree."""

    M: np.ndarray
    h: np.ndarray
    J: np.ndarray
    b: np.ndarray
    g: np.ndarray


def tree_equations(model: gs.Model, q, v) -> Equations:
    """For a state of the tree."""
    tree = tree_of(model)
    net = network(tree)
    on = Setting(representation("body"), gravity(tree.context.gravity))
    numbers = LoopNumbers(net, closures(net))
    g, J = numbers.jacobian(q)
    moved = net.transmission.at(q, v)
    every = moved.coordinates(q), moved.rates(v)
    bias = []
    for closure in closures(net):
        rows = closure.rows(*every)
        more = sum((column * float(moved.accelerations(np.zeros(tree.nv))[k]) for k, column in rows.J.items()), 0.0)
        bias.append((rows.bias + more).astype(float))
    h = sweep_forces(net, on, q, v, np.zeros(tree.nv))[0]
    return Equations(composite_mass_matrix(net, on, q), h, J, np.concatenate(bias), g)


def accelerations(model: gs.Model, q, v, tau) -> np.ndarray:
    """a of the tree for tau of the tree."""
    M, h, J, b, _ = tree_equations(model, q, v)
    _, s, vt = np.linalg.svd(J)
    rank = int((s > 1e-8 * s.max(initial=1e-300)).sum())
    N = vt[rank:].T
    a = -np.linalg.lstsq(J, b, rcond=1e-9)[0]
    return a + N @ np.linalg.solve(N.T @ M @ N, N.T @ (tau - h - M @ a))
