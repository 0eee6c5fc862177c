"""How the equations of contact change with the state, at constant accelerations a and contact forces f:

    d(M a + h - J^T f)/dq, d(M a + h)/dv,    d(dw/dt)/dq, d(dw/dt)/dv,    d(Q^T)/dq f,    dJ/dq u

In closed form [H04 (3.49)-(3.57)]: a displacement along rate k changes the velocity of everything outboard by P_k, its
acceleration by Q_k - V~ P_k, in the carried frame (:mod:`~gyrostat.algorithms.recursions.sensitivity`); a rate changes
them by S_k and P_k + dS_k/dt - V~ S_k. Contact forces in the axes of their frame are carried along. Where that does not
hold (ties, loops, fields, components of users) the same by numbers with a rate, column by column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from gyrostat.algorithms.algorithm import Setting
from gyrostat.algorithms.contact.contact_rows import Held, contact_jacobian, count, held_accelerations, held_wrenches
from gyrostat.algorithms.recursions.inverse_dynamics_derivatives import rnea_derivatives
from gyrostat.algorithms.recursions.kinematics import Own, sweep_motion
from gyrostat.algorithms.recursions.rne import Loads, sweep_forces
from gyrostat.algorithms.recursions.sensitivity import JointRate, sensitivity
from gyrostat.configuration.tangent import coordinate_rates
from gyrostat.engine.tracing.dual import rates_of, with_rates
from gyrostat.graph.network import Component, Network
from gyrostat.spatial.algebra import Array, cross, cross_motion, force_to_parent, motion_to_child, motion_to_parent
from gyrostat.spatial.representation import Motion, Pose

LEVEL = 1


class ContactSlopes(NamedTuple):
    """``force_dq``, ``force_dv`` (nv, nv); ``rows_dq``, ``rows_dv`` (m, nv); ``turned`` (contacts, 6, nv): of the
    wrenches at constant f, in the frames' axes; ``swept`` (m, nv) = dJ/dq u."""

    force_dq: Array
    force_dv: Array
    rows_dq: Array
    rows_dv: Array
    turned: Array
    swept: Array


@dataclass(frozen=True)
class At:
    """Where slopes are taken: a state with its a and wrenches (contacts, 6), forces f (m,), and a velocity u (nv,)."""

    q: Array
    v: Array
    a: Array
    f: Array
    wrenches: Array
    u: Array


# ------------------------------------------------------------------------------------------------ closed form
@dataclass(frozen=True)
class Carried:
    """A rate of the model with its joint: S, P, Q, P + dS/dt in the world's axes about its origin, and P of a velocity
    u."""

    number: int
    S: Array
    P: Array
    Q: Array
    P_dS: Array
    P_u: Array


def closed_slopes(network: Network, on: Setting, at: At, held: Sequence[Held]) -> ContactSlopes:
    """By sums along the tree, for networks whose rates are not tied, in body representation."""
    n = network.model.nv
    carried: dict[int, Array] = {}
    for h, F in zip(held, at.wrenches, strict=True):
        f = force_to_parent(*h.place, F)
        carried[h.port] = carried[h.port] + f if h.port in carried else f
    force_dq, force_dv, _ = rnea_derivatives(network, on, at.q, at.v, at.a, carried)
    rates, motions, motions_u = _rates(network, on, at)
    m = count(held)
    rows_dq, rows_dv, swept, turned = (_zeros(*shape) for shape in ((m, n), (m, n), (m, n), (len(held), 6, n)))
    J = _zeros(6 * len(held), n)
    for i, h in enumerate(held):
        frame, frame_u = _frame(h, motions[h.port]), _frame(h, motions_u[h.port])
        for rate in (r for c, _ in network.path(h.port) for r in rates.get(c.name, ())):
            S, P, Q, P_dS, P_u = (
                motion_to_child(frame.pose.R, frame.pose.p, x) for x in (rate.S, rate.P, rate.Q, rate.P_dS, rate.P_u)
            )
            by_q, by_v = Q - cross_motion(frame.V, P), P_dS - cross_motion(frame.V, S)
            k = rate.number
            J[6 * i : 6 * i + 6, k] = S
            rows_dq[h.at, k] = _row_change(h, frame, by_q, P, S[:3])
            rows_dv[h.at, k] = _row_change(h, frame, by_v, S, None)
            swept[h.at, k] = _velocity_change(h, frame_u, P_u, S[:3])
            if h.directions is not None:
                turned[i, 3:, k] = -cross(S[:3], at.wrenches[i][3:])
    for i, h in enumerate(held):
        if h.directions is not None:
            force_dq = force_dq - J[6 * i + 3 : 6 * i + 6].T @ turned[i, 3:]
    return ContactSlopes(force_dq, force_dv, rows_dq, rows_dv, turned, swept)


def _rates(network: Network, on: Setting, at: At) -> tuple[dict[str, list[Carried]], Any, Any]:
    """Of every joint its rates, and the motions without gravity, with v and with u."""
    found: dict[str, list[JointRate]] = {}
    again: dict[str, list[JointRate]] = {}
    places: dict[str, Pose] = {}

    def look(into: dict[str, list[JointRate]]) -> Any:
        def begin(c: Component, motion: Motion, memo: Any, own: Own) -> None:
            if c.v_at.stop > c.v_at.start:
                into[c.name] = sensitivity.of(c)(c, on, motion, memo, own.v, own.a).rates
                places[c.name] = motion.pose.then(memo.joint.R, memo.joint.p)

        return begin

    motions = sweep_motion(network, on, at.q, at.v, at.a, begin=look(found))
    motions_u = sweep_motion(network, on, at.q, at.u, np.zeros(len(at.u)), begin=look(again))
    rates: dict[str, list[Carried]] = {}
    for c in network.components:
        if c.name not in found:
            continue
        R, p = places[c.name].R, places[c.name].p
        own: list[Carried] = []
        for k, (x, y) in enumerate(zip(found[c.name], again[c.name], strict=True)):
            S, P, Q, P_dS, P_u = (motion_to_parent(R, p, z) for z in (x.S, x.P, x.Q, x.P + x.dS_dt, y.P))
            own.append(Carried(c.v_at.start + k, S, P, Q, P_dS, P_u))
        rates[c.name] = own
    return rates, motions, motions_u


class _Frame(NamedTuple):
    """A frame in contact: its pose, velocity, and the acceleration of its origin, in its own axes."""

    pose: Pose
    V: Array
    point: Array


def _frame(h: Held, motion: Motion) -> _Frame:
    R, p = h.place
    w, dw = motion.V[:3], motion.A[:3]
    there = motion.A[3:] + cross(dw, p) + cross(w, cross(w, p))
    return _Frame(motion.pose.then(R, p), motion_to_child(R, p, motion.V), R.T @ there)


def _row_change(h: Held, frame: _Frame, dA: Array, dV: Array, turn: Array | None) -> Array:
    """Change of dw/dt (m,) for a change dA of the rate of the frame's velocity, dV of that, and a rotation."""
    if h.directions is None and not h.is_point:
        return h.contact.selector @ dA
    change = dA[3:] + cross(dV[:3], frame.V[3:]) + cross(frame.V[:3], dV[3:])
    if h.directions is None:
        return change
    if turn is not None:
        change = change + cross(turn, frame.point)
    return h.directions @ (frame.pose.R @ change)


def _velocity_change(h: Held, frame: _Frame, dV: Array, turn: Array) -> Array:
    """Change of w (m,)."""
    if h.directions is None:
        return h.contact.selector @ dV
    return h.directions @ (frame.pose.R @ (dV[3:] + cross(turn, frame.V[3:])))


# ------------------------------------------------------------------------------------------------ column by column
def slopes_by_columns(network: Network, on: Setting, at: At, held: Sequence[Held], given: Loads) -> ContactSlopes:
    """By numbers with a rate; for every network."""
    n = network.model.nv

    def with_contacts(motions: Mapping[int, Motion]) -> Mapping[int, Array]:
        total = dict(given(motions))
        for h in held:
            f = h.carried(motions[h.port]) @ at.f[h.at]
            total[h.port] = total[h.port] + f if h.port in total else f
        return total

    def column(q: Array, v: Array) -> tuple[Array, ...]:
        forces = sweep_forces(network, on, q, v, at.a, with_contacts)[0]
        motions = sweep_motion(network, on, q, v, at.a)
        rows = held_accelerations(held, motions, np.zeros(3))
        wrenches = held_wrenches(held, motions, at.f)
        velocity = product_of(contact_jacobian(network, on, q, held), at.u)
        return tuple(rates_of(x, LEVEL) for x in (forces, rows, wrenches, velocity))

    by_q = [column(with_rates(at.q, coordinate_rates(network.model, at.q, e), LEVEL), at.v) for e in np.eye(n)]
    by_v = [column(at.q, with_rates(at.v, e, LEVEL)) for e in np.eye(n)]
    stack = lambda columns, k: np.stack([c[k] for c in columns], axis=-1)  # noqa: E731
    return ContactSlopes(stack(by_q, 0), stack(by_v, 0), stack(by_q, 1), stack(by_v, 1), stack(by_q, 2), stack(by_q, 3))


def product_of(J: Array, u: Array) -> Array:
    return np.array([sum((x * y for x, y in zip(row, u, strict=True)), 0.0) for row in J])


def _zeros(*shape: int) -> Array:
    found: Any = np.zeros(shape, dtype=object)
    found[...] = 0.0
    return found
