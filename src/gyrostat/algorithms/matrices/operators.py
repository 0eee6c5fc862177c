"""Port-based spatial operators (H04 2.3, 3.1): the whole mechanism as stacked matrices, and what follows from them.

Assembled from the rows: :mod:`~gyrostat.algorithms.matrices.assemble_operators`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gyrostat.algorithms.matrices.articulated_operators import ArticulatedOperators, articulated
from gyrostat.errors import FrameError, nearest
from gyrostat.spatial.algebra import Array, tilde


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
    internal momentum); ``F_given`` (6N,): minus the weights and given wrenches, also of forces between frames.

    **Drives.** ``H_r`` (6N, rotors): axes of the rotors at the ports that carry them (3.25); ``I_r`` (rotors, rotors)
    their moments; ``T_r`` (rotors, n): rates of the rotors = T_r v, the rows of gear ratios or, for rotors behind
    springs, of ones. Behind the spatial ports come the shafts of rotors and of other inertias, six numbers each, of
    which the first are absolute rates: so M holds all inertia. What follows another rate, by a gear or a mimic, is in
    the columns of H. ``u_given`` (n,): torques of springs and friction on shafts.

    **Articulated bodies.** ``P``, ``D``, ``G``, ``tau_bar``, ``E_psi``, ``K``, ``Psi`` of (3.7)-(3.13); ``E_tied``:
    shifts that tied rates pass in one stage, zero in H04, see
    :mod:`gyrostat.algorithms.matrices.articulated_operators`."""

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
    parent: tuple[int | None, ...]
    rotors: tuple[str, ...]
    H_r: Array
    I_r: Array
    T_r: Array
    u_given: Array

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

    @cached_property
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
        return self.Phi.T @ self._own_forces(np.asarray(a, dtype=float))

    def _own_forces(self, a: Array) -> Array:
        """What the inertia at every port needs, without what lies outboard."""
        return self.M @ (self.circle_acceleration(a) + self.A_gravity) + self.F_bias + self.F_given

    def rnea(self, a: Array) -> Array:
        """Generalised forces by (3.2)."""
        return self.H.T @ self.forces(a) + self.u_given

    def mass_matrix(self) -> Array:
        """H^T Phi^T M Phi H (3.3)."""
        return self.H.T @ self.Phi.T @ self.M @ self.Phi @ self.H

    # ------------------------------------------------------------------ articulated bodies
    @cached_property
    def _articulated(self) -> ArticulatedOperators:
        return articulated(self.E_phi, self.H, self.M, self.parent, self.dofs)

    @property
    def P(self) -> Array:
        """Articulated inertias (6N, 6N) (3.7)."""
        return self._articulated.P

    @property
    def D(self) -> Array:
        """Articulated inertia about the axes, H^T P H (n, n) (3.8); block-diagonal."""
        return self._articulated.D

    @property
    def G(self) -> Array:
        """Gain D^-1 H^T P (n, 6N) (3.9)."""
        return self._articulated.G

    @property
    def tau_bar(self) -> Array:
        """1 - H G (6N, 6N) (3.10): what joints that move freely leave of an acceleration."""
        return self._articulated.tau_bar

    @property
    def E_psi(self) -> Array:
        """One stage outward through joints that move freely, E_phi - H K = tau-bar E_phi (6N, 6N) (3.11)."""
        return self._articulated.E_psi

    @property
    def E_tied(self) -> Array:
        """Shifts between ports of tied rates, passed in one stage (6N, 6N); (3.11), (3.12) hold without them."""
        return self._articulated.E_tied

    @property
    def K(self) -> Array:
        """Shifted gain G E_phi (n, 6N) (3.12)."""
        return self._articulated.K

    @property
    def Psi(self) -> Array:
        """(1 - E_psi)^-1 (6N, 6N) (3.13)."""
        return self._articulated.Psi

    def inverse_mass_matrix(self) -> Array:
        """(1 - K Psi H) D^-1 (1 - K Psi H)^T (3.6), (3.54)."""
        left = np.eye(len(self.v)) - self.K @ self.Psi @ self.H
        return left @ np.linalg.solve(self.D, left.T)

    def aba(self, tau: Array) -> Array:
        """Accelerations (n,) by (3.14), with the sign of gravity that holds."""
        u = np.asarray(tau, dtype=float) - self.u_given
        b = self._own_forces(np.zeros(len(self.v)))
        d = np.linalg.solve(self.D, u - self.H.T @ self.Psi.T @ (self.K.T @ u + b))
        return d - self.K @ self.Psi @ self.H @ d

    # ------------------------------------------------------------------ rotors
    @property
    def S(self) -> Array:
        """H^T Phi^T H_r I_r (n, rotors) (3.41): the forces on the axes per acceleration of each rotor."""
        return self.H.T @ self.Phi.T @ self.H_r @ self.I_r

    @property
    def C_rotor(self) -> Array:
        """H^T Phi^T Omega~ H_r I_r theta' (n,) (3.42)."""
        return self.H.T @ self.Phi.T @ self.Omega_tilde @ self.H_r @ self.I_r @ self.T_r @ self.v

    @property
    def C_carrier(self) -> Array:
        """What the motion of its carrier needs at each rotor beside S^T a: I_r H_r^T Phi (H' v - Delta~ V) (rotors,)
        (3.46)."""
        return self.I_r @ self.H_r.T @ self.circle_acceleration(np.zeros(len(self.v)))

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
