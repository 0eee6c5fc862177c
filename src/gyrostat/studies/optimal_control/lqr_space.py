"""The linear system that a linear-quadratic regulator sees: on the tangent, in what loops and contacts leave free.

x = (displacement, change of the rates), (2 nv,), of the whole robot; of a robot whose loops are constraints, or that
stands on contacts, x = basis y with fewer y, and y = project x."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gyrostat.algorithms.contact.frame_contact import as_contacts
from gyrostat.errors import GyrostatError, ShapeError, StateError, clipped, nearest
from gyrostat.solvers.dynamics.actuator_efforts import actuation, null_space
from gyrostat.solvers.dynamics.behind_springs import behind_springs
from gyrostat.solvers.dynamics.contact_derivatives import ContactDynamicsDerivatives
from gyrostat.solvers.dynamics.linearisation import MinimalStateSpace, linearise
from gyrostat.solvers.functions import jacobian, rnea
from gyrostat.solvers.machinery.solver_cache import cached_solver
from gyrostat.spec.model import Model

Array = np.ndarray
WHO = "lqr"
LEFT = 1e-6
"""Efforts that inputs cannot give, relative to one plus the largest."""


@dataclass(frozen=True)
class Space:
    """y' = A y + B u; ``basis`` (2 nv, k), ``project`` (k, 2 nv); ``names`` (k,) of y."""

    A: Array
    B: Array
    basis: Array
    project: Array
    names: tuple[str, ...]


@dataclass(frozen=True)
class Inputs:
    """Names of the efforts u (m,) that can be chosen, and T (m, nv): tau = T^T u."""

    names: tuple[str, ...]
    T: Array

    def needed(self, tau: Array, model: Model, J: Array | None = None) -> Array:
        """u (m,) with T^T u + J^T f = tau, or an error that names what cannot be given."""
        columns = self.T.T if J is None else np.concatenate([self.T.T, J.T], axis=1)
        x = np.linalg.lstsq(columns, tau, rcond=None)[0]
        left = tau - columns @ x
        worst = int(np.argmax(np.abs(left)))
        if np.abs(left[worst]) > LEFT * (1.0 + float(np.abs(tau).max(initial=0.0))):
            raise StateError(
                f"{WHO}: the inputs {', '.join(self.names)} cannot give the effort {left[worst]:.4g} that "
                f"'{model.dofs[worst]}' needs here. Hint: an equilibrium of the driven robot (springs deflected by "
                "what they bear), or contacts=, or v that goes with a"
            )
        return x[: len(self.names)]


def inputs_of(model: Model, names: Sequence[str] | None, q: Array) -> Inputs:
    """The actuated joints of the model, rotors in the place of joints behind their springs; or those that are named."""
    powers = actuation(model)
    T = powers.rows(q)
    if names is None:
        behind = {model.dofs[k] for k in behind_springs(model)}
        chosen = [name for name in powers.names if name not in behind]
    else:
        chosen = [names] if isinstance(names, str) else list(names)
        for name in chosen:
            if name not in powers.names:
                raise StateError(
                    f"{WHO}: '{model.name}' has no actuated joint {clipped(name)}. "
                    f"Hint: {nearest(str(name), powers.names)}"
                )
    if not chosen:
        raise StateError(f"{WHO}: '{model.name}' has no actuated joint. Hint: passive=False, or a drive")
    return Inputs(tuple(chosen), T[[powers.names.index(name) for name in chosen]])


def space_at(model: Model, q: Array, v: Array, tau: Array, inputs: Inputs, contacts: Any = None) -> Space:
    """The linear system about one state."""
    if contacts is not None:
        return _on_contacts(model, q, v, tau, inputs, contacts)
    found = linearise(model, q, v, tau)
    B = found.B @ inputs.T.T
    if isinstance(found, MinimalStateSpace):
        n, k = len(found.names), found.ignored.shape[-1]
        both = np.zeros((2 * model.nv, n + k))
        both[:, :n], both[: model.nv, n:] = found.basis, found.ignored
        return Space(found.A, B, found.basis, np.linalg.pinv(both)[:n], found.names)
    names = (*(f"d {name}" for name in model.dofs), *(f"v {name}" for name in model.dofs))
    return Space(found.A, B, np.eye(2 * model.nv), np.eye(2 * model.nv), names)


def _on_contacts(model: Model, q: Array, v: Array, tau: Array, inputs: Inputs, contacts: Any) -> Space:
    """At rest on contacts J w = 0: displacements and rates Z y, Z an orthonormal basis of what J leaves free."""
    if np.any(v):
        raise StateError(f"{WHO}: on contacts the robot must be at rest, got v up to {np.abs(v).max():.3g}")
    chosen = as_contacts(contacts, WHO)
    J = contact_rows(model, q, chosen)
    d = cached_solver(model, ContactDynamicsDerivatives, contacts=chosen)(q, v, tau)
    Z = null_space(J, model.nv)
    k = Z.shape[1]
    if not k:
        raise GyrostatError(f"{WHO}: the contacts leave '{model.name}' nothing to move. Hint: fewer contacts")
    A = np.block([[np.zeros((k, k)), np.eye(k)], [Z.T @ d.da_dq @ Z, Z.T @ d.da_dv @ Z]])
    B = np.concatenate([np.zeros((k, len(inputs.names))), Z.T @ d.da_dtau @ inputs.T.T])
    basis = np.block([[Z, np.zeros_like(Z)], [np.zeros_like(Z), Z]])
    told = [model.dofs[int(np.argmax(np.abs(z)))] for z in Z.T]
    return Space(A, B, basis, basis.T, (*(f"d {x}" for x in told), *(f"v {x}" for x in told)))


def contact_rows(model: Model, q: Array, contacts: Any) -> Array:
    """J (m, nv) of what the contacts hold."""
    rows = []
    for contact in as_contacts(contacts, WHO):
        if contact.kind not in ("fixed", "point"):
            raise GyrostatError(
                f"{WHO}: the contact '{contact.frame}' is {contact.kind}, expected fixed or point. "
                "Hint: gs.FrameContact"
            )
        whole = jacobian(model, q, contact.frame)
        rows.append(whole if contact.kind == "fixed" else whole[3:])
    return np.concatenate(rows)


def standing_efforts(model: Model, q: Array, v: Array, inputs: Inputs, contacts: Any) -> Array:
    """u (m,) that gives no acceleration."""
    tau = rnea(model, q, v, np.zeros(model.nv))
    return inputs.needed(tau, model, None if contacts is None else contact_rows(model, q, contacts))


def weight(given: Any, size: int, what: str, positive: bool) -> Array:
    """A symmetric matrix (size, size) from a number, (size,) or (size, size)."""
    W = np.asarray(given, dtype=float)
    W = W * np.eye(size) if W.ndim == 0 else np.diag(W) if W.ndim == 1 else W
    if W.shape != (size, size) or not np.isfinite(W).all():
        raise ShapeError(f"{WHO}: {what} has shape {np.shape(given)}, expected a number, ({size},) or ({size}, {size})")
    if np.abs(W - W.T).max(initial=0.0) > 1e-12 * max(1.0, float(np.abs(W).max(initial=0.0))):
        raise StateError(f"{WHO}: {what} is not symmetric. Hint: only (W + W^T) / 2 has a part in the cost")
    least = float(np.linalg.eigvalsh(0.5 * (W + W.T)).min(initial=np.inf))
    if least < 0.0 - 1e-12 * float(np.abs(W).max(initial=0.0)) or (positive and least <= 0.0):
        wanted = "positive definite" if positive else "positive semidefinite"
        raise StateError(f"{WHO}: {what} has the eigenvalue {least:.4g}, expected {wanted}. Hint: weights are positive")
    return 0.5 * (W + W.T)
