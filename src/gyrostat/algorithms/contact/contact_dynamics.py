"""Dynamics with frames in contact [H04 (3.64)-(3.66)]:

    M a + h = tau + J^T f,    J a + dJ/dt v = -C f,    so    (Lambda^-1 + C) f = -(J a_0 + dJ/dt v)

with a_0 the acceleration without contacts, C the compliances. Two ways to the same numbers:

* *articulated bodies*: unit contact forces are further columns of the inward sweep. With u_i = s . z_i of every rate,
  Lambda^-1 = sum of u_i u_j / d and J a_0 = sum of u_i u_0 / d, without J and M, and one sweep outward remains.
* *mass matrix*: where rates are tied (rotors, gears, loops in minimal coordinates), joints locked, or loops are
  constraints: Lambda^-1 = J Y, Y = M^-1 J^T, with M^-1 that of [[M, J_l^T], [J_l, 0]] if there are loops."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from gyrostat.algorithms.algorithm import Setting
from gyrostat.algorithms.constrained.sparse_ldl import is_zero, product
from gyrostat.algorithms.contact.contact_rows import (
    Held,
    compliances,
    contact_jacobian,
    count,
    held_accelerations,
    held_wrenches,
)
from gyrostat.algorithms.contact.redundant_forces import contact_factors
from gyrostat.algorithms.matrices.body_jacobians import at_rest, weightless
from gyrostat.algorithms.recursions.aba import aba, articulated_inertias, bias_accelerations, eliminate
from gyrostat.algorithms.recursions.articulated_message import Inward, Outward
from gyrostat.algorithms.recursions.frame_forces import with_frame_forces
from gyrostat.algorithms.recursions.kinematics import Own, sweep_motion
from gyrostat.algorithms.recursions.right_hand_sides import in_columns
from gyrostat.algorithms.recursions.rne import Loads, no_loads
from gyrostat.algorithms.shafts.aba_tied_rates import elimination_plan
from gyrostat.algorithms.shafts.elements import element_inertia
from gyrostat.graph.network import Component, Network
from gyrostat.graph.sweep import outward
from gyrostat.spatial.algebra import Array
from gyrostat.spatial.representation import Motion


class ContactMotion(NamedTuple):
    """``a`` (nv,); ``f`` (m,): force of every row; ``wrenches`` (contacts, 6) on the robot, in the frames' axes."""

    a: Array
    f: Array
    wrenches: Array


def by_sweeps(network: Network) -> bool:
    """Whether every rate is eliminated in its own joint, so that articulated bodies serve."""
    places = elimination_plan(network, aba.serves)
    served = all(aba.serves(c) for c in network.components)
    return served and not (places.meetings or places.frameless or network.closures)


# ------------------------------------------------------------------------------------------------ articulated bodies
class Swept(NamedTuple):
    """After the inward sweep with 1 + m columns: motions with no joint accelerating, what is left of the components,
    Lambda^-1 (m, m; lower half), and J a_0 (m,) but for the bias."""

    motions: Mapping[int, Motion]
    steps: Mapping[str, Outward]
    K: Array
    free: Array


def swept(network: Network, on: Setting, q: Array, v: Array, tau: Array, loads: Loads, held: Sequence[Held]) -> Swept:
    """Sweeps 1 and 2; column 0 is the motion without contacts."""
    m = count(held)
    network = network.at(q, v)
    J, torques = element_inertia(network, q, v) if network.transmission.elements else ({}, {})
    acting = np.array([x - torques[k] if k in torques else x for k, x in enumerate(tau)])
    right = np.concatenate([acting[:, None], np.zeros((len(tau), m))], axis=1)

    def row(c: Component, on: Setting, motion: Motion, memo: Any, own: Own) -> Inward:
        return aba.of(c)(c, on, motion, memo)

    rows, motions = bias_accelerations(network, on, q, v, row)
    given = with_frame_forces(network, on, motions, loads(motions))
    total: dict[int, Array] = {port: in_columns(f, 1 + m) for port, f in given.items()}
    for h in held:
        units: Any = np.zeros((6, 1 + m), dtype=object)
        units[...] = 0.0
        units[:, 1 + h.at.start : 1 + h.at.stop] = h.carried(motions[h.port])
        total[h.port] = total[h.port] + units if h.port in total else units
    steps = articulated_inertias(
        network, rows, lambda message, s, k: eliminate(message, s, right[k], J.get((k, k))), total
    )
    K, free = _zeros(m, m), _zeros(m)
    for rate in _rates(steps):
        there = [i for i in range(m) if not is_zero(rate.u[1 + i])]
        for i in there:
            x = rate.u[1 + i] * rate.inverse
            free[i] = free[i] + x * rate.u[0]
            for j in there:
                if j <= i:
                    K[i, j] = K[i, j] + x * rate.u[1 + j]
    return Swept(motions, steps, K, free)


def _rates(steps: Mapping[str, Outward]) -> list[Any]:
    return [rate for step in steps.values() for rate in step.rates]


def outward_accelerations(network: Network, steps: Mapping[str, Outward], f: Array, alone: bool = False) -> Array:
    """Sweep 3 with the contact forces in one column: a (nv,); ``alone``: what they do without all other forces."""
    a: dict[str, Array] = {}

    def step(c: Component, e: Array) -> Mapping[str, Array]:
        passed = steps[c.name]
        found: list[Any] = []
        out: dict[str, Array] = {}
        for port, shift in passed.shifts.items():
            out[port] = shift.motion(e)
            for rate in passed.rates:
                u = 0.0 if alone else rate.u[0]
                for i, x in enumerate(rate.u[1:]):
                    if not is_zero(x):
                        u = u + x * f[i]
                a_k = (u - rate.U @ out[port]) * rate.inverse
                out[port] = out[port] + rate.s * a_k
                found.append(a_k)
        a[c.name] = np.array(found)
        return out

    outward(network, np.zeros(6), step, network.side_by_side)
    return network.in_order(a)


def velocities_by_sweeps(network: Network, on: Setting, q: Array, held: Sequence[Held], w: Array) -> ContactMotion:
    """Change of v (nv,) and impulses for a change -w (m,) of what is held, by articulated bodies at rest."""
    rest = np.zeros(network.model.nv)
    found = swept(network, weightless(at_rest(network, on), on.representation), q, rest, rest, no_loads, held)
    P = -contact_factors(found.K, compliances(held)).solve(w)
    jump = outward_accelerations(network, found.steps, P, alone=True)
    return ContactMotion(jump, P, held_wrenches(held, found.motions, P))


def accelerations_by_sweeps(
    network: Network, on: Setting, q: Array, v: Array, tau: Array, loads: Loads, held: Sequence[Held]
) -> ContactMotion:
    """a and f by articulated bodies."""
    found = swept(network, on, q, v, tau, loads, held)
    asked = found.free + held_accelerations(held, found.motions, on.gravity.acceleration)
    f = -contact_factors(found.K, compliances(held)).solve(asked)
    a = outward_accelerations(network, found.steps, f)
    return ContactMotion(a, f, held_wrenches(held, found.motions, f))


# ------------------------------------------------------------------------------------------------ mass matrix
Respond = Callable[[Array], Array]
"""Accelerations (nv,) per generalised forces (nv,), of the robot without contacts."""


def lambda_inverse(J: Array, Y: Array) -> Array:
    """J Y (m, m) for Y = M^-1 J^T (nv, m); the lower half, mirrored."""
    m = len(J)
    K = _zeros(m, m)
    for i in range(m):
        K[i:, i] = K[i, i:] = product(J[i:], Y[:, i])
    return K


def responses(respond: Respond, J: Array) -> Array:
    """Y = M^-1 J^T (nv, m)."""
    return np.stack([respond(row) for row in J], axis=1)


def accelerations_by_mass_matrix(
    network: Network, on: Setting, q: Array, v: Array, held: Sequence[Held], free: Array, respond: Respond
) -> ContactMotion:
    """a and f from the acceleration without contacts, ``free`` (nv,), and what forces do."""
    still = np.zeros(network.model.nv)
    motions = sweep_motion(network, on, q, v, still)
    J = contact_jacobian(network, on, q, held)
    Y = responses(respond, J)
    asked = product(J, free) + held_accelerations(held, motions, np.zeros(3))
    f = -contact_factors(lambda_inverse(J, Y), compliances(held)).solve(asked)
    return ContactMotion(free + product(Y, f), f, held_wrenches(held, motions, f))


def velocities_by_mass_matrix(
    network: Network, on: Setting, q: Array, held: Sequence[Held], w: Array, respond: Respond
) -> ContactMotion:
    """Change of v (nv,) and impulses for a change -w (m,) of what is held, from what forces do."""
    rest = np.zeros(network.model.nv)
    motions = sweep_motion(network, weightless(at_rest(network, on), on.representation), q, rest, rest)
    J = contact_jacobian(network, on, q, held)
    Y = responses(respond, J)
    P = -contact_factors(lambda_inverse(J, Y), compliances(held)).solve(w)
    return ContactMotion(product(Y, P), P, held_wrenches(held, motions, P))


def _zeros(*shape: int) -> Array:
    found: Any = np.zeros(shape, dtype=object)
    found[...] = 0.0
    return found
