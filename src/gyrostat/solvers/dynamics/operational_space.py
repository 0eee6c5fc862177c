"""Operational space: the inertia that is felt at contacts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from gyrostat.algorithms.algorithm import Setting
from gyrostat.algorithms.constrained.operational_inertia import inverse_operational_inertia
from gyrostat.algorithms.contact.contact_rows import held_frames
from gyrostat.algorithms.contact.frame_contact import SELECTORS, FrameContact, as_contacts, refuse_compliance
from gyrostat.algorithms.recursions.kinematics import sweep_motion
from gyrostat.algorithms.recursions.rne import Loads
from gyrostat.configuration.packing import names_of
from gyrostat.errors import FrameError, ShapeError, StateError
from gyrostat.graph.network import Network
from gyrostat.solvers.dynamics.locked_joints import free_inertia_factors, without_locked
from gyrostat.solvers.kinematics.frame_jacobian import Jacobian
from gyrostat.solvers.machinery.call_signatures import of_configuration
from gyrostat.solvers.machinery.state_solver import Array, StateSolver
from gyrostat.spec.model import Model

WHO = "operational_inertia"
SINGULAR = 1e-10
"""Smallest eigenvalue of Lambda^-1 over its largest, below which contacts count as redundant."""


class OperationalInertia(NamedTuple):
    """``Lambda`` and its inverse (..., m, m), rows of the contacts' selectors one after the other."""

    Lambda: Array
    Lambda_inverse: Array


class InverseOperationalInertia(StateSolver):
    """Lambda^-1 = Q J M^-1 J^T Q^T (..., m, m) for contact frames, by recursion over articulated bodies [H04 (3.64)].

    ``contacts`` maps frames to what is held there: ``"fixed"`` (all six components), ``"point"`` (the linear velocity
    of the frame's origin), ``"normal"`` (its component along the z axis of the world), or a selector Q (m_k, 6) on
    (angular, linear) velocity in the frame's own axes. A list of frames means fixed ones; :class:`FrameContact`, with
    normals of their own, are taken too, but none that has compliance: (Lambda^-1 + C) is not the robot's alone."""

    loops_hint = "J da_dtau J^T with gs.aba_derivatives and gs.jacobian"
    name = "operational_inertia"
    state = ("q",)
    __call__ = of_configuration
    result = "Lambda_inverse"
    inverts = True
    rate_axes = (("Lambda_inverse", ()),)

    def __init__(
        self,
        model: Model,
        contacts: Mapping[str, Any] | Iterable[str],
        rules: Iterable[str] | None = None,
        live: Sequence[str] = (),
        mode: str = "auto",
    ):
        super().__init__(model, "body", rules, live, mode)
        contacts = _plain(contacts)
        given = contacts if isinstance(contacts, Mapping) else dict.fromkeys(_listed(contacts), "fixed")
        if not given:
            raise FrameError(f"{self.name}: no contacts are named. Hint: contacts={{'foot': 'point'}}")
        self.contacts = {self.network.port(frame): _selector(frame, Q) for frame, Q in given.items()}
        if len(self.contacts) < len(given):
            raise FrameError(f"{self.name}: a frame is named twice. Hint: name every contact once")

    def options(self) -> dict[str, Any]:
        options = {k: v for k, v in super().options().items() if k != "representation"}
        return options | {"contacts": self.contacts}

    def _spec_options(self) -> dict[str, Any]:
        names = {Q.tobytes(): name for name, Q in SELECTORS.items()}

        def plain(Q: Array | FrameContact) -> Any:
            return Q.data() if isinstance(Q, FrameContact) else names.get(Q.tobytes(), Q)

        return self.options() | {"contacts": {port: plain(Q) for port, Q in self.contacts.items()}}

    def compute(self, net: Network, on: Setting, x: Mapping[str, Any], given: Loads) -> Mapping[str, Any]:
        frames, selectors = list(self.contacts), self._selectors(net, on, x["q"])
        if self.locked:
            return {"Lambda_inverse": self._of_free_joints(net, on, x["q"], selectors)}
        return {"Lambda_inverse": inverse_operational_inertia(net, on, x["q"], frames, selectors)}

    def _selectors(self, net: Network, on: Setting, q: Array) -> list[Array]:
        """Q (m_k, 6) of every contact at q, in the axes of its frame; a normal of the world turns in them."""
        sliding = [Q for Q in self.contacts.values() if isinstance(Q, FrameContact)]
        if not sliding:
            return [Q for Q in self.contacts.values() if not isinstance(Q, FrameContact)]
        rest = np.zeros(net.model.nv)
        motions = sweep_motion(net, on, q, rest, rest)
        turned = {h.contact: h.selector(motions[h.port]) for h in held_frames(net, sliding)}
        return [turned[Q] if isinstance(Q, FrameContact) else Q for Q in self.contacts.values()]

    def _of_free_joints(self, net: Network, on: Setting, q: Array, selectors: Sequence[Array]) -> Array:
        """Q J M^-1 J^T Q^T over the rates that are not locked."""
        rows = [
            Q @ Jacobian(self.model, frame, "local").frame_jacobian(net, on, q)
            for frame, Q in zip(self.contacts, selectors, strict=True)
        ]
        J = without_locked(np.concatenate(rows).T, self.locked)
        return J.T @ free_inertia_factors(net, on, q, self.locked).solve(J)

    def inertia(self, q: Any, **options: Any) -> OperationalInertia:
        """Lambda and Lambda^-1; redundant contacts are refused, not inverted."""
        inverse = self(q, **options)
        values, vectors = np.linalg.eigh(inverse)
        poor = values[..., 0] <= SINGULAR * values[..., -1]
        if np.any(poor):
            where = tuple(int(i) for i in np.argwhere(poor)[0]) if poor.ndim else ()
            rank = int(np.sum(values[where] > SINGULAR * values[where][-1]))
            state = f" in state {where}" if where else ""
            raise StateError(
                f"{self.name}: the contacts {', '.join(self.contacts)}{state} hold {inverse.shape[-1]} components, but "
                f"the robot can move only {rank} of them independently. Hint: leave out what other contacts hold "
                "already, or work with Lambda_inverse"
            )
        Lambda = np.einsum("...ij,...j,...kj->...ik", vectors, 1.0 / values, vectors)
        return OperationalInertia(Lambda, inverse)


def _plain(contacts: Any) -> Any:
    """Contacts of :class:`ContactDynamics` as frames with what is held there; everything else as it is."""
    if isinstance(contacts, FrameContact):
        contacts = [contacts]
    if isinstance(contacts, Mapping):
        return {frame: _held(frame, Q) for frame, Q in contacts.items()}
    if not isinstance(contacts, list | tuple) or not any(isinstance(c, FrameContact) for c in contacts):
        return contacts
    found = as_contacts(contacts, WHO)
    _listed([c.frame for c in found])
    return {c.frame: _held(c.frame, c) for c in found}


def _held(frame: Any, given: Any) -> Any:
    """A kind or rows; a contact, where the direction of a normal belongs to it."""
    if isinstance(given, Mapping) or (isinstance(given, str) and given == "normal"):
        (given,) = as_contacts({frame: given}, WHO)
    if not isinstance(given, FrameContact):
        return given
    refuse_compliance([given], WHO, "(Lambda^-1 + C) is not the inertia of the robot alone")
    return replace(given, frame=frame, friction=None) if given.kind == "normal" else given.kind


def _listed(contacts: Any) -> tuple[str, ...]:
    names = names_of(contacts, "operational_inertia", "contacts")
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise FrameError(f"operational_inertia: '{twice[0]}' is named twice. Hint: name every contact once")
    return names


def contacts_key(contacts: Any) -> Any:
    """What tells sets of contacts apart, if they are well-formed."""
    contacts = _plain(contacts)
    if not isinstance(contacts, Mapping):
        return _listed(contacts)
    selectors = [(frame, Q if isinstance(Q, str) else _selector(frame, Q)) for frame, Q in contacts.items()]
    return tuple((frame, (Q.shape, Q.tobytes()) if isinstance(Q, np.ndarray) else Q) for frame, Q in selectors)


def _selector(frame: str, given: Any) -> Array | FrameContact:
    """Q (m, 6), or a normal of the world."""
    if isinstance(given, FrameContact):
        return given
    if isinstance(given, str):
        if given not in SELECTORS:
            raise ShapeError(
                f"operational_inertia: contact '{frame}' is {given!r}. Hint: 'fixed', 'point', 'normal' or a matrix "
                "(m, 6)"
            )
        return SELECTORS[given]
    try:
        Q = np.array(given, dtype=float)
    except (TypeError, ValueError):
        raise ShapeError(f"operational_inertia: the selector of '{frame}' is no matrix of numbers") from None
    Q = Q[None, :] if Q.ndim == 1 else Q
    if Q.ndim != 2 or Q.shape[1] != 6 or not len(Q) or not np.all(np.isfinite(Q)):
        raise ShapeError(f"operational_inertia: the selector of '{frame}' has shape {Q.shape}, expected (m, 6), finite")
    return Q
