"""Derivatives of forward dynamics with contacts, on the configuration manifold."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from gyrostat.algorithms.algorithm import Setting
from gyrostat.algorithms.constrained.loop_derivatives import loop_slopes
from gyrostat.algorithms.constrained.loop_dynamics import kkt_factors
from gyrostat.algorithms.constrained.loop_equations import loop_equations
from gyrostat.algorithms.constrained.sparse_ldl import product
from gyrostat.algorithms.contact.contact_derivatives import changes, changes_with_q
from gyrostat.algorithms.contact.contact_dynamics import Respond, by_sweeps, lambda_inverse, responses
from gyrostat.algorithms.contact.contact_rows import (
    Held,
    compliances,
    contact_jacobian,
    held_accelerations,
    held_wrenches,
)
from gyrostat.algorithms.contact.contact_slopes import At, ContactSlopes, closed_slopes, slopes_by_columns
from gyrostat.algorithms.contact.frame_contact import Contacts, as_contacts
from gyrostat.algorithms.contact.redundant_forces import ContactFactors, contact_factors
from gyrostat.algorithms.recursions.kinematics import sweep_motion
from gyrostat.algorithms.recursions.rne import Loads, no_loads, sweep_forces
from gyrostat.algorithms.recursions.sensitivity import uncovered
from gyrostat.configuration.packing import quaternion_guard
from gyrostat.engine.kernel import Kernel
from gyrostat.graph.network import Network
from gyrostat.solvers.dynamics.column_terms import ColumnTerms
from gyrostat.solvers.dynamics.contact_columns import ContactColumns
from gyrostat.solvers.dynamics.contact_dynamics import ContactSolver
from gyrostat.solvers.dynamics.contact_results import ContactDerivatives
from gyrostat.solvers.dynamics.locked_joints import free_inertia_factors, without_locked
from gyrostat.solvers.machinery.call_signatures import of_force
from gyrostat.solvers.machinery.export import example_input
from gyrostat.solvers.machinery.solver_cache import cached_solver
from gyrostat.solvers.machinery.wrench import Application
from gyrostat.spec.check import expect_model
from gyrostat.spec.model import Model

Array = np.ndarray
MANY = 16
"""Rates from which on columns are computed in lanes: all in one straight line takes long to compile."""


class ContactDynamicsDerivatives(ContactSolver):
    """Derivatives of a and of the contact forces of :class:`ContactDynamics` with respect to q, v and tau.

    Column k of ``da_dq`` (..., nv, nv) and ``dforces_dq[name]`` (..., 6, nv) is the change per unit of a displacement
    along rate k, ``integrate(q, e_k)``; forces in the axes of their frame, that turn with it. By implicit
    differentiation, exact whether w = J v is zero or not; where contacts are redundant, of the forces of least norm.
    Where loops are constraints, columns are those of :class:`ForwardDynamicsDerivatives`."""

    name = "contact_dynamics_derivatives"
    state = ("q", "v", "tau")
    __call__ = of_force
    takes_wrenches = True
    Answer = ContactDerivatives
    rate_axes = (
        ("da_dq", (0, 1)),
        ("da_dv", (0, 1)),
        ("da_dtau", (0, 1)),
        ("dforces_dq", (2,)),
        ("dforces_dv", (2,)),
        ("dforces_dtau", (2,)),
    )

    def __init__(
        self,
        model: Model,
        contacts: Contacts,
        rules: Iterable[str] | None = None,
        live: Sequence[str] = (),
        mode: str = "auto",
    ):
        super().__init__(model, contacts, rules, live, mode)
        self.closed_form = by_sweeps(self.network) and not uncovered(self.network, self.setting(0.0))

    @cached_property
    def redundant(self) -> bool:
        """Whether contacts hold something twice wherever the robot is."""
        net, held = self.network, self.held(self.network)
        q = example_input(self.model, "q", (self.model.nq,), np.random.default_rng(0))
        on = self.setting(self.times(0.0 if net.driven else None))
        J = np.asarray(contact_jacobian(net, on, q, held), dtype=float)
        K = lambda_inverse(J, responses(self.response(net, on, q), J))
        inverse = contact_factors(np.asarray(K, dtype=float), compliances(held)).outer.inverse
        return bool(np.any(np.asarray(inverse, dtype=float) == 0.0))

    def compute(self, net: Network, on: Setting, x: Mapping[str, Any], given: Loads) -> Mapping[str, Any]:
        n, t = net.model.nv, self.terms(net, on, x, given)
        free_q, free_v = self._free(net, on, x, given, t)
        with_q = changes_with_q(t.factors, t.J, t.Y, t.lift, free_q, t.slopes, self.redundant)
        with_v = changes(t.factors, t.J, t.Y, t.lift, free_v, list(t.slopes.rows_dv.T))
        units = [t.respond(e) for e in np.eye(n)]
        with_tau = changes(t.factors, t.J, t.Y, t.lift, units, [np.zeros(len(t.J))] * n)
        a = {"da_dq": with_q.a, "da_dv": with_v.a, "da_dtau": _symmetric(with_tau.a)}
        return a | {"dforces_dq": with_q.forces, "dforces_dv": with_v.forces, "dforces_dtau": with_tau.forces}

    def terms(self, net: Network, on: Setting, x: Mapping[str, Any], given: Loads) -> Terms:
        """What all columns are computed from, at the accelerations and forces of the state."""
        q, v, held = x["q"], x["v"], self.held(net)
        motions = sweep_motion(net, on, q, v, np.zeros(net.model.nv))
        respond = self.response(net, on, q)
        J = without_locked(contact_jacobian(net, on, q, held).T, self.locked).T
        Y = responses(respond, J)
        factors = contact_factors(lambda_inverse(J, Y), compliances(held))
        free = self.without_contacts(net, on, x, given, respond)
        f = -factors.solve(product(J, free) + held_accelerations(held, motions, np.zeros(3)))
        u = product(Y, factors.solve(f)) if self.redundant else np.zeros(net.model.nv)
        at = At(q, v, free + product(Y, f), f, held_wrenches(held, motions, f), u)
        Q = [h.selector(motions[h.port]) for h in held]
        return Terms(respond, J, Y, factors, at, self.slopes(net, on, at, held, given), Q, held)

    # ------------------------------------------------------------------ large robots
    @cached_property
    def in_columns(self) -> bool:
        """Whether calls go column by column: closed forms of a robot with many rates, and nothing unusual about it."""
        plain = self.closed_form and not self.live and not self.locked and self._joints is None
        return plain and not self.network.driven and self.mode == "compile" and self.model.nv >= MANY

    @cached_property
    def _column_kernel(self) -> Kernel:
        self._expect_inertia()

        def terms(q: Array, v: Array, tau: Array) -> tuple[ColumnTerms, Sequence[Any]]:
            return self._column_terms(*self._scene({}), q, v, tau), quaternion_guard(self.model, q)

        columns = ContactColumns(self.model.nq, self.model.nv, terms, f"{self.model.name}_{self.name}")
        return columns.kernel(self.name, self.outputs, len(self.contacts))

    def _column_terms(self, net: Network, on: Setting, q: Array, v: Array, tau: Array) -> ColumnTerms:
        """The same as :meth:`terms`, without M^-1 J^T: half of the factors of M keeps the zeros of J."""
        n, held = net.model.nv, self.held(net)
        h, _, motions = sweep_forces(net, on, q, v, np.zeros(n))
        J = contact_jacobian(net, on, q, held)
        mass = free_inertia_factors(net, on, q, ())
        U = np.stack([mass.inward(row) for row in J], axis=1)
        D = np.array([mass.inverse[k] for k in range(n)])
        factors = contact_factors(lambda_inverse(U.T, U * D[:, None]), compliances(held))
        z = mass.inward(tau - h)
        f = -factors.solve(product(U.T, z * D) + held_accelerations(held, motions, on.gravity.acceleration))
        a = mass.outward(z + product(U, f))
        u = mass.outward(product(U, factors.solve(f))) if self.redundant else np.zeros(n)
        s = closed_slopes(net, on, At(q, v, a, f, held_wrenches(held, motions, f), u), held)
        turning = any(x.directions is not None for x in held)
        Lambda = None if self.redundant else _inverse(factors, len(J))
        Q, rows = [x.selector(motions[x.port]) for x in held], [x.at for x in held]
        swept, turned = s.swept if self.redundant else None, s.turned.reshape(-1, n) if turning else None
        slopes = (s.force_dq, s.force_dv), (s.rows_dq, s.rows_dv)
        return ColumnTerms(mass, U, factors, Lambda, Q, rows, *slopes, swept, turned)

    def serving_kernel(self, places: tuple[Application, ...]) -> Kernel:
        return self._column_kernel if self.in_columns and not places else super().serving_kernel(places)

    def slopes(self, net: Network, on: Setting, at: At, held: Sequence[Held], given: Loads) -> ContactSlopes:
        """In closed form where that holds."""
        if self.closed_form and given is no_loads:
            return closed_slopes(net, on, at, held)
        return slopes_by_columns(net, on, at, held, given)

    def _free(
        self, net: Network, on: Setting, x: Mapping[str, Any], given: Loads, t: Terms
    ) -> tuple[list[Array], list[Array]]:
        """Changes (nv,) of the acceleration without contacts, for each rate by q and by v."""
        n, at, dq, dv = net.model.nv, t.at, t.slopes.force_dq, t.slopes.force_dv
        if not net.closures:
            return [t.respond(-c) for c in dq.T], [t.respond(-c) for c in dv.T]
        factors = kkt_factors(net, on, at.q, loop_equations(net, at.q, at.v).J, self.safe)
        multipliers = self.loop_multipliers(net, on, x, given, product(t.J.T, at.f))
        more = loop_slopes(net, at.q, at.v, at.a, multipliers)
        solve = lambda top, bottom: factors.solve(np.concatenate([top, bottom]))[:n]  # noqa: E731
        by_q = [solve(more.force_dq[:, k] - dq[:, k], -more.acceleration_dq[:, k]) for k in range(n)]
        return by_q, [solve(-dv[:, k], -more.acceleration_dv[:, k]) for k in range(n)]


class Terms(NamedTuple):
    """What the columns of all derivatives share: Y = M^-1 J^T, factors of Lambda^-1, selectors Q of the contacts."""

    respond: Respond
    J: Array
    Y: Array
    factors: ContactFactors
    at: At
    slopes: ContactSlopes
    Q: Sequence[Array]
    held: Sequence[Held]

    def lift(self, f: Array) -> Array:
        """Forces of rows (m,) as wrenches (contacts, 6)."""
        return np.array([Q.T @ f[h.at] for Q, h in zip(self.Q, self.held, strict=True)])


def _inverse(factors: ContactFactors, m: int) -> Array:
    """Lambda (m, m), for contacts that hold nothing twice."""
    half = [factors.outer.forward(e) for e in np.eye(m)]
    Lambda: Any = np.empty((m, m), dtype=object)
    for i in range(m):
        for j in range(i + 1):
            Lambda[i, j] = Lambda[j, i] = product(half[i][None], half[j])[0]
    return Lambda


def _symmetric(X: Array) -> Array:
    """Of two equal entries the same one."""
    return np.array([[X[min(i, j), max(i, j)] for j in range(len(X))] for i in range(len(X))]).reshape(X.shape)


def contact_dynamics_derivatives(
    model: Model, q: Any, v: Any, tau: Any, contacts: Contacts, wrenches: Any = None, **options: Any
) -> ContactDerivatives:
    """da_dq, da_dv, da_dtau (..., nv, nv) and dforces_dq, dforces_dv, dforces_dtau by contact (..., 6, nv); see
    :class:`ContactDynamicsDerivatives`."""
    expect_model(model, "contact_dynamics_derivatives")
    chosen = as_contacts(contacts, "contact_dynamics_derivatives")
    return cached_solver(model, ContactDynamicsDerivatives, contacts=chosen)(q, v, tau, wrenches, **options)
