"""Port-based spatial operators (H04 2.3, 3.1): the whole mechanism as stacked matrices, assembled from the rows.

Nothing here knows a component: the blocks are read off the rows of kinematics and Newton-Euler, by sending unit
messages through them. So the identities of H04 test the recursions, and a new component is in the operators as soon
as it has its rows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gyrostat.algorithms.algorithm import Setting
from gyrostat.algorithms.kinematics import kinematics, sweep_motion, world_motion
from gyrostat.algorithms.rne import rne
from gyrostat.errors import FrameError, StateError, nearest
from gyrostat.graph.network import Component, Network, network
from gyrostat.spatial.algebra import Array, tilde
from gyrostat.spatial.gravity import gravity
from gyrostat.spatial.representation import Motion
from gyrostat.spatial.representation import representation as known_representation
from gyrostat.spec.model import Model
from gyrostat.spec.motor import Motor


@dataclass(frozen=True)
class Restriction:
    """The recursion (2.38) on a subset of ports: V|_E = Phi|_E Delta|_E."""

    ports: tuple[str, ...]
    E: Array
    Phi: Array
    Delta: Array
    V: Array


@dataclass(frozen=True)
class Operators:
    """Stacked operators at a state; N ports, n degrees of freedom. Block i, j of an operator belongs to ports i, j.

    ``C`` (N, N) connectivity (2.28); ``PE`` (N, entities); ``O``, ``I`` unit columns of out- and inports; ``T_phi``
    (6N, 6N) both ways through every component, ``E_phi`` outward shift (2.33), ``Phi`` its inverse sum (2.35); ``H``
    (6N, n); ``M`` (6N, 6N); ``V``, ``Delta`` (6N,), ``V_tilde``, ``Omega_tilde``, ``Delta_tilde`` (6N, 6N);
    ``H_rate`` (6N,): rate of H in its frame, times v (zero for joints with a constant H); ``A_gravity`` (6N,): \\dot
    V_g; ``V_base``, ``A_base`` (6N,): prescribed motion of the reference frame; ``F_bias`` (6N,): -V~^T (M V +
    internal momentum); ``F_given`` (6N,): minus the weights and given wrenches."""

    ports: tuple[str, ...]
    dofs: tuple[str, ...]
    representation: str
    C: Array
    PE: Array
    O: Array
    I: Array
    T_phi: Array
    H: Array
    H_rate: Array
    M: Array
    V: Array
    v: Array
    A_gravity: Array
    V_base: Array
    A_base: Array
    F_bias: Array
    F_given: Array

    @property
    def C_plus(self) -> Array:
        """Connectivity of entities PE^T C PE."""
        return self.PE.T @ self.C @ self.PE

    @property
    def O_hat(self) -> Array:
        """Projection on outports (2.30)."""
        return _blow(self.O @ self.O.T)

    @property
    def I_hat(self) -> Array:
        """Projection on inports (2.30)."""
        return _blow(self.I @ self.I.T)

    @property
    def C_up(self) -> Array:
        """From outports to inports over connections (2.31)."""
        return self.I_hat @ _blow(self.C) @ self.O_hat

    @property
    def T_up(self) -> Array:
        """From inports to outports through components (2.32)."""
        return self.O_hat @ self.T_phi @ self.I_hat

    @property
    def E_phi(self) -> Array:
        """One stage outward (2.33)."""
        return self.T_up + self.C_up

    @property
    def Phi(self) -> Array:
        """Rigid velocity transformation (2.36): the inverse of 1 - E_phi, which is nilpotent for trees."""
        return np.linalg.inv(np.eye(len(self.V)) - self.E_phi)

    @property
    def Delta(self) -> Array:
        """Relative velocity that each port adds: H v, and the prescribed motion of the base."""
        return self.H @ self.v + self.V_base

    @property
    def V_tilde(self) -> Array:
        return _diagonal(tilde(V) for V in self.V.reshape(-1, 6))

    @property
    def Delta_tilde(self) -> Array:
        return _diagonal(tilde(D) for D in (self.H @ self.v).reshape(-1, 6))

    @property
    def Omega_tilde(self) -> Array:
        return _diagonal(tilde(np.concatenate([V[:3], np.zeros(3)])) for V in self.V.reshape(-1, 6))

    def circle_acceleration(self, a: Array) -> Array:
        """Phi (H a - Delta~ V + ...) of Table 3.8: the acceleration in <B> and <A>; in <I> the one without Omega~ V."""
        return self.Phi @ (self.H @ a + self.H_rate - self.Delta_tilde @ self.V + self.A_base)

    def forces(self, a: Array) -> Array:
        """f at every port (6N,) [H04 Table 3.8]."""
        A = self.circle_acceleration(a) + self.A_gravity
        return self.Phi.T @ (self.M @ A + self.F_bias + self.F_given)

    def rnea(self, a: Array) -> Array:
        """Generalised forces by (3.2)."""
        return self.H.T @ self.forces(np.asarray(a, dtype=float))

    def mass_matrix(self) -> Array:
        """H^T Phi^T M Phi H (3.3)."""
        return self.H.T @ self.Phi.T @ self.M @ self.Phi @ self.H

    def restrict(self, ports: Iterable[str]) -> Restriction:
        """The recursion on some of the ports (2.38)-(2.40)."""
        names = (ports,) if isinstance(ports, str) else tuple(ports)
        for name in names:
            if name not in self.ports:
                raise FrameError(f"operators: there is no port '{name}'. Hint: {nearest(name, self.ports)}")
            if names.count(name) > 1:
                raise FrameError(f"operators: port '{name}' is named twice. Hint: name every port once")
        chosen = [self.ports.index(name) for name in names]
        others = [k for k in range(len(self.ports)) if k not in set(chosen)]
        unit = np.eye(len(self.ports))
        E, E_perp = (np.kron(unit[:, ks], np.eye(6)) for ks in (chosen, others))
        Phi_E = E.T @ self.Phi @ E
        Delta_E = (E.T + np.linalg.solve(Phi_E, E.T @ self.Phi @ E_perp @ E_perp.T)) @ self.O_hat @ self.Delta
        return Restriction(names, E, Phi_E, Delta_E, E.T @ self.V)


def _blow(F: Array) -> Array:
    """0 and 1 become 6x6 blocks of zeros and ones."""
    return np.kron(F, np.eye(6))


def _diagonal(blocks: Iterable[Array]) -> Array:
    stack = list(blocks)
    out = np.zeros((6 * len(stack), 6 * len(stack)))
    for k, block in enumerate(stack):
        out[6 * k : 6 * k + 6, 6 * k : 6 * k + 6] = block
    return out


def assemble_operators(
    model: Model, q: Array, v: Array, *, representation: str, t: float, rules: Iterable[str]
) -> Operators:
    """Operators of a model at the state q (nq,), v (nv,)."""
    net = network(model, rules)
    net.refuse_loops("operators")
    acting = [e for e in net.transmission.elements if not issubclass(e.kind, Motor)]
    if net.transmission.followers or acting or net.pairs or model.shafts.rotors:
        raise StateError(
            f"operators: '{model.name}' has drives, couplings or forces between frames, which the stacked operators "
            "of bodies and joints do not hold. Hint: gs.rnea, gs.crba and gs.EquationsOfMotion have them"
        )
    on = Setting(known_representation(representation), gravity(model.context.gravity), t)
    motions = sweep_motion(net, on, q, v, np.zeros(model.nv))
    n = 6 * len(net.ports)
    blocks = {"T_phi": np.zeros((n, n)), "H": np.zeros((n, model.nv)), "M": np.zeros((n, n))}
    stacks = {name: np.zeros(n) for name in ("H_rate", "A_gravity", "V_base", "A_base", "F_bias", "F_given")}
    for c in net.components:
        if c.inport is None:
            _read_base(c, on, q, v, blocks, stacks)
        else:
            _read_motion(c, on, motions[c.inport], q, v, blocks, stacks)
            _read_force(c, on, motions[c.inport], q, v, blocks, stacks)
    V = np.concatenate([motions[k].V for k in range(len(net.ports))])
    found = Operators(
        net.ports, model.dofs, representation, *_topology(net), V=V, v=v, **blocks, **(stacks | {"A_gravity": V * 0.0})
    )
    return replace(found, A_gravity=found.Phi @ stacks["A_gravity"])


def _topology(net: Network) -> tuple[Array, Array, Array, Array]:
    N = len(net.ports)
    C, unit = np.zeros((N, N)), np.eye(N)
    for source, fed in net.feeds.items():
        group = [source, *fed]
        for i in group:
            for j in group:
                C[i, j] = float(i != j)
    PE = np.zeros((N, len(net.components)))
    PE[np.arange(N), list(net.owner)] = 1.0
    inports = sorted(net.source)
    outports = [k for k in range(N) if k not in net.source]
    return C, PE, unit[:, outports], unit[:, inports]


def _at(port: int) -> slice:
    return slice(6 * port, 6 * port + 6)


def _read_motion(c: Component, on: Setting, motion: Motion, q: Array, v: Array, blocks: Any, stacks: Any) -> None:
    """phi, H and the rate of H: what the kinematics row makes of unit velocities."""
    row, rep, zero = kinematics.of(c), on.representation, np.zeros(6)
    q_c, v_c, rest = q[c.q_at], v[c.v_at], np.zeros(c.v_at.stop - c.v_at.start)
    inport = _at(int(c.inport or 0))
    for k in range(6):
        out, _ = row(c, on, Motion(motion.pose, np.eye(6)[k], zero), q_c, rest, rest)
        for name, port in c.outports.items():
            blocks["T_phi"][_at(port), inport.start + k] = out[name].V
    for k in range(len(rest)):
        out, _ = row(c, on, Motion(motion.pose, zero, zero), q_c, np.eye(len(rest))[k], rest)
        for name, port in c.outports.items():
            blocks["H"][_at(port), c.v_at.start + k] = out[name].V
    # with no acceleration coming in, the row gives H_rate - Delta~ V
    out, _ = row(c, on, Motion(motion.pose, motion.V, rep.dot(motion.V, zero)), q_c, v_c, rest)
    for name, port in c.outports.items():
        Delta = blocks["H"][_at(port), c.v_at] @ v_c
        stacks["H_rate"][_at(port)] = rep.circle(out[name].V, out[name].A) + tilde(Delta) @ out[name].V
        blocks["T_phi"][inport, _at(port)] = np.linalg.inv(blocks["T_phi"][_at(port), inport])


def _read_base(c: Component, on: Setting, q: Array, v: Array, blocks: Any, stacks: Any) -> None:
    """The reference frame: its own rates, its prescribed motion, and the acceleration that stands for gravity."""
    row, rep = kinematics.of(c), on.representation
    rest = np.zeros(c.v_at.stop - c.v_at.start)
    world, heavy = world_motion(np.zeros(3)), world_motion(on.gravity.acceleration)
    for name, port in c.outports.items():
        at = _at(port)
        still = row(c, on, world, q[c.q_at], rest, rest)[0][name]
        stacks["V_base"][at] = still.V
        stacks["A_base"][at] = rep.circle(still.V, still.A)
        falling = row(c, on, heavy, q[c.q_at], rest, rest)[0][name]
        stacks["A_gravity"][at] = rep.circle(falling.V, falling.A) - stacks["A_base"][at]
        for k in range(len(rest)):
            blocks["H"][at, c.v_at.start + k] = row(c, on, world, q[c.q_at], np.eye(len(rest))[k], rest)[0][name].V


def _read_force(c: Component, on: Setting, motion: Motion, q: Array, v: Array, blocks: Any, stacks: Any) -> None:
    """M, the velocity forces and the given forces: what the Newton-Euler row makes of unit accelerations."""
    rep, zero, at = on.representation, np.zeros(6), _at(int(c.inport or 0))

    def force(V: Array, circle: Array) -> Array:
        here = Motion(motion.pose, V, rep.dot(V, circle))
        _, memo = kinematics.of(c)(c, on, here, q[c.q_at], v[c.v_at], np.zeros(c.v_at.stop - c.v_at.start))
        return rne.of(c)(c, on, here, memo)(dict.fromkeys(c.outports, zero))[0]

    still = force(zero, zero)
    stacks["F_given"][at] = still
    stacks["F_bias"][at] = force(motion.V, zero) - still
    for k in range(6):
        blocks["M"][at, at.start + k] = force(zero, np.eye(6)[k]) - still
