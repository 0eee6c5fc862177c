"""Reduced dynamics of robots on legs (H04 5.4.1): the independent coordinates alone, phase by phase."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from gyrostat.algorithms.contact.contact_rows import held_frames
from gyrostat.algorithms.contact.frame_contact import read_contacts
from gyrostat.configuration.manifold import neutral
from gyrostat.configuration.packing import coordinates, names_of, packed
from gyrostat.errors import GyrostatError, clipped
from gyrostat.graph.network import network
from gyrostat.solvers.dynamics.leg_partition import WHO, dependent_joints, partition
from gyrostat.solvers.kinematics.forward_kinematics import ForwardKinematics
from gyrostat.solvers.legs.leg_closure import Closure, closed_legs
from gyrostat.solvers.legs.reduced_solvers import (
    ReducedMotion,
    ReducedMotionSolver,
    ReducedSensitivities,
    ReducedSensitivitySolver,
)
from gyrostat.solvers.machinery.joint_order import JointOrder
from gyrostat.solvers.machinery.solver_cache import cached_solver
from gyrostat.spec.check import expect_model
from gyrostat.spec.model import Model

Array = np.ndarray


class ReducedDynamics:
    """a_I of the independent rates for (q_I, v_I, tau), with legs in contact [H04 (5.3)]: the state space form of the
    equations with contacts, without multipliers and without drift.

    ``contacts``: as in :class:`ContactDynamics`, ``"fixed"`` or ``"point"``; none for a phase of flight. Joints of legs
    in contact follow: ``independent`` names those that do not, by default all but the nearest to each contact. With
    ``legs`` ({frame: block}, see :func:`~gyrostat.robots.leg_kinematics.leg_solvers`) their angles come from closed
    forms that are part of the machine code; without, from Newton's iteration (:meth:`close`), which begins at ``q0``.
    Of several branches of a closed form the one of ``q0`` is taken, or the first. Frames in contact stay where ``q0``
    has them, see :meth:`place`.

    Called with q_I (..., nq_I), v_I (..., nv_I) in the order of ``joints``, and tau (..., nv) [N m, N] of all joints,
    that of the free base being zero; returns :class:`ReducedMotion`. :meth:`sensitivities` has exact derivatives.
    ``solver`` and ``sensitivity_solver`` are solvers like any other (batches, derivatives, export)."""

    def __init__(
        self,
        model: Model,
        contacts: Any,
        independent: str | Sequence[str] | None = None,
        *,
        legs: Mapping[str, Any] | None = None,
        q0: Any = None,
        live: Sequence[str] = (),
        mode: str = "auto",
    ):
        expect_model(model, WHO)
        net = network(model)
        if net.driven:
            raise GyrostatError(f"{WHO}: the base of '{model.name}' moves by itself. Hint: base='free' or 'fixed'")
        none = not isinstance(contacts, str) and hasattr(contacts, "__len__") and len(contacts) == 0
        self.contacts = () if none else read_contacts(net, contacts, WHO)
        for contact in self.contacts:
            if contact.kind not in ("fixed", "point") or contact.compliance:
                what = "compliant" if contact.compliance else clipped(contact.kind)
                raise GyrostatError(
                    f"{WHO}: the contact '{contact.frame}' is {what}, expected fixed or point: others leave no "
                    "position that a leg could follow. Hint: gs.ContactDynamics takes every kind"
                )
        self.model, self.held = model, held_frames(net, self.contacts)
        self.legs = self._legs(legs)
        if self.legs and live:
            raise GyrostatError(f"{WHO}: closed forms of legs know no live properties. Hint: leave legs out")
        start = None if q0 is None else coordinates(model, q0, WHO)
        forms = closed_legs(model, self.held, self.legs, start) if self.legs is not None else None
        dependent = dependent_joints(model, net, self.held, independent, self.legs)
        self.parts = partition(model, net, self.held, dependent)
        self.joints = tuple(name for name in model.layout.entities if name not in dependent)
        self.dependent = dependent
        self._order = JointOrder(model, self.joints)
        self.stance = np.zeros((len(self.held), 4, 4))
        """Where the frames in contact stand (contacts, 4, 4), in the world; write into it, or use :meth:`place`."""
        self.near = neutral(model) if start is None else start
        self.place(self.near)
        common = (model, self.contacts, self.parts, self.joints, forms, self.stance, live, mode, self.near)
        self.solver = ReducedMotionSolver(*common)
        self._common = common
        self._options = {"legs": legs, "live": live, "mode": mode}
        self._phases: dict[Any, ReducedDynamics] = {self._key(self.contacts, independent): self}

    def _legs(self, legs: Any) -> dict[str, Any] | None:
        if legs is None:
            return None if self.contacts else {}
        if not isinstance(legs, Mapping):
            raise GyrostatError(f"{WHO}: legs must map frames to blocks, got {clipped(legs)}. Hint: {{'foot': b}}")
        net = network(self.model)
        known = {net.port(frame): block for frame, block in legs.items()}
        missing = [c.frame for c in self.contacts if net.port(c.frame) not in known]
        if missing:
            raise GyrostatError(
                f"{WHO}: legs has no closed form for '{missing[0]}'. Hint: one for every contact, or none at all"
            )
        return {c.frame: known[net.port(c.frame)] for c in self.contacts}

    @property
    def explicit(self) -> bool:
        """Whether the legs that stand have closed forms."""
        return self.legs is not None

    @cached_property
    def sensitivity_solver(self) -> ReducedSensitivitySolver:
        """Derivatives as a solver."""
        return ReducedSensitivitySolver(*self._common[:-1], self.near)

    # ------------------------------------------------------------------ calls
    def __call__(self, q: Any, v: Any, tau: Any, *, near: Any = None, **options: Any) -> ReducedMotion:
        """The motion; ``near`` (nq,): where Newton's iteration begins, if legs have no closed forms."""
        return self.solver(q if self.explicit else self.close(q, near), v, tau, **options)

    def sensitivities(self, q: Any, v: Any, tau: Any, *, near: Any = None, **options: Any) -> ReducedSensitivities:
        """The motion with its exact derivatives by q_I, v_I (along the rates) and tau."""
        return self.sensitivity_solver(q if self.explicit else self.close(q, near), v, tau, **options)

    def close(self, q: Any, near: Any = None) -> Array:
        """The whole q (..., nq) for q_I: contacts hold to 1e-12 [m, rad], by Newton's iteration from ``near``."""
        own = packed(self.model, q, "q", WHO, self.joints)
        lead = own.shape[:-1]
        start = self.near if near is None else coordinates(self.model, near, WHO)
        whole = np.array(np.broadcast_to(start, (*lead, self.model.nq)))
        whole[..., self._order.q] = own
        flat = coordinates(self.model, whole, WHO).reshape(-1, self.model.nq)
        if self.held and len(flat):
            flat = Closure(self.model, self.held, self.parts).close(flat, self.stance)
        return flat.reshape(*lead, self.model.nq)

    # ------------------------------------------------------------------ states
    def place(self, q: Any) -> None:
        """Let the frames in contact stand where q (nq,) has them; machine code stays."""
        whole = coordinates(self.model, q, WHO)
        for k, h in enumerate(self.held):
            frame = h.contact.frame
            motions = cached_solver(self.model, ForwardKinematics, frames=(frame,))(whole)
            self.stance[k] = motions[frame].matrix
        self.near = whole
        for solver in (self.__dict__.get("solver"), self.__dict__.get("sensitivity_solver")):
            if solver is not None:
                solver.near = whole

    def reduced(self, q: Any, v: Any = None) -> Any:
        """q_I of q (..., nq); with v, the pair (q_I, v_I)."""
        own = packed(self.model, q, "q", WHO)[..., self._order.q]
        return own if v is None else (own, packed(self.model, v, "v", WHO)[..., self._order.v])

    # ------------------------------------------------------------------ phases
    def phase(self, contacts: Any, q: Any = None, independent: str | Sequence[str] | None = None) -> ReducedDynamics:
        """The dynamics with other contacts: made once, with its machine code, and kept for the next time; in it, frames
        stand where q has them, if it is given."""
        net = network(self.model)
        none = not isinstance(contacts, str) and hasattr(contacts, "__len__") and len(contacts) == 0
        read = () if none else read_contacts(net, contacts, WHO)
        key = self._key(read, independent)
        known = self._phases.get(key)
        if known is None:
            known = ReducedDynamics(self.model, read, independent, q0=self.near if q is None else q, **self._options)
            known._phases = self._phases
            self._phases[key] = known
        elif q is not None:
            known.place(q)
        return known

    def _key(self, contacts: Sequence[Any], independent: Any) -> Any:
        return tuple(contacts), None if independent is None else names_of(independent, WHO, "independent")

    def __repr__(self) -> str:
        stand = ", ".join(c.frame for c in self.contacts) or "none"
        return f"<ReducedDynamics of '{self.model.name}', contacts: {stand}; {len(self.parts.independent)} rates>"
