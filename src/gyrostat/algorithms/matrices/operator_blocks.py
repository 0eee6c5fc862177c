"""Blocks of the stacked operators, read off the rows of kinematics and Newton-Euler by unit messages.

Spatial ports come first. A component with rates of its own that has inertia along them (a rotor, f = M A + B a, u =
B^T A + J a) gets one more port, its shaft: six numbers, of which the first ones are the absolute rates a + J^-1 B^T A,
with the inertia J; the inport keeps M - B J^-1 B^T. So do elements on shafts. Then H^T Phi^T M Phi H is all of the
mass matrix."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from gyrostat.algorithms.algorithm import Setting
from gyrostat.algorithms.recursions.frame_forces import with_frame_forces
from gyrostat.algorithms.recursions.kinematics import kinematics, sweep_motion, world_motion
from gyrostat.algorithms.recursions.rne import rne
from gyrostat.algorithms.shafts.elements import element_inertia
from gyrostat.errors import StateError
from gyrostat.graph.network import Component, Network
from gyrostat.spatial.algebra import Array, tilde
from gyrostat.spatial.representation import Motion
from gyrostat.spec.rotor import RotorInertia

RANK = 1e-12
"""Relative: smaller principal inertias are none."""

STACKS = ("H_rate", "A_gravity", "V_base", "A_base", "F_bias", "F_given")


def at(port: int) -> slice:
    return slice(6 * port, 6 * port + 6)


@dataclass
class Blocks:
    """What is being read: matrices and stacks over ports and over all rates that components have."""

    net: Network
    on: Setting
    q: Array
    v: Array
    V: Array
    H: Array
    u_given: Array
    T_phi: Array
    M: Array
    stacks: dict[str, Array]
    ports: list[str]
    parent: list[int | None]
    rotors: list[tuple[Component, Array, float]] = field(default_factory=list)

    def extended(self, name: str, parent: int | None) -> int:
        """One more port."""
        for key in ("T_phi", "M"):
            old = getattr(self, key)
            new = np.zeros((len(old) + 6, len(old) + 6))
            new[: len(old), : len(old)] = old
            setattr(self, key, new)
        self.H = np.concatenate([self.H, np.zeros((6, self.H.shape[1]))])
        self.V = np.concatenate([self.V, np.zeros(6)])
        self.stacks = {key: np.concatenate([x, np.zeros(6)]) for key, x in self.stacks.items()}
        self.ports.append(name)
        self.parent.append(parent)
        return len(self.ports) - 1


def read_blocks(net: Network, on: Setting, q: Array, v: Array) -> Blocks:
    """All blocks at a state of the model."""
    motions = sweep_motion(net, on, q, v, np.zeros(len(v)))
    moved = net.transmission.at(q, v)
    n, rates = 6 * len(net.ports), moved.rates(v)
    V = np.concatenate([motions[k].V for k in range(len(net.ports))]) if n else np.zeros(0)
    parent: list[int | None] = [net.source.get(k, net.components[net.owner[k]].inport) for k in range(len(net.ports))]
    blocks = Blocks(net, on, moved.coordinates(q), rates, V, np.zeros((n, len(rates))), np.zeros(len(rates)),
                    np.zeros((n, n)), np.zeros((n, n)), {name: np.zeros(n) for name in STACKS}, list(net.ports),
                    parent)  # fmt: skip
    for c in net.components:
        if c.inport is None:
            _read_base(c, blocks)
        else:
            _read_motion(c, motions[c.inport], blocks)
            _read_force(c, motions[c.inport], blocks)
    blocks.rotors.sort(key=lambda pair: pair[0].v_at.start)
    if moved.bends:
        blocks.stacks["H_rate"] += blocks.H @ moved.accelerations(np.zeros(len(v)))
    for port, f in with_frame_forces(net, on, motions, {}).items():
        blocks.stacks["F_given"][at(port)] -= f
    return blocks


def _read_motion(c: Component, motion: Motion, b: Blocks) -> None:
    """phi, H and the rate of H: what the kinematics row makes of unit velocities."""
    row, rep, zero = kinematics.of(c), b.on.representation, np.zeros(6)
    q_c, v_c, rest = b.q[c.q_at], b.v[c.v_at], np.zeros(c.v_at.stop - c.v_at.start)
    inport = at(int(c.inport or 0))
    for k in range(6):
        out, _ = row(c, b.on, Motion(motion.pose, np.eye(6)[k], zero), q_c, rest, rest)
        for name, port in c.outports.items():
            b.T_phi[at(port), inport.start + k] = out[name].V
    for k in range(len(rest)):
        out, _ = row(c, b.on, Motion(motion.pose, zero, zero), q_c, np.eye(len(rest))[k], rest)
        for name, port in c.outports.items():
            b.H[at(port), c.v_at.start + k] = out[name].V
    # with no acceleration coming in, the row gives H_rate - Delta~ V
    out, _ = row(c, b.on, Motion(motion.pose, motion.V, rep.dot(motion.V, zero)), q_c, v_c, rest)
    for name, port in c.outports.items():
        Delta = b.H[at(port), c.v_at] @ v_c
        b.stacks["H_rate"][at(port)] = rep.circle(out[name].V, out[name].A) + tilde(Delta) @ out[name].V
        b.T_phi[inport, at(port)] = np.linalg.inv(b.T_phi[at(port), inport])


def _read_base(c: Component, b: Blocks) -> None:
    """The reference frame: its own rates, its prescribed motion, and the acceleration that stands for gravity."""
    row, rep, on = kinematics.of(c), b.on.representation, b.on
    rest = np.zeros(c.v_at.stop - c.v_at.start)
    world, heavy = world_motion(np.zeros(3)), world_motion(on.gravity.acceleration)
    for name, port in c.outports.items():
        still = row(c, on, world, b.q[c.q_at], rest, rest)[0][name]
        b.stacks["V_base"][at(port)] = still.V
        b.stacks["A_base"][at(port)] = rep.circle(still.V, still.A)
        falling = row(c, on, heavy, b.q[c.q_at], rest, rest)[0][name]
        b.stacks["A_gravity"][at(port)] = rep.circle(falling.V, falling.A) - b.stacks["A_base"][at(port)]
        for k in range(len(rest)):
            b.H[at(port), c.v_at.start + k] = row(c, on, world, b.q[c.q_at], np.eye(len(rest))[k], rest)[0][name].V


def _read_force(c: Component, motion: Motion, b: Blocks) -> None:
    """M, the velocity forces and the given forces: what the Newton-Euler row makes of unit accelerations."""
    rep, zero, here = b.on.representation, np.zeros(6), at(int(c.inport or 0))
    rest, v_c = np.zeros(c.v_at.stop - c.v_at.start), b.v[c.v_at]

    def force(V: Array, circle: Array, v: Array = rest, a: Array = rest) -> Array:
        """(f, u)."""
        moving = Motion(motion.pose, V, rep.dot(V, circle))
        _, memo = kinematics.of(c)(c, b.on, moving, b.q[c.q_at], v, a)
        return np.concatenate(rne.of(c)(c, b.on, moving, memo)(dict.fromkeys(c.outports, zero)))

    still, moving = force(zero, zero), force(motion.V, zero, v_c)
    b.stacks["F_given"][here] += still[:6]
    b.stacks["F_bias"][here] = (moving - still)[:6]
    b.u_given[c.v_at] += moving[6:]
    for k in range(6):
        b.M[here, here.start + k] = (force(zero, np.eye(6)[k]) - still)[:6]
    own = np.array([force(zero, zero, rest, unit) - still for unit in np.eye(len(rest))]).reshape(len(rest), len(still))
    if np.any(own):
        _add_shaft(c, own[:, :6].T, own[:, 6:], motion, b)


def _add_shaft(c: Component, B: Array, J: Array, motion: Motion, b: Blocks) -> None:
    """f = M A + B a, u = B^T A + J a, as one more port for every six principal axes of J that have inertia."""
    inport = int(c.inport or 0)
    sizes, axes = np.linalg.eigh(J)
    heavy = sizes > RANK * np.abs(sizes).max()
    sizes, axes = sizes[heavy], axes[:, heavy]
    X = axes.T @ B.T / sizes[:, None]
    if np.abs(axes @ (sizes[:, None] * X) - B.T).max() > RANK * np.abs(B).max(initial=0.0):
        raise StateError(
            f"operators: the inertia of '{c.name}' over its own rates, {J.tolist()}, has no square root together with "
            f"{B.tolist()}, expected positive kinetic energy. Hint: f = M A + B a and u = B^T A + J a come from one "
            "inertia; gs.rnea and gs.crba take any"
        )
    for first in range(0, len(sizes), 6):
        some = slice(first, min(first + 6, len(sizes)))
        m = some.stop - some.start
        port = b.extended(f"{c.name}.shaft", inport)
        b.T_phi[at(port), at(inport)][:m] = X[some]
        b.H[at(port).start : at(port).start + m, c.v_at] = axes[:, some].T
        b.M[at(port), at(port)][:m, :m] = np.diag(sizes[some])
        b.M[at(inport), at(inport)] -= B @ axes[:, some] @ X[some]
        V = b.V[at(port)] = b.T_phi[at(port), at(inport)] @ motion.V + b.H[at(port)] @ b.v
        b.stacks["H_rate"][at(port)] = tilde(b.H[at(port)] @ b.v) @ V  # a shaft has no Delta~ V: its axis is its own
    if issubclass(c.kind, RotorInertia):
        b.rotors.append((c, B[:, 0] / J[0, 0], float(J[0, 0])))


def add_elements(b: Blocks, H: Array, q: Array, v: Array, dofs: tuple[str, ...]) -> tuple[Array, Array]:
    """Inertia of elements on shafts, as ports of their own; H (6N, n) over the rates of the model, and the torques (n,)
    of springs and friction."""
    u = np.zeros(len(v))
    if not b.net.transmission.elements:
        return H, u
    inertia, torques = element_inertia(b.net, q, v)
    J = np.zeros((len(v), len(v)))
    for place, x in inertia.items():
        J[place] = x
    for k, x in torques.items():
        u[k] = x
    for rates in _coupled(J):
        sizes, axes = np.linalg.eigh(J[np.ix_(rates, rates)])
        for first in range(0, len(rates), 6):
            some = slice(first, first + 6)
            port = b.extended(f"{dofs[rates[0]]}.shaft", None)
            rows = np.zeros((6, len(v)))
            rows[: len(sizes[some]), rates] = axes[:, some].T
            H = np.concatenate([H, rows])
            b.V[at(port)] = rows @ v
            b.M[at(port), at(port)] = np.diag(np.concatenate([sizes[some], np.zeros(6 - len(sizes[some]))]))
    return H, u


def _coupled(J: Array) -> list[list[int]]:
    """Rates with inertia, those that J couples together."""
    left, groups = [k for k in range(len(J)) if np.any(J[k])], []
    while left:
        group = [left.pop(0)]
        for k in group:
            more = [j for j in left if J[k, j] or J[j, k]]
            group += more
            left = [j for j in left if j not in more]
        groups.append(sorted(group))
    return groups


def rotor_axes(b: Blocks) -> tuple[tuple[str, ...], Array, Array]:
    """Names, H_r (6N, rotors) and moments of inertia (rotors,)."""
    H_r = np.zeros((len(b.V), len(b.rotors)))
    for k, (c, axis, _) in enumerate(b.rotors):
        H_r[at(int(c.inport or 0)), k] = axis
    moments = np.array([moment for *_, moment in b.rotors])
    return tuple(c.name for c, *_ in b.rotors), H_r, moments


def ties(net: Network, q: Array) -> Array:
    """T (all, n): all rates that components have = T v."""
    moved = net.transmission.at(q)
    T = np.zeros((net.model.nv + len(moved.followers), net.model.nv))
    for rate in range(len(T)):
        for k, factor in moved.ties(rate):
            T[rate, k] += factor
    return T
