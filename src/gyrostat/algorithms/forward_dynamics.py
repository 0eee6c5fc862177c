"""Forward dynamics and mass matrix by every algorithm of the sources, under one roof: the same results, each an
oracle for the others."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gyrostat.algorithms.algorithm import Setting
from gyrostat.algorithms.matrices.body_jacobians import weightless
from gyrostat.algorithms.matrices.jacobian_equations import (
    applied_forces,
    coriolis_from_jacobians,
    gravity_forces,
    mass_matrix,
)
from gyrostat.algorithms.matrices.ltdl import factorise, inboard_rates
from gyrostat.algorithms.matrices.single_joint_forces import single_joint_forces
from gyrostat.algorithms.recursions.articulated_dynamics import forward_dynamics as articulated
from gyrostat.algorithms.recursions.crba import composite_mass_matrix
from gyrostat.algorithms.recursions.mrnea import mass_matrix_and_bias
from gyrostat.algorithms.recursions.rne import Loads, no_loads, sweep_forces
from gyrostat.graph.network import Network
from gyrostat.spatial.algebra import Array

MassMatrixFunction = Callable[[Network, Setting, Array], Array]
ForwardFunction = Callable[[Network, Setting, Array, Array, Array, Loads], Array]


def _bias(net: Network, on: Setting, q: Array, v: Array, loads: Loads) -> Array:
    return sweep_forces(net, on, q, v, np.zeros(len(v)), loads)[0]


def _mass_matrix_by_columns(net: Network, on: Setting, q: Array) -> Array:
    """M column by column: Newton-Euler with unit accelerations, at rest and without gravity [Walker, Orin 1982, 1]."""
    n, on = net.model.nv, weightless(on, on.representation)
    rest = np.zeros(n)
    given = sweep_forces(net, on, q, rest, rest)[0]  # force elements
    columns = [sweep_forces(net, on, q, rest, unit)[0] - given for unit in np.eye(n)]
    return np.stack(columns, axis=1) if columns else np.zeros((0, 0))


def _mass_matrix_by_mrnea(net: Network, on: Setting, q: Array) -> Array:
    return mass_matrix_and_bias(net, on, q, np.zeros(net.model.nv))[0]


def _mass_matrix_by_rows(net: Network, on: Setting, q: Array) -> Array:
    """M row by row, each by itself [G13 (12)]."""
    n, on = net.model.nv, weightless(on, on.representation)
    rest, every = np.zeros(n), range(n)
    given = single_joint_forces(net, on, q, rest, rest, every, no_loads)
    columns = [single_joint_forces(net, on, q, rest, unit, every, no_loads) - given for unit in np.eye(n)]
    return np.stack(columns, axis=1) if columns else np.zeros((0, 0))


MASS_MATRIX: dict[str, MassMatrixFunction] = {
    "crba": composite_mass_matrix,
    "walker-orin": _mass_matrix_by_columns,
    "mrnea": _mass_matrix_by_mrnea,
    "newton-euler": _mass_matrix_by_rows,
    "operators": mass_matrix,
}


def _solved(net: Network, M: Array, forces: Array) -> Array:
    return factorise(inboard_rates(net), M).solve(forces)


def _crba(net: Network, on: Setting, q: Array, v: Array, tau: Array, loads: Loads) -> Array:
    return _solved(net, composite_mass_matrix(net, on, q), tau - _bias(net, on, q, v, loads))


def _walker_orin(net: Network, on: Setting, q: Array, v: Array, tau: Array, loads: Loads) -> Array:
    """n + 1 times Newton-Euler."""
    return _solved(net, _mass_matrix_by_columns(net, on, q), tau - _bias(net, on, q, v, loads))


def _mrnea(net: Network, on: Setting, q: Array, v: Array, tau: Array, loads: Loads) -> Array:
    """Newton-Euler once."""
    H, bias = mass_matrix_and_bias(net, on, q, v, loads)
    return _solved(net, H, tau - bias)


def _newton_euler(net: Network, on: Setting, q: Array, v: Array, tau: Array, loads: Loads) -> Array:
    bias = single_joint_forces(net, on, q, v, np.zeros(len(v)), range(len(v)), loads)
    return _solved(net, _mass_matrix_by_rows(net, on, q), tau - bias)


def _operators(net: Network, on: Setting, q: Array, v: Array, tau: Array, loads: Loads) -> Array:
    """D a = T - C v - G - Q (23). A base that moves by itself is in none of them: Newton-Euler tells its part."""
    given = coriolis_from_jacobians(net, on, q, v) @ v + gravity_forces(net, on, q)
    given = given + applied_forces(net, on, q, loads, v)
    if net.driven:
        given = _bias(net, on, q, v, loads)
    return _solved(net, mass_matrix(net, on, q), tau - given)


FORWARD: dict[str, ForwardFunction] = {
    "aba": articulated,
    "crba": _crba,
    "walker-orin": _walker_orin,
    "mrnea": _mrnea,
    "newton-euler": _newton_euler,
    "operators": _operators,
}
